//! The arguments of a call, read one by one: of the right kind and within limits, or an answer that says what is wrong.

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::failure::Failure;

/// The longest text that is taken.
pub(super) const MAX_TEXT: usize = 102_400;
/// The longest list that is taken.
const MAX_LIST: usize = 200;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments(pub(super) JsonObject);

impl Arguments {
    /// Returns a text that must be there.
    pub(super) fn text(&self, name: &str) -> Result<String, Failure> {
        self.optional_text(name)?.ok_or_else(|| Failure::refusal(format!("`{name}` is missing")))
    }

    /// Returns a text that may be there; an empty one is none.
    pub(super) fn optional_text(&self, name: &str) -> Result<Option<String>, Failure> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) => {
                within(text.len(), MAX_TEXT, name, "bytes")?;
                Ok(Some(text.clone()).filter(|text| !text.trim().is_empty()))
            }
            Some(_) => Err(Failure::refusal(format!("`{name}` must be a string"))),
        }
    }

    /// Returns the texts of a list; a single text is a list of one.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Failure> {
        let wrong = || Failure::refusal(format!("`{name}` must be a list of strings"));
        let items = match self.given(name) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or_else(wrong)?,
            Some(_) => return Err(wrong()),
        };
        within(items.len(), MAX_LIST, name, "items")?;
        within(items.iter().map(String::len).sum(), MAX_TEXT, name, "bytes")?;
        Ok(items.into_iter().filter(|text| !text.trim().is_empty()).collect())
    }

    /// Returns a whole number between two others.
    pub(super) fn number(&self, name: &str, default: i64, least: i64, most: i64) -> Result<i64, Failure> {
        let number = match self.given(name) {
            None => return Ok(default),
            // Some models write numbers as strings.
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(value) => value.as_i64(),
        };
        let is_within = |number: &i64| (least..=most).contains(number);
        number.filter(is_within).ok_or_else(|| {
            Failure::refusal(format!("`{name}` must be a whole number from {least} to {most}"))
        })
    }

    /// Returns yes or no; no if nothing is said.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Failure> {
        match self.given(name) {
            None => Ok(false),
            Some(value) => {
                value.as_bool().ok_or_else(|| Failure::refusal(format!("`{name}` must be true or false")))
            }
        }
    }

    fn given(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }
}

fn within(n: usize, limit: usize, name: &str, unit: &str) -> Result<(), Failure> {
    if n <= limit {
        return Ok(());
    }
    Err(Failure::refusal(format!("`{name}` has {n} {unit}: at most {limit} are taken")))
}
