//! When a vault may dream: time, sessions, the lock, and what a fault costs.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use memdir_store::lock::Lock;
use memdir_testkit::Output;
use serde_json::json;

use crate::world::World;

/// Nothing here takes as long, even on a machine that is busy with other things.
const HANG: Duration = Duration::from_secs(120);

/// Holds a session as Claude Code would, and waits until what waits is done.
fn session(world: &World, name: &str, at: &str) {
    let project = world.sandbox.project();
    let occasion =
        json!({ "session_id": name, "cwd": project, "hook_event_name": "SessionEnd", "reason": "exit" });
    world.memdir(&["hook", "claude-code", "SessionEnd"]).at(at).stdin(occasion.to_string()).run();
    let started = Instant::now();
    while has_work(world) {
        assert!(started.elapsed() < HANG, "the queue is never empty");
        world.memdir(&["work", "--once"]).at(at).run();
        thread::sleep(Duration::from_millis(50));
    }
}

/// Says whether something waits or is being done; the hook has started a worker of its own.
fn has_work(world: &World) -> bool {
    let projects = fs::read_dir(world.sandbox.state().join("projects")).unwrap();
    let queues = projects.filter_map(|entry| fs::read_dir(entry.unwrap().path().join("queue")).ok());
    let mut names = queues.flatten().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.any(|name| name.ends_with(".json") || name.ends_with(".run"))
}

fn dream(world: &World, at: &str) -> Output {
    world.memdir(&["dream"]).at(at).run()
}

fn state(world: &World) -> String {
    let projects = fs::read_dir(world.sandbox.state().join("projects")).unwrap();
    let mut files = projects.map(|entry| entry.unwrap().path().join("dreams/state.json"));
    files.find_map(|file| fs::read_to_string(file).ok()).unwrap_or_default()
}

/// DR-01, DR-02, DR-13.
#[test]
fn dr_01_dr_02_a_day_and_five_sessions_must_have_passed() {
    let world = World::new();
    world.memdir(&["dream", "--now"]).at("2026-06-15T12:00:00Z").ok();
    for n in 0..4 {
        session(&world, &format!("s{n}"), "2026-06-15T14:00:00Z");
    }
    let quiet = dream(&world, "2026-06-17T12:00:00Z");
    assert_eq!(quiet.code, 1);
    assert!(quiet.stderr.contains("4 of 5 sessions"), "{quiet}");
    let voucher = |world: &World| world.files().contains_key("project-voucher.md");
    session(&world, "s4", "2026-06-16T11:00:00Z");
    let soon = dream(&world, "2026-06-16T11:00:00Z");
    assert!(soon.stderr.contains("too soon"), "{soon}");
    assert!(voucher(&world), "23 hours are no day");
    // A tick begins it without anybody asking.
    world.memdir(&["watch", "--once"]).at("2026-06-16T12:00:00Z").run();
    assert!(!voucher(&world), "{}", state(&world));
}

/// DR-03.
#[test]
fn dr_03_a_living_holder_is_waited_for_and_a_dead_one_is_not() {
    let world = World::new();
    world.memdir(&["dream", "--dry-run"]).ok();
    let id =
        fs::read_dir(world.sandbox.state().join("projects")).unwrap().next().unwrap().unwrap().file_name();
    let (locks, name) =
        (world.sandbox.state().join("locks"), format!("dream-{}.lock", id.into_string().unwrap()));
    let lock = Lock::attempt(&locks, &name).unwrap().unwrap();
    let busy = world.memdir(&["dream", "--now"]).run();
    assert_eq!(busy.code, 1);
    assert!(busy.stderr.contains("somebody else is dreaming"), "{busy}");
    drop(lock);
    // What a dead process left in the file blocks nobody.
    fs::write(locks.join(&name), "999999").unwrap();
    world.memdir(&["dream", "--now"]).ok();
}

/// DR-14.
#[test]
fn dr_14_a_fault_rests_and_keeps_the_time_gate() {
    let world = World::new();
    world.memdir(&["dream", "--now"]).at("2026-06-01T12:00:00Z").ok();
    for n in 0..5 {
        session(&world, &format!("s{n}"), "2026-06-01T14:00:00Z");
    }
    let projects = fs::read_dir(world.sandbox.state().join("projects")).unwrap();
    let dreams =
        projects.map(|entry| entry.unwrap().path().join("dreams")).find(|path| path.is_dir()).unwrap();
    let fault = fail(&world, &dreams);
    assert_eq!(fault.code, 2, "{fault}");
    let after = state(&world);
    assert!(after.contains("\"failures\":1") && after.contains("2026-06-01T12:00:00Z"), "{after}");
    let rests = dream(&world, "2026-06-15T12:30:00Z");
    assert!(rests.stderr.contains("the last dream failed"), "{rests}");
    let again = dream(&world, "2026-06-15T13:30:00Z");
    assert!(again.is_ok(), "{again}");
}

/// Lets a dream fail: a file is in the way of the archive.
fn fail(world: &World, dreams: &std::path::Path) -> Output {
    let archive = dreams.parent().unwrap().join("archive");
    let _ = fs::remove_dir_all(&archive);
    fs::write(&archive, "in the way").unwrap();
    let fault = dream(world, "2026-06-15T12:00:00Z");
    fs::remove_file(&archive).unwrap();
    fault
}
