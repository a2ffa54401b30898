//! Background work against the real binary: working memory, the queue, the worker, the daemon, `watch`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod daemon;
mod end;
mod watch;
mod worker;
mod world;
