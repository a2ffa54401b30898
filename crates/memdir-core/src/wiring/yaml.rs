//! Our server in goose's `config.yaml`, as a block of lines.
//!
//! Only so much of YAML is understood as it takes to find the lines: keys at the left margin, and one level below
//! `extensions`. Whatever does not look like that is left alone.

use std::ops::Range;

use serde_json::{Value, json};

use super::command::{SERVER, is_server};
use super::splice::{Draft, Undo, cut, newline};
use super::{Found, Trouble};

/// Where goose looks for servers.
const EXTENSIONS: &str = "extensions";

/// A line that says something.
#[derive(Debug, Clone, Copy)]
struct Line<'t> {
    /// Where it begins, and where the next one begins.
    start: usize,
    end: usize,
    indent: usize,
    /// Without indentation and blanks behind it.
    text: &'t str,
}

/// What there is of `extensions`.
enum Extensions<'t> {
    Missing,
    /// A block: its own line and those below it.
    Block {
        head: Line<'t>,
        below: Vec<Line<'t>>,
    },
    /// `{…}` on one line; the offset behind the brace, and whether something is in it.
    Flow {
        inside: usize,
        is_empty: bool,
    },
}

pub(super) fn look(text: &str, program: &str) -> Result<Found, Trouble> {
    let Some((_, found)) = own(text)? else { return Ok(Found::default()) };
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
    let text = draft.text.clone();
    let nl = newline(&text);
    match extensions(&text)? {
        Extensions::Missing => {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { nl };
            let block = block(program, "  ", "  ", nl);
            draft.insert(text.len(), &format!("{gap}{EXTENSIONS}:{nl}{block}"));
            draft.undo.made.push(format!("/{EXTENSIONS}"));
        }
        Extensions::Block { head, below } => {
            if let Some(line) = below.first() {
                if below.iter().any(|line| line.indent == below[0].indent && is_key(line.text, SERVER)) {
                    return Err(Trouble::Taken { key: format!("{EXTENSIONS}.{SERVER}") });
                }
                if line.indent == 0 || line.text.starts_with('-') {
                    return Err(not_a_mapping());
                }
            }
            let indent = " ".repeat(below.first().map_or(2, |line| line.indent));
            let gap = if text[..head.end].ends_with('\n') { "" } else { nl };
            draft.insert(head.end, &format!("{gap}{}", block(program, &indent, "  ", nl)));
        }
        Extensions::Flow { inside, is_empty } => {
            let comma = if is_empty { "" } else { ", " };
            draft.insert(inside, &format!("\"{SERVER}\": {}{comma}", entry(program)));
        }
    }
    Ok(Some((draft.text, draft.undo)))
}

pub(super) fn unwire(text: &str, undo: Option<&Undo>) -> Result<String, Trouble> {
    let Some((span, _)) = own(text)? else { return Ok(text.to_owned()) };
    if let Some(before) = undo.and_then(|undo| undo.take_back(text))
        && own(&before).is_ok_and(|own| own.is_none())
    {
        return Ok(before);
    }
    let rest = cut(text, span);
    let is_ours = undo.is_none_or(|undo| undo.made.iter().any(|made| made[1..] == *EXTENSIONS));
    match extensions(&rest)? {
        Extensions::Block { head, below } if below.is_empty() && is_ours => {
            Ok(cut(&rest, head.start..head.end))
        }
        _ => Ok(rest),
    }
}

fn not_a_mapping() -> Trouble {
    Trouble::WrongKind { key: EXTENSIONS.to_owned(), wanted: "a mapping" }
}

fn entry(program: &str) -> Value {
    json!({
        "enabled": true,
        "type": "stdio",
        "name": SERVER,
        "description": "Memory of this project and its user",
        "cmd": program,
        "args": ["mcp"],
        "envs": {},
        "timeout": 300,
    })
}

/// Writes the entry as lines. JSON's texts, numbers and empty collections are YAML too.
fn block(program: &str, indent: &str, unit: &str, nl: &str) -> String {
    let mut block = format!("{indent}{SERVER}:{nl}");
    if let Value::Object(members) = entry(program) {
        for (key, value) in members {
            block.push_str(&format!("{indent}{unit}{key}: {value}{nl}"));
        }
    }
    block
}

/// Finds our entry: its lines, or its place on a line, and its program.
fn own(text: &str) -> Result<Option<(Range<usize>, String)>, Trouble> {
    match extensions(text)? {
        Extensions::Missing => Ok(None),
        Extensions::Flow { inside, .. } => Ok(own_in_flow(text, inside)),
        Extensions::Block { below, .. } => Ok(own_in_block(&below)),
    }
}

fn own_in_block(below: &[Line<'_>]) -> Option<(Range<usize>, String)> {
    let indent = below.first()?.indent;
    let n = below.iter().position(|line| line.indent == indent && is_key(line.text, SERVER))?;
    let inner: Vec<&Line<'_>> = below[n + 1..].iter().take_while(|line| line.indent > indent).collect();
    let program = inner.iter().find_map(|line| scalar(value_of(line.text, "cmd")?))?;
    let is_mcp = |line: &&Line<'_>| matches!(line.text, "- mcp" | "- \"mcp\"" | "- 'mcp'");
    let has_flow = inner
        .iter()
        .filter_map(|line| value_of(line.text, "args"))
        .any(|args| args.trim_matches(['[', ']', ' ']).trim_matches(['"', '\'']) == "mcp");
    let args = if has_flow || inner.iter().any(is_mcp) { "mcp" } else { "" };
    let end = inner.last().map_or(below[n].end, |line| line.end);
    is_server(&[program.clone(), args.to_owned()]).then_some((below[n].start..end, program))
}

fn own_in_flow(text: &str, inside: usize) -> Option<(Range<usize>, String)> {
    let key = format!("\"{SERVER}\": ");
    let line = &text[inside..];
    let line = &line[..line.find('\n').unwrap_or(line.len())];
    let start = line.find(&key)?;
    let rest = &line[start + key.len()..];
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let entry = values.next()?.ok()?;
    let mut end = start + key.len() + values.byte_offset();
    let program = entry.get("cmd")?.as_str()?.to_owned();
    let args = entry.pointer("/args/0").and_then(Value::as_str).unwrap_or_default().to_owned();
    let behind = &line[end..];
    if let Some(rest) = behind.strip_prefix(',') {
        end += behind.len() - rest.trim_start_matches(' ').len();
    }
    is_server(&[program.clone(), args]).then_some((inside + start..inside + end, program))
}

fn extensions(text: &str) -> Result<Extensions<'_>, Trouble> {
    let lines = lines(text)?;
    let Some(n) = lines.iter().position(|line| line.indent == 0 && is_key(line.text, EXTENSIONS)) else {
        return Ok(Extensions::Missing);
    };
    let head = lines[n];
    let value = value_of(head.text, EXTENSIONS).unwrap_or_default();
    if value.is_empty() {
        let below = lines[n + 1..].iter().copied();
        let below = below.take_while(|line| line.indent > 0 || line.text.starts_with('-')).collect();
        return Ok(Extensions::Block { head, below });
    }
    let inner = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or_else(not_a_mapping)?;
    let inside = head.start + head.text.find('{').map_or(0, |at| at + 1);
    Ok(Extensions::Flow { inside, is_empty: inner.trim().is_empty() })
}

/// Reads the lines that say something.
fn lines(text: &str) -> Result<Vec<Line<'_>>, Trouble> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut start = 0;
    for (n, raw) in text.split_inclusive('\n').enumerate() {
        let end = start + raw.len();
        let content = raw.trim_start_matches('\u{feff}').trim_start_matches(' ');
        let line = Line { start, end, indent: raw.len() - content.len(), text: content.trim_end() };
        start = end;
        let trouble = |what| Err(Trouble::Syntax { line: n + 1, what });
        match line.text {
            "" => {}
            text if text.starts_with('#') => {}
            text if content.starts_with('\t') && !text.is_empty() => {
                return trouble("a tab is no indentation in YAML");
            }
            "---" if lines.is_empty() => {}
            "---" | "..." => return trouble("there is more than one document in it"),
            text if line.indent == 0 && text.starts_with(['{', '[', '%', '&', '*', '!', '|', '>']) => {
                return trouble("it is not a list of keys");
            }
            text if line.indent == 0 && !text.starts_with('-') && !text.contains(':') => {
                return trouble("a key is missing");
            }
            _ => lines.push(line),
        }
    }
    Ok(lines)
}

fn is_key(text: &str, key: &str) -> bool {
    value_of(text, key).is_some()
}

/// Returns what stands behind a key, without a comment.
fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let rest = [key.to_owned(), format!("\"{key}\""), format!("'{key}'")]
        .iter()
        .find_map(|key| text.strip_prefix(key.as_str()))?;
    let value = rest.trim_start().strip_prefix(':')?;
    if !value.is_empty() && !value.starts_with([' ', '\t']) {
        return None;
    }
    let value = value.trim();
    Some(if value.starts_with('#') { "" } else { value.split(" #").next().unwrap_or(value).trim_end() })
}

/// Reads a text as it stands in one line.
fn scalar(value: &str) -> Option<String> {
    match value.as_bytes().first()? {
        b'"' => serde_json::from_str(value).ok(),
        b'\'' => Some(value.strip_prefix('\'')?.strip_suffix('\'')?.replace("''", "'")),
        _ => Some(value.to_owned()),
    }
}
