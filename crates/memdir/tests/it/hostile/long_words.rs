//! Texts without an end: a megabyte with no space, of one mark, of brackets that nothing closes.
//!
//! Whoever pastes a bundle, a key or a line of data must get an answer, from the gates and from everything else that reads
//! text. A step that costs the square of a word's length would take hours here, so no time is asserted: it would not end.

use memdir_testkit::Sandbox;

use crate::setup::{run_or_give_up, sandbox};

/// Beyond this a memory is refused by its size; up to it the gates read all of it.
const LARGEST: usize = 100_000;
/// What prompts, questions and transcripts may hold.
const HUGE: usize = 4_000_000;

/// What a text is made of, again and again.
const SHAPES: [(&str, &str); 16] = [
    ("one letter", "a"),
    ("one mark", "!"),
    ("full stops", "."),
    ("a full stop in a word", ".*a"),
    ("dashes", "a-a-"),
    ("a path", "/a/a"),
    ("digits", "7"),
    ("no space", "数据库测试"),
    ("emoji", "🎉"),
    ("back-ticks", "`"),
    ("spans of code", "`a` "),
    ("brackets", "[["),
    ("parentheses", "(("),
    ("closed and never opened", "a))))))))"),
    ("interjections", "no, "),
    ("line breaks", "\n"),
];

fn text(part: &str, length: usize) -> String {
    part.repeat(length.div_ceil(part.len()))
}

/// Letters of base64 that follow no pattern.
fn noise(length: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[(state >> 58) as usize])
    };
    (0..length).map(|_| next()).collect()
}

fn texts(length: usize) -> impl Iterator<Item = (&'static str, String)> {
    let shaped = SHAPES.into_iter().map(move |(name, part)| (name, text(part, length)));
    shaped.chain([("base64", noise(length))])
}

/// Runs a command with a text on stdin; it answers, whatever it says.
fn answers(sandbox: &Sandbox, args: &[&str], name: &str, stdin: &str) {
    let output = run_or_give_up(sandbox.memdir(args).stdin(stdin));
    assert!(matches!(output.code, 0..=2), "{args:?} with {name}: {}", output.stderr);
    assert!(!output.stderr.contains("panicked"), "{args:?} with {name}: {}", output.stderr);
}

#[test]
fn the_gates_read_the_largest_memory_of_any_shape() {
    let sandbox = sandbox();
    for (name, text) in texts(LARGEST) {
        answers(&sandbox, &["why-not"], name, &text);
    }
}

#[test]
fn what_is_too_large_is_refused_unread() {
    let sandbox = sandbox();
    for (name, text) in texts(HUGE) {
        let output = run_or_give_up(sandbox.memdir(&["why-not"]).stdin(&text));
        assert_eq!(output.code, 1, "{name}: {output}");
        assert!(output.stderr.contains("the text is longer than 1048576 bytes"), "{name}: {output}");
    }
}

#[test]
fn prompts_of_any_shape_are_answered() {
    let sandbox = sandbox();
    sandbox.save("feedback-mocks", "Never mock the database: a migration broke that way.");
    for (name, text) in texts(HUGE) {
        let prompt =
            serde_json::json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": text});
        answers(&sandbox, &["hook", "claude-code", "UserPromptSubmit"], name, &prompt.to_string());
        answers(&sandbox, &["recall", "-"], name, &text);
    }
}
