//! What the tests share: a naive model, documents drawn at random, and a dump of every answer.

mod concurrent;
mod crash;
mod damage;
mod model;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::{Entry, Index, IndexError, Options, Row, Stamp, Writer};

/// What is called after each step of a [`Writer`].
#[derive(Default)]
pub(super) struct AfterStep(pub(super) Option<Box<dyn FnMut() + Send>>);

impl AfterStep {
    pub(super) fn call(&mut self) {
        if let Some(call) = &mut self.0 {
            call();
        }
    }
}

impl std::fmt::Debug for AfterStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AfterStep")
    }
}

/// The live documents, as a writer should have them.
type Model = BTreeMap<String, Entry>;

const N_KEYS: u64 = 24;
const N_TERMS: u64 = 12;
const N_FACETS: u64 = 4;
/// Which nearest vectors a test asks for: the query, how many results, how many rows to look at.
const ASKED: [(Row, usize, usize); 7] = [
    (row(1, 0, 0), 100, 1000),
    (row(-1, 1, 1), 100, 1000),
    (row(0, 0, 1), 3, 1000),
    (row(1, 0, 0), 5, 1),
    (row(-2, -1, -2), 2, 6),
    (row(0, 0, 1), 100, 4),
    (row(0, 1, 0), 4, 0),
];

/// Four groups that differ in the first two dimensions.
fn centroids() -> &'static [Row; 4] {
    static CENTROIDS: [Row; 4] = [row(2, 0, 0), row(-2, 0, 0), row(0, 2, 0), row(0, -2, 0)];
    &CENTROIDS
}

const fn row(a: i8, b: i8, c: i8) -> Row {
    let mut row = [0; 256];
    (row[3], row[7], row[255]) = (a, b, c);
    row
}

/// Limits so small that every few changes fold and merge.
fn tiny() -> Options {
    Options { log_docs: 3, log_bytes: 1200, fan: 3, run_docs: 4, run_terms: 30, ..Options::new(centroids()) }
}

/// A small generator (splitmix64), so that a failing seed can be run again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn key(&mut self) -> String {
        format!("notes/{}.md", self.below(N_KEYS))
    }

    /// Draws a document; few values, so that equal scores are common.
    fn entry(&mut self) -> Entry {
        let small = |random: &mut Self| random.below(5) as i8 - 2;
        let vector = (self.below(4) > 0).then(|| row(small(self), small(self), small(self)));
        Entry {
            key: self.key(),
            stamp: self.stamp(),
            terms: (0..self.below(8))
                .map(|_| (term(self.below(N_TERMS)), self.below(400) as u16 + 1))
                .collect(),
            facets: (0..self.below(3)).map(|_| self.below(N_FACETS)).collect(),
            length: self.below(1000) as u32,
            vector,
            payload: (0..self.below(40)).map(|n| n as u8).collect(),
        }
    }

    fn stamp(&mut self) -> Stamp {
        if self.below(4) == 0 {
            return Stamp::default();
        }
        let sha256 = [self.next() as u8; 32];
        Stamp { inode: self.next(), size: self.below(5000), mtime_ns: self.next().cast_signed(), sha256 }
    }
}

/// Spreads terms over all hashes, the ends included.
fn term(n: u64) -> u64 {
    if n == 1 { u64::MAX } else { n.wrapping_mul(0x1234_5678_9abc_def1) }
}

/// A question put to an index, with its answer written out by keys.
type Answer = (String, Result<String, IndexError>);

/// Asks everything there is to ask.
fn ask(index: &Index) -> Vec<Answer> {
    let mut answers = vec![
        ("len".to_owned(), Ok(index.len().to_string())),
        ("total length".to_owned(), Ok(index.total_length().to_string())),
        ("stamps".to_owned(), ask_stamps(index)),
    ];
    for n in 0..=N_TERMS {
        answers.push((format!("term {n}"), ask_term(index, term(n))));
    }
    for facet in 0..=N_FACETS {
        answers.push((format!("facet {facet}"), ask_facet(index, facet)));
    }
    for n in 0..=N_KEYS {
        let key = format!("notes/{n}.md");
        answers.push((key.clone(), ask_key(index, &key)));
    }
    for (n, (query, limit, min_rows)) in ASKED.iter().enumerate() {
        answers.push((format!("nearest {n}"), ask_nearest(index, query, *limit, *min_rows)));
    }
    answers
}

fn ask_stamps(index: &Index) -> Result<String, IndexError> {
    let mut stamps = index.stamps()?.collect::<Result<Vec<_>, _>>()?;
    stamps.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(format!("{stamps:?}"))
}

fn ask_term(index: &Index, term: u64) -> Result<String, IndexError> {
    let postings = index.postings(term)?;
    assert!(postings.is_sorted_by_key(|posting| posting.doc));
    assert!(postings.iter().all(|posting| posting.doc.0 < index.id_limit()));
    let mut found = Vec::new();
    for posting in postings {
        found.push((index.key(posting.doc)?, posting.weight, posting.length));
    }
    found.sort_unstable();
    Ok(format!("{found:?}"))
}

fn ask_facet(index: &Index, facet: u64) -> Result<String, IndexError> {
    let keys = index.facet(facet)?.into_iter().map(|id| index.key(id));
    let mut keys = keys.collect::<Result<Vec<_>, _>>()?;
    keys.sort_unstable();
    Ok(format!("{keys:?}"))
}

fn ask_key(index: &Index, key: &str) -> Result<String, IndexError> {
    let Some(id) = index.by_key(key)? else { return Ok("none".to_owned()) };
    let doc = index.doc(id)?;
    assert_eq!(doc.key, key);
    Ok(shown(&doc.stamp, doc.length, &doc.payload, index.vector(id)?.as_ref()))
}

fn shown(stamp: &Stamp, length: u32, payload: &[u8], vector: Option<&Row>) -> String {
    format!("{stamp:?} {length} {payload:?} {vector:?}")
}

fn ask_nearest(index: &Index, query: &Row, limit: usize, min_rows: usize) -> Result<String, IndexError> {
    let mut shown = String::new();
    for (id, dot) in index.nearest(query, limit, min_rows)? {
        write!(shown, "{}={dot} ", index.key(id)?).unwrap();
    }
    Ok(shown)
}

/// Gives the answers that an index of these documents has to give, worked out the slow way.
fn expected(model: &Model) -> Vec<(String, String)> {
    let stamps: Vec<_> = model.values().map(|entry| (&entry.key, entry.stamp)).collect();
    let length: u64 = model.values().map(|entry| u64::from(entry.length)).sum();
    let mut answers = vec![
        ("len".to_owned(), model.len().to_string()),
        ("total length".to_owned(), length.to_string()),
        ("stamps".to_owned(), format!("{stamps:?}")),
    ];
    for n in 0..=N_TERMS {
        let weight = |entry: &Entry| {
            let weights =
                entry.terms.iter().filter(|&&(found, _)| found == term(n)).map(|&(_, weight)| weight);
            weights.reduce(u16::saturating_add)
        };
        let found: Vec<_> =
            model.values().filter_map(|entry| Some((&entry.key, weight(entry)?, entry.length))).collect();
        answers.push((format!("term {n}"), format!("{found:?}")));
    }
    for facet in 0..=N_FACETS {
        let keys: Vec<_> =
            model.values().filter(|entry| entry.facets.contains(&facet)).map(|entry| &entry.key).collect();
        answers.push((format!("facet {facet}"), format!("{keys:?}")));
    }
    for n in 0..=N_KEYS {
        let key = format!("notes/{n}.md");
        let doc = model.get(&key).map_or("none".to_owned(), |entry| {
            shown(&entry.stamp, entry.length, &entry.payload, entry.vector.as_ref())
        });
        answers.push((key, doc));
    }
    for (n, (query, limit, min_rows)) in ASKED.iter().enumerate() {
        answers.push((format!("nearest {n}"), expected_nearest(model, query, *limit, *min_rows)));
    }
    answers
}

/// Rows of these tests are zero everywhere else.
fn naive_dot(a: &Row, b: &Row) -> i32 {
    [3, 7, 255].into_iter().map(|at| i32::from(a[at]) * i32::from(b[at])).sum()
}

/// The cells of a topic, the one first that a row is in or nearest to: sixteen slices three wide on two axes.
fn naive_cells(row: &Row) -> Vec<(i32, i32)> {
    let middle = |slice: i32| f64::from(slice - 8) * 3.0 + 1.0;
    let far = |axis: usize, slice: i32| {
        let value = f64::from(row[axis]).max(middle(0)).min(middle(15));
        (value - middle(slice)).powi(2)
    };
    let mut cells: Vec<(i32, i32)> = (0..16).flat_map(|one| (0..16).map(move |two| (one, two))).collect();
    let distance = |&(one, two): &(i32, i32)| far(3, one) + far(7, two);
    cells.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    cells
}

fn expected_nearest(model: &Model, query: &Row, limit: usize, min_rows: usize) -> String {
    let topic = |row: &Row| {
        let dots = centroids().each_ref().map(|centroid| naive_dot(centroid, row));
        dots.iter().position(|dot| Some(dot) == dots.iter().max()).unwrap()
    };
    let mut topics: Vec<usize> = (0..centroids().len()).collect();
    topics.sort_by_key(|&topic| (-naive_dot(&centroids()[topic], query), topic));
    let rows = model.values().filter_map(|entry| Some((&entry.key, entry.vector.as_ref()?)));
    let grouped = rows.map(|(key, row)| ((topic(row), naive_cells(row)[0]), (-naive_dot(row, query), key)));
    let grouped: Vec<_> = grouped.collect();
    let mut scored = Vec::new();
    for wanted in
        topics.into_iter().flat_map(|topic| naive_cells(query).into_iter().map(move |cell| (topic, cell)))
    {
        scored.extend(grouped.iter().filter(|row| row.0 == wanted).map(|&(_, row)| row));
        if scored.len() >= min_rows.max(1) {
            break;
        }
    }
    scored.sort_unstable();
    scored.truncate(limit);
    scored.iter().fold(String::new(), |shown, (dot, key)| format!("{shown}{key}={} ", -dot))
}

fn open(path: &Path) -> Result<Index, IndexError> {
    Index::open(path, centroids())
}

/// Asserts that the index in `path` answers as an index of `model` must.
fn assert_answers(path: &Path, model: &Model, context: &str) {
    assert_model(&open(path).unwrap(), model, context);
}

fn assert_model(index: &Index, model: &Model, context: &str) {
    for ((question, answer), (asked, expected)) in ask(index).into_iter().zip(expected(model)) {
        assert_eq!(question, asked);
        assert_eq!(answer.unwrap(), expected, "{context}: {question}");
    }
}

/// Says whether the index in `path` answers everything as an index of `model` must.
fn answers_as(path: &Path, model: &Model) -> bool {
    let Ok(index) = open(path) else { return false };
    ask(&index)
        .into_iter()
        .zip(expected(model))
        .all(|((_, answer), (_, expected))| answer.is_ok_and(|answer| answer == expected))
}

/// A change drawn at random, and the model after it.
fn draw_change(random: &mut Random, model: &mut Model) -> (Vec<Entry>, Vec<String>) {
    let n_upserts = if random.below(10) == 0 { random.below(12) } else { random.below(3) };
    let upserts: Vec<Entry> = (0..n_upserts).map(|_| random.entry()).collect();
    let removals: Vec<String> = (0..random.below(3)).map(|_| random.key()).collect();
    for key in &removals {
        model.remove(key);
    }
    for entry in &upserts {
        model.insert(entry.key.clone(), entry.clone());
    }
    (upserts, removals)
}

fn copy_dir(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.path().join(entry.file_name())).unwrap();
    }
    to
}
