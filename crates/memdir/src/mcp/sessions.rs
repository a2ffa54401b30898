//! The tool `log_session`: an entry in the journal, with what was done, decided and left.

use memdir_core::frame::defused;
use memdir_core::journal::{Item, OpenItem, Sections, one_line};
use memdir_core::memory::MemoryName;
use memdir_core::text::{count, visible_line};
use memdir_store::journal::{About, Added, Planned};

use super::arguments::Arguments;
use super::desk::Desk;
use super::reply::Reply;
use crate::cli::journal;
use crate::failure::Failure;

/// As many open items are named in the answer.
const MAX_OPEN: usize = 10;

/// Answers a call.
pub(super) fn run(arguments: &Arguments, desk: Option<&Desk>) -> Result<Reply, Failure> {
    let sections = Sections {
        summary: arguments.optional_text("summary")?.unwrap_or_default(),
        decisions: lines(arguments.texts("decisions")?),
        unfinished: lines(arguments.texts("unfinished")?).iter().map(|text| Item::open(text)).collect(),
        related: lines(arguments.texts("related")?),
    };
    let Some(desk) = desk else { return Err(Failure::refusal("memory is switched off here")) };
    desk.must_write()?;
    let context = &desk.context;
    let gate = context.gate()?;
    let now = context.now.to_zoned(context.zone.clone());
    let sections = Sections { related: linked(sections.related, desk), ..sections };
    let sections = journal::cleared(sections, gate, &now)?
        .ok_or_else(|| Failure::refusal("there is nothing to write down: `summary` says what was done"))?;
    let about = About {
        session: Some(desk.caller.session.clone()),
        agent: Some(desk.caller.client.clone()),
        branch: context.place.repository.as_ref().and_then(|repository| repository.branch()),
        ..About::default()
    };
    let journal = journal::writable(context, &desk.ui)?;
    let (planned, added) =
        journal.add(sections, &about, context.now, &context.zone, &gate.scanner).map_err(journal::failure)?;
    Ok(Reply::text(told(&planned, &added)))
}

/// Makes a link of what is the name of a memory.
fn linked(related: Vec<String>, desk: &Desk) -> Vec<String> {
    let is_memory = |name: &str| {
        MemoryName::new(name).is_ok() && desk.context.find_exact(name).is_ok_and(|found| found.is_some())
    };
    let link = |text: String| if is_memory(&text) { format!("[[{text}]]") } else { text };
    related.into_iter().map(link).collect()
}

fn lines(texts: Vec<String>) -> Vec<String> {
    texts.iter().map(|text| one_line(text)).collect()
}

fn told(planned: &Planned, added: &Added) -> String {
    let name = defused(&visible_line(&planned.entry.name));
    let mut text = match added.was_there {
        true => format!("this session said the same before: {name} stays as it is"),
        false => format!("written to the journal: {name}"),
    };
    let open = planned.open.len();
    if open > 0 {
        text.push_str(&format!("\n{} open in this project:", count(open, "item is", "items are")));
    }
    let line = |item: &OpenItem| format!("\n- {}: {}", item.handle(), defused(&visible_line(&item.text)));
    text.extend(planned.open.iter().take(MAX_OPEN).map(line));
    if open > MAX_OPEN {
        text.push_str(&format!("\n- and {} more", open - MAX_OPEN));
    }
    text
}
