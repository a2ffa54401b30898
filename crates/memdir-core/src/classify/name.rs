//! Names for new memories: a few telling words of what they say.

use super::romanize::romanize;
use crate::korean::PARTICLES;
use crate::memory::{MemoryName, MemoryType};
use crate::statement::is_outside_system;

/// How many words follow the type.
const MAX_WORDS: usize = 4;
/// How long they may be together; a name is read in lists.
const MAX_LENGTH: usize = 44;
/// How many tags we propose.
const MAX_TAGS: usize = 4;

/// Words that tell nothing in a name.
const STOP_WORDS: &[&str] = &[
    "a", "an", "the", "and", "or", "but", "if", "of", "to", "in", "on", "at", "for", "with", "from", "by",
    "as", "is", "are", "was", "were", "be", "been", "it", "its", "this", "that", "these", "those", "i", "im",
    "ive", "me", "my", "we", "our", "us", "you", "your", "he", "she", "they", "their", "do", "does", "did",
    "dont", "not", "no", "will", "would", "should", "must", "can", "could", "may", "have", "has", "had",
    "always", "never", "only", "please", "when", "then", "than", "so", "also", "just", "all", "any", "each",
    "every", "some", "there", "here", "how", "what", "which", "who", "where", "why", "because", "since",
    "after", "before", "until", "into", "over", "up", "out", "about", "more", "less", "very", "too", "now",
    "yes", "ok", "want", "use", "like", "get", "go", "make", "let", "keep", "stop", "am", "id", "ill",
    "instead", "rather", "isnt", "thats", "one", "der", "die", "das", "den", "dem", "des", "ein", "eine",
    "einen", "einem", "einer", "und", "oder", "aber", "nicht", "kein", "keine", "keinen", "ist", "sind",
    "war", "wird", "werden", "wurde", "haben", "hat", "ich", "du", "er", "sie", "es", "wir", "ihr", "uns",
    "mir", "mich", "dir", "dich", "mein", "meine", "unser", "unsere", "dein", "deine", "deinen", "fuer",
    "mit", "auf", "von", "vom", "zum", "zur", "zu", "bei", "beim", "nach", "vor", "aus", "ueber", "unter",
    "durch", "ohne", "im", "ins", "als", "wie", "wenn", "weil", "dass", "damit", "statt", "auch", "nur",
    "noch", "immer", "nie", "bitte", "soll", "muss", "kann", "alle", "jede", "jeder", "bis", "seit", "wegen",
    "um", "sich", "man", "mehr", "hier", "so", "bin", "habe", "an", "da", "am", "gibt",
];

/// Makes a name out of what a memory says, one that none of `taken` has.
pub(super) fn name(memory_type: MemoryType, point: &str, taken: &[String]) -> MemoryName {
    let mut words: Vec<String> = Vec::new();
    for word in content_words(point) {
        let length: usize = words.iter().map(|word| word.len() + 1).sum();
        if words.len() == MAX_WORDS || length + word.len() > MAX_LENGTH {
            break;
        }
        if !words.contains(&word) && word != memory_type.as_str() {
            words.push(word);
        }
    }
    if words.is_empty() {
        words.push("note".to_owned());
    }
    unique(&format!("{memory_type}-{}", words.join("-")), taken)
}

fn content_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'))
        .map(|word| romanize(stem(word)))
        .filter(|word| !word.is_empty() && !STOP_WORDS.contains(&word.as_str()))
        .filter(|word| word.len() > 1 || word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Takes a particle off a Korean word, and off an English name that carries one.
fn stem(word: &str) -> &str {
    let particle = PARTICLES.iter().find_map(|particle| word.strip_suffix(particle));
    particle.filter(|rest| rest.chars().count() > 1).unwrap_or(word)
}

fn unique(wanted: &str, taken: &[String]) -> MemoryName {
    let numbered = (1..).map(|n| if n == 1 { wanted.to_owned() } else { format!("{wanted}-{n}") });
    let free = numbered.filter(|name| !taken.iter().any(|taken| taken.eq_ignore_ascii_case(name)));
    free.flat_map(|name| MemoryName::new(&name))
        .next()
        .expect("a type and plain words make a name, and numbers never end")
}

/// Finds words to tag it with: the outside systems and channels it names.
pub(super) fn tags(text: &str) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '#')) {
        let channel =
            word.strip_prefix('#').filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        let tag = romanize(channel.unwrap_or(word));
        let tells = channel.is_some() || is_outside_system(word);
        if tells && !tag.is_empty() && !tags.contains(&tag) && tags.len() < MAX_TAGS {
            tags.push(tag);
        }
    }
    tags
}
