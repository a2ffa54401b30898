//! Two edits of one file become one file, or a clash that names the lines.
//!
//! Both sides started from the same base. What only one side changed is taken from that side; what both changed
//! in the same way is taken once; what both added at the same place is kept from both. Only where both changed or
//! deleted the same lines differently do we give up: losing somebody's words silently is the one thing a merge
//! must not do. Look at [`three_way`] first; [`three_way_memory`] knows about frontmatter.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use jiff::Timestamp;
use similar::{Algorithm, DiffTag, TextDiff, capture_diff_slices};

/// Says why two edits cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Clash {
    /// Both sides changed these lines of the base, counted from 1, in different ways.
    #[error("both sides changed {}", Spans(lines))]
    Lines {
        /// The lines, without overlaps, from top to bottom.
        lines: Vec<Range<usize>>,
    },
    /// Each side is fine, but together they say a thing twice.
    #[error("the frontmatter would hold `{key}` twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
}

/// Merges two edits of `base` by line. `theirs` is what is already published: of two additions at the same place
/// it comes first.
pub fn three_way(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Vec<u8>, Clash> {
    if ours == base || ours == theirs {
        return Ok(theirs.to_vec());
    }
    if theirs == base {
        return Ok(ours.to_vec());
    }
    let (base, ours, theirs) = (Text::of(base), Text::of(ours), Text::of(theirs));
    let groups = group(hunks(&base, &ours, Side::Ours), hunks(&base, &theirs, Side::Theirs));
    let mut merged = Vec::new();
    let mut clashes = Vec::new();
    let mut copied = 0;
    for group in &groups {
        merged.extend_from_slice(&base.lines[copied..group.base.start]);
        match group.resolve() {
            Some(lines) => merged.extend(lines),
            None => clashes.push(group.base.start + 1..group.base.end + 1),
        }
        copied = group.base.end;
    }
    if !clashes.is_empty() {
        return Err(Clash::Lines { lines: clashes });
    }
    merged.extend_from_slice(&base.lines[copied..]);
    let ended = if ours.ended == base.ended { theirs.ended } else { ours.ended };
    Ok(Text { lines: merged, ended }.into_bytes())
}

/// Merges two edits of a memory file. Of two `modified` times the later one wins, and a result whose frontmatter
/// would say a thing twice is refused.
pub fn three_way_memory(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Vec<u8>, Clash> {
    let merged = match common_modified(base, ours, theirs) {
        // The line is the same in all three, so it does not stand in the way of what changed beside it.
        Some(line) => three_way(&line.put_into(base), &line.put_into(ours), &line.put_into(theirs))?,
        None => three_way(base, ours, theirs)?,
    };
    match new_duplicate(&merged, ours, theirs) {
        Some(key) => Err(Clash::DuplicateKey { key }),
        None => Ok(merged),
    }
}

/// Shows how a file changed as a unified diff for people; `None` is a file that does not exist.
///
/// Bytes that are not text are shown as replacement characters: the diff is for reading, not for applying.
pub fn unified(before: Option<&[u8]>, after: Option<&[u8]>, path: &str) -> String {
    let name = |prefix: &str, side: Option<&[u8]>| {
        side.map_or("/dev/null".to_owned(), |_| format!("{prefix}/{path}"))
    };
    let text = |side: Option<&[u8]>| String::from_utf8_lossy(side.unwrap_or_default()).into_owned();
    let (old, new) = (text(before), text(after));
    let diff = TextDiff::from_lines(&old, &new);
    diff.unified_diff().context_radius(3).header(&name("a", before), &name("b", after)).to_string()
}

/// A file as lines. The last line has its end even where the file ends without one, so that it stays the same
/// line when something is added behind it.
struct Text<'a> {
    lines: Vec<Line<'a>>,
    /// Whether the file ends with a line end.
    ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Line<'a> {
    text: &'a [u8],
    end: &'static [u8],
}

impl<'a> Text<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let mut lines: Vec<Line> = bytes.split_inclusive(|byte| *byte == b'\n').map(Line::of).collect();
        let ended = lines.last().is_none_or(|line| !line.end.is_empty());
        if !ended && let Some((last, others)) = lines.split_last_mut() {
            last.end = others.last().map_or(b"\n", |line| line.end);
        }
        Self { lines, ended }
    }

    fn into_bytes(self) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            self.lines.iter().flat_map(|line| [line.text, line.end]).flatten().copied().collect();
        // An empty last line exists only by its end.
        if let Some(last) = self.lines.last().filter(|last| !self.ended && !last.text.is_empty()) {
            bytes.truncate(bytes.len() - last.end.len());
        }
        bytes
    }
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Self {
        if let Some(text) = line.strip_suffix(b"\r\n") {
            return Self { text, end: b"\r\n" };
        }
        match line.strip_suffix(b"\n") {
            Some(text) => Self { text, end: b"\n" },
            None => Self { text: line, end: b"" },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Theirs,
    Ours,
}

/// Lines of the base, and what one side put in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk<'a> {
    side: Side,
    base: Range<usize>,
    lines: Vec<Line<'a>>,
}

/// Lists what one side changed. No two hunks of a side touch.
fn hunks<'a>(base: &Text<'a>, edited: &Text<'a>, side: Side) -> Vec<Hunk<'a>> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &base.lines, &edited.lines) {
        let (tag, base, new) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            continue;
        }
        let lines = &edited.lines[new];
        match hunks.last_mut().filter(|last| last.base.end == base.start) {
            Some(last) => {
                last.base.end = base.end;
                last.lines.extend_from_slice(lines);
            }
            None => hunks.push(Hunk { side, base, lines: lines.to_vec() }),
        }
    }
    hunks
}

/// Hunks that have to do with the same lines of the base.
#[derive(Debug)]
struct Group<'a> {
    base: Range<usize>,
    hunks: Vec<Hunk<'a>>,
}

/// Puts hunks together that overlap, from top to bottom.
fn group<'a>(ours: Vec<Hunk<'a>>, theirs: Vec<Hunk<'a>>) -> Vec<Group<'a>> {
    let mut all: Vec<Hunk> = theirs.into_iter().chain(ours).collect();
    all.sort_by_key(|hunk| (hunk.base.start, hunk.base.end)); // stable: theirs stay first
    let mut groups: Vec<Group> = Vec::new();
    for hunk in all {
        match groups.last_mut().filter(|group| overlap(&group.base, &hunk.base)) {
            Some(group) => {
                group.base.end = group.base.end.max(hunk.base.end);
                group.hunks.push(hunk);
            }
            None => groups.push(Group { base: hunk.base.clone(), hunks: vec![hunk] }),
        }
    }
    groups
}

/// Whether two ranges of the base, the second not before the first, are about the same lines. Ranges that merely
/// touch are not; two additions at one place are, since they have to agree on an order.
fn overlap(first: &Range<usize>, second: &Range<usize>) -> bool {
    first == second || second.start < first.end && (first.start < second.start || !second.is_empty())
}

impl<'a> Group<'a> {
    /// Returns what takes the place of the group's lines, or `None` if the sides disagree.
    fn resolve(&self) -> Option<Vec<Line<'a>>> {
        let side = |side| self.hunks.iter().filter(move |hunk| hunk.side == side);
        if self.hunks.iter().all(|hunk| hunk.lines.is_empty()) {
            return Some(Vec::new()); // both deleted, each its part
        }
        let [first, others @ ..] = self.hunks.as_slice() else { return None };
        match others {
            [] => Some(first.lines.clone()),
            [other] if first.base == other.base && first.lines == other.lines => Some(first.lines.clone()),
            [_] if self.base.is_empty() => {
                let theirs_first = side(Side::Theirs).chain(side(Side::Ours));
                Some(theirs_first.flat_map(|hunk| hunk.lines.iter().copied()).collect())
            }
            _ => None,
        }
    }
}

/// A key of the frontmatter, and where in the file its value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    /// The path of keys. What stands under `metadata` is named as if it stood on top, for it means the same.
    name: String,
    value: Range<usize>,
}

/// Lists the keys of a file's frontmatter, in their order. A file without frontmatter has none.
fn keys(file: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut parents: Vec<(usize, &str)> = Vec::new();
    let mut start = 0;
    for (i, line) in file.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let line_start = start;
        start += line.len();
        match (i, is_rule(line)) {
            (0, true) => continue,
            (0, false) => return Vec::new(),
            (_, true) => return keys,
            (_, false) => {}
        }
        let Some((indent, key, value)) = split_key(line) else { continue };
        parents.retain(|(outer, _)| *outer < indent);
        let path = parents.iter().map(|(_, key)| *key).skip_while(|key| *key == "metadata");
        let name = path.chain([key]).collect::<Vec<_>>().join("/");
        parents.push((indent, key));
        keys.push(Key { name, value: line_start + value.start..line_start + value.end });
    }
    Vec::new() // never closed: all of it is body
}

/// Whether a line opens or closes the frontmatter.
fn is_rule(line: &[u8]) -> bool {
    line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii_end() == b"---"
}

/// Splits a line `key: value` into its indent, its key and where its value stands.
fn split_key(line: &[u8]) -> Option<(usize, &str, Range<usize>)> {
    let text = str::from_utf8(line).ok()?.trim_end();
    let indent = text.len() - text.trim_start_matches(' ').len();
    let colon = text.find(": ").or(text.strip_suffix(':').map(str::len))?;
    let key = text[indent..colon].trim_matches(['"', '\'']);
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_key = !key.is_empty() && !key.starts_with('-') && key.chars().all(is_word);
    is_key.then_some((indent, key, colon + 1..text.len()))
}

/// The `modified` value that a merged memory has.
struct Modified<'a> {
    value: &'a [u8],
}

/// Decides the `modified` value of a merge: the one that was changed, of two changed or added ones the later.
/// `None` if not both sides have exactly one.
fn common_modified<'a>(base: &[u8], ours: &'a [u8], theirs: &'a [u8]) -> Option<Modified<'a>> {
    let (ours, theirs) = (&ours[modified_at(ours)?], &theirs[modified_at(theirs)?]);
    let base = modified_at(base).map(|at| &base[at]);
    let is_ours = base == Some(theirs) || base != Some(ours) && time_of(ours) > time_of(theirs);
    Some(Modified { value: if is_ours { ours } else { theirs } })
}

impl Modified<'_> {
    fn put_into(&self, file: &[u8]) -> Vec<u8> {
        match modified_at(file) {
            Some(at) => [&file[..at.start], self.value, &file[at.end..]].concat(),
            None => file.to_vec(),
        }
    }
}

fn modified_at(file: &[u8]) -> Option<Range<usize>> {
    let mut found = keys(file).into_iter().filter(|key| key.name == "modified");
    let only = found.next()?;
    found.next().is_none().then_some(only.value)
}

/// Orders values by time; what is not a time is before all times.
fn time_of(value: &[u8]) -> (Option<Timestamp>, &[u8]) {
    let text = str::from_utf8(value).unwrap_or_default();
    (text.trim().trim_matches(['"', '\'']).parse().ok(), value)
}

/// Finds a key that the merged frontmatter holds twice though neither side did.
fn new_duplicate(merged: &[u8], ours: &[u8], theirs: &[u8]) -> Option<String> {
    let old: BTreeSet<String> = duplicates(ours).into_iter().chain(duplicates(theirs)).collect();
    duplicates(merged).into_iter().find(|key| !old.contains(key))
}

fn duplicates(file: &[u8]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    keys(file).into_iter().map(|key| key.name).filter(|name| !seen.insert(name.clone())).collect()
}

/// Prints ranges of lines as people name them.
struct Spans<'a>(&'a [Range<usize>]);

impl fmt::Display for Spans<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, span) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            match span.len() {
                1 => write!(f, "line {}", span.start)?,
                _ => write!(f, "lines {}-{}", span.start, span.end - 1)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(base: &str, ours: &str, theirs: &str, expected: Expect) {
        let shown = match three_way(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()) {
            Ok(merged) => String::from_utf8(merged).unwrap(),
            Err(clash) => format!("{clash}\n"),
        };
        expected.assert_eq(&shown);
    }

    /// Merges memories whose frontmatter ends with `lines`, given as `key: value` separated by `;`.
    fn check_memory(base: &str, ours: &str, theirs: &str, expected: Expect) {
        let file = |lines: &str| format!("---\nname: x\n{}\n---\n\nbody\n", lines.replace(';', "\n"));
        let merged = three_way_memory(file(base).as_bytes(), file(ours).as_bytes(), file(theirs).as_bytes());
        expected.assert_eq(
            &merged.map_or_else(|clash| format!("{clash}\n"), |merged| String::from_utf8(merged).unwrap()),
        );
    }

    #[test]
    fn changes_of_different_lines_are_merged() {
        check(
            "a\nb\nc\n",
            "A\nb\nc\n",
            "a\nb\nC\n",
            expect![[r#"
            A
            b
            C
        "#]],
        );
        check(
            "a\nb\nc\nd\n",
            "A\nb\nd\n",
            "a\nb\nc\nx\nd\ny\n",
            expect![[r#"
            A
            b
            x
            d
            y
        "#]],
        );
    }

    #[test]
    fn changes_that_only_touch_are_merged() {
        check(
            "a\nb\n",
            "A\nb\n",
            "a\nB\n",
            expect![[r#"
            A
            B
        "#]],
        );
        check(
            "a\nb\n",
            "x\na\nb\n",
            "A\nb\n",
            expect![[r#"
            x
            A
            b
        "#]],
        );
        check(
            "a\nb\n",
            "b\n",
            "a\nx\nb\n",
            expect![[r#"
            x
            b
        "#]],
        );
    }

    #[test]
    fn additions_at_the_same_place_are_both_kept_theirs_first() {
        check(
            "a\nz\n",
            "a\nours\nz\n",
            "a\ntheirs\nz\n",
            expect![[r#"
            a
            theirs
            ours
            z
        "#]],
        );
        check(
            "a\n",
            "a\nsame\n",
            "a\nsame\n",
            expect![[r#"
            a
            same
        "#]],
        );
        check(
            "",
            "ours\n",
            "theirs\n",
            expect![[r#"
            theirs
            ours
        "#]],
        );
    }

    #[test]
    fn the_same_change_on_both_sides_is_made_once() {
        check(
            "a\nb\nc\n",
            "a\nB\nc\nours\n",
            "theirs\na\nB\nc\n",
            expect![[r#"
            theirs
            a
            B
            c
            ours
        "#]],
        );
        check(
            "a\nb\nc\nd\ne\n",
            "a\nd\ne\nx\n",
            "a\nb\ne\n",
            expect![[r#"
            a
            e
            x
        "#]],
        );
    }

    #[test]
    fn different_changes_of_the_same_lines_clash() {
        check(
            "a\nb\nc\n",
            "a\nours\nc\n",
            "a\ntheirs\nc\n",
            expect![[r#"
            both sides changed line 2
        "#]],
        );
        check(
            "a\nb\nc\nd\n",
            "a\nd\n",
            "a\nB\nc\nd\n",
            expect![[r#"
            both sides changed lines 2-3
        "#]],
        );
        check(
            "a\nb\nc\nd\n",
            "a\nd\n",
            "a\nb\nx\nc\nd\n",
            expect![[r#"
            both sides changed lines 2-3
        "#]],
        );
        check(
            "a\nb\nc\nd\n",
            "1\nb\nc\n1\n",
            "2\nb\nc\n2\n",
            expect![[r#"
            both sides changed line 1, line 4
        "#]],
        );
    }

    #[test]
    fn a_last_line_without_an_end_is_not_glued() {
        check(
            "a",
            "a\nours",
            "a\ntheirs",
            expect![[r#"
            a
            theirs
            ours"#]],
        );
        check(
            "a",
            "a\nours\n",
            "theirs\na",
            expect![[r#"
            theirs
            a
            ours
        "#]],
        );
        check(
            "a\nb",
            "a\nb\n",
            "x\na\nb",
            expect![[r#"
            x
            a
            b
        "#]],
        );
        let merged = three_way(b"a\r\nb", b"a\r\nb\r\nours", b"a\r\nb\r\ntheirs\r\n").unwrap();
        assert_eq!(merged, b"a\r\nb\r\ntheirs\r\nours\r\n");
    }

    #[test]
    fn bytes_that_are_not_text_are_merged_like_others() {
        let merged = three_way(b"\xff\n\x00\n", b"\xff\n\x00\n\xfe\n", b"\x80\n\x00\n").unwrap();
        assert_eq!(merged, b"\x80\n\x00\n\xfe\n");
    }

    #[test]
    fn the_later_modified_wins() {
        check_memory(
            "metadata:;  modified: 2026-04-01T10:00:00Z",
            "metadata:;  modified: 2026-04-01T12:00:00.500Z",
            "metadata:;  modified: 2026-04-01T11:00:00Z",
            expect![[r#"
                ---
                name: x
                metadata:
                  modified: 2026-04-01T12:00:00.500Z
                ---

                body
            "#]],
        );
        // The time in the other zone is the later one though its digits are smaller.
        check_memory(
            "modified: 2026-04-01T10:00:00Z;pinned: true",
            "modified: \"2026-04-01T11:00:00-05:00\";pinned: false",
            "modified: 2026-04-01T12:00:00Z;pinned: true;tags: x",
            expect![[r#"
                ---
                name: x
                modified: "2026-04-01T11:00:00-05:00"
                pinned: false
                tags: x
                ---

                body
            "#]],
        );
    }

    #[test]
    fn two_writers_may_both_bring_the_first_modified() {
        check_memory(
            "type: user",
            "type: user;metadata:;  modified: 2026-04-01T12:00:00Z",
            "type: user;metadata:;  modified: 2026-04-01T11:00:00Z",
            expect![[r#"
                ---
                name: x
                type: user
                metadata:
                  modified: 2026-04-01T12:00:00Z
                ---

                body
            "#]],
        );
    }

    #[test]
    fn a_change_beside_modified_is_no_clash() {
        check_memory(
            "verified: 1;modified: 2026-04-01T10:00:00Z",
            "verified: 2;modified: 2026-04-01T11:00:00Z",
            "verified: 1;modified: 2026-04-01T12:00:00Z",
            expect![[r#"
                ---
                name: x
                verified: 2
                modified: 2026-04-01T12:00:00Z
                ---

                body
            "#]],
        );
    }

    #[test]
    fn a_key_is_never_doubled_by_a_merge() {
        check_memory(
            "a: 1;b: 2",
            "a: 1;b: 2;kind: x",
            "a: 1;b: 2;kind: y",
            expect![[r#"
            the frontmatter would hold `kind` twice
        "#]],
        );
        check_memory(
            "a: 1;metadata:;  b: 2",
            "type: user;a: 1;metadata:;  b: 2",
            "a: 1;metadata:;  b: 2;  type: user",
            expect![[r#"
            the frontmatter would hold `type` twice
        "#]],
        );
        check_memory(
            "a: 1",
            "a: 1;b: 1;b: 2",
            "a: 1;c: 3",
            expect![[r#"
            ---
            name: x
            a: 1
            c: 3
            b: 1
            b: 2
            ---

            body
        "#]],
        );
    }

    #[test]
    fn keys_in_the_body_are_no_keys() {
        let file = |body: &str| format!("---\nname: x\n---\nmodified: 1\n{body}");
        let merged = three_way_memory(
            file("").as_bytes(),
            file("modified: 2\n").as_bytes(),
            file("modified: 3\n").as_bytes(),
        );
        assert_eq!(merged.unwrap(), file("modified: 3\nmodified: 2\n").into_bytes());
        assert_eq!(keys(b"---\nname: x\n"), []);
        assert_eq!(
            keys("\u{feff}---\r\nname: x\r\n---\r\n".as_bytes()),
            [Key { name: "name".to_owned(), value: 13..15 }]
        );
        assert_eq!(keys(b"name: x\n---\n"), []);
    }

    #[test]
    fn a_diff_shows_what_changed() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let after = before.replace("5\n", "five\n");
        expect![[r#"
            --- a/x.md
            +++ b/x.md
            @@ -2,7 +2,7 @@
             2
             3
             4
            -5
            +five
             6
             7
             8
        "#]]
        .assert_eq(&unified(Some(before.as_bytes()), Some(after.as_bytes()), "x.md"));
        expect![[r#"
            --- /dev/null
            +++ b/x.md
            @@ -0,0 +1 @@
            +new �
            \ No newline at end of file
        "#]]
        .assert_eq(&unified(None, Some(b"new \xff"), "x.md"));
        assert_eq!(unified(Some(b"a"), Some(b"a"), "x.md"), "");
    }

    /// Few different lines, so that they meet often; with and without line ends.
    fn any_file() -> impl Strategy<Value = Vec<u8>> {
        (
            prop::collection::vec(("[abc]{0,1}", prop_oneof![4 => Just("\n"), 1 => Just("\r\n")]), 0..8),
            any::<bool>(),
        )
            .prop_map(|(lines, ended)| {
                let text: String = lines.iter().map(|(line, end)| format!("{line}{end}")).collect();
                let text = if ended { text.as_str() } else { text.trim_end_matches(['\r', '\n']) };
                text.as_bytes().to_vec()
            })
    }

    /// An edit: for each line of the base, and the end, what is put before it and whether it is replaced.
    fn any_edit() -> impl Strategy<Value = Vec<(usize, bool)>> {
        prop::collection::vec((0usize..3, any::<bool>()), 9)
    }

    /// Applies an edit to the lines whose number has the given remainder by 2, so that two edits are disjoint.
    fn edited(base: &[String], edit: &[(usize, bool)], mark: &str, parity: usize) -> String {
        let mut text = String::new();
        for (i, (n_added, is_replaced)) in edit.iter().enumerate().take(base.len() + 1) {
            for n in 0..*n_added {
                text.push_str(&format!("{mark} added {n} at {i}\n"));
            }
            match base.get(i) {
                Some(_) if *is_replaced && i % 2 == parity => text.push_str(&format!("{mark} changed {i}\n")),
                Some(line) => text.push_str(&format!("{line}\n")),
                None => {}
            }
        }
        text
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_takes_the_other(base in any_file(), edit in any_file()) {
            prop_assert_eq!(three_way(&base, &base, &edit).unwrap(), &edit[..]);
            prop_assert_eq!(three_way(&base, &edit, &base).unwrap(), &edit[..]);
            prop_assert_eq!(three_way(&base, &edit, &edit).unwrap(), &edit[..]);
        }

        #[test]
        fn any_merge_holds_every_line_that_only_one_side_added(base in any_file(), ours in any_file(), theirs in any_file()) {
            let Ok(merged) = three_way(&base, &ours, &theirs) else { return Ok(()) };
            let count = |file: &[u8], line: &Line| {
                Text::of(file).lines.iter().filter(|other| other.text == line.text).count()
            };
            for (side, other) in [(&ours, &theirs), (&theirs, &ours)] {
                for line in Text::of(side).lines {
                    let is_new = count(&base, &line) == 0 && count(other, &line) == 0;
                    prop_assert!(!is_new || count(&merged, &line) == count(side, &line));
                }
            }
        }

        #[test]
        fn disjoint_edits_both_survive(n_lines in 0usize..8, ours in any_edit(), theirs in any_edit()) {
            let base: Vec<String> = (0..n_lines).map(|i| format!("line {i}")).collect();
            let ours = edited(&base, &ours, "ours", 0);
            let theirs = edited(&base, &theirs, "theirs", 1);
            let base: String = base.iter().map(|line| format!("{line}\n")).collect();
            let merged = String::from_utf8(three_way(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).unwrap()).unwrap();
            for (side, mark) in [(&ours, "ours"), (&theirs, "theirs")] {
                let of_side = |text: &str| -> Vec<String> {
                    text.lines().filter(|line| line.starts_with(mark)).map(str::to_owned).collect()
                };
                prop_assert_eq!(of_side(&merged), of_side(side));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

        #[test]
        fn four_hundred_appends_survive_any_interleaving(
            bases in prop::collection::vec(0usize..8, 400),
            ended in any::<bool>(),
        ) {
            // Each writer appends to a version it read up to seven publications ago.
            let mut versions = vec![if ended { "# Log\n".to_owned() } else { "# Log".to_owned() }];
            for (i, age) in bases.iter().enumerate() {
                let base = &versions[versions.len().saturating_sub(1 + age)];
                let line_end = if base.ends_with('\n') { "" } else { "\n" };
                let last_end = if i % 3 == 0 { "" } else { "\n" };
                let ours = format!("{base}{line_end}- entry {i}{last_end}");
                let current = versions.last().unwrap();
                let merged = three_way(base.as_bytes(), ours.as_bytes(), current.as_bytes()).unwrap();
                versions.push(String::from_utf8(merged).unwrap());
            }
            let entries: BTreeSet<&str> = versions.last().unwrap().lines().skip(1).collect();
            prop_assert_eq!(entries.len(), 400);
            let is_there = |i: usize| entries.contains(format!("- entry {i}").as_str());
            prop_assert!((0..400).all(is_there));
        }
    }
}
