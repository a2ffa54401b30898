//! The gateway: a proxy on this machine that speaks the interfaces of model vendors, so that a client gets memory by one address.
//!
//! ```text
//!    client ─▶ framing ─▶ door ─▶ route ─▶ memory, if it reads the request ─▶ upstream (from the user's settings only)
//!    client ◀───────────────────────────── byte for byte ◀───┴ hearer ◀────── answer
//!                                                └ serving, if calls of a tool in it are answered here
//! ```
//!
//! [`Gateway`] carries requests and answers, [`serve`] brings them in from sockets, and [`Config`] says where they may go. What it
//! means to have memory is somebody else's: look at [`Memory`]. Without it every byte passes as it came.

mod address;
mod again;
mod body;
mod config;
mod connect;
mod framing;
mod headers;
mod memory;
mod packed;
mod peer;
mod relay;
mod route;
mod serving;
mod status;
mod strict;

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::{Request, Response};
use tokio::net::{TcpListener, TcpStream};

use crate::listen::{self, House, Sockets};

pub use address::{Base, BaseError};
pub use again::Again;
pub use config::{Access, Config, Key, Token, Upstream};
pub use memory::{End, Head, Hearer, Memory, NoMemory, Note, Prepared, Served, Tool, Usage};
pub use relay::Gateway;
pub use status::Entry;

/// Serves until `stop` comes, then lets what is being answered end.
pub async fn serve<M: Memory>(
    listener: TcpListener,
    gateway: Arc<Gateway<M>>,
    sockets: Sockets,
    stop: impl Future<Output = ()>,
) {
    listen::open(listener, &gateway, sockets, stop).await;
}

impl<M: Memory> House for Gateway<M> {
    type Stream = strict::Strict;
    type Body = body::Relayed;
    type Caller = relay::Caller;

    fn greet(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        _sockets: Sockets,
    ) -> (strict::Strict, relay::Caller) {
        let caller = relay::Caller::new(peer, stream.local_addr().ok());
        (strict::Strict::new(stream), caller)
    }

    fn tune(&self, http: &mut http1::Builder) {
        // An answer is the upstream's: its headers as it wrote them, and no date of ours.
        http.preserve_header_case(true).auto_date_header(false).max_buf_size(relay::BUFFER);
    }

    async fn answer(&self, request: Request<Incoming>, caller: &relay::Caller) -> Response<body::Relayed> {
        Gateway::answer(self, request, caller).await
    }
}
