//! `memdir bench dream`: how the planning of a dream grows with the number of memories.
//!
//! Only the decision is measured, without a disk: synthetic memories, of which some say what another said already.

use jiff::Timestamp;
use memdir_core::dream::{Evidence, OperationKind, Source, plan};
use memdir_core::memory::MemoryPath;
use serde_json::json;

use super::scratch::{Clock, millis};
use super::synthetic;
use crate::context::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// Every so many memories one says what another one said.
const TWINS: usize = 50;

/// Which numbers of memories.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Sizes {
    /// Measure these numbers of memories
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [100, 1_000, 10_000, 100_000])]
    sizes: Vec<usize>,
}

/// Measures, and prints the figures as JSON.
pub(super) fn run(sizes: &Sizes, context: &Context, ui: &mut Ui) -> Result<(), Failure> {
    let now = context.now.to_zoned(context.zone.clone());
    let mut rows = Vec::new();
    for n in &sizes.sizes {
        let sources = sources(*n, context.now);
        let evidence = Evidence::default().with_names(&sources);
        let clock = Clock::start();
        let plan = plan(&sources, &evidence, &now);
        let spent = clock.spent();
        let merges = plan.operations.iter().filter(|one| one.kind == OperationKind::Merge).count();
        rows.push(json!({
            "memories": n,
            "ms": millis(spent.time),
            "cpu_ms": spent.work.map(millis),
            "pairs": plan.phases.gather.compared,
            "twins": n / TWINS,
            "merges": merges + plan.left_over,
            "operations": plan.operations.len(),
        }));
    }
    ui.json(&json!({ "sizes": rows }));
    Ok(())
}

fn sources(n: usize, now: Timestamp) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::with_capacity(n);
    for at in 0..n {
        // A twin says what the memory before the last one said, under a name of its own.
        let of = if at % TWINS == TWINS - 1 { at - 2 } else { at };
        let (own, text) = synthetic::memory(of);
        let name = format!("{own}-{at}");
        let text = text.replacen(&own, &name, 1);
        let Ok(path) = MemoryPath::new(&format!("{name}.md")) else { continue };
        sources.push(Source::read(path, text.as_bytes(), now));
    }
    sources
}
