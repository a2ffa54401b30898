//! What a session is told of claims, where nobody ever ran `memdir verify`.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::{Sandbox, hook, save, told};

/// A repository with a function and a flag, and a memory that names both.
fn loom() -> Sandbox {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    git(&sandbox, &["init", "-q", "-b", "main"]);
    commit(
        &sandbox,
        &[
            ("lib/weave.py", "def weave_pattern(rows):\n    return rows\n"),
            ("cli.py", "add('--steam-first')\n"),
        ],
    );
    let body = "The museum's looms read punched cards, so weave_pattern() in lib/weave.py must keep the row order; \
        run it with `--steam-first`.\n\n**Why:** the cards cannot be sorted again.\n";
    sandbox
        .memdir(&[
            "save",
            "project-looms",
            "--type",
            "project",
            "--force",
            "the order of rows is not to be seen in the code",
            "--description",
            "Looms of the museum read punched cards: row order of the weave pattern",
        ])
        .stdin(body)
        .ok();
    sandbox
}

fn git(sandbox: &Sandbox, args: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(sandbox.project()).args(args).env_clear().env("PATH", "/usr/bin:/bin");
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@example.com");
    }
    assert!(git.status().unwrap().success(), "git {args:?}");
}

fn commit(sandbox: &Sandbox, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = sandbox.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(sandbox, &["add", "-A"]);
    git(sandbox, &["commit", "-q", "-m", "work"]);
}

fn asked(sandbox: &Sandbox, session: &str) -> String {
    let prompt = "why must the weave pattern keep the row order of the punched cards for the museum looms?";
    told(sandbox, "UserPromptSubmit", json!({ "session_id": session, "prompt": prompt }))
}

/// UX-12.
#[test]
fn a_renamed_function_is_told_by_the_next_recall_although_nobody_verified() {
    for was_recalled in [true, false] {
        let sandbox = loom();
        if was_recalled {
            assert!(asked(&sandbox, "before").contains("checked today, 3 of 3 hold"));
        }
        commit(
            &sandbox,
            &[("lib/weave.py", "def thread_pattern(rows):\n    return rows\n"), ("cli.py", "add('--dry')\n")],
        );
        let shown = asked(&sandbox, "after");
        assert!(shown.contains("weave_pattern is called thread_pattern now"), "{shown}");
        assert!(shown.contains("1 more no longer hold"), "{shown}");
        assert!(shown.contains("verify before use"), "{shown}");
        assert_eq!(shown.contains("last verified at"), was_recalled, "{shown}");
        let seen = sandbox.memdir(&["show", "project-looms"]).ok();
        assert!(seen.stdout.contains("weave_pattern is called thread_pattern now"), "{}", seen.stdout);
    }
}

/// SL-04: what another memory replaces is not brought to mind as if it held.
#[test]
fn a_superseded_memory_is_not_recalled() {
    for status in ["superseded", "deprecated"] {
        let sandbox = loom();
        assert!(asked(&sandbox, "before").contains("project-looms"));
        sandbox.memdir(&["edit", "project-looms", "--set", &format!("status={status}")]).ok();
        assert_eq!(asked(&sandbox, "after"), "");
    }
}

/// R2-03: a branch is always there, and so it is no reason to answer one word.
#[test]
fn a_single_word_is_answered_with_nothing() {
    let sandbox = loom();
    save(&sandbox, "reference-sentry", "reference", "Sentry has the crashes", "Crashes are in Sentry.\n");
    for prompt in ["Sentry", "looms", "crash"] {
        let said = json!({ "prompt": prompt });
        assert_eq!(hook(&sandbox, "claude-code", "UserPromptSubmit", said).ok().stdout, "");
    }
}

/// What `wrap` writes about where projects stand is no memory that anything calls up, whatever day it names.
#[test]
fn a_table_that_a_wrap_wrote_is_never_brought_to_mind() {
    let sandbox = loom();
    let table = "Which projects there are, and where each stands.\n\n## Projects\n\n\
        | project | status | last activity | doc tier |\n| --- | --- | --- | --- |\n\
        | looms | nothing open | 2026-04-02 | seed |\n";
    let page = |name: &str, body: &str| {
        format!(
            "---\nname: {name}\ndescription: \"All projects: status, last activity, tier of documentation\"\n\
             type: reference\nkind: status\n---\n\n{body}"
        )
    };
    sandbox.write("reference-projects.md", page("reference-projects", table));
    sandbox.write("project-status.md", page("project-status", "As of 2026-04-02: nothing is open.\n"));
    sandbox.write(
        "reference-mine.md",
        page("reference-mine", "The status of all projects is told on Mondays.\n"),
    );
    let prompt = "what is the status of all projects, and their last activity and tier of documentation?";
    let shown = told(&sandbox, "UserPromptSubmit", json!({ "prompt": prompt }));
    assert!(shown.contains("reference-mine.md"), "what a person wrote is: {shown}");
    assert!(!shown.contains("reference-projects.md") && !shown.contains("project-status.md"), "{shown}");
}
