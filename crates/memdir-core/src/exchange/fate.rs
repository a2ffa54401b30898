//! What becomes of each file of an import.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::{Author, Edit};
use crate::hash::ContentHash;
use crate::memory::{Document, Frontmatter, MAX_NAME, Memory, MemoryPath, Provenance, Value, folded};
use crate::policy::{Proposal, Review, Verdict, Version, judge};
use crate::secrets::Scanner;
use crate::worth::Evidence;

/// How many names are tried for one file before it is left out.
const MAX_TRIES: usize = 1_000;

/// A file that is to become a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// What it is called where it comes from, for messages.
    pub origin: String,
    /// The path it would like to have.
    pub path: MemoryPath,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What a vault holds already: the version of each memory.
pub type Standing = BTreeMap<MemoryPath, ContentHash>;

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It comes in under the name it wants.
    Enters,
    /// It comes in under another name, because its own is taken by another text.
    Renamed,
    /// The vault has it already.
    Same,
    /// It stays out, for this reason.
    Refused(String),
}

/// A file of an import and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// What it is called where it comes from.
    pub origin: String,
    /// Where it is or will be in the vault.
    pub path: MemoryPath,
    /// What becomes of it.
    pub fate: Fate,
}

/// Decides about each file in order, and returns the edits that carry it out. Two files never get one name, also
/// where a file system folds case.
pub fn plan_import(
    incoming: Vec<Incoming>,
    standing: &Standing,
    scanner: &Scanner,
) -> (Vec<Planned>, Vec<Edit>) {
    let mut names = Names {
        taken: standing.iter().map(|(path, hash)| (folded(path.as_str()), *hash)).collect(),
        wanted: incoming.iter().map(|file| folded(file.path.as_str())).collect(),
    };
    let (mut planned, mut edits) = (Vec::with_capacity(incoming.len()), Vec::new());
    for Incoming { origin, path, bytes } in incoming {
        if let Some(why) = refusal(&path, &bytes, scanner) {
            planned.push(Planned { origin, path, fate: Fate::Refused(why) });
            continue;
        }
        let (path, fate, text) = names.settle(path, bytes);
        if matches!(fate, Fate::Enters | Fate::Renamed) {
            edits.push(Edit::Create { path: path.clone(), text });
        }
        planned.push(Planned { origin, path, fate });
    }
    (planned, edits)
}

/// The names of the vault and of the import so far, as the most forgiving file system compares them.
struct Names {
    taken: BTreeMap<String, ContentHash>,
    /// Names that files of the import ask for: nobody else gets them.
    wanted: BTreeSet<String>,
}

impl Names {
    fn settle(&mut self, path: MemoryPath, bytes: Vec<u8>) -> (MemoryPath, Fate, Vec<u8>) {
        let hash = ContentHash::of(&bytes);
        match self.taken.get(&folded(path.as_str())) {
            None => {
                self.taken.insert(folded(path.as_str()), hash);
                return (path, Fate::Enters, bytes);
            }
            Some(found) if *found == hash => return (path, Fate::Same, bytes),
            Some(_) => {}
        }
        for n in 2..MAX_TRIES {
            let Some(other) = numbered(&path, n) else { break };
            let key = folded(other.as_str());
            if self.wanted.contains(&key) {
                continue;
            }
            let text = renamed(&bytes, &path, &other);
            let hash = ContentHash::of(&text);
            match self.taken.get(&key) {
                None => {
                    self.taken.insert(key, hash);
                    return (other, Fate::Renamed, text);
                }
                Some(found) if *found == hash => return (other, Fate::Same, text),
                Some(_) => {}
            }
        }
        (path, Fate::Refused("no name is free for it".to_owned()), bytes)
    }
}

/// Puts a number behind the name.
fn numbered(path: &MemoryPath, n: usize) -> Option<MemoryPath> {
    let suffix = format!("-{n}");
    let folder = path.as_str().strip_suffix(&format!("{}.md", path.stem()))?;
    let mut stem = path.stem().to_owned();
    while stem.len() + suffix.len() > MAX_NAME && stem.pop().is_some() {}
    MemoryPath::new(&format!("{folder}{stem}{suffix}.md")).ok()
}

/// Lets the `name` follow the file, where the file had its own name there; every other byte stays.
fn renamed(bytes: &[u8], old: &MemoryPath, new: &MemoryPath) -> Vec<u8> {
    let document = Document::parse(bytes);
    let names_itself = matches!(document.frontmatter(), Frontmatter::Mapping(_))
        && document.text("name") == Some(old.stem());
    if !names_itself {
        return bytes.to_owned();
    }
    let edited = document.set("name", &Value::from(new.stem()));
    edited.map_or_else(|_| bytes.to_owned(), |document| document.bytes().to_owned())
}

/// Asks the gates in advance, so that one bad file does not keep all the others out.
fn refusal(path: &MemoryPath, bytes: &[u8], scanner: &Scanner) -> Option<String> {
    let document = Document::parse(bytes);
    let (memory, problems) = Memory::read(path, &document);
    let proposal = Proposal {
        text: Version { document: &document, memory: &memory, problems: &problems },
        before: None,
        author: Author::Import,
        provenance: Provenance::Import,
        force: None,
        review: Review::Off,
        scanner,
        evidence: &Evidence::default(),
        duplicate: None,
    };
    match judge(&proposal) {
        Verdict::Refuse(refusals) => {
            Some(refusals.into_iter().map(|refusal| refusal.evidence).collect::<Vec<_>>().join("; "))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(incoming: Vec<Incoming>, standing: &Standing) -> (Vec<Planned>, Vec<Edit>) {
        plan_import(incoming, standing, &Scanner::builtin())
    }

    fn incoming(path: &str, text: &str) -> Incoming {
        Incoming {
            origin: path.to_owned(),
            path: MemoryPath::new(path).unwrap(),
            bytes: text.as_bytes().to_vec(),
        }
    }

    fn standing(files: &[(&str, &str)]) -> Standing {
        let hash = |text: &str| ContentHash::of(text.as_bytes());
        files.iter().map(|(path, text)| (MemoryPath::new(path).unwrap(), hash(text))).collect()
    }

    fn fates(planned: &[Planned]) -> Vec<(&str, &Fate)> {
        planned.iter().map(|planned| (planned.path.as_str(), &planned.fate)).collect()
    }

    #[test]
    fn nothing_that_is_there_is_overwritten_and_nothing_comes_in_twice() {
        let there = standing(&[("a.md", "old"), ("b.md", "same"), ("c.md", "mine"), ("c-2.md", "theirs")]);
        let files = vec![
            incoming("a.md", "new"),
            incoming("b.md", "same"),
            incoming("c.md", "theirs"),
            incoming("d.md", "d"),
        ];
        let (planned, edits) = plan(files, &there);
        assert_eq!(
            fates(&planned),
            [
                ("a-2.md", &Fate::Renamed),
                ("b.md", &Fate::Same),
                ("c-2.md", &Fate::Same),
                ("d.md", &Fate::Enters)
            ]
        );
        assert_eq!(edits.len(), 2);
    }

    #[test]
    fn a_numbered_name_is_not_taken_from_a_file_that_has_it_and_case_does_not_tell_two_apart() {
        let files = vec![incoming("A.md", "1"), incoming("a.md", "2"), incoming("a-2.md", "3")];
        let (planned, _) = plan(files, &Standing::new());
        assert_eq!(
            fates(&planned),
            [("A.md", &Fate::Enters), ("a-3.md", &Fate::Renamed), ("a-2.md", &Fate::Enters)]
        );
    }

    #[test]
    fn the_name_inside_follows_the_file_and_every_other_byte_stays() {
        let text = "---\r\nname: a\r\ndescription: d # c\r\ntype: project\r\nx: [1,  2]\r\n---\r\nbody";
        let (planned, edits) = plan(vec![incoming("a.md", text)], &standing(&[("a.md", "other")]));
        assert_eq!(planned[0].path.as_str(), "a-2.md");
        let Edit::Create { text: written, .. } = &edits[0] else { panic!("{edits:?}") };
        assert_eq!(String::from_utf8_lossy(written), text.replace("name: a\r", "name: a-2\r"));
    }

    #[test]
    fn what_a_gate_refuses_stays_out_alone() {
        let shared = "---\nname: a\ndescription: d\ntype: user\nmetadata:\n  scope: team\n---\n\nbody\n";
        let (planned, edits) = plan(vec![incoming("a.md", shared), incoming("b.md", "x")], &Standing::new());
        assert!(matches!(&planned[0].fate, Fate::Refused(why) if why.contains("private")), "{planned:?}");
        assert_eq!(edits.len(), 1);
    }
}
