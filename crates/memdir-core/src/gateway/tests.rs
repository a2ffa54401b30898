//! What is read out of requests that look like those of real clients, and what stands in them afterwards.

use serde_json::Value;

use super::samples::{ALL, CHAT, CLAUDE, CLAUDE_TOOL, CODEX, GEMINI, of_claude, unlabelled};
use super::*;
use crate::context::INSTRUCTIONS;
use crate::frame::enclosed;

fn seen(reading: &Reading) -> (Kind, Vec<&str>, bool) {
    (reading.kind, reading.turns.iter().map(|turn| turn.said.as_str()).collect(), reading.is_asked)
}

fn spliced(body: &str, reading: &Reading, text: &str) -> String {
    let insertions: Vec<Insertion> =
        reading.turns.iter().flat_map(|turn| turn.place.insertions(text)).collect();
    String::from_utf8(splice(body.as_bytes(), &insertions)).unwrap()
}

#[test]
fn a_request_of_each_client_is_understood() {
    let claude = read(Dialect::Messages, &of_claude(), CLAUDE.as_bytes());
    assert_eq!(seen(&claude), (Kind::Main, vec!["which database do the tests use?"], true));
    assert_eq!(claude.conversation.id, "5f7c1b52-0000-4000-8000-000000000001");
    assert_eq!((claude.model.as_str(), claude.cwd.as_deref()), ("claude-opus-5-5", Some("/home/ada/shop")));

    let later = read(Dialect::Messages, &of_claude(), CLAUDE_TOOL.as_bytes());
    assert_eq!(seen(&later), (Kind::Main, vec!["which database do the tests use?"], false));
    assert_eq!(later.turns[0].key, claude.turns[0].key, "the mark for the cache is no part of what was said");
    assert_eq!(later.tools[0].command, "cargo test");
    assert!(!later.has_frame, "what a tool brought in is not what we said");

    let codex = read(Dialect::Responses, &unlabelled(), CODEX.as_bytes());
    assert_eq!(seen(&codex), (Kind::Main, vec!["run the tests", "now deploy"], true));
    assert_eq!(codex.cwd.as_deref(), Some("/home/ada/shop"));
    assert!(!codex.conversation.is_named, "the key of a cache is no conversation");
    let labels = Labels { session: Some("01a1-thread".to_owned()), ..unlabelled() };
    let named = read(Dialect::Responses, &labels, CODEX.as_bytes());
    assert_eq!(named.conversation.id, "01a1-thread", "by its header");
    assert_eq!(codex.tools[0].command, "cargo test");

    let chat = read(Dialect::Chat, &unlabelled(), CHAT.as_bytes());
    assert_eq!(seen(&chat), (Kind::Main, vec!["run the \"tests\"", "and this?"], true));
    assert_eq!((chat.cwd.as_deref(), chat.tools[0].command.as_str()), (Some("/home/ada/shop"), "cargo test"));

    let path = "/v1beta/models/gemini-2.5-pro:generateContent";
    let labels = Labels { model: Dialect::Gemini.model(path).map(str::to_owned), ..unlabelled() };
    let gemini = read(Dialect::Gemini, &labels, GEMINI.as_bytes());
    assert_eq!(seen(&gemini), (Kind::Main, vec!["run the tests"], false));
    assert_eq!((gemini.model.as_str(), gemini.cwd.as_deref()), ("gemini-2.5-pro", Some("/home/ada/shop")));
    assert!(gemini.conversation.id.starts_with("gateway-") && !gemini.conversation.is_named);
}

/// What hosts write beside the user's words, as Gemini CLI 0.61 and Copilot CLI 1.0 do.
#[test]
fn a_directory_in_a_list_and_a_date_before_a_prompt_are_told_from_what_the_user_said() {
    let list = r"- **Workspace Directories:**\n  - /home/ada/shop\n  - /home/ada/other\n- **Directory Structure:**\n";
    let gemini = GEMINI.replace("I'm currently working in the directory: /home/ada/shop", list);
    let gemini = read(Dialect::Gemini, &unlabelled(), gemini.as_bytes());
    assert_eq!(gemini.cwd.as_deref(), Some("/home/ada/shop"));
    assert_eq!(seen(&gemini).1, ["run the tests"]);
    let copilot = r#"{"model":"m","messages":[{"role":"system","content":"You help.\n* Current working directory: /home/ada/shop\n"},{"role":"user","content":"<current_datetime>2026-11-18T00:09:27.411+00:00</current_datetime>\n\nrun the tests"}]}"#;
    let copilot = read(Dialect::Chat, &unlabelled(), copilot.as_bytes());
    assert_eq!(copilot.cwd.as_deref(), Some("/home/ada/shop"));
    assert_eq!(seen(&copilot).1, ["run the tests"]);
}

#[test]
fn a_conversation_without_a_name_is_known_by_how_it_begins() {
    let id = |body: &str| read(Dialect::Chat, &unlabelled(), body.as_bytes()).conversation.id;
    let first =
        r#"{"model":"a","messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"}]}"#;
    let later = r#"{"model":"b","messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"},{"role":"assistant","content":"yes"},{"role":"user","content":"go on"}]}"#;
    let other =
        r#"{"model":"a","messages":[{"role":"system","content":"T"},{"role":"user","content":"hi"}]}"#;
    assert_eq!(id(first), id(later), "another model, more turns");
    assert_ne!(id(first), id(other));
    let claude = |body: &str| read(Dialect::Messages, &unlabelled(), body.as_bytes()).conversation.id;
    assert_eq!(claude(CLAUDE), claude(CLAUDE_TOOL), "the name in the body");
    let nameless = |body: &str| claude(&body.replace("metadata", "metadate"));
    assert_eq!(
        nameless(CLAUDE),
        nameless(CLAUDE_TOOL),
        "what changes in the first block of instructions is left out"
    );
    assert_ne!(nameless(CLAUDE), claude(CLAUDE));
}

#[test]
fn names_that_are_no_names_are_not_taken() {
    let labels = |session: &str| Labels { session: Some(session.to_owned()), ..Labels::default() };
    for name in ["../../etc", "a/b", ".hidden", "", "a b", &"x".repeat(129)] {
        let reading = read(Dialect::Chat, &labels(name), CHAT.as_bytes());
        assert!(!reading.conversation.is_named, "{name}");
        assert!(reading.conversation.id.starts_with("gateway-"));
    }
}

#[test]
fn equal_words_at_two_places_are_two_turns() {
    let body = r#"{"tools":[1],"messages":[{"role":"user","content":"continue"},{"role":"assistant","content":"a"},{"role":"user","content":"continue"}]}"#;
    let reading = read(Dialect::Chat, &unlabelled(), body.as_bytes());
    assert_eq!(reading.turns.len(), 2);
    assert_ne!(reading.turns[0].key, reading.turns[1].key);
}

#[test]
fn side_requests_are_told_from_the_conversation() {
    let kind = |dialect, labels: &Labels, body: &str| read(dialect, labels, body.as_bytes()).kind;
    let agent = Labels { is_subagent: true, ..of_claude() };
    assert_eq!(kind(Dialect::Messages, &agent, CLAUDE), Kind::Subagent);
    let summary =
        CLAUDE.replace("which database", "CRITICAL: Respond with TEXT ONLY: a <summary> block. which");
    assert_eq!(kind(Dialect::Messages, &of_claude(), &summary), Kind::Compaction);
    let checkpoint = CODEX.replace("now deploy", "You are performing a CONTEXT CHECKPOINT COMPACTION.");
    assert_eq!(kind(Dialect::Responses, &unlabelled(), &checkpoint), Kind::Compaction);
    let title = r#"{"messages":[{"role":"system","content":"You are a title generator."},{"role":"user","content":"hi"}]}"#;
    assert_eq!(kind(Dialect::Chat, &unlabelled(), title), Kind::Aside);
    let plain = r#"{"messages":[{"role":"system","content":"You help."},{"role":"user","content":"hi"}]}"#;
    assert_eq!(
        kind(Dialect::Chat, &unlabelled(), plain),
        Kind::Main,
        "a chat without tools is a conversation"
    );
    assert_eq!(
        kind(Dialect::Chat, &of_claude(), plain),
        Kind::Aside,
        "an agent that names its sessions has tools"
    );
    let quota = r#"{"max_tokens":1,"messages":[{"role":"user","content":"quota"}]}"#;
    assert_eq!(kind(Dialect::Messages, &unlabelled(), quota), Kind::Aside);
    let router = r#"{"contents":[{"role":"user","parts":[{"text":"rate"}]}],"generationConfig":{"responseJsonSchema":{"type":"object"},"responseMimeType":"application/json"}}"#;
    assert_eq!(kind(Dialect::Gemini, &unlabelled(), router), Kind::Structured);
}

#[test]
fn what_is_malformed_or_read_in_two_ways_is_unknown() {
    for body in [
        "",
        "{",
        "[]",
        "null",
        r#"{"messages":"hi"}"#,
        r#"{"messages":[1]}"#,
        r#"{"messages":[{"role":"user","content":5}]}"#,
        r#"{"messages":[{"role":"wizard","content":"hi"}]}"#,
        r#"{"messages":[],"messages":[{"role":"user","content":"hi"}]}"#,
        r#"{"messages":[{"role":"user","role":"assistant","content":"hi"}]}"#,
        r#"{"messages":[{"role":"user","content":"hi","content":"ho"}]}"#,
        r#"{"mess\u0061ges":[{"role":"user","content":"hi"}]}"#,
        r#"{"messages":[{"role":"user","content":"hi"}]} {"#,
    ] {
        for dialect in Dialect::ALL {
            let reading = read(dialect, &unlabelled(), body.as_bytes());
            assert_eq!((reading.kind, reading.turns.len()), (Kind::Unknown, 0), "{dialect:?} {body}");
        }
    }
    assert_eq!(read(Dialect::Chat, &unlabelled(), b"{\"messages\":[\xff]}").kind, Kind::Unknown);
}

#[test]
fn no_depth_is_too_deep() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let beside = format!(r#"{{"messages":[{{"role":"user","content":"hi"}}],"x":{deep}}}"#);
    assert_eq!(read(Dialect::Chat, &unlabelled(), beside.as_bytes()).turns.len(), 1);
    let within = format!(r#"{{"messages":[{{"role":"user","content":{deep}}}]}}"#);
    assert_eq!(read(Dialect::Chat, &unlabelled(), within.as_bytes()).kind, Kind::Unknown);
    let system = format!(r#"{{"system":{deep},"messages":[{{"role":"user","content":"hi"}}]}}"#);
    assert_eq!(read(Dialect::Messages, &unlabelled(), system.as_bytes()).turns.len(), 1);
}

/// Hooks and gateway together must not say a thing twice.
#[test]
fn a_request_that_holds_our_frame_says_so() {
    let frame = enclosed("Relevant saved memories", "x\n", b"key");
    let quoted = |text: &str| Value::from(text).to_string().trim_matches('"').to_owned();
    for text in [&frame, INSTRUCTIONS] {
        let told = CLAUDE.replace("Today is Tuesday.", &quoted(text));
        assert!(read(Dialect::Messages, &of_claude(), told.as_bytes()).has_frame, "{told}");
        let said = CHAT.replace("and this?", &quoted(text));
        assert!(read(Dialect::Chat, &unlabelled(), said.as_bytes()).has_frame);
    }
    for (dialect, body) in ALL {
        assert!(!read(dialect, &unlabelled(), body.as_bytes()).has_frame);
    }
}

/// What we put in is not what anybody said: a turn keeps its key with our text behind it.
#[test]
fn a_turn_is_the_same_with_our_text_in_it() {
    let text = reminder(&enclosed("Relevant saved memories", "use \"postgres\"\n", b"key"));
    for (dialect, body) in ALL {
        let before = read(dialect, &unlabelled(), body.as_bytes());
        let after = read(dialect, &unlabelled(), spliced(body, &before, &text).as_bytes());
        let keys = |reading: &Reading| reading.turns.iter().map(|turn| turn.key.clone()).collect::<Vec<_>>();
        assert_eq!(keys(&before), keys(&after), "{dialect:?}");
        assert_eq!(before.conversation, after.conversation);
        assert!(after.has_frame);
    }
}

#[test]
fn a_text_stands_behind_the_turn_and_nothing_else_moves() {
    let claude = read(Dialect::Messages, &of_claude(), CLAUDE.as_bytes());
    let value: Value = serde_json::from_str(&spliced(CLAUDE, &claude, "remember \"this\"\n")).unwrap();
    let content = &value["messages"][0]["content"];
    assert_eq!(content[2], serde_json::json!({"type": "text", "text": "remember \"this\"\n"}));
    assert_eq!(content[1]["cache_control"]["type"], "ephemeral");
    assert_eq!(value["system"], serde_json::from_str::<Value>(CLAUDE).unwrap()["system"]);

    let chat = read(Dialect::Chat, &unlabelled(), CHAT.as_bytes());
    let value: Value = serde_json::from_str(&spliced(CHAT, &chat, "x")).unwrap();
    assert_eq!(value["messages"][1]["content"], "run the \"tests\"\n\nx");
    assert_eq!(value["messages"][5]["content"][2]["text"], "x");

    let plain = r#"{"messages":[{"role":"user","content": "hi" }]}"#;
    let reading = read(Dialect::Messages, &unlabelled(), plain.as_bytes());
    let value: Value = serde_json::from_str(&spliced(plain, &reading, "x")).unwrap();
    assert_eq!(
        value["messages"][0]["content"],
        serde_json::json!([{"type":"text","text":"hi"},{"type":"text","text":"x"}])
    );

    let input = r#"{"model":"m","input":"hi"}"#;
    let reading = read(Dialect::Responses, &unlabelled(), input.as_bytes());
    assert_eq!(spliced(input, &reading, "x"), r#"{"model":"m","input":"hi\n\nx"}"#);

    let gemini = read(Dialect::Gemini, &unlabelled(), GEMINI.as_bytes());
    let value: Value = serde_json::from_str(&spliced(GEMINI, &gemini, "x")).unwrap();
    assert_eq!(value["contents"][1]["parts"], serde_json::json!([{"text": "run the tests"}, {"text": "x"}]));
    assert_eq!(value["contents"][3]["parts"].as_array().map(Vec::len), Some(1), "nothing beside a result");
}

/// A prompt in the same message as results of tools comes behind them, and so does what is added.
#[test]
fn nothing_comes_between_a_call_and_its_result() {
    let body = r#"{"tools":[1],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"no"},{"type":"text","text":"stop that"}]}]}"#;
    let reading = read(Dialect::Messages, &unlabelled(), body.as_bytes());
    assert_eq!(seen(&reading), (Kind::Main, vec!["a", "stop that"], true));
    let value: Value = serde_json::from_str(&spliced(body, &reading, "x")).unwrap();
    let kinds: Vec<&str> = value["messages"][2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["tool_result", "text", "text"]);
}

#[test]
fn the_words_of_machines_are_no_turns() {
    for text in [
        "<task-notification>done</task-notification>",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nbe kind\n</INSTRUCTIONS>",
        "<system-reminder>\nx\n</system-reminder>",
        "This session is being continued from a previous conversation that ran out of context.",
    ] {
        let body =
            serde_json::json!({"tools": [1], "messages": [{"role": "user", "content": text}]}).to_string();
        assert_eq!(read(Dialect::Messages, &unlabelled(), body.as_bytes()).turns, [], "{text}");
    }
}
