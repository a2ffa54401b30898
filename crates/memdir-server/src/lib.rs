//! The team server: what a team remembers, over HTTP, kept in SQLite or PostgreSQL.
//!
//! [`storage`] says what a database must be able to do and keeps it, [`rules`] decides what becomes of a write, a cursor or an
//! invitation, for every database alike. The crate listens on sockets; it knows no agent and reads no vault.

pub mod rules;
pub mod storage;
pub mod words;
