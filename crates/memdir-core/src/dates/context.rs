//! Whether a phrase means a day at all, judged by what stands around it.
//!
//! A wrong date is worse than a relative one, so what recurs ("every Friday"), rolls along ("within 3 days of a
//! request"), is vague ("early next month") or is a name ("Black Friday") stays as it is.

use jiff::civil::Date;

use super::cues::Set;
use super::grammar::Found;
use super::lexicon::{Lang, Sense};
use super::meaning::{Meaning, Tense, Which, number, resolve};
use super::place::Place;
use super::standing::is_standing;
use super::token::{Kind, Token};

/// What is to be done with a phrase that a grammar found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Take,
    /// It may be something shorter.
    Shorter,
    /// It is no date, and neither is any part of it.
    Leave,
}

/// Judges a phrase in its place.
pub(super) fn judge(place: &Place, found: &Found, today: Date) -> Verdict {
    let bound = place.is_bound();
    // "7월 1일짜리" is no day, and not July either.
    if bound && found.lang == Lang::Korean {
        return Verdict::Leave;
    }
    if bound || !is_spelled(place, found) || !has_company(place, found) {
        return Verdict::Shorter;
    }
    if is_left(place, found, today) { Verdict::Leave } else { Verdict::Take }
}

/// Whether a phrase is no date of its own in this place.
pub(super) fn is_left(place: &Place, found: &Found, today: Date) -> bool {
    place.is_bound()
        || place.is_heading()
        || recurs(place, found)
        || is_standing(place, found)
        || is_vague(place, found)
        || is_name(place, found)
        || counts_from_elsewhere(place, found)
        || is_told_already(place, found, today)
}

/// Whether the spelling fits: names of months that are other words need their capital, "Q3" is written so.
pub(super) fn is_spelled(place: &Place, found: &Found) -> bool {
    let tokens = &place.tokens[place.start..place.end];
    tokens.iter().enumerate().all(|(i, token)| match token.text {
        "may" | "march" | "mar" | "jan" | "dec" | "sep" | "q" | "mai" => found.lang == Lang::Korean,
        "Q" => {
            tokens.get(i + 1).is_some_and(|digit| digit.glued && digit.text.len() == 1) && !is_label(place, i)
        }
        "mo" | "di" | "mi" | "do" | "fr" | "sa" | "so" => found.lang != Lang::German,
        "Morgen" => is_tomorrow(place),
        // "heute morgen" is this morning.
        "morgen" => {
            !place.is_word(place.before(1), &["heute", "gestern", "am", "guten"]) && !place.follows_iso()
        }
        _ => true,
    })
}

/// "Q1: what is a vault?" numbers a question.
fn is_label(place: &Place, i: usize) -> bool {
    i == 0 && place.first().breaks > 0 && place.behind(0).is_some_and(|token| token.is(':') || token.is('.'))
}

/// "Morgen" with a capital is the morning, unless it begins the sentence.
fn is_tomorrow(place: &Place) -> bool {
    let begins = place
        .before(1)
        .is_none_or(|token| token.kind == Kind::Mark && !matches!(token.text, "," | ")" | "–" | "'"));
    begins && !place.behind(0).is_some_and(|token| token.is('!') || token.is(','))
}

/// Whether words that need a neighbour to be a date have one.
fn has_company(place: &Place, found: &Found) -> bool {
    let single = place.end - place.start == 1;
    match found.meaning {
        Meaning::NamedMonth { which: Which::Nearest, .. } if found.lang != Lang::Korean => {
            let listed = place.is_word(place.before(1), &["and", "or", "und", "oder"])
                && place.before(2).is_some_and(|token| is_month(place, token));
            let place = if listed { Place { start: place.start - 2, ..*place } } else { *place };
            place.is_before(1, Set::Before) && !closes_bare_range(&place)
        }
        Meaning::DayOfMonth { weekday: None, .. } => is_day_of_month(place, found.lang),
        Meaning::Weekend(None) => {
            is_weekend(place, found.lang) && !place.is_word(place.behind(0), &["of", "vom", "shift"])
        }
        Meaning::Weekday { .. } if found.slots.short && found.lang == Lang::German => {
            place.is_word(place.before(1), &BEFORE_SHORT_GERMAN) || place.is_figure_behind(0)
        }
        Meaning::Weekday { .. } if found.slots.short && single => is_short_weekday(place),
        _ => true,
    }
}

/// What stands before "Do" and "So" where they are days.
pub(super) const BEFORE_SHORT_GERMAN: [&str; 8] = ["am", "bis", "ab", "vom", "seit", "zum", "auf", "von"];

/// Whether the month closes a range whose first month was left alone: "covers January to March".
fn closes_bare_range(place: &Place) -> bool {
    let len = || {
        let month = place.before(2).is_some_and(|token| is_month(place, token));
        if month { Some(1) } else { place.written_before(2) }
    };
    place.is_word(place.before(1), &["to", "through", "until", "bis"])
        && len().is_some_and(|len| !place.is_before(2 + len, Set::Before))
}

fn is_month(place: &Place, token: &Token) -> bool {
    let is_month = |sense| matches!(sense, Sense::Month { .. });
    let langs = [Lang::English, Lang::German];
    langs.into_iter().any(|lang| place.book.lexicon.senses(token.word, lang).any(is_month))
}

/// "by Sun", "Fri 6pm", but neither "the Sun" nor "Mon, Wed, Fri".
fn is_short_weekday(place: &Place) -> bool {
    let listed =
        |token: Option<&Token>| token.is_some_and(|t| t.is(',') || t.is('/') || t.is('&') || t.is('|'));
    if place.is_before(1, Set::Before) || place.is_figure_behind(0) {
        return true;
    }
    let opens_item = place.behind(0).is_some_and(|token| token.is(':'));
    let is_word = matches!(place.first().text, "Mon" | "Sat" | "Sun" | "Wed") && !opens_item;
    place.first().is_capital() && !is_word && !listed(place.before(1)) && !listed(place.behind(0))
}

fn is_day_of_month(place: &Place, lang: Lang) -> bool {
    let behind = place.behind(0);
    match lang {
        Lang::English => {
            let event = || place.sentence().iter().any(|token| place.book.has(Set::Event, token));
            let preposition = place.is_before(1, Set::Before)
                && !place.is_word(place.before(1), &["of", "in", "for", "during"])
                || place.is_word(place.before(1), &["is", "was"]) && event();
            let free = behind.is_none_or(|token| {
                !token.is_wordlike() && !token.is('-') || place.book.has(Set::BehindNth, token)
            });
            preposition && free && !place.is_figure_behind(1)
        }
        Lang::German => {
            let preposition =
                place.is_word(place.before(1), &["am", "bis", "zum", "vom", "ab", "seit", "den", "dem"]);
            let listed = place.is_word(behind, &["und", "oder", "bis", "eines", "jedes", "jeden"]);
            preposition
                && !listed
                && behind.is_none_or(|token| !token.is_capital() && token.kind != Kind::Number)
        }
        Lang::Korean => {
            let dated =
                behind.is_some_and(|token| token.glued && matches!(token.text, "까지" | "에" | "부터"));
            let again = place.behind(1).is_some_and(|token| token.kind == Kind::Number || token.text == "한");
            dated
                && !again
                && !place.is_word(place.before(1), &["지난", "최근", "최대", "월", "매월", "매달"])
        }
    }
}

fn is_weekend(place: &Place, lang: Lang) -> bool {
    match lang {
        Lang::English => {
            place.is_before(1, Set::Before) || place.is_word(place.before(1), &["over", "at", "on"])
        }
        Lang::German => place.is_word(place.before(1), &["am", "uebers", "das", "dem", "zum", "vom"]),
        Lang::Korean => place.behind(0).is_some_and(|token| matches!(token.text, "에" | "까지" | "동안")),
    }
}

/// "every Friday", "every other Friday", "Friday afternoons", "usually on Monday".
fn recurs(place: &Place, found: &Found) -> bool {
    const BETWEEN: &[&str] = &[
        "other", "second", "first", "third", "single", "the", "two", "three", "zweiten", "ersten", "dritten",
        "zweite", "erste", "of",
    ];
    let n = if place.is_word(place.before(1), BETWEEN) { 2 } else { 1 };
    let named = matches!(
        found.meaning,
        Meaning::Weekday { .. }
            | Meaning::MonthDay { .. }
            | Meaning::DayOfMonth { .. }
            | Meaning::Weekend(None)
            | Meaning::NamedMonth { .. }
            | Meaning::NamedQuarter { .. }
            | Meaning::From(..)
            | Meaning::LastDay(_)
    );
    let of_month = place.is_word(place.behind(0), &["of", "im", "des"])
        && (1..4).any(|n| {
            place.is_word(place.behind(n), &["month", "monat", "monats", "quarter", "year", "week"])
        });
    let often =
        ["weekly", "daily", "monthly", "yearly", "annually", "woechentlich", "monatlich", "jaehrlich"];
    place.is_before(n, Set::Recurring)
        || named && (place.is_word(place.before(1), &often) || place.is_word(place.before(2), &often))
        || place.is_before(1, Set::Recurring)
        || place.is_behind(0, Set::Parts)
        || place.is_word(place.behind(0), &["every", "each", "jede", "jeden"])
        || named && place.sentence().iter().any(|token| place.book.has(Set::Usually, token))
        || is_weekday(found) && is_habit(place)
        || is_weekday(found) && (of_month || is_counted(place) || place.is_before(1, Set::Indefinite))
}

/// "Friday deploys are forbidden"
fn is_habit(place: &Place) -> bool {
    let plural = |token: &Token| token.kind == Kind::Word && token.text.ends_with('s') && !token.glued;
    place.behind(0).is_some_and(plural)
        && place.is_word(place.behind(1), &["are", "aren", "were", "need", "must"])
}

/// "the first Monday in April", "last Friday of March", and the same once that month has become a date.
fn is_counted(place: &Place) -> bool {
    let is_ordinal = |token: &Token| {
        let langs = [Lang::English, Lang::German];
        langs.into_iter().any(|lang| {
            place.book.lexicon.senses(token.word, lang).any(|sense| matches!(sense, Sense::Ordinal(_)))
        })
    };
    place.before(1).is_some_and(is_ordinal)
        || place.is_word(place.behind(0), &["of", "in", "im"])
            && (place.behind(1).is_some_and(|token| is_month(place, token)) || place.is_written_behind(1))
}

fn is_weekday(found: &Found) -> bool {
    matches!(
        found.meaning,
        Meaning::Weekday { .. } | Meaning::Coming { .. } | Meaning::Last { .. } | Meaning::InWeek { .. }
    )
}

/// "early next month", "Mitte März", "3월 초", "around Friday".
fn is_vague(place: &Place, found: &Found) -> bool {
    let n = if place.is_word(place.before(1), &["in", "of", "der", "des", "im", "the"]) { 2 } else { 1 };
    let near = ["around", "roughly", "approximately", "circa", "ca", "etwa", "ungefaehr", "gegen", "대략"];
    let is_day = is_weekday(found) || matches!(found.meaning, Meaning::Day(_) | Meaning::MonthDay { .. });
    if place.is_word(place.before(1), &near) {
        return true;
    }
    let word = place.is_before(n, Set::Vague) || place.is_before(1, Set::Vague);
    !is_day && word || place.is_behind(0, Set::VagueBehind)
}

/// "Black Friday", "Freitag AG", "the today view", "Tuesday's Gone", "--since yesterday".
fn is_name(place: &Place, found: &Found) -> bool {
    let option = place.before(2).is_some_and(|token| token.is('-'))
        && place.before(3).is_some_and(|token| token.is('-'));
    let weekday =
        is_weekday(found) && (place.is_before(1, Set::NameBefore) || place.is_before(1, Set::Elsewhere));
    // "the Friday after the release"
    let beside = is_weekday(found)
        && place.is_word(place.before(1), &["the"])
        && place.is_word(place.behind(0), &["after", "before"]);
    let noun = matches!(found.meaning, Meaning::Day(_))
        && place.end - place.start == 1
        && place.is_word(place.before(1), &["the", "a", "der", "die", "das"]);
    let owns = place.behind(0).is_some_and(|token| token.is('\'') || token.is('’'))
        && place.behind(1).is_some_and(|token| token.glued && token.text == "s");
    let title =
        |token: &Token| token.is_capital() && token.text.chars().nth(1).is_some_and(char::is_lowercase);
    let owned = owns
        && place.behind(2).is_some_and(|token| title(token) || place.is_word(Some(token), &["date", "time"]));
    // "at the end of the day, quality matters" is a way of speaking.
    let saying = matches!(found.meaning, Meaning::Day(0))
        && place.is_word(place.tokens.get(place.end - 1), &["day"])
        && (place.is_word(place.before(1), &["at"]) || place.is_word(place.before(2), &["at"]));
    // "over the last week" rolls along.
    let rolls = found.lang == Lang::English
        && place.is_word(Some(place.first()), &["next", "last"])
        && place.is_word(place.before(1), &["the"])
        && !is_weekday(found);
    // "von Donnerstag auf Dienstag verlegt": which Thursday it was, nobody says.
    let moved = place.is_word(place.before(1), &["von", "vom"]) && place.is_word(place.behind(0), &["auf"]);
    option
        || saying
        || rolls
        || moved
        || beside
        || weekday
        || noun
        || owned
        || place.is_behind(0, Set::NameBehind)
}

/// Spans that begin at something else than now: "within 3 days of a request", "만료 3일 전", "about two weeks ago".
fn counts_from_elsewhere(place: &Place, found: &Found) -> bool {
    let ahead = match found.meaning {
        Meaning::Step { n, .. } => n > 0,
        Meaning::Within { .. } => true,
        _ => return false,
    };
    let from = ["of", "after", "nach", "ab", "from", "before", "or", "seit", "oder", "vor", "following"];
    // "läuft in drei Monaten ab": the last word is a part of the verb.
    let is_verb = place.is_word(place.behind(0), &["ab", "vor", "nach"])
        && place.behind(1).is_none_or(|t| !t.is_wordlike());
    let is_from = place.is_word(place.behind(0), &from) && !is_verb;
    let condition = || place.sentence().iter().any(|token| place.book.has(Set::Condition, token));
    place.is_before(1, Set::Roughly)
        || ahead && (is_from || condition())
        || found.lang == Lang::Korean && !begins_phrase(place)
}

/// Whether what stands before a Korean span does not belong to it: nothing, a particle, an adverb.
fn begins_phrase(place: &Place) -> bool {
    let Some(token) = place.before(1).filter(|token| token.kind != Kind::Mark) else { return true };
    let particle = |token: &Token| {
        token.text.ends_with(['은', '는', '이', '가', '을', '를', '에', '도', '서', '로', '의', '만', '고'])
    };
    place.book.has(Set::KoreanAdverb, token) || token.kind == Kind::Hangul && particle(token)
}

/// A weekday beside the date it falls on, and a phrase with its date in brackets, are settled already.
fn is_told_already(place: &Place, found: &Found, today: Date) -> bool {
    let bracket = place.behind(0).is_some_and(|token| token.is('('));
    let means = |date: Date, tense| {
        resolve(&found.meaning, today, tense).is_ok_and(|days| days.first <= date && date <= days.last)
    };
    place.iso_beside().any(|date| {
        is_weekday(found) && number(date) == found.slots.weekday
            || bracket && (means(date, Tense::Open) || means(date, Tense::Past))
    })
}
