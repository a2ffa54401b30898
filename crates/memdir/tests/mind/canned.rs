//! Models that say what a test tells them to, without a network; and jobs for them.

use std::path::PathBuf;

use memdir_core::hash::ContentHash;
use memdir_core::memory::{MemoryPath, MemoryType};
use memdir_core::transcript::Role;
use memdir_mind::agent::{Budget, Job, Known, Purpose, Said, View};
use memdir_mind::model::{Answer, Model, ModelError, Part, Request, Stop, Usage};
use memdir_mind::sandbox::{Brief, Sandbox};
use serde_json::Value;

/// A model that answers by a function of what it is asked and how often it was asked before.
pub(crate) struct Canned<F>(pub(crate) F, pub(crate) Vec<Request>);

impl<F: FnMut(&Request, usize) -> Result<Answer, ModelError>> Canned<F> {
    pub(crate) fn new(answer: F) -> Self {
        Self(answer, Vec::new())
    }
}

impl<F: FnMut(&Request, usize) -> Result<Answer, ModelError>> Model for Canned<F> {
    fn name(&self) -> &str {
        "canned"
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
        self.1.push(request.clone());
        (self.0)(request, self.1.len() - 1)
    }
}

pub(crate) fn call(name: &str, input: Value) -> Part {
    Part::Call { id: format!("call-{name}"), name: name.to_owned(), input }
}

pub(crate) fn calls(parts: Vec<Part>) -> Answer {
    let usage = Usage { input: 1_000, output: 200, ..Usage::default() };
    Answer { parts, stop: Stop::Tools, usage }
}

pub(crate) fn words(text: &str) -> Answer {
    let usage = Usage { input: 1_000, output: 20, ..Usage::default() };
    Answer { parts: vec![Part::Text(text.to_owned())], stop: Stop::End, usage }
}

pub(crate) fn said(role: Role, text: &str) -> Said {
    Said { role, day: None, text: text.to_owned() }
}

pub(crate) fn binary() -> PathBuf {
    let other = std::env::var_os("MEMDIR_TEST_BINARY").map(PathBuf::from);
    other.unwrap_or_else(|| env!("CARGO_BIN_EXE_memdir").into())
}

pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(binary())
}

pub(crate) fn brief() -> Brief {
    Brief { system: "rules".to_owned(), task: "task".to_owned() }
}

/// Makes a job over memories `project-0`, `project-1`, …
pub(crate) fn job(purpose: Purpose, n_memories: usize) -> Job {
    let known = |n: usize| {
        let text =
            format!("---\nname: project-{n}\ndescription: number {n}\ntype: project\n---\n\nFact {n}.\n");
        Known {
            path: MemoryPath::new(&format!("project-{n}.md")).unwrap(),
            memory_type: Some(MemoryType::Project),
            description: format!("number {n}"),
            modified: "2026-04-01".to_owned(),
            is_sound: true,
            base: Some(ContentHash::of(text.as_bytes())),
            text,
        }
    };
    Job {
        purpose,
        window: match purpose {
            Purpose::Extract => vec![said(Role::User, "please never push to main, we use pull requests")],
            Purpose::Dream => Vec::new(),
        },
        view: View { memories: (0..n_memories).map(known).collect() },
        budget: match purpose {
            Purpose::Extract => Budget::default(),
            Purpose::Dream => Budget::for_dream(),
        },
        key: b"key".to_vec(),
    }
}

/// A sound proposal for the window of [`job`].
pub(crate) fn push_rule(name: &str) -> Value {
    serde_json::json!({
        "action": "new", "name": name, "type": "feedback", "description": format!("{name}: pull requests"),
        "body": "Never push to main.", "evidence": [{ "message": 1, "quote": "never push to main" }],
    })
}
