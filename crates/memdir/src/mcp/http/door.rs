//! Who may come in over HTTP, decided from the head of a request before anything of it is acted upon.
//!
//! A page in a browser can send requests to this machine, and by a name that changes its meaning it can even read the answers.
//! So the name that was asked for must be ours exactly, a page of anybody else is turned away by the two headers that browsers
//! set and pages cannot, and what has an effect must be JSON, which no form sends. Other programs of this machine need a token.

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use super::routes::{Needs, ROUTES, Route};
use super::tokens::{Scope, Tokens};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Decides who may come in.
pub(super) struct Door {
    /// The names under which the server may be asked for.
    hosts: Vec<String>,
    tokens: Tokens,
}

/// A request that may come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Admitted {
    pub(super) route: Route,
    /// What its token allows; without one it may only read what tells nothing.
    pub(super) scope: Scope,
}

impl Door {
    /// Makes the door of a server that listens at this port.
    pub(super) fn new(port: u16, tokens: Tokens) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        Self { hosts: hosts.to_vec(), tokens }
    }

    /// Says whether a request may come in, or with which status it is turned away.
    pub(super) fn admit(&self, head: &Parts) -> Result<Admitted, StatusCode> {
        self.is_for_us(head)?;
        self.is_of_no_other_page(&head.headers)?;
        let route = find(head.method.as_str(), head.uri.path())?;
        let scope = match route.needs {
            Needs::Nothing => Scope::Read,
            Needs::Token => bearer(&head.headers)
                .and_then(|token| self.tokens.scope(token))
                .ok_or(StatusCode::UNAUTHORIZED)?,
        };
        if head.method == Method::POST && !is_json(&head.headers) {
            return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        Ok(Admitted { route, scope })
    }

    /// The name must be one of ours, said once, and nothing else may say another.
    fn is_for_us(&self, head: &Parts) -> Result<(), StatusCode> {
        if head.uri.authority().is_some() || head.uri.scheme().is_some() {
            return Err(StatusCode::BAD_REQUEST);
        }
        let host = only(&head.headers, &HOST)?.ok_or(StatusCode::BAD_REQUEST)?;
        let is_ours = self.hosts.iter().any(|ours| host.eq_ignore_ascii_case(ours));
        if is_ours { Ok(()) } else { Err(StatusCode::FORBIDDEN) }
    }

    /// A request that a browser sends for a page must be for a page of ours.
    fn is_of_no_other_page(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        if let Some(origin) = only(headers, &ORIGIN)? {
            let is_ours = |host: &String| origin.strip_prefix("http://") == Some(host.as_str());
            if !self.hosts.iter().any(is_ours) {
                return Err(StatusCode::FORBIDDEN);
            }
        }
        match only(headers, &SEC_FETCH_SITE)? {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) => Err(StatusCode::FORBIDDEN),
        }
    }
}

fn find(method: &str, path: &str) -> Result<Route, StatusCode> {
    let mut at_path = ROUTES.iter().filter(|route| route.path == path).peekable();
    if at_path.peek().is_none() {
        return Err(StatusCode::NOT_FOUND);
    }
    at_path.find(|route| route.method == method).copied().ok_or(StatusCode::METHOD_NOT_ALLOWED)
}

/// Returns the value of a header that may come once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, StatusCode> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(StatusCode::BAD_REQUEST);
    }
    first.map(|value| value.to_str().map_err(|_| StatusCode::BAD_REQUEST)).transpose()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, &AUTHORIZATION).ok()??.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, &CONTENT_TYPE).ok().flatten().unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
