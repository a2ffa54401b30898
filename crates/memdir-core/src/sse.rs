//! Server-sent events: bytes in, in pieces of any size; events out.
//!
//! Only what services of models send: `event`, `data`, comments. An event counts once its empty line has come, so what is
//! cut off is no event; who wants it all the same asks for [`Events::rest`]. Its size is bounded, which is why this is not
//! left to a library, and every byte is looked at once, however small the pieces are.

/// No event is longer, unless somebody sets another limit: an answer of a model is at most a few hundred kilobytes.
const MAX_EVENT: usize = 8 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Its name, where the service has names.
    pub name: String,
    /// What it carries.
    pub data: String,
}

/// Why bytes are no events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// They are no text.
    #[error("an event is not UTF-8")]
    NotText,
    /// There is no end of one.
    #[error("an event is too long")]
    TooLong,
}

/// Reads events out of bytes.
#[derive(Debug)]
pub struct Events {
    limit: usize,
    /// Bytes of a line that has not ended.
    line: Vec<u8>,
    name: String,
    data: Option<String>,
}

impl Default for Events {
    fn default() -> Self {
        Self::within(MAX_EVENT)
    }
}

impl Events {
    /// Reads events of at most `limit` bytes.
    pub fn within(limit: usize) -> Self {
        Self { limit, line: Vec::new(), name: String::new(), data: None }
    }

    /// Takes more bytes, and returns the events that they complete.
    pub fn take(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, EventError> {
        let mut events = Vec::new();
        while let Some(length) = memchr::memchr(b'\n', bytes) {
            self.line.extend_from_slice(&bytes[..length]);
            bytes = &bytes[length + 1..];
            let line = std::mem::take(&mut self.line);
            events.extend(self.line(&line)?);
        }
        self.line.extend_from_slice(bytes);
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > self.limit { Err(EventError::TooLong) } else { Ok(events) }
    }

    /// Returns the event that the bytes ended in, for services that leave out the last empty line.
    pub fn rest(mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        self.line(&line).ok().flatten().or_else(|| self.line(b"").ok().flatten())
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Event>, EventError> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = str::from_utf8(line).map_err(|_| EventError::NotText)?;
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            return Ok(self.data.take().map(|data| Event { name, data }));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] =
        b": hello\nevent: a\ndata: one\r\n\r\ndata:two\ndata: lines\n\nid: 7\nevent: ping\n\ndata: \xc3\xa4\n\n";

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        let wanted = vec![event("a", "one"), event("", "two\nlines"), event("", "ä")];
        for size in 1..=STREAM.len() {
            let mut events = Events::default();
            let read: Vec<Event> =
                STREAM.chunks(size).flat_map(|piece| events.take(piece).unwrap()).collect();
            assert_eq!(read, wanted, "in pieces of {size}");
        }
    }

    #[test]
    fn an_event_that_never_ends_and_one_that_is_no_text_are_errors() {
        let mut events = Events::default();
        let piece = vec![b'x'; MAX_EVENT / 2 + 1];
        assert!(events.take(&piece).is_ok());
        assert_eq!(events.take(&piece), Err(EventError::TooLong));
        assert_eq!(Events::default().take(b"data: \xff\n\n"), Err(EventError::NotText));
        let mut lines = Events::within(100);
        assert_eq!(lines.take(&b"data: x\n".repeat(99)), Err(EventError::TooLong), "many lines, one event");
    }

    #[test]
    fn what_a_stream_ends_in_is_no_event_but_can_be_asked_for() {
        for stream in ["data: one\n\ndata: two", "data: one\n\ndata: two\n", "data: one\n\ndata: two\r\n\r"] {
            let mut events = Events::default();
            assert_eq!(events.take(stream.as_bytes()), Ok(vec![event("", "one")]), "{stream:?}");
            assert_eq!(events.rest(), Some(event("", "two")), "{stream:?}");
        }
        assert_eq!(Events::default().rest(), None);
    }
}
