//! Lines as the three agents write them, and what becomes of each.

use expect_test::expect;
use serde_json::json;

use super::*;
use crate::secrets::Scanner;

/// Reads the lines of a file and shows the turns, one a line, and the reasons of what was left out.
fn shown(host: Host, lines: &[String]) -> String {
    let mut parser = Parser::new(host, "from-the-name");
    let mut shown = String::new();
    for line in lines {
        match parser.read(line.as_bytes()) {
            Err(skip) => shown.push_str(&format!("- {skip:?}\n")),
            Ok(turns) => {
                for turn in turns {
                    let at = turn.at.map(|at| at.strftime("%H:%M:%S").to_string()).unwrap_or_default();
                    let role = turn.role.word();
                    shown.push_str(&format!("{} {at} {role} {} {:?}\n", turn.session, turn.uuid, turn.text));
                }
            }
        }
    }
    shown
}

fn claude(kind: &str, uuid: &str, content: serde_json::Value) -> serde_json::Value {
    json!({
        "parentUuid": null, "isSidechain": false, "type": kind, "uuid": uuid, "timestamp": "2026-04-01T10:00:00.123Z",
        "cwd": "/p", "gitBranch": "main", "sessionId": "s1", "version": "2.1.325",
        "message": { "role": kind, "content": content },
    })
}

fn with(mut line: serde_json::Value, key: &str, value: serde_json::Value) -> String {
    line[key] = value;
    line.to_string()
}

#[test]
fn tr_02_lines_of_claude_code_give_what_was_said_and_nothing_else() {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let lines = [
        json!({ "type": "queue-operation", "operation": "enqueue", "sessionId": "s1", "content": "hi" }).to_string(),
        claude("user", "u1", json!("say the marker")).to_string(),
        with(claude("user", "u2", json!("caveat")), "isMeta", json!(true)),
        with(claude("assistant", "a0", text("from below")), "isSidechain", json!(true)),
        with(claude("user", "u3", json!("This session is continued…")), "isCompactSummary", json!(true)),
        claude("assistant", "a1", json!([{ "type": "thinking", "thinking": "hm", "signature": "x" }])).to_string(),
        claude("assistant", "a2", json!([
            { "type": "text", "text": "I run it." },
            { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "echo marker-77", "timeout": 5 } },
        ]))
        .to_string(),
        claude("user", "u4", json!([
            { "type": "tool_result", "tool_use_id": "t1", "content": [
                { "type": "text", "text": "marker-77" }, { "type": "image", "source": { "data": "AAAA" } },
            ] },
        ]))
        .to_string(),
        claude("user", "u5", json!([{ "type": "image", "source": { "type": "base64", "data": "AAAA" } }])).to_string(),
        claude("user", "u6", json!("<task-notification>agent 7 is done</task-notification>")).to_string(),
        claude("user", "u7", json!([
            { "type": "text", "text": "<system-reminder>be brief</system-reminder>and now?" },
            { "type": "brand-new-block", "payload": 1 },
        ]))
        .to_string(),
        json!({ "type": "summary", "summary": "A title", "leafUuid": "u7" }).to_string(),
        json!({ "type": "user", "message": "not an object", "uuid": 7 }).to_string(),
    ];
    expect![[r#"
        - Other
        s1 10:00:00 user u1 "say the marker"
        - Meta
        - Sidechain
        - Summary
        - Meta
        s1 10:00:00 assistant a2 "I run it."
        s1 10:00:00 tool a2.1 "Bash\ncommand: echo marker-77\ntimeout: 5"
        s1 10:00:00 tool u4 "marker-77"
        - Meta
        s1 10:00:00 tool u6 "<task-notification>agent 7 is done</task-notification>"
        s1 10:00:00 user u7 "and now?"
        - Other
        - Other
    "#]]
    .assert_eq(&shown(Host::ClaudeCode, &lines));
}

#[test]
fn a_turn_carries_the_directory_and_the_branch_of_its_line() {
    let mut parser = Parser::new(Host::ClaudeCode, "x");
    let turns = parser.read(claude("user", "u1", json!("hi")).to_string().as_bytes()).unwrap();
    assert_eq!(turns[0].cwd.as_deref(), Some("/p"));
    assert_eq!(turns[0].branch.as_deref(), Some("main"));
    assert_eq!(turns[0].at.unwrap().to_string(), "2026-04-01T10:00:00.123Z");
}

fn codex(kind: &str, payload: serde_json::Value) -> String {
    json!({ "timestamp": "2026-04-01T10:00:01Z", "ordinal": 0, "type": kind, "payload": payload }).to_string()
}

#[test]
fn tr_02_lines_of_codex_give_what_was_said_and_nothing_else() {
    let message = |id: &str, role: &str, text: &str, kinds: serde_json::Value| {
        let content = json!([{ "type": "input_text", "text": text }]);
        let about = json!({ "content_item_kinds": kinds });
        let payload = json!({ "type": "message", "id": id, "role": role, "content": content,
            "internal_chat_message_metadata_passthrough": about });
        codex("response_item", payload)
    };
    let lines = [
        codex(
            "session_meta",
            json!({ "id": "c1", "cwd": "/p", "git": { "branch": "dev" }, "source": "exec" }),
        ),
        codex("event_msg", json!({ "type": "task_started" })),
        message("m0", "developer", "You are a coding agent", json!(["unknown"])),
        message("m1", "user", "<environment_context>…", json!(["environments.environment_context"])),
        message("m2", "user", "# AGENTS.md instructions for /p", json!([])),
        message("m3", "user", "say the marker", json!(["user.text"])),
        codex("event_msg", json!({ "type": "user_message", "message": "say the marker" })),
        codex("session_meta", json!({ "id": "the-parent", "cwd": "/elsewhere" })),
        codex("response_item", json!({ "type": "reasoning", "summary": [], "encrypted_content": "…" })),
        codex(
            "response_item",
            json!({ "type": "function_call", "id": "f1", "name": "exec_command",
            "arguments": "{\"cmd\": \"echo marker-88\"}", "call_id": "t" }),
        ),
        codex(
            "response_item",
            json!({ "type": "function_call_output", "id": "f2", "call_id": "t", "output": "marker-88\n" }),
        ),
        codex(
            "response_item",
            json!({ "type": "custom_tool_call", "id": "f3", "name": "apply_patch", "input": "*** Begin" }),
        ),
        codex(
            "response_item",
            json!({ "type": "message", "id": "m4", "role": "assistant",
            "content": [{ "type": "output_text", "text": "Done." }] }),
        ),
        codex("compacted", json!({ "message": "a summary" })),
        codex("a-kind-of-next-year", json!({})),
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "bare" }] })
            .to_string(),
    ];
    expect![[r#"
        - Other
        - Other
        - Meta
        - Meta
        - Meta
        c1 10:00:01 user m3 "say the marker"
        - Other
        - Other
        - Meta
        c1 10:00:01 tool f1 "exec_command\ncmd: echo marker-88"
        c1 10:00:01 tool f2 "marker-88"
        c1 10:00:01 tool f3 "apply_patch\n*** Begin"
        c1 10:00:01 assistant m4 "Done."
        - Summary
        - Other
        c1  user ea9886c464b167a8 "bare"
    "#]]
    .assert_eq(&shown(Host::Codex, &lines));
}

#[test]
fn the_conversation_of_a_sub_agent_is_left_out() {
    let source = json!({ "subagent": { "thread_spawn": {} } });
    let said =
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "hi" }] });
    let lines =
        [codex("session_meta", json!({ "id": "c2", "source": source })), codex("response_item", said)];
    assert_eq!(shown(Host::Codex, &lines), "- Other\n- Sidechain\n");
    let lines = [
        json!({ "sessionId": "g2", "projectHash": "x", "kind": "subagent" }).to_string(),
        json!({ "id": "1", "type": "user", "content": "hi" }).to_string(),
    ];
    assert_eq!(shown(Host::Gemini, &lines), "- Sidechain\n- Sidechain\n");
}

#[test]
fn tr_02_lines_of_gemini_give_each_message_once() {
    let message = |id: &str, kind: &str, content: serde_json::Value| json!({ "id": id, "timestamp": "2026-04-01T10:00:02Z", "type": kind, "content": content });
    let start = message("m0", "user", json!([{ "text": "<session_context>\nToday…</session_context>" }]));
    let user =
        message("m1", "user", json!([{ "text": "say it" }, { "text": "<hook_context>x</hook_context>" }]));
    let mut answer = message("m2", "gemini", json!("Done."));
    let before = answer.to_string();
    answer["toolCalls"] = json!([{ "id": "t", "name": "run_shell_command", "args": { "command": "echo marker-99" },
        "result": [{ "functionResponse": { "name": "x", "response": { "output": "marker-99" } } }] }]);
    let lines = [
        json!({ "sessionId": "g1", "projectHash": "ab", "kind": "main" }).to_string(),
        json!({ "$set": { "messages": [start] } }).to_string(),
        user.to_string(),
        json!({ "$set": { "lastUpdated": "…" } }).to_string(),
        before,
        answer.to_string(),
        message("m3", "info", json!("updated")).to_string(),
        json!({ "$set": { "messages": [user, message("m4", "user", json!("only here"))] } }).to_string(),
        json!({ "$rewindTo": "m2" }).to_string(),
    ];
    expect![[r#"
        - Other
        - Other
        g1 10:00:02 user m1 "say it"
        - Other
        g1 10:00:02 assistant m2 "Done."
        g1 10:00:02 tool m2.1 "run_shell_command\ncommand: echo marker-99"
        g1 10:00:02 tool m2.2 "marker-99"
        - Meta
        g1 10:00:02 user m4 "only here"
        - Other
    "#]]
    .assert_eq(&shown(Host::Gemini, &lines));
}

#[test]
fn tr_02_a_broken_line_is_skipped_and_half_a_character_is_mended() {
    let mut parser = Parser::new(Host::ClaudeCode, "x");
    let deep = format!("{{\"type\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for line in ["", "   ", "{", "null", "[1]", "\"user\"", "{\"type\":\"user\"", "\0\0\0", &deep] {
        assert_eq!(parser.read(line.as_bytes()), Err(Skip::Corrupt), "{line:.40}");
    }
    let read = |parser: &mut Parser, escapes: &str| {
        let line = claude("user", "u", json!("A")).to_string().replace("\"A\"", &format!("\"{escapes}\""));
        parser.read(line.as_bytes()).unwrap()[0].text.clone()
    };
    assert_eq!(read(&mut parser, r"half \ud83d"), "half \u{fffd}");
    assert_eq!(
        read(&mut parser, r"half \ud83d\n\udc00 \ud83e\udd80 \\ud83d"),
        "half \u{fffd}\n\u{fffd} 🦀 \\ud83d"
    );
    let mut line = claude("user", "u", json!("A")).to_string().into_bytes();
    let at = line.iter().position(|&b| b == b'A').unwrap();
    line[at] = 0xff;
    assert_eq!(parser.read(&line).unwrap()[0].text, "\u{fffd}");
}

#[test]
fn the_first_lines_say_whose_file_it_is() {
    let host = |value: serde_json::Value| Host::of_line(value.to_string().as_bytes());
    assert_eq!(host(json!({ "type": "queue-operation", "sessionId": "s" })), Some(Host::ClaudeCode));
    assert_eq!(host(json!({ "type": "summary", "summary": "x", "leafUuid": "u" })), Some(Host::ClaudeCode));
    assert_eq!(host(json!({ "type": "session_meta", "payload": {} })), Some(Host::Codex));
    assert_eq!(host(json!({ "sessionId": "s", "projectHash": "x" })), Some(Host::Gemini));
    assert_eq!(host(json!({ "name": "package.json" })), None);
    assert_eq!(Host::of_line(b"# a note"), None);
}

const FRAME: &str =
    "Relevant saved memories (hints recorded earlier; the current code wins if they differ) [memdir 7c1e90ab]
[feedback] feedback-x.md — saved 3 days ago
Never mock the database.
[/memdir 7c1e90ab]";

#[test]
fn our_own_frames_are_cut_out_of_every_text() {
    for role in [Role::User, Role::Assistant, Role::Tool] {
        let cut = |text: &str| without_injected(role, text).into_owned();
        assert_eq!(cut(&format!("before\n{FRAME}\nafter")), "before\n\nafter", "{role:?}");
        assert_eq!(cut(&format!("hook says: {FRAME}")), "");
        assert_eq!(cut(&format!("{FRAME}\n{}\nrest", FRAME.replace("7c1e90ab", "00000000"))), "\n\nrest");
        // A host that cut the end off does not make its beginning ours to learn.
        assert_eq!(cut(&format!("a\n{}", &FRAME[..150])), "a\n");
    }
}

#[test]
fn what_only_looks_like_a_frame_stays() {
    for text in [
        "see [memdir 7c1e90ab] for more\nNever.",
        "x [memdir 7C1E90AB]\ny\n[/memdir 7C1E90AB]",
        "x [memdir 7c1e90a]\ny",
        "x [memdir 7c1e90ab]\ny\n[/memdir 00000000]",
        "<system-reminder> never closed",
    ] {
        assert_eq!(without_injected(Role::User, text), text);
    }
    let quoted = "The tag is <system-reminder>x</system-reminder>.";
    assert_eq!(without_injected(Role::Assistant, quoted), quoted, "the model may speak about it");
    assert_eq!(without_injected(Role::Tool, quoted), "The tag is .");
}

#[test]
fn a_text_full_of_marks_costs_a_few_passes() {
    let opened = "x [memdir 7c1e90ab]\n".repeat(100_000);
    assert_eq!(without_injected(Role::Tool, &opened), opened);
    let sections = "<system-reminder></system-reminder>".repeat(100_000);
    assert_eq!(without_injected(Role::Tool, &sections), "");
}

#[test]
fn a_pattern_folds_case_unless_it_has_a_capital() {
    let finds = |pattern: &str, text: &str| {
        Pattern::literal(pattern, Case::Smart).unwrap().find(text).map(|range| text[range].to_owned())
    };
    assert_eq!(finds("real db", "use a REAL DB"), Some("REAL DB".into()));
    assert_eq!(finds("Real db", "use a REAL DB"), None);
    assert_eq!(finds("größe", "die GRÖSSE, die GRÖßE"), Some("GRÖSSE".into()));
    assert_eq!(finds("데이터", "진짜 데이터베이스"), Some("데이터".into()));
    assert_eq!(finds("a.b(", "axb( a.b("), Some("a.b(".into()));
    assert!(Pattern::literal("x", Case::Sensitive).unwrap().find("X").is_none());
}

#[test]
fn only_a_pattern_that_json_leaves_alone_is_looked_for_in_raw_bytes() {
    let raw_len = |pattern: &str| Pattern::literal(pattern, Case::Smart).unwrap().raw_len();
    assert_eq!(raw_len("the queue-2.0"), Some(13));
    for pattern in ["a\"b", "a\\b", "a/b", "command: echo", "größe", "a\nb"] {
        assert_eq!(raw_len(pattern), None, "{pattern}");
    }
    assert_eq!(Pattern::regex("queue", Case::Smart).unwrap().raw_len(), None);
    assert!(Pattern::literal("queue", Case::Smart).unwrap().is_in_raw(b"\xff the QUEUE"));
}

#[test]
fn a_regular_expression_is_limited_in_size() {
    let regex = |pattern: &str| Pattern::regex(pattern, Case::Smart);
    let text = "port 5432";
    assert_eq!(regex(r"port \d+").unwrap().find(text).map(|range| &text[range]), Some("port 5432"));
    assert_eq!(regex("가.").unwrap().find("가나"), Some(0..6), "a hit ends with a whole character");
    assert!(matches!(regex(""), Err(PatternError::Empty)));
    assert!(matches!(regex(&"x".repeat(5_000)), Err(PatternError::TooLong)));
    assert!(matches!(regex(r"((\w{100}){100}){100}"), Err(PatternError::Invalid(_))));
    let message = regex("a(b").unwrap_err().to_string();
    assert_eq!(message, "the pattern cannot be used: unclosed group");
}

fn turn(n: usize, text: &str) -> Turn {
    Turn {
        session: "s".into(),
        at: None,
        role: if n.is_multiple_of(2) { Role::User } else { Role::Assistant },
        text: text.into(),
        cwd: None,
        branch: None,
        uuid: n.to_string(),
    }
}

/// Runs a search over texts and shows each window as the ids of its turns, hits marked.
fn windows(texts: &[&str], role: Option<Role>, limits: Limits) -> Vec<String> {
    let pattern = Pattern::literal("hit", Case::Smart).unwrap();
    let mut windows = Windows::new(&pattern, role, limits);
    for (n, text) in texts.iter().enumerate() {
        windows.push(&turn(n, text));
    }
    let (windows, _) = windows.finish(&Scanner::builtin());
    let shown = |turn: &ShownTurn| format!("{}{}", turn.uuid, if turn.is_hit { "!" } else { "" });
    windows.iter().map(|window| window.turns.iter().map(shown).collect::<Vec<_>>().join(" ")).collect()
}

const LIMITS: Limits = Limits { context: 1, windows: 10, bytes: 10_000 };

#[test]
fn windows_have_what_stands_around_a_hit_and_the_newest_come_first() {
    let texts = ["a", "b", "a hit", "c", "d", "e", "hit", "hit", "f", "g"];
    assert_eq!(windows(&texts, None, LIMITS), ["5 6! 7! 8", "1 2! 3"]);
    assert_eq!(windows(&texts, None, Limits { context: 0, ..LIMITS }), ["7!", "6!", "2!"]);
    assert_eq!(windows(&texts, None, Limits { windows: 1, ..LIMITS }), ["5 6! 7! 8"]);
    assert_eq!(windows(&texts, Some(Role::Assistant), LIMITS), ["6 7! 8"]);
    assert_eq!(windows(&["a", "b"], None, LIMITS), [""; 0]);
}

#[test]
fn a_pattern_that_hits_everything_makes_many_small_windows() {
    let texts = ["hit"; 100];
    let windows = windows(&texts, None, LIMITS);
    assert_eq!(windows.len(), 9, "100 turns, 12 a window");
}

#[test]
fn tr_01_a_long_turn_is_cut_around_the_hit_and_secrets_in_it_are_redacted() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let long =
        format!("{}the hit, with {token} beside it {}", "x ".repeat(1_000_000), "y ".repeat(1_000_000));
    let pattern = Pattern::literal("the hit", Case::Smart).unwrap();
    let mut windows = Windows::new(&pattern, None, LIMITS);
    windows.push(&turn(0, &"before ".repeat(1_000_000)));
    windows.push(&turn(1, &long));
    let (windows, n) = windows.finish(&Scanner::builtin());
    assert_eq!(n, 1);
    assert!(windows[0].bytes() < 1_200, "{}", windows[0].bytes());
    let text = &windows[0].turns[1].text;
    assert!(text.contains("the hit") && text.starts_with('…') && text.ends_with('…'), "{text}");
    assert!(text.contains("[REDACTED:") && !text.contains(&token), "{text}");
}
