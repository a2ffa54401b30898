//! Jobs that are merged, done, given up and left behind by the dead.

use std::fs;

use super::*;

fn now() -> Timestamp {
    "2026-04-02T10:30:00Z".parse().unwrap()
}

fn later(seconds: i64) -> Timestamp {
    now().checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap()
}

fn job(kind: Kind, session: &str) -> Job {
    Job {
        kind,
        session: Some(session.to_owned()),
        transcript: None,
        agent: None,
        dir: None,
        vault: None,
        remote: false,
        pushed: now(),
        due: now(),
        attempts: 0,
    }
}

fn queue() -> (tempfile::TempDir, Queue) {
    let temp = tempfile::tempdir().unwrap();
    let queue = Queue::below(&temp.path().canonicalize().unwrap(), "web-app-3f9a1c");
    (temp, queue)
}

fn files(queue: &Queue) -> Vec<String> {
    let entries = fs::read_dir(queue.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn keys(queue: &Queue) -> Vec<String> {
    queue.waiting().unwrap().iter().map(Job::key).collect()
}

/// W1-07: however often a turn ends while nobody works, one job waits; while one runs, at most one more.
#[test]
fn jobs_of_one_key_are_merged_and_a_running_one_leaves_room_for_one_more() {
    let (_temp, queue) = queue();
    assert_eq!(queue.push(&job(Kind::Turn, "s-1")).unwrap(), Pushed::New);
    for _ in 0..4 {
        assert_eq!(queue.push(&job(Kind::Turn, "s-1")).unwrap(), Pushed::Merged);
    }
    queue.push(&job(Kind::End, "s-1")).unwrap();
    queue.push(&job(Kind::Turn, "s-2")).unwrap();
    assert_eq!(
        keys(&queue),
        ["turn-s-1", "turn-s-2", "end-s-1"],
        "of one session the turn comes before the end"
    );
    let moved = Job { transcript: Some("moved.jsonl".into()), ..job(Kind::Turn, "s-1") };
    assert_eq!(queue.push(&moved).unwrap(), Pushed::Merged);
    assert_eq!(queue.waiting().unwrap()[0].transcript, moved.transcript, "the newest word counts");
    let mut lease = queue.lease().unwrap().unwrap();
    let claim = lease.next(now()).unwrap().unwrap();
    assert_eq!((claim.job.key().as_str(), claim.job.attempts), ("turn-s-1", 1));
    for _ in 0..5 {
        queue.push(&job(Kind::Turn, "s-1")).unwrap();
    }
    assert_eq!(files(&queue), ["end-s-1.json", "turn-s-1.json", "turn-s-1.run", "turn-s-2.json"]);
    lease.done(claim).unwrap();
    drop(lease);
    let mut lease = queue.lease().unwrap().unwrap();
    let mut done = Vec::new();
    while let Some(claim) = lease.next(now()).unwrap() {
        done.push(claim.job.key());
        lease.done(claim).unwrap();
    }
    assert_eq!(done, ["turn-s-1", "turn-s-2", "end-s-1"]);
    assert!(files(&queue).is_empty() && !queue.has_work(now()));
}

/// K5: of many who want the lease one gets it; who dies gives it back.
#[test]
fn there_is_one_worker() {
    let (_temp, queue) = queue();
    assert!(queue.lease().unwrap().is_none(), "without a queue there is nothing to work on");
    queue.push(&job(Kind::Turn, "s-1")).unwrap();
    let barrier = std::sync::Barrier::new(8);
    let n_winners = std::thread::scope(|scope| {
        let contend = || {
            barrier.wait();
            let lease = queue.lease().unwrap();
            barrier.wait();
            lease.is_some()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(contend)).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap().then_some(())).count()
    });
    assert_eq!(n_winners, 1);
    let lease = queue.lease().unwrap().unwrap();
    let holder = queue.worker().unwrap();
    assert_eq!(holder.process, Process::own());
    assert!(!holder.is_hung(Timestamp::now()));
    assert!(holder.is_hung(Timestamp::now().checked_add(jiff::SignedDuration::from_secs(61)).unwrap()));
    drop(lease);
    assert_eq!(queue.worker(), None);
}

/// A job whose worker died waits again at once, with what was pushed since; the third death sets it aside.
#[test]
fn what_a_dead_worker_left_is_done_again() {
    let (_temp, queue) = queue();
    queue.push(&job(Kind::Turn, "s-1")).unwrap();
    for attempt in 1..=3 {
        let mut lease = queue.lease().unwrap().unwrap();
        let claim = lease.next(now()).unwrap().unwrap();
        assert_eq!(claim.job.attempts, attempt);
        if attempt == 1 {
            queue.push(&job(Kind::Turn, "s-1")).unwrap();
        }
        // A lease that ends with a job in hand is what a kill looks like.
        drop((claim, lease));
    }
    assert!(queue.lease().unwrap().unwrap().next(now()).unwrap().is_none());
    let failed = queue.set_aside().unwrap();
    assert_eq!((failed.len(), failed[0].job.key().as_str()), (1, "turn-s-1"));
    assert!(failed[0].reason.contains("died"), "{}", failed[0].reason);
    queue.push(&job(Kind::Turn, "s-1")).unwrap();
    let again = queue.lease().unwrap().unwrap().next(now()).unwrap().unwrap();
    assert_eq!(again.job.attempts, 1, "what is wished for anew is tried anew");
}

#[test]
fn a_job_that_fails_waits_and_is_set_aside_with_the_reason_after_the_third_time() {
    let (_temp, queue) = queue();
    queue.push(&job(Kind::End, "s-1")).unwrap();
    let mut at = 0;
    for attempt in 1..=3 {
        let mut lease = queue.lease().unwrap().unwrap();
        let claim = lease.next(later(at)).unwrap().unwrap();
        lease.failed(claim, "the disk is full", later(at)).unwrap();
        assert!(lease.next(later(at + 10_000)).unwrap().is_none(), "each once under a lease");
        drop(lease);
        if attempt < 3 {
            assert!(!queue.has_work(later(at + 59)), "it waits for a while");
            queue.push(&job(Kind::End, "s-1")).unwrap();
            assert!(!queue.has_work(later(at + 59)), "and is not hurried by whoever wants it again");
            at += 120;
            assert!(queue.has_work(later(at)));
        }
    }
    let failed = queue.set_aside().unwrap();
    assert_eq!((failed[0].reason.as_str(), failed[0].job.attempts), ("the disk is full", 3));
    assert_eq!(keys(&queue), [""; 0]);
}

/// Torn files, files of others and links are no jobs: the worker removes what it cannot read, and goes on.
#[test]
fn torn_files_are_passed_over_and_removed() {
    let (_temp, queue) = queue();
    queue.push(&job(Kind::Turn, "s-1")).unwrap();
    let whole = fs::read(queue.path().join("turn-s-1.json")).unwrap();
    for (n, len) in [0, 1, whole.len() / 2, whole.len() - 1].into_iter().enumerate() {
        fs::write(queue.path().join(format!("turn-t-{n}.json")), &whole[..len]).unwrap();
    }
    fs::write(queue.path().join("end-other.json"), &whole).unwrap();
    fs::write(queue.path().join("turn-torn.run"), &whole[..9]).unwrap();
    fs::write(queue.path().join(".memdir-tmp-0123456789abcdef"), "half").unwrap();
    assert!(queue.has_work(now()));
    let mut lease = queue.lease().unwrap().unwrap();
    let claim = lease.next(now()).unwrap().unwrap();
    assert_eq!(claim.job, Job { attempts: 1, ..job(Kind::Turn, "s-1") });
    lease.done(claim).unwrap();
    assert!(lease.next(now()).unwrap().is_none());
    assert_eq!(files(&queue), [".memdir-tmp-0123456789abcdef"], "a young one may be on its way to its name");
}

/// L: every queue has a limit and says when it is reached.
#[test]
fn a_full_queue_says_so_and_still_merges() {
    let (_temp, queue) = queue();
    queue.push(&job(Kind::Turn, "s-1")).unwrap();
    for n in 1..MAX_JOBS {
        fs::write(queue.path().join(format!("turn-{n}.json")), "{}").unwrap();
    }
    assert!(matches!(queue.push(&job(Kind::Turn, "s-2")), Err(QueueError::Full(_))));
    assert_eq!(queue.push(&job(Kind::Turn, "s-1")).unwrap(), Pushed::Merged);
}

/// K4: a process is known by its start and the boot, so another one with its number does not pass for it.
#[test]
fn another_process_with_the_number_is_another_process() {
    let own = Process::own();
    assert!(own.is_running());
    assert!(own.started.is_some() && own.boot.is_some(), "{own:?}");
    let mut other = own.clone();
    other.started = other.started.map(|ticks| ticks - 1);
    assert!(!other.is_running());
    let elsewhere = Process { boot: Some("another boot".to_owned()), ..own.clone() };
    assert!(!elsewhere.is_running());
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    assert!(!Process { pid, ..own }.is_running());
}

#[test]
fn every_queue_of_a_state_root_is_found() {
    let (temp, queue) = queue();
    let home = temp.path().canonicalize().unwrap();
    assert_eq!(Queue::all(&home).unwrap(), []);
    queue.push(&job(Kind::Verify, "s-1")).unwrap();
    fs::create_dir_all(home.join("projects/without-work")).unwrap();
    assert_eq!(Queue::all(&home).unwrap(), [queue]);
}
