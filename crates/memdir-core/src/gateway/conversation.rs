//! Which conversation a request belongs to.
//!
//! Where the client names it, by that name, so that hooks and gateway speak of one session. A user's id or the key of a
//! cache is no such name: vendors have one for all that a user or a program asks. Else by how it begins:
//! instructions and the first thing that was said, which every later request repeats. The model is no part of it, for it
//! changes within a conversation, and nothing of ours is, for the client does not send it back.

use serde_json::Value;

use super::dialect::Dialect;
use super::fields::Fields;
use super::labels::Labels;
use crate::hash::ContentHash;

/// A longer name is no name.
const MAX_NAME: usize = 128;
/// As many digits of a hash are a name.
const DIGITS: usize = 32;
/// Begins a block that says who bills whom, with digits that differ from request to request.
const BILLING: &str = "x-anthropic-billing-header";

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Conversation {
    /// Its name.
    pub id: String,
    /// Whether the client gave it that name. Two conversations that begin alike have the same name otherwise.
    pub is_named: bool,
}

impl Conversation {
    /// Finds out which one it is.
    pub(super) fn of(
        dialect: Dialect,
        labels: &Labels,
        fields: &Fields<'_>,
        system: &[String],
        first: &str,
    ) -> Self {
        let named = labels.session.clone().or_else(|| in_body(dialect, fields));
        if let Some(id) = named.filter(|id| is_name(id)) {
            return Self { id, is_named: true };
        }
        let mut begins = String::new();
        for text in system.iter().filter(|text| !text.starts_with(BILLING)) {
            begins.push_str(text);
            begins.push('\0');
        }
        begins.push('\0');
        begins.push_str(first);
        let hash = ContentHash::of(begins.as_bytes()).to_string();
        Self { id: format!("gateway-{}", &hash[..DIGITS]), is_named: false }
    }
}

/// Says whether a text can be the name of a conversation everywhere.
fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_NAME).contains(&text.len()) && text.chars().all(is_plain) && !text.starts_with('.')
}

fn in_body(dialect: Dialect, fields: &Fields<'_>) -> Option<String> {
    match dialect {
        Dialect::Messages => of_user(&fields.object("metadata")?.text("user_id")?),
        Dialect::Responses | Dialect::Chat | Dialect::Gemini => None,
    }
}

/// Claude Code names its session within the user: as JSON, before that behind a word.
fn of_user(user: &str) -> Option<String> {
    if let Ok(Value::Object(parts)) = serde_json::from_str::<Value>(user) {
        return parts.get("session_id").and_then(Value::as_str).map(str::to_owned);
    }
    user.split_once("_session_").map(|(_, session)| session.to_owned())
}
