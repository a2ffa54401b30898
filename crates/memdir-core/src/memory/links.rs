//! Links between memories: `[[name]]`, `[text](name.md)` and typed relations.
//!
//! A link knows the bytes of its name, so a rename rewrites those and nothing else. Code is not searched. A link that
//! leads nowhere is a forward reference, not an error.

use std::collections::HashMap;
use std::ops::Range;

use super::Memory;
use super::body::{bullet, code_ranges};

/// Longest bullet and word before a typed relation, in bytes; further into a line we need not look back.
const MAX_RELATION: usize = 256;

/// A link from one memory to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The name it leads to, without folder and `.md`.
    pub name: String,
    /// Where that name is to be looked up.
    pub vault: LinkVault,
    /// How it is written.
    pub form: LinkForm,
    /// The text that is shown instead of the name.
    pub text: Option<String>,
    /// The section of the memory it leads to.
    pub section: Option<String>,
    /// What the link says about the two memories.
    pub relation: Option<Relation>,
    /// The whole link in the body.
    pub span: Range<usize>,
    /// The name in the body.
    pub name_span: Range<usize>,
}

/// The vault a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkVault {
    /// The vault of the memory itself.
    Same,
    /// The user vault: `[[~/name]]`.
    User,
    /// Another project: `[[project-id/name]]`. If there is no such project it is a folder of the same vault.
    Project(String),
}

/// How a link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkForm {
    /// `[[name]]`
    Wiki,
    /// `[text](name.md)`
    Markdown,
}

/// A typed relation, written `- depends_on [[name]] (note)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// The word before the link.
    pub word: String,
    /// The remark after it.
    pub note: Option<String>,
}

/// Finds the links of a body, in order.
pub fn links(body: &[u8]) -> Vec<Link> {
    let mut code = code_ranges(body).into_iter().peekable();
    let mut links = Vec::new();
    let mut line_start = 0;
    let mut open = None;
    let mut i = 0;
    while i < body.len() {
        if let Some(range) = code.next_if(|range| range.start <= i) {
            i = i.max(range.end);
            continue;
        }
        let link = match body[i] {
            b'[' if body.get(i + 1) == Some(&b'[') => wiki_link(body, line_start, i),
            b']' if body.get(i + 1) == Some(&b'(') => {
                open.take().and_then(|open| markdown_link(body, open, i))
            }
            _ => None,
        };
        if let Some(link) = link {
            i = link.span.end;
            links.push(link);
            continue;
        }
        match body[i] {
            b'\\' => i += 1, // the next byte is meant as it is
            b'[' => open = Some(i),
            b'\n' => {
                open = None;
                line_start = i + 1;
            }
            _ => {}
        }
        i += 1;
    }
    links
}

/// Rewrites the links that lead to `old` in the same vault so that they lead to `new`; `None` if there are none.
pub fn rename_links(body: &[u8], old: &str, new: &str) -> Option<Vec<u8>> {
    let old = old.to_lowercase();
    let mut renamed = Vec::with_capacity(body.len());
    let mut done = 0;
    for link in links(body) {
        if link.vault == LinkVault::Same && link.name.to_lowercase() == old {
            renamed.extend_from_slice(&body[done..link.name_span.start]);
            renamed.extend_from_slice(new.as_bytes());
            done = link.name_span.end;
        }
    }
    if done == 0 {
        return None;
    }
    renamed.extend_from_slice(&body[done..]);
    Some(renamed)
}

/// Finds memories by what a link or a person calls them: by name, then stem, then alias, whatever the case.
#[derive(Debug, Default)]
pub struct Resolver {
    names: HashMap<String, Vec<(String, usize)>>,
    stems: HashMap<String, Vec<(String, usize)>>,
    aliases: HashMap<String, Vec<(String, usize)>>,
}

impl Resolver {
    /// Learns the names of all memories; answers are positions in this order.
    pub fn new<'a>(memories: impl IntoIterator<Item = &'a Memory>) -> Self {
        let mut resolver = Self::default();
        for (i, memory) in memories.into_iter().enumerate() {
            learn(&mut resolver.names, &memory.name, i);
            learn(&mut resolver.stems, memory.path.stem(), i);
            for alias in &memory.aliases {
                learn(&mut resolver.aliases, alias, i);
            }
        }
        resolver
    }

    /// Finds the memory that a name means. Where only case tells two apart, the exact one wins, then the first.
    pub fn resolve(&self, name: &str) -> Option<usize> {
        let lower = name.to_lowercase();
        [&self.names, &self.stems, &self.aliases].into_iter().find_map(|map| {
            let found = map.get(&lower)?;
            let exact = found.iter().find(|(spelled, _)| spelled == name);
            exact.or(found.first()).map(|(_, i)| *i)
        })
    }
}

fn learn(map: &mut HashMap<String, Vec<(String, usize)>>, name: &str, i: usize) {
    map.entry(name.to_lowercase()).or_default().push((name.to_owned(), i));
}

/// Reads `[[vault/name#section|text]]` at `start`.
fn wiki_link(body: &[u8], line_start: usize, start: usize) -> Option<Link> {
    let inner_start = start + 2;
    let end =
        inner_start + body[inner_start..].iter().position(|byte| matches!(byte, b'[' | b']' | b'\n'))?;
    if !body[end..].starts_with(b"]]") {
        return None;
    }
    let inner = std::str::from_utf8(&body[inner_start..end]).ok()?;
    let (target, text) = split(inner, '|');
    // In a table the bar is escaped, and the backslash belongs to the bar.
    let target = target.strip_suffix('\\').unwrap_or(target);
    let (path, section) = split(target, '#');
    let (vault, name) = split_vault(path)?;
    let name = without_ending(name);
    let name_start = inner_start + (name.as_ptr() as usize - inner.as_ptr() as usize);
    let span = start..end + 2;
    Some(Link {
        name: name.to_owned(),
        vault,
        form: LinkForm::Wiki,
        text: text.map(|text| text.trim().to_owned()),
        section: section.map(|section| section.trim().to_owned()),
        relation: relation(body, line_start, &span),
        span,
        name_span: name_start..name_start + name.len(),
    })
}

/// Reads `[text](folder/name.md#section)` whose text is between `open` and `close`.
fn markdown_link(body: &[u8], open: usize, close: usize) -> Option<Link> {
    let mut start = close + 2;
    let bracketed = body.get(start) == Some(&b'<');
    start += usize::from(bracketed);
    // An opening bracket ends the search too: otherwise a body of nothing but openings would be searched once for
    // each of them.
    let is_end = |byte: &u8| match bracketed {
        true => matches!(byte, b'>' | b'<' | b'\n'),
        false => matches!(byte, b')' | b'(' | b'[' | b' ' | b'\t' | b'\r' | b'\n'),
    };
    let end = start + body[start..].iter().position(is_end)?;
    let span_end = end + body[end..].iter().position(|byte| matches!(byte, b')' | b'(' | b'[' | b'\n'))? + 1;
    if body[span_end - 1] != b')' {
        return None;
    }
    let target = std::str::from_utf8(&body[start..end]).ok()?;
    let (path, section) = split(target, '#');
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_outside = path.contains("..") || path.contains(':') || path.starts_with('/');
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = without_ending(file);
    if is_outside || name.len() == file.len() || name.is_empty() {
        return None;
    }
    let name_start = start + (name.as_ptr() as usize - target.as_ptr() as usize);
    Some(Link {
        name: percent_decoded(name),
        vault: LinkVault::Same,
        form: LinkForm::Markdown,
        text: std::str::from_utf8(&body[open + 1..close]).ok().map(str::to_owned),
        section: section.map(str::to_owned),
        relation: None,
        span: open..span_end,
        name_span: name_start..name_start + name.len(),
    })
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    match text.split_once(at) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

fn split_vault(path: &str) -> Option<(LinkVault, &str)> {
    let path = path.trim();
    let (vault, name) = match path.rsplit_once('/') {
        Some(("~", name)) => (LinkVault::User, name),
        Some((project, name)) => (LinkVault::Project(project.to_owned()), name),
        None => (LinkVault::Same, path),
    };
    (!without_ending(name).is_empty()).then_some((vault, name))
}

fn without_ending(file: &str) -> &str {
    let n = file.len().saturating_sub(".md".len());
    match file.get(n..) {
        Some(ending) if ending.eq_ignore_ascii_case(".md") => &file[..n],
        _ => file,
    }
}

/// Reads the word before a link that stands alone in a list item, and the remark after it.
fn relation(body: &[u8], line_start: usize, span: &Range<usize>) -> Option<Relation> {
    if span.start - line_start > MAX_RELATION {
        return None;
    }
    let before = std::str::from_utf8(&body[line_start..span.start]).ok()?;
    let word = bullet(before)?.trim();
    let is_word = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if word.is_empty() || !is_word {
        return None;
    }
    let after = body[span.end..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let after = std::str::from_utf8(after).unwrap_or_default().trim();
    let note = after.strip_prefix('(').and_then(|note| note.strip_suffix(')'));
    Some(Relation { word: word.to_owned(), note: note.map(str::to_owned) })
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::memory::{Document, MemoryPath};

    fn check(body: &str, expected: Expect) {
        let mut out = String::new();
        for link in links(body.as_bytes()) {
            let vault = match &link.vault {
                LinkVault::Same => String::new(),
                LinkVault::User => "user vault, ".to_owned(),
                LinkVault::Project(id) => format!("project {id}, "),
            };
            out += &format!("{} ({vault}{:?} at {:?})", link.name, &body[link.name_span], &body[link.span]);
            if let Some(text) = link.text {
                out += &format!(" text {text:?}");
            }
            if let Some(section) = link.section {
                out += &format!(" section {section:?}");
            }
            if let Some(Relation { word, note }) = link.relation {
                out += &format!(" relation {word} {note:?}");
            }
            out.push('\n');
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn every_form_is_found_with_its_bytes() {
        check(
            "See [[a]], [[b|shown]], [[c#Sec]], [[d#S|t]], [[ e ]], [[f.md]].\n\
             [[web-app-3f9a1c/g]] [[~/h]] | [[i\\|cell]] | ![[j]]\n\
             [text](k.md) [t](./sub/l.md#x) [t](<m n.md>) [t](o%20p.md \"title\") [한국](한국어.md)\n\
             - depends_on [[q]] (since v2)\n* see [[r]]\n- two words [[s]]\n",
            expect![[r#"
                a ("a" at "[[a]]")
                b ("b" at "[[b|shown]]") text "shown"
                c ("c" at "[[c#Sec]]") section "Sec"
                d ("d" at "[[d#S|t]]") text "t" section "S"
                e ("e" at "[[ e ]]")
                f ("f" at "[[f.md]]")
                g (project web-app-3f9a1c, "g" at "[[web-app-3f9a1c/g]]")
                h (user vault, "h" at "[[~/h]]")
                i ("i" at "[[i\\|cell]]") text "cell"
                j ("j" at "[[j]]")
                k ("k" at "[text](k.md)") text "text"
                l ("l" at "[t](./sub/l.md#x)") text "t" section "x"
                m n ("m n" at "[t](<m n.md>)") text "t"
                o p ("o%20p" at "[t](o%20p.md \"title\")") text "t"
                한국어 ("한국어" at "[한국](한국어.md)") text "한국"
                q ("q" at "[[q]]") relation depends_on Some("since v2")
                r ("r" at "[[r]]") relation see None
                s ("s" at "[[s]]")
            "#]],
        );
    }

    #[test]
    fn code_urls_and_broken_brackets_are_no_links() {
        check(
            "`[[a]]` ``[[b]] ` `` \\[[c]] [[]] [[#here]] [[d\ne]] [[f] [[g]\n\
             [t](https://example.org/h.md) [t](/etc/i.md) [t](../j.md) [t](k.txt) [t](l.md\n\
             ```\n[[m]]\n```\n~~~\n[[n]]\n",
            expect![""],
        );
    }

    #[test]
    fn a_rename_changes_only_the_name() {
        let body = "[[Old]] [[old|x]] [[old#s]] [t](old.md#s) [[older]] `[[old]]` [[p/old]] [[~/old]]\r\n";
        let body = [body.as_bytes(), b"\xff [[old]]"].concat();
        let renamed = rename_links(&body, "old", "new").unwrap();
        let expected =
            "[[new]] [[new|x]] [[new#s]] [t](new.md#s) [[older]] `[[old]]` [[p/old]] [[~/old]]\r\n";
        assert_eq!(renamed, [expected.as_bytes(), b"\xff [[new]]"].concat());
        assert_eq!(rename_links(&body, "other", "new"), None);
    }

    #[test]
    fn names_win_over_stems_and_stems_over_aliases() {
        let memory = |path: &str, name: &str, aliases: &[&str]| {
            let path = MemoryPath::new(path).unwrap();
            let mut memory = Memory::read(&path, &Document::parse(b"")).0;
            memory.name = name.to_owned();
            memory.aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
            memory
        };
        let memories = [
            memory("one.md", "first", &["uno", "second"]),
            memory("two.md", "second", &["first"]),
            memory("sub/Three.md", "third", &["one"]),
            memory("three.md", "fourth", &[]),
        ];
        let resolver = Resolver::new(&memories);
        let table = [
            ("first", Some(0)),
            ("FIRST", Some(0)),
            ("second", Some(1)),
            ("one", Some(0)),
            ("Uno", Some(0)),
            ("Three", Some(2)),
            ("three", Some(3)),
            ("THREE", Some(2)),
            ("nobody", None),
        ];
        for (name, expected) in table {
            assert_eq!(resolver.resolve(name), expected, "{name}");
        }
    }
}
