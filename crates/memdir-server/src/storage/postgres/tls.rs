//! TLS to a database on another machine, by the authorities that this machine trusts or by one that is named.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

use super::address::Address;
use crate::storage::StorageError;

/// Makes TLS of a connection, always checking who is at its other end.
#[derive(Clone)]
pub(super) struct Tls {
    config: Arc<ClientConfig>,
}

impl Tls {
    /// Trusts whom the machine trusts, or only the authority that the address names. Nobody, where TLS is not spoken.
    pub(super) fn new(address: &Address) -> Result<Self, StorageError> {
        let roots = match &address.authority {
            _ if address.config.get_ssl_mode() == SslMode::Disable => RootCertStore::empty(),
            Some(file) => named(file)?,
            None => usual(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|err| StorageError::Failed(err.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config) })
    }
}

/// The authorities that the machine trusts. One that cannot be read is left out: then what it vouches for is not trusted.
fn usual() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn named(file: &Path) -> Result<RootCertStore, StorageError> {
    let unusable = |err: String| StorageError::Failed(format!("no certificate in {}: {err}", file.display()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|err| unusable(err.to_string()))? {
        let certificate = certificate.map_err(|err| unusable(err.to_string()))?;
        roots.add(certificate).map_err(|err| unusable(err.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("it is empty".to_owned()));
    }
    Ok(roots)
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Handshake;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, Self::Error> {
        // A socket in the file system has no name; it is never asked for TLS.
        let name = if host.is_empty() { "localhost" } else { host };
        let name = ServerName::try_from(name)?.to_owned();
        Ok(Handshake { name, connector: TlsConnector::from(self.config.clone()) })
    }
}

/// A handshake that is about to happen.
pub(super) struct Handshake {
    name: ServerName<'static>,
    connector: TlsConnector,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { self.connector.connect(self.name, socket).await.map(Encrypted) })
    }
}

/// A connection in TLS.
pub(super) struct Encrypted(client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
