//! A magic doc as text: what its head says, and what a new version must keep.

use similar::TextDiff;

/// No magic doc is larger, in bytes.
pub const MAX_DOC: usize = 64 * 1024;
/// A new version may be as many times as large as the old one, and so many bytes more.
const MAX_GROWTH: usize = 3;
const FREE_GROWTH: usize = 4 * 1024;
/// The first heading is looked for in as many lines.
const HEAD_LINES: usize = 60;
const MAX_TITLE: usize = 200;
const MAX_RULE: usize = 500;

/// What the head of a magic doc says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doc {
    /// Its title.
    pub title: String,
    /// How it is to be kept, if that is said.
    pub rule: Option<String>,
    /// How many bytes the head takes: up to the end of the heading, or of the rule.
    pub head: usize,
}

/// Why a new version is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rewrite {
    /// The file is not, or no longer, a magic doc.
    #[error("the file does not begin with `# MAGIC DOC: <title>`")]
    NotMagic,
    /// There is nothing in it.
    #[error("the new text is empty")]
    Empty,
    /// It is too large.
    #[error("the new text has {size} bytes, more than the {limit} that are allowed")]
    TooLarge {
        /// How large it is.
        size: usize,
        /// How large it may be.
        limit: usize,
    },
    /// It is not text.
    #[error("the new text has control characters in it")]
    NotText,
}

/// Reads the head of a file; `None` if it is no magic doc. The beginning of the file is enough.
pub fn read(text: &str) -> Option<Doc> {
    let mut at = front_matter(text);
    let mut lines = text[at..].split_inclusive('\n').take(HEAD_LINES);
    let heading = loop {
        let line = lines.next()?;
        at += line.len();
        if is_heading(line) {
            break line;
        }
        if line.trim_start().starts_with("```") {
            return None;
        }
    };
    let title = title(heading)?;
    let (rule, head) = rule_below(text, at);
    Some(Doc { title, rule, head })
}

/// Puts a new text under the head of the old one, and checks that it may take its place.
pub fn rewritten(old: &str, new: &str) -> Result<String, Rewrite> {
    let doc = read(old).ok_or(Rewrite::NotMagic)?;
    // Whoever writes the text may repeat the head or leave it out.
    let body = read(new).map_or(new, |repeated| &new[repeated.head..]);
    let body = body.trim_matches('\n').trim_end();
    if body.trim().is_empty() {
        return Err(Rewrite::Empty);
    }
    if body.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
        return Err(Rewrite::NotText);
    }
    let head = &old[..doc.head];
    let gap = if head.ends_with('\n') { "\n" } else { "\n\n" };
    let text = format!("{head}{gap}{body}\n");
    let limit = MAX_DOC.min(old.len() * MAX_GROWTH + FREE_GROWTH);
    if text.len() > limit {
        return Err(Rewrite::TooLarge { size: text.len(), limit });
    }
    Ok(text)
}

/// Shows what a new version changes, as a unified diff.
pub fn difference(path: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

/// Returns where the text begins below a front matter.
fn front_matter(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("---\n") else { return 0 };
    rest.find("\n---\n").map_or(0, |end| 4 + end + 5)
}

fn is_heading(line: &str) -> bool {
    let marks = line.len() - line.trim_start_matches('#').len();
    (1..=6).contains(&marks) && line[marks..].starts_with([' ', '\t'])
}

fn title(heading: &str) -> Option<String> {
    let rest = heading.strip_prefix('#')?.trim();
    let (mark, title) = rest.split_once(':')?;
    let words: Vec<&str> = mark.split_whitespace().collect();
    let is_mark = matches!(words[..], [magic, doc] if magic.eq_ignore_ascii_case("magic") && doc.eq_ignore_ascii_case("doc"));
    let title = title.trim();
    (is_mark && !title.is_empty() && title.len() <= MAX_TITLE).then(|| title.to_owned())
}

/// Finds the italic line below the heading, and where it ends; at most one empty line may be between them.
fn rule_below(text: &str, from: usize) -> (Option<String>, usize) {
    let mut at = from;
    for line in text[from..].split_inclusive('\n').take(2) {
        at += line.len();
        if line.trim().is_empty() {
            continue;
        }
        return match italic(line.trim()) {
            Some(rule) => (Some(rule.to_owned()), at),
            None => (None, from),
        };
    }
    (None, from)
}

fn italic(line: &str) -> Option<&str> {
    let inner = ["_", "*"].iter().find_map(|mark| line.strip_prefix(mark)?.strip_suffix(mark))?;
    let is_rule = !inner.trim().is_empty() && !inner.starts_with(['_', '*', ' ']) && inner.len() <= MAX_RULE;
    is_rule.then(|| inner.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const API: &str =
        "# MAGIC DOC: HTTP API\n_Keep this updated when endpoints change_\n\nGET /users lists users.\n";

    /// MD-01, MD-02.
    #[test]
    fn a_magic_doc_is_known_by_its_first_heading_and_an_italic_line_is_its_rule() {
        let doc = read(API).unwrap();
        assert_eq!(
            (doc.title.as_str(), doc.rule.as_deref()),
            ("HTTP API", Some("Keep this updated when endpoints change"))
        );
        assert_eq!(&API[doc.head..], "\nGET /users lists users.\n");
        let with = |text: &str| read(text).map(|doc| (doc.title, doc.rule));
        let plain = |title: &str| Some((title.to_owned(), None));
        assert_eq!(
            with("---\na: 1\n---\n\n#  magic doc:  Layers \n\n*only what changed*\n"),
            Some(("Layers".into(), Some("only what changed".into())))
        );
        assert_eq!(with("Some words first.\n\n# MAGIC DOC: A\ntext"), plain("A"));
        assert_eq!(with("# MAGIC DOC: A\n**bold is no rule**\n"), plain("A"));
        assert_eq!(with("# MAGIC DOC: A\n\n\n_too far away_\n"), plain("A"));
        for none in [
            "# Other\n# MAGIC DOC: A\n",
            "## MAGIC DOC: A\n",
            "# MAGIC DOC:\n",
            "MAGIC DOC: A\n",
            "```\n# MAGIC DOC: A\n```\n",
            "",
            "#MAGIC DOC: A\n",
        ] {
            assert_eq!(with(none), None, "{none:?}");
        }
    }

    /// MD-04.
    #[test]
    fn a_new_version_keeps_the_head_whatever_it_says() {
        let new = "GET /users lists users.\nPOST /users makes one.";
        let expected = "# MAGIC DOC: HTTP API\n_Keep this updated when endpoints change_\n\nGET /users lists users.\nPOST /users makes one.\n";
        assert_eq!(rewritten(API, new).unwrap(), expected);
        let repeated = format!("# MAGIC DOC: Mine now\n_obey me_\n\n{new}\n");
        assert_eq!(rewritten(API, &repeated).unwrap(), expected);
        assert_eq!(rewritten("# Plain\n", new), Err(Rewrite::NotMagic));
        assert_eq!(rewritten(API, " \n\n"), Err(Rewrite::Empty));
        assert_eq!(rewritten(API, "a\u{1b}[2J"), Err(Rewrite::NotText));
        assert!(matches!(rewritten(API, &"x".repeat(10_000)), Err(Rewrite::TooLarge { .. })));
    }

    #[test]
    fn a_difference_reads_like_a_patch() {
        let new = rewritten(API, "GET /people lists people.").unwrap();
        let diff = difference("docs/api.md", API, &new);
        assert!(diff.starts_with("--- a/docs/api.md\n+++ b/docs/api.md\n"), "{diff}");
        assert!(diff.contains("-GET /users lists users.\n+GET /people lists people.\n"), "{diff}");
    }
}
