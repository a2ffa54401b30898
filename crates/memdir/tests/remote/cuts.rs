//! T3 and T4: lost replies, cuts anywhere, stalls.

use std::thread;
use std::time::Duration;

use memdir_testkit::{Mishap, Trouble};

use crate::world::{Machine, Server};

/// T3.
#[test]
fn a_lost_reply_is_no_second_version() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    server.proxy.suffer(Some(Trouble::always(Mishap::CutDown(0)).after("POST ").times(1)));
    let report = ann.synced();
    assert_eq!(report["pushed"], serde_json::json!(["project-freeze"]), "{report}");
    assert_eq!(report["cut"], serde_json::Value::Null);
    let creations = || ann.memdir(&["team", "audit"]).ok().stdout.matches(" create ").count();
    assert_eq!(creations(), 1);
    // Every reply is lost: it is not known, not claimed, and the next run finds out.
    ann.save("project-second", "the second thing that everybody has to know here");
    server.proxy.suffer(Some(Trouble::always(Mishap::CutDown(0)).after("POST ")));
    let cut = ann.memdir(&["sync", "--json"]).code(1).json();
    assert!(cut["cut"].as_str().is_some_and(|cut| cut.contains("cannot be reached")), "{cut}");
    assert_eq!(cut["in_sync"], false);
    server.proxy.suffer(None);
    ann.synced();
    assert_eq!(creations(), 2);
    assert_eq!(ann.synced()["requests"], 1);
}

/// T4.
#[test]
fn a_cut_anywhere_leaves_files_whole_and_the_next_run_right() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    let bob = Machine::member("bob", &server.invite("bob", "write"));
    bob.trust("ann");
    ann.trust("bob");
    for (n, cut) in [1, 100, 450, 700, 1_000, 1_500, 4_000].into_iter().enumerate() {
        for (up, mishap) in [(true, Mishap::CutUp(cut)), (false, Mishap::CutDown(cut))] {
            let name = format!("project-cut-{n}-{up}");
            ann.save(&name, &format!("the text that was on its way at {cut} bytes, {}", "wave ".repeat(200)));
            bob.save(&format!("{name}-bob"), "what bob had to say about it at the same time of the day");
            server.proxy.suffer(Some(Trouble::always(mishap)));
            for machine in [&ann, &bob] {
                let output = machine.try_sync();
                assert!(output.code <= 2, "{output}");
            }
            server.proxy.suffer(None);
        }
    }
    ann.synced();
    bob.synced();
    ann.synced();
    assert_eq!(ann.names().len(), 28);
    assert_eq!(ann.names(), bob.names());
    for name in ann.names() {
        assert_eq!(ann.text(&name), bob.text(&name), "{name}");
    }
    ann.memdir(&["doctor"]).run();
}

/// T4: no sync hangs.
#[test]
fn a_stall_is_given_up_and_the_next_run_is_right() {
    let stalls = [
        Mishap::StallUp(0),
        Mishap::StallDown(0),
        Mishap::StallDown(150),
        Mishap::StallUp(600),
        Mishap::DripDown(Duration::from_millis(500)),
    ];
    let waiting = stalls.map(|mishap| {
        thread::spawn(move || {
            let server = Server::start(&[]);
            let ann = Machine::member("ann", &server.admin());
            ann.save("project-freeze", "no deploys in the week of the harbour feast");
            server.proxy.suffer(Some(Trouble::always(mishap)));
            let mut running = ann.memdir(&["sync"]).spawn();
            // Half a minute and what a busy machine needs to start and end a process.
            for _ in 0..600 {
                if running.has_ended() {
                    break;
                }
                thread::sleep(Duration::from_millis(100));
            }
            if !running.has_ended() {
                running.kill();
                panic!("{mishap:?} hangs");
            }
            let output = running.wait();
            assert!(output.code == 1 || output.code == 2, "{mishap:?}: {output}");
            assert!(output.stderr.contains("cannot be reached"), "{mishap:?}: {output}");
            server.proxy.suffer(None);
            ann.synced();
            assert_eq!(ann.synced()["requests"], 1);
        })
    });
    for thread in waiting {
        thread.join().unwrap();
    }
}

/// T2.
#[test]
fn a_server_that_is_killed_is_gone_on_with() {
    let mut server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    server.kill();
    let output = ann.memdir(&["sync"]).code(2);
    assert!(output.stderr.contains("cannot be reached"), "{output}");
    assert!(output.stderr.contains("nothing was changed"), "{output}");
    server.restart();
    ann.synced();
    assert_eq!(ann.synced()["requests"], 1);
}
