//! How an agent is driven: its settings, its command line, the names of its tools.

use memdir_testkit::{Invocation, Output, Rule};
use serde_json::Value;

use crate::world::World;

/// A real agent.
pub(crate) trait Host {
    /// What `memdir init --agent` calls it.
    fn name(&self) -> &'static str;

    /// Writes the settings of a user who has the agent but not memdir: which model there is, what need not be asked.
    fn settle(&self, world: &World);

    /// The files that `memdir init` may change, below the home directory.
    fn settings(&self) -> &'static [&'static str];

    /// One prompt in a new session.
    fn begin(&self, world: &World, prompt: &str) -> Invocation;

    /// One more prompt in a session.
    fn go_on(&self, world: &World, session: &str, prompt: &str) -> Invocation;

    /// The session's id, from what a run of the agent printed.
    fn session(&self, output: &Output) -> String;

    /// Lets the model call the agent's shell.
    fn shell(&self, rule: Rule, command: &str) -> Rule;

    /// Lets the model write a file in the way that this agent gives it.
    fn write(&self, rule: Rule, path: &str, text: &str) -> Rule;

    /// Lets the model call a tool of our MCP server.
    fn ask_memdir(&self, rule: Rule, tool: &str, input: Value) -> Rule;
}
