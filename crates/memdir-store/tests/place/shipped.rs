//! What a repository may say about its memory, and what has no effect (S5).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use memdir_store::place::{Environment, FoundBy, LocateError, Warning, locate, register};

use crate::world::{World, everything_below};

/// Everything a repository may try, each as files to write; `OUT` is a directory outside.
const HOSTILE: [(&str, &[(&str, &str)]); 23] = [
    ("an outside path", &[(".claude/settings.json", r#"{"autoMemoryDirectory": "OUT"}"#)]),
    ("the same, locally", &[(".claude/settings.local.json", r#"{"autoMemoryDirectory": "OUT"}"#)]),
    ("a path below the home", &[(".claude/settings.json", r#"{"autoMemoryDirectory": "~/mem"}"#)]),
    ("a climbing path", &[(".claude/settings.json", r#"{"autoMemoryDirectory": "../out"}"#)]),
    ("a path that climbs inside", &[(".claude/settings.json", r#"{"autoMemoryDirectory": "a/../../out"}"#)]),
    (
        "a path that climbs and returns",
        &[(".claude/settings.json", r#"{"autoMemoryDirectory": "x/../notes"}"#)],
    ),
    ("a URL", &[(".claude/settings.json", r#"{"autoMemoryDirectory": "https://evil.test/mem"}"#)]),
    ("a command", &[(".claude/settings.json", r#"{"autoMemoryDirectory": "$(touch OUT/pwned)"}"#)]),
    ("the whole repository", &[(".claude/settings.json", r#"{"autoMemoryDirectory": "."}"#)]),
    ("git's own directory", &[(".claude/settings.json", r#"{"autoMemoryDirectory": ".git/hooks"}"#)]),
    ("a path that is no text", &[(".claude/settings.json", r#"{"autoMemoryDirectory": ["OUT"]}"#)]),
    ("broken JSON", &[(".claude/settings.json", r#"{"autoMemoryDirectory": "OUT","#)]),
    ("deep JSON", &[(".claude/settings.json", "DEEP-JSON")]),
    ("a huge file", &[(".claude/settings.json", "HUGE")]),
    ("our settings, outside", &[(".memdir/config.toml", "vault = \"OUT\"")]),
    ("our settings, climbing", &[(".memdir/config.toml", "vault = \"../out\"")]),
    ("our settings, a file", &[("notes", ""), (".memdir/config.toml", "vault = \"notes\"")]),
    ("a gateway", &[(".memdir/config.toml", "[gateway]\nupstream = \"http://127.0.0.1:9/\"\n")]),
    (
        "a sync server",
        &[(".memdir/config.toml", "sync.server = \"http://127.0.0.1:9\"\nsync.token = \"t\"\n")],
    ),
    ("hooks", &[(".memdir/config.toml", "[hooks]\nsave = \"touch OUT/pwned\"\n")]),
    ("an odd name", &[(".memdir/config.toml", "project = \"\\u001b[31mred\"\n")]),
    ("deep TOML", &[(".memdir/config.toml", "DEEP-TOML")]),
    (
        "all at once",
        &[
            (".claude/settings.json", r#"{"autoMemoryDirectory": "OUT"}"#),
            (".claude/settings.local.json", "{"),
            (".memdir/config.toml", "vault = \"OUT\"\nmodel.url = \"x\"\n"),
        ],
    ),
];

fn ship(world: &World, repo: &str, files: &[(&str, &str)]) {
    for (file, text) in files {
        let text = match *text {
            "HUGE" => format!("{{\"autoMemoryDirectory\": \"OUT\", \"x\": \"{}\"}}", "y".repeat(1 << 20)),
            "DEEP-JSON" => "[".repeat(500_000),
            "DEEP-TOML" => format!("{}a = 1", "a.".repeat(400_000)),
            text => text.to_owned(),
        };
        let text = text.replace("OUT", world.path("out").to_str().unwrap());
        world.write(&format!("{repo}/{file}"), &text);
    }
}

#[test]
fn what_a_repository_may_not_decide_has_no_effect_and_gives_one_warning() {
    for (attack, files) in HOSTILE {
        let world = World::new();
        world.dir("out");
        world.repo("repo");
        ship(&world, "repo", files);
        let place = world.register("repo");
        assert_eq!(place.vault, world.default_vault("repo"), "{attack}");
        assert_eq!(place.found_by, FoundBy::GitRoot, "{attack}");
        assert!(!place.off, "{attack}");
        let [Warning::Repository(ignored)] = &place.warnings[..] else {
            panic!("{attack}: {:?}", place.warnings)
        };
        assert!(!ignored.is_empty());
        let shown = place.warnings[0].to_string();
        assert!(!shown.contains(['\u{1b}', '\n']) && shown.len() < 2000, "{attack}: {shown}");
        assert_eq!(everything_below(&world.path("out")), BTreeSet::new(), "{attack}");
    }
}

#[test]
fn a_submodule_ships_its_own_settings_and_is_held_to_its_own_directory() {
    let world = World::new();
    world.repo("library");
    world.repo("repo");
    world.git("repo", &["submodule", "add", "../library", "lib"]);
    world.dir("repo/notes");
    let outside = format!(r#"{{"autoMemoryDirectory": "{}"}}"#, world.path("repo/notes").display());
    world.write("repo/lib/.claude/settings.json", &outside);
    let place = world.locate("repo/lib");
    assert_eq!(place.vault, world.default_vault("repo/lib"));
    assert!(matches!(place.warnings[..], [Warning::Repository(_)]), "{:?}", place.warnings);
    assert_eq!(world.locate("repo").warnings, []);
}

/// What a repository tries, and how it is prepared.
type Attack = (&'static str, fn(&World));

#[test]
fn settings_and_vaults_that_are_links_do_not_lead_out_of_the_repository() {
    let cases: [Attack; 6] = [
        ("a linked file", |world| {
            world.dir("repo/.claude");
            symlink(world.path("out/settings.json"), world.path("repo/.claude/settings.json")).unwrap();
        }),
        ("a linked folder", |world| symlink(world.path("out"), world.path("repo/.claude")).unwrap()),
        ("a dangling link", |world| {
            world.dir("repo/.memdir");
            symlink(world.path("gone"), world.path("repo/.memdir/config.toml")).unwrap();
        }),
        ("a linked vault", |world| {
            world.write("repo/.memdir/config.toml", "vault = \"notes\"");
            symlink(world.path("out"), world.path("repo/notes")).unwrap();
        }),
        ("a vault below a link", |world| {
            world.write("repo/.memdir/config.toml", "vault = \"notes/deep\"");
            symlink(world.path("out"), world.path("repo/notes")).unwrap();
        }),
        ("a vault that is a link inside", |world| {
            world.write("repo/.memdir/config.toml", "vault = \"notes\"");
            world.dir("repo/real");
            symlink("real", world.path("repo/notes")).unwrap();
        }),
    ];
    for (attack, prepare) in cases {
        let world = World::new();
        world.repo("repo");
        let inside = world.path("repo/notes");
        world.write("out/settings.json", &format!(r#"{{"autoMemoryDirectory": "{}"}}"#, inside.display()));
        prepare(&world);
        let place = world.locate("repo");
        assert_eq!(place.vault, world.default_vault("repo"), "{attack}");
        assert!(matches!(place.warnings[..], [Warning::Repository(_)]), "{attack}: {:?}", place.warnings);
    }
}

#[test]
fn a_pipe_in_the_place_of_settings_does_not_hold_us_up() {
    let world = World::new();
    world.repo("repo");
    world.dir("repo/.claude");
    let fifo = world.path("repo/.claude/settings.json");
    assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
    assert!(matches!(world.locate("repo").warnings[..], [Warning::Repository(_)]));
}

#[test]
fn a_variable_that_a_repository_makes_the_agent_set_is_not_the_users() {
    let world = World::new();
    world.repo("repo");
    let out = world.path("out");
    let shown = out.to_str().unwrap();
    let env = world.env("repo");
    let path = || Some(out.clone());
    for (name, env) in [
        ("MEMDIR_VAULT", Environment { vault: path(), ..env.clone() }),
        ("MEMDIR_HOME", Environment { memdir_home: path(), ..env.clone() }),
        ("XDG_DATA_HOME", Environment { xdg_data_home: path(), ..env.clone() }),
        ("CLAUDE_CONFIG_DIR", Environment { claude_config_dir: path(), ..env.clone() }),
        ("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", Environment { cowork_override: path(), ..env.clone() }),
    ] {
        world.write("repo/.claude/settings.json", &format!(r#"{{"env": {{"{name}": "{shown}"}}}}"#));
        let place = locate(&env).unwrap();
        assert_eq!((&place.vault, &place.home), (&world.default_vault("repo"), &world.home()), "{name}");
        assert!(matches!(place.warnings[..], [Warning::Repository(_)]), "{name}: {:?}", place.warnings);

        world.write("repo/.claude/settings.json", &format!(r#"{{"env": {{"{name}": "/else"}}}}"#));
        let place = locate(&env).unwrap();
        assert!(
            place.vault.starts_with(&out) || place.home.starts_with(&out),
            "{name}: the user's own counts"
        );
    }
    world.write("repo/.claude/settings.json", &format!(r#"{{"env": {{"HOME": "{shown}"}}}}"#));
    let err = locate(&Environment { home: path(), ..env }).unwrap_err();
    assert!(matches!(err, LocateError::ShippedHome), "{err}");
}

#[test]
fn a_repository_can_name_its_project_choose_a_directory_inside_and_switch_memory_off() {
    let world = World::new();
    world.repo_with_remote("repo", "https://github.com/acme/web");
    let first = world.register("repo");
    world.write("repo/.memdir/config.toml", "project = \"Shop\"\n");
    let named = world.register("repo");
    assert_eq!((named.project.name.as_str(), &named.project.id), ("Shop", &first.project.id));

    world.write("repo/.memdir/config.toml", "vault = \"docs/memory\"\n");
    let inside = world.register("repo");
    assert_eq!(
        (&inside.vault, inside.found_by),
        (&world.path("repo/docs/memory"), FoundBy::RepositorySetting)
    );
    assert!(!inside.host_loads, "the host does not know our settings");
    assert_ne!(inside.project.id, first.project.id, "another vault has another history");
    assert_eq!(inside.warnings, []);

    world.write("repo/.memdir/config.toml", "off = true\n");
    let off = world.locate("repo");
    assert!(off.off);
    assert_eq!(off.warnings, []);
}

#[test]
fn what_is_off_is_not_looked_at_and_a_repository_cannot_switch_it_on() {
    let world = World::new();
    world.repo("repo");
    world.write("home/.local/share/memdir/config.toml", "off = true\n");
    world.write("repo/.memdir/config.toml", "off = false\n");
    let vault = world.default_vault("repo");
    fs::create_dir_all(vault.parent().unwrap()).unwrap();
    fs::write(&vault, "not even a directory").unwrap();
    let before = everything_below(&world.base);
    let place = world.locate("repo");
    assert!(place.off);
    register(&place).unwrap();
    assert_eq!(everything_below(&world.base), before);
}

#[test]
fn the_users_own_settings_in_a_home_that_is_the_project_are_believed() {
    let world = World::new();
    let settings = format!(r#"{{"autoMemoryDirectory": "{}"}}"#, world.path("mem").display());
    world.write("home/.claude/settings.json", &settings);
    let place = world.locate("home");
    assert_eq!((place.vault, place.found_by), (world.path("mem"), FoundBy::UserSetting));
    assert_eq!(place.warnings, []);
}

#[test]
fn a_repository_that_declares_itself_the_home_is_not_believed() {
    let world = World::new();
    world.repo("repo");
    let [repo, out] = ["repo", "out"].map(|dir| world.path(dir).display().to_string());
    let settings = format!(r#"{{"autoMemoryDirectory": "{out}", "env": {{"HOME": "{repo}"}}}}"#);
    world.write("repo/.claude/settings.json", &settings);
    let env = Environment { home: Some(repo.into()), ..world.env("repo") };
    assert!(matches!(locate(&env), Err(LocateError::ShippedHome)));
}

#[test]
fn the_hosts_own_switch_is_noticed() {
    let world = World::new();
    world.repo("repo");
    assert!(world.locate("repo").host_loads);
    world.write("home/.claude/settings.json", r#"{"autoMemoryEnabled": false}"#);
    assert!(!world.locate("repo").host_loads);
    assert!(!world.locate("repo").off, "it is the host's switch, not ours");
    world.write("repo/.claude/settings.json", r#"{"autoMemoryEnabled": true}"#);
    assert!(world.locate("repo").host_loads);
}

#[test]
fn a_users_setting_that_is_not_understood_is_named_in_one_warning() {
    let world = World::new();
    world.dir("plain");
    world.write(
        "home/.local/share/memdir/config.toml",
        "colour = \"red\"\nof = true\n[frontmatter]\nlayout = \"odd\"\n",
    );
    world.write("home/.claude/settings.json", r#"{"autoMemoryDirectory": "relative"}"#);
    let place = world.locate("plain");
    let [Warning::Settings(ignored)] = &place.warnings[..] else { panic!("{:?}", place.warnings) };
    let keys: Vec<&str> = ignored.iter().map(|ignored| ignored.key.as_str()).collect();
    assert_eq!(keys, ["colour", "frontmatter.layout", "of", "autoMemoryDirectory"]);
}

#[test]
fn a_hostile_git_configuration_runs_nothing() {
    let world = World::new();
    world.repo("repo");
    world.git("repo", &["commit", "--allow-empty", "-m", "second"]);
    let trap = world.write("trap.sh", &format!("#!/bin/sh\ntouch {}\n", world.path("pwned").display()));
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.display();
    world.write("repo/.git/hostile", &format!("[core]\nfsmonitor = {trap}\n[pager]\nrev-list = {trap}\n"));
    let config = format!(
        "[core]\nrepositoryformatversion = 1\nfsmonitor = {trap}\nsshCommand = {trap}\nhooksPath = {base}\n\
         pager = {trap}\ngitProxy = {trap}\nalternateRefsCommand = {trap}\n[include]\npath = hostile\n\
         [alias]\nrev-list = !{trap}\n[extensions]\npartialClone = evil\n\
         [remote \"evil\"]\nurl = ssh://evil.test/x\npromisor = true\nuploadpack = {trap}\n",
        base = world.base.display()
    );
    world.write("repo/.git/config", &config);
    let repository = world.locate("repo").repository.unwrap();
    let path: Option<OsString> = std::env::var_os("PATH");
    assert!(repository.root_commit(path.as_deref()).is_some());
    // With its newest commit missing, git would fetch it by the command that the configuration names.
    let head = fs::read_to_string(world.path("repo/.git/refs/heads/main")).unwrap();
    let object = world.path(&format!("repo/.git/objects/{}/{}", &head[..2], head[2..].trim()));
    fs::remove_file(object).unwrap();
    assert_eq!(repository.root_commit(path.as_deref()), None);
    world.register("repo");
    assert!(!world.path("pwned").exists());
}
