//! The labelled sets: reading rows, and counting what was right.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A part of the sets.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    name: String,
    dir: PathBuf,
    /// Whether its figures must reach the bar.
    judges: bool,
}

impl Part {
    /// Returns the part that rules were made on and the part that judges them.
    pub(crate) fn both() -> [Self; 2] {
        let sets = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gates");
        let build = Self { name: "build".to_owned(), dir: sets.join("build"), judges: false };
        let judge = match std::env::var_os("MEMDIR_SETS") {
            Some(dir) => Self { name: "other".to_owned(), dir: dir.into(), judges: true },
            None => Self { name: "judge".to_owned(), dir: sets.join("judge"), judges: true },
        };
        [build, judge]
    }

    /// Reads a file of this part.
    pub(crate) fn file(&self, name: &str) -> String {
        let path = self.dir.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
    }
}

/// Reads the rows of a set.
pub(crate) fn rows(part: &Part, set: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|err| panic!("{set}: {err}: {line}"));
    part.file(&format!("{set}.jsonl")).lines().filter(|line| !line.is_empty()).map(parse).collect()
}

/// Returns a text of a row.
pub(crate) fn text<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or_else(|| panic!("no `{key}` in {row}"))
}

/// Puts a row's pieces into its text: apart, no scanner takes them for a secret.
pub(crate) fn assembled(row: &Value) -> Value {
    let pieces = row["pieces"].as_array().map_or(&[][..], Vec::as_slice);
    let value: String = pieces.iter().filter_map(Value::as_str).collect();
    let mut row = row.clone();
    row["text"] = json!(text(&row, "text").replace("{}", &value));
    row
}

/// What was right, in all and by group.
#[derive(Debug)]
pub(crate) struct Tally {
    title: &'static str,
    part: String,
    judges: bool,
    groups: BTreeMap<String, (usize, usize)>,
    wrong: Vec<String>,
}

impl Tally {
    pub(crate) fn new(title: &'static str, part: &Part) -> Self {
        Self {
            title,
            part: part.name.clone(),
            judges: part.judges,
            groups: BTreeMap::new(),
            wrong: Vec::new(),
        }
    }

    /// Counts one row; `describe` tells what went wrong.
    pub(crate) fn count(&mut self, group: &str, right: bool, describe: impl Fn() -> String) {
        let (n_right, n_all) = self.groups.entry(group.to_owned()).or_default();
        *n_all += 1;
        if right {
            *n_right += 1;
        } else {
            self.wrong.push(describe());
        }
    }

    fn share(&self) -> f64 {
        let (n_right, n_all) =
            self.groups.values().fold((0, 0), |sum, group| (sum.0 + group.0, sum.1 + group.1));
        n_right as f64 / n_all.max(1) as f64
    }

    /// Prints the figures.
    pub(crate) fn print(&self) {
        let groups: Vec<String> =
            self.groups.iter().map(|(name, (right, all))| format!("{name} {right}/{all}")).collect();
        println!("{:<22} {:<6} {:.3}  ({})", self.title, self.part, self.share(), groups.join(", "));
        if std::env::var_os("MEMDIR_SHOW_WRONG").is_some() {
            self.wrong.iter().for_each(|wrong| println!("    {wrong}"));
        }
    }

    /// Prints the figures, and holds those of the judging part against the bar.
    pub(crate) fn close(&self, bar: f64) {
        self.print();
        let listed = self.wrong.join("\n  ");
        let share = self.share();
        assert!(!self.judges || share >= bar, "{}: {share:.3}, must be {bar}:\n  {listed}", self.title);
    }
}
