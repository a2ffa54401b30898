//! Reads a patch of git for one question: which name took the place of another.

use std::collections::BTreeMap;

/// The lines that a commit removed and added, each with its file.
#[derive(Default)]
pub(super) struct Patch<'p> {
    pub(super) removed: Vec<(&'p str, &'p str)>,
    pub(super) added: Vec<(&'p str, &'p str)>,
}

impl<'p> Patch<'p> {
    pub(super) fn parse(text: &'p str) -> Self {
        let mut patch = Self::default();
        let (mut file, mut is_hunk) = ("", false);
        for line in text.lines() {
            if line.starts_with("diff --git ") {
                is_hunk = false;
            } else if line.starts_with("@@") {
                is_hunk = true;
            } else if !is_hunk {
                // The old name stands first and serves a file that is gone.
                let name = line.strip_prefix("--- ").or_else(|| line.strip_prefix("+++ "));
                let name = name.map(|name| name.trim_end_matches('\t')).filter(|name| *name != "/dev/null");
                file = name.and_then(|name| name.split_once('/')).map_or(file, |(_, path)| path);
            } else if let Some(line) = line.strip_prefix('-') {
                patch.removed.push((file, line));
            } else if let Some(line) = line.strip_prefix('+') {
                patch.added.push((file, line));
            }
        }
        patch
    }

    pub(super) fn renamed(&self, name: &str) -> Option<String> {
        renamed(&self.removed, &self.added, name)
    }
}

/// Finds the name that took the place of another: in a line that is the same but for it. Most lines win.
pub(super) fn renamed(removed: &[(&str, &str)], added: &[(&str, &str)], name: &str) -> Option<String> {
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for (file, old) in removed.iter().take(500) {
        let Some(at) = word_at(old, name) else { continue };
        let (before, after) = (&old[..at], &old[at + name.len()..]);
        for (_, new) in added.iter().filter(|(other, _)| other == file).take(500) {
            let middle = new.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            let is_name = |word: &str| {
                word.len() >= 2
                    && !word.starts_with(|c: char| c.is_ascii_digit())
                    && word.bytes().all(is_word_byte)
            };
            if let Some(middle) = middle.filter(|middle| is_name(middle) && *middle != name) {
                *votes.entry(middle).or_default() += 1;
            }
        }
    }
    votes.into_iter().max_by_key(|(_, n_votes)| *n_votes).map(|(name, _)| name.to_owned())
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

pub(super) fn has_any(line: &str, spellings: &[String]) -> bool {
    spellings.iter().any(|name| word_at(line, name).is_some())
}

/// Returns where a name stands as a word of its own.
fn word_at(line: &str, name: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    line.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !before.is_some_and(|b| is_word_byte(*b))
            && !bytes.get(at + name.len()).is_some_and(|b| is_word_byte(*b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_is_read_off_lines_that_are_the_same_but_for_it() {
        let patch = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-pub fn open_door(id: Id) {\n\
                     +pub fn open_gate(id: Id) {\n@@ -9 +9 @@\n-    open_door(1);\n+    open_gate(1);\n";
        let patch = Patch::parse(patch);
        assert_eq!(patch.renamed("open_door").as_deref(), Some("open_gate"));
        assert_eq!(patch.renamed("door"), None);
        let removed =
            Patch::parse("diff --git a/x b/x\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-fn open_door() {}\n");
        assert_eq!(removed.removed, [("x", "fn open_door() {}")]);
        assert_eq!(removed.renamed("open_door"), None);
    }
}
