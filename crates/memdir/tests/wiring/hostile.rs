//! Whatever may be in a settings file: it is wired as it is, or left alone and told.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::world::World;

const SETTINGS: &str = ".claude/settings.json";

/// Claude Code's settings cannot be used; the file stays, and the next agent is told all the same.
fn refused(world: &World, message: &str) {
    let before = fs::read(world.path(SETTINGS)).ok();
    let output = world.init(&["--agent", "claude-code", "codex"]).code(2);
    assert!(output.stderr.contains(message), "{message}: {output}");
    assert!(output.stderr.contains("hint:"), "{output}");
    assert_eq!(fs::read(world.path(SETTINGS)).ok(), before);
    assert!(world.read(".codex/hooks.json").contains("hook codex Stop"), "the other agent goes on");
    let report = world.init(&["--agent", "claude-code"]).json();
    assert_eq!(report["agents"][0]["state"], "failed", "{report:#}");
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone_and_the_others_go_on() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    for (text, message) in [
        ("{ \"a\": }".to_owned(), "line 1 cannot be read: a value is missing"),
        ("{\n\"hooks\": []\n}".to_owned(), "`hooks` is not an object"),
        ("{\"hooks\": {\"Stop\": \"x\"}}".to_owned(), "`hooks.Stop` is not a list"),
        ("[]".to_owned(), "is not an object"),
        (deep, "nested too deeply"),
        ("{} trailing".to_owned(), "something stands behind the end"),
    ] {
        let world = World::new();
        world.write(SETTINGS, text);
        refused(&world, message);
    }
    let world = World::new();
    world.write(SETTINGS, b"{\"a\": \"\xff\"}");
    refused(&world, "it is not UTF-8");
    let world = World::new();
    let file = fs::File::create(world.write(SETTINGS, "")).unwrap();
    file.set_len(40 << 20).unwrap();
    refused(&world, "more than settings have");
}

#[test]
fn what_is_no_file_is_left_alone() {
    let world = World::new();
    fs::create_dir_all(world.path(SETTINGS)).unwrap();
    refused(&world, "it is not a file");
    let world = World::new();
    fs::create_dir(world.path(".claude")).unwrap();
    symlink("nowhere.json", world.path(SETTINGS)).unwrap();
    refused(&world, "it is a link to nothing");
    let world = World::new();
    let path = world.write(SETTINGS, "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    refused(&world, "it is read-only");
}

#[test]
fn an_entry_of_somebody_else_under_our_name_stays() {
    let world = World::new();
    let text = "{\"mcpServers\": {\"memdir\": {\"command\": \"theirs\"}}}";
    world.write(".claude.json", text);
    let output = world.init(&["--agent", "claude-code"]).code(2);
    assert!(output.stderr.contains("`mcpServers.memdir` is there and is not memdir's"), "{output}");
    world.init(&["--remove"]).ok();
    assert_eq!(world.read(".claude.json"), text);
}

#[test]
fn ux_24_marks_line_ends_and_large_files_come_back_byte_for_byte() {
    let large = format!("{{\"history\": [{}0]}}", "\"a line that was typed\",".repeat(10_000));
    for text in
        ["\u{feff}{\r\n\t\"a\": [1,\r\n2]\r\n}\r\n", "", "{}", " \n", "// c\n{ /* d */ }", large.as_str()]
    {
        let world = World::new();
        world.write(SETTINGS, text);
        world.write(".claude.json", text);
        let untouched = world.tree();
        world.init(&["--agent", "claude-code"]).ok();
        let wired = world.read(SETTINGS);
        assert!(
            wired.contains("hook claude-code Stop")
                && wired.starts_with('\u{feff}') == text.starts_with('\u{feff}')
        );
        assert!(
            !text.contains('\r') || !wired.replace("\r\n", "").contains('\n'),
            "line ends stay: {wired:?}"
        );
        world.init(&["--remove"]).ok();
        assert!(world.tree() == untouched, "{:?}", &text[..text.floor_char_boundary(60)]);
    }
}

#[test]
fn ux_24_links_are_followed_and_modes_are_kept() {
    let world = World::new();
    let real = world.write("dotfiles/claude.json", "{\n  \"a\": 1\n}\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(world.path(".claude")).unwrap();
    symlink("../dotfiles/claude.json", world.path(SETTINGS)).unwrap();
    fs::create_dir(world.path("dotfiles/codex")).unwrap();
    symlink("dotfiles/codex", world.path(".codex")).unwrap();
    let untouched = world.tree();
    world.init(&["--agent", "claude-code", "codex"]).ok();
    assert!(fs::symlink_metadata(world.path(SETTINGS)).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("hook claude-code Stop"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(world.path("dotfiles/codex/hooks.json").exists());
    world.init(&["--remove"]).ok();
    assert_eq!(world.tree(), untouched);
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_script_that_somebody_changed_is_neither_replaced_nor_removed() {
    let world = World::new();
    world.init(&["--agent", "opencode"]).ok();
    let script = ".config/opencode/plugin/memdir.js";
    let changed = format!("{}// mine\n", world.read(script));
    world.write(script, &changed);
    assert!(world.init(&["--agent", "opencode"]).code(2).stderr.contains("changed by hand"));
    assert!(world.init(&["--remove"]).code(2).stderr.contains("changed by hand"));
    assert_eq!(world.read(script), changed);
}

#[test]
fn a_record_that_is_damaged_counts_as_lost() {
    let world = World::new();
    world.write(SETTINGS, "{\n  \"a\": 1\n}\n");
    world.init(&["--agent", "claude-code"]).ok();
    fs::write(world.sandbox.state().join("wiring.json"), "{ broken").unwrap();
    world.init(&["--remove"]).ok();
    assert_eq!(world.read(SETTINGS), "{\n  \"a\": 1\n}\n");
}
