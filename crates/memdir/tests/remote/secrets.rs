//! X4: what is a secret does not get onto the wire, in no encoding.

use std::fs;
use std::io::Read;

use crate::world::{Machine, Server};

/// The bodies of all requests, unpacked where they are packed, besides all bytes as they went.
fn everything_sent(recorded: &[u8]) -> Vec<u8> {
    let mut all = recorded.to_vec();
    let magic = [0x1f, 0x8b, 0x08];
    for at in 0..recorded.len().saturating_sub(magic.len()) {
        if recorded[at..].starts_with(&magic) {
            let mut unpacked = Vec::new();
            let _ = flate2::read::GzDecoder::new(&recorded[at..]).read_to_end(&mut unpacked);
            all.extend_from_slice(&unpacked);
        }
    }
    all
}

/// A value in the ways that it may be written.
fn spellings(value: &str) -> Vec<String> {
    let base64 = |text: &str| {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let group = |bytes: &[u8]| {
            let word = bytes.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
            [18, 12, 6, 0].map(|shift| char::from(DIGITS[(word >> shift & 63) as usize]))
        };
        text.as_bytes().chunks_exact(3).flat_map(group).collect::<String>()
    };
    let percent = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let escaped = value.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
    let hex = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    // Whatever comes before it, one of three shifts is that of the base64 of the whole.
    let shifted = (0..3).map(|shift| base64(&value[shift..]));
    [value.to_owned(), percent, escaped, hex].into_iter().chain(shifted).collect()
}

/// X4.
#[test]
fn x4_of_200_memories_the_50_with_a_secret_stay_and_the_others_arrive() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    ann.save("project-first", "the vault is there from here on, and has one memory");
    let vault = ann.vault();
    let mut values = Vec::new();
    for n in 0..199 {
        let mut body =
            format!("what is to be known about berth {n}, told at length for whoever ties up there");
        if n < 50 {
            let value = format!("ghp_{}{n:04}", "R4nd0mK3yMaterialForTestUse1234xQ9");
            let value = &value[..40];
            body = format!("{body}\n\nthe token of the robot is {value}");
            values.push(value.to_owned());
        }
        let text = format!(
            "---\nname: project-berth-{n}\ndescription: berth {n}\ntype: project\nscope: team\n---\n\n{body}\n"
        );
        fs::write(vault.join(format!("project-berth-{n}.md")), text).unwrap();
    }
    server.proxy.forget();
    let report = ann.memdir(&["sync", "--json"]).code(1).json();
    assert_eq!(report["pushed"].as_array().unwrap().len(), 150, "{}", report["refused"]);
    let refused = report["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 50);
    for refused in refused {
        assert!(refused["rule"].as_str().unwrap().starts_with("secret:"), "{refused}");
        assert!(refused["name"].as_str().unwrap().starts_with("project-berth-"), "{refused}");
    }
    let sent = everything_sent(&server.proxy.up());
    let has = |needle: &str| sent.windows(needle.len()).any(|window| window == needle.as_bytes());
    assert!(has("what is to be known about berth 199") || has("about berth 198"), "it was unpacked");
    for value in &values {
        for spelling in spellings(value) {
            assert!(!has(&spelling), "{spelling}");
        }
    }
    let told = report.to_string();
    assert!(!values.iter().any(|value| told.contains(value.as_str())));
    let search = ann.memdir(&["team", "members", "--json"]).ok().json();
    assert_eq!(search[0]["memories"], 150);
}
