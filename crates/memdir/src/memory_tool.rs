//! The memory tool: the commands that models know, over the project's vault, whoever brings them.
//!
//! What the commands do and say is decided by `memdir_core::memory_tool`; this module shows it the vault and commits what it
//! wants changed, in the agent's name. What a person would only be warned about never stops an agent here: its faults of form
//! are found by `doctor`, and what a gate would have asked about stands in the log. Secrets, sizes and paths are refused.

use memdir_core::change::{Author, ChangeSet, Edit, Exit, Surface};
use memdir_core::memory::{INDEX_PAGE, MemoryPath, Provenance};
use memdir_core::memory_tool::{self as tool, Answer, Change, Command, File, Files, Step};
use memdir_core::policy::{Refusal, Review};
use memdir_store::disk::ReadError;
use memdir_store::evidence::{self, Sign, Witness};
use memdir_store::vault::{CommitError, Committed, MAX_MEMORY, Vault};
use serde_json::{Map, Value};

use crate::cli::rename;
use crate::context::{Context, Shelf};
use crate::failure::Failure;
use crate::ui::Ui;

/// Why soft gates are passed over.
const AS_WRITTEN: &str = "the memory tool keeps what an agent writes";
const OFF: &str = "memory is switched off here";
const WAITS: &str = "the change waits for the user's word (memdir review)";

/// Who uses the tool, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct User<'u> {
    pub(crate) context: &'u Context,
    pub(crate) ui: &'u Ui,
    /// The session that the call belongs to.
    pub(crate) session: &'u str,
    /// What the program calls itself.
    pub(crate) client: &'u str,
    /// How the call came.
    pub(crate) by: Surface,
    /// Whether it may change anything.
    pub(crate) may_write: bool,
}

impl User<'_> {
    /// Notes what the call says about memories that the session knows.
    fn note(&self, vault: &Vault, signs: &[Sign<'_>]) {
        let witness = Witness { session: self.session, now: self.context.now, by: self.by };
        evidence::note(std::slice::from_ref(vault), signs, &witness);
    }
}

/// Answers a call; without a user memory is off, and the answer is that of an empty vault.
pub(crate) fn run(arguments: &Map<String, Value>, user: Option<User<'_>>) -> Result<Answer, Failure> {
    let command = match Command::read(arguments) {
        Ok(command) => command,
        Err(answer) => return Ok(answer),
    };
    let Some(user) = user else {
        return Ok(if command.writes() { Answer::refusal(OFF) } else { step(&command, None)?.0 });
    };
    if command.writes() && !user.may_write {
        return Err(Failure::refusal("this token may only read"));
    }
    let vault = user.context.open_project()?;
    let (answer, change) = step(&command, vault.as_ref())?;
    let Some(change) = change else {
        note_read(&command, &answer, vault.as_ref(), &user);
        return Ok(answer);
    };
    Ok(match carry_out(change, &command, &user) {
        Ok(committed) if committed.waits() => Answer::refusal(WAITS),
        Ok(_) => answer,
        Err(why) => Answer::refusal(&why),
    })
}

/// Decides what a command does: the answer, and what has to be changed before it is true.
fn step(command: &Command, vault: Option<&Vault>) -> Result<(Answer, Option<Change>), Failure> {
    Ok(match tool::run(command, &Shown(vault))? {
        Step::Done(answer) => (answer, None),
        Step::Change(change, text) => (Answer { text, is_error: false }, Some(change)),
    })
}

/// A vault as the tool sees it; none holds nothing.
struct Shown<'v>(Option<&'v Vault>);

impl Files for Shown<'_> {
    type Error = Failure;

    fn list(&self) -> Result<Vec<(String, u64)>, Failure> {
        let Some(vault) = self.0 else { return Ok(Vec::new()) };
        let paths = vault.names().map_err(|err| unreadable(vault, &err))?;
        let names = paths.iter().map(MemoryPath::as_str).chain([INDEX_PAGE]);
        let size = |path: &str| {
            let (folder, name) = vault.dir().folder(path).ok()?;
            Some((path.to_owned(), folder.stat(name).ok()??.size))
        };
        let mut files: Vec<(String, u64)> = names.filter_map(size).collect();
        files.sort_unstable();
        Ok(files)
    }

    fn read(&self, file: &File) -> Result<Option<Vec<u8>>, Failure> {
        let Some(vault) = self.0 else { return Ok(None) };
        match vault.dir().read(file.as_str(), MAX_MEMORY) {
            Ok(bytes) => Ok(bytes),
            // A link or a directory is nothing that could be read here.
            Err(ReadError::NotAFile) => Ok(None),
            Err(ReadError::Io(err)) if err.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(unreadable(vault, &err)),
        }
    }
}

fn unreadable(vault: &Vault, err: &dyn std::fmt::Display) -> Failure {
    Failure::error(format!("could not read the vault {}: {err}", vault.path().display()))
}

/// Makes the change, as one change set of the agent; says why it was not made.
fn carry_out(change: Change, command: &Command, user: &User<'_>) -> Result<Committed, String> {
    let vault = user.context.create_project(user.ui).map_err(|failure| failure.message)?;
    let (edits, page) = match change {
        Change::Create { file: File::Memory(path), text } => (vec![Edit::Create { path, text }], None),
        Change::Replace { file: File::Memory(path), base, text } => {
            (vec![Edit::Replace { path, base, text }], None)
        }
        Change::Create { file: File::Page, text } => (Vec::new(), Some((Vec::new(), text))),
        Change::Replace { file: File::Page, base, text } => (Vec::new(), Some((base, text))),
        Change::Remove(paths) => (removals(&vault, paths)?, None),
        Change::Rename(pairs) => (renames(&vault, &pairs)?, None),
    };
    let set = ChangeSet {
        author: Author::Agent,
        by: user.by,
        provenance: Provenance::Agent,
        reason: format!("memory tool, {} by {}", word(command), user.client),
        session: Some(user.session.to_owned()),
        force: Some(AS_WRITTEN.to_owned()),
        edits,
    };
    let committed = commit(&vault, &set, page, user.context)?;
    let touched: Vec<String> =
        set.edits.iter().map(|edit| vault.path().join(edit.path().as_str()).display().to_string()).collect();
    let signs: Vec<Sign> = touched.iter().map(|path| Sign::Edited(path)).collect();
    user.note(&vault, &signs);
    Ok(committed)
}

fn commit(
    vault: &Vault,
    set: &ChangeSet,
    page: Option<(Vec<u8>, Vec<u8>)>,
    context: &Context,
) -> Result<Committed, String> {
    let gate = context.gate().map_err(|failure| failure.message)?;
    gate.look_ahead(set);
    let mut writer = context.writer(vault).map_err(|failure| failure.message)?;
    let committed = match page {
        None => writer.commit(set).map_err(reason)?,
        Some(_) if gate.review == Review::Ask => return Err(WAITS.to_owned()),
        Some((base, text)) => writer.write_page(&base, text, set).map_err(reason)?,
    };
    // Old history is dropped in passing; if that fails there is another day.
    let _ = writer.prune();
    Ok(committed)
}

fn word(command: &Command) -> &'static str {
    match command {
        Command::View { .. } => "view",
        Command::Create { .. } => "create",
        Command::StrReplace { .. } => "str_replace",
        Command::Insert { .. } => "insert",
        Command::Delete { .. } => "delete",
        Command::Rename { .. } => "rename",
    }
}

fn removals(vault: &Vault, paths: Vec<MemoryPath>) -> Result<Vec<Edit>, String> {
    let removal = |path: MemoryPath| {
        let base = bytes(vault, &path)?;
        Ok(Edit::Remove { path, base, into: Exit::Trash })
    };
    paths.into_iter().map(removal).collect()
}

fn bytes(vault: &Vault, path: &MemoryPath) -> Result<Vec<u8>, String> {
    let gone = || format!("The path {}/{path} does not exist", tool::ROOT);
    vault.dir().read(path.as_str(), MAX_MEMORY).map_err(|err| err.to_string())?.ok_or_else(gone)
}

/// Renames a memory as the command does, with the links to it; a directory file by file, whose names stay.
fn renames(vault: &Vault, pairs: &[(MemoryPath, MemoryPath)]) -> Result<Vec<Edit>, String> {
    let said = |failure: Failure| failure.message;
    let shelf = Shelf::new(vault.clone()).map_err(said)?;
    let mut edits = Vec::new();
    for (from, to) in pairs {
        edits.extend(rename::edits(&shelf, &shelf.load(from).map_err(said)?, to).map_err(said)?);
    }
    Ok(edits)
}

/// Says in one line why a change was not made.
fn reason(err: CommitError) -> String {
    match err {
        CommitError::Refused(refusals) => {
            let one = |refusal: &Refusal| format!("{} ({})", refusal.evidence, refusal.destination);
            refusals.iter().map(one).collect::<Vec<_>>().join("; ")
        }
        CommitError::Exists(name) => format!("another memory is called `{name}` already"),
        err => Failure::from_chain(&err).message,
    }
}

/// Notes that the session read a memory.
fn note_read(command: &Command, answer: &Answer, vault: Option<&Vault>, user: &User<'_>) {
    let (Command::View { path, .. }, Some(vault), false) = (command, vault, answer.is_error) else { return };
    let below = path.strip_prefix(tool::ROOT).unwrap_or_default().trim_start_matches('/');
    if let Ok(below) = MemoryPath::new(below)
        && let Some(file) = vault.path().join(below.as_str()).to_str()
    {
        user.note(vault, &[Sign::Read(file)]);
    }
}
