//! Makes the relative dates of a proposed text absolute.
//!
//! "Next Friday" is true for a week; a memory is read for years. Only what an edit brings in is touched: a line that
//! the version before had already was said on another day.

use std::collections::BTreeSet;
use std::ops::Range;

use jiff::Zoned;

use crate::dates::{Settled, settle, settle_relative, settle_within};
use crate::memory::{Document, Value};

/// A text whose new dates are absolute.
#[derive(Debug)]
pub struct Dated {
    /// The text.
    pub document: Document,
    /// What became of which phrase, and what has to be asked, for the author.
    pub remarks: Vec<String>,
}

/// Makes the dates absolute that `document` brings in over `before`, as said at `now`.
pub fn with_absolute_dates(document: Document, before: Option<&Document>, now: &Zoned) -> Dated {
    let mut dated = Dated { document, remarks: Vec::new() };
    dated.settle_description(before, now);
    dated.settle_body(before, now);
    dated
}

/// Makes those dates of a memory absolute that count from the day it was said, `then`.
pub fn with_relative_dates_settled(document: Document, then: &Zoned) -> Dated {
    let mut dated = Dated { document, remarks: Vec::new() };
    if let Some(said) = dated.document.text("description") {
        let settled = settle_relative(said, then);
        if settled.text != said
            && let Ok(document) = dated.document.set("description", &Value::Text(settled.text))
        {
            dated.document = document;
        }
    }
    if let Ok(body) = std::str::from_utf8(dated.document.body()) {
        let settled = settle_relative(body, then);
        if settled.text != body
            && let Ok(document) = dated.document.with_body(settled.text.as_bytes())
        {
            dated.document = document;
        }
        dated.remark(&settled);
    }
    dated
}

impl Dated {
    fn settle_description(&mut self, before: Option<&Document>, now: &Zoned) {
        let Some(said) = self.document.text("description") else { return };
        if before.and_then(|before| before.text("description")) == Some(said) {
            return;
        }
        let settled = settle(said, now);
        if settled.text == said {
            return;
        }
        // A frontmatter that cannot be edited is refused by the gates; nothing is lost by leaving it.
        if let Ok(document) = self.document.set("description", &Value::Text(settled.text)) {
            self.document = document;
        }
    }

    fn settle_body(&mut self, before: Option<&Document>, now: &Zoned) {
        let Ok(body) = std::str::from_utf8(self.document.body()) else { return };
        let settled = match before {
            None => settle(body, now),
            Some(before) => settle_within(body, &new_lines(body, before.body()), now),
        };
        let edited = (settled.text != body).then(|| self.document.with_body(settled.text.as_bytes()));
        if let Some(Ok(document)) = edited {
            self.document = document;
        }
        self.remark(&settled);
    }

    fn remark(&mut self, settled: &Settled) {
        let changes =
            settled.changes.iter().map(|change| format!("`{}` is now {}", change.said, change.means));
        let questions = settled.questions.iter().map(ToString::to_string);
        self.remarks.extend(changes.chain(questions));
    }
}

/// Returns what `body` says in lines that `before` does not have.
pub(super) fn new_text(body: &str, before: &[u8]) -> String {
    new_lines(body, before).into_iter().map(|range| &body[range]).collect()
}

/// Returns the lines of `body` that `before` does not have.
fn new_lines(body: &str, before: &[u8]) -> Vec<Range<usize>> {
    let known: BTreeSet<&[u8]> = before.split(|byte| *byte == b'\n').collect();
    let mut at = 0;
    let mut ranges = Vec::new();
    for line in body.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        if !known.contains(line.trim_end_matches('\n').as_bytes()) {
            ranges.push(range);
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, before: Option<&str>, expected: Expect) {
        let parse = |text: &str| Document::parse(text.as_bytes());
        let now: Zoned = "2026-03-02T10:00:00+01:00[+01:00]".parse().unwrap();
        let before = before.map(parse);
        let dated = with_absolute_dates(parse(text), before.as_ref(), &now);
        let text = String::from_utf8_lossy(dated.document.bytes()).into_owned();
        expected.assert_eq(&format!("{text}{}", dated.remarks.join("\n")));
    }

    #[test]
    fn a_new_memory_says_when() {
        check(
            "---\nname: n\ndescription: freeze after Thursday\ntype: project\n---\n\nFreeze after Thursday, see 5/6.\n",
            None,
            expect![[r#"
                ---
                name: n
                description: freeze after 2026-03-05
                type: project
                ---

                Freeze after 2026-03-05, see 5/6.
                `Thursday` is now 2026-03-05"#]],
        );
    }

    #[test]
    fn what_was_said_on_another_day_is_left_alone() {
        check(
            "Release tomorrow.\nAnd tomorrow again.\n",
            Some("Release tomorrow.\n"),
            expect![[r#"
            Release tomorrow.
            And 2026-03-03 again.
            `tomorrow` is now 2026-03-03"#]],
        );
    }
}
