//! What the registry holds about a project's documents: its tier, and the days they were brought up to date.

use std::collections::BTreeMap;

use jiff::civil::Date;
use memdir_core::tiers::DocTier;
use serde_json::{Map, Value, json};

use super::registry::Project;

const TIER: &str = "doc_tier";
const LOCKED: &str = "doc_tier_locked";
const SYNC: &str = "doc_sync";

impl Project {
    /// Returns the tier that was recorded last.
    pub fn doc_tier(&self) -> Option<DocTier> {
        self.other.get(TIER)?.as_str()?.parse().ok()
    }

    /// Returns the tier that the user decided on.
    pub fn locked_tier(&self) -> Option<DocTier> {
        let is_locked = self.other.get(LOCKED).and_then(Value::as_bool).unwrap_or(false);
        if is_locked { self.doc_tier() } else { None }
    }

    /// Records a tier, found or decided on.
    pub fn set_doc_tier(&mut self, tier: Option<DocTier>, is_locked: bool) {
        match tier {
            Some(tier) => drop(self.other.insert(TIER.to_owned(), json!(tier))),
            None => drop(self.other.shift_remove(TIER)),
        }
        self.other.insert(LOCKED.to_owned(), json!(is_locked));
    }

    /// Returns the days on which documents were last brought up to date.
    pub fn doc_sync(&self) -> BTreeMap<String, Date> {
        let days = self.other.get(SYNC).and_then(Value::as_object);
        let day = |(document, day): (&String, &Value)| Some((document.clone(), day.as_str()?.parse().ok()?));
        days.into_iter().flatten().filter_map(day).collect()
    }

    /// Records the day on which a document was brought up to date.
    pub fn set_doc_sync(&mut self, document: &str, day: Date) {
        let days = self.other.entry(SYNC).or_insert_with(|| Value::Object(Map::new()));
        if !days.is_object() {
            *days = Value::Object(Map::new());
        }
        days[document] = json!(day.to_string());
    }
}
