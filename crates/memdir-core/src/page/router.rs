//! The table of projects that stands behind the user's index page: which there are, how they are, when somebody last
//! worked on them.
//!
//! It makes the user's page a router: from it an agent learns where else to look. It is made anew for whoever asks, never
//! written into a file, and kept small: the newest projects have a row, the rest a number.

use std::fmt::Write;

use jiff::civil::Date;

use crate::text::visible_line;

/// As many projects have a row.
const MAX_ROWS: usize = 20;
/// A longer name is cut, in characters.
const MAX_NAME: usize = 60;

/// A project as it is shown to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    /// What it is called, with its id.
    pub project: String,
    /// How it is: `active`, `paused`, …
    pub status: String,
    /// The day of the last change anybody knows of.
    pub last_activity: Option<Date>,
    /// How much of it is documented: `seed`, `sapling`, `tree`; empty if nobody said so.
    pub doc_tier: String,
}

/// Writes the table, the project that was worked on last first; empty without projects.
pub fn router(rows: &[ProjectRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut rows: Vec<&ProjectRow> = rows.iter().collect();
    rows.sort_by(|a, b| b.last_activity.cmp(&a.last_activity).then_with(|| a.project.cmp(&b.project)));
    let mut text = String::from(
        "## Projects\n\n| project | status | last activity | doc tier |\n| --- | --- | --- | --- |\n",
    );
    for row in rows.iter().take(MAX_ROWS) {
        let day = row.last_activity.map_or_else(|| "never".to_owned(), |day| day.to_string());
        let (project, status, docs) = (cell(&row.project), cell(&row.status), cell(&row.doc_tier));
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| {project} | {status} | {day} | {docs} |");
    }
    if rows.len() > MAX_ROWS {
        let _ = writeln!(text, "\n{} more: memdir projects", rows.len() - MAX_ROWS);
    }
    text
}

/// Makes a text fit for a cell: one line, no bar, not too long.
fn cell(text: &str) -> String {
    let text = visible_line(text).replace('|', "/");
    if text.is_empty() { "-".to_owned() } else { text.chars().take(MAX_NAME).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(project: &str, day: Option<&str>) -> ProjectRow {
        ProjectRow {
            project: project.to_owned(),
            status: "active".to_owned(),
            last_activity: day.map(|day| day.parse().unwrap()),
            doc_tier: String::new(),
        }
    }

    /// CP-01, IX-08.
    #[test]
    fn cp_01_the_table_has_a_row_for_each_project_the_newest_first() {
        let rows = [row("old|one", Some("2026-01-02")), row("new", Some("2026-04-02")), row("idle", None)];
        expect_test::expect![[r"
            ## Projects

            | project | status | last activity | doc tier |
            | --- | --- | --- | --- |
            | new | active | 2026-04-02 | - |
            | old/one | active | 2026-01-02 | - |
            | idle | active | never | - |
        "]]
        .assert_eq(&router(&rows));
        assert_eq!(router(&[]), "");
    }

    /// CP-01: within caps, however many projects there are.
    #[test]
    fn cp_01_many_projects_stay_within_a_limit() {
        let rows: Vec<ProjectRow> =
            (0..500).map(|n| row(&format!("project-{n}-{}", "x".repeat(200)), None)).collect();
        let text = router(&rows);
        assert!(text.len() < 4_000 && text.lines().count() < 30, "{text}");
        assert!(text.ends_with("480 more: memdir projects\n"), "{text}");
    }
}
