//! What each effect of a wrap does. Every one can be repeated: what is there already stays as it is.

use jiff::Timestamp;
use memdir_core::change::Edit;
use memdir_core::extract::Said;
use memdir_core::memory::{Document, Draft, MemoryName, MemoryType, Value};
use memdir_core::page::{ProjectRow, router};
use memdir_core::status::{STATUS, Status, with_doc_sync};
use memdir_core::text::count;
use memdir_core::tiers::Verdict;
use memdir_core::transcript::Role;
use memdir_store::extract::Progress;
use memdir_store::place::{Registry, RegistryError};
use memdir_store::standing::Replaced;
use memdir_store::vault::Vault;

use super::{State, Work};
use crate::cli::{journal as journal_cli, overview, writing};
use crate::context::Context;
use crate::failure::Failure;
use crate::work::extract::{self, Fate};

/// How often a document is read again because somebody else was faster.
const ATTEMPTS: usize = 3;
/// Why the gates let a status in: it is no knowledge, but where to begin.
const KEPT: &str = "kept up to date by memdir wrap";

type Done = Result<(State, String), Failure>;

/// Writes the entry.
pub(super) fn journal(work: &Work, context: &Context) -> Done {
    let scanner = &context.gate()?.scanner;
    let added = work.journal.write(&work.planned, context.now, scanner).map_err(journal_cli::failure)?;
    let state = if added.was_there { State::Unchanged } else { State::Done };
    Ok((state, work.planned.entry.name.clone()))
}

/// Brings the block of STATUS.md up to date.
pub(super) fn status(work: &Work, context: &Context) -> Done {
    let Some(root) = work.standing.root() else {
        return Ok((State::Skipped, "there is no project directory".to_owned()));
    };
    let told =
        |err: &dyn std::error::Error| Failure::error(format!("{}: {err}", root.join(STATUS).display()));
    for _ in 0..ATTEMPTS {
        let base = work.standing.read(STATUS).map_err(|err| told(&err))?;
        if base.is_none() && is_idea(work, context) {
            return Ok((State::Skipped, format!("an idea needs no {STATUS}")));
        }
        let text = work.status.write_into(base.as_deref().unwrap_or_default()).map_err(|err| told(&err))?;
        if base.as_deref() == Some(&text) {
            return Ok((State::Unchanged, work.status.words()));
        }
        if work.standing.replace(STATUS, base.as_deref(), &text).map_err(|err| told(&err))? == Replaced::Done
        {
            return Ok((State::Done, work.status.words()));
        }
    }
    Err(Failure::error(format!("{STATUS} is changed by somebody else all the time")))
}

fn is_idea(work: &Work, context: &Context) -> bool {
    work.standing.signals(0, context.env.search_path.as_deref()).is_idea
}

/// Brings the memories up to date that say where projects stand.
pub(super) fn memory(work: &Work, context: &Context) -> Done {
    let status = Status { day: None, ..work.status.clone() };
    let body = format!(
        "As of {}: {}\n\n{}",
        work.today,
        work.planned.entry.description,
        status.markdown().trim_end()
    );
    let description = format!("Where {} stands: {}", work.name, work.status.words());
    let own = keep(work.vault()?, "project-status", MemoryType::Project, &description, &body, work, context)?;
    if context.place.explicit {
        return Ok(own);
    }
    let user = context.create_user()?;
    let body =
        format!("Which projects there are, and where each stands.\n\n{}", router(&rows(work, context)?));
    let description = "All projects: status, last activity, tier of documentation";
    let table = keep(&user, "reference-projects", MemoryType::Reference, description, &body, work, context)?;
    let state = if own.0 == State::Unchanged { table.0 } else { own.0 };
    Ok((state, format!("{}, {}", own.1, table.1)))
}

/// Makes the rows of the table of projects. This project's row tells what the wrap plans: the others' effects may still
/// be on their way.
fn rows(work: &Work, context: &Context) -> Result<Vec<ProjectRow>, Failure> {
    let mut rows: Vec<ProjectRow> = Vec::new();
    for other in overview::all(context, false)? {
        let mut row = other.row(context);
        if other.project.id == work.project {
            row.status = work.status.words();
            row.last_activity = Some(work.today);
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Writes a memory of kind status, or brings it up to date, unless it says so already.
fn keep(
    vault: &Vault,
    name: &str,
    memory_type: MemoryType,
    description: &str,
    body: &str,
    work: &Work,
    context: &Context,
) -> Done {
    let name = MemoryName::new(name)?;
    let path = name.path();
    let unreadable = |err| Failure::error(format!("could not read `{name}.md`: {err}"));
    let edit = match vault.load(&path).map_err(unreadable)? {
        None => {
            let draft = Draft {
                kind: Some("status".to_owned()),
                created: Some(context.now),
                modified: Some(context.now),
                session: work.why.session.clone(),
                provenance: Some(work.why.provenance()?),
                body: body.to_owned(),
                layout: context.place.settings.layout,
                ..Draft::new(name.clone(), memory_type, description)
            };
            Edit::Create { path, text: draft.render() }
        }
        Some(loaded) => {
            let document = updated(&loaded.document, description, body)?;
            if document.bytes() == loaded.document.bytes() {
                return Ok((State::Unchanged, name.to_string()));
            }
            let document = writing::touch(document, context, work.why.session.as_deref())?;
            let (base, text) = (loaded.document.bytes().to_owned(), document.bytes().to_owned());
            Edit::Replace { path, base, text }
        }
    };
    let mut set = work.why.change_set("wrap", vec![edit])?;
    set.force = Some(KEPT.to_owned());
    context.gate()?.look_ahead(&set);
    let committed = context.writer(vault)?.commit(&set)?;
    let waits = if committed.waits() { " (waits: memdir review)" } else { "" };
    Ok((State::Done, format!("{name}{waits}")))
}

fn updated(document: &Document, description: &str, body: &str) -> Result<Document, Failure> {
    let document = writing::set(document.clone(), "description", &Value::Text(description.to_owned()))?;
    let body = writing::as_body(body);
    if document.body() == body.as_bytes() {
        return Ok(document);
    }
    document.with_body(body.as_bytes()).map_err(|err| writing::cannot_edit(&err))
}

/// Puts what the user said and what may last into the inbox.
pub(super) fn facts(work: &Work, context: &Context) -> Done {
    let gate = context.gate()?;
    let said = |(at, text): &(Option<Timestamp>, String)| Said::new(Role::User, *at, &gate.redacted(text).0);
    let window: Vec<Said> = work.messages.iter().map(said).collect();
    let (found, found_by) = extract::find(&window, &[], context)?;
    let session = work.why.session.as_deref();
    let mut progress = Progress::of(&context.place, session.unwrap_or_default());
    let (mut n_proposed, mut n_refused) = (0, 0);
    for candidate in found {
        let evidence = candidate.evidence_hash(session.unwrap_or_default());
        if progress.has_made(evidence) {
            continue;
        }
        match extract::deliver(&candidate, found_by, session, context)? {
            Fate::Refused(_) => n_refused += 1,
            Fate::Waits { is_new: false } => {}
            Fate::Waits { is_new: true } | Fate::Saved(_) => n_proposed += 1,
        }
        progress.made(evidence);
    }
    progress.save().map_err(|err| Failure::from_chain(&err))?;
    if n_proposed + n_refused == 0 {
        return Ok((State::Unchanged, "nothing new that may last".to_owned()));
    }
    let refused = if n_refused > 0 { format!(", {n_refused} not worth it") } else { String::new() };
    let state = if n_proposed > 0 { State::Done } else { State::Unchanged };
    Ok((state, format!("{} for memdir review{refused}", count(n_proposed, "candidate", "candidates"))))
}

/// Sets the dates of the documents that were brought up to date, and records them with the tier.
pub(super) fn doc_sync(work: &Work, context: &Context) -> Done {
    let mut dated = Vec::new();
    let mut changed = 0;
    for document in work.synced.iter().filter(|document| is_document(document)) {
        let told = |err: &dyn std::error::Error| Failure::error(format!("{document}: {err}"));
        let Some(base) = work.standing.read(document).map_err(|err| told(&err))? else { continue };
        if dated.contains(document) || memdir_core::status::doc_sync(&base).is_none() {
            continue;
        }
        if let Some(text) = with_doc_sync(&base, work.today) {
            let replaced = work.standing.replace(document, Some(&base), &text).map_err(|err| told(&err))?;
            changed += usize::from(replaced == Replaced::Done);
        }
        dated.push(document.clone());
    }
    let undated: Vec<&str> =
        work.named.iter().filter(|document| !dated.contains(document)).map(String::as_str).collect();
    let has_status =
        work.standing.read(STATUS).ok().flatten().is_some_and(|bytes| Status::read(&bytes).is_some());
    dated.extend(has_status.then(|| STATUS.to_owned()));
    let changed = usize::from(record(&dated, work, context)?) + changed;
    let state = if changed > 0 { State::Done } else { State::Unchanged };
    let mut detail = if dated.is_empty() { "no document has a date".to_owned() } else { dated.join(", ") };
    if !undated.is_empty() {
        detail.push_str(&format!("; no line `Doc Sync: YYYY-MM-DD` in {}", undated.join(", ")));
    }
    Ok((state, detail))
}

/// Says whether a path names a document inside the project; the status has its date in its block.
fn is_document(path: &str) -> bool {
    path.ends_with(".md") && path != STATUS && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Keeps dates and tier in the registry; says whether that was news.
fn record(dated: &[String], work: &Work, context: &Context) -> Result<bool, Failure> {
    let n_sessions = work.journal.files().map_or(0, |files| files.len());
    let signals = work.standing.signals(n_sessions, context.env.search_path.as_deref());
    let recorded = Registry::update(&context.place.home, |registry| {
        let id = &work.project;
        let known = registry.get(id).cloned().ok_or_else(|| RegistryError::Unknown(id.clone()))?;
        let mut project = known.clone();
        let locked = project.locked_tier();
        project.set_doc_tier(Some(Verdict::of(&signals, locked).tier), locked.is_some());
        dated.iter().for_each(|document| project.set_doc_sync(document, work.today));
        let is_news = project != known;
        registry.put(project);
        Ok::<bool, RegistryError>(is_news)
    });
    Ok(recorded.map_err(|err| Failure::from_chain(&err))?.0)
}
