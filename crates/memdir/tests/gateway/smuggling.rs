//! S18: requests that two readers could read in two ways, as files of raw bytes.
//!
//! The number before the last dot of a file's name is how many requests an upstream is to count. `{host}` in a file stands for the
//! address of the gateway.

use std::fs;
use std::path::Path;

use crate::house::House;
use crate::wire::{Upstream, plain, until};

/// S18.
#[test]
fn s18_an_upstream_counts_exactly_the_requests_that_everybody_would() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gateway/raw");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 30);
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let house = House::before(&upstream);
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let wanted: usize = name.rsplit_once('.').unwrap().1.parse().unwrap();
        let before = upstream.seen().len();
        let mut client = house.client();
        client.send(replace(&fs::read(&file).unwrap(), house.address.to_string().as_bytes()));
        let answered = String::from_utf8_lossy(&client.all()).into_owned();
        let seen = upstream.seen().split_off(before);
        assert_eq!(seen.len(), wanted, "{name}: {seen:?}");
        assert_eq!(answered.matches("HTTP/1.1 200 ").count(), wanted, "{name}: {answered}");
        if wanted == 0 {
            assert!(answered.is_empty() || answered.starts_with("HTTP/1.1 400 "), "{name}: {answered}");
        }
        for seen in seen {
            assert!(
                !seen.line().contains("smuggled") && !seen.head.contains("evil"),
                "{name}: {}",
                seen.head
            );
        }
    }
    // Nobody's connection was left in a state that the next one suffers from.
    assert_eq!(house.post("{}").status, 200);
}

fn replace(bytes: &[u8], host: &[u8]) -> Vec<u8> {
    const MARK: &[u8] = b"{host}";
    let mut replaced = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(MARK.len()).position(|six| six == MARK) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(host);
        rest = &rest[at + MARK.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}

/// S18: what comes after a request waits its turn, and is a request of its own.
#[test]
fn s18_requests_in_a_row_are_answered_in_their_order() {
    let upstream = Upstream::start(|seen, stream| {
        let line = seen.line().to_owned();
        std::io::Write::write_all(stream, plain("200 OK", &line).as_bytes())
    });
    let house = House::before(&upstream);
    let mut client = house.client();
    let all: Vec<u8> =
        (0..20).flat_map(|n| house.request("POST", &format!("/v1/messages?n={n}"), &[], b"{}")).collect();
    // However the bytes are cut.
    for piece in all.chunks(7) {
        client.send(piece);
    }
    for n in 0..20 {
        assert_eq!(client.answer().unwrap().text(), format!("POST /v1/messages?n={n} HTTP/1.1"));
    }
    until("all came", || upstream.seen().len() == 20);
}
