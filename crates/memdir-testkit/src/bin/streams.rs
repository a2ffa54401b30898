//! Streams of events through a proxy, and what it adds to them: a service that stamps each event with the time, and clients that
//! read the stamps.
//!
//! ```text
//! streams serve 127.0.0.1:PORT
//! streams drive STREAMS EVENTS MILLISECONDS SPREAD ROUNDS NAME=ADDRESS/PATH[=PID]…
//!                                     events each, so far apart; all begin within SPREAD milliseconds; targets by turns
//! streams rush SECONDS CONNECTIONS NAME=ADDRESS/PATH[=PID]…                    short requests, one after the other
//! ```
//!
//! Both sides run on one machine and by one clock. `tests/gateway/latency` calls it.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, fs, io};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout};

/// What a first request of Claude Code weighs.
const BODY: usize = 47 << 10;
/// A stream that takes so much longer than it should is lost.
const PATIENCE: Duration = Duration::from_secs(60);

type Failed = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let args: Vec<String> = env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match &words[..] {
        ["serve", address] => runtime.block_on(serve(address)),
        ["drive", streams, events, millis, spread, rounds, targets @ ..] => {
            let [every, spread] = [millis.parse()?, spread.parse()?].map(Duration::from_millis);
            let shape = Shape { streams: streams.parse()?, events: events.parse()?, every, spread };
            runtime.block_on(drive(shape, rounds.parse()?, &read_targets(targets)?))
        }
        ["rush", seconds, connections, targets @ ..] => {
            runtime.block_on(rush(Duration::from_secs(seconds.parse()?), connections.parse()?, &read_targets(targets)?))
        }
        _ => Err("usage: streams serve ADDRESS | drive STREAMS EVENTS MILLISECONDS SPREAD ROUNDS TARGET… | rush SECONDS CONNECTIONS TARGET…".into()),
    }
}

/// Somebody to be asked: directly, or through a proxy.
#[derive(Clone)]
struct Target {
    name: String,
    address: String,
    path: String,
    process: Option<u32>,
}

fn read_targets(words: &[&str]) -> Result<Vec<Target>, Failed> {
    words.iter().map(|word| read_target(word)).collect()
}

fn read_target(word: &str) -> Result<Target, Failed> {
    let mut parts = word.split('=');
    let (Some(name), Some(place)) = (parts.next(), parts.next()) else {
        return Err(format!("{word} is no target").into());
    };
    let (address, path) = place.split_once('/').ok_or("a target has a path")?;
    let process = parts.next().map(str::parse).transpose()?;
    Ok(Target { name: name.to_owned(), address: address.to_owned(), path: format!("/{path}"), process })
}

#[derive(Clone, Copy)]
struct Shape {
    streams: usize,
    events: usize,
    every: Duration,
    /// They begin one after the other within this time.
    spread: Duration,
}

// The service.

async fn serve(address: &str) -> Result<(), Failed> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        // Who leaves in the middle is no affair of ours.
        tokio::spawn(async move { answer_all(stream).await.map_or_else(drop, drop) });
    }
}

async fn answer_all(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut read = Vec::new();
    while let Some(request) = next_request(&mut stream, &mut read).await? {
        answer(&mut stream, &request).await?;
    }
    Ok(())
}

/// Reads the next request, and returns its body.
async fn next_request(stream: &mut TcpStream, read: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(end) = find(read, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&read[..end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
                .unwrap_or(0);
            if read.len() >= end + 4 + length {
                let body = read[end + 4..end + 4 + length].to_vec();
                read.drain(..end + 4 + length);
                return Ok(Some(body));
            }
        }
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    }
}

async fn answer(stream: &mut TcpStream, body: &[u8]) -> io::Result<()> {
    let asked = find(body, b"stream of ").map(|at| &body[at + b"stream of ".len()..]);
    let Some((events, millis)) = asked.and_then(|asked| {
        let text = String::from_utf8_lossy(&asked[..asked.len().min(24)]).into_owned();
        let mut words = text.split(' ');
        Some((words.next()?.parse::<usize>().ok()?, words.next()?.parse::<u64>().ok()?))
    }) else {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"ok\":true}";
        return stream.write_all(head.as_bytes()).await;
    };
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await?;
    let begin = tokio::time::Instant::now();
    for n in 0..events {
        sleep_until(begin + Duration::from_millis(millis * n as u64)).await;
        let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": format!("{n} {}", now())}});
        let event = format!("event: content_block_delta\ndata: {delta}\n\n");
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await?;
    }
    stream.write_all(b"0\r\n\r\n").await
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|there| there == what)
}

// The clients.

/// What was seen of the streams of one target.
#[derive(Default)]
struct Measured {
    /// From the request to its first event, in milliseconds.
    first: Vec<f64>,
    /// From where an event was sent to where it was read.
    each: Vec<f64>,
    /// The same of the last event of a stream.
    last: Vec<f64>,
    lost: usize,
    most_resident: u64,
}

async fn drive(shape: Shape, rounds: usize, targets: &[Target]) -> Result<(), Failed> {
    let mut measured: BTreeMap<String, Measured> = BTreeMap::new();
    for _ in 0..rounds {
        for target in targets {
            let of = measured.entry(target.name.clone()).or_default();
            round(shape, target, of).await;
        }
    }
    for target in targets {
        if let Some(of) = measured.get_mut(&target.name) {
            print(shape, &target.name, of);
        }
    }
    Ok(())
}

async fn round(shape: Shape, target: &Target, of: &mut Measured) {
    let mut streams = JoinSet::new();
    for n in 0..shape.streams {
        let target = target.clone();
        let wait = shape.spread.mul_f64(n as f64 / shape.streams as f64);
        streams.spawn(async move {
            sleep(wait).await;
            let whole = shape.every * shape.events as u32 + PATIENCE;
            timeout(whole, stream(shape, &target)).await
        });
    }
    let watched = async {
        loop {
            of.most_resident = of.most_resident.max(target.process.map_or(0, resident));
            sleep(Duration::from_millis(100)).await;
        }
    };
    let mut seen = Vec::new();
    tokio::select! {
        () = watched => {}
        () = async { while let Some(one) = streams.join_next().await { seen.push(one); } } => {}
    }
    for one in seen {
        match one {
            Ok(Ok(Ok((first, each)))) => {
                of.first.push(first);
                of.last.extend(each.last());
                of.each.extend(each);
            }
            _ => of.lost += 1,
        }
    }
}

/// Reads one stream: when its first event came, and how long each took. Events that are missing or out of order are an error.
async fn stream(shape: Shape, target: &Target) -> Result<(f64, Vec<f64>), Failed> {
    let mut connection = TcpStream::connect(&target.address).await?;
    connection.set_nodelay(true)?;
    let said = format!("stream of {} {} ", shape.events, shape.every.as_millis());
    let begin = Instant::now();
    connection.write_all(&request(target, &said, BODY)).await?;
    let (mut first, mut each, mut read) = (None, Vec::with_capacity(shape.events), Vec::new());
    while each.len() < shape.events {
        if connection.read_buf(&mut read).await? == 0 {
            return Err("it broke off".into());
        }
        let arrived = now();
        while let Some((n, stamp, end)) = next_event(&read) {
            if n != each.len() {
                return Err(format!("event {n} in place of {}", each.len()).into());
            }
            first.get_or_insert_with(|| begin.elapsed().as_secs_f64() * 1e3);
            each.push((arrived - stamp) as f64 / 1e6);
            read.drain(..end);
        }
    }
    Ok((first.unwrap_or_default(), each))
}

/// Finds the next stamp, and where it ends.
fn next_event(read: &[u8]) -> Option<(usize, u128, usize)> {
    const MARK: &[u8] = b"\"text\":\"";
    let at = find(read, MARK)? + MARK.len();
    let end = at + find(&read[at..], b"\"")?;
    let text = std::str::from_utf8(&read[at..end]).ok()?;
    let (n, stamp) = text.split_once(' ')?;
    Some((n.parse().ok()?, stamp.parse().ok()?, end))
}

fn request(target: &Target, said: &str, weight: usize) -> Vec<u8> {
    let text = format!("{said}{}", "x".repeat(weight));
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 16, "stream": !said.is_empty(), "messages": [{"role": "user", "content": text}]}).to_string();
    format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nx-api-key: sk-load\r\nAuthorization: Bearer sk-load\r\n\
         anthropic-version: 2023-06-01\r\nContent-Length: {}\r\n\r\n{body}",
        target.path,
        target.address,
        body.len()
    )
    .into_bytes()
}

fn print(shape: Shape, name: &str, of: &mut Measured) {
    let [first, each, last] = [&mut of.first, &mut of.each, &mut of.last].map(|values| quantiles(values));
    let row = json!({
        "target": name, "streams": shape.streams, "lost": of.lost, "events": of.each.len(),
        "first_ms": first, "event_ms": each, "last_ms": last, "resident_mb": of.most_resident as f64 / 1e6,
    });
    write_line(&row.to_string());
}

fn quantiles(values: &mut [f64]) -> serde_json::Value {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        values.get(((values.len() as f64 - 1.0) * share).round() as usize).map(|ms| (ms * 1e3).round() / 1e3)
    };
    json!({"p50": at(0.5), "p99": at(0.99)})
}

/// Short requests, one after the other on each connection: how many a second, and how much of a processor each takes.
async fn rush(time: Duration, connections: usize, targets: &[Target]) -> Result<(), Failed> {
    for target in targets {
        let before = target.process.map_or(0.0, processor_seconds);
        let begin = Instant::now();
        let mut all = JoinSet::new();
        for _ in 0..connections {
            let target = target.clone();
            all.spawn(async move { ask_until(begin + time, &target).await.unwrap_or(0) });
        }
        let mut answered = 0_usize;
        while let Some(n) = all.join_next().await {
            answered += n.unwrap_or(0);
        }
        let took = begin.elapsed().as_secs_f64();
        let used = target.process.map_or(0.0, processor_seconds) - before;
        let per_core = if used > 0.0 { answered as f64 / used } else { 0.0 };
        let row = json!({"target": target.name, "requests": answered, "per_second": (answered as f64 / took).round(), "per_core_second": per_core.round()});
        write_line(&row.to_string());
    }
    Ok(())
}

async fn ask_until(end: Instant, target: &Target) -> Result<usize, Failed> {
    let request = request(target, "", 1 << 10);
    let mut connection = TcpStream::connect(&target.address).await?;
    connection.set_nodelay(true)?;
    let (mut answered, mut read) = (0, Vec::new());
    while Instant::now() < end {
        connection.write_all(&request).await?;
        read.clear();
        while find(&read, b"{\"ok\":true}").is_none() {
            if connection.read_buf(&mut read).await? == 0 {
                return Ok(answered);
            }
        }
        answered += 1;
    }
    Ok(answered)
}

/// Bytes that a process and its children hold in memory.
fn resident(process: u32) -> u64 {
    family(process).iter().map(|id| field(*id, "statm", 1) * 4_096).sum()
}

/// Seconds that a process and its children have had of a processor.
fn processor_seconds(process: u32) -> f64 {
    // Ticks are hundredths of a second everywhere that matters.
    family(process).iter().map(|id| (field(*id, "stat", 13) + field(*id, "stat", 14)) as f64 / 100.0).sum()
}

fn family(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    let listed = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    all.extend(listed.split_whitespace().filter_map(|id| id.parse::<u32>().ok()).flat_map(family));
    all
}

fn field(process: u32, file: &str, n: usize) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
    // The name of a process may have blanks in it, and stands in brackets.
    let text = text.rsplit_once(") ").map_or(text.clone(), |(_, rest)| format!("0 0 {rest}"));
    text.split_whitespace().nth(n).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[expect(clippy::print_stdout, reason = "a program that only prints")]
fn write_line(line: &str) {
    println!("{line}");
}
