//! What is wrong with the index page.

use std::collections::BTreeSet;

use memdir_core::memory::{INDEX_PAGE, MemoryPath};
use memdir_core::page::{Load, PageProblem, lint, over_limit_message};
use memdir_core::text::fit;

use super::{Finding, Remedy};
use crate::vault::{Snapshot, Vault};

/// How much of a foreign line is shown.
const SHOWN: usize = 60;

/// Looks at the index page of a vault that holds the memories `existing`.
pub(super) fn findings(vault: &Vault, snapshot: &Snapshot, existing: &BTreeSet<MemoryPath>) -> Vec<Finding> {
    let file = vault.path().join(INDEX_PAGE);
    let page = match snapshot.index_page() {
        Ok(Some(page)) => page,
        Ok(None) if existing.is_empty() => return Vec::new(),
        Ok(None) => {
            let message = format!("there is no index page for {} memories", existing.len());
            return vec![Finding::problem("no-index-page", file, message).remedy(Remedy::RefreshPage)];
        }
        Err(err) => return vec![Finding::problem("unreadable", file, err.to_string())],
    };
    let mut findings: Vec<Finding> =
        lint(&page, existing).into_iter().map(|problem| finding(&problem).about(&file)).collect();
    if let Some(message) = over_limit_message(Load::measure(&page)) {
        findings.push(Finding::problem("index-over-limit", &file, message).remedy(Remedy::RefreshPage));
    }
    let foreign = vault.foreign_lines().unwrap_or_default();
    if let Some(first) = foreign.first() {
        let message = format!(
            "{} lines are from elsewhere, from `{}` on: no session gets them from memdir before `memdir review` accepts them",
            foreign.len(),
            fit(first.text.trim(), SHOWN).escape_debug()
        );
        findings.push(Finding::warning("foreign-text", file, message));
    }
    findings
}

impl Finding {
    fn about(mut self, file: &std::path::Path) -> Self {
        self.file = Some(file.to_owned());
        self
    }
}

fn finding(problem: &PageProblem) -> Finding {
    let message = problem.to_string();
    let broken = |rule| Finding::problem(rule, INDEX_PAGE, &message).remedy(Remedy::RefreshPage);
    match problem {
        PageProblem::Dangling { .. } => broken("dangling-pointer"),
        PageProblem::Unindexed { .. } => broken("unindexed"),
        PageProblem::Duplicate { .. } => broken("duplicate-pointer"),
        PageProblem::StrayMarker { .. } => broken("stray-marker"),
        PageProblem::TooLong { .. } => Finding::warning("long-pointer", INDEX_PAGE, message),
        PageProblem::Content { .. } => Finding::warning("content-in-index", INDEX_PAGE, message),
    }
}
