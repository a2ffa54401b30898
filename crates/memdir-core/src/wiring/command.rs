//! The commands that hosts are told to run, and how they are told from other people's.
//!
//! An entry in a settings file is ours if its command is: a program called `memdir`, wherever it is, that is run as
//! `memdir hook AGENT EVENT` or `memdir mcp`. No mark of our own is needed, and an entry survives being moved or
//! formatted by hand.

use crate::host::Agent;

/// What a program of ours is called as a server.
pub const SERVER: &str = "memdir";

/// A hook command taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// The program, a path as a rule.
    pub program: String,
    /// Whose hook it is.
    pub agent: Agent,
    /// The event in the host's spelling.
    pub event: String,
}

impl HookCall {
    /// Returns the command line, for a shell.
    pub fn to_line(&self) -> String {
        format!("{} hook {} {}", quoted(&self.program), self.agent.as_str(), self.event)
    }

    /// Reads a command line; `None` if it is not ours.
    pub fn parse(line: &str) -> Option<Self> {
        let words = words(line)?;
        let [program, verb, agent, event] = words.as_slice() else { return None };
        (verb == "hook" && is_memdir(program)).then_some(())?;
        Some(Self { program: program.clone(), agent: Agent::parse(agent)?, event: event.clone() })
    }
}

/// Says whether a program is some memdir, by its file name.
pub fn is_memdir(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    name == "memdir" || name.starts_with("memdir-")
}

/// Says whether these words start our MCP server.
pub(super) fn is_server(words: &[String]) -> bool {
    matches!(words, [program, verb] if verb == "mcp" && is_memdir(program))
}

/// Returns a word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Splits a command line as a shell does; `None` if it holds anything but words.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => word.push(chars.next()?),
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            ';' | '|' | '&' | '<' | '>' | '`' | '$' | '(' | ')' | '\n' => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_back_whatever_the_path() {
        for program in ["/usr/bin/memdir", "/home/a b/it's/memdir", "/opt/memdir-0.2", "/x/$HOME;rm/memdir"] {
            let call = HookCall {
                program: program.to_owned(),
                agent: Agent::Gemini,
                event: "BeforeAgent".to_owned(),
            };
            assert_eq!(HookCall::parse(&call.to_line()), Some(call), "{program}");
        }
        assert_eq!(HookCall::parse("memdir hook claude Stop").unwrap().agent, Agent::ClaudeCode);
    }

    #[test]
    fn commands_of_others_are_not_ours() {
        for line in [
            "/usr/bin/memdir2 hook codex Stop",
            "memdir hook codex",
            "memdir hook nobody Stop",
            "memdir save x Stop",
            "memdir hook codex Stop; rm -rf /",
            "memdir hook codex Stop extra",
            "notmemdir hook codex Stop",
            "'memdir hook codex Stop",
            "",
        ] {
            assert_eq!(HookCall::parse(line), None, "{line}");
        }
    }
}
