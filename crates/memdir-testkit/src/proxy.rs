//! A network between a client and a server that does what networks do: cuts, stalls, loses, waits. It records everything.
//!
//! A [`Proxy`] listens on loopback and hands bytes on to whoever [`Proxy::forward_to`] names, one thread a direction. A
//! [`Trouble`] says what goes wrong, where in the stream it begins, and on how many connections.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What goes wrong with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It breaks after this many bytes from the client.
    CutUp(usize),
    /// It breaks after this many bytes from the server; 0 loses a reply whole.
    CutDown(usize),
    /// Nothing from the client arrives any more after this many bytes, and nobody is told.
    StallUp(usize),
    /// Nothing from the server arrives any more after this many bytes, and nobody is told.
    StallDown(usize),
    /// Every piece from the server takes this long.
    Delay(Duration),
    /// What the server says arrives a byte at a time, this long after each other.
    DripDown(Duration),
}

/// A mishap, and when it happens.
#[derive(Clone, Debug)]
pub struct Trouble {
    mishap: Mishap,
    after: Option<&'static str>,
    times: usize,
}

impl Trouble {
    /// Happens to every connection from its first byte on.
    pub fn always(mishap: Mishap) -> Self {
        Self { mishap, after: None, times: usize::MAX }
    }

    /// Happens to so many connections only.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// Counts bytes only from where the client has sent these words, such as `POST `.
    #[must_use]
    pub fn after(self, words: &'static str) -> Self {
        Self { after: Some(words), ..self }
    }
}

#[derive(Debug, Default)]
struct State {
    target: Option<SocketAddr>,
    trouble: Option<Trouble>,
    up: Vec<u8>,
    down: Vec<u8>,
    n_connections: usize,
}

/// A network between a client and a server.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Proxy {
    /// Begins to listen at a free port.
    pub fn listen() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || connect(client, &state));
            }
        });
        Self { address, state }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Says whom it hands bytes on to.
    pub fn forward_to(&self, target: SocketAddr) {
        lock(&self.state).target = Some(target);
    }

    /// Has something go wrong from the next connection on, or nothing.
    pub fn suffer(&self, trouble: Option<Trouble>) {
        lock(&self.state).trouble = trouble;
    }

    /// Everything that clients sent.
    pub fn up(&self) -> Vec<u8> {
        lock(&self.state).up.clone()
    }

    /// Everything that the server sent.
    pub fn down(&self) -> Vec<u8> {
        lock(&self.state).down.clone()
    }

    /// How many connections there were.
    pub fn n_connections(&self) -> usize {
        lock(&self.state).n_connections
    }

    /// Forgets what was recorded.
    pub fn forget(&self) {
        let mut state = lock(&self.state);
        (state.up, state.down, state.n_connections) = (Vec::new(), Vec::new(), 0);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect(client: TcpStream, state: &Arc<Mutex<State>>) {
    let (target, trouble) = {
        let mut state = lock(state);
        state.n_connections += 1;
        (state.target, state.trouble.clone().filter(|trouble| trouble.times > 0))
    };
    // Nobody is behind it: the client sees a connection that closes.
    let Some(server) = target.and_then(|target| TcpStream::connect(target).ok()) else { return };
    let marker = Arc::new(Mutex::new(Marker {
        seen: trouble.as_ref().is_none_or(|t| t.after.is_none()),
        tail: Vec::new(),
    }));
    let pipe = |from: &TcpStream, to: &TcpStream, is_up: bool| Pipe {
        from: from.try_clone().unwrap(),
        to: to.try_clone().unwrap(),
        is_up,
        trouble: trouble.clone(),
        state: Arc::clone(state),
        marker: Arc::clone(&marker),
    };
    let up = pipe(&client, &server, true);
    let down = pipe(&server, &client, false);
    let other = thread::spawn(move || up.run());
    down.run();
    let _ = other.join();
}

/// Whether the words were sent that a mishap waits for.
struct Marker {
    seen: bool,
    tail: Vec<u8>,
}

struct Pipe {
    from: TcpStream,
    to: TcpStream,
    is_up: bool,
    trouble: Option<Trouble>,
    state: Arc<Mutex<State>>,
    marker: Arc<Mutex<Marker>>,
}

enum Fate {
    Pass(usize),
    Cut(usize),
    Stall(usize),
    Drip(usize, Duration),
}

impl Pipe {
    fn run(mut self) {
        let (mut buffer, mut counted) = ([0; 4096], 0);
        while let Ok(n) = self.from.read(&mut buffer) {
            if n == 0 {
                break;
            }
            let fate = self.fate(&buffer[..n], &mut counted);
            let (Fate::Pass(n) | Fate::Cut(n) | Fate::Stall(n) | Fate::Drip(n, _)) = fate;
            self.record(&buffer[..n]);
            let is_sent = match fate {
                Fate::Drip(_, pause) => self.drip(&buffer[..n], pause),
                _ => self.to.write_all(&buffer[..n]).is_ok(),
            };
            match fate {
                Fate::Pass(_) | Fate::Drip(..) if is_sent => {}
                Fate::Stall(_) => return self.stall(),
                Fate::Pass(_) | Fate::Drip(..) | Fate::Cut(_) => {
                    self.used();
                    let _ = (self.from.shutdown(Shutdown::Both), self.to.shutdown(Shutdown::Both));
                    return;
                }
            }
        }
        let _ = self.to.shutdown(Shutdown::Write);
    }

    /// Hands a piece on byte by byte; says whether somebody still listens.
    fn drip(&mut self, piece: &[u8], pause: Duration) -> bool {
        piece.iter().all(|byte| {
            thread::sleep(pause);
            self.to.write_all(&[*byte]).is_ok()
        })
    }

    /// Says how much of a piece goes on.
    fn fate(&self, piece: &[u8], counted: &mut usize) -> Fate {
        let Some(trouble) = &self.trouble else { return Fate::Pass(piece.len()) };
        if !self.has_begun(piece, trouble) {
            return Fate::Pass(piece.len());
        }
        let before = *counted;
        *counted += piece.len();
        let left = |limit: usize| (*counted >= limit).then(|| limit.saturating_sub(before).min(piece.len()));
        match (trouble.mishap, self.is_up) {
            (Mishap::CutUp(limit), true) | (Mishap::CutDown(limit), false) => {
                left(limit).map_or(Fate::Pass(piece.len()), Fate::Cut)
            }
            (Mishap::StallUp(limit), true) | (Mishap::StallDown(limit), false) => {
                left(limit).map_or(Fate::Pass(piece.len()), Fate::Stall)
            }
            (Mishap::Delay(pause), false) => {
                thread::sleep(pause);
                Fate::Pass(piece.len())
            }
            (Mishap::DripDown(pause), false) => Fate::Drip(piece.len(), pause),
            _ => Fate::Pass(piece.len()),
        }
    }

    fn has_begun(&self, piece: &[u8], trouble: &Trouble) -> bool {
        let mut marker = self.marker.lock().unwrap_or_else(PoisonError::into_inner);
        let words = trouble.after.unwrap_or_default().as_bytes();
        if marker.seen || !self.is_up {
            return marker.seen;
        }
        marker.tail.extend_from_slice(piece);
        marker.seen = marker.tail.windows(words.len()).any(|window| window == words);
        let keep = marker.tail.len().saturating_sub(words.len());
        marker.tail.drain(..keep);
        marker.seen
    }

    fn record(&self, piece: &[u8]) {
        let mut state = lock(&self.state);
        if self.is_up { state.up.extend_from_slice(piece) } else { state.down.extend_from_slice(piece) }
    }

    /// Holds the connection until the other side has had enough.
    fn stall(mut self) {
        self.used();
        let mut buffer = [0; 4096];
        while self.from.read(&mut buffer).is_ok_and(|n| n > 0) {}
        let _ = self.to.shutdown(Shutdown::Both);
    }

    fn used(&self) {
        if let Some(trouble) = &mut lock(&self.state).trouble {
            trouble.times = trouble.times.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that says back what it hears, and a way to it.
    fn echo() -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let proxy = Proxy::listen();
        proxy.forward_to(listener.local_addr().unwrap());
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    let mut reader = stream.try_clone().unwrap();
                    let _ = std::io::copy(&mut reader, &mut stream);
                    let _ = stream.shutdown(Shutdown::Write);
                });
            }
        });
        proxy
    }

    fn say(proxy: &Proxy, text: &str) -> String {
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let _ = stream.write_all(text.as_bytes());
        let _ = stream.shutdown(Shutdown::Write);
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard);
        String::from_utf8(heard).unwrap()
    }

    #[test]
    fn bytes_go_through_and_are_recorded() {
        let proxy = echo();
        assert_eq!(say(&proxy, "hello"), "hello");
        assert_eq!(
            (proxy.up(), proxy.down(), proxy.n_connections()),
            (b"hello".to_vec(), b"hello".to_vec(), 1)
        );
        proxy.forget();
        assert!(proxy.up().is_empty());
    }

    #[test]
    fn a_mishap_happens_where_and_as_often_as_it_was_said() {
        let proxy = echo();
        for (mishap, heard) in [
            (Mishap::CutUp(2), "he"),
            (Mishap::CutDown(3), "hel"),
            (Mishap::CutDown(0), ""),
            (Mishap::StallUp(1), "h"),
            (Mishap::StallDown(4), "hell"),
        ] {
            proxy.suffer(Some(Trouble::always(mishap).times(1)));
            let first = say(&proxy, "hello");
            // What breaks on its way up may break before the answer to it is down.
            let is_up = matches!(mishap, Mishap::CutUp(_) | Mishap::StallUp(_));
            assert!(first == heard || (is_up && heard.starts_with(&first)), "{mishap:?}: {first}");
            assert_eq!(say(&proxy, "hello"), "hello", "{mishap:?} is over");
        }
        proxy.suffer(Some(Trouble::always(Mishap::CutDown(0)).after("POST ")));
        assert_eq!(say(&proxy, "GET /"), "GET /");
        assert_eq!(say(&proxy, "POST /"), "");
    }
}
