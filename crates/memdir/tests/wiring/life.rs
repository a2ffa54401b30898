//! What happens to a wiring over the years: found, moved, changed, doubled, removed.

use std::fs;
use std::path::Path;

use memdir_testkit::Invocation;

use crate::world::World;

const SETTINGS: &str = ".claude/settings.json";

/// A copy of the program somewhere else, as after an update.
fn moved(world: &World, dir: &str) -> String {
    let path = world.sandbox.root().join(dir).join("memdir");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if fs::hard_link(world.program(), &path).is_err() {
        fs::copy(world.program(), &path).unwrap();
    }
    path.to_str().unwrap().to_owned()
}

fn run(world: &World, program: &str, args: &[&str]) -> Invocation {
    Invocation::new(Path::new(program))
        .args(args)
        .cwd(&world.sandbox.project())
        .env("PATH", world.bin())
        .env("HOME", world.sandbox.home())
        .env("MEMDIR_HOME", world.sandbox.state())
        .env("MEMDIR_VAULT", world.sandbox.vault())
}

#[test]
fn agents_are_found_by_their_directories_and_programs() {
    let world = World::new();
    let output = world.init(&[]).ok();
    assert!(output.stderr.contains("no agent was found"), "{output}");
    fs::create_dir(world.path(".claude")).unwrap();
    fs::create_dir_all(world.path(".codex")).unwrap();
    fs::write(world.bin().join("gemini"), "").unwrap();
    let report = world.init(&[]).json();
    let agents: Vec<&str> =
        report["agents"].as_array().unwrap().iter().map(|row| row["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["claude-code", "claude-code", "codex", "codex", "gemini"], "{report:#}");
}

#[test]
fn a_vault_alone_does_not_look_like_an_agent() {
    let world = World::new();
    fs::create_dir_all(world.path(".claude/projects/-p/memory")).unwrap();
    assert!(world.init(&[]).ok().stderr.contains("no agent was found"));
    world.write(".claude/projects/-p/session.jsonl", "{}\n");
    assert!(world.init(&[]).ok().stdout.contains("Claude Code"));
}

#[test]
fn ux_24_a_program_that_moved_replaces_its_entries() {
    let world = World::new();
    world.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    let untouched = world.tree();
    let old = moved(&world, "old place");
    run(&world, &old, &["init", "--agent", "claude-code", "codex"]).ok();
    assert!(world.read(SETTINGS).contains("'") && world.read(SETTINGS).contains("old place"));
    let report = world.init(&["--agent", "claude-code", "codex"]).json();
    assert!(report["agents"].as_array().unwrap().iter().all(|row| row["state"] == "renewed"), "{report:#}");
    for name in [SETTINGS, ".claude.json", ".codex/hooks.json", ".codex/config.toml"] {
        assert!(!world.read(name).contains("old place"), "{}", world.read(name));
    }
    assert_eq!(world.read(SETTINGS).matches(" hook claude-code ").count(), 11);
    world.init(&["--remove"]).ok();
    assert_eq!(world.tree(), untouched);
}

#[test]
fn a_program_on_the_path_is_called_by_that_name() {
    let world = World::new();
    let link = world.bin().join("memdir");
    std::os::unix::fs::symlink(world.program(), &link).unwrap();
    world.init(&["--agent", "codex"]).ok();
    assert!(world.read(".codex/config.toml").contains(&format!("command = \"{}\"", link.display())));
}

#[test]
fn ux_24_what_the_user_did_meanwhile_stays() {
    let world = World::new();
    world.init(&["--agent", "claude-code", "codex"]).ok();
    let text = world.read(SETTINGS);
    world.write(SETTINGS, text.replacen('{', "{\n  \"mine\": true,", 1));
    let config = world.read(".codex/config.toml");
    world.write(".codex/config.toml", format!("{config}\n[mine]\nx = 1\n"));
    world.init(&["--remove"]).ok();
    let left: serde_json::Value = serde_json::from_str(&world.read(SETTINGS)).unwrap();
    assert_eq!(left, serde_json::json!({ "mine": true }));
    assert_eq!(world.read(".codex/config.toml").trim(), "[mine]\nx = 1");
    assert!(!world.path(".codex/hooks.json").exists() && !world.path(".claude.json").exists());
}

#[test]
fn entries_go_also_when_nobody_remembers_them() {
    let world = World::new();
    world.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    world.write(".config/goose/config.yaml", "a: 1\n");
    world.init(&["--agent", "claude-code", "goose", "opencode"]).ok();
    fs::remove_file(world.sandbox.state().join("wiring.json")).unwrap();
    world.init(&["--remove"]).ok();
    assert_eq!(world.read(SETTINGS), "{\n  \"model\": \"opus\"\n}\n");
    assert_eq!(world.read(".config/goose/config.yaml"), "a: 1\n");
    assert!(!world.path(".config/opencode/plugin/memdir.js").exists());
    assert!(!world.dump().contains("MEMDIR"), "{}", world.dump());
}

#[test]
fn ux_24_one_wiring_is_enough_where_the_plugin_is_installed() {
    let world = World::new();
    world.init(&["--agent", "claude-code", "cursor"]).ok();
    let text = world.read(SETTINGS);
    world.write(SETTINGS, text.replacen('{', "{\n  \"enabledPlugins\": { \"memdir@memdir\": true },", 1));
    let output = world.init(&["--agent", "claude-code", "cursor"]).ok();
    assert!(output.stdout.contains("its plugin is installed and does the same"), "{output}");
    assert!(output.stdout.contains("it loads the plugin of Claude Code"), "{output}");
    assert!(!world.dump().contains("/MEMDIR"), "{}", world.dump());
    assert!(world.read(SETTINGS).contains("memdir@memdir"));
    world.write(SETTINGS, r#"{"enabledPlugins":{"memdir@memdir":false}}"#);
    assert!(world.init(&["--agent", "claude-code"]).ok().stdout.contains("11 hooks"));
}

#[test]
fn a_dry_run_shows_a_difference_without_colours() {
    let world = World::new();
    world.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    let output = world.init(&["--dry-run", "--agent", "claude-code"]).ok();
    for part in [
        "~/.claude/settings.json",
        "@@ ",
        "\n-  \"model\": \"opus\"\n",
        "\n+  \"model\": \"opus\",\n",
        "would have 11 hooks",
    ] {
        assert!(output.stdout.contains(part), "{part}: {output}");
    }
    assert!(!output.stdout.contains('\x1b'));
    assert!(!world.sandbox.state().exists(), "nothing is made");
}

#[test]
fn the_report_names_what_is_left_to_do() {
    let world = World::new();
    let report = world.init(&["--agent", "codex"]).json();
    assert_eq!(report["agents"][0]["state"], "wired", "{report:#}");
    assert_eq!(report["agents"][0]["part"], "hooks");
    assert_eq!(report["agents"][1]["part"], "mcp");
    assert!(report["next"][0].as_str().unwrap().contains("/hooks"), "{report:#}");
    let goose = world.init(&["--agent", "goose", "--scope", "project"]).json();
    assert_eq!(goose["agents"][0]["state"], "passed", "{goose:#}");
    world.init(&["--agent", "nobody"]).code(2);
}

#[test]
fn ux_24_several_at_once_do_what_one_does() {
    let one = World::new();
    one.write(SETTINGS, "{\"a\": 1}\n");
    one.init(&["--agent", "claude-code", "gemini", "goose"]).ok();
    let many = World::new();
    many.write(SETTINGS, "{\"a\": 1}\n");
    let untouched = many.tree();
    let running: Vec<_> =
        (0..8).map(|_| many.init(&["--agent", "claude-code", "gemini", "goose"]).spawn()).collect();
    for run in running {
        let output = run.wait();
        assert!(output.is_ok(), "{output}");
    }
    assert_eq!(many.dump(), one.dump());
    let removing: Vec<_> = (0..4).map(|_| many.init(&["--remove"]).spawn()).collect();
    removing.into_iter().for_each(|run| assert!(run.wait().is_ok()));
    assert_eq!(many.tree(), untouched);
}
