//! The 30,522 tokens, looked up in a hash table that was built beforehand.
//!
//! The asset holds the slots of the hash table, where each token begins, and the bytes of all tokens;
//! `training/embedding/pack_vocabulary.py` writes it and describes it. Building a map at start would cost more than
//! everything a hook does with a text.

static PACKED: &[u8] = include_bytes!("../../assets/embedding/vocabulary.bin");

const N_SLOTS: usize = 1 << 16;
const N_TOKENS: usize = 30_522;
/// Where the beginnings of the tokens stand in the asset, and where the tokens themselves.
const STARTS: usize = 2 * N_SLOTS;
const TEXT: usize = STARTS + 4 * (N_TOKENS + 1);
const NO_TOKEN: u16 = u16::MAX;

/// The longest token in bytes, without the `##` of a continuation: no longer piece need be tried.
const LONGEST: usize = 18;

/// FNV-1a of nothing, and of `##`.
const HASH_OF_NOTHING: u32 = 0x811C_9DC5;
const HASH_OF_CONTINUATION: u32 = fnv(fnv(HASH_OF_NOTHING, b'#'), b'#');

/// Where in a word a piece stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// The piece opens the word.
    Start,
    /// The piece goes on with it; the vocabulary writes such a piece with `##` before it.
    Inside,
}

/// Finds the longest token that `text` begins with: its id and its length in bytes.
pub(super) fn longest_prefix(text: &str, place: Place) -> Option<(u16, usize)> {
    let mut hashes = [(0, 0); LONGEST];
    let mut n_hashes = 0;
    let mut hash = match place {
        Place::Start => HASH_OF_NOTHING,
        Place::Inside => HASH_OF_CONTINUATION,
    };
    for (position, &byte) in text.as_bytes().iter().take(LONGEST).enumerate() {
        hash = fnv(hash, byte);
        if text.is_char_boundary(position + 1) {
            hashes[n_hashes] = (hash, position + 1);
            n_hashes += 1;
        }
    }
    hashes[..n_hashes]
        .iter()
        .rev()
        .find_map(|&(hash, length)| Some((find(hash, &text.as_bytes()[..length], place)?, length)))
}

const fn fnv(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// Finds a piece by its hash. An empty slot ends the search; half of the slots are empty.
fn find(hash: u32, piece: &[u8], place: Place) -> Option<u16> {
    let mut slot = (hash ^ hash >> 16) as usize % N_SLOTS;
    loop {
        let id = u16::from_le_bytes([PACKED[2 * slot], PACKED[2 * slot + 1]]);
        if id == NO_TOKEN {
            return None;
        }
        if is_token(id, piece, place) {
            return Some(id);
        }
        slot = (slot + 1) % N_SLOTS;
    }
}

fn is_token(id: u16, piece: &[u8], place: Place) -> bool {
    let token = token(id);
    match place {
        Place::Start => token == piece,
        Place::Inside => token.strip_prefix(b"##") == Some(piece),
    }
}

/// The bytes of a token as the vocabulary writes it.
fn token(id: u16) -> &'static [u8] {
    let start = |number: usize| {
        let at = STARTS + 4 * number;
        u32::from_le_bytes([PACKED[at], PACKED[at + 1], PACKED[at + 2], PACKED[at + 3]]) as usize
    };
    let id = usize::from(id);
    &PACKED[TEXT + start(id)..TEXT + start(id + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_under_its_id() {
        for id in 0..N_TOKENS as u16 {
            let text = str::from_utf8(token(id)).unwrap();
            let (text, place) = match text.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => (rest, Place::Inside),
                _ => (text, Place::Start),
            };
            assert_eq!(longest_prefix(text, place), Some((id, text.len())), "{text}");
        }
    }

    #[test]
    fn the_longest_token_is_as_long_as_said() {
        let longest = (0..N_TOKENS as u16).map(token).map(|t| t.strip_prefix(b"##").unwrap_or(t).len()).max();
        assert_eq!(longest, Some(LONGEST));
    }

    #[test]
    fn the_asset_ends_with_the_last_token() {
        assert_eq!(token(N_TOKENS as u16 - 1).as_ptr_range().end, PACKED.as_ptr_range().end);
    }

    #[test]
    fn a_piece_inside_a_word_is_another_token_than_a_word() {
        let (word, _) = longest_prefix("ing", Place::Start).unwrap();
        let (inside, _) = longest_prefix("ing", Place::Inside).unwrap();
        assert_ne!(word, inside);
        assert_eq!(token(inside), b"##ing");
    }

    #[test]
    fn what_no_token_begins_with_is_not_found() {
        assert_eq!(longest_prefix("\u{1f680}", Place::Start), None);
        assert_eq!(longest_prefix("", Place::Start), None);
        assert_eq!(longest_prefix("", Place::Inside), None);
    }
}
