//! What the last check found, so that a recall only has to read it: a derived file that any command may delete.
//!
//! JSON lines: a head, then a line for each memory and one for each answer of git. A reader looks its line up without
//! parsing the others; a line that does not parse, or is about another version of the memory, is as good as missing.
//! What git said about the past of a thing depends on the commit that is checked out and is asked once for each.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use memdir_core::claims::{ClaimKind, Gone, Verification};
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use serde::{Deserialize, Serialize};

use crate::disk::Dir;
use crate::vault::Vault;

const HEAD: &str = "{\"memdir_claims\":1}";
/// No cache is larger; what is longer is not ours.
const MAX_BYTES: u64 = 256 << 20;

/// What is known about a vault's claims.
#[derive(Debug, Default)]
pub struct Cache {
    /// The lines, each with a line feed before it and one at the end.
    bytes: Vec<u8>,
}

/// What is known about the claims of one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    mem: String,
    sha256: ContentHash,
    #[serde(flatten)]
    verification: Verification,
}

/// What git said about the past of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PastRow {
    /// The commit that was checked out.
    past: String,
    kind: ClaimKind,
    value: String,
    answer: Past,
}

/// What became of a thing that is not where a claim says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Past {
    /// History does not know it.
    Never,
    /// The commit that is checked out still has it: it was removed since.
    Present,
    /// A commit removed it.
    Removed(Option<Gone>),
    /// It has another place or another name.
    Renamed { to: String, gone: Option<Gone> },
    /// Git could not be asked.
    Unknown,
}

impl Past {
    /// Says whether the answer is a commit's, and so the same for as long as that commit is checked out. What was not
    /// committed yet is looked at anew.
    fn is_lasting(&self) -> bool {
        matches!(self, Self::Never | Self::Removed(Some(_)) | Self::Renamed { gone: Some(_), .. })
    }
}

/// The answers of git, by what was asked.
pub(super) type Pasts = BTreeMap<(ClaimKind, String), Past>;

/// Returns the cache's file name below `index/`.
pub(crate) fn file_name(id: &str) -> String {
    format!("{id}.claims")
}

impl Cache {
    /// Reads what is known about the claims of a vault; nothing, if the file is missing or not ours.
    pub fn load(vault: &Vault) -> Self {
        let Ok(index) = Dir::open(&vault.index_path()) else { return Self::default() };
        Self::parse(index.read(&file_name(vault.id()), MAX_BYTES).ok().flatten().unwrap_or_default())
    }

    fn parse(bytes: Vec<u8>) -> Self {
        let is_ours = bytes.strip_prefix(HEAD.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'\n'));
        let end = memchr::memrchr(b'\n', &bytes).map_or(0, |feed| feed + 1);
        let mut bytes = if is_ours { bytes } else { Vec::new() };
        // A torn last line was never written whole.
        bytes.truncate(end.min(bytes.len()));
        bytes.drain(..HEAD.len().min(bytes.len()));
        Self { bytes }
    }

    /// Returns what the last check found about the version `hash` of the memory at `path`.
    pub fn get(&self, path: &MemoryPath, hash: ContentHash) -> Option<Verification> {
        let needle = format!("\n{{\"mem\":{},", serde_json::to_string(path.as_str()).ok()?);
        let at = memchr::memmem::find(&self.bytes, needle.as_bytes())? + 1;
        let len = memchr::memchr(b'\n', &self.bytes[at..])?;
        let row: Row = serde_json::from_slice(&self.bytes[at..at + len]).ok()?;
        (row.sha256 == hash).then_some(row.verification)
    }

    /// Returns the paths of the memories that were looked at, with the version that was.
    pub fn known(&self) -> BTreeMap<String, ContentHash> {
        let rows = self.lines().filter_map(|line| serde_json::from_slice::<Row>(line).ok());
        rows.map(|row| (row.mem, row.sha256)).collect()
    }

    /// Returns what git said about things while `commit` was checked out.
    pub(super) fn pasts(&self, commit: &str) -> Pasts {
        let rows = self.lines().filter(|line| line.starts_with(b"{\"past\""));
        let rows = rows.filter_map(|line| serde_json::from_slice::<PastRow>(line).ok());
        rows.filter(|row| row.past == commit).map(|row| ((row.kind, row.value), row.answer)).collect()
    }

    /// Writes the cache with new rows in the place of the old ones; of the others those that `keeps` wants.
    pub(super) fn save(
        &self,
        vault: &Vault,
        rows: &[(MemoryPath, ContentHash, Verification)],
        pasts: Option<(&str, &Pasts)>,
        keeps: impl Fn(&str) -> bool,
    ) -> io::Result<()> {
        let mut bytes = HEAD.as_bytes().to_vec();
        bytes.push(b'\n');
        let old = self.lines().filter_map(|line| serde_json::from_slice::<Row>(line).ok());
        let new: BTreeSet<&str> = rows.iter().map(|(path, ..)| path.as_str()).collect();
        let old = old.filter(|row| keeps(&row.mem) && !new.contains(row.mem.as_str()));
        let rows = rows.iter().map(|(path, sha256, verification)| Row {
            mem: path.as_str().to_owned(),
            sha256: *sha256,
            verification: verification.clone(),
        });
        for row in old.chain(rows) {
            serde_json::to_writer(&mut bytes, &row)?;
            bytes.push(b'\n');
        }
        if let Some((commit, pasts)) = pasts {
            for ((kind, value), answer) in pasts.iter().filter(|(_, answer)| answer.is_lasting()) {
                let (past, value, answer) = (commit.to_owned(), value.clone(), answer.clone());
                serde_json::to_writer(&mut bytes, &PastRow { past, kind: *kind, value, answer })?;
                bytes.push(b'\n');
            }
        }
        let index = Dir::ensure(&vault.index_path())?;
        // A check makes no state for a vault that nobody has written to yet.
        let state = Dir::open(&vault.state_path()).unwrap_or_else(|_| index.clone());
        state.replace_derived(&index, &file_name(vault.id()), &bytes)
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> (tempfile::TempDir, Vault, Vec<u8>) {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("vault");
        std::fs::create_dir(&dir).unwrap();
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).unwrap();
        let vault = Vault::open(&temp.path().join("home"), "p", &dir).unwrap();
        let checked = Some("2026-04-02T10:30:00Z".parse().unwrap());
        let row = |name: &str| {
            let verification = Verification { checked, ..Verification::default() };
            (MemoryPath::new(name).unwrap(), ContentHash::of(name.as_bytes()), verification)
        };
        let pasts = [((ClaimKind::Path, "x".to_owned()), Past::Never)].into();
        Cache::default()
            .save(&vault, &[row("a.md"), row("b.md")], Some(("c0ffee", &pasts)), |_| true)
            .unwrap();
        let bytes = std::fs::read(vault.index_path().join("p.claims")).unwrap();
        (temp, vault, bytes)
    }

    #[test]
    fn a_row_is_found_for_the_version_it_is_about_and_for_no_other() {
        let (_temp, vault, _) = saved();
        let cache = Cache::load(&vault);
        let (a, b) = (MemoryPath::new("a.md").unwrap(), MemoryPath::new("b.md").unwrap());
        assert!(cache.get(&a, ContentHash::of(b"a.md")).is_some());
        assert!(cache.get(&b, ContentHash::of(b"b.md")).is_some());
        assert_eq!(cache.get(&a, ContentHash::of(b"b.md")), None);
        assert_eq!(cache.pasts("c0ffee").len(), 1);
        assert_eq!(cache.pasts("other").len(), 0);
        cache.save(&vault, &[], None, |mem| mem != "a.md").unwrap();
        let cache = Cache::load(&vault);
        assert!(cache.get(&a, ContentHash::of(b"a.md")).is_none());
        assert!(cache.get(&b, ContentHash::of(b"b.md")).is_some());
    }

    #[test]
    fn a_torn_or_foreign_file_knows_less_and_never_something_else() {
        let (_temp, _, bytes) = saved();
        let paths =
            ["a.md", "b.md"].map(|name| (MemoryPath::new(name).unwrap(), ContentHash::of(name.as_bytes())));
        let whole = Cache::parse(bytes.clone());
        for len in 0..bytes.len() {
            let cut = Cache::parse(bytes[..len].to_vec());
            for (path, hash) in &paths {
                let found = cut.get(path, *hash);
                assert!(found.is_none() || found == whole.get(path, *hash), "cut to {len}");
            }
        }
        assert!(Cache::parse(b"{\"memdir_claims\":2}\n".to_vec()).bytes.is_empty());
    }
}
