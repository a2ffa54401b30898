//! What a sentence weighs: for each side a number, and every number of the gate in one place.
//!
//! Each score is a plain sum of what was seen: features of its words, what `statement` reads, what the project has. One
//! is about what a single good sign is worth. Caps keep a long sentence from winning by its length.

use std::collections::BTreeSet;

use super::evidence::Commit;
use super::features::Feature;
use super::sentence::{OUTSIDE, Sentence};
use super::trace;
use crate::memory::MemoryType;
use crate::statement::{Act, Language};

/// What speaks for a sentence and what against it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scores {
    /// It has a cause outside the code.
    pub(super) outside: f32,
    /// It is about the user, or how they want to be served.
    pub(super) person: f32,
    /// It says where something outside is found.
    pub(super) pointer: f32,
    /// It instructs.
    pub(super) rule: f32,
    /// The tree and the code show it.
    pub(super) structure: f32,
    /// Git tells it.
    pub(super) git: f32,
    /// It tells an error and its cure.
    pub(super) debugging: f32,
    /// It is over with the session.
    pub(super) ephemeral: f32,
}

impl Scores {
    pub(super) fn of(sentence: &Sentence<'_>, memory_type: MemoryType) -> Self {
        let rule = rule(sentence);
        Self {
            outside: outside(sentence),
            person: person(sentence, memory_type),
            pointer: pointer(sentence, memory_type),
            rule,
            structure: structure(sentence, rule),
            git: git(sentence),
            debugging: debugging(sentence),
            ephemeral: ephemeral(sentence),
        }
    }

    /// Returns what speaks most for the sentence. A cause outside the code, once it is believed, counts more than how
    /// it is put.
    pub(super) fn keeps(self) -> f32 {
        let outside = if self.outside >= OUTSIDE { self.outside * 1.5 } else { self.outside };
        outside.max(self.person).max(self.pointer).max(self.rule)
    }
}

fn outside(sentence: &Sentence<'_>) -> f32 {
    let features = sentence.features;
    let tells_story = told(sentence) >= 2.0;
    // Every story and every commit has its day; only a plan makes a date worth keeping.
    let has_day = !tells_story && features.get(Feature::Recorded) == 0.0;
    let is_dated = sentence.reading.seen("deadline").is_some() && !has_day;
    let read = sentence.score(Act::Context) * if tells_story || is_dated { 0.1 } else { 0.4 };
    // A request that was approved is no wish of anybody's.
    let is_git = features.get(Feature::Record) > 0.0;
    let wish = if is_git { features.get(Feature::Wish).min(2.0) } else { 0.0 };
    features.outside(!tells_story) - wish + read + sentence.score(Act::Gotcha).clamp(0.0, 1.0) * 0.4
}

fn person(sentence: &Sentence<'_>, memory_type: MemoryType) -> f32 {
    let acts = [Act::Preference, Act::Role, Act::Feedback].map(|act| sentence.score(act));
    let read = acts.into_iter().fold(0.0, f32::max);
    if memory_type == MemoryType::User && read > 0.0 { read + 0.3 } else { read }
}

fn pointer(sentence: &Sentence<'_>, memory_type: MemoryType) -> f32 {
    let read = sentence.score(Act::Pointer).max(0.0);
    match (sentence.n_found(), memory_type) {
        (0, _) if sentence.documented().is_some() => read * 0.3,
        (0, MemoryType::Reference) if read > 0.0 => read + 0.3,
        (0, _) => read,
        // It points into the project itself.
        _ => read * 0.3,
    }
}

/// Weighs an instruction. "The console never reads it" describes; "never read it" instructs.
fn rule(sentence: &Sentence<'_>) -> f32 {
    const CLAUSE_ENDS: [&str; 8] = [", ", ": ", "; ", "— ", "– ", "(", ". ", "! "];
    let begins_clause = |at: usize| {
        let before = sentence.text.get(..at).unwrap_or_default();
        before.split_whitespace().count() <= 1 && !before.ends_with('.')
            || CLAUSE_ENDS.iter().any(|end| before.ends_with(end))
    };
    // "… because resources need a name" asks nobody for anything.
    let reason = sentence.reading.reason().map_or(usize::MAX, |reason| reason.start);
    let seen = |sign: &str| sentence.reading.seen(sign).filter(|span| span.start < reason);
    let has = |sign: &str| seen(sign).is_some();
    let begins = |sign: &str| seen(sign).is_some_and(|span| begins_clause(span.start));
    let is_english = sentence.reading.language() == Language::English;
    let instructs = has("duty")
        || begins("imperative")
        || begins("ban")
        || !is_english && (has("ban") || has("imperative"));
    sentence.score(Act::Rule) * if instructs { 1.0 } else { 0.5 }
}

fn structure(sentence: &Sentence<'_>, rule: f32) -> f32 {
    let read = sentence.score(Act::Structure).max(sentence.score(Act::Architecture)).max(0.0);
    // A path that the project does not have is one of another system, which no look at this one shows.
    let read = if sentence.is_elsewhere() { read * 0.2 } else { read };
    let (n_paths, n_symbols) = (sentence.found_paths().count(), sentence.found_symbols().count());
    let found = 0.9 * n_paths.min(2) as f32 + 0.8 * n_symbols.min(2) as f32;
    let is_hosted = n_paths > 0 && sentence.text.contains("://");
    let n_names = names(sentence).len();
    let named = if n_names >= 3 { 1.2 + 0.4 * (n_names - 3).min(4) as f32 } else { 0.0 };
    let code = sentence.features.get(Feature::Code).min(2.0);
    let code = if code >= 1.0 || found > 0.0 || n_names >= 2 { code } else { 0.0 };
    let is_documented = sentence.documented().is_some();
    let sum = 0.6 * read
        + found
        + named
        + 0.7 * code
        + if is_hosted { 1.0 } else { 0.0 }
        + if is_documented { 2.0 } else { 0.0 };
    // An instruction may name as much code as it likes.
    if rule >= 1.8 { sum * 0.5 } else { sum }
}

/// Returns the words that are names of the project's parts.
pub(super) fn names(sentence: &Sentence<'_>) -> BTreeSet<String> {
    let words = sentence.text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let words = words.map(|word| word.trim_matches('.').to_lowercase());
    words.filter(|word| sentence.evidence.names.contains(word)).collect()
}

fn git(sentence: &Sentence<'_>) -> f32 {
    let features = sentence.features;
    let recorded = features.get(Feature::Recorded).min(1.5);
    let record = features.get(Feature::Record).min(1.2);
    let has_release = recorded + record > 0.0 && sentence.refs().next().is_some();
    recorded
        + record
        + features.get(Feature::Lately).min(0.8)
        + 0.7 * n_authors(sentence).min(2) as f32
        + (sentence.requests().count() as f32).min(1.5)
        + (sentence.commits().count() as f32).min(2.0)
        + if commit_told(sentence).is_some() { 1.2 } else { 0.0 }
        + if is_conventional(sentence.text) { 2.0 } else { 0.0 }
        + if has_release { 1.0 } else { 0.0 }
        + 0.2 * sentence.score(Act::Event).clamp(0.0, 2.0)
}

/// Counts who of those who commit here are named.
fn n_authors(sentence: &Sentence<'_>) -> usize {
    let authors =
        sentence.evidence.recent.iter().map(|commit| commit.author.split(' ').next().unwrap_or_default());
    let authors: BTreeSet<&str> = authors.filter(|name| name.chars().count() >= 2).collect();
    authors.into_iter().filter(|name| sentence.text.contains(name)).count()
}

/// Returns the commit whose subject the sentence tells.
pub(super) fn commit_told<'e>(sentence: &Sentence<'e>) -> Option<&'e Commit> {
    sentence.evidence.recent.iter().find(|commit| sentence.saying.holds(&commit.saying))
}

/// Says whether a line looks like a commit's subject: `fix(api): …`, perhaps behind a hash.
fn is_conventional(text: &str) -> bool {
    const KINDS: [&str; 11] =
        ["feat", "fix", "chore", "refactor", "docs", "build", "perf", "revert", "style", "ci", "test"];
    let is_kind = |word: &str| {
        let kind =
            word.strip_suffix(':').map(|word| word.split('(').next().unwrap_or(word).trim_end_matches('!'));
        kind.is_some_and(|kind| KINDS.contains(&kind))
    };
    text.split_whitespace().take(2).any(is_kind)
}

/// Weighs the words of a debugging story.
fn told(sentence: &Sentence<'_>) -> f32 {
    sentence.features.story(1.5).iter().sum()
}

fn debugging(sentence: &Sentence<'_>) -> f32 {
    let n_parts = sentence.features.story(1.5).iter().filter(|part| **part > 0.0).count();
    let told = told(sentence) * if n_parts >= 2 { 1.0 } else { 0.5 };
    let pasted = if trace::pasted(sentence.text).is_some() { 3.0 } else { 0.0 };
    told + pasted + 0.4 * sentence.score(Act::Recipe).max(0.0)
}

fn ephemeral(sentence: &Sentence<'_>) -> f32 {
    let moment = sentence.features.get(Feature::Moment).min(2.0);
    let doing = sentence.features.get(Feature::Doing).min(2.0);
    let both = if moment >= 1.2 && doing >= 1.2 { 1.0 } else { 0.0 };
    // Who somebody is stays true after the session, and so does an order that holds on every occasion of a kind.
    let stays = sentence.score(Act::Role) >= 1.5 || is_standing(sentence);
    let read = 0.4 * sentence.score(Act::Task).max(0.0) + 0.3 * sentence.score(Act::State).max(0.0);
    moment + doing + both + if stays { 0.0 } else { read }
}

/// Says whether an order holds whenever its occasion comes: "show it to me before you call it done". It sounds like the
/// task at hand, because it is an order; but it names a step of all work and no moment of this session.
pub(super) fn is_standing(sentence: &Sentence<'_>) -> bool {
    const PASSING: [&str; 5] = ["now", "doing right now", "this session", "next step", "progress"];
    let seen = |signs: &[&str]| signs.iter().any(|sign| sentence.reading.seen(sign).is_some());
    let features = sentence.features;
    let step = step(sentence.text);
    // "… before it is called done" reports nothing as done: what the occasion says is no news.
    let end = step.unwrap_or(usize::MAX);
    let is_news = |sign: &&str| sentence.reading.seen(sign).is_some_and(|span| span.end <= end);
    let passes =
        features.get(Feature::Moment) + features.get(Feature::Doing) > 0.0 || PASSING.iter().any(is_news);
    let has_occasion = step.is_some() || seen(&["occasion of work", "condition", "always", "from now on"]);
    seen(&["imperative", "please", "ban", "duty"]) && !passes && has_occasion
}

/// Finds where a text names a step of work by who takes it or by its verb: "before you push", "when renaming".
fn step(text: &str) -> Option<usize> {
    const KOREAN: [&str; 4] = ["하기 전에", "할 때", "때마다", "한 뒤에"];
    const LEADS: [&str; 9] =
        ["before", "after", "when", "whenever", "once", "bevor", "wenn", "sobald", "nachdem"];
    const TAKERS: [&str; 12] =
        ["you", "it's", "it", "anything", "something", "a", "an", "any", "du", "es", "etwas", "ein"];
    let is_step = |next: &str| TAKERS.contains(&next) || next.len() > 5 && next.ends_with("ing");
    let is_lead = |word: &str| LEADS.iter().any(|lead| lead.eq_ignore_ascii_case(word));
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').peekable();
    let mut at = 0;
    while let Some(word) = words.next() {
        if is_lead(word) && words.peek().is_some_and(|next| is_step(next)) {
            return Some(at);
        }
        at += word.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    KOREAN.iter().find_map(|words| text.find(words))
}

#[cfg(test)]
mod tests {
    use super::{is_conventional, step};

    #[test]
    fn a_step_of_work_is_named_by_its_taker_or_its_verb() {
        for text in ["before it is called done", "when renaming a column", "bevor du pushst", "배포하기 전에"]
        {
            assert!(step(text).is_some(), "{text}");
        }
        for text in ["before lunch", "after the call", "once more", "rename the column"] {
            assert_eq!(step(text), None, "{text}");
        }
    }

    #[test]
    fn a_commits_subject_is_told_by_its_form() {
        for text in ["fix(api): retry", "8c1f2aa feat: scan labels", "chore!: bump"] {
            assert!(is_conventional(text), "{text}");
        }
        for text in ["test the door first", "docs are in the wiki", "Why: it broke"] {
            assert!(!is_conventional(text), "{text}");
        }
    }
}
