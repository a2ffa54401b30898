//! Logs and questions from files: one JSON row a line, also packed with xz.
//!
//! A row of a log names its haystack. Where it is `*` the turn belongs to every haystack that lists its session, which
//! a question does with `sessions`.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufReader, Cursor};
use std::path::Path;

use memdir_core::turns::Turn;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// Stands for every haystack that lists the session.
const EVERY: &str = "*";

#[derive(Deserialize)]
struct DocRow {
    h: String,
    id: String,
    s: String,
    #[serde(default)]
    t: String,
    #[serde(default)]
    who: String,
    text: String,
}

/// A question with what answers it.
#[derive(Deserialize)]
pub(super) struct QueryRow {
    /// The haystack.
    pub(super) h: String,
    /// The question.
    pub(super) q: String,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    /// The turns that answer it.
    #[serde(default)]
    pub(super) gold: Vec<String>,
    /// Their sessions.
    #[serde(default)]
    pub(super) gold_s: Vec<String>,
    #[serde(default)]
    sessions: Vec<Listed>,
}

/// A session as a haystack lists it, perhaps with its date.
#[derive(Deserialize)]
#[serde(untagged)]
enum Listed {
    Name(String),
    Dated(String, String),
}

/// A turn with the haystacks it belongs to.
pub(super) struct Doc {
    pub(super) haystacks: Vec<String>,
    pub(super) turn: Turn,
}

/// The turns and the questions of one benchmark.
pub(super) struct Haystacks {
    pub(super) docs: Vec<Doc>,
    pub(super) queries: Vec<QueryRow>,
}

impl Haystacks {
    /// Reads both files.
    pub(super) fn read(docs: &Path, queries: &Path) -> Result<Self, Failure> {
        let rows: Vec<DocRow> = read_rows(docs)?;
        let mut asked: Vec<QueryRow> = read_rows(queries)?;
        if rows.is_empty() || asked.is_empty() {
            let empty = if rows.is_empty() { docs } else { queries };
            return Err(Failure::error(format!("{}: there are no rows", empty.display())));
        }
        for query in &mut asked {
            distinct(&mut query.gold);
            distinct(&mut query.gold_s);
        }
        let listed = listed(&asked);
        let docs = rows.into_iter().enumerate().map(|(at, row)| doc(at, row, &listed)).collect();
        Ok(Self { docs, queries: asked })
    }
}

/// Returns which haystacks list each session, and the date that the first of them gives it.
fn listed(queries: &[QueryRow]) -> HashMap<&str, (Vec<String>, &str)> {
    let mut listed: HashMap<&str, (Vec<String>, &str)> = HashMap::new();
    for query in queries {
        for session in &query.sessions {
            let (name, date) = match session {
                Listed::Name(name) => (name, ""),
                Listed::Dated(name, date) => (name, date.as_str()),
            };
            let (haystacks, _) = listed.entry(name).or_insert_with(|| (Vec::new(), date));
            if !haystacks.contains(&query.h) {
                haystacks.push(query.h.clone());
            }
        }
    }
    listed
}

fn doc(at: usize, row: DocRow, listed: &HashMap<&str, (Vec<String>, &str)>) -> Doc {
    let DocRow { h, id, s, t, who, text } = row;
    let listing = listed.get(s.as_str());
    let date = if t.is_empty() { listing.map_or("", |(_, date)| date).to_owned() } else { t };
    let haystacks = match h.as_str() {
        EVERY => listing.map_or_else(Vec::new, |(haystacks, _)| haystacks.clone()),
        _ => vec![h],
    };
    let turn = Turn { id, session: s, position: at as u32, speaker: who, date, text };
    Doc { haystacks, turn }
}

fn distinct(names: &mut Vec<String>) {
    let mut seen = BTreeMap::new();
    names.retain(|name| seen.insert(name.clone(), ()).is_none());
}

fn read_rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Failure> {
    let text = read_text(path)?;
    let row = |(n, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|err| Failure::error(format!("{}:{}: {err}", path.display(), n + 1)))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(row).collect()
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let wrong = |what: String| Failure::error(format!("{}: {what}", path.display()));
    let bytes = fs::read(path).map_err(|err| wrong(err.to_string()))?;
    let bytes = if path.extension().is_some_and(|extension| extension == "xz") {
        let mut unpacked = Vec::new();
        lzma_rs::xz_decompress(&mut BufReader::new(Cursor::new(bytes)), &mut unpacked)
            .map_err(|err| wrong(format!("not an xz file: {err}")))?;
        unpacked
    } else {
        bytes
    };
    String::from_utf8(bytes).map_err(|_| wrong("not a text".to_owned()).hint("rows are JSON in UTF-8"))
}
