//! One memory: its name, its frontmatter, its body and what they say.
//!
//! [`Document`] is a file byte for byte and edits it line by line, [`Memory`] is what its frontmatter says,
//! [`Problem`] what is odd about it, [`Draft`] a memory that is not written yet. Reading never fails, and nothing here
//! rewrites what it did not understand. Bodies are plain markdown; [`links`] and [`sections`] find what counts in them.

mod body;
mod document;
mod draft;
mod edit;
mod header;
mod links;
mod lint;
mod name;
mod problem;
mod read;
mod rule;
mod value;
pub(crate) mod words;
pub(crate) mod yaml;

pub use body::{Observation, Sections, observations, sections};
pub use document::{Document, Frontmatter, Mapping};
pub use draft::{Draft, Layout, template};
pub use edit::EditError;
pub use header::Header;
pub use links::{Link, LinkForm, LinkVault, Relation, Resolver, links, rename_links};
pub use lint::{ADVISED_BODY, ADVISED_DESCRIPTION, MAX_BODY, suggest_type};
pub use name::{INDEX_PAGE, MAX_DEPTH, MAX_NAME, MAX_PATH, MemoryName, MemoryPath, NameError, folded};
pub use problem::{Problem, ProblemKind, Severity};
pub use read::{Memory, Verified};
pub use rule::{Rule, RuleError, Tool, Verb};
pub use value::Value;
pub use words::{Confidence, MemoryType, Provenance, Scope, Status, Tier, UnknownWord};
