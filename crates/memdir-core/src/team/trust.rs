//! Whom the user believes, place by place.
//!
//! A repository can be cloned from anywhere, and anybody can write any name into a commit. So trust is given to an author
//! *at a place*: this project, in this directory, with this remote address. Another clone, a moved directory or another
//! address is another place, and is asked about anew. Nobody is believed by default, the user's own name included: a
//! commit can bear it without the user's doing. Look at [`Trust::believes`] first.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Stands for everybody who writes at a place that does not say who wrote what.
pub const EVERYBODY: &str = "*";

/// Where somebody is believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whence {
    /// Which project.
    pub project: String,
    /// The directory of the clone, links resolved; of a server nothing.
    pub root: String,
    /// The address of what is shared: of a repository its remote, of a directory its path, of a server its team.
    pub address: String,
}

/// Everything the user said about authors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// Place by place.
    #[serde(default)]
    places: Vec<Believed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Believed {
    #[serde(flatten)]
    whence: Whence,
    /// Since when, by author.
    authors: BTreeMap<String, Timestamp>,
}

impl Trust {
    /// Says whether the user believes what `author` wrote at a place; `None` is an author whom nobody knows.
    pub fn believes(&self, whence: &Whence, author: Option<&str>) -> bool {
        let authors = self.authors(whence);
        authors.is_some_and(|authors| {
            authors.contains_key(EVERYBODY) || author.is_some_and(|author| authors.contains_key(author))
        })
    }

    /// Returns who is believed at a place, and since when.
    pub fn authors(&self, whence: &Whence) -> Option<&BTreeMap<String, Timestamp>> {
        self.places.iter().find(|place| place.whence == *whence).map(|place| &place.authors)
    }

    /// Believes an author from now on. Says whether that is new.
    pub fn believe(&mut self, whence: &Whence, author: &str, now: Timestamp) -> bool {
        let at = match self.places.iter().position(|place| place.whence == *whence) {
            Some(at) => at,
            None => {
                self.places.push(Believed { whence: whence.clone(), authors: BTreeMap::new() });
                self.places.len() - 1
            }
        };
        let authors = &mut self.places[at].authors;
        let is_new = !authors.contains_key(author);
        authors.entry(author.to_owned()).or_insert(now);
        is_new
    }

    /// Believes an author no longer. Says whether it was believed.
    pub fn doubt(&mut self, whence: &Whence, author: &str) -> bool {
        let place = self.places.iter_mut().find(|place| place.whence == *whence);
        let was = place.is_some_and(|place| place.authors.remove(author).is_some());
        self.places.retain(|place| !place.authors.is_empty());
        was
    }

    /// Believes nobody at a place any longer.
    pub fn forget(&mut self, whence: &Whence) {
        self.places.retain(|place| place.whence != *whence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whence(root: &str, address: &str) -> Whence {
        Whence { project: "web-1".into(), root: root.into(), address: address.into() }
    }

    #[test]
    fn ux_14_trust_is_for_one_author_in_one_clone_at_one_address() {
        let now: Timestamp = "2026-04-02T10:30:00Z".parse().unwrap();
        let here = whence("/a", "host/x");
        let mut trust = Trust::default();
        assert!(!trust.believes(&here, Some("ann")) && !trust.believes(&here, None));
        assert!(trust.believe(&here, "ann", now));
        assert!(!trust.believe(&here, "ann", now), "nothing new");
        assert!(trust.believes(&here, Some("ann")));
        assert!(!trust.believes(&here, Some("bob")) && !trust.believes(&here, None));
        for other in [whence("/b", "host/x"), whence("/a", "evil/x")] {
            assert!(!trust.believes(&other, Some("ann")), "{other:?}");
        }
        let printed = serde_json::to_string(&trust).unwrap();
        assert_eq!(serde_json::from_str::<Trust>(&printed).unwrap(), trust);
        assert!(trust.doubt(&here, "ann") && !trust.doubt(&here, "ann"));
        assert_eq!(trust, Trust::default());
    }

    #[test]
    fn a_place_without_names_is_believed_as_a_whole() {
        let now: Timestamp = "2026-04-02T10:30:00Z".parse().unwrap();
        let here = whence("", "/share");
        let mut trust = Trust::default();
        trust.believe(&here, EVERYBODY, now);
        assert!(trust.believes(&here, None) && trust.believes(&here, Some("x")));
        trust.forget(&here);
        assert!(!trust.believes(&here, None));
    }
}
