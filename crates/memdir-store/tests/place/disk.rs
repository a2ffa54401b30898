//! What reading and writing do to the disk, and what the registry bears.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use memdir_store::place::{Environment, LocateError, Registry, RegistryError, Warning, locate, register};

use crate::world::{World, everything_below, registered_ids};

#[test]
fn locating_creates_nothing() {
    let world = World::new();
    world.repo("web");
    let before = everything_below(&world.base);
    world.locate("web");
    locate(&Environment { vault: Some(world.path("vault")), ..world.env("web") }).unwrap();
    assert_eq!(everything_below(&world.base), before);
}

#[test]
fn registering_what_is_known_writes_nothing() {
    let world = World::new();
    world.repo("web");
    world.register("web");
    let state = || {
        let metadata = fs::metadata(world.registry_file()).unwrap();
        (metadata.ino(), metadata.mtime_nsec(), fs::read(world.registry_file()).unwrap())
    };
    let before = state();
    world.register("web");
    Registry::update(&world.home(), |_| Ok::<(), RegistryError>(())).unwrap();
    assert_eq!(state(), before);
}

#[test]
fn what_is_written_is_for_its_owner_only_and_leaves_no_litter() {
    let world = World::new();
    world.repo("web");
    world.register("web");
    world.write("home/.local/share/memdir/.memdir-tmp-0123", "killed");
    world.dir("other");
    world.register("other");
    for path in everything_below(&world.home()) {
        let mode = fs::metadata(&path).unwrap().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        assert!(!path.to_string_lossy().contains("tmp-"), "{}", path.display());
    }
}

#[test]
fn a_home_that_cannot_be_written_can_be_read() {
    let world = World::new();
    world.repo("web");
    let env = Environment { memdir_home: Some(world.write("file", "")), ..world.env("web") };
    let place = locate(&env).unwrap();
    assert_eq!(place.vault, world.default_vault("web"));
    let err = register(&place).unwrap_err();
    assert!(err.to_string().contains("file"), "{err}");
}

#[test]
fn a_home_that_others_can_write_is_refused() {
    let world = World::new();
    world.repo("web");
    let home = world.dir("state");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o777)).unwrap();
    let env = Environment { memdir_home: Some(home), ..world.env("web") };
    assert!(matches!(locate(&env), Err(LocateError::WritableByAll { .. })));
}

#[test]
fn eight_processes_that_register_at_once_agree() {
    let world = World::new();
    world.repo("shared");
    let names: Vec<String> = (0..8).map(|n| format!("own{n}")).collect();
    names.iter().for_each(|name| drop(world.dir(name)));
    let ids: Vec<String> = std::thread::scope(|scope| {
        let run = |name: &String| {
            let (world, name) = (&world, name.clone());
            scope.spawn(move || {
                world.register(&name);
                world.id("shared")
            })
        };
        let threads: Vec<_> = names.iter().map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 1);
    assert_eq!(registered_ids(&world).len(), 9);
}

#[test]
fn the_registry_is_written_as_the_format_says() {
    let world = World::new();
    world.repo_with_remote("web", "https://github.com/acme/web-app.git");
    world.register("web");
    let text = fs::read_to_string(world.registry_file()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["version"], 1);
    let project = &json["projects"][0];
    assert_eq!(project["name"], "web-app");
    assert_eq!(project["state"], "active");
    assert_eq!(project["roots"], serde_json::json!([world.path("web")]));
    assert_eq!(project["git_common_dir"], serde_json::json!(world.path("web/.git")));
    assert_eq!(project["remotes"], serde_json::json!(["github.com/acme/web-app"]));
    assert_eq!(project["root_commit"].as_str().unwrap().len(), 40);
    assert_eq!(project["vault"], serde_json::json!(world.default_vault("web")));
    assert_eq!(project["claude_slugs"].as_array().unwrap().len(), 1);
    assert_eq!(project["vaults_adopted"], serde_json::json!([]));
}

#[test]
fn what_others_wrote_into_the_registry_is_kept() {
    let world = World::new();
    world.write(
        "home/.local/share/memdir/projects.json",
        r#"{"version": 1, "mine": {"b": 1, "a": 2}, "projects": [
            {"id": "web-123456", "name": "web", "doc_tier": "sapling", "doc_sync": {"STATUS.md": "2026-04-02"}},
            {"id": "../../etc", "name": "evil"}, "text", {"id": "x-1", "name": "x", "roots": "not a list"}]}"#,
    );
    world.dir("plain");
    let place = world.register("plain");
    let unread = place.warnings.iter().filter(|w| matches!(w, Warning::ProjectUnread { .. })).count();
    assert_eq!(unread, 3);
    let text = fs::read_to_string(world.registry_file()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["mine"].to_string(), r#"{"b":1,"a":2}"#);
    assert_eq!(json["projects"][0]["doc_sync"]["STATUS.md"], "2026-04-02");
    assert_eq!(json["projects"][1]["id"], "../../etc");
    assert_eq!(json["projects"][2], "text");
    assert_eq!(json["projects"][3]["roots"], "not a list");
    assert_eq!(json["projects"][4]["id"], place.project.id.as_str());
}

#[test]
fn a_damaged_registry_is_put_aside_and_what_is_left_of_it_is_carried_over() {
    let world = World::new();
    world.repo_with_remote("web", "https://github.com/acme/web");
    let web = world.register("web");
    world.dir("plain");
    let plain = world.register("plain");
    fs::create_dir_all(plain.state_dir()).unwrap();
    let whole = fs::read_to_string(world.registry_file()).unwrap();
    let cut = &whole[..whole.find(plain.project.id.as_str()).unwrap() + 3];
    fs::write(world.registry_file(), cut).unwrap();

    let read = world.locate("web");
    assert_eq!((&read.project.id, &read.vault), (&web.project.id, &web.vault));
    assert!(matches!(read.warnings[..], [Warning::RegistryBroken { n_saved: 2, .. }]), "{:?}", read.warnings);
    assert_eq!(fs::read_to_string(world.registry_file()).unwrap(), cut, "reading repairs nothing");

    let written = world.register("plain");
    assert_eq!(written.project.id, plain.project.id, "its state directory says that the id was issued");
    let [Warning::RegistryReplaced { aside, n_saved: 2 }] = &written.warnings[..] else {
        panic!("{:?}", written.warnings)
    };
    assert_eq!(fs::read_to_string(aside).unwrap(), cut);
    assert_eq!(registered_ids(&world), [web.project.id.to_string(), plain.project.id.to_string()]);
}

#[test]
fn no_damage_to_the_registry_empties_it_or_stops_a_command() {
    let world = World::new();
    world.repo("web");
    let web = world.register("web");
    for damage in
        ["", "{", "null", "[]", "{}", r#"{"projects": {}}"#, "\u{0}\u{0}", r#"{"version":"x","projects":[]}"#]
    {
        fs::write(world.registry_file(), damage).unwrap();
        let place = world.register("web");
        assert_eq!(place.project.id, web.project.id, "{damage:?}");
        let aside = place.warnings.iter().find_map(|warning| match warning {
            Warning::RegistryReplaced { aside, .. } => Some(aside.clone()),
            _ => None,
        });
        assert_eq!(fs::read_to_string(aside.unwrap()).unwrap(), damage);
    }
}

#[test]
fn a_registry_of_a_newer_memdir_is_read_but_not_changed() {
    let world = World::new();
    world.repo("web");
    world.register("web");
    let newer =
        fs::read_to_string(world.registry_file()).unwrap().replace("\"version\": 1", "\"version\": 2");
    fs::write(world.registry_file(), &newer).unwrap();
    assert!(world.locate("web").is_registered());
    world.dir("plain");
    let err = register(&world.locate("plain")).unwrap_err();
    assert!(matches!(err, LocateError::Registry(RegistryError::Newer { version: 2, .. })), "{err}");
    assert_eq!(err.hint().unwrap(), "update memdir");
    assert_eq!(fs::read_to_string(world.registry_file()).unwrap(), newer);
}

#[test]
fn a_registry_that_is_a_link_or_a_pipe_is_an_error_and_not_followed() {
    let world = World::new();
    world.repo("web");
    world.write("target", r#"{"version":1,"projects":[]}"#);
    fs::create_dir_all(world.home()).unwrap();
    symlink(world.path("target"), world.registry_file()).unwrap();
    assert!(locate(&world.env("web")).is_err());
    fs::remove_file(world.registry_file()).unwrap();
    assert!(Command::new("mkfifo").arg(world.registry_file()).status().unwrap().success());
    assert!(locate(&world.env("web")).is_err());
}

#[test]
fn two_entries_of_the_registry_never_share_an_id_or_a_vault() {
    let world = World::new();
    world.dir("one");
    world.dir("two");
    let one = world.register("one");
    let text = fs::read_to_string(world.registry_file()).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let copy = json["projects"][0].clone();
    let mut twin = copy.clone();
    twin["id"] = "two-123456".into();
    twin["roots"] = serde_json::json!([world.path("two")]);
    json["projects"].as_array_mut().unwrap().extend([copy, twin]);
    fs::write(world.registry_file(), json.to_string()).unwrap();

    let two = world.locate("two");
    assert!(matches!(two.warnings[0], Warning::ProjectUnread { .. }), "{:?}", two.warnings);
    assert_eq!(two.project.id.as_str(), "two-123456");
    assert_ne!(two.vault, one.vault);
    assert_eq!(world.locate("one").vault, one.vault);
}
