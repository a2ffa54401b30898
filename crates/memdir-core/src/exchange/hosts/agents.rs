//! AGENTS.md: the page that most agents read. Ours is one block on it; the rest is the user's.
//!
//! Agents load the page whole into every session and cut it at 32 KiB, so the block has a limit: what does not fit is
//! named, not cut.

use super::markdown::{Section, block, sections, with_block};
use super::{Incoming, Intake};
use crate::memory::{Draft, Memory, MemoryName, MemoryType, Provenance};

const BEGIN: &str = "<!-- memdir:begin agents -->";
const END: &str = "<!-- memdir:end agents -->";
/// Begins each memory in the block, with its name and type behind it.
const MARK: &str = "<!-- memdir:memory ";
const HEADING: &str = "## What was learned here";
/// Codex reads 32 KiB of the page; the user's own text needs room too.
const MAX_BLOCK: usize = 24 * 1024;

/// Returns the page with our block, and the names of the memories that found no room on it. Without memories there is
/// no block.
pub fn agents_page(page: &str, memories: &[(Memory, String)]) -> (String, Vec<String>) {
    let old = block(page, BEGIN, END);
    let mut entries = String::new();
    let mut no_room = Vec::new();
    for (memory, body) in memories {
        let entry = entry(memory, body);
        if entries.len() + entry.len() > MAX_BLOCK {
            no_room.push(memory.name.clone());
        } else {
            entries.push_str(&entry);
        }
    }
    if entries.is_empty() {
        return (old.map_or_else(|| page.to_owned(), |span| with_block(page, Some(span), "")), no_room);
    }
    (with_block(page, old, &format!("{BEGIN}\n{HEADING}\n\n{entries}{END}\n")), no_room)
}

fn entry(memory: &Memory, body: &str) -> String {
    let kind = memory.memory_type.unwrap_or(MemoryType::Project);
    let body = body.trim_matches(['\n', '\r']).replace("<!-- memdir:", "&lt;!-- memdir:");
    format!("{MARK}{} {kind} -->\n### {}\n\n{body}\n\n", memory.path.stem(), memory.description)
}

/// Reads a page: our block as the memories it was made of, the rest by section.
pub fn from_agents(origin: &str, page: &str) -> Intake {
    let mut intake = Intake::default();
    let span = block(page, BEGIN, END);
    if let Some(span) = &span {
        for text in page[span.clone()].split(MARK).skip(1) {
            let text = text.replace(END, "");
            if let Some(file) = memory(origin, &text) {
                intake.ours.push(file.path.clone());
                intake.files.push(file);
            }
        }
    }
    let rest = span.map_or_else(|| page.to_owned(), |span| with_block(page, Some(span), ""));
    for Section { heading, text } in sections(&rest, "## ") {
        if heading.is_empty() {
            let is_title = text.lines().all(|line| line.trim().is_empty() || line.starts_with("# "));
            if !is_title {
                intake
                    .left_out
                    .push((format!("{origin}: the beginning"), "it stands under no heading of its own"));
            }
            continue;
        }
        let text = format!("# {heading}\n\n{text}\n");
        intake.adapt(vec![(format!("{origin}: {heading}"), format!("feedback-{heading}"), text)]);
    }
    intake
}

/// Reads one memory of the block; the mark before its name is gone already.
fn memory(origin: &str, text: &str) -> Option<Incoming> {
    let (head, rest) = text.split_once(" -->\n")?;
    let (name, kind) = head.split_once(' ')?;
    let (title, body) = rest.strip_prefix("### ")?.split_once('\n')?;
    let name = MemoryName::new(name).ok()?;
    let mut draft = Draft::new(name.clone(), kind.parse().ok()?, title.trim());
    draft.provenance = Some(Provenance::Import);
    draft.source = vec![format!("import:{origin}")];
    draft.body = body.to_owned();
    Some(Incoming { origin: format!("{origin}: {name}"), path: name.path(), bytes: draft.render() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Document, MemoryPath};

    fn memory(name: &str, body: &str) -> (Memory, String) {
        let text = format!("---\nname: {name}\ndescription: about {name}\ntype: reference\n---\n\n{body}\n");
        let path = MemoryPath::new(&format!("{name}.md")).unwrap();
        (Memory::read(&path, &Document::parse(text.as_bytes())).0, body.to_owned())
    }

    #[test]
    fn ux_24_the_text_around_the_block_stays_and_the_block_comes_back() {
        let mine = "# Project\r\n\r\nrules\r\n```\n<!-- memdir:begin agents -->\n```\n";
        let memories = [memory("a", "one\n\n### deeper\n\n<!-- memdir:end agents -->"), memory("b", "two")];
        let (first, no_room) = agents_page(mine, &memories);
        assert!(first.starts_with(mine) && no_room.is_empty(), "{first}");
        let below = format!("{first}\nmore of mine");
        let (second, _) = agents_page(&below, &memories[1..]);
        assert!(
            second.starts_with(mine) && second.ends_with("\nmore of mine") && !second.contains("one"),
            "{second}"
        );
        assert_eq!(agents_page(&below, &memories).0, below);
        let (none, _) = agents_page(&first, &[]);
        assert_eq!(none.trim_end(), mine.trim_end());

        let found = from_agents("AGENTS.md", &first);
        assert_eq!(found.ours.len(), 2, "{found:?}");
        let text = String::from_utf8_lossy(&found.files[1].bytes).into_owned();
        assert!(
            text.contains("name: b\ndescription: about b\ntype: reference\n") && text.ends_with("\n\ntwo\n"),
            "{text}"
        );
    }

    #[test]
    fn ux_24_sections_of_a_page_come_in_one_by_one() {
        let found =
            from_agents("AGENTS.md", "# Title\n\n## Testing\n\nUse a real database.\n\n## Style\n- tabs\n");
        let names: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["feedback-testing.md", "feedback-style.md"]);
        assert!(found.left_out.is_empty());
        assert_eq!(from_agents("AGENTS.md", "do this\n").left_out.len(), 1);
    }

    #[test]
    fn what_has_no_room_is_named() {
        let large = "x".repeat(20 * 1024);
        let (page, no_room) =
            agents_page("", &[memory("a", &large), memory("b", &large), memory("c", "small")]);
        assert_eq!(no_room, ["b"]);
        assert!(page.len() < MAX_BLOCK + 200 && page.contains("about c"));
    }
}
