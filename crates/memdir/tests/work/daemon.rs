//! The daemon: comfort, and nothing but that.

use memdir_store::queue::Kind;
use memdir_testkit::Running;
use serde_json::json;

use crate::world::{World, processes, signal, wait_for};

fn daemon(world: &World) -> Running {
    let running = world.memdir(&["daemon", "run"]).spawn();
    wait_for("the daemon", || world.memdir(&["daemon", "status"]).run().code == 0);
    running
}

#[test]
fn the_daemon_does_what_is_pushed_and_there_is_one() {
    let world = World::new();
    assert_eq!(world.memdir(&["daemon", "status"]).json()["daemon"], json!(null));
    let running = daemon(&world);
    let status = world.memdir(&["daemon", "status"]).json();
    assert_eq!((&status["daemon"]["pid"], &status["daemon"]["hung"]), (&json!(running.id()), &json!(false)));
    let second = world.memdir(&["daemon", "run"]).code(1);
    assert!(second.stderr.contains(&format!("process {}", running.id())), "{second}");
    world.long_session("s-1");
    world.push(Kind::End, "s-1");
    assert_eq!(world.memdir(&["work", "--start"]).json()["started"], false, "the daemon will see it");
    wait_for("the daemon's work", || world.queued().is_empty());
    assert_eq!(world.journal().len(), 1);
    world.memdir(&["daemon", "stop"]).ok();
    assert_eq!(running.wait().code, 128 + 15);
    assert_eq!(world.memdir(&["daemon", "status"]).run().code, 1);
    assert_eq!(world.memdir(&["daemon", "stop"]).run().code, 1, "there is none to be stopped");
}

/// UX-18: it leaves when it is told to, in the middle of whatever it does.
#[test]
fn the_daemon_leaves_on_sigterm_also_in_the_middle_of_a_job() {
    let world = World::new();
    world.long_session("s-1");
    let lock = world.hold_journal();
    world.push(Kind::End, "s-1");
    let running = daemon(&world);
    wait_for("its work", || world.queue().worker().is_some_and(|holder| holder.doing == "end-s-1"));
    signal(running.id(), "TERM");
    assert_eq!(running.wait().code, 128 + 15);
    assert_eq!(processes(&world.sandbox), [0; 0]);
    drop(lock);
    assert_eq!(world.queued(), ["end-s-1.run"]);
    world.work();
    assert_eq!((world.journal().len(), world.queued()), (1, vec![]), "the next one does it");
}

/// KA-02: the daemon looks at all projects too.
#[test]
fn the_daemon_ticks() {
    let world = World::new();
    world.memdir(&["verify"]).ok();
    std::fs::remove_file(world.dir.join("src/doors.rs")).unwrap();
    let running = daemon(&world);
    let cache = world.sandbox.state().join(format!("index/{}.claims", world.place.project.id));
    let is_noticed = || std::fs::read_to_string(&cache).is_ok_and(|text| text.contains("missing"));
    wait_for("a tick", is_noticed);
    world.memdir(&["daemon", "stop"]).ok();
    running.wait();
}
