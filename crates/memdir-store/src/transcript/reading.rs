//! A host's file as turns, one line at a time.

use std::collections::VecDeque;
use std::fs::File;
use std::io;

use memdir_core::transcript::{Host, Parser, Skip, Turn};

use super::lines::{Lines, Piece, Shape};

/// Lines that could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// They are no JSON.
    pub broken: usize,
    /// They are longer than we take.
    pub too_long: usize,
}

impl LeftOut {
    /// Returns how many there are.
    pub fn total(self) -> usize {
        self.broken + self.too_long
    }

    pub(super) fn add(&mut self, other: Self) {
        self.broken += other.broken;
        self.too_long += other.too_long;
    }
}

/// The turns of a host's file. Lines that are no part of the conversation are passed over.
#[derive(Debug)]
pub struct HostTurns {
    lines: Lines,
    parser: Parser,
    session: String,
    buffer: Vec<u8>,
    waiting: VecDeque<Turn>,
    left_out: LeftOut,
    /// The offset up to which everything was read for good.
    offset: u64,
}

impl HostTurns {
    /// Reads `file` from `offset` on. What its first line says about the session holds there too.
    pub(super) fn new(file: File, host: Host, session: &str, shape: Shape, offset: u64) -> io::Result<Self> {
        let mut parser = Parser::new(host, session);
        let mut buffer = Vec::new();
        if offset > 0 && shape == Shape::Lines {
            let mut head = Lines::new(file.try_clone()?, shape, 0)?;
            if head.next(&mut buffer)? == Some(Piece::Line) {
                // Its turns were given when it was read first.
                let _ = parser.read(&buffer);
            }
        }
        let lines = Lines::new(file, shape, offset)?;
        let (session, waiting, left_out) = (session.to_owned(), VecDeque::new(), LeftOut::default());
        Ok(Self { lines, parser, session, buffer, waiting, left_out, offset })
    }

    /// Returns the lines that could not be read so far.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Returns the offset up to which everything was read; a last line that is still being written is not.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the directory that the lines read so far name.
    pub(super) fn cwd(&self) -> Option<&str> {
        self.parser.head().cwd.as_deref()
    }

    /// Returns the session's name as the lines read so far give it.
    pub(super) fn name(&self) -> &str {
        &self.parser.head().session
    }

    /// Says whether the file is the conversation of a sub-agent.
    pub(super) fn is_subagent(&self) -> bool {
        self.parser.head().is_subagent
    }

    /// Reads one line further and returns its turns; `None` at the end.
    pub fn read_line(&mut self) -> io::Result<Option<Vec<Turn>>> {
        let Some(piece) = self.lines.next(&mut self.buffer)? else { return Ok(None) };
        let read = match piece {
            Piece::TooLong => {
                self.left_out.too_long += 1;
                Ok(Vec::new())
            }
            Piece::Line | Piece::Torn => self.parser.read(&self.buffer),
        };
        if piece == Piece::Torn && read == Err(Skip::Corrupt) {
            return Ok(None);
        }
        self.offset = self.lines.offset;
        let is_blank = self.buffer.iter().all(u8::is_ascii_whitespace);
        if read == Err(Skip::Corrupt) && !is_blank {
            self.left_out.broken += 1;
        }
        let mut turns = read.unwrap_or_default();
        for turn in &mut turns {
            // Lines of a session that was copied from another may name that.
            turn.session.clone_from(&self.session);
        }
        Ok(Some(turns))
    }
}

impl Iterator for HostTurns {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        while self.waiting.is_empty() {
            let turns = self.read_line().ok()??;
            self.waiting.extend(turns);
        }
        self.waiting.pop_front()
    }
}
