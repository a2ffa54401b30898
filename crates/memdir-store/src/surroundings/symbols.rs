//! Where the code has a name, found by reading few files.
//!
//! A save cannot read a whole project. Files that the text itself names come first, then files whose name is like the
//! symbol's, and in a project small enough that it makes sense, the others, until the budget is spent. The first line
//! that looks like a definition wins; a line that merely uses the name is remembered in case no other is found.

use std::collections::{BTreeMap, BTreeSet};

use memdir_core::worth::FoundSymbol;

use super::tree::{Tree, is_source};
use crate::disk::Dir;

/// Most files that are opened for one text; each costs some ten microseconds.
const MAX_FILES: usize = 256;
/// Most bytes that are searched for one text.
const MAX_BYTES: u64 = 2 * 1024 * 1024;
/// A longer file is generated or data.
const MAX_FILE: u64 = 256 * 1024;
/// Most files of a like name for one symbol.
const MAX_ALIKE: usize = 16;
/// In a larger project the files that fit into the budget are too small a sample to be worth their time.
const SMALL_PROJECT: usize = 2048;
/// A shorter beginning is in half of all names.
const MIN_ALIKE: usize = 4;

/// Finds `names` in the files of the project at `root`, those in `named` first.
pub(crate) fn find(
    root: &Dir,
    tree: &Tree,
    named: &[String],
    names: &BTreeSet<&str>,
) -> BTreeMap<String, FoundSymbol> {
    let mut search = Search { root, found: BTreeMap::new(), seen: BTreeSet::new(), n_bytes: 0, names };
    for path in named {
        if is_source(path) {
            search.read(path);
        } else {
            tree.below(path)
                .filter(|path| is_source(path))
                .take(MAX_FILES / 4)
                .for_each(|path| search.read(path));
        }
    }
    for path in alike(tree, names) {
        search.read(path);
    }
    if tree.len() <= SMALL_PROJECT {
        for path in tree.paths().filter(|path| is_source(path)) {
            search.read(path);
        }
    }
    search.found
}

struct Search<'a> {
    root: &'a Dir,
    names: &'a BTreeSet<&'a str>,
    found: BTreeMap<String, FoundSymbol>,
    seen: BTreeSet<String>,
    n_bytes: u64,
}

impl Search<'_> {
    fn read(&mut self, path: &str) {
        let is_spent = self.seen.len() >= MAX_FILES || self.n_bytes >= MAX_BYTES;
        if is_spent || self.is_done() || !self.seen.insert(path.to_owned()) {
            return;
        }
        let Ok(Some(bytes)) = self.root.read(path, MAX_FILE) else { return };
        self.n_bytes += bytes.len() as u64;
        for name in self.names {
            if self.found.get(*name).is_some_and(|found| found.is_definition) {
                continue;
            }
            if let Some((line, is_definition)) = find_in(&bytes, name) {
                let found = FoundSymbol { file: path.to_owned(), line, is_definition };
                if is_definition {
                    self.found.insert((*name).to_owned(), found);
                } else {
                    self.found.entry((*name).to_owned()).or_insert(found);
                }
            }
        }
    }

    fn is_done(&self) -> bool {
        self.names.iter().all(|name| self.found.get(*name).is_some_and(|found| found.is_definition))
    }
}

/// Returns the files whose name begins like a symbol, or the other way round: `refund_cents` and `refunds.rs`.
fn alike<'t>(tree: &'t Tree, names: &BTreeSet<&str>) -> Vec<&'t str> {
    let keys: Vec<String> = names.iter().map(|name| first_word(name)).filter(|key| !key.is_empty()).collect();
    let mut n_alike = vec![0; keys.len()];
    let mut paths = Vec::new();
    // Of fifty thousand names nearly all begin with another letter.
    let mut is_first = [false; 256];
    keys.iter().for_each(|key| is_first[usize::from(key.as_bytes()[0])] = true);
    for path in tree.names() {
        let stem = &path[memchr::memrchr(b'/', path).map_or(0, |at| at + 1)..];
        let first = stem.iter().find(|b| !b"_-".contains(b)).map_or(0, u8::to_ascii_lowercase);
        if !is_first[usize::from(first)] {
            continue;
        }
        for (key, n_alike) in keys.iter().zip(&mut n_alike) {
            if *n_alike < MAX_ALIKE
                && begins_like(stem, key)
                && let Ok(path) = std::str::from_utf8(path)
                && is_source(path)
            {
                *n_alike += 1;
                paths.push(path);
            }
        }
    }
    paths
}

/// Returns a name's first word in lower case, or all of it where that word is too short to tell anything.
fn first_word(name: &str) -> String {
    let name = name.trim_matches('_');
    let is_shouting = !name.contains(|c: char| c.is_ascii_lowercase());
    let end =
        name.char_indices().skip(1).find(|(_, c)| *c == '_' || (c.is_ascii_uppercase() && !is_shouting));
    let word = &name[..end.map_or(name.len(), |(at, _)| at)];
    let word = if word.len() < MIN_ALIKE { name } else { word };
    word.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// Says whether a file's name, up to its ending, begins with `key`.
fn begins_like(name: &[u8], key: &str) -> bool {
    let stem = name.iter().take_while(|b| **b != b'.').filter(|b| !b"_-".contains(b));
    let mut stem = stem.map(u8::to_ascii_lowercase);
    key.bytes().all(|b| stem.next() == Some(b))
}

/// Returns the first line that defines `name`, else the first that has it, from 1.
pub(crate) fn find_in(text: &[u8], name: &str) -> Option<(usize, bool)> {
    let mut used = None;
    for at in memchr::memmem::find_iter(text, name) {
        let is_part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        if is_part(before) || is_part(text.get(at + name.len())) {
            continue;
        }
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |feed| feed + 1);
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len);
        let line_number = || memchr::memchr_iter(b'\n', &text[..at]).count() + 1;
        if defines(&text[start..at], &text[at + name.len()..end]) {
            return Some((line_number(), true));
        }
        used = used.or_else(|| Some((line_number(), false)));
    }
    used
}

/// Words that stand before the name they define, in the languages people write.
const DEFINES: [&str; 33] = [
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "type",
    "const",
    "let",
    "var",
    "val",
    "function",
    "func",
    "fun",
    "static",
    "mod",
    "module",
    "macro_rules!",
    "object",
    "record",
    "union",
    "namespace",
    "package",
    "#define",
    "typedef",
    "table",
    "view",
    "index",
    "resource",
    "service",
    "message",
    "defmodule",
];

/// Says whether a name between `before` and `after` on its line is defined there.
fn defines(before: &[u8], after: &[u8]) -> bool {
    let before = String::from_utf8_lossy(before);
    let last =
        before.trim_end().rsplit([' ', '\t', '(', '<']).next().unwrap_or_default().to_ascii_lowercase();
    if DEFINES.contains(&last.as_str()) || last == "mut" {
        return true;
    }
    // A key of a configuration, an assignment or a method at the beginning of a line.
    let is_first = before.trim().trim_matches(['"', '\'', '-', ' ', '.']).is_empty();
    let after = after.trim_ascii_start();
    let is_typed = before.starts_with(|c: char| c.is_ascii_alphabetic())
        && after.starts_with(b"(")
        && after.ends_with(b"{");
    is_first
        && (after.starts_with(b"=") && !after.starts_with(b"==")
            || after.starts_with(b":")
            || after.starts_with(b"\""))
        || is_typed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_told_from_a_use() {
        for (text, name, expected) in [
            ("use x;\npub async fn open_door(id: Id) {}\n", "open_door", Some((2, true))),
            ("x(open_door)\nopen_doors()\n", "open_door", Some((1, false))),
            ("export function useLockers() {", "useLockers", Some((1, true))),
            ("class DoorRepository(private val api: HeronApi)", "DoorRepository", Some((1, true))),
            ("#define DEBOUNCE_MS 40", "DEBOUNCE_MS", Some((1, true))),
            ("CREATE TABLE lockers (id uuid)", "lockers", Some((1, true))),
            ("  max_size = 3", "max_size", Some((1, true))),
            ("if max_size == 3", "max_size", Some((1, false))),
            ("void door_poll(void) {", "door_poll", Some((1, true))),
            ("nothing", "door_poll", None),
        ] {
            assert_eq!(find_in(text.as_bytes(), name), expected, "{text}");
        }
    }

    #[test]
    fn a_symbol_leads_to_files_of_a_like_name() {
        let tree = Tree::of(
            ["src/refunds.rs", "src/rest.rs", "web/use-lockers.ts", "web/user.ts"].map(String::from).into(),
        );
        assert_eq!(alike(&tree, &["refund_cents"].into()), ["src/refunds.rs"]);
        assert_eq!(alike(&tree, &["useLockers"].into()), ["web/use-lockers.ts"]);
    }
}
