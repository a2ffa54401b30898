//! A project that several machines have a clone of, and the places they meet at.
//!
//! A [`Common`] is what all of them see: the repository that they push to, and a directory. A [`Machine`] is a user with a
//! home, a state and a clone of their own, in a directory that is called otherwise on every machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use memdir_testkit::{Invocation, Output, Sandbox, Tree};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What makes the clones one project, wherever they are.
const ADDRESS: &str = "https://code.example/harbour/shop.git";

/// What all machines see.
#[derive(Debug)]
pub(crate) struct Common {
    root: TempDir,
}

impl Common {
    pub(crate) fn new() -> Self {
        let ram = Path::new("/dev/shm");
        let place = if ram.is_dir() { ram.to_owned() } else { std::env::temp_dir() };
        let root = tempfile::Builder::new().prefix("memdir-team-").tempdir_in(place).unwrap();
        let common = Self { root };
        fs::create_dir(common.share()).unwrap();
        git(common.path(), &["init", "-q", "--bare", "-b", "main", "origin.git"]);
        let seed = common.path().join("seed");
        git(common.path(), &["clone", "-q", "origin.git", "seed"]);
        fs::write(seed.join("README.md"), "a shop at the harbour\n").unwrap();
        git(&seed, &["add", "-A"]);
        git(&seed, &["commit", "-q", "-m", "one"]);
        git(&seed, &["push", "-q", "origin", "HEAD:main"]);
        common
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// The directory that machines meet at.
    pub(crate) fn share(&self) -> PathBuf {
        self.path().join("share")
    }

    /// The project's folder in that directory.
    pub(crate) fn folder(&self) -> PathBuf {
        let is_folder = |path: &PathBuf| path.is_dir() && path.extension().is_none();
        let mut folders = fs::read_dir(self.share()).unwrap().map(|entry| entry.unwrap().path());
        folders.find(is_folder).expect("somebody has synced")
    }

    /// The memories in the project's folder.
    pub(crate) fn shared(&self) -> Tree {
        memories(&self.folder())
    }

    /// A machine with a fresh clone.
    pub(crate) fn machine(&self, name: &str) -> Machine {
        let sandbox = Sandbox::below(env!("CARGO_BIN_EXE_memdir"), self.path());
        let clone = sandbox.root().join(format!("{name}-shop")).to_owned();
        let (origin, to) = (self.path().join("origin.git"), clone.to_str().unwrap().to_owned());
        git(self.path(), &["clone", "-q", origin.to_str().unwrap(), &to]);
        git(&clone, &["remote", "rename", "origin", "hub"]);
        git(&clone, &["remote", "add", "origin", ADDRESS]);
        git(&clone, &["config", "user.email", &format!("{name}@shop.example")]);
        git(&clone, &["config", "user.name", name]);
        let vault = vault_of(&sandbox, &clone);
        Machine { sandbox, clone, vault, now: memdir_testkit::NOW.to_owned() }
    }

    /// The same user with another clone, in another directory of the same machine.
    pub(crate) fn another_clone(&self, machine: Machine, name: &str) -> Machine {
        let other = self.machine(name);
        let clone = machine.sandbox.root().join(name);
        fs::rename(&other.clone, &clone).unwrap();
        machine.working_in(clone)
    }

    /// A machine that shares through the directory and believes whoever writes there.
    pub(crate) fn member(&self, name: &str) -> Machine {
        let machine = self.machine(name);
        machine.memdir(&["team", "join", self.share().to_str().unwrap()]).ok();
        machine.memdir(&["trust", "--all"]).ok();
        machine
    }

    /// Two members of a team.
    pub(crate) fn pair(&self) -> (Machine, Machine) {
        (self.member("ann"), self.member("bob"))
    }

    /// A machine that shares through the repository.
    pub(crate) fn committer(&self, name: &str) -> Machine {
        let machine = self.machine(name);
        machine.memdir(&["team", "join"]).ok();
        machine
    }
}

/// A user's home, state and clone.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) sandbox: Sandbox,
    pub(crate) clone: PathBuf,
    vault: PathBuf,
    now: String,
}

impl Machine {
    /// Sets the clock of every command from here on.
    pub(crate) fn at(mut self, now: &str) -> Self {
        now.clone_into(&mut self.now);
        self
    }

    /// Works in another directory from here on.
    pub(crate) fn working_in(mut self, clone: PathBuf) -> Self {
        self.clone = clone;
        self
    }

    pub(crate) fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).without_env("MEMDIR_VAULT").at(&self.now).cwd(&self.clone)
    }

    /// Brings both sides together, whatever is left over.
    pub(crate) fn sync(&self) -> Value {
        let output = self.memdir(&["sync", "--json"]).run();
        assert!(output.code < 2, "{output}");
        output.json()
    }

    /// Brings both sides together and leaves nothing over.
    pub(crate) fn synced(&self) -> Value {
        self.memdir(&["sync", "--json"]).ok().json()
    }

    /// Saves a memory of the team.
    pub(crate) fn save(&self, name: &str, body: &str) {
        self.save_as(name, "project", "team", body);
    }

    pub(crate) fn save_as(&self, name: &str, memory_type: &str, scope: &str, body: &str) {
        let description = format!("what is known of {name}");
        let args =
            ["save", name, "--type", memory_type, "--scope", scope, "--description", &description, "--body"];
        self.memdir(&args).args(&[body]).ok();
    }

    /// The project's vault.
    pub(crate) fn vault(&self) -> &Path {
        &self.vault
    }

    /// The memories in the project's vault.
    pub(crate) fn memories(&self) -> Tree {
        memories(self.vault())
    }

    /// The file of a memory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.vault().join(format!("{name}.md"))
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.file(name).exists()
    }

    /// Replaces words in a memory the way an editor does.
    pub(crate) fn rewrite(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{text}");
        fs::write(self.file(name), text.replace(from, to)).unwrap();
    }

    /// The state of the project.
    pub(crate) fn state(&self) -> PathBuf {
        let projects = self.sandbox.state().join("projects");
        let is_project = |path: &PathBuf| {
            path.extension().is_none() && path.file_name().is_some_and(|name| name != "user")
        };
        let mut found = fs::read_dir(projects).unwrap().map(|entry| entry.unwrap().path());
        found.find(is_project).expect("the project is registered")
    }

    /// The folder of the repository that is shared.
    pub(crate) fn team_folder(&self) -> PathBuf {
        self.clone.join(".memdir/team")
    }

    /// Calls a hook as Claude Code does, and returns what the session is told.
    pub(crate) fn hook(&self, event: &str, said: Value) -> String {
        let mut all = json!({ "session_id": "s-1", "cwd": self.clone, "hook_event_name": event });
        all.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        let command = self.memdir(&["hook", "claude-code", event]).env("MEMDIR_HOOK_DEADLINE_MS", "30000");
        command.stdin(all.to_string()).ok().stdout
    }

    /// Says what the hook decides about a command.
    pub(crate) fn decision(&self, command: &str) -> String {
        let said =
            json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": command });
        let answer: Value = serde_json::from_str(&self.hook("PreToolUse", said)).unwrap_or_default();
        answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn git(&self, args: &[&str]) {
        git(&self.clone, args);
    }

    /// Commits what is in the team folder, as this user.
    pub(crate) fn commit(&self) {
        self.git(&["add", "-A", ".memdir"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "memories"]);
    }

    /// Commits what is in the team folder and hands it to the others.
    pub(crate) fn push(&self) {
        self.commit();
        self.git(&["push", "-q", "hub", "HEAD:main"]);
    }

    pub(crate) fn pull(&self) {
        self.git(&["pull", "-q", "--ff-only", "hub", "main"]);
    }
}

/// Builds the program that kills another at one of its file changes.
pub(crate) fn killat() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let killat = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("killat-{}", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/crash/killat.c");
        let built = Command::new("cc").args(["-O1", "-o"]).args([&killat, &source]).status();
        assert!(
            built.is_ok_and(|status| status.success()),
            "a C compiler is needed to build {}",
            source.display()
        );
        killat
    };
    BUILT.get_or_init(build).clone()
}

/// Where Claude Code keeps the memories of a project.
fn vault_of(sandbox: &Sandbox, clone: &Path) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let clone = clone.canonicalize().unwrap();
    let slug: String = clone.to_str().unwrap().chars().map(plain).collect();
    sandbox.home().join(".claude/projects").join(slug).join("memory")
}

/// Writes a memory of the team past memdir.
pub(crate) fn plant(directory: &Path, name: &str, body: &str) {
    let text = format!(
        "---\nname: {name}\ndescription: what is known of {name}\ntype: project\nmetadata:\n  scope: team\n---\n\n{body}\n"
    );
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join(format!("{name}.md")), text).unwrap();
}

/// Every memory below a directory, without what is derived from them.
pub(crate) fn memories(directory: &Path) -> Tree {
    Tree::of(directory).without(|path| path == "MEMORY.md")
}

/// Returns a list of a document as sorted words.
pub(crate) fn list(value: &Value) -> Vec<&str> {
    let mut words: Vec<&str> = value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();
    words.sort_unstable();
    words
}

/// Returns what a list of objects says under a key, sorted.
pub(crate) fn each<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    let mut words: Vec<&str> =
        value.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap()).collect();
    words.sort_unstable();
    words
}

/// Runs git with nobody's settings but the repository's.
pub(crate) fn git(directory: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    if directory.join(".git").exists() && !has_name(directory) {
        command.args(["-c", "user.name=Seed", "-c", "user.email=seed@shop.example"]);
    }
    let output = command
        .args(["-c", "commit.gpgsign=false", "-c", "safe.directory=*"])
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("install git: this test cannot do without");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn has_name(directory: &Path) -> bool {
    fs::read_to_string(directory.join(".git/config")).is_ok_and(|text| text.contains("[user]"))
}

/// Says whether a command was refused with these words.
pub(crate) fn refused(output: &Output, words: &[&str]) -> bool {
    output.code != 0 && words.iter().all(|word| output.stderr.contains(word) || output.stdout.contains(word))
}
