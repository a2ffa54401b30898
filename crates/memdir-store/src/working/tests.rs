//! Sessions that grow, are shortened, go on and end, with files as hosts write them.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::*;
use crate::place::locate;

struct World {
    _temp: tempfile::TempDir,
    env: Environment,
    place: Place,
    transcript: PathBuf,
    n_lines: std::cell::Cell<usize>,
}

fn now() -> Timestamp {
    "2026-04-02T10:30:00Z".parse().unwrap()
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for folder in ["home", "project", "vault", "state"] {
            fs::create_dir(base.join(folder)).unwrap();
            fs::set_permissions(base.join(folder), fs::Permissions::from_mode(0o700)).unwrap();
        }
        let env = Environment {
            cwd: base.join("project"),
            home: Some(base.join("home")),
            memdir_home: Some(base.join("state")),
            vault: Some(base.join("vault")),
            ..Environment::default()
        };
        let place = locate(&env).unwrap();
        Self { env, place, transcript: base.join("s-1.jsonl"), n_lines: 0.into(), _temp: temp }
    }

    fn session(&self) -> Session<'_> {
        let (place, env, transcript) = (&self.place, &self.env, &*self.transcript);
        Session { place, env, id: "s-1", agent: Agent::ClaudeCode, transcript }
    }

    /// Appends a message as Claude Code does.
    fn says(&self, role: &str, content: &Value) {
        let n = self.n_lines.replace(self.n_lines.get() + 1);
        let line = json!({
            "type": role, "message": { "role": role, "content": content }, "uuid": format!("u-{n}"),
            "timestamp": "2026-04-02T09:00:00.000Z", "cwd": self.env.cwd, "sessionId": "s-1", "gitBranch": "main",
        });
        let mut file = OpenOptions::new().create(true).append(true).open(&self.transcript).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn answers(&self, n_chars: usize) {
        self.says("assistant", &json!("x".repeat(n_chars)));
    }

    fn note(&self, turn_ended: bool) -> Noted {
        note(&self.session(), turn_ended, now()).unwrap()
    }

    fn text(&self) -> Option<String> {
        read(&self.place, "s-1").unwrap()
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.place.state_dir().join("session")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// SM-02, SM-03, SM-04.
#[test]
fn a_file_is_made_at_ten_thousand_tokens_and_made_anew_after_five_thousand_more() {
    let world = World::new();
    world.says("user", &json!("four"));
    world.answers(39_992);
    assert_ne!(world.note(true), Noted::Written);
    assert_eq!(world.text(), None, "9,999 tokens");
    world.answers(4);
    assert_eq!(world.note(false), Noted::Written, "10,000 tokens");
    let first = world.text().unwrap();
    assert!(first.contains("- Asked first: four"), "{first}");
    world.says("user", &json!("then this"));
    world.answers(19_987);
    assert_ne!(world.note(true), Noted::Written);
    world.answers(4);
    assert_ne!(world.note(false), Noted::Written, "in the middle of a turn, without calls");
    assert_eq!(world.text().unwrap(), first);
    assert_eq!(world.note(true), Noted::Written);
    assert!(world.text().unwrap().contains("- Asked last: then this"));
    for n in 0..3 {
        let call = json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": format!("make step-{n}") } });
        world.says("assistant", &json!([call]));
        world.answers(8_000);
    }
    assert_eq!(world.note(false), Noted::Written, "three calls will do in the middle of a turn");
    assert!(world.text().unwrap().contains("Ran: make step-2"));
}

/// A hook that is called for every tool reads the host's file only when that can matter.
#[test]
fn a_few_new_bytes_are_not_even_read() {
    let world = World::new();
    world.says("user", &json!("hello"));
    assert_eq!(world.note(true), Noted::Nothing);
    assert!(!world.place.state_dir().join("session").exists(), "a short session leaves nothing");
    world.answers(50_000);
    assert_eq!(world.note(true), Noted::Written);
    let state = world.place.state_dir().join("session/s-1.json");
    let before = fs::read(&state).unwrap();
    world.answers(10_000);
    assert_eq!(world.note(true), Noted::Nothing);
    assert_eq!(fs::read(&state).unwrap(), before);
    world.answers(20_000);
    assert_eq!(world.note(true), Noted::Written);
}

/// SM-06: working memory is written before a compaction, however short the session is.
#[test]
fn a_compaction_gets_working_memory_whether_it_is_due_or_not() {
    let world = World::new();
    assert_eq!(before_compaction(&world.session(), now()).unwrap(), None, "there is no file yet");
    world.says("user", &json!("Move token refresh behind a queue"));
    let given = before_compaction(&world.session(), now()).unwrap().unwrap();
    assert!(given.contains("Move token refresh behind a queue"), "{given}");
    assert_eq!(world.text().unwrap(), given);
    world.says("user", &json!("and the retry"));
    let given = before_compaction(&world.session(), now()).unwrap().unwrap();
    assert!(given.contains("Asked last: and the retry"), "{given}");
}

/// SM-01: nothing of it stays but how far the host's file was read.
#[test]
fn a_retired_session_leaves_its_mark_and_goes_on_from_there() {
    let world = World::new();
    world.says("user", &json!("the first half"));
    world.answers(50_000);
    assert_eq!(world.note(true), Noted::Written);
    assert!(retire(&world.place, "s-1").unwrap());
    assert_eq!((world.files(), world.text()), (vec!["s-1.ended".to_owned()], None));
    assert!(!retire(&world.place, "s-1").unwrap(), "again: nothing to do");
    world.says("user", &json!("the second half"));
    let given = before_compaction(&world.session(), now()).unwrap().unwrap();
    assert!(given.contains("the second half") && !given.contains("the first half"), "{given}");
}

/// UX-13, SM-06: what mattered comes back after a compaction, within the room that there is.
#[test]
fn what_mattered_comes_back_after_a_compaction() {
    let world = World::new();
    world.says("user", &json!("Move token refresh behind a queue"));
    before_compaction(&world.session(), now()).unwrap();
    let vault =
        Vault::create(&world.place.home, world.place.project.id.as_str(), &world.place.vault).unwrap();
    let event = |name: &str, sid: &str| ledger::Event {
        sid: Some(sid.to_owned()),
        ..ledger::Event::new(now(), EventKind::Surfaced, name)
    };
    let events =
        [event("feedback-real-db", "s-1"), event("project-other", "s-2"), event("reference-ingest", "s-1")];
    vault.ensure_ledger().unwrap().append(&events).unwrap();
    let sections = memdir_core::journal::Sections {
        summary: "Began with the queue".to_owned(),
        unfinished: vec![memdir_core::journal::Item::open("rotate the staging key")],
        ..Default::default()
    };
    let (zone, scanner) = (jiff::tz::TimeZone::UTC, Scanner::builtin());
    let about = crate::journal::About::default();
    Journal::of(&world.place).add(sections, &about, now(), &zone, &scanner).unwrap();
    let rules = [Bound {
        memory: "feedback-force".to_owned(),
        says: "never force-push".to_owned(),
        rule: "deny bash ^git push --force".parse().unwrap(),
    }];
    let given = restore(&world.place, "s-1", &[vault], &rules, 9_000);
    for part in [
        "never force-push",
        "rotate the staging key",
        "behind a queue",
        "- reference-ingest\n- feedback-real-db\n",
    ] {
        assert!(given.contains(part), "{part} in {given}");
    }
    assert!(!given.contains("project-other"), "{given}");
    assert!(restore(&world.place, "s-1", &[], &rules, 500).len() <= 500);
    assert_eq!(restore(&World::new().place, "s-1", &[], &[], 9_000), "", "nothing to give back");
}

/// NS-08, S7: secrets, what machines say in the user's place and our own frames are no part of it.
#[test]
fn what_must_not_be_kept_is_not() {
    let world = World::new();
    let token = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    world.says("user", &json!(format!("deploy with {token} please")));
    world.says("user", &json!("<task-notification>the build is done</task-notification>"));
    world.says(
        "user",
        &json!("go on\nRelevant saved memories [memdir 7c1e90ab]\nuse pnpm\n[/memdir 7c1e90ab]"),
    );
    let given = before_compaction(&world.session(), now()).unwrap().unwrap();
    assert!(given.contains("deploy with") && given.contains("Asked last: go on"), "{given}");
    for name in world.files() {
        let text = fs::read_to_string(world.place.state_dir().join("session").join(&name)).unwrap();
        for not_kept in [token.as_str(), "the build is done", "use pnpm"] {
            assert!(!text.contains(not_kept), "{not_kept} in {name}: {text}");
        }
    }
}

#[test]
fn a_session_id_that_is_no_plain_name_becomes_one() {
    assert_eq!(file_stem("5da15695-411e-4859-a37b-b739ede023ae"), "5da15695-411e-4859-a37b-b739ede023ae");
    for odd in ["../../etc/passwd", "a/b", "", ".hidden", "-rf", "a\0b", "naïve", &"x".repeat(65)] {
        let stem = file_stem(odd);
        assert!(stem.starts_with("x-") && stem.len() == 34, "{odd:?}: {stem}");
        assert_eq!(stem, file_stem(odd));
    }
    assert_ne!(file_stem("a/b"), file_stem("a/c"));
}

/// SM-05, SM-06: what a model wrote stands in the place of what rules wrote, until there is more to tell.
#[test]
fn sm_05_notes_of_a_model_stand_until_they_are_due_again() {
    let world = World::new();
    let session = world.session();
    let mine = memdir_core::working::HEADINGS.map(|heading| format!("## {heading}\n- mine\n")).join("\n");
    world.says("user", &json!("the first wish"));
    world.answers(30_000);
    assert_eq!((world.note(true), wanting(&session).unwrap()), (Noted::Nothing, None), "too short");
    world.answers(20_000);
    assert_eq!(world.note(false), Noted::Written);
    let asked = wanting(&session).unwrap().unwrap();
    assert!(asked.answered(&session, Some(&mine)).unwrap());
    assert_eq!((world.text().as_deref(), wanting(&session).unwrap()), (Some(mine.as_str()), None));
    assert_eq!(before_compaction(&session, now()).unwrap().unwrap(), mine, "nothing was asked since");
    world.says("user", &json!("the second wish"));
    let given = before_compaction(&session, now()).unwrap().unwrap();
    assert!(given.contains("- Asked last: the second wish\n- mine"), "{given}");
    world.answers(30_000);
    assert_eq!(world.note(true), Noted::Written);
    assert!(!world.text().unwrap().contains("mine"), "rules know more now");
    let late = wanting(&session).unwrap().unwrap();
    world.answers(30_000);
    assert_eq!(world.note(true), Noted::Written);
    assert!(!late.answered(&session, Some(&mine)).unwrap(), "an answer that comes too late");
    let failed = wanting(&session).unwrap().unwrap();
    assert!(!failed.answered(&session, None).unwrap());
    assert!(wanting(&session).unwrap().is_none() && !world.text().unwrap().contains("mine"), "asked once");
}

/// The last turns are handed out without secrets, with the directory that the session began in.
#[test]
fn the_last_turns_are_without_secrets() {
    let world = World::new();
    let token = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    world.says("user", &json!("an early wish"));
    for _ in 0..6 {
        world.answers(1 << 20);
    }
    world.says("user", &json!(format!("deploy with {token} please")));
    let (turns, _) = lately(&world.session()).unwrap();
    let text: String = turns.iter().map(|turn| turn.text.as_str()).collect();
    assert!(text.contains("deploy with") && !text.contains(&token) && !text.contains("an early wish"));
    assert!((2..=MAX_LATELY).contains(&turns.len()));
}

/// A file that is rewritten, a state that is damaged and a line that is half written cost a second reading at most.
#[test]
fn damage_costs_a_second_reading_and_nothing_else() {
    let world = World::new();
    world.says("user", &json!("the old wish"));
    world.answers(50_000);
    assert_eq!(world.note(true), Noted::Written);
    let whole = world.text().unwrap();
    let state = world.place.state_dir().join("session/s-1.json");
    let bytes = fs::read(&state).unwrap();
    for len in [0, 1, 40, bytes.len() / 2, bytes.len() - 2] {
        fs::write(&state, &bytes[..len]).unwrap();
        assert_eq!(before_compaction(&world.session(), now()).unwrap().unwrap(), whole, "cut to {len}");
    }
    let mut file = OpenOptions::new().append(true).open(&world.transcript).unwrap();
    file.write_all(br#"{"type":"user","sessionId":"s-1","message":{"content":"half"#).unwrap();
    assert_eq!(before_compaction(&world.session(), now()).unwrap().unwrap(), whole, "a line on its way");
    fs::remove_file(&world.transcript).unwrap();
    world.says("user", &json!("a file that was written anew"));
    let given = before_compaction(&world.session(), now()).unwrap().unwrap();
    assert!(given.contains("written anew") && !given.contains("the old wish"), "{given}");
}

/// A backlog is read in parts by a hook, and whole by whoever has the time.
#[test]
fn a_backlog_is_read_in_parts() {
    let world = World::new();
    world.says("user", &json!("a long story"));
    for _ in 0..10 {
        world.answers(1 << 20);
    }
    world.says("user", &json!("the end of it"));
    assert_eq!(world.note(true), Noted::Behind);
    let mut n_beats = 0;
    let noted = catch_up(&world.session(), true, now(), &mut || n_beats += 1).unwrap();
    assert!(matches!(noted, Noted::Written | Noted::Read) && n_beats > 1, "{noted:?} after {n_beats}");
    let digest = digest(&world.place, "s-1").unwrap().unwrap();
    assert_eq!(digest.n_prompts(), 2);
}

#[test]
fn a_session_that_nobody_ended_is_found_after_a_day() {
    let world = World::new();
    world.says("user", &json!("left alone"));
    before_compaction(&world.session(), now()).unwrap();
    let written = Timestamp::try_from(fs::metadata(&world.transcript).unwrap().modified().unwrap()).unwrap();
    let after = |hours: i64| written.checked_add(SignedDuration::from_hours(hours)).unwrap();
    assert_eq!(abandoned(&world.place, after(23)).unwrap(), []);
    let jobs = abandoned(&world.place, after(25)).unwrap();
    let job = &jobs[0];
    assert_eq!((jobs.len(), job.kind, job.session.as_deref()), (1, Kind::End, Some("s-1")));
    assert_eq!(
        (job.agent.as_deref(), &job.transcript),
        (Some("claude-code"), &Some(world.transcript.clone()))
    );
}
