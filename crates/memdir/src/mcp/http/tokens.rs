//! The two tokens of the HTTP server: one that may write, one that may only read.
//!
//! Each is 256 random bits in a file that only its owner can read. They stay the same from start to start, so that a host can
//! be told one once; asking for new ones makes the old ones worthless.

use std::io;
use std::path::{Path, PathBuf};

use memdir_core::hash::ContentHash;
use memdir_store::disk::{self, Dir};

const WRITE: &str = "mcp.token";
const READ: &str = "mcp.read.token";
const N_BYTES: usize = 32;
/// A token as it is written: two digits a byte.
const N_DIGITS: usize = 2 * N_BYTES;

/// What the holder of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everything.
    Write,
    /// Nothing that changes anything.
    Read,
}

/// The hashes of the tokens; the tokens themselves are in their files and nowhere else.
#[derive(Clone)]
pub(super) struct Tokens {
    write: ContentHash,
    read: ContentHash,
    /// The file of the token that may write.
    pub(super) write_file: PathBuf,
    /// The file of the one that may only read.
    pub(super) read_file: PathBuf,
}

impl Tokens {
    /// Reads the tokens below the state root, making what is missing, or all anew.
    pub(super) fn load(home: &Path, is_new: bool) -> io::Result<Self> {
        let dir = Dir::ensure(home)?;
        Ok(Self {
            write: token(&dir, WRITE, is_new)?,
            read: token(&dir, READ, is_new)?,
            write_file: home.join(WRITE),
            read_file: home.join(READ),
        })
    }

    /// Says what a token allows; nothing if it is none.
    pub(super) fn scope(&self, token: &str) -> Option<Scope> {
        // Hashes are compared, each as a whole, so that the time tells nothing about how much of a guess was right.
        let said = ContentHash::of(token.as_bytes());
        let (write, read) = (is_same(&said, &self.write), is_same(&said, &self.read));
        match (write, read) {
            (true, _) => Some(Scope::Write),
            (false, true) => Some(Scope::Read),
            (false, false) => None,
        }
    }
}

fn is_same(a: &ContentHash, b: &ContentHash) -> bool {
    a.as_bytes().iter().zip(b.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// Returns the hash of the token in a file, making one where there is none.
pub(crate) fn token(dir: &Dir, name: &str, is_new: bool) -> io::Result<ContentHash> {
    let known = dir.read(name, 1_024).map_err(io::Error::other)?.filter(|_| !is_new);
    let known = known.and_then(|bytes| String::from_utf8(bytes).ok()).map(|text| text.trim().to_owned());
    if let Some(token) = known.filter(|token| is_token(token)) {
        dir.restrict(name)?;
        return Ok(ContentHash::of(token.as_bytes()));
    }
    let mut bytes = [0; N_BYTES];
    disk::random(&mut bytes)?;
    let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    dir.replace(name, format!("{token}\n").as_bytes())?;
    Ok(ContentHash::of(token.as_bytes()))
}

fn is_token(text: &str) -> bool {
    text.len() == N_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// S14.
    #[test]
    fn tokens_are_private_stay_the_same_and_can_be_renewed() {
        let home = tempfile::tempdir().unwrap();
        let said = |name: &str| std::fs::read_to_string(home.path().join(name)).unwrap().trim().to_owned();
        let tokens = Tokens::load(home.path(), false).unwrap();
        let (write, read) = (said(WRITE), said(READ));
        assert_ne!(write, read);
        assert_eq!((tokens.scope(&write), tokens.scope(&read)), (Some(Scope::Write), Some(Scope::Read)));
        for wrong in ["", "x", &write[1..], &format!("{write}0"), &write.to_uppercase().replace('A', "B")] {
            assert_eq!(tokens.scope(wrong), None, "{wrong}");
        }
        std::fs::set_permissions(&tokens.write_file, PermissionsExt::from_mode(0o644)).unwrap();
        let again = Tokens::load(home.path(), false).unwrap();
        assert_eq!(again.scope(&write), Some(Scope::Write));
        let mode = |file: &Path| std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&again.write_file), mode(&again.read_file)), (0o600, 0o600));
        assert_eq!(
            Tokens::load(home.path(), true).unwrap().scope(&write),
            None,
            "what was renewed counts no more"
        );
    }
}
