//! What happens in a session right now: the words somebody typed and the signals around them.

use std::collections::BTreeSet;

use super::chores::Chores;
use crate::embed::{self, Vector};
use crate::terms::{Occurrence, Origin, Term, in_english, terms};
use crate::text::is_unspaced;

/// A moment to be reminded at.
#[derive(Debug, Clone, Default)]
pub struct Moment {
    /// What the user typed.
    pub prompt: String,
    /// Files that are being read or edited, from the project's root.
    pub files: Vec<String>,
    /// The command that was run.
    pub command: String,
    /// What it printed when it failed.
    pub error: String,
    /// The branch.
    pub branch: String,
    /// Tools that were used lately.
    pub tools: Vec<String>,
    /// Who wrote what is at hand, by their names.
    pub authors: Vec<String>,
}

/// A text as it is looked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// Each term once, with what it counts: a word that stands there 1, its English less.
    pub(super) terms: Vec<(Term, f32)>,
    pub(super) vector: Option<Vector>,
}

impl Asked {
    pub(super) fn of(text: &str) -> Self {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for Occurrence { term, origin, .. } in terms(text) {
            if seen.insert(term) {
                found.push((term, if origin == Origin::Said { 1.0 } else { TRANSLATED }));
            }
        }
        found.truncate(MAX_TERMS);
        Self { terms: found, vector: embed::vector(&in_english(text)) }
    }
}

/// What the English of a word counts.
const TRANSLATED: f32 = 0.7;
/// A longer prompt is a pasted log; its first words say what it is about.
const MAX_TERMS: usize = 96;

/// A moment, read.
#[derive(Debug, Clone, Default)]
pub(super) struct Read {
    /// What the user typed.
    pub(super) text: String,
    pub(super) prompt: Asked,
    /// What failed, with the command that did.
    pub(super) error: Asked,
    pub(super) branch: Asked,
    pub(super) files: Vec<String>,
    /// It asks for what was said or decided earlier.
    pub(super) is_explicit: bool,
    /// It asks what is to be done next.
    pub(super) asks_next: bool,
    /// It asks something.
    pub(super) asks: bool,
    /// It speaks of what is ours.
    pub(super) is_ours: bool,
    /// It has code or lines in it.
    pub(super) is_pasted: bool,
    /// Which of its words every small job has.
    pub(super) chores: Chores,
    /// Tools that were used lately, in lower case.
    pub(super) tools: Vec<String>,
    /// Who wrote what is at hand.
    pub(super) authors: Vec<String>,
    /// Each of its clauses, where there are several.
    pub(super) clauses: Vec<Vector>,
}

impl Read {
    pub(super) fn of(moment: &Moment) -> Self {
        let failed = if moment.error.is_empty() {
            String::new()
        } else {
            format!("{}\n{}", moment.command, moment.error)
        };
        Self {
            text: moment.prompt.clone(),
            prompt: Asked::of(&moment.prompt),
            error: Asked::of(&failed),
            branch: Asked::of(&without_kind(&moment.branch)),
            files: moment.files.clone(),
            is_explicit: asks_for_memory(&moment.prompt),
            asks_next: has_any(&moment.prompt, NEXT),
            asks: asks(&moment.prompt),
            is_ours: first_words(&moment.prompt, usize::MAX).iter().any(|word| OURS.contains(&word.as_str()))
                || moment.prompt.contains("우리"),
            chores: Chores::of(&moment.prompt),
            is_pasted: moment.prompt.contains(['`', '\n']),
            tools: moment.tools.iter().map(|tool| tool.to_lowercase()).collect(),
            authors: moment.authors.clone(),
            clauses: clauses(&moment.prompt),
        }
    }
}

/// Words that questions begin with.
const QUESTIONS: &[&str] = &[
    "how", "what", "why", "which", "who", "where", "when", "can", "could", "do", "does", "did", "is", "are",
    "should", "may", "must", "wie", "was", "warum", "wer", "wo", "wann", "welche", "welcher", "welches",
    "kann", "können", "darf", "soll", "comment", "pourquoi", "quand", "combien", "cómo", "cuándo", "dónde",
    "cuántos",
];
/// Words for what is ours.
const OURS: &[&str] = &[
    "we", "our", "ours", "us", "wir", "unser", "unsere", "unserer", "unserem", "unseren", "nous", "notre",
    "nos", "nuestro", "nuestra",
];

/// Says whether a prompt asks something.
fn asks(prompt: &str) -> bool {
    let is_question = |word: &String| QUESTIONS.contains(&word.as_str());
    prompt.contains(['?', '？']) || first_words(prompt, 1).first().is_some_and(is_question)
}

fn first_words(prompt: &str, limit: usize) -> Vec<String> {
    let words = prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(limit).map(str::to_lowercase).collect()
}

/// Takes the words off a branch that every branch has.
fn without_kind(branch: &str) -> String {
    const KINDS: [&str; 16] = [
        "feature", "feat", "fix", "bugfix", "hotfix", "chore", "release", "main", "master", "dev", "develop",
        "wip", "spike", "task", "user", "refactor",
    ];
    let words =
        branch.split(['/', '-', '_', '.']).filter(|word| !KINDS.contains(&word.to_lowercase().as_str()));
    words.collect::<Vec<_>>().join(" ")
}

/// Says whether a message is a single word, or as short as one: nothing is looked for then.
pub fn is_single_word(prompt: &str) -> bool {
    let prompt = prompt.trim();
    let n_unspaced = prompt.chars().filter(|c| is_unspaced(*c)).count();
    if n_unspaced > 0 {
        return prompt.chars().filter(|c| c.is_alphanumeric()).count() <= 3;
    }
    prompt.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() <= 1
}

/// Ways to ask for what was said earlier, in lower case.
const EXPLICIT: &[&str] = &[
    "did we decide",
    "did we agree",
    "did we say",
    "did we settle",
    "have we decided",
    "we decided",
    "we agreed",
    "had we",
    "do you remember",
    "do you recall",
    "remind me",
    "remember what",
    "remember why",
    "remember when",
    "remember how",
    "what was the",
    "what were the",
    "what was our",
    "what do we know about",
    "what do you know about",
    "why did we",
    "why didnt we",
    "why didn't we",
    "why don't we",
    "why do we",
    "when did we",
    "where did we",
    "how did we",
    "who did we",
    "which did we",
    "last time",
    "any notes on",
    "any memory",
    "in your memory",
    "from memory",
    "recall what",
    "earlier we",
    "we talked about",
    "we discussed",
    "didn't we",
    "didnt we",
    "hatten wir",
    "haben wir",
    "weißt du noch",
    "erinnerst du",
    "erinner mich",
    "was war nochmal",
    "was war noch",
    "wie war das",
    "warum haben wir",
    "beschlossen",
    "entschieden",
    "기억",
    "결정했",
    "정했",
    "했었",
    "뭐였",
    "왜 우리",
    "on avait",
    "avait-on",
    "avions-nous",
    "tu te souviens",
    "qué decidimos",
    "decidimos",
    "recuerdas",
    "acordamos",
    "覚えて",
    "決め",
    "でしたっけ",
    "还记得",
    "决定",
];

/// Returns the vectors of the clauses of a prompt that has several.
fn clauses(prompt: &str) -> Vec<Vector> {
    let parts = prompt.split(['\n', '.', '!', '?', ';', ',', ':']).map(str::trim);
    let parts: Vec<&str> =
        parts.filter(|part| part.split_whitespace().count() >= 3).take(MAX_CLAUSES).collect();
    if parts.len() < 2 {
        return Vec::new();
    }
    parts.into_iter().filter_map(|part| embed::vector(&in_english(part))).collect()
}

/// As many clauses are compared one by one.
const MAX_CLAUSES: usize = 8;

/// Ways to ask what is to be done, in lower case.
const NEXT: &[&str] = &[
    "what should i do",
    "what should we do",
    "what do i do first",
    "do first",
    "what's next",
    "whats next",
    "what is next",
    "what's up next",
    "first thing",
    "where do i start",
    "where should i start",
    "i start with",
    "we start with",
    "to start with",
    "can't wait",
    "cant wait",
    "what's urgent",
    "anything urgent",
    "what is due",
    "what's due",
    "whats due",
    "anything due",
    "coming up",
    "upcoming",
    "on my plate",
    "on the agenda",
    "deadlines",
    "my week",
    "this week look",
    "plan my",
    "plan for today",
    "plan the day",
    "good morning",
    "morning!",
    "what do we have",
    "was steht",
    "was liegt an",
    "was ist zu tun",
    "was mache ich",
    "womit fange",
    "womit soll",
    "zuerst",
    "guten morgen",
    "moin",
    "뭐부터",
    "뭘 먼저",
    "할 일",
    "해야 할",
    "무엇을 먼저",
    "par quoi",
    "qué hago",
    "por dónde",
    "何から",
    "今日は何",
    "先做什么",
];

/// Says whether a prompt asks for what was said or decided earlier.
pub fn asks_for_memory(prompt: &str) -> bool {
    has_any(prompt, EXPLICIT)
}

fn has_any(prompt: &str, phrases: &[&str]) -> bool {
    let prompt = prompt.to_lowercase().replace('’', "'");
    phrases.iter().any(|phrase| {
        prompt.match_indices(phrase).any(|(at, _)| {
            let before = prompt[..at].chars().next_back();
            phrase.starts_with(is_unspaced) || before.is_none_or(|c| !c.is_alphanumeric())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_no_question() {
        for prompt in ["continue", "  ok! ", "계속", "👍", "go."] {
            assert!(is_single_word(prompt), "{prompt}");
        }
        for prompt in ["run it", "마이그레이션 되돌려줘", "fix src/a.rs"] {
            assert!(!is_single_word(prompt), "{prompt}");
        }
    }

    #[test]
    fn who_asks_for_the_past_is_heard() {
        for prompt in
            ["what did we decide about USD?", "Weißt du noch, warum?", "전에 뭐로 결정했지?", "remind me why"]
        {
            assert!(asks_for_memory(prompt), "{prompt}");
        }
        assert!(!asks_for_memory("add a button to the page"));
    }
}
