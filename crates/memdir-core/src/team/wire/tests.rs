//! The protocol as it stands on the wire.

use super::*;

#[test]
fn names_are_short_lower_case_slugs() {
    for good in ["a", "0", "alice", "team-7", "a.b_c-d", &"x".repeat(64)] {
        assert_eq!(TeamName::new(good).unwrap().as_str(), good);
        assert_eq!(MemberName::new(good).unwrap().to_string(), good);
    }
    let long = "x".repeat(65);
    for bad in ["", "A", "-a", ".a", "_a", "a/b", "..", "a b", "ä", "a\0", "a\n", "a%2e", &long] {
        assert!(TeamName::new(bad).is_err(), "{bad:?}");
        assert!(serde_json::from_value::<MemberName>(bad.into()).is_err(), "{bad:?}");
    }
    assert!(ProjectName::new(&"x".repeat(100)).is_ok());
    assert!(ProjectName::new(&"x".repeat(101)).is_err());
}

#[test]
fn a_tag_reads_back_what_it_prints_and_nothing_else() {
    let hash = ContentHash::of(b"abc");
    let tag = ETag::new(17, &hash);
    assert_eq!(tag.to_string(), "\"17-ba7816bf8f01cfea\"");
    assert_eq!(tag.to_string().parse::<ETag>(), Ok(tag));
    assert!(tag.is_of(17, &hash));
    assert!(!tag.is_of(18, &hash));
    assert!(!tag.is_of(17, &ContentHash::of(b"abd")));
    for bad in [
        "",
        "*",
        "17",
        "17-ba7816bf8f01cfea",
        "W/\"17-ba7816bf8f01cfea\"",
        "\"+17-ba7816bf8f01cfea\"",
        "\"-ba7816bf8f01cfea\"",
        "\"17-ba7816bf8f01cf\"",
        "\"17-ba7816bf8f01cfeg\"",
        "\"99999999999999999999-ba7816bf8f01cfea\"",
        "\"17-ba7816bf8f01cfea\", \"18-ba7816bf8f01cfea\"",
    ] {
        assert!(bad.parse::<ETag>().is_err(), "{bad}");
    }
}

#[test]
fn a_missing_base_is_not_a_base_of_null() {
    let read = |base: &str| {
        let text = format!(r#"{{"op":"put","path":"a.md"{base},"hash":"00","text":"x"}}"#);
        let op: Op = serde_json::from_str(&text).unwrap();
        let again = serde_json::to_string(&op).unwrap();
        assert_eq!(again, text, "written as it was read");
        match op {
            Op::Put { base, .. } => base,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(read(""), Base::Missing);
    assert_eq!(read(r#","base":null"#), Base::New);
    assert_eq!(read(r#","base":7"#), Base::Version(7));
    assert!(serde_json::from_str::<Op>(r#"{"op":"delete","path":"a.md","base":-1}"#).is_err());
    assert!(serde_json::from_str::<Op>(r#"{"op":"rename","path":"a.md"}"#).is_err());
}

#[test]
fn an_erasure_without_a_base_is_read_and_says_none() {
    let op: Op = serde_json::from_str(r#"{"op":"erase","path":"a.md"}"#).unwrap();
    assert_eq!(op, Op::Erase { path: "a.md".into(), base: Base::Missing });
    assert_eq!(op.path(), "a.md");
}

#[test]
fn a_change_leaves_out_what_it_has_not() {
    let change = Change {
        path: MemoryPath::new("a.md").unwrap(),
        seq: 3,
        hash: ContentHash::of(b"x"),
        size: 1,
        author: MemberName::new("ann").unwrap(),
        at: "2026-04-17T09:00:00Z".parse().unwrap(),
        deleted: false,
        erased: false,
        text: None,
    };
    let text = serde_json::to_string(&change).unwrap();
    assert!(text.contains(r#""at":"2026-04-17T09:00:00Z""#), "{text}");
    assert!(!text.contains("text"), "{text}");
    assert_eq!(serde_json::from_str::<Change>(&text).unwrap(), change);
    let climbing = text.replace("a.md", "../a.md");
    assert!(serde_json::from_str::<Change>(&climbing).is_err(), "a path is checked when it is read");
}

#[test]
fn every_code_has_its_status_and_an_unknown_one_can_be_read() {
    let known = [
        ("bad-request", 400),
        ("unauthorized", 401),
        ("forbidden", 403),
        ("not-found", 404),
        ("method", 405),
        ("timeout", 408),
        ("conflict", 409),
        ("gone", 410),
        ("length-required", 411),
        ("stale", 412),
        ("too-large", 413),
        ("media-type", 415),
        ("secret", 422),
        ("protocol", 426),
        ("precondition-required", 428),
        ("rate", 429),
        ("internal", 500),
        ("busy", 503),
        ("quota", 507),
    ];
    for (word, status) in known {
        let code: Code = serde_json::from_value(word.into()).unwrap();
        assert_eq!(code.status(), status, "{word}");
        assert_eq!(serde_json::to_value(code).unwrap(), word);
    }
    let later: Code = serde_json::from_value("teapot".into()).unwrap();
    assert_eq!(later, Code::Unknown);
}

#[test]
fn scopes_imply_the_lesser_ones() {
    assert_eq!(Scope::Admin.implied(), Scope::ALL);
    assert_eq!(Scope::Read.implied(), [Scope::Read]);
    assert!(Scope::Read < Scope::Write && Scope::Write < Scope::Admin);
    assert_eq!(Scope::from_word("write"), Some(Scope::Write));
    assert_eq!(Scope::from_word("WRITE"), None);
    assert_eq!(TeamKind::from_word("own"), Some(TeamKind::Own));
}
