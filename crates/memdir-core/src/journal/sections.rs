//! The four sections of an entry, as text.

use std::fmt::Write;

/// What a session leaves: the four things that are asked for at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sections {
    /// What was done, in a few lines.
    pub summary: String,
    /// What was decided, each with its reason.
    pub decisions: Vec<String>,
    /// What is left to do, and what of it was done.
    pub unfinished: Vec<Item>,
    /// Memories, projects and files that it has to do with.
    pub related: Vec<String>,
}

/// Something left to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item {
    /// Identifies it over all entries; empty before it has one.
    pub id: String,
    /// What is to be done, on one line.
    pub text: String,
    /// Whether it is done.
    pub is_done: bool,
}

impl Item {
    /// Makes an item that is open and has no id yet.
    pub fn open(text: &str) -> Self {
        Self { id: String::new(), text: one_line(text), is_done: false }
    }

    /// Reads `[ ] text <!-- u:ID -->`; box and id may be missing.
    fn read(line: &str) -> Self {
        let (text, id) = line.rsplit_once(OPEN_MARK).map_or((line, ""), |(text, mark)| {
            let id = mark.trim_end().strip_suffix("-->").map(str::trim).unwrap_or_default();
            if is_id(id) { (text, id) } else { (line, "") }
        });
        let done = ["[x]", "[X]"].iter().find_map(|mark| text.trim().strip_prefix(mark));
        let open = || text.trim().strip_prefix("[ ]");
        let said = done.or_else(open).unwrap_or(text);
        Self { id: id.to_owned(), text: one_line(said), is_done: done.is_some() }
    }
}

/// Opens the mark that holds an item's id.
const OPEN_MARK: &str = "<!-- u:";

fn is_id(text: &str) -> bool {
    (1..=40).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Makes one line of a text that opens and closes no comment.
pub fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("<!--", "< !--").replace("-->", "-- >")
}

/// Which section a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Summary,
    Decisions,
    Unfinished,
    Related,
}

impl Section {
    /// Reads a heading of any level.
    fn of(line: &str) -> Option<Self> {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            return None;
        }
        match title.trim().trim_end_matches(':').to_ascii_lowercase().as_str() {
            "summary" => Some(Self::Summary),
            "decisions" | "decided" => Some(Self::Decisions),
            "unfinished" | "open" | "open items" | "next steps" => Some(Self::Unfinished),
            "related" => Some(Self::Related),
            _ => None,
        }
    }
}

impl Sections {
    /// Reads sections under their headings; what stands above the first one is summary.
    pub fn read(text: &str) -> Self {
        let mut sections = Self::default();
        let (mut summary, mut items) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
        let mut section = Section::Summary;
        for line in text.lines() {
            if let Some(next) = Section::of(line) {
                section = next;
                continue;
            }
            match section {
                Section::Summary => summary.push(unescaped(line)),
                section => take_item(&mut items[section as usize - 1], line),
            }
        }
        let [decisions, unfinished, related] = items;
        sections.summary = summary.join("\n").trim().to_owned();
        sections.decisions = decisions.iter().map(|item| one_line(item)).collect();
        sections.unfinished = unfinished.iter().map(|item| Item::read(item)).collect();
        sections.related = related.iter().flat_map(|item| item.split(", ")).map(one_line).collect();
        sections.related.retain(|item| !item.is_empty());
        sections
    }

    /// Writes all four sections, empty ones too.
    pub fn render(&self) -> String {
        let mut out = String::from("## Summary\n");
        for line in self.summary.trim().lines() {
            let _ = writeln!(out, "{}", escaped(line.trim_end()));
        }
        out.push_str("\n## Decisions\n");
        out.extend(self.decisions.iter().map(|item| format!("- {}\n", one_line(item))));
        out.push_str("\n## Unfinished\n");
        for item in &self.unfinished {
            let mark = if item.is_done { 'x' } else { ' ' };
            let _ = writeln!(out, "- [{mark}] {} {OPEN_MARK}{} -->", one_line(&item.text), item.id);
        }
        out.push_str("\n## Related\n");
        out.extend(self.related.iter().map(|item| format!("- {}\n", one_line(item))));
        out
    }

    /// Says whether there is nothing in them.
    pub fn is_empty(&self) -> bool {
        self.summary.trim().is_empty()
            && self.decisions.is_empty()
            && self.unfinished.is_empty()
            && self.related.is_empty()
    }

    /// Says whether two sessions left the same, whatever ids their items have.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let items = |sections: &Self| -> Vec<(String, bool)> {
            sections.unfinished.iter().map(|item| (item.text.clone(), item.is_done)).collect()
        };
        self.summary.trim() == other.summary.trim()
            && self.decisions == other.decisions
            && items(self) == items(other)
            && self.related == other.related
    }

    /// Counts what is left open.
    pub fn n_open(&self) -> usize {
        self.unfinished.iter().filter(|item| !item.is_done).count()
    }
}

/// Adds a line to a list: a bullet begins an item, any other text goes on with the last one.
fn take_item(items: &mut Vec<String>, line: &str) {
    let text = line.trim();
    let bullet = ["- ", "* ", "+ "].iter().find_map(|bullet| text.strip_prefix(bullet));
    match (bullet, items.last_mut()) {
        (Some(item), _) => items.push(item.to_owned()),
        (None, _) if text.is_empty() || matches!(text, "-" | "*" | "+") => {}
        (None, Some(last)) if line.starts_with([' ', '\t']) => {
            last.push(' ');
            last.push_str(text);
        }
        (None, _) => items.push(text.to_owned()),
    }
}

/// A line of a summary must not pass for a heading.
fn escaped(line: &str) -> String {
    let is_heading_like = line.trim_start_matches('\\').starts_with('#');
    if is_heading_like { format!("\\{line}") } else { line.to_owned() }
}

fn unescaped(line: &str) -> &str {
    match line.strip_prefix('\\') {
        Some(rest) if rest.trim_start_matches('\\').starts_with('#') => rest,
        _ => line,
    }
}
