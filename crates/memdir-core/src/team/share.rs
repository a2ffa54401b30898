//! What may leave this machine for a place that others read.
//!
//! A memory goes to a team only if it says so itself (`scope: team`), and one about the user never goes there, whatever
//! it says. A store of the user's own machines takes all of them. What stays, stays for a reason that can be shown.
//! Look at [`may_leave`] first: sync asks it both ways, and so does every export for others. Secrets are not its
//! business: the scanner is asked besides, by whoever sends.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::memory::{Document, MAX_BODY, Memory, MemoryPath, MemoryType, Scope};

/// Who reads what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// Teammates: only memories of scope `team`, none of type `user`.
    #[default]
    Team,
    /// The user's own machines: every memory.
    Own,
}

/// Why a memory stays here, or is not taken from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stays {
    /// It is private.
    #[error("it is private")]
    Private,
    /// It is about the user.
    #[error("a memory of type user never goes to a team")]
    AboutUser,
    /// Not every machine can have a file of its name.
    #[error("not every machine can have a file of this name: `memdir rename` gives it another")]
    Name,
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotText,
    /// It is larger than a memory may be.
    #[error("it has {0} bytes: a memory has at most {MAX_BODY}")]
    TooLarge(usize),
}

impl Stays {
    /// Says whether the memory's author wants it so: such a memory is none of the team's, while the others are memories of
    /// the team with a fault.
    pub fn is_wish(self) -> bool {
        matches!(self, Self::Private | Self::AboutUser)
    }

    /// Returns the word that programs know it by.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Private => "scope:private",
            Self::AboutUser => "scope:user",
            Self::Name => "name",
            Self::NotText => "format",
            Self::TooLarge(_) => "size",
        }
    }
}

/// Says who may see a new memory if nobody says it: what a project is about and where to look is the team's, where there
/// is one; what the user is and wants is the user's.
pub fn usual_scope(memory_type: MemoryType, has_team: bool) -> Scope {
    match memory_type {
        MemoryType::Project | MemoryType::Reference if has_team => Scope::Team,
        _ => Scope::Private,
    }
}

/// Says whether the text of a memory may go to an audience, or come from one.
pub fn may_leave(path: &MemoryPath, text: &[u8], audience: Audience) -> Result<(), Stays> {
    if audience == Audience::Team {
        let document = Document::parse(text);
        let memory = Memory::read(path, &document).0;
        if memory.memory_type == Some(MemoryType::User) || says_user(&document) {
            return Err(Stays::AboutUser);
        }
        if memory.scope != Scope::Team {
            return Err(Stays::Private);
        }
        if !path.is_portable() {
            return Err(Stays::Name);
        }
    }
    if text.len() > MAX_BODY {
        return Err(Stays::TooLarge(text.len()));
    }
    str::from_utf8(text).map_err(|_| Stays::NotText).map(drop)
}

/// Says whether a type in the frontmatter can be read as `user`. Every place that a type can stand in counts, and every
/// spelling (`USER`, `[user]`): a reader that is less strict than ours must not see a user memory.
fn says_user(document: &Document) -> bool {
    document.values_of("type").any(|value| {
        let letters: String = value.nfkc().filter(|sign| sign.is_alphanumeric()).collect();
        letters.to_lowercase() == MemoryType::User.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(head: &str, audience: Audience) -> Result<(), Stays> {
        let text = format!("---\nname: a\ndescription: d\n{head}---\n\nbody\n");
        may_leave(&MemoryPath::new("a.md").unwrap(), text.as_bytes(), audience)
    }

    /// S1.
    #[test]
    fn s1_a_name_that_some_machines_cannot_have_does_not_travel() {
        let text = "---\nname: con\ndescription: d\ntype: project\nmetadata:\n  scope: team\n---\n\nbody\n";
        let path = MemoryPath::new("con.md").unwrap();
        assert_eq!(may_leave(&path, text.as_bytes(), Audience::Team), Err(Stays::Name));
        assert_eq!(
            may_leave(&path, text.as_bytes(), Audience::Own),
            Ok(()),
            "one's own machines have it already"
        );
    }

    #[test]
    fn ts_04_only_scope_team_leaves_and_type_user_never() {
        let cases = [
            ("type: project\nmetadata:\n  scope: team\n", Ok(())),
            ("type: project\n", Err(Stays::Private)),
            ("type: project\nmetadata:\n  scope: private\n", Err(Stays::Private)),
            ("type: project\nmetadata:\n  scope: TEAM\n", Err(Stays::Private)),
            ("type: user\nmetadata:\n  scope: team\n", Err(Stays::AboutUser)),
            ("metadata:\n  type: user\n  scope: team\n", Err(Stays::AboutUser)),
            ("type: user\n", Err(Stays::AboutUser)),
        ];
        for (head, expected) in cases {
            assert_eq!(asked(head, Audience::Team), expected, "{head}");
            assert_eq!(asked(head, Audience::Own), Ok(()), "{head}");
        }
    }

    #[test]
    fn what_has_no_readable_frontmatter_is_private() {
        let path = MemoryPath::new("a.md").unwrap();
        for text in [&b"just text"[..], b"---\nscope: [team\n---\n", b"\xff\xfe", b""] {
            assert_eq!(may_leave(&path, text, Audience::Team), Err(Stays::Private));
        }
    }

    #[test]
    fn a_fault_is_not_a_wish() {
        let path = MemoryPath::new("a.md").unwrap();
        let head = "---\nname: a\ndescription: d\ntype: project\nmetadata:\n  scope: team\n---\n\n";
        let large = format!("{head}{}", "x".repeat(MAX_BODY));
        assert!(matches!(may_leave(&path, large.as_bytes(), Audience::Team), Err(Stays::TooLarge(_))));
        let broken = [head.as_bytes(), b"\xff\n"].concat();
        assert_eq!(may_leave(&path, &broken, Audience::Team), Err(Stays::NotText));
        assert!(Stays::Private.is_wish() && Stays::AboutUser.is_wish());
        assert!(!Stays::NotText.is_wish() && !Stays::TooLarge(1).is_wish());
    }
}
