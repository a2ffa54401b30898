//! Reads what other coding agents keep of their own.

use std::path::{Path, PathBuf};

use memdir_core::exchange::{Intake, Page, from_agents, from_codex, from_cursor, from_gemini};
use memdir_core::memory::{Document, INDEX_PAGE, MemoryType};
use memdir_store::disk::Dir;
use memdir_store::exchange::{Folder, LeftOut};
use memdir_store::vault::MAX_MEMORY;

use super::{Origin, Source};
use crate::context::{Context, Shelf};
use crate::failure::Failure;
use crate::ui::Ui;

/// The page that older versions of Cursor had.
const OLD_RULES: &str = ".cursorrules";

/// Reads a file or directory of an agent. What memdir wrote there itself is passed over if the vault has it.
pub(super) fn read(path: &Path, from: Origin, context: &Context, ui: &Ui) -> Result<Source, Failure> {
    let mut source = Source::default();
    let pages = pages(path, from, &mut source, ui)?;
    let intake = match from {
        Origin::Codex => from_codex(&pages),
        Origin::Gemini => from_gemini(&pages),
        Origin::Cursor => from_cursor(&pages),
        _ => pages.iter().fold(Intake::default(), |mut all, (path, text)| {
            let intake = from_agents(path, text);
            all.files.extend(intake.files);
            all.ours.extend(intake.ours);
            all.left_out.extend(intake.left_out);
            all
        }),
    };
    let shelf = context.open_project()?.map(Shelf::new).transpose()?;
    let left = intake.left_out.into_iter().map(|(path, why)| LeftOut { path, why: why.to_owned() });
    source.left_out.extend(left);
    for file in intake.files {
        let is_here = || {
            let shelf = shelf.as_ref();
            shelf.is_some_and(|shelf| shelf.snapshot.memories.iter().any(|entry| entry.path == file.path))
        };
        if intake.ours.contains(&file.path) && is_here() {
            let why = "memdir wrote it there, and the vault has it".to_owned();
            source.left_out.push(LeftOut { path: file.origin, why });
            continue;
        }
        let document = Document::parse(&file.bytes);
        let is_users = document.text("type") == Some(MemoryType::User.as_str());
        (if is_users { &mut source.user } else { &mut source.project }).files.push(file);
    }
    Ok(source)
}

fn pages(path: &Path, from: Origin, source: &mut Source, ui: &Ui) -> Result<Vec<Page>, Failure> {
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    let inner = match from {
        Origin::Codex => "memories",
        Origin::Gemini => "memory",
        Origin::Cursor => ".cursor/rules",
        _ => "AGENTS.md",
    };
    if path.is_file() {
        found.extend(one(path)?);
    } else if from == Origin::Agents {
        found.extend(one(&path.join(inner))?);
    } else {
        if from == Origin::Cursor && path.join(OLD_RULES).is_file() {
            found.extend(one(&path.join(OLD_RULES))?);
        }
        let below = path.join(inner);
        let dir = if below.is_dir() { below } else { path.to_owned() };
        if found.is_empty() || dir != path {
            found.extend(folder(&dir, from, source, ui)?);
        }
    }
    let mut pages = Vec::with_capacity(found.len());
    for (path, bytes) in found {
        match String::from_utf8(bytes) {
            Ok(text) => pages.push((path, text)),
            Err(_) => source.left_out.push(LeftOut { path, why: "it is not UTF-8".to_owned() }),
        }
    }
    Ok(pages)
}

fn folder(dir: &Path, from: Origin, source: &mut Source, ui: &Ui) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut progress = ui.progress();
    let ending = if from == Origin::Cursor { ".mdc" } else { ".md" };
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let folder = Folder::read_ending(&dir, ending, |done, total| progress.at(done, total))
        .map_err(|err| Failure::from_chain(&err))?;
    source.left_out.extend(folder.left_out);
    let page = folder.index_page.map(|page| (INDEX_PAGE.to_owned(), page));
    Ok(folder.files.into_iter().chain(page).collect())
}

/// Reads one file that the user named, also through a link.
fn one(path: &Path) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::error(format!("could not import {}: {why}", path.display()));
    let shown = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| failed(&"it is no file"))?;
    let real: PathBuf = path.canonicalize().map_err(|err| failed(&err))?;
    let name = real.file_name().and_then(|name| name.to_str()).ok_or_else(|| failed(&"it is no file"))?;
    let parent = real.parent().ok_or_else(|| failed(&"it is no file"))?;
    let bytes =
        Dir::open(parent).map_err(|err| failed(&err))?.read(name, MAX_MEMORY).map_err(|err| failed(&err))?;
    Ok(vec![(shown.to_owned(), bytes.ok_or_else(|| failed(&"there is no such file"))?)])
}
