//! The ways in which models are asked, and how a request shows which one it is.

/// A way to ask a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// Chat completions, wherever they are spoken.
    Chat,
    /// Gemini's contents.
    Gemini,
}

impl Dialect {
    /// Says in which dialect a request asks a model for an answer, by its path as the service sees it; none if it asks for
    /// something else.
    pub fn of(method: &str, path: &str) -> Option<Self> {
        if method != "POST" {
            return None;
        }
        let ends = [
            ("/messages", Self::Messages),
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
            (":generateContent", Self::Gemini),
            (":streamGenerateContent", Self::Gemini),
        ];
        ends.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, dialect)| dialect)
    }

    /// Returns its name, as status and settings have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Gemini => "gemini",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_an_answer_shows_its_dialect() {
        let of = |path| Dialect::of("POST", path);
        assert_eq!(of("/v1/messages"), Some(Dialect::Messages));
        assert_eq!(of("/v1/responses"), Some(Dialect::Responses));
        assert_eq!(of("/v1/chat/completions"), Some(Dialect::Chat));
        assert_eq!(of("/v1beta/models/m:streamGenerateContent"), Some(Dialect::Gemini));
        assert_eq!(of("/v1beta/models/m:generateContent"), Some(Dialect::Gemini));
        for other in [
            "/v1/messages/count_tokens",
            "/v1/messages/batches",
            "/v1/models",
            "/v1beta/models/m:countTokens",
            "/",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(Dialect::of("GET", "/v1/responses"), None);
    }
}
