//! Things in a vault that only look like memories: links, pipes, devices, directories, files of others.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use memdir_testkit::Sandbox;

use crate::setup::{can_use, listed_names, memory_file, run_or_give_up, sandbox};

const SECRET: &str = "an ssh key that is nobody's business";
/// What is planted, by stem.
const PLANTED: [&str; 7] = ["linked", "dangling", "loop", "pipe", "zero", "folder", "device"];

/// S2.
#[test]
fn what_is_not_a_plain_file_is_never_read() {
    let sandbox = planted_sandbox();
    assert_eq!(listed_names(&sandbox), ["good"]);
    for name in PLANTED {
        let output = run_or_give_up(sandbox.memdir(&["show", name]));
        assert!(matches!(output.code, 1 | 2), "{name}\n{output}");
        assert!(!output.stdout.contains(SECRET), "{output}");
    }
    for command in [&["search", "ssh key"][..], &["list"], &["manifest"], &["doctor"], &["doctor", "--fix"]] {
        let output = run_or_give_up(sandbox.memdir(command));
        assert!(!output.stdout.contains(SECRET), "{output}");
    }
    assert!(sandbox.state_tree().containing(SECRET.as_bytes()).is_empty(), "read into our state");
}

/// S2.
#[test]
fn what_is_not_a_plain_file_is_never_written() {
    let sandbox = planted_sandbox();
    let before = sandbox.vault_tree().without(|path| path == "MEMORY.md");
    for name in PLANTED {
        let save = sandbox.memdir(&["save", name, "--type", "project", "--description", "d"]).stdin("b");
        let output = run_or_give_up(save);
        assert_eq!(output.code, 2, "{name}\n{output}");
        for command in
            [&["edit", name, "--append", "x"][..], &["forget", name, "--yes"], &["rename", name, "new"]]
        {
            let output = run_or_give_up(sandbox.memdir(command));
            assert!(matches!(output.code, 1 | 2), "{command:?}\n{output}");
        }
    }
    let inside =
        sandbox.memdir(&["save", "--type", "project", "--description", "d", "--body", "b", "sub/new"]);
    inside.code(2);
    assert!(!sandbox.root().join("outside/new.md").exists());
    assert_eq!(fs::read_to_string(secret(&sandbox)).unwrap(), SECRET);
    let after = sandbox.vault_tree().without(|path| path == "MEMORY.md");
    assert_eq!(before.changes(&after), [""; 0]);
    sandbox.save("another", "Beside all that, saving works.");
}

/// S2.
#[test]
fn doctor_lists_what_is_not_a_plain_file() {
    let sandbox = planted_sandbox();
    let output = run_or_give_up(sandbox.memdir(&["doctor"]));
    assert!(matches!(output.code, 0 | 1), "{output}");
    for name in PLANTED.iter().chain(&["sub"]) {
        assert!(output.stdout.contains(name), "{name} is not listed\n{output}");
    }
}

/// S2.
#[test]
fn an_index_page_that_is_a_link_is_not_written_through() {
    let sandbox = sandbox();
    fs::write(secret(&sandbox), SECRET).unwrap();
    symlink(secret(&sandbox), sandbox.vault().join("MEMORY.md")).unwrap();
    let save = sandbox.memdir(&["save", "good", "--type", "project", "--description", "d"]).stdin("b");
    run_or_give_up(save);
    run_or_give_up(sandbox.memdir(&["doctor", "--fix"]));
    assert_eq!(fs::read_to_string(secret(&sandbox)).unwrap(), SECRET);
}

/// S2.
#[test]
fn an_index_page_that_is_a_pipe_blocks_nobody() {
    let sandbox = sandbox();
    make_special(&sandbox, "MEMORY.md", &["p"]);
    for command in [&["list"][..], &["doctor"]] {
        run_or_give_up(sandbox.memdir(command));
    }
    run_or_give_up(sandbox.memdir(&["save", "good", "--type", "project", "--description", "d"]).stdin("b"));
}

/// S4.
#[test]
fn saving_over_a_hard_link_leaves_the_other_file_alone() {
    let sandbox = sandbox();
    let profile = sandbox.home().join(".bashrc");
    let text = memory_file("linked", "a shell's start file", "alias ll='ls -l'");
    fs::write(&profile, &text).unwrap();
    for command in [
        &["save", "linked", "--type", "project", "--description", "d", "--body", "b"][..],
        &["edit", "linked", "--append", "more"],
        &["rename", "linked", "renamed"],
        &["forget", "linked", "--yes"],
        &["forget", "linked", "--erase", "--yes"],
    ] {
        let _ = fs::remove_file(sandbox.memory("linked"));
        fs::hard_link(&profile, sandbox.memory("linked")).unwrap();
        run_or_give_up(sandbox.memdir(command));
        assert_eq!(fs::read_to_string(&profile).unwrap(), text, "{command:?}");
    }
}

/// S4.
#[test]
fn a_vault_that_others_may_write_is_refused_with_the_fix() {
    let sandbox = sandbox();
    sandbox.save("good", "Written while all was well.");
    for mode in [0o777, 0o702] {
        fs::set_permissions(sandbox.vault(), fs::Permissions::from_mode(mode)).unwrap();
        let save = sandbox.memdir(&["save", "new", "--type", "project", "--description", "d"]).stdin("b");
        let output = save.code(2);
        assert!(output.stderr.contains("chmod"), "no fix for {mode:o}\n{output}");
        assert!(!sandbox.memory("new").exists());
    }
    let doctor = sandbox.memdir(&["doctor"]).run();
    assert!(doctor.code != 0 && format!("{}{}", doctor.stdout, doctor.stderr).contains("vault"), "{doctor}");
    let fixed = sandbox.memdir(&["doctor", "--fix"]).run();
    assert_eq!(fs::metadata(sandbox.vault()).unwrap().mode() & 0o777, 0o700, "{fixed}");
    sandbox.save("new", "All is well again.");
}

/// S4.
#[test]
fn a_vault_of_another_owner_is_refused() {
    if !can_use(&[]) {
        return;
    }
    let sandbox = sandbox();
    sandbox.save("good", "Written while all was well.");
    let stranger = Some(54321);
    std::os::unix::fs::chown(sandbox.vault(), stranger, stranger).unwrap();
    let save = sandbox.memdir(&["save", "new", "--type", "project", "--description", "d"]).stdin("b");
    let output = save.code(2);
    assert!(output.stderr.contains("own"), "does not say why\n{output}");
    assert!(!sandbox.memory("new").exists());
}

fn secret(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.home().join("id_rsa")
}

fn planted_sandbox() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("good", "A memory like any other.");
    fs::write(secret(&sandbox), SECRET).unwrap();
    let outside = sandbox.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("inner.md"), memory_file("inner", SECRET, SECRET)).unwrap();
    let plant = |name: &str| sandbox.vault().join(name);
    symlink(secret(&sandbox), plant("linked.md")).unwrap();
    symlink("/nowhere/at/all", plant("dangling.md")).unwrap();
    symlink("loop.md", plant("loop.md")).unwrap();
    symlink("/dev/zero", plant("zero.md")).unwrap();
    symlink(&outside, plant("sub")).unwrap();
    fs::create_dir(plant("folder.md")).unwrap();
    make_special(&sandbox, "pipe.md", &["p"]);
    // A real device needs root; for others a second pipe stands in.
    let device: &[&str] = if can_use(&["mknod"]) { &["c", "1", "5"] } else { &["p"] };
    make_special(&sandbox, "device.md", device);
    sandbox
}

fn make_special(sandbox: &Sandbox, name: &str, kind: &[&str]) {
    let made = Command::new("mknod").arg(sandbox.vault().join(name)).args(kind).status().unwrap();
    assert!(made.success());
}
