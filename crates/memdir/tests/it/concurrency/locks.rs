//! The lock is the kernel's: a dead holder blocks nobody, a live one is never robbed.

use std::fs;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use memdir_testkit::{Call, Running, Sandbox, Trace};

use crate::setup::{
    assert_all_ok, can_use, history, index_entries, listed_names, prose, repeat, sandbox, storm,
};

/// Every call that changes something, so every place where a holder can die half way.
const CALLS: &str = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,linkat,unlink,unlinkat,mkdirat,fchmod,ftruncate,flock";

/// K3.
#[test]
fn a_holder_killed_anywhere_in_the_critical_section_blocks_nobody() {
    if !can_use(&["strace"]) {
        return;
    }
    let points = critical_points();
    assert!(points.len() >= 5, "too few points to mean anything: {points:?}");
    for point in points {
        let sandbox = sandbox_with_one();
        killed_save(&sandbox, &point);
        sandbox.save("next", &prose(3));
        assert!(sandbox.read("next").contains(&prose(3)), "{point}");
        assert!(sandbox.read("first").contains(&prose(1)), "{point}");
        let second = fs::read_to_string(sandbox.memory("second")).unwrap_or_else(|_| prose(2));
        assert!(second.contains(&prose(2)), "{point}: a cut file\n{second}");
        let litter = sandbox.vault_tree().paths().any(|path| path.contains(".memdir-tmp-"));
        assert!(!litter, "{point}: a temporary file was left behind");
    }
}

/// K3.
#[test]
fn a_stopped_holder_is_named_and_never_robbed_and_readers_do_not_wait() {
    if !can_use(&["strace", "kill"]) {
        return;
    }
    let sandbox = sandbox_with_one();
    let point = publishing_point();
    let stop = point.replace("SIGKILL", "SIGSTOP");
    let save = sandbox.memdir(&["save", "second", "--type", "project", "--description", "held up"]);
    let mut holder =
        save.stdin(prose(2)).under(&["strace", "-f", "-qq", "-o", "/dev/null", "-e", &stop]).spawn();
    let pid = stopped_child(&mut holder);

    let others = storm(3, 1, |worker, _| {
        let name = format!("waiting-{worker}");
        sandbox
            .memdir(&["save", &name, "--type", "project", "--description", &name])
            .stdin(prose(worker))
            .run()
    });
    for other in &others {
        assert_eq!(other.code, 2, "{other}");
        assert!(other.stderr.contains(&pid), "does not name the holder {pid}\n{other}");
    }
    let seen = listed_names(&sandbox);
    assert!(seen == ["first"] || seen == ["first", "second"], "a reader sees what is published: {seen:?}");
    sandbox.memdir(&["show", "first"]).ok();

    signal("-CONT", &pid);
    let output = holder.wait();
    assert!(output.is_ok(), "{output}");
    assert_eq!(listed_names(&sandbox), ["first", "second"], "half a save of those that gave up");
    assert_eq!(history(&sandbox).len(), 2, "written twice");
    assert_eq!(index_entries(&sandbox.index_page()).0.len(), 2);
    sandbox.save("waiting-0", &prose(4));
}

/// K4.
#[test]
fn a_process_that_got_the_dead_holders_number_holds_nothing() {
    if !can_use(&["strace", "sleep"]) {
        return;
    }
    let sandbox = sandbox_with_one();
    killed_save(&sandbox, &publishing_point());
    let pid = pid_in_a_lock_file(&sandbox);
    let mut namesake = process_with_number(pid);
    let next =
        sandbox.memdir(&["save", "next", "--type", "project", "--description", "after"]).stdin("x").run();
    namesake.kill().unwrap();
    namesake.wait().unwrap();
    assert!(next.is_ok(), "{next}");
}

/// K4.
#[test]
fn a_lock_file_that_names_a_live_process_is_free_when_the_kernel_says_so() {
    let sandbox = sandbox_with_one();
    for path in lock_files(&sandbox) {
        fs::write(path, std::process::id().to_string()).unwrap();
    }
    sandbox.save("next", "The text in a lock file is only for people.");
}

/// K5. The holder dies before the memory, before the index page, and before the record is in its place.
#[test]
fn eight_contenders_after_a_crash_recover_once_and_all_succeed() {
    if !can_use(&["strace"]) {
        return;
    }
    for point in renames_after_the_intent() {
        for _ in 0..repeat(2) {
            check_contenders(&point);
        }
    }
}

fn check_contenders(point: &str) {
    let sandbox = sandbox_with_one();
    killed_save(&sandbox, point);
    assert_eq!(intents(&sandbox), 1, "the kill leaves an intent behind");
    assert_all_ok(&storm(8, 1, |worker, _| {
        let name = format!("contender-{worker}");
        let save = sandbox.memdir(&["save", &name, "--type", "project", "--description", &name]);
        save.stdin(prose(10 + worker)).run()
    }));
    assert_eq!(intents(&sandbox), 0, "the intent is settled");
    let recovered = usize::from(sandbox.memory("second").exists());
    assert_eq!(listed_names(&sandbox).len(), 1 + 8 + recovered);
    assert_eq!(index_entries(&sandbox.index_page()).0.len(), 1 + 8 + recovered);
    let changes = history(&sandbox);
    assert_eq!(changes.len(), 1 + 8 + recovered, "settled more than once, or without a trace");
    let strangers = changes.iter().filter(|change| change["author"] != "person").count();
    assert_eq!(strangers, 0, "{point}: half a save of ours was taken for somebody else's");
}

fn sandbox_with_one() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("first", &prose(1));
    sandbox
}

/// Runs a save of `second` that dies where `point` says.
fn killed_save(sandbox: &Sandbox, point: &str) {
    let save =
        sandbox.memdir(&["save", "second", "--type", "project", "--description", "dies"]).stdin(prose(2));
    let (output, _) = save.traced_with(CALLS, &["-e", point]);
    assert_eq!(output.code, 137, "{point} killed nothing\n{output}");
}

/// The traced calls of a save of `second` that ends well.
fn trace_of_a_save() -> Trace {
    let sandbox = sandbox_with_one();
    let save =
        sandbox.memdir(&["save", "second", "--type", "project", "--description", "lives"]).stdin(prose(2));
    let (output, trace) = save.traced(CALLS);
    assert!(output.is_ok(), "{output}");
    trace
}

/// Every call after the lock is taken, as strace's word for "die here".
fn critical_points() -> Vec<String> {
    let trace = trace_of_a_save();
    let locked = trace.position(|call| call.name == "flock" && call.has_flag("LOCK_EX") && call.succeeded());
    let locked = locked.expect("a save takes an exclusive lock");
    (locked + 1..trace.calls.len()).map(|place| point_at(&trace, place)).collect()
}

/// The moment when the memory gets its name: the intent is known, nothing has changed yet.
fn publishing_point() -> String {
    renames_after_the_intent().remove(0)
}

/// Every rename of a save after its intent was made known: memory, index page, record.
fn renames_after_the_intent() -> Vec<String> {
    let trace = trace_of_a_save();
    let is_rename = |call: &Call| call.name.starts_with("rename");
    let makes_intent = |call: &Call| call.strings().last().is_some_and(|to| to.ends_with("intent.jsonl"));
    let intent = trace.position(|call| is_rename(call) && makes_intent(call));
    let intent = intent.expect("a save publishes its intent by a rename");
    let later = intent + 1..trace.calls.len();
    let points: Vec<_> =
        later.filter(|&place| is_rename(&trace.calls[place])).map(|place| point_at(&trace, place)).collect();
    assert!(points.len() >= 3, "memory, index page and record: {points:?}");
    points
}

/// strace counts a call per name and thread, so the place is "the n-th call of this name in this thread".
fn point_at(trace: &Trace, place: usize) -> String {
    let call = &trace.calls[place];
    let same = |other: &&Call| other.name == call.name && other.thread == call.thread;
    let number = trace.calls[..=place].iter().filter(same).count();
    format!("inject={}:signal=SIGKILL:when={number}", call.name)
}

/// Waits until the traced child stands still and returns its process id.
fn stopped_child(strace: &mut Running) -> String {
    let children = format!("/proc/{0}/task/{0}/children", strace.id());
    for _ in 0..2000 {
        let pids = fs::read_to_string(&children).unwrap_or_default();
        if let Some(pid) = pids.split_whitespace().next() {
            let stat = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            // strace itself stops its child for an instant at every call; only the real stop lasts.
            let has_stopped = |stat: &str| stat.contains("State:\tt") || stat.contains("State:\tT");
            if has_stopped(&stat) {
                thread::sleep(Duration::from_millis(300));
                let again = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
                if has_stopped(&again) && switches(&stat) == switches(&again) {
                    return pid.to_owned();
                }
            }
        }
        assert!(!strace.has_ended(), "ended instead of standing still");
        thread::sleep(Duration::from_millis(5));
    }
    panic!("never stood still");
}

fn switches(status: &str) -> Option<&str> {
    status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))
}

fn signal(name: &str, pid: &str) {
    assert!(Command::new("kill").args([name, pid]).status().unwrap().success());
}

fn lock_files(sandbox: &Sandbox) -> Vec<std::path::PathBuf> {
    let locks = fs::read_dir(sandbox.state().join("locks")).unwrap();
    let paths: Vec<_> = locks.map(|entry| entry.unwrap().path()).collect();
    assert!(!paths.is_empty(), "a save leaves its lock file in place");
    paths
}

fn pid_in_a_lock_file(sandbox: &Sandbox) -> u32 {
    let newest =
        lock_files(sandbox).into_iter().max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    let text = fs::read_to_string(newest.unwrap()).unwrap();
    text.trim().parse().expect("the holder wrote its process id")
}

/// Starts processes until one has this number; the kernel hands out the one after `ns_last_pid`.
fn process_with_number(pid: u32) -> Child {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap();
    for _ in 0..500 {
        fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).unwrap();
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        if child.id() == pid {
            return child;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    panic!("no process got the number {pid}");
}

fn intents(sandbox: &Sandbox) -> usize {
    sandbox.state_tree().paths().filter(|path| path.ends_with("/intent.jsonl")).count()
}
