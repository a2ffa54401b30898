//! `memdir grep`: finds what was said in the sessions of this project.

use memdir_core::text::{age, count};
use memdir_core::transcript::{Case, Limits, Pattern, PatternError, Role};
use memdir_store::transcript::{Found, Hit, Query, Transcripts};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Tone, Ui};

/// The most bytes of text that one answer may have: it may go into a model's context.
const MAX_BYTES: usize = 200_000;
/// The most turns around a hit.
const MAX_CONTEXT: usize = 10;
/// The most windows.
const MAX_WINDOWS: usize = 1_000;

/// Find what was said in the sessions of this project
///
/// Reads the session files of Claude Code, Codex and Gemini CLI, and the copies that `memdir backfill` kept. The
/// newest come first. Of a session only what stands around the hits is shown, and secrets in it are redacted.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to look for; capital and small letters differ only if it has a capital
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// Take the pattern for a regular expression
    #[arg(long, short = 'e')]
    regex: bool,
    /// Tell capital from small letters
    #[arg(long, short = 's', conflicts_with = "ignore_case")]
    case_sensitive: bool,
    /// Never tell capital from small letters
    #[arg(long, short = 'i')]
    ignore_case: bool,
    /// Only what these said
    #[arg(long, value_name = "ROLE")]
    role: Option<Who>,
    /// Only in the session whose id begins so
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show this many turns before and after a hit
    #[arg(long, short = 'C', value_name = "N", default_value_t = 1)]
    context: usize,
    /// At most this many places
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    limit: usize,
    /// At most this many bytes of text
    #[arg(long, value_name = "N", default_value_t = 16_000)]
    bytes: usize,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Who {
    User,
    Assistant,
    Tool,
}

impl From<Who> for Role {
    fn from(who: Who) -> Self {
        match who {
            Who::User => Self::User,
            Who::Assistant => Self::Assistant,
            Who::Tool => Self::Tool,
        }
    }
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let query = query(args)?;
    let found = Transcripts::of(&context.place).grep(&query, &context.scanner()?);
    if ui.is_json() {
        ui.json(&document(&found));
    } else {
        print(&found, context, ui);
    }
    Ok(if found.hits.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn query(args: &Args) -> Result<Query, Failure> {
    let case = match (args.case_sensitive, args.ignore_case) {
        (true, _) => Case::Sensitive,
        (_, true) => Case::Insensitive,
        _ => Case::Smart,
    };
    let make = if args.regex { Pattern::regex } else { Pattern::literal };
    let pattern = make(&args.pattern, case).map_err(|err| {
        let is_invalid = matches!(err, PatternError::Invalid(_));
        let failure = Failure::error(err.to_string());
        if is_invalid { failure.hint("without `--regex` it is taken as it is written") } else { failure }
    })?;
    let limits = Limits {
        context: args.context.min(MAX_CONTEXT),
        windows: args.limit.clamp(1, MAX_WINDOWS),
        bytes: args.bytes.clamp(1, MAX_BYTES),
    };
    Ok(Query { pattern, role: args.role.map(Role::from), session: args.session.clone(), limits })
}

fn document(found: &Found) -> Value {
    let hit = |hit: &Hit| {
        let turns = hit.window.turns.iter().map(|turn| {
            json!({ "id": turn.uuid, "at": turn.at, "role": turn.role, "text": turn.text, "match": turn.is_hit })
        });
        json!({
            "session": hit.session,
            "agent": hit.host,
            "at": hit.window.at(),
            "path": hit.path.display().to_string(),
            "kept": hit.is_kept,
            "turns": turns.collect::<Vec<_>>(),
        })
    };
    json!({
        "hits": found.hits.iter().map(hit).collect::<Vec<_>>(),
        "truncated": found.is_truncated,
        "sessions": found.sessions,
        "unreadable_lines": found.left_out.total(),
    })
}

fn print(found: &Found, context: &Context, ui: &mut Ui) {
    for (n, hit) in found.hits.iter().enumerate() {
        if n > 0 {
            ui.line("");
        }
        let when = hit.window.at().map(|at| format!(", {}", age(at, context.now))).unwrap_or_default();
        let kept = if hit.is_kept { ", kept copy" } else { "" };
        ui.toned(Tone::Strong, &format!("{} {}{when}{kept}", hit.host, hit.session));
        for turn in &hit.window.turns {
            let tone = if turn.is_hit { Tone::Plain } else { Tone::Faint };
            let mark = if turn.is_hit { ">" } else { " " };
            for (n, line) in turn.text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
                let who = if n == 0 { turn.role.word() } else { "" };
                ui.toned(tone, &format!("{mark} {who:<9}  {line}"));
            }
        }
    }
    if found.hits.is_empty() {
        ui.say(&format!("nothing found in {}", count(found.sessions, "session", "sessions")));
    } else if found.is_truncated {
        ui.say("there is more: `--limit` and `--bytes` show it, a longer pattern narrows it");
    }
    if found.left_out.total() > 0 {
        ui.say(&format!("{} could not be read", count(found.left_out.total(), "line", "lines")));
    }
}
