//! Memories that were left behind (UX-09).

use std::collections::BTreeSet;
use std::fs;

use memdir_store::place::{
    Certainty, Environment, Orphan, OrphanKind, Place, ProjectId, Registry, locate, orphans, record_adopted,
};

use crate::world::World;

fn shown(world: &World, place: &Place) -> Vec<(String, OrphanKind, Certainty)> {
    let projects = world.path("home/.claude/projects");
    let base = world.base.to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let name = |orphan: &Orphan| {
        let path = orphan.path.strip_prefix(&projects).unwrap_or(&orphan.path);
        path.to_str().unwrap().replace(&base, "")
    };
    orphans(place).unwrap().iter().map(|orphan| (name(orphan), orphan.kind, orphan.certainty)).collect()
}

fn memory(world: &World, dir: &str) -> String {
    let vault = world.default_vault(dir);
    let vault = vault.strip_prefix(&world.base).unwrap().to_str().unwrap().to_owned();
    world.write(&format!("{vault}/user-role.md"), "text\n");
    vault
}

fn transcript(world: &World, dir: &str, cwd: &str) {
    let folder = world.default_vault(dir).parent().unwrap().strip_prefix(&world.base).unwrap().to_owned();
    let line = serde_json::json!({"type": "user", "cwd": world.path(cwd)});
    world.write(&format!("{}/5da15695.jsonl", folder.display()), &format!("not json\n{{}}\n{line}\n"));
}

#[test]
fn memories_of_work_trees_former_places_and_sub_directories_are_found() {
    use Certainty::{Certain, Possible};
    use OrphanKind::{FormerRoot, IndexPage, SubDirectory};
    let world = World::new();
    world.repo("old/web");
    world.register("old/web");
    world.rename("old/web", "web");
    world.register("web");
    world.git("web", &["worktree", "add", "../tree"]);
    for dir in ["old/web", "web", "tree", "web/src", "web/docs", "web-site", "other"] {
        memory(&world, dir);
    }
    transcript(&world, "web/src", "web/src");
    transcript(&world, "web-site", "web-site");
    // A session that began in `docs`, of which only what it did above is left.
    transcript(&world, "web/docs", "web");
    let legacy = world.default_vault("web").parent().unwrap().join("MEMORY.md");
    fs::write(legacy, "- old\n").unwrap();
    world.dir("home/.claude/projects/empty");

    let found = shown(&world, &world.locate("web"));
    let expected: [(&str, OrphanKind, Certainty); 5] = [
        ("-tree/memory", FormerRoot, Certain),
        ("-web/MEMORY.md", IndexPage, Certain),
        ("-web/memory", FormerRoot, Certain),
        ("-web-docs/memory", SubDirectory, Possible),
        ("-web-src/memory", SubDirectory, Certain),
    ];
    let expected: BTreeSet<String> = expected.iter().map(|orphan| format!("{orphan:?}")).collect();
    assert_eq!(found.iter().map(|orphan| format!("{orphan:?}")).collect::<BTreeSet<_>>(), expected);
}

#[test]
fn what_is_another_projects_or_was_taken_over_is_not_left_behind() {
    let world = World::new();
    world.repo("web");
    world.repo("web/inner");
    world.register("web");
    world.register("web/inner");
    memory(&world, "web/inner");
    let adopted = memory(&world, "web/src");
    let place = world.locate("web");
    assert_eq!(
        shown(&world, &place),
        [("-web-src/memory".into(), OrphanKind::SubDirectory, Certainty::Possible)]
    );
    record_adopted(&place, &world.path(&adopted)).unwrap();
    assert_eq!(shown(&world, &world.locate("web")), []);
}

#[test]
fn the_default_vault_is_left_behind_when_a_setting_names_another_but_not_when_the_user_does() {
    let world = World::new();
    world.repo("web");
    memory(&world, "web");
    world.write("web/.memdir/config.toml", "vault = \"notes\"");
    assert_eq!(shown(&world, &world.locate("web")).len(), 1);
    let env = Environment { vault: Some(world.path("vault")), ..world.env("web") };
    assert_eq!(shown(&world, &locate(&env).unwrap()), []);
}

#[test]
fn the_vault_of_a_joined_project_is_offered() {
    let world = World::new();
    world.repo_with_remote("web", "https://github.com/acme/web");
    world.repo_with_remote("fork", "https://github.com/me/web");
    let [web, fork] = ["web", "fork"].map(|dir| world.id(dir).parse::<ProjectId>().unwrap());
    memory(&world, "fork");
    Registry::update(&world.home(), |registry| registry.link(&web, &fork)).unwrap();
    assert_eq!(
        shown(&world, &world.locate("web")),
        [("-fork/memory".into(), OrphanKind::FormerRoot, Certainty::Certain)]
    );
}
