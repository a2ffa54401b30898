//! Many sessions at once, and none left behind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use memdir_testkit::Random;
use serde_json::json;

use crate::host::{Era, Host, reader, sandbox, server};

/// Only a process that hangs takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

fn is_there(pid: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

/// Waits until a process is gone.
fn assert_gone(pid: u32) {
    let begun = Instant::now();
    while is_there(pid) {
        assert!(begun.elapsed() < PATIENCE, "process {pid} is still there");
        thread::sleep(Duration::from_millis(20));
    }
    eprintln!("process {pid} was gone after {:?}", begun.elapsed());
}

/// Resident memory of a process, in kilobytes: all of it, and what no other process shares.
fn resident(pid: u32) -> (u64, u64) {
    let sum = |text: &str, name: &str| -> u64 {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name));
        lines.filter_map(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).sum()
    };
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    (sum(&text, "Rss:"), sum(&text, "Private_Clean:") + sum(&text, "Private_Dirty:"))
}

/// UX-18, L1: the server ends when its input does.
#[test]
fn ux_18_the_server_ends_with_its_input() {
    let sandbox = sandbox();
    for era in [Era::Handshake, Era::Stateless] {
        let host = Host::of(server(&sandbox, &[]), era);
        let pid = host.child.id();
        assert_eq!(host.leave(), 0);
        assert!(!is_there(pid));
    }
}

/// UX-18: it also ends when its host is killed and somebody else still holds its input open.
#[test]
fn ux_18_the_server_ends_with_its_host_though_its_input_stays_open() {
    let sandbox = sandbox();
    let program = server(&sandbox, &[]);
    let script =
        format!("exec 3<&0; {} mcp <&3 & echo $! >&2; wait", Path::new(program.get_program()).display());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .env_clear()
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(sandbox.project()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let mut input = shell.stdin.take().unwrap();
    let lines = reader(shell.stdout.take().unwrap());
    let pid: u32 =
        reader(shell.stderr.take().unwrap()).recv_timeout(PATIENCE).unwrap().trim().parse().unwrap();
    let about = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about });
    std::io::Write::write_all(&mut input, format!("{hello}\n").as_bytes()).unwrap();
    lines.recv_timeout(PATIENCE).unwrap();
    assert!(is_there(pid));
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert_gone(pid);
    drop(input);
}

/// L1: no session of a released program holds more, in kilobytes.
const MOST: u64 = 15 * 1024;
/// By so much a session may grow by what it is asked, in kilobytes: whatever an answer takes is another process's.
const GROWTH: u64 = 4 * 1024;
/// No session has more that it shares with nobody, in kilobytes.
const MOST_PRIVATE: u64 = 6 * 1024;

/// Asserts the bounds over what each session held before and after it was asked.
fn assert_small(idle: &[(u64, u64)], worked: &[(u64, u64)]) {
    for (before, after) in idle.iter().zip(worked) {
        assert!(after.0 <= before.0 + GROWTH, "{before:?} grew to {after:?} kB");
        assert!(after.1 <= MOST_PRIVATE, "{after:?} kB");
        // A program that is not optimised has several times the code.
        let is_released = !cfg!(debug_assertions) || std::env::var_os("MEMDIR_TEST_BINARY").is_some();
        assert!(!is_released || after.0 <= MOST, "{after:?} kB");
    }
}

/// L1: a session that was asked for everything is as small as one that was asked for nothing.
#[test]
fn l1_a_session_stays_small_whatever_it_is_asked() {
    let sandbox = sandbox();
    sandbox.save("project-queue", "The queue is kept in shard 7.");
    let mut hosts: Vec<Host> = (0..3).map(|_| Host::start(&sandbox)).collect();
    for host in &mut hosts {
        host.result("tools/list", json!({}));
    }
    let idle: Vec<(u64, u64)> = hosts.iter().map(|host| resident(host.child.id())).collect();
    for (n, host) in hosts.iter_mut().enumerate() {
        for query in ["where is the queue?", "which shard", "nothing of the kind"] {
            host.ok("search_memory", json!({ "query": query, "all_projects": true }));
        }
        host.ok("memory", json!({ "command": "view", "path": "/memories" }));
        let text = format!("---\nname: note-{n}\ndescription: note\ntype: reference\n---\n\nA note.\n");
        let path = format!("/memories/note-{n}.md");
        host.ok("memory", json!({ "command": "create", "path": path, "file_text": text }));
        host.ok("extract_facts", json!({ "text": "User: always use tabs in this project, never spaces." }));
        host.result("resources/list", json!({}));
    }
    let worked: Vec<(u64, u64)> = hosts.iter().map(|host| resident(host.child.id())).collect();
    assert_small(&idle, &worked);
}

/// UX-18: a call that is at work when its server goes leaves with it, and without an answer.
#[test]
fn ux_18_a_call_at_work_ends_with_its_server() {
    let sandbox = sandbox();
    sandbox.save("project-queue", "The queue is kept in shard 7.");
    // Whoever writes waits for this one.
    let locks = std::fs::read_dir(sandbox.state().join("locks")).unwrap().flatten();
    let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("vault-");
    let lock = std::fs::File::open(locks.into_iter().find(name).unwrap().path()).unwrap();
    lock.lock().unwrap();
    let text = "---\nname: note\ndescription: note\ntype: reference\n---\n\nA note.\n";
    let call = json!({
        "kind": "Tool", "name": "memory",
        "arguments": { "command": "create", "path": "/memories/note.md", "file_text": text },
        "caller": { "session": "s", "client": "test-host", "may_write": true },
    });
    let ask = || {
        let mut command = server(&sandbox, &["--call"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut child = ask();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, format!("{call}\n").as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    lock.unlock().unwrap();
    // Somebody who waits is answered.
    let mut child = ask();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, format!("{call}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut answer).unwrap();
    assert!(answer.contains("\"is_error\":false"), "{answer}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// L1: a hundred sessions at once; `MEMDIR_L1_SECONDS` says for how long. Prints what it saw, and asserts that nothing
/// failed, nobody grew and nobody stayed.
#[test]
fn l1_a_hundred_sessions_at_once() {
    let seconds: u64 =
        std::env::var("MEMDIR_L1_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let sandbox = sandbox();
    for n in 0..20 {
        let text = format!("Service {n} keeps its queue in shard {n} of the cluster.");
        sandbox.write(
            &format!("project-note-{n}.md"),
            format!("---\nname: project-note-{n}\ndescription: where service {n} keeps its queue\ntype: project\n---\n\n{text}\n"),
        );
    }
    let begun = Instant::now();
    let mut hosts: Vec<Host> = (0..100).map(|_| Host::start(&sandbox)).collect();
    eprintln!("100 sessions ready after {:?}", begun.elapsed());
    for host in &mut hosts {
        host.result("tools/list", json!({}));
    }
    let idle: Vec<(u64, u64)> = hosts.iter().map(|host| resident(host.child.id())).collect();
    let mut random = Random::new(1);
    let (mut searches, mut saves) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    // Ten calls a second in sum, each by another session.
    for n in 0..seconds * 10 {
        let due = begun + Duration::from_millis(100 * n);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let host = &mut hosts[random.below(100)];
        let call = Instant::now();
        if n % 5 == 0 {
            let text = format!(
                "---\nname: note-{n}\ndescription: note {n}\ntype: reference\n---\n\nNumber {n} of many.\n"
            );
            host.ok(
                "memory",
                json!({ "command": "create", "path": format!("/memories/note-{n}.md"), "file_text": text }),
            );
            saves.push(call.elapsed());
        } else {
            let query = format!("where does service {} keep its queue?", random.below(20));
            assert!(host.ok("search_memory", json!({ "query": query })).contains("project-note-"));
            searches.push(call.elapsed());
        }
    }
    let p95 = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() * 95 / 100]
    };
    let worked: Vec<(u64, u64)> = hosts.iter().map(|host| resident(host.child.id())).collect();
    let most = |all: &[(u64, u64)]| {
        (all.iter().map(|one| one.0).max().unwrap(), all.iter().map(|one| one.1).max().unwrap())
    };
    eprintln!("search p95 {:?}, save p95 {:?}", p95(&mut searches), p95(&mut saves));
    eprintln!("RSS and private kB at most: idle {:?}, at work {:?}", most(&idle), most(&worked));
    assert_small(&idle, &worked);
    let pids: Vec<u32> = hosts.iter().map(|host| host.child.id()).collect();
    for host in hosts {
        assert_eq!(host.leave(), 0);
    }
    assert!(pids.into_iter().all(|pid| !is_there(pid)));
    assert_eq!(sandbox.memdir(&["doctor"]).run().code, 0);
}
