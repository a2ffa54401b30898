//! Takes up what other programs wrote into a vault: an agent with a file tool of its own, an editor, a script.
//!
//! Each file is recorded, gets its line on the index page if it has none, and is in the index before anybody asks for it.
//! Sessions that nobody has heard of for a month are forgotten on the way.

use memdir_store::{notes, session};

use crate::context::Context;
use crate::failure::Failure;

pub(super) fn run(context: &Context) -> Result<(), Failure> {
    for vault in context.vaults()? {
        let mut writer = context.writer(&vault)?;
        writer.set_hearsay_aside()?;
        writer.point_to_what_is_new()?;
        drop(writer);
        notes::ask(&vault, |_| Ok(())).map_err(|err| Failure::from_chain(&err))?;
    }
    session::sweep(&context.place.home, context.now)?;
    Ok(())
}
