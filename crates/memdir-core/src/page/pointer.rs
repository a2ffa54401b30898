//! One line of the index: `- [Title](file.md) — hook`.
//!
//! We write exactly that form, at most [`MAX_LINE`] characters long. We read more: other bullets, other
//! separators, links in angle brackets or with plain spaces, a missing hook. A link inside a sentence is not a
//! pointer but somebody's text. Characters of a path that would end the link are written percent-encoded, since
//! the form `<a b.md>` would not end in `.md)`; both forms are read.

use unicode_normalization::UnicodeNormalization;
use unicode_width::UnicodeWidthChar;

use crate::memory::MemoryPath;
use crate::text::visible_line;

/// How many characters a line of the index has at most.
pub const MAX_LINE: usize = 150;
/// What is left of title and hook even where the path alone fills a line.
const MIN_TITLE: usize = 20;
const MIN_HOOK: usize = 30;

/// A line that points to a memory.
#[derive(Debug, Clone)]
pub(super) struct Pointer {
    pub(super) title: String,
    pub(super) hook: String,
    /// What the link may mean, likeliest first.
    targets: Vec<MemoryPath>,
    /// Whether the line is one that we would have been willing to write.
    pub(super) canonical: bool,
}

/// A line as we write it, without its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) text: String,
    /// Whether title or hook had to be cut.
    pub(super) shortened: bool,
}

impl Pointer {
    /// Reads a line; `None` if it is anything but a pointer.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let rest = strip_bullet(line)?;
        let (title, rest) = split_title(rest)?;
        let (target, rest) = split_target(rest)?;
        let hook = strip_separator(rest)?;
        let targets = targets(target);
        if targets.is_empty() {
            return None;
        }
        let as_written = format!("- [{title}]({target}) — {hook}") == line;
        let filled = !title.is_empty() && !hook.is_empty();
        let canonical = as_written && filled && !target.contains(' ') && is_fit_to_show(line);
        Some(Self { title: unescape(title), hook: hook.to_owned(), targets, canonical })
    }

    /// Returns the memory that the line points to, if there is one.
    pub(super) fn resolve(&self, exists: impl Fn(&MemoryPath) -> bool) -> Option<&MemoryPath> {
        self.targets.iter().find(|path| exists(path))
    }

    /// Returns every memory that the line may mean.
    pub(super) fn into_targets(self) -> Vec<MemoryPath> {
        self.targets
    }

    /// Returns the path the line names, whether or not there is such a memory.
    pub(super) fn path(&self) -> &MemoryPath {
        &self.targets[0]
    }
}

/// Returns the line that a memory gets by what it says itself, without a line end.
pub fn pointer_line(title: &str, path: &MemoryPath, hook: &str) -> String {
    write(title, path, hook).text
}

/// Writes the line for a memory. Text that would break the line is made harmless, text that is too long is cut.
pub(super) fn write(title: &str, path: &MemoryPath, hook: &str) -> Written {
    let title = Some(one_line(title)).filter(|title| !title.is_empty()).unwrap_or(one_line(path.stem()));
    let hook = Some(one_line(hook)).filter(|hook| !hook.is_empty()).unwrap_or("no description".to_owned());
    let link = percent_encode(path.as_str());
    let compose = |title: &str, hook: &str| format!("- [{}]({link}) — {hook}", escape(title));

    let text = compose(&title, &hook);
    let too_long = text.chars().count().saturating_sub(MAX_LINE);
    if too_long == 0 {
        return Written { text, shortened: false };
    }
    // The hook pays first: a title names the thing. Only where that is not enough is the title cut too.
    let (title_len, hook_len) = (title.chars().map(escaped_len).sum::<usize>(), hook.chars().count());
    let hook_room = hook_len.saturating_sub(too_long).max(MIN_HOOK);
    let saved = hook_len.saturating_sub(hook_room);
    let title_room = title_len.saturating_sub(too_long - saved.min(too_long)).max(MIN_TITLE);
    let text = compose(&cut(&title, title_room, escaped_len), &cut(&hook, hook_room, |_| 1));
    Written { text, shortened: true }
}

/// Whether a line is short enough and holds nothing that misleads its reader.
fn is_fit_to_show(line: &str) -> bool {
    line.chars().count() <= MAX_LINE && visible_line(line) == line
}

/// Strips `- ` or a like bullet, indented by at most three spaces.
fn strip_bullet(line: &str) -> Option<&str> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let after = line[indent..].strip_prefix(['-', '*', '+'])?;
    let rest = after.trim_start_matches(' ');
    (indent <= 3 && rest.len() < after.len()).then_some(rest)
}

/// Splits `[title]` off. Brackets inside are paired or escaped.
fn split_title(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let end = closing(inner, '[', ']')?;
    Some((inner[..end].trim(), &inner[end + 1..]))
}

/// Splits `(target)` or `(<target>)` off.
fn split_target(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('(')?;
    if let Some(angled) = inner.strip_prefix('<') {
        return angled.split_once(">)");
    }
    let end = closing(inner, '(', ')')?;
    Some((inner[..end].trim(), &inner[end + 1..]))
}

/// Finds the bracket that closes the one already opened before `text`.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == open {
            depth += 1;
        } else if c == close {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
    }
    None
}

/// Strips what stands between link and hook: a dash or a colon. Nothing at all is a pointer without a hook.
fn strip_separator(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    if rest.is_empty() {
        return Some(rest);
    }
    let after = |dash: &&str| Some((rest.strip_prefix(*dash)?, matches!(*dash, "—" | "–")));
    let (after, is_long_dash) = ["—", "–", "--", "-", ":"].iter().find_map(after)?;
    let hook = after.trim_start();
    (is_long_dash || hook.is_empty() || hook.len() < after.len()).then_some(hook)
}

/// Lists the paths that a link may mean: percent-encoded as we write it, or plain as people do.
fn targets(link: &str) -> Vec<MemoryPath> {
    let link = link.strip_prefix("./").unwrap_or(link);
    let decoded = percent_decode(link);
    let plain = Some(link.to_owned()).filter(|plain| decoded.as_ref() != Some(plain));
    let normal = |text: String| text.nfc().collect::<String>();
    [decoded, plain].into_iter().flatten().filter_map(|text| MemoryPath::new(&normal(text)).ok()).collect()
}

fn percent_encode(path: &str) -> String {
    let mut link = String::with_capacity(path.len());
    for c in path.chars() {
        let breaks_link =
            c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '%' | '#' | '?' | '[' | ']');
        let mut utf8 = [0; 4];
        let text = c.encode_utf8(&mut utf8);
        if breaks_link || visible_line(text) != *text {
            text.bytes().for_each(|byte| link.push_str(&format!("%{byte:02X}")));
        } else {
            link.push(c);
        }
    }
    link
}

/// Undoes [`percent_encode`]; `None` if the result is not text.
fn percent_decode(link: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(link.len());
    let mut rest = link;
    while let Some((plain, tail)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        let digits = tail.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// Brings text onto one line and shows what would otherwise be invisible in it. What lies far beyond the end of
/// any line is left out at once: it would be cut off, and a body may have been passed for a hook.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(2 * MAX_LINE));
        if line.len() > 8 * MAX_LINE {
            break;
        }
    }
    visible_line(&line).into_owned()
}

fn escape(title: &str) -> String {
    let mut escaped = String::with_capacity(title.len());
    for c in title.chars() {
        if escaped_len(c) > 1 {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn unescape(title: &str) -> String {
    let mut text = String::with_capacity(title.len());
    let mut chars = title.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.next_if(|next| c == '\\' && escaped_len(*next) > 1);
        text.push(next.unwrap_or(c));
    }
    text
}

/// How many characters `c` takes in a title.
fn escaped_len(c: char) -> usize {
    if matches!(c, '[' | ']' | '\\') { 2 } else { 1 }
}

/// Cuts `text` to `room` characters, at a word where one ends in the second half, and marks the cut.
fn cut(text: &str, room: usize, len: impl Fn(char) -> usize) -> String {
    if text.chars().map(&len).sum::<usize>() <= room {
        return text.to_owned();
    }
    let mut used = 1; // the ellipsis
    let mut end = 0;
    for (at, c) in text.char_indices() {
        // A mark belongs to the letter before it: a cut between them would change the letter.
        if c.width() != Some(0) {
            end = at;
        }
        used += len(c);
        if used > room {
            break;
        }
    }
    let at_word = text[..end].rfind(' ').filter(|&word| word * 2 > end && !text[end..].starts_with(' '));
    let kept = text[..at_word.unwrap_or(end)].trim_end_matches([' ', ',', ';', ':', '.', '-', '—', '…']);
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> MemoryPath {
        MemoryPath::new(text).unwrap()
    }

    fn read(line: &str) -> Option<(String, String, String)> {
        let pointer = Pointer::parse(line)?;
        Some((pointer.title.clone(), pointer.path().to_string(), pointer.hook))
    }

    /// `^- \[.+\]\(.+\.md\) — .+$`
    fn follows_the_grammar(line: &str) -> bool {
        let Some(rest) = line.strip_prefix("- [") else { return false };
        let Some((link, hook)) = rest.rsplit_once(".md) — ").or(rest.split_once(".md) — ")) else {
            return false;
        };
        let Some((title, file)) = link.split_once("](") else { return false };
        !title.is_empty() && !file.is_empty() && !hook.is_empty() && !line.contains(['\n', '\r'])
    }

    #[test]
    fn many_forms_are_read_as_the_same_pointer() {
        for line in [
            "- [T](a.md) — h",
            "* [T](a.md) — h",
            "+ [T](a.md) — h",
            "  - [T](a.md) — h  ",
            "-   [T](a.md)   —   h",
            "- [T](a.md): h",
            "- [T](a.md) : h",
            "- [T](a.md) - h",
            "- [T](a.md) -- h",
            "- [T](a.md) – h",
            "- [T](a.md)—h",
            "- [T](./a.md) — h",
            "- [T](<a.md>) — h",
            "- [ T ]( a.md ) — h",
            "- [T](%61.md) — h",
        ] {
            assert_eq!(read(line), Some(("T".into(), "a.md".into(), "h".into())), "{line}");
        }
        assert_eq!(read("- [T](a.md)"), Some(("T".into(), "a.md".into(), String::new())));
        assert_eq!(read("- [a [b] c](x/y.md) — h").unwrap().0, "a [b] c");
        assert_eq!(read(r"- [a \[ \] \\ c](x.md) — h").unwrap().0, r"a [ ] \ c");
        assert_eq!(read("- [T](my file (1).md) — h").unwrap().1, "my file (1).md");
    }

    #[test]
    fn text_that_merely_holds_a_link_is_not_a_pointer() {
        for line in [
            "",
            "- ",
            "[T](a.md) — h",
            "-[T](a.md) — h",
            "- see [T](a.md) — h",
            "- [T](a.md) holds the rest",
            "- [T](a.md)-h",
            "- [T](a.md) (old)",
            "- [T](https://example.com/a.md) — h",
            "- [T](../a.md) — h",
            "- [T](MEMORY.md) — h",
            "- [T](a.txt) — h",
            "- [T](a.md#part) — h",
            "- [T](a.md \"tip\") — h",
            "- [T] (a.md) — h",
            "- [T(a.md) — h",
            "    - [T](a.md) — h",
            "- 5 more: memdir search <words>",
        ] {
            assert!(Pointer::parse(line).is_none(), "{line}");
        }
    }

    #[test]
    fn only_lines_that_we_would_write_are_canonical() {
        let long = format!("- [T](a.md) — {}", "x".repeat(137));
        assert_eq!(long.chars().count(), 151);
        for (line, canonical) in [
            ("- [T](a.md) — h", true),
            ("- [T](./a.md) — h", true),
            ("- [T](a%20b.md) — h", true),
            ("- [T](a b.md) — h", false),
            ("- [T](<a.md>) — h", false),
            ("* [T](a.md) — h", false),
            ("- [T](a.md): h", false),
            ("- [T](a.md)", false),
            ("- [](a.md) — h", false),
            ("- [T](a.md) — h\u{202e}", false),
            ("- [T](a.md) — \x1b[31m", false),
            (&long, false),
            (&long[..long.len() - 1], true),
        ] {
            assert_eq!(Pointer::parse(line).unwrap().canonical, canonical, "{line}");
        }
    }

    #[test]
    fn hostile_words_cannot_leave_their_line() {
        for (title, hook, expected) in [
            ("a\nb", "c\r\nd", "- [a b](x.md) — c d"),
            ("a](evil.md) — b", "c", r"- [a\](evil.md) — b](x.md) — c"),
            ("", "", "- [x](x.md) — no description"),
            ("\x1b[2J", "\u{202e}h", r"- [\\x1b\[2J](x.md) — \u{202e}h"),
            ("t", "<!-- memdir:end -->", "- [t](x.md) — <!-- memdir:end -->"),
        ] {
            let line = write(title, &path("x.md"), hook).text;
            assert_eq!(line, expected);
            assert_eq!(read(&line).unwrap().1, "x.md", "{line}");
        }
    }

    #[test]
    fn long_lines_are_cut_at_a_word() {
        let hook = "the mocked tests passed while the migration failed in production and ".repeat(3);
        let line = write("Integration tests use a real DB", &path("feedback-real-db.md"), &hook);
        assert!(line.shortened && line.text.chars().count() <= MAX_LINE);
        assert_eq!(
            line.text,
            "- [Integration tests use a real DB](feedback-real-db.md) — the mocked tests passed while the \
             migration failed in production and the mocked tests…"
        );
        let title = "a very long title that goes on and on ".repeat(9);
        let line = write(&title, &path("x.md"), &hook).text;
        assert!(line.chars().count() <= MAX_LINE && line.matches('…').count() == 2, "{line}");
        let cjk = write("題", &path("x.md"), &"測試".repeat(200)).text;
        assert_eq!(cjk.chars().count(), MAX_LINE);
    }

    #[test]
    fn a_path_longer_than_a_line_is_still_written_whole() {
        let long = path(&format!("{}.md", "p".repeat(300)));
        let hook = "some words that would be cut down to their very first ones";
        let line = write("a title longer than twenty characters", &long, hook);
        assert!(line.shortened && line.text.contains(long.as_str()));
        let again = Pointer::parse(&line.text).unwrap();
        assert_eq!(write(&again.title, &long, &again.hook).text, line.text);
    }

    proptest! {
        #[test]
        fn what_we_write_we_read_back(title in any::<String>(), hook in any::<String>(), name in "[^/\\\\:.\\p{C}]{1,30}") {
            let name: String = name.nfc().collect();
            let Ok(path) = MemoryPath::new(&format!("{name}.md")) else { return Ok(()) };
            let line = write(&title, &path, &hook).text;
            prop_assert!(follows_the_grammar(&line), "{}", line);
            let pointer = Pointer::parse(&line).unwrap();
            prop_assert_eq!(pointer.resolve(|candidate| *candidate == path), Some(&path));
            prop_assert_eq!(pointer.path(), &path);
            prop_assert_eq!(write(&pointer.title, &path, &pointer.hook).text, line.as_str());
            prop_assert!(pointer.canonical || line.chars().count() > MAX_LINE, "{}", line);
        }

        #[test]
        fn any_line_is_read_without_a_panic(line in any::<String>()) {
            let _ = Pointer::parse(&line);
            let _ = Pointer::parse(&format!("- [{line}]({line}.md) — {line}"));
        }
    }
}
