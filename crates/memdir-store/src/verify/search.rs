//! Which of many names the code has: one pass over the tracked files, within bounds.
//!
//! Names are looked up word by word, so that a hundred names cost as much as one. Code and configuration come first,
//! then other text; prose does not count, because a change log still knows what the code no longer has. Only tracked
//! files are read, and so what `.gitignore` names is not.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use crate::disk::{Dir, ReadError};
use crate::surroundings::symbols::find_in;
use crate::surroundings::tree::{Tree, is_source};

/// How much may be read for one search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) n_files: usize,
    pub(super) n_bytes: u64,
    /// A longer file is data or generated.
    pub(super) file: u64,
    /// Whether a use of a name is as good as its definition.
    pub(super) takes_uses: bool,
    /// When the reading is over, however much was read.
    pub(super) until: Option<Instant>,
}

impl Bounds {
    /// For a person who waits, or a process in the background.
    pub(super) const WHOLE: Self =
        Self { n_files: 50_000, n_bytes: 512 << 20, file: 4 << 20, takes_uses: false, until: None };
    /// For a hook, which has a few milliseconds.
    pub(super) const GLANCE: Self =
        Self { n_files: 128, n_bytes: 2 << 20, file: 256 << 10, takes_uses: true, until: None };

    /// For whoever shows a memory and can wait until then: half of the time is left for git.
    pub(super) fn until(end: Instant) -> Self {
        let now = Instant::now();
        let until = Some(now + end.saturating_duration_since(now) / 2);
        Self { n_files: 5_000, n_bytes: 64 << 20, file: 1 << 20, takes_uses: true, until }
    }
}

/// Where a name is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) path: String,
    pub(super) line: usize,
    is_definition: bool,
}

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Search {
    found: BTreeMap<String, Spot>,
    /// The files that were asked for first and read, or are gone.
    first: BTreeSet<String>,
    /// Whether every file that counts was read.
    pub(super) is_whole: bool,
}

impl Search {
    /// Returns where a name is; a definition rather than a use.
    pub(super) fn spot(&self, name: &str) -> Option<&Spot> {
        self.found.get(name)
    }

    /// Says whether a file that was asked for first was looked at.
    pub(super) fn has_seen(&self, path: &str) -> bool {
        self.first.contains(path)
    }

    /// Looks for what is `wanted`, each in any of its spellings, in the files `first`, then in all others of the
    /// project, whose tree is asked for only then.
    pub(super) fn run<'t>(
        root: &Dir,
        tree: impl FnOnce() -> &'t Tree,
        first: &[String],
        wanted: &BTreeSet<Vec<String>>,
        bounds: Bounds,
        mut progress: impl FnMut(usize, usize),
    ) -> Self {
        let mut reader = Reader {
            root,
            names: HashMap::new(),
            is_open: vec![true; wanted.len()],
            n_open: wanted.len(),
            bounds,
            seen: BTreeSet::new(),
            n_bytes: 0,
            is_cut: false,
            search: Self::default(),
        };
        for (n, spellings) in wanted.iter().enumerate() {
            spellings.iter().for_each(|name| reader.names.entry(name).or_default().push(n));
        }
        for path in first {
            if reader.read(path) {
                reader.search.first.insert(path.clone());
            }
        }
        if !reader.is_done() {
            let tree = tree();
            let code = tree.paths().filter(|path| is_source(path));
            let rest = tree.paths().filter(|path| !is_source(path) && may_be_code(path));
            for (n, path) in code.chain(rest).enumerate() {
                if reader.is_done() {
                    break;
                }
                progress(n, tree.len());
                reader.read(path);
            }
        }
        reader.search.is_whole = !reader.is_cut;
        reader.search
    }
}

struct Reader<'a> {
    root: &'a Dir,
    /// The spellings, each with the numbers of what it is a spelling of.
    names: HashMap<&'a str, Vec<usize>>,
    /// What is not found well enough, by number; the search is over when there is nothing.
    is_open: Vec<bool>,
    n_open: usize,
    bounds: Bounds,
    seen: BTreeSet<String>,
    n_bytes: u64,
    is_cut: bool,
    search: Search,
}

impl Reader<'_> {
    /// Looks for the names in a file; says whether that could be done. A file that is gone has no names.
    fn read(&mut self, path: &str) -> bool {
        if self.seen.contains(path) {
            return true;
        }
        if self.is_spent() {
            self.is_cut = true;
            return false;
        }
        self.seen.insert(path.to_owned());
        let bytes = match self.root.read(path, self.bounds.file) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return true,
            Err(err) => {
                self.is_cut |= matches!(err, ReadError::TooLarge { .. }) && is_source(path);
                return false;
            }
        };
        self.n_bytes += bytes.len() as u64;
        let is_binary = bytes.iter().take(8000).any(|b| *b == 0);
        if !is_binary {
            self.take(path, &bytes);
        }
        true
    }

    fn take(&mut self, path: &str, bytes: &[u8]) {
        for name in words_of(bytes, &self.names) {
            let known = self.search.found.get(&name);
            let uses_do = self.bounds.takes_uses;
            if known.is_some_and(|spot| spot.is_definition || uses_do) {
                continue;
            }
            let Some((line, is_definition)) = find_in(bytes, &name) else { continue };
            if is_definition || uses_do {
                for n in self.names.get(name.as_str()).into_iter().flatten() {
                    self.n_open -= usize::from(std::mem::replace(&mut self.is_open[*n], false));
                }
            }
            if is_definition || known.is_none() {
                self.search.found.insert(name, Spot { path: path.to_owned(), line, is_definition });
            }
        }
    }

    /// Every name is defined somewhere, or no more may be read.
    fn is_done(&self) -> bool {
        self.n_open == 0 || self.is_spent() && self.is_cut
    }

    fn is_spent(&self) -> bool {
        let is_over = || self.bounds.until.is_some_and(|until| Instant::now() >= until);
        self.seen.len() >= self.bounds.n_files || self.n_bytes >= self.bounds.n_bytes || is_over()
    }
}

/// Returns which of the names are words of the text; `dry-run` is one word, and two.
fn words_of(text: &[u8], names: &HashMap<&str, Vec<usize>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let mut take = |word: &[u8]| {
        if let Ok(word) = str::from_utf8(word)
            && names.contains_key(word)
        {
            found.insert(word.to_owned());
        }
    };
    for run in text.split(|b| !is_part(*b)).filter(|run| run.len() >= 2) {
        let start = run.iter().take_while(|b| **b == b'-').count();
        let run = &run[start..];
        if run.contains(&b'-') {
            take(run);
            run.split(|b| *b == b'-').for_each(&mut take);
        } else {
            take(run);
        }
    }
    found
}

/// Endings of files in which a name proves nothing: prose, data, pictures.
const NO_CODE: [&str; 44] = [
    "md", "mdx", "rst", "txt", "adoc", "org", "lock", "csv", "tsv", "log", "svg", "png", "jpg", "jpeg",
    "gif", "ico", "webp", "bmp", "pdf", "zip", "gz", "xz", "bz2", "zst", "tar", "jar", "class", "so", "dll",
    "exe", "o", "a", "woff", "woff2", "ttf", "otf", "mp3", "mp4", "mov", "wav", "sqlite", "db", "bin",
    "wasm",
];

/// Endings of prose, which histories of names leave out too.
pub(super) const PROSE: [&str; 6] = ["md", "mdx", "rst", "txt", "adoc", "lock"];

fn may_be_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((_, ending)) => !NO_CODE.contains(&ending.to_ascii_lowercase().as_str()),
        None => !matches!(
            name.to_ascii_lowercase().as_str(),
            "license" | "readme" | "changelog" | "authors" | "notice"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn search(files: &[(&str, &str)], names: &[&str], bounds: Bounds) -> Search {
        let temp = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = temp.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tree = Tree::of(files.iter().map(|(path, _)| (*path).to_owned()).collect());
        let names = names.iter().map(|name| vec![(*name).to_owned()]).collect();
        Search::run(&Dir::open(temp.path()).unwrap(), || &tree, &[], &names, bounds, |_, _| {})
    }

    #[test]
    fn a_definition_wins_and_prose_does_not_count() {
        let files = [
            ("CHANGELOG.md", "old_door\n"),
            ("a.rs", "open_door();\n"),
            ("b.rs", "\nfn open_door() {}\n"),
            ("run.sol", "--dry-run\n"),
            ("c.rs", "open_doors\n"),
        ];
        let found = search(&files, &["open_door", "old_door", "dry-run", "open"], Bounds::WHOLE);
        let at = |name: &str| found.spot(name).map(|spot| format!("{}:{}", spot.path, spot.line));
        assert_eq!(at("open_door").as_deref(), Some("b.rs:2"));
        assert_eq!(at("dry-run").as_deref(), Some("run.sol:1"));
        assert_eq!((at("old_door"), at("open")), (None, None));
        assert!(found.is_whole);
    }

    #[test]
    fn a_search_that_met_a_bound_says_so() {
        let files = [("a.rs", "x"), ("b.rs", "y"), ("c.rs", "door()")];
        for bounds in [
            Bounds { n_files: 2, ..Bounds::WHOLE },
            Bounds { n_bytes: 2, ..Bounds::WHOLE },
            Bounds { file: 3, ..Bounds::WHOLE },
        ] {
            let found = search(&files, &["door"], bounds);
            assert!(found.spot("door").is_none() && !found.is_whole, "{bounds:?}");
        }
    }
}
