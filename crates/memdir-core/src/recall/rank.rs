//! From candidates to what is shown: one probability each, a floor, a small number.

use jiff::Zoned;

use super::gather::{Candidate, Look, is_about};
use super::library::Library;
use super::note::Note;
use super::parts::{Part, Parts, Weights};
use super::prompt::{Moment, Read, asks_for_memory, is_single_word};
use crate::memory::{Status, Tier};

/// At most so many notes are shown.
pub const MAX_SHOWN: usize = 5;
/// At most so many of them because another one led there.
const MAX_VIA: usize = 2;
/// Links are followed from as many notes, if they are at least this probable.
const MAX_SOURCES: usize = 3;
const SURE_SOURCE: f32 = 0.25;
/// Two notes this near are told apart by how well they are held.
const STRENGTH: f32 = 0.6;
/// What one that came about by itself loses, and what one that no longer holds loses.
const SUPPLEMENTARY: f32 = 0.8;
const NOT_ACTIVE: f32 = 1.5;

/// What is known of a note beside its text.
pub trait Standing {
    /// Returns how strongly it is held, from 0 to 1; a half if nothing is known.
    fn strength(&self, note: &Note) -> f32;
}

/// Nothing is known of any note.
#[derive(Debug, Clone, Copy)]
pub struct Unknown;

impl Standing for Unknown {
    fn strength(&self, _: &Note) -> f32 {
        0.5
    }
}

/// A note with how probable it is that it helps.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The note.
    pub note: Note,
    /// How probable it is that it is the one that helps, beside all others and nothing.
    pub score: f32,
    /// What speaks for it.
    pub parts: Parts,
    /// The notes that led to it, if it was not found by itself.
    pub via: Vec<String>,
}

/// Why a candidate is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    /// It is not probable enough.
    BelowFloor,
    /// Others are much more probable.
    BehindOthers,
    /// Five are shown already, or two by links.
    NoRoom,
    /// It tells how to use a tool that is in use.
    ToolInUse,
    /// Another holds in its place, or it holds no longer.
    NotActive,
    /// A program writes it out of other things, over and over: a table is no answer.
    Generated,
}

impl Skipped {
    /// Says it in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BelowFloor => "below the floor",
            Self::BehindOthers => "far behind the best",
            Self::NoRoom => "no room",
            Self::ToolInUse => "usage of a tool that is in use",
            Self::NotActive => "superseded or deprecated",
            Self::Generated => "a generated page",
        }
    }
}

/// What came to mind.
#[derive(Debug, Clone, Default)]
pub struct Recalled {
    /// What is shown, the most probable first.
    pub hits: Vec<Hit>,
    /// What is not, and why, the most probable first.
    pub skipped: Vec<(Hit, Skipped)>,
    /// How probable it is that any of them helps, shown or not.
    pub anything: f32,
    /// The floor that held for it.
    pub floor: f32,
}

/// Ranks every candidate of a moment, the most probable first, without a floor.
///
/// Candidates compete with each other and with nothing at all: what is shown to help with one is not shown with the next,
/// and where nothing speaks clearly for any of them nothing wins.
pub fn rank<L: Library>(
    library: &L,
    moment: &Moment,
    now: &Zoned,
    weights: &Weights,
    standing: &impl Standing,
) -> Result<Vec<Hit>, L::Error> {
    let read = Read::of(moment);
    let look = Look::new(library, &read, now)?;
    let mut found = look.candidates()?;
    // By name, so that an index that was built anew adds up the same numbers in the same order.
    found.sort_by(|a, b| a.note.name.cmp(&b.note.name));
    let mut sources: Vec<_> = found.iter().map(|one| (one.doc, weights.sum(&one.parts))).collect();
    to_probabilities(sources.iter_mut().map(|(_, sum)| sum).collect());
    sources.sort_by(|a, b| b.1.total_cmp(&a.1));
    sources.retain(|(_, probability)| *probability >= SURE_SOURCE);
    sources.truncate(MAX_SOURCES);
    look.spread(&sources, &mut found)?;
    found.sort_by(|a, b| a.note.name.cmp(&b.note.name));
    let mut hits: Vec<Hit> = found.into_iter().map(|candidate| hit(candidate, weights, standing)).collect();
    let is_rival = |hit: &&mut Hit| !is_usage(&hit.note, &moment.tools);
    to_probabilities(hits.iter_mut().filter(is_rival).map(|hit| &mut hit.score).collect());
    hits.iter_mut().filter(|hit| is_usage(&hit.note, &moment.tools)).for_each(|hit| hit.score = 0.0);
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.note.name.cmp(&b.note.name)));
    Ok(hits)
}

/// Turns sums into the probabilities that each is the right one, where none of them may be right either.
fn to_probabilities(sums: Vec<&mut f32>) {
    let largest = sums.iter().map(|sum| **sum).fold(0.0, f32::max);
    let total = (-largest).exp() + sums.iter().map(|sum| (**sum - largest).exp()).sum::<f32>();
    for sum in sums {
        *sum = (*sum - largest).exp() / total;
    }
}

/// Makes a hit whose score is what speaks for it in all.
fn hit(candidate: Candidate, weights: &Weights, standing: &impl Standing) -> Hit {
    let Candidate { note, parts, via, .. } = candidate;
    let mut score = weights.sum(&parts) + STRENGTH * (standing.strength(&note) - 0.5);
    if note.tier == Tier::Supplementary {
        score -= SUPPLEMENTARY;
    }
    if note.status != Status::Active {
        score -= NOT_ACTIVE;
    }
    // A note that would be found without the link is its own.
    let mut alone = parts;
    for part in [Part::Via, Part::ViaMeaning] {
        alone.0[part as usize] = 0.0;
    }
    let is_own = weights.probability(&alone) >= weights.floor;
    Hit { score, via: if is_own { Vec::new() } else { via }, note, parts }
}

/// Says what an agent should be reminded of at a moment: at most five notes, or none.
pub fn recall<L: Library>(
    library: &L,
    moment: &Moment,
    now: &Zoned,
    weights: &Weights,
    standing: &impl Standing,
) -> Result<Recalled, L::Error> {
    if is_silent(moment) {
        return Ok(Recalled { floor: weights.floor, ..Recalled::default() });
    }
    let hits = rank(library, moment, now, weights, standing)?;
    let (hits, left_out) = candidates(hits);
    let mut recalled = choose(hits, moment, weights);
    recalled.skipped.extend(left_out);
    Ok(recalled)
}

/// Takes out what is never brought to mind, with the reason; the others are as probable as if it had not been there.
fn candidates(hits: Vec<Hit>) -> (Vec<Hit>, Vec<(Hit, Skipped)>) {
    let why = |hit: &Hit| match () {
        () if hit.note.is_generated() => Some(Skipped::Generated),
        () if matches!(hit.note.status, Status::Superseded | Status::Deprecated) => Some(Skipped::NotActive),
        () => None,
    };
    let (mut kept, mut left_out, mut rest) = (Vec::new(), Vec::new(), 1.0);
    for hit in hits {
        match why(&hit) {
            Some(why) => {
                rest -= hit.score;
                left_out.push((hit, why));
            }
            None => kept.push(hit),
        }
    }
    kept.iter_mut().for_each(|hit| hit.score = (hit.score / rest.max(f32::EPSILON)).min(1.0));
    (kept, left_out)
}

/// Says whether there is nothing to look for: one word, and no signal beside it. A branch is always there, and so it is no
/// reason to answer one word.
pub(super) fn is_silent(moment: &Moment) -> bool {
    let is_spoken = !moment.prompt.trim().is_empty();
    let has_branch = !moment.branch.is_empty() && !is_spoken;
    let has_signal = !moment.files.is_empty() || !moment.error.is_empty() || has_branch;
    is_single_word(&moment.prompt) && !has_signal
}

/// Chooses among ranked notes: first which ones belong together, then whether they are probable enough to speak up.
pub fn choose(hits: Vec<Hit>, moment: &Moment, weights: &Weights) -> Recalled {
    let floor = if asks_for_memory(&moment.prompt) { weights.asked_floor } else { weights.floor };
    let mut recalled = Recalled { floor, anything: anything(&hits), ..Recalled::default() };
    if is_silent(moment) {
        return recalled;
    }
    let rivals = rivals(&hits, moment);
    for (hit, skipped) in hits.into_iter().zip(pick(&rivals, recalled.anything, floor, weights)) {
        match skipped {
            Some(why) => recalled.skipped.push((hit, why)),
            None => recalled.hits.push(hit),
        }
    }
    recalled
}

/// Returns how probable it is that any of these notes helps.
pub(super) fn anything(hits: &[Hit]) -> f32 {
    hits.iter().map(|hit| hit.score).sum()
}

/// What decides whether a ranked note is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rival {
    score: f32,
    is_linked: bool,
    is_usage: bool,
    /// Whether the best note brings it along.
    is_brought: bool,
}

/// A note with as much of the prompt's words stands for itself; no link speaks for it.
const JUDGED: f32 = 0.2;

/// Returns what decides about each of some ranked notes.
pub(super) fn rivals(hits: &[Hit], moment: &Moment) -> Vec<Rival> {
    let best = hits.first().filter(|best| brings_along(best));
    let rival = |hit: &Hit| Rival {
        score: hit.score,
        is_linked: !hit.via.is_empty(),
        is_usage: is_usage(&hit.note, &moment.tools),
        is_brought: best.is_some_and(|best| best.note.links_to(&hit.note)) && !is_judged(hit),
    };
    hits.iter().map(rival).collect()
}

/// Says whether the prompt has enough of a note's own words to judge it by them.
fn is_judged(hit: &Hit) -> bool {
    hit.parts.get(Part::WordsAtAll) >= JUDGED
}

/// Says whether a note brings along what it links to, though the prompt has nothing of that.
///
/// Who is about to do something is helped by what the author of a note wanted to be read with it. Who asks for the past
/// wants the answer alone, and a file, a branch, a failure or a day calls up just what is tied to it.
fn brings_along(hit: &Hit) -> bool {
    const ALONE: [Part; 9] = [
        Part::Explicit,
        Part::File,
        Part::Named,
        Part::Branch,
        Part::BranchHead,
        Part::Error,
        Part::DueNext,
        Part::DueMeaning,
        Part::DueBy,
    ];
    ALONE.iter().all(|part| hit.parts.get(*part) == 0.0)
}

/// Says of each of some ranked notes why it is not shown, if it is not.
///
/// Whether to speak up at all is asked of all candidates together: where two notes share the probability one of them
/// helps for certain, though neither does.
pub(super) fn pick(rivals: &[Rival], anything: f32, floor: f32, weights: &Weights) -> Vec<Option<Skipped>> {
    let best = rivals.first().map_or(0.0, |rival| rival.score);
    let (mut n_shown, mut n_linked, mut together) = (0, 0, 0.0);
    let mut picked = Vec::with_capacity(rivals.len());
    for rival in rivals {
        let skipped = match () {
            () if rival.is_usage => Some(Skipped::ToolInUse),
            () if rival.score < best * weights.margin => Some(Skipped::BehindOthers),
            () if n_shown >= MAX_SHOWN => Some(Skipped::NoRoom),
            () if rival.is_linked && n_linked >= MAX_VIA => Some(Skipped::NoRoom),
            () => None,
        };
        if skipped.is_none() {
            n_shown += 1;
            n_linked += usize::from(rival.is_linked);
            together += rival.score;
        }
        picked.push(skipped);
    }
    for (rival, skipped) in rivals.iter().zip(&mut picked) {
        let has_room = n_shown < MAX_SHOWN && n_linked < MAX_VIA;
        if rival.is_brought && *skipped == Some(Skipped::BehindOthers) && has_room {
            *skipped = None;
            n_shown += 1;
            n_linked += 1;
        }
    }
    if anything < floor || together < weights.together * floor {
        picked
            .iter_mut()
            .filter(|skipped| skipped.is_none())
            .for_each(|skipped| *skipped = Some(Skipped::BelowFloor));
    }
    picked
}

/// Says whether a note tells how to use one of these tools; what warns of one is no usage note.
fn is_usage(note: &Note, tools: &[String]) -> bool {
    if tools.is_empty() {
        return false;
    }
    let head = note.head().to_lowercase();
    let warns = matches!(note.kind.as_str(), "gotcha" | "warning" | "pitfall" | "decision")
        || ["gotcha", "warning", "never ", "pitfall", "careful"].iter().any(|word| head.contains(word));
    let tells = note.kind == "howto"
        || ["howto", "how to", "usage", "cheat sheet"].iter().any(|word| head.contains(word));
    tells && !warns && tools.iter().any(|tool| is_about(note, &tool.to_lowercase()))
}
