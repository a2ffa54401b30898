//! Extraction by rules: goes through the messages and puts together what belongs together.

use std::ops::Range;

use super::claim::{Beside, Claim, claim};
use super::confirm::{confirms, referent};
use super::explain::{is_about_the_same, is_application, is_reason, is_statement, leans};
use super::fact::tells_who_answers;
use super::make::{Around, Finding, candidate};
use super::sentence::{Sentence, sentences};
use super::stranger;
use super::words::{begins, lower, rest_behind, table, without_interjections};
use super::{Candidate, Evidence, ExtractError, Extractor, FoundBy, Said};
use crate::classify::asks_to_remember;
use crate::host::hearsay::{Words, is_hearsay, passages, words};
use crate::memory::{MemoryType, Provenance};
use crate::statement::Language;
use crate::text::is_unspaced;
use crate::transcript::Role;

/// As many candidates a window makes at most, the last ones.
const MAX_CANDIDATES: usize = 20;
/// How likely each half of a sentence must be that says two things.
const TWO_THINGS: f32 = 0.75;
/// What may stand between the two.
const JOINTS: [&str; 9] = [" and also ", ", and ", " and ", "; ", ", also ", " - ", " — ", ", but ", ", so "];
/// What stands for a secret that was taken out of a text.
const REDACTED: &str = "[REDACTED";

/// Finds what may last in a conversation, by rules. `window` holds the messages that are new, oldest first.
///
/// Only what the user said makes a candidate that is believed. What a tool brought in and a machine is asked to remember
/// makes one too, in quarantine, so that the user learns of it.
pub fn by_rules(window: &[Said], around: &Around<'_>) -> Vec<Candidate> {
    let mut found = findings(window, around.earlier);
    found.extend(strangers(window));
    suspect_hearsay(&mut found, window);
    candidates(&found, around)
}

/// Finds what the user said that may last.
pub(super) fn findings(window: &[Said], earlier: &[Said]) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut of_last = 0;
    for (at, said) in window.iter().enumerate().filter(|(_, said)| said.role == Role::User) {
        if takes_back(&lower(&said.text)) {
            found.truncate(of_last);
        }
        of_last = found.len();
        found.extend(Message::new(window, at, earlier).findings());
    }
    found
}

/// Rules as an [`Extractor`].
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a>(pub Around<'a>);

impl Extractor for Rules<'_> {
    fn extract(&mut self, window: &[Said], _manifest: &str) -> Result<Vec<Candidate>, ExtractError> {
        Ok(by_rules(window, &self.0))
    }

    fn found_by(&self) -> FoundBy {
        FoundBy::Rules
    }
}

fn candidates(found: &[Finding], around: &Around<'_>) -> Vec<Candidate> {
    let mut taken: Vec<String> = around.held.iter().map(|held| held.name().to_owned()).collect();
    let mut candidates: Vec<Candidate> = Vec::new();
    for finding in found.iter().filter(|finding| !finding.holds_secret()) {
        let Some(candidate) = candidate(finding, around, &taken) else { continue };
        let says_the_same =
            |known: &Candidate| known.body == candidate.body || known.description == candidate.description;
        if candidates.iter().any(says_the_same) {
            continue;
        }
        taken.push(candidate.name.to_string());
        candidates.push(candidate);
    }
    candidates.split_off(candidates.len().saturating_sub(MAX_CANDIDATES))
}

fn strangers(window: &[Said]) -> impl Iterator<Item = Finding> {
    let requests = stranger::requests(window, |said| said.role == Role::Tool);
    let mut found: Vec<Finding> = Vec::new();
    for evidence in requests {
        // What one page asks for in several sentences is one request.
        match found.last_mut().filter(|last| last.evidence[0].message == evidence.message) {
            Some(last) => {
                last.point = format!("{} {}", closed(&last.point), evidence.quote);
                last.evidence.push(evidence);
            }
            None => found.push(Finding {
                memory_type: None,
                point: evidence.quote.clone(),
                why: None,
                how: None,
                provenance: Provenance::Tool,
                at: window[evidence.message].at,
                evidence: vec![evidence],
            }),
        }
    }
    found.into_iter()
}

/// What the agent only repeats from a page that asked to be remembered is the page's.
fn suspect_hearsay(found: &mut [Finding], window: &[Said]) {
    if found.iter().all(|finding| finding.provenance != Provenance::Agent && finding.evidence.len() < 2) {
        return;
    }
    let tools = window.iter().filter(|said| said.role == Role::Tool);
    let asked: Vec<Words> = tools.flat_map(|said| passages(&said.text)).collect();
    let mut user = Words::new();
    for said in window.iter().filter(|said| said.role == Role::User) {
        user.extend(words(&said.text));
    }
    for finding in found.iter_mut().filter(|finding| is_hearsay(&words(&finding.point), &asked, &user)) {
        finding.provenance = Provenance::Tool;
    }
}

impl Finding {
    fn holds_secret(&self) -> bool {
        self.evidence.iter().any(|evidence| evidence.quote.contains(REDACTED))
    }
}

/// A message of the user, with what was said before it.
struct Message<'w> {
    window: &'w [Said],
    at: usize,
    earlier: &'w [Said],
    sentences: Vec<Sentence>,
}

impl<'w> Message<'w> {
    fn new(window: &'w [Said], at: usize, earlier: &'w [Said]) -> Self {
        let text = &window[at].text;
        let is_command = text.starts_with(['/', '!']) && !text.contains('\n');
        let sentences = if is_command { Vec::new() } else { sentences(text) };
        Self { window, at, earlier, sentences }
    }

    fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut next = 0;
        while let Some(sentence) = self.sentences.get(next) {
            // "always lint first. actually no, forget that": the same breath takes it back.
            if next > 0 && takes_back(&sentence.lower) {
                found.pop();
            }
            // What takes back claims nothing itself; "actually no, never mock it" does.
            let said = sentence.lower.trim_start();
            let rest =
                rest_behind(said, &["actually no"]).unwrap_or(said).trim_start_matches([',', '.', ' ']);
            if takes_back(rest) {
                next += 1;
                continue;
            }
            let (findings, until) = self.finding(sentence, next);
            found.extend(findings);
            next = until;
        }
        found
    }

    /// Looks at a sentence; returns what was found in it, and the sentence to go on with.
    fn finding(&self, sentence: &Sentence, n: usize) -> (Vec<Finding>, usize) {
        if asks_to_remember(&sentence.text) {
            return self.asked(sentence, n);
        }
        if confirms(sentence)
            && let Some(finding) = self.confirmed(sentence)
        {
            return (vec![finding], n + 1);
        }
        if let Some(finding) = self.reproached(sentence, n) {
            return (vec![finding], n + 2);
        }
        if let Some(parts) = self.two_things(sentence, n) {
            return (parts, n + 1);
        }
        match claim(sentence, self.beside(n)) {
            Some(claim) => self.claimed(sentence, claim, n),
            None => (self.before_question(sentence).into_iter().collect(), n + 1),
        }
    }

    fn beside(&self, n: usize) -> Beside {
        // Who answers for a thing is worth knowing for its own sake, and no reason for something else.
        let explains = |more: &Sentence| (is_reason(more) || is_statement(more)) && !tells_who_answers(more);
        let has_reason = self.sentences.get(n + 1).is_some_and(explains);
        let before = self.window[..self.at].iter().chain(self.earlier);
        let widens = |more: &Sentence| begins(without_interjections(&more.lower), table("widening"));
        let is_extended = self.sentences.get(n + 1).is_some_and(widens);
        Beside {
            has_reason,
            is_extended,
            answers: before.into_iter().any(|said| said.role == Role::Assistant),
        }
    }

    /// Takes a claim together with what explains it.
    fn claimed(&self, sentence: &Sentence, claim: Claim, n: usize) -> (Vec<Finding>, usize) {
        let mut finding = self.plain(sentence, Some(claim.memory_type));
        let before = n.checked_sub(1).and_then(|before| self.sentences.get(before));
        if let Some(before) = before.filter(|before| leans(sentence) && !before.reading.is_question()) {
            finding.point = format!("{} {}", closed(&before.text), sentence.text);
            finding.evidence.insert(0, self.evidence(&before.range));
        }
        let mut next = n + 1;
        while let Some(more) = self.sentences.get(next).filter(|more| !takes_back(&more.lower)) {
            // "I like how you did that. Keep doing it": the first says what.
            if confirms(more) {
                finding.evidence.push(self.evidence(&more.range));
                next += 1;
                continue;
            }
            if finding.how.is_none() && self.says_more(sentence, more, claim, next) {
                if claim.memory_type == MemoryType::User {
                    finding.point = format!("{} {}", closed(&finding.point), more.text);
                } else {
                    finding.how = Some(more.text.clone());
                }
                finding.evidence.push(self.evidence(&more.range));
                next += 1;
                continue;
            }
            let is_explained = matches!(claim.memory_type, MemoryType::Feedback | MemoryType::Project);
            let is_order = claim.memory_type == MemoryType::Feedback && next == n + 1 && is_statement(more);
            let is_other = || self.is_of_another_kind(more, claim);
            let is_how = is_application(more) || is_about_the_same(more);
            let part = if is_how && finding.how.is_none() {
                &mut finding.how
            } else if is_explained && finding.why.is_none() && (is_reason(more) || is_order && !is_other()) {
                &mut finding.why
            } else {
                break;
            };
            *part = Some(more.text.clone());
            finding.evidence.push(self.evidence(&more.range));
            next += 1;
        }
        (vec![finding], next)
    }

    /// Says whether a sentence claims something of its own about the user or a place.
    fn is_of_another_kind(&self, sentence: &Sentence, first: Claim) -> bool {
        let own = claim(sentence, Beside::default()).map(|own| own.memory_type);
        let is_own = matches!(own, Some(MemoryType::User | MemoryType::Reference));
        is_own && own != Some(first.memory_type)
            || sentence.shows(&["deadline"])
            || tells_who_answers(sentence)
    }

    /// Says whether the next sentence says the same again in other words, as people do: it claims the same and shares a word.
    fn says_more(&self, sentence: &Sentence, more: &Sentence, first: Claim, n: usize) -> bool {
        let is_same =
            || claim(more, self.beside(n)).is_some_and(|second| second.memory_type == first.memory_type);
        // What somebody tells of themself in one breath is one thing.
        if first.memory_type == MemoryType::User {
            return is_same();
        }
        let is_telling = |word: &&str| word.chars().count() > 3 || word.chars().any(is_unspaced);
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !c.is_alphanumeric());
            let stem =
                |word: &str| word.chars().take(if word.starts_with(is_unspaced) { 2 } else { 4 }).collect();
            words.filter(is_telling).map(stem).collect()
        };
        let known = words(&sentence.lower);
        first.memory_type == MemoryType::Feedback
            && words(&more.lower).iter().any(|word| known.contains(word))
            && is_same()
    }

    /// Takes what is to be remembered in so many words; "remember this" means what the agent said.
    fn asked(&self, sentence: &Sentence, n: usize) -> (Vec<Finding>, usize) {
        let said = without_interjections(&sentence.lower);
        if !begins(said, table("remember this")) || said.split_whitespace().count() > 4 {
            let mut finding = self.plain(sentence, None);
            if let Some(reason) = self.sentences.get(n + 1).filter(|more| is_reason(more)) {
                finding.why = Some(reason.text.clone());
                finding.evidence.push(self.evidence(&reason.range));
                return (vec![finding], n + 2);
            }
            return (vec![finding], n + 1);
        }
        let referent = referent(self.window, self.at, self.earlier, &sentence.text);
        let finding = referent.map(|referent| Finding {
            point: referent.text,
            provenance: Provenance::Agent,
            evidence: self.evidence_with(sentence, referent.evidence),
            ..self.plain(sentence, None)
        });
        (finding.into_iter().collect(), n + 1)
    }

    /// Takes what the user wants to be done again as it was done.
    fn confirmed(&self, sentence: &Sentence) -> Option<Finding> {
        let referent = referent(self.window, self.at, self.earlier, &self.window[self.at].text)?;
        let (lead, confirmed) = match referent.language {
            Language::German => ("Weiter so", "vom Nutzer bestätigt"),
            Language::Korean => ("계속 이렇게", "사용자가 확인함"),
            Language::English => ("Keep doing this", "the user confirmed it"),
        };
        let did = without_subject(without_interjections(&referent.text));
        Some(Finding {
            point: format!("{lead}: {did}"),
            why: Some(format!("{confirmed}: “{}”", sentence.text.trim())),
            evidence: self.evidence_with(sentence, referent.evidence),
            ..self.plain(sentence, Some(MemoryType::Feedback))
        })
    }

    /// "Why did you comment every line? Don't do that": the question tells what not to do.
    fn reproached(&self, sentence: &Sentence, n: usize) -> Option<Finding> {
        let next = self.sentences.get(n + 1)?;
        let did = rest_behind(&sentence.lower, table("reproaches"))?;
        let forbids = begins(without_interjections(&next.lower), table("don't do that"));
        if !forbids || sentence.lower.len() != sentence.text.len() {
            return None;
        }
        let did = &sentence.text[sentence.text.len() - did.len()..];
        let rest = rest_behind(without_interjections(&next.lower), table("don't do that"))?;
        let rest = next.text[next.text.len() - rest.len()..].trim_start_matches([',', ' ', '.', '-', ';']);
        let more = if rest.is_empty() { String::new() } else { format!("; {rest}") };
        Some(Finding {
            point: format!("Don't {}{more}", did.trim().trim_end_matches(['?', ' '])),
            evidence: vec![self.evidence(&sentence.range), self.evidence(&next.range)],
            ..self.plain(sentence, Some(MemoryType::Feedback))
        })
    }

    /// Takes a sentence apart that says two things of different types.
    fn two_things(&self, sentence: &Sentence, n: usize) -> Option<Vec<Finding>> {
        let beside = self.beside(n);
        let places = JOINTS
            .iter()
            .flat_map(|joint| sentence.text.match_indices(joint).map(|(at, found)| (at, at + found.len())));
        for (end, start) in places {
            let halves = [sentence.part(0..end), sentence.part(start..sentence.text.len())];
            let claims = [claim(&halves[0], Beside::default()), claim(&halves[1], beside)];
            let [Some(a), Some(b)] = claims else { continue };
            if a.memory_type != b.memory_type && a.likely >= TWO_THINGS && b.likely >= TWO_THINGS {
                return Some(vec![
                    self.plain(&halves[0], Some(a.memory_type)),
                    self.plain(&halves[1], Some(b.memory_type)),
                ]);
            }
        }
        None
    }

    /// "I'm new to Rust, what does this do?": what is said before a question counts.
    fn before_question(&self, sentence: &Sentence) -> Option<Finding> {
        if !sentence.reading.is_question() {
            return None;
        }
        let places = [", ", " - ", " — ", ": "].iter().flat_map(|mark| sentence.text.match_indices(mark));
        let mut ends: Vec<usize> = places.map(|(at, _)| at).collect();
        ends.sort_unstable_by(|a, b| b.cmp(a));
        ends.into_iter().find_map(|end| {
            let part = sentence.part(0..end);
            let claim = claim(&part, Beside::default()).filter(|claim| claim.likely >= TWO_THINGS)?;
            Some(self.plain(&part, Some(claim.memory_type)))
        })
    }

    fn plain(&self, sentence: &Sentence, memory_type: Option<MemoryType>) -> Finding {
        Finding {
            memory_type,
            point: sentence.text.clone(),
            why: None,
            how: None,
            provenance: Provenance::User,
            at: self.window[self.at].at,
            evidence: vec![self.evidence(&sentence.range)],
        }
    }

    fn evidence(&self, range: &Range<usize>) -> Evidence {
        Evidence { message: self.at, quote: self.window[self.at].text[range.clone()].to_owned() }
    }

    fn evidence_with(&self, sentence: &Sentence, other: Option<Evidence>) -> Vec<Evidence> {
        std::iter::once(self.evidence(&sentence.range)).chain(other).collect()
    }
}

/// Says whether somebody takes back what they said last.
fn takes_back(lower: &str) -> bool {
    let lower = lower.trim_start();
    begins(lower, table("take back")) || begins(without_interjections(lower), table("take back"))
}

/// Ends a sentence that has no mark at its end.
fn closed(text: &str) -> String {
    if text.ends_with(['.', '!', '?', ':', '。']) { text.to_owned() } else { format!("{text}.") }
}

/// "I wrote the test first" was done by who is spoken to.
fn without_subject(text: &str) -> &str {
    ["I've ", "I ", "We ", "Ich habe "].iter().find_map(|subject| text.strip_prefix(subject)).unwrap_or(text)
}
