//! What a server says about its memories, checked entry by entry.
//!
//! An entry that is wrong is refused by itself: a path that is none, a size beyond what a memory has, a text that is not what
//! its hash says, a word of another type. Also the whole is bounded: pages that do not end, cursors that do not move and more
//! memories than anybody has are no feed.

use std::collections::BTreeMap;

use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{self, Change};
use memdir_store::team::{Item, RefusedKey, State, Version};
use serde::Deserialize;
use serde_json::Value;

/// No team has more memories.
const MAX_KEYS: usize = 100_000;
/// A feed of that many memories has fewer pages.
const MAX_PAGES: usize = 2_000;
/// All texts of a feed together.
const MAX_TEXTS: u64 = 512 << 20;
/// Of a name that is none, no more is shown.
const MAX_NAME: usize = 200;
/// A page: texts, escaped as badly as JSON can, and what is said about them.
pub(super) const MAX_PAGE: usize = 6 * wire::MAX_BATCH + wire::MAX_CHANGES * 8 * 1024;

/// A page as it comes.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    changes: Vec<Value>,
    pub(super) cursor: u64,
    pub(super) more: bool,
}

impl Page {
    /// Says whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// A feed as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Feed {
    items: BTreeMap<MemoryPath, Item>,
    refused: BTreeMap<String, RefusedKey>,
    n_pages: usize,
    n_bytes: u64,
}

impl Feed {
    /// Takes a page in that was asked for with `since`. Returns where to go on, or `None` at the end; `Err` says why it is none.
    pub(super) fn take(&mut self, page: Page, since: u64) -> Result<Option<u64>, String> {
        self.n_pages += 1;
        if page.more && (page.changes.is_empty() || page.cursor <= since) {
            return Err("its pages do not go on".to_owned());
        }
        if self.n_pages > MAX_PAGES {
            return Err(format!("it has more than {MAX_PAGES} pages"));
        }
        if page.changes.len() > wire::MAX_CHANGES {
            return Err(format!("a page has more than {} entries", wire::MAX_CHANGES));
        }
        for value in page.changes {
            self.take_entry(value);
        }
        if self.items.len() + self.refused.len() > MAX_KEYS {
            return Err(format!("it has more than {MAX_KEYS} memories"));
        }
        if self.n_bytes > MAX_TEXTS {
            return Err(format!("its texts have more than {MAX_TEXTS} bytes"));
        }
        Ok(page.more.then_some(page.cursor))
    }

    fn take_entry(&mut self, value: Value) {
        match entry(value) {
            Ok(item) => {
                if let State::Live { text: Some(text), .. } = &item.state {
                    self.n_bytes += text.len() as u64;
                }
                // What changed while the feed was read comes a second time, newer.
                self.refused.remove(item.path.as_str());
                self.items.insert(item.path.clone(), item);
            }
            Err(refused) => {
                if let Some(path) = &refused.path {
                    self.items.remove(path);
                }
                self.refused.insert(refused.name.clone(), refused);
            }
        }
    }

    /// Returns how many entries it has so far.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns what is good and what is not.
    pub(super) fn into_parts(self) -> (Vec<Item>, Vec<RefusedKey>) {
        (self.items.into_values().collect(), self.refused.into_values().collect())
    }
}

/// Reads one entry; says why not, if it is wrong.
fn entry(value: Value) -> Result<Item, RefusedKey> {
    let name: String = value["path"].as_str().unwrap_or("(without a name)").chars().take(MAX_NAME).collect();
    let path = MemoryPath::new(&name).ok();
    let refuse = |why: String| RefusedKey { name: name.clone(), path: path.clone(), why };
    if path.is_none() {
        return Err(refuse("it is no memory's path".to_owned()));
    }
    let change: Change =
        serde_json::from_value(value).map_err(|_| refuse("the server says it in a wrong form".to_owned()))?;
    let state = if change.deleted || change.erased {
        State::Gone { erased: change.erased }
    } else {
        if change.size > wire::MAX_MEMORY as u64 {
            let why = format!("{} bytes: a memory has at most {}", change.size, wire::MAX_MEMORY);
            return Err(refuse(why));
        }
        if change.text.as_ref().is_some_and(|text| ContentHash::of(text.as_bytes()) != change.hash) {
            return Err(refuse("its text is not what its hash says".to_owned()));
        }
        State::Live { hash: change.hash, size: change.size, text: change.text.map(String::into_bytes) }
    };
    Ok(Item {
        path: change.path,
        version: Version(change.seq.to_string()),
        state,
        author: Some(change.author.as_str().to_owned()),
        at: Some(change.at),
        stamp: None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(path: &str, text: &str) -> Value {
        json!({
            "path": path, "seq": 7, "hash": ContentHash::of(text.as_bytes()), "size": text.len(), "author": "ben",
            "at": "2026-04-02T09:00:00Z", "deleted": false, "text": text,
        })
    }

    fn page(changes: Vec<Value>, cursor: u64, more: bool) -> Page {
        Page { changes, cursor, more }
    }

    /// S22, T14.
    #[test]
    fn a_wrong_entry_is_refused_and_the_others_are_taken() {
        let with = |key: &str, value: Value| {
            let mut change = change("a.md", "x");
            change[key] = value;
            change
        };
        let wrong = [
            (change("../a.md", "x"), None),
            (change("/etc/passwd", "x"), None),
            (change("a.txt", "x"), None),
            (change(&format!("{}.md", "a/".repeat(5_000)), "x"), None),
            (json!({}), None),
            (json!(3), None),
            (json!({"path": ["a.md"]}), None),
            (with("hash", json!(ContentHash::of(b"y"))), Some("a.md")),
            (with("hash", json!("zz")), Some("a.md")),
            (with("text", json!(7)), Some("a.md")),
            (with("author", json!("../../Ben\n")), Some("a.md")),
            (with("at", json!("yesterday")), Some("a.md")),
            (with("seq", json!(-1)), Some("a.md")),
            (with("size", json!(1 << 30)), Some("a.md")),
            (with("deleted", json!("yes")), Some("a.md")),
        ];
        for (value, path) in wrong {
            let mut feed = Feed::default();
            let shown = value.to_string();
            assert_eq!(feed.take(page(vec![value, change("good.md", "y")], 9, false), 0), Ok(None));
            let (items, refused) = feed.into_parts();
            assert_eq!(items.len(), 1, "{shown}");
            assert_eq!(items[0].path.as_str(), "good.md");
            assert_eq!(refused.len(), 1, "{shown}");
            assert_eq!(refused[0].path.as_ref().map(MemoryPath::as_str), path, "{shown}");
            assert!(refused[0].name.len() <= MAX_NAME);
        }
    }

    #[test]
    fn what_comes_twice_is_as_it_came_last() {
        let mut feed = Feed::default();
        let bad = json!({"path": "a.md"});
        assert_eq!(feed.take(page(vec![bad.clone(), change("b.md", "1")], 3, true), 0), Ok(Some(3)));
        assert_eq!(feed.take(page(vec![change("a.md", "2"), bad], 9, false), 3), Ok(None));
        let (items, refused) = feed.into_parts();
        assert_eq!(items.iter().map(|item| item.path.as_str()).collect::<Vec<_>>(), ["b.md"]);
        assert_eq!(refused.len(), 1);
    }

    #[test]
    fn a_removal_has_no_text_whatever_is_said() {
        let mut gone = change("a.md", "x");
        (gone["deleted"], gone["text"], gone["size"]) = (json!(true), json!("other"), json!(u64::MAX));
        let mut feed = Feed::default();
        assert_eq!(feed.take(page(vec![gone], 9, false), 0), Ok(None));
        assert_eq!(feed.into_parts().0[0].state, State::Gone { erased: false });
    }

    /// T14.
    #[test]
    fn pages_that_do_not_end_are_no_feed() {
        let endless =
            |since, cursor| Feed::default().take(page(vec![change("a.md", "x")], cursor, true), since);
        assert!(endless(5, 5).is_err() && endless(5, 4).is_err());
        assert!(Feed::default().take(page(vec![], 9, true), 0).is_err());
        assert!(Feed::default().take(page(vec![json!(1); wire::MAX_CHANGES + 1], 9, false), 0).is_err());
        let mut feed = Feed::default();
        let many = (0..).map(|n| feed.take(page(vec![change("a.md", "x")], n + 1, true), n));
        assert!(many.take(MAX_PAGES + 1).any(|taken| taken.is_err()), "one entry a page, for ever");
    }
}
