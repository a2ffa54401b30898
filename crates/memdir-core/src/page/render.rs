//! Writes the index page.
//!
//! The page is read into a [`Sheet`] (whose lines are whose), every memory gets its [`Row`], the rows that fit are
//! chosen and put in order, and the sheet is written again around them. Rendering a page that was just rendered
//! changes nothing, and the order in which the memories are handed in never matters.

use std::cmp::Ordering;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::layout::{BEGIN, Block, END, HEADING, Layout, NOTE, Shade, is_line, is_marker, shades, strip_bom};
use super::load::Load;
use super::pointer::{self, Pointer};
use crate::memory::MemoryPath;

/// What a page may grow to, the user's own lines included.
pub const KEEP: Load = Load { lines: 180, bytes: 22_500 };
/// What a page is trimmed to once it has outgrown [`KEEP`], so that not every save trims again.
pub const TRIM: Load = Load { lines: 140, bytes: 17_500 };

/// What the index page needs to know about one memory. Paths are unique among the entries of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct PageEntry {
    /// Where the memory is.
    pub path: MemoryPath,
    /// What its line is headed with.
    pub title: String,
    /// What its line says, usually the description.
    pub hook: String,
    /// Whether the user wants it on the page before all others.
    pub pinned: bool,
    /// Its salience: lower buckets come first.
    pub bucket: u8,
    /// How strongly it is held; the weakest of a bucket leave first.
    pub strength: f64,
    /// When its content changed last.
    pub modified: Timestamp,
}

/// A rendered page and what became of the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The page.
    pub bytes: Vec<u8>,
    /// The memories that had a claim to a line and got none, best first. They stay in the vault.
    pub left: Vec<MemoryPath>,
    /// The memories whose line was cut to fit.
    pub shortened: Vec<MemoryPath>,
    /// How many pointers outside the block were taken into it.
    pub absorbed: usize,
    /// Text that stood inside the block; it now stands below it, at the end of the page.
    pub foreign: Vec<String>,
}

/// Renders the page of a vault that holds `entries`, starting from the page it has now. The lines of memories in
/// `touched` are brought up to date, the others keep the wording they have.
pub fn render(current: Option<&[u8]>, entries: &[PageEntry], touched: &BTreeSet<MemoryPath>) -> Page {
    let entries = by_path(entries);
    let sheet = Sheet::read(current.unwrap_or_default(), |path| entries.contains_key(path));
    write_page(sheet, &entries, 0, touched)
}

/// Renders the page of a vault that holds more memories than a page has room for, without looking at each: `entries` are
/// those that the page names now ([`named`]) and those in `touched`, beside `n_others` that it does not name.
///
/// `None` where that does not tell the page, because it did not overflow before or need not any longer: then [`render`]
/// has to see all of them.
pub fn render_full_page(
    current: &[u8],
    entries: &[PageEntry],
    n_others: usize,
    touched: &BTreeSet<MemoryPath>,
) -> Option<Page> {
    let entries = by_path(entries);
    let sheet = Sheet::read(current, |path| entries.contains_key(path));
    // Each takes a line at least: with more of them than lines not all can be on the page, whatever they say.
    let is_full = sheet.overflows && entries.len() + n_others > KEEP.lines;
    is_full.then(|| write_page(sheet, &entries, n_others, touched))
}

/// Lists the memories that the lines of a page may mean, whether or not they exist.
pub fn named(page: &[u8]) -> BTreeSet<MemoryPath> {
    let (_, page) = strip_bom(page);
    page.split(|byte| *byte == b'\n').filter_map(parse).flat_map(Pointer::into_targets).collect()
}

fn by_path(entries: &[PageEntry]) -> BTreeMap<&MemoryPath, &PageEntry> {
    entries.iter().map(|entry| (&entry.path, entry)).collect()
}

fn write_page(
    sheet: Sheet,
    entries: &BTreeMap<&MemoryPath, &PageEntry>,
    n_others: usize,
    touched: &BTreeSet<MemoryPath>,
) -> Page {
    let rows: Vec<Row> =
        entries.values().map(|entry| Row::new(entry, &sheet, touched.contains(&entry.path))).collect();
    let choice = Choice::of(rows, n_others, &sheet, touched);
    let shortened =
        choice.rows.iter().filter(|row| row.shortened).map(|row| row.entry.path.clone()).collect();
    Page {
        bytes: sheet.write(&choice),
        left: choice.left,
        shortened,
        absorbed: sheet.absorbed,
        foreign: sheet.foreign,
    }
}

/// Whether a line is the one that says how many memories are not on the page.
pub(super) fn is_more_line(line: &[u8]) -> bool {
    let Some(rest) = line.trim_ascii_end().strip_prefix(b"- ") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && &rest[digits..] == b" more: memdir search <words>"
}

/// A page as it was read: the user's lines, and what we found of ours.
struct Sheet {
    above: Vec<u8>,
    begin: Vec<u8>,
    end: Vec<u8>,
    below: Vec<u8>,
    eol: &'static str,
    /// The pointers to existing memories, in their order.
    found: BTreeMap<MemoryPath, Found>,
    /// Whether the page did not name every memory on purpose.
    overflows: bool,
    absorbed: usize,
    foreign: Vec<String>,
}

/// The line that a memory has on the page now.
struct Found {
    position: usize,
    /// The line as it stands in the page.
    line: Vec<u8>,
    pointer: Pointer,
    /// Whether it stood in the block already.
    in_block: bool,
}

impl Sheet {
    fn read(bytes: &[u8], exists: impl Fn(&MemoryPath) -> bool) -> Self {
        let layout = Layout::of(bytes);
        let eol = line_end(layout.block.as_ref().map_or(bytes, |block| block.begin));
        let mut sheet = Self::empty(eol);
        let Some(block) = &layout.block else {
            sheet.adopt(&layout, exists);
            return sheet;
        };
        // Last on the page, where a fence or comment in it cannot change what the user's lines mean.
        let foreign = sheet.read_block(block, &exists);
        let below: Vec<&[u8]> = layout.below.into_iter().chain(foreign).collect();
        sheet.above = layout.bom.to_vec();
        for (line, shade) in layout.above.iter().zip(shades(&layout.above)) {
            if !sheet.absorb(line, shade, &exists) {
                sheet.above.extend_from_slice(line);
            }
        }
        for (line, shade) in below.iter().zip(shades(&below)) {
            if !sheet.absorb(line, shade, &exists) {
                end_line(&mut sheet.below, sheet.eol);
                sheet.below.extend_from_slice(line);
            }
        }
        sheet
    }

    fn empty(eol: &'static str) -> Self {
        Self {
            above: Vec::new(),
            begin: format!("{BEGIN}{eol}").into_bytes(),
            end: format!("{END}{eol}").into_bytes(),
            below: Vec::new(),
            eol,
            found: BTreeMap::new(),
            overflows: false,
            absorbed: 0,
            foreign: Vec::new(),
        }
    }

    /// Takes over a page without a block: the block goes where the first line of ours stood, else to the end.
    fn adopt(&mut self, layout: &Layout<'_>, exists: impl Fn(&MemoryPath) -> bool) {
        let mut above = layout.bom.to_vec();
        let mut kept = Vec::new();
        let (mut first_pointer, mut first_ours) = (None, None);
        for (line, shade) in layout.above.iter().zip(shades(&layout.above)) {
            let absorbed = self.absorbed;
            if !self.absorb(line, shade, &exists) {
                kept.push(*line);
                continue;
            }
            if self.absorbed > absorbed {
                first_pointer.get_or_insert(kept.len());
            }
            if shade == Shade::Open {
                first_ours.get_or_insert(kept.len());
            }
        }
        let (before, after) = kept.split_at(first_pointer.or(first_ours).unwrap_or(kept.len()));
        above.extend(before.concat());
        end_line(&mut above, self.eol);
        above.extend(self.title(before, after));
        self.above = above;
        self.below = after.concat();
    }

    /// Returns the lines that go above a new block, as far as the page has them not yet.
    fn title(&self, before: &[&[u8]], after: &[&[u8]]) -> Vec<u8> {
        let mut title = String::new();
        if !before.iter().any(|line| line.starts_with(b"# ")) {
            if before.last().is_some_and(|line| !line.trim_ascii().is_empty()) {
                title.push_str(self.eol);
            }
            title.push_str(HEADING);
            title.push_str(self.eol);
        }
        if !before.iter().chain(after).any(|line| is_line(line, NOTE)) {
            title.push_str(NOTE);
            title.push_str(self.eol);
        }
        title.into_bytes()
    }

    /// Reads the block and returns the lines in it that are not ours.
    fn read_block<'a>(&mut self, block: &Block<'a>, exists: impl Fn(&MemoryPath) -> bool) -> Vec<&'a [u8]> {
        self.begin = block.begin.to_vec();
        self.end = block.end.to_vec();
        let mut foreign = Vec::new();
        for &line in &block.lines {
            if is_more_line(line) {
                self.overflows = true;
                continue;
            }
            let Some(pointer) = parse(line) else {
                if !line.trim_ascii().is_empty() {
                    foreign.push(line);
                    self.foreign.push(String::from_utf8_lossy(line).trim_end().to_owned());
                }
                continue;
            };
            if let Some(path) = pointer.resolve(&exists).cloned() {
                let position = self.found.len();
                let found = Found { position, line: line.to_vec(), pointer, in_block: true };
                self.found.entry(path).or_insert(found);
            }
        }
        foreign
    }

    /// Takes a line outside the block if it is ours, and says whether it was.
    fn absorb(&mut self, line: &[u8], shade: Shade, exists: impl Fn(&MemoryPath) -> bool) -> bool {
        if is_marker(line) && shade != Shade::Fence {
            return true;
        }
        if shade != Shade::Open {
            return false;
        }
        if is_more_line(line) {
            self.overflows = true;
            return true;
        }
        let Some(pointer) = parse(line) else { return false };
        let Some(path) = pointer.resolve(exists).cloned() else { return false };
        self.absorbed += 1;
        let has_words = !pointer.hook.is_empty();
        let line = line.trim_ascii_end().to_vec();
        let found = Found { position: self.found.len(), line, pointer, in_block: false };
        match self.found.entry(path) {
            Entry::Vacant(entry) => drop(entry.insert(found)),
            // We take such lines in whenever we see them, so this wording is newer than the one in the block.
            Entry::Occupied(mut entry) if entry.get().in_block && has_words => {
                let position = entry.get().position;
                entry.insert(Found { position, ..found });
            }
            Entry::Occupied(_) => {}
        }
        true
    }

    fn write(&self, choice: &Choice<'_>) -> Vec<u8> {
        let mut bytes = self.above.clone();
        bytes.extend_from_slice(&self.begin);
        choice.rows.iter().for_each(|row| bytes.extend_from_slice(&row.line));
        bytes.extend(choice.more.iter().flatten());
        bytes.extend_from_slice(&self.end);
        if !self.below.is_empty() {
            end_line(&mut bytes, self.eol);
            bytes.extend_from_slice(&self.below);
        }
        bytes
    }
}

/// Ends the last line, if there is one without an end.
fn end_line(bytes: &mut Vec<u8>, eol: &str) {
    if !strip_bom(bytes).1.is_empty() && !bytes.ends_with(b"\n") {
        bytes.extend_from_slice(eol.as_bytes());
    }
}

fn parse(line: &[u8]) -> Option<Pointer> {
    Pointer::parse(str::from_utf8(line).ok()?)
}

/// The line end of the first line, which our own lines follow.
fn line_end(bytes: &[u8]) -> &'static str {
    let first = bytes.split_inclusive(|byte| *byte == b'\n').next();
    if first.is_some_and(|line| line.ends_with(b"\r\n")) { "\r\n" } else { "\n" }
}

/// A memory's line, whether or not it gets a place on the page.
struct Row<'a> {
    entry: &'a PageEntry,
    line: Vec<u8>,
    /// Where the line stood, if it did.
    position: Option<usize>,
    shortened: bool,
}

impl<'a> Row<'a> {
    fn new(entry: &'a PageEntry, sheet: &Sheet, touched: bool) -> Self {
        let Some(found) = sheet.found.get(&entry.path) else {
            return Self::fresh(entry, None, sheet.eol);
        };
        if touched {
            let fresh = Self::fresh(entry, Some(found.position), sheet.eol);
            if fresh.line.trim_ascii_end() != found.line.trim_ascii_end() {
                return fresh;
            }
        }
        if found.pointer.canonical {
            let eol = if found.in_block { "" } else { sheet.eol };
            let line = [&found.line, eol.as_bytes()].concat();
            return Self { entry, line, position: Some(found.position), shortened: false };
        }
        Self::reworded(entry, found, sheet.eol)
    }

    /// Writes the line from what the memory says.
    fn fresh(entry: &'a PageEntry, position: Option<usize>, eol: &str) -> Self {
        let written = pointer::write(&entry.title, &entry.path, &entry.hook);
        Self { entry, line: (written.text + eol).into_bytes(), position, shortened: written.shortened }
    }

    /// Writes the line anew, if that makes it shorter.
    fn renewed(self, eol: &str) -> Self {
        let fresh = Self::fresh(self.entry, self.position, eol);
        if fresh.line.len() >= self.line.len() {
            return self;
        }
        Self { shortened: true, ..fresh }
    }

    /// Writes the line from the wording it has, in the form that we write.
    fn reworded(entry: &'a PageEntry, found: &Found, eol: &str) -> Self {
        let (title, hook) = (&found.pointer.title, &found.pointer.hook);
        let title = if title.is_empty() { &entry.title } else { title };
        let hook = if hook.is_empty() { &entry.hook } else { hook };
        let written = pointer::write(title, &entry.path, hook);
        // A line that cannot get shorter, for its path alone is too long, is not reported each time.
        let shortened = written.shortened && written.text.as_bytes() != found.line.trim_ascii_end();
        Self { entry, line: (written.text + eol).into_bytes(), position: Some(found.position), shortened }
    }
}

/// The rows that are on the page, in order, and the line for those that are not.
struct Choice<'a> {
    rows: Vec<Row<'a>>,
    more: Option<Vec<u8>>,
    left: Vec<MemoryPath>,
}

impl<'a> Choice<'a> {
    /// Chooses who is on the page; `n_others` memories are beside the rows and stay off it. Once the page overflows, a memory that left comes back only when it is touched
    /// or when there is room for all: otherwise every save would push another one in and out.
    fn of(rows: Vec<Row<'a>>, n_others: usize, sheet: &Sheet, touched: &BTreeSet<MemoryPath>) -> Self {
        let frame = Load::measure(&sheet.write(&Self::all(Vec::new())));
        if n_others == 0 && (rows.is_empty() || frame.with_rows(&rows).fits(KEEP)) {
            return Self::all(rows);
        }
        let stays =
            |row: &Row| !sheet.overflows || row.position.is_some() || touched.contains(&row.entry.path);
        let (mut listed, unlisted): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(stays);
        let n_off = unlisted.len() + n_others;
        let more = more_line(n_off, sheet.eol);
        if frame.with_rows(&listed).with_line(&more).fits(KEEP) {
            return Self { more: Some(more), ..Self::all(listed) };
        }
        listed.sort_by(by_worth);
        let n_kept = count_fitting(frame, &listed, n_off, sheet.eol);
        let victims = listed.split_off(n_kept);
        let left = victims.iter().map(|row| row.entry.path.clone()).collect();
        let n_unlisted = victims.len() + n_off;

        // Wordings longer than our own may be all that is too much: then we shorten rather than leave out.
        let renewed = victims.into_iter().map(|row| row.renewed(sheet.eol));
        let others: Vec<Row> = renewed.chain(unlisted).collect();
        if n_others == 0 && frame.with_rows(&listed).with_rows(&others).fits(KEEP) {
            listed.extend(others);
            return Self::all(listed);
        }
        Self { more: Some(more_line(n_unlisted, sheet.eol)), left, ..Self::all(listed) }
    }

    fn all(mut rows: Vec<Row<'a>>) -> Self {
        rows.sort_by(by_place);
        Self { rows, more: None, left: Vec::new() }
    }
}

impl Load {
    fn with_rows(self, rows: &[Row<'_>]) -> Self {
        rows.iter().fold(self, |load, row| load.with_line(&row.line))
    }
}

/// The line that says how many memories are not on the page.
fn more_line(n_unlisted: usize, eol: &str) -> Vec<u8> {
    format!("- {n_unlisted} more: memdir search <words>{eol}").into_bytes()
}

/// Counts how many of the rows, best first, fit into a trimmed page together with the line for the others.
fn count_fitting(frame: Load, rows: &[Row<'_>], n_unlisted: usize, eol: &str) -> usize {
    let mut load = frame;
    let mut n_fitting = 0;
    for (n_kept, row) in (1..).zip(rows) {
        load = load.with_line(&row.line);
        let n_others = rows.len() - n_kept + n_unlisted;
        if !load.with_line(&more_line(n_others, eol)).fits(TRIM) {
            break;
        }
        n_fitting = n_kept;
    }
    n_fitting
}

/// Sorts the row that deserves its place most to the front.
fn by_worth(a: &Row<'_>, b: &Row<'_>) -> Ordering {
    let (a, b) = (a.entry, b.entry);
    (b.pinned.cmp(&a.pinned))
        .then(a.bucket.cmp(&b.bucket))
        .then(b.strength.total_cmp(&a.strength))
        .then(b.modified.cmp(&a.modified))
        .then(a.path.cmp(&b.path))
}

/// Sorts rows as they stand on the page: sticky within a bucket, new ones after the old ones.
fn by_place(a: &Row<'_>, b: &Row<'_>) -> Ordering {
    let place = |row: &Row| (row.position.is_none(), row.position);
    (b.entry.pinned.cmp(&a.entry.pinned))
        .then(a.entry.bucket.cmp(&b.entry.bucket))
        .then_with(|| place(a).cmp(&place(b)))
        .then(a.entry.modified.cmp(&b.entry.modified))
        .then_with(|| a.entry.path.cmp(&b.entry.path))
}
