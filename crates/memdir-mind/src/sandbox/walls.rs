//! The walls around a sub-agent's process: what the system takes away from it for good.
//!
//! Four of them, each enough for most of what could go wrong, so that a system without one is still safe: limits (no new
//! descriptor, no file grows, no memory or time without end, no child), Landlock (no file and no port), a list of the few
//! system calls that a program needs which computes and talks over two pipes (`calls.json`), and its end with its parent.
//! [`raise`] puts them up; there is no way to take them down. Which of them stand is reported, never assumed.

use std::fmt;

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// As much address space there is: several times the largest copy of a vault, and the program itself.
const MAX_MEMORY: u64 = 1 << 30;
/// No file grows beyond this. None can be opened either; this is for one that was left open, such as a redirected output.
const MAX_FILE: u64 = 1 << 20;
/// As many seconds of computing, which is not waiting.
const MAX_CPU: u64 = 60;

/// Whether a wall stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wall {
    /// It stands.
    Stands,
    /// As much of it stands as this system knows.
    Partly,
    /// It does not, for this reason.
    Missing(String),
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stands => f.write_str("stands"),
            Self::Partly => f.write_str("stands partly"),
            Self::Missing(why) => write!(f, "missing: {why}"),
        }
    }
}

impl<E: fmt::Display> From<Result<(), E>> for Wall {
    fn from(raised: Result<(), E>) -> Self {
        raised.map_or_else(|err| Self::Missing(err.to_string()), |()| Self::Stands)
    }
}

/// The walls around a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// Limits of the system: descriptors, file sizes, memory, time, processes.
    pub limits: Wall,
    /// Landlock: files and ports.
    pub landlock: Wall,
    /// The version of Landlock that the kernel and we both know, if any.
    #[serde(default)]
    pub landlock_abi: Option<u32>,
    /// The list of system calls.
    pub calls: Wall,
    /// That it ends with its parent, at once; the end of its input ends it anyway.
    pub tether: Wall,
}

impl Walls {
    /// Says whether all of them stand.
    pub fn all_stand(&self) -> bool {
        [&self.limits, &self.landlock, &self.calls, &self.tether]
            .into_iter()
            .all(|wall| *wall == Wall::Stands)
    }
}

/// Raises the walls around this process.
pub(super) fn raise() -> Walls {
    // A session of its own, so that no key pressed in the user's terminal reaches it. It leads none only if it leads one.
    let _ = rustix::process::setsid();
    let tether = tether();
    let (landlock, landlock_abi) = landlock();
    // The limits come after Landlock, which needs a descriptor for a moment, and before the calls, which forbid setting them.
    let limits = limits().into();
    let calls = calls();
    Walls { limits, landlock, landlock_abi, calls, tether }
}

fn limits() -> rustix::io::Result<()> {
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, MAX_FILE),
        (Resource::Cpu, MAX_CPU),
        (Resource::As, MAX_MEMORY),
        (Resource::Nproc, 0),
        (Resource::Nofile, 0),
    ];
    for (resource, most) in limits {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn tether() -> Wall {
    let kill = Some(rustix::process::Signal::KILL);
    rustix::process::set_parent_process_death_signal(kill).into()
}

#[cfg(target_os = "linux")]
fn landlock() -> (Wall, Option<u32>) {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, RestrictionStatus, Ruleset, RulesetAttr, RulesetError,
        RulesetStatus, Scope,
    };
    let restrict = || -> Result<RestrictionStatus, RulesetError> {
        // Everything is handled and nothing is allowed.
        let ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V7))?
            .handle_access(AccessNet::from_all(ABI::V7))?
            .scope(Scope::from_all(ABI::V7))?;
        ruleset.create()?.restrict_self()
    };
    let status = match restrict() {
        Ok(status) => status,
        Err(err) => return (Wall::Missing(err.to_string()), None),
    };
    let wall = match status.ruleset {
        RulesetStatus::FullyEnforced => Wall::Stands,
        RulesetStatus::PartiallyEnforced => Wall::Partly,
        RulesetStatus::NotEnforced => Wall::Missing("the kernel has no Landlock".to_owned()),
    };
    // It says its number, or in a word that there is none.
    (wall, ABI::from(status.landlock).to_string().parse().ok())
}

#[cfg(target_os = "linux")]
fn calls() -> Wall {
    let apply = || -> Result<(), String> {
        let arch = std::env::consts::ARCH.try_into().map_err(|err| format!("{err}"))?;
        let json = include_str!("calls.json").as_bytes();
        let filters = seccompiler::compile_from_json(json, arch).map_err(|err| err.to_string())?;
        let filter = filters.get("mind").ok_or("the list of calls has another name")?;
        seccompiler::apply_filter(filter).map_err(|err| err.to_string())
    };
    apply().into()
}

#[cfg(not(target_os = "linux"))]
fn tether() -> Wall {
    Wall::Missing("only Linux has it".to_owned())
}

#[cfg(not(target_os = "linux"))]
fn landlock() -> (Wall, Option<u32>) {
    (Wall::Missing("only Linux has it".to_owned()), None)
}

#[cfg(not(target_os = "linux"))]
fn calls() -> Wall {
    Wall::Missing("only Linux has it".to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    /// The names in the list are calls on every processor that we build for.
    #[test]
    fn the_list_of_calls_compiles_everywhere() {
        for arch in ["x86_64", "aarch64"] {
            let arch = arch.try_into().unwrap();
            let filters =
                seccompiler::compile_from_json(include_str!("calls.json").as_bytes(), arch).unwrap();
            assert!(filters["mind"].len() > 40);
        }
    }
}
