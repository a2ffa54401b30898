//! UX-24: every agent's own files, before, after and before again.

use expect_test::{ExpectFile, expect_file};

use crate::world::World;

/// Tells an agent, looks at all files, tells it again, and takes it back: to the byte, and to the directory.
fn check(agent: &str, before: &[(&str, &str)], expected: ExpectFile) {
    let world = World::new();
    for (name, text) in before {
        world.write(name, text);
    }
    let untouched = world.tree();
    let report = world.init(&["--agent", agent, "--dry-run"]).json();
    assert_eq!(world.tree(), untouched, "a dry run changes nothing: {report:#}");
    let first = world.init(&["--agent", agent]).ok();
    assert!(first.stdout.contains("hooks"), "{first}");
    expected.assert_eq(&world.dump());
    let wired = world.tree();
    let again = world.init(&["--agent", agent]).ok();
    assert!(again.stdout.contains("everything is set up already"), "{again}");
    assert_eq!(world.tree(), wired, "a second time changes nothing");
    let removed = world.init(&["--agent", agent, "--remove"]).ok();
    assert!(removed.stdout.contains("removed from"), "{removed}");
    assert_eq!(world.tree(), untouched, "everything is as it was");
    let gone = world.init(&["--remove"]).ok();
    assert!(gone.stdout.contains("no agent was told of memdir"), "{gone}");
    assert!(!world.sandbox.state().join("wiring.json").exists());
    assert!(world.sandbox.vault().exists(), "the vault stays");
}

#[test]
fn ux_24_claude_code_is_told_and_left_as_it_was() {
    check(
        "claude-code",
        &[
            (
                ".claude/settings.json",
                "{\n  \"model\": \"opus\",\n  \"autoMemoryEnabled\": true,\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  },\n  \"env\": { \"A\": \"b\" }\n}\n",
            ),
            (
                ".claude.json",
                "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}",
            ),
        ],
        expect_file!["golden/claude-code.txt"],
    );
}

#[test]
fn ux_24_codex_is_told_and_left_as_it_was() {
    check(
        "codex",
        &[(
            ".codex/config.toml",
            "# mine\nmodel = \"gpt-5.4\"\n\n[mcp_servers.other]\ncommand = \"x\" # why\n",
        )],
        expect_file!["golden/codex.txt"],
    );
}

#[test]
fn ux_24_gemini_is_told_and_left_as_it_was() {
    check(
        "gemini",
        &[(
            ".gemini/settings.json",
            "{\n\t// how it looks\n\t\"ui\": { \"theme\": \"GitHub\" },\n\t\"mcpServers\": {}, /* none */\n}\n",
        )],
        expect_file!["golden/gemini.txt"],
    );
}

#[test]
fn ux_24_opencode_is_told_and_left_as_it_was() {
    check(
        "opencode",
        &[(
            ".config/opencode/opencode.jsonc",
            "{\n  \"$schema\": \"https://opencode.ai/config.json\", // checked\n}",
        )],
        expect_file!["golden/opencode.txt"],
    );
}

#[test]
fn ux_24_copilot_is_told_and_left_as_it_was() {
    check(
        "copilot",
        &[(
            ".copilot/mcp-config.json",
            "{\"mcpServers\":{\"a\":{\"type\":\"local\",\"command\":\"x\",\"tools\":[\"*\"]}}}",
        )],
        expect_file!["golden/copilot.txt"],
    );
}

#[test]
fn ux_24_cursor_is_told_and_left_as_it_was() {
    check(
        "cursor",
        &[
            (
                ".cursor/mcp.json",
                "{\r\n    \"mcpServers\": {\r\n        \"a\": { \"command\": \"x\" }\r\n    }\r\n}\r\n",
            ),
            (
                ".cursor/hooks.json",
                "{ \"version\": 1, \"hooks\": { \"stop\": [{ \"command\": \"./mine.sh\" }] } }\n",
            ),
        ],
        expect_file!["golden/cursor.txt"],
    );
}

#[test]
fn ux_24_vs_code_is_told_in_the_project_and_left_as_it_was() {
    check(
        "vscode",
        &[(
            "project/.vscode/mcp.json",
            "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"a\": { \"command\": \"x\" }\n\t}\n}\n",
        )],
        expect_file!["golden/vscode.txt"],
    );
}

#[test]
fn ux_24_goose_is_told_and_left_as_it_was() {
    check(
        "goose",
        &[(
            ".config/goose/config.yaml",
            "GOOSE_PROVIDER: anthropic # mine\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n",
        )],
        expect_file!["golden/goose.txt"],
    );
}

#[test]
fn ux_24_where_nothing_was_nothing_is_left() {
    for agent in ["claude-code", "codex", "gemini", "opencode", "copilot", "cursor", "vscode", "goose"] {
        let world = World::new();
        let untouched = world.tree();
        world.init(&["--agent", agent]).ok();
        assert_ne!(world.tree(), untouched, "{agent}");
        world.init(&["--remove"]).ok();
        assert_eq!(world.tree(), untouched, "{agent}");
    }
}

#[test]
fn ux_24_a_project_alone_can_be_told() {
    let agents = ["claude-code", "codex", "gemini", "opencode", "copilot", "cursor", "vscode"];
    let world = World::new();
    let untouched = world.tree();
    let mut args = vec!["--scope", "project", "--agent"];
    args.extend(agents);
    let output = world.init(&args).ok();
    assert!(output.stderr.contains("keep them out of its repository"), "{output}");
    let (home, project) = world.tree();
    assert_eq!(home, untouched.0, "the user's files stay out of it");
    let paths: Vec<&str> = project.paths().filter(|path| !path.ends_with('/')).collect();
    assert_eq!(
        paths,
        [
            ".claude/settings.local.json",
            ".codex/config.toml",
            ".codex/hooks.json",
            ".cursor/hooks.json",
            ".cursor/mcp.json",
            ".gemini/settings.json",
            ".github/hooks/memdir-vscode.json",
            ".github/hooks/memdir.json",
            ".github/mcp.json",
            ".mcp.json",
            ".opencode/plugin/memdir.js",
            ".vscode/mcp.json",
            "opencode.json",
        ]
    );
    // From elsewhere too: what was done is remembered by project.
    world.init(&["--remove"]).cwd(&world.sandbox.home()).ok();
    assert_eq!(world.tree(), untouched);
}
