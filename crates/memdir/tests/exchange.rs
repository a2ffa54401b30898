//! Import, export and projects: nothing is overwritten, nothing hostile comes in, everything comes back.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use memdir_testkit::{Sandbox, Tree};
use serde_json::{Value, json};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_memdir"))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn folder(sandbox: &Sandbox, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = sandbox.root().join(name);
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn memory(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\ntype: reference\n---\n\n{body}\n")
}

/// A vault with a little of everything: folders, odd names, raw bytes, and copies beside it.
fn full() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("project-one", "the first\n");
    sandbox.save("project-two", "the second one of them\n");
    sandbox.memdir(&["forget", "project-two", "--yes"]).ok();
    sandbox.write("User Prefs.md", memory("User Prefs", "spaces"));
    sandbox.write("raw.md", b"---\nx: [\n---\n\xff\xfe\r\n");
    fs::create_dir(sandbox.vault().join("sub")).unwrap();
    sandbox.write("sub/deep.md", memory("deep", "in a folder"));
    sandbox.memdir(&["edit", "project-one", "--append", "more"]).ok();
    let page = sandbox.index_page().replace("what there is to know about project-one", "reworded by hand");
    assert!(page.contains("reworded by hand"), "{page}");
    sandbox.write("MEMORY.md", format!("{page}\nmy own line\n"));
    sandbox
}

/// The names of the copies that are kept in the trash.
fn trash(sandbox: &Sandbox) -> Vec<String> {
    let tree = sandbox.state_tree();
    let copies = tree.paths().filter_map(|path| path.split_once("/trash/"));
    copies.map(|(_, name)| name.to_owned()).filter(|name| !name.is_empty()).collect()
}

#[test]
fn an_archive_holds_everything_and_restores_it_byte_for_byte() {
    let sandbox = full();
    let file = sandbox.root().join("out.archive");
    sandbox.memdir(&["export", "archive", text(&file)]).ok();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let output = sandbox.memdir(&["export", "archive", "-"]).ok();
    assert_eq!(output.stdout.as_bytes(), fs::read(&file).unwrap());

    let other = self::sandbox();
    let report = other.memdir(&["import", "archive", text(&file)]).json();
    assert_eq!(report["imported"], 4, "{report:#}");
    assert_eq!(sandbox.vault_tree().changes(&other.vault_tree()), [""; 0]);
    assert_eq!(trash(&sandbox).len(), 1);
    assert_eq!(trash(&sandbox), trash(&other));
    let again = other.memdir(&["import", "archive", text(&file)]).json();
    assert_eq!((&again["imported"], &again["changes"]), (&json!(0), &json!([])));
    other.memdir(&["undo"]).ok();
    assert_eq!(other.vault_tree().paths().filter(|path| path.ends_with(".md")).count(), 0);
}

#[test]
fn the_users_memories_go_along_and_come_back_to_the_user() {
    let sandbox = sandbox();
    let run = |sandbox: &Sandbox, args: &[&str]| sandbox.memdir(args).without_env("MEMDIR_VAULT");
    run(&sandbox, &["save", "user-role", "--type", "user", "--description", "d", "--body", "an engineer"])
        .ok();
    run(&sandbox, &["save", "reference-x", "--type", "reference", "--description", "d", "--body", "x"]).ok();
    let file = sandbox.root().join("out");
    run(&sandbox, &["export", "archive", text(&file)]).ok();
    let other = self::sandbox();
    run(&other, &["import", "archive", text(&file)]).ok();
    assert!(other.state().join("user/user-role.md").exists());
    assert_eq!(run(&other, &["list"]).json().as_array().unwrap().len(), 2);
}

#[test]
fn an_export_replaces_nothing_unasked() {
    let sandbox = full();
    let file = sandbox.root().join("taken");
    fs::write(&file, "mine").unwrap();
    sandbox.memdir(&["export", "json", text(&file)]).code(2);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    sandbox.memdir(&["export", "json", text(&file), "--force"]).ok();
    let document: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(document["memories"].as_array().unwrap().len(), 4);
    let dir = folder(&sandbox, "full", &[("x.md", "mine")]);
    sandbox.memdir(&["export", "obsidian", text(&dir)]).code(2);
    let link = sandbox.root().join("link");
    symlink(&dir, &link).unwrap();
    sandbox.memdir(&["export", "claude-code", text(&link), "--force"]).code(2);
    assert_eq!(Tree::of(&dir).paths().collect::<Vec<_>>(), ["x.md"]);
}

#[test]
fn a_directory_of_claude_code_goes_out_and_comes_in_as_it_is() {
    let sandbox = full();
    let dir = sandbox.root().join("plain/memory");
    sandbox.memdir(&["export", "claude-code", text(&dir)]).ok();
    assert_eq!(sandbox.vault_tree().changes(&Tree::of(&dir)), [""; 0]);
    fs::write(dir.parent().unwrap().join("MEMORY.md"), "# old\nan old free line\n").unwrap();
    let other = self::sandbox();
    let report = other.memdir(&["import", "claude-code", text(dir.parent().unwrap())]).json();
    assert_eq!(report["own_lines"], json!(["my own line", "an old free line"]));
    for file in ["project-one.md", "User Prefs.md", "raw.md"] {
        assert_eq!(sandbox.vault_tree().get(file), other.vault_tree().get(file), "{file}");
    }
    assert_eq!(sandbox.vault_tree().get("sub/deep.md"), other.vault_tree().get("deep.md"));
}

#[test]
fn a_taken_name_is_not_overwritten_and_a_second_import_adds_nothing() {
    let sandbox = sandbox();
    sandbox.write("a.md", memory("a", "mine"));
    let files = [("a.md", &*memory("a", "theirs")), ("b.md", &*memory("b", "new"))];
    let source = folder(&sandbox, "source", &files);
    symlink("/etc/hostname", source.join("c.md")).unwrap();
    let before = Tree::of(sandbox.root());
    let dry = sandbox.memdir(&["import", "claude-code", text(&source), "--dry-run"]).json();
    assert_eq!(dry["imported"], 2);
    assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0]);
    let report = sandbox.memdir(&["import", "claude-code", text(&source)]).json();
    assert_eq!(report["files"][0], json!({"from": "a.md", "name": "a-2", "fate": "renamed", "why": null}));
    assert_eq!(report["left_out"][0]["path"], "c.md");
    assert!(sandbox.read("a").contains("mine") && sandbox.read("a-2").contains("name: a-2"));
    let again = sandbox.memdir(&["import", "claude-code", text(&source)]).json();
    assert_eq!(again["imported"], 0, "{again:#}");
    assert_eq!(sandbox.memdir(&["log"]).json()[0]["author"], "import");
}

#[test]
fn notes_of_other_programs_become_memories() {
    let sandbox = sandbox();
    let notes = folder(
        &sandbox,
        "notes",
        &[
            ("Area/My Note.md", "Always test, see [[Other]].\n"),
            ("Other.md", "---\ntags: [x]\n---\nbody\n"),
            (".obsidian/app.md", "hidden"),
        ],
    );
    sandbox.memdir(&["import", "obsidian", text(&notes)]).ok();
    let note = sandbox.read("my-note");
    assert!(note.contains("type: feedback") && note.contains("[[other|Other]]"), "{note}");
    assert!(note.contains("provenance: import"), "{note}");
    assert!(sandbox.read("other").contains("tags: [x]"));
    let basic = "---\ntitle: A Title\ntype: note\npermalink: x\n---\n- [tech] fact #t\n";
    let basic = folder(&sandbox, "basic", &[("x.md", basic)]);
    sandbox.memdir(&["import", "basic-memory", text(&basic)]).ok();
    assert!(sandbox.read("x").contains("description: A Title"));
    assert_eq!(sandbox.memdir(&["list"]).json().as_array().unwrap().len(), 3);
}

#[test]
fn hostile_archives_are_refused_and_nothing_is_written() {
    let sandbox = full();
    let file = sandbox.root().join("good");
    sandbox.memdir(&["export", "archive", text(&file)]).ok();
    let good = fs::read_to_string(&file).unwrap();
    let last = good.trim_end().rsplit_once('\n').unwrap().0;
    let other = self::sandbox();
    let bad = other.root().join("bad");
    let archives = [
        good.replace("project-one.md", "/etc/passwd.md"),
        good.replace("project-one.md", "../../x.md"),
        good.replace("project-one.md", "raw.md"),
        good.replace("the first", "the other"),
        good[..good.len() / 2].to_owned(),
        last.to_owned(),
        format!("{good}{good}"),
        "PK\u{3}\u{4}".to_owned(),
        String::new(),
    ];
    for archive in archives {
        fs::write(&bad, &archive).unwrap();
        let output = other.memdir(&["import", "archive", text(&bad)]).code(2);
        assert!(output.stderr.contains("could not import"), "{output}");
    }
    let link = other.root().join("link");
    symlink(&file, &link).unwrap();
    for path in [&link, &other.root().join("missing"), &other.home()] {
        other.memdir(&["import", "archive", text(path)]).code(2);
    }
    assert_eq!(other.vault_tree(), Tree::default());
    assert_eq!(other.state_tree(), Tree::default());
}

#[test]
fn an_unknown_source_is_a_clear_error() {
    let sandbox = sandbox();
    let output = sandbox.memdir(&["import", "lotus", "."]).code(2);
    assert!(output.stderr.contains("claude-code"), "{output}");
    sandbox.memdir(&["import", "claude-code", text(&sandbox.root().join("missing"))]).code(2);
}

#[test]
fn projects_are_listed_renamed_and_joined() {
    let sandbox = sandbox();
    assert_eq!(sandbox.memdir(&["projects"]).json(), json!([]));
    let run = |dir: &Path, args: &[&str]| sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(dir);
    let (a, b) = (sandbox.root().join("app-a"), sandbox.root().join("app-b"));
    for dir in [&a, &b] {
        fs::create_dir(dir).unwrap();
        run(dir, &["save", "reference-x", "--type", "reference", "--description", "d", "--body", text(dir)])
            .ok();
    }
    let listed = run(&a, &["projects"]).json();
    let id = |name: &str| {
        let rows = listed.as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
    };
    assert_eq!((&listed[0]["memories"], &listed[0]["state"]), (&json!(1), &json!("active")));
    let output = run(&a, &["projects"]).ok();
    assert!(output.stdout.contains("just now") && output.stdout.contains(&id("app-a")), "{output}");
    run(&a, &["projects", "rename", &id("app-a"), "The App"]).ok();
    assert!(run(&a, &["projects"]).ok().stdout.contains("The App"));
    let output = run(&a, &["projects", "link", &id("app-a"), "nonsense-000000"]).code(2);
    assert!(output.stderr.contains("hint"), "{output}");
    run(&a, &["projects", "link", &id("app-a"), &id("app-a")]).code(2);
    run(&a, &["projects", "link", ".", text(&b)]).ok();
    let joined = run(&b, &["list"]).json();
    assert!(joined[0]["path"].as_str().unwrap().contains("app-a"), "{joined:#}");
}
