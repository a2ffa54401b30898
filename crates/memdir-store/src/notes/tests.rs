//! What the very next question sees of a change that another program made, in small vaults and in large ones.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use memdir_core::recall::Library;
use memdir_core::terms::terms;

use super::fresh::{LARGE, SMALL};
use super::look::{Look, changes};
use super::*;

struct World {
    temp: tempfile::TempDir,
    vault: Vault,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let vault = Vault::create(&temp.path().join("state"), "test", &temp.path().join("vault")).unwrap();
        Self { temp, vault }
    }

    /// A vault of so many memories of a few words, none of them young.
    fn with(n: usize) -> Self {
        let world = Self::new();
        for number in 0..n {
            fs::write(world.file(&format!("note-{number}.md")), text(&format!("word{number}"))).unwrap();
        }
        world.settle();
        world
    }

    fn file(&self, name: &str) -> PathBuf {
        self.temp.path().join("vault").join(name)
    }

    /// Waits until what was written is no longer too young to be told from what will be.
    fn settle(&self) {
        std::thread::sleep(Duration::from_millis(60));
    }

    /// Writes a new file beside the old one and renames it, as most programs save.
    fn replace(&self, name: &str, text: &str) {
        fs::write(self.file("new.tmp"), text).unwrap();
        fs::rename(self.file("new.tmp"), self.file(name)).unwrap();
    }

    /// Returns the names of the memories that have a word.
    fn having(&self, word: &str) -> Vec<String> {
        let term = terms(word).first().unwrap().term;
        let ask = |notes: &Notes| {
            let found = notes.postings(term)?.into_iter().map(|posting| notes.note(posting.doc));
            Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().map(|note| note.name).collect())
        };
        ask_all(&self.vault, ask)
    }

    /// Returns how a memory is described, as the index has it.
    fn described(&self, name: &str) -> Option<String> {
        let ask = |notes: &Notes| match notes.named(name)? {
            Some(doc) => Ok(Some(notes.note(doc)?.description)),
            None => Ok(None),
        };
        ask_all(&self.vault, ask)
    }

    /// Lets it be long ago that all files were looked at.
    fn pass_time(&self) {
        let path = directory(&self.vault).join("folders.json");
        let mut seen: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        seen["looked"] = "2020-01-01T00:00:00Z".into();
        fs::write(path, seen.to_string()).unwrap();
    }
}

fn ask_all<T>(vault: &Vault, question: impl Fn(&Notes) -> Result<T, IndexError>) -> T {
    ask(vault, question).unwrap().0
}

fn text(word: &str) -> String {
    format!("---\nname: x\ndescription: About {word}\ntype: project\n---\n\nIt is {word}.\n")
}

/// L2: what the next question sees in a vault of any size.
#[test]
fn a_file_that_is_added_removed_or_replaced_is_seen_by_the_next_question() {
    for n in [3, SMALL + 1] {
        let world = World::with(n);
        assert_eq!(world.having("word2"), ["note-2"], "{n}");
        fs::write(world.file("added.md"), text("lantern")).unwrap();
        assert_eq!(world.having("lantern"), ["added"], "{n}");
        fs::remove_file(world.file("note-2.md")).unwrap();
        assert_eq!(world.having("word2"), [] as [&str; 0], "{n}");
        world.replace("note-1.md", &text("quartz"));
        assert_eq!(world.having("quartz"), ["note-1"], "{n}");
        // An inode that is free again is given to the next file: the time of the folder tells all the same.
        for word in ["copper", "violet"] {
            world.replace("note-1.md", &text(word));
        }
        assert_eq!(world.having("violet"), ["note-1"], "{n}");
        assert_eq!(world.having("quartz"), [] as [&str; 0], "{n}");
    }
}

/// L2: in a small vault every file is looked at.
#[test]
fn a_file_that_is_written_in_place_in_a_small_vault_is_seen_by_the_next_question() {
    let world = World::with(3);
    assert_eq!(world.having("word2"), ["note-2"]);
    fs::write(world.file("note-2.md"), text("meadow")).unwrap();
    assert_eq!(world.having("meadow"), ["note-2"]);
    assert_eq!(world.having("word2"), [] as [&str; 0]);
}

/// L2: in a large vault a question that comes upon the file sees it, and every other after a while.
#[test]
fn a_file_that_is_written_in_place_in_a_large_vault_is_seen_when_met_and_after_a_while() {
    let world = World::with(SMALL + 1);
    assert_eq!(world.having("word7"), ["note-7"]);
    world.settle();
    assert_eq!(world.having("word7"), ["note-7"]);
    fs::write(world.file("note-7.md"), text("meadow")).unwrap();
    // Nobody was asked who could know, so nobody looks at all of them.
    assert_eq!(world.having("meadow"), [] as [&str; 0]);
    world.pass_time();
    assert_eq!(world.having("meadow"), ["note-7"]);
    world.settle();
    assert_eq!(world.having("meadow"), ["note-7"]);
    // Here the question comes upon the file as it was.
    fs::write(world.file("note-7.md"), text("harbour")).unwrap();
    assert_eq!(world.described("note-7").as_deref(), Some("About harbour"));
    assert_eq!(world.having("harbour"), ["note-7"]);
    // What lies ahead was not looked at long ago either.
    world.pass_time();
    assert_eq!(world.having("meadow"), [] as [&str; 0]);
}

/// L8: who has no time for a look at a large vault gets an answer from the index, and whoever has it takes the look.
#[test]
fn a_question_without_time_does_not_wait_for_a_look_at_a_large_vault() {
    let world = World::with(SMALL + 1);
    assert_eq!(world.having("word7"), ["note-7"]);
    fs::write(world.file("added.md"), text("lantern")).unwrap();
    let is_there = |notes: &Notes| Ok(notes.named("added")?.is_some());
    assert!(!ask_until(&world.vault, Some(Instant::now()), is_there).unwrap().0);
    let described = |notes: &Notes| notes.note(notes.named("note-7")?.unwrap()).map(|note| note.description);
    fs::write(world.file("note-7.md"), text("harbour")).unwrap();
    let found = ask_until(&world.vault, Some(Instant::now()), described).unwrap().0;
    assert_eq!(found, "About harbour");
    assert!(ask_all(&world.vault, is_there));
    // A small vault is always looked at.
    let small = World::with(1);
    assert_eq!(small.having("word0"), ["note-0"]);
    fs::write(small.file("added.md"), text("lantern")).unwrap();
    assert!(ask_until(&small.vault, Some(Instant::now()), is_there).unwrap().0);
}

/// L2: a look that is shared among threads misses nothing and finds nothing that is not there.
#[test]
fn a_look_at_many_files_finds_exactly_what_changed() {
    let world = World::new();
    fs::create_dir(world.file("more")).unwrap();
    for number in 0..600 {
        let folder = if number % 3 == 0 { "more/" } else { "" };
        fs::write(world.file(&format!("{folder}n{number}.md")), "text").unwrap();
    }
    for name in ["MEMORY.md", ".hidden.md", "other.txt", "cafe\u{301}.md"] {
        fs::write(world.file(name), "text").unwrap();
    }
    world.settle();
    let look = Look::at(&world.vault, Glance::Whole).unwrap();
    let files = look.files();
    assert_eq!(files.len(), 600);
    assert!(files.is_sorted_by(|a, b| a.0 < b.0));
    let mut writer = writer(&world.vault).unwrap();
    let entry = |(path, stamp): &(MemoryPath, Stamp)| index::Entry {
        key: path.as_str().to_owned(),
        stamp: *stamp,
        ..index::Entry::default()
    };
    writer.rebuild(files.iter().map(entry)).unwrap();
    let found = |glance| {
        let index = Index::open(&directory(&world.vault), embed::centroids()).unwrap();
        let found = changes(&world.vault, &index, glance).unwrap().1.unwrap();
        let new: Vec<String> = found.new.iter().map(|(path, _)| path.as_str().to_owned()).collect();
        (new, found.gone)
    };
    assert_eq!(found(Glance::Whole), (vec![], vec![]));
    assert_eq!(found(Glance::Inodes), (vec![], vec![]));

    fs::write(world.file("n1.md"), "in place").unwrap();
    fs::write(world.file("n2.md"), "TEXT").unwrap();
    world.replace("n4.md", "text");
    fs::write(world.file("more/new.md"), "text").unwrap();
    fs::remove_file(world.file("more/n6.md")).unwrap();
    fs::rename(world.file("n8.md"), world.file("more/n8.md")).unwrap();
    world.settle();
    let new = ["more/n8.md", "more/new.md", "n1.md", "n2.md", "n4.md"];
    let gone = ["more/n6.md", "n8.md"].map(str::to_owned).to_vec();
    assert_eq!(found(Glance::Whole), (new.map(str::to_owned).to_vec(), gone.clone()));
    // A glance sees what folders tell: not what was written in place.
    let replaced = ["more/n8.md", "more/new.md", "n4.md"].map(str::to_owned).to_vec();
    assert_eq!(found(Glance::Inodes), (replaced, gone));
    fs::remove_dir_all(world.file("more")).unwrap();
    assert_eq!(found(Glance::Whole).1.len(), 201);
    assert_eq!(found(Glance::Inodes).1.len(), 201);
}

/// What may change again without its time changing is taken up once more.
#[test]
fn a_young_file_is_taken_up_again() {
    let world = World::with(2);
    assert_eq!(world.having("word1"), ["note-1"]);
    fs::write(world.file("note-1.md"), text("early")).unwrap();
    assert_eq!(world.having("early"), ["note-1"]);
    let time = fs::metadata(world.file("note-1.md")).unwrap().modified().unwrap();
    fs::write(world.file("note-1.md"), text("later")).unwrap();
    fs::File::options().write(true).open(world.file("note-1.md")).unwrap().set_modified(time).unwrap();
    world.settle();
    assert_eq!(world.having("later"), ["note-1"]);
}

/// L2: in a very large vault the next question sees what was replaced, added or removed, and what it comes upon in place.
#[test]
fn a_very_large_vault_is_glanced_at_and_shows_what_was_replaced() {
    let world = World::with(LARGE + 20);
    assert_eq!(world.having("word7"), ["note-7"]);
    world.replace("note-7.md", &text("replaced"));
    fs::write(world.file("added.md"), text("addition")).unwrap();
    fs::remove_file(world.file("note-8.md")).unwrap();
    fs::write(world.file("note-9.md"), text("word9 inplace")).unwrap();
    world.settle();
    assert_eq!(world.having("replaced"), ["note-7"]);
    assert_eq!(world.having("addition"), ["added"]);
    assert!(world.having("word8").is_empty());
    assert!(world.having("inplace").is_empty(), "nobody has come upon it");
    assert_eq!(world.having("word9"), ["note-9"]);
    assert_eq!(world.having("inplace"), ["note-9"]);
    // What was replaced while it was young is taken up again.
    world.replace("note-7.md", &text("early"));
    assert_eq!(world.having("early"), ["note-7"]);
    fs::write(world.file("note-7.md"), text("later")).unwrap();
    assert_eq!(world.having("later"), ["note-7"]);
}
