//! What the vault should hold, and what each command should do to it: values only, no disk.

use std::collections::{BTreeMap, BTreeSet};

use memdir_testkit::Random;

/// Few names, so that commands meet each other.
const NAMES: [&str; 8] = [
    "reference-anchor",
    "reference-bellows",
    "reference-candle",
    "reference-dynamo",
    "reference-easel",
    "reference-funnel",
    "reference-gasket",
    "reference-hinge",
];
/// How far back an undo may reach.
const UNDO_REACH: usize = 6;

/// One memory as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) description: String,
    /// The lines of the body that are not blank.
    pub(crate) lines: Vec<String>,
}

/// Every memory of the vault by name.
pub(crate) type Notes = BTreeMap<String, Note>;

/// One command.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Save {
        name: String,
        note: Note,
    },
    Append {
        name: String,
        line: String,
    },
    Rewrite {
        name: String,
        lines: Vec<String>,
    },
    Describe {
        name: String,
        description: String,
    },
    Rename {
        from: String,
        to: String,
    },
    Forget {
        name: String,
    },
    /// Takes back the change that is this many changes ago; 0 is the newest.
    Undo {
        ago: usize,
    },
}

/// What the vault holds and how it came to that.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) notes: Notes,
    /// The notes before and after each change, oldest first.
    history: Vec<(Notes, Notes)>,
    /// How many texts were made; gives each a word of its own.
    n_texts: usize,
}

impl Model {
    /// Thinks of a command; most make sense, some must be refused.
    pub(crate) fn think(&mut self, random: &mut Random) -> Operation {
        let name = self.name(random);
        match random.below(12) {
            0..=3 => {
                let name = (*random.pick(&NAMES)).to_owned();
                let lines = self.lines(random);
                let description = self.text(random);
                Operation::Save { name, note: Note { description, lines } }
            }
            4 => Operation::Append { name, line: self.line(random) },
            5 => Operation::Rewrite { name, lines: self.lines(random) },
            6 => Operation::Describe { name, description: self.text(random) },
            7 | 8 => Operation::Rename { from: name, to: (*random.pick(&NAMES)).to_owned() },
            9 => Operation::Forget { name },
            _ => self.think_of_undo(random).unwrap_or(Operation::Forget { name }),
        }
    }

    /// Says what the notes are after `operation`; `None` if it must be refused.
    pub(crate) fn foresee(&self, operation: &Operation) -> Option<Notes> {
        let mut notes = self.notes.clone();
        match operation {
            Operation::Save { name, note } => drop(notes.insert(name.clone(), note.clone())),
            Operation::Append { name, line } => notes.get_mut(name)?.lines.push(line.clone()),
            Operation::Rewrite { name, lines } => notes.get_mut(name)?.lines.clone_from(lines),
            Operation::Describe { name, description } => {
                notes.get_mut(name)?.description.clone_from(description)
            }
            Operation::Rename { from, to } => rename(&mut notes, from, to)?,
            Operation::Forget { name } => drop(notes.remove(name)?),
            Operation::Undo { ago } => {
                let (before, after) = self.change(*ago)?;
                for name in changed_names(before, after) {
                    match before.get(name) {
                        Some(note) => notes.insert(name.clone(), note.clone()),
                        None => notes.remove(name),
                    };
                }
            }
        }
        Some(notes)
    }

    /// Records that the vault holds `notes` now.
    pub(crate) fn advance(&mut self, notes: Notes) {
        let before = std::mem::replace(&mut self.notes, notes);
        self.history.push((before, self.notes.clone()));
    }

    /// How many changes there were.
    pub(crate) fn n_changes(&self) -> usize {
        self.history.len()
    }

    fn change(&self, ago: usize) -> Option<&(Notes, Notes)> {
        self.history.iter().rev().nth(ago)
    }

    /// An undo of a change that nothing later touched: what must happen otherwise is a matter of merging.
    fn think_of_undo(&self, random: &mut Random) -> Option<Operation> {
        let ago = random.below(UNDO_REACH);
        let (before, after) = self.change(ago)?;
        let untouched = changed_names(before, after).all(|name| self.notes.get(name) == after.get(name));
        untouched.then_some(Operation::Undo { ago })
    }

    /// Mostly the name of a memory that exists, sometimes any.
    fn name(&self, random: &mut Random) -> String {
        let known: Vec<&String> = self.notes.keys().collect();
        if known.is_empty() || random.one_in(4) {
            (*random.pick(&NAMES)).to_owned()
        } else {
            (*random.pick(&known)).clone()
        }
    }

    fn lines(&mut self, random: &mut Random) -> Vec<String> {
        (0..1 + random.below(3)).map(|_| self.line(random)).collect()
    }

    /// A line of a body, sometimes with a link for renames to find.
    fn line(&mut self, random: &mut Random) -> String {
        let text = self.text(random);
        if random.one_in(3) {
            format!("{text}, see [[{}]].", random.pick(&NAMES))
        } else {
            format!("{text}.")
        }
    }

    /// A few words nobody else says, the first of which occurs nowhere else.
    fn text(&mut self, random: &mut Random) -> String {
        self.n_texts += 1;
        let words: Vec<_> = (0..4).map(|_| word(random)).collect();
        format!("unique{} {}", self.n_texts, words.join(" "))
    }
}

impl Operation {
    /// The command line, without `undo`'s change.
    pub(crate) fn args(&self) -> Vec<&str> {
        match self {
            Self::Save { name, note } => {
                vec!["save", name, "--type", "reference", "--description", &note.description]
            }
            Self::Append { name, line } => vec!["edit", name, "--append", line],
            Self::Rewrite { name, .. } => vec!["edit", name],
            Self::Describe { name, description } => vec!["edit", name, "--description", description],
            Self::Rename { from, to } => vec!["rename", from, to],
            Self::Forget { name } => vec!["forget", name, "--yes"],
            Self::Undo { .. } => vec!["undo"],
        }
    }

    /// The new body, if the command sets one.
    pub(crate) fn body(&self) -> Option<String> {
        let (Self::Save { note: Note { lines, .. }, .. } | Self::Rewrite { lines, .. }) = self else {
            return None;
        };
        Some(lines.join("\n") + "\n")
    }

    /// The texts that are acknowledged with the command.
    pub(crate) fn unique_words(&self) -> Vec<String> {
        let texts: Vec<&String> = match self {
            Self::Save { note, .. } => note.lines.iter().chain([&note.description]).collect(),
            Self::Append { line, .. } => vec![line],
            Self::Rewrite { lines, .. } => lines.iter().collect(),
            Self::Describe { description, .. } => vec![description],
            Self::Rename { .. } | Self::Forget { .. } | Self::Undo { .. } => vec![],
        };
        texts.into_iter().filter_map(|text| text.split(' ').next().map(str::to_owned)).collect()
    }
}

/// Moves a note and turns the links of the others to it; `None` if there is nothing to move or no room.
fn rename(notes: &mut Notes, from: &str, to: &str) -> Option<()> {
    if notes.contains_key(to) {
        return None;
    }
    let note = notes.remove(from)?;
    notes.insert(to.to_owned(), note);
    let (old, new) = (format!("[[{from}]]"), format!("[[{to}]]"));
    for line in notes.values_mut().flat_map(|note| &mut note.lines) {
        *line = line.replace(&old, &new);
    }
    Some(())
}

fn changed_names<'a>(before: &'a Notes, after: &'a Notes) -> impl Iterator<Item = &'a String> {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != after.get(*name))
}

/// A pronounceable word out of so many that two texts never look alike.
fn word(random: &mut Random) -> String {
    let syllable = |random: &mut Random| {
        let (consonant, vowel) = (*random.pick(b"bdfgklmnprstvz"), *random.pick(b"aeiou"));
        [char::from(consonant), char::from(vowel)]
    };
    // The last letter keeps chance from saying something, which the gates would weigh.
    (0..3).flat_map(|_| syllable(random)).chain(['x']).collect()
}
