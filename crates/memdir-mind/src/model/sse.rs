//! Server-sent events: bytes in, in pieces of any size; events out.
//!
//! Only what services of models send: `event`, `data`, comments. An event counts once its empty line has come, so what is
//! cut off is no event. Its size is bounded, which is why this is not left to a library.

use super::ModelError;

/// No event is longer: an answer of a model is at most a few hundred kilobytes.
const MAX_EVENT: usize = 8 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Event {
    /// Its name, where the service has names.
    pub(super) name: String,
    /// What it carries.
    pub(super) data: String,
}

/// Reads events out of bytes.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Bytes of a line that has not ended.
    rest: Vec<u8>,
    name: String,
    data: Option<String>,
}

impl Events {
    /// Takes more bytes, and returns the events that they complete.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Event>, ModelError> {
        self.rest.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut start = 0;
        while let Some(length) = self.rest[start..].iter().position(|&byte| byte == b'\n') {
            let line = &self.rest[start..start + length];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = str::from_utf8(line).map_err(|_| malformed("an event is not UTF-8"))?.to_owned();
            start += length + 1;
            events.extend(self.line(&line));
        }
        self.rest.drain(..start);
        let held = self.rest.len() + self.data.as_ref().map_or(0, String::len);
        if held > MAX_EVENT { Err(malformed("an event is too long")) } else { Ok(events) }
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            return self.data.take().map(|data| Event { name, data });
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
        None
    }
}

fn malformed(why: &str) -> ModelError {
    ModelError::Malformed(why.to_owned())
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
        assert!(events.take(&piece).is_err());
        assert!(Events::default().take(b"data: \xff\n\n").is_err());
    }
}
