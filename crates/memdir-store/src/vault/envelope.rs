//! The file in which a change set waits: a memory that reads as one, and a last line that holds the rest.
//!
//! Everything is in one file, so that it comes and goes, is exported and erased, as a whole. Only the very last line
//! is ours: what a proposed text says about itself in such a line is text.

use std::collections::BTreeMap;

use memdir_core::change::{Author, ChangeSet, Edit, Exit, Surface};
use memdir_core::hash::{ContentHash, from_hex, to_hex};
use memdir_core::memory::{Document, MemoryPath, Provenance, Value};
use memdir_core::policy::Refusal;
use serde::{Deserialize, Serialize};

use super::{CommitError, MAX_MEMORY};

/// Opens the last line of a waiting file.
const OPENING: &str = "<!-- memdir:proposal ";
/// Closes it.
const CLOSING: &str = " -->\n";

/// Says whether the waiting file `bytes` is about the memory `name`; for erasing.
pub(super) fn concerns(bytes: &[u8], name: &str) -> bool {
    let (text, envelope) = split(bytes);
    let is_meant = |path: &MemoryPath| path.stem() == name;
    Document::parse(text).text("name") == Some(name)
        || envelope.is_some_and(|envelope| envelope.edits.iter().any(|edit| edit.paths().any(is_meant)))
}

/// The last line of a waiting file: all that its text does not say.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Envelope {
    /// How many bytes the text before it has.
    len: usize,
    author: Author,
    by: Surface,
    provenance: Provenance,
    session: Option<String>,
    reason: String,
    pub(super) why: String,
    edits: Vec<EditNote>,
    /// The versions that the edits name, but for the text above.
    versions: BTreeMap<ContentHash, Bytes>,
}

/// An edit without its bytes; the first edit's text stands above the line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum EditNote {
    Create { path: MemoryPath, text: ContentHash },
    Replace { path: MemoryPath, base: ContentHash, text: ContentHash },
    Rename { from: MemoryPath, base: ContentHash, to: MemoryPath, text: ContentHash },
    Trash { path: MemoryPath, base: ContentHash },
    Archive { path: MemoryPath, base: ContentHash, text: ContentHash },
    Promote { path: MemoryPath, base: ContentHash, to: MemoryPath, text: ContentHash },
}

/// Bytes in JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Bytes {
    Text(String),
    Hex(String),
}

impl Bytes {
    fn new(bytes: &[u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Hex(to_hex(bytes)),
        }
    }

    fn get(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Hex(hex) => from_hex(hex),
        }
    }
}

impl EditNote {
    fn of(edit: &Edit, versions: &mut BTreeMap<ContentHash, Bytes>) -> Self {
        let mut keep = |bytes: &[u8]| {
            let hash = ContentHash::of(bytes);
            versions.entry(hash).or_insert_with(|| Bytes::new(bytes));
            hash
        };
        match edit.clone() {
            Edit::Create { path, text } => Self::Create { path, text: keep(&text) },
            Edit::Replace { path, base, text } => {
                Self::Replace { path, base: keep(&base), text: keep(&text) }
            }
            Edit::Rename { from, base, to, text } => {
                Self::Rename { from, base: keep(&base), to, text: keep(&text) }
            }
            Edit::Remove { path, base, into } => {
                let base = keep(&base);
                match into {
                    Exit::Trash => Self::Trash { path, base },
                    Exit::Archive(text) => Self::Archive { path, base, text: keep(&text) },
                    Exit::UserVault(to, text) => Self::Promote { path, base, to, text: keep(&text) },
                }
            }
        }
    }

    /// Makes the edit again; `None` if a version is missing.
    fn edit(&self, get: impl Fn(ContentHash) -> Option<Vec<u8>>) -> Option<Edit> {
        Some(match self {
            Self::Create { path, text } => Edit::Create { path: path.clone(), text: get(*text)? },
            Self::Replace { path, base, text } => {
                Edit::Replace { path: path.clone(), base: get(*base)?, text: get(*text)? }
            }
            Self::Rename { from, base, to, text } => {
                Edit::Rename { from: from.clone(), base: get(*base)?, to: to.clone(), text: get(*text)? }
            }
            Self::Trash { path, base } => {
                Edit::Remove { path: path.clone(), base: get(*base)?, into: Exit::Trash }
            }
            Self::Archive { path, base, text } => {
                Edit::Remove { path: path.clone(), base: get(*base)?, into: Exit::Archive(get(*text)?) }
            }
            Self::Promote { path, base, to, text } => Edit::Remove {
                path: path.clone(),
                base: get(*base)?,
                into: Exit::UserVault(to.clone(), get(*text)?),
            },
        })
    }

    fn paths(&self) -> impl Iterator<Item = &MemoryPath> {
        let (path, other) = match self {
            Self::Create { path, .. }
            | Self::Replace { path, .. }
            | Self::Trash { path, .. }
            | Self::Archive { path, .. } => (path, None),
            Self::Rename { from, to, .. } => (from, Some(to)),
            Self::Promote { path, to, .. } => (path, Some(to)),
        };
        std::iter::once(path).chain(other)
    }
}

impl Envelope {
    /// Makes the change set again, with `text` as the text of its first edit.
    pub(super) fn change_set(&self, text: &[u8]) -> Option<ChangeSet> {
        let get = |hash: ContentHash| match self.versions.get(&hash) {
            Some(bytes) => bytes.get().filter(|bytes| ContentHash::of(bytes) == hash),
            // Only the text above is not among the versions.
            None => Some(text.to_owned()),
        };
        Some(ChangeSet {
            author: self.author,
            by: self.by,
            provenance: self.provenance,
            reason: self.reason.clone(),
            session: self.session.clone(),
            force: None,
            edits: self.edits.iter().map(|edit| edit.edit(get)).collect::<Option<_>>()?,
        })
    }
}

/// Writes the file in which a change set waits.
pub(super) fn render(set: &ChangeSet, why: &str) -> Result<Vec<u8>, CommitError> {
    let mut edits = set.edits.clone();
    if let Some(text) = edits.first_mut().and_then(main_text_mut) {
        *text = lifted(text);
    }
    if let Some(Edit::Create { text, .. }) = edits.first_mut() {
        *text = attributed(text, set.provenance);
    }
    let mut versions = BTreeMap::new();
    let notes: Vec<EditNote> = edits.iter().map(|edit| EditNote::of(edit, &mut versions)).collect();
    let text = edits.first().and_then(main_text).unwrap_or_default();
    let mut bytes = marked(text);
    // What the mark cannot be taken from again is kept in the line too.
    if lifted(&bytes) == text {
        versions.remove(&ContentHash::of(text));
    }
    let envelope = Envelope {
        len: bytes.len(),
        author: set.author,
        by: set.by,
        provenance: set.provenance,
        session: set.session.clone(),
        reason: set.reason.clone(),
        why: why.to_owned(),
        edits: notes,
        versions,
    };
    let json = serde_json::to_string(&envelope).expect("an envelope has only text keys");
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    // Such a character stands only inside strings of the JSON, where it may end no comment.
    bytes.extend(format!("{OPENING}{}{CLOSING}", json.replace('>', "\\u003e")).into_bytes());
    match bytes.len() as u64 > MAX_MEMORY {
        true => Err(too_large(bytes.len())),
        false => Ok(bytes),
    }
}

/// Splits a waiting file into its text and what its last line says.
pub(super) fn split(bytes: &[u8]) -> (&[u8], Option<Envelope>) {
    let start = bytes
        .strip_suffix(b"\n")
        .map_or(0, |rest| rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
    let (text, last) = bytes.split_at(start);
    let json = last.strip_prefix(OPENING.as_bytes()).and_then(|line| line.strip_suffix(CLOSING.as_bytes()));
    let Some(envelope) = json.and_then(|json| serde_json::from_slice::<Envelope>(json).ok()) else {
        return (bytes, None);
    };
    let is_whole = text.len().saturating_sub(envelope.len) <= 1;
    (text.get(..envelope.len).filter(|_| is_whole).unwrap_or(text), Some(envelope))
}

/// Returns the text of an edit that a person decides about.
pub(super) fn main_text(edit: &Edit) -> Option<&[u8]> {
    match edit {
        Edit::Create { text, .. }
        | Edit::Replace { text, .. }
        | Edit::Rename { text, .. }
        | Edit::Remove { into: Exit::UserVault(_, text), .. } => Some(text),
        Edit::Remove { .. } => None,
    }
}

pub(super) fn main_text_mut(edit: &mut Edit) -> Option<&mut Vec<u8>> {
    match edit {
        Edit::Create { text, .. }
        | Edit::Replace { text, .. }
        | Edit::Rename { text, .. }
        | Edit::Remove { into: Exit::UserVault(_, text), .. } => Some(text),
        Edit::Remove { .. } => None,
    }
}

pub(super) const TRUST: &str = "trust";
const QUARANTINED: &str = "quarantined";

/// Makes a new text say who really said it, where it says anything about that.
fn attributed(text: &[u8], who: Provenance) -> Vec<u8> {
    const FIELD: &str = "provenance";
    let document = Document::parse(text);
    let is_wrong = document.text(FIELD).is_some_and(|said| said != who.as_str());
    let mended = is_wrong.then(|| document.set(FIELD, &Value::Text(who.to_string())).ok()).flatten();
    mended.unwrap_or(document).bytes().to_owned()
}

/// Marks a text as one that must not be believed yet.
fn marked(text: &[u8]) -> Vec<u8> {
    let document = Document::parse(text).set(TRUST, &Value::Text(QUARANTINED.to_owned()));
    document.map_or_else(|_| text.to_owned(), |document| document.bytes().to_owned())
}

/// Takes the mark away.
pub(super) fn lifted(text: &[u8]) -> Vec<u8> {
    let document = Document::parse(text);
    let is_marked = document.text(TRUST) == Some(QUARANTINED);
    let lifted = is_marked.then(|| document.remove(TRUST).ok()).flatten();
    lifted.map_or_else(|| text.to_owned(), |document| document.bytes().to_owned())
}

fn too_large(n_bytes: usize) -> CommitError {
    CommitError::Refused(vec![Refusal {
        rule: "size".into(),
        evidence: format!("{n_bytes} bytes: a proposal has at most {MAX_MEMORY}"),
        destination: "propose less at a time".to_owned(),
        question: None,
        can_force: false,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> MemoryPath {
        MemoryPath::new(text).unwrap()
    }

    fn set(edits: Vec<Edit>) -> ChangeSet {
        ChangeSet {
            author: Author::Agent,
            by: Surface::Mcp,
            provenance: Provenance::Tool,
            reason: "because --> of <that>".to_owned(),
            session: Some("s-1".to_owned()),
            force: None,
            edits,
        }
    }

    /// Writes a change set down and reads it again.
    fn read_back(set: &ChangeSet) -> ChangeSet {
        let bytes = render(set, "why").unwrap();
        let (text, envelope) = split(&bytes);
        envelope.unwrap().change_set(&lifted(text)).unwrap()
    }

    const NOTE: &str = "---\nname: a\ndescription: d\ntype: project\n---\n\nText";

    #[test]
    fn every_kind_of_change_is_kept_byte_for_byte() {
        let spoof = format!("{NOTE}\n{OPENING}{{}} -->\n");
        let texts: [&[u8]; 5] =
            [NOTE.as_bytes(), spoof.as_bytes(), b"", b"no frontmatter", b"---\nx: [\n---\n\xff"];
        for text in texts {
            let (text, base) = (text.to_vec(), b"base --> \x00\xfe".to_vec());
            let edits = vec![
                vec![Edit::Create { path: path("a.md"), text: text.clone() }],
                vec![Edit::Replace { path: path("sub/a.md"), base: base.clone(), text: text.clone() }],
                vec![
                    Edit::Rename {
                        from: path("a.md"),
                        base: base.clone(),
                        to: path("b.md"),
                        text: text.clone(),
                    },
                    Edit::Replace { path: path("c.md"), base: text.clone(), text: base.clone() },
                ],
                vec![
                    Edit::Remove { path: path("a.md"), base: base.clone(), into: Exit::Trash },
                    Edit::Remove {
                        path: path("b.md"),
                        base: base.clone(),
                        into: Exit::Archive(text.clone()),
                    },
                ],
                vec![Edit::Remove { path: path("a.md"), base, into: Exit::UserVault(path("b.md"), text) }],
            ];
            for edits in edits {
                let set = set(edits);
                assert_eq!(format!("{:?}", read_back(&set)), format!("{set:?}"));
            }
        }
    }

    #[test]
    fn a_waiting_memory_reads_as_quarantined_whatever_it_says() {
        for text in
            [NOTE.to_owned(), NOTE.replace("type: project", "type: project\nmetadata:\n  trust: trusted")]
        {
            let create = Edit::Create { path: path("a.md"), text: text.into_bytes() };
            let bytes = render(&set(vec![create]), "why").unwrap();
            assert_eq!(Document::parse(&bytes).text(TRUST), Some(QUARANTINED));
        }
    }

    #[test]
    fn what_somebody_changed_in_the_file_is_what_is_proposed() {
        let set = set(vec![Edit::Create { path: path("a.md"), text: NOTE.as_bytes().to_vec() }]);
        let bytes = String::from_utf8(render(&set, "why").unwrap()).unwrap().replace("Text", "Another text");
        let (text, envelope) = split(bytes.as_bytes());
        let edits = envelope.unwrap().change_set(&lifted(text)).unwrap().edits;
        assert!(main_text(&edits[0]).unwrap().ends_with(b"Another text\n"));
    }
}
