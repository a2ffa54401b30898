//! Gemini CLI.

use memdir_testkit::{Invocation, Output, Rule};
use serde_json::{Value, json};

use crate::host::Host;
use crate::scenario;
use crate::world::{KEY, World};

pub(crate) struct Gemini;

impl Host for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn settle(&self, world: &World) {
        let settings =
            "{\n  // mine\n  \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } }\n}\n";
        world.write_home(".gemini/settings.json", settings);
    }

    fn settings(&self) -> &'static [&'static str] {
        &[".gemini/settings.json"]
    }

    fn begin(&self, world: &World, prompt: &str) -> Invocation {
        world
            .client("gemini", "gemini")
            .env("GEMINI_API_KEY", KEY)
            .env("GOOGLE_GEMINI_BASE_URL", world.url())
            .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
            // Without a name it first asks another model which one to ask.
            .args(&["-m", "gemini-2.5-pro", "--yolo", "-p", prompt])
    }

    fn go_on(&self, world: &World, _session: &str, prompt: &str) -> Invocation {
        self.begin(world, prompt).args(&["--resume", "latest"])
    }

    fn session(&self, _output: &Output) -> String {
        String::new() // it says none, and goes on with the latest
    }

    fn shell(&self, rule: Rule, command: &str) -> Rule {
        rule.calls("run_shell_command", json!({"command": command}))
    }

    fn write(&self, rule: Rule, path: &str, text: &str) -> Rule {
        rule.calls("write_file", json!({"file_path": path, "content": text}))
    }

    fn ask_memdir(&self, rule: Rule, tool: &str, input: Value) -> Rule {
        rule.calls(&format!("mcp_memdir_{tool}"), input)
    }
}

#[test]
fn a_session_begins_with_instructions() {
    scenario::a_session_begins_with_instructions(&Gemini);
}

#[test]
fn a_prompt_brings_what_it_is_about_or_nothing() {
    scenario::a_prompt_brings_what_it_is_about_or_nothing(&Gemini);
}

#[test]
fn the_agent_calls_our_tools() {
    scenario::the_agent_calls_our_tools(&Gemini);
}

#[test]
fn removal_leaves_settings_as_they_were() {
    scenario::removal_leaves_settings_as_they_were(&Gemini);
}

#[test]
fn s6_a_memory_stays_in_its_frame() {
    scenario::s6_a_memory_stays_in_its_frame(&Gemini);
}

#[test]
fn what_doctor_calls_off_is_off() {
    let off = "{\"hooksConfig\": {\"enabled\": false},";
    scenario::what_doctor_calls_off_is_off(&Gemini, &|world| {
        world.change_home(".gemini/settings.json", "{", off);
    });
}
