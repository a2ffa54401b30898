//! What is left to do, over all entries.

use jiff::Timestamp;

use super::entry::Entry;
use super::sections::{Item, Sections};

/// Something that no entry has closed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenItem {
    /// Identifies it.
    pub id: String,
    /// What is to be done, in the words of the last entry that names it.
    pub text: String,
    /// When it was first named.
    pub since: Option<Timestamp>,
    /// When it was last named.
    pub last: Option<Timestamp>,
    /// The entry that names it last.
    pub entry: String,
}

/// Returns what is still open after these entries, which come oldest first; what was named last comes first.
pub fn open_items<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Vec<OpenItem> {
    let mut open: Vec<(usize, OpenItem)> = Vec::new();
    for (nth, entry) in entries.into_iter().enumerate() {
        for item in &entry.sections.unfinished {
            let known = open.iter().position(|(_, known)| known.id == item.id);
            let since = known.map(|at| open.remove(at).1.since);
            if item.is_done || item.text.is_empty() {
                continue;
            }
            let open_item = OpenItem {
                id: item.id.clone(),
                text: item.text.clone(),
                since: since.unwrap_or(entry.at()),
                last: entry.at(),
                entry: entry.name.clone(),
            };
            open.push((nth, open_item));
        }
    }
    // Stable: within one entry the order is the author's.
    open.sort_by_key(|(nth, _)| std::cmp::Reverse(*nth));
    open.into_iter().map(|(_, item)| item).collect()
}

/// Gives each item its id: the one of the open item that it names or repeats, else a new one out of `mint`.
pub fn identify<E>(
    sections: &mut Sections,
    open: &[OpenItem],
    mut mint: impl FnMut() -> Result<String, E>,
) -> Result<(), E> {
    sections.unfinished.retain(|item| !item.text.is_empty() || !item.id.is_empty());
    let mut taken: Vec<String> = Vec::new();
    for item in &mut sections.unfinished {
        let is_free = |open: &&OpenItem| !taken.contains(&open.id);
        let named = open.iter().find(|open| open.id == item.id);
        let repeated = || open.iter().filter(is_free).find(|open| folded(&open.text) == folded(&item.text));
        match named.or_else(repeated) {
            Some(known) => {
                item.id.clone_from(&known.id);
                if item.text.is_empty() {
                    item.text.clone_from(&known.text);
                }
            }
            None => item.id = mint()?,
        }
        taken.push(item.id.clone());
    }
    Ok(())
}

/// Makes the sections of an entry that closes these items.
pub fn close(items: &[&OpenItem]) -> Sections {
    let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
    let done = |item: &&OpenItem| Item { id: item.id.clone(), text: item.text.clone(), is_done: true };
    Sections {
        summary: format!("Done: {}", texts.join("; ")),
        unfinished: items.iter().map(done).collect(),
        ..Sections::default()
    }
}

/// Two wordings of one thing differ in case, marks and spaces at most.
fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
