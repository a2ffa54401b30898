//! `memdir init --gateway`: agents are led to the gateway by their own settings, and back again byte for byte.

use std::fs;

use crate::world::World;

const SETTINGS: &str = ".claude/settings.json";
const CONFIG: &str = ".codex/config.toml";
const OPENCODE: &str = ".config/opencode/opencode.json";

#[test]
fn agents_are_led_to_the_gateway_and_back() {
    let world = World::new();
    world.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    world.write(CONFIG, "model = \"o3\"\n\n[tui]\nx = 1\n");
    world.write(OPENCODE, "{\"provider\": {\"anthropic\": {}}}");
    fs::write(world.bin().join("gemini"), "").unwrap();
    let untouched = world.tree();
    assert!(world.init(&["--gateway", "--dry-run"]).ok().stdout.contains("+    \"ANTHROPIC_BASE_URL\""));
    assert_eq!(world.tree(), untouched, "a dry run writes nothing");
    let output = world.init(&["--gateway"]).ok();
    assert!(
        output.stdout.contains("set GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4738 where you start it"),
        "{output}"
    );
    assert!(output.stderr.contains("keep `memdir gateway` running"), "{output}");
    let settings: serde_json::Value = serde_json::from_str(&world.read(SETTINGS)).unwrap();
    assert_eq!(settings["env"]["ANTHROPIC_BASE_URL"], "http://127.0.0.1:4738");
    assert_eq!(settings.get("hooks"), None, "hooks are another matter");
    assert!(
        world.read(CONFIG).starts_with("model = \"o3\"\n\nopenai_base_url = \"http://127.0.0.1:4738/v1\"\n")
    );
    let opencode: serde_json::Value = serde_json::from_str(&world.read(OPENCODE)).unwrap();
    assert_eq!(opencode["provider"]["anthropic"]["options"]["baseURL"], "http://127.0.0.1:4738/v1");
    let led = world.tree();
    let again = world.init(&["--gateway"]).json();
    let states: Vec<&str> =
        again["agents"].as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["already", "already", "told", "already"]);
    assert_eq!(world.tree(), led, "once is enough");
    world.init(&["--gateway", "--remove"]).ok();
    assert_eq!(world.tree(), untouched);
    assert!(world.init(&["--gateway", "--remove"]).ok().stdout.contains("no agent asks the gateway"));
}

#[test]
fn whoever_removes_everything_is_led_back_too() {
    let world = World::new();
    world.write(SETTINGS, "{}\n");
    world.write(CONFIG, "model = \"o3\"\n");
    let untouched = world.tree();
    world.init(&["--gateway", "--agent", "claude-code", "codex"]).ok();
    world.init(&["--agent", "claude-code", "codex"]).ok();
    assert!(world.read(SETTINGS).contains("ANTHROPIC_BASE_URL") && world.read(SETTINGS).contains(" hook "));
    world.init(&["--remove"]).ok();
    assert!(!world.read(SETTINGS).contains("127.0.0.1"), "{}", world.read(SETTINGS));
    assert!(!world.read(CONFIG).contains("127.0.0.1"), "{}", world.read(CONFIG));
    let left: serde_json::Value = serde_json::from_str(&world.read(SETTINGS)).unwrap();
    assert_eq!(left, serde_json::json!({}));
    assert_eq!(untouched.0.paths().count(), world.tree().0.paths().count());
}

#[test]
fn an_address_of_the_users_choice_is_kept_and_named() {
    let world = World::new();
    let text = "{\"env\": {\"ANTHROPIC_BASE_URL\": \"https://proxy.example.com\"}}\n";
    world.write(SETTINGS, text);
    let output = world.init(&["--gateway", "--agent", "claude-code", "codex"]).code(2);
    assert!(output.stderr.contains("`env.ANTHROPIC_BASE_URL` names another address"), "{output}");
    assert!(output.stderr.contains("[gateway.upstreams.NAME]"), "{output}");
    assert_eq!(world.read(SETTINGS), text);
    assert!(world.read(CONFIG).contains("openai_base_url"), "the others are led all the same");
}

#[test]
fn a_gateway_that_moved_takes_its_agents_along() {
    let world = World::new();
    world.init(&["--gateway", "--agent", "claude-code", "codex"]).ok();
    let config = world.sandbox.state().join("config.toml");
    fs::write(config, "[gateway]\nlisten = \"127.0.0.1:9999\"\n").unwrap();
    let report = world.init(&["--gateway", "--agent", "claude-code", "codex"]).json();
    assert!(report["agents"].as_array().unwrap().iter().all(|row| row["state"] == "renewed"), "{report:#}");
    assert!(world.read(SETTINGS).contains("http://127.0.0.1:9999\""), "{}", world.read(SETTINGS));
    assert!(
        world.read(CONFIG).contains("http://127.0.0.1:9999/v1\"") && !world.read(CONFIG).contains("4738")
    );
    world.init(&["--gateway", "--remove"]).ok();
    assert!(!world.path(SETTINGS).exists() && !world.path(CONFIG).exists(), "{}", world.dump());
}

#[test]
fn whoever_was_led_to_an_earlier_address_is_led_back_whatever_the_settings_say() {
    let world = World::new();
    let listen = |address: &str| {
        let text = format!("[gateway]\nlisten = \"{address}\"\n");
        fs::write(world.sandbox.state().join("config.toml"), text).unwrap();
    };
    world.init(&["--gateway", "--agent", "claude-code"]).ok();
    listen("127.0.0.1:9999");
    world.init(&["--gateway", "--agent", "codex"]).ok();
    listen("127.0.0.1:0");
    let output = world.init(&["--gateway", "--agent", "codex"]).run();
    assert!(output.code != 0 && output.stderr.contains("another port at each start"), "{output}");
    world.init(&["--remove"]).ok();
    assert!(!world.path(SETTINGS).exists() && !world.path(CONFIG).exists(), "{}", world.dump());
}
