//! Sockets: accepted here, with limits that hold.
//!
//! A connection that does not finish the head of a request in time is closed, also one that idles; a body has its own patience in
//! [`Config`](crate::Config). One that takes nothing of its answer is closed too, and a head that could be read in two ways is
//! refused (`wire.rs`). There are only so many places; who comes later waits to be accepted. Asked to stop, the server
//! accepts nobody more, lets those go who wait for news, and finishes what runs. A `House` is whoever lives behind the sockets: the
//! team server or the gateway.

use std::convert::Infallible;
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::app::App;
use crate::storage::Storage;
use crate::wire::{MAX_HEAD, Watched};

/// What sockets may take.
#[derive(Debug, Clone, Copy)]
pub struct Sockets {
    /// So many connections are open at a time.
    pub max_connections: u32,
    /// A head that takes longer is not waited for.
    pub head_patience: Duration,
    /// An answer of which nothing is taken for so long is given up.
    pub write_patience: Duration,
    /// How long what runs may go on after the server was asked to stop.
    pub grace: Duration,
}

impl Default for Sockets {
    fn default() -> Self {
        Self {
            max_connections: 4_096,
            head_patience: Duration::from_secs(10),
            write_patience: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}

/// Whoever lives behind the sockets.
pub(crate) trait House: Send + Sync + 'static {
    /// A connection, as it is read from.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;
    /// The body of an answer.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;
    /// What is known of the other end.
    type Caller: Send + Sync;

    /// Takes a connection.
    fn greet(&self, stream: TcpStream, peer: SocketAddr, sockets: Sockets) -> (Self::Stream, Self::Caller);

    /// Says how HTTP is spoken, where that is not as usual.
    fn tune(&self, _http: &mut http1::Builder) {}

    /// Counts connections that come and go.
    fn connected(&self, _by: i64) {}

    /// Answers a request.
    fn answer(
        &self,
        request: Request<Incoming>,
        caller: &Self::Caller,
    ) -> impl Future<Output = Response<Self::Body>> + Send;

    /// Lets those go who wait for news.
    fn close(&self) {}
}

impl<S: Storage> House for App<S> {
    type Stream = Watched<TcpStream>;
    type Body = Full<Bytes>;
    /// The address, and whether something odd came from it.
    type Caller = (IpAddr, Arc<AtomicBool>);

    fn greet(&self, stream: TcpStream, peer: SocketAddr, sockets: Sockets) -> (Self::Stream, Self::Caller) {
        let stream = Watched::new(stream, sockets.write_patience);
        let is_odd = stream.oddity();
        (stream, (peer.ip(), is_odd))
    }

    fn tune(&self, http: &mut http1::Builder) {
        http.max_buf_size(MAX_HEAD);
    }

    fn connected(&self, by: i64) {
        self.metrics.connected(by);
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        (peer, is_odd): &Self::Caller,
    ) -> Response<Full<Bytes>> {
        if is_odd.load(Ordering::Relaxed) {
            return self.refuse_odd();
        }
        App::answer(self, request, *peer).await
    }

    fn close(&self) {
        App::close(self);
    }
}

/// Serves a team until `stop` comes, then finishes what runs.
pub async fn serve<S: Storage>(
    listener: TcpListener,
    app: Arc<App<S>>,
    sockets: Sockets,
    stop: impl Future<Output = ()>,
) {
    let stop = async {
        tokio::select! {
            () = stop => {}
            () = app.keep_house() => {}
        }
    };
    open(listener, &app, sockets, stop).await;
}

/// Lets requests in until `stop` comes, then finishes what runs.
pub(crate) async fn open<H: House>(
    listener: TcpListener,
    house: &Arc<H>,
    sockets: Sockets,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(sockets.max_connections as usize));
    let closing = watch::Sender::new(false);
    tokio::select! {
        () = stop => {}
        () = accept(&listener, house, sockets, &places, &closing) => {}
    }
    drop(listener);
    closing.send_replace(true);
    house.close();
    // Every place is free again when everybody is gone.
    let everybody = places.acquire_many(sockets.max_connections);
    let _ = tokio::time::timeout(sockets.grace, everybody).await;
}

async fn accept<H: House>(
    listener: &TcpListener,
    house: &Arc<H>,
    sockets: Sockets,
    places: &Arc<Semaphore>,
    closing: &watch::Sender<bool>,
) {
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let (house, closing) = (house.clone(), closing.subscribe());
                tokio::spawn(async move {
                    house.connected(1);
                    talk(stream, peer, &house, sockets, closing).await;
                    house.connected(-1);
                    drop(place);
                });
            }
            // No descriptor left, most likely: others have to go first.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn talk<H: House>(
    stream: TcpStream,
    peer: SocketAddr,
    house: &Arc<H>,
    sockets: Sockets,
    mut closing: watch::Receiver<bool>,
) {
    // Small answers must not wait for more to come.
    let _ = stream.set_nodelay(true);
    let (stream, caller) = house.greet(stream, peer, sockets);
    let caller = &caller;
    let answer =
        service_fn(|request| async move { Ok::<_, Infallible>(house.answer(request, caller).await) });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(sockets.head_patience);
    house.tune(&mut http);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), answer));
    // Who breaks off or breaks the rules of HTTP has nobody else to blame.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = closing.wait_for(|is_closing| *is_closing) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
