//! The only printer. Data goes to stdout, talk to stderr; nothing of a memory reaches a terminal unescaped.
//!
//! Output is collected and written once, so that a closed pipe is a quiet success and a failing command prints no
//! half of an answer.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use memdir_core::secrets::Scanner;
use memdir_core::text::{fit, visible_block, visible_line};
use serde::Serialize;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::failure::{Failure, Outcome};
use crate::outlet;

/// Between two columns of a table.
const GAP: &str = "  ";
/// The narrowest that a table is squeezed to.
const MIN_WIDTH: usize = 40;

/// From how many steps on a person likes to see how far work has come.
const LONG_WORK: usize = 2_000;

/// Prints for one command.
#[derive(Debug)]
pub(crate) struct Ui {
    json: bool,
    quiet: bool,
    colour: bool,
    colour_err: bool,
    width: Option<usize>,
    out: Vec<u8>,
}

/// How a text is set off on a terminal; without colours it reads the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    Plain,
    /// A heading or a name.
    Strong,
    /// Less important.
    Faint,
    /// Good news.
    Good,
    /// To be looked at.
    Warning,
    /// Bad news.
    Bad,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\x1b[1m",
            Self::Faint => "\x1b[2m",
            Self::Good => "\x1b[32m",
            Self::Warning => "\x1b[33m",
            Self::Bad => "\x1b[31m",
        }
    }
}

/// One column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Its heading.
    pub(crate) title: &'static str,
    /// How it is set off.
    pub(crate) tone: Tone,
    /// Whether it gives way when the terminal is narrow.
    pub(crate) gives_way: bool,
}

impl Column {
    /// A column of plain text that keeps its width.
    pub(crate) const fn new(title: &'static str) -> Self {
        Self { title, tone: Tone::Plain, gives_way: false }
    }

    /// Sets it off.
    pub(crate) const fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// Lets it be cut when the terminal is narrow.
    pub(crate) const fn giving_way(mut self) -> Self {
        self.gives_way = true;
        self
    }
}

impl Ui {
    /// Looks at the terminal once.
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || dumb;
        let colour = !plain && io::stdout().is_terminal();
        let colour_err = !plain && io::stderr().is_terminal();
        Self { json, quiet, colour, colour_err, width: terminal_width(), out: Vec::new() }
    }

    /// Collects what a command prints for somebody who is no terminal; nothing is said beside.
    pub(crate) fn collecting() -> Self {
        Self { json: false, quiet: true, colour: false, colour_err: false, width: None, out: Vec::new() }
    }

    /// Returns what was collected.
    pub(crate) fn into_text(self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Says whether `--json` was given.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Says whether a person is at the other end of stdin and stderr.
    pub(crate) fn is_interactive(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Prints one line of data; control characters and line breaks are shown, not sent.
    pub(crate) fn line(&mut self, text: &str) {
        self.put(&visible_line(text));
        self.put("\n");
    }

    /// Prints one line of data, set off, without cutting it.
    pub(crate) fn toned(&mut self, tone: Tone, text: &str) {
        let text = paint(self.colour, tone, &visible_line(text));
        self.put(&text);
        self.put("\n");
    }

    /// Prints a text of several lines; control characters other than line breaks and tabs are shown, not sent.
    pub(crate) fn block(&mut self, text: &str) {
        self.put(&visible_block(text));
        if !text.ends_with('\n') {
            self.put("\n");
        }
    }

    /// Prints bytes exactly as they are: for `--raw` into a file or a pipe.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Prints a text of several lines to stderr, before there is a `Ui`.
    pub(crate) fn complain(text: &str) {
        let _ = write!(io::stderr().lock(), "{}", visible_block(text));
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Prints one JSON document.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        let text = if self.width.is_some() {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        let text = text.expect("our answers have only text keys");
        self.put(&escape_json(&text));
        self.put("\n");
    }

    /// Prints one row of many, each a JSON document on a line of its own.
    pub(crate) fn json_row(&mut self, value: &serde_json::Value) {
        self.put(&escape_json(&value.to_string()));
        self.put("\n");
    }

    /// Prints a table that fits the terminal; into a pipe nothing is cut.
    pub(crate) fn table(&mut self, columns: &[Column], rows: &[Vec<String>]) {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| visible_line(cell).into_owned()).collect()).collect();
        let widths = self.widths(columns, &rows);
        if self.width.is_some() {
            let titles: Vec<String> = columns.iter().map(|column| column.title.to_owned()).collect();
            let heads: Vec<Column> = columns.iter().map(|column| column.tone(Tone::Faint)).collect();
            self.row(&heads, &titles, &widths);
        }
        for row in &rows {
            self.row(columns, row, &widths);
        }
    }

    fn row(&mut self, columns: &[Column], row: &[String], widths: &[usize]) {
        let mut line = String::new();
        for ((column, cell), &width) in columns.iter().zip(row).zip(widths) {
            let cell = fit(cell, width);
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            if !line.is_empty() {
                line.push_str(GAP);
            }
            line.push_str(&paint(self.colour, column.tone, &cell));
            line.push_str(&pad);
        }
        self.put(line.trim_end());
        self.put("\n");
    }

    /// Gives each column what it needs, and takes what is missing from those that give way.
    fn widths(&self, columns: &[Column], rows: &[Vec<String>]) -> Vec<usize> {
        let title = |column: &Column| if self.width.is_some() { column.title.width() } else { 0 };
        let mut widths: Vec<usize> = columns.iter().map(title).collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let Some(limit) = self.width else { return widths };
        let gaps = GAP.len() * columns.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(limit);
        let mut squeeze = |widths: &mut Vec<usize>, least: usize, any: bool| {
            for (width, _) in
                widths.iter_mut().zip(columns).rev().filter(|(_, column)| any || column.gives_way)
            {
                let cut = excess.min(width.saturating_sub(least));
                *width -= cut;
                excess -= cut;
            }
        };
        squeeze(&mut widths, MIN_WIDTH / 2, false);
        squeeze(&mut widths, MIN_WIDTH / 4, true);
        widths
    }

    /// Says something to the person; not with `--quiet`.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.talk(&visible_line(text));
        }
    }

    /// Warns the person; not with `--quiet`.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            self.talk(&format!(
                "{} {}",
                paint(self.colour_err, Tone::Warning, "warning:"),
                visible_line(&outlet::clean(text))
            ));
        }
    }

    /// Makes a bar for long work; it shows only to a person at a terminal.
    pub(crate) fn progress(&self) -> Progress {
        let is_shown = !self.quiet && !self.json && io::stderr().is_terminal();
        Progress { is_shown, bar: None }
    }

    /// Asks a yes-or-no question; anything but yes is no.
    pub(crate) fn confirm(&self, question: &str) -> bool {
        let _ = write!(io::stderr().lock(), "{} [y/N] ", visible_line(question));
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
    }

    fn talk(&self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Writes what was collected so far, and says whether anybody takes it: for commands that stay.
    pub(crate) fn flush(&mut self) -> bool {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(&std::mem::take(&mut self.out));
        written.and_then(|()| stdout.flush()).is_ok()
    }

    /// Writes what was collected and turns the outcome into an exit code.
    pub(crate) fn finish(mut self, outcome: Result<Outcome, Failure>) -> ExitCode {
        let code = match outcome {
            Ok(Outcome::Done) => 0,
            Ok(Outcome::Nothing) => 1,
            Err(failure) => self.fail(&failure),
        };
        let mut stdout = io::stdout().lock();
        match stdout.write_all(&self.out).and_then(|()| stdout.flush()) {
            Err(err) if err.kind() != io::ErrorKind::BrokenPipe => {
                self.talk(&format!("error: could not write the answer: {err}"));
                ExitCode::from(2)
            }
            _ => ExitCode::from(code),
        }
    }

    fn fail(&mut self, failure: &Failure) -> u8 {
        if self.json {
            let message = || Box::new(json!({ "error": failure.message, "hints": failure.hints }));
            let mut value = failure.json.clone().unwrap_or_else(message);
            outlet::clean_json(&mut value, &Scanner::builtin());
            self.json(&value);
        }
        self.talk(&format!(
            "{} {}",
            paint(self.colour_err, Tone::Bad, "error:"),
            visible_line(&outlet::clean(&failure.message))
        ));
        for (n, hint) in failure.hints.iter().enumerate() {
            let gap = if n == 0 { "\n" } else { "" };
            self.talk(&format!(
                "{gap}{} {}",
                paint(self.colour_err, Tone::Good, "hint:"),
                visible_line(&outlet::clean(hint))
            ));
        }
        failure.code
    }
}

/// Escapes what JSON may hold raw but a terminal would obey or hide. Such characters stand only inside strings.
fn escape_json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        let is_plain = c.is_ascii() && c != '\x7f';
        if is_plain || visible_line(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8() {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    }
    escaped
}

/// Shows how far long work has come.
#[derive(Debug)]
pub(crate) struct Progress {
    is_shown: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Says that `done` of `total` steps are done. Work that is over at once has no bar.
    pub(crate) fn at(&mut self, done: usize, total: usize) {
        if !self.is_shown || total < LONG_WORK {
            return;
        }
        let (done, total) = (done as u64, total as u64);
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:40} {pos} of {len}");
            if let Ok(style) = style { bar.with_style(style) } else { bar }
        });
        bar.set_length(total);
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn paint(colour: bool, tone: Tone, text: &str) -> String {
    if colour && tone != Tone::Plain { format!("{}{text}\x1b[0m", tone.code()) } else { text.to_owned() }
}

/// Returns the width of the terminal; `None` if stdout is none.
fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let columns = size.map_or(80, |size| usize::from(size.ws_col));
    Some(if columns == 0 { 80 } else { columns.max(MIN_WIDTH) })
}
