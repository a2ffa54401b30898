//! `verify`: what memories claim against real repositories, without a model.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use memdir_testkit::{Sandbox, Tree};
use serde_json::{Value, json};

use super::{shown, transcript};
use crate::setup::{memory_file, run_or_give_up, sandbox};

const DOORS: &str =
    "Doors are opened in `src/api/doors.rs` by `open_door()`; the vendor limits it to one a second.\n";

/// A repository with some code and one commit.
fn project() -> Sandbox {
    let sandbox = sandbox();
    put(&sandbox, "src/api/doors.rs", "pub fn open_door(id: u32) -> bool {\n    id > 0\n}\n");
    put(&sandbox, "src/main.rs", "mod api;\n\nfn main() {\n    let legacy_auth = true;\n}\n");
    put(&sandbox, "Makefile", "deploy:\n\tcargo run\n");
    put(&sandbox, "Cargo.toml", "[package]\nname = \"heron\"\n\n[dependencies]\naxum = \"0.7.5\"\n");
    put(&sandbox, ".gitignore", "generated/\n");
    git(&sandbox, &["init", "-q", "-b", "main"]);
    commit(&sandbox, "feat: open doors");
    sandbox
}

fn put(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.project().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(sandbox: &Sandbox, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Mirja Okafor", "-c", "user.email=m@example.org"])
        .args(args)
        .env("GIT_AUTHOR_DATE", "2026-03-01T09:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-03-01T09:00:00Z")
        .current_dir(sandbox.project())
        .output()
        .expect("install git: this test cannot do without");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(sandbox: &Sandbox, subject: &str) -> String {
    git(sandbox, &["add", "-A"]);
    git(sandbox, &["commit", "-q", "-m", subject]);
    git(sandbox, &["rev-parse", "HEAD"])
}

/// Puts a memory into the vault, whatever the gates would say to it.
fn remember(sandbox: &Sandbox, name: &str, body: &str) {
    sandbox.write(&format!("{name}.md"), memory_file(name, "\"\"", body));
}

/// Saves a memory although the code shows what it says.
fn save(sandbox: &Sandbox, name: &str, body: &str) {
    let save = ["save", name, "--type", "project", "--description", "doors", "--force", "named on purpose"];
    sandbox.memdir(&save).stdin(body).ok();
}

/// Returns what is found about one memory.
fn verify(sandbox: &Sandbox, name: &str) -> Value {
    let answer = sandbox.memdir(&["verify", name]).json();
    answer["memories"][0].clone()
}

fn claim<'v>(memory: &'v Value, value: &str) -> &'v Value {
    let claims = memory["claims"].as_array().unwrap();
    claims
        .iter()
        .find(|claim| claim["value"] == value)
        .unwrap_or_else(|| panic!("no claim {value}: {memory:#}"))
}

#[test]
fn sl_01_a_memory_that_names_a_deleted_file_is_stale_with_a_warning_and_an_offer() {
    let sandbox = project();
    remember(&sandbox, "doors", DOORS);
    sandbox.memdir(&["verify", "doors"]).ok();
    let before = sandbox.vault_tree();
    fs::remove_file(sandbox.project().join("src/api/doors.rs")).unwrap();

    let output = sandbox.memdir(&["verify", "doors"]).code(1);
    assert!(output.stdout.contains("doors: stale"), "{output}");
    assert!(
        output.stderr.contains("warning: ") && output.stderr.contains("memdir correct doors"),
        "{output}"
    );
    let found = verify(&sandbox, "doors");
    assert_eq!(found["state"], "stale");
    assert_eq!(found["update"], "memdir correct doors");
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "a check never touches a memory");
}

#[test]
fn sl_02_a_named_path_exists_or_is_missing_with_the_date() {
    let sandbox = project();
    remember(&sandbox, "doors", DOORS);
    let found = verify(&sandbox, "doors");
    let path = claim(&found, "src/api/doors.rs");
    assert_eq!((&path["state"], &path["checked"]), (&json!("holds"), &json!("2026-04-02T10:30:00Z")));

    git(&sandbox, &["rm", "-q", "src/api/doors.rs"]);
    let hash = commit(&sandbox, "refactor: no doors");
    let found = verify(&sandbox, "doors");
    let path = claim(&found, "src/api/doors.rs");
    assert_eq!(path["state"], "missing");
    assert_eq!(path["since"], json!({ "commit": hash[..12], "on": "2026-03-01" }));
}

#[test]
fn sl_02_a_renamed_file_is_followed_through_history_also_twice_and_uncommitted() {
    let sandbox = project();
    put(&sandbox, "src/api/keys.rs", "pub fn turn_key() {\n    // a line\n    // another line\n}\n");
    commit(&sandbox, "feat: keys");
    remember(&sandbox, "doors", DOORS);
    remember(&sandbox, "keys", "Keys are in `src/api/keys.rs` since the audit.\n");
    remember(&sandbox, "folder", "Everything below src/api/ was reviewed by the auditor.\n");
    git(&sandbox, &["mv", "src/api", "src/http"]);
    commit(&sandbox, "refactor: http");
    git(&sandbox, &["mv", "src/http/doors.rs", "src/http/gates.rs"]);
    let second = commit(&sandbox, "refactor: gates");
    git(&sandbox, &["mv", "src/http/keys.rs", "src/http/locks.rs"]);

    let found = verify(&sandbox, "doors");
    let path = claim(&found, "src/api/doors.rs");
    assert_eq!((&path["state"], &path["to"]), (&json!("moved"), &json!("src/http/gates.rs")));
    let note = found["note"].as_str().unwrap();
    let expected = format!(
        "1 named file no longer exists: src/api/doors.rs, renamed to src/http/gates.rs in {}",
        &second[..7]
    );
    assert!(note.starts_with(&expected), "{note}");
    assert_eq!(claim(&verify(&sandbox, "folder"), "src/api")["to"], "src/http");
    let keys = verify(&sandbox, "keys");
    assert_eq!(
        claim(&keys, "src/api/keys.rs")["state"],
        "missing",
        "the last move is not committed: {keys:#}"
    );
    remember(&sandbox, "keys", "Keys are in `src/http/keys.rs` since the audit.\n");
    assert_eq!(claim(&verify(&sandbox, "keys"), "src/http/keys.rs")["to"], "src/http/locks.rs");
}

#[test]
fn what_git_told_is_kept_for_a_commit_and_what_is_not_committed_is_looked_at_anew() {
    let sandbox = project();
    remember(&sandbox, "doors", "Doors are in `src/api/doors.rs`, by wish of the vendor.\n");
    git(&sandbox, &["mv", "src/api/doors.rs", "src/gates.rs"]);
    assert_eq!(claim(&verify(&sandbox, "doors"), "src/api/doors.rs")["to"], "src/gates.rs");
    git(&sandbox, &["mv", "src/gates.rs", "src/locks.rs"]);
    assert_eq!(claim(&verify(&sandbox, "doors"), "src/api/doors.rs")["to"], "src/locks.rs");
    commit(&sandbox, "refactor: locks");
    let asked = verify(&sandbox, "doors");
    let without_git = sandbox.memdir(&["verify", "doors"]).env("PATH", "/nonexistent").json();
    assert_eq!(without_git["memories"][0], asked, "git is asked once for a commit");
    fs::remove_file(sandbox.project().join("src/locks.rs")).unwrap();
    let gone = verify(&sandbox, "doors");
    assert_eq!(claim(&gone, "src/api/doors.rs")["state"], "missing", "{gone:#}");
}

#[test]
fn sl_03_a_removed_function_is_missing_and_ignored_files_do_not_count() {
    let sandbox = project();
    remember(&sandbox, "doors", DOORS);
    let found = verify(&sandbox, "doors");
    assert_eq!(claim(&found, "open_door")["at"], "src/api/doors.rs:1");

    put(&sandbox, "src/api/doors.rs", "// nothing left\n");
    put(&sandbox, "generated/doors.rs", "pub fn open_door() {}\n");
    put(&sandbox, "CHANGELOG.md", "open_door() was here\n");
    let hash = commit(&sandbox, "feat: doors stay shut");
    let found = verify(&sandbox, "doors");
    let symbol = claim(&found, "open_door");
    assert_eq!((&symbol["state"], &symbol["since"]["commit"]), (&json!("missing"), &json!(hash[..12])));
    assert_eq!(claim(&found, "src/api/doors.rs")["state"], "holds");
}

#[test]
fn sl_03_flags_are_searched_for_in_every_spelling_and_other_programs_flags_are_not_ours() {
    let sandbox = project();
    remember(&sandbox, "auth", "Customers rely on `--legacy-auth`; run `cargo test --no-fail-fast` first.\n");
    let found = verify(&sandbox, "auth");
    assert_eq!(claim(&found, "--legacy-auth")["at"], "src/main.rs:4");
    assert_eq!(claim(&found, "--no-fail-fast")["state"], "unchecked");
    assert_eq!(found["state"], "verified");

    put(&sandbox, "src/main.rs", "mod api;\n\nfn main() {}\n");
    let hash = commit(&sandbox, "feat: one way to log in");
    let found = verify(&sandbox, "auth");
    let flag = claim(&found, "--legacy-auth");
    assert_eq!(
        (&flag["state"], &flag["since"]["commit"]),
        (&json!("missing"), &json!(hash[..12])),
        "{found:#}"
    );
}

#[test]
fn sl_04_unverified_and_old_claims_carry_a_verify_line() {
    let sandbox = project();
    remember(&sandbox, "doors", DOORS);
    remember(&sandbox, "taste", "Answers should be short, because the team reads them on phones.\n");
    assert_eq!(verify(&sandbox, "doors")["verify"], Value::Null);
    assert_eq!(verify(&sandbox, "taste")["verify"], "verify before use: not verifiable here");
    fs::remove_file(sandbox.project().join("src/api/doors.rs")).unwrap();
    let line = verify(&sandbox, "doors")["verify"].as_str().unwrap().to_owned();
    assert!(line.starts_with("verify before use: ") && line.contains("src/api/doors.rs"), "{line}");
}

#[test]
fn sl_05_sl_06_every_memory_shows_its_age_and_its_state() {
    let sandbox = project();
    remember(&sandbox, "doors", DOORS);
    remember(&sandbox, "taste", "Answers should be short, because the team reads them on phones.\n");
    let answer = sandbox.memdir(&["verify"]).json();
    for memory in answer["memories"].as_array().unwrap() {
        assert!(memory["age_days"].is_i64(), "{memory:#}");
        assert!(
            ["verified", "stale", "unverified"].contains(&memory["state"].as_str().unwrap()),
            "{memory:#}"
        );
        assert!(!memory["note"].as_str().unwrap().is_empty(), "{memory:#}");
    }
    assert_eq!(
        (&answer["verified"], &answer["unverified"], &answer["stale"]),
        (&json!(1), &json!(1), &json!(0))
    );
    assert_eq!(verify(&sandbox, "doors")["note"], "checked today, 2 of 2 hold");
}

/// What the last check found stands in `list`, for the version that was checked.
#[test]
fn sl_05_list_shows_the_state_of_each_memory() {
    let sandbox = project();
    save(&sandbox, "doors", DOORS);
    let row = || {
        let rows = sandbox.memdir(&["list"]).json();
        rows.as_array().unwrap().iter().find(|row| row["name"] == "doors").unwrap().clone()
    };
    assert_eq!((&row()["state"], &row()["checked"]), (&json!("unverified"), &json!(null)));
    let plain = || sandbox.memdir(&["list"]).ok().stdout;
    assert!(!plain().contains("verified"), "nothing was ever looked up");
    sandbox.memdir(&["verify"]).run();
    assert_eq!(row()["state"], "verified");
    assert!(row()["checked"].is_string() && row()["claims"].as_str().unwrap().contains("hold"), "{}", row());
    assert!(plain().contains("verified"), "{}", plain());
    fs::remove_file(sandbox.project().join("src/api/doors.rs")).unwrap();
    sandbox.memdir(&["verify"]).run();
    assert_eq!(row()["state"], "stale");
    assert!(plain().contains("stale"), "{}", plain());
    sandbox.memdir(&["edit", "doors", "--append", "One more line."]).ok();
    assert_eq!(row()["state"], "unverified", "another version than the one that was checked");
}

#[test]
fn sl_08_idle_days_and_staleness_are_two_fields() {
    let sandbox = project();
    save(&sandbox, "doors", DOORS);
    let later = |name: &str| {
        sandbox.memdir(&["verify", name]).at("2026-06-01T10:30:00Z").json()["memories"][0].clone()
    };
    let idle = later("doors");
    assert_eq!((&idle["idle_days"], &idle["state"]), (&json!(60), &json!("verified")), "idle, and still so");
    assert_eq!(later("doors")["idle_days"], 60, "a check is no use");
    fs::remove_file(sandbox.project().join("src/api/doors.rs")).unwrap();
    let fresh = verify(&sandbox, "doors");
    assert_eq!(
        (&fresh["idle_days"], &fresh["state"]),
        (&json!(0), &json!("stale")),
        "in use, and no longer so"
    );
}

#[test]
fn ux_12_a_renamed_symbol_is_told_with_its_new_name_and_the_commit_that_last_had_it() {
    let sandbox = project();
    remember(&sandbox, "doors", DOORS);
    let first = verify(&sandbox, "doors")["commit"].as_str().unwrap().to_owned();
    put(&sandbox, "src/api/doors.rs", "pub fn open_gate(id: u32) -> bool {\n    id > 0\n}\n");
    // Not committed yet: the working tree counts.
    let found = verify(&sandbox, "doors");
    assert_eq!(
        (&claim(&found, "open_door")["state"], &claim(&found, "open_door")["to"]),
        (&json!("changed"), &json!("open_gate"))
    );
    let second = commit(&sandbox, "refactor: gates");
    let found = verify(&sandbox, "doors");
    let symbol = claim(&found, "open_door");
    assert_eq!(symbol["to"], "open_gate");
    assert_eq!(symbol["last_verified"]["commit"], first);
    let expected = format!(
        "open_door is called open_gate now, changed in {} on 2026-03-01, last verified at {}",
        &second[..7],
        &first[..7]
    );
    assert_eq!(found["note"], expected);
}

#[test]
fn evidence_days_tasks_versions_branches_and_commits_are_looked_up() {
    let sandbox = project();
    let head = git(&sandbox, &["rev-parse", "HEAD"]);
    git(&sandbox, &["checkout", "-q", "-b", "fix/retry"]);
    git(&sandbox, &["checkout", "-q", "main"]);
    git(&sandbox, &["branch", "-q", "-D", "fix/retry"]);
    let body = format!(
        "Run `make deploy`, never `make all`; `make release` signs. We are on axum 0.8 and branch main. The branch fix/retry waits.\n\
         See commit {} and commit 0123abcd9 and https://example.org/doors. Frozen until 2026-04-01.\n",
        &head[..9]
    );
    let evidence = "metadata:\n  expires: 2026-04-02\n  evidence:\n    - src/api/doors.rs#open_door\n    \
                    - src/main.rs:99\n    - src/main.rs#open_door\n    - flag:--gone\n";
    let text = memory_file("facts", "\"\"", &body);
    let text = text.replacen("\n---\n", &format!("\n{evidence}---\n"), 1);
    sandbox.write("facts.md", text);
    let found = verify(&sandbox, "facts");
    let claims = found["claims"].as_array().unwrap().iter();
    let lines: Vec<String> = claims
        .map(|claim| {
            let text = |key: &str| claim[key].as_str().unwrap_or_default().to_owned();
            format!("{} {}: {} {}{}", text("kind"), text("value"), text("state"), text("at"), text("to"))
                .replace(&head[..9], "<head>")
                .trim_end()
                .to_owned()
        })
        .collect();
    expect_test::expect![[r#"
        path src/api/doors.rs: holds src/api/doors.rs
        symbol open_door: holds src/api/doors.rs:1
        path src/main.rs: changed 5 lines long
        symbol open_door: moved src/api/doors.rs:1
        flag --gone: missing
        date 2026-04-02: expired
        command make deploy: holds Makefile
        command make all: missing
        command make release: missing
        branch main: holds
        branch fix/retry: missing
        commit <head>: holds
        commit 0123abcd9: missing
        version axum 0.8: changed 0.7.5
        date 2026-04-01: expired
        url https://example.org/doors: unchecked"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn guesses_plans_and_what_is_said_to_be_gone_raise_no_alarm() {
    let sandbox = project();
    remember(
        &sandbox,
        "calm",
        "Use tabs and/or spaces; `useEffect` of React is fine, LaunchDarkly too. We removed `src/old.rs` and \
         `old_door()`.\nWe will add `src/new.rs`. Certificates are in /etc/ssl/cert.pem and ~/x/y.rs, builds in \
         `target/debug/heron.rs`. Branch release is planned. Run `npm run build`.\n",
    );
    let found = verify(&sandbox, "calm");
    assert_ne!(found["state"], "stale", "{found:#}");
}

#[test]
fn without_git_the_disk_decides() {
    let sandbox = sandbox();
    put(&sandbox, "src/api/doors.rs", "pub fn open_door() {}\n");
    remember(&sandbox, "doors", DOORS);
    assert_eq!(verify(&sandbox, "doors")["note"], "checked today, 2 of 2 hold");
    fs::remove_file(sandbox.project().join("src/api/doors.rs")).unwrap();
    let found = verify(&sandbox, "doors");
    assert_eq!(claim(&found, "src/api/doors.rs")["state"], "missing");
    assert_eq!(claim(&found, "open_door")["state"], "missing");
}

#[test]
fn what_people_see_of_one_memory_and_of_all() {
    let sandbox = project();
    remember(&sandbox, "doors", DOORS);
    remember(&sandbox, "taste", "Answers should be short, because the team reads them on phones.\n");
    fs::remove_file(sandbox.project().join("src/api/doors.rs")).unwrap();
    expect_test::expect![[r#"
        doors: stale
        saved just now, 1 named file no longer exists: src/api/doors.rs; 1 more no longer holds
        missing  path    src/api/doors.rs
        missing  symbol  open_door
        --- stderr
        warning: 1 named file no longer exists: src/api/doors.rs; 1 more no longer holds; what you see counts, not the memory: `memdir correct doors` brings it up to date
        --- exit code 1
    "#]].assert_eq(&shown(&sandbox, &["verify", "doors"]));
    expect_test::expect![[r#"
        stale       doors  1 named file no longer exists: src/api/doors.rs; 1 more no longer holds  just now
        unverified  taste  not verifiable here                                                      just now
        --- stderr
        warning: 1 memory is stale: `memdir correct NAME` brings one up to date, `memdir verify NAME` shows why
        --- exit code 1
    "#]].assert_eq(&shown(&sandbox, &["verify"]));
    expect_test::expect![[r#"
        --- stderr
        error: no memory `nothing`

        hint: `memdir list` shows what there is, `memdir search WORDS` looks for it
        --- exit code 1
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&["verify", "nothing"])));
}

#[test]
fn the_verdict_is_noted_in_the_ledger_once_while_nothing_changes() {
    let sandbox = project();
    save(&sandbox, "doors", DOORS);
    let noted = |word: &str| {
        let tree = sandbox.state_tree();
        let ledger: Vec<String> = tree
            .paths()
            .filter(|path| path.contains("/ledger/"))
            .filter_map(|path| Some(String::from_utf8_lossy(tree.get(path)?).into_owned()))
            .collect();
        ledger.join("").lines().filter(|line| line.contains(&format!("\"ev\":\"{word}\""))).count()
    };
    sandbox.memdir(&["verify"]).ok();
    sandbox.memdir(&["verify"]).ok();
    assert_eq!((noted("verified"), noted("stale")), (1, 0));
    fs::remove_file(sandbox.project().join("src/api/doors.rs")).unwrap();
    sandbox.memdir(&["verify"]).code(1);
    assert_eq!((noted("verified"), noted("stale")), (1, 1));
}

#[test]
fn the_cache_can_be_deleted_and_torn_and_leaves_with_what_is_erased() {
    let sandbox = project();
    save(&sandbox, "doors", DOORS);
    let cache = |sandbox: &Sandbox| {
        let tree = sandbox.state_tree();
        let found = tree.paths().find(|path| path.ends_with(".claims"));
        found.map(|path| sandbox.state().join(path))
    };
    let first = verify(&sandbox, "doors");
    let path = cache(&sandbox).unwrap();
    let bytes = fs::read(&path).unwrap();
    for damage in
        [&bytes[..bytes.len() / 2], b"", b"\0\0{", b"{\"memdir_claims\":1}\n{\"mem\":\"doors.md\",\n"]
    {
        fs::write(&path, damage).unwrap();
        assert_eq!(verify(&sandbox, "doors")["note"], first["note"]);
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(verify(&sandbox, "doors"), first);
    sandbox.memdir(&["forget", "doors", "--erase", "--yes"]).ok();
    assert_eq!(sandbox.state_tree().containing(b"open_door"), [""; 0]);
}

#[test]
fn a_repository_cannot_make_a_check_run_or_follow_or_wait() {
    let sandbox = project();
    remember(&sandbox, "doors", DOORS);
    let trap = sandbox.root().join("trap.sh");
    fs::write(&trap, format!("#!/bin/sh\ntouch {}\n", sandbox.root().join("sprung").display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "gpg.program",
        "core.editor",
    ] {
        git(&sandbox, &["config", key, trap]);
    }
    git(&sandbox, &["config", "log.showSignature", "true"]);
    put(&sandbox, ".gitattributes", "* diff=evil filter=evil\n");
    put(&sandbox, ".git/info/attributes", "* diff=evil filter=evil\n");
    fs::remove_file(sandbox.project().join("src/api/doors.rs")).unwrap();
    // Committing would run the filter itself: the removal is staged by plumbing.
    git(&sandbox, &["update-index", "--force-remove", "src/api/doors.rs"]);
    let tree = git(&sandbox, &["write-tree"]);
    let next = git(&sandbox, &["commit-tree", &tree, "-p", "HEAD", "-m", "gone"]);
    git(&sandbox, &["update-ref", "refs/heads/main", &next]);
    let _ = fs::remove_file(sandbox.root().join("sprung"));
    let mkfifo = Command::new("mkfifo").arg(sandbox.project().join("src/pipe.rs")).status().unwrap();
    assert!(mkfifo.success());
    symlink("/etc/passwd", sandbox.project().join("src/link.rs")).unwrap();
    remember(&sandbox, "links", "See `src/pipe.rs` and `src/link.rs`, and /etc/passwd.rs, ../../x.rs.\n");

    let before = Tree::of(&sandbox.project());
    let output = run_or_give_up(sandbox.memdir(&["verify", "--json"]));
    assert_eq!(output.code, 1, "{output}");
    assert!(!sandbox.root().join("sprung").exists(), "a program of the repository ran");
    let doors = output.json()["memories"]
        .as_array()
        .unwrap()
        .iter()
        .find(|memory| memory["name"] == "doors")
        .cloned();
    let doors = doors.unwrap();
    assert_eq!(claim(&doors, "src/api/doors.rs")["since"]["commit"], next[..12], "{doors:#}");
    assert_eq!(before.changes(&Tree::of(&sandbox.project())), [""; 0]);
}
