//! Changing one table of the user's settings, and not a byte beside it.
//!
//! People write this file by hand, so comments, order and spacing stay. A line is replaced, added or taken away; then the
//! whole is parsed again, and unless exactly the wanted keys differ, nothing is written.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::Dir;
use crate::lock::{Lock, LockError};

/// Largest settings file that is edited.
const MAX_FILE: u64 = 1 << 20;

/// Why settings could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file is laid out in a way that is not edited by line.
    #[error("{} cannot be changed here", .0.display())]
    Layout(PathBuf),
    /// Somebody held the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system said no.
    #[error("could not write {}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// Sets keys of a table to texts in `config.toml`, and takes away those without a value.
pub fn set_in_table(home: &Path, table: &str, keys: &[(&str, Option<&str>)]) -> Result<(), EditError> {
    let _lock = Lock::acquire(&home.join("locks"), "config.lock")?;
    let link = home.join("config.toml");
    // Often a link into a repository of dotfiles: the file behind it is replaced, not the link.
    let path = link.canonicalize().unwrap_or(link);
    let failed = |source: io::Error| EditError::Io { path: path.clone(), source };
    let folder = path.parent().unwrap_or(home);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("config.toml");
    let dir = Dir::ensure(folder).map_err(failed)?;
    let bytes = dir.read(name, MAX_FILE).map_err(|err| failed(io::Error::other(err)))?.unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|_| EditError::Layout(path.clone()))?;
    let edited = edit(&text, table, keys).ok_or_else(|| EditError::Layout(path.clone()))?;
    if edited != text {
        dir.replace(name, edited.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

/// Returns the text with the keys of a table set; none where that cannot be done line by line.
fn edit(text: &str, table: &str, keys: &[(&str, Option<&str>)]) -> Option<String> {
    let before: toml::Table = text.parse().ok()?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let header = format!("[{table}]");
    let is_header = |line: &String| line.split('#').next().unwrap_or_default().trim() == header;
    let start = match lines.iter().position(is_header) {
        Some(at) => at + 1,
        None if keys.iter().all(|(_, value)| value.is_none()) => return Some(text.to_owned()),
        None => {
            if lines.last().is_some_and(|line| !line.trim().is_empty()) {
                lines.push(String::new());
            }
            lines.push(header);
            lines.len()
        }
    };
    for (key, value) in keys {
        let length = lines[start..].iter().take_while(|line| !line.trim_start().starts_with('[')).count();
        let is_key = |line: &String| line.split_once('=').is_some_and(|(name, _)| name.trim() == *key);
        let at = lines[start..start + length].iter().position(is_key).map(|at| start + at);
        match (at, value) {
            (Some(at), Some(value)) => lines[at] = said(key, value),
            (Some(at), None) => drop(lines.remove(at)),
            (None, Some(value)) => {
                // After the last line that says something, so that blank lines before the next table stay.
                let used = lines[start..start + length].iter().rposition(|line| !line.trim().is_empty());
                lines.insert(start + used.map_or(0, |at| at + 1), said(key, value));
            }
            (None, None) => {}
        }
    }
    let edited = lines.join("\n") + "\n";
    (edited.parse::<toml::Table>().ok()? == wanted(before, table, keys)?).then_some(edited)
}

/// JSON writes a text as a basic string of TOML.
fn said(key: &str, value: &str) -> String {
    format!("{key} = {}", serde_json::Value::from(value))
}

fn wanted(mut before: toml::Table, table: &str, keys: &[(&str, Option<&str>)]) -> Option<toml::Table> {
    let inner =
        before.entry(table).or_insert_with(|| toml::Value::Table(toml::Table::new())).as_table_mut()?;
    for (key, value) in keys {
        match value {
            Some(value) => drop(inner.insert((*key).to_owned(), toml::Value::from(*value))),
            None => drop(inner.remove(*key)),
        }
    }
    Some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, keys: &[(&str, Option<&str>)]) -> Option<String> {
        edit(text, "model", keys)
    }

    #[test]
    fn lines_are_replaced_added_and_taken_away_and_all_else_stays() {
        let before = "# mine\noff = false\n\n[model] # whom to ask\nservice = \"chat\" # old\nbase_url = \"x\"\n\n[transcripts]\nkeep = true\n";
        let after = edited(before, &[("service", Some("none")), ("base_url", None), ("name", Some("m"))]);
        let wanted = "# mine\noff = false\n\n[model] # whom to ask\nservice = \"none\"\nname = \"m\"\n\n[transcripts]\nkeep = true\n";
        assert_eq!(after.as_deref(), Some(wanted));
    }

    #[test]
    fn a_missing_table_is_added_at_the_end_and_nothing_is_added_for_nothing() {
        assert_eq!(edited("", &[("name", Some("m"))]).as_deref(), Some("[model]\nname = \"m\"\n"));
        let after = edited("off = true", &[("name", Some("a \"b\""))]);
        assert_eq!(after.as_deref(), Some("off = true\n\n[model]\nname = \"a \\\"b\\\"\"\n"));
        assert_eq!(edited("off = true", &[("name", None)]).as_deref(), Some("off = true"));
    }

    #[test]
    fn a_layout_that_lines_cannot_express_is_left_alone() {
        assert_eq!(edited("model = { name = \"m\" }\n", &[("name", Some("n"))]), None);
        assert_eq!(edited("model.name = \"m\"\n", &[("name", Some("n"))]), None);
        assert_eq!(edited("not toml", &[("name", Some("n"))]), None);
    }
}
