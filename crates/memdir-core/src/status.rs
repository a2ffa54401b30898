//! `STATUS.md`: the block that memdir keeps in it, and the dates at which documents were last brought up to date.
//!
//! The block stands between two marks and says what is in progress, what is blocked, what comes next, and the day of
//! the last look. Every byte outside of it is the author's and stays. A file whose marks do not pair up is not touched.
//! What the block says comes from the journal ([`Status::of`]), so it is never more than a view.

use jiff::civil::Date;

use crate::journal::{OpenItem, one_line};
use crate::text::count;

/// The document.
pub const STATUS: &str = "STATUS.md";
/// Begins the block, on a line of its own.
pub const BEGIN: &str = "<!-- memdir:status -->";
/// Ends it.
pub const END: &str = "<!-- memdir:status:end -->";
/// Begins the line that says when a document was last brought up to date.
pub const DOC_SYNC: &str = "Doc Sync:";
/// As many items a section has.
const MAX_ITEMS: usize = 20;

/// Where a project stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// What is being worked on.
    pub in_progress: Vec<String>,
    /// What waits for somebody or something.
    pub blocked: Vec<String>,
    /// What comes after that.
    pub next: Vec<String>,
    /// The day of the last look.
    pub day: Option<Date>,
}

/// Why a file was left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// The marks do not pair up.
    #[error("the marks `{BEGIN}` and `{END}` do not pair up")]
    Marks,
    /// The file is not text.
    #[error("the file is not UTF-8")]
    NotText,
}

/// What an open item is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    InProgress,
    Blocked,
    Next,
}

/// Words that an item begins with, and what they say about it.
const BEGINNINGS: [(&str, Standing, bool); 8] = [
    ("blocked:", Standing::Blocked, true),
    ("blocked by", Standing::Blocked, false),
    ("blocked on", Standing::Blocked, false),
    ("waiting for", Standing::Blocked, false),
    ("waiting on", Standing::Blocked, false),
    ("next:", Standing::Next, true),
    ("later:", Standing::Next, true),
    ("todo:", Standing::Next, true),
];

impl Status {
    /// Tells where a project stands by what is open: an item that begins with `blocked:` or `next:` is that, any other
    /// is in progress.
    pub fn of(open: &[OpenItem], day: Date) -> Self {
        let mut status = Self { day: Some(day), ..Self::default() };
        for item in open {
            let (standing, text) = standing(&item.text);
            let section = match standing {
                Standing::InProgress => &mut status.in_progress,
                Standing::Blocked => &mut status.blocked,
                Standing::Next => &mut status.next,
            };
            section.push(text.to_owned());
        }
        status
    }

    /// Says it in a few words: `2 in progress, 1 blocked`.
    pub fn words(&self) -> String {
        let part = |n: usize, word: &str| (n > 0).then(|| format!("{n} {word}"));
        let parts = [
            part(self.in_progress.len(), "in progress"),
            part(self.blocked.len(), "blocked"),
            part(self.next.len(), "next"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "nothing open".to_owned() } else { parts.join(", ") }
    }

    /// Writes the sections as markdown, without the marks.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        for (title, items) in
            [("In progress", &self.in_progress), ("Blocked", &self.blocked), ("Next", &self.next)]
        {
            out.push_str(&format!("## {title}\n"));
            if items.is_empty() {
                out.push_str("- nothing\n");
            }
            items.iter().take(MAX_ITEMS).for_each(|item| out.push_str(&format!("- {}\n", one_line(item))));
            if items.len() > MAX_ITEMS {
                let more = count(items.len() - MAX_ITEMS, "more", "more");
                out.push_str(&format!("- {more}: memdir journal open\n"));
            }
            out.push('\n');
        }
        if let Some(day) = self.day {
            out.push_str(&format!("{DOC_SYNC} {day}\n"));
        }
        out
    }

    /// Reads the block of a file; `None` if there is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let block = find(text).ok()??;
        let mut status = Self::default();
        let mut section = None;
        for line in text[block.inner].lines().map(str::trim) {
            match line.strip_prefix("## ") {
                Some("In progress") => section = Some(&mut status.in_progress),
                Some("Blocked") => section = Some(&mut status.blocked),
                Some("Next") => section = Some(&mut status.next),
                Some(_) => section = None,
                None => {
                    let item = line.strip_prefix("- ").filter(|item| *item != "nothing");
                    if let (Some(items), Some(item)) = (section.as_deref_mut(), item) {
                        items.push(item.to_owned());
                    }
                }
            }
        }
        status.day = doc_sync(bytes);
        Some(status)
    }

    /// Returns the file with this status in its block, which is made below the title where there is none.
    pub fn write_into(&self, bytes: &[u8]) -> Result<Vec<u8>, StatusError> {
        let text = std::str::from_utf8(bytes).map_err(|_| StatusError::NotText)?;
        let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let inner = self.markdown().replace('\n', eol);
        let block = format!("{BEGIN}{eol}{inner}{END}{eol}");
        if let Some(found) = find(text)? {
            return Ok([&text[..found.inner.start], &inner, &text[found.inner.end..]].concat().into_bytes());
        }
        if text.trim().is_empty() {
            return Ok(format!("# Status{eol}{eol}{block}").into_bytes());
        }
        let at = below_title(text);
        let (above, below) = text.split_at(at);
        let apart = if above.is_empty() || ends_apart(above) { "" } else { eol };
        let open_line = if above.is_empty() || above.ends_with('\n') { "" } else { eol };
        let gap = if below.is_empty() || below.starts_with(['\n', '\r']) { "" } else { eol };
        Ok([above, open_line, apart, &block, gap, below].concat().into_bytes())
    }
}

fn standing(text: &str) -> (Standing, &str) {
    for (beginning, standing, is_mark) in BEGINNINGS {
        let is_it = text.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning));
        if is_it {
            let rest = text[beginning.len()..].trim_start();
            return (standing, if is_mark && !rest.is_empty() { rest } else { text });
        }
    }
    (Standing::InProgress, text)
}

/// Where a block is.
struct Block {
    /// What stands between the lines of the two marks.
    inner: std::ops::Range<usize>,
}

/// Finds the block. Marks inside a code fence are an example, not marks.
fn find(text: &str) -> Result<Option<Block>, StatusError> {
    let (mut begins, mut ends, mut is_code, mut at) = (Vec::new(), Vec::new(), false, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_code = !is_code;
        } else if !is_code && trimmed == BEGIN {
            begins.push(at + line.len());
        } else if !is_code && trimmed == END {
            ends.push(at);
        }
        at += line.len();
    }
    match (&begins[..], &ends[..]) {
        ([], []) => Ok(None),
        ([begin], [end]) if begin <= end && text[..*begin].ends_with('\n') => {
            Ok(Some(Block { inner: *begin..*end }))
        }
        _ => Err(StatusError::Marks),
    }
}

/// Returns the place below the first line if that is a title, else the end.
fn below_title(text: &str) -> usize {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    let is_title = first.trim_start_matches('\u{feff}').starts_with("# ");
    if is_title { first.len() } else { text.len() }
}

fn ends_apart(text: &str) -> bool {
    text.ends_with("\n\n") || text.ends_with("\n\r\n")
}

/// Returns the date of the first line `Doc Sync: YYYY-MM-DD`.
pub fn doc_sync(bytes: &[u8]) -> Option<Date> {
    let text = std::str::from_utf8(bytes).ok()?;
    find_sync(text).and_then(|range| text[range].parse().ok())
}

/// Returns the document with another date in its line `Doc Sync:`; `None` if it has no such line, or that date already.
pub fn with_doc_sync(bytes: &[u8], day: Date) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let range = find_sync(text)?;
    let day = day.to_string();
    (text[range.clone()] != day)
        .then(|| [&text[..range.start], &day, &text[range.end..]].concat().into_bytes())
}

/// Finds the date of the first line `Doc Sync: YYYY-MM-DD`, perhaps in a list, bold or in a comment.
fn find_sync(text: &str) -> Option<std::ops::Range<usize>> {
    /// `YYYY-MM-DD`.
    const DATE: usize = 10;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(found) = line.find(DOC_SYNC) {
            let is_first = line[..found].chars().all(|c| !c.is_alphanumeric());
            let rest = &line[found + DOC_SYNC.len()..];
            let start = rest
                .find(|c: char| c.is_ascii_digit())
                .filter(|at| !rest[..*at].contains(char::is_alphanumeric));
            let date = start.and_then(|start| Some((start, rest.get(start..start + DATE)?)));
            if let Some((start, _)) = date.filter(|(_, date)| is_first && date.parse::<Date>().is_ok()) {
                let start = at + found + DOC_SYNC.len() + start;
                return Some(start..start + DATE);
            }
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests;
