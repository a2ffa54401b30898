//! The rules against samples that are made at run time, so that no scanner trips over this repository.
//!
//! Samples of tokens and named values are generated from the pattern of their rule by a seeded generator; the other
//! patterns have theirs written down in pieces.

mod samples;
mod texts;

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::rule::Form;
use super::*;

/// A small generator: the same seed, the same samples.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Draws a text that a pattern matches.
    fn text(&mut self, pattern: &str) -> String {
        let parsed = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern);
        let mut bytes = Vec::new();
        self.fill(&parsed.unwrap(), &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    fn fill(&mut self, hir: &Hir, bytes: &mut Vec<u8>) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => bytes.extend_from_slice(&literal.0),
            HirKind::Class(Class::Bytes(class)) => {
                let all: Vec<u8> = class.iter().flat_map(|range| range.start()..=range.end()).collect();
                bytes.push(all[self.below(all.len())]);
            }
            HirKind::Class(Class::Unicode(_)) => unreachable!("patterns are of bytes"),
            HirKind::Repetition(repetition) => {
                let least = repetition.min as usize;
                let most = repetition.max.map_or(least + 8, |max| max as usize).min(least + 12);
                for _ in 0..least + self.below(most - least + 1) {
                    self.fill(&repetition.sub, bytes);
                }
            }
            HirKind::Capture(capture) => self.fill(&capture.sub, bytes),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.fill(part, bytes)),
            HirKind::Alternation(parts) => {
                let at = self.below(parts.len());
                self.fill(&parts[at], bytes);
            }
        }
    }
}

fn rules_found(text: &str) -> Vec<String> {
    Scanner::builtin().scan(text.as_bytes()).into_iter().map(|finding| finding.rule.into_owned()).collect()
}

#[test]
fn every_rule_finds_its_samples() {
    let mut draw = Draw(20_261_115);
    let mut missed = Vec::new();
    for rule in table::all() {
        let samples: Vec<String> = match rule.form {
            Form::Token { prefixes, body } => prefixes
                .iter()
                .flat_map(|prefix| {
                    let value = format!("{prefix}{}", draw.text(body));
                    [
                        format!("the bot uses {value} since May"),
                        format!("X={value}\n"),
                        format!("값은{value}입니다"),
                    ]
                })
                .collect(),
            Form::Named { words, value } => words
                .iter()
                .map(|word| {
                    format!("{}_api_key = \"{}\"", word.trim_end_matches(['_', '-']), draw.text(value))
                })
                .collect(),
            Form::Pattern { .. } => samples::positives(rule.id, &mut draw),
        };
        assert!(!samples.is_empty(), "{} has no sample", rule.id);
        // By whichever rule: some formats are shared, and a more telling one wins.
        missed.extend(
            samples
                .iter()
                .filter(|sample| rules_found(sample).is_empty())
                .map(|sample| format!("{}: {sample}", rule.id)),
        );
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn every_rule_passes_over_what_only_looks_so() {
    let mut wrong = Vec::new();
    for rule in table::all() {
        let samples: Vec<String> = match rule.form {
            Form::Token { prefixes, .. } => prefixes
                .iter()
                .flat_map(|prefix| {
                    [
                        format!("tokens begin with {prefix} here"),
                        format!("X={prefix}{}", "x".repeat(36)),
                        format!("X={prefix}<your-token>"),
                        format!("X={prefix}…"),
                    ]
                })
                .collect(),
            Form::Named { words, .. } => words
                .iter()
                .flat_map(|word| {
                    let word = word.trim_end_matches(['_', '-']);
                    [
                        format!("{word}_api_key = \"<your key>\""),
                        format!("{word} build {} is green", "3f9c2a1b".repeat(5)),
                    ]
                })
                .collect(),
            Form::Pattern { .. } => samples::negatives(rule.id),
        };
        assert!(!samples.is_empty(), "{} has no negative sample", rule.id);
        let found = samples.iter().filter(|sample| !rules_found(sample).is_empty());
        wrong.extend(found.map(|sample| format!("{}: {sample} {:?}", rule.id, rules_found(sample))));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_is_sound() {
    let ids: Vec<&str> = table::all().map(|rule| rule.id).collect();
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), distinct.len(), "an id stands twice");
    assert!(ids.len() >= 150, "{} kinds", ids.len());
    for rule in table::all() {
        // Keywords decide which rules run at all: without one a rule would be dead, with a short one always awake.
        match rule.form {
            Form::Token { prefixes, .. } => {
                assert!(prefixes.iter().all(|prefix| prefix.len() >= 2), "{}", rule.id)
            }
            Form::Pattern { keywords, reach, .. } => {
                let is_general = [table::GENERIC_KEY, table::GENERIC_PASSWORD].contains(&rule.id);
                assert!(is_general || !keywords.is_empty(), "{}", rule.id);
                // Nothing looks further than the longest key is long.
                assert!(reach.before + reach.after <= 16_100, "{}", rule.id);
            }
            Form::Named { words, .. } => assert!(!words.is_empty(), "{}", rule.id),
        }
    }
}

/// X3: patterns run in linear time (the engine has no other), and only around their keywords; so the time for a text
/// of one character is that of the keyword pass.
#[test]
fn x3_a_repeated_character_calls_for_no_rule() {
    for byte in 0x20..0x7f_u8 {
        assert_eq!(Scanner::builtin().scan(&vec![byte; 20_000]), [], "{:?}", char::from(byte));
    }
}

#[test]
fn a_finding_says_where_and_never_what() {
    let value = ["ghp", "_", "k9mVq2LpW7xZ4nRt", "Yb3cD5fG8hJ1sK6vQ2wE"].concat();
    let text = format!("first\nsecond {value} third\n");
    let findings = Scanner::builtin().scan(text.as_bytes());
    let [finding] = &findings[..] else { panic!("one finding: {findings:?}") };
    assert_eq!((finding.line, &text[finding.start..finding.end]), (2, value.as_str()));
    assert!(!format!("{finding:?}").contains(&value));
    let redacted = String::from_utf8(redact(text.as_bytes(), &findings)).unwrap();
    assert_eq!(redacted, "first\nsecond [REDACTED:github-pat] third\n");
    assert_eq!(Scanner::builtin().scan(redacted.as_bytes()), []);
}

/// X8: a value passes when its hash is vouched for, and only that value.
#[test]
fn x8_an_allowed_value_passes() {
    let value = |n: usize| ["ghp", "_", &Draw(n as u64).text("[A-Za-z0-9]{36}")].concat();
    let text = format!("{} {}", value(1), value(2));
    let allow = Allow { hash: ContentHash::of(value(1).as_bytes()), reason: "a sample".to_owned() };
    let findings = Scanner::builtin().allowing([allow]).scan(text.as_bytes());
    assert_eq!(findings.iter().map(|found| &text[found.start..found.end]).collect::<Vec<_>>(), [value(2)]);
}

#[test]
fn rules_of_the_users_own_add_to_ours() {
    let rules = r#"
        [extend]
        useDefault = true
        disabledRules = ["github-pat"]

        [allowlist]
        stopwords = ["harmless"]

        [[rules]]
        id = "acme-badge"
        description = "Acme badge"
        regex = '''(?i)badge[=: ]+(acme-[a-z0-9]{8,})'''
        secretGroup = 1
        entropy = 2.0
        keywords = ["badge"]

        [[rules.allowlists]]
        regexTarget = "line"
        regexes = ["^#"]
    "#;
    let scanner = Scanner::with_rules(Rules::parse(rules).unwrap());
    let found = |text: &str| -> Vec<String> {
        scanner.scan(text.as_bytes()).iter().map(|finding| finding.rule.to_string()).collect()
    };
    assert_eq!(found("badge: acme-7hq2k9zx"), ["acme-badge"]);
    assert_eq!(found("badge: acme-aaaaaaaa"), [""; 0]);
    assert_eq!(found("badge: acme-harmless1"), [""; 0]);
    assert_eq!(found("# badge: acme-7hq2k9zx"), [""; 0]);
    let ours = ["ghp", "_", "k9mVq2LpW7xZ4nRt", "Yb3cD5fG8hJ1sK6vQ2wE"].concat();
    assert_eq!(found(&ours), ["github-pat"], "no file can empty our rules");
    let broken = Rules::parse("[[rules]]\nid = \"x\"\nregex = '''(?<'''").unwrap_err();
    assert!(broken.to_string().starts_with("rule `x`: regex is not a pattern"), "{broken}");
}

/// Bits of text that wake every part of the scanner, to be put together at random.
const BITS: &[&str] = &[
    "password",
    "비밀번호는",
    " is ",
    "=",
    ": ",
    "\"",
    "'",
    "\\",
    "\n",
    "| ",
    "|---|\n",
    "%67",
    "&#103;",
    "\u{200b}",
    "ｇ",
    "ghp_",
    "AKIA",
    "eyJhbGciOiJ9.",
    "://",
    "@",
    "k9mVq2LpW7xZ4nRt",
    "-----BEGIN PRIVATE KEY-----",
    "$2y$10$",
    "{",
    "ü",
    "(",
    "key",
    "token",
    ",",
    " + ",
    "curl -u ",
    "Z2hwX2FiY2RlZmdoaWprbG1ub3A=",
    "<",
    "${",
    "[REDACTED:jwt]",
    "\0",
    "🏴",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_upsets_the_scanner(bits in proptest::collection::vec(0..BITS.len(), 0..40), cut in 0_usize..8) {
        let text: String = bits.iter().map(|bit| BITS[*bit]).collect();
        // Cut anywhere, also inside a character: texts need not be UTF-8.
        let text = &text.as_bytes()[cut.min(text.len())..];
        let findings = Scanner::builtin().scan(text);
        for pair in findings.windows(2) {
            proptest::prop_assert!(pair[0].end <= pair[1].start, "findings overlap");
        }
        for finding in &findings {
            proptest::prop_assert!(finding.start < finding.end && finding.end <= text.len());
            let line = 1 + text[..finding.start].iter().filter(|byte| **byte == b'\n').count();
            proptest::prop_assert_eq!(finding.line, line);
        }
        redact(text, &findings);
    }
}

/// A token is found whatever a terminal, a mail program or a missing space did to its surroundings, and the redacted text
/// has nothing of it.
#[test]
fn a_token_is_found_behind_colours_in_mail_and_glued_to_a_word() {
    let tokens = [
        ["ghp", "_", "k9mVq2LpW7xZ4nRt", "Yb3cD5fG8hJ1sK6vQ2wE"].concat(),
        ["hf", "_", "kQmVwqLpWWxZznRtY", "bccDEfGHhJJsKKvQqwE"].concat(),
        ["AKI", "A", "Z7QLMW3XKN5RTB2V"].concat(),
    ];
    for token in &tokens {
        for text in [
            format!("it says \x1b[32m{token}\x1b[0m here"),
            format!("it says \x1b[01;31m\x1b[K{token}\x1b[m\x1b[Kand more"),
            format!("{{\"out\":\"\\u001b[38;5;208m{token}\\u001b[0m\"}}"),
            format!("\\\\u001b[32m{token}\\\\u001b[0m"),
            format!("\\x1b[32m{token}\\x1b[0m \\033[1m \\e[0m"),
            format!("\u{9b}32m{token}\u{9b}0m"),
            format!("\x1b]8;;https://a.example/\x1b\\{token}\x1b]8;;\x1b\\"),
            format!("{}\x1b[1m{}", &token[..12], &token[12..]),
            format!("Subject:=20{token}=20and=20more"),
            format!("{}=\r\n{}", &token[..12], &token[12..]),
            format!("Authorization: Bearer{token}"),
        ] {
            let redacted = Scanner::builtin().redacted(&text).into_owned();
            assert!(redacted.contains("[REDACTED:"), "{text:?}");
            assert!(!redacted.contains(&token[12..]), "{redacted:?}");
        }
    }
}

#[test]
fn words_that_end_like_a_prefix_are_no_tokens() {
    for text in [
        "run task_id_generation_with_retries_for_all_users",
        "the disk_usage_of_the_production_database_server",
        "call BearerhfGetModelFromTheHubWithRetriesAndTimeout",
        "hf_getModelFromTheHubWithRetriesAndTimeout is a function",
        "width=20height=30 and a=3Db are numbers",
        "a coloured \x1b[32mword\x1b[0m and \x1b]0;a title\x07 alone",
    ] {
        assert_eq!(rules_found(text), Vec::<String>::new(), "{text:?}");
    }
}
