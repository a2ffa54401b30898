//! Dreams against the real binary: what they do to a vault, when they may, under fire, and the way back.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod fire;
mod gates;
mod notice;
mod replay;
mod runs;
mod world;
