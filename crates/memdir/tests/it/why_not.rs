//! What `why-not` says about texts, in a repository with an instruction file and a history.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use memdir_testkit::{Sandbox, Tree};
use serde_json::{Value, json};

use crate::setup::sandbox;

/// A project with code, rules in three files, and two commits.
fn project() -> Sandbox {
    let sandbox = sandbox();
    let rules = "---\npaths: \"web/**\"\n---\n- Texts are never hard-coded.\n";
    for (path, text) in [
        ("CLAUDE.md", "# Rules\n\n@docs/more.md\n\n- Use pnpm.\n"),
        ("docs/more.md", "- Money is stored as integer cents.\n"),
        (".claude/rules/web.md", rules),
        ("src/api/users.rs", "pub struct Users;\n\npub fn list_users() {}\n"),
        ("src/api/doors.rs", "pub fn open_door() {}\n"),
        ("src/config.rs", "pub const MAX_DOORS: u32 = 24;\n"),
        ("README.md", "# Doors\n"),
    ] {
        put(&sandbox.project(), path, text);
    }
    git(&sandbox.project(), &["init", "-q", "-b", "main"]);
    git(&sandbox.project(), &["add", "."]);
    git(&sandbox.project(), &["commit", "-q", "-m", "feat(api): open doors by code"]);
    sandbox
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(dir: &Path, args: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=Mirja Okafor", "-c", "user.email=m@example.org"])
        .args(args)
        .current_dir(dir)
        .status();
    assert!(status.expect("install git: this test cannot do without").success(), "{args:?}");
}

fn ask(sandbox: &Sandbox, text: &str) -> Value {
    sandbox.memdir(&["why-not", "--type", "project", text]).json()
}

/// Checks that a text is refused by `rule`, with evidence that holds `found`.
fn check_refused(sandbox: &Sandbox, text: &str, rule: &str, found: &str) {
    let answer = ask(sandbox, text);
    assert_eq!((&answer["saved"], &answer["rule"]), (&json!(false), &json!(rule)), "{text}\n{answer}");
    assert!(answer["evidence"].as_str().unwrap().contains(found), "{text}\n{answer}");
    assert!(!answer["destination"].as_str().unwrap().is_empty(), "{text}\n{answer}");
}

/// NS-01.
#[test]
fn what_the_tree_and_the_code_show_would_not_be_saved() {
    let sandbox = project();
    let rule = "derivable:structure";
    check_refused(&sandbox, "src/api holds handlers", rule, "src/api is in the tree (2 files)");
    check_refused(
        &sandbox,
        "`list_users` lives in users.rs",
        rule,
        "`list_users` is defined in src/api/users.rs:3",
    );
    check_refused(&sandbox, "MAX_DOORS is defined as 24", rule, "src/config.rs:1");
}

/// NS-01.
#[test]
fn a_path_that_the_project_does_not_have_is_another_systems() {
    let sandbox = project();
    let answer = ask(&sandbox, "The dumps are in /srv/backup/doors on the old server");
    assert_eq!(answer["saved"], json!(true), "{answer}");
}

/// NS-01.
#[test]
fn a_reason_outside_the_code_is_kept_although_it_names_files() {
    let sandbox = project();
    let text =
        "MAX_DOORS in src/config.rs stays at 24. Why: the licence of the postal authority allows no more.";
    let answer = ask(&sandbox, text);
    assert_eq!(answer["saved"], json!(true), "{answer}");
    assert_eq!(answer["rule"], Value::Null);
}

/// NS-02.
#[test]
fn what_git_tells_would_not_be_saved() {
    let sandbox = project();
    check_refused(&sandbox, "merged PR #12 yesterday", "derivable:git", "merged PR #12");
    check_refused(&sandbox, "Mirja committed that doors open by code", "derivable:git", "by Mirja Okafor");
}

/// NS-03.
#[test]
fn a_stack_trace_would_not_be_saved() {
    let text = "thread 'main' panicked at src/config.rs:1:1:\nno doors\n\nFixed by setting MAX_DOORS.";
    check_refused(&project(), text, "debugging", "a Rust panic");
}

/// NS-04.
#[test]
fn what_instruction_files_say_would_not_be_saved_and_the_line_is_named() {
    let sandbox = project();
    check_refused(&sandbox, "use pnpm", "duplicate:CLAUDE.md:5", "Use pnpm.");
    check_refused(&sandbox, "store money as integer cents", "duplicate:docs/more.md:1", "integer cents");
    check_refused(&sandbox, "never hard-code texts", "duplicate:.claude/rules/web.md:4", "hard-coded");
    assert_eq!(ask(&sandbox, "never use pnpm")["saved"], json!(true));
}

/// NS-04.
#[test]
fn the_users_own_instructions_count_too() {
    let sandbox = project();
    put(&sandbox.home(), ".claude/CLAUDE.md", "- Never push to main without asking me.\n");
    check_refused(
        &sandbox,
        "don't push to main without asking",
        "duplicate:~/.claude/CLAUDE.md:1",
        "Never push",
    );
}

/// NS-05.
#[test]
fn the_state_of_a_task_goes_to_working_memory() {
    let answer = ask(&project(), "currently editing foo.rs");
    assert_eq!((&answer["rule"], &answer["destination"]), (&json!("ephemeral"), &json!("working memory")));
}

/// NS-06.
#[test]
fn asking_for_it_gets_the_question_what_was_surprising() {
    let answer = ask(&project(), "save this: merged #12, #13 and #14 this week");
    assert_eq!(answer["saved"], json!(false), "{answer}");
    assert_eq!(answer["question"], json!("what was surprising about it?"));
}

/// NS-07.
#[test]
fn a_refusal_explains_itself_to_people_and_ends_with_1() {
    let sandbox = project();
    let output = sandbox.memdir(&["why-not", "src/api holds handlers"]).code(1);
    for part in ["derivable:structure", "src/api is in the tree", "docs/architecture.md", "surprising"] {
        assert!(output.stdout.contains(part), "{part}\n{output}");
    }
    let output = sandbox.memdir(&["why-not", "-t", "user"]).stdin("I prefer short answers.").ok();
    assert_eq!(output.stdout, "would be saved\n");
    sandbox.memdir(&["why-not", "--type", "misc", "x"]).code(2);
    sandbox.memdir(&["why-not"]).code(2);
}

/// NS-01. Each work tree has an index of its own.
#[test]
fn a_linked_work_tree_shows_its_own_files() {
    let sandbox = project();
    let linked = sandbox.root().join("linked");
    git(&sandbox.project(), &["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "side"]);
    put(&linked, "src/side/mod.rs", "pub fn only_here() {}\n");
    git(&linked, &["add", "."]);
    let text = "`only_here` is defined in src/side";
    let answer = sandbox.memdir(&["why-not", text]).cwd(&linked).json();
    assert!(answer["evidence"].as_str().unwrap().contains("src/side/mod.rs:1"), "{answer}");
    let answer = ask(&sandbox, text);
    assert!(!answer["evidence"].as_str().unwrap_or_default().contains("src/side/"), "{answer}");
}

/// NS-01. Without git a few folders are looked at, so that small projects are judged alike.
#[test]
fn a_project_without_git_is_asked_too() {
    let sandbox = sandbox();
    put(&sandbox.project(), "src/api/users.py", "def list_users():\n    pass\n");
    put(&sandbox.project(), "AGENTS.md", "Use uv for everything.\n");
    check_refused(&sandbox, "list_users() is in src/api", "derivable:structure", "src/api/users.py:1");
    check_refused(&sandbox, "use uv for everything", "duplicate:AGENTS.md:1", "uv");
}

/// NS-07.
#[test]
fn rows_are_answered_in_order_with_their_ids() {
    let rows = [
        json!({ "id": "a", "text": "src/api holds handlers", "type": "project" }),
        json!({ "id": 2, "text": "I prefer short answers.", "type": "user" }),
        json!({ "id": "c", "text": "use pnpm" }),
    ];
    let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
    let output = project().memdir(&["why-not", "--type", "feedback", "--jsonl"]).stdin(rows.join("\n")).ok();
    let answers: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("a"), &json!(2), &json!("c")]);
    let rules: Vec<&Value> = answers.iter().map(|answer| &answer["rule"]).collect();
    assert_eq!(rules, [&json!("derivable:structure"), &Value::Null, &json!("duplicate:CLAUDE.md:5")]);
}

/// The gate's time does not grow with the project: no directory of the tree is listed, but the one of the rules.
#[test]
fn no_directory_of_the_tree_is_listed_and_no_program_runs() {
    let sandbox = project();
    for n in 0..40 {
        put(&sandbox.project(), &format!("src/part_{n}/mod.rs"), "pub fn part() {}\n");
    }
    git(&sandbox.project(), &["add", "."]);
    let text = "`unknown_symbol` is in src/part_3 and in nowhere/x.rs, see `list_users` and 1a2b3c4";
    let (output, trace) =
        sandbox.memdir(&["why-not", "--json", text]).traced("openat,getdents64,execve,execveat,fork,vfork");
    assert!(output.stdout.contains("saved"), "{output}");
    let project = fs::canonicalize(sandbox.project()).unwrap();
    let listed: Vec<&str> = trace
        .named(&["getdents64"])
        .filter_map(|call| call.descriptor_path())
        .filter(|path| Path::new(path).starts_with(&project))
        .filter(|path| !path.contains("/.git/") && !path.ends_with("/.claude/rules"))
        .collect();
    assert_eq!(listed, Vec::<&str>::new());
    assert_eq!(trace.count(&["execve", "execveat", "fork", "vfork"]), 1, "only memdir itself");
}

/// S5. Nothing of a repository leads the gate out of it.
#[test]
fn links_out_of_the_repository_are_not_read() {
    let sandbox = project();
    let secret = sandbox.root().join("secret.md");
    fs::write(&secret, "- Deploy on Fridays only.\n\npub fn hidden_function() {}\n").unwrap();
    symlink(&secret, sandbox.project().join("CLAUDE.local.md")).unwrap();
    symlink(&secret, sandbox.project().join("src/hidden.rs")).unwrap();
    put(&sandbox.project(), "CLAUDE.md", &format!("@{}\n", secret.display()));
    git(&sandbox.project(), &["add", "."]);
    let before = Tree::of(sandbox.root());
    let answers =
        [ask(&sandbox, "deploy on Fridays only"), ask(&sandbox, "`hidden_function` is what we call")];
    let told = format!("{answers:?}");
    assert!(!told.contains("secret.md") && !told.contains("hidden.rs:"), "{told}");
    assert_eq!(answers[0]["saved"], json!(true), "{told}");
    assert_eq!(Tree::of(sandbox.root()), before, "asking changes nothing");
}

/// A hostile index, log or pack is no reason to fail.
#[test]
fn broken_files_of_git_are_passed_over() {
    let sandbox = project();
    for (file, bytes) in [
        (".git/index", &b"DIRC\0\0\0\x02\xff\xff\xff\xff"[..]),
        (".git/logs/HEAD", &b"\xff\xfe\t\n"[..]),
        (".git/packed-refs", &b"\0\0\0"[..]),
        (".git/objects/pack/pack-1.idx", &b"\xfftOc\0\0\0\x02"[..]),
    ] {
        let path = sandbox.project().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    check_refused(&sandbox, "use pnpm", "duplicate:CLAUDE.md:5", "Use pnpm.");
    check_refused(
        &sandbox,
        "commit 1a2b3c4 merged branch main yesterday",
        "derivable:git",
        "`main` is a branch",
    );
}
