//! What a sub-agent proposes, checked before anybody believes it.
//!
//! A proposal comes as JSON from a model. [`Tray::put`] takes it or says in one line what is wrong with it: names, sizes,
//! numbers, versions, and the words it rests on, which must have been said. The sub-agent's process checks so that the model
//! learns of it; the process that started it checks the same again, for it believes nobody.
//!
//! A new way to change a vault is a variant of [`Proposal`] and an arm of [`Tray::read`].

use std::cell::OnceCell;
use std::collections::BTreeSet;

use memdir_core::extract::Evidence;
use memdir_core::hash::ContentHash;
use memdir_core::likeness::{Likeness, nearest_duplicate};
use memdir_core::memory::{MemoryName, MemoryPath, MemoryType, Scope};
use serde_json::Value;

use super::budget::Budget;
use super::quote::{Said, find_quote};
use super::report::{Kind, Refused};
use super::view::{Known, View};

/// As many quotes of one proposal are looked up.
const MAX_EVIDENCE: usize = 8;
/// No description is longer, in bytes.
const MAX_DESCRIPTION: usize = 400;
/// As much of a file, about, is no part of what it says.
const MAX_FRONTMATTER: usize = 1024;
/// No kind is longer, in bytes.
const MAX_KIND: usize = 32;

/// A change that a sub-agent proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposal {
    /// A memory that is not there yet.
    New {
        /// Its name.
        name: MemoryName,
        /// What it says.
        content: Content,
    },
    /// Another text for a memory.
    Update {
        /// Which one.
        target: Target,
        /// What it says then.
        content: Content,
    },
    /// One memory in place of several.
    Merge {
        /// Those that leave.
        sources: Vec<Target>,
        /// The one that takes their place; may have the name of one of them.
        name: MemoryName,
        /// What it says.
        content: Content,
    },
    /// A memory that another one made untrue.
    Supersede {
        /// The one that leaves.
        target: Target,
        /// The one that holds.
        by: MemoryPath,
        /// Why.
        reason: String,
    },
    /// A memory that is of no more use.
    Archive {
        /// Which one.
        target: Target,
        /// Why.
        reason: String,
    },
}

/// A memory of the copy, in the version that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where it is.
    pub path: MemoryPath,
    /// Which version.
    pub base: ContentHash,
}

/// What a proposed memory says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Which of the four types.
    pub memory_type: MemoryType,
    /// A finer kind.
    pub kind: Option<String>,
    /// Who may see it.
    pub scope: Scope,
    /// One line.
    pub description: String,
    /// The markdown below.
    pub body: String,
    /// The words it rests on, as they were said.
    pub evidence: Vec<Evidence>,
}

impl Proposal {
    /// Returns how many memories it takes out of the vault.
    pub fn n_removals(&self) -> usize {
        match self {
            Self::New { .. } | Self::Update { .. } => 0,
            Self::Merge { sources, name, .. } => {
                sources.iter().filter(|source| source.path.stem() != name.as_str()).count()
            }
            Self::Supersede { .. } | Self::Archive { .. } => 1,
        }
    }

    /// Returns the memories it changes, by file.
    fn touches(&self) -> Vec<&str> {
        match self {
            Self::New { name, .. } => vec![name.as_str()],
            Self::Update { target, .. } | Self::Supersede { target, .. } | Self::Archive { target, .. } => {
                vec![target.path.stem()]
            }
            Self::Merge { sources, name, .. } => {
                let mut names: Vec<&str> = sources.iter().map(|source| source.path.stem()).collect();
                names.push(name.as_str());
                names
            }
        }
    }
}

/// What was proposed so far, and what may be.
#[derive(Debug)]
pub struct Tray<'a> {
    view: &'a View,
    window: &'a [Said],
    budget: &'a Budget,
    /// The memories that were read: a text may be replaced by who knows it.
    seen: BTreeSet<MemoryPath>,
    /// What of each memory is compared with a new text; worked out when it is first needed.
    likenesses: Vec<OnceCell<Likeness>>,
    touched: BTreeSet<String>,
    n_removals: usize,
    taken: Vec<(Proposal, Value)>,
}

impl<'a> Tray<'a> {
    /// Begins with nothing. Where something was said, a proposal must rest on it.
    pub fn new(view: &'a View, window: &'a [Said], budget: &'a Budget) -> Self {
        Self {
            view,
            window,
            budget,
            seen: BTreeSet::new(),
            likenesses: vec![OnceCell::new(); view.memories.len()],
            touched: BTreeSet::new(),
            n_removals: 0,
            taken: Vec::new(),
        }
    }

    /// Notes that a memory was read.
    pub fn saw(&mut self, path: &MemoryPath) {
        self.seen.insert(path.clone());
    }

    /// Returns how many proposals it holds.
    pub fn n_taken(&self) -> usize {
        self.taken.len()
    }

    /// Returns how many memories they take out of the vault.
    pub fn n_removals(&self) -> usize {
        self.n_removals
    }

    /// Takes a proposal, or says why not.
    pub fn put(&mut self, raw: &Value) -> Result<&Proposal, Refused> {
        if self.taken.len() >= self.budget.files {
            let line = format!("no more than {} proposals are taken", self.budget.files);
            return Err(Refused::new(Kind::Files, line));
        }
        let proposal = self.read(raw)?;
        let n_removals = self.n_removals + proposal.n_removals();
        if n_removals > self.budget.removals {
            let line = format!("no more than {} memories may be taken away", self.budget.removals);
            return Err(Refused::new(Kind::Removals, line));
        }
        for name in proposal.touches() {
            if self.touched.contains(name) {
                return Err(Refused::new(Kind::Taken, format!("`{name}` was proposed already")));
            }
        }
        self.touched.extend(proposal.touches().into_iter().map(str::to_owned));
        self.n_removals = n_removals;
        let raw = self.with_bases(raw, &proposal);
        self.taken.push((proposal, raw));
        Ok(&self.taken.last().expect("something was just put there").0)
    }

    /// Returns the proposals.
    pub fn into_proposals(self) -> Vec<Proposal> {
        self.taken.into_iter().map(|(proposal, _)| proposal).collect()
    }

    /// Returns the proposals as they were made, for somebody who checks them again.
    pub fn into_raw(self) -> Vec<Value> {
        self.taken.into_iter().map(|(_, raw)| raw).collect()
    }

    fn read(&self, raw: &Value) -> Result<Proposal, Refused> {
        let action = text(raw, "action").unwrap_or("new");
        match action {
            "new" => self.read_new(raw),
            "update" => {
                let known = self.known(raw, "name")?;
                let content = self.content(raw, Some(known))?;
                Ok(Proposal::Update { target: self.target(raw, known)?, content })
            }
            "merge" => self.read_merge(raw),
            "supersede" => {
                let known = self.known(raw, "name")?;
                let by = self.known(raw, "by")?.path.clone();
                if by == known.path {
                    return Err(Refused::new(Kind::Input, "a memory does not supersede itself"));
                }
                Ok(Proposal::Supersede { target: self.target(raw, known)?, by, reason: reason(raw)? })
            }
            "archive" => {
                let known = self.known(raw, "name")?;
                Ok(Proposal::Archive { target: self.target(raw, known)?, reason: reason(raw)? })
            }
            "delete" | "remove" | "forget" | "erase" => {
                Err(Refused::new(Kind::Removals, "nothing is ever deleted here"))
            }
            _ => Err(Refused::new(Kind::Input, format!("`{action}` is no action"))),
        }
    }

    fn read_new(&self, raw: &Value) -> Result<Proposal, Refused> {
        let name = self.new_name(raw)?;
        if self.view.memories.iter().any(|known| known.path.stem() == name.as_str()) {
            let line = format!("`{name}` is there already: read it, then propose an update of it");
            return Err(Refused::new(Kind::Taken, line));
        }
        let content = self.content(raw, None)?;
        if let Some(known) = self.duplicate_of(&content) {
            let line = format!("`{}` says this already", known.path.stem());
            return Err(Refused::new(Kind::Duplicate, line));
        }
        Ok(Proposal::New { name, content })
    }

    fn read_merge(&self, raw: &Value) -> Result<Proposal, Refused> {
        let names = raw.get("names").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if names.len() < 2 {
            return Err(Refused::new(Kind::Input, "a merge needs two `names` at least"));
        }
        if names.len() > self.budget.removals.saturating_add(1) {
            let line = format!("no more than {} memories may be taken away", self.budget.removals);
            return Err(Refused::new(Kind::Removals, line));
        }
        let mut sources: Vec<Target> = Vec::new();
        for name in names {
            let known = self.view.find(name.as_str().unwrap_or_default())?;
            let target =
                self.target(&Value::Null, known).or_else(|refused| with_base(raw, known).ok_or(refused))?;
            if sources.contains(&target) {
                return Err(Refused::new(Kind::Input, format!("`{}` is named twice", known.path.stem())));
            }
            sources.push(target);
        }
        let name = self.new_name(raw)?;
        let is_there = self.view.memories.iter().any(|known| known.path.stem() == name.as_str());
        if is_there && !sources.iter().any(|source| source.path.stem() == name.as_str()) {
            return Err(Refused::new(Kind::Taken, format!("`{name}` is another memory")));
        }
        Ok(Proposal::Merge { sources, name, content: self.content(raw, None)? })
    }

    fn new_name(&self, raw: &Value) -> Result<MemoryName, Refused> {
        let name = text(raw, "name").unwrap_or_default();
        let looks_like_a_path = name.contains(['/', '\\', '\0']) || name.starts_with(['.', '~']);
        MemoryName::new(name).map_err(|err| {
            let kind = if looks_like_a_path { Kind::Path } else { Kind::Input };
            Refused::new(kind, format!("{err}: a name has a-z, 0-9, `-` and `_`"))
        })
    }

    fn known(&self, raw: &Value, field: &str) -> Result<&'a Known, Refused> {
        self.view.find(text(raw, field).unwrap_or_default())
    }

    /// Returns the version that the proposal was made for. Whoever read the memory in this run has seen the one we have.
    fn target(&self, raw: &Value, known: &Known) -> Result<Target, Refused> {
        let name = known.path.stem();
        let Some(base) = known.base.filter(|_| known.is_sound) else {
            return Err(Refused::new(Kind::Stale, format!("`{name}` cannot be changed from here")));
        };
        match text(raw, "base") {
            Some(given) if given.len() >= 8 && base.to_string().starts_with(given) => {}
            Some(_) => {
                return Err(Refused::new(Kind::Stale, format!("`base` is not the version of `{name}`")));
            }
            None if self.seen.contains(&known.path) => {}
            None => return Err(Refused::new(Kind::Stale, format!("read `{name}` before you change it"))),
        }
        Ok(Target { path: known.path.clone(), base })
    }

    fn content(&self, raw: &Value, before: Option<&Known>) -> Result<Content, Refused> {
        let description = text(raw, "description").or(before.map(|known| known.description.as_str()));
        let description = one_line(description.unwrap_or_default());
        let body = text(raw, "body").unwrap_or_default().trim().to_owned();
        if description.is_empty() || body.is_empty() {
            return Err(Refused::new(Kind::Input, "a memory needs a `description` and a `body`"));
        }
        if description.len() > MAX_DESCRIPTION || body.len() > self.budget.file_bytes {
            let line = format!(
                "too long: a description has {MAX_DESCRIPTION} bytes at most, a body {}",
                self.budget.file_bytes
            );
            return Err(Refused::new(Kind::Size, line));
        }
        let memory_type = match text(raw, "type") {
            Some(word) => word.parse().map_err(|err| Refused::new(Kind::Input, format!("{err}")))?,
            None => before
                .and_then(|known| known.memory_type)
                .ok_or_else(|| Refused::new(Kind::Input, "a memory needs a `type`"))?,
        };
        let kind = text(raw, "kind").filter(|kind| kind.len() <= MAX_KIND);
        let kind = kind.and_then(|kind| Some(MemoryName::new(kind).ok()?.as_str().to_owned()));
        Ok(Content {
            memory_type,
            kind,
            scope: scope(raw, memory_type)?,
            description,
            body,
            evidence: self.evidence(raw)?,
        })
    }

    /// Looks up each quote. One that is in another message than the model says is found there.
    fn evidence(&self, raw: &Value) -> Result<Vec<Evidence>, Refused> {
        if self.window.is_empty() {
            return Ok(Vec::new());
        }
        let given = raw.get("evidence").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if given.is_empty() || given.len() > MAX_EVIDENCE {
            let line = format!("`evidence` must quote what was said, 1 to {MAX_EVIDENCE} times");
            return Err(Refused::new(Kind::Evidence, line));
        }
        given.iter().map(|given| self.quoted(given)).collect()
    }

    fn quoted(&self, given: &Value) -> Result<Evidence, Refused> {
        let quote = text(given, "quote").unwrap_or_default();
        // Numbers are shown to the model from 1 on.
        let number = given.get("message").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let named = number.and_then(|number| number.checked_sub(1));
        let in_message = |message: usize| {
            let said = self.window.get(message)?;
            let place = find_quote(&said.text, quote)?;
            Some(Evidence { message, quote: said.text[place].to_owned() })
        };
        let anywhere = || {
            let found = (0..self.window.len()).filter_map(in_message);
            // Where several said it, the one who is believed least counts.
            found.max_by_key(|found| self.window[found.message].role)
        };
        named.and_then(in_message).or_else(anywhere).ok_or_else(|| {
            Refused::new(Kind::Evidence, format!("nobody said \"{}\"", memdir_core::text::fit(quote, 80)))
        })
    }

    /// Finds the memory that says the same. One that is half or twice as long does not, and is not even read.
    fn duplicate_of(&self, content: &Content) -> Option<&'a Known> {
        let length = content.description.len() + content.body.len();
        let is_near = |known: &Known| {
            let other = known.text.len();
            other <= length * 2 + MAX_FRONTMATTER && length <= other * 2
        };
        let near: Vec<usize> = self
            .view
            .memories
            .iter()
            .enumerate()
            .filter(|(_, known)| is_near(known))
            .map(|(at, _)| at)
            .collect();
        let likeness = |at: &usize| {
            let known = &self.view.memories[*at];
            self.likenesses[*at].get_or_init(|| Likeness::of(&known.description, &known.body()))
        };
        let draft = Likeness::of(&content.description, &content.body);
        let (at, _) = nearest_duplicate(&draft, near.iter().map(likeness))?;
        self.view.memories.get(near[at])
    }

    /// Writes the versions into the proposal, for who has not seen what was read.
    fn with_bases(&self, raw: &Value, proposal: &Proposal) -> Value {
        let mut raw = raw.clone();
        let Some(fields) = raw.as_object_mut() else { return raw };
        match proposal {
            Proposal::New { .. } => {}
            Proposal::Update { target, .. }
            | Proposal::Supersede { target, .. }
            | Proposal::Archive { target, .. } => {
                fields.insert("base".to_owned(), target.base.to_string().into());
            }
            Proposal::Merge { sources, .. } => {
                let bases: Vec<String> = sources.iter().map(|source| source.base.to_string()).collect();
                fields.insert("bases".to_owned(), bases.into());
            }
        }
        raw
    }
}

/// Finds the version of a merged memory among those that a proposal lists.
fn with_base(raw: &Value, known: &Known) -> Option<Target> {
    let base = known.base.filter(|_| known.is_sound)?;
    let bases = raw.get("bases")?.as_array()?;
    let is_named = bases.iter().filter_map(Value::as_str).any(|given| given == base.to_string());
    is_named.then(|| Target { path: known.path.clone(), base })
}

fn scope(raw: &Value, memory_type: MemoryType) -> Result<Scope, Refused> {
    let scope = match text(raw, "scope") {
        Some(word) => word.parse().map_err(|err| Refused::new(Kind::Input, format!("{err}")))?,
        None => Scope::Private,
    };
    Ok(if memory_type == MemoryType::User { Scope::Private } else { scope })
}

fn reason(raw: &Value) -> Result<String, Refused> {
    let reason = one_line(text(raw, "reason").unwrap_or_default());
    if reason.is_empty() || reason.len() > MAX_DESCRIPTION {
        return Err(Refused::new(Kind::Input, "say the `reason` in one line"));
    }
    Ok(reason)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text<'v>(raw: &'v Value, field: &str) -> Option<&'v str> {
    raw.get(field)?.as_str().filter(|text| !text.is_empty())
}
