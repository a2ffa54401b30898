//! A page of several parts that is read at a glance: by a person in a terminal, or by a model in its context.
//!
//! Each part has a heading and lines. No page is longer than a context may be asked to hold: the longest part gives
//! way first, and says with which command the rest is seen. The same lines make the same bytes.

use memdir_core::text::{count, fit, visible_line};

use crate::ui::{Tone, Ui};

/// No page is longer, in bytes.
pub(super) const MAX_BYTES: usize = 9_000;
/// No line is wider, in columns.
const MAX_WIDTH: usize = 140;
const INDENT: &str = "  ";

/// A page.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    title: String,
    lines: Vec<String>,
    /// Which command shows what does not fit.
    more: &'static str,
    /// How many lines are left out.
    n_cut: usize,
}

impl Part {
    fn n_bytes(&self) -> usize {
        let lines: usize = self.lines.iter().map(|line| INDENT.len() + line.len() + 1).sum();
        self.title.len() + 2 + lines + self.cut_line().map_or(0, |line| INDENT.len() + line.len() + 1)
    }

    fn cut_line(&self) -> Option<String> {
        (self.n_cut > 0).then(|| format!("… {}: {}", count(self.n_cut, "more line", "more lines"), self.more))
    }
}

impl Sheet {
    /// Adds a part; `more` is the command that shows all of it.
    pub(super) fn part(&mut self, title: &str, lines: impl IntoIterator<Item = String>, more: &'static str) {
        let tidy = |line: &str| fit(&visible_line(line), MAX_WIDTH).into_owned();
        let lines = lines.into_iter().map(|line| tidy(line.trim_end())).collect();
        self.parts.push(Part { title: tidy(title), lines, more, n_cut: 0 });
    }

    /// Prints the page, cut to its limit.
    pub(super) fn print(mut self, ui: &mut Ui) {
        let n_left = self.cut();
        for (nth, part) in self.parts.iter().enumerate() {
            if nth > 0 {
                ui.line("");
            }
            ui.toned(Tone::Strong, &part.title);
            part.lines.iter().chain(&part.cut_line()).for_each(|line| ui.line(&format!("{INDENT}{line}")));
        }
        if n_left > 0 {
            ui.line(&format!("… {}: memdir projects", count(n_left, "more part", "more parts")));
        }
    }

    /// Cuts lines off the longest parts, then parts off the end; returns how many parts.
    fn cut(&mut self) -> usize {
        /// Room for the line that says that parts were left out.
        const RESERVE: usize = 80;
        let n_parts = self.parts.len();
        while self.parts.iter().map(Part::n_bytes).sum::<usize>() > MAX_BYTES - RESERVE {
            let longest =
                self.parts.iter_mut().filter(|part| !part.lines.is_empty()).max_by_key(|part| part.n_bytes());
            match longest {
                Some(part) => {
                    part.lines.pop();
                    part.n_cut += 1;
                }
                None => drop(self.parts.pop()),
            }
        }
        n_parts - self.parts.len()
    }
}
