//! Finds the sentences of a markdown text.
//!
//! Code fences, frontmatter, comments and table rules are no sentences. A paragraph may run over several lines; a
//! heading, a list item and a table row are each a block of their own.

use std::ops::Range;

use super::cut::{Writing, cut};

/// Which part of a text a sentence stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A paragraph.
    Paragraph,
    /// A list item or table row.
    Item,
    /// A heading.
    Heading,
    /// The reason: what follows `**Why:**`.
    Why,
    /// The application: what follows `**How to apply:**`.
    HowToApply,
}

/// One sentence of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement<'a> {
    /// Its words, without list marks and labels.
    pub text: &'a str,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The part it stands in.
    pub part: Part,
}

/// Returns the sentences of a text outside code fences, in order.
pub fn statements(text: &str) -> Vec<Statement<'_>> {
    let mut found = Vec::new();
    let mut at_line = (0, 1);
    for (range, part) in blocks(text) {
        let (range, part) = label(text, range, part);
        for sentence in cut(text, range, Writing::Document) {
            at_line.1 += text[at_line.0..sentence.start].matches('\n').count();
            at_line.0 = sentence.start;
            found.push(Statement { text: &text[sentence.clone()], range: sentence, line: at_line.1, part });
        }
    }
    found
}

/// Finds the blocks: paragraphs, items, headings.
fn blocks(text: &str) -> Vec<(Range<usize>, Part)> {
    let mut blocks: Vec<(Range<usize>, Part)> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut open = false;
    let mut at = frontmatter_end(text);
    for line in text[at..].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim();
        if let Some(mark) = fence {
            if content.starts_with(mark) && content.trim_matches(|c| mark.contains(c)).is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| content.starts_with(mark)) {
            fence = Some(mark);
            open = false;
            continue;
        }
        if content.is_empty() || is_rule(content) || content.starts_with("<!--") {
            open = false;
            continue;
        }
        let (skipped, part) = mark(line);
        let range = start + skipped..start + line.trim_end().len();
        // A mark with nothing behind it, as in an empty heading, is a line without words.
        if range.is_empty() {
            open = false;
            continue;
        }
        match blocks.last_mut() {
            Some((last, _)) if open && part.is_none() && !is_label(&text[range.clone()]) => {
                last.end = range.end
            }
            _ => blocks.push((range, part.unwrap_or(Part::Paragraph))),
        }
        open = part != Some(Part::Heading);
    }
    blocks
}

fn frontmatter_end(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("---\n") else { return 0 };
    rest.find("\n---\n").map_or(0, |end| 4 + end + 5)
}

/// A line of nothing but marks: a thematic break, a table's rule.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '|' | ':' | ' ' | '+'))
}

/// Returns how many bytes of a line are its mark, and what the mark makes of it.
fn mark(line: &str) -> (usize, Option<Part>) {
    let indent = line.len() - line.trim_start().len();
    let rest = line[indent..].trim_start_matches(['>', ' ']);
    let at = line.len() - rest.len();
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&hashes) && rest[hashes..].starts_with(' ') {
        return (at + hashes + 1, Some(Part::Heading));
    }
    if let Some(after) = bullet(rest) {
        return (at + after, Some(Part::Item));
    }
    if rest.starts_with('|') {
        return (at + 1, Some(Part::Item));
    }
    (at, None)
}

/// `- `, `* `, `+ `, `• `, `1. `, `2) `, each perhaps with a `[x]` behind it.
fn bullet(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match line[digits..].chars().next()? {
        c @ ('-' | '*' | '+' | '•' | '·' | '–') if digits == 0 => c.len_utf8(),
        '.' | ')' if (1..=3).contains(&digits) => digits + 1,
        _ => return None,
    };
    let rest = line[mark..].strip_prefix(' ')?;
    let rest = rest.trim_start();
    let rest = ["[ ] ", "[x] ", "[X] "].iter().find_map(|tick| rest.strip_prefix(tick)).unwrap_or(rest);
    Some(line.len() - rest.len())
}

const WHY: &[&str] = &["why", "reason", "rationale", "warum", "grund", "begründung", "이유", "배경", "왜"];
const HOW: &[&str] = &[
    "how to apply",
    "how",
    "apply",
    "application",
    "anwendung",
    "wie anwenden",
    "so anwenden",
    "적용",
    "적용 방법",
    "방법",
];

/// Tells a block's label from its text: `**Why:** we were burned` is a reason.
fn label(text: &str, range: Range<usize>, part: Part) -> (Range<usize>, Part) {
    match named_label(&text[range.clone()]) {
        Some((length, named)) => (range.start + length..range.end, named),
        None => (range, part),
    }
}

fn is_label(block: &str) -> bool {
    named_label(block).is_some()
}

fn named_label(block: &str) -> Option<(usize, Part)> {
    let colon = block.find(':').filter(|at| *at < 60)?;
    let word = block[..colon].trim_matches(['*', '_', ' ', '#']).to_lowercase();
    let after = &block[colon + 1..];
    let length = block.len() - after.trim_start_matches(['*', '_', ' ']).len();
    match word.as_str() {
        word if WHY.contains(&word) => Some((length, Part::Why)),
        word if HOW.contains(&word) => Some((length, Part::HowToApply)),
        _ => None,
    }
}
