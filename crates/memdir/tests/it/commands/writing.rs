//! `save`, `new`, `edit`, `rename`, `correct`, `supersede`, `promote`, `forget`: what they write and what they say.

use expect_test::expect;

use super::{TESTING, furnished, shown, transcript};
use crate::setup::{editor, listed_names, sandbox};

const SAVE: [&str; 6] =
    ["save", "feedback-testing", "--type", "feedback", "--description", "Tests: use a \"real\" DB #412"];

#[test]
fn save_prints_the_path_and_writes_the_format() {
    let sandbox = sandbox();
    expect![[r#"
        $ROOT/vault/feedback-testing.md
        --- stderr
        warning: `last quarter` is now 2026-Q1 (2026-01-01 to 2026-03-31)
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&SAVE).stdin(TESTING)));
    expect![[r#"
        ---
        name: feedback-testing
        description: "Tests: use a \"real\" DB #412"
        type: feedback
        metadata:
          created: 2026-04-02T10:30:00Z
          modified: 2026-04-02T10:30:00Z
          provenance: user
        ---

        Integration tests must run against a real database, never mocks.

        **Why:** 2026-Q1 (2026-01-01 to 2026-03-31) mocked tests passed while the production migration failed.

        **How to apply:** use the compose `db` service; see [[project-migration-freeze]].
    "#]]
    .assert_eq(&sandbox.read("feedback-testing"));
    expect![[r##"
        # Memory Index
        <!-- memdir:index v1 managed; lines outside begin/end are yours -->
        <!-- memdir:begin -->
        - [Testing](feedback-testing.md) — Tests: use a "real" DB #412
        <!-- memdir:end -->
    "##]]
    .assert_eq(&sandbox.index_page());
}

#[test]
fn save_takes_every_flag_into_the_file() {
    let sandbox = sandbox();
    let flags = [
        "--scope",
        "team",
        "--tag",
        "testing",
        "--tag",
        "db",
        "--kind",
        "standard",
        "--expires",
        "2026-12-31",
        "--pin",
        "--session",
        "5da15695",
        "--provenance",
        "user",
        "--reason",
        "said in review",
        "--body",
        TESTING,
    ];
    sandbox.memdir(&SAVE).args(&flags).ok();
    expect![[r#"
        ---
        name: feedback-testing
        description: "Tests: use a \"real\" DB #412"
        type: feedback
        metadata:
          scope: team
          kind: standard
          created: 2026-04-02T10:30:00Z
          modified: 2026-04-02T10:30:00Z
          originSessionId: 5da15695
          provenance: user
          expires: 2026-12-31
          pinned: true
          tags:
            - testing
            - db
        ---

        Integration tests must run against a real database, never mocks.

        **Why:** 2026-Q1 (2026-01-01 to 2026-03-31) mocked tests passed while the production migration failed.

        **How to apply:** use the compose `db` service; see [[project-migration-freeze]].
    "#]]
    .assert_eq(&sandbox.read("feedback-testing"));
}

#[test]
fn save_over_a_memory_keeps_its_layout_and_unknown_keys() {
    let sandbox = sandbox();
    let nested = "---\nname: rule\ndescription: old\nmetadata: \n  node_type: memory\n  type: project\n  ticket: X-1\n---\n\nOld text.\n";
    sandbox.write("rule.md", nested);
    sandbox
        .memdir(&["save", "rule", "--type", "project", "--description", "new", "--body", "New text."])
        .ok();
    expect![[r#"
        ---
        name: rule
        description: new
        metadata: 
          node_type: memory
          type: project
          ticket: X-1
          modified: 2026-04-02T10:30:00Z
        ---

        New text.
    "#]]
    .assert_eq(&sandbox.read("rule"));
}

#[test]
fn saving_the_same_again_changes_nothing() {
    let sandbox = sandbox();
    sandbox.memdir(&SAVE).stdin(TESTING).ok();
    let before = sandbox.vault_tree();
    expect![[r#"
        $ROOT/vault/feedback-testing.md
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&SAVE).stdin(TESTING).at("2026-04-05T00:00:00Z")));
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
}

#[test]
fn saving_nearly_the_same_under_another_name_is_refused_with_the_update() {
    let sandbox = sandbox();
    sandbox.memdir(&SAVE).stdin(TESTING).ok();
    let twin =
        ["save", "feedback-tests-db", "--type", "feedback", "--description", "Tests: use a \"real\" DB #412"];
    expect![[r#"
        --- stderr
        error: refused: memory `feedback-testing` says nearly the same (100 %)

        hint: update it: memdir edit feedback-testing
        hint: `--force REASON` saves it all the same and keeps the reason
        --- exit code 1
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&twin).stdin(TESTING)));
    let forced = ["--force", "it is about another suite"];
    sandbox.memdir(&twin).args(&forced).stdin(TESTING).ok();
    assert_eq!(listed_names(&sandbox), ["feedback-testing", "feedback-tests-db"]);
    let log = sandbox.memdir(&["log", "--limit", "1"]).json().to_string();
    assert!(log.contains("it is about another suite"), "a forced save is recorded: {log}");
}

#[test]
fn a_long_body_is_saved_with_a_warning() {
    let sandbox = sandbox();
    let body = format!("{TESTING}\n{}", "One more sentence about it. ".repeat(200));
    expect![[r#"
        $ROOT/vault/feedback-testing.md
        --- stderr
        warning: the body has 5854 bytes: memories work best below 4096, consider a split
        warning: `last quarter` is now 2026-Q1 (2026-01-01 to 2026-03-31)
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&SAVE).stdin(body)));
}

#[test]
fn feedback_without_a_why_is_saved_with_a_warning() {
    let sandbox = sandbox();
    expect![[r#"
        $ROOT/vault/feedback-testing.md
        --- stderr
        warning: a feedback memory says why: add `**Why:**`
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&SAVE).stdin("Never mock the database.")));
}

#[test]
fn new_writes_the_template_of_each_type() {
    let sandbox = sandbox();
    for kind in ["user", "feedback", "project", "reference"] {
        sandbox.memdir(&["new", "--type", kind, &format!("{kind}-fresh")]).ok();
    }
    expect![[r#"
        ---
        name: feedback-fresh
        description: one line that says when this memory matters
        type: feedback
        metadata:
          created: 2026-04-02T10:30:00Z
          modified: 2026-04-02T10:30:00Z
          provenance: user
        ---

        What to do or not to do.

        **Why:** what went wrong or right.

        **How to apply:** when and where it counts.
    "#]]
    .assert_eq(&sandbox.read("feedback-fresh"));
    expect![[r#"
        ---
        name: reference-fresh
        description: one line that says when this memory matters
        type: reference
        metadata:
          created: 2026-04-02T10:30:00Z
          modified: 2026-04-02T10:30:00Z
          provenance: user
        ---

        Where to look, and for what.
    "#]]
    .assert_eq(&sandbox.read("reference-fresh"));
}

#[test]
fn edit_by_flags_changes_what_they_name() {
    let sandbox = furnished();
    let flags = [
        "--append",
        "One more line.",
        "--description",
        "Real database, always",
        "--tag",
        "db",
        "--set",
        "confidence=high",
    ];
    expect![[r#"
        $ROOT/vault/feedback-testing.md
    "#]]
    .assert_eq(&transcript(&sandbox, sandbox.memdir(&["edit", "feedback-testing"]).args(&flags)));
    expect![[r#"
        ---
        name: feedback-testing
        description: Real database, always
        type: feedback
        metadata:
          created: 2026-04-01T10:30:00Z
          modified: 2026-04-02T10:30:00Z
          provenance: user
          tags:
            - db
          confidence: high
        ---

        Integration tests must run against a real database, never mocks.

        **Why:** 2026-Q1 (2026-01-01 to 2026-03-31) mocked tests passed while the production migration failed.

        **How to apply:** use the compose `db` service; see [[project-migration-freeze]].
        One more line.
    "#]]
    .assert_eq(&sandbox.read("feedback-testing"));

    let flags = ["--untag", "db", "--unset", "confidence", "--type", "project", "--scope", "team"];
    sandbox.memdir(&["edit", "feedback-testing"]).args(&flags).ok();
    expect![[r#"
        ---
        name: feedback-testing
        description: Real database, always
        type: project
        metadata:
          created: 2026-04-01T10:30:00Z
          modified: 2026-04-02T10:30:00Z
          provenance: user
          scope: team
        ---

        Integration tests must run against a real database, never mocks.

        **Why:** 2026-Q1 (2026-01-01 to 2026-03-31) mocked tests passed while the production migration failed.

        **How to apply:** use the compose `db` service; see [[project-migration-freeze]].
        One more line.
    "#]]
    .assert_eq(&sandbox.read("feedback-testing"));
}

#[test]
fn edit_opens_the_editor_and_visual_comes_first() {
    let sandbox = furnished();
    let visual = editor(&sandbox, "sed -i 's/never mocks/no mocks/' \"$1\"\n");
    sandbox.memdir(&["edit", "feedback-testing"]).env("VISUAL", visual).env("EDITOR", "false").ok();
    assert!(sandbox.read("feedback-testing").contains("a real database, no mocks."));
}

#[test]
fn an_editor_that_changes_nothing_or_fails_changes_nothing() {
    let sandbox = furnished();
    let before = sandbox.vault_tree();
    sandbox.memdir(&["edit", "feedback-testing"]).env("EDITOR", "true").ok();
    let failed = transcript(&sandbox, sandbox.memdir(&["edit", "feedback-testing"]).env("EDITOR", "false"));
    assert!(failed.contains("error: ") && failed.contains("exit code 2"), "{failed}");
    let missing = sandbox.memdir(&["edit", "feedback-testing"]).env("EDITOR", "/no/such/editor").code(2);
    assert!(missing.stderr.contains("/no/such/editor"), "{missing}");
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
}

#[test]
fn edit_without_an_editor_takes_the_body_from_standard_input() {
    let sandbox = furnished();
    sandbox.memdir(&["edit", "feedback-testing"]).stdin("A new body.\n").ok();
    let text = sandbox.read("feedback-testing");
    assert!(text.ends_with("\n\nA new body.\n") && text.contains("Integration tests use"), "{text}");
}

#[test]
fn edit_of_nothing_suggests_the_nearest_name() {
    expect![[r#"
        --- stderr
        error: no memory `feedback-tests`

        hint: `memdir list` shows what there is, `memdir search WORDS` looks for it
        --- exit code 1
    "#]]
    .assert_eq(&shown(&furnished(), &["edit", "feedback-tests", "--append", "x"]));
}

#[test]
fn rename_moves_the_file_and_rewrites_the_links() {
    let sandbox = furnished();
    expect![[r#"
        $ROOT/vault/project-release-freeze.md
        --- stderr
        links mended in 1 other memories
    "#]]
    .assert_eq(&shown(&sandbox, &["rename", "project-migration-freeze", "project-release-freeze"]));
    assert!(!sandbox.memory("project-migration-freeze").exists());
    assert!(sandbox.read("project-release-freeze").contains("name: project-release-freeze"));
    assert!(sandbox.read("feedback-testing").contains("[[project-release-freeze]]"));
    let page = sandbox.index_page();
    assert!(page.contains("(project-release-freeze.md)") && !page.contains("migration-freeze"), "{page}");
}

#[test]
fn rename_onto_another_memory_is_refused() {
    let sandbox = furnished();
    let before = sandbox.vault_tree();
    expect![[r#"
        --- stderr
        error: memory `feedback-testing` already exists

        hint: `memdir edit feedback-testing` changes it
        --- exit code 2
    "#]]
    .assert_eq(&shown(&sandbox, &["rename", "project-migration-freeze", "feedback-testing"]));
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
}

#[test]
fn correct_replaces_the_body_and_keeps_the_rest() {
    let sandbox = furnished();
    let correct =
        sandbox.memdir(&["correct", "reference-tracker"]).stdin("The tracker's project is INTAKE.\n");
    expect![[r#"
        $ROOT/vault/reference-tracker.md
    "#]]
    .assert_eq(&transcript(&sandbox, correct));
    expect![[r#"
        ---
        name: reference-tracker
        description: Bugs are in the tracker, project INGEST
        type: reference
        metadata:
          created: 2026-02-01T09:00:00Z
          modified: 2026-04-02T10:30:00Z
          provenance: user
        ---

        The tracker's project is INTAKE.
    "#]]
    .assert_eq(&sandbox.read("reference-tracker"));
}

#[test]
fn supersede_archives_the_old_one() {
    let sandbox = furnished();
    expect![[r#"
        $ROOT/vault/project-migration-freeze.md
    "#]]
    .assert_eq(&shown(&sandbox, &["supersede", "reference-tracker", "project-migration-freeze"]));
    assert!(!sandbox.memory("reference-tracker").exists());
    let archived = sandbox.state_tree().paths().any(|path| path.contains("/archive/reference-tracker@"));
    assert!(archived, "{:?}", sandbox.state_tree().paths().collect::<Vec<_>>());
    expect![[r#"
        ---
        name: project-migration-freeze
        description: Merge freeze on 2026-04-09
        type: project
        metadata:
          created: 2026-03-30T09:00:00Z
          modified: 2026-04-02T10:30:00Z
          provenance: user
          supersedes:
            - reference-tracker
        ---

        Non-critical merges stop on 2026-04-09 for the mobile release cut.

        **Why:** the release branch is cut that day.

        **How to apply:** merge fixes only; bugs are in [[reference-tracker]].
    "#]]
    .assert_eq(&sandbox.read("project-migration-freeze"));
}

#[test]
fn promote_moves_a_memory_to_the_user_vault() {
    let sandbox = sandbox();
    let run = |args: &[&str]| sandbox.memdir(args).without_env("MEMDIR_VAULT");
    run(&[
        "save",
        "feedback-style",
        "--type",
        "feedback",
        "--description",
        "Short answers",
        "--body",
        "Keep it short.",
    ])
    .ok();
    expect![[r#"
        $ROOT/state/user/feedback-style.md
    "#]]
    .assert_eq(&transcript(&sandbox, run(&["promote", "feedback-style", "--to", "user"])));
    let promoted = std::fs::read_to_string(sandbox.state().join("user/feedback-style.md")).unwrap();
    assert!(promoted.contains("Keep it short.") && promoted.contains("origin_project"), "{promoted}");
    run(&["undo"]).ok();
    assert!(!sandbox.state().join("user/feedback-style.md").exists());
}

#[test]
fn a_user_memory_goes_to_the_user_vault_unless_a_vault_is_named() {
    let sandbox = sandbox();
    let save =
        ["save", "user-role", "--type", "user", "--description", "Backend developer", "--body", "Knows Go."];
    sandbox.memdir(&save).without_env("MEMDIR_VAULT").ok();
    assert!(sandbox.state().join("user/user-role.md").is_file());
    sandbox.memdir(&save).ok();
    assert!(sandbox.memory("user-role").is_file());
}

#[test]
fn forget_moves_to_the_trash_and_says_how_to_undo() {
    let sandbox = furnished();
    expect![[r#"
        forgotten: reference-tracker
        --- stderr
        `memdir undo` brings it back for 30 days
    "#]]
    .assert_eq(&shown(&sandbox, &["forget", "reference-tracker", "--yes"]));
    let trashed = sandbox.state_tree().paths().any(|path| path.contains("/trash/reference-tracker@"));
    assert!(trashed && !sandbox.memory("reference-tracker").exists());
    sandbox.memdir(&["undo"]).ok();
    assert!(sandbox.memory("reference-tracker").exists());
}

#[test]
fn forget_of_several_is_all_or_none() {
    let sandbox = furnished();
    sandbox.memdir(&["forget", "reference-tracker", "no-such-memory", "--yes"]).code(1);
    assert!(sandbox.memory("reference-tracker").exists());
    sandbox.memdir(&["forget", "reference-tracker", "feedback-testing", "--yes"]).ok();
    assert_eq!(listed_names(&sandbox), ["project-migration-freeze"]);
}

#[test]
fn texts_may_begin_with_a_hyphen() {
    let sandbox = sandbox();
    let save = [
        "save",
        "rule",
        "--type",
        "project",
        "--description",
        "- odd, but a description",
        "--body",
        "- a list",
    ];
    sandbox.memdir(&save).args(&["--reason", "--because"]).ok();
    sandbox.memdir(&["edit", "rule", "--append", "- more of it"]).ok();
    assert!(sandbox.read("rule").ends_with("- a list\n- more of it\n"));
    sandbox.memdir(&["correct", "rule", "--body", "---\nA rule.\n---"]).ok();
    let list = sandbox.memdir(&["list"]).json();
    assert_eq!(list[0]["description"], "- odd, but a description", "{list}");
}

#[test]
fn an_alias_is_for_finding_and_never_for_saving_over() {
    let sandbox = sandbox();
    let text =
        "---\nname: law\ndescription: d\ntype: project\nmetadata:\n  aliases:\n    - rule\n---\n\nThe law.\n";
    sandbox.write("law.md", text);
    let save = ["save", "rule", "--type", "reference", "--description", "another thing", "--body", "A rule."];
    sandbox.memdir(&save).run();
    assert_eq!(sandbox.read("law"), text, "saved over another memory");
    assert!(sandbox.read("rule").contains("A rule."));
}

#[test]
fn the_fields_that_make_a_memory_cannot_be_taken_from_it() {
    let sandbox = furnished();
    let before = sandbox.vault_tree();
    let edits = [
        ["--set", "name=other"],
        ["--unset", "name"],
        ["--set", "type=misc"],
        ["--unset", "type"],
        ["--set", "scope=org"],
        ["--set", "description="],
        ["--unset", "description"],
        ["--set", "metadata=x"],
        ["--set", "a b=x"],
        ["--set", "evil: 1\nkey=x"],
        ["--set", "expires=someday"],
    ];
    for edit in edits {
        let output = sandbox.memdir(&["edit", "feedback-testing"]).args(&edit).run();
        assert!(matches!(output.code, 1 | 2), "{edit:?}\n{output}");
        assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "{edit:?}");
    }
}

#[test]
fn no_value_of_a_field_breaks_out_of_it() {
    let values = [
        "a\nscope: team",
        "x\n---\n\nBody",
        "a: b",
        "[x",
        "{y",
        "\"q",
        "'q",
        "# c",
        "- l",
        "&a",
        "*a",
        "!t",
        "|",
        "%d",
        "@x",
        "`y",
        "true",
        "null",
        "1",
        " ",
        "é\u{2028}",
    ];
    for value in values {
        let sandbox = sandbox();
        let save = sandbox.memdir(&[
            "save",
            "rule",
            "--type",
            "reference",
            "--description",
            "a rule",
            "--body",
            "Text.",
        ]);
        let flags = [format!("--tag={value}"), format!("--kind={value}"), format!("--session={value}")];
        if !save.args(&flags).run().is_ok() {
            continue;
        }
        sandbox.memdir(&["edit", "rule", &format!("--set=ticket={value}")]).ok();
        let list = sandbox.memdir(&["list"]).json();
        assert_eq!(
            (&list[0]["scope"], &list[0]["type"]),
            (&"private".into(), &"reference".into()),
            "{value:?}"
        );
        let text = sandbox.read("rule");
        assert!(text.ends_with("\n---\n\nText.\n"), "{value:?}\n{text}");
        let doctor = sandbox.memdir(&["doctor"]).run();
        assert!(!doctor.stdout.contains("rule.md"), "{value:?} makes doctor complain\n{text}\n{doctor}");
    }
}

/// A dash means standard input wherever a text or a file is taken; what was piped in is not lost.
#[test]
fn a_dash_is_standard_input() {
    let sandbox = sandbox();
    let args = ["save", "project-big", "--type", "project", "--description", "what is big", "--body", "-"];
    sandbox.memdir(&args).stdin("The crane at the harbour is big.\n\n**Why:** it was built so.\n").ok();
    let saved = sandbox.read("project-big");
    assert!(saved.contains("The crane at the harbour is big.") && !saved.contains("\n-\n"), "{saved}");
    sandbox.memdir(&["edit", "project-big", "--append", "-"]).stdin("It is painted green.\n").ok();
    assert!(sandbox.read("project-big").contains("It is painted green."));
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let scanned = sandbox.memdir(&["secrets", "scan", "-"]).stdin(format!("token {token}\n")).code(1);
    assert!(scanned.stdout.contains("github"), "{scanned}");
    let empty = sandbox.memdir(&args).stdin("").code(2);
    assert!(empty.stderr.contains("standard input is empty"), "{empty}");
}

/// `memdir serve` has a place to listen at, on this machine only.
#[test]
fn serve_listens_on_loopback_by_default() {
    // Whoever holds the port: the address is the one that is tried.
    let _held = std::net::TcpListener::bind("127.0.0.1:7420");
    let output = sandbox().memdir(&["serve"]).code(2);
    assert!(output.stderr.contains("could not listen at 127.0.0.1:7420"), "{output}");
}
