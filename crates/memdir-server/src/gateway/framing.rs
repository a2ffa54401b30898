//! Where one request ends and the next begins, read strictly.
//!
//! Two programs that disagree about the end of a request can be made to disagree about whose request it is. So only what every
//! reader of HTTP/1.1 understands alike is let through: lines end in CRLF, a head says the length of its body once and in one
//! way, chunks have a size and nothing else. [`Framing`] follows the bytes of a connection and says which one is the first that
//! breaks a rule; it keeps no more than a line of them.

/// No head is larger, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// No set of trailers is larger.
const MAX_TRAILERS: usize = 8 << 10;
/// The digits of a length that fits into 64 bits in any case.
const MAX_DIGITS: usize = 15;

/// How far the bytes of a connection were followed.
#[derive(Debug, Default)]
pub(super) struct Framing {
    state: State,
    line: Vec<u8>,
    /// Bytes of this head or these trailers, up to now.
    n_lines: usize,
    length: Option<Length>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    RequestLine,
    Head,
    Body(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailers,
}

/// How a head says how long its body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Known(u64),
    Chunked,
}

/// A rule is broken.
#[derive(Debug, PartialEq, Eq)]
struct Broken;

impl Framing {
    /// Follows the next bytes; the error is the place of the first one that must not be there.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut at = 0;
        while at < bytes.len() {
            if let State::Body(left) | State::Chunk(left) = self.state {
                at += self.skip(left, bytes.len() - at);
                continue;
            }
            self.byte(bytes[at]).map_err(|Broken| at)?;
            at += 1;
        }
        Ok(())
    }

    /// Passes over bytes of a body, and returns how many.
    fn skip(&mut self, left: u64, there: usize) -> usize {
        let n = left.min(there as u64);
        self.state = match (self.state, left - n) {
            (State::Body(_), 0) => State::RequestLine,
            (State::Body(_), left) => State::Body(left),
            (_, 0) => State::ChunkEnd,
            (_, left) => State::Chunk(left),
        };
        n as usize
    }

    fn byte(&mut self, byte: u8) -> Result<(), Broken> {
        self.n_lines += 1;
        let most = match self.state {
            State::RequestLine | State::Head => MAX_HEAD,
            State::Trailers => MAX_TRAILERS,
            State::ChunkEnd => 2,
            _ => MAX_DIGITS + 2,
        };
        if self.n_lines > most {
            return Err(Broken);
        }
        if byte != b'\n' {
            self.line.push(byte);
            return Ok(());
        }
        let mut line = std::mem::take(&mut self.line);
        let ended = match line.pop() {
            Some(b'\r') => self.end_of(&line),
            _ => Err(Broken),
        };
        line.clear();
        self.line = line;
        ended
    }

    fn end_of(&mut self, line: &[u8]) -> Result<(), Broken> {
        match self.state {
            State::RequestLine => {
                request_line(line)?;
                self.state = State::Head;
            }
            State::Head if line.is_empty() => {
                let next = match self.length.take() {
                    None | Some(Length::Known(0)) => State::RequestLine,
                    Some(Length::Known(length)) => State::Body(length),
                    Some(Length::Chunked) => State::ChunkSize,
                };
                self.begin(next);
            }
            State::Head => self.header(line)?,
            State::ChunkSize => match number(line, 16)? {
                0 => self.begin(State::Trailers),
                size => self.begin(State::Chunk(size)),
            },
            State::ChunkEnd if line.is_empty() => self.begin(State::ChunkSize),
            State::Trailers if line.is_empty() => self.begin(State::RequestLine),
            State::Trailers => trailer(line)?,
            State::ChunkEnd | State::Body(_) | State::Chunk(_) => return Err(Broken),
        }
        Ok(())
    }

    fn begin(&mut self, state: State) {
        self.state = state;
        self.n_lines = 0;
    }

    /// Reads a header, and what it says about the length of the body.
    fn header(&mut self, line: &[u8]) -> Result<(), Broken> {
        let (name, value) = field(line)?;
        let length = if name.eq_ignore_ascii_case(b"content-length") {
            Length::Known(number(value, 10)?)
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            value.eq_ignore_ascii_case(b"chunked").then_some(Length::Chunked).ok_or(Broken)?
        } else {
            return Ok(());
        };
        match self.length.replace(length) {
            None => Ok(()),
            Some(_) => Err(Broken),
        }
    }
}

/// A method, a target and the version, with one space between them.
fn request_line(line: &[u8]) -> Result<(), Broken> {
    let mut words = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(b"HTTP/1.1"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Broken);
    };
    let is_target = !target.is_empty() && target.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'#');
    if is_token(method) && is_target { Ok(()) } else { Err(Broken) }
}

/// A name, a colon right after it, and a value, with the blanks around the value gone.
fn field(line: &[u8]) -> Result<(&[u8], &[u8]), Broken> {
    let colon = line.iter().position(|byte| *byte == b':').ok_or(Broken)?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    let is_control = |byte: &u8| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f;
    if !is_token(name) || value.iter().any(is_control) {
        return Err(Broken);
    }
    Ok((name, value))
}

/// A header after the body. What decides about a request has its place before it.
fn trailer(line: &[u8]) -> Result<(), Broken> {
    const BEFORE: [&[u8]; 6] =
        [b"content-length", b"transfer-encoding", b"host", b"connection", b"authorization", b"x-api-key"];
    let (name, _) = field(line)?;
    if BEFORE.iter().any(|before| name.eq_ignore_ascii_case(before)) { Err(Broken) } else { Ok(()) }
}

/// Digits and nothing else.
fn number(digits: &[u8], radix: u32) -> Result<u64, Broken> {
    let is_plain = (1..=MAX_DIGITS).contains(&digits.len())
        && digits.iter().all(|digit| char::from(*digit).is_digit(radix));
    let text = std::str::from_utf8(digits).ok().filter(|_| is_plain).ok_or(Broken)?;
    u64::from_str_radix(text, radix).map_err(|_| Broken)
}

fn is_token(word: &[u8]) -> bool {
    let is_sign = |byte: &u8| b"!#$%&'*+-.^_`|~".contains(byte);
    !word.is_empty() && word.iter().all(|byte| byte.is_ascii_alphanumeric() || is_sign(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the bytes whole and one by one, which must come to the same.
    fn broken_at(bytes: &str) -> Option<usize> {
        let whole = Framing::default().take(bytes.as_bytes()).err();
        let mut framing = Framing::default();
        let one_by_one =
            bytes.bytes().enumerate().find_map(|(at, byte)| framing.take(&[byte]).err().map(|_| at));
        assert_eq!(whole, one_by_one, "{bytes:?}");
        whole
    }

    fn passes(bytes: &str) {
        assert_eq!(broken_at(bytes), None, "{bytes:?}");
        // What follows is a request again.
        assert_eq!(broken_at(&format!("{bytes}GET / HTTP/1.1\r\nHost: a\r\n\r\n")), None, "{bytes:?}");
        assert!(broken_at(&format!("{bytes}?\r\n")).is_some(), "{bytes:?}");
    }

    /// S18.
    #[test]
    fn what_everybody_understands_alike_passes() {
        passes("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        passes("POST /v1/messages?beta=true HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
        passes("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
        passes(
            "POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n",
        );
        passes("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx-sum: 1\r\n\r\n");
        passes("POST / HTTP/1.1\r\nX-Name: stra\u{df}e \t\r\nX-Empty:\r\n\r\n");
    }

    /// S18.
    #[test]
    fn what_two_readers_could_read_in_two_ways_does_not() {
        let head = |headers: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{headers}\r\n");
        for headers in [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            "Content-Length: 5\r\nContent-Length: 5\r\n",
            "Content-Length: 5\r\ncontent-length: 6\r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: -5\r\n",
            "Content-Length: 0x5\r\n",
            "Content-Length: 5 5\r\n",
            "Content-Length:\r\n",
            "Content-Length: 9999999999999999999999\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: identity\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: \x0bchunked\r\n",
            "Transfer-Encoding : chunked\r\n",
            "X-Fold: a\r\n b\r\n",
            "X-Bare: a\nX-Other: b\r\n",
            "X-Return: a\rb\r\n",
            "X-Nul: \0\r\n",
            ": none\r\n",
            "no colon\r\n",
        ] {
            assert!(broken_at(&head(headers)).is_some(), "{headers:?}");
        }
        for line in [
            "GET  / HTTP/1.1\r\n",
            "GET / HTTP/1.0\r\n",
            "GET / HTTP/1.1 \r\n",
            "GET /a b HTTP/1.1\r\n",
            "GET /#a HTTP/1.1\r\n",
            "GET\t/ HTTP/1.1\r\n",
            "G(T / HTTP/1.1\r\n",
            "GET /\r\n",
            "\r\nGET / HTTP/1.1\r\n",
            "GET / HTTP/1.1\n",
            "PRI * HTTP/2.0\r\n",
        ] {
            assert!(broken_at(line).is_some(), "{line:?}");
        }
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        for body in [
            "5;a=b\r\nhello\r\n0\r\n\r\n",
            "5 \r\nhello\r\n",
            "5\nhello\r\n",
            "+5\r\nhello\r\n",
            "0x5\r\nhello\r\n",
            "\r\nhello\r\n",
            "5\r\nhelloo\r\n",
            "5\r\nhello\n",
            "1000000000000000\r\n",
            "0\r\nContent-Length: 5\r\n\r\n",
            "0\r\n fold\r\n\r\n",
        ] {
            assert!(broken_at(&format!("{chunked}{body}")).is_some(), "{body:?}");
        }
    }

    #[test]
    fn a_head_has_an_end() {
        let long = format!("GET / HTTP/1.1\r\nX-Long: {}\r\n", "a".repeat(MAX_HEAD));
        assert_eq!(broken_at(&long), Some(MAX_HEAD));
        let trailers = "x: y\r\n".repeat(MAX_TRAILERS);
        assert!(
            broken_at(&format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{trailers}"))
                .is_some()
        );
    }
}
