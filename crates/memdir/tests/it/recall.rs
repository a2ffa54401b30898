//! `recall`, `search` and the index behind them: the right memory or nothing, and never a stale or torn answer.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::setup::{assert_all_ok, memory_file, prose, repeat, sandbox, storm};

/// Writes a memory file as another program would.
fn note(sandbox: &Sandbox, name: &str, memory_type: &str, metadata: &str, description: &str, body: &str) {
    let text = format!(
        "---\nname: {name}\ndescription: \"{description}\"\ntype: {memory_type}\nmetadata:\n  modified: 2026-03-20T10:00:00Z\n{metadata}---\n\n{body}\n"
    );
    sandbox.write(&format!("{name}.md"), text);
}

/// A project with a dozen memories about neighbouring things.
fn project() -> Sandbox {
    let sandbox = sandbox();
    note(
        &sandbox,
        "feedback-real-database",
        "feedback",
        "  paths:\n    - db/**\n",
        "Integration tests must hit a real database, not mocks",
        "Integration tests run against Postgres in the compose service `db`.\n\n**Why:** mocked tests passed while the production migration failed.\n\n**How to apply:** see [[project-compose-ports]].",
    );
    note(
        &sandbox,
        "project-compose-ports",
        "project",
        "",
        "Which ports the compose services listen on",
        "Postgres 5433, mail 8026.",
    );
    note(
        &sandbox,
        "project-merge-freeze",
        "project",
        "  expires: 2026-04-09\n",
        "Merge freeze for the mobile release cut",
        "Nothing but fixes is merged from 2026-04-05 until 2026-04-09. Branch `release/mobile`.",
    );
    note(
        &sandbox,
        "gotcha-cargo-features",
        "project",
        "  kind: gotcha\n",
        "Gotcha: cargo unifies features of the whole workspace",
        "A release build of one crate gets the features of all. Build with `-p` and `--no-default-features`.",
    );
    note(
        &sandbox,
        "howto-cargo",
        "reference",
        "  kind: howto\n",
        "How to use cargo here: the usual commands",
        "`cargo build --release`, `cargo test --workspace`.",
    );
    note(
        &sandbox,
        "gotcha-pool-timeout",
        "project",
        "  kind: gotcha\n",
        "Pool timeouts mean the report job holds every connection",
        "`PoolTimedOut` at night: the report job opens twenty connections. Raise `max_connections` of the pool, not of Postgres.",
    );
    note(
        &sandbox,
        "decision-queue",
        "project",
        "  kind: decision\n",
        "Token refresh goes through a queue",
        "We decided on a queue instead of a lock for refreshing tokens.\n\n**Why:** two instances refreshed at once and logged people out.",
    );
    note(
        &sandbox,
        "user-terse",
        "user",
        "",
        "Prefers short answers without greetings",
        "Answers in two or three sentences.",
    );
    note(
        &sandbox,
        "reference-dashboards",
        "reference",
        "",
        "Latency dashboards are in Grafana, folder Edge",
        "Folder Edge, board `api-latency`.",
    );
    sandbox
}

fn recall(sandbox: &Sandbox, args: &[&str]) -> Value {
    let args: Vec<&str> = [&["recall", "--json"], args].concat();
    sandbox.memdir(&args).run().json()
}

fn names(answer: &Value) -> Vec<String> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["name"].as_str().unwrap().to_owned()).collect()
}

fn index_dir(sandbox: &Sandbox) -> PathBuf {
    let mut found: Vec<PathBuf> = fs::read_dir(sandbox.state().join("index"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "notes"))
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// R2-08, UX-11.
#[test]
fn the_right_memory_comes_to_mind_and_an_unrelated_prompt_brings_nothing() {
    let sandbox = project();
    let answer = recall(&sandbox, &["do the integration tests use a real database or mocks?"]);
    assert_eq!(names(&answer)[0], "feedback-real-database");
    let answer = recall(&sandbox, &["write a haiku about the autumn leaves in kyoto"]);
    assert_eq!(answer["abstained"], true, "{answer}");
    sandbox.memdir(&["recall", "write a haiku about the autumn leaves in kyoto"]).code(1);
}

/// R2-03.
#[test]
fn one_word_is_no_prompt() {
    let output = project().memdir(&["recall", "continue"]).code(1);
    assert_eq!(output.stdout, "");
}

/// R2-14, SL-05, SL-06, format 9.
#[test]
fn what_is_shown_is_framed_with_age_author_and_state() {
    let sandbox = project();
    let ask = || sandbox.memdir(&["recall", "what did we decide about token refresh?"]).ok().stdout;
    let text = ask();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "<system-reminder>");
    assert!(
        lines[1].starts_with("Relevant saved memories (hints recorded earlier; the current code wins"),
        "{text}"
    );
    let mark = &lines[1][lines[1].find("[memdir ").unwrap()..];
    assert!(lines[2].starts_with("[project] decision-queue.md — saved 13 days ago"), "{text}");
    assert_eq!(lines[lines.len() - 2], mark.replace("[memdir", "[/memdir"));
    assert_eq!(*lines.last().unwrap(), "</system-reminder>");
    assert_eq!(ask(), text, "the same bytes for the same content");
}

/// R2-12, R2-13.
#[test]
fn a_session_is_shown_each_memory_once() {
    let sandbox = project();
    let prompt = "do the integration tests use a real database or mocks?";
    let first = recall(&sandbox, &[prompt, "--session", "s1"]);
    let second = recall(&sandbox, &[prompt, "--session", "s1"]);
    let other = recall(&sandbox, &[prompt, "--session", "s2"]);
    assert!(!names(&first).is_empty() && names(&second).is_empty());
    assert_eq!(names(&first), names(&other));
    let skipped = second["skipped"].to_string();
    assert!(skipped.contains("shown in this session already"), "{skipped}");
    let left = |answer: &Value| answer["budget_left"].as_u64().unwrap();
    assert!(left(&first) < 32 * 1024 && left(&second) <= left(&first));
}

/// R2-09.
#[test]
fn usage_of_a_tool_in_use_is_left_out_and_its_gotcha_is_not() {
    let sandbox = project();
    let prompt = "do a release build of the workspace with cargo, which features are on?";
    let answer = recall(&sandbox, &[prompt, "--tool", "cargo"]);
    assert!(names(&answer).contains(&"gotcha-cargo-features".to_owned()), "{answer}");
    assert!(!names(&answer).contains(&"howto-cargo".to_owned()), "{answer}");
}

/// R3-04.
#[test]
fn who_asks_for_a_decision_gets_it() {
    let answer = recall(&project(), &["what did we decide about refreshing tokens?"]);
    assert_eq!(names(&answer)[0], "decision-queue");
}

/// PR-03, PR-04.
#[test]
fn a_file_and_a_failure_bring_their_memories() {
    let sandbox = project();
    let answer = recall(&sandbox, &["go on with this please", "--file", "db/migrate.rs"]);
    assert_eq!(names(&answer), ["feedback-real-database"]);
    let error = "ERROR api: request failed: PoolTimedOut while waiting for an open connection of the pool";
    let answer = recall(&sandbox, &["what is this", "--error", error]);
    assert_eq!(names(&answer)[0], "gotcha-pool-timeout");
}

/// Two memories that say the same in the same words, and the order in which they are found.
fn twins(sandbox: &Sandbox) -> impl Fn(&str) -> Vec<String> + '_ {
    for name in ["project-lamp-1", "project-lamp-2"] {
        let text = "The lighthouse lamp is serviced by the museum in Oslo";
        note(sandbox, name, "project", "", text, "The museum sends somebody each spring.");
    }
    |now: &str| {
        let args = ["search", "--json", "who services the lighthouse lamp?"];
        let answer = sandbox.memdir(&args).at(now).ok().json();
        names(&answer).into_iter().filter(|name| name.starts_with("project-lamp")).collect()
    }
}

/// DS-01, DS-02: what a session reads, edits or names comes first from then on.
#[test]
fn ds_02_a_memory_that_was_used_comes_before_its_twin() {
    for manner in ["read", "edited", "named", "file"] {
        let sandbox = project();
        let order = twins(&sandbox);
        let before = order("2026-04-02T12:00:00Z");
        let [first, second] = &before[..] else { panic!("{before:?}") };
        let run = |args: &[&str]| sandbox.memdir(args).run();
        let path = sandbox.memory(second);
        match manner {
            "read" => drop(run(&["show", second, "--session", "s1"])),
            "edited" => drop(run(&["edit", second, "--set", "confidence=high", "--session", "s1"])),
            "named" => {
                run(&["recall", "who services the lighthouse lamp in the museum?", "--session", "s1"]);
                run(&["recall", &format!("do as {second} says"), "--session", "s1"]);
            }
            _ => drop(run(&["recall", "go on", "--file", path.to_str().unwrap(), "--session", "s1"])),
        }
        assert_eq!(order("2026-04-02T12:00:00Z"), [second.clone(), first.clone()], "{manner}");
    }
}

/// DS-02: shown five times and never used, a memory comes after its twin and is still found.
#[test]
fn ds_02_a_memory_that_was_shown_in_vain_comes_after_its_twin() {
    let sandbox = project();
    let order = twins(&sandbox);
    // Both are shown to five sessions, and each of these makes use of the second.
    for n in 0..5 {
        let session = format!("s{n}");
        let answer = recall(&sandbox, &["who services the lighthouse lamp?", "--session", &session]);
        assert_eq!(names(&answer).len(), 2, "{answer}");
        sandbox.memdir(&["show", "project-lamp-2", "--session", &session]).ok();
    }
    assert_eq!(order("2026-06-02T12:00:00Z"), ["project-lamp-2", "project-lamp-1"]);
    let strength = |name: &str| {
        let rows = sandbox.memdir(&["list", "--json"]).at("2026-06-02T12:00:00Z").ok().json();
        let row = rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
        row["strength"].as_f64().unwrap()
    };
    assert!(strength("project-lamp-1") < 0.1 && strength("project-lamp-2") > 0.3);
}

/// R2-11.
#[test]
fn r2_11_what_a_session_has_read_is_not_shown_to_it() {
    let sandbox = project();
    let prompt = "what did we decide about refreshing tokens?";
    sandbox.memdir(&["show", "decision-queue", "--session", "s1"]).ok();
    let answer = recall(&sandbox, &[prompt, "--session", "s1"]);
    assert!(!names(&answer).contains(&"decision-queue".to_owned()), "{answer}");
    assert!(answer["skipped"].to_string().contains("read in this session already"), "{answer}");
    assert_eq!(names(&recall(&sandbox, &[prompt, "--session", "s2"]))[0], "decision-queue");
}

/// PR-05.
#[test]
fn a_day_that_comes_near_is_told_when_somebody_asks_what_to_do() {
    let sandbox = project();
    let ask = |now: &str| {
        let answer =
            sandbox.memdir(&["recall", "--json", "what should i do first today?"]).at(now).run().json();
        names(&answer)
    };
    assert!(ask("2026-04-03T09:00:00Z").contains(&"project-merge-freeze".to_owned()));
    assert_eq!(ask("2026-02-03T09:00:00Z"), [""; 0]);
}

/// PR-01: without any prompt the branch and the coming day bring the freeze, and each says so.
#[test]
fn pr_01_the_freeze_comes_up_on_its_branch_before_its_day() {
    let sandbox = project();
    let args = ["recall", "--json", "--branch", "mobile-release"];
    let answer = sandbox.memdir(&args).at("2026-04-03T09:00:00Z").ok().json();
    assert_eq!(names(&answer), ["project-merge-freeze"]);
    let kinds: Vec<&str> = answer["hits"][0]["triggers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trigger| trigger["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["branch", "day"]);
    let shown =
        sandbox.memdir(&["recall", "--branch", "mobile-release"]).at("2026-04-03T09:00:00Z").ok().stdout;
    assert!(shown.contains("because the branch is `mobile-release`"), "{shown}");
}

/// PR-02: what called a memory up is recorded with it.
#[test]
fn pr_02_the_signals_of_a_turn_are_recorded() {
    let sandbox = project();
    let args = ["recall", "go on with this please", "--file", "db/migrate.rs", "--session", "s1"];
    sandbox.memdir(&args).ok();
    let state = sandbox.state_tree();
    let ledger = state.paths().find(|path| path.contains("/ledger/usage-")).unwrap();
    let line = String::from_utf8(state.get(ledger).unwrap().to_vec()).unwrap();
    assert!(
        line.contains(r#""mem":"feedback-real-database""#) && line.contains(r#""signals":["file"]"#),
        "{line}"
    );
}

/// PR-06: what comes up by itself is shown once a session and counts against its budget.
#[test]
fn pr_06_ambient_reminders_share_ledger_and_budget() {
    let sandbox = project();
    let by_file = ["go on with this please", "--file", "db/migrate.rs", "--session", "s1"];
    let first = recall(&sandbox, &by_file);
    assert_eq!(names(&first), ["feedback-real-database"]);
    assert!(first["budget_left"].as_u64().unwrap() < 32 * 1024);
    let prompt = "do the integration tests use a real database or mocks?";
    let second = recall(&sandbox, &[prompt, "--session", "s1"]);
    assert!(!names(&second).contains(&"feedback-real-database".to_owned()), "{second}");
    assert_eq!(names(&recall(&sandbox, &by_file)), [""; 0]);
}

/// R2-02: a ranker that stalls brings nothing, no error, and is not waited for.
#[test]
fn r2_02_when_the_time_is_over_the_answer_is_nothing_and_no_error() {
    let sandbox = project();
    recall(&sandbox, &["warm up the index please"]);
    note(&sandbox, "project-new", "project", "", "A new memory", "It makes the index out of date.");
    // Somebody holds the lock that bringing the index up to date needs.
    let lock = fs::File::options().append(true).open(index_dir(&sandbox).join("lock")).unwrap();
    lock.lock().unwrap();
    let prompt = "do the integration tests use a real database or mocks?";
    let start = std::time::Instant::now();
    let output = sandbox.memdir(&["recall", prompt, "--deadline", "150", "--session", "s1"]).code(1);
    assert!(
        start.elapsed() < std::time::Duration::from_secs(4),
        "the lock is waited for up to 5 s: {output}"
    );
    assert_eq!((output.stdout.as_str(), output.stderr.contains("error")), ("", false), "{output}");
    let answer = recall(&sandbox, &[prompt, "--deadline", "150", "--session", "s1"]);
    assert_eq!((&answer["late"], &answer["abstained"]), (&true.into(), &true.into()));
    drop(lock);
    // What was not shown was not noted: it is shown now.
    let answer = recall(&sandbox, &[prompt, "--deadline", "60000", "--session", "s1"]);
    assert_eq!((names(&answer)[0].as_str(), &answer["late"]), ("feedback-real-database", &false.into()));
}

/// R1-07: what one session saved, the next one is told.
#[test]
fn r1_07_a_new_session_knows_the_decisions_of_the_one_before() {
    let sandbox = project();
    let text = "The tide gauge is read every six hours, because the old one drifts";
    let args = ["save", "project-tide-gauge", "--type", "project", "--description", text, "--body", text];
    sandbox.memdir(&[&args[..], &["--session", "monday"]].concat()).ok();
    let answer = recall(&sandbox, &["how often is the tide gauge read?", "--session", "tuesday"]);
    assert_eq!(names(&answer)[0], "project-tide-gauge");
}

/// R2-10, R2-15: only what is shown is read in full, with an index that is up to date.
#[test]
fn r2_10_only_the_files_that_are_shown_are_opened() {
    let sandbox = project();
    let prompt = "do the integration tests use a real database or mocks?";
    // What was written a moment ago may be written again within the same tick of the clock, and is looked at twice.
    std::thread::sleep(std::time::Duration::from_millis(200));
    recall(&sandbox, &[prompt]);
    let (output, trace) = sandbox.memdir(&["recall", "--json", prompt]).traced("openat,openat2");
    let shown = names(&output.json());
    assert!(output.json()["considered"].as_u64().unwrap() > shown.len() as u64, "{output}");
    let opened: Vec<String> = trace
        .named(&["openat", "openat2"])
        .filter(|call| call.succeeded())
        .filter_map(|call| call.path().file_stem()?.to_str().map(str::to_owned))
        .filter(|stem| sandbox.memory(stem).exists())
        .collect();
    assert!(!opened.is_empty() && opened.iter().all(|stem| shown.contains(stem)), "{opened:?} {shown:?}");
}

/// AS-01, AS-05: what a note wants to be read with it comes along, with the way that led to it, and only then.
#[test]
fn as_01_a_linked_memory_comes_along_with_its_path() {
    let sandbox = project();
    let body = "The invoice export writes one spreadsheet per hospital. See [[gotcha-clock-drift]].";
    note(&sandbox, "decision-invoice-export", "project", "", "Invoices are exported as spreadsheets", body);
    let body = "Terminals run up to ninety seconds ahead.";
    note(
        &sandbox,
        "gotcha-clock-drift",
        "project",
        "  kind: gotcha\n",
        "Ward terminals are ahead of time",
        body,
    );
    let answer = recall(&sandbox, &["write the invoice export for a new hospital, as a spreadsheet"]);
    assert_eq!(names(&answer), ["decision-invoice-export", "gotcha-clock-drift"], "{answer:#}");
    assert_eq!(answer["hits"][1]["via"], json!(["decision-invoice-export"]));
    let asked = recall(&sandbox, &["what did we decide about the invoice export?"]);
    assert_eq!(
        names(&asked),
        ["decision-invoice-export"],
        "who asks for the past gets the answer: {asked:#}"
    );
}

/// AS-02, AS-03: ties by what both speak of, by session, and by being used together, which grow with use.
#[test]
fn as_02_links_lists_kind_and_weight_of_each_tie() {
    let sandbox = project();
    let prompt =
        "do the integration tests use a real database, and which ports do the compose services have?";
    let weight = || {
        let rows = sandbox.memdir(&["links", "feedback-real-database"]).json();
        let rows = rows.as_array().unwrap().clone();
        let ports = |kind: &str| {
            let row = rows.iter().find(|row| row["name"] == "project-compose-ports" && row["kind"] == kind);
            row.map_or(0.0, |row| row["weight"].as_f64().unwrap())
        };
        assert_eq!(ports("wiki"), 1.0);
        assert!((0.05..1.0).contains(&ports("entity")), "both speak of Postgres");
        ports("co_recall")
    };
    assert_eq!(weight(), 0.0);
    for session in ["s1", "s2"] {
        let before = weight();
        recall(&sandbox, &[prompt, "--session", session]);
        for name in ["feedback-real-database", "project-compose-ports"] {
            sandbox.memdir(&["show", name, "--session", session]).ok();
        }
        assert!(weight() > before, "{session}");
    }
}

/// DS-05, format 10 (5).
#[test]
fn ds_05_a_hundred_recalls_leave_every_file_of_the_vault_untouched() {
    let sandbox = project();
    let before = sandbox.vault_tree();
    for n in 0..100 {
        recall(&sandbox, &["do the tests use a real database?", "--session", &format!("s{n}")]);
    }
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
}

/// K9: no watcher is relied on; a change by any program is seen by the very next question.
#[test]
fn k9_what_another_program_wrote_is_found_at_once() {
    let sandbox = project();
    recall(&sandbox, &["warm up the index please"]);
    note(
        &sandbox,
        "project-zeppelin",
        "project",
        "",
        "The zeppelin simulator needs helium tables",
        "Tables are in the share `lift`.",
    );
    let answer = recall(&sandbox, &["where are the helium tables of the zeppelin simulator?"]);
    assert_eq!(names(&answer), ["project-zeppelin"]);
    let text = sandbox.read("project-zeppelin").replace("helium", "hydrogen");
    sandbox.write("project-zeppelin.md", text);
    let answer = recall(&sandbox, &["where are the hydrogen tables of the zeppelin simulator?"]);
    assert_eq!(names(&answer), ["project-zeppelin"]);
    fs::remove_file(sandbox.memory("project-zeppelin")).unwrap();
    let answer = recall(&sandbox, &["where are the hydrogen tables of the zeppelin simulator?"]);
    assert!(!names(&answer).contains(&"project-zeppelin".to_owned()));
}

/// C6, ST-07: bytes flipped, cut off and deleted; no answer changes.
#[test]
fn c6_a_torn_index_is_built_anew_says_so_once_and_changes_no_answer() {
    let sandbox = project();
    let query = ["search", "--json", "real database tests"];
    let expected = sandbox.memdir(&query).ok().json();
    let dir = index_dir(&sandbox);
    // A rebuild gives its files new names, so they are known by what they are.
    let kind = |file: &Path| file.extension().or(file.file_name()).unwrap().to_owned();
    let files = || fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    let present = |wanted: &OsString| files().find(|file| kind(file) == *wanted);
    let kinds: BTreeSet<OsString> = files().map(|file| kind(&file)).collect();
    let tearable: Vec<_> = kinds.iter().filter(|kind| *kind != "lock" && *kind != "json").collect();
    assert!(tearable.len() >= 3, "{kinds:?}");
    let mut n_rebuilt = 0;
    for kind in &tearable {
        let len = fs::metadata(present(kind).unwrap()).unwrap().len().min(4096);
        for at in (0..usize::try_from(len).unwrap()).step_by(97) {
            let Some(file) = present(kind) else { continue };
            let mut torn = fs::read(&file).unwrap();
            let Some(last) = torn.len().checked_sub(1) else { continue };
            torn[at.min(last)] ^= 0x20;
            fs::write(&file, torn).unwrap();
            let output = sandbox.memdir(&query).ok();
            assert_eq!(output.json(), expected, "byte {at} of {}", file.display());
            n_rebuilt += usize::from(output.stderr.contains("built anew"));
            let output = sandbox.memdir(&query).ok();
            assert!(!output.stderr.contains("built anew"), "said twice: {output}");
        }
    }
    for n in 0..repeat(8) {
        let Some(file) = present(tearable[n % tearable.len()]) else { continue };
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..bytes.len() * n / 64]).unwrap();
        let output = sandbox.memdir(&query).ok();
        assert_eq!(output.json(), expected, "{} cut at {n}/64", file.display());
    }
    assert!(n_rebuilt > 0);
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(sandbox.memdir(&query).ok().json(), expected);
    sandbox.memdir(&["index", "rebuild"]).ok();
    assert_eq!(sandbox.memdir(&query).ok().json(), expected);
}

/// C6.
#[test]
fn c6_twenty_processes_that_meet_a_broken_index_start_one_rebuild() {
    let sandbox = project();
    let query = ["search", "--json", "real database tests"];
    let expected = sandbox.memdir(&query).ok().json();
    fs::write(index_dir(&sandbox).join("head"), "nonsense").unwrap();
    let running: Vec<_> = (0..20).map(|_| sandbox.memdir(&query).spawn()).collect();
    let outputs: Vec<_> = running.into_iter().map(memdir_testkit::Running::wait).collect();
    let n_said = outputs.iter().filter(|output| output.stderr.contains("built anew")).count();
    assert!(outputs.iter().all(|output| output.json() == expected));
    assert_eq!(n_said, 1);
}

/// K8: a hundred processes search while four write.
#[test]
fn k8_readers_and_writers_of_the_index_do_not_hinder_each_other() {
    let sandbox = project();
    let words = ["database", "latency", "tokens", "ports"];
    let outputs = storm(8, repeat(13).max(4), |worker, turn| {
        if worker >= 4 {
            return sandbox.memdir(&["search", "--json", words[turn % 4]]).run();
        }
        let name = format!("project-part-{worker}-{turn}");
        let text = format!("Part {turn} of the hydrofoil plan of {}", prose(100 * worker + turn));
        let args = ["save", &name, "--type", "project", "--description", &text[..60], "--body", &text];
        sandbox.memdir(&[&args[..], &["--force", "a test"]].concat()).run()
    });
    assert_all_ok(&outputs);
    let n_saved = sandbox.vault_tree().paths().filter(|path| path.starts_with("project-part-")).count();
    let args = ["search", "--json", "--limit", "100", "hydrofoil"];
    let found = names(&sandbox.memdir(&args).ok().json());
    let found = found.iter().filter(|name| name.starts_with("project-part-")).count();
    assert_eq!(found, n_saved.min(50), "as many as one vault gives");
}

/// K9: five thousand files in one burst; the next search sees all of them.
#[test]
fn k9_after_a_burst_of_files_the_next_search_sees_all() {
    let sandbox = project();
    recall(&sandbox, &["warm up the index please"]);
    let n_files = 5_000;
    // A word of its own for each: digits as letters.
    let word = |n: usize| -> String {
        let letter = |digit: u8| char::from(b'a' + (digit - b'0'));
        format!("qu{}z", n.to_string().bytes().map(letter).collect::<String>())
    };
    for n in 0..n_files {
        let text = memory_file(&format!("burst-{n}"), "A sack", &format!("Sack {} of the burst.", word(n)));
        sandbox.write(&format!("burst-{n}.md"), text);
    }
    for n in [0, 1, n_files / 2, n_files - 1] {
        let answer = sandbox.memdir(&["search", "--json", &word(n)]).ok().json();
        assert_eq!(names(&answer)[0], format!("burst-{n}"));
    }
    let status = sandbox.memdir(&["index", "status"]).json();
    assert!(status.to_string().contains(&(n_files + 9).to_string()), "{status}");
}

/// L10: sessions that start at once on a cold index wait for one build.
#[test]
fn l10_fifty_sessions_at_once_on_a_cold_index_make_one_build() {
    let sandbox = project();
    for n in 0..120 {
        let text = memory_file(&format!("ballast-{n}"), &format!("\"Ballast {n}\""), &prose(n));
        sandbox.write(&format!("ballast-{n}.md"), text);
    }
    let prompt = "do the integration tests use a real database or mocks?";
    let running: Vec<_> = (0..50)
        .map(|n| sandbox.memdir(&["recall", "--json", prompt, "--session", &format!("s{n}")]).spawn())
        .collect();
    // The head of an index is replaced whenever it is built: whoever sees another file saw a second build.
    let head = || {
        let found = fs::read_dir(sandbox.state().join("index")).ok()?.flatten();
        let dir = found
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|end| end == "notes"))?;
        Some(std::os::unix::fs::MetadataExt::ino(&fs::metadata(dir.join("head")).ok()?))
    };
    let first = std::iter::repeat_with(|| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        head()
    });
    let first = first.take(60_000).flatten().next();
    for session in running {
        let output = session.wait();
        assert!(output.is_ok(), "{output}");
        assert_eq!(names(&output.json())[0], "feedback-real-database");
    }
    assert_eq!((head(), first.is_some()), (first, true));
}

/// UX-23.
#[test]
fn ux_23_why_names_the_parts_the_floor_the_signals_and_the_use() {
    let sandbox = project();
    let query = "do the integration tests use a real database or mocks?";
    let answer = sandbox.memdir(&["why", "feedback-real-database", "--query", query, "--json"]).ok().json();
    assert_eq!(answer["shown"], true);
    assert!(
        answer["parts"]["words_at_all"]["counts"].as_f64().unwrap() != 0.0
            && answer["floor"].as_f64().unwrap() > 0.0
    );
    let output = sandbox.memdir(&["why", "feedback-real-database", "--query", query]).ok();
    assert!(output.stdout.contains("probability") && output.stdout.contains("floor"), "{output}");
    // What called it up, and what became of it.
    recall(&sandbox, &[query, "--session", "s1"]);
    sandbox.memdir(&["show", "feedback-real-database", "--session", "s1"]).ok();
    let args = ["why", "feedback-real-database", "--query", query, "--file", "db/migrate.rs", "--json"];
    let answer = sandbox.memdir(&args).ok().json();
    assert_eq!(answer["triggers"][0]["kind"], "file");
    assert_eq!((&answer["usage"]["surfaced"], &answer["usage"]["used"]), (&1.into(), &1.into()));
}

/// IS-04, S6: forty payloads, in body, description and name, through the recall outlet.
#[test]
fn s6_no_payload_of_a_memory_leaves_its_frame() {
    let sandbox = project();
    let payloads = memdir_testkit::payloads();
    assert!(payloads.len() >= 40);
    let prompt = "which zebra crossing rules does the traffic simulator follow?";
    for payload in &payloads {
        let about = format!("Zebra crossing rules of the traffic simulator {payload}");
        let body = format!("Zebras cross first.\n\n{payload}\nzebra crossing rules\n{payload}{payload}");
        note(&sandbox, "project-zebra", "project", "", &about, &body);
        let before = sandbox.read("project-zebra");
        let text = sandbox.memdir(&["recall", prompt]).ok().stdout;
        for frame in ["<system-reminder>", "</system-reminder>", "[memdir ", "[/memdir "] {
            assert_eq!(text.matches(frame).count(), 1, "{frame} in {text}");
        }
        let inner = text.trim_start_matches("<system-reminder>").replace("</system-reminder>\n", "");
        let plain = inner.to_lowercase().replace(['\u{200b}', ' '], "");
        assert!(plain.contains("zebrascrossfirst"), "the payload is inside: {text}");
        let forms = ["<system", "</system", "<user", "</user", "<assistant", "<human", "</human", "<invoke"];
        let lines = ["</function", "&lt;/system", "&lt;/user", "\nhuman:", "\nassistant:"];
        for form in forms.iter().chain(&lines) {
            assert!(!plain.contains(form), "{form} in {text}");
        }
        assert_eq!(sandbox.read("project-zebra"), before, "the file is as it was");
    }
}

/// MH-05, SL-08.
#[test]
fn what_lies_idle_is_listed_over_all_projects_by_days() {
    let sandbox = project();
    let idle = |days: &str, now: &str| -> Vec<String> {
        let rows = sandbox.memdir(&["stale", days, "--json"]).at(now).run().json();
        rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(idle("14", "2026-04-04T10:00:00Z").len(), 9);
    assert_eq!(idle("30", "2026-04-04T10:00:00Z"), [""; 0]);
    sandbox.memdir(&["stale", "30"]).at("2026-04-04T10:00:00Z").code(1);
}

/// IS-02, CP-03.
#[test]
fn another_projects_memories_are_found_only_when_asked_for() {
    let sandbox = sandbox();
    let other = sandbox.root().join("other");
    fs::create_dir(&other).unwrap();
    let save = |cwd: &std::path::Path, name: &str, text: &str| {
        sandbox
            .memdir(&["save", name, "--type", "project", "--description", text, "--body", text])
            .without_env("MEMDIR_VAULT")
            .cwd(cwd)
            .ok();
    };
    save(&sandbox.project(), "project-here", "The lighthouse keeper signs the tide tables");
    save(&other, "project-there", "The lighthouse lamp comes from a museum in Oslo");
    let ask = |args: &[&str]| names(&sandbox.memdir(args).without_env("MEMDIR_VAULT").run().json());
    assert_eq!(ask(&["search", "--json", "lighthouse"]), ["project-here"]);
    assert!(
        !ask(&["recall", "--json", "where does the lighthouse lamp come from?"])
            .contains(&"project-there".to_owned())
    );
    assert!(ask(&["search", "--json", "--all", "lighthouse"]).contains(&"project-there".to_owned()));
}

/// AS-04, R2-08: the judging half of the labelled suite, which no weight was fitted to.
#[test]
fn the_suite_keeps_its_figures() {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recall/judge");
    let figures = sandbox()
        .memdir(&["bench", "recall", "--json", "--suite", suite])
        .at("2026-04-10T09:00:00Z")
        .ok()
        .json();
    let figure = |name: &str| figures[name].as_f64().unwrap();
    assert!(figure("mean_hit") >= 0.72, "{figures}");
    assert!(figure("precision") >= 0.85, "{figures}");
    assert!(figure("false_alarms") <= 0.05, "{figures}");
    assert!(figures["silent"].as_u64().unwrap() >= 150, "{figures}");
}
