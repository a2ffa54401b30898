//! What a dream tells people: the phases with their counts, then a line for each operation.

use super::plan::{Operation, OperationKind, Phases};
use super::review::Replay;
use crate::text::count;

/// Writes the report of a run as markdown, `title` first.
pub fn report(
    title: &str,
    phases: &Phases,
    operations: &[Operation],
    replay: &Replay,
    left_over: usize,
) -> String {
    let mut text = format!("# {title}\n\n");
    for line in phase_lines(phases) {
        text.push_str(&format!("- {line}\n"));
    }
    text.push_str(&format!("- replay: {}\n", replay_line(replay)));
    for kind in OperationKind::ALL {
        let operations: Vec<&Operation> = operations.iter().filter(|one| one.kind == kind).collect();
        if operations.is_empty() {
            continue;
        }
        text.push_str(&format!("\n## {} ({})\n\n", kind.as_str(), operations.len()));
        for operation in operations {
            text.push_str(&format!("- {}\n", operation_line(operation)));
        }
    }
    if left_over > 0 {
        text.push_str(&format!("\n{} more for the next run.\n", count(left_over, "operation", "operations")));
    }
    text
}

/// Tells the four phases, a line each.
pub fn phase_lines(phases: &Phases) -> [String; 4] {
    let Phases { orient, gather, consolidate, prune } = phases;
    [
        format!(
            "orient: {}, {} not to be touched, {} in MEMORY.md",
            count(orient.memories, "memory", "memories"),
            orient.untouchable,
            count(orient.index_lines, "line", "lines"),
        ),
        format!(
            "gather: {} compared, {} used together, {} without a target",
            count(gather.compared, "pair", "pairs"),
            count(gather.together, "pair", "pairs"),
            gather.without_target,
        ),
        format!(
            "consolidate: {} merged, {} superseded, {} dated, {} linked",
            consolidate.merged, consolidate.superseded, consolidate.dated, consolidate.linked,
        ),
        format!(
            "prune: {} to the archive, {} of the index page",
            prune.archived,
            count(prune.index_repairs, "repair", "repairs"),
        ),
    ]
}

/// Tells what became of past questions.
pub fn replay_line(replay: &Replay) -> String {
    match (replay.queries, replay.worse.len()) {
        (0, _) => "no past question is known".to_owned(),
        (n, 0) => format!("{}, none finds less", count(n, "past question", "past questions")),
        (n, worse) => format!("{}, {worse} would find less", count(n, "past question", "past questions")),
    }
}

/// Tells one operation in a line.
pub fn operation_line(operation: &Operation) -> String {
    let names = operation.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let subject = match (&operation.into, operation.kind) {
        (Some(into), OperationKind::Supersede) => format!("{names} by `{into}`"),
        (Some(into), OperationKind::Link) => format!("{names} to `{into}`"),
        (Some(into), _) => format!("{names} into `{into}`"),
        (None, _) if names.is_empty() => "MEMORY.md".to_owned(),
        (None, _) => names,
    };
    let waits = match (&operation.blocked, operation.risky) {
        (Some(why), _) => format!(" (blocked: {why})"),
        (None, true) => " (to be confirmed)".to_owned(),
        (None, false) => String::new(),
    };
    format!("{subject}: {}{waits}", operation.reason)
}
