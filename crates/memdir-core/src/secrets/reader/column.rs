//! The cells below a heading: a table of markdown, or lines of comma-separated values.

use std::ops::Range;

/// The longest line that may be a heading.
const MAX_LINE: usize = 400;
/// How many rows are read below a heading.
const MAX_ROWS: usize = 200;

/// Returns where the cells below the heading `name` begin, and what ends each of them.
pub(super) fn below(text: &[u8], name: Range<usize>) -> Vec<(usize, Option<u8>)> {
    let Some((start, end)) = line_around(text, &name) else { return Vec::new() };
    let head = &text[start..end];
    let (bar, first_row) = if head.contains(&b'|') {
        let Some(rule) = rule_below(text, end) else { return Vec::new() };
        (b'|', rule)
    } else if is_csv_head(head) {
        (b',', end + 1)
    } else {
        return Vec::new();
    };
    let n_before = text[start..name.start].iter().filter(|byte| **byte == bar).count();
    let mut cells = Vec::new();
    let mut at = first_row;
    for _ in 0..MAX_ROWS {
        let Some(line) = text.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let line =
            &line[..line.iter().take(MAX_LINE * 4).position(|byte| *byte == b'\n').unwrap_or(line.len())];
        if !line.contains(&bar) {
            break;
        }
        let bars = line.iter().enumerate().filter(|(_, byte)| **byte == bar).map(|(n, _)| n + 1);
        let cell = std::iter::once(0).chain(bars).nth(n_before).filter(|cell| *cell < line.len());
        let blank = |cell: usize| line[cell..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        cells.extend(cell.map(|cell| (at + cell + blank(cell), Some(bar))));
        at += line.len() + 1;
    }
    cells
}

/// Returns the line around a name, if it is short enough for a heading and not the last.
fn line_around(text: &[u8], name: &Range<usize>) -> Option<(usize, usize)> {
    let floor = name.start.saturating_sub(MAX_LINE);
    let start = match memchr::memrchr(b'\n', &text[floor..name.start]) {
        Some(at) => floor + at + 1,
        None if floor == 0 => 0,
        None => return None,
    };
    let ahead = &text[name.end..text.len().min(name.end + MAX_LINE)];
    Some((start, name.end + memchr::memchr(b'\n', ahead)?))
}

/// Returns where the rows begin, if the next line is the rule of a table: `| --- | :-: |`.
fn rule_below(text: &[u8], end: usize) -> Option<usize> {
    let ahead = &text[end + 1..text.len().min(end + 1 + MAX_LINE)];
    let rule = &ahead[..memchr::memchr(b'\n', ahead)?];
    let is_rule = |byte: &u8| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t' | b'\r' | b'+');
    (rule.contains(&b'-') && rule.iter().all(is_rule)).then_some(end + 1 + rule.len() + 1)
}

/// Says whether a line is nothing but names with commas between them.
fn is_csv_head(head: &[u8]) -> bool {
    let is_name = |field: &[u8]| {
        let field = field.trim_ascii();
        !field.is_empty()
            && field.len() <= 24
            && field.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-\"".contains(byte))
    };
    head.contains(&b',') && head.split(|byte| *byte == b',').all(is_name)
}
