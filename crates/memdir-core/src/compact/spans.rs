//! Where the parts of a JSON text are, so that what is kept is kept to the byte.
//!
//! A message that is parsed and printed again is another text: numbers lose digits, escapes change. So the list is cut
//! along its own commas. Only text that was found to be JSON may be given to these functions.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

/// Checks that a text is one JSON value, and tells where it is not.
pub(crate) fn check(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<IgnoredAny>(text).map(drop)
}

/// Finds the values of an array, or nothing if the text is no array.
pub(crate) fn array(text: &str, within: Range<usize>) -> Option<Vec<Range<usize>>> {
    let parts = parts(text, within, b'[')?;
    Some(parts.into_iter().map(|part| trimmed(text, part)).filter(|part| !part.is_empty()).collect())
}

/// Finds the fields of an object, with their names as they are written; nothing if the text is no object.
pub(crate) fn object(text: &str, within: Range<usize>) -> Option<Vec<(&str, Range<usize>)>> {
    let field = |part: Range<usize>| {
        let part = trimmed(text, part);
        let name_end = part.start + string_end(&text.as_bytes()[part.clone()])?;
        let name = &text[part.start + 1..name_end - 1];
        let colon = text[name_end..part.end].find(':')? + name_end;
        Some((name, trimmed(text, colon + 1..part.end)))
    };
    Some(parts(text, within, b'{')?.into_iter().filter_map(field).collect())
}

/// Cuts what is between the brackets along its commas.
fn parts(text: &str, within: Range<usize>, opening: u8) -> Option<Vec<Range<usize>>> {
    let within = trimmed(text, within);
    let bytes = text.as_bytes();
    if bytes.get(within.start) != Some(&opening) {
        return None;
    }
    let (mut parts, mut depth, mut at, mut from) = (Vec::new(), 0_usize, within.start, within.start + 1);
    while at < within.end {
        match bytes[at] {
            b'"' => {
                at += string_end(&bytes[at..within.end])?;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    parts.push(from..at);
                }
            }
            b',' if depth == 1 => {
                parts.push(from..at);
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    Some(parts)
}

/// Returns how many bytes the string takes that begins here.
fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Takes out the space between tokens; every token stays as it is.
pub(super) fn without_space(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut kept = String::new();
    let (mut at, mut from) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += string_end(&bytes[at..]).unwrap_or(bytes.len() - at);
                continue;
            }
            b' ' | b'\n' | b'\r' | b'\t' => {
                kept.push_str(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..(start + part.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_along_its_own_commas() {
        let text = r#" [ {"a":"x, ] \" \\"} , [1,[2]] ,"é" , 1e400 ] "#;
        let parts = array(text, 0..text.len()).unwrap();
        let parts: Vec<&str> = parts.into_iter().map(|part| &text[part]).collect();
        assert_eq!(parts, [r#"{"a":"x, ] \" \\"}"#, "[1,[2]]", "\"é\"", "1e400"]);
        assert!(array("[ ]", 0..3).unwrap().is_empty());
        assert_eq!(array("{}", 0..2), None);
    }

    #[test]
    fn space_goes_and_tokens_stay() {
        let text = "{ \"a b\" :\n [ 1.50 , \" \\\" , \" ]\t}";
        assert_eq!(without_space(text), "{\"a b\":[1.50,\" \\\" , \"]}");
        assert!(matches!(without_space("[1,2]"), Cow::Borrowed(_)));
    }

    #[test]
    fn an_object_is_cut_into_its_fields() {
        let text = r#"{"messages" : [1, 2], "max\"": {"a": 1}}"#;
        let fields = object(text, 0..text.len()).unwrap();
        let fields: Vec<(&str, &str)> = fields.into_iter().map(|(name, at)| (name, &text[at])).collect();
        assert_eq!(fields, [("messages", "[1, 2]"), (r#"max\""#, r#"{"a": 1}"#)]);
    }
}
