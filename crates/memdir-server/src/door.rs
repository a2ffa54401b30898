//! Who may come in, decided from the head of a request before anything of it is acted upon.
//!
//! The name that was asked for must be ours exactly, so that a page whose name changes its meaning reaches nothing; what a browser
//! sends for a page is turned away, because no page is served here; what has an effect must be of a kind that no form sends.

use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN,
    TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use memdir_core::team::wire::{Code, PROTOCOL, PROTOCOL_HEADER};

use crate::answer::Problem;
use crate::routes::{self, NoRoute, Params, Route, Takes};
use crate::uri::Query;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const PROTOCOL_NAME: HeaderName = HeaderName::from_static(PROTOCOL_HEADER);
/// The longest path with its query, in bytes: four times the longest memory path, encoded.
const MAX_TARGET: usize = 8_192;

/// The names under which the server may be asked for.
#[derive(Debug, Clone)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// The names of this machine at a port, and others that a proxy stands for, with their port if it is not the usual one.
    pub fn new(port: u16, others: &[String]) -> Self {
        let local = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        Self(local.into_iter().chain(others.iter().cloned()).collect())
    }
}

/// A request that may come in, as far as its head can tell.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) route: &'static Route,
    pub(crate) params: Params,
    pub(crate) query: Query,
}

/// Says whether a request may come in.
pub(crate) fn admit(hosts: &Hosts, head: &Parts) -> Result<Admitted, Problem> {
    is_for_us(hosts, head)?;
    is_of_no_page(&head.headers)?;
    has_a_length(&head.headers)?;
    if head.uri.path_and_query().is_some_and(|target| target.as_str().len() > MAX_TARGET) {
        return Err(Problem::new(Code::TooLarge, "the path is too long"));
    }
    let (route, params) = routes::find(head.method.as_str(), head.uri.path()).map_err(no_route)?;
    speaks_our_protocol(&head.headers)?;
    let query = Query::parse(head.uri.query()).ok_or_else(|| Problem::bad("the query cannot be decoded"))?;
    Ok(Admitted { route, params, query })
}

fn no_route(no_route: NoRoute) -> Problem {
    match no_route {
        NoRoute::Path => Problem::not_found(),
        NoRoute::Method(methods) => Problem::method(&methods),
        NoRoute::Encoding => Problem::bad("the path cannot be decoded"),
    }
}

/// The name must be one of ours, said once, and nothing else may say another.
pub(crate) fn is_for_us(hosts: &Hosts, head: &Parts) -> Result<(), Problem> {
    if head.uri.authority().is_some() || head.uri.scheme().is_some() {
        return Err(Problem::bad("a path is asked for, not an address"));
    }
    let host = only(&head.headers, &HOST)?.ok_or_else(|| Problem::bad("no host is named"))?;
    if hosts.0.iter().any(|ours| host.eq_ignore_ascii_case(ours)) {
        return Ok(());
    }
    Err(Problem::new(Code::Forbidden, "this server has another name; `--host NAME` adds one"))
}

/// No page is served here, so nothing that a browser sends for one is for us.
pub(crate) fn is_of_no_page(headers: &HeaderMap) -> Result<(), Problem> {
    let is_typed = matches!(only(headers, &SEC_FETCH_SITE)?, None | Some("none"));
    if only(headers, &ORIGIN)?.is_none() && is_typed {
        return Ok(());
    }
    Err(Problem::new(Code::Forbidden, "pages in a browser may not ask"))
}

/// A body says how long it is. One in chunks ends where two readers may not agree on.
fn has_a_length(headers: &HeaderMap) -> Result<(), Problem> {
    if headers.contains_key(TRANSFER_ENCODING) {
        return Err(Problem::new(Code::LengthRequired, "a body comes with its length, not in chunks"));
    }
    Ok(())
}

fn speaks_our_protocol(headers: &HeaderMap) -> Result<(), Problem> {
    match only(headers, &PROTOCOL_NAME)? {
        None => Ok(()),
        Some(version) if version.trim() == PROTOCOL.to_string() => Ok(()),
        Some(_) => {
            let mut problem = Problem::new(Code::Protocol, "another version of the protocol is spoken here");
            problem.trouble.supported = vec![PROTOCOL];
            Err(problem)
        }
    }
}

/// Says whether the body is of the kind that the route takes.
pub(crate) fn is_taken(takes: Takes, headers: &HeaderMap) -> Result<(), Problem> {
    let kind = only(headers, &CONTENT_TYPE)?.unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let wanted = match takes {
        Takes::Nothing => return Ok(()),
        Takes::Json => "application/json",
        Takes::Markdown => "text/markdown",
        Takes::Lines => "application/x-ndjson",
    };
    if kind == wanted {
        return Ok(());
    }
    Err(Problem::new(Code::MediaType, format!("the body must be {wanted}")))
}

/// Says whether the body is packed.
pub(crate) fn is_packed(headers: &HeaderMap) -> Result<bool, Problem> {
    match only(headers, &CONTENT_ENCODING)?.map(str::trim) {
        None | Some("identity") => Ok(false),
        Some("gzip") => Ok(true),
        Some(_) => Err(Problem::new(Code::MediaType, "bodies are plain or gzip")),
    }
}

/// Says whether the answer may be packed.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let said = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    said.flat_map(|value| value.split(',')).any(|entry| {
        let (name, weight) = entry.split_once(';').unwrap_or((entry, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.trim().parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

/// Returns the token of a request.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, &AUTHORIZATION).ok()??.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns the value of a header that may come once.
pub(crate) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Problem::bad(format!("the header {name} comes twice")));
    }
    first
        .map(|value| value.to_str().map_err(|_| Problem::bad(format!("the header {name} is not text"))))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    fn status(target: &str, pairs: &[(&'static str, &'static str)]) -> u16 {
        let mut request = hyper::Request::builder().uri(target).body(()).unwrap();
        *request.headers_mut() = headers(pairs);
        let hosts = Hosts::new(7_000, &["memory.example".to_owned()]);
        admit(&hosts, &request.into_parts().0).map_or_else(|problem| problem.trouble.code.status(), |_| 200)
    }

    /// S12.
    #[test]
    fn only_our_own_names_are_answered() {
        for ours in ["127.0.0.1:7000", "localhost:7000", "LOCALHOST:7000", "[::1]:7000", "memory.example"] {
            assert_eq!(status("/health", &[("host", ours)]), 200, "{ours}");
        }
        for other in [
            "evil.test",
            "localhost.evil.test:7000",
            "127.0.0.1.evil.test:7000",
            "127.0.0.1@evil",
            "127.0.0.1:7001",
            "127.0.0.1",
            "",
            "memory.example:80",
        ] {
            assert_eq!(status("/health", &[("host", other)]), 403, "{other}");
        }
        assert_eq!(status("/health", &[]), 400);
        assert_eq!(status("/health", &[("host", "localhost:7000"), ("host", "localhost:7000")]), 400);
        assert_eq!(status("http://localhost:7000/health", &[("host", "localhost:7000")]), 400);
    }

    /// S13.
    #[test]
    fn what_a_page_sends_is_turned_away() {
        let with = |name, value| status("/health", &[("host", "localhost:7000"), (name, value)]);
        assert_eq!(with("origin", "http://localhost:7000"), 403);
        assert_eq!(with("origin", "null"), 403);
        assert_eq!(with("sec-fetch-site", "cross-site"), 403);
        assert_eq!(with("sec-fetch-site", "same-origin"), 403);
        assert_eq!(with("sec-fetch-site", "none"), 200, "an address that somebody typed");
        for (kind, is_ok) in
            [("application/json", true), ("Application/JSON; charset=utf-8", true), ("text/plain", false)]
        {
            assert_eq!(is_taken(Takes::Json, &headers(&[("content-type", kind)])).is_ok(), is_ok, "{kind}");
        }
        assert!(is_taken(Takes::Json, &headers(&[])).is_err());
    }

    /// T15.
    #[test]
    fn another_version_of_the_protocol_is_refused() {
        let with = |value| status("/v1/me", &[("host", "localhost:7000"), ("memdir-protocol", value)]);
        assert_eq!(with("1"), 200);
        assert_eq!(with("2"), 426);
        assert_eq!(with("x"), 426);
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        let takes = |value| takes_gzip(&headers(&[("accept-encoding", value)]));
        assert!(takes("gzip") && takes("deflate, gzip;q=0.5") && takes("br, GZIP"));
        assert!(!takes("identity") && !takes("gzip;q=0") && !takes("gzipped"));
    }
}
