//! One test for each command and flag: what people see, whole, and the keys that programs rely on.
//!
//! Snapshots are taken at the sandbox's fixed clock; `UPDATE_EXPECT=1 cargo test` writes them anew.

mod exchange;
mod history;
mod json;
mod reading;
mod shell;
mod transcripts;
mod undoing;
mod verify;
mod writing;

use memdir_testkit::{Invocation, Sandbox};

use crate::setup::sandbox;

const TESTING: &str = "Integration tests must run against a real database, never mocks.

**Why:** last quarter mocked tests passed while the production migration failed.

**How to apply:** use the compose `db` service; see [[project-migration-freeze]].
";

const FREEZE: &str = "Non-critical merges stop on 2026-04-09 for the mobile release cut.

**Why:** the release branch is cut that day.

**How to apply:** merge fixes only; bugs are in [[reference-tracker]].
";

/// A small vault that people could have: three memories of three types, saved on three days.
fn furnished() -> Sandbox {
    let sandbox = sandbox();
    let save = |name: &str, kind: &str, description: &str, body: &str, at: &str| {
        let save = sandbox.memdir(&["save", name, "--type", kind, "--description", description]);
        save.stdin(body).at(at).ok();
    };
    save(
        "reference-tracker",
        "reference",
        "Bugs are in the tracker, project INGEST",
        "The tracker's project is INGEST.\n",
        "2026-02-01T09:00:00Z",
    );
    save("project-migration-freeze", "project", "Merge freeze on 2026-04-09", FREEZE, "2026-03-30T09:00:00Z");
    save(
        "feedback-testing",
        "feedback",
        "Integration tests use a real database",
        TESTING,
        "2026-04-01T10:30:00Z",
    );
    sandbox
}

/// Runs a command and shows all it said, with what differs from run to run taken out.
fn shown(sandbox: &Sandbox, args: &[&str]) -> String {
    transcript(sandbox, sandbox.memdir(args))
}

fn transcript(sandbox: &Sandbox, invocation: Invocation) -> String {
    let output = invocation.run();
    let mut text = output.stdout;
    if !output.stderr.is_empty() {
        text = format!("{text}--- stderr\n{}", output.stderr);
    }
    if output.code != 0 {
        text = format!("{text}--- exit code {}\n", output.code);
    }
    // Spaces at the end of a line would be lost in a snapshot's indentation.
    let text: String = text.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    without_ids(&text.replace(sandbox.root().to_str().unwrap(), "$ROOT"))
}

/// Puts `<change>` in the place of every change id: 26 digits and capital letters.
fn without_ids(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
    let mut shown = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        shown.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        shown.push_str(if end == 26 { "<change>" } else { &rest[..end] });
        rest = &rest[end..];
    }
    shown + rest
}
