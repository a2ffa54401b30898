//! Magic docs in a repository: found, read, out of date, written, taken back, and refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::*;
use crate::place::locate;

const API: &str =
    "# MAGIC DOC: HTTP API\n_Keep this updated when endpoints change_\n\nRoutes are in `src/http.rs`.\n";

struct World {
    _temp: tempfile::TempDir,
    env: Environment,
    place: Place,
    project: PathBuf,
}

fn at(minute: u8) -> Timestamp {
    format!("2026-04-02T10:{minute:02}:00Z").parse().unwrap()
}

impl World {
    fn new(has_git: bool) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for folder in ["home", "project", "vault", "state"] {
            fs::create_dir(base.join(folder)).unwrap();
            fs::set_permissions(base.join(folder), fs::Permissions::from_mode(0o700)).unwrap();
        }
        let env = Environment {
            cwd: base.join("project"),
            home: Some(base.join("home")),
            memdir_home: Some(base.join("state")),
            vault: Some(base.join("vault")),
            search_path: std::env::var_os("PATH"),
            ..Environment::default()
        };
        let project = base.join("project");
        if has_git {
            assert!(
                Command::new("git").args(["init", "-q"]).current_dir(&project).status().unwrap().success()
            );
        }
        let place = locate(&env).unwrap();
        let world = Self { _temp: temp, env, place, project };
        world.put("docs/api.md", API);
        world.put("src/http.rs", "fn users() {}\n");
        world.put("src/main.rs", "fn main() {}\n");
        world.put("README.md", "# Readme\n");
        world
    }

    fn put(&self, path: &str, text: &str) {
        let file = self.project.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.project.join(path)).unwrap()
    }

    fn magic(&self) -> Magic {
        Magic::of(&self.place, &self.env)
    }

    fn write(&self, path: &str, new: &str) -> Result<Entry, MagicError> {
        let base = self.text(path);
        self.magic().write(path, &base, new, &Scanner::builtin(), at(9))
    }
}

/// MD-01, MD-02.
#[test]
fn docs_are_found_in_what_git_shows() {
    let world = World::new(true);
    world.put(".gitignore", "build/\n");
    world.put("build/gen.md", "# MAGIC DOC: Generated\n");
    world.put("notes/deep/er.markdown", "---\na: 1\n---\n# MAGIC DOC: Deep\n");
    let magic = world.magic();
    assert!(magic.is_empty());
    let found: Vec<(String, Option<String>)> =
        magic.scan(at(0)).unwrap().into_iter().map(|entry| (entry.path, entry.rule)).collect();
    let rule = Some("Keep this updated when endpoints change".to_owned());
    assert_eq!(found, [("docs/api.md".to_owned(), rule), ("notes/deep/er.markdown".to_owned(), None)]);
    world.put("docs/api.md", "# Plain again\n");
    assert_eq!(magic.scan(at(1)).unwrap().len(), 1);
}

/// MD-03.
#[test]
fn a_doc_is_out_of_date_once_it_was_read_and_files_it_names_changed() {
    let world = World::new(true);
    let magic = world.magic();
    magic.scan(at(0)).unwrap();
    let stale = |minute: u8| magic.look(at(minute)).unwrap().remove(0).stale;
    world.put("src/http.rs", "fn users() {}\nfn orders() {}\n");
    assert_eq!(stale(1), None, "nobody has read it");
    assert!(magic.note_read("docs/api.md", at(2)).unwrap());
    assert!(!magic.note_read("README.md", at(2)).unwrap() && !magic.note_read("src/http.rs", at(2)).unwrap());
    let found = stale(3).unwrap();
    assert_eq!(found.brief, "1 file changed: src/http.rs");
    world.put("src/main.rs", "fn main() { run() }\n");
    world.put("docs/more.md", "more\n");
    let found = stale(4).unwrap();
    assert_eq!(
        (found.brief.as_str(), found.since),
        ("1 file changed: src/http.rs; 1 file added: docs/more.md", at(3))
    );
    // As it was: nothing to be told.
    world.put("src/http.rs", "fn users() {}\n");
    fs::remove_file(world.project.join("docs/more.md")).unwrap();
    assert_eq!(stale(5), None);
    fs::remove_file(world.project.join("src/http.rs")).unwrap();
    assert_eq!(stale(6).unwrap().brief, "1 file removed: src/http.rs");
    // Whoever edits the doc has brought it up to date.
    world.put("docs/api.md", &API.replace("Routes", "All routes"));
    assert_eq!(stale(7), None);
}

#[test]
fn a_doc_that_a_hook_met_first_counts_changes_from_the_first_look_on() {
    let world = World::new(true);
    let magic = world.magic();
    assert!(magic.note_read("docs/api.md", at(0)).unwrap());
    assert_eq!(magic.look(at(1)).unwrap()[0].stale, None);
    world.put("src/http.rs", "fn none() {}\n");
    assert!(magic.look(at(2)).unwrap()[0].stale.is_some());
}

/// MD-04.
#[test]
fn only_that_file_is_written_and_it_can_be_taken_back() {
    let world = World::new(true);
    let magic = world.magic();
    magic.scan(at(0)).unwrap();
    magic.note_read("docs/api.md", at(1)).unwrap();
    world.put("src/http.rs", "fn orders() {}\n");
    assert!(magic.look(at(2)).unwrap()[0].stale.is_some());
    fs::set_permissions(world.project.join("docs/api.md"), fs::Permissions::from_mode(0o640)).unwrap();
    let before = tree(&world.project);
    let entry = world.write("docs/api.md", "# MAGIC DOC: Other\n\nOrders are in `src/http.rs`.\n").unwrap();
    assert!(entry.stale.is_none() && entry.undo.is_some() && entry.read.is_some());
    let new =
        "# MAGIC DOC: HTTP API\n_Keep this updated when endpoints change_\n\nOrders are in `src/http.rs`.\n";
    assert_eq!(world.text("docs/api.md"), new);
    let mode = fs::metadata(world.project.join("docs/api.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let changed: Vec<String> =
        tree(&world.project).into_iter().filter(|file| !before.contains(file)).map(|file| file.0).collect();
    assert_eq!(changed, ["docs/api.md"]);
    assert_eq!(magic.look(at(3)).unwrap()[0].stale, None, "it is up to date now");
    magic.undo("docs/api.md", at(4)).unwrap();
    assert_eq!(world.text("docs/api.md"), API);
    assert!(matches!(magic.undo("docs/api.md", at(5)), Err(MagicError::NothingToUndo(_))));
}

#[test]
fn what_somebody_changed_meanwhile_is_left_alone() {
    let world = World::new(true);
    let magic = world.magic();
    let other = API.replace("Routes", "Some routes");
    world.put("docs/api.md", &other);
    let raced = magic.write("docs/api.md", API, "new", &Scanner::builtin(), at(1));
    assert!(matches!(raced, Err(MagicError::Raced(_))));
    assert_eq!(world.text("docs/api.md"), other);
    world.write("docs/api.md", "Ours.").unwrap();
    world.put("docs/api.md", &other);
    assert!(matches!(magic.undo("docs/api.md", at(2)), Err(MagicError::NothingToUndo(_))));
    assert_eq!(world.text("docs/api.md"), other);
}

#[test]
fn links_ignored_files_binaries_secrets_and_everything_outside_are_refused() {
    let world = World::new(true);
    let outside = world.place.home.join("outside.md");
    fs::write(&outside, API).unwrap();
    symlink(&outside, world.project.join("docs/link.md")).unwrap();
    fs::create_dir(world.place.home.join("folder")).unwrap();
    fs::write(world.place.home.join("folder/doc.md"), API).unwrap();
    symlink(world.place.home.join("folder"), world.project.join("linked")).unwrap();
    world.put(".gitignore", "build/\n");
    world.put("build/doc.md", API);
    world.put("docs/plain.md", "# Plain\n");
    fs::write(world.project.join("docs/binary.md"), b"# MAGIC DOC: B\n\0\xff").unwrap();
    let refused = |path: &str| world.magic().open(path).unwrap_err();
    assert!(matches!(refused("docs/link.md"), MagicError::NotAFile(_)));
    assert!(matches!(refused("linked/doc.md"), MagicError::NotAFile(_)), "{:?}", refused("linked/doc.md"));
    assert!(matches!(refused("build/doc.md"), MagicError::Ignored(_)));
    assert!(matches!(refused("docs/plain.md"), MagicError::Rewrite { source: Rewrite::NotMagic, .. }));
    assert!(matches!(refused("docs/binary.md"), MagicError::NotText(_)));
    assert!(matches!(refused("docs/none.md"), MagicError::Missing(_)));
    for path in ["../state/outside.md", "/etc/passwd", "docs/../docs/api.md", ".git/config", ""] {
        assert!(matches!(refused(path), MagicError::Outside(_)), "{path}");
    }
    assert!(matches!(world.magic().path_of(&world.project, &outside), Err(MagicError::Outside(_))));
    assert_eq!(
        world.magic().path_of(&world.project.join("src"), Path::new("../docs/api.md")).unwrap(),
        "docs/api.md"
    );
    assert_eq!(
        world.magic().path_of(&world.project.join("docs"), Path::new("api.md")).unwrap(),
        "docs/api.md"
    );
    let key = format!("AKIA{}", "Q4J7XW2PLM5RT6ZN");
    let secret = world.write("docs/api.md", &format!("aws_access_key_id = {key}"));
    assert!(matches!(secret, Err(MagicError::Secret { .. })));
    assert_eq!(world.text("docs/api.md"), API);
    assert_eq!(fs::read_to_string(&outside).unwrap(), API);
}

#[test]
fn outside_of_git_docs_are_marked_but_never_written() {
    let world = World::new(false);
    world.put("node_modules/x/doc.md", API);
    let magic = world.magic();
    assert_eq!(magic.scan(at(0)).unwrap().len(), 1);
    magic.note_read("docs/api.md", at(1)).unwrap();
    world.put("src/http.rs", "fn none() {}\n");
    assert!(magic.look(at(2)).unwrap()[0].stale.is_some());
    assert!(matches!(world.write("docs/api.md", "new"), Err(MagicError::NoRepository(_))));
}

/// Lists the files of a project with their texts, but for git's.
fn tree(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() && !path.ends_with(".git") {
                folders.push(path);
            } else if path.is_file() {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.push((name, fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}
