//! `memdir bench retrieval`: which turns of a long log answer a question, and how fast.
//!
//! Turns go into a fresh index of the kind that memories are in, with their haystack as a facet. A question is answered
//! through that index: words by its postings, meaning by its vectors, both within the haystack. See
//! [`memdir_core::turns`] for how turns are ranked.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use memdir_core::embed;
use memdir_core::terms::Term;
use memdir_core::turns::{
    self, Baseline, Features, Figures, Labelled, Log, Measures, Member, Question, Stored, Weights, intervals,
};
use memdir_store::index::{DocId, Entry, Index, IndexError, Options, Posting, Stamp, Writer};
use serde_json::{Map, Value, json};

use super::haystacks::{Doc, Haystacks, QueryRow};
use super::scratch::{Clock, Scratch, Spent, quantiles, rate};
use crate::failure::Failure;
use crate::ui::Ui;

/// What intervals are drawn with; any number will do, but always the same.
const SEED: u64 = 4;

/// The files of one benchmark.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Files {
    /// Turns, one JSON row a line: h, id, s, t, who, text (.jsonl or .jsonl.xz)
    #[arg(long, value_name = "FILE")]
    docs: PathBuf,
    /// Questions, one JSON row a line: h, id, q, type, date, gold, gold_s
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Up to which places to look for the answers
    #[arg(long, value_name = "K", value_delimiter = ',', default_value = "5,10")]
    k: Vec<usize>,
}

/// How good the answer to one question is, and of which kind the question.
struct Answer {
    kind: String,
    turn: Option<Measures>,
    session: Option<Measures>,
}

/// For each term of a question the places of the turns that have it, with how often.
type Counts = Vec<Vec<(usize, u32)>>;

/// A plain way of ranking, what it answered and how long that took.
struct Plain {
    way: Baseline,
    answers: Vec<Answer>,
    times: Vec<Duration>,
}

impl Plain {
    fn new(way: Baseline) -> Self {
        Self { way, answers: Vec::new(), times: Vec::new() }
    }

    fn ask(&mut self, archive: &Archive, query: &QueryRow, depths: &[usize]) -> Result<(), IndexError> {
        let start = Instant::now();
        let (log, question, counts) = archive.look_up(query)?;
        let scores = log.plainly(self.way, &question, &counts);
        let ranking = log.best(&scores, scores.len());
        self.times.push(start.elapsed());
        self.answers.push(answer(query, log, &ranking, depths));
        Ok(())
    }

    fn report(mut self, depths: &[usize]) -> Value {
        let mut report = levels(&self.answers, depths);
        report.insert("query_ms".to_owned(), quantiles(&mut self.times));
        Value::Object(report)
    }
}

/// Measures, and prints the figures as JSON.
pub(super) fn run(files: &Files, ui: &mut Ui) -> Result<(), Failure> {
    let haystacks = Haystacks::read(&files.docs, &files.queries)?;
    if files.k.contains(&0) {
        return Err(Failure::error("`--k` counts from 1"));
    }
    let mut archive = Archive::ingest(&haystacks.docs, ui)?;
    let weights = Weights::fitted();
    let mut progress = ui.progress();
    let (mut answers, mut times, mut opening) = (Vec::new(), Vec::new(), Vec::new());
    let mut plain = Baseline::ALL.map(Plain::new);
    for (at, query) in haystacks.queries.iter().enumerate() {
        progress.at(at, haystacks.queries.len());
        let start = Instant::now();
        if archive.open(&query.h).map_err(broken)? {
            opening.push(start.elapsed());
        }
        let start = Instant::now();
        let (log, features) = archive.ask(query).map_err(broken)?;
        let scores = log.scores(&features, &weights);
        let ranking = log.best(&scores, scores.len());
        times.push(start.elapsed());
        answers.push(answer(query, log, &ranking, &files.k));
        for plain in &mut plain {
            plain.ask(&archive, query, &files.k).map_err(broken)?;
        }
    }
    drop(progress);
    let mut report = Map::from_iter([
        ("queries".to_owned(), haystacks.queries.len().into()),
        ("ingest_docs_per_s".to_owned(), rate(haystacks.docs.len(), archive.ingest.time).into()),
        ("query_ms".to_owned(), quantiles(&mut times)),
    ]);
    report.extend(levels(&answers, &files.k));
    report.insert("by_type".to_owned(), by_type(&answers, &files.k));
    let baselines = plain.into_iter().map(|plain| (plain.way.name().to_owned(), plain.report(&files.k)));
    report.insert("baselines".to_owned(), Value::Object(baselines.collect()));
    report.insert("interval".to_owned(), all_intervals(&answers, &files.k));
    report.insert("docs".to_owned(), haystacks.docs.len().into());
    let per_work = archive.ingest.work.map(|work| rate(haystacks.docs.len(), work));
    report.insert("ingest_docs_per_cpu_s".to_owned(), per_work.into());
    report.insert("open_ms".to_owned(), quantiles(&mut opening));
    ui.json(&report);
    Ok(())
}

/// Fits the weights to some benchmarks and prints the table.
pub(super) fn tune(docs: &[PathBuf], queries: &[PathBuf], ui: &mut Ui) -> Result<(), Failure> {
    if docs.len() != queries.len() {
        return Err(Failure::error("`--docs` and `--queries` come in pairs"));
    }
    let mut read = Vec::new();
    for (docs, queries) in docs.iter().zip(queries) {
        read.push(Haystacks::read(docs, queries)?);
    }
    let mut archives = Vec::new();
    for haystacks in &read {
        let mut archive = Archive::ingest(&haystacks.docs, ui)?;
        for query in &haystacks.queries {
            archive.open(&query.h).map_err(broken)?;
        }
        archives.push(archive);
    }
    let sets = labelled(&archives, &read, |_| true).map_err(broken)?;
    let start = Weights::fitted();
    let mut progress = ui.progress();
    let fitted = turns::fit(&sets, &start, |done, total| progress.at(done, total));
    drop(progress);
    ui.block(&fitted.to_table());
    for ((path, before), after) in
        docs.iter().zip(turns::values(&sets, &start)).zip(turns::values(&sets, &fitted))
    {
        ui.say(&format!("{}: mean of recall at 5 and 10 {after:.4}, before {before:.4}", path.display()));
    }
    for (path, unseen) in docs.iter().zip(unseen(&archives, &read).map_err(broken)?) {
        ui.say(&format!("{}: each half of the logs by weights of the other {unseen:.4}", path.display()));
    }
    Ok(())
}

/// Asks the questions whose answers are known, of logs that are kept by their place in the set.
fn labelled<'a>(
    archives: &'a [Archive],
    read: &[Haystacks],
    keep: impl Fn(usize) -> bool,
) -> Result<Vec<Vec<Labelled<'a>>>, IndexError> {
    let mut sets = Vec::new();
    for (archive, haystacks) in archives.iter().zip(read) {
        let mut names: Vec<&str> = archive.opened.keys().map(String::as_str).collect();
        names.sort_unstable();
        let is_kept = |query: &&QueryRow| names.iter().position(|name| *name == query.h).is_some_and(&keep);
        let answered = haystacks.queries.iter().filter(|query| !query.gold.is_empty()).filter(is_kept);
        let labelled = answered.map(|query| {
            let (log, features) = archive.ask(query)?;
            let is_gold = |&at: &usize| query.gold.contains(&log.members()[at].stored.turn.id);
            let gold = (0..log.members().len()).filter(is_gold).collect();
            Ok(Labelled { log, features, gold, n_gold: query.gold.len() })
        });
        sets.push(labelled.collect::<Result<Vec<_>, IndexError>>()?);
    }
    Ok(sets)
}

/// Returns how good weights are for logs that they were not fitted to: every second log by the others, and the reverse.
fn unseen(archives: &[Archive], read: &[Haystacks]) -> Result<Vec<f64>, IndexError> {
    let halves = [0, 1].map(|half| labelled(archives, read, |at| at % 2 == half));
    let [even, odd] = halves;
    let (even, odd) = (even?, odd?);
    let judge = |by: &[Vec<Labelled<'_>>], on: &[Vec<Labelled<'_>>]| {
        turns::values(on, &turns::fit(by, &Weights::fitted(), |_, _| {}))
    };
    let (on_odd, on_even) = (judge(&even, &odd), judge(&odd, &even));
    let whole = |at: usize| {
        let (n_even, n_odd) = (even[at].len() as f64, odd[at].len() as f64);
        (on_even[at] * n_even + on_odd[at] * n_odd) / (n_even + n_odd).max(1.0)
    };
    Ok((0..read.len()).map(whole).collect())
}

/// An index of turns in a directory of its own, with the haystacks that were opened.
struct Archive {
    index: Index,
    ingest: Spent,
    opened: HashMap<String, Haystack>,
    _scratch: Scratch,
}

/// One haystack, open.
struct Haystack {
    log: Log,
    /// The document of each turn with the turn's place, ascending.
    places: Vec<(DocId, usize)>,
}

impl Archive {
    /// Puts every turn into a fresh index.
    fn ingest(docs: &[Doc], ui: &Ui) -> Result<Self, Failure> {
        let scratch = Scratch::new()?;
        let mut progress = ui.progress();
        let start = Clock::start();
        let mut writer = Writer::open(scratch.path(), Options::new(embed::centroids())).map_err(broken)?;
        let entries = docs.iter().enumerate().map(|(at, doc)| {
            progress.at(at, docs.len());
            entry(doc)
        });
        writer.rebuild(entries).map_err(broken)?;
        drop(writer);
        let ingest = start.spent();
        drop(progress);
        let index = Index::open(scratch.path(), embed::centroids()).map_err(broken)?;
        Ok(Self { index, ingest, opened: HashMap::new(), _scratch: scratch })
    }

    /// Opens a haystack; false if it is open already.
    fn open(&mut self, name: &str) -> Result<bool, IndexError> {
        if self.opened.contains_key(name) {
            return Ok(false);
        }
        let mut found = Vec::new();
        for id in self.index.facet(facet(name))? {
            let doc = self.index.doc(id)?;
            let stored = Stored::read(&doc.payload).ok_or(IndexError::OtherVersion)?;
            let member = Member { stored, length: doc.length, row: self.index.vector(id)? };
            found.push((id, member));
        }
        found.sort_by_key(|(_, member)| member.stored.turn.position);
        let mut places: Vec<(DocId, usize)> =
            found.iter().enumerate().map(|(place, (id, _))| (*id, place)).collect();
        places.sort_unstable();
        let log = Log::new(found.into_iter().map(|(_, member)| member).collect());
        self.opened.insert(name.to_owned(), Haystack { log, places });
        Ok(true)
    }

    /// Asks an open haystack what speaks for each of its turns.
    fn ask(&self, query: &QueryRow) -> Result<(&Log, Features), IndexError> {
        let (log, question, counts) = self.look_up(query)?;
        Ok((log, log.features(&question, &counts)))
    }

    /// Takes a question apart and looks its words up in an open haystack.
    fn look_up(&self, query: &QueryRow) -> Result<(&Log, Question, Counts), IndexError> {
        let haystack = self.opened.get(&query.h).ok_or(IndexError::Missing)?;
        let question = Question::new(&query.q);
        let mut counts = Vec::with_capacity(question.terms().len());
        let mut postings = Vec::new();
        for term in question.terms() {
            self.index.postings_into(term.value(), &mut postings)?;
            counts.push(haystack.counts(&postings));
        }
        Ok((&haystack.log, question, counts))
    }
}

impl Haystack {
    /// Returns which of its turns are among the postings, ascending by place, with how often they have the term.
    fn counts(&self, postings: &[Posting]) -> Vec<(usize, u32)> {
        let mut places = self.places.iter().peekable();
        let mut counts = Vec::new();
        for posting in postings {
            while places.next_if(|(id, _)| *id < posting.doc).is_some() {}
            if let Some((_, place)) = places.next_if(|(id, _)| *id == posting.doc) {
                counts.push((*place, u32::from(posting.weight)));
            }
        }
        counts.sort_unstable();
        counts
    }
}

fn entry(doc: &Doc) -> Entry {
    let indexed = doc.turn.indexed();
    Entry {
        key: format!("{:010}", doc.turn.position),
        stamp: Stamp::default(),
        terms: indexed.terms.iter().map(|(term, count)| (term.value(), *count)).collect(),
        facets: doc.haystacks.iter().map(|name| facet(name)).collect(),
        length: indexed.length,
        vector: indexed.row,
        payload: indexed.payload,
    }
}

fn facet(haystack: &str) -> u64 {
    Term::of(&format!("haystack:{haystack}")).value()
}

fn answer(query: &QueryRow, log: &Log, ranking: &[usize], depths: &[usize]) -> Answer {
    let turn = |at: &usize| &log.members()[*at].stored.turn;
    let turns: Vec<&str> = ranking.iter().map(|at| turn(at).id.as_str()).collect();
    // A session ranks where its best turn ranks.
    let mut sessions: Vec<&str> = Vec::new();
    for at in ranking {
        let session = turn(at).session.as_str();
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    let gold: Vec<&str> = query.gold.iter().map(String::as_str).collect();
    let gold_s: Vec<&str> = query.gold_s.iter().map(String::as_str).collect();
    Answer {
        kind: query.kind.clone(),
        turn: Measures::of(&turns, &gold, depths),
        session: Measures::of(&sessions, &gold_s, depths),
    }
}

/// Returns the figures of turns and of sessions.
fn levels<'a>(answers: impl IntoIterator<Item = &'a Answer> + Clone, depths: &[usize]) -> Map<String, Value> {
    let turns = answers.clone().into_iter().filter_map(|answer| answer.turn.as_ref());
    let sessions = answers.into_iter().filter_map(|answer| answer.session.as_ref());
    Map::from_iter([
        ("turn".to_owned(), means(&Figures::of(turns, depths))),
        ("session".to_owned(), means(&Figures::of(sessions, depths))),
    ])
}

fn means(figures: &Figures) -> Value {
    let means = figures.means.iter().map(|(name, mean)| (name.clone(), rounded(*mean)));
    // Where nothing is labelled there is no mean.
    let mut means: Map<String, Value> = if figures.n == 0 { Map::new() } else { means.collect() };
    means.insert("queries".to_owned(), figures.n.into());
    Value::Object(means)
}

fn by_type(answers: &[Answer], depths: &[usize]) -> Value {
    let mut kinds: Vec<&str> = answers.iter().map(|answer| answer.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let of = |kind: &str| {
        let answers: Vec<&Answer> = answers.iter().filter(|answer| answer.kind == kind).collect();
        let mut figures = Map::from_iter([("queries".to_owned(), answers.len().into())]);
        figures.extend(levels(answers, depths));
        (kind.to_owned(), Value::Object(figures))
    };
    Value::Object(kinds.into_iter().map(of).collect())
}

/// Returns the 95 % interval of each mean.
fn all_intervals(answers: &[Answer], depths: &[usize]) -> Value {
    let of = |measures: Vec<Measures>| -> Value {
        let found = intervals(&measures, depths, SEED).into_iter();
        let found = found.map(|(name, (low, high))| (name, json!([rounded(low), rounded(high)])));
        if measures.is_empty() { json!({}) } else { Value::Object(found.collect()) }
    };
    json!({
        "turn": of(answers.iter().filter_map(|answer| answer.turn.clone()).collect()),
        "session": of(answers.iter().filter_map(|answer| answer.session.clone()).collect()),
    })
}

fn rounded(share: f64) -> Value {
    json!((share * 1e4).round() / 1e4)
}

fn broken(err: IndexError) -> Failure {
    Failure::from_chain(&err)
}
