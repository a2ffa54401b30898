//! A client that is the real binary, killed now and then in the middle of a sync.

use std::fs;
use std::path::PathBuf;

use memdir_testkit::{Member, Random, TeamServer, Tree};
use serde_json::json;

use crate::model::{Client, Edit, Heard, Texts};
use crate::world::{Common, Machine, memories};

/// Kills come at one of the first so many file changes; a sync that makes fewer is not killed.
const KILL_WITHIN: usize = 120;

/// Where machines meet: a name for it, and what a user does around a sync.
pub(crate) trait Meeting {
    /// Makes a machine a member who believes everybody there.
    fn join(&self, machine: &Machine);
    /// What a user does before a sync.
    fn before(&self, _machine: &Machine) {}
    /// What a user does after one, however it ended.
    fn after(&self, _machine: &Machine) {}
}

/// A directory.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Meeting for Directory {
    fn join(&self, machine: &Machine) {
        machine.memdir(&["team", "join", self.0.to_str().unwrap()]).ok();
        machine.memdir(&["trust", "--all"]).ok();
    }
}

/// `.memdir/team` of a repository.
pub(crate) struct Repository;

impl Meeting for Repository {
    fn join(&self, machine: &Machine) {
        machine.memdir(&["team", "join"]).ok();
        machine.memdir(&["trust", "--all"]).ok();
    }

    fn before(&self, machine: &Machine) {
        machine.pull();
    }

    fn after(&self, machine: &Machine) {
        machine.push();
    }
}

/// A server of the game's own.
pub(crate) struct Server {
    server: TeamServer,
    admin: Member,
}

impl Server {
    pub(crate) fn start() -> Self {
        let server = TeamServer::start(env!("CARGO_BIN_EXE_memdir"));
        Self { admin: server.admin(), server }
    }
}

impl Meeting for Server {
    fn join(&self, machine: &Machine) {
        let ask = self.admin.ask("POST", "/invites").json(&json!({ "scope": "write" }));
        let invited = self.server.ask(&ask).want(201).json();
        let address = format!("{}#{}", self.server.url(), invited["invite"].as_str().unwrap());
        let name = machine.clone.file_name().unwrap().to_str().unwrap();
        machine.memdir(&["team", "join", &address, "--as", name]).ok();
        machine.memdir(&["trust", "--all"]).ok();
    }
}

/// One machine.
pub(crate) struct Outside<'m> {
    machine: Machine,
    meeting: &'m dyn Meeting,
    killat: PathBuf,
}

impl<'m> Outside<'m> {
    pub(crate) fn new(common: &Common, n: usize, now: &str, meeting: &'m dyn Meeting) -> Self {
        let machine = common.machine(&format!("client-{n}")).at(now);
        meeting.join(&machine);
        Self { machine, meeting, killat: crate::world::killat() }
    }

    fn run(&self, args: &[&str]) -> Heard {
        if self.machine.memdir(args).run().is_ok() { Heard::Memdir } else { Heard::Nobody }
    }
}

fn name(file: &str) -> &str {
    file.trim_end_matches(".md")
}

impl Client for Outside<'_> {
    fn texts(&self) -> Texts {
        let tree = memories(self.machine.vault());
        let text = |path: &str| String::from_utf8(tree.get(path).unwrap().to_vec()).unwrap();
        tree.paths().map(|path| (path.to_owned(), text(path))).collect()
    }

    fn edit(&mut self, edit: &Edit, _random: &mut Random) -> Heard {
        match edit {
            Edit::Create { file, text } => {
                let body = text.split_once("\n\n").unwrap().1;
                let about = format!("about {}", name(file));
                let args =
                    ["save", name(file), "--type", "project", "--scope", "team", "--description", &about];
                self.run(&[&args[..], &["--body", body]].concat())
            }
            Edit::Replace { file, text, .. } => {
                fs::write(self.machine.vault().join(file), text).unwrap();
                Heard::Disk
            }
            Edit::Remove { file, .. } => self.run(&["forget", name(file), "--yes"]),
            Edit::Rename { from, to, .. } => self.run(&["rename", name(from), name(to)]),
        }
    }

    fn sync(&mut self, cut: Option<&mut Random>) -> Result<(), String> {
        self.meeting.before(&self.machine);
        let command = self.machine.memdir(&["sync"]);
        let output = match cut {
            None => command.run(),
            Some(random) => {
                let point = (1 + random.below(KILL_WITHIN)).to_string();
                command.under(&[self.killat.to_str().unwrap(), &point]).run()
            }
        };
        self.meeting.after(&self.machine);
        // Killed is what was asked for.
        if matches!(output.code, 0 | 137) { Ok(()) } else { Err(output.to_string()) }
    }

    fn remembers(&self, word: &str) -> bool {
        let kept = ["/trash/", "/conflicts/", "/archive/", "/changes/"];
        let state = Tree::of(&self.machine.sandbox.state());
        state.containing(word.as_bytes()).iter().any(|path| kept.iter().any(|area| path.contains(area)))
    }
}
