//! T10: what a sync asks and moves, counted.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use memdir_testkit::Proxy;

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

/// What git moves to hear that nothing is new and to push one changed file of these, beside nothing but its own protocol.
fn moved_by_git(files: &[(String, String)], changed: (&str, &str)) -> usize {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let git = |dir: &Path, args: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git(root.path(), &["init", "-q", "--bare", "shared.git"]);
    git(root.path(), &["init", "-q", "clone"]);
    for (name, text) in files {
        fs::write(at("clone").join(name), text).unwrap();
    }
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    // Itself, and not by way of `git`, which would leave it behind when it is ended.
    let found = Command::new("git").arg("--exec-path").output().unwrap().stdout;
    let program = Path::new(String::from_utf8(found).unwrap().trim()).join("git-daemon");
    let mut daemon = Command::new(program)
        .args(["--export-all", "--enable=receive-pack", "--reuseaddr", "--listen=127.0.0.1"])
        .arg(format!("--port={}", free.port()))
        .arg(format!("--base-path={}", root.path().display()))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while TcpStream::connect(free).is_err() {
        assert!(daemon.try_wait().unwrap().is_none(), "git has a daemon");
        thread::sleep(Duration::from_millis(20));
    }
    let proxy = Proxy::listen();
    proxy.forward_to(free);
    git(&at("clone"), &["remote", "add", "origin", &format!("git://{}/shared.git", proxy.address())]);
    git(&at("clone"), &["add", "-A"]);
    git(&at("clone"), &["commit", "-q", "-m", "all of them"]);
    git(&at("clone"), &["push", "-q", "-u", "origin", "main"]);
    fs::write(at("clone").join(changed.0), changed.1).unwrap();
    git(&at("clone"), &["commit", "-q", "-a", "-m", "sync"]);
    proxy.forget();
    git(&at("clone"), &["fetch", "-q"]);
    git(&at("clone"), &["push", "-q"]);
    let moved = proxy.up().len() + proxy.down().len();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    moved
}

/// T10, TS-02.
#[test]
fn t10_one_changed_memory_moves_no_more_bytes_than_with_git() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    ann.save("project-first", "the vault is there from here on, and has one memory");
    fill(&ann.vault(), 200);
    ann.synced();
    let name = "project-berth-77.md";
    let files: Vec<(String, String)> = fs::read_dir(ann.vault())
        .unwrap()
        .filter(is_memory)
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    ann.rewrite("project-berth-77", "pilot", "police");
    let by_git = moved_by_git(&files, (name, &ann.text("project-berth-77")));
    let one = ann.synced();
    let ours = one["sent"].as_u64().unwrap() + one["received"].as_u64().unwrap();
    assert!(ours as usize <= by_git, "{ours} bytes of bodies, and git moves {by_git}");
}
