//! Asking the model that the user configured: under the caps, behind the breaker, with a receipt.

use memdir_mind::guard::Guarded;
use memdir_mind::model::{Model, ModelError, Purpose};
use memdir_store::breaker::Breakers;
use memdir_store::costs::{CostBook, Job};

use crate::cli::model;
use crate::context::Context;

/// Lets `ask` talk to the model, on the account of `job`; an error if there is none or it may not be asked.
pub(crate) fn with_model<T>(
    context: &Context,
    job: Job,
    ask: impl FnOnce(&mut dyn Model) -> T,
) -> Result<T, ModelError> {
    let model = model::open(context, Purpose::Large)?;
    let book = CostBook::new(&context.place.home, &context.place.settings);
    let breakers = Breakers::new(&context.place.home);
    let mut guarded = Guarded::new(model, &book, &breakers, job, None, context.now)?;
    let answer = ask(&mut guarded);
    guarded.finish();
    Ok(answer)
}
