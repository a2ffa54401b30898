//! What a web page, a file or a command's output wants a machine to remember.
//!
//! Nobody asked for it, so it is a candidate of the tool's, which waits in quarantine: the user sees who wanted what. A text
//! that says "remember" to its readers is no request; it must speak to a machine or of its memory.

use super::words::{has, lower, table};
use super::{Evidence, Said};
use crate::classify::asks_to_remember;
use crate::statement::statements;

/// As many requests of one window are kept: a page that asks again and again must not fill the inbox.
const MAX_REQUESTS: usize = 3;
/// As much of a tool's output is looked through, in bytes.
const MAX_LOOK: usize = 200_000;
/// A longer sentence is cut.
const MAX_REQUEST: usize = 400;

/// Ways to ask for it, beside those of people.
const REQUESTS: &[&str] = &[
    "remember",
    "memorize",
    "save",
    "store",
    "add",
    "write",
    "record",
    "note",
    "keep",
    "commit",
    "put",
    "update",
    "merke",
    "speichere",
    "기억",
    "저장",
];

/// Finds the requests in what tools brought in.
pub(super) fn requests(window: &[Said], is_tool: impl Fn(&Said) -> bool) -> Vec<Evidence> {
    let mut found: Vec<Evidence> = Vec::new();
    for (message, said) in window.iter().enumerate().filter(|(_, said)| is_tool(said)) {
        let text = &said.text[..said.text.floor_char_boundary(MAX_LOOK)];
        for quote in text.lines().flat_map(sentences_of).filter(|sentence| is_request(sentence)) {
            if found.iter().any(|known| known.quote == quote) {
                continue;
            }
            found.push(Evidence { message, quote: quote.to_owned() });
            if found.len() >= MAX_REQUESTS {
                return found;
            }
        }
    }
    found
}

/// Comments of markdown and HTML are where such requests hide.
fn sentences_of(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim().trim_start_matches("<!--").trim_end_matches("-->").trim();
    let sentences: Vec<&str> = statements(line).into_iter().map(|statement| statement.text).collect();
    sentences.into_iter().map(|text| &text[..text.floor_char_boundary(MAX_REQUEST)])
}

fn is_request(sentence: &str) -> bool {
    let said = lower(sentence);
    let names_memory = has(&said, table("machine memory"));
    let asks =
        asks_to_remember(sentence) || has(&said, &["remember that", "always remember", "must remember"]);
    names_memory && (asks || has(&said, REQUESTS)) || asks && has(&said, table("to machines"))
}
