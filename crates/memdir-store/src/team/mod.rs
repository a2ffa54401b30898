//! Memory that several people share, on disk: the folder it goes through, what the last sync left, whom we believe.
//!
//! [`Remote`] is the other side of a sync: a [`Folder`] here, a server elsewhere. [`run`] brings both sides together, and
//! [`preview`] says what that would do; what each did is a [`Report`]. Every decision is made in `memdir_core::team`.

mod blob;
mod fit;
mod folder;
mod here;
mod incoming;
mod outgoing;
mod past;
mod remote;
mod report;
mod round;
mod state;
mod sync;
mod trust;
mod usage;

pub use folder::{Folder, Opening, ships_team};
pub use remote::{
    About, Appended, Ask, Changes, Current, Cursor, Item, Known, Outcome, Phase, Progress, Pushed,
    RefusedKey, Remote, RemoteError, Stamp, State, Traffic, UsageFile, Version, Wanted, Write,
};
pub use report::{Conflict, Held, Refused, Report};
pub use state::{Home, Joined, Store, Waiting, all_joined, has_team};
pub use sync::{SyncError, Syncing, erase, preview, run};
pub use trust::{TrustError, change as change_trust, trusted};
pub use usage::share_usage;
