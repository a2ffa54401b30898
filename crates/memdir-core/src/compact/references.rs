//! Which files a conversation is about: those it referred to often, and lately.
//!
//! Each reference counts, and counts half as much for every quarter of the conversation that came after it. So a file that
//! is read again and again stays ahead of one that was opened once, and what was touched last beats what was touched as
//! often long ago. Look at [`References::top`].

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::host::{Tool, ToolKind};
use crate::transcript::{Role, Turn};

/// As many files come back after a compaction.
pub const RESTORED_FILES: usize = 5;

/// In a short conversation nothing is long ago: a reference takes at least as many steps to fade by half.
const SHORTEST: f64 = 10.0;

/// References to files, in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    files: HashMap<String, Vec<usize>>,
    now: usize,
}

/// A file, and how it was referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference<'r> {
    /// The file, as the conversation names it.
    pub path: &'r str,
    /// How often it was referred to.
    pub count: usize,
    /// When it was for the last time, in steps of the conversation.
    pub last: usize,
}

impl References {
    /// Goes on in the conversation by one step.
    pub fn step(&mut self) {
        self.now += 1;
    }

    /// Notes that a file is referred to now.
    pub fn note(&mut self, path: &str) {
        self.files.entry(path.to_owned()).or_default().push(self.now);
    }

    /// Takes the next turn of a session file, where a call is its name and its arguments, a line each.
    pub fn take(&mut self, turn: &Turn) {
        self.step();
        let Some((name, arguments)) = turn.text.split_once('\n').filter(|_| turn.role == Role::Tool) else {
            return;
        };
        let argument = |line: &str| {
            let (key, value) = line.split_once(": ")?;
            Some((key.to_owned(), Value::String(value.to_owned())))
        };
        let mut input: Map<String, Value> = arguments.lines().filter_map(argument).collect();
        // A patch has lines of its own.
        input.insert("input".to_owned(), Value::String(arguments.to_owned()));
        let tool = Tool::new(name, &Value::Object(input));
        if matches!(tool.kind, ToolKind::Read | ToolKind::Edit) {
            tool.files.iter().for_each(|path| self.note(path));
        }
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns how often a file was referred to.
    pub fn count(&self, path: &str) -> usize {
        self.files.get(path).map_or(0, Vec::len)
    }

    /// Returns the files that matter most, the most important one first.
    pub fn top(&self, n: usize) -> Vec<Reference<'_>> {
        let mut ranked: Vec<(f64, Reference<'_>)> =
            self.files.iter().map(|(path, at)| (self.weight(at), reference(path, at))).collect();
        let newer = |one: &Reference<'_>, other: &Reference<'_>| other.last.cmp(&one.last);
        ranked.sort_by(|(weight, one), (other_weight, other)| {
            let order = other_weight.total_cmp(weight).then_with(|| newer(one, other));
            order.then_with(|| one.path.cmp(other.path))
        });
        ranked.into_iter().take(n).map(|(_, reference)| reference).collect()
    }

    fn weight(&self, at: &[usize]) -> f64 {
        let half_life = (self.now as f64 / 4.0).max(SHORTEST);
        at.iter().map(|at| 0.5_f64.powf((self.now - at) as f64 / half_life)).sum()
    }
}

fn reference<'r>(path: &'r str, at: &[usize]) -> Reference<'r> {
    Reference { path, count: at.len(), last: at.last().copied().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(steps: &[&str]) -> Vec<String> {
        let mut references = References::default();
        for path in steps {
            references.step();
            references.note(path);
        }
        references.top(RESTORED_FILES).iter().map(|reference| reference.path.to_owned()).collect()
    }

    #[test]
    fn calls_of_a_session_file_are_references() {
        let turn = |text: &str| Turn {
            session: String::new(),
            at: None,
            role: Role::Tool,
            text: text.to_owned(),
            cwd: None,
            branch: None,
            uuid: String::new(),
        };
        let mut references = References::default();
        for text in [
            "Read\nfile_path: /p/a.rs",
            "the text of a.rs\nfile_path: /p/not-a-call.rs",
            "Edit\nfile_path: /p/a.rs\nold_string: x\nnew_string: y",
            "apply_patch\ninput: *** Begin Patch\n*** Update File: src/b.rs\n+x",
            "Bash\ncommand: cat /p/c.rs",
        ] {
            references.take(&turn(text));
        }
        let top: Vec<(&str, usize)> = references.top(5).iter().map(|file| (file.path, file.count)).collect();
        assert_eq!(top, [("/p/a.rs", 2), ("src/b.rs", 1)]);
    }

    /// AC-04.
    #[test]
    fn files_rank_by_how_often_and_how_lately() {
        assert_eq!(names(&["a", "b", "a", "c", "a", "b"]), ["a", "b", "c"]);
        // As often, but later.
        assert_eq!(names(&["old", "old", "x", "y", "z", "new", "new"])[..2], ["new", "old"]);
        // Once at the end does not beat many times before it.
        assert_eq!(names(&["main", "main", "main", "main", "once"])[0], "main");
        assert_eq!(names(&["a", "b", "c", "d", "e", "f"]), ["f", "e", "d", "c", "b"]);
    }
}
