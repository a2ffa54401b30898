//! Judges whether a candidate is a secret: by what its name promises, how it is tied to the name, and its looks.

use super::check;
use super::reader::{Candidate, Link};
use super::value::{self, Makeup};
use super::words::{self, Promise};

/// Says whether the value of a candidate is a secret.
pub(super) fn is_secret(candidate: &Candidate, value: &[u8]) -> bool {
    // Looks are told fast and most words fail them; what stands in for a value takes longer to tell.
    value.len() >= 4 && looks_secret(candidate, value) && is_meant(value)
}

fn looks_secret(candidate: &Candidate, value: &[u8]) -> bool {
    match (candidate.promise, candidate.link) {
        (Promise::Password, Link::Assigned | Link::Environment) => is_assigned_password(candidate, value),
        (Promise::Password, _) => is_said_password(candidate, value),
        (Promise::Token, Link::Assigned | Link::Environment) => is_assigned_token(candidate, value),
        (Promise::Token, Link::Said) => is_said_token(candidate, value),
        (Promise::Token, Link::Near) => value.len() >= 16 && is_key(value),
        (Promise::Key, Link::Assigned | Link::Environment) if is_user_pair(value) => true,
        (Promise::Key, _) => value.len() >= 20 && is_key(value),
    }
}

/// Says whether a value is more than a stand-in, a reference, a digest or a sample.
fn is_meant(value: &[u8]) -> bool {
    !is_labelled_digest(value)
        && !value::is_placeholder(value)
        && !value::is_reference(value)
        && !check::is_sample_jwt(value)
}

/// Says whether a value may be what a rule for named values is looking for: its shape is judged there.
pub(super) fn may_be_named(candidate: &Candidate, value: &[u8]) -> bool {
    let is_tied = candidate.link != Link::Near || is_key(value);
    candidate.promise != Promise::Password
        && value.len() >= 12
        && value.iter().any(u8::is_ascii_digit)
        && !value.contains(&b' ')
        && is_tied
        && !value::is_placeholder(value)
}

/// Says whether a value says that it is a digest: `SHA256:…`, `sha512-…`.
fn is_labelled_digest(value: &[u8]) -> bool {
    let label = value
        .get(..3)
        .is_some_and(|label| label.eq_ignore_ascii_case(b"sha") || label.eq_ignore_ascii_case(b"md5"));
    label && value.iter().take(8).any(|byte| matches!(byte, b':' | b'-' | b'='))
}

fn is_assigned_password(candidate: &Candidate, value: &[u8]) -> bool {
    if value.contains(&b' ') {
        return candidate.quoted && (is_passphrase(value) || is_spaced_password(value));
    }
    let makeup = Makeup::of(value);
    let is_env = candidate.link == Link::Environment;
    if makeup.other > 0 && !candidate.quoted {
        return makeup.digits > 0 && makeup.lower > 0 && value.len() >= 6;
    }
    if value.len() > 200 && !value::is_random(value) {
        return false;
    }
    if makeup.letters() == 0 {
        // A number: a PIN perhaps, but a length or a count as often.
        return value.len() >= 6 && (is_env || candidate.quoted || makeup.symbols > 0) && !is_date(value);
    }
    if value::is_passwordish(value) || value::is_random(value) {
        return true;
    }
    if value.starts_with(b"0x") {
        return false;
    }
    if makeup.digits > 0 {
        let is_plain = value.split(|byte| b"-_.".contains(byte)).any(words::is_technical);
        return value.len() >= 5 && !is_plain && (is_env || candidate.quoted || !value.contains(&b'.'));
    }
    if makeup.symbols > 0 {
        return value::has_mark(value) && value.len() >= 6 && makeup.letters() >= 3 && !value.contains(&b'|');
    }
    let is_word = makeup.upper <= 1 || makeup.lower == 0;
    (value.len() >= 6 && (is_env || (candidate.quoted && makeup.upper == 0)))
        || (value.len() >= 16 && is_word)
}

fn is_said_password(candidate: &Candidate, value: &[u8]) -> bool {
    let is_digest = value.len() >= 32 && value::is_hex(value);
    if is_code(value) || is_digest {
        return false;
    }
    if value::is_passwordish(value) {
        return !is_date(value);
    }
    let makeup = Makeup::of(value);
    let is_plain = makeup.symbols == 0 && makeup.other == 0 && makeup.upper <= 1;
    candidate.quoted
        && is_plain
        && value.len() >= 6
        && !value.split(|byte| *byte == b'-').any(words::is_technical)
}

fn is_assigned_token(candidate: &Candidate, value: &[u8]) -> bool {
    if value.contains(&b' ') || Makeup::of(value).other > 0 {
        return false;
    }
    if value::is_random(value) || value::is_uuid(value) {
        return true;
    }
    let is_env = candidate.link == Link::Environment;
    let makeup = Makeup::of(value);
    if value.len() >= 9 && makeup.turns >= 3 && makeup.upper > 0 && makeup.lower > 0 && !is_date(value) {
        return true;
    }
    let is_told = candidate.quoted || is_env;
    is_told
        && value.len() >= 8
        && value::is_passwordish(value)
        && !value::is_identifier(value)
        && !is_date(value)
}

/// Says whether a word of a sentence is code, an address or a parameter rather than a value.
fn is_code(value: &[u8]) -> bool {
    value.iter().any(|byte| b"\"'{}<>()[]|=`,;/".contains(byte))
        || value::contains(value, b"::")
        || matches!(value[0], b'@' | b'?' | b'/' | b'.' | b'-' | b'+' | b'&')
}

fn is_said_token(candidate: &Candidate, value: &[u8]) -> bool {
    if value.iter().any(|byte| b"\"'{}<>()[]|`,;".contains(byte)) || value::contains(value, b"::") {
        return false;
    }
    if begins_with_date(value) {
        return false;
    }
    if value::is_random(value) && value.len() >= 14 {
        return true;
    }
    // A key may be a word that people agreed on.
    let makeup = Makeup::of(value);
    if value::has_mark(value)
        && makeup.digits > 0
        && makeup.letters() > 2
        && value.len() >= 8
        && !is_code(value)
    {
        return value::is_passwordish(value);
    }
    value::is_uuid(value) || (candidate.quoted && value.len() >= 10 && is_marked(value))
}

/// Says whether a value mixes letters, digits and marks as names do not.
fn is_marked(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    makeup.digits > 0 && makeup.turns >= 2 && value::is_passwordish(value) && !value::is_identifier(value)
}

/// Says whether a value is a key by its looks alone: random, and neither a digest nor a UUID.
fn is_key(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let is_address = value.iter().filter(|byte| matches!(byte, b'/' | b'.' | b':' | b'@')).count() >= 3;
    let has_mix = makeup.digits > 0 && makeup.letters() > 0 && (makeup.upper > 0 && makeup.lower > 0);
    value::is_random(value)
        && has_mix
        && !is_address
        && !value::is_uuid(value)
        && !value::is_hex(value)
        && !value::is_reference(value)
        && !value.starts_with(b"sha")
        && !begins_with_date(value)
        && !value.iter().any(|byte| b"\"'{}<>()[]|`,;".contains(byte))
        && !value::contains(value, b"::")
}

/// Says whether a value begins with a day: a time with something behind it, or a file that is named by one.
fn begins_with_date(value: &[u8]) -> bool {
    let Some(day) = value.get(..10) else { return false };
    let is_digit = |at: usize| day[at].is_ascii_digit();
    day[4] == b'-' && day[7] == b'-' && [0, 1, 2, 3, 5, 6, 8, 9].into_iter().all(is_digit)
}

/// Says whether two or three words are a password with spaces in it: one of them is like no word.
fn is_spaced_password(value: &[u8]) -> bool {
    let words: Vec<&[u8]> = value.split(|byte| *byte == b' ').collect();
    let is_odd = |word: &&[u8]| {
        let makeup = Makeup::of(word);
        makeup.digits > 0 && makeup.letters() >= 2 && !words::is_technical(word)
    };
    words.len() <= 3 && words.iter().any(is_odd) && value.is_ascii()
}

/// Says whether a value is a user and a password: `ben:…`.
fn is_user_pair(value: &[u8]) -> bool {
    let Some(colon) = value.iter().position(|byte| *byte == b':') else { return false };
    let (user, password) = (&value[..colon], &value[colon + 1..]);
    let is_name =
        !user.is_empty() && user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-@".contains(byte));
    is_name
        && !password.contains(&b':')
        && Makeup::of(password).turns >= 2
        && value::is_passwordish(password)
        && !value::is_placeholder(password)
}

/// Says whether several words are a pass phrase: plain words of a kind that labels and sentences do not have.
fn is_passphrase(value: &[u8]) -> bool {
    const STOP: &[&str] = &[
        "the", "a", "an", "is", "are", "your", "you", "must", "please", "enter", "with", "for", "to", "of",
        "in", "not", "and", "or", "at", "least", "password", "passwort", "forgot", "new", "old", "current",
        "confirm", "no", "this", "be", "has", "ist", "das", "die", "der", "ihr", "bitte", "nicht", "should",
        "will", "can",
    ];
    let text = String::from_utf8_lossy(value);
    let words: Vec<&str> = text.split(' ').collect();
    let is_plain = |word: &&str| {
        word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    words.len() >= 3 && words.iter().all(is_plain) && !words.iter().any(|word| STOP.contains(word))
}

/// Says whether a value is a date, a time or a version.
fn is_date(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"-.:/TZ+v".contains(byte);
    value.iter().all(is_part)
        && digits >= 2
        && (value.contains(&b'-') || value.contains(&b'.') || value.contains(&b':'))
}
