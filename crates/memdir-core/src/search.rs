//! A plain ranked word match over the text of memories.
//!
//! Every word of the query that a memory holds counts, more in its name and description than in its body, less the
//! more often it is repeated; a memory that has more of the query's words always counts more. Words match in any
//! case and also by a shared beginning, so that `migrations` finds `migration`.

use crate::text::is_unspaced;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Query {
    words: Vec<String>,
}

/// The parts of a memory that are searched.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Its tags.
    pub tags: &'a str,
    /// Its body.
    pub body: &'a str,
}

/// Words that stand in every sentence and say nothing about it.
const STOP_WORDS: [&str; 40] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from", "have",
    "how", "i", "in", "is", "it", "me", "my", "of", "on", "or", "our", "should", "that", "the", "this", "to",
    "was", "we", "what", "when", "where", "which", "why", "with", "you",
];
/// What a word in each part is worth: name, description, tags, body.
const WEIGHTS: [f64; 4] = [3.0, 3.0, 3.0, 1.0];
/// How many letters two words must share at the beginning to count as one, at half the worth.
const MIN_STEM: usize = 4;
/// How much text around a match is shown, in characters.
const SNIPPET: usize = 160;

impl Query {
    /// Takes a question or a few words. A query of nothing but stop words is taken at its word.
    pub fn new(text: &str) -> Self {
        let all: Vec<String> = words(text).collect();
        let telling: Vec<String> =
            all.iter().filter(|word| !STOP_WORDS.contains(&word.as_str())).cloned().collect();
        Self { words: if telling.is_empty() { all } else { telling } }
    }

    /// Scores a memory between 0 and 1; `None` if it holds none of the words.
    pub fn score(&self, text: &Text<'_>) -> Option<f64> {
        let parts = [text.name, text.description, text.tags, text.body];
        let parts: Vec<Vec<String>> = parts.iter().map(|part| words(part).collect()).collect();
        let found: Vec<f64> = self.words.iter().map(|word| worth(word, &parts)).collect();
        let n_found = found.iter().filter(|worth| **worth > 0.0).count();
        if n_found == 0 {
            return None;
        }
        let most: f64 = WEIGHTS.iter().sum::<f64>();
        let coverage = n_found as f64 / self.words.len() as f64;
        let strength = found.iter().sum::<f64>() / (most * self.words.len() as f64);
        Some(0.7 * coverage + 0.3 * strength)
    }

    /// Lifts what an engine says of a memory that has every word of the query: who searches for a word means it, however
    /// little it says by itself. Scores stay between 0 and 1, and in their order.
    pub fn lift(&self, score: f64, text: &Text<'_>) -> f64 {
        let parts = [text.name, text.description, text.tags, text.body];
        let parts: Vec<Vec<String>> = parts.iter().map(|part| words(part).collect()).collect();
        let has_all = !self.words.is_empty() && self.words.iter().all(|word| worth(word, &parts) > 0.0);
        if has_all { f64::midpoint(1.0, score) } else { score }
    }

    /// Cuts the text around the first match.
    pub fn snippet(&self, body: &str) -> String {
        let body = body.trim();
        let lower = body.to_lowercase();
        let at = self.words.iter().filter_map(|word| lower.find(word.as_str())).min().unwrap_or(0);
        // Lower-casing may change lengths: count characters, not bytes.
        let before = lower[..at].chars().count().saturating_sub(SNIPPET / 4);
        let cut: String = body.chars().skip(before).take(SNIPPET).collect();
        cut.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn worth(word: &str, parts: &[Vec<String>]) -> f64 {
    let in_part = |(part, weight): (&Vec<String>, &f64)| {
        let matches: f64 = part.iter().map(|other| likeness(word, other)).sum();
        weight * matches / (matches + 0.5)
    };
    parts.iter().zip(&WEIGHTS).map(in_part).sum()
}

fn likeness(word: &str, other: &str) -> f64 {
    if word == other {
        return 1.0;
    }
    let shared = word.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let (shorter, longer) =
        (word.chars().count().min(other.chars().count()), word.chars().count().max(other.chars().count()));
    if shared >= MIN_STEM && shared == shorter && longer - shorter <= 3 { 0.5 } else { 0.0 }
}

/// Splits a text into lower-case words; where a script has no spaces, into pairs of characters.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).flat_map(|word| {
        let chars: Vec<char> = word.to_lowercase().chars().collect();
        if chars.len() < 2 || !chars.iter().any(|c| is_unspaced(*c)) {
            return vec![chars.into_iter().collect::<String>()];
        }
        chars.windows(2).map(|pair| pair.iter().collect()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(query: &str, name: &str, description: &str, body: &str) -> Option<f64> {
        Query::new(query).score(&Text { name, description, tags: "", body })
    }

    #[test]
    fn what_has_every_word_is_lifted_and_stays_in_order() {
        let lift = |query: &str, score: f64| {
            let text = Text { name: "sack", description: "A quaz", tags: "", body: "of the burst" };
            Query::new(query).lift(score, &text)
        };
        assert_eq!((lift("quaz", 0.0), lift("the quaz burst", 0.5)), (0.5, 0.75));
        assert_eq!((lift("quaz lamp", 0.4), lift("", 0.4)), (0.4, 0.4));
    }

    #[test]
    fn the_memory_with_more_of_the_words_wins() {
        let both =
            score("how do we test migrations", "feedback-testing", "Test every migration", "").unwrap();
        let one = score("how do we test migrations", "project-freeze", "the freeze", "test test test test")
            .unwrap();
        assert!(both > one);
        assert_eq!(score("kubernetes", "feedback-testing", "Test every migration", "real database"), None);
    }

    #[test]
    fn words_match_in_any_case_and_script() {
        assert!(score("DATABASE", "x", "real database", "").is_some());
        assert!(score("통합 테스트", "x", "통합테스트는 실제 DB를 쓴다", "").is_some());
        assert!(score("die", "x", "der die das", "").is_some());
    }

    #[test]
    fn a_snippet_shows_the_match() {
        let body = format!("{} needle {}", "hay ".repeat(200), "straw ".repeat(200));
        assert!(Query::new("needle").snippet(&body).contains("needle"));
        assert_eq!(Query::new("x").snippet(""), "");
    }
}
