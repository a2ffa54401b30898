//! The index page `MEMORY.md`: one line per memory, loaded at every session start.
//!
//! The page has two owners. Between the markers stands our block, written by [`render`]; every other line is the
//! user's and survives byte for byte. A line in the block that somebody reworded stays as it was reworded, because
//! an agent's wording has value; we write a line only for a memory that has none, that the change at hand
//! touched, or whose line no reader could read. Hosts load a limited part of the page only ([`Load`]), so the
//! block is kept well below the limit: entries leave the page, never the vault.
//!
//! Look at [`render`] first. Nothing here reads a file or knows what a memory says beyond its [`PageEntry`].

mod layout;
mod lint;
mod load;
mod own;
mod pointer;
mod prune;
mod render;
mod router;
#[cfg(test)]
mod tests;

pub use lint::{PageProblem, lint};
pub use load::{LIMIT, Load, over_limit_message};
pub use own::{ForeignLine, foreign_lines, inject, own_lines, without_lines};
pub use pointer::{MAX_LINE, pointer_line};
pub use prune::prune;
pub use render::{KEEP, Page, PageEntry, TRIM, named, render, render_full_page};
pub use router::{ProjectRow, router};
