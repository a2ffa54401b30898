//! Files 0600, directories 0700, whatever the umask; a looser one is reported, and fixed on request.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use memdir_testkit::Sandbox;

use crate::setup::{editor, prose, sandbox};

/// F6.
#[test]
fn modes_do_not_depend_on_the_umask() {
    for umask in ["000", "022", "077"] {
        let sandbox = sandbox();
        fs::remove_dir(sandbox.vault()).unwrap();
        live_under(&sandbox, umask);
        let loose = loose_below(&sandbox.vault()).into_iter().chain(loose_below(&sandbox.state()));
        assert_eq!(loose.collect::<Vec<_>>(), [""; 0], "umask {umask}");
    }
}

/// F6.
#[test]
fn a_copy_for_the_editor_is_private() {
    let sandbox = sandbox();
    sandbox.save("rule", &prose(1));
    let script = "stat -c '%a' \"$1\" \"$(dirname \"$1\")\" > \"$OUT\"\n";
    let out = sandbox.root().join("modes");
    let edit = sandbox.memdir(&["edit", "rule"]).env("EDITOR", editor(&sandbox, script)).env("OUT", &out);
    edit.under(&with_umask("000")).run();
    assert_eq!(fs::read_to_string(out).unwrap(), "600\n700\n");
}

/// F6.
#[test]
fn a_looser_directory_or_file_is_reported_and_fixed_on_request() {
    let sandbox = sandbox();
    sandbox.save("rule", &prose(1));
    let loosen = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    loosen(&sandbox.vault(), 0o755);
    loosen(&sandbox.memory("rule"), 0o644);
    loosen(&sandbox.state(), 0o755);
    let report = sandbox.memdir(&["doctor"]).run();
    for directory in [sandbox.vault(), sandbox.state()] {
        let path = directory.to_string_lossy().into_owned();
        let is_reported = |line: &str| line.contains(&path) && line.contains("others");
        assert!(report.stdout.lines().any(is_reported), "{path} is not reported\n{report}");
    }
    assert_eq!(fs::metadata(sandbox.vault()).unwrap().mode() & 0o777, 0o755, "fixed unasked");
    let text = sandbox.read("rule");
    sandbox.memdir(&["doctor", "--fix"]).run();
    let loose = loose_below(&sandbox.vault()).into_iter().chain(loose_below(&sandbox.state()));
    assert_eq!(loose.collect::<Vec<_>>(), [""; 0]);
    assert_eq!(sandbox.read("rule"), text);
}

/// F6. An edit tightens nothing and loosens nothing silently: the new version is private.
#[test]
fn a_new_version_of_a_loose_file_is_private() {
    let sandbox = sandbox();
    sandbox.save("rule", &prose(1));
    fs::set_permissions(sandbox.memory("rule"), fs::Permissions::from_mode(0o644)).unwrap();
    sandbox.memdir(&["edit", "rule", "--append", "More."]).ok();
    assert_eq!(fs::metadata(sandbox.memory("rule")).unwrap().mode() & 0o777, 0o600);
}

/// Every kind of command that makes a file.
fn live_under(sandbox: &Sandbox, umask: &str) {
    let commands: [&[&str]; 9] = [
        &["save", "rule", "--type", "project", "--description", "d", "--body", "First."],
        &["save", "role", "--type", "user", "--description", "d", "--body", "Someone."],
        &["edit", "rule", "--append", "Second."],
        &["rename", "rule", "law"],
        &["undo"],
        &["forget", "rule", "--yes"],
        &["undo"],
        &["search", "first"],
        &["doctor", "--fix"],
    ];
    for command in commands {
        let output = sandbox.memdir(command).under(&with_umask(umask)).run();
        assert!(matches!(output.code, 0 | 1), "umask {umask}: {command:?}\n{output}");
    }
}

fn with_umask(umask: &str) -> [String; 4] {
    ["sh".to_owned(), "-c".to_owned(), format!("umask {umask}; exec \"$@\""), "sh".to_owned()]
}

/// Every path below a directory, itself included, that others may touch or we may not.
fn loose_below(directory: &Path) -> Vec<String> {
    let mut loose = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
        if metadata.mode() & 0o7777 != wanted {
            loose.push(format!("{:o} {}", metadata.mode() & 0o7777, path.display()));
        }
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    loose
}
