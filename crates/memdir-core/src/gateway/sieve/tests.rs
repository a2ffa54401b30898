//! Examples of answers with calls of the memory tool, as events and in one piece, and of the requests that follow.

use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq};
use serde_json::{Value, json};

use super::super::place::splice;
use super::*;

/// The events of an answer.
fn events(id: &str, blocks: &[Value], stop: &str) -> Vec<u8> {
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let mut all = vec![
        json!({"type": "message_start", "message": {"id": id, "type": "message", "content": [], "usage": usage}}),
    ];
    for (number, block) in blocks.iter().enumerate() {
        let (mut begun, delta) = (block.clone(), delta(block));
        match block["type"].as_str().unwrap() {
            "tool_use" => begun["input"] = json!({}),
            kind => begun[kind] = "".into(),
        }
        all.push(json!({"type": "content_block_start", "index": number, "content_block": begun}));
        all.push(json!({"type": "content_block_delta", "index": number, "delta": delta}));
        all.push(json!({"type": "content_block_stop", "index": number}));
    }
    let usage = json!({"input_tokens": 99, "output_tokens": 7});
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}));
    all.push(json!({"type": "message_stop"}));
    all.iter().flat_map(event).collect()
}

fn delta(block: &Value) -> Value {
    match block["type"].as_str().unwrap() {
        "tool_use" => json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
        kind => json!({"type": format!("{kind}_delta"), kind: block[kind]}),
    }
}

fn whole(id: &str, blocks: &[Value], stop: &str) -> Vec<u8> {
    let usage = json!({"input_tokens": 10, "output_tokens": 7});
    json!({"id": id, "type": "message", "content": blocks, "stop_reason": stop, "usage": usage})
        .to_string()
        .into_bytes()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {"command": "view", "path": "/memories"}})
}

/// What a client makes of the events that it got: the blocks, the reason for the end, what was written.
fn client(stream: &[u8]) -> (Vec<Value>, String, u64) {
    if stream.first() == Some(&b'{') {
        let value: Value = serde_json::from_slice(stream).unwrap();
        let blocks = value["content"].as_array().unwrap().clone();
        let stop = value["stop_reason"].as_str().unwrap().to_owned();
        return (blocks, stop, value["usage"]["output_tokens"].as_u64().unwrap());
    }
    let (mut blocks, mut stop, mut output) = (Vec::<Block>::new(), String::new(), 0);
    let (mut n_started, mut n_ended) = (0, 0);
    for event in crate::sse::Events::default().take(stream).unwrap() {
        let value: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(value["type"], event.name.as_str());
        let nth = || usize::try_from(value["index"].as_u64().unwrap()).unwrap();
        match event.name.as_str() {
            "message_start" => n_started += 1,
            "content_block_start" => {
                assert_eq!(nth(), blocks.len(), "the next number");
                blocks.push(Block::new(value["content_block"].clone(), 0, false));
            }
            "content_block_delta" => blocks[nth()].grow(&value["delta"]),
            "message_delta" => {
                stop = value["delta"]["stop_reason"].as_str().unwrap().to_owned();
                output = value["usage"]["output_tokens"].as_u64().unwrap();
            }
            "message_stop" => n_ended += 1,
            _ => {}
        }
    }
    assert_eq!((n_started, n_ended), (1, 1), "one answer for the client");
    (blocks.iter().map(|block| block.whole().unwrap()).collect(), stop, output)
}

type Form = fn(&str, &[Value], &str) -> Vec<u8>;
const FORMS: [Form; 2] = [events, whole];

/// Lets answers through as they are asked for; every call says `said`. Returns what the client got, what the model was asked
/// with, and what is kept.
fn through(answers: &[Vec<u8>], size: usize) -> (Vec<u8>, Vec<String>, Option<Kept>) {
    let (mut sieve, mut got, mut asked) = (Sieve::new("memory", 1), Vec::new(), Vec::new());
    for answer in answers {
        got.extend(answer.chunks(size).flat_map(|piece| sieve.take(piece)));
        match sieve.end() {
            End::Done(rest) => got.extend(rest),
            End::Calls(calls) => {
                let said = Outcome { text: "said".to_owned(), is_error: false };
                match sieve.answered(vec![said; calls.len()]) {
                    Then::Ask(messages) => {
                        asked.push(messages);
                        continue;
                    }
                    Then::Show(rest) => got.extend(rest),
                }
            }
        }
        let kept = sieve.kept();
        return (got, asked, kept);
    }
    panic!("one more answer was asked for");
}

/// The messages of the next request, with what was kept put back.
fn next(kept: &Kept, messages: &Value) -> Value {
    let body = json!({"model": "m", "messages": messages}).to_string();
    let insertions = put_back(std::slice::from_ref(kept), body.as_bytes());
    let full = splice(body.as_bytes(), &insertions);
    serde_json::from_slice::<Value>(&full)
        .unwrap_or_else(|err| panic!("{err}: {}", String::from_utf8_lossy(&full)))["messages"]
        .clone()
}

#[test]
fn an_answer_without_a_call_passes_byte_for_byte() {
    for form in FORMS {
        let answer = form("m1", &[text("größer"), call("t1", "Bash")], "tool_use");
        for size in [1, 7, answer.len()] {
            let (got, asked, kept) = through(std::slice::from_ref(&answer), size);
            assert_eq!((got, asked.len(), kept), (answer.clone(), 0, None));
        }
    }
    let refusal = br#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#.to_vec();
    assert_eq!(through(std::slice::from_ref(&refusal), 9).0, refusal);
}

#[test]
fn a_call_is_answered_and_the_client_sees_one_answer() {
    for form in FORMS {
        let answers = [
            form("m1", &[text("let me see"), call("c1", "memory")], "tool_use"),
            form("m2", &[call("c2", "memory")], "tool_use"),
            form("m3", &[text("it is red")], "end_turn"),
        ];
        for size in [1, 10, 100_000] {
            let (got, asked, kept) = through(&answers, size);
            let (blocks, stop, output) = client(&got);
            assert_eq!(blocks, [text("let me see"), text("it is red")]);
            assert_eq!((stop.as_str(), output), ("end_turn", 21), "what was written is added up");
            let told = String::from_utf8_lossy(&got).into_owned();
            assert!(
                told.contains("\"m1\"") && told.contains("\"input_tokens\":10") && !told.contains("99"),
                "{told}"
            );
            let first: Value = serde_json::from_str(&format!("[{}]", &asked[0][1..])).unwrap();
            let wanted = json!([
                {"role": "assistant", "content": [text("let me see"), call("c1", "memory")]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "said"}]},
            ]);
            assert_eq!(first, wanted);
            let said = json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": blocks}, {"role": "user", "content": "and?"}]);
            let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "said"});
            assert_eq!(
                next(&kept.unwrap(), &said),
                json!([
                    {"role": "user", "content": "?"},
                    {"role": "assistant", "content": [text("let me see"), call("c1", "memory")]},
                    {"role": "user", "content": [result("c1")]},
                    {"role": "assistant", "content": [call("c2", "memory")]},
                    {"role": "user", "content": [result("c2")]},
                    {"role": "assistant", "content": [text("it is red")]},
                    {"role": "user", "content": "and?"},
                ])
            );
        }
    }
}

/// The client has a call of its own, and brings the result of that alone.
#[test]
fn a_call_beside_one_of_the_clients_goes_on_with_the_clients_result() {
    for form in FORMS {
        let answer =
            form("m1", &[call("c1", "memory"), call("t1", "Bash"), call("c2", "memory")], "tool_use");
        let (got, asked, kept) = through(&[answer], 50);
        let (blocks, stop, _) = client(&got);
        assert_eq!((blocks, stop.as_str(), asked.len()), (vec![call("t1", "Bash")], "tool_use", 0));
        let kept = kept.unwrap();
        let result =
            |id: &str, said: &str| json!({"type": "tool_result", "tool_use_id": id, "content": said});
        let said = json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": [call("t1", "Bash")]}, {"role": "user", "content": [result("t1", "ok")]}]);
        let messages = next(&kept, &said);
        assert_eq!(
            messages[1]["content"],
            json!([call("t1", "Bash"), call("c1", "memory"), call("c2", "memory")])
        );
        assert_eq!(
            messages[2]["content"],
            json!([result("c1", "said"), result("c2", "said"), result("t1", "ok")])
        );
        // Without a result nothing is put back: a call would stand alone.
        let cut =
            json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": [call("t1", "Bash")]}]);
        assert_eq!(next(&kept, &cut), cut);
    }
}

#[test]
fn what_the_client_made_of_an_answer_is_known_again() {
    let thought = |said: &str| json!({"type": "thinking", "thinking": said, "signature": ""});
    let answers = [
        events("m1", &[thought("hm"), call("c1", "memory")], "tool_use"),
        events("m2", &[thought("ah"), text("it is red")], "end_turn"),
    ];
    let (got, _, kept) = through(&answers, 64);
    let (blocks, kept) = (client(&got).0, kept.unwrap());
    assert_eq!(blocks.len(), 3);
    let said =
        |content: Value| json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": content}]);
    let n_messages = |content: Value| next(&kept, &said(content)).as_array().unwrap().len();
    assert_eq!(n_messages(json!(blocks)), 4);
    // Thoughts are left out, a mark is added, a block became a string.
    assert_eq!(n_messages(json!([text("it is red")])), 4);
    let marked = json!([{"type": "text", "text": "it is red", "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(n_messages(marked), 4);
    assert_eq!(n_messages(json!("it is red")), 4);
    let bare = next(&kept, &said(json!("it is red")));
    assert_eq!(bare[1]["content"], json!([call("c1", "memory")]));
    assert_eq!(bare[3]["content"], "it is red");
    // Something else was said.
    assert_eq!(n_messages(json!("it is blue")), 2);
    let thoughts = next(&kept, &said(json!(blocks)));
    assert_eq!(thoughts[1]["content"], json!([blocks[0], call("c1", "memory")]));
    assert_eq!(thoughts[3]["content"], json!([blocks[1], blocks[2]]));
}

/// A model that has nothing more to say ends in the result.
#[test]
fn an_answer_that_ends_in_calls_is_put_back_too() {
    let answers = [
        whole("m1", &[text("noted"), call("c1", "memory")], "tool_use"),
        whole("m2", &[call("c2", "memory")], "tool_use"),
        whole("m3", &[], "end_turn"),
    ];
    let (got, _, kept) = through(&answers, 1_000);
    assert_eq!(client(&got).0, [text("noted")]);
    let said = json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": [text("noted")]}, {"role": "user", "content": "thanks"}]);
    let messages = next(&kept.unwrap(), &said);
    let roles: Vec<&str> =
        messages.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user", "user"]);
    assert_eq!(messages[1]["content"][1]["id"], "c1");
    assert_eq!(messages[4]["content"][0]["tool_use_id"], "c2");
}

/// Cut short, unknown, or too often: the client gets the call and does what it does without us.
#[test]
fn a_call_that_cannot_be_answered_is_the_clients() {
    for form in FORMS {
        let cut = form("m1", &[text("so"), call("c1", "memory")], "max_tokens");
        let (got, asked, kept) = through(&[cut], 30);
        let (blocks, stop, _) = client(&got);
        assert_eq!((blocks.len(), stop.as_str(), asked.len(), kept), (2, "max_tokens", 0, None));
        assert_eq!(blocks[1], call("c1", "memory"));
        let again = form("m", &[call("c", "memory")], "tool_use");
        let (got, asked, kept) = through(&vec![again; MAX_ROUNDS + 1], 100);
        let (blocks, stop, _) = client(&got);
        assert_eq!((blocks, stop.as_str()), (vec![call("c", "memory")], "tool_use"));
        assert_eq!((asked.len(), kept.unwrap().rounds.len()), (MAX_ROUNDS, MAX_ROUNDS));
    }
    let odd = String::from_utf8(events("m1", &[text("so"), call("c1", "memory")], "tool_use")).unwrap();
    let odd = odd.replace("\"text_delta\"", "\"new_delta\"");
    let (got, asked, _) = through(&[odd.into_bytes()], 30);
    assert!(String::from_utf8_lossy(&got).contains("\"c1\""));
    assert_eq!(asked.len(), 0);
}

/// The nearest of several answers that showed the same words is meant.
#[test]
fn two_answers_with_the_same_words_get_each_their_own() {
    let kept = |id: &str, behind: usize| {
        let mut sieve = Sieve::new("memory", behind);
        sieve.take(&whole("m", &[call(id, "memory")], "tool_use"));
        assert!(matches!(sieve.end(), End::Calls(_)));
        sieve.answered(vec![Outcome { text: "ok".to_owned(), is_error: true }]);
        sieve.take(&whole("m", &[text("done")], "end_turn"));
        assert!(matches!(sieve.end(), End::Done(_)));
        sieve.kept().unwrap()
    };
    let all = [kept("c1", 1), kept("c2", 3)];
    let message = |role: &str, said: &str| json!({"role": role, "content": said});
    let said = [
        message("user", "a"),
        message("assistant", "done"),
        message("user", "b"),
        message("assistant", "done"),
    ];
    let body = json!({"messages": said}).to_string();
    let full: Value =
        serde_json::from_slice(&splice(body.as_bytes(), &put_back(&all, body.as_bytes()))).unwrap();
    assert_eq!(full["messages"][1]["content"][0]["id"], "c1");
    assert_eq!(full["messages"][5]["content"][0]["id"], "c2");
    assert_eq!(full["messages"][6]["content"][0]["is_error"], true);
}

#[test]
fn who_cannot_be_asked_again_is_said_in_the_middle_of_the_stream() {
    let sieve = Sieve::new("memory", 1);
    let theirs = br#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    assert!(String::from_utf8(sieve.refused(theirs)).unwrap().contains("slow down"));
    let ours = String::from_utf8(sieve.refused(b"<html>")).unwrap();
    assert!(ours.starts_with("event: error\n") && ours.contains("overloaded_error"), "{ours}");
}

/// Whatever a model says and calls, in whatever pieces it comes: the client sees what is its own, and what goes on from there
/// has every byte of the client's in its order, and every call with its result behind it.
#[test]
fn no_mixture_of_words_and_calls_loses_anything() {
    let mut runner = TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    let kinds = proptest::collection::vec(proptest::collection::vec(0_u8..4, 1..5), 1..5);
    let given = (kinds, 1_usize..200, proptest::bool::ANY, proptest::bool::ANY);
    runner
        .run(&given, |(rounds, size, is_whole, has_thoughts)| mixed(&rounds, size, is_whole, has_thoughts))
        .unwrap();
}

fn mixed(rounds: &[Vec<u8>], size: usize, is_whole: bool, has_thoughts: bool) -> Result<(), TestCaseError> {
    let form: Form = if is_whole { whole } else { events };
    let mut n = 0;
    let mut block = |kind: u8| {
        n += 1;
        match kind {
            0 => text(&format!("words \"{n}\" ü")),
            1 => json!({"type": "thinking", "thinking": format!("thought {n}"), "signature": ""}),
            2 => call(&format!("t{n}"), "Bash"),
            _ => call(&format!("c{n}"), "memory"),
        }
    };
    let mut answers: Vec<Vec<Value>> = Vec::new();
    for kinds in rounds {
        answers.push(kinds.iter().map(|kind| block(*kind)).collect());
        // A round without a call of ours, or with one of the client's, is the last.
        if !kinds.contains(&3) || kinds.contains(&2) {
            break;
        }
    }
    if answers.last().is_some_and(|last| {
        last.iter().all(|block| block["name"] != "Bash") && last.iter().any(|block| block["name"] == "memory")
    }) {
        answers.push(vec![text("the end")]);
    }
    let stop = |blocks: &Vec<Value>| {
        if blocks.iter().any(|block| block["type"] == "tool_use") { "tool_use" } else { "end_turn" }
    };
    let sent: Vec<Vec<u8>> = answers.iter().map(|blocks| form("m", blocks, stop(blocks))).collect();
    let (got, _, kept) = through(&sent, size);
    let (blocks, _, _) = client(&got);
    let shown: Vec<&Value> = answers.iter().flatten().filter(|block| block["name"] != "memory").collect();
    prop_assert_eq!(blocks.iter().collect::<Vec<_>>(), shown);
    let Some(kept) = kept else {
        prop_assert!(answers.iter().flatten().all(|block| block["name"] != "memory") || blocks.is_empty());
        return Ok(());
    };
    let theirs: Vec<Value> =
        blocks.into_iter().filter(|block| has_thoughts || block["type"] != "thinking").collect();
    let results = theirs.iter().filter(|block| block["name"] == "Bash");
    let results: Vec<Value> = results
        .map(|block| json!({"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}))
        .collect();
    let last = if results.is_empty() { json!("and?") } else { json!(results) };
    let body = json!({"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": theirs}, {"role": "user", "content": last}]}).to_string();
    let full = splice(body.as_bytes(), &put_back(std::slice::from_ref(&kept), body.as_bytes()));
    let mut left = full.iter();
    prop_assert!(body.bytes().all(|byte| left.any(|there| *there == byte)), "a byte is lost");
    let full: Value = serde_json::from_slice(&full).map_err(|err| TestCaseError::fail(err.to_string()))?;
    let messages = full["messages"].as_array().unwrap();
    let ids = |message: &Value, kind: &str, key: &str| -> Vec<String> {
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        let mut ids: Vec<String> = blocks
            .iter()
            .filter(|block| block["type"] == kind)
            .map(|block| block[key].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids
    };
    for (nth, message) in messages.iter().enumerate() {
        let called = ids(message, "tool_use", "id");
        let answered =
            messages.get(nth + 1).map(|next| ids(next, "tool_result", "tool_use_id")).unwrap_or_default();
        prop_assert_eq!(&called, &answered, "{}", full);
    }
    let n_calls = answers.iter().flatten().filter(|block| block["name"] == "memory").count();
    let n_back: usize = messages
        .iter()
        .map(|message| ids(message, "tool_use", "id").iter().filter(|id| id.starts_with('c')).count())
        .sum();
    prop_assert!(n_back == n_calls || theirs_is_empty(&full), "{} of {} in {}", n_back, n_calls, full);
    Ok(())
}

/// Without a word the client has nothing to go on from.
fn theirs_is_empty(full: &Value) -> bool {
    full["messages"][1]["content"].as_array().is_some_and(Vec::is_empty)
}

/// What was called once stands once in a request, however often its words were said.
#[test]
fn words_that_were_said_again_without_a_call_get_none() {
    let answers = [whole("m", &[call("c1", "memory")], "tool_use"), whole("m", &[text("Done.")], "end_turn")];
    let kept = through(&answers, 500).2.unwrap();
    let message = |role: &str, said: &str| json!({"role": role, "content": said});
    let said = json!([
        message("user", "a"),
        message("assistant", "Done."),
        message("user", "b"),
        message("assistant", "Done.")
    ]);
    let full = next(&kept, &said);
    assert_eq!(full.to_string().matches("\"tool_use\"").count(), 1);
    assert_eq!(full[1]["content"][0]["id"], "c1");
    // At another place the same words are not known for the same answer, unless something in them is unique.
    let moved = json!([
        message("user", "a"),
        message("assistant", "x"),
        message("user", "b"),
        message("assistant", "Done.")
    ]);
    assert_eq!(next(&kept, &moved), moved);
    let shared = whole("m", &[call("c1", "memory"), call("t1", "Bash")], "tool_use");
    let kept = through(&[shared], 500).2.unwrap();
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": "ok"});
    let moved = json!([message("user", "a"), message("assistant", "x"), message("user", "b"),
        {"role": "assistant", "content": [call("t1", "Bash")]}, {"role": "user", "content": [result]}]);
    assert_eq!(next(&kept, &moved)[3]["content"][1]["id"], "c1");
}

/// Some clients sort their keys.
#[test]
fn a_message_may_say_who_speaks_behind_what_is_said() {
    let answers = [
        whole("m", &[text("let me see"), call("c1", "memory")], "tool_use"),
        whole("m", &[text("it is red"), call("c2", "memory")], "tool_use"),
        whole("m", &[], "end_turn"),
    ];
    let kept = through(&answers, 500).2.unwrap();
    let content = r#"[{"text":"let me see","type":"text"}, {"text":"it is red","type":"text"} ]"#;
    let body = format!(
        r#"{{"messages":[{{"content":"?","role":"user"}},{{"content": {content} ,"role":"assistant"}},{{"content":"ok","role":"user"}}]}}"#
    );
    let full = splice(body.as_bytes(), &put_back(std::slice::from_ref(&kept), body.as_bytes()));
    let full: Value = serde_json::from_slice(&full).unwrap();
    let messages = full["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user", "user"], "{full}");
    let ids = [1, 3].map(|nth| messages[nth]["content"][1]["id"].clone());
    assert_eq!(ids, ["c1", "c2"]);
}

/// Services send texts without a word, and take none.
#[test]
fn a_text_that_says_nothing_is_not_sent_back() {
    for form in FORMS {
        let first = form("m", &[text("\n\n"), call("c1", "memory")], "tool_use");
        let (_, asked, _) = through(&[first, form("m", &[text("so")], "end_turn")], 64);
        assert!(!asked[0].contains("\"text\""), "{}", asked[0]);
    }
}

/// A client that leaves in the middle of the next answer has a part of it.
#[test]
fn what_was_called_before_an_answer_broke_off_is_put_back() {
    let mut sieve = Sieve::new("memory", 1);
    sieve.take(&events("m", &[text("let me see"), call("c1", "memory")], "tool_use"));
    assert!(matches!(sieve.end(), End::Calls(_)));
    sieve.answered(vec![Outcome { text: "said".to_owned(), is_error: false }]);
    let kept = sieve.kept().unwrap();
    let said = |blocks: &[Value]| json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": blocks}, {"role": "user", "content": "go on"}]);
    assert_eq!(next(&kept, &said(&[text("let me see")]))[2]["content"][0]["tool_use_id"], "c1");
    let full = next(&kept, &said(&[text("let me see"), text("it is r")]));
    assert_eq!(
        (&full[2]["content"][0]["tool_use_id"], &full[3]["content"][0]["text"]),
        (&json!("c1"), &json!("it is r"))
    );
    // The whole answer replaces it.
    sieve.take(&events("m", &[text("it is red")], "end_turn"));
    assert!(matches!(sieve.end(), End::Done(_)));
    assert!(sieve.kept().unwrap().replaces(&kept));
    assert_eq!(next(&sieve.kept().unwrap(), &said(&[text("let me see")])), said(&[text("let me see")]));
}

/// What is no block, and what is none of ours, harms nobody.
#[test]
fn odd_events_pass() {
    let odd = [
        json!({"type": "content_block_start", "index": 0, "content_block": "x"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "y"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": 1}}),
        json!({"type": "content_block_delta", "index": 7, "delta": "z"}),
        json!({"type": "message_delta", "delta": 1, "usage": "x"}),
        json!({"type": "message_stop"}),
        json!([1]),
    ];
    let stream: Vec<u8> = odd.iter().flat_map(event).collect();
    assert_eq!(through(std::slice::from_ref(&stream), 20).0, stream);
    let message = json!({"type": "message", "content": ["x", {"type": "tool_use", "name": "memory"}], "usage": "x", "stop_reason": "tool_use"});
    let message = message.to_string().into_bytes();
    assert_eq!(through(std::slice::from_ref(&message), 20).0, message);
}

/// An answer without end is not held: what was kept back until then is shown, once.
#[test]
fn an_answer_that_is_too_long_passes_with_all_that_was_kept_back() {
    let long = text(&"x".repeat(MAX_ANSWER / 4));
    let blocks =
        [call("c1", "memory"), long.clone(), long.clone(), long.clone(), long.clone(), text("the end")];
    let answer = events("m", &blocks, "tool_use");
    let (got, asked, kept) = through(&[answer], 1 << 20);
    assert_eq!((asked.len(), kept), (0, None));
    let got = String::from_utf8(got).unwrap();
    assert_eq!(got.matches("\"c1\"").count(), 1);
    assert_eq!(got.matches("the end").count(), 1);
    assert_eq!(got.matches("event: message_stop").count(), 1);
}

#[test]
fn blanks_before_an_answer_pass() {
    let mut sieve = Sieve::new("memory", 1);
    assert_eq!(sieve.take(b" \n"), b" \n");
    assert_eq!(sieve.take(b"event: ping\ndata: {}\n\n"), b"event: ping\ndata: {}\n\n");
}
