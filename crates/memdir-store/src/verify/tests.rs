//! What a glance tells a recall, in real repositories and without ever running git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use memdir_core::change::Surface;
use memdir_core::claims::{Verdict, Verification};
use memdir_core::memory::MemoryPath;

use super::*;
use crate::place::locate;

const MEMORY: &str = "---\nname: doors\ndescription: d\ntype: project\n---\n\n\
                      Doors are opened in `src/doors.rs` by `open_door()` for the vendor.\n";
const DOORS: &str = "pub fn open_door() {}\n";

struct World {
    _temp: tempfile::TempDir,
    base: PathBuf,
}

impl World {
    /// A repository with one file, and a vault with one memory about it.
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for folder in ["home", "project/src", "vault"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        fs::set_permissions(base.join("vault"), fs::Permissions::from_mode(0o700)).unwrap();
        let world = Self { _temp: temp, base };
        fs::write(world.base.join("vault/doors.md"), MEMORY).unwrap();
        world.write("src/doors.rs", DOORS);
        world.git(&["init", "-q", "-b", "main"]);
        world.commit();
        world
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.base.join("project").join(path), text).unwrap();
    }

    fn git(&self, args: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=Mirja Okafor", "-c", "user.email=m@example.org"])
            .args(args)
            .current_dir(self.base.join("project"))
            .status();
        assert!(status.expect("install git: this test cannot do without").success(), "{args:?}");
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "feat: doors"]);
    }

    fn verifier(&self, has_git: bool, now: &str) -> (Verifier, Vault, Subject) {
        let env = Environment {
            cwd: self.base.join("project"),
            home: Some(self.base.join("home")),
            vault: Some(self.base.join("vault")),
            search_path: std::env::var_os("PATH").filter(|_| has_git),
            ..Environment::default()
        };
        let place = locate(&env).unwrap();
        let vault = Vault::open(&place.home, place.project.id.as_str(), &place.vault).unwrap();
        let verifier = Verifier::around(&place, &env, now.parse().unwrap(), TimeZone::UTC);
        let loaded = vault.load(&MemoryPath::new("doors.md").unwrap()).unwrap().unwrap();
        let subject = verifier.subject(&vault, &loaded);
        (verifier, vault, subject)
    }

    fn verify(&self) -> Verification {
        let (verifier, vault, subject) = self.verifier(true, "2026-04-01T10:00:00Z");
        verifier.verify(&vault, &[subject], Extent::Vault, Surface::Cli, |_, _| {}).remove(0)
    }

    fn glance(&self) -> (Verification, String) {
        let (verifier, vault, subject) = self.verifier(false, "2026-04-20T10:00:00Z");
        let seen = verifier.glance(&subject, &Cache::load(&vault));
        let clause = seen.clause("2026-04-20T10:00:00Z".parse().unwrap());
        (seen, clause)
    }
}

#[test]
fn a_glance_sees_that_all_is_as_it_was_and_writes_nothing() {
    let world = World::new();
    assert_eq!(world.verify().verdict(), Verdict::Verified);
    let cache = || fs::read_dir(world.base.join("home/.local/share/memdir/index")).unwrap().count();
    let n_files = cache();
    let (seen, clause) = world.glance();
    assert_eq!((seen.verdict(), clause.as_str()), (Verdict::Verified, "checked today, 2 of 2 hold"));
    assert_eq!(cache(), n_files);
}

#[test]
fn ux_12_a_glance_tells_that_a_name_left_the_code_with_the_commit_that_had_it() {
    let world = World::new();
    let commit = world.verify().commit.unwrap();
    world.write("src/doors.rs", "pub fn open_gate() {}\n");
    world.commit();
    let (seen, clause) = world.glance();
    assert_eq!(seen.verdict(), Verdict::Stale);
    assert_eq!(clause, format!("open_door is no longer in the code, last verified at {}", &commit[..7]));
}

#[test]
fn in_a_large_project_a_glance_tells_which_file_a_name_left() {
    let world = World::new();
    world.verify();
    for n in 0..200 {
        world.write(&format!("src/a{n}.rs"), "fn other() {}\n");
    }
    world.write("src/doors.rs", "pub fn open_gate() {}\n");
    world.write("src/zoo.rs", DOORS);
    world.commit();
    let (seen, clause) = world.glance();
    assert_eq!(seen.verdict(), Verdict::Stale);
    assert!(clause.starts_with("open_door is no longer in src/doors.rs"), "{clause}");
    assert_eq!(world.verify().verdict(), Verdict::Verified, "a thorough look finds it elsewhere");
    assert_eq!(world.glance().0.verdict(), Verdict::Verified, "and the next glance knows where");
}

#[test]
fn a_glance_tells_that_a_file_went_and_keeps_what_git_told() {
    let world = World::new();
    world.verify();
    world.git(&["mv", "src/doors.rs", "src/gates.rs"]);
    let (seen, clause) = world.glance();
    assert_eq!(seen.verdict(), Verdict::Stale);
    assert!(clause.starts_with("1 named file no longer exists: src/doors.rs"), "{clause}");
    world.commit();
    world.verify();
    let (_, clause) = world.glance();
    assert!(clause.contains("renamed to src/gates.rs"), "{clause}");
}

#[test]
fn without_a_check_before_a_glance_still_sees_what_is_there() {
    let world = World::new();
    assert_eq!(world.glance().1, "checked today, 2 of 2 hold");
    fs::remove_file(world.base.join("project/src/doors.rs")).unwrap();
    let (seen, clause) = world.glance();
    assert_eq!(seen.verdict(), Verdict::Stale);
    assert!(clause.starts_with("1 named file no longer exists: src/doors.rs"), "{clause}");
}
