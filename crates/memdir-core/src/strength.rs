//! How strongly a memory is held: use strengthens, disuse fades, each type at its own pace.
//!
//! The number orders memories and decides which leave the index page first. It never deletes anything, and it is
//! never written into a file: it is computed from the ledger whenever somebody asks.

use jiff::SignedDuration;

use crate::memory::MemoryType;

/// Stability never falls below this, so that a memory that was ignored often still fades over days, not at once.
pub const MIN_STABILITY: f64 = 0.1;

/// Returns the days after which an unused memory of this type has lost half of its strength.
pub fn half_life_days(memory_type: MemoryType) -> f64 {
    match memory_type {
        MemoryType::User => 365.0,
        MemoryType::Reference => 180.0,
        MemoryType::Feedback => 120.0,
        MemoryType::Project => 30.0,
    }
}

/// Returns the strength in `0.0..=1.0` of a memory that was last used `age_since_last_use` ago.
///
/// `stability` is 1 for a memory without a history; use makes it larger, being ignored smaller.
pub fn strength(memory_type: MemoryType, age_since_last_use: SignedDuration, stability: f64) -> f64 {
    let days = age_since_last_use.as_secs_f64().max(0.0) / (24.0 * 60.0 * 60.0);
    // `max` also takes the place of a NaN, which would otherwise poison every comparison.
    let half_life = half_life_days(memory_type) * stability.max(MIN_STABILITY);
    (-days / half_life).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(n: i64) -> SignedDuration {
        SignedDuration::from_hours(24 * n)
    }

    #[test]
    fn each_type_is_at_half_strength_after_its_half_life() {
        for (memory_type, half_life) in [
            (MemoryType::User, 365),
            (MemoryType::Reference, 180),
            (MemoryType::Feedback, 120),
            (MemoryType::Project, 30),
        ] {
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
            assert!(close(strength(memory_type, days(0), 1.0), 1.0));
            assert!(close(strength(memory_type, days(half_life), 1.0), 0.5));
            assert!(close(strength(memory_type, days(2 * half_life), 1.0), 0.25));
            assert!(close(strength(memory_type, days(2 * half_life), 2.0), 0.5));
        }
    }

    #[test]
    fn odd_clocks_and_odd_stabilities_stay_within_bounds() {
        let project = MemoryType::Project;
        assert_eq!(strength(project, days(-400), 1.0), 1.0);
        for stability in [0.0, -3.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(strength(project, days(30), stability), strength(project, days(30), MIN_STABILITY));
        }
        assert_eq!(strength(project, days(30), f64::INFINITY), 1.0);
        assert_eq!(strength(project, SignedDuration::MAX, 1.0), 0.0);
    }
}
