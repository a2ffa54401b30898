//! X4, X6, X7, X8, TS-05: no secret reaches what others read, whatever happens to the scanner or the file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use memdir_testkit::{Random, Tree};
use serde_json::Value;

use crate::world::{Common, each, plant, refused};

const WORD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &[u8] = b"0123456789abcdef";
/// How values of some kinds begin, of which characters the rest is made, and how many there are. The beginnings are in
/// two parts, so that nobody who scans this file finds something.
const KINDS: [([&str; 2], &[u8], usize); 10] = [
    (["ghp", "_"], WORD, 36),
    (["glpat", "-"], WORD, 20),
    (["sk-ant-", "api03-"], WORD, 93),
    (["hf", "_"], WORD, 34),
    (["npm", "_"], WORD, 36),
    (["dop_", "v1_"], HEX, 64),
    (["sk_", "live_"], WORD, 24),
    (["mdt", "_"], HEX, 64),
    (["lin_", "api_"], WORD, 40),
    (["rubygems", "_"], HEX, 48),
];

/// Makes a secret of the `n`th kind.
fn secret(n: usize, random: &mut Random) -> String {
    let (start, alphabet, length) = KINDS[n % KINDS.len()];
    let rest: String = (0..length).map(|_| char::from(*random.pick(alphabet))).collect();
    start.concat() + &rest
}

/// The forms in which a value could stand in a file.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let wide: Vec<u8> = value.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut forms = vec![value.as_bytes().to_vec(), percent.into_bytes(), hex.into_bytes(), wide];
    // Base64 of a text that holds the value somewhere: three ways in which its bytes can fall.
    forms.extend(
        (0..3).map(|skip| base64(&value.as_bytes()[skip..]).trim_end_matches('=').as_bytes()[..12].to_vec()),
    );
    forms
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let whole = bytes.chunks_exact(3).flat_map(|three| {
        let number = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[(number >> shift) as usize & 63]))
    });
    whole.collect()
}

/// Wants none of these values in any file below a directory, in any form.
fn check_none(values: &[String], directory: &Path) {
    let tree = Tree::of(directory);
    for value in values {
        for form in forms(value) {
            assert_eq!(
                tree.containing(&form),
                Vec::<&str>::new(),
                "{value} as {}",
                String::from_utf8_lossy(&form)
            );
        }
    }
}

fn refusals(report: &Value) -> Vec<&str> {
    each(&report["refused"], "name")
}

#[test]
fn x4_of_two_hundred_fifty_hold_secrets_and_stay() {
    let common = Common::new();
    let (ann, bob) = common.pair();
    let mut random = Random::new(41);
    let mut values = Vec::new();
    for n in 0..200 {
        let name = format!("project-berth-{n}");
        let told = if n % 4 == 0 {
            values.push(secret(n / 4, &mut random));
            format!("The crane of berth {n} is opened with {} since May.", values[n / 4])
        } else {
            format!("The crane of berth {n} lifts {} tonnes.", n * 7 % 31)
        };
        plant(ann.vault(), &name, &told);
    }
    let output = ann.memdir(&["sync", "--json"]).code(1);
    let report = output.json();
    assert_eq!(report["pushed"].as_array().unwrap().len(), 150);
    assert_eq!(refusals(&report).len(), 50);
    for refused in report["refused"].as_array().unwrap() {
        let name = refused["name"].as_str().unwrap();
        let n: usize = name.rsplit('-').next().unwrap().parse().unwrap();
        assert!(n.is_multiple_of(4) && refused["rule"].as_str().unwrap().starts_with("secret:"), "{refused}");
        assert!(refused["line"].as_u64().is_some_and(|line| line > 1), "{refused}");
    }
    for value in &values {
        assert!(!output.stdout.contains(value) && !output.stderr.contains(value), "the report tells a value");
    }
    check_none(&values, &common.share());
    assert_eq!(bob.synced()["pulled"].as_array().unwrap().len(), 150);
    let told = ann.memdir(&["sync"]).code(1);
    assert!(refused(&told, &["`project-berth-0` stays as it is", "secret:"]), "{told}");
    // The same through a repository: nothing of it is there to be committed.
    let carl = common.committer("carl");
    plant(carl.vault(), "project-key", &format!("The key is {}.", values[0]));
    carl.memdir(&["sync"]).code(1);
    check_none(&values, &carl.clone);
}

#[test]
fn x6_what_cannot_be_scanned_is_not_sent() {
    let common = Common::new();
    let ann = common.member("ann");
    plant(ann.vault(), "project-good", "The crane lifts ten tonnes.");
    plant(ann.vault(), "project-bytes", "The crane lifts ten tonnes.");
    let mut bytes = fs::read(ann.file("project-bytes")).unwrap();
    bytes.extend([0xff, 0xfe, b'x']);
    fs::write(ann.file("project-bytes"), bytes).unwrap();
    plant(ann.vault(), "project-huge", "The crane lifts ten tonnes.");
    fs::OpenOptions::new().write(true).open(ann.file("project-huge")).unwrap().set_len(1 << 30).unwrap();
    plant(&common.path().join("elsewhere"), "project-link", "The crane lifts ten tonnes.");
    symlink(common.path().join("elsewhere/project-link.md"), ann.file("project-link")).unwrap();
    assert!(Command::new("mkfifo").arg(ann.file("project-pipe")).status().unwrap().success());
    let report = ann.memdir(&["sync", "--json"]).under(&["prlimit", "--as=536870912"]).code(1).json();
    assert_eq!(report["pushed"], serde_json::json!(["project-good"]), "{report}");
    let named = refusals(&report);
    for name in ["project-bytes", "project-huge"] {
        assert!(named.contains(&name), "{named:?}");
    }
    assert_eq!(common.shared().paths().collect::<Vec<_>>(), ["project-good.md"]);
}

#[test]
fn x6_a_file_that_may_not_be_read_is_not_taken_for_deleted() {
    let common = Common::new();
    let (ann, bob) = common.pair();
    ann.save("project-crane", "The crane lifts ten tonnes. kittiwake");
    ann.synced();
    bob.synced();
    set_mode(&ann.file("project-crane"), 0o000);
    // Root reads everything, unless it gives that up.
    let humble = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
    let is_root = rustix::process::geteuid().is_root();
    let command = ann.memdir(&["sync", "--json"]);
    let output = if is_root { command.under(&humble).run() } else { command.run() };
    assert_ne!(output.code, 0, "{output}");
    assert_eq!(common.shared().containing(b"kittiwake").len(), 1);
    bob.synced();
    assert!(bob.has("project-crane"));
    set_mode(&ann.file("project-crane"), 0o600);
    ann.synced();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn x6_without_a_whole_scanner_nothing_is_sent() {
    let common = Common::new();
    let ann = common.member("ann");
    ann.save("project-crane", "The crane lifts ten tonnes. kittiwake");
    let rules = ann.sandbox.state().join("secrets");
    fs::create_dir_all(&rules).unwrap();
    set_mode(&rules, 0o700);
    fs::write(rules.join("own.toml"), "[[rules]]\nid = \"broken\"\nregex = '''(((('''\n").unwrap();
    set_mode(&rules.join("own.toml"), 0o600);
    let output = ann.memdir(&["sync"]).run();
    assert_eq!(output.code, 2, "{output}");
    assert_eq!(Tree::of(&common.share()).containing(b"kittiwake"), Vec::<&str>::new());
}

#[test]
fn x7_a_secret_that_came_otherwise_is_reported_and_goes_no_further() {
    let common = Common::new();
    let (ann, bob) = common.pair();
    let mut random = Random::new(43);
    let (by_hand, by_pull) = (secret(0, &mut random), secret(1, &mut random));
    plant(ann.vault(), "project-by-hand", &format!("The crane is opened with {by_hand} since May."));
    ann.save("project-crane", "The crane lifts ten tonnes. kittiwake");
    ann.sync();
    plant(&common.folder(), "project-by-pull", &format!("The gate is opened with {by_pull} since May."));
    let report = bob.memdir(&["sync", "--json"]).code(1).json();
    assert_eq!(refusals(&report), ["project-by-pull"], "{report}");
    assert!(!bob.has("project-by-pull") && bob.has("project-crane"));
    let doctor = ann.memdir(&["doctor"]).run();
    let is_named = doctor.stdout.contains("project-by-hand") && !doctor.stdout.contains(&by_hand);
    assert!(doctor.code == 1 && is_named, "{doctor}");
    check_none(&[by_hand], &common.share());
}

#[test]
fn x8_only_the_user_vouches_for_a_value() {
    let common = Common::new();
    let ann = common.committer("ann");
    let value = secret(0, &mut Random::new(47));
    plant(ann.vault(), "project-sample", &format!("A revoked sample is {value}, kept for tests."));
    ann.memdir(&["sync"]).code(1);
    let allow = ann.memdir(&["secrets", "allow", "--reason", "revoked, kept as a sample"]);
    let twin = common.machine("twin");
    twin.memdir(&["secrets", "allow", "--reason", "revoked"]).stdin(&value).ok();
    let entry = fs::read_to_string(twin.sandbox.state().join("config.toml")).unwrap();
    assert!(entry.contains("allow") && !entry.contains(&value), "a hash, not the value: {entry}");
    fs::write(ann.clone.join(".memdir/config.toml"), entry).unwrap();
    let output = ann.memdir(&["sync"]).code(1);
    assert!(output.stderr.contains("config.toml"), "{output}");
    check_none(std::slice::from_ref(&value), &ann.team_folder());
    allow.stdin(&value).ok();
    assert_eq!(ann.memdir(&["sync", "--json"]).ok().json()["pushed"], serde_json::json!(["project-sample"]));
}
