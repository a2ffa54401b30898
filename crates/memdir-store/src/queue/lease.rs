//! Doing what waits: one worker a queue.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::job::{Failed, Job};
use super::post::Post;
use super::{FAILED, Queue, QueueError, RUNNING, WAITING};
use crate::disk::{Dir, TEMP_PREFIX};

/// A job is begun so often; then it is set aside.
pub const MAX_ATTEMPTS: u32 = 3;
/// After a fault a job waits so long, and twice as long the next time.
const PAUSE: SignedDuration = SignedDuration::from_secs(60);
/// What was set aside is shown for so long.
const KEEP_FAILED: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The reason for jobs that nobody came back from.
const DIED: &str = "whoever did it died in the middle of it, each time";

/// The right to work on a queue, until it is dropped.
#[derive(Debug)]
pub struct Lease {
    queue: Queue,
    dir: Dir,
    post: Post,
    /// What was begun under this lease: a job that failed is left to the next.
    begun: BTreeSet<String>,
}

/// A job that was taken.
#[derive(Debug)]
pub struct Claim {
    /// The job; this attempt is counted in it.
    pub job: Job,
    key: String,
}

impl Lease {
    pub(super) fn take(queue: &Queue) -> Result<Option<Self>, QueueError> {
        let Some(dir) = queue.open()? else { return Ok(None) };
        let Some(post) = Post::attempt(&queue.home, &queue.post())? else { return Ok(None) };
        let lease = Self { queue: queue.clone(), dir, post, begun: BTreeSet::new() };
        lease.tidy()?;
        Ok(Some(lease))
    }

    /// Takes the next job that may be done now; each once under a lease.
    pub fn next(&mut self, now: Timestamp) -> Result<Option<Claim>, QueueError> {
        let names = self.queue.names(&self.dir, WAITING)?;
        let mut jobs: Vec<(Job, String)> = Vec::new();
        for name in names {
            match self.queue.read(&self.dir, &name) {
                Some(job) if format!("{}{WAITING}", job.key()) == name => jobs.push((job, name)),
                // Torn by a power cut, or not ours: nothing can be done with it.
                _ => self.remove(&name)?,
            }
        }
        jobs.retain(|(job, _)| job.due <= now && !self.begun.contains(&job.key()));
        jobs.sort_by_key(|(job, _)| job.order());
        let Some((_, name)) = jobs.into_iter().next() else { return Ok(None) };
        let key = name.trim_end_matches(WAITING).to_owned();
        self.begun.insert(key.clone());
        // From here on whoever pushes the key again makes a job of its own, which waits until this one is done.
        let running = format!("{key}{RUNNING}");
        self.dir.rename(&name, &self.dir, &running).map_err(|source| self.queue.failed(source))?;
        let Some(mut job) = self.queue.read(&self.dir, &running) else { return self.next(now) };
        job.attempts += 1;
        self.queue.write(&self.dir, &running, &job)?;
        self.post.beat(&key);
        Ok(Some(Claim { job, key }))
    }

    /// Gives a sign of life in the middle of a job.
    pub fn beat(&mut self, claim: &Claim) {
        self.post.beat(&claim.key);
    }

    /// Says that a job is done.
    pub fn done(&mut self, claim: Claim) -> Result<(), QueueError> {
        self.remove(&format!("{}{RUNNING}", claim.key))
    }

    /// Says that a job could not be done. It waits for another time, or is set aside after the third.
    pub fn failed(&mut self, claim: Claim, reason: &str, now: Timestamp) -> Result<(), QueueError> {
        self.give_up_or_retry(claim.job, &claim.key, reason, now)
    }

    fn give_up_or_retry(
        &self,
        mut job: Job,
        key: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), QueueError> {
        let waiting = format!("{key}{WAITING}");
        if job.attempts >= MAX_ATTEMPTS {
            let failed = Failed { job, reason: reason.to_owned(), at: now };
            self.queue.write(&self.dir, &format!("{key}{FAILED}"), &failed)?;
        } else {
            job.due = now.saturating_add(PAUSE * i32::try_from(job.attempts).unwrap_or(1)).unwrap_or(now);
            if let Some(newer) = self.queue.read(&self.dir, &waiting) {
                job = newer.merged_with(&job);
            }
            self.queue.write(&self.dir, &waiting, &job)?;
        }
        self.remove(&format!("{key}{RUNNING}"))
    }

    /// Puts in order what a dead worker left: its job waits again, its temporary files go, and so do old faults.
    fn tidy(&self) -> Result<(), QueueError> {
        for name in self.queue.names(&self.dir, RUNNING)? {
            let key = name.trim_end_matches(RUNNING).to_owned();
            match self.queue.read(&self.dir, &name) {
                Some(job) if job.attempts >= MAX_ATTEMPTS => {
                    self.give_up_or_retry(job, &key, DIED, Timestamp::now())?;
                }
                // Nobody said that it failed: it need not wait.
                Some(job) => self.put_back(job, &key)?,
                None => self.remove(&name)?,
            }
        }
        let mut temporary = Vec::new();
        let listed = self
            .dir
            .for_each(|name, _| temporary.extend(name.starts_with(TEMP_PREFIX).then(|| name.to_owned())));
        listed.map_err(|source| self.queue.failed(source))?;
        for name in temporary.iter().filter(|name| self.is_old(name)) {
            self.remove(name)?;
        }
        self.forget_old_faults()
    }

    fn put_back(&self, job: Job, key: &str) -> Result<(), QueueError> {
        let waiting = format!("{key}{WAITING}");
        let newer = self.queue.read(&self.dir, &waiting);
        let job = newer.map_or_else(|| job.clone(), |newer| Job { due: job.due, ..newer.merged_with(&job) });
        self.queue.write(&self.dir, &waiting, &job)?;
        self.remove(&format!("{key}{RUNNING}"))
    }

    /// Says whether a temporary file was left behind; a young one may be on its way to its name.
    fn is_old(&self, name: &str) -> bool {
        let minute_ago = Timestamp::now().as_nanosecond() - 60_000_000_000;
        let stat = self.dir.stat(name).ok().flatten();
        stat.is_some_and(|stat| i128::from(stat.mtime_ns) < minute_ago)
    }

    fn forget_old_faults(&self) -> Result<(), QueueError> {
        for name in self.queue.names(&self.dir, FAILED)? {
            let bytes = self.dir.read(&name, super::MAX_JOB).ok().flatten().unwrap_or_default();
            let failed: Option<Failed> = serde_json::from_slice(&bytes).ok();
            let is_old = |failed: &Failed| Timestamp::now().duration_since(failed.at) > KEEP_FAILED;
            if failed.as_ref().is_none_or(is_old) {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), QueueError> {
        self.dir.remove(name).map_err(|source| self.queue.failed(source))
    }
}
