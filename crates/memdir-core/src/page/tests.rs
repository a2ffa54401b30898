//! The page as a whole: what `render` promises, over made pages and random ones.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use jiff::Timestamp;
use proptest::prelude::*;

use super::layout::{BEGIN, END, Layout, NOTE, Shade, is_marker, shades};
use super::load::within_limit;
use super::pointer::Pointer;
use super::render::is_more_line;
use super::*;
use crate::memory::MemoryPath;

fn path(text: &str) -> MemoryPath {
    MemoryPath::new(text).unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_775_000_000 + second).unwrap()
}

/// A memory `name.md` titled by its name, and a hook that says so.
fn entry(name: &str) -> PageEntry {
    PageEntry {
        path: path(&format!("{name}.md")),
        title: name.to_uppercase(),
        hook: format!("about {name}"),
        pinned: false,
        bucket: 1,
        strength: 0.5,
        modified: at(0),
    }
}

fn entries(names: &str) -> Vec<PageEntry> {
    names.split_whitespace().map(entry).collect()
}

fn numbered(n: usize) -> Vec<PageEntry> {
    (0..n).map(|i| PageEntry { modified: at(i as i64), ..entry(&format!("m{i:04}")) }).collect()
}

fn touched(names: &str) -> BTreeSet<MemoryPath> {
    names.split_whitespace().map(|name| path(&format!("{name}.md"))).collect()
}

fn untouched() -> BTreeSet<MemoryPath> {
    BTreeSet::new()
}

fn text(page: &Page) -> String {
    String::from_utf8_lossy(&page.bytes).into_owned()
}

/// Renders `current` for the memories `names` and compares the page and what was reported about it.
fn check(current: &str, names: &str, expected: Expect) -> Page {
    let page = render(Some(current.as_bytes()), &entries(names), &untouched());
    let again = render(Some(&page.bytes), &entries(names), &untouched());
    assert_eq!(text(&again), text(&page), "rendering twice changed the page");
    let report = format!("absorbed {}, foreign: {}", page.absorbed, page.foreign.join(" | "));
    expected.assert_eq(&format!("{}== {report}\n", text(&page)));
    page
}

fn block_of(bytes: &[u8]) -> Vec<String> {
    let layout = Layout::of(bytes);
    let block = layout.block.expect("a rendered page has a block");
    block.lines.iter().map(|line| String::from_utf8_lossy(line).trim_end().to_owned()).collect()
}

fn listed(page: &Page) -> Vec<String> {
    let stem = |line: &String| Pointer::parse(line).map(|pointer| pointer.path().stem().to_owned());
    block_of(&page.bytes).iter().filter_map(stem).collect()
}

#[test]
fn a_new_page_is_exactly_the_format() {
    let page = render(None, &entries("b a"), &untouched());
    expect![[r#"
        # Memory Index
        <!-- memdir:index v1 managed; lines outside begin/end are yours -->
        <!-- memdir:begin -->
        - [A](a.md) — about a
        - [B](b.md) — about b
        <!-- memdir:end -->
    "#]]
    .assert_eq(&text(&page));
    assert_eq!(render(Some(b""), &entries("a b"), &untouched()), page);
}

#[test]
fn a_page_for_no_memories_has_an_empty_block() {
    let expected = format!("# Memory Index\n{NOTE}\n{BEGIN}\n{END}\n");
    assert_eq!(text(&render(None, &[], &untouched())), expected);
}

#[test]
fn a_hand_written_page_keeps_every_line_that_is_not_a_pointer() {
    check(
        "# My memory\n\nSome notes.\n\n## Testing\n* [Alpha](a.md): my own words\n- see [B](b.md) for more\n\n## Old\n- [Gone](gone.md) — kept\n- [B](b.md)\nlast line",
        "a b",
        expect![[r#"
            # My memory

            Some notes.

            ## Testing
            <!-- memdir:index v1 managed; lines outside begin/end are yours -->
            <!-- memdir:begin -->
            - [Alpha](a.md) — my own words
            - [B](b.md) — about b
            <!-- memdir:end -->
            - see [B](b.md) for more

            ## Old
            - [Gone](gone.md) — kept
            last line== absorbed 2, foreign: 
        "#]],
    );
}

#[test]
fn a_page_without_pointers_gets_the_block_at_its_end() {
    check(
        "notes without a line end",
        "a",
        expect![[r#"
            notes without a line end

            # Memory Index
            <!-- memdir:index v1 managed; lines outside begin/end are yours -->
            <!-- memdir:begin -->
            - [A](a.md) — about a
            <!-- memdir:end -->
            == absorbed 0, foreign: 
        "#]],
    );
}

#[test]
fn a_page_whose_comments_a_host_dropped_is_taken_over_again() {
    check(
        "# Memory Index\n- [B](b.md) — second\n- [A](a.md) — first\n- 7 more: memdir search <words>\n",
        "a b",
        expect![[r#"
            # Memory Index
            <!-- memdir:index v1 managed; lines outside begin/end are yours -->
            <!-- memdir:begin -->
            - [B](b.md) — second
            - [A](a.md) — first
            <!-- memdir:end -->
            == absorbed 2, foreign: 
        "#]],
    );
}

#[test]
fn text_inside_the_block_is_moved_to_the_end_and_reported() {
    check(
        "# Memory Index\n<!-- memdir:begin -->\n## Head\n- [A](a.md) — mine\n  and more\n\n- [A](a.md) — twice\n- [Gone](gone.md) — x\n- [D](https://example.com/d.md) — docs\n<!-- memdir:end -->\nmine\n",
        "a",
        expect![[r#"
            # Memory Index
            <!-- memdir:begin -->
            - [A](a.md) — mine
            <!-- memdir:end -->
            mine
            ## Head
              and more
            - [D](https://example.com/d.md) — docs
            == absorbed 0, foreign: ## Head |   and more | - [D](https://example.com/d.md) — docs
        "#]],
    );
}

#[test]
fn a_line_that_an_agent_adds_outside_is_absorbed_with_its_wording() {
    check(
        "# Memory Index\n<!-- memdir:begin -->\n- [A](a.md) — about a\n- [B](b.md) — about b\n<!-- memdir:end -->\n- [New](c.md) — said by the agent\n- [Ah](a.md) — newer words\n- [B](b.md)\n",
        "a b c",
        expect![[r#"
            # Memory Index
            <!-- memdir:begin -->
            - [Ah](a.md) — newer words
            - [B](b.md) — about b
            - [New](c.md) — said by the agent
            <!-- memdir:end -->
            == absorbed 3, foreign: 
        "#]],
    );
}

#[test]
fn broken_markers_lose_no_text() {
    check(
        "<!-- memdir:end -->\none\n<!-- memdir:begin -->\ntwo\n- [A](a.md) — x\n",
        "a",
        expect![[r#"
            one
            two

            # Memory Index
            <!-- memdir:index v1 managed; lines outside begin/end are yours -->
            <!-- memdir:begin -->
            - [A](a.md) — x
            <!-- memdir:end -->
            == absorbed 1, foreign: 
        "#]],
    );
    check(
        "# Memory Index\n<!-- memdir:begin -->\n- [A](a.md) — x\n<!-- memdir:end -->\none\n<!-- memdir:begin -->\ntwo\n- [B](b.md) — y\n- [N](no.md) — z\n- 3 more: memdir search <words>\n<!-- memdir:end -->\n",
        "a b",
        expect![[r#"
            # Memory Index
            <!-- memdir:begin -->
            - [A](a.md) — x
            - [B](b.md) — y
            <!-- memdir:end -->
            one
            two
            - [N](no.md) — z
            == absorbed 1, foreign: 
        "#]],
    );
    check(
        "# Memory Index\n<!-- memdir:begin -->\n- [A](a.md) — x\nmine\n",
        "a",
        expect![[r#"
            # Memory Index
            <!-- memdir:index v1 managed; lines outside begin/end are yours -->
            <!-- memdir:begin -->
            - [A](a.md) — x
            <!-- memdir:end -->
            mine
            == absorbed 1, foreign: 
        "#]],
    );
}

#[test]
fn an_example_in_a_code_fence_is_not_taken_for_the_block() {
    let example = format!("```\n{BEGIN}\n- [A](a.md) — x\n- [N](no.md) — y\n{END}\n```\n");
    let page = render(Some(example.as_bytes()), &entries("a"), &untouched());
    assert!(text(&page).starts_with(&example));
    assert_eq!(listed(&page), ["a"]);
}

#[test]
fn crlf_bom_and_broken_utf_8_survive() {
    let current = b"\xef\xbb\xbfnotes \xff\xfe\r\n- [A](a.md) - mine\r\nlast \x80";
    let page = render(Some(current), &entries("a"), &untouched());
    let expected = format!("\r\n# Memory Index\r\n{NOTE}\r\n{BEGIN}\r\n- [A](a.md) — mine\r\n{END}\r\n");
    assert_eq!(page.bytes, [b"\xef\xbb\xbfnotes \xff\xfe\r\n", expected.as_bytes(), b"last \x80"].concat());
    assert_eq!(render(Some(&page.bytes), &entries("a"), &untouched()).bytes, page.bytes);

    let first_line_is_ours = render(Some("\u{feff}- [A](a.md) — x".as_bytes()), &entries("a"), &untouched());
    assert!(text(&first_line_is_ours).starts_with("\u{feff}# Memory Index\n"));
}

#[test]
fn only_touched_lines_change_their_wording() {
    let current = format!("{BEGIN}\n- [Mine](a.md) — my words\n- [Mine](b.md) — my words\n{END}\n");
    let page = render(Some(current.as_bytes()), &entries("a b"), &touched("b"));
    assert_eq!(block_of(&page.bytes), ["- [Mine](a.md) — my words", "- [B](b.md) — about b"]);
}

#[test]
fn a_line_that_is_too_long_is_shortened_in_its_own_words() {
    let current = format!("{BEGIN}\n- [Mine](a.md) — {}\n{END}\n", "my words ".repeat(20).trim_end());
    let page = render(Some(current.as_bytes()), &entries("a"), &untouched());
    let line = &block_of(&page.bytes)[0];
    assert!(line.starts_with("- [Mine](a.md) — my words my") && line.ends_with("words my…"), "{line}");
    assert!(line.chars().count() <= MAX_LINE);
    assert_eq!(page.shortened, [path("a.md")]);
}

#[test]
fn order_is_pins_then_buckets_then_what_it_was() {
    let mut all = entries("a b c d e");
    let current = render(None, &all[..4], &untouched()).bytes;
    all[3].pinned = true;
    all[1].bucket = 0;
    all[4].bucket = 0;
    let page = render(Some(&current), &all, &untouched());
    assert_eq!(listed(&page), ["d", "b", "e", "a", "c"]);
    all[3].pinned = false;
    all[1].bucket = 1;
    assert_eq!(listed(&render(Some(&page.bytes), &all, &untouched())), ["e", "d", "b", "a", "c"]);
}

#[test]
fn new_memories_come_in_the_order_in_which_they_were_written() {
    let mut all = entries("a b c");
    all[0].modified = at(9);
    let page = render(None, &all, &untouched());
    assert_eq!(listed(&page), ["b", "c", "a"]);
}

#[test]
fn the_page_is_within_its_caps_for_any_number_of_memories() {
    let comment = format!("<!--\n{}-->\n", "a long comment\n".repeat(500));
    let mine = "a line of my own\n".repeat(30);
    for n in [0, 1, 138, 139, 179, 180, 199, 200, 201, 5000] {
        for head in [String::new(), comment.clone(), mine.clone(), format!("{mine}{comment}")] {
            let all = numbered(n);
            let page = render(Some(head.as_bytes()), &all, &untouched());
            let load = Load::measure(&page.bytes);
            assert!(load.fits(KEEP), "{n}: {load}");
            assert!(text(&page).contains(&head));
            assert_eq!(listed(&page).len() + page.left.len(), n);
            assert_eq!(over_limit_message(load), None);
            let own = Load::measure(&render(Some(head.as_bytes()), &[], &untouched()).bytes).lines;
            if own + n > KEEP.lines {
                assert!(load.fits(TRIM) && load.lines >= TRIM.lines, "{n}: {load}");
                let more = format!("- {} more: memdir search <words>", page.left.len());
                assert_eq!(block_of(&page.bytes).last(), Some(&more));
            } else {
                assert_eq!(page.left, []);
            }
            let again = render(Some(&page.bytes), &all, &untouched());
            assert_eq!(again.bytes, page.bytes);
            assert_eq!(again.left, [], "nobody leaves twice");
        }
    }
}

#[test]
fn the_byte_cap_trims_too() {
    let mut all = numbered(170);
    all.iter_mut().for_each(|entry| entry.hook = "長い説明".repeat(40));
    let page = render(None, &all, &untouched());
    let load = Load::measure(&page.bytes);
    assert!(load.fits(TRIM) && load.bytes > TRIM.bytes - 600, "{load}");
    assert_eq!(page.shortened.len(), listed(&page).len());
    assert_eq!(render(Some(&page.bytes), &all, &untouched()).bytes, page.bytes);
}

#[test]
fn the_least_valuable_leave_first() {
    let mut all = numbered(200);
    all[0].pinned = true;
    all[0].strength = 0.0;
    all[1].bucket = 0;
    all[1].strength = 0.0;
    all[2].strength = 0.6;
    for weak in &mut all[150..] {
        weak.strength = 0.4;
    }
    let page = render(None, &all, &untouched());
    let names = listed(&page);
    assert_eq!(names[..2], ["m0000", "m0001"]);
    assert!(names.contains(&"m0002".to_owned()));
    // 140 lines hold a heading, 138 memories and the line for the others: 50 weak ones and the 12 oldest leave.
    assert_eq!(names.len(), 138);
    assert_eq!(page.left[0], path("m0014.md"));
    assert_eq!(page.left[12], path("m0199.md"));
    assert_eq!(page.left.last(), Some(&path("m0150.md")));
}

#[test]
fn an_overflowing_page_takes_in_what_is_touched_and_nobody_else() {
    let mut all = numbered(200);
    let page = render(None, &all, &untouched());
    assert!(page.left.contains(&path("m0003.md")));

    all.push(entry("unnoticed"));
    let later = render(Some(&page.bytes), &all, &touched("m0003"));
    let mut expected = listed(&page);
    expected.push("m0003".to_owned());
    assert_eq!(listed(&later), expected);
    assert_eq!(later.left, []);
    assert_eq!(block_of(&later.bytes).last().unwrap(), "- 62 more: memdir search <words>");
}

#[test]
fn all_come_back_once_there_is_room_for_all() {
    let all = numbered(200);
    let page = render(None, &all, &untouched());
    let kept: Vec<PageEntry> = all.into_iter().take(179).collect();
    let later = render(Some(&page.bytes), &kept, &untouched());
    assert_eq!(listed(&later).len(), 179);
    assert!(!text(&later).contains("more: memdir search"));
}

#[test]
fn the_users_own_lines_may_leave_no_room_for_ours() {
    for n_lines in [139, 170, 300] {
        let mine = "mine\n".repeat(n_lines);
        let page = render(Some(mine.as_bytes()), &numbered(50), &untouched());
        assert!(text(&page).starts_with(&mine));
        assert_eq!(block_of(&page.bytes), ["- 50 more: memdir search <words>"]);
        assert_eq!(page.left.len(), 50);
        assert_eq!(render(Some(&page.bytes), &numbered(50), &untouched()).bytes, page.bytes);
    }
    let only_mine = render(Some("mine\n".repeat(300).as_bytes()), &[], &untouched());
    assert_eq!(block_of(&only_mine.bytes), [""; 0]);
}

#[test]
fn long_wordings_are_shortened_before_anybody_leaves() {
    let all = numbered(175);
    let row = |entry: &PageEntry| format!("- [T]({}) — {}\n", entry.path, "x".repeat(120));
    let current = format!("{BEGIN}\n{}{END}\n", all.iter().map(row).collect::<String>());
    let page = render(Some(current.as_bytes()), &all, &untouched());
    assert_eq!(listed(&page).len(), 175);
    assert!(!page.shortened.is_empty() && page.left.is_empty());
    assert_eq!(render(Some(&page.bytes), &all, &untouched()).bytes, page.bytes);
}

#[test]
fn file_names_of_any_style_are_read_back() {
    let names =
        ["my file.md", "a (1).md", "100%.md", "a%20b.md", "a b.md", "<x>.md", "sub/é.md", "q?#.md", "[y].md"];
    let all: Vec<PageEntry> = names.iter().map(|name| PageEntry { path: path(name), ..entry("x") }).collect();
    let page = render(None, &all, &untouched());
    let existing = all.iter().map(|entry| entry.path.clone()).collect();
    assert_eq!(lint(&page.bytes, &existing), []);
    assert_eq!(render(Some(&page.bytes), &all, &untouched()).bytes, page.bytes);
}

#[test]
fn lines_of_the_page_can_be_read_by_others() {
    let page = render(None, &numbered(5), &untouched());
    for line in block_of(&page.bytes) {
        let (head, hook) = line.split_once(".md) — ").unwrap();
        assert!(head.starts_with("- [") && head.contains("](") && !hook.is_empty());
    }
}

/// The user's lines: all outside the block that we do not call our own.
fn user_lines(bytes: &[u8], all: &[PageEntry]) -> Vec<Vec<u8>> {
    let layout = Layout::of(bytes);
    let exists = |path: &MemoryPath| all.iter().any(|entry| entry.path == *path);
    let is_ours = |line: &[u8], shade: Shade| {
        let pointer = str::from_utf8(line).ok().and_then(Pointer::parse);
        let is_pointer = pointer.is_some_and(|pointer| pointer.resolve(exists).is_some());
        (is_marker(line) && shade != Shade::Fence)
            || ((is_more_line(line) || is_pointer) && shade == Shade::Open)
    };
    let above = layout.above.iter().zip(shades(&layout.above));
    let below = layout.below.iter().zip(shades(&layout.below));
    let users = above.chain(below).filter(|(line, shade)| !is_ours(line, *shade));
    users.map(|(line, _)| line.trim_ascii_end().to_vec()).filter(|line| !line.is_empty()).collect()
}

fn is_subsequence<T: PartialEq>(part: &[T], whole: &[T]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|item| whole.any(|other| other == item))
}

/// Lines as they occur in pages, and those that are made to confuse.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0usize..12).prop_map(|i| format!("- [Words](m{i:04}.md) — said {i}").into_bytes()),
        2 => (0usize..12).prop_map(|i| format!("* [Words](m{i:04}.md): said {i}").into_bytes()),
        1 => (0usize..12).prop_map(|i| format!("  - [W](m{i:04}.md)").into_bytes()),
        1 => (0usize..12).prop_map(|i| format!("- [W](m{i:04}.md) — {}", "long ".repeat(40)).into_bytes()),
        1 => Just(b"- [Gone](gone.md) - x".to_vec()),
        2 => (0usize..99).prop_map(|i| format!("note {i}").into_bytes()),
        1 => Just(b"broken \xff\xc3".to_vec()),
        1 => Just(b"".to_vec()),
        1 => Just(b"# Title".to_vec()),
        1 => Just(b"# Memory Index".to_vec()),
        1 => Just(NOTE.as_bytes().to_vec()),
        2 => Just(BEGIN.as_bytes().to_vec()),
        2 => Just(END.as_bytes().to_vec()),
        1 => Just(b"```".to_vec()),
        1 => Just(b"```rust".to_vec()),
        1 => Just(b"~~~~".to_vec()),
        1 => Just(b"<!-- open".to_vec()),
        1 => Just(b"close -->".to_vec()),
        1 => Just(b"<!-- c -->".to_vec()),
        1 => Just(b"---".to_vec()),
        1 => Just(b"- 3 more: memdir search <words>".to_vec()),
        1 => (0usize..200).prop_map(|n| "mine\n".repeat(n).into_bytes()),
    ]
}

/// A page that a failing test prints as text.
#[derive(Clone)]
struct Current(Vec<u8>);

impl std::fmt::Debug for Current {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

fn any_page() -> impl Strategy<Value = Current> {
    let eol = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    let lines = prop::collection::vec((any_line(), eol), 0..25);
    (any::<bool>(), lines, any::<bool>()).prop_map(|(bom, lines, ended)| {
        let mut page = if bom { "\u{feff}".as_bytes().to_vec() } else { Vec::new() };
        for (i, (line, eol)) in lines.iter().enumerate() {
            page.extend_from_slice(line);
            if ended || i + 1 < lines.len() {
                page.extend_from_slice(eol.as_bytes());
            }
        }
        Current(page)
    })
}

/// Makes a memory out of random bits: long and short words, hostile ones, any rank.
fn entry_of(i: usize, bits: u64) -> PageEntry {
    const TITLES: [&str; 4] = ["Title", "", "a]b](c.md) — \\d\n", "題\u{202e}\x1b[2J"];
    const HOOKS: [&str; 4] = ["some words ", "測試", "\n- [x](y.md) — ", "x"];
    let pick = |shift: u64, n: u64| (bits >> shift) % n;
    PageEntry {
        path: path(&format!("m{i:04}.md")),
        title: TITLES[pick(0, 4) as usize].repeat(pick(4, 9) as usize),
        hook: HOOKS[pick(8, 4) as usize].repeat(pick(12, 60) as usize),
        pinned: pick(20, 9) == 0,
        bucket: pick(24, 3) as u8,
        strength: pick(28, 5) as f64 / 4.0,
        modified: at(pick(32, 50) as i64),
    }
}

fn any_entries() -> impl Strategy<Value = Vec<PageEntry>> {
    let any_bits = prop_oneof![
        12 => prop::collection::vec(any::<u64>(), 0..12),
        1 => prop::collection::vec(any::<u64>(), 120..230),
    ];
    let is_there = |bits: &u64| bits >> 60 != 0;
    any_bits.prop_map(move |all| {
        all.into_iter()
            .enumerate()
            .filter(|(_, bits)| is_there(bits))
            .map(|(i, bits)| entry_of(i, bits))
            .collect()
    })
}

proptest! {
    #[test]
    fn rendering_twice_is_rendering_once(current in any_page(), all in any_entries(), mask in any::<u64>()) {
        let touched: BTreeSet<MemoryPath> = all
            .iter()
            .enumerate()
            .filter(|(i, _)| mask >> (i % 64) & 3 == 0)
            .map(|(_, entry)| entry.path.clone())
            .collect();
        let page = render(Some(&current.0), &all, &touched);
        let again = render(Some(&page.bytes), &all, &untouched());
        prop_assert_eq!(text(&again), text(&page));
        prop_assert_eq!(&again.bytes, &page.bytes);
        prop_assert!(again.left.is_empty() && again.foreign.is_empty() && again.absorbed == 0);
        prop_assert!(again.shortened.is_empty());
    }

    #[test]
    fn the_order_of_the_entries_does_not_matter(current in any_page(), all in any_entries()) {
        let mut reversed = all.clone();
        reversed.reverse();
        prop_assert_eq!(
            render(Some(&current.0), &reversed, &untouched()),
            render(Some(&current.0), &all, &untouched())
        );
    }

    #[test]
    fn every_page_is_within_its_caps_and_names_each_memory_once(current in any_page(), all in any_entries()) {
        let page = render(Some(&current.0), &all, &untouched());
        let names = listed(&page);
        let block = block_of(&page.bytes);
        let n_more = all.len() - names.len();
        prop_assert!(block.iter().all(|line| line.chars().count() <= MAX_LINE));
        if n_more > 0 {
            let more = format!("- {n_more} more: memdir search <words>");
            prop_assert_eq!(block.last(), Some(&more));
        }
        prop_assert!(Load::measure(&page.bytes).fits(KEEP) || names.is_empty());
        let unique: BTreeSet<&String> = names.iter().collect();
        prop_assert_eq!(unique.len(), names.len());
        let existing = all.iter().map(|entry| entry.path.clone()).collect();
        for problem in lint(&page.bytes, &existing) {
            let is_ours = matches!(
                problem,
                PageProblem::Unindexed { .. } | PageProblem::Duplicate { .. } | PageProblem::StrayMarker { .. }
            );
            prop_assert!(!is_ours, "{}", problem);
        }
    }

    #[test]
    fn user_lines_survive_any_number_of_renders(
        current in any_page(),
        steps in prop::collection::vec(any_entries(), 1..4),
    ) {
        let mut page = current.0;
        for all in steps {
            let mine = user_lines(&page, &all);
            page = render(Some(&page), &all, &untouched()).bytes;
            let kept = user_lines(&page, &all);
            prop_assert!(is_subsequence(&mine, &kept), "{:?}\n{:?}", mine, kept);
        }
    }

    #[test]
    fn what_is_injected_is_a_prefix_of_what_is_loaded(current in any_page()) {
        let text = within_limit(&current.0);
        let load = Load::measure(String::from_utf8_lossy(&current.0).as_bytes());
        prop_assert_eq!(text.contains("> WARNING"), !load.fits(LIMIT));
        prop_assert!(text.lines().count() <= LIMIT.lines + 1);
    }
}

/// A full page is the same whether it is rendered from all memories or from those that it names and that were touched.
#[test]
fn a_full_page_needs_only_what_it_names() {
    let mut all = numbered(300);
    all[250].pinned = true;
    all[17].bucket = 2;
    let mut current = render(None, &all, &untouched()).bytes;
    assert!(named(&current).len() < 200);
    let mut n_left = 0;
    for round in 0..120_usize {
        let number = (round * 37) % 300;
        all[number].hook = format!("said anew in round {round}, {}", "and at length ".repeat(round % 9));
        let mut touched = BTreeSet::from([all[number].path.clone()]);
        match round % 5 {
            0 => touched.insert(all.remove((round * 13) % 290).path),
            1 => {
                all.push(PageEntry { modified: at(1000 + round as i64), ..entry(&format!("new{round}")) });
                touched.insert(path(&format!("new{round}.md")))
            }
            _ => false,
        };
        let on_page = named(&current);
        let wanted = |entry: &&PageEntry| touched.contains(&entry.path) || on_page.contains(&entry.path);
        let known: Vec<PageEntry> = all.iter().filter(wanted).cloned().collect();
        let part = render_full_page(&current, &known, all.len() - known.len(), &touched);
        let whole = render(Some(&current), &all, &touched);
        assert_eq!(part.as_ref(), Some(&whole), "round {round}");
        n_left += whole.left.len();
        current = whole.bytes;
    }
    assert!(n_left > 0, "no round trimmed the page");
    let few = numbered(3);
    assert_eq!(render_full_page(&render(None, &few, &untouched()).bytes, &few, 0, &untouched()), None);
    assert_eq!(render_full_page(b"", &[], 1000, &untouched()), None);
}
