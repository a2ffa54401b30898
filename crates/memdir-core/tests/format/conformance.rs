//! The conformance list of the format: files of every generation survive, and a new file has the one shape.

use expect_test::{Expect, expect};
use jiff::Timestamp;
use memdir_core::memory::{
    Document, Draft, Header, Layout, Memory, MemoryName, MemoryPath, MemoryType, Provenance, Scope, Value,
    Verified, template,
};
use proptest::prelude::*;

use crate::cases;

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_bytes!(concat!("files/", $name)) as &[u8])),+]
    };
}

/// One file of each kind that real vaults hold.
const FILES: &[(&str, &[u8])] = files![
    "generation-a.md",
    "generation-b.md",
    "generation-c.md",
    "ours.md",
    "windows.md",
    "obsidian.md",
    "invalid.md",
    "bare.md",
];

fn file(name: &str) -> &'static [u8] {
    FILES.iter().find(|(found, _)| *found == name).expect("a file of the list").1
}

#[test]
fn every_generation_round_trips_byte_for_byte() {
    for (name, bytes) in FILES {
        let document = Document::parse(bytes);
        assert_eq!(document.bytes(), *bytes, "{name}");
        if let Ok(same) = document.with_body(document.body()) {
            assert_eq!(same.bytes(), *bytes, "{name}");
        }
    }
}

#[test]
fn every_generation_is_understood() {
    let mut out = String::new();
    for (name, bytes) in FILES {
        let (memory, problems) = Memory::read(&MemoryPath::new(name).unwrap(), &Document::parse(bytes));
        let memory_type = memory.memory_type.map_or("no type", MemoryType::as_str);
        out += &format!("{name}: {memory_type} {:?} {:?}\n", memory.name, memory.description);
        out += &format!("    title {:?}", memory.title());
        out += &memory.session.map(|session| format!(", session {session}")).unwrap_or_default();
        out += &memory.created.map(|time| format!(", created {time}")).unwrap_or_default();
        out += &memory.modified.map(|time| format!(", modified {time}")).unwrap_or_default();
        out += &memory.verified.map(|verified| format!(", verified {verified}")).unwrap_or_default();
        out += &format!(", {}, tags {:?}, aliases {:?}\n", memory.scope, memory.tags, memory.aliases);
        for problem in problems {
            out += &format!("    {:?}: {problem}\n", problem.severity());
        }
    }
    expect![[r#"
        generation-a.md: user "User prefers short answers" "Answers should be short; details on request"
            title "User prefers short answers", private, tags [], aliases []
            Warning: line 2: the name `User prefers short answers` is not the file's `generation-a` (name-mismatch)
        generation-b.md: reference "Staging database" "Staging runs on db-2 (see ticket #88: the old host is gone)"
            title "Staging database", session 0f8d2c1e-7c55-4f0a-9a53-3a1e5ce0b7d4, private, tags [], aliases []
            Warning: line 2: the name `Staging database` is not the file's `generation-b` (name-mismatch)
            Note: line 5: `originSessionId` belongs under `metadata` (top-level-key)
        generation-c.md: feedback "feedback-commit-style" "Commits: imperative subject, no trailing dot"
            title "Commit style", session 5da15695-411e-4859-a37b-b739ede023ae, modified 2026-07-14T09:21:33.482Z, private, tags [], aliases []
            Warning: line 2: the name `feedback-commit-style` is not the file's `generation-c` (name-mismatch)
        ours.md: feedback "feedback-integration-tests-real-db" "Integration tests must hit a real database, not mocks (incident #412)"
            title "Integration tests real db", session 5da15695-411e-4859-a37b-b739ede023ae, created 2026-04-01T10:30:00Z, modified 2026-04-01T10:30:00Z, verified 2026-04-01, team, tags [], aliases []
            Warning: line 2: the name `feedback-integration-tests-real-db` is not the file's `ours` (name-mismatch)
        windows.md: project "windows" "Written on Windows"
            title "Windows", private, tags [], aliases []
            Warning: a project memory says why: add `**Why:**` (missing-why)
            Warning: a project memory says how to apply it: add `**How to apply:**` (missing-how-to-apply)
        obsidian.md: reference "obsidian" "Notes about the database"
            title "Obsidian", created 2025-11-02T00:00:00Z, private, tags ["testing", "db"], aliases ["real db", "Datenbank"]
            Note: line 2: `tags` belongs under `metadata` (top-level-key)
            Note: line 5: `aliases` belongs under `metadata` (top-level-key)
            Note: line 6: `created` belongs under `metadata` (top-level-key)
            Note: line 11: `rating` belongs under `metadata` (top-level-key)
            Warning: no name: it would be `obsidian` (missing-name)
        invalid.md: project "invalid" "Outage: the queue was full"
            title "Invalid", private, tags [], aliases []
            Error: line 3: the frontmatter cannot be read: a colon in a value without quotes (raw)
            Warning: a project memory says why: add `**Why:**` (missing-why)
            Warning: a project memory says how to apply it: add `**How to apply:**` (missing-how-to-apply)
        bare.md: no type "bare" ""
            title "Bare", private, tags [], aliases []
            Warning: the file has no frontmatter (no-frontmatter)
    "#]].assert_eq(&out);
}

#[test]
fn adding_one_metadata_key_changes_one_line() {
    let table = [
        ("generation-a.md", 2),
        ("generation-b.md", 2),
        ("generation-c.md", 1),
        ("ours.md", 1),
        ("windows.md", 2),
    ];
    for (name, n_added) in table {
        let before = Document::parse(file(name));
        let after = before.set("expires", &"2026-12-31".into()).unwrap();
        let lines = |document: &Document| -> Vec<Vec<u8>> {
            document.bytes().split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
        };
        let (old, new) = (lines(&before), lines(&after));
        assert_eq!(new.len(), old.len() + n_added, "{name}");
        let kept: Vec<_> = new
            .iter()
            .filter(|line| !line.starts_with(b"  expires") && old.contains(line))
            .cloned()
            .collect();
        assert_eq!(kept, old, "{name}");
    }
}

#[test]
fn invalid_yaml_is_never_touched() {
    let document = Document::parse(file("invalid.md"));
    assert!(document.set("name", &"x".into()).is_err());
    assert!(document.remove("name").is_err());
    assert!(document.with_body(b"x").is_err());
    assert_eq!(document.body(), b"The queue was full.\n");
}

fn draft(body: &str) -> Draft {
    let name = MemoryName::new("feedback-integration-tests-real-db").unwrap();
    let time: Timestamp = "2026-04-01T10:30:00.5Z".parse().unwrap();
    let description = "Integration tests must hit a real database, not mocks (incident #412)";
    Draft {
        scope: Scope::Team,
        created: Some(time),
        modified: Some(time),
        session: Some("5da15695-411e-4859-a37b-b739ede023ae".to_owned()),
        provenance: Some(Provenance::User),
        verified: Some(Verified { date: "2026-04-01".parse().unwrap(), by: None }),
        body: body.to_owned(),
        ..Draft::new(name, MemoryType::Feedback, description)
    }
}

#[test]
fn a_draft_renders_the_example_of_the_format() {
    let ours = Document::parse(file("ours.md"));
    let body = std::str::from_utf8(ours.body()).unwrap();
    for body in [body, body.trim_end(), &format!("{body}\n\n")] {
        assert_eq!(
            String::from_utf8(draft(body).render()).unwrap(),
            std::str::from_utf8(ours.bytes()).unwrap()
        );
    }
}

fn check_render(draft: &Draft, expected: Expect) {
    let bytes = draft.render();
    expected.assert_eq(std::str::from_utf8(&bytes).unwrap());
    let path = draft.name.path();
    let (memory, problems) = Memory::read(&path, &Document::parse(&bytes));
    assert_eq!(problems, [], "a file of ours has no problems");
    assert_eq!(memory.name, draft.name.as_str());
    assert_eq!(memory.description, draft.description);
    assert_eq!(memory.memory_type, Some(draft.memory_type));
    assert_eq!(
        (memory.kind, memory.tags, memory.source),
        (draft.kind.clone(), draft.tags.clone(), draft.source.clone())
    );
    assert_eq!((memory.expires, memory.pinned), (draft.expires, draft.pinned));
    assert_eq!(memory.supersedes, draft.supersedes);
}

#[test]
fn a_draft_writes_only_what_it_has() {
    let name = MemoryName::new("user-role").unwrap();
    let small = Draft {
        body: "A data scientist.".to_owned(),
        ..Draft::new(name, MemoryType::User, "Data scientist")
    };
    check_render(
        &small,
        expect![[r#"
        ---
        name: user-role
        description: Data scientist
        type: user
        ---

        A data scientist.
    "#]],
    );
    let full = Draft {
        kind: Some("decision".to_owned()),
        tags: vec!["db".to_owned(), "c#".to_owned()],
        expires: Some("2026-12-31".parse().unwrap()),
        verified: Some(Verified { date: "2026-04-01".parse().unwrap(), by: Some("human:ann".to_owned()) }),
        pinned: true,
        origin_project: Some("web-app-3f9a1c".to_owned()),
        supersedes: vec!["old-rule".to_owned()],
        source: vec!["human:ann".to_owned()],
        layout: Layout::Nested,
        ..draft(template(MemoryType::Feedback))
    };
    check_render(
        &full,
        expect![[r#"
        ---
        name: feedback-integration-tests-real-db
        description: "Integration tests must hit a real database, not mocks (incident #412)"
        metadata:
          type: feedback
          scope: team
          kind: decision
          created: 2026-04-01T10:30:00Z
          modified: 2026-04-01T10:30:00Z
          originSessionId: 5da15695-411e-4859-a37b-b739ede023ae
          provenance: user
          verified: 2026-04-01 by human:ann
          expires: 2026-12-31
          pinned: true
          origin_project: web-app-3f9a1c
          supersedes:
            - old-rule
          source:
            - human:ann
          tags:
            - db
            - "c#"
        ---

        What to do or not to do.

        **Why:** what went wrong or right.

        **How to apply:** when and where it counts.
    "#]],
    );
}

#[test]
fn templates_satisfy_the_lint() {
    for &memory_type in MemoryType::ALL {
        let name = MemoryName::new(&format!("{memory_type}-x")).unwrap();
        let draft =
            Draft { body: template(memory_type).to_owned(), ..Draft::new(name.clone(), memory_type, "x") };
        let (_, problems) = Memory::read(&name.path(), &Document::parse(&draft.render()));
        assert_eq!(problems, [], "{memory_type}");
    }
}

#[test]
fn a_header_alone_says_the_same_as_the_file() {
    for (name, bytes) in FILES {
        let path = MemoryPath::new(name).unwrap();
        let Header::Complete { len } = Header::scan(bytes) else { continue };
        let whole = Memory::read(&path, &Document::parse(bytes)).0;
        assert_eq!(Memory::read_header(&path, &Document::parse(&bytes[..len])).0, whole, "{name}");
    }
}

proptest! {
    #![proptest_config(cases(2))]

    #[test]
    fn every_byte_is_kept(bytes in any::<Vec<u8>>(), fence in any::<bool>()) {
        let bytes = if fence { [b"---\n", &bytes[..], b"\n---\n", &bytes[..]].concat() } else { bytes };
        let document = Document::parse(&bytes);
        prop_assert_eq!(document.bytes(), &bytes[..]);
        prop_assert!(bytes.ends_with(document.body()));
    }

    #[test]
    fn texts_survive_write_read_write(
        description in "\\PC{1,60}",
        tags in prop::collection::vec("[^,#\\s]\\PC{0,8}", 0..3),
        body in "\\PC{0,60}",
    ) {
        let name = MemoryName::new("x").unwrap();
        let draft = Draft { tags, body, ..Draft::new(name, MemoryType::User, description) };
        let document = Document::parse(&draft.render());
        prop_assert_eq!(document.text("description"), Some(draft.description.as_str()));
        prop_assert_eq!(document.get("tags"), Some(Value::list(draft.tags.clone())).filter(|_| !draft.tags.is_empty()));
        let again = document.set("description", &draft.description.as_str().into()).unwrap();
        prop_assert_eq!(again.bytes(), document.bytes());
    }
}
