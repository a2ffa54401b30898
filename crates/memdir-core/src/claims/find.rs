//! Finds what a memory claims: in its evidence, its expiry, its description and its body.
//!
//! Paths, names, commits and branches are those that [`crate::worth::mentions`] finds; here it is decided which of
//! them are claims, and how firm. Options, tasks, addresses, versions and days are found here.

use std::ops::Range;

use super::manner::{Manner, manner};
use super::{Claim, ClaimKind, MAX_CLAIMS, Source, commands, numbers};
use crate::memory::{Document, Memory};
use crate::worth::{Mention, code_spans, has_shape_of_code, is_file_ending, mentions};

/// A longer body is no note; what stands behind is not looked at.
const MAX_TEXT: usize = 102_400;
/// Longest value of a claim, in bytes.
const MAX_VALUE: usize = 300;
/// Directories whose files a build or a package manager makes: that they are missing says nothing.
const MADE: [&str; 10] = [
    "node_modules",
    "vendor",
    "third_party",
    "dist",
    "build",
    "target",
    "out",
    ".git",
    ".venv",
    "__pycache__",
];

/// Names that stand for any name.
const PLACEHOLDERS: [&str; 6] = ["foo", "bar", "baz", "example", "path", "xxx"];

/// Returns what a memory claims, what its author listed for checking first.
pub fn claims(memory: &Memory, document: &Document) -> Vec<Claim> {
    let mut found = Found::default();
    for entry in &memory.evidence {
        found.evidence(entry);
    }
    if let Some(day) = memory.expires {
        found.push(ClaimKind::Date, &day.to_string(), Source::Expires, true);
    }
    found.text(&memory.description, Source::Description);
    let body = String::from_utf8_lossy(document.body());
    found.text(&body[..body.floor_char_boundary(MAX_TEXT)], Source::Body);
    found.claims
}

#[derive(Default)]
struct Found {
    claims: Vec<Claim>,
}

impl Found {
    fn push(&mut self, kind: ClaimKind, value: &str, source: Source, firm: bool) {
        self.add(Claim { kind, value: value.to_owned(), within: None, line: None, source, firm });
    }

    /// Adds a claim once; a second mention can make it firm.
    fn add(&mut self, claim: Claim) {
        if claim.value.is_empty() || claim.value.len() > MAX_VALUE {
            return;
        }
        if let Some(known) = self.claims.iter_mut().find(|known| known.is_about(&claim)) {
            known.firm |= claim.firm;
        } else if self.claims.len() < MAX_CLAIMS {
            self.claims.push(claim);
        }
    }

    /// Reads an entry of the list that the author made: `path`, `path:line`, `path#symbol`, `flag:--x`, an address.
    fn evidence(&mut self, entry: &str) {
        let entry = entry.trim().trim_matches('`');
        if entry.contains("://") {
            return self.push(ClaimKind::Url, entry, Source::Evidence, true);
        }
        if let Some(flag) = entry.strip_prefix("flag:") {
            return self.push(ClaimKind::Flag, flag.trim(), Source::Evidence, true);
        }
        let path_of = |path: &str| path.trim().trim_start_matches("./").trim_end_matches('/').to_owned();
        let path = |value: String, line| Claim {
            kind: ClaimKind::Path,
            value,
            within: None,
            line,
            source: Source::Evidence,
            firm: true,
        };
        if let Some((file, symbol)) = entry.split_once('#') {
            let within = Some(path_of(file)).filter(|file| !file.is_empty());
            within.iter().for_each(|file| self.add(path(file.clone(), None)));
            let symbol = symbol.trim().trim_end_matches("()");
            let name = symbol.rsplit([':', '.']).next().unwrap_or(symbol);
            let kind = ClaimKind::Symbol;
            let value = name.to_owned();
            return self.add(Claim { kind, value, within, line: None, source: Source::Evidence, firm: true });
        }
        match entry.rsplit_once(':') {
            Some((file, line)) if line.parse::<usize>().is_ok() => {
                self.add(path(path_of(file), line.parse().ok()));
            }
            _ => self.add(path(path_of(entry), None)),
        }
    }

    fn text(&mut self, text: &str, source: Source) {
        let code = code_spans(text);
        let said = Said { text, code: &code };
        let mentions = mentions(text);
        for mention in &mentions.paths {
            let is_branch = mentions.refs.iter().any(|branch| branch.span == mention.span);
            if !is_branch {
                self.path(&said, mention, source);
            }
        }
        for mention in &mentions.symbols {
            self.symbol(&said, mention, source);
        }
        for span in commands::flags(text) {
            self.flag(&said, span, source);
        }
        self.tasks(&said, source);
        for mention in &mentions.refs {
            let firm = mention.text.contains('/') || said.is_ticked(&mention.span);
            self.spoken(&said, ClaimKind::Branch, mention, source, firm);
        }
        for mention in &mentions.commits {
            let firm =
                text[..mention.span.start].trim_end_matches(['`', ' ']).to_lowercase().ends_with("commit");
            self.spoken(&said, ClaimKind::Commit, mention, source, firm);
        }
        for (span, value) in numbers::versions(text) {
            if manner(text, &span) == Manner::Present {
                self.push(ClaimKind::Version, &value, source, false);
            }
        }
        for (_, day) in numbers::deadlines(text) {
            self.push(ClaimKind::Date, &day.to_string(), source, true);
        }
        for address in addresses(text) {
            self.push(ClaimKind::Url, address, source, true);
        }
    }

    fn spoken(&mut self, said: &Said, kind: ClaimKind, mention: &Mention, source: Source, firm: bool) {
        match manner(said.text, &mention.span) {
            Manner::Gone => {}
            manner => self.push(kind, &mention.text, source, firm && manner == Manner::Present),
        }
    }

    fn path(&mut self, said: &Said, mention: &Mention, source: Source) {
        // What a code host shows may be another project's: the address itself is the claim.
        let is_address = said.text[mention.span.clone()].contains("://");
        let path = mention.text.as_str();
        // A word alone is a claim of nothing, and neither is what has a hole in it.
        if is_address || !path.contains(['/', '.']) || said.is_template(&mention.span) {
            return;
        }
        let has_ending = path.rsplit_once('.').is_some_and(|(_, ending)| is_file_ending(ending));
        let is_made = path.split('/').any(|part| MADE.contains(&part));
        let is_placeholder = path.split(['/', '.']).any(|part| PLACEHOLDERS.contains(&part));
        let is_ours = !path.starts_with('/') && !is_placeholder && !is_made;
        let firm = path.contains('/') && has_ending && is_ours;
        self.spoken(said, ClaimKind::Path, mention, source, firm);
    }

    fn symbol(&mut self, said: &Said, mention: &Mention, source: Source) {
        let is_called = said.text[mention.span.end..].starts_with("()");
        if is_called || has_shape_of_code(&mention.text) {
            let firm = is_called || said.is_ticked(&mention.span);
            self.spoken(said, ClaimKind::Symbol, mention, source, firm);
        }
    }

    /// An option belongs to the program that stands before it in the same piece of code.
    fn flag(&mut self, said: &Said, span: Range<usize>, source: Source) {
        let manner = manner(said.text, &span);
        if manner == Manner::Gone {
            return;
        }
        let line = said.line_of_code(&span);
        self.add(Claim {
            kind: ClaimKind::Flag,
            value: said.text[span].to_owned(),
            within: line.and_then(commands::program).map(str::to_owned),
            line: None,
            source,
            firm: manner == Manner::Present && line.is_some(),
        });
    }

    fn tasks(&mut self, said: &Said, source: Source) {
        for span in said.code {
            for line in said.text[span.clone()].lines() {
                if let Some(task) = commands::task(line)
                    && manner(said.text, span) != Manner::Gone
                {
                    self.push(ClaimKind::Command, &task, source, said.is_ticked(span));
                }
            }
        }
    }
}

/// A text and what of it is set as code.
struct Said<'t> {
    text: &'t str,
    code: &'t [Range<usize>],
}

impl Said<'_> {
    /// Says whether a thing stands between backticks. A fenced block is an example, and its names are anybody's.
    fn is_ticked(&self, span: &Range<usize>) -> bool {
        self.code_around(span).is_some_and(|code| self.text[..code.start].ends_with('`'))
    }

    fn code_around(&self, span: &Range<usize>) -> Option<&Range<usize>> {
        self.code.iter().find(|code| code.start <= span.start && span.end <= code.end)
    }

    /// Returns the line of code that a thing stands in.
    fn line_of_code(&self, span: &Range<usize>) -> Option<&str> {
        let code = self.code_around(span)?;
        let text = &self.text[code.clone()];
        let at = span.start - code.start;
        let start = text[..at].rfind('\n').map_or(0, |feed| feed + 1);
        text[start..].lines().next()
    }

    /// Says whether a thing is a part of something with a hole, such as `src/<name>/mod.rs`.
    fn is_template(&self, span: &Range<usize>) -> bool {
        let is_hole = |c: char| matches!(c, '<' | '>' | '{' | '}' | '[' | ']' | '…' | '*');
        let before = self.text[..span.start].chars().next_back().is_some_and(is_hole);
        before || self.text[span.end..].chars().next().is_some_and(is_hole)
    }
}

/// Returns the addresses in a text, without the punctuation behind them.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("http").filter(|(at, _)| {
        let rest = &text[*at..];
        rest.starts_with("http://") || rest.starts_with("https://")
    });
    starts.map(|(at, _)| {
        let is_end = |c: char| {
            c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`' | ')' | ']' | '|')
        };
        let len = text[at..].find(is_end).unwrap_or(text.len() - at);
        text[at..at + len].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*'])
    })
}
