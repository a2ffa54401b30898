//! How often somebody may ask: a bucket each that empties with every request and fills with time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// With more buckets than this, full ones are thrown away: they say nothing.
const MANY: usize = 4_096;

/// How often one may ask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// In the long run.
    pub per_second: f64,
    /// At once.
    pub burst: f64,
}

struct Bucket {
    left: f64,
    at: Instant,
}

/// The buckets of everybody.
pub(crate) struct Rates<K> {
    rate: Rate,
    buckets: Mutex<HashMap<K, Bucket>>,
}

impl<K: Hash + Eq> Rates<K> {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, buckets: Mutex::default() }
    }

    /// Counts a request, or says how long to wait before the next.
    pub(crate) fn take(&self, who: K, now: Instant) -> Result<(), Duration> {
        let Rate { per_second, burst } = self.rate;
        let filled = |bucket: &Bucket| {
            let since = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.left + since * per_second).min(burst)
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MANY {
            buckets.retain(|_, bucket| filled(bucket) < burst);
        }
        let bucket = buckets.entry(who).or_insert(Bucket { left: burst, at: now });
        let left = filled(bucket);
        *bucket = Bucket { left, at: now };
        if left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - left) / per_second));
        }
        bucket.left = left - 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T9.
    #[test]
    fn a_burst_goes_through_then_as_many_as_time_allows() {
        let rates = Rates::new(Rate { per_second: 10.0, burst: 3.0 });
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(rates.take("a", start), Ok(()));
        }
        let wait = rates.take("a", start).unwrap_err();
        assert_eq!(wait, Duration::from_millis(100));
        assert_eq!(rates.take("b", start), Ok(()), "others are not held up");
        assert_eq!(rates.take("a", start + wait), Ok(()));
        assert!(rates.take("a", start + wait).is_err());
        assert_eq!(rates.take("a", start + Duration::from_secs(60)), Ok(()));
    }

    #[test]
    fn buckets_do_not_pile_up() {
        let rates = Rates::new(Rate { per_second: 1_000.0, burst: 2.0 });
        let start = Instant::now();
        for n in 0..10 * MANY {
            let _ = rates.take(n, start + Duration::from_millis(n as u64));
        }
        assert!(rates.buckets.lock().unwrap().len() <= MANY + 1);
    }
}
