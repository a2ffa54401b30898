//! What the scripted model answers, and when.
//!
//! A [`Rule`] is a list of conditions that must all hold, and an answer. Rules that would match the answer to their
//! own tool call make an agent go round in circles, so [`Rule::on_prompt`] and [`Rule::on_result`] tell the two apart.

use std::time::Duration;

use serde_json::Value;

use super::request::{Api, Request};

/// One thing that the model says under some conditions.
#[derive(Debug, Clone)]
pub struct Rule {
    conditions: Vec<Condition>,
    /// How often it may still answer; without a number, always.
    left: Option<usize>,
    answer: Answer,
}

/// What must hold for a rule to answer.
#[derive(Debug, Clone)]
enum Condition {
    /// The user spoke last, and said this among other things.
    Prompt(String),
    /// A tool answered last, with this among other things.
    Result(String),
    /// It is this request of all that were answered by rules, counted from one.
    Number(usize),
    Api(Api),
    /// The request offers a tool of this name.
    Offers(String),
    /// The request offers tools; those for titles and summaries offer none.
    Tools(bool),
    /// The body holds this text somewhere.
    Body(String),
}

/// What a model says in one message.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) parts: Vec<Part>,
    pub(super) usage: Option<Usage>,
    /// An HTTP status in place of an answer.
    pub(super) refusal: Option<u16>,
    /// What goes wrong on the way.
    pub(super) mishap: Mishap,
}

/// What goes wrong with an answer on its way, for those who must bear it.
#[derive(Debug, Clone, Default)]
pub(super) struct Mishap {
    /// Nothing is sent for so long.
    pub(super) delay: Option<Duration>,
    /// Between two events so long passes.
    pub(super) trickle: Option<Duration>,
    /// After so many bytes of the stream the connection is closed.
    pub(super) cut: Option<usize>,
    /// This is sent in place of the stream.
    pub(super) garbled: Option<String>,
    /// Further headers, of a refusal.
    pub(super) headers: Vec<(String, String)>,
    /// What a refusal says.
    pub(super) words: Option<String>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Words for the user.
    Text(String),
    /// A call of a tool; for the Responses API `space/tool` calls a tool within a namespace.
    Call { tool: String, input: Value },
}

/// What an answer claims to have cost, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usage {
    /// Read anew.
    pub(super) input: u64,
    /// Read from the cache.
    pub(super) cached: u64,
    pub(super) output: u64,
}

impl Rule {
    /// Answers every request.
    pub fn always() -> Self {
        Self { conditions: Vec::new(), left: None, answer: Answer::default() }
    }

    /// Answers when the user spoke last and said `text`.
    pub fn on_prompt(text: &str) -> Self {
        Self::always().and(Condition::Prompt(text.to_owned()))
    }

    /// Answers when a tool answered last and said `text`.
    pub fn on_result(text: &str) -> Self {
        Self::always().and(Condition::Result(text.to_owned()))
    }

    /// Answers requests that offer no tools.
    pub fn without_tools() -> Self {
        Self::always().and(Condition::Tools(false))
    }

    /// Also wants tools to be offered, so that no title and no summary is meant.
    #[must_use]
    pub fn with_tools(self) -> Self {
        self.and(Condition::Tools(true))
    }

    /// Also wants this to be the `number`th request, counted from one.
    #[must_use]
    pub fn as_request(self, number: usize) -> Self {
        self.and(Condition::Number(number))
    }

    /// Also wants this dialect.
    #[must_use]
    pub fn over(self, api: Api) -> Self {
        self.and(Condition::Api(api))
    }

    /// Also wants a tool of this name to be offered.
    #[must_use]
    pub fn offering(self, tool: &str) -> Self {
        self.and(Condition::Offers(tool.to_owned()))
    }

    /// Also wants the body of the request to hold this text.
    #[must_use]
    pub fn having(self, text: &str) -> Self {
        self.and(Condition::Body(text.to_owned()))
    }

    /// Answers once only.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.left = Some(1);
        self
    }

    /// Says these words.
    #[must_use]
    pub fn says(mut self, text: &str) -> Self {
        self.answer.parts.push(Part::Text(text.to_owned()));
        self
    }

    /// Calls this tool; several calls in one message are fine.
    #[must_use]
    pub fn calls(mut self, tool: &str, input: Value) -> Self {
        self.answer.parts.push(Part::Call { tool: tool.to_owned(), input });
        self
    }

    /// Claims to have read this many tokens, which is how an agent is made to shorten its history.
    #[must_use]
    pub fn reading(mut self, input: u64) -> Self {
        self.answer.usage = Some(Usage { input, cached: 0, output: 20 });
        self
    }

    /// Answers with this HTTP status and no message.
    #[must_use]
    pub fn refuses(mut self, status: u16) -> Self {
        self.answer.refusal = Some(status);
        self
    }

    /// Claims to have read and written this many tokens, `cached` more of them from the cache.
    #[must_use]
    pub fn taking(mut self, input: u64, cached: u64, output: u64) -> Self {
        self.answer.usage = Some(Usage { input, cached, output });
        self
    }

    /// Refuses for now, and says after how many seconds to come back.
    #[must_use]
    pub fn refuses_for(mut self, status: u16, seconds: u64) -> Self {
        self.answer.mishap.headers.push(("Retry-After".to_owned(), seconds.to_string()));
        self.refuses(status)
    }

    /// Sends the asker to another address.
    #[must_use]
    pub fn redirects(mut self, url: &str) -> Self {
        self.answer.mishap.headers.push(("Location".to_owned(), url.to_owned()));
        self.refuses(307)
    }

    /// Refuses with these words; `{key}` in them becomes the key that was sent.
    #[must_use]
    pub fn refuses_saying(mut self, status: u16, words: &str) -> Self {
        self.answer.mishap.words = Some(words.to_owned());
        self.refuses(status)
    }

    /// Says nothing for this long, then answers.
    #[must_use]
    pub fn waits(mut self, delay: Duration) -> Self {
        self.answer.mishap.delay = Some(delay);
        self
    }

    /// Lets this much time pass between two events.
    #[must_use]
    pub fn trickles(mut self, pause: Duration) -> Self {
        self.answer.mishap.trickle = Some(pause);
        self
    }

    /// Closes the connection after so many bytes of the stream.
    #[must_use]
    pub fn breaks_off(mut self, bytes: usize) -> Self {
        self.answer.mishap.cut = Some(bytes);
        self
    }

    /// Sends this in place of a stream of events.
    #[must_use]
    pub fn garbles(mut self, text: &str) -> Self {
        self.answer.mishap.garbled = Some(text.to_owned());
        self
    }

    fn and(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    fn matches(&self, request: &Request, number: usize) -> bool {
        self.left != Some(0) && self.conditions.iter().all(|condition| condition.holds(request, number))
    }
}

impl Condition {
    fn holds(&self, request: &Request, number: usize) -> bool {
        match self {
            Self::Prompt(text) => request.result().is_none() && request.prompt().contains(text),
            Self::Result(text) => request.result().is_some_and(|result| result.contains(text)),
            Self::Number(wanted) => number == *wanted,
            Self::Api(api) => request.api() == Some(*api),
            Self::Offers(tool) => request.tools().iter().any(|name| name == tool),
            Self::Tools(wanted) => request.tools().is_empty() != *wanted,
            Self::Body(text) => request.raw().contains(text),
        }
    }
}

impl Answer {
    /// An answer of these words only.
    pub(super) fn text(text: &str) -> Self {
        Self { parts: vec![Part::Text(text.to_owned())], ..Self::default() }
    }

    /// What to claim for the answer to a body of this many bytes: four bytes a token unless the rule says otherwise.
    pub(super) fn usage(&self, bytes: usize) -> Usage {
        self.usage.unwrap_or(Usage { input: (bytes as u64 / 4).max(1), cached: 0, output: 20 })
    }

    /// Says whether a tool is called.
    pub(super) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call { .. }))
    }
}

/// Picks the answer to the `number`th request; "OK" where no rule matches.
pub(super) fn pick(rules: &mut [Rule], request: &Request, number: usize) -> Answer {
    let Some(rule) = rules.iter_mut().find(|rule| rule.matches(request, number)) else {
        return Answer::text("OK");
    };
    rule.left = rule.left.map(|left| left - 1);
    rule.answer.clone()
}
