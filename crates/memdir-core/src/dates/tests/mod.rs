//! The promises of `settle`.

mod calendar;
mod page;
mod promises;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::settle;

/// Noon of a day, in UTC.
fn noon(day: &str) -> Zoned {
    let at: Timestamp = format!("{day}T12:00:00Z").parse().unwrap();
    at.to_zoned(TimeZone::UTC)
}
