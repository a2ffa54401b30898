//! What was said, in an index: so that a search reads and embeds only what is new.
//!
//! The index is derived and may be deleted at any time. It holds of each turn its hashed words and where it points, and no
//! text; but that is still something of what was said, so there is one only where the user agreed to copies
//! (`transcripts.keep`), secrets are redacted before a turn enters it, and it goes with the copies.
//!
//! ```text
//!   s:<session>          how far the session was read, and how its file looked then
//!   t:<session>:<turn>   a turn: words, length, its place in the session, its vector and those of its sentences
//! ```
//!
//! Look at [`Transcripts::heard`] first.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use memdir_core::embed::{self, DIMENSIONS, Row};
use memdir_core::hash::ContentHash;
use memdir_core::secrets::Scanner;
use memdir_core::terms::Term;
use memdir_core::transcript::Turn;
use memdir_core::turns::{Member, Question, Stored};
use serde::{Deserialize, Serialize};

use super::cursor::Cursor;
use super::search::{Heard, MAX_TURNS, as_turn, is_likely, nearness};
use super::{Session, Transcripts, clean};
use crate::disk::Dir;
use crate::index::{self, DocId, Entry, Index, IndexError, Options, Stamp, Writer};
use crate::lock::Lock;

/// Changes whenever what is kept is written in another way, or a text is read in another way. A test notices.
const VERSION: u8 = 2;

/// How far a session was read.
#[derive(Debug, Serialize, Deserialize)]
struct Progress {
    version: u8,
    /// Where to read on, in a host's file that only grew.
    cursor: Option<Cursor>,
    /// How many turns were found.
    n_turns: u32,
}

impl Transcripts {
    /// Returns the turns of these sessions up to a time, in their order, with what each has of a question. Only what is
    /// new since the last call is read.
    pub(super) fn heard(
        &self,
        sessions: &[Session],
        question: &Question,
        until: Option<Timestamp>,
        scanner: &Scanner,
    ) -> Result<Vec<Heard>, IndexError> {
        let index = self.listen(sessions, scanner)?;
        match recollect(&index, sessions, question, until) {
            Err(err) if err.asks_for_rebuild() => {}
            heard => return heard,
        }
        self.writer()?.rebuild([])?;
        recollect(&self.listen(sessions, scanner)?, sessions, question, until)
    }

    /// Removes the index, so that nothing of what it held is left.
    pub(super) fn forget_heard(&self) -> io::Result<()> {
        let Ok(dir) = Dir::open(&self.heard_directory()) else { return Ok(()) };
        let _lock = Lock::acquire(dir.path(), index::LOCK).map_err(io::Error::other)?;
        let mut names = Vec::new();
        dir.for_each(|name, _| names.push(name.to_owned()))?;
        // Whoever waits for the lock waits for this very file.
        names.iter().filter(|name| *name != index::LOCK).try_for_each(|name| dir.remove(name))
    }

    fn heard_directory(&self) -> PathBuf {
        self.home.join("index").join(format!("{}.turns", self.id))
    }

    fn writer(&self) -> Result<Writer, IndexError> {
        Writer::open(&self.heard_directory(), Options::new(embed::centroids()))
    }

    /// Opens the index after everything that is new was read into it.
    fn listen(&self, sessions: &[Session], scanner: &Scanner) -> Result<Index, IndexError> {
        let open = || Index::open(&self.heard_directory(), embed::centroids());
        if let Ok(index) = open()
            && let Ok(known) = known_sessions(&index)
            && news(sessions, &known).is_empty()
            && gone(sessions, &known).is_empty()
        {
            return Ok(index);
        }
        let mut writer = self.writer()?;
        let known = match writer.index().and_then(known_sessions) {
            Err(err) if err.asks_for_rebuild() => {
                writer.rebuild([])?;
                HashMap::new()
            }
            known => known?,
        };
        for session in news(sessions, &known) {
            let (entries, removals) = read(writer.index()?, session, scanner)?;
            writer.apply(entries, removals)?;
        }
        for session in gone(sessions, &known) {
            let removals = keys_of(writer.index()?, session)?;
            writer.apply(Vec::new(), removals.into_iter().collect())?;
        }
        drop(writer);
        open()
    }
}

/// Returns the sessions that an index has, each with how its files looked.
fn known_sessions(index: &Index) -> Result<HashMap<String, [u8; 32]>, IndexError> {
    let mut known = HashMap::new();
    index.each_stamp(|_, key, stamp| {
        if let Some(session) = key.strip_prefix("s:") {
            known.insert(session.to_owned(), stamp.sha256);
        }
    })?;
    Ok(known)
}

/// Returns the sessions that an index does not show as they are.
fn news<'s>(sessions: &'s [Session], known: &HashMap<String, [u8; 32]>) -> Vec<&'s Session> {
    sessions.iter().filter(|session| known.get(&session.id) != Some(&look(session))).collect()
}

/// Returns the sessions of an index that are no longer there.
fn gone<'k>(sessions: &[Session], known: &'k HashMap<String, [u8; 32]>) -> Vec<&'k str> {
    let there: HashSet<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    known.keys().map(String::as_str).filter(|session| !there.contains(session)).collect()
}

/// Says how the files of a session look.
fn look(session: &Session) -> [u8; 32] {
    let file = session.file.as_ref().map(|file| (file.inode, file.size, file.modified_ns));
    let kept = session.kept.as_ref().map(|kept| (kept.size, kept.modified));
    let text = format!("{VERSION} {file:?} {kept:?} {}", session.is_rewritten);
    *ContentHash::of(text.as_bytes()).as_bytes()
}

/// Reads what is new in a session, and says what of the index goes.
fn read(
    index: &Index,
    session: &Session,
    scanner: &Scanner,
) -> Result<(Vec<Entry>, Vec<String>), IndexError> {
    let mut reading = Reading { index, session, scanner, progress: None, turns: Vec::new() };
    let before = reading.progress()?;
    let went_on = before.is_some_and(|before| reading.go_on(before).is_some());
    let mut removals = HashSet::new();
    if !went_on {
        removals = keys_of(index, &session.id)?;
        reading.begin_anew();
    }
    let entries = reading.entries()?;
    entries.iter().for_each(|entry| _ = removals.remove(&entry.key));
    Ok((entries, removals.into_iter().collect()))
}

/// A session that is being read.
struct Reading<'r> {
    index: &'r Index,
    session: &'r Session,
    scanner: &'r Scanner,
    progress: Option<Progress>,
    turns: Vec<Turn>,
}

impl Reading<'_> {
    /// Returns how far the session was read.
    fn progress(&self) -> Result<Option<Progress>, IndexError> {
        let Some(doc) = self.index.by_key(&session_key(&self.session.id))? else { return Ok(None) };
        let progress: Option<Progress> = serde_json::from_slice(&self.index.doc(doc)?.payload).ok();
        Ok(progress.filter(|progress| progress.version == VERSION))
    }

    /// Reads on where the host only wrote more; `None` if it did something else.
    fn go_on(&mut self, before: Progress) -> Option<()> {
        let file = self.session.file.as_ref().filter(|_| !self.session.is_rewritten)?;
        let mut cursor = before.cursor.filter(|cursor| cursor.is_of(file))?;
        let mut turns = file.turns_from(cursor.offset).ok()?;
        self.turns = turns.by_ref().collect();
        cursor.offset = turns.offset();
        self.progress = Some(Progress { cursor: Some(cursor), ..before });
        Some(())
    }

    /// Reads all of it. What cannot be read is tried again when it looks different.
    fn begin_anew(&mut self) {
        let file = self.session.file.as_ref().filter(|_| !self.session.is_rewritten);
        let cursor = file.and_then(|file| {
            let mut cursor = Cursor::new(file).ok()?;
            let mut turns = file.turns().ok()?;
            self.turns = turns.by_ref().collect();
            cursor.offset = turns.offset();
            Some(cursor)
        });
        if cursor.is_none() {
            self.turns = self.session.turns().map(Iterator::collect).unwrap_or_default();
        }
        self.progress = Some(Progress { version: VERSION, cursor, n_turns: 0 });
    }

    /// Makes entries of the turns and of how far they go. A turn that comes again takes the place of its earlier form.
    fn entries(self) -> Result<Vec<Entry>, IndexError> {
        let Some(mut progress) = self.progress else { return Ok(Vec::new()) };
        let went_on = progress.n_turns > 0;
        let mut places: HashMap<String, u32> = HashMap::new();
        let mut entries: HashMap<String, Entry> = HashMap::new();
        for turn in self.turns.into_iter().filter(|turn| !turn.text.trim().is_empty()) {
            let key = turn_key(&self.session.id, &turn.uuid);
            let earlier = match places.get(&key) {
                Some(place) => Some(*place),
                None if went_on => place_of(self.index, &key)?,
                None => None,
            };
            let place = earlier.unwrap_or(progress.n_turns);
            progress.n_turns += u32::from(earlier.is_none());
            places.insert(key.clone(), place);
            entries.insert(key.clone(), entry(key, clean(turn, self.scanner).0, place));
        }
        let mut entries: Vec<Entry> = entries.into_values().collect();
        entries.push(Entry {
            key: session_key(&self.session.id),
            stamp: Stamp { sha256: look(self.session), ..Stamp::default() },
            facets: vec![facet(&self.session.id)],
            payload: serde_json::to_vec(&progress).map_err(io::Error::from)?,
            ..Entry::default()
        });
        entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        Ok(entries)
    }
}

fn session_key(session: &str) -> String {
    format!("s:{session}")
}

fn turn_key(session: &str, turn: &str) -> String {
    format!("t:{session}:{turn}")
}

fn facet(session: &str) -> u64 {
    Term::of(&format!("session:{session}")).value()
}

/// Returns the keys of everything that an index has of a session.
fn keys_of(index: &Index, session: &str) -> Result<HashSet<String>, IndexError> {
    index.facet(facet(session))?.into_iter().map(|doc| index.key(doc)).collect()
}

/// Returns where in its session a turn stands that an index has.
fn place_of(index: &Index, key: &str) -> Result<Option<u32>, IndexError> {
    let Some(doc) = index.by_key(key)? else { return Ok(None) };
    Ok(read_payload(&index.doc(doc)?.payload).map(|found| found.0.turn.position))
}

/// Makes the entry of a turn that stands at a place of its session.
fn entry(key: String, turn: Turn, place: u32) -> Entry {
    let turn = as_turn(turn, place);
    let indexed = turn.indexed();
    let sentences = Stored::read(&indexed.payload).map(|stored| stored.sentences).unwrap_or_default();
    let facets = vec![facet(&turn.session)];
    let stored = Stored { turn: memdir_core::turns::Turn { text: String::new(), ..turn }, sentences };
    let mut payload = vec![u8::from(indexed.row.is_some())];
    payload.extend(indexed.row.unwrap_or([0; DIMENSIONS]).map(i8::cast_unsigned));
    payload.extend(stored.to_payload());
    Entry {
        key,
        terms: indexed.terms.iter().map(|(term, count)| (term.value(), *count)).collect(),
        facets,
        length: indexed.length,
        payload,
        ..Entry::default()
    }
}

/// Reads what [`entry`] wrote.
fn read_payload(payload: &[u8]) -> Option<(Stored, Option<Row>)> {
    let (has_row, rest) = payload.split_first()?;
    let (row, rest) = rest.split_first_chunk::<DIMENSIONS>()?;
    Some((Stored::read(rest)?, (*has_row == 1).then(|| row.map(u8::cast_signed))))
}

/// Returns the turns of these sessions as if they had just been read.
fn recollect(
    index: &Index,
    sessions: &[Session],
    question: &Question,
    until: Option<Timestamp>,
) -> Result<Vec<Heard>, IndexError> {
    let counts = counts(index, question)?;
    let places: HashMap<&str, usize> =
        (0..).zip(sessions).map(|(at, session)| (session.id.as_str(), at)).collect();
    let mut heard = Vec::new();
    let mut is_broken = false;
    index.each_doc(|id, doc| {
        if !doc.key.starts_with("t:") {
            return;
        }
        let Some((mut stored, row)) = read_payload(&doc.payload) else {
            is_broken = true;
            return;
        };
        let at = stored.turn.date.parse::<Timestamp>().ok();
        let is_later = until.zip(at).is_some_and(|(until, at)| at > until);
        let Some(&session) = places.get(stored.turn.session.as_str()).filter(|_| !is_later) else { return };
        let counts = counts.get(&id).cloned().unwrap_or_else(|| vec![0; question.terms().len()]);
        let nearness = nearness(question, row.as_ref());
        if !is_likely(nearness, &counts) {
            stored.sentences = Vec::new();
        }
        let uuid = stored.turn.id.clone();
        let member = Member { stored, length: doc.length, row };
        heard.push(Heard { session, uuid, member, counts, nearness });
    })?;
    if is_broken {
        return Err(IndexError::OtherVersion);
    }
    heard.sort_by_key(|one| (one.session, one.member.stored.turn.position));
    // The session that goes beyond the limit is heard to its end.
    if let Some(last) = heard.get(MAX_TURNS - 1).map(|one| one.session) {
        heard.retain(|one| one.session <= last);
    }
    Ok(heard)
}

/// Returns how often each turn has the terms of a question, in their order.
fn counts(index: &Index, question: &Question) -> Result<HashMap<DocId, Vec<u16>>, IndexError> {
    let mut counts: HashMap<DocId, Vec<u16>> = HashMap::new();
    let mut postings = Vec::new();
    for (at, term) in question.terms().iter().enumerate() {
        index.postings_into(term.value(), &mut postings)?;
        for posting in &postings {
            let of_turn = counts.entry(posting.doc).or_insert_with(|| vec![0; question.terms().len()]);
            of_turn[at] = posting.weight;
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use memdir_core::transcript::Role;

    use super::*;

    /// An index of an older memdir is read anew when texts are read in another way.
    #[test]
    fn what_a_turn_becomes_changes_only_with_the_version() {
        let turn = Turn {
            session: "s".to_owned(),
            at: "2026-05-08T10:00:00Z".parse().ok(),
            role: Role::User,
            text: "We moved the invoices to SQLite. Die Migration läuft nachts.".to_owned(),
            cwd: None,
            branch: None,
            uuid: "u".to_owned(),
        };
        let entry = entry("t:s:u".to_owned(), turn, 3);
        let terms = entry.terms.iter().flat_map(|(term, n)| [*term, u64::from(*n)]);
        let mut bytes: Vec<u8> = terms.flat_map(u64::to_le_bytes).collect();
        bytes.extend(&entry.payload);
        expect_test::expect!["2 4e9511dd"].assert_eq(&format!("{VERSION} {:08x}", crc32fast::hash(&bytes)));
        let (stored, row) = read_payload(&entry.payload).unwrap();
        assert_eq!((stored.turn.position, stored.turn.text.as_str(), stored.sentences.len()), (3, "", 2));
        assert!(row.is_some());
        assert!(read_payload(&entry.payload[..entry.payload.len() - 1]).is_none());
    }
}
