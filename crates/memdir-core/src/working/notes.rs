//! The file: five headings, within a size.

use std::fmt::Write;

use crate::extract::told;
use crate::frame;
use crate::journal::{Digest, one_line};
use crate::text::{visible_line, whole_lines};

/// No working memory is longer, in bytes.
pub const MAX_TEXT: usize = 6_000;
/// The headings, in order.
pub const HEADINGS: [&str; 5] =
    ["Task Overview", "Current State", "Important Discoveries", "Next Steps", "Context to Preserve"];
/// As much below each of them, in bytes; with the headings that is less than [`MAX_TEXT`].
const ROOM: [usize; 5] = [1_600, 1_700, 800, 800, 900];

/// Of the user's messages, the last ones.
const TOLD_PROMPTS: usize = 6;
/// Of files and commands, the last ones that came up and the ones that came up most.
const TOLD_NEW: usize = 8;
const TOLD_OFTEN: usize = 6;
/// Of errors, the last ones.
const TOLD_ERRORS: usize = 6;
/// Only the last messages are looked through for what is to be kept in mind.
const READ_MESSAGES: usize = 40;
/// Longest line, in characters.
const MAX_LINE: usize = 180;
/// Longest line of notes that are too long, in characters: even of the widest ones it fits into every section.
const MAX_OTHERS_LINE: usize = 190;

/// Writes working memory. Files below `root` are named from there.
pub fn text(digest: &Digest, root: &str) -> String {
    let sections = [task(digest), state(digest, root), discoveries(digest), next(digest), context(digest)];
    let sections = sections.map(|lines| lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    joined(&sections, |nth| ROOM[nth])
}

/// Makes working memory of notes that somebody else wrote: from the first heading on, the five headings in order and
/// no others, within the size. What is too long loses the ends of its sections, never a heading. `None` if a heading
/// is missing.
pub fn bounded(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut starts = Vec::new();
    for heading in HEADINGS {
        let from = starts.last().map_or(0, |last| last + 1);
        let is_it = |line: &&str| line.trim_end().strip_prefix("## ") == Some(heading);
        starts.push(from + lines[from..].iter().position(is_it)?);
    }
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let sections: Vec<&[&str]> = starts.iter().zip(ends).map(|(start, end)| &lines[start + 1..end]).collect();
    let within = |line: usize| sections.iter().map(|lines| others(lines, line)).collect::<Vec<String>>();
    let whole = joined(&within(usize::MAX), |_| usize::MAX);
    Some(if whole.len() <= MAX_TEXT { whole } else { joined(&within(MAX_OTHERS_LINE), |nth| ROOM[nth]) })
}

/// Adds what the user asked last to notes that were written before, if it is not there already.
pub fn with_last_wish(notes: &str, digest: &Digest) -> String {
    let Some((_, last)) = digest.messages().last() else { return notes.to_owned() };
    let (line, heading) = (format!("- Asked last: {}\n", short(last)), format!("## {}\n", HEADINGS[0]));
    match notes.find(&heading).map(|at| at + heading.len()) {
        Some(at) if !notes.contains(&line) => {
            let added = format!("{}{line}{}", &notes[..at], &notes[at..]);
            bounded(&added).unwrap_or(added)
        }
        _ => notes.to_owned(),
    }
}

/// Makes the lines of a section that somebody else wrote: none is a heading or blank, and none is longer than `limit`
/// characters.
fn others(lines: &[&str], limit: usize) -> String {
    let lines =
        lines.iter().map(|line| line.trim_end().trim_start_matches('#')).filter(|line| !line.is_empty());
    let cut = lines.map(|line| {
        let cut: String = line.chars().take(limit).collect();
        let more = if cut.len() < line.len() { "…" } else { "" };
        format!("{cut}{more}\n")
    });
    cut.collect()
}

/// Puts sections under their headings, each within its room.
fn joined(sections: &[String], room: impl Fn(usize) -> usize) -> String {
    let mut out = String::new();
    for (nth, (heading, body)) in HEADINGS.into_iter().zip(sections).enumerate() {
        let body = whole_lines(body, room(nth));
        let body = if body.is_empty() { "- nothing yet\n" } else { body };
        let _ = write!(out, "## {heading}\n{body}\n");
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The first message, then the last ones, the newest first: what finds no room is in the middle.
fn task(digest: &Digest) -> Vec<String> {
    let said: Vec<&str> = digest.messages().map(|(_, text)| text).collect();
    // The first message is told apart, unless so many came that it is no longer among those that are kept.
    let later = &said[usize::from(said.len() == digest.n_prompts()).min(said.len())..];
    let first = digest.first().map(|first| format!("- Asked first: {}", short(first)));
    let last = later.iter().rev().take(TOLD_PROMPTS).enumerate();
    let last = last.map(|(nth, text)| {
        let when = if nth == 0 { "Asked last" } else { "Before that" };
        format!("- {when}: {}", short(text))
    });
    let n_between = digest.n_prompts().saturating_sub(1 + later.len().min(TOLD_PROMPTS));
    let between = (n_between > 0).then(|| format!("- ({n_between} more in between)"));
    first.into_iter().chain(last).chain(between).collect()
}

fn state(digest: &Digest, root: &str) -> Vec<String> {
    let [files, commands, _] = digest.counted();
    let below =
        |file: &str| file.strip_prefix(root).map_or(file, |rest| rest.trim_start_matches('/')).to_owned();
    let branch = digest.branch.as_ref().map(|branch| format!("- Branch: {}", short(branch)));
    let changed =
        chosen(files).into_iter().map(|(file, n)| format!("- Changed: {}{}", short(&below(file)), times(n)));
    let ran =
        chosen(commands).into_iter().map(|(command, n)| format!("- Ran: {}{}", short(command), times(n)));
    let changed: Vec<String> = changed.collect();
    let room = ROOM[1] / 2;
    // Files come first, but leave half of the room to the commands.
    let fits = |nth: &usize| changed[..=*nth].iter().map(|line| line.len() + 1).sum::<usize>() <= room;
    let n_files = (0..changed.len()).take_while(fits).count();
    branch.into_iter().chain(changed[..n_files].iter().cloned()).chain(ran).collect()
}

fn discoveries(digest: &Digest) -> Vec<String> {
    let [_, _, errors] = digest.counted();
    let last = &errors[errors.len().saturating_sub(TOLD_ERRORS)..];
    last.iter().rev().map(|(error, n)| format!("- Failed: {}{}", short(error), times(*n))).collect()
}

fn next(digest: &Digest) -> Vec<String> {
    let todos = digest.todos();
    let n_done = todos.iter().filter(|(_, is_done)| *is_done).count();
    let open = todos.iter().filter(|(_, is_done)| !is_done).map(|(text, _)| format!("- [ ] {}", short(text)));
    let done = (n_done > 0).then(|| format!("- done: {n_done} of {}", todos.len()));
    open.chain(done).collect()
}

/// What the user said that holds beyond the next step: rules, corrections, decisions.
fn context(digest: &Digest) -> Vec<String> {
    let messages: Vec<_> = digest.messages().collect();
    let last = &messages[messages.len().saturating_sub(READ_MESSAGES)..];
    told(last.iter().copied())
        .iter()
        .rev()
        .map(|told| format!("- The user said: {}", short(&told.text)))
        .collect()
}

/// Chooses what came up last, the newest first, and then of the rest what came up most.
fn chosen(counted: &[(String, usize)]) -> Vec<(&str, usize)> {
    let (older, newest) = counted.split_at(counted.len().saturating_sub(TOLD_NEW));
    let mut often: Vec<&(String, usize)> = older.iter().rev().collect();
    often.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let chosen = newest.iter().rev().chain(often.into_iter().take(TOLD_OFTEN));
    chosen.map(|(text, n)| (text.as_str(), *n)).collect()
}

fn times(n: usize) -> String {
    if n > 1 { format!(" (×{n})") } else { String::new() }
}

/// Makes one line of a text, cut at a width, that cannot pose as anything but text: it is put before a model.
fn short(text: &str) -> String {
    let line = one_line(text);
    let line = visible_line(&line);
    let cut: String = line.chars().take(MAX_LINE).collect();
    let shown = frame::defused(&cut);
    if cut.len() < line.len() { format!("{}…", shown.trim_end()) } else { shown }
}
