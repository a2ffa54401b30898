//! What a session's file tells about the prompt cache: how much of each request was read from it, and where it was lost.
//!
//! A provider keeps the beginning of a request for some minutes and charges a tenth for it the next time. Each answer says
//! how many tokens were read from the cache and how many were written to it; a request that reads much less than the one
//! before it left there has lost the rest. Why that was can be seen around it: another model, a pause, a history that was
//! shortened. What is left is somebody's text at the wrong place. Look at [`requests`], then at [`losses`].

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// A cache is kept for so long at least; longer pauses explain a loss.
const KEPT: SignedDuration = SignedDuration::from_mins(5);
/// Less than this is not kept at all by some models.
const SMALLEST: u64 = 4_096;

/// One request of a session, by what its answer says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// When it was answered.
    pub at: Option<Timestamp>,
    /// The model.
    pub model: String,
    /// Tokens that were read from the cache.
    pub read: u64,
    /// Tokens that were written to it.
    pub written: u64,
    /// Tokens that were neither.
    pub fresh: u64,
    /// Whether the history was shortened before it.
    pub is_compacted: bool,
}

/// A request that found less in the cache than was left there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Which request, from 1.
    pub nth: usize,
    /// How many tokens were paid for again.
    pub tokens: u64,
    /// Why, as far as it can be seen.
    pub cause: Cause,
}

/// Why a cache was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The model was another one.
    Model,
    /// The session paused for longer than a cache is kept.
    Pause,
    /// The history was shortened.
    Compaction,
    /// Nothing of these: something changed at a place that was cached.
    Unexplained,
}

impl Cause {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Pause => "pause",
            Self::Compaction => "compaction",
            Self::Unexplained => "unexplained",
        }
    }
}

/// Reads the requests out of the lines of a session file of Claude Code. What is not understood is passed over, and so is
/// what sub-agents asked: they have a cache of their own.
pub fn requests<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    let mut last_id = String::new();
    let mut is_compacted = false;
    for line in lines {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let flag = |key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
        if flag("isCompactSummary") || value.get("compactMetadata").is_some() {
            is_compacted = true;
        }
        if flag("isSidechain") || value["type"] != "assistant" {
            continue;
        }
        let message = &value["message"];
        let Some(usage) = message.get("usage") else { continue };
        let tokens = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
        // An answer of several parts has a line for each, with the same usage.
        let id = message["id"].as_str().unwrap_or_default();
        if !id.is_empty() && id == last_id {
            continue;
        }
        id.clone_into(&mut last_id);
        requests.push(Request {
            at: value["timestamp"].as_str().and_then(|at| at.parse().ok()),
            model: message["model"].as_str().unwrap_or_default().to_owned(),
            read: tokens("cache_read_input_tokens"),
            written: tokens("cache_creation_input_tokens"),
            fresh: tokens("input_tokens"),
            is_compacted: std::mem::take(&mut is_compacted),
        });
    }
    requests
}

/// Finds the requests that lost more than half of what the one before them had left in the cache.
pub fn losses(requests: &[Request]) -> Vec<Loss> {
    let pairs = requests.iter().zip(requests.iter().skip(1)).zip(2..);
    let loss = |((before, after), nth): ((&Request, &Request), usize)| {
        let left = before.read + before.written;
        let tokens = left.saturating_sub(after.read);
        let is_lost = left >= SMALLEST && tokens * 2 > left;
        is_lost.then(|| Loss { nth, tokens, cause: cause(before, after) })
    };
    pairs.filter_map(loss).collect()
}

fn cause(before: &Request, after: &Request) -> Cause {
    let pause = before.at.zip(after.at).map(|(before, after)| after.duration_since(before));
    match () {
        () if after.is_compacted => Cause::Compaction,
        () if before.model != after.model => Cause::Model,
        () if pause.is_some_and(|pause| pause > KEPT) => Cause::Pause,
        () => Cause::Unexplained,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, minute: u32, model: &str, read: u64, written: u64) -> String {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-04-02T10:{minute:02}:00Z","message":{{"id":"{id}","model":"{model}","usage":{{"input_tokens":3,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written}}}}}}}"#
        )
    }

    fn found(lines: &[String]) -> Vec<(usize, u64, &'static str)> {
        let requests = requests(lines.iter().map(String::as_str));
        losses(&requests).iter().map(|loss| (loss.nth, loss.tokens, loss.cause.as_str())).collect()
    }

    /// UX-20.
    #[test]
    fn a_session_that_only_grows_loses_nothing() {
        let lines = [
            line("a", 0, "m", 0, 20_000),
            line("a", 0, "m", 0, 20_000),
            line("b", 1, "m", 20_000, 500),
            line("c", 2, "m", 20_500, 700),
        ];
        assert_eq!(found(&lines), []);
        assert_eq!(requests(lines.iter().map(String::as_str)).len(), 3, "two lines of one answer");
    }

    #[test]
    fn a_loss_has_a_cause() {
        let summary = r#"{"type":"user","isCompactSummary":true,"message":{}}"#.to_owned();
        let side = line("s", 3, "other", 0, 9_000).replacen('{', r#"{"isSidechain":true,"#, 1);
        let lines = [
            line("a", 0, "m", 0, 20_000),
            line("b", 9, "m", 0, 21_000),
            line("c", 10, "n", 0, 22_000),
            summary,
            line("d", 11, "n", 4_000, 5_000),
            side,
            "not json".to_owned(),
            line("e", 12, "n", 1_000, 9_000),
        ];
        assert_eq!(
            found(&lines),
            [
                (2, 20_000, "pause"),
                (3, 21_000, "model"),
                (4, 18_000, "compaction"),
                (5, 8_000, "unexplained")
            ]
        );
    }
}
