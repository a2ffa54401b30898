//! `memdir projects`: which projects there are, and joining two that are one.

use std::path::Path;

use clap::Subcommand;
use memdir_core::page::router;
use memdir_core::text::age;
use memdir_core::tiers::DocTier;
use memdir_store::place::{self, Environment, Project, ProjectId, Registry, RegistryError};
use serde_json::{Value, json};

use super::overview::{self, Overview};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// List the projects that memdir knows
///
/// The one with the latest activity comes first. Status is what the journal left open; the tier says how much
/// documentation a project deserves: seed, sapling or tree.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print a markdown table: project, status, last activity, doc tier
    #[arg(long)]
    markdown: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Let one project use the memory of another from now on
    ///
    /// For a fork or a copy that memdir does not join by itself. The memories of JOINED stay where they are;
    /// `memdir doctor --fix` copies them over.
    Link {
        /// The project whose memory is used: an id, or a directory
        main: String,
        /// The projects that join it
        #[arg(required = true)]
        joined: Vec<String>,
    },
    /// Call a project by another name; its id stays
    Rename {
        /// Which: an id, or a directory
        which: String,
        /// Its name from now on
        name: String,
    },
    /// Say how far a project has grown, or with `auto` let the signs say so
    Tier {
        /// Which: an id, or a directory
        which: String,
        /// seed, sapling, tree or auto
        tier: String,
    },
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let (registry, warnings) = Registry::load(&context.place.home).map_err(|err| failure(&err, context))?;
    match &args.action {
        None => {
            warnings.iter().for_each(|warning| ui.warn(&warning.to_string()));
            list(args.markdown, context, ui)
        }
        Some(Action::Link { main, joined }) => link(main, joined, &registry, context, ui),
        Some(Action::Rename { which, name }) => rename(which, name, &registry, context, ui),
        Some(Action::Tier { which, tier }) => set_tier(which, tier, &registry, context, ui),
    }
}

fn list(markdown: bool, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let rows = overview::all(context, true)?;
    if ui.is_json() {
        ui.json(&rows.iter().map(as_json).collect::<Vec<_>>());
        return Ok(Outcome::Done);
    }
    if rows.is_empty() {
        ui.say("no projects yet: `memdir init` registers this one");
        return Ok(Outcome::Nothing);
    }
    if markdown {
        let own = rows.iter().filter(|row| row.project.linked_to.is_none());
        ui.block(&router(&own.map(|row| row.row(context)).collect::<Vec<_>>()));
        return Ok(Outcome::Done);
    }
    let columns = [
        Column::new("name").tone(Tone::Strong),
        Column::new("id"),
        Column::new("state"),
        Column::new("tier"),
        Column::new("status").giving_way(),
        Column::new("memories"),
        Column::new("last activity").tone(Tone::Faint),
        Column::new("vault").giving_way(),
    ];
    let cells = |row: &Overview| {
        let here = if row.is_here { " *" } else { "" };
        vec![
            format!("{}{here}", row.project.name),
            row.project.id.to_string(),
            state(&row.project),
            row.verdict.tier.to_string(),
            row.status.words(),
            row.n_memories.to_string(),
            row.last.map_or_else(|| "never".to_owned(), |last| age(last, context.now)),
            row.project.vault.as_ref().map_or_else(String::new, |vault| vault.display().to_string()),
        ]
    };
    ui.table(&columns, &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(Outcome::Done)
}

fn state(project: &Project) -> String {
    match &project.linked_to {
        Some(main) => format!("joined to {main}"),
        None => project.state.clone(),
    }
}

fn as_json(row: &Overview) -> Value {
    let project = &row.project;
    json!({
        "id": project.id,
        "name": project.name,
        "state": project.state,
        "tier": row.verdict.tier,
        "tier_locked": row.verdict.is_locked,
        "status": row.status.words(),
        "unfinished": row.open.len(),
        "linked_to": project.linked_to,
        "memories": row.n_memories,
        "last_activity": row.last,
        "vault": project.vault,
        "roots": project.roots,
        "remotes": project.remotes,
        "here": row.is_here,
    })
}

fn link(
    main: &str,
    joined: &[String],
    registry: &Registry,
    context: &Context,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let main = resolve(main, registry, context)?;
    let joined: Vec<ProjectId> =
        joined.iter().map(|text| resolve(text, registry, context)).collect::<Result<_, _>>()?;
    let linked = Registry::update(&context.place.home, |registry| {
        joined.iter().try_for_each(|id| registry.link(&main, id))
    });
    linked.map_err(|err| failure(&err, context))?;
    if ui.is_json() {
        ui.json(&json!({ "project": main, "joined": joined }));
    } else {
        joined.iter().for_each(|id| ui.line(&format!("{id} now uses the memory of {main}")));
        ui.say("`memdir doctor` in that project offers to copy the memories that stayed behind");
    }
    Ok(Outcome::Done)
}

fn rename(
    which: &str,
    name: &str,
    registry: &Registry,
    context: &Context,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let id = resolve(which, registry, context)?;
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() {
        return Err(Failure::error("the name is empty"));
    }
    let renamed = Registry::update(&context.place.home, |registry| {
        let project = registry.get(&id).ok_or_else(|| RegistryError::Unknown(id.clone()))?;
        registry.put(Project { name: name.clone(), ..project.clone() });
        Ok(())
    });
    renamed.map_err(|err| failure(&err, context))?;
    if ui.is_json() {
        ui.json(&json!({ "project": id, "name": name }));
    } else {
        ui.line(&format!("{id} is called {name}"));
    }
    Ok(Outcome::Done)
}

fn set_tier(
    which: &str,
    tier: &str,
    registry: &Registry,
    context: &Context,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let id = resolve(which, registry, context)?;
    let tier: Option<DocTier> = if tier == "auto" { None } else { Some(tier.parse()?) };
    let set = Registry::update(&context.place.home, |registry| {
        let mut project = registry.get(&id).cloned().ok_or_else(|| RegistryError::Unknown(id.clone()))?;
        project.set_doc_tier(tier, tier.is_some());
        registry.put(project);
        Ok(())
    });
    set.map_err(|err| failure(&err, context))?;
    if ui.is_json() {
        ui.json(&json!({ "project": id, "tier": tier, "tier_locked": tier.is_some() }));
    } else if let Some(tier) = tier {
        ui.line(&format!("{id} is a {tier}; its documents: {}", tier.documents().join(", ")));
    } else {
        ui.line(&format!("the signs say how far {id} has grown"));
    }
    Ok(Outcome::Done)
}

/// Finds a registered project by its id, or by a directory that belongs to it.
fn resolve(text: &str, registry: &Registry, context: &Context) -> Result<ProjectId, Failure> {
    if let Ok(id) = text.parse::<ProjectId>()
        && registry.get(&id).is_some()
    {
        return Ok(id);
    }
    let unknown = || {
        let failure = Failure::error(format!("no project is called `{text}`"));
        let named = registry.projects().filter(|project| project.name == text);
        let ids: Vec<&str> = named.map(|project| project.id.as_str()).collect();
        match ids.is_empty() {
            true => failure.hint("`memdir projects` lists the ids; a directory works too"),
            false => failure.hint(format!("its id is {}", ids.join(" or "))),
        }
    };
    if !context.env.cwd.join(text).is_dir() {
        return Err(unknown());
    }
    let place = place::locate(&around(Path::new(text), &context.env))?;
    registry.get(&place.project.id).map(|project| project.id.clone()).ok_or_else(unknown)
}

/// The environment of a command that acts for another directory and names no vault.
fn around(dir: &Path, env: &Environment) -> Environment {
    Environment { project_flag: Some(dir.to_owned()), vault_flag: None, vault: None, ..env.clone() }
}

fn failure(err: &RegistryError, context: &Context) -> Failure {
    let failure = Failure::from_chain(err);
    match err {
        RegistryError::Unknown(_) => failure.hint("`memdir projects` lists them"),
        RegistryError::Circle(_) => failure.hint("name two different projects"),
        _ => failure.hint(format!("the list is kept in {}", context.place.home.display())),
    }
}
