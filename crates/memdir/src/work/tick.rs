//! What is looked at every few minutes: claims, days, sessions that nobody ended.

use memdir_core::text::count;
use memdir_store::place::{Environment, Registry};
use memdir_store::verify::Verifier;
use memdir_store::watch::{self, Sight};
use serde_json::{Value, json};

use super::end::end_abandoned;
use super::{context_at, dream, whereabouts};
use crate::context::{Context, USER};
use crate::failure::Failure;

/// As many names are told in a line.
const TOLD: usize = 3;

/// What a look at one project found.
#[derive(Debug)]
pub(crate) struct Tick {
    pub(crate) project: String,
    name: String,
    memories: Vec<(&'static str, Sight)>,
    /// Sessions that were silent for a day and are ended now.
    ended: Vec<String>,
}

/// Looks at a project: its memories and those of the user that are about it, and the sessions that nobody ended.
pub(crate) fn tick(context: &Context, beat: &mut dyn FnMut()) -> Result<Tick, Failure> {
    let now = context.now.to_zoned(context.zone.clone());
    let verifier = Verifier::around(&context.place, &context.env, context.now, context.zone.clone());
    let mut memories = Vec::new();
    for vault in context.vaults()? {
        let whose = if vault.id() == USER { "user" } else { "project" };
        let seen = watch::look(&vault, &verifier, &now, beat)?;
        memories.extend(seen.into_iter().map(|sight| (whose, sight)));
    }
    let ended = end_abandoned(context)?;
    dream::wish(context)?;
    let project = &context.place.project;
    Ok(Tick { project: project.id.to_string(), name: project.name.clone(), memories, ended })
}

/// Returns the registered projects that can be found, each as the context of a command that is run there.
pub(crate) fn places(env: &Environment) -> Result<Vec<Context>, Failure> {
    let (registry, _) = Registry::load(&env.state_root()?).map_err(|err| Failure::from_chain(&err))?;
    let found = registry.projects().filter_map(|project| whereabouts(project, env));
    let found = found.filter(|(_, place)| !place.off);
    found.map(|(env, place)| context_at(env, place)).collect()
}

impl Tick {
    fn stale(&self) -> impl Iterator<Item = &Sight> {
        self.memories.iter().map(|(_, sight)| sight).filter(|sight| sight.needs_verification)
    }

    fn near(&self) -> impl Iterator<Item = String> {
        let near = self.memories.iter().filter_map(|(_, sight)| Some((&sight.name, sight.near.as_ref()?)));
        near.map(|(name, near)| format!("{name}: {near}"))
    }

    /// Says whether everything that memories claim is so, as far as it can be told.
    pub(crate) fn is_well(&self) -> bool {
        self.stale().next().is_none()
    }

    /// Tells it in a line.
    pub(crate) fn line(&self) -> String {
        let names = |names: Vec<String>| {
            let more = names.len().saturating_sub(TOLD);
            let more = if more > 0 { format!(", {more} more") } else { String::new() };
            format!("{}{more}", names[..names.len().min(TOLD)].join(", "))
        };
        let mut parts = vec![count(self.memories.len(), "memory", "memories")];
        let stale: Vec<String> = self
            .stale()
            .map(|sight| format!("{}{}", sight.name, if sight.is_news { " (new)" } else { "" }))
            .collect();
        if !stale.is_empty() {
            parts.push(format!("{} to verify: {}", stale.len(), names(stale)));
        }
        let near: Vec<String> = self.near().collect();
        if !near.is_empty() {
            parts.push(format!("{} near: {}", count(near.len(), "day", "days"), names(near)));
        }
        if !self.ended.is_empty() {
            parts.push(format!("{} ended", count(self.ended.len(), "silent session", "silent sessions")));
        }
        format!("{}: {}", self.name, parts.join("; "))
    }

    /// Tells it to programs. Whether claims hold and whether a memory is used are fields of their own.
    pub(crate) fn json(&self) -> Value {
        let memory = |(whose, sight): &(&str, Sight)| {
            json!({
                "name": sight.name,
                "vault": whose,
                "needs_verification": sight.needs_verification,
                "news": sight.is_news,
                "note": sight.found,
                "idle_days": sight.idle_days,
                "near": sight.near,
            })
        };
        json!({
            "project": self.project,
            "needs_verification": self.stale().map(|sight| &sight.name).collect::<Vec<_>>(),
            "near": self.near().collect::<Vec<_>>(),
            "ended_sessions": self.ended,
            "memories": self.memories.iter().map(memory).collect::<Vec<_>>(),
        })
    }
}
