//! What a conversation teaches, found by a model.
//!
//! [`extract`] runs the sub-agent over the messages since the last time and returns [`Candidate`]s, the same that rules
//! find, with the words they rest on. Secrets are blacked out before anything leaves this process, what memdir put into the
//! conversation itself is cut out, and who said a thing is worked out here ([`Sources`]) and never asked of the model.

mod prompt;
mod source;
#[cfg(test)]
mod tests;

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use memdir_core::extract::{Candidate, Extractor, FoundBy};
use memdir_core::frame::without_frames;
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryName;
use memdir_core::secrets::Scanner;
use memdir_core::transcript::without_injected;

use crate::agent::{Budget, Content, Job, Kind, Proposal, Purpose, Refused, Report, Said, View};
use crate::model::Model;
use crate::sandbox::{Brief, RunError, Sandbox};

pub(crate) use prompt::conversation;
pub use prompt::{system, task};
pub use source::Sources;

/// What an extraction works on.
#[derive(Debug)]
pub struct Material<'a> {
    /// What was said since the last time, oldest first.
    pub window: &'a [Said],
    /// The vault.
    pub view: View,
    /// The day it is, for the user.
    pub today: Date,
    /// What counts as a secret.
    pub scanner: &'a Scanner,
    /// This machine's secret, of which frames are marked; the sub-agent gets another one made of it.
    pub key: &'a [u8],
    /// What may be spent.
    pub budget: Budget,
}

/// What an extraction found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What may be worth remembering. One with the name of a memory there is changes that memory.
    pub candidates: Vec<Candidate>,
    /// What was done and refused.
    pub report: Report,
}

/// Looks for what a conversation teaches. Where the model fails halfway, what was found until then counts.
pub fn extract(model: &mut dyn Model, sandbox: &Sandbox, material: Material<'_>) -> Result<Found, RunError> {
    let Material { window, view, today, scanner, key, budget } = material;
    let window = clean(window, scanner);
    if window.iter().all(|said| said.text.trim().is_empty()) {
        return Ok(Found { candidates: Vec::new(), report: Report::default() });
    }
    let key = ContentHash::of(&[key, b" sub-agent"].concat()).as_bytes().to_vec();
    let brief = Brief { system: system(budget.turns), task: task(&window, &view, today, &key) };
    let job = Job { purpose: Purpose::Extract, window, view, budget, key };
    let finished = sandbox.run(&job, &brief, model)?;
    if let Some(failure) = finished.failure.filter(|_| finished.proposals.is_empty()) {
        return Err(failure.into());
    }
    let mut report = finished.report;
    let candidates = candidates(finished.proposals, &job.window, &mut report);
    Ok(Found { candidates, report })
}

/// A model as one of the ways to find what a conversation teaches, beside the rules.
pub struct ByModel<'a> {
    /// Who is asked.
    pub model: &'a mut dyn Model,
    /// Where the sub-agent works.
    pub sandbox: &'a Sandbox,
    /// The vaults.
    pub view: View,
    /// The time, for the user.
    pub now: &'a Zoned,
    /// What counts as a secret.
    pub scanner: &'a Scanner,
    /// This machine's secret.
    pub key: &'a [u8],
    /// What may be spent.
    pub budget: Budget,
    /// What the last run did.
    pub report: Option<Report>,
}

impl Extractor for ByModel<'_> {
    fn extract(
        &mut self,
        window: &[memdir_core::extract::Said],
        _manifest: &str,
    ) -> Result<Vec<Candidate>, memdir_core::extract::ExtractError> {
        let zone = self.now.time_zone();
        let day = |at: Timestamp| at.to_zoned(zone.clone()).date();
        let said = window.iter().map(|said| Said {
            role: said.role,
            day: said.at.map(day),
            text: said.text.clone(),
        });
        let window: Vec<Said> = said.collect();
        let material = Material {
            window: &window,
            view: self.view.clone(),
            today: self.now.date(),
            scanner: self.scanner,
            key: self.key,
            budget: self.budget,
        };
        let found = extract(self.model, self.sandbox, material)
            .map_err(|err| memdir_core::extract::ExtractError(Box::new(err)))?;
        self.report = Some(found.report);
        Ok(found.candidates)
    }

    fn found_by(&self) -> FoundBy {
        FoundBy::Model
    }
}

/// Takes out of messages what nobody said: our own frames, what a host added, secrets.
pub fn clean(window: &[Said], scanner: &Scanner) -> Vec<Said> {
    let cleaned = window.iter().map(|said| {
        let text = without_frames(&without_injected(said.role, &said.text));
        Said { role: said.role, day: said.day, text: scanner.redacted(&text).into_owned() }
    });
    cleaned.collect()
}

/// Makes candidates of what was proposed; who said it is worked out from the window.
fn candidates(proposals: Vec<Proposal>, window: &[Said], report: &mut Report) -> Vec<Candidate> {
    let sources = Sources::of(window);
    let mut candidates = Vec::new();
    for proposal in proposals {
        let (name, content) = match proposal {
            Proposal::New { name, content } => (Ok(name), content),
            Proposal::Update { target, content } => (MemoryName::new(target.path.stem()), content),
            // No budget of an extraction lets these through.
            Proposal::Merge { .. } | Proposal::Supersede { .. } | Proposal::Archive { .. } => continue,
        };
        match name {
            Ok(name) => candidates.push(candidate(name, content, &sources)),
            Err(err) => report.refuse(&Refused::new(Kind::Input, err.to_string())),
        }
    }
    candidates
}

fn candidate(name: MemoryName, content: Content, sources: &Sources<'_>) -> Candidate {
    let provenance = sources.provenance(&content);
    let Content { memory_type, kind, scope, description, body, evidence } = content;
    Candidate { name, memory_type, kind, scope, description, body, provenance, evidence }
}
