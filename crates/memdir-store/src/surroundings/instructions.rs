//! What agents are told at the start of a session: the chain of instruction files that Claude Code loads.
//!
//! The administrator's file, the user's, then from the file system's root down to the project each directory's
//! `CLAUDE.md` (or `.claude/CLAUDE.md`, or `AGENTS.md` where neither is) and `CLAUDE.local.md`, the rules beside them, and
//! what they import by `@path`. A memory that repeats any of it says nothing new.
//!
//! A repository is not trusted. Its files are read inside its work tree only: a link or an import that leads out is
//! passed over, except into the user's own directory of Claude Code. What the user wrote may point anywhere, as it may
//! for the real client. Rules with `paths:` count always: they are loaded as soon as an agent touches such a file.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memdir_core::worth::{InstructionLine, instruction_lines};
use serde_json::Value;

use crate::disk::{Dir, EntryKind};
use memdir_core::glob;

/// Longer files are skipped by the client too.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// Most text that is compared with; no session could be told as much.
const MAX_TOTAL: usize = 1024 * 1024;
/// Most files in one chain.
const MAX_FILES: usize = 128;
/// How far imports lead from file to file.
const MAX_HOPS: usize = 4;
/// How deep folders of rules are listed.
const MAX_RULE_FOLDERS: usize = 4;
/// Largest settings file that is read for what it excludes.
const MAX_SETTINGS: u64 = 1024 * 1024;

/// Where a chain of instructions begins and what it may read.
#[derive(Debug, Clone, Default)]
pub(super) struct Chain {
    /// The administrator's file.
    pub(super) managed: Option<PathBuf>,
    /// The user's directory of Claude Code.
    pub(super) claude_dir: Option<PathBuf>,
    /// The user's home directory, for `~/`.
    pub(super) home: Option<PathBuf>,
    /// The directory the agent works in.
    pub(super) cwd: PathBuf,
    /// The project's root: what is below it comes from the repository.
    pub(super) root: PathBuf,
}

/// Loads everything the chain says.
pub(super) fn load(chain: &Chain) -> Vec<InstructionLine> {
    let mut loader =
        Loader { chain, excludes: excludes(chain), seen: BTreeSet::new(), n_bytes: 0, found: Vec::new() };
    if let Some(managed) = &chain.managed {
        loader.load(managed, 0);
    }
    if let Some(claude_dir) = &chain.claude_dir {
        loader.load(&claude_dir.join("CLAUDE.md"), 0);
        loader.rules(&claude_dir.join("rules"));
    }
    let mut dirs: Vec<&Path> = chain.cwd.ancestors().collect();
    dirs.reverse();
    for dir in dirs {
        loader.dir(dir);
    }
    loader.found
}

struct Loader<'a> {
    chain: &'a Chain,
    excludes: Vec<String>,
    seen: BTreeSet<PathBuf>,
    n_bytes: usize,
    found: Vec<InstructionLine>,
}

impl Loader<'_> {
    fn dir(&mut self, dir: &Path) {
        let has_own = [self.load(&dir.join("CLAUDE.md"), 0), self.load(&dir.join(".claude/CLAUDE.md"), 0)];
        if has_own == [false, false] {
            self.load(&dir.join("AGENTS.md"), 0);
        }
        self.load(&dir.join("CLAUDE.local.md"), 0);
        if dir.starts_with(&self.chain.root) {
            self.rules(&dir.join(".claude/rules"));
        }
    }

    /// Loads the rules in a folder, in the order of their names.
    fn rules(&mut self, folder: &Path) {
        let Some(folder) = self.allowed(folder) else { return };
        let Ok(dir) = Dir::open(&folder) else { return };
        let mut files = Vec::new();
        list_rules(&dir, "", MAX_RULE_FOLDERS, &mut files);
        files.sort();
        for file in files {
            self.load(&folder.join(file), 0);
        }
    }

    /// Loads a file and what it imports; says whether there is such a file.
    fn load(&mut self, path: &Path, n_hops: usize) -> bool {
        let Some(path) = self.allowed(path) else { return false };
        let Some(text) = read(&path, MAX_FILE) else { return false };
        let is_excluded =
            path.to_str().is_some_and(|text| self.excludes.iter().any(|glob| glob::matches(glob, text)));
        let is_full = self.seen.len() >= MAX_FILES || self.n_bytes + text.len() > MAX_TOTAL;
        if is_excluded || is_full || !self.seen.insert(path.clone()) {
            return true;
        }
        self.n_bytes += text.len();
        self.found.extend(instruction_lines(&self.shown(&path), &text));
        if n_hops < MAX_HOPS {
            for import in imports(&text) {
                if let Some(target) = self.target(&path, &import) {
                    self.load(&target, n_hops + 1);
                }
            }
        }
        true
    }

    /// Returns where an import leads.
    fn target(&self, file: &Path, import: &str) -> Option<PathBuf> {
        let target = match import.strip_prefix("~/") {
            Some(rest) => self.chain.home.as_ref()?.join(rest),
            None => file.parent()?.join(import),
        };
        // A repository may import what is its own and what the user keeps for agents, nothing else.
        let is_repository = file.starts_with(&self.chain.root) && !self.is_users(file);
        let found = target.canonicalize().ok()?;
        (!is_repository || found.starts_with(&self.chain.root) || self.is_users(&found)).then_some(found)
    }

    /// Returns where `path` really is, unless a link leads out of the repository, or a stranger put it above it: anybody
    /// can write a file into `/tmp`.
    fn allowed(&self, path: &Path) -> Option<PathBuf> {
        let found = path.canonicalize().ok()?;
        let is_repository = path.starts_with(&self.chain.root) && !self.is_users(path);
        let is_allowed = if is_repository { found.starts_with(&self.chain.root) } else { is_trusted(&found) };
        is_allowed.then_some(found)
    }

    fn is_users(&self, path: &Path) -> bool {
        self.chain.claude_dir.as_ref().is_some_and(|dir| path.starts_with(dir))
    }

    /// Names a file as people would: from the project's root, or from the home directory.
    fn shown(&self, path: &Path) -> String {
        if let Some(claude_dir) = &self.chain.claude_dir
            && let Ok(rest) = path.strip_prefix(claude_dir)
        {
            return format!("~/.claude/{}", rest.display());
        }
        if let Ok(rest) = path.strip_prefix(&self.chain.root) {
            return rest.display().to_string();
        }
        match self.chain.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}

/// Says whether a file is ours or the administrator's.
fn is_trusted(path: &Path) -> bool {
    let owner = fs::metadata(path).map(|metadata| metadata.uid());
    owner.is_ok_and(|owner| owner == 0 || owner == rustix::process::geteuid().as_raw())
}

fn list_rules(dir: &Dir, prefix: &str, depth: usize, files: &mut Vec<String>) {
    let mut folders = Vec::new();
    // A folder that cannot be listed has no rules for anybody.
    let _ = dir.for_each(|name, kind| match kind {
        EntryKind::File if name.ends_with(".md") && files.len() < MAX_FILES => {
            files.push(format!("{prefix}{name}"))
        }
        EntryKind::Dir if folders.len() < MAX_FILES => folders.push(name.to_owned()),
        _ => {}
    });
    for name in folders.iter().filter(|_| depth > 1) {
        if let Ok(sub) = dir.sub(name) {
            list_rules(&sub, &format!("{prefix}{name}/"), depth - 1, files);
        }
    }
}

/// Reads a regular file at a path without links.
fn read(path: &Path, limit: u64) -> Option<String> {
    let bytes = Dir::open(path.parent()?).ok()?.read(path.file_name()?.to_str()?, limit).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the globs of files that Claude Code is told not to load. They can only narrow, so a repository's count too.
fn excludes(chain: &Chain) -> Vec<String> {
    let user = chain.claude_dir.as_ref().map(|dir| dir.join("settings.json"));
    let project = [".claude/settings.json", ".claude/settings.local.json"].map(|file| chain.root.join(file));
    user.into_iter()
        .chain(project)
        .filter_map(|path| serde_json::from_str::<Value>(&read(&path, MAX_SETTINGS)?).ok())
        .filter_map(|settings| settings.get("claudeMdExcludes")?.as_array().cloned())
        .flatten()
        .filter_map(|glob| glob.as_str().map(str::to_owned))
        .collect()
}

/// Returns the paths that a text imports: `@path` at the beginning of a word, not in code.
fn imports(text: &str) -> Vec<String> {
    let mut imports = Vec::new();
    let mut in_fence = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            in_fence = !in_fence;
        }
        // Every second part of a line lies between backticks.
        let prose = line.split('`').step_by(2).filter(|_| !in_fence);
        for word in prose.flat_map(str::split_whitespace) {
            let path = word.strip_prefix('@').map(|path| path.trim_end_matches([',', ';', ':', ')', '.']));
            imports.extend(path.filter(|path| path.contains(['/', '.'])).map(str::to_owned));
        }
    }
    imports
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use expect_test::{Expect, expect};

    use super::*;

    /// Writes the files of a world below one directory, with home in `home` and the project in `home/project`.
    fn check(files: &str, expect: Expect) {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for section in files.split("=== ").skip(1) {
            let (path, text) = section.split_once('\n').unwrap();
            match path.split_once(" -> ") {
                Some((path, target)) => {
                    fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
                    symlink(target, base.join(path)).unwrap();
                }
                None => {
                    fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
                    fs::write(base.join(path), text).unwrap();
                }
            }
        }
        let chain = Chain {
            managed: Some(base.join("etc/CLAUDE.md")),
            claude_dir: Some(base.join("home/.claude")),
            home: Some(base.join("home")),
            cwd: base.join("home/project/sub"),
            root: base.join("home/project"),
        };
        fs::create_dir_all(&chain.cwd).unwrap();
        let lines = load(&chain);
        let base = format!("{}/", base.display());
        let shown: Vec<String> = lines
            .iter()
            .map(|line| format!("{}:{} {}", line.file.replace(&base, "/"), line.line, line.text))
            .collect();
        expect.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn the_chain_goes_from_the_administrator_to_the_working_directory() {
        check(
            "=== etc/CLAUDE.md\nmanaged\n=== home/.claude/CLAUDE.md\nuser\n=== home/.claude/rules/a.md\nuser rule\n\
             === home/project/CLAUDE.md\n\nproject\n=== home/project/CLAUDE.local.md\nlocal\n\
             === home/project/AGENTS.md\nnot read\n=== home/project/.claude/rules/x/b.md\n---\npaths: y\n---\nrule\n\
             === home/project/sub/AGENTS.md\nagents\n",
            expect![[r#"
                /etc/CLAUDE.md:1 managed
                ~/.claude/CLAUDE.md:1 user
                ~/.claude/rules/a.md:1 user rule
                CLAUDE.md:2 project
                CLAUDE.local.md:1 local
                .claude/rules/x/b.md:4 rule
                sub/AGENTS.md:1 agents"#]],
        );
    }

    #[test]
    fn imports_are_followed_four_hops_and_not_in_code() {
        check(
            "=== home/project/CLAUDE.md\nzero @1.md and `@no.md`\n```\n@no.md\n```\n=== home/project/no.md\nno\n\
             === home/project/1.md\none @d/2.md\n=== home/project/d/2.md\ntwo @3.md\n=== home/project/d/3.md\nthree @../4.md @../1.md\n\
             === home/project/4.md\nfour @5.md\n=== home/project/5.md\nfive\n",
            expect![[r#"
                CLAUDE.md:1 zero @1.md and `@no.md`
                CLAUDE.md:3 @no.md
                1.md:1 one @d/2.md
                d/2.md:1 two @3.md
                d/3.md:1 three @../4.md @../1.md
                4.md:1 four @5.md"#]],
        );
    }

    #[test]
    fn nothing_leads_out_of_a_repository_but_into_the_users_own_directory() {
        check(
            "=== home/.ssh/config\nsecret\n=== home/.claude/mine.md\nmine\n=== home/project/.claude/CLAUDE.md -> ../../.ssh/config\n\
             === home/project/CLAUDE.md\n@~/.ssh/config @/etc/passwd @~/.claude/mine.md @link.md\n\
             === home/project/link.md -> ../.ssh/config\n=== home/project/.claude/rules -> /etc\n",
            expect![[r#"
                CLAUDE.md:1 @~/.ssh/config @/etc/passwd @~/.claude/mine.md @link.md
                ~/.claude/mine.md:1 mine"#]],
        );
    }

    #[test]
    fn a_link_inside_the_repository_and_an_exclusion_are_followed() {
        check(
            "=== home/project/AGENTS.md\nagents\n=== home/project/CLAUDE.md -> AGENTS.md\n\
             === home/project/sub/CLAUDE.md\nleft out\n=== home/.claude/settings.json\n{\"claudeMdExcludes\":[\"**/sub/CLAUDE.md\"]}\n",
            expect!["AGENTS.md:1 agents"],
        );
    }
}
