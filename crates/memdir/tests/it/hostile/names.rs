//! Names that try to be paths: refused before anything is touched.

use memdir_testkit::{Sandbox, Tree};

use crate::setup::{memory_file, run_or_give_up, sandbox};

/// Strings that are no name for a new memory, whatever they would mean elsewhere.
const HOSTILE: [&str; 66] = [
    // climbing
    "../x",
    "..",
    ".",
    "./x",
    "../../../../tmp/x",
    "a/../../x",
    "a/../x",
    "a/./b",
    "x/..",
    "..\\x",
    "a\\..\\..\\x",
    "....//x",
    // absolute, devices, shares
    "/etc/passwd",
    "/x",
    "//x",
    "/proc/self/environ",
    "/dev/stdin",
    "~/x",
    "~root/x",
    "C:\\x",
    "C:x",
    "c:/x",
    "\\\\srv\\s",
    "\\\\?\\C:\\x",
    "file:///etc/passwd",
    "con",
    "con.md",
    "nul",
    "aux.md",
    "com1",
    "lpt9.md",
    "x:stream",
    // encoded
    "..%2fx",
    "%2e%2e/x",
    "%2e%2e%2fx",
    "..%252fx",
    "..%c0%afx",
    "\u{ff0e}\u{ff0e}/x",
    "\u{ff0e}\u{ff0e}\u{ff0f}x",
    "\u{2024}\u{2024}/x",
    "..\u{2215}x",
    "..\u{29f8}x",
    // neighbours and files with a meaning
    "memory-evil/x",
    "vault-evil/x",
    "../vault-evil/x",
    "sub/x",
    ".git/config",
    ".git",
    ".hidden",
    ".memdir-tmp-x",
    "MEMORY.md",
    "memory",
    "Memory.MD",
    "memory.md",
    // shapes
    "",
    " ",
    "x ",
    " x",
    "x.",
    "x.md.",
    "x.md ",
    "-rf",
    "--help",
    "x\ny",
    "x\u{202e}y",
    "$(touch x)",
];

/// S1.
#[test]
fn a_hostile_name_is_refused_by_save_and_rename_and_nothing_appears() {
    let sandbox = sandbox_with_a_neighbour();
    let before = outside_and_vault(&sandbox);
    let too_long = ["x".repeat(65), "x".repeat(300), format!("{}.md", "x".repeat(300)), "é".repeat(100)];
    for name in HOSTILE.iter().copied().chain(too_long.iter().map(String::as_str)) {
        let save = ["save", "--type", "project", "--description", "d", "--body", "b", "--", name];
        sandbox.memdir(&save).code(2);
        sandbox.memdir(&["rename", "--", "good", name]).code(2);
        assert_eq!(before.changes(&outside_and_vault(&sandbox)), [""; 0], "{name:?}");
    }
}

/// S1. A file of any style may be read, so a name that is only unusual is "not found" here.
#[test]
fn a_hostile_name_reads_edits_and_forgets_nothing() {
    let sandbox = sandbox_with_a_neighbour();
    let before = outside_and_vault(&sandbox);
    for name in HOSTILE {
        let commands: [&[&str]; 9] = [
            &["show", "--", name],
            &["show", "--raw", "--", name],
            &["edit", "--body", "b", "--", name],
            &["correct", "--body", "b", "--", name],
            &["links", "--", name],
            &["rename", "--", name, "better"],
            &["supersede", "--", "good", name],
            &["forget", "--yes", "--", name],
            &["forget", "--erase", "--yes", "--", name],
        ];
        for command in commands {
            let output = run_or_give_up(sandbox.memdir(command));
            assert!(matches!(output.code, 1 | 2), "{command:?}\n{output}");
            assert!(!output.stdout.contains("root:") && !output.stdout.contains("the neighbour"), "{output}");
            assert!(output.stderr.starts_with("error: "), "{command:?} says nothing\n{output}");
        }
        let climbs = name.contains("..") || name.starts_with(['/', '.']) || name.contains('\\');
        if climbs {
            sandbox.memdir(&["show", "--", name]).code(2);
        }
        assert_eq!(before.changes(&outside_and_vault(&sandbox)), [""; 0], "{name:?}");
    }
}

/// S1.
#[test]
fn hostile_link_targets_lead_nowhere() {
    let sandbox = sandbox_with_a_neighbour();
    let links: String = HOSTILE.iter().map(|name| format!("- [[{name}]] and [text]({name}.md)\n")).collect();
    sandbox.write("linking.md", memory_file("linking", "links everywhere", &format!("{links}- [[a\0b]]")));
    let before = outside_and_vault(&sandbox);
    let output = run_or_give_up(sandbox.memdir(&["links", "linking"]));
    assert!(matches!(output.code, 0 | 1), "{output}");
    assert!(!output.stdout.contains("the neighbour"), "{output}");
    for command in [&["doctor"][..], &["list"], &["search", "links"], &["show", "linking"]] {
        let output = run_or_give_up(sandbox.memdir(command));
        assert_ne!(output.code, 2, "{output}");
    }
    assert_eq!(before.changes(&outside_and_vault(&sandbox)), [""; 0]);
}

/// S1.
#[test]
fn an_index_page_that_points_outside_is_not_followed() {
    let sandbox = sandbox_with_a_neighbour();
    let page =
        "# Memory Index\n- [Secret](../vault-evil/neighbour.md) — the neighbour\n- [Root](/etc/passwd.md)\n";
    sandbox.write("MEMORY.md", page);
    let before = outside(&sandbox);
    for command in [&["list"][..], &["doctor"], &["doctor", "--fix"], &["search", "neighbour"]] {
        let output = run_or_give_up(sandbox.memdir(command));
        assert!(!output.stdout.contains("says the neighbour"), "{output}");
    }
    sandbox.save("another", "Something else.");
    assert_eq!(before.changes(&outside(&sandbox)), [""; 0]);
}

fn sandbox_with_a_neighbour() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("good", "A memory to rename.");
    let neighbour = sandbox.root().join("vault-evil");
    std::fs::create_dir(&neighbour).unwrap();
    let text = memory_file("neighbour", "not ours", "A secret, says the neighbour.");
    std::fs::write(neighbour.join("neighbour.md"), &text).unwrap();
    std::fs::write(sandbox.root().join("x.md"), &text).unwrap();
    sandbox
}

/// Everything in the sandbox but our own state.
fn outside_and_vault(sandbox: &Sandbox) -> Tree {
    Tree::of(sandbox.root()).without(|path| path.starts_with("state/"))
}

fn outside(sandbox: &Sandbox) -> Tree {
    outside_and_vault(sandbox).without(|path| path.starts_with("vault/"))
}
