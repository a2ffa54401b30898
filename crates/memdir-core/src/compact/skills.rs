//! Skills that a conversation works by: instructions that were loaded into it, and that hold until its end.
//!
//! Claude Code puts the text of a skill into a user's message that begins with the skill's folder; other agents read its
//! `SKILL.md` with a tool, and Gemini CLI has one that gives back the text between marks. All are recognised, and so is what
//! an earlier compaction gave back. A skill that came twice is kept as it came last.

use super::marks;
use crate::host::{Tool, ToolKind};

/// How Claude Code begins the text of a skill.
const BASE: &str = "Base directory for this skill: ";
/// How Gemini CLI begins the text of a skill, before its name.
const ACTIVATED: &str = "<activated_skill name=\"";
/// The file that holds a skill.
const FILE: &str = "SKILL.md";

/// The skills of a conversation, in the order in which they came last.
#[derive(Debug, Default)]
pub(super) struct Skills {
    known: Vec<(String, String)>,
}

impl Skills {
    /// Returns names and texts, the last one first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = (&str, &str)> {
        self.known.iter().rev().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Says whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Says whether there is one of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.known.iter().any(|(known, _)| known == name)
    }

    /// Takes a text of the user's side, and says whether it is a skill.
    pub(super) fn take_text(&mut self, said: &str) -> bool {
        if let Some((name, text)) = marks::skill(said) {
            self.keep(name, text);
            return true;
        }
        let Some(rest) = said.trim_start().strip_prefix(BASE) else { return false };
        let dir = rest.lines().next().unwrap_or_default().trim().trim_end_matches(['/', '\\']);
        let name = dir.rsplit(['/', '\\']).next().unwrap_or_default();
        if !is_name(name) {
            return false;
        }
        self.keep(name, said.trim());
        true
    }

    /// Takes the result of a call: a skill may have been read.
    pub(super) fn take(&mut self, tool: &Tool, result: &str) {
        let activated = result.strip_prefix(ACTIVATED).and_then(|rest| rest.split_once('"'));
        if let Some((name, _)) = activated.filter(|(name, _)| tool.name == "activate_skill" && is_name(name))
        {
            self.keep(name, result.trim());
            return;
        }
        let [file] = &tool.files[..] else { return };
        let mut parts = file.rsplit(['/', '\\']);
        if tool.kind == ToolKind::Read
            && parts.next() == Some(FILE)
            && let Some(name) = parts.next()
            && !result.is_empty()
        {
            self.keep(name, result);
        }
    }

    fn keep(&mut self, name: &str, text: &str) {
        self.known.retain(|(known, _)| known != name);
        self.known.push((name.to_owned(), text.to_owned()));
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 200 && !text.contains('\n')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn skills_are_known_by_how_they_come() {
        let mut skills = Skills::default();
        assert!(
            skills.take_text("Base directory for this skill: /home/u/.claude/skills/pdf\n\n# PDF\n\nDo it.")
        );
        assert!(!skills.take_text("What is the base directory for this skill?"));
        skills.take(&Tool::new("Read", &json!({ "file_path": "/s/deploy/SKILL.md" })), "# Deploy");
        skills.take(&Tool::new("Read", &json!({ "file_path": "/s/deploy/README.md" })), "# Other");
        assert!(skills.take_text("Base directory for this skill: /home/u/.claude/skills/pdf\n\n# PDF 2"));
        let activated = "<activated_skill name=\"review\">\n  <instructions>\n    # Review\n  </instructions>\n</activated_skill>";
        skills.take(&Tool::new("activate_skill", &json!({ "name": "review" })), activated);
        skills.take(&Tool::new("read_file", &json!({ "file_path": "/s/notes.txt" })), activated);
        let names: Vec<&str> = skills.newest_first().map(|(name, _)| name).collect();
        assert_eq!(names, ["review", "pdf", "deploy"]);
        assert!(skills.newest_first().nth(1).unwrap().1.ends_with("# PDF 2"));
    }
}
