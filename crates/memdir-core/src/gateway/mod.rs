//! Memory in the requests that clients send to models: which ones can be read, and where a text may be put into them.
//!
//! Look at [`Dialect`] first.

mod dialect;

pub use dialect::Dialect;
