//! The memory tool that models know: view, create, str_replace, insert, delete and rename below `/memories`.
//!
//! Models were taught the exact sentences that such a tool answers with, so they are spelled here and nowhere else. This
//! module decides and phrases; it opens nothing and writes nothing. It is handed the [`Files`] of a vault and returns an
//! [`Answer`], or a [`Change`] together with the sentence to say once that is made. Look at [`run`] first.

mod path;
mod phrase;
#[cfg(test)]
mod tests;
mod view;

use serde_json::{Map, Value};

use crate::memory::{INDEX_PAGE, MAX_BODY, MemoryPath};
use path::ToolPath;

pub use path::ROOT;

/// The names of the commands, in the order in which they are explained.
pub const COMMANDS: [&str; 6] = ["view", "create", "str_replace", "insert", "delete", "rename"];

/// A command, as a model gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Shows a file, or what a directory holds.
    View { path: String, range: Option<(i64, i64)> },
    /// Makes a file.
    Create { path: String, text: String },
    /// Replaces the one place that says `old`.
    StrReplace { path: String, old: String, new: String },
    /// Puts text behind a line; behind line 0 is the beginning.
    Insert { path: String, line: i64, text: String },
    /// Removes a file, or all below a directory.
    Delete { path: String },
    /// Gives a file or a directory another name.
    Rename { old: String, new: String },
}

/// The files that a command is about: a vault, or what stands for one in a test.
pub trait Files {
    /// Why they could not be read.
    type Error;

    /// Lists the memories and the index page, sorted, each with its size in bytes.
    fn list(&self) -> Result<Vec<(String, u64)>, Self::Error>;

    /// Reads one of them; `None` if there is none.
    fn read(&self, file: &File) -> Result<Option<Vec<u8>>, Self::Error>;
}

/// A file that the tool reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum File {
    /// The index page.
    Page,
    /// A memory.
    Memory(MemoryPath),
}

impl File {
    /// Returns its path below the vault.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Page => INDEX_PAGE,
            Self::Memory(path) => path.as_str(),
        }
    }
}

/// What a model is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// Whether it says that nothing was done.
    pub is_error: bool,
}

impl Answer {
    /// Makes an answer that says why nothing was done, in the form of the tool.
    pub fn refusal(reason: &str) -> Self {
        Self { text: format!("Error: {reason}"), is_error: true }
    }

    fn found(text: String) -> Self {
        Self { text, is_error: false }
    }

    fn failed(text: String) -> Self {
        Self { text, is_error: true }
    }
}

/// What a command wants to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A file that is not there.
    Create { file: File, text: Vec<u8> },
    /// Another text for a file, and the one it was made from.
    Replace { file: File, base: Vec<u8>, text: Vec<u8> },
    /// Memories that go.
    Remove(Vec<MemoryPath>),
    /// Memories with the paths that they get.
    Rename(Vec<(MemoryPath, MemoryPath)>),
}

/// What became of a command as far as can be told without writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// This is the answer.
    Done(Answer),
    /// This is to be changed, and then the sentence is the answer.
    Change(Change, String),
}

impl From<Answer> for Step {
    fn from(answer: Answer) -> Self {
        Self::Done(answer)
    }
}

impl Command {
    /// Reads what a model wrote.
    pub fn read(arguments: &Map<String, Value>) -> Result<Self, Answer> {
        let command = text(arguments, "command")?;
        let path = || text(arguments, "path");
        match command.as_str() {
            "view" => Ok(Self::View { path: path()?, range: range(arguments)? }),
            "create" => Ok(Self::Create { path: path()?, text: text(arguments, "file_text")? }),
            "str_replace" => {
                // Without a new text the old one is taken out.
                let new =
                    if is_given(arguments, "new_str") { text(arguments, "new_str")? } else { String::new() };
                Ok(Self::StrReplace { path: path()?, old: text(arguments, "old_str")?, new })
            }
            "insert" => Ok(Self::Insert {
                path: path()?,
                line: number(arguments, "insert_line")?,
                text: text(arguments, "insert_text")?,
            }),
            "delete" => Ok(Self::Delete { path: path()? }),
            "rename" => {
                Ok(Self::Rename { old: text(arguments, "old_path")?, new: text(arguments, "new_path")? })
            }
            other => Err(Answer::refusal(&format!(
                "there is no command `{}`: use one of {}",
                other.escape_debug().take(40).collect::<String>(),
                COMMANDS.join(", ")
            ))),
        }
    }

    /// Says whether the command changes anything.
    pub fn writes(&self) -> bool {
        !matches!(self, Self::View { .. })
    }
}

fn is_given(arguments: &Map<String, Value>, name: &str) -> bool {
    arguments.get(name).is_some_and(|value| !value.is_null())
}

fn text(arguments: &Map<String, Value>, name: &str) -> Result<String, Answer> {
    match arguments.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value) if !value.is_null() => Err(Answer::refusal(&format!("`{name}` must be a string"))),
        _ => Err(Answer::refusal(&format!("`{name}` is missing"))),
    }
}

fn number(arguments: &Map<String, Value>, name: &str) -> Result<i64, Answer> {
    let wrong = || Answer::refusal(&format!("`{name}` must be a whole number"));
    match arguments.get(name) {
        // Some models write numbers as strings.
        Some(Value::String(text)) => text.trim().parse().map_err(|_| wrong()),
        Some(value) => value.as_i64().ok_or_else(wrong),
        None => Err(Answer::refusal(&format!("`{name}` is missing"))),
    }
}

fn range(arguments: &Map<String, Value>) -> Result<Option<(i64, i64)>, Answer> {
    match arguments.get("view_range") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(ends)) => match ends.as_slice() {
            [from, to] => match (from.as_i64(), to.as_i64()) {
                (Some(from), Some(to)) => Ok(Some((from, to))),
                _ => Err(Answer::refusal("`view_range` must be two whole numbers")),
            },
            _ => Err(Answer::refusal("`view_range` must be two whole numbers")),
        },
        Some(_) => Err(Answer::refusal("`view_range` must be two whole numbers")),
    }
}

/// Decides what a command does to these files.
pub fn run<F: Files>(command: &Command, files: &F) -> Result<Step, F::Error> {
    match command {
        Command::View { path, range } => Ok(view(path, *range, files)?.into()),
        Command::Create { path, text } => create(path, text, files),
        Command::StrReplace { path, old, new } => str_replace(path, old, new, files),
        Command::Insert { path, line, text } => insert(path, *line, text, files),
        Command::Delete { path } => delete(path, files),
        Command::Rename { old, new } => rename(old, new, files),
    }
}

fn view<F: Files>(path: &str, range: Option<(i64, i64)>, files: &F) -> Result<Answer, F::Error> {
    let path = match ToolPath::new(path) {
        Ok(path) => path,
        Err(answer) => return Ok(answer),
    };
    if let Some(file) = path.file()
        && let Some(bytes) = files.read(&file)?
    {
        return Ok(view::file(path.shown(), &bytes, range));
    }
    let list = files.list()?;
    Ok(if path.is_root() || list.iter().any(|(file, _)| path.holds(file)) {
        view::directory(&path, &list)
    } else {
        Answer::failed(phrase::no_such_path_to_view(path.shown()))
    })
}

fn create<F: Files>(path: &str, text: &str, files: &F) -> Result<Step, F::Error> {
    let (file, path) = match ToolPath::new(path).and_then(|path| Ok((path.new_file()?, path))) {
        Ok(found) => found,
        Err(answer) => return Ok(answer.into()),
    };
    if let Some(answer) = too_large(text.len()) {
        return Ok(answer.into());
    }
    if files.read(&file)?.is_some() {
        return Ok(Answer::failed(phrase::file_exists(path.shown())).into());
    }
    let text = text.as_bytes().to_vec();
    Ok(Step::Change(Change::Create { file, text }, phrase::created(path.shown())))
}

/// A file that is to be changed: its path, what it is, and its bytes.
type Found = (ToolPath, File, Vec<u8>);

/// Reads the file that is to be changed, or says why it cannot be.
fn existing<F: Files>(
    path: &str,
    files: &F,
    missing: fn(&str) -> String,
) -> Result<Result<Found, Answer>, F::Error> {
    let path = match ToolPath::new(path) {
        Ok(path) => path,
        Err(answer) => return Ok(Err(answer)),
    };
    let found = match path.file() {
        Some(file) => files.read(&file)?.map(|bytes| (file, bytes)),
        None => None,
    };
    Ok(match found {
        Some((file, bytes)) => Ok((path, file, bytes)),
        None => Err(Answer::failed(missing(path.shown()))),
    })
}

fn str_replace<F: Files>(path: &str, old: &str, new: &str, files: &F) -> Result<Step, F::Error> {
    let (path, file, base) = match existing(path, files, phrase::no_such_path_to_edit)? {
        Ok(found) => found,
        Err(answer) => return Ok(answer.into()),
    };
    let old_bytes = view::as_stored(old, &base);
    let places: Vec<usize> = match old_bytes.is_empty() {
        true => Vec::new(),
        false => memchr::memmem::find_iter(&base, &old_bytes).collect(),
    };
    let at = match places.as_slice() {
        [] => return Ok(Answer::failed(phrase::not_found(old, path.shown())).into()),
        [at] => *at,
        places => {
            let lines: Vec<usize> = places.iter().map(|at| view::line_of(&base, *at)).collect();
            return Ok(Answer::failed(phrase::found_more_than_once(old, &lines)).into());
        }
    };
    let text = [&base[..at], new.as_bytes(), &base[at + old_bytes.len()..]].concat();
    if let Some(answer) = too_large(text.len()) {
        return Ok(answer.into());
    }
    let said = phrase::edited(&view::snippet(&text, at, new.len()));
    Ok(Step::Change(Change::Replace { file, base, text }, said))
}

fn insert<F: Files>(path: &str, line: i64, new: &str, files: &F) -> Result<Step, F::Error> {
    let (path, file, base) = match existing(path, files, phrase::no_such_path)? {
        Ok(found) => found,
        Err(answer) => return Ok(answer.into()),
    };
    let n_lines = view::lines(&base).len();
    let Some(line) = usize::try_from(line).ok().filter(|line| *line <= n_lines) else {
        return Ok(Answer::failed(phrase::no_such_line(line, n_lines)).into());
    };
    let text = view::with_inserted(&base, line, new);
    if let Some(answer) = too_large(text.len()) {
        return Ok(answer.into());
    }
    Ok(Step::Change(Change::Replace { file, base, text }, phrase::inserted(path.shown())))
}

fn delete<F: Files>(path: &str, files: &F) -> Result<Step, F::Error> {
    let path = match ToolPath::new(path) {
        Ok(path) if path.is_root() => {
            return Ok(Answer::refusal("the memory directory itself cannot be deleted").into());
        }
        Ok(path) => path,
        Err(answer) => return Ok(answer.into()),
    };
    let going = match memories_at(&path, files)? {
        Ok(going) => going,
        Err(answer) => return Ok(answer.into()),
    };
    Ok(Step::Change(Change::Remove(going), phrase::deleted(path.shown())))
}

fn rename<F: Files>(old: &str, new: &str, files: &F) -> Result<Step, F::Error> {
    let (old, new) = match ToolPath::new(old).and_then(|old| Ok((old, ToolPath::new(new)?))) {
        Ok(paths) => paths,
        Err(answer) => return Ok(answer.into()),
    };
    if old.is_root() || new.is_root() {
        return Ok(Answer::refusal("the memory directory itself cannot be renamed").into());
    }
    let going = match memories_at(&old, files)? {
        Ok(going) => going,
        Err(answer) => return Ok(answer.into()),
    };
    let is_taken = |(file, _): &(String, u64)| file == new.below() || new.holds(file);
    if files.list()?.iter().any(is_taken) {
        return Ok(Answer::failed(phrase::destination_exists(new.shown())).into());
    }
    let moved = |path: MemoryPath| Ok((new.with_rest(path.as_str(), &old)?, path));
    let pairs: Result<Vec<(MemoryPath, MemoryPath)>, Answer> = going.into_iter().map(moved).collect();
    Ok(match pairs {
        Ok(pairs) => {
            let pairs = pairs.into_iter().map(|(to, from)| (from, to)).collect();
            Step::Change(Change::Rename(pairs), phrase::renamed(old.shown(), new.shown()))
        }
        Err(answer) => answer.into(),
    })
}

/// Returns the memory at a path, or all below it where it is a directory.
fn memories_at<F: Files>(path: &ToolPath, files: &F) -> Result<Result<Vec<MemoryPath>, Answer>, F::Error> {
    if path.file() == Some(File::Page) {
        return Ok(Err(Answer::refusal(
            "MEMORY.md is made from the memories: it stays where it is, and changes with them",
        )));
    }
    let list = files.list()?;
    let is_meant = |file: &&(String, u64)| file.0 == path.below() || path.holds(&file.0);
    let memories: Vec<MemoryPath> =
        list.iter().filter(is_meant).filter_map(|(file, _)| MemoryPath::new(file).ok()).collect();
    Ok(if memories.is_empty() {
        Err(Answer::failed(phrase::no_such_path(path.shown())))
    } else {
        Ok(memories)
    })
}

fn too_large(n_bytes: usize) -> Option<Answer> {
    let reason = || format!("{n_bytes} bytes are too many: a memory has at most {MAX_BODY}; split it");
    (n_bytes > MAX_BODY).then(|| Answer::refusal(&reason()))
}
