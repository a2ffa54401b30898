//! What a sentence shows of the things that decide whether it is worth remembering, as numbers.
//!
//! `statement` says what a sentence does; here is what that does not tell: whether a cause lies outside the code, whether
//! the time it speaks of is over in an hour, whether it is a story of an error and its cure, whether git tells it too.
//! All of it is tables of word beginnings in three languages, looked up in one pass. A word counts once however often it
//! stands there. The tables hold what such sentences have in common, not sentences.

use std::sync::LazyLock;

use crate::korean::is_syllable;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

macro_rules! features {
    ($($(#[$doc:meta])* $feature:ident = $name:literal,)+) => {
        /// What a word can speak for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Feature { $($(#[$doc])* $feature,)+ }

        const N_FEATURES: usize = [$($name,)+].len();

        impl Feature {
            fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$feature),)+
                    _ => None,
                }
            }
        }
    };
}

features! {
    /// People and institutions outside the code: customers, vendors, authorities.
    Party = "party",
    /// Contracts, laws, licences, deadlines.
    Duty = "duty",
    /// What something costs.
    Money = "money",
    /// What happened to people: an outage, a complaint, a loss.
    Incident = "incident",
    /// What somebody wants, refuses or promised.
    Wish = "wish",
    /// What another's system or a thing of the world allows.
    Limit = "limit",
    /// That something odd is meant to be so.
    Purpose = "purpose",
    /// A time that is over within the session.
    Moment = "moment",
    /// What is being done in the session.
    Doing = "doing",
    /// How something failed.
    Symptom = "symptom",
    /// What was done against it.
    Remedy = "remedy",
    /// That it then worked.
    Cure = "cure",
    /// What is done to code and recorded by git.
    Recorded = "recorded",
    /// What git keeps.
    Record = "record",
    /// A time in the near past.
    Lately = "lately",
    /// A reason that gives none: to know, to find, to have an overview.
    Empty = "empty",
    /// A connective of reasons.
    Reason = "reason",
    /// A ban that is written to the verb it forbids: in Korean "may not be deleted" holds "if deleted".
    Ban = "ban",
    /// What code is made of, as a word.
    Code = "code",
}

/// What a sentence shows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Features([f32; N_FEATURES]);

impl Features {
    pub(super) fn of(text: &str) -> Self {
        let text = normal(text);
        let mut seen = vec![false; ENTRIES.len()];
        let mut features = Self::default();
        for found in MATCHER.find_overlapping_iter(&text) {
            let at = found.pattern().as_usize();
            if !std::mem::replace(&mut seen[at], true) {
                features.0[ENTRIES[at].feature as usize] += ENTRIES[at].weight;
            }
        }
        features
    }

    pub(super) fn get(self, feature: Feature) -> f32 {
        self.0[feature as usize]
    }

    /// Returns what tells of an error, what was done, and that it helped, none of it more than `most`.
    pub(super) fn story(self, most: f32) -> [f32; 3] {
        if self.get(Feature::Ban) > 0.0 {
            return [0.0; 3];
        }
        [Feature::Symptom, Feature::Remedy, Feature::Cure].map(|feature| self.get(feature).min(most))
    }

    /// Returns how much speaks for a cause outside the code; `with_incidents` is off where every story has one.
    pub(super) fn outside(self, with_incidents: bool) -> f32 {
        let sum: f32 =
            [Feature::Party, Feature::Duty, Feature::Money, Feature::Wish, Feature::Limit, Feature::Purpose]
                .map(|feature| self.get(feature).min(2.0))
                .iter()
                .sum();
        sum + if with_incidents { self.get(Feature::Incident).min(2.0) } else { 0.0 }
    }
}

/// Returns `text` in lower case, each run of other characters than letters and digits as one space.
fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len() + 2);
    normal.push(' ');
    for c in text.chars() {
        match c {
            '\'' | '’' => {}
            '€' => normal.push_str(" euro "),
            '$' => normal.push_str(" dollar "),
            c if c.is_alphanumeric() => {
                // A particle is written to a foreign word: "PR이".
                let is_other_script = normal.chars().next_back().is_some_and(|last| {
                    last != ' ' && last.is_ascii() != c.is_ascii() && (is_syllable(last) || is_syllable(c))
                });
                if is_other_script {
                    normal.push(' ');
                }
                normal.extend(c.to_lowercase());
            }
            _ if normal.ends_with(' ') => {}
            _ => normal.push(' '),
        }
    }
    normal.push(' ');
    normal
}

/// The tables, as people write them.
const TABLES: &str = include_str!("features.txt");

/// A word of the tables: what it speaks for, how much, and as a pattern over a normal text.
struct Entry {
    feature: Feature,
    weight: f32,
    pattern: String,
}

/// The tables are ours, so a mistake in them is a broken invariant; a test reads them all.
static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let mut entries = Vec::new();
    let mut table = None;
    for line in TABLES.lines().filter(|line| !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let (name, weight) = head.split_once(' ').expect("a table has a name and a weight");
            let feature = Feature::named(name).expect("a table's name is a feature");
            table = Some((feature, weight.parse().expect("a weight is a number")));
            continue;
        }
        let Some((feature, weight)) = table else { continue };
        let words = line.split_ascii_whitespace();
        entries.extend(words.map(|word| Entry { feature, weight, pattern: pattern(word) }));
    }
    entries
});

static MATCHER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let patterns = ENTRIES.iter().map(|entry| entry.pattern.as_str());
    // The automaton that is made fastest: it reads a few sentences in the life of a process.
    let builder = &mut AhoCorasick::builder();
    let builder = builder.kind(Some(AhoCorasickKind::NoncontiguousNFA)).dense_depth(1).prefilter(false);
    builder.build(patterns).expect("the tables are small")
});

fn pattern(word: &str) -> String {
    let text = word.replace('_', " ");
    let is_korean = word.contains(is_syllable);
    match text.strip_suffix('*') {
        _ if is_korean => text,
        Some(open) => format!(" {open}"),
        None if text.ends_with(' ') => format!(" {text}"),
        None => format!(" {text} "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(text: &str, feature: Feature) -> f32 {
        Features::of(text).get(feature)
    }

    #[test]
    fn every_table_has_a_feature_and_a_weight() {
        assert!(ENTRIES.len() > 1000);
        assert!(ENTRIES.iter().all(|entry| entry.weight > 0.0 && !entry.pattern.trim().is_empty()));
    }

    #[test]
    fn words_count_whole_by_their_beginning_or_in_korean_anywhere() {
        assert!(weight("Our customers asked for it", Feature::Party) > 0.0);
        assert!(weight("costs 3 € each", Feature::Money) > 1.2, "a sign of money is a word too");
        assert_eq!(weight("a cosine", Feature::Money), 0.0);
        assert!(weight("법무팀이 거절했다", Feature::Party) > 0.0);
        assert!(weight("PR이 머지됐어요", Feature::Record) > 0.0, "a particle is written to a foreign word");
        assert_eq!(weight("merged merged merged", Feature::Recorded), weight("merged", Feature::Recorded));
    }
}
