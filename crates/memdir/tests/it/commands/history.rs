//! `log`, `diff`, `undo`, `doctor`: what happened and how to take it back.

use expect_test::expect;

use super::{furnished, shown};
use crate::setup::{history, sandbox};

#[test]
fn log_shows_the_newest_change_first() {
    let sandbox = furnished();
    sandbox.memdir(&["edit", "feedback-testing", "--append", "More."]).ok();
    expect![[r#"
        <change>  just now      person  edit  feedback-testing
        <change>  1 day ago     person  save  feedback-testing
        <change>  3 days ago    person  save  project-migration-freeze
        <change>  2 months ago  person  save  reference-tracker
    "#]]
    .assert_eq(&shown(&sandbox, &["log"]));
}

#[test]
fn log_of_one_memory_shows_only_its_changes() {
    let sandbox = furnished();
    expect![[r#"
        <change>  2 months ago  person  save  reference-tracker
    "#]]
    .assert_eq(&shown(&sandbox, &["log", "reference-tracker"]));
}

#[test]
fn log_follows_a_rename() {
    let sandbox = furnished();
    sandbox.save("reference-boards", "Boards are in Linear.");
    sandbox.memdir(&["rename", "reference-boards", "reference-bugs"]).ok();
    let log = sandbox.memdir(&["log", "reference-bugs"]).json();
    assert_eq!(log.as_array().unwrap().len(), 2, "{log}");
}

#[test]
fn log_with_a_limit_shows_no_more() {
    let log = furnished().memdir(&["log", "--limit", "2"]).json();
    assert_eq!(log.as_array().unwrap().len(), 2);
}

#[test]
fn log_of_nothing_says_so() {
    expect![[r#"
        --- exit code 1
    "#]]
    .assert_eq(&shown(&sandbox(), &["log"]));
}

#[test]
fn diff_shows_the_lines_that_changed() {
    let sandbox = furnished();
    sandbox.memdir(&["edit", "feedback-testing", "--description", "Real database, always"]).ok();
    let change = history(&sandbox)[0]["change"].as_str().unwrap().to_owned();
    expect![[r#"
        --- a/feedback-testing.md
        +++ b/feedback-testing.md
        @@ -1,10 +1,10 @@
         ---
         name: feedback-testing
        -description: Integration tests use a real database
        +description: Real database, always
         type: feedback
         metadata:
           created: 2026-04-01T10:30:00Z
        -  modified: 2026-04-01T10:30:00Z
        +  modified: 2026-04-02T10:30:00Z
           provenance: user
         ---
 
        --- a/MEMORY.md
        +++ b/MEMORY.md
        @@ -3,5 +3,5 @@
         <!-- memdir:begin -->
         - [Tracker](reference-tracker.md) — Bugs are in the tracker, project INGEST
         - [Migration freeze](project-migration-freeze.md) — Merge freeze on 2026-04-09
        -- [Testing](feedback-testing.md) — Integration tests use a real database
        +- [Testing](feedback-testing.md) — Real database, always
         <!-- memdir:end -->
    "#]]
    .assert_eq(&shown(&sandbox, &["diff", &change]));
    let by_its_end = sandbox.memdir(&["diff", &change[18..]]).ok();
    assert!(by_its_end.stdout.contains("+description: Real database, always"), "{by_its_end}");
}

#[test]
fn undo_says_what_it_took_back() {
    let sandbox = furnished();
    sandbox.memdir(&["edit", "feedback-testing", "--append", "More."]).ok();
    expect![[r#"
        undone: edit feedback-testing
        --- stderr
        undoing: edit feedback-testing (just now, <change>)
    "#]]
    .assert_eq(&shown(&sandbox, &["undo"]));
    assert!(!sandbox.read("feedback-testing").contains("More."));
}

#[test]
fn undo_of_an_unknown_change_is_an_error() {
    expect![[r#"
        --- stderr
        error: no change `<change>`

        hint: `memdir log` lists the changes of the last 30 days
        --- exit code 1
    "#]]
    .assert_eq(&shown(&furnished(), &["undo", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]));
}

#[test]
fn doctor_is_content_with_a_healthy_vault() {
    expect![[r#"
        all is well
    "#]]
    .assert_eq(&shown(&furnished(), &["doctor"]));
}

#[test]
fn doctor_lists_each_problem_with_its_file_and_fix_repairs_what_it_can() {
    let sandbox = furnished();
    sandbox.write("broken.md", "---\nname: [never closed\n---\n\nText.\n");
    sandbox.write("untyped.md", "---\nname: untyped\ndescription: has no type\n---\n\nText.\n");
    sandbox.write(
        "misnamed.md",
        "---\nname: other\ndescription: another name inside\ntype: project\n---\n\nText.\n",
    );
    // The page is ordered by age: the three are equally old, whichever second they were written in.
    for name in ["broken", "untyped", "misnamed"] {
        let file = std::fs::File::options().write(true).open(sandbox.memory(name)).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_775_000_000))
            .unwrap();
    }
    std::fs::remove_file(sandbox.memory("reference-tracker")).unwrap();
    expect![[r#"
        problem  raw               $ROOT/vault/broken.md  line 2: the frontmatter cannot be read: a bracket that is never closed
        problem  dangling-pointer  $ROOT/vault/MEMORY.md  line 4 points to `reference-tracker.md`, which does not exist           writes MEMORY.md anew
        problem  unindexed         $ROOT/vault/MEMORY.md  `broken.md` is not on the index page                                    writes MEMORY.md anew
        problem  unindexed         $ROOT/vault/MEMORY.md  `misnamed.md` is not on the index page                                  writes MEMORY.md anew
        problem  unindexed         $ROOT/vault/MEMORY.md  `untyped.md` is not on the index page                                   writes MEMORY.md anew
        warning  name-mismatch         $ROOT/vault/misnamed.md           line 2: the name `other` is not the file's `misnamed`
        warning  missing-why           $ROOT/vault/misnamed.md           a project memory says why: add `**Why:**`
        warning  missing-how-to-apply  $ROOT/vault/misnamed.md           a project memory says how to apply it: add `**How to apply:**`
        warning  missing-type          $ROOT/vault/untyped.md            no type: `project` would fit
        warning  same-content          $ROOT/vault/misnamed.md           has the same text as `broken`
        warning  same-content          $ROOT/vault/untyped.md            has the same text as `broken`
        warning  vanished              $ROOT/vault/reference-tracker.md  removed by another program: the next change records it, and `memdir log` then names what to undo  finishes or removes it
        warning  open-to-others        $ROOT/vault                       others may read or write 3 files in it                                                            closes them to others
        note  open-link        $ROOT/vault/project-migration-freeze.md  links to `reference-tracker`, which does not exist yet
        note  changed-outside  $ROOT/vault/broken.md                    changed by another program since memdir last wrote
        note  changed-outside  $ROOT/vault/misnamed.md                  changed by another program since memdir last wrote
        note  changed-outside  $ROOT/vault/untyped.md                   changed by another program since memdir last wrote
        --- stderr
        5 problems left
        `memdir doctor --fix` does what the last column says
        --- exit code 1
    "#]].assert_eq(&shown(&sandbox, &["doctor"]));
    expect![[r#"
        problem  raw               $ROOT/vault/broken.md  line 2: the frontmatter cannot be read: a bracket that is never closed
        problem  dangling-pointer  $ROOT/vault/MEMORY.md  line 4 points to `reference-tracker.md`, which does not exist           done
        problem  unindexed         $ROOT/vault/MEMORY.md  `broken.md` is not on the index page                                    done
        problem  unindexed         $ROOT/vault/MEMORY.md  `misnamed.md` is not on the index page                                  done
        problem  unindexed         $ROOT/vault/MEMORY.md  `untyped.md` is not on the index page                                   done
        warning  name-mismatch         $ROOT/vault/misnamed.md           line 2: the name `other` is not the file's `misnamed`
        warning  missing-why           $ROOT/vault/misnamed.md           a project memory says why: add `**Why:**`
        warning  missing-how-to-apply  $ROOT/vault/misnamed.md           a project memory says how to apply it: add `**How to apply:**`
        warning  missing-type          $ROOT/vault/untyped.md            no type: `project` would fit
        warning  same-content          $ROOT/vault/misnamed.md           has the same text as `broken`
        warning  same-content          $ROOT/vault/untyped.md            has the same text as `broken`
        warning  vanished              $ROOT/vault/reference-tracker.md  removed by another program: the next change records it, and `memdir log` then names what to undo  done
        warning  open-to-others        $ROOT/vault                       others may read or write 3 files in it                                                            done
        note  open-link  $ROOT/vault/project-migration-freeze.md  links to `reference-tracker`, which does not exist yet
        note  vanished   $ROOT/vault/reference-tracker.md         removed by another program: `memdir undo <change>` brings it back
        --- stderr
        1 problem left
        --- exit code 1
    "#]].assert_eq(&shown(&sandbox, &["doctor", "--fix"]));
    expect![[r#"
        # Memory Index
        <!-- memdir:index v1 managed; lines outside begin/end are yours -->
        <!-- memdir:begin -->
        - [Migration freeze](project-migration-freeze.md) — Merge freeze on 2026-04-09
        - [Testing](feedback-testing.md) — Integration tests use a real database
        - [Broken](broken.md) — no description
        - [Other](misnamed.md) — another name inside
        - [Untyped](untyped.md) — has no type
        <!-- memdir:end -->
    "#]]
    .assert_eq(&sandbox.index_page());
}
