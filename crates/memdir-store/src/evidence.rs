//! What became of memories that a session was shown: signs of use, and of none.
//!
//! Whoever watches a session (a command, a hook) says what happened in it: a file was read or edited, an answer was given,
//! the user agreed. [`note`] finds the memories that this speaks for and writes it into the ledger, once for each session
//! and manner; [`end`] notes for the others that they were shown in vain. [`crate::usage`] makes strength of it. No memory
//! file is touched, and a ledger that cannot be written is no error: it costs a lesson, not an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;
use memdir_core::change::Surface;
use memdir_core::glob;
use memdir_core::memory::MemoryPath;

use crate::ledger::{Event, EventKind, How};
use crate::vault::Vault;

/// Something that happened in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign<'a> {
    /// A file was read: in full for a memory, from the project's root for any other.
    Read(&'a str),
    /// A file was edited, named likewise.
    Edited(&'a str),
    /// Somebody said something that may name memories.
    Said(&'a str),
    /// The user agreed with the memory of this name.
    Confirmed(&'a str),
}

/// The session in which something happened.
#[derive(Debug, Clone, Copy)]
pub struct Witness<'a> {
    /// The session.
    pub session: &'a str,
    /// The time.
    pub now: Timestamp,
    /// Through which part of memdir.
    pub by: Surface,
}

/// What the ledger has of one session.
#[derive(Debug, Default)]
struct Seen {
    shown: BTreeSet<String>,
    used: BTreeMap<String, BTreeSet<How>>,
    ignored: BTreeSet<String>,
}

impl Seen {
    fn of(vault: &Vault, session: &str) -> Self {
        let mut seen = Self::default();
        let visit = |event: Event| {
            if event.sid.as_deref() != Some(session) {
                return;
            }
            match event.ev {
                EventKind::Surfaced => drop(seen.shown.insert(event.mem)),
                EventKind::Used => {
                    seen.used.entry(event.mem).or_default().extend(event.how);
                }
                EventKind::Ignored => drop(seen.ignored.insert(event.mem)),
                _ => {}
            }
        };
        if let Some(ledger) = vault.ledger() {
            // What cannot be read was not seen.
            let _ = ledger.for_each(visit);
        }
        seen
    }
}

/// Notes what `signs` say about memories of `vaults`, and returns their names with the manner of use; what was noted for
/// the session before is not noted again.
pub fn note(vaults: &[Vault], signs: &[Sign<'_>], witness: &Witness<'_>) -> Vec<(String, How)> {
    let mut noted = Vec::new();
    if signs.is_empty() {
        return noted;
    }
    for vault in vaults {
        let seen = Seen::of(vault, witness.session);
        let mut uses = BTreeSet::new();
        for sign in signs {
            uses.extend(meaning(vault, &seen, sign));
        }
        let is_known =
            |(name, how): &(String, How)| seen.used.get(name).is_some_and(|hows| hows.contains(how));
        uses.retain(|found| !is_known(found));
        let event =
            |(name, how): &(String, How)| Event { how: Some(*how), ..witness.event(EventKind::Used, name) };
        append(vault, &uses.iter().map(event).collect::<Vec<_>>());
        noted.extend(uses);
    }
    noted
}

/// Notes, at the end of a session, which memories it was shown and made no use of; returns their names.
pub fn end(vaults: &[Vault], witness: &Witness<'_>) -> Vec<String> {
    let mut in_vain = Vec::new();
    for vault in vaults {
        let mut seen = Seen::of(vault, witness.session);
        seen.shown.retain(|name| !seen.used.contains_key(name) && !seen.ignored.contains(name));
        let event = |name: &String| witness.event(EventKind::Ignored, name);
        append(vault, &seen.shown.iter().map(event).collect::<Vec<_>>());
        in_vain.extend(seen.shown);
    }
    in_vain
}

impl Witness<'_> {
    fn event(&self, kind: EventKind, name: &str) -> Event {
        let sid = Some(self.session.to_owned());
        Event { sid, by: Some(self.by), ..Event::new(self.now, kind, name) }
    }
}

fn append(vault: &Vault, events: &[Event]) {
    if !events.is_empty()
        && let Ok(ledger) = vault.ensure_ledger()
    {
        // Not being able to write costs a lesson.
        let _ = ledger.append(events);
    }
}

/// Returns the memories of a vault that a sign speaks for.
fn meaning(vault: &Vault, seen: &Seen, sign: &Sign<'_>) -> Vec<(String, How)> {
    match sign {
        Sign::Read(file) => memory_of(vault, file).map(|name| (name, How::Read)).into_iter().collect(),
        Sign::Edited(file) => match memory_of(vault, file) {
            Some(name) => vec![(name, How::Edited)],
            None => shown_for(vault, seen, file).map(|name| (name, How::EditedRelated)).collect(),
        },
        Sign::Said(text) => {
            let cited = seen.shown.iter().filter(|name| is_cited(name, text));
            cited.map(|name| (name.clone(), How::Cited)).collect()
        }
        Sign::Confirmed(name) => match load(vault, &format!("{name}.md")) {
            Some(name) => vec![(name, How::Confirmed)],
            None => Vec::new(),
        },
    }
}

/// Returns the name of the memory that a file is, if it is one of this vault.
fn memory_of(vault: &Vault, file: &str) -> Option<String> {
    let file = Path::new(file);
    let below = |root: &Path| file.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned);
    let path = below(vault.path()).or_else(|| below(&vault.path().canonicalize().ok()?))?;
    load(vault, &path)
}

fn load(vault: &Vault, path: &str) -> Option<String> {
    let path = MemoryPath::new(path).ok()?;
    vault.load(&path).ok()?.map(|loaded| loaded.path.stem().to_owned())
}

/// Finds the memories that the session was shown and whose paths have the file that was edited.
fn shown_for<'s>(vault: &'s Vault, seen: &'s Seen, file: &'s str) -> impl Iterator<Item = String> + 's {
    let is_for = move |name: &&String| {
        let path = MemoryPath::new(&format!("{name}.md")).ok();
        let loaded = path.and_then(|path| vault.load(&path).ok().flatten());
        loaded.is_some_and(|loaded| loaded.memory.paths.iter().any(|glob| glob::matches(glob, file)))
    };
    seen.shown.iter().filter(is_for).cloned()
}

/// Says whether a text names a memory: as a link, as a file, or, if the name is more than a plain word, by itself.
fn is_cited(name: &str, text: &str) -> bool {
    if text.contains(&format!("[[{name}]]")) || text.contains(&format!("{name}.md")) {
        return true;
    }
    let is_plain_word = !name.contains(['-', '_']);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let stands_alone = |(at, _): (usize, &str)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    };
    !is_plain_word && text.match_indices(name).any(stands_alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::Usage;

    /// A vault with three memories, two of which a session was shown.
    fn world() -> (tempfile::TempDir, Vault) {
        let temp = tempfile::tempdir().unwrap();
        let vault = Vault::create(&temp.path().join("state"), "p", &temp.path().join("vault")).unwrap();
        for (name, more) in
            [("feedback-real-db", "  paths:\n    - db/**\n"), ("project-freeze", ""), ("testing", "")]
        {
            let text = format!(
                "---\nname: {name}\ndescription: d\ntype: project\nmetadata:\n  tags: [x]\n{more}---\n\nText.\n"
            );
            std::fs::write(vault.path().join(format!("{name}.md")), text).unwrap();
        }
        let shown = ["feedback-real-db", "project-freeze", "testing"];
        let events: Vec<Event> =
            shown.iter().map(|name| witness("s1").event(EventKind::Surfaced, name)).collect();
        append(&vault, &events);
        (temp, vault)
    }

    fn witness(session: &str) -> Witness<'_> {
        Witness { session, now: "2026-04-02T12:00:00Z".parse().unwrap(), by: Surface::Hook }
    }

    fn noted(vault: &Vault, signs: &[Sign<'_>]) -> Vec<(String, How)> {
        note(std::slice::from_ref(vault), signs, &witness("s1"))
    }

    #[test]
    fn each_sign_speaks_for_its_memory_once() {
        let (_temp, vault) = world();
        let file = vault.path().join("project-freeze.md");
        let read = [Sign::Read(file.to_str().unwrap())];
        assert_eq!(noted(&vault, &read), [("project-freeze".to_owned(), How::Read)]);
        assert_eq!(noted(&vault, &read), [], "said before");
        let edited = [Sign::Edited("db/migrate.rs"), Sign::Edited("web/app.ts")];
        assert_eq!(noted(&vault, &edited), [("feedback-real-db".to_owned(), How::EditedRelated)]);
        let said =
            [Sign::Said("As feedback-real-db says, no mocks; testing matters; project-freeze-2 does not.")];
        assert_eq!(noted(&vault, &said), [("feedback-real-db".to_owned(), How::Cited)]);
        assert_eq!(noted(&vault, &[Sign::Said("see [[testing]]")]), [("testing".to_owned(), How::Cited)]);
        let agreed =
            [Sign::Confirmed("testing"), Sign::Confirmed("../../etc/passwd"), Sign::Confirmed("nothing")];
        assert_eq!(noted(&vault, &agreed), [("testing".to_owned(), How::Confirmed)]);
        let usage = Usage::of(&vault, None, witness("s2").now);
        assert_eq!((usage.get("feedback-real-db").used, usage.get("testing").used), (2, 2));
    }

    /// DS-02.
    #[test]
    fn what_a_session_was_shown_in_vain_is_noted_at_its_end_and_once() {
        let (_temp, vault) = world();
        noted(&vault, &[Sign::Said("[[testing]]")]);
        let vaults = [vault];
        assert_eq!(end(&vaults, &witness("s1")), ["feedback-real-db", "project-freeze"]);
        assert_eq!(end(&vaults, &witness("s1")), [""; 0]);
        assert_eq!(end(&vaults, &witness("s2")), [""; 0], "another session was shown nothing");
        let usage = Usage::of(&vaults[0], None, witness("s1").now);
        assert_eq!((usage.get("project-freeze").ignored, usage.get("testing").ignored), (1, 0));
        assert!(usage.get("project-freeze").stability() < 1.0 && usage.get("testing").stability() > 1.0);
    }
}
