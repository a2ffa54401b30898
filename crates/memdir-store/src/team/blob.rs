//! The name that git gives a text, computed without git.
//!
//! Git names a file's content by the SHA-1 (in newer repositories SHA-256) of a short head and its bytes. Here it only
//! answers whether a file is one that was committed; nothing is trusted because of it.

use memdir_core::hash::{ContentHash, to_hex};

/// Returns git's name for a text, in a repository whose names have `n_digits` hex digits.
pub(super) fn name_of(text: &[u8], n_digits: usize) -> String {
    let head = format!("blob {}\0", text.len());
    let bytes = [head.as_bytes(), text].concat();
    if n_digits == 64 { ContentHash::of(&bytes).to_string() } else { to_hex(&sha1(&bytes)) }
}

fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        mix(&mut state, block);
    }
    let mut digest = [0; 20];
    for (out, word) in digest.chunks_exact_mut(4).zip(state) {
        out.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

fn mix(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for at in 16..80 {
        words[at] = (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (at, word) in words.into_iter().enumerate() {
        let (choice, constant) = match at / 20 {
            0 => (b & c | !b & d, 0x5a82_7999_u32),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => (b & c | b & d | c & d, 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let next =
            a.rotate_left(5).wrapping_add(choice).wrapping_add(e).wrapping_add(constant).wrapping_add(word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_name_that_git_gives_it() {
        assert_eq!(name_of(b"", 40), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(name_of(b"b\n", 40), "61780798228d17af2d34fce4cfbdf35556832472");
        let empty = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813";
        assert_eq!(name_of(b"", 64), empty);
        assert_eq!(to_hex(&sha1(&[b'a'; 119])), "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56");
    }
}
