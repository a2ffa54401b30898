//! Tokens and invitations: made at random, told once, kept as hashes.

use std::io;

use memdir_core::hash::{ContentHash, to_hex};

/// How a token begins, so that people and scanners know one when they see it.
pub const TOKEN: &str = "mdt_";
/// How an invitation begins.
pub const INVITE: &str = "mdi_";
const TOKEN_BYTES: usize = 32;
const INVITE_BYTES: usize = 24;
const ID_BYTES: usize = 8;

/// Something secret that was just made. It has no `Debug`, so that it gets into no log by accident.
pub struct Minted {
    /// What its owner is told, once.
    pub secret: String,
    /// What is kept.
    pub hash: ContentHash,
    /// What it is called when it is listed and revoked.
    pub id: String,
}

/// Makes a token.
pub fn token() -> io::Result<Minted> {
    mint(TOKEN, TOKEN_BYTES)
}

/// Makes an invitation.
pub fn invite() -> io::Result<Minted> {
    mint(INVITE, INVITE_BYTES)
}

fn mint(prefix: &str, n_bytes: usize) -> io::Result<Minted> {
    let secret = format!("{prefix}{}", random(n_bytes)?);
    Ok(Minted { hash: ContentHash::of(secret.as_bytes()), id: random(ID_BYTES)?, secret })
}

fn random(n_bytes: usize) -> io::Result<String> {
    let mut bytes = vec![0; n_bytes];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(to_hex(&bytes))
}

/// Returns the hash of a text if it has the form of a token. Whether it is one, the database says: it is asked for the hash, so
/// the time that takes tells nothing about how much of a guess was right.
pub fn token_hash(text: &str) -> Option<ContentHash> {
    hash_of(text, TOKEN, TOKEN_BYTES)
}

/// Returns the hash of a text if it has the form of an invitation.
pub fn invite_hash(text: &str) -> Option<ContentHash> {
    hash_of(text, INVITE, INVITE_BYTES)
}

fn hash_of(text: &str, prefix: &str, n_bytes: usize) -> Option<ContentHash> {
    let digits = text.strip_prefix(prefix)?;
    let is_whole =
        digits.len() == 2 * n_bytes && digits.bytes().all(|byte| b"0123456789abcdef".contains(&byte));
    is_whole.then(|| ContentHash::of(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S14.
    #[test]
    fn what_is_minted_is_long_new_and_known_by_its_hash() {
        let (one, two) = (token().unwrap(), token().unwrap());
        assert_eq!(one.secret.len(), 4 + 64);
        assert_ne!(one.secret, two.secret);
        assert_ne!(one.id, two.id);
        assert_eq!(token_hash(&one.secret), Some(one.hash));
        let invite = invite().unwrap();
        assert_eq!(invite.secret.len(), 4 + 48);
        assert_eq!(invite_hash(&invite.secret), Some(invite.hash));
        assert_eq!(token_hash(&invite.secret), None);
        for wrong in ["", "mdt_", &one.secret[1..], &format!("{}0", one.secret), &one.secret.to_uppercase()] {
            assert_eq!(token_hash(wrong), None, "{wrong}");
        }
    }
}
