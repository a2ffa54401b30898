//! Sockets: accepted here, with limits that hold.
//!
//! A connection that does not finish the head of a request in time is closed, also one that idles; a body has its own patience in
//! [`Config`](crate::Config). One that takes nothing of its answer is closed too, and a head that could be read in two ways is
//! refused ([`wire`](crate::wire)). There are only so many places; who comes later waits to be accepted. Asked to stop, the server
//! accepts nobody more, lets those go who wait for news, and finishes what runs.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
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

/// Serves until `stop` comes, then finishes what runs.
pub async fn serve<S: Storage>(
    listener: TcpListener,
    app: Arc<App<S>>,
    sockets: Sockets,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(sockets.max_connections as usize));
    let closing = watch::Sender::new(false);
    tokio::select! {
        () = stop => {}
        () = app.keep_house() => {}
        () = accept(&listener, &app, sockets, &places, &closing) => {}
    }
    drop(listener);
    closing.send_replace(true);
    app.close();
    // Every place is free again when everybody is gone.
    let everybody = places.acquire_many(sockets.max_connections);
    let _ = tokio::time::timeout(sockets.grace, everybody).await;
}

async fn accept<S: Storage>(
    listener: &TcpListener,
    app: &Arc<App<S>>,
    sockets: Sockets,
    places: &Arc<Semaphore>,
    closing: &watch::Sender<bool>,
) {
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let (app, closing) = (app.clone(), closing.subscribe());
                tokio::spawn(async move {
                    app.metrics.connected(1);
                    talk(stream, peer.ip(), &app, sockets, closing).await;
                    app.metrics.connected(-1);
                    drop(place);
                });
            }
            // No descriptor left, most likely: others have to go first.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn talk<S: Storage>(
    stream: TcpStream,
    peer: IpAddr,
    app: &Arc<App<S>>,
    sockets: Sockets,
    mut closing: watch::Receiver<bool>,
) {
    // Small answers must not wait for more to come.
    let _ = stream.set_nodelay(true);
    let stream = Watched::new(stream, sockets.write_patience);
    let is_odd = &stream.oddity();
    let answer = service_fn(|request| async move {
        let is_odd = is_odd.load(Ordering::Relaxed);
        Ok::<_, Infallible>(if is_odd { app.refuse_odd() } else { app.answer(request, peer).await })
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(sockets.head_patience)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(stream), answer)
    );
    // Who breaks off or breaks the rules of HTTP has nobody else to blame.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = closing.wait_for(|is_closing| *is_closing) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
