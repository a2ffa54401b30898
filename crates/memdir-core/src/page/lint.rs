//! What is wrong with an index page, for `doctor` and for whoever just edited it.
//!
//! [`lint`] only reports. Rendering the page repairs what is ours to repair; a pointer or a text outside the
//! block belongs to the user and is left to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::layout::{Layout, Shade, is_marker, shades};
use super::pointer::{MAX_LINE, Pointer};
use super::render::is_more_line;
use crate::memory::MemoryPath;

/// Something that is wrong with an index page. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageProblem {
    /// A pointer to a memory that does not exist.
    Dangling { line: usize, path: MemoryPath },
    /// A memory that the page does not name.
    Unindexed { path: MemoryPath },
    /// A second pointer to the same memory.
    Duplicate { line: usize, path: MemoryPath, first: usize },
    /// A pointer longer than [`MAX_LINE`].
    TooLong { line: usize, chars: usize },
    /// Content where only pointers belong: text in the block, or a pointer that goes on over several lines.
    Content { line: usize },
    /// A marker without its partner, or a second block.
    StrayMarker { line: usize },
}

impl fmt::Display for PageProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dangling { line, path } => {
                write!(f, "line {line} points to `{path}`, which does not exist")
            }
            Self::Unindexed { path } => write!(f, "`{path}` is not on the index page"),
            Self::Duplicate { line, path, first } => {
                write!(f, "line {line} points to `{path}` again, after line {first}")
            }
            Self::TooLong { line, chars } => {
                write!(f, "line {line} is {chars} characters long (limit: {MAX_LINE})")
            }
            Self::Content { line } => write!(f, "line {line} holds content: it belongs into a memory file"),
            Self::StrayMarker { line } => write!(f, "line {line} is a marker without its partner"),
        }
    }
}

/// Lists what is wrong with the page `bytes` of a vault that holds the memories `existing`.
pub fn lint(bytes: &[u8], existing: &BTreeSet<MemoryPath>) -> Vec<PageProblem> {
    let layout = Layout::of(bytes);
    let mut linter = Linter { existing, first: BTreeMap::new(), has_more_line: false, problems: Vec::new() };
    linter.outside(&layout.above, &shades(&layout.above), 1);
    let mut next = layout.above.len() + 1;
    if let Some(block) = &layout.block {
        linter.block(&block.lines, next + 1);
        next += block.lines.len() + 2;
    }
    linter.outside(&layout.below, &shades(&layout.below), next);
    linter.finish()
}

struct Linter<'a> {
    existing: &'a BTreeSet<MemoryPath>,
    /// The line that points to each memory.
    first: BTreeMap<MemoryPath, usize>,
    has_more_line: bool,
    problems: Vec<PageProblem>,
}

impl Linter<'_> {
    fn block(&mut self, lines: &[&[u8]], from: usize) {
        for (line, bytes) in (from..).zip(lines) {
            if self.is_more_line(bytes) || bytes.trim_ascii().is_empty() || self.pointer(line, bytes) {
                continue;
            }
            self.problems.push(PageProblem::Content { line });
        }
    }

    fn outside(&mut self, lines: &[&[u8]], shades: &[Shade], from: usize) {
        let mut after_pointer = false;
        for ((line, bytes), shade) in (from..).zip(lines).zip(shades) {
            if is_marker(bytes) && *shade != Shade::Fence {
                self.problems.push(PageProblem::StrayMarker { line });
            }
            if *shade != Shade::Open {
                after_pointer = false;
                continue;
            }
            let is_indented = bytes.starts_with(b"  ") || bytes.starts_with(b"\t");
            let is_pointer = self.is_more_line(bytes) || self.pointer(line, bytes);
            if after_pointer && is_indented && !is_pointer && !bytes.trim_ascii().is_empty() {
                self.problems.push(PageProblem::Content { line });
                continue;
            }
            after_pointer = is_pointer;
        }
    }

    fn is_more_line(&mut self, bytes: &[u8]) -> bool {
        let is_more = is_more_line(bytes);
        self.has_more_line |= is_more;
        is_more
    }

    /// Looks at a line as a pointer; `false` if it is none.
    fn pointer(&mut self, line: usize, bytes: &[u8]) -> bool {
        let Some((text, pointer)) =
            str::from_utf8(bytes).ok().and_then(|text| Some((text.trim_end(), Pointer::parse(text)?)))
        else {
            return false;
        };
        let chars = text.chars().count();
        if chars > MAX_LINE {
            self.problems.push(PageProblem::TooLong { line, chars });
        }
        let Some(path) = pointer.resolve(|path| self.existing.contains(path)) else {
            self.problems.push(PageProblem::Dangling { line, path: pointer.path().clone() });
            return true;
        };
        let first = *self.first.entry(path.clone()).or_insert(line);
        if first != line {
            self.problems.push(PageProblem::Duplicate { line, path: path.clone(), first });
        }
        true
    }

    fn finish(mut self) -> Vec<PageProblem> {
        if !self.has_more_line {
            let unnamed = self.existing.iter().filter(|path| !self.first.contains_key(*path));
            self.problems.extend(unnamed.map(|path| PageProblem::Unindexed { path: path.clone() }));
        }
        self.problems
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(page: &str, existing: &[&str], expected: Expect) {
        let existing = existing.iter().map(|path| MemoryPath::new(path).unwrap()).collect();
        let problems: Vec<String> =
            lint(page.as_bytes(), &existing).iter().map(|problem| format!("{problem}\n")).collect();
        expected.assert_eq(&problems.concat());
    }

    #[test]
    fn a_good_page_has_no_problems() {
        let page = "# Memory Index\n<!-- memdir:begin -->\n- [A](a.md) — a\n<!-- memdir:end -->\nmy notes\n  indented\n";
        check(page, &["a.md"], expect![""]);
        check("", &[], expect![""]);
    }

    #[test]
    fn pointers_are_checked_wherever_they_stand() {
        let page = "- [A](a.md) — a\n```\n- [N](no.md) — in a fence\n```\n<!-- memdir:begin -->\n- [A](a.md) — again\n\
                    - [Gone](gone.md) — g\n<!-- memdir:end -->\n* [Lost](lost.md)\n";
        check(
            page,
            &["a.md", "b.md"],
            expect![[r#"
            line 6 points to `a.md` again, after line 1
            line 7 points to `gone.md`, which does not exist
            line 9 points to `lost.md`, which does not exist
            `b.md` is not on the index page
        "#]],
        );
    }

    #[test]
    fn an_overflowing_page_need_not_name_every_memory() {
        let page =
            "<!-- memdir:begin -->\n- [A](a.md) — a\n- 1 more: memdir search <words>\n<!-- memdir:end -->\n";
        check(page, &["a.md", "b.md"], expect![""]);
    }

    #[test]
    fn content_in_the_index_is_reported() {
        let page = format!(
            "- [A](a.md) — a\n  goes on here\n  and here\n<!-- memdir:begin -->\n- [B](b.md) — {}\n  more\n## Head\n<!-- memdir:end -->\n",
            "x".repeat(200)
        );
        check(
            &page,
            &["a.md", "b.md"],
            expect![[r#"
            line 2 holds content: it belongs into a memory file
            line 3 holds content: it belongs into a memory file
            line 5 is 214 characters long (limit: 150)
            line 6 holds content: it belongs into a memory file
            line 7 holds content: it belongs into a memory file
        "#]],
        );
    }

    #[test]
    fn broken_markers_are_reported() {
        check(
            "<!-- memdir:end -->\n<!-- memdir:begin -->\nx\n",
            &[],
            expect![[r#"
            line 1 is a marker without its partner
            line 2 is a marker without its partner
        "#]],
        );
        let block = "<!-- memdir:begin -->\n<!-- memdir:end -->\n";
        check(
            &block.repeat(2),
            &[],
            expect![[r#"
            line 3 is a marker without its partner
            line 4 is a marker without its partner
        "#]],
        );
    }
}
