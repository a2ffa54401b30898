//! What should be different about a memory: missing fields, missing sections, sizes and hostile characters.

use super::body::sections;
use super::document::{Document, line_at};
use super::header::bom_len;
use super::name::MemoryPath;
use super::problem::{Problem, ProblemKind};
use super::read::Memory;
use super::words::MemoryType;
use crate::text::hidden_characters;

/// Longest description that reads as one line, in characters.
pub const ADVISED_DESCRIPTION: usize = 200;
/// Longest body that a reader takes in at once, in bytes.
pub const ADVISED_BODY: usize = 4 * 1024;
/// Longest body we write, in bytes.
pub const MAX_BODY: usize = 102_400;

/// Suggests a type for a memory that has none: by its name, then by its words, else `project`.
pub fn suggest_type(name: &str, words: &str) -> MemoryType {
    const KEYWORDS: [(MemoryType, &[&str]); 3] = [
        (
            MemoryType::Reference,
            &["http://", "https://", "tracked in", "dashboard", "wiki", "runbook", "linear", "jira", "slack"],
        ),
        (
            MemoryType::User,
            &["the user is", "user prefers", "i am ", "i'm ", "my role", "years of experience", "expertise"],
        ),
        (
            MemoryType::Feedback,
            &[
                "always ",
                "never ",
                "don't ",
                "do not ",
                "prefer ",
                "instead of",
                "must ",
                "should ",
                "avoid ",
            ],
        ),
    ];
    let name = name.to_lowercase();
    let begins = |kind: &&MemoryType| name.starts_with(kind.as_str());
    if let Some(kind) = MemoryType::ALL.iter().find(begins) {
        return *kind;
    }
    let words = format!("{} {}", name.replace(['-', '_'], " "), words.to_lowercase());
    let found = KEYWORDS.iter().find(|(_, keywords)| keywords.iter().any(|keyword| words.contains(keyword)));
    found.map_or(MemoryType::Project, |(kind, _)| *kind)
}

/// Checks the three required fields.
pub(super) fn required(
    document: &Document,
    path: &MemoryPath,
    memory: &Memory,
    has_body: bool,
    problems: &mut Vec<Problem>,
) {
    let mut report = |kind, field: &str, message: String| {
        problems.push(Problem::new(kind, document.line_of(field), message));
    };
    let is_blank = |field| match document.get(field) {
        None => true,
        Some(value) => value.as_text().is_some_and(|text| text.trim().is_empty()),
    };
    let has_key = document.keys().any(|key| key == "name");
    if has_key && is_blank("name") && is_blank("type") && has_body {
        let message = "another program emptied the frontmatter; the body is intact".to_owned();
        return report(ProblemKind::Blanked, "name", message);
    }
    if is_blank("name") {
        report(ProblemKind::MissingName, "name", format!("no name: it would be `{}`", path.stem()));
    } else if document.text("name").is_some() && memory.name != path.stem() {
        let message = format!("the name `{}` is not the file's `{}`", memory.name, path.stem());
        report(ProblemKind::NameMismatch, "name", message);
    }
    if is_blank("description") {
        let message = "no description: nobody can tell when it matters".to_owned();
        report(ProblemKind::MissingDescription, "description", message);
    }
    if is_blank("type") {
        let body = String::from_utf8_lossy(document.body());
        let suggested =
            suggest_type(path.stem(), &format!("{} {}", memory.description, sections(&body).lead));
        report(ProblemKind::MissingType, "type", format!("no type: `{suggested}` would fit"));
    }
    description(document.text("description").unwrap_or_default().trim(), report);
}

fn description(text: &str, mut report: impl FnMut(ProblemKind, &str, String)) {
    let n_chars = text.chars().count();
    if n_chars > ADVISED_DESCRIPTION {
        let message = format!("the description has {n_chars} characters: {ADVISED_DESCRIPTION} are advised");
        report(ProblemKind::LongDescription, "description", message);
    }
    if text.contains('\n') {
        let message = "the description has several lines: one is advised".to_owned();
        report(ProblemKind::MultiLineDescription, "description", message);
    }
}

/// Checks the body and the characters of the whole file.
pub(super) fn body(memory_type: Option<MemoryType>, document: &Document) -> Vec<Problem> {
    let mut problems = Vec::new();
    shape(memory_type, document, &mut problems);
    size(document.body().len(), &mut problems);
    characters(document, &mut problems);
    problems
}

fn shape(memory_type: Option<MemoryType>, document: &Document, problems: &mut Vec<Problem>) {
    let Some(kind @ (MemoryType::Feedback | MemoryType::Project)) = memory_type else { return };
    let body = String::from_utf8_lossy(document.body());
    let found = sections(&body);
    let is_missing = |section: Option<&str>| section.unwrap_or_default().is_empty();
    if is_missing(found.why) {
        let message = format!("a {kind} memory says why: add `**Why:**`");
        problems.push(Problem::new(ProblemKind::MissingWhy, None, message));
    }
    if is_missing(found.how_to_apply) {
        let message = format!("a {kind} memory says how to apply it: add `**How to apply:**`");
        problems.push(Problem::new(ProblemKind::MissingHow, None, message));
    }
}

fn size(n_bytes: usize, problems: &mut Vec<Problem>) {
    if n_bytes > MAX_BODY {
        let message = format!("the body has {n_bytes} bytes: the limit is {MAX_BODY}");
        problems.push(Problem::new(ProblemKind::OversizedBody, None, message));
    } else if n_bytes > ADVISED_BODY {
        let message = format!(
            "the body has {n_bytes} bytes: memories work best below {ADVISED_BODY}, consider a split"
        );
        problems.push(Problem::new(ProblemKind::LongBody, None, message));
    }
}

/// Reports the first of each kind of hostile character, also where the frontmatter spells it as an escape.
fn characters(document: &Document, problems: &mut Vec<Problem>) {
    let bytes = document.bytes();
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        problems.push(Problem::new(ProblemKind::InvalidUtf8, Some(1), "the file is UTF-16, not UTF-8"));
        return;
    }
    let mut start = bom_len(bytes);
    for chunk in bytes[start..].utf8_chunks() {
        for (at, c) in hidden_characters(chunk.valid()) {
            report_hidden(c, || line_at(bytes, start + at), problems);
        }
        start += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            let message = || "the file is not UTF-8".to_owned();
            report_once(ProblemKind::InvalidUtf8, || line_at(bytes, start), message, problems);
        }
        start += chunk.invalid().len();
    }
    for field in ["name", "description"] {
        for (_, c) in hidden_characters(document.text(field).unwrap_or_default()) {
            report_hidden(c, || document.line_of(field).unwrap_or(1), problems);
        }
    }
}

fn report_hidden(c: char, line: impl FnOnce() -> usize, problems: &mut Vec<Problem>) {
    let (kind, what) = match c {
        '\t' | '\n' | '\r' => return,
        '\0' => (ProblemKind::NulByte, "a NUL byte"),
        c if c.is_control() => (ProblemKind::ControlCharacter, "a control character"),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            (ProblemKind::HiddenCharacter, "a character that reorders text")
        }
        '\u{e0000}'..='\u{e007f}' => (ProblemKind::HiddenCharacter, "a tag character"),
        _ => (ProblemKind::HiddenCharacter, "an invisible character"),
    };
    report_once(kind, line, || format!("{what}: `{c}`"), problems);
}

/// Reports a problem unless there is one of its kind; the line and the message are not free.
fn report_once(
    kind: ProblemKind,
    line: impl FnOnce() -> usize,
    message: impl FnOnce() -> String,
    problems: &mut Vec<Problem>,
) {
    if !problems.iter().any(|problem| problem.kind == kind) {
        problems.push(Problem::new(kind, Some(line()), message()));
    }
}
