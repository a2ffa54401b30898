//! What around a prompt calls a note up, in words that its reader understands.
//!
//! Ranking sees numbers ([`super::Parts`]); who is shown a note without having asked for it should see why. Each signal of
//! a [`Moment`] that touches the note gives one [`Trigger`]. Mood is no signal: nobody's is guessed.

use jiff::civil::{Date, Time, Weekday};
use jiff::{ToSpan, Zoned};

use super::note::Note;
use super::prompt::Moment;
use crate::glob;
use crate::terms::{Term, terms};

/// A day this near is coming near.
const DAYS_AHEAD: i64 = 7;
/// As many words are named that a failure or a branch shares with a note.
const MAX_WORDS: usize = 3;
/// A word of fewer letters does not make a failure this one.
const MIN_TELLING: usize = 5;
/// A name of fewer letters may be anything.
const MIN_NAME: usize = 3;

/// A kind of signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// A file that is read or edited.
    File,
    /// A command that failed.
    Error,
    /// The branch.
    Branch,
    /// A tool that is in use.
    Tool,
    /// A day that comes near.
    Day,
    /// The day of the week.
    Weekday,
    /// The time of the day.
    Hour,
    /// Who wrote what is at hand.
    Author,
}

impl Signal {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Error => "error",
            Self::Branch => "branch",
            Self::Tool => "tool",
            Self::Day => "day",
            Self::Weekday => "weekday",
            Self::Hour => "hour",
            Self::Author => "author",
        }
    }
}

/// A signal that touches a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    /// Which signal.
    pub kind: Signal,
    /// What it has to do with the note, as a clause.
    pub text: String,
}

/// Says what around the prompt touches a note, the most telling first.
pub fn triggers(note: &Note, moment: &Moment, now: &Zoned) -> Vec<Trigger> {
    let found = [
        (Signal::File, by_file(note, moment)),
        (Signal::Error, by_error(note, moment)),
        (Signal::Branch, by_branch(note, &moment.branch)),
        (Signal::Day, by_day(note, now.date())),
        (Signal::Author, by_author(note, &moment.authors)),
        (Signal::Weekday, by_weekday(note, now.date())),
        (Signal::Hour, by_hour(note, now.time())),
        (Signal::Tool, by_tool(note, &moment.tools)),
    ];
    found.into_iter().filter_map(|(kind, text)| text.map(|text| Trigger { kind, text })).collect()
}

fn by_file(note: &Note, moment: &Moment) -> Option<String> {
    moment.files.iter().find_map(|file| {
        if let Some(glob) = note.paths.iter().find(|glob| glob::matches(glob, file)) {
            return Some(format!("`{file}` is one of its paths, `{glob}`"));
        }
        let name = file.rsplit('/').next().unwrap_or(file);
        let is_named = name.contains('.') && (note.description.contains(name) || note.body.contains(name));
        is_named.then(|| format!("it names `{name}`"))
    })
}

fn by_error(note: &Note, moment: &Moment) -> Option<String> {
    if moment.error.is_empty() {
        return None;
    }
    let telling = |word: &&str| word.chars().count() >= MIN_TELLING;
    let words = shared(&moment.error, &format!("{} {}", note.head(), note.body), telling);
    (!words.is_empty()).then(|| format!("the failure has {} too", words.join(", ")))
}

fn by_branch(note: &Note, branch: &str) -> Option<String> {
    let words = shared(branch, &note.head(), |word| word.chars().count() >= MIN_NAME);
    (!words.is_empty()).then(|| format!("the branch is `{branch}`"))
}

fn by_tool(note: &Note, tools: &[String]) -> Option<String> {
    let warns = matches!(note.kind.as_str(), "gotcha" | "warning" | "pitfall");
    let is_about = |tool: &&String| warns && super::gather::is_about(note, &tool.to_lowercase());
    tools.iter().find(is_about).map(|tool| format!("`{tool}` is in use"))
}

fn by_day(note: &Note, today: Date) -> Option<String> {
    let last = today.checked_add(DAYS_AHEAD.days()).ok()?;
    let day = note.days().into_iter().find(|day| (today..=last).contains(day))?;
    let ahead = today.until(day).ok()?.get_days();
    Some(match ahead {
        0 => format!("{day} is today"),
        1 => format!("{day} is tomorrow"),
        _ => format!("{day} is in {ahead} days"),
    })
}

/// Finds somebody by their whole name, or by a part of it that stands there like a name.
pub(super) fn by_author(note: &Note, authors: &[String]) -> Option<String> {
    if authors.is_empty() {
        return None;
    }
    let text = format!("{} {}", note.description, note.body);
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let is_named = |author: &&String| {
        let mut parts = author.split_whitespace().filter(|part| part.chars().count() >= MIN_NAME);
        parts.any(|part| part.starts_with(char::is_uppercase) && words.contains(&part))
    };
    authors.iter().find(is_named).map(|author| format!("{author} wrote what is at hand"))
}

/// What a day of the week is called where it comes again every week: English and German, in lower case.
const WEEKDAYS: [(Weekday, &str, &str); 7] = [
    (Weekday::Monday, "monday", "montag"),
    (Weekday::Tuesday, "tuesday", "dienstag"),
    (Weekday::Wednesday, "wednesday", "mittwoch"),
    (Weekday::Thursday, "thursday", "donnerstag"),
    (Weekday::Friday, "friday", "freitag"),
    (Weekday::Saturday, "saturday", "samstag"),
    (Weekday::Sunday, "sunday", "sonntag"),
];

/// Says whether a note speaks of something that comes again on a day of the week.
pub(super) fn recurs_on(note: &Note, day: Weekday) -> bool {
    let text = format!("{} {}", note.description, note.body).to_lowercase();
    let Some((_, english, german)) = WEEKDAYS.iter().find(|(own, ..)| *own == day) else { return false };
    let forms = [
        format!("{english}s"),
        format!("every {english}"),
        format!("each {english}"),
        format!("{german}s"),
        format!("jeden {german}"),
    ];
    let is_weekend = matches!(day, Weekday::Saturday | Weekday::Sunday);
    let is_letter = |c: char| c.is_alphanumeric();
    let stands_alone = |form: &str| {
        text.match_indices(form).any(|(at, _)| {
            !text[..at].ends_with(is_letter) && !text[at + form.len()..].starts_with(is_letter)
        })
    };
    forms.iter().any(|form| stands_alone(form))
        || (is_weekend && ["weekends", "wochenende"].iter().any(|form| stands_alone(form)))
}

fn by_weekday(note: &Note, today: Date) -> Option<String> {
    let day = today.weekday();
    let name = WEEKDAYS.iter().find(|(own, ..)| *own == day).map(|(_, english, _)| *english)?;
    recurs_on(note, day).then(|| format!("today is a {}{}", name[..1].to_uppercase(), &name[1..]))
}

/// Says whether a note speaks of a part of the day that it is now: `after 16:00`, `before 9:30`, `nach 18:00`.
pub(super) fn holds_at(note: &Note, now: Time) -> Option<Time> {
    let text = format!("{} {}", note.description, note.body).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).find_map(|pair| {
        let time = clock(pair[1])?;
        let holds = match pair[0] {
            "after" | "nach" | "from" | "ab" => now >= time,
            "before" | "vor" | "until" | "bis" => now < time,
            _ => false,
        };
        holds.then_some(time)
    })
}

fn by_hour(note: &Note, now: Time) -> Option<String> {
    holds_at(note, now).map(|time| {
        format!(
            "it speaks of {:02}:{:02}, and it is {:02}:{:02}",
            time.hour(),
            time.minute(),
            now.hour(),
            now.minute()
        )
    })
}

/// Reads `16:00`, with whatever stands behind it.
fn clock(word: &str) -> Option<Time> {
    let (hour, rest) = word.split_once(':')?;
    let minute: String = rest.chars().take_while(char::is_ascii_digit).collect();
    if minute.len() != 2 {
        return None;
    }
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

/// Returns the words of `text` that stand in `other` too, in any form, the longest first.
fn shared(text: &str, other: &str, telling: impl Fn(&&str) -> bool) -> Vec<String> {
    let known: std::collections::BTreeSet<Term> = terms(other).into_iter().map(|found| found.term).collect();
    let is_known = |word: &&str| terms(word).iter().any(|found| known.contains(&found.term));
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| telling(word) && is_known(word));
    let mut words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    words.dedup();
    words.truncate(MAX_WORDS);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Document, Memory, MemoryPath};

    fn note(metadata: &str, description: &str, body: &str) -> Note {
        let text = format!(
            "---\nname: x\ndescription: \"{description}\"\ntype: project\nmetadata:\n  created: 2026-01-01T00:00:00Z\n{metadata}---\n\n{body}\n"
        );
        let document = Document::parse(text.as_bytes());
        let (memory, _) = Memory::read(&MemoryPath::new("x.md").unwrap(), &document);
        Note::of(&memory, &document)
    }

    fn said(note: &Note, moment: &Moment, now: &str) -> Vec<String> {
        let now: Zoned = now.parse().unwrap();
        let one = |trigger: Trigger| format!("{}: {}", trigger.kind.as_str(), trigger.text);
        triggers(note, moment, &now).into_iter().map(one).collect()
    }

    /// PR-02: each signal, in its own words.
    #[test]
    fn pr_02_each_signal_says_what_it_has_to_do_with_the_note() {
        let monday = "2026-04-06T10:00:00[UTC]";
        let moment = |files: &[&str], error: &str, branch: &str, authors: &[&str]| Moment {
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            error: error.to_owned(),
            branch: branch.to_owned(),
            authors: authors.iter().map(|author| (*author).to_owned()).collect(),
            ..Moment::default()
        };
        let quiet = Moment::default();
        let paths = note("  paths: [\"db/**\"]\n", "Tests hit a database", "See `tests/it.rs`.");
        let at_hand = moment(&["db/migrate.rs"], "", "", &[]);
        assert_eq!(said(&paths, &at_hand, monday), ["file: `db/migrate.rs` is one of its paths, `db/**`"]);
        let at_hand = moment(&["crates/tests/it.rs"], "", "", &[]);
        assert_eq!(said(&paths, &at_hand, monday), ["file: it names `it.rs`"]);
        let pool =
            note("  kind: gotcha\n", "Pool timeouts in cargo", "`PoolTimedOut` at night: the report job.");
        let failed = moment(&[], "error: PoolTimedOut in main", "", &[]);
        assert_eq!(said(&pool, &failed, monday), ["error: the failure has `PoolTimedOut` too"]);
        let tools = Moment { tools: vec!["Cargo".to_owned()], ..Moment::default() };
        assert_eq!(said(&pool, &tools, monday), ["tool: `Cargo` is in use"]);
        let freeze = note("", "Merge freeze for the mobile cut", "From 2026-04-08 on.");
        let on_branch = moment(&[], "", "release/mobile", &[]);
        assert_eq!(
            said(&freeze, &on_branch, monday),
            ["branch: the branch is `release/mobile`", "day: 2026-04-08 is in 2 days"]
        );
        let weekly = note("", "Deploys stop on Mondays", "No deploy after 09:30 without Dana Weiss.");
        assert_eq!(
            said(&weekly, &moment(&[], "", "", &["Dana Weiss", "Li Wu"]), monday),
            [
                "author: Dana Weiss wrote what is at hand",
                "weekday: today is a Monday",
                "hour: it speaks of 09:30, and it is 10:00",
            ]
        );
        assert_eq!(said(&weekly, &quiet, "2026-04-07T08:00:00[UTC]"), [""; 0], "a Tuesday morning");
        assert_eq!(
            said(&note("", "Plans for Monday", "Nothing."), &quiet, monday),
            [""; 0],
            "one Monday, not all"
        );
    }
}
