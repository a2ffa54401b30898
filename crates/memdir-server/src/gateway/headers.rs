//! Headers on their way: all of them as they came, but for those of the connection, and those that are ours to say.

use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName,
    HeaderValue, TE, TRANSFER_ENCODING, UPGRADE,
};

use super::config::{CREDENTIALS, Key, Token};

/// Headers of one connection, which end with it.
const OF_THE_CONNECTION: [HeaderName; 7] = [
    CONNECTION,
    TRANSFER_ENCODING,
    UPGRADE,
    TE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("proxy-authenticate"),
];

/// What is to be changed on the way up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changes<'c> {
    /// Whom the request is for.
    pub(super) host: &'c HeaderValue,
    /// The key that goes with it, in place of what the client sent.
    pub(super) key: Option<&'c Key>,
    /// What proves to us who asks, and is nobody else's business.
    pub(super) token: &'c Token,
    /// The length of a body that is not the one that came; it is plain.
    pub(super) new_length: Option<usize>,
    /// What becomes of the answer.
    pub(super) hearing: Hearing,
}

/// What becomes of an answer, which decides in which ways it may be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearing {
    /// It only passes.
    None,
    /// Somebody hears it, so it comes in a way that can be unpacked.
    Heard,
    /// Not all of it passes, so it comes plain.
    Changed,
}

/// Returns the headers that go up, in the order in which they came.
pub(super) fn upward(headers: &HeaderMap, changes: Changes<'_>) -> HeaderMap {
    let named = named(headers);
    let mut upward = HeaderMap::with_capacity(headers.len() + 1);
    upward.insert(HOST, changes.host.clone());
    for (name, value) in headers {
        let is_replaced = *name == HOST || *name == EXPECT || *name == "x-memdir-token";
        let is_key = CREDENTIALS.contains(&name.as_str());
        let is_not_theirs = is_key && (changes.key.is_some() || holds(value, changes.token));
        let is_of_old_body =
            (*name == CONTENT_LENGTH || *name == CONTENT_ENCODING) && changes.new_length.is_some();
        let is_dropped = OF_THE_CONNECTION.contains(name) || named.contains(name);
        if is_replaced || is_not_theirs || is_of_old_body || is_dropped {
            continue;
        }
        let value = match changes.hearing {
            Hearing::Heard if *name == ACCEPT_ENCODING => unpackable(value),
            Hearing::Changed if *name == ACCEPT_ENCODING => continue,
            _ => value.clone(),
        };
        upward.append(name, value);
    }
    if changes.hearing == Hearing::Changed {
        upward.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    if takes_trailers(headers) {
        upward.insert(TE, HeaderValue::from_static("trailers"));
    }
    if let Some(length) = changes.new_length {
        upward.insert(CONTENT_LENGTH, length.into());
    }
    if let Some(key) = changes.key {
        upward.insert(&key.name, key.value.clone());
    }
    upward
}

/// Returns the headers that go down.
pub(super) fn downward(headers: &HeaderMap) -> HeaderMap {
    let named = named(headers);
    let is_kept = |name: &HeaderName| !OF_THE_CONNECTION.contains(name) && !named.contains(name);
    let mut downward = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter().filter(|(name, _)| is_kept(name)) {
        downward.append(name, value.clone());
    }
    downward
}

/// Returns the headers without what proves who asks.
pub(super) fn without_credentials(headers: &HeaderMap) -> HeaderMap {
    let mut clean = headers.clone();
    CREDENTIALS.iter().for_each(|name| drop(clean.remove(*name)));
    clean
}

/// Says whether the token comes in one of the headers in which clients send keys.
pub(super) fn has_token(headers: &HeaderMap, token: &Token) -> bool {
    CREDENTIALS.iter().flat_map(|name| headers.get_all(*name)).any(|value| holds(value, token))
}

fn holds(value: &HeaderValue, token: &Token) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let bare = text.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token.is(bare.map_or(text, |(_, rest)| rest).trim())
}

/// Returns the headers that a message itself counts among those of the connection.
fn named(headers: &HeaderMap) -> Vec<HeaderName> {
    let said = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let names = said.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    // What says where a message ends is not to be talked away.
    names.filter(|name| *name != CONTENT_LENGTH && *name != HOST).collect()
}

fn takes_trailers(headers: &HeaderMap) -> bool {
    headers.get(TE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"trailers"))
}

/// Of the ways to pack that a client takes, those that can be unpacked here too.
fn unpackable(value: &HeaderValue) -> HeaderValue {
    let takes_gzip = value.to_str().is_ok_and(|value| value.split(',').any(|way| way.trim() == "gzip"));
    HeaderValue::from_static(if takes_gzip { "gzip" } else { "identity" })
}

#[cfg(test)]
mod tests {
    use memdir_core::hash::ContentHash;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    fn show(headers: &HeaderMap) -> String {
        headers.iter().map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap())).collect()
    }

    fn token() -> Token {
        Token::new(*ContentHash::of(b"our-token").as_bytes())
    }

    fn sent(pairs: &[(&'static str, &'static str)], key: Option<&Key>, new_length: Option<usize>) -> String {
        let (host, token) = (HeaderValue::from_static("api.example.com"), token());
        let hearing = if new_length.is_some() { Hearing::Heard } else { Hearing::None };
        let changes = Changes { host: &host, key, token: &token, new_length, hearing };
        show(&upward(&headers(pairs), changes))
    }

    #[test]
    fn what_is_unknown_passes_and_what_is_of_the_connection_does_not() {
        let pairs = [
            ("host", "127.0.0.1:1"),
            ("x-unknown", "kept"),
            ("connection", "keep-alive, x-mine"),
            ("keep-alive", "timeout=5"),
            ("x-mine", "dropped"),
            ("te", "trailers"),
            ("expect", "100-continue"),
            ("content-length", "5"),
            ("content-encoding", "zstd"),
            ("accept-encoding", "br, zstd"),
            ("x-api-key", "theirs"),
        ];
        assert_eq!(
            sent(&pairs, None, None),
            "host: api.example.com\nx-unknown: kept\ncontent-length: 5\ncontent-encoding: zstd\n\
             accept-encoding: br, zstd\nx-api-key: theirs\nte: trailers\n"
        );
        assert_eq!(
            sent(&pairs, None, Some(9)),
            "host: api.example.com\nx-unknown: kept\naccept-encoding: identity\nx-api-key: theirs\nte: trailers\n\
             content-length: 9\n"
        );
    }

    /// S18: no header of ours can be overridden.
    #[test]
    fn a_key_of_ours_is_the_only_one() {
        let key = Key::new("anthropic", "ours").unwrap();
        let pairs = [
            ("authorization", "Bearer our-token"),
            ("x-api-key", "theirs"),
            ("connection", "x-api-key, host"),
            ("x-memdir-token", "our-token"),
        ];
        assert_eq!(sent(&pairs, Some(&key), None), "host: api.example.com\nx-api-key: ours\n");
        assert_eq!(sent(&pairs[..1], None, None), "host: api.example.com\n", "our token is nobody else's");
    }

    #[test]
    fn our_token_is_known_wherever_a_key_may_stand() {
        for (name, value) in [
            ("authorization", "Bearer our-token"),
            ("x-api-key", "our-token"),
            ("x-goog-api-key", "our-token"),
        ] {
            assert!(has_token(&headers(&[(name, value)]), &token()), "{name}");
        }
        assert!(!has_token(
            &headers(&[("authorization", "Bearer other"), ("x-other", "our-token")]),
            &token()
        ));
    }

    /// S19.
    #[test]
    fn memory_sees_no_key() {
        let pairs = [("authorization", "k"), ("x-api-key", "k"), ("cookie", "k"), ("session-id", "7")];
        assert_eq!(show(&without_credentials(&headers(&pairs))), "session-id: 7\n");
    }
}
