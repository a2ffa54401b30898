//! A small model chooses among what recall found.
//!
//! Recall has decided already, by itself, what is likely to help. A model sees the lines of those memories, never their
//! bodies, and may leave some out or put them in another order. It cannot add any: a name that is not on the list is
//! nobody's. Whatever it says that cannot be read chooses nothing; only where it does not answer at all does recall's
//! own order stand ([`select`]).

use memdir_core::memory::MemoryType;
use memdir_core::text::visible_line;
use serde::Deserialize;
use serde_json::json;

use crate::model::{Message, Model, ModelError, Request, Schema};

const SYSTEM: &str = include_str!("../../prompts/select.md");
/// As many are chosen at most.
pub const MAX_SELECTED: usize = 5;
/// As many lines a model is shown.
const MAX_LINES: usize = 40;
/// As much of what the user wrote.
const MAX_QUERY: usize = 4 * 1024;
/// As much of one line.
const MAX_LINE: usize = 400;
/// As many tools are named.
const MAX_TOOLS: usize = 20;
/// An answer is a few names.
const MAX_TOKENS: u32 = 512;

/// One memory to choose, by what its frontmatter says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its file, as the answer names it.
    pub file: String,
    /// Its type.
    pub memory_type: Option<MemoryType>,
    /// When it last changed, as in every manifest.
    pub modified: String,
    /// What it is about.
    pub description: String,
}

/// What is to be chosen from, and what for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// What the user wrote.
    pub query: String,
    /// What recall found, the most probable first.
    pub lines: Vec<Line>,
    /// Tools that were used just now.
    pub tools: Vec<String>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The model chose these, by their place in the question, in this order.
    Chosen(Vec<usize>),
    /// It did not answer: recall's own order stands.
    Unasked(ModelError),
}

impl Selection {
    /// Returns the places that are to be shown, of `n` that recall found.
    pub fn places(&self, n: usize) -> Vec<usize> {
        match self {
            Self::Chosen(places) => places.clone(),
            Self::Unasked(_) => (0..n.min(MAX_SELECTED)).collect(),
        }
    }
}

/// Asks a model to choose. With nothing to choose from it is not asked.
pub fn select(model: &mut dyn Model, question: &Question) -> Selection {
    if question.lines.is_empty() {
        return Selection::Chosen(Vec::new());
    }
    match model.ask(&request(question)) {
        Ok(answer) => Selection::Chosen(chosen(&answer.text(), &question.lines)),
        Err(err) => Selection::Unasked(err),
    }
}

/// Returns what the model is asked: the rules; then the query, the list, and the tools if there are any.
pub fn request(question: &Question) -> Request {
    let query = question.query.trim();
    let query = &query[..query.floor_char_boundary(MAX_QUERY)];
    let lines: Vec<String> = question.lines.iter().take(MAX_LINES).map(Line::shown).collect();
    let mut task = format!("Query: {query}\n\nAvailable memories:\n{}", lines.join("\n"));
    if !question.tools.is_empty() {
        let tools: Vec<String> =
            question.tools.iter().take(MAX_TOOLS).map(|tool| visible_line(tool).into_owned()).collect();
        task.push_str(&format!("\n\nRecently used tools: {}", tools.join(", ")));
    }
    Request {
        system: SYSTEM.replace("{most}", &MAX_SELECTED.to_string()),
        messages: vec![Message::user(task)],
        tools: Vec::new(),
        schema: Some(Schema {
            name: "selection".to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "selected_memories": { "type": "array", "items": { "type": "string" } } },
                "required": ["selected_memories"],
                "additionalProperties": false,
            }),
        }),
        max_tokens: MAX_TOKENS,
    }
}

impl Line {
    fn shown(&self) -> String {
        let memory_type = self.memory_type.map_or("?", MemoryType::as_str);
        let line = format!("- [{memory_type}] {} ({}): {}", self.file, self.modified, self.description);
        let line = visible_line(&line);
        line[..line.floor_char_boundary(MAX_LINE)].to_owned()
    }
}

#[derive(Deserialize)]
struct Selected {
    selected_memories: Vec<String>,
}

/// Reads an answer: which of the lines it names, in its order. What is not of the agreed form names none.
pub fn chosen(answer: &str, lines: &[Line]) -> Vec<usize> {
    let Ok(selected) = serde_json::from_str::<Selected>(answer.trim()) else { return Vec::new() };
    let mut places = Vec::new();
    for name in &selected.selected_memories {
        let is_named = |line: &Line| line.file == *name || line.file.strip_suffix(".md") == Some(name);
        let place = lines.iter().take(MAX_LINES).position(is_named);
        places.extend(place.filter(|place| !places.contains(place)));
    }
    places.truncate(MAX_SELECTED);
    places
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::model::{Answer, Part, Stop, Usage};

    struct Saying(Result<&'static str, ModelError>, Vec<Request>);

    impl Model for Saying {
        fn name(&self) -> &str {
            "saying"
        }

        fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
            self.1.push(request.clone());
            let text = self.0.clone()?;
            Ok(Answer { parts: vec![Part::Text(text.to_owned())], stop: Stop::End, usage: Usage::default() })
        }
    }

    fn line(file: &str, description: &str) -> Line {
        Line {
            file: file.to_owned(),
            memory_type: Some(MemoryType::Feedback),
            modified: "2026-04-01T10:30:00Z".to_owned(),
            description: description.to_owned(),
        }
    }

    fn question() -> Question {
        Question {
            query: "which database do the tests use?".to_owned(),
            lines: vec![
                line("testing-policy.md", "Integration tests must hit real database"),
                line("cargo-gotcha.md", "cargo: the lock file\nis shared"),
            ],
            tools: Vec::new(),
        }
    }

    fn answered(text: &'static str) -> Selection {
        select(&mut Saying(Ok(text), Vec::new()), &question())
    }

    /// R2-06, R2-17: the request, to the word.
    #[test]
    fn the_request_is_this() {
        let asked = request(&Question { tools: vec!["cargo".to_owned(), "git".to_owned()], ..question() });
        let Part::Text(task) = &asked.messages[0].parts[0] else { panic!() };
        expect![[r#"
            Query: which database do the tests use?

            Available memories:
            - [feedback] testing-policy.md (2026-04-01T10:30:00Z): Integration tests must hit real database
            - [feedback] cargo-gotcha.md (2026-04-01T10:30:00Z): cargo: the lock file\x0ais shared

            Recently used tools: cargo, git"#]]
        .assert_eq(task);
        expect![[r#"{"type":"object","properties":{"selected_memories":{"type":"array","items":{"type":"string"}}},"required":["selected_memories"],"additionalProperties":false}"#]].assert_eq(&asked.schema.unwrap().schema.to_string());
        assert!(asked.system.contains("Choose 5 at most") && !asked.system.contains('{'));
        let Part::Text(task) = &request(&question()).messages[0].parts[0] else { panic!() };
        assert!(!task.contains("Recently used tools") && task.ends_with("is shared"));
    }

    /// R2-08, R2-09: precision first, and what holds for tools in use.
    #[test]
    fn the_rules_prefer_nothing_to_a_guess() {
        for rule in [
            "If in doubt, leave it",
            "Nothing chosen is a good answer",
            "leave out memories that explain how to use them",
            "Keep warnings",
        ] {
            assert!(SYSTEM.contains(rule), "{rule}");
        }
    }

    #[test]
    fn it_can_reorder_and_leave_out_but_never_add() {
        let chose = |places: &[usize]| Selection::Chosen(places.to_vec());
        assert_eq!(
            answered(r#"{"selected_memories":["cargo-gotcha.md","testing-policy.md"]}"#),
            chose(&[1, 0])
        );
        assert_eq!(answered(r#"{"selected_memories":["cargo-gotcha"]}"#), chose(&[1]));
        assert_eq!(answered(r#"{"selected_memories":[]}"#), chose(&[]));
        let added = r#"{"selected_memories":["secrets.md","../testing-policy.md","testing-policy.md","testing-policy.md"]}"#;
        assert_eq!(answered(added), chose(&[0]));
    }

    /// R2-06: invalid JSON selects nothing.
    #[test]
    fn what_cannot_be_read_chooses_nothing() {
        for text in [
            "",
            "testing-policy.md",
            "{",
            "null",
            "[]",
            r#"{"selected":["testing-policy.md"]}"#,
            r#"{"selected_memories":"testing-policy.md"}"#,
            r#"{"selected_memories":[1]}"#,
            r#"Sure! {"selected_memories":["testing-policy.md"]}"#,
        ] {
            assert_eq!(answered(text), Selection::Chosen(Vec::new()), "{text}");
        }
    }

    /// R2-07.
    #[test]
    fn no_more_than_five_are_chosen() {
        let lines: Vec<Line> = (0..20).map(|n| line(&format!("m{n}.md"), "relevant")).collect();
        let names: Vec<&str> = lines.iter().map(|line| line.file.as_str()).collect();
        let answer = serde_json::json!({ "selected_memories": names }).to_string();
        assert_eq!(chosen(&answer, &lines), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn recalls_own_order_stands_where_nobody_answers() {
        let held = ModelError::Held("spent".to_owned());
        let mut model = Saying(Err(held.clone()), Vec::new());
        let selection = select(&mut model, &question());
        assert_eq!(selection, Selection::Unasked(held));
        assert_eq!((selection.places(2), selection.places(20)), (vec![0, 1], vec![0, 1, 2, 3, 4]));
        let nothing = Question { lines: Vec::new(), ..question() };
        assert_eq!(select(&mut model, &nothing), Selection::Chosen(Vec::new()));
        assert_eq!(model.1.len(), 1);
    }

    #[test]
    fn what_is_asked_has_its_limits() {
        let long = Question {
            query: "ä".repeat(100_000),
            lines: vec![line("a.md", &"ö".repeat(100_000)); 1_000],
            tools: vec!["t".to_owned(); 1_000],
        };
        let asked = request(&long);
        let Part::Text(task) = &asked.messages[0].parts[0] else { panic!() };
        assert!(task.len() < MAX_QUERY + MAX_LINES * (MAX_LINE + 2) + 200, "{}", task.len());
    }
}
