//! A memory as a dream reads it: what it is about, what it states, and when that was said.

use std::borrow::Cow;

use jiff::Timestamp;

use super::saying::Saying;
use super::{Source, words};
use crate::likeness::Likeness;
use crate::memory::{MemoryType, Severity};
use crate::statement::{Language, Part, Statement, read, statements};

/// As many sentences of one memory are compared one by one; what has more is a document.
const MAX_CLAIMS: usize = 12;

/// A memory taken apart.
#[derive(Debug)]
pub(super) struct Subject<'s> {
    pub(super) source: &'s Source,
    /// Its name.
    pub(super) title: Saying,
    /// The sentences that are compared word by word.
    pub(super) sentences: Vec<String>,
    /// The description and each sentence of what it states, without reasons.
    pub(super) claims: Vec<Saying>,
    /// All of these together.
    pub(super) facts: Saying,
    /// Everything that it says.
    pub(super) whole: Saying,
    pub(super) likeness: Likeness,
    /// What it states, as text.
    pub(super) stated: String,
    pub(super) language: Language,
    pub(super) is_touchable: bool,
}

impl<'s> Subject<'s> {
    /// Takes a memory apart.
    pub(super) fn of(source: &'s Source) -> Self {
        let body = source.body();
        let description = &source.memory.description;
        let mut claims = vec![Saying::of(first_clause(description))];
        let mut whole = Saying::of(description);
        let mut facts = whole.clone();
        let mut stated = description.clone();
        let mut sentences = vec![description.clone()];
        for statement in statements(&body) {
            let saying = Saying::of(statement.text);
            if is_fact(&statement) {
                facts.add(&saying);
                stated.push_str(". ");
                stated.push_str(statement.text);
                if claims.len() < MAX_CLAIMS {
                    claims.push(Saying::of(first_clause(statement.text)));
                    sentences.push(statement.text.to_owned());
                }
            }
            whole.add(&saying);
        }
        let title = Saying::of(&title(source));
        whole.add(&title);
        Self {
            source,
            title,
            sentences,
            claims,
            facts,
            whole,
            likeness: Likeness::of(description, &body),
            language: read(first_clause(&stated)).language(),
            stated,
            is_touchable: is_touchable(source),
        }
    }

    pub(super) fn name(&self) -> &str {
        self.source.path.stem()
    }

    pub(super) fn memory_type(&self) -> Option<MemoryType> {
        self.source.memory.memory_type
    }

    /// Returns when the memory was last given its content.
    pub(super) fn said(&self) -> Timestamp {
        self.source.said()
    }
}

/// Says whether a dream may change a memory at all.
fn is_touchable(source: &Source) -> bool {
    let memory = &source.memory;
    let is_readable = !source.problems.iter().any(|problem| problem.severity() == Severity::Error);
    is_readable
        && memory.memory_type.is_some()
        && !memory.pinned
        && !memory.quarantined
        && !source.is_untrusted
}

/// Says whether a sentence states something, and is no reason or example of it.
fn is_fact(statement: &Statement<'_>) -> bool {
    matches!(statement.part, Part::Paragraph | Part::Item)
}

/// Returns the name of a memory in words, without its type and without numbers, which only tell files apart.
fn title(source: &Source) -> String {
    let name = source.path.stem().replace(['-', '_'], " ");
    let is_word = |word: &&str| {
        let is_number = word.contains(|c: char| c.is_ascii_digit());
        !is_number && !MemoryType::WORDS.contains(word) && !words::is_filing(word)
    };
    name.split(' ').filter(is_word).collect::<Vec<_>>().join(" ")
}

/// Words with which a reason begins.
#[rustfmt::skip]
const REASONS: [&str; 17] = [
    " because ", " since ", " so that ", " weil ", " damit ", "; ", " — ", " – ", " (",
    ", they ", ", it ", ", so ", ", which ", ", as ", ", denn ", ", da ", ", sie ",
];

/// Returns what a sentence states before it gives reasons.
pub(super) fn first_clause(sentence: &str) -> &str {
    let cuts = REASONS.iter().filter_map(|reason| sentence.find(reason));
    let is_long = |at: &usize| sentence[..*at].split_whitespace().count() >= 3;
    cuts.filter(is_long).min().map_or(sentence, |at| &sentence[..at])
}

/// Words of what comes again and again.
const AGAIN: [&str; 8] = ["daily", "weekly", "every", "each", "täglich", "wöchentlich", "jeden", "jede"];

/// Says whether a text is about something that happened on a day.
pub(super) fn reports(subject: &Subject<'_>) -> bool {
    let mut words = subject.stated.split(|c: char| !c.is_alphanumeric());
    if words.any(|word| AGAIN.contains(&word.to_lowercase().as_str())) {
        return false;
    }
    let kind = subject.source.memory.kind.as_deref().map(Cow::Borrowed);
    (subject.title.is_report || subject.claims[0].is_report)
        || kind.is_some_and(|kind| words::is_report(&kind))
}
