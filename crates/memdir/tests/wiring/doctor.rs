//! What `memdir doctor` finds out about agents.

use memdir_core::hash::ContentHash;
use serde_json::Value;

use crate::world::World;

/// Answers like the hook and the server.
const GOOD: &str = r#"case "$1" in
hook) cat >/dev/null ;;
mcp) read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"memdir","version":"1"},"capabilities":{}}}'; cat >/dev/null ;;
esac"#;

/// Wires an agent as another program would have done it.
fn wired_by(world: &World, agent: &str, program: &str) {
    world.init(&["--agent", agent]).ok();
    for name in [".claude/settings.json", ".claude.json", ".codex/hooks.json", ".codex/config.toml"] {
        if world.path(name).exists() {
            let text = world.read(name).replace(&world.program(), program);
            world.write(name, text);
        }
    }
}

/// A script needs a shell and its tools.
fn doctor(world: &World, args: &[&str]) -> Value {
    world.memdir(&["doctor"]).args(args).env("PATH", "/usr/bin:/bin").json()
}

fn rules(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter_map(|finding| finding["rule"].as_str())
        .filter(|rule| rule.contains("agent") || rule.contains("codex"))
        .collect()
}

fn message(report: &Value, rule: &str) -> String {
    let mut findings = report["findings"].as_array().unwrap().iter();
    let found = findings.find(|finding| finding["rule"] == rule);
    found.unwrap_or_else(|| panic!("no {rule}: {report:#}"))["message"].as_str().unwrap().to_owned()
}

#[test]
fn an_agent_that_was_not_told_is_worth_a_note() {
    let world = World::new();
    world.write(".codex/config.toml", "");
    let report = doctor(&world, &[]);
    assert_eq!(rules(&report), ["agent-not-told"], "{report:#}");
    assert_eq!(report["agents"], serde_json::json!([]));
}

#[test]
fn a_wiring_is_shown_with_its_files() {
    let world = World::new();
    world.init(&["--agent", "claude-code"]).ok();
    let report = doctor(&world, &[]);
    let row = &report["agents"][0];
    assert_eq!(row["agent"], "claude-code", "{report:#}");
    assert!(row["hooks"].as_str().unwrap().ends_with(".claude/settings.json"));
    assert!(row["mcp"].as_str().unwrap().ends_with(".claude.json"));
    assert_eq!(row["current"], true);
    assert_eq!(row["programs"][0], world.program());
    assert_eq!((&row["hook_runs"], &row["mcp_runs"]), (&true.into(), &true.into()), "{report:#}");
    assert!(rules(&report).is_empty() && report["healthy"] == true, "{report:#}");
}

#[test]
fn every_agent_that_was_told_reaches_us() {
    let world = World::new();
    world
        .init(&[
            "--agent",
            "claude-code",
            "codex",
            "gemini",
            "opencode",
            "copilot",
            "cursor",
            "vscode",
            "goose",
        ])
        .ok();
    let report = doctor(&world, &[]);
    let agents = report["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 8, "{report:#}");
    for row in agents {
        assert_eq!((&row["hook_runs"], &row["mcp_runs"]), (&true.into(), &true.into()), "{row:#}");
    }
    assert_eq!(rules(&report), ["codex-trust"], "{report:#}");
    world.init(&["--remove"]).ok();
    assert_eq!(doctor(&world, &[])["agents"], serde_json::json!([]));
}

#[test]
fn another_program_is_told_and_run_and_fix_replaces_it() {
    let world = World::new();
    let other = world.stub("other", GOOD);
    wired_by(&world, "claude-code", &other);
    let report = doctor(&world, &[]);
    assert_eq!(rules(&report), ["agent-other-program"], "{report:#}");
    let row = &report["agents"][0];
    assert_eq!(
        (&row["hook_runs"], &row["mcp_runs"], &row["current"]),
        (&true.into(), &true.into(), &false.into())
    );
    let fixed = doctor(&world, &["--fix"]);
    assert_eq!(fixed["agents"][0]["current"], true, "{fixed:#}");
    assert!(!world.dump().contains("other/memdir"), "{}", world.dump());
}

#[test]
fn a_program_that_is_gone_is_a_problem_and_fix_replaces_it() {
    let world = World::new();
    wired_by(&world, "codex", "/nowhere/memdir");
    let report = doctor(&world, &[]);
    assert!(message(&report, "agent-lost-program").contains("/nowhere/memdir"));
    assert_eq!(report["healthy"], false);
    doctor(&world, &["--fix"]);
    assert!(!world.dump().contains("/nowhere"), "{}", world.dump());
}

#[test]
fn a_program_that_does_not_answer_is_a_problem() {
    let world = World::new();
    let failing = world.stub("failing", "echo 'no such thing' >&2; exit 3");
    wired_by(&world, "claude-code", &failing);
    let report = doctor(&world, &[]);
    assert!(message(&report, "agent-hook").contains("fails: no such thing"), "{report:#}");
    assert!(message(&report, "agent-mcp").contains("does not start: no such thing"), "{report:#}");
    let talking = world.stub("failing", "echo hello");
    wired_by(&world, "claude-code", &talking);
    let report = doctor(&world, &[]);
    assert!(message(&report, "agent-hook").contains("no host understands"), "{report:#}");
    let hanging = world.stub("failing", "exec sleep 600");
    wired_by(&world, "claude-code", &hanging);
    let report = doctor(&world, &[]);
    assert!(message(&report, "agent-hook").contains("no answer in time"), "{report:#}");
}

#[test]
fn a_wiring_that_is_not_whole_is_completed() {
    let world = World::new();
    world.init(&["--agent", "gemini"]).ok();
    let text = world.read(".gemini/settings.json");
    world.write(".gemini/settings.json", text.replace("hook gemini BeforeTool", "hook gemini Notification"));
    let report = doctor(&world, &[]);
    assert!(message(&report, "agent-incomplete").contains("6 of 6 hooks and the MCP server"), "{report:#}");
    doctor(&world, &["--fix"]);
    assert_eq!(world.read(".gemini/settings.json"), text);
    world.write(".gemini/settings.json", "{\"hooks\": {}}");
    assert_eq!(rules(&doctor(&world, &[])), ["agent-not-told"]);
}

#[test]
fn s5_a_program_that_only_the_project_names_is_never_run() {
    let world = World::new();
    let mark = world.sandbox.root().join("was-run");
    let planted = world.stub("planted", &format!("touch '{}'", mark.display()));
    world.init(&["--agent", "claude-code", "--scope", "project"]).ok();
    for name in ["project/.claude/settings.local.json", "project/.mcp.json"] {
        let text = world.read(name).replace(&world.program(), &planted);
        world.write(name, text);
    }
    let report = doctor(&world, &[]);
    assert!(message(&report, "agent-other-program").contains("planted"), "{report:#}");
    assert!(!mark.exists(), "it was run");
    assert_eq!(report["agents"][0]["hook_runs"], Value::Null);
}

#[test]
fn codex_says_which_hooks_it_trusts() {
    let world = World::new();
    let other = world.stub("other", GOOD);
    wired_by(&world, "codex", &other);
    let report = doctor(&world, &[]);
    assert!(message(&report, "codex-trust").contains("does not run 10 of 10 hooks"), "{report:#}");
    let file = world.path(".codex/hooks.json").canonicalize().unwrap();
    let hooks: Value = serde_json::from_str(&world.read(".codex/hooks.json")).unwrap();
    let mut config = world.read(".codex/config.toml");
    for (event, groups) in hooks["hooks"].as_object().unwrap() {
        let hook = &groups[0]["hooks"][0];
        let event: String = event
            .chars()
            .map(|c| if c.is_uppercase() { format!("_{}", c.to_lowercase()) } else { c.to_string() })
            .collect();
        let event = event.trim_start_matches('_');
        let told = format!(
            r#"{{"event_name":"{event}","hooks":[{{"async":false,"command":{},"timeout":{},"type":"command"}}]}}"#,
            hook["command"], hook["timeout"]
        );
        let hash = ContentHash::of(told.as_bytes());
        config.push_str(&format!(
            "\n[hooks.state.\"{}:{event}:0:0\"]\ntrusted_hash = \"sha256:{hash}\"\n",
            file.display()
        ));
    }
    world.write(".codex/config.toml", config);
    let report = doctor(&world, &[]);
    assert_eq!(report["agents"][0]["trusted"], true, "{report:#}");
    // Another program is another hook: Codex asks again.
    doctor(&world, &["--fix"]);
    let report = doctor(&world, &[]);
    assert_eq!(report["agents"][0]["trusted"], false, "{report:#}");
}

#[test]
fn settings_that_cannot_be_read_and_a_doubled_wiring_are_told() {
    let world = World::new();
    world.write(".gemini/settings.json", "{ broken");
    world.init(&["--agent", "claude-code"]).ok();
    let text = world.read(".claude/settings.json");
    world.write(
        ".claude/settings.json",
        text.replacen('{', "{ \"enabledPlugins\": { \"memdir@x\": true },", 1),
    );
    let report = doctor(&world, &[]);
    assert!(message(&report, "agent-settings").contains("Gemini CLI"), "{report:#}");
    assert!(message(&report, "agent-told-twice").contains("Claude Code"), "{report:#}");
    doctor(&world, &["--fix"]);
    assert!(!world.dump().contains("/MEMDIR"), "{}", world.dump());
}

/// Whatever file it stands in, and whoever wrote it: a wiring that does nothing is told.
#[test]
fn an_agent_that_was_switched_off_is_told() {
    let denied = r#"{ "deniedMcpServers": [{"serverName": "memdir"}],"#;
    let cases = [
        ("claude-code", ".claude/settings.json", "{", r#"{ "disableAllHooks": true,"#, "hooks"),
        ("claude-code", "project/.claude/settings.json", "", r#"{"disableAllHooks": true}"#, "hooks"),
        ("claude-code", ".claude/settings.json", "{", denied, "mcp"),
        ("codex", ".codex/config.toml", "", "\n[features]\nhooks = false\n", "hooks"),
        ("gemini", ".gemini/settings.json", "{", r#"{ "hooksConfig": { "enabled": false },"#, "hooks"),
        ("gemini", ".gemini/mcp-server-enablement.json", "", r#"{"memdir": {"enabled": false}}"#, "mcp"),
        ("copilot", "project/.github/copilot/settings.json", "", r#"{"disableAllHooks": true}"#, "hooks"),
        ("goose", ".config/goose/settings.json", "", r#"{"disabledPlugins": ["memdir"]}"#, "hooks"),
    ];
    for (agent, file, from, to, part) in cases {
        let world = World::new();
        world.init(&["--agent", agent]).ok();
        let before = doctor(&world, &[]);
        assert!(!rules(&before).contains(&"agent-switched-off"), "{agent}: {before:#}");
        let text = if world.path(file).exists() { world.read(file) } else { String::new() };
        let text = if from.is_empty() { format!("{text}{to}") } else { text.replacen(from, to, 1) };
        world.write(file, &text);
        let report = doctor(&world, &[]);
        assert_eq!(report["agents"][0]["off"], serde_json::json!([part]), "{agent} {file}: {report:#}");
        let told = message(&report, "agent-switched-off");
        let what = if part == "mcp" { "does not start the MCP server" } else { "runs no hooks" };
        assert!(told.contains(what), "{told}");
        // It is somebody's wish: told, and left as it is.
        doctor(&world, &["--fix"]);
        assert_eq!(world.read(file), text, "{agent} {file}");
    }
}

#[test]
fn a_plugin_that_was_switched_off_is_told() {
    let world = World::new();
    world.write(".claude/settings.json", r#"{ "enabledPlugins": { "memdir@memdir": false } }"#);
    let report = doctor(&world, &[]);
    assert!(message(&report, "agent-switched-off").contains("plugin of Claude Code"), "{report:#}");
    assert!(!rules(&report).contains(&"agent-not-told"), "{report:#}");
}

/// Whoever is led to a gateway needs one.
#[test]
fn an_agent_that_asks_a_silent_gateway_is_a_problem() {
    let world = World::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    std::fs::create_dir_all(world.sandbox.state()).unwrap();
    let settings = format!("[gateway]\nlisten = \"127.0.0.1:{port}\"\n");
    std::fs::write(world.sandbox.state().join("config.toml"), settings).unwrap();
    world.init(&["--agent", "claude-code", "codex"]).ok();
    world.init(&["--gateway", "--agent", "claude-code", "codex"]).ok();
    let is_silent = || {
        let report = world.memdir(&["doctor", "--json"]).env("PATH", "/usr/bin:/bin").run().json();
        rules(&report).iter().filter(|rule| **rule == "agent-gateway").count()
    };
    assert_eq!(is_silent(), 2, "one for each agent");
    let mut gateway = world.memdir(&["gateway"]).spawn();
    let begin = std::time::Instant::now();
    while is_silent() > 0 {
        assert!(begin.elapsed() < std::time::Duration::from_secs(60), "the gateway answers");
    }
    gateway.kill();
    assert_eq!(is_silent(), 2);
    world.init(&["--gateway", "--remove"]).ok();
    assert_eq!(is_silent(), 0, "nobody asks it any more");
}
