//! An export is complete and importable, and holds nobody else's data.

use std::path::PathBuf;

use memdir_testkit::{Sandbox, Tree};

use crate::setup::{index_entries, listed_names, memory_file, prose, sandbox};

/// F7.
#[test]
fn an_archive_imported_into_an_empty_vault_gives_equal_bytes() {
    let source = varied_sandbox();
    source.memdir(&["doctor", "--fix"]).run();
    let archive = export(&source, "archive");
    let target = sandbox();
    target.memdir(&["import", "archive", archive.to_str().unwrap()]).ok();
    let memories = |sandbox: &Sandbox| sandbox.vault_tree().without(|path| path == "MEMORY.md");
    assert_eq!(memories(&source).changes(&memories(&target)), [""; 0]);
    assert_eq!(listed_names(&source), listed_names(&target));
    let sorted = |sandbox: &Sandbox| {
        let (mut entries, more) = index_entries(&sandbox.index_page());
        entries.sort();
        (entries, more)
    };
    assert_eq!(sorted(&source), sorted(&target));
}

/// F7.
#[test]
fn an_import_is_one_change_and_undone_as_one() {
    let source = varied_sandbox();
    let archive = export(&source, "archive");
    let target = sandbox();
    target.save("own", "Here before.");
    let before = target.vault_tree();
    target.memdir(&["import", "archive", archive.to_str().unwrap()]).ok();
    assert!(listed_names(&target).len() > 4);
    target.memdir(&["undo"]).ok();
    // A folder that came with the import stays, empty; it holds nothing.
    let after = target.vault_tree().without(|path| path.ends_with('/'));
    assert_eq!(before.changes(&after), [""; 0]);
}

/// F7.
#[test]
fn a_second_import_changes_nothing_and_an_own_memory_is_not_overwritten() {
    let source = varied_sandbox();
    let archive = export(&source, "archive");
    let target = sandbox();
    target.save("plain", "A different memory of that name.");
    target.memdir(&["import", "archive", archive.to_str().unwrap()]).run();
    assert!(target.read("plain").contains("A different memory of that name."), "overwritten");
    let before = target.vault_tree();
    target.memdir(&["import", "archive", archive.to_str().unwrap()]).run();
    assert_eq!(before.changes(&target.vault_tree()), [""; 0], "imported twice");
}

/// F7.
#[test]
fn an_archive_holds_nobody_elses_data() {
    let sandbox = varied_sandbox();
    let other = sandbox.root().join("other-vault");
    let save = ["save", "foreign", "--type", "project", "--description", "of another project"];
    sandbox.memdir(&save).stdin("Nobodyelsesbusiness.").env("MEMDIR_VAULT", &other).ok();
    let archive = export(&sandbox, "archive");
    let exported = if archive.is_dir() { Tree::of(&archive) } else { Tree::of(archive.parent().unwrap()) };
    assert!(exported.containing(b"Nobodyelsesbusiness.").is_empty());
    let mine = [prose(1), prose(2)];
    assert!(mine.iter().all(|text| !exported.containing(text.as_bytes()).is_empty()), "not complete");
}

/// F7. An exported directory of another program's layout reads back the same.
#[test]
fn a_claude_code_export_is_a_directory_of_the_same_files() {
    let source = varied_sandbox();
    let exported = export(&source, "claude-code");
    let target = sandbox();
    target.memdir(&["import", "claude-code", exported.to_str().unwrap()]).ok();
    assert_eq!(listed_names(&source), listed_names(&target));
    for name in ["plain", "second"] {
        assert_eq!(source.read(name), target.read(name));
    }
}

/// S1 for archives: a name inside an archive is checked like any other.
#[test]
fn an_import_of_a_directory_with_hostile_entries_stays_inside() {
    let sandbox = sandbox();
    let from = sandbox.root().join("from");
    std::fs::create_dir(&from).unwrap();
    std::fs::write(from.join("good.md"), memory_file("good", "d", &prose(1))).unwrap();
    std::fs::write(from.join("climbing.md"), memory_file("../../climbing", "d", &prose(2))).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", from.join("linked.md")).unwrap();
    std::fs::write(sandbox.home().join("secret"), "Secretsecret.").unwrap();
    std::os::unix::fs::symlink(sandbox.home(), from.join("sub")).unwrap();
    sandbox.memdir(&["import", "claude-code", from.to_str().unwrap()]).run();
    assert!(sandbox.memory("good").is_file());
    let all = Tree::of(sandbox.root());
    assert!(!all.paths().any(|path| path.ends_with("climbing.md")
        && !path.starts_with("from/")
        && !path.starts_with("vault/")));
    assert!(sandbox.vault_tree().containing(b"root:").is_empty());
}

fn varied_sandbox() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("plain", &prose(1));
    sandbox.save("second", &prose(2));
    sandbox.memdir(&["edit", "plain", "--append", "See [[second]]."]).ok();
    sandbox.write("windows.md", memory_file("windows", "line endings", &prose(3)).replace('\n', "\r\n"));
    sandbox.write("broken.md", "---\nname: [never closed\n---\n\nStill worth keeping.\n");
    sandbox.write("bare.md", "No frontmatter at all.\n");
    sandbox.write("Odd Name.md", memory_file("odd-name", "an older style", &prose(4)));
    std::fs::create_dir(sandbox.vault().join("sub")).unwrap();
    std::fs::set_permissions(
        sandbox.vault().join("sub"),
        std::os::unix::fs::PermissionsExt::from_mode(0o700),
    )
    .unwrap();
    sandbox.write("sub/deep.md", memory_file("deep", "one level down", &prose(5)));
    sandbox
}

fn export(sandbox: &Sandbox, format: &str) -> PathBuf {
    let path = sandbox.root().join("exports").join(format);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    sandbox.memdir(&["export", format, path.to_str().unwrap()]).ok();
    path
}
