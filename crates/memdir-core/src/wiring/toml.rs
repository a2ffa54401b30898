//! Our server in Codex's `config.toml`, and what the file says about trust in hooks.
//!
//! The server is a table of its own at the end of the file. A file that keeps its servers in another way, such as an
//! inline table, is not rewritten.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::command::{SERVER, is_server};
use super::splice::{Draft, Undo, line_around, newline, without};
use super::{Found, HookPlace, Trouble};
use crate::hash::ContentHash;

/// How many seconds Codex waits for a hook that does not say.
const CODEX_TIMEOUT: u64 = 600;
/// Where Codex looks for servers.
const SERVERS: &str = "mcp_servers";

pub(super) fn look(text: &str, program: &str) -> Result<Found, Trouble> {
    let table = parse(text)?;
    let Some(found) = own_program(table.get_ref()) else { return Ok(Found::default()) };
    Ok(Found { has_server: true, is_complete: found == program, programs: vec![found], ..Found::default() })
}

pub(super) fn wire(
    text: &str,
    program: &str,
    undo: Option<&Undo>,
) -> Result<Option<(String, Undo)>, Trouble> {
    if look(text, program)?.is_complete {
        return Ok(None);
    }
    let mut draft = Draft::new(&unwire(text, undo)?);
    let table = parse(text)?;
    let key = || format!("{SERVERS}.{SERVER}");
    if own_program(table.get_ref()).is_none() && server(table.get_ref()).is_some() {
        return Err(Trouble::Taken { key: key() });
    }
    let nl = newline(&draft.text);
    let gap = match draft.text.as_str() {
        "" => String::new(),
        text if text.ends_with('\n') => nl.to_owned(),
        _ => format!("{nl}{nl}"),
    };
    // JSON writes a text as a basic string of TOML.
    let program = serde_json::Value::from(program);
    let block = format!("{gap}[{SERVERS}.{SERVER}]{nl}command = {program}{nl}args = [\"mcp\"]{nl}");
    draft.insert(draft.text.len(), &block);
    match parse(&draft.text) {
        Ok(_) => Ok(Some((draft.text, draft.undo))),
        Err(_) => Err(Trouble::WrongKind { key: SERVERS.to_owned(), wanted: "a table that can be added to" }),
    }
}

pub(super) fn unwire(text: &str, undo: Option<&Undo>) -> Result<String, Trouble> {
    let table = parse(text)?;
    if own_program(table.get_ref()).is_none() {
        return Ok(text.to_owned());
    }
    if let Some(before) = undo.and_then(|undo| undo.take_back(text))
        && parse(&before).is_ok_and(|table| own_program(table.get_ref()).is_none())
    {
        return Ok(before);
    }
    let rest = without(text, &blocks(text, table.get_ref()));
    match parse(&rest) {
        Ok(table) if own_program(table.get_ref()).is_none() => Ok(rest),
        _ => Err(Trouble::WrongKind { key: format!("{SERVERS}.{SERVER}"), wanted: "a table of its own" }),
    }
}

/// Says whether Codex has noted in its `config` that the user trusts this hook of `hooks_file`, as it is now.
pub fn is_trusted(config: &str, hooks_file: &str, hook: &HookPlace) -> bool {
    let Ok(table) = DeTable::parse(config) else { return false };
    let state = table.get_ref().get("hooks").and_then(|hooks| hooks.get_ref().get("state"));
    let key = format!("{hooks_file}:{}:{}:{}", snake_case(&hook.event), hook.group, hook.number);
    let Some(noted) = state.and_then(|state| state.get_ref().get(key.as_str())) else { return false };
    let is_off = noted.get_ref().get("enabled").and_then(|on| on.get_ref().as_bool()) == Some(false);
    let hash = noted.get_ref().get("trusted_hash").and_then(|hash| hash.get_ref().as_str());
    hash == Some(fingerprint(hook).as_str()) && !is_off
}

/// What Codex knows a hook by: a hash of what it is told about it, keys in order, as JSON without blanks.
fn fingerprint(hook: &HookPlace) -> String {
    let timeout = hook.timeout.unwrap_or(CODEX_TIMEOUT).max(1);
    let command = serde_json::Value::from(hook.command.as_str());
    let told = format!(
        r#"{{"event_name":"{}","hooks":[{{"async":false,"command":{command},"timeout":{timeout},"type":"command"}}]}}"#,
        snake_case(&hook.event)
    );
    format!("sha256:{}", ContentHash::of(told.as_bytes()))
}

fn snake_case(event: &str) -> String {
    let mut name = String::with_capacity(event.len() + 4);
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

pub(super) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, Trouble> {
    DeTable::parse(text).map_err(|err| {
        let at = err.span().map_or(0, |span| span.start).min(text.len());
        let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Trouble::Syntax { line, what: "it is not written as TOML" }
    })
}

fn server<'t, 'i>(table: &'t DeTable<'i>) -> Option<&'t Spanned<DeValue<'i>>> {
    table.get(SERVERS)?.get_ref().get(SERVER)
}

/// Returns the program of our server; `None` if there is none, or one that is not ours.
fn own_program(table: &DeTable<'_>) -> Option<String> {
    let server = server(table)?.get_ref();
    let mut words = vec![server.get("command")?.get_ref().as_str()?.to_owned()];
    let args = server.get("args").and_then(|args| args.get_ref().as_array());
    words.extend(
        args.into_iter()
            .flat_map(|args| args.iter())
            .map(|word| word.get_ref().as_str().unwrap_or_default().to_owned()),
    );
    is_server(&words).then(|| words.swap_remove(0))
}

/// Returns the lines of our table and of tables below it: from a header to the last line of what it holds.
fn blocks(text: &str, table: &DeTable<'_>) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    if let Some(server) = server(table) {
        collect(server, &mut spans);
    }
    let mut lines: Vec<Range<usize>> = Vec::new();
    spans.sort_by_key(|span| span.start);
    for span in spans {
        let start = line_around(text, span.start).start;
        let end = line_around(text, span.end.max(span.start + 1) - 1).end;
        let end = (end + 1).min(text.len());
        match lines.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => lines.push(start..end),
        }
    }
    lines
}

fn collect(value: &Spanned<DeValue<'_>>, into: &mut Vec<Range<usize>>) {
    into.push(value.span());
    if let Some(table) = value.get_ref().as_table() {
        table.iter().for_each(|(_, value)| collect(value, into));
    }
}
