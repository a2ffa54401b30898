//! Codex CLI.

use memdir_testkit::{Invocation, Output, Rule};
use serde_json::{Value, json};

use crate::host::Host;
use crate::scenario;
use crate::world::{KEY, World};

pub(crate) struct Codex;

impl Codex {
    /// Trust is given on the command line: a user gives it once in `/hooks`, for which there is no command.
    fn run(&self, world: &World, args: &[&str]) -> Invocation {
        let client = world.client("codex", "codex").env("SCRIPTED_KEY", KEY);
        client.args(&["exec", "--json", "--dangerously-bypass-hook-trust"]).args(args)
    }
}

impl Host for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn settle(&self, world: &World) {
        let config = format!(
            r#"# mine
model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[features] # both ask the network when the session ends
plugins = false
apps = false

[model_providers.scripted]
name = "scripted"
base_url = "{}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
"#,
            world.url()
        );
        world.write_home(".codex/config.toml", &config);
    }

    fn settings(&self) -> &'static [&'static str] {
        &[".codex/config.toml", ".codex/hooks.json"]
    }

    fn begin(&self, world: &World, prompt: &str) -> Invocation {
        self.run(world, &[prompt])
    }

    fn go_on(&self, world: &World, session: &str, prompt: &str) -> Invocation {
        self.run(world, &["resume", session, prompt])
    }

    fn session(&self, output: &Output) -> String {
        let events = output.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let started = events.into_iter().find(|event| event["type"] == "thread.started");
        started.unwrap_or_else(|| panic!("no session in {output}"))["thread_id"].as_str().unwrap().to_owned()
    }

    fn shell(&self, rule: Rule, command: &str) -> Rule {
        rule.calls("exec_command", json!({"cmd": command}))
    }

    fn write(&self, rule: Rule, path: &str, text: &str) -> Rule {
        let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n");
        rule.calls("apply_patch", json!(patch))
    }

    fn ask_memdir(&self, rule: Rule, tool: &str, input: Value) -> Rule {
        rule.calls(&format!("mcp__memdir/{tool}"), input)
    }
}

/// Names tests after their scenarios.
macro_rules! scenarios {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { scenario::$name(&Codex); })*
    };
}

scenarios![
    a_session_begins_with_instructions,
    a_fact_of_one_session_is_in_the_next,
    a_prompt_brings_what_it_is_about_or_nothing,
    the_agent_calls_our_tools,
    a_rule_stops_a_command,
    the_end_of_a_turn_is_its_end,
    ux_20_requests_only_grow,
    removal_leaves_settings_as_they_were,
    a_long_briefing_is_cut_by_us,
    the_key_is_in_no_file_of_ours,
    s6_a_memory_stays_in_its_frame,
    f4_off_means_off,
    two_sessions_at_once_are_both_told,
];

#[test]
fn a_shortened_session_knows_what_it_was_about() {
    let limited = |run: Invocation| run.args(&["-c", "model_auto_compact_token_limit=60000"]);
    scenario::a_shortened_session_knows_what_it_was_about(&Codex, &limited);
}

#[test]
fn what_doctor_calls_off_is_off() {
    let flip = |world: &World| {
        world.change_home(".codex/config.toml", "apps = false", "apps = false\nhooks = false")
    };
    scenario::what_doctor_calls_off_is_off(&Codex, &flip);
}
