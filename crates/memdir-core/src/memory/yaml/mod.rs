//! Reads the part of YAML that memory files use, and remembers where everything stood.
//!
//! A memory file is untrusted input and must be editable without disturbing a byte that nobody named. So this is
//! a strict subset with byte spans: mappings, lists, plain, quoted and block scalars, flow collections, comments.
//! Every scalar is text; nothing becomes a number, a date or a boolean. It refuses anchors, aliases, tags, merge
//! keys, duplicate keys, explicit keys, tabs in the indentation and whatever is too large or too deep, with one
//! [`Refusal`]. What it accepts means the same to any YAML 1.2 reader. Look at [`read`] and [`Node`] first;
//! [`emit`] is the way back.

pub(crate) mod emit;
mod flow;
mod scalar;

use std::ops::Range;

/// Where something stands in the file, in bytes.
pub(super) type Span = Range<usize>;

/// Largest frontmatter we read, in bytes.
pub(super) const MAX_BYTES: usize = 16 * 1024;
/// Most keys of a frontmatter, nested ones included.
const MAX_KEYS: usize = 64;
/// Deepest collection in a collection; the frontmatter itself is the first.
const MAX_DEPTH: usize = 4;
/// Longest key in bytes; YAML itself ends simple keys there.
const MAX_KEY: usize = 1024;

/// Says why a text is not in our subset, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Byte offset in the file.
    pub at: usize,
    /// The reason, in one line that quotes nothing of the file.
    pub why: &'static str,
}

/// A value and the bytes it is written with, without what follows on its last line.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub span: Span,
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Nothing, `~` or `null`.
    Null,
    Text(Text),
    List(List),
    Map(Map),
}

/// A scalar. Most are the file's own bytes; only what had escapes or several lines owns its text.
#[derive(Debug, Clone)]
pub(super) struct Text {
    raw: Span,
    decoded: Option<Box<str>>,
}

/// A list with the lines of its items.
#[derive(Debug, Clone)]
pub(super) struct List {
    pub items: Vec<Item>,
    pub style: Style,
}

/// One item of a list.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub value: Node,
    /// From the start of its first line to the end of its last, line break included.
    pub lines: Span,
}

/// A mapping in the order of the file.
#[derive(Debug, Clone)]
pub(super) struct Map {
    pub entries: Vec<Entry>,
    pub style: Style,
    /// Column of the keys of a block mapping.
    pub indent: usize,
}

/// One key and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub key: Text,
    pub key_span: Span,
    /// The byte after the colon.
    pub after_colon: usize,
    pub value: Node,
    /// From the start of its first line to the end of its last, line break included.
    pub lines: Span,
}

/// How a collection is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// One entry per line.
    Block,
    /// In brackets or braces.
    Flow,
}

/// Reads `bytes[span]`, the lines between the two fences, as a mapping.
pub(super) fn read(bytes: &[u8], span: Span) -> Result<Map, Refusal> {
    if span.len() > MAX_BYTES {
        return Err(Refusal { at: span.start, why: "the frontmatter is larger than 16 KiB" });
    }
    check_characters(bytes, span.clone())?;
    let mut reader = Reader { bytes: &bytes[..span.end], pos: span.start, n_keys: 0 };
    let Some(line) = reader.peek_line()? else {
        return Ok(Map { entries: Vec::new(), style: Style::Block, indent: 0 });
    };
    reader.pos = line.first();
    if reader.try_key(reader.pos)?.is_none() {
        return Err(reader.not_a_key(reader.pos));
    }
    let map = reader.map(line.indent, 1)?;
    match reader.peek_line()? {
        None => Ok(map),
        Some(line) => Err(reader.refuse(line.first(), "indented less than the first key")),
    }
}

impl Text {
    /// Returns the text; `bytes` is the file it was read from.
    pub(super) fn as_str<'a>(&'a self, bytes: &'a [u8]) -> &'a str {
        match &self.decoded {
            Some(text) => text,
            None => std::str::from_utf8(&bytes[self.raw.clone()]).unwrap_or_default(),
        }
    }

    /// Compares without checking the bytes for UTF-8 once more; every lookup of a field comes through here.
    fn is(&self, bytes: &[u8], text: &str) -> bool {
        match &self.decoded {
            Some(decoded) => **decoded == *text,
            None => bytes[self.raw.clone()] == *text.as_bytes(),
        }
    }
}

impl Map {
    /// Finds the entry with this key.
    pub(super) fn entry(&self, bytes: &[u8], key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.is(bytes, key))
    }
}

/// Refuses what no YAML text may hold, so that the rest of the reader need not look for it.
fn check_characters(bytes: &[u8], span: Span) -> Result<(), Refusal> {
    let refuse = |at, why| Err(Refusal { at, why });
    let text = match std::str::from_utf8(&bytes[span.clone()]) {
        Ok(text) => text,
        Err(err) => return refuse(span.start + err.valid_up_to(), "not UTF-8"),
    };
    for (i, &byte) in text.as_bytes().iter().enumerate() {
        match byte {
            b'\t' | b'\n' => {}
            b'\r' if text.as_bytes().get(i + 1) == Some(&b'\n') => {}
            b'\r' => return refuse(span.start + i, "a carriage return without a line feed"),
            0..0x20 | 0x7f => return refuse(span.start + i, "a control character"),
            _ => {}
        }
    }
    if text.is_ascii() {
        return Ok(());
    }
    let forbidden = |c: char| matches!(c, '\u{80}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    match text.find(forbidden) {
        Some(i) => refuse(span.start + i, "a character that YAML does not allow"),
        None => Ok(()),
    }
}

/// A line with content: where it starts and how many spaces it begins with.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    indent: usize,
}

impl Line {
    fn first(self) -> usize {
        self.start + self.indent
    }
}

/// A key that was found on a line.
struct Key {
    text: Text,
    span: Span,
    after_colon: usize,
}

/// Walks over the text. Functions named after a construct begin at its first byte and leave `pos` at the start
/// of the line after it; flow constructs leave it right behind themselves.
struct Reader<'a> {
    /// The file up to the closing fence.
    bytes: &'a [u8],
    pos: usize,
    n_keys: usize,
}

impl Reader<'_> {
    /// Reads a block mapping whose first key is at `pos` in column `indent`.
    fn map(&mut self, indent: usize, depth: usize) -> Result<Map, Refusal> {
        self.check_depth(depth)?;
        let mut entries: Vec<Entry> = Vec::with_capacity(8);
        loop {
            let entry = self.entry(indent, depth)?;
            self.check_unique(&entries, &entry.key, &entry.key_span)?;
            entries.push(entry);
            match self.peek_line()? {
                Some(line) if line.indent == indent => self.pos = line.first(),
                Some(line) if line.indent > indent => {
                    return Err(self.refuse(line.first(), "indented deeper than the key above it"));
                }
                _ => return Ok(Map { entries, style: Style::Block, indent }),
            }
        }
    }

    fn entry(&mut self, indent: usize, depth: usize) -> Result<Entry, Refusal> {
        let line_start = self.pos - indent;
        let key = self.try_key(self.pos)?.ok_or_else(|| self.not_a_key(self.pos))?;
        self.count_key(&key)?;
        let value = self.value(key.after_colon, indent, depth, true)?;
        Ok(Entry {
            key: key.text,
            key_span: key.span,
            after_colon: key.after_colon,
            value,
            lines: line_start..self.pos,
        })
    }

    /// Reads a block list whose first dash is at `pos` in column `indent`.
    fn list(&mut self, indent: usize, depth: usize) -> Result<List, Refusal> {
        self.check_depth(depth)?;
        let mut items = Vec::new();
        loop {
            let dash = self.pos;
            let value = self.item(dash, indent, depth)?;
            items.push(Item { value, lines: dash - indent..self.pos });
            match self.peek_line()? {
                Some(line) if line.indent == indent && self.is_dash(line.first()) => self.pos = line.first(),
                _ => return Ok(List { items, style: Style::Block }),
            }
        }
    }

    fn item(&mut self, dash: usize, indent: usize, depth: usize) -> Result<Node, Refusal> {
        let first = self.skip_spaces(dash + 1);
        // `- - a` and `- key: a` open a collection in the middle of a line; its column is where it begins.
        let column = indent + (first - dash);
        if self.is_dash(first) || self.try_key(first)?.is_some() {
            self.pos = first;
            return self.block(column, indent, depth + 1);
        }
        self.value(dash + 1, indent, depth, false)
    }

    /// Reads the value that follows a colon or a dash at `after`, on this line or below it.
    fn value(
        &mut self,
        after: usize,
        parent: usize,
        depth: usize,
        list_may_align: bool,
    ) -> Result<Node, Refusal> {
        let first = self.skip_spaces(after);
        if !self.is_break(first) && self.at(first) != b'#' {
            self.pos = first;
            return self.inline(parent, depth);
        }
        let below = self.next_line(first);
        self.pos = below;
        if let Some(line) = self.peek_line()? {
            self.pos = line.first();
            if line.indent > parent {
                return self.block(line.indent, parent, depth + 1);
            }
            if list_may_align && line.indent == parent && self.is_dash(line.first()) {
                return self.block(line.indent, parent, depth + 1);
            }
        }
        self.pos = below;
        Ok(Node { span: after..after, kind: Kind::Null })
    }

    /// Reads the list, mapping or scalar that begins at `pos` in column `indent`.
    fn block(&mut self, indent: usize, parent: usize, depth: usize) -> Result<Node, Refusal> {
        let start = self.pos;
        if self.is_dash(start) {
            let list = self.list(indent, depth)?;
            let end = list.items.last().map_or(start, |item| item.value.span.end);
            return Ok(Node { span: start..end, kind: Kind::List(list) });
        }
        if self.try_key(start)?.is_some() {
            let map = self.map(indent, depth)?;
            let end = map.entries.last().map_or(start, |entry| entry.value.span.end);
            return Ok(Node { span: start..end, kind: Kind::Map(map) });
        }
        self.inline(parent, depth - 1)
    }

    /// Reads a scalar or a flow collection that begins at `pos` and ends with its line.
    fn inline(&mut self, parent: usize, depth: usize) -> Result<Node, Refusal> {
        match self.at(self.pos) {
            b'|' | b'>' => self.block_scalar(parent),
            b'"' | b'\'' => {
                let node = self.quoted(parent)?;
                self.end_line()?;
                Ok(node)
            }
            b'[' | b'{' => {
                let node = self.flow(parent, depth + 1)?;
                self.end_line()?;
                Ok(node)
            }
            _ => match self.why_not_plain(self.pos) {
                Some(why) => Err(self.refuse(self.pos, why)),
                None => self.plain(parent),
            },
        }
    }

    /// Finds a key and its colon on the line of `start`, or nothing.
    fn try_key(&self, start: usize) -> Result<Option<Key>, Refusal> {
        let (text, end) = match self.at(start) {
            b'"' | b'\'' => match self.quoted_on_one_line(start)? {
                Some(quoted) => quoted,
                None => return Ok(None),
            },
            _ if self.why_not_plain(start).is_some() => return Ok(None),
            _ => match self.plain_key_end(start) {
                Some(end) => (Text { raw: start..end, decoded: None }, end),
                None => return Ok(None),
            },
        };
        let colon = self.skip_spaces(end);
        if self.at(colon) != b':' || !self.is_blank_or_break(colon + 1) {
            return Ok(None);
        }
        if self.at(colon + 1) == b'\t' {
            return Err(self.refuse(colon + 1, "a tab after a colon"));
        }
        Ok(Some(Key { text, span: start..end, after_colon: colon + 1 }))
    }

    /// Finds where the plain key at `start` ends, if a colon makes it one.
    fn plain_key_end(&self, start: usize) -> Option<usize> {
        let mut i = start;
        while !self.is_break(i) {
            match self.at(i) {
                b':' if self.is_blank_or_break(i + 1) => return Some(self.trim_end(start, i)),
                b'#' if is_blank(self.at(i - 1)) => return None,
                _ => i += 1,
            }
        }
        None
    }

    fn count_key(&mut self, key: &Key) -> Result<(), Refusal> {
        self.n_keys += 1;
        if self.n_keys > MAX_KEYS {
            return Err(self.refuse(key.span.start, "more than 64 keys"));
        }
        if key.span.len() > MAX_KEY {
            return Err(self.refuse(key.span.start, "a key longer than 1,024 bytes"));
        }
        match key.text.as_str(self.bytes) {
            "<<" => Err(self.refuse(key.span.start, "a merge key")),
            text if is_null(text) => Err(self.refuse(key.span.start, "a key that is nothing")),
            _ => Ok(()),
        }
    }

    fn check_unique(&self, entries: &[Entry], key: &Text, span: &Span) -> Result<(), Refusal> {
        let text = key.as_str(self.bytes);
        if entries.iter().any(|entry| entry.key.is(self.bytes, text)) {
            return Err(self.refuse(span.start, "the same key twice"));
        }
        Ok(())
    }

    fn check_depth(&self, depth: usize) -> Result<(), Refusal> {
        if depth > MAX_DEPTH {
            return Err(self.refuse(self.pos, "nested deeper than 4"));
        }
        Ok(())
    }

    /// Moves to the start of the next line that is neither blank nor a comment and looks at it.
    fn peek_line(&mut self) -> Result<Option<Line>, Refusal> {
        while self.pos < self.bytes.len() {
            let line = Line { start: self.pos, indent: self.skip_spaces(self.pos) - self.pos };
            match self.at(line.first()) {
                b'\n' | b'\r' | b'#' => self.pos = self.next_line(line.first()),
                b'\t' => return Err(self.refuse(line.first(), "a tab in the indentation")),
                _ if line.indent == 0 && self.is_marker(line.start) => {
                    return Err(self.refuse(line.start, "a second YAML document"));
                }
                _ => return Ok(Some(line)),
            }
        }
        Ok(None)
    }

    /// Leaves the line after a value: only blanks and a comment may follow.
    fn end_line(&mut self) -> Result<(), Refusal> {
        let end = self.pos;
        let next = self.skip_blanks(end);
        let comment = self.at(next) == b'#' && next > end;
        if !comment && !self.is_break(next) {
            return Err(self.refuse(next, "text after the end of a value"));
        }
        self.pos = self.next_line(next);
        Ok(())
    }

    /// Says why no plain scalar can begin here; `None` if one can.
    fn why_not_plain(&self, at: usize) -> Option<&'static str> {
        match self.at(at) {
            b'&' => Some("an anchor"),
            b'*' => Some("an alias, or a value that begins with `*` without quotes"),
            b'!' => Some("a tag, or a value that begins with `!` without quotes"),
            b'%' => Some("a value that begins with `%` without quotes"),
            b'@' => Some("a value that begins with `@` without quotes"),
            b'`' => Some("a value that begins with a backtick without quotes"),
            b'|' | b'>' | b'"' | b'\'' | b'#' => Some("not a plain value"),
            b'[' | b']' | b'{' | b'}' | b',' => Some("a bracket or comma out of place"),
            b'\t' => Some("a tab before a value"),
            b'-' if self.is_blank_or_break(at + 1) => Some("a list item out of place"),
            b'?' if self.is_blank_or_break(at + 1) => Some("an explicit key"),
            b':' if self.is_blank_or_break(at + 1) => Some("a colon without a key"),
            b'\n' | b'\r' => Some("nothing where a value is expected"),
            _ => None,
        }
    }

    fn not_a_key(&self, at: usize) -> Refusal {
        let why = match self.why_not_plain(at) {
            Some(why) if !matches!(self.at(at), b'"' | b'\'') => why,
            _ => "a line without `key: value`",
        };
        self.refuse(at, why)
    }

    fn refuse(&self, at: usize, why: &'static str) -> Refusal {
        Refusal { at, why }
    }

    /// Returns the byte at `i`; behind the end everything is a line break.
    fn at(&self, i: usize) -> u8 {
        self.bytes.get(i).copied().unwrap_or(b'\n')
    }

    fn is_break(&self, i: usize) -> bool {
        matches!(self.at(i), b'\n' | b'\r')
    }

    fn is_blank_or_break(&self, i: usize) -> bool {
        is_blank(self.at(i)) || self.is_break(i)
    }

    fn is_dash(&self, i: usize) -> bool {
        self.at(i) == b'-' && self.is_blank_or_break(i + 1)
    }

    fn is_marker(&self, i: usize) -> bool {
        let rest = &self.bytes[i..];
        (rest.starts_with(b"---") || rest.starts_with(b"...")) && self.is_blank_or_break(i + 3)
    }

    fn skip_spaces(&self, mut i: usize) -> usize {
        while self.at(i) == b' ' {
            i += 1;
        }
        i
    }

    fn skip_blanks(&self, mut i: usize) -> usize {
        while is_blank(self.at(i)) {
            i += 1;
        }
        i
    }

    /// Returns the start of the line after the one that holds `i`.
    fn next_line(&self, mut i: usize) -> usize {
        while i < self.bytes.len() && self.bytes[i] != b'\n' {
            i += 1;
        }
        (i + 1).min(self.bytes.len())
    }

    /// Returns `end` without the blanks before it.
    fn trim_end(&self, start: usize, mut end: usize) -> usize {
        while end > start && is_blank(self.bytes[end - 1]) {
            end -= 1;
        }
        end
    }

    fn str(&self, span: Span) -> &str {
        std::str::from_utf8(&self.bytes[span]).unwrap_or_default()
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
