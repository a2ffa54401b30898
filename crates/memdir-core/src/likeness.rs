//! Whether two memories say the same thing, so that a save can become an update instead of a second file.
//!
//! A wrong "these are the same" hides something that was worth saving, so precision comes first: we look for the
//! same words in the same order, with little added, and never call texts the same that differ in a number, a date
//! or a negation. Rephrasing is beyond this module; a model may propose to merge what we let pass. Build a
//! [`Likeness`] of each text once; comparing two is cheap.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::text::is_unspaced;

/// From this likeness on, two texts may be duplicates.
pub const DUPLICATE: f64 = 0.8;
/// Texts with fewer words, description and body together, are never called duplicates, not even equal ones: one
/// word of them carries too much, and "yes, always" may be about anything.
const MIN_WORDS: usize = 8;
/// In a text this long one word may have been exchanged for another, in one twice as long two, and so on.
const WORDS_PER_SWAP: usize = 50;

/// What a comparison needs to know about a text: its words as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Likeness {
    n_words: usize,
    /// Identifies the text with its punctuation and case taken away.
    normal: u64,
    /// Identifies its numbers, dates and negations, whatever their order.
    facts: u64,
    /// The words that carry meaning, in order; of scripts without spaces, the characters.
    words: Vec<u64>,
    /// Each two neighbours of `words`, sorted, without repetitions.
    shingles: Vec<u64>,
}

impl Likeness {
    /// Reads a memory's description and body.
    pub fn of(description: &str, body: &str) -> Self {
        let mut reader = Reader::default();
        reader.read(description);
        reader.read(body);
        reader.finish()
    }

    /// Returns the hashes of neighbouring words, sorted. They are spread evenly and the same in every process, so
    /// the smallest few of them can be stored as a sketch that says which texts are worth a comparison.
    pub fn shingles(&self) -> &[u64] {
        &self.shingles
    }
}

/// Returns the share of the longer text's shingles that the other text has too, from 0 to 1.
pub fn likeness(a: &Likeness, b: &Likeness) -> f64 {
    if a.normal == b.normal {
        return 1.0;
    }
    let longer = a.shingles.len().max(b.shingles.len());
    if longer == 0 {
        return 0.0;
    }
    n_common(&a.shingles, &b.shingles) as f64 / longer as f64
}

/// Finds the candidate that says the same as `draft`, with its place and likeness; the first of equally like ones.
pub fn nearest_duplicate<'a>(
    draft: &Likeness,
    candidates: impl IntoIterator<Item = &'a Likeness>,
) -> Option<(usize, f64)> {
    let (mut nearest, mut best) = (None, 0.0);
    for (i, candidate) in candidates.into_iter().enumerate() {
        if let Some(score) = duplicate(draft, candidate, best) {
            (nearest, best) = (Some((i, score)), score);
        }
        if best == 1.0 {
            break;
        }
    }
    nearest
}

/// Returns the likeness of two texts that say the same, `None` if they do not or if it is not better than `best`.
/// The cheapest doubts come first.
fn duplicate(a: &Likeness, b: &Likeness, best: f64) -> Option<f64> {
    if a.facts != b.facts {
        return None;
    }
    let n_words = a.n_words.min(b.n_words);
    if n_words < MIN_WORDS {
        return None;
    }
    let (shorter, longer) = (a.shingles.len().min(b.shingles.len()), a.shingles.len().max(b.shingles.len()));
    if (shorter as f64) < DUPLICATE * longer as f64 {
        return None;
    }
    let score = likeness(a, b);
    (score >= DUPLICATE && score > best && n_swaps(a, b) <= n_words / WORDS_PER_SWAP).then_some(score)
}

/// Counts the words that one text has in place of the other's. Words that are merely added count nothing.
fn n_swaps(a: &Likeness, b: &Likeness) -> usize {
    let (mut n_removed, mut n_added) = (0, 0);
    for op in capture_diff_slices(Algorithm::Myers, &a.words, &b.words) {
        if op.tag() != DiffTag::Equal {
            n_removed += op.old_range().len();
            n_added += op.new_range().len();
        }
    }
    n_removed.min(n_added)
}

/// Counts what two sorted lists have in common.
fn n_common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        n += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    n
}

/// Takes a text apart, once from its first character to its last.
#[derive(Default)]
struct Reader {
    /// What was read since the last space, in lower case.
    segment: String,
    n_words: usize,
    n_ideographs: usize,
    normal: Hash,
    facts: Vec<u64>,
    words: Vec<u64>,
}

impl Reader {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_ascii() && !c.is_ascii_whitespace() {
                self.segment.push(c.to_ascii_lowercase());
            } else if c.is_whitespace() {
                self.end_segment();
            } else if is_unspaced(c) {
                self.end_segment();
                self.ideograph(c);
            } else if is_apostrophe(c) {
                self.segment.push('\'');
            } else {
                self.segment.extend(c.to_lowercase());
            }
        }
        self.end_segment();
    }

    fn end_segment(&mut self) {
        let segment = std::mem::take(&mut self.segment);
        if segment.contains(char::is_numeric) {
            self.number(segment.trim_matches(|c: char| !c.is_alphanumeric() && !changes_a_number(c)));
        } else {
            let words = segment.split(|c: char| !c.is_alphanumeric() && c != '\'');
            words
                .map(|word| word.trim_matches('\''))
                .filter(|word| !word.is_empty())
                .for_each(|word| self.word(word));
        }
        self.segment = segment;
        self.segment.clear();
    }

    /// A number stays whole with all that is written to it: `5432`, `v1.2.3`, `2026-03-05`, `<10%`, a URL.
    fn number(&mut self, text: &str) {
        let hash = Hash::of(text);
        self.n_words += 1;
        self.normal.add(hash);
        self.facts.push(hash);
        self.words.push(hash);
    }

    fn word(&mut self, word: &str) {
        self.n_words += 1;
        self.normal.add(Hash::of(word));
        if is_filler(word) {
            return;
        }
        if is_number_or_date(word) {
            self.facts.push(Hash::of(word));
        }
        if is_negation(word) {
            self.facts.push(NEGATION);
        }
        self.words.push(Hash::of(stem(word)));
    }

    fn ideograph(&mut self, c: char) {
        let hash = Hash::of(c.encode_utf8(&mut [0; 4]));
        self.n_ideographs += 1;
        self.normal.add(hash);
        if "一二三四五六七八九十百千万億亿零〇两".contains(c) {
            self.facts.push(hash);
        }
        if "不没沒無无非未别別勿莫禁안않못없말".contains(c) {
            self.facts.push(NEGATION);
        }
        self.words.push(hash);
    }

    fn finish(mut self) -> Likeness {
        self.facts.sort_unstable();
        let pair = |pair: &[u64]| Hash::default().with(pair[0]).with(pair[1]).spread();
        let mut shingles: Vec<u64> = self.words.windows(2).map(pair).collect();
        shingles.sort_unstable();
        shingles.dedup();
        Likeness {
            n_words: self.n_words + self.n_ideographs.div_ceil(CHARS_PER_WORD),
            normal: self.normal.0,
            facts: self.facts.iter().fold(Hash::default(), |hash, fact| hash.with(*fact)).0,
            words: self.words,
            shingles,
        }
    }
}

/// Stands for any negation: "do not" and "don't" are the same, "do" is not.
const NEGATION: u64 = 1;
/// How many characters of a script without spaces we count as a word.
const CHARS_PER_WORD: usize = 2;

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\u{2019}' | '\u{2018}' | '\u{2bc}' | '\u{ff07}')
}

/// Signs that make another number of a number.
fn changes_a_number(c: char) -> bool {
    matches!(c, '+' | '-' | '−' | '<' | '>' | '=' | '≤' | '≥' | '~' | '%' | '‰' | '#' | '°')
        || "$€£¥₩₹".contains(c)
}

/// Words that may come and go without a change of meaning. Short on purpose: "before" and "with" are not here.
fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "the"
            | "and"
            | "is"
            | "are"
            | "be"
            | "it"
            | "its"
            | "that"
            | "this"
            | "these"
            | "please"
            | "also"
            | "just"
            | "so"
            | "very"
            | "really"
            | "of"
            | "to"
    )
}

/// Takes a plural's ending away.
fn stem(word: &str) -> &str {
    let keeps = word.len() < 4 || ["ss", "us", "is", "'s"].iter().any(|end| word.ends_with(end));
    if keeps { word } else { word.strip_suffix('s').unwrap_or(word) }
}

#[rustfmt::skip]
fn is_negation(word: &str) -> bool {
    word.ends_with("n't") || matches!(word,
        "not" | "no" | "never" | "none" | "nor" | "neither" | "nothing" | "nobody" | "nowhere" | "cannot" | "without"
        | "dont" | "cant" | "wont" | "doesnt" | "isnt" | "arent" | "shouldnt" | "mustnt"
        | "avoid" | "stop" | "except" | "unless" | "instead" | "only" | "forbidden" | "deprecated" | "obsolete"
        | "nicht" | "kein" | "keine" | "keinen" | "nie" | "niemals" | "ohne" // German
        | "ne" | "pas" | "jamais" | "sans" // French
        | "nunca" | "sin" | "jamás" | "não" | "sem" // Spanish, Portuguese
        | "не" | "нет" | "никогда" | "без" // Russian
    )
}

#[rustfmt::skip]
fn is_number_or_date(word: &str) -> bool {
    matches!(word,
        "zero" | "one" | "two" | "three" | "four" | "five" | "six" | "seven" | "eight" | "nine" | "ten" | "eleven"
        | "twelve" | "fifteen" | "twenty" | "thirty" | "forty" | "fifty" | "sixty" | "ninety" | "hundred" | "thousand"
        | "million" | "billion" | "dozen" | "half" | "once" | "twice" | "first" | "second" | "third" | "last"
        | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday"
        | "mondays" | "tuesdays" | "wednesdays" | "thursdays" | "fridays" | "saturdays" | "sundays"
        | "january" | "february" | "march" | "april" | "may" | "june" | "july" | "august" | "september" | "october"
        | "november" | "december" | "jan" | "feb" | "mar" | "apr" | "jun" | "jul" | "aug" | "sep" | "sept" | "oct"
        | "nov" | "dec" | "today" | "tomorrow" | "yesterday" | "daily" | "weekly" | "monthly" | "yearly" | "hourly"
    )
}

/// FNV-1a over bytes and numbers: short, and good enough where nobody gains by a collision.
#[derive(Debug, Clone, Copy)]
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn of(text: &str) -> u64 {
        text.bytes().fold(Self::default(), |hash, byte| hash.mix(u64::from(byte))).0
    }

    fn add(&mut self, number: u64) {
        *self = self.with(number);
    }

    /// Adds a number. Its high bits have to reach the low ones, which one multiplication cannot bring about.
    fn with(self, number: u64) -> Self {
        let mixed = self.mix(number);
        Self(mixed.0 ^ (mixed.0 >> 29)).mix(number >> 32)
    }

    /// Makes every bit depend on every other, so that "the smallest hashes" is a fair choice.
    fn spread(self) -> u64 {
        let once = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        once ^ (once >> 33)
    }

    fn mix(self, bits: u64) -> Self {
        Self((self.0 ^ bits).wrapping_mul(0x0100_0000_01b3))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOCKS: &str = "Integration tests must run against a real database, never mocks. Last quarter the mocked \
                         tests passed while the production migration failed.";

    /// Pairs that say the same.
    const SAME: &[(&str, &str)] = &[
        // case, punctuation, layout
        (
            "All deploys go through the staging cluster first",
            "All deploys go through the staging cluster first!",
        ),
        (
            "Run `cargo fmt` before every commit to this repository",
            "run cargo fmt before every commit to this repository",
        ),
        (
            "The API key lives in the vault, not in the repo",
            "The API key lives in the vault - not in the repo",
        ),
        (
            "Rule: keep functions short.\n\n**Why:** they are easier to read",
            "Rule: keep functions short. Why: they are easier to read",
        ),
        (
            "Don’t commit generated files to the main repository",
            "Don't commit generated files to the main repository",
        ),
        // words that carry nothing
        (
            "The user prefers short answers over the long explanations of code",
            "User prefers short answers over long explanations of code",
        ),
        (
            "Please always run the linter before the tests are started",
            "Always run the linter before tests are started",
        ),
        ("This is the place where we keep all release notes", "The place where we keep all release notes"),
        // plural
        (
            "Release notes live in the docs folder of each repository",
            "Release note live in the doc folder of each repository",
        ),
        // a little more
        (
            "The staging database is reset every night by the cron job on the build host",
            "The staging database is reset every night by the cron job on the build host in Frankfurt",
        ),
        (
            "Bugs of the ingest pipeline are tracked in the Linear project INGEST, ask Dana for access",
            "Bugs of the ingest pipeline are tracked in the Linear project called INGEST, ask Dana for access",
        ),
        (
            MOCKS,
            "Integration tests must run against a real database, never mocks. Last quarter the mocked tests passed while our production migration failed.",
        ),
        // numbers that are the same
        (
            "The service listens on port 5432 behind the proxy host",
            "the service listens on port 5432, behind the proxy host.",
        ),
        (
            "Merge freeze starts on 2026-03-05 for the mobile release",
            "Merge freeze starts on 2026-03-05 for the mobile release cut",
        ),
        // other scripts
        (
            "统合测试必须使用真实的数据库，绝对要避免模拟对象。",
            "统合测试必须使用真实的数据库绝对要避免模拟对象",
        ),
        (
            "結合テストでは必ず本物のデータベースを使うこと",
            "結合テストでは必ず本物のデータベースを使うこと。",
        ),
        (
            "통합 테스트는 반드시 실제 데이터베이스를 사용해야 합니다",
            "통합 테스트는 반드시 실제 데이터베이스를 사용해야 합니다!",
        ),
        (
            "Интеграционные тесты всегда используют настоящую базу данных в контейнере",
            "интеграционные тесты всегда используют настоящую базу данных в контейнере.",
        ),
    ];

    /// Pairs that do not, or that we had better not call the same.
    const DIFFERENT: &[(&str, &str)] = &[
        // a number
        (
            "The database listens on port 5432 in every environment",
            "The database listens on port 5433 in every environment",
        ),
        (
            "Memory number 17 of writer 3: the body of the memory goes here",
            "Memory number 18 of writer 3: the body of the memory goes here",
        ),
        (
            "Keep at least 3 releases of the app in the store",
            "Keep at least 30 releases of the app in the store",
        ),
        (
            "The request timeout of the gateway is <10s by default",
            "The request timeout of the gateway is >10s by default",
        ),
        (
            "The discount for our oldest customers is 5% at most",
            "The discount for our oldest customers is 5€ at most",
        ),
        ("We keep backups of the database for two weeks", "We keep backups of the database for three weeks"),
        (
            "Pin the compiler to version 1.95.0 in this repository",
            "Pin the compiler to version 1.95.1 in this repository",
        ),
        // a date
        (
            "Merge freeze starts on 2026-03-05 for the mobile release",
            "Merge freeze starts on 2026-05-03 for the mobile release",
        ),
        (
            "The weekly planning meeting of the team is on Monday",
            "The weekly planning meeting of the team is on Tuesday",
        ),
        (
            "The contract with the hosting provider ends in June this year",
            "The contract with the hosting provider ends in July this year",
        ),
        (
            "The full test suite is run daily on the build host",
            "The full test suite is run weekly on the build host",
        ),
        // a negation
        (
            "Integration tests should use the mocked database in this repository",
            "Integration tests should not use the mocked database in this repository",
        ),
        (
            "Always push directly to the main branch after a review",
            "Never push directly to the main branch after a review",
        ),
        (
            "The linter can be switched off in generated code",
            "The linter can't be switched off in generated code",
        ),
        (
            "Deploy the service with a feature flag for new customers",
            "Deploy the service without a feature flag for new customers",
        ),
        (
            "Use the staging cluster for all load tests of the service",
            "Avoid the staging cluster for all load tests of the service",
        ),
        (
            "Run the migrations by hand on the billing service host",
            "Run the migrations by hand only on the billing service host",
        ),
        ("统合测试必须使用真实的数据库来验证迁移", "统合测试不必须使用真实的数据库来验证迁移"),
        (
            "결합 테스트는 실제 데이터베이스를 사용해야 합니다",
            "결합 테스트는 실제 데이터베이스를 안 사용해야 합니다",
        ),
        (
            "Эти тесты всегда запускают на основном сервере сборки перед выпуском",
            "Эти тесты не всегда запускают на основном сервере сборки перед выпуском",
        ),
        // a word for another
        (
            "Use tabs for indentation in all files of the frontend code",
            "Use spaces for indentation in all files of the frontend code",
        ),
        (
            "Ask Alice before you change anything in the billing service",
            "Ask Bob before you change anything in the billing service",
        ),
        (
            "Run the formatter before the tests in the release pipeline",
            "Run the formatter after the tests in the release pipeline",
        ),
        (
            "Bugs of the ingest pipeline are tracked in Linear by the data team",
            "Bugs of the ingest pipeline are tracked in Jira by the data team",
        ),
        (
            "The alpha service stores its sessions in the shared cache cluster",
            "The beta service stores its sessions in the shared cache cluster",
        ),
        ("日本語の文書は必ず東京チームに確認してください", "日本語の文書は必ず大阪チームに確認してください"),
        // another order
        (
            "To publish a release merge develop into main and wait until the build host has finished all of its jobs for the day before you tell support",
            "To publish a release merge main into develop and wait until the build host has finished all of its jobs for the day before you tell support",
        ),
        // too short to tell, even where they are equal
        ("Use tabs for indentation", "use tabs for indentation."),
        ("Use tabs", "Use tabs"),
        ("", ""),
        ("Ask Dana first", "ask Dana first"),
        ("Prefer short answers in chat", "Prefer short answers in mail"),
        // a part of it
        ("All deploys go through the staging cluster first", MOCKS),
        ("Integration tests must run against a real database, never mocks", MOCKS),
        (
            "Integration tests must run against a real database, never mocks",
            "We never run mocks against a real integration database in tests",
        ),
    ];

    fn score(a: &str, b: &str) -> Option<f64> {
        let (a, b) = (Likeness::of("", a), Likeness::of("", b));
        let found = nearest_duplicate(&a, [&b]).map(|(_, score)| score);
        assert_eq!(nearest_duplicate(&b, [&a]).map(|(_, score)| score), found, "likeness has no direction");
        found
    }

    #[test]
    fn the_labelled_pairs_are_told_apart() {
        assert!(SAME.len() + DIFFERENT.len() >= 40);
        let missed = SAME.iter().filter(|(a, b)| score(a, b).is_none());
        assert_eq!(missed.collect::<Vec<_>>(), [&("", ""); 0], "the same, but not found");
        let wrong = DIFFERENT.iter().filter(|(a, b)| score(a, b).is_some());
        assert_eq!(wrong.collect::<Vec<_>>(), [&("", ""); 0], "different, but called the same");
    }

    #[test]
    fn a_long_text_may_have_a_word_exchanged() {
        let long = "the team decided to keep every release note in one place ".repeat(6);
        let words: Vec<String> =
            (0..66).map(|i| format!("{}{}", ["alpha", "beta", "gamma"][i % 3], "x".repeat(i))).collect();
        let text = format!("{long} {}", words.join(" "));
        assert!(score(&text, &text.replacen("alphaxxx ", "omega ", 1)).is_some());
        assert_eq!(
            score(&words[..40].join(" "), &words[..40].join(" ").replacen("alphaxxx ", "omega ", 1)),
            None
        );
    }

    #[test]
    fn the_likest_candidate_wins_and_the_first_of_equals() {
        let text = "All deploys of the web shop go through the staging cluster in the morning";
        let like = Likeness::of("", &format!("{text} hours"));
        let equal = Likeness::of("", text);
        let other = Likeness::of("", MOCKS);
        assert_eq!(nearest_duplicate(&equal, [&other, &like, &equal, &equal]), Some((2, 1.0)));
        let (at, score) = nearest_duplicate(&equal, [&other, &like]).unwrap();
        assert!(at == 1 && (DUPLICATE..1.0).contains(&score));
        assert_eq!(nearest_duplicate(&equal, [&other]), None);
        assert_eq!(nearest_duplicate(&equal, []), None);
    }

    #[test]
    fn description_and_body_count_together() {
        let whole =
            Likeness::of("Integration tests use a real database", "Mocks hid a broken migration once");
        let again =
            Likeness::of("Integration tests use a real database", "mocks hid a broken migration once!");
        let other = Likeness::of("Unit tests use a real database", "Mocks hid a broken migration once");
        assert!(nearest_duplicate(&whole, [&again]).is_some());
        assert_eq!(nearest_duplicate(&whole, [&other]), None);
    }

    #[test]
    fn shingles_are_sorted_and_spread_evenly() {
        let text: String = (0u8..200)
            .map(|i| format!("w{}{} ", char::from(b'a' + i % 26), "x".repeat(i as usize / 26)))
            .collect();
        let likeness = Likeness::of("", &text);
        assert!(likeness.shingles().is_sorted() && likeness.shingles().len() == 199);
        let n_low = likeness.shingles().iter().filter(|hash| **hash < u64::MAX / 2).count();
        assert!((70..130).contains(&n_low), "{n_low} of 199 in the lower half");
    }

    #[test]
    fn counters_in_generated_text_never_collide() {
        let texts: Vec<Likeness> = (0..400)
            .map(|i| {
                Likeness::of(
                    &format!("memory {i} of a run"),
                    &"the same long body of every memory ".repeat(9),
                )
            })
            .collect();
        for (i, text) in texts.iter().enumerate() {
            assert_eq!(nearest_duplicate(text, &texts), Some((i, 1.0)));
        }
    }

    proptest! {
        #[test]
        fn likeness_is_between_none_and_all(a in "(a|b|c|dd| |, |7|測){0,40}", b in "(a|b|c|dd| |, |7|測){0,40}") {
            let (a, b) = (Likeness::of("", &a), Likeness::of("", &b));
            let score = likeness(&a, &b);
            prop_assert!((0.0..=1.0).contains(&score));
            prop_assert_eq!(score, likeness(&b, &a));
            prop_assert_eq!(likeness(&a, &a), 1.0);
        }

        #[test]
        fn any_text_is_read_without_a_panic(a in any::<String>(), b in any::<String>()) {
            let _ = nearest_duplicate(&Likeness::of(&a, &b), [&Likeness::of(&b, &a)]);
        }
    }
}
