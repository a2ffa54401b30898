//! What the body of a memory is made of: its sections, its observations, and which parts of it are code.

use std::ops::Range;

/// The parts of a feedback or project body. Both dialects count: `**Why:**` and plain `Rule:` / `Why:`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sections<'a> {
    /// The rule or fact: the first paragraph.
    pub lead: &'a str,
    /// Why it holds.
    pub why: Option<&'a str>,
    /// When and how to follow it.
    pub how_to_apply: Option<&'a str>,
}

/// Finds the sections of a body.
pub fn sections(body: &str) -> Sections<'_> {
    let labels = labels(body);
    let text_of = |label: Label| {
        let i = labels.iter().position(|found| found.label == label)?;
        let end = labels.get(i + 1).map_or(body.len(), |next| next.line_start);
        Some(body[labels[i].text_start..end].trim())
    };
    let before_labels = &body[..labels.first().map_or(body.len(), |label| label.line_start)];
    let lead = text_of(Label::Rule).unwrap_or_else(|| first_paragraph(before_labels));
    Sections { lead, why: text_of(Label::Why), how_to_apply: text_of(Label::HowToApply) }
}

/// A fact written as `- [category] text #tag`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation<'a> {
    /// What kind of fact it is.
    pub category: &'a str,
    /// The fact, tags included.
    pub text: &'a str,
    /// The words after `#`.
    pub tags: Vec<&'a str>,
}

/// Finds the observations of a body. Task boxes and links are none.
pub fn observations(body: &str) -> Vec<Observation<'_>> {
    let code = code_ranges(body.as_bytes());
    let lines = lines(body).filter(|(start, _)| !is_inside(&code, *start));
    lines.filter_map(|(_, line)| observation(line)).collect()
}

fn observation(line: &str) -> Option<Observation<'_>> {
    let (category, text) = bullet(line)?.strip_prefix('[')?.split_once("] ")?;
    let is_task = matches!(category.trim(), "" | "x" | "X" | "-");
    if is_task || category.contains(['[', ']']) {
        return None;
    }
    let text = text.trim();
    let tag = |word: &'_ str| -> Option<(usize, usize)> {
        let name = word.strip_prefix('#')?.trim_end_matches([',', '.', ';', ')']);
        let start = word.as_ptr() as usize - text.as_ptr() as usize + 1;
        (!name.is_empty() && !name.starts_with('#')).then_some((start, start + name.len()))
    };
    let tags = text.split_whitespace().filter_map(tag).map(|(start, end)| &text[start..end]).collect();
    Some(Observation { category, text, tags })
}

/// Returns what follows a list bullet.
pub(super) fn bullet(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix(['-', '*', '+'])?.strip_prefix(' ')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Rule,
    Why,
    HowToApply,
}

/// A label and where its line and its text begin.
struct FoundLabel {
    label: Label,
    line_start: usize,
    text_start: usize,
}

fn labels(body: &str) -> Vec<FoundLabel> {
    let code = code_ranges(body.as_bytes());
    let outside = lines(body).filter(|(start, _)| !is_inside(&code, *start));
    outside
        .filter_map(|(line_start, line)| {
            let (label, rest) = label(line)?;
            Some(FoundLabel { label, line_start, text_start: line_start + line.len() - rest.len() })
        })
        .collect()
}

/// Recognises `**Why:** …`, `**Why**: …`, `Why: …`, `- Why: …` and `## Why`.
fn label(line: &str) -> Option<(Label, &str)> {
    const WORDS: [(&str, Label); 3] =
        [("how to apply", Label::HowToApply), ("why", Label::Why), ("rule", Label::Rule)];
    let heading = line.trim_start_matches('#');
    let is_heading = heading.len() < line.len();
    let line = bullet(line).unwrap_or(heading).trim_start().trim_start_matches(['*', '_']);
    let (word, label) = WORDS
        .iter()
        .find(|(word, _)| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))?;
    let rest = &line[word.len()..];
    let after_stars = rest.trim_start_matches(['*', '_']);
    match after_stars.strip_prefix(':') {
        Some(rest) => Some((*label, rest.trim_start_matches(['*', '_']))),
        None if is_heading && after_stars.trim().is_empty() => Some((*label, after_stars)),
        None => None,
    }
}

fn first_paragraph(text: &str) -> &str {
    let text = text.trim_start();
    let mut end = 0;
    for (start, line) in lines(text) {
        if line.trim().is_empty() {
            break;
        }
        end = start + line.len();
    }
    text[..end].trim_end()
}

/// Returns the lines with their offsets, without line breaks.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let this = start;
        start += line.len();
        (this, line.trim_end_matches(['\n', '\r']))
    })
}

/// Finds fenced code blocks and code spans, in order.
pub(super) fn code_ranges(body: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut paragraph = 0..0;
    let mut fence: Option<Fence> = None;
    let mut start = 0;
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        let end = start + line.len();
        match (&fence, Fence::on(line, start)) {
            (Some(open), Some(close)) if close.closes(open) => {
                ranges.push(open.start..end);
                fence = None;
                paragraph = end..end;
            }
            (Some(_), _) => {}
            (None, Some(open)) => {
                code_spans(body, paragraph.clone(), &mut ranges);
                fence = Some(open);
            }
            (None, None) if line.trim_ascii().is_empty() => {
                code_spans(body, paragraph.clone(), &mut ranges);
                paragraph = end..end;
            }
            (None, None) => paragraph.end = end,
        }
        start = end;
    }
    match fence {
        Some(open) => ranges.push(open.start..body.len()),
        None => code_spans(body, paragraph, &mut ranges),
    }
    ranges
}

/// Says whether a byte is inside one of the ordered ranges.
fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    let i = ranges.partition_point(|range| range.end <= at);
    ranges.get(i).is_some_and(|range| range.start <= at)
}

/// A line of three or more backticks or tildes.
struct Fence {
    start: usize,
    sign: u8,
    n_signs: usize,
    is_bare: bool,
}

impl Fence {
    fn on(line: &[u8], start: usize) -> Option<Self> {
        // Quotes and list items may hold a fence, so indentation and `>` do not count.
        let n_indent = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
        let rest = &line[n_indent..];
        let sign = *rest.first().filter(|sign| matches!(sign, b'`' | b'~'))?;
        let n_signs = rest.iter().take_while(|&&byte| byte == sign).count();
        let info = rest[n_signs..].trim_ascii();
        let is_fence = n_signs >= 3 && !(sign == b'`' && info.contains(&b'`'));
        is_fence.then_some(Self { start, sign, n_signs, is_bare: info.is_empty() })
    }

    fn closes(&self, open: &Self) -> bool {
        self.sign == open.sign && self.n_signs >= open.n_signs && self.is_bare
    }
}

/// Finds the code spans of a paragraph: a run of backticks up to the next run of the same length.
fn code_spans(body: &[u8], paragraph: Range<usize>, ranges: &mut Vec<Range<usize>>) {
    let runs = backtick_runs(body, paragraph);
    if runs.len() < 2 {
        return;
    }
    // Knowing the last run of each length keeps this linear for hostile text.
    let longest = runs.iter().map(Range::len).max().unwrap_or_default();
    let mut last = vec![0; longest + 1];
    for (i, run) in runs.iter().enumerate() {
        last[run.len()] = i;
    }
    let mut i = 0;
    while i < runs.len() {
        let n = runs[i].len();
        if last[n] <= i {
            i += 1;
            continue;
        }
        let close = (i + 1..runs.len()).find(|&j| runs[j].len() == n).unwrap_or(i);
        ranges.push(runs[i].start..runs[close].end);
        i = close + 1;
    }
}

fn backtick_runs(body: &[u8], paragraph: Range<usize>) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut i = paragraph.start;
    while i < paragraph.end {
        match body[i] {
            b'\\' => i += 2,
            b'`' => {
                let n = body[i..paragraph.end].iter().take_while(|&&byte| byte == b'`').count();
                runs.push(i..i + n);
                i += n;
            }
            _ => i += 1,
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_dialects_have_the_same_sections() {
        let bodies = [
            "Use a real database.\n\n**Why:** mocks lied.\n\n**How to apply:** in tests/.\nAlways.\n",
            "Rule: Use a real database.\nWhy: mocks lied.\nHow to apply: in tests/.\nAlways.\n",
            "Use a real database.\r\n\r\n## Why\r\nmocks lied.\r\n\r\n## How to apply\r\nin tests/.\nAlways.",
            "Use a real database.\n\n- **Why**: mocks lied.\n- **HOW TO APPLY**: in tests/.\nAlways.",
        ];
        for body in bodies {
            let expected = Sections {
                lead: "Use a real database.",
                why: Some("mocks lied."),
                how_to_apply: Some("in tests/.\nAlways."),
            };
            assert_eq!(sections(body), expected, "{body}");
        }
    }

    #[test]
    fn words_in_code_or_prose_are_no_labels() {
        let body = "The rule is short.\nWhy not?\n\n```\nWhy: code\n```\n";
        let found = sections(body);
        assert_eq!((found.lead, found.why), ("The rule is short.\nWhy not?", None));
        assert_eq!(sections(""), Sections::default());
    }

    #[test]
    fn observations_are_not_tasks_or_links() {
        let body = "- [decision] Use JWT #auth #security\n- [ ] task\n- [x] done\n- [t](a.md) b\n\
                    * [gotcha] no tags here\n```\n- [code] x\n```\n";
        let found: Vec<_> = observations(body).into_iter().map(|o| (o.category, o.text, o.tags)).collect();
        assert_eq!(
            found,
            [
                ("decision", "Use JWT #auth #security", vec!["auth", "security"]),
                ("gotcha", "no tags here", vec![]),
            ]
        );
    }

    #[test]
    fn code_is_found_in_fences_and_spans() {
        let code = |body: &str| -> Vec<String> {
            code_ranges(body.as_bytes()).into_iter().map(|range| body[range].to_owned()).collect()
        };
        assert_eq!(code("a `b` c ``d ` e`` `f"), ["`b`", "``d ` e``"]);
        assert_eq!(code("`a\n\nb`"), [] as [&str; 0]);
        assert_eq!(code("```rust\nx\n```\ny\n"), ["```rust\nx\n```\n"]);
        assert_eq!(code("~~~~\nx\n~~~\ny"), ["~~~~\nx\n~~~\ny"]);
        assert_eq!(code("> ```\n> x\n> ```\n"), ["> ```\n> x\n> ```\n"]);
        assert_eq!(code(r"\`a` b"), [] as [&str; 0]);
    }
}
