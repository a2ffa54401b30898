//! A state that an older version made opens in this one, and nothing of it is lost.
//!
//! `fixtures/states/<version>.tar.gz` was written by that version through commands, hooks, a team directory, a team server
//! and the gateway (`tests/state/make`). Each test unpacks it into a directory of its own. Paths stand in some of the files,
//! in places that are counted in bytes, so the new root has as many letters as the old one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memdir_testkit::Invocation;
use serde_json::{Value, json};
use tempfile::TempDir;

const OLD_ROOT: &str = "/tmp/memdir-kept-state-root";
/// The day after the state was kept: history keeps 30 days.
const NOW: &str = "2026-10-06T10:00:00Z";
const SHOP: &str = "home/code/shop";

/// A kept state, unpacked.
struct KeptState {
    directory: TempDir,
    expected: Value,
}

impl KeptState {
    fn open(version: &str) -> Self {
        let prefix = "memdir-kept-";
        let n_random = OLD_ROOT.len() - "/tmp/".len() - prefix.len();
        let directory =
            tempfile::Builder::new().prefix(prefix).rand_bytes(n_random).tempdir_in("/tmp").unwrap();
        let archive =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/states/{version}.tar.gz"));
        let unpacked = Command::new("tar")
            .arg("-xzf")
            .arg(archive)
            .args(["--strip-components=1", "-C"])
            .arg(directory.path())
            .status()
            .unwrap();
        assert!(unpacked.success());
        move_root(directory.path(), directory.path());
        let expected = fs::read_to_string(directory.path().join("expected.json")).unwrap();
        Self { expected: serde_json::from_str(&expected).unwrap(), directory }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    fn memdir(&self, project: &str, args: &[&str]) -> Invocation {
        let binary = std::env::var_os("MEMDIR_TEST_BINARY")
            .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_memdir")), PathBuf::from);
        Invocation::new(&binary)
            .args(args)
            .cwd(&self.path(project))
            .env("HOME", self.path("home"))
            .env("MEMDIR_HOME", self.path("state"))
            .env("MEMDIR_NOW", NOW)
            .env("TZ", "UTC")
    }

    fn answer(&self, project: &str, args: &[&str]) -> Value {
        let output = self.memdir(project, &[args, &["--json"]].concat()).run();
        serde_json::from_slice(output.stdout.as_bytes()).unwrap_or_else(|_| panic!("{args:?}: {output:?}"))
    }

    fn hook(&self, event: &str, mut input: Value) -> String {
        input["hook_event_name"] = json!(event);
        input["cwd"] = json!(self.path(SHOP));
        input["session_id"] = json!("5da15695-aaaa-4bbb-8ccc-000000000002");
        self.memdir(SHOP, &["hook", "claude-code", event]).stdin(input.to_string()).ok().stdout
    }

    /// Every memory file of a project's vault as it was kept, by its hash.
    fn expected_files(&self, project: &str) -> BTreeMap<String, String> {
        let kept = &self.expected["projects"][project]["memories"];
        let mut files: BTreeMap<String, String> = serde_json::from_value(kept.clone()).unwrap();
        files.remove("MEMORY.md");
        files
    }

    fn files(&self, project: &str) -> BTreeMap<String, String> {
        let vault = self.path(self.expected["projects"][project]["vault"].as_str().unwrap());
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        fs::read_dir(vault)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| name(path).ends_with(".md") && name(path) != "MEMORY.md")
            .map(|path| (name(&path), sha256(&path)))
            .collect()
    }

    fn projects(&self) -> Vec<String> {
        self.expected["projects"].as_object().unwrap().keys().cloned().collect()
    }
}

/// Writes the new root into every file that names the old one, and into the names of directories.
fn move_root(root: &Path, directory: &Path) {
    let (old, new) = (OLD_ROOT, root.to_str().unwrap());
    assert_eq!(old.len(), new.len());
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let moved = path.with_file_name(in_slugs(path.file_name().unwrap().to_str().unwrap(), old, new));
            fs::rename(&path, &moved).unwrap();
            move_root(root, &moved);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let replaced = in_slugs(&text, old, new).replace(old, new);
        if replaced != text {
            fs::write(&path, replaced).unwrap();
        }
    }
}

/// Claude Code names a project's directory after its path, with `-` for every other sign.
fn in_slugs(text: &str, old: &str, new: &str) -> String {
    let slug = |path: &str| path.replace(|sign: char| !sign.is_ascii_alphanumeric(), "-");
    text.replace(&slug(old), &slug(new))
}

fn sha256(path: &Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

fn field<'a>(rows: &'a Value, name: &str) -> Vec<&'a str> {
    rows.as_array().unwrap().iter().map(|row| row[name].as_str().unwrap()).collect()
}

#[test]
fn every_memory_of_0_1_0_is_listed_and_its_file_is_as_it_was() {
    let kept = KeptState::open("0.1.0");
    for project in kept.projects() {
        let listed = kept.answer(&project, &["list"]);
        for row in kept.expected["projects"][&project]["list"].as_array().unwrap() {
            let now = listed.as_array().unwrap().iter().find(|now| now["name"] == row["name"]);
            let now = now.unwrap_or_else(|| panic!("{} is not listed in {project}", row["name"]));
            for key in ["type", "scope", "description", "created"] {
                assert_eq!(now[key], row[key], "{key} of {}", row["name"]);
            }
        }
        kept.memdir(&project, &["doctor"]).run();
        kept.memdir(&project, &["recall", "which database do the integration tests use?"]).run();
        assert_eq!(kept.files(&project), kept.expected_files(&project), "{project}");
    }
}

#[test]
fn the_history_of_0_1_0_is_there_and_can_be_taken_back() {
    let kept = KeptState::open("0.1.0");
    for project in kept.projects() {
        let old = &kept.expected["projects"][&project]["log"];
        let log = kept.answer(&project, &["log", "--limit", "1000"]);
        for id in field(old, "change") {
            assert!(field(&log, "change").contains(&id), "{id} of {project}");
        }
    }
    let log = kept.expected["projects"][SHOP]["log"].as_array().unwrap().clone();
    let forgotten = log.iter().find(|row| row["reason"].as_str().unwrap().contains("forget")).unwrap();
    kept.memdir(SHOP, &["undo", forgotten["change"].as_str().unwrap()]).ok();
    assert!(kept.memdir(SHOP, &["show", "project-mistake"]).ok().stdout.contains("It was a mistake."));
    let deletes_note = |file: &Value| file["name"] == "feedback-small" && file["op"] == "delete";
    let removed = log.iter().find(|row| row["files"].as_array().unwrap().iter().any(deletes_note)).unwrap();
    kept.memdir(SHOP, &["undo", removed["change"].as_str().unwrap()]).ok();
    let back = kept.memdir(SHOP, &["show", "feedback-small"]).ok().stdout;
    assert!(back.contains("Under 300 lines."), "{back}");
}

#[test]
fn journal_open_items_and_proposals_of_0_1_0_are_there() {
    let kept = KeptState::open("0.1.0");
    let old = &kept.expected["projects"][SHOP];
    let journal = kept.answer(SHOP, &["journal", "list"]);
    for name in field(&old["journal"], "name") {
        assert!(field(&journal, "name").contains(&name), "{name}");
    }
    assert_eq!(field(&kept.answer(SHOP, &["journal", "open"]), "id"), field(&old["open"], "id"));
    let waiting = kept.answer(SHOP, &["review"]);
    for id in field(&old["review"], "id") {
        assert!(field(&waiting, "id").contains(&id), "{id}");
    }
    let proposal = old["review"].as_array().unwrap().iter().find(|row| row["kind"] == "new").unwrap();
    kept.memdir(SHOP, &["review", "accept", proposal["id"].as_str().unwrap()]).ok();
    kept.memdir(SHOP, &["show", proposal["name"].as_str().unwrap()]).ok();
}

#[test]
fn a_session_of_0_1_0_goes_on_with_its_memories_and_rules() {
    let kept = KeptState::open("0.1.0");
    let told =
        kept.hook("UserPromptSubmit", json!({ "prompt": "which database do the integration tests use?" }));
    assert!(told.contains("feedback-real-database"), "{told}");
    let command =
        json!({ "tool_name": "Bash", "tool_use_id": "t9", "tool_input": { "command": "git push --force" } });
    let denied = kept.hook("PreToolUse", command);
    assert!(denied.contains("deny"), "{denied}");
}

#[test]
fn a_team_of_0_1_0_goes_on_in_its_directory_and_its_server() {
    let kept = KeptState::open("0.1.0");
    let shared = || fs::read(kept.path("share").join("shop-bde406/project-launch.md"));
    let before = shared().unwrap();
    kept.memdir(SHOP, &["sync"]).run();
    assert_eq!(shared().unwrap(), before, "a sync where nothing changed changes nothing");
    kept.memdir(SHOP, &["edit", "project-launch", "--append", "The hall is booked."]).ok();
    kept.memdir(SHOP, &["sync"]).run();
    let as_tom = |args: &[&str]| {
        kept.memdir("tom/shop", args)
            .env("HOME", kept.path("tom"))
            .env("MEMDIR_HOME", kept.path("tom-state"))
            .run()
    };
    as_tom(&["sync"]);
    let taken = as_tom(&["show", "project-launch"]).stdout;
    assert!(taken.contains("The hall is booked."), "{taken}");
    let teams = kept.memdir(SHOP, &["serve", "team", "list"]).ok().stdout;
    assert!(teams.contains("acme"), "{teams}");
}

#[test]
fn agents_that_0_1_0_told_are_taken_back_to_the_byte() {
    let kept = KeptState::open("0.1.0");
    kept.memdir(SHOP, &["init"]).ok();
    kept.memdir(SHOP, &["init", "--remove"]).ok();
    for file in [
        ".claude/settings.json",
        ".claude.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".cursor/mcp.json",
    ] {
        let (before, now) = (kept.path("before").join(file), kept.path("home").join(file));
        assert_eq!(fs::read_to_string(now).unwrap(), fs::read_to_string(before).unwrap(), "{file}");
    }
}

#[test]
fn without_what_is_derived_the_state_of_0_1_0_answers_the_same() {
    let kept = KeptState::open("0.1.0");
    let ask = || {
        let listed = kept.answer(SHOP, &["list"]);
        (field(&listed, "name").join("\n"), kept.memdir(SHOP, &["search", "error", "dashboard"]).run().stdout)
    };
    let before = ask();
    fs::remove_dir_all(kept.path("state/index")).unwrap();
    assert_eq!(ask(), before);
}
