//! The gateway: a proxy on this machine that speaks the interfaces of model vendors, so that a client gets memory by one address.
//!
//! ```text
//!    client ─▶ door ─▶ route ─▶ memory, if it reads the request ─▶ upstream (from the user's settings only)
//!    client ◀────────────────── byte for byte ◀───┴ hearer ◀────── answer
//! ```
//!
//! What it means to have memory is somebody else's: look at [`Memory`].

mod memory;

pub use memory::{End, Head, Hearer, Memory, NoMemory, Note, Prepared, Usage};
