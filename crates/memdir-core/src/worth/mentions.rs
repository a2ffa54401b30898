//! What a text mentions that a project can be asked about: paths, names of the code, commits, branches.
//!
//! Nothing is decided here. A mention is a guess by its shape ("and/or" looks like a path); whether the project has
//! such a thing is for whoever looks it up, and a guess that nobody confirms counts for nothing. Addresses on the
//! web, packages and other people's directories are left out, because no look at this project could confirm them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::words::{Words, listed};

/// Most mentions of one kind that are looked up: a memory is a note, and each look-up costs time on the save path.
pub const MAX_MENTIONS: usize = 32;
/// Longest mention, in bytes.
const MAX_LEN: usize = 200;

/// Something that a project may know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// What is mentioned, without quotes, line numbers and wildcards.
    pub text: String,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// Everything a text mentions, each kind in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    /// What has the shape of a file, of a directory, or is called one.
    pub paths: Vec<Mention>,
    /// What has the shape of a name in code, or is set as code.
    pub symbols: Vec<Mention>,
    /// What has the shape of a commit's hash.
    pub commits: Vec<Mention>,
    /// Numbers of pull requests, merge requests and issues.
    pub requests: Vec<Mention>,
    /// What is called a branch or looks like a release tag.
    pub refs: Vec<Mention>,
}

impl Mentions {
    /// Says whether there is nothing to look up in the tree or the code.
    pub fn names_no_code(&self) -> bool {
        self.paths.is_empty() && self.symbols.is_empty()
    }
}

/// Finds what `text` mentions.
pub fn mentions(text: &str) -> Mentions {
    let mut found = Finder { text, code: code_spans(text), ..Finder::default() };
    for span in runs(text) {
        found.run(span);
    }
    found.spoken_of();
    found.mentions
}

/// Words that make a directory or a module of the word beside them.
static PLACES: Words = Words::new(|| {
    listed(
        "folder folders directory directories dir package crate module submodule workspace ordner \
     verzeichnis paket modul 폴더 디렉터리 디렉토리",
    )
});
/// Words that make a branch of the word beside them.
static BRANCHES: Words = Words::new(|| listed("branch branches zweig branchen 브랜치"));
/// Words that make a request's number of the number behind them.
static REQUESTS: Words = Words::new(|| listed("pr prs mr mrs request requests issue issues"));
/// Words that stand beside those without being a name.
static NO_NAMES: Words = Words::new(|| {
    listed(
        "a an the this that each every its our my new old same other any one in of to for and or is was \
     which whole root der die das den dem ein eine im jedes dieses from on with into by",
    )
});
/// Endings of files that a project keeps.
static FILE_ENDINGS: Words = Words::new(|| {
    listed(
        "rs py pyi js jsx mjs cjs ts tsx mts vue svelte astro go java kt kts scala clj cljs ex exs erl \
     hs ml mli rb erb php pl pm lua r jl dart swift m mm c h cc cpp cxx hpp hh cs fs vb zig nim sh \
     bash zsh fish ps1 sql prisma graphql gql proto html css scss sass less json jsonc yaml yml toml \
     ini cfg conf env xml md mdx rst txt tf nix lock gradle cmake",
    )
});
/// Files that have no ending.
static BARE_FILES: Words = Words::new(|| {
    listed(
        "makefile dockerfile justfile rakefile gemfile procfile jenkinsfile vagrantfile codeowners \
     license changelog readme",
    )
});
/// Names with capitals inside that are no names of anybody's code.
static BRANDS: Words = Words::new(|| {
    listed(
        "GitHub GitLab JavaScript TypeScript PostgreSQL MySQL MongoDB GraphQL FastAPI OpenAPI NextJS \
     NodeJS macOS iOS iPhone LinkedIn YouTube DevOps OAuth WebSocket PyPI BigQuery CircleCI OpenSSL",
    )
});

#[derive(Default)]
struct Finder<'a> {
    text: &'a str,
    code: Vec<Range<usize>>,
    mentions: Mentions,
}

impl Finder<'_> {
    /// Takes a run of characters without spaces apart.
    fn run(&mut self, span: Range<usize>) {
        let text = self.text;
        let run = &text[span.clone()];
        if run.contains("://") {
            return self.address(run, span);
        }
        if ["www.", "mailto:", "~", "$"].iter().any(|start| run.starts_with(start)) {
            return;
        }
        let mut at = span.start;
        for piece in run.split(['?', '&', '=', '%', '|', '!', '$']) {
            self.piece(at..at + piece.len());
            at += piece.len() + 1;
        }
    }

    /// Takes what the pages of a code host are about: a file of a tree, a commit, a request.
    fn address(&mut self, run: &str, span: Range<usize>) {
        let mut parts = run.split('/').skip(3);
        while let Some(part) = parts.next() {
            match part {
                "blob" | "tree" | "raw" | "blame" => {
                    let path: Vec<&str> = parts.skip(1).collect();
                    let path = path.join("/");
                    let path = path
                        .split(['#', '?'])
                        .next()
                        .unwrap_or_default()
                        .trim_end_matches(['/', '.', ',', ')']);
                    if !path.is_empty() && path.len() <= MAX_LEN {
                        self.mentions.paths.push_capped(path, span);
                    }
                    return;
                }
                "commit" | "commits" | "pull" | "merge_requests" => {
                    let id = parts
                        .next()
                        .unwrap_or_default()
                        .trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
                    if is_commit(id) {
                        self.mentions.commits.push_capped(&id.to_ascii_lowercase(), span);
                    } else if !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()) {
                        self.mentions.requests.push_capped(id, span);
                    }
                    return;
                }
                _ => {}
            }
        }
    }

    fn piece(&mut self, span: Range<usize>) {
        let Some(span) = trimmed(self.text, span) else { return };
        let piece = &self.text[span.clone()];
        if piece.len() > MAX_LEN || piece.contains("..") {
            return;
        }
        if let Some(number) = request_number(piece) {
            self.mentions.requests.push_capped(number, span);
        } else if piece.contains('@') {
            // An address or a package of somebody else.
        } else if is_commit(piece) {
            self.mentions.commits.push_capped(&piece.to_ascii_lowercase(), span);
        } else if is_release(piece) {
            self.mentions.refs.push_capped(piece, span);
        } else if let Some(path) = path_in(piece) {
            self.mentions.paths.push_capped(path, span);
        } else {
            self.symbol(piece, span);
        }
    }

    /// Takes the names out of `Store::open`, `store.open()` and the like.
    fn symbol(&mut self, piece: &str, span: Range<usize>) {
        let is_called = piece.contains("()");
        let is_code = self.is_code(&span);
        let mut at = span.start;
        for part in piece.split([':', '.', '(', ')', '#', '/', '*', '\\', '+']) {
            let here = at..at + part.len();
            at += part.len() + 1;
            let name = part.trim_matches('-');
            if is_name(name) && (is_called || is_code || has_shape_of_code(name)) && !BRANDS.contains(name) {
                self.mentions.symbols.push_capped(name, here.clone());
            }
            // `rate-limit` may be a directory or a package of this project.
            if is_code && name.len() >= 3 && is_folder(name) {
                self.mentions.paths.push_capped(name, here);
            }
        }
    }

    /// Says whether a span stands inside of code. The spans of code are in order and apart from each other.
    fn is_code(&self, span: &Range<usize>) -> bool {
        let n_before = self.code.partition_point(|code| code.start <= span.start);
        n_before.checked_sub(1).is_some_and(|last| span.end <= self.code[last].end)
    }

    /// Finds names that only a word beside them marks: "the handlers folder", "branch main", "PR 12".
    fn spoken_of(&mut self) {
        let words: Vec<(Range<usize>, String)> = words(self.text).collect();
        for (i, (_, word)) in words.iter().enumerate() {
            let before = i.checked_sub(1).map(|i| &words[i]);
            let after = words.get(i + 1);
            if PLACES.contains(word.as_str()) {
                for (span, name) in [before, after].into_iter().flatten() {
                    if is_folder(name) && !is_plain_word(name) {
                        self.mentions.paths.push_capped(&self.text[span.clone()], span.clone());
                    }
                }
            } else if BRANCHES.contains(word.as_str()) {
                for (span, name) in [before, after].into_iter().flatten() {
                    if !is_plain_word(name) && name.is_ascii() {
                        self.mentions.refs.push_capped(&self.text[span.clone()], span.clone());
                    }
                }
            } else if REQUESTS.contains(word.as_str())
                && let Some((span, number)) = after
                && number.bytes().all(|b| b.is_ascii_digit())
            {
                self.mentions.requests.push_capped(number, span.clone());
            }
        }
    }
}

trait PushCapped {
    fn push_capped(&mut self, text: &str, span: Range<usize>);
}

impl PushCapped for Vec<Mention> {
    /// Adds a mention unless there are enough different ones; the same one may stand in many places.
    fn push_capped(&mut self, text: &str, span: Range<usize>) {
        let is_known = self.iter().any(|known| known.text == text);
        let n_different = self.iter().map(|known| &known.text).collect::<BTreeSet<_>>().len();
        if (is_known || n_different < MAX_MENTIONS) && self.len() < 4 * MAX_MENTIONS {
            self.push(Mention { text: text.to_owned(), span });
        }
    }
}

/// Returns the runs of characters that paths and names are made of.
fn runs(text: &str) -> Vec<Range<usize>> {
    let belongs = |b: u8| b.is_ascii_alphanumeric() || b"_./-@+#:~*\\$()?&=%|!".contains(&b);
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !belongs(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && belongs(bytes[at]) {
            at += 1;
        }
        runs.push(start..at);
    }
    runs
}

/// Takes away the punctuation around a piece, but not the dot of `.github` nor the parentheses of a call.
fn trimmed(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let piece = &text[span.clone()];
    let head = piece.trim_start_matches(['(', ')', ':', '-', '*', '+', '|', '!']);
    let head = head.strip_prefix("./").unwrap_or(head);
    let start = span.end - head.len();
    let mut body = head;
    let mut n_open = head.matches('(').count();
    loop {
        let cut = body.trim_end_matches(['.', ':', '-', '*', '+', '#', '!', '?']);
        let cut = match cut.strip_suffix(')') {
            Some(open) if n_open == 0 => open,
            _ => cut,
        };
        let cut = match cut.strip_suffix('(') {
            Some(rest) => {
                n_open -= 1;
                rest
            }
            None => cut,
        };
        if cut.len() == body.len() {
            break;
        }
        body = cut;
    }
    (!body.is_empty()).then(|| start..start + body.len())
}

/// Returns the path in a piece, without line number, wildcards and a closing slash.
fn path_in(piece: &str) -> Option<&str> {
    let piece = piece.split_once("**").map_or(piece, |(before, _)| before);
    let piece =
        piece.split_once('*').map_or(piece, |(before, _)| before.rsplit_once('/').map_or("", |(d, _)| d));
    let piece = match piece.split_once(':') {
        Some((path, rest)) if !rest.starts_with(':') && rest.bytes().next()?.is_ascii_digit() => path,
        _ => piece,
    };
    if piece.contains([':', '(', ')', '#', '\\']) {
        return None;
    }
    let path = piece.trim_end_matches('/');
    let (first, _) = path.split_once('/').unwrap_or((path, ""));
    let has_slash = piece.contains('/');
    let is_file = has_file_ending(path) || BARE_FILES.contains(path.to_ascii_lowercase().as_str());
    let is_host = has_slash && first.contains('.') && !first.starts_with('.') && !has_file_ending(first);
    let is_number = path.bytes().all(|b| b.is_ascii_digit() || b"/.-".contains(&b));
    ((has_slash || is_file) && !is_host && !is_number && !path.is_empty()).then_some(path)
}

/// Says whether files with this ending, in lower case, are what a project keeps.
pub fn is_file_ending(ending: &str) -> bool {
    FILE_ENDINGS.contains(ending)
}

fn has_file_ending(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, ending)) => {
            let is_known = is_file_ending(&ending.to_ascii_lowercase());
            is_known && (!stem.is_empty() || ending == "env")
        }
        None => false,
    }
}

/// Returns the number in `#12`, `!12` or `owner/repo#12`.
fn request_number(piece: &str) -> Option<&str> {
    let (_, number) = piece.rsplit_once('#')?;
    let is_number = !number.is_empty() && number.len() <= 7 && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some(number)
}

/// Says whether a piece can be a commit: hexadecimal, and no word and no number by accident.
fn is_commit(piece: &str) -> bool {
    let has = |test: fn(&u8) -> bool| piece.bytes().any(|b| test(&b));
    matches!(piece.len(), 7..=40 | 64)
        && piece.bytes().all(|b| b.is_ascii_hexdigit())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

fn is_release(piece: &str) -> bool {
    let Some(number) = piece.strip_prefix(['v', 'V']) else { return false };
    let mut parts = number.split('.');
    let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    parts.next().is_some_and(is_number) && parts.next().is_some_and(is_number)
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.len() >= 3 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_folder(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    name.len() >= 2 && name.bytes().all(is_plain) && name.bytes().any(|b| b.is_ascii_alphabetic())
}

fn is_plain_word(name: &str) -> bool {
    NO_NAMES.contains(name) || PLACES.contains(name) || BRANCHES.contains(name)
}

/// Says whether a name can only come from code: `snake_case`, `camelCase`, `TwoHumps`, `SCREAMING_CASE`.
pub(crate) fn has_shape_of_code(name: &str) -> bool {
    let inner = name.trim_matches('_');
    let bytes = inner.as_bytes();
    let humps = bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    inner.contains('_') || humps.count() > 0
}

/// Returns what stands between backticks, on one line each; fenced blocks are code as a whole.
pub(crate) fn code_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let (mut at, mut fence): (usize, Option<usize>) = (0, None);
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        match (is_fence, fence) {
            (true, None) => fence = Some(at),
            (true, Some(start)) => {
                spans.push(start..at + line.len());
                fence = None;
            }
            (false, None) => spans.extend(ticked(line, at)),
            (false, Some(_)) => {}
        }
        at += line.len();
    }
    spans.extend(fence.map(|start| start..text.len()));
    spans
}

fn ticked(line: &str, at: usize) -> Vec<Range<usize>> {
    let ticks: Vec<usize> = line.match_indices('`').map(|(tick, _)| at + tick).collect();
    ticks.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]).collect()
}

/// Returns the words with their places, in lower case; a particle behind a Korean word is left on it.
fn words(text: &str) -> impl Iterator<Item = (Range<usize>, String)> + '_ {
    let belongs = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(belongs)?;
        let len = text[start..].find(|c| !belongs(c)).unwrap_or(text.len() - start);
        rest = start + len;
        let word = text[start..rest].trim_end_matches(['.', '-', '/']);
        Some((start..start + word.len(), word.to_lowercase()))
    })
    .filter(|(span, _)| !span.is_empty())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expect: Expect) {
        let found = mentions(text);
        let kinds = [
            ("paths", found.paths),
            ("symbols", found.symbols),
            ("commits", found.commits),
            ("requests", found.requests),
            ("refs", found.refs),
        ];
        let shown: Vec<String> = kinds
            .iter()
            .filter(|(_, mentions)| !mentions.is_empty())
            .map(|(kind, mentions)| {
                let texts: Vec<&str> = mentions.iter().map(|mention| mention.text.as_str()).collect();
                format!("{kind}: {}", texts.join(" "))
            })
            .collect();
        expect.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn paths_lose_line_numbers_wildcards_and_punctuation() {
        check(
            "See ./src/api/users.ts:12, (docs/**/*.md), `tests/` and Cargo.toml.",
            expect!["paths: src/api/users.ts docs tests Cargo.toml"],
        );
        check("`src/api`에는 핸들러가 있다. src/db/에 모델.", expect!["paths: src/api src/db"]);
        check(
            "The handlers folder, im Ordner components, the billing crate",
            expect!["paths: handlers components billing"],
        );
    }

    #[test]
    fn what_lies_outside_the_project_is_no_mention() {
        check(
            "https://x.org/a/b.rs grafana.internal/d/api ~/notes/x.md @scope/pkg me@x.org ../other/x.rs $HOME/x",
            expect![""],
        );
    }

    #[test]
    fn an_address_on_a_code_host_is_about_what_it_shows() {
        check(
            "https://git.x.org/a/b/blob/main/src/i18n/de.json#L3 https://git.x.org/a/b/commit/8c1f2aa, https://git.x.org/a/b/pull/12.",
            expect!["paths: src/i18n/de.json\ncommits: 8c1f2aa\nrequests: 12"],
        );
    }

    #[test]
    fn names_of_code_are_told_by_shape_call_or_quotes() {
        check(
            "parse_config() calls `Store::open` and loadUser; GitHub and Postgres do not. MAX_SIZE too, `pnpm`",
            expect!["paths: Store open pnpm\nsymbols: parse_config Store open loadUser MAX_SIZE pnpm"],
        );
    }

    #[test]
    fn what_git_knows_is_told_apart_from_words_and_numbers() {
        check(
            "merged #12 and PR 34 as 1a2b3c4 into branch main, released v1.2.0; 2026-03-05, 1234567, defaced",
            expect!["commits: 1a2b3c4\nrequests: 12 34\nrefs: v1.2.0 main"],
        );
    }
}
