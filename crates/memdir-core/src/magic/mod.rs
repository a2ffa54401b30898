//! Magic docs: files of a project that keep themselves up to date.
//!
//! A markdown file whose first heading is `# MAGIC DOC: <title>` is one; an italic line below the heading says how it is to
//! be kept ([`Doc`]). Once an agent has read it and files that it is about have changed ([`is_related`]), it is out of date:
//! that is marked with a brief of what changed ([`Changes`]), and a model, where there is one, writes it anew. Whatever
//! writes it, the heading and the rule stay to the byte and the size is bounded ([`rewritten`]).
//!
//! Files are found, read and written elsewhere; nothing but the document itself is ever written.

mod change;
mod doc;
mod related;

pub use change::{Changes, MAX_BRIEF};
pub use doc::{Doc, MAX_DOC, Rewrite, difference, read, rewritten};
pub use related::{is_related, named_paths};
