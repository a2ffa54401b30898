//! What is worth remembering: whether a text says anything that nothing else shows.
//!
//! Two steps, both pure. [`mentions`] finds what a text mentions that a project can be asked about. Somebody asks the
//! project and fills an [`Evidence`]; `memdir_store::surroundings` does. [`judge`] then weighs the text against it and
//! answers with the rules that refuse it: the code shows it, git tells it, it is a debugging story, an instruction file
//! says it already, it is over with the session. Each refusal names what was found, a better place, and a question
//! whose answer would be worth saving.
//!
//! A decision or a warning with a reason outside the code is kept, whatever files it names. Nothing here knows a vault:
//! near-duplicates, secrets and sizes are other gates' affair. Look at [`weigh`] first, then at `scores`.

mod evidence;
mod features;
mod fingerprint;
mod judge;
mod mentions;
mod refusal;
mod saying;
mod scores;
mod sentence;
mod stems;
mod trace;
mod words;

#[cfg(test)]
mod tests;

pub use evidence::{Commit, Evidence, FoundPath, FoundSymbol, InstructionLine, instruction_lines};
pub use fingerprint::fingerprint;
pub use judge::{Part, Weighed, judge, weigh};
pub use mentions::{MAX_MENTIONS, Mention, Mentions, is_file_ending, mentions};
pub(crate) use mentions::{code_spans, has_shape_of_code};
pub use refusal::NotWorth;
