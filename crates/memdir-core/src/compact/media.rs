//! Pictures, sound and files inside of messages: the first to go.
//!
//! They take much room and nothing can be quoted from them. In the place of each stands a note of what it was, so that the
//! model knows that there was something and the message is still one that the API takes.

use serde_json::{Value, json};

use super::contents;
use super::list::Shape;
use crate::transcript::json::text;

/// Takes what cannot be read as text out of an item, and returns how many there were.
pub(super) fn drop_media(item: &mut Value, shape: Shape) -> usize {
    if shape == Shape::Gemini {
        let parts = item.get_mut("parts").and_then(Value::as_array_mut);
        return parts.into_iter().flatten().map(from_part).sum();
    }
    let is_model = text(item, "role") == Some("assistant");
    let kind = match shape {
        Shape::Responses if is_model => "output_text",
        Shape::Responses => "input_text",
        Shape::Anthropic | Shape::Chat | Shape::Gemini => "text",
    };
    let mut n_dropped = 0;
    for key in ["content", "output"] {
        n_dropped += item.get_mut(key).map_or(0, |content| within(content, kind));
    }
    n_dropped
}

fn within(content: &mut Value, kind: &str) -> usize {
    let Some(blocks) = content.as_array_mut() else { return 0 };
    let mut n_dropped = 0;
    for block in blocks {
        if let Some(note) = note(block) {
            let mut placeholder = json!({ "type": kind, "text": note });
            // A mark of the prompt cache is about the place, not about the picture.
            if let (Some(mark), Some(fields)) = (block.get("cache_control"), placeholder.as_object_mut()) {
                fields.insert("cache_control".to_owned(), mark.clone());
            }
            *block = placeholder;
            n_dropped += 1;
        } else if let Some(inner) = block.get_mut("content") {
            // The result of a tool has a content of its own.
            n_dropped += within(inner, kind);
        }
    }
    n_dropped
}

/// Says what stands in the place of a block; nothing if the block stays.
fn note(block: &Value) -> Option<String> {
    let what = match text(block, "type")? {
        "image" | "image_url" | "input_image" => "image",
        "input_audio" | "audio" => "audio",
        "video" | "input_video" | "video_url" => "video",
        "file" | "input_file" => "file",
        "document" if !is_text(block) => "document",
        _ => return None,
    };
    let title = ["title", "filename", "name"].into_iter().find_map(|key| text(block, key));
    let title = title.or_else(|| block.get("file").and_then(|file| text(file, "filename")));
    Some(dropped(what, title))
}

fn dropped(what: &str, title: Option<&str>) -> String {
    match title.filter(|title| title.len() <= 200) {
        Some(title) => format!("[{what} dropped: {title}]"),
        None => format!("[{what} dropped]"),
    }
}

/// A document may be given as text, and then it is kept like text.
fn is_text(document: &Value) -> bool {
    let source = document.get("source").and_then(|source| text(source, "type"));
    matches!(source, Some("text" | "content"))
}

/// Takes media out of a part of Gemini's, or out of the result that it is.
fn from_part(part: &mut Value) -> usize {
    if let Some(note) = note_of_part(part) {
        let mut placeholder = json!({ "text": note });
        // What was thought is still no word of the model.
        if contents::is_thought(part) {
            placeholder["thought"] = true.into();
        }
        *part = placeholder;
        return 1;
    }
    for key in ["functionResponse", "function_response"] {
        if let Some(result) = part.get_mut(key) {
            return from_result(result);
        }
    }
    0
}

fn note_of_part(part: &Value) -> Option<String> {
    let (kind, title) = contents::media(part)?;
    let what = kind.split('/').next().filter(|what| matches!(*what, "image" | "audio" | "video"));
    Some(dropped(what.unwrap_or("file"), title))
}

/// Takes media out of a result. No text may stand beside them there, so the notes become a part of the answer, and so do
/// those in the places that refer to what was dropped.
fn from_result(result: &mut Value) -> usize {
    let Some(parts) = result.get_mut("parts").and_then(Value::as_array_mut) else { return 0 };
    let mut notes: Vec<(Option<String>, String)> = Vec::new();
    parts.retain(|part| {
        let Some(note) = note_of_part(part) else { return true };
        let title = contents::media(part).and_then(|(_, title)| title.map(str::to_owned));
        notes.push((title, note));
        false
    });
    let is_empty = parts.is_empty();
    let Some(fields) = result.as_object_mut().filter(|_| !notes.is_empty()) else { return 0 };
    if is_empty {
        fields.shift_remove("parts");
    }
    if let Some(response) = fields.get_mut("response") {
        refer(response, &notes);
        if let Some(response) = response.as_object_mut() {
            let notes: Vec<&str> = notes.iter().map(|(_, note)| note.as_str()).collect();
            response.insert("dropped".to_owned(), notes.join("\n").into());
        }
    }
    notes.len()
}

/// Puts a note into the place of every `{"$ref": …}` that names what was dropped.
fn refer(value: &mut Value, notes: &[(Option<String>, String)]) {
    if let Some(name) = text(value, "$ref") {
        if let Some((_, note)) = notes.iter().find(|(title, _)| title.as_deref() == Some(name)) {
            *value = Value::from(note.as_str());
        }
        return;
    }
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| refer(value, notes)),
        Value::Object(fields) => fields.values_mut().for_each(|value| refer(value, notes)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AC-01.
    #[test]
    fn media_of_gemini_leave_a_note_in_either_spelling() {
        let mut content = json!({ "role": "user", "parts": [
            { "inlineData": { "mimeType": "image/png", "data": "AAAA" } },
            { "inline_data": { "mime_type": "audio/wav", "data": "AAAA" } },
            { "fileData": { "mimeType": "application/pdf", "fileUri": "files/1", "displayName": "plan.pdf" } },
            { "file_data": { "mime_type": "video/mp4", "file_uri": "files/2" }, "videoMetadata": { "fps": 1 } },
            { "inlineData": { "mimeType": "image/png", "data": "AAAA" }, "thought": true, "thoughtSignature": "c2ln" },
            { "text": "what is it?" },
            { "functionResponse": { "id": "c1", "name": "look", "response": { "output": "seen" } } },
        ]});
        assert_eq!(drop_media(&mut content, Shape::Gemini), 5);
        assert_eq!(
            content["parts"],
            json!([
                { "text": "[image dropped]" },
                { "text": "[audio dropped]" },
                { "text": "[file dropped: plan.pdf]" },
                { "text": "[video dropped]" },
                { "text": "[image dropped]", "thought": true },
                { "text": "what is it?" },
                { "functionResponse": { "id": "c1", "name": "look", "response": { "output": "seen" } } },
            ])
        );
        assert_eq!(drop_media(&mut content, Shape::Gemini), 0);
    }

    /// Only media may stand in the parts of a result, so its answer says what was there.
    #[test]
    fn media_in_a_result_of_gemini_leave_a_note_in_its_answer() {
        let mut content = json!({ "role": "user", "parts": [{ "functionResponse": {
            "name": "shot",
            "response": { "page": [{ "$ref": "a.png" }, { "$ref": "kept" }] },
            "parts": [{ "inlineData": { "mimeType": "image/png", "displayName": "a.png", "data": "AAAA" } }],
        } }] });
        assert_eq!(drop_media(&mut content, Shape::Gemini), 1);
        let result = &content["parts"][0]["functionResponse"];
        let note = "[image dropped: a.png]";
        let answer = json!({ "page": [note, { "$ref": "kept" }], "dropped": note });
        assert_eq!(*result, json!({ "name": "shot", "response": answer }));
    }

    /// AC-01.
    #[test]
    fn pictures_leave_a_note_in_every_shape() {
        let mut item = json!({ "role": "user", "content": [
            { "type": "image", "source": { "type": "base64", "data": "AAAA" }, "cache_control": { "type": "ephemeral" } },
            { "type": "tool_result", "tool_use_id": "t1", "content": [{ "type": "image", "source": {} }, { "type": "text", "text": "seen" }] },
            { "type": "document", "title": "Report", "source": { "type": "base64", "data": "AAAA" } },
            { "type": "document", "source": { "type": "text", "data": "words" } },
            { "type": "hologram", "data": 1 },
        ]});
        assert_eq!(drop_media(&mut item, Shape::Anthropic), 3);
        assert_eq!(
            item["content"],
            json!([
                { "type": "text", "text": "[image dropped]", "cache_control": { "type": "ephemeral" } },
                { "type": "tool_result", "tool_use_id": "t1", "content": [{ "type": "text", "text": "[image dropped]" }, { "type": "text", "text": "seen" }] },
                { "type": "text", "text": "[document dropped: Report]" },
                { "type": "document", "source": { "type": "text", "data": "words" } },
                { "type": "hologram", "data": 1 },
            ])
        );
        let mut chat =
            json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:…" } }] });
        assert_eq!(drop_media(&mut chat, Shape::Chat), 1);
        assert_eq!(chat["content"][0], json!({ "type": "text", "text": "[image dropped]" }));
        let mut output = json!({ "type": "function_call_output", "call_id": "c", "output": [{ "type": "input_image", "image_url": "data:…" }] });
        assert_eq!(drop_media(&mut output, Shape::Responses), 1);
        assert_eq!(output["output"][0], json!({ "type": "input_text", "text": "[image dropped]" }));
    }
}
