//! What each host's documentation says switches it off, file by file.

use std::path::Path;

use super::super::tests::{PROGRAM, directories};
use super::super::{Part, Scope};
use super::*;

/// What is off, given some files: part, file name and what it says.
fn off(agent: Agent, scope: Scope, texts: &[(&str, &str)]) -> Vec<(Part, String)> {
    let known = switch_files(agent, &directories());
    for (path, _) in texts {
        assert!(known.iter().any(|file| file.path == Path::new(path)), "{path} is no file of {agent:?}");
    }
    let text = |file: &SwitchFile| texts.iter().find(|(path, _)| file.path == Path::new(path));
    let files: Vec<(SwitchFile, String)> =
        known.iter().filter_map(|file| Some((file.clone(), text(file)?.1.to_owned()))).collect();
    let wired = Wired { program: PROGRAM, scope, project: Some(Path::new("/p")) };
    switches(agent, &files, &wired).into_iter().map(|switch| (switch.part, switch.says)).collect()
}

fn user(agent: Agent, texts: &[(&str, &str)]) -> Vec<(Part, String)> {
    off(agent, Scope::User, texts)
}

fn hooks(says: &str) -> Vec<(Part, String)> {
    vec![(Part::Hooks, says.to_owned())]
}

fn server(says: &str) -> Vec<(Part, String)> {
    vec![(Part::Server, says.to_owned())]
}

const CLAUDE: &str = "/home/u/.claude/settings.json";
const CLAUDE_LOCAL: &str = "/p/.claude/settings.local.json";
#[cfg(not(target_os = "macos"))]
const CLAUDE_MANAGED: &str = "/etc/claude-code/managed-settings.json";
#[cfg(target_os = "macos")]
const CLAUDE_MANAGED: &str = "/Library/Application Support/ClaudeCode/managed-settings.json";

#[test]
fn settings_that_say_nothing_of_the_kind_switch_nothing_off() {
    for agent in Agent::ALL {
        for file in switch_files(agent, &directories()) {
            for text in ["", "{}", "{ broken", "[1, 2]", "null", "x = 1", "a:\n  b: c\n"] {
                let files = [(file.clone(), text.to_owned())];
                let wired = Wired { program: PROGRAM, scope: Scope::User, project: Some(Path::new("/p")) };
                let found = switches(agent, &files, &wired);
                // A list of the only servers there may be has no room for ours if it is empty.
                let is_json = serde_json::from_str::<serde_json::Value>(text).is_ok();
                let is_list = file.path.ends_with("managed-mcp.json") && is_json;
                assert_eq!(found.is_empty(), !is_list, "{agent:?} {} {text}: {found:?}", file.path.display());
            }
        }
    }
}

#[test]
fn claude_code_runs_no_hooks() {
    let says = "`disableAllHooks` is `true`";
    assert_eq!(
        user(Agent::ClaudeCode, &[(CLAUDE, "{ // for now\n \"disableAllHooks\": true, }")]),
        hooks(says)
    );
    // What is nearer overrules it.
    let nearer = (CLAUDE_LOCAL, r#"{"disableAllHooks": false}"#);
    assert_eq!(user(Agent::ClaudeCode, &[nearer, (CLAUDE, r#"{"disableAllHooks": true}"#)]), []);
    let managed = |text| user(Agent::ClaudeCode, &[(CLAUDE_MANAGED, text)]);
    assert_eq!(managed(r#"{"allowManagedHooksOnly": true}"#), hooks("`allowManagedHooksOnly` is `true`"));
    // Only an administrator can say that.
    assert_eq!(user(Agent::ClaudeCode, &[(CLAUDE, r#"{"allowManagedHooksOnly": true}"#)]), []);
    let strict = managed(r#"{"strictPluginOnlyCustomization": ["mcp", "skills"]}"#);
    assert_eq!(strict, server("`strictPluginOnlyCustomization` allows none but those of plugins"));
    assert_eq!(managed(r#"{"strictPluginOnlyCustomization": true}"#).len(), 2);
}

#[test]
fn claude_code_starts_no_server() {
    let denied = |text| user(Agent::ClaudeCode, &[(CLAUDE, text)]);
    let says = "`deniedMcpServers` has `memdir`";
    assert_eq!(denied(r#"{"deniedMcpServers": [{"serverName": "memdir"}]}"#), server(says));
    let by_command = r#"{"deniedMcpServers": [{"serverCommand": ["/usr/bin/memdir", "mcp"]}]}"#;
    assert_eq!(denied(by_command), server(says));
    assert_eq!(denied(r#"{"deniedMcpServers": [{"serverName": "other"}]}"#), []);
    let lacks = server("`allowedMcpServers` lacks `memdir`");
    let allowed = |text| user(Agent::ClaudeCode, &[(CLAUDE_MANAGED, text)]);
    assert_eq!(allowed(r#"{"allowedMcpServers": []}"#), lacks);
    assert_eq!(allowed(r#"{"allowedMcpServers": [{"serverName": "memdir"}]}"#), []);
    // The user may add to an administrator's list, unless that is the only one.
    let ours = (CLAUDE, r#"{"allowedMcpServers": [{"serverName": "memdir"}]}"#);
    assert_eq!(user(Agent::ClaudeCode, &[(CLAUDE_MANAGED, r#"{"allowedMcpServers": []}"#), ours]), []);
    let only = r#"{"allowedMcpServers": [], "allowManagedMcpServersOnly": true}"#;
    assert_eq!(user(Agent::ClaudeCode, &[(CLAUDE_MANAGED, only), ours]), lacks);
    let state = r#"{"projects": {"/p": {"disabledMcpServers": ["memdir"]}, "/q": {}}}"#;
    let says = "`disabledMcpServers` of this project has `memdir`";
    assert_eq!(user(Agent::ClaudeCode, &[("/home/u/.claude.json", state)]), server(says));
    let refused = (CLAUDE_LOCAL, r#"{"disabledMcpjsonServers": ["memdir"]}"#);
    let says = "`disabledMcpjsonServers` has `memdir`";
    assert_eq!(off(Agent::ClaudeCode, Scope::Project, &[refused]), server(says));
    assert_eq!(user(Agent::ClaudeCode, &[refused]), []);
}

#[test]
fn codex_does_nothing() {
    let config = |text| user(Agent::Codex, &[("/home/u/.codex/config.toml", text)]);
    assert_eq!(config("[features]\nhooks = false\n"), hooks("`features.hooks` is `false`"));
    assert_eq!(config("features.codex_hooks = false\n"), hooks("`features.codex_hooks` is `false`"));
    assert_eq!(config("[features]\nhooks = true\n"), []);
    let server_off = "[mcp_servers.memdir]\ncommand = \"memdir\"\nenabled = false\n";
    assert_eq!(config(server_off), server("`mcp_servers.memdir.enabled` is `false`"));
    let required = |text| user(Agent::Codex, &[("/etc/codex/requirements.toml", text)]);
    assert_eq!(required("allow_managed_hooks_only = true\n"), hooks("`allow_managed_hooks_only` is `true`"));
    assert_eq!(required("[features]\nhooks = false\n"), hooks("`features.hooks` is `false`"));
    assert_eq!(
        required("[mcp_servers.docs.identity]\ncommand = \"d\"\n"),
        server("`mcp_servers` lacks `memdir`")
    );
    let trusted = "[projects.\"/p\"]\ntrust_level = \"trusted\"\n";
    let project = |text| off(Agent::Codex, Scope::Project, &[("/home/u/.codex/config.toml", text)]);
    assert_eq!(project(trusted), []);
    assert_eq!(project("[projects.\"/p\"]\ntrust_level = \"untrusted\"\n").len(), 2);
    assert_eq!(config("[projects.\"/p\"]\ntrust_level = \"untrusted\"\n"), []);
}

#[test]
fn gemini_does_nothing() {
    let settings = |text| user(Agent::Gemini, &[("/home/u/.gemini/settings.json", text)]);
    assert_eq!(settings(r#"{"hooksConfig": {"enabled": false}}"#), hooks("`hooksConfig.enabled` is `false`"));
    assert_eq!(settings(r#"{"tools": {"enableHooks": false}}"#), hooks("`tools.enableHooks` is `false`"));
    assert_eq!(
        settings(r#"{"hooksConfig": {"disabled": ["memdir"]}}"#),
        hooks("`hooksConfig.disabled` has `memdir`")
    );
    assert_eq!(settings(r#"{"mcp": {"allowed": ["a"]}}"#), server("`mcp.allowed` lacks `memdir`"));
    assert_eq!(settings(r#"{"mcp": {"excluded": ["memdir"]}}"#), server("`mcp.excluded` has `memdir`"));
    let enablement = ("/home/u/.gemini/mcp-server-enablement.json", r#"{"memdir": {"enabled": false}}"#);
    assert_eq!(user(Agent::Gemini, &[enablement]), server("`memdir` is not `enabled`"));
    let folders = "/home/u/.gemini/trustedFolders.json";
    assert_eq!(user(Agent::Gemini, &[(folders, r#"{"/p": "DO_NOT_TRUST"}"#)]).len(), 2);
    // The nearest folder counts.
    assert_eq!(user(Agent::Gemini, &[(folders, r#"{"/": "DO_NOT_TRUST", "/p": "TRUST_FOLDER"}"#)]), []);
    let everywhere =
        ("/home/u/.gemini/settings.json", r#"{"security": {"folderTrust": {"enabled": false}}}"#);
    assert_eq!(user(Agent::Gemini, &[everywhere, (folders, r#"{"/p": "DO_NOT_TRUST"}"#)]), []);
}

#[test]
fn the_others_do_nothing() {
    let opencode = |text| user(Agent::Opencode, &[("/home/u/.config/opencode/opencode.json", text)]);
    assert_eq!(
        opencode(r#"{"mcp": {"memdir": {"enabled": false}}}"#),
        server("`mcp.memdir.enabled` is `false`")
    );
    assert_eq!(opencode(r#"{"tools": {"memdir*": false}}"#), server("`tools` hides those of `memdir`"));
    let all = r#"{"version": 1, "disableAllHooks": true, "hooks": {}}"#;
    for path in ["/p/.github/copilot/settings.json", "/home/u/.copilot/hooks/memdir.json"] {
        assert_eq!(user(Agent::Copilot, &[(path, all)]), hooks("`disableAllHooks` is `true`"), "{path}");
    }
    let code = |text| user(Agent::VsCode, &[("/p/.vscode/settings.json", text)]);
    assert_eq!(code(r#"{"chat.useHooks": false}"#), hooks("`chat.useHooks` is `false`"));
    let locations = r#"{"chat.hookFilesLocations": {".github/hooks": false}}"#;
    assert_eq!(code(locations), hooks("`chat.hookFilesLocations..github/hooks` is `false`"));
    assert_eq!(code(r#"{"chat.mcp.access": "none"}"#), server("`chat.mcp.access` is `\"none\"`"));
}

#[test]
fn goose_does_nothing() {
    let config = |text: &str| user(Agent::Goose, &[("/home/u/.config/goose/config.yaml", text)]);
    let plugins = "plugins:\n  /home/u/.agents/plugins/other:\n    enabled: true\n  /home/u/.agents/plugins/memdir:\n    enabled: false\n";
    assert_eq!(config(plugins), hooks("the plugin `memdir` is not `enabled`"));
    assert_eq!(config(&plugins.replace("false", "true")), []);
    let extension = "extensions:\n  memdir:\n    enabled: false # for now\n    type: stdio\n    cmd: memdir\nGOOSE_MODE: auto\n";
    assert_eq!(config(extension), server("the extension `memdir` is not `enabled`"));
    let user_file = "/home/u/.config/goose/settings.json";
    let disabled = r#"{"disabledPlugins": ["memdir"]}"#;
    assert_eq!(user(Agent::Goose, &[(user_file, disabled)]), hooks("`disabledPlugins` has `memdir`"));
    let local = ("/p/.config/goose/settings.local.json", r#"{"enabledPlugins": ["memdir"]}"#);
    assert_eq!(user(Agent::Goose, &[local, (user_file, disabled)]), []);
}

#[test]
fn whoever_set_it_is_told_apart() {
    let file = switch_files(Agent::ClaudeCode, &directories()).remove(0);
    let files = [(file, r#"{"disableAllHooks": true}"#.to_owned())];
    let wired = Wired { program: PROGRAM, scope: Scope::User, project: None };
    let switch = switches(Agent::ClaudeCode, &files, &wired).remove(0);
    assert_eq!((switch.keeper, switch.path), (Keeper::Administrator, CLAUDE_MANAGED.into()));
}
