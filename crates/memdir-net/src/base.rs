//! Where a service is: an address that a key may be sent to.
//!
//! Encrypted, or on this machine, or in the house: a key goes over no open wire. The address carries no password, no query
//! and no fragment, and the service is never followed to another address.

use std::net::{IpAddr, Ipv6Addr};

use reqwest::Url;

/// An address below which a service answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    url: Url,
    reach: Reach,
}

/// How far away a service is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// This machine.
    Here,
    /// A private network.
    House,
    /// Anywhere.
    World,
}

/// Why a text is no address for a service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBase {
    /// It is no URL.
    #[error("it is no URL such as https://host/v1")]
    NotAUrl,
    /// Keys would be sent for everybody to read.
    #[error("plain http is only for this machine and private networks: use https")]
    Open,
    /// It has a user, a password, a query or a fragment.
    #[error("it may have no user, password, `?` or `#`")]
    Adorned,
}

impl Base {
    /// Checks an address.
    pub fn parse(text: &str) -> Result<Self, BadBase> {
        let base = Self::parse_open(text)?;
        if base.is_encrypted() || base.is_near() { Ok(base) } else { Err(BadBase::Open) }
    }

    /// Checks an address whose wire may be open: the user was asked.
    pub fn parse_open(text: &str) -> Result<Self, BadBase> {
        let mut url = Url::parse(text.trim()).map_err(|_| BadBase::NotAUrl)?;
        let reach = reach(url.host_str().ok_or(BadBase::NotAUrl)?);
        let is_adorned = !url.username().is_empty() || url.password().is_some();
        if is_adorned || url.query().is_some() || url.fragment().is_some() {
            return Err(BadBase::Adorned);
        }
        if !matches!(url.scheme(), "https" | "http") {
            return Err(BadBase::NotAUrl);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Self { url, reach })
    }

    /// Returns the address of `path` below it. Vendors' addresses end in a version, which people leave out or not.
    pub fn join(&self, version: &str, path: &str) -> Url {
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches('/');
        let has_version = base.rsplit('/').next().is_some_and(is_version);
        let whole = if has_version { format!("{base}/{path}") } else { format!("{base}/{version}/{path}") };
        url.set_path(&whole);
        url
    }

    /// Returns the address as text.
    pub fn as_str(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Returns what the user should know about it.
    pub fn warning(&self) -> Option<String> {
        let is_open = self.url.scheme() == "http" && self.reach != Reach::Here;
        is_open
            .then(|| format!("{} is not encrypted: everybody in that network can read along", self.as_str()))
    }

    /// Says whether it is on this machine or in the house, where nobody sends bills.
    pub fn is_near(&self) -> bool {
        self.reach != Reach::World
    }

    /// Says whether it is on this machine.
    pub fn is_here(&self) -> bool {
        self.reach == Reach::Here
    }

    /// Says whether connections to it are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn reach(host: &str) -> Reach {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    match host.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => Reach::Here,
        Ok(IpAddr::V4(address)) if address.is_private() || address.is_link_local() => Reach::House,
        Ok(IpAddr::V6(address)) if is_private(address) => Reach::House,
        Ok(_) => Reach::World,
        Err(_) if host == "localhost" || host.ends_with(".localhost") => Reach::Here,
        // Names without a dot, as containers have, and those of home networks are known by no public server.
        Err(_) if !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal") => {
            Reach::House
        }
        Err(_) => Reach::World,
    }
}

/// Says whether an address is of a private network or a single link.
fn is_private(address: Ipv6Addr) -> bool {
    let first = address.segments()[0];
    first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s19_a_key_goes_over_no_open_wire() {
        for open in [
            "http://api.example.com",
            "http://8.8.8.8/v1",
            "http://[2606:4700::1]",
            "http://1.2.3.4.local.example.com",
        ] {
            assert_eq!(Base::parse(open), Err(BadBase::Open), "{open}");
        }
        for fine in
            ["https://api.example.com", "http://127.0.0.1:8080", "http://localhost:11434", "http://[::1]:1"]
        {
            assert_eq!(Base::parse(fine).map(|base| base.warning()), Ok(None), "{fine}");
        }
        for near in
            ["http://192.168.1.9:8000/v1", "http://10.0.0.1", "http://ollama:11434", "http://[fd00::1]"]
        {
            assert!(Base::parse(near).unwrap().warning().is_some(), "{near}");
        }
    }

    #[test]
    fn s19_an_address_carries_no_secret_and_no_other_scheme() {
        for adorned in
            ["https://me:pw@host/v1", "https://host/v1?key=1", "https://host/#x", "https://me@host"]
        {
            assert_eq!(Base::parse(adorned), Err(BadBase::Adorned), "{adorned}");
        }
        for none in ["", "host", "file:///etc/passwd", "ftp://host", "/v1"] {
            assert_eq!(Base::parse(none), Err(BadBase::NotAUrl), "{none}");
        }
    }

    #[test]
    fn a_version_is_added_unless_it_is_there() {
        let join = |base: &str| Base::parse(base).unwrap().join("v1", "messages").to_string();
        assert_eq!(join("https://api.example.com"), "https://api.example.com/v1/messages");
        assert_eq!(join("https://api.example.com/v1/"), "https://api.example.com/v1/messages");
        assert_eq!(join("https://api.example.com/proxy"), "https://api.example.com/proxy/v1/messages");
        assert_eq!(join("https://api.example.com/api/v1beta"), "https://api.example.com/api/v1beta/messages");
    }
}
