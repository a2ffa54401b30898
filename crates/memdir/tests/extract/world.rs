//! A project with sessions in the shapes of three agents.

use std::fs;
use std::path::{Path, PathBuf};

use memdir_core::host::Agent;
use memdir_store::place::{self, Environment, Place};
use memdir_store::queue::{Job, Kind, Queue};
use memdir_testkit::{Invocation, NOW, Sandbox};
use serde_json::{Value, json};

use crate::conversation::Message;

/// A session's id.
pub(crate) const SESSION: &str = "5da15695-411e-4859-a37b-b739ede023ae";

pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) dir: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let dir = sandbox.root().join("web-app");
        fs::create_dir_all(&dir).unwrap();
        let dir = dir.canonicalize().unwrap();
        Self { sandbox, dir }
    }

    /// A command in the project.
    pub(crate) fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(&self.dir)
    }

    pub(crate) fn place(&self) -> Place {
        let vars = |name: &str| match name {
            "HOME" => Some(self.sandbox.home().into_os_string()),
            "MEMDIR_HOME" => Some(self.sandbox.state().into_os_string()),
            _ => None,
        };
        place::locate(&Environment::from_vars(self.dir.clone(), vars)).unwrap()
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let slug: String = self.dir.to_str().unwrap().chars().map(plain).collect();
        self.sandbox.home().join(".claude/projects").join(slug).join(format!("{SESSION}.jsonl"))
    }

    /// Adds messages to the session's file, as Claude Code does.
    pub(crate) fn says(&self, messages: &[(&str, &str)]) {
        let path = self.transcript();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&path).unwrap_or_default();
        let n = before.lines().count();
        let messages: Vec<Message> =
            messages.iter().map(|(who, text)| ((*who).to_owned(), (*text).to_owned())).collect();
        fs::write(&path, before + &claude(&messages, n, &self.dir)).unwrap();
    }

    /// Pushes a job about the session, as a hook does.
    pub(crate) fn push(&self, kind: Kind) {
        let place = self.place();
        let job = Job::new(kind, &place, NOW.parse().unwrap());
        let job = job.about(SESSION, Some(Agent::ClaudeCode), Some(self.transcript()));
        Queue::of(&place).push(&job).unwrap();
    }

    /// Does what waits.
    pub(crate) fn work(&self) -> Value {
        self.memdir(&["work", "--once"]).json()
    }

    /// Ends a turn of the session.
    pub(crate) fn turn_ends(&self) {
        self.push(Kind::Turn);
        self.work();
    }

    /// Runs a hook of Claude Code.
    pub(crate) fn hook(&self, event: &str, more: Value) -> Invocation {
        let mut said = json!({
            "session_id": SESSION, "transcript_path": self.transcript(), "cwd": self.dir, "hook_event_name": event,
        });
        said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.memdir(&["hook", "claude-code", event]).stdin(said.to_string())
    }

    /// What waits in the inbox.
    pub(crate) fn waiting(&self) -> Vec<Value> {
        let answer = self.memdir(&["review", "--json"]).run();
        serde_json::from_str::<Value>(&answer.stdout).unwrap().as_array().unwrap().clone()
    }

    /// The names of the memories.
    pub(crate) fn memories(&self) -> Vec<String> {
        let list = self.memdir(&["list", "--json"]).run();
        let list: Value = serde_json::from_str(&list.stdout).unwrap_or_default();
        let names = list.as_array().into_iter().flatten();
        names.map(|memory| memory["name"].as_str().unwrap().to_owned()).collect()
    }

    /// How far the session was looked through.
    pub(crate) fn offset(&self) -> u64 {
        let path = self.place().state_dir().join("cursors.json");
        let cursors: Value =
            fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        cursors["extract"][SESSION]["offset"].as_u64().unwrap_or_default()
    }

    /// Finds candidates in a file without keeping any.
    pub(crate) fn dry_run(&self, file: &Path) -> Vec<Value> {
        let args = ["extract", "--transcript", file.to_str().unwrap(), "--dry-run"];
        let answer = self.memdir(&args).json();
        answer["candidates"].as_array().unwrap().clone()
    }
}

fn stamp(n: usize) -> String {
    format!("2026-04-02T10:{:02}:{:02}.000Z", 31 + n / 60, n % 60)
}

/// Writes messages as lines of Claude Code; a tool's message is a result, or a call if it begins with `call `.
pub(crate) fn claude(messages: &[Message], from: usize, cwd: &Path) -> String {
    let mut text = String::new();
    for (n, (who, said)) in messages.iter().enumerate() {
        let (kind, content) = match who.as_str() {
            "user" => ("user", json!(said)),
            "agent" => ("assistant", json!([{ "type": "text", "text": said }])),
            _ => match said.strip_prefix("call ") {
                Some(path) => {
                    let input = json!({ "file_path": path, "content": "x" });
                    (
                        "assistant",
                        json!([{ "type": "tool_use", "id": "t1", "name": "Write", "input": input }]),
                    )
                }
                None => ("user", json!([{ "type": "tool_result", "tool_use_id": "t1", "content": said }])),
            },
        };
        let line = json!({
            "parentUuid": null, "isSidechain": false, "type": kind, "message": { "role": kind, "content": content },
            "uuid": format!("u-{}", from + n), "timestamp": stamp(from + n), "cwd": cwd, "sessionId": SESSION,
            "version": "2.1.325", "gitBranch": "main", "userType": "external",
        });
        text.push_str(&format!("{line}\n"));
    }
    text
}

/// Writes messages as a rollout of Codex.
pub(crate) fn codex(messages: &[Message], cwd: &Path) -> String {
    let line = |n: usize, kind: &str, payload: Value| {
        format!("{}\n", json!({ "timestamp": stamp(n), "type": kind, "payload": payload }))
    };
    let meta = json!({ "id": SESSION, "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.99.0" });
    let mut text = line(0, "session_meta", meta);
    let context = "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>";
    let harness =
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": context }] });
    text.push_str(&line(0, "response_item", harness));
    for (n, (who, said)) in messages.iter().enumerate() {
        let payload = match who.as_str() {
            "user" => {
                json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": said }] })
            }
            "agent" => {
                json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": said }] })
            }
            _ => json!({ "type": "function_call_output", "call_id": "c1", "output": said }),
        };
        text.push_str(&line(n, "response_item", payload.clone()));
        if who == "user" {
            text.push_str(&line(n, "event_msg", json!({ "type": "user_message", "message": said })));
        }
    }
    text
}

/// Writes messages as a chat of Gemini CLI.
pub(crate) fn gemini(messages: &[Message]) -> String {
    let head = json!({
        "sessionId": SESSION, "projectHash": "a1b2", "startTime": stamp(0), "lastUpdated": stamp(0), "kind": "main",
    });
    let mut text = format!("{head}\n");
    for (n, (who, said)) in messages.iter().enumerate() {
        let mut line =
            json!({ "id": format!("g-{n}"), "timestamp": stamp(n), "type": "gemini", "content": said });
        match who.as_str() {
            "user" => line["type"] = json!("user"),
            "agent" => {}
            _ => {
                line["content"] = json!("");
                let response = json!([{ "functionResponse": { "response": { "output": said } } }]);
                line["toolCalls"] =
                    json!([{ "id": "c", "name": "web_fetch", "args": {}, "result": response }]);
            }
        }
        text.push_str(&format!("{line}\n"));
    }
    text
}
