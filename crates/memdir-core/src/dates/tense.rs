//! Whether the clause around a phrase speaks of the past.
//!
//! "We shipped on Friday" and "we ship on Friday" mean two Fridays. The clause is what stands between commas and
//! conjunctions; one without a verb of its own borrows from its neighbour. Only a plain past counts as one: a
//! participle alone ("blocked until Friday", "Freitag ausgerollt") may be either, and what sets a date ("moved to
//! Friday", "auf Freitag verschoben", "금요일로 미뤘다") looks ahead.

use std::ops::Range;

use super::cues::Set;
use super::grammar::Book;
use super::lexicon::Lang;
use super::meaning::Tense;
use super::token::{Kind, Token};

/// No clause is followed further than this, so that reading stays linear.
const REACH: usize = 40;

/// How plainly a clause speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cue {
    Past,
    /// A participle that may be a state.
    Maybe,
    Open,
}

/// Tells the tense of the clause around the tokens `at`.
pub(super) fn tense(tokens: &[Token], at: &Range<usize>, lang: Lang, book: &Book) -> Tense {
    let reader = Reader { tokens, at, book };
    if reader.is_before(&["since", "seit"]) {
        return Tense::Past;
    }
    let looks_ahead = match lang {
        Lang::English => reader.is_before(&["to", "for"]),
        Lang::German => reader.is_before(&["auf", "fuer"]),
        Lang::Korean => tokens.get(at.end).is_some_and(|next| matches!(next.text, "로" | "으로")),
    };
    if looks_ahead {
        return Tense::Open;
    }
    if reader.is_before(&["from", "von", "vom"]) && reader.arranges() {
        return Tense::Open;
    }
    let until = tokens.get(at.end).is_some_and(|next| next.text == "까지")
        || reader.is_before(&[
            "by", "until", "till", "before", "after", "nach", "through", "from", "starting", "bis", "vom",
            "von", "ab",
        ]);
    match reader.cue(lang) {
        Some(Cue::Past) => Tense::Past,
        Some(Cue::Maybe) if !until => Tense::Past,
        _ => Tense::Open,
    }
}

struct Reader<'r, 't> {
    tokens: &'r [Token<'t>],
    at: &'r Range<usize>,
    book: &'r Book,
}

impl Reader<'_, '_> {
    /// Whether one of `words` stands before the phrase, or before its article.
    fn is_before(&self, words: &[&str]) -> bool {
        let skipped =
            |token: &&Token| ["the", "den", "dem", "early", "late"].iter().any(|word| token.is_word(word));
        let token = self.tokens[..self.at.start].iter().rev().find(|token| !skipped(token));
        token.is_some_and(|token| words.iter().any(|word| token.is_word(word)))
    }

    /// Finds what decides: in the phrase's own clause, or in the one beside it when that one has no verb.
    fn cue(&self, lang: Lang) -> Option<Cue> {
        if lang == Lang::Korean
            || self.tokens[self.at.end..].iter().take(3).any(|token| token.kind == Kind::Hangul)
        {
            return self.korean();
        }
        let clause = self.clause();
        if let Some(cue) = self.clause_cue(&clause, self.at.start) {
            return Some(cue);
        }
        if !self.is_bare(&clause) {
            return None;
        }
        let before = self.neighbour_before(&clause);
        let borrowed = before.and_then(|clause| self.clause_cue(&clause, clause.end));
        borrowed.or_else(|| {
            let after = self.neighbour_after(&clause)?;
            self.clause_cue(&after, after.start)
        })
    }

    /// Whether the clause sets a date: "moved from Friday to Monday".
    fn arranges(&self) -> bool {
        self.tokens[self.clause()].iter().any(|token| self.book.has(Set::Arrange, token))
    }

    fn clause(&self) -> Range<usize> {
        self.clause_around(self.at.clone())
    }

    fn clause_around(&self, at: Range<usize>) -> Range<usize> {
        let first = at.start.saturating_sub(REACH);
        let start = (first..at.start).rev().find(|&i| self.border(i).is_some()).map_or(first, |i| i + 1);
        let last = (at.end + REACH).min(self.tokens.len());
        let end = (at.end..last).find(|&i| self.border(i).is_some()).unwrap_or(last);
        // A clause that begins on this line, behind a line end that is a border itself.
        let start = (start..=at.start).rev().find(|&i| self.begins_block(i)).unwrap_or(start);
        let end = (at.end..end).find(|&i| self.begins_block(i)).unwrap_or(end);
        start..end
    }

    /// Whether a token begins a paragraph or an item of a list.
    fn begins_block(&self, i: usize) -> bool {
        let token = &self.tokens[i];
        token.breaks > 1
            || token.breaks == 1
                && token.kind == Kind::Mark
                && matches!(token.text, "-" | "*" | "+" | "#" | "|")
    }

    /// Whether the token `i` ends a clause; `Some(true)` if it ends the sentence too.
    fn border(&self, i: usize) -> Option<bool> {
        let token = &self.tokens[i];
        if token.kind == Kind::Word {
            return self.book.has(Set::Conjunction, token).then_some(false);
        }
        if token.kind != Kind::Mark {
            return None;
        }
        match token.text {
            "." | "!" | "?" => {
                let ends = self.tokens.get(i + 1).is_none_or(|next| !next.glued);
                let ordinal = i > 0 && self.tokens[i - 1].kind == Kind::Number && token.text == ".";
                let goes_on = self.tokens.get(i + 1).is_some_and(|next| next.kind == Kind::Word);
                (ends && !(ordinal && goes_on)).then_some(true)
            }
            ";" => Some(true),
            "," | ":" | "(" | ")" | "–" | "—" | "|" => Some(false),
            _ => None,
        }
    }

    fn neighbour_before(&self, clause: &Range<usize>) -> Option<Range<usize>> {
        let border = clause.start.checked_sub(1)?;
        (self.border(border) == Some(false) && border > 0).then(|| self.clause_around(border - 1..border))
    }

    fn neighbour_after(&self, clause: &Range<usize>) -> Option<Range<usize>> {
        let next = clause.end + 1;
        let is_soft = clause.end < self.tokens.len() && self.border(clause.end) == Some(false);
        (is_soft && next < self.tokens.len()).then(|| self.clause_around(next..next + 1))
    }

    /// Whether a clause says nothing but the phrase.
    fn is_bare(&self, clause: &Range<usize>) -> bool {
        let is_filler = |token: &Token| {
            token.kind != Kind::Word || self.book.has(Set::Filler, token) || self.book.has(Set::Part, token)
        };
        let around = (clause.start..self.at.start).chain(self.at.end..clause.end);
        around.into_iter().all(|i| is_filler(&self.tokens[i]))
    }

    /// Reads a clause: the cue that stands nearest before `place`, else the first behind it.
    fn clause_cue(&self, clause: &Range<usize>, place: usize) -> Option<Cue> {
        let tokens = &self.tokens[clause.clone()];
        if let Some(cue) = self.german(tokens) {
            return Some(cue);
        }
        let mut cues = self.english(tokens, clause.start);
        cues.retain(|(i, _)| !self.at.contains(i));
        let before = cues.iter().rev().find(|(i, _)| *i < place);
        before.or_else(|| cues.first()).map(|&(_, cue)| cue)
    }

    /// Lists the English cues of a clause with their places. A participle behind "is", "be" or "will" is that verb's.
    fn english(&self, tokens: &[Token], start: usize) -> Vec<(usize, Cue)> {
        let has = |set, token| self.book.has(set, token);
        let mut cues: Vec<(usize, Cue)> = Vec::new();
        let mut have: Option<usize> = None;
        for (i, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
            let at = start + i;
            // "2am" is no verb, and in "Anna said we ship on Friday" what is said has a tense of its own.
            let is_unit = token.glued && i > 0 && tokens[i - 1].kind == Kind::Number;
            if is_unit || has(Set::Speech, token) && self.at.start > at + 2 {
                continue;
            }
            let text = token.text;
            let is_participle = has(Set::EnglishParticiple, token) || self.is_regular_past(token);
            let follows = |place: usize| at - place <= 3;
            if (is_participle || has(Set::EnglishUnmarked, token)) && have.is_some_and(follows) {
                cues.push((at, Cue::Past));
            } else if has(Set::Arrange, token) {
                cues.push((at, Cue::Open));
            } else if matches!(text, "have" | "has" | "ve" | "Have" | "Has") {
                have = Some(at);
                cues.push((at, Cue::Open));
            } else if has(Set::EnglishPast, token) && is_participle && i > 0 && tokens[i - 1].is_word("be") {
                // "must be paid" is the tense of "must".
            } else if has(Set::EnglishPast, token) {
                cues.push((at, Cue::Past));
            } else if has(Set::EnglishOpen, token) || self.is_infinitive(tokens, i) {
                cues.push((at, Cue::Open));
            } else if is_participle {
                match cues.last() {
                    Some(&(place, Cue::Open)) if follows(place) => {}
                    Some(&(place, Cue::Past)) if follows(place) => cues.push((at, Cue::Past)),
                    _ => cues.push((at, Cue::Maybe)),
                }
            }
        }
        cues
    }

    fn is_regular_past(&self, token: &Token) -> bool {
        let text = token.text;
        text.len() > 4
            && text.is_ascii()
            && text.ends_with("ed")
            && !self.book.has(Set::EnglishNotPast, token)
    }

    /// "to ship", but not "to the customer", and not "had to ship".
    fn is_infinitive(&self, tokens: &[Token], i: usize) -> bool {
        let is_verb = |next: &Token| next.kind == Kind::Word && next.word == 0 && !next.is_capital();
        let bound =
            i.checked_sub(1).is_some_and(|before| matches!(tokens[before].text, "had" | "Had" | "used"));
        // "to unblock Anna" behind a finished deed says why; behind "decided" it says what.
        let decided = tokens[..i].iter().rev().take(4).any(|token| self.book.has(Set::Arrange, token));
        tokens[i].text == "to" && !bound && decided && tokens.get(i + 1).is_some_and(is_verb)
    }

    /// Reads a German clause, whose verb may stand at both ends of it.
    fn german(&self, tokens: &[Token]) -> Option<Cue> {
        let any = |set| tokens.iter().any(|token| self.book.has(set, token));
        let participle = tokens.iter().any(is_german_participle);
        let perfect = any(Set::GermanHave) && (participle || ends_in_participle(tokens))
            || any(Set::GermanBe) && any(Set::GermanGone);
        if any(Set::GermanPast) || perfect {
            return Some(Cue::Past);
        }
        // "will" is English too, and says the same there.
        if any(Set::GermanOpen) || any(Set::GermanBe) {
            return Some(Cue::Open);
        }
        if any(Set::Arrange) {
            return None;
        }
        if !any(Set::German) {
            return None;
        }
        let preterite =
            tokens.iter().enumerate().any(|(i, token)| is_german_preterite(token, tokens.get(i + 1)));
        if preterite {
            return Some(Cue::Past);
        }
        participle.then_some(Cue::Maybe)
    }

    /// Reads on to the next verb: in Korean it closes the clause.
    fn korean(&self) -> Option<Cue> {
        let last = (self.at.end + REACH).min(self.tokens.len());
        let mut word = String::new();
        for i in self.at.end..last {
            let token = &self.tokens[i];
            if token.breaks > 1 || self.border(i) == Some(true) {
                return None;
            }
            if token.kind != Kind::Hangul {
                continue;
            }
            word.push_str(token.text);
            if self.tokens.get(i + 1).is_some_and(|next| next.glued && next.kind == Kind::Hangul) {
                continue;
            }
            if let Some(cue) = korean_cue(&word) {
                return Some(cue);
            }
            word.clear();
        }
        None
    }
}

/// `ge…t`, `…ge…en`, `ver…t`, `…iert`, and English verbs with German grammar: "gemerged".
fn is_german_participle(token: &Token) -> bool {
    const SEPARABLE: &[&str] = &[
        "ab", "an", "auf", "aus", "bei", "durch", "ein", "fest", "frei", "her", "hin", "hoch", "los", "mit",
        "nach", "um", "unter", "vor", "weg", "zu", "zurueck", "zurück", "zusammen", "dazu", "bekannt",
        "fertig", "",
    ];
    const FIXED: &[&str] = &["ver", "be", "er", "ent", "zer", "über", "unter", "miss"];
    let text = token.text;
    const NOT: &[&str] =
        &["gelten", "gehen", "geben", "gegen", "gestern", "gesamt", "gesamten", "gewinnen", "gestalten"];
    if token.kind != Kind::Word || token.is_capital() || text.len() < 6 || NOT.contains(&text) {
        return false;
    }
    let ends = text.ends_with('t') || text.ends_with("en") || text.ends_with("ed");
    let ge =
        SEPARABLE.iter().any(|prefix| text.strip_prefix(prefix).is_some_and(|rest| rest.starts_with("ge")));
    let fixed = FIXED.iter().any(|prefix| text.starts_with(prefix)) && text.ends_with('t');
    ends && ge || fixed || text.ends_with("iert") || text.ends_with("oben") || text.ends_with("ossen")
}

/// Whether the last word of a clause with "haben" is its participle, also of a borrowed verb: "haben wir deployt".
fn ends_in_participle(tokens: &[Token]) -> bool {
    let mut words = tokens.iter().rev().filter(|token| token.kind == Kind::Word);
    let is_verb = words.next().is_some_and(|last| {
        let ends = ["t", "en", "ed"].iter().any(|ending| last.text.ends_with(ending));
        ends && last.text.len() > 4 && !last.is_capital() && !last.is_word("nicht")
    });
    is_verb && words.next().is_none_or(|before| !before.is_word("zu"))
}

/// "startete", "meldete"; before a noun it would be an adjective.
fn is_german_preterite(token: &Token, next: Option<&Token>) -> bool {
    token.kind == Kind::Word
        && !token.is_capital()
        && token.word == 0
        && token.text.len() >= 6
        && token.text.ends_with("te")
        && !token.text.starts_with("ge")
        && (token.text.ends_with("ete") || next.is_none_or(|next| !next.is_capital()))
}

/// Reads a Korean word. A past has ㅆ at the foot of a syllable, but for "있" and "겠".
fn korean_cue(word: &str) -> Option<Cue> {
    const DOUBLE_SIOT: u32 = 20;
    const AHEAD: &[&str] = &["기로", "려고", "예정", "해야", "필요"];
    const OPEN: &[&str] = &[
        "다", "요", "다고", "라고", "자고", "하자", "보자", "내자", "돼야", "어야", "아야", "됨", "할", "될",
        "하고", "되고", "이고", "지만", "하면", "되면", "으면", "이면", "니까", "할까", "될까", "세요",
    ];
    /// Adjectives look like a past that describes a noun.
    const ADJECTIVES: &[&str] =
        &["요한", "능한", "전한", "단한", "일한", "정한", "위한", "대한", "관한", "급한", "못한"];
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    let has_past =
        |c: char| (u32::from(c).wrapping_sub(0xac00)) % 28 == DOUBLE_SIOT && !matches!(c, '있' | '겠');
    if AHEAD.iter().any(|ahead| word.contains(ahead)) {
        return Some(Cue::Open);
    }
    if word.chars().any(has_past) {
        return Some(Cue::Past);
    }
    if ends(&["발생"]) {
        return Some(Cue::Maybe);
    }
    if ends(&["한", "된"]) && word.chars().count() >= 3 && !ends(ADJECTIVES) {
        return Some(Cue::Maybe);
    }
    (ends(OPEN) && word != "역할").then_some(Cue::Open)
}
