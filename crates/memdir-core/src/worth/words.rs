//! Tables of words: written as text that people can read, looked up as a set.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A table, built when the first word is looked up.
pub(super) type Words = LazyLock<HashSet<&'static str>>;

/// Makes a table of the words in `text`, which spaces keep apart.
pub(super) fn listed(text: &'static str) -> HashSet<&'static str> {
    text.split_ascii_whitespace().collect()
}
