//! Magic docs and summaries by a scripted model.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use memdir_testkit::{Invocation, ModelServer, Rule, Sandbox};
use serde_json::{Value, json};

const API: &str =
    "# MAGIC DOC: HTTP API\n_Keep this updated when endpoints change_\n\nRoutes are in `src/http.rs`.\n";

/// Only something that hangs takes longer.
const HANG: Duration = Duration::from_secs(60);

struct World {
    sandbox: Sandbox,
    server: ModelServer,
    dir: PathBuf,
}

impl World {
    fn new(rules: Vec<Rule>) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let dir = sandbox.root().join("shop");
        fs::create_dir_all(dir.join("src")).unwrap();
        fs::create_dir_all(dir.join("docs")).unwrap();
        let dir = dir.canonicalize().unwrap();
        fs::write(dir.join("docs/api.md"), API).unwrap();
        fs::write(dir.join("src/http.rs"), "fn users() {}\n").unwrap();
        git(&dir, &["init", "-q", "-b", "main"]);
        let world = Self { sandbox, server: ModelServer::start(rules), dir };
        let url = world.server.url();
        world.memdir(&["model", "use", "anthropic", "--model", "claude-haiku-4-5", "--base-url", &url]).ok();
        world
    }

    fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).env("ANTHROPIC_API_KEY", "k").without_env("MEMDIR_VAULT").cwd(&self.dir)
    }

    /// Registers the doc, has it read, and changes a file that it names.
    fn goes_out_of_date(&self) {
        self.memdir(&["magic"]).ok();
        let said = json!({ "session_id": "s1", "cwd": self.dir, "hook_event_name": "PostToolUse", "tool_name": "Read",
            "tool_input": { "file_path": self.dir.join("docs/api.md") }, "tool_response": "text", "tool_use_id": "t1" });
        let hook =
            self.memdir(&["hook", "claude-code", "PostToolUse"]).env("MEMDIR_HOOK_DEADLINE_MS", "30000");
        hook.stdin(said.to_string()).ok();
        // The hook had somebody look at it; whoever looks later would see the change already, and act.
        self.wait_for_whoever_works();
        fs::write(self.dir.join("src/http.rs"), "fn users() {}\nfn orders() {}\n").unwrap();
    }

    fn wait_for_whoever_works(&self) {
        let until = Instant::now() + HANG;
        loop {
            self.memdir(&["work", "--once"]).run();
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

    fn text(&self) -> String {
        fs::read_to_string(self.dir.join("docs/api.md")).unwrap()
    }
}

fn git(dir: &Path, args: &[&str]) {
    assert!(Command::new("git").args(args).current_dir(dir).status().unwrap().success());
}

/// MD-03, MD-04: the model sees the doc and what changed, has no tools, and its text is written under the old head.
#[test]
fn a_magic_doc_is_written_by_the_model_and_can_be_taken_back() {
    let answer = "# MAGIC DOC: Mine\n_obey_\n\nUsers and orders are in `src/http.rs`.";
    let world = World::new(vec![Rule::always().says(answer)]);
    world.goes_out_of_date();
    let shown = world.memdir(&["magic", "update", "docs/api.md", "--dry-run"]).ok().stdout;
    assert!(shown.contains("+Users and orders are in `src/http.rs`."), "{shown}");
    assert_eq!(world.text(), API);
    let asked = &world.server.requests()[0];
    assert!(asked.tools().is_empty());
    assert!(asked.text().contains("fn orders() {}") && asked.text().contains("1 file changed: src/http.rs"));
    world.memdir(&["magic", "update", "docs/api.md", "--yes"]).ok();
    assert_eq!(world.text(), API.replace("Routes", "Users and orders"));
    let shown = world.memdir(&["magic", "show", "docs/api.md"]).ok().stdout;
    assert!(shown.contains("-Routes are in") && shown.contains("+Users and orders"), "{shown}");
    world.memdir(&["magic", "undo", "docs/api.md"]).ok();
    assert_eq!(world.text(), API);
    let costs = world.memdir(&["costs"]).json();
    assert!(costs.to_string().contains("magic"), "{costs}");
}

/// MD-03: the job does it by itself.
#[test]
fn the_background_job_brings_a_doc_up_to_date() {
    let world = World::new(vec![Rule::always().says("Users and orders are in `src/http.rs`.")]);
    world.goes_out_of_date();
    let said = json!({ "session_id": "s1", "cwd": world.dir, "hook_event_name": "Stop", "stop_hook_active": false,
        "last_assistant_message": "done" });
    world
        .memdir(&["hook", "claude-code", "Stop"])
        .env("MEMDIR_HOOK_DEADLINE_MS", "30000")
        .stdin(said.to_string())
        .ok();
    world.wait_for_whoever_works();
    assert_eq!(world.text(), API.replace("Routes", "Users and orders"));
    world.memdir(&["magic", "stale"]).code(1);
}

/// A model that fails leaves the doc and the mark.
#[test]
fn a_model_that_does_not_answer_changes_nothing() {
    let world = World::new(vec![Rule::always().refuses(500)]);
    world.goes_out_of_date();
    assert_ne!(world.memdir(&["magic", "update", "docs/api.md", "--yes"]).run().code, 0);
    assert_eq!(world.text(), API);
    world.memdir(&["magic", "stale"]).ok();
}

/// AC-01: the words of a model, or the quotations.
#[test]
fn a_summary_is_the_models_or_quoted() {
    let mut messages = vec![json!({ "role": "user", "content": "Move the parser to owned tokens" })];
    for n in 0..30 {
        messages.push(
            json!({ "role": "assistant", "content": format!("step {n} {}", "and so on. ".repeat(40)) }),
        );
        messages.push(json!({ "role": "user", "content": format!("go on {n}") }));
    }
    let list = json!(messages).to_string();
    let args = ["compact", "-", "--budget", "1000", "--by-model"];
    let world =
        World::new(vec![Rule::always().says("## What the user wanted\n- owned tokens, by the model")]);
    let after: Value = world.memdir(&args).stdin(&list).ok().json();
    let said = after[0]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(said.contains("owned tokens, by the model"), "{said}");
    world.server.follow(vec![Rule::always().refuses(500)]);
    let output = world.memdir(&args).stdin(&list).ok();
    assert!(output.stdout.contains("First: Move the parser to owned tokens"), "{output}");
    assert!(output.stderr.contains("the rounds are quoted instead"), "{output}");
}
