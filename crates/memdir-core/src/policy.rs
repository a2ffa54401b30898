//! The gates: whether a proposed text may enter a vault.
//!
//! One function, called by the one door, so no writer can go around it. It is handed the text, what it replaces and
//! the memory most like it, and answers with a [`Verdict`] that explains itself. A fault that the version before
//! already had is not held against an edit: a rename must be able to mend a link in a file that never was perfect.

use serde::Serialize;

use crate::change::Author;
use crate::memory::{Document, MAX_BODY, Memory, MemoryType, Problem, ProblemKind, Provenance, Scope};

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

impl Proposal<'_> {
    /// Says whether the version before had this fault too.
    fn had(&self, kind: ProblemKind) -> bool {
        self.before.is_some_and(|before| before.problems.iter().any(|problem| problem.kind == kind))
    }
}

/// What the gates say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may enter, perhaps only because a reason was given; the remarks are for the author.
    Accept { remarks: Vec<String>, forced: bool },
    /// It waits in the inbox for the user's word.
    Quarantine { reason: &'static str },
    /// It may not enter.
    Refuse(Vec<Refusal>),
}

/// Judges a proposed text.
pub fn judge(proposal: &Proposal<'_>) -> Verdict {
    let found = [too_large(proposal), broken(proposal), shared_user(proposal), duplicate(proposal)];
    let can_pass = |refusal: &Refusal| refusal.can_force && proposal.force.is_some();
    let (passed_over, refusals): (Vec<Refusal>, Vec<Refusal>) =
        found.into_iter().flatten().partition(can_pass);
    if !refusals.is_empty() {
        return Verdict::Refuse(refusals);
    }
    if let Some(reason) = distrusted(proposal) {
        return Verdict::Quarantine { reason };
    }
    Verdict::Accept { remarks: remarks(proposal), forced: !passed_over.is_empty() }
}

fn too_large(proposal: &Proposal<'_>) -> Option<Refusal> {
    let n_bytes = proposal.text.document.bytes().len();
    (n_bytes > MAX_BODY).then(|| Refusal {
        rule: "size",
        evidence: format!("{n_bytes} bytes: a memory has at most {MAX_BODY}"),
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
    let is_new = |problem: &&Problem| MAKES_A_MEMORY.contains(&problem.kind) && !proposal.had(problem.kind);
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

/// What an author should hear about a text that may enter, unless the version before was like that already.
const WORTH_A_REMARK: [ProblemKind; 3] =
    [ProblemKind::LongBody, ProblemKind::LongDescription, ProblemKind::MissingWhy];

fn remarks(proposal: &Proposal<'_>) -> Vec<String> {
    let is_new = |problem: &&Problem| WORTH_A_REMARK.contains(&problem.kind) && !proposal.had(problem.kind);
    proposal.text.problems.iter().filter(is_new).map(|problem| problem.message.clone()).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::memory::MemoryPath;

    fn version((document, memory, problems): &(Document, Memory, Vec<Problem>)) -> Version<'_> {
        Version { document, memory, problems }
    }

    /// Judges a file with this frontmatter and body as a new memory, or as the next version of `before`.
    fn check(text: &str, before: Option<&str>, change: impl FnOnce(&mut Proposal<'_>), expected: Expect) {
        let path = MemoryPath::new("note.md").unwrap();
        let parse = |text: &str| {
            let document = Document::parse(text.as_bytes());
            let (memory, problems) = Memory::read(&path, &document);
            (document, memory, problems)
        };
        let (text, before) = (parse(text), before.map(parse));
        let mut proposal = Proposal {
            text: version(&text),
            before: before.as_ref().map(version),
            author: Author::Person,
            provenance: Provenance::User,
            force: None,
            duplicate: None,
        };
        change(&mut proposal);
        let shown = match judge(&proposal) {
            Verdict::Accept { remarks, forced: false } => format!("accepted {remarks:?}"),
            Verdict::Accept { remarks, forced: true } => format!("forced {remarks:?}"),
            Verdict::Quarantine { reason } => format!("quarantined: {reason}"),
            Verdict::Refuse(refusals) => {
                refusals.iter().map(|refusal| format!("{}: {}\n", refusal.rule, refusal.evidence)).collect()
            }
        };
        expected.assert_eq(&shown);
    }

    const NOTE: &str = "---\nname: note\ndescription: a note\ntype: reference\n---\n\nWhere to look.\n";
    const FEEDBACK: &str = "---\nname: note\ndescription: a note\ntype: feedback\n---\n\nDo it.\n";

    #[test]
    fn a_sound_memory_enters_and_a_missing_reason_is_remarked_once() {
        check(NOTE, None, |_| {}, expect!["accepted []"]);
        check(FEEDBACK, None, |_| {}, expect!["accepted [\"a feedback memory says why: add `**Why:**`\"]"]);
        check(FEEDBACK, Some(FEEDBACK), |_| {}, expect!["accepted []"]);
    }

    #[test]
    fn what_makes_a_memory_cannot_be_missing_or_lost() {
        let untyped = NOTE.replace("type: reference\n", "");
        let refused = expect![[r#"
            format: no type: `project` would fit
        "#]];
        check(&untyped, Some(NOTE), |_| {}, refused);
        check(&untyped, Some(&untyped), |_| {}, expect!["accepted []"]);
        check(&untyped, None, |proposal| proposal.author = Author::Import, expect!["accepted []"]);
    }

    #[test]
    fn a_memory_about_the_user_is_never_shared() {
        let shared = NOTE.replace("type: reference", "type: user\nmetadata:\n  scope: team");
        let refused = expect![[r#"
            scope:user: a memory of type user is always private
        "#]];
        check(&shared, None, |proposal| proposal.force = Some("I insist"), refused);
    }

    #[test]
    fn a_duplicate_is_refused_unless_a_reason_is_given() {
        let refused = expect![[r#"
            near-duplicate: memory `other` says nearly the same (93 %)
        "#]];
        check(NOTE, None, |proposal| proposal.duplicate = Some(("other", 0.931)), refused);
        let insist = |proposal: &mut Proposal<'_>| {
            proposal.duplicate = Some(("other", 0.931));
            proposal.force = Some("two teams, two rules");
        };
        check(NOTE, None, insist, expect!["forced []"]);
    }

    #[test]
    fn what_a_tool_said_waits_for_the_user() {
        let by_tool = |proposal: &mut Proposal<'_>| {
            proposal.author = Author::Agent;
            proposal.provenance = Provenance::Tool;
        };
        check(NOTE, None, by_tool, expect!["quarantined: it comes from a tool's output"]);
        check(NOTE, Some(NOTE), by_tool, expect!["accepted []"]);
    }

    #[test]
    fn a_text_beyond_the_limit_is_refused_whatever_the_reason() {
        let long = format!("{NOTE}{}", "x".repeat(MAX_BODY));
        let refused = expect![[r#"
            size: 102471 bytes: a memory has at most 102400
        "#]];
        check(&long, None, |proposal| proposal.force = Some("please"), refused);
    }
}
