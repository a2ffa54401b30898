//! `memdir compact`: one test a flag, and what goes wrong.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox;

/// A conversation of about `n` × 100 tokens.
fn list(n: usize) -> String {
    let mut messages = vec![json!({ "role": "user", "content": "Move the parser to owned tokens" })];
    for nth in 0..n {
        let call = json!({ "type": "tool_use", "id": format!("t{nth}"), "name": "Read", "input": { "file_path": format!("/p/src/f{}.rs", nth % 3) } });
        messages.push(json!({ "role": "assistant", "content": [call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": format!("t{nth}"), "content": "let a = 1;\n".repeat(20) });
        messages.push(json!({ "role": "user", "content": [result] }));
    }
    messages.push(json!({ "role": "assistant", "content": "Done with the parser." }));
    messages.push(json!({ "role": "user", "content": "And now the lexer" }));
    json!({ "model": "m", "system": "stay", "messages": messages }).to_string()
}

fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// AC-01.
#[test]
fn a_list_comes_out_in_its_shape_and_fits() {
    let sandbox = sandbox();
    let file = sandbox.root().join("list.json");
    fs::write(&file, list(60)).unwrap();
    let output = sandbox.memdir(&["compact", file.to_str().unwrap(), "--budget", "1500"]).ok();
    assert!(tokens(&output.stdout) <= 1_500, "{}", tokens(&output.stdout));
    assert!(output.stderr.contains("tokens: ") && output.stderr.contains("replaced"), "{}", output.stderr);
    let after: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&after["model"], &after["system"]), (&json!("m"), &json!("stay")));
    let messages = after["messages"].as_array().unwrap();
    assert!(
        messages[0]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("First: Move the parser to owned tokens")
    );
    assert_eq!(messages.last().unwrap()["content"], "And now the lexer");
    // `--json` prints one document, and the list is one.
    let same =
        sandbox.memdir(&["compact", file.to_str().unwrap(), "--budget", "1500", "--json", "--quiet"]).ok();
    assert_eq!((same.stdout, same.stderr.as_str()), (output.stdout, ""));
}

/// AC-01.
#[test]
fn a_request_for_gemini_comes_out_as_one() {
    let mut contents =
        vec![json!({ "role": "user", "parts": [{ "text": "Move the parser to owned tokens" }] })];
    for nth in 0..60 {
        let call = json!({ "functionCall": { "name": "read_file", "args": { "file_path": format!("/p/src/f{}.rs", nth % 3) } }, "thoughtSignature": "c2ln" });
        contents.push(json!({ "role": "model", "parts": [call] }));
        let response = json!({ "output": "let a = 1;\n".repeat(20) });
        let result = json!({ "functionResponse": { "name": "read_file", "response": response } });
        contents.push(json!({ "role": "user", "parts": [result] }));
    }
    let system = json!({ "parts": [{ "text": "stay" }] });
    let body = json!({ "systemInstruction": system, "contents": contents }).to_string();
    let sandbox = sandbox();
    let output = sandbox.memdir(&["compact", "-", "--budget", "1500", "--keep", "2"]).stdin(&body).ok();
    assert!(tokens(&output.stdout) <= 1_500, "{}", tokens(&output.stdout));
    let after: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(after["systemInstruction"], system);
    let kept = after["contents"].as_array().unwrap();
    assert_eq!(kept[0]["role"], "user");
    assert!(kept[0]["parts"][0]["text"].as_str().unwrap().contains("First: Move the parser to owned tokens"));
    assert_eq!(kept[1..], contents[contents.len() - 4..]);
    assert_eq!(sandbox.memdir(&["compact", "-", "--budget", "90000"]).stdin(&body).ok().stdout, body);
}

#[test]
fn standing_input_is_read_and_a_list_that_fits_comes_back_byte_for_byte() {
    let sandbox = sandbox();
    let text = format!("{}\n", list(3).replace("\"m\"", "  \"m\" "));
    assert_eq!(sandbox.memdir(&["compact", "-", "--budget", "5000"]).stdin(&text).ok().stdout, text);
    // Off is off for memory; a list that came in must come out.
    let off = sandbox.memdir(&["compact", "-", "--budget", "5000"]).env("MEMDIR_OFF", "1").stdin(&text).ok();
    assert_eq!(off.stdout, text);
}

#[test]
fn keep_says_how_many_rounds_stay() {
    let sandbox = sandbox();
    let kept = |keep: &str| {
        let args = ["compact", "-", "--budget", "2000", "--keep", keep];
        let after: Value = sandbox.memdir(&args).stdin(list(60)).ok().json();
        after["messages"].as_array().unwrap().len() - 1
    };
    assert_eq!((kept("0"), kept("1"), kept("3")), (0, 2, 6));
}

#[test]
fn an_output_file_is_replaced_whole_and_the_report_is_printed() {
    let sandbox = sandbox();
    let file = sandbox.root().join("smaller.json");
    fs::write(&file, "old").unwrap();
    let args = ["compact", "-", "--budget", "1500", "--json", "--output", file.to_str().unwrap()];
    let report = sandbox.memdir(&args).stdin(list(60)).ok().json();
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(report["tokens_after"], tokens(&text));
    assert_eq!((&report["shape"], &report["budget"]), (&json!("anthropic"), &json!(1_500)));
    assert!(report["summary"].as_str().unwrap().contains("## Files"));
    assert!(serde_json::from_str::<Value>(&text).unwrap()["messages"].is_array());
}

#[test]
fn the_summary_alone_is_printed_if_there_is_one() {
    let sandbox = sandbox();
    let args = ["compact", "-", "--budget", "1500", "--summary-only"];
    let said = sandbox.memdir(&args).stdin(list(60)).ok().stdout;
    assert!(said.starts_with("## What the user wanted\n- First: Move the parser"), "{said}");
    let args = ["compact", "-", "--budget", "150000", "--summary-only"];
    assert_eq!(sandbox.memdir(&args).stdin(list(60)).code(1).stdout, "");
}

#[test]
fn what_cannot_be_compacted_is_an_error_that_says_why() {
    let sandbox = sandbox();
    let said = |input: &[u8], budget: &str| {
        let output = sandbox.memdir(&["compact", "-", "--budget", budget]).stdin(input).code(2);
        assert_eq!(output.stdout, "");
        output.stderr
    };
    let whole = list(60);
    assert!(said(&whole.as_bytes()[..whole.len() - 7], "1500").contains("the list is not JSON: EOF"));
    assert!(said(b"[1,2]", "1500").contains("part 1 of the list is no message"));
    assert!(said(b"{\"prompt\":\"hi\"}", "1500").contains("there is no list of messages"));
    assert!(said(b"[\"\xff\"]", "1500").contains("not UTF-8"));
    assert!(said(b"", "1500").contains("not JSON"));
    let small = said(whole.as_bytes(), "20");
    assert!(small.contains("20 tokens are too few") && small.contains("`--budget "), "{small}");
    let missing = sandbox.memdir(&["compact", "none.json", "--budget", "10"]).code(2);
    assert!(missing.stderr.contains("could not read none.json"), "{}", missing.stderr);
}

/// The user's own rules hold for what is quoted.
#[test]
fn what_the_user_calls_a_secret_is_not_quoted() {
    let sandbox = sandbox();
    let key = format!("AKIA{}", "Q4J7XW2PLM5RT6ZN");
    let text = list(60).replace("owned tokens", &format!("owned tokens with aws_access_key_id = {key}"));
    let output = sandbox.memdir(&["compact", "-", "--budget", "1500"]).stdin(text).ok();
    assert!(output.stdout.contains("[REDACTED:") && !output.stdout.contains(&key));
}
