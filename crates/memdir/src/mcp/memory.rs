//! The tool `memory`, as a tool of this server.

use memdir_core::change::Surface;

use super::arguments::Arguments;
use super::desk::Desk;
use super::reply::Reply;
use crate::failure::Failure;
use crate::memory_tool::{self, User};

/// Answers a call.
pub(super) fn run(arguments: &Arguments, desk: Option<&Desk>) -> Result<Reply, Failure> {
    let user = desk.map(|desk| User {
        context: &desk.context,
        ui: &desk.ui,
        session: &desk.caller.session,
        client: &desk.caller.client,
        by: Surface::Mcp,
        may_write: desk.caller.may_write,
    });
    memory_tool::run(&arguments.0, user).map(Reply::from)
}
