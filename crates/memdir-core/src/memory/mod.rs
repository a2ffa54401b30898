//! One memory: its name, its frontmatter, its body and what they say.

mod name;
mod words;

pub use name::{INDEX_PAGE, MAX_NAME, MemoryName, MemoryPath, NameError};
pub use words::{Confidence, MemoryType, Provenance, Scope, Status, Tier, UnknownWord};
