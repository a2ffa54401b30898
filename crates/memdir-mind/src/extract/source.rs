//! Who really said what a model proposes to remember.
//!
//! A model that was talked into something by a web page will also say that the user wanted it. So nothing it says about
//! the origin of a memory is asked for or believed. What counts is who said the words it quotes, and where the words of the
//! memory itself come from: a text that stands in what a tool printed, and that the user did not say, is the tool's, whatever
//! is quoted for it. When in doubt the less trusted one is taken: such a memory waits for the user's word and is not lost.

use std::collections::BTreeSet;

use memdir_core::extract::Evidence;
use memdir_core::host::hearsay::passages;
use memdir_core::memory::Provenance;
use memdir_core::terms::{Origin, terms};
use memdir_core::transcript::Role;

use crate::agent::{Content, Said, find_quote, is_pasted, own_words};

/// As much of a memory must stand in one passage of a tool's output for it to come from there.
const FROM_TOOL: f64 = 0.6;
/// As much of it must the user have said for it to be the user's in spite of that.
const FROM_USER: f64 = 0.6;
/// The same where a tool's output asked for something to be remembered: the user must have said most of it.
const FROM_USER_IF_ASKED: f64 = 0.5;
/// As much of it in a passage, and so much less of it said by the user, tells of a text in other words.
const RATHER_FROM_TOOL: f64 = 0.35;
const RATHER: f64 = 0.25;
/// A text of fewer words, such as a short quote, stands in anything.
const MIN_WORDS: usize = 4;
/// A passage has this many words, and the next one begins halfway.
const PASSAGE: usize = 120;
/// Endings of hosts. A word with a dot in it is mostly a file or a piece of code, and those are no places to fetch from.
const HOST_ENDINGS: [&str; 26] = [
    "com", "org", "net", "io", "dev", "app", "ai", "cloud", "xyz", "info", "biz", "example", "internal",
    "invalid", "onion", "de", "kr", "jp", "cn", "fr", "uk", "eu", "us", "ru", "in", "br",
];

/// What was said in a session, by whom, as far as origins need it.
#[derive(Debug)]
pub struct Sources<'w> {
    window: &'w [Said],
    /// What the user said, pasted text left out, with the English of other languages.
    by_user: BTreeSet<u64>,
    user_text: String,
    /// Passages of what tools printed.
    by_tools: Vec<BTreeSet<u64>>,
    tool_text: String,
    /// Whether one of them asks for something to be remembered.
    tools_ask: bool,
}

impl<'w> Sources<'w> {
    /// Reads a window.
    pub fn of(window: &'w [Said]) -> Self {
        let user_text: String = said_by(window, Role::User).map(|text| own_words(text) + "\n").collect();
        let tool_text: String =
            said_by(window, Role::Tool).map(|text| format!("{}\n", text.to_lowercase())).collect();
        let by_tools = said_by(window, Role::Tool).flat_map(pieces).collect();
        let tools_ask = said_by(window, Role::Tool).any(|text| !passages(text).is_empty());
        let by_user = terms(&user_text).into_iter().map(|found| found.term.value()).collect();
        Self { window, by_user, user_text: user_text.to_lowercase(), by_tools, tool_text, tools_ask }
    }

    /// Says who said what a memory holds, by the weakest of what it rests on.
    pub fn provenance(&self, content: &Content) -> Provenance {
        let text = format!("{}\n{}", content.description, content.body);
        let quoted = content.evidence.iter().map(|evidence| self.of_quote(evidence));
        let quoted = quoted.max_by_key(|role| rank(*role)).unwrap_or(Provenance::Tool);
        let weakest = if self.is_from_tools(&text) { Provenance::Tool } else { quoted };
        if rank(weakest) > rank(quoted) { weakest } else { quoted }
    }

    fn of_quote(&self, evidence: &Evidence) -> Provenance {
        let Some(said) = self.window.get(evidence.message) else { return Provenance::Tool };
        match said.role {
            Role::Tool => Provenance::Tool,
            Role::User => match find_quote(&said.text, &evidence.quote) {
                Some(place) if !is_pasted(&said.text, &place) => Provenance::User,
                _ => Provenance::Tool,
            },
            // An agent that repeats what it read has not concluded it.
            Role::Assistant if self.is_from_tools(&evidence.quote) => Provenance::Tool,
            Role::Assistant => Provenance::Agent,
        }
    }

    /// Says whether a text comes from what tools printed, and not from the user.
    fn is_from_tools(&self, text: &str) -> bool {
        if self.names_a_place_of_tools(text) {
            return true;
        }
        let words: BTreeSet<u64> = terms(text)
            .into_iter()
            .filter(|found| found.origin == Origin::Said)
            .map(|found| found.term.value())
            .collect();
        if words.len() < MIN_WORDS {
            return false;
        }
        let share = |of: &BTreeSet<u64>| words.intersection(of).count() as f64 / words.len() as f64;
        let by_user = self.share_of_user(text);
        let by_tool = self.by_tools.iter().map(share).fold(0.0, f64::max);
        (self.tools_ask && by_user < FROM_USER_IF_ASKED)
            || (by_user < FROM_USER && by_tool >= FROM_TOOL)
            || (by_tool >= RATHER_FROM_TOOL && by_tool >= by_user + RATHER)
    }

    /// Returns how much of a text the user said, in whichever of the languages that we can compare.
    fn share_of_user(&self, text: &str) -> f64 {
        let found = terms(text);
        let n_said = found.iter().filter(|found| found.origin == Origin::Said).count();
        let is_users = |term: u64| self.by_user.contains(&term);
        let n_users = found.iter().filter(|found| is_users(found.term.value())).count();
        n_users.min(n_said) as f64 / n_said.max(1) as f64
    }

    /// Says whether a text names a host that only tools named: where something is to be fetched from is the user's to say.
    fn names_a_place_of_tools(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        hosts(&text).any(|host| self.tool_text.contains(host) && !self.user_text.contains(host))
    }
}

/// Returns the words that look like a host: `mirror.example.com`, `10.0.0.7`, also within an address.
fn hosts(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    text.split(move |c: char| !is_part(c))
        .map(|word| word.trim_matches(['.', '-']))
        .filter(|word| is_host(word))
}

fn is_host(word: &str) -> bool {
    let is_number = |part: &str| part.parse::<u8>().is_ok();
    let is_address = word.split('.').count() == 4 && word.split('.').all(is_number);
    let named = word.rsplit_once('.');
    is_address || named.is_some_and(|(front, ending)| front.len() >= 2 && HOST_ENDINGS.contains(&ending))
}

fn said_by(window: &[Said], role: Role) -> impl Iterator<Item = &str> {
    window.iter().filter(move |said| said.role == role).map(|said| said.text.as_str())
}

/// Cuts a text into passages that overlap.
fn pieces(text: &str) -> Vec<BTreeSet<u64>> {
    let found = terms(text).into_iter().filter(|found| found.origin == Origin::Said);
    let words: Vec<u64> = found.map(|found| found.term.value()).collect();
    let starts = (0..words.len()).step_by(PASSAGE / 2);
    starts.map(|from| words[from..words.len().min(from + PASSAGE)].iter().copied().collect()).collect()
}

/// Orders origins by how little they are believed.
fn rank(provenance: Provenance) -> u8 {
    match provenance {
        Provenance::User => 0,
        Provenance::Agent => 1,
        _ => 2,
    }
}
