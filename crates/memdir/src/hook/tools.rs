//! Before and after a tool is used: rules, what comes to mind about a file or a failure, and what the use says about memories.

use std::path::{Path, PathBuf};

use memdir_core::change::Surface;
use memdir_core::host::{self, Moment, Reply, Tool, ToolKind, hearsay};
use memdir_core::memory::{MemoryPath, Provenance};
use memdir_core::obedience::Judgement;
use memdir_core::recall;
use memdir_store::evidence::Sign;
use memdir_store::ledger::{Event, EventKind};
use memdir_store::obedience::Rules;
use memdir_store::remind::account;
use memdir_store::vault::{Loaded, Vault};

use super::desk::{Answer, Desk};
use crate::failure::Failure;

impl Desk<'_> {
    /// A rule may refuse the call or have it asked; a file that is about to be edited calls memories up.
    pub(super) fn before_tool(&self, tool: &Tool) -> Result<Answer, Failure> {
        if host::is_judged_elsewhere(self.occasion) {
            return Ok(Answer::default());
        }
        let judged = self.judge(tool)?;
        let is_heard = host::is_heard(self.occasion.agent, &self.occasion.moment);
        let mut answer = match tool.kind {
            ToolKind::Edit | ToolKind::Shell if judged.ruling.is_none() && is_heard => {
                self.ambient(tool, "")?
            }
            _ => Answer::default(),
        };
        let reminders: String = judged.reminders.iter().map(|line| format!("Saved rule: {line}\n")).collect();
        let context = format!("{reminders}{}", answer.reply.context);
        answer.reply = Reply { context, ruling: judged.ruling };
        answer.broken = judged.broken;
        Ok(answer)
    }

    /// A memory that is read shows its age; a file or a failure calls memories up.
    pub(super) fn after_tool(&self, tool: &Tool, result: &str, failed: bool) -> Result<Answer, Failure> {
        if self.is_left_alone() {
            return Ok(Answer::default());
        }
        let ages: String = match tool.kind {
            ToolKind::Read => self
                .memories(tool)
                .iter()
                .map(|(vault, loaded)| account(vault, loaded, &self.asker()))
                .collect(),
            _ => String::new(),
        };
        if !ages.is_empty() {
            return Ok(Answer::telling(ages));
        }
        if let Some(answer) = self.pay()? {
            return Ok(answer);
        }
        // Where nothing could be said before, it is said now.
        let is_late = !host::is_heard(self.occasion.agent, &Moment::BeforeTool(tool.clone()));
        match tool.kind {
            ToolKind::Read => self.ambient(tool, ""),
            ToolKind::Edit if is_late => self.ambient(tool, ""),
            ToolKind::Shell if failed => self.ambient(tool, result),
            _ => Ok(Answer::default()),
        }
    }

    pub(super) fn judge(&self, tool: &Tool) -> Result<Judgement, Failure> {
        Ok(self.rules()?.judge(tool, &self.root()))
    }

    pub(super) fn rules(&self) -> Result<Rules, Failure> {
        Rules::of(&self.vaults).map_err(|err| Failure::from_chain(&err))
    }

    /// Looks what a tool's files, command or failure call up; each is looked up once a session.
    fn ambient(&self, tool: &Tool, error: &str) -> Result<Answer, Failure> {
        if self.is_left_alone() {
            return Ok(Answer::default());
        }
        let files: Vec<String> = tool.files.iter().map(|file| self.in_project(file)).collect();
        let subject = format!("{}{}{}", files.join("\n"), tool.command, error);
        let is_new = self.session.as_ref().is_none_or(|session| {
            session.update(self.context.now, |state| state.looks_up(&subject_key(&subject)))
        });
        if subject.is_empty() || !is_new {
            return Ok(Answer::default());
        }
        let moment = recall::Moment {
            files,
            command: tool.command.clone(),
            error: error.to_owned(),
            tools: self.state().tools,
            ..self.moment()
        };
        Ok(self.with(self.remind(&moment, &self.vaults)?))
    }

    /// Notes which tool was used, and what that says about memories.
    pub(super) fn note_tool(&self, tool: &Tool, result: &str) {
        // What memdir itself says, and what is in the vault, is nobody's request.
        let is_ours =
            tool.kind == ToolKind::Edit || tool.name.contains("memdir") || !self.memories(tool).is_empty();
        let passages = if is_ours { Vec::new() } else { hearsay::passages(result) };
        if let Some(session) = &self.session {
            session.update(self.context.now, |state| {
                state.used(&used_as(tool));
                state.heard(passages);
            });
        }
        let files: Vec<String> = tool.files.iter().map(|file| self.in_project(file)).collect();
        let signs: Vec<Sign<'_>> = match tool.kind {
            ToolKind::Read => files.iter().map(|file| Sign::Read(file)).collect(),
            ToolKind::Edit => files.iter().map(|file| Sign::Edited(file)).collect(),
            _ => Vec::new(),
        };
        if !signs.is_empty() {
            self.learn(&signs);
        }
        if tool.kind == ToolKind::Edit {
            self.vouch(tool);
        }
    }

    /// Notes that it was the agent who wrote a memory with a tool of its own: the file does not say so, or anybody could. If
    /// it says what a web page or the like asked for, it is the tool's, and waits for the user's word.
    fn vouch(&self, tool: &Tool) {
        let state = self.state();
        for (vault, loaded) in self.memories(tool) {
            let Ok(ledger) = vault.ensure_ledger() else { continue };
            if ledger.provenance_of(loaded.hash).is_ok_and(|known| known.is_some()) {
                continue;
            }
            let text =
                format!("{}\n{}", loaded.memory.description, String::from_utf8_lossy(loaded.document.body()));
            let is_hearsay = state.is_hearsay(&hearsay::words(&text));
            let event = Event {
                sha256: Some(loaded.hash),
                sid: self.reader.clone(),
                by: Some(Surface::Hook),
                prov: Some(if is_hearsay { Provenance::Tool } else { Provenance::Agent }),
                ..Event::new(self.context.now, EventKind::Written, loaded.path.stem())
            };
            // Not being able to costs the name of the author.
            let _ = ledger.append(&[event]);
        }
    }

    pub(super) fn note_broken(&self, broken: &[String]) {
        let (Some(witness), false) = (self.witness(), broken.is_empty()) else { return };
        if let Ok(rules) = self.rules() {
            rules.note_broken(broken, &self.vaults, &witness);
        }
    }

    /// Opens the memories among a tool's files.
    fn memories(&self, tool: &Tool) -> Vec<(&Vault, Loaded)> {
        let open = |file: &String| {
            let file = self.absolute(file);
            self.vaults.iter().find_map(|vault| {
                let below = file.strip_prefix(vault.path()).ok()?.to_str()?;
                Some((vault, vault.load(&MemoryPath::new(below).ok()?).ok()??))
            })
        };
        tool.files.iter().filter_map(open).collect()
    }

    pub(super) fn absolute(&self, file: &str) -> PathBuf {
        let dir = self.occasion.cwd.as_deref().map(Path::new).or(self.context.place.dir.as_deref());
        dir.unwrap_or(Path::new("/")).join(file)
    }

    /// Returns a path from the project's root, where it is below it.
    fn in_project(&self, file: &str) -> String {
        let path = self.absolute(file);
        let root = self.context.place.dir.as_deref().unwrap_or(Path::new("/"));
        path.strip_prefix(root).unwrap_or(&path).display().to_string().replace('\\', "/")
    }

    fn root(&self) -> String {
        self.context.place.dir.as_deref().unwrap_or(Path::new("/")).display().to_string()
    }
}

/// What a session remembers of something that was looked up: not the text, which may be long and hold anything.
fn subject_key(subject: &str) -> String {
    memdir_core::hash::ContentHash::of(subject.as_bytes()).to_string()[..16].to_owned()
}

/// A command is used as its first word; any other tool by its name.
pub(crate) fn used_as(tool: &Tool) -> String {
    match tool.kind {
        ToolKind::Shell => {
            let word = tool.command.split_whitespace().find(|word| !word.contains('='));
            word.and_then(|word| word.rsplit('/').next()).unwrap_or(&tool.name).to_owned()
        }
        _ => tool.name.clone(),
    }
}
