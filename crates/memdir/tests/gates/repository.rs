//! Lays out a fixture repository from one text file.

use std::path::Path;
use std::process::Command;

/// The section that lists the history instead of a file.
const COMMITS: &str = "@commits";

/// Writes the files that `fixture` describes below `root`, and commits them with its history.
///
/// A section begins with `=== path`; `~/` is the user's home. The section `=== @commits` has a line `author | subject` for each commit; the
/// files belong to the first one, the others are empty.
pub(crate) fn lay_out(root: &Path, home: &Path, fixture: &str) {
    let mut commits = Vec::new();
    for section in fixture.split("\n=== ").map(|section| section.trim_start_matches("=== ")) {
        let (path, content) = section.split_once('\n').unwrap_or((section, ""));
        if path.trim() == COMMITS {
            commits.extend(content.lines().filter_map(|line| line.split_once(" | ")));
            continue;
        }
        let file = match path.trim().strip_prefix("~/") {
            Some(path) => home.join(path),
            None => root.join(path.trim()),
        };
        std::fs::create_dir_all(file.parent().expect("a file is in a directory")).expect("the tree is ours");
        std::fs::write(file, format!("{content}\n")).expect("the tree is ours");
    }
    git(root, &["init", "--quiet", "--initial-branch=main"], "nobody");
    git(root, &["add", "--all"], "nobody");
    for (author, subject) in commits {
        git(root, &["commit", "--quiet", "--allow-empty", "--message", subject], author);
    }
}

fn git(root: &Path, args: &[&str], author: &str) {
    let status = Command::new("git")
        .args(["-c", &format!("user.name={author}"), "-c", "user.email=dev@example.com"])
        .args(["-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .status()
        .expect("git is installed by ./test");
    assert!(status.success(), "git {args:?}");
}
