//! Our entries in a host's settings file in JSON: which are there, how they come in, how they go.
//!
//! Entries are recognised by their command, under the keys where a host looks for them: groups of hooks below
//! `hooks`, and one server below the key of the host. What else is in the file is not looked at.

use serde_json::Value;

use super::command::{HookCall, SERVER, is_server};
use super::json::{Kind, Node, add, is_void, parse, remove};
use super::splice::{Draft, Undo};
use super::{Found, HookPlace, Trouble};

/// Where every host that has hooks in JSON keeps them.
const HOOKS: &str = "hooks";
/// Under which keys a hook's command stands.
const COMMANDS: [&str; 3] = ["command", "bash", "powershell"];
/// A file that is made has this before entries come in.
pub(super) const NEW: &str = "{}\n";

/// What goes into a settings file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// What the file must say for the host to read it; kept if it says something else.
    pub defaults: Vec<(&'static str, Value)>,
    /// A hook for each event: the call, and the entry that makes it.
    pub hooks: Vec<(HookCall, Value)>,
    /// The key that servers stand below, the program, and the entry of ours.
    pub server: Option<(&'static str, String, Value)>,
}

/// An entry of ours, and the way to it.
struct Own {
    path: Vec<usize>,
    is: OwnKind,
}

enum OwnKind {
    /// A hook below this event.
    Hook { event: String, call: HookCall },
    /// The server, started by this program.
    Server { program: String },
}

/// Says what is there of ours, whoever it was meant for.
pub(super) fn look(text: &str, settings: &Settings) -> Result<Found, Trouble> {
    let Some(root) = parse(text)? else { return Ok(Found::default()) };
    let own = own(&root, settings.server.as_ref().map(|server| server.0));
    let mut found = Found::default();
    for own in &own {
        let program = match &own.is {
            OwnKind::Hook { event, call } => {
                found.hooks.push(place(text, &root, &own.path, event));
                &call.program
            }
            OwnKind::Server { program } => {
                found.has_server = true;
                program
            }
        };
        if !found.programs.contains(program) {
            found.programs.push(program.clone());
        }
    }
    let has_defaults = settings.defaults.iter().all(|(key, _)| root.get(key).is_some());
    found.is_complete = has_defaults && is_complete(&own, settings);
    Ok(found)
}

/// Describes a hook that stands at the end of `path`, or in the group that does.
fn place(text: &str, root: &Node, path: &[usize], event: &str) -> HookPlace {
    let node = root.at(path);
    let hook = node.get(HOOKS).and_then(|hooks| hooks.elements().first()).unwrap_or(node);
    let command = COMMANDS.iter().find_map(|key| hook.get(key)?.text()).unwrap_or_default();
    let timeout = hook.get("timeout").and_then(|timeout| text[timeout.span.clone()].parse().ok());
    HookPlace {
        event: event.to_owned(),
        group: path[2],
        number: path.get(4).copied().unwrap_or(0),
        command: command.to_owned(),
        timeout,
    }
}

/// Returns the text with our entries; `None` if they are there already.
pub(super) fn wire(
    text: &str,
    settings: &Settings,
    undo: Option<&Undo>,
) -> Result<Option<(String, Undo)>, Trouble> {
    if look(text, settings)?.is_complete {
        return Ok(None);
    }
    let mut draft = Draft::new(&unwire(text, settings, undo)?);
    if parse(&draft.text)?.is_none() {
        draft.insert(draft.text.len(), NEW);
    }
    for (key, value) in &settings.defaults {
        if member(&draft, &[], key)?.is_none() {
            add(&mut draft, &[], Some(key), value)?;
        }
    }
    for (call, value) in &settings.hooks {
        let hooks = container(&mut draft, &[], HOOKS, "/hooks", false)?;
        let pointer = format!("/hooks/{}", call.event);
        let event = container(&mut draft, &hooks, &call.event, &pointer, true)?;
        add(&mut draft, &event, None, value)?;
    }
    if let Some((key, _, value)) = &settings.server {
        let servers = container(&mut draft, &[], key, &format!("/{key}"), false)?;
        if member(&draft, &servers, SERVER)?.is_some() {
            return Err(Trouble::Taken { key: format!("{key}.{SERVER}") });
        }
        add(&mut draft, &servers, Some(SERVER), value)?;
    }
    Ok(Some((draft.text, draft.undo)))
}

/// Returns the text without our entries. With `undo` and nothing changed since, the bytes are those from before.
pub(super) fn unwire(text: &str, settings: &Settings, undo: Option<&Undo>) -> Result<String, Trouble> {
    let server = settings.server.as_ref().map(|server| server.0);
    let Some(root) = parse(text)? else { return Ok(text.to_owned()) };
    if let Some(before) = undo.and_then(|undo| undo.take_back(text)) {
        let is_clean = parse(&before).is_ok_and(|root| root.is_none_or(|root| own(&root, server).is_empty()));
        if is_clean {
            return Ok(before);
        }
    }
    let mut text = text.to_owned();
    let mut root = root;
    while let Some(first) = own(&root, server).first() {
        let mut path = first.path.clone();
        loop {
            let pointer = pointer(&root, &path);
            text = remove(&text, &root, &path);
            root = parse(&text)?.ok_or(Trouble::Empty)?;
            path.pop();
            let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
            let is_ours = undo.is_none_or(|undo| undo.made.iter().any(|made| made == parent));
            if !is_ours || !is_void(&text, &root, &path) {
                break;
            }
        }
    }
    Ok(text)
}

/// Says whether nothing is left in a file but what we would write into a new one.
pub(super) fn is_bare(text: &str, settings: &Settings) -> bool {
    let Ok(root) = parse(text) else { return false };
    root.is_none_or(|root| {
        let is_default = |key: &str| settings.defaults.iter().any(|default| default.0 == key);
        matches!(root.kind, Kind::Object(_)) && root.members().iter().all(|member| is_default(&member.key))
    })
}

fn is_complete(own: &[Own], settings: &Settings) -> bool {
    let n_wanted = settings.hooks.len() + usize::from(settings.server.is_some());
    let has_hook = |wanted: &HookCall| {
        own.iter().any(
            |own| matches!(&own.is, OwnKind::Hook { event, call } if *event == wanted.event && call == wanted),
        )
    };
    let has_server = |wanted: &String| {
        own.iter().any(|own| matches!(&own.is, OwnKind::Server { program } if program == wanted))
    };
    own.len() == n_wanted
        && settings.hooks.iter().all(|(call, _)| has_hook(call))
        && settings.server.iter().all(|(_, program, _)| has_server(program))
}

/// Finds our entries.
fn own(root: &Node, servers: Option<&str>) -> Vec<Own> {
    let mut found = Vec::new();
    if let Some(n) = root.position(HOOKS) {
        for (m, event) in root.at(&[n]).members().iter().enumerate() {
            for (k, group) in event.value.elements().iter().enumerate() {
                own_in_group(group, &[n, m, k], &event.key, &mut found);
            }
        }
    }
    let place = servers.and_then(|key| {
        let n = root.position(key)?;
        Some(vec![n, root.at(&[n]).position(SERVER)?])
    });
    if let Some(path) = place {
        let words = words_of_server(root.at(&path));
        if is_server(&words) {
            found.push(Own { path, is: OwnKind::Server { program: words[0].clone() } });
        }
    }
    found
}

/// A group is ours if all its hooks are; else only those that are.
fn own_in_group(group: &Node, path: &[usize], event: &str, found: &mut Vec<Own>) {
    let hook = |path: Vec<usize>, call| Own { path, is: OwnKind::Hook { event: event.to_owned(), call } };
    if let Some(call) = call_of(group) {
        found.push(hook(path.to_owned(), call));
        return;
    }
    let Some(inner) = group.position(HOOKS) else { return };
    let hooks = group.at(&[inner]).elements();
    for (n, call) in hooks.iter().enumerate().filter_map(|(n, node)| Some((n, call_of(node)?))) {
        let inside: Vec<usize> = path.iter().copied().chain([inner, n]).collect();
        found.push(hook(if hooks.len() == 1 { path.to_owned() } else { inside }, call));
    }
}

fn call_of(hook: &Node) -> Option<HookCall> {
    COMMANDS.iter().find_map(|key| HookCall::parse(hook.get(key)?.text()?))
}

/// Returns program and arguments, which some hosts keep in one list and others in two keys.
fn words_of_server(server: &Node) -> Vec<String> {
    let texts = |node: &Node| {
        let one = node.text().map(str::to_owned);
        let many = node.elements().iter().filter_map(|word| word.text().map(str::to_owned));
        one.into_iter().chain(many).collect::<Vec<_>>()
    };
    ["command", "args"].iter().filter_map(|key| server.get(key)).flat_map(texts).collect()
}

pub(super) fn member(draft: &Draft, path: &[usize], key: &str) -> Result<Option<usize>, Trouble> {
    let root = parse(&draft.text)?.ok_or(Trouble::Empty)?;
    let node = root.at(path);
    if !matches!(node.kind, Kind::Object(_)) {
        return Err(Trouble::WrongKind { key: "the file".to_owned(), wanted: "an object" });
    }
    Ok(node.position(key))
}

/// Returns the way to an object or array below a key, making it where it is missing.
pub(super) fn container(
    draft: &mut Draft,
    path: &[usize],
    key: &str,
    pointer: &str,
    is_array: bool,
) -> Result<Vec<usize>, Trouble> {
    let n = match member(draft, path, key)? {
        Some(n) => n,
        None => {
            let empty =
                if is_array { Value::Array(Vec::new()) } else { Value::Object(serde_json::Map::new()) };
            add(draft, path, Some(key), &empty)?;
            draft.undo.made.push(pointer.to_owned());
            member(draft, path, key)?.ok_or(Trouble::Empty)?
        }
    };
    let path: Vec<usize> = path.iter().copied().chain([n]).collect();
    let root = parse(&draft.text)?.ok_or(Trouble::Empty)?;
    let wanted = if is_array { "a list" } else { "an object" };
    match (&root.at(&path).kind, is_array) {
        (Kind::Object(_), false) | (Kind::Array(_), true) => Ok(path),
        _ => Err(Trouble::WrongKind { key: pointer[1..].replace('/', "."), wanted }),
    }
}

/// Returns a path in the form that [`Undo::made`] has.
pub(super) fn pointer(root: &Node, path: &[usize]) -> String {
    let mut pointer = String::new();
    let mut node = root;
    for &n in path {
        match &node.kind {
            Kind::Object(members) => pointer.push_str(&format!("/{}", members[n].key)),
            _ => pointer.push_str(&format!("/{n}")),
        }
        node = node.at(&[n]);
    }
    pointer
}
