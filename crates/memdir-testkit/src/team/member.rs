//! Somebody with a token, and the texts they write.

use memdir_core::hash::ContentHash;
use serde_json::{Value, json};

use super::http::Ask;

/// A member of a team, as joining tells it.
#[derive(Clone, Debug)]
pub struct Member {
    /// The token.
    pub token: String,
    /// The team.
    pub team: String,
    /// The name.
    pub name: String,
}

impl Member {
    /// Reads what joining answers.
    pub(super) fn new(joined: &Value) -> Self {
        let word = |key: &str| joined[key].as_str().unwrap().to_owned();
        Self { token: word("token"), team: word("team"), name: word("member") }
    }

    /// A request about their team, with their token; `target` is what stands behind `/v1/teams/{team}`.
    pub fn ask(&self, method: &str, target: &str) -> Ask {
        Ask::new(method, &format!("/v1/teams/{}{target}", self.team)).token(&self.token)
    }

    /// The same member with another token.
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }
}

/// A memory that a team takes, with this body.
pub fn team_memory(name: &str, body: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: What there is to know about {name}\ntype: project\nscope: team\n---\n\n{body}\n"
    )
}

/// The hash of a text, as the wire has it.
pub fn sha256(text: &str) -> String {
    ContentHash::of(text.as_bytes()).to_string()
}

/// An operation of a batch that writes a text over the version `base`; `null` for a memory that never was.
pub fn put_op(path: &str, base: Value, text: &str) -> Value {
    json!({ "op": "put", "path": path, "base": base, "hash": sha256(text), "text": text })
}
