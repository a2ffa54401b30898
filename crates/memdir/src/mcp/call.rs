//! One call of a host as a value: what is asked, by whom, and how it is answered.
//!
//! Only what needs a look at disks is a [`Call`]; lists that never change are answered by the server itself. A call can be
//! written down and read again, so that another process can answer it ([`super::apart`]).

use memdir_core::secrets::Scanner;
use rmcp::ErrorData;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::Arguments;
use super::desk::{Caller, Desk};
use super::reply::Reply;
use super::{Options, prompts, resources, tools};
use crate::failure::Failure;
use crate::outlet;

/// What a call is told that met a fault of ours.
pub(super) const FAULT: &str =
    "Error: memdir met a fault of its own; the session can go on without an answer";

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// A tool is to be run.
    Tool,
    /// What resources there are.
    Resources,
    /// What one resource says.
    Resource,
    /// What a prompt puts before the model.
    Prompt,
}

/// One call. It is flat, so that arguments that could be read once can be read again: readers of JSON limit how deep it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) kind: Kind,
    /// The tool, the prompt, the address of a resource, or the last address that was listed.
    pub(super) name: Option<String>,
    pub(super) arguments: JsonObject,
    pub(super) caller: Caller,
}

impl Call {
    /// Says whether the answer may ask the host's own model, which only the process that talks to the host can do.
    pub(super) fn may_borrow(&self) -> bool {
        let selects = || self.arguments.get("select").is_some_and(|select| select != false);
        let asks = match self.name.as_deref() {
            Some("extract_facts") => true,
            Some("search_memory") => selects(),
            _ => false,
        };
        asks && self.kind == Kind::Tool && self.caller.lent.is_some()
    }

    /// Answers it here and now, at a desk of its own.
    pub(super) fn answer(self, options: &Options) -> Result<Value, ErrorData> {
        let desk = Desk::open(options, self.caller);
        let scanner =
            desk.as_ref().ok().and_then(Option::as_ref).map_or_else(Scanner::builtin, Desk::scanner);
        let arguments = Arguments(self.arguments);
        let name = self.name.as_deref();
        let mut answer = match self.kind {
            Kind::Tool => written(&run_tool(name.unwrap_or_default(), &arguments, desk)),
            Kind::Resources => written(&resources::list(name, desk)),
            Kind::Resource => written(&resources::read(name.unwrap_or_default(), desk)?),
            Kind::Prompt => written(&prompts::get(name.unwrap_or_default(), &arguments, desk)?),
        }?;
        // What a person wrote into a memory by hand went through no gate, and an answer is read by somebody's model.
        outlet::clean_json(&mut answer, &scanner);
        Ok(answer)
    }
}

fn run_tool(name: &str, arguments: &Arguments, desk: Result<Option<Desk>, Failure>) -> Reply {
    let Some(spec) = tools::find(name) else { return Reply::error(FAULT) };
    desk.and_then(|desk| (spec.run)(arguments, desk.as_ref())).unwrap_or_else(Reply::from)
}

fn written(answer: &impl Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(answer).map_err(|_| fault())
}

/// Reads an answer as what was asked for.
pub(super) fn read<T: DeserializeOwned>(answer: Value) -> Result<T, ErrorData> {
    serde_json::from_value(answer).map_err(|_| fault())
}

/// What is said where there is no answer.
pub(super) fn fault() -> ErrorData {
    ErrorData::internal_error(FAULT, None)
}
