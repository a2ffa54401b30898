//! The team server: every storage against one suite, then the whole of it.

mod suite;

mod postgres;
mod sqlite;
