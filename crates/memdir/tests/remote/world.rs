//! A real team server behind a network that can break, and machines with a clone of one project each.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use memdir_testkit::{Invocation, Output, Proxy, Sandbox};
use serde_json::Value;
use tempfile::TempDir;

/// What makes the clones one project, wherever they are.
const ADDRESS: &str = "https://code.example/harbour/shop.git";

/// A server, the network before it, and its database.
pub(crate) struct Server {
    child: Child,
    pub(crate) proxy: Proxy,
    /// What the first admin joins with, without the address.
    admin: String,
    root: TempDir,
    options: Vec<String>,
}

impl Server {
    /// Starts a server with a new team.
    pub(crate) fn start(options: &[&str]) -> Self {
        let root = tempfile::Builder::new().prefix("memdir-remote-").tempdir().unwrap();
        let proxy = Proxy::listen();
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let (child, address, told) = serve(&root.path().join("team.db"), &proxy, &options, true);
        proxy.forward_to(address);
        let admin = told.rsplit_once('#').expect("an invitation").1.trim().to_owned();
        Self { child, proxy, admin, root, options }
    }

    /// Ends it the hard way.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again over the same database.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let (child, address, _) = serve(&self.database(), &self.proxy, &self.options, false);
        self.child = child;
        self.proxy.forward_to(address);
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.root.path().join("team.db")
    }

    /// Where clients find it.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.proxy.address())
    }

    /// What the first admin joins with.
    pub(crate) fn admin(&self) -> String {
        format!("{}#{}", self.url(), self.admin)
    }

    /// Runs a command of its keeper and returns the last word that it prints.
    fn keeper(&self, args: &[&str]) -> String {
        let output = Invocation::new(&binary())
            .args(&["serve"])
            .args(args)
            .args(&["--db", self.database().to_str().unwrap()])
            .env("MEMDIR_HOME", self.root.path().join("keeper"))
            .ok();
        output.stdout.split_whitespace().last().expect("a word").to_owned()
    }

    /// Copies the database.
    pub(crate) fn back_up(&self) -> PathBuf {
        let copy = self.root.path().join("copy.db");
        self.keeper(&["backup", copy.to_str().unwrap()]);
        copy
    }

    /// Makes an invitation for a name.
    pub(crate) fn invite(&self, member: &str, scope: &str) -> String {
        let invite = self.keeper(&["invite", "--team", "team", "--scope", scope, "--member", member]);
        format!("{}#{}", self.url(), invite.rsplit('#').next().unwrap())
    }

    /// Makes a team of one person's machines.
    pub(crate) fn own_team(&self, name: &str) -> String {
        let invite = self.keeper(&["team", "add", name, "--own"]);
        format!("{}#{}", self.url(), invite.rsplit('#').next().unwrap())
    }

    /// Another invitation to a team.
    pub(crate) fn invite_to(&self, team: &str, member: &str) -> String {
        let invite = self.keeper(&["invite", "--team", team, "--member", member]);
        format!("{}#{}", self.url(), invite.rsplit('#').next().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn binary() -> PathBuf {
    std::env::var_os("MEMDIR_TEST_BINARY")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_memdir")), PathBuf::from)
}

fn serve(database: &Path, proxy: &Proxy, options: &[String], is_first: bool) -> (Child, SocketAddr, String) {
    let mut child = Command::new(binary())
        .args(["serve", "--listen", "127.0.0.1:0", "--host", &proxy.address().to_string()])
        .args(["--db", database.to_str().unwrap()])
        .args(options)
        .env_clear()
        .env("MEMDIR_HOME", database.with_extension("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    talk.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("memdir serves http://").expect("it serves").parse().unwrap();
    let mut told = String::new();
    while is_first && !told.contains("counts for") {
        assert_ne!(talk.read_line(&mut told).unwrap(), 0, "{told}");
    }
    thread::spawn(move || std::io::copy(&mut talk, &mut std::io::sink()));
    let told = told.lines().find(|line| line.contains('#')).unwrap_or_default().to_owned();
    (child, address, told)
}

/// A user's home, state and clone.
pub(crate) struct Machine {
    pub(crate) sandbox: Sandbox,
    pub(crate) clone: PathBuf,
}

impl Machine {
    /// A machine with a clone of the project.
    pub(crate) fn new(name: &str) -> Self {
        let ram = Path::new("/dev/shm");
        let place = if ram.is_dir() { ram.to_owned() } else { std::env::temp_dir() };
        let sandbox = Sandbox::below(env!("CARGO_BIN_EXE_memdir"), &place);
        let machine = Self { clone: sandbox.root().join(format!("{name}-shop")), sandbox };
        machine.clone_project(&machine.clone, ADDRESS);
        machine
    }

    /// Makes a repository that has this address.
    pub(crate) fn clone_project(&self, dir: &Path, address: &str) {
        fs::create_dir_all(dir).unwrap();
        git(dir, &["init", "-q", "-b", "main"]);
        git(dir, &["remote", "add", "origin", address]);
    }

    /// A machine that joined with an invitation.
    pub(crate) fn member(name: &str, invitation: &str) -> Self {
        let machine = Self::new(name);
        machine.memdir(&["team", "join", invitation, "--as", name]).ok();
        machine
    }

    pub(crate) fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(&self.clone)
    }

    /// Saves a memory that teammates get.
    pub(crate) fn save(&self, name: &str, body: &str) {
        let description = format!("what there is to know about {name}");
        let args = [
            "save",
            name,
            "--type",
            "project",
            "--scope",
            "team",
            "--description",
            &description,
            "--force",
            "test",
        ];
        self.memdir(&args).stdin(body).ok();
    }

    /// Changes the text of a memory, as an editor would.
    pub(crate) fn rewrite(&self, name: &str, from: &str, to: &str) {
        let path = self.vault().join(format!("{name}.md"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
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

    /// Tries to.
    pub(crate) fn try_sync(&self) -> Output {
        self.memdir(&["sync", "--json"]).run()
    }

    /// Believes an author.
    pub(crate) fn trust(&self, author: &str) {
        let output = self.memdir(&["trust", author]).run();
        assert!(output.code < 2, "{output}");
    }

    pub(crate) fn vault(&self) -> PathBuf {
        let said = self.memdir(&["projects", "--json"]).ok().json();
        let vault = said[0]["vault"].as_str().unwrap_or_else(|| panic!("{said}"));
        PathBuf::from(vault)
    }

    /// The text of a memory; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.vault().join(format!("{name}.md"))).unwrap_or_default()
    }

    /// The names of all memories, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let list = self.memdir(&["list", "--json"]).run().json();
        let mut names: Vec<String> = list
            .as_array()
            .unwrap_or_else(|| panic!("{list}"))
            .iter()
            .map(|memory| memory["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    /// Every file of the state root that holds these bytes.
    pub(crate) fn files_with(&self, words: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        files_below(&self.sandbox.state(), &mut |path, bytes| {
            if bytes.windows(words.len()).any(|window| window == words.as_bytes()) {
                found.push(path.to_owned());
            }
        });
        found
    }
}

pub(crate) fn files_below(dir: &Path, visit: &mut dyn FnMut(&Path, &[u8])) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, visit);
        } else if let Ok(bytes) = fs::read(&path) {
            visit(&path, &bytes);
        }
    }
}

fn git(dir: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
