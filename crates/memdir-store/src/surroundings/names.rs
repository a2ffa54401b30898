//! The names that a project goes by: its upper folders and what its manifests say it depends on.
//!
//! "The console is React with zustand" names no path and no symbol, and yet the tree shows every word of it. Few files
//! are read for that, and only what stands in them as a name: a quoted word or a key.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use super::manifests::{MANIFESTS, Tells};
use super::tree::Tree;
use crate::disk::Dir;

/// How many folders deep names are taken.
const MAX_DEPTH: usize = 3;
/// Most names in all.
const MAX_NAMES: usize = 1024;
/// Most manifests that are read; those nearest to the root come first.
const MAX_MANIFESTS: usize = 16;
/// Longer manifests are generated.
const MAX_MANIFEST: u64 = 64 * 1024;
/// Words that manifests are written in.
static NO_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "name version edition license description dependencies features full default workspace members \
     package packages private scripts main module type types test tests build start dev lint files author \
     authors repository homepage keywords engines path optional image ports services volumes environment \
     source target bin docs app apps project core server client common jetbrains implementation"
        .split_ascii_whitespace()
        .collect()
});

/// Collects the names of the project at `root`.
pub(super) fn collect(root: Option<&Dir>, tree: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut manifests: Vec<&str> = Vec::new();
    let mut before: &[u8] = b"";
    for path in tree.names() {
        let at = memchr::memrchr(b'/', path);
        let (folder, file) = at.map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
        if MANIFESTS.iter().any(|(name, tells)| name.as_bytes() == file && *tells != Tells::Versions) {
            manifests.extend(std::str::from_utf8(path));
        }
        // Sorted paths share their folder with the one before, nearly always, and else its upper folders.
        if folder != before && names.len() < MAX_NAMES {
            let mut known = before.split(|b| *b == b'/');
            let new =
                folder.split(|b| *b == b'/').take(MAX_DEPTH).skip_while(|part| known.next() == Some(part));
            new.filter_map(|part| std::str::from_utf8(part).ok()).for_each(|part| add(&mut names, part));
            before = folder;
        }
    }
    manifests.sort_by_key(|path| path.matches('/').count());
    for path in manifests.into_iter().take(MAX_MANIFESTS) {
        if let Some(Ok(Some(bytes))) = root.map(|root| root.read(path, MAX_MANIFEST)) {
            named_in(&String::from_utf8_lossy(&bytes), &mut names);
        }
    }
    names
}

/// Adds the quoted words and the keys of a manifest.
fn named_in(text: &str, names: &mut BTreeSet<String>) {
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '/'])) {
        let key = line.split(['=', ':', ' ', '<', '>', '~', '^']).next().unwrap_or_default();
        let quoted = line.split(['"', '\'']).skip(1).step_by(2);
        let atoms = line.split("{:").skip(1).filter_map(|rest| rest.split(',').next());
        for word in quoted.chain(atoms).chain([key]) {
            // `polars>=1.0`, `postgres:16`, `@scope/name`, `services/api`.
            let word = word.split(['<', '>', '=', '~', '!', ':', '[', ';', ' ']).next().unwrap_or_default();
            add(names, word.rsplit('/').next().unwrap_or(word));
            // `io.ktor:ktor-server-core:2.3` is called by its parts.
            word.split(['.', '-']).filter(|part| part.len() > 3).for_each(|part| add(names, part));
        }
    }
}

fn add(names: &mut BTreeSet<String>, name: &str) {
    let name = name.trim_matches('"').to_lowercase();
    let is_name = (3..=40).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if is_name && !NO_NAMES.contains(name.as_str()) && names.len() < MAX_NAMES {
        names.insert(name);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_and_dependencies_are_names_and_the_words_of_manifests_are_not() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("Cargo.toml"), "[dependencies]\naxum = \"0.7\"\nname = \"heron\"\n")
            .unwrap();
        fs::write(
            temp.path().join("package.json"),
            r#"{"scripts":{"dev":"vite"},"dependencies":{"@x/react":"18"}}"#,
        )
        .unwrap();
        fs::write(temp.path().join("compose.yaml"), "services:\n  db: { image: \"postgres:16\" }\n").unwrap();
        let paths =
            ["Cargo.toml", "package.json", "compose.yaml", "apps/console/src/App.tsx", "pipeline/x.py"];
        let tree = Tree::of(paths.map(String::from).into());
        let names = collect(Some(&Dir::open(temp.path()).unwrap()), &tree);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(names, ["axum", "console", "heron", "pipeline", "postgres", "react", "src", "vite"]);
    }
}
