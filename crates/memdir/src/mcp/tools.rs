//! The tools, described once: what a host lists and what a call runs stand in one table.
//!
//! The table never changes while the server runs, and its order is that of the names: a host that caches what it sends to
//! the model by its beginning keeps its cache. Descriptions are constants; nothing of a memory is in them.

use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::desk::Desk;
use super::reply::Reply;
use super::{checks, facts, memory, search, sessions};
use crate::failure::Failure;

/// Tells Claude Code to show a tool to the model from the start.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// One tool.
pub(super) struct Spec {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    properties: fn() -> Value,
    required: &'static [&'static str],
    effect: Effect,
    /// Whether the model should see it from the start.
    is_first: bool,
    /// Answers a call; without a desk memory is off, and the answer is that of an empty vault.
    pub(super) run: fn(&Arguments, Option<&Desk>) -> Result<Reply, Failure>,
}

/// What a tool does to what is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing.
    Reads,
    /// It adds, or brings up to date what is derived.
    Adds,
    /// It can also change and remove.
    Changes,
}

/// The tools, in the order of their names.
pub(super) const TOOLS: [Spec; 7] = [
    Spec {
        name: "check_stale",
        title: "What lies idle",
        description: "List memories of all projects that nobody changed or used for some days (14 for a dashboard, 30 for a monthly review). Idle is not wrong: look whether each still holds.",
        properties: || json!({ "days": { "type": "integer", "minimum": 0, "maximum": checks::MAX_DAYS, "default": checks::DAYS, "description": "Idle for at least this many days" } }),
        required: &[],
        effect: Effect::Reads,
        is_first: false,
        run: checks::check_stale,
    },
    Spec {
        name: "extract_facts",
        title: "What may be worth remembering",
        description: "Find what the user said in a conversation that may be worth remembering: candidates with type, scope, name and the words that speak for them. Saves nothing. Without arguments the last session of this project is read.",
        properties: || {
            json!({
                "text": { "type": "string", "maxLength": 102_400, "description": "A conversation: lines of a session file, or text with `User:` and `Assistant:` before what each said" },
                "session": { "type": "string", "maxLength": 200, "description": "A session of this project, by the beginning of its id" },
            })
        },
        required: &[],
        effect: Effect::Reads,
        is_first: false,
        run: facts::run,
    },
    Spec {
        name: "index_markdown",
        title: "Bring the index up to date",
        description: "Take up memory files that changed since they were indexed, by their content. Searching does this by itself; call it after writing many files.",
        properties: || json!({}),
        required: &[],
        effect: Effect::Adds,
        is_first: false,
        run: checks::index_markdown,
    },
    Spec {
        name: "log_session",
        title: "Write the journal",
        description: "Write what a session did, decided and left unfinished into the project's journal, at its end or at a milestone. Entries never change; a later session is told what is open.",
        properties: || {
            let list = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "maxItems": 200, "description": description });
            json!({
                "summary": { "type": "string", "maxLength": 16_384, "description": "What was done, in a few sentences" },
                "decisions": list("What was decided, each with its reason"),
                "unfinished": list("What is not done yet"),
                "related": list("Memories, projects or files it has to do with"),
            })
        },
        required: &["summary"],
        effect: Effect::Adds,
        is_first: false,
        run: sessions::run,
    },
    Spec {
        name: "memory",
        title: "Memory files",
        description: "View, create, edit, delete and rename this project's memories: small markdown files below /memories, one fact each. Give a new one frontmatter with `name` (the file's name without .md), `description` (one line that decides when it is recalled) and `type` (user, feedback, project or reference), and say why. Change the file that already tells of something rather than adding a second one. MEMORY.md, the index, follows by itself. Deleted files can be had back.",
        properties: || {
            json!({
                "command": { "type": "string", "enum": memdir_core::memory_tool::COMMANDS, "description": "What to do" },
                "path": { "type": "string", "maxLength": 1_024, "description": "For all but rename: /memories, or a file below it that ends in .md" },
                "view_range": { "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2, "description": "For view: first and last line; -1 is the end" },
                "file_text": { "type": "string", "maxLength": 102_400, "description": "For create" },
                "old_str": { "type": "string", "maxLength": 102_400, "description": "For str_replace: the text as the file has it, in one place only" },
                "new_str": { "type": "string", "maxLength": 102_400, "description": "For str_replace" },
                "insert_line": { "type": "integer", "minimum": 0, "description": "For insert: behind this line; 0 is the beginning" },
                "insert_text": { "type": "string", "maxLength": 102_400, "description": "For insert" },
                "old_path": { "type": "string", "maxLength": 1_024, "description": "For rename" },
                "new_path": { "type": "string", "maxLength": 1_024, "description": "For rename" },
            })
        },
        required: &["command"],
        effect: Effect::Changes,
        is_first: true,
        run: memory::run,
    },
    Spec {
        name: "search_memory",
        title: "Search memory",
        description: "Search what is remembered of this project and this user, by words and meaning: memories, the journal of past sessions, and what was said in them. Use it when earlier work, decisions or preferences bear on the task, when asked to recall, or to see whether an error was met before (give its text). Results say how old they are and what was checked: where the code differs, the code is right.",
        properties: || {
            json!({
                "query": { "type": "string", "minLength": 1, "maxLength": 102_400, "description": "What to look for, in plain words, or an error text" },
                "limit": { "type": "integer", "minimum": 1, "maximum": search::MAX_LIMIT, "default": search::LIMIT, "description": "At most this many" },
                "layers": { "type": "array", "items": { "type": "string", "enum": ["memory", "journal", "transcript"] }, "description": "Where to look; by default memory and journal, and what was said in sessions if those have nothing" },
                "all_projects": { "type": "boolean", "default": false, "description": "Also in the memories of other projects" },
                "select": { "type": "boolean", "default": false, "description": "Have the host's own model choose among the memories found, where the user set that up and the host lends it" },
            })
        },
        required: &["query"],
        effect: Effect::Reads,
        is_first: true,
        run: search::run,
    },
    Spec {
        name: "validate_placement",
        title: "Where a text belongs",
        description: "Say whether a text belongs into a file, and where it would be read by those it is for: rules into CLAUDE.md, state into STATUS.md, decisions into docs/decisions/, what no file shows into a memory.",
        properties: || {
            json!({
                "text": { "type": "string", "minLength": 1, "maxLength": 102_400, "description": "What is to be written" },
                "target": { "type": "string", "minLength": 1, "maxLength": 1_024, "description": "Where: a path, docs/decisions/, or memory:user, memory:feedback, memory:project, memory:reference" },
            })
        },
        required: &["text", "target"],
        effect: Effect::Reads,
        is_first: false,
        run: checks::validate_placement,
    },
];

/// Returns the tools as they are listed; made once.
pub(super) fn listed() -> &'static [Tool] {
    static LISTED: OnceLock<Vec<Tool>> = OnceLock::new();
    LISTED.get_or_init(|| TOOLS.iter().map(Spec::listed).collect())
}

/// Finds a tool by its name.
pub(super) fn find(name: &str) -> Option<&'static Spec> {
    TOOLS.iter().find(|spec| spec.name == name)
}

impl Spec {
    fn listed(&self) -> Tool {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::Reads)
            .destructive(self.effect == Effect::Changes)
            .idempotent(self.effect != Effect::Changes)
            .open_world(false);
        let tool = Tool::new(self.name, self.description, Arc::new(self.schema()))
            .with_title(self.title)
            .with_annotations(annotations);
        if !self.is_first {
            return tool;
        }
        let mut meta = MetaObject::new();
        meta.insert(ALWAYS_LOAD.to_owned(), Value::Bool(true));
        tool.with_meta(meta)
    }

    fn schema(&self) -> JsonObject {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), (self.properties)());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MH-01.
    #[test]
    fn seven_tools_sorted_and_short() {
        let names: Vec<&str> = TOOLS.iter().map(|spec| spec.name).collect();
        assert_eq!(
            names,
            [
                "check_stale",
                "extract_facts",
                "index_markdown",
                "log_session",
                "memory",
                "search_memory",
                "validate_placement"
            ]
        );
        assert!(names.is_sorted());
        for tool in listed() {
            let description = tool.description.as_deref().unwrap_or_default();
            assert!(description.len() < 700, "{}: {}", tool.name, description.len());
            assert!(tool.output_schema.is_none(), "structured answers hide the text");
        }
        let first: Vec<&str> =
            listed().iter().filter(|tool| tool.meta.is_some()).map(|tool| tool.name.as_ref()).collect();
        assert_eq!(first, ["memory", "search_memory"]);
    }
}
