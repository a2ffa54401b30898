//! What background work has to tell the user, once: a cap that was reached, a service that is left alone.
//!
//! Whoever works in the background has nobody to talk to, so it leaves a line in `$MEMDIR_HOME/news`, and the next session
//! that begins or is prompted takes all of them. A line that is lost costs a notice, never a memory.

use std::io;
use std::path::Path;

use crate::disk::{Dir, random_hex};

const FILE: &str = "news";
/// No more is read, in bytes; whoever left more will say it again another day.
const MAX_FILE: u64 = 16 * 1024;
/// As many lines are told at once, the last ones.
const MAX_TOLD: usize = 6;

/// Leaves lines for whoever comes next.
pub fn leave(home: &Path, lines: &[String]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let home = Dir::ensure(home)?;
    lines.iter().try_for_each(|line| home.append_line(FILE, line))
}

/// Takes what was left. Of two that ask at once, one is told.
pub fn take(home: &Path) -> Vec<String> {
    let Ok(home) = Dir::open(home) else { return Vec::new() };
    let Ok(own) = random_hex().map(|hex| format!("{FILE}-{hex}")) else { return Vec::new() };
    if home.rename(FILE, &home, &own).is_err() {
        return Vec::new();
    }
    let bytes = home.read(&own, MAX_FILE).ok().flatten().unwrap_or_default();
    // What stays behind is swept by nobody, but is never read again.
    let _ = home.remove(&own);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<String> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    lines[lines.len().saturating_sub(MAX_TOLD)..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_taken_once() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("state");
        assert!(take(&home).is_empty());
        leave(&home, &[]).unwrap();
        assert!(!home.exists(), "nothing to tell");
        leave(&home, &["one".to_owned()]).unwrap();
        leave(&home, &["two".to_owned()]).unwrap();
        assert_eq!(take(&home), ["one", "two"]);
        assert!(take(&home).is_empty());
        assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0, "nothing stays behind");
    }

    #[test]
    fn no_more_is_told_than_anybody_reads() {
        let temp = tempfile::tempdir().unwrap();
        let many: Vec<String> = (0..50).map(|n| format!("line {n}")).collect();
        leave(temp.path(), &many).unwrap();
        assert_eq!(take(temp.path()), many[44..]);
    }
}
