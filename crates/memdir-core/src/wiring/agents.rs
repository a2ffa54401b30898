//! Which files an agent reads, for the user and for one project, and what we put there.
//!
//! Where two kinds of wiring are possible the one is taken that can be removed most cleanly: a file of our own before an
//! entry in a shared one, and never both.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Content;
use super::command::{HookCall, SERVER};
use super::events::{Event, events};
use super::settings::Settings;
use crate::host::Agent;

/// For whom an agent is told of us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In all projects of this user.
    User,
    /// In one project only.
    Project,
}

/// Where agents keep their settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// The user's home.
    pub home: PathBuf,
    /// Where programs keep settings: `~/.config` as a rule.
    pub config: PathBuf,
    /// Claude Code's directory.
    pub claude: PathBuf,
    /// The file in which Claude Code keeps the user's servers.
    pub claude_state: PathBuf,
    /// Codex's directory.
    pub codex: PathBuf,
    /// Gemini CLI's directory.
    pub gemini: PathBuf,
    /// Copilot CLI's directory.
    pub copilot: PathBuf,
    /// The project.
    pub project: Option<PathBuf>,
    /// The root of the file system, below which administrators keep settings.
    pub system: PathBuf,
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Hooks,
    Server,
    /// Hooks and server in one file.
    Both,
    /// Needed beside the hooks.
    Manifest,
    /// The address of the gateway.
    Address,
}

/// A file of a host, and what we want in it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostFile {
    /// Where it is.
    pub path: PathBuf,
    /// Other names under which the host reads it; one that exists is taken instead.
    pub others: Vec<PathBuf>,
    /// What it is for.
    pub part: Part,
    /// Whether nobody but us makes such a file.
    pub is_own: bool,
    /// What we want in it.
    pub content: Content,
}

/// By what an agent is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signs {
    /// Directories and files that only it makes.
    pub paths: Vec<PathBuf>,
    /// What its program is called.
    pub programs: &'static [&'static str],
}

/// Returns by what an agent is recognised.
pub fn signs(agent: Agent, at: &Directories) -> Signs {
    let (paths, programs): (Vec<PathBuf>, &'static [&'static str]) = match agent {
        Agent::ClaudeCode => (vec![at.claude_state.clone(), at.claude.clone()], &["claude"]),
        Agent::Codex => (vec![at.codex.clone()], &["codex"]),
        Agent::Gemini => (vec![at.gemini.join("settings.json"), at.gemini.join("tmp")], &["gemini"]),
        Agent::Opencode => (vec![at.config.join("opencode")], &["opencode"]),
        Agent::Copilot => (vec![at.copilot.clone()], &["copilot"]),
        Agent::Cursor => (vec![at.home.join(".cursor")], &["cursor", "cursor-agent"]),
        Agent::VsCode => (vec![at.config.join("Code"), at.home.join(".vscode")], &["code"]),
        Agent::Goose => (vec![at.config.join("goose")], &["goose"]),
    };
    Signs { paths, programs }
}

/// Returns the files that tell an agent of us; none if the agent has none in this scope.
pub fn files(agent: Agent, scope: Scope, at: &Directories, program: &str) -> Vec<HostFile> {
    let hooks = || hooks(agent, program);
    match scope {
        Scope::User => user_files(agent, at, program, hooks()),
        Scope::Project => {
            at.project.as_deref().map_or_else(Vec::new, |root| project_files(agent, root, program, hooks()))
        }
    }
}

fn user_files(agent: Agent, at: &Directories, program: &str, hooks: Settings) -> Vec<HostFile> {
    let server = |key| with_server(Settings::default(), key, agent, program);
    match agent {
        Agent::ClaudeCode => vec![
            json_file(at.claude.join("settings.json"), Part::Hooks, hooks),
            json_file(at.claude_state.clone(), Part::Server, server("mcpServers")),
        ],
        Agent::Codex => codex_files(&at.codex, program, hooks),
        Agent::Gemini => {
            let settings = with_server(hooks, "mcpServers", agent, program);
            vec![json_file(at.gemini.join("settings.json"), Part::Both, settings)]
        }
        Agent::Opencode => {
            let script = at.config.join("opencode/plugin/memdir.js");
            opencode_files(script, opencode_settings(at), server("mcp"), program)
        }
        Agent::Copilot => vec![
            own_file(at.copilot.join("hooks/memdir.json"), Part::Hooks, hooks),
            json_file(at.copilot.join("mcp-config.json"), Part::Server, server("mcpServers")),
        ],
        Agent::Cursor => cursor_files(&at.home.join(".cursor"), server("mcpServers"), hooks),
        Agent::VsCode => Vec::new(),
        Agent::Goose => {
            let plugin = at.home.join(".agents/plugins/memdir");
            let mut files = goose_plugin(&plugin, hooks);
            let content = Content::Yaml { program: program.to_owned() };
            let path = at.config.join("goose/config.yaml");
            files.push(HostFile { path, others: Vec::new(), part: Part::Server, is_own: false, content });
            files
        }
    }
}

fn project_files(agent: Agent, root: &Path, program: &str, hooks: Settings) -> Vec<HostFile> {
    let server = |key| with_server(Settings::default(), key, agent, program);
    match agent {
        Agent::ClaudeCode => vec![
            // The one that is not shared: it names a program of this machine.
            json_file(root.join(".claude/settings.local.json"), Part::Hooks, hooks),
            json_file(root.join(".mcp.json"), Part::Server, server("mcpServers")),
        ],
        Agent::Codex => codex_files(&root.join(".codex"), program, hooks),
        Agent::Gemini => {
            let settings = with_server(hooks, "mcpServers", agent, program);
            vec![json_file(root.join(".gemini/settings.json"), Part::Both, settings)]
        }
        Agent::Opencode => {
            let names = ["opencode.json", "opencode.jsonc"].map(|name| root.join(name));
            opencode_files(root.join(".opencode/plugin/memdir.js"), names.to_vec(), server("mcp"), program)
        }
        Agent::Copilot => vec![
            own_file(root.join(".github/hooks/memdir.json"), Part::Hooks, hooks),
            json_file(root.join(".github/mcp.json"), Part::Server, server("mcpServers")),
        ],
        Agent::Cursor => cursor_files(&root.join(".cursor"), server("mcpServers"), hooks),
        Agent::VsCode => vec![
            own_file(root.join(".github/hooks/memdir-vscode.json"), Part::Hooks, hooks),
            json_file(root.join(".vscode/mcp.json"), Part::Server, server("servers")),
        ],
        Agent::Goose => Vec::new(),
    }
}

fn json_file(path: PathBuf, part: Part, settings: Settings) -> HostFile {
    HostFile { path, others: Vec::new(), part, is_own: false, content: Content::Json(settings) }
}

fn own_file(path: PathBuf, part: Part, settings: Settings) -> HostFile {
    HostFile { is_own: true, ..json_file(path, part, settings) }
}

fn codex_files(dir: &Path, program: &str, hooks: Settings) -> Vec<HostFile> {
    let content = Content::Toml { program: program.to_owned() };
    vec![
        json_file(dir.join("hooks.json"), Part::Hooks, hooks),
        HostFile {
            path: dir.join("config.toml"),
            others: Vec::new(),
            part: Part::Server,
            is_own: false,
            content,
        },
    ]
}

/// The names under which opencode reads the user's settings, the usual one first.
pub(super) fn opencode_settings(at: &Directories) -> Vec<PathBuf> {
    let names = ["opencode.json", "opencode.jsonc", "config.json"];
    names.map(|name| at.config.join("opencode").join(name)).to_vec()
}

fn opencode_files(
    script: PathBuf,
    mut names: Vec<PathBuf>,
    server: Settings,
    program: &str,
) -> Vec<HostFile> {
    let content = Content::Script { program: program.to_owned() };
    let path = names.remove(0);
    vec![
        HostFile { path: script, others: Vec::new(), part: Part::Hooks, is_own: true, content },
        HostFile { path, others: names, part: Part::Server, is_own: false, content: Content::Json(server) },
    ]
}

fn cursor_files(dir: &Path, server: Settings, hooks: Settings) -> Vec<HostFile> {
    vec![
        json_file(dir.join("hooks.json"), Part::Hooks, hooks),
        json_file(dir.join("mcp.json"), Part::Server, server),
    ]
}

fn goose_plugin(dir: &Path, hooks: Settings) -> Vec<HostFile> {
    let about = [
        ("name", json!(SERVER)),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
        ("description", json!("Persistent memory for coding agents")),
    ];
    let manifest = Settings { defaults: about.to_vec(), ..Settings::default() };
    vec![
        own_file(dir.join("plugin.json"), Part::Manifest, manifest),
        own_file(dir.join("hooks/hooks.json"), Part::Hooks, hooks),
    ]
}

/// Returns the hooks of an agent, each in the host's shape.
fn hooks(agent: Agent, program: &str) -> Settings {
    let hooks = events(agent).iter().map(|event| {
        let call = HookCall { program: program.to_owned(), agent, event: event.name.to_owned() };
        let entry = hook_entry(agent, *event, &call.to_line());
        (call, entry)
    });
    let defaults = match agent {
        Agent::Copilot | Agent::Cursor => vec![("version", json!(1))],
        _ => Vec::new(),
    };
    Settings { defaults, hooks: hooks.collect(), server: None }
}

fn hook_entry(agent: Agent, event: Event, line: &str) -> Value {
    let seconds = event.timeout_s();
    match agent {
        Agent::Gemini => {
            let hook =
                json!({ "name": SERVER, "type": "command", "command": line, "timeout": event.timeout_ms });
            json!({ "matcher": "*", "hooks": [hook] })
        }
        Agent::Copilot => json!({ "type": "command", "bash": line, "timeoutSec": seconds }),
        Agent::Cursor => json!({ "command": line, "timeout": seconds }),
        Agent::VsCode => json!({ "type": "command", "command": line, "timeout": seconds }),
        _ => json!({ "hooks": [{ "type": "command", "command": line, "timeout": seconds }] }),
    }
}

fn with_server(settings: Settings, key: &'static str, agent: Agent, program: &str) -> Settings {
    let entry = match agent {
        Agent::ClaudeCode | Agent::Cursor | Agent::VsCode => {
            json!({ "type": "stdio", "command": program, "args": ["mcp"] })
        }
        Agent::Opencode => json!({ "type": "local", "command": [program, "mcp"], "enabled": true }),
        Agent::Copilot => json!({ "type": "local", "command": program, "args": ["mcp"], "tools": ["*"] }),
        _ => json!({ "command": program, "args": ["mcp"] }),
    };
    Settings { server: Some((key, program.to_owned(), entry)), ..settings }
}
