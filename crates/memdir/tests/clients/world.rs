//! A machine with one user, one project, one scripted model, and the agents that `tests/clients/install` installed.
//!
//! Nothing but `HOME` says where anything is, as on a real machine: the vault is where memdir puts it by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use memdir_testkit::{Invocation, ModelServer, Output, Sandbox};

use crate::host::Host;

/// The user's key for the model. It may be found in no file of ours.
pub(crate) const KEY: &str = "sk-ant-api03-not-a-key-but-it-looks-like-one-0000";

/// No run of an agent takes longer, in seconds, unless it hangs.
const PATIENCE: &str = "90";
/// Hooks leave after milliseconds rather than keep an agent waiting. Here they may take longer: a machine that tests
/// everything at once is slow, and what is asked is what they say.
const HOOK_PATIENCE_MS: &str = "4000";
/// What is done in the background is done within this time, unless it hangs; an agent that is asked there starts slowly.
const PATIENCE_BEHIND: Duration = Duration::from_secs(90);

/// A home, a project in git, and a model.
pub(crate) struct World {
    sandbox: Sandbox,
    pub(crate) model: ModelServer,
    url: String,
}

impl World {
    /// A machine with this agent on it, and without memdir.
    pub(crate) fn with(host: &dyn Host) -> Self {
        Self::asking(host, |world| world.model.url())
    }

    /// The same, with an agent that is told another address of its model.
    pub(crate) fn asking(host: &dyn Host, address: impl FnOnce(&Self) -> String) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let mut world = Self { sandbox, model: ModelServer::start(Vec::new()), url: String::new() };
        fs::write(world.project().join("README.md"), "# Shop\n").unwrap();
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["add", "."]);
        world.git(&["-c", "user.name=u", "-c", "user.email=u@localhost", "commit", "-qm", "begin"]);
        world.url = address(&world);
        host.settle(&world);
        world
    }

    /// The same, after `memdir init`.
    pub(crate) fn wired(host: &dyn Host) -> Self {
        let world = Self::with(host);
        world.memdir(&["init", "--agent", host.name()]).ok();
        world
    }

    /// Where the agent is told that its model is, without a path.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// `memdir`, as the user types it in the project.
    pub(crate) fn memdir(&self, args: &[&str]) -> Invocation {
        let plain = self.sandbox.memdir(args);
        plain.without_env("MEMDIR_HOME").without_env("MEMDIR_VAULT").without_env("MEMDIR_NOW")
    }

    /// Saves a memory as the user would.
    pub(crate) fn save(&self, name: &str, kind: &str, description: &str, body: &str) {
        self.memdir(&["save", name, "--type", kind, "--description", description]).stdin(body).ok();
    }

    /// An installed program, in the project, with this home; it may not run for ever.
    pub(crate) fn client(&self, name: &str, program: &str) -> Invocation {
        let path = std::env::var("PATH").unwrap_or_default();
        let node = installed("node", "node");
        Invocation::new(&installed(name, program))
            .cwd(&self.project())
            .env("PATH", format!("{}:{path}", node.parent().unwrap().display()))
            .env("HOME", self.home())
            .env("TERM", "dumb")
            .env("TZ", "UTC")
            .env("MEMDIR_HOOK_DEADLINE_MS", HOOK_PATIENCE_MS)
            .under(&["timeout", "--kill-after=5", PATIENCE])
    }

    /// Runs git in the project.
    pub(crate) fn git(&self, args: &[&str]) {
        let status = Command::new("git").args(args).current_dir(self.project()).status().unwrap();
        assert!(status.success(), "git {args:?}");
    }

    /// Writes a file below the home directory, as a user has it.
    pub(crate) fn write_home(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Changes a file below the home directory, as a user does by hand.
    pub(crate) fn change_home(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.home().join(path)).unwrap();
        assert!(text.contains(from), "{path} has no {from}: {text}");
        self.write_home(path, &text.replacen(from, to, 1));
    }

    /// `$HOME`.
    pub(crate) fn home(&self) -> PathBuf {
        self.sandbox.home()
    }

    /// The project's directory.
    pub(crate) fn project(&self) -> PathBuf {
        self.sandbox.project()
    }

    /// Where memdir keeps what is not a memory.
    pub(crate) fn state(&self) -> PathBuf {
        self.home().join(".local/share/memdir")
    }

    /// The project's memories.
    pub(crate) fn vault(&self) -> PathBuf {
        let told = self.memdir(&["init", "--dry-run", "--json"]).ok().json();
        PathBuf::from(told["vault"].as_str().unwrap())
    }

    /// Every file that memdir wrote, with its bytes.
    pub(crate) fn files_of_memdir(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut directories = vec![self.state(), self.vault()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    directories.push(entry.path());
                } else if let Ok(bytes) = fs::read(entry.path()) {
                    files.push((entry.path(), bytes));
                }
            }
        }
        assert!(!files.is_empty());
        files
    }
}

/// Waits until something that is done in the background is done, and panics with `what` if it never is.
pub(crate) fn eventually(what: &str, is_done: impl FnMut() -> bool) {
    assert!(within(PATIENCE_BEHIND, is_done), "{what}: not within {PATIENCE_BEHIND:?}");
}

/// Waits until something is done, and says whether it was.
pub(crate) fn within(patience: Duration, mut is_done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !is_done() {
        if start.elapsed() > patience {
            return false;
        }
        thread::sleep(Duration::from_millis(50));
    }
    true
}

/// Panics unless an agent came to a good end.
pub(crate) fn fine(run: Invocation) -> Output {
    run.code(0)
}

/// Where a program of an agent is.
pub(crate) fn installed(name: &str, program: &str) -> PathBuf {
    let path = cache().join(name).join("node_modules/.bin").join(program);
    assert!(path.exists(), "{} is missing: run tests/clients/install", path.display());
    path
}

/// Where `tests/clients/install` puts the agents.
pub(crate) fn cache() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients");
    std::env::var_os("MEMDIR_CLIENTS").map_or(here, PathBuf::from)
}
