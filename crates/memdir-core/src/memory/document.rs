//! A memory file as bytes: its frontmatter, its body, and what a field says.
//!
//! Reading never fails. A file has frontmatter, has none, or has some that is not in our subset of YAML; then it is
//! *raw*: it can be listed and searched, but nobody rewrites it. [`Document`] keeps every byte, so what was read
//! can be written back unchanged; the edits (see [`EditError`](super::EditError)) touch only the lines they name.

use super::header::{bom_len, break_len, close_fence, open_fence};
use super::problem::{Problem, ProblemKind};
use super::value::Value;
use super::yaml::{self, Entry, Kind, MAX_BYTES, Map, Node, Span};

/// The key that holds every extension.
pub(super) const METADATA: &str = "metadata";
/// Keys of other programs that we read as one of ours.
const ALIASES: [(&str, &str); 3] =
    [("verified", "last_verified"), ("expires", "stale_after"), ("modified", "updated")];

/// A memory file, byte for byte, with its frontmatter understood as far as possible.
#[derive(Debug, Clone)]
pub struct Document {
    pub(super) bytes: Vec<u8>,
    pub(super) frontmatter: Frontmatter,
    /// The lines between the fences.
    pub(super) inner: Span,
    /// Where the body begins: after the closing fence and one blank line.
    pub(super) body_start: usize,
}

/// The frontmatter of a file.
#[derive(Debug, Clone)]
pub enum Frontmatter {
    /// The file has none, and never gets any unasked.
    Absent,
    /// There is some, but it is not in our subset of YAML; the problem says why.
    Raw(Problem),
    /// It was understood.
    Mapping(Mapping),
}

/// The keys of a frontmatter, in the order of the file.
#[derive(Debug, Clone)]
pub struct Mapping(pub(super) Map);

impl Document {
    /// Reads a file, or the header of one.
    pub fn parse(bytes: &[u8]) -> Self {
        Self::from(bytes.to_vec())
    }

    /// Returns every byte of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns what follows the frontmatter and the blank line after it.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.body_start..]
    }

    /// Returns the frontmatter.
    pub fn frontmatter(&self) -> &Frontmatter {
        &self.frontmatter
    }

    /// Returns what a field says, at the top level or under `metadata`, under its name or an older one. A key
    /// without a value says nothing.
    pub fn get(&self, field: &str) -> Option<Value> {
        let found = self.find(field)?;
        Some(self.value(&found.entry.value)).filter(|value| *value != Value::Null)
    }

    /// Returns the text of a field that holds one, without a copy.
    pub fn text(&self, field: &str) -> Option<&str> {
        match &self.find(field)?.entry.value.kind {
            Kind::Text(text) => Some(text.as_str(&self.bytes)),
            _ => None,
        }
    }

    /// Returns what stands behind `field:` on every line of the frontmatter that begins so, at whatever depth.
    pub fn values_of<'d>(&'d self, field: &'d str) -> impl Iterator<Item = String> + 'd {
        let lines = self.bytes[self.inner.clone()].split(|&byte| byte == b'\n');
        let values = lines.filter_map(move |line| {
            line.trim_ascii_start().strip_prefix(field.as_bytes())?.trim_ascii_start().strip_prefix(b":")
        });
        values.map(|value| String::from_utf8_lossy(value).trim().to_owned())
    }

    /// Guesses a field of a raw file from a line `field: …`, so that it can be listed.
    pub fn guess(&self, field: &str) -> Option<String> {
        let lines = self.bytes[self.inner.clone()].split(|&byte| byte == b'\n');
        let rest = lines
            .filter_map(|line| line.strip_prefix(field.as_bytes())?.strip_prefix(b":"))
            .map(|rest| String::from_utf8_lossy(rest).trim().to_owned())
            .find(|rest| !rest.is_empty())?;
        let unquoted = ['"', '\'']
            .iter()
            .find_map(|&quote| rest.strip_prefix(quote)?.strip_suffix(quote))
            .unwrap_or(&rest);
        Some(unquoted.to_owned())
    }

    /// Returns everything the frontmatter says, in the order of the file.
    pub fn fields(&self) -> Vec<(String, Value)> {
        self.map().map(|map| self.pairs(map)).unwrap_or_default()
    }

    /// Returns the keys at the top level, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let entries = self.map().map(|map| map.entries.as_slice()).unwrap_or_default();
        entries.iter().map(|entry| entry.key.as_str(&self.bytes))
    }

    /// Returns the line, counted from 1, on which a field stands.
    pub fn line_of(&self, field: &str) -> Option<usize> {
        self.find(field).map(|found| line_at(&self.bytes, found.entry.key_span.start))
    }

    pub(super) fn map(&self) -> Option<&Map> {
        match &self.frontmatter {
            Frontmatter::Mapping(mapping) => Some(&mapping.0),
            _ => None,
        }
    }

    /// Returns the entry of `metadata`, whatever it holds.
    pub(super) fn metadata(&self) -> Option<&Entry> {
        self.map()?.entry(&self.bytes, METADATA)
    }

    /// Returns the mapping under `metadata`, if it is one.
    pub(super) fn metadata_map(&self) -> Option<&Map> {
        match &self.metadata()?.value.kind {
            Kind::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Finds every entry of a field, the one that counts first: names before aliases, top level before metadata.
    pub(super) fn occurrences<'a>(&'a self, field: &str) -> impl Iterator<Item = Found<'a>> {
        let alias = ALIASES.iter().find(|(name, _)| *name == field).map(|(_, alias)| *alias);
        let maps = [(self.map(), false), (self.metadata_map(), true)];
        std::iter::once(field).chain(alias).flat_map(move |key| {
            maps.into_iter().filter_map(move |(map, in_metadata)| {
                let map = map?;
                map.entry(&self.bytes, key).map(|entry| Found { entry, map, in_metadata })
            })
        })
    }

    /// Finds the entry of a field that counts: the first one that says something.
    pub(super) fn find(&self, field: &str) -> Option<Found<'_>> {
        let mut empty = None;
        for found in self.occurrences(field) {
            if !matches!(found.entry.value.kind, Kind::Null) {
                return Some(found);
            }
            empty.get_or_insert(found);
        }
        empty
    }

    pub(super) fn value(&self, node: &Node) -> Value {
        match &node.kind {
            Kind::Null => Value::Null,
            Kind::Text(text) => Value::Text(text.as_str(&self.bytes).to_owned()),
            Kind::List(list) => Value::List(list.items.iter().map(|item| self.value(&item.value)).collect()),
            Kind::Map(map) => Value::Map(self.pairs(map)),
        }
    }

    pub(super) fn pairs(&self, map: &Map) -> Vec<(String, Value)> {
        let pair = |entry: &Entry| (entry.key.as_str(&self.bytes).to_owned(), self.value(&entry.value));
        map.entries.iter().map(pair).collect()
    }
}

impl From<Vec<u8>> for Document {
    fn from(bytes: Vec<u8>) -> Self {
        let start = bom_len(&bytes);
        let Some(open) = open_fence(&bytes) else {
            return Self { bytes, frontmatter: Frontmatter::Absent, inner: start..start, body_start: start };
        };
        let Some(close) = close_fence(&bytes, open) else {
            let inner = open..bytes.len().min(open + MAX_BYTES);
            let why = match inner.end == bytes.len() {
                true => "no closing `---`",
                false => "no closing `---` within 16 KiB",
            };
            let frontmatter = raw(1, why);
            return Self { bytes, frontmatter, inner, body_start: start };
        };
        let frontmatter = match yaml::read(&bytes, open..close.start) {
            Ok(map) => Frontmatter::Mapping(Mapping(map)),
            Err(refusal) => raw(line_at(&bytes, refusal.at), refusal.why),
        };
        let body_start = close.end + break_len(&bytes[close.end..]);
        Self { frontmatter, inner: open..close.start, body_start, bytes }
    }
}

fn raw(line: usize, why: &str) -> Frontmatter {
    let message = format!("the frontmatter cannot be read: {why}");
    Frontmatter::Raw(Problem::new(ProblemKind::Raw, Some(line), message))
}

/// An entry and the mapping that holds it.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub entry: &'a Entry,
    pub map: &'a Map,
    pub in_metadata: bool,
}

/// Returns the line, counted from 1, that holds the byte at `at`.
pub(super) fn line_at(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count()
}
