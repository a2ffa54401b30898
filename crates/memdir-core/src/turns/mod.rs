//! The turns of long logs: which of them answer a question.
//!
//! A log is what was said in many sessions, a turn at a time. A memory is chosen with care and may stay silent
//! ([`crate::recall`]); a turn is looked for, and something is always the best. So the parts of a score are not
//! probabilities here: each is scaled to 0..1 over the turns of one log, and a weighted sum decides. Two terms look
//! beyond the turn, since an answer is often one turn away from the words of its question: its neighbours and its session.
//!
//! ```text
//!   Turn ─▶ Indexed ─▶ an index ─▶ Member … ─▶ Log ─┐
//!                          └─ counts of a question's terms ─┴▶ Features ─▶ scores ─▶ best
//! ```
//!
//! Nothing here reads an index: whoever has one hands over the members of a log and how often each has the terms of a
//! question. Look at [`Log::features`] first, then at [`Weights`], which `memdir bench tune` fits with [`fit`].

mod baselines;
mod bm25;
mod features;
mod figures;
mod log;
mod question;
mod tune;
mod turn;
mod weights;

#[cfg(test)]
mod tests;

pub use baselines::Baseline;
pub use features::Features;
pub use figures::{Figures, Interval, Measures, intervals};
pub use log::{Log, Member};
pub use question::Question;
pub use tune::{Labelled, fit, value, values};
pub use turn::{Indexed, Stored, Turn};
pub use weights::Weights;
