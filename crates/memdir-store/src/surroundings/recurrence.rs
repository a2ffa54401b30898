//! How often a debugging story was refused: the second time it is worth a test instead of a memory.
//!
//! Append-only lines in the state directory, beside the ledger. A line holds a key and a day, never a word of the
//! story. The file is bounded: when it is long enough, its older half goes.

use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::disk::Dir;

/// The file, in the folder of the ledger.
const FILE: &str = "refused.jsonl";
/// From this size on the older half is dropped; a line has about sixty bytes.
const MAX_BYTES: u64 = 256 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    t: Timestamp,
    key: String,
}

/// Counts how often `key` was refused.
pub(super) fn count(state: &Dir, key: &str) -> u32 {
    let Ok(Some(bytes)) = state.read(&format!("ledger/{FILE}"), 2 * MAX_BYTES) else { return 0 };
    let is_it = |line: &&[u8]| serde_json::from_slice::<Line>(line).is_ok_and(|line| line.key == key);
    let n_lines = bytes.split(|byte| *byte == b'\n').filter(is_it).count();
    u32::try_from(n_lines).unwrap_or(u32::MAX)
}

/// Notes that `key` was refused now.
pub(super) fn record(state: &Dir, key: &str, now: Timestamp) -> io::Result<()> {
    let ledger = state.ensure_sub("ledger")?;
    let line = serde_json::to_string(&Line { t: now, key: key.to_owned() })?;
    ledger.append_line(FILE, &line)?;
    let is_long = ledger.stat(FILE)?.is_some_and(|stat| stat.size > MAX_BYTES);
    if !is_long {
        return Ok(());
    }
    let Some(bytes) = ledger.read(FILE, 2 * MAX_BYTES).map_err(io::Error::other)? else { return Ok(()) };
    let half = bytes.len() / 2;
    let start = memchr::memchr(b'\n', &bytes[half..]).map_or(bytes.len(), |feed| half + feed + 1);
    state.replace_derived(&ledger, FILE, &bytes[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_is_counted_by_its_key_and_the_file_stays_small() {
        let temp = tempfile::tempdir().unwrap();
        let state = Dir::open(temp.path()).unwrap();
        let now: Timestamp = "2026-04-02T10:30:00Z".parse().unwrap();
        assert_eq!(count(&state, "a"), 0);
        record(&state, "a", now).unwrap();
        record(&state, "b", now).unwrap();
        record(&state, "a", now).unwrap();
        assert_eq!((count(&state, "a"), count(&state, "b"), count(&state, "c")), (2, 1, 0));

        let ledger = state.sub("ledger").unwrap();
        ledger.replace(FILE, &b"{\"t\":\"2026-04-02T10:30:00Z\",\"key\":\"b\"}\n".repeat(8000)).unwrap();
        record(&state, "a", now).unwrap();
        assert!(ledger.stat(FILE).unwrap().unwrap().size < MAX_BYTES);
        assert_eq!(count(&state, "a"), 1, "the newest lines stay");
    }
}
