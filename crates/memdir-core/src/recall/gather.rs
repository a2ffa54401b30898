//! Which notes to look at, and what speaks for each.
//!
//! Candidates come from three places: words, meaning, and what is looked up by itself (files, days, links). Each is then
//! opened and compared with the moment, part by part. At most some dozens are opened, however large the index is.

use std::collections::{BTreeSet, HashMap};

use jiff::civil::{Date, Time, Weekday};
use jiff::{ToSpan, Zoned};

use super::library::{DocId, Library};
use super::note::{Note, days, facet};
use super::parts::{Part, Parts};
use super::prompt::{Asked, Read};
use super::soft::Wanted;
use super::trigger::{by_author, holds_at, recurs_on};
use crate::dates;
use crate::embed::{self, DOT_SCALE, Row, Vector};
use crate::glob;
use crate::terms::Term;

/// How many notes each way in lets through.
const MAX_BY_WORDS: usize = 24;
const MAX_BY_MEANING: usize = 16;
const MAX_BY_ERROR: usize = 12;
const MAX_BY_BRANCH: usize = 8;
const MAX_LOOKED_UP: usize = 32;
/// As many of them are compared word by word.
const MAX_COMPARED: usize = 24;
/// As many times more come along where they are equal.
const MAX_TIES: usize = 4;
/// How many days ahead a day is near.
const DAYS_AHEAD: i64 = 7;
/// How many days ahead a day is looked for that the prompt names.
const MAX_DAYS_AHEAD: i64 = 21;
/// A word in more than this share of the notes tells nothing of an index this large.
const COMMON: f32 = 0.5;
const MANY_NOTES: usize = 64;
/// So many notes are walked at most for the words of one text. A million notes have words that say little and are in hundreds
/// of thousands; what they would add to the best notes is less than the time they take.
const MAX_WALKED: usize = 300_000;

/// BM25: how fast a repeated word stops counting, and how much the length of a note counts.
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// So much word match is worth about two thirds of any more.
const ENOUGH: f32 = 12.0;

/// A note with what speaks for it.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Where the index has it.
    pub(super) doc: DocId,
    /// The note.
    pub(super) note: Note,
    /// What speaks for it.
    pub(super) parts: Parts,
    /// The names of the notes that led to it.
    pub(super) via: Vec<String>,
}

/// How rare the terms of a text are, and what each note has of them.
struct Match {
    /// Each term with its worth: how rare it is, and how much it counts.
    worth: Vec<(Term, f32)>,
    /// How rare each term is.
    rarity: HashMap<Term, f32>,
    /// What each note has of it, by its place in the index; empty where nothing was asked.
    notes: Vec<Shared>,
    /// The largest sum.
    best_sum: f32,
}

/// What a note has of a text.
#[derive(Debug, Clone, Copy, Default)]
struct Shared {
    sum: f32,
}

/// Says how rare a term is that so many of the notes have.
fn rarity(n_notes: f32, n_with: f32) -> f32 {
    (1.0 + (n_notes - n_with + 0.5) / (n_with + 0.5)).ln()
}

/// Returns how common a word may be for its notes to be walked: not in half of many notes, and no more than lets all walks
/// together stay below [`MAX_WALKED`], the rarest words first.
fn most_walked<L: Library>(library: &L, asked: &Asked) -> Result<usize, L::Error> {
    let n_notes = library.n_notes();
    if n_notes <= MANY_NOTES {
        return Ok(usize::MAX);
    }
    let common = (COMMON * n_notes as f32) as usize;
    if common.saturating_mul(asked.terms.len()) <= MAX_WALKED {
        return Ok(common);
    }
    let counts = asked.terms.iter().map(|(term, _)| library.each_posting(*term, 0, |_, _| ()));
    Ok(rarest_within(counts.collect::<Result<_, _>>()?, MAX_WALKED).min(common))
}

/// Returns the largest of the counts that fit into a sum together with all smaller ones; the smallest always does.
fn rarest_within(mut counts: Vec<usize>, sum: usize) -> usize {
    counts.retain(|&count| count > 0);
    counts.sort_unstable();
    let mut left = sum;
    let mut largest = counts.first().copied().unwrap_or(usize::MAX);
    for count in counts {
        match left.checked_sub(count) {
            Some(rest) => (left, largest) = (rest, count),
            None => break,
        }
    }
    largest
}

impl Match {
    fn of<L: Library>(library: &L, asked: &Asked) -> Result<Self, L::Error> {
        let n_notes = library.n_notes().max(1) as f32;
        let mean_length = (library.total_length() as f32 / n_notes).max(1.0);
        let n_places = if asked.terms.is_empty() { 0 } else { library.id_limit() };
        let notes = vec![Shared::default(); n_places];
        let mut found = Self { worth: Vec::new(), rarity: HashMap::new(), notes, best_sum: 0.0 };
        let most = most_walked(library, asked)?;
        for (term, counts) in &asked.terms {
            let mut known = None;
            let n_with = library.each_posting(*term, most, |n_with, posting| {
                let rarity = *known.get_or_insert_with(|| rarity(n_notes, n_with as f32));
                let frequency = f32::from(posting.weight) / 4.0;
                let length = 1.0 - B + B * posting.length as f32 / mean_length;
                let gain = rarity * counts * frequency * (K1 + 1.0) / (frequency + K1 * length);
                let note = &mut found.notes[posting.doc as usize];
                note.sum += gain;
                found.best_sum = found.best_sum.max(note.sum);
            })?;
            let rarity = rarity(n_notes, n_with as f32);
            found.rarity.insert(*term, rarity);
            found.worth.push((*term, rarity * counts));
        }
        Ok(found)
    }

    /// Returns what a note has.
    fn shared(&self, doc: DocId) -> Shared {
        self.notes.get(doc as usize).copied().unwrap_or_default()
    }

    /// Returns the most that a note could reach.
    fn most(&self) -> f32 {
        self.worth.iter().map(|(_, worth)| worth * (K1 + 1.0)).sum::<f32>().max(1e-6)
    }

    /// Returns the share of the text's words that a note's head has, rare ones counting more.
    fn share_of(&self, head: &[Term]) -> f32 {
        let total: f32 = self.worth.iter().map(|(_, worth)| worth).sum();
        let shared =
            self.worth.iter().filter(|(term, _)| head.binary_search(term).is_ok()).map(|(_, worth)| worth);
        if total > 0.0 { shared.sum::<f32>() / total } else { 0.0 }
    }

    /// Returns what a note has beside the best of all.
    fn beside(&self, doc: DocId) -> f32 {
        if self.best_sum > 0.0 { self.shared(doc).sum / self.best_sum } else { 0.0 }
    }

    fn best(&self, limit: usize) -> Vec<DocId> {
        let mut docs: Vec<(DocId, f32)> = Vec::new();
        let mut least = f32::MIN_POSITIVE;
        for (doc, note) in (0..).zip(&self.notes) {
            if note.sum >= least {
                docs.push((doc, note.sum));
                // What falls behind goes now and then: a common word is in more notes than fit into a cache.
                if docs.len() >= 16 * MAX_TIES * limit {
                    least = keep_best(&mut docs, limit);
                }
            }
        }
        if docs.len() > limit {
            keep_best(&mut docs, limit);
        }
        docs.into_iter().map(|(doc, _)| doc).collect()
    }
}

/// Keeps the best so many of more than so many notes, and returns the least that one of them has. Ids say nothing: of
/// equal ones all come along, as far as that is reasonable.
fn keep_best(docs: &mut Vec<(DocId, f32)>, limit: usize) -> f32 {
    let by_sum = |a: &(DocId, f32), b: &(DocId, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let (_, cut, _) = docs.select_nth_unstable_by(limit - 1, by_sum);
    let least = cut.1;
    docs.retain(|(_, sum)| *sum >= least);
    docs.sort_by(by_sum);
    docs.truncate(MAX_TIES * limit);
    least
}

/// A look into an index at one moment.
pub(super) struct Look<'a, L> {
    library: &'a L,
    read: &'a Read,
    today: Date,
    time: Time,
    /// The last day that the prompt names, if that is soon.
    until: Option<Date>,
    words: Match,
    errors: Match,
    branch: Match,
    near: Vec<(DocId, i32)>,
    seen: Seen,
    /// The words of the prompt, to be found in other words.
    wanted: Wanted,
    /// The prompt and the failure as rows.
    rows: [Option<Row>; 2],
}

impl<'a, L: Library> Look<'a, L> {
    pub(super) fn new(library: &'a L, read: &'a Read, now: &Zoned) -> Result<Self, L::Error> {
        let rows = [&read.prompt, &read.error].map(|asked| asked.vector.as_ref().map(Vector::to_bytes));
        let look = || Self::by_words(library, read, now, rows);
        let Some(row) = &rows[0] else { return look() };
        let (near, look) = library.nearest_while(row, MAX_BY_MEANING, look);
        let (near, mut look) = (near?, look?);
        look.seen = Seen::new(&look.words, &near);
        look.near = near;
        Ok(look)
    }

    /// Looks for everything but what is near in meaning.
    fn by_words(
        library: &'a L,
        read: &'a Read,
        now: &Zoned,
        rows: [Option<Row>; 2],
    ) -> Result<Self, L::Error> {
        let words = Match::of(library, &read.prompt)?;
        let n_notes = library.n_notes().max(1) as f32;
        let wanted = Wanted::of::<L>(&read.text, |term| match words.rarity.get(&term) {
            Some(rarity) => Ok(*rarity),
            None => Ok(rarity(n_notes, library.each_posting(term, 0, |_, _| ())? as f32)),
        })?;
        Ok(Self {
            library,
            read,
            today: now.date(),
            time: now.time(),
            until: until(&read.text, now),
            seen: Seen::new(&words, &[]),
            words,
            errors: Match::of(library, &read.error)?,
            branch: Match::of(library, &read.branch)?,
            near: Vec::new(),
            wanted,
            rows,
        })
    }

    /// Collects the notes that may help and says what speaks for each.
    pub(super) fn candidates(&self) -> Result<Vec<Candidate>, L::Error> {
        let near_error =
            self.rows[1].map_or(Ok(Vec::new()), |row| self.library.nearest(&row, MAX_BY_ERROR))?;
        let mut docs: BTreeSet<DocId> = BTreeSet::new();
        docs.extend(self.words.best(MAX_BY_WORDS));
        docs.extend(self.errors.best(MAX_BY_ERROR));
        docs.extend(self.branch.best(MAX_BY_BRANCH));
        docs.extend(self.near.iter().chain(&near_error).map(|(doc, _)| *doc));
        docs.extend(self.by_file()?);
        docs.extend(self.by_day()?);
        let mut found: Vec<Candidate> =
            docs.into_iter().map(|doc| self.candidate(doc)).collect::<Result<_, _>>()?;
        self.compare_words(&mut found);
        Ok(found)
    }

    /// Compares the words of the prompt one by one with those of the notes that are most like it.
    fn compare_words(&self, found: &mut [Candidate]) {
        let likely = |candidate: &Candidate| {
            candidate.parts.get(Part::WordsBeside) + candidate.parts.get(Part::MeaningBeside)
        };
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|a, b| likely(&found[*b]).total_cmp(&likely(&found[*a])).then(a.cmp(b)));
        order.truncate(MAX_COMPARED);
        let mut shares = Vec::with_capacity(order.len());
        for at in &order {
            let soft = self.wanted.compare(&found[*at].note);
            let parts = &mut found[*at].parts;
            parts.set(Part::SoftSum, soft.sum);
            shares.push(soft.share);
        }
        let mut sorted = shares.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let best = sorted.first().copied().unwrap_or_default();
        let next = sorted.get(1).copied().unwrap_or_default();
        for (at, share) in order.into_iter().zip(shares) {
            let parts = &mut found[at].parts;
            parts.set(Part::SoftBeside, if best > 0.0 { share / best } else { 0.0 });
            parts.set(Part::SoftLead, (share - next).max(0.0));
        }
    }

    fn candidate(&self, doc: DocId) -> Result<Candidate, L::Error> {
        let (note, row) = self.library.note_and_row(doc)?;
        let cosine = |asked: &Option<Row>| match (asked, &row) {
            (Some(asked), Some(row)) => (embed::dot(asked, row) as f32 / DOT_SCALE).max(0.0),
            _ => 0.0,
        };
        let mut parts = Parts::default();
        let head = &note.gist().head;
        by_words(&mut parts, doc, &self.words, &self.seen, head);
        by_meaning(&mut parts, self.read, cosine(&self.rows[0]), &self.seen, &note);
        let share = self.words.shared(doc).sum / self.words.most();
        by_signals(&mut parts, self.read, &note, self.today, share);
        by_clock(&mut parts, &note, self.today.weekday(), self.time);
        parts.set(Part::Author, f32::from(u8::from(by_author(&note, &self.read.authors).is_some())));
        by_named_day(&mut parts, &note, self.today, self.until);
        let sum = |found: &Match| found.shared(doc).sum;
        parts.set(Part::Branch, sum(&self.branch) / self.branch.most());
        parts.set(Part::BranchHead, self.branch.share_of(head));
        // "Clean this up" is a small job, and still somebody works on the file.
        let is_at_hand =
            [Part::File, Part::Named, Part::BranchHead].iter().any(|part| parts.get(*part) > 0.0);
        parts.set(Part::Chores, if is_at_hand { 0.0 } else { self.read.chores.share(head) });
        parts.set(Part::Error, 1.0 - (-sum(&self.errors) / ENOUGH).exp());
        parts.set(Part::ErrorBeside, self.errors.beside(doc));
        Ok(Candidate { doc, note, parts, via: Vec::new() })
    }

    fn by_file(&self) -> Result<Vec<DocId>, L::Error> {
        let mut docs = Vec::new();
        for file in &self.read.files {
            let name = file.rsplit('/').next().unwrap_or(file);
            docs.extend(self.library.facet(facet("file", name))?);
            let mut dir = file.as_str();
            while !dir.is_empty() {
                dir = dir.rsplit_once('/').map_or("", |(dir, _)| dir);
                docs.extend(self.library.facet(facet("dir", dir))?);
            }
        }
        docs.truncate(MAX_LOOKED_UP);
        Ok(docs)
    }

    fn by_day(&self) -> Result<Vec<DocId>, L::Error> {
        let mut docs = Vec::new();
        let until = self.until.and_then(|day| self.today.until(day).ok());
        let last = until.map_or(DAYS_AHEAD, |span| i64::from(span.get_days()).max(DAYS_AHEAD));
        for ahead in 0..=last {
            if let Ok(day) = self.today.checked_add(ahead.days()) {
                docs.extend(self.library.facet(facet("day", &day.to_string()))?);
            }
        }
        docs.truncate(MAX_LOOKED_UP);
        Ok(docs)
    }

    /// Adds the notes that those in `from` link to, or that link to them, and says how strongly.
    pub(super) fn spread(&self, from: &[(DocId, f32)], found: &mut Vec<Candidate>) -> Result<(), L::Error> {
        for (doc, probability) in from {
            let note = self.library.note(*doc)?;
            let mut linked = BTreeSet::new();
            for link in &note.links {
                linked.extend(self.library.named(link)?);
            }
            linked.extend(self.library.facet(facet("link", &note.name))?);
            linked.remove(doc);
            for other in linked.into_iter().take(MAX_LOOKED_UP) {
                let at = match found.iter().position(|candidate| candidate.doc == other) {
                    Some(at) => at,
                    None => {
                        found.push(self.candidate(other)?);
                        found.len() - 1
                    }
                };
                found[at].led_to(&note.name, *probability);
            }
        }
        Ok(())
    }
}

impl Candidate {
    fn led_to(&mut self, by: &str, probability: f32) {
        let parts = &mut self.parts;
        let via = parts.get(Part::Via).max(probability);
        parts.set(Part::Via, via);
        parts.set(Part::ViaMeaning, via * parts.get(Part::Meaning).max(parts.get(Part::Clause)));
        self.via.push(by.to_owned());
    }
}

/// What the best of all notes reach, to compare with.
struct Seen {
    best_words: f32,
    best_meaning: f32,
}

impl Seen {
    fn new(words: &Match, near: &[(DocId, i32)]) -> Self {
        let nearest = near.first().map_or(0.0, |(_, dot)| *dot as f32 / DOT_SCALE);
        Self { best_words: words.best_sum, best_meaning: nearest }
    }
}

fn by_words(parts: &mut Parts, doc: DocId, words: &Match, seen: &Seen, head: &[Term]) {
    let Shared { sum } = words.shared(doc);
    parts.set(Part::WordsAtAll, 1.0 - (-sum / ENOUGH).exp());
    parts.set(Part::WordsBeside, if seen.best_words > 0.0 { sum / seen.best_words } else { 0.0 });
    let n_shared = words.worth.iter().filter(|(term, _)| head.binary_search(term).is_ok()).count();
    parts.set(Part::Said, if head.is_empty() { 0.0 } else { n_shared as f32 / head.len() as f32 });
    let n_telling = words.worth.len();
    parts.set(Part::Terse, if n_telling <= 3 { 1.0 - n_telling as f32 / 4.0 } else { 0.0 });
}

fn by_meaning(parts: &mut Parts, read: &Read, meaning: f32, seen: &Seen, note: &Note) {
    let Some(vector) = &read.prompt.vector else { return };
    let (mut sentence, mut clause) = (0.0_f32, 0.0_f32);
    for own in note.gist().sentences() {
        sentence = sentence.max(own.cosine(vector));
        clause = read.clauses.iter().map(|asked| own.cosine(asked)).fold(clause, f32::max);
    }
    parts.set(Part::Meaning, meaning);
    parts.set(Part::Clause, clause.max(sentence));
    parts.set(Part::MeaningAlone, meaning.max(sentence) * (1.0 - parts.get(Part::WordsAtAll)));
    parts.set(Part::MeaningBeside, if seen.best_meaning > 0.0 { meaning / seen.best_meaning } else { 0.0 });
    parts.set(Part::Both, parts.get(Part::WordsAtAll) * meaning.max(sentence));
}

fn by_signals(parts: &mut Parts, read: &Read, note: &Note, today: Date, share: f32) {
    let is_one = |file: &String| note.paths.iter().any(|glob| glob::matches(glob, file));
    parts.set(Part::File, f32::from(u8::from(read.files.iter().any(is_one))));
    let is_named = |file: &String| names_file(note, file);
    parts.set(Part::Named, f32::from(u8::from(read.files.iter().any(is_named))));
    let warns = matches!(note.kind.as_str(), "gotcha" | "warning" | "pitfall");
    let has_failed = !read.error.terms.is_empty();
    let flag = |is_so: bool| f32::from(u8::from(is_so));
    parts.set(Part::Warns, flag(warns && has_failed));
    parts.set(Part::ToolWarns, flag(warns && read.tools.iter().any(|tool| is_about(note, tool))));
    parts.set(Part::Asks, flag(read.asks));
    parts.set(Part::Ours, flag(read.is_ours));
    parts.set(Part::Length, read.prompt.terms.len().min(20) as f32 / 20.0);
    parts.set(Part::Pasted, flag(read.is_pasted));
    parts.set(Part::Failed, flag(has_failed));
    parts.set(Part::OnBranch, flag(!read.branch.terms.is_empty()));
    let due = due(note, today);
    parts.set(Part::DueNext, if read.asks_next { due } else { 0.0 });
    parts.set(Part::DueMeaning, due * parts.get(Part::Meaning).max(parts.get(Part::WordsAtAll)));
    if read.is_explicit {
        parts.set(Part::Explicit, 1.0);
        parts.set(Part::ExplicitWords, share);
    }
}

/// Says whether a note speaks of this time of the week or of the day.
fn by_clock(parts: &mut Parts, note: &Note, day: Weekday, time: Time) {
    let has = |part: &str| note.description.contains(part) || note.body.contains(part);
    let flag = |is_so: bool| f32::from(u8::from(is_so));
    // Most notes have neither: that is seen before their letters are made small.
    parts.set(Part::Weekday, flag((has("day") || has("tag") || has("week")) && recurs_on(note, day)));
    let has_time = has_time_of_day(&note.description) || has_time_of_day(&note.body);
    parts.set(Part::Hour, flag(has_time && holds_at(note, time).is_some()));
}

/// Says whether a text has a colon between digits, without which no time of the day is found in it.
fn has_time_of_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    text.match_indices(':').any(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)))
}

/// Returns the last day that a prompt names, if it lies within some weeks.
fn until(prompt: &str, now: &Zoned) -> Option<Date> {
    let today = now.date();
    let last = today.checked_add(MAX_DAYS_AHEAD.days()).ok()?;
    days(&dates::settle(prompt, now).text).filter(|day| (today..=last).contains(day)).max()
}

fn by_named_day(parts: &mut Parts, note: &Note, today: Date, until: Option<Date>) {
    let Some(until) = until else { return };
    if note.days().iter().any(|day| (today..=until).contains(day)) {
        parts.set(Part::DueBy, parts.get(Part::Meaning).max(parts.get(Part::WordsAtAll)));
    }
}

/// Says whether a note's head names a tool.
pub(super) fn is_about(note: &Note, tool: &str) -> bool {
    note.head().to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word == tool)
}

/// Says whether a note names a file: its whole path, or its end with a folder.
fn names_file(note: &Note, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let at = [note.description.as_str(), note.body.as_str()];
    name.contains('.') && at.iter().any(|text| text.contains(name))
}

/// Returns how near the nearest day ahead is: 1 today, less up to a week, 0 beyond.
fn due(note: &Note, today: Date) -> f32 {
    let days = note
        .days()
        .into_iter()
        .filter_map(|day| today.until(day).ok())
        .map(|span| i64::from(span.get_days()));
    let near = days.filter(|days| (0..=DAYS_AHEAD).contains(days)).min();
    near.map_or(0.0, |days| 1.0 - days as f32 / (3 * DAYS_AHEAD) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarest_words_are_walked_first() {
        assert_eq!(rarest_within(vec![50, 10, 30], 100), 50);
        assert_eq!(rarest_within(vec![50, 10, 30], 60), 30);
        assert_eq!(rarest_within(vec![50, 10, 30], 39), 10);
        assert_eq!(rarest_within(vec![500, 0, 700], 60), 500, "one word is always walked");
        assert_eq!(rarest_within(vec![0, 0], 60), usize::MAX, "what nothing has costs nothing");
    }
}
