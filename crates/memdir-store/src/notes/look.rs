//! A look at every file of a vault, and what an index does not show of it.
//!
//! A look costs half a microsecond a file, nearly all of it the kernel's. In a large vault it is shared: one thread lists
//! names, others ask for the files' times, and one reads what the index knows. Names stay in a few large pieces of memory,
//! and only those that an index does not know are looked at as paths. In a very large one even that is too long, and a
//! [`Glance`] has to do: names and inodes, which the folders tell by themselves. Look at [`changes`] first.

use std::io;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use jiff::Timestamp;
use memdir_core::memory::MemoryPath;

use crate::disk::{Dir, Stat};
use crate::index::{DocId, Index, IndexError, Stamp};
use crate::vault::{Passed, Vault, walk};

/// A folder or file this young may change again without its time changing.
const RACY_NS: i128 = 50_000_000;
/// The time of a file that may have changed since without its time changing.
const RACY: i64 = 0;
/// So many names are handed to a thread at once; a vault with fewer needs no second one. Tests have no time for thousands.
const BATCH: usize = if cfg!(test) { 64 } else { 4_096 };
/// More threads than this wait for each other in the kernel.
const MAX_THREADS: usize = 7;

/// How closely files are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glance {
    /// Each of them.
    Whole,
    /// Those whose inode is another: that finds what was added, removed or replaced, and not what was written in place.
    Inodes,
}

/// A vault's files and folders at one time.
#[derive(Debug)]
pub(super) struct Look {
    batches: Vec<Batch>,
    /// Each folder, the root being empty, as it was before it was listed.
    folders: Vec<(String, Stat)>,
    /// When it began.
    began_ns: i128,
    /// How closely files were looked at.
    pub(super) glance: Glance,
}

/// What an index does not show yet.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) new: Vec<(MemoryPath, Stamp)>,
    pub(super) gone: Vec<String>,
}

impl Changes {
    /// Says whether the index shows everything.
    pub(super) fn is_none(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty()
    }
}

/// Looks at a vault and compares it with an index.
pub(super) fn changes(
    vault: &Vault,
    index: &Index,
    glance: Glance,
) -> io::Result<(Look, Result<Changes, IndexError>)> {
    if index.len() <= BATCH {
        let look = Look::at(vault, glance)?;
        let changes = known(index).and_then(|known| look.compare(index, known));
        return Ok((look, changes));
    }
    thread::scope(|scope| {
        let reader = thread::Builder::new().spawn_scoped(scope, || known(index));
        let look = Look::at(vault, glance)?;
        let known = match reader.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(known)) => known,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => known(index),
        };
        let changes = known.and_then(|known| look.compare(index, known));
        Ok((look, changes))
    })
}

/// Looks at some files by their paths, and compares each with how it looked when it was indexed.
pub(super) fn changed(vault: &Vault, known: &[(String, Stamp)]) -> Changes {
    let mut changes = Changes::default();
    for (key, before) in known {
        let stat = vault.dir().folder(key).and_then(|(folder, name)| folder.stat(name));
        let is_same = |stat: Stat| {
            (stat.inode, stat.size, stat.mtime_ns) == (before.inode, before.size, before.mtime_ns)
        };
        match (stat, MemoryPath::new(key)) {
            (Ok(Some(stat)), Ok(path)) if !is_same(stat) => {
                let print = (stat.inode, stat.size, stat.mtime_ns);
                changes.new.push((path, stamp(print, is_young(stat.mtime_ns))));
            }
            (Ok(None), _) => changes.gone.push(key.clone()),
            // What cannot be looked at is left as it was.
            _ => {}
        }
    }
    changes
}

/// A file as an index knows it: the hash of its path, how it looked, which document it is.
type Known = (u64, Print, DocId);
/// Inode, size and time of a file.
type Print = (u64, u64, i64);

/// Returns what an index knows, ascending by hash.
fn known(index: &Index) -> Result<Vec<Known>, IndexError> {
    let mut known = Vec::with_capacity(index.len());
    index.each_stamp(|doc, key, stamp| {
        known.push((hash(&[key]), (stamp.inode, stamp.size, stamp.mtime_ns), doc));
    })?;
    known.sort_unstable();
    Ok(known)
}

impl Look {
    /// Looks at every name of a vault.
    pub(super) fn at(vault: &Vault, glance: Glance) -> io::Result<Self> {
        let began_ns = now_ns();
        let (sender, receiver) = mpsc::channel::<Batch>();
        let receiver = Mutex::new(receiver);
        let done = Mutex::new(Vec::new());
        let work = || {
            while let Ok(mut batch) = hold(&receiver).recv() {
                batch.look(glance);
                hold(&done).push(batch);
            }
        };
        let folders = thread::scope(|scope| {
            let mut n_threads = None;
            let mut batch = Batch::default();
            let folders = walk(vault.dir(), |passed| {
                if let Some(full) = batch.add(passed) {
                    let left = n_threads.get_or_insert_with(n_others);
                    if let Some(fewer) = left.checked_sub(1) {
                        *left = fewer;
                        // Without a thread this one has more to do.
                        let _ = thread::Builder::new().spawn_scoped(scope, work);
                    }
                    // The receiver is ours.
                    let _ = sender.send(full);
                }
            });
            let _ = sender.send(batch);
            drop(sender);
            work();
            folders
        })?;
        let batches = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Self { batches, folders, began_ns, glance })
    }

    /// Returns every file that is a memory by its name, by path.
    pub(super) fn files(&self) -> Vec<(MemoryPath, Stamp)> {
        let all = self.batches.iter().flat_map(|batch| (0..batch.files.len()).map(move |at| (batch, at)));
        let mut files: Vec<_> = all.filter_map(|(batch, at)| batch.file(at)).collect();
        files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        files
    }

    /// Returns the folders with inode and time; `None` if one is so young that its time does not tell.
    pub(super) fn folders(&self) -> Option<Vec<(String, u64, i64)>> {
        let is_racy = |stat: &Stat| i128::from(stat.mtime_ns) > self.began_ns - RACY_NS;
        let is_future = |stat: &Stat| i128::from(stat.mtime_ns) > now_ns() + RACY_NS;
        if self.folders.iter().any(|(_, stat)| is_racy(stat) && !is_future(stat)) {
            return None;
        }
        let folder = |(name, stat): &(String, Stat)| (name.clone(), stat.inode, stat.mtime_ns);
        Some(self.folders.iter().map(folder).collect())
    }

    /// Returns what is new and gone beside what an index knows. Hashes only bring the two together: where one stands
    /// for several files, all of them are looked at.
    fn compare(&self, index: &Index, known: Vec<Known>) -> Result<Changes, IndexError> {
        let mut changes = Changes::default();
        let mut gone = Vec::new();
        let mut known = known.chunk_by(|a, b| a.0 == b.0).peekable();
        let seen = self.by_hash();
        for files in seen.chunk_by(|a, b| a.0 == b.0) {
            while let Some(missing) = known.next_if(|known| known[0].0 < files[0].0) {
                gone.extend(missing.iter().map(|(_, _, doc)| *doc));
            }
            let before = known.next_if(|known| known[0].0 == files[0].0).unwrap_or_default();
            if let ([(_, batch, at)], [(_, print, _)]) = (files, before)
                && self.batches[*batch as usize].files[*at as usize].is_as_known(print, self.glance)
            {
                continue;
            }
            let found: Vec<_> =
                files.iter().filter_map(|at| self.batches[at.1 as usize].file(at.2 as usize)).collect();
            for (_, _, doc) in before {
                let key = index.key(*doc)?;
                if !found.iter().any(|(path, _)| path.as_str() == key) {
                    changes.gone.push(key);
                }
            }
            changes.new.extend(found);
        }
        gone.extend(known.flatten().map(|(_, _, doc)| *doc));
        for doc in gone {
            changes.gone.push(index.key(doc)?);
        }
        changes.new.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        changes.gone.sort_unstable();
        Ok(changes)
    }

    /// Returns where each file is, ascending by hash. What vanished since it was listed is not there.
    fn by_hash(&self) -> Vec<(u64, u32, u32)> {
        let mut places = Vec::with_capacity(self.batches.iter().map(|batch| batch.files.len()).sum());
        for (number, batch) in (0..).zip(&self.batches) {
            let there = (0..).zip(&batch.files).filter(|(_, file)| file.is_there);
            places.extend(there.map(|(at, file)| (file.hash, number, at)));
        }
        places.sort_unstable();
        places
    }
}

/// Some files of one folder.
#[derive(Debug, Default)]
struct Batch {
    folder: Option<Dir>,
    prefix: String,
    /// Their names, one after the other.
    names: String,
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    /// Where its name ends.
    end: usize,
    hash: u64,
    /// Its inode, as the folder says.
    inode: u64,
    /// Whether it was still there when it was looked at.
    is_there: bool,
    /// How it looks; nothing where it is gone or only its inode was looked at.
    print: Option<Print>,
    /// Whether it was written so lately that its time cannot tell it from a later change.
    is_racy: bool,
}

impl File {
    /// Says whether it looks as an index knows it. A time that was left out there asks for a closer look.
    fn is_as_known(&self, known: &Print, glance: Glance) -> bool {
        match glance {
            Glance::Whole => self.print == Some(*known) && !self.is_racy,
            Glance::Inodes => self.inode == known.0 && known.2 != RACY,
        }
    }
}

impl Batch {
    /// Adds a file that may be a memory, and returns what was full before or is of another folder.
    fn add(&mut self, passed: &Passed<'_>) -> Option<Self> {
        if !passed.may_be_memory() {
            return None;
        }
        let is_full = self.files.len() >= BATCH;
        let is_other = self.folder.is_some() && self.prefix != passed.prefix;
        let full = (is_full || is_other).then(|| std::mem::take(self));
        if self.folder.is_none() {
            self.folder = Some(passed.folder.clone());
            passed.prefix.clone_into(&mut self.prefix);
        }
        self.names.push_str(passed.name);
        let (end, inode) = (self.names.len(), passed.inode);
        self.files.push(File { end, hash: 0, inode, is_there: true, print: None, is_racy: false });
        full
    }

    fn name(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.files[before].end);
        &self.names[start..self.files[at].end]
    }

    fn look(&mut self, glance: Glance) {
        for at in 0..self.files.len() {
            self.files[at].hash = hash(&[&self.prefix, self.name(at)]);
        }
        if glance == Glance::Whole {
            self.look_closely();
        }
    }

    fn look_closely(&mut self) {
        let Some(folder) = self.folder.clone() else { return };
        let began_ns = now_ns();
        for at in 0..self.files.len() {
            let print = print(&folder, self.name(at));
            let file = &mut self.files[at];
            (file.is_there, file.print) = (print.is_some(), print);
        }
        let young = began_ns - RACY_NS..now_ns() + RACY_NS;
        for file in &mut self.files {
            file.is_racy = file.print.is_some_and(|(_, _, mtime_ns)| young.contains(&i128::from(mtime_ns)));
        }
    }

    /// Returns a file that is there and has a memory's name.
    fn file(&self, at: usize) -> Option<(MemoryPath, Stamp)> {
        let file = &self.files[at];
        let path = MemoryPath::new(&format!("{}{}", self.prefix, self.name(at))).ok()?;
        if let Some(print) = file.print {
            return Some((path, stamp(print, file.is_racy)));
        }
        let print = print(self.folder.as_ref()?, self.name(at))?;
        Some((path, stamp(print, is_young(print.2))))
    }
}

/// Looks at one file; `None` if it is gone.
fn print(folder: &Dir, name: &str) -> Option<Print> {
    let stat = folder.stat(name).ok().flatten()?;
    Some((stat.inode, stat.size, stat.mtime_ns))
}

/// Says whether a file was written so lately that its time cannot tell it from a later change.
fn is_young(mtime_ns: i64) -> bool {
    (i128::from(mtime_ns) - now_ns()).abs() < RACY_NS
}

/// Returns the stamp of a file. One that may still change without its time changing gets a time that no look will find
/// again, so that the next one takes it up once more.
fn stamp((inode, size, mtime_ns): Print, is_racy: bool) -> Stamp {
    Stamp { inode, size, mtime_ns: if is_racy { RACY } else { mtime_ns }, sha256: [0; 32] }
}

/// Returns how many threads may help.
fn n_others() -> usize {
    thread::available_parallelism().map_or(0, |n| n.get() - 1).min(MAX_THREADS)
}

/// Takes hold of what threads share; who panicked with it left it whole.
fn hold<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now_ns() -> i128 {
    Timestamp::now().as_nanosecond()
}

/// Hashes a path that is given in pieces (FNV-1a).
fn hash(pieces: &[&str]) -> u64 {
    let bytes = pieces.iter().flat_map(|piece| piece.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
