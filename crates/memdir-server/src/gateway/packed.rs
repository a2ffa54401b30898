//! Bodies that came packed: unpacked within a limit to be read, never to be sent on.

use std::io::{Read, Write};

use flate2::write::GzDecoder;
use hyper::body::Bytes;
use hyper::header::{CONTENT_ENCODING, HeaderMap};

use crate::gzip;

/// Unpacks the body of a request; none if it is packed in a way that we do not know, broken, or larger than `limit`.
pub(super) fn unpack(headers: &HeaderMap, body: &Bytes, limit: usize) -> Option<Bytes> {
    let mut ways = headers.get_all(CONTENT_ENCODING).iter();
    let way = ways.next().map_or(Some("identity"), |way| way.to_str().ok().map(str::trim))?;
    if ways.next().is_some() {
        return None;
    }
    match way.to_ascii_lowercase().as_str() {
        "identity" | "" => Some(body.clone()),
        "gzip" | "x-gzip" => gzip::unpack(body, limit).ok().map(Bytes::from),
        "zstd" => unpack_zstd(body, limit).map(Bytes::from),
        _ => None,
    }
}

fn unpack_zstd(packed: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed).ok()?;
    decoder.take(limit as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= limit).then_some(bytes)
}

/// Unpacks an answer while it passes.
#[derive(Debug)]
pub(crate) enum Unpacking {
    Plain,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    /// In a way that we do not know, or broken: nothing of it can be heard.
    Deaf,
}

impl Unpacking {
    /// Makes ready for an answer with these headers.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        match headers.get(CONTENT_ENCODING).map(|way| way.as_bytes().trim_ascii()) {
            None | Some(b"identity") => Self::Plain,
            Some(b"gzip") => Self::Gzip(Box::new(GzDecoder::new(Vec::new()))),
            Some(_) => Self::Deaf,
        }
    }

    /// Hands the plain bytes of a piece on.
    pub(super) fn take(&mut self, piece: &[u8], hear: impl FnOnce(&[u8])) {
        match self {
            Self::Plain => hear(piece),
            Self::Gzip(decoder) => {
                if decoder.write_all(piece).and_then(|()| decoder.flush()).is_err() {
                    *self = Self::Deaf;
                    return;
                }
                let bytes = std::mem::take(decoder.get_mut());
                hear(&bytes);
            }
            Self::Deaf => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn headers(way: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(way))])
    }

    #[test]
    fn a_body_is_read_whatever_it_is_packed_in() {
        let plain = Bytes::from("a body, a body, a body".repeat(40));
        let gzip = Bytes::from(gzip::pack(&plain).unwrap());
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let zstd = Bytes::from(ruzstd::encoding::compress_to_vec(&plain[..], level));
        let limit = plain.len();
        assert_eq!(unpack(&HeaderMap::new(), &plain, limit), Some(plain.clone()));
        assert_eq!(unpack(&headers("gzip"), &gzip, limit), Some(plain.clone()));
        assert_eq!(unpack(&headers("ZSTD"), &zstd, limit), Some(plain.clone()));
        for (way, body) in [("gzip", &gzip), ("zstd", &zstd)] {
            assert_eq!(unpack(&headers(way), body, limit - 1), None, "{way}");
            assert_eq!(unpack(&headers(way), &plain, limit), None, "{way}");
        }
        assert_eq!(unpack(&headers("br"), &plain, limit), None);
    }

    #[test]
    fn an_answer_is_heard_in_pieces() {
        let plain = b"event: ping\n\n".repeat(100);
        let packed = gzip::pack(&plain).unwrap();
        let (mut unpacking, mut heard) = (Unpacking::of(&headers("gzip")), Vec::new());
        for piece in packed.chunks(7) {
            unpacking.take(piece, |bytes| heard.extend_from_slice(bytes));
        }
        assert_eq!(heard, plain);
        unpacking.take(b"no gzip", |_| panic!("heard what is none"));
    }
}
