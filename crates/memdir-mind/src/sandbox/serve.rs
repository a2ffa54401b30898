//! The side that is walled in: raises the walls, takes a job, runs the sub-agent, hands back what it proposes.
//!
//! Nothing is read before the walls stand. The end of its input is its own end: it never outlives the process that
//! started it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Instant;

use serde::Serialize;

use super::walls::{self, Walls};
use super::wire::{Order, Word};
use crate::agent::{Agent, End, Next};

/// No line that it is handed is longer: the copy of a vault, as JSON, with room to spare.
const MAX_LINE: u64 = 256 << 20;

/// Serves one job over standard input and output, walled in. Returns when the job is done or the other side is gone.
pub fn serve() -> io::Result<()> {
    let (stdin, stdout) = (io::stdin().lock(), io::stdout().lock());
    let walls = walls::raise();
    talk(BufReader::new(stdin), stdout, walls)
}

fn talk(mut input: impl BufRead, mut output: impl Write, walls: Walls) -> io::Result<()> {
    say(&mut output, &Word::Ready(walls))?;
    let Some(Order::Job(job)) = hear(&mut input)? else { return Ok(()) };
    let mut agent = Agent::new(&job);
    let begun = Instant::now();
    let mut parts = Vec::new();
    let end = loop {
        say(&mut output, &Word::Ask(parts))?;
        match hear(&mut input)? {
            Some(Order::Answer(answer)) => match agent.hear(&answer, begun.elapsed()) {
                Next::Ask(more) => parts = more,
                Next::Done(end) => break end,
            },
            Some(Order::Failed(why)) => break End::Failed(why),
            Some(Order::Job(_)) | None => return Ok(()),
        }
    };
    say(&mut output, &Word::Done(Box::new(agent.finish(end))))
}

fn hear(input: &mut impl BufRead) -> io::Result<Option<Order>> {
    let mut line = Vec::new();
    input.take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}

fn say(output: &mut impl Write, word: &Word) -> io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// What was tried from inside of the walls, and whether it was possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// Which walls are said to stand.
    pub walls: Walls,
    /// Each attempt; `true` if it went through.
    pub went_through: Vec<(&'static str, bool)>,
}

/// Raises the walls around this process and runs against each of them. There is no way back.
pub fn probe() -> Probe {
    let walls = walls::raise();
    let went_through = vec![
        ("read a file", File::open("/etc/passwd").is_ok()),
        ("list a directory", std::fs::read_dir("/").is_ok()),
        ("write a file", writes_a_file()),
        ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
        ("connect", TcpStream::connect("127.0.0.1:9").is_ok_or_refused()),
        ("send a datagram", UdpSocket::bind("127.0.0.1:0").is_ok()),
        ("reach a local socket", UnixStream::pair().is_ok()),
        ("start a program", Command::new("/bin/true").spawn().is_ok()),
        ("start a thread", std::thread::Builder::new().spawn(|| {}).is_ok()),
    ];
    Probe { walls, went_through }
}

/// Makes a file where everybody may, and takes it away again. A file of that name that is there already is left alone.
fn writes_a_file() -> bool {
    let path = std::env::temp_dir().join(format!(".memdir-tmp-probe-{}", std::process::id()));
    let is_made = File::create_new(&path).is_ok();
    if is_made {
        let _ = std::fs::remove_file(&path);
    }
    is_made
}

/// A connection that a peer refused did leave this process.
trait OkOrRefused {
    fn is_ok_or_refused(&self) -> bool;
}

impl OkOrRefused for io::Result<TcpStream> {
    fn is_ok_or_refused(&self) -> bool {
        self.as_ref().map_or_else(|err| err.kind() == io::ErrorKind::ConnectionRefused, |_| true)
    }
}
