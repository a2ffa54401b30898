//! A `memdir serve` over a test's PostgreSQL, and somebody who asks it.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use memdir_core::hash::ContentHash;
use memdir_testkit::Postgres;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that runs.
pub(crate) struct Server {
    home: TempDir,
    process: std::sync::Mutex<Child>,
    address: String,
}

impl Server {
    /// Starts one, and waits until it listens.
    pub(crate) fn start(database: &Postgres) -> Self {
        let home = tempfile::tempdir().unwrap();
        let log = fs::File::create(home.path().join("log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).env_clear().env("HOME", home.path());
        command.env("MEMDIR_HOME", home.path()).env("MEMDIR_DB", database.address());
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let mut server = Self { home, process: process.into(), address: String::new() };
        let since = Instant::now();
        loop {
            let log = server.log();
            if let Some((_, rest)) = log.split_once("memdir serves http://")
                && let Some((address, _)) = rest.split_once('\n')
            {
                server.address = address.to_owned();
                return server;
            }
            let is_gone = server.process.get_mut().unwrap().try_wait().unwrap().is_some();
            assert!(!is_gone && since.elapsed() < PATIENCE, "the server did not start: {log}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap()
    }

    /// Returns the invitation that it printed, if it made the team.
    pub(crate) fn invite(&self) -> Option<String> {
        let log = self.log();
        let (_, rest) = log.split_once("#mdi_")?;
        Some(format!("mdi_{}", rest.split_whitespace().next()?))
    }

    /// Joins, and returns the token.
    pub(crate) fn join(&self, invite: &str, member: &str) -> String {
        let body = json!({ "invite": invite, "member": member });
        let (status, answer) = ask(self, "none", "POST", "/v1/join", Some(&body));
        assert_eq!(status, 201, "{answer}");
        answer["token"].as_str().unwrap().to_owned()
    }

    /// Ends it without a chance to put anything in order.
    pub(crate) fn kill(&self) {
        let mut process = self.process.lock().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Ends it as an init system does, and wants it to leave in peace.
    pub(crate) fn stop(&mut self) {
        let process = self.process.get_mut().unwrap();
        assert!(Command::new("kill").arg(process.id().to_string()).status().unwrap().success());
        assert!(process.wait().unwrap().success());
    }

    /// Asks it, which fails if it goes away meanwhile.
    pub(crate) fn try_ask(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> io::Result<(u16, Value)> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(cut)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut)?;
        Ok((status, serde_json::from_str(body).map_err(|_| cut())?))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(process) = self.process.get_mut() {
            // It may have gone already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Asks a server and wants an answer.
pub(crate) fn ask(
    server: &Server,
    token: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> (u16, Value) {
    server.try_ask(token, method, path, body).unwrap_or_else(|err| panic!("{method} {path}: {err}"))
}

/// A write of a memory over a version, or over nothing.
pub(crate) fn put(name: &str, base: &Value, body: &str) -> Value {
    let text =
        format!("---\nname: {name}\ndescription: About it\ntype: project\nscope: team\n---\n\n{body}\n");
    let hash = ContentHash::of(text.as_bytes()).to_string();
    json!({ "op": "put", "path": format!("{name}.md"), "base": base, "hash": hash, "text": text })
}
