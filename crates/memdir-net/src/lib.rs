//! The way out: connections to addresses that the user chose, and nowhere else.
//!
//! Whoever asks somebody over HTTP goes through here, so that what holds for one holds for all: no key goes over an open wire
//! ([`Base`]), nobody is followed to another address, every wait is bounded, and neither the proxy nor whom to trust comes
//! from a repository ([`Variables`]). It connects; it does not listen, print or decide.

mod base;
mod client;
pub mod team;
mod variables;

pub use base::{BadBase, Base};
pub use client::{NoWay, Patience, cause, client};
pub use variables::Variables;
