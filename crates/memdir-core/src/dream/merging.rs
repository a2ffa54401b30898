//! Makes one memory of several that say the same, without losing a sentence.
//!
//! The most complete one keeps its text; from each other one comes every sentence that it does not say yet, to the place
//! where it belongs: a fact to the facts, a reason to the reasons. What cannot be read as sentences (code, tables) comes
//! along whole. The names of the others stay as aliases, so that links still lead here.

use std::collections::BTreeSet;

use super::saying::Saying;
use super::subject::Subject;
use crate::memory::{Document, Memory, Value, sections};
use crate::statement::{Part, statements};

/// Makes one memory of a group; `None` where a file cannot be edited. Returns the place of the one that stays.
pub(super) fn merged(group: &[&Subject<'_>]) -> Option<(usize, Document)> {
    let key = |at: &usize| {
        let subject = group[*at];
        (subject.whole.len(), std::cmp::Reverse(subject.said()))
    };
    let stays = (0..group.len()).max_by_key(key)?;
    let survivor = group[stays];
    let mut text = Text::of(survivor);
    let others = group.iter().enumerate().filter(|(at, _)| *at != stays).map(|(_, subject)| *subject);
    let others: Vec<&Subject<'_>> = others.collect();
    others.iter().for_each(|other| text.take(other));
    let mut document = survivor.source.document.clone();
    if text.has_news() {
        document = document.with_body(text.print().as_bytes()).ok()?;
    }
    document = with_names(document, &survivor.source.memory, &others)?;
    let memories: Vec<&Memory> = group.iter().map(|subject| &subject.source.memory).collect();
    document = with_lists(document, &memories)?;
    let created = memories.iter().filter_map(|memory| memory.created).min();
    let modified = memories.iter().filter_map(|memory| memory.modified).max();
    for (field, time) in [("created", created), ("modified", modified)] {
        if let Some(time) = time {
            document = document.set(field, &Value::Text(time.to_string())).ok()?;
        }
    }
    Some((stays, document))
}

/// Gives the memory that stands for others another text.
pub(super) fn with_text(
    survivor: &Subject<'_>,
    others: &[&Subject<'_>],
    description: &str,
    body: &str,
) -> Option<Document> {
    let document = survivor.source.document.with_body(format!("\n{}\n", body.trim()).as_bytes()).ok()?;
    let document = document.set("description", &Value::Text(description.to_owned())).ok()?;
    let document = with_names(document, &survivor.source.memory, others)?;
    let all = others.iter().map(|other| &other.source.memory);
    let memories: Vec<&Memory> = std::iter::once(&survivor.source.memory).chain(all).collect();
    with_lists(document, &memories)
}

/// Notes in a memory which others it stands for, and lets links to them lead to it.
pub(super) fn with_names(document: Document, memory: &Memory, others: &[&Subject<'_>]) -> Option<Document> {
    let own = memory.path.stem();
    let names = || others.iter().map(|other| other.name().to_owned());
    let aliases = others.iter().flat_map(|other| other.source.memory.aliases.iter().cloned());
    let before = others.iter().flat_map(|other| other.source.memory.supersedes.iter().cloned());
    let supersedes = union(memory.supersedes.iter().cloned().chain(before).chain(names()), own);
    let aliases = union(memory.aliases.iter().cloned().chain(aliases).chain(names()), own);
    let document = document.set("supersedes", &Value::list(supersedes)).ok()?;
    document.set("aliases", &Value::list(aliases)).ok()
}

/// Gives the merged memory what the others were found by.
fn with_lists(mut document: Document, memories: &[&Memory]) -> Option<Document> {
    type List = fn(&Memory) -> &Vec<String>;
    let lists: [(&str, List); 4] = [
        ("tags", |memory| &memory.tags),
        ("paths", |memory| &memory.paths),
        ("evidence", |memory| &memory.evidence),
        ("source", |memory| &memory.source),
    ];
    for (field, list) in lists {
        let all = union(memories.iter().flat_map(|memory| list(memory).iter().cloned()), "");
        let is_news = document.get(field).is_none_or(|value| value.texts().len() != all.len());
        if !all.is_empty() && is_news {
            document = document.set(field, &Value::list(all)).ok()?;
        }
    }
    Some(document)
}

/// Returns each text once, in order, without `own`.
fn union(texts: impl Iterator<Item = String>, own: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.filter(|text| text != own && seen.insert(text.clone())).collect()
}

/// A body to which sentences are added.
struct Text {
    body: String,
    known: Vec<Saying>,
    facts: Vec<String>,
    why: Vec<String>,
    how: Vec<String>,
    blocks: Vec<String>,
}

impl Text {
    fn of(subject: &Subject<'_>) -> Self {
        let body = subject.source.body();
        let mut known: Vec<Saying> =
            statements(&body).iter().map(|statement| Saying::of(statement.text)).collect();
        known.push(Saying::of(&subject.source.memory.description));
        Self { body, known, facts: Vec::new(), why: Vec::new(), how: Vec::new(), blocks: Vec::new() }
    }

    fn has_news(&self) -> bool {
        [&self.facts, &self.why, &self.how, &self.blocks].iter().any(|list| !list.is_empty())
    }

    /// Takes over what another memory says and this one does not.
    fn take(&mut self, other: &Subject<'_>) {
        let body = other.source.body();
        for statement in statements(&body) {
            // A heading says nothing without what stands below it, which comes along by itself.
            if statement.part != Part::Heading {
                self.take_sentence(statement.text, statement.part);
            }
        }
        self.take_sentence(&other.source.memory.description, Part::Paragraph);
        for block in fences(&body) {
            if !self.body.contains(block) && !self.blocks.iter().any(|known| known == block) {
                self.blocks.push(block.to_owned());
            }
        }
    }

    fn take_sentence(&mut self, sentence: &str, part: Part) {
        let sentence = sentence.trim();
        let saying = Saying::of(sentence);
        let is_said = self.known.iter().any(|known| says(known, &saying)) || self.body.contains(sentence);
        if sentence.is_empty() || is_said {
            return;
        }
        self.known.push(saying);
        let list = match part {
            Part::Why => &mut self.why,
            Part::HowToApply => &mut self.how,
            _ => &mut self.facts,
        };
        let stop = if sentence.ends_with(['.', '!', '?', ':', '。', ')', '`']) { "" } else { "." };
        list.push(format!("{sentence}{stop}"));
    }

    /// Prints the body with what was added, the last place first so that the others stay where they are.
    fn print(&self) -> String {
        let mut body = self.body.trim_end().to_owned();
        let end = |section: Option<&str>, body: &str| section.and_then(|text| end_of(body, text));
        for (label, news) in [("How to apply", &self.how), ("Why", &self.why)] {
            if news.is_empty() {
                continue;
            }
            let found = sections(&body);
            let at = end(if label == "Why" { found.why } else { found.how_to_apply }, &body);
            match at {
                Some(at) => body.insert_str(at, &format!(" {}", news.join(" "))),
                None => body.push_str(&format!("\n\n**{label}:** {}", news.join(" "))),
            }
        }
        if !self.facts.is_empty() {
            let facts = self.facts.join(" ");
            let at = ["**Why:**", "Why:", "**How to apply:**", "How to apply:"]
                .iter()
                .filter_map(|label| body.find(&format!("\n{label}")))
                .min();
            match at {
                Some(at) => body.insert_str(at + 1, &format!("{facts}\n\n")),
                None => body.push_str(&format!("\n\n{facts}")),
            }
        }
        for block in &self.blocks {
            body.push_str(&format!("\n\n{block}"));
        }
        body.push('\n');
        body
    }
}

/// Says whether one sentence says all that another does.
fn says(known: &Saying, other: &Saying) -> bool {
    let has_values = other
        .values
        .iter()
        .all(|(kind, values)| known.values.get(kind).is_some_and(|known| values.is_subset(known)));
    let has_words = other.words.keys().all(|stem| known.words.contains_key(stem));
    has_values && has_words && known.is_negated == other.is_negated && other.len() > 0
}

/// Returns where in `body` a part of it ends.
fn end_of(body: &str, part: &str) -> Option<usize> {
    let start = (part.as_ptr() as usize).checked_sub(body.as_ptr() as usize)?;
    Some(start + part.len()).filter(|end| *end <= body.len())
}

/// Returns the blocks of a body that are no sentences: code fences and tables.
fn fences(body: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let (mut at, mut open): (usize, Option<usize>) = (0, None);
    for line in body.split_inclusive('\n') {
        let is_mark = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        match (is_mark, open) {
            (true, None) => open = Some(at),
            (true, Some(start)) => {
                blocks.push(body[start..at + line.len()].trim_end());
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    blocks.extend(open.map(|start| body[start..].trim_end()));
    blocks
}
