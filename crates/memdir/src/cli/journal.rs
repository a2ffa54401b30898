//! `memdir journal`: what sessions left, and what of it is still open.

use jiff::Zoned;
use memdir_core::dates;
use memdir_core::journal::{self as core, Entry, Item, OpenItem, Sections};
use memdir_core::policy;
use memdir_core::text::age;
use memdir_store::gate::Gate;
use memdir_store::journal::{About, Added, Journal, JournalError, JournalFile, Planned};
use memdir_store::vault::CommitError;
use serde_json::{Value, json};

use super::dashboard::item_json;
use crate::context::{Context, text_or_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Keep and read the journal: what was done, what was decided, what is left
///
/// Each entry is one file that never changes, outside of every vault. What an entry leaves unfinished has an id, and
/// stays open until a later entry closes it or `memdir journal close` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir journal add --summary \"Moved token refresh behind a queue\" --unfinished \"rotate the staging key\"
  memdir journal open
  memdir journal close 7QX2ZK
  memdir journal show")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add an entry
    ///
    /// From flags, or from stdin with the headings `## Summary`, `## Decisions`, `## Unfinished`, `## Related`; text without
    /// a heading is summary. An unfinished item that is open already keeps its id, whoever says it again.
    Add(Box<Add>),
    /// List the entries, the newest first
    List {
        /// At most this many
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Show an entry; the last one if none is named
    Show {
        /// Its name, the beginning of its file's name, or of its session's id
        which: Option<String>,
    },
    /// List what is unfinished, with ids
    Open,
    /// Close what is done
    Close {
        /// Which: the end of an id as `memdir journal open` shows it, or the item's text
        #[arg(required = true)]
        items: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    #[command(flatten)]
    words: Words,
    /// The session it is about
    #[arg(long, value_name = "ID", env = "MEMDIR_SESSION")]
    session: Option<String>,
    /// The agent that worked on it, for instance claude-code
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The branch that was worked on
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
}

/// What somebody says about a session.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Words {
    /// What was done, in a few sentences
    #[arg(long, short = 'm', value_name = "TEXT", allow_hyphen_values = true, help_heading = "The session")]
    summary: Option<String>,
    /// What was decided, with its reason; may be repeated
    #[arg(long = "decision", value_name = "TEXT", allow_hyphen_values = true, help_heading = "The session")]
    decisions: Vec<String>,
    /// What is in progress and not done; may be repeated
    #[arg(
        long = "unfinished",
        value_name = "TEXT",
        allow_hyphen_values = true,
        help_heading = "The session"
    )]
    unfinished: Vec<String>,
    /// What cannot go on, and why; may be repeated
    #[arg(long = "blocked", value_name = "TEXT", allow_hyphen_values = true, help_heading = "The session")]
    blocked: Vec<String>,
    /// What comes next; may be repeated
    #[arg(long = "next", value_name = "TEXT", allow_hyphen_values = true, help_heading = "The session")]
    next: Vec<String>,
    /// An open item that is done now: its id or its text; may be repeated
    #[arg(long = "done", value_name = "ITEM", help_heading = "The session")]
    done: Vec<String>,
    /// A memory, project or file that it has to do with; may be repeated
    #[arg(long = "related", value_name = "NAME", help_heading = "The session")]
    related: Vec<String>,
    /// Leave secrets out instead of refusing: `[REDACTED:kind]` stands in their place
    #[arg(long)]
    redact: bool,
}

impl Words {
    /// Returns what was said, by flags or on stdin; `None` if nothing was. Dates become absolute; secrets are refused.
    pub(super) fn sections(
        &self,
        open: &[OpenItem],
        gate: &Gate,
        now: &Zoned,
    ) -> Result<Option<Sections>, Failure> {
        let mut sections = if self.is_empty() {
            let Some(text) = text_or_stdin(None)? else { return Ok(None) };
            Sections::read(&text)
        } else {
            self.flags(open)?
        };
        if self.redact {
            change_texts(&mut sections, |text| gate.redacted(text).0);
        }
        cleared(sections, gate, now)
    }

    fn is_empty(&self) -> bool {
        let lists = [&self.decisions, &self.unfinished, &self.blocked, &self.next, &self.done, &self.related];
        self.summary.is_none() && lists.iter().all(|list| list.is_empty())
    }

    fn flags(&self, open: &[OpenItem]) -> Result<Sections, Failure> {
        let marked = |mark: &str, texts: &[String]| -> Vec<Item> {
            texts.iter().map(|text| Item::open(&format!("{mark}{text}"))).collect()
        };
        let mut unfinished = marked("", &self.unfinished);
        unfinished.extend(marked("blocked: ", &self.blocked));
        unfinished.extend(marked("next: ", &self.next));
        let done: Vec<&OpenItem> =
            self.done.iter().map(|word| find_item(open, word)).collect::<Result<_, _>>()?;
        let closing = core::close(&done);
        unfinished.extend(closing.unfinished);
        let summary = self.summary.clone().unwrap_or_default();
        let summary = if summary.is_empty() && !done.is_empty() { closing.summary } else { summary };
        Ok(Sections { summary, decisions: self.decisions.clone(), unfinished, related: self.related.clone() })
    }
}

/// Returns sections that may be written: without secrets, with absolute dates; `None` if there is nothing in them.
pub(crate) fn cleared(mut sections: Sections, gate: &Gate, now: &Zoned) -> Result<Option<Sections>, Failure> {
    let secrets = policy::secrets(&gate.scanner, sections.render().as_bytes(), None);
    if !secrets.is_empty() {
        return Err(CommitError::Refused(secrets).into());
    }
    change_texts(&mut sections, |text| dates::settle(text, now).text);
    Ok(Some(sections).filter(|sections| !sections.is_empty()))
}

/// Changes every text of the sections.
pub(crate) fn change_texts(sections: &mut Sections, change: impl Fn(&str) -> String) {
    sections.summary = change(&sections.summary);
    sections
        .decisions
        .iter_mut()
        .chain(&mut sections.related)
        .for_each(|text| *text = core::one_line(&change(text)));
    sections.unfinished.iter_mut().for_each(|item| item.text = core::one_line(&change(&item.text)));
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let journal = Journal::of(&context.place);
    match &args.action {
        Action::Add(args) => add(args, context, ui),
        Action::List { limit } => list(&journal, *limit, context, ui),
        Action::Show { which } => show(&journal, which.as_deref(), ui),
        Action::Open => open(&journal, context, ui),
        Action::Close { items } => close(items, context, ui),
    }
}

/// Opens the journal to write into it; the project is registered on the way.
pub(crate) fn writable(context: &Context, ui: &Ui) -> Result<Journal, Failure> {
    let vault = context.create_project(ui)?;
    Ok(Journal::below(&context.place.home, vault.id()))
}

fn add(args: &Add, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let journal = writable(context, ui)?;
    let gate = context.gate()?;
    let now = context.now.to_zoned(context.zone.clone());
    let sections = args.words.sections(&journal.open_items()?, gate, &now)?.ok_or_else(|| {
        Failure::error("there is nothing to write down").hint("give --summary TEXT, or text on stdin")
    })?;
    let (session, agent, branch) = (args.session.clone(), args.agent.clone(), args.branch.clone());
    let about = About { session, agent, branch, ..About::default() };
    write(&journal, sections, &about, context, ui)
}

fn close(items: &[String], context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let journal = writable(context, ui)?;
    let open = journal.open_items()?;
    let done: Vec<&OpenItem> = items.iter().map(|word| find_item(&open, word)).collect::<Result<_, _>>()?;
    write(&journal, core::close(&done), &About::default(), context, ui)
}

fn write(
    journal: &Journal,
    sections: Sections,
    about: &About,
    context: &Context,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let (planned, added) = journal
        .add(sections, about, context.now, &context.zone, &context.gate()?.scanner)
        .map_err(failure)?;
    print_added(&planned, &added, ui);
    Ok(Outcome::Done)
}

fn print_added(planned: &Planned, added: &Added, ui: &mut Ui) {
    if ui.is_json() {
        return ui.json(&json!({
            "name": planned.entry.name,
            "path": added.file.path,
            "description": planned.entry.description,
            "was_there": added.was_there,
            "open": planned.open.iter().map(item_json).collect::<Vec<Value>>(),
        }));
    }
    ui.line(&added.file.path.display().to_string());
    if added.was_there {
        ui.say("this session said the same before: nothing was written");
    }
}

/// Finds the open item that a word means: its id, the end of it, or its text.
pub(super) fn find_item<'i>(open: &'i [OpenItem], word: &str) -> Result<&'i OpenItem, Failure> {
    const SHORTEST: usize = 4;
    let id = word.trim_start_matches("u:").to_ascii_uppercase();
    let is_id = |item: &&OpenItem| {
        let known = item.id.to_ascii_uppercase();
        known == id || id.len() >= SHORTEST && known.ends_with(&id)
    };
    let is_text = |item: &&OpenItem| item.text.eq_ignore_ascii_case(word.trim());
    let found: Vec<&OpenItem> = open.iter().filter(|item| is_id(item) || is_text(item)).collect();
    match found[..] {
        [item] => Ok(item),
        [] => Err(Failure::refusal(format!("nothing is open under `{word}`"))
            .hint("`memdir journal open` lists what is unfinished")),
        _ => Err(Failure::error(format!("`{word}` means more than one")).hint("write more of the id")),
    }
}

fn list(journal: &Journal, limit: usize, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let files = journal.files()?;
    let read = |file: JournalFile| {
        let entry = journal.read_head(&file).ok().flatten()?;
        Some((file, entry))
    };
    let shown: Vec<(JournalFile, Entry)> = files.iter().take(limit).cloned().filter_map(read).collect();
    if ui.is_json() {
        ui.json(&shown.iter().map(|(file, entry)| head_json(file, entry)).collect::<Vec<Value>>());
        return Ok(Outcome::Done);
    }
    if shown.is_empty() {
        ui.say("no entries yet: `memdir wrap` writes one at the end of a session");
        return Ok(Outcome::Nothing);
    }
    let columns = [
        Column::new("name").tone(Tone::Strong),
        Column::new("description").giving_way(),
        Column::new("agent"),
        Column::new("written").tone(Tone::Faint),
    ];
    let row = |(file, entry): &(JournalFile, Entry)| {
        let agent = entry.agent.clone().unwrap_or_default();
        vec![entry.name.clone(), entry.description.clone(), agent, age(file.at, context.now)]
    };
    ui.table(&columns, &shown.iter().map(row).collect::<Vec<_>>());
    if files.len() > shown.len() {
        ui.say(&format!(
            "{} older ones: `memdir journal list -n {}`",
            files.len() - shown.len(),
            files.len()
        ));
    }
    Ok(Outcome::Done)
}

fn head_json(file: &JournalFile, entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "path": file.path,
        "at": file.at,
        "description": entry.description,
        "session": entry.session,
        "agent": entry.agent,
        "branch": entry.branch,
        "started": entry.started,
        "ended": entry.ended,
    })
}

fn show(journal: &Journal, which: Option<&str>, ui: &mut Ui) -> Result<Outcome, Failure> {
    let missing = || {
        let shown =
            which.map_or_else(|| "the journal is empty".to_owned(), |which| format!("no entry `{which}`"));
        Failure::refusal(shown).hint("`memdir journal list` shows what there is")
    };
    let mut files = journal.files()?.into_iter();
    let is_meant = |file: &JournalFile, which: &str| {
        let head = || journal.read_head(file).ok().flatten();
        file.stem.starts_with(which)
            || head().is_some_and(|entry| {
                entry.name == which || entry.session.is_some_and(|session| session.starts_with(which))
            })
    };
    let file = match which {
        None => files.next(),
        Some(which) => files.find(|file| is_meant(file, which)),
    };
    let file = file.ok_or_else(missing)?;
    let entry = journal.read(&file)?.ok_or_else(missing)?;
    if !ui.is_json() {
        ui.toned(Tone::Faint, &file.path.display().to_string());
        ui.block(&entry.render());
        return Ok(Outcome::Done);
    }
    let mut answer = head_json(&file, &entry);
    let item = |item: &Item| json!({ "id": item.id, "text": item.text, "done": item.is_done });
    answer["summary"] = json!(entry.sections.summary);
    answer["decisions"] = json!(entry.sections.decisions);
    answer["unfinished"] = entry.sections.unfinished.iter().map(item).collect();
    answer["related"] = json!(entry.sections.related);
    ui.json(&answer);
    Ok(Outcome::Done)
}

fn open(journal: &Journal, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let open = journal.open_items()?;
    if ui.is_json() {
        ui.json(&open.iter().map(item_json).collect::<Vec<Value>>());
    } else if open.is_empty() {
        ui.say("nothing is unfinished");
    } else {
        let columns = [
            Column::new("id").tone(Tone::Strong),
            Column::new("unfinished").giving_way(),
            Column::new("since").tone(Tone::Faint),
        ];
        let row = |item: &OpenItem| {
            let since = item.since.map(|since| age(since, context.now)).unwrap_or_default();
            vec![item.handle().to_owned(), item.text.clone(), since]
        };
        ui.table(&columns, &open.iter().map(row).collect::<Vec<_>>());
        ui.say("`memdir journal close ID` closes one");
    }
    Ok(if open.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Explains why an entry was not written.
pub(crate) fn failure(err: JournalError) -> Failure {
    match err {
        JournalError::Secret(refusals) => CommitError::Refused(refusals).into(),
        JournalError::TooLarge(_) => Failure { code: 1, ..Failure::from_chain(&err) }
            .hint("an entry is a summary; the transcript keeps the rest"),
        err => Failure::from_chain(&err),
    }
}
