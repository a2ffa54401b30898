//! What `watch` notices.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use memdir_store::queue::Kind;
use memdir_testkit::NOW;
use serde_json::{Value, json};

use crate::world::World;

fn watch(world: &World, at: &str) -> Value {
    world.memdir(&["watch", "--once"]).at(at).json()["projects"][0].clone()
}

/// KA-02: a file behind a claim is deleted, and the next look says so; KA-04: which is not whether anybody uses the memory.
#[test]
fn a_change_behind_a_claim_needs_verification_within_a_tick() {
    let world = World::new();
    let first = watch(&world, NOW);
    assert_eq!(first["needs_verification"], json!([]), "{first}");
    let later = watch(&world, "2026-05-02T10:30:00Z");
    assert_eq!(later["needs_verification"], json!([]), "a month without use is no claim: {later}");
    assert_eq!(
        (&later["memories"][0]["idle_days"], &later["memories"][0]["needs_verification"]),
        (&json!(30), &json!(false))
    );
    fs::remove_file(world.dir.join("src/doors.rs")).unwrap();
    let output = world.memdir(&["watch", "--once"]).run();
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stdout.contains("1 to verify: project-doors (new)"), "{output}");
    let again = watch(&world, NOW);
    assert_eq!(again["needs_verification"], json!(["project-doors"]));
    let memory = &again["memories"][0];
    assert_eq!(
        (&memory["news"], &memory["idle_days"]),
        (&json!(false), &json!(0)),
        "stale, and in use: {memory}"
    );
    let verify = world.memdir(&["verify", "project-doors"]).json();
    assert_eq!(verify["memories"][0]["state"], "stale", "{verify}");
    world.git(&["checkout", "-q", "--", "src/doors.rs"]);
    assert_eq!(watch(&world, NOW)["needs_verification"], json!([]), "what is back is so again");
}

/// KA-02 for what left its file, and at another commit.
#[test]
fn a_name_that_left_the_code_needs_verification() {
    let world = World::new();
    watch(&world, NOW);
    fs::write(world.dir.join("src/doors.rs"), "pub fn open_gate() {}\n").unwrap();
    world.git(&["commit", "-qam", "gates"]);
    assert_eq!(watch(&world, NOW)["needs_verification"], json!(["project-doors"]));
}

/// A look changes no memory and reads the whole project only when something is new.
#[test]
fn a_look_changes_no_memory() {
    let world = World::new();
    let vault = |world: &World| memdir_testkit::Tree::of(&world.place.vault);
    let before = vault(&world);
    watch(&world, NOW);
    fs::remove_file(world.dir.join("src/doors.rs")).unwrap();
    watch(&world, NOW);
    assert_eq!(vault(&world), before);
}

/// PR-05: a day that comes near is told.
#[test]
fn days_that_come_near_are_told() {
    let world = World::new();
    let args = [
        "save",
        "project-freeze",
        "--type",
        "project",
        "--description",
        "merges stop for the mobile release",
    ];
    let body = "No merges into main from 2026-04-05 on, because the mobile team cuts its release.";
    world.memdir(&args).stdin(body).ok();
    let near = watch(&world, NOW)["near"].clone();
    assert_eq!(near, json!(["project-freeze: 2026-04-05 is in 3 days"]));
    assert_eq!(watch(&world, "2026-03-20T10:00:00Z")["near"], json!([]));
}

/// A session whose host died is ended by the next look, a day later, and what waits in the queue is done.
#[test]
fn sessions_that_nobody_ended_are_ended() {
    let world = World::new();
    world.long_session("s-1");
    world.push(Kind::Turn, "s-1");
    let first = world.memdir(&["watch", "--once"]).json();
    assert_eq!(
        (&first["queue"]["done"], first["projects"][0]["ended_sessions"].clone()),
        (&json!(1), json!([]))
    );
    assert!(world.working("s-1").is_some());
    // The file was written now, by the clock of this machine.
    let day_after =
        jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_hours(25)).unwrap().to_string();
    let second = world.memdir(&["watch", "--once"]).at(&day_after).json();
    assert_eq!(second["projects"][0]["ended_sessions"], json!(["s-1"]));
    assert_eq!((world.working("s-1"), world.journal().len(), world.queued()), (None, 1, vec![]));
}

/// KA-01: it looks every five minutes, or as often as it is told.
#[test]
fn it_looks_again_and_again() {
    let world = World::new();
    let help = world.memdir(&["watch", "--help"]).ok().stdout;
    assert!(help.contains("[default: 300]"), "{help}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command.args(["watch", "--every", "1", "--json"]).current_dir(&world.dir).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", world.sandbox.home());
    command.env("MEMDIR_HOME", world.sandbox.state()).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ticks = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    let (first, second) = (ticks(), ticks());
    fs::remove_file(world.dir.join("src/doors.rs")).unwrap();
    let mut noticed = ticks();
    for _ in 0..10 {
        if noticed["projects"][0]["needs_verification"] == json!(["project-doors"]) {
            break;
        }
        noticed = ticks();
    }
    assert_ne!(first["at"], second["at"]);
    assert_eq!(noticed["projects"][0]["needs_verification"], json!(["project-doors"]));
    child.kill().unwrap();
    child.wait().unwrap();
}
