//! A project with a repository, a vault and sessions, and the queue beside it.

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use memdir_core::host::Agent;
use memdir_store::lock::Lock;
use memdir_store::place::{self, Environment, Place};
use memdir_store::queue::{Job, Kind, Queue};
use memdir_testkit::{NOW, Project, Sandbox};
use serde_json::{Value, json};

/// Nothing here takes as long, even on a machine that is busy with other things.
const HANG: Duration = Duration::from_secs(60);

pub(crate) struct World {
    project: Project,
    /// As it is registered.
    pub(crate) place: Place,
}

impl Deref for World {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl World {
    /// A repository with one file, and a vault with one memory that names it.
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let project = Project::new(sandbox, "web-app", &[("src/doors.rs", "pub fn open_door() {}\n")]);
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
        let saved = project.memdir(&args).stdin(body).run();
        assert!(saved.is_ok(), "{saved}");
        let place = place::locate(&environment(&project.sandbox, &project.dir)).unwrap();
        assert!(place.is_registered());
        Self { project, place }
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
