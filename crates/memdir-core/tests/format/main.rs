//! The file format, from outside: what files mean, what edits change, what hostile bytes do.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod conformance;
mod edits;
mod hostile;
mod problems;
mod yaml;

use memdir_core::memory::{Document, Frontmatter, Value};
use proptest::test_runner::Config;

/// Runs a property `factor` times as often as usual; `PROPTEST_CASES` sets what is usual.
fn cases(factor: u32) -> Config {
    let usual = Config::default();
    Config { cases: factor * usual.cases, max_shrink_iters: 20_000, failure_persistence: None, ..usual }
}

/// Puts fences around frontmatter.
fn fenced(frontmatter: &str) -> String {
    format!("---\n{frontmatter}---\n")
}

/// Reads frontmatter that must be understood.
fn read(frontmatter: &str) -> Vec<(String, Value)> {
    let document = Document::parse(fenced(frontmatter).as_bytes());
    match document.frontmatter() {
        Frontmatter::Mapping(_) => document.fields(),
        other => panic!("not understood: {other:?}\n{frontmatter}"),
    }
}

/// Returns why frontmatter is raw, if it is.
fn why_raw(bytes: &[u8]) -> Option<String> {
    match Document::parse(bytes).frontmatter() {
        Frontmatter::Raw(problem) => {
            Some(problem.to_string().replace("the frontmatter cannot be read: ", ""))
        }
        _ => None,
    }
}
