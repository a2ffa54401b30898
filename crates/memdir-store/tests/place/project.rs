//! Which project a directory belongs to: clones, moves, forks, collisions (UX-08, format test 9).

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use memdir_store::place::{
    Environment, FoundBy, ProjectId, Registry, RegistryError, Warning, locate, register,
};

use crate::world::{World, registered_ids};

#[test]
fn the_id_comes_from_the_remote_and_is_the_same_on_every_machine() {
    let ids: Vec<String> = ["one/checkout", "two/web-app"]
        .iter()
        .map(|dir| {
            let world = World::new();
            world.repo_with_remote(dir, "git@github.com:acme/web-app.git");
            world.id(dir)
        })
        .collect();
    assert_eq!(ids[0], ids[1]);
    assert!(ids[0].starts_with("web-app-") && ids[0].len() == "web-app-".len() + 6, "{}", ids[0]);
}

#[test]
fn two_clones_of_one_remote_are_one_project_with_the_vault_of_the_first() {
    let world = World::new();
    world.dir("srv.git");
    world.git("srv.git", &["init", "--bare"]);
    world.repo("seed");
    world.git("seed", &["push", "../srv.git", "main"]);
    world.git("", &["clone", "srv.git", "one"]);
    world.git("", &["clone", "srv.git", "two"]);
    let one = world.register("one");
    let two = world.register("two");
    assert_eq!(one.project.id, two.project.id);
    assert_eq!((two.vault, two.found_by), (world.default_vault("one"), FoundBy::Registry));
    assert!(!two.host_loads, "the host would look elsewhere");
    assert_eq!(two.project.roots, [world.path("one"), world.path("two")]);
    assert!(world.locate("two").is_registered() && world.locate("one").is_registered());
}

#[test]
fn a_clone_of_a_directory_is_the_project_of_that_directory_whichever_is_seen_first() {
    for order in [["origin", "copy"], ["copy", "origin"]] {
        let world = World::new();
        world.repo("origin");
        world.git("", &["clone", "origin", "copy"]);
        assert_eq!(world.id(order[0]), world.id(order[1]), "{order:?}");
        assert_eq!(registered_ids(&world).len(), 1);
    }
}

#[test]
fn a_moved_repository_keeps_its_id_and_its_vault() {
    for remote in [true, false] {
        let world = World::new();
        world.repo("old/web");
        if remote {
            world.git("old/web", &["remote", "add", "origin", "https://github.com/acme/web"]);
        }
        let before = world.register("old/web");
        world.rename("old/web", "new/name");
        let after = world.register("new/name");
        assert_eq!(after.project.id, before.project.id, "remote: {remote}");
        assert_eq!((after.vault, after.found_by), (before.vault, FoundBy::Registry));
        assert_eq!(after.project.roots, [world.path("old/web"), world.path("new/name")]);
        assert_eq!(after.project.git_common_dir, Some(world.path("new/name/.git")));
        assert_eq!(after.project.claude_slugs.len(), 2);
    }
}

#[test]
fn a_repository_without_a_commit_is_recognised_after_its_first_commit_and_a_move() {
    let world = World::new();
    world.dir("web");
    world.git("web", &["init"]);
    let id = world.id("web");
    world.git("web", &["commit", "--allow-empty", "-m", "first"]);
    assert_eq!(world.id("web"), id);
    world.rename("web", "moved");
    assert_eq!(world.id("moved"), id);
}

#[test]
fn a_directory_that_becomes_a_repository_and_gets_a_remote_keeps_its_id() {
    let world = World::new();
    world.dir("web");
    let id = world.id("web");
    world.git("web", &["init"]);
    assert_eq!(world.id("web"), id);
    world.git("web", &["commit", "--allow-empty", "-m", "first"]);
    world.git("web", &["remote", "add", "origin", "https://github.com/acme/web"]);
    assert_eq!(world.id("web"), id);
    world.git("web", &["remote", "set-url", "origin", "https://github.com/acme/renamed"]);
    let project = world.register("web").project;
    assert_eq!(project.id.as_str(), id);
    assert_eq!(project.remotes, ["github.com/acme/web", "github.com/acme/renamed"]);
    assert_eq!(registered_ids(&world), [id]);
}

#[test]
fn forks_and_templates_with_one_history_are_never_joined_unasked() {
    let world = World::new();
    world.repo_with_remote("original", "https://github.com/acme/web");
    let original = world.id("original");
    world.git("", &["clone", "original", "fork"]);
    world.git("fork", &["remote", "set-url", "origin", "https://github.com/me/web"]);
    world.git("fork", &["remote", "add", "upstream", "https://github.com/acme/web"]);
    world.git("", &["clone", "original", "template"]);
    world.git("template", &["remote", "remove", "origin"]);
    let [fork, template] = ["fork", "template"].map(|dir| world.id(dir));
    assert_eq!(BTreeSet::from([&original, &fork, &template]).len(), 3);
    assert_eq!(world.id("original"), original);
}

#[test]
fn a_joined_project_uses_the_memory_of_the_other_until_it_is_asked_for_by_its_own_vault() {
    let world = World::new();
    world.repo_with_remote("web", "https://github.com/acme/web");
    world.repo_with_remote("fork", "https://github.com/me/web");
    let [web, fork] = ["web", "fork"].map(|dir| world.register(dir));
    let (ids, home) = ((&web.project.id, &fork.project.id), world.home());
    Registry::update(&home, |registry| registry.link(ids.0, ids.1)).unwrap();
    let joined = world.locate("fork");
    assert_eq!(joined.project.id, web.project.id);
    assert_eq!(joined.vault, web.vault);
    assert!(joined.is_registered());

    let env = Environment { vault: Some(fork.vault.clone()), ..world.env("fork") };
    assert_eq!(locate(&env).unwrap().project.id, fork.project.id, "its history stays its own");

    let circle = Registry::update(&home, |registry| registry.link(ids.1, ids.0));
    assert!(matches!(circle, Err(RegistryError::Circle(_))));
    let unknown: ProjectId = "nobody-123456".parse().unwrap();
    let missing = Registry::update(&home, |registry| registry.link(ids.0, &unknown));
    assert!(matches!(missing, Err(RegistryError::Unknown(_))));
}

#[test]
fn another_repository_in_the_place_of_one_that_was_deleted_is_another_project() {
    let world = World::new();
    world.repo_with_remote("web", "https://github.com/acme/web");
    let old = world.register("web");
    fs::remove_dir_all(world.path("web")).unwrap();
    world.dir("web");
    world.git("web", &["init"]);
    world.git("web", &["commit", "--allow-empty", "-m", "something else"]);
    world.git("web", &["remote", "add", "origin", "https://github.com/acme/other"]);
    let new = world.register("web");
    assert_ne!(new.project.id, old.project.id);
    assert_ne!(new.vault, old.vault, "it must not read the memories of the other");
}

#[test]
fn two_directories_with_one_slug_get_two_vaults_and_a_warning() {
    let world = World::new();
    world.repo("a/b-c");
    world.repo("a/b/c");
    let first = world.register("a/b-c");
    let second = world.register("a/b/c");
    assert_eq!(first.vault, world.default_vault("a/b/c"));
    assert_eq!(second.vault, world.home().join("vaults").join(second.project.id.as_str()));
    assert_eq!(second.found_by, FoundBy::OwnDirectory);
    let [Warning::SlugTaken { by, .. }] = &second.warnings[..] else { panic!("{:?}", second.warnings) };
    assert_eq!(*by, first.project.id);

    let again = world.locate("a/b/c");
    assert_eq!((again.vault, again.warnings), (second.vault, vec![]), "it is said once");
    assert_eq!(world.locate("a/b-c").vault, first.vault);
}

#[test]
fn equal_ids_are_told_apart_by_more_digits() {
    let world = World::new();
    world.dir("plain");
    let first = world.register("plain");
    let env = Environment { claude_config_dir: Some(world.path("config")), ..world.env("plain") };
    fs::create_dir_all(&first.vault).unwrap();
    let second = register(&locate(&env).unwrap()).unwrap();
    assert!(second.vault.starts_with(world.path("config")), "another configuration has another memory");
    let (first, second) = (first.project.id.to_string(), second.project.id.to_string());
    assert!(second.starts_with(&first) && second.len() == first.len() + 2, "{first} {second}");
    assert_eq!(world.id("plain"), first);
}

#[test]
fn a_vault_below_a_home_that_is_gone_is_looked_for_below_the_new_one() {
    let world = World::new();
    world.repo("web");
    let before = world.register("web");
    let env =
        Environment { home: Some(world.dir("home2")), memdir_home: Some(world.home()), ..world.env("web") };
    let after = register(&locate(&env).unwrap()).unwrap();
    assert_eq!(after.project.id, before.project.id);
    assert!(after.vault.starts_with(world.path("home2")));
}

#[test]
fn a_named_vault_has_an_entry_of_its_own_until_its_directory_is_seen() {
    let world = World::new();
    world.repo("web");
    let named = world.default_vault("web");
    let env = Environment { vault: Some(named.clone()), ..world.env("home") };
    let place = register(&locate(&env).unwrap()).unwrap();
    assert!(place.explicit);
    assert_eq!(place.project.roots, [""; 0].map(PathBuf::from));
    assert_eq!(place.project.vault, Some(named.clone()));

    let seen = world.register("web");
    assert_eq!((seen.vault, &seen.project.id), (named, &place.project.id), "one vault, one history");
    assert_eq!(seen.project.roots, [world.path("web")]);
    assert_eq!(seen.project.name, "web");
    assert_eq!(locate(&env).unwrap().project.id, place.project.id);
}

#[test]
fn vaults_that_are_named_never_share_state() {
    let world = World::new();
    world.repo("web");
    let at = |vault: &str| {
        let env = Environment { vault_flag: Some(vault.into()), ..world.env("web") };
        register(&locate(&env).unwrap()).unwrap()
    };
    let [one, two, same] = [at("../one"), at("../two"), at("./../one/.")];
    assert_ne!(one.project.id, two.project.id);
    assert_eq!(one.project.id, same.project.id);
    assert_ne!(one.state_dir(), two.state_dir());
    assert_ne!(world.register("web").state_dir(), one.state_dir());
}

#[test]
fn the_user_vault_has_its_own_state_and_no_entry() {
    let world = World::new();
    let env = Environment { vault: Some(world.home().join("user")), ..world.env("home") };
    let place = register(&locate(&env).unwrap()).unwrap();
    assert_eq!(place.project.id, ProjectId::user());
    assert_eq!(place.vault, place.user_vault());
    assert!(!world.home().exists());
}

#[test]
fn without_git_installed_the_path_identifies_a_repository() {
    let world = World::new();
    world.repo("web");
    let env = Environment { search_path: None, ..world.env("web") };
    let place = register(&locate(&env).unwrap()).unwrap();
    assert_eq!(place.project.root_commit, None);
    assert_eq!(world.id("web"), place.project.id.as_str(), "also once git is there");
    let (registry, _) = Registry::load(&world.home()).unwrap();
    assert!(registry.get(&place.project.id).unwrap().root_commit.is_some());
}

#[test]
fn the_oldest_commit_of_a_shallow_clone_is_not_its_beginning() {
    let world = World::new();
    world.repo("seed");
    world.git("seed", &["commit", "--allow-empty", "-m", "second"]);
    let url = format!("file://{}", world.path("seed").display());
    world.git("", &["clone", "--depth", "1", &url, "shallow"]);
    let repository = world.locate("shallow").repository.unwrap();
    assert_eq!(repository.root_commit(std::env::var_os("PATH").as_deref()), None);
    let repository = world.locate("seed").repository.unwrap();
    assert!(repository.root_commit(std::env::var_os("PATH").as_deref()).is_some());
}

#[test]
fn a_remote_that_is_removed_does_not_make_another_project() {
    let world = World::new();
    world.repo_with_remote("web", "https://github.com/acme/web");
    let id = world.id("web");
    world.git("web", &["remote", "remove", "origin"]);
    assert_eq!(world.id("web"), id);
    fs::remove_dir_all(world.path("web/.git")).unwrap();
    assert_eq!(world.id("web"), id, "the directory is still the same");
}

#[test]
fn a_joined_project_stays_joined_whatever_configuration_is_used() {
    let world = World::new();
    world.repo_with_remote("web", "https://github.com/acme/web");
    world.repo_with_remote("fork", "https://github.com/me/web");
    let [web, fork] = ["web", "fork"].map(|dir| world.register(dir));
    Registry::update(&world.home(), |registry| registry.link(&web.project.id, &fork.project.id)).unwrap();
    fs::create_dir_all(&web.vault).unwrap();
    let env = Environment { claude_config_dir: Some(world.path("config")), ..world.env("fork") };
    let place = register(&locate(&env).unwrap()).unwrap();
    assert_eq!((place.vault, place.project.id), (web.vault, web.project.id));
}
