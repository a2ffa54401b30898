//! A vault with something to dream about.

use std::collections::BTreeMap;
use std::fs;

use memdir_testkit::{Invocation, Sandbox};
use serde_json::Value;

/// When the vaults dream.
pub(crate) const NOW: &str = "2026-06-15T12:00:00Z";

pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
}

/// Two that say the same, two that contradict each other, one that is over, one that says "next week".
const TEXTS: [(&str, &str, &str, &str, &str, &str); 6] = [
    (
        "feedback-real-db",
        "feedback",
        "2026-03-02",
        "Integration tests hit a real database",
        "Integration tests must run against a real database, never mocks.",
        "",
    ),
    (
        "feedback-no-mocks",
        "feedback",
        "2026-04-11",
        "Integration tests hit a real database",
        "Integration tests must run against a real database, never mocks. The compose file starts one.",
        "",
    ),
    (
        "project-upload-limit",
        "project",
        "2026-01-10",
        "Uploads are limited to 50 MB",
        "Uploads are limited to 50 MB.",
        "",
    ),
    (
        "project-upload-limit-new",
        "project",
        "2026-04-10",
        "Uploads are limited to 100 MB",
        "Uploads are limited to 100 MB.",
        "",
    ),
    (
        "project-voucher",
        "project",
        "2026-02-10",
        "Voucher of the spring campaign",
        "The voucher gives ten percent.",
        "  expires: 2026-04-30\n",
    ),
    (
        "project-demo",
        "project",
        "2026-06-10",
        "The demo for Acme is next week",
        "The demo for Acme is next week.",
        "",
    ),
];

const THINGS: [&str; 24] = [
    "lighthouse",
    "harbour",
    "orchard",
    "quarry",
    "windmill",
    "foundry",
    "bakery",
    "library",
    "observatory",
    "greenhouse",
    "brewery",
    "chapel",
    "tannery",
    "sawmill",
    "aqueduct",
    "theatre",
    "stable",
    "archive",
    "nursery",
    "smithy",
    "ferry",
    "museum",
    "vineyard",
    "barracks",
];

impl World {
    /// A vault in which about a sixth of the memories leaves.
    pub(crate) fn new() -> Self {
        let world = Self { sandbox: Sandbox::new(env!("CARGO_BIN_EXE_memdir")) };
        for (name, kind, said, description, body, more) in TEXTS {
            world.write(name, kind, said, description, body, more);
        }
        for thing in THINGS {
            let name = format!("reference-{thing}");
            world.write(
                &name,
                "reference",
                "2026-05-01",
                &format!("Who keeps the {thing}"),
                &format!("The {thing} has a keeper of its own."),
                "",
            );
        }
        // Whatever is there is taken up once, so that undo is measured against a settled vault.
        world.memdir(&["doctor", "--fix"]).run();
        world
    }

    pub(crate) fn write(
        &self,
        name: &str,
        kind: &str,
        said: &str,
        description: &str,
        body: &str,
        more: &str,
    ) {
        let text = format!(
            "---\nname: {name}\ndescription: \"{description}\"\ntype: {kind}\nmetadata:\n  created: {said}T09:00:00Z\n  modified: {said}T09:00:00Z\n{more}---\n\n{body}\n"
        );
        self.sandbox.write(&format!("{name}.md"), text);
    }

    pub(crate) fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).at(NOW)
    }

    /// Proposes, and returns the answer.
    pub(crate) fn propose(&self) -> Value {
        self.memdir(&["dream", "--dry-run", "--json"]).ok().json()
    }

    /// Returns every file of the vault.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.sandbox.vault()).unwrap().map(|entry| entry.unwrap());
        entries
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
            .collect()
    }

    /// Returns the bytes of everything in the archive.
    pub(crate) fn archived(&self) -> Vec<Vec<u8>> {
        let projects = fs::read_dir(self.sandbox.state().join("projects")).unwrap();
        let folders = projects.map(|entry| entry.unwrap().path().join("archive"));
        let files = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        files.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect()
    }
}

/// Returns the operations of a kind.
pub(crate) fn operations<'v>(answer: &'v Value, kind: &str) -> Vec<&'v Value> {
    answer["operations"].as_array().unwrap().iter().filter(|one| one["kind"] == kind).collect()
}

pub(crate) fn id(answer: &Value) -> &str {
    answer["id"].as_str().unwrap()
}
