//! The gate on small texts with evidence written by hand.

use expect_test::{Expect, expect};

use super::*;
use crate::memory::MemoryType;
use crate::statement::gist;

/// A small project: two folders, one function, three commits, one instruction file.
fn project() -> Evidence {
    let path = |mention: &str, path: &str, n_files| {
        (mention.to_owned(), FoundPath { path: path.to_owned(), n_files })
    };
    let symbol = FoundSymbol { file: "src/config.rs".into(), line: 12, is_definition: true };
    let commit = |subject: &str, author: &str| Commit::new("1a2b3c4d5e", subject, author);
    let rules = "# Rules\n\n- Use pnpm, never npm.\n- Never mock the database in tests.\n";
    Evidence {
        has_tree: true,
        paths: [path("src/api", "src/api", Some(14)), path("config.rs", "src/config.rs", None)].into(),
        symbols: [("parse_config".to_owned(), symbol)].into(),
        recent: [commit("feat(api): retry opening a stuck door", "Mirja Okafor")].into(),
        instructions: instruction_lines("CLAUDE.md", rules).into(),
        ..Evidence::default()
    }
}

fn check(text: &str, expect: Expect) {
    check_with(text, &project(), expect);
}

fn check_with(text: &str, evidence: &Evidence, expect: Expect) {
    let weighed = weigh(&gist(text), MemoryType::Project, evidence);
    let mut shown: Vec<String> = weighed
        .refusals
        .iter()
        .map(|refusal| format!("{}\n  {}\n  {}", refusal.rule, refusal.evidence, refusal.destination))
        .collect();
    shown.extend(
        weighed.parts.iter().map(|part| format!("{}: {}", part.rule.as_deref().unwrap_or("keep"), part.text)),
    );
    if weighed.refusals.is_empty() {
        shown.insert(0, "saved".to_owned());
    }
    expect.assert_eq(&shown.join("\n"));
}

/// NS-04: an order is over with the session only if it speaks of it.
#[test]
fn an_order_for_every_occasion_is_kept() {
    for text in [
        "for UI work show me a screenshot before you call it done",
        "Show a screenshot of UI work before it is called done.",
        "Show the plan before touching a migration.",
        "Zeig mir den Plan, bevor du eine Migration anfasst.",
    ] {
        let refusals = weigh(&gist(text), MemoryType::Feedback, &Evidence::default()).refusals;
        assert_eq!(refusals, [], "{text}");
    }
    let passing = "I'm still editing it, wait until I'm back before you go on";
    let refusals = weigh(&gist(passing), MemoryType::Feedback, &Evidence::default()).refusals;
    assert_eq!(refusals.first().map(|refusal| refusal.rule.as_str()), Some("ephemeral"));
}

/// NS-01.
#[test]
fn what_the_tree_and_the_code_show_is_refused_with_what_was_found() {
    check(
        "src/api holds handlers",
        expect![[r#"
        derivable:structure
          src/api is in the tree (14 files)
          the code shows it; docs/architecture.md if people need a guide"#]],
    );
    check(
        "`parse_config` is defined in config.rs.",
        expect![[r#"
        derivable:structure
          src/config.rs is in the tree; `parse_config` is defined in src/config.rs:12
          the code shows it; docs/architecture.md if people need a guide"#]],
    );
}

/// NS-01.
#[test]
fn a_reason_outside_the_code_keeps_a_text_that_names_files() {
    check(
        "`parse_config` in config.rs accepts unknown keys. Why: two customers have contracts that forbid a config change.",
        expect![[r#"
            saved
            derivable:structure: `parse_config` in config.rs accepts unknown keys.
            keep: two customers have contracts that forbid a config change."#]],
    );
    check(
        "`parse_config` in config.rs calls src/api because the API needs the config.",
        expect![[r#"
            derivable:structure
              src/config.rs is in the tree; src/api is in the tree (14 files); `parse_config` is defined in src/config.rs:12
              the code shows it; docs/architecture.md if people need a guide"#]],
    );
}

/// NS-02.
#[test]
fn what_git_tells_is_refused_with_the_commit() {
    check(
        "merged PR #12 yesterday",
        expect![[r#"
        derivable:git
          it tells what git records: merged PR #12 yesterday
          git log"#]],
    );
    check(
        "Mirja added that opening a stuck door is retried, last week.",
        expect![[r#"
        derivable:git
          commit 1a2b3c4 by Mirja Okafor: feat(api): retry opening a stuck door
          git log"#]],
    );
}

/// NS-03.
#[test]
fn a_debugging_story_is_refused_and_the_second_time_to_be_codified() {
    let text =
        "TypeError: door is undefined\n    at open (src/api/door.js:3:11)\n\nFixed by awaiting the lookup.";
    check(
        text,
        expect![[r#"
        debugging
          an error message: TypeError: door is undefined
          the commit message of the fix"#]],
    );
    check_with(
        text,
        &Evidence { seen_before: 1, ..project() },
        expect![[r#"
        debugging
          an error message: TypeError: door is undefined
          seen 2 times: codify it as a test, a lint, a script or a note in docs/"#]],
    );
}

/// NS-04.
#[test]
fn what_an_instruction_says_is_refused_and_its_opposite_is_not() {
    check(
        "use pnpm",
        expect![[r#"
        duplicate:CLAUDE.md:3
          CLAUDE.md:3 says: Use pnpm, never npm.
          CLAUDE.md, where it already is"#]],
    );
    check("Never use pnpm", expect!["saved"]);
    check(
        "Mock the database in the simulator tests.\n\n**Why:** the hospital's IT does not allow Docker.",
        expect!["saved"],
    );
}

/// NS-05.
#[test]
fn what_is_over_with_the_session_goes_to_working_memory() {
    for text in
        ["currently editing foo.rs", "Ich baue gerade foo.rs um, danach teste ich.", "지금 foo.rs 고치는 중"]
    {
        check(text, {
            let quoted = format!("ephemeral\n  it is over with this session: {text}\n  working memory");
            Expect { data: Box::leak(quoted.into_boxed_str()), ..expect![""] }
        });
    }
    check("Merge freeze after 2026-03-05: the customer's auditors come that week.", expect!["saved"]);
}

/// NS-06.
#[test]
fn a_request_changes_nothing_and_what_is_worth_saving_is_told_apart() {
    check(
        "Save this: merged #12, #14 and #15 last week",
        expect![[r#"
        derivable:git
          it tells what git records: merged #12, #14 and #15 last week
          git log"#]],
    );
    check(
        "Merged #12 last week. The regulator wants a paper copy of each receipt until 2027.",
        expect![[r#"
            saved
            derivable:git: Merged #12 last week.
            keep: The regulator wants a paper copy of each receipt until 2027."#]],
    );
}

/// NS-07.
#[test]
fn every_refusal_names_rule_evidence_place_and_question() {
    for text in ["src/api holds handlers", "merged PR #12 yesterday", "use pnpm", "currently editing foo.rs"]
    {
        let refusals = judge(&gist(text), MemoryType::Project, &project());
        let [refusal] = &refusals[..] else { panic!("{text}: {refusals:?}") };
        let told = [&refusal.rule, &refusal.evidence, &refusal.destination];
        assert!(told.iter().all(|part| !part.is_empty()) && refusal.question.is_some(), "{refusal:?}");
    }
}

#[test]
fn without_any_evidence_a_text_is_judged_by_what_it_says() {
    let nothing = Evidence::default();
    check_with(
        "The handlers live in src/api and the models in src/db.",
        &nothing,
        expect![[r#"
        derivable:structure
          it describes the code: The handlers live in src/api and the models in src/db.
          the code shows it; docs/architecture.md if people need a guide"#]],
    );
    check_with(
        "Logs of the staging server are under /var/log/app on host web-3.",
        &nothing,
        expect!["saved"],
    );
    check_with("", &nothing, expect!["saved"]);
}

/// The scores ask for these by name; a reading that no longer has them must not go unnoticed.
#[test]
fn the_cues_that_scores_rely_on_are_read() {
    let has = |text: &str, name: &str| crate::statement::read(text).seen(name).is_some();
    assert!(has("You must run the tests.", "duty"));
    assert!(has("Run the tests.", "imperative"));
    assert!(has("Never push to main.", "ban"));
    assert!(has("The deadline is 2026-03-05.", "deadline"));
}
