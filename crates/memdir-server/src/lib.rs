//! The team server: what a team remembers, over HTTP, kept in SQLite or PostgreSQL.
//!
//! [`App`] answers requests, [`listen`] brings them in from sockets. [`routes`] lists everything that can be asked. [`storage`] says
//! what a database must be able to do and keeps it, [`rules`] decides what becomes of a write, a cursor or an invitation, for every
//! database alike. The crate listens on sockets; it knows no agent and reads no vault.

mod answer;
mod app;
pub mod credentials;
mod door;
mod feed;
pub mod gateway;
mod gzip;
pub mod listen;
mod metrics;
mod openapi;
mod rate;
pub mod routes;
pub mod rules;
pub mod storage;
mod uri;
mod wire;
pub mod words;

pub use app::{App, Config, Logged};
pub use door::Hosts;
pub use rate::Rate;
