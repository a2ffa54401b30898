//! `memdir export`: everything in an open format.

mod clean;
mod hosts;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use memdir_core::hash::ContentHash;
use memdir_core::memory::{INDEX_PAGE, MemoryPath};
use memdir_core::text::count;
use memdir_store::disk::Dir;
use memdir_store::exchange::{Archive, Item, Side};
use memdir_store::history::Area;
use memdir_store::vault::{Loaded, MAX_MEMORY};
use serde_json::{Value, json};

use self::clean::Cleaner;
use crate::context::{Context, Shelf};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Export memories in an open format
///
/// An archive is complete: memories, index page, archived and deleted ones, conflicts and what waits in the inbox,
/// of this project and of the user. `memdir import archive FILE` restores it. For other agents the memories that hold are
/// written as these read them; text of theirs stays as it is. Of all but an archive, which is your own copy, secrets are
/// left out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// In which format
    format: Format,
    /// Where to: a file (`-` for stdout), for claude-code and obsidian an empty directory, for an agent its directory
    path: PathBuf,
    /// Replace what is there
    #[arg(long)]
    force: bool,
    /// For all but archive and json: export the user's memories instead of the project's
    #[arg(long)]
    user: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One file with everything, to be imported again
    Archive,
    /// A directory of markdown files as Claude Code has it
    ClaudeCode,
    /// Notes for Codex, in its `memories` directory
    Codex,
    /// Files and lines for Gemini CLI, in its private memory directory
    Gemini,
    /// Rules for Cursor, in `.cursor/rules` or the project around it
    Cursor,
    /// A block in an AGENTS.md
    Agents,
    /// A directory of markdown files to open with Obsidian
    Obsidian,
    /// One JSON document of all memories
    Json,
}

/// What is told about an export that was made.
struct Told {
    n_files: usize,
    left_out: Vec<(String, String)>,
    /// Secrets that are not in it.
    redacted: Vec<Value>,
}

/// What an export holds.
struct Export {
    items: Vec<Item>,
    /// Files that no format can hold, and why.
    left_out: Vec<(String, String)>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let shelves = context.shelves()?;
    if matches!(args.format, Format::Codex | Format::Gemini | Format::Cursor | Format::Agents) {
        return hosts::run(args, &shelves, Cleaner::new(context.scanner()?), ui);
    }
    let mut cleaner = Cleaner::new(context.scanner()?);
    let export = collect(&shelves, ui)?;
    for (path, why) in &export.left_out {
        ui.warn(&format!("left out {path}: {why}"));
    }
    match args.format {
        Format::Archive => {
            let project = context.place.project.id.to_string();
            let archive = Archive { project, created: context.now, items: export.items };
            let bytes = archive.to_bytes();
            if args.path != Path::new("-") {
                // What cannot be read back is no export: better to hear of it now.
                Archive::from_bytes(&bytes)
                    .map_err(|err| Failure::error(format!("this vault makes no archive: {err}")))?;
            }
            let told = Told { n_files: archive.items.len(), left_out: export.left_out, redacted: Vec::new() };
            warn_of_secrets(&archive, cleaner, ui);
            deliver(args, &bytes, &told, ui)
        }
        Format::Json => {
            let memories = memories(&shelves, &mut cleaner)?;
            cleaner.tell(ui);
            let document =
                json!({ "project": context.place.project.id, "exported": context.now, "memories": memories });
            let text =
                serde_json::to_string_pretty(&document).map_err(|err| Failure::error(err.to_string()))?;
            let told =
                Told { n_files: memories.len(), left_out: export.left_out, redacted: cleaner.to_json() };
            deliver(args, format!("{text}\n").as_bytes(), &told, ui)
        }
        _ => write_folder(args, export, cleaner, ui),
    }
}

/// An archive is the user's own copy: nothing is left out, but it should not go on to others unseen.
fn warn_of_secrets(archive: &Archive, mut cleaner: Cleaner, ui: &Ui) {
    for item in &archive.items {
        cleaner.look(&item.path, &item.bytes);
    }
    if !cleaner.found.is_empty() {
        let secrets = count(cleaner.found.len(), "secret", "secrets");
        ui.warn(&format!("the archive is a whole copy and holds {secrets}: keep it to yourself"));
    }
}

/// Reads every file that we hold of the vaults.
fn collect(shelves: &[Shelf], ui: &Ui) -> Result<Export, Failure> {
    let mut export = Export { items: Vec::new(), left_out: Vec::new() };
    let mut progress = ui.progress();
    for shelf in shelves {
        let side = if shelf.is_user() { Side::User } else { Side::Project };
        let skipped = shelf.snapshot.skipped.iter();
        export.left_out.extend(skipped.map(|skipped| (skipped.path.clone(), skipped.why.to_string())));
        let paths = shelf.snapshot.memories.iter().map(|entry| entry.path.as_str());
        let total = shelf.snapshot.memories.len();
        for (n, path) in paths.chain([INDEX_PAGE]).enumerate() {
            progress.at(n, total);
            export.take(side, Area::Vault, shelf.vault.dir(), path);
        }
        for area in [Area::Archive, Area::Trash, Area::Conflicts, Area::Inbox] {
            let folder = area.folder().unwrap_or_default();
            let Ok(dir) = Dir::open(&shelf.vault.state_path().join(folder)) else { continue };
            let mut names = Vec::new();
            dir.for_each(|name, _| names.push(name.to_owned()))?;
            names.sort();
            names.iter().for_each(|name| export.take(side, area, &dir, name));
        }
    }
    Ok(export)
}

impl Export {
    fn take(&mut self, side: Side, area: Area, dir: &Dir, path: &str) {
        let is_name = path == INDEX_PAGE || MemoryPath::new(path).is_ok();
        match dir.read(path, MAX_MEMORY) {
            Ok(None) => {}
            Ok(Some(bytes)) if is_name => self.items.push(Item { side, area, path: path.to_owned(), bytes }),
            Ok(Some(_)) => self.left_out.push((path.to_owned(), "its name is none of ours".to_owned())),
            Err(err) => self.left_out.push((path.to_owned(), err.to_string())),
        }
    }
}

fn memories(shelves: &[Shelf], cleaner: &mut Cleaner) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    for shelf in shelves {
        for entry in &shelf.snapshot.memories {
            rows.push(as_json(&cleaner.memory(shelf.load(&entry.path)?), shelf.is_user()));
        }
    }
    Ok(rows)
}

fn as_json(loaded: &Loaded, is_user: bool) -> Value {
    let memory = &loaded.memory;
    json!({
        "name": memory.name,
        "path": loaded.path,
        "vault": if is_user { "user" } else { "project" },
        "type": memory.memory_type,
        "scope": memory.scope,
        "tier": memory.tier,
        "kind": memory.kind,
        "description": memory.description,
        "tags": memory.tags,
        "aliases": memory.aliases,
        "created": memory.created,
        "modified": loaded.modified(),
        "expires": memory.expires,
        "status": memory.status,
        "provenance": memory.provenance,
        "source": memory.source,
        "session": memory.session,
        "pinned": memory.pinned,
        "sha256": loaded.hash,
        "body": String::from_utf8_lossy(loaded.document.body()),
    })
}

/// Writes one file, whole and for its owner only, or prints it.
fn deliver(args: &Args, bytes: &[u8], told: &Told, ui: &mut Ui) -> Result<Outcome, Failure> {
    if args.path == Path::new("-") {
        ui.raw(bytes);
        return Ok(Outcome::Done);
    }
    let failed = |err: &dyn std::fmt::Display| {
        Failure::error(format!("could not write {}: {err}", args.path.display()))
    };
    let name =
        args.path.file_name().and_then(|name| name.to_str()).ok_or_else(|| failed(&"it is no file name"))?;
    let parent = args.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = parent.canonicalize().and_then(|parent| Dir::open(&parent)).map_err(|err| failed(&err))?;
    let taken = || failed(&"it exists").hint("`--force` replaces it");
    if !args.force && parent.stat(name).map_err(|err| failed(&err))?.is_some() {
        return Err(taken());
    }
    let mut staged = parent.stage(bytes).map_err(|err| failed(&err))?;
    let published =
        if args.force { staged.rename_over(&parent, name) } else { staged.rename_new(&parent, name) };
    match published {
        Err(err) if err.kind() == std::io::ErrorKind::AlreadyExists => return Err(taken()),
        published => published.and_then(|()| parent.sync()).map_err(|err| failed(&err))?,
    }
    tell(args, told, Some(ContentHash::of(bytes)), ui);
    Ok(Outcome::Done)
}

/// Writes the files of one vault into a directory that is empty or new.
fn write_folder(args: &Args, export: Export, mut cleaner: Cleaner, ui: &mut Ui) -> Result<Outcome, Failure> {
    let failed = |err: &dyn std::fmt::Display| {
        Failure::error(format!("could not write {}: {err}", args.path.display()))
    };
    if args.path == Path::new("-") {
        return Err(Failure::error("this format is a directory").hint("`export archive -` prints one file"));
    }
    let path = std::path::absolute(&args.path).map_err(|err| failed(&err))?;
    let target = Dir::ensure(&path).map_err(|err| failed(&err))?;
    let mut is_empty = true;
    target.for_each(|_, _| is_empty = false).map_err(|err| failed(&err))?;
    if !is_empty && !args.force {
        return Err(failed(&"the directory is not empty")
            .hint("`--force` replaces files of the same name and leaves the others"));
    }
    let side = if args.user { Side::User } else { Side::Project };
    let (mut here, there): (Vec<Item>, Vec<Item>) =
        export.items.into_iter().filter(|item| item.area == Area::Vault).partition(|item| item.side == side);
    let n_files = here.len();
    let mut progress = ui.progress();
    for (n, item) in here.iter_mut().enumerate() {
        progress.at(n, n_files);
        let bytes = cleaner.bytes(&item.path, std::mem::take(&mut item.bytes));
        let written = target
            .ensure_folder(&item.path)
            .and_then(|(folder, name)| folder.stage(&bytes)?.rename_over(&folder, name));
        written.map_err(|err| failed(&format!("{}: {err}", item.path)))?;
    }
    target.sync().map_err(|err| failed(&err))?;
    drop(progress);
    if there.iter().any(|item| item.path != INDEX_PAGE) && !args.user {
        ui.say("the user's own memories are not in it: `--user` exports them");
    }
    cleaner.tell(ui);
    tell(args, &Told { n_files, left_out: export.left_out, redacted: cleaner.to_json() }, None, ui);
    Ok(Outcome::Done)
}

fn tell(args: &Args, told: &Told, hash: Option<ContentHash>, ui: &mut Ui) {
    if ui.is_json() {
        let left: Vec<Value> =
            told.left_out.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect();
        let path = args.path.display().to_string();
        let (n_files, redacted) = (told.n_files, &told.redacted);
        ui.json(&json!({
            "path": path, "files": n_files, "sha256": hash, "left_out": left, "redacted": redacted,
        }));
    } else {
        ui.line(&format!("{} files to {}", told.n_files, args.path.display()));
    }
}
