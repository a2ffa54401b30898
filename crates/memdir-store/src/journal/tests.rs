//! The journal on disk: one immutable file an entry, no secret in it.

use std::fs;

use memdir_core::journal::Item;

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn sections(summary: &str, unfinished: &[&str]) -> Sections {
    Sections {
        summary: summary.to_owned(),
        unfinished: unfinished.iter().map(|text| Item::open(text)).collect(),
        ..Sections::default()
    }
}

fn session(id: &str) -> About {
    About { session: Some(id.to_owned()), ..About::default() }
}

fn add(journal: &Journal, sections: Sections, about: &About, now: &str) -> Added {
    journal.add(sections, about, at(now), &TimeZone::UTC, &Scanner::builtin()).unwrap().1
}

fn journal() -> (tempfile::TempDir, Journal) {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::below(home.path(), "web-3f9a1c");
    (home, journal)
}

/// MH-03.
#[test]
fn an_entry_is_a_private_file_named_by_time_and_session() {
    use std::os::unix::fs::PermissionsExt;
    let (home, journal) = journal();
    let added = add(&journal, sections("Did it.", &[]), &session("5da15695-411e"), "2026-04-02T10:31:00Z");
    let below = "projects/web-3f9a1c/journal/2026/04/2026-04-02T103100Z-5da15695.md";
    assert_eq!(added.file.path, home.path().join(below));
    assert_eq!(fs::metadata(&added.file.path).unwrap().permissions().mode() & 0o777, 0o600);
    let entry = journal.read(&added.file).unwrap().unwrap();
    assert_eq!((entry.project.as_str(), entry.name.as_str()), ("web-3f9a1c", "2026-04-02-did-it"));
    let head = journal.read_head(&added.file).unwrap().unwrap();
    assert_eq!((head.description, head.sections), (entry.description, Sections::default()));
}

/// LC-02: writing the same twice is writing it once.
#[test]
fn the_same_session_says_the_same_thing_once() {
    let (_home, journal) = journal();
    let first = add(&journal, sections("Did it.", &["left"]), &session("s1"), "2026-04-02T10:00:00Z");
    let again = add(&journal, sections("Did it.", &["left"]), &session("s1"), "2026-04-03T10:00:00Z");
    assert_eq!((again.file, again.was_there), (first.file, true));
    let others = [session("s2"), About::default()];
    let added =
        others.map(|about| add(&journal, sections("Did it.", &["left"]), &about, "2026-04-02T10:00:00Z"));
    assert!(added.iter().all(|added| !added.was_there));
    assert!(
        add(&journal, sections("Did it.", &["left"]), &About::default(), "2026-04-02T23:00:00Z").was_there
    );
    assert!(
        !add(&journal, sections("Did it.", &["left"]), &About::default(), "2026-04-03T00:00:00Z").was_there
    );
    assert_eq!(journal.open_items().unwrap().len(), 1, "it is one item, however often it was said");
}

#[test]
fn entries_of_one_second_have_names_of_their_own_and_the_newest_comes_first() {
    let (_home, journal) = journal();
    for n in 0..3 {
        add(&journal, sections(&format!("Part {n}."), &[]), &session("s1"), "2026-04-02T10:00:00Z");
    }
    add(&journal, sections("Earlier.", &[]), &session("s0"), "2025-12-31T23:59:59Z");
    let stems: Vec<String> = journal.files().unwrap().into_iter().map(|file| file.stem).collect();
    let second = "2026-04-02T100000Z-s1";
    assert_eq!(
        stems,
        [format!("{second}-3"), format!("{second}-2"), second.to_owned(), "2025-12-31T235959Z-s0".to_owned()]
    );
    assert_eq!(journal.last(), Some(at("2026-04-02T10:00:00Z")));
    assert_eq!(journal.entries().unwrap().count(), 4);
}

/// LC-08.
#[test]
fn an_item_stays_open_until_it_is_closed() {
    let (_home, journal) = journal();
    add(
        &journal,
        sections("One.", &["rotate the key", "write docs"]),
        &session("s1"),
        "2026-04-01T10:00:00Z",
    );
    add(&journal, sections("Two.", &["Write docs"]), &session("s2"), "2026-04-02T10:00:00Z");
    let open = journal.open_items().unwrap();
    let texts: Vec<&str> = open.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(texts, ["Write docs", "rotate the key"]);
    assert_eq!(open[0].since, Some(at("2026-04-01T10:00:00Z")), "carried over, not new");
    add(&journal, journal::close(&[&open[1]]), &About::default(), "2026-04-03T10:00:00Z");
    assert_eq!(journal.open_items().unwrap().len(), 1);
}

/// NS-08.
#[test]
fn a_secret_an_empty_and_an_endless_entry_are_not_written() {
    let (home, journal) = journal();
    let refuse = |sections: Sections| {
        let now = at("2026-04-02T10:00:00Z");
        journal.add(sections, &About::default(), now, &TimeZone::UTC, &Scanner::builtin()).unwrap_err()
    };
    let key = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    assert!(matches!(refuse(sections(&format!("The token is {key}."), &[])), JournalError::Secret(_)));
    assert!(matches!(refuse(Sections::default()), JournalError::Empty));
    assert!(matches!(refuse(sections(&"x ".repeat(MAX_ENTRY), &[])), JournalError::TooLarge(_)));
    assert!(!home.path().join("projects").exists());
    assert!(journal.files().unwrap().is_empty());
}

#[test]
fn what_is_no_entry_is_passed_over() {
    let (_home, journal) = journal();
    let added = add(&journal, sections("Did it.", &[]), &session("s1"), "2026-04-02T10:00:00Z");
    let folder = added.file.path.parent().unwrap();
    fs::write(folder.join("notes.md"), "x").unwrap();
    fs::write(folder.join("2026-04-02T250000Z-s1.md"), "x").unwrap();
    fs::create_dir(folder.join("2026-04-02T100001Z-s1.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("2026-04-02T100002Z-s1.md")).unwrap();
    fs::write(folder.join("2026-04-02T100003Z-s1.md"), [0xff, 0xfe]).unwrap();
    let names: Vec<String> = journal.entries().unwrap().map(|(file, _)| file.stem).collect();
    assert_eq!(names, ["2026-04-02T100003Z-s1", "2026-04-02T100000Z-s1"]);
}
