//! Whether a text may be kept: size, form, whom it is for, secrets. The client has asked all this before; the server asks again.

use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::secrets::Scanner;
use memdir_core::team::share::{Audience, Stays, may_leave};
use memdir_core::team::wire::{Code, MAX_MEMORY, TeamKind};

use crate::answer::Problem;
use crate::storage::Content;
use crate::words;

/// Checks a text for a memory of a team, and works out what is kept beside it.
pub(super) fn content(
    scanner: &Scanner,
    kind: TeamKind,
    path: &MemoryPath,
    text: String,
) -> Result<Content, Problem> {
    if text.len() > MAX_MEMORY {
        return Err(Problem::new(Code::TooLarge, format!("a memory has at most {MAX_MEMORY} bytes")));
    }
    if text.contains('\0') {
        return Err(Problem::bad("a memory is text, without the character zero"));
    }
    if !path.is_portable() {
        return Err(Problem::bad("not every machine can have a file of this name"));
    }
    if kind == TeamKind::Team {
        is_for_a_team(path, &text)?;
    }
    holds_no_secret(scanner, text.as_bytes(), Some(path.as_str()))?;
    Ok(Content { hash: ContentHash::of(text.as_bytes()), words: words::of_text(&text), text })
}

fn is_for_a_team(path: &MemoryPath, text: &str) -> Result<(), Problem> {
    may_leave(path, text.as_bytes(), Audience::Team).map_err(|why| match why {
        Stays::AboutUser => Problem::new(Code::Forbidden, "memories of type `user` belong to nobody else"),
        Stays::Private => Problem::new(Code::Forbidden, "only memories of scope `team` are taken"),
        other => Problem::bad(other.to_string()),
    })
}

/// Refuses what holds a secret, by the kinds that were found; the values are not repeated.
pub(super) fn holds_no_secret(scanner: &Scanner, text: &[u8], path: Option<&str>) -> Result<(), Problem> {
    let findings = scanner.scan_file(text, path);
    if findings.is_empty() {
        return Ok(());
    }
    let mut problem = Problem::new(Code::Secret, "the text holds a secret");
    let mut kinds: Vec<String> = findings.into_iter().map(|finding| finding.rule.into_owned()).collect();
    kinds.sort();
    kinds.dedup();
    problem.trouble.kinds = kinds;
    Err(problem)
}
