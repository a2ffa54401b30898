//! The scanner: keywords first, then the few rules that they call for, then a judgement of what was found.
//!
//! One automaton finds all keywords in one pass. A rule looks only at the neighbourhood of its keywords, and a pattern
//! is compiled when its keyword is met for the first time, so a text without secrets costs hardly more than that pass.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};

use crate::hash::ContentHash;

use super::check;
use super::extra::{Extra, Rules};
use super::judge;
use super::reader::{self, Candidate};
use super::rule::{Form, Rule};
use super::table;
use super::value;
use super::view;
use super::words::{self, Promise};
use super::{Allow, Finding, redact};

/// The longest token that is matched.
const MAX_TOKEN: usize = 2_400;
/// From how many bytes on the faster automaton pays for its making.
const MUCH_TEXT: usize = 256 * 1024;
/// How far before a name the service may be named.
const SERVICE_REACH: usize = 64;

/// Finds secrets in texts.
///
/// Building one is cheap: the rules of our own are shared and made when they are first needed.
#[derive(Clone)]
pub struct Scanner {
    builtin: &'static Builtin,
    extra: Arc<Extra>,
    allowed: Arc<BTreeMap<ContentHash, String>>,
}

/// Our rules and the automaton over their keywords.
struct Builtin {
    rules: Vec<&'static Rule>,
    patterns: Vec<OnceLock<Regex>>,
    /// The places of the rules for values that only a name gives away.
    named: Vec<usize>,
    /// Made in a third of a millisecond, for one memory; it reads a text in lower case.
    keywords: AhoCorasick,
    /// Made in four, three times as fast, folds case itself; for those who scan a lot.
    fast_keywords: OnceLock<AhoCorasick>,
    /// How many bytes were scanned so far.
    n_scanned: AtomicUsize,
    words: Vec<String>,
    /// What to do about each keyword.
    calls: Vec<Vec<Call>>,
    generic_key: usize,
    generic_password: usize,
}

#[derive(Debug, Clone, Copy)]
enum Call {
    /// Match a token that begins here.
    Token { rule: usize, prefix: &'static str },
    /// Run a pattern around here.
    Pattern { rule: usize },
    /// Read what belongs to this word.
    Word,
}

/// What a rule found, before overlaps are settled.
#[derive(Debug, Clone)]
struct Hit {
    rule: Named,
    span: Range<usize>,
    /// The more a rule knows about its format, the more it weighs.
    weight: usize,
}

#[derive(Debug, Clone, Copy)]
enum Named {
    Builtin(usize),
    Extra(usize),
}

static BUILTIN: LazyLock<Builtin> = LazyLock::new(Builtin::new);

impl Scanner {
    /// Returns a text without its secrets.
    pub fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let findings = self.scan(text.as_bytes());
        if findings.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(String::from_utf8_lossy(&redact(text.as_bytes(), &findings)).into_owned())
    }

    /// Returns the scanner with our own rules.
    pub fn builtin() -> Self {
        Self { builtin: &BUILTIN, extra: Arc::default(), allowed: Arc::default() }
    }

    /// Returns the scanner with our own rules and more.
    pub fn with_rules(rules: Rules) -> Self {
        Self { extra: Arc::new(Extra::new(rules)), ..Self::builtin() }
    }

    /// Lets pass the values that the user vouches for.
    pub fn allowing(mut self, entries: impl IntoIterator<Item = Allow>) -> Self {
        self.allowed = Arc::new(entries.into_iter().map(|entry| (entry.hash, entry.reason)).collect());
        self
    }

    /// Finds the secrets of a text, in the order of their places.
    pub fn scan(&self, text: &[u8]) -> Vec<Finding> {
        self.scan_file(text, None)
    }

    /// Finds the secrets of a file; `path` matters only to rules that ask for one.
    pub fn scan_file(&self, text: &[u8], path: Option<&str>) -> Vec<Finding> {
        let mut hits = Vec::new();
        self.builtin.scan(text, false, &mut hits);
        for fragment in view::fragments(text) {
            self.scan_fragment(&fragment, &mut hits);
        }
        for (rule, span) in self.extra.scan(text, path) {
            hits.push(Hit { rule: Named::Extra(rule), span, weight: 50 });
        }
        self.settle(text, hits)
    }

    fn scan_fragment(&self, fragment: &view::Fragment, hits: &mut Vec<Hit>) {
        let mut inner = Vec::new();
        self.builtin.scan(&fragment.bytes, fragment.marked_only, &mut inner);
        // Encodings are undone twice at most.
        for nested in view::decoded(&fragment.bytes) {
            let mut deepest = Vec::new();
            self.builtin.scan(&nested.bytes, nested.marked_only, &mut deepest);
            inner.extend(deepest.into_iter().filter_map(|hit| hit.moved(&nested)));
        }
        hits.extend(inner.into_iter().filter_map(|hit| hit.moved(fragment)));
    }

    /// Keeps the best of what overlaps, drops what is allowed, and counts lines.
    fn settle(&self, text: &[u8], mut hits: Vec<Hit>) -> Vec<Finding> {
        hits.sort_by_key(|hit| {
            (std::cmp::Reverse(hit.weight), std::cmp::Reverse(hit.span.len()), hit.span.start)
        });
        let mut kept: BTreeMap<usize, Hit> = BTreeMap::new();
        for hit in hits {
            let before = kept.range(..hit.span.end).next_back();
            if before.is_none_or(|(_, other)| other.span.end <= hit.span.start) {
                kept.insert(hit.span.start, hit);
            }
        }
        let mut lines = Lines { text, at: 0, line: 1 };
        kept.into_values()
            .map(|hit| self.finding(&hit, lines.at(hit.span.start)))
            .filter(|finding| {
                self.allowed.is_empty() || !self.allowed.contains_key(&finding.value_hash(text))
            })
            .collect()
    }

    fn finding(&self, hit: &Hit, line: usize) -> Finding {
        let (rule, description) = match hit.rule {
            Named::Builtin(at) => {
                let rule = self.builtin.rules[at];
                (Cow::Borrowed(rule.id), Cow::Borrowed(rule.about))
            }
            Named::Extra(at) => {
                let (id, about) = self.extra.describe(at);
                (Cow::Owned(id.to_owned()), Cow::Owned(about.to_owned()))
            }
        };
        Finding { rule, description, line, start: hit.span.start, end: hit.span.end }
    }
}

impl std::fmt::Debug for Scanner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scanner").field("rules", &self.builtin.rules.len()).finish_non_exhaustive()
    }
}

impl Hit {
    /// Moves a hit in a fragment to where it comes from.
    fn moved(mut self, fragment: &view::Fragment) -> Option<Self> {
        self.span = fragment.locate(self.span)?;
        Some(self)
    }
}

/// Counts lines as it goes.
struct Lines<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, offset: usize) -> usize {
        self.line += memchr::memchr_iter(b'\n', &self.text[self.at..offset]).count();
        self.at = offset;
        self.line
    }
}

impl Builtin {
    fn new() -> Self {
        let rules: Vec<&'static Rule> = table::all().collect();
        let mut calls: BTreeMap<String, Vec<Call>> = BTreeMap::new();
        for (at, rule) in rules.iter().enumerate() {
            match rule.form {
                Form::Token { prefixes, .. } => {
                    for prefix in prefixes {
                        calls
                            .entry(prefix.to_ascii_lowercase())
                            .or_default()
                            .push(Call::Token { rule: at, prefix });
                    }
                }
                Form::Pattern { keywords, .. } => {
                    for keyword in keywords {
                        calls
                            .entry(keyword.to_ascii_lowercase())
                            .or_default()
                            .push(Call::Pattern { rule: at });
                    }
                }
                Form::Named { .. } => {}
            }
        }
        for (stem, _) in words::STEMS {
            calls.entry(stem.to_ascii_lowercase()).or_default().push(Call::Word);
        }
        let place = |id| {
            rules.iter().position(|rule| rule.id == id).expect("the table closes with the general rules")
        };
        Self {
            patterns: rules.iter().map(|_| OnceLock::new()).collect(),
            named: (0..rules.len()).filter(|at| matches!(rules[*at].form, Form::Named { .. })).collect(),
            keywords: automaton(AhoCorasickKind::NoncontiguousNFA, false, calls.keys().map(String::as_bytes)),
            fast_keywords: OnceLock::new(),
            n_scanned: AtomicUsize::new(0),
            generic_key: place(table::GENERIC_KEY),
            generic_password: place(table::GENERIC_PASSWORD),
            words: calls.keys().cloned().collect(),
            calls: calls.into_values().collect(),
            rules,
        }
    }

    /// Finds what our rules know in one reading of a text.
    fn scan(&self, text: &[u8], marked_only: bool, hits: &mut Vec<Hit>) {
        let mut windows: Vec<Vec<Range<usize>>> = vec![Vec::new(); self.rules.len()];
        let mut name_end = 0;
        let lower;
        let (keywords, haystack) = match self.fast_keywords(text.len()) {
            Some(keywords) => (keywords, text),
            None => {
                lower = text.to_ascii_lowercase();
                (&self.keywords, &lower[..])
            }
        };
        for found in keywords.find_overlapping_iter(haystack) {
            for call in &self.calls[found.pattern().as_usize()] {
                match *call {
                    Call::Token { rule, prefix } => {
                        hits.extend(self.match_token(text, rule, prefix, found.start()))
                    }
                    Call::Pattern { rule } => self.widen(text, rule, found.range(), &mut windows[rule]),
                    Call::Word if marked_only || found.start() < name_end => {}
                    Call::Word => {
                        let (end, candidates) = reader::read(text, found.range());
                        name_end =
                            candidates.iter().map(|candidate| candidate.beyond(text)).fold(end, usize::max);
                        hits.extend(candidates.iter().filter_map(|candidate| self.judge(text, candidate)));
                    }
                }
            }
        }
        for (rule, windows) in windows.into_iter().enumerate() {
            for window in windows {
                self.match_pattern(text, rule, window, hits);
            }
        }
    }

    /// Returns the faster automaton, once enough was scanned to pay for it.
    fn fast_keywords(&self, len: usize) -> Option<&AhoCorasick> {
        let is_much = self.n_scanned.fetch_add(len, Ordering::Relaxed) + len >= MUCH_TEXT;
        let words = || self.words.iter().map(String::as_bytes);
        is_much.then(|| self.fast_keywords.get_or_init(|| automaton(AhoCorasickKind::DFA, true, words())))
    }

    /// Adds the neighbourhood of a keyword to those a pattern has to search, as one where they overlap.
    fn widen(&self, text: &[u8], rule: usize, keyword: Range<usize>, windows: &mut Vec<Range<usize>>) {
        let Form::Pattern { reach, .. } = self.rules[rule].form else { return };
        let window = keyword.start.saturating_sub(reach.before)..text.len().min(keyword.end + reach.after);
        match windows.last_mut() {
            Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
            _ => windows.push(window),
        }
    }

    fn match_token(&self, text: &[u8], rule: usize, prefix: &'static str, at: usize) -> Option<Hit> {
        let rest = &text[at..];
        let body_at = prefix.len();
        // Cheap looks first: most keywords are met by chance.
        let is_solid = |byte: &u8| byte.is_ascii_graphic();
        if !rest.starts_with(prefix.as_bytes())
            || !(begins_token(text, at) || is_glued(text, at, prefix))
            || rest[body_at..].iter().take(12).take_while(|byte| is_solid(byte)).count() < 12
        {
            return None;
        }
        let body = self.pattern(rule).find(&rest[body_at..rest.len().min(body_at + MAX_TOKEN)])?;
        let end = body_at + body.end();
        if rest.get(end).is_some_and(u8::is_ascii_alphanumeric) {
            return None;
        }
        let is_doubtful = prefix.len() <= 5 || !begins_token(text, at);
        if is_doubtful && !is_drawn(&rest[body_at..end]) {
            return None;
        }
        let passes = check::passes(self.rules[rule].check, &rest[..end], body_at);
        passes.then_some(Hit { rule: Named::Builtin(rule), span: at..at + end, weight: 100 + prefix.len() })
    }

    fn match_pattern(&self, text: &[u8], rule: usize, window: Range<usize>, hits: &mut Vec<Hit>) {
        let pattern = self.pattern(rule);
        let text = &text[..window.end];
        let mut at = window.start;
        while let Some(found) = pattern.captures_at(text, at) {
            let whole = found.get(0).expect("a match has a whole");
            let value = found.iter().skip(1).flatten().next().unwrap_or(whole);
            if check::passes(self.rules[rule].check, value.as_bytes(), 0)
                && self.is_meant(rule, value.as_bytes(), whole.as_bytes())
            {
                hits.push(Hit { rule: Named::Builtin(rule), span: value.range(), weight: 60 });
            }
            at = whole.end().max(at + 1);
        }
    }

    /// Says whether a value that fits a pattern is more than an example or a reference.
    fn is_meant(&self, rule: usize, value: &[u8], whole: &[u8]) -> bool {
        super::meaning::is_meant(self.rules[rule].id, value, whole)
    }

    fn judge(&self, text: &[u8], candidate: &Candidate) -> Option<Hit> {
        let value = &text[candidate.span.clone()];
        if judge::may_be_named(candidate, value)
            && let Some(rule) = self.service_of(text, candidate, value)
        {
            return Some(Hit { rule: Named::Builtin(rule), span: candidate.span.clone(), weight: 40 });
        }
        let rule =
            if candidate.promise == Promise::Password { self.generic_password } else { self.generic_key };
        let is_bare_prefix = || self.prefixes().any(|prefix| prefix.as_bytes() == value);
        let is_secret = judge::is_secret(candidate, value) && !is_bare_prefix();
        is_secret.then(|| Hit { rule: Named::Builtin(rule), span: candidate.span.clone(), weight: 20 })
    }

    /// Returns the rule of the service that is named in or before a name, if the value has the shape of its keys.
    fn service_of(&self, text: &[u8], candidate: &Candidate, value: &[u8]) -> Option<usize> {
        let floor = candidate.name.start.saturating_sub(SERVICE_REACH);
        let context = &text[floor..candidate.name.end];
        let line = context.iter().rposition(|byte| *byte == b'\n').map_or(context, |at| &context[at..]);
        let line = line.to_ascii_lowercase();
        self.named.iter().copied().find(|&rule| {
            let Form::Named { words, .. } = self.rules[rule].form else { return false };
            let is_near = words.iter().any(|word| value::contains(&line, word.as_bytes()));
            is_near && self.pattern(rule).is_match(value) && check::passes(self.rules[rule].check, value, 0)
        })
    }

    /// Returns how tokens begin; a text that explains it holds no token.
    fn prefixes(&self) -> impl Iterator<Item = &'static str> {
        let of = |rule: &&'static Rule| match rule.form {
            Form::Token { prefixes, .. } => prefixes,
            _ => &[],
        };
        self.rules.iter().flat_map(of).copied()
    }

    fn pattern(&self, rule: usize) -> &Regex {
        self.patterns[rule].get_or_init(|| compile(&self.rules[rule].form))
    }
}

/// Builds the automaton over all keywords.
fn automaton<'w>(
    kind: AhoCorasickKind,
    folds_case: bool,
    words: impl Iterator<Item = &'w [u8]>,
) -> AhoCorasick {
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(folds_case).kind(Some(kind)).dense_depth(1).prefilter(false);
    builder.build(words).expect("a few hundred short keywords")
}

/// Says whether a token may begin here: no letter or digit before it, but for an escaped line break.
fn begins_token(text: &[u8], at: usize) -> bool {
    match &text[..at] {
        [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}

/// Says whether a token may begin right behind a word, as in `Bearerghp_…`: a plain word, and a prefix that no word
/// goes on with. What follows has to be drawn by lot.
fn is_glued(text: &[u8], at: usize, prefix: &str) -> bool {
    const CARRIERS: &[&str] = &["bearer", "token", "basic", "key", "apikey", "secret", "auth", "is", "pat"];
    let run = text[..at].iter().rev().take(24).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let word = &text[at - run..at];
    let is_word = (2..=16).contains(&run)
        && word.iter().all(u8::is_ascii_alphabetic)
        && (word[1..].iter().all(u8::is_ascii_lowercase) || word.iter().all(u8::is_ascii_uppercase));
    let is_carrier = || CARRIERS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word));
    is_word && (prefix.len() >= 4 || is_carrier())
}

/// Says whether the body behind a short prefix was drawn by lot; one in capitals may have hardly a digit.
fn is_drawn(body: &[u8]) -> bool {
    let is_capitals = body.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let is_told = body.len() == 16 || (body.len() > 16 && body.iter().any(u8::is_ascii_digit));
    value::is_random(body)
        || value::is_jumbled(body)
        || (is_capitals && is_told && value::entropy(body) >= 2.8)
}

/// Compiles the pattern of a rule.
fn compile(form: &Form) -> Regex {
    let pattern = match form {
        Form::Token { body, .. } => format!(r"\A(?:{body})"),
        Form::Named { value, .. } => format!(r"\A(?:{value})\z"),
        Form::Pattern { pattern, .. } => (*pattern).to_owned(),
    };
    RegexBuilder::new(&pattern).unicode(false).build().expect("a test compiles every pattern")
}
