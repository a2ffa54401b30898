//! Sentences, assignments and evasions, as people write them (X1), and what only looks so (X2).

use super::samples::fill;
use super::{Draw, rules_found};

/// Says what is found in each text, with values drawn anew.
fn check(texts: &[&str], found: bool) {
    let mut draw = Draw(7);
    let wrong =
        texts.iter().map(|text| fill(text, &mut draw)).filter(|text| rules_found(text).is_empty() == found);
    let wrong: Vec<String> = wrong.collect();
    assert!(
        wrong.is_empty(),
        "should be {}:\n{}",
        if found { "found" } else { "passed over" },
        wrong.join("\n")
    );
}

#[test]
fn x1_assignments_of_every_kind() {
    check(
        &[
            "API_KEY=<{[A-Za-z0-9]{32}}>",
            "export TOKEN='<{[0-9a-f]{40}}>'",
            "let api_key: &str = \"<{[A-Za-z0-9]{32}}>\";",
            "os.environ[\"SECRET_KEY\"] = \"<{[A-Za-z0-9]{40}}>\"",
            "getenv(\"SESSION_KEY\", \"<{[A-Za-z0-9]{40}}>\")",
            ".setPassword(\"<{HUMAN}>\")",
            "{\"client_secret\": \"<{[A-Za-z0-9_-]{40}}>\"}",
            "{\\\"token\\\": \\\"<{[A-Za-z0-9]{40}}>\\\"}",
            "env:\n  - name: API_TOKEN\n    value: <{[A-Za-z0-9]{32}}>",
            "api_token: >-\n  <{[A-Za-z0-9]{40}}>",
            "<property name=\"password\" value=\"<{HUMAN}>\"/>",
            "<password><{HUMAN}></password>",
            "variable \"db_password\" {\n  default = \"<{HUMAN}>\"\n}",
            "ENV DB_PASSWORD=<{HUMAN}>",
            "user=sa;password=<{HUMAN}>;",
            "pw: <{HUMAN}>!",
        ],
        true,
    );
}

#[test]
fn x1_sentences_in_three_languages() {
    check(
        &[
            "the deploy password is <{HUMAN}>!",
            "password for grafana was changed to <{HUMAN}> on Monday",
            "use <{HUMAN}> as the password for the admin account",
            "<{HUMAN}> is the password for the printer",
            "the shared secret we agreed with Acme is <{[A-Za-z0-9]{24}}>",
            "For the API key we use <{[A-Za-z0-9]{32}}> until May.",
            "Our auth token (<{[0-9a-f]{40}}>) expires in June.",
            "das Passwort lautet <{HUMAN}>",
            "Das Root-Passwort wurde auf <{HUMAN}>$ geändert",
            "Der API-Schlüssel für die Wetterdaten ist <{[0-9a-f]{32}}>.",
            "비밀번호는 <{HUMAN}> 입니다",
            "비밀번호는<{HUMAN}>입니다",
            "API 키는 <{[A-Za-z0-9]{32}}>이고 만료는 6월입니다",
        ],
        true,
    );
}

#[test]
fn x1_tables_and_frontmatter() {
    check(
        &[
            "| env | api key |\n| --- | --- |\n| prod | <{[0-9a-f]{32}}> |\n",
            "| user | password |\n|---|---|\n| admin | <{HUMAN}> |",
            "| **API token** | `<{[A-Za-z0-9]{32}}>` |",
            "---\nname: x\ndescription: the token is <{[0-9a-f]{40}}>\n---\n",
        ],
        true,
    );
}

#[test]
fn x1_evasions_are_seen_through() {
    check(
        &[
            "token: ghp_<{[A-Za-z0-9]{9}}>\n<{[A-Za-z0-9]{27}}>",
            "T = \"ghp_<{[A-Za-z0-9]{9}}>\" +\n    \"<{[A-Za-z0-9]{27}}>\"",
            "T = \"ghp_\" \"<{[A-Za-z0-9]{36}}>\"",
            "T=ghp_<{[A-Za-z0-9]{9}}>\\\n<{[A-Za-z0-9]{27}}>",
            "gh\u{200b}p_<{[A-Za-z0-9]{36}}>",
            "sk_li\u{ad}ve_<{[A-Za-z0-9]{24}}>",
            "%67%68%70_<{[A-Za-z0-9]{36}}>",
            "&#103;hp_<{[A-Za-z0-9]{36}}>",
            "\\u0067hp_<{[A-Za-z0-9]{36}}>",
            "ｇｈｐ＿<{[A-Za-z0-9]{36}}>",
        ],
        true,
    );
    let token = Draw(9).text("ghp_[A-Za-z0-9]{36}");
    let hex: String = token.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(rules_found(&format!("in hex {hex}")), ["github-pat"]);
    assert_eq!(rules_found(&format!("encoded {}", base64(token.as_bytes()))), ["github-pat"]);
    assert_eq!(
        rules_found(&format!("twice {}", base64(base64(token.as_bytes()).as_bytes()))),
        ["github-pat"]
    );
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for n in 0..=chunk.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * n)) as usize & 63]));
        }
    }
    text
}

#[test]
fn x1_neighbours_and_far_places() {
    check(
        &["키는<{AKIA[A-Z2-7]{16}}>입니다", "「<{glpat-[A-Za-z0-9]{20}}>」", ",<{ghp_[A-Za-z0-9]{36}}>,"],
        true,
    );
    let token = Draw(3).text("ghp_[A-Za-z0-9]{36}");
    let far = format!("{}{token}", "Lorem ipsum dolor. ".repeat(4_000));
    let findings = super::Scanner::builtin().scan(far.as_bytes());
    assert_eq!(&far[findings[0].start..findings[0].end], token);
}

/// A secret beside its name in quotes is still found, also where it has dashes.
#[test]
fn x1_arguments_beside_a_name() {
    check(
        &[
            "login(\"password\", \"tiger-lamp-42\")",
            "set('db-password', '<{[A-Za-z0-9]{20}}>')",
            "put(\"wifi-passphrase\", \"<{HUMAN}>!\")",
        ],
        true,
    );
}

#[test]
fn x2_placeholders_are_no_secrets() {
    let values = [
        "<token>",
        "${VAR}",
        "{{ x }}",
        "xxxxxxxxxxxx",
        "********",
        "…",
        "your-api-key",
        "changeme",
        "example",
        "null",
        "true",
        "\"\"",
        "[REDACTED:github-pat]",
        "os.environ[\"X\"]",
        "process.env.X",
        "secrets.X",
        "vault:kv/x#y",
        "%API_KEY%",
        "1234567890",
        "my-secret-token",
        "securePassword123",
        "TODO",
        "$(pass show x)",
        "REPLACE_ME",
    ];
    let texts: Vec<String> = values
        .iter()
        .flat_map(|value| {
            [format!("password: {value}"), format!("API_KEY={value}"), format!("the token is {value}")]
        })
        .collect();
    check(&texts.iter().map(String::as_str).collect::<Vec<_>>(), false);
}

#[test]
fn x2_what_only_sounds_secret_is_passed_over() {
    check(
        &[
            "the password is required",
            "password is stored hashed with argon2id",
            "token is refreshed hourly",
            "the secret is to practise",
            "The token is base64-encoded JSON.",
            "The API key is in 1Password under `acme-prod`.",
            "Das Passwort muss mindestens 12 Zeichen lang sein.",
            "비밀번호는 최소 8자 이상이어야 합니다",
            "the cache key is <{[0-9a-f]{32}}>",
            "Fixed in commit <{[0-9a-f]{40}}>.",
            "the token service runs commit <{[0-9a-f]{40}}>",
            "\"integrity\": \"sha512-<{[A-Za-z0-9+/]{86}}>==\"",
            "tenant_id = \"<{[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}}>\"",
            "public key ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<{[A-Za-z0-9+/]{43}}> ben@host",
            "password_field = driver.find_element(By.ID, 'password')",
            "max_tokens=4096",
            "const token = process.env.GITHUB_TOKEN;",
            "password: { type: String, required: true }",
            "postgres://postgres:postgres@localhost:5432/postgres",
            "-----BEGIN CERTIFICATE-----\n<{[A-Za-z0-9+/]{64}}>\n-----END CERTIFICATE-----",
            "pass `debug=True` to `asyncio.run()`",
            "the token vocabulary (vocabulary.bin) and its table of 30,522 rows",
            "| token vocabulary (`vocabulary.bin`) | from google-bert/bert-base-uncased-v1.0 | Apache-2.0 |",
            "[\"feedback-passphrase\", \"project-freeze-2026\"]",
            "names = ['reference-wifi-passphrase','project-lamp-1']",
            "\"Token refresh behind a queue\"\\nended: 2026-04-02T10:31:00Z\\n---\\n\\n## Summary",
        ],
        false,
    );
}

/// TS-05: one of each family that must not reach a team.
#[test]
fn ts05_every_family_is_known() {
    check(
        &[
            "AKIA<{[A-Z2-7]{16}}>",
            "AIza<{[A-Za-z0-9_-]{35}}>",
            "sk-ant-api03-<{[A-Za-z0-9_-]{93}}>AA",
            "sk-proj-<{[A-Za-z0-9_-]{80}}>",
            "hf_<{[A-Za-z0-9]{34}}>",
            "glpat-<{[A-Za-z0-9_-]{20}}>",
            "xoxb-<{[1-9][0-9]{11}-[1-9][0-9]{11}-[A-Za-z0-9]{24}}>",
            "sk_live_<{[A-Za-z0-9]{24}}>",
            "npm_<{[A-Za-z0-9]{36}}>",
            "-----BEGIN EC PRIVATE <{KEY-----\\n[A-Za-z0-9+/]{64}\\n[A-Za-z0-9+/]{64}\\n-----END EC PRIVATE KEY}>-----",
        ],
        true,
    );
}
