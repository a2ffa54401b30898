//! Twenty secrets of different kinds, made anew in every run, and where to look for them.

use std::fs;
use std::path::Path;

use memdir_core::secrets::Scanner;
use memdir_testkit::Random;

const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";

/// A kind, how its values begin, of which characters the rest is made, and how many there are.
const KINDS: [(&str, &[&str], &str, usize); 18] = [
    ("github", &["ghp", "_"], WORD, 36),
    ("gitlab", &["glpat", "-"], WORD, 20),
    ("aws", &["AK", "IA"], UPPER, 16),
    ("anthropic", &["sk-ant-", "api03-"], WORD, 93),
    ("openai", &["sk-", "proj-"], WORD, 64),
    ("google", &["AI", "za"], WORD, 35),
    ("hugging face", &["hf", "_"], WORD, 34),
    ("npm", &["npm", "_"], WORD, 36),
    ("docker", &["dckr_", "pat_"], WORD, 27),
    ("rubygems", &["rubygems", "_"], HEX, 48),
    ("digitalocean", &["dop_", "v1_"], HEX, 64),
    ("stripe", &["sk_", "live_"], WORD, 24),
    ("memdir token", &["mdt", "_"], HEX, 64),
    ("memdir invite", &["mdi", "_"], HEX, 48),
    ("databricks", &["da", "pi"], HEX, 32),
    ("linear", &["lin_", "api_"], WORD, 40),
    ("postman", &["PMAK", "-"], HEX, 24),
    ("vault", &["hvs", "."], WORD, 96),
];

/// One secret.
#[derive(Debug, Clone)]
pub(crate) struct Canary {
    pub(crate) kind: &'static str,
    /// As it is written.
    pub(crate) text: String,
    /// What may be found nowhere.
    pub(crate) value: String,
}

/// Makes twenty secrets, others for every seed.
pub(crate) fn canaries(seed: u64) -> Vec<Canary> {
    let mut random = Random::new(seed);
    let mut draw = |alphabet: &str, n: usize| -> String {
        (0..n).map(|_| char::from(*random.pick(alphabet.as_bytes()))).collect()
    };
    let mut all: Vec<Canary> = KINDS
        .iter()
        .map(|(kind, start, alphabet, n)| {
            let tail = if *kind == "postman" { format!("-{}", draw(HEX, 34)) } else { String::new() };
            let value = format!("{}{}{tail}", start.concat(), draw(alphabet, *n));
            Canary { kind, text: value.clone(), value }
        })
        .collect();
    let word = format!("{}7x{}", draw("bcdfghjkmnpqrstvwz", 7), draw(WORD, 9));
    let text = format!("postgres://app:{word}@db.internal:5432/shop");
    all.push(Canary { kind: "connection string", text, value: word });
    let word = format!("{}9K{}", draw("bcdfghjkmnpqrstvwz", 6), draw(WORD, 10));
    let text = format!("STAGING_PASSWORD={word}");
    all.push(Canary { kind: "password", text, value: word });
    let scanner = Scanner::builtin();
    for canary in &all {
        let text = sentence(canary);
        assert!(!scanner.scan(text.as_bytes()).is_empty(), "the scanner knows no {}: {text}", canary.kind);
    }
    all
}

/// Says it as people do.
pub(crate) fn sentence(canary: &Canary) -> String {
    format!("For the {} account of the shop we use {} since May.", canary.kind, canary.text)
}

/// Says all of them, a line each.
pub(crate) fn told(canaries: &[Canary]) -> String {
    canaries.iter().map(|canary| sentence(canary) + "\n").collect()
}

/// Wants none of them in a text, plain or as JSON and URLs write it.
pub(crate) fn check_none(canaries: &[Canary], what: &str, text: &str) {
    for canary in canaries {
        assert!(!text.contains(&canary.value), "{what} tells the {} secret:\n{text}", canary.kind);
    }
}

/// Wants none of them in any file below a directory, but where `is_meant` says so.
pub(crate) fn check_files(canaries: &[Canary], dir: &Path, is_meant: &dyn Fn(&str) -> bool) -> usize {
    let mut n_files = 0;
    let mut open = vec![dir.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
        let Ok(bytes) = fs::read(&path) else { continue };
        n_files += 1;
        if !is_meant(&name) {
            check_none(canaries, &name, &String::from_utf8_lossy(&bytes));
        }
    }
    n_files
}
