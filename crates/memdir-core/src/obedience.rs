//! Whether the use of a tool breaks a rule of a feedback memory, and what is done about it.
//!
//! A rule looks at a command or at paths. A command is looked at whole and in its parts: who forbids `^git push --force`
//! means `cd web && git push --force` too. Patterns run in linear time whatever they are, and one that cannot be
//! compiled matches nothing. Look at [`judge`] first.

use regex::bytes::{Regex, RegexBuilder};

use crate::glob;
use crate::host::{Ruling, Tool, ToolKind};
use crate::memory::{self, Rule, Verb};

/// No compiled pattern is larger.
const MAX_PATTERN: usize = 1 << 20;

/// A rule and the memory that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The name of the memory.
    pub memory: String,
    /// What the memory says, in a line.
    pub says: String,
    /// The rule, as far as it counts for who said it.
    pub rule: Rule,
}

/// What the rules say about the use of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    /// What becomes of the call; nothing if no rule denies it or wants a question.
    pub ruling: Option<Ruling>,
    /// What the model is reminded of, a line each.
    pub reminders: Vec<String>,
    /// The memories whose rules matched, each once.
    pub broken: Vec<String>,
}

/// Holds the use of a tool against rules. `root` is the project's directory: globs are over paths below it.
pub fn judge(rules: &[Bound], tool: &Tool, root: &str) -> Judgement {
    let mut judgement = Judgement::default();
    for bound in rules.iter().filter(|bound| matches(&bound.rule, tool, root)) {
        let line = format!("{} (memory {})", bound.says, bound.memory);
        if !judgement.broken.contains(&bound.memory) {
            judgement.broken.push(bound.memory.clone());
        }
        match (bound.rule.verb, &judgement.ruling) {
            (Verb::Deny, Some(Ruling::Deny(_))) | (Verb::Ask, Some(_)) => {}
            (Verb::Deny, _) => judgement.ruling = Some(Ruling::Deny(line)),
            (Verb::Ask, None) => judgement.ruling = Some(Ruling::Ask(line)),
            (Verb::Remind, _) if judgement.reminders.contains(&line) => {}
            (Verb::Remind, _) => judgement.reminders.push(line),
        }
    }
    judgement
}

fn matches(rule: &Rule, tool: &Tool, root: &str) -> bool {
    match (rule.tool, tool.kind) {
        (memory::Tool::Bash, ToolKind::Shell) => runs(&rule.pattern, &tool.command),
        (memory::Tool::Edit, ToolKind::Edit) | (memory::Tool::Read, ToolKind::Read) => {
            touches(&rule.pattern, &tool.files, root)
        }
        (memory::Tool::Any, ToolKind::Shell) => runs(&rule.pattern, &tool.command),
        (memory::Tool::Any, _) => {
            touches(&rule.pattern, &tool.files, root) || runs(&rule.pattern, &tool.name)
        }
        _ => false,
    }
}

fn touches(pattern: &str, files: &[String], root: &str) -> bool {
    files.iter().any(|file| {
        let file = file.replace('\\', "/");
        let below = file.strip_prefix(root).map(|rest| rest.trim_start_matches('/'));
        glob::matches(pattern, below.unwrap_or(&file))
    })
}

/// Says what is wrong with the pattern of a rule: one that cannot be compiled would never match.
pub fn check(rule: &Rule) -> Result<(), String> {
    match rule.tool {
        memory::Tool::Bash | memory::Tool::Any => {
            compile(&rule.pattern).map(drop).map_err(|err| err.to_string())
        }
        memory::Tool::Edit | memory::Tool::Read => Ok(()),
    }
}

fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).unicode(false).size_limit(MAX_PATTERN).build()
}

/// Says whether a pattern is found in a command or at the beginning of one of its parts.
fn runs(pattern: &str, command: &str) -> bool {
    let Ok(pattern) = compile(pattern) else { return false };
    pattern.is_match(command.as_bytes()) || parts(command).any(|part| pattern.is_match(part.as_bytes()))
}

/// The simple commands of a command line, without the variables and helpers before them. Quotes are not looked at: a
/// part too many can only be one that somebody forbade.
fn parts(command: &str) -> impl Iterator<Item = &str> {
    let parts = command.split(['\n', ';', '|', '&', '(', ')', '`']);
    parts.map(bare).filter(|part| !part.is_empty())
}

/// Takes off what may stand before a command: `FOO=1`, `sudo`, `env`, `time`, `nice`, `command`, `exec`.
fn bare(part: &str) -> &str {
    let mut rest = part.trim();
    while let Some((word, behind)) = rest.split_once(char::is_whitespace) {
        let is_variable = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let is_helper = matches!(word, "sudo" | "env" | "time" | "nice" | "command" | "exec" | "nohup" | "$");
        if !is_variable && !is_helper {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::host::{Agent, Moment, read};

    fn bound(rule: &str) -> Bound {
        let says = "Never force-push; it lost work once.".to_owned();
        Bound { memory: "feedback-no-force".to_owned(), says, rule: rule.parse().unwrap() }
    }

    fn call(name: &str, key: &str, value: &str) -> Tool {
        let said = json!({ "tool_name": name, "tool_input": { key: value } });
        match read(Agent::ClaudeCode, "PreToolUse", &said).moment {
            Moment::BeforeTool(tool) => tool,
            other => panic!("{other:?}"),
        }
    }

    /// UX-01.
    #[test]
    fn a_forbidden_command_is_denied_wherever_it_stands() {
        let rules = [bound("deny bash ^git push --force")];
        for command in [
            "git push --force",
            "git push --force origin main",
            "cd web && git push --force",
            "make; GIT_TRACE=1 sudo git push --force",
            "(git push --force) || true",
            "true\n  git push --force",
        ] {
            let judged = judge(&rules, &call("Bash", "command", command), "/p");
            let said = "Never force-push; it lost work once. (memory feedback-no-force)";
            assert_eq!(judged.ruling, Some(Ruling::Deny(said.to_owned())), "{command}");
            assert_eq!(judged.broken, ["feedback-no-force"]);
        }
        for command in ["git push", "git push --follow-tags", "echo git push --force", "git pushx --force"] {
            assert_eq!(
                judge(&rules, &call("Bash", "command", command), "/p"),
                Judgement::default(),
                "{command}"
            );
        }
    }

    #[test]
    fn paths_are_those_of_the_project() {
        let rules = [bound("ask edit db/**"), bound("remind read *.lock")];
        let edit = |path: &str| judge(&rules, &call("Edit", "file_path", path), "/p").ruling.is_some();
        assert!(edit("/p/db/migrate.rs") && edit("db/migrate.rs"));
        assert!(!edit("/q/db/migrate.rs") && !edit("/p/src/db.rs"));
        let read = judge(&rules, &call("Read", "file_path", "/p/Cargo.lock"), "/p");
        assert_eq!((read.ruling, read.reminders.len()), (None, 1));
    }

    #[test]
    fn the_strictest_rule_decides_and_equal_reminders_are_one() {
        let rules = [
            bound("ask bash ^rm"),
            bound("deny bash ^rm -rf /"),
            bound("remind bash rm"),
            bound("remind bash rf"),
        ];
        let judged = judge(&rules, &call("Bash", "command", "rm -rf /"), "/p");
        assert!(matches!(judged.ruling, Some(Ruling::Deny(_))));
        assert_eq!((judged.reminders.len(), judged.broken.len()), (1, 1));
    }

    #[test]
    fn what_cannot_be_compiled_matches_nothing_and_nothing_is_slow() {
        assert_eq!(judge(&[bound("deny bash (")], &call("Bash", "command", "("), "/p"), Judgement::default());
        let long = "a".repeat(60_000);
        let judged = judge(&[bound("deny bash (a*)*(a*)*b$")], &call("Bash", "command", &long), "/p");
        assert_eq!(judged, Judgement::default());
    }
}
