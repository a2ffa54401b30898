//! `memdir recall --select`: a model chooses among what recall found, over HTTP.

use memdir_testkit::Rule;
use serde_json::{Value, json};

use crate::world::World;

const QUESTION: &str = "what did we decide about the database of the integration tests?";

fn world(rules: Vec<Rule>) -> World {
    let world = World::new(rules);
    for (name, description, body) in [
        (
            "feedback-real-db",
            "integration tests use a real database",
            "Integration tests run against PostgreSQL because mocks hid a broken migration.",
        ),
        (
            "reference-test-db",
            "the integration tests use a database on the shared host",
            "The database for integration tests runs on the shared host that the platform team keeps.",
        ),
    ] {
        let kind = if name.starts_with("feedback") { "feedback" } else { "reference" };
        world.memdir(&["save", name, "--type", kind, "--description", description]).stdin(body).ok();
    }
    world
}

fn names(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["name"].as_str().unwrap()).collect()
}

/// R2-06, R2-07, R2-17: the model sees lines of what recall found, and leaves out.
#[test]
fn a_model_leaves_out_and_never_adds() {
    let chosen = json!({ "selected_memories": ["reference-test-db.md", "secrets.md"] }).to_string();
    let world = world(vec![Rule::always().says(&chosen)]);
    let own = world.memdir(&["recall", QUESTION]).json();
    assert_eq!(names(&own).len(), 2, "{own}");
    assert_eq!(world.server.requests().len(), 0);
    let selected = world.memdir(&["recall", QUESTION, "--select", "--tool", "cargo"]).json();
    assert_eq!(names(&selected), ["reference-test-db"]);
    let skipped = selected["skipped"].to_string();
    assert!(skipped.contains("the model left it out"), "{skipped}");
    let [request] = &world.server.requests()[..] else { panic!() };
    let asked = format!("{request:?}");
    assert!(asked.contains("Available memories:") && asked.contains("Recently used tools: cargo"), "{asked}");
    assert!(asked.contains("selected_memories") && !asked.contains("PostgreSQL"), "{asked}");
}

/// R2-06: invalid JSON selects nothing; no answer leaves recall's own choice.
#[test]
fn what_cannot_be_read_selects_nothing_and_no_answer_changes_nothing() {
    let nothing = world(vec![Rule::always().says("the first one, I think")]);
    assert_eq!(names(&nothing.memdir(&["recall", QUESTION, "--select"]).json()).len(), 0);
    let silent = world(vec![Rule::always().refuses(401)]);
    let own = silent.memdir(&["recall", QUESTION]).json();
    let left = silent.memdir(&["recall", QUESTION, "--select"]).json();
    assert!(!names(&own).is_empty());
    assert_eq!(names(&left), names(&own));
}

/// R2-08: where recall finds nothing, nobody is asked.
#[test]
fn nobody_is_asked_about_nothing() {
    let world = world(vec![Rule::always().says("{}")]);
    let answer = world.memdir(&["recall", "how do I center a div in css?", "--select"]).json();
    assert_eq!((names(&answer).len(), world.server.requests().len()), (0, 0));
}
