//! What changed behind a magic doc, in a few lines.

use serde::{Deserialize, Serialize};

use crate::text::{count, visible_line};

/// No brief is longer, in bytes.
pub const MAX_BRIEF: usize = 2_000;
/// As many files are named of each kind.
const NAMED: usize = 8;

/// Files that changed since a document was last brought up to date, from the project's root, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Files with another text,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// new ones,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// and such that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
}

impl Changes {
    /// Says whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many files changed.
    pub fn len(&self) -> usize {
        self.changed.len() + self.added.len() + self.removed.len()
    }

    /// Tells it in one line: `2 files changed: a.rs, b.rs; 1 file added: c.rs`.
    pub fn brief(&self) -> String {
        let kinds = [("changed", &self.changed), ("added", &self.added), ("removed", &self.removed)];
        let told = kinds.iter().filter(|(_, files)| !files.is_empty()).map(|(what, files)| {
            let named: Vec<String> =
                files.iter().take(NAMED).map(|file| visible_line(file).into_owned()).collect();
            let more = files.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{} {what}: {}{more}", count(files.len(), "file", "files"), named.join(", "))
        });
        let mut brief = told.collect::<Vec<_>>().join("; ");
        brief.truncate(brief.floor_char_boundary(MAX_BRIEF));
        brief
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_names_files_and_counts_the_rest() {
        let files = |n: usize| (0..n).map(|n| format!("f{n}.rs")).collect();
        let changes = Changes { changed: files(2), added: files(10), removed: Vec::new() };
        assert_eq!(
            changes.brief(),
            "2 files changed: f0.rs, f1.rs; 10 files added: f0.rs, f1.rs, f2.rs, f3.rs, f4.rs, f5.rs, f6.rs, f7.rs and 2 more"
        );
        assert!(Changes::default().is_empty() && changes.len() == 12);
    }
}
