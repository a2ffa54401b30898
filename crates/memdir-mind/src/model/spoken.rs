//! Asking in plain words, for those who take one text and give one text back.
//!
//! Agents and hosts that lend their model have no place for our tools and schemas. So a conversation is written down as
//! one text, tools are described in it, and a call is a JSON object that the model writes in place of an answer.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Answer, Part, Request, Role, Stop, Usage};

/// Writes down what is asked, but for the instructions.
pub(super) fn prompt(request: &Request) -> String {
    let mut text = String::new();
    let is_talk = request.messages.len() > 1;
    for message in &request.messages {
        if is_talk {
            let who = match message.role {
                Role::User => "User",
                Role::Assistant => "You",
            };
            let _ = writeln!(text, "## {who}\n");
        }
        for part in &message.parts {
            let _ = match part {
                Part::Text(words) => writeln!(text, "{words}\n"),
                Part::Call { id, name, input } => {
                    writeln!(text, "{}\n", json!({"calls": [{"id": id, "name": name, "input": input}]}))
                }
                Part::Result { id, text: said, is_error } => {
                    let what = if *is_error { "Error" } else { "Result" };
                    writeln!(text, "{what} of {id}:\n{said}\n")
                }
            };
        }
    }
    text.push_str(&rules(request));
    text
}

/// Says in which form the answer is wanted.
fn rules(request: &Request) -> String {
    let mut rules = String::new();
    if !request.tools.is_empty() {
        let tool = |tool: &super::Tool| json!({"name": tool.name, "description": tool.description, "input": tool.input});
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        let _ = write!(
            rules,
            "## Tools\n\nThese tools, and no others, can be called for you: {}\n\nTo call some, answer with one JSON object \
             and nothing else: {{\"calls\": [{{\"name\": \"…\", \"input\": {{…}}}}]}}. You are shown what they say and asked \
             again. When you are done, answer without calls.\n\n",
            Value::Array(tools)
        );
    }
    if let Some(schema) = &request.schema {
        let _ = writeln!(
            rules,
            "Your answer is one JSON value that fits this JSON schema, and nothing else, no words around it: {}",
            schema.schema
        );
    }
    rules
}

/// Reads what was said back.
pub(super) fn answer(request: &Request, said: &str, usage: Usage) -> Answer {
    if !request.tools.is_empty()
        && let Some(calls) = calls(request, said)
    {
        return Answer { parts: calls, stop: Stop::Tools, usage };
    }
    let said = if request.schema.is_some() { bare_json(said).unwrap_or(said) } else { said.trim() };
    let parts = if said.is_empty() { Vec::new() } else { vec![Part::Text(said.to_owned())] };
    Answer { parts, stop: Stop::End, usage }
}

fn calls(request: &Request, said: &str) -> Option<Vec<Part>> {
    let value: Value = serde_json::from_str(bare_json(said)?).ok()?;
    let calls = value.get("calls")?.as_array()?;
    let n_before = request.messages.iter().flat_map(|message| &message.parts);
    let n_before = n_before.filter(|part| matches!(part, Part::Call { .. })).count();
    let parts: Option<Vec<Part>> = calls
        .iter()
        .enumerate()
        .map(|(at, call)| {
            let name = call["name"].as_str()?.to_owned();
            let input = call.get("input").cloned().unwrap_or_else(|| json!({}));
            Some(Part::Call { id: format!("call-{}", n_before + at + 1), name, input })
        })
        .collect();
    parts.filter(|parts| !parts.is_empty())
}

/// Finds the JSON in an answer, without the fence or the words that models put around it.
fn bare_json(said: &str) -> Option<&str> {
    let starts = said.char_indices().filter(|(_, c)| matches!(c, '{' | '[')).map(|(at, _)| at);
    starts.take(8).find_map(|start| {
        let mut values = serde_json::Deserializer::from_str(&said[start..]).into_iter::<Value>();
        let is_value = values.next().is_some_and(|value| value.is_ok());
        is_value.then(|| &said[start..start + values.byte_offset()])
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Message, Schema, Tool};
    use super::*;

    fn request() -> Request {
        Request { messages: vec![Message::user("What is new?")], max_tokens: 100, ..Request::default() }
    }

    fn with_tools() -> Request {
        let tool =
            Tool { name: "read".into(), description: "Reads.".into(), input: json!({"type": "object"}) };
        Request { tools: vec![tool], ..request() }
    }

    fn said(request: &Request, text: &str) -> Answer {
        answer(request, text, Usage::default())
    }

    #[test]
    fn a_single_question_is_asked_as_it_is() {
        assert_eq!(prompt(&request()), "What is new?\n\n");
    }

    #[test]
    fn calls_and_what_came_of_them_stand_in_the_conversation() {
        let mut request = with_tools();
        let call = Part::Call { id: "call-1".into(), name: "read".into(), input: json!({"a": 1}) };
        request.messages.push(Message { role: Role::Assistant, parts: vec![call] });
        let result = Part::Result { id: "call-1".into(), text: "gone".into(), is_error: true };
        request.messages.push(Message { role: Role::User, parts: vec![result] });
        let text = prompt(&request);
        assert!(
            text.contains(
                "## You\n\n{\"calls\":[{\"id\":\"call-1\",\"name\":\"read\",\"input\":{\"a\":1}}]}"
            ),
            "{text}"
        );
        assert!(text.contains("## User\n\nError of call-1:\ngone\n"), "{text}");
        let next = said(&request, "{\"calls\":[{\"name\":\"read\"}]}");
        assert_eq!(next.parts, [Part::Call { id: "call-2".into(), name: "read".into(), input: json!({}) }]);
    }

    #[test]
    fn a_call_is_read_also_within_a_fence_and_words_are_no_call() {
        let fenced = "I look.\n```json\n{\"calls\": [{\"name\": \"read\", \"input\": {\"p\": \"{\"}}]}\n```";
        assert_eq!(said(&with_tools(), fenced).stop, Stop::Tools);
        for words in ["No [news] today {really}.", "{\"calls\": []}", "{\"calls\": [{\"input\": 1}]}"] {
            let answer = said(&with_tools(), words);
            assert_eq!((answer.stop, answer.text()), (Stop::End, words.to_owned()));
        }
        assert_eq!(
            said(&request(), "{\"calls\": [{\"name\": \"read\"}]}").stop,
            Stop::End,
            "no tool was offered"
        );
    }

    #[test]
    fn json_is_taken_out_of_what_stands_around_it() {
        let schema = Schema { name: "s".into(), schema: json!({"type": "object"}) };
        let request = Request { schema: Some(schema), ..request() };
        assert_eq!(said(&request, "Here: ```json\n{\"a\": [1]}\n``` ok").text(), "{\"a\": [1]}");
        assert_eq!(said(&request, "no json").text(), "no json");
        assert!(prompt(&request).contains("{\"type\":\"object\"}"));
    }
}
