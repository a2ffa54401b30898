//! An agent of the user's that answers by its own login: `claude -p`, `codex exec`.
//!
//! It is started for one question, in an empty directory, without its tools and without hooks: nothing it starts may
//! start us again (`MEMDIR_OFF` says so to whatever of ours is called all the same). What it is asked goes by its standard
//! input, never by its arguments, which everybody on the machine can read; it leaves no session behind. Claude Code can
//! also be forked from the session that is running ([`Agent::forked_from`]): the request then begins with the very bytes
//! of that session, so its prompt cache is read and not paid for again. There tools must stay in the request, since they
//! are its beginning, and a hook that is given with the call refuses each use of one.

mod child;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memdir_store::disk::{Dir, random_hex};
use serde_json::Value;

use super::open::Env;
use super::spoken;
use super::wire::short;
use super::{Answer, Model, ModelError, Request, Usage};
use child::Child;

/// For a whole answer.
const WHOLE: Duration = Duration::from_secs(180);
/// The directory below the state root in which agents are started.
const ASKING: &str = "asking";
/// What Claude Code reads beyond a question, when it gets instructions and no tools; measured: 500.
const CLAUDE_OVERHEAD: u64 = 2_000;
/// What Codex reads beyond a question; measured: 9,200.
const CODEX_OVERHEAD: u64 = 15_000;
/// What a session may hold that is forked from, where nobody knows what it does.
const FORK_OVERHEAD: u64 = 200_000;
/// What a session may have grown by since its last request told what it holds.
const FORK_GROWTH: u64 = 4_000;
/// Refuses each use of a tool, for a fork. Other people's settings stay as they are: they hold the login.
const NO_TOOLS: &str = r#"{"hooks":{"PreToolUse":[{"matcher":"","hooks":[{"type":"command","command":"echo 'no tools here' >&2; exit 2"}]}]}}"#;

/// Which agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl Host {
    /// Returns the name of its program.
    pub fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// An agent that is asked.
#[derive(Debug)]
pub struct Agent {
    host: Host,
    program: PathBuf,
    model: Option<String>,
    name: String,
    home: PathBuf,
    env: Vec<(OsString, OsString)>,
    fork: Option<Fork>,
    limit: Duration,
    begun: u32,
}

/// The session whose beginning is shared.
#[derive(Debug)]
struct Fork {
    session: String,
    project: PathBuf,
    /// What it reads at most before the question.
    tokens: u64,
}

impl Agent {
    /// Makes ready to ask the agent at `program`, for its own model or the named one.
    pub fn new(host: Host, program: PathBuf, model: Option<&str>, env: &Env) -> Self {
        let name = match model {
            Some(model) => format!("{}/{model}", host.program()),
            None => host.program().to_owned(),
        };
        let (model, home) = (model.map(str::to_owned), env.home().to_owned());
        Self { host, program, model, name, home, env: env.for_children(), fork: None, limit: WHOLE, begun: 0 }
    }

    /// Asks as a fork of a session of Claude Code in `project`, which shares its beginning. The session's own model
    /// answers. Other agents cannot, and are asked anew.
    #[must_use]
    pub fn forked_from(mut self, session: &str, project: &Path) -> Self {
        let is_plain = !session.is_empty() && session.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if self.host == Host::Claude && is_plain && !session.starts_with('-') {
            let (session, project) = (session.to_owned(), project.to_owned());
            self.fork = Some(Fork { session, project, tokens: FORK_OVERHEAD });
        }
        self
    }

    /// Says what the last request of the session that is forked from read, in tokens: so much is paid for again at most.
    #[must_use]
    pub fn holding(mut self, tokens: u64) -> Self {
        if let Some(fork) = self.fork.as_mut().filter(|_| tokens > 0) {
            fork.tokens = tokens.saturating_add(tokens / 4).saturating_add(FORK_GROWTH);
        }
        self
    }

    /// Says whether it is asked as a fork of a session.
    pub fn is_forked(&self) -> bool {
        self.fork.is_some()
    }

    fn arguments(&self, instructions: &Path) -> Vec<OsString> {
        let words: &[&str] = match (self.host, &self.fork) {
            (Host::Claude, None) => &[
                "-p",
                "--output-format",
                "json",
                "--no-session-persistence",
                "--safe-mode",
                "--strict-mcp-config",
                "--tools",
                "",
                "--settings",
                r#"{"disableAllHooks":true}"#,
                "--system-prompt-file",
            ],
            (Host::Claude, Some(_)) => &[
                "-p",
                "--output-format",
                "json",
                "--no-session-persistence",
                "--max-turns",
                "1",
                "--settings",
                NO_TOOLS,
                "--fork-session",
                "--resume",
            ],
            (Host::Codex, _) => &[
                "exec",
                "--json",
                "--ephemeral",
                "--skip-git-repo-check",
                "--ignore-rules",
                "-s",
                "read-only",
                "--disable",
                "hooks",
                "--disable",
                "plugins",
                "--disable",
                "apps",
                "--disable",
                "shell_tool",
                "-c",
                "project_doc_max_bytes=0",
            ],
        };
        let mut words: Vec<OsString> = words.iter().map(OsString::from).collect();
        match (self.host, &self.fork) {
            (Host::Claude, Some(fork)) => words.push(OsString::from(&fork.session)),
            (Host::Claude, None) => words.push(instructions.as_os_str().to_owned()),
            (Host::Codex, _) => {}
        }
        let is_forked = self.fork.is_some();
        if let Some(model) = self.model.as_ref().filter(|_| !is_forked) {
            words.extend([OsString::from("--model"), OsString::from(model)]);
        }
        if self.host == Host::Codex {
            words.push(OsString::from("-"));
        }
        words
    }

    /// What is written to its standard input. Only Claude Code takes instructions apart, and not in a fork.
    fn input(&self, request: &Request) -> String {
        let prompt = spoken::prompt(request);
        let apart = self.host == Host::Claude && self.fork.is_none();
        if apart || request.system.is_empty() { prompt } else { format!("{}\n\n{prompt}", request.system) }
    }

    fn read(&self, output: &str) -> Result<(String, Usage), ModelError> {
        match self.host {
            Host::Claude => read_claude(output),
            Host::Codex => read_codex(output),
        }
    }
}

/// The file from which an agent reads its instructions, for as long as it runs.
struct Instructions<'d> {
    dir: &'d Dir,
    name: String,
}

impl<'d> Instructions<'d> {
    fn write(dir: &'d Dir, text: &str) -> io::Result<Self> {
        let name = format!("{}.md", random_hex()?);
        dir.replace(&name, text.as_bytes())?;
        Ok(Self { dir, name })
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join(&self.name)
    }
}

impl Drop for Instructions<'_> {
    fn drop(&mut self) {
        let _ = self.dir.remove(&self.name);
    }
}

impl Model for Agent {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
        let failed = |err: io::Error| ModelError::Unreachable(format!("{}: {err}", self.host.program()));
        let place = Dir::ensure(&self.home).and_then(|home| home.ensure_sub(ASKING)).map_err(failed)?;
        let instructions = Instructions::write(&place, &request.system).map_err(failed)?;
        let child = Child {
            program: &self.program,
            arguments: self.arguments(&instructions.path()),
            env: &self.env,
            cwd: self.fork.as_ref().map_or(place.path(), |fork| &fork.project),
            input: self.input(request),
            limit: self.limit,
        };
        // Until it has said what it took, it may have taken anything.
        self.begun = 1;
        let (said, usage) = self.read(&child.run()?)?;
        self.begun = 0;
        Ok(spoken::answer(request, &said, usage))
    }

    fn service(&self) -> &str {
        self.host.program()
    }

    fn begun(&self) -> u32 {
        self.begun
    }

    fn limit_time(&mut self, limit: Duration) {
        self.limit = limit.min(WHOLE);
    }

    fn overhead(&self) -> u64 {
        match (self.host, &self.fork) {
            (_, Some(fork)) => fork.tokens,
            (Host::Claude, None) => CLAUDE_OVERHEAD,
            (Host::Codex, None) => CODEX_OVERHEAD,
        }
    }

    fn is_metered(&self) -> bool {
        // By its own login, most often a subscription. Tokens count all the same.
        false
    }
}

fn read_claude(output: &str) -> Result<(String, Usage), ModelError> {
    let value: Value = serde_json::from_str(output.trim())
        .map_err(|_| ModelError::Malformed("claude did not answer in JSON".to_owned()))?;
    let said = value["result"].as_str().unwrap_or_default();
    if value["is_error"] == true || value["subtype"] != "success" {
        let why = value["errors"][0].as_str().unwrap_or(said);
        return Err(ModelError::Refused(format!("claude: {}", short(why))));
    }
    let tokens = |key: &str| value["usage"][key].as_u64().unwrap_or_default();
    let usage = Usage {
        input: tokens("input_tokens"),
        cached: tokens("cache_read_input_tokens"),
        stored: tokens("cache_creation_input_tokens"),
        output: tokens("output_tokens"),
    };
    Ok((said.to_owned(), usage))
}

fn read_codex(output: &str) -> Result<(String, Usage), ModelError> {
    let (mut said, mut usage) = (None, None);
    for line in output.lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        match value["type"].as_str() {
            Some("item.completed") if value["item"]["type"] == "agent_message" => {
                said = value["item"]["text"].as_str().map(str::to_owned);
            }
            Some("turn.completed") => {
                let tokens = |key: &str| value["usage"][key].as_u64().unwrap_or_default();
                let cached = tokens("cached_input_tokens").min(tokens("input_tokens"));
                let input = tokens("input_tokens") - cached;
                usage = Some(Usage { input, cached, stored: 0, output: tokens("output_tokens") });
            }
            Some("turn.failed" | "error") => {
                let why = value["error"]["message"].as_str().or_else(|| value["message"].as_str());
                return Err(ModelError::Refused(format!("codex: {}", short(why.unwrap_or_default()))));
            }
            _ => {}
        }
    }
    match (said, usage) {
        (Some(said), Some(usage)) => Ok((said, usage)),
        _ => Err(ModelError::Malformed("codex did not finish its turn".to_owned())),
    }
}

#[cfg(test)]
mod tests;
