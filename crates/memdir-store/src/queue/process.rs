//! Which process: a number alone is used again, with the time of its start and the boot it is unique.

use std::fs;

use serde::{Deserialize, Serialize};

/// A process that is running or was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it was started, in ticks since the machine was; none where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// Which run of the machine it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
}

impl Process {
    /// Returns this process.
    pub fn own() -> Self {
        let pid = std::process::id();
        Self { pid, started: started(pid), boot: boot() }
    }

    /// Says whether it still runs: another one that has its number does not count, nor does one that has ended and was
    /// not waited for.
    pub fn is_running(&self) -> bool {
        match (self.started, &self.boot) {
            (Some(started_then), Some(_)) => started(self.pid) == Some(started_then) && boot() == self.boot,
            _ => exists(self.pid),
        }
    }
}

/// Reads when a living process was started.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    // Behind the name: the state is the third field, the start the twenty-second.
    (!matches!(state, "Z" | "X" | "x")).then(|| fields.nth(18)?.parse().ok())?
}

fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

fn exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}
