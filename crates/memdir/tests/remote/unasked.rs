//! Syncs that nobody asked for: the daemon, sessions, and when there are none.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use memdir_testkit::{Invocation, Running};
use serde_json::json;

use crate::world::{Machine, Server};

/// Only something that hangs takes longer, even on a machine that is busy with other things.
const HANG: Duration = Duration::from_secs(90);

fn wait_for(what: &str, is_done: impl Fn() -> bool) {
    let until = Instant::now() + HANG;
    while !is_done() {
        assert!(Instant::now() < until, "{what} does not happen");
        thread::sleep(Duration::from_millis(200));
    }
}

impl Machine {
    /// A command by the clock of the machine, as a daemon needs it.
    fn by_the_clock(&self, args: &[&str]) -> Invocation {
        self.memdir(args).without_env("MEMDIR_NOW")
    }

    fn daemon(&self) -> Running {
        let running = self.by_the_clock(&["daemon", "run"]).spawn();
        wait_for("the daemon", || self.by_the_clock(&["daemon", "status"]).run().code == 0);
        running
    }

    fn stop(&self, running: Running) {
        self.by_the_clock(&["daemon", "stop"]).ok();
        running.wait();
    }

    /// Tells a hook of Claude Code that something happened.
    fn hook(&self, event: &str, said: serde_json::Value) {
        let mut all = json!({ "session_id": "s-1", "cwd": self.clone, "hook_event_name": event });
        all.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        let command = self.by_the_clock(&["hook", "claude-code", event]);
        command.env("MEMDIR_HOOK_DEADLINE_MS", "30000").stdin(all.to_string()).ok();
    }
}

/// Both sides have a daemon, and nobody types `sync`.
#[test]
fn what_one_writes_the_other_has_with_a_daemon_on_both_sides() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    let bob = Machine::member("bob", &server.invite("bob", "write"));
    ann.trust("bob");
    bob.trust("ann");
    let daemons = [ann.daemon(), bob.daemon()];
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    wait_for("ann's words", || bob.text("project-freeze").contains("harbour feast"));
    bob.save("reference-board", "incidents are tracked on the harbour board");
    wait_for("bob's words", || ann.text("reference-board").contains("harbour board"));
    let [first, second] = daemons;
    ann.stop(first);
    bob.stop(second);
}

/// Without a daemon, sessions do it: nothing in the hook, all of it in a process of its own.
#[test]
fn a_session_that_begins_fetches_what_is_new() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    let bob = Machine::member("bob", &server.invite("bob", "write"));
    bob.trust("ann");
    bob.save("reference-board", "incidents are tracked on the harbour board");
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    ann.synced();
    bob.hook("SessionStart", json!({ "source": "startup" }));
    wait_for("ann's words", || bob.text("project-freeze").contains("harbour feast"));
    wait_for("bob's words", || ann.memdir(&["team", "search", "harbour board"]).run().code == 0);
}

/// Off means off.
#[test]
fn who_does_not_want_it_is_not_synced_unasked() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    let bob = Machine::member("bob", &server.invite("bob", "write"));
    for machine in [&ann, &bob] {
        fs::write(machine.sandbox.state().join("config.toml"), "[team]\nauto = false\n").unwrap();
    }
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    bob.save("reference-board", "incidents are tracked on the harbour board");
    server.proxy.forget();
    let daemon = ann.daemon();
    bob.hook("SessionStart", json!({ "source": "startup" }));
    bob.by_the_clock(&["work", "--once"]).run();
    // As long as a daemon needs to send what is written.
    thread::sleep(Duration::from_secs(6));
    ann.stop(daemon);
    assert_eq!(server.proxy.n_connections(), 0);
    ann.synced();
    assert!(server.proxy.n_connections() > 0, "asked, it does");
}

/// A place that does not answer is left alone, and told of once.
#[test]
fn a_server_that_is_gone_is_left_alone_and_told_of_once() {
    let mut server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    server.kill();
    server.proxy.forget();
    for _ in 0..6 {
        ann.hook("SessionStart", json!({ "source": "startup" }));
        ann.by_the_clock(&["work", "--once"]).run();
        let is_idle = || {
            let status = ann.by_the_clock(&["daemon", "status", "--json"]).run().json();
            status["queues"].as_array().unwrap().iter().all(|queue| queue["waiting"] == json!([]))
        };
        wait_for("the work", is_idle);
    }
    // Twice each, as long as it is asked at all: three times, and then it rests.
    assert!(server.proxy.n_connections() <= 6, "{}", server.proxy.n_connections());
    let log = fs::read_to_string(ann.sandbox.state().join("hooks.log")).unwrap();
    assert_eq!(log.matches("cannot be reached").count(), 3, "{log}");
    let told: usize = ["news", "hooks.log"]
        .iter()
        .map(|file| fs::read_to_string(ann.sandbox.state().join(file)).unwrap_or_default())
        .map(|text| text.matches("not shared with").count())
        .sum();
    assert!(told <= 1, "told once, or taken already by a session");
    server.restart();
    ann.synced();
}
