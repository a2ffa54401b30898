//! X5: twenty secrets of different kinds, put wherever memdir meets text, are found at none of the ways out.
//!
//! Start at [`canary`]. A secret comes in by hand (nobody asked a gate), by a hook, by a session's file, by the output of
//! a command or by a model's answer; the ways out are logs, errors, crash reports, exports, ledgers, the questions that
//! models are asked, and the answers to other agents.
#![allow(clippy::unwrap_used, reason = "tests report by panicking")]

mod canary;
mod closed;
#[cfg(target_os = "linux")]
mod models;
mod talk;
mod vault;
