//! Agents that are asked by us: without tools, without hooks of ours, and a fork with the very bytes of its session.

use std::collections::BTreeMap;
use std::ffi::OsString;

use memdir_mind::model::{Agent, Env, Message, Model, ModelError, Request};
use memdir_testkit::Rule;

use crate::claude::NEW;
use crate::codex::Codex;
use crate::host::Host;
use crate::world::{KEY, World, fine, installed};

/// What is in a request for each text that a hook of ours had put there.
const FROM_HOOK: &str = "hook additional context";

fn env(world: &World) -> Env {
    let node = installed("node", "node");
    let path = format!("{}:{}", node.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let vars = [
        ("HOME", world.home().display().to_string()),
        ("PATH", path),
        ("TERM", "dumb".to_owned()),
        ("ANTHROPIC_BASE_URL", world.model.url()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("SCRIPTED_KEY", KEY.to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
    ];
    let vars = vars.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Env::new(&world.state(), vars, BTreeMap::new())
}

fn question() -> Request {
    Request {
        system: "You sum up sessions.".to_owned(),
        messages: vec![Message::user("What is left to do?")],
        max_tokens: 500,
        ..Request::default()
    }
}

#[test]
fn ci_07_sm_05_a_fork_of_claude_begins_with_the_bytes_of_its_session_and_uses_no_tool() {
    let world = World::wired(&NEW);
    world.save("project-shop", "project", "The shop opens at nine", "It opens at nine, on Sundays at ten.");
    world.model.follow(vec![Rule::always().says("It opens at nine.")]);
    let session = NEW.session(&fine(NEW.begin(&world, "when does the shop open?")));
    let parent = world.model.turns().pop().unwrap();
    let program = installed("claude", "claude");
    let fork = || {
        let agent = Agent::new(memdir_mind::model::Host::Claude, program.clone(), None, &env(&world));
        agent.forked_from(&session, &world.project()).ask(&question())
    };
    world.model.follow(vec![Rule::always().says("Nothing is left.").taking(40, 9_000, 6)]);
    let answer = fork().unwrap();
    assert_eq!(answer.text(), "Nothing is left.");
    assert_eq!((answer.usage.input, answer.usage.cached, answer.usage.output), (40, 9_000, 6));
    let asked = world.model.turns().pop().unwrap();
    asked.continues(&parent).unwrap();
    assert!(
        asked.prompt().contains("You sum up sessions.") && asked.prompt().contains("What is left to do?")
    );
    let n_hooks = |text: &str| text.matches(FROM_HOOK).count();
    assert!(n_hooks(&parent.text()) > 0, "the session itself was told something");
    assert_eq!(n_hooks(&asked.text()), n_hooks(&parent.text()), "no hook of ours spoke in the fork");
    // A user who lets their agent do everything does not let a fork do it.
    world.write_home(".claude/settings.local.json", "{}");
    let file = world.project().join("touched");
    let command = format!("touch {}", file.display());
    world.model.follow(vec![NEW.shell(Rule::always(), &command)]);
    assert!(matches!(fork(), Err(ModelError::Refused(_))));
    assert!(!file.exists());
}

#[test]
fn claude_is_asked_without_tools_hooks_instructions_and_a_session() {
    let world = World::wired(&NEW);
    world.save("project-shop", "project", "The shop opens at nine", "It opens at nine, on Sundays at ten.");
    world.model.follow(vec![Rule::always().says("fine").taking(40, 0, 6)]);
    let mut agent = Agent::new(
        memdir_mind::model::Host::Claude,
        installed("claude", "claude"),
        Some("claude-haiku-4-5"),
        &env(&world),
    );
    let answer = agent.ask(&question()).unwrap();
    assert_eq!((answer.text().as_str(), answer.usage.input), ("fine", 40));
    let asked = world.model.requests().pop().unwrap();
    assert_eq!((asked.tools().len(), asked.body()["model"].as_str()), (0, Some("claude-haiku-4-5")));
    assert!(asked.text().contains("You sum up sessions."));
    assert!(!asked.text().contains(FROM_HOOK) && !asked.text().contains("shop"), "{}", asked.text());
    assert!(!world.home().join(".claude/projects").join(slug(&world)).exists(), "no session is kept");
}

#[test]
fn codex_is_asked_without_shell_hooks_and_a_session() {
    let world = World::wired(&Codex);
    world.save("project-shop", "project", "The shop opens at nine", "It opens at nine, on Sundays at ten.");
    world.model.follow(vec![Rule::always().says("fine").taking(40, 10, 6)]);
    let mut agent =
        Agent::new(memdir_mind::model::Host::Codex, installed("codex", "codex"), None, &env(&world));
    let answer = agent.ask(&question()).unwrap();
    assert_eq!((answer.text().as_str(), answer.usage.input, answer.usage.cached), ("fine", 40, 10));
    let asked = world.model.requests().pop().unwrap();
    let has_shell = asked.tools().iter().any(|tool| tool.contains("shell") || tool.contains("exec"));
    assert!(!has_shell, "{:?}", asked.tools());
    assert!(asked.text().contains("You sum up sessions.") && !asked.text().contains("shop"));
    assert!(!world.home().join(".codex/sessions").exists(), "no session is kept");
}

/// The name of the directory in which Claude Code would keep a session that was asked by us.
fn slug(world: &World) -> String {
    let path = world.state().join("asking").display().to_string();
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
