//! Copilot CLI.

use memdir_testkit::{Invocation, Output, Rule};
use serde_json::{Value, json};

use crate::host::Host;
use crate::scenario;
use crate::world::{KEY, World};

pub(crate) struct Copilot;

impl Host for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn settle(&self, world: &World) {
        world.write_home(".copilot/config.json", "{}\n");
    }

    fn settings(&self) -> &'static [&'static str] {
        &[".copilot/mcp-config.json", ".copilot/hooks"]
    }

    fn begin(&self, world: &World, prompt: &str) -> Invocation {
        world
            .client("copilot", "copilot")
            .env("COPILOT_PROVIDER_API_KEY", KEY)
            .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", world.url()))
            .env("COPILOT_MODEL", "gpt-4.1")
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_AUTO_UPDATE", "false")
            .args(&["--allow-all-tools", "-p", prompt])
    }

    fn go_on(&self, world: &World, session: &str, prompt: &str) -> Invocation {
        self.begin(world, prompt).args(&[format!("--resume={session}")])
    }

    fn session(&self, output: &Output) -> String {
        let resume = output.stderr.split("--resume=").nth(1);
        resume.and_then(|rest| rest.split_whitespace().next()).unwrap().to_owned()
    }

    fn shell(&self, rule: Rule, command: &str) -> Rule {
        rule.calls("bash", json!({"command": command, "description": "as asked"}))
    }

    fn write(&self, rule: Rule, path: &str, text: &str) -> Rule {
        rule.calls("create", json!({"path": path, "file_text": text}))
    }

    fn ask_memdir(&self, rule: Rule, tool: &str, input: Value) -> Rule {
        rule.calls(&format!("memdir-{tool}"), input)
    }
}

#[test]
fn a_session_begins_with_instructions() {
    scenario::a_session_begins_with_instructions(&Copilot);
}

#[test]
fn a_prompt_brings_what_it_is_about_or_nothing() {
    scenario::a_prompt_brings_what_it_is_about_or_nothing(&Copilot);
}

#[test]
fn the_agent_calls_our_tools() {
    scenario::the_agent_calls_our_tools(&Copilot);
}

#[test]
fn removal_leaves_settings_as_they_were() {
    scenario::removal_leaves_settings_as_they_were(&Copilot);
}

#[test]
fn s6_a_memory_stays_in_its_frame() {
    scenario::s6_a_memory_stays_in_its_frame(&Copilot);
}

#[test]
fn what_doctor_calls_off_is_off() {
    let off = "{\"disableAllHooks\": true,";
    scenario::what_doctor_calls_off_is_off(&Copilot, &|world| {
        world.change_home(".copilot/hooks/memdir.json", "{", off);
    });
}
