//! What a model does for a vault.
//!
//! Everything in memdir works without a model; with one, extraction, selection and consolidation get better. A model never
//! writes: it is asked (see [`model`]), it answers, and what it proposes passes the same gates and the same door as
//! everything else. Where it needs several steps, it works as a sub-agent ([`agent`]) in a process that is walled in
//! ([`sandbox`]); [`extract`] is one.

pub mod agent;
pub mod compact;
pub mod dream;
pub mod extract;
pub mod guard;
pub mod magic;
pub mod model;
pub mod sandbox;
pub mod select;
pub mod working;
