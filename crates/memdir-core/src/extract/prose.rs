//! What of a message a person wrote in words of their own.
//!
//! People paste: logs, code, diffs, pages, what somebody else said. None of that is their word, so it is left out line by
//! line: what stands in a fence, behind a quotation mark of markdown or mail, what looks like the output of a program, and
//! what is announced as a quotation.

use std::ops::Range;

use super::words::{self, has, table};

/// Of a longer message people write the beginning and the end; what is between was pasted.
const MAX_TYPED: usize = 4_000;
/// As much is read at each end of it.
const TYPED_AT_ENDS: usize = 800;
/// A line with fewer letters, digits and spaces than this share is no prose.
const MIN_LETTERS: f64 = 0.8;

/// Returns the lines of a message that are its author's own, as ranges of bytes without the line break.
pub(super) fn own_lines(text: &str) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut reader = Reader::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.trim_end().len();
        at += line.len();
        if reader.is_own(line) && is_typed(&range, text) {
            lines.push(range);
        }
    }
    lines
}

fn is_typed(line: &Range<usize>, text: &str) -> bool {
    text.len() <= MAX_TYPED || line.end <= TYPED_AT_ENDS || line.start + TYPED_AT_ENDS >= text.len()
}

/// What was seen of a message so far.
#[derive(Debug, Default)]
struct Reader {
    in_fence: bool,
    /// An element such as `<log>` that was opened, until it is closed.
    element: Option<String>,
    /// Somebody else's words were announced: `Some(true)` once they have begun.
    announced: Option<bool>,
}

impl Reader {
    fn is_own(&mut self, line: &str) -> bool {
        let content = line.trim();
        if content.starts_with("```") || content.starts_with("~~~") {
            self.in_fence = !self.in_fence;
            return false;
        }
        if self.in_fence || self.is_in_element(content) || self.is_announced(content) {
            return false;
        }
        !content.is_empty() && !is_quoted(content) && !is_output(line) && has_prose(content)
    }

    fn is_in_element(&mut self, content: &str) -> bool {
        if let Some(name) = &self.element {
            if content.contains(&format!("</{name}>")) {
                self.element = None;
            }
            return true;
        }
        let Some(name) = opened(content) else { return false };
        if !content.contains(&format!("</{name}>")) {
            self.element = Some(name.to_owned());
        }
        true
    }

    /// Words of somebody else end with the paragraph that they begin.
    fn is_announced(&mut self, content: &str) -> bool {
        match (self.announced, content.is_empty()) {
            (Some(true), true) => self.announced = None,
            (Some(true), false) => return true,
            (Some(false), true) => {}
            (Some(false), false) => {
                self.announced = Some(true);
                return true;
            }
            (None, _) => {
                if content.ends_with([':', '：']) && has(&content.to_lowercase(), table("announced")) {
                    self.announced = Some(false);
                }
            }
        }
        false
    }
}

/// Returns the name of an element that a line opens.
fn opened(content: &str) -> Option<&str> {
    let rest = content.strip_prefix('<')?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')?;
    let is_name = end > 0 && rest.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_name && rest[end..].starts_with(['>', ' '])).then_some(&rest[..end])
}

fn is_quoted(content: &str) -> bool {
    let pairs = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」')];
    content.starts_with('>')
        || content.starts_with('|')
        || content.chars().count() > 2
            && pairs.iter().any(|(open, close)| {
                content.starts_with(*open) && content.trim_end_matches(['.', '!', ',']).ends_with(*close)
            })
}

fn is_output(line: &str) -> bool {
    let content = line.trim();
    let lower = content.to_lowercase();
    let begins = words::begins(&lower, table("programs")) && looks_like_code(content);
    let is_stamped = content.len() > 10
        && content.bytes().take(4).all(|b| b.is_ascii_digit())
        && content.as_bytes()[4] == b'-'
        && content.contains(':');
    let is_levelled = ["[INFO", "[ERROR", "[WARN", "[DEBUG", "INFO:", "ERROR:", "WARN:"]
        .iter()
        .any(|l| content.starts_with(l));
    begins || is_stamped || is_levelled || line.starts_with("    ") && looks_like_code(content)
}

/// A plain sentence may begin with "import" or "let"; code has its marks.
fn looks_like_code(content: &str) -> bool {
    content.ends_with([';', '{', '}', ')', ',', ':'])
        || content.contains("::")
        || content.contains("=>")
        || content.contains(" = ")
        || content.contains("()")
        || content.starts_with(['$', '%', '❯', '➜', '+', '-', '@'])
        || [
            "error",
            "warning",
            "fatal",
            "Traceback",
            "Caused by",
            "Exception",
            "npm ",
            "Error",
            "panicked",
            "thread '",
            "diff ",
            "File \"",
            "E   ",
        ]
        .iter()
        .any(|begin| content.starts_with(begin))
}

fn has_prose(content: &str) -> bool {
    let n = content.chars().count();
    let letters = content.chars().filter(|c| c.is_alphanumeric() || c.is_whitespace()).count();
    let word = |c: char| c.is_alphabetic();
    content.contains(word) && letters as f64 >= MIN_LETTERS * n as f64 || is_link_line(content)
}

/// A sentence with an address in it has many marks.
fn is_link_line(content: &str) -> bool {
    content.contains("://") && content.split_whitespace().count() > 2
}
