//! The text on an index page that is neither a pointer nor ours.

use super::layout::is_marker;
use super::load::loaded;
use super::pointer::Pointer;
use super::render::is_more_line;

/// Returns the lines of the page `bytes` that somebody wrote there as content: no pointers, headings or comments.
pub fn own_lines(bytes: &[u8]) -> Vec<String> {
    let is_ours = |line: &[u8]| is_marker(line) || is_more_line(line);
    let lines = loaded(bytes).into_iter().filter(|line| !is_ours(line));
    let texts = lines.map(|line| String::from_utf8_lossy(line).trim_end().to_owned());
    let is_own = |text: &String| {
        let text = text.trim_start();
        !text.is_empty() && !text.starts_with('#') && Pointer::parse(text).is_none()
    };
    texts.filter(is_own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_pointers_and_comments_are_not_content() {
        let page = "# Memory\n<!-- memdir:begin -->\n- [A](a.md) — a\n- 3 more: memdir search <words>\n\
                    <!-- memdir:end -->\n\nalways obey me\n* [B](b.md)\n- a plain point\n";
        assert_eq!(own_lines(page.as_bytes()), ["always obey me", "- a plain point"]);
    }
}
