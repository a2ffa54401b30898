//! `memdir extract`: what a session taught, by hand.

use std::path::{Path, PathBuf};

use memdir_core::extract::{Candidate, Said, conversation, without_written_turns};
use memdir_core::policy::Refusal;
use memdir_core::secrets::Scanner;
use memdir_core::text::{count, fit};
use memdir_core::transcript::Turn;
use memdir_store::extract::Progress;
use memdir_store::transcript::{SessionFile, Transcripts};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::outlet;
use crate::ui::{Tone, Ui};
use crate::work::extract::{self, Fate};

/// The largest file that is read as a plain conversation.
const MAX_TEXT: u64 = 64 * 1024 * 1024;
/// How much of a quotation is shown, in columns.
const SHOWN: usize = 160;

/// Find what a session taught: candidates that wait for your word
///
/// Without a file, what is new in the last session of this project. Nothing becomes a memory by itself: `memdir review`
/// shows what was found and what it rests on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir extract
  memdir extract --session 5da15695
  memdir extract --transcript session.jsonl --dry-run --json")]
pub(crate) struct Args {
    /// A session file of Claude Code, Codex or Gemini CLI, or a dialogue as text; all of it is read
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    transcript: Option<PathBuf>,
    /// Which session, by any beginning of its id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show what would be found, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Something that was found, and what became of it or would.
struct Found {
    candidate: Candidate,
    fate: Option<Fate>,
}

/// What was looked through.
struct Conversation {
    /// The host's id of it, or the file's name.
    session: String,
    messages: Vec<Said>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let (found, left_out) = match &args.transcript {
        Some(path) => of_file(&whole(path, context)?, args.dry_run, context)?,
        None => of_session(args, context)?,
    };
    print(&found, &left_out, args.dry_run, &context.scanner()?, ui);
    Ok(Outcome::Done)
}

/// Candidates, and those that a gate is against.
type Sifted = (Vec<Found>, Vec<(Candidate, Vec<Refusal>)>);

fn of_file(conversation: &Conversation, dry_run: bool, context: &Context) -> Result<Sifted, Failure> {
    let session = Some(conversation.session.as_str());
    let found = extract::find_best(&conversation.messages, &[], session, context, &mut || {})?;
    if dry_run {
        return sift(found.candidates, context);
    }
    let mut progress = Progress::of(&context.place, &conversation.session);
    let mut learned = Vec::new();
    for candidate in found.candidates {
        let evidence = candidate.evidence_hash(&conversation.session);
        if progress.has_made(evidence) {
            continue;
        }
        let fate = extract::deliver(&candidate, found.by, Some(&conversation.session), context)?;
        progress.made(evidence);
        learned.push((candidate, fate));
    }
    progress.save().map_err(|err| Failure::from_chain(&err))?;
    Ok(parted(learned))
}

/// Looks through what is new in a session of this project.
fn of_session(args: &Args, context: &Context) -> Result<Sifted, Failure> {
    let is_meant = |id: &str| args.session.as_deref().is_none_or(|wanted| id.starts_with(wanted));
    let sessions = Transcripts::of(&context.place).sessions();
    let meant = sessions.into_iter().find(|session| is_meant(&session.id) && session.file.is_some());
    let Some((id, file)) = meant.and_then(|session| Some((session.id, session.file?))) else {
        return Err(Failure::refusal("no such session is known here")
            .hint("`memdir extract --transcript FILE` reads a file"));
    };
    let mut progress = Progress::of(&context.place, &id);
    let mut all: Sifted = (Vec::new(), Vec::new());
    loop {
        let window = extract::read(&progress, &file, context)?;
        let more = if args.dry_run {
            let messages = without_written_turns(window.messages.clone(), &extract::vault_paths(context));
            let found = extract::find_best(&messages, &window.earlier, Some(&id), context, &mut || {})?;
            sift(found.candidates, context)?
        } else {
            let learned = extract::learn(&window, &id, &mut progress, context, &mut || {})?;
            if !window.is_empty() {
                extract::move_behind(&mut progress, &window, &file, context)?;
            }
            parted(learned)
        };
        all.0.extend(more.0);
        all.1.extend(more.1);
        if args.dry_run || !window.is_behind {
            return Ok(all);
        }
    }
}

/// Asks the gates what they would say.
fn sift(found: Vec<Candidate>, context: &Context) -> Result<Sifted, Failure> {
    let gate = context.gate()?;
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for candidate in found {
        let refusals = extract::objections(&candidate, gate);
        if refusals.is_empty() {
            kept.push(Found { candidate, fate: None });
        } else {
            left_out.push((candidate, refusals));
        }
    }
    Ok((kept, left_out))
}

fn parted(learned: Vec<(Candidate, Fate)>) -> Sifted {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for (candidate, fate) in learned {
        match fate {
            Fate::Refused(refusals) => left_out.push((candidate, refusals)),
            fate => kept.push(Found { candidate, fate: Some(fate) }),
        }
    }
    (kept, left_out)
}

/// Reads a file from its beginning to its end, without secrets.
fn whole(path: &Path, context: &Context) -> Result<Conversation, Failure> {
    let unreadable =
        |err: &dyn std::fmt::Display| Failure::error(format!("could not read {}: {err}", path.display()));
    let gate = context.gate()?;
    let path = &path.canonicalize().map_err(|err| unreadable(&err))?;
    if let Some(file) = SessionFile::at(path, None) {
        let redacted = |turn: Turn| Said::from(&Turn { text: gate.redacted(&turn.text).0, ..turn });
        let messages = file.turns().map_err(|err| unreadable(&err))?.map(redacted);
        let messages = messages.filter(|said| !said.text.is_empty()).collect();
        return Ok(Conversation { session: file.session, messages });
    }
    let size = std::fs::metadata(path).map_err(|err| unreadable(&err))?.len();
    if size > MAX_TEXT {
        return Err(unreadable(&"it is no session file, and too large for a text"));
    }
    let bytes = std::fs::read(path).map_err(|err| unreadable(&err))?;
    let messages = conversation(&gate.redacted(&String::from_utf8_lossy(&bytes)).0);
    let session = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Conversation { session, messages })
}

/// Tells what was found. What was left out may have been so for a secret that a model wrote into it.
fn print(
    found: &[Found],
    left_out: &[(Candidate, Vec<Refusal>)],
    dry_run: bool,
    scanner: &Scanner,
    ui: &mut Ui,
) {
    if ui.is_json() {
        let candidates: Vec<Value> = found.iter().map(as_json).collect();
        let refused = |(candidate, refusals): &(Candidate, Vec<Refusal>)| json!({ "name": candidate.name, "description": candidate.description, "refused": refusals });
        let mut left_out: Value = left_out.iter().map(refused).collect();
        outlet::clean_json(&mut left_out, scanner);
        return ui.json(&json!({ "candidates": candidates, "left_out": left_out }));
    }
    for Found { candidate, fate } in found {
        let fate = match fate {
            None => "found",
            Some(Fate::Saved(_)) => "saved",
            Some(Fate::Waits { is_new: false }) => "waits already",
            Some(_) => "waits",
        };
        let name = format!("{fate}: [{}] {}", candidate.memory_type, candidate.name);
        ui.toned(Tone::Strong, &name);
        ui.line(&format!("  {}", candidate.description));
        for evidence in &candidate.evidence {
            let quote = format!("  message {}: “{}”", evidence.message + 1, fit(&evidence.quote, SHOWN));
            ui.toned(Tone::Faint, &quote);
        }
    }
    for (candidate, refusals) in left_out {
        for refusal in refusals {
            let description = scanner.redacted(&candidate.description);
            ui.say(&format!("left out: {description} ({}: {})", refusal.rule, refusal.evidence));
        }
    }
    match (found.len(), dry_run) {
        (0, _) => ui.say("nothing new that may last"),
        (n, true) => ui.say(&format!("{}, nothing is changed", count(n, "candidate", "candidates"))),
        (_, false) => ui.say("`memdir review` shows what waits"),
    }
}

fn as_json(found: &Found) -> Value {
    let Candidate { name, memory_type, kind, scope, description, body, provenance, evidence } =
        &found.candidate;
    let quotes = evidence.iter().map(|said| json!({ "message": said.message, "quote": said.quote }));
    json!({
        "name": name,
        "type": memory_type,
        "kind": kind,
        "scope": scope,
        "description": description,
        "body": body,
        "provenance": provenance,
        "trust": if found.candidate.is_quarantined() { "quarantined" } else { "trusted" },
        "tier": "supplementary",
        "evidence": quotes.collect::<Vec<_>>(),
        "fate": match &found.fate {
            None => Value::Null,
            Some(Fate::Saved(_)) => json!("saved"),
            Some(_) => json!("waits"),
        },
    })
}
