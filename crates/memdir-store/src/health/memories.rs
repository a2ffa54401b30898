//! What is wrong with the memories themselves, one by one and side by side.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use memdir_core::hash::ContentHash;
use memdir_core::likeness::{Likeness, nearest_duplicate};
use memdir_core::memory::{self, LinkVault, Memory, MemoryPath, Problem, Resolver, folded, links};
use memdir_core::secrets::Scanner;

use super::{Finding, Severity};
use crate::vault::{Loaded, Snapshot, Vault, Why};

/// How many of the smallest shingles are compared to find what to compare.
const N_SKETCH: usize = 16;
/// A shingle that so many memories have says nothing about two of them.
const COMMON: usize = 50;

/// Every memory of a vault, without its text.
pub(super) struct Shelf<'v> {
    vault: &'v Vault,
    memories: Vec<Read>,
    skipped: Vec<Finding>,
    /// Names as a forgiving file system compares them, also of files that are passed over.
    names: BTreeMap<String, Vec<String>>,
}

/// What is kept of a memory that was read whole.
struct Read {
    memory: Memory,
    problems: Vec<Problem>,
    hash: ContentHash,
    /// The hash of the body; none if there is nothing in it.
    body: Option<ContentHash>,
    likeness: Likeness,
    /// Where its links lead that stay in this vault.
    links: BTreeSet<String>,
}

impl From<Loaded> for Read {
    fn from(loaded: Loaded) -> Self {
        let body = loaded.document.body().trim_ascii();
        let text = String::from_utf8_lossy(body);
        let links = links(body).into_iter().filter(|link| link.vault == LinkVault::Same);
        Self {
            likeness: Likeness::of(&loaded.memory.description, &text),
            links: links.map(|link| link.name).collect(),
            body: (!body.is_empty()).then(|| ContentHash::of(body)),
            hash: loaded.hash,
            problems: loaded.problems,
            memory: loaded.memory,
        }
    }
}

impl<'v> Shelf<'v> {
    /// Notes the secrets that came in past the gates: by hand, by another program, before there was a rule.
    fn look_for_secrets(&mut self, loaded: &Loaded, scanner: &Scanner) {
        for found in scanner.scan(loaded.document.bytes()) {
            let file = self.file(loaded.path.as_str());
            let what = format!("line {}: {} ({})", found.line, found.description, found.rule);
            self.skipped.push(Finding::problem("secret", file, what));
        }
    }

    /// Reads every memory whole.
    pub(super) fn read(
        vault: &'v Vault,
        snapshot: &Snapshot,
        scanner: &Scanner,
        mut progress: impl FnMut(usize, usize),
    ) -> Self {
        let mut shelf = Self { vault, memories: Vec::new(), skipped: Vec::new(), names: BTreeMap::new() };
        for (n, entry) in snapshot.memories.iter().enumerate() {
            progress(n, snapshot.memories.len());
            shelf.know_name(entry.path.as_str());
            match snapshot.load(&entry.path) {
                Ok(Some(loaded)) => {
                    shelf.look_for_secrets(&loaded, scanner);
                    shelf.memories.push(loaded.into());
                }
                Ok(None) => {}
                Err(err) => {
                    let file = shelf.file(entry.path.as_str());
                    shelf.skipped.push(Finding::problem("unreadable", file, err.to_string()));
                }
            }
        }
        for skipped in &snapshot.skipped {
            shelf.know_name(&skipped.path);
            let file = shelf.file(&skipped.path);
            let (severity, rule) = match skipped.why {
                Why::NotAFile => (Severity::Warning, "not-a-file"),
                Why::BadName => (Severity::Warning, "bad-name"),
                Why::TooDeep => (Severity::Warning, "too-deep"),
                Why::TooLarge(_) => (Severity::Warning, "too-large"),
                Why::Unreadable => (Severity::Problem, "unreadable"),
            };
            let message = format!("not read as a memory: {}", skipped.why);
            shelf.skipped.push(Finding::new(severity, rule, file, message));
        }
        shelf
    }

    fn know_name(&mut self, name: &str) {
        self.names.entry(folded(name)).or_default().push(name.to_owned());
    }

    pub(super) fn paths(&self) -> BTreeSet<MemoryPath> {
        self.memories.iter().map(|read| read.memory.path.clone()).collect()
    }

    pub(super) fn hashes(&self) -> BTreeMap<MemoryPath, ContentHash> {
        self.memories.iter().map(|read| (read.memory.path.clone(), read.hash)).collect()
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.problems();
        findings.extend(self.skipped.iter().cloned());
        findings.extend(self.clashing_names());
        let same = self.same_contents();
        findings.extend(same.values().cloned());
        findings.extend(self.near_duplicates(&same.keys().copied().collect()));
        findings.extend(self.open_links());
        findings
    }

    fn problems(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for read in &self.memories {
            for problem in &read.problems {
                let severity = match problem.severity() {
                    memory::Severity::Error => Severity::Problem,
                    memory::Severity::Warning => Severity::Warning,
                    memory::Severity::Note => Severity::Note,
                };
                let line = problem.line.map_or_else(String::new, |line| format!("line {line}: "));
                let message = format!("{line}{}", problem.message);
                findings.push(Finding::new(severity, problem.kind.as_str(), self.path(read), message));
            }
        }
        findings
    }

    fn clashing_names(&self) -> Vec<Finding> {
        let clashing = self.names.values().filter(|names| names.len() > 1);
        let finding = |names: &Vec<String>| {
            let others =
                names[1..].iter().map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>();
            let message = format!(
                "only case or composed letters tell it from {}: some systems keep one of them",
                others.join(", ")
            );
            Finding::warning("name-clash", self.file(&names[0]), message)
        };
        clashing.map(finding).collect()
    }

    /// Finds memories whose body another one has word for word.
    fn same_contents(&self) -> BTreeMap<usize, Finding> {
        let mut first: HashMap<ContentHash, usize> = HashMap::new();
        let mut findings = BTreeMap::new();
        for (i, read) in self.memories.iter().enumerate() {
            let Some(body) = read.body else { continue };
            let twin = *first.entry(body).or_insert(i);
            if twin != i {
                let message = format!("has the same text as `{}`", self.memories[twin].memory.path.stem());
                findings.insert(i, Finding::warning("same-content", self.path(read), message));
            }
        }
        findings
    }

    /// Finds memories of one type that say nearly the same; those that are known to be `same` are passed over.
    fn near_duplicates(&self, same: &BTreeSet<usize>) -> Vec<Finding> {
        let mut by_shingle: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut findings = Vec::new();
        for (i, read) in self.memories.iter().enumerate() {
            if same.contains(&i) {
                continue;
            }
            let sketch: Vec<u64> = read.likeness.shingles().iter().copied().take(N_SKETCH).collect();
            let candidates = self.candidates(read, &sketch, &by_shingle);
            let likenesses = candidates.iter().map(|&j| &self.memories[j].likeness);
            if let Some((nearest, likeness)) = nearest_duplicate(&read.likeness, likenesses) {
                let other = self.memories[candidates[nearest]].memory.path.stem();
                let message = format!("says nearly the same as `{other}` ({:.0} %)", likeness * 100.0);
                findings.push(Finding::warning("near-duplicate", self.path(read), message));
            }
            sketch.iter().for_each(|&shingle| by_shingle.entry(shingle).or_default().push(i));
        }
        findings
    }

    /// Returns the memories before `read` that share enough with it to be compared.
    fn candidates(&self, read: &Read, sketch: &[u64], by_shingle: &HashMap<u64, Vec<usize>>) -> Vec<usize> {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        let known = sketch.iter().filter_map(|shingle| by_shingle.get(shingle));
        for &i in known.filter(|holders| holders.len() < COMMON).flatten() {
            *shared.entry(i).or_default() += 1;
        }
        let is_close = |&(i, n): &(usize, usize)| {
            n * 3 >= sketch.len() && self.memories[i].memory.memory_type == read.memory.memory_type
        };
        shared.into_iter().filter(is_close).map(|(i, _)| i).collect()
    }

    fn open_links(&self) -> Vec<Finding> {
        let resolver = Resolver::new(self.memories.iter().map(|read| &read.memory));
        let mut findings = Vec::new();
        for read in &self.memories {
            let open: Vec<String> = read
                .links
                .iter()
                .filter(|name| resolver.resolve(name).is_none())
                .map(|name| format!("`{}`", name.escape_debug()))
                .collect();
            if !open.is_empty() {
                let message = format!("links to {}, which does not exist yet", open.join(", "));
                findings.push(Finding::note("open-link", self.path(read), message));
            }
        }
        findings
    }

    fn path(&self, read: &Read) -> PathBuf {
        self.file(read.memory.path.as_str())
    }

    fn file(&self, path: &str) -> PathBuf {
        self.vault.path().join(path)
    }
}
