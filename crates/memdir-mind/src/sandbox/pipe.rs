//! Lines to and from another process, none longer and none later than agreed.
//!
//! A process that hangs, floods or dies must not hang its parent: every read and write waits for the pipe with the
//! time that is left, and a line that does not end is an error.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The two ends of a child's pipes.
#[derive(Debug)]
pub(super) struct Pipe {
    stdin: ChildStdin,
    stdout: ChildStdout,
    buffer: Vec<u8>,
    max_line: usize,
}

impl Pipe {
    /// Takes the pipes of a child; a line from it has `max_line` bytes at most.
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, max_line: usize) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&stdin, true)?;
        rustix::io::ioctl_fionbio(&stdout, true)?;
        Ok(Self { stdin, stdout, buffer: Vec::new(), max_line })
    }

    /// Writes a line.
    pub(super) fn send(&mut self, line: &[u8], deadline: Instant) -> io::Result<()> {
        self.write(line, deadline)?;
        self.write(b"\n", deadline)
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.stdin.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => bytes = &bytes[n..],
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => {
                    wait(&self.stdin, PollFlags::OUT, deadline)?;
                }
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
        Ok(())
    }

    /// Reads the next line; `None` if there is none because the other side has ended.
    pub(super) fn receive(&mut self, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.buffer[searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(searched + at + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.pop();
                return Ok(Some(line));
            }
            searched = self.buffer.len();
            if searched > self.max_line {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line does not end"));
            }
            let mut chunk = [0; 16 * 1024];
            match self.stdout.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(n) => self.buffer.extend_from_slice(&chunk[..n]),
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => {
                    wait(&self.stdout, PollFlags::IN, deadline)?;
                }
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
    }
}

/// Waits until a descriptor is ready, and no longer than until the deadline.
fn wait(fd: &impl AsFd, flags: PollFlags, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let left = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(fd, flags)], Some(&left)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(err) => return Err(err.into()),
        }
    }
}
