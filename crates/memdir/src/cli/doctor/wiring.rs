//! Whether the agents on this machine reach us: told by which file, calling which program, and does that answer.
//!
//! Only programs that the user's own settings name are run, or this very one: what a repository ships is never started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use memdir_core::host::Agent;
use memdir_core::wiring::{
    self, Found, HostFile, Part, Scope, Switch, SwitchFile, Wired, events, is_trusted, switch_files, switches,
};
use memdir_store::health::{Finding, Remedy, Severity};
use serde_json::{Value, json};

use super::probe;
use super::sandbox::Seen;
use crate::cli::gateway;
use crate::cli::init::{Machine, SettingsFile, chosen, gateways};
use crate::context::Context;

/// An agent does nothing with what it was told.
const SWITCHED_OFF: &str = "agent-switched-off";

/// What was found out about agents.
#[derive(Debug, Default)]
pub(super) struct Survey {
    agents: Vec<Checked>,
    pub(super) findings: Vec<Finding>,
    /// What was seen of the sub-agent's walls.
    pub(super) walls: Option<Seen>,
}

/// One agent in one scope.
#[derive(Debug)]
struct Checked {
    agent: Agent,
    scope: Scope,
    files: Vec<(PathBuf, Found)>,
    by_plugin: bool,
    programs: Vec<String>,
    hook: Option<Result<(), String>>,
    server: Option<Result<(), String>>,
    is_current: bool,
    is_trusted: Option<bool>,
    /// Settings by which the host does nothing with what it was told.
    off: Vec<Switch>,
}

/// Looks at every agent that is in use or was told of us. Nothing is written.
pub(super) fn survey(context: &Context) -> Survey {
    let mut survey = Survey::default();
    let Ok(machine) = Machine::new(context) else { return survey };
    let mut doctor = Doctor { machine: &machine, servers: BTreeMap::new(), findings: Vec::new() };
    for agent in Agent::ALL {
        let user = doctor.look(agent, Scope::User);
        let project = doctor.look(agent, Scope::Project);
        let is_wired = user.is_wired() || project.is_wired();
        if !is_wired && machine.is_in_use(agent) {
            doctor.note(agent);
        }
        for mut checked in [user, project].into_iter().filter(Checked::is_wired) {
            doctor.examine(&mut checked);
            doctor.look_for_switches(&mut checked);
            survey.agents.push(checked);
        }
    }
    doctor.look_for_gateways(&gateways(context));
    survey.findings = doctor.findings;
    survey
}

impl Survey {
    /// Returns a row for each agent that was told of us.
    pub(super) fn to_json(&self) -> Vec<Value> {
        self.agents.iter().map(Checked::to_json).collect()
    }
}

impl Checked {
    fn is_wired(&self) -> bool {
        self.by_plugin || self.files.iter().any(|(_, found)| !found.is_empty())
    }

    fn file(&self, wanted: impl Fn(&Found) -> bool) -> Option<&Path> {
        self.files.iter().find(|(_, found)| wanted(found)).map(|(path, _)| path.as_path())
    }

    fn to_json(&self) -> Value {
        let shown = |path: Option<&Path>| path.map(|path| path.display().to_string());
        let runs = |run: &Option<Result<(), String>>| run.as_ref().map(Result::is_ok);
        let off: Vec<&str> = self.off.iter().map(|switch| word(switch.part)).collect();
        json!({
            "agent": self.agent.as_str(),
            "scope": if self.scope == Scope::User { "user" } else { "project" },
            "plugin": self.by_plugin,
            "hooks": shown(self.file(|found| !found.hooks.is_empty())),
            "mcp": shown(self.file(|found| found.has_server)),
            "programs": self.programs,
            "current": self.is_current,
            "hook_runs": runs(&self.hook),
            "mcp_runs": runs(&self.server),
            "trusted": self.is_trusted,
            "off": off,
        })
    }

    /// Says whether this part is wired at all.
    fn has(&self, part: Part) -> bool {
        let is_there = |found: &Found| match part {
            Part::Server => found.has_server,
            _ => !found.hooks.is_empty(),
        };
        self.by_plugin || self.file(is_there).is_some()
    }
}

fn word(part: Part) -> &'static str {
    if part == Part::Server { "mcp" } else { "hooks" }
}

struct Doctor<'m> {
    machine: &'m Machine,
    /// Servers that were asked already, by program.
    servers: BTreeMap<String, Result<(), String>>,
    findings: Vec<Finding>,
}

impl Doctor<'_> {
    /// Reads an agent's files.
    fn look(&mut self, agent: Agent, scope: Scope) -> Checked {
        let mut files = Vec::new();
        for file in wiring::files(agent, scope, &self.machine.at, &self.machine.program) {
            let path = chosen(&file);
            if let Some(found) = self.read(agent, scope, &file, &path) {
                files.push((path, found));
            }
        }
        let mut programs: Vec<String> = files.iter().flat_map(|(_, found)| found.programs.clone()).collect();
        programs.sort();
        programs.dedup();
        let by_plugin =
            agent == Agent::ClaudeCode && scope == Scope::User && self.machine.has_claude_plugin();
        let is_current = programs.iter().all(|program| *program == self.machine.program);
        Checked {
            agent,
            scope,
            files,
            by_plugin,
            programs,
            hook: None,
            server: None,
            is_current,
            is_trusted: None,
            off: Vec::new(),
        }
    }

    /// Reads one file. One that cannot be read is told where it is the user's.
    fn read(&mut self, agent: Agent, scope: Scope, file: &HostFile, path: &Path) -> Option<Found> {
        let found = SettingsFile::read(path)
            .map_err(|problem| problem.message)
            .map(|file| file.text.unwrap_or_default())
            .and_then(|text| wiring::look(&text, &file.content).map_err(|trouble| trouble.to_string()));
        match found {
            Ok(found) => Some(found),
            Err(why) => {
                if scope == Scope::User {
                    let message = format!("{} has settings that memdir cannot read: {why}", agent.title());
                    self.find(Severity::Warning, "agent-settings", Some(path), message, None);
                }
                None
            }
        }
    }

    fn note(&mut self, agent: Agent) {
        if agent == Agent::ClaudeCode && self.machine.claude_plugin() == Some(false) {
            let message =
                "the memdir plugin of Claude Code is switched off: open `/plugin`, or run `memdir init`";
            let path = self.machine.at.claude.join("settings.json");
            return self.find(Severity::Warning, SWITCHED_OFF, Some(&path), message.to_owned(), None);
        }
        let command = match agent {
            Agent::VsCode => "memdir init --agent vscode",
            _ => "memdir init",
        };
        let message = format!("{} is in use and was not told of memdir: `{command}`", agent.title());
        self.find(Severity::Note, "agent-not-told", None, message, None);
    }

    fn examine(&mut self, checked: &mut Checked) {
        let agent = checked.agent;
        let remedy = (checked.scope == Scope::User).then_some(Remedy::Rewire(agent));
        let path = checked.file(|found| !found.is_empty()).map(Path::to_owned);
        let path = path.as_deref();
        if checked.by_plugin {
            if let Some(path) = path {
                let message = format!("{} is told twice: by its plugin and by its settings", agent.title());
                self.find(Severity::Warning, "agent-told-twice", Some(path), message, remedy);
            }
            return;
        }
        for program in checked.programs.iter().filter(|program| **program != self.machine.program) {
            let (severity, rule, what) = match Path::new(program).is_file() {
                true => (Severity::Warning, "agent-other-program", "another program than this one"),
                false => (Severity::Problem, "agent-lost-program", "a program that is gone"),
            };
            let message = format!("{} calls {what}: {program}", agent.title());
            self.find(severity, rule, path, message, remedy.clone());
        }
        if checked.is_current && checked.files.iter().any(|(_, found)| !found.is_complete) {
            let n_hooks: usize = checked.files.iter().map(|(_, found)| found.hooks.len()).sum();
            let has_server = checked.files.iter().any(|(_, found)| found.has_server);
            let server = if has_server { "the MCP server" } else { "no MCP server" };
            let message = format!(
                "the entries of {} are not what memdir writes: {n_hooks} of {} hooks and {server}",
                agent.title(),
                events(agent).len()
            );
            self.find(Severity::Warning, "agent-incomplete", path, message, remedy);
        }
        self.run(checked, path);
        self.ask_for_trust(checked);
    }

    /// Runs what the host would run.
    fn run(&mut self, checked: &mut Checked, path: Option<&Path>) {
        let agent = checked.agent;
        for program in checked.programs.clone() {
            let may_run = checked.scope == Scope::User || program == self.machine.program;
            if !may_run || !Path::new(&program).is_file() {
                continue;
            }
            if checked.files.iter().any(|(_, found)| !found.hooks.is_empty()) {
                let answer = probe::hook(&program, agent);
                if let Err(why) = &answer {
                    let message = format!("the hook of {} {why}", agent.title());
                    self.find(Severity::Problem, "agent-hook", path, message, None);
                }
                checked.hook = Some(answer);
            }
            if checked.files.iter().any(|(_, found)| found.has_server) {
                let answer =
                    self.servers.entry(program.clone()).or_insert_with(|| probe::server(&program)).clone();
                if let Err(why) = &answer {
                    let message = format!("the MCP server {program} {why}");
                    self.find(Severity::Problem, "agent-mcp", None, message, None);
                }
                checked.server = Some(answer);
            }
        }
    }

    /// Looks for settings by which the host does nothing with what it was told.
    fn look_for_switches(&mut self, checked: &mut Checked) {
        let at = &self.machine.at;
        let wired =
            Wired { program: &self.machine.program, scope: checked.scope, project: at.project.as_deref() };
        let read = |file: SwitchFile| {
            let text = SettingsFile::read(&file.path).ok()?.text?;
            Some((file, text))
        };
        let files: Vec<_> = switch_files(checked.agent, at).into_iter().filter_map(read).collect();
        let found = switches(checked.agent, &files, &wired).into_iter();
        checked.off = found.filter(|switch| checked.has(switch.part)).collect();
        for switch in &checked.off {
            let what = match switch.part {
                Part::Server => "does not start the MCP server",
                _ => "runs no hooks",
            };
            let message = format!("{} {what}: {}; {}", checked.agent.title(), switch.says, switch.hint());
            if !self.findings.iter().any(|known| known.message == message) {
                self.find(Severity::Warning, SWITCHED_OFF, Some(&switch.path), message, None);
            }
        }
    }

    /// An agent that is led to a gateway needs one.
    fn look_for_gateways(&mut self, bases: &BTreeSet<String>) {
        let is_led = |agent: Agent, base: &String| {
            let file = wiring::address_file(agent, &self.machine.at, base, [])?;
            let path = chosen(&file);
            let text = SettingsFile::read(&path).ok()?.text?;
            wiring::look(&text, &file.content).is_ok_and(|found| !found.is_empty()).then_some((agent, path))
        };
        for base in bases {
            let led: Vec<_> = Agent::ALL.into_iter().filter_map(|agent| is_led(agent, base)).collect();
            if led.is_empty() || gateway::answers(base) {
                continue;
            }
            for (agent, path) in led {
                let message = format!(
                    "{} asks the gateway at {base}, and nothing answers there; `memdir gateway` starts one, and \
                     `memdir init --gateway --remove` leads it back",
                    agent.title()
                );
                self.find(Severity::Problem, "agent-gateway", Some(&path), message, None);
            }
        }
    }

    /// Codex runs no hook that the user has not looked at.
    fn ask_for_trust(&mut self, checked: &mut Checked) {
        let hooks = checked.files.iter().find(|(_, found)| !found.hooks.is_empty());
        let Some((path, found)) = hooks.filter(|_| checked.agent == Agent::Codex) else { return };
        let config = SettingsFile::read(&self.machine.at.codex.join("config.toml"));
        let config = config.ok().and_then(|file| file.text).unwrap_or_default();
        let name = path.display().to_string();
        let n_waiting = found.hooks.iter().filter(|hook| !is_trusted(&config, &name, hook)).count();
        checked.is_trusted = Some(n_waiting == 0);
        if n_waiting > 0 {
            let message = format!(
                "Codex CLI does not run {n_waiting} of {} hooks before you trust them: start `codex` and open `/hooks`",
                found.hooks.len()
            );
            let path = path.clone();
            self.find(Severity::Warning, "codex-trust", Some(&path), message, None);
        }
    }

    fn find(
        &mut self,
        severity: Severity,
        rule: &'static str,
        file: Option<&Path>,
        message: String,
        remedy: Option<Remedy>,
    ) {
        let file = file.map(Path::to_owned);
        self.findings.push(Finding { severity, rule, file, message, remedy });
    }
}
