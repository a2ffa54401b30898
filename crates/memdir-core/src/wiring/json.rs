//! JSON as people write it, with comments and trailing commas, and where in the text everything stands.
//!
//! [`parse`] reads a text into [`Node`]s with spans; [`add`] puts one more child into an object or array in the style of
//! its neighbours; [`remove`] takes one out. Nothing else of the text is touched: not a blank, not a comment.

use std::ops::Range;

use serde_json::Value;

use super::Trouble;
use super::splice::{Draft, cut, line_around, newline, without};

/// No settings file nests deeper.
const MAX_DEPTH: usize = 128;
/// What some editors put before a text.
const MARK: char = '\u{feff}';

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Text(String),
    /// A number, `true`, `false` or `null`.
    Other,
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key begins.
    pub(super) start: usize,
    pub(super) value: Node,
}

impl Node {
    /// Returns the value of a key; the last one, if a key is there twice, as every host reads it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.position(key).map(|n| self.child(n))
    }

    /// Returns which child a key is.
    pub(super) fn position(&self, key: &str) -> Option<usize> {
        let Kind::Object(members) = &self.kind else { return None };
        members.iter().rposition(|member| member.key == key)
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    pub(super) fn elements(&self) -> &[Self] {
        if let Kind::Array(elements) = &self.kind { elements } else { &[] }
    }

    pub(super) fn members(&self) -> &[Member] {
        if let Kind::Object(members) = &self.kind { members } else { &[] }
    }

    pub(super) fn n_children(&self) -> usize {
        self.elements().len() + self.members().len()
    }

    /// Returns the node that a path of child numbers leads to.
    pub(super) fn at(&self, path: &[usize]) -> &Self {
        path.iter().fold(self, |node, &n| node.child(n))
    }

    fn child(&self, n: usize) -> &Self {
        match &self.kind {
            Kind::Object(members) => &members[n].value,
            Kind::Array(elements) => &elements[n],
            _ => self,
        }
    }

    /// Returns where a child stands, with its key.
    fn child_span(&self, n: usize) -> Range<usize> {
        match &self.kind {
            Kind::Object(members) => members[n].start..members[n].value.span.end,
            _ => self.child(n).span.clone(),
        }
    }
}

/// Says whether the child that `path` leads to is an empty container, without so much as a comment in it.
pub(super) fn is_void(text: &str, root: &Node, path: &[usize]) -> bool {
    let Some((&n, parents)) = path.split_last() else { return false };
    let node = root.at(path);
    let head = &text[root.at(parents).child_span(n).start..node.span.start];
    let is_container = matches!(node.kind, Kind::Object(_) | Kind::Array(_));
    let inner = is_container.then(|| &text[node.span.start + 1..node.span.end - 1]);
    inner.is_some_and(|inner| inner.trim().is_empty()) && !head.contains("//") && !head.contains("/*")
}

/// Reads a text; `None` if there is nothing in it.
pub(super) fn parse(text: &str) -> Result<Option<Node>, Trouble> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    if text.starts_with(MARK) {
        reader.at = MARK.len_utf8();
    }
    reader.skip()?;
    if reader.at == text.len() {
        return Ok(None);
    }
    let node = reader.value()?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.trouble("something stands behind the end"));
    }
    Ok(Some(node))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn trouble(&self, what: &'static str) -> Trouble {
        let line = self.text.as_bytes()[..self.at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Trouble::Syntax { line, what }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self) -> Result<(), Trouble> {
        self.at = skip(self.text, self.at).ok_or_else(|| self.trouble("a comment has no end"))?;
        Ok(())
    }

    fn value(&mut self) -> Result<Node, Trouble> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Kind::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn nested(&mut self, read: impl Fn(&mut Self) -> Result<Kind, Trouble>) -> Result<Kind, Trouble> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.trouble("it is nested too deeply"));
        }
        self.at += 1;
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    fn object(&mut self) -> Result<Kind, Trouble> {
        let mut members = Vec::new();
        while self.goes_on(b'}', members.is_empty())? {
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.trouble("a key in double quotes is missing"));
            }
            let key = self.string()?;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.trouble("a colon is missing"));
            }
            self.at += 1;
            self.skip()?;
            members.push(Member { key, start, value: self.value()? });
        }
        Ok(Kind::Object(members))
    }

    fn array(&mut self) -> Result<Kind, Trouble> {
        let mut elements = Vec::new();
        while self.goes_on(b']', elements.is_empty())? {
            elements.push(self.value()?);
        }
        Ok(Kind::Array(elements))
    }

    /// Comes to the next child, past the comma before it, or past the end.
    fn goes_on(&mut self, close: u8, is_first: bool) -> Result<bool, Trouble> {
        self.skip()?;
        if !is_first && self.peek() == Some(b',') {
            self.at += 1;
            self.skip()?;
        } else if !is_first && self.peek() != Some(close) {
            return Err(self.trouble("a comma or an end is missing"));
        }
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        Ok(true)
    }

    fn string(&mut self) -> Result<String, Trouble> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.trouble("a text has no end")),
                Some(_) => end += 1,
            }
        }
        let text = serde_json::from_str(&self.text[self.at..=end]);
        let text = text.map_err(|_| self.trouble("a text is not written as JSON"))?;
        self.at = end + 1;
        Ok(text)
    }

    fn word(&mut self) -> Result<Kind, Trouble> {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let word = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        if serde_json::from_str::<Value>(word).is_err() {
            return Err(self.trouble("a value is missing"));
        }
        self.at += word.len();
        Ok(Kind::Other)
    }
}

/// Returns the offset behind blanks and comments; `None` if a comment has no end.
fn skip(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        at += blank;
        at = match &text[at..] {
            rest if rest.starts_with("//") => at + rest.find('\n').unwrap_or(rest.len()),
            rest if rest.starts_with("/*") => at + 2 + rest[2..].find("*/")? + 2,
            _ => return Some(at),
        };
    }
}

/// How the children of a container are set.
enum Style {
    /// All on one line, with what follows a comma.
    Row(&'static str),
    /// Each on a line of its own, behind this.
    Lines(String),
}

/// Adds a child behind the others of the container that `path` leads to, as its neighbours are set.
pub(super) fn add(
    draft: &mut Draft,
    path: &[usize],
    key: Option<&str>,
    value: &Value,
) -> Result<(), Trouble> {
    let text = draft.text.clone();
    let root = parse(&text)?.ok_or(Trouble::Empty)?;
    let container = root.at(path);
    let unit = unit(&text, &root);
    let style = style(&text, &root, path, &unit);
    let nl = newline(&text);
    let mut child = key.map_or_else(String::new, |key| format!("{}: ", Value::from(key)));
    match &style {
        Style::Row(_) => child.push_str(&value.to_string()),
        Style::Lines(indent) => render(value, indent, &unit, nl, &mut child),
    }
    let close = container.span.end - 1;
    let Some(last) = container.n_children().checked_sub(1) else {
        fill(draft, container, &style, nl, &child);
        return Ok(());
    };
    let end = container.child_span(last).end;
    let comma = skip(&text, end).filter(|at| *at < close && text.as_bytes()[*at] == b',');
    match (style, comma) {
        (Style::Row(gap), None) => draft.insert(end, &format!(",{gap}{child}")),
        (Style::Row(gap), Some(comma)) => draft.insert(comma + 1, &format!("{gap}{child},")),
        (Style::Lines(indent), None) => {
            let at = behind_remark(&text, end, close);
            if at == end {
                draft.insert(end, &format!(",{nl}{indent}{child}"));
            } else {
                draft.insert(at, &format!("{nl}{indent}{child}"));
                draft.insert(end, ",");
            }
        }
        (Style::Lines(indent), Some(comma)) => {
            let at = behind_remark(&text, comma + 1, close);
            draft.insert(at, &format!("{nl}{indent}{child},"));
        }
    }
    Ok(())
}

/// Puts the first child into an empty container, behind the comments that may be in it.
fn fill(draft: &mut Draft, container: &Node, style: &Style, nl: &str, child: &str) {
    let text = &draft.text;
    let close = container.span.end - 1;
    let inner = &text[container.span.start + 1..close];
    let blank = inner.len() - inner.trim_end_matches([' ', '\t', '\r', '\n']).len();
    let at = close - blank;
    let breaks = inner[inner.len() - blank..].contains('\n');
    let outer = text[line_around(text, container.span.start)].to_owned();
    let outer = &outer[..outer.len() - outer.trim_start_matches([' ', '\t']).len()];
    let inserted = match style {
        Style::Row(_) if !breaks => child.to_owned(),
        // A comment may end with the line: what comes next needs a line of its own.
        Style::Row(_) => format!("{nl}{child}"),
        Style::Lines(indent) if breaks => format!("{nl}{indent}{child}"),
        Style::Lines(indent) => format!("{nl}{indent}{child}{nl}{outer}"),
    };
    draft.insert(at, &inserted);
}

fn style(text: &str, root: &Node, path: &[usize], unit: &str) -> Style {
    let container = root.at(path);
    if container.n_children() == 0 {
        let is_tiny = root.n_children() == 0;
        let has_lines = has_own_line(text, root, path) && text[root.span.clone()].contains('\n');
        if !is_tiny && !has_lines {
            return Style::Row(" ");
        }
        let line = &text[line_around(text, container.span.start)];
        let outer = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        return Style::Lines(format!("{outer}{unit}"));
    }
    let first = container.child_span(0).start;
    let line = line_around(text, first).start;
    let lead = &text[line..first];
    if line > container.span.start && lead.trim_matches([' ', '\t']).is_empty() {
        return Style::Lines(lead.to_owned());
    }
    let second = (container.n_children() > 1).then(|| container.child_span(1).start);
    let is_tight = second.is_some_and(|second| text[..second].ends_with(','))
        || (second.is_none() && !text[root.span.clone()].contains([' ', '\n']));
    Style::Row(if is_tight { "" } else { " " })
}

/// Says whether a container, or its key, is the first on its line.
fn has_own_line(text: &str, root: &Node, path: &[usize]) -> bool {
    let start = match path.split_last() {
        Some((&n, parents)) => root.at(parents).child_span(n).start,
        None => root.span.start,
    };
    text[line_around(text, start).start..start].trim_matches([' ', '\t', MARK]).is_empty()
}

/// Returns what one level is set in by.
fn unit(text: &str, root: &Node) -> String {
    if root.n_children() > 0 {
        let first = root.child_span(0).start;
        let line = line_around(text, first).start;
        let lead = &text[line..first];
        if line > root.span.start && !lead.is_empty() && lead.trim_matches([' ', '\t']).is_empty() {
            return lead.to_owned();
        }
    }
    "  ".to_owned()
}

/// Returns the offset behind the comments that stand on the same line.
fn behind_remark(text: &str, from: usize, close: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..close];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = &rest[blank..];
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let line = &rest[..end];
            return at + blank + line.strip_suffix('\r').unwrap_or(line).len();
        }
        match rest.strip_prefix("/*").and_then(|rest| rest.find("*/")) {
            Some(end) if !rest[..end].contains('\n') => at += blank + end + 4,
            _ => return at,
        }
    }
}

/// Writes a value on several lines.
fn render(value: &Value, indent: &str, unit: &str, nl: &str, into: &mut String) {
    let inner = format!("{indent}{unit}");
    let (open, close, children): (char, char, Vec<(String, &Value)>) = match value {
        Value::Object(members) if !members.is_empty() => {
            let keyed = |(key, value)| (format!("{}: ", Value::from(String::clone(key))), value);
            ('{', '}', members.iter().map(keyed).collect())
        }
        // Words of a command stay on one line.
        Value::Array(elements)
            if elements.iter().any(|element| element.is_object() || element.is_array()) =>
        {
            ('[', ']', elements.iter().map(|element| (String::new(), element)).collect())
        }
        plain => return into.push_str(&plain.to_string()),
    };
    into.push(open);
    for (n, (key, child)) in children.into_iter().enumerate() {
        into.push_str(if n == 0 { "" } else { "," });
        into.push_str(&format!("{nl}{inner}{key}"));
        render(child, &inner, unit, nl, into);
    }
    into.push_str(&format!("{nl}{indent}{close}"));
}

/// Returns the text without the child that `path` leads to, and without the comma that it leaves over.
pub(super) fn remove(text: &str, root: &Node, path: &[usize]) -> String {
    let Some((&n, parents)) = path.split_last() else { return text.to_owned() };
    let container = root.at(parents);
    let span = container.child_span(n);
    let close = container.span.end - 1;
    let comma = skip(text, span.end).filter(|at| *at < close && text.as_bytes()[*at] == b',');
    if container.n_children() == 1 {
        let end = comma.map_or(span.end, |comma| comma + 1);
        let inner = (container.span.start + 1, close);
        if comma.is_some_and(|comma| !text[span.end..comma].trim().is_empty()) {
            return without(text, &[span, end - 1..end]);
        }
        let is_alone = text[inner.0..span.start].trim().is_empty() && text[end..inner.1].trim().is_empty();
        return cut(text, if is_alone { inner.0..inner.1 } else { whole_lines(text, span.start..end) });
    }
    if let Some(comma) = comma {
        if text[span.end..comma].trim().is_empty() {
            return cut(text, whole_lines(text, span.start..comma + 1));
        }
        // What stands between a value and its comma can only be a comment, and may be the user's.
        return without(text, &[span, comma..comma + 1]);
    }
    let before = container.child_span(n - 1).end;
    let comma = skip(text, before).unwrap_or(before);
    if text[comma + 1..span.start].trim().is_empty() {
        return cut(text, comma..span.end);
    }
    without(text, &[comma..comma + 1, whole_lines(text, span)])
}

/// Widens a span to its lines if it has them for itself, else to the blanks behind it.
fn whole_lines(text: &str, span: Range<usize>) -> Range<usize> {
    let line = line_around(text, span.start).start;
    let rest = &text[span.end..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let behind = &rest[blank..];
    let is_first = text[line..span.start].trim_matches([' ', '\t']).is_empty();
    match behind.find('\n') {
        Some(end) if is_first && behind[..end].trim_matches('\r').is_empty() => {
            line..span.end + blank + end + 1
        }
        _ => span.start..span.end + blank,
    }
}
