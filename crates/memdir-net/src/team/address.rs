//! Where a team server is, as people say it: `https://host[:port]`, and behind a `#` the invitation.

use memdir_core::hash::ContentHash;
use memdir_core::team::wire::{ProjectName, TeamName};
use memdir_store::keys::Secret;

use crate::{BadBase, Base};

/// How an invitation begins, and how many digits follow.
const INVITE: &str = "mdi_";
const INVITE_DIGITS: usize = 48;

/// An address that somebody was told, with the invitation if there is one.
pub struct Address {
    /// Where the server is.
    pub base: Base,
    /// What becomes a token, once.
    pub invite: Option<Secret>,
}

/// Why a text is no address of a team server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// It is no URL.
    #[error("it is no URL such as https://host")]
    NotAUrl,
    /// Tokens would be sent for everybody to read.
    #[error("plain http is only for this machine: tokens would travel in the open")]
    Open,
    /// It has a user, a password or a query.
    #[error("it may have no user, password or `?`")]
    Adorned,
    /// What follows the `#` is none.
    #[error("what follows the `#` is no invitation: `mdi_` and 48 digits")]
    NoInvite,
}

impl Address {
    /// Says whether a text means a server, and not a directory.
    pub fn is_meant(text: &str) -> bool {
        let lower = text.trim().to_ascii_lowercase();
        lower.starts_with("https:") || lower.starts_with("http:")
    }

    /// Reads an address; `may_be_open` allows plain http to other machines.
    pub fn parse(text: &str, may_be_open: bool) -> Result<Self, BadAddress> {
        let (url, invite) = match text.trim().split_once('#') {
            Some((url, invite)) => (url, Some(invite)),
            None => (text, None),
        };
        let base = Base::parse_open(url).map_err(|err| match err {
            BadBase::NotAUrl | BadBase::Open => BadAddress::NotAUrl,
            BadBase::Adorned => BadAddress::Adorned,
        })?;
        if !base.is_encrypted() && !base.is_here() && !may_be_open {
            return Err(BadAddress::Open);
        }
        let invite = invite.map(|text| read_invite(text).ok_or(BadAddress::NoInvite)).transpose()?;
        Ok(Self { base, invite })
    }
}

fn read_invite(text: &str) -> Option<Secret> {
    let digits = text.strip_prefix(INVITE)?;
    let is_hex = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if digits.len() == INVITE_DIGITS && is_hex { Secret::new(text) } else { None }
}

/// Names a team of a server, the same at every sync.
pub(super) fn place_id(base: &Base, team: &TeamName) -> String {
    format!("{}#{team}", base.as_str())
}

/// Takes the name of a place apart.
pub(super) fn read_place_id(id: &str) -> Option<(Base, TeamName)> {
    let (base, team) = id.rsplit_once('#')?;
    Some((Base::parse_open(base).ok()?, TeamName::new(team).ok()?))
}

/// Names a project on a server: by its id, which clones and machines have in common; one that is too long by its hash.
pub fn project_name(id: &str) -> ProjectName {
    let by_hash = || ProjectName::new(&format!("p-{}", ContentHash::of(id.as_bytes())));
    ProjectName::new(id).or_else(|_| by_hash()).expect("hex digits are a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> Option<BadAddress> {
        Address::parse(text, false).err()
    }

    #[test]
    fn an_address_may_carry_an_invitation() {
        let invite = format!("mdi_{}", "0a".repeat(24));
        let address = Address::parse(&format!(" https://memory.example:8443/team/#{invite}"), false).unwrap();
        assert_eq!(address.base.as_str(), "https://memory.example:8443/team");
        assert_eq!(address.invite.map(|invite| invite.expose().to_owned()), Some(invite));
        assert!(Address::parse("http://127.0.0.1:7420", false).unwrap().invite.is_none());
        for none in ["https://h#", "https://h#mdi_12", "https://h#mdt_00", "https://h#mdi_", "https://h#x#y"]
        {
            assert_eq!(why(none), Some(BadAddress::NoInvite), "{none}");
        }
    }

    /// S19.
    #[test]
    fn a_token_goes_over_no_open_wire_unless_the_user_says_so() {
        for open in ["http://memory.example", "http://192.168.1.9:7420", "http://memory:7420"] {
            assert_eq!(why(open), Some(BadAddress::Open), "{open}");
            assert!(Address::parse(open, true).is_ok(), "{open}");
        }
        assert_eq!(why("https://me:pw@host"), Some(BadAddress::Adorned));
        assert_eq!(why("https://host?x=1"), Some(BadAddress::Adorned));
        for none in ["https://", "http:", "https:/x y"] {
            assert_eq!(why(none), Some(BadAddress::NotAUrl), "{none}");
        }
    }

    #[test]
    fn a_place_is_named_and_found_again() {
        let (base, team) = (Base::parse("https://h:1/x/").unwrap(), TeamName::new("crew").unwrap());
        let id = place_id(&base, &team);
        assert_eq!(id, "https://h:1/x#crew");
        assert_eq!(read_place_id(&id), Some((base, team)));
        assert_eq!(read_place_id("/a/directory"), None);
    }

    #[test]
    fn every_project_id_has_a_name_on_a_server() {
        assert_eq!(project_name("web-app-3f9a1c").as_str(), "web-app-3f9a1c");
        for odd in ["_x-3f9a1c", &"x".repeat(120), "Über"] {
            assert!(project_name(odd).as_str().starts_with("p-"), "{odd}");
            assert_eq!(project_name(odd), project_name(odd));
        }
    }
}
