//! A key that one debugging story keeps however it is told again.
//!
//! Numbers, paths, addresses and quotes change from one time to the next; the words of the error do not. So the key is
//! a hash of the telling words around the failure, in no order, and says nothing about the text to who reads it.

use std::collections::BTreeSet;

use super::trace;
use super::words::{Words, listed};
use crate::hash::ContentHash;

/// As many words make the key: an error's own, not the essay about it.
const MAX_WORDS: usize = 12;

/// Words that belong to the telling, not to the failure.
static TELLING: Words = Words::new(|| {
    listed(
        "the and was were with when then that this from after before fixed solved solution error errors failed \
         fails failure again today yesterday because into have had has got get gets did does done not but for you \
         our they there just only very took hour hours minutes der die das und mit wenn dann nach vor ist war hat \
         haben nicht ein eine einen fehler gelöst lösung",
    )
});

/// Returns the key of the story that `text` tells.
pub fn fingerprint(text: &str) -> String {
    // A pasted failure tells itself; what people write before it differs each time.
    let start = trace::pasted(text).and_then(|(_, line)| text.find(line)).unwrap_or(0);
    let words = words(&text[start..]);
    let joined: Vec<String> = words.into_iter().collect();
    ContentHash::of(joined.join(" ").as_bytes()).short()
}

/// Returns the first telling words, sorted.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for run in text.split(char::is_whitespace) {
        let run = run.trim_matches(|c: char| !c.is_alphanumeric());
        let is_path = run.contains('/') || run.contains('\\') || run.contains("::");
        let is_number = run.contains(|c: char| c.is_ascii_digit());
        if is_path || is_number {
            continue;
        }
        for word in run.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase) {
            if word.chars().count() >= 2 && !TELLING.contains(word.as_str()) && words.len() < MAX_WORDS {
                words.insert(word);
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn a_story_keeps_its_key_when_numbers_and_paths_change() {
        let first =
            "thread 'main' panicked at src/a.rs:9:41:\ncalled `unwrap()` on an `Err` value: PoolTimedOut";
        let again =
            "thread 'main' panicked at /srv/b.rs:10:1:\ncalled `unwrap()` on an `Err` value: PoolTimedOut";
        assert_eq!(fingerprint(first), fingerprint(again));
        let told = "The build failed with 'Duplicate class kotlin.collections' after 3 minutes";
        assert_eq!(
            fingerprint(told),
            fingerprint("the build fails: Duplicate class kotlin.collections, after 12 minutes")
        );
        assert_ne!(fingerprint(told), fingerprint("The build failed with 'Missing class kotlin.io'"));
    }
}
