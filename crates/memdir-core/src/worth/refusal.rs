//! How a refusal explains itself: the rule, what was found, where the text belongs, what to ask.

use serde::Serialize;

use super::evidence::{Commit, Evidence};
use super::scores::{commit_told, names};
use super::sentence::{Rule, Sentence};
use super::trace;
use crate::statement::Act;

/// Why a text is not worth remembering.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotWorth {
    /// The rule's stable id.
    pub rule: String,
    /// What was found.
    pub evidence: String,
    /// Where the text belongs instead.
    pub destination: String,
    /// What to ask, so that what is worth saving can be saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// Most things found that are named.
const MAX_NAMED: usize = 3;
/// Longest quotation, in characters.
const MAX_QUOTE: usize = 120;

impl Rule {
    /// Returns the rule's stable id.
    pub(super) fn id(&self) -> String {
        match self {
            Self::Structure => "derivable:structure".to_owned(),
            Self::Git => "derivable:git".to_owned(),
            Self::Debugging => "debugging".to_owned(),
            Self::Ephemeral => "ephemeral".to_owned(),
            Self::Duplicate { file, line, .. } => format!("duplicate:{file}:{line}"),
        }
    }
}

/// Explains a refusal by `rule`, which was seen in `sentence`, or in the text as a whole.
pub(super) fn refuse(
    text: &str,
    rule: &Rule,
    sentence: Option<&Sentence<'_>>,
    evidence: &Evidence,
) -> NotWorth {
    let quote = quote(sentence.map_or(text, |sentence| sentence.text));
    let found = match (rule, sentence) {
        (Rule::Structure, Some(sentence)) => in_the_code(sentence),
        (Rule::Git, Some(sentence)) => in_git(sentence),
        (Rule::Debugging, _) => failure(text),
        (Rule::Duplicate { file, line, text }, _) => Some(format!("{file}:{line} says: {text}")),
        _ => None,
    };
    let found = found.unwrap_or_else(|| match rule {
        Rule::Structure => format!("it describes the code: {quote}"),
        Rule::Git => format!("it tells what git records: {quote}"),
        Rule::Debugging => format!("it tells an error and its cure: {quote}"),
        Rule::Ephemeral | Rule::Duplicate { .. } => format!("it is over with this session: {quote}"),
    });
    NotWorth {
        rule: rule.id(),
        evidence: found,
        destination: destination(rule, sentence, evidence),
        question: Some(question(rule).to_owned()),
    }
}

fn destination(rule: &Rule, sentence: Option<&Sentence<'_>>, evidence: &Evidence) -> String {
    let score = |act: Act| sentence.map_or(0.0, |sentence| sentence.score(act));
    match rule {
        Rule::Structure if score(Act::Decision) >= 1.5 && evidence.has_decisions => {
            "docs/decisions/, with the reason".to_owned()
        }
        Rule::Structure => "the code shows it; docs/architecture.md if people need a guide".to_owned(),
        Rule::Git => "git log".to_owned(),
        Rule::Debugging if evidence.seen_before > 0 => format!(
            "seen {} times: codify it as a test, a lint, a script or a note in docs/",
            evidence.seen_before.saturating_add(1)
        ),
        Rule::Debugging => "the commit message of the fix".to_owned(),
        Rule::Ephemeral if score(Act::State) > score(Act::Task) + 1.0 => "STATUS.md".to_owned(),
        Rule::Ephemeral => "working memory".to_owned(),
        Rule::Duplicate { file, .. } => format!("{file}, where it already is"),
    }
}

fn question(rule: &Rule) -> &'static str {
    match rule {
        Rule::Structure => {
            "what about it is surprising, or was decided for a reason that the code does not show?"
        }
        Rule::Git => "what was surprising about it?",
        Rule::Debugging => "what outside the code caused it, and will it come back?",
        Rule::Ephemeral => "what of it will still matter when this session is over?",
        Rule::Duplicate { .. } => "is there a reason or an exception that is not told there?",
    }
}

/// Names what the tree and the code have of a sentence.
fn in_the_code(sentence: &Sentence<'_>) -> Option<String> {
    let evidence = sentence.evidence;
    let paths =
        sentence.found_paths().filter_map(|mention| evidence.paths.get(&mention.text)).map(
            |found| match found.n_files {
                Some(n_files) => format!(
                    "{} is in the tree ({})",
                    found.path,
                    crate::text::count(n_files, "file", "files")
                ),
                None => format!("{} is in the tree", found.path),
            },
        );
    let symbols = sentence.found_symbols().filter_map(|mention| {
        let found = evidence.symbols.get(&mention.text)?;
        let verb = if found.is_definition { "is defined" } else { "stands" };
        Some(format!("`{}` {verb} in {}:{}", mention.text, found.file, found.line))
    });
    let document = sentence.documented();
    let document = document.map(|line| format!("{}:{} says: {}", line.file, line.line, quote(&line.text)));
    let mut found: Vec<String> = Vec::new();
    for thing in paths.chain(symbols).chain(document) {
        if !found.contains(&thing) {
            found.push(thing);
        }
    }
    found.truncate(MAX_NAMED);
    if found.is_empty() {
        let names: Vec<String> = names(sentence).into_iter().take(2 * MAX_NAMED).collect();
        return (!names.is_empty()).then(|| format!("folders and manifests name {}", names.join(", ")));
    }
    Some(found.join("; "))
}

/// Names what git's files have of a sentence.
fn in_git(sentence: &Sentence<'_>) -> Option<String> {
    let evidence = sentence.evidence;
    let known = sentence.commits().find_map(|mention| evidence.commits.get(&mention.text));
    if let Some(commit) = known.or_else(|| commit_told(sentence)) {
        return Some(told_by(commit));
    }
    let is_ref = |name: &&String| sentence.refs().any(|mention| mention.text == **name);
    evidence.refs.iter().find(is_ref).map(|name| format!("`{name}` is a branch or tag here"))
}

fn told_by(commit: &Commit) -> String {
    let short = commit.hash.get(..7).unwrap_or(&commit.hash);
    if commit.subject.is_empty() {
        return format!("commit {short} is in the repository");
    }
    format!("commit {short} by {}: {}", commit.author, quote(&commit.subject))
}

fn failure(text: &str) -> Option<String> {
    trace::pasted(text).map(|(kind, line)| format!("{kind}: {}", quote(line)))
}

/// Cuts a quotation to one short line.
fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_QUOTE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
