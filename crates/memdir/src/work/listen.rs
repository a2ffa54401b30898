//! Ears of the daemon: for what is written here, and for what a team server has new.
//!
//! A project that shares its memories has one ear. What is written here is noticed by a look at a few times every second, and
//! waited for until it is calm. A server is asked to answer when it has something, on a thread of its own, which does nothing
//! but wish for a sync: the daemon carries it out like any other job.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use memdir_net::team::Server;
use memdir_store::disk;
use memdir_store::place::Environment;
use memdir_store::queue::{Job, Kind, Queue};
use memdir_store::team::{Joined, Remote, RemoteError, Store, all_joined};

use super::places;
use crate::cli::team::Team;
use crate::context::{self, Context};
use crate::ui::Ui;

/// Between two looks at what was joined.
const LOOK: Duration = Duration::from_secs(10);
/// What is written here has been calm for as long before it is sent.
const CALM: Duration = Duration::from_secs(2);
/// A sync that was wished for is not wished for again for as long.
const AGAIN: Duration = Duration::from_secs(30);
/// More servers are not listened to; they are synced every few minutes.
const MAX_EARS: usize = 32;
/// After an answer that came too soon, or none.
const PAUSE: Duration = Duration::from_secs(3);
/// A server that does not answer is asked no more rarely than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// The ears of a daemon.
#[derive(Default)]
pub(crate) struct Ears {
    by_project: BTreeMap<String, Ear>,
    looked: Option<Instant>,
}

/// One project's.
struct Ear {
    joined: Joined,
    store: Store,
    vault: PathBuf,
    wish: Wish,
    /// Since when something here waits to be sent.
    behind: Option<Instant>,
    wished: Option<Instant>,
    is_over: Arc<AtomicBool>,
}

/// What it takes to wish for a sync.
#[derive(Clone)]
struct Wish {
    queue: Queue,
    job: Job,
}

impl Wish {
    fn push(&self) {
        let now = context::now();
        // If it cannot be pushed the next look wishes again.
        let _ = self.queue.push(&Job { pushed: now, due: now, ..self.job.clone() });
    }
}

impl Ears {
    /// Listens once: to what was joined and left since, and to what is written here.
    pub(crate) fn prick_up(&mut self, home: &Path, env: &Environment) {
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            self.looked = Some(Instant::now());
            self.grow(home, env);
        }
        for ear in self.by_project.values_mut() {
            ear.listen_here();
        }
    }

    /// Has an ear for each project that shares and is not switched off, and for no other.
    fn grow(&mut self, home: &Path, env: &Environment) {
        let joined: BTreeMap<String, Joined> = all_joined(home).unwrap_or_default().into_iter().collect();
        let contexts = if joined.is_empty() { Vec::new() } else { places(env).unwrap_or_default() };
        let wanted: BTreeMap<String, &Context> = contexts
            .iter()
            .filter(|context| context.place.settings.team.auto)
            .map(|context| (context.place.project.id.to_string(), context))
            .collect();
        let is_same = |project: &String, ear: &mut Ear| joined.get(project) == Some(&ear.joined);
        self.by_project.retain(|project, ear| wanted.contains_key(project) && is_same(project, ear));
        for (project, context) in wanted {
            if let Some(joined) = joined.get(&project).filter(|_| !self.by_project.contains_key(&project)) {
                let listens = self.by_project.len() < MAX_EARS;
                self.by_project.insert(project, Ear::new(joined, context, listens));
            }
        }
    }
}

impl Ear {
    fn new(joined: &Joined, context: &Context, listens: bool) -> Self {
        let wish =
            Wish { queue: Queue::of(&context.place), job: Job::new(Kind::Sync, &context.place, context.now) };
        let (store, is_over) = (Store::below(&context.place.state_dir()), Arc::new(AtomicBool::new(false)));
        let ui = Ui::new(false, true);
        let server = Team::new(joined.clone(), context, &ui).and_then(|team| team.server(context));
        if let Ok(Some(server)) = server
            && listens
        {
            let (store, wish, is_over) = (store.clone(), wish.clone(), Arc::clone(&is_over));
            // Without a thread it is synced every few minutes.
            let _ = thread::Builder::new()
                .name("ear".to_owned())
                .spawn(move || listen_there(server, &store, &wish, &is_over));
        }
        let vault = context.place.vault.clone();
        Self { joined: joined.clone(), store, vault, wish, behind: None, wished: None, is_over }
    }

    /// Wishes for a sync when what is written here has become calm.
    fn listen_here(&mut self) {
        if !self.store.is_behind(&self.vault) {
            self.behind = None;
            return;
        }
        let is_calm = self.behind.get_or_insert_with(Instant::now).elapsed() >= CALM;
        if is_calm && self.wished.is_none_or(|wished| wished.elapsed() >= AGAIN) {
            self.wished = Some(Instant::now());
            self.wish.push();
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Waits for news of a server, as long as somebody wants to know.
fn listen_there(mut server: Server, store: &Store, wish: &Wish, is_over: &AtomicBool) {
    let remote = server.about().id.clone();
    let mut pause = PAUSE;
    while !is_over.load(Ordering::Relaxed) {
        let Some(cursor) = store.cursor(&remote) else {
            // It was never synced, which the daemon's first look does.
            thread::sleep(PAUSE);
            continue;
        };
        let asked = Instant::now();
        match server.has_news(&cursor) {
            Ok(true) | Err(RemoteError::CursorGone { .. }) => {
                wish.push();
                let until = Instant::now() + AGAIN;
                while store.cursor(&remote).as_ref() == Some(&cursor) && Instant::now() < until {
                    thread::sleep(Duration::from_millis(500));
                }
                pause = PAUSE;
            }
            // It had nothing to say for a while, as it should.
            Ok(false) if asked.elapsed() >= PAUSE => pause = PAUSE,
            Ok(false) => thread::sleep(PAUSE),
            Err(_) => {
                thread::sleep(with_chance(pause));
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Adds up to half of a pause by chance, so that not everybody comes back at once.
fn with_chance(pause: Duration) -> Duration {
    let mut byte = [0; 1];
    let share = disk::random(&mut byte).map_or(0.0, |()| f64::from(byte[0]) / 510.0);
    pause.mul_f64(1.0 + share)
}
