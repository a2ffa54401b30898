//! The parts that have no command of their own: questions that are kept, an index over an index.

use jiff::{Timestamp, Zoned};
use memdir_core::memory::{Document, Memory, MemoryPath};
use memdir_core::recall::{Moment, Note, Shelf, Unknown, Weights, recall};

use memdir_core::dream::{Decision, Mode};

use super::overlay::Overlay;
use super::{DreamError, Dreamer, Dreamt, LIMIT, Wish, asked, dream, may, runs};
use crate::vault::Vault;

fn vault(root: &std::path::Path) -> Vault {
    Vault::create(&root.join("state"), "test", &root.join("vault")).unwrap()
}

/// X5: no secret of a question is kept, and not more than a hundred questions are.
#[test]
fn x5_questions_are_kept_without_secrets_and_not_for_ever() {
    let temp = tempfile::tempdir().unwrap();
    let vault = vault(temp.path());
    let at: Timestamp = "2026-04-02T10:00:00Z".parse().unwrap();
    let key = ["AKIA", "IOSFODNN7", "EXAMPLA"].concat();
    asked::note(&vault, &format!("does {key} still work?"), vec!["a".into()], at).unwrap();
    assert!(!asked::questions(&vault)[0].q.contains(&key), "{:?}", asked::questions(&vault));
    for n in 0..2_000 {
        asked::note(&vault, &format!("what about lamp {n}, {}?", "x".repeat(60)), vec!["a".into()], at)
            .unwrap();
    }
    let kept = asked::questions(&vault);
    assert_eq!(kept.len(), 100);
    assert!(kept[99].q.starts_with("what about lamp 1999"));
    let size = std::fs::metadata(vault.state_path().join("asked.jsonl")).unwrap().len();
    assert!(size < 200_000, "{size}");
    asked::note(&vault, "nothing was shown", Vec::new(), at).unwrap();
    assert_eq!(asked::questions(&vault), kept);
}

fn note(name: &str, description: &str, body: &str) -> Note {
    let text = format!("---\nname: {name}\ndescription: \"{description}\"\ntype: project\n---\n\n{body}\n");
    let document = Document::parse(text.as_bytes());
    let (memory, _) = Memory::read(&MemoryPath::new(&format!("{name}.md")).unwrap(), &document);
    Note::of(&memory, &document)
}

/// UX-17: the index over an index answers as one that was built anew would.
#[test]
fn ux_17_an_index_over_another_answers_as_one_that_is_built_anew() {
    let notes = [
        note("ports", "Which ports are taken", "Billing listens on 8081 and search on 8082."),
        note("tests", "Tests hit a real database", "Integration tests run against a real database."),
        note("mocks", "No mocks of the database", "Integration tests never mock the database."),
        note("lamp", "The lamp is from a museum", "It was shipped by boat."),
    ];
    let merged = note(
        "tests",
        "Tests hit a real database",
        "Integration tests run against a real database. Integration tests never mock the database.",
    );
    let below = Shelf::new(notes.to_vec());
    let hidden = ["tests".to_owned(), "mocks".to_owned()];
    let Ok(overlay) = Overlay::new(&below, &hidden, vec![merged.clone()]);
    let anew = Shelf::new(vec![notes[0].clone(), notes[3].clone(), merged]);
    let now: Zoned = "2026-04-02T10:00:00+00:00[UTC]".parse().unwrap();
    for prompt in [
        "do integration tests mock the database?",
        "which port does billing have?",
        "what do we know about the lamp from the museum?",
    ] {
        let moment = Moment { prompt: prompt.to_owned(), ..Moment::default() };
        let Ok(over) = recall(&overlay, &moment, &now, &Weights::fitted(), &Unknown);
        let Ok(built) = recall(&anew, &moment, &now, &Weights::fitted(), &Unknown);
        let names = |recalled: &memdir_core::recall::Recalled| -> Vec<String> {
            recalled.hits.iter().map(|hit| hit.note.name.clone()).collect()
        };
        assert_eq!(names(&over), names(&built), "{prompt}");
        assert!(!names(&over).contains(&"mocks".to_owned()));
    }
}

/// L7: a dream that takes too long stops, leaves no run and no changed file behind, and the vault rests.
#[test]
fn l7_a_dream_that_takes_too_long_leaves_nothing_half_done() {
    let temp = tempfile::tempdir().unwrap();
    let vault = vault(temp.path());
    for (name, body) in
        [("project-a", "Uploads are limited to 50 MB."), ("project-b", "Uploads are limited to 90 MB.")]
    {
        let text = format!(
            "---\nname: {name}\ndescription: \"Uploads\"\ntype: project\nexpires: 2026-01-01\n---\n\n{body}\n"
        );
        std::fs::write(vault.path().join(format!("{name}.md")), text).unwrap();
    }
    let read = || -> Vec<(std::ffi::OsString, Vec<u8>)> {
        let entries = std::fs::read_dir(vault.path()).unwrap().map(|entry| entry.unwrap());
        let mut files: Vec<_> =
            entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect();
        files.sort();
        files
    };
    let before = read();
    let now: Zoned = "2026-06-15T12:00:00+00:00[UTC]".parse().unwrap();
    let gate = crate::gate::Gate::default();
    let dreamer = |limit| Dreamer { vault: &vault, gate: &gate, verifier: None, now: &now, limit };
    let mut nobody = |_: &[memdir_core::dream::Source], _: &mut dyn FnMut()| Vec::new();
    let mut asked = |dreamer: &Dreamer<'_>| dream(dreamer, Mode::Auto, Wish::Now, &mut nobody, &mut || {});
    let late = asked(&dreamer(std::time::Duration::ZERO)).unwrap_err();
    assert!(matches!(late, DreamError::Late { .. }), "{late}");
    assert_eq!(read(), before);
    assert_eq!(runs(&vault).unwrap(), []);
    assert!(matches!(may(&vault, now.timestamp()), Decision::Resting { .. }), "a fault makes it rest");
    // With time enough the same vault dreams.
    let done = asked(&dreamer(LIMIT)).unwrap();
    assert!(matches!(done, Dreamt::Done { .. }), "{done:?}");
}
