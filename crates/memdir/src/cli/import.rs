//! `memdir import`: takes over memories from another directory or program, as one change.

mod hosts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use memdir_core::change::{Author, ChangeSet, Edit, Surface};
use memdir_core::exchange::{Dialect, Fate, Incoming, Note, Planned, Standing, adapt, plan_import};
use memdir_core::memory::{INDEX_PAGE, MemoryName, MemoryPath, Provenance};
use memdir_core::page::own_lines;
use memdir_core::text::count;
use memdir_store::disk::Dir;
use memdir_store::exchange::{Archive, Folder, LeftOut, Side};
use memdir_store::history::{Area, ChangeId};
use memdir_store::vault::{Copy, MAX_MEMORY, Vault};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// No archive is larger than the record of the change that brings it in.
const MAX_ARCHIVE: u64 = 1 << 30;

/// Take over memories from another directory or program
///
/// Everything comes in as one change that `memdir undo` takes back. Nothing is overwritten: what is there
/// already is passed over, and another text under a taken name gets a name of its own.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What it is
    from: Origin,
    /// The directory, or the file of an archive
    path: PathBuf,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Origin {
    /// A memory directory of Claude Code, or the directory around it
    ClaudeCode,
    /// Codex's `memories` directory, or the directory around it
    Codex,
    /// A private memory directory of Gemini CLI, or a GEMINI.md
    Gemini,
    /// Cursor's rules: `.cursor/rules`, the project around it, or one file
    Cursor,
    /// An AGENTS.md, or the directory it is in
    Agents,
    /// A folder of Obsidian notes
    Obsidian,
    /// A folder of basic-memory notes
    BasicMemory,
    /// A file that `memdir export archive` wrote
    Archive,
}

impl Origin {
    fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Agents => "agents",
            Self::Obsidian => "obsidian",
            Self::BasicMemory => "basic-memory",
            Self::Archive => "archive",
        }
    }
}

/// What is to be imported.
#[derive(Debug, Default)]
struct Source {
    project: Batch,
    user: Batch,
    left_out: Vec<LeftOut>,
    /// Text on the source's index page that is no memory.
    own_lines: Vec<String>,
}

/// What goes into one vault.
#[derive(Debug, Default)]
struct Batch {
    files: Vec<Incoming>,
    copies: Vec<Copy>,
    page: Option<Vec<u8>>,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.copies.is_empty() && self.page.is_none()
    }
}

/// What became of an import.
#[derive(Debug, Default)]
pub(super) struct Report {
    planned: Vec<Planned>,
    changes: Vec<ChangeId>,
    n_copies: usize,
}

impl Report {
    fn count(&self, wanted: impl Fn(&Fate) -> bool) -> usize {
        self.planned.iter().filter(|planned| wanted(&planned.fate)).count()
    }

    /// Returns how many memories came in.
    pub(super) fn n_entered(&self) -> usize {
        self.count(|fate| matches!(fate, Fate::Enters | Fate::Renamed))
    }

    /// Returns how many files stayed out.
    pub(super) fn n_refused(&self) -> usize {
        self.count(|fate| matches!(fate, Fate::Refused(_)))
    }
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut source = read(args, context, ui)?;
    if context.place.explicit {
        // Everything happens inside the vault that was named.
        let user = std::mem::take(&mut source.user);
        source.project.files.extend(user.files);
        source.project.copies.extend(user.copies);
    }
    let reason = format!("import {} {}", args.from.word(), args.path.display());
    let mut report = Report::default();
    for (batch, is_user) in [(source.project, false), (source.user, true)] {
        if batch.is_empty() {
            continue;
        }
        let vault = match (args.dry_run, is_user) {
            (true, false) => context.open_project()?,
            (true, true) => context.open_user()?,
            (false, false) => Some(context.create_project(ui)?),
            (false, true) => Some(context.create_user()?),
        };
        bring_in(batch, vault.as_ref(), args.dry_run, &reason, context, &mut report)?;
    }
    print(args, &report, &source.left_out, &source.own_lines, ui);
    let is_idle = report.planned.is_empty() && report.n_copies == 0;
    Ok(if is_idle { Outcome::Nothing } else { Outcome::Done })
}

/// Takes over the memories of a directory of Claude Code into `vault`; what doctor does with what was left behind.
pub(super) fn adopt(dir: &Path, vault: &Vault, context: &Context, ui: &Ui) -> Result<Report, Failure> {
    let source = read_folder(dir, Origin::ClaudeCode, ui)?;
    let mut report = Report::default();
    let reason = format!("took over {}", dir.display());
    bring_in(source.project, Some(vault), false, &reason, context, &mut report)?;
    Ok(report)
}

fn bring_in(
    batch: Batch,
    vault: Option<&Vault>,
    dry_run: bool,
    reason: &str,
    context: &Context,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut writer = match vault.filter(|_| !dry_run) {
        Some(vault) => Some(context.writer(vault)?),
        None => None,
    };
    let standing = vault.map(standing).transpose()?.unwrap_or_default();
    let (planned, edits) = plan_import(batch.files, &standing, &context.gate()?.scanner);
    report.n_copies += batch.copies.len();
    report.planned.extend(planned);
    let Some(writer) = &mut writer else { return Ok(()) };
    let committed = writer.restore(&change_set(reason, edits), &batch.copies, batch.page.as_deref())?;
    report.changes.extend(committed.change);
    Ok(())
}

fn change_set(reason: &str, edits: Vec<Edit>) -> ChangeSet {
    ChangeSet {
        author: Author::Import,
        by: Surface::Cli,
        provenance: Provenance::Import,
        reason: reason.to_owned(),
        session: None,
        force: None,
        edits,
    }
}

/// Returns the version of each memory that the vault holds.
fn standing(vault: &Vault) -> Result<Standing, Failure> {
    let unreadable = |err: &dyn std::fmt::Display| {
        Failure::error(format!("could not read the vault {}: {err}", vault.path().display()))
    };
    let snapshot = vault.snapshot().map_err(|err| unreadable(&err))?;
    let mut standing = BTreeMap::new();
    for entry in &snapshot.memories {
        if let Some(loaded) = snapshot.load(&entry.path).map_err(|err| unreadable(&err))? {
            standing.insert(entry.path.clone(), loaded.hash);
        }
    }
    Ok(standing)
}

fn read(args: &Args, context: &Context, ui: &Ui) -> Result<Source, Failure> {
    match args.from {
        Origin::Archive => read_archive(&args.path),
        origin @ (Origin::Codex | Origin::Gemini | Origin::Cursor | Origin::Agents) => {
            hosts::read(&args.path, origin, context, ui)
        }
        origin => read_folder(&args.path, origin, ui),
    }
}

fn read_folder(path: &Path, from: Origin, ui: &Ui) -> Result<Source, Failure> {
    let (dir, beside) = match from {
        Origin::ClaudeCode => memory_dir(path),
        _ => (path.to_owned(), None),
    };
    let mut progress = ui.progress();
    let folder = Folder::read(&dir, |done, total| progress.at(done, total))
        .map_err(|err| Failure::from_chain(&err))?;
    let mut source = Source { left_out: folder.left_out, ..Source::default() };
    let notes =
        |files: Vec<(String, Vec<u8>)>| files.into_iter().map(|(path, bytes)| Note { path, bytes }).collect();
    source.project.files = match from {
        Origin::Obsidian => adapt(notes(folder.files), Dialect::Obsidian),
        Origin::BasicMemory => adapt(notes(folder.files), Dialect::BasicMemory),
        _ => as_they_are(folder.files, &mut source.left_out),
    };
    if from == Origin::ClaudeCode {
        let pages = [folder.index_page, beside];
        source.own_lines = pages.iter().flatten().flat_map(|page| own_lines(page)).collect();
    }
    Ok(source)
}

/// Finds the memory directory in what the user named, and a page beside it, as very old versions had it.
fn memory_dir(path: &Path) -> (PathBuf, Option<Vec<u8>>) {
    let inner = path.join("memory");
    if !inner.is_dir() {
        return (path.to_owned(), None);
    }
    let page = Dir::open(path).ok().and_then(|dir| dir.read(INDEX_PAGE, MAX_MEMORY).ok().flatten());
    (inner, page)
}

/// Keeps names and bytes; files in folders come to the top, and a name that no vault can have is made into one.
fn as_they_are(files: Vec<(String, Vec<u8>)>, left_out: &mut Vec<LeftOut>) -> Vec<Incoming> {
    let mut incoming = Vec::with_capacity(files.len());
    for (origin, bytes) in files {
        let name = origin.rsplit('/').next().unwrap_or(&origin);
        let path = MemoryPath::new(name)
            .ok()
            .or_else(|| Some(MemoryName::from_words(name.strip_suffix(".md")?)?.path()));
        match path {
            Some(path) => incoming.push(Incoming { origin, path, bytes }),
            None => left_out.push(LeftOut { path: origin, why: "its name cannot be a memory's".to_owned() }),
        }
    }
    incoming
}

fn read_archive(path: &Path) -> Result<Source, Failure> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::error(format!("could not import {}: {why}", path.display()));
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| failed(&"it is no file"))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = parent.canonicalize().and_then(|parent| Dir::open(&parent)).map_err(|err| failed(&err))?;
    let bytes = parent.read(name, MAX_ARCHIVE).map_err(|err| failed(&err))?;
    let bytes = bytes.ok_or_else(|| failed(&"there is no such file"))?;
    let archive = Archive::from_bytes(&bytes).map_err(|err| {
        failed(&err).hint("nothing was imported; `memdir export archive FILE` writes what can be")
    })?;
    let mut source = Source::default();
    for item in archive.items {
        let batch = if item.side == Side::User { &mut source.user } else { &mut source.project };
        match (item.area, MemoryPath::new(&item.path)) {
            (Area::Vault, Ok(path)) => {
                batch.files.push(Incoming { origin: item.path, path, bytes: item.bytes });
            }
            (Area::Vault, Err(_)) => batch.page = Some(item.bytes),
            (area, _) => batch.copies.push(Copy { area, name: item.path, bytes: item.bytes }),
        }
    }
    Ok(source)
}

fn print(args: &Args, report: &Report, left_out: &[LeftOut], own_lines: &[String], ui: &mut Ui) {
    if ui.is_json() {
        ui.json(&as_json(args, report, left_out, own_lines));
        return;
    }
    let unusual = report.planned.iter().filter(|planned| args.dry_run || is_unusual(&planned.fate));
    let rows: Vec<Vec<String>> = unusual.map(row).collect();
    let columns = [
        Column::new("memory").tone(Tone::Strong),
        Column::new("what happens"),
        Column::new("from").giving_way(),
    ];
    ui.table(&columns, &rows);
    for LeftOut { path, why } in left_out {
        ui.warn(&format!("left out {path}: {why}"));
    }
    if !own_lines.is_empty() {
        ui.warn(&format!(
            "{INDEX_PAGE} there has {} lines of its own, which are not imported:",
            own_lines.len()
        ));
        own_lines.iter().for_each(|line| ui.say(&format!("  {line}")));
    }
    let verb = if args.dry_run { "would import" } else { "imported" };
    let same = report.count(|fate| *fate == Fate::Same);
    let mut line = format!("{verb} {}", count(report.n_entered(), "memory", "memories"));
    for (n, what) in [
        (same, "were there already"),
        (report.n_refused() + left_out.len(), "stay out"),
        (report.n_copies, "copies beside the vault"),
    ] {
        if n > 0 {
            line.push_str(&format!(", {n} {what}"));
        }
    }
    ui.line(&line);
}

fn is_unusual(fate: &Fate) -> bool {
    matches!(fate, Fate::Renamed | Fate::Refused(_))
}

fn row(planned: &Planned) -> Vec<String> {
    let fate = match &planned.fate {
        Fate::Enters => "new".to_owned(),
        Fate::Renamed => "new, under a name that is free".to_owned(),
        Fate::Same => "there already".to_owned(),
        Fate::Refused(why) => format!("stays out: {why}"),
    };
    vec![planned.path.stem().to_owned(), fate, planned.origin.clone()]
}

fn as_json(args: &Args, report: &Report, left_out: &[LeftOut], own_lines: &[String]) -> Value {
    let file = |planned: &Planned| {
        let (fate, why) = match &planned.fate {
            Fate::Enters => ("new", None),
            Fate::Renamed => ("renamed", None),
            Fate::Same => ("same", None),
            Fate::Refused(why) => ("refused", Some(why)),
        };
        json!({ "from": planned.origin, "name": planned.path.stem(), "fate": fate, "why": why })
    };
    let left = |left: &LeftOut| json!({ "path": left.path, "why": left.why });
    json!({
        "from": args.from.word(),
        "dry_run": args.dry_run,
        "imported": report.n_entered(),
        "copies": report.n_copies,
        "changes": report.changes,
        "files": report.planned.iter().map(file).collect::<Vec<_>>(),
        "left_out": left_out.iter().map(left).collect::<Vec<_>>(),
        "own_lines": own_lines,
    })
}
