//! Vaults on disk: snapshots to read, one door for changes, history, and where it all lives.
//!
//! May read and write its own directories, lock and list them. May not talk to a network, call a model or print.

pub mod breaker;
pub mod costs;
pub mod disk;
pub mod dream;
pub mod evidence;
pub mod exchange;
pub mod extract;
pub mod gate;
pub mod gateway;
pub mod health;
pub mod history;
pub mod index;
pub mod journal;
pub mod keys;
pub mod ledger;
pub mod lock;
pub mod magic;
pub mod news;
pub mod notes;
pub mod obedience;
pub mod place;
pub mod queue;
pub mod remind;
pub mod secrets;
pub mod session;
pub mod standing;
pub mod surroundings;
pub mod team;
pub mod transcript;
pub mod usage;
pub mod vault;
pub mod verify;
pub mod watch;
pub mod working;
