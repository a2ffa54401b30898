//! Files that are too big, too long, or not text: listed, reported, never rewritten, never swallowed whole.

use std::fs::{self, File};
use std::io::{BufWriter, Write};

use memdir_testkit::Sandbox;

use crate::setup::{can_use, memory_file, run_or_give_up, sandbox};

/// A quarter of the big file: whoever reads or maps it whole does not get this far.
const MEMORY_LIMIT: &str = "--as=268435456";
const GIGABYTE: u64 = 1 << 30;

/// S10.
#[test]
fn huge_files_are_listed_and_reported_without_being_read_whole() {
    let sandbox = huge_sandbox();
    let before = stamps(&sandbox);
    let commands: [&[&str]; 7] = [
        &["list"],
        &["list", "--json"],
        &["manifest"],
        &["search", "marmalade"],
        &["show", "good"],
        &["doctor"],
        &["doctor", "--fix"],
    ];
    for command in commands {
        let output = run_or_give_up(sandbox.memdir(command).under(&["prlimit", MEMORY_LIMIT]));
        assert!(matches!(output.code, 0 | 1), "{command:?}\n{output}");
        if command[0] != "doctor" {
            assert!(output.stdout.contains("good"), "{command:?}\n{output}");
            continue;
        }
        for name in ["sparse", "one-line"] {
            assert!(output.stdout.contains(name), "{name} is not reported\n{output}");
        }
    }
    let save =
        sandbox.memdir(&["save", "another", "--type", "project", "--description", "beside"]).stdin("b");
    let output = run_or_give_up(save.under(&["prlimit", MEMORY_LIMIT]));
    assert!(output.is_ok(), "{output}");
    assert_eq!(stamps(&sandbox), before, "a huge file was touched");
}

/// S10.
#[test]
fn a_huge_file_is_not_edited() {
    let sandbox = huge_sandbox();
    let before = stamps(&sandbox);
    for name in ["sparse", "one-line"] {
        let edit = sandbox.memdir(&["edit", name, "--append", "more"]).under(&["prlimit", MEMORY_LIMIT]);
        let output = run_or_give_up(edit);
        assert!(matches!(output.code, 1 | 2), "{name}\n{output}");
        assert!(output.stderr.starts_with("error: "), "{name}\n{output}");
    }
    assert_eq!(stamps(&sandbox), before);
}

/// S10.
#[test]
fn bytes_that_are_no_text_are_shown_as_text_and_kept_as_bytes() {
    let utf16: Vec<u8> =
        "---\nname: wide\n---\n\nText.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin1 = [memory_file("latin", "d", "caf").as_bytes(), b"\xe9 au lait\n"].concat();
    let description = b"---\nname: desc\ndescription: caf\xe9\ntype: project\n---\n\nText.\n".to_vec();
    let files: [(&str, Vec<u8>); 7] = [
        ("nul.md", memory_file("nul", "has a nul", "one\0two").into_bytes()),
        ("latin.md", latin1),
        ("desc.md", description),
        ("wide.md", [b"\xff\xfe".to_vec(), utf16].concat()),
        ("random.md", (0..=255).cycle().take(5000).collect()),
        (
            "surrogate.md",
            memory_file("surrogate", "d", "x").into_bytes().into_iter().chain(*b"\xed\xa0\x80").collect(),
        ),
        ("empty.md", Vec::new()),
    ];
    let sandbox = sandbox();
    sandbox.write("good.md", memory_file("good", "an ordinary memory", "Findable marmalade."));
    for (name, bytes) in &files {
        sandbox.write(name, bytes);
    }
    let before = sandbox.vault_tree();
    let stems = files.iter().map(|(name, _)| name.trim_end_matches(".md"));
    let shows = stems.map(|stem| vec!["show", stem]);
    let others = [
        &["list"][..],
        &["list", "--json"],
        &["manifest"],
        &["search", "marmalade"],
        &["search", "caf"],
        &["doctor"],
    ];
    for command in others.iter().map(|command| command.to_vec()).chain(shows) {
        let (code, stdout) = raw_output(&sandbox, &command);
        assert!(matches!(code, 0 | 1), "{command:?} ends with {code}");
        assert!(std::str::from_utf8(&stdout).is_ok(), "{command:?} prints what is no UTF-8");
        assert!(!stdout.contains(&0), "{command:?} prints a nul");
    }
    sandbox.save("another", "Saving works beside it.");
    let changes = before.changes(&sandbox.vault_tree());
    assert_eq!(changes, ["+MEMORY.md", "+another.md"]);
}

/// S10.
#[test]
fn a_file_name_that_is_no_text_is_reported_and_left_alone() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = sandbox();
    sandbox.save("good", "Findable marmalade.");
    let odd = sandbox.vault().join(std::ffi::OsStr::from_bytes(b"caf\xe9.md"));
    fs::write(&odd, memory_file("odd", "d", "Text.")).unwrap();
    for command in [&["list"][..], &["search", "marmalade"]] {
        let (code, stdout) = raw_output(&sandbox, command);
        assert_eq!(code, 0, "{command:?}");
        assert!(std::str::from_utf8(&stdout).is_ok(), "{command:?}");
    }
    let (code, stdout) = raw_output(&sandbox, &["doctor"]);
    assert!(matches!(code, 0 | 1));
    assert!(String::from_utf8(stdout).unwrap().contains("caf"), "doctor does not mention it");
    assert!(odd.is_file());
}

fn huge_sandbox() -> Sandbox {
    can_use(&["prlimit"]);
    let sandbox = sandbox();
    sandbox.write("good.md", memory_file("good", "an ordinary memory", "Findable marmalade."));
    let sparse = File::create(sandbox.memory("sparse")).unwrap();
    (&sparse).write_all(memory_file("sparse", "a gigabyte of nothing", "Text.").as_bytes()).unwrap();
    sparse.set_len(GIGABYTE).unwrap();

    let mut lines = BufWriter::new(File::create(sandbox.memory("many-lines")).unwrap());
    lines.write_all(memory_file("many-lines", "a million lines", "").as_bytes()).unwrap();
    (0..1_000_000).for_each(|_| lines.write_all(b"x\n").unwrap());
    lines.flush().unwrap();

    let mut line = File::create(sandbox.memory("one-line")).unwrap();
    line.write_all(memory_file("one-line", "one long line", "").as_bytes()).unwrap();
    line.write_all(&b"x".repeat(50_000_000)).unwrap();
    sandbox
}

/// Size and time of change of every huge file; reading them back would take longer than the test.
fn stamps(sandbox: &Sandbox) -> Vec<(u64, std::time::SystemTime)> {
    let stamp = |name| {
        let metadata = fs::metadata(sandbox.memory(name)).unwrap();
        (metadata.len(), metadata.modified().unwrap())
    };
    ["sparse", "many-lines", "one-line"].map(stamp).to_vec()
}

/// Runs a command and returns its bytes; the sandbox's own output has been made text already.
fn raw_output(sandbox: &Sandbox, command: &[&str]) -> (i32, Vec<u8>) {
    let path = sandbox.root().join("stdout");
    let to_file = ["sh", "-c", "out=$1; shift; exec \"$@\" > \"$out\"", "sh"];
    let wrapper: Vec<&std::ffi::OsStr> =
        to_file.iter().map(std::ffi::OsStr::new).chain([path.as_os_str()]).collect();
    let output = run_or_give_up(sandbox.memdir(command).under(&wrapper));
    (output.code, fs::read(path).unwrap())
}
