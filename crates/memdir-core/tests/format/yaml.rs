//! Our YAML subset against a full YAML reader: what we accept, it reads the same; what it refuses, we call raw.

use std::fmt;

use expect_test::{Expect, expect};
use memdir_core::memory::{Document, Frontmatter, Value};
use proptest::prelude::*;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::{cases, fenced, read, why_raw};

/// Asks the full reader to read `text` as exactly `expected`, every scalar as a text.
fn judge(text: &str, expected: &Value) -> Result<(), String> {
    let options = || {
        serde_saphyr::options! {
            strict_booleans: true,
            with_snippet: false,
            merge_keys: serde_saphyr::MergeKeyPolicy::AsOrdinary,
        }
    };
    serde_saphyr::with_deserializer_from_str_with_options(text, options(), |de| {
        Judge(expected).deserialize(de)
    })
    .map_err(|err| err.to_string())
}

/// Walks through a value and the other reader's view of it together.
struct Judge<'v>(&'v Value);

impl<'de> DeserializeSeed<'de> for Judge<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            Value::Null => deserializer.deserialize_option(self),
            Value::Text(_) => deserializer.deserialize_str(self),
            Value::List(_) => deserializer.deserialize_seq(self),
            Value::Map(_) => deserializer.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Judge<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match self.0.as_text() == Some(text) {
            true => Ok(()),
            false => Err(E::custom(format!("{text:?} instead of {:?}", self.0))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Value::List(items) = self.0 else { return Err(A::Error::custom("a list")) };
        for item in items {
            seq.next_element_seed(Judge(item))?.ok_or_else(|| A::Error::custom("a shorter list"))?;
        }
        match seq.next_element::<IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(A::Error::custom("a longer list")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Value::Map(pairs) = self.0 else { return Err(A::Error::custom("a mapping")) };
        for (key, value) in pairs {
            let found: String = map.next_key()?.ok_or_else(|| A::Error::custom("a smaller mapping"))?;
            if found != *key {
                return Err(A::Error::custom(format!("the key {found:?} instead of {key:?}")));
            }
            map.next_value_seed(Judge(value))?;
        }
        match map.next_key::<IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(A::Error::custom("a larger mapping")),
        }
    }
}

/// Checks that what we accept, the full reader accepts with the same meaning.
fn agrees(frontmatter: &str) -> Result<(), TestCaseError> {
    let document = Document::parse(fenced(frontmatter).as_bytes());
    if !matches!(document.frontmatter(), Frontmatter::Mapping(_)) {
        return Ok(());
    }
    // A closing fence inside the text ends the frontmatter early; judge what we read.
    let end = document.bytes().len() - document.body().len();
    let header = std::str::from_utf8(&document.bytes()[..end]).unwrap();
    let inner = header.trim_end().strip_prefix("---").unwrap().strip_suffix("---").unwrap();
    let value = match document.fields() {
        fields if fields.is_empty() => Value::Null,
        fields => Value::Map(fields),
    };
    judge(inner.trim_start_matches(['\r', '\n']), &value)
        .map_err(|why| TestCaseError::fail(format!("{why}\nwe read {value:?}\nin {inner:?}")))
}

#[test]
fn the_judge_can_say_no() {
    let text = Value::Map(vec![("a".into(), "b".into())]);
    assert_eq!(judge("a: b", &text), Ok(()));
    for other in ["a: c", "b: b", "a: b\nc: d", "a: [b]", "a:", "a: {b: c}", "", "a: b\na: b"] {
        assert!(judge(other, &text).is_err(), "{other}");
    }
}

/// Says in one line what frontmatter means, after asking the judge.
fn check(frontmatter: &str, expected: Expect) {
    agrees(frontmatter).unwrap_or_else(|err| panic!("{err}"));
    let mut out = String::new();
    for (key, value) in read(frontmatter) {
        out += &format!("{key} = {}\n", show(&value));
    }
    expected.assert_eq(&out);
    let crlf = frontmatter.replace('\n', "\r\n");
    assert_eq!(read(&crlf), read(frontmatter), "CRLF means something else");
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Text(text) => format!("{text:?}"),
        Value::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Map(pairs) => {
            let pairs: Vec<_> = pairs.iter().map(|(key, value)| format!("{key}: {}", show(value))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

#[test]
fn plain_scalars_are_texts() {
    check(
        "a: b\nb:   spaced out  # comment\nc: 1.10\nd: 010\ne: 2026-04-01\nf: true\ng: no\nh: a:b # c\n\
         i: http://x/#y\nj: it's \"fine\"\nk : x\nl m: -x ?y :z\n",
        expect![[r#"
            a = "b"
            b = "spaced out"
            c = "1.10"
            d = "010"
            e = "2026-04-01"
            f = "true"
            g = "no"
            h = "a:b"
            i = "http://x/#y"
            j = "it's \"fine\""
            k = "x"
            l m = "-x ?y :z"
        "#]],
    );
}

#[test]
fn nothing_is_nothing() {
    check(
        "a:\nb: ~\nc: null\nd: \"\"\ne: ''\nf: # comment\nmetadata: \n",
        expect![[r#"
        a = nothing
        b = nothing
        c = nothing
        d = ""
        e = ""
        f = nothing
        metadata = nothing
    "#]],
    );
    check("", expect![""]);
    check("# only\n\n  # comments\n", expect![""]);
}

#[test]
fn quotes_and_escapes_are_decoded() {
    check(
        r#"a: "x # y: z"
b: 'it''s' # comment
c: "tab\t nl\n quote\" slash\/ back\\ nul\0 esc\e nbsp\_ "
d: "\x41\u00e9\U0001F642"
"quoted key": 'v'
'k''': v
e: "한국어 🙂"
"#,
        expect![[r#"
            a = "x # y: z"
            b = "it's"
            c = "tab\t nl\n quote\" slash/ back\\ nul\0 esc\u{1b} nbsp\u{a0} "
            d = "Aé🙂"
            quoted key = "v"
            k' = "v"
            e = "한국어 🙂"
        "#]],
    );
}

#[test]
fn scalars_over_several_lines_are_folded() {
    check(
        "a: one\n  two\n   three\n\n  four # end\nb: \"one  \n  two\n\n  three\\\n   four \\  \n  five\"\n\
         c: 'one\n\n\n  two'\nd:\n  below\n  it\ne:\n  \"quoted\n  below\"\nf: x\n  - y\n",
        expect![[r#"
            a = "one two three\nfour"
            b = "one two\nthreefour   five"
            c = "one\n\ntwo"
            d = "below it"
            e = "quoted below"
            f = "x - y"
        "#]],
    );
}

#[test]
fn block_scalars_keep_or_fold_their_lines() {
    check(
        "a: |\n  one\n   two\n\n  three\nb: |-\n  one\n  two\n\nc: |+\n  one\n\nd: >\n  one\n  two\n\n  three\n    four\n  five\n\
         e: >-\n  # no comment\n  a: b\nf: |2-\n    two\n   one\ng: | # comment\n  x\nh: |\ni: >+\n\nj: >-\n\n  x\nk: v\n",
        expect![[r##"
            a = "one\n two\n\nthree\n"
            b = "one\ntwo"
            c = "one\n\n"
            d = "one two\nthree\n  four\nfive\n"
            e = "# no comment a: b"
            f = "  two\n one"
            g = "x\n"
            h = ""
            i = "\n"
            j = "\nx"
            k = "v"
        "##]],
    );
}

#[test]
fn lists_and_mappings_nest() {
    check(
        "a:\n  - b\n  - 'c: d'\n\n  # comment\n  - e # f\ng:\n- h\n-\n- ~\ni:\n  j:\n    k: l\n    m:\n      - n\n  o: p\n\
         q:\n  - r: s\n    t: u\n  - - v\n    - w\n  -\n    x: y\nz:\n    deep: er\n",
        expect![[r#"
            a = ["b", "c: d", "e"]
            g = ["h", nothing, nothing]
            i = {j: {k: "l", m: ["n"]}, o: "p"}
            q = [{r: "s", t: "u"}, ["v", "w"], {x: "y"}]
            z = {deep: "er"}
        "#]],
    );
}

#[test]
fn flow_collections_are_read() {
    check(
        "a: [b, 'c, d', \"e\", f g]\nh: []\ni: {}\nj: {k: l, \"m\":n, o: , p: [q, {r: s}]}\nt: [a,b,] # c\n\
         u: [x,\n    y, # z\n\n  w\n  ]\nv: [http://x, -1, a:b, ~]\nw: {a: b,\n  c: d}\n",
        expect![[r#"
            a = ["b", "c, d", "e", "f g"]
            h = []
            i = {}
            j = {k: "l", m: "n", o: nothing, p: ["q", {r: "s"}]}
            t = ["a", "b"]
            u = ["x", "y", "w"]
            v = ["http://x", "-1", "a:b", nothing]
            w = {a: "b", c: "d"}
        "#]],
    );
}

#[test]
fn a_mapping_may_be_indented() {
    check(
        "  a: b\n  c:\n    d: e\n",
        expect![[r#"
        a = "b"
        c = {d: "e"}
    "#]],
    );
}

/// Texts that are not in our subset, with what we say about them.
#[test]
fn what_we_refuse_says_why() {
    let refused = [
        "a: &x b\n",
        "a: *x\n",
        "a: !t b\n",
        "!!map\na: b\n",
        "a: {<<: b}\n",
        "<<: *a\n",
        "a: b\na: c\n",
        "a: {b: c, b: d}\n",
        "\"a\": b\na: c\n",
        "? a\n: b\n",
        "[a]: b\n",
        "{a: b}\n",
        "- a\n",
        "just text\n",
        "a\n",
        "a:b\n",
        ": a\n",
        "a: b: c\n",
        "a: b\n  c: d\n",
        "a: @b\n",
        "a: `b`\n",
        "a: %b\n",
        "a: - b\n",
        "a: ? b\n",
        "a: ]\n",
        "a: ,\n",
        "a: [b\n",
        "a: [b\n\nc: d\n",
        "a: [b c: d]\n",
        "a: [b, , c]\n",
        "a: [-]\n",
        "a: {b}\n",
        "a: {b c}\n",
        "a: \"b\n",
        "a: 'b\n",
        "a: \"b\nc\"\n",
        "a: \"b\" c\n",
        "a: 'b'#c\n",
        "a: \"\\q\"\n",
        "a: \"\\ud83d\"\n",
        "a: \"\\x4\"\n",
        "a: |x\n  b\n",
        "a: |0\n  b\n",
        "a: |\n    \n  b\n",
        "a: |2\n # \n",
        "a:\n\tb: c\n",
        "a:\tb\n",
        "a: |\n\tb\n",
        "a:\n  b: c\n d: e\n",
        "  a: b\nc: d\n",
        "a: b\n- c\n",
        "a:\n  - b\n  c: d\n",
        "a: b\n...\n",
        "%YAML 1.2\n",
        "a: b\rc: d\n",
        "a: \u{1}\n",
        "a: \u{85}\n",
        "a: \u{feff}b\n",
        "a: [[[[b]]]]\n",
        "a:\n b:\n  c:\n   d:\n    e: f\n",
    ];
    let mut out = String::new();
    for text in refused {
        let why = why_raw(fenced(text).as_bytes()).unwrap_or_else(|| panic!("accepted: {text}"));
        out += &format!("{:25} {why}\n", text.trim_end().escape_debug().to_string());
    }
    expect![[r#"
        a: &x b                   line 2: an anchor (raw)
        a: *x                     line 2: an alias, or a value that begins with `*` without quotes (raw)
        a: !t b                   line 2: a tag, or a value that begins with `!` without quotes (raw)
        !!map\na: b               line 2: a tag, or a value that begins with `!` without quotes (raw)
        a: {<<: b}                line 2: a merge key (raw)
        <<: *a                    line 2: a merge key (raw)
        a: b\na: c                line 3: the same key twice (raw)
        a: {b: c, b: d}           line 2: the same key twice (raw)
        \"a\": b\na: c            line 3: the same key twice (raw)
        ? a\n: b                  line 2: an explicit key (raw)
        [a]: b                    line 2: a bracket or comma out of place (raw)
        {a: b}                    line 2: a bracket or comma out of place (raw)
        - a                       line 2: a list item out of place (raw)
        just text                 line 2: a line without `key: value` (raw)
        a                         line 2: a line without `key: value` (raw)
        a:b                       line 2: a line without `key: value` (raw)
        : a                       line 2: a colon without a key (raw)
        a: b: c                   line 2: a colon in a value without quotes (raw)
        a: b\n  c: d              line 3: a colon in a value without quotes (raw)
        a: @b                     line 2: a value that begins with `@` without quotes (raw)
        a: `b`                    line 2: a value that begins with a backtick without quotes (raw)
        a: %b                     line 2: a value that begins with `%` without quotes (raw)
        a: - b                    line 2: a list item out of place (raw)
        a: ? b                    line 2: an explicit key (raw)
        a: ]                      line 2: a bracket or comma out of place (raw)
        a: ,                      line 2: a bracket or comma out of place (raw)
        a: [b                     line 2: a bracket that is never closed (raw)
        a: [b\n\nc: d             line 4: a line in brackets that is not indented (raw)
        a: [b c: d]               line 2: neither a comma nor a closing bracket after an item (raw)
        a: [b, , c]               line 2: a bracket or comma out of place (raw)
        a: [-]                    line 2: a sign without text in brackets (raw)
        a: {b}                    line 2: a key without a value in braces (raw)
        a: {b c}                  line 2: a key without a value in braces (raw)
        a: \"b                    line 2: a quote that is never closed (raw)
        a: \'b                    line 2: a quote that is never closed (raw)
        a: \"b\nc\"               line 3: a quoted value whose next line is not indented (raw)
        a: \"b\" c                line 2: text after the end of a value (raw)
        a: \'b\'#c                line 2: text after the end of a value (raw)
        a: \"\\q\"                line 2: an unknown escape (raw)
        a: \"\\ud83d\"            line 2: an escape that is no character (raw)
        a: \"\\x4\"               line 2: an escape that is no character (raw)
        a: |x\n  b                line 2: text after the end of a value (raw)
        a: |0\n  b                line 2: text after the end of a value (raw)
        a: |\n    \n  b           line 4: a blank line indented deeper than the text below it (raw)
        a: |2\n #                 line 3: text indented less than its block says (raw)
        a:\n\tb: c                line 3: a tab in the indentation (raw)
        a:\tb                     line 2: a tab after a colon (raw)
        a: |\n\tb                 line 3: a tab in the indentation (raw)
        a:\n  b: c\n d: e         line 4: indented deeper than the key above it (raw)
          a: b\nc: d              line 3: indented less than the first key (raw)
        a: b\n- c                 line 3: a list item out of place (raw)
        a:\n  - b\n  c: d         line 4: indented deeper than the key above it (raw)
        a: b\n...                 line 3: a second YAML document (raw)
        %YAML 1.2                 line 2: a value that begins with `%` without quotes (raw)
        a: b\rc: d                line 2: a carriage return without a line feed (raw)
        a: \u{1}                  line 2: a control character (raw)
        a:                        line 2: a character that YAML does not allow (raw)
        a: \u{feff}b              line 2: a character that YAML does not allow (raw)
        a: [[[[b]]]]              line 2: nested deeper than 4 (raw)
        a:\n b:\n  c:\n   d:\n    e: f line 6: nested deeper than 4 (raw)
    "#]]
    .assert_eq(&out);
}

#[test]
fn limits_hold_on_the_byte() {
    let keys = |n: usize| (0..n).map(|i| format!("k{i}: v\n")).collect::<String>();
    assert_eq!(read(&keys(64)).len(), 64);
    assert_eq!(why_raw(fenced(&keys(65)).as_bytes()).unwrap(), "line 66: more than 64 keys (raw)");

    let sized = |n: usize| format!("a: {}\n", "x".repeat(n - 4));
    assert_eq!(read(&sized(16 * 1024)).len(), 1);
    let too_large = fenced(&sized(16 * 1024 + 1));
    assert_eq!(why_raw(too_large.as_bytes()).unwrap(), "line 1: no closing `---` within 16 KiB (raw)");

    let long_key = |n: usize| format!("{}: v\n", "k".repeat(n));
    assert_eq!(read(&long_key(1024)).len(), 1);
    assert!(why_raw(fenced(&long_key(1025)).as_bytes()).is_some());
}

/// A value that frontmatter may hold, nested `depth` collections deep.
fn value(depth: u32) -> BoxedStrategy<Value> {
    let text = prop_oneof![
        4 => "[a-z]{1,6}( [a-z]{1,6}){0,3}",
        2 => "\\PC{0,20}",
        1 => "[ -~\n\t]{0,20}",
        1 => prop::sample::select(vec!["", "~", "null", "true", "1", "- a", "a: b", "# c", "a #b", "'", "\"", "\\"])
            .prop_map(str::to_owned),
    ];
    let scalar = text.prop_map(Value::Text);
    if depth == 0 {
        return prop_oneof![8 => scalar, 1 => Just(Value::Null)].boxed();
    }
    prop_oneof![
        4 => scalar,
        1 => Just(Value::Null),
        2 => prop::collection::vec(value(depth - 1), 1..4).prop_map(Value::List),
        2 => pairs(depth - 1, 1..4).prop_map(Value::Map),
    ]
    .boxed()
}

fn pairs(depth: u32, n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(String, Value)>> {
    prop::collection::btree_map("[a-z][a-z0-9_-]{0,8}", value(depth), n)
        .prop_map(|map| map.into_iter().collect())
}

/// Writes values the way many programs do; `styles` decides between the ways.
struct Writer {
    out: String,
    styles: Vec<u8>,
    n_used: usize,
}

impl Writer {
    fn pick(&mut self, n: u8) -> u8 {
        self.n_used += 1;
        self.styles[self.n_used % self.styles.len()] % n
    }

    fn map(&mut self, indent: usize, pairs: &[(String, Value)]) {
        for (key, value) in pairs {
            let key = match self.pick(6) {
                0 => format!("\"{key}\""),
                1 => format!("'{key}'"),
                _ => key.clone(),
            };
            self.out += &format!("{:indent$}{key}:", "");
            self.value(indent, value);
        }
    }

    fn value(&mut self, indent: usize, value: &Value) {
        let deeper = indent + 1 + usize::from(self.pick(4));
        let way = usize::from(self.pick(4));
        match value {
            Value::Null => self.out += [" ~", "", " null", "  # none"][way],
            Value::Text(text) => return self.text(indent, text),
            Value::List(items) => {
                if way == 0 && items.iter().all(|item| matches!(item, Value::Text(_) | Value::Null)) {
                    let items: Vec<String> = items.iter().map(flow_scalar).collect();
                    self.out += &format!(" [{}]\n", items.join(", "));
                    return;
                }
                self.out += "\n";
                for item in items {
                    self.out += &format!("{:deeper$}-", "");
                    self.value(deeper, item);
                }
                return;
            }
            Value::Map(pairs) => {
                self.out += [" # c\n", "\n", " \n", "\n\n"][way];
                return self.map(deeper, pairs);
            }
        }
        self.out += "\n";
    }

    fn text(&mut self, indent: usize, text: &str) {
        let words: Vec<&str> = text.split(' ').collect();
        let is_plain =
            words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase()) && !word.is_empty())
                && !matches!(text, "null");
        let is_printable = !text.contains(|c: char| c.is_control() || c == '\u{feff}');
        let pad = " ".repeat(indent + 2);
        let way = self.pick(6);
        self.out += &match way {
            0 if is_plain => format!(" {}\n", words.join(&format!("\n{pad}"))),
            1 if is_printable && !text.contains('\\') => format!(" '{}' # c\n", text.replace('\'', "''")),
            2 if is_plain => format!(" |-\n{pad}{text}\n"),
            3 if is_plain => format!(" >-\n{pad}{}\n", words.join(&format!("\n{pad}"))),
            4 if is_plain => format!(" \"{}\"\n", words.join(&format!("\n\n{pad} ")).replace("\n\n", "\n")),
            _ if is_plain => format!("  {text}  # c\n"),
            _ => format!(" {}\n", double_quoted(text)),
        };
    }
}

fn flow_scalar(value: &Value) -> String {
    value.as_text().map_or("~".to_owned(), double_quoted)
}

fn double_quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() || c == '\u{feff}' => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Pieces that mean something in YAML.
const PIECES: &[&str] = &[
    "a", "b", "key", "k: ", ": ", ":", " ", "  ", "\n", "\n", "\n ", "\n  ", "\n    ", "\na: ", "\nb:\n  ",
    "- ", "-", "\n- ", "\n  - ", "#", " # ", "\"", "'", "[", "]", "{", "}", ",", ", ", "|", ">", "|-\n",
    ">+\n", "|2\n", "&a ", "*a", "!t ", "? ", "?", "\\n", "\\", "\\\n", "~", "null", "\t", "é", "🙂", "\r\n",
    "---", "...", "%", "@", "`", "<<", "1", "''", "\"\"", "\\u0041", "\u{2028}", "=", "~\n", "\n\n",
    "\n   \n", "\n\t\n", "x: y", "\"q\": ", "'q': ",
];

fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES);
    (any::<bool>(), prop::collection::vec(piece, 0..24)).prop_map(|(begins, pieces)| {
        let start = if begins { "a: " } else { "" };
        format!("{start}{}\n", pieces.concat())
    })
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn what_we_accept_any_yaml_reader_reads_the_same(text in soup()) {
        agrees(&text)?;
    }

    #[test]
    fn what_programs_write_is_read(pairs in pairs(2, 1..6), styles in prop::collection::vec(any::<u8>(), 32)) {
        let mut writer = Writer { out: String::new(), styles, n_used: 0 };
        writer.map(0, &pairs);
        let document = Document::parse(fenced(&writer.out).as_bytes());
        prop_assert!(matches!(document.frontmatter(), Frontmatter::Mapping(_)), "{:?}\n{}", document.frontmatter(), writer.out);
        prop_assert_eq!(document.fields(), pairs, "{}", writer.out);
        agrees(&writer.out)?;
    }

    #[test]
    fn damaged_files_mean_the_same_or_are_raw(
        pairs in pairs(2, 1..4),
        styles in prop::collection::vec(any::<u8>(), 32),
        at in any::<prop::sample::Index>(),
        n_cut in 0usize..3,
        piece in prop::sample::select(PIECES),
    ) {
        let mut writer = Writer { out: String::new(), styles, n_used: 0 };
        writer.map(0, &pairs);
        let chars: Vec<char> = writer.out.chars().collect();
        let start = at.index(chars.len());
        let end = chars.len().min(start + n_cut);
        let damaged: String = chars[..start].iter().chain(piece.chars().collect::<Vec<_>>().iter()).chain(&chars[end..]).collect();
        agrees(&format!("{damaged}\n"))?;
    }
}
