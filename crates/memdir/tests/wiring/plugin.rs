//! The plugin for Claude Code says what `memdir init` would say.

use std::fs;
use std::path::{Path, PathBuf};

use memdir_core::host::Agent;
use memdir_core::wiring::events;
use serde_json::{Value, json};

fn plugin(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin").join(name)
}

fn read(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(plugin(name)).unwrap())
        .unwrap_or_else(|err| panic!("{name}: {err}"))
}

#[test]
fn the_plugin_hooks_what_init_hooks() {
    let hooks = read("memdir/hooks/hooks.json");
    let wanted: serde_json::Map<String, Value> = events(Agent::ClaudeCode)
        .iter()
        .map(|event| {
            let command = format!("memdir hook claude-code {}", event.name);
            let hook = json!({ "type": "command", "command": command, "timeout": event.timeout_s() });
            (event.name.to_owned(), json!([{ "hooks": [hook] }]))
        })
        .collect();
    assert_eq!(hooks["hooks"], Value::Object(wanted));
    assert_eq!(
        read("memdir/.mcp.json")["mcpServers"]["memdir"],
        json!({ "command": "memdir", "args": ["mcp"] })
    );
}

#[test]
fn the_plugin_has_our_version_and_every_skill_its_name() {
    assert_eq!(read("memdir/.claude-plugin/plugin.json")["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(read(".claude-plugin/marketplace.json")["plugins"][0]["source"], "./memdir");
    let mut names: Vec<String> = fs::read_dir(plugin("memdir/skills"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["dashboard", "forget", "monthly", "recall", "remember", "wrap"]);
    for name in names {
        let text = fs::read_to_string(plugin(&format!("memdir/skills/{name}/SKILL.md"))).unwrap();
        assert!(text.starts_with(&format!("---\nname: {name}\ndescription: ")), "{text}");
        assert!(text.contains("memdir"), "{name} calls nothing of ours");
        // LC-02, LC-04: what ends a session, reports on all projects or removes memories, the user starts.
        let is_users = ["forget", "monthly", "wrap"].contains(&name.as_str());
        assert_eq!(text.contains("\ndisable-model-invocation: true\n"), is_users, "{name}");
    }
}

#[test]
fn every_command_that_a_skill_names_exists() {
    let help = crate::world::World::new().memdir(&["--help"]).ok().stdout;
    let known: Vec<&str> = help.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for entry in fs::read_dir(plugin("memdir/skills")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path().join("SKILL.md")).unwrap();
        for call in text.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix("memdir ")) {
            let command = call.split_whitespace().next().unwrap();
            assert!(known.contains(&command), "`memdir {call}` is no command");
        }
    }
}
