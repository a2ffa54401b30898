//! X6, X8: a scanner that is not whole lets nothing out, and only the user opens it.

use std::fs;

use memdir_core::hash::ContentHash;
use memdir_testkit::{Project, Sandbox};

use crate::canary::{canaries, check_none, sentence};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_memdir"))
}

/// X6: with a rule file that cannot be read, nothing is saved and nothing is exported for others.
#[test]
fn x6_a_broken_rule_file_stops_saves_and_exports() {
    let sandbox = sandbox();
    sandbox.save("project-shop", "The shop opens at nine.");
    let rules = sandbox.state().join("secrets");
    fs::create_dir_all(&rules).unwrap();
    fs::write(rules.join("own.toml"), "[[rules]]\nid = \"x\"\nregex = '''(?<'''\n").unwrap();
    let save = ["save", "project-more", "--type", "project", "--description", "More"];
    sandbox.memdir(&save).stdin("The shop closes at six.").code(2);
    assert!(!sandbox.memory("project-more").exists());
    for format in ["json", "claude-code", "obsidian", "codex", "gemini", "cursor", "agents"] {
        let path = sandbox.root().join("export").join(format);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let output = sandbox.memdir(&["export", format, path.to_str().unwrap()]).code(2);
        assert!(output.stderr.contains("own.toml"), "{}", output.stderr);
        assert!(!path.exists(), "{format} was written");
    }
}

/// X6: what is too large or cannot be read does not pass for clean.
#[test]
fn x6_a_file_that_cannot_be_looked_through_is_an_error() {
    let sandbox = sandbox();
    let large = sandbox.root().join("large.md");
    // A gigabyte that takes no room.
    fs::File::create(&large).unwrap().set_len(1 << 30).unwrap();
    let output = sandbox.memdir(&["secrets", "scan", large.to_str().unwrap()]).code(2);
    assert!(output.stderr.contains("large.md"), "{}", output.stderr);
    let missing = sandbox.root().join("missing.md");
    sandbox.memdir(&["secrets", "scan", missing.to_str().unwrap()]).code(2);
}

/// X8: rule files and allow-lists of a repository have no say, whatever they are called.
#[test]
fn x8_no_file_of_a_repository_vouches_for_a_secret() {
    let canaries = canaries(41);
    let canary = &canaries[0];
    let hash = ContentHash::of(canary.value.as_bytes());
    let allow = format!("[[secrets.allow]]\nhash = \"{hash}\"\nreason = \"trust me\"\n");
    let list =
        "[allowlist]\nregexes = ['''.*''']\npaths = ['''.*''']\n[extend]\ndisabledRules = [\"github-pat\"]\n";
    let files = [
        (".memdir/config.toml", allow.as_str()),
        ("config.toml", &allow),
        (".memdir/secrets/own.toml", list),
        ("secrets/own.toml", list),
        (".gitleaks.toml", list),
        (".gitleaksignore", "note.md:github-pat:1\n"),
    ];
    let project = Project::new(sandbox(), "shop", &files);
    let output = project.memdir(&["secrets", "scan"]).stdin(sentence(canary)).code(1);
    check_none(&canaries, "scan", &format!("{}{}", output.stdout, output.stderr));
    let save = ["save", "project-shop", "--type", "project", "--description", "The shop"];
    let output = project.memdir(&save).stdin(sentence(canary)).code(1);
    check_none(&canaries, "save", &format!("{}{}", output.stdout, output.stderr));
    // The user's own word counts, for this value alone and at every way out.
    project.memdir(&["secrets", "allow", "--reason", "a sample"]).stdin(&canary.value).ok();
    project.memdir(&save).stdin(sentence(canary)).ok();
    project.memdir(&["secrets", "scan"]).stdin(sentence(&canaries[1])).code(1);
    let exported = project.memdir(&["export", "json", "-"]).ok();
    assert!(exported.stdout.contains(&canary.value), "what the user vouched for is no secret");
}
