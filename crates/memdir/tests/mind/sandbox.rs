//! The walls, and the process behind them: what it can reach, how it ends, what it cannot make us believe.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use memdir_mind::agent::{Kind, Purpose};
use memdir_mind::sandbox::{Finished, Sandbox, SandboxError};
use memdir_testkit::Trace;
use serde_json::{Value, json};

use crate::canned::{Canned, binary, brief, call, calls, job, push_rule, sandbox, words};

/// A program that does this in place of memdir.
struct Script {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

impl Script {
    fn new(lines: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self { _directory: directory, path }
    }

    fn sandbox(&self) -> Sandbox {
        Sandbox::new(&self.path).with_grace(Duration::from_millis(500))
    }

    /// Runs a job of an impatient parent with it.
    fn run(&self) -> Result<Finished, SandboxError> {
        let mut job = job(Purpose::Extract, 2);
        job.budget.seconds = 1;
        self.sandbox().run(&job, &brief(), &mut Canned::new(|_, _| Ok(words("nothing"))))
    }
}

const READY: &str =
    r#"echo '{"Ready":{"limits":"stands","landlock":"stands","calls":"stands","tether":"stands"}}'"#;

/// S21, W1-11, DR-09: from inside of the walls nothing can be reached.
#[test]
fn every_wall_stands_and_holds() {
    let output = Command::new(binary()).args(["mind", "--probe", "--json"]).env_clear().output().unwrap();
    let probe: Value = serde_json::from_slice(&output.stdout).unwrap();
    for wall in ["limits", "landlock", "calls", "tether"] {
        assert_eq!(probe["walls"][wall], "stands", "{wall}: {probe}");
    }
    assert!(probe["walls"]["landlock_abi"].as_u64().is_some_and(|abi| abi > 0), "{probe}");
    let attempts = probe["went_through"].as_array().unwrap();
    assert_eq!(attempts.len(), 9);
    assert!(attempts.iter().all(|attempt| attempt[1] == false), "{attempts:?}");
    assert_eq!(output.status.code(), Some(0));
}

/// S21: the process of a whole run makes no call but those of the list, and none that opens, connects or starts anything.
#[test]
fn a_run_makes_no_call_beyond_its_list() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("calls");
    let script = Script::new(&format!(
        "exec strace -f -qq -y -s 16 -o {} {} \"$@\"",
        log.display(),
        binary().display()
    ));
    let mut model = Canned::new(|_, turn| {
        Ok(match turn {
            0 => calls(vec![
                call("read", json!({ "names": ["project-1", "/etc/passwd", "../x"] })),
                call("bash", json!({ "command": "curl http://127.0.0.1:9" })),
                call("list", json!({})),
                call("search", json!({ "words": "number" })),
            ]),
            1 => calls(vec![call("propose", json!({ "proposals": [push_rule("feedback-push")] }))]),
            _ => words("done"),
        })
    });
    let finished = script.sandbox().with_grace(Duration::from_secs(30)).run(
        &job(Purpose::Extract, 200),
        &brief(),
        &mut model,
    );
    assert_eq!(finished.unwrap().proposals.len(), 1);

    let trace = Trace::parse(&fs::read_to_string(&log).unwrap());
    let walls_up =
        trace.position(|call| call.name == "seccomp" && call.args.contains("FILTER") && call.succeeded());
    let inside = &trace.calls[walls_up.unwrap() + 1..];
    assert!(inside.len() > 10);
    for call in inside {
        let may = [
            "read",
            "write",
            "brk",
            "mmap",
            "munmap",
            "mremap",
            "madvise",
            "exit_group",
            "sigaltstack",
            "futex",
            "getrandom",
        ];
        assert!(may.contains(&call.name.as_str()), "{call:?}");
        match call.name.as_str() {
            "read" => assert_eq!(call.descriptor(), Some(0), "{call:?}"),
            "write" => assert_eq!(call.descriptor(), Some(1), "{call:?}"),
            _ => {}
        }
    }
    let reach = ["openat", "open", "connect", "socket", "execve", "clone", "clone3", "ptrace"];
    assert_eq!(inside.iter().filter(|call| reach.contains(&call.name.as_str())).count(), 0);
}

/// S21, S19: it has no environment, no descriptor that opens anything, and no way to get either.
#[test]
fn the_process_has_nothing_to_lose() {
    let mut seen = None;
    let mut model = Canned::new(|_, _| {
        let children = fs::read_to_string("/proc/thread-self/children").unwrap();
        let child = children.trim().to_owned();
        let read = |file: &str| fs::read_to_string(format!("/proc/{child}/{file}")).unwrap();
        seen = Some((read("environ"), read("status"), read("limits"), read("cmdline")));
        Ok(words("nothing"))
    });
    sandbox().run(&job(Purpose::Extract, 1), &brief(), &mut model).unwrap();
    let (environ, status, limits, cmdline) = seen.unwrap();
    assert_eq!(environ, "");
    assert!(cmdline.ends_with("\0mind\0"));
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    let limit = |name: &str| limits.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    let words = |line: String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(limit("Max open files"))[3..5], ["0", "0"]);
    assert_eq!(words(limit("Max processes"))[2..4], ["0", "0"]);
    assert_eq!(words(limit("Max core file size"))[4..6], ["0", "0"]);
}

/// C1, L7: killed at any point, it leaves all of its proposals or none.
#[test]
fn a_process_that_is_killed_leaves_all_or_nothing() {
    let (mut n_whole, mut n_nothing) = (0, 0);
    for n in 0..24_u64 {
        let directory = tempfile::tempdir().unwrap();
        let note = directory.path().join("pid");
        let script =
            Script::new(&format!("echo $$ > {}\nexec {} \"$@\"", note.display(), binary().display()));
        let kill = move || {
            let begun = Instant::now();
            let pid = loop {
                match fs::read_to_string(&note).ok().and_then(|pid| pid.trim().parse().ok()) {
                    Some(pid) => break rustix::process::Pid::from_raw(pid).unwrap(),
                    None if begun.elapsed() > Duration::from_secs(20) => return,
                    None => std::thread::yield_now(),
                }
            };
            std::thread::sleep(Duration::from_millis(n * n / 2));
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        };
        // The last is not killed at all.
        let killer = (n < 23).then(|| std::thread::spawn(kill));
        let mut model = Canned::new(|_, turn| {
            let proposals = [push_rule("feedback-a"), push_rule("feedback-b")];
            Ok(match turn {
                0 => calls(vec![call("propose", json!({ "proposals": proposals }))]),
                _ => words("done"),
            })
        });
        let finished = script.sandbox().with_grace(Duration::from_secs(30)).run(
            &job(Purpose::Extract, 50),
            &brief(),
            &mut model,
        );
        match finished {
            Ok(finished) => {
                assert_eq!(finished.proposals.len(), 2);
                n_whole += 1;
            }
            Err(SandboxError::Died(_)) => n_nothing += 1,
            Err(err) => panic!("{err}"),
        }
        if let Some(killer) = killer {
            killer.join().unwrap();
        }
    }
    assert!(n_nothing > 0 && n_whole > 0, "{n_nothing} {n_whole}");
}

/// L7: one that hangs is killed at its deadline, also when it does not even listen.
#[test]
fn a_process_that_hangs_is_killed() {
    for lines in ["exec sleep 600", &format!("{READY}\nexec sleep 600"), &format!("{READY}\ncat >/dev/null")]
    {
        let script = Script::new(lines);
        assert!(matches!(script.run(), Err(SandboxError::Late)), "{lines}");
    }
    // A job that does not fit into the pipe of one who does not read.
    let script = Script::new(&format!("{READY}\nexec sleep 600"));
    let mut job = job(Purpose::Extract, 5_000);
    job.budget.seconds = 0;
    let ended = script.sandbox().run(&job, &brief(), &mut Canned::new(|_, _| Ok(words(""))));
    assert!(matches!(ended, Err(SandboxError::Late)), "{ended:?}");
}

#[test]
fn a_process_that_dies_or_cannot_be_started_is_an_error() {
    for lines in [
        "exit 3",
        &format!("{READY}\nexit 0"),
        &format!("{READY}\nread x\necho '{{\"Ask\":[]}}'\nkill -9 $$"),
    ] {
        assert!(matches!(Script::new(lines).run(), Err(SandboxError::Died(_))), "{lines}");
    }
    let ended = Sandbox::new("/nowhere/memdir").run(
        &job(Purpose::Extract, 1),
        &brief(),
        &mut Canned::new(|_, _| Ok(words(""))),
    );
    assert!(matches!(ended, Err(SandboxError::Start(_))));
}

/// S21: what comes out of the walls is believed by nobody.
#[test]
fn a_process_that_lies_is_not_believed() {
    let flood = format!("{READY}\nread x\nexec cat /dev/zero");
    let speaks = format!(
        "{READY}\nread x\n{}",
        r#"echo '{"Ask":[{"Call":{"id":"1","name":"bash","input":{}}}]}'; read x"#
    );
    let long = "long ".repeat(100_000);
    let talks = format!("{READY}\nread x\necho '{{\"Ask\":[{{\"Text\":\"{long}\"}}]}}'; read x");
    let endless = format!("{READY}\nread x\n{}", r#"while :; do echo '{"Ask":[]}'; done"#);
    let unsound = [
        "echo nonsense",
        "echo '{\"Ask\":[]}'",
        &format!("{READY}\nread x\n{READY}"),
        &flood,
        &speaks,
        &talks,
        &endless,
    ];
    for lines in unsound {
        let ended = Script::new(lines).run();
        assert!(matches!(ended, Err(SandboxError::Unsound(_))), "{lines}: {ended:?}");
    }
    let mut made_up = push_rule("feedback-made-up");
    made_up["evidence"][0]["quote"] = "words that nobody said".into();
    let mut outside = push_rule("../../outside");
    outside["action"] = "new".into();
    let removal = json!({ "action": "archive", "name": "project-1", "reason": "x" });
    let report = json!({
        "end": "finished", "spent": { "turns": 0, "usage": { "input": 0, "cached": 0, "stored": 0, "output": 0 },
        "bytes": 0, "files": 99, "removals": 0 }, "refused": {}, "lines": ["\u{1b}[31mred"], "left_out": 0, "walls": null,
    });
    let done = json!({ "Done": { "proposals": [made_up, outside, removal, push_rule("feedback-fine")], "report": report } });
    let script = Script::new(&format!("{READY}\nread x\ncat <<'END'\n{done}\nEND\nread x"));
    let finished = script.run().unwrap();
    assert_eq!(finished.proposals.len(), 1);
    let refused = |kind| finished.report.n_refused(kind);
    assert_eq!((refused(Kind::Evidence), refused(Kind::Path), refused(Kind::Stale)), (1, 1, 1));
    assert_eq!(finished.report.spent.files, 1);
    assert!(!finished.report.lines[0].contains('\u{1b}'));
}

/// It does not outlive the process that started it, though its input stays open.
#[test]
fn the_process_ends_with_its_parent() {
    let line = format!("exec 3<&0; {} mind <&3 & echo $!; wait", binary().display());
    let mut shell =
        Command::new("sh").args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = shell.stdin.take().unwrap();
    let mut output = shell.stdout.take().unwrap();
    let mut said = String::new();
    while said.lines().count() < 2 || !said.ends_with('\n') {
        let mut chunk = [0; 512];
        let n = output.read(&mut chunk).unwrap();
        assert!(n > 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&chunk[..n]));
    }
    let pid = said.lines().find(|line| line.chars().all(|c| c.is_ascii_digit())).unwrap().to_owned();
    let is_running = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    };
    assert!(is_running());
    shell.kill().unwrap();
    shell.wait().unwrap();
    let begun = Instant::now();
    while is_running() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = input.write_all(b"\n");
}
