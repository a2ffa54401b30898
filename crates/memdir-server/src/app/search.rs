//! Finding memories by words, and showing where they say it.

use std::collections::HashSet;

use memdir_core::memory::{Document, Memory};
use memdir_core::team::wire::{Hit, Hits, ProjectName};

use super::{App, Call, apart};
use crate::answer::{Answer, Handled, Problem};
use crate::storage::{Found, Storage};
use crate::words;

/// How many memories are found if nothing is said, and at most.
const USUAL: u64 = 10;
const MOST: u64 = 100;
/// How much of a memory is shown, in characters.
const SNIPPET: usize = 240;
/// How much of a question is read, in bytes.
const MAX_QUESTION: usize = 2_000;

impl<S: Storage> App<S> {
    pub(super) async fn search(&self, call: &Call) -> Handled {
        let question = call.query.get("q").ok_or_else(|| Problem::bad("`q` says what to look for"))?;
        if question.len() > MAX_QUESTION {
            return Err(Problem::bad(format!("`q` has at most {MAX_QUESTION} bytes")));
        }
        let project = call.query.get("project").map(ProjectName::new).transpose();
        let project = project.map_err(|err| Problem::bad(err.to_string()))?;
        let limit = usize::try_from(call.number("limit", USUAL)?.clamp(1, MOST)).unwrap_or(1);
        let asked = words::of_question(question);
        let team = call.bearer()?.team.id;
        let found = self.storage.search_text(team, project.as_ref(), question, &asked, limit).await?;
        let hits = apart(move || found.into_iter().map(|found| hit(found, &asked)).collect()).await?;
        Answer::json(200, &Hits { hits })
    }
}

fn hit(found: Found, asked: &[String]) -> Hit {
    let document = Document::parse(found.text.as_bytes());
    let (memory, _) = Memory::read_header(&found.path, &document);
    Hit {
        project: found.project,
        path: found.path,
        name: memory.name,
        description: memory.description,
        kind: memory.memory_type.map(|kind| kind.as_str().to_owned()),
        score: found.score,
        snippet: snippet(&String::from_utf8_lossy(document.body()), asked),
        author: found.state.author,
        at: found.state.at,
    }
}

/// Returns the line that says most of what was asked, cut to a length.
fn snippet(body: &str, asked: &[String]) -> String {
    let asked: HashSet<&str> = asked.iter().map(String::as_str).collect();
    let n_said = |line: &str| {
        let words = words::of_text(line);
        words.split(' ').filter(|word| asked.contains(word)).collect::<HashSet<_>>().len()
    };
    let lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    // Of equals the first is the best.
    let best = lines.rev().max_by_key(|line| n_said(line)).unwrap_or_default();
    best.chars().take(SNIPPET).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_it_is_shown() {
        let body = "# Tests\n\nWe like tests.\nIntegration tests use a real database.\nMore.\n";
        let asked = words::of_question("which database do integration tests use");
        assert_eq!(snippet(body, &asked), "Integration tests use a real database.");
        assert_eq!(snippet(body, &words::of_question("kubernetes")), "# Tests", "else the first");
        assert_eq!(snippet("", &asked), "");
        assert_eq!(snippet(&"é".repeat(1_000), &asked).chars().count(), SNIPPET);
    }
}
