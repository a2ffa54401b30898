//! What a session taught becomes candidates in the inbox, or memories: after a turn, and at the end of a session for what
//! nobody looked at yet.
//!
//! ```text
//!   cursor ─▶ new messages ─▶ turns in which the agent wrote memories left out ─▶ Extractor ─▶ candidates
//!      ▲                                                                          (model, rules)  │
//!      └── moved afterwards, also when nothing was wanted ◀── told · inbox · vault ◀── gates ◀────┘
//! ```
//!
//! What rules find waits in the inbox as supplementary. What a model finds goes through the same door as everything else: in,
//! or into the inbox where a tool said it or the user wants to be asked. Done twice, nothing is made twice: a candidate is
//! known by the words it rests on. `memdir extract`, `wrap` and the MCP server call the same functions.

use std::time::Instant;

use memdir_core::change::{Author, ChangeSet, Edit, Surface};
use memdir_core::extract::{Around, Candidate, Extractor, FoundBy, Held, Rules, Said, without_written_turns};
use memdir_core::memory::{Document, Draft, MemoryType, Tier, Value};
use memdir_core::policy::{self, Refusal};
use memdir_mind::model::Opened;
use memdir_store::costs::Job;
use memdir_store::extract::{Progress, Window};
use memdir_store::gate::Gate;
use memdir_store::queue;
use memdir_store::session::Session;
use memdir_store::team::has_team;
use memdir_store::transcript::SessionFile;
use memdir_store::vault::{CommitError, Committed, SAID, Vault};

use super::{Subject, mind};
use crate::asking::note_free;
use crate::cli::writing;
use crate::context::{Context, unreadable_state};
use crate::failure::Failure;
use crate::ui::Ui;

/// Why what rules found waits.
pub(crate) const BY_RULES: &str = "rules found it in what was said; nothing is saved without your word";
/// In a vault with more memories only their descriptions are compared; the door compares all of them again.
const MAX_COMPARED: usize = 2_000;
/// The kind of memories that `wrap` keeps up to date.
const STATUS: &str = "status";
/// As much of a quotation is kept with a candidate, in characters.
const MAX_QUOTE: usize = 300;

/// When a session is looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// The agent has answered: only every so many turns, as the user likes.
    TurnEnd,
    /// The session is over: whatever is left.
    SessionEnd,
}

/// What became of a candidate.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It is a memory now.
    Saved(Committed),
    /// It waits in the inbox; `is_new` if it did not wait there already.
    Waits { is_new: bool },
    /// A gate is against it.
    Refused(Vec<Refusal>),
}

/// Looks through what is new in a session.
pub(super) fn run(
    subject: &Subject,
    job: &queue::Job,
    when: When,
    context: &Context,
    beat: &mut dyn FnMut(),
) -> Result<(), Failure> {
    let Some(file) = SessionFile::at(&subject.transcript, None) else { return Ok(()) };
    let mut progress = Progress::of(&context.place, &subject.id);
    let is_wanted = !job.remote && !ignores_memory(&subject.id, context);
    loop {
        beat();
        let window = read(&progress, &file, context)?;
        let waits = when == When::TurnEnd && window.n_turns() < context.place.settings.extract.every;
        if window.is_empty() || waits && is_wanted && !window.is_behind {
            return Ok(());
        }
        if is_wanted {
            learn(&window, &subject.id, &mut progress, context, beat)?;
        }
        move_behind(&mut progress, &window, &file, context)?;
        if !window.is_behind {
            return Ok(());
        }
    }
}

/// Reads what is new in a session's file.
pub(crate) fn read(
    progress: &Progress<'_>,
    file: &SessionFile,
    context: &Context,
) -> Result<Window, Failure> {
    let unreadable = |err| Failure::error(format!("could not read {}: {err}", file.path.display()));
    progress.read(file, &context.gate()?.scanner).map_err(unreadable)
}

/// Moves the cursor behind what was looked through.
pub(crate) fn move_behind(
    progress: &mut Progress<'_>,
    window: &Window,
    file: &SessionFile,
    context: &Context,
) -> Result<(), Failure> {
    progress.move_behind(window, file, context.now).map_err(|err| Failure::from_chain(&err))
}

/// Makes what a window teaches into candidates or memories, and returns what became of each that is new.
pub(crate) fn learn(
    window: &Window,
    session: &str,
    progress: &mut Progress<'_>,
    context: &Context,
    beat: &mut dyn FnMut(),
) -> Result<Vec<(Candidate, Fate)>, Failure> {
    let started = Instant::now();
    let messages = without_written_turns(window.messages.clone(), &vault_paths(context));
    let found = find_best(&messages, &window.earlier, Some(session), context, beat)?;
    let (found_by, left_receipt) = (found.by, found.left_receipt);
    let mut learned = Vec::new();
    for candidate in found.candidates {
        let evidence = candidate.evidence_hash(session);
        if progress.has_made(evidence) {
            continue;
        }
        let fate = deliver(&candidate, found_by, Some(session), context)?;
        progress.made(evidence);
        if let Fate::Saved(committed) = &fate {
            tell(session, committed, context);
        }
        learned.push((candidate, fate));
    }
    if !left_receipt && !messages.is_empty() {
        let kept = learned.iter().filter(|(_, fate)| !matches!(fate, Fate::Refused(_)));
        let mems: Vec<String> = kept.map(|(candidate, _)| candidate.name.to_string()).collect();
        note_free(Job::Extract, Some(session), started, &mems, context);
    }
    Ok(learned)
}

/// Candidates, and who found them.
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) by: FoundBy,
    /// Whether a model was asked, so that there is a receipt.
    left_receipt: bool,
}

/// Finds candidates by the model that the user configured; by rules where there is none, or where it does not answer.
pub(crate) fn find_best(
    window: &[Said],
    earlier: &[Said],
    session: Option<&str>,
    context: &Context,
    beat: &mut dyn FnMut(),
) -> Result<Found, Failure> {
    let mind::Found { candidates, left_receipt } = mind::extract(window, session, context, beat)?;
    let (candidates, by) = match candidates {
        Some(found) => (found, FoundBy::Model),
        None => find(window, earlier, context)?,
    };
    Ok(Found { candidates, by, left_receipt })
}

/// Finds candidates by this model; `None` if it does not answer.
pub(crate) fn find_by(
    model: Opened,
    window: &[Said],
    context: &Context,
) -> Result<Option<Vec<Candidate>>, Failure> {
    mind::extract_by(model, window, None, context, &mut || {}).map(|found| found.candidates)
}

/// Finds candidates in messages, and says who found them.
pub(crate) fn find(
    window: &[Said],
    earlier: &[Said],
    context: &Context,
) -> Result<(Vec<Candidate>, FoundBy), Failure> {
    let now = context.now.to_zoned(context.zone.clone());
    let held = Holdings::of(context)?;
    let has_team_vault = has_team(&context.place.state_dir());
    let around = Around { now: &now, held: &held.held, aliases: &held.aliases, has_team_vault, earlier };
    let mut extractor = Rules(around);
    let found = extractor.extract(window, "").map_err(|err| Failure::from_chain(&err))?;
    Ok((found, extractor.found_by()))
}

/// The memories there are and what waits, as extraction compares them.
struct Holdings {
    held: Vec<Held>,
    aliases: Vec<(String, String)>,
}

impl Holdings {
    fn of(context: &Context) -> Result<Self, Failure> {
        let mut holdings = Self { held: Vec::new(), aliases: Vec::new() };
        for shelf in context.shelves()? {
            let memories = &shelf.snapshot.memories;
            for entry in memories {
                let name = entry.path.stem();
                let body = match memories.len() <= MAX_COMPARED {
                    true => shelf.snapshot.load(&entry.path).ok().flatten(),
                    false => None,
                };
                let body = body.map(|loaded| String::from_utf8_lossy(loaded.document.body()).into_owned());
                let memory = &entry.memory;
                // Where a project stands is told in the words of its last session, which teach nothing by that.
                let is_status = memory.kind.as_deref() == Some(STATUS);
                let (description, body) = match is_status {
                    true => ("", String::new()),
                    false => (memory.description.as_str(), body.unwrap_or_default()),
                };
                holdings.held.push(Held::memory(name, memory.memory_type, description, &body));
                holdings.aliases.extend(memory.aliases.iter().map(|alias| (alias.clone(), name.to_owned())));
            }
            holdings.take_waiting(&shelf.vault)?;
        }
        Ok(holdings)
    }

    fn take_waiting(&mut self, vault: &Vault) -> Result<(), Failure> {
        for proposal in vault.inbox().map_err(|err| unreadable_state(vault, &err))? {
            let (Some(path), Some(memory), Some(text)) =
                (proposal.path(), proposal.memory(), proposal.text())
            else {
                continue;
            };
            let document = Document::parse(text);
            let body = String::from_utf8_lossy(document.body());
            self.held.push(Held::waiting(path.stem(), memory.memory_type, &memory.description, &body));
        }
        Ok(())
    }
}

/// Puts a candidate where it belongs.
pub(crate) fn deliver(
    candidate: &Candidate,
    found_by: FoundBy,
    session: Option<&str>,
    context: &Context,
) -> Result<Fate, Failure> {
    let vault = context.vault_for(candidate.memory_type, &Ui::new(false, true))?;
    let set = ChangeSet {
        author: Author::Extraction,
        by: Surface::Hook,
        provenance: candidate.provenance,
        reason: "learned from a session".to_owned(),
        session: session.map(str::to_owned),
        force: None,
        edits: vec![edit(candidate, found_by, session, &vault, context)?],
    };
    context.gate()?.look_ahead(&set);
    let mut writer = context.writer(&vault)?;
    let done = match found_by {
        FoundBy::Rules => writer.propose(&set, BY_RULES),
        FoundBy::Model => writer.commit(&set),
    };
    match done {
        Ok(committed) if committed.waits() => Ok(Fate::Waits { is_new: committed.change.is_some() }),
        Ok(committed) => Ok(Fate::Saved(committed)),
        Err(CommitError::Refused(refusals)) => Ok(Fate::Refused(refusals)),
        Err(CommitError::Exists(name)) => Ok(Fate::Refused(vec![exists(&name)])),
        Err(err) => Err(err.into()),
    }
}

/// Asks the gates what they would say of a candidate.
pub(crate) fn objections(candidate: &Candidate, gate: &Gate) -> Vec<Refusal> {
    let evidence = gate.evidence(&candidate.body);
    policy::against(&candidate.body, candidate.memory_type, &gate.scanner, &evidence)
}

fn exists(name: &str) -> Refusal {
    Refusal {
        rule: "exists".into(),
        evidence: format!("memory `{name}` exists already"),
        destination: format!("update it: memdir edit {name}"),
        question: None,
        can_force: false,
    }
}

/// Makes the edit: a new memory, or another text for the one that has its name.
fn edit(
    candidate: &Candidate,
    found_by: FoundBy,
    session: Option<&str>,
    vault: &Vault,
    context: &Context,
) -> Result<Edit, Failure> {
    let path = candidate.name.path();
    let unreadable = |err| Failure::error(format!("could not read `{}.md`: {err}", candidate.name));
    let known = vault.load(&path).map_err(unreadable)?;
    let document = match &known {
        Some(loaded) => {
            let document =
                writing::set(loaded.document.clone(), "description", &candidate.description.clone().into())?;
            let body = writing::as_body(&candidate.body);
            let document = document.with_body(body.as_bytes()).map_err(|err| writing::cannot_edit(&err))?;
            writing::touch(document, context, session)?
        }
        None => Document::parse(&draft(candidate, session, context).render()),
    };
    let document = match found_by {
        FoundBy::Rules => supplementary(document, candidate)?,
        FoundBy::Model => document,
    };
    let text = document.bytes().to_owned();
    Ok(match known {
        Some(loaded) => Edit::Replace { path, base: loaded.document.bytes().to_owned(), text },
        None => Edit::Create { path, text },
    })
}

fn draft(candidate: &Candidate, session: Option<&str>, context: &Context) -> Draft {
    let is_users = candidate.memory_type == MemoryType::User && !context.place.explicit;
    Draft {
        scope: candidate.scope,
        kind: candidate.kind.clone(),
        created: Some(context.now),
        modified: Some(context.now),
        session: session.map(str::to_owned),
        provenance: Some(candidate.provenance),
        origin_project: is_users.then(|| context.place.project.id.to_string()),
        body: candidate.body.clone(),
        layout: context.place.settings.layout,
        ..Draft::new(candidate.name.clone(), candidate.memory_type, candidate.description.clone())
    }
}

/// Marks what a person has not confirmed, and quotes what it rests on for who decides about it.
fn supplementary(document: Document, candidate: &Candidate) -> Result<Document, Failure> {
    let quotes = candidate.evidence.iter().map(|evidence| {
        let line: Vec<&str> = evidence.quote.split_whitespace().collect();
        line.join(" ").chars().take(MAX_QUOTE).collect::<String>()
    });
    let document = writing::set(document, "tier", &Tier::Supplementary.as_str().into())?;
    writing::set(document, SAID, &Value::list(quotes))
}

/// Leaves word for the session which files were written; it is told at its next prompt.
pub(crate) fn tell(session: &str, committed: &Committed, context: &Context) {
    let written = committed.written.iter().filter(|written| !written.quarantined);
    let names = written.filter_map(|written| written.path.file_name()?.to_str().map(str::to_owned));
    let names: Vec<String> = names.collect();
    if let Some(session) = Session::of(&context.place.home, session).filter(|_| !names.is_empty()) {
        session.update(context.now, |state| state.wrote(&names));
    }
}

fn ignores_memory(session: &str, context: &Context) -> bool {
    Session::of(&context.place.home, session).is_some_and(|session| session.state().ignores_memory)
}

/// Returns the directories in which memories lie.
pub(crate) fn vault_paths(context: &Context) -> Vec<String> {
    let paths = [context.place.vault.clone(), context.place.user_vault()];
    paths.iter().map(|path| path.display().to_string()).collect()
}
