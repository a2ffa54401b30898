//! The scanner as the user set it up, and the files it is pointed at.
//!
//! Rules and vouched-for values come from the user's own directory only; a repository has no say in them. A rule file
//! that cannot be read stops the scan: a scanner that silently lacks rules would let things through.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memdir_core::hash::ContentHash;
use memdir_core::secrets::{Rules, RulesError, Scanner};

use crate::disk::Dir;
use crate::place::settings::UserSettings;

/// The directory below the state root whose rule files are all read.
const RULES_DIR: &str = "secrets";
/// The largest rule file.
const MAX_RULES: u64 = 4 * 1024 * 1024;
/// The largest file that is scanned.
pub const MAX_FILE: u64 = 256 * 1024 * 1024;

/// Why the scanner could not be set up, or a value not vouched for.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// A file could not be read or written.
    #[error("could not use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// A rule file is not one.
    #[error("{}", path.display())]
    Rules {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: RulesError,
    },
}

/// Builds the scanner: our rules, those of the user, and the values the user vouches for. `user_home` is what `~/`
/// in a path of the settings means.
pub fn scanner(
    home: &Path,
    user_home: Option<&Path>,
    settings: &UserSettings,
) -> Result<Scanner, SecretsError> {
    let rules = extra_rules(home, user_home, settings)?;
    Ok(Scanner::with_rules(rules).allowing(settings.secrets.allow.iter().cloned()))
}

/// Reads the rules of the user's own.
pub fn extra_rules(
    home: &Path,
    user_home: Option<&Path>,
    settings: &UserSettings,
) -> Result<Rules, SecretsError> {
    let mut rules = Rules::default();
    let mut paths = in_rules_dir(home)?;
    paths.extend(settings.secrets.rules.iter().map(|path| expand(path, home, user_home)));
    for path in paths {
        rules.extend(read_rules(&path)?);
    }
    Ok(rules)
}

fn in_rules_dir(home: &Path) -> Result<Vec<PathBuf>, SecretsError> {
    let dir = home.join(RULES_DIR);
    let entries = match fs::read_dir(&dir) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let entries = entries.map_err(|source| SecretsError::Io { path: dir, source })?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    paths.sort();
    Ok(paths)
}

fn expand(path: &Path, home: &Path, user_home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), user_home) {
        (Ok(below), Some(user_home)) => user_home.join(below),
        _ => home.join(path),
    }
}

fn read_rules(path: &Path) -> Result<Rules, SecretsError> {
    let failed = |source| SecretsError::Io { path: path.to_owned(), source };
    let bytes = read_limited(path, MAX_RULES).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|_| failed(io::Error::other("it is not UTF-8")))?;
    Rules::parse(&text).map_err(|source| SecretsError::Rules { path: path.to_owned(), source })
}

/// Reads a regular file of limited size.
fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if about.len() > limit {
        return Err(io::Error::other(format!("it is larger than {limit} bytes")));
    }
    fs::read(path)
}

/// Vouches for a value in the user's settings, by its hash. Says whether that is new.
pub fn allow(
    home: &Path,
    settings: &UserSettings,
    hash: ContentHash,
    reason: &str,
) -> Result<bool, SecretsError> {
    if settings.secrets.allow.iter().any(|entry| entry.hash == hash) {
        return Ok(false);
    }
    let path = home.join("config.toml");
    let failed = |source| SecretsError::Io { path: path.clone(), source };
    let mut text = match fs::read_to_string(&path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => String::new(),
        text => text.map_err(failed)?,
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let entry = toml::Table::from_iter([
        ("hash".to_owned(), toml::Value::String(hash.to_string())),
        ("reason".to_owned(), toml::Value::String(reason.to_owned())),
    ]);
    let gap = if text.is_empty() { "" } else { "\n" };
    text.push_str(&format!("{gap}[[secrets.allow]]\n{}", print(&entry)));
    if let Err(err) = text.parse::<toml::Table>() {
        return Err(failed(io::Error::other(err.message().to_owned())));
    }
    // The file is often a link into a repository of dotfiles: what it leads to is replaced.
    let target = path.canonicalize().unwrap_or(path.clone());
    let (Some(folder), Some(name)) = (target.parent(), target.file_name().and_then(|name| name.to_str()))
    else {
        return Err(failed(io::Error::other("it has no folder")));
    };
    Dir::ensure(folder).and_then(|folder| folder.replace(name, text.as_bytes())).map_err(failed)?;
    Ok(true)
}

/// Prints texts as TOML; a reason is one line and has no control characters.
fn print(table: &toml::Table) -> String {
    let line = |(key, value): (&String, &toml::Value)| {
        let text: String = value.as_str().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
        format!("{key} = \"{}\"\n", text.replace('\\', "\\\\").replace('"', "\\\""))
    };
    table.iter().map(line).collect()
}

/// A file to scan, or why one is passed over.
#[derive(Debug)]
pub enum Reading {
    /// Its bytes.
    Text(Vec<u8>),
    /// It holds a NUL byte: no text, so nothing a scanner for text could judge.
    Binary,
    /// It is too large to be scanned, so it must not pass for clean.
    TooLarge,
}

/// Lists the regular files below a path, links not followed, in order.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        // What the user names may be a link; what is met below it may not.
        let is_named = files.is_empty() && open.is_empty();
        let about = if is_named { fs::metadata(&path)? } else { fs::symlink_metadata(&path)? };
        if about.is_dir() {
            let mut below =
                fs::read_dir(&path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
            below.sort_by(|a, b| b.cmp(a));
            open.extend(below);
        } else if about.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// Reads a file for the scanner.
pub fn read(path: &Path) -> io::Result<Reading> {
    if fs::metadata(path)?.len() > MAX_FILE {
        return Ok(Reading::TooLarge);
    }
    let bytes = fs::read(path)?;
    // A text in UTF-16 has NUL bytes; so has every binary, and neither can be judged.
    let is_binary = memchr::memchr(0, &bytes[..bytes.len().min(8_192)]).is_some();
    Ok(if is_binary { Reading::Binary } else { Reading::Text(bytes) })
}
