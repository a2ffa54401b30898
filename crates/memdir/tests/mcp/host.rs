//! A host: starts the server as agents do, and speaks to it line by line.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use memdir_testkit::{NOW, Sandbox};
use serde_json::{Value, json};

/// Long enough for any answer on any machine; only a server that hangs takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a host and a server get to know each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// By `initialize`, up to 2025-11-25.
    Handshake,
    /// By nothing: each request says all there is to know, from 2026-07-28 on.
    Stateless,
}

/// A session with the server.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
    era: Era,
    n_requests: u64,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_memdir"))
}

/// A sandbox that does not wait for disks, where the machine has a place for it.
pub(crate) fn quick_sandbox() -> Sandbox {
    let quick = std::path::Path::new("/dev/shm");
    if quick.is_dir() { Sandbox::below(env!("CARGO_BIN_EXE_memdir"), quick) } else { sandbox() }
}

/// Prepares the server in a sandbox.
pub(crate) fn server(sandbox: &Sandbox, args: &[&str]) -> Command {
    let other = std::env::var_os("MEMDIR_TEST_BINARY");
    let mut command = Command::new(other.unwrap_or_else(|| env!("CARGO_BIN_EXE_memdir").into()));
    command.arg("mcp").args(args).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
        .env("HOME", sandbox.home())
        .env("MEMDIR_HOME", sandbox.state())
        .env("MEMDIR_VAULT", sandbox.vault());
    command.env("MEMDIR_NOW", NOW).env("TZ", "UTC").current_dir(sandbox.project());
    command
}

/// What a request of the newer era carries.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test-host", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

impl Host {
    /// Starts a session by a handshake.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::of(server(sandbox, &[]), Era::Handshake)
    }

    /// Starts a session with a server that was prepared otherwise.
    pub(crate) fn of(mut command: Command, era: Era) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let lines = reader(child.stdout.take().unwrap());
        let errors = reader(child.stderr.take().unwrap());
        let mut host = Self { child, input, lines, errors, era, n_requests: 0 };
        if era == Era::Handshake {
            host.shake_hands(json!({}));
        }
        host
    }

    /// Starts a session by a handshake in which the host offers to have its own model asked.
    pub(crate) fn lending(sandbox: &Sandbox) -> Self {
        let mut host = Self::of(server(sandbox, &[]), Era::Stateless);
        host.era = Era::Handshake;
        host.shake_hands(json!({ "sampling": {} }));
        host
    }

    fn shake_hands(&mut self, capabilities: Value) {
        let about = json!({ "name": "test-host", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": about });
        let answer = self.request("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    }

    pub(crate) fn write(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a request without waiting; returns its number.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.n_requests += 1;
        if self.era == Era::Stateless {
            params["_meta"] = meta();
        }
        let request = json!({ "jsonrpc": "2.0", "id": self.n_requests, "method": method, "params": params });
        self.write(&request.to_string());
        self.n_requests
    }

    /// Waits for the next answer.
    pub(crate) fn receive(&mut self) -> Value {
        let line =
            self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{error}: {}", self.errors()));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"))
    }

    /// Asks, and returns the whole answer.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Asks, and returns the result; panics where there is an error.
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Said {
        said(&self.result("tools/call", json!({ "name": name, "arguments": arguments })))
    }

    /// Calls a tool that must not fail.
    pub(crate) fn ok(&mut self, name: &str, arguments: Value) -> String {
        let said = self.call(name, arguments.clone());
        assert!(!said.is_error, "{name} {arguments}: {}", said.text);
        said.text
    }

    /// Calls a tool that must not fail; what the server asks meanwhile is answered by `lend`, with a text or an error.
    pub(crate) fn ok_lending(
        &mut self,
        name: &str,
        arguments: Value,
        mut lend: impl FnMut(&Value) -> Result<String, String>,
    ) -> String {
        let id = self.send("tools/call", json!({ "name": name, "arguments": arguments }));
        loop {
            let message = self.receive();
            if message["method"] == "sampling/createMessage" {
                let answer = match lend(&message["params"]) {
                    Ok(text) => json!({ "jsonrpc": "2.0", "id": message["id"], "result": {
                        "role": "assistant", "content": { "type": "text", "text": text }, "model": "lent", "stopReason": "endTurn" } }),
                    Err(why) => {
                        json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -1, "message": why } })
                    }
                };
                self.write(&answer.to_string());
                continue;
            }
            assert_eq!(message["id"], id, "{message}");
            let said = said(&message["result"]);
            assert!(!said.is_error, "{name}: {}", said.text);
            return said.text;
        }
    }

    /// Reads a resource.
    pub(crate) fn read(&mut self, uri: &str) -> String {
        let result = self.result("resources/read", json!({ "uri": uri }));
        result["contents"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Returns what the server wrote to standard error so far.
    pub(crate) fn errors(&self) -> String {
        self.errors.try_iter().collect::<Vec<_>>().join("\n")
    }

    /// Closes the input and returns the exit code.
    pub(crate) fn leave(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the answer of a tool.
pub(crate) fn said(result: &Value) -> Said {
    assert!(result.get("structuredContent").is_none(), "it hides the text: {result}");
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
    Said {
        text: result["content"][0]["text"].as_str().unwrap().to_owned(),
        is_error: result["isError"].as_bool().unwrap(),
    }
}

/// Reads lines beside the test, so that no full pipe stops anybody.
pub(crate) fn reader(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
