//! Where the user's clock hangs, read from the one file that says so.
//!
//! The library that knows time zones lists the whole database of them before it looks one up: a millisecond in twenty
//! folders, which is a third of all that a hook may take. The zone of a process nearly always is one file, named by `TZ`
//! or by the link `/etc/localtime`; only what is not that simple is left to the library.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use jiff::tz::TimeZone;

const LOCAL: &str = "/etc/localtime";
const DATABASE: &str = "/usr/share/zoneinfo";
/// No zone needs as much.
const MAX_BYTES: u64 = 1 << 16;

/// Returns the time zone of this process.
pub(crate) fn system() -> TimeZone {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if set("TZDIR").is_some() {
        return TimeZone::system();
    }
    let zone = match set("TZ") {
        Some(name) => named(&name),
        None => linked(Path::new(LOCAL)),
    };
    zone.unwrap_or_else(TimeZone::system)
}

/// Reads the zone of a name such as `Europe/Berlin`; `None` for anything else that `TZ` may be.
fn named(name: &OsStr) -> Option<TimeZone> {
    let name = name.to_str().filter(|name| is_plain(name))?;
    read(name, &Path::new(DATABASE).join(name))
}

/// Reads the zone that a link into the database leads to.
fn linked(link: &Path) -> Option<TimeZone> {
    let target = fs::read_link(link).ok()?;
    let (_, name) = target.to_str()?.rsplit_once("zoneinfo/")?;
    if is_plain(name) { read(name, link) } else { None }
}

/// Says whether a name has the form of a zone's: words and folders, and no way out of the database.
fn is_plain(name: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+'))
    };
    name.split('/').all(is_word)
}

fn read(name: &str, path: &Path) -> Option<TimeZone> {
    let about = fs::metadata(path).ok().filter(|about| about.is_file() && about.len() <= MAX_BYTES);
    let bytes = about.and_then(|_| fs::read(path).ok())?;
    TimeZone::tzif(name, &bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_words_and_folders() {
        for name in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["", "/etc/passwd", "../x", "Europe/", ":UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "<+03>-3"] {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn the_zone_is_the_one_that_the_database_knows() {
        for name in ["Europe/Berlin", "America/New_York", "Asia/Seoul"] {
            let (Ok(known), Some(zone)) = (TimeZone::get(name), named(OsStr::new(name))) else {
                continue; // a system without a database
            };
            assert_eq!(zone.iana_name(), Some(name));
            for time in ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z", "2041-03-31T00:59:59Z"] {
                let time: jiff::Timestamp = time.parse().unwrap();
                assert_eq!(zone.to_offset(time), known.to_offset(time), "{name} at {time}");
            }
        }
    }
}
