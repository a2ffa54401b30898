//! The gates: whether a proposed text may enter a vault.
//!
//! One function, called by the one door, so no writer can go around it. It is handed the text, what it replaces and
//! the memory most like it, and answers with a [`Verdict`] that explains itself. A fault that the version before
//! already had is not held against an edit: a rename must be able to mend a link in a file that never was perfect.

use serde::Serialize;

use crate::change::Author;
use crate::memory::{Document, Memory, MemoryType, Problem, ProblemKind, Provenance, Scope, sections};

/// The most bytes a memory may have when it is written.
pub const MAX_TEXT: usize = 102_400;
/// Above this size a body is better split.
pub const LONG_BODY: usize = 4 * 1024;
/// Above this length a description is better shortened.
pub const LONG_DESCRIPTION: usize = 200;

/// Why a gate refuses, in terms that a person or a model can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The rule's stable id.
    pub rule: &'static str,
    /// What was found.
    pub evidence: String,
    /// Where the text belongs instead, or what to do.
    pub destination: String,
    /// Whether a stated reason can pass it over.
    #[serde(skip)]
    pub can_force: bool,
}

/// One version of a memory.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a> {
    /// The file.
    pub document: &'a Document,
    /// What it says.
    pub memory: &'a Memory,
    /// What is wrong with it.
    pub problems: &'a [Problem],
}

/// A text on its way into a vault.
#[derive(Debug)]
pub struct Proposal<'a> {
    /// The text.
    pub text: Version<'a>,
    /// The version it replaces.
    pub before: Option<Version<'a>>,
    /// Who proposes it.
    pub author: Author,
    /// Who said it.
    pub provenance: Provenance,
    /// Why refusals are to be passed over.
    pub force: Option<&'a str>,
    /// The most similar memory of the same type, where a new file would say the same again.
    pub duplicate: Option<(&'a str, f64)>,
}

/// What the gates say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may enter; the remarks are for the author.
    Accept { remarks: Vec<String> },
    /// It waits in the inbox for the user's word.
    Quarantine { reason: &'static str },
    /// It may not enter.
    Refuse(Vec<Refusal>),
}

/// Judges a proposed text.
pub fn judge(proposal: &Proposal<'_>) -> Verdict {
    let refusals: Vec<Refusal> =
        [too_large(proposal), broken(proposal), shared_user(proposal), duplicate(proposal)]
            .into_iter()
            .flatten()
            .filter(|refusal| !(refusal.can_force && proposal.force.is_some()))
            .collect();
    if !refusals.is_empty() {
        return Verdict::Refuse(refusals);
    }
    if let Some(reason) = distrusted(proposal) {
        return Verdict::Quarantine { reason };
    }
    Verdict::Accept { remarks: remarks(proposal) }
}

fn too_large(proposal: &Proposal<'_>) -> Option<Refusal> {
    let n_bytes = proposal.text.document.bytes().len();
    (n_bytes > MAX_TEXT).then(|| Refusal {
        rule: "size",
        evidence: format!("{n_bytes} bytes: a memory has at most {MAX_TEXT}"),
        destination: "split it, or keep the text in the project's docs and remember where it is".to_owned(),
        can_force: false,
    })
}

/// What a version must not lose by an edit, or lack when it is new: what makes it a memory that can be read.
const MAKES_A_MEMORY: [ProblemKind; 12] = [
    ProblemKind::Raw,
    ProblemKind::Blanked,
    ProblemKind::NoFrontmatter,
    ProblemKind::MissingName,
    ProblemKind::MissingDescription,
    ProblemKind::MissingType,
    ProblemKind::NameMismatch,
    ProblemKind::UnknownType,
    ProblemKind::UnknownScope,
    ProblemKind::BadDate,
    ProblemKind::BadRule,
    ProblemKind::InvalidUtf8,
];

/// Refuses faults of the format that the version before did not have. What others wrote is imported as it is.
fn broken(proposal: &Proposal<'_>) -> Option<Refusal> {
    let had = |kind| {
        proposal.before.is_some_and(|before| before.problems.iter().any(|problem| problem.kind == kind))
    };
    let is_new = |problem: &&Problem| MAKES_A_MEMORY.contains(&problem.kind) && !had(problem.kind);
    let problem = proposal.text.problems.iter().find(is_new).filter(|_| proposal.author != Author::Import)?;
    let destination = match problem.kind {
        ProblemKind::MissingType | ProblemKind::UnknownType => {
            format!("set `type` to one of {}; finer words belong into `tags`", MemoryType::WORDS.join(", "))
        }
        _ => "mend it and save again".to_owned(),
    };
    Some(Refusal { rule: "format", evidence: problem.message.clone(), destination, can_force: false })
}

fn shared_user(proposal: &Proposal<'_>) -> Option<Refusal> {
    let shared = |version: Version<'_>| {
        let says_team = version.document.text("scope") == Some(Scope::Team.as_str());
        version.memory.memory_type == Some(MemoryType::User) && says_team
    };
    if !shared(proposal.text) || proposal.before.is_some_and(shared) {
        return None;
    }
    Some(Refusal {
        rule: "scope:user",
        evidence: "a memory of type user is always private".to_owned(),
        destination: "use scope private, or type feedback for a rule that the team shares".to_owned(),
        can_force: false,
    })
}

fn duplicate(proposal: &Proposal<'_>) -> Option<Refusal> {
    let (name, likeness) = proposal.duplicate.filter(|_| proposal.author != Author::Import)?;
    Some(Refusal {
        rule: "near-duplicate",
        evidence: format!("memory `{name}` says nearly the same ({:.0} %)", likeness * 100.0),
        destination: format!("update it: memdir edit {name}"),
        can_force: true,
    })
}

/// What a web page or an unknown program said must not speak as the user's memory before the user agreed.
fn distrusted(proposal: &Proposal<'_>) -> Option<&'static str> {
    if proposal.before.is_some() || proposal.author == Author::Person {
        return None;
    }
    match proposal.provenance {
        Provenance::Tool => Some("it comes from a tool's output"),
        Provenance::Outside => Some("nobody knows who wrote it"),
        _ => None,
    }
}

fn remarks(proposal: &Proposal<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    let n_bytes = proposal.text.document.body().len();
    if n_bytes > LONG_BODY {
        remarks.push(format!(
            "the body has {n_bytes} bytes: memories work best below {LONG_BODY}, consider a split"
        ));
    }
    let n_chars = proposal.text.memory.description.chars().count();
    if n_chars > LONG_DESCRIPTION {
        remarks.push(format!("the description has {n_chars} characters: {LONG_DESCRIPTION} are plenty"));
    }
    if needs_why(proposal) {
        remarks.push("the body has no `**Why:**`: a rule with its reason is followed better".to_owned());
    }
    remarks
}

fn needs_why(proposal: &Proposal<'_>) -> bool {
    let kind = proposal.text.memory.memory_type;
    let argued = matches!(kind, Some(MemoryType::Feedback | MemoryType::Project));
    argued && sections(&String::from_utf8_lossy(proposal.text.document.body())).why.is_none()
}
