//! What the gateway did: counted by route, the last requests in a list, as a page and as JSON.
//!
//! Nothing that a client or an upstream wrote is kept, but for the path, which has no key in it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::memory::{End, Note, Usage};

/// So many requests are listed.
const N_RECENT: usize = 100;
/// So many routes are told apart; a stranger's paths must not fill the memory.
const MAX_ROUTES: usize = 64;

/// A request that was answered, or was not.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When it came.
    pub at: Timestamp,
    /// Upstream, method and path without what differs from request to request.
    pub route: String,
    /// What was answered; 0 if the client left before.
    pub status: u16,
    /// How it ended.
    pub end: End,
    /// From the head of the request to the head of the answer.
    pub first: Duration,
    /// To its end.
    pub took: Duration,
    /// Bytes of the answer.
    pub down: u64,
    /// What memory did.
    pub note: Note,
    /// What the answer took.
    pub usage: Option<Usage>,
}

type Log = Box<dyn Fn(&Entry) + Send + Sync>;

/// Counts and lists.
pub(crate) struct Status {
    since: Timestamp,
    counted: Mutex<Counted>,
    log: Option<Log>,
}

#[derive(Default)]
struct Counted {
    routes: BTreeMap<String, Counts>,
    recent: VecDeque<Entry>,
    /// Requests whose answer has not ended.
    open: u64,
    /// Requests that were turned away at the door.
    turned_away: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    requests: u64,
    refused: u64,
    failed: u64,
    cut: u64,
    injections: u64,
    injected: u64,
    down: u64,
    usage: Usage,
}

impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Status").field("since", &self.since).finish_non_exhaustive()
    }
}

impl Status {
    pub(crate) fn new(log: Option<Log>) -> Self {
        Self { since: Timestamp::now(), counted: Mutex::default(), log }
    }

    /// Begins to write a request down.
    pub(crate) fn begin(self: &Arc<Self>, route: String) -> Record {
        self.lock().open += 1;
        Record {
            status: self.clone(),
            route,
            at: Timestamp::now(),
            began: Instant::now(),
            first: None,
            answered: 0,
            down: 0,
            note: Note::default(),
            usage: None,
            is_over: false,
        }
    }

    /// Counts a request that did not come in.
    pub(crate) fn turned_away(&self) {
        self.lock().turned_away += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, entry: Entry) {
        if let Some(log) = &self.log {
            log(&entry);
        }
        let mut counted = self.lock();
        counted.open = counted.open.saturating_sub(1);
        let is_known = counted.routes.contains_key(&entry.route) || counted.routes.len() < MAX_ROUTES;
        let route = if is_known { entry.route.clone() } else { "other".to_owned() };
        counted.routes.entry(route).or_default().add(&entry);
        if counted.recent.len() >= N_RECENT {
            counted.recent.pop_front();
        }
        counted.recent.push_back(entry);
    }

    /// Returns all of it as a document.
    pub(crate) fn json(&self, upstreams: &[(String, String)], is_off: bool) -> Value {
        let counted = self.lock();
        let routes: serde_json::Map<_, _> =
            counted.routes.iter().map(|(route, counts)| (route.clone(), counts.json())).collect();
        let upstreams: serde_json::Map<_, _> =
            upstreams.iter().map(|(name, base)| (name.clone(), json!(base))).collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "since": self.since.to_string(),
            "memory": !is_off,
            "upstreams": upstreams,
            "open": counted.open,
            "turned_away": counted.turned_away,
            "routes": routes,
            "recent": counted.recent.iter().rev().map(Entry::json).collect::<Vec<_>>(),
        })
    }
}

impl Counts {
    fn add(&mut self, entry: &Entry) {
        self.requests += 1;
        self.refused += u64::from((400..500).contains(&entry.status));
        self.failed += u64::from(entry.status >= 500);
        self.cut += u64::from(entry.end == End::Cut);
        self.injections += u64::from(entry.note.injected > 0);
        self.injected += entry.note.injected as u64;
        self.down += entry.down;
        let usage = entry.usage.unwrap_or_default();
        self.usage.input += usage.input;
        self.usage.cached += usage.cached;
        self.usage.output += usage.output;
    }

    fn json(&self) -> Value {
        json!({
            "requests": self.requests, "refused": self.refused, "failed": self.failed, "cut": self.cut,
            "injections": self.injections, "injected_bytes": self.injected, "answered_bytes": self.down,
            "input_tokens": self.usage.input, "cached_tokens": self.usage.cached, "output_tokens": self.usage.output,
        })
    }
}

impl Entry {
    /// Returns how it ended, in a word.
    pub fn ended(&self) -> &'static str {
        match self.end {
            End::Whole => "whole",
            End::Cut => "cut",
            End::Status(_) => "refused",
        }
    }

    fn json(&self) -> Value {
        json!({
            "at": self.at.to_string(), "route": self.route, "status": self.status, "end": self.ended(),
            "first_ms": millis(self.first), "took_ms": millis(self.took), "bytes": self.down,
            "kind": self.note.kind, "injected_bytes": self.note.injected, "replayed_bytes": self.note.replayed,
        })
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Record {
    status: Arc<Status>,
    route: String,
    at: Timestamp,
    began: Instant,
    first: Option<Duration>,
    answered: u16,
    /// Bytes of the answer.
    pub(crate) down: u64,
    pub(crate) note: Note,
    pub(crate) usage: Option<Usage>,
    is_over: bool,
}

impl Record {
    /// Returns the route that it is counted under.
    pub(crate) fn route(&self) -> &str {
        &self.route
    }

    /// Writes down with which status it was answered.
    pub(crate) fn answered(&mut self, status: u16) {
        self.answered = status;
        self.first = Some(self.began.elapsed());
    }

    /// Writes down that it was answered in another way in the end.
    pub(crate) fn became(&mut self, status: u16) {
        self.answered = status;
    }

    /// Writes down how it ended.
    pub(crate) fn end(mut self, end: End) {
        self.finish(end);
    }

    fn finish(&mut self, end: End) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let took = self.began.elapsed();
        self.status.add(Entry {
            at: self.at,
            route: std::mem::take(&mut self.route),
            status: self.answered,
            end,
            first: self.first.unwrap_or(took),
            took,
            down: self.down,
            note: std::mem::take(&mut self.note),
            usage: self.usage,
        });
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.finish(End::Cut);
    }
}

/// Names a route: ids and models in a path differ from request to request.
pub(crate) fn route_name(upstream: &str, method: &str, path: &str) -> String {
    let mut parts = path.split('/').skip(1).take(4).map(|part| match part.split_once(':') {
        Some((_, verb)) if is_word(verb) => format!(":{verb}"),
        _ if is_word(part) => part.to_owned(),
        _ => "…".to_owned(),
    });
    let path = parts.by_ref().collect::<Vec<_>>().join("/");
    let method = if is_word(method) { method } else { "…" };
    format!("{upstream} {method} /{path}")
}

/// Says whether a part of a path can be part of an interface rather than somebody's id.
fn is_word(part: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'-';
    let is_version = matches!(part, "v1" | "v1beta" | "v1alpha");
    is_version || (part.len() <= 24 && part.bytes().all(is_plain))
}

/// Shows the document of [`Status::json`] as a page: no scripts, nothing from elsewhere, every text escaped.
pub(crate) fn page(status: &Value) -> String {
    let mut html = String::from(
        "<!doctype html><html lang=en><meta charset=utf-8><meta http-equiv=refresh content=5><title>memdir gateway</title>\
         <style>body{font:14px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
         table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .6rem;border-bottom:1px solid #8884}\
         td.n{text-align:right;font-variant-numeric:tabular-nums}</style><h1>memdir gateway</h1>",
    );
    let memory = if status["memory"] == true { "on" } else { "off" };
    let _ = write!(
        html,
        "<p>Since {}. Memory is {memory}. {} open, {} turned away.</p><h2>Upstreams</h2>",
        text(&status["since"]),
        status["open"],
        status["turned_away"]
    );
    let upstreams = status["upstreams"].as_object().into_iter().flatten();
    table(&mut html, &["name", "address"], upstreams.map(|(name, base)| vec![json!(name), base.clone()]));
    html.push_str("<h2>Routes</h2>");
    let columns = [
        "requests",
        "refused",
        "failed",
        "cut",
        "injections",
        "injected_bytes",
        "input_tokens",
        "cached_tokens",
        "output_tokens",
    ];
    let heads: Vec<String> =
        ["route"].into_iter().chain(columns).map(|head| head.replace('_', " ")).collect();
    let routes = status["routes"].as_object().into_iter().flatten();
    let rows = routes.map(|(route, counts)| {
        [json!(route)].into_iter().chain(columns.map(|column| counts[column].clone())).collect()
    });
    table(&mut html, &heads, rows);
    html.push_str("<h2>Last requests</h2>");
    let columns = ["at", "route", "status", "end", "first_ms", "took_ms", "bytes", "kind", "injected_bytes"];
    let heads = columns.map(|head| head.replace('_', " "));
    let recent = status["recent"].as_array().into_iter().flatten();
    table(&mut html, &heads, recent.map(|entry| columns.map(|column| entry[column].clone()).to_vec()));
    html
}

fn table(html: &mut String, heads: &[impl AsRef<str>], rows: impl Iterator<Item = Vec<Value>>) {
    html.push_str("<table><tr>");
    for head in heads {
        let _ = write!(html, "<th>{}", escape(head.as_ref()));
    }
    for row in rows {
        html.push_str("<tr>");
        for cell in row {
            let class = if cell.is_number() { " class=n" } else { "" };
            let _ = write!(html, "<td{class}>{}", text(&cell));
        }
    }
    html.push_str("</table>");
}

fn text(value: &Value) -> String {
    escape(value.as_str().unwrap_or(&value.to_string()))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_has_no_id_in_its_name() {
        assert_eq!(route_name("anthropic", "POST", "/v1/messages"), "anthropic POST /v1/messages");
        assert_eq!(route_name("openai", "GET", "/v1/responses/resp_0123"), "openai GET /v1/responses/…");
        assert_eq!(
            route_name("gemini", "POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent"),
            "gemini POST /v1beta/models/:streamGenerateContent"
        );
        assert_eq!(route_name("local", "GET", "/sk-ant-canary0123/<b>"), "local GET /…/…");
    }

    #[test]
    fn what_was_done_is_counted_and_shown() {
        let status = Arc::new(Status::new(None));
        let mut record = status.begin("anthropic POST /v1/messages".to_owned());
        record.answered(200);
        record.down = 10;
        record.note = Note { injected: 7, kind: "main", ..Note::default() };
        record.usage = Some(Usage { input: 100, cached: 90, output: 5 });
        record.end(End::Whole);
        drop(status.begin("<script>".to_owned()));
        let json = status.json(&[("anthropic".to_owned(), "https://api.anthropic.com".to_owned())], false);
        let counts = &json["routes"]["anthropic POST /v1/messages"];
        assert_eq!(counts["injected_bytes"], 7);
        assert_eq!(counts["cached_tokens"], 90);
        assert_eq!(json["routes"]["<script>"]["cut"], 1);
        assert_eq!(json["open"], 0);
        let page = page(&json);
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
        assert!(page.contains("<td class=n>90"), "{page}");
    }
}
