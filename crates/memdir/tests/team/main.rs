//! Memory that several people or machines share, against the real binary: through a directory, and through the repository.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod convergence;
mod deleting;
mod hostile;
mod inside;
mod machines;
mod model;
mod outside;
mod secrets;
mod sharing;
mod trust;
mod world;
