//! The fields of one JSON object, by where they stand in the text.
//!
//! Two fields of one name, or a name that is written with escapes, are read by different programs in different ways. An
//! object that has them is not read at all.

use std::ops::Range;

use serde_json::Value;

use crate::compact::spans;
use crate::transcript::json::mend;

/// An object has no more fields, or it is not read: each is compared with the others.
const MAX_FIELDS: usize = 64;

/// The fields of an object in a text that is JSON.
#[derive(Debug)]
pub(super) struct Fields<'t> {
    text: &'t str,
    fields: Vec<(&'t str, Range<usize>)>,
}

impl<'t> Fields<'t> {
    /// Finds the fields; `None` if this is no object, or not a plain one.
    pub(super) fn read(text: &'t str, at: Range<usize>) -> Option<Self> {
        let fields = spans::object(text, at)?;
        let is_first = |nth: usize| !fields[..nth].iter().any(|(name, _)| *name == fields[nth].0);
        let is_plain = fields.len() <= MAX_FIELDS
            && fields.iter().all(|(name, _)| !name.contains('\\'))
            && (0..fields.len()).all(is_first);
        is_plain.then_some(Self { text, fields })
    }

    /// Returns where the value of a field stands.
    pub(super) fn at(&self, name: &str) -> Option<Range<usize>> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, at)| at.clone())
    }

    /// Returns the value of a field, as it is written.
    pub(super) fn raw(&self, name: &str) -> Option<&'t str> {
        self.at(name).map(|at| &self.text[at])
    }

    /// Returns a text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.raw(name).and_then(string)
    }

    /// Returns a value.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        value(self.raw(name)?)
    }

    /// Returns the fields of an object that is a field.
    pub(super) fn object(&self, name: &str) -> Option<Self> {
        Self::read(self.text, self.at(name)?)
    }

    /// Returns where the values of a list stand.
    pub(super) fn list(&self, name: &str) -> Option<Vec<Range<usize>>> {
        spans::array(self.text, self.at(name)?)
    }

    /// Says whether a field is there and holds something.
    pub(super) fn has(&self, name: &str) -> bool {
        self.raw(name).is_some_and(|raw| !matches!(raw, "null" | "[]" | "{}" | "\"\""))
    }
}

/// Reads a JSON string. Halves of characters, which some hosts leave behind, are replaced.
pub(super) fn string(raw: &str) -> Option<String> {
    if !raw.starts_with('"') {
        return None;
    }
    serde_json::from_str(raw).or_else(|_| serde_json::from_str(&mend(raw))).ok()
}

fn value(raw: &str) -> Option<Value> {
    serde_json::from_str(raw).or_else(|_| serde_json::from_str(&mend(raw))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_that_can_be_read_in_two_ways_is_not_read() {
        for (text, is_read) in [
            (r#"{"a":1,"b":[2]}"#, true),
            (r#"{"a":1,"a":2}"#, false),
            (r#"{"\u0061":1}"#, false),
            ("[1]", false),
            ("{}", true),
        ] {
            assert_eq!(Fields::read(text, 0..text.len()).is_some(), is_read, "{text}");
        }
    }

    #[test]
    fn half_a_character_is_replaced_and_the_rest_is_read() {
        assert_eq!(string(r#""a\ud83d b""#).as_deref(), Some("a\u{fffd} b"));
        assert_eq!(string("12"), None);
    }
}
