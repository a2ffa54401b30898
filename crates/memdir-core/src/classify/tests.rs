//! Sentences and the memories they make.

use expect_test::{Expect, expect};

use super::*;

fn check(text: &str, expected: Expect) {
    let names = ["project-freeze".to_owned(), "reference-bugs-tracked-linear-project".to_owned()];
    let proposed = classify(text, &Known { names: &names, ..Known::default() });
    let questions: Vec<String> =
        proposed.questions.iter().map(|question| format!("? {question}\n")).collect();
    expected.assert_eq(&format!(
        "{} {} {}{}\n{}\n\n{}{}",
        proposed.name,
        proposed.memory_type,
        proposed.scope,
        proposed.kind.map(|kind| format!(" {kind}")).unwrap_or_default(),
        proposed.description,
        proposed.body,
        questions.concat(),
    ));
}

#[test]
fn a_rule_with_a_reason_gets_its_why() {
    check(
        "please remember: never mock the database in integration tests because mocks hid a broken migration",
        expect![[r#"
            feedback-mock-database-integration-tests feedback private
            Never mock the database in integration tests

            Never mock the database in integration tests.

            **Why:** mocks hid a broken migration
            ? when and where does it count?
        "#]],
    );
}

/// TY-03: what becomes known about the user is a private user memory.
#[test]
fn ty_03_a_role_is_a_user_memory() {
    check(
        "I'm a data scientist investigating logging",
        expect![[r#"
        user-data-scientist-investigating-logging user private
        I'm a data scientist investigating logging

        I'm a data scientist investigating logging
    "#]],
    );
}

/// TY-04: confirmations are feedback too.
#[test]
fn ty_04_a_confirmation_is_feedback() {
    check(
        "yes exactly, keep doing that",
        expect![[r#"
        feedback-exactly-doing feedback private
        yes exactly, keep doing that

        yes exactly, keep doing that
        ? why is that so? a reason lets a later session judge the cases you did not name
        ? when and where does it count?
    "#]],
    );
}

/// TY-05: feedback is private unless it speaks for everybody.
#[test]
fn ty_05_feedback_of_a_team_is_shared() {
    check(
        "In this repo we write integration tests first",
        expect![[r#"
        feedback-repo-write-integration-tests feedback team standard
        In this repo we write integration tests first

        In this repo we write integration tests first
        ? why is that so? a reason lets a later session judge the cases you did not name
        ? when and where does it count?
    "#]],
    );
}

/// TY-08, TY-12: a decision is a project memory of that kind.
#[test]
fn ty_08_ty_12_a_decision_is_a_project_memory() {
    check(
        "Remember that we picked Godot over Unity due to the runtime fee. See project-freeze.",
        expect![[r#"
            project-picked-godot-unity project private decision
            We picked Godot over Unity

            We picked Godot over Unity. See project-freeze.

            **Why:** due to the runtime fee.

            See [[project-freeze]].
            ? when and where does it count?
        "#]],
    );
}

/// TY-11: where to look is for everybody; a taken name is not taken twice.
#[test]
fn ty_11_a_pointer_is_a_team_reference() {
    check(
        "bugs are tracked in Linear project INGEST",
        expect![[r#"
        reference-bugs-tracked-linear-project-2 reference team
        bugs are tracked in Linear project INGEST

        bugs are tracked in Linear project INGEST
    "#]],
    );
}

#[test]
fn german_and_korean_names_are_plain() {
    check(
        "Merk dir, dass Größen immer in Millimetern gespeichert werden müssen, weil die Fräse nichts anderes kennt",
        expect![[r#"
            feedback-groessen-millimetern-gespeichert-muessen feedback private
            Größen immer in Millimetern gespeichert werden müssen

            Größen immer in Millimetern gespeichert werden müssen.

            **Why:** die Fräse nichts anderes kennt
            ? when and where does it count?
        "#]],
    );
    check(
        "기억해 줘: 결제 모듈은 반드시 두 명이 리뷰해야 한다.",
        expect![[r#"
        feedback-gyeolje-modyul-bandeusi-myeongi feedback private
        결제 모듈은 반드시 두 명이 리뷰해야 한다

        결제 모듈은 반드시 두 명이 리뷰해야 한다.
        ? why is that so? a reason lets a later session judge the cases you did not name
        ? when and where does it count?
    "#]],
    );
}

#[test]
fn what_is_labelled_keeps_its_labels() {
    check(
        "Answer questions, don't edit.\n\n**Why:** my tree was changed twice.\n**How to apply:** a question mark never means do it.",
        expect![[r#"
            feedback-answer-questions-edit feedback private
            Answer questions, don't edit

            Answer questions, don't edit.

            **Why:** my tree was changed twice.

            **How to apply:** a question mark never means do it.
        "#]],
    );
}

#[test]
fn what_files_show_is_asked_about() {
    check(
        "src/api holds the handlers",
        expect![[r#"
        project-src-api-holds-handlers project private
        src/api holds the handlers

        src/api holds the handlers
        ? files, git or the session show this already: what was surprising about it?
        ? why is that so? a reason lets a later session judge the cases you did not name
        ? when and where does it count?
    "#]],
    );
}

#[test]
fn with_a_team_vault_project_memories_are_shared() {
    let known = Known { has_team_vault: true, ..Known::default() };
    let proposed = classify("merge freeze after 2026-03-05 for the mobile release", &known);
    assert_eq!((proposed.memory_type, proposed.scope), (MemoryType::Project, Scope::Team));
}

#[test]
fn introductions_are_taken_away() {
    for (text, left) in [
        ("remember that tabs are fine", "Tabs are fine"),
        ("Please save this: use pnpm", "Use pnpm"),
        ("Save files in UTF-8", "Save files in UTF-8"),
        ("merk dir bitte, dass wir Tabs nutzen", "Wir Tabs nutzen"),
        ("Merke dir, dass Tabs gut sind", "Tabs gut sind"),
        ("기억해 줘: 탭을 쓴다", "탭을 쓴다"),
        ("탭을 쓴다. 기억해 줘", "탭을 쓴다."),
        ("remember", "remember"),
    ] {
        assert_eq!(intro::strip(text), left);
    }
}

/// W2-03.
#[test]
fn who_asks_to_remember_says_so() {
    for message in [
        "remember that integration tests use a real database",
        "Please remember: deploys happen on Tuesdays only",
        "don’t forget that the staging host is rebuilt on Sundays",
        "Merk dir, dass wir freitags nicht ausrollen",
        "배포는 화요일에만 한다. 기억해 줘",
    ] {
        assert!(asks_to_remember(message), "{message}");
    }
    for message in [
        "do you remember what we decided about the cache?",
        "remember the milk page needs a footer, can you add it?",
        "save the file and run the tests",
        "note the empty line at the end of the file",
        "add a remember-me checkbox to the login form",
    ] {
        assert!(!asks_to_remember(message), "{message}");
    }
}
