//! What is wrong around the vaults: the place, the list of projects, memories that were left behind, the tools.

use crate::disk::Dir;
use crate::place::registry::REGISTRY;
use crate::place::{self, Certainty, Environment, OrphanKind, Place, Warning};

use super::{Finding, Remedy, Severity};

/// Looks at everything that is not inside a vault.
pub fn examine_place(place: &Place, env: &Environment) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        place.warnings.iter().map(|warning| about_warning(warning, place)).collect();
    findings.extend(home(place));
    findings.extend(vault(place));
    match place::orphans(place) {
        Ok(orphans) => findings.extend(orphans.into_iter().map(about_orphan)),
        Err(err) => findings.push(Finding::problem("registry", place.home.join(REGISTRY), err.to_string())),
    }
    if !has_git(env) {
        let message = "git is not installed: a copy of a repository without a remote is not recognised";
        findings.push(Finding {
            severity: Severity::Note,
            rule: "no-git",
            file: None,
            message: message.to_owned(),
            remedy: None,
        });
    }
    findings
}

fn about_warning(warning: &Warning, place: &Place) -> Finding {
    let registry = place.home.join(REGISTRY);
    let message = warning.to_string();
    match warning {
        Warning::RegistryBroken { .. } => {
            Finding::problem("registry", registry, message).remedy(Remedy::RewriteRegistry)
        }
        Warning::ProjectUnread { .. } | Warning::RegistryReplaced { .. } => {
            Finding::warning("registry", registry, message)
        }
        Warning::SlugTaken { .. } => Finding::note("slug-taken", &place.vault, message),
        _ => Finding::warning("ignored-setting", place.dir.as_ref().unwrap_or(&place.home), message),
    }
}

/// The state root itself; what is below it is looked at with each vault.
fn home(place: &Place) -> Option<Finding> {
    let stat = Dir::open(&place.home).ok()?.stat_self().ok()?;
    if stat.mode & 0o077 == 0 {
        return None;
    }
    let message = "others may look into the directory";
    Some(
        Finding::warning("open-to-others", &place.home, message)
            .remedy(Remedy::Restrict(vec![place.home.clone()])),
    )
}

fn vault(place: &Place) -> Option<Finding> {
    if place.vault.exists() {
        return None;
    }
    let has_history = place.state_dir().join("changes").exists();
    Some(match has_history {
        false => Finding::note("no-vault", &place.vault, "there are no memories yet"),
        true => {
            let message = "the vault is gone: memdir still has the memories";
            Finding::problem("no-vault", &place.vault, message).remedy(Remedy::MakeVault)
        }
    })
}

fn about_orphan(orphan: place::Orphan) -> Finding {
    let import = format!("`memdir import claude-code {}` takes them over", orphan.path.display());
    let path = orphan.path.clone();
    match (orphan.kind, orphan.certainty) {
        (OrphanKind::IndexPage, _) => Finding::note(
            "old-index-page",
            path,
            "an index page of an old version, which nobody reads any more",
        ),
        (_, Certainty::Certain) => {
            Finding::warning("orphaned-memories", path, "memories of this project that nobody reads here")
                .remedy(Remedy::Adopt(orphan.path))
        }
        (_, Certainty::Possible) => Finding::note(
            "orphaned-memories",
            path,
            format!("memories that may belong to this project: {import}"),
        ),
    }
}

fn has_git(env: &Environment) -> bool {
    let Some(path) = &env.search_path else { return false };
    std::env::split_paths(path).any(|dir| dir.join("git").is_file())
}
