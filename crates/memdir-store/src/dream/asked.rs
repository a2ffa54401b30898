//! What was asked lately and found something: so that a dream can show that it still does.
//!
//! A private file beside the vault, a line a question, without secrets and cut short. Only the newest are kept, and
//! erasing any memory removes them all: a question may repeat what a memory said.

use std::io;

use jiff::Timestamp;
use memdir_core::secrets::Scanner;
use serde::{Deserialize, Serialize};

use crate::disk::Dir;
use crate::vault::Vault;

const FILE: &str = "asked.jsonl";
/// So many questions are kept, and the file is cut when it has twice as many.
const KEPT: usize = 100;
/// No question is longer, in characters.
const MAX_QUESTION: usize = 400;
const MAX_FILE: u64 = 1 << 20;

/// A question and what it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// When.
    pub t: Timestamp,
    /// The words.
    pub q: String,
    /// The memories that were shown.
    pub shown: Vec<String>,
}

/// Notes a question. Not being able to costs a proof, not an answer.
pub fn note(vault: &Vault, words: &str, shown: Vec<String>, t: Timestamp) -> io::Result<()> {
    let words: String = words.trim().chars().take(MAX_QUESTION).collect();
    if words.is_empty() || shown.is_empty() {
        return Ok(());
    }
    let q = Scanner::builtin().redacted(&words).into_owned();
    let state = Dir::ensure(&vault.state_path())?;
    let line = serde_json::to_string(&Question { t, q, shown })?;
    state.append_line(FILE, &line)?;
    // Looked at only now and then: a question is small.
    let size = state.stat(FILE)?.map_or(0, |stat| stat.size);
    if size > (KEPT * MAX_QUESTION * 2) as u64 {
        let kept: Vec<String> =
            questions(vault).iter().filter_map(|one| serde_json::to_string(one).ok()).collect();
        state.replace_derived(&state, FILE, format!("{}\n", kept.join("\n")).as_bytes())?;
    }
    Ok(())
}

/// Returns the newest questions, each once, the oldest of them first.
pub fn questions(vault: &Vault) -> Vec<Question> {
    let bytes =
        Dir::open(&vault.state_path()).ok().and_then(|state| state.read(FILE, MAX_FILE).ok().flatten());
    let bytes = bytes.unwrap_or_default();
    let mut seen = std::collections::BTreeSet::new();
    let mut newest: Vec<Question> = bytes
        .split(|byte| *byte == b'\n')
        .rev()
        .filter_map(|line| serde_json::from_slice::<Question>(line).ok())
        .filter(|question| seen.insert(question.q.clone()))
        .take(KEPT)
        .collect();
    newest.reverse();
    newest
}

/// Removes them all.
pub(super) fn erase(vault: &Vault) -> io::Result<()> {
    match Dir::open(&vault.state_path()) {
        Ok(state) => state.remove(FILE),
        Err(_) => Ok(()),
    }
}
