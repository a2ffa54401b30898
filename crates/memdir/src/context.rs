//! What a command works on: the clock, the place, the vaults.
//!
//! Everything the environment says is read here, once, and passed on as values.

use std::cell::OnceCell;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use memdir_core::memory::{MemoryPath, MemoryType};
use memdir_core::secrets::Scanner;
use memdir_core::text::count;
use memdir_store::disk::Dir;
use memdir_store::gate::Gate;
use memdir_store::history::History;
use memdir_store::ledger;
use memdir_store::place::{self, Environment, FoundBy, Place, Project, Registry};
use memdir_store::remind;
use memdir_store::secrets;
use memdir_store::session::Session;
use memdir_store::surroundings::Surroundings;
use memdir_store::vault::{Loaded, OpenError, Snapshot, Vault, Writer};

use crate::failure::Failure;
use crate::ui::Ui;
use crate::zone;

/// The state id of the user vault.
pub(crate) const USER: &str = "user";
/// No text on stdin is longer; one byte more is enough for the gate to refuse it.
const MAX_STDIN: u64 = 1 << 20;

/// The clock and the place of one command.
#[derive(Debug)]
pub(crate) struct Context {
    /// Now, by the clock or by `MEMDIR_NOW`.
    pub(crate) now: Timestamp,
    /// Where the user's clock hangs: decides which day it is.
    pub(crate) zone: TimeZone,
    /// Everything the environment says.
    pub(crate) env: Environment,
    /// Which project, which vault.
    pub(crate) place: Place,
    /// Whether memory is left aside: then there are no vaults to be read.
    pub(crate) is_blind: bool,
    gate: OnceCell<Gate>,
}

/// A vault and a view of it.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) vault: Vault,
    pub(crate) snapshot: Snapshot,
}

impl Shelf {
    /// Says whether this is the user vault.
    pub(crate) fn is_user(&self) -> bool {
        self.vault.id() == USER
    }

    /// Takes a view of a vault.
    pub(crate) fn new(vault: Vault) -> Result<Self, Failure> {
        let unreadable =
            |err| Failure::error(format!("could not read the vault {}: {err}", vault.path().display()));
        let snapshot = vault.snapshot().map_err(unreadable)?;
        Ok(Self { vault, snapshot })
    }

    /// Reads a memory whole.
    pub(crate) fn load(&self, path: &MemoryPath) -> Result<Loaded, Failure> {
        load(&self.vault, path)?.ok_or_else(|| Failure::no_memory(path.stem()))
    }
}

fn load(vault: &Vault, path: &MemoryPath) -> Result<Option<Loaded>, Failure> {
    let shown = || vault.path().join(path.as_str());
    vault.load(path).map_err(|err| Failure::error(format!("could not read {}: {err}", shown().display())))
}

/// A memory that a command was asked for.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) vault: Vault,
    pub(crate) loaded: Loaded,
}

impl Found {
    /// Says whether it is in the user vault.
    pub(crate) fn is_user(&self) -> bool {
        self.vault.id() == USER
    }
}

/// Says whether memdir is switched off by the environment; asked before anything is opened.
pub(crate) fn is_off() -> bool {
    std::env::var_os("MEMDIR_OFF").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the database that the environment names for the team server. It may hold a password.
pub(crate) fn team_database() -> Option<String> {
    std::env::var("MEMDIR_DB").ok().filter(|said| !said.is_empty())
}

/// Says whether the session is told to act as if there were no memories: reading finds none, and nothing is written.
pub(crate) fn is_ignored() -> bool {
    std::env::var_os("MEMDIR_IGNORE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Says whether the agent runs on a machine that the user is not at.
pub(crate) fn is_remote() -> bool {
    let is_set = |name: &str| {
        std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
    };
    is_set("CLAUDE_CODE_REMOTE") || is_set("MEMDIR_REMOTE")
}

/// Returns the session that the host says it is, where it says so by a variable.
pub(crate) fn session() -> Option<String> {
    let said = ["MEMDIR_SESSION", "CLAUDE_CODE_SESSION_ID"].into_iter().find_map(std::env::var_os);
    said.and_then(|id| id.into_string().ok()).filter(|id| !id.is_empty())
}

/// Returns everything the environment says, with the two flags that overrule it.
pub(crate) fn environment(vault: Option<PathBuf>, project: Option<PathBuf>) -> Environment {
    // A directory that is gone matters only to who needs it: an absolute `--vault` does not.
    let cwd = std::env::current_dir().unwrap_or_default();
    let env = Environment::from_vars(cwd, |name| std::env::var_os(name));
    Environment { vault_flag: vault, project_flag: project, ..env }
}

/// Returns the time where the user is: the clock's, or what `MEMDIR_NOW` says.
///
/// A time that is told with its offset tells the zone too, unless `TZ` is set.
fn clock() -> Result<Zoned, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|text| !text.is_empty());
    let Some(text) = set("MEMDIR_NOW") else {
        return Ok(Timestamp::now().to_zoned(zone::system()));
    };
    let text = text.to_string_lossy();
    let not_a_time = |_| {
        Failure::error(format!("MEMDIR_NOW is not a time: `{text}`"))
            .hint("write it like 2026-03-02T12:00:00Z")
    };
    let now: Timestamp = text.parse().map_err(not_a_time)?;
    let offset = Pieces::parse(text.as_ref()).map_err(not_a_time)?.offset();
    Ok(now.to_zoned(match offset {
        Some(PiecesOffset::Numeric(offset)) if set("TZ").is_none() => TimeZone::fixed(offset.offset()),
        _ => zone::system(),
    }))
}

/// Returns the time, for whoever runs longer than a command does. A fixed clock that cannot be read is no clock.
pub(crate) fn now() -> Timestamp {
    // Not by way of the zone: that is a file, and a server asks for the time with every request.
    let fixed = std::env::var("MEMDIR_NOW").ok().and_then(|text| text.parse().ok());
    fixed.unwrap_or_else(Timestamp::now)
}

impl Context {
    /// Begins a command at a place, and tells what is odd about the place.
    pub(crate) fn new(env: Environment, place: Place, ui: &Ui) -> Result<Self, Failure> {
        for warning in &place.warnings {
            ui.warn(&warning.to_string());
        }
        Self::unheard(env, place)
    }

    /// Returns the secret that marks frames, making it where there is a vault and none yet: a mark must never change.
    pub(crate) fn key(&self) -> Vec<u8> {
        self.key_beside(&self.vaults().unwrap_or_default())
    }

    /// Does the same where the vaults are open already.
    pub(crate) fn key_beside(&self, vaults: &[Vault]) -> Vec<u8> {
        match vaults.first() {
            Some(vault) => remind::machine_key(vault),
            None => Dir::open(&self.place.home).ok().and_then(|home| ledger::key(&home)).unwrap_or_default(),
        }
    }

    /// Says whether memory is left aside: by the environment, or by what the user told the session that asks.
    pub(crate) fn leaves_memory_aside(&self) -> bool {
        let session = || Session::of(&self.place.home, &session()?);
        is_ignored() || session().is_some_and(|session| session.state().ignores_memory)
    }

    /// Begins at a place where nobody listens.
    pub(crate) fn unheard(env: Environment, place: Place) -> Result<Self, Failure> {
        let now = clock()?;
        Ok(Self {
            now: now.timestamp(),
            zone: now.time_zone().clone(),
            env,
            place,
            is_blind: false,
            gate: OnceCell::new(),
        })
    }

    /// Returns the scanner for secrets with the user's rules.
    pub(crate) fn scanner(&self) -> Result<Scanner, Failure> {
        let (home, settings) = (&self.place.home, &self.place.settings);
        secrets::scanner(home, self.env.home.as_deref(), settings).map_err(|err| Failure::from_chain(&err))
    }

    /// Returns what new texts are judged by.
    pub(crate) fn gate(&self) -> Result<&Gate, Failure> {
        if let Some(gate) = self.gate.get() {
            return Ok(gate);
        }
        let settings = &self.place.settings;
        let scanner =
            self.scanner().map_err(|failure| failure.hint("nothing is saved before the scanner is whole"))?;
        let surroundings = Surroundings::around(&self.place, &self.env);
        let gate = Gate::new(self.zone.clone(), Some(surroundings), scanner, settings.review);
        Ok(self.gate.get_or_init(|| gate))
    }

    /// Returns the same clock and environment at another place.
    pub(crate) fn at(&self, place: Place) -> Self {
        let (zone, env) = (self.zone.clone(), self.env.clone());
        Self { now: self.now, zone, env, place, is_blind: self.is_blind, gate: OnceCell::new() }
    }

    /// Opens the vaults that there are, the project's first. With an explicit vault, only that one.
    pub(crate) fn shelves(&self) -> Result<Vec<Shelf>, Failure> {
        self.vaults()?.into_iter().map(Shelf::new).collect()
    }

    /// Opens the vaults that there are, the project's first, and finishes what a crash left in them.
    pub(crate) fn vaults(&self) -> Result<Vec<Vault>, Failure> {
        if self.is_blind {
            return Ok(Vec::new());
        }
        let vaults: Vec<Vault> = [self.open_project()?, self.open_user()?].into_iter().flatten().collect();
        for vault in &vaults {
            vault.settle()?;
        }
        Ok(vaults)
    }

    /// Opens the histories that there are, each with its vault.
    pub(crate) fn histories(&self) -> Result<Vec<(Vault, History)>, Failure> {
        let mut histories = Vec::new();
        for vault in self.vaults()? {
            let history = vault.history().map_err(|err| unreadable_history(&vault, &err))?;
            histories.extend(history.map(|history| (vault, history)));
        }
        Ok(histories)
    }

    /// Finds a memory by name in the project's vault, then in the user vault; `~/name` means the latter. An alias and
    /// another case will do where no file has the very name.
    pub(crate) fn find(&self, name: &str) -> Result<Found, Failure> {
        // Nearly always the name is the file's: one file is read, however many there are.
        if let Some(found) = self.find_exact(name)? {
            return Ok(found);
        }
        let (name, vaults) = self.vaults_for(name)?;
        for vault in vaults {
            let shelf = Shelf::new(vault)?;
            if let Some(entry) = shelf.snapshot.find(name) {
                let loaded = shelf.load(&entry.path)?;
                return Ok(Found { loaded, vault: shelf.vault });
            }
        }
        Err(Failure::no_memory(name))
    }

    /// Finds the memory whose file has this very name.
    pub(crate) fn find_exact(&self, name: &str) -> Result<Option<Found>, Failure> {
        let (name, vaults) = self.vaults_for(name)?;
        let path = MemoryPath::new(&format!("{}.md", name.strip_suffix(".md").unwrap_or(name)))
            .map_err(|_| Failure::bad_name(name))?;
        for vault in vaults {
            if let Some(loaded) = load(&vault, &path)? {
                return Ok(Some(Found { vault, loaded }));
            }
        }
        Ok(None)
    }

    fn vaults_for<'n>(&self, name: &'n str) -> Result<(&'n str, Vec<Vault>), Failure> {
        let (name, only_user) = name.strip_prefix("~/").map_or((name, false), |name| (name, true));
        let mut vaults = self.vaults()?;
        vaults.retain(|vault| !only_user || vault.id() == USER);
        Ok((name, vaults))
    }

    /// Opens the vault that a new memory of this type belongs into, making it where it is missing.
    pub(crate) fn vault_for(&self, memory_type: MemoryType, ui: &Ui) -> Result<Vault, Failure> {
        if memory_type == MemoryType::User && !self.place.explicit {
            self.create_user()
        } else {
            self.create_project(ui)
        }
    }

    /// Opens the project's vault, making and registering it where it is missing.
    pub(crate) fn create_project(&self, ui: &Ui) -> Result<Vault, Failure> {
        let place = place::register(&self.place)?;
        for warning in place.warnings.iter().filter(|warning| !self.place.warnings.contains(warning)) {
            ui.warn(&warning.to_string());
        }
        let vault = Vault::create(&place.home, place.project.id.as_str(), &place.vault)?;
        // What a repository ships is nobody's own, however new the project is to us.
        if !self.place.is_registered() && place.found_by != FoundBy::RepositorySetting {
            self.adopt_page(&vault, ui);
        }
        Ok(vault)
    }

    /// Takes the text that stands in the index page of a new project for the user's own, and says so. If that fails
    /// it waits for the user's word like any other.
    fn adopt_page(&self, vault: &Vault, ui: &Ui) {
        if vault.foreign_lines().is_ok_and(|lines| lines.is_empty()) {
            return;
        }
        match self.writer(vault).and_then(|mut writer| Ok(writer.adopt_page()?)) {
            Ok(n_lines) => ui.say(&format!(
                "MEMORY.md has {} of your own, which count as said by you; what others add from now on waits for `memdir review`",
                count(n_lines, "line", "lines")
            )),
            Err(failure) => ui.warn(&format!(
                "the text in MEMORY.md waits for `memdir review`: {}",
                failure.message
            )),
        }
    }

    /// Begins to write into a vault, under the user's settings.
    pub(crate) fn writer<'v>(&'v self, vault: &'v Vault) -> Result<Writer<'v>, Failure> {
        Ok(vault.writer(self.now, self.gate()?)?.for_project(self.place.project.id.as_str()))
    }

    /// Opens the user vault, making it where it is missing.
    pub(crate) fn create_user(&self) -> Result<Vault, Failure> {
        Ok(Vault::create(&self.place.home, USER, &self.place.user_vault())?)
    }

    /// Opens the project's vault; `None` if there is none yet.
    pub(crate) fn open_project(&self) -> Result<Option<Vault>, Failure> {
        existing(Vault::open(&self.place.home, self.place.project.id.as_str(), &self.place.vault))
    }

    /// Opens the user vault; `None` if there is none yet or an explicit vault hides it.
    pub(crate) fn open_user(&self) -> Result<Option<Vault>, Failure> {
        if self.place.explicit {
            return Ok(None);
        }
        existing(Vault::open(&self.place.home, USER, &self.place.user_vault()))
    }

    /// Returns the registered projects other than this one.
    pub(crate) fn other_projects(&self) -> Result<Vec<Project>, Failure> {
        let (registry, _) = Registry::load(&self.place.home).map_err(|err| Failure::from_chain(&err))?;
        Ok(registry.projects().filter(|project| project.id != self.place.project.id).cloned().collect())
    }

    /// Opens the vaults of every registered project and the user vault; what cannot be opened is passed over.
    pub(crate) fn all_shelves(&self) -> Result<Vec<Shelf>, Failure> {
        let mut shelves = self.shelves()?;
        if self.is_blind {
            return Ok(shelves);
        }
        for project in self.other_projects()? {
            let Some(path) = &project.vault else { continue };
            if shelves.iter().any(|shelf| shelf.vault.path() == path) {
                continue;
            }
            let Ok(vault) = Vault::open(&self.place.home, project.id.as_str(), path) else { continue };
            if let Ok(snapshot) = vault.snapshot() {
                shelves.push(Shelf { vault, snapshot });
            }
        }
        Ok(shelves)
    }
}

/// Says that a vault's history could not be read.
pub(crate) fn unreadable_history(vault: &Vault, err: &dyn std::fmt::Display) -> Failure {
    Failure::error(format!("could not read the history in {}: {err}", vault.state_path().display()))
}

/// Says that what belongs to a vault could not be read.
pub(crate) fn unreadable_state(vault: &Vault, err: &dyn std::fmt::Display) -> Failure {
    Failure::error(format!("could not read what belongs to {}: {err}", vault.path().display()))
}

fn existing(vault: Result<Vault, OpenError>) -> Result<Option<Vault>, Failure> {
    match vault {
        Err(OpenError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        vault => Ok(Some(vault?)),
    }
}

/// What stands for standard input wherever a command takes a text or a file.
pub(crate) const STDIN: &str = "-";

/// Returns a text given by a flag or piped in; `None` if there is neither.
pub(crate) fn text_or_stdin(flag: Option<String>) -> Result<Option<String>, Failure> {
    match flag {
        None if std::io::stdin().is_terminal() => Ok(None),
        None => read_text(),
        Some(text) => dash_is_stdin(text).map(Some),
    }
}

/// Returns a text as it was given, or standard input where it is a dash. A dash with nothing behind it is an error: a text
/// that was meant to be there must not be missed in silence.
pub(crate) fn dash_is_stdin(text: String) -> Result<String, Failure> {
    if text != STDIN {
        return Ok(text);
    }
    read_text()?.ok_or_else(|| Failure::error("`-` means standard input, and standard input is empty"))
}

/// Notes that standard input is about to be read; the second who wants it is told that it is gone.
pub(crate) fn claim_stdin() -> Result<(), Failure> {
    static IS_CLAIMED: AtomicBool = AtomicBool::new(false);
    if IS_CLAIMED.swap(true, Ordering::Relaxed) {
        return Err(
            Failure::error("standard input can be read only once").hint("write `-` for one of the texts")
        );
    }
    Ok(())
}

fn read_text() -> Result<Option<String>, Failure> {
    claim_stdin()?;
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_STDIN + 1).read_to_end(&mut bytes);
    read.map_err(|err| Failure::error(format!("could not read standard input: {err}")))?;
    if bytes.len() as u64 > MAX_STDIN {
        return Err(Failure::refusal(format!("the text is longer than {MAX_STDIN} bytes"))
            .hint("a memory is a note: keep long texts in the project and remember where they are"));
    }
    let text = String::from_utf8(bytes).map_err(|_| Failure::error("the text is not UTF-8"))?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}
