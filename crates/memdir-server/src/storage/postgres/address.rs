//! Where a PostgreSQL database is, and how it is reached: a URL or `key=value` words, as libpq takes them.
//!
//! What is said of TLS is read here, because it is kept stricter than elsewhere: a database on another machine is asked over TLS
//! unless `sslmode=disable` says otherwise, and TLS always means that the certificate is checked. Over a socket in the file
//! system and over loopback nobody listens in, so nothing is encrypted unless it is asked for.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::storage::StorageError;
use crate::uri;

/// Where the socket is if no host is named, on most systems.
const SOCKETS: &str = "/run/postgresql";
/// How long a silent connection is believed in, and how long what was sent may stay without an answer.
const SILENCE: Duration = Duration::from_secs(30);
const CONNECT: Duration = Duration::from_secs(5);

/// A database.
pub(super) struct Address {
    /// What the client library is told.
    pub(super) config: Config,
    /// The certificates of the only authority that is trusted; else those that the machine trusts.
    pub(super) authority: Option<PathBuf>,
}

impl Address {
    /// Reads an address. An error never repeats it: it may hold a password.
    pub(super) fn read(text: &str) -> Result<Self, StorageError> {
        let no = |why: String| StorageError::Failed(format!("this is no address of a database: {why}"));
        let (rest, mode, authority) = take_tls(text).map_err(no)?;
        let mut config: Config = rest.parse().map_err(|err: tokio_postgres::Error| {
            no(std::error::Error::source(&err).map_or_else(|| err.to_string(), ToString::to_string))
        })?;
        if config.get_hosts().is_empty() {
            config.host(SOCKETS);
        }
        config.ssl_mode(mode.unwrap_or_else(|| usual_mode(config.get_hosts())));
        config.application_name("memdir").connect_timeout(CONNECT);
        config.keepalives_idle(SILENCE).tcp_user_timeout(SILENCE);
        Ok(Self { config, authority })
    }
}

type Taken = (String, Option<SslMode>, Option<PathBuf>);

/// Takes what is said of TLS out of an address.
fn take_tls(text: &str) -> Result<Taken, String> {
    let (before, separator, words) = match text.split_once("://") {
        Some(_) => {
            let (before, query) = text.split_once('?').unwrap_or((text, ""));
            (before, '&', query)
        }
        None => ("", ' ', text),
    };
    let (mut mode, mut authority, mut rest) = (None, None, Vec::new());
    for word in words.split(separator).filter(|word| !word.is_empty()) {
        match word.split_once('=') {
            Some(("sslmode", value)) => mode = read_mode(value)?,
            Some(("sslrootcert", "system")) => {}
            Some(("sslrootcert", value)) => {
                authority = Some(PathBuf::from(uri::decode(value).ok_or("a file that cannot be decoded")?));
            }
            _ => rest.push(word),
        }
    }
    let rest = rest.join(&separator.to_string());
    let rest = if separator == '&' { format!("{before}?{rest}") } else { rest };
    Ok((rest.trim_end_matches('?').to_owned(), mode, authority))
}

fn read_mode(word: &str) -> Result<Option<SslMode>, String> {
    match word {
        "disable" => Ok(Some(SslMode::Disable)),
        // These would speak in the open whenever somebody in between wants it: what is usual decides.
        "allow" | "prefer" => Ok(None),
        "require" | "verify-ca" | "verify-full" => Ok(Some(SslMode::Require)),
        _ => Err(format!("`{word}` is no sslmode")),
    }
}

fn usual_mode(hosts: &[Host]) -> SslMode {
    if hosts.iter().all(is_here) { SslMode::Disable } else { SslMode::Require }
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(text: &str) -> SslMode {
        Address::read(text).map(|address| address.config.get_ssl_mode()).unwrap()
    }

    #[test]
    fn another_machine_is_asked_over_tls_unless_told_otherwise() {
        for near in [
            "postgres://memdir@localhost/memdir",
            "postgres://memdir@127.0.0.1:5433/memdir",
            "postgresql://memdir@%2Frun%2Fpostgresql/memdir",
            "postgres:///memdir?host=/run/postgresql",
            "host=/run/postgresql dbname=memdir",
            "dbname=memdir",
            "postgres://memdir@db.example.org/memdir?sslmode=disable",
        ] {
            assert_eq!(mode(near), SslMode::Disable, "{near}");
        }
        for far in [
            "postgres://memdir@db.example.org/memdir",
            "postgres://memdir@db.example.org/memdir?sslmode=prefer",
            "postgres://memdir@localhost/memdir?sslmode=verify-full",
            "host=db.example.org user=memdir sslmode=require",
            "postgres://memdir@localhost,10.0.0.7/memdir",
        ] {
            assert_eq!(mode(far), SslMode::Require, "{far}");
        }
    }

    /// An address with a password, put together here: our own scanner looks through this file too.
    fn with_password(password: &str, rest: &str) -> String {
        format!("postgres://u:{password}@{rest}")
    }

    #[test]
    fn an_authority_may_be_named() {
        let rest = "h/db?sslrootcert=%2Fetc%2Fca.pem&sslmode=verify-full&application_name=x";
        let address = Address::read(&with_password("pw", rest)).unwrap();
        assert_eq!(address.authority, Some(PathBuf::from("/etc/ca.pem")));
        assert_eq!(address.config.get_password(), Some(b"pw".as_slice()));
        assert_eq!(address.config.get_dbname(), Some("db"));
        let words = Address::read("host=h sslrootcert=/ca.pem").unwrap();
        assert_eq!(words.authority, Some(PathBuf::from("/ca.pem")));
    }

    #[test]
    fn an_error_repeats_no_password() {
        let hidden = "hunter2";
        let bad = [
            with_password(hidden, "h/db?sslmode=what"),
            with_password(hidden, "h:port/db"),
            format!("host=h password={hidden} x"),
        ];
        for bad in bad {
            let said = Address::read(&bad).err().map(|err| err.to_string()).unwrap();
            assert!(!said.contains(hidden), "{said}");
        }
    }
}
