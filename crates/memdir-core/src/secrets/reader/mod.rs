//! Finds the value that belongs to a name: `name = value`, a cell beside it, or the words of a sentence.
//!
//! It starts at a word such as `password` or `token` and looks a bounded way to both sides, so its cost is that of
//! the words it meets. Whether what it finds is a secret is judged in [`super::judge`].

mod column;
mod sentence;

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::words::{self, Promise};
use sentence::{is_adverb, is_back_connector, is_connector, pieces, states};

/// How far a name may reach from its secret word.
const MAX_NAME: usize = 64;
/// How far behind a name its value may begin, and how long it may be.
const MAX_AHEAD: usize = 180;
/// How far before a name a sentence may have given the value.
const MAX_BACK: usize = 140;
/// The longest value that is read.
const MAX_VALUE: usize = 1_000;

/// How a value is tied to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// `name = value`, `"name": "value"`, a cell, a flag.
    Assigned,
    /// The same without spaces, by a name in capitals: what a shell or an env file has.
    Environment,
    /// "the name is value", "name value".
    Said,
    /// Somewhere in the same sentence.
    Near,
}

/// A value that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) span: Range<usize>,
    pub(super) name: Range<usize>,
    pub(super) promise: Promise,
    pub(super) link: Link,
    pub(super) quoted: bool,
}

impl Candidate {
    /// Returns where reading goes on: behind a plain value, whose own words name nothing.
    pub(super) fn beyond(&self, text: &[u8]) -> usize {
        let value = &text[self.span.clone()];
        let is_plain = !value.iter().any(|byte| matches!(byte, b' ' | b'=' | b';' | b':' | b'{' | b'('));
        // `<add key="ApiKey" value="…">`: what is a value here is the name of the next.
        let names = words::promise(&String::from_utf8_lossy(value), &[]).is_some();
        let is_next =
            !names && self.span.start >= self.name.end && self.span.start < self.name.end + MAX_AHEAD;
        if is_plain && is_next && matches!(self.link, Link::Assigned | Link::Environment) {
            self.span.end
        } else {
            self.name.end
        }
    }
}

fn regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("a test compiles it")
}

/// What stands between a name and an assigned value.
static LINK: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r#"\A(?:"#,
        // <property name="password" value="…">, and a list of names and values.
        r#"["'][ \t]*(?:,\s{0,40}|\s{1,40})["']?(?:value|content|default)["']?[ \t]*[=:][ \t]*"#,
        r#"|["']?[ \t]*\r?\n[ \t]*(?:-[ \t]*)?["']?value["']?[ \t]*:[ \t]*"#,
        // <password>…, <setting name="password">…
        r#"|["']?>"#,
        // variable "password" { default = …
        r#"|["']?[ \t]*\{\s{0,20}(?:default|value)[ \t]*[=:][ \t]*"#,
        // setPassword("…"), getenv("TOKEN", "…")
        r#"|["']?[ \t]*[,(][ \t]*(?:default[ \t]*=[ \t]*)?(?:["'])"#,
        // let name: &str = …
        r#"|[ \t]*:[ \t]*&?(?:'[a-z]{1,12} )?(?:mut |const )?[A-Za-z][A-Za-z0-9_<>.\[\]?]{0,30}[ \t]*=[ \t]*"#,
        // name = …, "name": …, name (staging): …, $name['x'] => …
        r#"|[\\"'`*_\])]{0,5}[ \t]{0,16}(?:\([^()\n]{0,40}\)[ \t]*[*]{0,2})?"#,
        r#"(?:=>|:=|\?=|\+=|->|=|:|\xEF\xBC\x9A|\xE2\x86\x92)[*]{0,2}[ \t]{0,8}(?:[|>][+-]?[ \t]*)?(?:\r?\n[ \t]{1,40})?"#,
        // | name | value |
        r#"|[`*"' \t]{0,20}\|[ \t]{0,20}"#,
        r#")"#,
    ))
});

/// What may stand before the value itself.
static WRAPPER: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r#"\A(?:[brfuBRFU]{1,2}(?:["'])|(?:Some|Ok|str|String|bytes|SecretStr|Secret|Buffer|new\s+\w{1,30}|[A-Za-z_]{1,20}::from|[A-Za-z_]{1,20}::new)\(\s*|"#,
        r#"["'`]?(?i:bearer|basic|token|apikey)[ \t]+|base64:)"#
    ))
});

/// Reads the candidates for the secret word at `at`; returns where its name ends too.
pub(super) fn read(text: &[u8], at: Range<usize>) -> (usize, Vec<Candidate>) {
    let name = name_around(text, at);
    let end = name.end;
    let written = String::from_utf8_lossy(&text[name.clone()]);
    // Words before a name make it more or less of a key, never a secret of something that is none.
    let promise = match words::promise(&written, &[]) {
        Some(Promise::Password) => Some(Promise::Password),
        Some(_) => words::promise(&written, &words_before(text, name.start)),
        None => None,
    };
    let Some(promise) = promise else { return (end, Vec::new()) };
    let reader = Reader { text, name, promise };
    if reader.is_listed_name() {
        return (end, Vec::new());
    }
    if let Some(candidate) = reader.assigned() {
        let mut candidates = reader.column();
        candidates.push(candidate);
        return (end, candidates);
    }
    if reader.is_about_something_else() {
        return (end, Vec::new());
    }
    // "Pass" is a verb before it is a noun: alone, it names nothing.
    if words::ends_with_pass(&text[reader.name.clone()]) {
        return (end, Vec::new());
    }
    let mut candidates = reader.column();
    candidates.extend(reader.said());
    candidates.extend(reader.said_before());
    if promise != Promise::Password {
        candidates.extend(reader.near());
    }
    (end, candidates)
}

/// Returns the whole name around a secret word.
fn name_around(text: &[u8], at: Range<usize>) -> Range<usize> {
    if !text[at.start].is_ascii() {
        // Scripts that write particles onto the word: `비밀번호는`.
        let particle = text[at.end..].iter().take(18).take_while(|byte| !byte.is_ascii()).count();
        return at.start..at.end + particle;
    }
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | 0xC3);
    let is_tail = |byte: u8| (0x80..0xC0).contains(&byte);
    let floor = at.start.saturating_sub(MAX_NAME);
    let mut start = at.start;
    while start > floor {
        let byte = text[start - 1];
        let is_umlaut = is_tail(byte) && start >= 2 && text[start - 2] == 0xC3;
        if !is_name(&byte) && !is_umlaut {
            break;
        }
        start -= 1;
    }
    let mut end = at.end;
    while end < text.len() && end < at.end + MAX_NAME {
        let byte = text[end];
        let is_joint = byte != b'.' || text.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        let is_umlaut = is_tail(byte) && text[end - 1] == 0xC3;
        if !(is_umlaut || is_name(&byte) && is_joint) {
            break;
        }
        end += 1;
    }
    start..end
}

/// Returns the words of the same line before a name, the nearest last.
fn words_before(text: &[u8], start: usize) -> Vec<String> {
    let floor = start.saturating_sub(40);
    let line = text[floor..start].rsplit(|byte| matches!(byte, b'\n' | b'|' | b':' | b',' | b'=')).next();
    words::split(&String::from_utf8_lossy(line.unwrap_or_default()))
}

struct Reader<'t> {
    text: &'t [u8],
    name: Range<usize>,
    promise: Promise,
}

impl Reader<'_> {
    fn candidate(&self, span: Range<usize>, link: Link, quoted: bool) -> Option<Candidate> {
        let (name, promise) = (self.name.clone(), self.promise);
        (span.len() >= 3).then_some(Candidate { span, name, promise, link, quoted })
    }

    /// Says whether it is a name in a list of names: `"feedback-passphrase", "project-freeze-2026"`. A secret may stand
    /// beside its name in quotes too, but that name is a word, and the secret is no chain of words.
    fn is_listed_name(&self) -> bool {
        let rest = &self.text[self.name.end..];
        let next = [&b"\", \""[..], b"\",\"", b"', '", b"','"];
        let Some(rest) = next.iter().find_map(|between| rest.strip_prefix(*between)) else { return false };
        let len = rest.iter().take(MAX_NAME).position(|byte| matches!(byte, b'"' | b'\''));
        len.is_some_and(|len| is_chain(&rest[..len])) && is_chain(&self.text[self.name.clone()])
    }

    /// Says whether the next word makes it another thing: "key id", "password policy".
    fn is_about_something_else(&self) -> bool {
        let rest = &self.text[self.name.end..];
        let Some(rest) = rest.strip_prefix(b" ") else { return false };
        let len = rest.iter().take(24).take_while(|byte| byte.is_ascii_alphabetic()).count();
        words::is_attribute(&rest[..len])
    }

    fn assigned(&self) -> Option<Candidate> {
        let end = self.name.end;
        let ahead = &self.text[end..self.text.len().min(end + MAX_AHEAD)];
        let is_flag = self.text[..self.name.end][self.name.start..].starts_with(b"-");
        let value_at = match LINK.find(ahead) {
            Some(link) => end + link.end(),
            None if is_flag && ahead.first() == Some(&b' ') => end + 1,
            None => return None,
        };
        if self.text.get(value_at.wrapping_sub(1)) == Some(&b'=') && self.text.get(value_at) == Some(&b'=') {
            return None;
        }
        let between = &self.text[end..value_at];
        if between.ends_with(b"\"") || between.ends_with(b"'") {
            // An argument beside the name: as likely a name as a value, so it has to look like one.
            let (span, _) = value_at_position(self.text, value_at - 1, None)?;
            return self.candidate(span, Link::Said, false);
        }
        let name = &self.text[self.name.clone()];
        let is_env = name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase);
        let is_tight = self.text[end..value_at] == *b"=";
        let link = if is_flag || (is_tight && is_env) { Link::Environment } else { Link::Assigned };
        let bar = between.contains(&b'|').then_some(b'|');
        let (span, quoted) = value_at_position(self.text, value_at, bar)?;
        // In a table, and between the alternatives of a program, quotes say nothing.
        self.candidate(span, link, quoted && bar.is_none())
    }

    /// Reads the cells below a heading of a table: `| user | password |`, `user,password`.
    fn column(&self) -> Vec<Candidate> {
        let cells = column::below(self.text, self.name.clone());
        let values = cells.into_iter().filter_map(|(at, bar)| value_at_position(self.text, at, bar));
        values.filter_map(|(span, quoted)| self.candidate(span, Link::Assigned, quoted)).collect()
    }

    /// Reads "the password is …", "password …", "비밀번호는 …".
    fn said(&self) -> Vec<Candidate> {
        let mut at = self.name.end;
        let particle = self.text[at..].iter().take(12).take_while(|byte| !byte.is_ascii()).count();
        at += particle;
        let is_foreign = particle > 0 || !self.text[self.name.start].is_ascii();
        let mut connected = is_foreign;
        let mut stated = is_foreign;
        let mut found = Vec::new();
        for (n, piece) in pieces(self.text, at, MAX_AHEAD).into_iter().take(16).enumerate() {
            let word = &self.text[piece.span.clone()];
            if is_connector(word) && !piece.quoted {
                connected = true;
                stated = states(word);
                continue;
            }
            let is_mark = !word.iter().any(u8::is_ascii_alphanumeric);
            if is_mark || (connected && is_adverb(word) && !piece.quoted) {
                connected |= word == b"," && self.promise != Promise::Password;
                continue;
            }
            if connected || n == 0 {
                let quoted = piece.quoted && stated;
                found.extend(self.candidate(piece.span.clone(), Link::Said, quoted));
            }
            connected = false;
            if piece.ends_sentence {
                break;
            }
        }
        found
    }

    /// Reads "… is the password", "use … as the token".
    fn said_before(&self) -> Vec<Candidate> {
        let floor = self.name.start.saturating_sub(MAX_BACK);
        let line = self.text[floor..self.name.start]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(floor, |n| floor + n + 1);
        let pieces = pieces(self.text, line, self.name.start - line);
        let Some(link) = pieces.iter().rposition(|piece| is_back_connector(&self.text[piece.span.clone()]))
        else {
            return Vec::new();
        };
        if pieces.len() - link > 6 || link == 0 {
            return Vec::new();
        }
        let piece = &pieces[link - 1];
        self.candidate(piece.span.clone(), Link::Said, piece.quoted).into_iter().collect()
    }

    /// Reads whatever stands in the same sentence.
    fn near(&self) -> Vec<Candidate> {
        let floor = self.name.start.saturating_sub(MAX_BACK);
        let line = self.text[floor..self.name.start]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(floor, |n| floor + n + 1);
        let end = self.text.len().min(self.name.end + MAX_AHEAD);
        // Most sentences hold no long word with a digit; that is told faster than their words are cut.
        let runs = self.text[line..end].split(|byte| !byte.is_ascii_graphic());
        if !runs.into_iter().any(|run| run.len() >= 16 && run.iter().any(u8::is_ascii_digit)) {
            return Vec::new();
        }
        let around = pieces(self.text, line, self.name.end + MAX_AHEAD - line);
        let far = around
            .into_iter()
            .filter(|piece| piece.span.end <= self.name.start || piece.span.start >= self.name.end);
        far.filter(|piece| piece.span.len() >= 16)
            .filter_map(|piece| self.candidate(piece.span, Link::Near, piece.quoted))
            .collect()
    }
}

/// Says whether a text is a name made of several plain words: lower case, joined by dashes, a short number at most.
fn is_chain(text: &[u8]) -> bool {
    let parts: Vec<&[u8]> = text.split(|byte| *byte == b'-').collect();
    let is_word = |part: &&[u8]| part.len() >= 2 && part.iter().all(u8::is_ascii_lowercase);
    let is_number = |part: &&[u8]| (1..=4).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    let n_words = parts.iter().filter(|part| is_word(part)).count();
    n_words >= 2 && parts.iter().all(|part| is_word(part) || is_number(part))
}

/// Reads the value that begins at `at`.
fn value_at_position(text: &[u8], at: usize, bar: Option<u8>) -> Option<(Range<usize>, bool)> {
    let rest = text.get(at..)?;
    let at = at
        + WRAPPER.find(&rest[..rest.len().min(64)]).map_or(0, |found| {
            // A wrapper that swallowed the opening quote gives it back.
            let ends_with_quote = matches!(rest[found.end() - 1], b'"' | b'\'');
            found.end() - usize::from(ends_with_quote)
        });
    let rest = text.get(at..)?;
    let (open, escaped) = match rest {
        [b'\\', quote @ (b'"' | b'\''), ..] => (Some(*quote), true),
        [quote @ (b'"' | b'\'' | b'`'), ..] => (Some(*quote), false),
        _ => (None, false),
    };
    if let Some(quote) = open {
        let skip = if escaped { 2 } else { 1 };
        let body = &rest[skip..rest.len().min(MAX_VALUE)];
        let body = &body[..body.iter().position(|byte| *byte == b'\n').unwrap_or(body.len())];
        if let Some(len) = closing(body, quote, escaped) {
            let start = at + skip;
            // `"Bearer …"`: the scheme is no part of the value.
            let scheme =
                WRAPPER.find(&body[..len]).filter(|found| found.end() < len && body[found.end() - 1] == b' ');
            return Some((start + scheme.map_or(0, |found| found.end())..start + len, true));
        }
    }
    let start = at + usize::from(open.is_some());
    let body = &text[start..text.len().min(start + MAX_VALUE)];
    let is_end = |(at, byte): (usize, &u8)| {
        let is_umlaut = *byte == 0xC3 || (at > 0 && body[at - 1] == 0xC3);
        !(byte.is_ascii_graphic() || is_umlaut)
            || matches!(byte, b'"' | b'`' | b'<' | b';')
            || bar == Some(*byte)
    };
    let mut len = body.iter().enumerate().position(is_end).unwrap_or(body.len());
    if body.first() == Some(&b'<') {
        len = body.iter().position(|byte| matches!(byte, b'>' | b'\n')).map_or(len, |n| n + 1);
    }
    if let Some(next) = query_end(&body[..len]) {
        len = next;
    }
    while len > 0 && b".,:)]}'*\\|".contains(&body[len - 1]) && !is_call(&body[..len]) {
        len -= 1;
    }
    Some((start..start + len, false))
}

fn closing(body: &[u8], quote: u8, escaped: bool) -> Option<usize> {
    if escaped {
        return memchr::memmem::find(body, &[b'\\', quote]);
    }
    let mut at = 0;
    while at < body.len() {
        match body[at] {
            b'\\' => at += 2,
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Ends a value where the next parameter of a URL begins: `&name=`.
fn query_end(body: &[u8]) -> Option<usize> {
    let at = memchr::memchr(b'&', body)?;
    let name =
        body[at + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    (name > 0 && body.get(at + 1 + name) == Some(&b'=')).then_some(at)
}

fn is_call(body: &[u8]) -> bool {
    body.ends_with(b")") && body.contains(&b'(')
}
