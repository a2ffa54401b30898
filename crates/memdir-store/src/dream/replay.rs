//! Past questions, asked of the vault as it is and as it would be.

use std::collections::BTreeMap;

use memdir_core::dream::{Past, Plan};
use memdir_core::memory::{Document, Memory, MemoryPath};
use memdir_core::recall::{Library, Moment, Note, Weights, recall};

use super::overlay::Overlay;
use super::{Dreamer, asked};
use crate::index::IndexError;
use crate::notes::{self, Notes, NotesError};
use crate::usage::Usage;

/// Asks what was asked lately once more, before and after a plan.
pub(super) fn replay(
    dreamer: &Dreamer<'_>,
    plan: &Plan,
    beat: &mut dyn FnMut(),
) -> Result<Vec<Past>, NotesError> {
    let questions = asked::questions(dreamer.vault);
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let usage = Usage::of(dreamer.vault, None, dreamer.now.timestamp());
    let (hidden, added) = afterwards(plan);
    let ask = |notes: &Notes| -> Result<Vec<Past>, IndexError> {
        let overlay = Overlay::new(notes, &hidden, added.clone())?;
        let mut pasts = Vec::with_capacity(questions.len());
        for question in &questions {
            let (before, after) =
                (found(notes, &question.q, dreamer, &usage)?, found(&overlay, &question.q, dreamer, &usage)?);
            pasts.push(Past { query: question.q.clone(), before, after });
        }
        Ok(pasts)
    };
    let (pasts, _) = notes::ask(dreamer.vault, ask)?;
    beat();
    Ok(pasts)
}

fn found<L: Library>(
    library: &L,
    words: &str,
    dreamer: &Dreamer<'_>,
    usage: &Usage,
) -> Result<Vec<String>, L::Error> {
    let moment = Moment { prompt: words.to_owned(), ..Moment::default() };
    let recalled = recall(library, &moment, dreamer.now, &Weights::fitted(), usage)?;
    Ok(recalled.hits.into_iter().map(|hit| hit.note.name).collect())
}

/// Returns the names of what changes or leaves, and the memories as they would be.
fn afterwards(plan: &Plan) -> (Vec<String>, Vec<Note>) {
    let mut last = BTreeMap::new();
    for change in plan.operations.iter().flat_map(|operation| &operation.changes) {
        last.insert(change.path.as_str(), change);
    }
    let hidden = last.values().map(|change| change.name().to_owned()).collect();
    let note = |(path, change): (&&str, &&memdir_core::dream::FileChange)| {
        let path = MemoryPath::new(path).ok()?;
        let document = Document::parse(plan.versions.get(&change.after?)?);
        let (memory, _) = Memory::read(&path, &document);
        let mut note = Note::of(&memory, &document);
        path.stem().clone_into(&mut note.name);
        Some(note)
    };
    (hidden, last.iter().filter_map(note).collect())
}
