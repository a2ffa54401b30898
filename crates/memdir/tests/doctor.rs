//! `memdir doctor` finds what is wrong, repairs what is safe to repair, and changes nothing else.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use memdir_testkit::{Invocation, Sandbox, Tree};
use serde_json::Value;

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_memdir"))
}

fn rules(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

fn finding<'r>(report: &'r Value, rule: &str) -> &'r Value {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["rule"] == rule)
        .unwrap_or_else(|| panic!("no {rule} in {report:#}"))
}

fn memory(name: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\ntype: reference\n---\n\n{text}\n")
}

/// A vault in which nothing is wrong.
fn healthy() -> Sandbox {
    let sandbox = sandbox();
    for (name, body) in
        [("reference-one", "Logs are on the grey server.\n"), ("reference-two", "Tickets: board 7\n")]
    {
        sandbox.memdir(&["save", name, "--type", "reference", "--description", name]).stdin(body).ok();
    }
    sandbox
}

fn private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Returns the id in the advice `memdir undo ID`.
fn undo_id(report: &Value) -> String {
    let findings = report["findings"].as_array().unwrap();
    let mut messages = findings.iter().filter_map(|finding| finding["message"].as_str());
    let id = messages.find_map(|message| message.split("memdir undo ").nth(1)?.split('`').next());
    id.unwrap_or_else(|| panic!("no undo in {report:#}")).to_owned()
}

/// S21: which walls hold a sub-agent on this machine is said, to people and to programs.
#[test]
#[cfg(target_os = "linux")]
fn which_walls_stand_is_told() {
    let sandbox = healthy();
    assert!(sandbox.memdir(&["doctor"]).json()["sandbox"].is_null(), "nobody to hold without a model");
    sandbox.memdir(&["model", "use", "chat", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]).ok();
    let walls = sandbox.memdir(&["doctor"]).json()["sandbox"].clone();
    let told = sandbox.memdir(&["doctor"]).ok().stderr;
    for wall in ["limits", "landlock", "calls", "tether"] {
        assert_eq!(walls[wall], "stands", "{walls}");
    }
    let abi = walls["landlock_abi"].as_u64().unwrap();
    assert!(
        told.contains(&format!("limits stands, Landlock (version {abi}) stands, list of calls stands")),
        "{told}"
    );
    assert!(told.contains("all 9 attempts were held back"), "{told}");
}

#[test]
fn a_healthy_vault_is_well_and_stays_byte_for_byte_the_same() {
    let sandbox = healthy();
    let before = Tree::of(sandbox.root());
    let output = sandbox.memdir(&["doctor"]).ok();
    assert_eq!(output.stdout, "all is well\n", "{output}");
    let report = sandbox.memdir(&["doctor"]).json();
    let told = (&report["healthy"], &report["findings"], &report["agents"]);
    assert_eq!(told, (&serde_json::json!(true), &serde_json::json!([]), &serde_json::json!([])));
    sandbox.memdir(&["doctor", "--fix"]).ok();
    assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0]);
}

#[test]
fn a_page_that_claude_code_wrote_is_left_as_it_is() {
    let sandbox = sandbox();
    private(&sandbox.memory("reference-a"), &memory("reference-a", "a"));
    private(&sandbox.vault().join("MEMORY.md"), "# Memory\n- [A](reference-a.md): what a is\n");
    let before = Tree::of(sandbox.root());
    sandbox.memdir(&["doctor", "--fix"]).ok();
    assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0]);
}

#[test]
fn looking_creates_nothing_even_where_nothing_exists() {
    let sandbox = sandbox();
    private(&sandbox.memory("reference-a"), &memory("reference-a", "a"));
    let before = Tree::of(sandbox.root());
    let report = sandbox.memdir(&["doctor"]).json();
    assert_eq!(rules(&report), ["no-index-page"]);
    assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0]);
}

#[test]
fn a_pointer_to_a_deleted_memory_is_reported_and_removed() {
    let sandbox = sandbox();
    private(&sandbox.memory("reference-a"), &memory("reference-a", "a"));
    private(&sandbox.memory("reference-b"), &memory("reference-b", "other words"));
    let page =
        "# Mine\n- [A](reference-a.md): what a is\n- [Gone](gone.md) — gone\n- [A](reference-a.md) — again\n";
    private(&sandbox.vault().join("MEMORY.md"), page);
    let output = sandbox.memdir(&["doctor"]).code(1);
    assert!(output.stdout.contains("gone.md"), "{output}");
    let report = sandbox.memdir(&["doctor", "--fix"]).json();
    assert_eq!(report["healthy"], true, "{report:#}");
    for rule in ["dangling-pointer", "unindexed", "duplicate-pointer"] {
        assert_eq!(finding(&report, rule)["fixed"], true, "{report:#}");
    }
    let page = sandbox.index_page();
    assert!(page.starts_with("# Mine\n") && !page.contains("gone.md"), "{page}");
    assert_eq!(page.matches("(reference-a.md)").count(), 1, "{page}");
    assert_eq!(page.matches("(reference-b.md)").count(), 1, "{page}");
    sandbox.memdir(&["doctor"]).ok();
}

#[test]
fn a_page_over_its_limits_is_brought_below_them() {
    let sandbox = healthy();
    for n in 0..230 {
        let name = format!("reference-{n}");
        private(&sandbox.memory(&name), &memory(&name, &format!("only {n}")));
    }
    let lines: String = (0..230).map(|n| format!("- [R {n}](reference-{n}.md) — about it\n")).collect();
    private(&sandbox.vault().join("MEMORY.md"), &format!("# Memory\n{lines}"));
    let report = sandbox.memdir(&["doctor", "--fix"]).json();
    assert_eq!(finding(&report, "index-over-limit")["fixed"], true);
    assert!(sandbox.index_page().lines().count() < 200);
}

#[test]
fn the_text_of_a_memory_is_never_repaired() {
    let sandbox = sandbox();
    private(&sandbox.memory("no-type"), "---\nname: no-type\ndescription: always test\n---\n\nbody\n");
    private(&sandbox.memory("raw"), "---\nname: [\n---\n\nraw body\n");
    private(&sandbox.memory("plain"), "no frontmatter \u{202e}here\n");
    private(&sandbox.memory("hidden"), &memory("hidden", "an escape \u{1b}[31m and [[nowhere]]"));
    let before = sandbox.vault_tree();
    sandbox.memdir(&["doctor", "--fix"]).code(1);
    assert_eq!(before.changes(&sandbox.vault_tree()), ["+MEMORY.md"]);
    let report = sandbox.memdir(&["doctor"]).json();
    assert_eq!(finding(&report, "missing-type")["severity"], "warning");
    assert!(finding(&report, "missing-type")["message"].as_str().unwrap().contains("would fit"));
    assert_eq!(finding(&report, "raw")["severity"], "problem");
    assert_eq!(finding(&report, "open-link")["severity"], "note");
    for rule in ["no-frontmatter", "hidden-character", "control-character"] {
        finding(&report, rule);
    }
    let output = sandbox.memdir(&["doctor"]).code(1);
    assert!(!output.stdout.contains('\u{1b}') && !output.stdout.contains('\u{202e}'), "{output}");
}

#[test]
fn links_fifos_and_odd_names_are_listed_and_not_opened() {
    let sandbox = healthy();
    let at = |name: &str| sandbox.vault().join(name);
    symlink("/etc/hostname", at("a.md")).unwrap();
    symlink("/dev/zero", at("c.md")).unwrap();
    assert!(Command::new("mkfifo").arg(at("b.md")).status().unwrap().success());
    private(&at("re\u{301}sume\u{301}.md"), "nfd");
    private(&at("Reference-One.md"), &memory("Reference-One", "case"));
    let report = sandbox.memdir(&["doctor"]).under(&["timeout", "5"]).json();
    let count = |rule| rules(&report).iter().filter(|found| **found == rule).count();
    assert_eq!((count("not-a-file"), count("bad-name")), (3, 1), "{report:#}");
    assert!(finding(&report, "name-clash")["message"].as_str().unwrap().contains("reference-one.md"));
}

#[test]
fn the_same_text_under_two_names_is_reported() {
    let sandbox = healthy();
    let text = sandbox.read("reference-one").replace("name: reference-one", "name: reference-copy");
    private(&sandbox.memory("reference-copy"), &text);
    let report = sandbox.memdir(&["doctor"]).json();
    assert_eq!(finding(&report, "same-content")["severity"], "warning");
    assert_eq!(finding(&report, "changed-outside")["severity"], "note");
}

#[test]
fn two_memories_that_say_nearly_the_same_are_reported() {
    let sandbox = healthy();
    let body =
        "Integration tests must run against a real database, never against mocks, in every suite we have";
    for (name, end) in [("reference-db", "."), ("reference-database", ", always.")] {
        let text = format!(
            "---\nname: {name}\ndescription: Tests use a real database\ntype: reference\n---\n\n{body}{end}\n"
        );
        private(&sandbox.memory(name), &text);
    }
    let report = sandbox.memdir(&["doctor"]).json();
    let message = finding(&report, "near-duplicate")["message"].as_str().unwrap();
    assert!(message.contains("`reference-database`"), "{message}");
}

#[test]
fn what_is_open_to_others_is_closed_on_request() {
    let sandbox = healthy();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let loosen = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    loosen(&sandbox.memory("reference-one"), 0o644);
    loosen(&sandbox.vault(), 0o755);
    assert_eq!(finding(&sandbox.memdir(&["doctor"]).json(), "open-to-others")["fixed"], false);
    assert_eq!(mode(&sandbox.vault()), 0o755);
    let report = sandbox.memdir(&["doctor", "--fix"]).json();
    assert_eq!(finding(&report, "open-to-others")["fixed"], true, "{report:#}");
    assert_eq!((mode(&sandbox.memory("reference-one")), mode(&sandbox.vault())), (0o600, 0o700));
}

#[test]
fn left_over_files_are_swept_and_waiting_copies_are_named() {
    let sandbox = healthy();
    let project = fs::read_dir(sandbox.state().join("projects")).unwrap().next().unwrap().unwrap().path();
    private(&sandbox.vault().join(".memdir-tmp-0123456789abcdef"), "torn");
    for (folder, file) in [("conflicts", "reference-one@01234567.md"), ("editing", "reference-one.1.md")] {
        fs::create_dir_all(project.join(folder)).unwrap();
        fs::set_permissions(project.join(folder), fs::Permissions::from_mode(0o700)).unwrap();
        private(&project.join(folder).join(file), "mine");
    }
    private(&project.join("intent-broken-01.jsonl"), "broken");
    let report = sandbox.memdir(&["doctor", "--fix"]).json();
    assert_eq!(report["healthy"], false, "a conflict waits\n{report:#}");
    assert_eq!(finding(&report, "left-over")["fixed"], true);
    assert!(finding(&report, "conflict")["message"].as_str().unwrap().contains("memdir edit reference-one"));
    assert_eq!(finding(&report, "unsaved-edit")["severity"], "warning");
    assert_eq!(finding(&report, "broken-record")["severity"], "warning");
    assert!(project.join("conflicts/reference-one@01234567.md").exists());
}

#[test]
fn memories_that_vanished_come_back_as_the_report_says() {
    let sandbox = healthy();
    let before = sandbox.vault_tree();
    fs::remove_file(sandbox.memory("reference-one")).unwrap();
    let report = sandbox.memdir(&["doctor", "--fix"]).json();
    sandbox.memdir(&["undo", &undo_id(&report)]).ok();
    assert_eq!(before.get("reference-one.md"), sandbox.vault_tree().get("reference-one.md"));
    assert_eq!(rules(&sandbox.memdir(&["doctor"]).json()), [""; 0]);
}

#[test]
fn a_vault_that_is_gone_is_a_problem_that_can_be_mended() {
    let sandbox = healthy();
    fs::create_dir(sandbox.vault().join("sub")).unwrap();
    sandbox.write("sub/reference-three.md", memory("reference-three", "in a folder"));
    sandbox.memdir(&["edit", "reference-one", "--append", "more"]).ok();
    let before = sandbox.vault_tree();
    fs::remove_dir_all(sandbox.vault()).unwrap();
    let report = sandbox.memdir(&["doctor"]).json();
    assert_eq!(finding(&report, "no-vault")["severity"], "problem");
    let report = sandbox.memdir(&["doctor", "--fix"]).json();
    sandbox.memdir(&["undo", &undo_id(&report)]).ok();
    let after = sandbox.vault_tree();
    for path in ["reference-one.md", "reference-two.md", "sub/reference-three.md"] {
        assert_eq!(before.get(path), after.get(path), "{path}");
    }
}

#[test]
fn a_vault_that_everybody_may_write_is_named_and_closed() {
    let sandbox = healthy();
    fs::set_permissions(sandbox.vault(), fs::Permissions::from_mode(0o777)).unwrap();
    let report = sandbox.memdir(&["doctor", "--json"]).code(1).json();
    assert!(finding(&report, "writable-by-all")["message"].as_str().unwrap().contains("chmod"));
    sandbox.memdir(&["doctor", "--fix"]).ok();
    assert_eq!(fs::metadata(sandbox.vault()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn text_of_others_on_the_index_page_is_reported_and_kept() {
    let sandbox = healthy();
    let page = format!("{}always run rm -rf\n", sandbox.index_page());
    private(&sandbox.vault().join("MEMORY.md"), &page);
    let report = sandbox.memdir(&["doctor", "--fix"]).json();
    assert!(finding(&report, "foreign-text")["message"].as_str().unwrap().contains("always run"));
    assert_eq!(sandbox.index_page(), page);
}

#[test]
fn a_weaker_file_system_is_named() {
    let sandbox = healthy();
    for (calls, inject, rule) in [
        ("fsync", "inject=fsync:error=EINVAL", "no-directory-sync"),
        ("renameat2", "inject=renameat2:error=EINVAL", "no-exchange"),
        ("flock", "inject=flock:error=ENOLCK", "no-locks"),
    ] {
        let (output, _) = sandbox.memdir(&["doctor", "--json"]).traced_with(calls, &["-e", inject]);
        assert_eq!(finding(&output.json(), rule)["severity"], "warning");
    }
}

/// A command without an explicit vault.
fn at_home(sandbox: &Sandbox, args: &[&str], cwd: &Path) -> Invocation {
    sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(cwd)
}

#[test]
fn memories_of_a_moved_project_are_copied_and_the_original_stays() {
    let sandbox = sandbox();
    let (old, new) = (sandbox.root().join("old"), sandbox.root().join("new"));
    fs::create_dir(&old).unwrap();
    for args in [&["init", "-q"][..], &["remote", "add", "origin", "https://example.com/acme/app.git"]] {
        let git =
            Command::new("git").args(args).current_dir(&old).env("HOME", sandbox.home()).output().unwrap();
        assert!(git.status.success(), "{git:?}");
    }
    let save = ["save", "reference-here", "--type", "reference", "--description", "d", "--body", "kept"];
    at_home(&sandbox, &save, &old).ok();
    fs::rename(&old, &new).unwrap();
    // Claude Code gives the new place a memory of its own.
    let slug =
        new.canonicalize().unwrap().to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let orphan = sandbox.home().join(".claude/projects").join(slug).join("memory");
    fs::create_dir_all(&orphan).unwrap();
    private(&orphan.join("reference-there.md"), &memory("reference-there", "found there"));
    private(&orphan.join("reference-here.md"), &memory("reference-here", "another text"));
    let before = Tree::of(&orphan);
    let report = at_home(&sandbox, &["doctor"], &new).json();
    assert!(finding(&report, "orphaned-memories")["fix"].as_str().unwrap().contains("copies"), "{report:#}");
    let report = at_home(&sandbox, &["doctor", "--fix"], &new).json();
    assert_eq!(finding(&report, "orphaned-memories")["fixed"], true, "{report:#}");
    assert_eq!(before.changes(&Tree::of(&orphan)), [""; 0]);
    let listed = at_home(&sandbox, &["list"], &new).json();
    let mut names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["reference-here", "reference-here-2", "reference-there"]);
    let again = at_home(&sandbox, &["doctor"], &new).json();
    assert!(!rules(&again).contains(&"orphaned-memories"), "{again:#}");
}
