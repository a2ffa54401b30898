//! What a command asked of the kernel, read from the output of `strace -f -y`.
//!
//! Only as much is parsed as tests ask about: the call, its arguments as text, its result, and the path strace
//! prints behind a descriptor. Calls interrupted by another thread are put together again, in order of completion.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The calls of one run, in the order in which they returned.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Every call that was traced.
    pub calls: Vec<Call>,
}

/// One system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The thread that made it.
    pub thread: u32,
    /// Its name, such as `renameat2`.
    pub name: String,
    /// Its arguments as strace prints them.
    pub args: String,
    /// Everything after ` = `, such as `3</vault>` or `-1 EIO (Input/output error) (INJECTED)`.
    pub result: String,
}

impl Trace {
    /// Parses strace's output; lines that are no calls (signals, exits) are left out.
    pub fn parse(text: &str) -> Self {
        let mut unfinished = HashMap::new();
        let calls = text.lines().filter_map(|line| parse_line(line, &mut unfinished)).collect();
        Self { calls }
    }

    /// The calls with one of these names.
    pub fn named<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Call> {
        self.calls.iter().filter(|call| names.contains(&call.name.as_str()))
    }

    /// How many calls with one of these names succeeded.
    pub fn count(&self, names: &[&str]) -> usize {
        self.named(names).filter(|call| call.succeeded()).count()
    }

    /// The place of the first call for which `wanted` holds.
    pub fn position(&self, wanted: impl Fn(&Call) -> bool) -> Option<usize> {
        self.calls.iter().position(wanted)
    }
}

impl Call {
    /// Says whether the call returned something else than an error.
    pub fn succeeded(&self) -> bool {
        !self.result.starts_with("-1 ") && !self.result.starts_with('?')
    }

    /// Says whether strace put the result in place of the kernel's.
    pub fn was_injected(&self) -> bool {
        self.result.contains("(INJECTED)")
    }

    /// The descriptor in the first argument: `3</vault>` gives 3.
    pub fn descriptor(&self) -> Option<i32> {
        leading_number(&self.args)
    }

    /// The path behind the descriptor in the first argument: `3</vault>` gives `/vault`.
    pub fn descriptor_path(&self) -> Option<&str> {
        path_of_descriptor(&self.args)
    }

    /// The descriptor the call returned.
    pub fn returned_descriptor(&self) -> Option<i32> {
        leading_number(&self.result)
    }

    /// The path behind the descriptor the call returned.
    pub fn returned_path(&self) -> Option<&str> {
        path_of_descriptor(&self.result)
    }

    /// The quoted strings among the arguments, such as the two names of a rename.
    pub fn strings(&self) -> Vec<&str> {
        self.args.split('"').skip(1).step_by(2).collect()
    }

    /// The file the call names: its first string, below the directory it is relative to.
    pub fn path(&self) -> PathBuf {
        let directory = self.descriptor_path().unwrap_or_default();
        Path::new(directory).join(self.strings().first().copied().unwrap_or_default())
    }

    /// Says whether a flag such as `O_EXCL` is among the arguments.
    pub fn has_flag(&self, flag: &str) -> bool {
        self.args.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == flag)
    }
}

/// Reads one line; the first half of an interrupted call waits in `unfinished` for the second.
fn parse_line(line: &str, unfinished: &mut HashMap<u32, String>) -> Option<Call> {
    let (thread, rest) = line.trim_start().split_once(' ')?;
    let thread = thread.parse().ok()?;
    let rest = rest.trim_start();
    if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
        unfinished.insert(thread, start.to_owned());
        return None;
    }
    if rest.starts_with("<... ") {
        let (_, end) = rest.split_once(" resumed>")?;
        let start = unfinished.remove(&thread)?;
        return parse_call(thread, &format!("{start}{end}"));
    }
    parse_call(thread, rest)
}

fn parse_call(thread: u32, text: &str) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // The last ` = `: a written text may hold one too. strace pads short calls with spaces before it.
    let (args, result) = rest.rsplit_once(" = ")?;
    let args = args.trim_end().strip_suffix(')')?;
    is_name.then(|| Call { thread, name: name.to_owned(), args: args.to_owned(), result: result.to_owned() })
}

fn leading_number(text: &str) -> Option<i32> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

fn path_of_descriptor(text: &str) -> Option<&str> {
    let number_and_path = text.split_once('<')?;
    leading_number(text).or_else(|| number_and_path.0.starts_with("AT_FDCWD").then_some(0))?;
    number_and_path.1.split_once('>').map(|(path, _)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"71  openat(3</vault>, ".memdir-tmp-1", O_WRONLY|O_CREAT|O_EXCL, 0600) = 4</vault/.memdir-tmp-1>
71  write(4</vault/.memdir-tmp-1>, "a = b", 5 <unfinished ...>
72  fsync(5</state>) = -1 EIO (Input/output error) (INJECTED)
71  <... write resumed>)                = 5
71  +++ exited with 0 +++
"#;

    #[test]
    fn interrupted_calls_are_put_together() {
        let trace = Trace::parse(TEXT);
        let names: Vec<_> = trace.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["openat", "fsync", "write"]);
        assert_eq!(trace.calls[2].args, r#"4</vault/.memdir-tmp-1>, "a = b", 5"#);
        assert_eq!(trace.calls[2].result, "5");
    }

    #[test]
    fn descriptors_paths_flags_and_errors_are_read() {
        let trace = Trace::parse(TEXT);
        let [open, fsync, _] = &trace.calls[..] else { panic!("{trace:?}") };
        assert_eq!(open.descriptor_path(), Some("/vault"));
        assert_eq!(open.returned_descriptor(), Some(4));
        assert_eq!(open.returned_path(), Some("/vault/.memdir-tmp-1"));
        assert_eq!(open.strings(), [".memdir-tmp-1"]);
        assert_eq!(open.path(), Path::new("/vault/.memdir-tmp-1"));
        assert!(open.has_flag("O_EXCL") && !open.has_flag("O_EX"));
        assert_eq!(fsync.descriptor(), Some(5));
        assert!(!fsync.succeeded() && fsync.was_injected());
    }
}
