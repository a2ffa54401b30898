//! The life of projects: journal, wrap, dashboard, monthly report, tiers of documentation.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;
use memdir_testkit::{Invocation, Sandbox, Tree};
use serde_json::{Value, json};

use crate::setup::{prose, sandbox, strings_at};

/// Two weeks and a day before the sandbox's clock.
const LONG_AGO: &str = "2026-03-18T09:00:00Z";
const MONTHS_AGO: &str = "2026-02-01T09:00:00Z";

fn put(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(dir: &Path, path: &str) -> String {
    fs::read_to_string(dir.join(path)).unwrap()
}

fn git(dir: &Path, at: &str, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(dir)
        .env("GIT_AUTHOR_DATE", at)
        .env("GIT_COMMITTER_DATE", at)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("install git: this test cannot do without");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit(dir: &Path, at: &str, subject: &str) {
    git(dir, at, &["commit", "-q", "--allow-empty", "-m", subject]);
}

/// A project of its own below the sandbox, with a repository.
fn project(sandbox: &Sandbox, name: &str, at: &str) -> PathBuf {
    let dir = sandbox.root().join(name);
    fs::create_dir_all(&dir).unwrap();
    git(&dir, at, &["init", "-q", "-b", "main"]);
    put(&dir, "README.md", &format!("# {name}\n"));
    git(&dir, at, &["add", "-A"]);
    commit(&dir, at, &format!("begin {name}"));
    dir
}

/// A command in a project, with the vault that the project has by itself.
fn run(sandbox: &Sandbox, dir: &Path, args: &[&str]) -> Invocation {
    sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(dir)
}

fn save(sandbox: &Sandbox, dir: &Path, name: &str, at: &str) {
    let args = ["save", name, "--type", "project", "--description", "what there is to know"];
    run(sandbox, dir, &args).stdin(prose(name.len())).at(at).ok();
}

/// Writes the file of a session as Claude Code does.
fn write_session(sandbox: &Sandbox, dir: &Path, session: &str, turns: &[(&str, Value)]) {
    let dir = dir.canonicalize().unwrap();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = dir.to_str().unwrap().chars().map(plain).collect();
    let line = |(n, (role, content)): (usize, &(&str, Value))| {
        json!({
            "parentUuid": null, "isSidechain": false, "type": role,
            "message": { "role": role, "content": content }, "uuid": format!("{session}-{n}"),
            "timestamp": format!("2026-04-02T09:{n:02}:00.000Z"), "cwd": dir, "sessionId": session,
            "version": "2.1.325", "gitBranch": "main",
        })
    };
    let lines: String = turns.iter().enumerate().map(|turn| format!("{}\n", line(turn))).collect();
    put(&sandbox.home().join(".claude/projects").join(slug), &format!("{session}.jsonl"), &lines);
}

fn tool(name: &str, input: Value) -> (&'static str, Value) {
    ("assistant", json!([{ "type": "tool_use", "id": "t", "name": name, "input": input }]))
}

fn result(text: &str) -> (&'static str, Value) {
    ("user", json!([{ "type": "tool_result", "tool_use_id": "t", "content": text }]))
}

/// What became of an effect.
fn state(answer: &Value, effect: &str) -> String {
    let effects = answer["effects"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
    let found = effects.iter().find(|row| row["effect"] == effect).unwrap();
    found["state"].as_str().unwrap().to_owned()
}

fn states(answer: &Value) -> Vec<String> {
    ["journal", "status", "memory", "facts", "doc_sync"].map(|effect| state(answer, effect)).to_vec()
}

fn journal_files(sandbox: &Sandbox) -> Vec<String> {
    let tree = sandbox.state_tree();
    tree.paths()
        .filter(|path| path.contains("/journal/") && path.ends_with(".md"))
        .map(str::to_owned)
        .collect()
}

/// MH-03.
#[test]
fn a_journal_entry_is_a_file_with_four_sections_outside_of_the_vault() {
    let sandbox = sandbox();
    let args = [
        "journal",
        "add",
        "--summary",
        "Moved token refresh behind a queue.",
        "--decision",
        "Use a queue; **Why:** bursts",
        "--unfinished",
        "tell the team tomorrow",
        "--related",
        "[[feedback-real-db]]",
        "--session",
        "5da15695-411e",
    ];
    let vault = sandbox.vault_tree();
    let added = sandbox.memdir(&args).json();
    assert!(
        added["path"].as_str().unwrap().ends_with("/journal/2026/04/2026-04-02T103000Z-5da15695.md"),
        "{added}"
    );
    assert_eq!(vault.changes(&sandbox.vault_tree()), [""; 0], "nothing of it is in the vault");
    let text = fs::read_to_string(added["path"].as_str().unwrap()).unwrap();
    for heading in
        ["## Summary\nMoved", "## Decisions\n- Use a queue", "## Unfinished\n- [ ] tell", "## Related\n- [[f"]
    {
        assert!(text.contains(heading), "{heading}\n{text}");
    }
    assert!(text.contains("2026-04-03"), "dates are absolute\n{text}");
    let again = sandbox.memdir(&args).json();
    assert_eq!((&again["path"], &again["was_there"]), (&added["path"], &json!(true)));
    let listed = sandbox.memdir(&["journal", "list"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["description"], "Moved token refresh behind a queue; 1 open item");
    let shown = sandbox.memdir(&["journal", "show", "5da15695"]).json();
    assert_eq!(shown["decisions"], json!(["Use a queue; **Why:** bursts"]));
    assert_eq!(sandbox.memdir(&["journal", "show"]).ok().stdout.matches("## ").count(), 4);
}

#[test]
fn an_entry_may_come_on_stdin_and_no_entry_is_an_error() {
    let sandbox = sandbox();
    let text = "Did things.\n\n## Decisions\n- one\n\n## Unfinished\n- [ ] left\n";
    sandbox.memdir(&["journal", "add"]).stdin(text).ok();
    let shown = sandbox.memdir(&["journal", "show"]).json();
    assert_eq!((&shown["summary"], &shown["decisions"]), (&json!("Did things."), &json!(["one"])));
    sandbox.memdir(&["journal", "add"]).code(2);
    sandbox.memdir(&["journal", "show", "nothing-like-it"]).code(1);
    let secret = ["The token is ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let refused = sandbox.memdir(&["journal", "add", "--summary", &secret]).code(1);
    assert!(refused.stderr.contains("--redact"), "{refused}");
    sandbox.memdir(&["journal", "add", "--redact", "--summary", &secret]).ok();
    assert_eq!(sandbox.state_tree().containing(b"a1B2c3D4e5F6"), [""; 0]);
}

/// LC-08.
#[test]
fn unfinished_items_are_listed_until_they_are_closed() {
    let sandbox = sandbox();
    let add = |summary: &str, unfinished: &str, at: &str| {
        let args = ["journal", "add", "--summary", summary, "--unfinished", unfinished];
        sandbox.memdir(&args).at(at).ok();
    };
    add("One.", "rotate the staging key", LONG_AGO);
    add("Two.", "write the runbook", "2026-04-01T09:00:00Z");
    add("Three.", "Rotate the staging key", "2026-04-01T10:00:00Z");
    let open = sandbox.memdir(&["journal", "open"]).json();
    assert_eq!(
        strings_at(&open, "text"),
        ["Rotate the staging key", "write the runbook"],
        "carried over, not doubled"
    );
    assert_eq!(open[0]["since"], LONG_AGO);
    let id = open[0]["id"].as_str().unwrap();
    let before = journal_files(&sandbox);
    sandbox.memdir(&["journal", "close", &id[20..]]).ok();
    assert_eq!(strings_at(&sandbox.memdir(&["journal", "open"]).json(), "text"), ["write the runbook"]);
    assert!(before.iter().all(|file| journal_files(&sandbox).contains(file)), "no entry is changed");
    sandbox.memdir(&["journal", "close", &id[20..]]).code(1);
    sandbox.memdir(&["journal", "add", "--done", "write the runbook"]).ok();
    sandbox.memdir(&["journal", "open"]).code(1);
}

/// LC-02, LC-05.
#[test]
fn a_wrap_has_five_effects_and_the_second_has_none() {
    let sandbox = sandbox();
    let dir = project(&sandbox, "web", LONG_AGO);
    put(&dir, "STATUS.md", "# Web\n\nMine.\n");
    put(&dir, "docs/architecture.md", "# Architecture\n\nDoc Sync: 2026-01-01\n");
    write_session(
        &sandbox,
        &dir,
        "5da15695-411e",
        &[(
            "user",
            json!("never mock the database in integration tests, mocks hid a broken migration last quarter"),
        )],
    );
    let args = [
        "wrap",
        "--summary",
        "Moved token refresh behind a queue.",
        "--unfinished",
        "rotate the staging key",
        "--blocked",
        "load test: waits for the cluster",
        "--next",
        "write the runbook",
        "--synced",
        "docs/architecture.md",
    ];
    let first = run(&sandbox, &dir, &args).json();
    assert_eq!(states(&first), ["done"; 5], "{first:#}");
    expect![[r#"
        # Web

        <!-- memdir:status -->
        ## In progress
        - rotate the staging key

        ## Blocked
        - load test: waits for the cluster

        ## Next
        - write the runbook

        Doc Sync: 2026-04-02
        <!-- memdir:status:end -->

        Mine.
    "#]]
    .assert_eq(&read(&dir, "STATUS.md"));
    assert_eq!(read(&dir, "docs/architecture.md"), "# Architecture\n\nDoc Sync: 2026-04-02\n");
    let shown = run(&sandbox, &dir, &["show", "project-status"]).json();
    assert_eq!(shown["description"], "Where web stands: 1 in progress, 1 blocked, 1 next");
    assert_eq!(shown["kind"], "status");
    let entry = run(&sandbox, &dir, &["journal", "show"]).json();
    assert_eq!((&entry["session"], &entry["agent"]), (&json!("5da15695-411e"), &json!("claude-code")));
    let waiting = run(&sandbox, &dir, &["review"]).json();
    assert_eq!(strings_at(&waiting, "author"), ["extraction"], "{waiting:#}");
    assert_eq!(strings_at(&waiting, "provenance"), ["user"]);
    let before = Tree::of(sandbox.root());
    let second = run(&sandbox, &dir, &args).json();
    assert_eq!(states(&second), ["unchanged"; 5], "{second:#}");
    let changes: Vec<String> = before.changes(&Tree::of(sandbox.root()));
    let kept =
        |path: &&String| !path.contains("/locks/") && !path.contains("/index/") && !path.contains("/ledger/");
    assert_eq!(changes.iter().filter(kept).count(), 0, "{changes:?}");
}

/// LC-02: a wrap whose candidates were dropped does not bring them again.
#[test]
fn what_was_dropped_from_the_inbox_stays_dropped() {
    let sandbox = sandbox();
    let dir = project(&sandbox, "web", LONG_AGO);
    let said = ("user", json!("bugs are tracked in the Linear project INGEST, look there first"));
    write_session(&sandbox, &dir, "s-1", &[said]);
    assert_eq!(state(&run(&sandbox, &dir, &["wrap"]).json(), "facts"), "done");
    run(&sandbox, &dir, &["review", "drop", "--all"]).ok();
    assert_eq!(state(&run(&sandbox, &dir, &["wrap"]).json(), "facts"), "unchanged");
    run(&sandbox, &dir, &["review"]).code(1);
}

/// LC-03.
#[test]
fn in_a_full_wrap_one_job_fails_and_three_succeed() {
    let sandbox = sandbox();
    let dir = project(&sandbox, "web", LONG_AGO);
    fs::create_dir(dir.join("STATUS.md")).unwrap();
    let said = ("user", json!("bugs are tracked in the Linear project INGEST, look there first"));
    write_session(&sandbox, &dir, "s-1", &[said]);
    let output = run(&sandbox, &dir, &["wrap", "--full", "--summary", "Did it.", "--json"]).code(1);
    let answer = output.json();
    assert_eq!(states(&answer)[..4], ["done", "failed", "done", "done"], "{answer:#}");
    let output = run(&sandbox, &dir, &["wrap", "--full", "--summary", "Did it."]).code(1);
    assert!(output.stderr.contains("status failed") && output.stderr.contains("STATUS.md"), "{output}");
    fs::remove_dir(dir.join("STATUS.md")).unwrap();
    let answer = run(&sandbox, &dir, &["wrap", "--full", "--summary", "Did it."]).json();
    assert_eq!(states(&answer)[..4], ["unchanged", "done", "unchanged", "unchanged"], "{answer:#}");
    assert_eq!(run(&sandbox, &dir, &["journal", "list"]).json().as_array().unwrap().len(), 1);
}

/// LC-07: without words the session's own file is read.
#[test]
fn a_wrap_without_words_sums_up_the_session_by_rules() {
    let sandbox = sandbox();
    let dir = project(&sandbox, "web", LONG_AGO);
    let file = dir.canonicalize().unwrap().join("src/auth.rs");
    let todos = json!([{ "content": "tell the team", "status": "pending" }, { "content": "x", "status": "completed" }]);
    write_session(
        &sandbox,
        &dir,
        "s-1",
        &[
            ("user", json!("Fix the login redirect")),
            tool("Edit", json!({ "file_path": file, "old_string": "a", "new_string": "b" })),
            result("updated"),
            tool("Bash", json!({ "command": "cargo test" })),
            result("error[E0432]: unresolved import `x`"),
            tool("TodoWrite", json!({ "todos": todos })),
            ("user", json!("<system-reminder>never told</system-reminder>Now commit it")),
        ],
    );
    run(&sandbox, &dir, &["wrap"]).ok();
    let shown = run(&sandbox, &dir, &["journal", "show"]).json();
    expect![[r#"
        Fix the login redirect (2 prompts on `main`)
        Then: Now commit it
        Changed: src/auth.rs
        Ran: cargo test
        Failed: error[E0432]: unresolved import `x`"#]]
    .assert_eq(shown["summary"].as_str().unwrap());
    assert_eq!(strings_at(&shown["unfinished"], "text"), ["tell the team"]);
    assert_eq!(shown["started"], "2026-04-02T09:00:00Z");
    assert!(read(&dir, "STATUS.md").contains("## In progress\n- tell the team\n"));
    let again = run(&sandbox, &dir, &["wrap"]).json();
    assert_eq!(states(&again), ["unchanged"; 5], "{again:#}");
}

#[test]
fn there_must_be_something_to_wrap_and_a_dry_run_writes_nothing() {
    let sandbox = sandbox();
    let dir = project(&sandbox, "web", LONG_AGO);
    let before = Tree::of(sandbox.root());
    let output = run(&sandbox, &dir, &["wrap"]).code(1);
    assert!(output.stderr.contains("--summary"), "{output}");
    let shown =
        run(&sandbox, &dir, &["wrap", "--dry-run", "--summary", "Did it.", "--next", "more"]).ok().stdout;
    assert!(shown.contains("## Summary\nDid it.") && shown.contains("Next: more"), "{shown}");
    assert!(!dir.join("STATUS.md").exists() && journal_files(&sandbox).is_empty());
    assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0]);
    let answer = run(&sandbox, &dir, &["wrap", "--summary", "Did it.", "--synced", "README.md"]).json();
    let detail = answer["effects"][4]["detail"].as_str().unwrap();
    assert_eq!(detail, "STATUS.md; no line `Doc Sync: YYYY-MM-DD` in README.md");
}

/// LC-05: what is not between the marks is not ours, and marks that do not pair up are left alone.
#[test]
fn a_status_with_broken_marks_is_reported_and_not_touched() {
    let sandbox = sandbox();
    let dir = project(&sandbox, "web", LONG_AGO);
    let text = "# Web\n<!-- memdir:status -->\nhalf\n";
    put(&dir, "STATUS.md", text);
    let answer = run(&sandbox, &dir, &["wrap", "--summary", "Did it."]).json();
    assert_eq!(state(&answer, "status"), "failed");
    assert_eq!(read(&dir, "STATUS.md"), text);
    fs::remove_file(dir.join("STATUS.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", dir.join("STATUS.md")).unwrap();
    let answer = run(&sandbox, &dir, &["wrap", "--summary", "Did it."]).json();
    assert_eq!(state(&answer, "status"), "failed", "no link is followed");
}

/// LC-01, LC-06, SL-09, MH-05.
#[test]
fn the_dashboard_has_four_parts_and_names_what_is_idle_elsewhere() {
    let sandbox = sandbox();
    let other = project(&sandbox, "app", LONG_AGO);
    save(&sandbox, &other, "rule", LONG_AGO);
    let dir = project(&sandbox, "web", "2026-04-01T09:00:00Z");
    for n in 1..=11 {
        commit(&dir, "2026-04-01T10:00:00Z", &format!("change {n}"));
    }
    save(&sandbox, &dir, "decision", "2026-04-01T09:00:00Z");
    let wrap = [
        "wrap",
        "--summary",
        "Moved token refresh.",
        "--decision",
        "Use a queue",
        "--unfinished",
        "rotate the key",
    ];
    run(&sandbox, &dir, &wrap).ok();
    let page = run(&sandbox, &dir, &["dashboard"]).ok().stdout;
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}\n{page}"));
    let order = [
        "Status of web (seed",
        "In progress: rotate the key",
        "change 11",
        "change 2",
        "Memories of this project (2)",
        "[project] decision",
        "Stale: untouched for 14 days",
        "app: nothing happened for 15 days",
        "rule (15 days)",
        "Briefing",
        "Last session 2026-04-02: Moved token refresh",
        "Decided: Use a queue",
        "- rotate the key [",
    ];
    assert!(order.map(at).is_sorted(), "{page}");
    assert!(!page.contains("change 1\n") && !page.contains("begin web"), "ten commits\n{page}");
    assert!(page.len() <= 9_000);
    assert_eq!(run(&sandbox, &dir, &["dashboard"]).ok().stdout, page, "the same bytes");
    let page = run(&sandbox, &dir, &["dashboard", "--days", "30"]).json();
    assert_eq!(page["stale"], json!({ "projects": [], "memories": [] }), "15 days are not 30");
    assert_eq!(page["commits"].as_array().unwrap().len(), 10);
    assert_eq!(strings_at(&page["briefing"]["unfinished"], "text"), ["rotate the key"]);
}

/// LC-01: whatever there is, a page stays within what a context can hold.
#[test]
fn a_page_is_never_longer_than_its_limit() {
    let sandbox = sandbox();
    let dir = project(&sandbox, "web", LONG_AGO);
    for n in 0..12 {
        commit(&dir, LONG_AGO, &format!("{n} {}", "long subject ".repeat(30)));
    }
    let items: String = (0..200).map(|n| format!("- item {n} {}\n", prose(n))).collect();
    run(&sandbox, &dir, &["wrap"]).stdin(format!("{}\n## Unfinished\n{items}", prose(1).repeat(20))).ok();
    let endless = run(&sandbox, &dir, &["wrap"]).stdin(items.repeat(3)).code(1);
    assert!(endless.stderr.contains("an entry has at most"), "{endless}");
    for page in ["dashboard", "monthly"] {
        let text = run(&sandbox, &dir, &[page]).ok().stdout;
        assert!(text.len() <= 9_000, "{page}: {} bytes", text.len());
        assert!(text.contains("web"), "{text}");
    }
    let text = run(&sandbox, &dir, &["dashboard"]).ok().stdout;
    assert!(text.contains("Briefing\n  Last session") && text.contains("memdir journal open"), "{text}");
}

/// LC-04, DT-02, DT-03, DT-04.
#[test]
fn the_monthly_report_has_one_part_a_project_with_its_tier() {
    let sandbox = sandbox();
    let seed = project(&sandbox, "_ideas/spark", "2026-04-01T09:00:00Z");
    let sapling = project(&sandbox, "app", MONTHS_AGO);
    put(&sapling, "Dockerfile", "FROM scratch\n");
    let tree = project(&sandbox, "web", "2024-04-01T09:00:00Z");
    for n in 0..30 {
        commit(&tree, "2026-03-30T09:00:00Z", &format!("change {n}"));
    }
    put(&tree, "CLAUDE.md", "Rules.\n");
    for (dir, at) in
        [(&seed, "2026-04-01T09:00:00Z"), (&sapling, MONTHS_AGO), (&tree, "2026-03-30T09:00:00Z")]
    {
        save(&sandbox, dir, "rule", at);
    }
    let report = run(&sandbox, &seed, &["monthly"]).json();
    let rows = report["projects"].as_array().unwrap();
    let shown: Vec<(&str, &str, &Value)> = rows
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["tier"].as_str().unwrap(), &row["missing"]))
        .collect();
    let (none, two, more) =
        (json!([]), json!(["CLAUDE.md", "STATUS.md"]), json!(["STATUS.md", "docs/architecture.md"]));
    assert_eq!(shown, [("spark", "seed", &none), ("web", "tree", &more), ("app", "sapling", &two)]);
    assert_eq!(rows.iter().map(|row| row["healthy"] == true).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(rows[2]["stale"].as_array().unwrap().len(), 1, "idle for two months");
    let text = run(&sandbox, &seed, &["monthly"]).ok().stdout;
    for part in ["spark (seed), ", "web (tree), ", "app (sapling), "] {
        assert_eq!(text.matches(part).count(), 1, "{text}");
    }
    assert!(text.contains("Missing for a sapling: CLAUDE.md, STATUS.md"), "{text}");
}

/// DT-01, DT-05.
#[test]
fn an_idea_with_more_than_it_needs_gets_a_note_and_no_status() {
    let sandbox = sandbox();
    let seed = project(&sandbox, "_ideas/spark", "2026-04-01T09:00:00Z");
    put(&seed, "CLAUDE.md", "Rules.\n");
    let answer = run(&sandbox, &seed, &["wrap", "--summary", "Thought about it."]).json();
    assert_eq!(state(&answer, "status"), "skipped");
    assert!(!seed.join("STATUS.md").exists());
    let page = run(&sandbox, &seed, &["dashboard"]).json();
    assert_eq!((&page["tier"], &page["briefing"]["missing"]), (&json!("seed"), &json!([])));
    assert_eq!(page["briefing"]["notes"], json!(["CLAUDE.md is more than a seed needs"]));
}

/// DT-02, DT-04, IX-08, CP-01, CP-04.
#[test]
fn seven_projects_are_seven_rows_and_a_tier_can_be_set() {
    let sandbox = sandbox();
    let dirs: Vec<PathBuf> = (1..=7).map(|n| project(&sandbox, &format!("app-{n}"), LONG_AGO)).collect();
    for dir in &dirs {
        save(&sandbox, dir, "rule", LONG_AGO);
    }
    let here = &dirs[6];
    run(&sandbox, here, &["projects", "tier", ".", "tree"]).ok();
    run(&sandbox, here, &["projects", "tier", ".", "bush"]).code(2);
    run(&sandbox, here, &["wrap", "--summary", "Did it.", "--unfinished", "more"]).ok();
    let rows = run(&sandbox, here, &["projects"]).json();
    assert_eq!(rows.as_array().unwrap().len(), 7);
    assert_eq!((&rows[0]["name"], &rows[0]["tier"]), (&json!("app-7"), &json!("tree")));
    assert_eq!((&rows[0]["status"], &rows[0]["tier_locked"]), (&json!("1 in progress"), &json!(true)));
    assert_eq!((&rows[1]["tier"], &rows[1]["status"]), (&json!("seed"), &json!("nothing open")));
    assert!(rows[1]["last_activity"].as_str().unwrap().starts_with("2026-03-18"), "{rows:#}");
    let router = run(&sandbox, here, &["show", "~/reference-projects"]).json();
    let table = router["body"].as_str().unwrap();
    assert!(table.contains("| project | status | last activity | doc tier |"), "{table}");
    assert!(table.contains("| app-1 | nothing open | 2026-03-18 | seed |"), "{table}");
    assert!(table.contains("| app-7 | 1 in progress | 2026-04-02 | tree |"), "{table}");
    let page = fs::read_to_string(sandbox.state().join("user/MEMORY.md")).unwrap();
    assert!(page.contains("(reference-projects.md)"), "the router points to it\n{page}");
    let table = run(&sandbox, here, &["projects", "--markdown"]).ok().stdout;
    assert_eq!(table.lines().filter(|line| line.starts_with("| app-")).count(), 7, "{table}");
    run(&sandbox, here, &["projects", "tier", ".", "auto"]).ok();
    assert_eq!(run(&sandbox, here, &["projects"]).json()[0]["tier"], "seed");
}

/// W1-16: what an agent or a tool said makes no candidate, and no candidate is a memory.
#[test]
fn candidates_come_from_the_users_own_words_only_and_wait() {
    let sandbox = sandbox();
    let dir = project(&sandbox, "web", LONG_AGO);
    let rule = "always deploy with the blue script, the green one broke production in March";
    write_session(
        &sandbox,
        &dir,
        "s-1",
        &[
            ("user", json!("please look at the deployment")),
            ("assistant", json!([{ "type": "text", "text": format!("Noted: {rule}") }])),
            result(rule),
        ],
    );
    assert_eq!(state(&run(&sandbox, &dir, &["wrap"]).json(), "facts"), "unchanged");
    run(&sandbox, &dir, &["review"]).code(1);
    write_session(&sandbox, &dir, "s-2", &[("user", json!(rule))]);
    assert_eq!(state(&run(&sandbox, &dir, &["wrap", "--session", "s-2"]).json(), "facts"), "done");
    let waiting = run(&sandbox, &dir, &["review"]).json();
    assert_eq!(waiting.as_array().unwrap().len(), 1, "{waiting:#}");
    let name = waiting[0]["name"].as_str().unwrap();
    run(&sandbox, &dir, &["show", name]).code(1);
    run(&sandbox, &dir, &["review", "accept", "--all"]).ok();
    assert_eq!(run(&sandbox, &dir, &["show", name]).json()["provenance"], "user");
}

/// F4.
#[test]
fn off_means_off_for_the_lifecycle_too() {
    let sandbox = sandbox();
    let before = Tree::of(sandbox.root());
    let commands: [&[&str]; 5] = [
        &["wrap", "--summary", "x"],
        &["journal", "add", "--summary", "x"],
        &["journal", "list"],
        &["dashboard"],
        &["monthly"],
    ];
    for command in commands {
        let output = sandbox.memdir(command).env("MEMDIR_OFF", "1").ok();
        assert_eq!(output.stdout, "", "{command:?}");
    }
    assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0]);
}
