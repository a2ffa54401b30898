//! A memory with its fields understood, and everything that is odd about it.
//!
//! Whatever a file holds, reading it gives a [`Memory`] and a list of [`Problem`]s. A word that a field does not know
//! counts as absent, a missing name is the stem of the file, and a raw file is listed with what its lines look like.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::document::{Document, Frontmatter, METADATA};
use super::lint;
use super::name::MemoryPath;
use super::problem::{Problem, ProblemKind};
use super::rule::Rule;
use super::value::Value;
use super::words::{Confidence, MemoryType, Provenance, Scope, Status, Tier, UnknownWord};
use super::yaml::Kind;

/// One memory: what its frontmatter says. The body stays in its [`Document`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Where it is in its vault.
    pub path: MemoryPath,
    /// Its name; the stem of the file if it has none.
    pub name: String,
    /// What it is about, in one line; may be empty.
    pub description: String,
    /// Its type, if it has one of the four.
    pub memory_type: Option<MemoryType>,
    /// Who may see it. Memories about the user are private whatever they say.
    pub scope: Scope,
    /// How it came to be accepted.
    pub tier: Tier,
    /// A finer kind than the type: `decision`, `gotcha`, …
    pub kind: Option<String>,
    /// When it was first saved.
    pub created: Option<Timestamp>,
    /// When its content last changed.
    pub modified: Option<Timestamp>,
    /// Who is said to have said it; to be believed only with a ledger entry for the file's hash.
    pub provenance: Option<Provenance>,
    /// Whether it is stored but never shown unasked.
    pub quarantined: bool,
    /// When and by whom it was last checked.
    pub verified: Option<Verified>,
    /// The day from which on it is stale.
    pub expires: Option<Date>,
    /// Whether it still holds.
    pub status: Status,
    /// The memories it replaces.
    pub supersedes: Vec<String>,
    /// The memories that replace it.
    pub superseded_by: Vec<String>,
    /// How sure its author was.
    pub confidence: Option<Confidence>,
    /// The session it was learned in.
    pub session: Option<String>,
    /// Where it comes from.
    pub source: Vec<String>,
    /// What can be checked without a model: paths, symbols, flags, addresses.
    pub evidence: Vec<String>,
    /// Globs of the files that bring it to mind.
    pub paths: Vec<String>,
    /// Checks for the hook before a tool runs.
    pub rules: Vec<Rule>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Other names that links may use.
    pub aliases: Vec<String>,
    /// Whether it always stands first on the index page.
    pub pinned: bool,
    /// The project in which a memory of the user vault was learned.
    pub origin_project: Option<String>,
}

/// When a memory was last checked, and by whom: `2026-04-01 by human:ann`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The day.
    pub date: Date,
    /// `human:<id>` or `process:<id>`.
    pub by: Option<String>,
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.date)?;
        self.by.as_ref().map_or(Ok(()), |by| write!(f, " by {by}"))
    }
}

impl Memory {
    /// Reads a whole file.
    pub fn read(path: &MemoryPath, document: &Document) -> (Self, Vec<Problem>) {
        let (memory, mut problems) =
            Self::read_fields(path, document, !document.body().trim_ascii().is_empty());
        problems.extend(lint::body(memory.memory_type, document));
        problems.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
        (memory, problems)
    }

    /// Reads a file of which only the header is at hand: says nothing about the body.
    pub fn read_header(path: &MemoryPath, document: &Document) -> (Self, Vec<Problem>) {
        Self::read_fields(path, document, true)
    }

    /// Makes a readable title of the name: without the type in front, words apart, the first letter large.
    pub fn title(&self) -> String {
        let words = self.name.replace(['-', '_'], " ");
        let words = words.trim();
        let without_type = MemoryType::WORDS.iter().find_map(|word| {
            let rest = words.strip_prefix(word)?.strip_prefix(' ')?.trim_start();
            (!rest.is_empty()).then_some(rest)
        });
        let mut chars = without_type.unwrap_or(words).chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
    }

    fn read_fields(path: &MemoryPath, document: &Document, has_body: bool) -> (Self, Vec<Problem>) {
        let mut fields = Fields { document, problems: Vec::new() };
        let memory = match document.frontmatter() {
            Frontmatter::Mapping(_) => fields.memory(path),
            Frontmatter::Raw(problem) => {
                fields.problems.push(problem.clone());
                fields.guessed(path)
            }
            Frontmatter::Absent => {
                fields.report(ProblemKind::NoFrontmatter, "", "the file has no frontmatter");
                return (Self::unknown(path), fields.problems);
            }
        };
        if matches!(document.frontmatter(), Frontmatter::Mapping(_)) {
            lint::required(document, path, &memory, has_body, &mut fields.problems);
        }
        (memory, fields.problems)
    }

    /// A memory about which only the path is known.
    fn unknown(path: &MemoryPath) -> Self {
        Self {
            path: path.clone(),
            name: path.stem().to_owned(),
            description: String::new(),
            memory_type: None,
            scope: Scope::Private,
            tier: Tier::Confirmed,
            kind: None,
            created: None,
            modified: None,
            provenance: None,
            quarantined: false,
            verified: None,
            expires: None,
            status: Status::Active,
            supersedes: Vec::new(),
            superseded_by: Vec::new(),
            confidence: None,
            session: None,
            source: Vec::new(),
            evidence: Vec::new(),
            paths: Vec::new(),
            rules: Vec::new(),
            tags: Vec::new(),
            aliases: Vec::new(),
            pinned: false,
            origin_project: None,
        }
    }
}

/// Reads fields one by one and collects what is wrong with them.
struct Fields<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
}

impl Fields<'_> {
    fn memory(&mut self, path: &MemoryPath) -> Memory {
        self.check_top_level();
        let memory_type = self.word("type", ProblemKind::UnknownType);
        let unknown = ProblemKind::UnknownWord;
        Memory {
            name: self.text("name").unwrap_or_else(|| path.stem().to_owned()),
            description: self.description(),
            memory_type,
            scope: self.scope(memory_type),
            tier: self.word("tier", unknown).unwrap_or(Tier::Confirmed),
            kind: self.text("kind"),
            created: self.time("created"),
            modified: self.time("modified"),
            provenance: self.word("provenance", unknown),
            quarantined: self.quarantined(),
            verified: self.verified(),
            expires: self.date("expires"),
            status: self.word("status", unknown).unwrap_or(Status::Active),
            supersedes: self.list("supersedes"),
            superseded_by: self.list("superseded_by"),
            confidence: self.word("confidence", unknown),
            session: self.text("originSessionId"),
            source: self.list("source"),
            evidence: self.list("evidence"),
            paths: self.list("paths"),
            rules: self.rules(memory_type),
            tags: self.words("tags"),
            aliases: self.words("aliases"),
            pinned: self.text("pinned").is_some_and(|text| text.eq_ignore_ascii_case("true")),
            origin_project: self.text("origin_project"),
            ..Memory::unknown(path)
        }
    }

    fn guessed(&self, path: &MemoryPath) -> Memory {
        let guess = |field| self.document.guess(field);
        Memory {
            description: guess("description").unwrap_or_default(),
            memory_type: guess("type").and_then(|text| text.parse().ok()),
            ..Memory::unknown(path)
        }
    }

    fn check_top_level(&mut self) {
        let document = self.document;
        let extensions: Vec<&str> = document
            .keys()
            .filter(|key| !matches!(*key, "name" | "description" | "type" | METADATA))
            .collect();
        for key in extensions {
            self.report(ProblemKind::TopLevelKey, key, format!("`{key}` belongs under `metadata`"));
        }
        if document.occurrences("type").count() > 1 {
            let message = "`type` stands at the top level and under `metadata`: the first one counts";
            self.report(ProblemKind::TypeTwice, "type", message);
        }
    }

    fn description(&mut self) -> String {
        let text = self.text("description").unwrap_or_default();
        match text.contains('\n') {
            true => text.split_whitespace().collect::<Vec<_>>().join(" "),
            false => text,
        }
    }

    fn scope(&mut self, memory_type: Option<MemoryType>) -> Scope {
        let scope = self.word("scope", ProblemKind::UnknownScope).unwrap_or(Scope::Private);
        if memory_type == Some(MemoryType::User) && scope == Scope::Team {
            let message = "a memory about the user is private, whatever its scope says";
            self.report(ProblemKind::UserInTeam, "scope", message);
            return Scope::Private;
        }
        scope
    }

    fn quarantined(&mut self) -> bool {
        match self.text("trust").as_deref() {
            Some("quarantined") => true,
            None | Some("trusted") => false,
            Some(other) => {
                let message = format!("unknown trust `{other}`: it is `quarantined` or absent");
                self.report(ProblemKind::UnknownWord, "trust", message);
                false
            }
        }
    }

    fn verified(&mut self) -> Option<Verified> {
        let (date, by) = match self.document.get("verified")? {
            Value::Text(text) => match text.split_once(" by ") {
                Some((date, by)) => (date.trim().to_owned(), Some(by.trim().to_owned())),
                None => (text, None),
            },
            Value::Map(pairs) => {
                let of = |keys: &[&str]| {
                    let pair = pairs.iter().find(|(key, _)| keys.contains(&key.as_str()));
                    pair.and_then(|(_, value)| value.as_text()).map(str::to_owned)
                };
                (of(&["date", "at", "on"]).unwrap_or_default(), of(&["by"]))
            }
            Value::List(_) | Value::Null => (String::new(), None),
        };
        match parse_time(&date) {
            Some(time) => Some(Verified { date: day(time), by }),
            None => {
                self.report_date("verified", &date);
                None
            }
        }
    }

    fn rules(&mut self, memory_type: Option<MemoryType>) -> Vec<Rule> {
        let entries = self.list("rule");
        if !entries.is_empty() && memory_type.is_some_and(|kind| kind != MemoryType::Feedback) {
            self.report(ProblemKind::BadRule, "rule", "only a feedback memory has rules");
        }
        let mut rules = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.parse() {
                Ok(rule) => rules.push(rule),
                Err(err) => self.report(ProblemKind::BadRule, "rule", format!("rule `{entry}`: {err}")),
            }
        }
        rules
    }

    /// Reads a text; an empty one counts as absent.
    fn text(&mut self, field: &str) -> Option<String> {
        match &self.document.find(field)?.entry.value.kind {
            Kind::Null => None,
            Kind::Text(text) => {
                let text = text.as_str(self.document.bytes()).trim();
                (!text.is_empty()).then(|| text.to_owned())
            }
            Kind::List(_) | Kind::Map(_) => {
                self.report(ProblemKind::WrongShape, field, format!("`{field}` is not a text"));
                None
            }
        }
    }

    /// Reads a list of texts, or a single text as a list of one.
    fn list(&mut self, field: &str) -> Vec<String> {
        let Some(value) = self.document.get(field) else { return Vec::new() };
        if matches!(value, Value::Map(_)) {
            self.report(ProblemKind::WrongShape, field, format!("`{field}` is not a list"));
        }
        value.texts().into_iter().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
    }

    /// Reads a list of words, which some programs write as one text with commas or with `#` in front.
    fn words(&mut self, field: &str) -> Vec<String> {
        let texts = self.list(field);
        let words = texts.iter().flat_map(|text| text.split(','));
        let words = words.map(|word| word.trim().trim_start_matches('#'));
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    fn word<T: FromStr<Err = UnknownWord>>(&mut self, field: &str, kind: ProblemKind) -> Option<T> {
        let text = self.text(field)?;
        text.parse().map_err(|err| self.report(kind, field, format!("{err}"))).ok()
    }

    fn time(&mut self, field: &str) -> Option<Timestamp> {
        let text = self.text(field)?;
        let time = parse_time(&text);
        if time.is_none() {
            self.report_date(field, &text);
        }
        time
    }

    fn date(&mut self, field: &str) -> Option<Date> {
        self.time(field).map(day)
    }

    fn report_date(&mut self, field: &str, text: &str) {
        let message = format!("`{field}` is not a date: `{text}`");
        self.report(ProblemKind::BadDate, field, message);
    }

    fn report(&mut self, kind: ProblemKind, field: &str, message: impl AsRef<str>) {
        self.problems.push(Problem::new(kind, self.document.line_of(field), message));
    }
}

/// Reads a time with zone, else a day or local time as UTC.
fn parse_time(text: &str) -> Option<Timestamp> {
    // A failed attempt costs more than all else here, so the common day without time does not try to be one.
    if text.len() > "2026-04-01".len()
        && let Ok(time) = text.parse::<Timestamp>()
    {
        return Some(time);
    }
    let local = text.parse::<DateTime>().ok()?;
    TimeZone::UTC.to_timestamp(local).ok()
}

fn day(time: Timestamp) -> Date {
    TimeZone::UTC.to_datetime(time).date()
}
