//! What memdir put before the model: its frames, its instructions, and where they stand in a request.

use memdir_testkit::Request;

/// The first words of our instructions.
pub(crate) const INSTRUCTIONS: &str = "This machine keeps memory for you between sessions";

/// A framed text of ours in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Which of the things said in the request holds it.
    pub(crate) at: usize,
    /// What stands between the two marks.
    pub(crate) text: String,
}

/// Every frame of a request, in order; panics if one is not closed with its own mark.
pub(crate) fn frames(request: &Request) -> Vec<Frame> {
    let mut frames = Vec::new();
    for (at, spoken) in request.spoken().iter().enumerate().filter(|(_, spoken)| spoken.role != "assistant") {
        let mut rest = spoken.text.as_str();
        while let Some((_, after)) = rest.split_once("[memdir ") {
            let (id, inner) =
                after.split_once("]\n").unwrap_or_else(|| panic!("a mark without an end: {after}"));
            let (text, beyond) = inner
                .split_once(&format!("[/memdir {id}]"))
                .unwrap_or_else(|| panic!("a frame that is not closed: {inner}"));
            frames.push(Frame { at, text: text.to_owned() });
            rest = beyond;
        }
    }
    frames
}

/// The frames of a request that hold this text.
pub(crate) fn frames_with(request: &Request, text: &str) -> Vec<Frame> {
    frames(request).into_iter().filter(|frame| frame.text.contains(text)).collect()
}

/// What the session was told when it began: from the first word of our instructions to the end of what holds them.
pub(crate) fn briefing(request: &Request) -> String {
    let told = request.spoken().iter().find_map(|spoken| {
        let at = spoken.text.find(INSTRUCTIONS)?;
        Some(spoken.text[at..].to_owned())
    });
    told.unwrap_or_else(|| panic!("no instructions of ours in {}", outline(request)))
}

/// Where something that contains this text was said first.
pub(crate) fn position(request: &Request, text: &str) -> usize {
    let at = request.spoken().iter().position(|spoken| spoken.text.contains(text));
    at.unwrap_or_else(|| panic!("`{text}` is nowhere in {}", outline(request)))
}

/// A line for each thing said, for messages of failed tests.
pub(crate) fn outline(request: &Request) -> String {
    let lines = request.spoken().iter().map(|spoken| {
        let text: String = spoken.text.chars().take(160).collect();
        format!("  {} {}: {}\n", spoken.message, spoken.role, text.replace('\n', " "))
    });
    format!("{} {}\n{}", request.method(), request.path(), lines.collect::<String>())
}
