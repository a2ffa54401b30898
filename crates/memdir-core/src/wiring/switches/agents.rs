//! Where each host keeps its switches, and which of them are about us.
//!
//! Names and places are those of the hosts' documentation; the table in `docs/agents.md` says of which date.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::command::SERVER;
use super::super::{Directories, Part, Scope};
use super::read::{Layer, Layers, at};
use super::{Keeper, Role, Switch, SwitchFile, Wired};
use crate::host::Agent;

/// Where administrators keep files for Claude Code and Gemini CLI, below the root of the file system.
const CLAUDE: &str =
    if cfg!(target_os = "macos") { "Library/Application Support/ClaudeCode" } else { "etc/claude-code" };
const GEMINI: &str =
    if cfg!(target_os = "macos") { "Library/Application Support/GeminiCli" } else { "etc/gemini-cli" };
/// What Claude Code calls the server of the plugin.
const PLUGIN_SERVER: &str = "plugin:memdir:memdir";

/// Returns the files in which a host keeps switches, those that overrule the others first.
pub fn switch_files(agent: Agent, at: &Directories) -> Vec<SwitchFile> {
    use Keeper::{Administrator, User};
    let settings = Role::Settings;
    let file = |keeper, role, path: PathBuf| SwitchFile { path, keeper, role };
    let system = |name: &str| at.system.join(name);
    let mut files = Vec::new();
    match agent {
        Agent::ClaudeCode => {
            let dir = system(CLAUDE);
            files.push(file(Administrator, settings, dir.join("managed-settings.json")));
            files.push(file(Administrator, Role::Servers, dir.join("managed-mcp.json")));
            files.extend(in_project(at, &[".claude/settings.local.json", ".claude/settings.json"]));
            files.push(file(User, settings, at.claude.join("settings.json")));
            files.push(file(User, Role::State, at.claude_state.clone()));
        }
        Agent::Codex => {
            files.push(file(Administrator, Role::Requirements, system("etc/codex/requirements.toml")));
            files.push(file(Administrator, settings, system("etc/codex/managed_config.toml")));
            files.extend(in_project(at, &[".codex/config.toml"]));
            files.push(file(User, settings, at.codex.join("config.toml")));
        }
        Agent::Gemini => {
            let dir = system(GEMINI);
            files.push(file(Administrator, settings, dir.join("settings.json")));
            files.extend(in_project(at, &[".gemini/settings.json"]));
            files.push(file(User, settings, at.gemini.join("settings.json")));
            files.push(file(Administrator, settings, dir.join("system-defaults.json")));
            files.push(file(User, Role::Enablement, at.gemini.join("mcp-server-enablement.json")));
            files.push(file(User, Role::Folders, at.gemini.join("trustedFolders.json")));
        }
        Agent::Opencode => {
            files.extend(in_project(at, &["opencode.json", "opencode.jsonc"]));
            let dir = at.config.join("opencode");
            let names = ["opencode.json", "opencode.jsonc", "config.json"];
            files.extend(names.map(|name| file(User, settings, dir.join(name))));
        }
        Agent::Copilot => {
            let names = [".github/copilot/settings.local.json", ".github/copilot/settings.json"];
            files.extend(in_project(at, &names));
            files.push(file(User, Role::Hooks, at.copilot.join("hooks/memdir.json")));
        }
        Agent::VsCode => {
            files.push(file(Administrator, Role::Requirements, system("etc/vscode/policy.json")));
            files.extend(in_project(at, &[".vscode/settings.json"]));
            files.push(file(User, settings, at.config.join("Code/User/settings.json")));
        }
        Agent::Goose => {
            let names = [".config/goose/settings.local.json", ".config/goose/settings.json"];
            files.extend(in_project(at, &names));
            files.push(file(User, settings, at.config.join("goose/settings.json")));
            files.push(file(User, Role::State, at.config.join("goose/config.yaml")));
        }
        Agent::Cursor => {}
    }
    files
}

/// Returns settings of the project; those that are called local are the user's own.
fn in_project(at: &Directories, names: &[&str]) -> Vec<SwitchFile> {
    let keeper = |name: &str| if name.contains(".local.") { Keeper::User } else { Keeper::Project };
    let file = |root: &Path, name: &str| SwitchFile {
        path: root.join(name),
        keeper: keeper(name),
        role: Role::Settings,
    };
    let root = at.project.as_deref();
    root.map_or_else(Vec::new, |root| names.iter().map(|name| file(root, name)).collect())
}

pub(super) fn claude(layers: &Layers<'_>, wired: &Wired<'_>) -> Vec<Switch> {
    let mut off = Vec::new();
    off.extend(layers.switch(Part::Hooks, &["disableAllHooks"], &json!(true)));
    for layer in layers.managed() {
        if at(&layer.value, &["allowManagedHooksOnly"]) == Some(&json!(true)) {
            off.push(layer.switch(Part::Hooks, "`allowManagedHooksOnly` is `true`".to_owned()));
        }
        let key = "strictPluginOnlyCustomization";
        for (part, word) in [(Part::Hooks, "hooks"), (Part::Server, "mcp")] {
            if at(&layer.value, &[key]) == Some(&json!(true)) || layer.lists(&[key], &[word]) {
                off.push(layer.switch(part, format!("`{key}` allows none but those of plugins")));
            }
        }
    }
    off.extend(claude_lists(layers, wired));
    for layer in layers.of_role(Role::Servers) {
        if at(&layer.value, &["mcpServers", SERVER]).is_none() {
            off.push(layer.switch(Part::Server, "it names the only servers there may be".to_owned()));
        }
    }
    let project = wired.project.and_then(Path::to_str).unwrap_or_default();
    for layer in layers.of_role(Role::State) {
        let keys: &[&str] = match wired.scope {
            Scope::User => &["disabledMcpServers"],
            Scope::Project => &["disabledMcpServers", "disabledMcpjsonServers"],
        };
        for key in
            keys.iter().filter(|key| layer.lists(&["projects", project, key], &[SERVER, PLUGIN_SERVER]))
        {
            off.push(layer.switch(Part::Server, format!("`{key}` of this project has `{SERVER}`")));
        }
    }
    off
}

/// What Claude Code's settings say about servers: which are denied, and which are the only ones allowed.
fn claude_lists(layers: &Layers<'_>, wired: &Wired<'_>) -> Vec<Switch> {
    let is_ours = |entry: &Value| {
        let name = entry.get("serverName").and_then(Value::as_str);
        let command = entry.get("serverCommand").and_then(Value::as_array);
        name.is_some_and(|name| [SERVER, PLUGIN_SERVER].contains(&name))
            || command.is_some_and(|command| *command == [json!(wired.program), json!("mcp")])
    };
    let mut off = Vec::new();
    let denied =
        layers.of_role(Role::Settings).filter(|layer| layer.list(&["deniedMcpServers"]).iter().any(is_ours));
    off.extend(denied.map(|layer| layer.switch(Part::Server, format!("`deniedMcpServers` has `{SERVER}`"))));
    if wired.scope == Scope::Project {
        let key = "disabledMcpjsonServers";
        let refused = layers.of_role(Role::Settings).filter(|layer| layer.lists(&[key], &[SERVER]));
        off.extend(refused.map(|layer| layer.switch(Part::Server, format!("`{key}` has `{SERVER}`"))));
    }
    let is_exclusive =
        layers.managed().any(|layer| at(&layer.value, &["allowManagedMcpServersOnly"]) == Some(&json!(true)));
    let counts = |layer: &&Layer<'_>| !is_exclusive || layer.file.keeper == Keeper::Administrator;
    let key = ["allowedMcpServers"];
    let mut lists = layers
        .of_role(Role::Settings)
        .filter(counts)
        .filter(|layer| at(&layer.value, &key).is_some_and(Value::is_array))
        .peekable();
    if let Some(first) = lists.peek().copied()
        && !lists.any(|layer| layer.list(&key).iter().any(is_ours))
    {
        off.push(first.switch(Part::Server, format!("`allowedMcpServers` lacks `{SERVER}`")));
    }
    off
}

pub(super) fn codex(layers: &Layers<'_>, wired: &Wired<'_>) -> Vec<Switch> {
    let mut off = Vec::new();
    for layer in layers.of_role(Role::Requirements) {
        if at(&layer.value, &["allow_managed_hooks_only"]) == Some(&json!(true)) {
            off.push(layer.switch(Part::Hooks, "`allow_managed_hooks_only` is `true`".to_owned()));
        }
        if at(&layer.value, &["features", "hooks"]) == Some(&json!(false)) {
            off.push(layer.switch(Part::Hooks, "`features.hooks` is `false`".to_owned()));
        }
        if let Some(servers) = at(&layer.value, &["mcp_servers"])
            && servers.get(SERVER).is_none()
        {
            off.push(layer.switch(Part::Server, format!("`mcp_servers` lacks `{SERVER}`")));
        }
    }
    for key in ["hooks", "codex_hooks"] {
        off.extend(layers.switch(Part::Hooks, &["features", key], &json!(false)));
    }
    off.extend(layers.switch(Part::Server, &["mcp_servers", SERVER, "enabled"], &json!(false)));
    off.extend(codex_distrust(layers, wired));
    off
}

/// Codex reads no settings of a project that the user does not trust.
fn codex_distrust(layers: &Layers<'_>, wired: &Wired<'_>) -> Vec<Switch> {
    let Some(project) = wired.project.and_then(Path::to_str).filter(|_| wired.scope == Scope::Project) else {
        return Vec::new();
    };
    let mut user = layers.of_role(Role::Settings).filter(|layer| layer.file.keeper == Keeper::User);
    let Some(layer) = user.next() else { return Vec::new() };
    let level = at(&layer.value, &["projects", project, "trust_level"]).and_then(Value::as_str);
    if level == Some("trusted") {
        return Vec::new();
    }
    let says = "this project is not `trusted`".to_owned();
    [Part::Hooks, Part::Server].map(|part| layer.switch(part, says.clone())).to_vec()
}

pub(super) fn gemini(layers: &Layers<'_>, wired: &Wired<'_>) -> Vec<Switch> {
    let mut off = Vec::new();
    // The second and the third are how older versions spell it.
    for path in [&["hooksConfig", "enabled"][..], &["tools", "enableHooks"], &["hooks", "enabled"]] {
        off.extend(layers.switch(Part::Hooks, path, &json!(false)));
    }
    for layer in layers.of_role(Role::Settings) {
        for path in [["hooksConfig", "disabled"], ["hooks", "disabled"]] {
            if layer.lists(&path, &[SERVER]) {
                off.push(layer.switch(Part::Hooks, format!("`{}` has `{SERVER}`", path.join("."))));
            }
        }
        if layer.lists(&["mcp", "excluded"], &[SERVER]) {
            off.push(layer.switch(Part::Server, format!("`mcp.excluded` has `{SERVER}`")));
        }
    }
    if let Some((layer, allowed)) = layers.decided(&["mcp", "allowed"])
        && allowed.is_array()
        && !layer.lists(&["mcp", "allowed"], &[SERVER])
    {
        off.push(layer.switch(Part::Server, format!("`mcp.allowed` lacks `{SERVER}`")));
    }
    for layer in layers.of_role(Role::Enablement) {
        if at(&layer.value, &[SERVER, "enabled"]) == Some(&json!(false)) {
            off.push(layer.switch(Part::Server, format!("`{SERVER}` is not `enabled`")));
        }
    }
    off.extend(gemini_distrust(layers, wired));
    off
}

/// Gemini CLI runs nothing of anybody in a folder that the user said not to trust.
fn gemini_distrust(layers: &Layers<'_>, wired: &Wired<'_>) -> Vec<Switch> {
    let trusts_all = layers
        .decided(&["security", "folderTrust", "enabled"])
        .is_some_and(|(_, value)| *value == json!(false));
    let (Some(project), false) = (wired.project, trusts_all) else { return Vec::new() };
    let is_refused = |layer: &&Layer<'_>| {
        let levels = project.ancestors().filter_map(|dir| layer.value.get(dir.to_str()?)?.as_str());
        // The nearest folder that anything is said about counts.
        levels.into_iter().next() == Some("DO_NOT_TRUST")
    };
    let Some(layer) = layers.of_role(Role::Folders).find(is_refused) else { return Vec::new() };
    let says = "this folder is `DO_NOT_TRUST`".to_owned();
    [Part::Hooks, Part::Server].map(|part| layer.switch(part, says.clone())).to_vec()
}

pub(super) fn opencode(layers: &Layers<'_>) -> Vec<Switch> {
    let mut off = Vec::new();
    off.extend(layers.switch(Part::Server, &["mcp", SERVER, "enabled"], &json!(false)));
    let hides = |layer: &&Layer<'_>| {
        let tools = layer.value.get("tools").and_then(Value::as_object);
        tools.is_some_and(|tools| {
            tools.iter().any(|(name, on)| name.starts_with(SERVER) && *on == json!(false))
        })
    };
    let hidden = layers.of_role(Role::Settings).filter(hides);
    off.extend(hidden.map(|layer| layer.switch(Part::Server, format!("`tools` hides those of `{SERVER}`"))));
    off
}

pub(super) fn copilot(layers: &Layers<'_>) -> Vec<Switch> {
    let mut off = Vec::new();
    off.extend(layers.switch(Part::Hooks, &["disableAllHooks"], &json!(true)));
    for layer in layers.of_role(Role::Hooks) {
        if at(&layer.value, &["disableAllHooks"]) == Some(&json!(true)) {
            off.push(layer.switch(Part::Hooks, "`disableAllHooks` is `true`".to_owned()));
        }
    }
    off
}

pub(super) fn vscode(layers: &Layers<'_>) -> Vec<Switch> {
    let mut off = Vec::new();
    for layer in layers.of_role(Role::Requirements) {
        for (part, key, word) in
            [(Part::Hooks, "ChatHooks", json!(false)), (Part::Server, "ChatMCP", json!("none"))]
        {
            if at(&layer.value, &[key]) == Some(&word) {
                off.push(layer.switch(part, format!("`{key}` is `{word}`")));
            }
        }
    }
    for key in ["chat.useHooks", "chat.useChatHooks"] {
        off.extend(layers.switch(Part::Hooks, &[key], &json!(false)));
    }
    off.extend(layers.switch(Part::Hooks, &["chat.hookFilesLocations", ".github/hooks"], &json!(false)));
    off.extend(layers.switch(Part::Server, &["chat.mcp.enabled"], &json!(false)));
    off.extend(layers.switch(Part::Server, &["chat.mcp.access"], &json!("none")));
    off
}

pub(super) fn goose(layers: &Layers<'_>) -> Vec<Switch> {
    let mut off = Vec::new();
    let is_listed = |layer: &&Layer<'_>| {
        ["disabledPlugins", "enabledPlugins"].iter().any(|key| layer.lists(&[key], &[SERVER]))
    };
    // The first file that names a plugin decides, and a refusal comes before a wish.
    if let Some(layer) = layers.of_role(Role::Settings).find(is_listed)
        && layer.lists(&["disabledPlugins"], &[SERVER])
    {
        off.push(layer.switch(Part::Hooks, format!("`disabledPlugins` has `{SERVER}`")));
    }
    for layer in layers.of_role(Role::State) {
        let plugins = layer.value.get("plugins").and_then(Value::as_object);
        let is_off = |(root, plugin): (&String, &Value)| {
            root.ends_with("/.agents/plugins/memdir") && plugin.get("enabled") == Some(&json!(false))
        };
        if plugins.is_some_and(|plugins| plugins.iter().any(is_off)) {
            off.push(layer.switch(Part::Hooks, format!("the plugin `{SERVER}` is not `enabled`")));
        }
        if at(&layer.value, &["extensions", SERVER, "enabled"]) == Some(&json!(false)) {
            off.push(layer.switch(Part::Server, format!("the extension `{SERVER}` is not `enabled`")));
        }
    }
    off
}
