//! Versions and days that a text names: "axum 0.7", "until 2026-04-09".

use std::ops::Range;

use jiff::civil::Date;

use super::manner::sentence;

/// Words before a day after which something is no longer so.
const UNTIL: [&str; 14] = [
    "until", "till", "through", "by", "due", "deadline", "expires", "expire", "ends", "end", "bis", "zum",
    "frist", "endet",
];
/// Words of sentences that compare or look back: a version in them is not what the project uses.
const COMPARES: [&str; 25] = [
    "from",
    "since",
    "before",
    "avoid",
    "not",
    "never",
    "broke",
    "breaks",
    "broken",
    "older",
    "newer",
    "below",
    "above",
    "earlier",
    "bug",
    "upgrade",
    "upgraded",
    "upgrading",
    "migrate",
    "migration",
    "was",
    "were",
    "requires",
    "instead",
    "vor",
];
/// Words between a name and its version.
const BETWEEN: [&str; 4] = ["version", "v", "at", "is"];

/// Returns the days until which something is so.
pub(super) fn deadlines(text: &str) -> Vec<(Range<usize>, Date)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('-') {
        let Some(start) = at.checked_sub(4) else { continue };
        let Some(day) = text.get(start..start + 10) else { continue };
        let is_part = |c: char| c.is_alphanumeric() && c.is_ascii() || c == '-' || c == '/';
        let is_inside = text[..start].ends_with(is_part) || text[start + 10..].starts_with(is_part);
        let Some(date) = (!is_inside).then(|| day.parse::<Date>().ok()).flatten() else { continue };
        let before = text[..start].trim_end_matches([' ', ':', '*', '`', '(']);
        let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
        let is_korean = text[start + 10..].trim_start().starts_with("까지");
        if is_korean || UNTIL.contains(&word.as_str()) {
            found.push((start..start + 10, date));
        }
    }
    found
}

/// Returns names with the version that a text says they have.
pub(super) fn versions(text: &str) -> Vec<(Range<usize>, String)> {
    let words: Vec<(Range<usize>, &str)> = words(text).collect();
    let mut found = Vec::new();
    for (i, (span, word)) in words.iter().enumerate() {
        let pinned = word.split_once("==").or_else(|| word.rsplit_once('@'));
        let (name, number, start) = match pinned {
            Some((name, number)) => (name, number, span.start),
            None => {
                let before = |n: usize| i.checked_sub(n).map(|at| &words[at]);
                let Some(mut name) = before(1) else { continue };
                if BETWEEN.contains(&name.1.to_lowercase().as_str()) {
                    let Some(further) = before(2) else { continue };
                    name = further;
                }
                (name.1, *word, name.0.start)
            }
        };
        let span = start..span.end;
        if let Some(number) = number_of(number)
            && is_name(name)
            && !compares(sentence(text, &span))
        {
            found.push((span, format!("{} {number}", name.to_lowercase())));
        }
    }
    found
}

fn compares(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| COMPARES.contains(&word))
}

/// Returns the digits of a version: at most three digits alone, or parts with points between.
fn number_of(word: &str) -> Option<&str> {
    let number = word.strip_prefix(['v', 'V', '^', '~']).unwrap_or(word).trim_end_matches(".x");
    let parts: Vec<&str> = number.split('.').collect();
    let is_number =
        |part: &&str| !part.is_empty() && part.len() <= 5 && part.bytes().all(|b| b.is_ascii_digit());
    let is_version = parts.len() <= 4 && parts.iter().all(is_number);
    (is_version && (parts.len() > 1 || number.len() <= 3)).then_some(number)
}

fn is_name(word: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./@".contains(&b);
    let begins = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@');
    (2..=64).contains(&word.len()) && begins && word.bytes().all(is_plain)
}

fn words(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let is_apart =
        |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';' | ':' | '*');
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(|c| !is_apart(c))?;
        rest = start + text[start..].find(is_apart).unwrap_or(text.len() - start);
        let word = text[start..rest].trim_end_matches(['.', '!', '?']);
        Some((start..start + word.len(), word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_claim_only_where_something_lasts_until_it() {
        let days =
            |text: &str| deadlines(text).into_iter().map(|(_, day)| day.to_string()).collect::<Vec<_>>();
        assert_eq!(days("Merges are frozen until 2026-04-09."), ["2026-04-09"]);
        assert_eq!(days("Frozen bis 2026-04-09, 2026-05-01까지 유지"), ["2026-04-09", "2026-05-01"]);
        assert_eq!(days("Decided on 2026-04-09; see until-2026-04-09x"), [""; 0]);
        assert_eq!(days("due: 2026-13-09"), [""; 0]);
    }

    #[test]
    fn a_version_is_taken_with_its_name_where_nothing_is_compared() {
        let found = |text: &str| versions(text).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        assert_eq!(found("We are on axum 0.7 and `React` v18."), ["axum 0.7", "react 18"]);
        assert_eq!(found("Pin `vite@5.2.1`; polars==1.0"), ["vite 5.2.1", "polars 1.0"]);
        assert_eq!(found("Node version 20"), ["node 20"]);
        assert_eq!(found("axum 0.6 broke the router"), [""; 0]);
        assert_eq!(found("port 8080, 3 times"), [""; 0]);
    }
}
