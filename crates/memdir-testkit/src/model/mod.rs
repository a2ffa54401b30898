//! A model that says what a test tells it to, over the HTTP that real agents speak.
//!
//! [`ModelServer`] listens on loopback and answers in the dialect it is asked in (see [`Api`]), streamed or whole. What
//! it says comes from [`Rule`]s, which are tried in order; what it was asked is kept as [`Request`]s, so that a test
//! can say what a model would have seen, and in which order. Standard library and threads only; it knows no agent.
//!
//! ```text
//!   agent ─▶ http ─▶ Request ─▶ first rule that matches ─▶ Answer ─▶ anthropic · responses · chat · gemini ─▶ agent
//!                       └─▶ kept for the test
//! ```

mod anthropic;
mod chat;
mod gemini;
mod http;
mod request;
mod responses;
mod rule;
mod server;
mod tee;

#[cfg(test)]
mod tests;

pub use request::{Api, Request, Spoken};
pub use rule::Rule;
pub use server::{Claimed, ModelServer};
pub use tee::{Exchange, Tee};
