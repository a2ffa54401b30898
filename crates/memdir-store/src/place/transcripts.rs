//! Which directory a folder of Claude Code really belongs to, as its transcripts tell.
//!
//! A slug fits several directories. The transcripts beside a memory name the one a session was started in; a few
//! lines of a few files are read, nothing is written, and what is not understood is skipped.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::slug::Slug;
use crate::disk::Dir;

/// How many transcripts of a folder are looked at.
const MAX_FILES: usize = 8;
/// How much of a transcript is read.
const MAX_BYTES: u64 = 128 * 1024;

/// What the transcripts of a folder say about its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Testimony {
    /// A session was started in one of the directories.
    For,
    /// Sessions were started in other directories only.
    Against,
    /// There are no transcripts, or they name no directory.
    Silent,
}

/// Asks the transcripts in `folder` whether it belongs to one of the directories `roots` or something below them.
pub(super) fn ask(folder: &Path, roots: &[PathBuf]) -> Testimony {
    let mut testimony = Testimony::Silent;
    for cwd in working_dirs(folder) {
        if roots.iter().any(|root| cwd.starts_with(root)) {
            return Testimony::For;
        }
        testimony = Testimony::Against;
    }
    testimony
}

/// Returns the directories that sessions of this folder were started in: the ones whose slug is its name.
fn working_dirs(folder: &Path) -> Vec<PathBuf> {
    let (Ok(entries), Some(name)) = (fs::read_dir(folder), folder.file_name().and_then(|name| name.to_str()))
    else {
        return Vec::new();
    };
    let mut files: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|file| file.ends_with(".jsonl"))
        .collect();
    files.sort();
    files.truncate(MAX_FILES);
    let Ok(folder) = Dir::open(folder) else { return Vec::new() };
    files.iter().filter_map(|file| first_cwd(&folder, file, name)).collect()
}

/// The one field of a transcript's line that is needed.
#[derive(Deserialize)]
struct Line {
    cwd: Option<String>,
}

fn first_cwd(folder: &Dir, file: &str, slug: &str) -> Option<PathBuf> {
    let (file, _) = folder.open_file(file).ok()??;
    let lines = BufReader::new(file.take(MAX_BYTES)).split(b'\n').map_while(Result::ok);
    let cwds = lines.filter_map(|line| serde_json::from_slice::<Line>(&line).ok()?.cwd);
    cwds.filter(|cwd| Slug::of(cwd).is(slug)).map(PathBuf::from).next()
}
