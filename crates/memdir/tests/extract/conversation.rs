//! Labelled conversations: who said what, and which candidates it makes.
//!
//! A set is a text. `## name` begins a conversation, `user: `, `agent: ` and `tool: ` a message, which may go on over lines.
//! `=> type: word, word|other` is a candidate that is wanted, with words that it must have; `type/tool` one that only a tool
//! wants. `~>` is one that may be found or not. `{+}` is nothing: it parts what would look like a secret in this repository.
//! The first line of a set states the floors that its figures must hold.

use std::path::Path;

use serde_json::Value;

/// A message: who, and what.
pub(crate) type Message = (String, String);

/// A conversation and what it teaches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    pub(crate) name: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) wanted: Vec<Wanted>,
    pub(crate) tolerated: Vec<Wanted>,
}

/// A candidate that is expected.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) types: Vec<String>,
    provenance: String,
    words: Vec<Vec<String>>,
}

impl Wanted {
    fn parse(line: &str) -> Self {
        let (kind, words) = line.split_once(": ").unwrap();
        let (types, provenance) = kind.split_once('/').unwrap_or((kind, "user"));
        let either = |text: &str| text.split('|').map(|word| word.trim().to_lowercase()).collect();
        Self {
            types: types.split('|').map(str::to_owned).collect(),
            provenance: provenance.to_owned(),
            words: words.split(',').map(either).collect(),
        }
    }

    /// Says whether a candidate is the one that is meant.
    pub(crate) fn is(&self, candidate: &Value) -> bool {
        let text = |key: &str| candidate[key].as_str().unwrap_or_default();
        let said = format!("{} {}", text("description"), text("body")).to_lowercase();
        let fits = |known: &String| known == "*" || known == text("type");
        self.types.iter().any(fits)
            && self.provenance == text("provenance")
            && self.words.iter().all(|either| either.iter().any(|word| said.contains(word)))
    }
}

/// A set of conversations with the least precision and recall that it must be read with.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) floors: (f64, f64),
    pub(crate) conversations: Vec<Conversation>,
}

impl Set {
    pub(crate) fn read(name: &'static str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/extract/sets/{name}.txt"));
        let text = std::fs::read_to_string(&path).unwrap().replace("{+}", "");
        let (head, _) = text.split_once('\n').unwrap();
        let floors: Vec<f64> = head.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let conversations = text.split("\n## ").skip(1).map(conversation).collect();
        Self { name, floors: (floors[0], floors[1]), conversations }
    }
}

fn conversation(text: &str) -> Conversation {
    let mut lines = text.lines();
    let mut read = Conversation { name: lines.next().unwrap().to_owned(), ..Conversation::default() };
    for line in lines {
        let begun = ["user", "agent", "tool"].iter().find_map(|who| {
            Some(((*who).to_owned(), line.strip_prefix(who)?.strip_prefix(": ")?.to_owned()))
        });
        if let Some(message) = begun {
            read.messages.push(message);
        } else if let Some(wanted) = line.strip_prefix("=> ") {
            read.wanted.push(Wanted::parse(wanted));
        } else if let Some(wanted) = line.strip_prefix("~> ") {
            read.tolerated.push(Wanted::parse(wanted));
        } else if let Some((_, message)) = read.messages.last_mut() {
            message.push('\n');
            message.push_str(line);
        }
    }
    for (_, message) in &mut read.messages {
        message.truncate(message.trim_end().len());
    }
    read
}
