//! The way to an upstream: its name resolved, its address judged, a connection, and TLS around it.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

use super::address::{Base, is_private};

/// To connect, TLS included.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes connections to one upstream.
#[derive(Clone)]
pub(crate) struct Connector {
    base: Base,
    may_be_private: bool,
}

/// Why there is no connection. No text of it holds anything that a client sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("its name leads into a private network, which `private = true` would allow")]
    Private,
    #[error("its name leads nowhere")]
    NoAddress,
    #[error("no connection within {} s", PATIENCE.as_secs())]
    Late,
    #[error("no connection: {0}")]
    Io(#[from] io::Error),
    #[error("no encryption: {0}")]
    Tls(#[from] rustls::Error),
    #[error("its name cannot be one")]
    Name,
}

impl Connector {
    pub(crate) fn new(base: Base, private: bool) -> Self {
        // Who writes an address down knows where it is; a name may lead anywhere.
        let may_be_private = private || base.ip().is_some() || base.is_near();
        Self { base, may_be_private }
    }

    async fn connect(self) -> Result<Line, ConnectError> {
        let connecting = async {
            let stream = self.reach().await?;
            stream.set_nodelay(true)?;
            if !self.base.is_encrypted() {
                return Ok(Line::Plain(TokioIo::new(stream)));
            }
            let name = ServerName::try_from(self.base.host().to_owned()).map_err(|_| ConnectError::Name)?;
            let stream = TlsConnector::from(tls()?).connect(name, stream).await?;
            Ok(Line::Tls(Box::new(TokioIo::new(stream))))
        };
        tokio::time::timeout(PATIENCE, connecting).await.unwrap_or(Err(ConnectError::Late))
    }

    /// Connects to the first address that answers. What a name leads to is judged here, on the addresses that are used.
    async fn reach(&self) -> Result<TcpStream, ConnectError> {
        let found: Vec<SocketAddr> =
            tokio::net::lookup_host((self.base.host(), self.base.port())).await?.collect();
        let allowed: Vec<_> =
            found.iter().filter(|address| self.may_be_private || !is_private(address.ip())).collect();
        if allowed.is_empty() && !found.is_empty() {
            return Err(ConnectError::Private);
        }
        let mut last = ConnectError::NoAddress;
        for address in allowed {
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(err) => last = err.into(),
            }
        }
        Err(last)
    }
}

/// Whom to trust, as the system says; read once, for that takes a while.
fn tls() -> Result<Arc<ClientConfig>, ConnectError> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config.clone());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(CONFIG.get_or_init(|| Arc::new(config)).clone())
}

impl Service<Uri> for Connector {
    type Response = Line;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Line, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    /// Connects to the upstream, whatever the address says: it is made of the same settings.
    fn call(&mut self, _uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect())
    }
}

/// A connection to an upstream.
pub(crate) enum Line {
    Plain(TokioIo<TcpStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
}

impl Connection for Line {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Line {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl Write for Line {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }
}
