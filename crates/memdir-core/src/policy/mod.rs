//! The gates: whether a proposed text may enter a vault.
//!
//! One function, called by the one door, so no writer can go around it. It is handed the text, what it replaces and
//! the memory most like it, and answers with a [`Verdict`] that explains itself. A fault that the version before
//! already had is not held against an edit: a rename must be able to mend a link in a file that never was perfect.

mod dated;

use std::borrow::Cow;

use serde::Serialize;

use crate::change::Author;
use crate::hash::ContentHash;
use crate::memory::words::words;
use crate::memory::{Document, MAX_BODY, Memory, MemoryType, Problem, ProblemKind, Provenance, Scope};
use crate::placement::{self, Place, Surroundings};
use crate::secrets::{Finding, Scanner};
use crate::statement::{Gist, gist};
use crate::worth::{self, Evidence, NotWorth};

pub use dated::{Dated, with_absolute_dates, with_relative_dates_settled};

/// Why a gate refuses, in terms that a person or a model can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The rule's stable id.
    pub rule: Cow<'static, str>,
    /// What was found.
    pub evidence: String,
    /// Where the text belongs instead, or what to do.
    pub destination: String,
    /// What would make it worth saving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Whether a stated reason can pass it over.
    #[serde(skip)]
    pub can_force: bool,
}

impl From<NotWorth> for Refusal {
    fn from(NotWorth { rule, evidence, destination, question }: NotWorth) -> Self {
        Self { rule: Cow::Owned(rule), evidence, destination, question, can_force: true }
    }
}

words! {
    /// Whether the user wants to see what agents write: a setting.
    #[derive(Default)]
    Review, "review" {
        /// It is applied.
        #[default]
        Off = "off",
        /// It is applied, and told.
        Notify = "notify",
        /// It waits for the user's word.
        Ask = "ask",
    }
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
    /// Whether the user wants to be asked first.
    pub review: Review,
    /// What counts as a secret.
    pub scanner: &'a Scanner,
    /// What the project around the vault shows of what the text mentions.
    pub evidence: &'a Evidence,
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
    let size = too_large(proposal.text.document.bytes().len());
    // What is too large is refused whatever it says, and is not read.
    let is_readable = size.is_none();
    let form = [size, broken(proposal), shared_user(proposal)].into_iter().flatten();
    let before = proposal.before.map(|before| before.document.bytes());
    let secret = secrets(proposal.scanner, proposal.text.document.bytes(), before);
    let text = said(proposal.text);
    // What is new and said now is read as a whole, once for all that is asked about it.
    let is_new = is_readable && proposal.before.is_none() && is_said_now(proposal.author);
    let gist = is_new.then(|| gist(&text));
    let worth = if is_readable { not_worth(proposal, gist.as_ref()) } else { Vec::new() };
    let found = form.chain(secret).chain(worth).chain(duplicate(proposal));
    let can_pass = |refusal: &Refusal| refusal.can_force && proposal.force.is_some();
    let (passed_over, refusals): (Vec<Refusal>, Vec<Refusal>) = found.partition(can_pass);
    if !refusals.is_empty() {
        return Verdict::Refuse(refusals);
    }
    if let Some(reason) = waits(proposal.author, proposal.provenance, proposal.review) {
        return Verdict::Quarantine { reason };
    }
    Verdict::Accept { remarks: remarks(proposal, gist.as_ref()), forced: !passed_over.is_empty() }
}

/// Says what speaks against a plain text as a new memory of this type, whatever it will be called.
pub fn against(text: &str, memory_type: MemoryType, scanner: &Scanner, evidence: &Evidence) -> Vec<Refusal> {
    let secret = secrets(scanner, text.as_bytes(), None);
    // What is too large is refused whatever it says, and is not read.
    if let Some(size) = too_large(text.len()) {
        return std::iter::once(size).chain(secret).collect();
    }
    let worth = worth::judge(&gist(text), memory_type, evidence).into_iter().map(Refusal::from);
    secret.into_iter().chain(worth).collect()
}

fn too_large(n_bytes: usize) -> Option<Refusal> {
    (n_bytes > MAX_BODY).then(|| Refusal {
        rule: "size".into(),
        evidence: format!("{n_bytes} bytes: a memory has at most {MAX_BODY}"),
        destination: "split it, or keep the text in the project's docs and remember where it is".to_owned(),
        question: None,
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
    Some(Refusal {
        rule: "format".into(),
        evidence: problem.message.clone(),
        destination,
        question: None,
        // A program that lets agents write files as they like says so, and the fault is told by `doctor`.
        can_force: proposal.author == Author::Agent,
    })
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
        rule: "scope:user".into(),
        evidence: "a memory of type user is always private".to_owned(),
        destination: "use scope private, or type feedback for a rule that the team shares".to_owned(),
        question: None,
        can_force: false,
    })
}

/// Refuses the secrets that `text` has and the version before had not. No reason passes them over: what is stored is
/// recalled, shared and backed up. A value that the user vouches for is no finding.
pub fn secrets(scanner: &Scanner, text: &[u8], before: Option<&[u8]>) -> Vec<Refusal> {
    let findings = scanner.scan(text);
    if findings.is_empty() {
        return Vec::new();
    }
    let before = before.unwrap_or_default();
    let known: Vec<ContentHash> =
        scanner.scan(before).iter().map(|finding| finding.value_hash(before)).collect();
    let is_new = |finding: &Finding| !known.contains(&finding.value_hash(text));
    let refuse = |finding: Finding| Refusal {
        rule: format!("secret:{}", finding.rule).into(),
        evidence: format!("line {}: {}", finding.line, finding.description),
        destination: "a password manager or the environment; remember where it is, not what it is".to_owned(),
        question: None,
        can_force: false,
    };
    findings.into_iter().filter(is_new).map(refuse).collect()
}

/// Refuses what something else shows already, unless the version before was no better. Only what is said now is
/// weighed: an import, a teammate's file or a consolidation brings texts that were accepted once.
fn not_worth(proposal: &Proposal<'_>, new: Option<&Gist<'_>>) -> Vec<Refusal> {
    let Some(memory_type) = proposal.text.memory.memory_type else { return Vec::new() };
    let weigh = |text: &str| worth::judge(&gist(text), memory_type, proposal.evidence);
    let refusals = match (new, proposal.before) {
        (Some(gist), _) => worth::judge(gist, memory_type, proposal.evidence),
        // An edit answers for what it brings in, not for what it leaves.
        (None, Some(before)) if is_said_now(proposal.author) => {
            let text = said(proposal.text);
            let refusals = weigh(&brought(&text, before.document));
            let is_fault_of_edit = || !weigh(&text).is_empty() && weigh(&said(before)).is_empty();
            if !refusals.is_empty() && is_fault_of_edit() { refusals } else { Vec::new() }
        }
        _ => Vec::new(),
    };
    refusals.into_iter().map(Refusal::from).collect()
}

/// Returns what `text` says that the version before does not.
pub fn brought(text: &str, before: &Document) -> String {
    dated::new_text(text, before.body())
}

/// Says whether a change of this author brings in what somebody says now.
pub fn is_said_now(author: Author) -> bool {
    matches!(author, Author::Person | Author::Agent | Author::Extraction)
}

/// Returns what a version says: its body without relations to other memories, or its description where that is all.
pub fn said(version: Version<'_>) -> Cow<'_, str> {
    let body = String::from_utf8_lossy(version.document.body());
    if body.trim().is_empty() {
        return Cow::Borrowed(&version.memory.description);
    }
    if !body.lines().any(is_relation) {
        return body;
    }
    Cow::Owned(body.split_inclusive('\n').filter(|line| !is_relation(line)).collect())
}

/// Says whether a line only relates the memory to another: `- depends_on [[other]] (why)`.
fn is_relation(line: &str) -> bool {
    let item = line.trim().strip_prefix("- ").and_then(|item| item.split_once("[["));
    item.is_some_and(|(word, rest)| rest.contains("]]") && word.split_whitespace().count() <= 1)
}

fn duplicate(proposal: &Proposal<'_>) -> Option<Refusal> {
    let (name, likeness) = proposal.duplicate.filter(|_| is_weighed_against_others(proposal.author))?;
    Some(Refusal {
        rule: "near-duplicate".into(),
        evidence: format!("memory `{name}` says nearly the same ({:.0} %)", likeness * 100.0),
        destination: format!("update it: memdir edit {name}"),
        question: None,
        can_force: true,
    })
}

/// Says whether a new memory of this author is refused where another says nearly the same. What an import or a teammate
/// brings was told apart where it comes from; two sides of a sync that refuse each other's memories would never agree.
pub fn is_weighed_against_others(author: Author) -> bool {
    !matches!(author, Author::Import | Author::Team)
}

/// Says why a change must wait for the user's word, whatever it does: a new memory, another text, a new name or a
/// removal. What a web page or an unknown program said must neither speak as the user's memory nor rewrite it.
pub fn waits(author: Author, provenance: Provenance, review: Review) -> Option<&'static str> {
    match (author, provenance) {
        // A person decides here and now; what an import brings was chosen by one, what is outside has happened.
        (Author::Person | Author::Import | Author::Outside, _) => None,
        // A dream brings in nothing that is new, and its operations had a review of their own.
        (Author::Dream, _) => None,
        // The user said which teammates are believed; what others wrote never comes this far.
        (Author::Team, Provenance::Team) => None,
        (_, Provenance::Tool) => Some("it comes from a tool's output"),
        (_, Provenance::Outside) => Some("nobody knows who wrote it"),
        _ => (review == Review::Ask).then_some("the settings say to ask first"),
    }
}

/// What an author should hear about a text that may enter, unless the version before was like that already.
const WORTH_A_REMARK: [ProblemKind; 3] =
    [ProblemKind::LongBody, ProblemKind::LongDescription, ProblemKind::MissingWhy];

fn remarks(proposal: &Proposal<'_>, new: Option<&Gist<'_>>) -> Vec<String> {
    let is_new = |problem: &&Problem| WORTH_A_REMARK.contains(&problem.kind) && !proposal.had(problem.kind);
    let problems = proposal.text.problems.iter().filter(is_new).map(|problem| problem.message.clone());
    problems.chain(new.and_then(|gist| misplaced(proposal, gist))).collect()
}

/// Tells where a new text would be read by those it is for, when a memory of its type is not the place.
fn misplaced(proposal: &Proposal<'_>, gist: &Gist<'_>) -> Option<String> {
    let memory_type = proposal.text.memory.memory_type?;
    let Evidence { has_decisions, has_team_vault, .. } = *proposal.evidence;
    let around = Surroundings { has_decisions, has_team_vault };
    let verdict = placement::place(gist, Place::Memory(memory_type), &around);
    (!verdict.ok && verdict.sure).then_some(verdict.reason)
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
            review: Review::Off,
            scanner: &Scanner::builtin(),
            evidence: &Evidence::default(),
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
        let insist = |author: Author| {
            move |proposal: &mut Proposal<'_>| {
                proposal.author = author;
                proposal.force = Some("as the agent wrote it");
            }
        };
        check(&untyped, None, insist(Author::Agent), expect!["forced []"]);
        let refused = expect![[r#"
            format: no type: `project` would fit
        "#]];
        check(&untyped, None, insist(Author::Person), refused);
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

    /// UX-22.
    #[test]
    fn what_a_tool_said_waits_for_the_user_also_as_a_new_text_for_a_memory() {
        let by_tool = |proposal: &mut Proposal<'_>| {
            proposal.author = Author::Agent;
            proposal.provenance = Provenance::Tool;
        };
        check(NOTE, None, by_tool, expect!["quarantined: it comes from a tool's output"]);
        check(NOTE, Some(NOTE), by_tool, expect!["quarantined: it comes from a tool's output"]);
    }

    /// UX-15, UX-22.
    #[test]
    fn who_has_to_wait_depends_on_who_writes_who_said_it_and_the_setting() {
        let table = [
            (Author::Person, Provenance::Tool, Review::Ask, false),
            (Author::Import, Provenance::Outside, Review::Ask, false),
            (Author::Agent, Provenance::Tool, Review::Off, true),
            (Author::Extraction, Provenance::Outside, Review::Off, true),
            (Author::Agent, Provenance::Agent, Review::Off, false),
            (Author::Agent, Provenance::User, Review::Notify, false),
            (Author::Agent, Provenance::User, Review::Ask, true),
            (Author::Dream, Provenance::Agent, Review::Ask, false),
            (Author::Team, Provenance::Team, Review::Ask, false),
            (Author::Team, Provenance::Outside, Review::Off, true),
        ];
        for (author, provenance, review, must_wait) in table {
            let reason = waits(author, provenance, review);
            assert_eq!(reason.is_some(), must_wait, "{author} {provenance} {review}");
        }
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
