//! A file a line at a time, with a limit on what a line may take.
//!
//! Session files have lines of megabytes, and a hostile one could have a line without end. A line beyond [`MAX_LINE`]
//! is read past, not kept. Early versions of Gemini CLI wrote one JSON document a session: of such a file the
//! entries of its list come one by one, as if they were lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

/// The longest line that is looked at. Images in a prompt make lines of some megabytes.
pub(super) const MAX_LINE: usize = 8 * 1024 * 1024;

/// What stands in the file next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// A line, in the buffer, with the break behind it.
    Line,
    /// The last line, which has no break yet: its writer may be in the middle of it.
    Torn,
    /// A line longer than we take; the buffer is empty.
    TooLong,
}

/// Reads pieces.
#[derive(Debug)]
pub(super) struct Lines {
    reader: BufReader<File>,
    /// The offset behind what was read.
    pub(super) offset: u64,
    shape: Shape,
}

/// How the file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One record a line.
    Lines,
    /// One document; its records are the objects in the lists of its outermost object.
    Document,
}

impl Lines {
    /// Begins at an offset, which is that of a piece.
    pub(super) fn new(mut file: File, shape: Shape, offset: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { reader: BufReader::with_capacity(64 * 1024, file), offset, shape })
    }

    /// Reads the next piece into `buffer`; `None` at the end.
    pub(super) fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<Piece>> {
        buffer.clear();
        match self.shape {
            Shape::Lines => self.next_line(buffer),
            Shape::Document => self.next_entry(buffer),
        }
    }

    fn next_line(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<Piece>> {
        let mut is_too_long = false;
        let mut is_empty = true;
        loop {
            let bytes = fill(&mut self.reader)?;
            if bytes.is_empty() {
                return Ok(match (is_empty, is_too_long) {
                    (true, _) => None,
                    (false, true) => Some(Piece::TooLong),
                    (false, false) => Some(Piece::Torn),
                });
            }
            is_empty = false;
            let end = memchr::memchr(b'\n', bytes);
            let taken = end.map_or(bytes.len(), |end| end + 1);
            is_too_long = is_too_long || !keep(buffer, &bytes[..end.unwrap_or(taken)]);
            self.reader.consume(taken);
            self.offset += taken as u64;
            if end.is_some() {
                return Ok(Some(if is_too_long { Piece::TooLong } else { Piece::Line }));
            }
        }
    }

    /// Reads the next object that is an entry of a list of the outermost object.
    fn next_entry(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<Piece>> {
        // In the middle of a document we are inside its list.
        let mut nesting = Nesting { depth: if self.offset == 0 { 0 } else { 2 }, ..Nesting::default() };
        let mut is_too_long = false;
        loop {
            let bytes = fill(&mut self.reader)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let mut kept_from = (nesting.depth >= 3).then_some(0);
            let mut end = None;
            for (n, &byte) in bytes.iter().enumerate() {
                let before = nesting.depth;
                nesting.take(byte);
                if (before, nesting.depth, byte) == (2, 3, b'{') {
                    kept_from = Some(n);
                } else if (before, nesting.depth) == (3, 2) && kept_from.is_some() {
                    end = Some(n + 1);
                    break;
                }
            }
            let taken = end.unwrap_or(bytes.len());
            if let Some(from) = kept_from {
                is_too_long = is_too_long || !keep(buffer, &bytes[from..taken]);
            }
            self.reader.consume(taken);
            self.offset += taken as u64;
            if end.is_some() {
                return Ok(Some(if is_too_long { Piece::TooLong } else { Piece::Line }));
            }
        }
    }
}

/// Where in a JSON document we are.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
}

impl Nesting {
    fn take(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.in_text => self.is_escaped = true,
            b'"' => self.in_text = !self.in_text,
            b'{' | b'[' if !self.in_text => self.depth += 1,
            b'}' | b']' if !self.in_text => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// Adds to a line, unless that makes it too long: then nothing of it is kept.
fn keep(buffer: &mut Vec<u8>, bytes: &[u8]) -> bool {
    if buffer.len() + bytes.len() <= MAX_LINE {
        buffer.extend_from_slice(bytes);
        return true;
    }
    *buffer = Vec::new();
    false
}

/// Looks at what can be read without waiting for more; an interrupted read is repeated.
fn fill(reader: &mut BufReader<File>) -> io::Result<&[u8]> {
    while let Err(err) = reader.fill_buf() {
        if err.kind() != io::ErrorKind::Interrupted {
            return Err(err);
        }
    }
    Ok(reader.buffer())
}
