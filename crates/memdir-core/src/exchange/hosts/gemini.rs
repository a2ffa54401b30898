//! Gemini CLI: a private page `MEMORY.md` with files beside it, and a section of GEMINI.md that older versions wrote.
//!
//! Files go over byte for byte. On the page our lines stand in a block; facts that Gemini wrote there itself come in one
//! by one.

use super::markdown::{block, first_words, items, sections, with_block};
use super::{Intake, Page};
use crate::memory::{INDEX_PAGE, Memory};

const BEGIN: &str = "<!-- memdir:begin export -->";
const END: &str = "<!-- memdir:end export -->";
/// Where older versions kept facts.
const ADDED: &str = "Gemini Added Memories";

/// Returns the page with a line for each memory, in our block.
pub fn gemini_page(page: &str, memories: &[Memory]) -> String {
    let mut lines = format!("{BEGIN}\n");
    for memory in memories {
        lines.push_str(&format!("- [{}]({}) — {}\n", memory.title(), memory.path, memory.description));
    }
    lines.push_str(&format!("{END}\n"));
    with_block(page, block(page, BEGIN, END), &lines)
}

/// Reads the directory of the private page, or a GEMINI.md.
pub fn from_gemini(pages: &[Page]) -> Intake {
    let mut intake = Intake::default();
    for (path, text) in pages {
        match path.as_str() {
            INDEX_PAGE => facts(path, &without_block(text), &mut intake),
            "GEMINI.md" => added(path, text, &mut intake),
            _ => {
                let stem = path.rsplit('/').next().unwrap_or(path);
                intake.take(path.clone(), stem.strip_suffix(".md").unwrap_or(stem), text);
            }
        }
    }
    intake
}

fn added(path: &str, text: &str, intake: &mut Intake) {
    let found = sections(text, "## ");
    let Some(section) = found.iter().find(|section| section.heading == ADDED) else {
        intake.left_out.push((path.to_owned(), "instructions for Gemini, which it reads itself"));
        return;
    };
    facts(path, section.text, intake);
}

/// Each item that does not lead to a file is a fact.
fn facts(path: &str, text: &str, intake: &mut Intake) {
    let is_link = |item: &String| item.starts_with('[') && item.contains("](");
    for item in items(text).into_iter().filter(|item| !is_link(item)) {
        let name = first_words(&item);
        intake.adapt(vec![(format!("{path}: {name}"), name, format!("{item}\n"))]);
    }
}

fn without_block(page: &str) -> String {
    block(page, BEGIN, END).map_or_else(|| page.to_owned(), |span| with_block(page, Some(span), ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Document, MemoryPath};

    const MEMORY: &str = "---\nname: project-x\ndescription: about x\ntype: project\n---\n\nbody\n";

    fn page(path: &str, text: &str) -> Page {
        (path.to_owned(), text.to_owned())
    }

    #[test]
    fn ux_24_facts_come_in_and_links_do_not() {
        let text = "# Index\n- prefers tabs over spaces\n- [x](x.md) about x\n";
        let found = from_gemini(&[page("MEMORY.md", text), page("x.md", "some note\n")]);
        let names: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["prefers-tabs-over-spaces.md", "x.md"]);
        let old = "# Mine\ndo this\n## Gemini Added Memories\n- my dog is Rex\n";
        assert_eq!(from_gemini(&[page("GEMINI.md", old)]).files[0].path.as_str(), "my-dog-is-rex.md");
        assert_eq!(from_gemini(&[page("GEMINI.md", "# Mine\n- a\n")]).left_out.len(), 1);
    }

    #[test]
    fn ux_24_what_was_exported_comes_back_and_the_page_keeps_its_own_text() {
        let path = MemoryPath::new("project-x.md").unwrap();
        let memory = Memory::read(&path, &Document::parse(MEMORY.as_bytes())).0;
        let mine = "# Mine\n- a fact\n";
        let written = gemini_page(mine, std::slice::from_ref(&memory));
        assert!(written.starts_with(mine) && written.contains("(project-x.md) — about x"), "{written}");
        assert_eq!(gemini_page(&written, std::slice::from_ref(&memory)), written);
        let found = from_gemini(&[page("MEMORY.md", &written), page("project-x.md", MEMORY)]);
        assert_eq!(found.files.len(), 2, "{found:?}");
        assert_eq!(found.files[1].bytes, MEMORY.as_bytes());
    }
}
