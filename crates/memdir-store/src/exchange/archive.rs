//! Our own container: everything we hold of a vault in one file of JSON lines.
//!
//! The first line says what the file is, each further line is one file with its hash, and the last line counts
//! them and hashes all lines before it, so that a torn copy is noticed. `docs/archive.md` describes it for others.
//! Reading believes nothing: whatever is wrong refuses the archive as a whole.

use std::borrow::Cow;
use std::collections::BTreeSet;

use jiff::Timestamp;
use memdir_core::hash::{ContentHash, from_hex, to_hex};
use memdir_core::memory::{INDEX_PAGE, MemoryPath, folded};
use serde::{Deserialize, Serialize};

use super::MAX_FILES;
use crate::history::Area;
use crate::vault::MAX_MEMORY;

const FORMAT: &str = "memdir archive";
const VERSION: u32 = 1;

/// Everything we hold of a project's vault and of the user vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    /// The project it was exported from.
    pub project: String,
    /// When.
    pub created: Timestamp,
    /// The files.
    pub items: Vec<Item>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Whose it is.
    pub side: Side,
    /// Where it is kept: in the vault itself or in a folder of its state.
    pub area: Area,
    /// Its path there.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Whose vault a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The project's.
    Project,
    /// The user's.
    User,
}

/// Why an archive is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArchiveError {
    /// The first line is not ours.
    #[error("it is not an archive of memdir")]
    NotAnArchive,
    /// A newer memdir wrote it.
    #[error("it has version {0}, which this memdir cannot read")]
    Newer(u32),
    /// It ends before its last line, or that line counts something else.
    #[error("it is torn: the end is missing or does not fit")]
    Torn,
    /// A line cannot be read.
    #[error("line {line}: {why}")]
    Line { line: usize, why: String },
    /// It has more files than a vault.
    #[error("it holds more than {MAX_FILES} files")]
    TooMany,
}

#[derive(Serialize, Deserialize)]
struct Head<'a> {
    format: Cow<'a, str>,
    version: u32,
    project: Cow<'a, str>,
    created: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    vault: Side,
    #[serde(default, skip_serializing_if = "is_vault")]
    area: Area,
    sha256: ContentHash,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Tail {
    files: usize,
    sha256: ContentHash,
}

fn is_vault(area: &Area) -> bool {
    *area == Area::Vault
}

impl Archive {
    /// Prints the archive.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = Head {
            format: FORMAT.into(),
            version: VERSION,
            project: self.project.as_str().into(),
            created: self.created,
        };
        let mut bytes = json_line(&head);
        for item in &self.items {
            let text = std::str::from_utf8(&item.bytes).ok();
            bytes.extend(json_line(&Row {
                path: item.path.as_str().into(),
                vault: item.side,
                area: item.area,
                sha256: ContentHash::of(&item.bytes),
                text: text.map(Cow::Borrowed),
                hex: text.is_none().then(|| to_hex(&item.bytes)),
            }));
        }
        let tail = Tail { files: self.items.len(), sha256: ContentHash::of(&bytes) };
        bytes.extend(json_line(&tail));
        bytes
    }

    /// Reads an archive and checks every line of it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArchiveError> {
        let (first, _) = split_line(bytes).ok_or(ArchiveError::NotAnArchive)?;
        let head: Head = serde_json::from_slice(first).map_err(|_| ArchiveError::NotAnArchive)?;
        if head.format != FORMAT {
            return Err(ArchiveError::NotAnArchive);
        }
        if head.version > VERSION {
            return Err(ArchiveError::Newer(head.version));
        }
        let rows = check_tail(bytes)?;
        let mut archive =
            Self { project: head.project.into_owned(), created: head.created, items: Vec::new() };
        let mut seen = BTreeSet::new();
        for (line, row) in (2..).zip(rows) {
            let wrong = |why: &str| ArchiveError::Line { line, why: why.to_owned() };
            let item = read_row(row).map_err(|why| ArchiveError::Line { line, why })?;
            if !seen.insert((item.side, item.area, folded(&item.path))) {
                return Err(wrong("the name is there twice"));
            }
            archive.items.push(item);
        }
        Ok(archive)
    }
}

/// Checks the last line and returns the lines between it and the first.
fn check_tail(bytes: &[u8]) -> Result<Vec<&[u8]>, ArchiveError> {
    let body = bytes.strip_suffix(b"\n").ok_or(ArchiveError::Torn)?;
    let start = body.iter().rposition(|&byte| byte == b'\n').ok_or(ArchiveError::Torn)? + 1;
    let tail: Tail = serde_json::from_slice(&body[start..]).map_err(|_| ArchiveError::Torn)?;
    if tail.sha256 != ContentHash::of(&bytes[..start]) {
        return Err(ArchiveError::Torn);
    }
    if tail.files > MAX_FILES {
        return Err(ArchiveError::TooMany);
    }
    let rows: Vec<&[u8]> = bytes[..start - 1].split(|&byte| byte == b'\n').skip(1).collect();
    if rows.len() == tail.files { Ok(rows) } else { Err(ArchiveError::Torn) }
}

fn read_row(line: &[u8]) -> Result<Item, String> {
    let row: Row = serde_json::from_slice(line).map_err(|_| "it is not a file of an archive".to_owned())?;
    let bytes = match (row.text, row.hex) {
        (Some(text), None) => text.into_owned().into_bytes(),
        (None, Some(hex)) => from_hex(&hex).ok_or("its bytes cannot be read")?,
        _ => return Err("it has no bytes, or has them twice".to_owned()),
    };
    if bytes.len() as u64 > MAX_MEMORY {
        return Err(format!("the file has {} bytes: the limit is {MAX_MEMORY}", bytes.len()));
    }
    if ContentHash::of(&bytes) != row.sha256 {
        return Err("its bytes do not fit their hash".to_owned());
    }
    check_path(row.area, &row.path)?;
    Ok(Item { side: row.vault, area: row.area, path: row.path.into_owned(), bytes })
}

/// A path stays inside the place it names; copies beside a vault have no folders.
fn check_path(area: Area, path: &str) -> Result<(), String> {
    if area == Area::User {
        return Err("`user` is not a place for a file".to_owned());
    }
    if area == Area::Vault && path == INDEX_PAGE {
        return Ok(());
    }
    if area != Area::Vault && path.contains('/') {
        return Err(format!("`{}` is not a file name", path.escape_debug()));
    }
    MemoryPath::new(path).map(drop).map_err(|err| err.to_string())
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

fn json_line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("an archive has only text keys");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(path: &str, bytes: &[u8]) -> Item {
        Item { side: Side::Project, area: Area::Vault, path: path.to_owned(), bytes: bytes.to_vec() }
    }

    fn archive(items: Vec<Item>) -> Archive {
        Archive { project: "p-1".to_owned(), created: Timestamp::UNIX_EPOCH, items }
    }

    /// Puts another line in the place of the second one, with a last line that fits again.
    fn with_line(line: &str) -> Vec<u8> {
        let whole = archive(vec![item("a.md", b"a")]).to_bytes();
        let head = split_line(&whole).unwrap().0;
        let mut bytes = [head, b"\n", line.as_bytes(), b"\n"].concat();
        let tail = Tail { files: 1, sha256: ContentHash::of(&bytes) };
        bytes.extend(json_line(&tail));
        bytes
    }

    fn row(path: &str) -> String {
        let hash = ContentHash::of(b"x");
        format!(r#"{{"path":{path:?},"vault":"project","sha256":"{hash}","text":"x"}}"#)
    }

    #[test]
    fn an_archive_reads_back_what_it_prints() {
        let aside = Item { side: Side::User, area: Area::Trash, ..item("x@00000000.md", b"\xff\x00\r\n") };
        let whole =
            archive(vec![item("MEMORY.md", b"# M\n"), item("sub/a b.md", "ä\u{202e}\n".as_bytes()), aside]);
        assert_eq!(Archive::from_bytes(&whole.to_bytes()), Ok(whole));
        assert_eq!(Archive::from_bytes(&archive(vec![]).to_bytes()), Ok(archive(vec![])));
    }

    #[test]
    fn a_torn_archive_is_refused_wherever_it_was_torn() {
        let bytes = archive(vec![item("a.md", b"a"), item("b.md", b"b")]).to_bytes();
        for end in 0..bytes.len() {
            assert!(Archive::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            assert!(Archive::from_bytes(&bytes).is_err(), "flipped at {at}");
        }
        assert_eq!(Archive::from_bytes(&[&bytes[..], b"{}\n"].concat()), Err(ArchiveError::Torn));
    }

    #[test]
    fn a_hostile_archive_is_refused() {
        assert!(Archive::from_bytes(&with_line(&row("fine.md"))).is_ok());
        for path in
            ["/etc/x.md", "../x.md", "a/../../x.md", ".ssh/x.md", "x", "a\\b.md", "memory.md", "a\0.md"]
        {
            assert!(Archive::from_bytes(&with_line(&row(path))).is_err(), "{path}");
        }
        let wrong_hash = row("a.md").replace("\"text\":\"x\"", "\"text\":\"y\"");
        let twice = row("a.md").replace("\"text\":\"x\"", "\"text\":\"x\",\"hex\":\"78\"");
        let half = row("a.md").replace("\"text\":\"x\"", "\"hex\":\"7\"");
        let aside = row("sub/a.md").replace("\"vault\"", "\"area\":\"trash\",\"vault\"");
        let user = row("a.md").replace("\"vault\"", "\"area\":\"user\",\"vault\"");
        let other = row("a.md").replace("project", "team");
        for line in [&wrong_hash, &twice, &half, &aside, &user, &other, "{}", "", "null"] {
            assert!(Archive::from_bytes(&with_line(line)).is_err(), "{line}");
        }
        for bytes in [&b""[..], b"\n", b"PK\x03\x04", b"{}\n{}\n", b"\x1f\x8b\x08\x00"] {
            assert_eq!(Archive::from_bytes(bytes), Err(ArchiveError::NotAnArchive));
        }
        let double = archive(vec![item("a.md", b"1"), item("A.md", b"2")]).to_bytes();
        assert!(matches!(Archive::from_bytes(&double), Err(ArchiveError::Line { line: 3, .. })));
        let newer =
            String::from_utf8(archive(vec![]).to_bytes()).unwrap().replace("\"version\":1", "\"version\":2");
        assert_eq!(Archive::from_bytes(newer.as_bytes()), Err(ArchiveError::Newer(2)));
        let large = archive(vec![item("a.md", &vec![b'x'; 1 + MAX_MEMORY as usize])]).to_bytes();
        assert!(Archive::from_bytes(&large).is_err());
    }

    #[test]
    fn an_archive_with_too_many_files_is_refused_before_they_are_read() {
        let mut bytes = split_line(&archive(vec![]).to_bytes()).unwrap().0.to_vec();
        bytes.extend(b"\n".repeat(MAX_FILES + 2));
        let tail = Tail { files: MAX_FILES + 1, sha256: ContentHash::of(&bytes) };
        bytes.extend(json_line(&tail));
        assert_eq!(Archive::from_bytes(&bytes), Err(ArchiveError::TooMany));
    }
}
