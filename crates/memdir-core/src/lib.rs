//! What a memory is, and every decision about it, as functions from values to values.
//!
//! Nothing here touches disk, network, clock or environment, and nothing prints: time is an argument, files are
//! bytes that somebody else read. Look at [`memory`] first, then at [`change`] and [`policy`].

pub mod breaker;
pub mod budget;
pub mod cache;
pub mod change;
pub mod claims;
pub mod classify;
pub mod compact;
pub mod context;
pub mod dates;
pub mod dream;
pub mod echo;
pub mod embed;
pub mod exchange;
pub mod extract;
pub mod frame;
pub mod gateway;
pub mod glob;
pub mod hash;
pub mod host;
pub mod journal;
mod korean;
pub mod learned;
pub mod likeness;
pub mod magic;
mod memo;
pub mod memory;
pub mod memory_tool;
pub mod merge;
pub mod obedience;
pub mod page;
pub mod placement;
pub mod policy;
pub mod recall;
pub mod search;
pub mod secrets;
pub mod sse;
pub mod statement;
pub mod status;
pub mod strength;
pub mod team;
pub mod terms;
pub mod text;
pub mod tiers;
pub mod transcript;
pub mod turns;
pub mod wiring;
pub mod working;
pub mod worth;
