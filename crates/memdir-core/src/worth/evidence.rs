//! What a project answers when it is asked about a text.
//!
//! Plain values: `memdir_store::surroundings` fills an [`Evidence`], tests write one by hand. What is not in it was
//! not found, or nobody could look; the judge takes both the same way and then goes by what the text itself says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::saying::Saying;

/// What the project around a vault shows of the things a text mentions.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Whether the project's files are known, so that a path that was not found is somewhere else.
    pub has_tree: bool,
    /// Paths by the way they were mentioned.
    pub paths: BTreeMap<String, FoundPath>,
    /// Names of the code by the way they were mentioned.
    pub symbols: BTreeMap<String, FoundSymbol>,
    /// Commits by the way they were mentioned.
    pub commits: BTreeMap<String, Commit>,
    /// Branches and tags that were mentioned and exist.
    pub refs: Vec<String>,
    /// What was committed here lately.
    pub recent: Arc<[Commit]>,
    /// Names of the project's upper folders and of what it depends on, in lower case.
    pub names: Arc<BTreeSet<String>>,
    /// What the project's own descriptions of itself say.
    pub documents: Arc<[InstructionLine]>,
    /// What the loaded instruction files say.
    pub instructions: Arc<[InstructionLine]>,
    /// How often this debugging story was refused before.
    pub seen_before: u32,
    /// Whether the project keeps `docs/decisions`.
    pub has_decisions: bool,
    /// Whether the project shares memories with a team.
    pub has_team_vault: bool,
}

/// A path of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPath {
    /// Where it is, from the project's root.
    pub path: String,
    /// How many files are below it; `None` for a file, or where nobody counted.
    pub n_files: Option<usize>,
}

/// A name of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSymbol {
    /// The file, from the project's root.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// Whether that line defines it, or only uses it.
    pub is_definition: bool,
}

/// A commit as the log of HEAD tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Commit {
    /// Its hash.
    pub hash: String,
    /// Its first line; empty where only its existence is known.
    pub subject: String,
    /// Who made it; empty where only its existence is known.
    pub author: String,
    /// What its subject says, taken apart for comparison.
    pub(super) saying: Saying,
}

impl Commit {
    /// Takes what a log tells of a commit.
    pub fn new(hash: &str, subject: &str, author: &str) -> Self {
        let said = subject.split_once(": ").map_or(subject, |(_, rest)| rest);
        let [hash, subject, author] = [hash, subject, author].map(str::to_owned);
        Self { saying: Saying::of(said), hash, subject, author }
    }
}

/// One thing that an instruction file says.
#[derive(Debug, Clone)]
pub struct InstructionLine {
    /// The file, from the project's root or with `~/`.
    pub file: String,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The text.
    pub text: String,
    /// The same, taken apart for comparison.
    pub(super) saying: Saying,
}

impl InstructionLine {
    /// Takes a line of an instruction file.
    pub fn new(file: &str, line: usize, text: &str) -> Self {
        Self { file: file.to_owned(), line, text: text.to_owned(), saying: Saying::of(text) }
    }
}

/// Longest text of one instruction that is compared; what is longer is a chapter, not a rule.
const MAX_INSTRUCTION: usize = 1000;

/// Takes an instruction file apart: one line for each list item, sentence or heading.
///
/// Frontmatter and HTML comments are left out, as agents leave them out. Wrapped lines are one text, and code blocks
/// count line by line.
pub fn instruction_lines(file: &str, text: &str) -> Vec<InstructionLine> {
    let mut reader = Reader { file, ..Reader::default() };
    let mut lines = text.lines().enumerate().peekable();
    if lines.peek().is_some_and(|(_, line)| line.trim_end() == "---") {
        lines.next();
        // Unclosed frontmatter is no frontmatter; agents then read it all, and so do we.
        if text.lines().skip(1).any(|line| line.trim_end() == "---") {
            lines.by_ref().find(|(_, line)| line.trim_end() == "---");
        }
    }
    for (index, line) in lines {
        reader.line(index + 1, line);
    }
    reader.flush();
    reader.found
}

#[derive(Default)]
struct Reader<'a> {
    file: &'a str,
    /// What is being collected, and where it began.
    text: String,
    begun: usize,
    in_fence: bool,
    in_comment: bool,
    found: Vec<InstructionLine>,
}

impl Reader<'_> {
    fn line(&mut self, number: usize, line: &str) {
        let trimmed = line.trim();
        if self.in_comment || trimmed.starts_with("<!--") {
            self.in_comment = !trimmed.contains("-->");
            return self.flush();
        }
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            self.in_fence = !self.in_fence;
            return self.flush();
        }
        if trimmed.is_empty() {
            return self.flush();
        }
        let (item, is_item) = list_item(trimmed);
        if is_item || self.in_fence || trimmed.starts_with(['#', '|', '>']) {
            self.flush();
        }
        if self.text.is_empty() {
            self.begun = number;
        } else {
            self.text.push(' ');
        }
        self.text.push_str(item);
        if self.in_fence || trimmed.starts_with('#') {
            self.flush();
        }
    }

    /// Ends what is being collected. A paragraph gives each of its sentences, all with the line it began on.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.len() > MAX_INSTRUCTION * 4 {
            return;
        }
        let sentences = sentences(&text);
        let whole = (sentences.len() > 1 && text.len() <= MAX_INSTRUCTION).then_some(text.as_str());
        for sentence in sentences.into_iter().chain(whole).filter(|text| text.len() <= MAX_INSTRUCTION) {
            self.found.push(InstructionLine::new(self.file, self.begun, sentence));
        }
    }
}

/// Takes the mark of a list item away.
fn list_item(line: &str) -> (&str, bool) {
    if let Some(rest) =
        line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(|| line.strip_prefix("+ "))
    {
        return (rest.trim_start_matches("[ ] ").trim_start_matches("[x] "), true);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") ")) {
        Some(rest) if (1..=3).contains(&digits) => (rest, true),
        _ => (line, false),
    }
}

/// Splits a text where a sentence ends and the next begins.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let ends = match c {
            '\n' | '。' | ';' => true,
            '.' | '!' | '?' => text[end..].starts_with([' ', '\n']) && !is_abbreviated(&text[start..at]),
            _ => false,
        };
        if ends {
            parts.push(text[start..end].trim());
            start = end;
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts
}

/// Says whether the dot behind `text` belongs to its last word: "e.g.", "z. B.", "No.", a single letter.
fn is_abbreviated(text: &str) -> bool {
    let word = text.rsplit([' ', '(', '\n']).next().unwrap_or(text);
    let is_short = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    is_short
        || matches!(
            word.to_ascii_lowercase().as_str(),
            "e.g"
                | "i.e"
                | "etc"
                | "no"
                | "vs"
                | "z.b"
                | "bzw"
                | "ca"
                | "nr"
                | "approx"
                | "incl"
                | "inkl"
                | "d.h"
        )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn an_instruction_file_is_taken_apart_by_item_and_sentence() {
        let text = "---\npaths: \"src/**\"\n---\n# Rules\n\n- Use pnpm,\n  never npm.\n<!-- - not loaded -->\n1. Ask first. Then write.\n\n```\njust check\n```\n";
        let lines = instruction_lines("CLAUDE.md", text);
        let shown: Vec<String> = lines.iter().map(|line| format!("{}: {}", line.line, line.text)).collect();
        expect![[r##"
            4: # Rules
            6: Use pnpm, never npm.
            9: Ask first.
            9: Then write.
            9: Ask first. Then write.
            12: just check"##]]
        .assert_eq(&shown.join("\n"));
    }
}
