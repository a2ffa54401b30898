//! `memdir secrets`: scan texts and files, list the kinds we know, vouch for a value.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use memdir_core::hash::ContentHash;
use memdir_core::secrets::{self, Finding, Scanner};
use memdir_store::secrets::{self as store, Reading};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context::{Context, STDIN, claim_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Look for secrets
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Scan(ScanArgs),
    Rules(RulesArgs),
    Allow(AllowArgs),
}

/// Find secrets in files, directories or standard input; exit code 1 if there are any
#[derive(Debug, clap::Args)]
struct ScanArgs {
    /// Files and directories; without any, standard input
    paths: Vec<PathBuf>,
    /// Read rows {"id","text"} on standard input, answer each with a row
    #[arg(long, conflicts_with = "paths")]
    jsonl: bool,
    /// Print the text with `[REDACTED:kind]` in the place of each secret
    #[arg(long)]
    redact: bool,
}

/// List the kinds of secrets that are known
#[derive(Debug, clap::Args)]
struct RulesArgs {}

/// Vouch for a value (on standard input) in your own settings
#[derive(Debug, clap::Args)]
struct AllowArgs {
    /// Why it may stand
    #[arg(long)]
    reason: String,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    match &args.command {
        Command::Scan(args) => scan(args, context, ui),
        Command::Rules(_) => rules(context, ui),
        Command::Allow(args) => allow(args, context, ui),
    }
}

fn scan(args: &ScanArgs, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let scanner = context.scanner()?;
    let found = if args.jsonl {
        scan_rows(args, &scanner, ui)?
    } else if args.paths.is_empty() || args.paths == [Path::new(STDIN)] {
        scan_stdin(args, &scanner, ui)?
    } else {
        scan_files(args, &scanner, ui)?
    };
    // Something found is the answer "no": the text must not go where it was going.
    Ok(if found { Outcome::Nothing } else { Outcome::Done })
}

#[derive(Deserialize)]
struct Row {
    id: Value,
    text: String,
}

/// Scans rows from standard input; a row that cannot be read ends the scan.
fn scan_rows(args: &ScanArgs, scanner: &Scanner, ui: &mut Ui) -> Result<bool, Failure> {
    let input = String::from_utf8(read_stdin()?).map_err(|_| Failure::error("the rows are not UTF-8"))?;
    let mut found = false;
    for (n, line) in input.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let row: Row = serde_json::from_str(line).map_err(|err| {
            Failure::error(format!("line {}: not a row with `id` and `text`: {err}", n + 1))
        })?;
        let findings = scanner.scan(row.text.as_bytes());
        found |= !findings.is_empty();
        let mut answer = json!({ "id": row.id, "findings": findings });
        if args.redact {
            answer["text"] = redacted(row.text.as_bytes(), &findings).into();
        }
        ui.line(&answer.to_string());
    }
    Ok(found)
}

fn scan_stdin(args: &ScanArgs, scanner: &Scanner, ui: &mut Ui) -> Result<bool, Failure> {
    if args.paths.is_empty() && std::io::stdin().is_terminal() {
        return Err(Failure::error("nothing to scan").hint("name a path, or pipe a text in"));
    }
    let text = read_stdin()?;
    let findings = scanner.scan(&text);
    let found = !findings.is_empty();
    match (args.redact, ui.is_json()) {
        (true, true) => ui.json(&json!({ "findings": findings, "text": redacted(&text, &findings) })),
        (false, true) => ui.json(&json!({ "findings": findings })),
        (true, false) => ui.raw(&secrets::redact(&text, &findings)),
        (false, false) => tell(ui, "stdin", &findings),
    }
    Ok(found)
}

#[derive(Serialize)]
struct Scanned {
    path: String,
    findings: Vec<Finding>,
}

fn scan_files(args: &ScanArgs, scanner: &Scanner, ui: &mut Ui) -> Result<bool, Failure> {
    let mut files = Vec::new();
    if args.paths.iter().any(|path| path == Path::new(STDIN)) {
        return Err(
            Failure::error("`-` is scanned alone").hint("scan standard input and files one after the other")
        );
    }
    for path in &args.paths {
        files.extend(store::files(path).map_err(|err| unreadable(path, &err))?);
    }
    if args.redact && files.len() != 1 {
        return Err(Failure::error("`--redact` prints one text").hint("name one file"));
    }
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    for (path, outcome) in files.iter().zip(scan_all(scanner, &files)) {
        let path = path.display().to_string();
        match outcome? {
            Looked::Clean => {}
            Looked::Found(findings, text) => {
                if args.redact {
                    ui.raw(&secrets::redact(&text, &findings));
                } else if !ui.is_json() {
                    tell(ui, &path, &findings);
                }
                rows.push(Scanned { path, findings });
            }
            Looked::Binary => skipped.push(path),
        }
    }
    if !skipped.is_empty() {
        ui.say(&format!("{} binary files were passed over: {}", skipped.len(), some_of(&skipped)));
    }
    if ui.is_json() {
        ui.json(&json!({ "files": rows, "n_scanned": files.len() - skipped.len(), "skipped": skipped }));
    }
    Ok(!rows.is_empty())
}

enum Looked {
    Clean,
    Found(Vec<Finding>, Vec<u8>),
    Binary,
}

/// Scans files on as many threads as help, and returns the outcomes in the order of the files.
fn scan_all(scanner: &Scanner, files: &[PathBuf]) -> Vec<Result<Looked, Failure>> {
    const N_THREADS: usize = 2;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(path) = files.get(at) else { return done };
            done.push((at, look(scanner, path)));
        }
    };
    if files.len() == 1 {
        return vec![look(scanner, &files[0])];
    }
    let mut done: Vec<(usize, Result<Looked, Failure>)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..N_THREADS).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            // A panic in the scan must not pass for a clean file.
            done.extend(other.join().expect("the scan does not panic"));
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

fn look(scanner: &Scanner, path: &Path) -> Result<Looked, Failure> {
    match store::read(path).map_err(|err| unreadable(path, &err))? {
        Reading::Binary => Ok(Looked::Binary),
        Reading::TooLarge => {
            Err(Failure::error(format!("{} is larger than {} bytes", path.display(), store::MAX_FILE))
                .hint("nothing was said about it, so it does not count as clean"))
        }
        Reading::Text(text) => {
            let findings = scanner.scan_file(&text, path.to_str());
            Ok(if findings.is_empty() { Looked::Clean } else { Looked::Found(findings, text) })
        }
    }
}

fn unreadable(path: &Path, err: &std::io::Error) -> Failure {
    Failure::error(format!("could not read {}: {err}", path.display()))
}

fn tell(ui: &mut Ui, path: &str, findings: &[Finding]) {
    for finding in findings {
        ui.line(&format!("{path}:{}: {} ({})", finding.line, finding.description, finding.rule));
    }
}

fn some_of(paths: &[String]) -> String {
    const SHOWN: usize = 3;
    let more = if paths.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", paths.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", "))
}

fn redacted(text: &[u8], findings: &[Finding]) -> String {
    String::from_utf8_lossy(&secrets::redact(text, findings)).into_owned()
}

fn read_stdin() -> Result<Vec<u8>, Failure> {
    claim_stdin()?;
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(store::MAX_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|err| Failure::error(format!("could not read standard input: {err}")))?;
    if bytes.len() as u64 > store::MAX_FILE {
        return Err(Failure::error(format!("the text is longer than {} bytes", store::MAX_FILE)));
    }
    Ok(bytes)
}

fn rules(context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let place = &context.place;
    let extra = store::extra_rules(&place.home, context.env.user_home().ok(), &place.settings)
        .map_err(|err| Failure::from_chain(&err))?;
    let own = secrets::kinds().map(|kind| (kind.field, kind.rule, kind.description));
    let kinds: Vec<(&str, &str, &str)> =
        own.chain(extra.kinds().map(|(rule, description)| ("your own", rule, description))).collect();
    if ui.is_json() {
        let row = |(field, rule, description): &(&str, &str, &str)| json!({ "rule": rule, "field": field, "description": description });
        ui.json(&kinds.iter().map(row).collect::<Vec<_>>());
        return Ok(Outcome::Done);
    }
    let columns = [
        Column::new("RULE").tone(Tone::Strong),
        Column::new("FIELD").tone(Tone::Faint),
        Column::new("FINDS").giving_way(),
    ];
    let rows: Vec<Vec<String>> = kinds
        .iter()
        .map(|(field, rule, about)| vec![(*rule).to_owned(), (*field).to_owned(), (*about).to_owned()])
        .collect();
    ui.table(&columns, &rows);
    Ok(Outcome::Done)
}

fn allow(args: &AllowArgs, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    if args.reason.trim().is_empty() {
        return Err(Failure::error("a value needs a reason to be let through"));
    }
    if std::io::stdin().is_terminal() {
        return Err(Failure::error("the value is read from standard input")
            .hint("`memdir secrets allow --reason REASON < FILE`: a value on the command line would be seen by others"));
    }
    let bytes = read_stdin()?;
    let value = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let value = value.strip_suffix(b"\r").unwrap_or(value);
    if value.is_empty() {
        return Err(Failure::error("there is no value on standard input"));
    }
    let hash = ContentHash::of(value);
    let place = &context.place;
    let is_new = store::allow(&place.home, &place.settings, hash, &args.reason)
        .map_err(|err| Failure::from_chain(&err))?;
    if ui.is_json() {
        ui.json(&json!({ "hash": hash, "reason": args.reason, "new": is_new }));
    } else if is_new {
        ui.say(&format!("values with the hash {} pass from now on", hash.short()));
    } else {
        ui.say(&format!("values with the hash {} pass already", hash.short()));
    }
    Ok(Outcome::Done)
}
