//! Signs that are not words but shapes: where a clause begins, and whether it begins with a verb.

use std::ops::Range;

use super::kind::Kind;
use super::lexicon::class;
use super::pattern::is_full_stop;
use super::sign::Sign;
use super::token::Token;

/// Words that may stand before an instruction without being part of it.
const LEAD_INS: &[&str] = &[
    "please",
    "also",
    "always",
    "and",
    "so",
    "then",
    "just",
    "ok",
    "okay",
    "yes",
    "no",
    "hey",
    "well",
    "but",
    "note",
    "rule",
    "bitte",
    "also",
    "ja",
    "nein",
    "und",
    "aber",
    "remember",
    "note",
    "only",
    "instead",
    "again",
    "generally",
    "usually",
];

/// Words that open a clause before the main one: "before pushing, run clippy".
const OPENERS: &[&str] = &[
    "before",
    "after",
    "when",
    "whenever",
    "if",
    "for",
    "in",
    "on",
    "during",
    "unless",
    "once",
    "while",
    "until",
    "with",
    "to",
    "as",
    "by",
    "instead",
    "from",
    "at",
    "since",
    "because",
    "bevor",
    "nachdem",
    "wenn",
    "falls",
    "bei",
    "beim",
    "vor",
    "nach",
    "für",
    "im",
    "ab",
    "von",
    "sobald",
    "solange",
    "auf",
    "statt",
    "um",
    "per",
    "where",
    "given",
    "whatever",
    "regardless",
    "under",
];

/// Words that follow a noun, not an imperative: "release is planned", "test of the parser".
const AFTER_NOUN: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "will",
    "has",
    "have",
    "had",
    "can",
    "must",
    "should",
    "of",
    "may",
    "might",
    "would",
    "does",
    "did",
    "shall",
    "isn't",
    "wasn't",
    "aren't",
    "needs",
    "goes",
    "lives",
    "runs",
    ":",
    "freeze",
    "request",
    "requests",
    "conflicts",
    "conflict",
    "window",
    "date",
    "plan",
    "board",
    "notes",
    "messages",
    "message",
    "suite",
    "server",
    "data",
    "environment",
    "failures",
    "results",
    "and",
    "or",
    "for",
];

/// Marks the tokens with which a clause begins that could stand alone.
pub(super) fn starts(tokens: &[Token]) -> Vec<bool> {
    let mut starts = vec![false; tokens.len()];
    let mut fresh = true;
    let mut opened = false;
    for (at, token) in tokens.iter().enumerate() {
        if fresh && token.kind != Kind::Mark {
            starts[at] = true;
            opened = OPENERS.contains(&token.text.as_str());
            fresh = LEAD_INS.contains(&token.text.as_str());
            continue;
        }
        let separates = matches!(token.text.as_str(), ":" | "—" | "–" | "→" | "-") || is_full_stop(token);
        fresh |= token.kind == Kind::Mark && (separates || opened && token.text == ",");
    }
    starts
}

/// Finds an English imperative.
pub(super) fn imperative(tokens: &[Token], starts: &[bool]) -> Option<Range<usize>> {
    let after_start = (0..tokens.len()).find(|at| starts[*at] && is_imperative(tokens, *at));
    after_start.or_else(|| fronted(tokens, starts)).map(|at| at..at + 1)
}

/// Verbs that are hardly ever nouns, so that they need no comma before them: "in commit messages leave out names".
const CLEAR_VERBS: &[&str] = &[
    "use", "keep", "leave", "write", "avoid", "prefer", "put", "mock", "add", "ask", "tell", "show", "give",
    "make", "don't", "never", "always", "do", "skip", "quote", "pass", "call", "name", "wrap", "pick",
    "follow", "include", "spell",
];

/// Words after which such a verb is not an instruction.
const BEFORE_OTHER: &[&str] = &[
    "to",
    "will",
    "can",
    "must",
    "should",
    "we",
    "i",
    "you",
    "they",
    "and",
    "or",
    "the",
    "a",
    "an",
    "of",
    "who",
    "which",
    "that",
    "not",
    "don't",
    "could",
    "would",
    "may",
    "might",
    "please",
    "it",
    "he",
    "she",
    "people",
    "users",
    "customers",
    "reviewers",
    "never",
    "always",
    "all",
];

/// Finds the verb of an instruction after "in …", "for …", "when …" without a comma.
fn fronted(tokens: &[Token], starts: &[bool]) -> Option<usize> {
    let first = starts.iter().position(|start| *start)?;
    if !matches!(tokens[first].text.as_str(), "in" | "for" | "on" | "when" | "under" | "inside" | "with") {
        return None;
    }
    (first + 2..tokens.len()).take(8).find(|at| {
        let before = &tokens[at - 1];
        tokens[*at].kind == Kind::Word
            && CLEAR_VERBS.contains(&tokens[*at].text.as_str())
            && before.kind != Kind::Mark
            && !BEFORE_OTHER.contains(&before.text.as_str())
    })
}

fn is_imperative(tokens: &[Token], at: usize) -> bool {
    let is_verb = |text: &str| class("verb").iter().any(|line| line.split(' ').any(|verb| verb == text));
    let (token, Some(next)) = (&tokens[at], tokens.get(at + 1)) else { return false };
    if token.kind != Kind::Word || !is_verb(&token.text) || AFTER_NOUN.contains(&next.text.as_str()) {
        return false;
    }
    // In "three passes: parse, resolve, emit" the verbs are names.
    if at > 0 && next.text == "," {
        return false;
    }
    let is_noun_too = class("nounverb").iter().any(|line| line.split(' ').any(|verb| verb == token.text));
    !is_noun_too || opens_object(next)
}

/// Says whether a token can begin what an instruction is about, which tells "release the lock" from "release notes".
fn opens_object(token: &Token) -> bool {
    let word = token.text.as_str();
    let is_code =
        matches!(token.kind, Kind::Identifier | Kind::Path | Kind::Command | Kind::Url | Kind::Ticket);
    is_code
        || word.len() > 3 && word.ends_with('s')
        || class("function").iter().any(|line| line.split(' ').any(|known| known == word))
}

/// Finds the sign of a question: a question mark at the end.
pub(super) fn question(tokens: &[Token]) -> Option<Range<usize>> {
    let last = tokens.len().checked_sub(1)?;
    (tokens[last].kind == Kind::Mark && tokens[last].text == "?").then_some(last..last + 1)
}

/// Returns the sign that a sentence made only of code and marks shows.
pub(super) fn shapes(tokens: &[Token], starts: &[bool], english: bool) -> Vec<(Sign, Range<usize>)> {
    let mut found = Vec::new();
    if english {
        found.extend(imperative(tokens, starts).map(|range| (Sign::Imperative, range)));
    }
    found.extend(question(tokens).map(|range| (Sign::Question, range)));
    found
}
