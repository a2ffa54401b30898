//! Events of a stream with the bytes that they came in, so that what is not changed passes as it was.

/// No event is longer.
const MAX_FRAME: usize = 8 << 20;

/// Cuts a stream into events.
#[derive(Debug, Default)]
pub(super) struct Frames {
    held: Vec<u8>,
    /// Up to here there is no end of an event.
    seen: usize,
    /// Where the line begins that has not ended.
    line: usize,
}

impl Frames {
    /// Takes more bytes, and returns the events that they complete, each with the empty line that ends it; `None` if there
    /// is no end of one, and then all of it is held.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let is_too_long = self.held.len() > MAX_FRAME;
        self.held.extend_from_slice(bytes);
        if is_too_long {
            return None;
        }
        let mut frames = Vec::new();
        while let Some(length) = memchr::memchr(b'\n', &self.held[self.seen..]) {
            let end = self.seen + length;
            let is_empty = matches!(&self.held[self.line..end], b"" | b"\r");
            (self.seen, self.line) = (end + 1, end + 1);
            if is_empty {
                let rest = self.held.split_off(end + 1);
                frames.push(std::mem::replace(&mut self.held, rest));
                (self.seen, self.line) = (0, 0);
            }
        }
        self.seen = self.held.len();
        Some(frames)
    }

    /// Returns what was not ended.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        (self.seen, self.line) = (0, 0);
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_is_lost_and_every_event_ends_in_an_empty_line() {
        let stream = b": hi\n\nevent: a\ndata: 1\n\ndata: 2\r\ndata: 3\r\n\r\n\ndata: cut";
        for size in 1..=stream.len() {
            let mut frames = Frames::default();
            let cut: Vec<Vec<u8>> =
                stream.chunks(size).flat_map(|piece| frames.take(piece).unwrap()).collect();
            assert_eq!(cut.len(), 4, "in pieces of {size}");
            assert_eq!(cut[2], b"data: 2\r\ndata: 3\r\n\r\n");
            assert_eq!([cut.concat(), frames.rest()].concat(), stream);
        }
        let mut endless = Frames::default();
        assert_eq!(endless.take(&vec![b'x'; MAX_FRAME + 1]), Some(Vec::new()));
        assert_eq!(endless.take(b"y"), None);
        assert_eq!(endless.rest().len(), MAX_FRAME + 2);
    }
}
