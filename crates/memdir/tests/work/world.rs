//! A project with a repository, a vault and sessions, and the queue beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use memdir_core::host::Agent;
use memdir_store::lock::Lock;
use memdir_store::place::{self, Environment, Place};
use memdir_store::queue::{Job, Kind, Queue};
use memdir_testkit::{Invocation, NOW, Sandbox};
use serde_json::{Value, json};

/// Nothing here takes as long, even on a machine that is busy with other things.
const HANG: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) dir: PathBuf,
    /// As it is registered.
    pub(crate) place: Place,
}

impl World {
    /// A repository with one file, and a vault with one memory that names it.
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let dir = sandbox.root().join("web-app").to_owned();
        fs::create_dir_all(dir.join("src")).unwrap();
        let dir = dir.canonicalize().unwrap();
        fs::write(dir.join("src/doors.rs"), "pub fn open_door() {}\n").unwrap();
        git(&dir, &["init", "-q", "-b", "main"]);
        git(&dir, &["add", "-A"]);
        git(&dir, &["commit", "-q", "-m", "doors"]);
        let args = [
            "save",
            "project-doors",
            "--type",
            "project",
            "--description",
            "who opens doors for the vendor",
            "--force",
            "the audit asks for it",
        ];
        let body = "The vendor's doors are opened by `open_door()` in `src/doors.rs`, because of the audit.";
        let saved = sandbox.memdir(&args).without_env("MEMDIR_VAULT").cwd(&dir).stdin(body).run();
        assert!(saved.is_ok(), "{saved}");
        let place = place::locate(&environment(&sandbox, &dir)).unwrap();
        assert!(place.is_registered());
        Self { sandbox, dir, place }
    }

    /// A command in the project.
    pub(crate) fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(&self.dir)
    }

    pub(crate) fn queue(&self) -> Queue {
        Queue::of(&self.place)
    }

    /// Pushes a job about a session, as a hook does.
    pub(crate) fn push(&self, kind: Kind, session: &str) {
        let job = Job::new(kind, &self.place, NOW.parse().unwrap());
        let job = job.about(session, Some(Agent::ClaudeCode), Some(self.transcript(session)));
        self.queue().push(&job).unwrap();
    }

    pub(crate) fn transcript(&self, session: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let slug: String = self.dir.to_str().unwrap().chars().map(plain).collect();
        self.sandbox.home().join(".claude/projects").join(slug).join(format!("{session}.jsonl"))
    }

    /// Adds turns to the file of a session as Claude Code does; `hour` is when they were said.
    pub(crate) fn says(&self, session: &str, hour: u32, turns: &[(&str, Value)]) {
        let path = self.transcript(session);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        let n_before = text.lines().count();
        for (n, (role, content)) in turns.iter().enumerate() {
            let line = json!({
                "parentUuid": null, "isSidechain": false, "type": role,
                "message": { "role": role, "content": content }, "uuid": format!("{session}-{}", n_before + n),
                "timestamp": format!("2026-04-02T{hour:02}:{n:02}:00.000Z"), "cwd": self.dir,
                "sessionId": session, "version": "2.1.325", "gitBranch": "main",
            });
            text.push_str(&format!("{line}\n"));
        }
        fs::write(path, text).unwrap();
    }

    /// A session of some length in which something was asked, changed and left open.
    pub(crate) fn long_session(&self, session: &str) {
        let todos = json!([{ "content": format!("rotate the key of {session}"), "status": "pending", "activeForm": "r" }]);
        self.says(
            session,
            9,
            &[
                ("user", json!(format!("Move token refresh of {session} behind a queue"))),
                ("assistant", json!([{ "type": "tool_use", "id": "t1", "name": "Edit",
                    "input": { "file_path": self.dir.join("src/doors.rs"), "old_string": "a", "new_string": "b" } }])),
                ("assistant", json!([{ "type": "tool_use", "id": "t2", "name": "TodoWrite", "input": { "todos": todos } }])),
                ("assistant", json!("x".repeat(41_000))),
            ],
        );
    }

    pub(crate) fn work(&self) -> Value {
        self.memdir(&["work", "--once"]).json()
    }

    /// The working memory of a session.
    pub(crate) fn working(&self, session: &str) -> Option<String> {
        fs::read_to_string(self.place.state_dir().join(format!("session/{session}.md"))).ok()
    }

    /// The entries of the journal, the newest first.
    pub(crate) fn journal(&self) -> Vec<Value> {
        self.memdir(&["journal", "list", "-n", "1000"]).json().as_array().unwrap().clone()
    }

    /// Files of the queue, whatever their state. What a killed writer left under a temporary name is nobody's job.
    pub(crate) fn queued(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.queue().path()) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.starts_with(".memdir-tmp-"));
        names.sort();
        names
    }

    /// Holds up whoever wants to write into the journal, for some seconds at most.
    pub(crate) fn hold_journal(&self) -> Lock {
        let name = format!("journal-{}.lock", self.place.project.id);
        Lock::acquire(&self.sandbox.state().canonicalize().unwrap().join("locks"), &name).unwrap()
    }

    /// Starts a worker and stops it in the middle of ending a session; returns its process id.
    pub(crate) fn stopped_worker(&self, session: &str) -> u32 {
        let lock = self.hold_journal();
        self.push(Kind::End, session);
        self.memdir(&["work", "--start"]).ok();
        let key = format!("end-{session}");
        wait_for("the worker", || self.queue().worker().is_some_and(|holder| holder.doing == key));
        let pid = self.queue().worker().unwrap().process.pid;
        signal(pid, "STOP");
        drop(lock);
        pid
    }
}

pub(crate) fn environment(sandbox: &Sandbox, dir: &Path) -> Environment {
    Environment {
        cwd: dir.to_owned(),
        home: Some(sandbox.home()),
        memdir_home: Some(sandbox.state()),
        search_path: std::env::var_os("PATH"),
        ..Environment::default()
    }
}

pub(crate) fn git(dir: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("install git: this test cannot do without");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Waits until something is so; hanging is a failure.
pub(crate) fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + HANG;
    while !is_so() {
        assert!(Instant::now() < until, "waiting for {what} takes too long");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a process with a signal, such as `KILL`.
pub(crate) fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    assert!(status.success(), "kill -{name} {pid}");
}

/// Finds the processes that work on this sandbox, whoever started them.
pub(crate) fn processes(sandbox: &Sandbox) -> Vec<u32> {
    let wanted = format!("MEMDIR_HOME={}", sandbox.state().display());
    let is_ours = |pid: &u32| {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|b| *b == 0).any(|variable| variable == wanted.as_bytes())
    };
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}
