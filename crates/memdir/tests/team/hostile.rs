//! S1, S2, S4, S22: a shared folder that somebody made to do harm. Nothing outside changes, and what is good still arrives.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use memdir_testkit::Tree;

use crate::world::{Common, Machine, each, list, plant, refused};

/// Something that is none of memdir's business, with a file of value in it.
fn outside(common: &Common) -> PathBuf {
    let outside = common.path().join("outside");
    fs::create_dir_all(outside.join("sub")).unwrap();
    fs::write(
        outside.join("id_rsa"),
        "---\nname: id\ntype: project\nmetadata:\n  scope: team\n---\n\nphalarope\n",
    )
    .unwrap();
    fs::write(outside.join("sub/deep.md"), "whimbrel\n").unwrap();
    outside
}

/// Two members, of whom one has synced, so that the folder is there.
fn met(common: &Common) -> (Machine, Machine) {
    let (ann, bob) = common.pair();
    ann.save("project-good", "The ferry has two ramps. sanderling");
    ann.synced();
    (ann, bob)
}

fn fill_with_harm(folder: &Path, outside: &Path) {
    symlink(outside.join("id_rsa"), folder.join("project-link.md")).unwrap();
    symlink(outside.join("nothing"), folder.join("project-dangling.md")).unwrap();
    symlink("project-loop.md", folder.join("project-loop.md")).unwrap();
    symlink("/dev/zero", folder.join("project-zero.md")).unwrap();
    symlink(outside, folder.join("sub")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("project-pipe.md")).status().unwrap().success());
    plant(folder, "project-huge", "x");
    fs::OpenOptions::new()
        .write(true)
        .open(folder.join("project-huge.md"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    fs::create_dir(folder.join("project-folder.md")).unwrap();
    plant(folder, "Project-Twin", "The first twin. dunlin");
    plant(folder, "project-twin", "The second twin. dunlin");
    for name in ["con", ".hidden", "-rf", "x\u{202e}dm", "x\u{1b}[31m", "new\nline", "..%2fx", "dot."] {
        plant(folder, name, "fulmar");
    }
    plant(folder, "a b", "A name of another program. dunlin");
    fs::write(folder.join(OsStr::from_bytes(b"project-\xff.md")), "fulmar").unwrap();
    fs::write(
        folder.join("user-me.md"),
        "---\nname: user-me\ndescription: d\ntype: user\nmetadata:\n  scope: team\n---\n\nfulmar\n",
    )
    .unwrap();
    fs::write(
        folder.join("project-own.md"),
        "---\nname: project-own\ndescription: d\ntype: project\n---\n\nfulmar\n",
    )
    .unwrap();
    fs::write(
        folder.join("project-bytes.md"),
        b"---\nname: project-bytes\ntype: project\nmetadata:\n  scope: team\n---\n\n\xff\xfe fulmar\n",
    )
    .unwrap();
    fs::write(folder.join("run.sh"), "fulmar").unwrap();
}

#[test]
fn s22_nothing_of_a_hostile_folder_comes_in_and_nothing_outside_changes() {
    let common = Common::new();
    let (ann, bob) = met(&common);
    let outside = outside(&common);
    let before = Tree::of(&outside);
    fill_with_harm(&common.folder(), &outside);
    let report = bob
        .memdir(&["sync", "--json"])
        .under(&["timeout", "60"])
        .under(&["prlimit", "--as=536870912"])
        .code(1);
    assert!(!report.stderr.contains('\u{1b}') && !report.stdout.contains('\u{1b}'), "{report}");
    let report = report.json();
    let came: Vec<&str> = list(&report["pulled"]);
    let is_good = |name: &&str| ["project-good", "Project-Twin", "project-twin", "a b"].contains(name);
    assert_eq!(
        came.iter().filter(|name| !is_good(name)).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "{report}"
    );
    assert!(came.contains(&"project-good"), "{report}");
    assert_eq!(came.len(), 3, "of the twins one: {report}");
    let named = each(&report["refused"], "name");
    for name in ["project-huge", "user-me", "project-own", "project-bytes", "con", "-rf", "dot."] {
        assert!(named.iter().any(|refused| refused.starts_with(name)), "{name}: {named:?}");
    }
    for word in ["fulmar", "phalarope", "whimbrel"] {
        for tree in [bob.memories(), Tree::of(&bob.sandbox.state())] {
            assert_eq!(tree.containing(word.as_bytes()), Vec::<&str>::new(), "{word}");
        }
    }
    assert_eq!(before.changes(&Tree::of(&outside)), Vec::<String>::new());
    ann.save("project-link", "Written where a link is. turnstone");
    ann.save("project-pipe", "Written where a pipe is. turnstone");
    ann.save("project-more", "The mole has a rail. godwit");
    let report = ann.memdir(&["sync", "--json"]).under(&["timeout", "60"]).code(1).json();
    assert_eq!(list(&report["pushed"]), ["project-more"], "{report}");
    assert_eq!(
        before.changes(&Tree::of(&outside)),
        Vec::<String>::new(),
        "nothing is written through a link"
    );
    assert!(common.folder().join("project-link.md").is_symlink());
    ann.memdir(&["team", "status"]).under(&["timeout", "60"]).code(1);
    ann.memdir(&["doctor"]).under(&["timeout", "60"]).run();
}

#[test]
fn s2_a_folder_that_is_a_link_is_not_used() {
    let common = Common::new();
    let (ann, _bob) = met(&common);
    let outside = outside(&common);
    let before = Tree::of(&outside);
    let folder = common.folder();
    fs::rename(&folder, common.path().join("moved")).unwrap();
    symlink(&outside, &folder).unwrap();
    ann.save("project-more", "The mole has a rail. godwit");
    let output = ann.memdir(&["sync"]).code(2);
    assert!(refused(&output, &["link"]), "{output}");
    assert_eq!(before.changes(&Tree::of(&outside)), Vec::<String>::new());
    assert!(ann.has("project-good"));
}

#[test]
fn s2_a_team_folder_of_a_repository_that_is_a_link_is_not_used() {
    let common = Common::new();
    let ann = common.machine("ann");
    let outside = outside(&common);
    let before = Tree::of(&outside);
    for (link, target) in [(".memdir", outside.clone()), (".memdir/team", outside.join("sub"))] {
        let link = ann.clone.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        let start = ann.hook("SessionStart", serde_json::json!({ "source": "startup" }));
        assert!(!start.contains("whimbrel") && !start.contains(".memdir/team"), "{start}");
        let output = ann.memdir(&["team", "join"]).code(2);
        assert!(refused(&output, &["link"]), "{output}");
        ann.memdir(&["trust", "--yes"]).code(1);
        fs::remove_file(&link).unwrap();
    }
    assert_eq!(before.changes(&Tree::of(&outside)), Vec::<String>::new());
}

#[test]
fn s4_a_folder_that_everybody_may_write_to_is_not_used() {
    let common = Common::new();
    let (ann, bob) = met(&common);
    fs::set_permissions(common.folder(), fs::Permissions::from_mode(0o777)).unwrap();
    let output = bob.memdir(&["sync"]).code(2);
    assert!(refused(&output, &["is not used"]), "{output}");
    fs::set_permissions(common.folder(), fs::Permissions::from_mode(0o700)).unwrap();
    bob.synced();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(common.folder(), Some(12_345), None).unwrap();
        let output = ann.memdir(&["sync"]).code(2);
        assert!(refused(&output, &["is not used"]), "{output}");
    }
}

#[test]
fn s22_what_the_state_says_is_not_believed_blindly() {
    let common = Common::new();
    let (ann, bob) = met(&common);
    bob.synced();
    for (file, text) in [
        ("state.json", "{\"version\":1,"),
        ("state.json", "{\"version\":1,\"remote\":\"x\",\"keys\":{\"../../x.md\":{\"version\":\"-\"}}}"),
        ("merging.json", "[]"),
        ("seen.json", "{\"project-good.md\":1}"),
        ("waiting.json", "\u{0}"),
        ("pending-erase.jsonl", "{\"path\":\"../../x.md\"}\n{\"path\":\n"),
    ] {
        fs::write(bob.state().join("sync").join(file), text).unwrap();
        bob.synced();
        assert_eq!(bob.memories(), ann.memories(), "{file}");
    }
}
