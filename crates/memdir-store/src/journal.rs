//! The session journal: one file a session, written once, with what was done, decided and left open.
//!
//! Entries lie below `projects/<id>/journal/<year>/<month>/`. They are no memories: they are never shown unasked, only
//! found by who searches the layer. This module reads them; a project without a journal has none. Look at
//! [`Journal::entries`] first.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use memdir_core::memory::{Document, Memory, MemoryPath, Value};
use memdir_core::recall::Note;

use crate::disk::{Dir, EntryKind};
use crate::vault::MAX_MEMORY;

/// The folder below a project's state.
const FOLDER: &str = "journal";

/// The journal of one project.
#[derive(Debug, Clone)]
pub struct Journal {
    dir: PathBuf,
}

/// What one session left behind.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its file.
    pub path: PathBuf,
    /// What it says, ready to be ranked like a memory; its path is the one below the journal.
    pub note: Note,
    /// The session, as the host calls it.
    pub session: Option<String>,
    /// When the session ended, as far as anybody wrote it down.
    pub ended: Timestamp,
}

impl Journal {
    /// Finds the journal below the state of a project.
    pub fn of(state: &Path) -> Self {
        Self { dir: state.join(FOLDER) }
    }

    /// Reads the entries, the newest first. What cannot be read is passed over.
    pub fn entries(&self) -> Vec<Entry> {
        let Ok(journal) = Dir::open(&self.dir) else { return Vec::new() };
        let mut entries = Vec::new();
        for year in folders(&journal) {
            let Ok(in_year) = journal.sub(&year) else { continue };
            for month in folders(&in_year) {
                let Ok(in_month) = in_year.sub(&month) else { continue };
                let paths = files(&in_month).into_iter().map(|name| format!("{year}/{month}/{name}"));
                entries.extend(paths.filter_map(|path| read(&journal, &path)));
            }
        }
        entries.sort_by(|a, b| b.ended.cmp(&a.ended).then_with(|| a.path.cmp(&b.path)));
        entries
    }
}

fn folders(dir: &Dir) -> Vec<String> {
    names(dir, EntryKind::Dir, |name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

fn files(dir: &Dir) -> Vec<String> {
    names(dir, EntryKind::File, |name| name.ends_with(".md"))
}

fn names(dir: &Dir, wanted: EntryKind, is_ours: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names = Vec::new();
    let add = |name: &str, kind| {
        if kind == wanted && is_ours(name) {
            names.push(name.to_owned());
        }
    };
    // A folder that cannot be listed has nothing to tell.
    let _ = dir.for_each(add);
    names
}

fn read(journal: &Dir, path: &str) -> Option<Entry> {
    let bytes = journal.read(path, MAX_MEMORY).ok()??;
    let document = Document::parse(&bytes);
    let path = MemoryPath::new(path).ok()?;
    let (memory, _) = Memory::read(&path, &document);
    let text = |field: &str| match document.get(field) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    };
    let time = |field: &str| text(field)?.parse().ok();
    let ended = time("ended").or_else(|| time("started")).or_else(|| time_of_name(path.stem()));
    let ended = ended.unwrap_or(Timestamp::UNIX_EPOCH);
    let mut note = Note::of(&memory, &document);
    note.modified = Some(ended);
    Some(Entry { path: journal.path().join(path.as_str()), note, session: text("session"), ended })
}

/// Reads the time that a file's name begins with: `2026-04-02T103100Z-5da15695`.
fn time_of_name(stem: &str) -> Option<Timestamp> {
    let time = stem.get(.."2026-04-02T103100".len())?;
    let time = DateTime::strptime("%Y-%m-%dT%H%M%S", time).ok()?;
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_from_their_months_and_what_is_none_is_passed_over() {
        let state = tempfile::tempdir().unwrap();
        assert!(Journal::of(state.path()).entries().is_empty());
        let write = |path: &str, text: &str| {
            let path = state.path().join("journal").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let entry = "---\nname: 2026-04-02-queue\ndescription: \"Token refresh behind a queue\"\ntype: session\nmetadata:\n  session: 5da15695\n  ended: 2026-04-02T10:31:00Z\n---\n\n## Summary\nMoved it.\n";
        write("2026/04/2026-04-02T103100Z-5da15695.md", entry);
        write("2026/03/2026-03-30T080000Z-aaaaaaaa.md", "## Summary\nNo frontmatter at all.\n");
        write("2026/03/notes.txt", "not ours");
        write("drafts/03/x.md", "not ours");
        let entries = Journal::of(state.path()).entries();
        let found: Vec<(&str, Option<&str>, String)> = entries
            .iter()
            .map(|entry| (entry.note.name.as_str(), entry.session.as_deref(), entry.ended.to_string()))
            .collect();
        assert_eq!(
            found,
            [
                ("2026-04-02-queue", Some("5da15695"), "2026-04-02T10:31:00Z".to_owned()),
                ("2026-03-30T080000Z-aaaaaaaa", None, "2026-03-30T08:00:00Z".to_owned()),
            ]
        );
        assert!(entries[0].note.body.contains("Moved it"));
    }
}
