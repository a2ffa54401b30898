//! The bytes everything else is made of: extents, variable-length numbers, and readers that check.
//!
//! An [`Extent`] names a block and carries its checksum; [`Source::read`] is the only way from an extent to bytes, so
//! nothing is looked at that was not verified on this read. Taking bytes apart ([`Reader`]) gives `None` where they end
//! too soon or say something impossible; the caller, who knows the file, turns that into `Damaged`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;

use super::{IndexError, Stamp};

/// A block of a file: where it is and what its bytes add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Extent {
    pub(super) offset: u64,
    pub(super) len: u32,
    pub(super) crc: u32,
}

impl Extent {
    /// How many bytes [`Extent::put`] writes.
    pub(super) const SIZE: usize = 16;

    /// Appends the extent in a fixed width.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.offset.to_le_bytes());
        out.extend(self.len.to_le_bytes());
        out.extend(self.crc.to_le_bytes());
    }
}

pub(super) use crc32fast::Hasher as Checksum;

/// Returns the checksum of `bytes`.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// A file that is read block by block.
#[derive(Debug)]
pub(super) struct Source {
    file: File,
    name: String,
    len: u64,
}

impl Source {
    /// Wraps an open file of `len` bytes.
    pub(super) fn new(file: File, name: String, len: u64) -> Self {
        Self { file, name, len }
    }

    /// Reads a block into `buffer` and verifies it.
    pub(super) fn read_into(&self, extent: Extent, buffer: &mut Vec<u8>) -> Result<(), IndexError> {
        let end = extent.offset.checked_add(u64::from(extent.len));
        if end.is_none_or(|end| end > self.len) {
            return Err(self.damaged("a block beyond the end"));
        }
        buffer.resize(extent.len as usize, 0);
        match self.file.read_exact_at(buffer, extent.offset) {
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(self.damaged("an early end"));
            }
            read => read?,
        }
        if checksum(buffer) != extent.crc {
            return Err(self.damaged("a wrong checksum"));
        }
        Ok(())
    }

    /// Reads a block and verifies it.
    pub(super) fn read(&self, extent: Extent) -> Result<Vec<u8>, IndexError> {
        let mut buffer = Vec::new();
        self.read_into(extent, &mut buffer)?;
        Ok(buffer)
    }

    /// Makes the error for bytes of this file that say something impossible.
    pub(super) fn damaged(&self, what: &'static str) -> IndexError {
        IndexError::Damaged { file: self.name.clone(), what }
    }
}

/// A file that is written block by block.
#[derive(Debug)]
pub(super) struct Sink {
    out: BufWriter<File>,
    at: u64,
}

impl Sink {
    /// Starts at the beginning of an empty file.
    pub(super) fn new(file: File) -> Self {
        Self { out: BufWriter::with_capacity(256 * 1024, file), at: 0 }
    }

    /// Appends a block and returns its extent.
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<Extent> {
        let len = u32::try_from(bytes.len()).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        self.out.write_all(bytes)?;
        let extent = Extent { offset: self.at, len, crc: checksum(bytes) };
        self.at += u64::from(len);
        Ok(extent)
    }

    /// Hands everything to the system and returns the file's length.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.at)
    }
}

/// Appends a number in as few bytes as it takes, seven bits each.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends bytes after their number.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend(bytes);
}

/// Appends a stamp.
pub(super) fn put_stamp(out: &mut Vec<u8>, stamp: &Stamp) {
    put_varint(out, stamp.inode);
    put_varint(out, stamp.size);
    out.extend(stamp.mtime_ns.to_le_bytes());
    out.extend(stamp.sha256);
}

/// Takes verified bytes apart.
#[derive(Debug, Clone)]
pub(super) struct Reader<'b>(pub(super) &'b [u8]);

impl<'b> Reader<'b> {
    /// Takes the next `n` bytes.
    pub(super) fn take(&mut self, n: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes the next `N` bytes as an array.
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// Takes one byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// Takes a number of four bytes.
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Takes a number of eight bytes.
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes a number of variable length.
    #[inline]
    pub(super) fn varint(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Takes a number of variable length that must fit its type.
    #[inline]
    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.varint()?).ok()
    }

    /// Takes a number of things, each of at least one byte, so that it bounds what may be allocated.
    pub(super) fn count(&mut self) -> Option<usize> {
        self.small().filter(|&n: &usize| n <= self.0.len())
    }

    /// Takes bytes after their number.
    pub(super) fn bytes(&mut self) -> Option<&'b [u8]> {
        let n = self.small()?;
        self.take(n)
    }

    /// Takes a text after its number of bytes.
    pub(super) fn text(&mut self) -> Option<&'b str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Takes a stamp.
    pub(super) fn stamp(&mut self) -> Option<Stamp> {
        Some(Stamp {
            inode: self.varint()?,
            size: self.varint()?,
            mtime_ns: self.u64()?.cast_signed(),
            sha256: self.array()?,
        })
    }

    /// Takes an extent.
    pub(super) fn extent(&mut self) -> Option<Extent> {
        Some(Extent { offset: self.u64()?, len: self.u32()?, crc: self.u32()? })
    }

    /// Says that nothing may be left.
    pub(super) fn done(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were() {
        for value in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            let mut reader = Reader(&bytes);
            assert_eq!(reader.varint(), Some(value));
            assert_eq!(reader.done(), Some(()));
        }
    }

    #[test]
    fn numbers_that_end_too_soon_or_are_too_large_are_refused() {
        assert_eq!(Reader(&[0x80]).varint(), None);
        assert_eq!(Reader(&[0xff; 11]).varint(), None);
        assert_eq!(Reader(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]).varint(), None);
        assert_eq!(Reader(&[5, 0]).count(), None);
    }
}
