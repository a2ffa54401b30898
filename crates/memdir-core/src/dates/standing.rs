//! Whether a day is named because something is so on every such day.
//!
//! "No deploys on Friday" is a rule of every week, "Friday is demo day" and "on the 3rd we bill" tell a habit, "Q4 is
//! audit season" one of every year. Made a date, such a rule would end after one day, so a name that points at no day
//! in particular stays a name where something says so: a ban, a cause, a word of habit. What lies behind us, has a limit
//! ("by", "until", "after") or is planned ("will", "must") happens once.

use super::grammar::Found;
use super::lexicon::Lang;
use super::meaning::{Meaning, Tense, Which};
use super::place::Place;
use super::tense;
use super::token::{Kind, Token};

/// Whether the phrase names a day, month or quarter that a standing rule or a habit is about.
pub(super) fn is_standing(place: &Place, found: &Found) -> bool {
    let Some(cycle) = cycle(&found.meaning) else { return false };
    let sentence = place.sentence();
    let lang =
        if sentence.iter().any(|token| token.kind == Kind::Hangul) { Lang::Korean } else { found.lang };
    if tense::tense(place.tokens, &(place.start..place.end), lang, place.book) == Tense::Past {
        return false;
    }
    let scene = Scene { place, sentence };
    if scene.is_attribute() || scene.is_called() || scene.is_topic() {
        return true;
    }
    let has_limit = scene.has_limit();
    if has_limit && cycle != Cycle::Month {
        return false;
    }
    if scene.bans() && !has_limit || scene.has(SEASON) {
        return true;
    }
    if scene.is_planned() {
        return false;
    }
    let is_habit = scene.has(HABIT) || scene.is_generic() || cycle == Cycle::Month && scene.we_do();
    is_habit || !scene.has(ONCE) && (scene.has(CAUSE) || scene.has_korean_cause())
}

/// How often a name comes back that says no more than itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cycle {
    Week,
    Month,
    Year,
}

/// Returns the cycle of a name that points at none of its days in particular.
fn cycle(meaning: &Meaning) -> Option<Cycle> {
    match meaning {
        Meaning::Weekday { weeks: 0, .. } | Meaning::Weekend(None) => Some(Cycle::Week),
        Meaning::DayOfMonth { weekday: None, .. } => Some(Cycle::Month),
        Meaning::NamedMonth { which: Which::Nearest, .. }
        | Meaning::NamedQuarter { which: Which::Nearest, .. }
        | Meaning::MonthDay { which: Which::Nearest, weekday: None, .. } => Some(Cycle::Year),
        _ => None,
    }
}

/// What forbids, for as long as nobody takes it back.
const BAN: &[&str] = &[
    "no",
    "never",
    "don",
    "dont",
    "avoid",
    "nobody",
    "forbidden",
    "banned",
    "prohibited",
    "nie",
    "niemals",
    "kein",
    "keine",
    "keinen",
    "keinem",
    "keiner",
    "niemand",
    "verboten",
    "vermeiden",
];
/// What forbids together with a "not" behind it.
const MUST: &[&str] = &["do", "must", "may", "should", "can", "we", "i", "they"];
const NOT: &[&str] = &["not", "nicht"];
const KOREAN_BAN: &[&str] =
    &["금지", "지 않", "지않", "말 것", "말것", "마세요", "말아", "안 된", "안된", "안 한", "못 한", "없음"];
/// What comes back: meetings, jobs and shifts that have their day.
const HABIT: &[&str] = &[
    "standup",
    "stand",
    "retro",
    "retrospective",
    "rehearsal",
    "sync",
    "grooming",
    "rota",
    "shift",
    "round",
    "backup",
    "backups",
    "cron",
    "payroll",
    "newsletter",
    "digest",
    "runs",
    "airs",
    "resets",
    "rotates",
    "recurs",
    "bills",
    "fiscal",
    "tax",
    "wochenmeeting",
    "teamrunde",
    "rufbereitschaft",
    "schicht",
    "probe",
    "annual",
    "yearly",
    "budget",
];
/// Names of a time of the year.
const SEASON: &[&str] = &["season", "saison", "hochsaison", "peak", "busiest", "quietest"];
/// What happens once, though it has a cause.
const ONCE: &[&str] = &[
    "demo",
    "deadline",
    "launch",
    "cutover",
    "kickoff",
    "presentation",
    "offsite",
    "workshop",
    "audit",
    "visit",
    "exam",
    "conference",
    "appointment",
    "interview",
    "migration",
    "rollout",
    "freeze",
    "inspection",
    "hearing",
    "wedding",
    "abgabe",
    "abnahme",
    "umzug",
    "messe",
    "termin",
    "besuch",
    "fair",
    "cut",
];
const CAUSE: &[&str] = &["because", "since", "why", "weil", "denn", "deshalb", "darum", "deswegen"];
/// What is ahead and has not been.
const PLANNED: &[&str] = &[
    "will",
    "ll",
    "must",
    "has",
    "needs",
    "going",
    "shall",
    "should",
    "plan",
    "planned",
    "scheduled",
    "due",
    "wird",
    "werden",
    "muss",
    "soll",
    "geplant",
    "again",
    "wieder",
    "moved",
    "pushed",
    "postponed",
];
/// A limit: what is said ends or begins there.
const LIMIT: &[&str] = &[
    "by", "until", "till", "before", "after", "from", "starting", "to", "through", "bis", "ab", "nach",
    "vor", "seit", "vom", "auf", "zum",
];
const KOREAN_LIMIT: &[&str] = &["까지", "부터", "이후", "이전", "로", "으로"];
const ARTICLES: &[&str] =
    &["the", "our", "your", "their", "my", "his", "her", "der", "die", "das", "unser", "unsere"];
/// Words behind a day that are no noun it describes.
const NO_NOUN: &[&str] = &[
    "is",
    "was",
    "as",
    "this",
    "us",
    "its",
    "does",
    "has",
    "always",
    "we",
    "i",
    "you",
    "they",
    "he",
    "she",
    "it",
    "the",
    "a",
    "an",
    "and",
    "or",
    "but",
    "at",
    "because",
    "if",
    "when",
    "so",
    "then",
    "will",
    "for",
    "in",
    "with",
    "to",
    "until",
    "through",
    "that",
    "which",
    "after",
    "before",
    "there",
    "our",
    "all",
    "on",
    "by",
    "from",
    "of",
    "please",
    "next",
    "last",
    "latest",
    "unless",
    "plus",
    "morning",
    "afternoon",
    "evening",
    "night",
    "noon",
    "since",
    "are",
    "must",
    "can",
    "should",
];
const BE: &[&str] = &["is", "are", "ist", "sind"];
/// Verbs of what things do over and over; behind a plural without an article they tell a habit.
const GENERIC: &[&str] = &[
    "are", "go", "run", "close", "open", "happen", "reset", "renew", "expire", "get", "arrive", "leave",
    "need", "start", "end", "have", "take", "come", "stay", "fail", "break", "sind", "laufen", "gehen",
    "kommen",
];

/// A phrase and the sentence around it.
struct Scene<'s, 'p, 't> {
    place: &'s Place<'p, 't>,
    sentence: &'s [Token<'t>],
}

impl Scene<'_, '_, '_> {
    fn has(&self, words: &[&str]) -> bool {
        self.sentence.iter().any(|token| is_one_of(token, words))
    }

    /// "the Friday build", "on Sunday deploys": a day that says which kind.
    fn is_attribute(&self) -> bool {
        let is_noun = |token: &Token| {
            token.kind == Kind::Word && !token.glued && !token.is_capital() && !is_one_of(token, NO_NOUN)
        };
        let Some(noun) = self.place.behind(0).filter(|token| is_noun(token)) else { return false };
        let has_article = self.place.before(1).is_some_and(|token| is_one_of(token, ARTICLES));
        let is_named = |token: &Token| is_one_of(token, &["on", "for", "during"]);
        let is_plural = noun.text.ends_with('s') && !noun.text.ends_with("ss");
        has_article || is_plural && self.place.before(1).is_some_and(is_named)
    }

    /// "Friday is demo day", "Mittwoch ist Markttag": what the day is called.
    fn is_called(&self) -> bool {
        let begins = self.place.before(1).is_none_or(|token| token.kind == Kind::Mark);
        let be = self.place.behind(0).filter(|token| is_one_of(token, BE));
        let is_day = |token: &Token| {
            let text = token.text.to_lowercase();
            token.kind == Kind::Word
                && (text.ends_with("day") || text.ends_with("tag") || text.ends_with("time"))
        };
        begins && be.is_some() && (1..5).any(|n| self.place.behind(n).is_some_and(is_day))
    }

    /// "금요일에는", "수요일은": a Korean day that is spoken about.
    fn is_topic(&self) -> bool {
        let glued = |n: usize| self.place.behind(n).filter(|token| token.glued && token.kind == Kind::Hangul);
        let first = glued(0).map(|token| token.text).unwrap_or_default();
        let second = glued(1).map(|token| token.text).unwrap_or_default();
        let is_topic =
            matches!((first, second), ("에는" | "엔" | "은" | "는" | "에만", _) | ("에", "는" | "만"));
        is_topic && !self.has_korean(&["예정", "기로", "해야", "이번", "다음"])
    }

    fn has_limit(&self) -> bool {
        let article = usize::from(self.place.is_word(self.place.before(1), &["the", "den", "dem"]));
        let before = self.place.before(1 + article).is_some_and(|token| is_one_of(token, LIMIT));
        before || self.place.behind(0).is_some_and(|token| KOREAN_LIMIT.contains(&token.text))
    }

    fn bans(&self) -> bool {
        let not = self.sentence.windows(2).any(|pair| is_one_of(&pair[0], MUST) && is_one_of(&pair[1], NOT));
        let german = self.has(&["nicht"]) && self.has(&["wir", "man", "darf", "duerfen"]);
        self.has(BAN) || not || german || self.has_korean(KOREAN_BAN)
    }

    fn is_planned(&self) -> bool {
        self.has(PLANNED) || self.has_korean(&["예정", "기로", "해야", "다시"])
    }

    /// "Reports go out on Monday": a plural without an article, and what such things do.
    fn is_generic(&self) -> bool {
        let words: Vec<&Token> = self.sentence.iter().filter(|token| token.kind == Kind::Word).collect();
        let is_plural = |token: &Token| {
            token.text.len() > 3
                && token.text.ends_with('s')
                && !token.text.ends_with("ss")
                && !is_one_of(token, NO_NOUN)
        };
        words.windows(2).enumerate().any(|(i, pair)| {
            let is_bare = i.checked_sub(1).is_none_or(|before| !is_one_of(words[before], ARTICLES));
            is_bare && is_plural(pair[0]) && is_one_of(pair[1], GENERIC)
        })
    }

    /// "on the 3rd we bill", "our quota is used up by the 20th": what is done, or comes about, on a day of the month.
    fn we_do(&self) -> bool {
        self.has(&["we", "our", "wir", "unser", "unsere", "우리"]) && !self.has(ONCE)
    }

    fn has_korean_cause(&self) -> bool {
        self.has_korean(&["때문", "니까", "므로"])
    }

    fn has_korean(&self, words: &[&str]) -> bool {
        let mut text = String::new();
        for token in self.sentence.iter().filter(|token| token.kind == Kind::Hangul) {
            if !token.glued {
                text.push(' ');
            }
            text.push_str(token.text);
        }
        !text.is_empty() && words.iter().any(|word| text.contains(word))
    }
}

fn is_one_of(token: &Token, words: &[&str]) -> bool {
    words.iter().any(|word| token.is_word(word))
}
