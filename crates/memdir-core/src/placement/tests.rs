//! The law of places on sentences of three languages.

use super::*;
use crate::memory::MemoryType;
use crate::statement::{Act, gist};

#[test]
fn files_are_known_by_name_and_folder() {
    for (target, place) in [
        ("CLAUDE.md", Place::Instructions),
        ("docs/CLAUDE.md", Place::Instructions),
        ("AGENTS.md", Place::Instructions),
        (".claude/rules/testing.md", Place::Instructions),
        ("./STATUS.md", Place::Status),
        ("docs/adr/0001-x.md", Place::Decisions),
        ("docs/decisions/", Place::Decisions),
        ("docs\\decisions\\0002-y.md", Place::Decisions),
        ("ARCHITECTURE.md", Place::Architecture),
        ("docs/architecture.md", Place::Architecture),
        ("readme.MD", Place::Readme),
        ("memory:user", Place::Memory(MemoryType::User)),
        ("working memory", Place::WorkingMemory),
    ] {
        assert_eq!(target.parse(), Ok(place), "{target}");
    }
    for target in ["", "memory:misc", "src/main.rs", "MEMORY.md", "/"] {
        assert!(target.parse::<Place>().is_err(), "{target}");
    }
}

fn judge(text: &str, target: &str) -> Verdict {
    place(&gist(text), target.parse().unwrap(), &Surroundings::default())
}

/// PV-01: one law of places.
#[test]
fn pv_01_twenty_sentences_find_their_place() {
    let table = "Always run clippy before pushing | CLAUDE.md
        No default exports in this repo. | CLAUDE.md
        Commit-Nachrichten immer auf Englisch schreiben. | CLAUDE.md
        main 브랜치에 직접 푸시하지 마세요. | CLAUDE.md
        Phase 2 is done, 3 of 8 screens are migrated. | STATUS.md
        Anmeldung ist fertig, die Bezahlung ist noch in Arbeit. | STATUS.md
        현재 8개 화면 중 3개가 이전되었다. | STATUS.md
        Decided to use Next.js instead of Astro 5 | docs/decisions/
        Wir haben uns für Vue statt React entschieden. | docs/decisions/
        The worker pulls jobs from Redis and writes results to Postgres. | docs/architecture.md
        게이트웨이가 요청을 인증한 뒤 각 서비스로 전달한다. | docs/architecture.md
        Install with `npm i -g foo`, then run `foo serve`. | README.md
        Stop summarising at the end of every reply. | memory:feedback
        I prefer tabs. | memory:user
        I'm a data scientist investigating logging. | memory:user
        저는 탭보다 스페이스를 선호합니다. | memory:user
        The auth rewrite is driven by legal's compliance review. | memory:project
        Der Kunde verlangt bis Ende März eine Offline-Version. | memory:project
        Bugs are tracked in Linear project INGEST. | memory:reference
        Currently editing foo.rs, next I run the tests. | working memory";
    let mut wrong = Vec::new();
    for line in table.lines() {
        let (text, want) = line.trim().split_once(" | ").unwrap();
        let verdict = judge(text, "CLAUDE.md");
        if verdict.destinations.first().map(|place| place.as_str()) != Some(want)
            || verdict.ok != (want == "CLAUDE.md")
        {
            wrong.push(format!("{text}: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// MH-06 and PV-02: a verdict has a reason and names where the text belongs.
#[test]
fn mh_06_a_decision_is_out_of_place_among_rules() {
    let verdict = judge("Decided to use Next.js instead of Astro 5", "CLAUDE.md");
    assert!(!verdict.ok);
    assert_eq!(verdict.destinations, [Place::Decisions, Place::Status]);
    assert!(verdict.reason.contains("decision"), "{}", verdict.reason);
}

#[test]
fn a_decision_with_its_reason_may_be_a_memory() {
    assert!(judge("We chose SQLite over Postgres because the clinics have no admin.", "memory:project").ok);
    assert!(!judge("We chose SQLite over Postgres.", "memory:project").ok);
}

#[test]
fn a_team_rule_may_be_feedback() {
    assert!(judge("Always run clippy before pushing", "memory:feedback").ok);
    assert!(!judge("Always run clippy before pushing", "STATUS.md").ok);
}

#[test]
fn mixed_texts_are_told_apart() {
    let text = "- Always run `cargo deny check` before a release.\n- Never push to main.\n- 31 of 44 endpoints are migrated.\n";
    let verdict = judge(text, "CLAUDE.md");
    assert!(!verdict.ok);
    assert_eq!(verdict.destinations.first(), Some(&Place::Status));
    let firsts: Vec<&str> = verdict.parts.iter().map(|part| part.destinations[0].as_str()).collect();
    assert_eq!(firsts, ["CLAUDE.md", "CLAUDE.md", "STATUS.md"]);
}

#[test]
fn what_git_shows_is_no_memory() {
    let verdict = judge("merged PR #12 yesterday", "memory:project");
    assert!(!verdict.ok);
    assert_eq!(verdict.destinations, [Place::Status]);
    assert!(verdict.reason.contains("git"), "{}", verdict.reason);
}

#[test]
fn a_shared_vault_is_only_a_second_remark() {
    let around = Surroundings { has_team_vault: true, ..Surroundings::default() };
    let verdict = place(&gist("Bugs are tracked in Linear project INGEST."), Place::Readme, &around);
    assert_eq!(verdict.destinations, [Place::Memory(MemoryType::Reference), Place::TeamVault]);
}

/// PV-04: state in CLAUDE.md and rules in STATUS.md are found, with their lines.
#[test]
fn pv_04_state_among_rules_and_rules_among_state_are_found() {
    let rules = "# Project\n\n- Always run clippy before pushing.\n- As of 2026-04-01 the importer handles 6 of 9 formats.\n- We chose Postgres over MySQL because of row-level security.\n\n```sh\nmake lint\n```\n";
    let found: Vec<(usize, Act)> =
        lint(Place::Instructions, rules).iter().map(|one| (one.line, one.act)).collect();
    assert_eq!(found, [(4, Act::State), (5, Act::Decision)]);
    let status = "Phase 2 is done.\n\nNever push to main without a review.\n";
    let found: Vec<(usize, Act)> =
        lint(Place::Status, status).iter().map(|one| (one.line, one.act)).collect();
    assert_eq!(found, [(3, Act::Rule)]);
    assert_eq!(lint(Place::Readme, rules), []);
}
