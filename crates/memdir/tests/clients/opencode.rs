//! opencode.

use std::process::Command;

use memdir_testkit::{Invocation, Output, Rule};
use serde_json::{Value, json};

use crate::host::Host;
use crate::scenario;
use crate::world::{KEY, World, cache};

pub(crate) struct Opencode;

impl Host for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn settle(&self, world: &World) {
        let settings = json!({
            "model": "scripted/m",
            "permission": {"bash": "allow", "edit": "allow"},
            "provider": {"scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": format!("{}/v1", world.url()), "apiKey": KEY},
                "models": {"m": {"name": "m"}},
            }},
        });
        world.write_home(".config/opencode/opencode.json", &format!("{settings:#}\n"));
        // With a plugin in this directory it installs a package there, and waits for the network for more than a minute.
        let installed = ["node_modules", "package.json", "package-lock.json"]
            .map(|name| cache().join("opencode-js").join(name));
        // Links cost nothing; where the cache is on another disk they cannot be made.
        let copy = |how: &str| {
            let target = world.home().join(".config/opencode");
            Command::new("cp").arg(how).args(&installed).arg(target).status().unwrap().success()
        };
        assert!(copy("-al") || copy("-a"));
    }

    fn settings(&self) -> &'static [&'static str] {
        &[".config/opencode/opencode.json", ".config/opencode/plugin"]
    }

    fn begin(&self, world: &World, prompt: &str) -> Invocation {
        let quiet = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"];
        let client = world.client("opencode", "opencode").args(&["run", "--print-logs", prompt]);
        quiet.iter().fold(client, |client, what| client.env(&format!("OPENCODE_DISABLE_{what}"), "1"))
    }

    fn go_on(&self, world: &World, _session: &str, prompt: &str) -> Invocation {
        self.begin(world, prompt).args(&["--continue"])
    }

    fn session(&self, _output: &Output) -> String {
        String::new() // it says none, and goes on with the latest
    }

    fn shell(&self, rule: Rule, command: &str) -> Rule {
        rule.calls("bash", json!({"command": command, "description": "as asked"}))
    }

    fn write(&self, rule: Rule, path: &str, text: &str) -> Rule {
        rule.calls("write", json!({"filePath": path, "content": text}))
    }

    fn ask_memdir(&self, rule: Rule, tool: &str, input: Value) -> Rule {
        rule.calls(&format!("memdir_{tool}"), input)
    }
}

#[test]
fn a_session_begins_with_instructions() {
    scenario::a_session_begins_with_instructions(&Opencode);
}

#[test]
fn a_prompt_brings_what_it_is_about_or_nothing() {
    scenario::a_prompt_brings_what_it_is_about_or_nothing(&Opencode);
}

#[test]
fn the_agent_calls_our_tools() {
    scenario::the_agent_calls_our_tools(&Opencode);
}

#[test]
fn removal_leaves_settings_as_they_were() {
    scenario::removal_leaves_settings_as_they_were(&Opencode);
}

#[test]
fn s6_a_memory_stays_in_its_frame() {
    scenario::s6_a_memory_stays_in_its_frame(&Opencode);
}
