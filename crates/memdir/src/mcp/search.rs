//! The tool `search_memory`: what is known about something, framed like everything else that is put before a model.

use memdir_core::frame::{Item, frame};
use memdir_core::text::age;
use memdir_mind::select::{Line, Question, Selection};
use memdir_store::evidence::Sign;
use memdir_store::remind::{Speaker, described};
use memdir_store::usage::Usage;
use memdir_store::vault::Vault;
use memdir_store::verify::{Cache, Verifier};

use super::arguments::Arguments;
use super::desk::Desk;
use super::reply::Reply;
use crate::cli::recall::select::choose;
use crate::cli::search::{Layer, Row, Wanted, find};
use crate::failure::Failure;

/// As long as a call waits for git to tell what became of a thing.
const LOOK: std::time::Duration = std::time::Duration::from_millis(500);

/// As much of what is asked counts: an error text may be a screen long.
const MAX_QUERY: usize = 4_000;
/// So many are shown if nothing else is said, and at most.
pub(super) const LIMIT: i64 = 5;
pub(super) const MAX_LIMIT: i64 = 20;
/// Of a longer text only the part that matches is shown.
const MAX_WHOLE: usize = 1_500;
/// What nothing is found is said with, whether there is nothing, memory is off, or to be ignored.
const NOTHING: &str = "no memory found";

/// Answers a call.
pub(super) fn run(arguments: &Arguments, desk: Option<&Desk>) -> Result<Reply, Failure> {
    let (wanted, is_open) = wanted(arguments)?;
    let Some(desk) = desk else { return Ok(Reply::text(NOTHING)) };
    let vaults = desk.context.vaults()?;
    desk.note(&vaults, &[Sign::Said(&wanted.text)]);
    let mut rows = find(&wanted, &desk.context, &desk.ui)?;
    if rows.is_empty() && is_open {
        // Reading every session takes a while: only where nothing that was written down answers.
        let said = Wanted { layers: vec![Layer::Transcript], ..wanted.clone() };
        rows = find(&said, &desk.context, &desk.ui)?;
    }
    let is_chosen = arguments.flag("select")? && select(&mut rows, &wanted.text, desk)?;
    if rows.is_empty() {
        return Ok(Reply::text(NOTHING));
    }
    Ok(Reply::text(shown(&rows, is_chosen, &vaults, desk)))
}

/// Reads what is wanted, and whether it was left open where to look.
fn wanted(arguments: &Arguments) -> Result<(Wanted, bool), Failure> {
    let mut text = arguments.text("query")?;
    text.truncate(text.floor_char_boundary(MAX_QUERY));
    let named = arguments.texts("layers")?;
    let layer = |name: &String| {
        let known = Layer::ALL.into_iter().find(|layer| layer.as_str() == name);
        known.ok_or_else(|| Failure::refusal("`layers` are memory, journal and transcript"))
    };
    let layers: Vec<Layer> = named.iter().map(layer).collect::<Result<_, _>>()?;
    let is_open = layers.is_empty();
    let layers = if is_open { vec![Layer::Memory, Layer::Journal] } else { layers };
    let limit = usize::try_from(arguments.number("limit", LIMIT, 1, MAX_LIMIT)?).unwrap_or_default();
    let all = arguments.flag("all_projects")?;
    Ok((Wanted { text, layers, all, limit, as_of: None }, is_open))
}

/// Has the host's own model choose among the memories that were found, where it lends it; says whether it did. What is no
/// memory stays behind what was chosen.
fn select(rows: &mut Vec<Row>, query: &str, desk: &Desk) -> Result<bool, Failure> {
    let Some(model) = desk.lent_model() else { return Ok(false) };
    let (memories, rest): (Vec<Row>, Vec<Row>) =
        std::mem::take(rows).into_iter().partition(|row| row.layer == Layer::Memory);
    let lines = memories.iter().map(|row| Line {
        file: row.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        memory_type: row.memory_type,
        modified: format!("{:.0}", row.at),
        description: row.description.clone(),
    });
    let query = desk.context.gate()?.redacted(query).0;
    let question = Question { query, lines: lines.collect(), tools: Vec::new() };
    let selection = choose(model, &question, &desk.context);
    let (is_chosen, places) = match selection {
        Selection::Chosen(places) => (true, places),
        Selection::Unasked(_) => (false, (0..memories.len()).collect()),
    };
    let mut memories: Vec<Option<Row>> = memories.into_iter().map(Some).collect();
    rows.extend(places.into_iter().filter_map(|place| memories.get_mut(place)?.take()));
    rows.extend(rest);
    Ok(is_chosen)
}

fn shown(rows: &[Row], is_chosen: bool, vaults: &[Vault], desk: &Desk) -> String {
    let context = &desk.context;
    let verifier = Verifier::around(&context.place, &context.env, context.now, context.zone.clone());
    let sources: Vec<Source<'_>> = vaults.iter().map(|vault| Source::of(vault, desk)).collect();
    let items: Vec<Item> = rows.iter().map(|row| item(row, &sources, &verifier, desk)).collect();
    let (text, n_shown) = frame(&items, &desk.key(vaults));
    for vault in vaults {
        let names = (1..).zip(&rows[..n_shown]).filter(|(_, row)| row.path.starts_with(vault.path()));
        desk.note_shown(vault, names.map(|(rank, row)| (rank, row.name.as_str())));
    }
    let left = match rows.len() - n_shown {
        0 => String::new(),
        n => format!(" {n} more found no room: ask more narrowly."),
    };
    let asked = if is_chosen { "your own model chose among them" } else { "nothing was asked of a model" };
    format!("{text}{n_shown} found {}, best first; {asked}.{left}", method(rows))
}

/// Says how the rows were found.
fn method(rows: &[Row]) -> &'static str {
    let by_start = |row: &&Row| row.loaded.is_some() && row.parts.keys().eq(["words"]);
    match rows.iter().any(|row| !by_start(&row)) {
        true => "by words (BM25) and meaning (local vectors)",
        false => "by the beginnings of words",
    }
}

/// A vault with what is known beside its files.
struct Source<'v> {
    vault: &'v Vault,
    usage: Usage,
    cache: Cache,
}

impl<'v> Source<'v> {
    fn of(vault: &'v Vault, desk: &Desk) -> Self {
        Self { vault, usage: Usage::of(vault, None, desk.now()), cache: Cache::load(vault) }
    }
}

fn item(row: &Row, sources: &[Source<'_>], verifier: &Verifier, desk: &Desk) -> Item {
    let (now, zone) = (desk.now(), &desk.context.zone);
    let source = sources.iter().find(|source| row.path.starts_with(source.vault.path()));
    let mut item = match (&row.loaded, source) {
        (Some(loaded), Some(Source { vault, usage, cache })) => {
            let subject = verifier.subject(vault, loaded);
            let checked = (!subject.claims.is_empty()).then(|| verifier.look_again(&subject, cache, LOOK));
            described(loaded, Speaker::of(usage, loaded.hash), checked.as_ref(), now, zone)
        }
        // Another project's memory is told as it is: what it names cannot be looked up from here.
        _ => Item {
            memory_type: row.memory_type,
            file: row.name.clone(),
            remarks: vec![format!("saved {}", age(row.at, now)), origin(row)],
            text: if row.text.trim().is_empty() {
                row.description.clone()
            } else {
                row.text.trim().to_owned()
            },
        },
    };
    if item.text.len() > MAX_WHOLE && row.layer != Layer::Memory {
        item.text.clone_from(&row.snippet);
    }
    item.remarks.extend(row.via.first().map(|via| format!("via [[{via}]]")));
    item.remarks.push(format!("{} tier, score {:.2}", row.tier, row.score));
    item
}

/// Says where a row comes from that is no memory of this project.
fn origin(row: &Row) -> String {
    match row.layer {
        Layer::Memory => format!("memory of {}", row.project),
        Layer::Journal => format!("journal of {}", row.project),
        Layer::Transcript => row.description.clone(),
    }
}
