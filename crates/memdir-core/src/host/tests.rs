//! What the hosts really send, shortened, and what they accept.

use serde_json::{Value, json};

use super::{
    Agent, MAX_CONTEXT, Moment, Reply, Ruling, Source, ToolKind, is_judged_elsewhere, is_machine_text, read,
    said_by_user,
};

fn tool(agent: Agent, event: &str, said: Value) -> super::Tool {
    match read(agent, event, &said).moment {
        Moment::BeforeTool(tool) | Moment::AfterTool { tool, .. } => tool,
        other => panic!("{event} is {other:?}"),
    }
}

#[test]
fn each_host_says_the_same_in_its_own_words() {
    let claude = json!({ "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/p", "prompt_id": "p1",
                         "hook_event_name": "UserPromptSubmit", "prompt": "which database?" });
    let codex = json!({ "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/p", "turn_id": "p1",
                        "prompt": "which database?" });
    let gemini = json!({ "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/p", "timestamp": "x",
                         "prompt": "which database?" });
    let copilot = json!({ "sessionId": "s1", "timestamp": 1, "cwd": "/p", "prompt": "which database?" });
    let cursor = json!({ "conversation_id": "s1", "generation_id": "p1", "workspace_roots": ["/p"],
                         "prompt": "which database?" });
    for (agent, event, said, has_id) in [
        (Agent::ClaudeCode, "UserPromptSubmit", claude, true),
        (Agent::Codex, "UserPromptSubmit", codex, true),
        (Agent::Gemini, "BeforeAgent", gemini, false),
        (Agent::Copilot, "userPromptSubmitted", copilot, false),
        (Agent::Cursor, "beforeSubmitPrompt", cursor, true),
    ] {
        let occasion = read(agent, event, &said);
        assert_eq!(occasion.moment, Moment::Prompt("which database?".to_owned()), "{agent:?}");
        assert_eq!((occasion.session.as_str(), occasion.cwd.as_deref()), ("s1", Some("/p")), "{agent:?}");
        assert_eq!(occasion.id.as_deref(), has_id.then_some("p1"), "{agent:?}");
    }
}

#[test]
fn tools_are_commands_and_files() {
    let bash = json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "tool_use_id": "t" });
    assert_eq!(tool(Agent::ClaudeCode, "PreToolUse", bash).command, "cargo test");
    let shell =
        json!({ "tool_name": "shell", "tool_input": { "command": ["bash", "-lc", "git push --force"] } });
    assert_eq!(tool(Agent::Codex, "PreToolUse", shell).command, "git push --force");
    let args = json!({ "toolName": "bash", "toolArgs": "{\"command\":\"ls\"}" });
    assert_eq!(tool(Agent::Copilot, "preToolUse", args).command, "ls");
    let run = json!({ "command": "rm -rf build", "cwd": "/p" });
    assert_eq!(tool(Agent::Cursor, "beforeShellExecution", run).command, "rm -rf build");
    let edit = json!({ "tool_name": "replace", "tool_input": { "file_path": "/p/db/migrate.rs" } });
    let edit = tool(Agent::Gemini, "BeforeTool", edit);
    assert_eq!((edit.kind, edit.files), (ToolKind::Edit, vec!["/p/db/migrate.rs".to_owned()]));
    let patch = json!({ "tool_name": "apply_patch", "tool_input": { "input":
        "*** Begin Patch\n*** Update File: a.rs\n@@\n*** Add File: b.rs\n*** End Patch" } });
    assert_eq!(tool(Agent::Codex, "PreToolUse", patch).files, ["a.rs", "b.rs"]);
    let other = json!({ "tool_name": "mcp__x__y", "tool_input": { "command": "no shell" } });
    assert_eq!(tool(Agent::ClaudeCode, "PreToolUse", other).command, "");
}

#[test]
fn what_failed_is_known_by_event_flag_or_code() {
    let failed = |agent, event: &str, said: Value| match read(agent, event, &said).moment {
        Moment::AfterTool { result, failed, .. } => (result, failed),
        other => panic!("{other:?}"),
    };
    let claude = json!({ "tool_name": "Bash", "tool_input": {}, "error": "no such table: users" });
    assert_eq!(
        failed(Agent::ClaudeCode, "PostToolUseFailure", claude),
        ("no such table: users".to_owned(), true)
    );
    let quiet = json!({ "tool_name": "Bash", "tool_input": {},
                        "tool_response": { "stdout": "ok", "stderr": "", "interrupted": false } });
    assert_eq!(failed(Agent::ClaudeCode, "PostToolUse", quiet), ("ok".to_owned(), false));
    let copilot = json!({ "toolName": "bash", "toolArgs": {},
                          "toolResult": { "resultType": "failure", "textResultForLlm": "exit 1" } });
    assert_eq!(failed(Agent::Copilot, "postToolUse", copilot), ("exit 1".to_owned(), true));
    let coded = json!({ "tool_name": "Bash", "tool_input": {}, "tool_response": { "exit_code": 101 } });
    assert!(failed(Agent::Codex, "PostToolUse", coded).1);
}

#[test]
fn a_session_begins_for_a_reason() {
    let source = |word: &str| read(Agent::ClaudeCode, "SessionStart", &json!({ "source": word })).moment;
    assert_eq!(source("startup"), Moment::Start(Source::New));
    assert_eq!(source("resume"), Moment::Start(Source::Resumed));
    assert_eq!(source("compact"), Moment::Start(Source::Compacted));
    assert_eq!(source("clear"), Moment::Start(Source::Cleared));
    assert_eq!(source("something new"), Moment::Start(Source::New));
}

#[test]
fn what_is_not_understood_is_nothing() {
    for said in [json!(null), json!([1, 2]), json!("text"), json!({ "session_id": 7, "prompt": { "a": 1 } })]
    {
        for agent in Agent::ALL {
            for event in
                ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionStart", "Nonsense", ""]
            {
                let occasion = read(agent, event, &said);
                assert_eq!(occasion.session, "");
                assert!(occasion.to_reply_is_empty());
            }
        }
    }
    // Gemini says so before every call of the model.
    assert_eq!(read(Agent::Gemini, "PreCompress", &json!({})).moment, Moment::Other);
}

impl super::Occasion {
    /// An empty reply is no reply.
    fn to_reply_is_empty(&self) -> bool {
        Reply::default().to_json(self).is_none()
    }
}

#[test]
fn huge_texts_are_cut_and_long_names_are_no_names() {
    let said = json!({ "session_id": "x".repeat(5000), "prompt": "ä".repeat(200_000) });
    let occasion = read(Agent::ClaudeCode, "UserPromptSubmit", &said);
    assert_eq!(occasion.session, "");
    let Moment::Prompt(prompt) = occasion.moment else { panic!() };
    assert_eq!(prompt.len(), 64 * 1024);
}

#[test]
fn each_host_gets_its_own_shape() {
    let reply = Reply { context: "note\n".to_owned(), ruling: Some(Ruling::Deny("no".to_owned())) };
    let shown = |agent, event: &str| reply.to_json(&read(agent, event, &json!({}))).unwrap();
    assert_eq!(
        shown(Agent::ClaudeCode, "PreToolUse"),
        json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "deny",
                "permissionDecisionReason": "no", "additionalContext": "note\n" } })
    );
    assert_eq!(
        shown(Agent::Gemini, "BeforeTool"),
        json!({ "decision": "deny", "reason": "no",
                "hookSpecificOutput": { "hookEventName": "BeforeTool", "additionalContext": "note\n" } })
    );
    assert_eq!(
        shown(Agent::Copilot, "preToolUse"),
        json!({ "permissionDecision": "deny", "permissionDecisionReason": "no", "additionalContext": "note\n" })
    );
    assert_eq!(
        shown(Agent::Cursor, "preToolUse"),
        json!({ "permission": "deny", "user_message": "no", "agent_message": "no" })
    );
    assert_eq!(shown(Agent::Cursor, "postToolUse"), json!({ "additional_context": "note\n" }));
    assert_eq!(shown(Agent::Goose, "PreToolUse"), json!({ "decision": "block", "reason": "no" }));
    assert_eq!(shown(Agent::Opencode, "PreToolUse"), json!({ "deny": "no", "context": "note\n" }));
    // A ruling is about a call that has not happened yet.
    assert_eq!(
        shown(Agent::ClaudeCode, "PostToolUse"),
        json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "additionalContext": "note\n" } })
    );
}

/// Cursor takes text at the start and with a tool's result, goose never; whoever counts on it otherwise is not heard.
#[test]
fn nothing_is_said_to_hosts_that_do_not_listen() {
    let reply = Reply::telling("note".to_owned());
    let said = |agent, event: &str| reply.to_json(&read(agent, event, &json!({})));
    for event in ["beforeSubmitPrompt", "preToolUse", "beforeShellExecution", "subagentStart"] {
        assert_eq!(said(Agent::Cursor, event), None, "{event}");
    }
    assert_eq!(said(Agent::Cursor, "sessionStart"), Some(json!({ "additional_context": "note" })));
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"] {
        assert_eq!(said(Agent::Goose, event), None, "{event}");
    }
    let shell = json!({ "tool_name": "Shell", "tool_input": { "command": "ls" } });
    assert!(is_judged_elsewhere(&read(Agent::Cursor, "preToolUse", &shell)));
    assert!(!is_judged_elsewhere(&read(Agent::Cursor, "beforeShellExecution", &json!({ "command": "ls" }))));
    assert!(!is_judged_elsewhere(&read(Agent::ClaudeCode, "PreToolUse", &shell)));
}

/// As the documentation of Cursor, VS Code and goose writes them.
#[test]
fn documented_payloads_are_read() {
    let after = |agent, event: &str, said: serde_json::Value| match read(agent, event, &said).moment {
        Moment::AfterTool { tool, result, failed } => (tool.kind, result, failed),
        other => panic!("{other:?}"),
    };
    let cursor = json!({ "tool_name": "Shell", "tool_input": { "command": "npm test" },
        "tool_output": "{\"exitCode\":1,\"stdout\":\"1 failed\"}", "tool_use_id": "t1", "cwd": "/p" });
    assert_eq!(after(Agent::Cursor, "postToolUse", cursor), (ToolKind::Shell, "1 failed".to_owned(), true));
    let vscode = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" },
        "tool_result": { "result_type": "failure", "text_result_for_llm": "no such file" } });
    assert_eq!(
        after(Agent::VsCode, "PostToolUse", vscode),
        (ToolKind::Shell, "no such file".to_owned(), true)
    );
    let goose = json!({ "event": "PreToolUse", "session_id": "s", "tool_call_id": "c1", "working_dir": "/p",
        "tool_name": "developer__edit", "tool_input": { "path": "src/a.rs", "before": "x", "after": "y" } });
    let occasion = read(Agent::Goose, "PreToolUse", &goose);
    assert_eq!((occasion.id.as_deref(), occasion.cwd.as_deref()), (Some("c1"), Some("/p")));
    let Moment::BeforeTool(tool) = occasion.moment else { panic!() };
    assert_eq!((tool.kind, tool.files), (ToolKind::Edit, vec!["src/a.rs".to_owned()]));
    let stop = json!({ "subagent_type": "explore", "status": "completed", "summary": "found it" });
    assert!(matches!(read(Agent::Cursor, "subagentStop", &stop).moment,
        Moment::SubagentStop { answer, .. } if answer == "found it"));
}

#[test]
fn nothing_is_said_where_it_would_prolong_the_turn() {
    let reply = Reply::telling("note".to_owned());
    for agent in Agent::ALL {
        for event in
            ["Stop", "AfterAgent", "agentStop", "SubagentStop", "SessionEnd", "PreCompact", "PostCompact"]
        {
            assert_eq!(reply.to_json(&read(agent, event, &json!({}))), None, "{agent:?} {event}");
        }
    }
}

#[test]
fn a_long_text_ends_with_a_whole_line() {
    let reply = Reply::telling("one line of it\n".repeat(2_000));
    let shown = reply.to_json(&read(Agent::ClaudeCode, "SessionStart", &json!({}))).unwrap();
    let text = shown["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.len() <= MAX_CONTEXT && text.ends_with("of it\n") && text.len() > MAX_CONTEXT - 20);
}

#[test]
fn machines_do_not_speak_for_the_user() {
    assert!(is_machine_text("<task-notification>\n<task-id>7</task-id>"));
    assert!(is_machine_text("  <local-command-stdout>ok</local-command-stdout>"));
    assert!(!is_machine_text("<div> does not close, why?"));
    assert_eq!(said_by_user("<task-notification>done</task-notification>"), "");
    assert_eq!(said_by_user("fix it<hook_context>Relevant …</hook_context> please"), "fix it please");
    let framed =
        "before\nRelevant saved memories (…) [memdir 7c1e90ab]\n[user] x.md\ntext\n[/memdir 7c1e90ab]\nafter";
    assert_eq!(said_by_user(framed), "before\nafter");
}
