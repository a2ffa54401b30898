//! Where the vault is: the order of the steps, work trees, long paths, odd environments (ST-01, ST-02, ST-03).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use memdir_store::place::{Environment, FoundBy, LocateError, locate, register};

use crate::world::World;

#[test]
fn the_vault_of_a_repository_is_the_directory_that_claude_code_uses() {
    let world = World::new();
    world.repo("x/y");
    let place = world.locate("x/y");
    assert_eq!(place.vault, world.default_vault("x/y"));
    assert_eq!(place.found_by, FoundBy::GitRoot);
    assert_eq!(place.home, world.home());
    assert!(place.host_loads && !place.explicit && !place.off);

    world.dir("plain");
    let place = world.locate("plain");
    assert_eq!((place.vault, place.found_by), (world.default_vault("plain"), FoundBy::Directory));
}

#[test]
fn each_step_of_the_order_wins_over_the_next() {
    let world = World::new();
    world.repo("repo");
    let shipped = format!(r#"{{"autoMemoryDirectory": "{}"}}"#, world.path("repo/notes").display());
    world.write("repo/.claude/settings.json", &shipped);
    world.write("config/settings.json", r#"{"autoMemoryDirectory": "~/mem"}"#);
    let mut env = Environment {
        vault_flag: Some(world.path("v-flag")),
        vault: Some(world.path("v-env")),
        cowork_override: Some(world.path("v-cowork")),
        claude_config_dir: Some(world.path("config")),
        claude_project_dir_name: Some("my_dir".into()),
        ..world.env("repo")
    };
    let step = |env: &Environment| {
        let place = locate(env).unwrap();
        assert_eq!(place.warnings, []);
        (place.vault.strip_prefix(&world.base).unwrap().to_str().unwrap().to_owned(), place.found_by)
    };
    assert_eq!(step(&env), ("v-flag".into(), FoundBy::Explicit));
    env.vault_flag = None;
    assert_eq!(step(&env), ("v-env".into(), FoundBy::Explicit));
    env.vault = None;
    assert_eq!(step(&env), ("v-cowork".into(), FoundBy::Cowork));
    env.cowork_override = None;
    assert_eq!(step(&env), ("repo/notes".into(), FoundBy::RepositorySetting));
    fs::remove_file(world.path("repo/.claude/settings.json")).unwrap();
    assert_eq!(step(&env), ("home/mem".into(), FoundBy::UserSetting));
    fs::remove_file(world.path("config/settings.json")).unwrap();
    assert_eq!(step(&env), ("config/projects/my_dir/memory".into(), FoundBy::ProjectDirName));
    env.claude_project_dir_name = None;
    let slug = world.default_vault("repo").parent().unwrap().file_name().unwrap().to_owned();
    let configured = Path::new("config/projects").join(slug).join("memory");
    assert_eq!(step(&env), (configured.to_str().unwrap().into(), FoundBy::GitRoot));
    env.claude_config_dir = None;
    assert_eq!(locate(&env).unwrap().vault, world.default_vault("repo"));
}

#[test]
fn a_directory_name_counts_only_together_with_a_configuration_directory() {
    let world = World::new();
    world.dir("plain");
    let env = Environment { claude_project_dir_name: Some("x".into()), ..world.env("plain") };
    assert_eq!(locate(&env).unwrap().vault, world.default_vault("plain"));
    for bad in ["../up", "a/b", "a b", "ä", &"x".repeat(65)] {
        let env = Environment {
            claude_project_dir_name: Some(bad.into()),
            claude_config_dir: Some(world.path("config")),
            ..world.env("plain")
        };
        let place = locate(&env).unwrap();
        assert_eq!(place.found_by, FoundBy::Directory, "{bad}");
        assert_eq!(place.warnings.len(), 1, "{bad}");
    }
}

#[test]
fn a_sub_directory_and_a_work_tree_have_the_vault_of_the_main_work_tree() {
    let world = World::new();
    world.repo("repo");
    world.dir("repo/src/deep");
    world.git("repo", &["worktree", "add", "../tree"]);
    world.dir("tree/src");
    let main = world.register("repo");
    for dir in ["repo/src/deep", "repo/.git/hooks", "tree", "tree/src"] {
        let place = world.register(dir);
        assert_eq!(place.vault, main.vault, "{dir}");
        assert_eq!(place.project.id, main.project.id, "{dir}");
    }
    let project = world.register("tree").project;
    assert_eq!(project.roots, [world.path("repo"), world.path("tree")]);
    assert_eq!(project.claude_slugs.len(), 2);
}

#[test]
fn a_work_tree_seen_first_leads_to_the_same_project() {
    let world = World::new();
    world.repo("repo");
    world.git("repo", &["worktree", "add", "../tree"]);
    let tree = world.register("tree");
    assert_eq!(tree.vault, world.default_vault("repo"));
    assert_eq!(world.id("repo"), tree.project.id.as_str());
}

#[test]
fn work_trees_of_a_bare_repository_share_a_vault() {
    let world = World::new();
    world.repo("seed");
    world.git("", &["clone", "--bare", "seed", "proj/.bare"]);
    world.git("proj/.bare", &["worktree", "add", "../main", "-b", "one"]);
    world.git("proj/.bare", &["worktree", "add", "../next", "-b", "two"]);
    let main = world.register("proj/main");
    let next = world.register("proj/next");
    assert_eq!(main.vault, next.vault);
    assert_eq!(main.project.id, next.project.id);
    assert_eq!(world.id("proj/.bare"), main.project.id.as_str());
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let world = World::new();
    world.repo("library");
    world.repo("repo");
    world.git("repo", &["submodule", "add", "../library", "lib"]);
    let repo = world.register("repo");
    let module = world.register("repo/lib");
    assert_ne!(repo.project.id, module.project.id);
    assert_eq!(module.dir, Some(world.path("repo/lib")));
    assert_eq!(module.project.id.as_str(), world.id("library"), "it is a clone of the library");
}

#[test]
fn a_bare_repository_is_a_project_but_not_inside_a_work_tree() {
    let world = World::new();
    world.dir("srv.git");
    world.git("srv.git", &["init", "--bare"]);
    let place = world.locate("srv.git/hooks");
    assert_eq!(place.repository.unwrap().root, world.path("srv.git"));

    world.repo("repo");
    world.dir("repo/planted");
    world.git("repo/planted", &["init", "--bare", "."]);
    world.write("repo/planted/config", "[remote \"origin\"]\nurl = https://github.com/acme/web\n");
    let place = world.locate("repo/planted");
    assert_eq!(place.dir, Some(world.path("repo")));
    assert_eq!(place.repository.unwrap().remotes, [""; 0]);
}

#[test]
fn a_repository_kept_elsewhere_is_found() {
    let world = World::new();
    world.dir("work");
    world.git("", &["init", "--separate-git-dir", "store.git", "work"]);
    let place = world.locate("work");
    let repository = place.repository.unwrap();
    assert_eq!((repository.root, repository.common_dir), (world.path("work"), world.path("store.git")));
}

#[test]
fn a_directory_that_poses_as_a_work_tree_of_another_repository_is_not_believed() {
    let world = World::new();
    world.repo("victim");
    world.git("victim", &["worktree", "add", "../tree"]);
    let victim = world.register("victim");
    let git_dir = world.path("victim/.git");
    world.write("file/.git", &format!("gitdir: {}\n", git_dir.display()));
    world.write("listed/.git", &format!("gitdir: {}/worktrees/tree\n", git_dir.display()));
    world.write("forged/.git", "gitdir: admin\n");
    world.write("forged/admin/HEAD", "ref: refs/heads/main\n");
    world.write("forged/admin/commondir", &format!("{}\n", git_dir.display()));
    world.write("forged/admin/gitdir", &format!("{}\n", world.path("forged/.git").display()));
    world.dir("link");
    symlink(&git_dir, world.path("link/.git")).unwrap();
    world.git("", &["init", "--separate-git-dir", "store.git", "apart"]);
    world.dir("link-apart");
    symlink(world.path("store.git"), world.path("link-apart/.git")).unwrap();
    for dir in ["file", "listed", "forged", "link", "link-apart"] {
        let place = world.locate(dir);
        assert_eq!(place.repository, None, "{dir}");
        assert_eq!(place.dir, Some(world.path(dir)), "{dir}");
        assert_ne!(place.vault, victim.vault, "{dir}");
    }
}

#[test]
fn a_long_path_uses_the_folder_that_exists_else_one_of_our_own() {
    let world = World::new();
    let long = format!("{}/{}", "a".repeat(150), "b".repeat(150));
    world.repo(&long);
    let own = world.locate(&long).vault;
    let folder = own.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(folder.len(), 209);

    let prefix = &folder[..200];
    let hosts = world.dir(&format!("home/.claude/projects/{prefix}-hosthash/memory"));
    assert_eq!(world.locate(&long).vault, hosts);
    let cwd = |path: PathBuf| format!("{{\"type\":\"user\",\"cwd\":\"{}\"}}\n", path.display());
    let transcript = format!("home/.claude/projects/{prefix}-hosthash/s.jsonl");
    world.write(&transcript, &cwd(world.path(&format!("{long}x"))));
    assert_eq!(world.locate(&long).vault, own, "it belongs to a neighbour with a longer name");

    world.dir(&format!("home/.claude/projects/{prefix}-other/memory"));
    world.write(&transcript, &cwd(world.path(&long)));
    assert_eq!(world.locate(&long).vault, hosts, "a transcript tells which of two it is");
}

#[test]
fn a_link_in_the_place_of_the_default_vault_is_refused() {
    let world = World::new();
    world.dir("plain");
    world.dir("elsewhere");
    let vault = world.default_vault("plain");
    fs::create_dir_all(vault.parent().unwrap()).unwrap();
    symlink(world.path("elsewhere"), &vault).unwrap();
    let err = locate(&world.env("plain")).unwrap_err();
    assert!(matches!(err, LocateError::VaultIsLink { .. }), "{err}");
    assert!(err.hint().unwrap().contains("elsewhere"));
}

#[test]
fn without_a_home_the_error_says_what_to_set() {
    let world = World::new();
    world.dir("plain");
    let env = Environment { home: None, ..world.env("plain") };
    let err = locate(&env).unwrap_err();
    assert_eq!(err.to_string(), "HOME is not set");
    assert!(err.hint().unwrap().contains("MEMDIR_HOME"));

    let env = Environment { memdir_home: Some(world.path("state")), ..env };
    assert!(locate(&env).is_err(), "the default vault is below the home");
    let env = Environment { vault: Some(world.path("vault")), ..env };
    assert_eq!(locate(&env).unwrap().vault, world.path("vault"));
}

#[test]
fn a_relative_vault_starts_at_the_working_directory_and_an_empty_flag_is_an_error() {
    let world = World::new();
    world.dir("plain");
    let flag = |text: &str| Environment { vault_flag: Some(text.into()), ..world.env("plain") };
    assert_eq!(locate(&flag("notes")).unwrap().vault, world.path("plain/notes"));
    assert_eq!(locate(&flag("../notes/")).unwrap().vault, world.path("notes"));
    assert!(matches!(locate(&flag("")), Err(LocateError::EmptyFlag("--vault"))));
}

#[test]
fn the_project_flag_replaces_the_working_directory() {
    let world = World::new();
    world.repo("repo");
    let env = Environment { project_flag: Some("../repo".into()), ..world.env("home") };
    assert_eq!(locate(&env).unwrap().vault, world.default_vault("repo"));
    world.write("file", "");
    for missing in ["../nowhere", "../file", ""] {
        let env = Environment { project_flag: Some(missing.into()), ..world.env("home") };
        assert!(locate(&env).is_err(), "{missing}");
    }
}

#[test]
fn a_directory_whose_name_is_not_unicode_is_a_clear_error_but_another_vault_can_be_named() {
    let world = World::new();
    let odd = world.base.join(OsStr::from_bytes(b"odd-\xff"));
    fs::create_dir(&odd).unwrap();
    let env = Environment { cwd: odd.clone(), ..world.env("") };
    let err = locate(&env).unwrap_err();
    assert!(matches!(err, LocateError::NotUtf8 { .. }), "{err}");
    for env in [
        Environment { vault_flag: Some(world.path("vault")), ..env.clone() },
        Environment { vault: Some(world.path("vault")), ..env.clone() },
    ] {
        let place = register(&locate(&env).unwrap()).unwrap();
        assert_eq!(place.vault, world.path("vault"));
    }
    let env = Environment { vault_flag: Some(odd.join("vault")), ..world.env("") };
    assert!(matches!(locate(&env), Err(LocateError::NotUtf8 { .. })));
}

#[test]
fn a_working_directory_that_is_gone_does_not_matter_to_a_named_vault() {
    let world = World::new();
    let env = world.env("gone");
    assert!(matches!(locate(&env), Err(LocateError::NoDirectory { .. })));
    let env = Environment { vault: Some(world.path("vault")), ..env };
    assert_eq!(locate(&env).unwrap().vault, world.path("vault"));
}

#[test]
fn what_another_user_owns_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        return; // Only root can make a file another user's.
    }
    let world = World::new();
    let stranger = Some(54_321);
    let vault = world.dir("vault");
    std::os::unix::fs::chown(&vault, stranger, None).unwrap();
    let env = Environment { vault_flag: Some(vault), ..world.env("home") };
    let err = locate(&env).unwrap_err();
    assert!(matches!(err, LocateError::NotOurs { owner: 54_321, .. }), "{err}");
    assert!(err.hint().unwrap().contains("chown"));

    world.repo("shared");
    std::os::unix::fs::chown(world.path("shared/.git"), stranger, None).unwrap();
    world.dir("shared/ours");
    let place = world.locate("shared/ours");
    assert_eq!(place.dir, Some(world.path("shared/ours")), "a repository planted further up");
    std::os::unix::fs::chown(world.path("shared/ours"), stranger, None).unwrap();
    let place = world.locate("shared/ours");
    assert_eq!(place.dir, Some(world.path("shared")), "a repository of whoever owns the directory");
    let repository = place.repository.unwrap();
    assert_eq!(repository.root_commit(std::env::var_os("PATH").as_deref()), None, "git is not run in it");

    world.dir("bare/ours");
    world.git("bare", &["init", "--bare", "."]);
    assert_eq!(world.locate("bare/ours").dir, Some(world.path("bare")));
    std::os::unix::fs::chown(world.path("bare"), stranger, None).unwrap();
    assert_eq!(world.locate("bare/ours").dir, Some(world.path("bare/ours")));
}
