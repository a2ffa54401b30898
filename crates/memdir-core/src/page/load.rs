//! How much of the index page a host loads, and what a session gets of it.
//!
//! Hosts strip frontmatter and block-level HTML comments before they count, so both are free. Where it is
//! doubtful whether something is a comment, it is counted: a page that is shorter than we think does no harm.

use std::fmt;

use super::layout::{Fence, closes_comment, frontmatter_len, is_marker, lines, opens_comment, strip_bom};

/// What a host loads at most of the page.
pub const LIMIT: Load = Load { lines: 200, bytes: 25_000 };

/// A size of loaded content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Lines that a host counts.
    pub lines: usize,
    /// Bytes in these lines, line ends included.
    pub bytes: usize,
}

impl Load {
    /// Measures what a host loads of the page `bytes`.
    pub fn measure(bytes: &[u8]) -> Self {
        loaded(bytes).into_iter().fold(Self::default(), Self::with_line)
    }

    /// Says whether both numbers are within those of `cap`.
    pub fn fits(self, cap: Self) -> bool {
        self.lines <= cap.lines && self.bytes <= cap.bytes
    }

    /// Adds one line.
    pub(super) fn with_line(self, line: &[u8]) -> Self {
        Self { lines: self.lines + 1, bytes: self.bytes + line.len() }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lines, {} bytes", self.lines, self.bytes)
    }
}

/// Returns what a host gets of the page: what is loaded of it, cut at a line once the limit is reached, and then a
/// line that says so.
pub(super) fn within_limit(bytes: &[u8]) -> String {
    // Broken UTF-8 grows when it is replaced, so the limit holds for the text and not for the file.
    let page = String::from_utf8_lossy(bytes);
    let lines = loaded(page.as_bytes());
    let mut text = Vec::new();
    let (mut taken, mut all) = (Load::default(), Load::default());
    for line in lines {
        all = all.with_line(line);
        if all.fits(LIMIT) {
            taken = all;
            text.extend_from_slice(line);
        }
    }
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if taken != all {
        text.push_str(&format!("> WARNING: MEMORY.md is {}\n", excess(all)));
    }
    text
}

/// Says what to do about a page that is over the limit; `None` if it is not.
pub fn over_limit_message(load: Load) -> Option<String> {
    if load.fits(LIMIT) {
        return None;
    }
    Some(format!("MEMORY.md is {}: what is beyond is not loaded, bring it under 140 lines", excess(load)))
}

/// Names the number that is over its limit, lines first.
fn excess(load: Load) -> String {
    if load.lines > LIMIT.lines {
        return format!("{} lines (limit: {})", load.lines, LIMIT.lines);
    }
    format!("{} bytes (limit: {})", load.bytes, LIMIT.bytes)
}

/// Returns the lines of a page that a host loads, line ends included.
pub(super) fn loaded(bytes: &[u8]) -> Vec<&[u8]> {
    let lines: Vec<&[u8]> = lines(strip_bom(bytes).1).collect();
    loaded_lines(&lines).into_iter().map(|loaded| lines[loaded.index]).collect()
}

/// A line that a host loads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loaded {
    /// Which line of the page it is.
    pub(super) index: usize,
    /// Whether it belongs to a code fence.
    pub(super) in_fence: bool,
}

/// Says which of the lines of a page a host loads.
pub(super) fn loaded_lines(lines: &[&[u8]]) -> Vec<Loaded> {
    let mut kept = Vec::with_capacity(lines.len());
    let mut at = frontmatter_len(lines);
    if lines[..at].iter().any(|line| is_marker(line)) {
        at = 0; // two rules around the block, not frontmatter
    }
    while let Some(line) = lines.get(at) {
        let fence = Fence::opening(line);
        let (len, is_loaded) = match fence {
            Some(fence) => (fence.len(&lines[at..]).unwrap_or(lines.len() - at), true),
            None if opens_comment(line) => comment(&lines[at..]),
            None => (1, true),
        };
        if is_loaded {
            kept.extend((at..at + len).map(|index| Loaded { index, in_fence: fence.is_some() }));
        }
        at += len;
    }
    kept
}

/// Returns how many lines the comment that opens `lines` takes, and whether it is loaded all the same: because
/// it has no end, or because text stands behind its end.
fn comment(lines: &[&[u8]]) -> (usize, bool) {
    let Some(last) = lines.iter().position(|line| closes_comment(line)) else { return (lines.len(), true) };
    (last + 1, !lines[last].trim_ascii_end().ends_with(b"-->"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(lines: usize, bytes: usize) -> Load {
        Load { lines, bytes }
    }

    #[test]
    fn frontmatter_and_block_comments_are_not_counted() {
        for (page, expected) in [
            ("", load(0, 0)),
            ("a", load(1, 1)),
            ("a\n\nb\n", load(3, 5)),
            ("---\nx: 1\n---\na\n", load(1, 2)),
            ("\u{feff}---\r\nx: 1\r\n---\r\na\r\n", load(1, 3)),
            ("---\nnot closed\n", load(2, 15)),
            ("---\n<!-- memdir:begin -->\na\n<!-- memdir:end -->\n---\n", load(3, 10)),
            ("<!-- one line -->\na\n", load(1, 2)),
            ("<!-- two\nlines -->\na\n", load(1, 2)),
            ("a <!-- inline -->\n", load(1, 18)),
            ("<!-- c --> text\n", load(1, 16)),
            ("    <!-- code -->\n", load(1, 18)),
            ("<!-- never closed\na\n", load(2, 20)),
            ("```\n<!-- code -->\n```\n", load(3, 22)),
            ("~~~\n<!-- code -->\n", load(2, 18)),
        ] {
            assert_eq!(Load::measure(page.as_bytes()), expected, "{page:?}");
        }
    }

    #[test]
    fn a_page_of_230_lines_is_cut_at_200_with_the_warning() {
        let page: String = (1..=230).map(|i| format!("line {i}\n")).collect();
        let text = within_limit(page.as_bytes());
        let (prefix, warning) = text.split_at(text.find("> WARNING").unwrap());
        assert!(page.starts_with(prefix));
        assert_eq!(prefix.lines().count(), 200);
        assert_eq!(warning, "> WARNING: MEMORY.md is 230 lines (limit: 200)\n");
    }

    #[test]
    fn a_page_of_30_000_bytes_is_cut_at_a_line() {
        let page = format!("{}\n", "x".repeat(249)).repeat(120);
        let text = within_limit(page.as_bytes());
        assert_eq!(text.lines().count(), 101);
        assert!(text.ends_with("> WARNING: MEMORY.md is 30000 bytes (limit: 25000)\n"));
        let one_long_line = within_limit("x".repeat(25_001).as_bytes());
        assert_eq!(one_long_line, "> WARNING: MEMORY.md is 25001 bytes (limit: 25000)\n");
    }

    #[test]
    fn a_page_within_the_limit_is_given_whole_without_its_comments() {
        let page = format!("# Memory Index\n<!-- {} -->\n{}last", "c".repeat(99_999), "- x\n".repeat(198));
        assert_eq!(Load::measure(page.as_bytes()).lines, 200);
        assert_eq!(within_limit(page.as_bytes()), format!("# Memory Index\n{}last", "- x\n".repeat(198)));
    }

    #[test]
    fn broken_utf_8_does_not_break_the_byte_limit() {
        let page = [&[0xff; 99][..], b"\n"].concat().repeat(150);
        let text = within_limit(&page);
        assert!(text.find("> WARNING").unwrap() <= LIMIT.bytes);
    }

    #[test]
    fn the_message_names_the_count_the_limit_and_the_goal() {
        assert_eq!(over_limit_message(load(200, 25_000)), None);
        let lines = over_limit_message(load(214, 26_000)).unwrap();
        assert!(lines.contains("214") && lines.contains("200") && lines.contains("under 140 lines"));
        let bytes = over_limit_message(load(100, 26_000)).unwrap();
        assert!(bytes.contains("26000") && bytes.contains("25000") && bytes.contains("under 140 lines"));
    }
}
