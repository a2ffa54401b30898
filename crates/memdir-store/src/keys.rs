//! Keys of model services, and tokens of team servers, that the user gave into our care.
//!
//! One file a service below `keys`, one a team of a server, for its owner only; a file that others may read is not used. A [`Secret`] can neither
//! be printed nor formatted, so it gets into no message by mistake: whoever needs its text asks for it by name. The
//! system's key ring is not used: its library brings a hundred crates and a session bus, and a service without a desktop
//! has none; a file for its owner only is what agents themselves keep their logins in.

use std::io;
use std::path::{Path, PathBuf};

use memdir_core::hash::ContentHash;

use crate::disk::{Dir, ReadError};

/// The directory below the state root.
const DIR: &str = "keys";
/// No key is longer.
const MAX_KEY: usize = 4096;

/// A key. It has no `Debug` and no `Display`, and stays out of whatever derives them.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes a key as somebody typed or piped it; none if it cannot be one: empty, too long, or not plain characters.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_plain =
            !text.is_empty() && text.len() <= MAX_KEY && text.bytes().all(|b| b.is_ascii_graphic());
        is_plain.then(|| Self(text.to_owned()))
    }

    /// Returns the key itself, to be sent to its service and nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text that somebody else wrote.
    pub fn hide_in(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

/// Why a key cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Others may read it.
    #[error("the key in {} can be read by others than its owner", .0.display())]
    Open(PathBuf),
    /// The file holds no key.
    #[error("{} holds no key", .0.display())]
    NoKey(PathBuf),
    /// The file system said no.
    #[error("could not use {}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// Names the file of a team's token: by the server's address and the team, so that all projects of a team share it.
pub fn of_team(address: &str, team: &str) -> String {
    format!("{}{team}", of_server(address))
}

fn of_server(address: &str) -> String {
    format!("team-{}-", &ContentHash::of(address.as_bytes()).to_string()[..16])
}

/// Lists the teams of a server whose tokens are kept.
pub fn teams_at(home: &Path, address: &str) -> Result<Vec<String>, KeyError> {
    let failed = |source| KeyError::Io { path: home.join(DIR), source };
    let dir = match Dir::open(&home.join(DIR)) {
        Ok(dir) => dir,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(failed(err)),
    };
    let (start, mut teams) = (of_server(address), Vec::new());
    dir.for_each(|name, _| teams.extend(name.strip_prefix(&start).map(str::to_owned))).map_err(failed)?;
    teams.sort();
    Ok(teams)
}

/// Makes sure that a key could be kept: asked before one is fetched that is told only once.
pub fn prepare(home: &Path) -> Result<(), KeyError> {
    const PROBE: &str = "probe";
    let tried = Dir::ensure(home).and_then(|home| home.ensure_sub(DIR)).and_then(|dir| {
        dir.replace(PROBE, b"")?;
        dir.remove(PROBE)
    });
    tried.map_err(|source| KeyError::Io { path: home.join(DIR), source })
}

/// Reads the key of a service; none if there is none.
pub fn load(home: &Path, service: &str) -> Result<Option<Secret>, KeyError> {
    let path = home.join(DIR).join(service);
    let failed = |source| KeyError::Io { path: path.clone(), source };
    let dir = match Dir::open(&home.join(DIR)) {
        Ok(dir) => dir,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(failed(err)),
    };
    let Some(stat) = dir.stat(service).map_err(failed)? else { return Ok(None) };
    if stat.mode & 0o077 != 0 || stat.owner != rustix::process::geteuid().as_raw() {
        return Err(KeyError::Open(path));
    }
    let bytes = dir.read(service, 2 * MAX_KEY as u64).map_err(|err| match err {
        ReadError::Io(source) => failed(source),
        other => failed(io::Error::other(other)),
    })?;
    let key = bytes.and_then(|bytes| Secret::new(str::from_utf8(&bytes).ok()?));
    key.map(Some).ok_or(KeyError::NoKey(path))
}

/// Keeps the key of a service.
pub fn keep(home: &Path, service: &str, key: &Secret) -> Result<(), KeyError> {
    let kept = Dir::ensure(home)
        .and_then(|home| home.ensure_sub(DIR))
        .and_then(|dir| dir.replace(service, key.expose().as_bytes()));
    kept.map_err(|source| KeyError::Io { path: home.join(DIR).join(service), source })
}

/// Forgets the key of a service, and says whether there was one.
pub fn forget(home: &Path, service: &str) -> Result<bool, KeyError> {
    let path = home.join(DIR).join(service);
    let failed = |source| KeyError::Io { path: path.clone(), source };
    let Ok(dir) = Dir::open(&home.join(DIR)) else { return Ok(false) };
    let was_there = dir.stat(service).map_err(failed)?.is_some();
    dir.remove(service).map_err(failed)?;
    Ok(was_there)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn text(key: Option<Secret>) -> Option<String> {
        key.map(|key| key.expose().to_owned())
    }

    #[test]
    fn s19_a_key_is_kept_for_its_owner_only_and_forgotten() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(text(load(temp.path(), "anthropic").unwrap()), None);
        keep(temp.path(), "anthropic", &Secret::new(" sk-1 \n").unwrap()).unwrap();
        assert_eq!(text(load(temp.path(), "anthropic").unwrap()).as_deref(), Some("sk-1"));
        let mode = |path: &str| fs::metadata(temp.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("keys"), mode("keys/anthropic")), (0o700, 0o600));
        assert!(forget(temp.path(), "anthropic").unwrap());
        assert!(!forget(temp.path(), "anthropic").unwrap());
        assert_eq!(text(load(temp.path(), "anthropic").unwrap()), None);
    }

    #[test]
    fn s19_a_key_that_others_may_read_is_not_used_and_not_in_the_error() {
        let temp = tempfile::tempdir().unwrap();
        keep(temp.path(), "chat", &Secret::new("sk-canary").unwrap()).unwrap();
        let file = temp.path().join("keys/chat");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let err = load(temp.path(), "chat").err().unwrap();
        assert!(matches!(err, KeyError::Open(_)));
        assert!(!format!("{err:?} {err}").contains("canary"));
    }

    #[test]
    fn s19_tokens_are_kept_by_server_and_team() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(teams_at(temp.path(), "https://a").unwrap(), [""; 0]);
        prepare(temp.path()).unwrap();
        for (address, team) in [("https://a", "crew"), ("https://a", "b-side"), ("https://b", "crew")] {
            keep(temp.path(), &of_team(address, team), &Secret::new("mdt_1").unwrap()).unwrap();
        }
        keep(temp.path(), "anthropic", &Secret::new("sk-1").unwrap()).unwrap();
        assert_eq!(teams_at(temp.path(), "https://a").unwrap(), ["b-side", "crew"]);
        assert_eq!(teams_at(temp.path(), "https://c").unwrap(), [""; 0]);
    }

    #[test]
    fn what_cannot_be_a_key_is_none() {
        for text in ["", "  \n", "two words", "line\nline", "schlüssel", &"x".repeat(MAX_KEY + 1)] {
            assert!(Secret::new(text).is_none(), "{text:?}");
        }
        assert_eq!(Secret::new("abc").unwrap().hide_in("key abc is wrong"), "key [key] is wrong");
    }
}
