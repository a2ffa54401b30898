//! Streams: byte for byte, at once, whatever their pieces are, and ended as they end.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use memdir_testkit::Random;

use crate::house::House;
use crate::wire::{EVENTS, Upstream, chunk, until};

/// An upstream that sends each piece when it is told to; when it is told nothing more, it breaks off.
fn stepwise(pieces: Vec<Vec<u8>>, go: Receiver<()>) -> Upstream {
    let go = Mutex::new(go);
    Upstream::start(move |_, stream| {
        stream.write_all(EVENTS.as_bytes())?;
        for piece in &pieces {
            if go.lock().unwrap().recv().is_err() {
                return Err(std::io::Error::other("broken off"));
            }
            stream.write_all(&chunk(piece))?;
        }
        stream.write_all(b"0\r\n\r\n")
    })
}

/// No piece waits for the next: the upstream sends it only when the one before was read.
#[test]
fn each_piece_arrives_before_the_next_is_sent() {
    let text = "event: content_block_delta\ndata: {\"text\":\"grüße 🌍\"}\n\n: ping\r\n\r\ndata: [DONE]";
    // Split within a character, within an event, between CR and LF.
    let pieces: Vec<Vec<u8>> = text.as_bytes().chunks(3).map(<[u8]>::to_vec).collect();
    let (go, gone) = channel();
    let upstream = stepwise(pieces.clone(), gone);
    let house = House::before(&upstream);
    let mut client = house.client();
    client.send(house.request("POST", "/v1/messages", &[], b"{}"));
    let head = String::from_utf8(client.some()).unwrap();
    assert!(head.to_lowercase().contains("transfer-encoding: chunked"), "{head}");
    let (last, before) = pieces.split_last().unwrap();
    for piece in before {
        go.send(()).unwrap();
        assert_eq!(client.some(), chunk(piece));
    }
    // Nothing is waited for between the last piece and the end: they may arrive together.
    go.send(()).unwrap();
    let end = [chunk(last), b"0\r\n\r\n".to_vec()].concat();
    let mut arrived = client.some();
    if arrived.len() < end.len() {
        assert_eq!(arrived, chunk(last));
        arrived.extend(client.some());
    }
    assert_eq!(arrived, end);
}

#[test]
fn streams_of_all_shapes_come_out_as_they_went_in() {
    let mut random = Random::new(7);
    for round in 0..40 {
        let mut body = Vec::new();
        let mut pieces = Vec::new();
        for _ in 0..random.below(40) {
            let size = [1, 2, 17, 800, 9_000, 70_000][random.below(6)];
            let piece: Vec<u8> = (0..1 + random.below(size)).map(|_| random.below(256) as u8).collect();
            body.extend_from_slice(&piece);
            pieces.push(piece);
        }
        let by_length = round % 3 == 0;
        let sent = if by_length {
            [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat()
        } else {
            let chunks = pieces.iter().flat_map(|piece| chunk(piece));
            EVENTS.bytes().chain(chunks).chain(*b"0\r\n\r\n").collect()
        };
        // Cut anywhere, whatever the marks of chunks are.
        let cut = 1 + random.below(5_000);
        let upstream =
            Upstream::start(move |_, stream| sent.chunks(cut).try_for_each(|piece| stream.write_all(piece)));
        let answer = House::before(&upstream).post("{}");
        assert!(answer.is_whole, "round {round}");
        assert!(answer.body == body, "round {round}");
    }
}

#[test]
fn one_huge_event_passes() {
    let event: Vec<u8> =
        b"data: ".iter().copied().chain((0..8 << 20).map(|n| b'a' + (n % 26) as u8)).collect();
    let sent = [EVENTS.as_bytes(), &chunk(&event), b"0\r\n\r\n"].concat();
    let answer = House::before(&Upstream::saying(sent)).post("{}");
    assert!(answer.is_whole && answer.body == event);
}

/// A client must see that there is more that did not come.
#[test]
fn a_stream_that_breaks_off_breaks_off_for_the_client() {
    for sent in [
        [EVENTS.as_bytes(), &chunk(b"data: 1\n\n")].concat(),
        [EVENTS.as_bytes(), b"40\r\ndata: ha"].concat(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".to_vec(),
    ] {
        let upstream = Upstream::start(move |_, stream| {
            stream.write_all(&sent)?;
            Err(std::io::Error::other("gone"))
        });
        let house = House::before(&upstream);
        let answer = house.post("{}");
        assert_eq!(answer.status, 200);
        assert!(!answer.is_whole);
        until("it is counted", || house.status()["routes"]["anthropic POST /v1/messages"]["cut"] == 1);
    }
}

#[test]
fn an_upstream_that_says_nothing_sensible_is_a_bad_gateway() {
    for sent in
        ["", "SSH-2.0-OpenSSH_9\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"]
    {
        let upstream = Upstream::start(move |_, stream| {
            stream.write_all(sent.as_bytes())?;
            Err(std::io::Error::other("gone"))
        });
        assert_eq!(House::before(&upstream).post("{}").status, 502, "{sent:?}");
    }
}

/// L3: a client that leaves ends its call upstream at once.
#[test]
fn l3_a_client_that_leaves_ends_its_upstream_call() {
    let ended = Arc::new(AtomicUsize::new(0));
    let count = ended.clone();
    let upstream = Upstream::start(move |seen, stream| {
        if seen.body != b"before the head" {
            stream.write_all(EVENTS.as_bytes())?;
            stream.write_all(&chunk(b"data: 1\n\n"))?;
        }
        // Silence, as of a model that thinks; only the end of the connection ends it.
        let mut end = [0];
        let n = stream.read(&mut end).unwrap_or(0);
        count.fetch_add(usize::from(n == 0), Ordering::SeqCst);
        Err(std::io::Error::other("over"))
    });
    let house = House::before(&upstream);
    for (n, body) in [&b"before the head"[..], b"in the stream"].into_iter().enumerate() {
        let mut client = house.client();
        client.send(house.request("POST", "/v1/messages", &[], body));
        until("the request is there", || upstream.seen().len() == n + 1);
        if body == b"in the stream" {
            assert!(client.some().starts_with(b"HTTP/1.1 200"));
        }
        assert_eq!(ended.load(Ordering::SeqCst), n);
        drop(client);
        until("the call has ended", || ended.load(Ordering::SeqCst) == n + 1);
    }
    until("it is counted", || house.status()["open"] == 0);
}

/// An upload that breaks off ends upstream as broken off, not as a shorter request.
#[test]
fn an_upload_that_breaks_off_is_no_request() {
    let upstream = Upstream::saying(crate::wire::plain("200 OK", "{}"));
    let house = House::before(&upstream);
    for head in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
        let mut client = house.client();
        client.send(format!("POST /v1/messages HTTP/1.1\r\nHost: {}\r\n{head}\r\n\r\n", house.address));
        client.send(if head.starts_with("Content") { b"half".to_vec() } else { chunk(b"half") });
        until("it is on its way", || house.status()["open"] == 1);
        drop(client);
        until("it is over", || house.status()["open"] == 0);
    }
    assert_eq!(upstream.seen(), []);
    assert_eq!(house.post("{}").status, 200);
}

/// L3: who reads slowly slows nobody else, and holds no more than a buffer of what is sent.
#[test]
fn l3_a_slow_reader_slows_nobody() {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    let upstream = Upstream::start(move |seen, stream| {
        stream.write_all(EVENTS.as_bytes())?;
        if seen.body == b"endless" {
            let piece = chunk(&vec![b'x'; 16 << 10]);
            for _ in 0..2_000 {
                stream.write_all(&piece)?;
                count.fetch_add(piece.len(), Ordering::SeqCst);
            }
        }
        stream.write_all(&chunk(b"data: quick\n\n"))?;
        stream.write_all(b"0\r\n\r\n")
    });
    let house = House::before(&upstream);
    let mut slow = house.client();
    slow.send(house.request("POST", "/v1/messages", &[], b"endless"));
    assert!(!slow.some().is_empty());
    let mut last = 0;
    until("nothing more is taken for it", || {
        thread::sleep(Duration::from_millis(200));
        let now = sent.load(Ordering::SeqCst);
        std::mem::replace(&mut last, now) == now && now > 0
    });
    // Two sockets with the kernel's buffers are between them as well, of several megabytes each.
    assert!(last < 2_000 * (16 << 10), "{last}");
    for _ in 0..50 {
        assert_eq!(house.post("{}").text(), "data: quick\n\n");
    }
    let mut all = Vec::new();
    until("the slow one gets everything", || {
        all.extend(slow.some());
        all.ends_with(b"\r\n0\r\n\r\n")
    });
}

/// L3, scaled: two hundred streams at once, every event of each in its order.
#[test]
fn l3_two_hundred_streams_lose_nothing() {
    const STREAMS: usize = 200;
    const EVENTS_EACH: usize = 30;
    let upstream = Upstream::start(|seen, stream| {
        stream.write_all(EVENTS.as_bytes())?;
        let who = String::from_utf8_lossy(&seen.body).into_owned();
        for n in 0..EVENTS_EACH {
            stream.write_all(&chunk(format!("data: {who} {n}\n\n").as_bytes()))?;
            thread::sleep(Duration::from_millis(20));
        }
        stream.write_all(b"0\r\n\r\n")
    });
    let house = House::before(&upstream);
    let before = house.n_files();
    thread::scope(|scope| {
        for who in 0..STREAMS {
            let house = &house;
            scope.spawn(move || {
                let answer = house.post(&who.to_string());
                let wanted: String = (0..EVENTS_EACH).map(|n| format!("data: {who} {n}\n\n")).collect();
                assert!(answer.is_whole);
                assert_eq!(answer.text(), wanted);
            });
        }
    });
    assert_eq!(house.status()["routes"]["anthropic POST /v1/messages"]["requests"], STREAMS);
    drop(upstream);
    assert!(house.n_files() <= before + STREAMS + 8, "connections to the upstream may wait for more");
}
