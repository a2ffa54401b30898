//! The closed vocabularies of the format: each word in a file is one variant here.

/// Says that a text is none of the words of a vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{}`: it is one of {}", found.escape_debug(), known.join(", "))]
pub struct UnknownWord {
    /// What the vocabulary is about.
    pub what: &'static str,
    /// The text that is not in it.
    pub found: String,
    /// The words that are.
    pub known: &'static [&'static str],
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Every variant, in the order in which we list them to people.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
            /// Every word, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// Returns the word as it stands in a file.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::memory::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::memory::UnknownWord { what: $what, found: text.to_owned(), known: Self::WORDS }),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What a memory is about. Finer kinds are a `kind` on one of these.
    MemoryType, "type" {
        /// Who the user is: role, goals, knowledge, preferences. Always private.
        User = "user",
        /// How to work: corrections and confirmations.
        Feedback = "feedback",
        /// What is going on and why: goals, deadlines, incidents, decisions.
        Project = "project",
        /// Where to look: pointers to systems outside.
        Reference = "reference",
    }
}

words! {
    /// Who may see a memory.
    Scope, "scope" {
        /// Only this user.
        Private = "private",
        /// Everybody who shares the team vault.
        Team = "team",
    }
}

words! {
    /// How a memory came to be accepted.
    Tier, "tier" {
        /// Confirmed by a person or an agent that was asked to save it.
        Confirmed = "confirmed",
        /// Found automatically; ranks below confirmed ones.
        Supplementary = "supplementary",
    }
}

words! {
    /// Who said what a memory holds.
    Provenance, "provenance" {
        /// The user said it.
        User = "user",
        /// The agent concluded it.
        Agent = "agent",
        /// It came out of a tool, for instance a web page.
        Tool = "tool",
        /// A teammate shared it.
        Team = "team",
        /// It was imported from another program.
        Import = "import",
        /// We do not know: the file was changed by a program that is not us.
        Outside = "outside",
    }
}

words! {
    /// Whether a memory still holds.
    Status, "status" {
        /// It holds.
        Active = "active",
        /// It should no longer be followed.
        Deprecated = "deprecated",
        /// Another memory took its place.
        Superseded = "superseded",
        /// It is not finished.
        Draft = "draft",
    }
}

words! {
    /// How sure the author was.
    Confidence, "confidence" {
        /// A guess.
        Low = "low",
        /// Likely.
        Medium = "medium",
        /// Certain.
        High = "high",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_type_lists_the_four() {
        let err = "misc".parse::<MemoryType>().unwrap_err();
        assert_eq!(err.to_string(), "unknown type `misc`: it is one of user, feedback, project, reference");
        assert_eq!("team".parse::<Scope>(), Ok(Scope::Team));
    }
}
