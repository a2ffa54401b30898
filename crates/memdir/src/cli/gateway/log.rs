//! What was asked and how it went, a line a request, in a file for each conversation.
//!
//! No line holds a text of a conversation or a key: times, numbers and the name of the route are written. Only the last of these is
//! made of what somebody sent, so the last look at what leaves is taken at it, once a route. A thread of its own writes, so that no
//! answer waits for a disk; what it cannot keep up with is lost.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use memdir_core::hash::ContentHash;
use memdir_server::gateway::Entry;
use memdir_store::disk::Dir;

use super::DIR;
use super::settled::Settings;
use crate::outlet;
use crate::ui::Ui;

/// The directory of the lines, in that of the gateway.
const LOGS: &str = "log";
/// A file that grows beyond this is begun anew; the one before it is kept.
const MAX_FILE: u64 = 1 << 20;
/// So many files are kept.
const MAX_FILES: usize = 400;
/// So many lines wait to be written.
const WAITING: usize = 8_192;
/// Lines are gathered for so long: under load it costs more to wake a writer and to open a file than to write.
pub(super) const PAUSE: Duration = Duration::from_millis(25);
/// As many routes are known; the others are looked through each time.
const MAX_ROUTES: usize = 256;
/// Old files are looked for once in so many lots of lines.
const SWEEP: usize = 1_000;

/// Writes lines down.
pub(super) struct Log;

impl Log {
    /// Begins to write, and returns what is called for every request.
    pub(super) fn start(settings: &Settings, is_told: bool) -> impl Fn(&Entry) + Send + Sync + 'static {
        let (lines, waiting) = sync_channel(WAITING);
        let home = settings.home().to_owned();
        let lines: Option<SyncSender<(String, String)>> = (!settings.is_off()).then_some(lines);
        if lines.is_some() {
            std::thread::spawn(move || write(&home, &waiting));
        }
        let routes = Routes::default();
        move |entry| {
            let line = line(entry, &routes.clean(&entry.route));
            if is_told {
                Ui::complain(&format!("{line}\n"));
            }
            if let Some(lines) = &lines {
                let _ = lines.try_send((file_name(entry), line));
            }
        }
    }
}

fn write(home: &Path, waiting: &Receiver<(String, String)>) {
    let open = || Dir::ensure(home)?.ensure_sub(DIR)?.ensure_sub(LOGS);
    // Nobody can be told, and nothing is lost that anybody needs.
    let Ok(dir) = open() else { return };
    let mut n_lots: usize = 0;
    while let Ok(first) = waiting.recv() {
        if n_lots.is_multiple_of(SWEEP) {
            let _ = sweep(&dir);
        }
        n_lots += 1;
        std::thread::sleep(PAUSE);
        // What came meanwhile goes with it: a file is opened and looked through once for all of its lines.
        let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, line) in std::iter::once(first).chain(waiting.try_iter().take(WAITING)) {
            files.entry(name).or_default().push(line);
        }
        for (name, lines) in files {
            let _ = append(&dir, &name, &lines.join("\n"));
        }
    }
}

fn append(dir: &Dir, name: &str, line: &str) -> io::Result<()> {
    if dir.stat(name)?.is_some_and(|stat| stat.size > MAX_FILE) {
        dir.rename(name, dir, &format!("{name}.before"))?;
    }
    dir.append_line(name, line)
}

/// Takes the oldest files away.
fn sweep(dir: &Dir) -> io::Result<()> {
    let mut names = Vec::new();
    dir.for_each(|name, _| names.push(name.to_owned()))?;
    let age = |name: &String| std::fs::metadata(dir.path().join(name)).and_then(|file| file.modified()).ok();
    names.sort_by_key(age);
    let n_too_many = names.len().saturating_sub(MAX_FILES);
    names.iter().take(n_too_many).try_for_each(|name| dir.remove(name))
}

/// Conversations have ids of all kinds, so that files are named by their hash.
fn file_name(entry: &Entry) -> String {
    match &entry.note.conversation {
        Some(id) => format!("{}.log", ContentHash::of(id.as_bytes()).short()),
        None => "other.log".to_owned(),
    }
}

/// Routes without secrets, as they were seen before.
#[derive(Debug, Default)]
struct Routes {
    clean: Mutex<HashMap<String, String>>,
}

impl Routes {
    fn clean(&self, route: &str) -> String {
        let mut known = self.clean.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(clean) = known.get(route) {
            return clean.clone();
        }
        let clean = outlet::clean(route).into_owned();
        if known.len() < MAX_ROUTES {
            known.insert(route.to_owned(), clean.clone());
        }
        clean
    }
}

fn line(entry: &Entry, route: &str) -> String {
    let Entry { at, status, first, took, down, note, usage, .. } = entry;
    let (ended, first, took) = (entry.ended(), first.as_millis(), took.as_millis());
    let mut line =
        format!("{at} {route} {status} {ended}, first byte {first} ms, all {took} ms, {down} bytes");
    if !note.kind.is_empty() {
        line += &format!(", {}: {} bytes of memory, {} as before", note.kind, note.injected, note.replayed);
    }
    if let Some(usage) = usage {
        line += &format!(", tokens {} in ({} cached), {} out", usage.input, usage.cached, usage.output);
    }
    line
}
