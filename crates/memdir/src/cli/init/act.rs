//! Wires and unwires: one file after the other, each on its own.
//!
//! A file that cannot be read or written is told and left alone; the others go on. What is done is written down before
//! it is done, so that a crash in between leaves nothing that cannot be taken back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use memdir_core::host::Agent;
use memdir_core::wiring::{self, HostFile, Part, Scope, Trouble};

use super::file::{Problem, SettingsFile, remove_directories};
use super::machine::Machine;
use super::record::{Entry, Record};
use crate::failure::Failure;

/// How often a file is read again because somebody else writes it at the same time.
const MAX_TRIES: usize = 20;

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// Our entries came in.
    Wired,
    /// Entries of an older or another memdir were replaced.
    Renewed,
    /// They are there.
    Already,
    /// They are gone.
    Removed,
    /// They were not there.
    Absent,
    /// Nothing is to be done, and why.
    Passed(&'static str),
    /// No file says it: the user is told how to.
    Told(String),
    /// Nothing could be done.
    Failed(Problem),
}

/// One file, or an agent that has none.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) agent: Agent,
    pub(super) scope: Scope,
    pub(super) path: Option<PathBuf>,
    pub(super) part: Option<Part>,
    pub(super) fate: Fate,
    /// What was done to it, or would be.
    pub(super) change: Option<Change>,
}

/// A file's text before and after; `None` where there is no file.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

/// Does things to files, or only says what would be done.
pub(super) struct Actor<'m> {
    pub(super) machine: &'m Machine,
    pub(super) home: &'m Path,
    pub(super) record: Record,
    pub(super) dry_run: bool,
    pub(super) rows: Vec<Row>,
}

impl Actor<'_> {
    /// Tells an agent of us.
    pub(super) fn wire(&mut self, agent: Agent, scope: Scope) -> Result<(), Failure> {
        if let Some(why) = self.reason_to_pass(agent, scope) {
            // One wiring is enough: what an earlier run put into the settings goes.
            let n_rows = self.rows.len();
            self.unwire(agent, scope)?;
            if !self.rows[n_rows..].iter().any(|row| row.fate == Fate::Removed) {
                self.rows.truncate(n_rows);
            }
            self.rows.push(Row {
                agent,
                scope,
                path: None,
                part: None,
                fate: Fate::Passed(why),
                change: None,
            });
            return Ok(());
        }
        for file in wiring::files(agent, scope, &self.machine.at, &self.machine.program) {
            let path = chosen(&file);
            let (fate, change) = self.wire_file(agent, scope, &file, &path)?;
            self.rows.push(Row { agent, scope, path: Some(path), part: Some(file.part), fate, change });
        }
        Ok(())
    }

    fn reason_to_pass(&self, agent: Agent, scope: Scope) -> Option<&'static str> {
        let has_files = !wiring::files(agent, scope, &self.machine.at, &self.machine.program).is_empty();
        match (agent, scope) {
            (Agent::ClaudeCode, Scope::User) if self.machine.has_claude_plugin() => {
                Some("its plugin is installed and does the same")
            }
            (Agent::Cursor, Scope::User) if self.machine.has_claude_plugin() => {
                Some("it loads the plugin of Claude Code")
            }
            (Agent::VsCode, Scope::User) => {
                Some("it is told project by project: `memdir init --agent vscode`")
            }
            _ if !has_files => Some("it has no settings for one project: leave `--scope project` out"),
            _ => None,
        }
    }

    /// Tells an agent where the gateway is.
    pub(super) fn lead(&mut self, agent: Agent, base: &str) -> Result<(), Failure> {
        // Noted before it is written, as everything is: what a crash leaves is known to be ours.
        self.record.gateways.insert(base.to_owned());
        let row = match wiring::address_file(agent, &self.machine.at, base, &self.record.gateways) {
            None => Row {
                agent,
                scope: Scope::User,
                path: None,
                part: Some(Part::Address),
                fate: Fate::Told(told(agent, base)),
                change: None,
            },
            Some(file) => {
                let path = chosen(&file);
                let (fate, change) = self.wire_file(agent, Scope::User, &file, &path)?;
                Row { agent, scope: Scope::User, path: Some(path), part: Some(file.part), fate, change }
            }
        };
        self.rows.push(row);
        Ok(())
    }

    /// Has an agent ask its vendor again.
    pub(super) fn lead_back(&mut self, agent: Agent, base: &str) -> Result<(), Failure> {
        let file = wiring::address_file(agent, &self.machine.at, base, &self.record.gateways);
        let Some(file) = file else { return Ok(()) };
        self.unwire_files(agent, Scope::User, &[file])
    }

    fn wire_file(
        &mut self,
        agent: Agent,
        scope: Scope,
        file: &HostFile,
        path: &Path,
    ) -> Result<(Fate, Option<Change>), Failure> {
        let key = &key(file, path);
        let known = self.record.get(key).cloned();
        for _ in 0..MAX_TRIES {
            let current = match SettingsFile::read(path) {
                Ok(current) => current,
                Err(problem) => return Ok((Fate::Failed(problem), None)),
            };
            let text = current.text.as_deref().unwrap_or_default();
            let undo = known.as_ref().map(|entry| &entry.undo).filter(|_| current.exists());
            let found = wiring::look(text, &file.content);
            let wired = found.and_then(|found| Ok((found, wiring::wire(text, &file.content, undo)?)));
            let (found, (after, undo)) = match wired {
                Err(trouble) => return Ok((Fate::Failed(problem(&trouble)), None)),
                Ok((_, None)) => return Ok((Fate::Already, None)),
                Ok((found, Some(wired))) => (found, wired),
            };
            let fate = if found.is_empty() { Fate::Wired } else { Fate::Renewed };
            let change = Some(Change { before: current.text.clone(), after: Some(after.clone()) });
            if self.dry_run {
                return Ok((fate, change));
            }
            let project = self.machine.at.project.clone().filter(|_| scope == Scope::Project);
            let mut entry = Entry::new(agent, project, undo);
            match known.as_ref().filter(|_| current.exists()) {
                Some(known) => {
                    (entry.created, entry.directories) = (known.created, known.directories.clone())
                }
                None => {
                    (entry.created, entry.directories) = (!current.exists(), current.missing_directories())
                }
            }
            self.record.set(key, Some(entry));
            self.record.save(self.home)?;
            match current.replace(&after, scope == Scope::Project) {
                Ok(true) => return Ok((fate, change)),
                Ok(false) => {}
                Err(problem) => {
                    self.record.set(key, known);
                    self.record.save(self.home)?;
                    return Ok((Fate::Failed(problem), None));
                }
            }
        }
        self.record.set(key, known);
        self.record.save(self.home)?;
        Ok((Fate::Failed(busy()), None))
    }

    /// Takes back what an agent was told, the last file first: its directories may be the first one's too.
    pub(super) fn unwire(&mut self, agent: Agent, scope: Scope) -> Result<(), Failure> {
        let files = wiring::files(agent, scope, &self.machine.at, &self.machine.program);
        self.unwire_files(agent, scope, &files)
    }

    /// Takes back what was done in other projects than this one.
    pub(super) fn unwire_elsewhere(&mut self, wanted: impl Fn(Agent, Scope) -> bool) -> Result<(), Failure> {
        let entries: BTreeSet<(Agent, Option<PathBuf>)> = self
            .record
            .files
            .values()
            .filter_map(|entry| Some((entry.agent()?, entry.project.clone())))
            .collect();
        for (agent, project) in entries.into_iter().filter(|(_, project)| project.is_some()) {
            if project == self.machine.at.project || !wanted(agent, Scope::Project) {
                continue;
            }
            let at = wiring::Directories { project, ..self.machine.at.clone() };
            let files = wiring::files(agent, Scope::Project, &at, &self.machine.program);
            self.unwire_files(agent, Scope::Project, &files)?;
        }
        Ok(())
    }

    fn unwire_files(&mut self, agent: Agent, scope: Scope, files: &[HostFile]) -> Result<(), Failure> {
        let mut rows = Vec::new();
        for file in files.iter().rev() {
            for path in [&file.path].into_iter().chain(&file.others) {
                let is_known = self.record.get(&key(file, path)).is_some();
                if !path.exists() && !is_known && path != &file.path {
                    continue;
                }
                let (fate, change) = self.unwire_file(file, path)?;
                rows.push(Row {
                    agent,
                    scope,
                    path: Some(path.clone()),
                    part: Some(file.part),
                    fate,
                    change,
                });
            }
        }
        self.rows.extend(rows.into_iter().rev());
        Ok(())
    }

    fn unwire_file(&mut self, file: &HostFile, path: &Path) -> Result<(Fate, Option<Change>), Failure> {
        let key = &key(file, path);
        let known = self.record.get(key).cloned();
        for _ in 0..MAX_TRIES {
            let current = match SettingsFile::read(path) {
                Ok(current) => current,
                Err(problem) => return Ok((Fate::Failed(problem), None)),
            };
            let Some(text) = &current.text else {
                self.forget(key, known)?;
                return Ok((Fate::Absent, None));
            };
            let undo = known.as_ref().map(|entry| &entry.undo);
            let rest = match wiring::unwire(text, &file.content, undo) {
                Ok(rest) => rest,
                // Nothing of ours can be in what was never ours to read.
                Err(Trouble::Syntax { .. }) if known.is_none() && !text.contains("memdir") => {
                    return Ok((Fate::Absent, None));
                }
                Err(trouble) => return Ok((Fate::Failed(problem(&trouble)), None)),
            };
            let is_ours = file.is_own || known.as_ref().is_some_and(|entry| entry.created);
            let goes = is_ours && wiring::is_bare(&rest, &file.content);
            if !goes && rest == *text {
                self.forget(key, known)?;
                return Ok((Fate::Absent, None));
            }
            let after = (!goes).then(|| rest.clone());
            let change = Some(Change { before: current.text.clone(), after });
            if self.dry_run {
                return Ok((Fate::Removed, change));
            }
            let done = if goes { current.delete() } else { current.replace(&rest, false) };
            match done {
                Ok(true) => {
                    self.forget(key, known)?;
                    return Ok((Fate::Removed, change));
                }
                Ok(false) => {}
                Err(problem) => return Ok((Fate::Failed(problem), None)),
            }
        }
        Ok((Fate::Failed(busy()), None))
    }

    /// Strikes a file from the record and removes the directories that were made for it. One that another file of ours
    /// is in becomes that one's.
    fn forget(&mut self, path: &Path, entry: Option<Entry>) -> Result<(), Failure> {
        let Some(entry) = entry.filter(|_| !self.dry_run) else { return Ok(()) };
        self.record.set(path, None);
        remove_directories(&entry.directories);
        for dir in entry.directories.into_iter().filter(|dir| dir.exists()) {
            let heir = self.record.files.iter_mut().find(|(path, _)| Path::new(path).starts_with(&dir));
            if let Some((_, heir)) = heir {
                heir.directories.push(dir);
                heir.directories.sort();
            }
        }
        self.record.save(self.home)
    }
}

/// Returns the file that the host reads: one that exists, else the first.
pub(crate) fn chosen(file: &HostFile) -> PathBuf {
    let mut names = [&file.path].into_iter().chain(&file.others);
    names.find(|path| path.exists()).unwrap_or(&file.path).clone()
}

/// Under which name the record has what was done to a file: an address may come into one that has hooks, too.
fn key(file: &HostFile, path: &Path) -> PathBuf {
    if file.part != Part::Address {
        return path.to_owned();
    }
    let mut key = path.to_owned().into_os_string();
    key.push("#gateway");
    key.into()
}

/// Says how an agent is told whose address stands in no file.
fn told(agent: Agent, base: &str) -> String {
    let set: Vec<String> =
        wiring::variables(agent, base).iter().map(|(name, value)| format!("{name}={value}")).collect();
    if set.is_empty() {
        return format!(
            "its base URL is set in the program itself: {base}, or {base}/v1 where OpenAI's is wanted"
        );
    }
    format!("set {} where you start it", set.join(" and "))
}

fn problem(trouble: &Trouble) -> Problem {
    Problem::new(trouble.to_string(), trouble.hint())
}

fn busy() -> Problem {
    Problem::new("another program keeps writing it", "end that program, then run `memdir init` again")
}
