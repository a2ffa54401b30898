//! A flipped byte or a cut is met as damage, never as a wrong answer.

use std::fs;

use super::super::IndexError;
use super::*;

/// Writes a small index with several segments, deaths and a log of two batches; returns the model after each batch and
/// how many bytes of payload belong to the dead, which nobody reads any more.
fn small(path: &Path) -> (Vec<Model>, usize) {
    let mut random = Random(77);
    let mut writer = Writer::open(path, Options { log_docs: 4, log_bytes: 4000, fan: 4, ..tiny() }).unwrap();
    let mut model = Model::new();
    let mut named = |n: usize| Entry { key: format!("notes/{n}.md"), ..random.entry() };
    let first: Vec<Entry> = (0..6).map(&mut named).collect();
    model.extend(first.iter().map(|entry| (entry.key.clone(), entry.clone())));
    writer.rebuild(first.clone()).unwrap();
    // Five at once: too many for the log, so a second segment with deaths in the first.
    let second: Vec<Entry> = [0, 10, 11, 12, 13].map(&mut named).to_vec();
    model.extend(second.iter().map(|entry| (entry.key.clone(), entry.clone())));
    writer.apply(second.clone(), vec![]).unwrap();
    let mut models = vec![model.clone()];
    for n in 0..2 {
        let entry = named(10 + n);
        model.remove(&first[n + 1].key);
        model.insert(entry.key.clone(), entry.clone());
        writer.apply(vec![entry], vec![first[n + 1].key.clone()]).unwrap();
        models.push(model.clone());
    }
    drop(writer);
    // The next writer clears away what the generations before consisted of.
    let mut writer = Writer::open(path, tiny()).unwrap();
    let index = writer.index().unwrap();
    assert_eq!((index.head.segments.len(), index.log.slots.len(), index.log.deaths.len()), (2, 2, 4));
    let written = first.iter().chain(&second);
    let dead = written.filter(|entry| models[2].get(&entry.key) != Some(entry));
    let n_dead_bytes = dead.map(|entry| entry.payload.len()).sum();
    (models, n_dead_bytes)
}

fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "lock").collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), fs::read(path.join(name)).unwrap())).collect()
}

/// Asserts that every call gives the right answer or says that the index is damaged; returns how many said so.
fn assert_right_or_damaged(path: &Path, expected: &[(String, String)], context: &str) -> usize {
    let index = match open(path) {
        Ok(index) => index,
        Err(IndexError::Damaged { .. }) => return 1,
        Err(err) => panic!("{context}: {err}"),
    };
    let mut n_damaged = 0;
    for ((question, answer), (_, expected)) in ask(&index).into_iter().zip(expected) {
        match answer {
            Ok(answer) => assert_eq!(&answer, expected, "{context}: {question}"),
            Err(IndexError::Damaged { .. }) => n_damaged += 1,
            Err(err) => panic!("{context}: {question}: {err}"),
        }
    }
    n_damaged
}

#[test]
fn every_flipped_byte_is_met() {
    let temp = tempfile::tempdir().unwrap();
    let (models, n_dead_bytes) = small(temp.path());
    let right = expected(&models[2]);
    let mut n_unnoticed = 0;
    assert_eq!(assert_right_or_damaged(temp.path(), &right, "whole"), 0);
    for (name, bytes) in files(temp.path()) {
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(temp.path().join(&name), &flipped).unwrap();
            let n_damaged = assert_right_or_damaged(temp.path(), &right, &format!("{name} byte {at}"));
            n_unnoticed += usize::from(n_damaged == 0);
        }
        fs::write(temp.path().join(&name), &bytes).unwrap();
    }
    assert_eq!(n_unnoticed, n_dead_bytes);
}

#[test]
fn every_cut_is_met() {
    let temp = tempfile::tempdir().unwrap();
    let (models, _) = small(temp.path());
    for (name, bytes) in files(temp.path()) {
        for len in 0..bytes.len() {
            fs::write(temp.path().join(&name), &bytes[..len]).unwrap();
            match open(temp.path()) {
                Err(IndexError::Damaged { .. }) => {}
                Err(err) => panic!("{name} cut at {len}: {err}"),
                // Only a log may end early: it was a torn append, and an earlier state stands.
                Ok(_) => {
                    assert!(name.ends_with(".log"), "{name} cut at {len}");
                    let earlier = models[..2].iter().any(|model| answers_as(temp.path(), model));
                    assert!(earlier, "{name} cut at {len}");
                }
            }
        }
        let mut longer = bytes.clone();
        longer.push(0);
        fs::write(temp.path().join(&name), &longer).unwrap();
        assert_right_or_damaged(temp.path(), &expected(&models[2]), "one byte more");
        fs::write(temp.path().join(&name), &bytes).unwrap();
    }
}

#[test]
fn a_file_that_is_gone_is_damage_and_a_rebuild_helps() {
    for victim in 0..4 {
        let temp = tempfile::tempdir().unwrap();
        let (models, _) = small(temp.path());
        let model = models.last().unwrap();
        let name = &files(temp.path())[victim].0;
        fs::remove_file(temp.path().join(name)).unwrap();
        let err = open(temp.path()).unwrap_err();
        assert_eq!(matches!(err, IndexError::Missing), name == "head", "{name}: {err}");
        assert!(err.asks_for_rebuild());
        let mut writer = Writer::open(temp.path(), tiny()).unwrap();
        assert!(writer.index().unwrap_err().asks_for_rebuild());
        writer.rebuild(model.values().cloned()).unwrap();
        assert_answers(temp.path(), model, name);
        drop(writer);
        // The next writer clears away what the damaged index consisted of.
        drop(Writer::open(temp.path(), tiny()).unwrap());
        assert_eq!(
            files(temp.path()).len(),
            3,
            "{:?}",
            files(temp.path()).iter().map(|f| &f.0).collect::<Vec<_>>()
        );
    }
}

#[test]
fn after_a_torn_append_a_writer_goes_on() {
    let temp = tempfile::tempdir().unwrap();
    let (models, _) = small(temp.path());
    let (name, bytes) = files(temp.path()).into_iter().find(|(name, _)| name.ends_with(".log")).unwrap();
    fs::write(temp.path().join(&name), &bytes[..bytes.len() - 3]).unwrap();
    let mut model = models[1].clone();
    assert_answers(temp.path(), &model, "torn");
    let options = Options { log_docs: 100, log_bytes: 1 << 20, ..tiny() };
    let mut random = Random(3);
    for n in 0..3 {
        let entry = random.entry();
        model.insert(entry.key.clone(), entry.clone());
        Writer::open(temp.path(), options).unwrap().apply(vec![entry], vec![]).unwrap();
        assert_answers(temp.path(), &model, &format!("change {n} after the torn one"));
    }
}
