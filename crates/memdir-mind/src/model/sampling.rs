//! A model that a host lends: whoever speaks MCP may offer to have its own model asked.
//!
//! What is asked goes through a function, so that nothing here knows how the host is reached. The host decides which
//! model answers and asks its user; it tells no usage, so tokens are guessed.

use memdir_core::budget::likely_tokens;

use super::spoken;
use super::{Answer, Model, ModelError, Request, Usage};

/// A host's own model, asked by `ask`: instructions, prompt and the most tokens in, the answer out.
pub struct Sampling<F> {
    name: String,
    ask: F,
}

impl<F> Sampling<F>
where
    F: FnMut(&str, &str, u32) -> Result<String, ModelError>,
{
    /// Takes the host's name, for receipts, and the way to it.
    pub fn new(host: &str, ask: F) -> Self {
        Self { name: format!("sampling-{host}"), ask }
    }
}

impl<F> Model for Sampling<F>
where
    F: FnMut(&str, &str, u32) -> Result<String, ModelError>,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
        let prompt = spoken::prompt(request);
        let said = (self.ask)(&request.system, &prompt, request.max_tokens)?;
        let input = likely_tokens(request.system.len() + prompt.len());
        let usage = Usage { input, output: likely_tokens(said.len()), ..Usage::default() };
        Ok(spoken::answer(request, &said, usage))
    }

    fn is_metered(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::Message;
    use super::*;

    #[test]
    fn a_host_is_asked_in_words_and_what_it_took_is_guessed() {
        let request = Request {
            system: "be brief".into(),
            messages: vec![Message::user("12345678")],
            max_tokens: 7,
            ..Request::default()
        };
        let mut model = Sampling::new("copilot", |system: &str, prompt: &str, most: u32| {
            assert_eq!((system, prompt, most), ("be brief", "12345678\n\n", 7));
            Ok("fine".to_owned())
        });
        let answer = model.ask(&request).unwrap();
        assert_eq!((answer.text().as_str(), answer.usage.input, answer.usage.output), ("fine", 5, 1));
        assert_eq!(model.name(), "sampling-copilot");
        let mut silent = Sampling::new("copilot", |_: &str, _: &str, _: u32| Err(ModelError::None));
        assert_eq!(silent.ask(&request), Err(ModelError::None));
    }
}
