//! Watches what a command asks of the kernel: the order of a durable save, how often it syncs, its manners after a
//! failed sync, and that it makes no guessable temporary file.
#![cfg(target_os = "linux")]

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use memdir_testkit::{Call, Invocation, Sandbox, Trace};

const SYNCS: [&str; 2] = ["fsync", "fdatasync"];
const RENAMES: [&str; 4] = ["rename", "renameat", "renameat2", "linkat"];
const OPENS: [&str; 4] = ["open", "openat", "openat2", "creat"];
/// Whatever touches files; `?` lets strace pass over calls this architecture lacks.
const FILE_CALLS: &str = "?open,openat,?openat2,?creat,close,dup,?dup2,dup3,fcntl,write,fsync,fdatasync,\
    ?rename,?renameat,renameat2,linkat,?unlink,unlinkat,flock";

/// A save is the change's record and its directory, the memory and the vault, and a record of what was done.
const MOST_SYNCS_OF_A_SAVE: usize = 5;
/// Beyond one for each memory.
const MOST_OTHER_SYNCS_OF_AN_IMPORT: usize = 6;

#[test]
fn a_new_memory_is_durable_before_it_is_acknowledged() {
    let sandbox = sandbox();
    sandbox.save("reference-first", "The sea is salty.\n");
    let (output, trace) = save(&sandbox, "reference-order").traced(FILE_CALLS);
    assert!(output.is_ok(), "{output}");
    assert_durable_order(&sandbox, &trace, "reference-order.md");
}

#[test]
fn a_changed_memory_is_durable_before_it_is_acknowledged() {
    let sandbox = sandbox();
    sandbox.save("reference-order", "what was known before\n");
    let (output, trace) = save(&sandbox, "reference-order").traced(FILE_CALLS);
    assert!(output.is_ok(), "{output}");
    assert_durable_order(&sandbox, &trace, "reference-order.md");
}

#[test]
fn a_save_syncs_no_more_often_than_the_promise_needs() {
    let sandbox = sandbox();
    sandbox.save("reference-first", "The sea is salty.\n");
    for kind in ["new", "over"] {
        let invocation = save(&sandbox, "reference-counted").stdin(format!("This is the {kind} version.\n"));
        let (output, trace) = invocation.traced("fsync,fdatasync");
        assert!(output.is_ok(), "{output}");
        let n_syncs = trace.count(&SYNCS);
        assert!((2..=MOST_SYNCS_OF_A_SAVE).contains(&n_syncs), "save {kind}: {n_syncs} syncs\n{trace:#?}");
    }
}

#[test]
fn an_import_of_a_thousand_takes_one_lock_and_syncs_the_vault_once() {
    let sandbox = sandbox();
    sandbox.save("reference-first", "The sea is salty.\n");
    let source = sandbox.root().join("source");
    write_memories(&source, 1_000);
    let import = sandbox.memdir(&["import", "claude-code", source.to_str().unwrap()]);
    let (output, trace) = import.traced("fsync,fdatasync,flock");
    assert!(output.is_ok(), "{output}");

    let n_syncs = trace.count(&SYNCS);
    assert!(n_syncs >= 1_000, "{n_syncs} syncs make no thousand memories durable");
    assert!(n_syncs <= 1_000 + MOST_OTHER_SYNCS_OF_AN_IMPORT, "{n_syncs} syncs");
    let of_vault =
        trace.named(&SYNCS).filter(|call| call.descriptor_path() == sandbox.vault().to_str()).count();
    assert_eq!(of_vault, 1, "syncs of the vault's directory");
    // What is derived has a lock of its own below `index/`.
    let is_vaults = |call: &&Call| call.descriptor_path().is_some_and(|path| path.contains("/locks/"));
    let is_taken = |call: &&Call| call.has_flag("LOCK_EX") && call.succeeded();
    assert_eq!(trace.named(&["flock"]).filter(is_vaults).filter(is_taken).count(), 1, "locks taken");
}

#[test]
fn a_failed_sync_is_never_repeated_on_the_same_file() {
    let sandbox = sandbox();
    sandbox.save("reference-first", "The sea is salty.\n");
    let n_syncs = save(&sandbox, "reference-unharmed").traced("fsync").1.count(&["fsync"]);
    assert!(n_syncs >= 2, "{n_syncs} syncs");
    let each = (1..=n_syncs).map(|n| format!("inject=fsync:error=EIO:when={n}"));
    let all = "inject=fsync:error=EIO".to_owned();
    for (number, inject) in each.chain([all]).enumerate() {
        let name = format!("reference-failing-{number}");
        let (output, trace) = save(&sandbox, &name).traced_with(FILE_CALLS, &["-e", &inject]);
        assert!(trace.calls.iter().any(Call::was_injected), "{inject} hit nothing");
        assert_no_second_sync(&trace, &inject);
        if output.is_ok() {
            assert!(sandbox.memory(&name).exists(), "{inject}: acknowledged, but not there");
        }
    }
}

#[test]
fn what_cannot_be_synced_is_not_acknowledged() {
    let sandbox = sandbox();
    sandbox.save("reference-first", "The sea is salty.\n");
    // Once is forgiven, with a new file; the second failure is told, even if every later sync would work.
    for inject in ["inject=fsync:error=EIO:when=1..2", "inject=fsync:error=EIO"] {
        let (output, _) = save(&sandbox, "reference-failing").traced_with("fsync", &["-e", inject]);
        assert_eq!(output.code, 2, "{inject}\n{output}");
        assert!(
            output.stderr.contains(sandbox.root().to_str().unwrap()),
            "the message names no file\n{output}"
        );
        assert!(!sandbox.memory("reference-failing").exists(), "{inject}: refused, but there");
    }
}

#[test]
fn no_temporary_file_can_be_guessed() {
    let sandbox = sandbox();
    let source = sandbox.root().join("source");
    write_memories(&source, 3);
    let archive = sandbox.root().join("archive");
    let (source, archive) = (source.to_str().unwrap(), archive.to_str().unwrap());
    let commands: [&[&str]; 11] = [
        &["save", "reference-one", "--type", "reference", "--description", "one", "--body", "first words\n"],
        &["edit", "reference-one", "--append", "more words"],
        &["edit", "reference-one"],
        &["rename", "reference-one", "reference-two"],
        &["search", "words"],
        &["import", "claude-code", source],
        &["export", "archive", archive],
        &["forget", "reference-two", "--yes"],
        &["undo"],
        &["forget", "reference-two", "--erase", "--yes"],
        &["doctor", "--fix"],
    ];
    let mut n_made = 0;
    for args in commands {
        let (output, trace) = sandbox.memdir(args).env("EDITOR", "true").traced(FILE_CALLS);
        assert!(output.is_ok(), "{args:?}\n{output}");
        for call in trace.named(&OPENS) {
            let path = call.path();
            let is_made = call.has_flag("O_CREAT");
            let is_temporary = is_made && path.to_string_lossy().contains(".memdir-tmp-");
            let is_shared = is_made && is_in_shared_directory(&path) && !path.starts_with(sandbox.root());
            assert!(!(is_temporary || is_shared) || call.has_flag("O_EXCL"), "{args:?} opens {call:?}");
            n_made += usize::from(is_temporary);
        }
    }
    assert!(n_made > commands.len() / 2, "only {n_made} temporary files were seen");
}

/// A sandbox that is not below `/tmp`, which one of these tests watches.
fn sandbox() -> Sandbox {
    Sandbox::below(env!("CARGO_BIN_EXE_memdir"), Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn save(sandbox: &Sandbox, name: &str) -> Invocation {
    let body = format!("What {name} is about, in words of its own.\n");
    sandbox.memdir(&["save", name, "--type", "reference", "--description", name]).stdin(body)
}

/// Temp file made privately, written, synced, renamed; directory synced; only then the answer.
fn assert_durable_order(sandbox: &Sandbox, trace: &Trace, file_name: &str) {
    let vault = sandbox.vault();
    let publishes = |call: &Call| {
        RENAMES.contains(&call.name.as_str())
            && call.succeeded()
            && call.strings().last().is_some_and(|name| vault.join(name) == vault.join(file_name))
    };
    let published =
        trace.position(publishes).unwrap_or_else(|| panic!("{file_name} is not renamed\n{trace:#?}"));
    let temporary = vault.join(trace.calls[published].strings()[0]);

    let is_temporary = |path: Option<&str>| path.is_some_and(|path| Path::new(path) == temporary);
    let opened =
        trace.position(|call| OPENS.contains(&call.name.as_str()) && is_temporary(call.returned_path()));
    let opened = &trace.calls[opened.unwrap_or_else(|| panic!("{} is not opened", temporary.display()))];
    for flag in ["O_CREAT", "O_EXCL", "O_NOFOLLOW", "0600"] {
        assert!(opened.has_flag(flag), "no {flag}: {opened:?}");
    }
    let is_sync = |call: &Call| SYNCS.contains(&call.name.as_str()) && call.succeeded();
    let last_write = trace.calls[..published]
        .iter()
        .rposition(|call| call.name == "write" && is_temporary(call.descriptor_path()))
        .expect("the temporary file is written before it is renamed");
    let synced = trace.position(|call| is_sync(call) && is_temporary(call.descriptor_path()));
    assert!(
        synced.is_some_and(|synced| last_write < synced && synced < published),
        "not synced before: {trace:#?}"
    );

    let answered = trace.position(|call| call.name == "write" && call.descriptor() == Some(1));
    let answered = answered.unwrap_or(trace.calls.len());
    let directory_synced = trace.calls[published..answered.max(published)]
        .iter()
        .any(|call| is_sync(call) && call.descriptor_path() == vault.to_str());
    assert!(directory_synced, "the vault is not synced between rename and answer\n{trace:#?}");
}

/// Follows every open file through its descriptors: once a sync of it failed, none may follow.
fn assert_no_second_sync(trace: &Trace, inject: &str) {
    let mut files: HashMap<i32, usize> = HashMap::new();
    let mut failed = HashSet::new();
    for (number, call) in trace.calls.iter().enumerate() {
        let descriptor = call.descriptor().unwrap_or(-1);
        // An open file is known by the number of the call that opened it.
        let file = files.get(&descriptor).copied();
        match call.name.as_str() {
            "fsync" | "fdatasync" => {
                assert!(
                    file.is_none_or(|file| !failed.contains(&file)),
                    "{inject}: synced again: {call:?}\n{trace:#?}"
                );
                if !call.succeeded() {
                    failed.extend(file);
                }
            }
            "close" => drop(files.remove(&descriptor)),
            name => {
                let Some(returned) = call.returned_descriptor().filter(|_| call.returned_path().is_some())
                else {
                    continue;
                };
                let is_copy = name.starts_with("dup") || name == "fcntl";
                files.insert(returned, if is_copy { file.unwrap_or(number) } else { number });
            }
        }
    }
}

fn is_in_shared_directory(path: &Path) -> bool {
    [PathBuf::from("/tmp"), PathBuf::from("/var/tmp"), env::temp_dir()]
        .iter()
        .any(|shared| path.starts_with(shared))
}

fn write_memories(directory: &Path, count: usize) {
    fs::create_dir(directory).expect("the sandbox is writable");
    for n in 0..count {
        let body = format!("Crate {n} holds {} parts from yard {}.", n * 37 % 1013, n * 53 % 977);
        let text = format!(
            "---\nname: reference-import-{n}\ndescription: crate number {n}\ntype: reference\n---\n\n{body}\n"
        );
        fs::write(directory.join(format!("reference-import-{n}.md")), text).expect("the sandbox is writable");
    }
}
