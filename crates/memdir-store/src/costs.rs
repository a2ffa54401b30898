//! What background work has cost, and what it may still cost.
//!
//! Each run leaves one line, its [`Receipt`], in `costs/<machine>-<month>.jsonl`; the lines are the truth, and nothing but
//! an erased name ever leaves them. Before a request is made, its highest price is put down as reserved in
//! `costs/book.json`, under a kernel lock, so that processes at the same time cannot spend the same dollar; what it took
//! replaces the reservation. A process that was killed while it waited for an answer may have spent all of it, so that is
//! what its receipt says. Look at [`CostBook::reserve`], [`CostBook::spend`], [`CostBook::close`].

mod receipt;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::budget::{self, Caps, Decision, Price, SessionSpending, Spending, Usd};
use serde::{Deserialize, Serialize};

use crate::disk::{Dir, random_hex};
use crate::ledger;
use crate::lock::{Lock, LockError};
use crate::place::settings::UserSettings;
use crate::queue::Process;

pub use receipt::{Counted, Job, Receipt, RunEnd, RunOutcome};

const DIR: &str = "costs";
const BOOK: &str = "book.json";
const LOCK: &str = "costs.lock";
/// No book is larger.
const MAX_BOOK: u64 = 4 << 20;
/// So many sessions are remembered; the cap of a day holds for older ones.
const MAX_SESSIONS: usize = 500;

/// The receipts of one user, and what the user allows.
#[derive(Debug, Clone)]
pub struct CostBook {
    home: PathBuf,
    caps: Caps,
    price: Option<Price>,
}

/// A session on whose account a run asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTokens {
    /// Which.
    pub id: String,
    /// What its own agent's requests have read and written up to now.
    pub tokens: u64,
}

/// A run that asks a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its own name.
    pub id: String,
    /// What it is for.
    pub job: Job,
    /// Whom it asks.
    pub model: String,
    /// On whose account, if a session's.
    pub session: Option<SessionTokens>,
}

/// Why the book could not be kept. Then nothing may be spent.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// Somebody held the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system said no.
    #[error("could not keep the book in {}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// What stands in the book beside the receipts.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Book {
    #[serde(default)]
    runs: Vec<OpenRun>,
    #[serde(default)]
    sessions: BTreeMap<String, SessionSum>,
    /// The day on which the user was last told of each cap that was reached.
    #[serde(default)]
    told: BTreeMap<String, String>,
}

/// A run that has not left its receipt.
#[derive(Debug, Serialize, Deserialize)]
struct OpenRun {
    run: String,
    job: Job,
    model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    process: Process,
    counted: Counted,
    reserved: Counted,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct SessionSum {
    tokens: u64,
    t: Timestamp,
}

impl Run {
    /// Begins a run.
    pub fn new(job: Job, model: &str, session: Option<SessionTokens>) -> io::Result<Self> {
        Ok(Self { id: random_hex()?, job, model: model.to_owned(), session })
    }
}

impl CostBook {
    /// Uses the book below a state root, with what the user allows.
    pub fn new(home: &Path, settings: &UserSettings) -> Self {
        Self { home: home.to_owned(), caps: settings.budget, price: settings.model.price }
    }

    /// Uses it with other caps.
    #[must_use]
    pub fn with_caps(self, caps: Caps) -> Self {
        Self { caps, ..self }
    }

    /// Returns what may be spent.
    pub fn caps(&self) -> &Caps {
        &self.caps
    }

    /// Returns the price that the user states for their model.
    pub fn stated_price(&self) -> Option<Price> {
        self.price
    }

    /// Puts down what a request of `run` costs at most, if that fits under the caps.
    pub fn reserve(&self, run: &Run, most: Counted, now: Timestamp) -> Result<Decision, BookError> {
        self.change(now, |book, receipts| {
            let today = receipts.spending + book.runs.iter().map(OpenRun::spending).sum();
            let session = run
                .session
                .as_ref()
                .map(|session| SessionSpending { own: session.tokens, spent: book.of_session(&session.id) });
            let decision = budget::decide(&self.caps, today, session, most.spending());
            if decision == Decision::Allowed {
                book.open(run).reserved = most;
            }
            decision
        })
    }

    /// Puts down what a request of `run` took, in place of what was reserved for it.
    pub fn spend(&self, run: &Run, took: Counted, now: Timestamp) -> Result<(), BookError> {
        self.change(now, |book, _| {
            let open = book.open(run);
            open.counted = open.counted + took;
            open.reserved = Counted::default();
            if let Some(session) = &run.session {
                book.add_to_session(&session.id, took.spending().tokens, now);
            }
        })
    }

    /// Ends a run: leaves its receipt, if it asked anything, and returns it.
    pub fn close(&self, run: &Run, end: RunEnd, now: Timestamp) -> Result<Option<Receipt>, BookError> {
        self.change_with(now, |book, _| {
            let Some(at) = book.runs.iter().position(|open| open.run == run.id) else { return Ok(None) };
            let counted = book.runs.remove(at).counted;
            let session = run.session.as_ref().map(|session| session.id.as_str());
            let receipt = Receipt::new(now, &run.id, run.job, &run.model, counted, end, session);
            self.append(&receipt)?;
            Ok(Some(receipt))
        })
    }

    /// Leaves the receipt of a run that asked no model: it cost nothing.
    pub fn note_free(
        &self,
        job: Job,
        session: Option<&str>,
        ms: u64,
        mems: &[String],
        now: Timestamp,
    ) -> Result<Receipt, BookError> {
        let id = random_hex().map_err(|err| self.failed(err))?;
        let end = RunEnd { outcome: RunOutcome::Ok, ms, mems: mems.to_vec(), refused: 0 };
        let receipt = Receipt::new(now, &id, job, "none", Counted::default(), end, session);
        let _lock = Lock::acquire(&self.home.join("locks"), LOCK)?;
        self.append(&receipt)?;
        Ok(receipt)
    }

    /// Returns what was spent on the day of `now`, runs that are not over included.
    pub fn today(&self, now: Timestamp) -> io::Result<Spending> {
        let receipts = self.receipts_of_day(now)?;
        let book = self.read();
        let open = book.runs.iter().filter(|open| !receipts.runs.contains(&open.run));
        Ok(receipts.spending + open.map(OpenRun::spending).sum())
    }

    /// Says whether the user is to be told today that a cap was reached: the first who asks is told yes.
    pub fn tell(
        &self,
        decision: &Decision,
        session: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, BookError> {
        let what = match decision {
            Decision::Allowed => return Ok(false),
            Decision::DayMoney { .. } => "day-money".to_owned(),
            Decision::DayTokens { .. } => "day-tokens".to_owned(),
            Decision::SessionTokens { .. } => format!("session {}", session.unwrap_or_default()),
        };
        let today = day(now);
        if self.read().told.get(&what) == Some(&today) {
            return Ok(false);
        }
        self.change(now, |book, _| {
            book.told.retain(|_, told| *told == today);
            book.told.insert(what, today).is_none()
        })
    }

    /// Returns the receipts of a month, or all, oldest first. Lines that cannot be read are passed over.
    pub fn receipts(&self, month: Option<&str>) -> io::Result<Vec<Receipt>> {
        let mut receipts = Vec::new();
        self.for_each_line(month, |line| receipts.extend(serde_json::from_str::<Receipt>(line)))?;
        let mut seen = BTreeSet::new();
        receipts.retain(|receipt| seen.insert(receipt.run.clone()));
        receipts.sort_by_key(|receipt| receipt.t);
        Ok(receipts)
    }

    fn receipts_of_day(&self, now: Timestamp) -> io::Result<OfDay> {
        let (month, day) = (now.strftime("%Y-%m").to_string(), day(now));
        let mut sum = OfDay::default();
        self.for_each_line(Some(&month), |line| {
            // Most lines are of other days, and need not be parsed.
            if line.contains(&day)
                && let Ok(receipt) = serde_json::from_str::<Receipt>(line)
                && self::day(receipt.t) == day
                && sum.runs.insert(receipt.run.clone())
            {
                sum.spending = sum.spending + receipt.spending();
            }
        })?;
        Ok(sum)
    }

    fn for_each_line(&self, month: Option<&str>, mut visit: impl FnMut(&str)) -> io::Result<()> {
        let dir = match Dir::open(&self.home.join(DIR)) {
            Ok(dir) => dir,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(err) => return Err(err),
        };
        let mut names = Vec::new();
        let end = format!("{}.jsonl", month.map(|month| format!("-{month}")).unwrap_or_default());
        dir.for_each(|name, _| names.extend(name.ends_with(&end).then(|| name.to_owned())))?;
        names.sort();
        for name in names {
            let Ok(Some((file, _))) = dir.open_file(&name) else { continue };
            for line in BufReader::new(file).split(b'\n') {
                if let Ok(line) = str::from_utf8(&line?) {
                    visit(line);
                }
            }
        }
        Ok(())
    }

    fn append(&self, receipt: &Receipt) -> Result<(), BookError> {
        let write = || -> io::Result<()> {
            let home = Dir::ensure(&self.home)?;
            let dir = home.ensure_sub(DIR)?;
            let name = format!("{}-{}.jsonl", ledger::machine(&home, &dir)?, receipt.t.strftime("%Y-%m"));
            dir.append_line(&name, &serde_json::to_string(receipt)?)
        };
        write().map_err(|err| self.failed(err))
    }

    fn read(&self) -> Book {
        let read = Dir::open(&self.home.join(DIR)).ok().and_then(|dir| dir.read(BOOK, MAX_BOOK).ok()?);
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn change<T>(&self, now: Timestamp, change: impl FnOnce(&mut Book, &OfDay) -> T) -> Result<T, BookError> {
        self.change_with(now, |book, receipts| Ok(change(book, receipts)))
    }

    /// Changes the book under the lock, after runs of dead processes have left their receipts.
    fn change_with<T>(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut Book, &OfDay) -> Result<T, BookError>,
    ) -> Result<T, BookError> {
        let _lock = Lock::acquire(&self.home.join("locks"), LOCK)?;
        let mut book = self.read();
        let before = serde_json::to_vec(&book).unwrap_or_default();
        let mut receipts = self.receipts_of_day(now).map_err(|err| self.failed(err))?;
        // Killed between the receipt and the book.
        book.runs.retain(|open| !receipts.runs.contains(&open.run));
        for lost in book.take_lost(now) {
            self.append(&lost.receipt(now))?;
            receipts.spending = receipts.spending + lost.spending();
        }
        let result = change(&mut book, &receipts)?;
        book.forget_old_sessions();
        let after = serde_json::to_vec(&book).unwrap_or_default();
        if after != before {
            let write = Dir::ensure(&self.home).and_then(|home| home.ensure_sub(DIR)?.replace(BOOK, &after));
            write.map_err(|err| self.failed(err))?;
        }
        Ok(result)
    }

    fn failed(&self, source: io::Error) -> BookError {
        BookError::Io { path: self.home.join(DIR), source }
    }
}

/// The receipts of one day.
#[derive(Debug, Default)]
struct OfDay {
    spending: Spending,
    runs: BTreeSet<String>,
}

impl Book {
    /// Returns the entry of a run, making it on its first request.
    fn open(&mut self, run: &Run) -> &mut OpenRun {
        let at = self.runs.iter().position(|open| open.run == run.id).unwrap_or_else(|| {
            self.runs.push(OpenRun {
                run: run.id.clone(),
                job: run.job,
                model: run.model.clone(),
                session: run.session.as_ref().map(|session| session.id.clone()),
                process: Process::own(),
                counted: Counted::default(),
                reserved: Counted::default(),
            });
            self.runs.len() - 1
        });
        &mut self.runs[at]
    }

    /// What was spent for a session, with what is reserved for it now.
    fn of_session(&self, id: &str) -> u64 {
        let reserved = self.runs.iter().filter(|open| open.session.as_deref() == Some(id));
        let reserved: u64 = reserved.map(|open| open.reserved.spending().tokens).sum();
        self.sessions.get(id).map_or(0, |sum| sum.tokens).saturating_add(reserved)
    }

    fn add_to_session(&mut self, id: &str, tokens: u64, now: Timestamp) {
        let sum = self.sessions.entry(id.to_owned()).or_insert(SessionSum { tokens: 0, t: now });
        *sum = SessionSum { tokens: sum.tokens.saturating_add(tokens), t: now };
    }

    /// Takes out the runs whose processes are gone; what was reserved for them counts as spent.
    fn take_lost(&mut self, now: Timestamp) -> Vec<OpenRun> {
        let (alive, gone): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.runs).into_iter().partition(|open| open.process.is_running());
        self.runs = alive;
        for open in &gone {
            if let Some(session) = &open.session {
                self.add_to_session(session, open.reserved.spending().tokens, now);
            }
        }
        gone
    }

    fn forget_old_sessions(&mut self) {
        while self.sessions.len() > MAX_SESSIONS {
            let oldest = self.sessions.iter().min_by_key(|(_, sum)| sum.t).map(|(id, _)| id.clone());
            self.sessions.remove(&oldest.unwrap_or_default());
        }
    }
}

impl OpenRun {
    fn spending(&self) -> Spending {
        self.counted.spending() + self.reserved.spending()
    }

    fn receipt(&self, now: Timestamp) -> Receipt {
        let counted = self.counted + self.reserved;
        let (outcome, session) = (RunOutcome::Lost, self.session.as_deref());
        let end = RunEnd { outcome, ms: 0, mems: Vec::new(), refused: 0 };
        Receipt::new(now, &self.run, self.job, &self.model, counted, end, session)
    }
}

/// Takes the names of erased memories out of every receipt below a state root. What the runs cost stays.
pub fn erase_names(home: &Path, names: &BTreeSet<&str>) -> io::Result<()> {
    let dir = match Dir::open(&home.join(DIR)) {
        Ok(dir) => dir,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(err),
    };
    let _lock = Lock::acquire(&home.join("locks"), LOCK).map_err(io::Error::other)?;
    let mut files = Vec::new();
    dir.for_each(|name, _| files.extend(name.ends_with(".jsonl").then(|| name.to_owned())))?;
    for file in files {
        let bytes = dir.read(&file, u64::MAX >> 1).map_err(io::Error::other)?.unwrap_or_default();
        let scrubbed: Vec<u8> =
            bytes.split_inclusive(|&byte| byte == b'\n').flat_map(|line| scrub(line, names)).collect();
        if scrubbed != bytes {
            dir.replace(&file, &scrubbed)?;
        }
    }
    Ok(())
}

/// Returns a line without these names; one that has none of them, or cannot be read, as it is.
fn scrub(line: &[u8], names: &BTreeSet<&str>) -> Vec<u8> {
    let is_erased = |name: &String| names.contains(name.as_str());
    match serde_json::from_slice::<Receipt>(line) {
        Ok(mut receipt) if receipt.mems.iter().any(is_erased) => {
            for name in receipt.mems.iter_mut().filter(|name| is_erased(name)) {
                "erased".clone_into(name);
            }
            let mut line = serde_json::to_vec(&receipt).unwrap_or_default();
            line.push(b'\n');
            line
        }
        _ => line.to_vec(),
    }
}

/// The day of a moment, as receipts are summed by: the world's, so that machines agree.
pub fn day(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
}

/// Sums receipts.
pub fn sum<'r>(receipts: impl Iterator<Item = &'r Receipt>) -> Spending {
    receipts.map(Receipt::spending).fold(Spending { tokens: 0, usd: Usd(0) }, |sum, next| sum + next)
}

#[cfg(test)]
mod tests;
