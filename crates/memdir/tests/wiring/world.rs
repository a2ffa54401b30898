//! A home for agents, and a way to look at it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use memdir_testkit::{Invocation, Sandbox, Tree};

/// A sandbox in which no agent is installed.
pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
}

impl World {
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        fs::create_dir(sandbox.root().join("bin")).unwrap();
        Self { sandbox }
    }

    /// Prepares a command with an empty path.
    pub(crate) fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).env("PATH", self.bin())
    }

    pub(crate) fn init(&self, args: &[&str]) -> Invocation {
        self.memdir(&["init"]).args(args)
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.sandbox.root().join("bin")
    }

    /// A path below the home, or below the project if it begins with `project/`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("project/") {
            Some(name) => self.sandbox.project().join(name),
            None => self.sandbox.home().join(name),
        }
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
    }

    /// Everything that agents could read.
    pub(crate) fn tree(&self) -> (Tree, Tree) {
        (Tree::of(&self.sandbox.home()), Tree::of(&self.sandbox.project()))
    }

    /// The same for people: each file with its text, the program under one name.
    pub(crate) fn dump(&self) -> String {
        let (home, project) = self.tree();
        let mut dump = String::new();
        for (root, tree) in [("~", &home), ("project", &project)] {
            for path in tree.paths().filter(|path| !path.ends_with('/')) {
                let text = String::from_utf8_lossy(tree.get(path).unwrap()).replace('\r', "<CR>");
                dump.push_str(&format!("=== {root}/{path}\n{text}"));
                dump.push_str(if text.ends_with('\n') { "" } else { "<no line break>\n" });
            }
        }
        dump.replace(&self.program(), "/MEMDIR")
    }

    /// What the entries call.
    pub(crate) fn program(&self) -> String {
        let path = Path::new(env!("CARGO_BIN_EXE_memdir")).canonicalize().unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A program that is called memdir and is not.
    pub(crate) fn stub(&self, dir: &str, script: &str) -> String {
        let path = self.sandbox.root().join(dir).join("memdir");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}
