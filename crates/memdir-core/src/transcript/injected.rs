//! Cuts out of a text what was put into it: our own frames, and the context that hosts wrap around a prompt.
//!
//! Memories that were shown to a model stand in its transcript. Whoever learned from them there would learn his own
//! words again, with more weight each time.

use std::borrow::Cow;
use std::ops::Range;

use super::Role;

/// Sections that hosts add to what a person or a tool said. Only whole ones are cut.
const SECTIONS: [(&str, &str); 4] = [
    ("<system-reminder>", "</system-reminder>"),
    ("<hook_context>", "</hook_context>"),
    ("<session_context>", "</session_context>"),
    ("<loaded_context>", "</loaded_context>"),
];
/// Opens a frame of ours, at the end of a line.
const OPEN: &str = "[memdir ";
/// How many hex digits a frame's id has.
const ID_DIGITS: usize = 8;
/// Begins the first line of a frame of memories: such a frame is cut even if a host cut off its end.
const HEADING: &str = "Relevant saved memories (";
/// How many marks without an end are looked into: a text full of them must not cost more than a few passes.
const MAX_TRIES: usize = 64;

/// Returns `text` without what was injected. What the model itself wrote keeps all but our frames.
pub fn without_injected(role: Role, text: &str) -> Cow<'_, str> {
    let mut tries = MAX_TRIES;
    let mut text = cut(Cow::Borrowed(text), |text, from| frame(text, from, &mut tries));
    if role == Role::Assistant {
        return text;
    }
    for (open, close) in SECTIONS {
        text = cut(text, |text, from| section(text, from, open, close));
    }
    text
}

/// Leaves out every range that `next` finds from an offset on.
fn cut<'t>(text: Cow<'t, str>, mut next: impl FnMut(&str, usize) -> Option<Range<usize>>) -> Cow<'t, str> {
    let mut kept = String::new();
    let mut at = 0;
    while let Some(range) = next(&text, at) {
        kept.push_str(&text[at..range.start.max(at)]);
        at = range.end;
    }
    if at == 0 {
        return text;
    }
    kept.push_str(&text[at..]);
    Cow::Owned(kept)
}

fn section(text: &str, from: usize, open: &str, close: &str) -> Option<Range<usize>> {
    let start = from + text[from..].find(open)?;
    let end = start + text[start..].find(close)? + close.len();
    Some(start..end)
}

/// Finds the next frame: from the line that opens it to the mark with the same id.
fn frame(text: &str, mut from: usize, tries: &mut usize) -> Option<Range<usize>> {
    while let Some(at) = text[from..].find(OPEN).map(|at| from + at) {
        from = at + OPEN.len();
        let Some(id) = frame_id(&text[from..]) else { continue };
        let start = text[..at].rfind('\n').map_or(0, |line_break| line_break + 1);
        let close = format!("[/memdir {id}]");
        if let Some(end) = text[from..].find(&close) {
            return Some(start..from + end + close.len());
        }
        if text[start..at].contains(HEADING) {
            return Some(start..text.len());
        }
        *tries -= 1;
        if *tries == 0 {
            return None;
        }
    }
    None
}

/// Reads the id of a mark whose line ends behind it.
fn frame_id(rest: &str) -> Option<&str> {
    let id = rest.get(..ID_DIGITS)?;
    let behind = rest[ID_DIGITS..].strip_prefix(']')?;
    let ends_line = behind.is_empty() || behind.starts_with(['\n', '\r']);
    let is_hex = id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (ends_line && is_hex).then_some(id)
}
