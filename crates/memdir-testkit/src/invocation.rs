//! One run of the binary: what goes in, how it is run, what came out.
//!
//! An [`Invocation`] is built by [`crate::Sandbox::memdir`] and refined before it runs. Its standard input is
//! empty unless given, so no test ever waits for a terminal.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::Trace;

/// A command about to run, in an environment that holds `PATH` and what the test set.
#[derive(Clone, Debug)]
pub struct Invocation {
    wrapper: Vec<OsString>,
    binary: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: PathBuf,
    stdin: Vec<u8>,
}

impl Invocation {
    /// Prepares any program, without arguments, in the current directory.
    pub fn new(binary: &Path) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            wrapper: Vec::new(),
            binary: binary.to_owned(),
            args: Vec::new(),
            env: vec![("PATH".into(), path)],
            cwd: ".".into(),
            stdin: Vec::new(),
        }
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: &[S]) -> Self {
        self.args.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Takes every argument and every wrapper away.
    pub fn alone(mut self) -> Self {
        self.args.clear();
        self.wrapper.clear();
        self
    }

    /// Sets what the command reads from its standard input.
    pub fn stdin(mut self, text: impl AsRef<[u8]>) -> Self {
        self.stdin = text.as_ref().to_owned();
        self
    }

    /// Sets one variable, in place of an earlier value.
    pub fn env(self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let mut invocation = self.without_env(name);
        invocation.env.push((name.into(), value.as_ref().to_owned()));
        invocation
    }

    /// Takes one variable away.
    pub fn without_env(mut self, name: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self
    }

    /// Runs at another moment, RFC 3339.
    pub fn at(self, now: &str) -> Self {
        self.env("MEMDIR_NOW", now)
    }

    /// Runs in another directory.
    pub fn cwd(mut self, directory: &Path) -> Self {
        self.cwd = directory.to_owned();
        self
    }

    /// Runs under another program, such as `&["prlimit", "--fsize=997"]`.
    ///
    /// Wrappers add up; the one added last is the outermost.
    pub fn under<S: AsRef<OsStr>>(mut self, wrapper: &[S]) -> Self {
        let outer = wrapper.iter().map(|word| word.as_ref().to_owned());
        self.wrapper.splice(0..0, outer);
        self
    }

    /// Runs to the end, whatever that is.
    pub fn run(self) -> Output {
        self.spawn().wait()
    }

    /// Runs and panics unless the exit code is 0.
    pub fn ok(self) -> Output {
        self.code(0)
    }

    /// Runs and panics unless the exit code is this one.
    pub fn code(self, code: i32) -> Output {
        let shown = format!("{self:?}");
        let output = self.run();
        assert_eq!(output.code, code, "{shown}\n{output}");
        output
    }

    /// Runs with `--json` and returns the document on standard output, whatever the exit code.
    pub fn json(self) -> Value {
        self.args(&["--json"]).run().json()
    }

    /// Starts the command and lets it run beside the test.
    pub fn spawn(self) -> Running {
        let mut words = self.wrapper.iter().cloned();
        let program = words.next();
        let mut command = Command::new(program.as_deref().unwrap_or(self.binary.as_os_str()));
        command.args(words);
        if program.is_some() {
            command.arg(&self.binary);
        }
        command.args(&self.args).env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut pipe = child.stdin.take().unwrap();
        // Another thread, so that a full pipe blocks nobody; a reader that leaves early is the command's affair.
        thread::spawn(move || {
            let _ = pipe.write_all(&self.stdin);
        });
        Running { child }
    }

    /// Runs under `strace -f` and also returns its calls of these kinds, such as `"fsync,renameat2"`.
    pub fn traced(self, calls: &str) -> (Output, Trace) {
        self.traced_with(calls, &[])
    }

    /// Like [`Invocation::traced`], with more options, such as `&["-e", "inject=fsync:error=EIO:when=1"]`.
    pub fn traced_with(self, calls: &str, options: &[&str]) -> (Output, Trace) {
        let log = tempfile::Builder::new().prefix("memdir-trace-").tempfile().unwrap();
        let filter = format!("trace={calls}");
        let mut strace: Vec<&OsStr> =
            ["strace", "-f", "-qq", "-y", "-s", "64", "-e", &filter].map(OsStr::new).to_vec();
        strace.extend(options.iter().map(OsStr::new));
        strace.extend([OsStr::new("-o"), log.path().as_os_str()]);
        let output = self.under(&strace).run();
        let text = String::from_utf8_lossy(&std::fs::read(log.path()).unwrap()).into_owned();
        (output, Trace::parse(&text))
    }
}

/// A command that runs beside the test.
#[derive(Debug)]
pub struct Running {
    pub(crate) child: Child,
}

impl Running {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it with SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Says whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub fn wait(self) -> Output {
        let output = self.child.wait_with_output().unwrap();
        Output {
            code: output.status.code().unwrap_or_else(|| 128 + signal(output.status)),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// What a command left: exit code (128 + signal when killed), data and talk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The exit code; 128 and the signal's number when it was killed.
    pub code: i32,
    /// Its data.
    pub stdout: String,
    /// Its talk.
    pub stderr: String,
}

impl Output {
    /// Says whether the command acknowledged what it was asked for.
    pub fn is_ok(&self) -> bool {
        self.code == 0
    }

    /// Parses standard output as one JSON document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("not JSON: {error}\n{self}"))
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "code {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

#[cfg(unix)]
fn signal(status: std::process::ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or_default()
}

#[cfg(not(unix))]
fn signal(_status: std::process::ExitStatus) -> i32 {
    0
}
