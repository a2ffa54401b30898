//! What a sentence does: gives a rule, tells a decision, reports a state.
//!
//! Nothing here knows a repository or a vault, and no model is called: a sentence is taken apart into tokens, tables of
//! words and shapes find signs in it, and weights that were learned ([`crate::learned`]) say how probable each [`Act`]
//! is. [`Reading::explain`] names what spoke for it. English, German and Korean are read; a text may mix them. Look at
//! [`read`] first, then at the tables in `lexicon/`.

mod act;
mod cut;
mod gist;
mod kind;
mod language;
mod lexicon;
mod pattern;
mod reading;
mod sign;
mod split;
mod structure;
mod token;

#[cfg(test)]
mod tests;

pub use act::Act;
pub(crate) use cut::{Writing, cut};
pub use gist::{Gist, gist};
pub use language::Language;
pub use reading::{Reading, read};
pub use split::{Part, Statement, statements};

/// Says whether a word names a system outside the repository: a tracker, a board, a chat, a wiki, a monitor.
pub fn is_outside_system(word: &str) -> bool {
    let word = word.to_lowercase();
    let matches = |known: &str| known.strip_suffix('*').map_or(known == word, |stem| word.starts_with(stem));
    lexicon::class("system").iter().any(|line| line.split(' ').any(matches))
}

/// Reads every sentence of a text, so that mixed texts are told apart.
pub fn read_text(text: &str) -> Vec<(Statement<'_>, Reading)> {
    statements(text)
        .into_iter()
        .map(|statement| {
            let reading = read(statement.text);
            (statement, reading)
        })
        .collect()
}
