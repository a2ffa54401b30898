//! `memdir init` against the files of every agent: in, out again, and whatever may be in them.
//!
//! Start at [`world::World`]: a home with nothing on the path, so that no agent of this machine has a part in it.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod agents;
mod doctor;
mod gateway;
mod hostile;
mod life;
mod neighbour;
mod plugin;
mod world;
