//! Whether a text may name a day at all, told from the tables as they are written.
//!
//! Making the grammars ready takes longer than all else that a recall does with a prompt, and most prompts name no day. So
//! a short text is asked first: is there a phrase of which it has every word that may not be missing? Where the answer is
//! no, nothing would be found. Digits and Hangul are always worth a reading.

use crate::korean::is_syllable;

use super::context::BEFORE_SHORT_GERMAN;
use super::grammar::{GRAMMARS, Grammar};
use super::lexicon::{Lang, Sense, fold};
use super::pattern::{Slot, must_haves};

/// A text of more words is simply read.
const MAX_WORDS: usize = 48;

/// Says whether some phrase may stand in a text. If not, reading it finds nothing.
pub(super) fn may_name_a_day(text: &str) -> bool {
    if text.contains(|c: char| c.is_ascii_digit() || is_syllable(c)) {
        return true;
    }
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.take(MAX_WORDS + 1).collect();
    let said: Vec<String> = words.iter().map(|word| fold(word)).collect();
    words.len() > MAX_WORDS || GRAMMARS.iter().any(|grammar| has_phrase(grammar, &said, &words))
}

/// Says whether the words of a text are enough for some phrase of a language.
fn has_phrase(grammar: &Grammar, said: &[String], as_written: &[&str]) -> bool {
    let fillers = Fillers::of(grammar, said);
    let may_be_alone = fillers.is_day_alone(grammar, said, as_written);
    let is_there = |words: &str, between: char| words.split(between).any(|word| has(said, word));
    grammar.phrases.iter().any(|phrase| {
        must_haves(phrase.pattern).all(|item| match Slot::named(item) {
            Some(Slot::Weekday) if phrase.pattern == item => may_be_alone,
            Some(slot) => fillers.fit(slot),
            None => match grammar.classes.iter().find(|(name, _)| *name == item) {
                Some((_, words)) => is_there(words, ' '),
                // Marks are not worth looking for.
                None => !item.starts_with(char::is_alphanumeric) || is_there(item, '|'),
            },
        })
    })
}

fn has(said: &[String], word: &str) -> bool {
    said.iter().any(|said| said == word)
}

/// What a text without digits has to fill open places with.
struct Fillers {
    weekday: bool,
    month: bool,
    senses: Vec<Sense>,
}

impl Fillers {
    fn of(grammar: &Grammar, said: &[String]) -> Self {
        let is_said = |words: &&str| words.split(' ').any(|word| has(said, word));
        let any = |full: &[&str], brief: &[&str]| full.iter().chain(brief).any(&is_said);
        let senses = grammar.words.iter().filter(|(words, _)| is_said(words)).map(|(_, sense)| *sense);
        Self {
            weekday: any(grammar.weekdays, grammar.short_weekdays),
            month: any(grammar.months, grammar.short_months),
            senses: senses.collect(),
        }
    }

    /// Says whether a weekday may stand by itself. English has a "do" and a "so" that are no days: where nothing stands
    /// before them that makes them German ones, only a capital does.
    fn is_day_alone(&self, grammar: &Grammar, said: &[String], as_written: &[&str]) -> bool {
        let is_said = |words: &&str| words.split(' ').any(|word| has(said, word));
        let is_short =
            |word: &str| grammar.short_weekdays.iter().any(|words| words.split(' ').any(|w| w == word));
        let is_capital =
            |(said, written): (&String, &&str)| is_short(said) && written.starts_with(char::is_uppercase);
        self.weekday
            && (grammar.lang != Lang::German
                || grammar.weekdays.iter().any(is_said)
                || BEFORE_SHORT_GERMAN.iter().any(|word| has(said, word))
                || said.iter().zip(as_written).any(is_capital))
    }

    fn fit(&self, slot: Slot) -> bool {
        match slot {
            Slot::Weekday => self.weekday,
            Slot::Month => self.month,
            _ => self.senses.iter().any(|sense| slot.takes(*sense)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_phrase_is_not_read() {
        for text in [
            "",
            "why does the queue fail after the backup was changed",
            "what do we know about the cache, and so on",
            "make the button green, in the end the last one",
        ] {
            assert!(!may_name_a_day(text), "{text}");
        }
    }

    #[test]
    fn every_phrase_of_the_tables_is_worth_a_reading() {
        for grammar in GRAMMARS {
            for phrase in grammar.phrases {
                let said: Vec<&str> = must_haves(phrase.pattern).map(|item| example(grammar, item)).collect();
                let said = said.join(" ");
                assert!(may_name_a_day(&said), "{}: {said}", phrase.pattern);
            }
        }
        for text in ["Bis Übermorgen", "bis do", "Do-Fr", "am so", "by sat"] {
            assert!(may_name_a_day(text), "{text}");
        }
        assert!(may_name_a_day(&"word ".repeat(MAX_WORDS + 1)));
    }

    /// Returns some text that fits an item of a pattern.
    fn example(grammar: &Grammar, item: &'static str) -> &'static str {
        let first = |words: &'static str| words.split([' ', '|']).next().unwrap();
        let Some(slot) = Slot::named(item) else {
            let class = grammar.classes.iter().find(|(name, _)| *name == item);
            return first(class.map_or(item, |(_, words)| *words));
        };
        match slot {
            Slot::Weekday => grammar.weekdays[0],
            Slot::Month => grammar.months[0],
            _ => {
                grammar.words.iter().find(|(_, sense)| slot.takes(*sense)).map_or("3", |found| first(found.0))
            }
        }
    }
}
