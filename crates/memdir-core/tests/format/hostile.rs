//! Hostile files: each is parsed or gets one line of explanation, quickly, and nothing is lost.

use std::time::Duration;

use expect_test::expect;
use memdir_core::memory::{Document, Frontmatter, Header, Memory, MemoryPath, links, observations, sections};

/// Reads a file in all ways there are and says what we think of it, in one line.
fn verdict(bytes: &[u8]) -> String {
    let document = Document::parse(bytes);
    assert_eq!(document.bytes(), bytes);
    let (memory, problems) = Memory::read(&MemoryPath::new("hostile.md").unwrap(), &document);
    for problem in &problems {
        let line = problem.to_string();
        assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
        assert!(line.len() < 500, "{} bytes", line.len());
    }
    let _ = (links(document.body()), sections(&String::from_utf8_lossy(document.body())));
    let state = match document.frontmatter() {
        Frontmatter::Absent => "absent".to_owned(),
        Frontmatter::Raw(problem) => problem.to_string(),
        Frontmatter::Mapping(_) => format!("{} fields", document.fields().len()),
    };
    let kinds: Vec<&str> = problems.iter().map(|problem| problem.kind.as_str()).collect();
    format!("{state}; {:?}; {}", memory.name.chars().take(20).collect::<String>(), kinds.join(" "))
}

#[test]
fn hostile_yaml_is_raw_or_harmless() {
    let bomb = "---\na: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\nname: x\n---\nbody\n";
    let deep_flow = format!("---\nname: x\na: {}\n---\n", "[".repeat(16_000));
    let deep_huge = format!("---\na: {}\n---\n", "[".repeat(100_000));
    let deep_block: String = (0..100).map(|i| format!("{:i$}a:\n", "")).collect();
    let deep_block = format!("---\n{deep_block}---\n");
    let big_scalar = format!("---\nname: x\na: {}\n---\nbody\n", "x".repeat(10_000_000));
    let table: &[(&str, &[u8])] = &[
        ("alias bomb", bomb.as_bytes()),
        ("deep flow", deep_flow.as_bytes()),
        ("100k brackets", deep_huge.as_bytes()),
        ("deep block", deep_block.as_bytes()),
        ("10 MB scalar", big_scalar.as_bytes()),
        ("duplicate keys", b"---\nname: x\nname: y\n---\nbody\n"),
        ("tag", b"---\nname: !!python/object/apply:os.system [x]\n---\nbody\n"),
        ("merge key", b"---\nname: x\n<<: {a: b}\n---\nbody\n"),
        ("tabs", b"---\nname: x\nmetadata:\n\tscope: team\n---\nbody\n"),
        ("no closing fence", b"---\nname: x\ntype: user\n\nbody\n"),
        ("only a fence", b"---\n"),
        ("fence without break", b"---"),
        ("two documents", b"---\nname: x\n--- # y\nname: z\n---\n"),
        ("NUL in a value", b"---\nname: x\0y\n---\nbody\n"),
        ("invalid UTF-8", b"---\nname: \xff\xfe\n---\nbody\n"),
        ("invalid body", b"---\nname: hostile\ndescription: d\ntype: user\n---\nbody \xff\n"),
        ("UTF-16", b"\xff\xfe-\0-\0-\0\n\0"),
        ("lone CR", b"---\rname: x\r---\rbody"),
        ("escape sequence", b"---\nname: \"\\e]52;c;eA==\\a\"\n---\nbody\n"),
        ("bidi name", "---\nname: x\u{202e}y\n---\nbody\n".as_bytes()),
        ("empty", b""),
    ];
    let mut out = String::new();
    for (name, bytes) in table {
        out += &format!("{name}: {}\n", verdict(bytes));
    }
    expect![[r#"
        alias bomb: line 2: the frontmatter cannot be read: an anchor (raw); "hostile"; raw
        deep flow: line 3: the frontmatter cannot be read: nested deeper than 4 (raw); "hostile"; raw
        100k brackets: line 1: the frontmatter cannot be read: no closing `---` within 16 KiB (raw); "hostile"; raw long-body
        deep block: line 6: the frontmatter cannot be read: nested deeper than 4 (raw); "hostile"; raw
        10 MB scalar: line 1: the frontmatter cannot be read: no closing `---` within 16 KiB (raw); "hostile"; raw oversized-body
        duplicate keys: line 3: the frontmatter cannot be read: the same key twice (raw); "hostile"; raw
        tag: line 2: the frontmatter cannot be read: a tag, or a value that begins with `!` without quotes (raw); "hostile"; raw
        merge key: line 3: the frontmatter cannot be read: a merge key (raw); "hostile"; raw
        tabs: line 4: the frontmatter cannot be read: a tab in the indentation (raw); "hostile"; raw
        no closing fence: line 1: the frontmatter cannot be read: no closing `---` (raw); "hostile"; raw
        only a fence: line 1: the frontmatter cannot be read: no closing `---` (raw); "hostile"; raw
        fence without break: absent; "hostile"; no-frontmatter
        two documents: line 3: the frontmatter cannot be read: a second YAML document (raw); "hostile"; raw
        NUL in a value: line 2: the frontmatter cannot be read: a control character (raw); "hostile"; raw nul-byte
        invalid UTF-8: line 2: the frontmatter cannot be read: not UTF-8 (raw); "hostile"; raw invalid-utf8
        invalid body: 3 fields; "hostile"; invalid-utf8
        UTF-16: absent; "hostile"; invalid-utf8 no-frontmatter
        lone CR: absent; "hostile"; no-frontmatter
        escape sequence: 1 fields; "\u{1b}]52;c;eA==\u{7}"; name-mismatch control-character missing-description missing-type
        bidi name: 1 fields; "x\u{202e}y"; name-mismatch hidden-character missing-description missing-type
        empty: absent; "hostile"; no-frontmatter
    "#]].assert_eq(&out);
}

/// Time is what an attacker wants: the work must stay proportional to the bytes. Each of these takes milliseconds;
/// with one quadratic step it would take minutes.
#[test]
fn nothing_takes_long() {
    let fence = |inner: &str| format!("---\n{inner}\n---\nbody\n");
    let keys: String = (0..4000).map(|i| format!("{i}: \n")).collect();
    let body = |text: &str, n: usize| format!("---\nname: x\n---\n{}", text.repeat(n));
    let rising: String = (1..600).map(|n| format!("{} ", "`".repeat(n))).collect();
    let files = [
        fence(&"a: \"".repeat(4000)),
        fence(&"- ".repeat(8000)),
        fence(&format!("a: {}", "{a: ".repeat(4000))),
        fence(&format!("a: {}", "? ".repeat(4000))),
        fence(&format!("a:{}b", "\n".repeat(16_000))),
        fence(&format!("a: x{}\n y", "\n ".repeat(5_000))),
        fence(&format!("a: \"{}\"", "\\u0041".repeat(2_700))),
        fence(&keys),
        body("[[", 100_000),
        body("[[a]] ", 30_000),
        body("[a](", 50_000),
        body("](", 100_000),
        body("`", 200_000),
        body("` ``", 50_000),
        body(&rising, 1),
        body("```\n", 50_000),
        body("- [a] b #c\n", 20_000),
        body("\u{200b}", 60_000),
        body("\n", 200_000),
        body("Why:\n", 40_000),
    ];
    for (i, text) in files.iter().enumerate() {
        let elapsed = clock();
        verdict(text.as_bytes());
        observations(text);
        let took = elapsed();
        assert!(took < Duration::from_secs(5), "file {i} took {took:?}");
    }
}

/// The limit above is wide because this may be a debug build on a busy machine.
#[expect(clippy::disallowed_methods, reason = "a test may look at the clock")]
fn clock() -> impl Fn() -> Duration {
    let start = std::time::Instant::now();
    move || start.elapsed()
}

#[test]
fn a_reader_stops_at_the_limit() {
    let endless = format!("---\n{}", "a: b\n".repeat(1_000_000));
    assert_eq!(Header::scan(&endless.as_bytes()[..Header::MAX_BYTES]), Header::TooLong);
    let document = Document::parse(&endless.as_bytes()[..Header::MAX_BYTES]);
    assert!(matches!(document.frontmatter(), Frontmatter::Raw(_)));
    assert_eq!(document.guess("a").as_deref(), Some("b"));
}
