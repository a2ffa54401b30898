//! One spelling for the address of a remote repository.
//!
//! `git@github.com:Acme/web.git`, `ssh://git@github.com:22/acme/web/` and `https://user:token@github.com/acme/web`
//! are one repository: [`Remote::parse`] makes them one text, without user names, tokens and the protocol. It errs
//! on the side of difference, because a wrong match would join two projects' memories.

use std::path::PathBuf;

/// Hosts whose repository names do not distinguish upper and lower case.
const CASE_FOLDING_HOSTS: [&str; 3] = ["github.com", "gitlab.com", "bitbucket.org"];
/// Longest address that is worth keeping.
const MAX_URL: usize = 2048;

/// Where a remote repository is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Remote {
    /// On another machine: `github.com/acme/web-app`.
    Hosted(String),
    /// On this machine.
    Local(PathBuf),
}

impl Remote {
    /// Reads an address as git accepts it; `None` for one that names no repository by itself.
    pub(super) fn parse(url: &str) -> Option<Self> {
        let url = url.trim();
        if url.is_empty() || url.len() > MAX_URL || url.chars().any(char::is_control) {
            return None;
        }
        if let Some((scheme, rest)) = url.split_once("://") {
            return from_url(&scheme.to_ascii_lowercase(), rest);
        }
        // `helper::address` runs a program of that name; what it would reach is unknown.
        if url.contains("::") && !url.contains(['/', '[']) || url.starts_with("ext::") {
            return None;
        }
        match split_scp(url) {
            Some((host, path)) => hosted(host, None, path),
            None => Some(Self::Local(PathBuf::from(url))),
        }
    }
}

fn from_url(scheme: &str, rest: &str) -> Option<Remote> {
    if scheme == "file" {
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        return path.starts_with('/').then(|| Remote::Local(PathBuf::from(path)));
    }
    let (authority, path) = rest.split_once('/')?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = split_port(host);
    match scheme {
        // The port of an ssh or git server says nothing about the repository; https beside it has another one.
        "ssh" | "git+ssh" | "ssh+git" | "git" => hosted(host, None, path),
        "https" => hosted(host, port.filter(|port| *port != "443"), path),
        "http" => hosted(host, port.filter(|port| *port != "80"), path),
        _ => None,
    }
}

/// Splits `user@host:path`. A slash before the colon, or a drive letter, makes it a local path, as for git.
fn split_scp(url: &str) -> Option<(&str, &str)> {
    let bracket = url.find(']').unwrap_or(0);
    let colon = bracket + url[bracket..].find(':')?;
    let (authority, path) = (&url[..colon], &url[colon + 1..]);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if authority.contains('/') || host.len() < 2 {
        return None;
    }
    Some((host, path))
}

fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => {
            (name, Some(port).filter(|port| !port.is_empty()))
        }
        _ => (host, None),
    }
}

fn hosted(host: &str, port: Option<&str>, path: &str) -> Option<Remote> {
    let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let mut path = segments.join("/");
    if let Some(stem) = path.strip_suffix(".git") {
        path.truncate(stem.trim_end_matches('/').len());
    }
    if host.is_empty() || path.is_empty() {
        return None;
    }
    if CASE_FOLDING_HOSTS.contains(&host.as_str()) {
        path.make_ascii_lowercase();
    }
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    Some(Remote::Hosted(format!("{host}{port}/{path}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_one_address_comes_out_equal() {
        for url in [
            "https://github.com/acme/web-app",
            "https://github.com/acme/web-app.git",
            "https://github.com/acme/web-app.git/",
            "https://github.com:443/acme/web-app",
            "http://github.com/acme/web-app",
            "https://user@github.com/acme/web-app.git",
            "https://user:ghp_secret@github.com/acme/web-app.git",
            "https://GitHub.com/Acme/Web-App",
            "ssh://git@github.com/acme/web-app.git",
            "ssh://git@github.com:22/acme/web-app.git",
            "ssh://git@github.com:2222//acme/web-app/",
            "git://github.com/acme/web-app.git",
            "git+ssh://git@github.com/acme/web-app",
            "git@github.com:acme/web-app.git",
            "git@github.com:/acme/web-app.git",
            "github.com:acme/web-app",
            "  git@github.com.:acme/web-app.git  ",
        ] {
            assert_eq!(Remote::parse(url), Some(Remote::Hosted("github.com/acme/web-app".into())), "{url}");
        }
    }

    #[test]
    fn different_repositories_stay_different() {
        let parse = |url| Remote::parse(url).unwrap();
        assert_ne!(parse("https://git.corp/a/x"), parse("https://git.corp/b/x"));
        assert_ne!(parse("https://git.corp/a/x"), parse("https://git.corp/A/x"), "case matters elsewhere");
        assert_ne!(parse("https://localhost:3000/a/x"), parse("https://localhost:4000/a/x"));
        assert_ne!(parse("https://a.corp/x/y"), parse("https://b.corp/x/y"));
    }

    #[test]
    fn a_password_never_survives() {
        for url in
            ["https://u:p4ss@h.org/a/b", "ssh://u:p4ss@h.org/a/b", "https://p4ss@h.org/a", "p4ss@h.org:a"]
        {
            let shown = format!("{:?}", Remote::parse(url));
            assert!(shown.contains("h.org/a") && !shown.contains("p4ss"), "{url}: {shown}");
        }
    }

    #[test]
    fn paths_on_this_machine_are_told_from_hosts() {
        let local = |path: &str| Some(Remote::Local(path.into()));
        assert_eq!(Remote::parse("/srv/git/web.git"), local("/srv/git/web.git"));
        assert_eq!(Remote::parse("../web"), local("../web"));
        assert_eq!(Remote::parse("./odd:name"), local("./odd:name"));
        assert_eq!(Remote::parse("file:///srv/web.git"), local("/srv/web.git"));
        assert_eq!(Remote::parse("file://localhost/srv/web.git"), local("/srv/web.git"));
        assert_eq!(Remote::parse("[::1]:srv/web"), Some(Remote::Hosted("::1/srv/web".into())));
        assert_eq!(Remote::parse("ssh://[::1]:22/srv/web"), Some(Remote::Hosted("::1/srv/web".into())));
    }

    #[test]
    fn what_names_no_repository_is_nothing() {
        for url in [
            "",
            " ",
            "https://",
            "https://host",
            "https:///path",
            "ext::sh -c evil",
            "foo::bar",
            "a\nb:c",
            "file://x/y",
        ] {
            assert_eq!(Remote::parse(url), None, "{url:?}");
        }
        assert_eq!(Remote::parse(&format!("https://h.org/{}", "x".repeat(3000))), None);
    }
}
