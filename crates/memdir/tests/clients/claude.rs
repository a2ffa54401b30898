//! Claude Code.
//!
//! What hooks say is a message of its own for newer models and a part of the user's message for older ones, so every
//! scenario runs with one of each.

use memdir_testkit::{Invocation, Output, Rule};
use serde_json::{Value, json};

use crate::host::Host;
use crate::scenario;
use crate::world::{KEY, World, eventually, fine};

/// A model that is told by messages of their own.
pub(crate) const NEW: Claude = Claude { model: "claude-opus-5-5" };
/// A model that is told within the user's message.
pub(crate) const OLD: Claude = Claude { model: "claude-sonnet-4-5-20250929" };

pub(crate) struct Claude {
    model: &'static str,
}

impl Claude {
    fn run(&self, world: &World, args: &[&str]) -> Invocation {
        world
            .client("claude", "claude")
            .env("ANTHROPIC_BASE_URL", world.url())
            .env("ANTHROPIC_API_KEY", KEY)
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .args(args)
            .args(&["--model", self.model, "--output-format", "json"])
            .args(&["--allowedTools", "Bash", "Write", "Read", "Agent", "mcp__memdir__*"])
    }
}

impl Host for Claude {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn settle(&self, world: &World) {
        // A user's own words, comments and hooks, which stay as they are.
        let settings = "{\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \
                        \"command\", \"command\": \"true\" }] }\n    ]\n  }\n}\n";
        world.write_home(".claude/settings.json", settings);
    }

    fn settings(&self) -> &'static [&'static str] {
        &[".claude/settings.json"]
    }

    fn begin(&self, world: &World, prompt: &str) -> Invocation {
        self.run(world, &["-p", prompt])
    }

    fn go_on(&self, world: &World, session: &str, prompt: &str) -> Invocation {
        self.run(world, &["-p", prompt, "--resume", session])
    }

    fn session(&self, output: &Output) -> String {
        output.json()["session_id"].as_str().unwrap().to_owned()
    }

    fn shell(&self, rule: Rule, command: &str) -> Rule {
        rule.calls("Bash", json!({"command": command, "description": "as asked"}))
    }

    fn write(&self, rule: Rule, path: &str, text: &str) -> Rule {
        rule.calls("Write", json!({"file_path": path, "content": text}))
    }

    fn ask_memdir(&self, rule: Rule, tool: &str, input: Value) -> Rule {
        rule.calls(&format!("mcp__memdir__{tool}"), input)
    }
}

/// Names tests after their scenarios, each with both kinds of model.
macro_rules! scenarios {
    ($($name:ident),* $(,)?) => {
        mod with_a_new_model {
            $(#[test] fn $name() { super::scenario::$name(&super::NEW); })*
        }
        mod with_an_old_model {
            $(#[test] fn $name() { super::scenario::$name(&super::OLD); })*
        }
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
    s6_a_memory_stays_in_its_frame,
];

#[test]
fn a_shortened_session_knows_what_it_was_about() {
    for host in [NEW, OLD] {
        let limited = |run: Invocation| run.args(&["--autocompact", "100k"]);
        scenario::a_shortened_session_knows_what_it_was_about(&host, &limited);
    }
}

#[test]
fn f4_off_means_off() {
    scenario::f4_off_means_off(&NEW);
}

#[test]
fn two_sessions_at_once_are_both_told() {
    scenario::two_sessions_at_once_are_both_told(&NEW);
}

#[test]
fn removal_leaves_settings_as_they_were() {
    scenario::removal_leaves_settings_as_they_were(&NEW);
}

#[test]
fn a_long_briefing_is_cut_by_us() {
    scenario::a_long_briefing_is_cut_by_us(&NEW);
}

#[test]
fn the_key_is_in_no_file_of_ours() {
    scenario::the_key_is_in_no_file_of_ours(&NEW);
}

/// The news that a task in the background has ended comes the way of the user's words, and is not taken for them.
#[test]
fn what_a_machine_says_is_not_taken_for_the_users_words() {
    let world = World::wired(&NEW);
    let task = json!({
        "description": "count", "prompt": "count the penguins", "subagent_type": "general-purpose", "run_in_background": true,
    });
    let long = "I looked at one more file and it is as it should be. ".repeat(1_000);
    world.model.follow(vec![
        Rule::on_prompt("have the penguins counted").once().calls("Agent", task),
        Rule::on_prompt("<task-notification>").says(&long),
        Rule::always().says("Seven penguins."),
    ]);
    fine(NEW.begin(&world, "have the penguins counted in the background"));
    let heard = world.model.requests().iter().any(|request| request.text().contains("<task-notification>"));
    assert!(heard, "the agent was told by a notification");
    let words = |wanted: &str| {
        let files = world.files_of_memdir().into_iter();
        let holding = files.filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains(wanted));
        holding.map(|(path, _)| path).collect::<Vec<_>>()
    };
    eventually("the user's words are kept", || !words("have the penguins counted").is_empty());
    assert_eq!(words("task-notification"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn what_doctor_calls_off_is_off() {
    let flip = |world: &World| world.change_home(".claude/settings.json", "{", "{\"disableAllHooks\": true,");
    scenario::what_doctor_calls_off_is_off(&NEW, &flip);
}
