//! Background work with the model that the user configured, under its caps and behind its breaker.
//!
//! Where there is no model, or it is held back, or does not answer, the caller does without: everything here answers "nobody"
//! and never fails a session. The sub-agent's process is this program again, started as `memdir mind`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use memdir_core::cache::requests;
use memdir_core::dream::{Advice, Source};
use memdir_core::extract::{Candidate, Extractor, Said};
use memdir_mind::agent::{Budget, Kind, Report, View};
use memdir_mind::dream::{Material, consolidate as consolidate_by};
use memdir_mind::extract::ByModel;
use memdir_mind::model::{Opened, Purpose};
use memdir_mind::sandbox::Sandbox;
use memdir_store::costs::{Job, SessionTokens};
use memdir_store::transcript::Transcripts;

use crate::asking::Asking;
use crate::cli::model;
use crate::context::Context;
use crate::failure::Failure;

/// As many lines of a session's file are looked at together.
const PIECE: usize = 1_000;

/// What a model found in messages.
#[derive(Default)]
pub(super) struct Found {
    /// `None` if there was nobody to ask, or no answer.
    pub(super) candidates: Option<Vec<Candidate>>,
    /// Whether asking left a receipt, whatever came of it.
    pub(super) left_receipt: bool,
}

/// Finds by a model what messages teach.
pub(super) fn extract(
    window: &[Said],
    session: Option<&str>,
    context: &Context,
    beat: &mut dyn FnMut(),
) -> Result<Found, Failure> {
    // What is wrong with the settings is told by `memdir model`.
    match model::open(context, Purpose::Large) {
        Ok(model) => extract_by(model, window, session.and_then(|id| account(id, context)), context, beat),
        Err(_) => Ok(Found::default()),
    }
}

/// Finds by this model what messages teach.
pub(super) fn extract_by(
    model: Opened,
    window: &[Said],
    account: Option<SessionTokens>,
    context: &Context,
    beat: &mut dyn FnMut(),
) -> Result<Found, Failure> {
    let Ok(program) = std::env::current_exe() else { return Ok(Found::default()) };
    let (view, key) = (view(context)?, context.key());
    let now = context.now.to_zoned(context.zone.clone());
    let gate = context.gate()?;
    let (sandbox, scanner) = (Sandbox::new(program), &gate.scanner);
    let asked = Asking { context, job: Job::Extract, session: account, beat }.run(model, |run| {
        let budget = Budget::default();
        let mut extractor = ByModel {
            model: run,
            sandbox: &sandbox,
            view,
            now: &now,
            scanner,
            key: &key,
            budget,
            report: None,
        };
        let found = extractor.extract(window, "").ok()?;
        let report = extractor.report.take().unwrap_or_default();
        if is_useless(&found, &report) {
            run.model().disappointed()
        } else {
            run.model().satisfied()
        }
        // A receipt names what came of the run, so not what the gates will refuse.
        let is_let_in = |candidate: &&Candidate| super::extract::objections(candidate, gate).is_empty();
        let let_in: Vec<String> = found.iter().filter(is_let_in).map(|it| it.name.to_string()).collect();
        let n_stopped = u32::try_from(found.len() - let_in.len()).unwrap_or(u32::MAX);
        run.model().refused(report.n_refused_in_all().saturating_add(n_stopped));
        run.model().brought(let_in);
        Some(found)
    });
    Ok(asked.map_or_else(
        |_| Found::default(),
        |asked| Found { candidates: asked.answer, left_receipt: asked.receipt.is_some() },
    ))
}

/// Asks the larger model what could be made one or put away; nothing if there is nobody to ask or no answer.
pub(crate) fn consolidate(sources: &[Source], context: &Context, beat: &mut dyn FnMut()) -> Vec<Advice> {
    let Ok(model) = model::open(context, Purpose::Large) else { return Vec::new() };
    let (Ok(program), Ok(gate)) = (std::env::current_exe(), context.gate()) else { return Vec::new() };
    let (sandbox, key) = (Sandbox::new(program), context.key());
    let material = Material {
        sources,
        today: context.now.to_zoned(context.zone.clone()).date(),
        scanner: &gate.scanner,
        key: &key,
        budget: Budget::for_dream(),
    };
    let asked = Asking { context, job: Job::Dream, session: None, beat }.run(model, |run| {
        let found = consolidate_by(run, &sandbox, material).ok()?;
        if found.advice.is_empty() && found.report.n_refused(Kind::Input) > 0 {
            run.model().disappointed();
        } else {
            run.model().satisfied();
        }
        run.model().refused(found.report.n_refused_in_all());
        run.model().brought(found.advice.iter().map(|advice| advice.names().join(" ")));
        Some(found.advice)
    });
    asked.ok().and_then(|asked| asked.answer).unwrap_or_default()
}

/// Says whether the model answered in a way that nothing could be made of.
fn is_useless(found: &[Candidate], report: &Report) -> bool {
    found.is_empty() && report.n_refused(Kind::Input) > 0
}

/// What the agent of a session has used, in tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Used {
    total: u64,
    /// What its last request read.
    pub(super) last: u64,
}

impl Used {
    /// Returns the account of the session; `None` where its file does not tell what was used.
    pub(super) fn account(self, session: &str) -> Option<SessionTokens> {
        (self.total > 0).then(|| SessionTokens { id: session.to_owned(), tokens: self.total })
    }
}

/// Returns the session on whose account is asked, with what its agent has used so far, as far as its file tells.
fn account(session: &str, context: &Context) -> Option<SessionTokens> {
    let sessions = Transcripts::of(&context.place).sessions();
    let file = sessions.into_iter().find(|known| known.id == session)?.file?;
    used(&file.path).account(session)
}

/// Adds up what the requests of a session took, by its file.
pub(super) fn used(transcript: &Path) -> Used {
    let mut used = Used::default();
    let Ok(file) = File::open(transcript) else { return used };
    let mut lines = BufReader::new(file).lines().map_while(Result::ok).peekable();
    // A file is never held whole. An answer may be told of in several lines; where a piece ends counts little.
    while lines.peek().is_some() {
        let piece: Vec<String> = lines.by_ref().take(PIECE).collect();
        for asked in requests(piece.iter().map(String::as_str)) {
            used.last = asked.read + asked.written + asked.fresh;
            used.total += used.last;
        }
    }
    used
}

/// Copies the vaults of this place, the project's first.
fn view(context: &Context) -> Result<View, Failure> {
    let mut view = View::default();
    for shelf in context.shelves()? {
        view.join(View::of(&shelf.snapshot));
    }
    Ok(view)
}
