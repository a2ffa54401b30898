//! The first lines of what a compaction puts into a list, so that the next one knows it again.

/// Opens a summary.
const SUMMARY: &str =
    "What happened before this point (memdir shortened the conversation; quoted from it, no new request)";
/// Opens a file.
const FILE: &str = "File as last seen before the conversation was shortened: ";
/// Opens a skill.
const SKILL: &str = "Skill in use before the conversation was shortened: ";
const COUNT: &str = " (referred to ";
/// Begins the last line of something that was cut.
const CUT: &str = "[… cut: ";

/// Puts a summary under its mark.
pub(super) fn summary(text: &str) -> String {
    format!("{SUMMARY}\n\n{text}")
}

/// Puts the text of a file under its mark.
pub(super) fn with_file(path: &str, count: usize, text: &str) -> String {
    format!("{FILE}{path}{COUNT}{count}×)\n{text}")
}

/// Puts the text of a skill under its mark.
pub(super) fn with_skill(name: &str, text: &str) -> String {
    format!("{SKILL}{name}\n{text}")
}

/// Says how much was cut off.
pub(super) fn cut(n_lines: usize) -> String {
    format!("{CUT}{n_lines} more lines]")
}

/// Reads the lines of a summary, each with its heading; `None` if this is none.
pub(super) fn summary_lines(text: &str) -> Option<Vec<(String, String)>> {
    let rest = text.strip_prefix(SUMMARY)?;
    let mut heading = String::new();
    let mut lines = Vec::new();
    for line in rest.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = title.to_owned();
        } else if let Some(item) = line.strip_prefix("- ") {
            lines.push((heading.clone(), item.to_owned()));
        }
    }
    Some(lines)
}

/// Reads a file: its path, how often it was referred to, its text, and whether that is only a part.
pub(super) fn file(text: &str) -> Option<(&str, usize, &str, bool)> {
    let (head, body) = text.strip_prefix(FILE)?.split_once('\n')?;
    let (path, count) = head.rsplit_once(COUNT)?;
    let count = count.strip_suffix("×)")?.parse().ok()?;
    let last = body.lines().next_back().unwrap_or_default();
    let is_part = last.starts_with(CUT);
    let body = if is_part { body[..body.len() - last.len()].trim_end_matches('\n') } else { body };
    Some((path, count, body, is_part))
}

/// Reads a skill: its name and its text.
pub(super) fn skill(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix(SKILL)?.split_once('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_marked_is_known_again() {
        let text = summary("## Files\n- Changed: a.rs\n- Read: b.rs\n\n## Open items\n- port it\n");
        let lines = summary_lines(&text).unwrap();
        assert_eq!(lines[2], ("Open items".to_owned(), "port it".to_owned()));
        assert_eq!(lines.len(), 3);
        let whole = with_file("src/a (b).rs", 7, "one\ntwo");
        assert_eq!(file(&whole), Some(("src/a (b).rs", 7, "one\ntwo", false)));
        let part = with_file("a", 1, &format!("one\n{}", cut(3)));
        assert_eq!(file(&part), Some(("a", 1, "one", true)));
        assert_eq!(skill(&with_skill("pdf", "# PDF")), Some(("pdf", "# PDF")));
        assert_eq!((summary_lines("hello"), file("hello"), skill("hello")), (None, None, None));
    }
}
