//! What memory a plain sentence makes: type, scope, kind, name, description and body.
//!
//! [`classify`] is handed the text with its dates already settled, and what is known of the vault. It proposes and
//! asks; it saves nothing. What the sentence does is read by [`crate::statement`].

mod body;
mod intro;
mod name;
mod romanize;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::memory::{MemoryName, MemoryType, Scope};
use crate::statement::{Act, Gist, gist};

use body::Body;

/// What is known of the vault that a memory would enter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// The names of its memories.
    pub names: &'a [String],
    /// Other names by which memories are called, each with the memory's name.
    pub aliases: &'a [(String, String)],
    /// Whether there is a vault that the team shares.
    pub has_team_vault: bool,
}

/// A memory as it would be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// What it is about.
    pub memory_type: MemoryType,
    /// Who may see it.
    pub scope: Scope,
    /// A finer kind than the type.
    pub kind: Option<&'static str>,
    /// A name that no other memory has.
    pub name: MemoryName,
    /// One line.
    pub description: String,
    /// The rule or fact, then why, then how to apply it.
    pub body: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The memories it mentions.
    pub links: Vec<String>,
    /// What the author should be asked.
    pub questions: Vec<Question>,
}

/// Something that only the author can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// No reason is stated.
    Why,
    /// It is not said when it counts.
    HowToApply,
    /// It was not clear what the text is.
    Type,
    /// The text tells what files, git or a commit show.
    Surprising,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Why => "why is that so? a reason lets a later session judge the cases you did not name",
            Self::HowToApply => "when and where does it count?",
            Self::Type => "what is this: about you, about how to work, about the project, or where to look?",
            Self::Surprising => "files, git or the session show this already: what was surprising about it?",
        })
    }
}

/// Longest description we propose, in characters.
const MAX_DESCRIPTION: usize = 150;

/// Says whether a message asks to remember what it says: "remember that …", "merk dir: …", "… 기억해 줘".
pub fn asks_to_remember(message: &str) -> bool {
    intro::asks(message)
}

/// Proposes the memory that a text makes.
pub fn classify(text: &str, known: &Known<'_>) -> Proposed {
    let text = intro::strip(text.trim());
    let gist = gist(&text);
    let act = gist.act();
    let memory_type = type_of(&gist);
    let body = Body::of(&text, &gist);
    let links = links(&text, known);
    let scope = scope(memory_type, &gist, known);
    Proposed {
        memory_type,
        scope,
        kind: kind(act, memory_type, scope, &text),
        name: name::name(memory_type, &body.point, known.names),
        description: describe(&body.point),
        body: body.render(&links),
        tags: name::tags(&text),
        links,
        questions: questions(act, memory_type, &body),
    }
}

/// Returns the type whose acts are likeliest together.
fn type_of(gist: &Gist<'_>) -> MemoryType {
    let likely = |acts: &[Act]| acts.iter().map(|act| gist.likely(*act)).sum::<f32>();
    let mut types = [
        (MemoryType::Project, likely(PROJECT)),
        (MemoryType::Feedback, likely(&[Act::Feedback, Act::Rule])),
        (MemoryType::User, likely(&[Act::Preference, Act::Role])),
        (MemoryType::Reference, likely(&[Act::Pointer])),
    ];
    types.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    types[0].0
}

const PROJECT: &[Act] = &[
    Act::Decision,
    Act::Context,
    Act::Gotcha,
    Act::State,
    Act::Task,
    Act::Event,
    Act::Structure,
    Act::Architecture,
    Act::Recipe,
    Act::Overview,
];

/// What concerns the user is private; feedback too, unless it speaks for the team; where to look is for everybody.
fn scope(memory_type: MemoryType, gist: &Gist<'_>, known: &Known<'_>) -> Scope {
    let shared = match memory_type {
        MemoryType::User => false,
        MemoryType::Feedback => gist.parts.iter().any(|(_, reading)| reading.speaks_for_team()),
        MemoryType::Project => known.has_team_vault,
        MemoryType::Reference => true,
    };
    if shared { Scope::Team } else { Scope::Private }
}

fn kind(act: Option<Act>, memory_type: MemoryType, scope: Scope, text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match (memory_type, act?) {
        (MemoryType::Feedback, _) if names(&["pattern", "muster", "패턴"]) => Some("pattern"),
        (MemoryType::Feedback, _) if scope == Scope::Team => Some("standard"),
        (MemoryType::Project, Act::Decision) => Some("decision"),
        (MemoryType::Project, Act::Gotcha) => Some("gotcha"),
        (MemoryType::Project, Act::State) => Some("status"),
        (MemoryType::Project | MemoryType::Reference, _)
            if names(&["how to ", "howto", "step by step", "schritt für schritt", "하는 방법", "방법은"]) =>
        {
            Some("howto")
        }
        _ => None,
    }
}

fn questions(act: Option<Act>, memory_type: MemoryType, body: &Body) -> Vec<Question> {
    let explained = matches!(memory_type, MemoryType::Feedback | MemoryType::Project);
    let mut questions = Vec::new();
    match act {
        None => questions.push(Question::Type),
        Some(Act::Event | Act::Recipe | Act::Structure | Act::Task | Act::Overview) => {
            questions.push(Question::Surprising)
        }
        Some(_) => {}
    }
    if explained && body.why.is_empty() {
        questions.push(Question::Why);
    }
    if explained && body.how.is_empty() {
        questions.push(Question::HowToApply);
    }
    questions
}

/// Makes one line of the point, cut at a word.
fn describe(point: &str) -> String {
    let line = point.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches(['.', '。', ';', ',']).replace("**", "");
    if line.chars().count() <= MAX_DESCRIPTION {
        return line;
    }
    let cut: String = line.chars().take(MAX_DESCRIPTION - 1).collect();
    let end = cut.rfind(' ').filter(|end| *end > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end_matches([',', ';', ':', ' ']))
}

/// Finds the memories that a text mentions by name or alias.
fn links(text: &str, known: &Known<'_>) -> Vec<String> {
    let lower = text.to_lowercase();
    let spoken = |name: &str| name.len() > 3 && has_phrase(&lower, &name.to_lowercase());
    let mut links: Vec<String> = known.names.iter().filter(|name| spoken(name)).cloned().collect();
    for (alias, name) in known.aliases {
        if spoken(alias) && !links.contains(name) {
            links.push(name.clone());
        }
    }
    links
}

/// Says whether a phrase stands in a text with no letter on either side.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    text.match_indices(phrase).any(|(at, _)| {
        !joins(text[..at].chars().next_back()) && !joins(text[at + phrase.len()..].chars().next())
    })
}

impl Proposed {
    /// Makes it a memory of another type, when the author says so.
    pub fn as_type(mut self, memory_type: MemoryType, known: &Known<'_>) -> Self {
        if memory_type == self.memory_type {
            return self;
        }
        self.scope = match memory_type {
            MemoryType::Reference => Scope::Team,
            MemoryType::Project if known.has_team_vault => Scope::Team,
            _ => Scope::Private,
        };
        self.kind = None;
        self.name = name::name(memory_type, &self.description, known.names);
        self.questions.retain(|question| *question != Question::Type);
        self.memory_type = memory_type;
        self
    }
}
