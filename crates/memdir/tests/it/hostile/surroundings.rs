//! Surroundings that lack something: no home, no git, no rights, no vault; input that is too much or too little.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use memdir_testkit::{Output, Sandbox, Tree};

use crate::setup::{
    binary, can_use, editor, history, kept_in, listed_names, memory_file, prose, run_or_give_up, sandbox,
};

const SAVE: [&str; 6] = ["save", "rule", "--type", "project", "--description", "a rule"];

#[test]
fn without_a_home_the_error_says_what_to_set() {
    let sandbox = sandbox();
    for command in [&["list"][..], &SAVE, &["doctor"]] {
        let homeless = sandbox.memdir(command).without_env("HOME").without_env("MEMDIR_HOME").stdin("b");
        let output = homeless.without_env("MEMDIR_VAULT").code(2);
        assert_one_error(&output);
        assert!(output.stderr.contains("HOME"), "{output}");
    }
}

#[test]
fn without_git_on_the_path_everything_works() {
    let sandbox = sandbox();
    let git = Command::new("git").args(["init", "-q"]).current_dir(sandbox.project()).status();
    assert!(git.expect("install git: this test cannot do without").success());
    let without_git =
        |args: &[&str]| sandbox.memdir(args).without_env("MEMDIR_VAULT").env("PATH", "/nonexistent");
    without_git(&SAVE).stdin("No git needed.").ok();
    let output = without_git(&["show", "rule"]).ok();
    assert!(output.stdout.contains("No git needed."), "{output}");
    let with_git = sandbox.memdir(&["show", "rule"]).without_env("MEMDIR_VAULT").ok();
    assert_eq!(with_git.stdout, output.stdout, "the same vault with and without git");
}

#[test]
fn a_read_only_vault_is_an_error_that_names_it_and_reading_works() {
    let sandbox = sandbox();
    sandbox.save("old", "Written before.");
    let before = sandbox.vault_tree();
    let run = |args: &[&str]| read_only(&sandbox, args);
    for command in [&["list"][..], &["show", "old"], &["search", "before"]] {
        let output = run(command);
        assert!(output.is_ok() && output.stdout.contains("old"), "{command:?}\n{output}");
    }
    for command in
        [&SAVE[..], &["edit", "old", "--append", "x"], &["forget", "old", "--yes"], &["rename", "old", "new"]]
    {
        let output = run(command);
        assert_eq!(output.code, 2, "{command:?}\n{output}");
        assert_one_error(&output);
        assert!(output.stderr.contains("vault"), "does not name it\n{output}");
    }
    assert!(matches!(run(&["doctor"]).code, 0 | 1));
    make_writable(&sandbox);
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
    sandbox.memdir(&SAVE).stdin(prose(7)).ok();
    assert_eq!(listed_names(&sandbox), ["old", "rule"], "what was refused has left a trace");
}

#[test]
fn a_vault_that_vanished_is_said_so_and_its_memories_can_be_brought_back() {
    let sandbox = sandbox();
    sandbox.save("first", &prose(1));
    sandbox.save("second", &prose(2));
    let before = sandbox.vault_tree();
    fs::remove_dir_all(sandbox.vault()).unwrap();

    let output = sandbox.memdir(&["show", "first"]).run();
    assert!(matches!(output.code, 1 | 2), "{output}");
    assert_one_error(&output);
    let doctor = sandbox.memdir(&["doctor"]).code(1);
    assert!(doctor.stdout.contains("vault"), "{doctor}");
    let fixed = sandbox.memdir(&["doctor", "--fix"]).run();
    let vanished = history(&sandbox)[0]["change"].as_str().unwrap().to_owned();
    assert!(fixed.stdout.contains(&format!("memdir undo {vanished}")), "says how to get them back\n{fixed}");
    sandbox.memdir(&["undo", &vanished]).ok();
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "the memories are not back");
}

#[test]
fn a_vault_that_vanishes_during_an_edit_loses_neither_version() {
    let sandbox = sandbox();
    sandbox.save("first", &prose(1));
    let script = format!("rm -rf '{}'\necho 'Typed in vain?' >> \"$1\"\n", sandbox.vault().display());
    let output = sandbox.memdir(&["edit", "first"]).env("EDITOR", editor(&sandbox, &script)).run();
    assert!(matches!(output.code, 0..=2), "{output}");
    for text in ["Typed in vain?", &prose(1)] {
        assert!(!kept_in(&sandbox, text).is_empty(), "lost: {text}\n{output}");
    }
    if !output.is_ok() {
        assert_one_error(&output);
    }
}

#[test]
fn a_vault_that_is_a_file_is_an_error_that_names_it() {
    let sandbox = sandbox();
    let file = sandbox.root().join("not-a-directory");
    fs::write(&file, "x").unwrap();
    for command in [&["list"][..], &SAVE] {
        let output = sandbox.memdir(command).env("MEMDIR_VAULT", &file).stdin("b").code(2);
        assert_one_error(&output);
        assert!(output.stderr.contains("not-a-directory"), "{output}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
}

#[test]
fn a_state_directory_that_is_a_file_is_an_error_that_names_it() {
    let sandbox = sandbox();
    fs::write(sandbox.state(), "x").unwrap();
    let output = sandbox.memdir(&SAVE).stdin("b").code(2);
    assert_one_error(&output);
    assert!(output.stderr.contains("state"), "{output}");
    assert_eq!(sandbox.vault_tree().paths().count(), 0, "half a save");
}

#[test]
fn a_body_without_end_is_refused_without_being_swallowed() {
    can_use(&["prlimit"]);
    let sandbox = sandbox();
    for command in [&SAVE[..], &["edit", "old"], &["correct", "old"]] {
        sandbox.save("old", "Short.");
        let mut endless = Command::new("yes").stdout(Stdio::piped()).spawn().unwrap();
        let mut memdir = Command::new("prlimit");
        memdir.arg("--as=268435456").args(["timeout", "-s", "KILL", "120"]).arg(binary()).args(command);
        memdir
            .env("HOME", sandbox.home())
            .env("MEMDIR_HOME", sandbox.state())
            .env("MEMDIR_VAULT", sandbox.vault());
        memdir.env_remove("EDITOR").env_remove("VISUAL");
        let output = memdir.stdin(endless.stdout.take().unwrap()).output().unwrap();
        endless.kill().unwrap();
        endless.wait().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}\n{stderr}");
        assert!(stderr.contains("bytes"), "names the limit\n{stderr}");
        assert!(sandbox.read("old").contains("Short.") && !sandbox.memory("rule").exists());
    }
}

#[test]
fn a_body_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let sandbox = sandbox();
    let line = format!("{}\n", "x".repeat(99));
    sandbox.memdir(&SAVE).stdin(line.repeat(1100)).code(1);
    assert!(!sandbox.memory("rule").exists());
    let output = sandbox.memdir(&SAVE).stdin(line.repeat(1000)).ok();
    assert!(output.stderr.contains("warning"), "100 KB is long, and it says so\n{output}");
}

#[test]
fn without_a_body_the_description_is_the_memory() {
    let sandbox = sandbox();
    for body in ["", "\n", "  \n\t\n"] {
        sandbox.memdir(&SAVE).stdin(body).ok();
        let text = sandbox.read("rule");
        assert!(text.ends_with("---\n\na rule\n"), "{body:?}\n{text}");
        sandbox.memdir(&["forget", "rule", "--yes"]).ok();
    }
}

#[test]
fn a_description_of_several_lines_never_breaks_the_frontmatter() {
    let sandbox = sandbox();
    let descriptions = ["one\ntwo", "one\r\ntype: user", "x\n---\n\nBody", "x\u{2028}y", ""];
    for description in descriptions {
        let save = ["save", "rule", "--type", "project", "--description", description, "--body", "b"];
        let output = sandbox.memdir(&save).run();
        if !output.is_ok() {
            assert!(matches!(output.code, 1 | 2), "{output}");
            assert_one_error(&output);
            assert!(!sandbox.memory("rule").exists());
            continue;
        }
        let list = sandbox.memdir(&["list"]).json();
        assert_eq!(list[0]["type"], "project", "{description:?}\n{}", sandbox.read("rule"));
        let listed = list[0]["description"].as_str().unwrap();
        assert!(!listed.contains('\n'), "{listed:?}");
        sandbox.memdir(&["forget", "rule", "--yes"]).ok();
    }
}

#[test]
fn an_unknown_word_is_an_error_that_lists_the_known_ones() {
    let sandbox = sandbox();
    sandbox.save("old", "Text.");
    let cases: [(&[&str], &[&str]); 6] = [
        (&["save", "x", "--type", "misc", "--description", "d", "--body", "b"], &TYPES),
        (&["new", "--type", "misc", "x"], &TYPES),
        (&["list", "--type", "misc"], &TYPES),
        (&["edit", "old", "--type", "misc"], &TYPES),
        (&["save", "x", "--type", "project", "--scope", "org", "--description", "d", "--body", "b"], &SCOPES),
        (&["edit", "old", "--scope", "org"], &SCOPES),
    ];
    for (command, words) in cases {
        let output = sandbox.memdir(command).code(2);
        for word in words {
            assert!(output.stderr.contains(word), "{word} is not named\n{output}");
        }
    }
    assert_eq!(listed_names(&sandbox), ["old"]);
}

const TYPES: [&str; 4] = ["user", "feedback", "project", "reference"];
const SCOPES: [&str; 2] = ["private", "team"];

#[test]
fn a_user_memory_cannot_be_shared() {
    let sandbox = sandbox();
    let save = ["save", "x", "--type", "user", "--scope", "team", "--description", "d", "--body", "b"];
    let output = sandbox.memdir(&save).run();
    assert!(matches!(output.code, 1 | 2), "{output}");
    assert_eq!(listed_names(&sandbox), [""; 0]);
}

#[test]
fn errors_are_json_when_json_was_asked_for() {
    let sandbox = sandbox();
    let commands: [&[&str]; 5] = [
        &["show", "nothing-here"],
        &["save", "../x", "--type", "project", "--description", "d", "--body", "b"],
        &["save", "x", "--type", "misc", "--description", "d", "--body", "b"],
        &["undo", "nonsense"],
        &["diff", "nonsense"],
    ];
    for command in commands {
        let output = sandbox.memdir(command).args(&["--json"]).run();
        assert!(matches!(output.code, 1 | 2), "{output}");
        let error = output.json();
        assert!(error["error"].is_string() || error["error"].is_object(), "{command:?}\n{output}");
    }
}

#[test]
fn nonsense_arguments_are_errors_and_change_nothing() {
    let sandbox = sandbox();
    sandbox.save("old", "Text.");
    let before = sandbox.vault_tree();
    let commands: [&[&str]; 11] = [
        &["save"],
        &["save", "x"],
        &["save", "x", "--type", "project"],
        &["save", "x", "--type", "project", "--description", "d", "--body", "b", "--expires", "someday"],
        &["save", "x", "--type", "project", "--description", "d", "--body", "b", "--base", "zz"],
        &["edit", "old", "--set", "no-equals-sign"],
        &["rename", "old"],
        &["promote", "old", "--to", "mars"],
        &["completions", "cobol"],
        &["import", "floppy", "."],
        &["nonsense"],
    ];
    for command in commands {
        let output = sandbox.memdir(command).run();
        assert_eq!(output.code, 2, "{command:?}\n{output}");
        assert!(!output.stderr.is_empty() && !output.stderr.contains("panicked"), "{output}");
    }
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
}

#[test]
fn a_moment_that_is_no_time_is_an_error() {
    let sandbox = sandbox();
    let output = sandbox.memdir(&["list"]).at("yesterday").code(2);
    assert!(output.stderr.contains("MEMDIR_NOW"), "{output}");
}

#[test]
fn a_settings_file_that_does_not_parse_is_named_and_stops_nobody() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.state()).unwrap();
    fs::set_permissions(sandbox.state(), PermissionsExt::from_mode(0o700)).unwrap();
    fs::write(sandbox.state().join("config.toml"), "off = [\n").unwrap();
    let output = sandbox.memdir(&SAVE).stdin("b").ok();
    assert!(output.stderr.contains("warning: ") && output.stderr.contains("config.toml"), "{output}");
}

#[test]
fn a_torn_file_of_our_own_stops_nobody() {
    let sandbox = sandbox();
    sandbox.save("old", "Text.");
    sandbox.memdir(&["edit", "old", "--append", "More text."]).ok();
    let (state, vault) = (sandbox.state_tree(), sandbox.vault_tree());
    for path in state.paths().filter(|path| !path.ends_with('/')) {
        let whole = state.get(path).unwrap();
        for torn in [&whole[..whole.len() / 2], b"", b"\xff\0garbage\n"] {
            put_back(&sandbox.state(), &state);
            put_back(&sandbox.vault(), &vault);
            fs::write(sandbox.state().join(path), torn).unwrap();
            for command in
                [&["list"][..], &["show", "old"], &SAVE, &["edit", "old", "--append", "Still works."]]
            {
                let output = run_or_give_up(sandbox.memdir(command).stdin(prose(5)));
                assert!(output.is_ok(), "{path}: {command:?}\n{output}");
            }
            for command in [&["log"][..], &["undo"], &["doctor"]] {
                let output = run_or_give_up(sandbox.memdir(command));
                assert!(matches!(output.code, 0 | 1), "{path}: {command:?}\n{output}");
            }
        }
    }
}

/// Makes a directory what it was when the tree was taken.
fn put_back(directory: &Path, tree: &Tree) {
    fs::remove_dir_all(directory).unwrap();
    let make = |path: &Path| {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o700)).unwrap();
    };
    make(directory);
    for path in tree.paths() {
        match path.strip_suffix('/') {
            Some(folder) => make(&directory.join(folder)),
            None => fs::write(directory.join(path), tree.get(path).unwrap()).unwrap(),
        }
    }
}

/// Runs a command while the vault cannot be written, in the way that holds for root too.
fn read_only(sandbox: &Sandbox, args: &[&str]) -> Output {
    if !can_use(&["unshare", "mount"]) {
        fs::set_permissions(sandbox.vault(), PermissionsExt::from_mode(0o500)).unwrap();
        return sandbox.memdir(args).stdin("b").run();
    }
    // A mount of our own name space: nobody else sees it and nothing has to be undone.
    let script = r#"mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@""#;
    let vault = sandbox.vault();
    let wrapper = ["unshare", "-m", "sh", "-c", script, vault.to_str().unwrap()];
    sandbox.memdir(args).stdin("b").under(&wrapper).run()
}

fn make_writable(sandbox: &Sandbox) {
    fs::set_permissions(sandbox.vault(), PermissionsExt::from_mode(0o700)).unwrap();
}

/// One `error:` line, and whatever hints below it; never a panic.
fn assert_one_error(output: &Output) {
    let errors = output.stderr.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "{output}");
    assert!(!output.stderr.contains("panicked"), "{output}");
}

#[test]
fn a_file_that_others_wrote_is_listed_with_its_own_name() {
    let sandbox = sandbox();
    sandbox.write("User Prefs.md", memory_file("user-prefs", "how they like it", "Short answers."));
    let list = sandbox.memdir(&["list"]).json();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    let output = sandbox.memdir(&["show", "User Prefs"]).ok();
    assert!(output.stdout.contains("Short answers."), "{output}");
}
