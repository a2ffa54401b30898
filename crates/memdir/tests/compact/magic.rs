//! `memdir magic`, and the hook that sees a magic doc read.

use std::fs;

use memdir_testkit::Project;
use serde_json::{Value, json};

const API: &str =
    "# MAGIC DOC: HTTP API\n_Keep this updated when endpoints change_\n\nRoutes are in `src/http.rs`.\n";

/// A shop with a magic doc and a memory.
fn shop() -> Project {
    let files = [("docs/api.md", API), ("src/http.rs", "fn users() {}\n")];
    let project = Project::new(crate::sandbox(), "shop", &files);
    let args = ["save", "project-shop", "--type", "project", "--description", "Who runs the shop for whom"];
    project.memdir(&args).stdin("The shop is run for the museum, which pays by the quarter.\n").ok();
    project
}

/// MD-01, MD-02.
#[test]
fn magic_docs_of_the_project_are_listed_with_their_rules() {
    let world = shop();
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
    let world = shop();
    world.reads("s1", "docs/api.md");
    world.work();
    world.memdir(&["magic", "stale"]).code(1);
    world.write("src/http.rs", "fn users() {}\nfn orders() {}\n");
    world.stop("s1");
    world.work();
    let doctor = world.memdir(&["doctor", "--json"]).run().json();
    let findings = doctor["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == "magic-doc-stale").unwrap();
    assert!(finding["message"].as_str().unwrap().contains("1 file changed: src/http.rs"), "{finding}");
    let stale = world.memdir(&["magic", "stale", "--json"]).ok().json();
    assert_eq!(stale[0]["stale"]["brief"], "1 file changed: src/http.rs");
    assert_eq!(world.read("docs/api.md"), API, "nobody wrote it");
}

/// MD-04.
#[test]
fn a_new_text_is_shown_written_and_taken_back() {
    let world = shop();
    let new = "Orders are in `src/http.rs`.\n";
    let args = ["magic", "update", "docs/api.md", "--text", "-"];
    let shown = world.memdir(&[&args[..], &["--dry-run"]].concat()).stdin(new).ok().stdout;
    assert!(shown.contains("-Routes are in `src/http.rs`.") && shown.contains("+Orders are in"), "{shown}");
    assert_eq!(world.read("docs/api.md"), API);
    world.memdir(&args).stdin(new).code(1);
    assert_eq!(world.read("docs/api.md"), API, "nobody said yes");
    let written = world.memdir(&[&args[..], &["--yes", "--json"]].concat()).stdin(new).ok().json();
    assert_eq!(written["written"], true);
    assert_eq!(world.read("docs/api.md"), API.replace("Routes", "Orders"));
    world.memdir(&["magic", "undo", "docs/api.md"]).ok();
    assert_eq!(world.read("docs/api.md"), API);
    world.memdir(&["magic", "undo", "docs/api.md"]).code(1);
}

#[test]
fn what_may_not_be_written_is_refused_and_nothing_changes() {
    let world = shop();
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
    assert_eq!(
        (world.read("docs/api.md"), fs::read_to_string(&outside).unwrap()),
        (API.to_owned(), API.to_owned())
    );
    let model = world.memdir(&["magic", "update", "docs/api.md"]).code(1).stderr;
    assert!(model.contains("no model is configured") && model.contains("--text"), "{model}");
}
