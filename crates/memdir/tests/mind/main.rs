//! What a model does for memdir, with the real binary and a scripted model over real HTTP.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod documents;
mod models;
