//! `memdir recall`: what an agent would be reminded of at a moment.

use std::path::Path;

use jiff::Zoned;
use memdir_core::change::Surface;
use memdir_core::claims::Verification;
use memdir_core::frame::{Item, frame};
use memdir_core::recall::{self as core, Hit, Moment, Weights};
use memdir_core::text::{age, age_days};
use memdir_store::disk::Dir;
use memdir_store::ledger::{self, Event, EventKind};
use memdir_store::notes::{self, Upkeep};
use memdir_store::usage::Usage;
use memdir_store::vault::{Loaded, Vault};
use memdir_store::verify::{Cache, Verifier};
use serde_json::{Map, Value, json};

use crate::context::{Context, text_or_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Show what an agent would be reminded of
///
/// Prints exactly what the prompt hook would put before the model: at most five memories that are likely to help, or
/// nothing. With --session each memory is shown once, within the session's budget.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir recall \"which database do the tests use?\"
  memdir recall \"continue\" --file db/migrate.rs --branch release/mobile
  cargo test 2>&1 | tail -20 | memdir recall \"why does it fail\" --error -")]
pub(crate) struct Args {
    /// What the user typed
    #[arg(value_name = "PROMPT", num_args = 0..)]
    prompt: Vec<String>,
    /// The session that asks
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// A tool that was used lately
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// A file that is read or edited
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// The command that was run
    #[arg(long, value_name = "TEXT", default_value = "")]
    command: String,
    /// What it printed when it failed; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// The branch
    #[arg(long, value_name = "NAME", default_value = "")]
    branch: String,
}

/// How many bytes of memories a session is shown.
const BUDGET: u64 = 32 * 1024;

/// A memory that came to mind.
pub(super) struct Reminder {
    pub(super) vault: usize,
    pub(super) hit: Hit,
    pub(super) loaded: Loaded,
}

/// What came to mind, and what did not get through.
#[derive(Default)]
struct Reminders {
    shown: Vec<Reminder>,
    skipped: Vec<(String, String)>,
    n_bytes: u64,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let moment = moment(args, context)?;
    let vaults = context.vaults()?;
    let mut reminders = Reminders::default();
    let mut found: Vec<(usize, Hit)> = Vec::new();
    let mut usages = Vec::new();
    for (at, vault) in vaults.iter().enumerate() {
        let usage = usage(vault, args.session.as_deref(), context);
        reminders.n_bytes += usage.n_bytes();
        let recalled = ask(vault, context, ui, |notes, now, weights| {
            core::recall(notes, &moment, now, weights, &usage)
        })?;
        found.extend(recalled.hits.into_iter().map(|hit| (at, hit)));
        let skipped = recalled.skipped.into_iter().take(core::MAX_SHOWN);
        reminders.skipped.extend(skipped.map(|(hit, why)| (hit.note.name, why.as_str().to_owned())));
        usages.push(usage);
    }
    found.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then_with(|| a.1.note.name.cmp(&b.1.note.name)));
    for (at, hit) in found {
        choose(&mut reminders, &vaults[at], at, hit, &usages[at]);
    }
    let items = items(&reminders, &vaults, context);
    let (text, n_shown) = frame(&items, &machine_key(&reminders, &vaults, context));
    for reminder in reminders.shown.drain(n_shown..) {
        reminders.skipped.push((reminder.hit.note.name, "no room in one message".to_owned()));
    }
    record(&reminders, &items, &vaults, args, context);
    print(&reminders, &text, &vaults, context, ui);
    Ok(if reminders.shown.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Returns this machine's secret, making it for the first frame: the mark of a frame must never change.
fn machine_key(reminders: &Reminders, vaults: &[Vault], context: &Context) -> Vec<u8> {
    if let Some(first) = reminders.shown.first() {
        // Where nothing can be written, the mark is one that can be guessed.
        let _ = vaults[first.vault].ensure_ledger();
    }
    Dir::open(&context.place.home).ok().and_then(|home| ledger::key(&home)).unwrap_or_default()
}

fn moment(args: &Args, context: &Context) -> Result<Moment, Failure> {
    let error = match args.error.as_deref() {
        Some("-") => text_or_stdin(None)?.unwrap_or_default(),
        error => error.unwrap_or_default().to_owned(),
    };
    Ok(Moment {
        prompt: args.prompt.join(" "),
        files: args.files.iter().map(|file| in_project(file, context)).collect(),
        command: args.command.clone(),
        error,
        branch: args.branch.clone(),
        tools: args.tools.clone(),
    })
}

/// Returns a path from the project's root, where it is given in full.
fn in_project(file: &str, context: &Context) -> String {
    let root = context.place.dir.as_deref().unwrap_or(Path::new("/"));
    Path::new(file).strip_prefix(root).ok().and_then(Path::to_str).unwrap_or(file).replace('\\', "/")
}

pub(super) fn usage(vault: &Vault, session: Option<&str>, context: &Context) -> Usage {
    // What cannot be read teaches nothing; it stops nobody.
    let read = |ledger: ledger::Ledger| Usage::read(&ledger, session, context.now).ok();
    vault.ledger().and_then(read).unwrap_or_default()
}

/// Asks the notes of a vault, and says so when the index had to be built anew.
pub(super) fn ask<T>(
    vault: &Vault,
    context: &Context,
    ui: &Ui,
    question: impl Fn(&notes::Notes, &Zoned, &Weights) -> Result<T, memdir_store::index::IndexError>,
) -> Result<T, Failure> {
    let now = context.now.to_zoned(context.zone.clone());
    let weights = Weights::fitted();
    let (answer, upkeep) = notes::ask(vault, |notes| question(notes, &now, &weights))
        .map_err(|err| Failure::from_chain(&err))?;
    if upkeep == Upkeep::Rebuilt {
        ui.warn(&format!(
            "the index of {} was damaged or of another version; it was built anew",
            vault.path().display()
        ));
    }
    Ok(answer)
}

/// Takes a memory in if the session has not seen it and has room for it.
fn choose(reminders: &mut Reminders, vault: &Vault, at: usize, hit: Hit, usage: &Usage) {
    let name = hit.note.name.clone();
    let mut skip = |why: &str| reminders.skipped.push((name.clone(), why.to_owned()));
    if usage.was_shown(&name) {
        return skip("shown in this session already");
    }
    if reminders.shown.len() >= core::MAX_SHOWN {
        return skip("no room");
    }
    let loaded = memdir_core::memory::MemoryPath::new(&hit.note.path)
        .ok()
        .and_then(|path| vault.load(&path).ok().flatten());
    let Some(loaded) = loaded else { return skip("its file is gone") };
    if loaded.memory.quarantined {
        return skip("not trusted yet");
    }
    let n_bytes = text_of(&loaded).len() as u64;
    if reminders.n_bytes + n_bytes > BUDGET {
        return skip("the session's budget is spent");
    }
    reminders.n_bytes += n_bytes;
    reminders.shown.push(Reminder { vault: at, hit, loaded });
}

fn items(reminders: &Reminders, vaults: &[Vault], context: &Context) -> Vec<Item> {
    if reminders.shown.is_empty() {
        return Vec::new();
    }
    let verifier = Verifier::around(&context.place, &context.env, context.now, context.zone.clone());
    let caches: Vec<Cache> = vaults.iter().map(Cache::load).collect();
    let item = |reminder: &Reminder| {
        let vault = &vaults[reminder.vault];
        let subject = verifier.subject(vault, &reminder.loaded);
        let checked =
            (!subject.claims.is_empty()).then(|| verifier.glance(&subject, &caches[reminder.vault]));
        item(reminder, vault, checked.as_ref(), context)
    };
    reminders.shown.iter().map(item).collect()
}

fn item(reminder: &Reminder, vault: &Vault, checked: Option<&Verification>, context: &Context) -> Item {
    let Reminder { hit, loaded, .. } = reminder;
    let memory = &loaded.memory;
    let mut remarks = vec![format!("saved {}", age(loaded.modified(), context.now))];
    let said = vault.ledger().and_then(|ledger| ledger.provenance_of(loaded.hash).ok().flatten());
    remarks.push(match said {
        Some(who) => format!("said by {who}"),
        None => "written by another program".to_owned(),
    });
    remarks.push(match (checked, &memory.verified) {
        (Some(checked), _) if checked.checked.is_some() => checked.clause(context.now),
        (_, Some(verified)) => format!("checked {}", verified.date),
        _ => "not checked".to_owned(),
    });
    if let Some(expires) =
        memory.expires.filter(|day| *day <= context.now.to_zoned(context.zone.clone()).date())
    {
        remarks.push(format!("ended {expires}"));
    }
    if let Some(origin) = &memory.origin_project {
        remarks.push(format!("learned in {origin}"));
    }
    remarks.extend(hit.via.first().map(|via| format!("via [[{via}]]")));
    let file = format!("{}.md", loaded.path.stem());
    let mut text = text_of(loaded);
    // Of what nobody can look up here there is nothing to advise.
    let answered = checked.filter(|checked| checked.n_answered() > 0);
    if let Some(advice) = answered.and_then(|checked| checked.advice(memory.verified.as_ref(), context.now)) {
        text.push_str(&format!("\n({advice})"));
    }
    Item { memory_type: memory.memory_type, file, remarks, text }
}

/// Returns what a memory says: its body, or its description where that is all.
fn text_of(loaded: &Loaded) -> String {
    let body = String::from_utf8_lossy(loaded.document.body());
    let text = if body.trim().is_empty() { &loaded.memory.description } else { body.trim() };
    text.to_owned()
}

/// Notes what was shown; not being able to costs nothing but a repetition.
fn record(reminders: &Reminders, items: &[Item], vaults: &[Vault], args: &Args, context: &Context) {
    for (at, vault) in vaults.iter().enumerate() {
        let shown =
            reminders.shown.iter().zip(items).zip(1..).filter(|((reminder, _), _)| reminder.vault == at);
        let events: Vec<Event> = shown
            .map(|((reminder, item), rank)| Event {
                sid: args.session.clone(),
                by: Some(Surface::Cli),
                rank: Some(rank),
                bytes: Some(item.text.len() as u64),
                ..Event::new(context.now, EventKind::Surfaced, &reminder.hit.note.name)
            })
            .collect();
        if !events.is_empty()
            && let Ok(ledger) = vault.ensure_ledger()
        {
            let _ = ledger.append(&events);
        }
    }
}

fn print(reminders: &Reminders, text: &str, vaults: &[Vault], context: &Context, ui: &mut Ui) {
    if !ui.is_json() {
        if text.is_empty() {
            ui.say("nothing comes to mind");
        } else {
            ui.raw(format!("<system-reminder>\n{text}</system-reminder>\n").as_bytes());
        }
        return;
    }
    let hits: Vec<Value> =
        reminders.shown.iter().map(|reminder| hit_json(reminder, &vaults[reminder.vault], context)).collect();
    let skipped: Vec<Value> =
        reminders.skipped.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect();
    ui.json(&json!({
        "hits": hits,
        "abstained": reminders.shown.is_empty(),
        "bytes": text.len(),
        "budget_left": BUDGET.saturating_sub(reminders.n_bytes),
        "skipped": skipped,
    }));
}

/// Returns a hit as `search` and `recall` print it.
pub(super) fn hit_json(reminder: &Reminder, vault: &Vault, context: &Context) -> Value {
    let Reminder { hit, loaded, .. } = reminder;
    json!({
        "name": loaded.path.stem(),
        "path": vault.path().join(loaded.path.as_str()).display().to_string(),
        "layer": "memory",
        "score": hit.score,
        "type": loaded.memory.memory_type,
        "tier": loaded.memory.tier,
        "description": loaded.memory.description,
        "snippet": loaded.memory.description,
        "age_days": age_days(loaded.modified(), context.now),
        "via": hit.via,
        "parts": parts_json(&hit.parts),
    })
}

/// Returns the parts that are not nothing.
pub(super) fn parts_json(parts: &core::Parts) -> Map<String, Value> {
    let parts = core::Part::ALL.iter().map(|part| (part.as_str().to_owned(), parts.get(*part)));
    parts.filter(|(_, value)| *value != 0.0).map(|(name, value)| (name, json!(value))).collect()
}
