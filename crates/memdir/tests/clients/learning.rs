//! What a real session teaches: extraction runs behind it, and the next session knows.
//!
//! memdir's own model is the scripted one too; what it is asked is told from what the agent asks by its words.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use memdir_core::working::HEADINGS;
use memdir_testkit::{Invocation, Request, Rule};
use serde_json::{Value, json};

use crate::claude::NEW;
use crate::host::Host;
use crate::world::{KEY, World, eventually, fine, installed, within};

/// How long a fork may take before another session is begun.
const PATIENCE_WITH_ONE: Duration = Duration::from_secs(45);
const TOLD: &str =
    "please never mock the database in integration tests, a broken migration went to production that way";
const BODY: &str = "Never mock the database in integration tests.\n\n**Why:** a broken migration went to production that way.";
const ASKED: &str = "may I mock the database in the integration tests?";
/// What memdir asks its model with.
const EXTRACTION: &str = "What of it should later sessions know?";
const NOTES: &str = "Pause the work for one answer";

/// A session that has used so much that a tenth of it is room enough for background work, in tokens.
const USED: u64 = 900_000;

fn proposals() -> Value {
    json!({ "proposals": [{
        "action": "new", "name": "feedback-real-db", "type": "feedback", "description": "integration tests use a real database",
        "body": BODY, "evidence": [{ "message": 1, "quote": TOLD }],
    }] })
}

/// The requests of the agent for its user, and no others.
fn of_agent(world: &World) -> Vec<Request> {
    let offers = |request: &Request| request.tools().iter().any(|tool| tool == "Bash");
    world.model.turns().into_iter().filter(offers).collect()
}

fn waiting(world: &World) -> Vec<Value> {
    world.memdir(&["review"]).json().as_array().cloned().unwrap_or_default()
}

/// W1-01, W1-02, R1-07: a turn ends, extraction runs detached by a model, the next session is reminded.
#[test]
fn a_turn_ends_and_the_next_session_knows_what_it_taught() {
    let world = World::wired(&NEW);
    let url = world.model.url();
    let args = ["model", "use", "anthropic", "--model", "claude-haiku-4-5", "--base-url", &url];
    world.memdir(&args).env("ANTHROPIC_API_KEY", KEY).ok();
    world.model.follow(vec![
        Rule::on_prompt(EXTRACTION).calls("propose", proposals()),
        Rule::on_result("taken").says("done"),
        Rule::always().says("Understood, a real database it is.").taking(USED, 0, 50),
    ]);
    let session = NEW.session(&fine(NEW.begin(&world, TOLD)));
    let memory = world.vault().join("feedback-real-db.md");
    eventually("what the user said is saved", || memory.exists());
    assert!(fs::read_to_string(&memory).unwrap().contains("went to production that way"));
    assert!(
        of_agent(&world).iter().all(|request| !request.text().contains(EXTRACTION)),
        "not in the session"
    );
    eventually("the receipt is written", || {
        let costs = world.memdir(&["costs", "--all", "--json"]).run().json();
        costs["by_session"].as_array().unwrap().iter().any(|row| row["session"] == session.as_str())
    });

    world.model.forget();
    fine(NEW.begin(&world, ASKED));
    let next = of_agent(&world);
    let reminded = next[0].text();
    assert!(reminded.contains("a broken migration went to production that way"), "{reminded}");
}

/// W1-16: without a model the candidate waits in the inbox, and the next session is told that it does.
#[test]
fn without_a_model_the_candidate_waits_and_the_next_session_is_told_so() {
    let world = World::wired(&NEW);
    // Only a project that memory knows of is briefed.
    world.save(
        "project-shop",
        "project",
        "Who runs the shop",
        "The museum runs the shop and pays by the quarter.",
    );
    world.model.follow(vec![Rule::always().says("Understood, a real database it is.")]);
    fine(NEW.begin(&world, TOLD));
    eventually("a candidate waits", || !waiting(&world).is_empty());
    assert_eq!(waiting(&world).len(), 1);
    assert!(!world.vault().join("feedback-real-db.md").exists());

    world.model.forget();
    fine(NEW.begin(&world, ASKED));
    let next = of_agent(&world);
    let told = next[0].text();
    assert!(told.contains("1 memory waits for the user's word: memdir review"), "{told}");
    let page = fs::read_to_string(world.vault().join("MEMORY.md")).unwrap();
    assert!(!page.contains("mock"), "what nobody confirmed is no memory: {page}");
}

/// SM-05, CI-07: after a long turn a fork of the real session writes its notes; the request begins with the session's.
#[test]
fn sm_05_a_fork_of_the_real_session_writes_its_notes() {
    let world = World::wired(&NEW);
    let claude = installed("claude", "claude");
    let path = std::env::var("PATH").unwrap_or_default();
    let with_claude = |run: Invocation| {
        let node = installed("node", "node");
        let dirs = [claude.parent().unwrap(), node.parent().unwrap()].map(|dir| dir.display().to_string());
        run.env("PATH", format!("{}:{path}", dirs.join(":")))
    };
    with_claude(world.memdir(&["model", "use", "claude"])).ok();
    fs::write(world.state().join("config.toml"), more_room(&world)).unwrap();
    let notes = HEADINGS.map(|heading| format!("## {heading}\n- the queue is half done\n")).join("\n");
    let long = "I looked at one more file and it is as it should be. ".repeat(1_000);
    let task = "move the invoice worker to the new queue";
    let has_notes = || {
        world.model.follow(vec![
            Rule::on_prompt(NOTES).says(&notes),
            Rule::on_prompt(EXTRACTION).says("nothing"),
            NEW.shell(Rule::on_prompt(task).once(), "echo first-step").taking(20_000, 0, 50),
            NEW.shell(Rule::on_result("first-step").once(), "echo second-step").taking(20_000, 0, 50),
            Rule::always().says(&long).taking(20_000, 0, 13_000),
        ]);
        let session = NEW.session(&fine(with_claude(NEW.begin(&world, task))));
        within(PATIENCE_WITH_ONE, || notes_of(&world, &session).is_some_and(|text| text == notes))
    };
    // A session that is over is not asked any more, and this one is over as soon as it has answered: on a busy machine whoever
    // would ask may come too late.
    assert!((0..4).any(|_| has_notes()), "no fork wrote the notes of its session");
    let requests = world.model.turns();
    let asked = requests.iter().find(|request| request.prompt().contains(NOTES)).unwrap();
    let parent = requests.iter().filter(|request| asked.continues(request).is_ok());
    assert!(parent.count() > 0, "it begins with the bytes of a request of the session");
}

/// The user's settings, with room for a fork of a session that has asked three times.
fn more_room(world: &World) -> String {
    let text = fs::read_to_string(world.state().join("config.toml")).unwrap();
    format!("{text}\n[budget]\nsession_percent = 100\n")
}

fn notes_of(world: &World, session: &str) -> Option<String> {
    let projects = fs::read_dir(world.state().join("projects")).ok()?;
    let files = projects.flatten().map(|dir| dir.path().join(format!("session/{session}.md")));
    let file: Option<PathBuf> = files.into_iter().find(|path| path.is_file());
    fs::read_to_string(file?).ok()
}
