//! Flow collections: `[a, b]` and `{key: value}`, also over several lines.

use super::{Entry, Item, Key, Kind, List, Map, Node, Reader, Refusal, Style, Text, is_blank, is_null};

impl Reader<'_> {
    /// Reads the list or mapping that opens at `pos` and stops behind its closing bracket.
    pub(super) fn flow(&mut self, parent: usize, depth: usize) -> Result<Node, Refusal> {
        self.check_depth(depth)?;
        let start = self.pos;
        let kind = match self.at(start) {
            b'[' => Kind::List(self.flow_list(parent, depth)?),
            _ => Kind::Map(self.flow_map(parent, depth)?),
        };
        Ok(Node { span: start..self.pos, kind })
    }

    fn flow_list(&mut self, parent: usize, depth: usize) -> Result<List, Refusal> {
        let mut items = Vec::new();
        self.pos += 1;
        while !self.closes(b']', parent)? {
            let start = self.pos;
            let value = self.flow_value(parent, depth)?;
            items.push(Item { value, lines: start..self.pos });
            self.separator(b']', parent)?;
        }
        Ok(List { items, style: Style::Flow })
    }

    fn flow_map(&mut self, parent: usize, depth: usize) -> Result<Map, Refusal> {
        let mut entries: Vec<Entry> = Vec::new();
        self.pos += 1;
        while !self.closes(b'}', parent)? {
            let start = self.pos;
            let key = self.flow_key(start)?;
            self.count_key(&key)?;
            self.check_unique(&entries, &key.text, &key.span)?;
            self.pos = key.after_colon;
            self.skip_flow(parent)?;
            let value = match self.at(self.pos) {
                b',' | b'}' => Node { span: key.after_colon..key.after_colon, kind: Kind::Null },
                _ => self.flow_value(parent, depth)?,
            };
            let end = value.span.end;
            entries.push(Entry {
                key: key.text,
                key_span: key.span,
                after_colon: key.after_colon,
                value,
                lines: start..end,
            });
            self.separator(b'}', parent)?;
        }
        Ok(Map { entries, style: Style::Flow, indent: 0 })
    }

    fn flow_key(&self, start: usize) -> Result<Key, Refusal> {
        let is_quoted = matches!(self.at(start), b'"' | b'\'');
        let (text, end) = match is_quoted {
            true => self
                .quoted_on_one_line(start)?
                .ok_or_else(|| self.refuse(start, "a key that does not end on its line"))?,
            false => self.flow_plain(start)?,
        };
        let colon = self.skip_spaces(end);
        // JSON needs no blank after the colon, because the quotes end the key.
        let separated = is_quoted || self.is_blank_or_break(colon + 1) || is_flow(self.at(colon + 1));
        if self.at(colon) != b':' || !separated {
            return Err(self.refuse(start, "a key without a value in braces"));
        }
        Ok(Key { text, span: start..end, after_colon: colon + 1 })
    }

    fn flow_value(&mut self, parent: usize, depth: usize) -> Result<Node, Refusal> {
        match self.at(self.pos) {
            b'[' | b'{' => self.flow(parent, depth + 1),
            b'"' | b'\'' => self.quoted(parent),
            _ => {
                let (text, end) = self.flow_plain(self.pos)?;
                let span = self.pos..end;
                self.pos = end;
                let kind = if is_null(text.as_str(self.bytes)) { Kind::Null } else { Kind::Text(text) };
                Ok(Node { span, kind })
            }
        }
    }

    /// Reads a plain scalar inside brackets; it stays on its line.
    fn flow_plain(&self, start: usize) -> Result<(Text, usize), Refusal> {
        if let Some(why) = self.why_not_plain(start) {
            return Err(self.refuse(start, why));
        }
        let opens = matches!(self.at(start), b'-' | b'?' | b':') && is_flow(self.at(start + 1));
        if opens {
            return Err(self.refuse(start, "a sign without text in brackets"));
        }
        let mut i = start;
        while !self.is_break(i) && !is_flow(self.at(i)) {
            match self.at(i) {
                b':' if self.is_blank_or_break(i + 1) || is_flow(self.at(i + 1)) => break,
                b'#' if is_blank(self.at(i - 1)) => break,
                _ => i += 1,
            }
        }
        let end = self.trim_end(start, i);
        Ok((Text { raw: start..end, decoded: None }, end))
    }

    /// Skips what may stand before an item and says whether the collection closes instead.
    fn closes(&mut self, bracket: u8, parent: usize) -> Result<bool, Refusal> {
        self.skip_flow(parent)?;
        let closes = self.at(self.pos) == bracket;
        self.pos += usize::from(closes);
        Ok(closes)
    }

    /// Takes the comma after an item; the closing bracket stays.
    fn separator(&mut self, bracket: u8, parent: usize) -> Result<(), Refusal> {
        self.skip_flow(parent)?;
        match self.at(self.pos) {
            b',' => self.pos += 1,
            byte if byte == bracket => {}
            _ => return Err(self.refuse(self.pos, "neither a comma nor a closing bracket after an item")),
        }
        Ok(())
    }

    /// Skips blanks, comments and line breaks between items.
    fn skip_flow(&mut self, parent: usize) -> Result<(), Refusal> {
        loop {
            let next = self.skip_spaces(self.pos);
            let comment = self.at(next) == b'#' && is_blank(self.at(next - 1));
            if !comment && !self.is_break(next) {
                self.pos = next;
                return Ok(());
            }
            let line = self.next_line(next);
            let first = self.skip_spaces(line);
            if line >= self.bytes.len() {
                return Err(self.refuse(self.pos, "a bracket that is never closed"));
            }
            if !self.is_break(first) && first - line <= parent {
                return Err(self.refuse(first, "a line in brackets that is not indented"));
            }
            self.pos = line;
        }
    }
}

pub(super) fn is_flow(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}
