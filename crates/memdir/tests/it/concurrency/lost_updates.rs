//! Many processes of ours at once: every acknowledged save, append and edit is there afterwards.

use memdir_testkit::{Invocation, Output, Sandbox};

use crate::setup::{
    assert_all_ok, binary, editor, history, index_entries, listed_names, prose, repeat, sandbox, storm,
    strings_at,
};

const WORKERS: usize = 8;
const TURNS: usize = 50;

/// K1.
#[test]
fn eight_processes_save_fifty_memories_each_and_all_four_hundred_are_there() {
    for _ in 0..repeat(1) {
        let sandbox = sandbox();
        assert_all_ok(&storm(WORKERS, TURNS, |worker, turn| save_distinct(&sandbox, worker, turn)));

        assert_eq!(listed_names(&sandbox), all_names());
        for (number, name) in all_names().iter().enumerate() {
            assert!(sandbox.read(name).contains(&prose(number)), "{name}");
        }
        assert_eq!(history(&sandbox).len(), WORKERS * TURNS);
        assert_page_accounts_for_all(&sandbox);
    }
}

/// K1, format conformance 7.
#[test]
fn eight_processes_change_descriptions_and_the_index_page_shows_every_change() {
    let sandbox = sandbox();
    for worker in 0..WORKERS {
        sandbox.save(&format!("shown-{worker}"), &prose(worker));
    }
    let turns = 20;
    assert_all_ok(&storm(WORKERS, turns, |worker, turn| {
        let (name, description) = (format!("shown-{worker}"), format!("version {turn} of {worker}"));
        sandbox.memdir(&["edit", &name, "--description", &description]).run()
    }));
    let page = sandbox.index_page();
    for worker in 0..WORKERS {
        let hook = format!("version {} of {worker}", turns - 1);
        assert!(page.contains(&hook), "{hook}\n{page}");
    }
    assert_eq!(history(&sandbox).len(), WORKERS + WORKERS * turns);
}

/// K1.
#[test]
fn eight_processes_append_fifty_lines_each_to_one_memory_and_all_are_there() {
    for _ in 0..repeat(1) {
        let sandbox = sandbox();
        sandbox.save("shared", "Lines from everybody.");
        assert_all_ok(&storm(WORKERS, TURNS, |worker, turn| {
            sandbox.memdir(&["edit", "shared", "--append", &line(worker, turn)]).run()
        }));
        assert_every_line_once(&sandbox);
    }
}

/// K1.
#[test]
fn eight_editors_add_fifty_lines_each_to_one_memory_and_all_are_there() {
    for _ in 0..repeat(1) {
        let sandbox = sandbox();
        sandbox.save("shared", "Lines from everybody.");
        let editor = editor(&sandbox, "echo \"$LINE\" >> \"$1\"\n");
        assert_all_ok(&storm(WORKERS, TURNS, |worker, turn| {
            let edit = sandbox.memdir(&["edit", "shared"]).env("EDITOR", &editor);
            edit.env("LINE", line(worker, turn)).run()
        }));
        assert_every_line_once(&sandbox);
    }
}

/// K1.
#[test]
fn an_edit_that_cannot_be_merged_keeps_both_versions_and_says_where() {
    let sandbox = sandbox();
    sandbox.save("rule", "Deploy with Ansible.");
    let late = edit_while(&sandbox, "Deploy with Puppet.", "s/Ansible/Salt/").code(1);

    assert!(sandbox.read("rule").contains("Puppet"), "the live version was overwritten");
    let aside = sandbox.state_tree().without(|path| !path.contains("/conflicts/"));
    let [path] = aside.containing(b"Deploy with Salt.")[..] else { panic!("{aside:?}\n{late}") };
    let file_name = path.rsplit('/').next().unwrap();
    assert!(late.stderr.contains(file_name), "does not say where: {file_name}\n{late}");
    let doctor = sandbox.memdir(&["doctor"]).code(1);
    assert!(doctor.stdout.contains(file_name), "{doctor}");
}

/// K1.
#[test]
fn disjoint_edits_of_one_base_are_merged() {
    let sandbox = sandbox();
    sandbox.save("rule", "First line.\n\nMiddle line.\n\nLast line.");
    let meanwhile = "First line, changed.\n\nMiddle line.\n\nLast line.";
    edit_while(&sandbox, meanwhile, "s/Last line/Last line, changed/").ok();
    let text = sandbox.read("rule");
    assert!(text.contains("First line, changed.") && text.contains("Last line, changed."), "{text}");
}

/// K1.
#[test]
fn a_base_that_is_no_longer_live_refuses_the_write_with_a_hint_to_read_again() {
    let sandbox = sandbox();
    sandbox.save("rule", "Deploy with Ansible.");
    let save = ["save", "rule", "--type", "project", "--description", "when to deploy"];
    let base = sandbox.memdir(&save).stdin("Deploy with Chef.").json()["hash"].as_str().unwrap().to_owned();
    sandbox.memdir(&["edit", "rule", "--body", "Deploy with Puppet."]).ok();
    let before = sandbox.vault_tree();
    for command in [&["edit", "rule"][..], &save] {
        let late = sandbox.memdir(command).args(&["--body", "Deploy with Salt.", "--base", &base]).code(1);
        assert!(late.stderr.contains("memdir show rule"), "{late}");
    }
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
    let now = memdir_core::hash::ContentHash::of(sandbox.read("rule").as_bytes()).to_string();
    sandbox.memdir(&["edit", "rule", "--body", "Deploy with Salt.", "--base", &now]).ok();
}

/// An edit by an editor in which `script` (of sed) is done after somebody else has made `body` the memory's body.
fn edit_while(sandbox: &Sandbox, body: &str, script: &str) -> Invocation {
    let editor = editor(sandbox, "\"$MEMDIR\" edit rule --body \"$BODY\" >&2 && sed -i \"$SCRIPT\" \"$1\"\n");
    let edit = sandbox.memdir(&["edit", "rule"]).env("EDITOR", &editor).env("MEMDIR", binary());
    edit.env("BODY", body).env("SCRIPT", script)
}

fn save_distinct(sandbox: &Sandbox, worker: usize, turn: usize) -> Output {
    let (number, name) = (worker * TURNS + turn, name(worker, turn));
    let description = format!("{} {}", &prose(number)[..26], name);
    let save = sandbox.memdir(&["save", &name, "--type", "reference", "--description", &description]);
    save.stdin(prose(number)).run()
}

fn name(worker: usize, turn: usize) -> String {
    format!("note-{worker}-{turn:02}")
}

/// Every name of the storm, sorted, which is also the order of their numbers.
fn all_names() -> Vec<String> {
    (0..WORKERS).flat_map(|worker| (0..TURNS).map(move |turn| name(worker, turn))).collect()
}

fn line(worker: usize, turn: usize) -> String {
    format!("line {worker}.{turn}.")
}

fn assert_every_line_once(sandbox: &Sandbox) {
    let text = sandbox.read("shared");
    for worker in 0..WORKERS {
        let found: Vec<usize> = (0..TURNS).map(|turn| text.matches(&line(worker, turn)).count()).collect();
        assert_eq!(found, [1; TURNS], "worker {worker}\n{text}");
    }
    assert_eq!(history(sandbox).len(), 1 + WORKERS * TURNS, "one change for each acknowledged command");
}

/// The page has a limit of lines; what does not fit is counted on it.
fn assert_page_accounts_for_all(sandbox: &Sandbox) {
    let (mut entries, more) = index_entries(&sandbox.index_page());
    assert_eq!(entries.len() + more, WORKERS * TURNS);
    entries.sort();
    let total = entries.len();
    entries.dedup();
    assert_eq!(entries.len(), total, "an entry stands twice on the page");
    let known = strings_at(&sandbox.memdir(&["list"]).json(), "name");
    for entry in entries {
        let name = entry.strip_suffix(".md").unwrap();
        assert!(known.iter().any(|known| known == name), "the page points to nothing: {entry}");
    }
}
