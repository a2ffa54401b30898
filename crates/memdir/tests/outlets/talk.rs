//! What memdir says when something is wrong: errors, warnings, the log of hooks.

use std::fs;

use memdir_testkit::{Project, Sandbox};
use serde_json::json;

use crate::canary::{canaries, check_files, check_none, sentence, told};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_memdir"))
}

/// X5: whatever is typed wrongly is not repeated where it is a secret, in words or as JSON.
#[test]
fn x5_no_error_repeats_a_secret() {
    let sandbox = sandbox();
    sandbox.save("project-shop", "The shop opens at nine.");
    let canaries = canaries(1);
    let mut n_errors = 0;
    for canary in &canaries {
        let text = &canary.text;
        let below = format!("nowhere/{text}");
        let calls: [&[&str]; 10] = [
            &["show", text],
            &["--json", "show", text],
            &["--json", "edit", text, "--body", "x"],
            &["--json", "save", text, "--type", "project", "--description", "d"],
            &["--json", "save", "project-x", "--type", text, "--description", "d"],
            &["--json", "undo", text],
            &["--json", "import", "claude-code", &below],
            &["--json", "recall", "opening", "--as-of", text],
            &["--json", "dream", "apply", text],
            &["--vault", &below, "--json", "list", text],
        ];
        for call in calls {
            let output = sandbox.memdir(call).run();
            n_errors += usize::from(output.code != 0);
            check_none(&canaries, &format!("{call:?}"), &format!("{}{}", output.stdout, output.stderr));
        }
    }
    assert!(n_errors >= canaries.len() * 9, "{n_errors} of {} were errors", canaries.len() * 10);
}

/// X5: a save that is refused names the kind and the line, in every form of the answer.
#[test]
fn x5_a_refused_save_names_the_kind_alone() {
    let sandbox = sandbox();
    let canaries = canaries(2);
    for canary in &canaries {
        for form in [&["--json"][..], &[]] {
            let args =
                [form, &["save", "project-shop", "--type", "project", "--description", "shop"]].concat();
            let output = sandbox.memdir(&args).stdin(sentence(canary)).code(1);
            check_none(&canaries, "a refusal", &format!("{}{}", output.stdout, output.stderr));
            assert!(output.stderr.contains("refused: line"), "{}: {}", canary.kind, output.stderr);
        }
    }
    check_files(&canaries, sandbox.root(), &|_| false);
}

/// X5: hooks that are told nonsense leave a line without what they were told.
#[test]
fn x5_the_log_of_hooks_repeats_no_secret() {
    let project = Project::new(sandbox(), "shop", &[("README.md", "A shop.\n")]);
    let canaries = canaries(3);
    for canary in &canaries {
        let text = &canary.text;
        let said = json!({ "session_id": text, "cwd": project.dir.join(text), "prompt": sentence(canary) });
        let broken = format!("{{\"session_id\": \"{text}\", \"prompt\": ");
        for (agent, event, input) in [
            (text.as_str(), "UserPromptSubmit", said.to_string()),
            ("claude-code", "UserPromptSubmit", broken),
            ("claude-code", "UserPromptSubmit", said.to_string()),
            ("codex", "SessionStart", said.to_string()),
            ("gemini", "BeforeTool", json!({ "tool_name": text, "tool_input": text }).to_string()),
        ] {
            let output = project.memdir(&["hook", agent, event]).stdin(input).ok();
            check_none(&canaries, &format!("hook {event}"), &format!("{}{}", output.stdout, output.stderr));
        }
    }
    let log = fs::read_to_string(project.sandbox.state().join("hooks.log")).unwrap();
    assert!(log.lines().count() >= canaries.len() * 2, "{log}");
    assert!(log.contains("[REDACTED:github-pat]"), "an agent that is called like a token is told so: {log}");
    check_files(&canaries, &project.sandbox.state(), &|_| false);
}

/// X5: a whole session with secrets in prompts, answers, a failing command and its file leaves none of them behind: not in
/// queues, journal, notes of the session, cursors, ledgers or the questions that dreams replay.
#[test]
fn x5_a_session_leaves_no_secret_behind() {
    let project = Project::new(sandbox(), "shop", &[("README.md", "A shop.\n")]);
    project
        .memdir(&["save", "project-shop", "--type", "project", "--description", "When the shop opens"])
        .stdin("At nine.")
        .ok();
    let canaries = canaries(4);
    project.hook("s1", "SessionStart", json!({ "source": "startup" }));
    for (n, canary) in canaries.iter().enumerate() {
        let prompt = format!("when does the shop open? {}", sentence(canary));
        project.hook("s1", "UserPromptSubmit", json!({ "prompt": prompt }));
        let input = json!({ "command": format!("deploy --with {}", canary.text) });
        let failed = json!({ "stdout": "", "stderr": format!("error: refused\n{}", sentence(canary)), "exit_code": 1 });
        let said = json!({ "tool_name": "Bash", "tool_input": input, "tool_response": failed, "tool_use_id": format!("t{n}") });
        project.hook("s1", "PostToolUse", said);
    }
    let all = told(&canaries);
    let (asked, answer) = (format!("Please deploy on Thursdays.\n{all}"), format!("Done.\n{all}"));
    project.says(
        "s1",
        9,
        &[("user", json!(asked)), ("assistant", json!([{ "type": "text", "text": answer }]))],
    );
    project.stop("s1");
    project.hook("s1", "PreCompact", json!({ "trigger": "auto" }));
    project.hook("s1", "SessionEnd", json!({ "reason": "other" }));
    project.work();
    let kept = check_files(&canaries, &project.sandbox.state(), &|_| false);
    assert!(kept > 5, "{kept} files");
    for call in [&["journal"][..], &["dashboard"], &["log"], &["review"], &["doctor"], &["search", "deploy"]]
    {
        let output = project.memdir(call).run();
        check_none(&canaries, &format!("{call:?}"), &format!("{}{}", output.stdout, output.stderr));
    }
}
