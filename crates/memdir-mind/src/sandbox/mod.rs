//! The process in which a sub-agent works, walled in; and the process that starts it and believes nothing it says.
//!
//! A model may be talked into anything by what it reads, so the code that carries out its wishes runs where wishes cannot
//! be carried far: a process of its own without a key, an environment, a file or a socket. It has two pipes. Over one it is
//! handed the job, copy of the vault included; over the other it asks the one question it may ask, what the model says next,
//! and hands back proposals and counts. [`Sandbox::run`] is the side that starts it, holds the model and checks what comes
//! back; [`serve`] is the other.
//!
//! ```text
//!   Sandbox::run (key, network, vault)                         serve (nothing)
//!     start ───────────────────────────────────────────────▶  raise the walls
//!     job: window · copy · budget ─────────────────────────▶  Agent
//!     model ◀── conversation ◀───── results of tools ───────  ask
//!       └────────────────────── answer ────────────────────▶  hear
//!     check again ◀──────────── proposals · counts ─────────  done
//! ```
//!
//! The copy travels through the pipe and not through a directory: nothing is left behind by a crash, and the walls need no
//! gap through which a file could be read.

mod broker;
mod pipe;
mod serve;
mod walls;
mod wire;

pub use broker::{Brief, Finished, RunError, Sandbox, SandboxError};
pub use serve::{Probe, probe, serve};
pub use walls::{Wall, Walls};
