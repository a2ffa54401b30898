//! Memories that nobody wrote, as many as are wanted, always the same.
//!
//! Words are drawn like those of a language: few often, most seldom. Each memory has a topic, so that prompts have
//! something to find.

use std::path::Path;

use memdir_core::memory::{Document, Memory, MemoryPath};
use memdir_core::recall::Note;

/// How many different words there are.
const N_WORDS: u64 = 50_000;
const SYLLABLES: [&str; 24] = [
    "ba", "cor", "den", "fi", "gar", "hel", "in", "jo", "kal", "lu", "mer", "nor", "op", "par", "qui", "ros",
    "sen", "tor", "ul", "ver", "wex", "yo", "zan", "tri",
];
/// Words that the binary knows the meaning of.
const TOPICS: [&str; 24] = [
    "database",
    "migration",
    "deployment",
    "test",
    "cache",
    "login",
    "invoice",
    "queue",
    "parser",
    "container",
    "branch",
    "release",
    "backup",
    "certificate",
    "timeout",
    "memory",
    "thread",
    "editor",
    "font",
    "payment",
    "search",
    "image",
    "mail",
    "calendar",
];

/// Draws numbers that follow from a seed (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[(self.next() % texts.len() as u64) as usize]
    }

    /// Draws a word, the k-th most frequent with a chance of 1/k.
    fn word(&mut self) -> String {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut rank = (N_WORDS as f64).powf(unit) as u64;
        let mut word = String::new();
        loop {
            word.push_str(SYLLABLES[(rank % SYLLABLES.len() as u64) as usize]);
            rank /= SYLLABLES.len() as u64;
            if rank == 0 {
                return word;
            }
        }
    }

    fn words(&mut self, n: usize) -> String {
        (0..n).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the name and the file of the memory with a number.
pub(super) fn memory(number: usize) -> (String, String) {
    let mut random = Random(number as u64);
    let kind = ["user", "feedback", "project", "reference"][number % 4];
    let name = format!("{kind}-note-{number}");
    let (first, second) = (random.one_of(&TOPICS), random.one_of(&TOPICS));
    let description = format!("The {first} and the {second}: {}", random.words(6));
    let text = format!(
        "---\nname: {name}\ndescription: \"{description}\"\ntype: {kind}\nmetadata:\n  created: 2026-04-01T10:30:00Z\n  \
         modified: 2026-04-01T10:30:00Z\n  provenance: user\n---\n\nThe {first} {}.\n\n**Why:** the {second} {}.\n",
        random.words(12),
        random.words(8),
    );
    (name, text)
}

/// Returns the note of the memory with a number, read as every file is read.
pub(super) fn note(number: usize) -> Option<Note> {
    let (name, text) = memory(number);
    let path = MemoryPath::new(&format!("{name}.md")).ok()?;
    let document = Document::parse(text.as_bytes());
    let (memory, _) = Memory::read(&path, &document);
    Some(Note::of(&memory, &document))
}

/// Returns a prompt; every other one is about a memory of the first `n`.
pub(super) fn prompt(number: usize, n: usize) -> String {
    let mut random = Random(u64::MAX - number as u64);
    let (first, second) = (random.one_of(&TOPICS), random.one_of(&TOPICS));
    if number.is_multiple_of(2) {
        return format!("why does the {first} fail after the {second} was changed {}", random.words(2));
    }
    let about = memory((random.next() % n.max(1) as u64) as usize).1;
    let about: Vec<&str> =
        about.lines().nth(2).unwrap_or_default().split_whitespace().rev().take(3).collect();
    let about = about.join(" ").replace('"', "");
    format!("what do we know about the {first} {about}")
}

/// Writes memories into a directory as another program would.
pub(super) fn write(dir: &Path, n: usize, mut done: impl FnMut(usize)) -> std::io::Result<()> {
    for number in 0..n {
        let (name, text) = memory(number);
        std::fs::write(dir.join(format!("{name}.md")), text)?;
        done(number);
    }
    Ok(())
}

/// Replaces a memory by a new file, as most programs save.
pub(super) fn replace(dir: &Path, number: usize, n: usize) -> std::io::Result<()> {
    let (name, text) = memory(number % n.max(1));
    let new = dir.join("new.tmp");
    std::fs::write(&new, format!("{text}\nReplaced.\n"))?;
    std::fs::rename(new, dir.join(format!("{name}.md")))
}
