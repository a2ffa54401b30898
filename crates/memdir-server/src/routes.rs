//! Everything that can be asked of the server, in one table. What is not in it does not exist.
//!
//! The table says of each route what it needs, what body it takes and which statuses it answers with; the door, the document at
//! `/openapi.json` and the tests read the same lines.

use memdir_core::team::wire::Scope;

use crate::uri;

/// One thing that can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: &'static str,
    /// The path: `{name}` is one segment, `{*name}` the rest.
    pub path: &'static str,
    /// What it needs.
    pub needs: Needs,
    /// What body it takes.
    pub takes: Takes,
    /// What it does.
    pub endpoint: Endpoint,
    /// The statuses of success.
    pub succeeds: &'static [u16],
    /// The statuses of failure beside those that every route of its kind has.
    pub fails: &'static [u16],
    /// What it does, for people.
    pub summary: &'static str,
}

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it tells nothing.
    Nothing,
    /// A token of the server itself.
    Metrics,
    /// A token that allows this, of the team in the path.
    Token(Scope),
}

/// What body a route takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// `application/json`.
    Json,
    /// `text/markdown`.
    Markdown,
    /// `application/x-ndjson`.
    Lines,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named like its route, which has a summary")]
pub enum Endpoint {
    Health,
    Ready,
    OpenApi,
    Metrics,
    Join,
    Me,
    Team,
    Members,
    RevokeMember,
    Invites,
    Invite,
    WithdrawInvite,
    Tokens,
    MakeToken,
    RevokeToken,
    Projects,
    Changes,
    Batch,
    GetMemory,
    PutMemory,
    DeleteMemory,
    Versions,
    Version,
    Search,
    Audit,
    Ledgers,
    ReadLedger,
    AppendLedger,
}

const READ: Needs = Needs::Token(Scope::Read);
const WRITE: Needs = Needs::Token(Scope::Write);
const ADMIN: Needs = Needs::Token(Scope::Admin);

macro_rules! route {
    ($method:literal $path:literal, $needs:expr, $takes:ident, $endpoint:ident, $succeeds:expr, $fails:expr, $summary:literal) => {
        Route {
            method: $method,
            path: $path,
            needs: $needs,
            takes: Takes::$takes,
            endpoint: Endpoint::$endpoint,
            succeeds: &$succeeds,
            fails: &$fails,
            summary: $summary,
        }
    };
}

/// The routes. No `GET` has an effect.
#[rustfmt::skip]
pub const ROUTES: [Route; 28] = [
    route!("GET" "/health", Needs::Nothing, Nothing, Health, [200], [], "Says that the process lives"),
    route!("GET" "/ready", Needs::Nothing, Nothing, Ready, [200], [], "Says whether the database answers"),
    route!("GET" "/openapi.json", Needs::Nothing, Nothing, OpenApi, [200], [], "This document"),
    route!("GET" "/metrics", Needs::Metrics, Nothing, Metrics, [200], [], "Figures for Prometheus"),
    route!("POST" "/v1/join", Needs::Nothing, Json, Join, [201], [403, 409, 429], "Turns an invitation into a token"),
    route!("GET" "/v1/me", READ, Nothing, Me, [200], [], "Who one is, and what the server takes"),
    route!("GET" "/v1/teams/{team}", READ, Nothing, Team, [200], [], "The team in figures"),
    route!("GET" "/v1/teams/{team}/members", READ, Nothing, Members, [200], [], "The members"),
    route!("DELETE" "/v1/teams/{team}/members/{member}", READ, Nothing, RevokeMember, [204], [403], "Revokes a member with all tokens: an admin, or the member"),
    route!("GET" "/v1/teams/{team}/invites", ADMIN, Nothing, Invites, [200], [], "The invitations that count"),
    route!("POST" "/v1/teams/{team}/invites", ADMIN, Json, Invite, [201], [], "Makes an invitation"),
    route!("DELETE" "/v1/teams/{team}/invites/{id}", ADMIN, Nothing, WithdrawInvite, [204], [], "Withdraws an invitation"),
    route!("GET" "/v1/teams/{team}/tokens", READ, Nothing, Tokens, [200], [], "One's own tokens; an admin sees all"),
    route!("POST" "/v1/teams/{team}/tokens", READ, Json, MakeToken, [201], [403], "Makes another token for oneself, with no more scope"),
    route!("DELETE" "/v1/teams/{team}/tokens/{id}", READ, Nothing, RevokeToken, [204], [], "Revokes one's own token; an admin any"),
    route!("GET" "/v1/teams/{team}/projects", READ, Nothing, Projects, [200], [], "The projects that have memories"),
    route!("GET" "/v1/teams/{team}/projects/{project}/changes", READ, Nothing, Changes, [200], [410], "What is new since a cursor; may wait for it"),
    route!("POST" "/v1/teams/{team}/projects/{project}/batch", WRITE, Json, Batch, [200], [], "Many writes, each on its own"),
    route!("GET" "/v1/teams/{team}/projects/{project}/memories/{*path}", READ, Nothing, GetMemory, [200, 304], [], "One memory"),
    route!("PUT" "/v1/teams/{team}/projects/{project}/memories/{*path}", WRITE, Markdown, PutMemory, [200, 201], [403, 412, 422, 428, 507], "Writes one memory; If-Match or If-None-Match says what it replaces"),
    route!("DELETE" "/v1/teams/{team}/projects/{project}/memories/{*path}", WRITE, Nothing, DeleteMemory, [200], [412, 428], "Removes one memory, with all its texts if `erase`"),
    route!("GET" "/v1/teams/{team}/projects/{project}/versions/{*path}", READ, Nothing, Versions, [200], [], "The versions of a memory, newest first"),
    route!("GET" "/v1/teams/{team}/projects/{project}/version/{seq}/{*path}", READ, Nothing, Version, [200], [410], "The text of one version"),
    route!("GET" "/v1/teams/{team}/search", READ, Nothing, Search, [200], [], "Memories by words"),
    route!("GET" "/v1/teams/{team}/audit", ADMIN, Nothing, Audit, [200], [], "Who did what when"),
    route!("GET" "/v1/teams/{team}/projects/{project}/usage", READ, Nothing, Ledgers, [200], [403], "The ledgers of one person's machines"),
    route!("GET" "/v1/teams/{team}/projects/{project}/usage/{file}", READ, Nothing, ReadLedger, [200], [403], "A ledger from an offset on"),
    route!("POST" "/v1/teams/{team}/projects/{project}/usage/{file}", WRITE, Lines, AppendLedger, [200], [403, 409, 422, 507], "Appends to a ledger at its end"),
];

/// What the `{…}` of a path stand for, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Params(Vec<(&'static str, String)>);

impl Params {
    /// Returns one of them; empty if the route has none of that name.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    }
}

/// Why no route was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// There is nothing at this path.
    Path,
    /// There is, but for these methods.
    Method(Vec<&'static str>),
    /// The path cannot be decoded.
    Encoding,
}

/// Finds the route of a request.
pub(crate) fn find(method: &str, path: &str) -> Result<(&'static Route, Params), NoRoute> {
    let mut methods = Vec::new();
    for route in &ROUTES {
        let Some(params) = fit(route.path, path) else { continue };
        if route.method == method {
            let decoded = params.into_iter().map(|(name, value)| Some((name, uri::decode(value)?)));
            return decoded.collect::<Option<_>>().map(|all| (route, Params(all))).ok_or(NoRoute::Encoding);
        }
        methods.push(route.method);
    }
    if methods.is_empty() { Err(NoRoute::Path) } else { Err(NoRoute::Method(methods)) }
}

/// Returns what the `{…}` of a pattern stand for in a path; `None` if it does not fit.
fn fit<'p>(pattern: &'static str, path: &'p str) -> Option<Vec<(&'static str, &'p str)>> {
    let mut params = Vec::new();
    let (mut pattern, mut path) = (pattern.strip_prefix('/')?, path.strip_prefix('/')?);
    loop {
        let (want, pattern_rest) = cut(pattern);
        if let Some(name) = want.strip_prefix("{*").and_then(|name| name.strip_suffix('}')) {
            params.push((name, path));
            return (!path.is_empty()).then_some(params);
        }
        let (have, path_rest) = cut(path);
        match want.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) if !have.is_empty() => params.push((name, have)),
            None if want == have => {}
            _ => return None,
        }
        match (pattern_rest, path_rest) {
            (None, None) => return Some(params),
            (Some(pattern_rest), Some(path_rest)) => (pattern, path) = (pattern_rest, path_rest),
            _ => return None,
        }
    }
}

fn cut(text: &str) -> (&str, Option<&str>) {
    match text.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_finds_its_route_and_what_stands_in_it() {
        let found = |method, path| find(method, path).map(|(route, params)| (route.endpoint, params));
        let (endpoint, params) = found("GET", "/v1/teams/t/projects/p/memories/sub/a%20b.md").unwrap();
        assert_eq!(endpoint, Endpoint::GetMemory);
        assert_eq!((params.get("team"), params.get("project"), params.get("path")), ("t", "p", "sub/a b.md"));
        assert_eq!(found("GET", "/v1/me").unwrap().0, Endpoint::Me);
        let (endpoint, params) = found("GET", "/v1/teams/t/projects/p/version/12/a.md").unwrap();
        assert_eq!((endpoint, params.get("seq"), params.get("path")), (Endpoint::Version, "12", "a.md"));
        for nowhere in
            ["/", "", "/v1", "/v1/me/", "/v1//me", "/v1/teams/", "/v1/teams/t/projects/p/memories/", "/V1/me"]
        {
            assert_eq!(found("GET", nowhere), Err(NoRoute::Path), "{nowhere}");
        }
        assert_eq!(found("POST", "/health"), Err(NoRoute::Method(vec!["GET"])));
        let methods = NoRoute::Method(vec!["GET", "PUT", "DELETE"]);
        assert_eq!(found("PATCH", "/v1/teams/t/projects/p/memories/a.md"), Err(methods));
        assert_eq!(found("GET", "/v1/teams/%zz"), Err(NoRoute::Encoding));
    }

    #[test]
    fn no_two_routes_are_the_same_and_no_get_takes_a_body() {
        for (n, route) in ROUTES.iter().enumerate() {
            let same = |other: &Route| (other.method, other.path) == (route.method, route.path);
            assert!(!ROUTES[n + 1..].iter().any(same), "{} {}", route.method, route.path);
            assert!(route.method != "GET" || route.takes == Takes::Nothing, "{}", route.path);
        }
    }
}
