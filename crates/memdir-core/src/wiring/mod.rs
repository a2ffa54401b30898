//! How coding agents are told of memdir: which files, which entries, in and out again.
//!
//! Every agent has settings files of its own, which belong to the user. [`files`] says which of them say what about us;
//! [`wire`] puts our entries into a file's text and [`unwire`] takes them out, both without touching another byte. All of
//! it is text in, text out; reading and writing the files is the caller's part.
//!
//! ```text
//!   agent, scope, directories ─▶ files ─▶ HostFile { path, Content }
//!   text before ─▶ wire ─▶ text after, Undo                 text after, Undo ─▶ unwire ─▶ text before
//! ```
//!
//! Entries are recognised by their command (`command.rs`), so nothing but [`Undo`] has to be remembered, and without it
//! only the exact bytes are lost, not the way back. One file a format: `settings.rs` with `json.rs`, `toml.rs`,
//! `yaml.rs`, `script.rs`; `address.rs` for the base URL of a gateway. `switches/` knows by which settings a host does
//! nothing with them. Look at [`Content`] first.

mod address;
mod agents;
mod command;
mod events;
mod json;
mod script;
mod settings;
mod splice;
mod switches;
mod toml;
mod yaml;

#[cfg(test)]
mod tests;

pub use address::{Address, Format, address_file, variables};
pub use agents::{Directories, HostFile, Part, Scope, Signs, files, signs};
pub use command::{HookCall, SERVER, is_memdir};
pub use events::{Event, events};
pub use settings::Settings;
pub use splice::{Insertion, Undo};
pub use switches::{Keeper, Switch, SwitchFile, Wired, switch_files, switches};
pub use toml::is_trusted;

/// What we want to stand in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Entries in a settings file in JSON.
    Json(Settings),
    /// The server in Codex's `config.toml`, started by this program.
    Toml { program: String },
    /// The server in goose's `config.yaml`, started by this program.
    Yaml { program: String },
    /// A file that is all ours.
    Script { program: String },
    /// The address of the gateway, among other settings.
    Address(Address),
}

/// What a file holds of ours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The hooks.
    pub hooks: Vec<HookPlace>,
    /// Whether the server is there.
    pub has_server: bool,
    /// Which programs are called.
    pub programs: Vec<String>,
    /// Whether it is all that we want, once, and with the program that we want.
    pub is_complete: bool,
}

/// Where a hook stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookPlace {
    /// The event in the host's spelling.
    pub event: String,
    /// Which group of the event it is in, from 0.
    pub group: usize,
    /// Which hook of the group it is, from 0.
    pub number: usize,
    /// Its command line.
    pub command: String,
    /// How many seconds, or milliseconds, the host waits for it, if it says so.
    pub timeout: Option<u64>,
}

impl Found {
    /// Says whether nothing of ours is there.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && !self.has_server
    }
}

/// Why a file is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It is not written in its format.
    #[error("line {line} cannot be read: {what}")]
    Syntax { line: usize, what: &'static str },
    /// Something stands where our entries belong that cannot hold them.
    #[error("`{key}` is not {wanted}")]
    WrongKind { key: String, wanted: &'static str },
    /// Somebody else's entry has our name.
    #[error("`{key}` is there and is not memdir's")]
    Taken { key: String },
    /// Somebody else chose the address that the agent asks.
    #[error("`{key}` names another address")]
    Elsewhere { key: String },
    /// A file of ours was changed by somebody.
    #[error("it was changed by hand")]
    Changed,
    /// It ended where it could not end; does not happen with a text that was read once.
    #[error("there is nothing in it")]
    Empty,
}

impl Trouble {
    /// Says what can be done about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "mend the file, then run `memdir init` again; it was left as it is",
            Self::WrongKind { .. } => {
                "the agent cannot read this either: mend it, then run `memdir init` again"
            }
            Self::Taken { .. } => "rename or remove that entry, then run `memdir init` again",
            Self::Elsewhere { .. } => {
                "let the gateway ask it: make it the `url` of `[gateway.upstreams.NAME]` in memdir's config.toml, \
                 remove it here, then run `memdir init --gateway` again"
            }
            Self::Changed => "keep what you need of it, remove it, then run `memdir init` again",
            Self::Empty => "look at the file, then run `memdir init` again",
        }
    }
}

/// Says what a text holds of ours.
pub fn look(text: &str, content: &Content) -> Result<Found, Trouble> {
    match content {
        Content::Json(settings) => settings::look(text, settings),
        Content::Toml { program } => toml::look(text, program),
        Content::Yaml { program } => yaml::look(text, program),
        Content::Script { program } => Ok(script::look(text, program)),
        Content::Address(address) => address::look(text, address),
    }
}

/// Puts our entries into a text; `None` if they are there already. `undo` is what an earlier call returned: entries of
/// an older program are taken out by it before the new ones come in.
pub fn wire(text: &str, content: &Content, undo: Option<&Undo>) -> Result<Option<(String, Undo)>, Trouble> {
    match content {
        Content::Json(settings) => settings::wire(text, settings, undo),
        Content::Toml { program } => toml::wire(text, program, undo),
        Content::Yaml { program } => yaml::wire(text, program, undo),
        Content::Script { program } => script::wire(text, program, undo),
        Content::Address(address) => address::wire(text, address, undo),
    }
}

/// Takes our entries out of a text. With the `undo` of [`wire`] and nothing changed since, what is left is the text from
/// before, byte for byte; otherwise our entries go and everything else stays.
pub fn unwire(text: &str, content: &Content, undo: Option<&Undo>) -> Result<String, Trouble> {
    match content {
        Content::Json(settings) => settings::unwire(text, settings, undo),
        Content::Toml { .. } => toml::unwire(text, undo),
        Content::Yaml { .. } => yaml::unwire(text, undo),
        Content::Script { program } => script::unwire(text, program, undo),
        Content::Address(address) => address::unwire(text, address, undo),
    }
}

/// Says whether a text says nothing any more that we would not write into a new file.
pub fn is_bare(text: &str, content: &Content) -> bool {
    match content {
        Content::Json(settings) => settings::is_bare(text, settings),
        Content::Address(address) => address::is_bare(text, address),
        _ => text.trim().is_empty(),
    }
}
