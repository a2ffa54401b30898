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

use std::collections::HashMap;

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
    One(Choice),
    Optional(Choice),
    Gap(usize),
    Start,
    End,
}

/// Which of a table's choices it is: what one token may be.
pub(super) type Choice = u16;

/// The tokens of a text, what each of them can be, and where a clause begins.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) starts: &'a [bool],
    pub(super) choices: Vec<Vec<Choice>>,
}

impl Pattern {
    /// Compiles a pattern. The lexicon is data of ours, so a mistake in it is a broken invariant.
    pub(super) fn new(text: &'static str, choices: &mut Choices) -> Self {
        Self(text.split(' ').filter(|part| !part.is_empty()).map(|part| element(part, choices)).collect())
    }

    /// Returns the end of the match that begins at token `at`.
    pub(super) fn matches(&self, row: &Row<'_>, at: usize) -> Option<usize> {
        matches(&self.0, row, at)
    }

    /// Returns the choice with which every match begins, if there is one.
    pub(super) fn first(&self) -> Option<Choice> {
        match self.0.iter().find(|element| !matches!(element, Element::Start))? {
            Element::One(choice) => Some(*choice),
            _ => None,
        }
    }
}

fn element(text: &'static str, choices: &mut Choices) -> Element {
    match text {
        ".." => Element::Gap(SHORT_GAP),
        "...." => Element::Gap(LONG_GAP),
        "^" => Element::Start,
        "$" => Element::End,
        _ => match text.strip_prefix('?').filter(|rest| !rest.is_empty()) {
            Some(rest) => Element::Optional(choices.of(rest)),
            None => Element::One(choices.of(text)),
        },
    }
}

/// All choices of a table, turned around: from what a token is to the choices that allow it. A sentence has few tokens
/// and a table thousands of words, so each token is looked up once and patterns compare numbers.
#[derive(Debug)]
pub(super) struct Choices {
    known: HashMap<&'static str, Choice>,
    whole: HashMap<&'static str, Vec<Choice>>,
    /// Words that begin with this, by its first byte; that end with it, by its last; that hold it.
    begins: Vec<Vec<(&'static str, Choice)>>,
    ends: Vec<Vec<(&'static str, Choice)>>,
    holds: Vec<(&'static str, Choice)>,
    kinds: Vec<(Kind, Choice)>,
    capital: Vec<Choice>,
    /// Choices that have a class among others, by the choice that is the class alone.
    with_class: Vec<(Choice, Choice)>,
}

impl Choices {
    /// Makes room for a table of so many lines.
    pub(super) fn with_capacity(n_lines: usize) -> Self {
        Self {
            known: HashMap::with_capacity(n_lines),
            whole: HashMap::with_capacity(2 * n_lines),
            begins: vec![Vec::new(); 256],
            ends: vec![Vec::new(); 256],
            holds: Vec::new(),
            kinds: Vec::new(),
            capital: Vec::new(),
            with_class: Vec::new(),
        }
    }

    /// Reads alternatives; a class among them stands for all its words.
    fn of(&mut self, text: &'static str) -> Choice {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let choice = Choice::try_from(self.known.len()).expect("a table has a few thousand lines");
        self.known.insert(text, choice);
        for part in text.split('|') {
            match part.strip_prefix('@') {
                Some("capital") => self.capital.push(choice),
                Some(name) => match kinds(name) {
                    [] if part == text => {
                        let words = class(name).iter().flat_map(|line| line.split(' '));
                        words.for_each(|word| self.add(word, choice));
                    }
                    [] => {
                        let class = self.of(part);
                        self.with_class.push((class, choice));
                    }
                    kinds => self.kinds.extend(kinds.iter().map(|kind| (*kind, choice))),
                },
                None => self.add(part, choice),
            }
        }
        choice
    }

    /// Adds a word, or the part of it that counts.
    fn add(&mut self, word: &'static str, choice: Choice) {
        let open_start = word.len() > 1 && word.starts_with('*');
        let open_end = word.len() > 1 && word.ends_with('*');
        let inner = word.strip_prefix('*').unwrap_or(word);
        let inner = inner.strip_suffix('*').unwrap_or(inner);
        match (open_start, open_end, inner.as_bytes()) {
            (false, true, [first, ..]) => self.begins[usize::from(*first)].push((inner, choice)),
            (true, false, [.., last]) => self.ends[usize::from(*last)].push((inner, choice)),
            (true, true, _) => self.holds.push((inner, choice)),
            _ => self.whole.entry(inner).or_default().push(choice),
        }
    }

    /// Returns how many choices there are.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns the choices that allow a token, sorted.
    pub(super) fn allowing(&self, token: &Token) -> Vec<Choice> {
        let mut found: Vec<Choice> =
            self.kinds.iter().filter(|(kind, _)| *kind == token.kind).map(|(_, choice)| *choice).collect();
        if token.capital {
            found.extend(&self.capital);
        }
        let word = token.text.as_str();
        if let (Kind::Word | Kind::Mark | Kind::Number, Some(first), Some(last)) =
            (token.kind, word.as_bytes().first(), word.as_bytes().last())
        {
            found.extend(self.whole.get(word).into_iter().flatten());
            let begins = &self.begins[usize::from(*first)];
            found.extend(begins.iter().filter(|(form, _)| word.starts_with(form)).map(|(_, choice)| choice));
            let ends = &self.ends[usize::from(*last)];
            found.extend(ends.iter().filter(|(form, _)| word.ends_with(form)).map(|(_, choice)| choice));
            found.extend(self.holds.iter().filter(|(form, _)| word.contains(form)).map(|(_, choice)| choice));
        }
        let n_found = found.len();
        for at in 0..n_found {
            let class = found[at];
            found.extend(self.with_class.iter().filter(|(of, _)| *of == class).map(|(_, choice)| *choice));
        }
        found.sort_unstable();
        found.dedup();
        found
    }
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

fn matches(elements: &[Element], row: &Row<'_>, at: usize) -> Option<usize> {
    let Some((first, rest)) = elements.split_first() else { return Some(at) };
    match first {
        Element::Start => row.starts.get(at).copied().unwrap_or(false).then(|| matches(rest, row, at))?,
        Element::End => ends(row, at).then(|| matches(rest, row, at))?,
        Element::Optional(inner) => {
            let taken = one(*inner, row, at).then(|| matches(rest, row, at + 1)).flatten();
            taken.or_else(|| matches(rest, row, at))
        }
        Element::Gap(most) => gap(*most, rest, row, at),
        Element::One(choice) => one(*choice, row, at).then(|| matches(rest, row, at + 1))?,
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

fn one(choice: Choice, row: &Row<'_>, at: usize) -> bool {
    row.choices.get(at).is_some_and(|choices| choices.binary_search(&choice).is_ok())
}

/// Says whether a sentence ends before token `at`.
fn ends(row: &Row<'_>, at: usize) -> bool {
    row.tokens.get(at).is_none_or(is_full_stop)
}

/// Says whether a token ends a sentence.
pub(super) fn is_full_stop(token: &Token) -> bool {
    token.kind == Kind::Mark && matches!(token.text.as_str(), "." | "!" | "?" | "。" | "…" | ";")
}
