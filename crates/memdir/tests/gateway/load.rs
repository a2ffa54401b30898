//! Crowds: those who dawdle, those who say nothing, too few descriptors, too many at once.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::house::{House, all_to};
use crate::wire::{Client, EVENTS, Upstream, chunk, plain, until};

/// L4, scaled: honest requests are answered beside hundreds who dawdle, and those are closed.
#[test]
fn l4_those_who_dawdle_are_closed_and_harm_nobody() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let house = House::before(&upstream);
    assert_eq!(house.post("{}").status, 200);
    let before = house.n_files();
    let head = format!("POST /v1/messages HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000\r\n", house.address);
    let mut heads: Vec<Client> = (0..150).map(|_| house.client()).collect();
    let silent: Vec<Client> = (0..100).map(|_| house.client()).collect();
    let mut bodies: Vec<Client> = (0..50).map(|_| house.client()).collect();
    let begin = Instant::now();
    bodies.iter_mut().for_each(|client| client.send(format!("{head}\r\n")));
    // What the first request left open may be gone by now.
    until("they are all in", || house.n_files() >= before + 290);
    for second in 0..12 {
        let byte = &head.as_bytes()[second..=second];
        heads.iter_mut().for_each(|client| client.send(byte));
        assert_eq!(house.post("{}").status, 200);
        thread::sleep(Duration::from_secs(1));
    }
    // Heads are waited for 10 seconds; bodies that stand still are there still.
    for mut client in heads.into_iter().chain(silent) {
        client.all();
    }
    assert_eq!(house.post("{}").status, 200);
    bodies.truncate(20);
    let (still, trickling) = bodies.split_at_mut(10);
    while begin.elapsed() < Duration::from_secs(32) {
        trickling.iter_mut().for_each(|client| client.send("x"));
        thread::sleep(Duration::from_secs(1));
    }
    for client in still.iter_mut().chain(trickling) {
        let answer = client.answer();
        assert!(answer.is_none_or(|answer| answer.status == 408));
    }
    assert!(begin.elapsed() >= Duration::from_secs(30), "bodies were given their time");
    drop(bodies);
    until("the descriptors are back", || house.n_files() <= before + 2);
}

/// L5: with few descriptors those who come later wait, nothing breaks, and it recovers.
#[test]
fn l5_with_few_descriptors_it_serves_few_at_a_time() {
    let upstream = Upstream::start(|_, stream| {
        std::io::Write::write_all(stream, EVENTS.as_bytes())?;
        std::io::Write::write_all(stream, &chunk(b"data: 1\n\n"))?;
        thread::sleep(Duration::from_millis(50));
        std::io::Write::write_all(stream, b"0\r\n\r\n")
    });
    let house = limited(&upstream, &["--nofile=64:64", "--as=2147483648"]);
    thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                let mut client = house.client();
                client.send(house.request("POST", "/v1/messages", &[("Connection", "close")], b"{}"));
                let answer = client.answer().unwrap();
                assert!(matches!(answer.status, 200 | 502 | 503), "{}", answer.head);
                assert!(answer.is_whole);
            });
        }
    });
    assert!(house.n_files() <= 64);
    assert_eq!(house.post("{}").text(), "data: 1\n\n");
}

/// L5: in half a gigabyte of addresses memory may be left out of a request, but every request is answered.
#[test]
fn l5_with_few_addresses_every_request_is_answered() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let mut house = limited(&upstream, &["--as=536870912"]);
    thread::scope(|scope| {
        for n in 0..100 {
            let house = &house;
            scope.spawn(move || {
                let said = format!(r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":"question {n}"}}]}}"#);
                let answer = house.post(&said);
                assert!(matches!(answer.status, 200 | 502 | 503), "{}", answer.head);
            });
        }
    });
    assert_eq!(house.post("{}").status, 200);
    assert!(house.child.try_wait().unwrap().is_none(), "it stands: {}", house.said());
}

/// Opens a gateway within limits of the system.
fn limited(upstream: &Upstream, limits: &[&str]) -> House {
    House::open(&all_to(&upstream.url()), |command| {
        let (program, args) =
            (command.get_program().to_owned(), command.get_args().map(ToOwned::to_owned).collect::<Vec<_>>());
        let mut limited = Command::new("prlimit");
        limited.args(limits).arg(program).args(args).env_clear();
        limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        limited.current_dir(command.get_current_dir().unwrap());
        *command = limited;
        command.process_group(0);
    })
}

/// L3: more than there are places for are told so, and told when to come again.
#[test]
fn l3_too_many_at_once_are_told_to_come_again() {
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let gone = std::sync::Mutex::new(gone);
    let upstream = Upstream::start(move |seen, stream| {
        if seen.body == b"wait" {
            let _ = gone.lock().unwrap().recv();
        }
        std::io::Write::write_all(stream, plain("200 OK", "{}").as_bytes())
    });
    let house = House::with(&format!("[gateway]\nmax_streams = 2\n{}", all_to(&upstream.url())));
    let mut waiting: Vec<Client> = (0..2).map(|_| house.client()).collect();
    waiting.iter_mut().for_each(|client| client.send(house.request("POST", "/v1/messages", &[], b"wait")));
    until("two are being answered", || upstream.seen().len() == 2);
    let answer = house.post("{}");
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    drop(go);
    for client in &mut waiting {
        assert_eq!(client.answer().unwrap().status, 200);
    }
    until("there is a place again", || house.post("{}").status == 200);
}
