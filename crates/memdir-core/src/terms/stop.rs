//! Words that stand in every sentence and find nothing.
//!
//! Every word of every text is asked for, more than once, so the lists are joined into one table when the program is
//! compiled, and most words are told apart from them by one look.

const ENGLISH: &[&str] = &[
    "a",
    "about",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "couldn",
    "did",
    "didn",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "down",
    "each",
    "few",
    "for",
    "from",
    "get",
    "gets",
    "getting",
    "give",
    "go",
    "goes",
    "going",
    "got",
    "had",
    "has",
    "have",
    "having",
    "he",
    "help",
    "her",
    "here",
    "hers",
    "hey",
    "hi",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "isn",
    "it",
    "its",
    "just",
    "kind",
    "know",
    "let",
    "like",
    "look",
    "m",
    "make",
    "may",
    "maybe",
    "me",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "need",
    "needs",
    "no",
    "not",
    "now",
    "of",
    "off",
    "ok",
    "okay",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "own",
    "please",
    "pls",
    "re",
    "really",
    "s",
    "same",
    "see",
    "shall",
    "she",
    "should",
    "shouldn",
    "so",
    "some",
    "something",
    "still",
    "such",
    "sure",
    "t",
    "than",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "think",
    "this",
    "those",
    "through",
    "to",
    "too",
    "u",
    "under",
    "until",
    "up",
    "us",
    "ve",
    "very",
    "want",
    "was",
    "wasn",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "won",
    "would",
    "wouldn",
    "yes",
    "you",
    "your",
];
const GERMAN: &[&str] = &[
    "aber", "alle", "alles", "als", "also", "am", "an", "auch", "auf", "aus", "bei", "beim", "bin", "bis",
    "bitte", "da", "damit", "dann", "das", "dass", "dein", "dem", "den", "der", "des", "die", "dies",
    "diese", "diesem", "diesen", "dieser", "dieses", "doch", "du", "durch", "ein", "eine", "einem", "einen",
    "einer", "eines", "er", "es", "etwas", "euch", "für", "gibt", "hab", "habe", "haben", "hast", "hat",
    "hatte", "hatten", "hier", "ich", "ihr", "ihre", "im", "immer", "in", "ins", "ist", "ja", "jetzt",
    "kann", "kein", "keine", "können", "mach", "machen", "mal", "man", "mein", "meine", "mich", "mir", "mit",
    "muss", "müssen", "nach", "nicht", "noch", "nur", "ob", "oder", "ohne", "schon", "sein", "seine", "sich",
    "sie", "sind", "so", "soll", "sollen", "sollte", "sollten", "um", "und", "uns", "unser", "unsere", "vom",
    "von", "vor", "war", "waren", "warum", "was", "weil", "welche", "welchen", "welcher", "wenn", "wer",
    "werden", "wie", "will", "wir", "wird", "wo", "wollen", "wurde", "würde", "zu", "zum", "zur", "über",
];
const FRENCH: &[&str] = &[
    "au", "aux", "avec", "ce", "ces", "cette", "comment", "dans", "de", "des", "du", "elle", "en", "est",
    "et", "il", "je", "la", "le", "les", "leur", "mais", "ne", "notre", "nous", "ou", "par", "pas", "plus",
    "pour", "quand", "que", "quel", "quelle", "qui", "sans", "se", "ses", "son", "sont", "sur", "tu", "un",
    "une", "vous", "y", "à", "être",
];
const SPANISH: &[&str] = &[
    "al", "con", "cual", "cuando", "cómo", "de", "del", "el", "en", "es", "hay", "la", "las", "lo", "los",
    "mi", "más", "nos", "para", "pero", "por", "que", "qué", "se", "ser", "sin", "son", "su", "tu", "un",
    "una", "y",
];

const LISTS: [&[&str]; 4] = [ENGLISH, GERMAN, FRENCH, SPANISH];

/// The lists that a word stands in, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lists(u8);

impl Lists {
    pub(super) fn is_english(self) -> bool {
        self.0 & 1 != 0
    }

    pub(super) fn is_german(self) -> bool {
        self.0 & 1 << 1 != 0
    }

    pub(super) fn is_french(self) -> bool {
        self.0 & 1 << 2 != 0
    }

    pub(super) fn is_spanish(self) -> bool {
        self.0 & 1 << 3 != 0
    }
}

/// Three times as many slots as there are words, so that a word of no list meets an empty one at once.
const N_SLOTS: usize = 1 << 10;
/// Where a word stands: its list, and its number in the list plus one; nothing in an empty slot.
static SLOTS: [(u8, u8); N_SLOTS] = slots();

const fn slots() -> [(u8, u8); N_SLOTS] {
    let mut slots = [(0, 0); N_SLOTS];
    let mut list = 0;
    while list < LISTS.len() {
        let mut at = 0;
        while at < LISTS[list].len() {
            let mut slot = slot_of(LISTS[list][at].as_bytes());
            while slots[slot].1 != 0 {
                slot = (slot + 1) % N_SLOTS;
            }
            slots[slot] = (list as u8, at as u8 + 1);
            at += 1;
        }
        list += 1;
    }
    slots
}

/// FNV-1a, folded to the number of slots.
const fn slot_of(word: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < word.len() {
        hash = (hash ^ word[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ hash >> 16) as usize % N_SLOTS
}

/// Returns the lists that a word stands in.
pub(super) fn lists_of(word: &str) -> Lists {
    let mut slot = slot_of(word.as_bytes());
    let mut lists = 0;
    while let (list, at @ 1..) = SLOTS[slot] {
        if LISTS[usize::from(list)][usize::from(at) - 1] == word {
            lists |= 1 << list;
        }
        slot = (slot + 1) % N_SLOTS;
    }
    Lists(lists)
}

/// Says whether a word, in lower case, finds nothing.
pub fn is_stop_word(word: &str) -> bool {
    lists_of(word) != Lists(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_the_words_of_each_list_and_no_others() {
        let asks = [Lists::is_english, Lists::is_german, Lists::is_french, Lists::is_spanish];
        for word in LISTS.concat().into_iter().chain(["", "database", "zzz", "the ", "THE"]) {
            for (list, ask) in LISTS.iter().zip(asks) {
                assert_eq!(ask(lists_of(word)), list.contains(&word), "{word}");
            }
        }
        assert!(LISTS.iter().all(|list| list.len() < usize::from(u8::MAX)));
    }
}
