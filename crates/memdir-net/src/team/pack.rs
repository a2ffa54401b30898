//! Bodies in gzip, both ways. What comes in unpacks to no more than a limit, whatever it claims.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Smaller bodies are not worth the work.
const WORTH_IT: usize = 200;

/// Packs a body; `None` where that gains nothing.
pub(super) fn pack(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < WORTH_IT {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), Compression::default());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish()).ok()?;
    (packed.len() < bytes.len()).then_some(packed)
}

/// Unpacks a body of at most `limit` bytes; `None` if it is larger.
pub(super) fn unpack(packed: &[u8], limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to know; the rest of a bomb is never unpacked.
    GzDecoder::new(packed).take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_unpacks_within_its_limit_only() {
        let bytes = b"words ".repeat(10_000);
        let packed = pack(&bytes).unwrap();
        assert!(packed.len() < bytes.len() / 20);
        assert_eq!(unpack(&packed, bytes.len()).unwrap().as_deref(), Some(&bytes[..]));
        assert_eq!(unpack(&packed, bytes.len() - 1).unwrap(), None);
        assert!(unpack(&packed[..packed.len() / 2], bytes.len()).is_err());
        assert!(unpack(b"plain", 100).is_err());
        assert!(pack(b"short").is_none());
    }
}
