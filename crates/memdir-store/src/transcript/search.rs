//! Finds what was said in the sessions by words and meaning.
//!
//! [`memdir_core::turns`] ranks; this module brings it the turns. Where the user agreed to copies they come out of an index
//! ([`super::heard`]). Elsewhere nothing is kept on disk, because reading the host's files needs nobody's word and keeping
//! them does: each session is streamed once, and of a turn only its length, its counts of the question's words and where it
//! points stay in memory. Then the sessions of the best turns are read again to show them.

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::Timestamp;
use memdir_core::embed::{DOT_SCALE, Row, dot};
use memdir_core::secrets::Scanner;
use memdir_core::terms::Term;
use memdir_core::transcript::{Host, Turn};
use memdir_core::turns::{self, Features, Log, Member, Question, Stored, Weights};

use super::{Session, Transcripts, Turns, clean};

/// As much of a turn is read: what follows is the rest of a file or of a listing.
const MAX_TEXT: usize = 16 * 1024;
/// At most so many turns are compared, the newest sessions first.
pub(super) const MAX_TURNS: usize = 200_000;
/// What shares no word with the question must be this near to it.
const NEAR: f32 = 0.35;
/// The sentences of a turn that is not even this near are not looked at one by one.
const WORTH_A_LOOK: f32 = 0.2;

/// A turn that answers.
#[derive(Debug, Clone)]
pub struct Said {
    /// The session.
    pub session: String,
    /// The agent.
    pub host: Host,
    /// The file it was found in.
    pub path: PathBuf,
    /// Whether that is our copy.
    pub is_kept: bool,
    /// The turn, without secrets, its text cut.
    pub turn: Turn,
    /// How well it answers, from 0 to 1.
    pub score: f32,
    /// What speaks for it, each part from 0 to 1.
    pub parts: Vec<(&'static str, f32)>,
}

/// A turn as long as it is only compared.
#[derive(Debug)]
pub(super) struct Heard {
    /// The place of its session among all.
    pub(super) session: usize,
    pub(super) uuid: String,
    pub(super) member: Member,
    /// How often it has each term of the question.
    pub(super) counts: Vec<u16>,
    pub(super) nearness: f32,
}

impl Transcripts {
    /// Finds what was said about `text`, up to a time if one is given, the best first.
    pub fn search(&self, text: &str, limit: usize, until: Option<Timestamp>, scanner: &Scanner) -> Vec<Said> {
        let question = Question::new(text);
        let sessions = self.sessions();
        let heard = self.keep.then(|| self.heard(&sessions, &question, until, scanner).ok()).flatten();
        if !self.keep {
            // The user may have taken the word back.
            let _ = self.forget_heard();
        }
        let heard = heard.unwrap_or_else(|| stream(&sessions, &question, until));
        let best = rank(heard, &question, limit);
        show(&sessions, &best, scanner)
    }
}

/// Takes in what was said in all sessions.
fn stream(sessions: &[Session], question: &Question, until: Option<Timestamp>) -> Vec<Heard> {
    let mut heard: Vec<Heard> = Vec::new();
    for (at, session) in sessions.iter().enumerate() {
        if heard.len() >= MAX_TURNS {
            break;
        }
        listen(session, at, question, until, &mut heard);
    }
    heard
}

/// Takes in what was said in one session.
fn listen(
    session: &Session,
    at: usize,
    question: &Question,
    until: Option<Timestamp>,
    heard: &mut Vec<Heard>,
) {
    let Ok(turns) = session.turns() else { return };
    let mut places: HashMap<String, usize> = HashMap::new();
    for turn in turns {
        let is_later = until.zip(turn.at).is_some_and(|(until, at)| at > until);
        if is_later || turn.text.trim().is_empty() {
            continue;
        }
        let place = heard.len();
        let one = hear(turn, at, place, question);
        match places.get(&one.uuid) {
            // A message that is written again takes the place of its earlier form.
            Some(&earlier) => heard[earlier] = one,
            None => {
                places.insert(one.uuid.clone(), place);
                heard.push(one);
            }
        }
    }
}

/// Makes a turn of a log of one of a session, cut to what is read of it.
pub(super) fn as_turn(turn: Turn, position: u32) -> turns::Turn {
    let mut text = turn.text;
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    turns::Turn {
        id: turn.uuid,
        session: turn.session,
        position,
        speaker: turn.role.word().to_owned(),
        date: turn.at.map(|at| at.to_string()).unwrap_or_default(),
        text,
    }
}

/// Says how near a turn is to a question.
pub(super) fn nearness(question: &Question, row: Option<&Row>) -> f32 {
    question.row().zip(row).map_or(0.0, |(a, b)| dot(a, b) as f32 / DOT_SCALE)
}

/// Says whether the sentences of a turn are worth a look.
pub(super) fn is_likely(nearness: f32, counts: &[u16]) -> bool {
    nearness >= WORTH_A_LOOK || counts.iter().any(|count| *count > 0)
}

fn hear(turn: Turn, session: usize, place: usize, question: &Question) -> Heard {
    let turn = as_turn(turn, u32::try_from(place).unwrap_or(u32::MAX));
    let indexed = turn.indexed();
    let count = |term: &Term| indexed.terms.iter().find(|(own, _)| own == term).map_or(0, |(_, n)| *n);
    let counts: Vec<u16> = question.terms().iter().map(count).collect();
    let nearness = nearness(question, indexed.row.as_ref());
    let sentences = is_likely(nearness, &counts)
        .then(|| Stored::read(&indexed.payload).map(|stored| stored.sentences))
        .flatten();
    let uuid = turn.id.clone();
    let stored = Stored {
        turn: turns::Turn { text: String::new(), ..turn },
        sentences: sentences.unwrap_or_default(),
    };
    let member = Member { stored, length: indexed.length, row: indexed.row };
    Heard { session, uuid, member, counts, nearness }
}

/// A turn that is to be shown.
struct Best {
    session: usize,
    uuid: String,
    score: f32,
    parts: Vec<(&'static str, f32)>,
}

fn rank(heard: Vec<Heard>, question: &Question, limit: usize) -> Vec<Best> {
    let n_turns = heard.len();
    let mut counts: Vec<Vec<(usize, u32)>> = vec![Vec::new(); question.terms().len()];
    for (place, one) in heard.iter().enumerate() {
        for (term, count) in one.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            counts[term].push((place, u32::from(*count)));
        }
    }
    let shares: Vec<f32> = heard.iter().map(|one| share(one, &counts, n_turns)).collect();
    let nearness: Vec<f32> = heard.iter().map(|one| one.nearness).collect();
    let (names, members): (Vec<_>, Vec<_>) =
        heard.into_iter().map(|one| ((one.session, one.uuid), one.member)).unzip();
    let log = Log::new(members);
    let features = log.features(question, &counts);
    let scores = log.scores(&features, &Weights::fitted());
    let mut places = log.best(&scores, n_turns);
    places.retain(|&place| shares[place] > 0.0 || nearness[place] >= NEAR);
    places.truncate(limit);
    // What is best among turns may still be far from an answer: words and meaning of the nearest say how far.
    let belief = |&place: &usize| shares[place].max(nearness[place]).clamp(0.0, 1.0);
    let top = places.iter().map(belief).fold(0.0, f32::max);
    let most = places.first().map_or(1.0, |&place| scores[place].max(f32::MIN_POSITIVE));
    let best = |place: usize| {
        let (session, uuid) = names[place].clone();
        let score = top * (scores[place] / most).clamp(0.0, 1.0);
        Best { session, uuid, score, parts: parts(&features, place) }
    };
    places.into_iter().map(best).collect()
}

/// Returns the share of the question's words that a turn has, rare ones counting more.
fn share(one: &Heard, counts: &[Vec<(usize, u32)>], n_turns: usize) -> f32 {
    let worth = |found: &Vec<(usize, u32)>| (1.0 + n_turns as f32 / (1.0 + found.len() as f32)).ln();
    let total: f32 = counts.iter().map(worth).sum();
    let own = counts.iter().zip(&one.counts).filter(|(_, count)| **count > 0);
    if total > 0.0 { own.map(|(found, _)| worth(found)).sum::<f32>() / total } else { 0.0 }
}

fn parts(features: &Features, place: usize) -> Vec<(&'static str, f32)> {
    let parts = [
        ("words", &features.words),
        ("window", &features.window),
        ("meaning", &features.meaning),
        ("sentence", &features.sentence),
        ("session", &features.session),
    ];
    parts.into_iter().map(|(name, values)| (name, values[place])).filter(|(_, value)| *value > 0.0).collect()
}

/// Reads the best turns again, each session once, and redacts them.
fn show(sessions: &[Session], best: &[Best], scanner: &Scanner) -> Vec<Said> {
    let mut read: HashMap<usize, (bool, HashMap<String, Turn>)> = HashMap::new();
    for at in best.iter().map(|one| one.session) {
        if read.contains_key(&at) {
            continue;
        }
        let Ok(turns) = sessions[at].turns() else { continue };
        let is_kept = matches!(turns, Turns::Kept(_));
        let is_wanted = |turn: &Turn| best.iter().any(|one| one.session == at && one.uuid == turn.uuid);
        let wanted = turns.filter(is_wanted).map(|turn| (turn.uuid.clone(), turn));
        read.insert(at, (is_kept, wanted.collect()));
    }
    let said = |one: &Best| {
        let session = &sessions[one.session];
        let (is_kept, turns) = read.get(&one.session)?;
        let mut turn = turns.get(&one.uuid)?.clone();
        turn.text.truncate(turn.text.floor_char_boundary(MAX_TEXT));
        let kept = session.kept.as_ref().filter(|_| *is_kept).map(|kept| kept.path.clone());
        Some(Said {
            session: session.id.clone(),
            host: session.host,
            path: kept.unwrap_or_else(|| session.path().to_owned()),
            is_kept: *is_kept,
            turn: clean(turn, scanner).0,
            score: one.score,
            parts: one.parts.clone(),
        })
    };
    best.iter().filter_map(said).collect()
}
