//! `memdir magic`, and the hook that sees a magic doc read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use memdir_testkit::{Invocation, Sandbox};
use serde_json::{Value, json};

const API: &str =
    "# MAGIC DOC: HTTP API\n_Keep this updated when endpoints change_\n\nRoutes are in `src/http.rs`.\n";
/// Only something that hangs takes longer.
const HANG: Duration = Duration::from_secs(60);

struct World {
    sandbox: Sandbox,
    dir: PathBuf,
}

impl World {
    fn new() -> Self {
        let sandbox = crate::sandbox();
        let dir = sandbox.root().join("shop");
        fs::create_dir_all(dir.join("src")).unwrap();
        fs::create_dir_all(dir.join("docs")).unwrap();
        let dir = dir.canonicalize().unwrap();
        fs::write(dir.join("docs/api.md"), API).unwrap();
        fs::write(dir.join("src/http.rs"), "fn users() {}\n").unwrap();
        git(&dir, &["init", "-q", "-b", "main"]);
        git(&dir, &["add", "-A"]);
        git(&dir, &["commit", "-q", "-m", "shop"]);
        let world = Self { sandbox, dir };
        let args =
            ["save", "project-shop", "--type", "project", "--description", "Who runs the shop for whom"];
        world.memdir(&args).stdin("The shop is run for the museum, which pays by the quarter.\n").ok();
        world
    }

    fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(&self.dir)
    }

    fn hook(&self, event: &str, said: Value) {
        let mut all = json!({ "session_id": "s1", "cwd": self.dir, "hook_event_name": event });
        all.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        self.memdir(&["hook", "claude-code", event])
            .env("MEMDIR_HOOK_DEADLINE_MS", "30000")
            .stdin(all.to_string())
            .ok();
    }

    fn reads(&self, path: &str) {
        let input = json!({ "file_path": self.dir.join(path) });
        self.hook(
            "PostToolUse",
            json!({ "tool_name": "Read", "tool_input": input, "tool_response": "text", "tool_use_id": path }),
        );
    }

    /// Does what waits in the queue, or waits for whoever does it already.
    fn work(&self) {
        let until = Instant::now() + HANG;
        loop {
            // Exit code 1 says that somebody else has done it.
            self.memdir(&["work", "--once"]).run();
            let status = self.memdir(&["daemon", "status", "--json"]).run().json();
            let is_idle = |queue: &Value| queue["waiting"].as_array().is_some_and(Vec::is_empty);
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
    let who = ["-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "commit.gpgsign=false"];
    assert!(Command::new("git").args(who).args(args).current_dir(dir).status().unwrap().success());
}

/// MD-01, MD-02.
#[test]
fn magic_docs_of_the_project_are_listed_with_their_rules() {
    let world = World::new();
    let listed = world.memdir(&["magic", "list", "--json"]).ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!((&listed[0]["path"], &listed[0]["title"]), (&json!("docs/api.md"), &json!("HTTP API")));
    assert_eq!(listed[0]["rule"], "Keep this updated when endpoints change");
    assert_eq!(listed[0]["stale"], Value::Null);
    let shown = world.memdir(&["magic", "show", "docs/api.md"]).ok().stdout;
    assert!(shown.contains("rule: Keep this updated when endpoints change"), "{shown}");
    world.memdir(&["magic", "show", "src/http.rs"]).code(1);
    world.memdir(&["magic", "stale"]).code(1);
}

/// MD-03: without a model it is marked, with a brief of what changed.
#[test]
fn a_doc_that_an_agent_read_is_marked_once_related_files_changed() {
    let world = World::new();
    world.reads("docs/api.md");
    world.work();
    world.memdir(&["magic", "stale"]).code(1);
    fs::write(world.dir.join("src/http.rs"), "fn users() {}\nfn orders() {}\n").unwrap();
    world.hook("Stop", json!({ "stop_hook_active": false, "last_assistant_message": "done" }));
    world.work();
    let doctor = world.memdir(&["doctor", "--json"]).run().json();
    let findings = doctor["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == "magic-doc-stale").unwrap();
    assert!(finding["message"].as_str().unwrap().contains("1 file changed: src/http.rs"), "{finding}");
    let stale = world.memdir(&["magic", "stale", "--json"]).ok().json();
    assert_eq!(stale[0]["stale"]["brief"], "1 file changed: src/http.rs");
    assert_eq!(world.text(), API, "nobody wrote it");
}

/// MD-04.
#[test]
fn a_new_text_is_shown_written_and_taken_back() {
    let world = World::new();
    let new = "Orders are in `src/http.rs`.\n";
    let args = ["magic", "update", "docs/api.md", "--text", "-"];
    let shown = world.memdir(&[&args[..], &["--dry-run"]].concat()).stdin(new).ok().stdout;
    assert!(shown.contains("-Routes are in `src/http.rs`.") && shown.contains("+Orders are in"), "{shown}");
    assert_eq!(world.text(), API);
    world.memdir(&args).stdin(new).code(1);
    assert_eq!(world.text(), API, "nobody said yes");
    let written = world.memdir(&[&args[..], &["--yes", "--json"]].concat()).stdin(new).ok().json();
    assert_eq!(written["written"], true);
    assert_eq!(world.text(), API.replace("Routes", "Orders"));
    world.memdir(&["magic", "undo", "docs/api.md"]).ok();
    assert_eq!(world.text(), API);
    world.memdir(&["magic", "undo", "docs/api.md"]).code(1);
}

#[test]
fn what_may_not_be_written_is_refused_and_nothing_changes() {
    let world = World::new();
    fs::write(world.dir.join(".gitignore"), "build/\n").unwrap();
    fs::create_dir(world.dir.join("build")).unwrap();
    fs::write(world.dir.join("build/doc.md"), API).unwrap();
    std::os::unix::fs::symlink(world.dir.join("docs/api.md"), world.dir.join("docs/link.md")).unwrap();
    let outside = world.sandbox.root().join("outside.md");
    fs::write(&outside, API).unwrap();
    let said = |file: &str, text: &str| {
        world.memdir(&["magic", "update", file, "--text", "-", "--yes"]).stdin(text).code(1).stderr
    };
    assert!(said("build/doc.md", "x").contains("git ignores"));
    assert!(said("docs/link.md", "x").contains("link"));
    assert!(said(outside.to_str().unwrap(), "x").contains("not a file of this project"));
    assert!(said("src/http.rs", "x").contains("MAGIC DOC"));
    assert!(said("docs/api.md", "").contains("empty"));
    assert!(said("docs/api.md", &"x".repeat(60_000)).contains("bytes"));
    let key = format!("AKIA{}", "Q4J7XW2PLM5RT6ZN");
    let secret = said("docs/api.md", &format!("aws_access_key_id = {key}"));
    assert!(secret.contains("secret") && !secret.contains(&key), "{secret}");
    assert_eq!((world.text(), fs::read_to_string(&outside).unwrap()), (API.to_owned(), API.to_owned()));
    let model = world.memdir(&["magic", "update", "docs/api.md"]).code(1).stderr;
    assert!(model.contains("no model is configured") && model.contains("--text"), "{model}");
}
