//! One run of a program: text in, text out, and an end.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::ModelError;
use super::short;

/// No answer is larger.
const MAX_OUTPUT: u64 = 8 << 20;
/// Of what it complains of, no more is read.
const MAX_COMPLAINT: u64 = 4 << 10;
/// Between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A program about to run.
pub(super) struct Child<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: Vec<OsString>,
    pub(super) env: &'a [(OsString, OsString)],
    pub(super) cwd: &'a Path,
    pub(super) input: String,
    pub(super) limit: Duration,
}

impl Child<'_> {
    /// Runs it to its end and returns what it printed. One that takes too long is killed, with all that it started.
    pub(super) fn run(&self) -> Result<String, ModelError> {
        let failed = |what: &dyn std::fmt::Display| ModelError::Unreachable(short(&what.to_string()));
        let mut child = Command::new(self.program)
            .args(&self.arguments)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|err| failed(&format!("{}: {err}", self.program.display())))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = self.input.clone();
        // A program that ends without reading closes the pipe, which is its own affair.
        thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
        let reading = thread::spawn(move || read(stdout, MAX_OUTPUT));
        let complaining = thread::spawn(move || read(stderr, MAX_COMPLAINT));
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let kill = || group.map(|group| kill_process_group(group, Signal::KILL));
        let deadline = Instant::now() + self.limit;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
                _ => {
                    kill();
                    let _ = child.wait();
                    return Err(failed(&"no answer in time"));
                }
            }
        };
        // Whatever it left running would keep its pipes open.
        kill();
        let said = reading.join().unwrap_or_default();
        let complaint = complaining.join().unwrap_or_default();
        if said.trim().is_empty() {
            let why = complaint.lines().next_back().unwrap_or_default();
            return Err(failed(&format!("{}: {status} {why}", self.program.display())));
        }
        Ok(said)
    }
}

/// Reads up to a limit, and throws the rest away so that the program is not stuck on it.
fn read(pipe: Option<impl Read>, limit: u64) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let mut bytes = Vec::new();
    let _ = pipe.by_ref().take(limit).read_to_end(&mut bytes);
    let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}
