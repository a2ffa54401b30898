//! `memdir context restore`: the files that a session would need again.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox;

/// AC-04.
#[test]
fn the_five_files_that_matter_most_are_listed() {
    let sandbox = sandbox();
    let project = sandbox.project().canonicalize().unwrap();
    let file = sandbox.root().join("session.jsonl");
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(project.join("src/main.rs"), "fn main() {}\n").unwrap();
    let line = |n: usize, name: &str, path: &str| {
        let call = json!({ "type": "tool_use", "id": format!("t{n}"), "name": name, "input": { "file_path": project.join(path) } });
        json!({ "type": "assistant", "uuid": format!("u{n}"), "sessionId": "s1", "timestamp": "2026-04-02T10:00:00Z",
            "cwd": project, "message": { "role": "assistant", "content": [call] } })
        .to_string()
    };
    let calls = ["a", "b", "c", "src/main.rs", "d", "e", "src/main.rs", "f", "src/main.rs", "g"];
    let lines: Vec<String> = calls.iter().enumerate().map(|(n, path)| line(n, "Read", path)).collect();
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let args = ["context", "restore", "--transcript", file.to_str().unwrap()];
    let listed: Value = sandbox.memdir(&[&args[..], &["--json"]].concat()).ok().json();
    let files = listed["files"].as_array().unwrap();
    assert_eq!(files[0], json!({ "path": "src/main.rs", "references": 3, "exists": true }));
    let names: Vec<&str> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["src/main.rs", "g", "f", "e", "d"]);
    let told = sandbox.memdir(&args).ok().stdout;
    assert!(told.contains("src/main.rs") && told.contains("3 references") && told.contains("gone"), "{told}");
    sandbox.memdir(&["context", "restore"]).code(1);
    sandbox.memdir(&["context", "restore", "--session", "nobody"]).code(1);
}
