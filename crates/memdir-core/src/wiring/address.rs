//! The address of the gateway in the settings of agents: where a base URL stands, how it comes in and goes again.
//!
//! Agents that read it from a file are told there; of the others [`variables`] says which variables to set. A base URL that
//! somebody else chose is never replaced: it is the upstream that the gateway should ask.

use std::path::PathBuf;

use serde_json::Value;
use toml::Spanned;
use toml::de::DeTable;

use super::agents::opencode_settings;
use super::json::{Node, add, is_void, parse, remove};
use super::settings::{NEW, container, member, pointer};
use super::splice::{Draft, Undo, line_around, newline};
use super::toml::parse as parse_toml;
use super::{Content, Directories, Found, HostFile, Part, Trouble};
use crate::host::Agent;

/// Base URLs in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// In which format the file is.
    pub format: Format,
    /// Which keys lead to a base URL, and what it is to be.
    pub values: Vec<(&'static [&'static str], String)>,
    /// What earlier runs wrote, when the gateway was somewhere else.
    pub earlier: Vec<String>,
}

/// The format of a file with a base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    /// Only keys of the top are set in it.
    Toml,
}

/// Returns the file in which an agent reads base URLs; `None` if it reads them from variables alone. `earlier` is every
/// address at which the gateway has been.
pub fn address_file<'e>(
    agent: Agent,
    at: &Directories,
    base: &str,
    earlier: impl IntoIterator<Item = &'e String>,
) -> Option<HostFile> {
    let below = |path: &str| format!("{base}{path}");
    let (names, format, values): (Vec<PathBuf>, _, Vec<(&'static [&'static str], String)>) = match agent {
        Agent::ClaudeCode => (
            vec![at.claude.join("settings.json")],
            Format::Json,
            vec![(&["env", "ANTHROPIC_BASE_URL"], base.to_owned())],
        ),
        Agent::Codex => {
            (vec![at.codex.join("config.toml")], Format::Toml, vec![(&["openai_base_url"], below("/v1"))])
        }
        Agent::Opencode => {
            let values: Vec<(&'static [&'static str], String)> = vec![
                (&["provider", "anthropic", "options", "baseURL"], below("/v1")),
                (&["provider", "openai", "options", "baseURL"], below("/v1")),
                (&["provider", "google", "options", "baseURL"], below("/v1beta")),
            ];
            (opencode_settings(at), Format::Json, values)
        }
        _ => return None,
    };
    let moved = |earlier: &String| values.iter().map(|(_, value)| value.replacen(base, earlier, 1)).collect();
    let earlier: Vec<Vec<String>> = earlier.into_iter().map(moved).collect();
    let earlier = earlier.concat();
    let mut names = names.into_iter();
    Some(HostFile {
        path: names.next()?,
        others: names.collect(),
        part: Part::Address,
        is_own: false,
        content: Content::Address(Address { format, values, earlier }),
    })
}

/// Returns the variables that tell an agent its base URL, where no file does.
pub fn variables(agent: Agent, base: &str) -> Vec<(&'static str, String)> {
    match agent {
        Agent::Gemini => vec![("GOOGLE_GEMINI_BASE_URL", base.to_owned())],
        Agent::Copilot => vec![
            ("COPILOT_PROVIDER_BASE_URL", format!("{base}/v1")),
            ("COPILOT_PROVIDER_TYPE", "openai".to_owned()),
        ],
        Agent::Goose => vec![("ANTHROPIC_HOST", base.to_owned()), ("OPENAI_HOST", base.to_owned())],
        _ => Vec::new(),
    }
}

/// Says which base URLs of ours a text has; [`Found::programs`] are those.
pub(super) fn look(text: &str, address: &Address) -> Result<Found, Trouble> {
    let mut found = Found::default();
    let mut n_there = 0;
    for (keys, value) in &address.values {
        let there = value_at(text, address.format, keys)?;
        n_there += usize::from(there.as_ref() == Some(value));
        if let Some(there) = there.filter(|there| is_ours(there, value, address)) {
            found.has_server = true;
            found.programs.push(there);
        }
    }
    found.is_complete = n_there == address.values.len();
    Ok(found)
}

/// Returns the text with our base URLs; `None` if they are there already.
pub(super) fn wire(
    text: &str,
    address: &Address,
    undo: Option<&Undo>,
) -> Result<Option<(String, Undo)>, Trouble> {
    if look(text, address)?.is_complete {
        return Ok(None);
    }
    let mut draft = Draft::new(&unwire(text, address, undo)?);
    for (keys, _) in &address.values {
        if value_at(&draft.text, address.format, keys)?.is_some() {
            return Err(Trouble::Elsewhere { key: keys.join(".") });
        }
    }
    for (keys, value) in &address.values {
        match address.format {
            Format::Json => insert_json(&mut draft, keys, value)?,
            Format::Toml => insert_toml(&mut draft, keys[0], value)?,
        }
    }
    Ok(Some((draft.text, draft.undo)))
}

/// Returns the text without our base URLs. With `undo` and nothing changed since, the bytes are those from before.
pub(super) fn unwire(text: &str, address: &Address, undo: Option<&Undo>) -> Result<String, Trouble> {
    if look(text, address)?.is_empty() {
        return Ok(text.to_owned());
    }
    if let Some(before) = undo.and_then(|undo| undo.take_back(text))
        && look(&before, address).is_ok_and(|found| found.is_empty())
    {
        return Ok(before);
    }
    let mut text = text.to_owned();
    for (keys, value) in &address.values {
        let is_there = value_at(&text, address.format, keys)?.is_some_and(|it| is_ours(&it, value, address));
        if is_there {
            text = match address.format {
                Format::Json => remove_json(&text, keys, undo)?,
                Format::Toml => remove_toml(&text, keys[0])?,
            };
        }
    }
    Ok(text)
}

/// Says whether nothing but braces is left.
pub(super) fn is_bare(text: &str, address: &Address) -> bool {
    match address.format {
        Format::Json => parse(text).is_ok_and(|root| root.is_none_or(|root| root.n_children() == 0)),
        Format::Toml => text.trim().is_empty(),
    }
}

fn is_ours(there: &str, wanted: &str, address: &Address) -> bool {
    there == wanted || address.earlier.iter().any(|earlier| earlier == there)
}

fn value_at(text: &str, format: Format, keys: &[&str]) -> Result<Option<String>, Trouble> {
    match format {
        Format::Json => {
            let Some(root) = parse(text)? else { return Ok(None) };
            let Some(path) = path_of(&root, keys) else { return Ok(None) };
            // What is no text is somebody's all the same.
            Ok(Some(root.at(&path).text().unwrap_or_default().to_owned()))
        }
        Format::Toml => {
            let table = parse_toml(text)?;
            let value = table.get_ref().get(keys[0]);
            Ok(value.map(|value| value.get_ref().as_str().unwrap_or_default().to_owned()))
        }
    }
}

fn path_of(root: &Node, keys: &[&str]) -> Option<Vec<usize>> {
    let mut path = Vec::new();
    for key in keys {
        path.push(root.at(&path).position(key)?);
    }
    Some(path)
}

fn insert_json(draft: &mut Draft, keys: &[&str], value: &str) -> Result<(), Trouble> {
    if parse(&draft.text)?.is_none() {
        draft.insert(draft.text.len(), NEW);
    }
    // Also where there is nothing to go into: the file must be an object.
    member(draft, &[], keys[0])?;
    let (last, parents) = keys.split_last().ok_or(Trouble::Empty)?;
    let (mut path, mut pointer) = (Vec::new(), String::new());
    for key in parents {
        pointer = format!("{pointer}/{key}");
        path = container(draft, &path, key, &pointer, false)?;
    }
    add(draft, &path, Some(last), &Value::from(value))
}

fn remove_json(text: &str, keys: &[&str], undo: Option<&Undo>) -> Result<String, Trouble> {
    let mut text = text.to_owned();
    let mut root = parse(&text)?.ok_or(Trouble::Empty)?;
    let Some(mut path) = path_of(&root, keys) else { return Ok(text) };
    // Objects that were made for it go with it, once they are empty.
    loop {
        let here = pointer(&root, &path);
        text = remove(&text, &root, &path);
        root = parse(&text)?.ok_or(Trouble::Empty)?;
        path.pop();
        let parent = here.rsplit_once('/').map_or("", |(parent, _)| parent);
        let is_ours = undo.is_some_and(|undo| undo.made.iter().any(|made| made == parent));
        if path.is_empty() || !is_ours || !is_void(&text, &root, &path) {
            return Ok(text);
        }
    }
}

/// Puts a key of the top before the first table, behind whatever else stands there.
fn insert_toml(draft: &mut Draft, key: &str, value: &str) -> Result<(), Trouble> {
    let nl = newline(&draft.text);
    let line = format!("{key} = {}{nl}", Value::from(value));
    let at = {
        let table = parse_toml(&draft.text)?;
        first_table(&draft.text, &table)
    };
    let gap = if at == 0 || draft.text[..at].ends_with('\n') { "" } else { nl };
    // Before a table there is a blank line.
    let behind = if at < draft.text.len() { nl } else { "" };
    draft.insert(at, &format!("{gap}{line}{behind}"));
    parse_toml(&draft.text).map(drop)
}

/// Returns where the first table begins, or the text ends.
fn first_table(text: &str, table: &Spanned<DeTable<'_>>) -> usize {
    let last = table.get_ref().iter().filter(|(_, value)| is_on_top(text, value.span().start));
    let end = last.map(|(_, value)| line_around(text, value.span().end).end).max();
    let from = end.map_or(0, |end| (end + 1).min(text.len()));
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            return at;
        }
        at += line.len();
    }
    text.len()
}

/// Says whether a value is written as `key = value` before any table.
fn is_on_top(text: &str, at: usize) -> bool {
    let line = &text[line_around(text, at)];
    !line.trim_start().starts_with('[') && !text[..at].lines().any(|line| line.starts_with('['))
}

fn remove_toml(text: &str, key: &str) -> Result<String, Trouble> {
    let table = parse_toml(text)?;
    let Some(value) = table.get_ref().get(key) else { return Ok(text.to_owned()) };
    let line = line_around(text, value.span().start);
    let end = (line.end + 1).min(text.len());
    let rest = format!("{}{}", &text[..line.start], &text[end..]);
    parse_toml(&rest).map(drop)?;
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "http://127.0.0.1:4738";

    fn claude() -> Address {
        let values = vec![(&["env", "ANTHROPIC_BASE_URL"][..], BASE.to_owned())];
        Address { format: Format::Json, values, earlier: Vec::new() }
    }

    fn codex() -> Address {
        let values = vec![(&["openai_base_url"][..], format!("{BASE}/v1"))];
        Address { format: Format::Toml, values, earlier: Vec::new() }
    }

    #[test]
    fn an_address_comes_in_and_goes_byte_for_byte() {
        let json = [
            "",
            "{}\n",
            "{\"env\":{\"A\":\"1\"}}",
            "{\n    // mine\n    \"env\": {\n        \"A\": \"1\", // one\n    },\n}\n",
            "{\n  \"model\": \"opus\"\n}",
        ];
        let toml = [
            "",
            "model = \"o3\"\n",
            "model = \"o3\"",
            "# mine\n\n[mcp_servers.x]\ncommand = \"[y]\"\n",
            "notify = [\n  \"a\",\n  \"[b]\",\n]\n\n[tui]\nx = 1\n",
            "model = \"o3\"\r\n\r\n[tui]\r\n",
        ];
        let json = json.map(|text| (text, claude()));
        for (text, address) in json.into_iter().chain(toml.map(|text| (text, codex()))) {
            let (wired, undo) = wire(text, &address, None).unwrap().unwrap();
            assert!(look(&wired, &address).unwrap().is_complete, "{text:?}: {wired}");
            assert_eq!(wire(&wired, &address, Some(&undo)).unwrap(), None, "once is enough");
            assert_eq!(unwire(&wired, &address, Some(&undo)).unwrap(), text);
            let by_hand = unwire(&wired, &address, None).unwrap();
            assert!(look(&by_hand, &address).unwrap().is_empty(), "{by_hand}");
        }
    }

    #[test]
    fn what_else_was_written_since_stays() {
        let (wired, undo) = wire("{}\n", &claude(), None).unwrap().unwrap();
        let later = wired.replace("\"env\": {", "\"model\": \"opus\",\n  \"env\": {");
        assert_ne!(later, wired);
        let rest: Value = serde_json::from_str(&unwire(&later, &claude(), Some(&undo)).unwrap()).unwrap();
        assert_eq!(rest, serde_json::json!({ "model": "opus" }));
        let (wired, undo) = wire("model = \"o3\"\n", &codex(), None).unwrap().unwrap();
        let later = format!("# new\n{wired}\n[tui]\nx = 1\n");
        assert_eq!(unwire(&later, &codex(), Some(&undo)).unwrap(), "# new\nmodel = \"o3\"\n\n[tui]\nx = 1\n");
    }

    #[test]
    fn an_address_of_somebody_else_is_left_alone() {
        let text = "{\"env\": {\"ANTHROPIC_BASE_URL\": \"https://proxy.example.com\"}}";
        assert!(matches!(wire(text, &claude(), None), Err(Trouble::Elsewhere { .. })));
        assert_eq!(unwire(text, &claude(), None).unwrap(), text);
        let text = "openai_base_url = \"https://proxy.example.com/v1\"\n";
        assert!(matches!(wire(text, &codex(), None), Err(Trouble::Elsewhere { .. })));
        assert_eq!(unwire(text, &codex(), None).unwrap(), text);
    }

    #[test]
    fn where_the_gateway_was_before_is_ours() {
        let earlier = Address { earlier: vec!["http://127.0.0.1:9".to_owned()], ..claude() };
        let text = "{\"env\": {\"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:9\"}}";
        let (wired, _) = wire(text, &earlier, None).unwrap().unwrap();
        assert_eq!(wired, "{\"env\": {\"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:4738\"}}");
    }

    #[test]
    fn a_value_in_a_table_is_not_taken_for_one_of_the_top() {
        let text = "[x]\nopenai_base_url = \"theirs\"\n";
        let (wired, _) = wire(text, &codex(), None).unwrap().unwrap();
        assert_eq!(wired, format!("openai_base_url = \"{BASE}/v1\"\n\n{text}"));
    }
}
