//! Waits for the end of the process that started this one.
//!
//! A host that is killed closes our input, unless some other child of it holds the other end. Then nobody would ever tell
//! us, so the host itself is watched: by a thread that sleeps on a handle until it ends, or that asks every second where the
//! system has no such handles.

use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};
use tokio::sync::oneshot;

/// How often it is asked where there is no handle.
const PAUSE: Duration = Duration::from_secs(1);
/// The watching thread calls nothing deep.
const STACK: usize = 64 * 1024;

/// The process that started this one. Asked for before anything is answered: a host that ends right after the first answer
/// would otherwise be mistaken for whoever takes its orphans.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parent(Option<Pid>);

impl Parent {
    /// Looks who it is.
    pub(super) fn now() -> Self {
        Self(getppid())
    }
}

/// Returns when the parent of this process has ended.
pub(super) async fn ended(parent: Parent) {
    let (sender, receiver) = oneshot::channel();
    let watch = move || {
        watch(parent.0);
        // Nobody is listening any more if we end for another reason.
        let _ = sender.send(());
    };
    let started = thread::Builder::new().name("parent".to_owned()).stack_size(STACK).spawn(watch);
    if started.is_err() || receiver.await.is_err() {
        // Without a watch the end of input is what tells.
        std::future::pending().await
    }
}

fn watch(parent: Option<Pid>) {
    if let Some(handle) = parent.and_then(handle) {
        // It becomes readable when the process ends; a signal of ours may come in between.
        while matches!(poll(&mut [PollFd::new(&handle, PollFlags::IN)], None), Err(rustix::io::Errno::INTR)) {
        }
    }
    while getppid() == parent {
        thread::sleep(PAUSE);
    }
}

/// Opens a handle for a process; `None` where there are none.
fn handle(parent: Pid) -> Option<OwnedFd> {
    pidfd_open(parent, PidfdFlags::empty()).ok()
}
