//! The small language in which the lexicon is written.
//!
//! A pattern is a row of elements with a space between them:
//!
//! | element | stands for |
//! | --- | --- |
//! | `must` | this word |
//! | `must\|shall` | one of these words |
//! | `decid*`, `*하세요`, `*때문*` | a word that begins, ends with or holds this |
//! | `@path` | a token of that [`Kind`], or a word of that class |
//! | `?not` | the same, or nothing |
//! | `..`, `....` | up to three or eight tokens of the same sentence |
//! | `^`, `$` | the beginning of a clause that could stand alone; the end of a sentence |

use super::kind::Kind;
use super::lexicon::class;
use super::token::Token;

/// How many tokens `..` and `....` may skip.
const SHORT_GAP: usize = 3;
const LONG_GAP: usize = 8;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern(Vec<Element>);

#[derive(Debug)]
enum Element {
    OneOf(OneOf),
    Optional(Box<Element>),
    Gap(usize),
    Start,
    End,
}

/// What one token may be.
#[derive(Debug, Default)]
struct OneOf {
    words: Vec<Form>,
    kinds: Vec<Kind>,
    capital: bool,
}

/// A word, or the part of it that counts.
#[derive(Debug)]
struct Form {
    text: String,
    open_start: bool,
    open_end: bool,
}

/// The tokens of a text and where a clause begins.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) starts: &'a [bool],
}

impl Pattern {
    /// Compiles a pattern. The lexicon is data of ours, so a mistake in it is a broken invariant.
    pub(super) fn new(text: &str) -> Self {
        Self(text.split(' ').filter(|part| !part.is_empty()).map(element).collect())
    }

    /// Returns the end of the match that begins at token `at`.
    pub(super) fn matches(&self, row: &Row<'_>, at: usize) -> Option<usize> {
        matches(&self.0, row, at)
    }

    /// Returns the words with one of which a match begins, if these are known whole.
    pub(super) fn first_words(&self) -> Option<Vec<&str>> {
        let first = self.0.iter().find(|element| !matches!(element, Element::Start))?;
        let Element::OneOf(one_of) = first else { return None };
        let whole = one_of.words.iter().all(|form| !form.open_start && !form.open_end);
        let only_words = one_of.kinds.is_empty() && !one_of.capital;
        (whole && only_words).then(|| one_of.words.iter().map(|form| form.text.as_str()).collect())
    }
}

fn element(text: &str) -> Element {
    match text {
        ".." => Element::Gap(SHORT_GAP),
        "...." => Element::Gap(LONG_GAP),
        "^" => Element::Start,
        "$" => Element::End,
        _ => match text.strip_prefix('?').filter(|rest| !rest.is_empty()) {
            Some(rest) => Element::Optional(Box::new(element(rest))),
            None => Element::OneOf(one_of(text)),
        },
    }
}

/// Reads alternatives; a class among them stands for all its words.
fn one_of(text: &str) -> OneOf {
    let mut one_of = OneOf::default();
    for part in text.split('|') {
        match part.strip_prefix('@') {
            Some("capital") => one_of.capital = true,
            Some(name) => match kinds(name) {
                [] => one_of.words.extend(class(name).iter().flat_map(|line| line.split(' ')).map(form)),
                kinds => one_of.kinds.extend(kinds),
            },
            None => one_of.words.push(form(part)),
        }
    }
    one_of
}

/// Returns the kinds of token that a name stands for, none if it is the name of a class of words.
fn kinds(name: &str) -> &'static [Kind] {
    match name {
        "word" => &[Kind::Word],
        "path" => &[Kind::Path],
        "name" => &[Kind::Identifier, Kind::Path],
        "identifier" => &[Kind::Identifier],
        "code" => &[Kind::Identifier, Kind::Path, Kind::Command],
        "command" => &[Kind::Command],
        "url" => &[Kind::Url],
        "number" => &[Kind::Number],
        "day" => &[Kind::Day],
        "ticket" => &[Kind::Ticket],
        "channel" => &[Kind::Channel],
        "commit" => &[Kind::Commit],
        _ => &[],
    }
}

fn form(text: &str) -> Form {
    let inner = text.strip_prefix('*').unwrap_or(text);
    let inner = inner.strip_suffix('*').unwrap_or(inner);
    Form {
        text: inner.to_owned(),
        open_start: text.len() > 1 && text.starts_with('*'),
        open_end: text.len() > 1 && text.ends_with('*'),
    }
}

impl Form {
    fn matches(&self, word: &str) -> bool {
        match (self.open_start, self.open_end) {
            (false, false) => word == self.text,
            (false, true) => word.starts_with(&self.text),
            (true, false) => word.ends_with(&self.text),
            (true, true) => word.contains(&self.text),
        }
    }
}

fn matches(elements: &[Element], row: &Row<'_>, at: usize) -> Option<usize> {
    let Some((first, rest)) = elements.split_first() else { return Some(at) };
    match first {
        Element::Start => row.starts.get(at).copied().unwrap_or(false).then(|| matches(rest, row, at))?,
        Element::End => ends(row, at).then(|| matches(rest, row, at))?,
        Element::Optional(inner) => {
            let taken = one(inner, row, at).then(|| matches(rest, row, at + 1)).flatten();
            taken.or_else(|| matches(rest, row, at))
        }
        Element::Gap(most) => gap(*most, rest, row, at),
        _ => one(first, row, at).then(|| matches(rest, row, at + 1))?,
    }
}

fn gap(most: usize, rest: &[Element], row: &Row<'_>, at: usize) -> Option<usize> {
    for skipped in 0..=most {
        if let Some(end) = matches(rest, row, at + skipped) {
            return Some(end);
        }
        if ends(row, at + skipped) {
            return None;
        }
    }
    None
}

fn one(element: &Element, row: &Row<'_>, at: usize) -> bool {
    let (Some(token), Element::OneOf(one_of)) = (row.tokens.get(at), element) else { return false };
    let is_text = matches!(token.kind, Kind::Word | Kind::Mark | Kind::Number);
    (is_text && one_of.words.iter().any(|form| form.matches(&token.text)))
        || one_of.kinds.contains(&token.kind)
        || (one_of.capital && token.capital)
}

/// Says whether a sentence ends before token `at`.
fn ends(row: &Row<'_>, at: usize) -> bool {
    row.tokens.get(at).is_none_or(is_full_stop)
}

/// Says whether a token ends a sentence.
pub(super) fn is_full_stop(token: &Token) -> bool {
    token.kind == Kind::Mark && matches!(token.text.as_str(), "." | "!" | "?" | "。" | "…" | ";")
}
