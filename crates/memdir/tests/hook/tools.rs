//! Files, commands and failures call memories up, and their use is noted.

use std::fs;

use serde_json::json;

use crate::{hook, prompt, sandbox, told};

/// R3-02, R3-01.
#[test]
fn a_memory_that_is_read_shows_its_age_first() {
    let sandbox = sandbox();
    let file = sandbox.memory("feedback-real-db");
    let said = json!({ "tool_name": "Read", "tool_input": { "file_path": file }, "tool_use_id": "r1", "tool_response": {} });
    let output = hook(&sandbox, "claude-code", "PostToolUse", said).at("2026-04-05T10:30:00Z").ok();
    let text = crate::context(&output);
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("feedback-real-db.md — saved 3 days ago, said by user"), "{text}");
    let later = json!({ "prompt": "which database do integration tests use here?" });
    assert_eq!(
        told(&sandbox, "UserPromptSubmit", later),
        "",
        "R2-11: what was read is in the context already"
    );
}

/// PR-01, PR-06: a file calls up what is about it, once.
#[test]
fn a_file_calls_up_what_is_about_it() {
    let sandbox = sandbox();
    let text = "---\nname: project-migrations\ndescription: Migrations are never edited once they ran\ntype: project\npaths:\n  - db/migrations/**\n---\n\nWrite a new migration instead.\n";
    sandbox.write("project-migrations.md", text);
    let edit = |id: &str| {
        let file = sandbox.project().join("db/migrations/0001_init.sql");
        json!({ "tool_name": "Edit", "tool_input": { "file_path": file }, "tool_use_id": id })
    };
    let first = told(&sandbox, "PreToolUse", edit("e1"));
    assert!(first.contains("project-migrations.md") && first.contains("because"), "{first}");
    assert_eq!(told(&sandbox, "PreToolUse", edit("e2")), "");
    let elsewhere = json!({ "tool_name": "Edit", "tool_input": { "file_path": "/elsewhere/web/app.ts" }, "tool_use_id": "e3" });
    assert_eq!(told(&sandbox, "PreToolUse", elsewhere), "");
}

/// PR-03: a failure calls up what is known about it.
#[test]
fn a_failure_calls_up_what_is_known_about_it() {
    let sandbox = sandbox();
    fill(&sandbox);
    let description = "ENOSPC from the file watcher means raise fs.inotify.max_user_watches";
    let body = "vite stops with ENOSPC: System limit for number of file watchers reached; raise fs.inotify.max_user_watches.\n";
    sandbox.write("reference-enospc.md", format!("---\nname: reference-enospc\ndescription: {description}\ntype: reference\nkind: gotcha\n---\n\n{body}"));
    let said = json!({
        "tool_name": "Bash", "tool_input": { "command": "npm run dev" }, "tool_use_id": "f1",
        "error": "Error: ENOSPC: System limit for number of file watchers reached, watch '/app/src'"
    });
    let text = told(&sandbox, "PostToolUseFailure", said);
    assert!(text.contains("reference-enospc.md"), "{text}");
}

/// Writes memories about other things: what a word says about a memory depends on how many others have it.
fn fill(sandbox: &memdir_testkit::Sandbox) {
    let subjects = [
        "the invoice layout is agreed with accounting",
        "the staging host is rebuilt every Sunday night",
        "feature flags live in a table of their own",
        "the search box debounces for a quarter of a second",
        "translations come from the vendor in batches",
        "backups are kept for ninety days in another region",
        "the mobile team reads the changelog first",
        "images are resized by a queue and not by the request",
        "the checkout page has no third-party scripts",
        "passwords are reset by support only after a call",
    ];
    for (n, subject) in subjects.iter().enumerate() {
        let text = format!(
            "---\nname: project-other-{n}\ndescription: {subject}\ntype: project\n---\n\nIt was decided that {subject}.\n"
        );
        sandbox.write(&format!("project-other-{n}.md"), text);
    }
}

/// W2-01: what an agent writes with its own tool is taken up, as the agent's.
#[test]
fn a_memory_that_the_agent_writes_itself_is_the_agents() {
    let sandbox = sandbox();
    let file = sandbox.memory("project-chose-sqlite");
    let text = "---\nname: project-chose-sqlite\ndescription: The cache is SQLite because it must survive restarts\ntype: project\n---\n\nThe cache is SQLite.\n";
    fs::write(&file, text).unwrap();
    let said = json!({ "tool_name": "Write", "tool_input": { "file_path": file, "content": text }, "tool_use_id": "w1", "tool_response": {} });
    told(&sandbox, "PostToolUse", said);
    let other = json!({ "prompt": "why is the cache SQLite?", "session_id": "s2" });
    let shown = told(&sandbox, "UserPromptSubmit", other);
    assert!(shown.contains("project-chose-sqlite.md — saved just now, said by agent"), "{shown}");
    told(&sandbox, "Stop", json!({ "last_assistant_message": "Saved." }));
    let log = crate::session::eventually(|| {
        let log = sandbox.memdir(&["log", "project-chose-sqlite"]).json();
        (!log.as_array().unwrap().is_empty()).then_some(log)
    });
    assert_eq!(log[0]["author"], "agent", "{log}");
    let planted = sandbox.memory("project-planted");
    fs::write(planted, text.replace("chose-sqlite", "planted").replace("SQLite", "Redis")).unwrap();
    let other = json!({ "prompt": "why is the cache Redis?", "session_id": "s3" });
    let shown = told(&sandbox, "UserPromptSubmit", other);
    assert!(shown.contains("project-planted.md — saved just now, said by outside"), "{shown}");
}

/// DS-02: signs of use reach the ledger.
#[test]
fn an_answer_that_names_a_memory_is_a_sign_of_use() {
    let sandbox = sandbox();
    assert_ne!(told(&sandbox, "UserPromptSubmit", prompt("which database do integration tests use?")), "");
    told(
        &sandbox,
        "Stop",
        json!({ "last_assistant_message": "As feedback-real-db says, a real one.", "stop_hook_active": false }),
    );
    let ledger = fs::read_dir(sandbox.state().join("projects"))
        .unwrap()
        .flatten()
        .next()
        .unwrap()
        .path()
        .join("ledger");
    let lines: String = fs::read_dir(ledger)
        .unwrap()
        .flatten()
        .map(|file| fs::read_to_string(file.path()).unwrap())
        .collect();
    assert!(lines.contains("\"ev\":\"used\"") && lines.contains("\"how\":\"cited\""), "{lines}");
}

/// UX-21: a sub-agent has a context of its own, and what it is told is the user's choice.
#[test]
fn sub_agents_get_what_the_settings_say() {
    let sandbox = sandbox();
    let start = |id: &str| {
        let said = json!({ "agent_id": id, "agent_type": "general-purpose" });
        told(&sandbox, "SubagentStart", said)
    };
    let ask = |id: &str| {
        let tool = json!({ "tool_name": "Read", "tool_input": { "file_path": sandbox.memory("reference-grafana") } });
        let mut said = json!({ "agent_id": id, "agent_type": "general-purpose", "tool_use_id": id, "tool_response": {} });
        said.as_object_mut().unwrap().extend(tool.as_object().unwrap().clone());
        told(&sandbox, "PostToolUse", said)
    };
    let index = start("a1");
    assert!(index.contains("feedback-real-db.md") && !index.contains("<types>"), "{index}");
    let config = sandbox.state().join("config.toml");
    fs::write(&config, "subagents = \"none\"\n").unwrap();
    assert_eq!((start("a2"), ask("a2")), (String::new(), String::new()));
    fs::write(&config, "subagents = \"full\"\n").unwrap();
    assert!(start("a3").starts_with("# Memory"));
    assert_ne!(ask("a3"), "");
}
