//! A client for one address, as every way out has it: bounded waits, no redirect, the user's proxy and nobody else's.

use std::time::Duration;

use reqwest::Client;
use rustls::{ClientConfig, RootCertStore};

use crate::{Base, Variables};

/// How long an answer is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// To connect.
    pub connect: Duration,
    /// Until the first piece of an answer, and between two pieces.
    pub silence: Duration,
    /// How long a connection that is not used stays open; zero closes each after its answer.
    pub idle: Duration,
}

/// Why there is no way to an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoWay {
    /// The repository would decide whom to trust.
    #[error("the repository sets {0}, and with it whom to trust")]
    Shipped(String),
    /// The proxy that the user named is none.
    #[error("the proxy cannot be used: {0}")]
    Proxy(String),
    /// The system lacks what is needed, such as certificates.
    #[error("{0}")]
    System(String),
}

/// Makes a client that asks `base` and follows nobody to another address. Connects to nothing.
pub fn client(base: &Base, variables: &Variables, patience: Patience) -> Result<Client, NoWay> {
    // Whoever is first sets it for the process; a second time is no harm.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .connect_timeout(patience.connect)
        .read_timeout(patience.silence)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("memdir/", env!("CARGO_PKG_VERSION")))
        .no_proxy();
    builder = if patience.idle.is_zero() {
        builder.pool_max_idle_per_host(0)
    } else {
        builder.pool_max_idle_per_host(1).pool_idle_timeout(patience.idle)
    };
    if base.is_encrypted() {
        if let Some(name) = variables.first_shipped(&["SSL_CERT_FILE", "SSL_CERT_DIR"]) {
            return Err(NoWay::Shipped(name.to_owned()));
        }
    } else {
        // Reading the system's certificates takes time, and fails where there are none.
        builder = builder.tls_backend_preconfigured(
            ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
        );
    }
    for proxy in variables.proxies().map_err(|err| NoWay::Proxy(cause(&err)))? {
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|err| NoWay::System(cause(&err)))
}

/// Says what is behind an error, without the address.
pub fn cause(err: &reqwest::Error) -> String {
    let mut source: Option<&dyn std::error::Error> = std::error::Error::source(err);
    let mut deepest = None;
    while let Some(err) = source {
        deepest = Some(err.to_string());
        source = err.source();
    }
    match deepest {
        _ if err.is_timeout() => "no answer in time".to_owned(),
        Some(text) => text,
        None => "the connection failed".to_owned(),
    }
}
