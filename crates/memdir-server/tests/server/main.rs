//! The team server: every storage against one suite, then the whole of it.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

mod suite;

mod postgres;
mod sqlite;
