//! In which language a text is written.

use super::kind::Kind;
use super::token::Token;

/// A language we read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// English, and whatever we do not recognise.
    English,
    /// German.
    German,
    /// Korean.
    Korean,
}

const GERMAN: &[&str] = &[
    "der",
    "das",
    "dem",
    "den",
    "des",
    "ein",
    "eine",
    "einen",
    "einem",
    "einer",
    "eines",
    "und",
    "oder",
    "aber",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "keiner",
    "ist",
    "sind",
    "wird",
    "werden",
    "wurde",
    "wurden",
    "haben",
    "habe",
    "hatte",
    "ich",
    "du",
    "er",
    "wir",
    "ihr",
    "uns",
    "mir",
    "mich",
    "dir",
    "dich",
    "mein",
    "meine",
    "unser",
    "unsere",
    "dein",
    "deine",
    "für",
    "mit",
    "auf",
    "von",
    "vom",
    "zum",
    "zur",
    "zu",
    "bei",
    "beim",
    "nach",
    "vor",
    "aus",
    "über",
    "unter",
    "durch",
    "ohne",
    "gegen",
    "im",
    "ins",
    "als",
    "wie",
    "wenn",
    "weil",
    "dass",
    "damit",
    "sondern",
    "statt",
    "auch",
    "nur",
    "noch",
    "schon",
    "immer",
    "nie",
    "niemals",
    "bitte",
    "soll",
    "sollen",
    "sollte",
    "muss",
    "müssen",
    "kann",
    "können",
    "darf",
    "dürfen",
    "jetzt",
    "gerade",
    "dort",
    "hier",
    "diese",
    "dieser",
    "dieses",
    "alle",
    "jede",
    "jeder",
    "jedes",
    "bis",
    "seit",
    "wegen",
    "um",
    "sich",
    "man",
    "es",
    "sie",
    "erst",
    "zuerst",
    "beides",
    "läuft",
    "liegt",
    "findet",
    "steht",
    "gibt",
    "verwenden",
    "verwende",
    "nutze",
    "nutzen",
    "benutze",
    "kein",
    "mehr",
    "die",
    "dann",
];

const ENGLISH: &[&str] = &[
    "the", "a", "an", "and", "or", "but", "not", "is", "are", "was", "were", "be", "been", "has", "have",
    "had", "i", "you", "he", "she", "it", "we", "they", "my", "our", "your", "their", "for", "with", "on",
    "of", "from", "to", "at", "by", "in", "into", "over", "under", "through", "without", "as", "if",
    "because", "that", "this", "these", "those", "which", "who", "when", "where", "only", "always", "never",
    "please", "should", "must", "can", "may", "will", "would", "don't", "do", "does", "did", "no", "all",
    "every", "each", "until", "since", "before", "after", "use", "run", "then", "i'm", "it's", "we're",
    "there", "instead", "than", "its",
];

/// How the words of a text spread over the languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mix {
    korean: bool,
    german: usize,
    english: usize,
}

impl Mix {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let words =
            || tokens.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text.as_str());
        let count = |list: &[&str]| words().filter(|word| list.contains(word)).count();
        let umlauts = words().filter(|word| word.contains(['ä', 'ö', 'ü', 'ß'])).count();
        Self {
            korean: words().any(|word| word.contains(is_hangul)),
            german: count(GERMAN) + umlauts,
            english: count(ENGLISH),
        }
    }

    /// Returns the language that most of it is in.
    pub(super) fn main(self) -> Language {
        if self.korean {
            Language::Korean
        } else if self.german > self.english {
            Language::German
        } else {
            Language::English
        }
    }

    /// Says whether words of this language are to be looked for: a text may mix two.
    pub(super) fn has(self, language: Language) -> bool {
        match language {
            Language::Korean => self.korean,
            Language::German => !self.korean && self.german > 0 && self.german * 2 >= self.english,
            Language::English => !self.korean && (self.german == 0 || self.english * 2 >= self.german),
        }
    }
}

/// Says whether a character is Korean writing.
pub(super) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}')
}
