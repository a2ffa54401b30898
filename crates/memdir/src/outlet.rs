//! The last look at what leaves: no secret that we know of goes into a log, an error, a crash report or an answer.
//!
//! Gates keep secrets out of what memdir writes. What a person or another program put into a file, said to a hook or
//! typed as a name went through no gate, and still ends up in a message now and then. Every such way out asks here:
//! [`clean`] for a text, [`clean_json`] for a document, [`report_crashes`] for what a fault prints. A caller that has
//! the user's rules at hand brings them; an error is told in all circumstances, so it is judged by ours.

use std::borrow::Cow;
use std::panic::{self, PanicHookInfo};

use memdir_core::secrets::Scanner;
use serde_json::Value;

use crate::ui::Ui;

/// Returns `text` without its secrets, by our own rules.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    Scanner::builtin().redacted(text)
}

/// Takes the secrets out of every text of a document; its keys are ours.
pub(crate) fn clean_json(value: &mut Value, scanner: &Scanner) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = scanner.redacted(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean_json(item, scanner)),
        Value::Object(fields) => fields.values_mut().for_each(|field| clean_json(field, scanner)),
        _ => {}
    }
}

/// Has a fault of ours tell where it happened and what it was, without secrets: a message may quote the very text that
/// could not be handled.
pub(crate) fn report_crashes() {
    panic::set_hook(Box::new(|fault| Ui::complain(&report(fault))));
}

fn report(fault: &PanicHookInfo<'_>) -> String {
    let payload = fault.payload();
    let what = payload.downcast_ref::<&str>().copied();
    let what = what.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    let place = fault.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed");
    format!("memdir met a fault of its own: thread `{name}` panicked at {place}:\n{}\n", guarded(what))
}

/// Cleans what a fault says. The scanner itself may be at fault: then nothing is quoted.
fn guarded(what: &str) -> String {
    let clean = panic::catch_unwind(|| clean(what).into_owned());
    clean.unwrap_or_else(|_| "(what it said could not be looked through for secrets)".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn token() -> String {
        ["ghp", "_", "k9mVq2LpW7xZ4nRt", "Yb3cD5fG8hJ1sK6vQ2wE"].concat()
    }

    /// X5: what a fault prints.
    #[test]
    fn x5_a_crash_report_quotes_no_secret() {
        let said = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
        let heard = said.clone();
        panic::set_hook(Box::new(move |fault| *heard.lock().unwrap() = report(fault)));
        let text = format!("ü{}", token());
        // As a wrong cut does: the message quotes the text.
        let cut = 1;
        assert!(panic::catch_unwind(|| text[cut..].len()).is_err());
        let _ = panic::take_hook();
        let said = said.lock().unwrap();
        assert!(said.contains("char boundary") && said.contains("outlet.rs"), "{said}");
        assert!(said.contains("[REDACTED:github-pat]") && !said.contains(&token()), "{said}");
    }

    #[test]
    fn a_document_is_cleaned_to_its_leaves() {
        let mut value = json!({ "a": [{ "b": token() }, 3, null], "c": "plain" });
        clean_json(&mut value, &Scanner::builtin());
        assert_eq!(value, json!({ "a": [{ "b": "[REDACTED:github-pat]" }, 3, null], "c": "plain" }));
    }

    #[test]
    fn a_clean_text_stays_where_it_is() {
        assert!(matches!(clean("no memory `feedback-testing`"), Cow::Borrowed(_)));
    }
}
