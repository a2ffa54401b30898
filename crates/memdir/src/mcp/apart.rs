//! Has a call answered by a process of its own, `memdir mcp --call`.
//!
//! An answer takes the index, a table of meanings and many patterns, and what a process has once touched stays in its
//! memory. A host keeps its server for hours and calls it now and then, so the server stays as small as it begins and each
//! call is answered by a child that leaves with its answer. A fault that ends a process ends no session then.
//!
//! The child reads the call as one line and writes the answer. Its input stays open for as long as somebody waits: when
//! that ends, so does the child.

use std::io::{self, BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::thread;

use rmcp::ErrorData;
use serde_json::Value;

use super::Options;
use super::call::{Call, fault};
use crate::failure::{Failure, Outcome};

/// This very program, also after another version was installed in its place.
const THIS: &str = "/proc/self/exe";
/// The watching thread calls nothing deep.
const STACK: usize = 64 * 1024;

/// Has a call answered, and waits for it. Where no process can be started it is answered here.
pub(super) fn answer(call: Call, options: &Options) -> Result<Value, ErrorData> {
    match start(options) {
        Ok(child) => ask(child, &call).unwrap_or_else(|_| Err(fault())),
        Err(_) => call.answer(options),
    }
}

fn start(options: &Options) -> io::Result<Child> {
    let mut command = Command::new(program()?);
    command.arg0("memdir").args(["mcp", "--call"]);
    for (name, value) in [("--vault", &options.vault), ("--project", &options.project)] {
        if let Some(value) = value {
            command.arg(name).arg(value);
        }
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

fn program() -> io::Result<PathBuf> {
    let this = Path::new(THIS);
    if this.exists() { Ok(this.to_owned()) } else { std::env::current_exe() }
}

fn ask(mut child: Child, call: &Call) -> io::Result<Result<Value, ErrorData>> {
    let mut line = serde_json::to_vec(call)?;
    line.push(b'\n');
    let asked = child.stdin.as_mut().map_or(Ok(()), |input| input.write_all(&line));
    let mut answer = Vec::new();
    let heard = child.stdout.as_mut().map_or(Ok(0), |output| output.read_to_end(&mut answer));
    // It is waited for in any case, or its number would stay taken.
    child.wait()?;
    asked.and(heard)?;
    Ok(serde_json::from_slice(&answer)?)
}

/// Answers the call that stands on standard input.
pub(crate) fn answer_one(options: &Options) -> Result<Outcome, Failure> {
    let failed = |what: &str, err: io::Error| Failure::error(format!("could not {what}: {err}"));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(|err| failed("read the call", err))?;
    let call: Call = serde_json::from_str(&line).map_err(|err| failed("read the call", err.into()))?;
    leave_with_whoever_waits();
    let answer = call.answer(options);
    let answer = serde_json::to_vec(&answer).map_err(|err| failed("write the answer", err.into()))?;
    io::stdout().write_all(&answer).map_err(|err| failed("write the answer", err))?;
    Ok(Outcome::Done)
}

/// Ends this process when its input ends: then nobody waits for the answer any more.
fn leave_with_whoever_waits() {
    let watch = || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        process::exit(0);
    };
    // Without a watch the call is answered to nobody, which does no harm.
    let _ = thread::Builder::new().name("waits".to_owned()).stack_size(STACK).spawn(watch);
}
