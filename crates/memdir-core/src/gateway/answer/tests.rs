//! Answers of four services, whole and as events, in pieces of every size.

use super::*;

const MESSAGES: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":70,\"cache_creation_input_tokens\":9,\"output_tokens\":1}}}\n\n",
    "event: ping\ndata: {\"type\":\"ping\"}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Grüße \"}}\n\n",
    "event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"😀\"}}\r\n\r\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":12}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}",
);
const RESPONSES: &str = concat!(
    "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\"}}\n\n",
    "event: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"part\":{\"type\":\"output_text\"}}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Grüße \"}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"😀\"}\n\n",
    "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"Grüße 😀\"}]}}\n\n",
    "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"name\":\"Bash\",\"arguments\":\"{}\"}}\n\n",
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"usage\":{\"input_tokens\":84,\"input_tokens_details\":{\"cached_tokens\":70},\"output_tokens\":12}}}\n\n",
);
const CHAT: &str = concat!(
    "data: {\"id\":\"c_1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Grüße \"}}]}\n\n",
    "data: {\"id\":\"c_1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"😀\"}}]}\n\n",
    "data: {\"id\":\"c_1\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"function\":{\"name\":\"Bash\",\"arguments\":\"\"}}]}}]}\n\n",
    "data: {\"id\":\"c_1\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"id\":\"c_1\",\"choices\":[],\"usage\":{\"prompt_tokens\":84,\"prompt_tokens_details\":{\"cached_tokens\":70},\"completion_tokens\":12}}\n\ndata: [DONE]\n\n",
);
const GEMINI: &str = concat!(
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hm\",\"thought\":true},{\"text\":\"Grüße \"}]}}],\"responseId\":\"g_1\"}\r\n\r\n",
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"😀\"},{\"functionCall\":{\"name\":\"Bash\",\"args\":{}}}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":84,\"cachedContentTokenCount\":70,\"candidatesTokenCount\":9,\"thoughtsTokenCount\":3}}\r\n\r\n",
);

const STREAMS: [(Dialect, &str); 4] = [
    (Dialect::Messages, MESSAGES),
    (Dialect::Responses, RESPONSES),
    (Dialect::Chat, CHAT),
    (Dialect::Gemini, GEMINI),
];

fn heard(dialect: Dialect, pieces: &[&[u8]]) -> Answer {
    let mut ear = Ear::new(dialect);
    pieces.iter().for_each(|piece| ear.hear(piece));
    ear.finish()
}

#[test]
fn an_answer_is_heard_however_it_is_cut() {
    for (dialect, stream) in STREAMS {
        for size in [1, 2, 3, 7, 64, stream.len()] {
            let pieces: Vec<&[u8]> = stream.as_bytes().chunks(size).collect();
            let answer = heard(dialect, &pieces);
            assert_eq!(answer.text, "Grüße 😀", "{dialect:?} in pieces of {size}");
            assert_eq!(answer.tools, ["Bash"], "{dialect:?}");
            let usage = answer.usage.unwrap();
            assert_eq!((usage.read(), usage.cached, usage.output), (84, 70, 12), "{dialect:?}");
            assert!(answer.is_over && answer.stop.is_some() && answer.id.is_some(), "{dialect:?}");
        }
    }
}

#[test]
fn an_answer_in_one_piece_says_the_same() {
    for (dialect, whole) in [
        (
            Dialect::Messages,
            r#"{"id":"m","content":[{"type":"text","text":"Hi"},{"type":"tool_use","name":"Bash","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}}"#,
        ),
        (
            Dialect::Responses,
            r#"{"id":"r","status":"completed","output":[{"type":"reasoning","content":[{"text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","name":"Bash"}],"usage":{"input_tokens":3,"output_tokens":4}}"#,
        ),
        (
            Dialect::Chat,
            r#"{"id":"c","choices":[{"message":{"content":"Hi","tool_calls":[{"function":{"name":"Bash"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#,
        ),
        (
            Dialect::Gemini,
            r#"[{"responseId":"g","candidates":[{"content":{"parts":[{"text":"Hi"}]}}]},{"candidates":[{"content":{"parts":[{"functionCall":{"name":"Bash"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}]"#,
        ),
    ] {
        let answer = heard(dialect, &[b" \n", whole.as_bytes()]);
        assert_eq!(
            (answer.text.as_str(), &answer.tools[..]),
            ("Hi", &["Bash".to_owned()][..]),
            "{dialect:?}"
        );
        assert_eq!(answer.usage.map(|usage| (usage.read(), usage.output)), Some((3, 4)));
        assert!(answer.is_over, "{dialect:?}");
    }
}

#[test]
fn an_answer_that_breaks_off_is_not_over() {
    for (dialect, stream) in STREAMS {
        let answer = heard(dialect, &[&stream.as_bytes()[..stream.len() / 2]]);
        assert!(!answer.is_over, "{dialect:?}");
    }
}

#[test]
fn what_is_too_long_or_not_understood_is_not_listened_to() {
    let endless = vec![b'x'; MAX_EVENT / 2 + 1];
    for dialect in Dialect::ALL {
        assert_eq!(
            heard(dialect, &[b"data: ", &endless, &endless, b"\n\n", CHAT.as_bytes()]),
            Answer::default()
        );
        let whole = vec![b' '; MAX_WHOLE];
        assert_eq!(heard(dialect, &[b"{", &whole, b"}"]), Answer::default());
        assert_eq!(heard(dialect, &[b"\x1f\x8b\x08\xff\n\n"]), Answer::default(), "compressed");
        assert_eq!(heard(dialect, &[]), Answer::default());
    }
}

#[test]
fn of_many_words_a_bounded_part_is_kept() {
    let piece =
        format!("data: {}\n\n", serde_json::json!({"choices": [{"delta": {"content": "é".repeat(10_000)}}]}));
    let pieces: Vec<&[u8]> = (0..20).map(|_| piece.as_bytes()).collect();
    let answer = heard(Dialect::Chat, &pieces);
    assert!(answer.is_cut && answer.text.len() <= MAX_TEXT && answer.text.len() > MAX_TEXT - 4);
}
