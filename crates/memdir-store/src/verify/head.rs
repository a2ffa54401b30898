//! What is checked out, and which branches there were, read from git's files.

use std::os::unix::fs::FileExt;

use crate::surroundings::Git;

/// Largest file that holds one hash or one name.
const MAX_REF: u64 = 4096;
/// Largest file of packed refs that is read.
const MAX_PACKED: u64 = 4 << 20;
/// As much of the end of the log of HEAD is read.
const MAX_LOG: u64 = 256 << 10;

/// Returns the commit that is checked out; none before the first, or where refs are kept in another format.
pub(super) fn commit(git: &Git) -> Option<String> {
    let head = git.own.read("HEAD", MAX_REF).ok()??;
    let head = String::from_utf8(head).ok()?;
    let Some(name) = head.trim().strip_prefix("ref:").map(str::trim) else { return hash(&head) };
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    if !name.starts_with("refs/") || !name.split('/').all(is_plain) {
        return None;
    }
    let loose = git.common.read(name, MAX_REF).ok().flatten();
    loose.and_then(|text| hash(&String::from_utf8_lossy(&text))).or_else(|| packed(git, name))
}

fn packed(git: &Git, name: &str) -> Option<String> {
    let text = git.common.read("packed-refs", MAX_PACKED).ok()??;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find(|line| line.strip_suffix(name).is_some_and(|rest| rest.ends_with(' ')))?;
    hash(line.split(' ').next()?)
}

fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}

/// Says whether the log of HEAD knows that `branch` was once checked out or merged here.
pub(super) fn was_branch(git: &Git, branch: &str) -> bool {
    let Ok(Some((file, stat))) = git.own.open_file("logs/HEAD") else { return false };
    let start = stat.size.saturating_sub(MAX_LOG);
    let mut tail = vec![0; usize::try_from(stat.size - start).unwrap_or(0)];
    if file.read_exact_at(&mut tail, start).is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(&tail);
    let phrases = [
        format!("checkout: moving from {branch} to "),
        format!(" to {branch}"),
        format!("merge {branch}:"),
        format!("Merge branch '{branch}'"),
    ];
    text.lines().filter_map(|line| line.split_once('\t')).any(|(_, message)| {
        let is_move = message.starts_with("checkout: moving from ");
        message.contains(&phrases[0])
            || is_move && message.ends_with(&phrases[1])
            || message.contains(&phrases[2])
            || message.contains(&phrases[3])
    })
}
