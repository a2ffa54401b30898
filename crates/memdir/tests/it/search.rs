//! `search` over its layers, over projects, and as of a day in the past.

use std::fs;
use std::path::{Path, PathBuf};

use memdir_testkit::{Invocation, Sandbox};
use serde_json::{Value, json};

use crate::setup::sandbox;

fn names(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["name"].as_str().unwrap()).collect()
}

fn layers(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["layer"].as_str().unwrap()).collect()
}

/// A command in the project of a directory, with the vault that belongs to it.
fn inside(sandbox: &Sandbox, dir: &Path, args: &[&str]) -> Invocation {
    sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(dir)
}

fn save(sandbox: &Sandbox, dir: &Path, name: &str, memory_type: &str, text: &str) {
    inside(sandbox, dir, &["save", name, "--type", memory_type, "--description", text, "--body", text]).ok();
}

/// Writes a journal entry where sessions leave them.
fn journal(sandbox: &Sandbox, dir: &Path, stamp: &str, description: &str, body: &str) {
    let projects = inside(sandbox, dir, &["projects"]).json();
    let here = projects.as_array().unwrap().iter().find(|project| project["here"] == true).unwrap();
    let folder = sandbox
        .state()
        .join("projects")
        .join(here["id"].as_str().unwrap())
        .join("journal")
        .join(&stamp[..4])
        .join(&stamp[5..7]);
    fs::create_dir_all(&folder).unwrap();
    let ended = format!("{}:{}:{}Z", &stamp[..13], &stamp[13..15], &stamp[15..17]);
    let text = format!(
        "---\nname: {}-session\ndescription: \"{description}\"\ntype: session\nmetadata:\n  session: 5da15695\n  ended: {ended}\n---\n\n## Summary\n{body}\n",
        &stamp[..10]
    );
    fs::write(folder.join(format!("{stamp}-5da15695.md")), text).unwrap();
}

/// Writes a session as Claude Code does, in which the user says these texts.
fn session(sandbox: &Sandbox, dir: &Path, id: &str, day: &str, texts: &[&str]) -> PathBuf {
    let dir = dir.canonicalize().unwrap();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = dir.to_str().unwrap().chars().map(plain).collect();
    let folder = sandbox.home().join(".claude/projects").join(slug);
    fs::create_dir_all(&folder).unwrap();
    let line = |(n, text): (usize, &&str)| {
        let line = json!({
            "parentUuid": null, "isSidechain": false, "type": "user", "message": { "role": "user", "content": text },
            "uuid": format!("{id}-{n}"), "timestamp": format!("{day}T08:00:{n:02}.000Z"), "userType": "external",
            "cwd": dir, "sessionId": id, "version": "2.1.325", "gitBranch": "main",
        });
        format!("{line}\n")
    };
    let path = folder.join(format!("{id}.jsonl"));
    fs::write(&path, texts.iter().enumerate().map(line).collect::<String>()).unwrap();
    path
}

/// MH-10: one question over memories, the journal and what was said.
#[test]
fn each_layer_is_searched_when_it_is_asked_for() {
    let sandbox = sandbox();
    let here = sandbox.project();
    save(&sandbox, &here, "project-harbour", "project", "The harbour crane reports wind above 20 knots");
    journal(
        &sandbox,
        &here,
        "2026-03-28T103100Z",
        "Harbour crane alarms muted",
        "The crane siren went off all night; muted until the sensor is replaced.",
    );
    session(
        &sandbox,
        &here,
        "c1",
        "2026-03-29",
        &["please rename the struct", "the harbour crane sensor arrives on monday", "thanks"],
    );
    let ask = |args: &[&str]| {
        let args = [&["search", "--json", "harbour crane sensor"], args].concat();
        inside(&sandbox, &here, &args).run().json()
    };
    assert_eq!(layers(&ask(&[])), ["memory"], "memories alone unless more is asked for");
    assert_eq!(layers(&ask(&["--layer", "journal"])), ["journal"]);
    let said = ask(&["--layer", "transcript"]);
    assert_eq!(layers(&said), ["transcript"]);
    assert_eq!(said["hits"][0]["turn"], "c1-1");
    assert!(said["hits"][0]["snippet"].as_str().unwrap().contains("arrives on monday"), "{said}");
    let all = ask(&["--layer", "memory,journal,transcript"]);
    let mut found = layers(&all);
    found.sort_unstable();
    assert_eq!(found, ["journal", "memory", "transcript"]);
    let scores: Vec<f64> =
        all["hits"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| (0.0..=1.0).contains(score)));
    let plain = inside(&sandbox, &here, &["search", "--transcripts", "harbour crane sensor"]).ok().stdout;
    assert!(plain.contains("transcript") && plain.contains("arrives on monday"), "{plain}");
    let other = ["search", "--layer", "memory,journal,transcript", "marmalade recipe of grandmother"];
    inside(&sandbox, &here, &other).code(1);
    inside(&sandbox, &here, &["search", "--layer", "dreams", "x"]).code(2);
}

/// UX-25.
#[test]
fn ux_25_a_swept_transcript_is_still_found_by_search() {
    let sandbox = sandbox();
    let here = sandbox.project();
    let path = session(&sandbox, &here, "c1", "2026-03-29", &["the zebra migration waits for the auditors"]);
    sandbox.memdir(&["backfill", "--keep"]).without_env("MEMDIR_VAULT").cwd(&here).ok();
    fs::remove_file(path).unwrap();
    let answer = inside(
        &sandbox,
        &here,
        &["search", "--json", "--transcripts", "what does the zebra migration wait for?"],
    )
    .ok()
    .json();
    assert_eq!(layers(&answer), ["transcript"]);
    assert_eq!(answer["hits"][0]["kept"], true);
    assert!(answer["hits"][0]["path"].as_str().unwrap().contains("/transcripts/"), "{answer}");
}

/// UX-25: what is found is shown without the secrets in it.
#[test]
fn ux_25_what_was_said_is_shown_without_secrets() {
    let sandbox = sandbox();
    let here = sandbox.project();
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    session(&sandbox, &here, "c1", "2026-03-29", &[&format!("the walrus token is {key} for now")]);
    let output = inside(&sandbox, &here, &["search", "--json", "--transcripts", "walrus token"]).ok();
    assert!(output.stdout.contains("walrus") && !output.stdout.contains(&key), "{output}");
}

/// The state of a vault at a day, put together from history.
#[test]
fn as_of_a_day_the_memories_of_that_day_are_found() {
    let sandbox = sandbox();
    let run = |now: &str, args: &[&str]| sandbox.memdir(args).at(now).ok();
    let text = |text: &'static str| ["--description", text, "--body", text];
    let save = |name: &'static str, about: &'static str| {
        [&["save", name, "--type", "project"], &text(about)[..]].concat()
    };
    run(
        "2026-03-02T12:00:00Z",
        &save("project-quay", "The quay lease is paid by the museum, says the port office"),
    );
    run("2026-03-04T12:00:00Z", &save("project-buoy", "The quay buoy is painted by the port office"));
    let corrected = "The quay lease is paid by the city, says the port office";
    run("2026-03-06T12:00:00Z", &[&["correct", "project-quay"], &text(corrected)[..]].concat());
    run("2026-03-08T12:00:00Z", &["rename", "project-buoy", "project-beacon"]);
    run("2026-03-10T12:00:00Z", &["forget", "--yes", "project-quay"]);
    let ask = |day: &str| {
        let args = ["search", "--json", "quay port office", "--as-of", day];
        sandbox.memdir(&args).at("2026-03-12T12:00:00Z").run().json()
    };
    let found = |answer: &Value| -> Vec<String> {
        let hits = answer["hits"].as_array().unwrap().iter();
        let mut found: Vec<String> = hits
            .map(|hit| format!("{}: {}", hit["name"].as_str().unwrap(), hit["description"].as_str().unwrap()))
            .collect();
        found.sort_unstable();
        found
    };
    let june = "project-quay: The quay lease is paid by the museum, says the port office";
    let august = "project-quay: The quay lease is paid by the city, says the port office";
    assert_eq!(found(&ask("2026-03-01")), [""; 0]);
    assert_eq!(found(&ask("2026-03-03")), [june]);
    assert_eq!(
        found(&ask("2026-03-05")),
        ["project-buoy: The quay buoy is painted by the port office", june]
    );
    assert_eq!(
        found(&ask("2026-03-07T00:00:00Z")),
        ["project-buoy: The quay buoy is painted by the port office", august]
    );
    assert_eq!(
        found(&ask("2026-03-09")),
        ["project-beacon: The quay buoy is painted by the port office", august]
    );
    assert_eq!(found(&ask("2026-03-11")), ["project-beacon: The quay buoy is painted by the port office"]);
    let before = sandbox.vault_tree();
    let output =
        sandbox.memdir(&["search", "quay", "--as-of", "2025-01-01"]).at("2026-03-12T12:00:00Z").code(1);
    assert!(output.stderr.contains("is kept since 2026-03-02"), "{output}");
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
    sandbox.memdir(&["search", "quay", "--as-of", "tomorrowish"]).code(2);
}

/// The journal and what was said have their days too.
#[test]
fn as_of_a_day_later_sessions_are_not_found() {
    let sandbox = sandbox();
    let here = sandbox.project();
    save(&sandbox, &here, "project-anchor", "project", "An anchor weighs two tons");
    journal(&sandbox, &here, "2026-03-28T103100Z", "Walrus pool drained", "The walrus pool was drained.");
    session(&sandbox, &here, "c1", "2026-03-29", &["the walrus pool leaks at the north wall"]);
    let ask = |day: &str| {
        let args = ["search", "--json", "walrus pool", "--layer", "journal,transcript", "--as-of", day];
        inside(&sandbox, &here, &args).run().json()
    };
    assert_eq!(layers(&ask("2026-03-27")), [""; 0]);
    assert_eq!(layers(&ask("2026-03-28")), ["journal"]);
    assert_eq!(layers(&ask("2026-03-29")).len(), 2);
}

/// IS-02, CP-03: another project's layers stay closed without `--all`.
#[test]
fn is_02_no_layer_of_another_project_is_found_unasked() {
    let sandbox = sandbox();
    let (here, there) = (sandbox.project(), sandbox.root().join("other"));
    fs::create_dir(&there).unwrap();
    save(&sandbox, &here, "project-here", "project", "The lighthouse keeper signs the tide tables");
    save(&sandbox, &there, "project-there", "project", "The lighthouse lamp comes from a museum in Oslo");
    journal(
        &sandbox,
        &there,
        "2026-03-28T103100Z",
        "Lighthouse lamp shipped",
        "The lighthouse lamp left Oslo.",
    );
    session(&sandbox, &there, "t1", "2026-03-29", &["the lighthouse lamp is insured for a million"]);
    let every = ["--layer", "memory,journal,transcript"];
    let ask = |args: &[&str]| {
        let args = [&["search", "--json", "lighthouse"], &every[..], args].concat();
        inside(&sandbox, &here, &args).run().json()
    };
    assert_eq!(names(&ask(&[])), ["project-here"]);
    let all = ask(&["--all"]);
    let mut found = layers(&all);
    found.sort_unstable();
    assert_eq!(found, ["journal", "memory", "memory", "transcript"], "{all}");
    let of = |name: &str| all["hits"].as_array().unwrap().iter().find(|hit| hit["name"] == name).unwrap();
    assert_ne!(of("project-there")["project"], of("project-here")["project"]);
    let plain = inside(&sandbox, &here, &["search", "--all", "lighthouse"]).ok().stdout;
    assert!(plain.contains(of("project-there")["project"].as_str().unwrap()), "{plain}");
}

/// CP-02.
#[test]
fn cp_02_what_was_learned_elsewhere_and_holds_everywhere_is_found_with_its_origin() {
    let sandbox = sandbox();
    let (here, there) = (sandbox.project(), sandbox.root().join("other"));
    fs::create_dir(&there).unwrap();
    save(
        &sandbox,
        &there,
        "feedback-tide",
        "feedback",
        "Tide tables are always checked against the pilot book",
    );
    inside(&sandbox, &there, &["promote", "feedback-tide", "--to", "user"]).ok();
    let answer = inside(&sandbox, &here, &["search", "--json", "tide tables pilot book"]).ok().json();
    assert_eq!(names(&answer), ["feedback-tide"]);
    let origin = answer["hits"][0]["origin"].as_str().unwrap();
    assert!(origin.starts_with("other-"), "{answer}");
    let plain = inside(&sandbox, &here, &["search", "tide tables pilot book"]).ok().stdout;
    assert!(plain.contains(&format!("learned in {origin}")), "{plain}");
    let prompt = "are tide tables always checked against the pilot book?";
    let shown = inside(&sandbox, &here, &["recall", prompt]).ok().stdout;
    assert!(shown.contains(&format!("learned in {origin}")), "{shown}");
}

/// CP-01, CP-04, IX-08: one row for each project, in `projects` and in what a session gets.
#[test]
fn cp_04_seven_projects_are_seven_rows() {
    let sandbox = sandbox();
    for n in 1..=7 {
        let dir = sandbox.root().join(format!("work-{n}"));
        fs::create_dir(&dir).unwrap();
        let text = format!("The buoy number {n} is painted in colour {n}");
        let args = ["save", "project-buoy", "--type", "project", "--description", &text, "--body", &text];
        inside(&sandbox, &dir, &args).at(&format!("2026-03-0{n}T12:00:00Z")).ok();
    }
    let here = sandbox.root().join("work-3");
    let rows = inside(&sandbox, &here, &["projects"]).json();
    let days: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["last_activity"].as_str().unwrap()).collect();
    assert_eq!(days.len(), 7);
    assert!(days.is_sorted_by(|a, b| a >= b), "{days:?}");
    let pages = inside(&sandbox, &here, &["manifest", "--page"]).ok().stdout;
    let table: Vec<&str> = pages.lines().filter(|line| line.starts_with("| work-")).collect();
    assert_eq!(table.len(), 7);
    assert!(table[0].starts_with("| work-7 |") && table[0].contains("| 2026-03-07 |"), "{pages}");
    assert!(!pages.contains("colour 4"), "a project's memories stay with it");
}

/// SL-09, MH-05: what lies idle in one project is seen from another.
#[test]
fn sl_09_neglect_is_seen_across_projects() {
    let sandbox = sandbox();
    let (here, there) = (sandbox.project(), sandbox.root().join("other"));
    fs::create_dir(&there).unwrap();
    let args = |text| ["save", "project-mast", "--type", "project", "--description", text, "--body", text];
    let old = args("The mast of the old boat is stored in Bergen");
    inside(&sandbox, &there, &old).at("2026-03-18T12:00:00Z").ok();
    inside(&sandbox, &here, &args("The mast here is new")).at("2026-04-02T12:00:00Z").ok();
    let idle = |days: &str| {
        let rows = inside(&sandbox, &here, &["stale", days]).at("2026-04-02T12:00:00Z").json();
        let projects = rows.as_array().unwrap().iter().map(|row| row["project"].as_str().unwrap().to_owned());
        projects.collect::<Vec<String>>()
    };
    assert!(matches!(&idle("14")[..], [one] if one.starts_with("other-")), "{:?}", idle("14"));
    assert_eq!(idle("30"), [""; 0]);
}

/// DS-04: what nobody used for ten years is still found by who looks for it.
#[test]
fn ds_04_what_faded_is_found_by_an_explicit_search() {
    let sandbox = sandbox();
    let text = "The lighthouse keeper signs the tide tables";
    let args = ["save", "project-keeper", "--type", "project", "--description", text, "--body", text];
    sandbox.memdir(&args).at("2026-04-02T12:00:00Z").ok();
    let later = "2036-04-02T12:00:00Z";
    let rows = sandbox.memdir(&["list"]).at(later).json();
    assert!(rows[0]["strength"].as_f64().unwrap() < 1e-6, "{rows}");
    assert_eq!(names(&sandbox.memdir(&["search", "tide tables"]).at(later).json()), ["project-keeper"]);
}
