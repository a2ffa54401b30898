//! The one line that a hook leaves when something went wrong.
//!
//! It goes into a file, because nobody reads what a hook says on stderr; onto stderr if there is no such file to be had. What
//! the agent said is not repeated, and what an error quotes all the same is cleaned of secrets.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use memdir_core::text::{fit, visible_line};
use memdir_store::disk::Dir;
use memdir_store::place::Environment;

use crate::outlet;
use crate::ui::Ui;

/// The file below the state root.
const FILE: &str = "hooks.log";
/// What is older than the last half megabyte or so is in here, and then nowhere.
const OLD_FILE: &str = "hooks.log.1";
const MAX_FILE: u64 = 512 * 1024;
/// A disk that hangs holds up nobody.
const PATIENCE: Duration = Duration::from_millis(50);
/// No line is longer.
const MAX_LINE: usize = 400;

/// Leaves a line about what went wrong.
pub(crate) fn tell(agent: &str, event: &str, what: &str) {
    let line = format!("{agent} {event}: {what}");
    let line = fit(&visible_line(&outlet::clean(&line)), MAX_LINE).to_string();
    let (sender, receiver) = mpsc::sync_channel(1);
    let written = line.clone();
    let writer = move || {
        // Nobody may be listening any more.
        let _ = sender.send(write(&written));
    };
    let started = thread::Builder::new().name("log".to_owned()).spawn(writer);
    let is_written = started.is_ok() && matches!(receiver.recv_timeout(PATIENCE), Ok(Some(())));
    if !is_written {
        Ui::complain(&format!("memdir: {line}\n"));
    }
}

fn write(line: &str) -> Option<()> {
    let env = Environment::from_vars(PathBuf::new(), |name| -> Option<OsString> { std::env::var_os(name) });
    let home = Dir::ensure(&env.state_root().ok()?).ok()?;
    if home.stat(FILE).ok()?.is_some_and(|stat| stat.size > MAX_FILE) {
        home.rename(FILE, &home, OLD_FILE).ok()?;
    }
    home.append_line(FILE, &format!("{} {line}", Timestamp::now().strftime("%FT%TZ"))).ok()
}
