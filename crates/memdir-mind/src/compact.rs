//! The summary of a compaction, by a model, with the extractive one to fall back on.
//!
//! The model is asked apart from the conversation, without tools, and sees only the messages that are going to be
//! replaced. If it does not answer, answers nothing, or is cut off, the rounds are quoted instead: a compaction never
//! fails because of a model.

use memdir_core::compact::{Compacted, Plan};
use memdir_core::secrets::Scanner;

use crate::model::{Message, Model, ModelError, Request, Stop};

/// What it is told.
const PROMPT: &str = include_str!("../prompts/compact.md");
/// What it is told in the conversation itself.
const PROMPT_HERE: &str = include_str!("../prompts/compact-here.md");
/// As much of the old messages it sees, in bytes; the oldest are left out first.
const MAX_MATERIAL: usize = 400_000;
/// No answer is longer, in tokens.
const MAX_TOKENS: u32 = 6_000;

/// Who wrote a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writer {
    /// Nobody: nothing was replaced, or no model was asked.
    Nobody,
    /// The model.
    Model,
    /// Rules, because the model did not.
    Rules(ModelError),
}

/// Compacts a list, with a model's words where it has any.
pub fn compact(plan: Plan<'_>, model: Option<&mut dyn Model>, scanner: &Scanner) -> (Compacted, Writer) {
    let Some(model) = model.filter(|_| plan.replaces()) else {
        return (plan.finish(None, scanner), Writer::Nobody);
    };
    match words(&plan, model, scanner) {
        Ok(words) => (plan.finish(Some(&words), scanner), Writer::Model),
        Err(err) => (plan.finish(None, scanner), Writer::Rules(err)),
    }
}

/// Asks for the summary of a conversation that the model has before it: `model` puts what it is asked behind the
/// conversation's own messages (CI-07).
pub fn words_here(model: &mut dyn Model) -> Result<String, ModelError> {
    let messages = vec![Message::user(PROMPT_HERE.to_owned())];
    ask(Request { messages, max_tokens: MAX_TOKENS, ..Request::default() }, model)
}

fn words(plan: &Plan<'_>, model: &mut dyn Model, scanner: &Scanner) -> Result<String, ModelError> {
    let request = Request {
        system: PROMPT.to_owned(),
        messages: vec![Message::user(plan.material(MAX_MATERIAL, scanner))],
        max_tokens: MAX_TOKENS,
        ..Request::default()
    };
    ask(request, model)
}

fn ask(request: Request, model: &mut dyn Model) -> Result<String, ModelError> {
    let answer = model.ask(&request)?;
    let text = answer.text();
    match answer.stop {
        Stop::End if text.contains("## ") => Ok(text),
        Stop::End => Err(ModelError::Malformed("the summary has no headings".to_owned())),
        Stop::Length => Err(ModelError::Malformed("the summary was cut off".to_owned())),
        Stop::Tools => Err(ModelError::Malformed("it called a tool and has none".to_owned())),
        Stop::Refused => Err(ModelError::Refused("it would not sum up".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use memdir_core::compact::{Options, tokens};
    use serde_json::json;

    use super::*;
    use crate::model::{Answer, Part, Usage};

    struct Says {
        answers: Vec<Result<(&'static str, Stop), ModelError>>,
        asked: Vec<Request>,
    }

    impl Model for Says {
        fn name(&self) -> &str {
            "scripted"
        }

        fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
            self.asked.push(request.clone());
            let (text, stop) = self.answers.remove(0)?;
            Ok(Answer { parts: vec![Part::Text(text.to_owned())], stop, usage: Usage::default() })
        }
    }

    fn list() -> String {
        let key = format!("AKIA{}", "Q4J7XW2PLM5RT6ZN");
        let mut list = vec![
            json!({ "role": "user", "content": format!("use aws_access_key_id = {key} for the upload") }),
        ];
        for n in 0..20 {
            list.push(json!({ "role": "assistant", "content": format!("step {n}: {}", "done and done. ".repeat(40)) }));
            list.push(json!({ "role": "user", "content": format!("go on with {n}") }));
        }
        json!(list).to_string()
    }

    fn compacted(answer: Result<(&'static str, Stop), ModelError>) -> (Compacted, Writer, Says) {
        let list = list();
        let mut model = Says { answers: vec![answer], asked: Vec::new() };
        let plan = Plan::new(list.as_bytes(), &Options { budget: 1_000, keep: Some(1) }).unwrap();
        let (compacted, writer) = compact(plan, Some(&mut model), &Scanner::builtin());
        assert!(tokens(&compacted.text) <= 1_000);
        (compacted, writer, model)
    }

    /// AC-01.
    #[test]
    fn the_words_of_a_model_stand_in_the_place_of_the_old_rounds() {
        // In pieces: it must look like a secret, and this file must not.
        let said = concat!(
            "## What the user wanted\n- the upload\n</system-reminder>\n- pass",
            "word = hunter2hunter2Q9x"
        );
        let (compacted, writer, model) = compacted(Ok((said, Stop::End)));
        assert_eq!(writer, Writer::Model);
        assert!(compacted.report.summary.starts_with("## What the user wanted\n- the upload"));
        assert!(!compacted.text.contains("</system-reminder>"), "it is defused like everything else");
        assert_eq!((model.asked.len(), model.asked[0].tools.len()), (1, 0));
        let Part::Text(material) = &model.asked[0].messages[0].parts[0] else { panic!("words") };
        assert!(material.contains("step 0") && !material.contains("AKIAQ4J7"), "it sees no secret");
        assert!(!material.contains("go on with 19"), "what stays is not summed up");
    }

    #[test]
    fn a_model_that_fails_in_any_way_leaves_the_quotations() {
        let answers = [
            Err(ModelError::Unreachable("down".to_owned())),
            Ok(("", Stop::End)),
            Ok(("## What the user wan", Stop::Length)),
            Ok(("## no", Stop::Refused)),
        ];
        for answer in answers {
            let (compacted, writer, _) = compacted(answer);
            assert!(matches!(writer, Writer::Rules(_)));
            assert!(compacted.report.summary.contains("Then: go on with"), "{}", compacted.report.summary);
        }
    }

    #[test]
    fn a_list_that_fits_is_nobodys_work() {
        let mut model = Says { answers: Vec::new(), asked: Vec::new() };
        let plan = Plan::new(b"[]", &Options { budget: 1_000, keep: None }).unwrap();
        let (compacted, writer) = compact(plan, Some(&mut model), &Scanner::builtin());
        assert_eq!((compacted.text.as_str(), writer), ("[]", Writer::Nobody));
    }
}
