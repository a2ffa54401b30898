//! How agents are called, with a script in the place of the agent, and what is read out of what they print.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use super::super::Message;
use super::*;

const CLAUDE_ANSWER: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"fine","usage":{"input_tokens":5,"cache_read_input_tokens":90,"cache_creation_input_tokens":4,"output_tokens":7}}"#;
const CODEX_ANSWER: &str = r#"{"type":"thread.started","thread_id":"t"}
{"type":"item.completed","item":{"type":"error","message":"no metadata"}}
{"type":"item.completed","item":{"type":"agent_message","text":"fine"}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":90,"output_tokens":7}}"#;

fn request() -> Request {
    let messages = vec![Message::user("What is new?")];
    Request { system: "You keep notes.".into(), messages, max_tokens: 10, ..Request::default() }
}

/// A program that writes down how it was called, says `answer` and does `then`.
fn pretender(home: &Path, answer: &str, then: &str) -> PathBuf {
    let path = home.join("pretender");
    fs::write(home.join("answer"), answer).unwrap();
    let script = format!(
        "#!/bin/sh\ncd -P . ; H='{}'\nfor a in \"$@\"; do echo \"$a\"; done > \"$H/args\"\ncat > \"$H/stdin\"\npwd > \"$H/cwd\"\n\
         env > \"$H/env\"\nfor a in \"$@\"; do case \"$a\" in *.md) cat \"$a\" > \"$H/instructions\";; esac; done\n\
         {then}\ncat \"$H/answer\"\n",
        home.display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn env(home: &Path) -> Env {
    let vars =
        [("PATH", "/usr/bin:/bin"), ("CLAUDE_CODE_SESSION_ID", "outer"), ("CLAUDECODE", "1"), ("EVIL", "1")];
    let vars = vars.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Env::new(home, vars, BTreeMap::from([("EVIL".to_owned(), "1".to_owned())]))
}

fn read(home: &Path, name: &str) -> String {
    fs::read_to_string(home.join(name)).unwrap()
}

#[test]
fn claude_is_asked_by_its_input_without_tools_hooks_or_a_session() {
    let temp = tempfile::tempdir().unwrap();
    let program = pretender(temp.path(), CLAUDE_ANSWER, "");
    let mut agent = Agent::new(Host::Claude, program, Some("haiku"), &env(temp.path()));
    let answer = agent.ask(&request()).unwrap();
    assert_eq!(answer.text(), "fine");
    assert_eq!(answer.usage, Usage { input: 5, cached: 90, stored: 4, output: 7 });
    assert_eq!(agent.name(), "claude/haiku");
    let args = read(temp.path(), "args");
    for wanted in
        ["--no-session-persistence", "--safe-mode", "--tools\n\n", "disableAllHooks", "--model\nhaiku"]
    {
        assert!(args.contains(wanted), "{wanted}: {args}");
    }
    assert!(
        !args.contains("What is new") && !args.contains("keep notes"),
        "arguments are for everybody to read"
    );
    assert_eq!(read(temp.path(), "stdin").trim(), "What is new?");
    assert_eq!(read(temp.path(), "instructions"), "You keep notes.");
    assert!(read(temp.path(), "cwd").trim().ends_with("/asking"));
    assert_eq!(fs::read_dir(temp.path().join("asking")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn what_an_agent_starts_is_told_that_memory_is_off_and_not_of_the_session_around_us() {
    let temp = tempfile::tempdir().unwrap();
    let program = pretender(temp.path(), CLAUDE_ANSWER, "");
    Agent::new(Host::Claude, program, None, &env(temp.path())).ask(&request()).unwrap();
    let env = read(temp.path(), "env");
    assert!(env.contains("MEMDIR_OFF=1"), "{env}");
    for absent in ["CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "EVIL"] {
        assert!(!env.contains(absent), "{absent}: {env}");
    }
}

#[test]
fn sm_05_a_fork_is_asked_in_the_project_of_its_session_and_may_use_no_tool() {
    let temp = tempfile::tempdir().unwrap();
    let program = pretender(temp.path(), CLAUDE_ANSWER, "");
    let project = temp.path().join("project");
    fs::create_dir(&project).unwrap();
    let agent = Agent::new(Host::Claude, program, Some("haiku"), &env(temp.path()));
    agent.forked_from("1f-2", &project).ask(&request()).unwrap();
    let args = read(temp.path(), "args");
    assert!(args.contains("--fork-session\n--resume\n1f-2\n"), "{args}");
    assert!(args.contains("PreToolUse") && args.contains("exit 2"), "{args}");
    for breaking in ["--tools", "--system-prompt", "--model", "--safe-mode"] {
        assert!(!args.contains(breaking), "{breaking} would change the beginning of the request");
    }
    assert!(read(temp.path(), "stdin").starts_with("You keep notes.\n\nWhat is new?"));
    assert!(read(temp.path(), "cwd").trim().ends_with("/project"));
}

#[test]
fn a_session_that_could_be_an_option_is_not_forked_from() {
    let temp = tempfile::tempdir().unwrap();
    for session in ["", "--dangerous", "a b", "a/b"] {
        let agent = Agent::new(Host::Claude, "x".into(), None, &env(temp.path()));
        assert!(agent.forked_from(session, temp.path()).fork.is_none(), "{session}");
    }
}

#[test]
fn codex_is_asked_by_its_input_without_shell_or_hooks() {
    let temp = tempfile::tempdir().unwrap();
    let program = pretender(temp.path(), CODEX_ANSWER, "");
    let mut agent = Agent::new(Host::Codex, program, None, &env(temp.path()));
    let answer = agent.ask(&request()).unwrap();
    assert_eq!((answer.text().as_str(), answer.usage.input, answer.usage.cached), ("fine", 10, 90));
    let args = read(temp.path(), "args");
    assert!(args.contains("--disable\nhooks") && args.contains("--disable\nshell_tool"), "{args}");
    assert!(args.contains("--ephemeral") && args.ends_with("-\n"), "{args}");
    assert!(read(temp.path(), "stdin").starts_with("You keep notes.\n\nWhat is new?"));
}

#[test]
fn an_agent_that_fails_says_why_and_one_that_says_nothing_too() {
    let temp = tempfile::tempdir().unwrap();
    let failed =
        r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum"]}"#;
    let program = pretender(temp.path(), failed, "");
    let ask =
        |program: &Path| Agent::new(Host::Claude, program.into(), None, &env(temp.path())).ask(&request());
    assert_eq!(ask(&program), Err(ModelError::Refused("claude: Reached maximum".into())));
    let silent = pretender(temp.path(), "", "echo 'not logged in' >&2; exit 1");
    let error = ask(&silent).unwrap_err().to_string();
    assert!(error.contains("not logged in"), "{error}");
    assert!(matches!(ask(Path::new("/nowhere/claude")), Err(ModelError::Unreachable(_))));
}

#[test]
fn an_agent_that_hangs_is_killed_with_all_that_it_started() {
    let temp = tempfile::tempdir().unwrap();
    let program = pretender(temp.path(), CLAUDE_ANSWER, "sleep 300 & echo $! > \"$H/pid\"; wait");
    let mut agent = Agent::new(Host::Claude, program, None, &env(temp.path()));
    agent.limit_time(Duration::from_secs(2));
    let began = Instant::now();
    assert_eq!(agent.ask(&request()), Err(ModelError::Unreachable("no answer in time".into())));
    assert_eq!(agent.begun(), 1, "it may have cost something");
    assert!(began.elapsed() < Duration::from_secs(60), "it does not wait for what hangs");
    let pid: u32 = read(temp.path(), "pid").trim().parse().unwrap();
    // A signal that was sent is taken when the machine has time for it.
    let until = Instant::now() + Duration::from_secs(60);
    let state = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    while !(state().is_empty() || state().contains(") Z ")) {
        assert!(Instant::now() < until, "{}", state());
        std::thread::sleep(Duration::from_millis(10));
    }
}
