//! One door: whatever writes passes the same gates, and what they refuse is kept nowhere.

use memdir_testkit::{Invocation, Output, Sandbox};

use crate::setup::sandbox;

/// A token that no file of ours holds in one piece.
fn canary() -> String {
    ["gh", "p_", "16C7e42F292c6912", "E7710c838347Ae178B4a"].concat()
}

fn git_story() -> &'static str {
    "Merged PR #12 yesterday, Anna reviewed it."
}

/// Asserts that nothing of what was refused is left anywhere, on disk or in what was said.
#[track_caller]
fn assert_nowhere(sandbox: &Sandbox, output: &Output, secret: &str) {
    assert!(!output.stdout.contains(secret) && !output.stderr.contains(secret), "{output}");
    for tree in [sandbox.vault_tree(), sandbox.state_tree()] {
        assert!(tree.containing(secret.as_bytes()).is_empty(), "{tree:?}");
    }
}

/// The ways a text can come in.
fn ways(sandbox: &Sandbox, text: &str) -> Vec<(&'static str, Invocation)> {
    sandbox.save("standing", "The sea is salty.");
    let save = ["save", "fresh", "--type", "project", "--description", "a note"];
    vec![
        ("save", sandbox.memdir(&save).stdin(text)),
        ("save by an agent", sandbox.memdir(&save).args(&["--provenance", "agent"]).stdin(text)),
        ("save by a tool", sandbox.memdir(&save).args(&["--provenance", "tool"]).stdin(text)),
        ("remember", sandbox.memdir(&["remember", text])),
        ("edit", sandbox.memdir(&["edit", "standing", "--body", text])),
        ("correct", sandbox.memdir(&["correct", "standing", "--body", text])),
        ("description", sandbox.memdir(&save[..4]).args(&["--description", text, "--body", "Fine."])),
        ("reason", sandbox.memdir(&save).args(&["--reason", text, "--body", "The sea is salty."])),
    ]
}

/// NS-08, PV-03, S19.
#[test]
fn a_secret_comes_in_by_no_way_and_is_never_repeated() {
    let sandbox = sandbox();
    let text = format!("the deploy bot logs in with {} since May", canary());
    for (way, invocation) in ways(&sandbox, &text) {
        let output = invocation.run();
        assert_eq!(output.code, 1, "{way}: {output}");
        assert!(output.stderr.contains("GitHub"), "{way}: {output}");
        assert_nowhere(&sandbox, &output, &canary());
    }
}

/// NS-06: a reason does not open the gate for a secret; leaving it out does.
#[test]
fn a_secret_cannot_be_forced_but_left_out() {
    let sandbox = sandbox();
    let text = format!("the deploy bot logs in with {} since May", canary());
    let save = ["save", "bot", "--type", "reference", "--description", "the bot", "--body", &text];
    let output = sandbox.memdir(&save).args(&["--force", "I insist"]).code(1);
    assert_nowhere(&sandbox, &output, &canary());
    let output = sandbox.memdir(&save).args(&["--redact"]).ok();
    assert_nowhere(&sandbox, &output, &canary());
    assert!(sandbox.read("bot").contains("logs in with [REDACTED:github-pat]"), "{}", sandbox.read("bot"));
    let output = sandbox.memdir(&["remember", "--dry-run", "--json", &text]).ok();
    assert_nowhere(&sandbox, &output, &canary());
}

/// NS-08: a file with a secret stays out of an import, the others come in.
#[test]
fn an_import_leaves_secrets_behind() {
    let sandbox = sandbox();
    let source = sandbox.root().join("notes");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("good.md"), "The sea is salty.\n").unwrap();
    std::fs::write(source.join("bad.md"), format!("token: {}\n", canary())).unwrap();
    let output = sandbox.memdir(&["import", "obsidian", source.to_str().unwrap()]).run();
    assert!(sandbox.memory("good").exists(), "{output}");
    assert!(!sandbox.memory("bad").exists(), "{output}");
    assert_nowhere(&sandbox, &output, &canary());
}

/// X7: what came in by hand is told by doctor, without the value.
#[test]
fn doctor_tells_of_a_secret_that_somebody_wrote_past_us() {
    let sandbox = sandbox();
    sandbox.save("note", "The sea is salty.");
    sandbox.write("planted.md", format!("the bot uses {}\n", canary()));
    let output = sandbox.memdir(&["doctor"]).code(1);
    assert!(output.stdout.contains("planted.md") && output.stdout.contains("github-pat"), "{output}");
    assert!(!output.stdout.contains(&canary()));
}

/// NS-06, NS-07: an exclusion holds although it was asked for, asks what was surprising, and a reason passes it over.
#[test]
fn what_git_shows_is_refused_until_a_reason_is_given() {
    let sandbox = sandbox();
    let save = ["save", "merge", "--type", "project", "--description", "the merge", "--body", git_story()];
    let refused = sandbox.memdir(&save).json();
    assert_eq!(refused["refused"][0]["rule"], "derivable:git", "{refused}");
    assert_eq!(refused["refused"][0]["destination"], "git log");
    assert!(refused["refused"][0]["question"].as_str().unwrap().ends_with('?'), "{refused}");
    assert!(!sandbox.memory("merge").exists());
    sandbox.memdir(&save).args(&["--force", "the auditor wants the list"]).ok();
    let log = sandbox.memdir(&["log"]).ok();
    assert!(log.stdout.contains("the auditor wants the list"), "{log}");
}

/// NS-03: the second time a debugging story is refused, it should be codified.
#[test]
fn a_story_that_comes_back_should_be_codified() {
    let sandbox = sandbox();
    let trace = "thread 'main' panicked at src/pool.rs:9:41:\ncalled `Result::unwrap()` on an `Err` value: PoolTimedOut\n\n\
                 Fixed it by raising the pool size to 20.";
    let save = ["save", "pool", "--type", "project", "--description", "the pool"];
    let first = sandbox.memdir(&save).stdin(trace).json();
    assert_eq!(first["refused"][0]["rule"], "debugging", "{first}");
    let second = sandbox.memdir(&save).stdin(trace).json();
    let destination = second["refused"][0]["destination"].as_str().unwrap();
    assert!(destination.starts_with("seen 2 times: codify it"), "{second}");
}

/// An edit answers for what it brings in: old text is not held against it, new junk is.
#[test]
fn an_edit_answers_for_what_it_brings_in() {
    let sandbox = sandbox();
    sandbox.write(
        "old.md",
        format!("---\nname: old\ndescription: old\ntype: project\n---\n\n{}\n", git_story()),
    );
    sandbox.memdir(&["edit", "old", "--description", "an old story"]).ok();
    sandbox.save("note", "The auditor wants receipts for seven years.");
    let body = format!("{}\n\nAnna renamed the module last week.", git_story());
    let refused = sandbox.memdir(&["edit", "note", "--body", &body]).json();
    assert_eq!(refused["refused"][0]["rule"], "derivable:git", "{refused}");
}

/// TY-10: dates become absolute by whatever way a text comes in, in the user's zone; ambiguous ones are asked about.
#[test]
fn ty_10_dates_become_absolute_on_every_way_in() {
    let sandbox = sandbox();
    let now = "2026-03-02T10:00:00Z";
    let args = ["save", "freeze", "--type", "project", "--description", "freeze after Thursday"];
    let saved = sandbox.memdir(&args).stdin("No merges after Thursday, demo on 5/6.").at(now).json();
    let warnings = saved["warnings"].to_string();
    assert!(warnings.contains("2026-05-06 or 2026-06-05"), "{warnings}");
    let text = sandbox.read("freeze");
    assert!(text.contains("description: freeze after 2026-03-05"), "{text}");
    assert!(text.contains("No merges after 2026-03-05, demo on 5/6."), "{text}");
    sandbox.memdir(&["edit", "freeze", "--body", "The freeze ends tomorrow."]).at(now).ok();
    assert!(sandbox.read("freeze").contains("The freeze ends 2026-03-03."));
    let late = sandbox.memdir(&["remember", "--dry-run", "the release is tomorrow"]);
    let late = late.at("2026-03-02T23:30:00Z").env("TZ", "Asia/Seoul").json();
    assert!(late["body"].as_str().unwrap().contains("2026-03-04"), "{late}");
}

/// S5, X8: no file of a repository opens the gate.
#[test]
fn x8_a_repository_cannot_allow_a_secret() {
    let sandbox = sandbox();
    std::fs::create_dir_all(sandbox.project().join(".memdir")).unwrap();
    let settings = "[[secrets.allow]]\nhash = \"0000000000000000000000000000000000000000000000000000000000000000\"\nreason = \"trust me\"\n";
    std::fs::write(sandbox.project().join(".memdir/config.toml"), settings).unwrap();
    let text = format!("the bot uses {}", canary());
    let output =
        sandbox.memdir(&["save", "bot", "--type", "reference", "--description", "d", "--body", &text]).run();
    assert_eq!(output.code, 1, "{output}");
    assert_nowhere(&sandbox, &output, &canary());
}
