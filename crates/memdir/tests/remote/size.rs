//! T10: what a sync asks and moves, counted.

use std::fs;
use std::path::Path;

use crate::world::{Machine, Server};

const N: usize = 10_000;

fn fill(vault: &Path, n: usize) {
    for n in 0..n {
        let text = format!(
            "---\nname: project-berth-{n}\ndescription: who may tie up at berth {n}\ntype: project\nscope: team\n---\n\n\
             Berth {n} is kept for the pilot boat number {}, because the tide runs {} knots there.\n",
            n * 7 % 1_000,
            n % 9
        );
        fs::write(vault.join(format!("project-berth-{n}.md")), text).unwrap();
    }
}

/// T10.
#[test]
fn t10_ten_thousand_memories_take_few_requests_and_a_change_takes_two() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    ann.save("project-first", "the vault is there from here on, and has one memory");
    fill(&ann.vault(), N);
    let sent = ann.synced();
    assert_eq!(sent["pushed"].as_array().unwrap().len(), N + 1);
    let n_requests = sent["requests"].as_u64().unwrap();
    assert!(n_requests <= 2 + N as u64 / 500 + 1, "{n_requests}");
    let nothing = ann.synced();
    assert_eq!(nothing["requests"], 1, "nothing changed");
    assert_eq!(nothing["sent"], 0);
    assert!(nothing["received"].as_u64().unwrap() < 100, "{nothing}");
    ann.rewrite("project-berth-77", "pilot", "police");
    let one = ann.synced();
    assert_eq!((&one["requests"], one["pushed"].as_array().unwrap().len()), (&serde_json::json!(2), 1));
    assert_eq!(ann.synced()["requests"], 1);

    let bob = Machine::member("bob", &server.invite("bob", "write"));
    let n_pages = N as u64 / 1_000 + 1;
    let held = bob.sync();
    assert_eq!(held["held"].as_array().unwrap().len(), N + 1);
    assert_eq!(held["requests"], n_pages, "texts come with the feed");
    let taken = bob.memdir(&["trust", "ann", "--json"]).ok().json();
    assert_eq!(taken["pulled"].as_array().unwrap().len(), N + 1);
    assert!(taken["requests"].as_u64().unwrap() <= 1 + n_pages, "{}", taken["requests"]);
    assert_eq!(bob.synced()["requests"], 1);
    assert_eq!(fs::read_dir(bob.vault()).unwrap().filter(is_memory).count(), N + 1);
    ann.rewrite("project-berth-78", "pilot", "police");
    ann.synced();
    let one = bob.synced();
    assert_eq!(
        (&one["requests"], &one["pulled"]),
        (&serde_json::json!(1), &serde_json::json!(["project-berth-78"]))
    );
}

fn is_memory(entry: &std::io::Result<fs::DirEntry>) -> bool {
    entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("project-"))
}
