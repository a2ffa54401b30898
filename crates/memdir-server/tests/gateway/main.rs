//! The gateway with a memory of its own, in one process: what memory sees of a request, what becomes of it, and that nothing that goes
//! wrong with memory goes wrong with the request.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use memdir_server::gateway::{
    Access, Again, Base, Config, End, Gateway, Head, Hearer, Memory, Note, Prepared, Token, Upstream, Usage,
    serve,
};
use memdir_server::listen::Sockets;

/// Only a gateway that hangs takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A memory that does what the body tells it to, and tells what it saw.
struct Told {
    seen: Mutex<Sender<(Head, Bytes)>>,
    heard: Mutex<Sender<(Vec<u8>, End)>>,
}

impl Memory for Told {
    fn reads(&self, head: &Head) -> bool {
        !head.headers.contains_key("x-unread")
    }

    async fn prepare(&self, head: Head, body: Bytes, _again: Again) -> Prepared {
        self.seen.lock().unwrap().send((head, body.clone())).unwrap();
        let heard = self.heard.lock().unwrap().clone();
        let hearer: Box<dyn Hearer> =
            Box::new(Ear { heard, pieces: Vec::new(), breaks: body.ends_with(b"deaf") });
        let note = Note { injected: 5, kind: "main", ..Note::default() };
        match &body[..] {
            b"panic" => panic!("a fault of memory"),
            b"late" => std::future::pending().await,
            b"untouched" => Prepared::untouched(body),
            _ if body.ends_with(b"deaf") => Prepared { hearer: Some(hearer), ..Prepared::untouched(body) },
            _ => {
                let more = [&body[..], b" and more"].concat();
                Prepared { hearer: Some(hearer), note, ..Prepared::untouched(more.into()) }
            }
        }
    }
}

#[derive(Debug)]
struct Ear {
    heard: Sender<(Vec<u8>, End)>,
    pieces: Vec<u8>,
    breaks: bool,
}

impl Hearer for Ear {
    fn piece(&mut self, bytes: &[u8]) {
        assert!(!self.breaks, "a fault of the hearer");
        self.pieces.extend_from_slice(bytes);
    }

    fn end(self: Box<Self>, end: End) -> Option<Usage> {
        self.heard.send((self.pieces, end)).unwrap();
        Some(Usage { input: 100, cached: 80, output: 3 })
    }
}

/// A gateway before an upstream that answers every request in the same way.
struct World {
    address: SocketAddr,
    seen: Receiver<(Head, Bytes)>,
    heard: Receiver<(Vec<u8>, End)>,
    arrived: Receiver<(String, Vec<u8>)>,
}

impl World {
    fn new(answer: &[u8]) -> Self {
        let (upstream, arrived) = upstream(answer.to_vec());
        let ((to_seen, seen), (to_heard, heard)) = (channel(), channel());
        let base = Base::parse(&format!("http://{upstream}"), false).unwrap();
        let config = Config {
            upstreams: vec![Upstream { name: "anthropic".to_owned(), base, private: false, key: None }],
            access: Access { token: Token::new([0; 32]), always: false },
            off: false,
        };
        let memory = Told { seen: Mutex::new(to_seen), heard: Mutex::new(to_heard) };
        let (told, address) = channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                told.send(address).unwrap();
                let gateway = Arc::new(Gateway::new(memory, config, address.port(), 64));
                serve(listener, gateway, Sockets::default(), std::future::pending()).await;
            });
        });
        Self { address: address.recv_timeout(PATIENCE).unwrap(), seen, heard, arrived }
    }

    /// Posts a body and returns the whole answer.
    fn post(&self, headers: &str, body: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "POST /v1/messages?beta=true&key=sk-query HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nx-api-key: sk-canary\r\n\
             {headers}Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        // The one line that is of this connection.
        let closing = b"connection: close\r\n";
        if let Some(at) = answer.windows(closing.len()).position(|there| there == closing) {
            answer.drain(at..at + closing.len());
        }
        answer
    }

    fn arrived(&self) -> (String, Vec<u8>) {
        self.arrived.recv_timeout(PATIENCE).unwrap()
    }
}

/// Listens, tells what came, and answers with the same bytes.
fn upstream(answer: Vec<u8>) -> (SocketAddr, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, arrived) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (head, body) = read(&mut stream);
            tell.send((head, body)).unwrap();
            let _ = stream.write_all(&answer);
        }
    });
    (address, arrived)
}

fn read(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap();
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: 1\n\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn memory_changes_a_body_and_hears_the_answer() {
    let world = World::new(ANSWER);
    let answer = world.post("Accept-Encoding: gzip, br, zstd\r\nX-Kept: 1\r\n", b"words");
    assert_eq!(answer, ANSWER);
    let (head, body) = world.arrived();
    assert_eq!(body, b"words and more");
    assert!(head.contains("x-api-key: sk-canary\r\n") && head.contains("X-Kept: 1\r\n"), "{head}");
    assert!(head.contains("Accept-Encoding: gzip\r\n"), "what is heard must be understood: {head}");
    assert_eq!(world.heard.recv_timeout(PATIENCE).unwrap(), (b"data: 1\n\n".to_vec(), End::Whole));
}

/// S19.
#[test]
fn s19_memory_sees_no_key() {
    let world = World::new(ANSWER);
    world.post("Authorization: Bearer sk-canary\r\nsession-id: 7\r\n", b"words");
    let (head, _) = world.seen.recv_timeout(PATIENCE).unwrap();
    assert_eq!((head.path.as_str(), head.query.as_deref()), ("/v1/messages", Some("beta=true")));
    assert_eq!(head.headers["session-id"], "7");
    assert!(!format!("{head:?}").contains("sk-"), "{head:?}");
}

#[test]
fn a_packed_body_is_read_plain_and_sent_as_it_came_unless_it_changes() {
    let world = World::new(ANSWER);
    let packed = gzip(b"untouched");
    world.post("Content-Encoding: gzip\r\n", &packed);
    assert_eq!(world.seen.recv_timeout(PATIENCE).unwrap().1, "untouched");
    let (head, body) = world.arrived();
    assert_eq!(body, packed);
    assert!(head.contains("Content-Encoding: gzip\r\n"));
    world.post("Content-Encoding: gzip\r\n", &gzip(b"words"));
    let (head, body) = world.arrived();
    assert_eq!(body, b"words and more");
    assert!(!head.contains("gzip"), "{head}");
    // In a way that nobody knows here: as it came, unseen.
    world.seen.try_iter().count();
    world.post("Content-Encoding: br\r\n", b"\x1b\x02");
    assert_eq!(world.arrived().1, b"\x1b\x02");
    assert_eq!(world.seen.try_iter().count(), 0);
}

#[test]
fn a_packed_answer_is_heard_plain_and_passes_as_it_came() {
    let packed = gzip(b"data: packed\n\n");
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.len());
    let answer = [head.as_bytes(), &packed].concat();
    let world = World::new(&answer);
    assert_eq!(world.post("Accept-Encoding: gzip\r\n", b"words"), answer);
    assert_eq!(world.heard.recv_timeout(PATIENCE).unwrap(), (b"data: packed\n\n".to_vec(), End::Whole));
}

/// R2-02: a fault of memory is not a fault of the request.
#[test]
fn r2_02_memory_that_panics_or_is_late_leaves_the_request_as_it_came() {
    let world = World::new(ANSWER);
    for body in [&b"panic"[..], b"late", b"untouched", b"deaf"] {
        assert_eq!(world.post("", body), ANSWER, "{}", String::from_utf8_lossy(body));
        assert_eq!(world.arrived().1, body);
    }
    world.seen.try_iter().count();
    assert_eq!(world.post("X-Unread: 1\r\n", b"words"), ANSWER);
    assert_eq!(world.arrived().1, b"words");
    assert_eq!(world.seen.try_iter().count(), 0);
}

#[test]
fn a_body_too_large_to_be_read_passes_whole() {
    let world = World::new(ANSWER);
    let body: Vec<u8> = (0..33 << 20).map(|n: u32| n.to_le_bytes()[1]).collect();
    assert_eq!(world.post("", &body), ANSWER);
    assert!(world.arrived().1 == body);
    assert_eq!(world.seen.try_iter().count(), 0);
}

#[test]
fn refusals_and_cuts_are_heard_as_such() {
    let refused = b"HTTP/1.1 529 Overloaded\r\nContent-Length: 2\r\n\r\n{}";
    let world = World::new(refused);
    assert_eq!(world.post("", b"words"), refused);
    assert_eq!(world.heard.recv_timeout(PATIENCE).unwrap(), (b"{}".to_vec(), End::Status(529)));
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf";
    let world = World::new(cut);
    assert_eq!(world.post("", b"words"), cut);
    assert_eq!(world.heard.recv_timeout(PATIENCE).unwrap(), (b"half".to_vec(), End::Cut));
}
