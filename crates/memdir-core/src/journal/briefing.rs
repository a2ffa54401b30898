//! The journal as a new session gets it: what was done last, and what is left.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::entry::Entry;
use super::items::OpenItem;
use crate::text::{count, visible_line};

/// As many decisions of the last session are told.
const MAX_DECISIONS: usize = 3;

/// Answers "what was I working on?" within `limit` bytes: the last session, its decisions, what is open.
///
/// There is no clock in it, so that the same journal makes the same bytes. Empty if there is nothing to tell.
pub fn briefing(last: Option<&Entry>, open: &[OpenItem], zone: &TimeZone, limit: usize) -> String {
    let day = |at: Option<Timestamp>| at.map(|at| at.to_zoned(zone.clone()).date().to_string());
    let mut lines = Vec::new();
    if let Some(entry) = last {
        let when = day(entry.at()).map(|day| format!(" {day}")).unwrap_or_default();
        lines.push(format!("Last session{when}: {}", entry.description));
        let decisions = entry.sections.decisions.iter().take(MAX_DECISIONS);
        lines.extend(decisions.map(|decision| format!("Decided: {decision}")));
    }
    if !open.is_empty() {
        lines.push(format!("Unfinished ({}):", open.len()));
    }
    let item = |item: &OpenItem| {
        let since = day(item.since).map(|day| format!(", since {day}")).unwrap_or_default();
        format!("- {} [{}{since}]", item.text, item.handle())
    };
    lines.extend(open.iter().map(item));
    within(lines, open.len(), limit)
}

/// Keeps the first lines that fit, and says how many items did not.
fn within(lines: Vec<String>, n_items: usize, limit: usize) -> String {
    let more = |left: usize| format!("- {}: memdir journal open\n", count(left, "more item", "more items"));
    let lines: Vec<String> = lines.iter().map(|line| format!("{}\n", visible_line(line))).collect();
    if lines.iter().map(String::len).sum::<usize>() <= limit {
        return lines.concat();
    }
    let room = limit.saturating_sub(more(n_items).len());
    let n_head = lines.len() - n_items;
    let mut out = String::new();
    let mut n_told = 0;
    for (nth, line) in lines.iter().enumerate() {
        if out.len() + line.len() > room {
            break;
        }
        out.push_str(line);
        n_told += usize::from(nth >= n_head);
    }
    let more = more(n_items - n_told);
    if n_items > n_told && out.len() + more.len() <= limit { out + &more } else { out }
}

impl OpenItem {
    /// Returns the end of its id, which is what people type.
    pub fn handle(&self) -> &str {
        &self.id[self.id.len().saturating_sub(6)..]
    }
}
