//! Where the managed block stands in a page, and which of the other lines may be ours.
//!
//! The block is the first begin marker that is directly followed, among markers, by an end marker. What stands in
//! a closed code fence is never ours, markers included: somebody may document this very format there. A pointer
//! in a closed comment is not ours either, but a marker is. What is never closed hides nothing, or one stray line
//! would make us lose sight of the block.

/// Opens the block.
pub(super) const BEGIN: &str = "<!-- memdir:begin -->";
/// Closes the block.
pub(super) const END: &str = "<!-- memdir:end -->";
/// Stands above the block and says whose lines are whose.
pub(super) const NOTE: &str = "<!-- memdir:index v1 managed; lines outside begin/end are yours -->";
/// The page's title.
pub(super) const HEADING: &str = "# Memory Index";

const BOM: &[u8] = "\u{feff}".as_bytes();

/// A page taken apart: the lines above the block, the block with its markers, the lines below.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) bom: &'a [u8],
    pub(super) above: Vec<&'a [u8]>,
    pub(super) block: Option<Block<'a>>,
    pub(super) below: Vec<&'a [u8]>,
}

/// The managed block: its markers as they stand in the page, and what is between them.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) begin: &'a [u8],
    pub(super) lines: Vec<&'a [u8]>,
    pub(super) end: &'a [u8],
}

impl<'a> Layout<'a> {
    /// Takes a page apart. A page without a block has all its lines above.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let (bom, rest) = strip_bom(bytes);
        let mut above: Vec<&[u8]> = lines(rest).collect();
        let Some((begin, end)) = find_block(&above) else {
            return Self { bom, above, block: None, below: Vec::new() };
        };
        let below = above.split_off(end + 1);
        let inside = above.split_off(begin);
        let block = Block {
            begin: inside[0],
            lines: inside[1..inside.len() - 1].to_vec(),
            end: inside[inside.len() - 1],
        };
        Self { bom, above, block: Some(block), below }
    }
}

/// Splits into lines that keep their line ends.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

/// Splits a byte order mark off.
pub(super) fn strip_bom(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(if bytes.starts_with(BOM) { BOM.len() } else { 0 })
}

/// What stands around a line outside the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shade {
    /// Nothing: the line may be ours.
    Open,
    /// A comment: the line is ours only if it is a marker.
    Comment,
    /// A code fence: the line is the user's, whatever it says.
    Fence,
}

/// Says what stands around each of the lines above or below the block.
pub(super) fn shades(lines: &[&[u8]]) -> Vec<Shade> {
    let mut shades = Vec::with_capacity(lines.len());
    let mut shader = Shader::new(lines);
    while let Some((shade, len)) = shader.next_region(shades.len()) {
        shades.resize(shades.len() + len, shade);
    }
    shades
}

/// Finds the lines of the two markers.
fn find_block(lines: &[&[u8]]) -> Option<(usize, usize)> {
    let mut shader = Shader::new(lines);
    let mut at = 0;
    while let Some((shade, len)) = shader.next_region(at) {
        let block = (at..at + len).find_map(|begin| {
            let end = is_line(lines[begin], BEGIN).then(|| next_marker(lines, begin + 1))??;
            is_line(lines[end], END).then_some((begin, end))
        });
        if shade != Shade::Fence && block.is_some() {
            return block;
        }
        at += len;
    }
    None
}

fn next_marker(lines: &[&[u8]], from: usize) -> Option<usize> {
    (from..lines.len()).find(|&at| is_marker(lines[at]))
}

/// Whether a line is one of the two markers.
pub(super) fn is_marker(line: &[u8]) -> bool {
    is_line(line, BEGIN) || is_line(line, END)
}

/// Whether a line says exactly `text`, whatever ends it.
pub(super) fn is_line(line: &[u8], text: &str) -> bool {
    line.trim_ascii_end() == text.as_bytes()
}

/// Finds fences and comments, in one pass from top to bottom however many of them are never closed.
struct Shader<'a> {
    lines: &'a [&'a [u8]],
    /// Fences that are known to have no end below; nor has a wider one.
    endless: Vec<Fence>,
    /// Whether no comment ends below.
    no_comment_ends: bool,
}

impl<'a> Shader<'a> {
    fn new(lines: &'a [&'a [u8]]) -> Self {
        Self { lines, endless: Vec::new(), no_comment_ends: false }
    }

    /// Returns what stands around the line `at` and how many lines it reaches; `None` behind the last line.
    fn next_region(&mut self, at: usize) -> Option<(Shade, usize)> {
        let line = *self.lines.get(at)?;
        let region = match Fence::opening(line) {
            Some(fence) => self.fence_len(fence, at).map(|len| (Shade::Fence, len)),
            None if opens_comment(line) => self.comment_len(at).map(|len| (Shade::Comment, len)),
            None => None,
        };
        Some(region.unwrap_or((Shade::Open, 1)))
    }

    fn fence_len(&mut self, fence: Fence, at: usize) -> Option<usize> {
        if self.endless.iter().any(|known| known.mark == fence.mark && known.width <= fence.width) {
            return None;
        }
        let len = fence.len(&self.lines[at..]);
        if len.is_none() {
            self.endless.push(fence);
        }
        len
    }

    /// Our own comments come and go with the block, so they neither open nor close a comment of the user's.
    fn comment_len(&mut self, at: usize) -> Option<usize> {
        if is_own(self.lines[at]) || self.no_comment_ends {
            return None;
        }
        let len = self.lines[at..].iter().position(|line| closes_comment(line) && !is_own(line));
        self.no_comment_ends = len.is_none();
        len.map(|len| len + 1)
    }
}

/// Whether a line is a comment of ours.
fn is_own(line: &[u8]) -> bool {
    is_marker(line) || is_line(line, NOTE)
}

/// A code fence: three or more backticks or tildes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    mark: u8,
    width: usize,
}

impl Fence {
    /// Reads a line as the opening of a fence.
    pub(super) fn opening(line: &[u8]) -> Option<Self> {
        let text = line.trim_ascii();
        let mark = *text.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let width = text.iter().take_while(|byte| **byte == mark).count();
        let inline = mark == b'`' && text[width..].contains(&b'`');
        (width >= 3 && !inline && !is_indented(line)).then_some(Self { mark, width })
    }

    /// Counts the lines from the opening one, the first of `lines`, to the closing one.
    pub(super) fn len(self, lines: &[&[u8]]) -> Option<usize> {
        let body = lines.get(1..)?;
        body.iter().position(|line| self.is_closed_by(line)).map(|len| len + 2)
    }

    fn is_closed_by(self, line: &[u8]) -> bool {
        let text = line.trim_ascii();
        text.len() >= self.width && text.iter().all(|byte| *byte == self.mark) && !is_indented(line)
    }
}

/// Counts the lines of the frontmatter.
pub(super) fn frontmatter_len(lines: &[&[u8]]) -> usize {
    let is_rule = |line: &&[u8]| is_line(line, "---");
    if !lines.first().is_some_and(is_rule) {
        return 0;
    }
    lines[1..].iter().position(is_rule).map_or(0, |len| len + 2)
}

/// Whether a comment of its own, not one inside a paragraph, begins on this line.
pub(super) fn opens_comment(line: &[u8]) -> bool {
    !is_indented(line) && line.trim_ascii_start().starts_with(b"<!--")
}

/// Whether a comment ends on this line.
pub(super) fn closes_comment(line: &[u8]) -> bool {
    line.windows(3).any(|part| part == b"-->")
}

/// Whether markdown reads the line as code.
fn is_indented(line: &[u8]) -> bool {
    line.starts_with(b"    ")
        || line.trim_ascii_start().len() < line.len() && line.iter().take(4).any(|b| *b == b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws a layout, a character per line: above `a`, block `|`, below `b`, comment `!`, fence a backtick.
    fn draw(page: &str) -> String {
        let layout = Layout::of(page.as_bytes());
        let draw = |shades: Vec<Shade>, open: char| -> String {
            let one = |shade| match shade {
                Shade::Open => open,
                Shade::Comment => '!',
                Shade::Fence => '`',
            };
            shades.into_iter().map(one).collect()
        };
        let above = draw(shades(&layout.above), 'a');
        let block = layout.block.map_or(String::new(), |block| "|".repeat(block.lines.len() + 2));
        format!("{above}{block}{}", draw(shades(&layout.below), 'b'))
    }

    #[test]
    fn the_block_is_found_and_other_lines_are_not_taken_for_it() {
        let (b, e) = (BEGIN, END);
        for (page, drawing) in [
            (String::new(), ""),
            (format!("x\n{b}\n1\n{e}\ny\n"), "a|||b"),
            (format!("{b}\r\n{e}"), "||"),
            (format!("{b}\n1\n"), "aa"),
            (format!("{e}\n1\n{b}\n"), "aaa"),
            (format!("{b}\n1\n{b}\n2\n{e}\n{e}\n"), "aa|||b"),
            (format!("{b}\n{e}\n{b}\n{e}\n"), "||bb"),
            (format!("```\n{b}\n{e}\n```\n{b}\n{e}\n"), "````||"),
            (format!("```\n{b}\n{e}\n"), "a||"),
            (format!("````\n```\n{b}\n{e}\n````\n"), "`````"),
            (format!("~~~ x\n~~~\n{b}\n```\n{e}\n```\n"), "``|||b"),
            (format!("<!--\n{b}\n{e}\n-->\n"), "a||b"),
            (format!("<!-- a\nb -->\n{b}\n{e}\n<!-- c -->\n"), "!!||!"),
            (format!("---\nk: v\n---\n{b}\n{e}\n---\n"), "aaa||b"),
            (format!("<!--\n{b}\n-->\n"), "!!!"),
            (format!("<!--\n{NOTE}\n{b}\n{e}\n"), "aa||"),
            (format!("---\n{b}\n{e}\n---\n"), "a||b"),
            (format!("text {b}\n{e}\n"), "aa"),
        ] {
            assert_eq!(draw(&page), drawing, "{page}");
        }
    }

    #[test]
    fn a_page_full_of_openings_is_read_in_linear_time() {
        let n = 200_000;
        for opening in ["```x\n", "~~~x\n", "<!--\n", "---\n", "<!-- memdir:begin -->\n"] {
            let page = opening.repeat(n);
            let layout = Layout::of(page.as_bytes());
            assert_eq!(shades(&layout.above).len(), n);
        }
    }
}
