//! What a session file tells without a model: prompts, files, commands, errors, todos.
//!
//! [`Digest::take`] is given the turns one by one and keeps a bounded part of them, so that a session of any length
//! can be read as a stream. The same turns always make the same words.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sections::{Item, Sections, one_line};
use crate::extract;
use crate::text::count;
use crate::transcript::{Role, Turn};

/// As many of the user's messages are kept, the last ones, and as much of each.
const MAX_MESSAGES: usize = 200;
const MAX_MESSAGE: usize = 2_000;
/// As many different files, commands and errors are counted.
const MAX_COUNTED: usize = 500;
/// As many of each are told.
const TOLD_PROMPTS: usize = 6;
const TOLD_FILES: usize = 12;
const TOLD_COMMANDS: usize = 6;
const TOLD_ERRORS: usize = 3;
const TOLD_DECISIONS: usize = 5;
const TOLD_TODOS: usize = 20;
/// Longest line that is told, in characters.
const MAX_LINE: usize = 120;

/// Tools that change a file, and the argument that names it.
const EDITORS: [&str; 7] =
    ["Edit", "Write", "MultiEdit", "NotebookEdit", "write_file", "replace", "edit_file"];
const PATH_ARGUMENTS: [&str; 4] = ["file_path", "notebook_path", "absolute_path", "path"];
/// Tools that run a command.
const SHELLS: [&str; 7] =
    ["Bash", "shell", "shell_command", "exec_command", "run_shell_command", "local_shell", "unified_exec"];
/// Commands that only look.
const LOOKING: [&str; 14] =
    ["ls", "cat", "cd", "pwd", "echo", "grep", "rg", "sed", "head", "tail", "find", "wc", "which", "sleep"];

/// What a session told so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// When its first turn was.
    pub started: Option<Timestamp>,
    /// When its last turn was.
    pub ended: Option<Timestamp>,
    /// The branch that it was last on.
    pub branch: Option<String>,
    n_prompts: usize,
    first: Option<String>,
    messages: VecDeque<(Option<Timestamp>, String)>,
    files: Vec<(String, usize)>,
    commands: Vec<(String, usize)>,
    errors: Vec<(String, usize)>,
    todos: Vec<(String, bool)>,
    ran_last: bool,
}

impl Digest {
    /// Takes the next turn.
    pub fn take(&mut self, turn: &Turn) {
        self.started = self.started.or(turn.at);
        self.ended = self.ended.max(turn.at);
        if turn.branch.is_some() {
            self.branch.clone_from(&turn.branch);
        }
        match turn.role {
            Role::User => self.hear(turn),
            Role::Tool => self.watch(&turn.text),
            Role::Assistant => {}
        }
    }

    /// Says whether the user said nothing.
    pub fn is_empty(&self) -> bool {
        self.n_prompts == 0
    }

    /// Returns the last messages of the user, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = (Option<Timestamp>, &str)> {
        self.messages.iter().map(|(at, text)| (*at, text.as_str()))
    }

    /// Returns the files that were changed, as the session names them.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(file, _)| file.as_str())
    }

    /// Returns the first line of what the user asked for first.
    pub fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// Returns how often the user said something.
    pub fn n_prompts(&self) -> usize {
        self.n_prompts
    }

    /// Returns the files that were changed, the commands that were run and the errors that came of them, each in the
    /// order in which they came first, with how often they came.
    pub fn counted(&self) -> [&[(String, usize)]; 3] {
        [&self.files, &self.commands, &self.errors]
    }

    /// Returns what the agent set out to do, and whether it is done.
    pub fn todos(&self) -> &[(String, bool)] {
        &self.todos
    }

    /// Makes the sections of a journal entry. Files below `root` are told from there.
    pub fn sections(&self, root: &str) -> Sections {
        let decided = extract::told(self.messages()).into_iter().filter(|told| told.is_decision);
        let left = self.todos.iter().filter(|(_, is_done)| !is_done).take(TOLD_TODOS);
        Sections {
            summary: self.summary(root),
            decisions: decided.take(TOLD_DECISIONS).map(|told| short(&told.text)).collect(),
            unfinished: left.map(|(text, _)| Item::open(text)).collect(),
            related: Vec::new(),
        }
    }

    fn summary(&self, root: &str) -> String {
        let branch = self.branch.as_ref().map(|branch| format!(" on `{branch}`")).unwrap_or_default();
        let first = self.first.as_deref().unwrap_or("nothing was asked");
        let mut lines = vec![format!("{} ({}{branch})", first, count(self.n_prompts, "prompt", "prompts"))];
        let later = self.messages.iter().skip(usize::from(self.n_prompts == self.messages.len()));
        let later: Vec<String> = later.map(|(_, text)| short(text)).collect();
        let skipped = later.len().saturating_sub(TOLD_PROMPTS);
        lines.extend(later[skipped..].iter().map(|text| format!("Then: {text}")));
        let files: Vec<(String, usize)> = self
            .files
            .iter()
            .map(|(file, n)| (file.strip_prefix(root).unwrap_or(file).trim_start_matches('/').to_owned(), *n))
            .collect();
        lines.extend(told("Changed", &files, TOLD_FILES, ", "));
        lines.extend(told("Ran", &self.commands, TOLD_COMMANDS, "; "));
        lines.extend(told("Failed", &self.errors, TOLD_ERRORS, "; "));
        lines.join("\n")
    }

    fn hear(&mut self, turn: &Turn) {
        self.ran_last = false;
        self.n_prompts += 1;
        let end = turn.text.floor_char_boundary(MAX_MESSAGE);
        self.first.get_or_insert_with(|| short(&turn.text));
        self.messages.push_back((turn.at, turn.text[..end].to_owned()));
        if self.messages.len() > MAX_MESSAGES {
            self.messages.pop_front();
        }
    }

    fn watch(&mut self, text: &str) {
        let (tool, arguments) = text.split_once('\n').unwrap_or((text, ""));
        let argument = |names: &[&str]| {
            let value = |line: &str| {
                let (key, value) = line.split_once(": ")?;
                names.contains(&key).then(|| value.to_owned())
            };
            arguments.lines().find_map(value)
        };
        let before = std::mem::take(&mut self.ran_last);
        match tool {
            tool if EDITORS.contains(&tool) => {
                argument(&PATH_ARGUMENTS).into_iter().for_each(|file| add(&mut self.files, &file));
            }
            "apply_patch" => patched(arguments).for_each(|file| add(&mut self.files, file)),
            tool if SHELLS.contains(&tool) => {
                let command = argument(&["command", "cmd"]).map(|command| shell_words(&command));
                if let Some(command) = command.as_deref().map(without_cd).filter(|command| !is_look(command))
                {
                    self.ran_last = true;
                    patched(arguments).for_each(|file| add(&mut self.files, file));
                    add(&mut self.commands, &short(command));
                }
            }
            "TodoWrite" => self.plan(argument(&["todos"]), "content"),
            "update_plan" => self.plan(argument(&["plan"]), "step"),
            "write_todos" => self.plan(argument(&["todos"]), "description"),
            "TaskCreate" => {
                self.todos.extend(argument(&["subject"]).map(|subject| (one_line(&subject), false)));
            }
            "TaskUpdate" => self.update_task(argument(&["taskId"]), argument(&["status"])),
            _ if before => {
                if let Some(line) = text.lines().map(str::trim).find(|line| is_error(line)) {
                    add(&mut self.errors, &short(line));
                }
            }
            _ => {}
        }
    }

    /// Takes a whole list of todos, which replaces the one before.
    fn plan(&mut self, list: Option<String>, key: &str) {
        let list: Option<Vec<Value>> = list.and_then(|list| serde_json::from_str(&list).ok());
        let text = |item: &Value| Some(one_line(item.get(key)?.as_str()?));
        let is_done = |item: &Value| {
            item.get("status")
                .and_then(Value::as_str)
                .is_some_and(|word| matches!(word, "completed" | "cancelled"))
        };
        if let Some(list) = list {
            self.todos = list.iter().filter_map(|item| Some((text(item)?, is_done(item)))).collect();
        }
    }

    fn update_task(&mut self, id: Option<String>, status: Option<String>) {
        let nth = id.and_then(|id| id.trim_matches('"').parse::<usize>().ok()).and_then(|n| n.checked_sub(1));
        if let (Some(task), Some(status)) = (nth.and_then(|nth| self.todos.get_mut(nth)), status) {
            task.1 = matches!(status.trim_matches('"'), "completed" | "deleted");
        }
    }
}

/// Finds the files that a patch names.
fn patched(text: &str) -> impl Iterator<Item = &str> {
    let heads = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    text.lines().filter_map(move |line| heads.iter().find_map(|head| line.strip_prefix(head)))
}

/// Returns the command of a list such as `["bash","-lc","cargo test"]`.
fn shell_words(command: &str) -> String {
    let words: Option<Vec<String>> = serde_json::from_str(command).ok();
    match words {
        Some(words) if words.get(1).is_some_and(|flag| flag.starts_with('-')) => {
            words.last().cloned().unwrap_or_default()
        }
        Some(words) => words.join(" "),
        None => command.to_owned(),
    }
}

fn is_error(line: &str) -> bool {
    let begins =
        ["error:", "error[", "Error:", "ERROR:", "fatal:", "FAILED", "Traceback (most", "panic:", "E   "];
    begins.iter().any(|begin| line.starts_with(begin)) || line.contains("panicked at ")
}

/// Leaves out the way to the directory that a command is run in.
fn without_cd(command: &str) -> &str {
    let mut command = command.trim();
    while let Some((_, rest)) = command.split_once("&& ").filter(|(way, _)| way.starts_with("cd ")) {
        command = rest.trim_start();
    }
    command
}

fn is_look(command: &str) -> bool {
    command.split_whitespace().next().is_none_or(|program| LOOKING.contains(&program))
}

fn add(counted: &mut Vec<(String, usize)>, text: &str) {
    if let Some((_, n)) = counted.iter_mut().find(|(known, _)| known == text) {
        *n += 1;
    } else if counted.len() < MAX_COUNTED {
        counted.push((text.to_owned(), 1));
    }
}

/// Tells the most frequent things, in the order in which they came.
fn told(what: &str, counted: &[(String, usize)], limit: usize, between: &str) -> Option<String> {
    let mut order: Vec<usize> = (0..counted.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(counted[at].1));
    order.truncate(limit);
    order.sort_unstable();
    let shown = |&at: &usize| match &counted[at] {
        (text, 1) => text.clone(),
        (text, n) => format!("{text} (×{n})"),
    };
    let shown: Vec<String> = order.iter().map(shown).collect();
    let more = counted.len().saturating_sub(limit);
    let more = if more > 0 { format!("{between}{more} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{what}: {}{more}", shown.join(between)))
}

/// Makes one line of a text, cut at its first line break and at a width.
fn short(text: &str) -> String {
    let line = one_line(text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default());
    let cut: String = line.chars().take(MAX_LINE).collect();
    if cut.len() < line.len() { format!("{}…", cut.trim_end()) } else { cut }
}
