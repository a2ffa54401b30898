//! A tool call in common terms: a command, or files that are read or edited.

use serde_json::Value;

use super::names::{EDITORS, READERS, SHELLS};

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a command.
    Shell,
    /// Changes files.
    Edit,
    /// Reads files.
    Read,
    /// Something else.
    Other,
}

/// The use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The host's name for it.
    pub name: String,
    pub kind: ToolKind,
    /// What is run; empty if nothing is.
    pub command: String,
    /// Which files are read or edited, as the host spells them.
    pub files: Vec<String>,
}

/// Under which keys hosts put a path.
const PATH_KEYS: [&str; 8] =
    ["file_path", "filePath", "path", "absolute_path", "notebook_path", "file", "target_file", "filename"];
const PATHS_KEYS: [&str; 3] = ["paths", "files", "file_paths"];
/// Under which keys hosts put a command.
const COMMAND_KEYS: [&str; 3] = ["command", "cmd", "script"];
/// The lines of a patch that name a file.
const PATCH_MARKS: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

impl Tool {
    /// Reads a call. `input` is an object, or a text that holds one.
    pub(crate) fn new(name: &str, input: &Value) -> Self {
        let parsed = input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let input = parsed.as_ref().filter(|parsed| parsed.is_object()).unwrap_or(input);
        let lower = name.to_lowercase();
        let is = |names: &[&str]| names.contains(&lower.as_str());
        let kind = match () {
            () if is(&SHELLS) => ToolKind::Shell,
            () if is(&EDITORS) => ToolKind::Edit,
            () if is(&READERS) => ToolKind::Read,
            () => ToolKind::Other,
        };
        let command = if kind == ToolKind::Shell { command(input) } else { String::new() };
        let files = if kind == ToolKind::Shell { Vec::new() } else { files(input) };
        Self { name: name.to_owned(), kind, command, files }
    }
}

/// A command is a text or a list of arguments.
fn command(input: &Value) -> String {
    let found = COMMAND_KEYS.iter().find_map(|key| input.get(key)).or(input.is_string().then_some(input));
    match found {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            // `bash -lc "…"` runs what stands in its last argument.
            match words[..] {
                [shell, flags, script] if shell.ends_with("sh") && flags.starts_with('-') => {
                    script.to_owned()
                }
                _ => words.join(" "),
            }
        }
        _ => String::new(),
    }
}

fn files(input: &Value) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let one = PATH_KEYS.iter().filter_map(|key| input.get(key)).filter_map(Value::as_str);
    let many = PATHS_KEYS.iter().filter_map(|key| input.get(key)).filter_map(Value::as_array);
    let many = many.flatten().filter_map(Value::as_str);
    files.extend(one.chain(many).map(str::to_owned));
    let patch = ["patch", "input", "command"].iter().find_map(|key| input.get(key)).and_then(Value::as_str);
    let patch = patch.or(input.as_str()).unwrap_or_default();
    let named = patch.lines().filter_map(|line| PATCH_MARKS.iter().find_map(|mark| line.strip_prefix(mark)));
    files.extend(named.map(|path| path.trim().to_owned()));
    files.retain(|file| !file.is_empty());
    let mut seen = Vec::new();
    files.retain(|file| {
        let is_new = !seen.contains(file);
        seen.push(file.clone());
        is_new
    });
    files
}
