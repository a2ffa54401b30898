//! `memdir gateway key`: a key in our care, for clients that are to know our token only.

use std::io::Read;
use std::path::Path;

use memdir_store::keys::{self, Secret};
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// No key is longer; one byte more is enough to know.
const MAX_KEY: u64 = 8_192;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What the key is called, as in `key = "NAME"` of an upstream
    name: String,
    /// Forget it instead
    #[arg(long)]
    forget: bool,
}

pub(super) fn run(args: &Args, home: &Path, ui: &mut Ui) -> Result<Outcome, Failure> {
    let name = &args.name;
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !is_name {
        return Err(Failure::error("the name of a key is a-z, 0-9 and `-`"));
    }
    let failed = |err| Failure::from_chain(&err);
    if args.forget {
        let was_there = keys::forget(home, name).map_err(failed)?;
        return Ok(if was_there { Outcome::Done } else { Outcome::Nothing });
    }
    let mut text = String::new();
    let unreadable = |_| Failure::error("could not read the key from standard input");
    std::io::stdin().take(MAX_KEY).read_to_string(&mut text).map_err(unreadable)?;
    let key = Secret::new(&text).ok_or_else(|| Failure::error("standard input holds no key"))?;
    keys::keep(home, name, &key).map_err(failed)?;
    if ui.is_json() {
        ui.json(&json!({ "key": name }));
    } else {
        ui.say(&format!("kept; `key = \"{name}\"` below [gateway.upstreams.…] sends it, for clients that bring the gateway's token"));
    }
    Ok(Outcome::Done)
}
