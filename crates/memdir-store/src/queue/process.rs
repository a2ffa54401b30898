//! Which process: a number alone is used again, with the time of its start and the boot it is unique.

use std::fs;
use std::io;

use rustix::process::Pid;
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
            _ => self.id().is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok()),
        }
    }
}

impl Process {
    /// Asks it to end. One that has taken its number meanwhile is left alone.
    #[cfg(target_os = "linux")]
    pub fn end(&self) -> io::Result<()> {
        use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
        let Some(pid) = self.id() else { return Ok(()) };
        // The handle is of whoever has the number now; if that is the one we mean, it stays that one.
        let handle = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(rustix::io::Errno::SRCH) => return Ok(()),
            handle => handle?,
        };
        if self.is_running() {
            pidfd_send_signal(&handle, Signal::TERM)?;
        }
        Ok(())
    }

    /// Asks it to end.
    #[cfg(not(target_os = "linux"))]
    pub fn end(&self) -> io::Result<()> {
        let Some(pid) = self.id().filter(|_| self.is_running()) else { return Ok(()) };
        Ok(rustix::process::kill_process(pid, rustix::process::Signal::TERM)?)
    }

    fn id(&self) -> Option<Pid> {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw)
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
