//! What a format says about itself: checksums, headers, blocks.
//!
//! A checksum that holds settles the matter. One that does not hold settles nothing: people shorten, retype and make
//! up tokens, and a token that was changed by one letter still shows how ours look; so the looks decide.

use super::rule::Check;
use super::value;
use super::view;

/// Says whether a value passes as a real one of its format.
pub(super) fn passes(check: Check, value: &[u8], prefix: usize) -> bool {
    let body = &value[prefix.min(value.len())..];
    match check {
        Check::Looks => looks_real(body),
        Check::Crc32Base62 => has_base62_checksum(body) || looks_real(body),
        Check::Crc32Hex => has_hex_checksum(value) || looks_real(body),
        Check::Jwt => is_jwt(value),
        Check::Human => !value::is_placeholder(value) && !is_variable(value),
        Check::Block => {
            !value::contains(value, b"...")
                && !value::contains(value, "…".as_bytes())
                && !value::contains(value, b"xxxx")
                && !value::contains(value, b"EXAMPLE")
        }
    }
}

/// Says whether the variable part of a token looks drawn by lot rather than typed as an example.
fn looks_real(body: &[u8]) -> bool {
    let limit = if body.len() >= 16 { 2.4 } else { 1.9 };
    !value::is_placeholder(body) && value::entropy(body) >= limit
}

fn is_variable(value: &[u8]) -> bool {
    value.first() == Some(&b'$')
        && value.len() < 40
        && value[1..].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Says whether the last six characters are the base-62 CRC32 of the rest.
fn has_base62_checksum(body: &[u8]) -> bool {
    let Some((random, sum)) = body.len().checked_sub(6).map(|at| body.split_at(at)) else { return false };
    let mut number = crc32(random);
    let mut wanted = [b'0'; 6];
    for digit in wanted.iter_mut().rev() {
        *digit = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(number % 62) as usize];
        number /= 62;
    }
    sum == wanted
}

/// Says whether the last eight characters are the CRC32 of what stands before the last `_`, in hex.
fn has_hex_checksum(value: &[u8]) -> bool {
    let Some((rest, sum)) = value.len().checked_sub(9).map(|at| value.split_at(at)) else { return false };
    sum[1..].eq_ignore_ascii_case(format!("{:08x}", crc32(rest)).as_bytes())
}

/// The CRC32 of IEEE 802.3, bit by bit: values are short.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc: u32, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// Says whether the first part of a value is the header of a JSON web token, and the second is not the well-known
/// sample of its makers.
fn is_jwt(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'.');
    let header = parts.next().and_then(view::decode_base64).unwrap_or_default();
    let payload = parts.next().and_then(view::decode_base64).unwrap_or_default();
    let is_header = header.starts_with(b"{")
        && (value::contains(&header, b"\"alg\"") || value::contains(&header, b"\"typ\""));
    is_header && !value::contains(&payload, b"John Doe") && !value::contains(&payload, b"\"1234567890\"")
}

/// Says whether a value is a JSON web token of a manual.
pub(super) fn is_sample_jwt(value: &[u8]) -> bool {
    value.starts_with(b"eyJ") && value.iter().filter(|byte| **byte == b'.').count() == 2 && !is_jwt(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_told_from_chance() {
        let body = ["zQWBuTSOoRi4A9sp", "HcVY5ncnsDkxkJ", "0mLq17"].concat();
        assert!(has_base62_checksum(body.as_bytes()));
        assert!(!has_base62_checksum(body.replace("17", "18").as_bytes()));
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_failed_checksum_leaves_it_to_the_looks() {
        let body = ["k9mVq2LpW7xZ4nRt", "Yb3cD5fG8hJ1sK6v"].concat();
        assert!(passes(Check::Crc32Base62, format!("ghp_{body}").as_bytes(), 4));
        assert!(!passes(Check::Crc32Base62, format!("ghp_{}", "x".repeat(36)).as_bytes(), 4));
    }
}
