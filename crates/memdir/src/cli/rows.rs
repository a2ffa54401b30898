//! Rows of JSON in, rows of JSON out: what `--jsonl` means.

use std::io::BufRead;

use serde_json::{Map, Value, json};

use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// One row that was read.
pub(crate) type Row = Map<String, Value>;

/// Answers every row of standard input, in order. A row that cannot be answered says why, and the command fails when
/// all have been answered.
pub(crate) fn answer(
    ui: &mut Ui,
    mut answer: impl FnMut(&Row) -> Result<Value, String>,
) -> Result<Outcome, Failure> {
    let mut n_bad = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|err| Failure::error(format!("could not read standard input: {err}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let read = serde_json::from_str::<Row>(&line).map_err(|err| format!("not a row of JSON: {err}"));
        let id = read.as_ref().ok().and_then(|row| row.get("id")).cloned();
        let answered = read.and_then(|row| answer(&row));
        n_bad += usize::from(answered.is_err());
        let mut out = Row::new();
        out.extend(id.map(|id| ("id".to_owned(), id)));
        match answered.unwrap_or_else(|why| json!({ "error": why })) {
            Value::Object(fields) => out.extend(fields),
            value => drop(out.insert("value".to_owned(), value)),
        }
        ui.json_row(&Value::Object(out));
    }
    match n_bad {
        0 => Ok(Outcome::Done),
        1 => Err(Failure::error("1 row could not be answered")),
        n => Err(Failure::error(format!("{n} rows could not be answered"))),
    }
}

/// Returns a text of a row.
pub(crate) fn text<'r>(row: &'r Row, key: &str) -> Result<&'r str, String> {
    match row.get(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`{key}` is not a text")),
        None => Err(format!("`{key}` is missing")),
    }
}
