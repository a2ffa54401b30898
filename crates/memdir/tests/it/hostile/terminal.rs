//! Characters that command a terminal or deceive a reader never reach either as they are.

use memdir_testkit::Sandbox;

use crate::setup::{run_or_give_up, sandbox};

/// Clears the screen, writes the clipboard, rings, returns the carriage, and the one-byte forms of the same.
const COMMANDS: &str = "\u{1b}[2J\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}31m\u{90}x\u{9c}\rspoof\u{8}\u{7f}";
/// Reorders, hides and smuggles text.
const DECEPTIONS: &str = "\u{202e}txet\u{202c}\u{2066}x\u{2069}\u{200b}\u{200f}\u{e0041}\u{e0042}";
/// England, Scotland and Wales are spelled with tag characters, and legally so.
const SCOTLAND: &str = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";

/// S11.
#[test]
fn no_command_prints_what_commands_a_terminal() {
    let sandbox = sandbox();
    plant(&sandbox, COMMANDS);
    for command in reading_commands() {
        for more in [&[][..], &["--json"]] {
            let command = [&command[..], more].concat();
            let output = run_or_give_up(sandbox.memdir(&command));
            assert_harmless(&output.stdout, &command);
            assert_harmless(&output.stderr, &command);
        }
    }
}

/// S11.
#[test]
fn no_error_prints_what_commands_a_terminal() {
    let sandbox = sandbox();
    sandbox.save("good", "Text.");
    let commands: [&[&str]; 9] = [
        &["show", COMMANDS],
        &["save", COMMANDS, "--type", "project", "--description", "d", "--body", "b"],
        &["save", "x", "--type", COMMANDS, "--description", "d", "--body", "b"],
        &["rename", "good", COMMANDS],
        &["search", COMMANDS],
        &["undo", COMMANDS],
        &["diff", COMMANDS],
        &["import", COMMANDS, "."],
        &[COMMANDS],
    ];
    for command in commands {
        let output = run_or_give_up(sandbox.memdir(command));
        assert_ne!(output.code, 0, "{command:?}\n{output}");
        assert_harmless(&output.stdout, command);
        assert_harmless(&output.stderr, command);
    }
    let path = sandbox.root().join(format!("no{COMMANDS}where"));
    let output = run_or_give_up(sandbox.memdir(&["list"]).env("MEMDIR_VAULT", path));
    assert_harmless(&output.stdout, &["list in a hostile directory"]);
    assert_harmless(&output.stderr, &["list in a hostile directory"]);
}

/// S11.
#[test]
fn a_saved_description_and_body_come_back_without_commands() {
    let sandbox = sandbox();
    let save = ["save", "loud", "--type", "project", "--description", "rings \u{7} and \u{1b}[31mshouts"];
    sandbox.memdir(&save).stdin(format!("Body {COMMANDS} end.")).run();
    sandbox.memdir(&["edit", "loud", "--append", COMMANDS]).run();
    let newest = sandbox.memdir(&["log"]).json();
    let change = newest[0]["change"].as_str().unwrap_or("none").to_owned();
    for command in
        [&["list"][..], &["show", "loud"], &["log"], &["log", "loud"], &["diff", &change], &["doctor"]]
    {
        let output = run_or_give_up(sandbox.memdir(command));
        assert_harmless(&output.stdout, command);
        assert_harmless(&output.stderr, command);
    }
    assert_harmless(&sandbox.index_page(), &["MEMORY.md"]);
}

/// S11.
#[test]
fn text_that_deceives_is_escaped_in_lists_and_reported_by_doctor() {
    let sandbox = sandbox();
    plant(&sandbox, DECEPTIONS);
    for command in [&["list"][..], &["doctor"], &["search", "deceptive"], &["log"]] {
        let output = run_or_give_up(sandbox.memdir(command));
        let raw =
            output.stdout.chars().find(|c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
        assert_eq!(raw, None, "{command:?}\n{output}");
    }
    let doctor = run_or_give_up(sandbox.memdir(&["doctor"]));
    assert!(doctor.stdout.contains("planted-raw.md") && doctor.stdout.contains("u{202e}"), "{doctor}");
}

/// S11.
#[test]
fn the_flag_of_scotland_passes() {
    let sandbox = sandbox();
    let description = format!("who hosts the meeting {SCOTLAND}");
    let save = sandbox.memdir(&["save", "hosts", "--type", "reference", "--description", &description]);
    save.stdin(format!("Glasgow {SCOTLAND} this year.")).ok();
    for command in [&["list"][..], &["show", "hosts"], &["search", "meeting"]] {
        let output = sandbox.memdir(command).ok();
        assert!(output.stdout.contains(SCOTLAND), "{command:?}\n{output}");
    }
    let doctor = sandbox.memdir(&["doctor"]).run();
    assert!(!doctor.stdout.contains("hosts"), "an honest flag is reported\n{doctor}");
}

/// Puts the text into every field a person may see: name, description, body, tag, file name, index page.
fn plant(sandbox: &Sandbox, text: &str) {
    let quoted = text.escape_unicode().to_string().replace("\\u{", "\\U{").to_owned();
    // YAML's `\UXXXXXXXX` has eight digits and no braces.
    let escaped: String =
        quoted.split("\\U{").skip(1).map(|c| format!("\\U{:0>8}", c.trim_end_matches('}'))).collect();
    let file = |raw: &str| {
        format!(
            "---\nname: \"planted{raw}\"\ndescription: \"deceptive {raw}\"\ntype: project\nmetadata:\n  tags:\n    - \"t{raw}\"\n---\n\nBody deceptive {text}\n"
        )
    };
    sandbox.write("planted.md", file(&escaped));
    sandbox.write("planted-raw.md", file(text));
    sandbox.write(&format!("planted-{}.md", text.replace('/', "")), file(text));
    sandbox.write(
        "MEMORY.md",
        format!("# Memory Index\n- [planted {text}](planted.md) — hook {text}\n{text}\n"),
    );
    sandbox.memdir(&["edit", "planted", "--append", text]).run();
}

fn reading_commands() -> Vec<Vec<&'static str>> {
    let commands: [&[&str]; 12] = [
        &["list"],
        &["manifest"],
        &["show", "planted"],
        &["show", "planted-raw"],
        &["search", "deceptive"],
        &["search", "planted"],
        &["links", "planted"],
        &["log"],
        &["log", "planted"],
        &["doctor"],
        &["forget", "planted-raw", "--yes"],
        &["doctor", "--fix"],
    ];
    commands.map(<[_]>::to_vec).to_vec()
}

/// Demands text without control characters other than the end of a line and the tab.
fn assert_harmless(text: &str, command: &[&str]) {
    let control = text.chars().find(|&c| c.is_control() && c != '\n' && c != '\t');
    assert_eq!(control, None, "{command:?} prints it raw: {text:?}");
}
