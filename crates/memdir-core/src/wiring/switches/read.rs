//! The files of a host as values, and what the highest of them says.

use serde_json::{Map, Value};

use super::super::Part;
use super::super::json::{Kind, Node, parse};
use super::{Keeper, Role, Switch, SwitchFile};

/// The files of a host that exist, those that overrule the others first.
pub(super) struct Layers<'f>(Vec<Layer<'f>>);

/// One file.
pub(super) struct Layer<'f> {
    pub(super) file: &'f SwitchFile,
    pub(super) value: Value,
}

impl<'f> Layers<'f> {
    /// Reads the files; by the ends of their names in JSON, TOML or as much of YAML as is needed.
    pub(super) fn of(files: &'f [(SwitchFile, String)]) -> Self {
        let layer = |(file, text): &'f (SwitchFile, String)| {
            let ending = file.path.extension().and_then(|ending| ending.to_str());
            let value = match ending {
                Some("toml") => toml::from_str(text).ok(),
                Some("yaml") => Some(yaml(text)),
                _ => json(text),
            };
            Some(Layer { file, value: value? })
        };
        Self(files.iter().filter_map(layer).collect())
    }

    /// Returns the files that are this to the host.
    pub(super) fn of_role(&self, role: Role) -> impl Iterator<Item = &Layer<'f>> {
        self.0.iter().filter(move |layer| layer.file.role == role)
    }

    /// Returns the settings of administrators.
    pub(super) fn managed(&self) -> impl Iterator<Item = &Layer<'f>> {
        self.of_role(Role::Settings).filter(|layer| layer.file.keeper == Keeper::Administrator)
    }

    /// Returns what the highest settings say under a path of keys.
    pub(super) fn decided(&self, path: &[&str]) -> Option<(&Layer<'f>, &Value)> {
        self.of_role(Role::Settings).find_map(|layer| Some((layer, at(&layer.value, path)?)))
    }

    /// Finds a switch that is off when the highest settings say `off` under a path of keys.
    pub(super) fn switch(&self, part: Part, path: &[&str], off: &Value) -> Option<Switch> {
        let (layer, value) = self.decided(path)?;
        (value == off).then(|| layer.switch(part, format!("`{}` is `{value}`", path.join("."))))
    }
}

impl Layer<'_> {
    /// Makes a switch of what this file says.
    pub(super) fn switch(&self, part: Part, says: String) -> Switch {
        Switch { part, says, path: self.file.path.clone(), keeper: self.file.keeper }
    }

    /// Returns the list under a path of keys.
    pub(super) fn list(&self, path: &[&str]) -> &[Value] {
        at(&self.value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Says whether the list under a path of keys has one of these texts.
    pub(super) fn lists(&self, path: &[&str], texts: &[&str]) -> bool {
        self.list(path).iter().any(|item| item.as_str().is_some_and(|item| texts.contains(&item)))
    }
}

/// Returns the value under a path of keys.
pub(super) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Reads JSON with comments, as hosts do.
fn json(text: &str) -> Option<Value> {
    parse(text).ok().flatten().map(|node| value_of(&node, text))
}

fn value_of(node: &Node, text: &str) -> Value {
    match &node.kind {
        Kind::Text(text) => Value::from(text.as_str()),
        Kind::Array(items) => items.iter().map(|item| value_of(item, text)).collect(),
        Kind::Object(members) => {
            members.iter().map(|member| (member.key.clone(), value_of(&member.value, text))).collect()
        }
        Kind::Other => serde_json::from_str(&text[node.span.clone()]).unwrap_or_default(),
    }
}

/// Reads blocks of keys with their texts, by indentation; lists and everything else are left out.
fn yaml(text: &str) -> Value {
    let mut root = Map::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in text.lines().map(|line| line.split(" #").next().unwrap_or_default().trim_end()) {
        let indent = line.len() - line.trim_start().len();
        let line = line.trim_start();
        // A path may have a colon in it: the last one that ends a key counts.
        let Some((key, value)) =
            line.rsplit_once(": ").or_else(|| line.strip_suffix(':').map(|key| (key, "")))
        else {
            continue;
        };
        path.retain(|(outer, _)| *outer < indent);
        path.push((indent, bare(key)));
        if !value.is_empty() {
            put(&mut root, &path, serde_json::from_str(value).unwrap_or_else(|_| Value::from(bare(value))));
        }
    }
    Value::Object(root)
}

fn bare(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

fn put(map: &mut Map<String, Value>, path: &[(usize, String)], value: Value) {
    let Some(((_, key), rest)) = path.split_first() else { return };
    if rest.is_empty() {
        map.insert(key.clone(), value);
        return;
    }
    let inner = map.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(inner) = inner {
        put(inner, rest, value);
    }
}
