//! What two memories are to each other: the same, the contrary, or neighbours that only look alike.
//!
//! A wrong answer takes something sound away, so doubt means neighbours. Two memories are of one subject only if nothing that
//! names or qualifies it differs: the ports of two services, the limits of two environments and the versions of two tools
//! stay beside each other however alike their sentences are.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::holder::took_over;
use super::saying::{Kind, Saying};
use super::subject::{Subject, reports};
use super::words::exclude_each_other;
use crate::embed::{self, Vector};
use crate::likeness::nearest_duplicate;
use crate::memory::MemoryType;
use crate::terms::in_english;
use crate::text::is_unspaced;

/// Words whose vectors are this near mean the same in a sentence that is the same otherwise.
const SYNONYM: f32 = 0.62;
/// Two texts that mean the same are at least so near, and have such a share of the shorter one's words in common.
const NEAR: f32 = 0.72;
const SHARED: f32 = 0.6;
/// The same for a group of three and more that say the same of one thing.
const NEAR_IN_GROUP: f32 = 0.5;
const SHARED_IN_GROUP: f32 = 0.4;
/// Two texts of which one says nearly all that the other does need be less near.
const SHARED_NEARLY_ALL: f32 = 0.85;
/// Sentences that have such a share of all their words in order in common are of one pattern.
const PATTERN: f32 = 0.55;
/// With a smaller share of words in common two memories are not compared further.
const WORTH_A_LOOK: f32 = 0.25;
/// A sentence with fewer telling words in common with another is about anything.
const MIN_MATCHED: usize = 2;

/// A text of fewer words may stand anywhere.
const MIN_SENTENCE: usize = 6;

/// What two memories are to each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Relation {
    /// They say the same; how alike they are.
    Same(f32),
    /// They give advice of the same kind, which counts where there are three of them.
    Akin(f32),
    /// They contradict each other, and in what.
    Contrary(String),
    /// Nothing that a dream would touch.
    Neighbours,
}

/// Says what two memories are to each other.
pub(super) fn relation(a: &Subject<'_>, b: &Subject<'_>) -> Relation {
    if !may_meet(a, b) || !is_worth_a_look(a, b) {
        return Relation::Neighbours;
    }
    let is_same_type = a.memory_type() == b.memory_type();
    let is_user = [a, b].iter().any(|subject| subject.memory_type() == Some(MemoryType::User));
    if !is_user && let Some(why) = contrary(a, b) {
        return Relation::Contrary(why);
    }
    if !is_same_type || !is_compatible(a, b) {
        return Relation::Neighbours;
    }
    same(a, b)
}

/// Says whether two memories can be about one thing at all: the same circle of readers, the same author, one language.
pub(super) fn may_meet(a: &Subject<'_>, b: &Subject<'_>) -> bool {
    let (one, other) = (&a.source.memory, &b.source.memory);
    a.is_touchable
        && b.is_touchable
        && one.scope == other.scope
        && one.origin_project == other.origin_project
        && a.language == b.language
}

/// Says whether two memories have enough words in common that other words for the same are worth looking for, which is
/// dear: most pairs share a rare word and nothing else.
fn is_worth_a_look(a: &Subject<'_>, b: &Subject<'_>) -> bool {
    let share = |one: &Saying, other: &Saying| {
        let n_common = one.words.keys().filter(|stem| other.words.contains_key(*stem)).count();
        n_common as f32 / one.words.len().min(other.words.len()).max(1) as f32
    };
    share(&a.facts, &b.facts) >= WORTH_A_LOOK || share(&a.claims[0], &b.claims[0]) >= 2.0 * WORTH_A_LOOK
}

/// Says whether nothing stands against making one memory of two.
pub(super) fn is_compatible(a: &Subject<'_>, b: &Subject<'_>) -> bool {
    let (one, other) = (&a.source.memory, &b.source.memory);
    one.tier == other.tier
        && one.status == other.status
        && one.kind == other.kind
        && one.expires == other.expires
        && one.rules == other.rules
        && a.source.said_by == b.source.said_by
}

fn same(a: &Subject<'_>, b: &Subject<'_>) -> Relation {
    if numbers_clash(&a.facts, &b.facts) || names_differ(a, b) {
        return Relation::Neighbours;
    }
    if says_all(a, b) || says_all(b, a) {
        return Relation::Same(1.0);
    }
    if are_siblings(a, b) {
        return Relation::Neighbours;
    }
    let met = meeting(&a.facts, &b.facts);
    // A name or a qualifier that the other lacks, which has something else instead: two things of one kind.
    let tells = |saying: &Saying, only: &[&str]| only.iter().any(|stem| saying.is_telling(stem));
    let a_tells = tells(&a.facts, &met.only_a) && !met.only_b.is_empty();
    let b_tells = tells(&b.facts, &met.only_b) && !met.only_a.is_empty();
    let is_denied_alike = a.facts.is_negated == b.facts.is_negated;
    if is_denied_alike && nearest_duplicate(&a.likeness, [&b.likeness]).is_some() {
        return Relation::Same(1.0);
    }
    let shorter = a.facts.words.len().min(b.facts.words.len()).max(1);
    let shared = met.matched as f32 / shorter as f32;
    let near = nearness(&a.stated, &b.stated);
    let is_near = near >= NEAR || (shared >= SHARED_NEARLY_ALL && near >= NEAR_IN_GROUP);
    // Of scripts without spaces the endings alone make half of the pairs.
    let least = if is_unspaced_text(&a.stated) { SHARED_NEARLY_ALL } else { SHARED };
    if is_denied_alike && !a_tells && !b_tells && met.matched >= 3 && shared >= least && is_near {
        return Relation::Same(near);
    }
    let is_advice = a.memory_type() == Some(MemoryType::Feedback);
    let is_akin = !is_unspaced_text(&a.stated)
        && !a_tells
        && !b_tells
        && met.matched >= 2
        && shared >= SHARED_IN_GROUP
        && near >= NEAR_IN_GROUP;
    if is_advice && is_akin {
        return Relation::Akin(near);
    }
    Relation::Neighbours
}

/// Says whether one memory has every sentence of the other, word for word, under a description of the same thing.
fn says_all(short: &Subject<'_>, long: &Subject<'_>) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let said: Vec<Vec<String>> = long.sentences[1..].iter().map(|sentence| words(sentence)).collect();
    let wanted: Vec<Vec<String>> = short.sentences[1..].iter().map(|sentence| words(sentence)).collect();
    let is_there = |sentence: &Vec<String>| said.iter().any(|other| other.starts_with(sentence));
    let n_words: usize = wanted.iter().map(Vec::len).sum();
    if n_words < MIN_SENTENCE || !wanted.iter().all(is_there) || long.facts.tells_change {
        return false;
    }
    // Sentences that fit everywhere stand below descriptions of different things.
    let (one, other) = (&short.claims[0], &long.claims[0]);
    let met = meeting(one, other);
    let tells = |saying: &Saying, only: &[&str]| only.iter().any(|stem| saying.is_telling(stem));
    met.matched > 0 && !(tells(one, &met.only_a) && tells(other, &met.only_b))
}

fn is_unspaced_text(text: &str) -> bool {
    text.chars().any(is_unspaced)
}

/// Says whether the names of two files tell things apart of which the texts say nothing.
fn names_differ(a: &Subject<'_>, b: &Subject<'_>) -> bool {
    let tells = |one: &Subject<'_>, other: &Subject<'_>| {
        let is_unknown = |stem: &&String| !other.whole.words.contains_key(*stem);
        one.title.words.keys().filter(is_unknown).any(|stem| one.title.is_telling(stem))
    };
    tells(a, b) && tells(b, a)
}

/// Says whether two memories have sentences of one pattern in which something else is named: each of a row of services,
/// teams, environments has such a sentence.
fn are_siblings(a: &Subject<'_>, b: &Subject<'_>) -> bool {
    let pairs =
        a.sentences.iter().take(4).flat_map(|one| b.sentences.iter().take(4).map(move |other| (one, other)));
    pairs.into_iter().any(|(one, other)| is_one_pattern(one, other, &a.whole, &b.whole))
}

/// Says whether two sentences are of one pattern and each names something of which the other memory knows nothing.
fn is_one_pattern(a: &str, b: &str, whole_a: &Saying, whole_b: &Saying) -> bool {
    let words = |text: &str| -> Vec<String> {
        let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
    };
    let (a, b) = (words(a), words(b));
    let ops = capture_diff_slices(Algorithm::Myers, &a, &b);
    let n_equal: usize =
        ops.iter().filter(|op| op.tag() == DiffTag::Equal).map(|op| op.old_range().len()).sum();
    let is_pattern = n_equal >= 2 && n_equal as f32 >= PATTERN * a.len().max(b.len()) as f32;
    is_pattern
        && ops.iter().filter(|op| op.tag() == DiffTag::Replace).any(|op| {
            let (one, other) = (a[op.old_range()].join(" "), b[op.new_range()].join(" "));
            let met = (Saying::of(&one), Saying::of(&other));
            let left = meeting(&met.0, &met.1);
            let is_new = |only: &[&str], whole: &Saying| only.iter().any(|stem| !knows(whole, stem));
            is_new(&left.only_a, whole_b) && is_new(&left.only_b, whole_a)
        })
}

/// Says in what two memories contradict each other, if they do.
fn contrary(a: &Subject<'_>, b: &Subject<'_>) -> Option<String> {
    let (old, new) = if a.said() <= b.said() { (a, b) } else { (b, a) };
    if let Some(why) = told_change(old, new) {
        return Some(why);
    }
    if let Some(why) = took_over(old, new) {
        return Some(why);
    }
    if subject_differs(a, b) {
        return None;
    }
    let pairs = old.claims.iter().flat_map(|old| new.claims.iter().map(move |new| (old, new)));
    let are_reports = reports(old) && reports(new);
    // Where the names tell nothing in common, the sentences must say more.
    let least = if titles_differ(a, b) { MIN_MATCHED + 1 } else { MIN_MATCHED };
    pairs
        .into_iter()
        .find_map(|(one, other)| {
            clash(one, other, least).filter(|(kind, _)| {
                // Two reports of two days are two reports, unless the newer one says that the day was moved.
                *kind != Clash::Value || !are_reports || other.tells_change
            })
        })
        .map(|(_, why)| why)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clash {
    Value,
    Denial,
    Opposite,
}

/// Says in what two sentences clash.
fn clash(old: &Saying, new: &Saying, least: usize) -> Option<(Clash, String)> {
    let met = meeting(old, new);
    let opposite = opposite(&met, old, new);
    let (only_a, only_b) = without(&met, opposite);
    let tells =
        only_a.iter().any(|stem| old.is_telling(stem)) || only_b.iter().any(|stem| new.is_telling(stem));
    // Whoever says that something changed may say a little more.
    let slack = usize::from(new.tells_change && met.matched >= 3);
    let n_common = met.matched + common_values(old, new);
    let is_one_subject = n_common >= least
        && !tells
        && (only_a.is_empty() || only_b.is_empty())
        && only_a.len().max(only_b.len()) <= slack;
    if is_one_subject {
        if let Some((kind, one, other)) = changed_value(old, new)
            && old.is_negated == new.is_negated
        {
            return Some((Clash::Value, format!("{} {one} became {other}", kind.noun())));
        }
        if let Some((one, other)) = opposite.filter(|_| old.is_negated == new.is_negated) {
            return Some((Clash::Opposite, format!("`{one}` became `{other}`")));
        }
        if only_a.is_empty() && only_b.is_empty() && opposite.is_none() && denies(old, new) {
            return Some((Clash::Denial, "one says the contrary of the other".to_owned()));
        }
    }
    None
}

/// Says what a newer memory tells to be gone, where that is what the older one is about.
fn told_change(old: &Subject<'_>, new: &Subject<'_>) -> Option<String> {
    if !unknown(&old.claims[0], new).is_empty() {
        return None;
    }
    let pairs = old.claims.iter().flat_map(|one| new.claims.iter().map(move |other| (one, other)));
    pairs.into_iter().find_map(|(one, other)| {
        let mut met = meeting(one, other);
        // "Tickets are tracked in Jira": what the newer memory says elsewhere it need not repeat.
        met.only_a.retain(|stem| !knows(&new.whole, stem));
        took_the_place(one, other, &met)
    })
}

/// Says whether one sentence denies what the other says.
fn denies(old: &Saying, new: &Saying) -> bool {
    if values_clash(old, new) {
        return false;
    }
    if old.is_negated != new.is_negated {
        return true;
    }
    // "Tabs, not spaces" and "spaces, not tabs".
    old.is_negated && !old.denied.is_empty() && !new.denied.is_empty() && old.denied.is_disjoint(&new.denied)
}

/// Says what the newer sentence tells to be gone, where that is what the older one says.
fn took_the_place(old: &Saying, new: &Saying, met: &Meeting<'_>) -> Option<String> {
    let is_told = new.tells_change && !new.denied.is_empty() && met.matched >= MIN_MATCHED;
    let is_covered = met.only_a.is_empty() && old.values.keys().all(|kind| new.values.contains_key(kind));
    let is_meant = new.denied.iter().all(|stem| old.words.contains_key(stem));
    (is_told && is_covered && is_meant && !old.is_negated && !old.tells_change && !met.only_b.is_empty())
        .then(|| {
            let gone: Vec<&str> =
                new.denied.iter().filter_map(|stem| old.words.get(stem)).map(String::as_str).collect();
            format!("`{}` is no longer so", gone.join(" "))
        })
}

/// Finds the value that differs between two sentences: one kind of value, other values in its place.
fn changed_value<'s>(old: &'s Saying, new: &'s Saying) -> Option<(&'s Kind, &'s str, &'s str)> {
    let mut changed = None;
    for (kind, values) in &old.values {
        let Some(others) = new.values.get(kind) else { continue };
        if values == others {
            continue;
        }
        let (gone, come): (BTreeSet<&String>, BTreeSet<&String>) =
            (values.difference(others).collect(), others.difference(values).collect());
        let (Some(one), Some(other)) = (gone.first(), come.first()) else { continue };
        changed = changed.or(Some((kind, one.as_str(), other.as_str())));
    }
    changed
}

/// Counts the values that two sentences have in common.
fn common_values(a: &Saying, b: &Saying) -> usize {
    let common = |(kind, values): (&Kind, &BTreeSet<String>)| {
        b.values.get(kind).map_or(0, |others| values.intersection(others).count())
    };
    a.values.iter().map(common).sum()
}

/// Says whether two texts have values of one kind that cannot both be meant: each has one that the other lacks.
fn values_clash(a: &Saying, b: &Saying) -> bool {
    changed_value(a, b).is_some()
}

/// Says whether two texts each have a number or a day, of whatever kind, that the other lacks.
fn numbers_clash(a: &Saying, b: &Saying) -> bool {
    let all = |saying: &Saying| -> BTreeSet<String> { saying.values.values().flatten().cloned().collect() };
    let (a, b) = (all(a), all(b));
    !a.is_subset(&b) && !b.is_subset(&a)
}

/// Finds words in place of each other that cannot both be so.
fn opposite<'s>(met: &Meeting<'s>, old: &'s Saying, new: &'s Saying) -> Option<(&'s str, &'s str)> {
    met.only_a.iter().find_map(|one| {
        let one = old.words.get(*one)?;
        met.only_b.iter().find_map(|other| {
            let other = new.words.get(*other)?;
            exclude_each_other(one, other).then_some((one.as_str(), other.as_str()))
        })
    })
}

/// Returns what is left on each side without the words that are opposites.
fn without<'s>(met: &Meeting<'s>, opposite: Option<(&str, &str)>) -> (Vec<&'s str>, Vec<&'s str>) {
    let Some((one, other)) = opposite else { return (met.only_a.clone(), met.only_b.clone()) };
    let is_of = |stem: &str, word: &str| super::saying::stems(word).iter().any(|own| own == stem);
    let a = met.only_a.iter().copied().filter(|stem| !is_of(stem, one)).collect();
    let b = met.only_b.iter().copied().filter(|stem| !is_of(stem, other)).collect();
    (a, b)
}

/// Says whether two memories are about different things, by their descriptions, or by names that tell things apart.
fn subject_differs(a: &Subject<'_>, b: &Subject<'_>) -> bool {
    let (only_a, only_b) = (unknown(&a.claims[0], b), unknown(&b.claims[0], a));
    let tells = |saying: &Saying, only: &[String]| only.iter().any(|stem| saying.is_telling(stem));
    let (title_a, title_b) = (unknown(&a.title, b), unknown(&b.title, a));
    (!only_a.is_empty() && !only_b.is_empty())
        || tells(&a.claims[0], &only_a)
        || tells(&b.claims[0], &only_b)
        || tells(&a.title, &title_a)
        || tells(&b.title, &title_b)
}

/// Says whether the names of two files each have a word of which the other memory knows nothing.
fn titles_differ(a: &Subject<'_>, b: &Subject<'_>) -> bool {
    !unknown(&a.title, b).is_empty() && !unknown(&b.title, a).is_empty()
}

/// Returns the words of one text of which another memory says nothing, not even in other words.
fn unknown(text: &Saying, other: &Subject<'_>) -> Vec<String> {
    let means_same = |word: &str| {
        let mut known = other.whole.words.values();
        known.any(|known| exclude_each_other(word, known) || are_synonyms(word, known))
    };
    let is_unknown = |(stem, word): &(&String, &String)| !knows(&other.whole, stem) && !means_same(word);
    text.words.iter().filter(is_unknown).map(|(stem, _)| stem.clone()).collect()
}

/// Says whether a text has a word, perhaps with another ending.
pub(super) fn knows(saying: &Saying, stem: &str) -> bool {
    saying.words.contains_key(stem) || saying.words.keys().any(|known| is_one_word(known, stem))
}

/// What two texts share and what each has alone.
#[derive(Debug)]
struct Meeting<'s> {
    matched: usize,
    only_a: Vec<&'s str>,
    only_b: Vec<&'s str>,
}

fn meeting<'s>(a: &'s Saying, b: &'s Saying) -> Meeting<'s> {
    let only = |one: &'s Saying, other: &Saying| -> Vec<&'s str> {
        let stems = one.words.keys().filter(|stem| !other.words.contains_key(*stem));
        stems.map(String::as_str).collect()
    };
    let (mut only_a, mut only_b) = (only(a, b), only(b, a));
    let mut matched = a.words.len() - only_a.len();
    only_a.retain(|one| {
        let is_other = |other: &&str| {
            if is_one_word(one, other) {
                return true;
            }
            let soft = !a.is_telling(one) && !b.is_telling(other);
            soft && a.words.get(*one).zip(b.words.get(*other)).is_some_and(|(x, y)| are_synonyms(x, y))
        };
        let Some(at) = only_b.iter().position(is_other) else { return true };
        only_b.remove(at);
        matched += 1;
        false
    });
    Meeting { matched, only_a, only_b }
}

/// Says whether two stems are of one word with other endings.
fn is_one_word(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short.chars().count() >= 5 && long.starts_with(short) && long.len() - short.len() <= 4
}

fn are_synonyms(a: &str, b: &str) -> bool {
    // The table of vectors knows English; of other scripts it knows pieces, which are all alike.
    if exclude_each_other(a, b) || !a.is_ascii() || !b.is_ascii() {
        return false;
    }
    let (Some(one), Some(other)) = (word_vector(a), word_vector(b)) else { return false };
    one.cosine(&other) >= SYNONYM
}

/// As many words are remembered with their vectors.
const MAX_VECTORS: usize = 20_000;

thread_local! {
    /// The vectors of words that were compared: a vault has few words, and each is compared with many.
    static VECTORS: RefCell<HashMap<String, Option<Rc<Vector>>>> = RefCell::default();
}

fn word_vector(word: &str) -> Option<Rc<Vector>> {
    VECTORS.with_borrow_mut(|vectors| {
        if let Some(known) = vectors.get(word) {
            return known.clone();
        }
        if vectors.len() >= MAX_VECTORS {
            vectors.clear();
        }
        let vector = embed::word(word).map(|(vector, _)| Rc::new(vector));
        vectors.insert(word.to_owned(), vector.clone());
        vector
    })
}

fn nearness(a: &str, b: &str) -> f32 {
    let (Some(one), Some(other)) = (embed::vector(&in_english(a)), embed::vector(&in_english(b))) else {
        return 0.0;
    };
    one.cosine(&other)
}

impl Kind {
    /// Returns what a reason calls it.
    fn noun(&self) -> &'static str {
        match self {
            Self::Day => "the day",
            Self::Clock => "the time",
            Self::Weekday => "the day of the week",
            Self::Version => "the version",
            Self::Number(_) => "the number",
        }
    }
}
