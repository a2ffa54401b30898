//! Lines as values, and what can be read out of a value without knowing its shape.

use serde_json::Value;

/// Parses a line into an object. Hosts that cut texts leave halves of characters behind: those are replaced.
pub(crate) fn parse(line: &[u8]) -> Option<Value> {
    let object = |bytes: &[u8]| serde_json::from_slice(bytes).ok().filter(Value::is_object);
    if line.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return None;
    }
    object(line).or_else(|| {
        let mended = mend(&String::from_utf8_lossy(line));
        object(mended.as_bytes())
    })
}

/// Replaces each `\uD800` to `\uDFFF` that is no half of a pair.
pub(crate) fn mend(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            // An escape of two characters; the second may be a backslash itself.
            (None, _) => rest.chars().take(2).map(char::len_utf8).sum(),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended + rest
}

/// Reads the number of an escape `\uXXXX` at the beginning of `text`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Returns a text field.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// Says whether a field is true.
pub(crate) fn is_true(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the texts of a content: a string, a part with a `text`, or a list of those. Images have none.
pub(crate) fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(texts).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        Value::Object(part) => part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

/// Shows a call of a tool: its name, and one line for each argument.
pub(crate) fn call(name: &str, input: &Value) -> String {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    match input {
        Value::Object(arguments) => {
            let lines = arguments.iter().map(|(key, value)| format!("\n{key}: {}", shown(value)));
            format!("{name}{}", lines.collect::<String>())
        }
        Value::Null => name.to_owned(),
        value => format!("{name}\n{}", shown(value)),
    }
}

/// Reads arguments that are JSON inside a string.
pub(crate) fn inner(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
