//! The catalog against what it was told: found again, damaged, looked through, forgotten.

use std::fs;

use super::*;

/// A vault and the folders of its state.
struct World {
    temp: tempfile::TempDir,
    vault: Dir,
    state: Dir,
    index: Dir,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let dir = |name: &str| Dir::ensure(&temp.path().join(name)).unwrap();
        let (vault, state, index) = (dir("vault"), dir("state"), dir("index"));
        Self { temp, vault, state, index }
    }

    fn save(&self, catalog: &mut Catalog) {
        catalog.save(&self.vault, &self.state, &self.index, "v").unwrap();
    }

    fn load(&self) -> Option<Catalog> {
        Catalog::load(&self.index, "v")
    }

    /// Returns the files of the catalog.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory(&self.index, "v")).unwrap();
        entries.map(|entry| entry.unwrap().path()).filter(|path| !path.ends_with(index::LOCK)).collect()
    }
}

fn path(text: &str) -> MemoryPath {
    MemoryPath::new(text).unwrap()
}

fn now() -> Timestamp {
    "2026-04-10T09:00:00Z".parse().unwrap()
}

/// Describes a memory that says `text`.
fn doc(name: &str, text: &str) -> Doc {
    let text = format!("---\nname: {name}\ndescription: About {name}\ntype: project\n---\n\n{text}\n");
    Doc::describe(&path(&format!("{name}.md")), text.as_bytes(), None, now(), None)
}

const LONG: &str = "The nightly export writes one file per customer and day into the bucket of the billing team, \
                    and the importer on their side deletes it after it was read without an error";

fn filled(world: &World, n: usize) -> Catalog {
    let mut catalog = Catalog::default();
    for number in 0..n {
        catalog.insert(doc(&format!("memory-{number}"), &format!("It is number {number}.")));
    }
    catalog.insert(doc("Export", LONG));
    world.save(&mut catalog);
    catalog
}

/// Asks for everything that a catalog tells.
fn told(catalog: &Catalog) -> Result<String, ReadError> {
    let likeness = doc("other", LONG).sketch;
    let all = catalog.all()?;
    let mut told = format!("{} {:?}", catalog.len()?, all);
    for path in all.keys() {
        told += &format!("{:?}", catalog.get(path)?);
    }
    told += &format!("{:?}", catalog.named("EXPORT")?);
    told += &format!("{:?}", catalog.resembling(&likeness, Some(MemoryType::Project))?);
    Ok(told)
}

#[test]
fn what_was_saved_is_found_by_path_name_and_likeness() {
    let world = World::new();
    filled(&world, 300);
    let mut catalog = world.load().unwrap();
    assert_eq!(catalog.len().unwrap(), 301);
    assert_eq!(catalog.get(&path("memory-7.md")).unwrap().unwrap().hook(), "About memory-7");
    assert_eq!(catalog.get(&path("memory-300.md")).unwrap().map(|doc| doc.path), None);
    assert_eq!(catalog.named("eXPORT").unwrap(), BTreeSet::from([path("Export.md")]));
    let close = |catalog: &Catalog, kind| catalog.resembling(&doc("x", LONG).sketch, Some(kind)).unwrap();
    assert_eq!(close(&catalog, MemoryType::Project), BTreeSet::from([path("Export.md")]));
    assert_eq!(close(&catalog, MemoryType::User), BTreeSet::new());
    // What changed since counts before it is saved, and afterwards.
    for round in 0..2 {
        if round == 0 {
            catalog.remove(&path("Export.md"));
            catalog.insert(doc("folder/export", LONG));
            catalog.insert(doc("memory-7", "Said anew."));
        } else {
            world.save(&mut catalog);
            catalog = world.load().unwrap();
        }
        assert_eq!(catalog.len().unwrap(), 301);
        assert!(!catalog.contains(&path("Export.md")).unwrap());
        assert_eq!(catalog.named("Export").unwrap(), BTreeSet::from([path("folder/export.md")]));
        assert_eq!(close(&catalog, MemoryType::Project), BTreeSet::from([path("folder/export.md")]));
        assert_eq!(catalog.all().unwrap()[&path("memory-7.md")].sha256, doc("memory-7", "Said anew.").sha256);
    }
}

#[test]
fn a_log_that_lost_its_end_is_not_believed() {
    let world = World::new();
    let mut catalog = filled(&world, 10);
    catalog.insert(doc("late", "Said last."));
    world.save(&mut catalog);
    assert!(world.load().unwrap().contains(&path("late.md")).unwrap());
    let log =
        world.files().into_iter().find(|path| path.extension().is_some_and(|ext| ext == "log")).unwrap();
    let bytes = fs::read(&log).unwrap();
    for len in [bytes.len() - 1, bytes.len() / 2, 12, 0] {
        fs::write(&log, &bytes[..len]).unwrap();
        assert!(world.load().is_none(), "{len} of {} bytes", bytes.len());
    }
}

#[test]
fn a_flipped_byte_is_met_or_changes_nothing() {
    let world = World::new();
    let mut catalog = filled(&world, 40);
    catalog.insert(doc("late", "Said last."));
    world.save(&mut catalog);
    let right = told(&world.load().unwrap()).unwrap();
    let mut n_met = 0;
    for file in world.files() {
        let bytes = fs::read(&file).unwrap();
        for at in (0..bytes.len()).step_by(7) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            fs::write(&file, &flipped).unwrap();
            match world.load().map(|catalog| (told(&catalog), catalog.is_damaged())) {
                Some((Ok(told), _)) if !file.ends_with(STATE) && told == right => {}
                Some((Ok(told), _)) => panic!("{} at {at}: {told}", file.display()),
                Some((Err(_), is_damaged)) => assert!(is_damaged),
                None => n_met += 1,
            }
        }
        fs::write(&file, &bytes).unwrap();
    }
    assert!(n_met > 0);
}

#[test]
fn a_large_vault_is_looked_through_only_when_a_folder_changed_or_time_passed() {
    let world = World::new();
    let folder = world.vault.ensure_sub("folder").unwrap();
    let look = |catalog: &mut Catalog| {
        let folders = [("".to_owned(), world.vault.stat_self()), ("folder".to_owned(), folder.stat_self())];
        catalog.looked_at(folders.into_iter().map(|(name, stat)| (name, stat.unwrap())), now());
    };
    let mut small = filled(&world, 10);
    look(&mut small);
    world.save(&mut small);
    assert!(!world.load().unwrap().is_undisturbed(&world.vault, now()));

    let mut large = filled(&world, SMALL + 1);
    look(&mut large);
    // Our own change of a folder is no disturbance, whoever looks at the times afterwards.
    large.doubt(&world.vault);
    fs::write(world.temp.path().join("vault/memory-1.md"), "ours").unwrap();
    large.insert(doc("memory-1", "ours"));
    world.save(&mut large);
    let large = || world.load().unwrap();
    let later = |minutes: i64| now() + SignedDuration::from_mins(minutes);
    assert!(large().is_undisturbed(&world.vault, later(5)));
    assert!(!large().is_undisturbed(&world.vault, later(60)));
    assert!(!large().is_undisturbed(&world.vault, later(-1)));
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(world.temp.path().join("vault/folder/new.md"), "theirs").unwrap();
    assert!(!large().is_undisturbed(&world.vault, later(5)));
    let mut disturbed = large();
    disturbed.doubt(&world.vault);
    world.save(&mut disturbed);
    assert!(!large().is_undisturbed(&world.vault, later(5)));
}

#[test]
fn a_folder_that_nobody_looked_into_makes_the_next_writer_look() {
    let world = World::new();
    let mut catalog = filled(&world, SMALL + 1);
    catalog.looked_at([(String::new(), world.vault.stat_self().unwrap())], now());
    catalog.insert(doc("new-folder/other", "ours"));
    world.save(&mut catalog);
    assert!(!world.load().unwrap().is_undisturbed(&world.vault, now()));
}

#[test]
fn what_is_gone_can_be_forgotten() {
    let world = World::new();
    let mut catalog = filled(&world, 200);
    catalog.insert(doc("zephyr", "Said once."));
    world.save(&mut catalog);
    catalog.remove(&path("zephyr.md"));
    catalog.remove(&path("memory-7.md"));
    world.save(&mut catalog);
    let is_left = |text: &str| {
        let files = world.files().into_iter().map(|file| fs::read(file).unwrap());
        files.into_iter().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    };
    assert!(is_left("About zephyr") && is_left("About memory-7\""));
    catalog.forget_what_is_gone();
    world.save(&mut catalog);
    assert!(!is_left("zephyr") && !is_left("About memory-7\"") && is_left("About memory-8\""));
    assert_eq!(world.load().unwrap().len().unwrap(), 200);
}

#[test]
fn nothing_of_a_removed_catalog_is_left() {
    let world = World::new();
    filled(&world, 10);
    fs::write(world.index.path().join("v.catalog"), "what an earlier version kept").unwrap();
    remove(&world.index, "v").unwrap();
    assert_eq!(world.files(), Vec::<PathBuf>::new());
    assert!(!world.index.path().join("v.catalog").exists());
    assert!(world.load().is_none());
}
