//! A directory swapped for a link between check and use: handles, not paths.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use memdir_testkit::{Sandbox, Tree};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::setup::{kept_in, memory_file, repeat, sandbox, storm};

/// S3.
#[test]
fn a_folder_that_turns_into_a_link_and_back_leads_no_writer_outside() {
    let sandbox = sandbox();
    let outside = prepare(&sandbox);
    let before = Tree::of(&outside);
    let is_over = AtomicBool::new(false);
    let turns = 10 * repeat(2);
    let (outputs, swaps) = thread::scope(|scope| {
        let swapper = scope.spawn(|| swap_until(&sandbox, &is_over));
        let outputs = storm(4, turns, |worker, turn| {
            let name = format!("deep-{worker}");
            sandbox.memdir(&["edit", &name, "--append", &line(worker, turn)]).run()
        });
        is_over.store(true, Ordering::Relaxed);
        (outputs, swapper.join().unwrap())
    });
    assert!(swaps > 100, "only {swaps} swaps");
    assert_eq!(before.changes(&Tree::of(&outside)), [""; 0], "written outside");
    let lines = (0..4).flat_map(|worker| (0..turns).map(move |turn| line(worker, turn)));
    for (line, output) in lines.zip(&outputs) {
        assert!(!output.is_ok() || !kept_in(&sandbox, &line).is_empty(), "lost: {line}");
    }
}

/// S3. The same for the vault's own directory.
#[test]
fn a_vault_that_turns_into_a_link_and_back_leads_no_writer_into_a_strangers_file() {
    let sandbox = sandbox();
    sandbox.save("target", "Ours.");
    let outside = sandbox.root().join("outside");
    fs::create_dir(&outside).unwrap();
    // Everybody may write here: whoever checks the directory and then walks the path again ends up in it.
    fs::set_permissions(&outside, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let before = Tree::of(&outside);
    symlink(&outside, sandbox.root().join("other")).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                swap(&sandbox.vault(), &sandbox.root().join("other"));
            }
        });
        storm(4, 10 * repeat(2), |worker, turn| {
            let name = format!("note-{worker}-{turn}");
            let save = sandbox.memdir(&["save", &name, "--type", "project", "--description", &name]);
            save.stdin(line(worker, turn)).run()
        });
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(before.changes(&Tree::of(&outside)), [""; 0], "written outside");
}

fn prepare(sandbox: &Sandbox) -> std::path::PathBuf {
    let (inside, outside) = (sandbox.vault().join("sub"), sandbox.root().join("outside"));
    for directory in [&inside, &outside] {
        fs::create_dir(directory).unwrap();
        fs::set_permissions(directory, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        for worker in 0..4 {
            let name = format!("deep-{worker}");
            let text = memory_file(&name, "one level down", &format!("The start of {worker}."));
            fs::write(directory.join(format!("{name}.md")), text).unwrap();
        }
    }
    symlink(&outside, sandbox.root().join("other")).unwrap();
    outside
}

/// Swaps the folder and the link to the outside until told to stop, and ends with the folder in place.
fn swap_until(sandbox: &Sandbox, is_over: &AtomicBool) -> usize {
    let (folder, link) = (sandbox.vault().join("sub"), sandbox.root().join("other"));
    let mut swaps = 0;
    while !is_over.load(Ordering::Relaxed) || swaps % 2 == 1 {
        swap(&folder, &link);
        swaps += 1;
        // Long enough for either state to be met in the middle of a command.
        thread::sleep(std::time::Duration::from_micros(300));
    }
    swaps
}

fn swap(one: &std::path::Path, other: &std::path::Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

fn line(worker: usize, turn: usize) -> String {
    format!("line {worker}.{turn}.")
}
