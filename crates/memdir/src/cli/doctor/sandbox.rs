//! Which walls of a sub-agent's process stand on this machine: shown by raising them around one that is then gone.

use std::process::{Command, Stdio};

use memdir_mind::sandbox::{Wall, Walls};
use memdir_store::health::{Finding, Severity};
use serde::Deserialize;

/// What a process says that ran against its own walls.
#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    pub(super) walls: Walls,
    /// Each attempt; `true` if it went through.
    went_through: Vec<(String, bool)>,
}

/// Raises the walls and runs against them; `None` where that could not be done.
pub(super) fn look() -> Option<Seen> {
    let program = std::env::current_exe().ok()?;
    let mut command = Command::new(program);
    command.args(["mind", "--probe", "--json"]).env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    serde_json::from_slice(&command.output().ok()?.stdout).ok()
}

impl Seen {
    /// Tells it in a line.
    pub(super) fn line(&self) -> String {
        let Walls { limits, landlock, landlock_abi, calls, tether } = &self.walls;
        let version = landlock_abi.map(|abi| format!(" (version {abi})")).unwrap_or_default();
        let walls =
            format!("limits {limits}, Landlock{version} {landlock}, list of calls {calls}, tether {tether}");
        let through: Vec<&str> = self.through().collect();
        let held = match through.is_empty() {
            true => format!("all {} attempts were held back", self.went_through.len()),
            false => format!("went through: {}", through.join(", ")),
        };
        format!("sandbox of the sub-agent: {walls}; {held}")
    }

    /// Says what is wrong with it: a wall that is missing is no fault as long as another holds.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let finding = |severity, message| {
            let rule = "sandbox-wall";
            Finding { severity, rule, file: None, message, remedy: None }
        };
        let through: Vec<&str> = self.through().collect();
        if !through.is_empty() {
            let message = format!("a sub-agent could: {}; no model should be configured", through.join(", "));
            return vec![finding(Severity::Warning, message)];
        }
        let named = [
            ("limits", &self.walls.limits),
            ("Landlock", &self.walls.landlock),
            ("list of calls", &self.walls.calls),
        ];
        let missing = named.into_iter().filter(|(_, wall)| matches!(wall, Wall::Missing(_)));
        missing
            .map(|(name, wall)| finding(Severity::Note, format!("{name} {wall}; the other walls hold")))
            .collect()
    }

    fn through(&self) -> impl Iterator<Item = &str> {
        self.went_through.iter().filter(|(_, went)| *went).map(|(what, _)| what.as_str())
    }
}
