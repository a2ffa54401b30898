//! What a session gets back after its history was shortened.

use crate::frame;
use crate::journal::OpenItem;
use crate::obedience::Bound;
use crate::text::{visible_block, visible_line, whole_lines};

/// Says what follows, and that it is no order.
const HEAD: &str = "What this session knew before its history was shortened (recorded by memdir; hints, the current code wins)";
/// Room for the marks of the frame and the line breaks around them.
const MARKS: usize = 48;
/// What each part may take of the room at most, in hundredths; the notes of the session get what the others leave.
const RULES: usize = 40;
const OPEN: usize = 25;
const SURFACED: usize = 15;

/// What mattered before a compaction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Restoration<'a> {
    /// Feedback with rules, as far as the rules count.
    pub rules: &'a [Bound],
    /// What is unfinished, over all sessions.
    pub open: &'a [OpenItem],
    /// Working memory, or nothing.
    pub working: &'a str,
    /// The names of the memories that the session was shown.
    pub surfaced: &'a [String],
}

impl Restoration<'_> {
    /// Frames it for a model, in at most `limit` bytes; empty if there is nothing to give back or no room for it.
    ///
    /// Its text comes from memories, prompts and tools, so it is defused and marked like any memory. `key` is this
    /// machine's secret.
    pub fn render(&self, limit: usize, key: &[u8]) -> String {
        let room = limit.saturating_sub(HEAD.len() + MARKS);
        let rules = part("Rules in force:", &self.rule_lines(), room * RULES / 100);
        let open = part("Unfinished:", &self.open_lines(), room * OPEN / 100);
        let surfaced =
            part("Memories shown before (memdir show NAME):", &self.surfaced_lines(), room * SURFACED / 100);
        let left = room.saturating_sub(rules.len() + open.len() + surfaced.len());
        let working = whole_lines(&frame::defused(&visible_block(self.working)), left).to_owned();
        let inner = [rules, open, working, surfaced].concat();
        if inner.is_empty() { inner } else { frame::enclosed(HEAD, &inner, key) }
    }

    fn rule_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for bound in self.rules {
            let line = format!("{} (memory {})", bound.says, bound.memory);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    fn open_lines(&self) -> Vec<String> {
        self.open.iter().map(|item| format!("{} [{}]", item.text, item.handle())).collect()
    }

    fn surfaced_lines(&self) -> Vec<String> {
        self.surfaced.to_vec()
    }
}

/// Writes a heading and a line each, within some bytes; says how many lines did not fit.
fn part(heading: &str, lines: &[String], room: usize) -> String {
    let shown: Vec<String> =
        lines.iter().map(|line| format!("- {}\n", frame::defused(&visible_line(line)))).collect();
    let all = shown.concat();
    let budget = room.saturating_sub(heading.len() + 1);
    if lines.is_empty() {
        return String::new();
    }
    if all.len() <= budget {
        return format!("{heading}\n{all}");
    }
    let more = |left: usize| format!("- {left} more\n");
    let kept = whole_lines(&all, budget.saturating_sub(more(lines.len()).len()));
    let n_kept = kept.lines().count();
    if n_kept == 0 { String::new() } else { format!("{heading}\n{kept}{}", more(lines.len() - n_kept)) }
}
