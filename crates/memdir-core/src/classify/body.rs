//! The shape of a body: the rule or fact first, then why, then how to apply it.

use crate::statement::{Gist, Part};

/// A body taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Body {
    /// The first sentence: what the memory is about.
    pub(super) point: String,
    /// The rule or fact with everything that is neither reason nor application.
    fact: String,
    /// The stated reason.
    pub(super) why: String,
    /// The stated application.
    pub(super) how: String,
}

/// Words before a reason inside a sentence, each with what must stand before it.
const BECAUSE: &[&str] = &[
    " because ",
    ", since ",
    " since we ",
    " since the ",
    " due to ",
    " so that ",
    ", as we ",
    ", as the ",
    ", as it ",
    " — because ",
    " - because ",
    ", weil ",
    ", da ",
    ", denn ",
    " wegen ",
    ", damit ",
    " aufgrund ",
];

/// Words with which a sentence that is a reason begins.
const REASONS: &[&str] = &[
    "because ",
    "the reason",
    "reason:",
    "that's because",
    "that is because",
    "this is because",
    "we got burned",
    "we were burned",
    "der grund",
    "grund:",
    "grund dafür",
    "hintergrund",
    "weil ",
    "das liegt daran",
    "이유는",
    "이유:",
    "왜냐하면",
    "때문",
    "배경은",
];

/// Words with which a sentence begins that says when something counts.
const APPLIES: &[&str] = &[
    "applies ",
    "apply ",
    "this applies",
    "that applies",
    "it applies",
    "this goes for",
    "that goes for",
    "only when ",
    "only for ",
    "whenever ",
    "gilt ",
    "das gilt",
    "dies gilt",
    "betrifft ",
    "nur wenn ",
    "nur bei ",
    "immer wenn ",
    "적용",
    "이건 ",
    "해당",
];

impl Body {
    /// Takes a text apart.
    pub(super) fn of(text: &str, gist: &Gist<'_>) -> Self {
        let mut body = Self::default();
        let mut end = 0;
        let first = gist
            .parts
            .iter()
            .position(|(part, _)| !matches!(part.part, Part::Heading | Part::Why | Part::HowToApply));
        for (at, (statement, _)) in gist.parts.iter().enumerate() {
            let lower = statement.text.to_lowercase();
            let begins = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
            let whole = Some(at) != first;
            match statement.part {
                Part::Why => join(&mut body.why, statement.text),
                Part::HowToApply => join(&mut body.how, statement.text),
                _ if whole && begins(REASONS) => join(&mut body.why, statement.text),
                _ if whole && begins(APPLIES) => join(&mut body.how, statement.text),
                _ => {
                    body.keep(text, end, statement.range.start, statement.text);
                    if Some(at) == first {
                        body.point = statement.text.to_owned();
                    }
                }
            }
            end = statement.range.end;
        }
        if body.why.is_empty() {
            body.cut_reason();
        }
        if body.point.is_empty() {
            body.point = text.lines().next().unwrap_or_default().trim().to_owned();
            body.fact = text.to_owned();
        }
        body
    }

    /// Keeps a sentence with what stood before it: line breaks, list marks, code.
    fn keep(&mut self, text: &str, from: usize, to: usize, sentence: &str) {
        let between = text[from..to].trim_start_matches([' ', '\t']);
        let label = between.contains("Why") || between.contains("How");
        if self.fact.is_empty() {
            self.fact.push_str(between.trim_start());
        } else if between.is_empty() || label {
            self.fact.push(' ');
        } else {
            self.fact.push_str(between);
        }
        self.fact.push_str(sentence);
    }

    /// A reason inside the point moves to its own paragraph, if something is left on both sides.
    fn cut_reason(&mut self) {
        let lower = self.point.to_lowercase();
        if lower.len() != self.point.len() {
            return;
        }
        let found = BECAUSE.iter().filter_map(|word| lower.find(word).map(|at| (at, word.len()))).min();
        let Some((at, length)) = found else { return };
        let (fact, reason) =
            (self.point[..at].trim_end_matches([',', ' ', '—', '-']), &self.point[at + length..]);
        let words = |text: &str| text.split_whitespace().count();
        if words(fact) < 2 || words(reason) < 2 || fact.contains('`') && fact.matches('`').count() % 2 == 1 {
            return;
        }
        let connective = self.point[at..at + length].trim_matches([' ', ',', '—', '-']);
        self.why = if matches!(connective, "because" | "since" | "weil" | "da" | "denn" | "as") {
            reason.to_owned()
        } else {
            format!("{connective} {reason}")
        };
        let fact = format!("{fact}.");
        self.fact = self.fact.replacen(&self.point, &fact, 1);
        self.point = fact;
    }

    /// Writes it down.
    pub(super) fn render(&self, links: &[String]) -> String {
        let mut out = self.fact.trim().to_owned();
        if !self.why.is_empty() {
            out += &format!("\n\n**Why:** {}", self.why);
        }
        if !self.how.is_empty() {
            out += &format!("\n\n**How to apply:** {}", self.how);
        }
        let unlinked: Vec<String> = links
            .iter()
            .map(|name| format!("[[{name}]]"))
            .filter(|link| !out.contains(link.as_str()))
            .collect();
        if !unlinked.is_empty() {
            out += &format!("\n\nSee {}.", unlinked.join(", "));
        }
        out.push('\n');
        out
    }
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}
