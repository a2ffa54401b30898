//! Dreams against the real binary: what they do to a vault, when they may, under fire, and the way back.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod fire;
mod gates;
mod model;
mod notice;
mod replay;
mod runs;
#[allow(dead_code, reason = "shared with the tests of the rules, which need all of it")]
#[path = "../../../memdir-core/tests/dream/vault.rs"]
mod vault;
mod vaults;
mod world;
