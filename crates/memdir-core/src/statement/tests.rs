//! Sentences and what they do, one small table for each mechanism.

use super::*;

/// Checks a table of `act: sentence` lines.
#[track_caller]
fn check(table: &str) {
    let mut wrong = String::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (want, sentence) = line.split_once(": ").unwrap();
        let reading = read(sentence);
        let got = reading.act().map_or("none", Act::as_str);
        if got != want {
            wrong += &format!("{sentence}\n  wanted {want}, read {got}\n{}", reading.explain());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A heading, a quotation or an item may be empty; it has no sentence and the text around it has its own.
#[test]
fn marks_without_words_are_no_sentences() {
    for text in ["# ", "> ", "> \n", "1. \n", "- [ ] ", "#  \n> > \n"] {
        assert_eq!(statements(text), [], "{text:?}");
    }
    let texts: Vec<&str> =
        statements("We ship on Friday\n> \nnever later").iter().map(|one| one.text).collect();
    assert_eq!(texts, ["We ship on Friday", "never later"]);
}

#[test]
fn the_acts_are_told_apart() {
    check(
        "rule: Always run clippy before pushing
        feedback: Stop summarising at the end of every reply
        feedback: yes exactly, keep doing that
        preference: I prefer tabs
        preference: I like terse answers
        role: I'm a data scientist investigating logging
        decision: Decided to use Next.js instead of Astro 5
        context: The auth rewrite is driven by legal's compliance review
        context: merge freeze after 2026-03-05 for the mobile release
        gotcha: The staging proxy drops headers over 8 KB, so keep tokens short
        state: Phase 2 is done, 3 of 8 screens migrated; blocked on the API key
        task: currently editing foo.rs, next I run the tests
        event: merged PR #12 yesterday
        event: Anna renamed the module last week
        structure: src/api holds the handlers
        architecture: The worker pulls jobs from Redis and writes results to Postgres
        recipe: Fixed the panic by bumping tokio to 1.38
        overview: Install with npm i -g foo, then run foo serve
        pointer: Bugs are tracked in Linear project INGEST
        pointer: latency board: grafana.internal/d/api",
    );
}

#[test]
fn german_is_read() {
    check(
        "rule: Vor jedem Merge muss die Pipeline grün sein.
        feedback: Hör auf, jede Antwort mit einem Lob zu beginnen.
        feedback: Genau so, das kannst du beibehalten.
        preference: Mir sind kurze Antworten lieber.
        role: Ich bin Physikerin und kenne mich mit Statistik aus.
        decision: Wir haben uns für REST statt GraphQL entschieden.
        context: Der Kunde verlangt bis Ende März eine Offline-Version.
        state: Die Migration ist zu 60 % fertig, es fehlen noch die Berichte.
        task: Ich ändere gerade main.ts und teste danach.
        event: Gestern hat Markus den Pull Request 44 gemergt.
        architecture: Der Client spricht nur mit dem Gateway, das die Anfragen an die Dienste verteilt.
        pointer: Fehler werden in Jira im Projekt SHOP erfasst.",
    );
}

#[test]
fn korean_is_read() {
    check(
        "rule: main 브랜치에 직접 푸시하지 마세요.
        rule: 모든 API 응답은 camelCase를 사용해야 한다.
        feedback: 방금 방식 정말 좋았어, 계속 그렇게 해 줘.
        preference: 저는 탭보다 스페이스를 선호합니다.
        role: 저는 데이터 엔지니어이고 로그 파이프라인을 담당하고 있습니다.
        decision: 데이터베이스는 MySQL 대신 PostgreSQL을 쓰기로 했다.
        context: 이번 분기 목표는 이탈률을 절반으로 줄이는 것이다.
        state: 현재 8개 화면 중 3개가 이전되었다.
        event: 어제 민수가 PR 12번을 머지했다.
        structure: 핸들러는 src/api 폴더에 있다.
        pointer: 버그는 지라 SHOP 프로젝트에서 관리합니다.",
    );
}

#[test]
fn what_is_asked_or_not_decided_is_no_decision() {
    check(
        "state: we have not decided yet which queue to use
        none: should we use Kafka?
        decision: we have decided to use NATS
        feedback: Why did you delete the test? Never remove tests without asking me.",
    );
}

#[test]
fn who_speaks_makes_the_difference() {
    check(
        "decision: We chose DuckDB over Spark for the nightly reports.
        context: The publisher will not pay for new headsets before the milestone.
        preference: I prefer phone calls over tickets.
        rule: Use phone numbers in E.164 format.",
    );
}

#[test]
fn a_duty_with_a_date_is_a_deadline() {
    check(
        "rule: Every endpoint must check the tenant.
        context: The export must be certified by 2026-06-30.",
    );
}

#[test]
fn the_language_is_told_by_its_small_words() {
    for (text, language) in [
        ("Always run the tests", Language::English),
        ("Die Tests laufen immer", Language::German),
        ("테스트를 run 한다", Language::Korean),
        ("foo.rs", Language::English),
    ] {
        assert_eq!(read(text).language(), language, "{text}");
    }
}

#[test]
fn a_reason_is_found_where_it_stands() {
    let text = "Use real databases because mocks hid a broken migration";
    let reason = read(text).reason().unwrap();
    assert_eq!(&text[reason], "because mocks hid a broken migration");
    assert_eq!(read("Use real databases").reason(), None);
}

#[test]
fn a_reading_explains_itself() {
    let explained = read("We chose Postgres over MongoDB").explain();
    assert!(explained.starts_with("decision "), "{explained}");
    assert!(explained.contains("`decided`"), "{explained}");
}

#[test]
fn sentences_are_found_outside_code_and_frontmatter() {
    let text = "---\nname: x\n---\n# Rules\n\nUse v1.2, e.g. here. Run `a. b` first!\n\n- [ ] one\n  two\n1. Three\n\n```\ncode. Code.\n```\n\n**Why:** we were burned.\n**How to apply:** everywhere\n";
    let found: Vec<String> = statements(text)
        .iter()
        .map(|statement| {
            format!("{}:{:?}:{}", statement.line, statement.part, statement.text.replace('\n', "/"))
        })
        .collect();
    assert_eq!(
        found,
        [
            "4:Heading:Rules",
            "6:Paragraph:Use v1.2, e.g. here.",
            "6:Paragraph:Run `a. b` first!",
            "8:Item:one/  two",
            "10:Item:Three",
            "16:Why:we were burned.",
            "17:HowToApply:everywhere",
        ]
    );
    for statement in statements(text) {
        assert_eq!(&text[statement.range.clone()], statement.text);
    }
}

#[test]
fn a_text_is_more_than_its_sentences() {
    let text =
        "Never run migrations during trading hours.\n\n**Why:** on 3 February one locked the order table.";
    assert_eq!(gist(text).act(), Some(Act::Rule));
    assert!(gist(text).has_reason());
    let mixed = read_text("Use pnpm. Phase 2 is done, 3 of 8 screens are migrated.");
    let acts: Vec<Option<Act>> = mixed.iter().map(|(_, reading)| reading.act()).collect();
    assert_eq!(acts, [Some(Act::Rule), Some(Act::State)]);
}
