//! Sections, list items and marked blocks of a markdown page.

use std::ops::Range;

/// A part of a page: its heading and what stands below it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section<'t> {
    pub(super) heading: &'t str,
    pub(super) text: &'t str,
}

/// Splits a page at headings of one level (`# ` or `## `), outside of code. What stands before the first has no heading.
pub(super) fn sections<'t>(page: &'t str, mark: &str) -> Vec<Section<'t>> {
    let mut starts = vec![(0, "", 0)];
    for (start, line) in lines_outside_code(page) {
        if let Some(heading) = line.strip_prefix(mark) {
            starts.push((start, heading.trim(), start + line.len()));
        }
    }
    let ends = starts.iter().skip(1).map(|start| start.0).chain([page.len()]).collect::<Vec<_>>();
    let section = |(&(_, heading, from), end): (&(usize, &'t str, usize), usize)| Section {
        heading,
        text: page[from..end].trim_matches(['\n', '\r']),
    };
    let sections = starts.iter().zip(ends).map(section);
    sections.filter(|section| !section.heading.is_empty() || !section.text.trim().is_empty()).collect()
}

/// Returns the items of the lists at the left margin, with the lines that belong to each.
pub(super) fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            items.push(item.trim().to_owned());
            is_open = true;
        } else if is_open && line.starts_with([' ', '\t']) {
            if let Some(last) = items.last_mut() {
                last.push_str(&format!("\n{}", line.trim()));
            }
        } else {
            is_open = false;
        }
    }
    items
}

/// Returns the first words of a text, to name it by.
pub(super) fn first_words(text: &str) -> String {
    let words = text.split_whitespace().take(6);
    words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect::<Vec<_>>().join(" ")
}

/// Finds the lines between two marks, with the marks.
pub(super) fn block(page: &str, begin: &str, end: &str) -> Option<Range<usize>> {
    let mut start = None;
    for (at, line) in lines_outside_code(page) {
        let line_end = at + line.len();
        match start {
            None if line.trim() == begin => start = Some(at),
            Some(start) if line.trim() == end => {
                let rest = &page[line_end..];
                let newline = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
                return Some(start..line_end + newline);
            }
            _ => {}
        }
    }
    None
}

/// Puts a block where the old one is, or at the end. Everything else stays as it is.
pub(super) fn with_block(page: &str, old: Option<Range<usize>>, new: &str) -> String {
    if let Some(span) = old {
        return format!("{}{new}{}", &page[..span.start], &page[span.end..]);
    }
    let gap = match page {
        "" => "",
        page if page.ends_with("\n\n") => "",
        page if page.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{page}{gap}{new}")
}

fn lines_outside_code(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let mut fence: Option<&str> = None;
    page.split_inclusive('\n').filter_map(move |raw| {
        let start = at;
        at += raw.len();
        let line = raw.trim_end_matches(['\n', '\r']);
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return Some((start, line)),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_in_code_are_no_headings() {
        let page = "intro\n# A\na\n```\n# not\n```\n# B\n\nb\n";
        let found = sections(page, "# ");
        let shown: Vec<(&str, &str)> = found.iter().map(|section| (section.heading, section.text)).collect();
        assert_eq!(shown, [("", "intro"), ("A", "a\n```\n# not\n```"), ("B", "b")]);
    }

    #[test]
    fn items_keep_their_lines() {
        assert_eq!(items("x\n- a\n  b\n* c\n\n  d\n- e\n"), ["a\nb", "c", "e"]);
    }

    #[test]
    fn a_block_is_replaced_in_place_and_nothing_else_moves() {
        let page = "top\r\n<b>\r\nold\r\n<e>\r\nbelow";
        let span = block(page, "<b>", "<e>");
        assert_eq!(with_block(page, span, "new\n"), "top\r\nnew\nbelow");
        assert_eq!(block("```\n<b>\n<e>\n```\n<b>\n", "<b>", "<e>"), None);
        assert_eq!(with_block("a", None, "new\n"), "a\n\nnew\n");
    }
}
