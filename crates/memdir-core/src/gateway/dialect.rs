//! In which words a service is asked, by the path of a request.

/// The words of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's chat completions, which many others speak.
    Chat,
    /// Gemini's generateContent.
    Gemini,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Messages, Self::Responses, Self::Chat, Self::Gemini];

    /// Says in which words a request asks; `None` if it is not one that a conversation goes on with.
    ///
    /// Clients put their own beginning before the path (`/anthropic/v1/messages`), so its end decides. A path that is not
    /// plain is none of ours: it goes on unread.
    pub fn of(method: &str, path: &str) -> Option<Self> {
        let is_plain = !path.contains(['%', '\\', ';']) && !path.contains("//") && !path.contains("/.");
        if method != "POST" || !is_plain {
            return None;
        }
        let (before, last) = path.rsplit_once('/')?;
        match last {
            // `/v1/threads/…/messages` is something else.
            "messages" if before.ends_with("/v1") => Some(Self::Messages),
            "responses" => Some(Self::Responses),
            "completions" if before.ends_with("/chat") => Some(Self::Chat),
            _ => is_gemini(before, last).then_some(Self::Gemini),
        }
    }

    /// Returns the model that a path names. Only Gemini's do; the others name it in the body.
    pub fn model(self, path: &str) -> Option<&str> {
        let (model, _) = path.rsplit_once('/')?.1.split_once(':')?;
        Some(model).filter(|_| self == Self::Gemini)
    }

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Gemini => "gemini",
        }
    }
}

fn is_gemini(before: &str, last: &str) -> bool {
    let Some((model, verb)) = last.split_once(':') else { return false };
    let is_versioned = before.split('/').any(|part| matches!(part, "v1" | "v1beta" | "v1beta1"));
    !model.is_empty()
        && is_versioned
        && before.ends_with("/models")
        && matches!(verb, "generateContent" | "streamGenerateContent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_the_dialect_whatever_stands_before_it() {
        for (path, wanted) in [
            ("/v1/messages", Some(Dialect::Messages)),
            ("/anthropic/v1/messages", Some(Dialect::Messages)),
            ("/v1/responses", Some(Dialect::Responses)),
            ("/openai/v1/responses", Some(Dialect::Responses)),
            ("/v1/chat/completions", Some(Dialect::Chat)),
            ("/api/chat/completions", Some(Dialect::Chat)),
            ("/v1beta/models/gemini-2.5-pro:streamGenerateContent", Some(Dialect::Gemini)),
            ("/v1/models/gemini-2.5-pro:generateContent", Some(Dialect::Gemini)),
            ("/v1/messages/count_tokens", None),
            ("/v1/messages/batches", None),
            ("/v1/threads/t1/messages", None),
            ("/v1/responses/resp_1/cancel", None),
            ("/v1/completions", None),
            ("/v1beta/models/gemini-2.5-pro:countTokens", None),
            ("/v1beta/models/:generateContent", None),
            ("/x/models/m:generateContent", None),
            ("/v1//messages", None),
            ("/v1/./messages", None),
            ("/v1/%6dessages", None),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(Dialect::of("POST", path), wanted, "{path}");
            assert_eq!(Dialect::of("GET", path), None, "{path}");
        }
    }

    #[test]
    fn gemini_names_its_model_in_the_path() {
        let path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent";
        assert_eq!(Dialect::Gemini.model(path), Some("gemini-2.5-pro"));
        assert_eq!(Dialect::Chat.model("/v1/chat/completions"), None);
    }
}
