//! Every oddity has its word, its line and its message.

use expect_test::{Expect, expect};
use memdir_core::memory::{Document, Memory, MemoryPath, MemoryType, ProblemKind, Severity, suggest_type};

/// Lists the problems of a file called `feedback-x.md`.
fn check(file: &str, expected: Expect) {
    let path = MemoryPath::new("feedback-x.md").unwrap();
    let (_, problems) = Memory::read(&path, &Document::parse(file.as_bytes()));
    let lines: String =
        problems.iter().map(|problem| format!("{:?} {problem}\n", problem.severity())).collect();
    expected.assert_eq(&lines);
}

/// Puts the frontmatter before a body that has nothing to complain about.
fn head(frontmatter: &str) -> String {
    format!("---\n{frontmatter}---\n\nA rule.\n\n**Why:** so.\n\n**How to apply:** thus.\n")
}

const GOOD: &str = "name: feedback-x\ndescription: d\ntype: feedback\n";

fn metadata(lines: &str) -> String {
    head(&format!("{GOOD}metadata:\n{lines}"))
}

#[test]
fn a_good_file_has_no_problems() {
    check(&head(GOOD), expect![""]);
    check(
        &metadata(
            "  scope: team\n  tier: confirmed\n  kind: gotcha\n  created: 2026-04-01T10:30:00Z\n  \
             modified: 2026-04-01T10:30:00.123Z\n  provenance: user\n  verified: 2026-04-01 by human:ann\n  \
             expires: 2026-12-31\n  status: draft\n  supersedes: old\n  confidence: high\n  \
             rule:\n    - \"remind bash ^git add\"\n  pinned: true\n  node_type: memory\n",
        ),
        expect![""],
    );
}

#[test]
fn required_fields_are_required() {
    check(
        &head(""),
        expect![[r#"
        Warning no name: it would be `feedback-x` (missing-name)
        Warning no description: nobody can tell when it matters (missing-description)
        Warning no type: `feedback` would fit (missing-type)
    "#]],
    );
    check(
        &head("name: other\ndescription: \"\"\ntype:\n"),
        expect![[r#"
        Warning line 2: the name `other` is not the file's `feedback-x` (name-mismatch)
        Warning line 3: no description: nobody can tell when it matters (missing-description)
        Warning line 4: no type: `feedback` would fit (missing-type)
    "#]],
    );
    check(
        "No frontmatter\n",
        expect![[r#"
        Warning the file has no frontmatter (no-frontmatter)
    "#]],
    );
    check(
        &head("name: [a]\ndescription: {a: b}\ntype: [user]\n"),
        expect![[r#"
            Warning line 2: `name` is not a text (wrong-shape)
            Warning line 3: `description` is not a text (wrong-shape)
            Warning line 4: `type` is not a text (wrong-shape)
        "#]],
    );
}

#[test]
fn blanked_frontmatter_is_told_apart() {
    check(
        "---\nname: \"\"\ndescription: \"\"\n---\n\nThe body is intact.\n",
        expect![[r#"
        Error line 2: another program emptied the frontmatter; the body is intact (blanked)
    "#]],
    );
    check(
        "---\nname:\nmetadata: \n  node_type: memory\n---\n\nThe body is intact.\n",
        expect![[r#"
        Error line 2: another program emptied the frontmatter; the body is intact (blanked)
    "#]],
    );
    check(
        "---\nname: \"\"\n---\n",
        expect![[r#"
        Warning line 2: no name: it would be `feedback-x` (missing-name)
        Warning no description: nobody can tell when it matters (missing-description)
        Warning no type: `feedback` would fit (missing-type)
    "#]],
    );
}

#[test]
fn unknown_words_are_reported_and_ignored() {
    check(
        &head("name: feedback-x\ndescription: d\ntype: misc\n"),
        expect![[r#"
        Error line 4: unknown type `misc`: it is one of user, feedback, project, reference (unknown-type)
    "#]],
    );
    check(
        &metadata(
            "  scope: org\n  tier: gold\n  provenance: god\n  status: done\n  confidence: sure\n  trust: yes\n",
        ),
        expect![[r#"
            Error line 6: unknown scope `org`: it is one of private, team (unknown-scope)
            Warning line 7: unknown tier `gold`: it is one of confirmed, supplementary (unknown-word)
            Warning line 8: unknown provenance `god`: it is one of user, agent, tool, team, import, outside (unknown-word)
            Warning line 9: unknown status `done`: it is one of active, deprecated, superseded, draft (unknown-word)
            Warning line 10: unknown confidence `sure`: it is one of low, medium, high (unknown-word)
            Warning line 11: unknown trust `yes`: it is `quarantined` or absent (unknown-word)
        "#]],
    );
    check(
        &metadata("  created: yesterday\n  modified: 5\n  verified: by me\n  expires: 2026-02-30\n"),
        expect![[r#"
            Warning line 6: `created` is not a date: `yesterday` (bad-date)
            Warning line 7: `modified` is not a date: `5` (bad-date)
            Warning line 8: `verified` is not a date: `by me` (bad-date)
            Warning line 9: `expires` is not a date: `2026-02-30` (bad-date)
        "#]],
    );
    check(
        &metadata("  rule: [forbid bash x, deny bash]\n"),
        expect![[r#"
        Warning line 6: rule `forbid bash x`: unknown verb `forbid`: it is one of deny, ask, remind (bad-rule)
        Warning line 6: rule `deny bash`: a rule is `<verb> <tool> <pattern>` (bad-rule)
    "#]],
    );
}

#[test]
fn placement_is_checked() {
    check(
        &head(&format!("{GOOD}scope: team\nmetadata:\n  type: user\n")),
        expect![[r#"
            Warning line 4: `type` stands at the top level and under `metadata`: the first one counts (type-twice)
            Note line 5: `scope` belongs under `metadata` (top-level-key)
        "#]],
    );
    check(
        "---\nname: feedback-x\ndescription: d\ntype: user\nmetadata:\n  scope: team\n  rule: deny bash x\n---\n",
        expect![[r#"
            Error line 6: a memory about the user is private, whatever its scope says (user-in-team)
            Warning line 7: only a feedback memory has rules (bad-rule)
        "#]],
    );
}

#[test]
fn descriptions_are_one_short_line() {
    check(
        &head(&format!("name: feedback-x\ndescription: {}\ntype: feedback\n", "é".repeat(201))),
        expect![[r#"
            Warning line 3: the description has 201 characters: 200 are advised (long-description)
        "#]],
    );
    check(
        &head("name: feedback-x\ndescription: |\n  a\n  b\ntype: feedback\n"),
        expect![[r#"
        Warning line 3: the description has several lines: one is advised (multi-line-description)
    "#]],
    );
    check(
        &head(&format!("name: feedback-x\ndescription: {}\ntype: feedback\n", "é".repeat(200))),
        expect![""],
    );
}

#[test]
fn bodies_have_a_shape_and_a_size() {
    check(
        &format!("---\n{GOOD}---\n\nJust do it.\n"),
        expect![[r#"
        Warning a feedback memory says why: add `**Why:**` (missing-why)
        Warning a feedback memory says how to apply it: add `**How to apply:**` (missing-how-to-apply)
    "#]],
    );
    check(
        &format!("---\n{GOOD}---\n\nRule: x\nWhy: y\nHow to apply:\n"),
        expect![[r#"
        Warning a feedback memory says how to apply it: add `**How to apply:**` (missing-how-to-apply)
    "#]],
    );
    check(
        &format!("{}{}", head(GOOD), "x".repeat(4096)),
        expect![[r#"
            Warning the body has 4143 bytes: memories work best below 4096, consider a split (long-body)
        "#]],
    );
    check(
        &format!("{}{}", head(GOOD), "x".repeat(102_400)),
        expect![[r#"
        Error the body has 102447 bytes: the limit is 102400 (oversized-body)
    "#]],
    );
}

#[test]
fn hostile_characters_are_flagged_once_per_kind() {
    check(
        &format!("{}\u{202e}a\u{200b}b\n\u{1b}[31m\u{1b}\0\n", head(GOOD)),
        expect![[r#"
            Warning line 12: a character that reorders text: `\u{202e}` (hidden-character)
            Warning line 13: a control character: `\x1b` (control-character)
            Warning line 13: a NUL byte: `\x00` (nul-byte)
        "#]],
    );
    for hidden in ["\u{2066}", "\u{200b}", "\u{feff}", "\u{ad}", "\u{e0041}", "pass\u{200d}word"] {
        let file = format!("{}{hidden}\n", head(GOOD));
        let path = MemoryPath::new("feedback-x.md").unwrap();
        let (_, problems) = Memory::read(&path, &Document::parse(file.as_bytes()));
        assert_eq!(problems.len(), 1, "{hidden:?}: {problems:?}");
        assert_eq!(problems[0].kind, ProblemKind::HiddenCharacter);
    }
    check(
        &format!("{}🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} 👩\u{200d}💻\n", head(GOOD)),
        expect![""],
    );
}

#[test]
fn a_raw_file_is_listed_with_its_lines() {
    let raw = "---\nname: 'feedback-x'\ndescription: Outage: queue full\ntype: feedback\n---\n\nx\n";
    check(
        raw,
        expect![[r#"
        Error line 3: the frontmatter cannot be read: a colon in a value without quotes (raw)
        Warning a feedback memory says why: add `**Why:**` (missing-why)
        Warning a feedback memory says how to apply it: add `**How to apply:**` (missing-how-to-apply)
    "#]],
    );
    let (memory, _) =
        Memory::read(&MemoryPath::new("feedback-x.md").unwrap(), &Document::parse(raw.as_bytes()));
    assert_eq!(memory.name, "feedback-x");
    assert_eq!(memory.description, "Outage: queue full");
    assert_eq!(memory.memory_type, Some(MemoryType::Feedback));
}

#[test]
fn a_type_is_suggested_by_name_then_by_words() {
    let table = [
        ("user_role", "", MemoryType::User),
        ("reference-linear", "always use it", MemoryType::Reference),
        ("ingest", "bugs are tracked in Linear", MemoryType::Reference),
        ("docs", "see https://example.org", MemoryType::Reference),
        ("tests", "Never mock the database", MemoryType::Feedback),
        ("role", "The user is a data scientist", MemoryType::User),
        ("freeze", "Merges stop on Thursday", MemoryType::Project),
    ];
    for (name, words, expected) in table {
        assert_eq!(suggest_type(name, words), expected, "{name}: {words}");
    }
}

#[test]
fn titles_are_readable() {
    let table = [
        ("feedback-integration-tests-real-db", "Integration tests real db"),
        ("user_role", "Role"),
        ("feedback", "Feedback"),
        ("projects-list", "Projects list"),
        ("한국어", "한국어"),
        ("éclair-shop", "Éclair shop"),
        ("User Prefs", "User Prefs"),
    ];
    for (stem, title) in table {
        let path = MemoryPath::new(&format!("{stem}.md")).unwrap();
        assert_eq!(Memory::read(&path, &Document::parse(b"")).0.title(), title);
    }
}

#[test]
fn the_words_of_problems_are_stable() {
    let list: String =
        ProblemKind::ALL.iter().map(|kind| format!("{kind} {:?}\n", kind.severity())).collect();
    expect![[r#"
        raw Error
        blanked Error
        no-frontmatter Warning
        missing-name Warning
        missing-description Warning
        missing-type Warning
        name-mismatch Warning
        type-twice Warning
        unknown-type Error
        unknown-scope Error
        unknown-word Warning
        user-in-team Error
        bad-date Warning
        bad-rule Warning
        wrong-shape Warning
        top-level-key Note
        long-description Warning
        multi-line-description Warning
        missing-why Warning
        missing-how-to-apply Warning
        long-body Warning
        oversized-body Error
        nul-byte Warning
        invalid-utf8 Error
        control-character Warning
        hidden-character Warning
    "#]]
    .assert_eq(&list);
    assert!(Severity::Note < Severity::Warning && Severity::Warning < Severity::Error);
}
