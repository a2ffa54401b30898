//! Takes secrets out of what is exported for others to read.
//!
//! An archive is the user's own copy and holds every byte, secrets too; that is said. Every other format is read by
//! another program or person, so a secret that somebody wrote into a memory by hand is replaced by its kind.

use memdir_core::memory::{Document, Memory};
use memdir_core::secrets::{Finding, Scanner, redact};
use memdir_store::vault::Loaded;
use serde_json::{Value, json};

use crate::ui::Ui;

/// Looks through what is exported.
#[derive(Debug)]
pub(super) struct Cleaner {
    scanner: Scanner,
    /// Where secrets stood: path, kind, line.
    pub(super) found: Vec<(String, String, usize)>,
}

impl Cleaner {
    pub(super) fn new(scanner: Scanner) -> Self {
        Self { scanner, found: Vec::new() }
    }

    /// Notes the secrets of a text.
    pub(super) fn look(&mut self, path: &str, bytes: &[u8]) -> Vec<Finding> {
        let findings = self.scanner.scan(bytes);
        let noted = findings.iter().map(|finding| (path.to_owned(), finding.rule.to_string(), finding.line));
        self.found.extend(noted);
        findings
    }

    /// Returns a text without its secrets.
    pub(super) fn bytes(&mut self, path: &str, bytes: Vec<u8>) -> Vec<u8> {
        let findings = self.look(path, &bytes);
        if findings.is_empty() { bytes } else { redact(&bytes, &findings) }
    }

    /// Returns a memory without its secrets. Its hash stays that of the file.
    pub(super) fn memory(&mut self, mut loaded: Loaded) -> Loaded {
        let findings = self.look(loaded.path.as_str(), loaded.document.bytes());
        if !findings.is_empty() {
            loaded.document = Document::parse(&redact(loaded.document.bytes(), &findings));
            loaded.memory = Memory::read(&loaded.path, &loaded.document).0;
        }
        loaded
    }

    /// Tells what was replaced.
    pub(super) fn tell(&self, ui: &Ui) {
        for (path, rule, line) in &self.found {
            ui.warn(&format!("{path}:{line}: a secret was left out ({rule})"));
        }
    }

    /// Returns what was replaced, for `--json`.
    pub(super) fn to_json(&self) -> Vec<Value> {
        let row = |(path, rule, line): &(String, String, usize)| json!({ "path": path, "rule": rule, "line": line });
        self.found.iter().map(row).collect()
    }
}
