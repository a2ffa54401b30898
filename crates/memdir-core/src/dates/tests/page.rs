//! The page for people, row by row.

use super::{noon, settle};

const PAGE: &str = include_str!("../../../../../docs/dates.md");

#[test]
fn every_row_of_the_page_holds() {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.filter(|row| !row.starts_with("said") && !row.starts_with("---"));
    let mut n_rows = 0;
    for row in rows {
        let (said, becomes) = row.split_once(" | ").unwrap_or((row, row));
        assert_eq!(shown(said), becomes, "{said}");
        n_rows += 1;
    }
    assert!(n_rows > 100, "the page has its tables");
}

/// A text as the page shows what becomes of it.
fn shown(said: &str) -> String {
    let settled = settle(said, &noon("2026-03-02"));
    match settled.questions.first() {
        Some(question) => format!("asks: {}", question.readings.join(" or ")),
        None => settled.text,
    }
}
