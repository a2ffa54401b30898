//! Memory that several people share, on disk: the folder it goes through, what the last sync left, whom we believe.
//!
//! Look at [`Remote`] first: it is the other side of a sync, a folder here or a server elsewhere.

mod remote;

pub use remote::{
    About, Appended, Ask, Changes, Current, Cursor, Item, Known, Outcome, Phase, Progress, Pushed,
    RefusedKey, Remote, RemoteError, Stamp, State, Traffic, UsageFile, Version, Wanted, Write,
};
