//! Bodies in gzip, both ways. What comes in unpacks to no more than a limit, whatever it claims.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Answers smaller than this are not worth the work.
pub(crate) const WORTH_IT: usize = 1_024;

/// Why a body could not be unpacked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotUnpacked {
    /// It is larger than the limit.
    TooLarge,
    /// It is no gzip.
    Broken,
}

/// Unpacks a body of at most `limit` bytes.
pub(crate) fn unpack(packed: &[u8], limit: usize) -> Result<Vec<u8>, NotUnpacked> {
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to know; the rest of a bomb is never unpacked.
    let mut limited = GzDecoder::new(packed).take(limit as u64 + 1);
    limited.read_to_end(&mut bytes).map_err(|_| NotUnpacked::Broken)?;
    if bytes.len() > limit { Err(NotUnpacked::TooLarge) } else { Ok(bytes) }
}

/// Packs a body.
pub(crate) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_unpacks_within_its_limit_only() {
        let bytes = b"words ".repeat(10_000);
        let packed = pack(&bytes).unwrap();
        assert!(packed.len() < bytes.len() / 20);
        assert_eq!(unpack(&packed, bytes.len()), Ok(bytes.clone()));
        assert_eq!(unpack(&packed, bytes.len() - 1), Err(NotUnpacked::TooLarge));
        assert_eq!(unpack(&packed[..packed.len() / 2], bytes.len()), Err(NotUnpacked::Broken));
        assert_eq!(unpack(b"plain", 100), Err(NotUnpacked::Broken));
    }
}
