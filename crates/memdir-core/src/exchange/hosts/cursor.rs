//! Cursor: one rule a file, with the files it is for.
//!
//! A rule has three fields and a text. What a memory says beyond that does not fit, except its type, which a remark at
//! the end carries. A rule's fields are not quite YAML (`globs: *.ts`), so they are read by line.

use super::{Intake, Page};
use crate::memory::{Document, Draft, Memory, MemoryName, MemoryType, Provenance, Value, suggest_type};

/// Ends a rule that we wrote: `<!-- memdir feedback -->`.
const MARK: &str = "<!-- memdir ";

/// Returns a memory as a rule.
pub fn cursor_rule(memory: &Memory, body: &str) -> String {
    let kind = memory.memory_type.unwrap_or(MemoryType::Project);
    let description = memory.description.split_whitespace().collect::<Vec<_>>().join(" ");
    format!(
        "---\ndescription: {description}\nglobs: {}\nalwaysApply: {}\n---\n\n{}\n\n{MARK}{kind} -->\n",
        memory.paths.join(","),
        memory.pinned,
        body.trim_matches(['\n', '\r']).replace(MARK, "&lt;!-- memdir "),
    )
    .replace("globs: \n", "globs:\n")
}

/// Reads rules: `.mdc` files, and the one page that older versions had.
pub fn from_cursor(pages: &[Page]) -> Intake {
    let mut intake = Intake::default();
    for (path, text) in pages {
        let file = path.rsplit('/').next().unwrap_or(path);
        let stem = file.strip_suffix(".mdc").or_else(|| file.strip_suffix(".md")).unwrap_or(file);
        let stem = if stem == ".cursorrules" { "feedback-cursor-rules" } else { stem };
        match rule(path, stem, text) {
            Some((file, is_ours)) => {
                if is_ours {
                    intake.ours.push(file.path.clone());
                }
                intake.files.push(file);
            }
            None => intake
                .left_out
                .push((path.clone(), "there is no rule in it, or its name cannot be a memory's")),
        }
    }
    intake
}

fn rule(origin: &str, stem: &str, text: &str) -> Option<(super::Incoming, bool)> {
    let (fields, body) = split(text);
    let field = |key: &str| {
        let line = fields.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'));
        line.map(|value| value.trim().trim_matches(['"', '\'']).to_owned()).unwrap_or_default()
    };
    let (body, kind) = unmarked(body);
    let name = MemoryName::new(stem).ok().or_else(|| MemoryName::from_words(stem))?;
    let first = body
        .lines()
        .map(|line| line.trim_start_matches(['#', '-', '*', ' ']))
        .find(|line| !line.is_empty())?;
    let description =
        Some(field("description")).filter(|text| !text.is_empty()).unwrap_or_else(|| first.to_owned());
    let suggested = || match suggest_type(name.as_str(), &description) {
        // A rule says how to work, whatever it is about.
        MemoryType::Project => MemoryType::Feedback,
        other => other,
    };
    let mut draft = Draft::new(name.clone(), kind.unwrap_or_else(suggested), description);
    draft.pinned = field("alwaysApply") == "true";
    draft.provenance = Some(Provenance::Import);
    draft.source = vec![format!("import:{origin}")];
    draft.body = body.to_owned();
    let mut document = Document::parse(&draft.render());
    let globs = field("globs");
    let globs: Vec<&str> = globs
        .trim_matches(['[', ']'])
        .split(',')
        .map(|glob| glob.trim().trim_matches(['"', '\'']))
        .filter(|glob| !glob.is_empty())
        .collect();
    if !globs.is_empty() {
        document = document.set("paths", &Value::list(globs)).ok()?;
    }
    let bytes = document.bytes().to_owned();
    Some((super::Incoming { origin: origin.to_owned(), path: name.path(), bytes }, kind.is_some()))
}

/// Takes fields and text of a rule apart.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return ("", text);
    };
    match rest.find("\n---") {
        Some(end) => {
            let behind = &rest[end + 4..];
            (&rest[..end], behind.find('\n').map_or("", |at| &behind[at + 1..]))
        }
        None => ("", text),
    }
}

/// Takes our remark off the end.
fn unmarked(body: &str) -> (&str, Option<MemoryType>) {
    let body = body.trim_matches(['\n', '\r']);
    let found = body.rfind(MARK).and_then(|at| {
        let word = body[at + MARK.len()..].trim_end().strip_suffix(" -->")?;
        Some((at, word.parse::<MemoryType>().ok()?))
    });
    match found {
        Some((at, kind)) => (body[..at].trim_end_matches(['\n', '\r']), Some(kind)),
        None => (body, None),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::memory::MemoryPath;

    fn read(text: &str) -> Memory {
        let intake = from_cursor(&[("rules/my-rule.mdc".to_owned(), text.to_owned())]);
        let file = &intake.files[0];
        Memory::read(&file.path, &Document::parse(&file.bytes)).0
    }

    #[test]
    fn ux_24_a_rule_becomes_a_memory_with_its_files() {
        let memory = read(
            "---\ndescription: How to write handlers\nglobs: *.ts, src/**/*.tsx\nalwaysApply: true\n---\n\nUse zod.\n",
        );
        assert_eq!(memory.paths, ["*.ts", "src/**/*.tsx"]);
        assert_eq!((memory.name.as_str(), memory.pinned), ("my-rule", true));
        assert_eq!(memory.memory_type, Some(MemoryType::Feedback));
        assert_eq!(read("just text\n").description, "just text");
        let empty = from_cursor(&[("a.mdc".to_owned(), "---\nglobs:\n---\n".to_owned())]);
        assert_eq!((empty.files.len(), empty.left_out.len()), (0, 1));
    }

    #[test]
    fn ux_24_what_was_exported_comes_back() {
        let text = "---\nname: my-rule\ndescription: \"d: # e\"\ntype: reference\nmetadata:\n  pinned: true\n  paths:\n    - \"*.rs\"\n    - docs/**\n---\n\n# Head\n\nbody\n";
        let path = MemoryPath::new("my-rule.md").unwrap();
        let document = Document::parse(text.as_bytes());
        let memory = Memory::read(&path, &document).0;
        let rule = cursor_rule(&memory, &String::from_utf8_lossy(document.body()));
        expect![[r#"
            ---
            description: d: # e
            globs: *.rs,docs/**
            alwaysApply: true
            ---

            # Head

            body

            <!-- memdir reference -->
        "#]]
        .assert_eq(&rule);
        let back = read(&rule);
        assert_eq!(
            (&back.name, &back.description, back.memory_type, &back.paths, back.pinned),
            (&memory.name, &memory.description, memory.memory_type, &memory.paths, memory.pinned)
        );
        let intake = from_cursor(&[("my-rule.mdc".to_owned(), rule)]);
        assert_eq!(Document::parse(&intake.files[0].bytes).body(), document.body());
        assert_eq!(intake.ours.len(), 1);
    }
}
