//! The record of every change: who, when, why, and the bytes before and after.
//!
//! A change is one file of JSON lines. The first line is the [`Change`]; each further line holds the bytes of one
//! version. It is written and synced as the *intent* before the first file changes, and becomes history by a
//! rename when the change is done: the same file is redo log, undo log and audit trail. Erasing a memory takes its
//! bytes and its name out of the file and leaves hashes and dates.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use jiff::Timestamp;
use memdir_core::change::{Author, Surface};
use memdir_core::hash::{ContentHash, from_hex, to_hex};
use serde::{Deserialize, Serialize};

use crate::disk::{self, Dir, ReadError};

/// Where finished changes are, below a vault's state.
const FOLDER: &str = "changes";
/// Ends the name of a finished change.
const SUFFIX: &str = ".jsonl";
/// No record is larger: an import of 10,000 memories of 50 KiB, before and after.
const MAX_RECORD: u64 = 1 << 30;
/// No first line is longer: an import of 100,000 files.
const MAX_HEADER: u64 = 64 << 20;

/// Names a change: 26 letters and digits that sort in the order in which changes were made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(String);

impl ChangeId {
    /// Makes the next id: of the time `at`, yet after `last` even when the clock was set back.
    pub fn next(at: Timestamp, last: Option<&Self>) -> io::Result<Self> {
        let mut random = [0; 16];
        disk::random(&mut random[6..])?;
        let millis = u64::try_from(at.as_millisecond()).unwrap_or(0).min((1 << 48) - 1);
        random[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        let fresh = u128::from_be_bytes(random);
        let after = last.and_then(Self::number).map_or(0, |last| last.saturating_add(1));
        Ok(Self::from_number(fresh.max(after)))
    }

    /// Reads an id as it stands in a file name or a record.
    pub fn parse(text: &str) -> Option<Self> {
        let id = Self(text.to_owned());
        id.number().map(|_| id)
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the time that the id was made of.
    pub fn at(&self) -> Timestamp {
        let millis = self.number().unwrap_or(0) >> 80;
        Timestamp::from_millisecond(i64::try_from(millis).unwrap_or(0)).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn from_number(mut number: u128) -> Self {
        let mut digits = [b'0'; 26];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS[(number & 31) as usize];
            number >>= 5;
        }
        Self(digits.iter().map(|&digit| char::from(digit)).collect())
    }

    fn number(&self) -> Option<u128> {
        if self.0.len() != 26 {
            return None;
        }
        self.0.bytes().try_fold(0u128, |number, byte| {
            let digit = DIGITS.iter().position(|&known| known == byte)?;
            number.checked_mul(32)?.checked_add(digit as u128)
        })
    }
}

/// The digits of an id: without the letters that look like digits.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What happened, without the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its name.
    pub id: ChangeId,
    /// When, by the clock of the writer.
    pub at: Timestamp,
    /// Through which part of memdir.
    pub by: Surface,
    /// Who.
    pub author: Author,
    /// In which session.
    pub session: Option<String>,
    /// Why.
    pub reason: String,
    /// Why a gate's refusal was passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<String>,
    /// Which change this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ChangeId>,
    /// The project in which it was made, as far as that is known: the user vault has changes of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What became of each file.
    pub ops: Vec<FileOp>,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOp {
    /// What was done.
    pub op: OpKind,
    /// Where the file is.
    #[serde(default, skip_serializing_if = "Area::is_vault")]
    pub area: Area,
    /// Its path below the area; for a rename, the new one.
    pub path: String,
    /// For a rename, the old path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The version before; none if there was no file.
    pub before: Option<ContentHash>,
    /// The version after; none if there is no file any more.
    pub after: Option<ContentHash>,
    /// Whether the memory was erased since: its name and bytes are gone, the hashes are all that is left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

/// What can be done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpKind {
    /// Created or replaced.
    Write,
    /// Removed.
    Delete,
    /// Moved, perhaps with a new text.
    Rename,
}

impl OpKind {
    /// Returns the word as it stands in a record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Rename => "rename",
        }
    }
}

/// The places that a change can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Area {
    /// The vault itself.
    #[default]
    Vault,
    /// The user vault, seen from a project.
    User,
    /// Originals of what was superseded or merged; kept until erased.
    Archive,
    /// What was deleted; kept as long as it can be undone.
    Trash,
    /// The other version of an edit that could not be merged.
    Conflicts,
    /// What waits for the user's word.
    Inbox,
}

impl Area {
    /// Returns the folder below a vault's state; none for the vaults themselves.
    pub fn folder(self) -> Option<&'static str> {
        match self {
            Self::Vault | Self::User => None,
            Self::Archive => Some("archive"),
            Self::Trash => Some("trash"),
            Self::Conflicts => Some("conflicts"),
            Self::Inbox => Some("inbox"),
        }
    }

    fn is_vault(&self) -> bool {
        *self == Self::Vault
    }
}

/// Versions by their hash.
pub type Versions = BTreeMap<ContentHash, Vec<u8>>;

/// A change with the bytes it needs to be done again or taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What happened.
    pub change: Change,
    /// The bytes of each version that it names, unless they were erased.
    pub versions: Versions,
}

/// One line of a record after the first.
#[derive(Serialize, Deserialize)]
struct VersionLine<'a> {
    sha256: ContentHash,
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    text: Option<std::borrow::Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    hex: Option<std::borrow::Cow<'a, str>>,
}

impl Record {
    /// Prints the record as JSON lines.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = json_line(&self.change);
        for (&sha256, version) in &self.versions {
            let line = match std::str::from_utf8(version) {
                Ok(text) => VersionLine { sha256, text: Some(text.into()), hex: None },
                Err(_) => VersionLine { sha256, text: None, hex: Some(to_hex(version).into()) },
            };
            bytes.extend(json_line(&line));
        }
        bytes
    }

    /// Reads a record; `None` if it is not one. A version whose bytes do not fit its hash is left out.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let change = serde_json::from_slice(lines.next()?).ok()?;
        let versions = lines.filter_map(read_version).collect();
        Some(Self { change, versions })
    }
}

fn json_line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("a record has only text keys");
    line.push(b'\n');
    line
}

fn read_version(line: &[u8]) -> Option<(ContentHash, Vec<u8>)> {
    let line: VersionLine<'_> = serde_json::from_slice(line).ok()?;
    let bytes = match (line.text, line.hex) {
        (Some(text), _) => text.into_owned().into_bytes(),
        (None, Some(hex)) => from_hex(&hex)?,
        (None, None) => return None,
    };
    (ContentHash::of(&bytes) == line.sha256).then_some((line.sha256, bytes))
}

/// The finished changes of one vault.
#[derive(Debug, Clone)]
pub struct History {
    dir: Dir,
    state: Dir,
}

impl History {
    /// Opens the finished changes below a vault's state; `None` if there never was one.
    pub fn open(state: &Dir) -> io::Result<Option<Self>> {
        match state.sub(FOLDER) {
            Ok(dir) => Ok(Some(Self { dir, state: state.clone() })),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Opens the finished changes below a vault's state, making their folder where it is missing.
    pub fn ensure(state: &Dir) -> io::Result<Self> {
        Ok(Self { dir: state.ensure_sub(FOLDER)?, state: state.clone() })
    }

    /// Returns the folder itself.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Lists the changes, oldest first.
    pub fn ids(&self) -> io::Result<Vec<ChangeId>> {
        let mut ids = Vec::new();
        self.dir.for_each(|name, _| ids.extend(name.strip_suffix(SUFFIX).and_then(ChangeId::parse)))?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Reads a change without its bytes; `None` if it is gone or unreadable.
    pub fn change(&self, id: &ChangeId) -> Result<Option<Change>, ReadError> {
        let Some((file, _)) = self.dir.open_file(&file_name(id))? else { return Ok(None) };
        let mut line = Vec::new();
        BufReader::new(file.take(MAX_HEADER)).read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line).ok())
    }

    /// Reads a change with its bytes; `None` if it is gone or unreadable.
    pub fn record(&self, id: &ChangeId) -> Result<Option<Record>, ReadError> {
        let bytes = self.dir.read(&file_name(id), MAX_RECORD)?;
        Ok(bytes.as_deref().and_then(Record::from_bytes))
    }

    /// Writes a finished change, durably.
    pub fn write(&self, record: &Record) -> io::Result<()> {
        // By way of the state's own folder: only there are temporary files swept.
        self.state.stage(&record.to_bytes())?.rename_over(&self.dir, &file_name(&record.change.id))?;
        self.dir.sync()
    }

    /// Removes a finished change.
    pub fn remove(&self, id: &ChangeId) -> io::Result<()> {
        self.dir.remove(&file_name(id))
    }
}

/// Returns the file name of a finished change.
pub fn file_name(id: &ChangeId) -> String {
    format!("{id}{SUFFIX}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_in_the_order_of_changes_even_when_the_clock_is_set_back() {
        let noon: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
        let year_ago: Timestamp = "2025-03-02T12:00:00Z".parse().unwrap();
        let first = ChangeId::next(noon, None).unwrap();
        let second = ChangeId::next(year_ago, Some(&first)).unwrap();
        assert!(first < second);
        assert_eq!(first.at(), noon);
        assert_eq!(ChangeId::parse(first.as_str()), Some(first));
        assert_eq!(ChangeId::parse("../../etc/passwd"), None);
    }

    #[test]
    fn a_record_reads_back_what_it_prints_and_refuses_bytes_that_do_not_fit_their_hash() {
        let texts: [&[u8]; 3] = [b"plain \"text\"\r\n", b"\xff\xfe\x00", b""];
        let versions: Versions = texts.iter().map(|text| (ContentHash::of(text), text.to_vec())).collect();
        let id = ChangeId::next(Timestamp::UNIX_EPOCH, None).unwrap();
        let op = FileOp {
            op: OpKind::Write,
            area: Area::Trash,
            path: "a@b.md".into(),
            from: None,
            before: None,
            after: Some(ContentHash::of(b"")),
            erased: false,
        };
        let change = Change {
            id,
            at: Timestamp::UNIX_EPOCH,
            by: Surface::Cli,
            author: Author::Person,
            session: None,
            reason: "test".into(),
            force: None,
            undoes: None,
            project: Some("shop".into()),
            ops: vec![op],
        };
        let record = Record { change, versions };
        let bytes = record.to_bytes();
        assert_eq!(Record::from_bytes(&bytes), Some(record));
        let forged = String::from_utf8(bytes).unwrap().replace("plain", "forged");
        assert_eq!(Record::from_bytes(forged.as_bytes()).unwrap().versions.len(), 2);
    }
}
