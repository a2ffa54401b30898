//! Rules of the user's own, in the TOML form of gitleaks.
//!
//! They add to ours and cannot take any away: what a file says under `[extend]` has no effect. A global allow-list
//! applies to the rules of its own file.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::value;

/// Rules read from files.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    rules: Vec<ExtraRule>,
}

/// Why a rule file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// It is not TOML of the known form.
    #[error("not a rule file: {0}")]
    Form(String),
    /// A pattern does not compile.
    #[error("rule `{rule}`: {what} is not a pattern we can run: {reason}")]
    Pattern {
        /// The rule's id.
        rule: String,
        /// Which of its patterns.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

#[derive(Debug, Clone)]
struct ExtraRule {
    id: String,
    about: String,
    regex: Option<Regex>,
    group: usize,
    entropy: f64,
    keywords: Vec<String>,
    path: Option<Regex>,
    allow: Vec<AllowList>,
}

#[derive(Debug, Clone)]
struct AllowList {
    regexes: Vec<Regex>,
    target: Target,
    stopwords: Vec<String>,
    paths: Vec<Regex>,
    all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Secret,
    Match,
    Line,
}

// The file, close to its text.

#[derive(Deserialize)]
struct RawFile {
    #[serde(default)]
    rules: Vec<RawRule>,
    allowlist: Option<RawAllow>,
    #[serde(default)]
    allowlists: Vec<RawAllow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRule {
    id: String,
    #[serde(default)]
    description: String,
    regex: Option<String>,
    #[serde(default)]
    secret_group: usize,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    keywords: Vec<String>,
    path: Option<String>,
    allowlist: Option<RawAllow>,
    #[serde(default)]
    allowlists: Vec<RawAllow>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
struct RawAllow {
    #[serde(default)]
    condition: String,
    #[serde(default)]
    regex_target: String,
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    target_rules: Vec<String>,
}

impl Rules {
    /// Reads one rule file.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let raw: RawFile = toml::from_str(text).map_err(|err| RulesError::Form(err.message().to_owned()))?;
        let global: Vec<RawAllow> = raw.allowlist.into_iter().chain(raw.allowlists).collect();
        let rules =
            raw.rules.into_iter().map(|rule| ExtraRule::new(rule, &global)).collect::<Result<_, _>>()?;
        Ok(Self { rules })
    }

    /// Adds the rules of another file; a rule with an id that is there already takes its place.
    pub fn extend(&mut self, other: Self) {
        for rule in other.rules {
            self.rules.retain(|known| known.id != rule.id);
            self.rules.push(rule);
        }
    }

    /// Returns the ids and descriptions.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rules.iter().map(|rule| (rule.id.as_str(), rule.about.as_str()))
    }
}

impl ExtraRule {
    fn new(raw: RawRule, global: &[RawAllow]) -> Result<Self, RulesError> {
        let applies =
            |allow: &&RawAllow| allow.target_rules.is_empty() || allow.target_rules.contains(&raw.id);
        let lists = raw.allowlist.iter().chain(&raw.allowlists).chain(global.iter().filter(applies));
        Ok(Self {
            regex: raw.regex.as_deref().map(|regex| pattern(&raw.id, "regex", regex)).transpose()?,
            path: raw.path.as_deref().map(|path| pattern(&raw.id, "path", path)).transpose()?,
            allow: lists.map(|list| AllowList::new(&raw.id, list)).collect::<Result<_, _>>()?,
            about: if raw.description.is_empty() { raw.id.clone() } else { raw.description },
            group: raw.secret_group,
            entropy: raw.entropy,
            keywords: raw.keywords,
            id: raw.id,
        })
    }

    fn scan(&self, text: &[u8], path: Option<&str>) -> Vec<Range<usize>> {
        let in_place = |pattern: &Regex| path.is_some_and(|path| pattern.is_match(path.as_bytes()));
        let (Some(regex), true) = (&self.regex, self.path.as_ref().is_none_or(in_place)) else {
            return Vec::new();
        };
        let mut spans = Vec::new();
        for found in regex.captures_iter(text) {
            let whole = found.get(0).expect("a match has a whole");
            // Without a group of its own the first one is the secret, as the form has it.
            let group = if self.group > 0 { found.get(self.group) } else { found.get(1) };
            let secret = group.unwrap_or(whole);
            let is_weak = value::entropy(secret.as_bytes()) <= self.entropy && self.entropy > 0.0;
            let line = line_around(text, whole.range());
            let is_allowed = |list: &AllowList| list.allows(secret.as_bytes(), whole.as_bytes(), line, path);
            if !secret.is_empty() && !is_weak && !self.allow.iter().any(is_allowed) {
                spans.push(secret.range());
            }
        }
        spans
    }
}

impl AllowList {
    fn new(rule: &str, raw: &RawAllow) -> Result<Self, RulesError> {
        let all = |what, patterns: &[String]| {
            patterns.iter().map(|text| pattern(rule, what, text)).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            regexes: all("an allowed regex", &raw.regexes)?,
            paths: all("an allowed path", &raw.paths)?,
            stopwords: raw.stopwords.iter().map(|word| word.to_ascii_lowercase()).collect(),
            target: match raw.regex_target.as_str() {
                "match" => Target::Match,
                "line" => Target::Line,
                _ => Target::Secret,
            },
            all: raw.condition.eq_ignore_ascii_case("and"),
        })
    }

    fn allows(&self, secret: &[u8], whole: &[u8], line: &[u8], path: Option<&str>) -> bool {
        let target = match self.target {
            Target::Secret => secret,
            Target::Match => whole,
            Target::Line => line,
        };
        let lower = secret.to_ascii_lowercase();
        let by_regex = self.regexes.iter().any(|regex| regex.is_match(target));
        let by_word = self.stopwords.iter().any(|word| value::contains(&lower, word.as_bytes()));
        let by_path = path.is_some_and(|path| self.paths.iter().any(|regex| regex.is_match(path.as_bytes())));
        if !self.all {
            return by_regex || by_word || by_path;
        }
        let asked = [
            (!self.regexes.is_empty(), by_regex),
            (!self.stopwords.is_empty(), by_word),
            (!self.paths.is_empty(), by_path),
        ];
        asked.iter().any(|(is_asked, _)| *is_asked)
            && asked.iter().all(|(is_asked, holds)| !is_asked || *holds)
    }
}

fn pattern(rule: &str, what: &'static str, text: &str) -> Result<Regex, RulesError> {
    let built = RegexBuilder::new(text).unicode(false).build();
    built.map_err(|err| RulesError::Pattern { rule: rule.to_owned(), what, reason: err.to_string() })
}

fn line_around(text: &[u8], span: Range<usize>) -> &[u8] {
    let start = memchr::memrchr(b'\n', &text[..span.start]).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', &text[span.end..]).map_or(text.len(), |at| span.end + at);
    &text[start..end]
}

/// The rules of the user's own with an automaton over their keywords.
#[derive(Default)]
pub(super) struct Extra {
    rules: Vec<ExtraRule>,
    keywords: Option<AhoCorasick>,
    /// Which rules each keyword calls for.
    calls: Vec<Vec<usize>>,
}

impl Extra {
    pub(super) fn new(rules: Rules) -> Self {
        let mut calls: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, rule) in rules.rules.iter().enumerate() {
            for keyword in &rule.keywords {
                calls.entry(keyword.to_ascii_lowercase()).or_default().push(at);
            }
        }
        let build = AhoCorasick::builder().ascii_case_insensitive(true).build(calls.keys());
        Self { rules: rules.rules, keywords: build.ok(), calls: calls.into_values().collect() }
    }

    pub(super) fn describe(&self, rule: usize) -> (&str, &str) {
        (&self.rules[rule].id, &self.rules[rule].about)
    }

    /// Finds what the rules know: a rule without keywords searches every text, any other those with one of them.
    pub(super) fn scan(&self, text: &[u8], path: Option<&str>) -> Vec<(usize, Range<usize>)> {
        let mut is_called: Vec<bool> = self.rules.iter().map(|rule| rule.keywords.is_empty()).collect();
        if let Some(keywords) = &self.keywords {
            for found in keywords.find_overlapping_iter(text) {
                for &rule in &self.calls[found.pattern().as_usize()] {
                    is_called[rule] = true;
                }
            }
        }
        let called = (0..self.rules.len()).filter(|rule| is_called[*rule]);
        called
            .flat_map(|rule| self.rules[rule].scan(text, path).into_iter().map(move |span| (rule, span)))
            .collect()
    }
}
