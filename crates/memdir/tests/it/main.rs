//! Drives the real `memdir` binary against its promises, one module per theme.
//!
//! Every test runs in a [`memdir_testkit::Sandbox`] with an empty environment and a fixed clock, and carries the
//! id of the promise it checks. Loops run a few times by default; `MEMDIR_REPEAT=20` runs them as often as the
//! promise says. Nothing here measures time: a time-out only ends what hangs. What needs root or a tool says so
//! (see [`setup::can_use`]).
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod bench;
mod claude_dir;
mod commands;
mod concurrency;
mod conformance;
mod gates;
mod hostile;
mod lifecycle;
mod outside;
mod placing;
mod privacy;
mod recall;
mod remember;
mod review;
mod search;
mod secrets;
mod setup;
mod states;
mod trust;
mod why_not;
