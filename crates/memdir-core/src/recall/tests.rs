//! What comes to mind on a small shelf, under the weights that ship.

use jiff::Zoned;

use super::*;
use crate::memory::{Document, Memory, MemoryPath};

/// Reads notes written as `=== name`, then the file.
fn shelf(text: &str) -> Shelf {
    let notes = text.split("=== ").skip(1).map(|part| {
        let (name, file) = part.split_once('\n').unwrap();
        let path = MemoryPath::new(&format!("{name}.md")).unwrap();
        let document = Document::parse(file.as_bytes());
        let (memory, _) = Memory::read(&path, &document);
        Note::of(&memory, &document)
    });
    Shelf::new(notes.collect())
}

fn note(name: &str, kind: &str, description: &str, body: &str) -> String {
    format!(
        "=== {name}\n---\nname: {name}\ndescription: {description}\ntype: project\nmetadata:\n  kind: {kind}\n---\n\n{body}\n"
    )
}

/// A shelf of notes about unlike things, with `more` beside them.
fn among_others(more: &[String]) -> Shelf {
    let others = [
        note(
            "invoice-rounding",
            "decision",
            "Invoices round half up to the cent",
            "Per line, then the total.",
        ),
        note(
            "seoul-holidays",
            "reference",
            "Public holidays of the Seoul office",
            "Chuseok moves every year.",
        ),
        note("font-licence", "reference", "The font licence covers two web sites", "Ask before a third."),
        note("printer-setup", "howto", "Setting up the label printer", "Hold the button for three seconds."),
        note("login-cookie", "gotcha", "The login cookie is lost on subdomains", "Set the domain attribute."),
    ];
    shelf(&[&others[..], more].concat().concat())
}

fn at(prompt: &str) -> Moment {
    Moment { prompt: prompt.to_owned(), ..Moment::default() }
}

fn now() -> Zoned {
    "2026-04-10T09:00:00Z[UTC]".parse().unwrap()
}

fn recalled(shelf: &Shelf, moment: &Moment) -> Recalled {
    let Ok(recalled) = recall(shelf, moment, &now(), &Weights::fitted(), &Unknown);
    recalled
}

fn names(recalled: &Recalled) -> Vec<&str> {
    recalled.hits.iter().map(|hit| hit.note.name.as_str()).collect()
}

#[test]
fn r2_03_a_single_word_brings_nothing() {
    let shelf = among_others(&[note("continue-button", "decision", "The continue button is green", "")]);
    for prompt in ["continue", "계속", "ok."] {
        assert!(recalled(&shelf, &at(prompt)).hits.is_empty(), "{prompt}");
    }
    assert_eq!(names(&recalled(&shelf, &at("why is the continue button green?"))), ["continue-button"]);
}

#[test]
fn r2_07_at_most_five_are_shown() {
    let notes: Vec<String> = (0..20)
        .map(|n| {
            note(
                &format!("nightly-export-{n}"),
                "gotcha",
                "The nightly export needs the vpn",
                "Start it first.",
            )
        })
        .collect();
    let recalled =
        recalled(&among_others(&notes), &at("what did we say about the nightly export and the vpn?"));
    assert!(recalled.hits.len() <= MAX_SHOWN);
    assert!(recalled.skipped.iter().any(|(_, why)| *why != Skipped::ToolInUse));
}

#[test]
fn r2_08_an_unrelated_prompt_brings_nothing() {
    let shelf = among_others(&[]);
    for prompt in
        ["rename the variable to total please", "turn this loop into an iterator", "thanks, looks good"]
    {
        let recalled = recalled(&shelf, &at(prompt));
        assert!(recalled.hits.is_empty(), "{prompt}: {:?}", names(&recalled));
    }
}

#[test]
fn r2_09_a_tool_in_use_needs_no_usage_but_its_gotcha() {
    let shelf = among_others(&[
        note("cargo-usage", "howto", "How to build the workspace with cargo", "`cargo build --workspace`"),
        note("cargo-gotcha", "gotcha", "cargo build in the workspace unifies features", "Build with `-p`."),
    ]);
    let prompt = "build the workspace with cargo, which features are on?";
    let moment = Moment { tools: vec!["Cargo".to_owned()], ..at(prompt) };
    let recalled = recalled(&shelf, &moment);
    assert_eq!(names(&recalled), ["cargo-gotcha"]);
    let usage = recalled.skipped.iter().find(|(hit, _)| hit.note.name == "cargo-usage");
    assert_eq!(usage.map(|(_, why)| *why), Some(Skipped::ToolInUse));
}

#[test]
fn r3_04_who_asks_for_it_gets_it_at_a_lower_floor() {
    let shelf =
        among_others(&[note("usd-postponed", "decision", "USD waits until after the release", "Too new.")]);
    let recalled = recalled(&shelf, &at("what did we decide about USD?"));
    assert_eq!(names(&recalled), ["usd-postponed"]);
    let weights = Weights::fitted();
    assert!(recalled.floor == weights.asked_floor && weights.asked_floor <= weights.floor);
}

#[test]
fn as_04_other_words_lead_to_the_same_note() {
    let shelf = among_others(&[note(
        "real-database",
        "feedback",
        "Integration tests hit a real database, never a mock",
        "A mocked one hid a broken migration.",
    )]);
    let Ok(hits) = rank(&shelf, &at("tests against postgres"), &now(), &Weights::fitted(), &Unknown);
    assert_eq!(hits[0].note.name, "real-database");
    assert!(hits[0].parts.get(Part::SoftSum) > 0.0);
}

#[test]
fn as_05_links_lead_to_two_notes_at_most_and_say_so() {
    let target =
        |n: u8| note(&format!("step-{n}"), "reference", &format!("Chapter {n} of the handbook"), "Read it.");
    let links = "Steps: [[step-1]] [[step-2]] [[step-3]] [[step-4]].";
    let source = note("tape-archive", "decision", "The tape archive is emptied by hand", links);
    let shelf = among_others(&[source, target(1), target(2), target(3), target(4)]);
    let Ok(hits) = rank(&shelf, &at("who empties the tape archive?"), &now(), &Weights::fitted(), &Unknown);
    let linked: Vec<&Hit> = hits.iter().filter(|hit| hit.parts.get(Part::Via) > 0.0).collect();
    assert_eq!(linked.len(), 4);
    assert!(linked.iter().all(|hit| hit.via == ["tape-archive"]));
    let eager = Weights { margin: 0.0, floor: 0.0, ..Weights::fitted() };
    let Ok(recalled) = recall(&shelf, &at("who empties the tape archive?"), &now(), &eager, &Unknown);
    assert!(recalled.hits.iter().filter(|hit| !hit.via.is_empty()).count() <= 2);
}

/// Two notes that say the same, one of them marked.
fn twins(mark: &str) -> Shelf {
    let first = note("backup-north", "reference", "Backups lie in the cellar for ten years", "On tape.");
    let second = note("backup-south", "reference", "Backups lie in the cellar for ten years", "On tape.");
    among_others(&[first, second.replace("metadata:\n", &format!("metadata:\n{mark}"))])
}

#[test]
fn tt_02_supplementary_comes_after_confirmed() {
    // How the second twin stands beside the first, whose name is another and whose vector is not quite the same.
    let beside = |mark: &str| -> f32 {
        let moment = at("where do the backups lie and for how long?");
        let Ok(hits) = rank(&twins(mark), &moment, &now(), &Weights::fitted(), &Unknown);
        let score = |name: &str| hits.iter().find(|hit| hit.note.name == name).unwrap().score;
        score("backup-south") / score("backup-north")
    };
    let (confirmed, supplementary) = (beside(""), beside("  tier: supplementary\n"));
    assert!(supplementary < 0.7 * confirmed, "{supplementary} {confirmed}");
}

#[test]
fn ds_01_of_two_equal_matches_the_used_one_comes_first() {
    struct Used;
    impl Standing for Used {
        fn strength(&self, note: &Note) -> f32 {
            if note.name == "backup-south" { 0.9 } else { 0.5 }
        }
    }
    let moment = at("where do the backups lie and for how long?");
    let Ok(hits) = rank(&twins(""), &moment, &now(), &Weights::fitted(), &Used);
    assert_eq!(hits[0].note.name, "backup-south");
}

#[test]
fn probabilities_leave_room_for_nothing() {
    let Ok(hits) = rank(&among_others(&[]), &at("round the invoice"), &now(), &Weights::fitted(), &Unknown);
    let total: f32 = hits.iter().map(|hit| hit.score).sum();
    assert!(total > 0.0 && total < 1.0);
}
