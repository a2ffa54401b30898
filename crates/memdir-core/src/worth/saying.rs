//! Whether a sentence says what an instruction already says.
//!
//! Rules are short and are rephrased freely ("never mock the database", "do not use mocks for the database"), so the
//! order of words counts for nothing and their endings for little. What counts is which telling words both have,
//! weighed by length, and what each forbids: "use npm" is no repetition of "never use npm". A sentence that adds a
//! reason or an exception of its own is not the same rule; the judge looks after that.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use super::evidence::InstructionLine;
use super::stems::{in_english, same, stem, without_ending};
use super::words::{Words, listed};
use crate::text::is_unspaced;

/// A text as the set of its telling words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Saying {
    /// Stems of the words; of Korean and kin each two neighbouring characters.
    words: BTreeSet<String>,
    /// Stems near a negation: what is forbidden or left undone.
    denied: BTreeSet<String>,
    is_negative: bool,
    has_unspaced: bool,
}

/// From this share of a sentence's words on, an instruction says the same.
const COVERED: f64 = 0.6;
/// As much of the instruction must be said again: a rule that is only touched is not repeated.
const TOLD: f64 = 0.5;
/// Fewer telling words can be about anything, unless both texts have exactly them.
const MIN_COMMON: usize = 2;
/// A sentence with more telling words is not short.
const MAX_SHORT: usize = 10;
/// A shorter beginning of a compound is an accident.
const MIN_COMPOUND: usize = 5;
/// A longer word is no word: its first letters stand for it, so that each costs the same to compare.
const MAX_WORD: usize = 64;

impl Saying {
    pub(super) fn of(text: &str) -> Self {
        let mut saying = Self::default();
        // What is denied ends with its clause: "use pnpm, never npm" denies only the latter.
        for clause in text.split([',', ';', ':', '.', '—', '–', '(', ')']) {
            saying.clause(clause);
        }
        saying.unspaced(text);
        saying
    }

    fn clause(&mut self, clause: &str) {
        let words: Vec<String> = spaced(clause).collect();
        let denies = words.iter().any(|word| DENIALS.contains(word.as_str()));
        self.is_negative |= denies;
        for word in words {
            if DENIALS.contains(word.as_str()) || SMALL.contains(word.as_str()) {
                continue;
            }
            let stem = same(stem(first_letters(&word)));
            if denies {
                self.denied.insert(stem.clone());
            }
            self.words.insert(stem);
        }
    }

    fn unspaced(&mut self, text: &str) {
        for word in text.split(|c: char| !is_unspaced(c)).filter(|word| !word.is_empty()) {
            self.has_unspaced = true;
            let negations = ["않", "말", "금지", "없", "못", "안 ", "마세요", "마라", "不", "禁", "ない"];
            if negations.iter().any(|negation| word.contains(negation)) {
                self.is_negative = true;
            }
            if let Some(same) = in_english(word) {
                self.words.insert(same.to_owned());
                continue;
            }
            let characters: Vec<char> = without_ending(word).chars().collect();
            let pairs = characters.windows(2).map(|pair| pair.iter().collect::<String>());
            self.words.extend(pairs);
            if let [one] = characters[..] {
                self.words.insert(one.to_string());
            }
        }
    }

    /// Returns the line that says as good as all of this sentence, the best of several.
    pub(super) fn repeated<'l>(&self, lines: &'l [InstructionLine]) -> Option<&'l InstructionLine> {
        let common = |line: &'l InstructionLine| (line, self.common(&line.saying));
        let candidates: Vec<_> = lines.iter().map(common).filter(|(_, common)| !common.is_empty()).collect();
        let mut n_lines: HashMap<&str, BTreeSet<(&str, usize)>> = HashMap::new();
        for (line, common) in &candidates {
            for word in common {
                n_lines.entry(word).or_default().insert((&line.file, line.line));
            }
        }
        let is_rare = |word: &&&str| n_lines.get(**word).is_some_and(|lines| lines.len() == 1);
        let scored = candidates.iter().filter_map(|(line, common)| {
            let n_rare = common.iter().filter(is_rare).count();
            Some((self.repeats(&line.saying, n_rare)?, *line))
        });
        scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, line)| line)
    }

    fn common(&self, rule: &Self) -> Vec<&str> {
        self.words.iter().filter(|word| rule.has(word)).map(String::as_str).collect()
    }

    /// Returns how much of this sentence `rule` says, if it says as good as all of it; `n_rare` of the words that both
    /// have stand in no other rule.
    fn repeats(&self, rule: &Self, n_rare: usize) -> Option<f64> {
        let common: Vec<&String> = self.words.iter().filter(|word| rule.has(word)).collect();
        let told = rule.words.iter().filter(|word| self.has(word));
        let covered = weight(common.iter().copied()) / weight(self.words.iter()).max(1.0);
        let told = weight(told) / weight(rule.words.iter()).max(1.0);
        let is_exact = self.words == rule.words && !self.words.is_empty();
        let (covered_at, told_at) =
            if self.has_unspaced { (COVERED - 0.15, TOLD - 0.05) } else { (COVERED, TOLD) };
        let is_near = common.len() >= MIN_COMMON && covered >= covered_at && told >= told_at
            || common.len() >= MIN_COMMON && covered >= 0.85 && told >= 0.3
            || common.len() > MIN_COMMON && covered >= 0.5 && told >= 0.8;
        // Two words that only this rule has tell it, however the rest is put; in a long sentence they may be passing.
        let is_told = n_rare >= MIN_COMMON && covered >= 0.4 && told >= 0.3 && self.words.len() <= MAX_SHORT;
        ((is_exact || is_near || is_told) && !self.contradicts(rule)).then_some(covered)
    }

    /// Says whether the text has a word, or a compound that begins with it or that it begins.
    fn has(&self, word: &str) -> bool {
        if self.words.contains(word) {
            return true;
        }
        // The end of the shortest beginning that counts; a shorter word begins nothing.
        let Some((at, c)) = word.char_indices().nth(MIN_COMPOUND - 1) else { return false };
        if is_unspaced_word(word) {
            return false;
        }
        let begins_one = || {
            let mut behind = self.words.range::<str, _>((Bound::Excluded(word), Bound::Unbounded));
            behind.next().is_some_and(|known| known.starts_with(word))
        };
        let ends = word[at + c.len_utf8()..].char_indices().map(|(len, _)| at + c.len_utf8() + len);
        begins_one() || ends.into_iter().any(|end| self.words.contains(&word[..end]))
    }

    /// Says whether a description tells nearly all of this sentence, and perhaps more.
    pub(super) fn is_told_by(&self, text: &Self) -> bool {
        let common = self.words.iter().filter(|word| text.has(word));
        let n_common = common.clone().count();
        n_common >= 4 && weight(common) >= COVERED * weight(self.words.iter())
    }

    /// Says whether this sentence tells all of `other`, a short line.
    pub(super) fn holds(&self, other: &Self) -> bool {
        let n_common = self.words.intersection(&other.words).count();
        other.words.len() >= 3 && n_common >= 3 && n_common * 3 >= other.words.len() * 2
    }

    /// Says whether one forbids what the other asks for.
    fn contradicts(&self, rule: &Self) -> bool {
        if self.is_negative == rule.is_negative {
            // "never npm, use pnpm" and "never pnpm" are both negative.
            let asks = |word: &String| rule.words.contains(word) && !rule.denied.contains(word);
            return self.denied.iter().any(asks) && self.denied.is_disjoint(&rule.denied);
        }
        // "Store money as cents, never as floats" is also told by "store money as cents": the denied part is left
        // out. A contradiction is when what one denies is what the other is about.
        let (negative, positive) = if self.is_negative { (self, rule) } else { (rule, self) };
        if negative.has_unspaced {
            return positive.words.intersection(&negative.words).count() * 10 > negative.words.len() * 8;
        }
        let denied = negative.denied.intersection(&positive.words).count();
        let free =
            negative.words.difference(&negative.denied).filter(|word| positive.words.contains(*word)).count();
        denied > 0 && denied >= free
    }
}

/// Weighs words: a long one tells more than a short one.
fn weight<'a>(words: impl Iterator<Item = &'a String>) -> f64 {
    words
        .map(|word| if is_unspaced_word(word) { 2.0 } else { 2.0 + word.chars().count().min(8) as f64 / 4.0 })
        .sum()
}

fn first_letters(word: &str) -> &str {
    word.char_indices().nth(MAX_WORD).map_or(word, |(end, _)| &word[..end])
}

fn is_unspaced_word(word: &str) -> bool {
    word.chars().next().is_some_and(is_unspaced)
}

/// Returns the words of scripts with spaces, in lower case, without quotes.
fn spaced(text: &str) -> impl Iterator<Item = String> + '_ {
    let belongs = |c: char| (c.is_alphanumeric() && !is_unspaced(c)) || matches!(c, '\'' | '’' | '_');
    text.split(move |c| !belongs(c)).filter(|word| !word.is_empty()).map(|word| {
        let word = word.to_lowercase().replace('’', "'");
        word.trim_matches('\'').to_owned()
    })
}

/// Words that turn what stands behind them into its opposite.
static DENIALS: Words = Words::new(|| {
    listed(
        "out not never no don't dont doesn't mustn't shouldn't can't cannot won't isn't aren't without avoid \
     forbidden prohibited stop nicht nie niemals kein keine keinen keinem keiner ohne verboten nor \
     neither instead statt anstatt weder rather",
    )
});

/// Words that carry nothing of a rule.
static SMALL: Words = Words::new(|| {
    listed(
        "a an the and or is are be been was were it its this that these those of to in on at as by for with \
     from into we our us you your i me my they them their he she should must shall have has had do does \
     did always please only just every each all any here there so then than when if but will would can \
     may need needs want wants make sure remember also too rule allowed require requires required brauchen braucht plus project repo ever anything \
     something keep go goes get gets der die das den dem des ein eine einen einem einer und oder ist sind \
     wird werden wurde soll sollen muss müssen darf dürfen mehr nur immer bitte wir ich du sie er es uns \
     unser im ins am zu zum zur mit von vom für auf über bei beim aus als auch hier dass sich man jede jeder \
     jedes jeden alle s t who which what how where because since let lets let's",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(text: &str, rule: &str) -> bool {
        Saying::of(text).repeats(&Saying::of(rule), 0).is_some()
    }

    #[test]
    fn a_rephrased_rule_is_the_same_rule() {
        for (text, rule) in [
            ("always use pnpm here, not npm and not yarn", "Use pnpm, never npm or yarn."),
            ("use pnpm", "Use pnpm, never npm or yarn."),
            (
                "Amounts of money have to be stored as integer cents; floats are not allowed.",
                "Store money as integer cents, never as floats.",
            ),
            (
                "Don't mock the database in tests.",
                "Never mock the database; tests run against a real Postgres in Docker.",
            ),
            (
                "Nach dem Boot darf kein Speicher mehr auf dem Heap angelegt werden.",
                "Nach dem Booten wird kein Heap-Speicher mehr angelegt.",
            ),
            (
                "화면 문구는 코드에 직접 쓰지 말고 꼭 strings.xml에 넣어 주세요.",
                "화면 문구는 반드시 strings.xml에 넣고 코드에 직접 쓰지 않는다.",
            ),
            ("커밋하기 전에 ktlint 돌려야 합니다", "커밋 전에 ktlint를 실행한다."),
            (
                "Tests have to run against a real Postgres",
                "Never mock the database; tests run against a real Postgres in Docker.",
            ),
        ] {
            assert!(repeats(text, rule), "{text} / {rule}");
        }
    }

    #[test]
    fn what_a_rule_forbids_is_not_the_rule() {
        for (text, rule) in [
            ("never use pnpm", "Use pnpm."),
            ("use npm", "Use pnpm, never npm or yarn."),
            (
                "mock the database in tests",
                "Never mock the database; tests run against a real Postgres in Docker.",
            ),
            ("Never push to main without asking", "Run `just check` before every push."),
            ("Tests are slow on Windows", "Tests must not sleep; use the fake clock."),
            (
                "We support Postgres 14 until June",
                "Never mock the database; tests run against a real Postgres in Docker.",
            ),
        ] {
            assert!(!repeats(text, rule), "{text} / {rule}");
        }
    }
}
