//! The hosts' names for the same things.

use super::Agent;

/// Which moment an event is, without what was said at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Start,
    Prompt,
    BeforeTool,
    AfterTool,
    ToolFailed,
    BeforeCompaction,
    AfterCompaction,
    Stop,
    SubagentStart,
    SubagentStop,
    End,
    Other,
}

/// Says which moment an event is. Names are compared by their letters: `user-prompt-submit` is `UserPromptSubmit`.
pub(super) fn kind_of(agent: Agent, event: &str) -> Kind {
    let letters: String =
        event.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    match (agent, letters.as_str()) {
        (_, "sessionstart" | "start") => Kind::Start,
        (_, "userpromptsubmit" | "userpromptsubmitted" | "beforeagent" | "beforesubmitprompt" | "prompt") => {
            Kind::Prompt
        }
        (_, "pretooluse" | "beforetool" | "beforeshellexecution" | "beforereadfile") => Kind::BeforeTool,
        (_, "posttooluse" | "aftertool" | "afterfileedit" | "aftershellexecution") => Kind::AfterTool,
        (_, "posttoolusefailure" | "toolfailed") => Kind::ToolFailed,
        // Gemini announces it before every call of the model: it means nothing there.
        (Agent::Gemini, "precompress") => Kind::Other,
        (_, "precompact" | "precompress" | "beforecompaction") => Kind::BeforeCompaction,
        (_, "postcompact" | "aftercompaction") => Kind::AfterCompaction,
        (_, "stop" | "afteragent" | "agentstop") => Kind::Stop,
        (_, "subagentstart") => Kind::SubagentStart,
        (_, "subagentstop") => Kind::SubagentStop,
        (_, "sessionend" | "end") => Kind::End,
        _ => Kind::Other,
    }
}

/// What a tool is called, in lower case, and what it does.
pub(crate) const SHELLS: [&str; 9] = [
    "bash",
    "shell",
    "run_shell_command",
    "local_shell",
    "exec_command",
    "powershell",
    "developer__shell",
    "run_in_terminal",
    "runinterminal",
];
pub(crate) const EDITORS: [&str; 22] = [
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "apply_patch",
    "replace",
    "write_file",
    "create",
    "str_replace",
    "strreplace",
    "str_replace_editor",
    "patch",
    "developer__text_editor",
    "developer__write",
    "developer__edit",
    "replace_string_in_file",
    "create_file",
    "insert_edit_into_file",
    "multi_replace_string_in_file",
    "edit_notebook_file",
    "editfiles",
    "tabwrite",
];
pub(super) const READERS: [&str; 6] = ["read", "read_file", "view", "read_many_files", "readfile", "cat"];
