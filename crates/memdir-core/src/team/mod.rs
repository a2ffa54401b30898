//! Memory that a team has together: what goes over the wire and every decision about it, without a socket or a file.
//!
//! [`wire`] is the protocol between a client and a server, as types that both use. [`share`] says what may leave,
//! [`reconcile`] what happens to one key, [`conflict`] what becomes of two versions, [`trust`] who is believed.

pub mod conflict;
#[cfg(test)]
mod properties;
pub mod reconcile;
pub mod share;
pub mod trust;
pub mod wire;
