//! Codex: a handbook in `memories/`, and notes that others may leave for it.
//!
//! What Codex wrote for itself is read by section. What we leave is one note a memory in `extensions/ad_hoc/notes/`, the
//! door that Codex names for it, byte for byte the memory.

use jiff::Timestamp;

use super::markdown::sections;
use super::{Intake, Page};
use crate::memory::{INDEX_PAGE, MemoryPath};

/// Where notes of others are.
const NOTES: &str = "extensions/ad_hoc/notes/";
/// The page that a session of Codex begins with.
const SUMMARY: &str = "memory_summary.md";
/// What of that page says something about the user; the rest leads to other pages.
const ABOUT_USER: [(&str, &str); 3] = [
    ("user profile", "user-profile-from-codex"),
    ("user preferences", "feedback-preferences-from-codex"),
    ("general tips", "feedback-tips-from-codex"),
];

/// Returns where the note of a memory belongs, below `memories/`. The time is the memory's own: the same memory is the
/// same note.
pub fn codex_note_name(path: &MemoryPath, modified: Timestamp) -> String {
    let time = modified.strftime("%Y-%m-%dT%H-%M-%S");
    format!("{NOTES}{time}-{}.md", path.stem().replace('/', "-"))
}

/// Reads the pages of `memories/`.
pub fn from_codex(pages: &[Page]) -> Intake {
    let mut intake = Intake::default();
    for (path, text) in pages {
        if let Some(note) =
            path.strip_prefix(NOTES).or_else(|| (!path.contains('/')).then_some(path.as_str()))
        {
            match note {
                INDEX_PAGE => handbook(text, &mut intake),
                SUMMARY => summary(text, &mut intake),
                "raw_memories.md" => left_out(path, &mut intake),
                note => intake.take(path.clone(), name_of(note), text),
            }
        } else {
            left_out(path, &mut intake);
        }
    }
    intake
}

fn left_out(path: &str, intake: &mut Intake) {
    intake.left_out.push((path.to_owned(), "working material, out of which Codex made its MEMORY.md"));
}

fn handbook(text: &str, intake: &mut Intake) {
    for section in sections(text, "# ").into_iter().filter(|section| !section.heading.is_empty()) {
        let heading = section.heading.strip_prefix("Task Group:").unwrap_or(section.heading).trim();
        let text = format!("# {heading}\n\n{}\n", section.text);
        intake.adapt(vec![(format!("{INDEX_PAGE}: {heading}"), format!("project-{heading}"), text)]);
    }
}

fn summary(text: &str, intake: &mut Intake) {
    for section in sections(text, "## ") {
        let about = ABOUT_USER.iter().find(|(heading, _)| section.heading.eq_ignore_ascii_case(heading));
        let origin = format!("{SUMMARY}: {}", section.heading);
        match about {
            Some((_, name)) => {
                let text = format!("# {}\n\n{}\n", section.heading, section.text);
                intake.adapt(vec![(origin, (*name).to_owned(), text)]);
            }
            None if section.heading.is_empty() => {}
            None => intake.left_out.push((origin, "leads to other pages")),
        }
    }
}

/// Returns a note's name without the time before it.
fn name_of(note: &str) -> &str {
    let stem = note.strip_suffix(".md").unwrap_or(note);
    let time =
        stem.len() - stem.trim_start_matches(|c: char| c.is_ascii_digit() || "-_:.TZ".contains(c)).len();
    if time >= "2026-01-01-".len() { &stem[time..] } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intake(pages: &[(&str, &str)]) -> Intake {
        let page = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        from_codex(&pages.iter().map(page).collect::<Vec<_>>())
    }

    #[test]
    fn ux_24_what_codex_learned_comes_in_by_section() {
        let found = intake(&[
            (
                "MEMORY.md",
                "# Task Group: Release pipeline\nscope: how releases are made\n\n## Task 1\n- x\n# Task Group: Auth\ny\n",
            ),
            ("memory_summary.md", "v1\n\n## User Profile\nAnn writes Rust.\n\n## What's in Memory\n- auth\n"),
            ("raw_memories.md", "raw"),
            ("rollout_summaries/a.md", "raw"),
            ("extensions/ad_hoc/notes/2026-03-02T12-00-00-keep-it-short.md", "Keep answers short.\n"),
        ]);
        let names: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            names,
            [
                "project-release-pipeline.md",
                "project-auth.md",
                "user-profile-from-codex.md",
                "keep-it-short.md"
            ]
        );
        let profile = String::from_utf8_lossy(&found.files[2].bytes).into_owned();
        assert!(profile.contains("type: user") && profile.contains("Ann writes Rust."), "{profile}");
        let left: Vec<&str> = found.left_out.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            left,
            ["memory_summary.md: What's in Memory", "raw_memories.md", "rollout_summaries/a.md"]
        );
    }

    #[test]
    fn ux_24_a_memory_that_was_left_as_a_note_comes_back_byte_for_byte() {
        let memory = "---\nname: feedback-x\ndescription: \"d # e\"\ntype: feedback\nmetadata:\n  tags: [a]\n---\n\nbody\r\n";
        let path = MemoryPath::new("feedback-x.md").unwrap();
        let name = codex_note_name(&path, "2026-03-02T12:00:00Z".parse().unwrap());
        assert_eq!(name, "extensions/ad_hoc/notes/2026-03-02T12-00-00-feedback-x.md");
        let found = intake(&[(&name, memory)]);
        assert_eq!(
            (found.files[0].path.as_str(), found.files[0].bytes.as_slice()),
            ("feedback-x.md", memory.as_bytes())
        );
    }
}
