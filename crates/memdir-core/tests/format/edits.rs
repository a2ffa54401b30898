//! Edits change the lines they name and nothing else.

use expect_test::{Expect, expect};
use memdir_core::memory::{Document, EditError, MemoryType, Value};
use proptest::prelude::*;

use crate::cases;

/// Shows what an edit does to a file as removed and added lines.
fn check(before: &str, edit: impl Fn(&Document) -> Result<Document, EditError>, expected: Expect) {
    let document = Document::parse(before.as_bytes());
    let shown = match edit(&document) {
        Ok(edited) => {
            let crlf = Document::parse(before.replace('\n', "\r\n").as_bytes());
            let edited_crlf = edit(&crlf).unwrap();
            let after = std::str::from_utf8(edited.bytes()).unwrap();
            assert_eq!(
                std::str::from_utf8(edited_crlf.bytes()).unwrap(),
                after.replace('\n', "\r\n"),
                "CRLF"
            );
            changed_lines(before, after)
        }
        Err(err) => format!("error: {err}\n"),
    };
    expected.assert_eq(&shown);
}

/// Lists the lines between the common beginning and the common end.
fn changed_lines(before: &str, after: &str) -> String {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let n_head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - n_head;
    let n_tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let show = |sign: char, lines: &[&str]| -> String {
        lines.iter().map(|line| format!("{sign}{line}|\n")).collect()
    };
    show('-', &old[n_head..old.len() - n_tail]) + &show('+', &new[n_head..new.len() - n_tail])
}

fn set(field: &str, value: impl Into<Value>) -> impl Fn(&Document) -> Result<Document, EditError> {
    let value = value.into();
    move |document| document.set(field, &value)
}

fn remove(field: &str) -> impl Fn(&Document) -> Result<Document, EditError> {
    move |document| document.remove(field)
}

/// A file as people leave it behind: comments, odd spacing, unknown keys, several styles.
const LIVED_IN: &str = "---
# my notes
name:   lived-in   # the name
description: 'It''s old'
type: feedback

custom: {a: 1, b: [x, y]}   # mine
metadata: 
    node_type: memory
    scope: team # shared
    # about time
    modified: 2026-04-01T10:30:00.123Z
    tags:
    - one   # first
    # between
    - two
    source: [\"a\", b]
    long: >-
      folded
      text
    empty:
# the end
---

Body.
";

#[test]
fn a_value_is_replaced_in_place() {
    check(
        LIVED_IN,
        set("name", "new-name"),
        expect![[r#"
        -name:   lived-in   # the name|
        +name:   new-name   # the name|
    "#]],
    );
    check(
        LIVED_IN,
        set("description", "It's new: #1"),
        expect![[r#"
        -description: 'It''s old'|
        +description: "It's new: #1"|
    "#]],
    );
    check(
        LIVED_IN,
        set("type", "project"),
        expect![[r#"
        -type: feedback|
        +type: project|
    "#]],
    );
    check(
        LIVED_IN,
        set("scope", "private"),
        expect![[r#"
        -    scope: team # shared|
        +    scope: private # shared|
    "#]],
    );
    check(
        LIVED_IN,
        set("modified", "2026-05-01T00:00:00Z"),
        expect![[r#"
        -    modified: 2026-04-01T10:30:00.123Z|
        +    modified: 2026-05-01T00:00:00Z|
    "#]],
    );
    check(
        LIVED_IN,
        set("long", "short"),
        expect![[r#"
        -    long: >-|
        -      folded|
        -      text|
        +    long: short|
    "#]],
    );
    check(
        LIVED_IN,
        set("empty", "full"),
        expect![[r#"
        -    empty:|
        +    empty: full|
    "#]],
    );
    check(
        LIVED_IN,
        set("custom", "x"),
        expect![[r#"
        -custom: {a: 1, b: [x, y]}   # mine|
        +custom: x   # mine|
    "#]],
    );
}

#[test]
fn an_empty_field_is_filled_where_it_stands() {
    check(
        "---\nname: x\nkind:   \n---\n",
        set("kind", "gotcha"),
        expect![[r#"
        -kind:   |
        +kind: gotcha|
    "#]],
    );
    check(
        "---\nname: x\nkind: # which?\n---\n",
        set("kind", "gotcha"),
        expect![[r#"
        -kind: # which?|
        +kind: gotcha # which?|
    "#]],
    );
    check(
        "---\nname: x\ntags: \n---\n",
        set("tags", Value::list(["a"])),
        expect![[r#"
        -tags: |
        +tags:|
        +  - a|
    "#]],
    );
}

#[test]
fn a_value_that_is_there_already_changes_no_byte() {
    check(LIVED_IN, set("description", "It's old"), expect![""]);
    check(LIVED_IN, set("tags", Value::list(["one", "two"])), expect![""]);
    check(LIVED_IN, set("source", Value::list(["a", "b"])), expect![""]);
    check(LIVED_IN, set("long", "folded text"), expect![""]);
}

#[test]
fn a_new_field_adds_one_line_under_metadata() {
    check(
        LIVED_IN,
        set("expires", "2026-12-31"),
        expect![[r#"
        +    expires: 2026-12-31|
    "#]],
    );
    check(
        LIVED_IN,
        set("pinned", "true"),
        expect![[r#"
        +    pinned: true|
    "#]],
    );
    check(
        LIVED_IN,
        set("kind", "true"),
        expect![[r#"
        +    kind: "true"|
    "#]],
    );
    check(
        "---\nname: x\ntype: user\n---\nBody\n",
        set("created", "2026-04-01T10:30:00Z"),
        expect![[r#"
        +metadata:|
        +  created: 2026-04-01T10:30:00Z|
    "#]],
    );
    check(
        "---\nname: x\nmetadata:\n---\n",
        set("kind", "gotcha"),
        expect![[r#"
        +  kind: gotcha|
    "#]],
    );
    check(
        "---\nname: x\nmetadata: ~\n---\n",
        set("kind", "gotcha"),
        expect![[r#"
        -metadata: ~|
        +metadata: |
        +  kind: gotcha|
    "#]],
    );
    check(
        "---\nname: x\nmetadata: # later\n  # nothing yet\n---\n",
        set("kind", "gotcha"),
        expect![[r#"
        +  kind: gotcha|
    "#]],
    );
    check(
        "---\n  name: x\n---\n",
        set("kind", "gotcha"),
        expect![[r#"
        +  metadata:|
        +    kind: gotcha|
    "#]],
    );
}

#[test]
fn the_required_fields_have_their_places() {
    check(
        "---\n---\n",
        set("name", "x"),
        expect![[r#"
        +name: x|
    "#]],
    );
    check(
        "---\n# c\ntype: user\n---\n",
        set("name", "x"),
        expect![[r#"
        +name: x|
    "#]],
    );
    check(
        "---\nname: x\ntype: user\n---\n",
        set("description", "d"),
        expect![[r#"
        +description: d|
    "#]],
    );
    check(
        "---\nname: x\ndescription: d\nmetadata:\n  a: b\n---\n",
        set("type", "user"),
        expect![[r#"
        +type: user|
    "#]],
    );
    check(
        "---\nname: x\nmetadata:\n  node_type: memory\n---\n",
        set("type", "user"),
        expect![[r#"
        +  type: user|
    "#]],
    );
    check(
        "---\nname: x\nmetadata:\n  type: user\n---\n",
        set("type", "project"),
        expect![[r#"
        -  type: user|
        +  type: project|
    "#]],
    );
}

#[test]
fn flat_files_stay_flat_and_aliases_keep_their_names() {
    let flat = "---\nname: x\nscope: team\nlast_verified: 2026-01-01\nupdated: 2026-01-01\n---\n";
    check(
        flat,
        set("scope", "private"),
        expect![[r#"
        -scope: team|
        +scope: private|
    "#]],
    );
    check(
        flat,
        set("verified", "2026-02-02"),
        expect![[r#"
        -last_verified: 2026-01-01|
        +last_verified: 2026-02-02|
    "#]],
    );
    check(
        flat,
        set("modified", "2026-02-02T00:00:00Z"),
        expect![[r#"
        -updated: 2026-01-01|
        +updated: 2026-02-02T00:00:00Z|
    "#]],
    );
    check(
        flat,
        remove("verified"),
        expect![[r#"
        -last_verified: 2026-01-01|
    "#]],
    );
}

#[test]
fn lists_gain_and_lose_single_lines() {
    check(
        LIVED_IN,
        set("tags", Value::list(["one", "two", "three: 3"])),
        expect![[r#"
        +    - "three: 3"|
    "#]],
    );
    check(
        LIVED_IN,
        set("tags", Value::list(["two"])),
        expect![[r#"
        -    - one   # first|
    "#]],
    );
    check(
        LIVED_IN,
        set("tags", Value::list(["other"])),
        expect![[r#"
        -    - one   # first|
        -    # between|
        -    - two|
        +    - other|
        +    # between|
    "#]],
    );
    check(
        LIVED_IN,
        set("tags", Value::list::<&str>([])),
        expect![[r#"
        -    tags:|
        -    - one   # first|
        -    # between|
        -    - two|
        +    tags: []|
    "#]],
    );
    check(
        LIVED_IN,
        set("tags", "single"),
        expect![[r#"
        -    tags:|
        -    - one   # first|
        -    # between|
        -    - two|
        +    tags: single|
    "#]],
    );
    check(
        LIVED_IN,
        set("source", Value::list(["a", "b, c"])),
        expect![[r#"
        -    source: ["a", b]|
        +    source: [a, "b, c"]|
    "#]],
    );
    check(
        LIVED_IN,
        set("source", "one"),
        expect![[r#"
        -    source: ["a", b]|
        +    source: one|
    "#]],
    );
    check(
        LIVED_IN,
        set("scope", Value::list(["a", "b"])),
        expect![[r#"
        -    scope: team # shared|
        +    scope:|
        +      - a|
        +      - b # shared|
    "#]],
    );
    check(
        LIVED_IN,
        set("aliases", Value::list(["a", "- b"])),
        expect![[r#"
        +    aliases:|
        +      - a|
        +      - "- b"|
    "#]],
    );
}

#[test]
fn metadata_in_braces_stays_in_braces() {
    let braces = "---\nname: x\nmetadata: {scope: team, tags: [a]} # c\n---\n";
    check(
        braces,
        set("scope", "private"),
        expect![[r#"
        -metadata: {scope: team, tags: [a]} # c|
        +metadata: {scope: private, tags: [a]} # c|
    "#]],
    );
    check(
        braces,
        set("tags", Value::list(["a", "b: c"])),
        expect![[r#"
        -metadata: {scope: team, tags: [a]} # c|
        +metadata: {scope: team, tags: [a, "b: c"]} # c|
    "#]],
    );
    check(
        braces,
        set("verified", "2026-01-01"),
        expect![[r#"
        -metadata: {scope: team, tags: [a]} # c|
        +metadata: {scope: team, tags: [a], verified: "2026-01-01"} # c|
    "#]],
    );
    check(
        braces,
        remove("scope"),
        expect![[r#"
        -metadata: {scope: team, tags: [a]} # c|
        +metadata: {tags: [a]} # c|
    "#]],
    );
    check(
        braces,
        remove("tags"),
        expect![[r#"
        -metadata: {scope: team, tags: [a]} # c|
        +metadata: {scope: team} # c|
    "#]],
    );
    check(
        "---\nname: x\nmetadata: {}\n---\n",
        set("kind", "a, b"),
        expect![[r#"
        -metadata: {}|
        +metadata: {kind: "a, b"}|
    "#]],
    );
    check(
        "---\nname: x\nmetadata: {kind: a}\n---\n",
        remove("kind"),
        expect![[r#"
        -metadata: {kind: a}|
        +metadata: {}|
    "#]],
    );
}

#[test]
fn a_removed_field_takes_its_lines_along() {
    check(
        LIVED_IN,
        remove("description"),
        expect![[r#"
        -description: 'It''s old'|
    "#]],
    );
    check(
        LIVED_IN,
        remove("tags"),
        expect![[r#"
        -    tags:|
        -    - one   # first|
        -    # between|
        -    - two|
    "#]],
    );
    check(
        LIVED_IN,
        remove("long"),
        expect![[r#"
        -    long: >-|
        -      folded|
        -      text|
    "#]],
    );
    check(LIVED_IN, remove("nobody"), expect![[""]]);
    check(
        "---\nname: x\nmetadata:\n  a: b\n---\n",
        remove("a"),
        expect![[r#"
        -metadata:|
        -  a: b|
    "#]],
    );
    check(
        "---\nname: x\nmetadata:\n  # c\n  a: b\n---\n",
        remove("a"),
        expect![[r#"
        -  a: b|
    "#]],
    );
    check(
        "---\ntype: user\nmetadata:\n  type: team\n---\n",
        remove("type"),
        expect![[r#"
        -type: user|
        -metadata:|
        -  type: team|
    "#]],
    );
}

#[test]
fn what_cannot_be_edited_says_so() {
    check(
        "No frontmatter\n",
        set("name", "x"),
        expect![[r#"
        error: the file has no frontmatter
    "#]],
    );
    check(
        "---\nname: @x\n---\n",
        set("name", "x"),
        expect![[r#"
        error: the file is not changed: the frontmatter cannot be read: a value that begins with `@` without quotes
    "#]],
    );
    check(
        "---\nname: @x\n---\n",
        |document| document.with_body(b"x"),
        expect![[r#"
        error: the file is not changed: the frontmatter cannot be read: a value that begins with `@` without quotes
    "#]],
    );
    check(
        "---\nmetadata: text\n---\n",
        set("kind", "x"),
        expect![[r#"
        error: `metadata` is not a mapping
    "#]],
    );
    check(
        "---\nname: x\n---\n",
        set("metadata", "x"),
        expect![[r#"
            error: `metadata` cannot be the name of a field
        "#]],
    );
    check(
        "---\nname: x\n---\n",
        remove("metadata"),
        expect![[r#"
            error: `metadata` cannot be the name of a field
        "#]],
    );
    check(
        "---\nname: x\n---\n",
        set("a: b\nc", "x"),
        expect![[r#"
            error: `a: b\nc` cannot be the name of a field
        "#]],
    );
    check(
        "---\nname: x\n---\n",
        set("no", "x"),
        expect![[r#"
            error: `no` cannot be the name of a field
        "#]],
    );
    check(
        "---\nname: x\n---\n",
        set("kind", Value::Null),
        expect![[r#"
        error: `kind` can only hold a text or a list of texts
    "#]],
    );
    check(
        "---\nname: x\n---\n",
        set("kind", Value::List(vec![Value::Map(vec![])])),
        expect![[r#"
        error: `kind` can only hold a text or a list of texts
    "#]],
    );
    check(
        "---\nname: x\n---\n",
        set("kind", "x".repeat(20_000)),
        expect![[r#"
            error: the frontmatter would be larger than 16 KiB
        "#]],
    );
}

#[test]
fn a_body_is_replaced_and_the_head_stays() {
    let body = |text: &'static str| move |document: &Document| document.with_body(text.as_bytes());
    let replaced = |before: &str, text: &'static str| {
        String::from_utf8(body(text)(&Document::parse(before.as_bytes())).unwrap().bytes().to_vec()).unwrap()
    };
    let table = [
        ("---\na: b\n---\n\nold\n", "new\n", "---\na: b\n---\n\nnew\n"),
        ("---\na: b\n---\nold\n", "new\n", "---\na: b\n---\nnew\n"),
        ("---\na: b\n---\nold\n", "\nnew\n", "---\na: b\n---\n\n\nnew\n"),
        ("---\na: b\n---\n", "new\n", "---\na: b\n---\n\nnew\n"),
        ("---\na: b\n---", "new\n", "---\na: b\n---\n\nnew\n"),
        ("---\r\na: b\r\n---", "new\r\n", "---\r\na: b\r\n---\r\n\r\nnew\r\n"),
        ("---\na: b\n---", "", "---\na: b\n---"),
        ("---\na: b\n---\n\nold\n", "", "---\na: b\n---\n\n"),
        ("old\n", "new\n", "new\n"),
        ("\u{feff}old\n", "new\n", "\u{feff}new\n"),
        ("old\n", "---\na: b\n---\n", "\n---\na: b\n---\n"),
        ("old\n", "---\nnever closed\n", "\n---\nnever closed\n"),
    ];
    for (before, text, after) in table {
        assert_eq!(replaced(before, text), after, "{before:?} with {text:?}");
    }
}

#[test]
fn frontmatter_is_added_only_on_request() {
    let document = Document::parse("\u{feff}\r\nText\r\n".as_bytes());
    let with = document.with_frontmatter("x", "what: it is", MemoryType::Project).unwrap();
    let expected =
        "\u{feff}---\r\nname: x\r\ndescription: \"what: it is\"\r\ntype: project\r\n---\r\n\r\n\r\nText\r\n";
    assert_eq!(std::str::from_utf8(with.bytes()).unwrap(), expected);
    assert_eq!(with.body(), document.body());
    assert_eq!(with.with_frontmatter("x", "d", MemoryType::User).unwrap_err(), EditError::Present);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "\\PC{0,40}",
        2 => any::<String>(),
        1 => "[-?:,\\[\\]{}#&*!|>'\"%@` a1~=<.\\\\\n\t]{0,12}",
        1 => "[+-]?[0-9.e_:xo-]{1,12}",
    ]
}

const FIELDS: [&str; 9] =
    ["name", "description", "type", "scope", "tags", "created", "verified", "expires", "unheard-of"];

/// Files of all shapes for the properties.
const FILES: [&str; 7] = [
    LIVED_IN,
    "---\n---\n",
    "---\nname: x\ndescription: d\ntype: user\n---\n\nBody\n",
    "---\nname: x\ndescription: d\noriginSessionId: 5da1\ntype: user\n---\nBody\n",
    "---\nname: x\ndescription: d\nmetadata: \n  node_type: memory\n  type: user\n  modified: 2026-01-01T00:00:00.123Z\n---\n",
    "---\nname: x\nmetadata: {scope: team}\n---\n",
    "\u{feff}---\r\nname: x\r\nmetadata:\r\n      tags:\r\n      - a\r\n---\r\nBody",
];

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn a_text_reads_back_as_it_was_set(
        file in prop::sample::select(&FILES[..]),
        field in prop::sample::select(&FIELDS[..]),
        text in text(),
        other in text(),
    ) {
        let document = Document::parse(file.as_bytes());
        let edited = document.set(field, &text.as_str().into()).unwrap();
        prop_assert_eq!(edited.get(field), Some(Value::Text(text.clone())));
        prop_assert_eq!(edited.body(), document.body());

        // Setting it back and forth settles: the second way out is the first.
        let there = edited.set(field, &other.as_str().into()).unwrap();
        let back = there.set(field, &text.into()).unwrap();
        prop_assert_eq!(back.bytes(), edited.bytes());
    }

    #[test]
    fn a_list_reads_back_as_it_was_set(
        file in prop::sample::select(&FILES[..]),
        field in prop::sample::select(&FIELDS[..]),
        lists in prop::collection::vec(prop::collection::vec(text(), 0..4), 1..4),
    ) {
        let mut document = Document::parse(file.as_bytes());
        for list in lists {
            let value = Value::list(list);
            document = document.set(field, &value).unwrap();
            prop_assert_eq!(document.get(field), Some(value));
        }
    }

    #[test]
    fn all_other_lines_stay_byte_for_byte(
        file in prop::sample::select(&FILES[..]),
        field in prop::sample::select(&FIELDS[..]),
        text in text(),
    ) {
        let document = Document::parse(file.as_bytes());
        let edited = document.set(field, &text.into()).unwrap();
        let old: Vec<&[u8]> = document.bytes().split_inclusive(|&b| b == b'\n').collect();
        let new: Vec<&[u8]> = edited.bytes().split_inclusive(|&b| b == b'\n').collect();
        let n_head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let n_tail = old[n_head..].iter().rev().zip(new[n_head..].iter().rev()).take_while(|(a, b)| a == b).count();
        let (n_gone, n_come) = (old.len() - n_head - n_tail, new.len() - n_head - n_tail);
        // A changed line, a new line, or a new line with its `metadata:`; the tags of one file were three lines.
        prop_assert!(n_come <= 2 && (n_gone <= 1 || field == "tags"), "{n_gone} lines became {n_come}");
    }

    #[test]
    fn what_was_set_can_be_removed(
        file in prop::sample::select(&FILES[..]),
        field in prop::sample::select(&FIELDS[..]),
        text in text(),
    ) {
        let document = Document::parse(file.as_bytes());
        let removed = document.set(field, &text.into()).unwrap().remove(field).unwrap();
        prop_assert_eq!(removed.get(field), None);
        let straight = document.remove(field).unwrap();
        prop_assert_eq!(removed.bytes(), straight.bytes());
    }

    #[test]
    fn a_body_reads_back_as_it_was_set(file in prop::sample::select(&FILES[..]), body in any::<Vec<u8>>()) {
        let document = Document::parse(file.as_bytes());
        let edited = document.with_body(&body).unwrap();
        prop_assert_eq!(edited.body(), &body[..]);
        prop_assert_eq!(edited.fields(), document.fields());
    }
}
