//! Clock times behind a day: "at 3pm", "um 15 Uhr", "오후 3시 30분".
//!
//! Only a time that can be read in one way is taken. "at 3" may be either half of the day, and "3pm PST" is not in
//! the user's zone; both stay as they are, behind the day.

use jiff::civil::Time;

use super::cues::Set;
use super::lexicon::Lang;
use super::place::Place;
use super::token::{Kind, Token};

/// Reads the time behind the day at `place` and returns it with the token it ends before.
pub(super) fn clock(place: &Place, lang: Lang) -> Option<(usize, Time)> {
    let mut at = place.end;
    let mut part = None;
    if place.is_behind(0, Set::Part) {
        part = place.behind(0).map(|token| token.text);
        at += 1;
    }
    let word = |at: usize, words: &[&str]| place.is_word(place.tokens.get(at), words);
    if place.tokens.get(at).is_some_and(|token| token.is(',') || token.is('@')) || word(at, &["at", "um"]) {
        at += 1;
    }
    let (end, time) = read(place, at, lang, part)?;
    let next = place.tokens.get(end);
    let elsewhere = next
        .is_some_and(|token| place.book.has(Set::Zone, token) && token.text.chars().all(char::is_uppercase));
    (!elsewhere && place.tokens[place.end].breaks == 0).then_some((end, time))
}

fn read(place: &Place, at: usize, lang: Lang, part: Option<&str>) -> Option<(usize, Time)> {
    let tokens = place.tokens;
    let token = |i: usize| tokens.get(i);
    if place.is_word(token(at), &["noon"]) && at > place.end {
        return Some((at + 1, Time::constant(12, 0, 0, 0)));
    }
    let hour = token(at)?.number().filter(|_| tokens[at].text.len() <= 2)?;
    let colon = token(at + 1).is_some_and(|t| t.glued && t.is(':')) && token(at + 2).is_some_and(|t| t.glued);
    let minute = if colon { token(at + 2)?.number().filter(|_| tokens[at + 2].text.len() == 2)? } else { 0 };
    let mut end = if colon { at + 3 } else { at + 1 };
    if lang == Lang::Korean
        || part.is_some_and(|part| part.starts_with(['오', '아', '저', '밤', '새', '점', '정']))
    {
        return korean(place, at, end, colon, hour, minute, part);
    }
    let half = token(end).map(|token| token.text.to_ascii_lowercase());
    let hour = match half.as_deref() {
        Some("am") if hour <= 12 => hour % 12,
        Some("pm") if hour <= 12 => hour % 12 + 12,
        Some("uhr") => late(hour, part),
        _ if colon => {
            end -= 1;
            late(hour, part)
        }
        _ if lang == Lang::German && place.is_word(token(at.wrapping_sub(1)), &["um"]) => {
            end -= 1;
            late(hour, part)
        }
        _ => return None,
    };
    // "15 Uhr 30"
    let after_uhr = half.as_deref() == Some("uhr");
    let minutes =
        token(end + 1).filter(|t| after_uhr && t.breaks == 0 && t.text.len() == 2).and_then(Token::number);
    match minutes.filter(|&minutes| minutes < 60) {
        Some(minutes) => time(hour, minutes).map(|time| (end + 2, time)),
        None => time(hour, minute).map(|time| (end + 1, time)),
    }
}

fn korean(
    place: &Place,
    at: usize,
    end: usize,
    colon: bool,
    hour: i32,
    minute: i32,
    part: Option<&str>,
) -> Option<(usize, Time)> {
    let tokens = place.tokens;
    debug_assert!(tokens[at].kind == Kind::Number, "the hour was read from it");
    if colon {
        return time(late(hour, part), minute).map(|time| (end, time));
    }
    if !tokens.get(end).is_some_and(|token| place.book.has(Set::KoreanHour, token))
        || part.is_none() && hour < 13
    {
        return None;
    }
    let hour = late(hour, part);
    let next = tokens.get(end + 1);
    if next.is_some_and(|token| token.text == "반") {
        return time(hour, 30).map(|time| (end + 2, time));
    }
    let minutes = next
        .and_then(Token::number)
        .filter(|_| tokens.get(end + 2).is_some_and(|token| place.book.has(Set::KoreanMinute, token)));
    match minutes {
        Some(minutes) => time(hour, minutes).map(|time| (end + 3, time)),
        None => time(hour, 0).map(|time| (end + 1, time)),
    }
}

/// Moves an hour into the half of the day that its part names.
fn late(hour: i32, part: Option<&str>) -> i32 {
    let is_late = part.is_some_and(|part| {
        let folded = super::lexicon::fold(part);
        matches!(
            folded.as_str(),
            "afternoon" | "evening" | "night" | "nachmittag" | "abend" | "오후" | "저녁" | "밤"
        )
    });
    match hour {
        12 if part == Some("오전") => 0,
        1..=11 if is_late => hour + 12,
        _ => hour,
    }
}

fn time(hour: i32, minute: i32) -> Option<Time> {
    Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()
}
