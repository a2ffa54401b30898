//! What other texts repeat of a text that must be gone.
//!
//! A memory that is erased was read out in sessions: journals quote it, notes of a session repeat it, copies of a
//! conversation hold the words it was made from, some of them cut short. None of these is a copy, so no hash finds them.
//! [`Echoes`] knows the erased texts by their runs of words and takes every such run out of another text, whatever case,
//! line breaks, marks or JSON stand between the words. A run is long enough to say something: a text that only uses the
//! same words keeps them.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use crate::memory::Document;
use crate::text::is_unspaced;

/// What stands where a run was.
pub const ERASED: &str = "[erased]";
/// A run of this weight is an echo: five words, or ten characters of a script without spaces.
const ECHO: usize = 10;
/// What a word weighs, where a character of such a script weighs one.
const WORD: usize = 2;
/// A line of less weight says nothing by itself.
const MIN_LINE: usize = 6;

/// The runs of words of erased texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Echoes {
    runs: BTreeSet<u64>,
    /// Whole lines and names that are shorter than a run, by how many words they have.
    short: BTreeMap<usize, BTreeSet<u64>>,
}

impl Echoes {
    /// Adds what a version of a memory says: its description and its body.
    pub fn add_version(&mut self, file: &[u8]) {
        let document = Document::parse(file);
        for key in ["description", "title"] {
            self.add_text(document.text(key).unwrap_or_default());
        }
        self.add_text(&String::from_utf8_lossy(document.body()));
    }

    /// Adds a name, as a page, a link or a list of files has it.
    pub fn add_name(&mut self, name: &str) {
        let words = words(name);
        if words.len() > 1 {
            self.add_short(&words);
        }
        self.add_short(&self::words(&format!("{name}.md")));
    }

    /// Adds the runs of a text, and those of its lines that are shorter than one.
    fn add_text(&mut self, text: &str) {
        let whole = words(text);
        self.runs.extend((0..whole.len()).filter_map(|at| Some(hash(run(&whole[at..])?))));
        for line in text.lines() {
            let line = words(line);
            if run(&line).is_none() && weight(&line) >= MIN_LINE {
                self.add_short(&line);
            }
        }
    }

    /// Adds what others know.
    pub fn add(&mut self, other: &Self) {
        self.runs.extend(&other.runs);
        for (n_words, known) in &other.short {
            self.short.entry(*n_words).or_default().extend(known);
        }
    }

    fn add_short(&mut self, words: &[Word]) {
        self.short.entry(words.len()).or_default().insert(hash(words));
    }

    /// Says whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.short.is_empty()
    }

    /// Says whether a text repeats any of it.
    pub fn is_in(&self, text: &str) -> bool {
        !self.places(text).is_empty()
    }

    /// Returns the text without what it repeats; `None` if it repeats nothing.
    pub fn redact(&self, text: &str) -> Option<String> {
        let places = self.places(text);
        if places.is_empty() {
            return None;
        }
        let mut redacted = String::with_capacity(text.len());
        let mut at = 0;
        for place in places {
            redacted.push_str(&text[at..place.start]);
            redacted.push_str(ERASED);
            at = place.end;
        }
        redacted.push_str(&text[at..]);
        Some(redacted)
    }

    /// Finds what is repeated, in order; runs that overlap are one.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let words = words(text);
        let mut places: Vec<Range<usize>> = Vec::new();
        for at in 0..words.len() {
            let Some(n_words) = self.n_repeated(&words[at..]) else { continue };
            let place = words[at].place.start..words[at + n_words - 1].place.end;
            match places.last_mut().filter(|last| place.start <= last.end) {
                Some(last) => last.end = last.end.max(place.end),
                None => places.push(place),
            }
        }
        places
    }

    /// Returns how many of the first words are repeated, the most that are.
    fn n_repeated(&self, words: &[Word]) -> Option<usize> {
        let long = run(words).filter(|run| self.runs.contains(&hash(run))).map(<[Word]>::len);
        let is_short = |(n, known): &(&usize, &BTreeSet<u64>)| {
            words.get(..**n).is_some_and(|start| known.contains(&hash(start)))
        };
        let short = self.short.iter().rev().find(is_short).map(|(n, _)| *n);
        long.max(short)
    }
}

/// A word in lower case, or one character of a script without spaces.
#[derive(Debug)]
struct Word {
    text: String,
    place: Range<usize>,
    weight: usize,
}

/// Returns the words from the first on that are a run.
fn run(words: &[Word]) -> Option<&[Word]> {
    let mut sum = 0;
    let n_words = words.iter().position(|word| {
        sum += word.weight;
        sum >= ECHO
    })?;
    Some(&words[..=n_words])
}

fn weight(words: &[Word]) -> usize {
    words.iter().map(|word| word.weight).sum()
}

/// Hashes words; the hash lives no longer than the process.
fn hash(words: &[Word]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.iter().for_each(|word| word.text.hash(&mut hasher));
    hasher.finish()
}

/// Takes a text apart. The letter behind a backslash is none: JSON writes a line break as `\n`.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let word =
        |place: Range<usize>, weight: usize| Word { text: text[place.clone()].to_lowercase(), place, weight };
    let mut start: Option<usize> = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        let is_letter = c.is_alphanumeric() && !is_escaped;
        is_escaped = c == '\\' && text[at + 1..].starts_with(['n', 't', 'r', 'b', 'f']);
        if is_letter && !is_unspaced(c) {
            start = start.or(Some(at));
            continue;
        }
        words.extend(start.take().map(|start| word(start..at, WORD)));
        if is_letter {
            words.push(word(at..at + c.len_utf8(), 1));
        }
    }
    words.extend(start.map(|start| word(start..text.len(), WORD)));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = "---\nname: feedback-salary\ndescription: never mention Ada's salary in reviews\ntype: feedback\n\
         ---\nNever mention the salary of Ada Quill in a review.\n\n**Why:** she asked for it.\n";

    fn echoes() -> Echoes {
        let mut echoes = Echoes::default();
        echoes.add_version(MEMORY.as_bytes());
        echoes.add_name("feedback-salary");
        echoes
    }

    /// F1: what a text repeats is taken out, also where it was cut short, rewrapped or written as JSON.
    #[test]
    fn f1_what_is_repeated_is_taken_out_however_it_is_written() {
        for (text, left) in [
            ("- asked: never mention the salary of Ada Quill in a re…", "- asked: [erased] re…"),
            ("NEVER mention\n  the salary of\n  Ada Quill", "[erased]"),
            (r#"{"text":"ok.\nNever mention the \"salary\" of Ada Quill"}"#, r#"{"text":"ok.\n[erased]"}"#),
            ("see [[feedback-salary]] and feedback-salary.md", "see [[[erased]]] and [erased]"),
            ("Why: she asked for it.", "[erased]."),
        ] {
            let redacted = echoes().redact(text);
            assert_eq!(redacted.as_deref(), Some(left), "{text}");
            assert!(!echoes().is_in(left), "{left}");
        }
    }

    #[test]
    fn words_that_only_occur_stay() {
        for text in
            ["the salary table of the review tool", "Ada Quill asked for a review", "", "feedback on salary"]
        {
            assert_eq!(echoes().redact(text), None, "{text}");
        }
        assert!(Echoes::default().is_empty() && !echoes().is_empty());
    }

    #[test]
    fn scripts_without_spaces_are_counted_by_characters() {
        let mut echoes = Echoes::default();
        echoes.add_version("급여 이야기는 리뷰에서 절대 하지 마세요".as_bytes());
        let redacted = echoes.redact("메모: 급여 이야기는 리뷰에서 절대 하지 마…").unwrap();
        assert_eq!(redacted, "메모: [erased]…");
        assert_eq!(echoes.redact("리뷰에서 이야기합니다"), None);
    }
}
