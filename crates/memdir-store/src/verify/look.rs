//! One look at one claim: what the work tree shows of it, before git's history is asked.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::civil::Date;
use memdir_core::claims::{Claim, ClaimKind, Source, State, Verification, Why, flag_spellings};
use memdir_core::worth::Mention;

use super::cache::Past;
use super::manifests::Version;
use super::search::{Bounds, Search};
use super::{Verifier, head};
use crate::surroundings::commits;
use crate::surroundings::symbols::find_in;

/// Outside git files are listed up to a bound; from as many on some may be missing.
const NEARLY_ALL: usize = 1_500;
/// The same for folders.
const MANY_FOLDERS: usize = 48;

/// What a look shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Look {
    /// The answer.
    Answer(State),
    /// A guess that nothing confirms.
    Nothing,
    /// The path is not there; `is_tracked` if git still lists it.
    NoPath { path: String, is_tracked: bool },
    /// The very path is not there, but something that ends like it.
    LikePath { path: String, found: String },
    /// No code has the name, in any spelling.
    NoName { spellings: Vec<String> },
}

impl Look {
    /// Returns under which key git's answer about it is kept.
    pub(super) fn question(&self) -> Option<(ClaimKind, String)> {
        match self {
            Self::NoPath { path, .. } | Self::LikePath { path, .. } => Some((ClaimKind::Path, path.clone())),
            Self::NoName { spellings } => Some((ClaimKind::Symbol, spellings.join("|"))),
            Self::Answer(_) | Self::Nothing => None,
        }
    }

    /// Returns the path that history is asked about.
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            Self::NoPath { path, .. } | Self::LikePath { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns the spellings of a name that history is asked about.
    pub(super) fn spellings(&self) -> Option<&[String]> {
        if let Self::NoName { spellings } = self { Some(spellings) } else { None }
    }

    /// Decides with what history tells, and whether the claim was ever seen to hold; `None` for an idle guess.
    pub(super) fn conclude(
        self,
        claim: &Claim,
        past: &Past,
        has_held: bool,
        has_history: bool,
    ) -> Option<State> {
        let is_listed = claim.source == Source::Evidence;
        match self {
            Self::Answer(state) => Some(state),
            Self::Nothing => None,
            Self::LikePath { found, .. } => Some(match past {
                Past::Renamed { to, gone } if *to == found => State::Moved { to: found, gone: gone.clone() },
                _ => State::Holds { at: Some(found) },
            }),
            Self::NoPath { is_tracked, .. } => match past {
                Past::Renamed { to, gone } => Some(State::Moved { to: to.clone(), gone: gone.clone() }),
                Past::Removed(gone) => Some(State::Missing { gone: gone.clone() }),
                Past::Present => Some(State::Missing { gone: None }),
                _ if is_tracked || has_held || is_listed => Some(State::Missing { gone: None }),
                _ if !claim.firm => None,
                // Nobody ever committed it: what a memory plans or names is not there yet.
                Past::Never => Some(State::Unchecked { why: Why::Future }),
                Past::Unknown if has_history => Some(State::Unchecked { why: Why::Large }),
                Past::Unknown => Some(State::Missing { gone: None }),
            },
            Self::NoName { .. } => match past {
                Past::Renamed { to, gone } => Some(State::Changed { now: to.clone(), gone: gone.clone() }),
                Past::Removed(gone) => Some(State::Missing { gone: gone.clone() }),
                Past::Present => Some(State::Missing { gone: None }),
                _ if has_held || is_listed => Some(State::Missing { gone: None }),
                // Git had no time to tell whether it ever was a name of this code.
                Past::Unknown if has_history => Some(State::Unchecked { why: Why::Large }),
                _ if !claim.firm => None,
                // A library's name, most likely.
                Past::Never => Some(State::Unchecked { why: Why::Unknown }),
                Past::Unknown => Some(State::Missing { gone: None }),
            },
        }
    }

    /// Fills what a glance was too short for from what is kept; says whether it took an old answer over.
    pub(super) fn or_as_before(
        self,
        claim: &Claim,
        before: Option<&Verification>,
        search: &Search,
    ) -> (Self, bool) {
        let known =
            before.and_then(|before| before.claims.iter().find(|checked| checked.claim.is_about(claim)));
        let Some(known) = known else { return (self, false) };
        let is_short = matches!(self, Self::Answer(State::Unchecked { why: Why::Large }));
        match super::file_of(known) {
            Some(left) if is_short && search.has_seen(&left) => {
                return (Self::Answer(State::Suspect { left }), false);
            }
            _ => {}
        }
        let is_absent = matches!(self, Self::NoName { .. } | Self::NoPath { .. });
        match &known.state {
            // It is still not there, and what git told then is still true.
            state if is_absent && (state.fails() || !state.is_answer()) => {
                (Self::Answer(state.clone()), false)
            }
            state if is_short => (Self::Answer(state.clone()), true),
            _ => (self, false),
        }
    }
}

fn holds(at: impl Into<String>) -> Look {
    Look::Answer(State::Holds { at: Some(at.into()) })
}

/// An answer that says nothing: listed for what is surely meant, left out for a guess.
fn unchecked(claim: &Claim, why: Why) -> Look {
    if claim.firm { Look::Answer(State::Unchecked { why }) } else { Look::Nothing }
}

impl Verifier {
    pub(super) fn look(&self, claim: &Claim, is_ours: bool, search: &Search) -> Look {
        match claim.kind {
            ClaimKind::Date => self.day(claim),
            ClaimKind::Url => Look::Answer(State::Unchecked { why: Why::Web }),
            _ if !is_ours => unchecked(claim, Why::Elsewhere),
            _ if self.surroundings.project().is_none() => unchecked(claim, Why::Nowhere),
            ClaimKind::Path => self.path(claim),
            ClaimKind::Symbol => self.symbol(claim, search),
            ClaimKind::Flag => self.flag(claim, search),
            ClaimKind::Command => self.command(claim),
            ClaimKind::Version => self.version(claim),
            ClaimKind::Branch => self.branch(claim),
            ClaimKind::Commit => self.commit_claim(claim),
        }
    }

    /// Says whether the list of the project's files can be relied on to have them all.
    pub(super) fn knows_every_file(&self) -> bool {
        if self.surroundings.git().is_some() {
            return true;
        }
        let tree = self.surroundings.tree();
        let folders: BTreeSet<&Path> = tree.paths().filter_map(|path| Path::new(path).parent()).collect();
        tree.len() < NEARLY_ALL && folders.len() < MANY_FOLDERS
    }

    /// A memory is stale on the day of its expiry; what is said to last until a day lasts through it.
    fn day(&self, claim: &Claim) -> Look {
        let Ok(on) = claim.value.parse::<Date>() else { return Look::Nothing };
        let today = self.zone.to_datetime(self.now).date();
        let is_over = if claim.source == Source::Expires { on <= today } else { on < today };
        Look::Answer(if is_over { State::Expired { on } } else { State::Holds { at: None } })
    }

    fn path(&self, claim: &Claim) -> Look {
        let Some(path) = self.within_project(&claim.value) else { return unchecked(claim, Why::Elsewhere) };
        if self.surroundings.is_there(path) {
            return self.line(claim, path);
        }
        let tree = self.surroundings.tree();
        let Some(hit) = tree.find(path) else {
            return Look::NoPath { path: path.to_owned(), is_tracked: false };
        };
        if !self.surroundings.is_there(&hit.path) && !self.is_sparse() {
            return Look::NoPath { path: path.to_owned(), is_tracked: hit.path == path };
        }
        if path.contains('/') && hit.path != path {
            return Look::LikePath { path: path.to_owned(), found: hit.path };
        }
        holds(hit.path)
    }

    /// Returns a path from the project's root; `None` for one that leads elsewhere.
    fn within_project<'p>(&self, path: &'p str) -> Option<&'p str> {
        let path = match path.strip_prefix('/') {
            Some(_) => Path::new(path).strip_prefix(&self.root).ok()?.to_str()?,
            None => path,
        };
        let is_plain = |part: &str| !matches!(part, "" | "." | ".." | "~");
        (path.split('/').all(is_plain) && !path.contains(char::is_control)).then_some(path)
    }

    /// A sparse work tree has fewer files than git lists.
    fn is_sparse(&self) -> bool {
        self.surroundings
            .git()
            .is_some_and(|git| matches!(git.own.open_file("info/sparse-checkout"), Ok(Some(_))))
    }

    /// A file that was named with a line must have as many.
    fn line(&self, claim: &Claim, path: &str) -> Look {
        let Some(line) = claim.line else { return holds(path) };
        let bytes =
            self.surroundings.project().and_then(|root| root.read(path, Bounds::WHOLE.file).ok().flatten());
        let Some(bytes) = bytes else { return holds(path) };
        let ends_open = bytes.last().is_some_and(|last| *last != b'\n');
        let n_lines = memchr::memchr_iter(b'\n', &bytes).count() + usize::from(ends_open);
        if line <= n_lines {
            return holds(format!("{path}:{line}"));
        }
        Look::Answer(State::Changed { now: format!("{n_lines} lines long"), gone: None })
    }

    fn symbol(&self, claim: &Claim, search: &Search) -> Look {
        let spot = search.spot(&claim.value);
        if let Some(file) = &claim.within {
            let root = self.surroundings.project();
            let bytes = root.and_then(|root| root.read(file, Bounds::WHOLE.file).ok().flatten());
            if let Some((line, _)) = bytes.and_then(|bytes| find_in(&bytes, &claim.value)) {
                return holds(format!("{file}:{line}"));
            }
            if let Some(spot) = spot {
                let to = format!("{}:{}", spot.path, spot.line);
                return Look::Answer(State::Moved { to, gone: None });
            }
        }
        match spot {
            Some(spot) => holds(format!("{}:{}", spot.path, spot.line)),
            None if search.is_whole => Look::NoName { spellings: vec![claim.value.clone()] },
            None => unchecked(claim, Why::Large),
        }
    }

    fn flag(&self, claim: &Claim, search: &Search) -> Look {
        let is_another_programs = claim.within.as_ref().is_some_and(|program| !self.is_our_program(program));
        if is_another_programs {
            return unchecked(claim, Why::Elsewhere);
        }
        let spellings = flag_spellings(&claim.value);
        if let Some(spot) = spellings.iter().find_map(|name| search.spot(name)) {
            return holds(format!("{}:{}", spot.path, spot.line));
        }
        if search.is_whole { Look::NoName { spellings } } else { unchecked(claim, Why::Large) }
    }

    fn is_our_program(&self, program: &str) -> bool {
        self.surroundings.names().contains(&program.to_lowercase())
            || self.surroundings.tree().find(program).is_some()
    }

    fn command(&self, claim: &Claim) -> Look {
        match self.manifests().task(&claim.value) {
            Ok(file) => holds(file),
            Err(true) if claim.firm => Look::Answer(State::Missing { gone: None }),
            Err(_) => unchecked(claim, Why::Unknown),
        }
    }

    fn version(&self, claim: &Claim) -> Look {
        let Some((name, number)) = claim.value.rsplit_once(' ') else { return Look::Nothing };
        match self.manifests().version(name, number) {
            Version::Same(file) => holds(file),
            Version::Other(now) => Look::Answer(State::Changed { now: now.to_owned(), gone: None }),
            Version::Unknown => Look::Nothing,
        }
    }

    /// A branch is missing only if it was here: others have branches that nobody fetched.
    fn branch(&self, claim: &Claim) -> Look {
        let Some(git) = self.surroundings.git() else { return unchecked(claim, Why::Nowhere) };
        let name = claim.value.strip_prefix("origin/").unwrap_or(&claim.value);
        let mention = Mention { text: name.to_owned(), span: 0..0 };
        if !commits::refs(&git.common, &[mention]).is_empty() {
            return Look::Answer(State::Holds { at: None });
        }
        if head::was_branch(git, name) {
            return Look::Answer(State::Missing { gone: None });
        }
        unchecked(claim, Why::Unknown)
    }

    fn commit_claim(&self, claim: &Claim) -> Look {
        let Some(git) = self.surroundings.git() else { return unchecked(claim, Why::Nowhere) };
        if commits::find(&git.common, &self.surroundings.recent(), &claim.value).is_some() {
            return Look::Answer(State::Holds { at: None });
        }
        let is_shallow = matches!(git.common.open_file("shallow"), Ok(Some(_)));
        if claim.firm && !is_shallow {
            Look::Answer(State::Missing { gone: None })
        } else {
            unchecked(claim, Why::Unknown)
        }
    }
}
