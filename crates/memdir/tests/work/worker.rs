//! One worker a project, whatever dies when.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};

use memdir_store::queue::Kind;
use serde_json::json;

use crate::world::{World, processes, signal, wait_for};

/// K5: many workers at once do every job once.
#[test]
fn eight_workers_at_once_end_every_session_once() {
    let world = World::new();
    let sessions: BTreeSet<String> = (0..20).map(|n| format!("s-{n:02}")).collect();
    for session in &sessions {
        world.long_session(session);
        world.push(Kind::Turn, session);
        world.push(Kind::End, session);
    }
    let workers: Vec<_> = (0..8).map(|_| world.memdir(&["work", "--once", "--json"]).spawn()).collect();
    let done: Vec<_> = workers.into_iter().map(|worker| worker.wait().json()).collect();
    assert!(done.iter().all(|done| done["failed"] == 0), "{done:?}");
    assert_eq!(world.queued(), [""; 0]);
    let journal = world.journal();
    let told: BTreeSet<String> =
        journal.iter().map(|entry| entry["session"].as_str().unwrap().to_owned()).collect();
    assert_eq!((journal.len(), told), (20, sessions));
}

/// A worker that is killed anywhere leaves a job that the next one does, without doing anything twice.
#[test]
fn a_worker_that_is_killed_anywhere_costs_nothing() {
    let world = World::new();
    let (mut n_sessions, mut n_killed) = (0, 0);
    for call in ["?rename", "?renameat", "?renameat2", "unlinkat", "?linkat"] {
        for nth in 1..100 {
            n_sessions += 1;
            let session = format!("{n_sessions:08}-killed");
            world.long_session(&session);
            world.push(Kind::Turn, &session);
            world.push(Kind::End, &session);
            let inject = format!("inject={call}:signal=SIGKILL:when={nth}");
            let traced = world.memdir(&["work", "--once"]).traced_with(call, &["-e", &inject]);
            let is_killed = traced.0.code == 137;
            n_killed += u32::from(is_killed);
            // A worker that dies before it could count does not wear out a job; three times nobody dies here.
            world.work();
            assert_eq!(world.queued(), [""; 0], "{inject}");
            let entries = world.journal().iter().filter(|entry| entry["session"] == session.as_str()).count();
            assert_eq!((entries, world.working(&session)), (1, None), "{inject}");
            if !is_killed {
                break;
            }
        }
    }
    assert!(n_killed >= 10, "only {n_killed} kills: the sweep missed its target");
}

/// K4: a dead worker's number in the hands of another process makes nobody wait.
#[test]
fn a_process_with_the_number_of_a_dead_worker_does_not_hold_its_lease() {
    let world = World::new();
    world.long_session("s-1");
    let pid = world.stopped_worker("s-1");
    assert_eq!(status(&world)["worker"]["pid"], pid);
    signal(pid, "KILL");
    wait_for("its end", || !Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(world.queued(), ["end-s-1.run"], "it died in the middle");
    let mut impostor = impostor(pid);
    let note =
        fs::read_to_string(world.sandbox.state().join(format!("locks/work-{}.json", world.queue().id())));
    assert!(note.unwrap().contains(&format!("\"pid\":{pid},")), "the dead one's note is still there");
    assert_eq!(status(&world)["worker"], json!(null));
    assert_eq!(world.work()["done"], 2, "the session's end, and the gates");
    assert_eq!((world.journal().len(), world.queued()), (1, vec![]));
    impostor.kill().unwrap();
    impostor.wait().unwrap();
}

/// Starts processes until one has the number; the kernel hands out the one after `ns_last_pid`. Without the right to set
/// that, any other process has to do.
fn impostor(pid: u32) -> Child {
    let sleep = || Command::new("sleep").arg("60").spawn().unwrap();
    for _ in 0..2_000 {
        if fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).is_err() {
            break;
        }
        let mut child = sleep();
        if child.id() == pid {
            return child;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(!rustix::process::geteuid().is_root(), "no process could be given the number {pid}");
    sleep()
}

fn status(world: &World) -> serde_json::Value {
    let status = world.memdir(&["daemon", "status"]).json();
    let queues = status["queues"].as_array().unwrap().clone();
    queues.into_iter().find(|queue| queue["project"] == world.queue().id()).unwrap()
}

/// A worker that gives no sign of life is told of, and nobody takes its work away.
#[test]
fn a_worker_that_hangs_is_reported() {
    let world = World::new();
    world.long_session("s-1");
    let pid = world.stopped_worker("s-1");
    assert_eq!(status(&world)["worker"]["hung"], false);
    let note = world.sandbox.state().join(format!("locks/work-{}.json", world.queue().id()));
    let mut holder: serde_json::Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    holder["beat"] = json!("2026-01-01T00:00:00Z");
    fs::write(&note, holder.to_string()).unwrap();
    assert_eq!(
        (&status(&world)["worker"]["hung"], &status(&world)["worker"]["pid"]),
        (&json!(true), &json!(pid))
    );
    assert!(world.memdir(&["daemon", "status"]).run().stdout.contains("hangs: no sign of life"));
    assert_eq!(world.work()["busy"], 1, "a living one is never robbed");
    let doctor = world.memdir(&["doctor"]).json();
    let rules: Vec<&str> =
        doctor["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect();
    assert!(rules.contains(&"worker-hangs"), "{doctor}");
    signal(pid, "CONT");
    wait_for("the worker", || world.queued().is_empty() && processes(&world.sandbox).is_empty());
    assert_eq!(world.journal().len(), 1);
}

/// UX-18: what a hook starts is in a session of its own, holds nobody's pipes, and is gone once nothing waits.
#[test]
fn a_detached_worker_does_the_work_and_leaves() {
    let world = World::new();
    world.long_session("s-1");
    let pid = world.stopped_worker("s-1");
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    assert_eq!((fields[2], fields[3]), (&*pid.to_string(), &*pid.to_string()), "its own group and session");
    for fd in 0..3 {
        let open = fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap();
        assert_eq!(open.to_str(), Some("/dev/null"));
    }
    let second = world.memdir(&["work", "--start"]).json();
    assert_eq!(second["started"], false, "one is enough");
    world.long_session("s-2");
    world.push(Kind::End, "s-2");
    signal(pid, "CONT");
    wait_for("the end of all work", || world.queued().is_empty());
    wait_for("the end of the worker", || processes(&world.sandbox).is_empty());
    assert_eq!(world.journal().len(), 2, "what was pushed meanwhile was done too");
    assert_eq!(world.memdir(&["work", "--start"]).json()["started"], false, "nothing waits");
    assert_eq!(processes(&world.sandbox), [0; 0]);
}

/// A job that cannot be done is tried three times, then shown with its reason.
#[test]
fn a_job_that_fails_three_times_is_set_aside_and_told() {
    let world = World::new();
    world.long_session("s-1");
    world.long_session("s-2");
    let journal = world.place.state_dir().join("journal");
    fs::write(&journal, "in the way").unwrap();
    world.push(Kind::End, "s-1");
    for (hour, left) in [(11, "end-s-1.json"), (12, "end-s-1.json"), (13, "end-s-1.failed")] {
        let work = world.memdir(&["work", "--once"]).at(&format!("2026-04-02T{hour}:00:00Z")).json();
        assert_eq!((&work["failed"], world.queued()), (&json!(1), vec![left.to_owned()]), "{work}");
    }
    let aside = status(&world)["set_aside"][0].clone();
    assert!(aside["reason"].as_str().unwrap().contains("journal"), "{aside}");
    let doctor = world.memdir(&["doctor"]).run().stdout;
    assert!(doctor.contains("job-set-aside") && doctor.contains("end-s-1"), "{doctor}");
    fs::remove_file(&journal).unwrap();
    world.push(Kind::End, "s-1");
    world.push(Kind::End, "s-2");
    world.memdir(&["work", "--once"]).at("2026-04-02T14:00:00Z").ok();
    assert_eq!(world.journal().len(), 2, "wished for again it is done");
}

/// Torn files are passed over, removed, and hold up nobody.
#[test]
fn torn_jobs_hold_up_nobody() {
    let world = World::new();
    world.long_session("s-1");
    world.push(Kind::End, "s-1");
    for (name, text) in
        [("end-s-0.json", ""), ("turn-s-0.json", "{\"kind\":\"turn\""), ("verify.run", "\0\0\0")]
    {
        fs::write(world.queue().path().join(name), text).unwrap();
    }
    let work = world.work();
    assert_eq!((&work["failed"], world.queued(), world.journal().len()), (&json!(0), vec![], 1), "{work}");
}

/// L8: on a disk that cannot be written to nothing hangs, nothing is lost, and what is asked is answered.
#[test]
fn a_read_only_disk_is_an_error_and_no_more() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World::new();
    world.long_session("s-1");
    world.push(Kind::End, "s-1");
    let state = world.sandbox.state();
    let read_only = |args: &[&str]| {
        let script = r#"mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@""#;
        let wrapper = ["unshare", "-m", "sh", "-c", script, state.to_str().unwrap()];
        world.memdir(args).under(&wrapper).run()
    };
    let work = read_only(&["work", "--once"]);
    assert_eq!(work.code, 2, "{work}");
    assert!(!work.stderr.contains("panicked") && work.stderr.contains("error: "), "{work}");
    assert_eq!(read_only(&["daemon", "status"]).code, 1);
    assert_eq!(read_only(&["work", "--start"]).code, 0, "whoever starts it does not see it fail");
    wait_for("the worker", || processes(&world.sandbox).is_empty());
    assert_eq!(world.queued(), ["end-s-1.json"]);
    world.work();
    assert_eq!((world.journal().len(), world.queued()), (1, vec![]));
}
