//! The name that git gives a text, computed without git.
//!
//! Git names a file's content by the SHA-1 (in newer repositories SHA-256) of a short head and its bytes. Here it only
//! answers whether a file is one that was committed; nothing is trusted because of it.

use memdir_core::hash::{ContentHash, to_hex};
use sha1::{Digest, Sha1};

/// Returns git's name for a text, in a repository whose names have `n_digits` hex digits.
pub(super) fn name_of(text: &[u8], n_digits: usize) -> String {
    let head = format!("blob {}\0", text.len());
    let bytes = [head.as_bytes(), text].concat();
    if n_digits == 64 { ContentHash::of(&bytes).to_string() } else { to_hex(&Sha1::digest(&bytes)) }
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
    }
}
