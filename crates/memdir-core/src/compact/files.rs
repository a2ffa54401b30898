//! What a conversation knows of files: what it read and wrote, followed through its edits.
//!
//! A file is known by the result of a read or by what was written. An edit is followed where its old text is found; where
//! it is not, the file is no longer known, because a text that is not the file's is worse than none. Nothing here is read
//! from a disk.

use std::collections::HashMap;

use serde_json::Value;

use super::references::References;
use crate::host::{Tool, ToolKind};
use crate::transcript::json::{inner, is_true, text};
use crate::transcript::{Role, without_injected};

/// The tool of Gemini CLI that shows files together, how it marks them off,
const MANY: &str = "read_many_files";
const MANY_OPEN: &str = "--- ";
const MANY_CLOSE: &str = " ---\n\n";
const MANY_NEXT: &str = "\n\n\n--- ";
const MANY_END: &str = "\n--- End of content ---";
/// how it says that one of them is not whole, or the only one is not,
const CUT_OF_MANY: &str = "[WARNING: This file was truncated.";
const CUT: &str = "IMPORTANT: The file content has been truncated.";
const CUT_TEXT: &str = "--- FILE CONTENT (truncated) ---\n";
/// and that the user wrote something else into a file.
const CHANGED_BY_USER: &str = "User modified the `";

/// What is known of the files of a conversation.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) references: References,
    known: HashMap<String, Known>,
    edited: HashMap<String, usize>,
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// Its text, or a part of it.
    pub(super) text: String,
    /// Whether it is only a part.
    pub(super) is_part: bool,
}

impl Files {
    /// Takes a call with what came of it.
    pub(super) fn take(&mut self, tool: &Tool, input: &Value, result: &str, failed: bool) {
        let input = &unpacked(input);
        if tool.name == MANY && !failed && self.read_many(result) {
            return;
        }
        let named = self.named(tool);
        for path in &named {
            self.references.note(path);
            if failed {
                continue;
            }
            match tool.kind {
                ToolKind::Edit if result.contains(CHANGED_BY_USER) => self.forget(path),
                ToolKind::Edit => self.edit(path, input),
                // Which part of the result is whose is not known.
                ToolKind::Read | ToolKind::Shell if named.len() > 1 => {}
                ToolKind::Read | ToolKind::Shell => self.read(path, input, result),
                ToolKind::Other => {}
            }
        }
    }

    /// Takes what Gemini CLI gives back for several files, and says whether it was that.
    fn read_many(&mut self, result: &str) -> bool {
        let Some(shown) = shown_many(result) else { return false };
        for (path, text) in shown {
            self.references.note(path);
            self.read(path, &Value::Null, text);
        }
        true
    }

    /// Takes note of an edit that did something else than it was asked to.
    fn forget(&mut self, path: &str) {
        *self.edited.entry(path.to_owned()).or_default() += 1;
        self.known.remove(path);
    }

    /// Returns the text of a file, if it is known.
    pub(super) fn known(&self, path: &str) -> Option<&Known> {
        self.known.get(path)
    }

    /// Returns how often a file was changed.
    pub(super) fn n_edits(&self, path: &str) -> usize {
        self.edited.get(path).copied().unwrap_or_default()
    }

    /// Takes up what an earlier compaction gave back.
    pub(super) fn take_up(&mut self, path: &str, known: Known, count: usize) {
        (0..count.clamp(1, 1_000)).for_each(|_| self.references.note(path));
        self.known.insert(path.to_owned(), known);
    }

    fn named(&self, tool: &Tool) -> Vec<String> {
        match tool.kind {
            ToolKind::Shell => shown_whole(&tool.command).map(str::to_owned).into_iter().collect(),
            ToolKind::Read | ToolKind::Edit => tool.files.clone(),
            ToolKind::Other => Vec::new(),
        }
    }

    fn read(&mut self, path: &str, input: &Value, result: &str) {
        let result = without_injected(Role::Tool, result);
        let result = result.trim_end();
        if result.is_empty() || result.starts_with("File unchanged") {
            return;
        }
        let cut = cut_short(result);
        let result = cut.unwrap_or(result);
        let is_part = ["offset", "limit", "view_range", "start_line", "end_line"]
            .iter()
            .any(|key| input.get(key).is_some_and(|value| !value.is_null()));
        let is_part = is_part || cut.is_some();
        if is_part && self.known.get(path).is_some_and(|known| !known.is_part) {
            return;
        }
        let text = without_line_numbers(result).unwrap_or_else(|| result.to_owned());
        self.known.insert(path.to_owned(), Known { text, is_part });
    }

    fn edit(&mut self, path: &str, input: &Value) {
        let command = text(input, "command").unwrap_or_default();
        if command == "view" {
            return;
        }
        *self.edited.entry(path.to_owned()).or_default() += 1;
        let whole = ["content", "file_text"].iter().find_map(|key| text(input, key));
        if let Some(whole) = whole {
            self.known.insert(path.to_owned(), Known { text: whole.to_owned(), is_part: false });
            return;
        }
        let Some(mut known) = self.known.remove(path) else { return };
        let edits = input.get("edits").and_then(Value::as_array);
        let is_followed = match edits {
            Some(edits) => edits.iter().all(|edit| follow(&mut known.text, edit)),
            None => follow(&mut known.text, input),
        };
        if is_followed {
            self.known.insert(path.to_owned(), known);
        }
    }
}

/// Makes one edit; `false` if its old text is not there, or not once where it must be.
fn follow(known: &mut String, edit: &Value) -> bool {
    let any = |keys: [&str; 2]| keys.iter().find_map(|key| text(edit, key));
    let (Some(old), Some(new)) = (any(["old_string", "old_str"]), any(["new_string", "new_str"])) else {
        return false;
    };
    let n_found = if old.is_empty() { 0 } else { known.matches(old).take(2).count() };
    match (n_found, ["replace_all", "allow_multiple"].iter().any(|key| is_true(edit, key))) {
        (1, _) | (2, true) => *known = known.replace(old, new),
        _ => return false,
    }
    true
}

/// Arguments may be JSON inside of a string.
fn unpacked(input: &Value) -> Value {
    input.as_str().map_or_else(|| input.clone(), inner)
}

/// Cuts what Gemini CLI gives back for several files into the files; `None` if it is something else.
fn shown_many(result: &str) -> Option<Vec<(&str, &str)>> {
    let files = result.trim_end().strip_suffix(MANY_END)?.strip_prefix(MANY_OPEN)?;
    // A file has such a line in it as well, but hardly with the space that the tool leaves around its own.
    let shown = files.split(MANY_NEXT).map(|file| file.split_once(MANY_CLOSE));
    shown.collect::<Option<Vec<_>>>().filter(|shown| shown.iter().all(|(path, _)| !path.contains('\n')))
}

/// Returns the text of a file that Gemini CLI did not show whole; `None` if nothing says that.
fn cut_short(result: &str) -> Option<&str> {
    if let Some(rest) = result.strip_prefix(CUT_OF_MANY) {
        return rest.split_once("\n\n").map(|(_, text)| text);
    }
    let rest = result.trim_start().strip_prefix(CUT)?;
    rest.split_once(CUT_TEXT).map(|(_, text)| text)
}

/// Returns the file that a command shows whole: `cat FILE`.
fn shown_whole(command: &str) -> Option<&str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["cat", file]
            if !file.starts_with('-') && !file.contains(['|', '>', '<', ';', '&', '*', '$', '`']) =>
        {
            Some(file.trim_matches(['"', '\'']))
        }
        _ => None,
    }
}

/// Takes the numbers off that readers put before each line; `None` if there are none.
fn without_line_numbers(text: &str) -> Option<String> {
    let bare = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        let has_number = rest.len() < line.trim_start().len();
        let bare = rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t'))?;
        has_number.then(|| bare.to_owned())
    };
    let lines: Option<Vec<String>> = text.lines().map(bare).collect();
    Some(lines?.join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn take(files: &mut Files, name: &str, input: Value, result: &str) {
        files.take(&Tool::new(name, &input), &input, result, false);
    }

    #[test]
    fn a_file_is_followed_through_its_edits() {
        let mut files = Files::default();
        let read = "     1→fn main() {\n     2→    one();\n     3→}\n\n<system-reminder>\nbe careful\n</system-reminder>";
        take(&mut files, "Read", json!({ "file_path": "src/main.rs" }), read);
        assert_eq!(files.known("src/main.rs").unwrap().text, "fn main() {\n    one();\n}");
        let edit = json!({ "file_path": "src/main.rs", "old_string": "one()", "new_string": "two()" });
        take(&mut files, "Edit", edit.clone(), "ok");
        assert_eq!(files.known("src/main.rs").unwrap().text, "fn main() {\n    two();\n}");
        assert_eq!((files.references.count("src/main.rs"), files.n_edits("src/main.rs")), (2, 1));
        // The old text is gone: what the file says now is not known any more.
        take(&mut files, "Edit", edit, "ok");
        assert_eq!(files.known("src/main.rs"), None);
        take(&mut files, "Write", json!({ "file_path": "src/main.rs", "content": "new" }), "ok");
        assert_eq!(files.known("src/main.rs"), Some(&Known { text: "new".into(), is_part: false }));
    }

    #[test]
    fn a_part_does_not_take_the_place_of_the_whole() {
        let mut files = Files::default();
        let part = json!({ "file_path": "a", "offset": 10 });
        take(&mut files, "Read", part.clone(), "tail");
        assert!(files.known("a").unwrap().is_part);
        take(&mut files, "Read", json!({ "file_path": "a" }), "head and tail");
        take(&mut files, "Read", part, "tail");
        assert_eq!(files.known("a").unwrap().text, "head and tail");
    }

    /// As Gemini CLI gives them back.
    #[test]
    fn files_that_are_shown_together_are_told_apart() {
        let mut files = Files::default();
        let shown = "--- /p/a.md ---\n\n# A\n--- not a file ---\nend of a\n\n\n--- /p/b.rs ---\n\n[WARNING: This file was truncated. Read it.]\n\nfn b() {}\n\n\n\n--- End of content ---";
        take(&mut files, "read_many_files", json!({ "include": ["**/*"] }), shown);
        assert_eq!(files.known("/p/a.md").unwrap().text, "# A\n--- not a file ---\nend of a");
        assert_eq!(files.known("/p/b.rs"), Some(&Known { text: "fn b() {}".into(), is_part: true }));
        take(&mut files, "read_many_files", json!({ "paths": ["x", "y"] }), "both of them");
        assert_eq!((files.known("x"), files.references.count("y")), (None, 1));
        let cut = "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-1 of 9.\n\n--- FILE CONTENT (truncated) ---\nfirst line";
        take(&mut files, "read_file", json!({ "file_path": "/p/c.rs" }), cut);
        assert_eq!(files.known("/p/c.rs"), Some(&Known { text: "first line".into(), is_part: true }));
    }

    #[test]
    fn an_edit_that_the_user_changed_is_not_followed() {
        let mut files = Files::default();
        let write = json!({ "file_path": "a", "content": "one one" });
        take(&mut files, "write_file", write.clone(), "Successfully created a");
        let edit =
            json!({ "file_path": "a", "old_string": "one", "new_string": "two", "allow_multiple": true });
        take(&mut files, "replace", edit, "Successfully modified a");
        assert_eq!(files.known("a").unwrap().text, "two two");
        take(
            &mut files,
            "write_file",
            write,
            "Successfully overwrote a. User modified the `content` to be: three",
        );
        assert_eq!((files.known("a"), files.n_edits("a")), (None, 3));
    }

    #[test]
    fn a_command_that_shows_a_file_is_a_read() {
        let mut files = Files::default();
        take(&mut files, "shell", json!({ "command": ["bash", "-lc", "cat Cargo.toml"] }), "[package]");
        take(&mut files, "shell", json!({ "command": ["bash", "-lc", "cat a | wc -l"] }), "7");
        assert_eq!(files.known("Cargo.toml").unwrap().text, "[package]");
        assert_eq!(files.references.top(9).len(), 1);
    }
}
