//! Which versions and tasks a project's own files define: manifests, tool versions, make and just files.
//!
//! Files are read once, those nearest to the root first, and only few. Names are compared in lower case; a version is
//! the first number in what a manifest asks for, so that `^18.2` and `>=18.2,<19` are both 18.2.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::disk::Dir;
use crate::surroundings::manifests::{MANIFESTS, Tells};
use crate::surroundings::tree::Tree;

/// Most files that are read.
const MAX_FILES: usize = 64;
/// Longer files are generated.
const MAX_FILE: u64 = 256 << 10;
/// Says whether a file defines versions or tasks.
fn defines(name: &str) -> bool {
    MANIFESTS.iter().any(|(manifest, tells)| *manifest == name && *tells != Tells::Names)
}

/// What a project's files define.
#[derive(Debug, Default)]
pub(super) struct Manifests {
    /// The versions of a name, each with its file.
    versions: BTreeMap<String, Vec<(String, String)>>,
    /// The tasks, such as `make deploy`, each with its file.
    tasks: BTreeMap<String, String>,
    /// The runners that have a file, such as `make`.
    runners: BTreeSet<&'static str>,
    /// The runners whose files take in others, or have rules for any name.
    open: BTreeSet<&'static str>,
}

/// What the files say about a version.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Version<'m> {
    /// It is what the claim says.
    Same(&'m str),
    /// It is another.
    Other(&'m str),
    /// No file names such a thing.
    Unknown,
}

impl Manifests {
    pub(super) fn read(root: &Dir, tree: &Tree) -> Self {
        let mut paths: Vec<&str> = tree.paths().filter(|path| defines(file_name(path))).collect();
        paths.sort_by_key(|path| path.matches('/').count());
        let mut manifests = Self::default();
        for path in paths.into_iter().take(MAX_FILES) {
            if let Ok(Some(bytes)) = root.read(path, MAX_FILE) {
                manifests.take(path, file_name(path), &String::from_utf8_lossy(&bytes));
            }
        }
        manifests
    }

    /// Says whether `name` has this version: the shorter of two numbers must begin the longer one.
    pub(super) fn version(&self, name: &str, number: &str) -> Version<'_> {
        let Some(known) = self.versions.get(name) else { return Version::Unknown };
        let agrees = |a: &str, b: &str| a.split('.').zip(b.split('.')).all(|(a, b)| a == b);
        match known.iter().find(|(version, _)| agrees(version, number)) {
            Some((_, file)) => Version::Same(file),
            None => known.first().map_or(Version::Unknown, |(version, _)| Version::Other(version)),
        }
    }

    /// Returns the file that defines a task; `Err(true)` if there is none and could be none elsewhere.
    pub(super) fn task(&self, task: &str) -> Result<&str, bool> {
        let runner = task.split(' ').next().unwrap_or_default();
        let is_sure = self.runners.contains(runner) && !self.open.contains(runner);
        self.tasks.get(task).map(String::as_str).ok_or(is_sure)
    }

    fn take(&mut self, path: &str, name: &str, text: &str) {
        match name {
            "Cargo.toml" => self.cargo(path, text),
            "package.json" => self.package_json(path, text),
            "pyproject.toml" => self.pyproject(path, text),
            "requirements.txt" => text.lines().for_each(|line| self.requirement(path, line)),
            "go.mod" => self.go_mod(path, text),
            "Gemfile" => self.gemfile(path, text),
            ".nvmrc" | ".node-version" => self.add(path, "node", text.trim()),
            ".python-version" => self.add(path, "python", text.trim()),
            ".tool-versions" => text.lines().for_each(|line| self.pair(path, line)),
            "rust-toolchain" | "rust-toolchain.toml" => {
                let channel = text.lines().find_map(|line| line.trim().strip_prefix("channel"));
                self.add(path, "rust", channel.unwrap_or(text));
            }
            "Makefile" | "makefile" | "GNUmakefile" => self.make(path, text),
            "justfile" | "Justfile" => self.just(path, text),
            _ => self.compose(path, text),
        }
    }

    fn add(&mut self, path: &str, name: &str, asked: &str) {
        if let Some(number) = first_number(asked) {
            let name = name.to_lowercase();
            self.versions.entry(name).or_default().push((number, path.to_owned()));
        }
    }

    fn cargo(&mut self, path: &str, text: &str) {
        let Ok(manifest) = text.parse::<toml::Table>() else { return };
        let workspace = manifest.get("workspace").and_then(toml::Value::as_table);
        for table in [Some(&manifest), workspace].into_iter().flatten() {
            let package = table.get("package").and_then(toml::Value::as_table);
            if let Some(rust) = package.and_then(|package| package.get("rust-version")?.as_str()) {
                self.add(path, "rust", rust);
            }
            for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let dependencies = table.get(key).and_then(toml::Value::as_table);
                for (name, asked) in dependencies.into_iter().flatten() {
                    let version = asked.as_str().or_else(|| asked.get("version")?.as_str());
                    self.add(path, name, version.unwrap_or_default());
                }
            }
        }
    }

    fn package_json(&mut self, path: &str, text: &str) {
        let Ok(package) = serde_json::from_str::<Json>(text) else { return };
        self.runners.insert("npm");
        let table = |key: &str| package.get(key).and_then(Json::as_object).into_iter().flatten();
        for key in ["dependencies", "devDependencies", "peerDependencies", "engines"] {
            for (name, asked) in table(key) {
                self.add(path, name, asked.as_str().unwrap_or_default());
            }
        }
        for (name, _) in table("scripts") {
            self.tasks.insert(format!("npm run {name}"), path.to_owned());
        }
        if let Some((name, version)) =
            package.get("packageManager").and_then(Json::as_str).and_then(|text| text.split_once('@'))
        {
            self.add(path, name, version);
        }
    }

    fn pyproject(&mut self, path: &str, text: &str) {
        let Ok(manifest) = text.parse::<toml::Table>() else { return };
        let project = manifest.get("project").and_then(toml::Value::as_table);
        if let Some(python) = project.and_then(|project| project.get("requires-python")?.as_str()) {
            self.add(path, "python", python);
        }
        let listed = project.and_then(|project| project.get("dependencies")?.as_array());
        listed
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_str)
            .for_each(|line| self.requirement(path, line));
        let poetry =
            manifest.get("tool").and_then(|tool| tool.get("poetry")?.get("dependencies")?.as_table());
        for (name, asked) in poetry.into_iter().flatten() {
            let version = asked.as_str().or_else(|| asked.get("version")?.as_str());
            self.add(path, name, version.unwrap_or_default());
        }
    }

    /// Reads `polars[all]>=1.0 ; python_version > "3.9"`.
    fn requirement(&mut self, path: &str, line: &str) {
        let line = line.split(['#', ';']).next().unwrap_or_default().trim();
        let end = line.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(line.len());
        if end > 0 {
            let asked = line[end..].rsplit(']').next().unwrap_or_default();
            self.add(path, &line[..end], asked);
        }
    }

    fn go_mod(&mut self, path: &str, text: &str) {
        for line in text.lines() {
            let line = line.trim().trim_start_matches("require ");
            let mut words = line.split_ascii_whitespace();
            if let (Some(name), Some(version)) = (words.next(), words.next()) {
                let is_module = name == "go" || name.contains('.');
                // People call a module by its last part.
                if is_module {
                    self.add(path, name.rsplit('/').next().unwrap_or(name), version);
                }
            }
        }
    }

    /// Reads `gem "rails", "~> 7.1"`.
    fn gemfile(&mut self, path: &str, text: &str) {
        for line in text.lines().filter(|line| line.trim_start().starts_with("gem ")) {
            let mut quoted = line.split(['"', '\'']).skip(1).step_by(2);
            if let (Some(name), Some(version)) = (quoted.next(), quoted.next()) {
                self.add(path, name, version);
            }
        }
    }

    fn pair(&mut self, path: &str, line: &str) {
        let mut words = line.split_ascii_whitespace();
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            self.add(path, name.trim_end_matches("js"), version);
        }
    }

    /// Reads `image: registry/postgres:16-alpine`.
    fn compose(&mut self, path: &str, text: &str) {
        for (_, image) in text.lines().filter_map(|line| line.split_once("image:")) {
            let image = image.trim_matches([' ', '"', '\'', '}']);
            if let Some((name, tag)) = image.rsplit_once(':') {
                self.add(path, name.rsplit('/').next().unwrap_or(name), tag);
            }
        }
    }

    fn make(&mut self, path: &str, text: &str) {
        self.runners.insert("make");
        for line in text.lines().filter(|line| !line.starts_with(['\t', '#', ' '])) {
            if line.starts_with("include")
                || line.starts_with("-include")
                || line.contains('%') && line.contains(':')
            {
                self.open.insert("make");
            }
            let Some((targets, rest)) = line.split_once(':') else { continue };
            if !rest.starts_with('=') && !targets.contains('=') {
                for target in targets.split_ascii_whitespace() {
                    self.tasks.insert(format!("make {target}"), path.to_owned());
                }
                if targets.contains('$') {
                    self.open.insert("make");
                }
            }
        }
    }

    fn just(&mut self, path: &str, text: &str) {
        self.runners.insert("just");
        for line in text.lines().filter(|line| !line.starts_with(['\t', '#', ' ', '['])) {
            if line.starts_with("import") || line.starts_with("mod ") {
                self.open.insert("just");
            }
            let line = line.strip_prefix("alias ").unwrap_or(line).trim_start_matches('@');
            let end =
                line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(line.len());
            if end > 0 && line.contains(':') {
                self.tasks.insert(format!("just {}", &line[..end]), path.to_owned());
            }
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the first number in what a manifest asks for.
fn first_number(asked: &str) -> Option<String> {
    let start = asked.find(|c: char| c.is_ascii_digit())?;
    let rest = &asked[start..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let number = rest[..end].trim_end_matches('.');
    (number.len() <= 20).then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifests(files: &[(&str, &str)]) -> Manifests {
        let mut manifests = Manifests::default();
        for (path, text) in files {
            manifests.take(path, path, text);
        }
        manifests
    }

    #[test]
    fn a_version_is_compared_as_far_as_both_tell() {
        let manifests = manifests(&[
            (
                "Cargo.toml",
                "[package]\nrust-version = \"1.95\"\n[dependencies]\naxum = \"0.7.5\"\nserde = { version = \"1\" }\n",
            ),
            (
                "package.json",
                r#"{"engines":{"node":">=20"},"devDependencies":{"vite":"^5.2"},"packageManager":"pnpm@9.1.0"}"#,
            ),
            (
                "pyproject.toml",
                "[project]\nrequires-python = \">=3.12\"\ndependencies = [\"polars[all]>=1.0\"]\n",
            ),
            (
                "go.mod",
                "module x\ngo 1.22\nrequire github.com/jackc/pgx/v5 v5.5.0\nrequire example.org/chi v1.2.3\n",
            ),
            ("Gemfile", "gem \"rails\", \"~> 7.1\"\n"),
            ("compose.yaml", "services:\n  db:\n    image: postgres:16-alpine\n"),
        ]);
        for (name, number, file) in [
            ("axum", "0.7", "Cargo.toml"),
            ("axum", "0.7.5", "Cargo.toml"),
            ("serde", "1.0.200", "Cargo.toml"),
            ("rust", "1.95", "Cargo.toml"),
            ("node", "20", "package.json"),
            ("pnpm", "9", "package.json"),
            ("vite", "5", "package.json"),
            ("python", "3.12", "pyproject.toml"),
            ("polars", "1.0", "pyproject.toml"),
            ("go", "1.22", "go.mod"),
            ("chi", "1.2", "go.mod"),
            ("rails", "7.1", "Gemfile"),
            ("postgres", "16", "compose.yaml"),
        ] {
            assert_eq!(manifests.version(name, number), Version::Same(file), "{name} {number}");
        }
        assert_eq!(manifests.version("axum", "0.8"), Version::Other("0.7.5"));
        assert_eq!(manifests.version("axum", "0.70"), Version::Other("0.7.5"));
        assert_eq!(manifests.version("unheard", "1"), Version::Unknown);
    }

    #[test]
    fn a_task_is_missing_only_where_its_file_tells_all() {
        let manifests = manifests(&[
            ("Makefile", ".PHONY: deploy\nVERSION := 1\ndeploy: build\n\tcargo run\n"),
            ("justfile", "import 'x.just'\ntest *args:\n  cargo test\n"),
        ]);
        assert_eq!(manifests.task("make deploy"), Ok("Makefile"));
        assert_eq!(manifests.task("make VERSION"), Err(true));
        assert_eq!(manifests.task("just test"), Ok("justfile"));
        assert_eq!(manifests.task("just lint"), Err(false), "it may be in the imported file");
        assert_eq!(manifests.task("npm run lint"), Err(false), "there is no package.json");
    }
}
