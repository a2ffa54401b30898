//! A question that goes on where a request ends (CI-07): the same bytes up to the last message, and one message of ours
//! behind it, so that the service finds the beginning in its cache. And what came of one: the summary of a conversation.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::dialect::Dialect;
use super::place::{Insertion, splice};
use super::shorten::{items, print};

/// Returns a request that says one thing more, as the user; `None` if there is no list of messages to say it in.
pub fn fork(dialect: Dialect, body: &[u8], text: &str) -> Option<Vec<u8>> {
    let said = serde_json::Value::from(text);
    let message = match dialect {
        Dialect::Gemini => format!(r#",{{"role":"user","parts":[{{"text":{said}}}]}}"#),
        Dialect::Messages | Dialect::Responses | Dialect::Chat => {
            format!(r#",{{"role":"user","content":{said}}}"#)
        }
    };
    go_on(dialect, body, message)
}

/// Returns a request with more messages behind its last one, each with a comma before it.
pub fn go_on(dialect: Dialect, body: &[u8], messages: String) -> Option<Vec<u8>> {
    let at = items(dialect, str::from_utf8(body).ok()?)?.last()?.end;
    Some(splice(body, &[Insertion { at, bytes: messages }]))
}

/// A model's summary of the first messages of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How many messages,
    n_messages: usize,
    /// and what they said, so that they are known again.
    print: String,
    /// What it says.
    pub words: String,
}

impl Summary {
    /// Notes what a model says of all messages of a body.
    pub fn of(dialect: Dialect, body: &[u8], words: String) -> Option<Self> {
        let text = str::from_utf8(body).ok()?;
        let items = items(dialect, text)?;
        Some(Self { n_messages: items.len(), print: print(text, &items)?, words })
    }

    /// Says whether a body begins with the messages that it sums up.
    pub fn begins(&self, dialect: Dialect, body: &[u8]) -> bool {
        let is_same = || {
            let text = str::from_utf8(body).ok()?;
            let items = items(dialect, text)?;
            Some(print(text, items.get(..self.n_messages)?)? == self.print)
        };
        is_same().unwrap_or(false)
    }

    /// Says whether these messages of a body are among those that it sums up.
    pub fn covers(&self, dialect: Dialect, body: &[u8], messages: &Range<usize>) -> bool {
        messages.end <= self.n_messages && self.begins(dialect, body)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_fork_begins_with_every_byte_of_the_messages() {
        let bodies = [
            (Dialect::Messages, r#"{ "messages": [ {"role":"user","content":"a"} ] , "stream":true}"#),
            (Dialect::Chat, r#"{"messages":[{"role":"user","content":"a"}],"n":1.0}"#),
            (Dialect::Responses, r#"{"input":[{"role":"user","content":"a"}],"store":false}"#),
            (Dialect::Gemini, r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}]}"#),
        ];
        for (dialect, body) in bodies {
            let forked = String::from_utf8(fork(dialect, body.as_bytes(), "sum \"it\" up").unwrap()).unwrap();
            let end = body.find('}').unwrap();
            assert_eq!(forked[..=end], body[..=end]);
            let value: Value = serde_json::from_str(&forked).unwrap();
            assert!(value.to_string().contains(r#"sum \"it\" up"#), "{forked}");
            let without = forked.replacen(&forked[forked.find(r#",{"role":"user""#).unwrap()..], "", 1);
            assert!(body.starts_with(&without), "{without}");
        }
        assert_eq!(fork(Dialect::Responses, br#"{"input":"a"}"#, "b"), None);
        assert_eq!(fork(Dialect::Messages, br#"{"messages":[]}"#, "b"), None);
        assert_eq!(fork(Dialect::Messages, b"no JSON", "b"), None);
    }

    #[test]
    fn a_summary_is_of_the_messages_that_it_was_made_of() {
        let body = |texts: &[&str]| {
            let messages: Vec<Value> =
                texts.iter().map(|text| json!({"role": "user", "content": text})).collect();
            json!({ "messages": messages }).to_string()
        };
        let summary = Summary::of(Dialect::Chat, body(&["a", "b"]).as_bytes(), "w".to_owned()).unwrap();
        let covers = |texts: &[&str], range| summary.covers(Dialect::Chat, body(texts).as_bytes(), &range);
        assert!(covers(&["a", "b", "c"], 0..2));
        assert!(!covers(&["a", "b", "c"], 0..3), "what came since is not in it");
        assert!(!covers(&["a", "x", "c"], 0..1), "another history");
        assert!(!covers(&["a"], 0..1), "it was taken back");
    }
}
