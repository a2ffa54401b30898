//! What the gateway is told by the user's settings: where to, with whose key, and how much at a time.

use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

use super::address::Base;
use super::route::{ANTHROPIC, GEMINI, OPENAI};

/// What the gateway is told. Nothing of it comes from a request or a repository.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where requests may go.
    pub upstreams: Vec<Upstream>,
    /// Who may ask.
    pub access: Access,
    /// Memory is off: everything passes unread.
    pub off: bool,
}

/// Who may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The token that stands for a program of the user's.
    pub token: Token,
    /// Nobody comes in without it, not even programs of the same user.
    pub always: bool,
}

/// What a token is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

/// A service that requests may go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// What it is called in paths.
    pub name: String,
    /// Where it is.
    pub base: Base,
    /// Its name may lead into a private network.
    pub private: bool,
    /// The key that goes with every request, in place of what the client sent.
    pub key: Option<Key>,
}

/// A key on its way into a header. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    pub(super) name: HeaderName,
    pub(super) value: HeaderValue,
}

/// Headers in which clients say who they are.
pub(super) const CREDENTIALS: [&str; 7] = [
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "proxy-authorization",
    "cookie",
    "x-memdir-token",
];

impl Token {
    /// Takes the hash of a token.
    pub fn new(hash: [u8; 32]) -> Self {
        Self(hash)
    }

    /// Says whether a text is the token. Hashes are compared, each as a whole, so that the time tells nothing.
    pub(super) fn is(&self, text: &str) -> bool {
        let said = memdir_core::hash::ContentHash::of(text.as_bytes());
        said.as_bytes().iter().zip(&self.0).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

impl Upstream {
    /// The vendors, where they say that they are.
    pub fn vendors() -> [(&'static str, &'static str); 3] {
        [
            (ANTHROPIC, "https://api.anthropic.com"),
            (OPENAI, "https://api.openai.com"),
            (GEMINI, "https://generativelanguage.googleapis.com"),
        ]
    }
}

impl Key {
    /// Makes the header in which an upstream wants its key; none if the key cannot stand in one.
    pub fn new(upstream: &str, key: &str) -> Option<Self> {
        let (name, text) = match upstream {
            ANTHROPIC => (HeaderName::from_static("x-api-key"), key.to_owned()),
            GEMINI => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
            _ => (AUTHORIZATION, format!("Bearer {key}")),
        };
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(Self { name, value })
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S19.
    #[test]
    fn a_key_is_not_shown() {
        let key = Key::new(ANTHROPIC, "canary").unwrap();
        assert_eq!(format!("{key:?}"), "Key(x-api-key)");
        assert!(!format!("{:?}", Key::new("local", "canary").unwrap().value).contains("canary"));
        assert!(Key::new(OPENAI, "two\nlines").is_none());
    }

    /// S14.
    #[test]
    fn only_the_token_is_the_token() {
        let token = Token::new(*memdir_core::hash::ContentHash::of(b"right").as_bytes());
        assert!(token.is("right") && !token.is("wrong") && !token.is(""));
    }
}
