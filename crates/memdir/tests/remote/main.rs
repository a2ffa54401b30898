//! Team memory through a server: the real binary on both sides, and networks and servers that are not what they should be.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod cuts;
mod hostile;
mod joining;
mod machines;
mod secrets;
mod size;
mod syncing;
mod unasked;
mod world;
