//! A real team server for one test, and those who ask it.
//!
//! [`TeamServer::start`] runs `memdir serve` on a free port with a home of its own; [`TeamServer::prepare`] does so with other options, a
//! smaller machine or another database. [`TeamServer::admin`] is its first member, who lets others in. The variable
//! `MEMDIR_TEST_DB` names a PostgreSQL server (`postgres://user@host:port/any`) to run the same tests on: each test gets a
//! database of its own there, made and dropped by `psql`. Without it they run on SQLite.

mod http;
mod member;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Invocation, Output, Running, Tree};
pub use http::{Answer, Ask, Connection, PATIENCE};
pub use member::{Member, put_op, sha256, team_memory};

/// Where a server keeps its teams.
#[derive(Clone, Debug)]
pub enum Database {
    /// In one file below its home.
    Sqlite,
    /// On this PostgreSQL server, in a database of its own.
    Postgres(String),
}

impl Database {
    /// What `MEMDIR_TEST_DB` says; SQLite if it says nothing.
    pub fn of_environment() -> Self {
        match std::env::var("MEMDIR_TEST_DB") {
            Ok(url) if !url.is_empty() => Self::Postgres(url),
            _ => Self::Sqlite,
        }
    }

    /// Says whether it is SQLite, for what only a file can show.
    pub fn is_sqlite(&self) -> bool {
        matches!(self, Self::Sqlite)
    }
}

/// A server that is about to start.
#[derive(Clone, Debug)]
pub struct TeamServerSetup {
    invocation: Invocation,
    below: PathBuf,
    database: Database,
}

impl TeamServerSetup {
    /// Adds options of `memdir serve`.
    pub fn options<S: AsRef<OsStr>>(mut self, options: &[S]) -> Self {
        self.invocation = self.invocation.args(options);
        self
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.invocation = self.invocation.env(name, value);
        self
    }

    /// Runs it under another program, such as `&["prlimit", "--nofile=64"]`.
    pub fn under(mut self, wrapper: &[&str]) -> Self {
        self.invocation = self.invocation.under(wrapper);
        self
    }

    /// Has its home below this directory, say on a disk that is small.
    pub fn below(mut self, directory: &Path) -> Self {
        self.below = directory.to_owned();
        self
    }

    /// Keeps its teams here, whatever the environment says.
    pub fn database(mut self, database: Database) -> Self {
        self.database = database;
        self
    }

    /// Starts it, and waits until it serves.
    pub fn start(self) -> TeamServer {
        let home = tempfile::Builder::new().prefix("memdir-team-").tempdir_in(&self.below).unwrap();
        let own = OwnDatabase::make(&self.database);
        let mut invocation =
            self.invocation.env("HOME", home.path()).env("MEMDIR_HOME", home.path()).cwd(home.path());
        if let Some(own) = &own {
            invocation = invocation.env("MEMDIR_DB", &own.url);
        }
        let mut server = TeamServer {
            home,
            invocation,
            database: self.database,
            _own: own,
            running: None,
            port: 0,
            invite: String::new(),
            log: Arc::default(),
        };
        server.run();
        let invite = server.said().split_once('#').map(|(_, rest)| rest.lines().next().unwrap().to_owned());
        server.invite = invite.unwrap();
        server
    }
}

/// A running team server. It is killed and its files are removed when it is dropped.
#[derive(Debug)]
pub struct TeamServer {
    home: TempDir,
    invocation: Invocation,
    database: Database,
    /// Dropped when the server is.
    _own: Option<OwnDatabase>,
    running: Option<Running>,
    port: u16,
    invite: String,
    log: Arc<Mutex<String>>,
}

impl TeamServer {
    /// Starts one with the usual limits, but for how often one may ask. `binary` is `env!("CARGO_BIN_EXE_memdir")`;
    /// `MEMDIR_TEST_BINARY` names another.
    pub fn start(binary: impl Into<PathBuf>) -> Self {
        Self::prepare(binary).options(&["--rate", "100000", "--burst", "100000"]).start()
    }

    /// Prepares one with the usual limits.
    pub fn prepare(binary: impl Into<PathBuf>) -> TeamServerSetup {
        let binary = std::env::var_os("MEMDIR_TEST_BINARY").map_or_else(|| binary.into(), PathBuf::from);
        TeamServerSetup {
            invocation: Invocation::new(&binary).args(&["serve"]).env("TZ", "UTC"),
            below: std::env::temp_dir(),
            database: Database::of_environment(),
        }
    }

    /// Runs it on any free port and waits until it serves.
    fn run(&mut self) {
        let mut running = self.invocation.clone().args(&["--listen", "127.0.0.1:0"]).spawn();
        let stderr = BufReader::new(running.child.stderr.take().unwrap());
        self.log = Arc::default();
        let log = self.log.clone();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                log.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        self.running = Some(running);
        let is_first = self.invite.is_empty();
        let serves = |said: &str| {
            let url = said.split_once("memdir serves http://127.0.0.1:")?.1.split_once('\n')?.0;
            (!is_first || said.contains("shown once")).then(|| url.parse().unwrap())
        };
        let until = Instant::now() + PATIENCE;
        self.port = loop {
            if let Some(port) = serves(&self.said()) {
                break port;
            }
            let has_ended = self.running.as_mut().unwrap().has_ended();
            assert!(!has_ended && Instant::now() < until, "the server did not start:\n{}", self.said());
            thread::sleep(Duration::from_millis(5));
        };
    }

    /// Starts it again, on another port, with the same teams.
    pub fn restart(&mut self) {
        self.kill();
        self.run();
    }

    /// Starts it again with one variable of its environment changed.
    pub fn restart_with(&mut self, name: &str, value: &str) {
        self.invocation = self.invocation.clone().env(name, value);
        self.restart();
    }

    /// Ends it with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            // It may have ended by itself.
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }

    /// Asks it to end, as systemd does.
    pub fn terminate(&self) {
        let status = Command::new("kill").args(["-TERM", &self.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> Output {
        self.running.take().unwrap().wait()
    }

    /// Asks it to end and waits until it has.
    pub fn stop(&mut self) -> Output {
        self.terminate();
        self.wait()
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.running.as_ref().unwrap().id()
    }

    /// How many descriptors it has open.
    pub fn n_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.id())).unwrap().count()
    }

    /// The kilobytes that it has in memory.
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Everything that it said on stderr since it was started last.
    pub fn said(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The port it listens at.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address, `http://127.0.0.1:…`.
    pub fn url(&self) -> String {
        format!("http://{}", self.host())
    }

    /// What it wants to read in `Host`.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The directory that it was told to live in.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Everything in its home, its database among it if that is a file.
    pub fn files(&self) -> Tree {
        Tree::of(self.home())
    }

    /// What it keeps its teams in.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The invitation that its first start printed.
    pub fn invite(&self) -> &str {
        &self.invite
    }

    /// Prepares a command of its keeper, such as `server.keeper(&["invite", "--scope", "read"])`.
    pub fn keeper(&self, args: &[&str]) -> Invocation {
        let words: Vec<&OsStr> = ["serve"].iter().chain(args).map(OsStr::new).collect();
        self.invocation.clone().alone().args(&words)
    }

    /// Opens a connection.
    pub fn connect(&self) -> Connection {
        Connection::open(self.port).unwrap()
    }

    /// Sends one request over a connection of its own.
    #[track_caller]
    pub fn ask(&self, ask: &Ask) -> Answer {
        let ask = ask.clone().header("Connection", "close");
        self.connect().ask(&ask).unwrap_or_else(|err| panic!("{err}: {ask:?}\n{}", self.said()))
    }

    /// Sends bytes as they are, and nothing more, and returns every answer until the server closes.
    pub fn raw(&self, bytes: &[u8]) -> Vec<Answer> {
        let mut connection = self.connect();
        // A server that turns somebody away may close before it has read all.
        let _ = connection.send(bytes);
        connection.answers()
    }

    /// Turns an invitation into a member. With `--behind-proxy` everybody comes from an address of their own, so that more than a few
    /// may join at once.
    pub fn join(&self, invite: &str, name: &str) -> Member {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let [_, a, b, c] = COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let ask = Ask::new("POST", "/v1/join").json(&json!({ "invite": invite, "member": name }));
        let joined = self.ask(&ask.header("X-Forwarded-For", &format!("10.{a}.{b}.{c}"))).want(201).json();
        Member::new(&joined)
    }

    /// Joins with the first invitation.
    pub fn admin(&self) -> Member {
        self.join(&self.invite, "ada")
    }

    /// Has an admin let somebody in.
    pub fn add(&self, admin: &Member, name: &str, scope: &str) -> Member {
        let ask = admin.ask("POST", "/invites").json(&json!({ "scope": scope, "member": name }));
        let invited = self.ask(&ask).want(201).json();
        self.join(invited["invite"].as_str().unwrap(), name)
    }

    /// Makes another team, of one person's machines if `is_own`, and returns its first admin.
    pub fn add_team(&self, team: &str, is_own: bool) -> Member {
        let mut args = vec!["team", "add", team];
        args.extend(is_own.then_some("--own"));
        let invite = self.keeper(&args).ok().stdout.trim().to_owned();
        self.join(&invite, "ada")
    }

    /// Makes a token that reads the metrics.
    pub fn metrics_token(&self) -> String {
        self.keeper(&["token", "--metrics"]).ok().stdout.trim().to_owned()
    }

    /// Reads a figure of the metrics, added up over every line that begins with `name` and contains `with`.
    pub fn figure(&self, token: &str, name: &str, with: &str) -> f64 {
        let text = self.ask(&Ask::new("GET", "/metrics").token(token)).want(200).text();
        let lines = text.lines().filter(|line| line.starts_with(name) && line.contains(with));
        lines.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
    }

    /// Writes several memories of a project and returns the whole answer.
    #[track_caller]
    pub fn batch(&self, member: &Member, project: &str, ops: &[Value]) -> Value {
        let ask = member.ask("POST", &format!("/projects/{project}/batch"));
        self.ask(&ask.json(&json!({ "ops": ops }))).want(200).json()
    }

    /// Writes one memory of a project and returns what became of it.
    #[track_caller]
    pub fn write(&self, member: &Member, project: &str, op: Value) -> Value {
        self.batch(member, project, &[op])["results"][0].clone()
    }

    /// Returns everything of a project, removals since `since` too, each with its text.
    pub fn holdings(&self, member: &Member, project: &str, since: u64) -> Vec<Value> {
        let (mut since, mut all) = (since, Vec::new());
        loop {
            let target = format!("/projects/{project}/changes?since={since}&limit=1000&text=1");
            let page = self.ask(&member.ask("GET", &target)).want(200).json();
            all.extend(page["changes"].as_array().unwrap().iter().cloned());
            since = page["cursor"].as_u64().unwrap();
            if page["more"] == false {
                return all;
            }
        }
    }
}

impl Drop for TeamServer {
    fn drop(&mut self) {
        self.kill();
        if thread::panicking() {
            let said = self.said();
            let end: Vec<&str> = said.lines().rev().take(20).collect();
            let end: Vec<&str> = end.into_iter().rev().collect();
            // The harness shows what a test that failed wrote.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), (end.join("\n") + "\n").as_bytes());
        }
    }
}

/// A database that is there for one test.
#[derive(Debug)]
struct OwnDatabase {
    server: String,
    name: String,
    url: String,
}

impl OwnDatabase {
    fn make(database: &Database) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let Database::Postgres(server) = database else { return None };
        let name = format!("memdir_test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let (place, query) =
            server.split_once('?').map_or((server.as_str(), ""), |(place, query)| (place, query));
        let authority = place.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap()).unwrap();
        let question = if query.is_empty() { "" } else { "?" };
        let url = format!("postgres://{authority}/{name}{question}{query}");
        let own = Self { server: server.clone(), name, url };
        own.psql(&format!("CREATE DATABASE {}", own.name));
        Some(own)
    }

    fn psql(&self, sql: &str) {
        let words = ["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", sql];
        let output = Command::new("psql").arg(&self.server).args(words).output().unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for OwnDatabase {
    fn drop(&mut self) {
        self.psql(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}
