//! Takes away what asks for remembering, so that what is to be remembered is left.

/// Ways to ask for it, in lower case. `~` stands for what may come between: `this`, `bitte`, nothing.
const ASKING: &[&str] = &[
    "remember",
    "memorize",
    "memorise",
    "note",
    "note down",
    "make a note",
    "take note",
    "save",
    "save to memory",
    "store",
    "keep in mind",
    "don't forget",
    "do not forget",
    "never forget",
    "add to memory",
    "add to your memory",
    "write down",
    "for the record",
    "for future reference",
    "fyi",
    "note to self",
    "record",
    "bear in mind",
    "commit to memory",
    "put in memory",
    "update memory",
    "merk dir",
    "merke dir",
    "merken",
    "bitte merken",
    "merkt euch",
    "denk daran",
    "denk dran",
    "denke daran",
    "speichere",
    "speicher",
    "speichern",
    "notiere",
    "notier",
    "notiz",
    "vergiss nicht",
    "behalte im kopf",
    "behalte",
    "zur info",
    "halte fest",
    "für später",
    "schreib auf",
    "schreib dir auf",
    "festhalten",
    "기억해 줘",
    "기억해줘",
    "기억해 주세요",
    "기억해주세요",
    "기억해 둬",
    "기억해둬",
    "기억해",
    "기억하세요",
    "기억할 것",
    "저장해 줘",
    "저장해줘",
    "저장해 주세요",
    "저장해주세요",
    "저장",
    "메모해 줘",
    "메모해줘",
    "메모해 주세요",
    "메모",
    "잊지 마",
    "잊지마",
    "잊지 마세요",
    "참고로",
    "적어 둬",
    "적어둬",
];

/// The ways that mean memory and nothing else: who says "note" or "save" may mean a file.
const PLAIN: &[&str] = &[
    "remember",
    "memorize",
    "memorise",
    "keep in mind",
    "bear in mind",
    "don't forget",
    "do not forget",
    "never forget",
    "add to memory",
    "add to your memory",
    "save to memory",
    "commit to memory",
    "put in memory",
    "merk dir",
    "merke dir",
    "merkt euch",
    "denk daran",
    "denk dran",
    "denke daran",
    "vergiss nicht",
    "기억해 줘",
    "기억해줘",
    "기억해 주세요",
    "기억해주세요",
    "기억해 둬",
    "기억해둬",
    "기억해",
    "잊지 마",
    "잊지마",
    "잊지 마세요",
];

/// What may stand before it.
const BEFORE: &[&str] = &[
    "please",
    "hey",
    "ok",
    "okay",
    "claude",
    "can you",
    "could you",
    "bitte",
    "hey claude",
    "also",
    "kannst du",
    "이거",
    "이것 좀",
    "이걸",
];

/// What may stand between it and the text.
const BETWEEN: &[&str] = &[
    "this",
    "that",
    "please",
    "for later",
    "for next time",
    "for me",
    "the following",
    "as memory",
    "as a memory",
    "to memory",
    "in memory",
    "to your memory",
    "in your memory",
    "bitte",
    "dass",
    "das",
    "folgendes",
    "für mich",
    "dir",
    "daran",
    "to",
    "것",
];

/// Returns the text without an introduction such as "please remember that …".
pub(super) fn strip(text: &str) -> String {
    let rest = skip_all(text, BEFORE);
    let Some(asked) = skip_longest(rest, ASKING) else { return without_ending(text).to_owned() };
    let rest = skip_all(asked, BETWEEN);
    let separated = rest.trim_start_matches([':', ',', '-', '—', '–', ' ', '\n', '.', '!']);
    let marked = separated.len() < rest.trim_start().len();
    let introduced = rest.len() < asked.trim_start().len();
    // "Save files in UTF-8" is a rule, "save: files are in UTF-8" is not.
    if separated.is_empty() || !(marked || introduced) {
        return without_ending(text).to_owned();
    }
    capitalized(without_ending(separated))
}

/// Says whether a message asks to remember what it says, in so many words.
pub(super) fn asks(text: &str) -> bool {
    let text = text.trim().replace('’', "'");
    let begins = skip_longest(skip_all(&text, BEFORE), PLAIN).is_some() && strip(&text) != text;
    let ends =
        || without_ending(&text).len() < text.len() && PLAIN.iter().any(|asking| ends_with(&text, asking));
    !text.ends_with('?') && (begins || ends())
}

fn ends_with(text: &str, asking: &str) -> bool {
    text.trim_end_matches(['.', '!', ' ']).ends_with(asking)
}

/// Korean asks at the end as well.
fn without_ending(text: &str) -> &str {
    let trimmed = text.trim_end().trim_end_matches(['.', '!']);
    for asking in ASKING.iter().filter(|asking| !asking.is_ascii()) {
        if let Some(rest) = trimmed.strip_suffix(asking) {
            let rest = rest.trim_end();
            if rest.ends_with(['.', '!', '。', ',']) {
                return rest.trim_end_matches(',');
            }
        }
    }
    text
}

fn skip_all<'a>(mut text: &'a str, words: &[&str]) -> &'a str {
    while let Some(rest) = skip_longest(text.trim_start_matches([',', ' ']), words) {
        text = rest;
    }
    text
}

/// Skips the longest of the phrases with which a text begins, whole words only.
fn skip_longest<'a>(text: &'a str, phrases: &[&str]) -> Option<&'a str> {
    let text = text.trim_start();
    let fits = |phrase: &&&str| {
        let Some(head) = text.get(..phrase.len()) else { return false };
        let whole = !text[phrase.len()..].starts_with(char::is_alphanumeric);
        head.to_lowercase() == ***phrase && whole
    };
    let longest = phrases.iter().filter(fits).max_by_key(|phrase| phrase.len())?;
    Some(&text[longest.len()..])
}

fn capitalized(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let plain = word.chars().all(|c| c.is_lowercase() || matches!(c, '\'' | ','));
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if plain => first.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}
