//! The gateway between raw clients and raw upstreams: the real binary, with every byte of both sides in the test's hands.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

mod door;
mod house;
mod load;
mod memory;
mod passing;
mod smuggling;
mod streams;
mod summaries;
mod tool;
mod upstreams;
mod wire;
