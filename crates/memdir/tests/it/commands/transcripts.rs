//! `grep` and `backfill` over session files as Claude Code, Codex and Gemini CLI write them.
//!
//! The files are made here, line by line in the shapes that the real clients were seen to write.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use expect_test::expect;
use memdir_testkit::{Invocation, Sandbox, Tree};
use serde_json::{Value, json};

use super::transcript;
use crate::setup::sandbox;

/// What no transcript of a test comes near to, and a process that loads 50 MB cannot do with.
const LITTLE_MEMORY: &str = "--data=40000000";

fn project(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().canonicalize().unwrap()
}

/// The folder in which Claude Code keeps the sessions of the project.
fn claude_folder(sandbox: &Sandbox) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = project(sandbox).to_str().unwrap().chars().map(plain).collect();
    let folder = sandbox.home().join(".claude/projects").join(slug);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A line of Claude Code.
fn claude(sandbox: &Sandbox, session: &str, n: usize, role: &str, content: Value) -> Value {
    let at = format!("2026-04-01T{:02}:{:02}:{:02}.000Z", 8 + n / 3600 % 12, n / 60 % 60, n % 60);
    json!({
        "parentUuid": null, "isSidechain": false, "type": role, "message": { "role": role, "content": content },
        "uuid": format!("{session}-{n}"), "timestamp": at, "userType": "external", "entrypoint": "cli",
        "cwd": project(sandbox), "sessionId": session, "version": "2.1.325", "gitBranch": "main",
    })
}

/// Writes a session in which the user says each of these texts and is answered.
fn write_claude(sandbox: &Sandbox, session: &str, texts: &[&str]) -> PathBuf {
    let path = claude_folder(sandbox).join(format!("{session}.jsonl"));
    let mut lines = String::new();
    for (n, text) in texts.iter().enumerate() {
        lines += &format!("{}\n", claude(sandbox, session, 2 * n, "user", json!(text)));
        let answer = json!([{ "type": "text", "text": format!("answer {n}") }]);
        lines += &format!("{}\n", claude(sandbox, session, 2 * n + 1, "assistant", answer));
    }
    fs::write(&path, lines).unwrap();
    path
}

fn write(path: PathBuf, lines: &[Value]) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    path
}

fn write_codex(sandbox: &Sandbox, session: &str, text: &str) -> PathBuf {
    let line = |kind: &str, payload: Value| json!({ "timestamp": "2026-04-02T09:00:00.000Z", "type": kind, "payload": payload });
    let message = |id: &str, role: &str, kind: &str, text: &str| {
        let content = json!([{ "type": kind, "text": text }]);
        line("response_item", json!({ "type": "message", "id": id, "role": role, "content": content }))
    };
    let lines = [
        line(
            "session_meta",
            json!({ "id": session, "cwd": project(sandbox), "cli_version": "0.166.0", "source": "exec" }),
        ),
        message("m0", "developer", "input_text", "You are a coding agent"),
        message("m1", "user", "input_text", &format!("<environment_context>\n  <cwd>{text}</cwd>")),
        message("m2", "user", "input_text", text),
        line("event_msg", json!({ "type": "user_message", "message": text })),
        message("m3", "assistant", "output_text", "Codex did it."),
    ];
    let name = format!(".codex/sessions/2026/04/02/rollout-2026-04-02T09-00-00-{session}.jsonl");
    write(sandbox.home().join(name), &lines)
}

fn write_gemini(sandbox: &Sandbox, session: &str, text: &str) -> PathBuf {
    let folder = sandbox.home().join(".gemini/tmp/project");
    let at = "2026-04-02T10:00:00.000Z";
    let lines = [
        json!({ "sessionId": session, "projectHash": "17782c8d", "startTime": at, "lastUpdated": at, "kind": "main" }),
        json!({ "$set": { "messages": [{ "id": "g0", "timestamp": at, "type": "user",
            "content": [{ "text": format!("<session_context>{text}</session_context>") }] }] } }),
        json!({ "id": "g1", "timestamp": at, "type": "user", "content": [{ "text": text }] }),
        json!({ "$set": { "lastUpdated": at } }),
        json!({ "id": "g2", "timestamp": at, "type": "gemini", "content": "Gemini did it.", "thoughts": [] }),
    ];
    let path = write(folder.join(format!("chats/session-2026-04-02T10-00-{session}.jsonl")), &lines);
    fs::write(folder.join(".project_root"), project(sandbox).to_str().unwrap()).unwrap();
    path
}

/// Sets when a file was last written, in hours after some moment.
fn touch(path: &Path, hours: u64) {
    let at = UNIX_EPOCH + Duration::from_secs(1_775_000_000 + hours * 3_600);
    File::open(path).unwrap().set_modified(at).unwrap();
}

fn agree(sandbox: &Sandbox, more: &str) {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(sandbox.state()).unwrap();
    fs::write(sandbox.state().join("config.toml"), format!("[transcripts]\nkeep = true\n{more}")).unwrap();
}

/// The copies that were kept, by name.
fn kept(sandbox: &Sandbox) -> Tree {
    let state = sandbox.state_tree();
    let copies: Vec<String> =
        state.paths().filter(|path| path.ends_with("/transcripts/")).map(str::to_owned).collect();
    match copies.as_slice() {
        [] => Tree::default(),
        [one] => Tree::of(&sandbox.state().join(one)),
        many => panic!("{many:?}"),
    }
}

/// How much was kept so far.
fn kept_bytes(sandbox: &Sandbox) -> u64 {
    let entries =
        |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let copies =
        entries(sandbox.state().join("projects")).flat_map(|state| entries(state.join("transcripts")));
    copies.filter_map(|copy| Some(copy.metadata().ok()?.len())).sum()
}

/// The texts of all hits, a window each, joined by `|`.
fn texts(answer: &Value) -> Vec<String> {
    let text = |turn: &Value| turn["text"].as_str().unwrap().to_owned();
    let window =
        |hit: &Value| hit["turns"].as_array().unwrap().iter().map(text).collect::<Vec<_>>().join("|");
    answer["hits"].as_array().unwrap().iter().map(window).collect()
}

#[test]
fn grep_shows_what_stands_around_the_hits_of_every_agent_the_newest_first() {
    let sandbox = sandbox();
    write_claude(&sandbox, "c1", &["first", "We use the queue for refresh.\nAlways.", "last"]);
    write_codex(&sandbox, "x1", "why the queue?");
    write_gemini(&sandbox, "g1", "is the queue full?");
    expect![[r#"
        gemini g1, 30 minutes ago
        > user       is the queue full?
          assistant  Gemini did it.

        codex x1, 1 hour ago
        > user       why the queue?
          assistant  Codex did it.

        claude-code c1, 1 day ago
          assistant  answer 0
        > user       We use the queue for refresh.
        >            Always.
          assistant  answer 1
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&["grep", "the queue"])));
}

#[test]
fn grep_has_flags_for_case_expressions_roles_sessions_and_limits() {
    let sandbox = sandbox();
    touch(&write_claude(&sandbox, "c1", &["Port 5432", "port 6543", "and answer 42"]), 1);
    touch(&write_claude(&sandbox, "d2", &["port 7654"]), 2);
    let grep = |args: &[&str]| texts(&sandbox.memdir(&["grep", "-C", "0"]).args(args).json());
    assert_eq!(grep(&["port"]).len(), 3);
    assert_eq!(grep(&["Port"]), ["Port 5432"]);
    assert_eq!(grep(&["-i", "PORT"]).len(), 3);
    assert_eq!(grep(&["-s", "port"]).len(), 2);
    assert_eq!(grep(&["-e", r"port [5-6]\d+$"]), ["port 6543", "Port 5432"]);
    assert_eq!(grep(&["--role", "user", "answer"]), ["and answer 42"]);
    assert_eq!(grep(&["--session", "d", "port"]), ["port 7654"]);
    assert_eq!(grep(&["-n", "1", "port"]), ["port 7654"]);
    assert_eq!(grep(&["--bytes", "4", "port"]), ["port"]);
}

#[test]
fn grep_says_when_nothing_is_found_or_the_pattern_is_none() {
    let sandbox = sandbox();
    write_claude(&sandbox, "c1", &["a"]);
    expect![[r#"
        --- stderr
        nothing found in 1 session
        --- exit code 1
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&["grep", "zebra"])));
    expect![[r#"
        --- stderr
        error: the pattern cannot be used: unclosed group

        hint: without `--regex` it is taken as it is written
        --- exit code 2
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&["grep", "-e", "a(b"])));
}

#[test]
fn grep_answers_programs_with_stable_keys() {
    let sandbox = sandbox();
    let path = write_claude(&sandbox, "c1", &["the queue"]);
    let answer = sandbox.memdir(&["grep", "queue"]).json();
    let expected = json!({
        "hits": [{ "session": "c1", "agent": "claude-code", "at": "2026-04-01T08:00:00Z", "kept": false,
            "path": path.canonicalize().unwrap(),
            "turns": [
                { "id": "c1-0", "at": "2026-04-01T08:00:00Z", "role": "user", "text": "the queue", "match": true },
                { "id": "c1-1", "at": "2026-04-01T08:00:01Z", "role": "assistant", "text": "answer 0", "match": false },
            ] }],
        "truncated": false, "sessions": 1, "unreadable_lines": 0,
    });
    assert_eq!(answer, expected);
    let off = sandbox.memdir(&["grep", "queue"]).env("MEMDIR_OFF", "1").json();
    assert_eq!(off, json!({ "hits": [], "truncated": false }));
}

/// Writes a session of at least `size` bytes with something to find in the middle.
fn write_large(sandbox: &Sandbox, session: &str, size: u64) -> PathBuf {
    let path = claude_folder(sandbox).join(format!("{session}.jsonl"));
    let mut file = BufWriter::new(File::create(&path).unwrap());
    let output = "a line of output that nobody asked for\n".repeat(500);
    let (mut written, mut n, mut is_said) = (0, 0, false);
    while written < size {
        let content = if !is_said && written > size / 2 {
            is_said = true;
            json!("the needle is in the middle")
        } else {
            json!([{ "type": "tool_result", "tool_use_id": "t", "content": output }])
        };
        let line = claude(sandbox, session, n, "user", content).to_string();
        writeln!(file, "{line}").unwrap();
        written += line.len() as u64 + 1;
        n += 1;
    }
    file.flush().unwrap();
    path
}

/// Runs with less memory than any of the large files here has.
fn with_little_memory(invocation: Invocation) -> Invocation {
    invocation.under(&["prlimit", LITTLE_MEMORY])
}

#[test]
fn tr_01_a_transcript_of_50_mb_gives_a_window_and_is_not_loaded() {
    let sandbox = sandbox();
    let path = write_large(&sandbox, "large", 50_000_000);
    assert!(path.metadata().unwrap().len() >= 50_000_000);
    let output = with_little_memory(sandbox.memdir(&["grep", "the needle", "--json"])).ok();
    assert!(output.stdout.len() < 3_000, "{}", output.stdout.len());
    assert_eq!(texts(&output.json()).len(), 1);
    // Every turn matches: the answer is capped all the same, and says so.
    let output = with_little_memory(sandbox.memdir(&["grep", "output", "--bytes", "5000", "--json"])).ok();
    let answer = output.json();
    assert!(texts(&answer).iter().map(String::len).sum::<usize>() <= 5_000);
    assert_eq!(answer["truncated"], true);

    agree(&sandbox, "");
    let output = with_little_memory(sandbox.memdir(&["backfill", "--json"])).ok();
    assert_eq!(output.json()["unreadable_lines"], 0, "{output}");
    fs::remove_file(path).unwrap();
    let output = with_little_memory(sandbox.memdir(&["grep", "the needle", "--json"])).ok();
    assert_eq!(output.json()["hits"][0]["kept"], true);
}

#[test]
fn tr_01_a_line_without_end_is_read_past() {
    let sandbox = sandbox();
    let path = write_claude(&sandbox, "c1", &["before it"]);
    let mut file = File::options().write(true).open(&path).unwrap();
    // A hole takes no room on the disk and has no line break.
    file.seek(SeekFrom::Start(300_000_000)).unwrap();
    writeln!(file, "\n{}", claude(&sandbox, "c1", 9, "user", json!("behind it"))).unwrap();
    drop(file);
    let output = with_little_memory(sandbox.memdir(&["grep", "it", "-C", "0", "--json"])).ok();
    assert_eq!(texts(&output.json()), ["behind it", "before it"]);
    assert_eq!(output.json()["unreadable_lines"], 1);
}

#[test]
fn tr_02_unknown_and_corrupt_lines_are_skipped() {
    let sandbox = sandbox();
    let path = write_claude(&sandbox, "c1", &["the marker one"]);
    let good = fs::read(&path).unwrap();
    let mut bytes = b"\xff\xfe garbage\n{\n[]\nnull\n{\"type\":\"user\"}\n\n".to_vec();
    bytes.extend_from_slice(
        b"{\"type\":\"kind-of-tomorrow\",\"sessionId\":\"c1\",\"marker\":\"the marker\"}\n",
    );
    bytes.extend_from_slice(&good);
    bytes.extend_from_slice(&good[..good.len() / 3]);
    bytes.extend_from_slice(b"\n\0\0\0\0\n");
    let half = claude(&sandbox, "c1", 7, "user", json!("@@")).to_string();
    bytes.extend_from_slice(half.replace("@@", "the marker two \\ud83d").as_bytes());
    bytes.extend_from_slice(b"\n{\"type\":\"user\",\"message\":{\"content\":\"the marker th");
    fs::write(&path, bytes).unwrap();
    let answer = sandbox.memdir(&["grep", "the marker", "-C", "0"]).json();
    assert_eq!(texts(&answer), ["the marker two \u{fffd}", "the marker one"]);
    assert_eq!(answer["unreadable_lines"], 6, "{answer}");
}

#[test]
fn tr_02_what_memdir_and_the_host_put_in_is_not_found() {
    let sandbox = sandbox();
    let frame = "Relevant saved memories (hints recorded earlier; the current code wins if they differ) [memdir 7c1e90ab]
[feedback] feedback-x.md — saved 3 days ago
Never mock the zebra.
[/memdir 7c1e90ab]";
    let texts = [
        format!("{frame}\nwhat about the lion?"),
        "<system-reminder>\nthe zebra waits\n</system-reminder>".to_owned(),
        "<task-notification>the lion is done</task-notification>".to_owned(),
    ];
    write_claude(&sandbox, "c1", &texts.each_ref().map(String::as_str));
    sandbox.memdir(&["grep", "zebra"]).code(1);
    let answer = sandbox.memdir(&["grep", "the lion", "-C", "0", "--role", "user"]).json();
    assert_eq!(self::texts(&answer), ["what about the lion?"], "what a program says is not the user's word");
}

#[test]
fn tr_03_a_hundred_sessions_are_kept_once_each() {
    let sandbox = sandbox();
    for n in 0..98 {
        write_claude(&sandbox, &format!("s{n:02}"), &[&format!("session {n} begins"), "and goes on"]);
    }
    write_codex(&sandbox, "x1", "the session of codex");
    write_gemini(&sandbox, "g1", "the session of gemini");
    // A worktree's folder can hold a copy of a session.
    let folder = claude_folder(&sandbox);
    let copy = folder.with_file_name(format!("{}-src", folder.file_name().unwrap().to_str().unwrap()));
    fs::create_dir(&copy).unwrap();
    fs::copy(folder.join("s00.jsonl"), copy.join("s00.jsonl")).unwrap();

    let report = sandbox.memdir(&["backfill", "--keep"]).json();
    assert_eq!(
        (&report["sessions"], &report["new_sessions"], &report["turns"]),
        (&json!(100), &json!(100), &json!(396))
    );
    let tree = kept(&sandbox);
    assert_eq!(tree.paths().count(), 100);
    assert_eq!(tree.containing(b"session 7 begins"), ["s07.jsonl"]);
    assert_eq!(tree.containing(b"the session of codex"), ["x1.jsonl"]);
    assert_eq!(tree.containing(b"the session of gemini"), ["g1.jsonl"]);

    let before = sandbox.state_tree();
    let report = sandbox.memdir(&["backfill", "--keep"]).json();
    assert_eq!(
        (&report["sessions"], &report["new_sessions"], &report["turns"]),
        (&json!(100), &json!(0), &json!(0))
    );
    let changes = before.changes(&sandbox.state_tree());
    assert_eq!(changes.iter().filter(|path| !path.contains("locks/")).count(), 0, "{changes:?}");
}

#[test]
fn tr_03_a_backfill_that_is_killed_goes_on_and_copies_nothing_twice() {
    let fill = |sandbox: &Sandbox| {
        for n in 0..30 {
            let texts: Vec<String> = (0..60).map(|turn| format!("turn {turn} of session {n}")).collect();
            write_claude(sandbox, &format!("s{n:02}"), &texts.iter().map(String::as_str).collect::<Vec<_>>());
        }
        touch(&write_large(sandbox, "large", 20_000_000), 9);
    };
    let whole = sandbox();
    fill(&whole);
    whole.memdir(&["backfill", "--keep"]).ok();

    let killed = sandbox();
    fill(&killed);
    let mut n_kills = 0;
    loop {
        let before = kept_bytes(&killed);
        let mut running = killed.memdir(&["backfill", "--keep"]).spawn();
        // Killed as soon as it has written as much again, in whatever state that is.
        while !running.has_ended() && kept_bytes(&killed) < before + before.max(30_000) {
            std::thread::sleep(Duration::from_millis(1));
        }
        if running.has_ended() {
            assert_eq!(running.wait().code, 0);
            break;
        }
        running.kill();
        running.wait();
        n_kills += 1;
    }
    assert!(n_kills > 0, "it was over before it could be killed");
    killed.memdir(&["backfill", "--keep"]).ok();
    // Paths of the two sandboxes stand in the copies as the sessions' directories.
    let text =
        |sandbox: &Sandbox| format!("{:?}", kept(sandbox)).replace(project(sandbox).to_str().unwrap(), "$P");
    assert!(text(&whole) == text(&killed), "after {n_kills} kills");
}

#[test]
fn tr_03_a_directory_can_be_named_and_its_sessions_are_taken_whatever_their_project() {
    let sandbox = sandbox();
    let other = crate::setup::sandbox();
    let saved = sandbox.root().join("backup/of/claude");
    fs::create_dir_all(&saved).unwrap();
    fs::copy(write_claude(&other, "elsewhere", &["the old machine"]), saved.join("elsewhere.jsonl")).unwrap();
    fs::write(saved.join("package.json"), "{\"name\":\"x\"}").unwrap();
    fs::write(saved.join("rows.jsonl"), "{\"id\":1,\"text\":\"the old machine\"}\n").unwrap();
    let report = sandbox.memdir(&["backfill", "../backup", "--keep"]).json();
    assert_eq!((&report["sessions"], &report["turns"]), (&json!(1), &json!(2)));
    let answer = sandbox.memdir(&["grep", "old machine"]).json();
    assert_eq!(answer["hits"][0]["session"], "elsewhere");
    sandbox.memdir(&["backfill", "../nowhere", "--keep"]).code(2);
}

/// The calls by which a process changes something it can name.
const CHANGING: &str = "openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,\
symlinkat,chmod,fchmod,fchmodat,chown,fchown,fchownat,truncate,ftruncate,utimensat,setxattr,fsetxattr,mknodat,write,pwrite64";

#[test]
fn tr_04_the_files_of_hosts_are_opened_for_reading_only() {
    let sandbox = sandbox();
    write_claude(&sandbox, "c1", &["the queue"]);
    write_codex(&sandbox, "x1", "the queue");
    write_gemini(&sandbox, "g1", "the queue");
    let home = sandbox.home().canonicalize().unwrap();
    let before = Tree::of(&home);
    for args in [&["grep", "queue"][..], &["backfill"], &["backfill", "--keep"], &["backfill", "--remove"]] {
        let (output, trace) = sandbox.memdir(args).traced(CHANGING);
        assert_eq!(output.code, 0, "{output}");
        let is_there = |path: PathBuf| path.starts_with(&home);
        let mut n_read = 0;
        for call in &trace.calls {
            let touches =
                is_there(call.path()) || call.returned_path().is_some_and(|path| is_there(path.into()));
            if !touches {
                continue;
            }
            let is_reading = ["open", "openat"].contains(&call.name.as_str())
                && !["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"]
                    .iter()
                    .any(|flag| call.has_flag(flag));
            assert!(is_reading, "{args:?}: {call:?}");
            n_read += usize::from(call.succeeded());
        }
        assert!(n_read >= 3 || args.contains(&"--remove"), "{args:?} read nothing");
    }
    assert_eq!(before.changes(&Tree::of(&home)), [""; 0]);
}

#[test]
fn ux_25_a_swept_transcript_is_still_found_if_the_user_agreed() {
    let sandbox = sandbox();
    let paths = [
        write_claude(&sandbox, "c1", &["the zebra decision"]),
        write_codex(&sandbox, "x1", "the zebra plan"),
        write_gemini(&sandbox, "g1", "the zebra test"),
    ];
    agree(&sandbox, "");
    sandbox.memdir(&["backfill"]).ok();
    paths.iter().for_each(|path| fs::remove_file(path).unwrap());
    let answer = sandbox.memdir(&["grep", "zebra", "-C", "0"]).json();
    assert_eq!(texts(&answer), ["the zebra test", "the zebra plan", "the zebra decision"]);
    assert!(answer["hits"].as_array().unwrap().iter().all(|hit| hit["kept"] == true));
    let agents: Vec<_> = answer["hits"].as_array().unwrap().iter().map(|hit| hit["agent"].clone()).collect();
    assert_eq!(agents, ["gemini", "codex", "claude-code"]);

    sandbox.memdir(&["backfill", "--remove"]).ok();
    sandbox.memdir(&["grep", "zebra"]).code(1);
    assert_eq!(sandbox.state_tree().containing(b"zebra"), [""; 0]);
}

#[test]
fn ux_25_without_the_users_word_nothing_is_written() {
    let sandbox = sandbox();
    write_claude(&sandbox, "c1", &["a zebra"]);
    expect![[r#"
        1 session found, 1 with something new in 612 bytes
        --- stderr
        nothing was kept: `memdir backfill --keep` keeps copies now, `keep = true` under `[transcripts]` in config.toml always
    "#]]
    .assert_eq(&sized(&transcript(&sandbox, sandbox.memdir(&["backfill"]))));
    assert_eq!(sandbox.state_tree().paths().count(), 0);
    // A repository cannot give it.
    fs::create_dir(sandbox.project().join(".memdir")).unwrap();
    fs::write(sandbox.project().join(".memdir/config.toml"), "[transcripts]\nkeep = true\n").unwrap();
    let output = sandbox.memdir(&["backfill", "--json"]).ok();
    assert_eq!(output.json()["agreed"], false);
    assert!(output.stderr.contains("transcripts.keep"), "{output}");
    assert_eq!(sandbox.state_tree().paths().count(), 0);
}

/// Takes out a number that depends on the length of the sandbox's path.
fn sized(text: &str) -> String {
    let Some((before, rest)) = text.split_once(" new in ") else { return text.to_owned() };
    let (_, after) = rest.split_once(" bytes").unwrap();
    format!("{before} new in 612 bytes{after}")
}

#[test]
fn ux_25_secrets_are_neither_kept_nor_shown() {
    let sandbox = sandbox();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let path = write_claude(&sandbox, "c1", &[&format!("export GITHUB_TOKEN={token} for the zebra")]);
    let shown = sandbox.memdir(&["grep", "zebra"]).ok();
    assert!(shown.stdout.contains("[REDACTED:") && !shown.stdout.contains(&token), "{shown}");
    let shown = sandbox.memdir(&["grep", &token]).ok();
    assert!(!shown.stdout.contains(&token), "{shown}");
    let report = sandbox.memdir(&["backfill", "--keep"]).json();
    assert_eq!(report["redacted"], 1);
    assert_eq!(sandbox.state_tree().containing(token.as_bytes()), [""; 0]);
    fs::remove_file(path).unwrap();
    assert_eq!(texts(&sandbox.memdir(&["grep", "zebra", "-C", "0"]).json()).len(), 1);
}

#[test]
fn ux_25_copies_have_a_size_limit_and_the_oldest_go_first() {
    let sandbox = sandbox();
    agree(&sandbox, "max_mb = 1\n");
    for n in 0..8 {
        let text = format!("zebra {n} {}", "says something rather long ".repeat(2_000));
        let texts = [text.as_str(); 6];
        touch(&write_claude(&sandbox, &format!("s{n}"), &texts), n);
    }
    let report = sandbox.memdir(&["backfill"]).json();
    assert!(report["kept_bytes"].as_u64().unwrap() <= 1_000_000, "{report}");
    let tree = kept(&sandbox);
    assert_eq!(tree.paths().count() + report["dropped"].as_array().unwrap().len(), 8);
    assert!(
        tree.get("s7.jsonl").is_some() && tree.get("s0.jsonl").is_none(),
        "{:?}",
        tree.paths().collect::<Vec<_>>()
    );
    let again = sandbox.memdir(&["backfill"]).json();
    assert_eq!((&again["turns"], &again["dropped"]), (&json!(0), &json!([])));
    assert_eq!(tree.changes(&kept(&sandbox)), [""; 0]);
}

#[test]
fn kept_copies_are_for_their_owner_only() {
    let sandbox = sandbox();
    write_claude(&sandbox, "c1", &["a"]);
    sandbox.memdir(&["backfill", "--keep"]).ok();
    let found: Vec<PathBuf> = fs::read_dir(sandbox.state().join("projects"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("transcripts"))
        .collect();
    let mode = |path: &Path| {
        std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777
    };
    assert_eq!((mode(&found[0]), mode(&found[0].join("c1.jsonl"))), (0o700, 0o600));
}
