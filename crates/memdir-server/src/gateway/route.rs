//! Which upstream a request is for, decided from its path, and from its headers only between vendors whose paths are the same.
//!
//! One address serves every vendor. The first part of a path may name the upstream (`/anthropic/v1/messages`); without it the
//! path itself tells in most cases whose it is, and what is left is told apart by the headers that one vendor's clients send.
//! Nothing in a request can name an upstream that the user's settings do not.

use hyper::header::HeaderMap;

use super::address::has_odd_parts;

/// The names of the vendors.
pub(crate) const ANTHROPIC: &str = "anthropic";
pub(crate) const OPENAI: &str = "openai";
pub(crate) const GEMINI: &str = "gemini";

/// What everything of the gateway itself is below.
pub(crate) const OURS: &str = "/__memdir";
/// What a token in a path begins with.
const TOKEN: &str = "/~";

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Routed<'p> {
    /// The name of the upstream.
    pub(crate) upstream: String,
    /// The path there.
    pub(crate) path: &'p str,
}

/// A path, and the token that stood before it.
pub(crate) fn split_token(path: &str) -> (Option<&str>, &str) {
    let Some(rest) = path.strip_prefix(TOKEN) else { return (None, path) };
    match rest.find('/') {
        Some(end) => (Some(&rest[..end]), &rest[end..]),
        None => (Some(rest), "/"),
    }
}

/// Why a request goes nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoRoute {
    #[error("the path has an empty part, or one that leads elsewhere; a base URL has no `/` at its end")]
    Odd,
    #[error("no vendor has this path; name one before it, as in /anthropic/v1/messages")]
    Unknown,
}

/// Says where a request goes, `names` being the upstreams there are.
pub(crate) fn route<'p>(
    names: &[String],
    method: &str,
    path: &'p str,
    headers: &HeaderMap,
) -> Result<Routed<'p>, NoRoute> {
    if has_odd_parts(path) {
        return Err(NoRoute::Odd);
    }
    let (first, rest) = split_first(path);
    let upstream = match names.iter().find(|name| *name == first) {
        Some(name) => return Ok(Routed { upstream: name.clone(), path: rest }),
        None => vendor(method, path, headers).ok_or(NoRoute::Unknown)?,
    };
    let is_known = names.iter().any(|name| name == upstream);
    is_known.then(|| Routed { upstream: upstream.to_owned(), path }).ok_or(NoRoute::Unknown)
}

fn split_first(path: &str) -> (&str, &str) {
    let below = path.strip_prefix('/').unwrap_or(path);
    match below.find('/') {
        Some(end) => (&below[..end], &below[end..]),
        None => (below, "/"),
    }
}

/// Says whose path it is.
fn vendor(method: &str, path: &str, headers: &HeaderMap) -> Option<&'static str> {
    let is_below =
        |base: &str| path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_content = path.starts_with("/v1/models/") && path.contains(':');
    if is_below("/v1/messages") || is_below("/v1/complete") || path == "/api/hello" {
        return Some(ANTHROPIC);
    }
    if is_below("/v1beta") || is_below("/v1alpha") || is_below("/upload/v1beta") || is_content {
        return Some(GEMINI);
    }
    if is_below("/v1/responses") || is_below("/v1/chat") {
        return Some(OPENAI);
    }
    // Lists of models and files have the same paths with several vendors.
    if is_below("/v1") {
        let vendor = if headers.contains_key("anthropic-version") {
            ANTHROPIC
        } else if headers.contains_key("x-goog-api-key") {
            GEMINI
        } else {
            OPENAI
        };
        return Some(vendor);
    }
    // How Claude Code finds out whether anybody is there.
    (path == "/" && method == "HEAD").then_some(ANTHROPIC)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn names() -> Vec<String> {
        [ANTHROPIC, OPENAI, GEMINI, "local"].map(str::to_owned).to_vec()
    }

    fn to(method: &str, path: &'static str, header: Option<&'static str>) -> String {
        let mut headers = HeaderMap::new();
        if let Some(name) = header {
            headers.insert(name, HeaderValue::from_static("x"));
        }
        match route(&names(), method, path, &headers) {
            Ok(routed) => format!("{} {}", routed.upstream, routed.path),
            Err(err) => format!("{err:?}"),
        }
    }

    #[test]
    fn a_path_tells_whose_it_is() {
        for (path, wanted) in [
            ("/v1/messages", "anthropic /v1/messages"),
            ("/v1/messages/count_tokens", "anthropic /v1/messages/count_tokens"),
            ("/v1/messages/batches", "anthropic /v1/messages/batches"),
            ("/v1/responses", "openai /v1/responses"),
            ("/v1/responses/resp_1/cancel", "openai /v1/responses/resp_1/cancel"),
            ("/v1/chat/completions", "openai /v1/chat/completions"),
            ("/v1/embeddings", "openai /v1/embeddings"),
            ("/v1beta/models/m:streamGenerateContent", "gemini /v1beta/models/m:streamGenerateContent"),
            ("/v1/models/m:generateContent", "gemini /v1/models/m:generateContent"),
            ("/api/hello", "anthropic /api/hello"),
            ("/anthropic/v1/models", "anthropic /v1/models"),
            ("/openai/v1/messages", "openai /v1/messages"),
            ("/local/api/generate", "local /api/generate"),
            ("/local", "local /"),
            ("/v1/messagesx", "openai /v1/messagesx"),
        ] {
            assert_eq!(to("POST", path, None), wanted);
        }
    }

    #[test]
    fn headers_tell_vendors_of_one_path_apart() {
        assert_eq!(to("GET", "/v1/models", Some("anthropic-version")), "anthropic /v1/models");
        assert_eq!(to("GET", "/v1/models", Some("x-goog-api-key")), "gemini /v1/models");
        assert_eq!(to("GET", "/v1/models", None), "openai /v1/models");
        assert_eq!(to("HEAD", "/", None), "anthropic /");
    }

    /// S17.
    #[test]
    fn no_request_names_an_upstream_of_its_own() {
        for path in
            ["/", "/evil.test/v1/messages", "/@evil", "/http:/evil.test", "/favicon.ico", "/v2/messages"]
        {
            assert_eq!(to("GET", path, None), "Unknown", "{path}");
        }
        for path in
            ["//evil.test/v1/messages", "/anthropic//evil.test", "/anthropic/../v1", "/anthropic/%2e%2e/v1"]
        {
            assert_eq!(to("POST", path, None), "Odd", "{path}");
        }
    }

    /// S14.
    #[test]
    fn a_token_may_stand_before_everything() {
        assert_eq!(split_token("/~abc/anthropic/v1"), (Some("abc"), "/anthropic/v1"));
        assert_eq!(split_token("/~abc"), (Some("abc"), "/"));
        assert_eq!(split_token("/v1/~abc"), (None, "/v1/~abc"));
    }
}
