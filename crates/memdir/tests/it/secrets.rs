//! The scanner at the command line (promises X1, X2, X3, X8; NS-08, TS-05). Values are made at run time, so that no
//! scanner trips over this file.

use std::fs;
use std::path::{Path, PathBuf};

use memdir_testkit::{Random, Sandbox};
use serde_json::{Value, json};

use crate::setup::sandbox;

/// Draws a token of GitHub's form.
fn token(seed: u64) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut random = Random::new(seed);
    let body: String = (0..36).map(|_| char::from(*random.pick(ALPHABET))).collect();
    ["ghp", "_", &body].concat()
}

#[test]
fn x1_a_row_is_answered_with_where_never_with_what() {
    let sandbox = sandbox();
    let text = format!("# Notes\n\nthe bot logs in with {} since May", token(1));
    let rows = [json!({ "id": 7, "text": text }), json!({ "id": "b", "text": "the password is required" })];
    let input = rows.map(|row| row.to_string()).join("\n");
    let output = sandbox.memdir(&["secrets", "scan", "--jsonl"]).stdin(&input).code(1);
    let answers: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let finding = json!({ "rule": "github-pat", "line": 3, "start": 30, "end": 70 });
    assert_eq!(answers, [json!({ "id": 7, "findings": [finding] }), json!({ "id": "b", "findings": [] })]);
    assert!(!output.stdout.contains(&token(1)) && !output.stderr.contains(&token(1)));
}

#[test]
fn x2_a_clean_text_is_exit_code_0() {
    let sandbox = sandbox();
    let clean = "token: ${{ secrets.NPM_TOKEN }}\nsha256: [REDACTED:github-pat]\n";
    let output = sandbox.memdir(&["secrets", "scan"]).stdin(clean).ok();
    assert_eq!(output.stdout, "");
}

#[test]
fn a_row_that_is_none_is_an_error() {
    let output = sandbox().memdir(&["secrets", "scan", "--jsonl"]).stdin("{\"id\":1}\n").code(2);
    assert!(output.stderr.contains("line 1: not a row"), "{}", output.stderr);
}

#[test]
fn files_are_told_by_path_line_and_kind() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("notes");
    fs::create_dir_all(dir.join("deep")).unwrap();
    fs::write(dir.join("clean.md"), "nothing here\n").unwrap();
    fs::write(dir.join("deep/key.md"), format!("first\n{}\n", token(2))).unwrap();
    fs::write(dir.join("blob.bin"), b"\0\0\0").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", dir.join("link.md")).unwrap();
    let path = dir.to_str().unwrap();
    let output = sandbox.memdir(&["secrets", "scan", path]).code(1);
    assert_eq!(output.stdout, format!("{path}/deep/key.md:2: GitHub personal access token (github-pat)\n"));
    assert!(output.stderr.contains("1 binary files were passed over"), "{}", output.stderr);

    let answer: Value =
        serde_json::from_str(&sandbox.memdir(&["secrets", "scan", "--json", path]).code(1).stdout).unwrap();
    assert_eq!(answer["files"][0]["findings"][0]["line"], 2);
    assert_eq!((&answer["n_scanned"], answer["skipped"].as_array().unwrap().len()), (&json!(2), 1));
}

#[test]
fn what_cannot_be_read_does_not_pass_for_clean() {
    let output = sandbox().memdir(&["secrets", "scan", "no/such/file"]).code(2);
    assert!(output.stderr.contains("could not read no/such/file"), "{}", output.stderr);
}

#[test]
fn redaction_leaves_the_rest_as_it_is() {
    let text = format!("a\r\n\tkey {} b\n", token(3));
    let output = sandbox().memdir(&["secrets", "scan", "--redact"]).stdin(&text).code(1);
    assert_eq!(output.stdout, "a\r\n\tkey [REDACTED:github-pat] b\n");
}

#[test]
fn x8_a_value_is_vouched_for_in_the_users_settings() {
    let sandbox = sandbox();
    let allow = |value: &str| {
        sandbox
            .memdir(&["secrets", "allow", "--reason", "revoked \"sample\""])
            .stdin(format!("{value}\n"))
            .ok();
    };
    sandbox.memdir(&["secrets", "scan"]).stdin(token(4)).code(1);
    allow(&token(4));
    sandbox.memdir(&["secrets", "scan"]).stdin(token(4)).ok();
    sandbox.memdir(&["secrets", "scan"]).stdin(token(5)).code(1);
    allow(&token(5));
    allow(&token(5));
    sandbox.memdir(&["secrets", "scan"]).stdin(format!("{} {}", token(4), token(5))).ok();
    let settings = fs::read_to_string(sandbox.state().join("config.toml")).unwrap();
    assert_eq!(settings.matches("[[secrets.allow]]").count(), 2);
    assert!(!settings.contains(&token(4)[8..]), "only the hash is kept");
}

#[test]
fn x8_a_value_needs_a_reason() {
    let sandbox = sandbox();
    sandbox.memdir(&["secrets", "allow", "--reason", " "]).stdin(token(6)).code(2);
    sandbox.memdir(&["secrets", "allow"]).stdin(token(6)).code(2);
    assert!(!sandbox.state().join("config.toml").exists());
}

#[test]
fn x8_a_repository_vouches_for_nothing() {
    let sandbox = sandbox();
    let project = sandbox.project();
    git_init(&project);
    fs::create_dir_all(project.join(".memdir")).unwrap();
    let hash = memdir_core::hash::ContentHash::of(token(7).as_bytes());
    let settings = format!("[[secrets.allow]]\nhash = \"{hash}\"\nreason = \"trust me\"\n");
    fs::write(project.join(".memdir/config.toml"), settings).unwrap();
    let output = sandbox.memdir(&["secrets", "scan"]).without_env("MEMDIR_VAULT").stdin(token(7)).code(1);
    assert!(output.stderr.contains("secrets.allow"), "{}", output.stderr);
}

fn git_init(directory: &Path) {
    let status =
        std::process::Command::new("git").arg("init").arg("-q").current_dir(directory).status().unwrap();
    assert!(status.success());
}

#[test]
fn rule_files_of_the_user_are_read() {
    let sandbox = sandbox();
    let rule = |id: &str, word: &str| {
        format!("[[rules]]\nid = \"{id}\"\nregex = '''{word}-[0-9]{{4}}'''\nkeywords = [\"{word}\"]\n")
    };
    write_state(&sandbox, "secrets/badges.toml", &rule("acme-badge", "badge"));
    fs::write(sandbox.home().join("doors.toml"), rule("acme-door", "door")).unwrap();
    write_state(&sandbox, "config.toml", "[secrets]\nrules = [\"~/doors.toml\"]\n");
    let output = sandbox.memdir(&["secrets", "scan"]).stdin("badge-4711\ndoor-0815\n").code(1);
    assert_eq!(output.stdout, "stdin:1: acme-badge (acme-badge)\nstdin:2: acme-door (acme-door)\n");
    let kinds = sandbox.memdir(&["secrets", "rules"]).ok().stdout;
    assert!(kinds.contains("acme-door") && kinds.contains("github-pat"));
}

#[test]
fn a_broken_rule_file_stops_the_scan() {
    let sandbox = sandbox();
    write_state(&sandbox, "secrets/x.toml", "[[rules]]\nid = \"x\"\nregex = '''('''\n");
    let output = sandbox.memdir(&["secrets", "scan"]).stdin("nothing").code(2);
    assert!(output.stderr.contains("rule `x`: regex is not a pattern"), "{}", output.stderr);
}

fn write_state(sandbox: &Sandbox, name: &str, text: &str) {
    let path = sandbox.state().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::set_permissions(sandbox.state(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn ts05_the_kinds_are_many() {
    let kinds = sandbox().memdir(&["secrets", "rules"]).json();
    assert!(kinds.as_array().unwrap().len() >= 150);
}

/// What we publish holds nothing that we would refuse to store.
#[test]
fn no_file_of_the_repository_trips_the_scanner() {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let parts =
        ["crates", "docs", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "Cargo.toml", "Cargo.lock"];
    let paths: Vec<String> = parts.iter().map(|part| root.join(part).display().to_string()).collect();
    let args: Vec<&str> = ["secrets", "scan"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    let output = sandbox().memdir(&args).run();
    assert_eq!(output.stdout, "", "found in our own files");
    assert_eq!(output.code, 0);
}
