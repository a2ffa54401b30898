//! Small vaults in, plans out.

use jiff::{Timestamp, Zoned};

use super::*;
use crate::memory::MemoryType;

fn source(name: &str, kind: &str, said: &str, description: &str, body: &str, more: &str) -> Source {
    let said: Timestamp = format!("{said}T09:00:00Z").parse().unwrap();
    let text = format!(
        "---\nname: {name}\ndescription: \"{description}\"\ntype: {kind}\nmetadata:\n  created: {said}\n{more}---\n\n{body}\n"
    );
    Source::read(MemoryPath::new(&format!("{name}.md")).unwrap(), text.as_bytes(), said)
}

fn now() -> Zoned {
    "2026-06-15T12:00:00+00:00[UTC]".parse().unwrap()
}

fn planned(sources: &[Source]) -> Plan {
    plan(sources, &Evidence::default().with_names(sources), &now())
}

/// Tells the operations of a plan without those of the index page.
fn told(plan: &Plan) -> Vec<String> {
    let operations = plan.operations.iter().filter(|one| one.kind != OperationKind::Reindex);
    operations
        .map(|one| {
            format!("{} {} -> {}", one.kind.as_str(), one.names.join("+"), one.into.as_deref().unwrap_or("-"))
        })
        .collect()
}

const REAL: &str = "Integration tests must run against a real database, never mocks.";

/// DR-05.
#[test]
fn dr_05_a_merge_keeps_every_sentence_and_its_sources() {
    let sources = [
        source(
            "feedback-a",
            "feedback",
            "2026-01-02",
            "Integration tests hit a real database",
            &format!("{REAL}\n\n**Why:** mocked tests hid a broken migration."),
            "  tags:\n    - testing\n",
        ),
        source(
            "feedback-b",
            "feedback",
            "2026-02-02",
            "Integration tests hit a real database",
            &format!("{REAL} The compose file starts one.\n\n**Why:** the incident took a weekend."),
            "  tags:\n    - database\n",
        ),
    ];
    let plan = planned(&sources);
    assert_eq!(plan.operations.len(), 2, "{:?}", told(&plan));
    let merge = &plan.operations[0];
    assert_eq!((merge.kind, merge.risky), (OperationKind::Merge, false));
    let into = merge.into.clone().unwrap();
    let change = merge.changes.iter().find(|change| change.name() == into).unwrap();
    let text = String::from_utf8(plan.versions[&change.after.unwrap()].clone()).unwrap();
    for part in [
        REAL,
        "The compose file starts one.",
        "hid a broken migration",
        "took a weekend",
        "testing",
        "database",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert_eq!(text.matches(REAL).count(), 1, "{text}");
    let merged = Source::read(change_path(change), text.as_bytes(), now().timestamp());
    let other = if into == "feedback-a" { "feedback-b" } else { "feedback-a" };
    assert_eq!(
        (merged.memory.supersedes.clone(), merged.memory.aliases.clone()),
        (vec![other.to_owned()], vec![other.to_owned()])
    );
}

fn change_path(change: &FileChange) -> MemoryPath {
    MemoryPath::new(&change.path).unwrap()
}

/// DR-05.
#[test]
fn dr_05_of_two_that_contradict_each_other_the_newer_stays() {
    let sources = [
        source(
            "project-limit",
            "project",
            "2026-01-02",
            "Uploads are limited to 50 MB",
            "Uploads are limited to 50 MB.",
            "",
        ),
        source(
            "project-limit-new",
            "project",
            "2026-03-02",
            "Uploads are limited to 100 MB",
            "Uploads are limited to 100 MB.",
            "",
        ),
    ];
    let plan = planned(&sources);
    assert_eq!(told(&plan), ["supersede project-limit -> project-limit-new"]);
    assert!(plan.operations[0].risky, "somebody has to look");
    assert_eq!(plan.operations[0].leaving().collect::<Vec<_>>(), ["project-limit"]);
}

/// Neighbours that only look alike stay.
#[test]
fn what_only_looks_alike_stays() {
    let sources = [
        source(
            "project-billing",
            "project",
            "2026-01-02",
            "The billing service listens on port 8081",
            "The billing service listens on port 8081.",
            "",
        ),
        source(
            "project-search",
            "project",
            "2026-03-02",
            "The search service listens on port 8082",
            "The search service listens on port 8082.",
            "",
        ),
        source(
            "project-quota-staging",
            "project",
            "2026-01-02",
            "The staging quota is 5 jobs",
            "The staging quota is 5 jobs.",
            "",
        ),
        source(
            "project-quota-production",
            "project",
            "2026-03-02",
            "The production quota is 50 jobs",
            "The production quota is 50 jobs.",
            "",
        ),
        source(
            "reference-en",
            "reference",
            "2026-03-02",
            "Release notes are on the website",
            "Release notes are published on the website.",
            "",
        ),
        source(
            "reference-de",
            "reference",
            "2026-03-03",
            "Die Versionshinweise stehen auf der Webseite",
            "Die Versionshinweise werden auf der Webseite veröffentlicht.",
            "",
        ),
    ];
    assert_eq!(told(&planned(&sources)), [""; 0]);
}

/// What a dream must never touch: pinned, unreadable, quarantined; of the user's own memories it only merges.
#[test]
fn what_is_pinned_or_unreadable_or_not_trusted_is_left_alone() {
    let old = "  expires: 2026-01-31\n";
    let sources = [
        source(
            "project-pinned",
            "project",
            "2026-01-02",
            "Pinned",
            "It holds until the end of January.",
            &format!("{old}  pinned: true\n"),
        ),
        source(
            "project-quarantined",
            "project",
            "2026-01-02",
            "Not trusted",
            "It came from a page.",
            &format!("{old}  trust: quarantined\n"),
        ),
        source(
            "user-lisbon",
            "user",
            "2026-01-02",
            "The user is in Lisbon until January",
            "The user is in Lisbon.",
            old,
        ),
        source("project-raw", "project", "2026-01-02", "Broken \" quotes", "It has a broken head.", old),
    ];
    assert_eq!(sources[2].memory.memory_type, Some(MemoryType::User));
    assert_eq!(told(&planned(&sources)), [""; 0]);
}

/// DR-06.
#[test]
fn dr_06_next_week_becomes_a_date_by_the_memory_s_own_day() {
    let sources = [source(
        "project-demo",
        "project",
        "2026-06-10",
        "The demo is next week",
        "The demo is next week in Berlin.",
        "",
    )];
    let plan = planned(&sources);
    assert_eq!(told(&plan), ["rewrite-dates project-demo -> -"]);
    let after = plan.operations[0].changes[0].after.unwrap();
    let text = String::from_utf8_lossy(&plan.versions[&after]).into_owned();
    assert!(text.contains("2026-06-15") && !text.contains("next week"), "{text}");
}

/// DR-07.
#[test]
fn dr_07_what_is_over_leaves() {
    let sources = [
        source(
            "project-voucher",
            "project",
            "2026-01-02",
            "Voucher of the campaign",
            "The voucher gives ten percent.",
            "  expires: 2026-04-30\n",
        ),
        source(
            "project-old",
            "project",
            "2026-01-02",
            "Jobs are kept in a table",
            "Jobs are kept in a table.",
            "  status: superseded\n",
        ),
        source(
            "project-freeze",
            "project",
            "2026-03-02",
            "Code freeze until 2026-04-09",
            "Code freeze until 2026-04-09.",
            "",
        ),
        source(
            "project-decided",
            "project",
            "2025-11-03",
            "Decided on 2025-11-03 to use Postgres",
            "Decided on 2025-11-03 to use Postgres.",
            "",
        ),
    ];
    let plan = planned(&sources);
    assert_eq!(
        told(&plan),
        ["archive project-voucher -> -", "archive project-old -> -", "archive project-freeze -> -"]
    );
    assert_eq!(plan.operations.iter().map(|one| one.risky).collect::<Vec<_>>()[..3], [false, false, true]);
}

/// DR-08, AS-03.
#[test]
fn dr_08_what_is_used_together_gets_a_link_once() {
    let sources = [
        source("project-a", "project", "2026-01-02", "Orders are append-only", "Orders are append-only.", ""),
        source("project-b", "project", "2026-01-02", "Invoices have no gaps", "Invoices have no gaps.", ""),
    ];
    let pair = ("project-a".to_owned(), "project-b".to_owned());
    let evidence = |used| {
        let together = [(pair.clone(), Together { shown: 0, used })].into();
        Evidence { together, ..Evidence::default() }.with_names(&sources)
    };
    assert_eq!(told(&plan(&sources, &evidence(1), &now())), [""; 0]);
    let linked = plan(&sources, &evidence(2), &now());
    assert_eq!(told(&linked), ["link project-a -> project-b"]);
    let after = &linked.versions[&linked.operations[0].changes[0].after.unwrap()];
    let again = [Source::read(sources[0].path.clone(), after, now().timestamp()), sources[1].clone()];
    assert_eq!(told(&plan(&again, &evidence(2), &now())), [""; 0]);
}

/// DR-12.
#[test]
fn dr_12_at_most_a_fifth_leaves_by_itself() {
    let mut sources: Vec<Source> = (0..10)
        .map(|n| {
            source(
                &format!("project-{n}"),
                "project",
                "2026-01-02",
                &format!("Lamp {n} is from a museum"),
                "It came by boat.",
                "",
            )
        })
        .collect();
    for source in &mut sources[..3] {
        source.memory.expires = Some("2026-02-01".parse().unwrap());
    }
    let plan = planned(&sources);
    let split = split(&plan, Mode::Auto, sources.len());
    let leaving =
        |places: &[usize]| places.iter().map(|at| plan.operations[*at].leaving().count()).sum::<usize>();
    assert_eq!((leaving(&split.now), leaving(&split.waiting)), (2, 1));
    assert!(leaves_too_many(3, 10) && !leaves_too_many(2, 10));
}

/// UX-17.
#[test]
fn ux_17_an_operation_by_which_a_question_finds_less_is_blocked() {
    let sources = [
        source(
            "project-voucher",
            "project",
            "2026-01-02",
            "Voucher of the campaign",
            "The voucher gives ten percent.",
            "  expires: 2026-04-30\n",
        ),
        source(
            "project-old",
            "project",
            "2026-01-02",
            "Jobs are kept in a table",
            "Jobs are kept in a table.",
            "  status: superseded\n",
        ),
    ];
    let mut plan = planned(&sources);
    let past =
        Past { query: "which voucher".into(), before: vec!["project-voucher".into()], after: Vec::new() };
    let replay = review(&mut plan, &[past], &sources);
    assert_eq!((replay.queries, replay.worse.len()), (1, 1));
    assert_eq!(replay.worse[0].lost, ["project-voucher"]);
    assert!(plan.operations[0].blocked.as_deref().is_some_and(|why| why.contains("which voucher")));
    assert_eq!(plan.operations[1].blocked, None);
    assert_eq!(split(&plan, Mode::Auto, 100).now.len(), plan.operations.len() - 1);
}

/// DR-12: links resolve afterwards, or the operation waits.
#[test]
fn dr_12_a_memory_that_another_links_to_does_not_leave_by_itself() {
    let sources = [
        source(
            "project-voucher",
            "project",
            "2026-01-02",
            "Voucher of the campaign",
            "The voucher gives ten percent.",
            "  expires: 2026-04-30\n",
        ),
        source(
            "project-shop",
            "project",
            "2026-01-02",
            "The shop takes vouchers",
            "The shop takes vouchers, see [[project-voucher]].",
            "",
        ),
    ];
    let mut plan = planned(&sources);
    review(&mut plan, &[], &sources);
    assert_eq!(plan.operations[0].blocked.as_deref(), Some("`project-shop` links to [[project-voucher]]"));
}
