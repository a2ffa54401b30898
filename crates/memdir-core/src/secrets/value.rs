//! What a value looks like: random, made up by a person, a stand-in, a reference to somewhere else, a hash.
//!
//! No dictionary is at hand, so ordinary words are told from random ones by how often the kind of character changes:
//! `acme-prod-vault-01` changes only at its separators, `k9mVq2Lp` nearly everywhere.

use super::words;

/// Counts what a value is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Makeup {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    pub(super) symbols: usize,
    pub(super) other: usize,
    /// How often letter and digit, or lower and upper case, meet inside a part without separators.
    pub(super) turns: usize,
}

impl Makeup {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut makeup = Self::default();
        let mut last = Class::Other;
        for (at, &byte) in value.iter().enumerate() {
            let class = Class::of(byte);
            match class {
                Class::Lower => makeup.lower += 1,
                Class::Upper => makeup.upper += 1,
                Class::Digit => makeup.digits += 1,
                Class::Symbol => makeup.symbols += 1,
                Class::Other => makeup.other += 1,
            }
            let turned = match (last, class) {
                // A capital that begins a word, as in `accessToken`, is no sign of chance.
                (Class::Lower, Class::Upper) => !begins_word(&value[at + 1..]),
                (Class::Lower | Class::Upper, Class::Digit) | (Class::Digit, Class::Lower | Class::Upper) => {
                    true
                }
                _ => false,
            };
            makeup.turns += usize::from(turned);
            last = class;
        }
        makeup
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }
}

fn begins_word(rest: &[u8]) -> bool {
    rest.len() >= 2 && rest[..2].iter().all(u8::is_ascii_lowercase)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Symbol,
    Other,
}

impl Class {
    fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Lower,
            b'A'..=b'Z' => Self::Upper,
            b'0'..=b'9' => Self::Digit,
            0x21..=0x7e => Self::Symbol,
            _ => Self::Other,
        }
    }
}

/// Returns the bits of information in each byte, by how often each occurs.
pub(super) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    let total = value.len() as f64;
    let share = |&count: &u32| f64::from(count) / total;
    -counts.iter().filter(|count| **count > 0).map(share).map(|share| share * share.log2()).sum::<f64>()
}

/// Says whether a value looks drawn by lot: a key, not a name.
pub(super) fn is_random(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let len = value.len();
    if len < 12 || makeup.other > 0 || makeup.digits + makeup.upper == 0 {
        return false;
    }
    // Letters of both cases without a single digit: words have more vowels.
    let vowels = value.iter().filter(|byte| b"aeiouyAEIOUY".contains(byte)).count();
    if makeup.digits == 0 && makeup.symbols == 0 {
        return len >= 20 && makeup.turns >= 3 && makeup.upper >= 4 && vowels * 100 < len * 32;
    }
    let turns_enough = makeup.turns * 100 >= len * 14 && makeup.turns >= 3;
    turns_enough && entropy(value) >= if len < 20 { 2.9 } else { 3.1 }
}

/// Says whether letters of both cases, and digits if any, follow each other as no words do: vowels prove nothing here.
pub(super) fn is_jumbled(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let n_capitals = value.windows(2).filter(|pair| pair.iter().all(u8::is_ascii_uppercase)).count();
    value.len() >= 20
        && makeup.other == 0
        && makeup.upper >= 4
        && makeup.lower >= 4
        && makeup.turns >= 3
        && (makeup.turns + n_capitals) * 100 >= value.len() * 20
        && entropy(value) >= 3.5
}

/// Says whether a value has hex digits only, of both kinds.
pub(super) fn is_hex(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_hexdigit)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
}

/// Says whether a value is a UUID.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Says whether a value looks like a password that a person made: not a word, not a number, not a technical term.
pub(super) fn is_passwordish(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    if value.len() < 6 || value.len() > 80 || makeup.other > 0 || makeup.letters() < 2 {
        return false;
    }
    let parts: Vec<&[u8]> = parts(value).collect();
    if parts.iter().any(|part| words::is_technical(part)) {
        return false;
    }
    if has_mark(value) && (makeup.digits > 0 || value.len() >= 10) {
        return true;
    }
    let mixed = parts.iter().any(|part| part.len() >= 5 && is_mixed(part));
    if mixed {
        return true;
    }
    let n_words =
        parts.iter().filter(|part| part.len() >= 4 && part.iter().all(u8::is_ascii_alphabetic)).count();
    let n_numbers = parts.iter().filter(|part| part.iter().all(u8::is_ascii_digit)).count();
    let n_mixed = parts.iter().filter(|part| is_mixed(part)).count();
    (n_words >= 4 && n_words == parts.len())
        || (n_words >= 2 && n_numbers > 0)
        || n_mixed >= 2
        || (n_mixed == 1 && parts.len() >= 2 && value.len() >= 10)
}

/// Says whether a mark that words do not have stands in a value; at its end it may be punctuation.
pub(super) fn has_mark(value: &[u8]) -> bool {
    let end = value.iter().rposition(|byte| !matches!(byte, b'!' | b'?')).map_or(0, |at| at + 1);
    let marks = value[..end].iter().filter(|byte| b"!@#$%^&*?~".contains(byte)).count();
    marks > 0 || (end < value.len() && value[..end].iter().any(u8::is_ascii_digit))
}

/// Says whether letters and digits stand in one part.
fn is_mixed(part: &[u8]) -> bool {
    part.iter().any(u8::is_ascii_digit) && part.iter().filter(|byte| byte.is_ascii_alphabetic()).count() >= 2
}

/// Splits at what separates words inside a value.
fn parts(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| b"-_./:,;!@#$%^&*+=?~()".contains(byte)).filter(|part| !part.is_empty())
}

/// Says whether a value stands in for one: `<token>`, `${VAR}`, `xxxx`, `changeme`, `[REDACTED:jwt]`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    if value.len() < 3 || is_monotone(value) || is_enclosed(value) || is_sequence(value) {
        return true;
    }
    let elided =
        [&b"..."[..], "…".as_bytes(), "•".as_bytes(), b"***", b"xxxx", b"XXXX", b"____", b"----", b"####"];
    if elided.iter().any(|mark| contains(value, mark)) && value.len() < 2_000 {
        return true;
    }
    let marks =
        [&b"${"[..], b"{{", b"}}", b"{}", b"$(", b"#{", b"%(", b"<%", b"[REDACTED", b"<redacted", b"\\("];
    if marks.iter().any(|mark| contains(value, mark)) {
        return true;
    }
    let is_name = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if value[0] == b'$' && value.len() > 1 && !value[1].is_ascii_digit() && is_name(&value[1..]) {
        return true;
    }
    value.len() <= 160 && words::means_placeholder(value)
}

/// Says whether two characters or fewer make up the value, or one of them most of it.
fn is_monotone(value: &[u8]) -> bool {
    let mut counts = [0_usize; 256];
    for &byte in value {
        counts[usize::from(byte.to_ascii_lowercase())] += 1;
    }
    let distinct = counts.iter().filter(|count| **count > 0).count();
    let most = counts.iter().max().copied().unwrap_or(0);
    distinct <= 2
        || (value.len() >= 8 && most * 100 >= value.len() * 60)
        || (value.len() >= 20 && distinct <= 4)
}

fn is_enclosed(value: &[u8]) -> bool {
    let (Some(first), Some(last)) = (value.first(), value.last()) else { return true };
    let pairs = [(b'<', b'>'), (b'{', b'}'), (b'[', b']'), (b'(', b')'), (b'%', b'%'), (b'@', b'@')];
    pairs.contains(&(*first, *last))
        || (value.starts_with(b"__") && value.ends_with(b"__"))
        || matches!(first, b'<' | b'{')
}

/// Says whether a value counts up: `1234567890`, `abcdef…`, `0123456789abcdef` again and again.
fn is_sequence(value: &[u8]) -> bool {
    if value.len() < 6 {
        return false;
    }
    let n_steps = value.windows(2).filter(|pair| pair[1] == pair[0].wrapping_add(1)).count();
    n_steps * 100 >= (value.len() - 1) * 55
}

/// Says whether a value points to where the secret is, or is code that makes it.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    if words::REFERENCES.iter().any(|mark| contains(&lower, mark.as_bytes())) {
        return true;
    }
    if value.starts_with(b"$_") || value.starts_with(b"?") {
        return true;
    }
    let is_pattern = |mark: &&[u8]| contains(value, mark);
    if [&b"\\s"[..], b"\\b", b"\\d", b"\\w", b"[^", b"[a-z", b"[A-Z", b"[0-9", b"[.."].iter().any(is_pattern)
    {
        return true;
    }
    let starts = [&b"/"[..], b"(", b"./", b"../", b"~/", b"!", b"@", b"*", b"&", b"--", b"\\", b"|", b">"];
    // `/` begins half of all base64 strings that are no path; a path has words.
    if starts.iter().any(|mark| value.starts_with(mark)) && !is_random(value) && !has_password_marks(value) {
        return true;
    }
    if contains(value, b"://") || (contains(value, b"(") && contains(value, b")")) || ends_like_call(value) {
        return true;
    }
    is_chain(value) || has_file_ending(&lower)
}

fn has_password_marks(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    makeup.digits > 0 && makeup.letters() > 2 && makeup.symbols > 0 && !contains(&value[1..], b"/")
}

fn ends_like_call(value: &[u8]) -> bool {
    let name = value.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(byte)).count();
    name >= 2 && matches!(value.get(name), Some(b'(' | b'['))
}

/// Says whether a value is a chain of names: `settings.api_key`, `self.token`, `Foo::bar`, `row->key`.
fn is_chain(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value).replace("::", ".").replace("->", ".");
    let names: Vec<&str> = text.split('.').collect();
    let is_word = |name: &&str| {
        let bytes = name.as_bytes();
        !bytes.is_empty()
            && (bytes[0].is_ascii_alphabetic() || bytes[0] == b'_')
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            && bytes.iter().skip_while(|byte| !byte.is_ascii_digit()).all(u8::is_ascii_digit)
            && !is_random(bytes)
    };
    names.len() >= 2 && names.iter().all(is_word) && Makeup::of(value).turns < 6
}

fn has_file_ending(lower: &[u8]) -> bool {
    const ENDINGS: &[&str] = &[
        ".json", ".yaml", ".yml", ".toml", ".txt", ".pem", ".key", ".crt", ".md", ".env", ".py", ".js",
        ".ts", ".rs", ".go", ".html", ".com", ".io", ".net", ".org", ".dev", ".conf", ".cfg", ".ini", ".xml",
        ".sh",
    ];
    ENDINGS.iter().any(|ending| lower.ends_with(ending.as_bytes()))
}

/// Says whether a value is a name as programs have them: words joined by `_` or by capitals, no sign of chance.
pub(super) fn is_identifier(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':'))
        && !is_random(value)
        && (makeup.digits == 0 || (makeup.turns <= 2 && makeup.digits <= 4))
}

/// Finds a short text in a longer one.
pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_value_looks_like() {
        for value in ["k9mVq2LpW7xZ4nRt", "0f3a9c1e7b2d4856af10", "aB3dE5gH7jK9mN1p"] {
            assert!(is_random(value.as_bytes()), "{value}");
        }
        for value in
            ["acme-prod-vault-01", "europe-west3-a", "accessTokenProvider", "claude-sonnet-4-5-20250929"]
        {
            assert!(!is_random(value.as_bytes()), "{value}");
        }
        for value in ["hunter2horse!", "Blue-Falcon-2024", "correct-horse-battery-staple", "l3tm31n-prod"] {
            assert!(is_passwordish(value.as_bytes()), "{value}");
        }
        for value in ["required", "SHA-256", "base64-encoded", "two-factor", "12345678", "OAuth2"] {
            assert!(!is_passwordish(value.as_bytes()), "{value}");
        }
        for value in
            ["<token>", "${VAR}", "xxxxxxxx", "changeme", "your-api-key", "[REDACTED:jwt]", "1234567890"]
        {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
        for value in
            ["os.environ[\"X\"]", "process.env.X", "settings.api_key", "/run/secrets/db", "get_token()"]
        {
            assert!(is_reference(value.as_bytes()), "{value}");
        }
    }
}
