//! Memory in the stream: what a proxy between an agent and a model's service reads out of a request, where in it a text is
//! put, and what it hears of the answer.
//!
//! ```text
//!   request ─▶ Dialect::of ─▶ read ─▶ Reading ─▶ (somebody remembers) ─▶ splice ─▶ the same bytes, and ours between them
//!   answer  ─▶ Ear::hear, piece by piece ─▶ Answer ─▶ whether the next request must be shortened (window)
//!           └▶ Sieve::take, if calls of the memory tool are answered here ─▶ the same answer without them
//! ```
//!
//! A request is never written anew: whoever parses and prints a body changes numbers, escapes and the order of keys, and the
//! service's cache is gone. So everything is found by its offset in the bytes, and [`splice`] only ever inserts. What is
//! not understood is [`Kind::Unknown`] and goes on as it came. All of it is linear in the size of the body.
//!
//! A client sends its history without what we put into it. Whoever inserted a text into a turn inserts the same bytes at
//! the same turn in every later request; a turn is known by its [`Turn::key`].
//!
//! Look at [`read`] first, then at [`Reading`].

mod answer;
mod conversation;
mod dialect;
mod fields;
mod fork;
mod kind;
mod labels;
mod message;
mod place;
mod request;
mod shorten;
mod sieve;
mod window;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Ear, Usage};
pub use conversation::Conversation;
pub use dialect::Dialect;
pub use fork::{Summary, fork, go_on};
pub use kind::Kind;
pub use labels::Labels;
pub use place::{Insertion, Place, reminder, splice};
pub use request::{Reading, Turn, read};
pub use shorten::{Shortened, shorten};
pub use sieve::{Call, End, Kept, Outcome, Sieve, Then, put_back};
pub use window::{Decision, Limits, Load, decide, is_near, window};
