//! The last round, where it alone is too large: its long texts are cut in the middle.
//!
//! A result that does not fit is often the very reason why a list is compacted, and the model waits for it. Words of the
//! user, answers and results of tools give way; calls, thoughts with their signatures and whatever is unknown do not.

use serde_json::Value;

use super::contents;
use super::size::{cost, head, tail};
use crate::transcript::json::text;

/// Below this a text is no longer worth keeping, in characters.
const LEAST: usize = 200;

/// Cuts the texts of items so that all of them together take at most `room` characters as JSON, with a separator each;
/// `None` if that takes more than cutting texts.
pub(super) fn fit(mut items: Vec<Value>, room: usize) -> Option<Vec<String>> {
    let total: usize = items.iter().map(|item| item.to_string().chars().count() + 1).sum();
    let mut costs = Vec::new();
    items.iter_mut().for_each(|item| visit(item, &mut |text| costs.push(cost(text))));
    let rigid = total - costs.iter().sum::<usize>();
    let longest = longest_that_fits(&costs, room.checked_sub(rigid)?)?;
    items.iter_mut().for_each(|item| visit(item, &mut |text| cut(text, longest)));
    Some(items.iter().map(Value::to_string).collect())
}

/// Returns to which length texts must be cut to take no more than `room` together.
fn longest_that_fits(costs: &[usize], room: usize) -> Option<usize> {
    let mut sorted = costs.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (nth, one) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - nth);
        if *one > share {
            return (share >= LEAST).then_some(share);
        }
        left -= one;
    }
    Some(usize::MAX)
}

/// Cuts the middle out of a text that takes more than `room`.
fn cut(text: &mut String, room: usize) {
    let whole = cost(text);
    if whole <= room {
        return;
    }
    let mark = format!("\n[… about {} characters cut …]\n", whole - room);
    let left = room.saturating_sub(cost(&mark));
    let (start, end) = (head(text, left / 4 * 3), tail(text, left / 4));
    *text = format!("{start}{mark}{end}");
}

/// Visits every text of an item that may be cut.
fn visit(item: &mut Value, cut: &mut dyn FnMut(&mut String)) {
    for key in ["content", "output"] {
        if let Some(content) = item.get_mut(key) {
            within(content, cut);
        }
    }
    for part in item.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten() {
        in_part(part, cut);
    }
}

/// Visits the words of a part of Gemini's, or the answer of the result that it is.
fn in_part(part: &mut Value, cut: &mut dyn FnMut(&mut String)) {
    if contents::is_thought(part) || contents::is_signed(part) {
        return;
    }
    if let Some(Value::String(text)) = part.get_mut("text") {
        cut(text);
    }
    for key in ["functionResponse", "function_response"] {
        if let Some(response) = part.get_mut(key).and_then(|result| result.get_mut("response")) {
            in_answer(response, cut);
        }
    }
}

fn in_answer(value: &mut Value, cut: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => cut(text),
        Value::Array(values) => values.iter_mut().for_each(|value| in_answer(value, cut)),
        Value::Object(fields) => fields.values_mut().for_each(|value| in_answer(value, cut)),
        _ => {}
    }
}

fn within(content: &mut Value, cut: &mut dyn FnMut(&mut String)) {
    match content {
        Value::String(text) => cut(text),
        Value::Array(blocks) => {
            for block in blocks {
                let key = match text(block, "type") {
                    Some("text" | "input_text" | "output_text") => "text",
                    Some("tool_result") => "content",
                    _ => continue,
                };
                if let Some(inner) = block.get_mut(key) {
                    within(inner, cut);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_texts_give_way_and_short_ones_and_calls_stay() {
        let call = json!({ "role": "assistant", "content": [
            { "type": "thinking", "thinking": "t".repeat(500), "signature": "s" },
            { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "c".repeat(500) } }] });
        let result = json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "content": format!("first {} last", "x\n".repeat(20_000)) },
            { "type": "text", "text": "and now?" }] });
        for room in [3_000, 5_000, 9_999] {
            let kept = fit(vec![call.clone(), result.clone()], room).unwrap();
            assert!(kept.iter().map(|item| item.chars().count() + 1).sum::<usize>() <= room);
            assert_eq!(kept[0], call.to_string());
            let result: Value = serde_json::from_str(&kept[1]).unwrap();
            let text = result["content"][0]["content"].as_str().unwrap();
            assert!(
                text.starts_with("first ") && text.ends_with(" last") && text.contains(" characters cut ")
            );
            assert_eq!(result["content"][1]["text"], "and now?");
        }
        assert_eq!(fit(vec![call, result], 1_300), None);
    }

    #[test]
    fn answers_of_gemini_give_way_and_what_is_signed_stays() {
        let call = json!({ "role": "model", "parts": [
            { "text": "t".repeat(500), "thought": true },
            { "text": "w".repeat(500), "thoughtSignature": "c2ln" },
            { "functionCall": { "name": "read_file", "args": { "file_path": "p".repeat(500) } } }] });
        let result = json!({ "role": "user", "parts": [{ "functionResponse": {
            "name": "read_file", "response": { "output": format!("first {} last", "x\n".repeat(20_000)) } } }] });
        let kept = fit(vec![call.clone(), result], 4_000).unwrap();
        assert!(kept.iter().map(|item| item.chars().count() + 1).sum::<usize>() <= 4_000);
        assert_eq!(kept[0], call.to_string());
        let result: Value = serde_json::from_str(&kept[1]).unwrap();
        let said = result["parts"][0]["functionResponse"]["response"]["output"].as_str().unwrap();
        assert!(said.starts_with("first ") && said.ends_with(" last") && said.contains(" characters cut "));
    }
}
