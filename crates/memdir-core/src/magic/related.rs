//! Which files a magic doc is about: those it names, and those beside it.

use std::collections::BTreeSet;

/// As many paths of one document count.
const MAX_NAMED: usize = 500;

/// Finds what may be paths in a text: words with a slash, or with an ending as files have.
pub fn named_paths(text: &str) -> BTreeSet<String> {
    let between = |c: char| c.is_whitespace() || "`\"'()[]{}<>|,;*!".contains(c);
    text.split(between).filter_map(path).take(MAX_NAMED).collect()
}

/// Says whether a file that changed has to do with a document. `named` are the paths that the document names, all from
/// the project's root.
///
/// A file is related if it is named, is below a folder that is named, or is below the document's own folder. The root is
/// everybody's folder and says nothing; a document there that names nothing is about everything.
pub fn is_related(document: &str, named: &BTreeSet<String>, changed: &str) -> bool {
    if changed == document {
        return false;
    }
    let folder = document.rsplit_once('/').map(|(folder, _)| folder);
    let is_beside = folder.is_some_and(|folder| is_below(changed, folder));
    let is_named = named.iter().any(|path| {
        let from_folder = folder.map(|folder| joined(folder, path));
        is_below(changed, path) || from_folder.is_some_and(|path| is_below(changed, &path))
    });
    is_beside || is_named || (folder.is_none() && named.is_empty())
}

fn path(word: &str) -> Option<String> {
    let word = word.trim_end_matches(['.', ':', '?']).trim_start_matches("./").trim_end_matches('/');
    let word = word.split_once("://").map_or(word, |_| "");
    // `src/main.rs:12` and `src/main.rs#main` name the file.
    let word = word.split(['#', ':']).next().unwrap_or_default();
    let has_ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=8).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    let is_path =
        word.len() > 1 && word.len() <= 400 && !word.starts_with('/') && (word.contains('/') || has_ending);
    let is_number = word.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'/');
    (is_path && !is_number).then(|| word.to_owned())
}

fn is_below(file: &str, path: &str) -> bool {
    file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Resolves `..` of a path that is written from the document's folder.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_prose_code_and_links() {
        let text = "See `src/http/mod.rs:12`, [the routes](../src/routes.rs#get) and Cargo.toml. Not 1.5, and/or e.g. https://x.test/a.b";
        let named: Vec<String> = named_paths(text).into_iter().collect();
        // What is no path names no file that could change.
        assert_eq!(named, ["../src/routes.rs", "Cargo.toml", "and/or", "e.g", "src/http/mod.rs"]);
    }

    /// MD-03.
    #[test]
    fn a_file_is_related_if_it_is_named_or_beside_the_document() {
        let named = named_paths("`src/http/` and ../src/routes.rs");
        let related = |changed: &str| is_related("docs/api.md", &named, changed);
        assert!(related("src/http/users.rs") && related("src/routes.rs") && related("docs/notes.md"));
        assert!(!related("src/httpd.rs") && !related("src/main.rs") && !related("docs/api.md"));
        assert!(
            is_related("API.md", &BTreeSet::new(), "src/main.rs"),
            "at the root, naming nothing: about everything"
        );
        assert!(!is_related("API.md", &named, "src/main.rs"));
    }
}
