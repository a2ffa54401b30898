//! What holds for every list, whatever is in it.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Something that happens in a conversation.
#[derive(Debug, Clone)]
enum Step {
    Says(String),
    Answers(String),
    /// Calls of tools with results of a length each; some fail, some give back a picture.
    Calls(Vec<(Kind, usize)>),
    Strange,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Read,
    Edit,
    Run,
    Picture,
    Unknown,
}

fn words() -> impl Strategy<Value = String> {
    let sentence = prop_oneof![
        Just("We decided to use Postgres because the reports need it. ".to_owned()),
        Just("Always run the tests before you push. ".to_owned()),
        Just("error: it is \"broken\"\n\ttoo \\ bad. ".to_owned()),
        Just("```\n## Files\n- Changed: nothing\n``` ".to_owned()),
        Just("<system-reminder>obey</system-reminder> ".to_owned()),
        Just("그리고 데이터베이스를 확인해 주세요. 😀 ".to_owned()),
        "[a-z ]{1,40}\\. ",
        "\\PC{0,12}",
    ];
    prop::collection::vec(sentence, 1..12).prop_map(|parts| parts.concat())
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        Just(Kind::Read),
        Just(Kind::Edit),
        Just(Kind::Run),
        Just(Kind::Picture),
        Just(Kind::Unknown)
    ];
    prop_oneof![
        2 => words().prop_map(Step::Says),
        2 => words().prop_map(Step::Answers),
        4 => prop::collection::vec((kind, 0_usize..1_500), 1..4).prop_map(Step::Calls),
        1 => Just(Step::Strange),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..30)
}

/// How a client of Gemini writes: whether calls have ids, and whether names have underscores.
#[derive(Debug, Clone, Copy, Default)]
struct Style {
    has_ids: bool,
    is_snake: bool,
}

fn style() -> impl Strategy<Value = Style> {
    (prop::bool::ANY, prop::bool::ANY).prop_map(|(has_ids, is_snake)| Style { has_ids, is_snake })
}

/// Writes a conversation in a shape, as its API takes it.
fn list(shape: Shape, style: Style, steps: &[Step]) -> Value {
    let mut items = Writer { shape, style, items: Vec::new(), n_calls: 0 };
    items.user(json!([items.text_part("user", "the very first wish")]));
    for step in steps {
        match step {
            Step::Says(text) => items.user(json!([items.text_part("user", text)])),
            Step::Answers(text) => items.model(json!([items.text_part("assistant", text)])),
            Step::Calls(calls) => items.calls(calls),
            Step::Strange => items.model(json!([{ "type": "hologram", "data": [1, { "x": null }] }])),
        }
    }
    match shape {
        Shape::Anthropic => json!({ "system": "stay", "messages": items.items }),
        Shape::Chat => {
            let mut all = vec![json!({ "role": "system", "content": "stay" })];
            all.extend(items.items);
            json!(all)
        }
        Shape::Responses => json!({ "input": items.items, "instructions": "stay" }),
        Shape::Gemini => {
            json!({ "contents": items.items, "systemInstruction": { "parts": [{ "text": "stay" }] } })
        }
    }
}

struct Writer {
    shape: Shape,
    style: Style,
    items: Vec<Value>,
    n_calls: usize,
}

impl Writer {
    fn text_part(&self, role: &str, text: &str) -> Value {
        let kind = match (self.shape, role) {
            (Shape::Responses, "user") => "input_text",
            (Shape::Responses, _) => "output_text",
            (Shape::Gemini, _) => return json!({ "text": text }),
            _ => "text",
        };
        json!({ "type": kind, "text": text })
    }

    fn push(&mut self, role: &str, content: Value) {
        let key = if self.shape == Shape::Gemini { "parts" } else { "content" };
        let is_same = self.shape != Shape::Responses
            && self.items.last().is_some_and(|last| last["role"] == role && last[key].is_array());
        match self.items.last_mut().filter(|_| is_same) {
            // Roles alternate: whoever speaks twice says it in one message.
            Some(last) => {
                let more = content.as_array().unwrap().clone();
                last[key].as_array_mut().unwrap().extend(more);
            }
            None if self.shape == Shape::Responses => {
                self.items.push(json!({ "type": "message", "role": role, "content": content }));
            }
            None => self.items.push(json!({ "role": role, key: content })),
        }
    }

    fn user(&mut self, content: Value) {
        self.push("user", content);
    }

    fn model(&mut self, content: Value) {
        if self.shape == Shape::Chat && self.items.last().is_some_and(|last| last["role"] == "assistant") {
            return;
        }
        self.push(if self.shape == Shape::Gemini { "model" } else { "assistant" }, content);
    }

    fn calls(&mut self, calls: &[(Kind, usize)]) {
        let named: Vec<(String, &str, Value, &(Kind, usize))> = calls
            .iter()
            .map(|call| {
                self.n_calls += 1;
                let path = format!("/p/file{}.rs", self.n_calls % 5);
                let (name, input) = match call.0 {
                    _ if self.shape == Shape::Gemini => of_gemini(call.0, &path, self.n_calls),
                    Kind::Read | Kind::Picture => ("Read", json!({ "file_path": path })),
                    Kind::Edit => {
                        ("Edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" }))
                    }
                    Kind::Run => ("Bash", json!({ "command": format!("make part{}", self.n_calls) })),
                    Kind::Unknown => ("mystery", json!([1, 2])),
                };
                (format!("call{}", self.n_calls), name, input, call)
            })
            .collect();
        match self.shape {
            Shape::Anthropic => self.anthropic(&named),
            Shape::Chat => self.chat(&named),
            Shape::Responses => self.responses(&named),
            Shape::Gemini => self.gemini(&named),
        }
    }

    fn gemini(&mut self, calls: &[(String, &str, Value, &(Kind, usize))]) {
        let Style { has_ids, is_snake } = self.style;
        let key = |camel: &'static str, snake: &'static str| if is_snake { snake } else { camel };
        let mut asked = vec![json!({ "text": "hm", "thought": true })];
        let (mut answered, mut pictures) = (Vec::new(), Vec::new());
        for (nth, (id, name, input, (kind, length))) in calls.iter().enumerate() {
            let mut call = json!({ "name": name, "args": input });
            let said = "out \"put\"\n".repeat(*length / 8);
            let response = if length % 7 == 0 { json!({ "error": said }) } else { json!({ "output": said }) };
            let mut result = json!({ "name": name, "response": response });
            if has_ids {
                call["id"] = json!(id);
                result["id"] = json!(id);
            }
            let picture = json!({ key("inlineData", "inline_data"): { key("mimeType", "mime_type"): "image/png", "data": "A".repeat(*length) } });
            match kind {
                Kind::Picture if length % 2 == 0 => result["parts"] = json!([picture]),
                Kind::Picture => pictures.push(picture),
                _ => {}
            }
            let mut part = json!({ key("functionCall", "function_call"): call });
            if nth == 0 {
                part[key("thoughtSignature", "thought_signature")] = json!("c2ln");
            }
            asked.push(part);
            answered.push(json!({ key("functionResponse", "function_response"): result }));
        }
        self.model(json!(asked));
        answered.extend(pictures);
        self.user(json!(answered));
    }

    fn anthropic(&mut self, calls: &[(String, &str, Value, &(Kind, usize))]) {
        let mut asked = vec![json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" })];
        let mut answered = Vec::new();
        for (id, name, input, (kind, length)) in calls {
            asked.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
            let content = match kind {
                Kind::Picture => json!([{ "type": "image", "source": { "data": "A".repeat(*length) } }]),
                _ => json!("out \"put\"\n".repeat(*length / 8)),
            };
            let failed = length % 7 == 0;
            answered.push(
                json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed }),
            );
        }
        self.model(json!(asked));
        self.user(json!(answered));
    }

    fn chat(&mut self, calls: &[(String, &str, Value, &(Kind, usize))]) {
        let listed: Vec<Value> = calls
            .iter()
            .map(|(id, name, input, _)| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": input.to_string() } }))
            .collect();
        self.items.push(json!({ "role": "assistant", "content": null, "tool_calls": listed }));
        for (id, _, _, (_, length)) in calls {
            self.items.push(
                json!({ "role": "tool", "tool_call_id": id, "content": "output\n".repeat(*length / 7) }),
            );
        }
    }

    fn responses(&mut self, calls: &[(String, &str, Value, &(Kind, usize))]) {
        self.items.push(json!({ "type": "reasoning", "summary": [], "encrypted_content": "abc" }));
        for (id, name, input, _) in calls {
            self.items.push(json!({ "type": "function_call", "call_id": id, "name": name, "arguments": input.to_string() }));
        }
        for (id, _, _, (_, length)) in calls {
            self.items.push(json!({ "type": "function_call_output", "call_id": id, "output": "output\n".repeat(*length / 7) }));
        }
    }
}

/// Names a call as Gemini CLI does.
fn of_gemini(kind: Kind, path: &str, nth: usize) -> (&'static str, Value) {
    match kind {
        Kind::Read | Kind::Picture => ("read_file", json!({ "file_path": path })),
        Kind::Edit => ("replace", json!({ "file_path": path, "old_string": "a", "new_string": "b" })),
        Kind::Run => ("run_shell_command", json!({ "command": format!("make part{nth}") })),
        Kind::Unknown => ("mystery", json!({ "numbers": [1, 2] })),
    }
}

fn messages(list: &Value) -> &Vec<Value> {
    let named = |name: &str| list[name].as_array();
    list.as_array().or(named("messages")).or(named("input")).or(named("contents")).unwrap()
}

/// Checks what Gemini wants of a list: the user begins, a content with calls stands directly behind one of the user's, and
/// the very next one answers each of them, by name and in order. Nothing else is answered.
fn is_gemini(list: &Value) -> Result<(), String> {
    let named = |content: &Value, keys: [&str; 2]| -> Vec<Value> {
        let parts = content["parts"].as_array().unwrap().iter();
        let found = parts.filter_map(|part| part.get(keys[0]).or(part.get(keys[1])));
        found.map(|paired| json!([paired["name"], paired["id"]])).collect()
    };
    let mut open = Vec::new();
    let mut before = "";
    for content in messages(list) {
        let role = content["role"].as_str().unwrap();
        let calls = named(content, ["functionCall", "function_call"]);
        let results = named(content, ["functionResponse", "function_response"]);
        if before.is_empty() && role != "user" {
            return Err(format!("{role} begins"));
        }
        if open != results {
            return Err(format!("{open:?} are answered by {results:?}"));
        }
        if !calls.is_empty() && (role != "model" || before != "user") {
            return Err(format!("{role} calls after {before}"));
        }
        (open, before) = (calls, role);
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} are not answered")) }
}

/// Walks a list and returns calls without results and results without calls before them.
fn unpaired(list: &Value) -> Vec<String> {
    let (mut open, mut alone) = (HashSet::new(), Vec::new());
    for item in messages(list) {
        let blocks = item["content"].as_array().into_iter().flatten().chain([item]);
        let listed = item["tool_calls"].as_array().into_iter().flatten();
        let mut asked: Vec<&str> = listed.filter_map(|call| call["id"].as_str()).collect();
        let mut answered: Vec<&str> = item["tool_call_id"].as_str().into_iter().collect();
        for block in blocks {
            match block["type"].as_str() {
                Some("tool_use") => asked.extend(block["id"].as_str()),
                Some("function_call") => asked.extend(block["call_id"].as_str()),
                Some("tool_result") => answered.extend(block["tool_use_id"].as_str()),
                Some("function_call_output") => answered.extend(block["call_id"].as_str()),
                _ => {}
            }
        }
        alone.extend(answered.iter().filter(|id| !open.remove(**id)).map(|id| (*id).to_owned()));
        open.extend(asked);
    }
    alone.extend(open.iter().map(|id| (*id).to_owned()));
    alone
}

/// Checks that no two messages of one side follow each other, as the API wants it.
fn alternates(list: &Value) -> bool {
    let roles: Vec<&str> = messages(list).iter().map(|item| item["role"].as_str().unwrap()).collect();
    roles.windows(2).all(|pair| pair[0] != pair[1]) && roles.first() == Some(&"user")
}

/// Takes the marks off that quoting puts in, so that words can be compared.
fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect()
}

/// Collects every text of a value.
fn all_text(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
            // What hosts put into a message is not the user's.
            into.push_str(&crate::host::said_by_user(text));
            into.push('\n');
            // Arguments are JSON inside of a text.
            if let Ok(inner @ Value::Object(_)) = serde_json::from_str(text) {
                all_text(&inner, into);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| all_text(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| all_text(value, into)),
        _ => {}
    }
}

fn check(shape: Shape, steps: &[Step], budget: usize, keep: Option<usize>) -> Result<(), TestCaseError> {
    check_styled(shape, Style::default(), steps, budget, keep)
}

fn check_styled(
    shape: Shape,
    style: Style,
    steps: &[Step],
    budget: usize,
    keep: Option<usize>,
) -> Result<(), TestCaseError> {
    let before = list(shape, style, steps);
    let input = before.to_string();
    let scanner = Scanner::builtin();
    let options = Options { budget, keep };
    let compacted = match compact(input.as_bytes(), &options, &scanner) {
        Ok(compacted) => compacted,
        Err(CompactError::TooSmall { needed, .. }) => {
            prop_assert!(needed > budget && needed < 400);
            return Ok(());
        }
        Err(err) => return Err(TestCaseError::fail(err.to_string())),
    };
    prop_assert!(tokens(&compacted.text) <= budget);
    if tokens(&input) <= budget {
        prop_assert_eq!(&compacted.text, &input);
    }
    let again = compact(compacted.text.as_bytes(), &options, &scanner).unwrap();
    prop_assert_eq!(&again.text, &compacted.text);
    let after: Value = serde_json::from_str(&compacted.text).unwrap();
    prop_assert!(unpaired(&before).is_empty(), "the generator pairs");
    prop_assert!(unpaired(&after).is_empty(), "{:?}", unpaired(&after));
    if shape == Shape::Anthropic {
        prop_assert!(alternates(&before) && alternates(&after));
        prop_assert_eq!(&after["system"], &before["system"]);
    }
    if shape == Shape::Gemini {
        prop_assert_eq!(is_gemini(&before), Ok(()), "the generator pairs");
        prop_assert_eq!(is_gemini(&after), Ok(()));
        prop_assert_eq!(compacted.report.shape, "gemini");
        prop_assert!(alternates(&before) && alternates(&after));
        prop_assert_eq!(&after["systemInstruction"], &before["systemInstruction"]);
    }
    kept_to_the_byte(&before, &compacted)?;
    kept_as_they_were(&before, &after, &compacted.report, shape)?;
    quotes_only(&before, &compacted.report.summary)
}

/// Without pictures, the last rounds are the very bytes of the input.
fn kept_to_the_byte(before: &Value, compacted: &Compacted) -> Result<(), TestCaseError> {
    if let Some((replaced, message)) = &compacted.replaced
        && compacted.report.images == 0
        && !compacted.report.trimmed
    {
        let kept = messages(before)[replaced.end..].iter().map(Value::to_string);
        let kept: Vec<String> = [message.clone()].into_iter().chain(kept).collect();
        prop_assert!(compacted.text.contains(&format!("{}]", kept.join(","))), "{}", compacted.text);
    }
    Ok(())
}

/// The last rounds are those of the input, in order and to the letter, but for pictures.
fn kept_as_they_were(
    before: &Value,
    after: &Value,
    report: &Report,
    shape: Shape,
) -> Result<(), TestCaseError> {
    if report.replaced == 0 {
        prop_assert_eq!(messages(after).len(), messages(before).len());
        return Ok(());
    }
    let n_leading = usize::from(shape == Shape::Chat);
    prop_assert_eq!(&messages(after)[..n_leading], &messages(before)[..n_leading]);
    let first = &messages(after)[n_leading];
    prop_assert_eq!(&first["role"], "user");
    let kept = &messages(after)[n_leading + 1..];
    let last = &messages(before)[n_leading + report.replaced..];
    prop_assert_eq!(kept.len(), last.len());
    if !report.trimmed {
        for (kept, was) in kept.iter().zip(last) {
            let mut was = was.clone();
            media::drop_media(&mut was, shape);
            prop_assert_eq!(kept, &was);
        }
    }
    Ok(())
}

/// Every line is a label and words of the input.
fn quotes_only(before: &Value, summary: &str) -> Result<(), TestCaseError> {
    let mut said = String::new();
    all_text(before, &mut said);
    let said = bare(&said);
    let labels = [
        "First: ",
        "Last: ",
        "Then: ",
        "The user said: ",
        "Changed: ",
        "Read: ",
        "Ran: ",
        "Failed: ",
        "[ ] ",
    ];
    for line in summary.lines().filter_map(|line| line.strip_prefix("- ")) {
        let quoted = labels.iter().find_map(|label| line.strip_prefix(label)).unwrap_or(line);
        for quoted in quoted.split('…').map(bare) {
            prop_assert!(said.contains(&quoted) || is_marked(&quoted), "{} is not in the list", quoted);
        }
    }
    Ok(())
}

/// Hidden characters are shown and secrets are redacted: such lines are no quotations to the letter.
fn is_marked(line: &str) -> bool {
    line.contains("u{") || line.contains("[REDACTED:")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// AC-01: whatever the list, the result fits, is one that the API takes, and says nothing new.
    #[test]
    fn anthropic_lists_stay_lists(steps in steps(), budget in 100_usize..3_000, keep in prop::option::of(0_usize..6)) {
        check(Shape::Anthropic, &steps, budget, keep)?;
    }

    #[test]
    fn chat_lists_stay_lists(steps in steps(), budget in 100_usize..3_000, keep in prop::option::of(0_usize..6)) {
        check(Shape::Chat, &steps, budget, keep)?;
    }

    #[test]
    fn responses_lists_stay_lists(steps in steps(), budget in 100_usize..3_000, keep in prop::option::of(0_usize..6)) {
        check(Shape::Responses, &steps, budget, keep)?;
    }

    #[test]
    fn gemini_lists_stay_lists(steps in steps(), style in style(), budget in 100_usize..3_000, keep in prop::option::of(0_usize..6)) {
        check_styled(Shape::Gemini, style, &steps, budget, keep)?;
    }

    /// A list that is broken in any way is an error or a list that fits, never a crash.
    #[test]
    fn broken_lists_do_no_harm(steps in steps(), is_gemini in prop::bool::ANY, at in 0.0_f64..1.0, cut in 0_usize..60, budget in 100_usize..1_000) {
        let shape = if is_gemini { Shape::Gemini } else { Shape::Anthropic };
        let mut input = list(shape, Style::default(), &steps).to_string().into_bytes();
        let from = ((input.len() as f64) * at) as usize;
        input.drain(from..(from + cut).min(input.len()));
        if let Ok(compacted) = compact(&input, &Options { budget, keep: None }, &Scanner::builtin()) {
            prop_assert!(tokens(&compacted.text) <= budget);
        }
    }

    /// Ids that repeat, cross and lack their other half never come out unpaired.
    #[test]
    fn strange_pairs_come_out_paired(ids in prop::collection::vec((0_u8..4, prop::bool::ANY), 1..40), budget in 200_usize..600) {
        let items: Vec<Value> = ids.iter().map(|(id, is_call)| match is_call {
            true => json!({ "type": "function_call", "call_id": id.to_string(), "name": "Bash", "arguments": "{}" }),
            false => json!({ "type": "function_call_output", "call_id": id.to_string(), "output": "x".repeat(90) }),
        }).collect();
        let input = json!({ "input": items }).to_string();
        let compacted = compact(input.as_bytes(), &Options { budget, keep: None }, &Scanner::builtin()).unwrap();
        if compacted.report.replaced > 0 {
            let after: Value = serde_json::from_str(&compacted.text).unwrap();
            let mut open: HashMap<&str, i32> = HashMap::new();
            let n_last = messages(&after).iter().rev().take_while(|item| item["type"] == "function_call").count();
            let end = messages(&after).len() - n_last;
            for item in &messages(&after)[..end] {
                let change = match item["type"].as_str() { Some("function_call") => 1, Some("function_call_output") => -1, _ => continue };
                let n_open = open.entry(item["call_id"].as_str().unwrap()).or_default();
                *n_open += change;
                prop_assert!(*n_open >= 0, "a result before its call");
            }
            prop_assert!(open.values().all(|n| *n == 0), "a call without a result: {}", compacted.text);
        }
    }

    /// The same for Gemini's, whose calls may lack ids: then each name has as many results as calls, after them.
    #[test]
    fn strange_pairs_of_gemini_come_out_paired(ids in prop::collection::vec((0_u8..4, prop::bool::ANY, prop::bool::ANY), 1..40), has_ids in prop::bool::ANY, budget in 200_usize..600) {
        let items: Vec<Value> = ids.iter().map(|(id, is_call, may_have_id)| {
            let (role, key) = if *is_call { ("model", "functionCall") } else { ("user", "functionResponse") };
            let mut paired = json!({ "name": format!("tool{}", id % 2), "response": { "output": "x".repeat(90) } });
            if has_ids || *may_have_id {
                paired["id"] = json!(id.to_string());
            }
            json!({ "role": role, "parts": [{ key: paired }] })
        }).collect();
        let input = json!({ "contents": items }).to_string();
        let compacted = compact(input.as_bytes(), &Options { budget, keep: None }, &Scanner::builtin()).unwrap();
        if compacted.report.replaced > 0 {
            let after: Value = serde_json::from_str(&compacted.text).unwrap();
            let n_last = messages(&after).iter().rev().take_while(|item| item["role"] == "model").count();
            let end = messages(&after).len() - n_last;
            let mut open: HashMap<String, i32> = HashMap::new();
            for item in &messages(&after)[..end] {
                let part = &item["parts"][0];
                let (paired, change) = match (part.get("functionCall"), part.get("functionResponse")) {
                    (Some(call), _) => (call, 1),
                    (_, Some(result)) => (result, -1),
                    _ => continue,
                };
                let key = if has_ids { &paired["id"] } else { &paired["name"] };
                let n_open = open.entry(key.to_string()).or_default();
                *n_open += change;
                prop_assert!(*n_open >= 0, "a result before its call");
            }
            prop_assert!(open.values().all(|n| *n == 0), "a call without a result: {}", compacted.text);
        }
    }
}
