//! Real agents, a scripted model, and memdir between them.
//!
//! `tests/clients/run` installs the agents, takes the network away but for loopback, and runs this. A file an agent says
//! how it is driven ([`host::Host`]) and which of the scenarios it goes through. What is asserted is our own text and
//! where it stands in what a model is sent, never an agent's words about it.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod asked;
mod claude;
mod codex;
mod copilot;
mod gateway;
mod gemini;
mod host;
mod learning;
mod opencode;
mod scenario;
mod seen;
mod way;
mod world;
