//! Whether a text that travels may enter a vault: the same gates as for everybody, asked key by key.
//!
//! A change set is all or nothing, and one bad key must not stop the others. So each text is judged before it is put
//! into one; the door judges all of them again.

use memdir_core::change::Author;
use memdir_core::memory::{Document, Memory, MemoryPath, Provenance};
use memdir_core::policy::{Proposal, Refusal, Verdict, Version, judge};
use memdir_core::team::share::{Audience, may_leave};
use memdir_core::worth::Evidence;

use super::report::Refused;
use crate::gate::Gate;

/// As whom a text of an audience enters.
pub(super) fn enters_as(audience: Audience) -> (Author, Provenance) {
    match audience {
        Audience::Team => (Author::Team, Provenance::Team),
        // What one's own machine let in comes in as it is, faults and all.
        Audience::Own => (Author::Import, Provenance::Import),
    }
}

/// Says why a text that comes from others may not enter; `None` if it may.
pub(super) fn against(
    path: &MemoryPath,
    text: &[u8],
    before: Option<&[u8]>,
    audience: Audience,
    gate: &Gate,
) -> Option<Refused> {
    if let Err(why) = may_leave(path, text, audience) {
        return Some(Refused::new(path, why.rule(), why.to_string()));
    }
    let (document, before) = (Document::parse(text), before.map(Document::parse));
    let (memory, problems) = Memory::read(path, &document);
    let read = before.as_ref().map(|document| Memory::read(path, document));
    let (author, provenance) = enters_as(audience);
    let proposal = Proposal {
        text: Version { document: &document, memory: &memory, problems: &problems },
        before: before.as_ref().zip(read.as_ref()).map(|(document, (memory, problems))| Version {
            document,
            memory,
            problems,
        }),
        author,
        provenance,
        force: None,
        review: gate.review,
        scanner: &gate.scanner,
        evidence: &Evidence::default(),
        duplicate: None,
    };
    match judge(&proposal) {
        Verdict::Refuse(refusals) => refusals.into_iter().next().map(|refusal| refused(path, refusal)),
        Verdict::Quarantine { reason } => Some(Refused::new(path, "review", reason.to_owned())),
        Verdict::Accept { .. } => None,
    }
}

fn refused(path: &MemoryPath, refusal: Refusal) -> Refused {
    Refused::new(path, &refusal.rule, refusal.evidence)
}

/// Says what secret stands in a text that is to leave; a secret that was there before counts as well.
pub(super) fn secret_in(path: &MemoryPath, text: &[u8], gate: &Gate) -> Option<Refused> {
    let finding = gate.scanner.scan(text).into_iter().next()?;
    let why = format!("line {}: {}", finding.line, finding.description);
    let refused = Refused::new(path, &format!("secret:{}", finding.rule), why);
    Some(Refused { line: Some(finding.line), ..refused })
}
