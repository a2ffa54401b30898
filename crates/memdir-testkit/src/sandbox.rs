//! A private world for one test: home, state, vault, project, clock.
//!
//! Nothing of the developer's machine leaks in: the environment starts empty except for `PATH`, so a test that
//! passes here does not depend on somebody's `$HOME`. The directory is removed when the sandbox is dropped.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Invocation, Tree};

/// The moment at which every command in a sandbox runs, unless the test says otherwise.
pub const NOW: &str = "2026-04-02T10:30:00Z";

/// A temporary home with a state directory, a vault and a project, and the binary to run in it.
#[derive(Debug)]
pub struct Sandbox {
    binary: PathBuf,
    root: TempDir,
}

impl Sandbox {
    /// Makes a sandbox in the default temporary directory.
    ///
    /// `binary` is `env!("CARGO_BIN_EXE_memdir")`, which cargo sets only for the CLI's own tests. The variable
    /// `MEMDIR_TEST_BINARY` names another one, to run the same tests against a release build.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        Self::below(binary, &std::env::temp_dir())
    }

    /// Makes a sandbox in `directory`, say one on a RAM disk or on a file system under test.
    pub fn below(binary: impl Into<PathBuf>, directory: &Path) -> Self {
        let root = tempfile::Builder::new().prefix("memdir-test-").tempdir_in(directory).unwrap();
        let other = std::env::var_os("MEMDIR_TEST_BINARY").map(PathBuf::from);
        let sandbox = Self { binary: other.unwrap_or_else(|| binary.into()), root };
        for directory in [sandbox.home(), sandbox.project(), sandbox.vault()] {
            make_private_directory(&directory);
        }
        sandbox
    }

    /// Prepares a command such as `sandbox.memdir(&["show", "feedback-testing"])`.
    pub fn memdir(&self, args: &[&str]) -> Invocation {
        Invocation::new(&self.binary)
            .args(args)
            .cwd(&self.project())
            .env("HOME", self.home())
            .env("MEMDIR_HOME", self.state())
            .env("MEMDIR_VAULT", self.vault())
            .env("MEMDIR_NOW", NOW)
            .env("TZ", "UTC")
    }

    /// Saves a project memory and panics unless that was acknowledged.
    pub fn save(&self, name: &str, body: &str) {
        let description = format!("what there is to know about {name}");
        self.memdir(&["save", name, "--type", "project", "--description", &description]).stdin(body).ok();
    }

    /// The directory that holds all the others.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// `$HOME`.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// `$MEMDIR_HOME`; the first command makes it.
    pub fn state(&self) -> PathBuf {
        self.root().join("state")
    }

    /// `$MEMDIR_VAULT`.
    pub fn vault(&self) -> PathBuf {
        self.root().join("vault")
    }

    /// The working directory of every command.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The file in which a memory of this name lives.
    pub fn memory(&self, name: &str) -> PathBuf {
        self.vault().join(format!("{name}.md"))
    }

    /// Reads a memory's whole file.
    pub fn read(&self, name: &str) -> String {
        let path = self.memory(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Puts a file into the vault the way an editor would, past memdir.
    pub fn write(&self, file_name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.vault().join(file_name), text).unwrap();
    }

    /// Reads `MEMORY.md`, which is empty when there is none.
    pub fn index_page(&self) -> String {
        fs::read_to_string(self.vault().join("MEMORY.md")).unwrap_or_default()
    }

    /// Dumps the vault.
    pub fn vault_tree(&self) -> Tree {
        Tree::of(&self.vault())
    }

    /// Dumps the state directory.
    pub fn state_tree(&self) -> Tree {
        Tree::of(&self.state())
    }
}

/// Makes a directory only its owner may enter, as a vault must be whatever the umask says.
fn make_private_directory(path: &Path) {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).unwrap();
}
