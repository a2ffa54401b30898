//! The sub-agent behind its walls, with models that were talked into more than they may do.

use std::fs;

use memdir_mind::agent::{End, Kind, Proposal, Purpose, View};
use memdir_mind::model::{Answer, ModelError, Part, Stop, Usage};
use memdir_store::vault::Vault;
use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::canned::{Canned, brief, call, calls, job, push_rule, sandbox, words};

/// S21, W1-11, IS-03: whatever it is talked into, it is refused, counted, and nothing happens.
#[test]
fn a_model_that_wants_everything_gets_nothing_but_counts() {
    let world = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    world.save(
        "project-freeze",
        "The mobile team cuts its release on 2026-04-09, so we wait with the new parser.",
    );
    fs::write(world.root().join("secret.txt"), "the treasure").unwrap();
    std::os::unix::fs::symlink(world.root().join("secret.txt"), world.vault().join("link.md")).unwrap();
    std::os::unix::fs::symlink("/etc", world.vault().join("etc")).unwrap();
    let vault = Vault::open(&world.state(), "test", &world.vault()).unwrap();
    let mut job = job(Purpose::Extract, 0);
    job.view = View::of(&vault.snapshot().unwrap());
    let before = (world.vault_tree(), world.state_tree());

    let thousand: Vec<Value> = (0..1_000).map(|n| push_rule(&format!("feedback-{n}"))).collect();
    let huge = json!({ "proposals": [{ "name": "feedback-huge", "type": "feedback", "description": "x",
        "body": "x".repeat(3_000_000), "evidence": [{ "message": 1, "quote": "never push to main" }] }] });
    let mut model = Canned::new(move |_, turn| {
        Ok(match turn {
            0 => calls(vec![
                call("bash", json!({ "command": "cat /etc/passwd" })),
                call("fetch", json!({ "url": "http://127.0.0.1:9/" })),
                call("delete", json!({ "names": ["project-freeze"] })),
                call(
                    "read",
                    json!({ "names": ["/etc/passwd", "../secret.txt", "link", "etc/passwd", "link.md"] }),
                ),
            ]),
            1 => {
                calls(vec![call("propose", huge.clone()), call("propose", json!({ "proposals": thousand }))])
            }
            2 => calls(vec![call(
                "propose",
                json!({ "proposals": [{ "action": "delete", "name": "project-freeze" }] }),
            )]),
            _ => calls(vec![call("list", json!({}))]),
        })
    });
    let finished = sandbox().run(&job, &brief(), &mut model).unwrap();
    let refused = |kind| finished.report.n_refused(kind);
    assert_eq!(finished.report.end, End::Turns);
    assert_eq!(model.1.len(), 5);
    assert_eq!(refused(Kind::Tool), 3);
    assert_eq!(refused(Kind::Path), 2);
    assert_eq!(refused(Kind::Missing), 3);
    assert_eq!(refused(Kind::Size), 1);
    assert_eq!(refused(Kind::Files), 989);
    assert_eq!(finished.proposals.len(), 12);
    assert!(!format!("{:?}", model.1).contains("the treasure"));
    assert!(!format!("{:?}", model.1).contains("root:"));
    assert!(finished.report.walls.as_ref().unwrap().all_stand());
    assert_eq!((world.vault_tree(), world.state_tree()), before);
}

/// W1-09, L7: each budget ends a run cleanly, and what was proposed until then counts.
#[test]
fn each_budget_ends_a_run_cleanly() {
    let propose = || calls(vec![call("propose", json!({ "proposals": [push_rule("feedback-push")] }))]);
    let looping = || {
        Canned::new(move |_, turn| {
            Ok(if turn == 0 { propose() } else { calls(vec![call("list", json!({}))]) })
        })
    };
    let turns = job(Purpose::Extract, 3);
    let mut tokens = turns.clone();
    tokens.budget.tokens = 2_000;
    let mut time = turns.clone();
    time.budget.seconds = 0;
    for (job, end, n_asked) in [(turns, End::Turns, 5), (tokens, End::Tokens, 2), (time, End::Time, 1)] {
        let mut model = looping();
        let finished = sandbox().run(&job, &brief(), &mut model).unwrap();
        assert_eq!((finished.report.end.clone(), model.1.len()), (end, n_asked));
        assert_eq!(finished.proposals.len(), 1);
        assert_eq!(finished.report.spent.turns as usize, n_asked);
    }
}

/// L7, DR-09: over ten thousand memories, with a model that wants them all gone.
#[test]
fn a_dream_over_ten_thousand_memories_stays_in_its_budget() {
    let job = job(Purpose::Dream, 10_000);
    let mut model = Canned::new(|_, turn| {
        let names: Vec<String> = (turn * 1_000..(turn + 1) * 1_000).map(|n| format!("project-{n}")).collect();
        let reads = names.chunks(10).map(|names| call("read", json!({ "names": names })));
        let archive =
            |name: &String| json!({ "action": "archive", "name": name, "reason": "it is in the way" });
        let all: Vec<Value> = names.iter().map(archive).collect();
        let merge = json!({ "action": "merge", "names": names, "name": "project-all", "type": "project",
            "description": "all", "body": "all" });
        Ok(calls(
            reads
                .chain([
                    call("propose", json!({ "proposals": all })),
                    call("propose", json!({ "proposals": [merge] })),
                ])
                .collect(),
        ))
    });
    let finished = sandbox().run(&job, &brief(), &mut model).unwrap();
    assert_eq!(finished.report.end, End::Turns);
    let spent = finished.report.spent;
    assert!(spent.removals <= job.budget.removals && finished.proposals.len() <= job.budget.files);
    assert!(spent.bytes <= job.budget.bytes);
    assert!(finished.proposals.iter().all(|proposal| matches!(proposal, Proposal::Archive { .. })));
    assert!(finished.report.n_refused(Kind::Calls) > 0);
}

/// What was said before is ours: a conversation grows by answers and results, the instructions and tools never change.
#[test]
fn the_conversation_is_kept_outside_of_the_walls() {
    let mut model = Canned::new(|_, turn| {
        Ok(match turn {
            0 => calls(vec![
                Part::Text("let me see".to_owned()),
                call("list", json!({})),
                call("bash", json!({})),
            ]),
            _ => words("nothing"),
        })
    });
    let finished = sandbox().run(&job(Purpose::Extract, 2), &brief(), &mut model).unwrap();
    assert_eq!(finished.report.end, End::Finished);
    let [first, second] = &model.1[..] else { panic!() };
    assert_eq!((first.messages.len(), second.messages.len()), (1, 3));
    assert_eq!((&first.system, &first.tools), (&second.system, &second.tools));
    assert_eq!(first.messages[0], second.messages[0]);
    let [Part::Result { text, is_error: false, .. }, Part::Result { is_error: true, .. }] =
        &second.messages[2].parts[..]
    else {
        panic!("{second:?}")
    };
    assert!(text.contains("project-1"));
}

#[test]
fn a_model_that_fails_or_declines_ends_the_run() {
    let propose = || calls(vec![call("propose", json!({ "proposals": [push_rule("feedback-push")] }))]);
    let mut model = Canned::new(|_, turn| {
        if turn == 0 { Ok(propose()) } else { Err(ModelError::Unreachable("timed out".to_owned())) }
    });
    let finished = sandbox().run(&job(Purpose::Extract, 1), &brief(), &mut model).unwrap();
    assert_eq!(finished.failure, Some(ModelError::Unreachable("timed out".to_owned())));
    assert!(matches!(finished.report.end, End::Failed(_)));
    assert_eq!(finished.proposals.len(), 1);
    let mut model =
        Canned::new(|_, _| Ok(Answer { parts: Vec::new(), stop: Stop::Refused, usage: Usage::default() }));
    let finished = sandbox().run(&job(Purpose::Extract, 1), &brief(), &mut model).unwrap();
    assert_eq!((finished.report.end, finished.proposals.len()), (End::Declined, 0));
}

/// The largest copy there may be fits behind the walls, with room to compare a proposal with all of it.
#[test]
fn a_copy_of_the_largest_size_fits() {
    let mut job = job(Purpose::Extract, 4_000);
    for (n, known) in job.view.memories.iter_mut().enumerate() {
        known.text.push_str(&format!("Sentence {n} of \"a\" long\tmemory \u{7f}.\n").repeat(128));
    }
    let n_bytes: usize = job.view.memories.iter().map(|known| known.text.len()).sum();
    assert!(n_bytes > 16 << 20, "{n_bytes}");
    let mut model = Canned::new(|_, turn| {
        Ok(match turn {
            0 => calls(vec![
                call("search", json!({ "words": "sentence long" })),
                call("propose", json!({ "proposals": [push_rule("feedback-push")] })),
            ]),
            _ => words("done"),
        })
    });
    let finished = sandbox().run(&job, &brief(), &mut model).unwrap();
    assert_eq!((finished.report.end, finished.proposals.len()), (End::Finished, 1));
}
