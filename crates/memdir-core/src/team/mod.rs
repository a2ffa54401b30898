//! Memory that a team has together: what goes over the wire and every decision about it, without a socket or a file.
//!
//! [`wire`] is the protocol between a client and a server, as types that both use. [`share`] says what may leave.

pub mod share;
pub mod wire;
