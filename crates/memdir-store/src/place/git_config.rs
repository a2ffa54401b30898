//! Reads the one file of a git repository that we need, its `config`, without git.
//!
//! It only splits the text into settings. Includes are not followed, nothing is expanded, and a line that git
//! would refuse is skipped: the file may come from anybody.

use std::iter::Peekable;
use std::str::Chars;

/// One `key = value` of a git configuration file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// The section in lower case: `remote`.
    pub(super) section: String,
    /// The quoted part of the section: `origin`.
    pub(super) subsection: Option<String>,
    /// The key in lower case.
    pub(super) key: String,
    /// The value without quotes; `true` for a key without one.
    pub(super) value: String,
}

/// Returns every setting of the file, in its order.
pub(super) fn parse(text: &str) -> Vec<Setting> {
    let mut chars = text.chars().peekable();
    let mut settings = Vec::new();
    let mut header: Option<(String, Option<String>)> = None;
    while let Some(&c) = chars.peek() {
        match c {
            _ if c.is_whitespace() || c == '\u{feff}' => {
                chars.next();
            }
            '[' => header = read_header(&mut chars),
            _ if c.is_ascii_alphabetic() => {
                let (key, value) = read_setting(&mut chars);
                if let (Some((section, subsection)), Some(value)) = (&header, value) {
                    let (section, subsection) = (section.clone(), subsection.clone());
                    settings.push(Setting { section, subsection, key, value });
                }
            }
            _ => skip_line(&mut chars),
        }
    }
    settings
}

/// Reads `[section]`, `[section "sub"]` or the old `[section.sub]`; `None` if it is none of them.
fn read_header(chars: &mut Peekable<Chars<'_>>) -> Option<(String, Option<String>)> {
    chars.next();
    let mut section = String::new();
    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.')) {
        section.push(c.to_ascii_lowercase());
    }
    skip_blanks(chars);
    let quoted = if chars.peek() == Some(&'"') { Some(read_quoted(chars)?) } else { None };
    skip_blanks(chars);
    chars.next_if_eq(&']')?;
    match (quoted, section.split_once('.')) {
        (None, Some((section, sub))) => Some((section.to_owned(), Some(sub.to_owned()))),
        (quoted, _) => Some((section, quoted)),
    }
}

fn read_quoted(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    chars.next();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\n' => return None,
            '\\' => text.push(chars.next()?),
            c => text.push(c),
        }
    }
}

fn read_setting(chars: &mut Peekable<Chars<'_>>) -> (String, Option<String>) {
    let mut key = String::new();
    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
        key.push(c.to_ascii_lowercase());
    }
    skip_blanks(chars);
    let value = match chars.peek() {
        Some('=') => {
            chars.next();
            Some(read_value(chars))
        }
        None | Some('\n' | '#' | ';') => Some("true".to_owned()),
        Some(_) => None,
    };
    if value.is_none() {
        skip_line(chars);
    }
    (key, value)
}

fn read_value(chars: &mut Peekable<Chars<'_>>) -> String {
    skip_blanks(chars);
    let mut value = String::new();
    // Blanks at the end do not count, unless they were quoted.
    let mut end = 0;
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '\n' => break,
            '"' => {
                quoted = !quoted;
                end = value.len();
                continue;
            }
            '#' | ';' if !quoted => {
                skip_line(chars);
                break;
            }
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('b') => value.push('\u{8}'),
                Some('\n') | None => continue,
                Some('\r') if chars.next_if_eq(&'\n').is_some() => continue,
                Some(other) => value.push(other),
            },
            c => {
                value.push(c);
                if c.is_whitespace() && !quoted {
                    continue;
                }
            }
        }
        end = value.len();
    }
    value.truncate(end);
    value
}

fn skip_blanks(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {}
}

fn skip_line(chars: &mut Peekable<Chars<'_>>) {
    let _ = chars.find(|c| *c == '\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line for each setting, to compare at a glance.
    fn shown(text: &str) -> String {
        let line = |s: Setting| {
            let sub = s.subsection.map_or_else(String::new, |sub| format!("<{sub}>"));
            format!("{}{sub}.{}={}\n", s.section, s.key, s.value.escape_debug())
        };
        parse(text).into_iter().map(line).collect()
    }

    #[test]
    fn a_config_as_git_writes_it_is_read() {
        let text = "[core]\n\tbare = false\n\tworktree = ../../../sub\n[remote \"origin\"]\n\turl = /srv/a b\n\
                    \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";
        expect_test::expect![[r#"
            core.bare=false
            core.worktree=../../../sub
            remote<origin>.url=/srv/a b
            remote<origin>.fetch=+refs/heads/*:refs/remotes/origin/*
            branch<main>.remote=origin
        "#]]
        .assert_eq(&shown(text));
    }

    #[test]
    fn quotes_escapes_comments_and_continued_lines_are_read_as_git_does() {
        let text = "\u{feff}# c\n; c\n[Remote \"a\\\"b\"] URL = \"x # y\" # z\n  k=a\\\n b\\t\\\\ ; c\n  flag\r\n\
                    [remote.old]\nurl=v  \r\n e = \"tail  \"  \n";
        expect_test::expect![[r#"
            remote<a"b>.url=x # y
            remote<a"b>.k=a b\t\\
            remote<a"b>.flag=true
            remote<old>.url=v
            remote<old>.e=tail  
        "#]]
        .assert_eq(&shown(text));
    }

    #[test]
    fn nonsense_is_skipped_and_the_rest_is_read() {
        let text = "url = before any section\n[broken\nurl = a\n[remote \"o\nurl = b\n[remote \"p\"]\n!!\nurl oops\nurl = c\n";
        assert_eq!(shown(text), "remote<p>.url=c\n");
        for text in ["[", "[a", "[a \"", "[a]k", "[a]k=", "[a]k=\"", "[a]k=\\", "\\", "\0"] {
            parse(text);
        }
    }
}
