//! What a rule is: an id, a few words for people, and the form of what it finds.
//!
//! Rules are data (see [`super::table`]). Three forms are enough. A *token* begins with a fixed text. A *named* value
//! has no mark of its own, only a shape, and is told by the service that is named beside it. A *pattern* is anything
//! else: it runs only in a window around its keywords.

/// One kind of secret.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) about: &'static str,
    pub(super) form: Form,
    pub(super) check: Check,
}

/// How a kind is told.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// One of the prefixes, exactly as written, then `body`.
    Token { prefixes: &'static [&'static str], body: &'static str },
    /// A value of this shape, given as a secret, near one of the words.
    Named { words: &'static [&'static str], value: &'static str },
    /// A pattern around a keyword; its first group is the value, else the whole match.
    Pattern { keywords: &'static [&'static str], reach: Reach, pattern: &'static str },
}

/// How far a pattern looks to both sides of its keyword, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    pub(super) before: usize,
    pub(super) after: usize,
}

/// What a format says about itself beyond its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Nothing; a placeholder is told by its looks.
    Looks,
    /// The last six characters are the CRC32 of the rest after the prefix, in base 62.
    Crc32Base62,
    /// The last eight characters are the CRC32 of what precedes them, in hex.
    Crc32Hex,
    /// The first part is a JSON object in base64url that names an algorithm.
    Jwt,
    /// A human made the value: short and plain is no reason to doubt it.
    Human,
    /// Key material: only an empty or elided body is a placeholder.
    Block,
}

/// Makes a rule for tokens with a fixed beginning.
pub(super) const fn token(
    id: &'static str,
    about: &'static str,
    prefixes: &'static [&'static str],
    body: &'static str,
) -> Rule {
    Rule { id, about, form: Form::Token { prefixes, body }, check: Check::Looks }
}

/// Makes a rule for values that only a name nearby gives away.
pub(super) const fn named(
    id: &'static str,
    about: &'static str,
    words: &'static [&'static str],
    value: &'static str,
) -> Rule {
    Rule { id, about, form: Form::Named { words, value }, check: Check::Looks }
}

/// Makes a rule for everything else.
pub(super) const fn pattern(
    id: &'static str,
    about: &'static str,
    keywords: &'static [&'static str],
    (before, after): (usize, usize),
    pattern: &'static str,
) -> Rule {
    let form = Form::Pattern { keywords, reach: Reach { before, after }, pattern };
    Rule { id, about, form, check: Check::Looks }
}

impl Rule {
    /// Adds what the format says about itself.
    pub(super) const fn checked(mut self, check: Check) -> Self {
        self.check = check;
        self
    }
}
