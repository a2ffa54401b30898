//! From a moment in a session to what is put before the model.
//!
//! Every way into a session (the command, hooks, a server) goes through [`remind`], so that the session's budget, what it has
//! seen already, trust, verification and the ledger are the same everywhere. No memory file is touched.

use std::fmt;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memdir_core::change::Surface;
use memdir_core::claims::{OLD_AFTER_DAYS, Verification};
use memdir_core::frame::{self, Item, defused, enclosed, frame, shown_len};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{MemoryPath, Provenance, Status};
use memdir_core::recall::{Hit, MAX_SHOWN, Moment, Note, Trigger, Weights, recall, triggers};
use memdir_core::text::{age, age_days, visible_line};

use crate::disk::Dir;
use crate::dream::asked;
use crate::evidence::{self, Sign, Witness};
use crate::ledger::{self, Event, EventKind};
use crate::notes::{self, Notes, NotesError, Upkeep};
use crate::place::{Environment, Place};
use crate::usage::Usage;
use crate::vault::{Loaded, Vault};
use crate::verify::{Cache, Subject, Verifier};

/// How many bytes of memories a session is shown.
pub const BUDGET: u64 = 32 * 1024;

/// Why nothing more is shown when that is used up.
const SPENT: &str = "the session's budget is spent";

/// Who asks, where and when.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The project.
    pub place: &'a Place,
    /// What the process was started with.
    pub env: &'a Environment,
    /// The time.
    pub now: Timestamp,
    /// Decides which day it is.
    pub zone: &'a TimeZone,
    /// The session; without one nothing is remembered of what was shown.
    pub session: Option<&'a str>,
    /// Through which part of memdir.
    pub by: Surface,
    /// When there is no time left: what is not done by then is left out.
    pub until: Option<Instant>,
}

/// A memory that came to mind.
#[derive(Debug)]
pub struct Reminder {
    /// The place of its vault among those that were asked.
    pub vault: usize,
    /// What speaks for it.
    pub hit: Hit,
    /// What around the prompt called it up.
    pub triggers: Vec<Trigger>,
    /// The memory as it is now.
    pub loaded: Loaded,
    /// What it takes of the session's budget: the bytes that are shown of it.
    pub n_bytes: u64,
}

/// What came to mind, and what did not get through.
#[derive(Debug, Default)]
pub struct Reminded {
    /// The memories, the most probable first.
    pub shown: Vec<Reminder>,
    /// Names of others, and why they are not shown.
    pub skipped: Vec<(String, &'static str)>,
    /// The memories framed for a model; empty if there are none.
    pub text: String,
    /// How many bytes the session has been shown, these included.
    pub n_bytes: u64,
    /// The vaults whose index was damaged and built anew.
    pub rebuilt: Vec<usize>,
    /// How many memories were compared by what the index has of them; only those that are shown are opened.
    pub n_considered: usize,
    /// Whether the time was over before everything was looked at.
    pub is_late: bool,
    /// Whether something was found that the session has seen already.
    pub has_known: bool,
    /// The words that it was asked by.
    pub asked: String,
    /// What a look at the claims of those that are shown saw, by vault; kept once they were shown.
    seen: Vec<(usize, Subject, Verification)>,
}

/// Somebody who chooses among what recall found: places, in the order in which they are shown.
pub type Choice<'c> = dyn FnMut(&[&Note]) -> Vec<usize> + 'c;

/// Of the time that there is, as much is kept for handing the answer over.
const RESERVE: f64 = 0.2;

/// Says what a session should be reminded of, and notes that it was.
pub fn remind(vaults: &[Vault], moment: &Moment, asker: &Asker<'_>) -> Result<Reminded, NotesError> {
    let reminded = look(vaults, moment, asker)?;
    reminded.record(vaults, asker);
    Ok(reminded)
}

/// Does the same within a time, whatever happens: who stalls or fails is not waited for, and the answer is what there was
/// until then, or nothing.
///
/// The work is done by a thread of its own, so that a file system that hangs holds up nobody. What it finds too late is
/// not shown, and so it is not noted either.
pub fn remind_within(time: Duration, vaults: &[Vault], moment: &Moment, asker: &Asker<'_>) -> Reminded {
    let until = Instant::now() + time.mul_f64(1.0 - RESERVE);
    let (sender, receiver) = mpsc::sync_channel(1);
    let (place, env, zone) = (asker.place.clone(), asker.env.clone(), asker.zone.clone());
    let (session, now, by) = (asker.session.map(str::to_owned), asker.now, asker.by);
    let (own_vaults, moment) = (vaults.to_vec(), moment.clone());
    let work = move || {
        let (session, until) = (session.as_deref(), Some(until));
        let asker = Asker { place: &place, env: &env, now, zone: &zone, session, by, until };
        // Nobody may be listening any more.
        let _ = sender.send(look(&own_vaults, &moment, &asker));
    };
    let started = thread::Builder::new().name("recall".to_owned()).spawn(work);
    let answer = started.ok().and_then(|_| receiver.recv_timeout(time).ok());
    match answer {
        Some(Ok(reminded)) => {
            reminded.record(vaults, asker);
            reminded
        }
        failed => Reminded { is_late: failed.is_none(), ..Reminded::default() },
    }
}

/// Says what a session should be reminded of, by the word of somebody who chooses among what recall found, and notes that
/// it was. Who chooses sees what the session was not shown yet, the most probable first, and is not asked where that is
/// nothing. It names places in its order; what it does not name is not shown, and it can add nothing.
pub fn remind_choosing(
    vaults: &[Vault],
    moment: &Moment,
    asker: &Asker<'_>,
    choose: &mut Choice<'_>,
) -> Result<Reminded, NotesError> {
    let reminded = look_choosing(vaults, moment, asker, Some(choose))?;
    reminded.record(vaults, asker);
    Ok(reminded)
}

/// Says what a session should be reminded of, and leaves it to the caller to [`Reminded::record`] that it was.
pub fn look(vaults: &[Vault], moment: &Moment, asker: &Asker<'_>) -> Result<Reminded, NotesError> {
    look_choosing(vaults, moment, asker, None)
}

fn look_choosing(
    vaults: &[Vault],
    moment: &Moment,
    asker: &Asker<'_>,
    choose: Option<&mut Choice<'_>>,
) -> Result<Reminded, NotesError> {
    let now = asker.now.to_zoned(asker.zone.clone());
    let weights = Weights::fitted();
    asker.learn(vaults, moment);
    let mut reminded = Reminded { asked: moment.prompt.clone(), ..Reminded::default() };
    let mut found: Vec<(usize, Hit)> = Vec::new();
    let mut usages = Vec::with_capacity(vaults.len());
    for (at, vault) in vaults.iter().enumerate() {
        if asker.is_late() {
            reminded.is_late = true;
            break;
        }
        let usage = Usage::of(vault, asker.session, asker.now);
        let question = |notes: &Notes| recall(notes, moment, &now, &weights, &usage);
        let (recalled, upkeep) = notes::ask_until(vault, asker.until, question)?;
        if upkeep == Upkeep::Rebuilt {
            reminded.rebuilt.push(at);
        }
        reminded.n_considered += recalled.hits.len() + recalled.skipped.len();
        found.extend(recalled.hits.into_iter().map(|hit| (at, hit)));
        let skipped = recalled.skipped.into_iter().take(MAX_SHOWN);
        reminded.skipped.extend(skipped.map(|(hit, why)| (hit.note.name, why.as_str())));
        reminded.n_bytes += usage.n_bytes();
        usages.push(usage);
    }
    found.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then_with(|| a.1.note.name.cmp(&b.1.note.name)));
    if let Some(choose) = choose {
        found = reminded.chosen(found, &usages, choose);
    }
    for (at, hit) in found {
        let triggers = triggers(&hit.note, moment, &now);
        reminded.take(&vaults[at], at, hit, triggers, &usages[at]);
    }
    if !reminded.shown.is_empty() {
        reminded.frame(vaults, &usages, asker);
    }
    Ok(reminded)
}

impl Asker<'_> {
    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Returns how long a look at one memory's claims may take; `None` if nobody waits.
    fn patience(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()) / 3)
    }

    /// Notes what the moment says about memories that the session was shown earlier.
    fn learn(&self, vaults: &[Vault], moment: &Moment) {
        let Some(session) = self.session else { return };
        let witness = Witness { session, now: self.now, by: self.by };
        let is_memory = |file: &&String| vaults.iter().any(|vault| Path::new(file).starts_with(vault.path()));
        let mut signs: Vec<Sign> =
            moment.files.iter().filter(is_memory).map(|file| Sign::Read(file)).collect();
        // A name of several words is worth a look at the ledger; most prompts have none.
        signs.extend(moment.prompt.contains(['-', '_', '[']).then_some(Sign::Said(&moment.prompt)));
        evidence::note(vaults, &signs, &witness);
    }
}

impl Reminded {
    /// Keeps what somebody chooses, in that order; the others are passed over by name.
    fn chosen(
        &mut self,
        found: Vec<(usize, Hit)>,
        usages: &[Usage],
        choose: &mut Choice<'_>,
    ) -> Vec<(usize, Hit)> {
        let is_known = |(at, hit): &(usize, Hit)| {
            usages[*at].was_shown(&hit.note.name) || usages[*at].was_read(&hit.note.name)
        };
        let (known, new): (Vec<_>, Vec<_>) = found.into_iter().partition(is_known);
        if new.is_empty() {
            return known;
        }
        let notes: Vec<&Note> = new.iter().map(|(_, hit)| &hit.note).collect();
        let places = choose(&notes);
        let mut new: Vec<Option<(usize, Hit)>> = new.into_iter().map(Some).collect();
        let mut kept: Vec<(usize, Hit)> =
            places.into_iter().filter_map(|place| new.get_mut(place).and_then(Option::take)).collect();
        self.skipped
            .extend(new.into_iter().flatten().map(|(_, hit)| (hit.note.name, "the model left it out")));
        kept.extend(known);
        kept
    }

    /// Takes a memory in if the session has not seen it and has room for it.
    fn take(&mut self, vault: &Vault, at: usize, hit: Hit, triggers: Vec<Trigger>, usage: &Usage) {
        self.has_known |= usage.was_shown(&hit.note.name) || usage.was_read(&hit.note.name);
        match self.admit(vault, &hit, usage) {
            Ok(loaded) => {
                let n_bytes = at_most(&loaded);
                self.n_bytes += n_bytes;
                self.shown.push(Reminder { vault: at, hit, triggers, loaded, n_bytes });
            }
            Err(why) => self.skipped.push((hit.note.name, why)),
        }
    }

    /// Opens a memory that may be shown, or says why it may not; what is not shown is not even read.
    fn admit(&self, vault: &Vault, hit: &Hit, usage: &Usage) -> Result<Loaded, &'static str> {
        if usage.was_shown(&hit.note.name) {
            return Err("shown in this session already");
        }
        if usage.was_read(&hit.note.name) {
            return Err("read in this session already");
        }
        if self.shown.len() >= MAX_SHOWN {
            return Err("no room");
        }
        let path = MemoryPath::new(&hit.note.path).ok();
        let loaded = path.and_then(|path| vault.load(&path).ok().flatten()).ok_or("its file is gone")?;
        match () {
            () if loaded.memory.quarantined => Err("not trusted yet"),
            // A stranger asked for it; it is on its way to the inbox.
            () if usage.said_by(loaded.hash) == Provenance::Tool && !vault.is_accepted(loaded.hash) => {
                Err("not trusted yet")
            }
            () if self.n_bytes + at_most(&loaded) > BUDGET => Err(SPENT),
            () => Ok(loaded),
        }
    }

    /// Frames what is shown; what finds no room in one message is not shown.
    fn frame(&mut self, vaults: &[Vault], usages: &[Usage], asker: &Asker<'_>) {
        let verifier = Verifier::around(asker.place, asker.env, asker.now, asker.zone.clone());
        let caches: Vec<Cache> = vaults.iter().map(Cache::load).collect();
        let mut seen = Vec::new();
        let item = |reminder: &Reminder| {
            let (vault, usage) = (&vaults[reminder.vault], &usages[reminder.vault]);
            let subject = verifier.subject(vault, &reminder.loaded);
            let checked = match asker.patience() {
                _ if subject.claims.is_empty() => None,
                // There are claims, and no time to look at them.
                Some(Duration::ZERO) => Some(Verification::default()),
                patience => {
                    let patience = patience.unwrap_or(Duration::MAX);
                    let found = verifier.look_again(&subject, &caches[reminder.vault], patience);
                    seen.push((reminder.vault, subject, found.clone()));
                    Some(found)
                }
            };
            item(reminder, usage, checked.as_ref(), asker)
        };
        let items: Vec<Item> = self.shown.iter().map(item).collect();
        let (text, n_shown) = frame(&items, &machine_key(&vaults[self.shown[0].vault]));
        for reminder in self.shown.drain(n_shown..) {
            self.n_bytes -= reminder.n_bytes;
            self.skipped.push((reminder.hit.note.name, "no room in one message"));
        }
        for (reminder, item) in self.shown.iter_mut().zip(&items) {
            let n_bytes = shown_len(item) as u64;
            self.n_bytes = self.n_bytes - reminder.n_bytes + n_bytes;
            reminder.n_bytes = n_bytes;
        }
        self.seen = seen;
        self.text = text;
    }

    /// Notes what was shown; not being able to costs nothing but a repetition.
    pub fn record(&self, vaults: &[Vault], asker: &Asker<'_>) {
        for (at, vault) in vaults.iter().enumerate() {
            let shown = self.shown.iter().zip(1..).filter(|(reminder, _)| reminder.vault == at);
            let event = |(reminder, rank): (&Reminder, u32)| Event {
                sid: asker.session.map(str::to_owned),
                by: Some(asker.by),
                rank: Some(rank),
                bytes: Some(reminder.n_bytes),
                signals: reminder.triggers.iter().map(|trigger| trigger.kind.as_str().to_owned()).collect(),
                ..Event::new(asker.now, EventKind::Surfaced, &reminder.hit.note.name)
            };
            let events: Vec<Event> = shown.map(event).collect();
            if !events.is_empty()
                && let Ok(ledger) = vault.ensure_ledger()
            {
                let _ = ledger.append(&events);
                let names = events.into_iter().map(|event| event.mem).collect();
                let _ = asked::note(vault, &self.asked, names, asker.now);
            }
        }
        self.keep_seen(vaults, asker);
    }

    /// Says whether something was held back because the session has been shown enough.
    pub fn is_spent(&self) -> bool {
        self.skipped.iter().any(|(_, why)| *why == SPENT)
    }

    /// Keeps which claims were seen to hold, and at which commit: the next look knows what it has to find.
    fn keep_seen(&self, vaults: &[Vault], asker: &Asker<'_>) {
        if self.seen.is_empty() {
            return;
        }
        let verifier = Verifier::around(asker.place, asker.env, asker.now, asker.zone.clone());
        for (at, vault) in vaults.iter().enumerate() {
            let of_vault = self.seen.iter().filter(|(of, ..)| *of == at);
            let seen: Vec<_> = of_vault.map(|(_, subject, found)| (subject.clone(), found.clone())).collect();
            if !seen.is_empty() {
                verifier.remember(vault, &seen);
            }
        }
    }
}

/// Says how old a memory is, who said it and what of it still holds, for somebody who reads its file: the age stands on the
/// first line.
pub fn account(vault: &Vault, loaded: &Loaded, asker: &Asker<'_>) -> String {
    let checked = checked(vault, loaded, asker);
    let author = vault.author_of(loaded.hash);
    let said_by = Speaker { provenance: vault.said_by(loaded.hash), author: author.as_deref() };
    let (remarks, advice) = remarks(loaded, said_by, checked.as_ref(), asker.now, asker.zone);
    let head = format!("{}.md — {}", loaded.path.stem(), remarks.join(", "));
    let advice = advice
        .unwrap_or_else(|| "A record of its time: where the code differs, the code is right.".to_owned());
    enclosed(&defused(&visible_line(&head)), &defused(&advice), &machine_key(vault))
}

/// Looks at what a memory claims, for somebody who is about to read it; `None` if it claims nothing.
pub fn checked(vault: &Vault, loaded: &Loaded, asker: &Asker<'_>) -> Option<Verification> {
    let verifier = Verifier::around(asker.place, asker.env, asker.now, asker.zone.clone());
    let subject = verifier.subject(vault, loaded);
    let patience = asker.patience().unwrap_or(Duration::MAX);
    (!subject.claims.is_empty()).then(|| verifier.look_again(&subject, &Cache::load(vault), patience))
}

/// Says what was checked of a memory, in one clause, and what to do about it.
pub fn standing(loaded: &Loaded, checked: Option<&Verification>, now: Timestamp) -> (String, Option<String>) {
    let memory = &loaded.memory;
    let clause = match (checked, &memory.verified) {
        (Some(checked), _) if checked.checked.is_some() => checked.clause(now),
        (_, Some(verified)) => format!("checked {}", verified.date),
        _ => "not checked".to_owned(),
    };
    // What claims nothing that can be looked up is doubtful when it is old.
    let is_old = || age_days(loaded.modified(), now) > OLD_AFTER_DAYS;
    let unchecked = Verification::default();
    let doubtful = checked.or_else(|| is_old().then_some(&unchecked));
    (clause, doubtful.and_then(|checked| checked.advice(memory.verified.as_ref(), now)))
}

/// Returns this machine's secret, making it for the first frame: the mark of a frame must never change.
pub fn machine_key(vault: &Vault) -> Vec<u8> {
    // Where nothing can be written, the mark is one that can be guessed.
    let _ = vault.ensure_ledger();
    Dir::open(vault.home()).ok().and_then(|home| ledger::key(&home)).unwrap_or_default()
}

fn item(reminder: &Reminder, usage: &Usage, checked: Option<&Verification>, asker: &Asker<'_>) -> Item {
    let Reminder { hit, loaded, triggers, .. } = reminder;
    let mut item = described(loaded, Speaker::of(usage, loaded.hash), checked, asker.now, asker.zone);
    item.remarks.extend(triggers.first().map(|trigger| format!("because {}", trigger.text)));
    item.remarks.extend(hit.via.first().map(|via| format!("via [[{via}]]")));
    item
}

/// Who said a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speaker<'a> {
    /// What kind of speaker.
    pub provenance: Provenance,
    /// Which teammate, where it was one.
    pub author: Option<&'a str>,
}

impl<'a> Speaker<'a> {
    /// Looks up who said a version.
    pub fn of(usage: &'a Usage, hash: ContentHash) -> Self {
        Self { provenance: usage.said_by(hash), author: usage.author_of(hash) }
    }
}

impl fmt::Display for Speaker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Longer names say more than a name.
        const MAX_AUTHOR: usize = 64;
        match self.author.filter(|_| self.provenance == Provenance::Team) {
            Some(author) => {
                let name: String = visible_line(author).chars().take(MAX_AUTHOR).collect();
                write!(f, "{name} ({})", self.provenance)
            }
            None => self.provenance.fmt(f),
        }
    }
}

/// Describes a memory as it is put before a model, whoever asks: how old it is, who said it and what was checked come
/// first, then what it says, then what to make of it.
pub fn described(
    loaded: &Loaded,
    said_by: Speaker<'_>,
    checked: Option<&Verification>,
    now: Timestamp,
    zone: &TimeZone,
) -> Item {
    let (remarks, advice) = remarks(loaded, said_by, checked, now, zone);
    let advice = advice.map(|advice| format!("\n({advice})")).unwrap_or_default();
    Item {
        memory_type: loaded.memory.memory_type,
        file: format!("{}.md", loaded.path.stem()),
        remarks,
        text: text_of(loaded) + &advice,
    }
}

/// Returns what is said of a memory before its text, and what to do about it.
fn remarks(
    loaded: &Loaded,
    said_by: Speaker<'_>,
    checked: Option<&Verification>,
    now: Timestamp,
    zone: &TimeZone,
) -> (Vec<String>, Option<String>) {
    let memory = &loaded.memory;
    let mut remarks = vec![format!("saved {}", age(loaded.modified(), now))];
    remarks.push(format!("said by {said_by}"));
    let (clause, advice) = standing(loaded, checked, now);
    remarks.push(clause);
    remarks.extend(replaced(memory.status).map(str::to_owned));
    let today = now.to_zoned(zone.clone()).date();
    remarks.extend(memory.expires.filter(|day| *day <= today).map(|day| format!("ended {day}")));
    remarks.extend(memory.origin_project.as_ref().map(|origin| format!("learned in {origin}")));
    (remarks, advice)
}

/// Says that a memory is no longer meant; `None` if it is.
pub fn replaced(status: Status) -> Option<&'static str> {
    match status {
        Status::Active | Status::Draft => None,
        Status::Superseded => Some("superseded: another memory holds in its place"),
        Status::Deprecated => Some("deprecated: it holds no longer"),
    }
}

/// Returns what a memory says: its body, or its description where that is all.
fn text_of(loaded: &Loaded) -> String {
    let body = String::from_utf8_lossy(loaded.document.body());
    let text = if body.trim().is_empty() { &loaded.memory.description } else { body.trim() };
    text.to_owned()
}

/// Returns what a memory takes of a session's budget at most, before it is known what is said of it.
fn at_most(loaded: &Loaded) -> u64 {
    /// Room for its name, its age and what was checked.
    const REMARKS: usize = 200;
    (text_of(loaded).len().min(frame::MAX_TEXT) + REMARKS) as u64
}
