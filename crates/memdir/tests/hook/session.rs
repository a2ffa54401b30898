//! The end of a session, and what is left of it.

use std::time::{Duration, Instant};

/// Waits until something is there; a generous time-out ends what hangs.
pub(crate) fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "it did not come about");
        std::thread::sleep(Duration::from_millis(50));
    }
}
