//! Pictures, sound and files inside of messages: the first to go.
//!
//! They take much room and nothing can be quoted from them. In the place of each stands a note of what it was, so that the
//! model knows that there was something and the message is still one that the API takes.

use serde_json::{Value, json};

use super::list::Shape;
use crate::transcript::json::text;

/// Takes what cannot be read as text out of an item, and returns how many there were.
pub(super) fn drop_media(item: &mut Value, shape: Shape) -> usize {
    let is_model = text(item, "role") == Some("assistant");
    let kind = match shape {
        Shape::Responses if is_model => "output_text",
        Shape::Responses => "input_text",
        Shape::Anthropic | Shape::Chat => "text",
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
    Some(match title.filter(|title| title.len() <= 200) {
        Some(title) => format!("[{what} dropped: {title}]"),
        None => format!("[{what} dropped]"),
    })
}

/// A document may be given as text, and then it is kept like text.
fn is_text(document: &Value) -> bool {
    let source = document.get("source").and_then(|source| text(source, "type"));
    matches!(source, Some("text" | "content"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
