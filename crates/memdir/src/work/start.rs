//! Starts a worker that nobody waits for.
//!
//! It is a process in a session of its own with nothing open but `/dev/null`, so that the host's end does not end it and
//! nobody reads from it. It leaves as soon as nothing waits.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use jiff::Timestamp;
use memdir_store::queue::{Post, Queue};

/// The post of the daemon.
pub(crate) const DAEMON: &str = "daemon";

/// Says whether somebody will see what is pushed to a queue without being told.
pub(crate) fn is_attended(home: &Path, queue: &Queue) -> bool {
    let now = Timestamp::now();
    let is_alive = |holder: memdir_store::queue::Holder| !holder.is_hung(now);
    // Whoever works on the queue looks at it again after leaving its post.
    Post::holder(home, DAEMON).is_some_and(is_alive) || queue.worker().is_some_and(is_alive)
}

/// Starts a worker for what was just pushed, unless somebody is there; says whether one was started.
pub(crate) fn start(home: &Path, queue: &Queue) -> io::Result<bool> {
    if is_attended(home, queue) {
        return Ok(false);
    }
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.args(["work", "--once", "--detached"]);
    let mut worker = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // A hook is gone before the worker is; who stays takes note of its end, so that nothing of it is left.
    let _ = thread::Builder::new().spawn(move || worker.wait());
    Ok(true)
}

/// Leaves the session of whoever started us, and its place in the queue for the processor.
pub(crate) fn detach() {
    // Both are a courtesy: where they cannot be had the work is done all the same.
    let _ = rustix::process::setsid();
    let _ = rustix::process::nice(5);
}
