//! Where a vault is and whose it is, with real git repositories in a home of their own.
#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

mod disk;
mod orphans;
mod project;
mod shipped;
mod vault;
mod world;
