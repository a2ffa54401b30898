//! Edits of a memory file that change as few bytes as possible.
//!
//! Each edit makes a new [`Document`] and keeps the layout the file has: flat keys stay flat, keys under `metadata`
//! stay there, lists in brackets stay in brackets, line endings stay what they are. Comments, blank lines, unknown
//! keys and the spelling of every other value survive. The result is read again before anybody sees it: if the
//! field does not say what it should, or another one says something else, the edit is refused.

use std::borrow::Cow;
use std::ops::Range;

use super::document::{Document, Found, Frontmatter, METADATA};
use super::header::{bom_len, break_len};
use super::value::Value;
use super::words::MemoryType;
use super::yaml::emit::{Place, scalar};
use super::yaml::{Entry, Item, Kind, List, MAX_BYTES, Map, Style};

/// Fields that live at the top level, in this order.
const TOP_FIELDS: [&str; 3] = ["name", "description", "type"];
/// Fields that other readers expect as a date or truth value, so they are written without quotes.
const TYPED_FIELDS: [&str; 8] =
    ["created", "modified", "verified", "expires", "pinned", "last_verified", "stale_after", "updated"];
/// How much deeper than its parent we indent.
const STEP: usize = 2;

/// Says why a file was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The frontmatter is not in our subset of YAML; such a file is never rewritten.
    #[error("the file is not changed: {0}")]
    Raw(String),
    /// The file has no frontmatter, and nobody asked for some.
    #[error("the file has no frontmatter")]
    Absent,
    /// The file already has frontmatter.
    #[error("the file already has frontmatter")]
    Present,
    /// The text cannot be a key.
    #[error("`{}` cannot be the name of a field", .0.escape_debug())]
    BadField(String),
    /// The value is nothing, a mapping, or a list of something other than texts.
    #[error("`{}` can only hold a text or a list of texts", .0.escape_debug())]
    NotWritable(String),
    /// `metadata` holds something that has no place for another key.
    #[error("`metadata` is not a mapping")]
    MetadataNotAMap,
    /// The edited frontmatter would be larger than we read.
    #[error("the frontmatter would be larger than 16 KiB")]
    TooLarge,
    /// The edited file would no longer say what it should, for instance because it has too many keys.
    #[error("the edited frontmatter could not be read back: {0}")]
    NotReadBack(String),
}

impl Document {
    /// Sets a field, where the file has it or where it belongs.
    pub fn set(&self, field: &str, value: &Value) -> Result<Self, EditError> {
        let map = self.editable(field)?;
        let written = Written::new(field, value)?;
        if self.get(field).as_ref() == Some(value) {
            return Ok(self.clone());
        }
        let edits = match self.find(field) {
            Some(found) => self.replace(found, &written),
            None => self.insert(map, field, &written)?,
        };
        self.apply(edits).read_back(self, field, Some(value))
    }

    /// Removes a field wherever the file has it.
    pub fn remove(&self, field: &str) -> Result<Self, EditError> {
        self.editable(field)?;
        let occurrences: Vec<_> = self.occurrences(field).collect();
        let mut edits: Vec<Edit> = occurrences.iter().map(|found| cut(found)).collect();
        if let Some(whole) = self.emptied_metadata(&occurrences) {
            edits.retain(|edit| edit.at.start < whole.start || edit.at.end > whole.end);
            edits.push(Edit::remove(whole));
        }
        self.apply(edits).read_back(self, field, None)
    }

    /// Replaces the body. In a file without frontmatter a body never becomes frontmatter.
    pub fn with_body(&self, body: &[u8]) -> Result<Self, EditError> {
        if let Frontmatter::Raw(problem) = &self.frontmatter {
            return Err(EditError::Raw(problem.message.clone()));
        }
        let mut bytes = self.bytes[..self.body_start].to_vec();
        let newline = self.newline_before(self.inner.end);
        if matches!(self.frontmatter, Frontmatter::Mapping(_)) && !body.is_empty() {
            let fence_is_open = !bytes.ends_with(b"\n");
            let is_apart = bytes.ends_with(b"\n\n") || bytes.ends_with(b"\n\r\n");
            if fence_is_open {
                bytes.extend_from_slice(newline.as_bytes());
            }
            if !is_apart && (self.body().is_empty() || break_len(body) > 0) {
                bytes.extend_from_slice(newline.as_bytes());
            }
        }
        let n_prefix = bytes.len();
        bytes.extend_from_slice(body);
        let edited = Self::from(bytes);
        let stays_absent = matches!(edited.frontmatter, Frontmatter::Absent) && edited.body_start == n_prefix;
        if matches!(self.frontmatter, Frontmatter::Absent) && !stays_absent {
            let mut bytes = edited.bytes;
            bytes.insert(n_prefix, b'\n');
            return Ok(Self::from(bytes));
        }
        Ok(edited)
    }

    /// Gives a file without frontmatter the three required fields; the body stays.
    pub fn with_frontmatter(
        &self,
        name: &str,
        description: &str,
        memory_type: MemoryType,
    ) -> Result<Self, EditError> {
        match &self.frontmatter {
            Frontmatter::Absent => {}
            Frontmatter::Raw(problem) => return Err(EditError::Raw(problem.message.clone())),
            Frontmatter::Mapping(_) => return Err(EditError::Present),
        }
        let newline = if self.body().windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
        let name = scalar(name, Place::Block);
        let description = scalar(description, Place::Block);
        let lines = ["---", &format!("name: {name}"), &format!("description: {description}")]
            .into_iter()
            .chain([format!("type: {memory_type}").as_str(), "---", ""])
            .flat_map(|line| [line, newline])
            .collect::<String>();
        let bom = &self.bytes[..bom_len(&self.bytes)];
        Ok(Self::from([bom, lines.as_bytes(), self.body()].concat()))
    }

    fn editable(&self, field: &str) -> Result<&Map, EditError> {
        match &self.frontmatter {
            _ if field == METADATA => Err(EditError::BadField(field.to_owned())),
            Frontmatter::Absent => Err(EditError::Absent),
            Frontmatter::Raw(problem) => Err(EditError::Raw(problem.message.clone())),
            Frontmatter::Mapping(mapping) => Ok(&mapping.0),
        }
    }

    /// Plans to give an entry that exists another value.
    fn replace(&self, found: Found<'_>, written: &Written<'_>) -> Vec<Edit> {
        let Found { entry, map, .. } = found;
        let old = &entry.value;
        if let (Kind::List(list), Written::List(items), Style::Block) = (&old.kind, written, map.style)
            && list.style == Style::Block
            && !items.is_empty()
            && let Some(edits) = self.replace_items(list, items)
        {
            return edits;
        }
        let is_flow = map.style == Style::Flow
            || matches!(&old.kind, Kind::List(List { style: Style::Flow, .. }))
                && matches!(written, Written::List(_));
        if is_flow && !old.span.is_empty() {
            return vec![Edit::new(old.span.clone(), written.flow())];
        }
        let on_key_line = !self.bytes[entry.after_colon..old.span.start].contains(&b'\n');
        let text = match is_flow {
            true => format!(" {}", written.flow()),
            false => written.after_colon(map.indent, self.newline_before(entry.lines.end)),
        };
        match written {
            Written::Text(new) if on_key_line && !old.span.is_empty() => {
                vec![Edit::new(old.span.clone(), new.to_string())]
            }
            _ if old.span.is_empty() => {
                vec![Edit::new(entry.after_colon..self.blanks_end(entry.after_colon), text)]
            }
            _ => vec![Edit::new(entry.after_colon..old.span.end, text)],
        }
    }

    /// Plans to keep the items that stay, cut the lines of those that go and add the others at the end.
    fn replace_items(&self, old: &List, new: &[Cow<'_, str>]) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        let mut wanted = new.iter();
        let mut next = wanted.next();
        let mut end = old.items.first()?.lines.start;
        for Item { value, lines } in &old.items {
            let Kind::Text(text) = &value.kind else { return None };
            let stays = next.is_some_and(|next| scalar(text.as_str(&self.bytes), Place::Block) == *next);
            if stays {
                next = wanted.next();
                end = lines.end;
            } else {
                edits.push(Edit::remove(lines.clone()));
            }
        }
        let first = &old.items[0];
        let dash = self.bytes[first.lines.start..].iter().position(|&byte| byte == b'-')?;
        let newline = self.newline_before(first.lines.end);
        let added: String =
            next.into_iter().chain(wanted).map(|item| list_line(dash, item, newline)).collect();
        edits.push(Edit::new(end..end, added));
        Some(edits)
    }

    /// Plans to add a field where it belongs.
    fn insert(&self, map: &Map, field: &str, written: &Written<'_>) -> Result<Vec<Edit>, EditError> {
        check_field(field)?;
        if TOP_FIELDS.contains(&field) && !(field == "type" && self.keeps_type_in_metadata()) {
            let at = self.place_at_top(map, field);
            return Ok(vec![Edit::new(at..at, self.new_line(field, written, map.indent, at))]);
        }
        let Some(entry) = self.metadata() else {
            let at = self.inner.end;
            let newline = self.newline_before(at);
            let line = self.new_line(field, written, map.indent + STEP, at);
            let text = format!("{:indent$}{METADATA}:{newline}{line}", "", indent = map.indent);
            return Ok(vec![Edit::new(at..at, text)]);
        };
        match &entry.value.kind {
            Kind::Null => {
                let at = entry.lines.end;
                let line = self.new_line(field, written, map.indent + STEP, at);
                Ok(vec![Edit::remove(entry.value.span.clone()), Edit::new(at..at, line)])
            }
            Kind::Map(Map { style: Style::Flow, entries, .. }) => {
                let text = format!("{field}: {}", written.flow());
                Ok(vec![match entries.last() {
                    Some(last) => Edit::new(last.lines.end..last.lines.end, format!(", {text}")),
                    None => Edit::new(entry.value.span.clone(), format!("{{{text}}}")),
                }])
            }
            Kind::Map(metadata) => {
                let at = metadata.entries.last().map_or(entry.lines.end, |last| last.lines.end);
                Ok(vec![Edit::new(at..at, self.new_line(field, written, metadata.indent, at))])
            }
            Kind::Text(_) | Kind::List(_) => Err(EditError::MetadataNotAMap),
        }
    }

    /// Says whether a program that keeps the type under `metadata` wrote this file.
    fn keeps_type_in_metadata(&self) -> bool {
        self.metadata_map().is_some_and(|metadata| metadata.entry(&self.bytes, "node_type").is_some())
    }

    /// Finds the place for a required field: after those that go before it, else before everything.
    fn place_at_top(&self, map: &Map, field: &str) -> usize {
        let before = TOP_FIELDS.iter().take_while(|other| **other != field);
        let last = before.filter_map(|other| map.entry(&self.bytes, other)).last();
        let first = || map.entries.first().map_or(self.inner.end, |entry| entry.lines.start);
        last.map_or_else(first, |entry| entry.lines.end)
    }

    fn new_line(&self, field: &str, written: &Written<'_>, indent: usize, at: usize) -> String {
        let newline = self.newline_before(at);
        format!("{:indent$}{field}:{}{newline}", "", written.after_colon(indent, newline))
    }

    /// Returns the lines of `metadata` if cutting these entries leaves nothing in it, not even a comment.
    fn emptied_metadata(&self, cut: &[Found<'_>]) -> Option<Range<usize>> {
        let entry = self.metadata()?;
        let metadata = self.metadata_map().filter(|map| map.style == Style::Block)?;
        let inside: Vec<&Entry> = cut.iter().filter(|found| found.in_metadata).map(|f| f.entry).collect();
        let first = inside.iter().map(|entry| entry.lines.start).min()?;
        let n_cut: usize = inside.iter().map(|entry| entry.lines.len()).sum();
        let is_bare = self.bytes[entry.after_colon..first].trim_ascii().is_empty();
        let is_all = inside.len() == metadata.entries.len() && first + n_cut == entry.lines.end;
        (is_bare && is_all).then(|| entry.lines.clone())
    }

    /// Returns the end of the blanks at `at` if nothing else is on the line, else `at`.
    fn blanks_end(&self, at: usize) -> usize {
        let n_blanks = self.bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if break_len(&self.bytes[at + n_blanks..]) > 0 { at + n_blanks } else { at }
    }

    /// Returns the line ending of the line before `at`.
    fn newline_before(&self, at: usize) -> &'static str {
        if self.bytes[..at].ends_with(b"\r\n") { "\r\n" } else { "\n" }
    }

    fn apply(&self, mut edits: Vec<Edit>) -> Self {
        edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
        let mut bytes = Vec::with_capacity(self.bytes.len() + 128);
        let mut done = 0;
        for edit in edits {
            bytes.extend_from_slice(&self.bytes[done..edit.at.start]);
            bytes.extend_from_slice(edit.text.as_bytes());
            done = edit.at.end;
        }
        bytes.extend_from_slice(&self.bytes[done..]);
        Self::from(bytes)
    }

    /// Checks that an edit of `before` did what it should and nothing else.
    fn read_back(self, before: &Self, field: &str, value: Option<&Value>) -> Result<Self, EditError> {
        let fault = |why: &str| Err(EditError::NotReadBack(why.to_owned()));
        if before.inner.len() + self.bytes.len() > MAX_BYTES + before.bytes.len() {
            return Err(EditError::TooLarge);
        }
        if let Frontmatter::Raw(problem) = &self.frontmatter {
            return fault(&problem.message);
        }
        if self.get(field).as_ref() != value {
            return fault("the field says something else");
        }
        if self.others(field) != before.others(field) || self.body() != before.body() {
            return fault("another field or the body changed");
        }
        Ok(self)
    }

    /// Returns all fields but one, with where they are.
    fn others(&self, field: &str) -> Vec<(String, Value)> {
        let cut: Vec<_> = self.occurrences(field).map(|found| found.entry.key_span.clone()).collect();
        let stays = |entry: &&Entry| !cut.contains(&entry.key_span);
        let maps = [self.map(), self.metadata_map()];
        maps.into_iter()
            .flatten()
            .flat_map(|map| map.entries.iter().filter(stays))
            .filter(|entry| entry.key.as_str(&self.bytes) != METADATA)
            .map(|entry| (entry.key.as_str(&self.bytes).to_owned(), self.value(&entry.value)))
            .collect()
    }
}

/// Replaces the bytes at a place.
struct Edit {
    at: Range<usize>,
    text: String,
}

impl Edit {
    fn new(at: Range<usize>, text: String) -> Self {
        Self { at, text }
    }

    fn remove(at: Range<usize>) -> Self {
        Self { at, text: String::new() }
    }
}

/// A value with its scalars quoted where needed.
enum Written<'a> {
    Text(Cow<'a, str>),
    List(Vec<Cow<'a, str>>),
}

impl<'a> Written<'a> {
    fn new(field: &str, value: &'a Value) -> Result<Self, EditError> {
        let place = if TYPED_FIELDS.contains(&field) { Place::Typed } else { Place::Block };
        let refused = || EditError::NotWritable(field.to_owned());
        match value {
            Value::Text(text) => Ok(Self::Text(scalar(text, place))),
            Value::List(items) => {
                let item = |item: &'a Value| Some(scalar(item.as_text()?, Place::Block));
                Ok(Self::List(items.iter().map(item).collect::<Option<_>>().ok_or_else(refused)?))
            }
            Value::Null | Value::Map(_) => Err(refused()),
        }
    }

    /// Returns what follows the colon of a key in column `indent`, without the last line break.
    fn after_colon(&self, indent: usize, newline: &str) -> String {
        match self {
            Self::Text(text) => format!(" {text}"),
            Self::List(items) if items.is_empty() => " []".to_owned(),
            Self::List(items) => {
                let lines: String =
                    items.iter().map(|item| list_line(indent + STEP, item, newline)).collect();
                format!("{newline}{}", &lines[..lines.len() - newline.len()])
            }
        }
    }

    /// Returns the value as it stands between brackets.
    fn flow(&self) -> String {
        match self {
            Self::Text(text) => flow_scalar(text).into_owned(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(|item| flow_scalar(item)).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }
}

/// Quotes a written scalar if brackets would misread it.
fn flow_scalar(written: &str) -> Cow<'_, str> {
    if written.starts_with('"') { Cow::Borrowed(written) } else { scalar(written, Place::Flow) }
}

fn list_line(indent: usize, item: &str, newline: &str) -> String {
    format!("{:indent$}- {item}{newline}", "")
}

/// Plans to cut an entry: its lines, or its part of a mapping in braces with one comma.
fn cut(found: &Found<'_>) -> Edit {
    let Found { entry, map, .. } = found;
    if map.style == Style::Block {
        return Edit::remove(entry.lines.clone());
    }
    let i = map.entries.iter().position(|other| other.key_span == entry.key_span).unwrap_or_default();
    let starts = |entry: &Entry| entry.lines.start;
    match (map.entries.get(i + 1), i.checked_sub(1).and_then(|i| map.entries.get(i))) {
        (Some(next), _) => Edit::remove(entry.lines.start..starts(next)),
        (None, Some(previous)) => Edit::remove(previous.lines.end..entry.lines.end),
        (None, None) => Edit::remove(entry.lines.clone()),
    }
}

/// Refuses what cannot be a key for every reader.
fn check_field(field: &str) -> Result<(), EditError> {
    let is_word = field.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let begins = field.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_safe = scalar(field, Place::Block) == field;
    if !is_word || !begins || !is_safe || field.len() > 64 {
        return Err(EditError::BadField(field.to_owned()));
    }
    Ok(())
}
