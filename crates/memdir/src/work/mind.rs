//! Background work with the model that the user configured, under its caps and behind its breaker.
//!
//! Where there is no model, or it is held back, or does not answer, the caller does without: everything here answers "nobody"
//! and never fails a session. The sub-agent's process is this program again, started as `memdir mind`.

use std::fs::File;
use std::io::{BufRead, BufReader};

use memdir_core::cache::requests;
use memdir_core::extract::{Candidate, Extractor, Said};
use memdir_mind::agent::{Budget, Kind, Report, View};
use memdir_mind::extract::ByModel;
use memdir_mind::guard::Guarded;
use memdir_mind::model::Purpose;
use memdir_mind::sandbox::Sandbox;
use memdir_store::breaker::Breakers;
use memdir_store::costs::{CostBook, Job, SessionTokens};
use memdir_store::transcript::Transcripts;

use crate::cli::model;
use crate::context::Context;
use crate::failure::Failure;

/// As many lines of a session's file are looked at together.
const PIECE: usize = 1_000;

/// Finds by a model what messages teach; `None` if there is nobody to ask or no answer.
pub(super) fn extract(
    window: &[Said],
    session: Option<&str>,
    context: &Context,
) -> Result<Option<Vec<Candidate>>, Failure> {
    // What is wrong with the settings is told by `memdir model`.
    let Ok(model) = model::open(context, Purpose::Large) else { return Ok(None) };
    let Ok(program) = std::env::current_exe() else { return Ok(None) };
    let account = session.and_then(|session| account(session, context));
    let (book, breakers) =
        (CostBook::new(&context.place.home, &context.place.settings), Breakers::new(&context.place.home));
    let Ok(mut guarded) = Guarded::new(model, &book, &breakers, Job::Extract, account, context.now) else {
        return Ok(None);
    };
    let (view, key) = (view(context)?, context.key());
    let now = context.now.to_zoned(context.zone.clone());
    let sandbox = Sandbox::new(program);
    let mut extractor = ByModel {
        model: &mut guarded,
        sandbox: &sandbox,
        view,
        now: &now,
        scanner: &context.gate()?.scanner,
        key: &key,
        budget: Budget::default(),
        report: None,
    };
    let found = extractor.extract(window, "");
    let report = extractor.report.take();
    let Ok(found) = found else { return Ok(None) };
    if report.as_ref().is_some_and(|report| is_useless(&found, report)) {
        guarded.disappointed();
    } else {
        guarded.satisfied();
    }
    guarded.brought(found.iter().map(|candidate| candidate.name.to_string()));
    Ok(Some(found))
}

/// Says whether the model answered in a way that nothing could be made of.
fn is_useless(found: &[Candidate], report: &Report) -> bool {
    found.is_empty() && report.n_refused(Kind::Input) > 0
}

/// Returns the session on whose account is asked, with what its agent has used so far, as far as its file tells.
fn account(session: &str, context: &Context) -> Option<SessionTokens> {
    let sessions = Transcripts::of(&context.place).sessions();
    let file = sessions.into_iter().find(|known| known.id == session)?.file?;
    let lines = BufReader::new(File::open(&file.path).ok()?).lines().map_while(Result::ok);
    let mut tokens = 0;
    let mut lines = lines.peekable();
    // A file is never held whole. An answer may be told of in several lines; where a piece ends counts little.
    while lines.peek().is_some() {
        let piece: Vec<String> = lines.by_ref().take(PIECE).collect();
        let asked = requests(piece.iter().map(String::as_str));
        tokens += asked.iter().map(|asked| asked.read + asked.written + asked.fresh).sum::<u64>();
    }
    (tokens > 0).then(|| SessionTokens { id: session.to_owned(), tokens })
}

/// Copies the vaults of this place, the project's first.
fn view(context: &Context) -> Result<View, Failure> {
    let mut view = View::default();
    for shelf in context.shelves()? {
        view.join(View::of(&shelf.snapshot));
    }
    Ok(view)
}
