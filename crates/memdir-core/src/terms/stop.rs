//! Words that stand in every sentence and find nothing.

/// Sorted: looked up by halves, with nothing to build first.
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

/// Says whether a word, in lower case, finds nothing.
pub fn is_stop_word(word: &str) -> bool {
    is_english(word) || is_german(word) || is_french(word) || is_spanish(word)
}

pub(super) fn is_english(word: &str) -> bool {
    ENGLISH.binary_search(&word).is_ok()
}

pub(super) fn is_german(word: &str) -> bool {
    GERMAN.binary_search(&word).is_ok()
}

pub(super) fn is_french(word: &str) -> bool {
    FRENCH.binary_search(&word).is_ok()
}

pub(super) fn is_spanish(word: &str) -> bool {
    SPANISH.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(ENGLISH.is_sorted(), "English");
        assert!(GERMAN.is_sorted(), "German");
        assert!(FRENCH.is_sorted(), "French");
        assert!(SPANISH.is_sorted(), "Spanish");
    }
}
