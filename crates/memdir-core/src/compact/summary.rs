//! The summary: what a conversation said, in its own words, within a size.
//!
//! Nothing is phrased anew. Every line is a quotation under one of seven headings, and has a rank; lines are taken by rank
//! while there is room, and then told in order. What the user wanted first and last comes before everything else. A line
//! is put before a model as the user's message, so it is one line, defused like any memory, and free of secrets.

use std::fmt::Write;

use super::size::{cost, head};
use super::story::Story;
use crate::extract;
use crate::frame;
use crate::journal::one_line;
use crate::statement::{Act, read_text};
use crate::text::visible_line;

/// The headings, in the order in which they are told.
pub const HEADINGS: [&str; 7] = [
    "What the user wanted",
    "Decisions and rules",
    "Files",
    "Commands and errors",
    "Open items",
    "Last state",
    "Notes of the system",
];
const WANTED: usize = 0;
const DECIDED: usize = 1;
const FILES: usize = 2;
const RUN: usize = 3;
const OPEN: usize = 4;
const STATE: usize = 5;
const NOTES: usize = 6;

const FIRST: &str = "First: ";
const LAST: &str = "Last: ";
const THEN: &str = "Then: ";
/// The longest lines, in characters: the first and the last wish, and all others.
const LONG: usize = 2_000;
const SHORT: usize = 240;
/// Lines up to this rank are cut to half of the room that is left rather than left out: the first and the last wish, the
/// last state.
const CUT_RANK: usize = 2;
/// Less of a line says nothing, in characters.
const LEAST: usize = 40;
/// As many of each are candidates.
const WISHES: usize = 40;
const TOLD_FILES: usize = 20;
const COMMANDS: usize = 15;
const ERRORS: usize = 10;
const DECISIONS: usize = 20;
const STATES: usize = 3;
/// A sentence of the model is a decision if the reading is as sure.
const FLOOR: f32 = 0.7;

/// A candidate: where it stands, how early it is taken, what it says.
struct Line {
    heading: usize,
    rank: usize,
    text: String,
}

/// Writes a summary that takes at most `room` characters inside of a JSON string.
pub(super) fn text(story: &Story<'_>, room: usize) -> String {
    let mut lines = carried(story);
    lines.extend(wishes(story));
    lines.extend(decisions(story));
    lines.extend(files(story));
    lines.extend(runs(story));
    lines.extend(open_items(story));
    lines.extend(states(story));
    lines.extend(notes(story));
    told(chosen(lines, room))
}

/// Takes lines by rank while there is room; no line comes twice.
fn chosen(mut lines: Vec<Line>, room: usize) -> Vec<(usize, String)> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|at| lines[*at].rank);
    let mut left = room;
    let mut has_heading = [false; HEADINGS.len()];
    let mut taken: Vec<usize> = Vec::new();
    for at in order {
        let Line { heading, rank, text } = &lines[at];
        let heading = *heading;
        // A heading has its marks and two line breaks, a line its mark and one.
        let marks = if has_heading[heading] { 4 } else { HEADINGS[heading].len() + 12 };
        let half = left.saturating_sub(marks) / 2;
        let is_known = taken.iter().any(|known| lines[*known].text == *text);
        if *rank <= CUT_RANK && cost(text) > half && half >= LEAST {
            lines[at].text = format!("{}…", head(text, half - 1).trim_end());
        }
        let text = &lines[at].text;
        let takes = marks + cost(text);
        if takes > left || is_known || text.is_empty() {
            continue;
        }
        left -= takes;
        has_heading[heading] = true;
        taken.push(at);
    }
    taken.sort_unstable();
    taken.into_iter().map(|at| (lines[at].heading, std::mem::take(&mut lines[at].text))).collect()
}

fn told(lines: Vec<(usize, String)>) -> String {
    let mut out = String::new();
    for (nth, title) in HEADINGS.iter().enumerate() {
        let below: Vec<&String> =
            lines.iter().filter(|(heading, _)| *heading == nth).map(|(_, text)| text).collect();
        if below.is_empty() {
            continue;
        }
        let _ = writeln!(out, "## {title}");
        below.iter().for_each(|text| {
            let _ = writeln!(out, "- {text}");
        });
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// What an earlier summary said: its first wish stays the first, everything else counts as older than what came since.
fn carried(story: &Story<'_>) -> Vec<Line> {
    let n_lines = story.carried.len();
    let line = |(nth, (heading, text)): (usize, &(String, String))| {
        let heading = HEADINGS.iter().position(|title| title == heading)?;
        let is_first = text.starts_with(FIRST);
        let rank = if is_first { 0 } else { 40 + n_lines - nth };
        let text = match text.strip_prefix(LAST) {
            Some(wish) => format!("{THEN}{wish}"),
            None => text.clone(),
        };
        Some(Line { heading, rank, text })
    };
    story.carried.iter().enumerate().filter_map(line).collect()
}

fn wishes(story: &Story<'_>) -> Vec<Line> {
    let said: Vec<&str> = story.digest.messages().map(|(_, text)| text).collect();
    let has_first = story.carried.iter().any(|(_, text)| text.starts_with(FIRST));
    let n_said = said.len();
    let line = |(nth, text): (usize, &&str)| {
        let is_first = nth == 0 && !has_first && n_said == story.digest.n_prompts();
        let age = n_said - 1 - nth;
        let (label, rank, limit) = match (is_first, age) {
            (true, _) => (FIRST, 0, LONG),
            (false, 0) => (LAST, 1, LONG),
            (false, age) => (THEN, 6 + age, SHORT),
        };
        Line { heading: WANTED, rank, text: quoted(label, text, limit) }
    };
    let skipped = n_said.saturating_sub(WISHES);
    said.iter().enumerate().filter(|(nth, _)| *nth == 0 || *nth >= skipped).map(line).collect()
}

/// What the user said that lasts, then what the model decided.
fn decisions(story: &Story<'_>) -> Vec<Line> {
    let user = extract::told(story.digest.messages());
    let said = user.iter().rev().take(DECISIONS).enumerate().map(|(age, fact)| Line {
        heading: DECIDED,
        rank: 4 + age * 2,
        text: quoted("The user said: ", &fact.text, SHORT),
    });
    let mut decided: Vec<String> = Vec::new();
    for answer in story.answers.iter().rev() {
        let sentences = read_text(answer);
        let lasting = sentences.iter().rev().filter(|(_, reading)| {
            let is_one = |act: Act| reading.act() == Some(act) && reading.likely(act) >= FLOOR;
            is_one(Act::Decision) || is_one(Act::Gotcha)
        });
        decided.extend(lasting.map(|(sentence, _)| sentence.text.trim().to_owned()));
        if decided.len() >= DECISIONS {
            break;
        }
    }
    let decided = decided.iter().enumerate().map(|(age, text)| Line {
        heading: DECIDED,
        rank: 10 + age * 2,
        text: quoted("", text, SHORT),
    });
    said.chain(decided).collect()
}

fn files(story: &Story<'_>) -> Vec<Line> {
    let top = story.files.references.top(TOLD_FILES);
    let line = |(nth, file): (usize, &super::references::Reference<'_>)| {
        let label = if story.files.n_edits(file.path) > 0 { "Changed: " } else { "Read: " };
        Line { heading: FILES, rank: 5 + nth * 2, text: quoted(label, file.path, SHORT) }
    };
    top.iter().enumerate().map(line).collect()
}

fn runs(story: &Story<'_>) -> Vec<Line> {
    let [_, commands, errors] = story.digest.counted();
    let last = |counted: &[(String, usize)], n: usize| -> Vec<String> {
        counted.iter().rev().take(n).map(|(text, _)| text.clone()).collect()
    };
    let failed =
        story.failed.iter().rev().filter_map(|said| said.lines().find(|line| !line.trim().is_empty()));
    let mut errors = last(errors, ERRORS);
    errors.extend(failed.take(ERRORS).map(str::to_owned));
    let line = |label: &'static str, first: usize| {
        move |(age, text): (usize, &String)| Line {
            heading: RUN,
            rank: first + age * 3,
            text: quoted(label, text, SHORT),
        }
    };
    let commands = last(commands, COMMANDS);
    let ran: Vec<Line> = commands.iter().enumerate().map(line("Ran: ", 8)).collect();
    errors.iter().enumerate().map(line("Failed: ", 4)).chain(ran).collect()
}

fn open_items(story: &Story<'_>) -> Vec<Line> {
    let open = story.digest.todos().iter().filter(|(_, is_done)| !is_done);
    let line = |(nth, (text, _)): (usize, &(String, bool))| Line {
        heading: OPEN,
        rank: 3 + nth,
        text: quoted("[ ] ", text, SHORT),
    };
    open.enumerate().map(line).collect()
}

/// The last answers of the model.
fn states(story: &Story<'_>) -> Vec<Line> {
    let last = story.answers.iter().rev().take(STATES).enumerate();
    last.map(|(age, text)| Line {
        heading: STATE,
        rank: 2 + age * 6,
        text: quoted("", text, if age == 0 { LONG } else { SHORT }),
    })
    .collect()
}

fn notes(story: &Story<'_>) -> Vec<Line> {
    let last = story.notes.iter().rev().enumerate();
    last.map(|(age, text)| Line { heading: NOTES, rank: 12 + age * 2, text: quoted("", text, SHORT) })
        .collect()
}

/// Quotes a text in one line that cannot pose as anything but text, cut at a width.
fn quoted(label: &str, text: &str, limit: usize) -> String {
    let line = one_line(text);
    let line = visible_line(&line);
    let cut = head(&line, limit);
    let shown = frame::defused(cut);
    let more = if cut.len() < line.len() { "…" } else { "" };
    format!("{label}{}{more}", shown.trim_end())
}
