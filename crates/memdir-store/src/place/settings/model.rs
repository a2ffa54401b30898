//! Which model may be asked, and for how much: the tables `[model]` and `[budget]` of the user's settings.
//!
//! Only the user's own file says any of it. A repository that names a model, an address or a key is told that it is not
//! for it to decide, as with everything else.

use std::fmt;
use std::str::FromStr;

use memdir_core::budget::{Caps, Price, Usd};

/// Who is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelSettings {
    /// `model.service`.
    pub service: ServiceKind,
    /// `model.name`: for work that wants judgement.
    pub name: Option<String>,
    /// `model.small`: for small questions; without it, the other one.
    pub small: Option<String>,
    /// `model.base_url`: where the service is, if not at its vendor's.
    pub base_url: Option<String>,
    /// `model.key_env`: the variable that holds the key.
    pub key_env: Option<String>,
    /// `model.price_in` and `model.price_out`: dollars for a million tokens.
    pub price: Option<Price>,
    price_in: Option<Usd>,
    price_out: Option<Usd>,
}

/// A kind of service that can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServiceKind {
    /// Nobody: everything works without.
    #[default]
    None,
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    OpenAi,
    /// Chat completions, wherever they are spoken.
    Chat,
    /// Claude Code, which has a login of its own.
    Claude,
    /// Codex, which has a login of its own.
    Codex,
    /// The model of whichever host calls the MCP server, while it calls.
    Sampling,
}

impl ServiceKind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Anthropic, Self::OpenAi, Self::Chat, Self::Claude, Self::Codex, Self::Sampling];

    /// Returns its name in settings and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Chat => "chat",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Sampling => "sampling",
        }
    }

    /// Returns the variable in which its key is kept by custom.
    pub fn usual_key_env(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::None | Self::Chat | Self::Claude | Self::Codex | Self::Sampling => None,
        }
    }

    /// Says whether it is asked over HTTP, and may have an address and a key.
    pub fn is_http(self) -> bool {
        matches!(self, Self::Anthropic | Self::OpenAi | Self::Chat)
    }
}

impl fmt::Display for ServiceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ServiceKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::as_str).join(", ");
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word)
            .ok_or_else(|| format!("`{word}` is none of {names}"))
    }
}

/// Takes a setting of one of the two tables; none if it is in neither. The inner value says why it has no effect.
pub(super) fn take(
    model: &mut ModelSettings,
    caps: &mut Caps,
    key: &str,
    value: &toml::Value,
) -> Option<Option<&'static str>> {
    let text = || value.as_str().map(str::to_owned).filter(|text| !text.trim().is_empty());
    let refused = match key {
        "model.service" => match value.as_str().and_then(|word| word.parse().ok()) {
            Some(service) => set(&mut model.service, Some(service), ""),
            None => Some("is none of `none`, `anthropic`, `openai`, `chat`, `claude`, `codex`, `sampling`"),
        },
        "model.name" => set_text(&mut model.name, text()),
        "model.small" => set_text(&mut model.small, text()),
        "model.base_url" => set_text(&mut model.base_url, text()),
        "model.key_env" => set_text(&mut model.key_env, text().filter(|name| is_variable(name))),
        "model.price_in" => set_some(&mut model.price_in, dollars(value)),
        "model.price_out" => set_some(&mut model.price_out, dollars(value)),
        "budget.day_usd" => set(&mut caps.day_usd, dollars(value), NOT_MONEY),
        "budget.day_tokens" => set(&mut caps.day_tokens, whole(value), NOT_A_COUNT),
        "budget.session_percent" => {
            set(&mut caps.session_percent, whole(value).filter(|percent| *percent <= 100), "is not 0 to 100")
        }
        _ => return None,
    };
    if let (Some(input), Some(output)) = (model.price_in, model.price_out) {
        model.price = Some(Price::plain(input, output));
    }
    Some(refused)
}

const NOT_MONEY: &str = "is not an amount of dollars";
const NOT_A_COUNT: &str = "is not a whole number of tokens";

fn set<T>(field: &mut T, value: Option<T>, why: &'static str) -> Option<&'static str> {
    match value {
        Some(value) => {
            *field = value;
            None
        }
        None => Some(why),
    }
}

fn set_text(field: &mut Option<String>, value: Option<String>) -> Option<&'static str> {
    set(field, value.map(Some), "is not a text that can stand there")
}

fn set_some(field: &mut Option<Usd>, value: Option<Usd>) -> Option<&'static str> {
    set(field, value.map(Some), NOT_MONEY)
}

fn dollars(value: &toml::Value) -> Option<Usd> {
    let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    number.and_then(Usd::from_dollars)
}

fn whole(value: &toml::Value) -> Option<u64> {
    value.as_integer().and_then(|number| u64::try_from(number).ok())
}

/// Says whether a text can be the name of a variable; a key that was put there by mistake cannot.
pub fn is_variable(name: &str) -> bool {
    let is_plain = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    is_plain && name.len() <= 64 && !name.starts_with(|c: char| c.is_ascii_digit())
}
