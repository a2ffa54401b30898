//! What speaks for a note at a moment, as named numbers.

use std::fmt::Write;

macro_rules! parts {
    ($($(#[$doc:meta])* $part:ident = $name:literal,)+) => {
        /// One reason to be reminded of a note.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Part { $($(#[$doc])* $part,)+ }

        impl Part {
            /// Every part.
            pub const ALL: &'static [Self] = &[$(Self::$part,)+];
            /// Returns what people call it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$part => $name,)+ }
            }
        }
    };
}

parts! {
    /// Always 1: what a note needs to overcome.
    Always = "always",
    /// Word match with the prompt, without regard to how long it is.
    WordsAtAll = "words_at_all",
    /// The share of the head's words that the prompt has.
    Said = "said",
    /// Word match beside the best of all notes.
    WordsBeside = "words_beside",
    /// How near the whole note is in meaning.
    Meaning = "meaning",
    /// How near its nearest sentence is to the nearest clause of the prompt.
    Clause = "clause",
    /// How much of the prompt's meaning is near, where few words match.
    MeaningAlone = "meaning_alone",
    /// Meaning beside the nearest of all notes.
    MeaningBeside = "meaning_beside",
    /// How much of the prompt it says in its own words.
    SoftSum = "soft_sum",
    /// The share of the prompt that it says, beside the best of all notes.
    SoftBeside = "soft_beside",
    /// How much more of the prompt it says than the next note, for the best.
    SoftLead = "soft_lead",
    /// Near both in words and in meaning.
    Both = "both",
    /// A file at hand is one of its paths.
    File = "file",
    /// A file at hand is named in it.
    Named = "file_named",
    /// The branch has its words.
    Branch = "branch",
    /// Its head has the words of the branch.
    BranchHead = "branch_head",
    /// The failing command has its words.
    Error = "error",
    /// The same beside the best of all notes.
    ErrorBeside = "error_beside",
    /// It warns, and something failed.
    Warns = "warns",
    /// One of its days is near, and the prompt asks what to do.
    DueNext = "due_next",
    /// One of its days is near, and words or meaning are near too.
    DueMeaning = "due_meaning",
    /// One of its days comes no later than the day that the prompt names, and words or meaning are near.
    DueBy = "due_by",
    /// The prompt asks for what was said earlier.
    Explicit = "explicit",
    /// The same, and words match, as a share of the most that the prompt's words could reach.
    ExplicitWords = "explicit_words",
    /// The share of the prompt's words that every small job has and that the note is not about, where no file and no branch
    /// speaks for it.
    Chores = "chores",
    /// The prompt has few telling words.
    Terse = "terse",
    /// The prompt asks something.
    Asks = "asks",
    /// The prompt speaks of what is ours.
    Ours = "ours",
    /// How many telling words the prompt has.
    Length = "length",
    /// The prompt has code or lines in it.
    Pasted = "pasted",
    /// Something failed.
    Failed = "failed",
    /// The branch has a name of its own.
    OnBranch = "on_branch",
    /// It warns of a tool that is in use.
    ToolWarns = "tool_warns",
    /// It speaks of this day of the week as one that comes again.
    Weekday = "weekday",
    /// It speaks of a part of the day that it is now.
    Hour = "hour",
    /// It names who wrote what is at hand.
    Author = "author",
    /// What is reminded of links to it.
    Via = "via",
    /// The same, and its meaning is near.
    ViaMeaning = "via_meaning",
}

/// How many parts there are.
pub const N_PARTS: usize = Part::ALL.len();

/// What speaks for one note.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts(pub [f32; N_PARTS]);

impl Default for Parts {
    fn default() -> Self {
        let mut parts = Self([0.0; N_PARTS]);
        parts.set(Part::Always, 1.0);
        parts
    }
}

impl Parts {
    /// Returns one part.
    pub fn get(&self, part: Part) -> f32 {
        self.0[part as usize]
    }

    pub(super) fn set(&mut self, part: Part, value: f32) {
        self.0[part as usize] = value;
    }
}

/// What each part counts, and what is needed to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// What each part counts.
    pub parts: [f32; N_PARTS],
    /// How probable it must be that any note helps.
    pub floor: f32,
    /// How probable, when somebody asks for it.
    pub asked_floor: f32,
    /// How probable a note must be beside the best one.
    pub margin: f32,
    /// How probable the shown notes must be together, as a share of the floor: else something helps, and nobody knows
    /// what.
    pub together: f32,
}

const TABLE: &str = include_str!("weights.txt");

impl Weights {
    /// Returns the weights that were fitted.
    pub fn fitted() -> Self {
        Self::parse(TABLE).expect("the table is ours, and a test reads it")
    }

    /// Reads a table of `name value` lines.
    pub fn parse(table: &str) -> Option<Self> {
        let mut weights =
            Self { parts: [0.0; N_PARTS], floor: 0.5, asked_floor: 0.2, margin: 0.3, together: 0.75 };
        for line in table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let (name, value) = line.split_once(' ')?;
            let value = value.trim().parse().ok()?;
            match name {
                "floor" => weights.floor = value,
                "asked_floor" => weights.asked_floor = value,
                "margin" => weights.margin = value,
                "together" => weights.together = value,
                _ => {
                    let part = Part::ALL.iter().find(|part| part.as_str() == name)?;
                    weights.parts[*part as usize] = value;
                }
            }
        }
        Some(weights)
    }

    /// Writes the table.
    pub fn to_table(&self) -> String {
        let mut table = String::from("# Fitted by `memdir bench tune`; see docs/recall.md.\n");
        for part in Part::ALL {
            // Writing into a string cannot fail.
            let _ = writeln!(table, "{} {:.3}", part.as_str(), self.parts[*part as usize]);
        }
        let _ = writeln!(
            table,
            "floor {:.3}\nasked_floor {:.3}\nmargin {:.3}\ntogether {:.3}",
            self.floor, self.asked_floor, self.margin, self.together
        );
        table
    }

    /// Returns what speaks for a note in all: above 0 it is better than nothing.
    pub fn sum(&self, parts: &Parts) -> f32 {
        self.parts.iter().zip(&parts.0).map(|(weight, part)| weight * part).sum()
    }

    /// Returns how probable it is that a note with these parts helps, if it were the only one.
    pub fn probability(&self, parts: &Parts) -> f32 {
        1.0 / (1.0 + (-self.sum(parts)).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_written() {
        let weights = Weights::fitted();
        assert_eq!(Weights::parse(&weights.to_table()), Some(weights));
        assert_eq!(TABLE.lines().count(), 1 + N_PARTS + 4);
    }
}
