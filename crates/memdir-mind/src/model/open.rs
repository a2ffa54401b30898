//! From what the user configured to somebody who can be asked.
//!
//! Nothing here is taken from a repository: a variable whose value is the one that a repository's settings have agents
//! set counts as not set, be it a key, a proxy or the place where programs are looked for.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use memdir_net::Variables;
use memdir_store::keys::{self, Secret};
use memdir_store::place::settings::{ModelSettings, ServiceKind};

use super::{Agent, Base, Dialect, Host, Model, ModelError, Service};

/// What a model is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Small questions that are asked often: selection, titles.
    Small,
    /// What wants judgement: extraction, consolidation, summaries.
    Large,
}

/// What is said where a host's own model is wanted and no host calls.
const LENT_TO_CALLS: &str =
    "a host lends its model only to the calls it makes of `memdir mcp`; rules do the rest";

/// A model that was opened.
pub type Opened = Box<dyn Model + Send>;

/// A session of Claude Code that is running, from which a fork can be asked.
#[derive(Debug, Clone, Copy)]
pub struct Running<'a> {
    /// The host's id of it.
    pub session: &'a str,
    /// Where it began.
    pub project: &'a Path,
    /// The host's file.
    pub transcript: &'a Path,
    /// What its last request read, in tokens; 0 if nobody knows.
    pub tokens: u64,
}

/// What surrounds the process: its variables, without those that a repository sets, and the state root.
pub struct Env {
    home: PathBuf,
    variables: Variables,
}

impl Env {
    /// Takes the state root, the variables of the process, and those that the repository has agents set.
    pub fn new(
        home: &Path,
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        shipped: BTreeMap<String, String>,
    ) -> Self {
        Self { home: home.to_owned(), variables: Variables::new(vars, shipped) }
    }

    /// Returns the user's variables.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Returns the state root.
    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Returns a variable.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.variables.get(name)
    }

    /// Returns what a program is started with: everything, and the word that memory is off.
    pub(super) fn for_children(&self) -> Vec<(OsString, OsString)> {
        let kept = self.variables.iter().filter(|(name, _)| !is_of_session(name));
        let off = [(OsString::from("MEMDIR_OFF"), OsString::from("1"))];
        kept.map(|(name, value)| (name.clone(), value.clone())).chain(off).collect()
    }
}

/// Says whether a variable belongs to the session that started us: an agent that sees it takes itself for a part of it.
fn is_of_session(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let starts = [
        "CLAUDE_CODE_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_PID",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_PLUGIN",
    ];
    name == "CLAUDECODE" || name == "MEMDIR_OFF" || starts.iter().any(|start| name.starts_with(start))
}

/// Opens the model that the user configured. None is configured more often than not, and [`ModelError::None`] says so.
pub fn open(settings: &ModelSettings, env: &Env, purpose: Purpose) -> Result<Opened, ModelError> {
    let name = match purpose {
        Purpose::Small => settings.small.as_deref().or(settings.name.as_deref()),
        Purpose::Large => settings.name.as_deref(),
    };
    let (dialect, usual_base, usual_name) = match settings.service {
        ServiceKind::None => return Err(ModelError::None),
        ServiceKind::Sampling => return Err(ModelError::Refused(LENT_TO_CALLS.to_owned())),
        ServiceKind::Claude => return agent(Host::Claude, name, env),
        ServiceKind::Codex => return agent(Host::Codex, name, env),
        ServiceKind::Anthropic => (Dialect::Anthropic, "https://api.anthropic.com", Some(anthropic(purpose))),
        ServiceKind::OpenAi => (Dialect::Responses, "https://api.openai.com", Some(openai(purpose))),
        ServiceKind::Chat => (Dialect::Chat, "http://127.0.0.1:11434", None),
    };
    let Some(name) = name.or(usual_name) else {
        return Err(ModelError::Refused(
            "no model is named: `memdir model use chat --model NAME`".to_owned(),
        ));
    };
    let base = settings.base_url.as_deref().unwrap_or(usual_base);
    let base = Base::parse(base)
        .map_err(|why| ModelError::Refused(format!("`model.base_url` cannot be used: {why}")))?;
    let key = key(settings, env)?;
    Ok(Box::new(Service::new(dialect, base, key, name, env)?))
}

/// Anthropic's models of the day: cheap and quick, or good enough to judge.
fn anthropic(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Small => "claude-haiku-5-5",
        Purpose::Large => "claude-sonnet-5-5",
    }
}

/// OpenAI's models of the day.
fn openai(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Small => "gpt-5.4-nano",
        Purpose::Large => "gpt-5.4-mini",
    }
}

/// Returns the key: from the variable that the user named, from our care, or from the variable that everybody uses.
fn key(settings: &ModelSettings, env: &Env) -> Result<Option<Secret>, ModelError> {
    let service = settings.service;
    let from = |name: &str| env.var(name).and_then(Secret::new);
    if let Some(name) = &settings.key_env {
        let missing = || ModelError::Refused(format!("the variable {name} holds no key"));
        return from(name).map(Some).ok_or_else(missing);
    }
    let kept = keys::load(&env.home, service.as_str()).map_err(|err| ModelError::Refused(err.to_string()))?;
    let key = kept.or_else(|| service.usual_key_env().and_then(from));
    match (key, service.usual_key_env()) {
        (Some(key), _) => Ok(Some(key)),
        (None, None) => Ok(None),
        (None, Some(name)) => Err(ModelError::Refused(format!(
            "there is no key for {service}: set {name}, or `memdir model use {service} --key-stdin`"
        ))),
    }
}

/// Opens a fork of a running session, where the user's own Claude Code is configured and would find that session.
pub fn open_fork(settings: &ModelSettings, env: &Env, running: &Running<'_>) -> Option<Opened> {
    let home = env.var("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let home = home.or_else(|| env.var("HOME").map(|home| Path::new(home).join(".claude")))?;
    let is_known = running.transcript.starts_with(home.join("projects")) && running.project.is_dir();
    if settings.service != ServiceKind::Claude || !is_known {
        return None;
    }
    let program = find_program(Host::Claude.program(), env)?;
    let agent = Agent::new(Host::Claude, program, None, env);
    let agent = agent.forked_from(running.session, running.project).holding(running.tokens);
    agent.is_forked().then(|| Box::new(agent) as Opened)
}

fn agent(host: Host, model: Option<&str>, env: &Env) -> Result<Opened, ModelError> {
    let missing = || ModelError::Refused(format!("`{}` is not installed", host.program()));
    let program = find_program(host.program(), env).ok_or_else(missing)?;
    Ok(Box::new(Agent::new(host, program, model, env)))
}

/// Finds a program where the user's `PATH` says; in the working directory and below it nothing is looked for.
pub fn find_program(name: &str, env: &Env) -> Option<PathBuf> {
    let path = env.variables.get_os("PATH")?;
    let candidates = std::env::split_paths(path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name));
    let is_program = |path: &PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    candidates.into_iter().find(is_program)
}

#[cfg(test)]
mod tests;
