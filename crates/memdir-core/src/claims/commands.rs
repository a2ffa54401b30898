//! Options and tasks that a text names: `--dry-run`, `make deploy`, `npm run lint`.

use std::ops::Range;

/// Programs that run a task which a file of the project defines.
const NODE_RUNNERS: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];
/// Longest option that is looked for.
const MAX_FLAG: usize = 64;

/// Returns where the options in a text stand, dashes included.
pub(super) fn flags(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (at, _) in text.match_indices("--") {
        let opens = at == 0
            || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b'`' | b'"' | b'\'' | b'(' | b'[' | b'/');
        let is_part = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
        let len = bytes[at + 2..].iter().take_while(|b| is_part(b)).count();
        let name = text[at + 2..at + 2 + len].trim_end_matches('-');
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        // `--FLAG` and `--snake_case` are too rare to tell from rules and dashes.
        let closes = bytes.get(at + 2 + len).is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_');
        if opens && begins && closes && name.len() >= 2 && name.len() <= MAX_FLAG {
            found.push(at..at + 2 + name.len());
        }
    }
    found
}

/// Returns the ways in which code spells an option: `dry-run`, `dry_run`, `dryRun`.
pub fn flag_spellings(flag: &str) -> Vec<String> {
    let name = flag.trim_start_matches('-');
    let mut camel = String::new();
    for (i, part) in name.split('-').enumerate() {
        let mut chars = part.chars();
        match chars.next() {
            Some(first) if i > 0 => camel.push(first.to_ascii_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.push_str(chars.as_str());
    }
    let mut spellings = vec![name.to_owned(), name.replace('-', "_"), camel];
    spellings.dedup();
    spellings
}

/// Returns the task that a line of a shell runs, in one spelling: `make deploy`, `npm run lint`, `just test`.
pub(super) fn task(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("$ ");
    let is_setting = |word: &&str| word.contains('=') && !word.starts_with('-');
    let mut words = line.split_ascii_whitespace().skip_while(is_setting);
    let program = words.next()?;
    let task = match program {
        "make" | "just" => words.next()?,
        program if NODE_RUNNERS.contains(&program) => {
            words.next().filter(|word| matches!(*word, "run" | "run-script"))?;
            words.next()?
        }
        _ => return None,
    };
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-:.".contains(&b);
    let is_name = task.starts_with(|c: char| c.is_ascii_alphanumeric()) && task.bytes().all(is_plain);
    let run = if NODE_RUNNERS.contains(&program) { "npm run" } else { program };
    is_name.then(|| format!("{run} {task}"))
}

/// Returns the program that a line of a shell starts.
pub(super) fn program(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches("$ ");
    let word = line.split_ascii_whitespace().find(|word| !word.contains('='))?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./".contains(&b);
    let is_program = !word.starts_with('-') && word.bytes().all(is_plain);
    is_program.then(|| word.rsplit('/').next().unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_from_dashes() {
        let text = "Use `--dry-run` or --v2, not a--b, -- , ---, --SHOUT or --snake_case; `x --all`";
        let found: Vec<&str> = flags(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, ["--dry-run", "--v2", "--all"]);
        assert_eq!(flag_spellings("--dry-run"), ["dry-run", "dry_run", "dryRun"]);
        assert_eq!(flag_spellings("--all"), ["all"]);
    }

    #[test]
    fn a_task_has_one_spelling_whoever_runs_it() {
        assert_eq!(task("make deploy").as_deref(), Some("make deploy"));
        assert_eq!(task("$ CI=1 pnpm run build:web --watch").as_deref(), Some("npm run build:web"));
        assert_eq!(task("just test").as_deref(), Some("just test"));
        assert_eq!(task("make -j4"), None);
        assert_eq!(task("make `it` so"), None);
        assert_eq!(task("npm install"), None);
        assert_eq!(program("RUST_LOG=1 ./target/heron serve --x"), Some("heron"));
        assert_eq!(program("--x"), None);
    }
}
