//! A team server, asked over HTTP.
//!
//! [`Server`] is the other side of a sync for a project of a team; [`Account`] is what people do there: join, invite, look.
//! Both ask over one line, which keeps its connection, repeats what may be repeated, and bounds every wait and answer. A
//! server may be anybody's: what it says about one memory is checked by itself, and what is wrong with one does not touch the
//! others. Callers are ordinary blocking code.

mod account;
mod address;
mod feed;
mod line;
mod pack;
mod push;
mod server;

pub use account::{Account, Token};
pub use address::{Address, BadAddress, project_name};
pub use line::Access;
pub use server::Server;
