//! File systems that lack what we rely on: a save works or refuses with the reason, and `doctor` says so.

use memdir_testkit::{Output, Sandbox};

use crate::setup::{can_use, prose, sandbox};

/// K11.
#[test]
fn without_renameat2_a_save_works_or_refuses_and_doctor_says_so() {
    check("renameat2", "inject=renameat2:error=EINVAL", &["rename", "replace", "exchange", "swap"]);
    check("renameat2", "inject=renameat2:error=ENOSYS", &["rename", "replace", "exchange", "swap"]);
}

/// K11.
#[test]
fn without_flock_a_save_works_or_refuses_and_doctor_says_so() {
    check("flock", "inject=flock:error=ENOLCK", &["lock"]);
    check("flock", "inject=flock:error=EOPNOTSUPP", &["lock"]);
}

/// K11. Path filters keep the fault to the directories: a file's own fsync works as ever.
#[test]
fn without_fsync_of_a_directory_a_save_works_or_refuses_and_doctor_says_so() {
    check_at_directories("inject=fsync:error=EINVAL", &["sync", "durab", "power"]);
}

fn check(call: &str, fault: &str, words: &[&str]) {
    if !can_use(&["strace"]) {
        return;
    }
    let sandbox = sandbox_with_one();
    check_faulty(&sandbox, words, |args, stdin| {
        let (output, trace) = sandbox.memdir(args).stdin(stdin).traced_with(call, &["-e", fault]);
        let is_hit = trace.calls.iter().any(|call| call.was_injected());
        (output, is_hit)
    });
}

fn check_at_directories(fault: &str, words: &[&str]) {
    if !can_use(&["strace"]) {
        return;
    }
    let sandbox = sandbox_with_one();
    let mut options = vec!["-e".to_owned(), fault.to_owned()];
    let state = sandbox.state_tree();
    let below_state = state.paths().filter(|path| path.ends_with('/')).map(|path| sandbox.state().join(path));
    for directory in below_state.chain([sandbox.vault(), sandbox.state()]) {
        let directory = directory.to_string_lossy().trim_end_matches('/').to_owned();
        options.extend(["-P".to_owned(), directory]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    check_faulty(&sandbox, words, |args, stdin| {
        let (output, trace) = sandbox.memdir(args).stdin(stdin).traced_with("fsync", &options);
        let is_hit = trace.calls.iter().any(|call| call.was_injected());
        (output, is_hit)
    });
}

/// Saves new and over with the fault, then asks `doctor`; `run` also says whether the fault was met.
fn check_faulty(sandbox: &Sandbox, words: &[&str], run: impl Fn(&[&str], &str) -> (Output, bool)) {
    let mut is_met = false;
    for (number, name) in [(2, "second"), (3, "first")] {
        let before = sandbox.vault_tree();
        let save = ["save", name, "--type", "project", "--description", "on a poor file system"];
        let (output, is_hit) = run(&save, &prose(number));
        is_met |= is_hit;
        if output.is_ok() {
            assert!(sandbox.read(name).contains(&prose(number)), "acknowledged but not there\n{output}");
            continue;
        }
        assert_eq!(output.code, 2, "{output}");
        assert!(output.stderr.starts_with("error: "), "{output}");
        assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "refused, yet something changed");
    }
    assert!(is_met, "the fault was never met");
    let (doctor, _) = run(&["doctor"], "");
    let said = format!("{}{}", doctor.stdout, doctor.stderr).to_lowercase();
    assert!(words.iter().any(|word| said.contains(word)), "says nothing of {words:?}\n{doctor}");
    sandbox.save("later", "On a good file system everything works again.");
}

fn sandbox_with_one() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("first", &prose(1));
    sandbox
}
