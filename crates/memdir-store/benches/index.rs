//! What the index costs: building, opening and asking in a cold process, updating, memory and disk.
//!
//! `cargo bench -p memdir-store --bench index` goes up to 100,000 documents, with `MEMDIR_BENCH_MILLION=1` to a million.
//! Documents are drawn: 60 words each of a vocabulary of 200,000 by Zipf's law, vectors around 256 centroids. A cold
//! process is a child that opens, asks eight words and the nearest vectors once, and reads the documents of ten; files
//! are in the page cache. Times are medians of wall time, with the least beside them, since other programs only add.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints and has nobody to report to"
)]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use memdir_store::index::{Entry, Index, Options, Row, Stamp, Writer};

const VOCABULARY: f64 = 200_000.0;
const N_WORDS: usize = 60;
const N_ROUNDS: usize = 21;
const N_UPDATES: usize = 2_000;
const LIMIT: usize = 50;
/// How many vectors a query looks at where it need not be exact.
const MIN_ROWS: usize = 2_048;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, path, min_rows, seed] = args.as_slice()
        && flag == "--ask"
    {
        return ask_cold(Path::new(path), min_rows.parse().unwrap(), seed.parse().unwrap());
    }
    let mut sizes = vec![1_000, 10_000, 100_000];
    if std::env::var_os("MEMDIR_BENCH_MILLION").is_some() {
        sizes.push(1_000_000);
    }
    for n in sizes {
        measure(n);
    }
}

fn measure(n: usize) {
    let temp = tempfile::tempdir().unwrap();
    let mut random = Random(7);
    let start = Instant::now();
    for at in 0..n {
        black_box(random.entry(at));
    }
    let drawing = start.elapsed();
    let mut random = Random(7);
    let start = Instant::now();
    let mut writer = Writer::open(temp.path(), Options::new(centroids())).unwrap();
    writer.rebuild((0..n).map(|at| random.entry(at))).unwrap();
    let built = start.elapsed().saturating_sub(drawing);
    println!("{n} documents, {:.1} MB on disk", size(temp.path()) as f64 / 1e6);
    let (seconds, peak) = (built.as_secs_f64(), peak_kib() as f64 / 1024.0);
    println!("  built in {seconds:.2} s, {:.0} documents/s, peak {peak:.0} MB", n as f64 / seconds);
    report_cold(temp.path(), "cold", MIN_ROWS);
    report_cold(temp.path(), "cold, all vectors", usize::MAX);
    report_warm(temp.path());
    report_updates(&mut writer, temp.path(), n, &mut random);
    report_cold(temp.path(), "cold, after updates", MIN_ROWS);
    report_stamps(temp.path());
}

/// Opens and asks once, and prints how long each part took in microseconds.
fn ask_cold(path: &Path, min_rows: usize, seed: u64) {
    // Not part of what is measured: in the product they are bytes of the binary.
    let (terms, vector, centroids) = query(seed);
    let start = Instant::now();
    let index = Index::open(path, centroids).unwrap();
    let opened = start.elapsed();
    let n = ask_words(&index, &terms);
    let words = start.elapsed();
    let nearest = index.nearest(&vector, LIMIT, min_rows).unwrap();
    let vectors = start.elapsed();
    for &(id, _) in nearest.iter().take(10) {
        black_box(index.doc(id).unwrap());
    }
    let docs = start.elapsed();
    let peak = peak_kib();
    let micros = [opened, words - opened, vectors - words, docs - vectors, docs].map(|time| time.as_micros());
    println!("{micros:?} {peak} {n}");
}

/// Returns how much memory this process has held at most.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Gathers the postings of all words, as a ranker does, and returns how many there were.
fn ask_words(index: &Index, terms: &[u64]) -> usize {
    let mut postings = Vec::new();
    let count = |&term: &u64| {
        index.postings_into(term, &mut postings).unwrap();
        black_box(&postings).len()
    };
    terms.iter().map(count).sum()
}

fn report_cold(path: &Path, what: &str, min_rows: usize) {
    let mut parts = [const { Vec::new() }; 5];
    let (mut peak, mut postings) = (0, Vec::new());
    for seed in 0..N_ROUNDS {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output =
            command.arg("--ask").arg(path).args([min_rows.to_string(), seed.to_string()]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let numbers: Vec<u64> =
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
        parts.iter_mut().zip(&numbers).for_each(|(part, &micros)| part.push(micros));
        peak = peak.max(numbers[5]);
        postings.push(numbers[6]);
    }
    let least = parts[4].iter().min().copied().unwrap();
    let [opened, words, vectors, docs, whole] = parts.map(median);
    println!(
        "  {what}: {:.2} ms (least {:.2}) = open {:.2} + 8 words {:.2} + nearest {:.2} + 10 documents {:.2}; {} postings, peak {:.1} MB",
        millis(whole),
        millis(least),
        millis(opened),
        millis(words),
        millis(vectors),
        millis(docs),
        median(postings),
        peak as f64 / 1024.0,
    );
}

fn report_warm(path: &Path) {
    let index = Index::open(path, centroids()).unwrap();
    let (mut words, mut near, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..N_ROUNDS as u64 {
        let (terms, vector, _) = query(1000 + seed);
        words.push(time(|| {
            black_box(ask_words(&index, &terms));
        }));
        near.push(time(|| drop(black_box(index.nearest(&vector, LIMIT, MIN_ROWS).unwrap()))));
        all.push(time(|| drop(black_box(index.nearest(&vector, LIMIT, usize::MAX).unwrap()))));
    }
    let all = median(all);
    println!(
        "  warm: 8 words {:.2} ms, nearest {:.2} ms, all vectors {:.2} ms ({:.0} ns a row)",
        nanos(median(words)),
        nanos(median(near)),
        nanos(all),
        all as f64 / index.len() as f64,
    );
}

fn report_updates(writer: &mut Writer, path: &Path, n: usize, random: &mut Random) {
    let mut times = Vec::new();
    for at in 0..N_UPDATES {
        // Half of them replace a document, half are new.
        let which = if at % 2 == 0 { random.next() as usize % n } else { n + at };
        let entry = random.entry(which);
        times.push(time(|| writer.apply(vec![entry], vec![]).unwrap()));
    }
    let mean = times.iter().sum::<u64>() / N_UPDATES as u64;
    times.sort_unstable();
    let index = Index::open(path, centroids()).unwrap();
    println!(
        "  one update: median {:.3} ms, mean {:.3}, p99 {:.2}, most {:.1}; {} documents after {N_UPDATES}, ids below {}",
        nanos(times[N_UPDATES / 2]),
        nanos(mean),
        nanos(times[N_UPDATES * 99 / 100]),
        nanos(times[N_UPDATES - 1]),
        index.len(),
        index.id_limit(),
    );
}

fn report_stamps(path: &Path) {
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(time(|| {
            let index = Index::open(path, centroids()).unwrap();
            assert_eq!(index.stamps().unwrap().filter(Result::is_ok).count(), index.len());
        }));
    }
    println!("  all stamps: {:.2} ms", nanos(median(times)));
}

/// Draws eight words and a vector to ask for.
fn query(seed: u64) -> (Vec<u64>, Row, &'static [Row]) {
    let mut random = Random(0xa5a5 + seed);
    let terms = (0..8).map(|_| random.word()).collect();
    (terms, random.vector(), centroids())
}

fn centroids() -> &'static [Row] {
    static CENTROIDS: OnceLock<Vec<Row>> = OnceLock::new();
    CENTROIDS.get_or_init(|| {
        let mut random = Random(1);
        (0..256).map(|_| [0; 256].map(|_: i8| (random.next() % 41) as i8 - 20)).collect()
    })
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws the hash of a word, the k-th most frequent with a chance of 1/k.
    fn word(&mut self) -> u64 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = VOCABULARY.powf(unit) as u64;
        Random(rank).next()
    }

    fn vector(&mut self) -> Row {
        let centre = &centroids()[self.next() as usize % 256];
        centre.map(|value| value.saturating_add((self.next() % 31) as i8 - 15))
    }

    fn entry(&mut self, at: usize) -> Entry {
        Entry {
            key: format!("project/memory-{at}.md"),
            stamp: Stamp { inode: self.next() >> 40, size: 2000, mtime_ns: 1_700_000_000, sha256: [7; 32] },
            terms: (0..N_WORDS).map(|_| (self.word(), 4)).collect(),
            facets: (0..3).map(|_| self.next() % 100).collect(),
            length: N_WORDS as u32 * 4,
            vector: Some(self.vector()),
            payload: vec![b'x'; 120],
        }
    }
}

fn size(path: &Path) -> u64 {
    std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

fn time(work: impl FnOnce()) -> u64 {
    let start = Instant::now();
    work();
    u64::try_from(start.elapsed().as_nanos()).unwrap()
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

fn millis(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64() * 1e3
}

fn nanos(nanos: u64) -> f64 {
    Duration::from_nanos(nanos).as_secs_f64() * 1e3
}
