//! A gateway that runs for a test, and what it does as a process: settings that change, signals, being off.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use memdir_testkit::Sandbox;
use serde_json::Value;

use crate::wire::{Answered, Client, EVENTS, Upstream, chunk, plain, until};

/// The gateway of a user.
pub(crate) struct House {
    pub(crate) sandbox: Sandbox,
    pub(crate) address: SocketAddr,
    pub(crate) child: Child,
    said: Arc<Mutex<String>>,
}

impl House {
    /// Opens a gateway whose user sent all vendors to one upstream.
    pub(crate) fn before(upstream: &Upstream) -> Self {
        Self::with(&all_to(&upstream.url()))
    }

    /// Opens a gateway with these settings.
    pub(crate) fn with(settings: &str) -> Self {
        Self::open(settings, |_| {})
    }

    /// Opens a gateway that is started in another way.
    pub(crate) fn open(settings: &str, change: impl FnOnce(&mut Command)) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        fs::create_dir_all(sandbox.state()).unwrap();
        fs::write(sandbox.state().join("config.toml"), settings).unwrap();
        Self::open_in(sandbox, change)
    }

    pub(crate) fn open_in(sandbox: Sandbox, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = command(&sandbox);
        change(&mut command);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let said = Arc::new(Mutex::new(String::new()));
        let heard = said.clone();
        thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                heard.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        let find = || {
            let said = said.lock().unwrap();
            let url = said.lines().find_map(|line| line.strip_prefix("memdir gateway at http://"))?;
            url.split(',').next()?.parse().ok()
        };
        until("the gateway listens", || find().is_some() || child.try_wait().unwrap().is_some());
        let address = find().unwrap_or_else(|| panic!("{}", said.lock().unwrap()));
        Self { sandbox, address, child, said }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// Sends bytes as they are and returns the first answer.
    pub(crate) fn raw(&self, bytes: impl AsRef<[u8]>) -> Option<Answered> {
        let mut client = self.client();
        client.send(bytes);
        client.answer()
    }

    /// Sends a request as a proper client does.
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answered {
        let mut client = self.client();
        client.send(self.request(method, target, headers, body));
        client.answer_to(method).unwrap_or_else(|| panic!("no answer to {method} {target}"))
    }

    /// Asks a model, without more headers than it takes.
    pub(crate) fn post(&self, body: &str) -> Answered {
        self.ask("POST", "/v1/messages", &[("x-api-key", "sk-client")], body.as_bytes())
    }

    pub(crate) fn request(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Vec<u8> {
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", self.address);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        [format!("{head}\r\n").as_bytes(), body].concat()
    }

    pub(crate) fn token(&self) -> String {
        fs::read_to_string(self.sandbox.state().join("gateway.token")).unwrap().trim().to_owned()
    }

    /// What it said on standard error up to now.
    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    pub(crate) fn status(&self) -> Value {
        let answer = self.ask("GET", "/__memdir/status.json", &[], b"");
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// Counts the descriptors that it holds.
    pub(crate) fn n_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    fn settle(&self, settings: &str) {
        fs::write(self.sandbox.state().join("config.toml"), settings).unwrap();
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(sandbox: &Sandbox) -> Command {
    let binary =
        std::env::var_os("MEMDIR_TEST_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_memdir").into());
    let mut command = Command::new(binary);
    command.args(["gateway", "--listen", "127.0.0.1:0", "--log"]).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
        .env("HOME", sandbox.home())
        .env("MEMDIR_HOME", sandbox.state())
        .env("MEMDIR_VAULT", sandbox.vault());
    command.current_dir(sandbox.project());
    command
}

/// Settings that send all vendors to one address.
pub(crate) fn all_to(url: &str) -> String {
    ["anthropic", "openai", "gemini"]
        .map(|name| format!("[gateway.upstreams.{name}]\nurl = \"{url}\"\n"))
        .concat()
}

#[test]
fn new_settings_count_without_a_restart() {
    let (first, second) =
        (Upstream::saying(plain("200 OK", "first")), Upstream::saying(plain("200 OK", "second")));
    let house = House::before(&first);
    assert_eq!(house.post("{}").text(), "first");
    house.settle(&all_to(&second.url()));
    until("the new settings count", || house.post("{}").text() == "second");
    // At once where somebody says so.
    house.settle(&all_to(&first.url()));
    house.signal("HUP");
    until("the settings count again", || house.post("{}").text() == "first");
    // What cannot be read goes nowhere: not to where it went before, and not to the vendor.
    house.settle("[gateway.upstreams.anthropic]\nurl = \"http://example.com\"\n");
    house.signal("HUP");
    until("the upstream is gone", || house.post("{}").status == 404);
    until("it says so", || house.said().contains("no requests go to the upstream `anthropic`"));
}

#[test]
fn asked_to_stop_it_lets_a_stream_end() {
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let gone = Mutex::new(gone);
    let upstream = Upstream::start(move |_, stream| {
        stream.write_all(EVENTS.as_bytes())?;
        stream.write_all(&chunk(b"data: 1\n\n"))?;
        gone.lock().unwrap().recv().unwrap();
        stream.write_all(&chunk(b"data: 2\n\n"))?;
        stream.write_all(b"0\r\n\r\n")
    });
    let mut house = House::before(&upstream);
    let mut client = house.client();
    client.send(house.request("POST", "/v1/messages", &[], b"{}"));
    until("the request is there", || !upstream.seen().is_empty());
    house.signal("TERM");
    until("nobody more is let in", || std::net::TcpStream::connect(house.address).is_err());
    go.send(()).unwrap();
    let answer = client.answer().unwrap();
    assert!(answer.is_whole);
    assert_eq!(answer.text(), "data: 1\n\ndata: 2\n\n");
    until("it is gone", || house.child.try_wait().unwrap().is_some());
    assert!(house.child.wait().unwrap().success());
    assert!(!house.sandbox.state().join("gateway/running.json").exists());
}

/// Killed in the middle, it loses the streams it had and nothing else.
#[test]
fn a_killed_gateway_is_replaced_by_the_next() {
    let upstream = Upstream::start(|seen, stream| {
        if seen.body == b"slow" {
            stream.write_all(EVENTS.as_bytes())?;
            stream.write_all(&chunk(b"data: 1\n\n"))?;
            let mut end = [0];
            let _ = stream.read(&mut end);
            return Ok(());
        }
        stream.write_all(plain("200 OK", "quick").as_bytes())
    });
    let mut house = House::before(&upstream);
    let mut client = house.client();
    client.send(house.request("POST", "/v1/messages", &[], b"slow"));
    until("the request is there", || !upstream.seen().is_empty());
    house.child.kill().unwrap();
    house.child.wait().unwrap();
    let cut = client.answer();
    assert!(cut.is_none_or(|answer| !answer.is_whole));
    let settings = fs::read_to_string(house.sandbox.state().join("config.toml")).unwrap();
    let next = House::with(&settings);
    assert_eq!(next.post("{}").text(), "quick");
}

#[test]
fn status_tells_what_was_done_and_by_exit_code_whether_it_runs() {
    let upstream = Upstream::start(|seen, stream| match seen.line() {
        line if line.contains("count_tokens") => {
            stream.write_all(plain("429 Too Many Requests", "{}").as_bytes())
        }
        _ => stream.write_all(plain("200 OK", "{}").as_bytes()),
    });
    let mut house = House::before(&upstream);
    house.post("{}");
    house.post("{}");
    house.ask("POST", "/v1/messages/count_tokens", &[], b"{}");
    house.ask("GET", "/v1/models/gpt-secret-0123", &[], b"");
    let told = house.sandbox.memdir(&["gateway", "status"]).json();
    assert_eq!(told["running"], true);
    assert_eq!(told["routes"]["anthropic POST /v1/messages"]["requests"], 2);
    assert_eq!(told["routes"]["anthropic POST /v1/messages/count_tokens"]["refused"], 1);
    assert_eq!(told["routes"]["openai GET /v1/models/…"]["requests"], 1);
    let shown = house.sandbox.memdir(&["gateway", "status"]).ok();
    assert!(shown.stdout.contains("anthropic POST /v1/messages"), "{shown}");
    let page = house.ask("GET", "/__memdir/status", &[("Sec-Fetch-Site", "none")], b"");
    assert!(page.text().contains("anthropic POST /v1/messages") && !page.text().contains("<script"));
    until("the log is written", || {
        let log = fs::read_to_string(house.sandbox.state().join("gateway/log/other.log")).unwrap_or_default();
        log.contains("anthropic POST /v1/messages 200 whole") && log.contains("openai GET /v1/models/… 200")
    });
    house.child.kill().unwrap();
    house.child.wait().unwrap();
    assert_eq!(house.sandbox.memdir(&["gateway", "status"]).json()["running"], false);
    house.sandbox.memdir(&["gateway", "status"]).code(1);
}

/// F4: off means that nothing is read or written; what is given goes on.
#[test]
fn f4_off_means_pure_passing() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let house = House::open(&all_to(&upstream.url()), |command| {
        command.env("MEMDIR_OFF", "1");
    });
    let before = house.sandbox.state_tree();
    assert_eq!(house.post("{\"a\": 1}").status, 200);
    assert_eq!(upstream.seen()[0].body, b"{\"a\": 1}");
    assert_eq!(house.status()["memory"], false);
    assert_eq!(house.sandbox.state_tree(), before);
    assert!(!house.sandbox.state().join("gateway.token").exists());
}
