//! Reads lines, writes the token ids of each: what `training/embedding/check_tokens.py` compares with the reference.
//!
//! In a line, `\n`, `\r` and `\\` stand for those characters, so that a text with line breaks is one line.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let ids = memdir_core::embed::tokens(&unescape(&line?));
        let words: Vec<String> = ids.iter().map(u16::to_string).collect();
        writeln!(out, "{}", words.join(" "))?;
    }
    out.flush()
}

fn unescape(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            other => text.extend(other),
        }
    }
    text
}
