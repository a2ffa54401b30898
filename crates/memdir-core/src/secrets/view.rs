//! Other readings of a text: without invisible characters, with escapes resolved, with broken values joined, with
//! base64 and hex decoded.
//!
//! Only the neighbourhood of something odd is read again, so an ordinary text costs a pass or two over its bytes. A
//! [`Fragment`] knows where each of its bytes came from: findings always point into the original text.

use std::ops::Range;

use super::terminal;

/// How much of the neighbourhood is read again, before and after.
const BEFORE: usize = 200;
const AFTER: usize = 700;
/// The shortest run that is worth decoding.
const MIN_ENCODED: usize = 24;
const MIN_HEX: usize = 40;

/// A part of a text, read another way.
pub(super) struct Fragment {
    pub(super) bytes: Vec<u8>,
    origin: Origin,
    /// Whether only kinds with a mark of their own are looked for.
    pub(super) marked_only: bool,
    /// Where parts were joined; if there are any, a finding has to span one.
    joints: Vec<usize>,
}

enum Origin {
    /// The offset of each byte.
    Each(Vec<usize>),
    /// All of it comes from here.
    Whole(Range<usize>),
}

impl Fragment {
    /// Returns where a span comes from; `None` if it has nothing to do with what makes this reading differ.
    pub(super) fn locate(&self, span: Range<usize>) -> Option<Range<usize>> {
        let crosses = |joint: &usize| span.start < *joint && *joint < span.end;
        if !self.joints.is_empty() && !self.joints.iter().any(crosses) {
            return None;
        }
        match &self.origin {
            Origin::Whole(range) => Some(range.clone()),
            Origin::Each(map) => Some(*map.get(span.start)?..map.get(span.end - 1)? + 1),
        }
    }
}

/// Returns the other readings of a text.
pub(super) fn fragments(text: &[u8]) -> Vec<Fragment> {
    let mut fragments = cleaned(text);
    fragments.extend(unquoted(text));
    fragments.extend(joined(text));
    fragments.extend(decoded(text));
    fragments
}

// Invisible characters and escapes.

/// What one odd sequence stands for, and how long it is.
struct Odd {
    len: usize,
    plain: Option<u8>,
    /// A terminal shows nothing for it: what stands around it may be one word or two.
    is_terminal: bool,
}

/// Reads an odd sequence: one of a terminal, an invisible character, a full-width one, or an escape.
fn odd_at(text: &[u8], at: usize) -> Option<Odd> {
    if let Some(len) = terminal::sequence_len(text, at) {
        return Some(Odd { len, plain: None, is_terminal: true });
    }
    let (len, plain) = written_at(text, at)?;
    Some(Odd { len, plain, is_terminal: false })
}

fn written_at(text: &[u8], at: usize) -> Option<(usize, Option<u8>)> {
    let rest = &text[at..];
    let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    match rest {
        [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            Some((3, hex(&rest[1..3])))
        }
        [b'\\', b'u', b'0', b'0', ..] if rest.len() >= 6 && rest[4..6].iter().all(u8::is_ascii_hexdigit) => {
            Some((6, hex(&rest[4..6])))
        }
        [b'\\', b'x', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            Some((4, hex(&rest[2..4])))
        }
        [b'&', ..] => entity(rest),
        [0xC2, 0xAD, ..] | [0xCD, 0x8F, ..] => Some((2, None)),
        [0xE2, 0x80, 0x8B..=0x8F | 0xAA..=0xAE, ..]
        | [0xE2, 0x81, 0xA0..=0xAF, ..]
        | [0xEF, 0xBB, 0xBF, ..]
        | [0xE1, 0xA0, 0x8E, ..]
        | [0xEF, 0xB8, 0x80..=0x8F, ..] => Some((3, None)),
        // U+FF01 to U+FF5E are ASCII, wider.
        [0xEF, 0xBC, last @ 0x81..=0xBF, ..] => Some((3, Some(last - 0x60))),
        [0xEF, 0xBD, last @ 0x80..=0x9E, ..] => Some((3, Some(last - 0x20))),
        [0xF3, 0xA0, 0x80..=0x81, _, ..] => Some((4, None)),
        _ => None,
    }
}

/// Reads an HTML entity of an ASCII character.
fn entity(rest: &[u8]) -> Option<(usize, Option<u8>)> {
    const NAMED: &[(&[u8], u8)] = &[
        (b"&amp;", b'&'),
        (b"&quot;", b'"'),
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&apos;", b'\''),
        (b"&equals;", b'='),
    ];
    if let Some((name, plain)) = NAMED.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((name.len(), Some(*plain)));
    }
    let end = rest.iter().take(9).position(|byte| *byte == b';')?;
    let digits = std::str::from_utf8(rest.get(2..end)?).ok()?;
    if rest.get(1) != Some(&b'#') {
        return None;
    }
    let number = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u8::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    Some((end + 1, Some(number.ok().filter(u8::is_ascii)?)))
}

/// Says whether a byte may begin something odd; nearly none does.
const fn begins_odd() -> [bool; 256] {
    let mut table = [false; 256];
    let starts = [b'%', b'\\', b'&', b'^', 0x1B, 0x9B, 0xC2, 0xCD, 0xE1, 0xE2, 0xEF, 0xF3];
    let mut n = 0;
    while n < starts.len() {
        table[starts[n] as usize] = true;
        n += 1;
    }
    table
}

static BEGINS_ODD: [bool; 256] = begins_odd();

fn cleaned(text: &[u8]) -> Vec<Fragment> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].iter().position(|byte| BEGINS_ODD[usize::from(*byte)]) {
        at += next;
        let Some(odd) = odd_at(text, at) else {
            at += 1;
            continue;
        };
        let range = at.saturating_sub(BEFORE)..text.len().min(at + AFTER);
        match ranges.last_mut() {
            Some(last) if range.start <= last.end => last.end = range.end,
            _ => ranges.push(range),
        }
        at += odd.len;
    }
    let readings = |range: Range<usize>| {
        let (whole, has_terminal) = clean(text, range.clone(), None);
        [Some(whole), has_terminal.then(|| clean(text, range, Some(b' ')).0)].into_iter().flatten()
    };
    ranges.into_iter().flat_map(readings).collect()
}

/// Reads a part of a text without what is odd in it; `gap` stands where a terminal's sequence was. Says whether there
/// was one.
fn clean(text: &[u8], range: Range<usize>, gap: Option<u8>) -> (Fragment, bool) {
    let mut has_terminal = false;
    let mut bytes = Vec::with_capacity(range.len());
    let mut map = Vec::with_capacity(range.len());
    let mut at = range.start;
    while at < range.end {
        let (len, plain) = match BEGINS_ODD[usize::from(text[at])].then(|| odd_at(text, at)).flatten() {
            Some(odd) => {
                has_terminal |= odd.is_terminal;
                (odd.len, if odd.is_terminal { gap } else { odd.plain })
            }
            None => (1, Some(text[at])),
        };
        if let Some(plain) = plain {
            bytes.push(plain);
            map.push(at);
        }
        at += len;
    }
    (Fragment { bytes, origin: Origin::Each(map), marked_only: false, joints: Vec::new() }, has_terminal)
}

// Quoted-printable text.

/// Reads text with `=20` and soft line breaks as mail programs write it. `=` is common elsewhere, so only kinds with a
/// mark of their own are looked for.
fn unquoted(text: &[u8]) -> Vec<Fragment> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in memchr::memchr_iter(b'=', text).filter(|at| quoted_at(text, *at).is_some()) {
        let range = at.saturating_sub(BEFORE)..text.len().min(at + AFTER);
        match ranges.last_mut() {
            Some(last) if range.start <= last.end => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    ranges.into_iter().map(|range| unquote(text, range)).collect()
}

fn unquote(text: &[u8], range: Range<usize>) -> Fragment {
    let (mut bytes, mut map) = (Vec::with_capacity(range.len()), Vec::with_capacity(range.len()));
    let mut at = range.start;
    while at < range.end {
        let (len, plain) = quoted_at(text, at).unwrap_or((1, Some(text[at])));
        if let Some(plain) = plain {
            bytes.push(plain);
            map.push(at);
        }
        at += len;
    }
    Fragment { bytes, origin: Origin::Each(map), marked_only: true, joints: Vec::new() }
}

/// Reads `=XX` of an ASCII character, or a soft line break.
fn quoted_at(text: &[u8], at: usize) -> Option<(usize, Option<u8>)> {
    match &text[at..] {
        [b'=', b'\n', ..] => Some((2, None)),
        [b'=', b'\r', b'\n', ..] => Some((3, None)),
        [b'=', high @ (b'0' | b'2'..=b'7'), low @ (b'0'..=b'9' | b'A'..=b'F' | b'a'..=b'f'), ..] => {
            let digits = [*high, *low];
            let plain = u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
            (plain.is_ascii_graphic() || b" \t\r\n".contains(&plain)).then_some((3, Some(plain)))
        }
        _ => None,
    }
}

// Broken values.

/// A place where a value goes on behind a break.
struct Joint {
    cut: Range<usize>,
    /// The break was written on purpose: a backslash, two strings added.
    is_explicit: bool,
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.')
}

fn joined(text: &[u8]) -> Vec<Fragment> {
    let mut fragments = Vec::new();
    let mut joints = joints(text).into_iter().peekable();
    while let Some(first) = joints.next() {
        let mut chain = vec![first];
        // A value may go over many lines, each of them nothing but a part of it.
        while let Some(next) = joints.next_if(|next| {
            let last = &chain[chain.len() - 1].cut;
            last.end <= next.cut.start && text[last.end..next.cut.start].iter().all(|byte| is_token(*byte))
        }) {
            chain.push(next);
        }
        fragments.extend(join(text, &chain));
    }
    fragments
}

fn join(text: &[u8], chain: &[Joint]) -> Option<Fragment> {
    let (first, last) = (chain.first()?, chain.last()?);
    let is_explicit = chain.iter().all(|joint| joint.is_explicit);
    let floor = first.cut.start.saturating_sub(BEFORE);
    let head = &text[floor..first.cut.start];
    let is_start = |byte: &u8| if is_explicit { *byte == b'\n' } else { !is_token(*byte) };
    let start = head.iter().rposition(is_start).map_or(floor, |n| floor + n + 1);
    let tail = text[last.cut.end..].iter().take(AFTER).take_while(|byte| is_token(**byte)).count();
    // The quote that closes a value belongs to its reading.
    let end = text.len().min(last.cut.end + tail + usize::from(is_explicit));
    let (mut bytes, mut map, mut joints) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = start;
    for joint in chain {
        bytes.extend_from_slice(&text[at..joint.cut.start]);
        map.extend(at..joint.cut.start);
        joints.push(bytes.len());
        at = joint.cut.end;
    }
    bytes.extend_from_slice(&text[at..end]);
    map.extend(at..end);
    Some(Fragment { bytes, origin: Origin::Each(map), marked_only: !is_explicit, joints })
}

fn joints(text: &[u8]) -> Vec<Joint> {
    let mut joints: Vec<Joint> =
        memchr::memchr_iter(b'\n', text).filter_map(|at| line_joint(text, at)).collect();
    joints.extend(memchr::memchr2_iter(b'"', b'\'', text).filter_map(|at| string_joint(text, at)));
    joints.sort_by_key(|joint| joint.cut.start);
    joints
}

/// Reads the break at the end of a line inside a value.
fn line_joint(text: &[u8], newline: usize) -> Option<Joint> {
    let mut start = newline;
    if start > 0 && text[start - 1] == b'\r' {
        start -= 1;
    }
    let is_explicit = start > 0
        && (text[start - 1] == b'\\'
            || (text[start - 1] == b'=' && start == newline && is_soft_break(text, start)));
    if is_explicit {
        start -= 1;
    }
    if start == 0 || !is_token(text[start - 1]) {
        return None;
    }
    let indent = text[newline + 1..]
        .iter()
        .take(60)
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'>' | b'#' | b'*'))
        .count();
    let end = newline + 1 + indent;
    let head = run_after(text, end);
    let tail = run_before(text, start);
    let is_value = |run: &[u8]| looks_cut(run);
    if head.is_empty() || !(is_value(tail) || is_value(head)) {
        return None;
    }
    Some(Joint { cut: start..end, is_explicit })
}

/// Says whether `=` before a line end is a soft break of quoted-printable text and not padding.
fn is_soft_break(text: &[u8], at: usize) -> bool {
    at >= 2 && text[at - 2] != b'=' && run_before(text, at - 1).len() > 3
}

/// Says whether a part of a value looks like one: letters and digits mixed, or a prefix with its underscore.
fn looks_cut(run: &[u8]) -> bool {
    run.len() >= 3
        && (super::value::Makeup::of(run).turns >= 2
            || run.ends_with(b"_")
            || run.ends_with(b"-")
            || (run.len() >= 6 && run.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())))
}

fn run_before(text: &[u8], end: usize) -> &[u8] {
    let len = text[..end].iter().rev().take(BEFORE).take_while(|byte| is_token(**byte)).count();
    &text[end - len..end]
}

fn run_after(text: &[u8], start: usize) -> &[u8] {
    let len = text[start..].iter().take(BEFORE).take_while(|byte| is_token(**byte)).count();
    &text[start..start + len]
}

/// Reads two strings that are added: `"ab" + "cd"`, also over lines.
fn string_joint(text: &[u8], quote: usize) -> Option<Joint> {
    if quote == 0 || !is_token(text[quote - 1]) {
        return None;
    }
    let between = text[quote + 1..].iter().take(80).take_while(|byte| b" \t\r\n+.&\\".contains(byte)).count();
    let end = quote + 1 + between;
    let is_string =
        text.get(end) == Some(&text[quote]) && text.get(end + 1).is_some_and(|byte| is_token(*byte));
    is_string.then_some(Joint { cut: quote..end + 1, is_explicit: true })
}

// Encodings.

/// Returns the runs of a text that decode to text, decoded.
pub(super) fn decoded(text: &[u8]) -> Vec<Fragment> {
    let mut fragments = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let len = text[at..].iter().take_while(|byte| IS_ENCODED[usize::from(**byte)]).count();
        if len >= MIN_ENCODED {
            let padding = text[at + len..].iter().take(2).take_while(|byte| **byte == b'=').count();
            let run = &text[at..at + len];
            let plain = decode_text(run);
            let origin = Origin::Whole(at..at + len + padding);
            fragments.extend(plain.map(|bytes| Fragment {
                bytes,
                origin,
                marked_only: false,
                joints: Vec::new(),
            }));
        }
        at += len + 1;
    }
    fragments
}

const fn encoded_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] =
            matches!(byte as u8, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    table
}

static IS_ENCODED: [bool; 256] = encoded_bytes();

fn decode_text(run: &[u8]) -> Option<Vec<u8>> {
    // The first bytes tell nearly every run that is no text.
    let bytes = if decode_base64(&run[..16]).is_some_and(|probe| is_text(&probe)) {
        decode_base64(&run[..run.len() - usize::from(run.len() % 4 == 1)])
    } else if run.len() >= MIN_HEX && decode_hex(&run[..16]).is_some_and(|probe| is_text(&probe)) {
        decode_hex(run)
    } else {
        None
    }?;
    is_text(&bytes).then_some(bytes)
}

fn decode_hex(run: &[u8]) -> Option<Vec<u8>> {
    std::str::from_utf8(run).ok().and_then(crate::hash::from_hex)
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 0x20..=0x7e | b'\n' | b'\r' | b'\t'))
}

/// Decodes base64 of either alphabet, with or without padding; `None` for anything else.
pub(super) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.chunks(4) {
        let mut bits = 0_u32;
        for byte in chunk {
            bits = bits << 6 | u32::from(digit(*byte)?);
        }
        bits <<= 6 * (4 - chunk.len());
        let whole = bits.to_be_bytes();
        bytes.extend_from_slice(&whole[1..chunk.len().max(1)]);
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        fragments(text.as_bytes())
            .iter()
            .map(|part| String::from_utf8_lossy(&part.bytes).into_owned())
            .collect()
    }

    #[test]
    fn odd_characters_are_read_as_what_they_stand_for() {
        assert_eq!(read("a\u{200b}b"), ["ab"]);
        assert_eq!(read("so\u{ad}ft"), ["soft"]);
        assert_eq!(read("ＡＫ１"), ["AK1"]);
        assert_eq!(read("k%3Dv"), ["k=v"]);
        assert_eq!(read("&#103;h&amp;p"), ["gh&p"]);
        assert_eq!(read("\\u0067h"), ["gh"]);
        assert!(read("plain text, nothing odd").is_empty());
    }

    #[test]
    fn broken_values_are_joined() {
        assert_eq!(read("id x9Kd2\n  4Fq7Z tail"), ["x9Kd24Fq7Z"]);
        assert_eq!(read("t = \"x9Kd2\" +\n  \"4Fq7Z\";"), ["t = \"x9Kd24Fq7Z\""]);
        assert_eq!(read("T=x9Kd2\\\n4Fq7Z"), ["T=x9Kd24Fq7Z"]);
        assert!(read("plain words\nwrapped at the\nmargin").is_empty());
    }

    #[test]
    fn encoded_text_is_decoded() {
        assert_eq!(read("Z2l0aHViIHRva2VucyBhcmUgaGVyZQ=="), ["github tokens are here"]);
        assert_eq!(decode_base64(b"aGk"), Some(b"hi".to_vec()));
        assert_eq!(decode_base64(b"a*"), None);
    }

    #[test]
    fn findings_point_into_the_original() {
        let text = "ab\u{200b}cd";
        let fragment = &fragments(text.as_bytes())[0];
        assert_eq!(fragment.locate(1..3), Some(1..6));
    }
}
