//! Compaction of message lists, files that come back, and magic docs, against the real binary.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod lists;
mod magic;
mod restore;

use memdir_testkit::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_memdir"))
}
