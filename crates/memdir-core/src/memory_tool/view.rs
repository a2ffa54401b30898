//! What a model is shown: files with numbers before their lines, directories with sizes.
//!
//! Text of a memory is data. What could pose as a tag of the host gets a backslash, and hidden characters are shown; so that a
//! model can still edit what it saw, [`as_stored`] finds the text that was shown like that.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::path::ToolPath;
use super::{Answer, phrase};
use crate::frame::defused;
use crate::text::visible_block;

/// As many lines of a file are numbered.
const MAX_LINES: usize = 999_999;
/// As many lines are shown around what was replaced.
const AROUND: usize = 2;
/// What an empty directory takes on most file systems.
const DIRECTORY: u64 = 4_096;
/// How deep a directory is shown.
const LEVELS: usize = 2;

/// Shows a file, or some of its lines.
pub(super) fn file(shown: &str, bytes: &[u8], range: Option<(i64, i64)>) -> Answer {
    let lines = lines(bytes);
    if lines.len() > MAX_LINES {
        return Answer::failed(phrase::too_many_lines(shown));
    }
    let (from, to) = match range {
        None => (1, lines.len()),
        Some(range) => match within(range, lines.len()) {
            Some(range) => range,
            None => {
                let (from, to) = range;
                let text = format!(
                    "Invalid `view_range` parameter: [{from}, {to}]. It should be within the range of lines of the file: [1, {}]",
                    lines.len()
                );
                return Answer::refusal(&text);
            }
        },
    };
    let shown_lines = numbered(&lines, from, to);
    Answer::found(format!("{}\n{shown_lines}", phrase::file(shown)).trim_end_matches('\n').to_owned())
}

/// Returns the lines that a range means; -1 at its end means the last one.
fn within((from, to): (i64, i64), n_lines: usize) -> Option<(usize, usize)> {
    let from = usize::try_from(from).ok().filter(|from| *from >= 1)?;
    let to = if to == -1 { n_lines } else { usize::try_from(to).ok()?.min(n_lines) };
    (from <= to.max(1) && from <= n_lines.max(1)).then_some((from, to))
}

/// Splits a text into lines; a line break at its end begins no further one.
pub(super) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n').collect()
}

/// Shows the lines from one number to another.
fn numbered(lines: &[&[u8]], from: usize, to: usize) -> String {
    let mut text = String::new();
    for (number, line) in (1..).zip(lines).skip(from - 1).take((to + 1).saturating_sub(from)) {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        let _ = writeln!(text, "{number:6}\t{}", visible_block(&line));
    }
    // A number stands before each line, so that none can open a turn of a conversation.
    defused(&text)
}

/// Shows what was replaced, with the lines around it.
pub(super) fn snippet(text: &[u8], at: usize, n_bytes: usize) -> String {
    let (first, last) = (line_of(text, at), line_of(text, at + n_bytes));
    let lines = lines(text);
    let from = first.saturating_sub(AROUND).max(1);
    let to = (last + AROUND).min(lines.len());
    numbered(&lines, from, to).trim_end_matches('\n').to_owned()
}

/// Returns the number of the line that a place is in.
pub(super) fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at.min(bytes.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// Returns the bytes that a model means by `text`: as it wrote it, or, where the file does not say that, what was shown
/// to it in this form.
pub(super) fn as_stored(text: &str, file: &[u8]) -> Vec<u8> {
    let verbatim = text.as_bytes().to_vec();
    if !text.contains('\\') || memchr::memmem::find(file, &verbatim).is_some() {
        return verbatim;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        rest = &from[1..];
        if !is_ours(before, rest) {
            plain.push('\\');
        }
    }
    plain.push_str(rest);
    plain.into_bytes()
}

/// Says whether a backslash between these two is one that we put there.
fn is_ours(before: &str, rest: &str) -> bool {
    let Some(opening) = before.chars().next_back() else { return false };
    defused(&format!("{opening}{rest}")).starts_with(&format!("{opening}\\"))
}

/// Puts text behind a line, as lines of its own.
pub(super) fn with_inserted(bytes: &[u8], line: usize, new: &str) -> Vec<u8> {
    let new = new.strip_suffix('\n').unwrap_or(new).as_bytes();
    let mut lines = lines(bytes);
    lines.insert(line, new);
    let mut text = lines.join(&b'\n');
    if bytes.is_empty() || bytes.ends_with(b"\n") {
        text.push(b'\n');
    }
    text
}

/// Shows what a directory holds, up to two levels deep.
pub(super) fn directory(path: &ToolPath, files: &[(String, u64)]) -> Answer {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::from([(String::new(), DIRECTORY)]);
    for (file, size) in files.iter().filter(|(file, _)| path.holds(file)) {
        let below = if path.is_root() { file.as_str() } else { &file[path.below().len() + 1..] };
        if below.split('/').any(|part| part.starts_with('.') || part == "node_modules") {
            continue;
        }
        let parts: Vec<&str> = below.split('/').collect();
        for level in 0..parts.len() {
            // A directory weighs what is in it, and something itself.
            let least = if level == 0 { 0 } else { DIRECTORY };
            *sizes.entry(parts[..level].join("/")).or_insert(least) += size;
        }
        *sizes.entry(below.to_owned()).or_default() += size;
    }
    let mut text = phrase::directory(path.shown());
    for (below, size) in sizes.iter().filter(|(below, _)| below.split('/').count() <= LEVELS) {
        let slash = if below.is_empty() { "" } else { "/" };
        let _ = write!(text, "\n{}\t{}{slash}{}", human(*size), path.shown(), visible_block(below));
    }
    Answer::found(defused(&text))
}

/// Writes a size as `4.0K`.
fn human(n_bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
    let mut size = n_bytes as f64 / 1_024.0;
    for unit in ["K", "M"] {
        if size < 1_024.0 {
            // Rounded up, as disks do: what is there is not nothing.
            return format!("{:.1}{unit}", (size * 10.0).ceil() / 10.0);
        }
        size /= 1_024.0;
    }
    format!("{size:.1}G")
}
