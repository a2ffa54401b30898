//! What a model was asked, whatever the dialect.
//!
//! A [`Request`] keeps the bytes as they came and reads a conversation out of them: [`Request::spoken`] is everything
//! that was said, in order, with the role that the agent gave it. [`Request::continues`] compares two requests the way
//! a vendor's prompt cache does.

use serde_json::{Value, json};

use super::{anthropic, chat, gemini, responses};

/// The dialects of HTTP in which agents talk to models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's chat completions, which many others speak.
    Chat,
    /// Gemini's generateContent.
    Gemini,
}

/// One HTTP request, and the conversation in it.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    bytes: Vec<u8>,
    raw: String,
    body: Value,
    api: Option<Api>,
    conversation: Conversation,
}

/// A conversation as one dialect tells it.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    pub(super) spoken: Vec<Spoken>,
    pub(super) tools: Vec<String>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// `system`, `developer`, `user`, `assistant`, or `tool` for what a tool answered.
    pub role: String,
    /// The words; for a call of a tool its input as JSON.
    pub text: String,
    /// Which message of the request it stands in; 0 is what comes before the messages.
    pub message: usize,
}

impl Request {
    pub(super) fn new(method: String, path: String, headers: Vec<(String, String)>, bytes: Vec<u8>) -> Self {
        let raw = String::from_utf8_lossy(&bytes).into_owned();
        let body = serde_json::from_str(&raw).unwrap_or(Value::Null);
        let api = api_of(&method, &path);
        let conversation = match api {
            Some(Api::Anthropic) => anthropic::read(&body),
            Some(Api::Responses) => responses::read(&body),
            Some(Api::Chat) => chat::read(&body),
            Some(Api::Gemini) => gemini::read(&body),
            None => Conversation::default(),
        };
        Self { method, path, headers, bytes, raw, body, api, conversation }
    }

    /// The HTTP method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The path with its query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Every header, its name in lower case, in the order in which they came.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The body as it came.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same as text.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The body as JSON.
    pub fn body(&self) -> &Value {
        &self.body
    }

    /// The dialect; nothing for requests that want no answer of a model.
    pub fn api(&self) -> Option<Api> {
        self.api
    }

    /// The names of the tools that are offered.
    pub fn tools(&self) -> &[String] {
        &self.conversation.tools
    }

    /// Everything that was said, in order.
    pub fn spoken(&self) -> &[Spoken] {
        &self.conversation.spoken
    }

    /// Everything that was said, as one text.
    pub fn text(&self) -> String {
        self.spoken().iter().map(|spoken| spoken.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// What the user said in their last message.
    pub fn prompt(&self) -> String {
        let user = |spoken: &&Spoken| spoken.role == "user";
        let Some(last) = self.spoken().iter().rfind(user).map(|spoken| spoken.message) else {
            return String::new();
        };
        let said = self.spoken().iter().filter(user).filter(|spoken| spoken.message == last);
        said.map(|spoken| spoken.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// What tools answered, if they were the last to speak.
    ///
    /// Hosts put notes of their own after a tool's answer: as instructions, or as words beside it in the same message.
    pub fn result(&self) -> Option<String> {
        let is_turn = |spoken: &&Spoken| matches!(spoken.role.as_str(), "user" | "assistant" | "tool");
        let last = self.spoken().iter().rfind(is_turn)?;
        let tool_in =
            |message: usize| self.spoken().iter().filter(move |s| s.role == "tool" && s.message == message);
        if last.role == "assistant" || tool_in(last.message).next().is_none() {
            return None;
        }
        Some(tool_in(last.message).map(|spoken| spoken.text.as_str()).collect::<Vec<_>>().join("\n"))
    }

    /// Checks that this request begins with all of `earlier`: tools and instructions the same, messages a prefix.
    ///
    /// Marks for the vendor's cache move from request to request and are left out, and a message of plain text counts as
    /// a message of one text block; vendors do not count either. The error shows the first difference.
    pub fn continues(&self, earlier: &Self) -> Result<(), String> {
        for part in ["tools", "system", "instructions", "systemInstruction"] {
            let (before, now) = (plain(&earlier.body[part]), plain(&self.body[part]));
            if before != now {
                return Err(format!("`{part}` differs: {}", first_difference(&before, &now)));
            }
        }
        let (before, now) = (earlier.messages(), self.messages());
        if now.len() < before.len() {
            return Err(format!("{} messages became {}", before.len(), now.len()));
        }
        match before.iter().zip(&now).position(|(before, now)| before != now) {
            None => Ok(()),
            Some(at) => Err(format!("message {at} differs: {}", first_difference(&before[at], &now[at]))),
        }
    }

    /// How many messages at its beginning are those of `earlier`, compared in the same way.
    pub fn n_alike(&self, earlier: &Self) -> usize {
        let (before, now) = (earlier.messages(), self.messages());
        before.iter().zip(&now).take_while(|(before, now)| before == now).count()
    }

    /// The messages, each as text without what a cache does not count.
    fn messages(&self) -> Vec<String> {
        let key = match self.api {
            Some(Api::Responses) => "input",
            Some(Api::Gemini) => "contents",
            _ => "messages",
        };
        self.body[key].as_array().into_iter().flatten().map(plain).collect()
    }
}

/// Which dialect a request speaks: by the end of its path, for base URLs differ.
fn api_of(method: &str, path: &str) -> Option<Api> {
    let path = path.split('?').next().unwrap_or_default();
    if method != "POST" {
        return None;
    }
    [
        ("/messages", Api::Anthropic),
        ("/responses", Api::Responses),
        ("/chat/completions", Api::Chat),
        (":generateContent", Api::Gemini),
        (":streamGenerateContent", Api::Gemini),
    ]
    .into_iter()
    .find_map(|(end, api)| path.ends_with(end).then_some(api))
}

/// Flattens whatever a dialect calls content into text.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().map(text_of).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) => {
            let inner = ["text", "content", "output", "parts"].into_iter().find_map(|key| fields.get(key));
            inner.map(text_of).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// A value as text, without marks for caches and with plain strings as blocks.
fn plain(value: &Value) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("cache_control");
                if let Some(text) = fields.get("content").and_then(Value::as_str).map(str::to_owned)
                    && fields.contains_key("role")
                {
                    fields.insert("content".to_owned(), json!([{"type": "text", "text": text}]));
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = value.clone();
    strip(&mut value);
    value.to_string()
}

/// Shows where two texts part.
fn first_difference(before: &str, now: &str) -> String {
    const AROUND: usize = 60;
    let at = before.bytes().zip(now.bytes()).take_while(|(before, now)| before == now).count();
    let around = |text: &str| {
        let bytes = &text.as_bytes()[at.saturating_sub(AROUND)..(at + AROUND).min(text.len())];
        String::from_utf8_lossy(bytes).into_owned()
    };
    format!("at byte {at}: `{}` became `{}`", around(before), around(now))
}
