//! A repository in a sandbox, and an agent's sessions in it.
//!
//! [`Project::memdir`] is a command that is run there, [`Project::hook`] what an agent tells, [`Project::says`] what it
//! writes into its own file of a session, and [`Project::work`] waits until nothing is left to do in the background.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Invocation, Sandbox};

/// Only something that hangs takes longer, even on a machine that is busy with other things.
const HANG: Duration = Duration::from_secs(60);

/// A repository in a sandbox.
#[derive(Debug)]
pub struct Project {
    /// Where everything is.
    pub sandbox: Sandbox,
    /// The work tree.
    pub dir: PathBuf,
    env: Vec<(String, String)>,
}

impl Project {
    /// Makes a repository of these files, with one commit.
    pub fn new(sandbox: Sandbox, name: &str, files: &[(&str, &str)]) -> Self {
        let dir = sandbox.root().join(name);
        fs::create_dir_all(&dir).unwrap();
        let dir = dir.canonicalize().unwrap();
        for (path, text) in files {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let project = Self { sandbox, dir, env: Vec::new() };
        project.git(&["init", "-q", "-b", "main"]);
        project.git(&["add", "-A"]);
        project.git(&["commit", "-q", "-m", name]);
        project
    }

    /// Sets a variable for every command from here on.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Prepares a command in the project.
    pub fn memdir(&self, args: &[&str]) -> Invocation {
        let command = self.sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(&self.dir);
        self.env.iter().fold(command, |command, (name, value)| command.env(name, value))
    }

    /// Calls a hook as Claude Code does in `session`, and returns what it is told.
    pub fn hook(&self, session: &str, event: &str, said: Value) -> String {
        let mut all = json!({ "session_id": session, "cwd": self.dir, "hook_event_name": event });
        if self.transcript(session).is_file() {
            all["transcript_path"] = json!(self.transcript(session));
        }
        all.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        let command = self.memdir(&["hook", "claude-code", event]).env("MEMDIR_HOOK_DEADLINE_MS", "30000");
        command.stdin(all.to_string()).ok().stdout
    }

    /// Says that the agent has answered.
    pub fn stop(&self, session: &str) {
        self.hook(session, "Stop", json!({ "stop_hook_active": false, "last_assistant_message": "done" }));
    }

    /// Says that the agent has read a file.
    pub fn reads(&self, session: &str, path: &str) {
        let input = json!({ "file_path": self.dir.join(path) });
        let said =
            json!({ "tool_name": "Read", "tool_input": input, "tool_response": "text", "tool_use_id": path });
        self.hook(session, "PostToolUse", said);
    }

    /// Returns the file that Claude Code keeps of a session.
    pub fn transcript(&self, session: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let slug: String = self.dir.to_str().unwrap().chars().map(plain).collect();
        self.sandbox.home().join(".claude/projects").join(slug).join(format!("{session}.jsonl"))
    }

    /// Adds turns to the file of a session as Claude Code does; `hour` is when they were said.
    pub fn says(&self, session: &str, hour: u32, turns: &[(&str, Value)]) {
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

    /// Does what waits in the queues, or waits for whoever does it already.
    pub fn work(&self) {
        self.work_as(|command| command);
    }

    /// Has all work done that waits, by commands that are prepared first: whoever comes first does it.
    pub fn work_as(&self, prepared: impl Fn(Invocation) -> Invocation) {
        let until = Instant::now() + HANG;
        loop {
            // Exit code 1 says that somebody else has done it.
            prepared(self.memdir(&["work", "--once"])).run();
            let status = self.memdir(&["daemon", "status", "--json"]).run().json();
            let is_idle = |queue: &Value| {
                queue["waiting"].as_array().is_some_and(Vec::is_empty) && queue["worker"].is_null()
            };
            if status["queues"].as_array().unwrap().iter().all(is_idle) {
                return;
            }
            assert!(Instant::now() < until, "{status}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.dir.join(path)).unwrap()
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        fs::write(self.dir.join(path), text).unwrap();
    }

    /// Runs git in the project.
    pub fn git(&self, args: &[&str]) {
        git(&self.dir, args);
    }
}

fn git(dir: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("install git: this test cannot do without");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
