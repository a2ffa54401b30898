//! The real binary in a sandbox, kept beside the model and compared with it after each command.

use std::collections::BTreeMap;
use std::fs;

use memdir_testkit::{Invocation, Output, Random, Sandbox, Tree};
use serde_json::Value;

use crate::Tools;
use crate::model::{Model, Note, Notes, Operation};

/// Kills come at one of the first so many file changes; a command that makes fewer is not killed.
const KILL_WITHIN: usize = 32;

/// A sandbox, what it should hold, and what happened in it.
pub(crate) struct World<'t> {
    tools: &'t Tools,
    sandbox: Sandbox,
    model: Model,
    /// The bytes of each memory file as they were last found right.
    files: BTreeMap<String, Vec<u8>>,
    acknowledged: Vec<String>,
    story: Vec<String>,
    seconds: usize,
}

impl<'t> World<'t> {
    /// An empty vault.
    pub(crate) fn new(tools: &'t Tools, seed: u64) -> Self {
        let sandbox = Sandbox::below(env!("CARGO_BIN_EXE_memdir"), &tools.place);
        let story = vec![format!("# MEMDIR_SIM_SEED={seed}")];
        let (model, files, acknowledged) = Default::default();
        Self { tools, sandbox, model, files, acknowledged, story, seconds: 0 }
    }

    /// Everything that was done, as commands.
    pub(crate) fn story(&self) -> String {
        self.story.join("\n")
    }

    /// Does one random thing and compares.
    pub(crate) fn step(&mut self, random: &mut Random) -> Result<(), String> {
        let operation = self.model.think(random);
        let foreseen = self.model.foresee(&operation);
        let kill_at = random.one_in(3).then(|| 1 + random.below(KILL_WITHIN));
        let output = self.run(&operation, kill_at)?;
        match (output.code, foreseen) {
            (137, foreseen) => self.recover(random, &operation, foreseen),
            (0, Some(foreseen)) => self.accept(&operation, foreseen),
            (0, None) => Err(format!("should have been refused\n{output}")),
            (_, None) => {
                self.story.push("# was refused".to_owned());
                self.compare(&self.model.notes.clone())
            }
            (_, Some(_)) => Err(format!("should have worked\n{output}")),
        }
    }

    /// Looks at the end: nothing lost, nothing wrong, and everything derived equal to a rebuild.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        self.story.push("# settle".to_owned());
        self.check_nothing_is_lost()?;
        let doctor = self.command(&["doctor", "--json"]).run();
        if !doctor.is_ok() {
            return Err(format!("doctor is not content\n{doctor}"));
        }
        self.check_page_is_settled()?;
        self.check_derived_equals_rebuild()
    }

    fn run(&mut self, operation: &Operation, kill_at: Option<usize>) -> Result<Output, String> {
        let mut args: Vec<String> = operation.args().into_iter().map(str::to_owned).collect();
        if let Operation::Undo { ago } = operation {
            args.push(self.change(*ago)?);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let body = operation.body();
        self.tell(&args, body.as_deref(), kill_at);
        let mut command = self.command(&args);
        if let Some(body) = &body {
            command = command.args(&["--body", body]);
        }
        if let Some(point) = kill_at {
            let killat = self.tools.killat.to_str().expect("the target directory is UTF-8");
            command = command.under(&[killat, &point.to_string()]);
        }
        Ok(command.run())
    }

    /// A command, one second after the last one.
    fn command(&mut self, args: &[&str]) -> Invocation {
        self.seconds += 1;
        let now = format!("2026-04-02T10:{:02}:{:02}Z", self.seconds / 60, self.seconds % 60);
        self.sandbox.memdir(args).at(&now)
    }

    fn tell(&mut self, args: &[&str], body: Option<&str>, kill_at: Option<usize>) {
        let quoted: Vec<_> = args.iter().map(|arg| format!("'{arg}'")).collect();
        let body = body.map(|body| format!(" --body '{body}'")).unwrap_or_default();
        let kill = kill_at.map(|point| format!("killat {point} ")).unwrap_or_default();
        self.story.push(format!("{kill}memdir {}{body}", quoted.join(" ")));
    }

    /// The id of the change that is this many changes ago. The log must know each change, and no other.
    fn change(&mut self, ago: usize) -> Result<String, String> {
        let log = self.command(&["log", "--limit", "1000", "--json"]).run().json();
        let changes = log.as_array().ok_or("log is no list")?;
        if changes.len() != self.model.n_changes() {
            return Err(format!(
                "log knows {} changes, there were {}",
                changes.len(),
                self.model.n_changes()
            ));
        }
        let id = changes[ago]["change"].as_str().ok_or("a change has no id")?;
        Ok(id.to_owned())
    }

    /// Takes an acknowledged command into the model.
    fn accept(&mut self, operation: &Operation, foreseen: Notes) -> Result<(), String> {
        self.compare(&foreseen)?;
        self.check_page()?;
        self.acknowledged.extend(operation.unique_words());
        self.model.advance(foreseen);
        Ok(())
    }

    /// Starts again after a kill and finds out on which side of the command the vault is.
    fn recover(
        &mut self,
        random: &mut Random,
        operation: &Operation,
        foreseen: Option<Notes>,
    ) -> Result<(), String> {
        let first = *random.pick(&[["list", "--json"], ["manifest", "--json"]]);
        let output = self.command(&first).run();
        if output.code > 1 {
            return Err(format!("the first command after a kill: {first:?}\n{output}"));
        }
        let before = self.model.notes.clone();
        let Err(why_not_before) = self.compare(&before) else {
            self.story.push("# was before".to_owned());
            return self.check_page();
        };
        self.story.push("# was after".to_owned());
        let foreseen = foreseen.ok_or(why_not_before.clone())?;
        self.accept(operation, foreseen)
            .map_err(|why_not_after| format!("neither before: {why_not_before}\nnor after: {why_not_after}"))
    }

    /// Holds the vault against `notes`; a memory that is as it was must be so byte for byte.
    fn compare(&mut self, notes: &Notes) -> Result<(), String> {
        let tree = self.sandbox.vault_tree();
        let mut files = BTreeMap::new();
        for (name, note) in notes {
            let bytes = tree.get(&format!("{name}.md")).ok_or(format!("{name} is missing"))?;
            let is_untouched = self.model.notes.get(name) == Some(note);
            if is_untouched && self.files.get(name).is_some_and(|known| known != bytes) {
                return Err(format!("{name} was rewritten:\n{}", String::from_utf8_lossy(bytes)));
            }
            let found = read_note(name, bytes)?;
            if found != *note {
                return Err(format!("{name} is {found:?}, not {note:?}"));
            }
            files.insert(name.clone(), bytes.to_vec());
        }
        let is_extra = |path: &&str| path.strip_suffix(".md").is_some_and(|name| !notes.contains_key(name));
        if let Some(extra) = tree.paths().filter(|path| *path != "MEMORY.md").find(is_extra) {
            return Err(format!("{extra} should not exist"));
        }
        self.files = files;
        Ok(())
    }

    /// The index page has one line for each memory and no other.
    fn check_page(&self) -> Result<(), String> {
        let page = self.sandbox.index_page();
        let mut listed: Vec<&str> = page.lines().filter_map(pointer).collect();
        listed.sort_unstable();
        let tree = self.sandbox.vault_tree();
        let there: Vec<&str> =
            tree.paths().filter(|path| path.ends_with(".md") && *path != "MEMORY.md").collect();
        if listed == there { Ok(()) } else { Err(format!("MEMORY.md lists {listed:?}, there are {there:?}")) }
    }

    /// Each text ever acknowledged is live, in the trash, in the archive, a conflict, or can be brought back by undo.
    fn check_nothing_is_lost(&self) -> Result<(), String> {
        let (vault, state) = (self.sandbox.vault_tree(), self.sandbox.state_tree());
        let is_kept = |path: &str| {
            ["/trash/", "/archive/", "/conflicts/", "/changes/"].iter().any(|part| path.contains(part))
        };
        let state = state.without(|path| !is_kept(path));
        let holds = |tree: &Tree, word: &str| !tree.containing(word.as_bytes()).is_empty();
        let lost = self.acknowledged.iter().find(|word| !holds(&vault, word) && !holds(&state, word));
        lost.map_or(Ok(()), |word| Err(format!("{word} was acknowledged and is nowhere")))
    }

    /// `doctor --fix` finds nothing to do on the page; made anew, it holds the same lines.
    fn check_page_is_settled(&mut self) -> Result<(), String> {
        let before = self.sandbox.index_page();
        self.command(&["doctor", "--fix"]).ok();
        let fixed = self.sandbox.index_page();
        if before != fixed {
            return Err(format!("doctor --fix changed MEMORY.md from\n{before}\nto\n{fixed}"));
        }
        if self.model.notes.is_empty() {
            return Ok(());
        }
        fs::remove_file(self.sandbox.vault().join("MEMORY.md")).map_err(|error| error.to_string())?;
        self.command(&["doctor", "--fix"]).ok();
        let rebuilt = self.sandbox.index_page();
        let sorted = |page: &str| {
            let mut lines: Vec<_> = page.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        if sorted(&before) == sorted(&rebuilt) {
            return Ok(());
        }
        Err(format!("MEMORY.md was\n{before}\nand is made anew as\n{rebuilt}"))
    }

    /// Deleting what is derived changes no answer.
    fn check_derived_equals_rebuild(&mut self) -> Result<(), String> {
        let now = "2026-04-02T12:00:00Z";
        let before = self.answers(now);
        for (question, answer) in &before {
            let Some(name) = question.strip_prefix("search ").and_then(|words| words.split(' ').nth(1))
            else {
                continue;
            };
            let is_found =
                answer["hits"].as_array().is_some_and(|hits| hits.iter().any(|hit| hit["name"] == name));
            if !is_found {
                return Err(format!("{question} is not found: {answer}"));
            }
        }
        let _ = fs::remove_dir_all(self.sandbox.state().join("index"));
        let after = self.answers(now);
        if before == after {
            return Ok(());
        }
        Err(format!("answers changed after the index was deleted, from\n{before:#?}\nto\n{after:#?}"))
    }

    /// What the vault answers: the list, the manifest, and for each memory its links and a search for a word of it.
    fn answers(&self, now: &str) -> BTreeMap<String, Value> {
        let ask = |args: &[&str]| self.sandbox.memdir(args).at(now).json();
        let mut answers = BTreeMap::new();
        answers.insert("list".to_owned(), ask(&["list"]));
        answers.insert("manifest".to_owned(), ask(&["manifest"]));
        for (name, note) in &self.model.notes {
            let word = note.lines.first().and_then(|line| line.split(' ').next()).unwrap_or(name);
            answers.insert(format!("search {word} {name}"), ask(&["search", word]));
            answers.insert(format!("links {name}"), ask(&["links", name]));
        }
        answers
    }
}

/// Reads a memory file the way a person does; it must carry its own name.
fn read_note(name: &str, bytes: &[u8]) -> Result<Note, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))?;
    let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    let (head, body) = parts.ok_or(format!("{name} has no frontmatter:\n{text}"))?;
    let field = |key: &str| head.lines().find_map(|line| line.strip_prefix(key));
    if field("name: ") != Some(name) {
        return Err(format!("{name} calls itself {:?}", field("name: ")));
    }
    let description = field("description: ").unwrap_or_default().trim_matches('"').to_owned();
    let lines = body.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
    Ok(Note { description, lines })
}

/// The file a line of the index page points to.
fn pointer(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("- [")?.split_once("](")?;
    rest.split_once(')').map(|(file, _)| file)
}
