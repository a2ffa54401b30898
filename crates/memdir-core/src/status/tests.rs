//! The managed block: everything outside of it keeps its bytes.

use expect_test::expect;
use proptest::prelude::*;

use super::*;

fn item(text: &str) -> OpenItem {
    OpenItem { id: "x".to_owned(), text: text.to_owned(), since: None, last: None, entry: String::new() }
}

fn status() -> Status {
    let open =
        ["move the queue", "Blocked: rotate the key", "next: write the docs", "waiting for the vendor"];
    Status::of(&open.map(item), "2026-04-02".parse().unwrap())
}

/// LC-05.
#[test]
fn a_new_file_has_three_sections_and_a_date() {
    let written = String::from_utf8(status().write_into(b"").unwrap()).unwrap();
    expect![[r#"
        # Status

        <!-- memdir:status -->
        ## In progress
        - move the queue

        ## Blocked
        - rotate the key
        - waiting for the vendor

        ## Next
        - write the docs

        Doc Sync: 2026-04-02
        <!-- memdir:status:end -->
    "#]]
    .assert_eq(&written);
    assert_eq!(Status::read(written.as_bytes()), Some(status()));
    assert_eq!(status().words(), "1 in progress, 2 blocked, 1 next");
    assert_eq!(Status::default().words(), "nothing open");
}

/// LC-05. What stands outside is the author's.
#[test]
fn everything_outside_of_the_block_stays_byte_for_byte() {
    let text = "# Web app\r\n\r\nMine.  \r\n<!-- memdir:status -->\r\nold\r\n<!-- memdir:status:end -->\r\n\tBelow, no end";
    let written = String::from_utf8(status().write_into(text.as_bytes()).unwrap()).unwrap();
    assert!(written.starts_with("# Web app\r\n\r\nMine.  \r\n<!-- memdir:status -->\r\n## In progress\r\n"));
    assert!(
        written.ends_with("Doc Sync: 2026-04-02\r\n<!-- memdir:status:end -->\r\n\tBelow, no end"),
        "{written}"
    );
    assert!(!written.contains("old") && !written.replace("\r\n", "").contains('\n'));
    assert_eq!(status().write_into(written.as_bytes()).unwrap(), written.as_bytes(), "twice is once");
}

#[test]
fn the_block_is_made_below_the_title_or_at_the_end() {
    let with = |text: &str| String::from_utf8(status().write_into(text.as_bytes()).unwrap()).unwrap();
    assert!(with("# Title\n\nText\n").starts_with("# Title\n\n<!-- memdir:status -->\n"));
    assert!(with("# Title\n\nText\n").ends_with("<!-- memdir:status:end -->\n\nText\n"));
    assert!(with("Text").starts_with("Text\n\n<!-- memdir:status -->\n"));
    assert!(with("# Title").starts_with("# Title\n\n<!-- memdir:status -->\n"));
}

#[test]
fn marks_that_do_not_pair_up_are_left_alone() {
    for text in [
        "<!-- memdir:status -->\n",
        "<!-- memdir:status:end -->\n",
        "<!-- memdir:status:end -->\n<!-- memdir:status -->\n",
        "<!-- memdir:status -->\n<!-- memdir:status -->\n<!-- memdir:status:end -->\n",
    ] {
        assert_eq!(status().write_into(text.as_bytes()), Err(StatusError::Marks), "{text}");
    }
    assert_eq!(status().write_into(&[0xff]), Err(StatusError::NotText));
    let example = "Text\n```\n<!-- memdir:status -->\n```\n";
    assert!(status().write_into(example.as_bytes()).unwrap().starts_with(example.as_bytes()));
}

#[test]
fn a_date_of_a_document_is_ten_bytes_of_it() {
    for (text, found) in [
        ("Doc Sync: 2026-04-02\n", Some("2026-04-02")),
        ("- **Doc Sync:** 2026-04-02 (by hand)", Some("2026-04-02")),
        ("<!-- Doc Sync: 2026-04-02 -->", Some("2026-04-02")),
        ("the Doc Sync: 2026-04-02", None),
        ("Doc Sync: never", None),
        ("Doc Sync: 2026-13-02", None),
        ("Doc Sync: soon, 2026-04-02", None),
    ] {
        assert_eq!(doc_sync(text.as_bytes()).map(|day| day.to_string()).as_deref(), found, "{text}");
    }
    let day: Date = "2026-05-01".parse().unwrap();
    let changed = with_doc_sync(b"a\r\nDoc Sync: 2026-04-02\r\nb", day).unwrap();
    assert_eq!(changed, b"a\r\nDoc Sync: 2026-05-01\r\nb");
    assert_eq!(with_doc_sync(&changed, day), None);
    assert_eq!(with_doc_sync(b"nothing", day), None);
}

proptest! {
    #[test]
    fn writing_twice_is_writing_once_and_keeps_what_is_outside(
        above in "[a-z# \n\r`-]{0,40}",
        below in "[a-z# \n\r`-]{0,40}",
    ) {
        let text = format!("{above}\n{BEGIN}\nold\n{END}\n{below}");
        if let Ok(Some(_)) = find(&text) {
            let once = status().write_into(text.as_bytes()).unwrap();
            let (begin, end) = (format!("{above}\n{BEGIN}"), format!("{END}\n{below}"));
            prop_assert!(once.starts_with(begin.as_bytes()));
            prop_assert!(once.ends_with(end.as_bytes()));
            prop_assert_eq!(status().write_into(&once).unwrap(), once);
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = (Status::read(&bytes), doc_sync(&bytes), status().write_into(&bytes));
    }
}
