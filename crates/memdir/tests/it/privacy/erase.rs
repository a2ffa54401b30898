//! `forget --erase` leaves no byte, in no encoding, and nothing brings the text back.

use std::fs;

use memdir_testkit::{Sandbox, Tree};

use crate::setup::{can_use, listed_names, prose, sandbox};

/// Words that occur nowhere by accident; letters only, so that no index cuts them in two.
const CANARIES: [&str; 3] = ["xylorimbaquartz", "zephyrwhistlebox", "vortexmandolinfig"];

/// F1.
#[test]
fn after_an_erase_no_byte_of_the_text_is_left_in_any_encoding() {
    let sandbox = sandbox();
    live_through_everything(&sandbox);
    assert!(!hits(&sandbox).is_empty(), "the scan finds what is there");
    let output = sandbox.memdir(&["forget", "secret-plan", "--erase", "--yes"]).ok();
    assert!(!output.stdout.is_empty(), "says what it removed");
    assert_eq!(hits(&sandbox), [""; 0]);
    assert!(listed_names(&sandbox).contains(&"innocent".to_owned()), "took others along");
    assert!(sandbox.read("innocent").contains(&prose(1)));
}

/// F1: what sessions repeat goes too: journals, working memories, kept conversations, the blocks that sessions began with.
#[test]
fn an_erase_reaches_what_is_kept_of_sessions() {
    let sandbox = sandbox();
    sandbox.save("innocent", &prose(1));
    let text = format!("Never tell {} that the {} moved to the old harbour.", CANARIES[0], CANARIES[1]);
    let description = format!("the {} moved to the old harbour", CANARIES[1]);
    let save = ["save", "secret-plan", "--type", "project", "--description", &description];
    sandbox.memdir(&save).stdin(&text).ok();
    let state = project_state(&sandbox);
    let cut: String = text.chars().take(text.chars().count() - 12).collect();
    let quoted = serde_json::to_string(&format!("Sure.\n{text}\nBye \"you\"")).unwrap();
    let files = [
        (
            state.join("journal/2026/04/1-s.md"),
            format!("# Day\n\n- asked: {cut}…\n- kept: a quiet afternoon\n"),
        ),
        (state.join("session/s.md"), format!("# Notes\n\n{}\n", text.replace(" that ", "\nthat "))),
        (
            state.join("transcripts/s.jsonl"),
            format!("{{\"id\":\"1\",\"role\":\"user\",\"text\":{quoted}}}\n"),
        ),
        (sandbox.state().join("sessions/s.start"), format!("- [Plan](secret-plan.md): {description}\n")),
    ];
    for (path, text) in &files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let output = sandbox.memdir(&["forget", "secret-plan", "--erase", "--yes"]).json();
    assert_eq!(output["sessions"], 4, "{output}");
    assert_eq!(hits(&sandbox), [""; 0]);
    let read = |n: usize| fs::read_to_string(&files[n].0).unwrap();
    assert!(read(0).contains("a quiet afternoon"), "{}", read(0));
    let turn: serde_json::Value = serde_json::from_str(&read(2)).unwrap();
    assert_eq!(turn["text"], "Sure.\n[erased].\nBye \"you\"");
    assert!(!read(3).contains("secret-plan"), "{}", read(3));
}

/// The state of the one project in a sandbox.
fn project_state(sandbox: &Sandbox) -> std::path::PathBuf {
    let mut projects = fs::read_dir(sandbox.state().join("projects")).unwrap();
    projects.next().unwrap().unwrap().path()
}

/// F1.
#[test]
fn an_erase_after_a_plain_forget_reaches_the_trash() {
    let sandbox = sandbox();
    live_through_everything(&sandbox);
    sandbox.memdir(&["forget", "secret-plan", "--yes"]).ok();
    assert!(!hits(&sandbox).is_empty(), "a plain forget can be undone");
    sandbox.memdir(&["forget", "secret-plan", "--erase", "--yes"]).ok();
    assert_eq!(hits(&sandbox), [""; 0]);
}

/// F1.
#[test]
fn an_erase_reaches_the_archive_and_the_conflicts() {
    let sandbox = sandbox();
    live_through_everything(&sandbox);
    let base =
        sandbox.memdir(&["edit", "secret-plan", "--tag", "x"]).json()["hash"].as_str().unwrap().to_owned();
    sandbox.memdir(&["edit", "secret-plan", "--body", &format!("All new {}.", CANARIES[0])]).ok();
    let stale = format!("Other {}.", CANARIES[1]);
    sandbox.memdir(&["edit", "secret-plan", "--base", &base, "--body", &stale]).code(1);
    sandbox.memdir(&["supersede", "secret-plan", "innocent"]).ok();
    sandbox.memdir(&["forget", "secret-plan", "--erase", "--yes"]).ok();
    assert_eq!(hits(&sandbox), [""; 0]);
}

/// F1. Another memory that has the same text keeps it: only the one is erased.
#[test]
fn an_erase_leaves_what_other_memories_say() {
    let sandbox = sandbox();
    sandbox.save("innocent", &prose(1));
    save_secret(&sandbox);
    sandbox.memdir(&["edit", "innocent", "--append", "See [[secret-plan]]."]).ok();
    sandbox.memdir(&["edit", "innocent", "--tag", "kept"]).ok();
    sandbox.memdir(&["forget", "secret-plan", "--erase", "--yes"]).ok();
    assert!(sandbox.read("innocent").contains(&prose(1)));
    sandbox.memdir(&["undo"]).run();
    assert!(sandbox.read("innocent").contains(&prose(1)), "the history of others is still there");
}

/// F1.
#[test]
fn an_erase_reaches_the_project_that_a_memory_was_promoted_from() {
    let sandbox = sandbox();
    let run = |args: &[&str]| sandbox.memdir(args).without_env("MEMDIR_VAULT");
    let save =
        ["save", "secret-plan", "--type", "feedback", "--description", CANARIES[0], "--body", CANARIES[1]];
    run(&save).ok();
    run(&["promote", "secret-plan", "--to", "user"]).ok();
    run(&["forget", "secret-plan", "--erase", "--yes"]).ok();
    assert_eq!(hits(&sandbox), [""; 0]);
}

/// F1.
#[test]
fn an_erase_reaches_old_pages_even_if_another_memory_has_the_former_name() {
    let sandbox = sandbox();
    save_secret(&sandbox);
    sandbox.memdir(&["rename", "secret-plan", "renamed-plan"]).ok();
    sandbox.save("secret-plan", &prose(1));
    sandbox.memdir(&["forget", "renamed-plan", "--erase", "--yes"]).ok();
    assert_eq!(hits(&sandbox), [""; 0]);
    assert!(sandbox.read("secret-plan").contains(&prose(1)), "took the namesake along");
}

/// F1.
#[test]
fn an_erase_by_a_former_name_takes_all_of_the_memory_or_nothing() {
    let sandbox = sandbox();
    save_secret(&sandbox);
    sandbox.memdir(&["rename", "secret-plan", "renamed-plan"]).ok();
    let before = sandbox.vault_tree();
    let output = sandbox.memdir(&["forget", "secret-plan", "--erase", "--yes"]).run();
    if output.is_ok() {
        assert_eq!(hits(&sandbox), [""; 0], "{output}");
        return;
    }
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "{output}");
    sandbox.memdir(&["undo"]).ok();
    assert!(sandbox.memory("secret-plan").exists(), "its history is still there");
}

/// F1.
#[test]
fn an_erase_reaches_what_waits_in_the_inbox() {
    let sandbox = sandbox();
    let save =
        ["save", "secret-plan", "--type", "project", "--description", CANARIES[0], "--provenance", "tool"];
    sandbox.memdir(&save).stdin(CANARIES[1]).ok();
    assert!(!sandbox.memory("secret-plan").exists(), "a tool's words wait for the user's");
    assert!(!hits(&sandbox).is_empty());
    sandbox.memdir(&["forget", "secret-plan", "--erase", "--yes"]).ok();
    assert_eq!(hits(&sandbox), [""; 0]);
}

/// F1. `erase` keeps hash and date only, so the name goes too.
#[test]
fn an_erased_name_is_not_left_behind() {
    let sandbox = sandbox();
    sandbox.save("innocent", &prose(1));
    let name = format!("plan-{}", CANARIES[0]);
    sandbox.save(&name, &prose(2));
    sandbox.memdir(&["edit", &name, "--append", "More."]).ok();
    sandbox.memdir(&["forget", &name, "--erase", "--yes"]).ok();
    assert_eq!(hits(&sandbox), [""; 0]);
}

/// F1.
#[test]
fn an_erase_needs_a_yes() {
    let sandbox = sandbox();
    save_secret(&sandbox);
    let before = sandbox.vault_tree();
    let output = sandbox.memdir(&["forget", "secret-plan", "--erase"]).run();
    assert_ne!(output.code, 0, "{output}");
    assert!(output.stderr.contains("--yes"), "{output}");
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
}

/// F2.
#[test]
fn nothing_brings_an_erased_memory_back() {
    let sandbox = sandbox();
    live_through_everything(&sandbox);
    let erased = sandbox.memdir(&["log", "--limit", "1"]).json()[0]["change"].as_str().unwrap().to_owned();
    sandbox.memdir(&["forget", "secret-plan", "--erase", "--yes"]).ok();
    let commands: [&[&str]; 9] = [
        &["list"],
        &["search", CANARIES[0]],
        &["undo", &erased],
        &["doctor", "--fix"],
        &["diff", &erased],
        &["log", "secret-plan"],
        &["save", "later", "--type", "project", "--description", "afterwards", "--body", "Something else."],
        &["undo"],
        &["undo"],
    ];
    for command in commands {
        let output = sandbox.memdir(command).run();
        let said = format!("{}{}", output.stdout, output.stderr);
        let asked = command.concat();
        let leaks = CANARIES.iter().any(|word| said.contains(word) && !asked.contains(word));
        assert!(!leaks, "{command:?}\n{output}");
        assert_eq!(hits(&sandbox), [""; 0], "{command:?} brought it back");
    }
    sandbox.memdir(&["show", "secret-plan"]).code(1);
}

/// F2.
#[test]
fn an_erase_killed_anywhere_can_be_finished() {
    if !can_use(&["strace"]) {
        return;
    }
    const CALLS: &str = "write,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat";
    let erase = ["forget", "secret-plan", "--erase", "--yes"];
    let rehearsal = sandbox();
    save_secret(&rehearsal);
    let (output, trace) = rehearsal.memdir(&erase).traced(CALLS);
    assert!(output.is_ok(), "{output}");
    for name in CALLS.split(',') {
        for number in 1..=trace.named(&[name]).count() {
            let sandbox = sandbox();
            save_secret(&sandbox);
            sandbox.save("innocent", &prose(1));
            let point = format!("inject={name}:signal=SIGKILL:when={number}");
            let (output, _) = sandbox.memdir(&erase).traced_with(CALLS, &["-e", &point]);
            let is_begun = sandbox.state_tree().paths().any(|path| path.ends_with("/erasing.json"));
            sandbox.memdir(&["list"]).run();
            if !hits(&sandbox).is_empty() {
                assert!(!is_begun, "{point}: the next command finishes what was begun");
                let again = sandbox.memdir(&erase).run();
                assert!(matches!(again.code, 0 | 1), "{point}\n{output}\n{again}");
            }
            assert_eq!(hits(&sandbox), [""; 0], "{point}");
            assert!(sandbox.read("innocent").contains(&prose(1)), "{point}");
            assert!(!sandbox.index_page().contains("secret-plan"), "{point}: the page points to nothing");
        }
    }
}

/// F3.
#[test]
fn forget_by_query_lists_first_and_acts_only_when_told_to() {
    let sandbox = sandbox();
    for number in 0..3 {
        sandbox.save(&format!("about-{number}"), &format!("{} {}", CANARIES[0], prose(number)));
    }
    sandbox.save("innocent", &prose(9));
    let before = sandbox.vault_tree();

    let asked = sandbox.memdir(&["forget", "--query", CANARIES[0]]).code(1);
    let said = format!("{}{}", asked.stdout, asked.stderr);
    for number in 0..3 {
        assert!(said.contains(&format!("about-{number}")), "{asked}");
    }
    assert!(said.contains("--yes") && !said.contains("innocent"), "{asked}");
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "acted before it was told to");

    let done = sandbox.memdir(&["forget", "--query", CANARIES[0], "--yes"]).ok();
    for number in 0..3 {
        assert!(done.stdout.contains(&format!("about-{number}")), "{done}");
    }
    assert_eq!(listed_names(&sandbox), ["innocent"]);
    sandbox.memdir(&["undo"]).ok();
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "one change, undone as one");
}

/// F3.
#[test]
fn a_query_that_matches_nothing_forgets_nothing() {
    let sandbox = sandbox();
    sandbox.save("innocent", &prose(9));
    sandbox.memdir(&["forget", "--query", CANARIES[0], "--yes"]).code(1);
    assert_eq!(listed_names(&sandbox), ["innocent"]);
}

/// F1.
#[test]
fn a_plain_forget_older_than_thirty_days_leaves_nothing_either() {
    let sandbox = sandbox();
    save_secret(&sandbox);
    sandbox.memdir(&["forget", "secret-plan", "--yes"]).ok();
    let later = "2026-05-20T10:30:00Z";
    sandbox
        .memdir(&["save", "later", "--type", "project", "--description", "d"])
        .stdin(prose(2))
        .at(later)
        .ok();
    assert_eq!(hits(&sandbox), [""; 0]);
}

fn save_secret(sandbox: &Sandbox) {
    let description = format!("the plan of {}", CANARIES[1]);
    let save =
        ["save", "secret-plan", "--type", "project", "--description", &description, "--tag", CANARIES[2]];
    sandbox.memdir(&save).stdin(format!("Meet {} at noon.", CANARIES[0])).ok();
}

/// Everything that might leave a copy somewhere.
fn live_through_everything(sandbox: &Sandbox) {
    sandbox.save("innocent", &prose(1));
    save_secret(sandbox);
    let aside = tempfile::tempdir().unwrap();
    let export = aside.path().join("export");
    let commands: [&[&str]; 13] = [
        &["search", CANARIES[0]],
        &["edit", "secret-plan", "--append", "And then some."],
        &["edit", "secret-plan", "--description", &format!("the new plan of {}", CANARIES[2])],
        &["rename", "secret-plan", "renamed-plan"],
        &["show", "renamed-plan"],
        &["undo"],
        &["correct", "secret-plan", "--body", &format!("Meet {} at one.", CANARIES[1])],
        &["undo"],
        &["forget", "secret-plan", "--yes"],
        &["undo"],
        &["search", "plan"],
        &["export", "archive", export.to_str().unwrap()],
        &["doctor"],
    ];
    for command in commands {
        let output = sandbox.memdir(command).run();
        assert!(output.is_ok() || command == ["doctor"], "{command:?}\n{output}");
    }
}

/// Every file below the sandbox with one of the words in it, in whatever encoding.
fn hits(sandbox: &Sandbox) -> Vec<String> {
    let tree = Tree::of(sandbox.root());
    let mut found: Vec<String> = Vec::new();
    for word in CANARIES {
        let path_hits =
            tree.paths().filter(|path| path.contains(word)).map(|path| format!("{word} names {path}"));
        found.extend(path_hits);
        for (encoding, needle) in encodings(word) {
            found.extend(
                tree.containing(&needle).iter().map(|path| format!("{word} as {encoding} in {path}")),
            );
        }
    }
    found
}

fn encodings(word: &str) -> Vec<(&'static str, Vec<u8>)> {
    let wide: Vec<u16> = word.encode_utf16().collect();
    let mut all = vec![
        ("text", word.as_bytes().to_vec()),
        ("upper case", word.to_uppercase().into_bytes()),
        ("UTF-16LE", wide.iter().flat_map(|unit| unit.to_le_bytes()).collect()),
        ("UTF-16BE", wide.iter().flat_map(|unit| unit.to_be_bytes()).collect()),
        ("reversed", word.bytes().rev().collect()),
    ];
    // In base64 a word looks different at each of three alignments; only its inner groups are certain.
    all.extend((0..3).map(|skip| ("base64", base64(&word.as_bytes()[skip..]))));
    all
}

/// The whole groups of three bytes in base64; a rest of one or two bytes depends on what follows and is left out.
fn base64(bytes: &[u8]) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        [18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift) as usize & 63])
    };
    bytes.chunks_exact(3).flat_map(group).collect()
}

#[test]
fn the_scan_finds_a_word_in_every_encoding() {
    let sandbox = sandbox();
    let text = format!("x{}y", CANARIES[0]);
    let encoded = base64(text.as_bytes());
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (number, bytes) in [text.into_bytes(), encoded, wide].iter().enumerate() {
        assert_eq!(hits(&sandbox), [""; 0]);
        let path = sandbox.vault().join(number.to_string());
        fs::write(&path, bytes).unwrap();
        assert!(!hits(&sandbox).is_empty(), "{number}");
        fs::remove_file(path).unwrap();
    }
}
