//! Where in a body a text is put, and how it is written there.
//!
//! A text becomes one more block behind those of a user's message. Where a message is a bare string, Anthropic's becomes a
//! list of two blocks, which the service reads as the same message with one block more: its clients write one message now
//! as a string and now as a block. Others get the text at the end of their string, because not every server that speaks
//! their dialect takes a list.

use std::ops::Range;

/// A place for a text, behind what a user said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    at: Range<usize>,
    form: Form,
}

/// How a text is written at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As one more element of a list, which begins like this; the place is the last element.
    Element(&'static str),
    /// As the second element of a list that the string becomes; the place is the string.
    Wrapped,
    /// At the end of a string; the place is the string.
    Tail,
}

/// Opens a block of text of Anthropic's API and of chat completions.
pub(super) const TEXT: Form = Form::Element("{\"type\":\"text\",\"text\":");
/// Opens one of the Responses API.
pub(super) const INPUT_TEXT: Form = Form::Element("{\"type\":\"input_text\",\"text\":");
/// Opens one of Gemini's.
pub(super) const PART: Form = Form::Element("{\"text\":");

/// Bytes that are put into a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    /// Where, in the body as it came.
    pub at: usize,
    /// What.
    pub bytes: String,
}

impl Place {
    pub(super) fn new(at: Range<usize>, form: Form) -> Self {
        Self { at, form }
    }

    /// Returns where in the body it is.
    pub fn at(&self) -> usize {
        self.at.end
    }

    /// Returns what it takes to put a text here.
    pub fn insertions(&self, text: &str) -> Vec<Insertion> {
        let insert = |at: usize, bytes: String| Insertion { at, bytes };
        match self.form {
            Form::Element(opening) => {
                vec![insert(self.at.end, format!(",{opening}{}}}", quoted(text)))]
            }
            Form::Wrapped => {
                let Form::Element(opening) = TEXT else { return Vec::new() };
                vec![
                    insert(self.at.start, format!("[{opening}")),
                    insert(self.at.end, format!("}},{opening}{}}}]", quoted(text))),
                ]
            }
            Form::Tail => {
                let quoted = quoted(&format!("\n\n{text}"));
                vec![insert(self.at.end - 1, quoted[1..quoted.len() - 1].to_owned())]
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Wraps a text as hosts wrap what they add to a user's message (R2-14).
pub fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{}\n</system-reminder>", text.trim_end())
}

/// Puts insertions into a body. Every byte of the body stays, in its order.
pub fn splice(body: &[u8], insertions: &[Insertion]) -> Vec<u8> {
    let mut ordered: Vec<&Insertion> = insertions.iter().collect();
    ordered.sort_by_key(|insertion| insertion.at);
    let added: usize = insertions.iter().map(|insertion| insertion.bytes.len()).sum();
    let mut spliced = Vec::with_capacity(body.len() + added);
    let mut done = 0;
    for Insertion { at, bytes } in ordered {
        let at = (*at).min(body.len());
        spliced.extend_from_slice(&body[done..at]);
        spliced.extend_from_slice(bytes.as_bytes());
        done = at;
    }
    spliced.extend_from_slice(&body[done..]);
    spliced
}
