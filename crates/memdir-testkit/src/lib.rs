//! Drives the real `memdir` binary for tests; never shipped.
//!
//! Start at [`Sandbox`]: a temporary home, state directory and vault with a fixed clock and an empty
//! environment. [`Sandbox::memdir`] gives an [`Invocation`], which runs to an [`Output`], keeps running as a
//! [`Running`], or is traced into a [`Trace`] of system calls. A [`Tree`] is every file below a directory, for
//! comparing before with after. A [`Project`] is a repository with an agent's sessions in it. A [`ModelServer`] is a model
//! that says what a test tells it to, for driving real agents; a [`Tee`] stands before it, or before a proxy, and keeps what
//! passes. A [`TeamServer`] is a real `memdir serve` with a client that can also misbehave, a [`Postgres`] a database of its
//! own, a [`Proxy`] a network that breaks. Everything here panics with a readable message: it is only called by tests.
#![expect(clippy::unwrap_used, reason = "a test harness reports by panicking")]

mod invocation;
mod model;
mod payloads;
mod postgres;
mod project;
mod proxy;
mod random;
mod sandbox;
mod team;
mod trace;
mod tree;

pub use invocation::{Invocation, Output, Running};
pub use model::{Api, Claimed, Exchange, ModelServer, Request, Rule, Spoken, Tee};
pub use payloads::payloads;
pub use postgres::Postgres;
pub use project::Project;
pub use proxy::{Mishap, Proxy, Trouble};
pub use random::Random;
pub use sandbox::{NOW, Sandbox};
pub use team::{
    Answer, Ask, Connection, Database, Member, PATIENCE, TeamServer, TeamServerSetup, put_op, sha256,
    team_memory,
};
pub use trace::{Call, Trace};
pub use tree::Tree;
