//! `memdir cache-audit`: whether anything that memdir does costs the prompt cache.
//!
//! There are fourteen ways to break a cached prefix. For each of them this says what memdir does about it and tries it:
//! the block of a session is rendered under other circumstances and compared, answers of hooks are made and searched, the
//! tools are listed and measured. With a session's file it says what that session lost, and why.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::SignedDuration;
use memdir_core::cache::{Cause, losses, requests};
use memdir_core::context::INSTRUCTIONS;
use memdir_core::host::{self, Agent, MAX_CONTEXT, Reply, Ruling};
use memdir_core::memory::MemoryPath;
use memdir_core::page::{self, PageEntry};
use memdir_core::text::count;
use memdir_store::transcript::Transcripts;
use memdir_store::vault::Vault;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::hook::opening;
use crate::mcp;
use crate::ui::{Column, Tone, Ui};

/// Show what memdir does about each way to break a prompt cache
///
/// Providers charge a tenth for the beginning of a request that they have seen before. Each line tries one of the fourteen
/// ways to lose that. The session's file (the latest of this project, or --transcript) tells what was lost in practice.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 nothing breaks, 1 something does, 2 error.")]
pub(crate) struct Args {
    /// A session file of Claude Code
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
}

/// One way to break a cached prefix.
struct Vector {
    name: &'static str,
    /// What memdir does about it.
    ours: &'static str,
    /// Tries it: what was seen, or what is wrong.
    check: fn(&Audit<'_>) -> Result<String, String>,
}

/// What the checks look at.
struct Audit<'a> {
    context: &'a Context,
    block: String,
    /// Every answer a hook can give, with its agent and event.
    answers: Vec<(Agent, &'static str, Value)>,
}

const VECTORS: [Vector; 14] = [
    Vector { name: "model switch", ours: "asks for none", check: |audit| audit.never_says(&["model"]) },
    Vector {
        name: "effort or thinking",
        ours: "asks for none",
        check: |audit| audit.never_says(&["effort", "thinking"]),
    },
    Vector {
        name: "headers and betas",
        ours: "sets none",
        check: |audit| audit.never_says(&["headers", "betas", "env"]),
    },
    Vector { name: "tool set", ours: "seven tools, the same in every session", check: |_| constant_tools() },
    Vector {
        name: "tool order and descriptions",
        ours: "sorted, static, below 2 KB",
        check: |_| sorted_tools(),
    },
    Vector {
        name: "system text",
        ours: "changes with a release only",
        check: |audit| audit.instructions_first(),
    },
    Vector {
        name: "clock, counter, random id",
        ours: "none in the start block",
        check: |audit| audit.same_at_any_time(),
    },
    Vector {
        name: "directory, platform, path",
        ours: "one line names the vault",
        check: |audit| audit.one_path(),
    },
    Vector { name: "git status", ours: "not in the start block", check: |audit| audit.same_on_any_branch() },
    Vector {
        name: "CLAUDE.md in mid-session",
        ours: "never written by a hook",
        check: |audit| audit.never_says(&["watchPaths", "reloadSkills"]),
    },
    Vector {
        name: "MEMORY.md reshuffled",
        ours: "lines keep their order",
        check: |audit| audit.sticky_page(),
    },
    Vector {
        name: "recall placed early",
        ours: "only beside the current turn",
        check: |audit| audit.appended_only(),
    },
    Vector {
        name: "history rewritten",
        ours: "nothing is said where a turn ends",
        check: |_| silent_at_the_end(),
    },
    Vector {
        name: "lifetime and smallest prefix",
        ours: "a start block below 9,000 bytes",
        check: |audit| audit.small_block(),
    },
];

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let audit = Audit::new(context);
    let seen: Vec<(&Vector, Result<String, String>)> =
        VECTORS.iter().map(|vector| (vector, (vector.check)(&audit))).collect();
    let session = session(args, context)?;
    let n_broken = seen.iter().filter(|(_, seen)| seen.is_err()).count();
    if ui.is_json() {
        let rows: Vec<Value> =
            seen.iter().zip(1..).map(|((vector, seen), n)| row_json(n, vector, seen)).collect();
        ui.json(&json!({ "vectors": rows, "breaks": n_broken, "session": session }));
    } else {
        print(&seen, ui);
        if let Some(session) = &session {
            ui.line(&told(session));
        }
    }
    Ok(if n_broken == 0 { Outcome::Done } else { Outcome::Nothing })
}

fn row_json(n: usize, vector: &Vector, seen: &Result<String, String>) -> Value {
    let (status, text) = match seen {
        Ok(text) => ("ok", text),
        Err(text) => ("breaks", text),
    };
    json!({ "vector": n, "name": vector.name, "status": status, "ours": vector.ours, "seen": text })
}

fn print(seen: &[(&Vector, Result<String, String>)], ui: &mut Ui) {
    let columns = [
        Column::new("#").tone(Tone::Faint),
        Column::new("status"),
        Column::new("vector").tone(Tone::Strong),
        Column::new("memdir"),
        Column::new("seen").giving_way(),
    ];
    let cells = |((vector, seen), n): (&(&Vector, Result<String, String>), usize)| {
        let (status, text) = match seen {
            Ok(text) => ("ok", text),
            Err(text) => ("BREAKS", text),
        };
        vec![n.to_string(), status.to_owned(), vector.name.to_owned(), vector.ours.to_owned(), text.clone()]
    };
    ui.table(&columns, &seen.iter().zip(1..).map(cells).collect::<Vec<_>>());
}

/// Says what a session lost; `None` if there is no file of one.
fn session(args: &Args, context: &Context) -> Result<Option<Value>, Failure> {
    let path = match &args.transcript {
        Some(path) => path.clone(),
        None => match latest(context) {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    let bytes = std::fs::read(&path)
        .map_err(|err| Failure::error(format!("could not read {}: {err}", path.display())))?;
    let text = String::from_utf8_lossy(&bytes);
    let requests = requests(text.lines());
    let losses = losses(&requests);
    let tokens =
        |cause: Cause| losses.iter().filter(|loss| loss.cause == cause).map(|loss| loss.tokens).sum::<u64>();
    let causes = [Cause::Model, Cause::Pause, Cause::Compaction, Cause::Unexplained];
    let lost: serde_json::Map<String, Value> =
        causes.iter().map(|cause| (cause.as_str().to_owned(), json!(tokens(*cause)))).collect();
    Ok(Some(json!({
        "file": path.display().to_string(),
        "requests": requests.len(),
        "read": requests.iter().map(|request| request.read).sum::<u64>(),
        "written": requests.iter().map(|request| request.written).sum::<u64>(),
        "losses": losses.len(),
        "lost_tokens": lost,
    })))
}

fn latest(context: &Context) -> Option<PathBuf> {
    let sessions = Transcripts::of(&context.place).sessions();
    let files = sessions.into_iter().filter(|session| session.host.word() == "claude-code");
    files.filter_map(|session| session.file).max_by_key(|file| file.modified_ns).map(|file| file.path)
}

fn told(session: &Value) -> String {
    let n = |key: &str| session[key].as_u64().unwrap_or_default();
    let lost = &session["lost_tokens"];
    let losses = count(usize::try_from(n("losses")).unwrap_or(usize::MAX), "loss", "losses");
    format!(
        "last session: {} requests, {} tokens read from the cache, {} written, {losses} (tokens by cause: {lost})",
        n("requests"),
        n("read"),
        n("written"),
    )
}

impl<'a> Audit<'a> {
    fn new(context: &'a Context) -> Self {
        let block = opening::block(&opening::gather(context, None, false), context, MAX_CONTEXT);
        Self { context, block, answers: answers() }
    }

    /// No answer of a hook has one of these keys, at any depth.
    fn never_says(&self, forbidden: &[&str]) -> Result<String, String> {
        for (agent, event, answer) in &self.answers {
            let mut keys = BTreeSet::new();
            collect(answer, &mut keys);
            if let Some(key) = forbidden.iter().find(|key| keys.contains(**key)) {
                return Err(format!("{} is told `{key}` at {event}", agent.as_str()));
            }
        }
        Ok(format!("{} answers of hooks say nothing of it", self.answers.len()))
    }

    fn instructions_first(&self) -> Result<String, String> {
        if self.block.starts_with(INSTRUCTIONS) {
            Ok(format!("{} static bytes first", INSTRUCTIONS.len()))
        } else {
            Err("the start block does not begin with the instructions".to_owned())
        }
    }

    fn same_at_any_time(&self) -> Result<String, String> {
        for hours in [1, 24, 24 * 90] {
            let mut context = self.context.at(self.context.place.clone());
            context.now = self.context.now + SignedDuration::from_hours(hours);
            if self.rendered(&context) != self.block {
                return Err(format!("the start block is another one {hours} hours later"));
            }
        }
        Ok("the same bytes an hour, a day and a season later".to_owned())
    }

    fn same_on_any_branch(&self) -> Result<String, String> {
        let mut place = self.context.place.clone();
        place.repository = None;
        if self.rendered(&self.context.at(place)) == self.block {
            Ok("the same bytes without a repository".to_owned())
        } else {
            Err("the start block depends on the repository".to_owned())
        }
    }

    fn rendered(&self, context: &Context) -> String {
        opening::block(&opening::gather(context, None, false), context, MAX_CONTEXT)
    }

    fn one_path(&self) -> Result<String, String> {
        let vault = self.context.place.vault.display().to_string();
        match self.block.lines().filter(|line| line.contains(&vault)).count() {
            1 => Ok("one line".to_owned()),
            n => Err(format!("the vault's path stands on {n} lines")),
        }
    }

    /// A new memory takes a line of its own; the order of the others stays.
    fn sticky_page(&self) -> Result<String, String> {
        let Ok(vaults) = self.context.vaults() else { return Err("the vaults cannot be read".to_owned()) };
        let mut n_lines = 0;
        for vault in vaults {
            let Some((before, after)) = page_with_one_more(&vault, self.context) else { continue };
            let lines = |page: &[u8]| -> Vec<Vec<u8>> {
                page.split(|byte| *byte == b'\n')
                    .filter(|line| line.starts_with(b"- ["))
                    .map(<[u8]>::to_vec)
                    .collect()
            };
            let (old, new) = (lines(&before), lines(&after));
            // A full page lets one go for the new one; those that stay must stay in order.
            let stayed: Vec<&Vec<u8>> = old.iter().filter(|line| new.contains(line)).collect();
            let kept: Vec<&Vec<u8>> = new.iter().filter(|line| old.contains(line)).collect();
            n_lines += kept.len();
            if stayed != kept || kept.len() + 2 < old.len() {
                return Err(format!("a new memory moves lines of {}", vault.path().display()));
            }
        }
        Ok(format!("{} where they are when one is added", count(n_lines, "line stays", "lines stay")))
    }

    fn appended_only(&self) -> Result<String, String> {
        const PLACES: [&str; 3] = ["additionalContext", "additional_context", "context"];
        self.never_says(&["initialUserMessage", "updatedInput", "systemPrompt", "system"])?;
        let says = |answer: &Value| {
            let mut keys = BTreeSet::new();
            collect(answer, &mut keys);
            PLACES.iter().any(|key| keys.contains(*key))
        };
        let prompts = self.answers.iter().filter(|(_, event, _)| *event == "UserPromptSubmit");
        match prompts.clone().find(|(_, _, answer)| !says(answer)) {
            Some((agent, ..)) => Err(format!("{} is told elsewhere", agent.as_str())),
            None => Ok("reminders stand beside the prompt or the tool that called them up".to_owned()),
        }
    }

    fn small_block(&self) -> Result<String, String> {
        let bytes = self.block.len();
        if bytes <= MAX_CONTEXT { Ok(format!("{bytes} bytes")) } else { Err(format!("{bytes} bytes")) }
    }
}

/// Returns the page of a vault, and the page with one more memory on it; `None` if there is none.
fn page_with_one_more(vault: &Vault, context: &Context) -> Option<(Vec<u8>, Vec<u8>)> {
    let snapshot = vault.snapshot().ok()?;
    let before = snapshot.index_page().ok()??;
    let new = MemoryPath::new("project-cache-audit.md").ok()?;
    let entry = |path: &MemoryPath, title: String, hook: String, pinned: bool| PageEntry {
        path: path.clone(),
        title,
        hook,
        pinned,
        bucket: 0,
        strength: 1.0,
        modified: context.now,
    };
    let known = snapshot.memories.iter().map(|known| {
        let memory = &known.memory;
        entry(&known.path, memory.title(), memory.description.clone(), memory.pinned)
    });
    let added = entry(&new, "Cache audit".to_owned(), "a line that was not there".to_owned(), false);
    let entries: Vec<PageEntry> = known.chain([added]).collect();
    let after = page::render(Some(&before), &entries, &BTreeSet::from([new]));
    Some((before, after.bytes))
}

/// Makes every answer that a hook can give.
fn answers() -> Vec<(Agent, &'static str, Value)> {
    const EVENTS: [&str; 8] = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStart",
        "Stop",
        "SessionEnd",
    ];
    let said = json!({ "session_id": "audit", "prompt": "x", "tool_name": "Bash", "tool_input": { "command": "x" } });
    let mut answers = Vec::new();
    for agent in Agent::ALL {
        for event in EVENTS {
            let occasion = host::read(agent, event, &said);
            let rulings = [None, Some(Ruling::Deny("x".to_owned())), Some(Ruling::Ask("x".to_owned()))];
            for ruling in rulings {
                let reply = Reply { context: "x\n".to_owned(), ruling };
                answers.extend(reply.to_json(&occasion).map(|answer| (agent, event, answer)));
            }
        }
    }
    answers
}

fn silent_at_the_end() -> Result<String, String> {
    for agent in Agent::ALL {
        for event in ["Stop", "SubagentStop", "SessionEnd", "PostCompact"] {
            let occasion = host::read(agent, event, &json!({ "session_id": "audit" }));
            if Reply::telling("x\n".to_owned()).to_text(&occasion).is_some() {
                return Err(format!("{} is told something at {event}", agent.as_str()));
            }
        }
    }
    Ok("no agent is told anything at the end of a turn".to_owned())
}

fn constant_tools() -> Result<String, String> {
    let tools = mcp::tools();
    if tools.len() == 7 {
        Ok(format!("{} tools", tools.len()))
    } else {
        Err(format!("{} tools", tools.len()))
    }
}

fn sorted_tools() -> Result<String, String> {
    let tools = mcp::tools();
    let longest = tools.iter().map(|(_, description)| description.len()).max().unwrap_or_default();
    let is_sorted = tools.is_sorted_by(|a, b| a.0 < b.0);
    match is_sorted && longest < 2_048 {
        true => Ok(format!("sorted; the longest description has {longest} bytes")),
        false => Err(format!("sorted: {is_sorted}; the longest description has {longest} bytes")),
    }
}

fn collect<'v>(value: &'v Value, keys: &mut BTreeSet<&'v str>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                keys.insert(key);
                collect(inner, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, keys)),
        _ => {}
    }
}
