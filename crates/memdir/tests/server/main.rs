//! The team server as others meet it: the real binary over real sockets, on SQLite or on what `MEMDIR_TEST_DB` names.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]
#![expect(clippy::print_stderr, reason = "what could not be tried is said")]

mod world;

mod apart;
mod contract;
mod door;
mod load;
mod smuggling;
mod writes;
