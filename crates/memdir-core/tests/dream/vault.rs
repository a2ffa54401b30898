//! Reads the vaults that are written as tables.

use std::collections::BTreeMap;

use jiff::{Timestamp, Zoned};
use memdir_core::dream::{Evidence, OperationKind, Source};
use memdir_core::memory::MemoryPath;
use memdir_core::recall::Together;

/// Memories that are one thing for a dream.
pub(crate) struct Group {
    pub(crate) kind: &'static str,
    pub(crate) names: Vec<String>,
}

/// A vault, and what is planted in it.
pub(crate) struct Vault {
    pub(crate) sources: Vec<Source>,
    pub(crate) groups: Vec<Group>,
    pub(crate) together: Vec<(String, String)>,
}

const KINDS: [&str; 9] =
    ["dup", "advice", "contrary", "dates", "expired", "over", "superseded", "missing", "sound"];

/// Returns what a dream may do to a kind.
pub(crate) fn kinds(kind: &str) -> &'static [OperationKind] {
    match kind {
        "dup" | "advice" => &[OperationKind::Merge],
        "contrary" => &[OperationKind::Supersede],
        "dates" => &[OperationKind::RewriteDates],
        _ => &[OperationKind::Archive],
    }
}

/// The day on which the vaults dream.
pub(crate) fn today() -> Zoned {
    "2026-06-15T12:00:00+00:00[UTC]".parse().unwrap()
}

impl Vault {
    pub(crate) fn read(text: &str) -> Self {
        let mut vault = Self { sources: Vec::new(), groups: Vec::new(), together: Vec::new() };
        let mut family = "";
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(kind) = line.strip_prefix("= ") {
                let kind = KINDS.into_iter().find(|known| *known == kind).unwrap();
                vault.groups.push(Group { kind, names: Vec::new() });
            } else if let Some(template) = line.strip_prefix("~ ") {
                family = template;
            } else if let Some(row) = line.strip_prefix("> ") {
                let places = row.split(", ").enumerate();
                let filled = places.fold(family.to_owned(), |text, (at, value)| {
                    text.replace(&format!("{{{}}}", at + 1), value)
                });
                vault.push(&filled);
            } else {
                vault.push(line);
            }
        }
        let sound: Vec<String> = vault.sound().map(str::to_owned).collect();
        vault.together =
            sound.chunks_exact(13).take(15).map(|names| (names[0].clone(), names[7].clone())).collect();
        vault
    }

    /// Names the sound memories.
    pub(crate) fn sound(&self) -> impl Iterator<Item = &str> {
        let groups = self.groups.iter().filter(|group| group.kind == "sound");
        groups.flat_map(|group| group.names.iter().map(String::as_str))
    }

    /// Returns what is known beside the memories: some were used together, and the page names all but some.
    pub(crate) fn evidence(&self) -> Evidence {
        let pair =
            |(a, b): &(String, String)| if a < b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
        let often = Together { shown: 4, used: 2 };
        let together: BTreeMap<_, _> = self.together.iter().map(|names| (pair(names), often)).collect();
        Evidence { together, ..Evidence::default() }.with_names(&self.sources)
    }

    fn push(&mut self, line: &str) {
        let fields: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let name = fields[0].to_lowercase();
        let said: Timestamp = format!("{}T09:00:00Z", fields[2]).parse().unwrap();
        let extra: String = fields[5..].iter().map(|field| format!("  {field}\n")).collect();
        let text = format!(
            "---\nname: {name}\ndescription: \"{}\"\ntype: {}\nmetadata:\n  created: {said}\n  modified: {said}\n{extra}---\n\n{}\n",
            fields[3], fields[1], fields[4]
        );
        let path = MemoryPath::new(&format!("{name}.md")).unwrap();
        assert!(self.sources.iter().all(|source| source.path != path), "{name} twice");
        self.sources.push(Source::read(path, text.as_bytes(), said));
        self.groups.last_mut().unwrap().names.push(name);
    }
}
