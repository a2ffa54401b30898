//! Calls of the memory tool, answered by the vault of the conversation's project.

use std::pin::Pin;
use std::sync::Arc;

use memdir_core::change::Surface;
use memdir_core::gateway::{Call, Kept, Outcome};
use memdir_core::memory_tool::Answer;
use memdir_server::gateway::{Served, Tool};
use tokio::task::spawn_blocking;

use super::Desk;
use super::passing::Passing;
use crate::context::Context;
use crate::failure::Failure;
use crate::memory_tool::{self, User};
use crate::ui::Ui;

/// What the client is called in the history of a vault.
const CLIENT: &str = "a client of the gateway";
/// What a call is told that came to nothing.
const FAULT: &str = "the memory could not be reached";

/// Returns who answers the memory tool in a conversation, if the user wants the vault to.
pub(super) fn tool(desk: &Arc<Desk>, passing: &Arc<Passing>) -> Option<Served> {
    let name = passing.tool()?.to_owned();
    let tool = Arc::new(Vault { desk: desk.clone(), passing: passing.clone() });
    Some(Served { name, n_messages: passing.reading().n_messages, tool })
}

/// The vault of a conversation.
#[derive(Debug, Clone)]
struct Vault {
    desk: Arc<Desk>,
    passing: Arc<Passing>,
}

impl Tool for Vault {
    fn run(&self, calls: Vec<Call>) -> Pin<Box<dyn Future<Output = Vec<Outcome>> + Send>> {
        let (vault, n_calls) = (self.clone(), calls.len());
        Box::pin(async move {
            let ran = spawn_blocking(move || calls.iter().map(|call| vault.answer(call)).collect());
            ran.await.unwrap_or_else(|_| vec![outcome(Answer::refusal(FAULT)); n_calls])
        })
    }

    fn keep(&self, kept: Kept) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let vault = self.clone();
        Box::pin(async move {
            // Not being able to costs the model what it has seen, and a prompt cache.
            let _ = spawn_blocking(move || vault.note(kept)).await;
        })
    }
}

impl Vault {
    fn answer(&self, call: &Call) -> Outcome {
        let ran = self.run_one(call);
        outcome(ran.unwrap_or_else(|failure| Answer::refusal(&failure.message)))
    }

    fn run_one(&self, call: &Call) -> Result<Answer, Failure> {
        let (env, place) = self.passing.place(&self.desk)?;
        let context = (!place.off).then(|| Context::unheard(env, place)).transpose()?;
        let context = context.filter(|context| !context.leaves_memory_aside());
        let ui = Ui::collecting();
        let user = context.as_ref().map(|context| User {
            context,
            ui: &ui,
            session: self.passing.conversation().unwrap_or_default(),
            client: CLIENT,
            by: Surface::Hook,
            may_write: true,
        });
        memory_tool::run(&call.input, user)
    }

    /// Notes what the client was not shown, without secrets: a call that was refused for one holds it.
    fn note(&self, mut kept: Kept) -> Result<(), Failure> {
        let (env, place) = self.passing.place(&self.desk)?;
        let context = Context::unheard(env, place)?;
        let scanner = context.scanner()?;
        kept.change_texts(|text| scanner.redacted(text).into_owned());
        self.desk.conversations.update(self.passing.id(), context.now, |known| known.keep(kept));
        Ok(())
    }
}

fn outcome(answer: Answer) -> Outcome {
    Outcome { text: answer.text, is_error: answer.is_error }
}
