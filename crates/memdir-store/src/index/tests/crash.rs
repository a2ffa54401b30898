//! A writer that is killed between any two steps leaves the state before or the state after.

use std::sync::{Arc, Mutex};

use super::*;

#[test]
fn a_kill_between_two_steps_leaves_before_or_after() {
    let mut n_looked = 0;
    for seed in 0..4 {
        let temp = tempfile::tempdir().unwrap();
        let mut random = Random(100 + seed);
        let mut model = Model::new();
        Writer::open(temp.path(), tiny()).unwrap().rebuild([]).unwrap();
        for n in 0..30 {
            let before = model.clone();
            let (upserts, removals) = draw_change(&mut random, &mut model);
            let rebuild = n % 10 == 9;
            let copies = record(temp.path(), |writer| {
                if rebuild {
                    writer.rebuild(model.values().cloned()).unwrap();
                } else {
                    writer.apply(upserts.clone(), removals.clone()).unwrap();
                }
            });
            for (step, copy) in copies.iter().enumerate() {
                let context = format!("seed {seed}, change {n}, killed after step {step}");
                let stands = [&before, &model].into_iter().any(|model| answers_as(copy.path(), model));
                assert!(stands, "{context}");
                // Whoever comes next makes the same change and goes on as if nothing had been.
                let mut writer = Writer::open(copy.path(), tiny()).unwrap();
                if rebuild {
                    writer.rebuild(model.values().cloned()).unwrap();
                } else {
                    writer.apply(upserts.clone(), removals.clone()).unwrap();
                }
                assert_answers(copy.path(), &model, &context);
                n_looked += 1;
            }
            assert_answers(temp.path(), &model, "not killed");
        }
    }
    assert!(n_looked > 200, "only {n_looked} places to be killed at");
}

/// Lets a writer work and returns a copy of the directory after each of its steps.
fn record(path: &Path, work: impl FnOnce(&mut Writer)) -> Vec<tempfile::TempDir> {
    let copies = Arc::new(Mutex::new(Vec::new()));
    let mut writer = Writer::open(path, tiny()).unwrap();
    let (seen, from) = (Arc::clone(&copies), path.to_owned());
    writer.after_step = AfterStep(Some(Box::new(move || seen.lock().unwrap().push(copy_dir(&from)))));
    work(&mut writer);
    drop(writer);
    Arc::into_inner(copies).unwrap().into_inner().unwrap()
}

#[test]
fn a_reader_keeps_its_generation_while_writers_publish() {
    let temp = tempfile::tempdir().unwrap();
    let mut random = Random(8);
    let mut model = Model::new();
    let mut writer = Writer::open(temp.path(), tiny()).unwrap();
    writer
        .rebuild((0..20).map(|_| random.entry()).inspect(|entry| {
            model.insert(entry.key.clone(), entry.clone());
        }))
        .unwrap();
    let index = open(temp.path()).unwrap();
    let mut later = model.clone();
    for _ in 0..40 {
        let (upserts, removals) = draw_change(&mut random, &mut later);
        writer.apply(upserts, removals).unwrap();
    }
    let oldest = temp.path().join(format!("{}.segment", index.head.segments[0].number));
    assert!(!oldest.exists(), "the files of the old generation are gone by now");
    assert_model(&index, &model, "the old generation");
    assert_answers(temp.path(), &later, "the new generation");
}
