//! `list`, `show`, `manifest`, `links`, `search`: what people read.

use expect_test::expect;

use super::{furnished, shown};
use crate::setup::sandbox;

#[test]
fn list_is_a_table_with_ages_in_words() {
    expect![[r#"
        feedback-testing          feedback   Integration tests use a real database    1 day ago
        project-migration-freeze  project    Merge freeze on 2026-04-09               3 days ago
        reference-tracker         reference  Bugs are in the tracker, project INGEST  2 months ago
    "#]]
    .assert_eq(&shown(&furnished(), &["list"]));
}

#[test]
fn list_by_type_shows_only_that_type() {
    expect![[r#"
        feedback-testing  feedback  Integration tests use a real database  1 day ago
    "#]]
    .assert_eq(&shown(&furnished(), &["list", "--type", "feedback"]));
}

#[test]
fn list_of_an_empty_vault_says_what_to_do() {
    expect![[r#"
        --- stderr
        no memories yet: `memdir save NAME --type T --description D` makes one
        --- exit code 1
    "#]]
    .assert_eq(&shown(&sandbox(), &["list"]));
}

#[test]
fn list_with_an_explicit_vault_reads_that_one() {
    let (one, other) = (furnished(), sandbox());
    let output = other.memdir(&["list", "--vault", one.vault().to_str().unwrap()]).ok();
    assert!(output.stdout.contains("feedback-testing"), "{output}");
}

#[test]
fn show_begins_with_the_age() {
    expect![[r#"
        [feedback] feedback-testing.md — saved 1 day ago, said by user, not checked
        Integration tests use a real database

        Integration tests must run against a real database, never mocks.

        **Why:** 2026-Q1 (2026-01-01 to 2026-03-31) mocked tests passed while the production migration failed.

        **How to apply:** use the compose `db` service; see [[project-migration-freeze]].
    "#]]
    .assert_eq(&shown(&furnished(), &["show", "feedback-testing"]));
}

#[test]
fn show_raw_is_the_file() {
    let sandbox = furnished();
    let output = sandbox.memdir(&["show", "feedback-testing", "--raw"]).ok();
    assert_eq!(output.stdout, sandbox.read("feedback-testing"));
}

#[test]
fn show_of_nothing_suggests_the_nearest_name() {
    expect![[r#"
        --- stderr
        error: no memory `feedback-testin`

        hint: `memdir list` shows what there is, `memdir search WORDS` looks for it
        --- exit code 1
    "#]]
    .assert_eq(&shown(&furnished(), &["show", "feedback-testin"]));
}

#[test]
fn show_accepts_the_file_name() {
    let output = furnished().memdir(&["show", "feedback-testing.md"]).ok();
    assert!(output.stdout.contains("real database"), "{output}");
}

#[test]
fn manifest_has_one_line_for_each_memory() {
    expect![[r#"
        - [feedback] feedback-testing.md (2026-04-01T10:30:00Z): Integration tests use a real database
        - [project] project-migration-freeze.md (2026-03-30T09:00:00Z): Merge freeze on 2026-04-09
        - [reference] reference-tracker.md (2026-02-01T09:00:00Z): Bugs are in the tracker, project INGEST
    "#]]
    .assert_eq(&shown(&furnished(), &["manifest"]));
}

#[test]
fn links_shows_both_directions() {
    expect![[r#"
        →  reference-tracker  wiki  1.00
        ←  feedback-testing   wiki  1.00
    "#]]
    .assert_eq(&shown(&furnished(), &["links", "project-migration-freeze"]));
}

#[test]
fn search_shows_what_matched_and_where() {
    expect![[r#"
        feedback-testing  Integration tests use a real database  1 day ago
    "#]]
    .assert_eq(&shown(&furnished(), &["search", "database"]));
}

#[test]
fn search_with_a_limit_shows_no_more() {
    let sandbox = furnished();
    let all = sandbox.memdir(&["search", "the project"]).json();
    assert!(all["hits"].as_array().unwrap().len() > 1, "{all}");
    let one = sandbox.memdir(&["search", "the project", "--limit", "1"]).json();
    assert_eq!(one["hits"].as_array().unwrap().len(), 1, "{one}");
}

#[test]
fn search_for_nothing_says_so() {
    expect![[r#"
        --- stderr
        no memory found
        --- exit code 1
    "#]]
    .assert_eq(&shown(&furnished(), &["search", "xylophone"]));
}

#[test]
fn search_in_every_project_finds_what_others_know() {
    let sandbox = sandbox();
    let elsewhere = sandbox.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let run = |args: &[&str]| sandbox.memdir(args).without_env("MEMDIR_VAULT");
    let save = ["save", "rule", "--type", "project", "--description", "d", "--body", "About xylophones."];
    run(&save).cwd(&elsewhere).ok();
    run(&["search", "xylophones"]).code(1);
    let output = run(&["search", "xylophones", "--all"]).ok();
    assert!(output.stdout.contains("rule"), "{output}");
}

/// An archived memory is out of the way, not out of reach.
#[test]
fn search_finds_what_was_superseded_when_asked_for_everything() {
    let sandbox = furnished();
    sandbox.memdir(&["supersede", "reference-tracker", "project-migration-freeze"]).ok();
    sandbox.memdir(&["search", "INGEST"]).code(1);
    let output = sandbox.memdir(&["search", "INGEST", "--all"]).ok();
    assert!(output.stdout.contains("reference-tracker"), "{output}");
}
