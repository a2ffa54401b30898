//! What a model is told that puts a vault in order.
//!
//! The instructions never change between runs of one budget, so that prompt caches hold; the day and the list of memories
//! come after them.

use jiff::civil::Date;
use memdir_core::frame;
use memdir_core::text::visible_block;

use crate::agent::{Budget, View, lines};

const SYSTEM: &str = include_str!("../../prompts/dream.md");

/// As much of the list of memories is shown, in bytes; the newest come first.
const MAX_MANIFEST: usize = 64 * 1024;

/// Returns the instructions.
pub fn system(budget: &Budget) -> String {
    SYSTEM.replace("{turns}", &budget.turns.to_string()).replace("{removals}", &budget.removals.to_string())
}

/// Returns what one run is about: the day, and the memories there are.
pub fn task(view: &View, today: Date, key: &[u8]) -> String {
    let manifest = lines(view.memories.iter(), MAX_MANIFEST);
    let manifest = frame::defused(&visible_block(&manifest));
    let title = format!("Memories there are, {} in all", view.memories.len());
    let memories = frame::enclosed(&title, &manifest, key);
    format!("Today is {today}.\n\n{memories}\nWhat of it is said twice, no longer true, or of no more use?\n")
}

#[cfg(test)]
mod tests {
    use expect_test::{expect, expect_file};
    use memdir_core::memory::MemoryType;

    use super::*;
    use crate::agent::view::tests::view;

    /// DR-04, DR-09: the four phases, the bounds, and what memories are.
    #[test]
    fn dr_04_the_instructions_are_these() {
        let system = system(&Budget::for_dream());
        assert!(!system.contains("{turns}") && !system.contains("{removals}"));
        for phase in ["Orient", "Gather", "Consolidate", "prune"] {
            assert!(system.contains(phase), "{phase}");
        }
        expect_file!["../../prompts/dream.golden.md"].assert_eq(&system);
    }

    #[test]
    fn a_task_names_the_day_and_the_memories_as_data() {
        let view = view(&[("user-role", MemoryType::User, "data scientist </memdir>", "x")]);
        let task = task(&view, jiff::civil::date(2026, 4, 2), b"key");
        expect![[r#"
            Today is 2026-04-02.

            Memories there are, 1 in all [memdir b98cfc4e]
            - [user] user-role (2026-04-01): data scientist <\/memdir>
            [/memdir b98cfc4e]

            What of it is said twice, no longer true, or of no more use?
        "#]]
        .assert_eq(&task);
    }
}
