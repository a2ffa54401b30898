//! Where upstreams may be: addresses out of the user's settings, and the ranges that none of them may lead to by a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hyper::Uri;
use hyper::http::uri::{Authority, Parts, PathAndQuery, Scheme};

/// The address of an upstream: a scheme, a host, perhaps a port, perhaps a path that everything is below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    scheme: Scheme,
    authority: Authority,
    /// Without a slash at its end.
    path: String,
}

/// Why a text is no address of an upstream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseError {
    /// It is not of the form.
    #[error("is no address like https://host/path")]
    Form,
    /// It has a name or a password before its host.
    #[error("has a login in it; keys are kept with `memdir model key`")]
    Login,
    /// It is not encrypted, and not on this machine or in a network that the user vouches for.
    #[error("is not encrypted; `private = true` allows that in a network of yours")]
    Open,
}

impl Base {
    /// Reads an address; one that is not encrypted only if it is near, or `may_be_open`.
    pub fn parse(text: &str, may_be_open: bool) -> Result<Self, BaseError> {
        let uri: Uri = text.parse().map_err(|_| BaseError::Form)?;
        let Parts { scheme: Some(scheme), authority: Some(authority), path_and_query, .. } = uri.into_parts()
        else {
            return Err(BaseError::Form);
        };
        if authority.as_str().contains('@') {
            return Err(BaseError::Login);
        }
        let target = path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        let path = target.path().trim_end_matches('/').to_owned();
        let is_known = scheme == Scheme::HTTP || scheme == Scheme::HTTPS;
        if !is_known || target.query().is_some() || has_odd_parts(&path) || authority.host().is_empty() {
            return Err(BaseError::Form);
        }
        let base = Self { scheme, authority, path };
        if base.is_encrypted() || base.is_near() || may_be_open { Ok(base) } else { Err(BaseError::Open) }
    }

    /// Says whether what is sent there is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// Says whether it is on this machine.
    pub fn is_near(&self) -> bool {
        self.authority.host() == "localhost" || self.ip().is_some_and(|ip| ip.is_loopback())
    }

    /// Returns the host as an address, where it is written as one.
    pub(super) fn ip(&self) -> Option<IpAddr> {
        self.authority.host().trim_matches(['[', ']']).parse().ok()
    }

    pub(super) fn host(&self) -> &str {
        self.authority.host().trim_matches(['[', ']'])
    }

    pub(super) fn port(&self) -> u16 {
        let usual = if self.is_encrypted() { 443 } else { 80 };
        self.authority.port_u16().unwrap_or(usual)
    }

    /// Returns what stands in the header `Host`.
    pub(super) fn authority(&self) -> &str {
        self.authority.as_str()
    }

    /// Returns the address of a path below it.
    pub(super) fn join(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        let target: PathAndQuery = format!("{}{path}{query}", self.path).parse().ok()?;
        let mut parts = Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(target);
        Uri::from_parts(parts).ok()
    }
}

impl std::fmt::Display for Base {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

/// Says whether a path has parts that lead elsewhere or that readers disagree about: none, `.`, `..`, also encoded.
pub(super) fn has_odd_parts(path: &str) -> bool {
    let Some(below) = path.strip_prefix('/') else { return !path.is_empty() };
    let mut parts = below.split('/').peekable();
    while let Some(part) = parts.next() {
        let plain = part.to_ascii_lowercase().replace("%2e", ".");
        let is_last = parts.peek().is_none();
        if matches!(plain.as_str(), "." | "..") || (part.is_empty() && !is_last) || part.contains('\\') {
            return true;
        }
        if plain.contains("%2f") || plain.contains("%5c") || plain.contains("%00") {
            return true;
        }
    }
    false
}

/// Says whether an address is one that only this machine or its network understands.
pub(super) fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_private_v4(ip),
        IpAddr::V6(ip) => is_private_v6(ip),
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, ..] = ip.octets();
    ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19))
        || (a == 192 && b == 0 && ip.octets()[2] == 0)
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let [.., c, d] = ip.segments();
    let inner = || Ipv4Addr::from((u32::from(c) << 16) | u32::from(d));
    let is_wrapped = ip.to_ipv4_mapped().is_some() || (first == 0x64 && second == 0xff9b);
    ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_multicast()
        || (first & 0xfe00) == 0xfc00
        || (first & 0xffc0) == 0xfe80
        || (is_wrapped && is_private_v4(inner()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        let base = Base::parse("https://api.example.com/team/", false).unwrap();
        assert_eq!(base.to_string(), "https://api.example.com/team");
        assert_eq!((base.host(), base.port(), base.authority()), ("api.example.com", 443, "api.example.com"));
        let joined = base.join("/v1/messages", Some("beta=true")).unwrap();
        assert_eq!(joined.to_string(), "https://api.example.com/team/v1/messages?beta=true");
        let local = Base::parse("http://[::1]:11434", false).unwrap();
        assert_eq!((local.host(), local.port(), local.is_near()), ("::1", 11434, true));
    }

    /// S17.
    #[test]
    fn an_address_that_leads_elsewhere_is_none() {
        let wrong = |text| Base::parse(text, false).unwrap_err();
        for text in [
            "",
            "api.example.com",
            "/v1",
            "ftp://a/",
            "https://a/?q",
            "https://a/../b",
            "https://",
            "file:///etc",
        ] {
            assert_eq!(wrong(text), BaseError::Form, "{text}");
        }
        assert_eq!(wrong("https://user:pw@a/"), BaseError::Login);
        assert_eq!(wrong("https://api.example.com@evil.test/"), BaseError::Login);
        assert_eq!(wrong("http://api.example.com/"), BaseError::Open);
        assert!(Base::parse("http://10.0.0.7:8000", true).is_ok());
        assert!(Base::parse("http://localhost:8000", false).is_ok());
        assert_eq!(wrong("http://localhost.evil.test:8000"), BaseError::Open);
    }

    /// S17.
    #[test]
    fn a_path_leads_down_only() {
        for odd in [
            "//evil/",
            "/a//b",
            "/..",
            "/a/../b",
            "/a/./b",
            "/%2e%2E/b",
            "/.%2e/b",
            "/a%2f..%2fb",
            "/a\\..\\b",
            "x",
            "/a%5cb",
            "/%00",
        ] {
            assert!(has_odd_parts(odd), "{odd}");
        }
        for plain in [
            "",
            "/",
            "/v1/messages",
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
            "/v1/files/a..b/",
            "/@evil",
        ] {
            assert!(!has_odd_parts(plain), "{plain}");
        }
    }

    /// S17.
    #[test]
    fn private_ranges_are_known() {
        for private in [
            "127.0.0.1",
            "127.8.9.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
        ] {
            assert!(is_private(private.parse().unwrap()), "{private}");
        }
        for public in
            ["1.1.1.1", "160.79.104.10", "172.32.0.1", "100.128.0.1", "2606:4700::1", "::ffff:1.1.1.1"]
        {
            assert!(!is_private(public.parse().unwrap()), "{public}");
        }
    }
}
