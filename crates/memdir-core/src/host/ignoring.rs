//! Whether the user asks to leave memory aside, or to take it up again.
//!
//! Said of memory as a whole, as an order, at the beginning of a sentence: "ignore memory for this task". A prompt that
//! only speaks of memory ("the cache ignores memory pressure", "fix the memory leak") asks for nothing.

/// What may stand before the order.
const POLITE: [&str; 14] = [
    "please",
    "now",
    "ok",
    "okay",
    "for this session",
    "for now",
    "from now on",
    "just",
    "bitte",
    "jetzt",
    "and",
    "so",
    "you can",
    "you may",
];
/// Orders to leave it aside; what follows must be the end, or say for how long.
const ASIDE: [&str; 22] = [
    "ignore memory",
    "ignore your memory",
    "ignore all memory",
    "ignore all memories",
    "ignore your memories",
    "ignore the memory",
    "ignore saved memories",
    "do not use memory",
    "don't use memory",
    "do not use your memory",
    "don't use your memory",
    "don't use memories",
    "do not use memories",
    "work without memory",
    "ignoriere dein gedächtnis",
    "ignoriere das gedächtnis",
    "ignoriere die erinnerungen",
    "ignoriere alle erinnerungen",
    "메모리를 무시해",
    "메모리는 무시해",
    "기억을 무시해",
    "메모리 무시해",
];
/// Orders to take it up again.
const AGAIN: [&str; 10] = [
    "use memory again",
    "use your memory again",
    "stop ignoring memory",
    "stop ignoring your memory",
    "you can use memory again",
    "nutze dein gedächtnis wieder",
    "benutze dein gedächtnis wieder",
    "nutze die erinnerungen wieder",
    "메모리를 다시 사용해",
    "기억을 다시 사용해",
];
/// How an order may go on.
const FOR_HOW_LONG: [&str; 22] = [
    "for",
    "here",
    "now",
    "please",
    "today",
    "in this",
    "from",
    "until",
    "while",
    "when",
    "during",
    "and",
    "about",
    "this",
    "entirely",
    "completely",
    "für",
    "hier",
    "bitte",
    "in dieser",
    "주세요",
    "줘",
];

/// Says whether a prompt asks to leave memory aside (`true`) or to use it again (`false`).
pub fn asks_to_ignore(prompt: &str) -> Option<bool> {
    let prompt = prompt.to_lowercase().replace('’', "'");
    let sentences = prompt.split(['.', '!', '?', '\n', ';', ':', ',']);
    sentences.rev().find_map(|sentence| {
        let order = without_politeness(sentence.trim());
        let is_order = |orders: &[&str]| {
            orders
                .iter()
                .filter_map(|words| order.strip_prefix(words))
                .any(|rest| ends_or_goes_on(rest.trim_start(), rest))
        };
        if is_order(&AGAIN) {
            return Some(false);
        }
        is_order(&ASIDE).then_some(true)
    })
}

fn without_politeness(mut sentence: &str) -> &str {
    while let Some(rest) = POLITE.iter().find_map(|word| sentence.strip_prefix(word)?.strip_prefix(' ')) {
        sentence = rest.trim_start();
    }
    sentence
}

/// An order about memory ends there or says for how long; "ignore memory pressure" is about something else.
fn ends_or_goes_on(rest: &str, whole: &str) -> bool {
    let is_word_end = whole.is_empty() || !whole.starts_with(|c: char| c.is_ascii_alphanumeric());
    let goes_on = |word: &&str| {
        rest.strip_prefix(*word).is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    is_word_end && (rest.is_empty() || FOR_HOW_LONG.iter().any(goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R1-03, F5.
    #[test]
    fn an_order_about_memory_is_understood() {
        for prompt in [
            "ignore memory",
            "Please ignore your memory for this session.",
            "Fix the login page. Don’t use memory here!",
            "ok, ignore all memories from now on and start fresh",
            "Bitte ignoriere dein Gedächtnis für diese Aufgabe",
            "이 작업에서는, 메모리를 무시해 주세요",
        ] {
            assert_eq!(asks_to_ignore(prompt), Some(true), "{prompt}");
        }
        assert_eq!(asks_to_ignore("Ignore memory. No wait, use memory again."), Some(false));
        assert_eq!(asks_to_ignore("stop ignoring memory please"), Some(false));
    }

    #[test]
    fn speaking_of_memory_is_no_order() {
        for prompt in [
            "the allocator should ignore memory pressure",
            "ignore memory leaks in the test binary",
            "fix the memory leak",
            "why do you ignore memory limits in the pod spec?",
            "add a flag to ignore memoryless nodes",
            "what did we decide about memory?",
        ] {
            assert_eq!(asks_to_ignore(prompt), None, "{prompt}");
        }
    }
}
