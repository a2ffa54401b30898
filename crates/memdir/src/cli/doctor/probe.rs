//! Runs a program as a host would, and says whether it answers.
//!
//! The event is one that nobody knows, so that nothing happens at it; the server is asked to introduce itself and is
//! then ended. Neither gets more than a few seconds.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use memdir_core::host::Agent;
use serde_json::{Value, json};

/// How long a program may take. Hosts wait no longer for a hook.
const PATIENCE: Duration = Duration::from_secs(5);
/// No answer is longer.
const MAX_ANSWER: u64 = 1 << 20;
/// An event that means nothing to anybody.
const NOTHING: &str = "Doctor";

/// Runs a hook; says what is wrong with it.
pub(super) fn hook(program: &str, agent: Agent) -> Result<(), String> {
    let mut child = start(Command::new(program).args(["hook", agent.as_str(), NOTHING]), b"{}\n")?;
    drop(child.stdin.take());
    let answer = read(&mut child, |out| {
        let mut text = String::new();
        out.take(MAX_ANSWER).read_to_string(&mut text).map(|_| text)
    });
    let Some(answer) = answer else { return Err(end(&mut child, "gives no answer in time")) };
    let status = child.wait().map_err(|err| err.to_string())?;
    if !status.success() {
        return Err(format!("fails: {}", complaint(&mut child).unwrap_or_else(|| status.to_string())));
    }
    match answer.trim().is_empty() || serde_json::from_str::<Value>(&answer).is_ok() {
        true => Ok(()),
        false => Err("answers something that no host understands".to_owned()),
    }
}

/// Asks the server to introduce itself; says what is wrong with it.
pub(super) fn server(program: &str) -> Result<(), String> {
    let question = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "memdir-doctor", "version": env!("CARGO_PKG_VERSION") },
        },
    });
    let mut child = start(Command::new(program).arg("mcp"), format!("{question}\n").as_bytes())?;
    let answer = read(&mut child, |out| {
        let mut line = String::new();
        BufReader::new(out.take(MAX_ANSWER)).read_line(&mut line).map(|_| line)
    });
    let Some(answer) = answer else { return Err(end(&mut child, "gives no answer in time")) };
    let value: Value = serde_json::from_str(&answer).unwrap_or_default();
    if value.pointer("/result/serverInfo/name").is_some() {
        end(&mut child, "");
        return Ok(());
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(match complaint(&mut child) {
        Some(complaint) => format!("does not start: {complaint}"),
        None => "does not introduce itself as an MCP server".to_owned(),
    })
}

/// Starts a program with a text on its standard input, which stays open.
fn start(command: &mut Command, input: &[u8]) -> Result<Child, String> {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(|err| format!("cannot be started: {err}"))?;
    if let Some(stdin) = &mut child.stdin {
        // A program that does not listen may be right all the same: its answer counts.
        let _ = stdin.write_all(input).and_then(|()| stdin.flush());
    }
    Ok(child)
}

/// Reads an answer in time; `None` if there is none.
fn read(
    child: &mut Child,
    read: impl FnOnce(std::process::ChildStdout) -> std::io::Result<String> + Send + 'static,
) -> Option<String> {
    let out = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    // Ends with the program, which is ended in any case.
    thread::spawn(move || sender.send(read(out).unwrap_or_default()));
    receiver.recv_timeout(PATIENCE).ok()
}

fn end(child: &mut Child, why: &str) -> String {
    let _ = child.kill();
    let _ = child.wait();
    why.to_owned()
}

/// Returns the first line that a program complained with.
fn complaint(child: &mut Child) -> Option<String> {
    let mut text = String::new();
    child.stderr.take()?.take(4096).read_to_string(&mut text).ok()?;
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
