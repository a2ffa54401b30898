//! What the server counts, as Prometheus reads it. Routes are named by their pattern, so no name of a team or a memory is in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::routes::Route;
use crate::rules::Kind;

/// The upper bounds of the histogram, in seconds.
const BOUNDS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0];
/// How requests are called that found no route.
const NO_ROUTE: (&str, &str) = ("-", "-");

type Name = (&'static str, &'static str);

#[derive(Default)]
struct Latency {
    below: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

/// The counters of one process.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(Name, u16), u64>>,
    latency: Mutex<BTreeMap<Name, Latency>>,
    writes: [AtomicU64; 4],
    conflicts: AtomicU64,
    connections: AtomicI64,
}

impl Metrics {
    /// Counts a request. How long somebody waited for news is no latency: those are counted only.
    pub(crate) fn request(&self, route: Option<&Route>, status: u16, took: Option<Duration>) {
        let name = route.map_or(NO_ROUTE, |route| (route.method, route.path));
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner).entry((name, status)).or_default() += 1;
        let Some(took) = took.map(|took| took.as_secs_f64()) else { return };
        let mut all = self.latency.lock().unwrap_or_else(PoisonError::into_inner);
        let latency = all.entry(name).or_default();
        for (bound, below) in BOUNDS.iter().zip(&mut latency.below) {
            *below += u64::from(took <= *bound);
        }
        latency.count += 1;
        latency.seconds += took;
    }

    /// Counts a write.
    pub(crate) fn write(&self, kind: Kind) {
        self.writes[slot(kind)].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a write that was based on another version.
    pub(crate) fn conflict(&self) {
        self.conflicts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts connections that are open.
    pub(crate) fn connected(&self, by: i64) {
        self.connections.fetch_add(by, Ordering::Relaxed);
    }

    /// Returns how many requests were answered.
    pub(crate) fn n_requests(&self) -> u64 {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// Prints everything.
    pub(crate) fn print(&self, n_waiting: usize) -> String {
        let mut text = String::new();
        let out = &mut text;
        head(out, "memdir_requests_total", "counter", "Requests by route and status.");
        for (((method, path), status), n) in
            self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter()
        {
            line(
                out,
                format_args!(
                    "memdir_requests_total{{method=\"{method}\",route=\"{path}\",status=\"{status}\"}} {n}"
                ),
            );
        }
        head(out, "memdir_request_seconds", "histogram", "Time to answer, waiting for news left out.");
        for ((method, path), latency) in self.latency.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let labels = format!("method=\"{method}\",route=\"{path}\"");
            for (bound, below) in BOUNDS.iter().zip(latency.below) {
                line(out, format_args!("memdir_request_seconds_bucket{{{labels},le=\"{bound}\"}} {below}"));
            }
            line(
                out,
                format_args!("memdir_request_seconds_bucket{{{labels},le=\"+Inf\"}} {}", latency.count),
            );
            line(out, format_args!("memdir_request_seconds_sum{{{labels}}} {:.6}", latency.seconds));
            line(out, format_args!("memdir_request_seconds_count{{{labels}}} {}", latency.count));
        }
        head(out, "memdir_writes_total", "counter", "Versions made, by what they did.");
        for kind in KINDS {
            let n = self.writes[slot(kind)].load(Ordering::Relaxed);
            line(out, format_args!("memdir_writes_total{{kind=\"{}\"}} {n}", kind.as_str()));
        }
        head(out, "memdir_conflicts_total", "counter", "Writes that were based on another version.");
        line(out, format_args!("memdir_conflicts_total {}", self.conflicts.load(Ordering::Relaxed)));
        head(out, "memdir_long_polls", "gauge", "Requests that wait for news.");
        line(out, format_args!("memdir_long_polls {n_waiting}"));
        head(out, "memdir_connections", "gauge", "Connections that are open.");
        line(out, format_args!("memdir_connections {}", self.connections.load(Ordering::Relaxed)));
        text
    }
}

const KINDS: [Kind; 4] = [Kind::Create, Kind::Replace, Kind::Delete, Kind::Erase];

fn slot(kind: Kind) -> usize {
    match kind {
        Kind::Create => 0,
        Kind::Replace => 1,
        Kind::Delete => 2,
        Kind::Erase => 3,
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    line(out, format_args!("# HELP {name} {help}"));
    line(out, format_args!("# TYPE {name} {kind}"));
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn what_happened_is_counted_by_route_status_and_time() {
        let metrics = Metrics::default();
        let health = &ROUTES[0];
        metrics.request(Some(health), 200, Some(Duration::from_millis(2)));
        metrics.request(Some(health), 200, Some(Duration::from_millis(20)));
        metrics.request(None, 404, None);
        metrics.write(Kind::Replace);
        metrics.conflict();
        metrics.connected(1);
        let text = metrics.print(3);
        for line in [
            "memdir_requests_total{method=\"GET\",route=\"/health\",status=\"200\"} 2",
            "memdir_requests_total{method=\"-\",route=\"-\",status=\"404\"} 1",
            "memdir_request_seconds_bucket{method=\"GET\",route=\"/health\",le=\"0.001\"} 0",
            "memdir_request_seconds_bucket{method=\"GET\",route=\"/health\",le=\"0.0025\"} 1",
            "memdir_request_seconds_bucket{method=\"GET\",route=\"/health\",le=\"+Inf\"} 2",
            "memdir_request_seconds_sum{method=\"GET\",route=\"/health\"} 0.022000",
            "memdir_writes_total{kind=\"replace\"} 1",
            "memdir_writes_total{kind=\"erase\"} 0",
            "memdir_conflicts_total 1",
            "memdir_long_polls 3",
            "memdir_connections 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert_eq!(metrics.n_requests(), 3);
    }
}
