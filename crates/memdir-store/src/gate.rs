//! What the gates know besides the vault: the user's day, the project around it, what counts as a secret.
//!
//! Rules are decided in `memdir_core::policy`; a [`Gate`] only brings together what they need. Every writer has one.

use std::cell::RefCell;
use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use memdir_core::change::{ChangeSet, Edit};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{Document, Memory};
use memdir_core::policy::{Review, Version, against, brought, is_said_now, said};
use memdir_core::secrets::{Scanner, redact};
use memdir_core::worth::{self, Evidence};

use crate::surroundings::Surroundings;

/// What a writer judges new texts by.
#[derive(Debug)]
pub struct Gate {
    /// Where the user's clock hangs: decides which day "tomorrow" is.
    pub zone: TimeZone,
    /// The project around the vault; none for a vault that stands alone.
    pub surroundings: Option<Surroundings>,
    /// What counts as a secret.
    pub scanner: Scanner,
    /// Whether the user wants to be asked about what agents write.
    pub review: Review,
    /// What was looked up already, by the text.
    known: RefCell<BTreeMap<ContentHash, Evidence>>,
}

impl Default for Gate {
    /// A gate without a project or settings, in UTC.
    fn default() -> Self {
        Self::new(TimeZone::UTC, None, Scanner::builtin(), Review::default())
    }
}

impl Gate {
    /// Brings together what the gates know.
    pub fn new(zone: TimeZone, surroundings: Option<Surroundings>, scanner: Scanner, review: Review) -> Self {
        Self { zone, surroundings, scanner, review, known: RefCell::default() }
    }

    /// Does the slow part of judging a change set, so that nobody waits for it once the vault is locked: tables are
    /// taken apart, the project is asked. What it finds is only remembered; the door judges.
    pub fn look_ahead(&self, set: &ChangeSet) {
        if !is_said_now(set.author) {
            return;
        }
        for edit in &set.edits {
            let (path, text, base) = match edit {
                Edit::Create { path, text } => (path, text, None),
                Edit::Replace { path, base, text } => (path, text, Some(base)),
                Edit::Rename { .. } | Edit::Remove { .. } => continue,
            };
            let document = Document::parse(text);
            let (memory, problems) = Memory::read(path, &document);
            let said = said(Version { document: &document, memory: &memory, problems: &problems });
            let evidence = self.evidence(&said);
            let brought = base.map(|base| brought(&said, &Document::parse(base)));
            if let Some(memory_type) = memory.memory_type {
                drop(against(brought.as_deref().unwrap_or(&said), memory_type, &self.scanner, &evidence));
            }
        }
    }

    /// Returns the user's time.
    pub(crate) fn at(&self, now: Timestamp) -> Zoned {
        now.to_zoned(self.zone.clone())
    }

    /// Returns what the project shows of what `text` mentions.
    pub fn evidence(&self, text: &str) -> Evidence {
        let Some(surroundings) = &self.surroundings else { return Evidence::default() };
        let look_up = || surroundings.evidence(&worth::mentions(text), Some(&worth::fingerprint(text)));
        self.known.borrow_mut().entry(ContentHash::of(text.as_bytes())).or_insert_with(look_up).clone()
    }

    /// Returns `text` without its secrets, and whether there were any.
    pub fn redacted(&self, text: &str) -> (String, bool) {
        let findings = self.scanner.scan(text.as_bytes());
        let redacted = redact(text.as_bytes(), &findings);
        (String::from_utf8_lossy(&redacted).into_owned(), !findings.is_empty())
    }

    /// Notes that a debugging story was refused. If that fails, its return goes unnoticed, and nothing else.
    pub(crate) fn record_refused(&self, text: &str, now: Timestamp) {
        if let Some(surroundings) = &self.surroundings {
            let _ = surroundings.record_refused(&worth::fingerprint(text), now);
        }
    }
}
