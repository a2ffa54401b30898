//! Two versions of one memory that both stay: merged where that loses nothing, side by side where it would.
//!
//! The version on the other side keeps the name, for others know it by that already. The one from here becomes a memory
//! `<name>-conflict-<6 hex of its hash>`: the same text gets the same name on every machine, so a conflict that two
//! machines meet is one copy and not two. It is a memory like any other, and travels. Look at [`combine`] first.

use crate::hash::ContentHash;
use crate::memory::{Document, MAX_NAME, MemoryPath, Value};
use crate::merge::three_way_memory;

/// Stands between a memory's name and the hash of its other version.
const MARK: &str = "-conflict-";
/// How much of the hash is in the name; more where another text has that name.
const SHORTEST: usize = 6;

/// What becomes of two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Combined {
    /// They are one text.
    Merged(Vec<u8>),
    /// Both stay.
    Both(Copy),
}

/// The version from here, under a name of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// Its new name.
    pub path: MemoryPath,
    /// Its text, which says the new name.
    pub text: Vec<u8>,
}

/// Makes one of two versions that both came from `base`, or keeps both. `taken` says what text a name has already.
pub fn combine<'t>(
    path: &MemoryPath,
    base: Option<&[u8]>,
    here: &[u8],
    there: &[u8],
    taken: impl Fn(&MemoryPath) -> Option<&'t [u8]>,
) -> Combined {
    let merged = base.and_then(|base| three_way_memory(base, here, there).ok());
    match merged {
        Some(text) => Combined::Merged(text),
        None => Combined::Both(copy(path, here, taken)),
    }
}

/// Puts a version under a name of its own.
pub fn copy<'t>(path: &MemoryPath, text: &[u8], taken: impl Fn(&MemoryPath) -> Option<&'t [u8]>) -> Copy {
    let hash = ContentHash::of(text).to_string();
    let mut candidates =
        (SHORTEST..=hash.len()).filter_map(|n_digits| renamed(path, text, &hash[..n_digits]));
    let is_free = |copy: &Copy| taken(&copy.path).is_none_or(|other| other == copy.text);
    let first = candidates.find(is_free);
    first.unwrap_or_else(|| Copy { path: path.clone(), text: text.to_owned() })
}

fn renamed(path: &MemoryPath, text: &[u8], digits: &str) -> Option<Copy> {
    let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
    // A copy of a copy is named after the memory itself.
    let stem = original(path.stem());
    let room = MAX_NAME.saturating_sub(MARK.len() + digits.len());
    let mut end = stem.len().min(room);
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    let name = format!("{}{MARK}{digits}", stem[..end].trim_end_matches(['-', '_']));
    let slash = if folder.is_empty() { "" } else { "/" };
    let path = MemoryPath::new(&format!("{folder}{slash}{name}.md")).ok()?;
    let document = Document::parse(text);
    let named = document.set("name", &Value::Text(name)).unwrap_or(document);
    Some(Copy { path, text: named.bytes().to_vec() })
}

/// Returns the name of the memory that a copy is a version of; another name as it is.
pub fn original(stem: &str) -> &str {
    let is_digits = |rest: &str| rest.len() >= SHORTEST && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    match stem.rsplit_once(MARK) {
        Some((name, rest)) if !name.is_empty() && is_digits(rest) => name,
        _ => stem,
    }
}

/// Says whether a memory is the second version of another.
pub fn is_copy(path: &MemoryPath) -> bool {
    original(path.stem()) != path.stem()
}
