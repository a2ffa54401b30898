//! What becomes of a list: which rounds stay, and what one message says in the place of the others.
//!
//! [`Plan::new`] takes the steps that need no words: images, rounds, what is kept. [`Plan::finish`] sums up, replaces,
//! restores files and skills. Between the two a model may be asked for the summary, with [`Plan::material`] before it.

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;
use serde_json::{Value, json};

use super::list::{List, Shape};
use super::references::RESTORED_FILES;
use super::rounds::Rounds;
use super::size::{CHARS_A_TOKEN, cost, head};
use super::skills::Skills;
use super::story::{Story, cleaned};
use super::{
    CompactError, FILES_TOKENS, Options, SKILL_TOKENS, SKILLS_TOKENS, marks, media, spans, summary, trim,
};
use crate::frame;
use crate::secrets::Scanner;
use crate::text::visible_block;
use crate::transcript::json::parse;

/// A summary is no longer, in characters.
const MAX_SUMMARY: usize = 6_000 * CHARS_A_TOKEN;
/// With less room there is nothing to say, in characters.
const LEAST_SUMMARY: usize = 400;
/// What a message takes that says nothing, and a block of it, in characters; neither takes more in any shape.
const ENVELOPE: usize = 64;
const BLOCK: usize = 36;
/// As many files are looked at for some that can be restored.
const RANKED: usize = 50;

/// What is going to happen to a list.
#[derive(Debug)]
pub struct Plan<'i> {
    input: &'i str,
    list: List<'i>,
    /// What replaces the items whose bytes change: without images, or without idle space.
    items: Vec<Cow<'i, str>>,
    change: Change,
    report: Report,
}

#[derive(Debug)]
enum Change {
    /// The list fits as it is.
    None,
    /// It fits without its images.
    Images,
    /// Old rounds are replaced.
    Rounds {
        dropped: Range<usize>,
        kept: Vec<String>,
        /// As much room the message has that replaces them, in characters.
        room: usize,
    },
}

/// A list that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// The list, as it is printed.
    pub text: String,
    /// What was done.
    pub report: Report,
    /// Which messages were replaced, and the one that stands in their place.
    pub replaced: Option<(Range<usize>, String)>,
}

/// What was done to a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whose list it is: `anthropic`, `chat`, `responses` or `gemini`.
    pub shape: &'static str,
    /// Tokens that the list had,
    pub tokens_before: usize,
    /// and has now.
    pub tokens_after: usize,
    /// How many it may have.
    pub budget: usize,
    /// Pictures, sounds and files that were dropped.
    pub images: usize,
    /// Rounds that there were,
    pub rounds: usize,
    /// and that stay.
    pub kept: usize,
    /// Whether the last round stays only with its long texts cut.
    pub trimmed: bool,
    /// Messages that were replaced.
    pub replaced: usize,
    /// What is said in their place.
    pub summary: String,
    /// Files that came back.
    pub files: Vec<String>,
    /// Skills that came back.
    pub skills: Vec<String>,
}

impl<'i> Plan<'i> {
    /// Reads a list and decides what stays.
    pub fn new(input: &'i [u8], options: &Options) -> Result<Self, CompactError> {
        let input = str::from_utf8(input).map_err(|err| CompactError::NotText(err.valid_up_to()))?;
        let list = List::read(input)?;
        let before = chars(input).div_ceil(CHARS_A_TOKEN);
        let report = Report::new(list.shape, before, options.budget);
        let limit = options.budget.saturating_mul(CHARS_A_TOKEN);
        let mut plan = Self { input, list, items: Vec::new(), change: Change::None, report };
        if before <= options.budget {
            return Ok(plan);
        }
        plan.slim_down();
        plan.change = if plan.size(0..plan.items.len()) <= limit {
            Change::Images
        } else {
            plan.choose(limit, options.keep).map_err(|needed| CompactError::TooSmall {
                budget: options.budget,
                needed: needed.div_ceil(CHARS_A_TOKEN),
            })?
        };
        Ok(plan)
    }

    /// Says whether old rounds are replaced, so that there is something to be summed up.
    pub fn replaces(&self) -> bool {
        self.replaced().is_some()
    }

    /// Returns which messages are going to be replaced, if any.
    pub fn replaced(&self) -> Option<&Range<usize>> {
        match &self.change {
            Change::Rounds { dropped, .. } if !dropped.is_empty() => Some(dropped),
            _ => None,
        }
    }

    /// Returns the messages that are going to be replaced, as JSON, one a line, without secrets: for whoever sums them up.
    /// Of more than `limit` bytes the oldest are left out.
    pub fn material(&self, limit: usize, scanner: &Scanner) -> String {
        let Change::Rounds { dropped, .. } = &self.change else { return String::new() };
        let mut from = dropped.end;
        let mut left = limit;
        while from > dropped.start && self.items[from - 1].len() < left {
            from -= 1;
            left -= self.items[from].len() + 1;
        }
        let lines: Vec<String> =
            self.items[from..dropped.end].iter().map(|item| cleaned(item, scanner)).collect();
        lines.join("\n")
    }

    /// Writes the list. `words` is a summary that somebody else wrote; without one the rounds are quoted.
    pub fn finish(mut self, words: Option<&str>, scanner: &Scanner) -> Compacted {
        let mut replaced = None;
        let text = match std::mem::replace(&mut self.change, Change::None) {
            Change::None => self.input.to_owned(),
            Change::Images => self.printed(self.items.iter().map(|item| item.as_ref())),
            Change::Rounds { dropped, kept, .. } if dropped.is_empty() => {
                let leading = self.items[..dropped.start].iter().map(|item| item.as_ref());
                self.printed(leading.chain(kept.iter().map(String::as_str)))
            }
            Change::Rounds { dropped, kept, room } => {
                let blocks = self.blocks(&dropped, room, words, scanner);
                let message = message(self.list.shape, &blocks).to_string();
                let leading = self.items[..dropped.start].iter().map(|item| item.as_ref());
                let kept = kept.iter().map(String::as_str);
                let text = self.printed(leading.chain([message.as_str()]).chain(kept));
                replaced = Some((dropped, message));
                text
            }
        };
        self.report.tokens_after = chars(&text).div_ceil(CHARS_A_TOKEN);
        Compacted { text, report: self.report, replaced }
    }

    /// Takes images and idle space out of every item.
    fn slim_down(&mut self) {
        let mut n_dropped = 0;
        let slim = |item: &super::list::Item<'i>| {
            let value = item.is_readable.then(|| parse(item.raw.as_bytes())).flatten();
            if let Some(mut value) = value.filter(|_| may_have_media(item.raw)) {
                let n_here = media::drop_media(&mut value, self.list.shape);
                n_dropped += n_here;
                if n_here > 0 {
                    return Cow::Owned(value.to_string());
                }
            }
            spans::without_space(item.raw)
        };
        self.items = self.list.items.iter().map(slim).collect();
        self.report.images = n_dropped;
    }

    /// Chooses the rounds that stay. The error is how many characters are needed at least.
    fn choose(&mut self, limit: usize, keep: Option<usize>) -> Result<Change, usize> {
        let grouped = Rounds::of(&self.list.items);
        let starts = grouped.starts(&self.list.items);
        let Rounds { n_leading, rounds } = grouped;
        let fixed = self.size(0..n_leading) + 1;
        let needed = fixed + ENVELOPE + BLOCK + cost(&marks::summary("")) + LEAST_SUMMARY;
        if limit < needed || rounds.is_empty() {
            return Err(needed);
        }
        let room = limit - fixed;
        self.report.rounds = rounds.len();
        if rounds.len() == 1
            && keep != Some(0)
            && let Some(kept) = self.cut(n_leading..self.items.len(), room)
        {
            // There is no answer yet: what the user said is cut, not summed up.
            (self.report.kept, self.report.trimmed) = (1, true);
            return Ok(Change::Rounds { dropped: n_leading..n_leading, kept, room: 0 });
        }
        let most = room - room.div_ceil(4).clamp(needed - fixed, MAX_SUMMARY.max(needed - fixed)).min(room);
        let start = self.start(&rounds, &starts, if keep.is_some() { most } else { room / 2 }, keep);
        // One round at least, if there is any way.
        let start = start.or_else(|| self.start(&rounds, &starts, most, Some(keep.unwrap_or(1).min(1))));
        let (from, kept, trimmed) = match start {
            Some(nth) => (rounds[nth].start, self.verbatim(rounds[nth].start), false),
            None => match self.trimmed(&rounds, &starts, room / 2).filter(|_| keep != Some(0)) {
                Some(kept) => (rounds[rounds.len() - 1].start, kept, true),
                None => (self.items.len(), Vec::new(), false),
            },
        };
        let taken: usize = kept.iter().map(|item| chars(item) + 1).sum();
        self.report.kept = rounds.iter().filter(|round| round.start >= from).count();
        self.report.trimmed = trimmed;
        self.report.replaced = from - n_leading;
        Ok(Change::Rounds { dropped: n_leading..from, kept, room: room - taken })
    }

    /// Finds the earliest round from which on everything fits into `room`.
    fn start(
        &self,
        rounds: &[Range<usize>],
        starts: &[bool],
        room: usize,
        keep: Option<usize>,
    ) -> Option<usize> {
        let (mut taken, mut found) = (0, None);
        let earliest = rounds.len().saturating_sub(keep.unwrap_or(usize::MAX)).max(1);
        for nth in (earliest..rounds.len()).rev() {
            taken += self.items[rounds[nth].clone()].iter().map(|item| chars(item) + 1).sum::<usize>();
            if taken > room {
                break;
            }
            if starts[nth] {
                found = Some(nth);
            }
        }
        found
    }

    fn verbatim(&self, from: usize) -> Vec<String> {
        self.items[from..].iter().map(|item| item.clone().into_owned()).collect()
    }

    /// Cuts the last round to `room`, if it can be.
    fn trimmed(&self, rounds: &[Range<usize>], starts: &[bool], room: usize) -> Option<Vec<String>> {
        if rounds.len() < 2 || !*starts.last()? {
            return None;
        }
        self.cut(rounds.last()?.clone(), room)
    }

    fn cut(&self, items: Range<usize>, room: usize) -> Option<Vec<String>> {
        let values: Option<Vec<Value>> =
            self.items[items].iter().map(|item| parse(item.as_bytes())).collect();
        trim::fit(values?, room)
    }

    /// Makes the blocks of the message that replaces the old rounds: the summary, files, skills.
    fn blocks(
        &mut self,
        dropped: &Range<usize>,
        room: usize,
        words: Option<&str>,
        scanner: &Scanner,
    ) -> Vec<String> {
        let mut left = room.saturating_sub(ENVELOPE);
        let mut story = self.story(dropped.clone(), Story::new(scanner));
        let allowed = left.saturating_sub(BLOCK + cost(&marks::summary(""))).min(MAX_SUMMARY);
        let text = match words {
            Some(words) => of_model(words, allowed, scanner),
            None => summary::text(&story, allowed),
        };
        let mut blocks = vec![marks::summary(&text)];
        left = left.saturating_sub(cost(&blocks[0]) + BLOCK);
        self.report.summary = text;
        // What the rounds that stay show is not shown twice; what they changed is followed.
        let rest = dropped.end..self.items.len();
        let shown = if self.report.trimmed { rest.end..rest.end } else { rest.clone() };
        let seen = self.story(shown, Story::new(scanner));
        let skills = std::mem::take(&mut story.skills);
        let story = self.story(rest, story);
        let for_skills = if skills.is_empty() { 0 } else { left / 3 };
        let room = (left - for_skills).min(FILES_TOKENS * CHARS_A_TOKEN);
        for (path, block) in restored(&story, &seen, room, scanner) {
            left -= cost(&block) + BLOCK;
            self.report.files.push(path);
            blocks.push(block);
        }
        for (name, block) in loaded(&skills, &seen, left, scanner) {
            self.report.skills.push(name);
            blocks.push(block);
        }
        blocks
    }

    fn story<'s>(&self, items: Range<usize>, mut story: Story<'s>) -> Story<'s> {
        for item in &self.list.items[items] {
            if let Some(value) = parse(item.raw.as_bytes()) {
                story.take(&value);
            }
        }
        story
    }

    /// Returns how many characters the list takes with some of its items.
    fn size(&self, items: Range<usize>) -> usize {
        let taken: usize = self.items[items].iter().map(|item| chars(item) + 1).sum();
        chars(self.list.before) + taken.saturating_sub(1) + chars(self.list.after)
    }

    fn printed<'p>(&self, items: impl Iterator<Item = &'p str>) -> String {
        let mut text = self.list.before.to_owned();
        for (nth, item) in items.enumerate() {
            if nth > 0 {
                text.push(',');
            }
            text.push_str(item);
        }
        text + self.list.after
    }
}

impl Report {
    fn new(shape: Shape, tokens_before: usize, budget: usize) -> Self {
        Self {
            shape: shape.as_str(),
            tokens_before,
            tokens_after: tokens_before,
            budget,
            images: 0,
            rounds: 0,
            kept: 0,
            trimmed: false,
            replaced: 0,
            summary: String::new(),
            files: Vec::new(),
            skills: Vec::new(),
        }
    }
}

/// Returns the files that come back, the most important first, within `room` together.
fn restored(story: &Story<'_>, seen: &Story<'_>, room: usize, scanner: &Scanner) -> Vec<(String, String)> {
    let ranked: Vec<(String, usize)> = {
        let top = story.files.references.top(RANKED);
        let is_wanted = |path: &str| {
            // Skills come back by themselves.
            !path.ends_with("SKILL.md")
                && seen.files.known(path).is_none()
                && story.files.known(path).is_some()
        };
        let wanted = top.iter().filter(|file| is_wanted(file.path)).take(RESTORED_FILES);
        wanted.map(|file| (file.path.to_owned(), file.count)).collect()
    };
    let mut left = room;
    let mut blocks = Vec::new();
    for (nth, (path, count)) in ranked.iter().enumerate() {
        let share = (left / (ranked.len() - nth)).saturating_sub(BLOCK);
        let Some(known) = story.files.known(path) else { continue };
        let text = cleaned(&known.text, scanner);
        if let Some(block) = marked(|text| marks::with_file(path, *count, text), &text, share) {
            left -= cost(&block) + BLOCK;
            blocks.push((path.clone(), block));
        }
    }
    blocks
}

/// Returns the skills that come back, the last one first, within `room` together.
fn loaded(skills: &Skills, seen: &Story<'_>, room: usize, scanner: &Scanner) -> Vec<(String, String)> {
    let mut left = room.min(SKILLS_TOKENS * CHARS_A_TOKEN);
    let mut blocks = Vec::new();
    for (name, text) in skills.newest_first() {
        let share = left.saturating_sub(BLOCK).min(SKILL_TOKENS * CHARS_A_TOKEN);
        let block = marked(|text| marks::with_skill(name, text), &cleaned(text, scanner), share);
        if let Some(block) = block.filter(|_| !seen.skills.has(name)) {
            left -= cost(&block) + BLOCK;
            blocks.push((name.to_owned(), block));
        }
    }
    blocks
}

/// Puts a text under its mark, cut at a line and marked as cut where it is too long; `None` if nothing of it fits.
fn marked(with_mark: impl Fn(&str) -> String, text: &str, room: usize) -> Option<String> {
    let whole = with_mark(text);
    if cost(&whole) <= room {
        return Some(whole);
    }
    let n_lines = text.lines().count();
    let allowed = room.checked_sub(cost(&with_mark(&marks::cut(n_lines))))?;
    let start = head(text, allowed);
    let end = start.rfind('\n').map_or(0, |at| at + 1);
    let n_kept = start[..end].lines().count();
    (n_kept > 0).then(|| with_mark(&format!("{}{}", &start[..end], marks::cut(n_lines - n_kept))))
}

/// Makes a summary that a model wrote one that may stand in a message: defused, without secrets, within a size.
fn of_model(words: &str, room: usize, scanner: &Scanner) -> String {
    let text = frame::defused(&visible_block(&cleaned(words, scanner)));
    head(&text, room).trim_end().to_owned()
}

fn message(shape: Shape, blocks: &[String]) -> Value {
    let block = |text: &String| match shape {
        Shape::Responses => json!({ "type": "input_text", "text": text }),
        Shape::Anthropic | Shape::Chat => json!({ "type": "text", "text": text }),
        Shape::Gemini => json!({ "text": text }),
    };
    let blocks: Vec<Value> = blocks.iter().map(block).collect();
    match shape {
        Shape::Gemini => json!({ "role": "user", "parts": blocks }),
        Shape::Responses => json!({ "type": "message", "role": "user", "content": blocks }),
        Shape::Anthropic | Shape::Chat => json!({ "role": "user", "content": blocks }),
    }
}

/// Looks quickly whether there can be a picture in an item at all.
fn may_have_media(raw: &str) -> bool {
    // As the beginning of a word between quotes: `"file"` is one, `"file_path"` is none.
    let words = ["\"image", "\"input_", "\"audio\"", "\"video", "\"file\"", "\"document\""];
    let of_gemini = ["\"inlineData\"", "\"inline_data\"", "\"fileData\"", "\"file_data\""];
    words.iter().chain(&of_gemini).any(|word| raw.contains(word))
}

fn chars(text: &str) -> usize {
    text.chars().count()
}
