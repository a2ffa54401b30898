//! Entries: what is written is read back, items stay open until they are closed, and damage loses nothing else.

use expect_test::expect;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::transcript::{Role, Turn};

fn entry(name: &str, ended: &str, unfinished: &[(&str, &str, bool)]) -> Entry {
    let item = |&(id, text, is_done): &(&str, &str, bool)| Item {
        id: id.to_owned(),
        text: text.to_owned(),
        is_done,
    };
    Entry {
        name: name.to_owned(),
        ended: Some(ended.parse().unwrap()),
        sections: Sections { unfinished: unfinished.iter().map(item).collect(), ..Sections::default() },
        ..Entry::default()
    }
}

fn full() -> Entry {
    let sections = Sections {
        summary: "Moved token refresh behind a queue. It was slow.\n# not a heading\n## Unfinished"
            .to_owned(),
        decisions: vec!["Use a queue for refresh; **Why:** bursts".to_owned()],
        unfinished: vec![Item {
            id: "01JABC".to_owned(),
            text: "rotate staging key".to_owned(),
            is_done: false,
        }],
        related: vec!["[[feedback-real-db]]".to_owned(), "project `mobile-app-77ab20`".to_owned()],
    };
    Entry {
        name: name("2026-04-02".parse().unwrap(), &sections),
        description: describe(&sections),
        project: "web-app-3f9a1c".to_owned(),
        session: Some("5da15695-411e".to_owned()),
        started: Some("2026-04-02T09:02:11Z".parse().unwrap()),
        ended: Some("2026-04-02T10:31:00Z".parse().unwrap()),
        branch: Some("feat/auth-queue".to_owned()),
        agent: Some("claude-code".to_owned()),
        sections,
    }
}

/// MH-03.
#[test]
fn an_entry_is_a_file_with_four_sections() {
    expect![[r#"
        ---
        name: 2026-04-02-moved-token-refresh-behind-a-queue
        description: Moved token refresh behind a queue; 1 open item
        type: session
        metadata:
          project: web-app-3f9a1c
          session: 5da15695-411e
          started: 2026-04-02T09:02:11Z
          ended: 2026-04-02T10:31:00Z
          branch: feat/auth-queue
          agent: claude-code
        ---

        ## Summary
        Moved token refresh behind a queue. It was slow.
        \# not a heading
        \## Unfinished

        ## Decisions
        - Use a queue for refresh; **Why:** bursts

        ## Unfinished
        - [ ] rotate staging key <!-- u:01JABC -->

        ## Related
        - [[feedback-real-db]]
        - project `mobile-app-77ab20`
    "#]]
    .assert_eq(&full().render());
    assert_eq!(Entry::read("other", full().render().as_bytes()), full());
}

#[test]
fn what_people_write_by_hand_is_read_too() {
    let text = "Did things.\n\n### Decisions:\n* one,\n  and its reason\n* two\n\n## Open items\n- [X] done\n- left\n\
                plain line\n## Related\n- [[a]], [[b]]\n";
    let entry = Entry::read("2026-04-02T103100Z-5da15695", text.as_bytes());
    assert_eq!(entry.name, "2026-04-02T103100Z-5da15695");
    assert_eq!(entry.description, "Did things; 2 open items");
    assert_eq!(entry.sections.decisions, ["one, and its reason", "two"]);
    let items: Vec<(&str, bool)> =
        entry.sections.unfinished.iter().map(|item| (item.text.as_str(), item.is_done)).collect();
    assert_eq!(items, [("done", true), ("left", false), ("plain line", false)]);
    assert_eq!(entry.sections.related, ["[[a]]", "[[b]]"]);
    assert!(entry.sections.unfinished.iter().all(|item| item.id.len() == 16), "each has an id of its own");
    assert_eq!(Entry::read("2026-04-02T103100Z-5da15695", text.as_bytes()), entry, "and the same each time");
}

/// LC-08.
#[test]
fn an_item_is_open_until_a_later_entry_closes_it() {
    let entries = [
        entry("a", "2026-04-01T10:00:00Z", &[("1", "rotate the key", false), ("2", "write docs", false)]),
        entry("b", "2026-04-02T10:00:00Z", &[("2", "write the docs", false), ("3", "new", false)]),
        entry("c", "2026-04-03T10:00:00Z", &[("3", "new", true), ("4", "done at once", true)]),
    ];
    let open = open_items(&entries);
    let shown: Vec<String> = open
        .iter()
        .map(|item| format!("{} {} {:.0} {}", item.id, item.text, item.since.unwrap(), item.entry))
        .collect();
    assert_eq!(shown, ["2 write the docs 2026-04-01T10:00:00Z b", "1 rotate the key 2026-04-01T10:00:00Z a"]);
    let all: Vec<&OpenItem> = open.iter().collect();
    let closing = Entry { sections: close(&all), ..entry("d", "2026-04-04T10:00:00Z", &[]) };
    assert_eq!(open_items(entries.iter().chain([&closing])), []);
    let reopened = entry("e", "2026-04-05T10:00:00Z", &[("1", "rotate the key", false)]);
    assert_eq!(open_items(entries.iter().chain([&closing, &reopened])).len(), 1);
}

/// LC-08.
#[test]
fn an_item_that_is_said_again_is_carried_over_under_its_id() {
    let open = open_items(&[entry("a", "2026-04-01T10:00:00Z", &[("1", "Rotate the key.", false)])]);
    let mut sections =
        Sections::read("## Unfinished\n- rotate the key\n- [x] <!-- u:1 -->\n- another\n- another\n");
    let mut n = 0;
    let mint = || -> Result<String, ()> {
        n += 1;
        Ok(format!("new{n}"))
    };
    identify(&mut sections, &open, mint).unwrap();
    let ids: Vec<&str> = sections.unfinished.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["1", "1", "new1", "new2"]);
    assert_eq!(sections.unfinished[1].text, "Rotate the key.", "an id alone names the item");
}

/// LC-06.
#[test]
fn the_briefing_names_the_last_session_and_what_is_left_within_its_limit() {
    let open = open_items(&[full()]);
    let brief = |limit| briefing(Some(&full()), &open, &TimeZone::UTC, limit);
    expect![[r#"
        Last session 2026-04-02: Moved token refresh behind a queue; 1 open item
        Decided: Use a queue for refresh; **Why:** bursts
        Unfinished (1):
        - rotate staging key [01JABC, since 2026-04-02]
    "#]]
    .assert_eq(&brief(9_000));
    let many: Vec<(String, String)> = (0..200).map(|n| (format!("id{n:04}"), "x".repeat(100))).collect();
    let items: Vec<(&str, &str, bool)> =
        many.iter().map(|(id, text)| (id.as_str(), text.as_str(), false)).collect();
    let open = open_items(&[entry("a", "2026-04-01T10:00:00Z", &items)]);
    for limit in [0, 10, 100, 300, 1_000, 9_000] {
        let text = briefing(Some(&full()), &open, &TimeZone::UTC, limit);
        assert!(text.len() <= limit, "{limit}\n{text}");
        assert!(limit < 300 || text.contains("more items: memdir journal open"), "{text}");
    }
    assert_eq!(briefing(None, &[], &TimeZone::UTC, 9_000), "");
}

fn turn(role: Role, text: &str, at: &str) -> Turn {
    Turn {
        session: "s".to_owned(),
        at: at.parse::<Timestamp>().ok(),
        role,
        text: text.to_owned(),
        cwd: Some("/p".to_owned()),
        branch: Some("main".to_owned()),
        uuid: at.to_owned(),
    }
}

/// LC-07: prompts, files, commands, errors, todos, and nothing of what the model or a tool said.
#[test]
fn a_digest_tells_prompts_files_commands_errors_and_todos() {
    let mut digest = Digest::default();
    let at = |n: usize| format!("2026-04-02T09:{n:02}:00Z");
    let turns = [
        (Role::User, "Fix the login redirect.\n\nIt loops."),
        (Role::Assistant, "I will look at it. We decided to use Redis."),
        (Role::Tool, "Bash\ncommand: ls src"),
        (Role::Tool, "error: not told, nothing was run but a look"),
        (Role::Tool, "Edit\nfile_path: /p/src/auth.rs\nold_string: a\nnew_string: b"),
        (Role::Tool, "The file was updated"),
        (Role::Tool, "Edit\nreplace_all: false\nfile_path: /p/src/auth.rs\nold_string: b\nnew_string: c"),
        (Role::Tool, "shell\ncommand: [\"bash\",\"-lc\",\"cargo test\"]"),
        (Role::Tool, "running 2 tests\nerror[E0432]: unresolved import `x`\nmore"),
        (Role::Tool, "Bash\ncommand: cargo test"),
        (Role::Tool, "apply_patch\n*** Begin Patch\n*** Update File: tests/auth.rs\n@@"),
        (
            Role::Tool,
            r#"TodoWrite
todos: [{"content":"write a test","status":"completed"},{"content":"tell the team","status":"pending"}]"#,
        ),
        (Role::User, "We decided to keep sessions in Postgres because Redis lost them in the outage."),
    ];
    for (n, (role, text)) in turns.iter().enumerate() {
        digest.take(&turn(*role, text, &at(n)));
    }
    let sections = digest.sections("/p");
    expect![[r#"
        Fix the login redirect. (2 prompts on `main`)
        Then: We decided to keep sessions in Postgres because Redis lost them in the outage.
        Changed: src/auth.rs (×2), tests/auth.rs
        Ran: cargo test (×2)
        Failed: error[E0432]: unresolved import `x`"#]]
    .assert_eq(&sections.summary);
    assert_eq!(
        sections.decisions,
        ["We decided to keep sessions in Postgres because Redis lost them in the outage."]
    );
    let left: Vec<&str> = sections.unfinished.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(left, ["tell the team"]);
    assert_eq!(digest.started, Some("2026-04-02T09:00:00Z".parse().unwrap()));
    assert_eq!(digest.ended, Some("2026-04-02T09:12:00Z".parse().unwrap()));
    assert_eq!(digest.sections("/p"), sections);
}

#[test]
fn tasks_of_newer_versions_are_todos_too() {
    let mut digest = Digest::default();
    for text in [
        "TaskCreate\nsubject: first\ndescription: x",
        "TaskCreate\nsubject: second",
        "TaskUpdate\ntaskId: 1\nstatus: completed",
        "TaskUpdate\ntaskId: 9\nstatus: completed",
    ] {
        digest.take(&turn(Role::Tool, text, "2026-04-02T09:00:00Z"));
    }
    let left: Vec<String> = digest.sections("").unfinished.into_iter().map(|item| item.text).collect();
    assert_eq!(left, ["second"]);
}

#[test]
fn a_session_of_any_length_makes_a_short_digest() {
    let mut digest = Digest::default();
    for n in 0..3_000 {
        digest.take(&turn(Role::User, &format!("prompt {n} {}", "x".repeat(5_000)), "2026-04-02T09:00:00Z"));
        digest.take(&turn(Role::Tool, &format!("Edit\nfile_path: /p/{n}.rs"), "2026-04-02T09:00:00Z"));
    }
    let summary = digest.sections("/p").summary;
    assert!(summary.len() < 2_500, "{} bytes", summary.len());
    assert!(
        summary.contains("3000 prompts")
            && summary.contains("Then: prompt 2999")
            && summary.contains("488 more")
    );
}

proptest! {
    #[test]
    fn sections_come_back_as_they_were_written(
        summary in "[a-zA-Z#\\\\ \n-]{0,80}",
        decisions in proptest::collection::vec("[a-z#\\[\\]<>! -]{1,20}", 0..4),
        items in proptest::collection::vec(("[A-Z0-9]{4}", "[a-z#<>! -]{1,20}", any::<bool>()), 0..4),
    ) {
        let lines: Vec<&str> = summary.trim().lines().map(str::trim_end).collect();
        let clean = |text: &String| one_line(text);
        let sections = Sections {
            summary: lines.join("\n").trim().to_owned(),
            decisions: decisions.iter().map(clean).filter(|text| !text.is_empty()).collect(),
            unfinished: items
                .into_iter()
                .map(|(id, text, is_done)| Item { id, text: one_line(&text), is_done })
                .filter(|item| !item.text.is_empty())
                .collect(),
            related: Vec::new(),
        };
        let read = Sections::read(&sections.render());
        prop_assert_eq!(read, sections);
    }

    #[test]
    fn any_bytes_make_an_entry(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let entry = Entry::read("stem", &bytes);
        prop_assert_eq!(Entry::read("stem", entry.render().as_bytes()).sections.unfinished, entry.sections.unfinished);
    }
}
