//! Writes memories as other coding agents read them, beside what these keep themselves.
//!
//! Only what holds goes out: nothing that was replaced, is a draft, or waits for the user's word. A file that says
//! something else under the same name is not overwritten unasked, and a page keeps every line outside of our block.

use std::path::{Path, PathBuf};

use memdir_core::exchange::{agents_page, codex_note_name, cursor_rule, gemini_page};
use memdir_core::memory::{INDEX_PAGE, Memory, Status};
use memdir_store::disk::Dir;
use memdir_store::vault::{Loaded, MAX_MEMORY};

use super::clean::Cleaner;
use super::{Args, Format, Told, tell};
use crate::cli::init::SettingsFile;
use crate::context::Shelf;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// What could not be written, and why.
type LeftOut = Vec<(String, String)>;

pub(super) fn run(
    args: &Args,
    shelves: &[Shelf],
    mut cleaner: Cleaner,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    if args.path == Path::new("-") {
        return Err(
            Failure::error("this format is for an agent's own files").hint("name the file or directory")
        );
    }
    let mut left_out = LeftOut::new();
    let memories = memories(args, shelves, &mut left_out)?;
    let memories: Vec<Loaded> = memories.into_iter().map(|loaded| cleaner.memory(loaded)).collect();
    let n_files = match args.format {
        Format::Agents => write_page(args, &memories, &mut left_out)?,
        Format::Codex => {
            let file = |loaded: &Loaded| (codex_note_name(&loaded.path, loaded.modified()), bytes(loaded));
            write_files(args, &inner(&args.path, "memories"), memories.iter().map(file), &mut left_out)?
        }
        Format::Cursor => {
            let file = |loaded: &Loaded| {
                let name = format!("{}.mdc", loaded.path.stem().replace('/', "-"));
                (name, cursor_rule(&loaded.memory, &body(loaded)).into_bytes())
            };
            write_files(args, &rules_dir(&args.path), memories.iter().map(file), &mut left_out)?
        }
        _ => {
            let dir = inner(&args.path, "memory");
            let file = |loaded: &Loaded| (loaded.path.to_string(), bytes(loaded));
            let n_files = write_files(args, &dir, memories.iter().map(file), &mut left_out)?;
            let listed: Vec<Memory> = memories.iter().map(|loaded| loaded.memory.clone()).collect();
            change(&dir.join(INDEX_PAGE), |page| gemini_page(page, &listed))?;
            n_files
        }
    };
    for (path, why) in &left_out {
        ui.warn(&format!("left out {path}: {why}"));
    }
    cleaner.tell(ui);
    tell(args, &Told { n_files, left_out, redacted: cleaner.to_json() }, None, ui);
    Ok(Outcome::Done)
}

/// Loads the memories that hold.
fn memories(args: &Args, shelves: &[Shelf], left_out: &mut LeftOut) -> Result<Vec<Loaded>, Failure> {
    let mut memories = Vec::new();
    for shelf in shelves.iter().filter(|shelf| shelf.is_user() == args.user) {
        for entry in &shelf.snapshot.memories {
            let loaded = shelf.load(&entry.path)?;
            let why = match loaded.memory.status {
                _ if loaded.memory.quarantined => "it waits for your word",
                Status::Active => {
                    memories.push(loaded);
                    continue;
                }
                Status::Draft => "it is a draft",
                _ => "it no longer holds",
            };
            left_out.push((entry.path.to_string(), why.to_owned()));
        }
    }
    Ok(memories)
}

fn bytes(loaded: &Loaded) -> Vec<u8> {
    loaded.document.bytes().to_owned()
}

fn body(loaded: &Loaded) -> String {
    String::from_utf8_lossy(loaded.document.body()).into_owned()
}

/// Returns the directory of memories in what the user named.
fn inner(path: &Path, name: &str) -> PathBuf {
    let below = path.join(name);
    if below.is_dir() { below } else { path.to_owned() }
}

fn rules_dir(path: &Path) -> PathBuf {
    if path.join(".cursor").is_dir() { path.join(".cursor/rules") } else { path.to_owned() }
}

/// Writes files that are not there, or that may be replaced; returns how many say now what they should.
fn write_files(
    args: &Args,
    dir: &Path,
    files: impl Iterator<Item = (String, Vec<u8>)>,
    left_out: &mut LeftOut,
) -> Result<usize, Failure> {
    let failed =
        |err: &dyn std::fmt::Display| Failure::error(format!("could not write {}: {err}", dir.display()));
    let path = std::path::absolute(dir).map_err(|err| failed(&err))?;
    let path = path.canonicalize().unwrap_or(path);
    let target = Dir::ensure(&path).map_err(|err| failed(&err))?;
    let mut n_files = 0;
    for (name, bytes) in files {
        let found = target.read(&name, MAX_MEMORY).map_err(|err| failed(&format!("{name}: {err}")))?;
        match found {
            Some(found) if found == bytes => {}
            Some(_) if !args.force => {
                left_out.push((name, "another text is there: `--force` replaces it".to_owned()));
                continue;
            }
            _ => {
                let written =
                    target.ensure_folder(&name).and_then(|(folder, name)| folder.replace(name, &bytes));
                written.map_err(|err| failed(&format!("{name}: {err}")))?;
            }
        }
        n_files += 1;
    }
    Ok(n_files)
}

/// Writes the block on the page; returns how many memories are on it.
fn write_page(args: &Args, memories: &[Loaded], left_out: &mut LeftOut) -> Result<usize, Failure> {
    let path = if args.path.is_dir() { args.path.join("AGENTS.md") } else { args.path.clone() };
    let listed: Vec<(Memory, String)> =
        memories.iter().map(|loaded| (loaded.memory.clone(), body(loaded))).collect();
    let mut no_room = Vec::new();
    change(&path, |page| {
        let (page, rest) = agents_page(page, &listed);
        no_room = rest;
        page
    })?;
    let n_files = listed.len() - no_room.len();
    left_out.extend(no_room.into_iter().map(|name| (name, "the page has no room for it".to_owned())));
    Ok(n_files)
}

/// Changes a page of the user's, through links and whole.
fn change(path: &Path, mut new: impl FnMut(&str) -> String) -> Result<(), Failure> {
    let path = std::path::absolute(path)?;
    let failed = |why: &str, hint: &str| {
        Failure::error(format!("could not write {}: {why}", path.display())).hint(hint.to_owned())
    };
    for _ in 0..5 {
        let file = SettingsFile::read(&path).map_err(|problem| failed(&problem.message, &problem.hint))?;
        let before = file.text.clone().unwrap_or_default();
        let after = new(&before);
        if after == before {
            return Ok(());
        }
        if file.replace(&after, true).map_err(|problem| failed(&problem.message, &problem.hint))? {
            return Ok(());
        }
    }
    Err(failed("another program keeps writing it", "try again when it is done"))
}
