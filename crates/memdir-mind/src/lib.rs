//! What a model does for a vault.
//!
//! Everything in memdir works without a model; with one, extraction, selection and consolidation get better. A model never
//! writes: it is asked (see [`model`]), it answers, and what it proposes passes the same gates and the same door as
//! everything else.

pub mod compact;
pub mod guard;
pub mod magic;
pub mod model;
pub mod working;
