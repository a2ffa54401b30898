//! How the program behaves among other programs: help, completions, pipes, silence.

use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::expect;
use memdir_testkit::{Invocation, NOW};

use super::{furnished, shown};
use crate::setup::{binary, sandbox};

#[test]
fn help_teaches() {
    expect![[r#"
        Persistent memory for coding agents: markdown files you can trust

        Usage: memdir [OPTIONS] <COMMAND>

        Commands:
          init         Set up memory for this project and tell your coding agents of it
          save         Save a memory, or update the one of that name
          remember     Remember a sentence
          new          Begin a memory from the template of its type
          show         Show a memory
          list         List the memories of this project and of the user
          search       Search memories, the journal and past sessions by words and meaning
          recall       Show what an agent would be reminded of
          why          Show what speaks for a memory at a prompt
          stale        List memories of all projects that nobody changed or used for a while
          index        Show or rebuild the search index
          grep         Find what was said in the sessions of this project
          backfill     Keep what was said in old sessions, if you agree
          edit         Change a memory
          correct      Correct a memory that turned out wrong
          rename       Rename a memory and every link to it
          supersede    Let one memory take another's place
          promote      Make a candidate a memory, or a memory of this project one for all projects
          forget       Remove memories
          log          Show what changed, newest first
          diff         Show what a change changed
          undo         Take back a change, byte for byte
          redo         Do again what `memdir undo` took back
          links        Show what a memory is tied to, and why
          verify       Check what memories claim against the project
          manifest     Print one line per memory: type, file, time, description
          why-not      Say whether a text would be saved, and why not
          place        Say where a text belongs
          secrets      Look for secrets
          extract      Find what a session taught: candidates that wait for your word
          review       Decide about what waits: proposals in the inbox, and lines that somebody wrote into
                       MEMORY.md
          team         Share memories with a team: through the repository, a directory or a server
          sync         Bring this project's memories and the team's together
          trust        Decide whose memories are believed
          dream        Put the memories in order: merge what says the same, archive what no longer holds
          doctor       Look for what is wrong with memories, vaults, state and the settings of agents
          dashboard    Show where the project stands, on one page
          wrap         End a session: journal, STATUS.md, status memory, candidates, dates
          journal      Keep and read the journal: what was done, what was decided, what is left
          monthly      Report how healthy each project is
          projects     List the projects that memdir knows
          watch        Look every five minutes at what changed behind your memories
          daemon       Do background work in one process that stays; without it hooks start a short-lived
                       one
          import       Take over memories from another directory or program
          export       Export memories in an open format
          bench        Measure recall, and fit its weights
          hook         Answer an agent's hook (JSON on stdin, JSON on stdout)
          context      Print what a session is told when it begins
          obedience    Show how often rules were recalled, obeyed and violated
          model        Show, choose or try the model that may be asked; everything works without one
          costs        Show what background work has cost, and what it may
          cache-audit  Show what memdir does about each way to break a prompt cache
          compact      Make a list of messages fit into a budget
          magic        Keep documents of the project up to date
          mcp          Serve memory to an agent over the Model Context Protocol
          gateway      Stand between clients and models, with memory
          serve        Serve team memory over HTTP
          completions  Print shell completions
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version

        Common options:
              --vault <DIR>    Work on this vault and nothing else
              --project <DIR>  Work on the project of this directory instead of the current one
              --json           Print one JSON document
          -q, --quiet          Say nothing but the answer and errors

        Examples:
          memdir init
          memdir save feedback-real-db --type feedback --description "Integration tests use a real database"
          --body "…"
          memdir search real database
          memdir undo

        Exit codes: 0 done or found, 1 nothing found or refused, 2 error.
    "#]]
    .assert_eq(&shown(&sandbox(), &["--help"]));
    expect![[r#"
        Save a memory, or update the one of that name

        The body comes from --body or stdin. Feedback and project memories are followed best with a
        `**Why:**` and a `**How to apply:**` paragraph. Prints the file's path.

        Usage: memdir save [OPTIONS] --type <TYPE> --description <TEXT> <NAME>

        Arguments:
          <NAME>
                  Its name: a-z, 0-9, `-` and `_`, for instance feedback-testing

        Options:
          -t, --type <TYPE>
                  What it is about: user, feedback, project or reference

          -d, --description <TEXT>
                  One line that says when this memory matters

          -b, --body <TEXT>
                  The text, instead of stdin; `-` is stdin

              --scope <SCOPE>
                  Who may see it: private or team

              --tag <WORD>
                  A word to find it by; may be repeated

              --path <GLOB>
                  A file it is about, as a glob from the project's root; may be repeated

              --rule <RULE>
                  What is refused, asked or said before a tool is used, for feedback: `deny bash ^git push
                  --force`; may be repeated

              --kind <WORD>
                  A finer kind: status, standard, pattern, decision, gotcha, howto

              --expires <DATE>
                  The day from which on it is stale: YYYY-MM-DD

              --pin
                  Keep it at the top of MEMORY.md

              --redact
                  Leave secrets out instead of refusing: `[REDACTED:kind]` stands in their place

              --force <REASON>
                  Save it although a gate refuses; the reason is kept in the log

              --base <HASH>
                  Only if the memory still is this version (sha256)

          -h, --help
                  Print help (see a summary with '-h')

        For the log:
              --reason <TEXT>
                  Why, in a few words, for the log

              --session <ID>
                  The session this comes from

                  [env: MEMDIR_SESSION=]

              --provenance <WHO>
                  Who said it: user, agent, tool, team, import or outside

                  [default: user]

        Common options:
              --vault <DIR>
                  Work on this vault and nothing else

              --project <DIR>
                  Work on the project of this directory instead of the current one

              --json
                  Print one JSON document

          -q, --quiet
                  Say nothing but the answer and errors
    "#]]
    .assert_eq(&shown(&sandbox(), &["save", "--help"]));
}

#[test]
fn every_command_has_help() {
    let commands = [
        "init",
        "save",
        "new",
        "show",
        "list",
        "manifest",
        "links",
        "verify",
        "edit",
        "rename",
        "correct",
        "supersede",
        "promote",
        "forget",
        "log",
        "diff",
        "undo",
        "redo",
        "search",
        "doctor",
        "dashboard",
        "wrap",
        "journal",
        "monthly",
        "watch",
        "daemon",
        "projects",
        "import",
        "export",
        "completions",
    ];
    let sandbox = sandbox();
    let overview = sandbox.memdir(&["--help"]).ok().stdout;
    for command in commands {
        assert!(overview.contains(command), "{command} is not in the overview");
        let help = sandbox.memdir(&[command, "--help"]).ok();
        assert!(help.stdout.len() > 100, "{help}");
    }
}

#[test]
fn without_a_command_it_says_what_there_is() {
    let output = sandbox().memdir(&[]).run();
    assert_eq!(output.code, 2, "{output}");
    assert!(format!("{}{}", output.stdout, output.stderr).contains("save"), "{output}");
}

#[test]
fn the_version_is_one_line() {
    let output = sandbox().memdir(&["--version"]).ok();
    assert_eq!(output.stdout, concat!("memdir ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn an_unknown_command_suggests_the_nearest() {
    let output = sandbox().memdir(&["serch", "x"]).code(2);
    assert!(output.stderr.contains("search"), "{output}");
}

#[test]
fn completions_are_written_for_three_shells_and_parse() {
    for (shell, check) in [("bash", &["-n"][..]), ("zsh", &["-n"]), ("fish", &["--no-execute"])] {
        let output = sandbox().memdir(&["completions", shell]).ok();
        assert!(output.stdout.contains("memdir") && output.stdout.contains("supersede"), "{output}");
        let script = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(script.path(), &output.stdout).unwrap();
        // zsh and fish are rarely installed; where they are, they judge.
        if let Ok(status) = Command::new(shell).args(check).arg(script.path()).status() {
            assert!(status.success(), "{shell} does not accept its completions");
        }
    }
}

#[test]
fn a_broken_pipe_is_a_quiet_success() {
    let sandbox = sandbox();
    for number in 0..300 {
        let text = crate::setup::memory_file(&format!("note-{number}"), &"long ".repeat(40), "Text.");
        sandbox.write(&format!("note-{number}.md"), text);
    }
    for command in [&["list"][..], &["manifest"], &["list", "--json"]] {
        let mut memdir = Command::new(binary());
        memdir.args(command).env("HOME", sandbox.home()).env("MEMDIR_HOME", sandbox.state());
        memdir.env("MEMDIR_VAULT", sandbox.vault()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = memdir.spawn().unwrap();
        // The reader leaves before the first line.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command:?}");
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let sandbox = furnished();
    let to_a_full_disk = ["sh", "-c", "exec \"$@\" > /dev/full", "sh"];
    for command in [&["list"][..], &["show", "feedback-testing", "--raw"], &["list", "--json"], &["manifest"]]
    {
        let output = sandbox.memdir(command).under(&to_a_full_disk).code(2);
        assert!(output.stderr.starts_with("error: "), "{output}");
    }
}

#[test]
fn a_few_open_files_are_enough_and_too_few_change_nothing() {
    let sandbox = furnished();
    for number in 0..50 {
        let text = crate::setup::memory_file(&format!("note-{number}"), "one of many", "Text.");
        sandbox.write(&format!("note-{number}.md"), text);
    }
    let save =
        ["save", "new", "--type", "reference", "--description", "beside many", "--body", "Words of its own."];
    let before = sandbox.vault_tree();
    for limit in 4..24 {
        let output = sandbox.memdir(&save).under(&["prlimit", &format!("--nofile={limit}")]).run();
        if output.is_ok() {
            assert!(limit < 20, "needs {limit} open files");
            sandbox.memdir(&["show", "new"]).ok();
            return;
        }
        assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "{limit}\n{output}");
    }
    panic!("23 open files are not enough");
}

#[test]
fn quiet_leaves_only_the_data_and_the_errors() {
    let sandbox = furnished();
    let save = [
        "save",
        "feedback-new",
        "--type",
        "feedback",
        "--description",
        "d",
        "--body",
        "No why in it.",
        "--quiet",
    ];
    let output = sandbox.memdir(&save).ok();
    assert_eq!(output.stderr, "", "{output}");
    let output = sandbox.memdir(&["forget", "feedback-new", "--yes", "--quiet"]).ok();
    assert_eq!(output.stderr, "", "{output}");
    let list = sandbox.memdir(&["list", "--quiet"]).ok();
    assert!(list.stdout.contains("feedback-testing"), "{list}");
    let error = sandbox.memdir(&["show", "no-such-memory", "--quiet"]).code(1);
    assert!(error.stderr.starts_with("error: "), "{error}");
}

#[test]
fn colour_is_for_terminals_only() {
    let sandbox = furnished();
    let commands: [&[&str]; 4] =
        [&["list"], &["show", "feedback-testing"], &["search", "database"], &["show", "nothing"]];
    for command in commands {
        let output = sandbox.memdir(command).run();
        assert!(!output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'), "{output}");
    }
}

/// A pseudo-terminal of 60 columns, through `script`.
#[test]
fn a_table_fits_the_terminal_and_no_color_is_obeyed() {
    let sandbox = furnished();
    if !crate::setup::can_use(&["script"]) {
        return;
    }
    let line = format!("stty cols 60; exec {} list", binary().display());
    let script = Invocation::new(Path::new("script")).args(&["-qec", &line, "/dev/null"]);
    let list = script.env("HOME", sandbox.home()).env("MEMDIR_HOME", sandbox.state()).env("TERM", "xterm");
    let plain = list.env("MEMDIR_VAULT", sandbox.vault()).at(NOW).env("NO_COLOR", "1").ok().stdout;
    assert!(plain.contains("feedback-testing"), "{plain}");
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    for line in plain.lines() {
        assert!(line.trim_end().chars().count() <= 60, "too wide: {line:?}");
    }
}
