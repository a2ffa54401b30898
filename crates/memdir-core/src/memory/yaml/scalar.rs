//! Scalars: plain, quoted and block, over one or several lines.
//!
//! A scalar on one line without escapes is a slice of the file. Only folding and escapes allocate.

use super::{Kind, Node, Reader, Refusal, Span, Text, is_blank, is_null};

impl Reader<'_> {
    /// Reads a plain scalar; lines indented deeper than `parent` continue it.
    pub(super) fn plain(&mut self, parent: usize) -> Result<Node, Refusal> {
        let start = self.pos;
        let mut end = self.plain_line(start)?;
        let mut folded: Option<String> = None;
        while let Some((next, n_blank)) = self.continuation(end, parent)? {
            let mut text = folded.take().unwrap_or_else(|| self.str(start..end).to_owned());
            end = self.plain_line(next)?;
            push_fold(&mut text, n_blank);
            text.push_str(self.str(next..end));
            folded = Some(text);
        }
        self.pos = self.next_line(end);
        let span = start..end;
        if folded.is_none() && is_null(self.str(span.clone())) {
            return Ok(Node { span, kind: Kind::Null });
        }
        Ok(text_node(span.clone(), span, folded))
    }

    /// Finds where the plain text of this line ends, before blanks and comment.
    fn plain_line(&self, start: usize) -> Result<usize, Refusal> {
        let mut i = start;
        while !self.is_break(i) {
            match self.at(i) {
                b':' if self.is_blank_or_break(i + 1) => {
                    return Err(self.refuse(i, "a colon in a value without quotes"));
                }
                b'#' if is_blank(self.at(i - 1)) => break,
                _ => i += 1,
            }
        }
        Ok(self.trim_end(start, i))
    }

    /// Looks below a plain line that ended at `end` for one that continues it: its first byte, and how many
    /// blank lines are between.
    fn continuation(&self, end: usize, parent: usize) -> Result<Option<(usize, usize)>, Refusal> {
        if !self.is_break(self.skip_blanks(end)) {
            return Ok(None); // a comment ends a plain scalar
        }
        let mut start = self.next_line(end);
        let mut n_blank = 0;
        while start < self.bytes.len() {
            let first = self.skip_spaces(start);
            match self.at(first) {
                b'\n' | b'\r' => n_blank += 1,
                b'\t' => return Err(self.refuse(first, "a tab in the indentation")),
                b'#' => return Ok(None),
                _ if first - start > parent => return Ok(Some((first, n_blank))),
                _ => return Ok(None),
            }
            start = self.next_line(first);
        }
        Ok(None)
    }

    /// Reads a quoted scalar; its further lines are indented deeper than `parent`.
    pub(super) fn quoted(&mut self, parent: usize) -> Result<Node, Refusal> {
        if let Some((text, end)) = self.quoted_on_one_line(self.pos)? {
            let span = self.pos..end;
            self.pos = end;
            return Ok(Node { span, kind: Kind::Text(text) });
        }
        let start = self.pos;
        let (text, end) = self.decode_quoted(start, Some(parent))?;
        self.pos = end;
        Ok(text_node(start..end, start..end, Some(text)))
    }

    /// Reads the quoted scalar at `start` if it closes on its line: its text and the byte behind it.
    pub(super) fn quoted_on_one_line(&self, start: usize) -> Result<Option<(Text, usize)>, Refusal> {
        let quote = self.at(start);
        let mut i = start + 1;
        let mut escaped = false;
        loop {
            match self.at(i) {
                b'\n' | b'\r' => return Ok(None),
                b'\\' if quote == b'"' => {
                    escaped = true;
                    i += 1;
                    if self.is_break(i) {
                        return Ok(None);
                    }
                }
                b'\'' if quote == b'\'' && self.at(i + 1) == b'\'' => {
                    escaped = true;
                    i += 1;
                }
                byte if byte == quote => break,
                _ => {}
            }
            i += 1;
        }
        let raw = start + 1..i;
        let decoded = match escaped {
            true => Some(self.decode_quoted(start, None)?.0.into_boxed_str()),
            false => None,
        };
        Ok(Some((Text { raw, decoded }, i + 1)))
    }

    /// Decodes the quoted scalar at `start`; `parent` is there when it may have several lines.
    fn decode_quoted(&self, start: usize, parent: Option<usize>) -> Result<(String, usize), Refusal> {
        let quote = self.at(start);
        let mut text = String::new();
        // Blanks before a line break are dropped, but not those that were written as an escape.
        let mut kept = 0;
        let mut i = start + 1;
        let mut slice = i;
        loop {
            if i >= self.bytes.len() {
                return Err(self.refuse(start, "a quote that is never closed"));
            }
            let byte = self.bytes[i];
            if byte != quote && !matches!(byte, b'\n' | b'\r') && !(byte == b'\\' && quote == b'"') {
                i += 1;
                continue;
            }
            text.push_str(self.str(slice..i));
            if byte == quote && quote == b'\'' && self.at(i + 1) == b'\'' {
                text.push('\'');
                i += 2;
            } else if byte == quote {
                return Ok((text, i + 1));
            } else if byte == b'\\' && !self.is_break(i + 1) {
                i = self.escape(i, &mut text)?;
                kept = text.len();
            } else {
                let parent =
                    parent.ok_or_else(|| self.refuse(start, "a quote that is not closed on its line"))?;
                let joined = byte == b'\\';
                if !joined {
                    text.truncate(text[kept..].trim_end_matches([' ', '\t']).len() + kept);
                }
                i = self.fold(i, parent, joined, &mut text)?;
                kept = text.len();
            }
            slice = i;
        }
    }

    /// Folds the line break after `at` in a quoted scalar and returns where the text goes on.
    fn fold(&self, at: usize, parent: usize, joined: bool, text: &mut String) -> Result<usize, Refusal> {
        let mut start = self.next_line(at);
        let mut n_blank = 0;
        loop {
            let first = self.skip_spaces(start);
            if start >= self.bytes.len() {
                return Err(self.refuse(at, "a quote that is never closed"));
            }
            if self.at(first) == b'\t' {
                return Err(self.refuse(first, "a tab in the indentation"));
            }
            if !self.is_break(first) {
                if first - start <= parent {
                    return Err(self.refuse(first, "a quoted value whose next line is not indented"));
                }
                match joined {
                    true => text.extend(std::iter::repeat_n('\n', n_blank)),
                    false => push_fold(text, n_blank),
                }
                return Ok(first);
            }
            n_blank += 1;
            start = self.next_line(first);
        }
    }

    /// Decodes the escape whose backslash is at `at` and returns the byte behind it.
    fn escape(&self, at: usize, text: &mut String) -> Result<usize, Refusal> {
        let c = match self.at(at + 1) {
            b'0' => '\0',
            b'a' => '\u{7}',
            b'b' => '\u{8}',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\u{b}',
            b'f' => '\u{c}',
            b'r' => '\r',
            b'e' => '\u{1b}',
            b' ' => ' ',
            b'"' => '"',
            b'/' => '/',
            b'\\' => '\\',
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => return self.hex(at, 2, text),
            b'u' => return self.hex(at, 4, text),
            b'U' => return self.hex(at, 8, text),
            _ => return Err(self.refuse(at, "an unknown escape")),
        };
        text.push(c);
        Ok(at + 2)
    }

    fn hex(&self, at: usize, n_digits: usize, text: &mut String) -> Result<usize, Refusal> {
        let end = at + 2 + n_digits;
        let digits = self.bytes.get(at + 2..end).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let c = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .and_then(char::from_u32)
            .ok_or_else(|| self.refuse(at, "an escape that is no character"))?;
        text.push(c);
        Ok(end)
    }

    /// Reads a `|` or `>` scalar below a key or dash in column `parent`.
    pub(super) fn block_scalar(&mut self, parent: usize) -> Result<Node, Refusal> {
        let start = self.pos;
        let header = self.block_header()?;
        let first_line = self.pos;
        let indent = match header.indent {
            Some(digit) => parent + digit,
            None => self.block_indent(first_line, parent)?,
        };
        let mut block = BlockText::new(header.folded);
        let mut end = first_line - 1; // the last line break that belongs to the value
        let mut line = first_line;
        while line < self.bytes.len() {
            let spaces = self.skip_spaces(line) - line;
            if self.is_break(line + spaces) && spaces <= indent {
                block.n_blank += 1;
            } else if spaces < indent {
                if spaces > parent && !block.has_line {
                    return Err(self.refuse(line, "text indented less than its block says"));
                }
                break;
            } else {
                block.push(self.str(line + indent..self.line_end(line)));
                end = self.next_line(line) - 1;
            }
            line = self.next_line(line);
        }
        if header.chomp == Chomp::Keep {
            end = line - 1;
        }
        self.pos = end + 1;
        let end = if self.bytes[end - 1] == b'\r' { end - 1 } else { end };
        Ok(text_node(start..end, start..end, Some(block.finish(header.chomp))))
    }

    fn block_header(&mut self) -> Result<BlockHeader, Refusal> {
        let mut header = BlockHeader { folded: self.at(self.pos) == b'>', chomp: Chomp::Clip, indent: None };
        let mut has_chomp = false;
        self.pos += 1;
        loop {
            match self.at(self.pos) {
                sign @ (b'+' | b'-') if !has_chomp => {
                    has_chomp = true;
                    header.chomp = if sign == b'+' { Chomp::Keep } else { Chomp::Strip };
                }
                digit @ b'1'..=b'9' if header.indent.is_none() => {
                    header.indent = Some(usize::from(digit - b'0'));
                }
                _ => break,
            }
            self.pos += 1;
        }
        self.end_line()?;
        Ok(header)
    }

    /// Finds the indentation of a block scalar: that of its first line that is not blank.
    fn block_indent(&self, mut line: usize, parent: usize) -> Result<usize, Refusal> {
        let mut deepest_blank = 0;
        while line < self.bytes.len() {
            let spaces = self.skip_spaces(line) - line;
            if !self.is_break(line + spaces) {
                if spaces <= parent {
                    break;
                }
                if deepest_blank > spaces {
                    return Err(self.refuse(line, "a blank line indented deeper than the text below it"));
                }
                return Ok(spaces);
            }
            deepest_blank = deepest_blank.max(spaces);
            line = self.next_line(line);
        }
        Ok((parent + 1).max(deepest_blank))
    }

    fn line_end(&self, mut i: usize) -> usize {
        while !self.is_break(i) {
            i += 1;
        }
        i
    }
}

struct BlockHeader {
    folded: bool,
    chomp: Chomp,
    indent: Option<usize>,
}

/// What happens to the line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}

/// The text of a block scalar while its lines arrive.
struct BlockText {
    text: String,
    folded: bool,
    has_line: bool,
    last_was_indented: bool,
    /// Blank lines since the last line.
    n_blank: usize,
}

impl BlockText {
    fn new(folded: bool) -> Self {
        Self { text: String::new(), folded, has_line: false, last_was_indented: false, n_blank: 0 }
    }

    fn push(&mut self, line: &str) {
        let indented = line.starts_with([' ', '\t']);
        let n_blank = std::mem::take(&mut self.n_blank);
        if !self.has_line {
            self.breaks(n_blank);
        } else if self.folded && !indented && !self.last_was_indented {
            push_fold(&mut self.text, n_blank);
        } else {
            self.breaks(n_blank + 1);
        }
        self.text.push_str(line);
        self.has_line = true;
        self.last_was_indented = indented;
    }

    fn finish(mut self, chomp: Chomp) -> String {
        match chomp {
            Chomp::Strip => {}
            Chomp::Clip => self.breaks(usize::from(self.has_line)),
            Chomp::Keep => self.breaks(usize::from(self.has_line) + self.n_blank),
        }
        self.text
    }

    fn breaks(&mut self, n: usize) {
        self.text.extend(std::iter::repeat_n('\n', n));
    }
}

/// One line break is a space; with blank lines between, those are the line breaks.
fn push_fold(text: &mut String, n_blank: usize) {
    match n_blank {
        0 => text.push(' '),
        n => text.extend(std::iter::repeat_n('\n', n)),
    }
}

fn text_node(span: Span, raw: Span, decoded: Option<String>) -> Node {
    Node { span, kind: Kind::Text(Text { raw, decoded: decoded.map(String::into_boxed_str) }) }
}
