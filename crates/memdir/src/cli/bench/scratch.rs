//! A directory for one measurement, and what all measurements share.

use std::fs;
use std::ops::{Add, Sub};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::failure::Failure;

/// A directory that is gone when the measurement is over.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes a new one that only the user can read, in the system's place for such things.
    pub(super) fn new() -> Result<Self, Failure> {
        let base = std::env::temp_dir();
        for n in 0..1000 {
            let path = base.join(format!("memdir-bench-{}-{n}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(err) if err.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(err) => return Err(Failure::error(format!("could not make {}: {err}", path.display()))),
            }
        }
        Err(Failure::error(format!("no room for a directory in {}", base.display())))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left over is in the system's temporary directory, which is emptied by itself.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns milliseconds, to a thousandth.
pub(super) fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Returns the time below which a share of the times is.
pub(super) fn quantile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    let at = (times.len() as f64 * share) as usize;
    times.get(at.min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

/// Returns the quantiles that people ask for, in milliseconds.
pub(super) fn quantiles(times: &mut [Duration]) -> Value {
    let mut at = |share| millis(quantile(times, share));
    json!({ "p50": at(0.5), "p95": at(0.95), "p99": at(0.99) })
}

/// Returns how many there were each second.
pub(super) fn rate(n: usize, time: Duration) -> f64 {
    (n as f64 / time.as_secs_f64().max(1e-9)).round()
}

/// A clock that was started.
pub(super) struct Clock {
    start: Instant,
    work: Option<Duration>,
}

/// What passed on a clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spent {
    /// By the clock on the wall.
    pub(super) time: Duration,
    /// At work, where the system tells: a busy machine does not change it.
    pub(super) work: Option<Duration>,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { start: Instant::now(), work: on_processor() }
    }

    pub(super) fn spent(&self) -> Spent {
        let work = on_processor().zip(self.work).map(|(now, then)| now.saturating_sub(then));
        Spent { time: self.start.elapsed(), work }
    }
}

impl Default for Spent {
    fn default() -> Self {
        Self { time: Duration::ZERO, work: Some(Duration::ZERO) }
    }
}

impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let work = self.work.zip(other.work).map(|(a, b)| a + b);
        Self { time: self.time + other.time, work }
    }
}

impl Sub for Spent {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let work = self.work.zip(other.work).map(|(a, b)| a.saturating_sub(b));
        Self { time: self.time.saturating_sub(other.time), work }
    }
}

/// Returns how long this thread has been at work, not counting what others took.
fn on_processor() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}
