//! Session files found, searched and kept, in directories of their own.

use std::fs;
use std::path::{Path, PathBuf};

use memdir_core::transcript::{Case, Limits, Pattern};
use serde_json::json;

use super::lines::{Lines, MAX_LINE, Piece, Shape};
use super::*;

/// A home with a project in it, and session files made by the test.
struct World {
    _temp: tempfile::TempDir,
    base: PathBuf,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir(base.join("p")).unwrap();
        Self { _temp: temp, base }
    }

    fn transcripts(&self) -> Transcripts {
        Transcripts {
            home: self.base.join("state"),
            id: "p-123456".into(),
            state: self.base.join("state/projects/p-123456"),
            dirs: SessionDirs {
                claude: Some(self.base.join(".claude/projects")),
                codex: Some(self.base.join(".codex")),
                gemini: Some(self.base.join(".gemini")),
            },
            roots: vec![self.base.join("p")],
            slugs: Vec::new(),
            keep: false,
        }
    }

    /// The same, after the user agreed that something is kept.
    fn keeping(&self) -> Transcripts {
        Transcripts { keep: true, ..self.transcripts() }
    }

    /// The same from another home, which has nothing of this one.
    fn elsewhere(&self) -> Transcripts {
        Transcripts { home: self.base.join("elsewhere"), ..self.transcripts() }
    }

    fn heard_files(&self) -> Vec<PathBuf> {
        let dir = fs::read_dir(self.base.join("state/index/p-123456.turns")).into_iter().flatten();
        let files = dir.map(|entry| entry.unwrap().path()).filter(|path| !path.ends_with("lock"));
        files.filter(|path| fs::metadata(path).unwrap().len() > 0).collect()
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn slug(&self, dir: &str) -> String {
        crate::place::slug::Slug::of(self.base.join(dir).to_str().unwrap()).own()
    }

    /// Writes a session of Claude Code that was held in `cwd`.
    fn claude(&self, folder: &str, session: &str, cwd: &str, texts: &[&str]) -> PathBuf {
        let cwd = self.base.join(cwd);
        let line = |(n, text): (usize, &&str)| {
            let line = json!({ "type": "user", "uuid": format!("u{n}"), "cwd": cwd, "sessionId": session,
                "timestamp": format!("2026-04-01T10:00:{n:02}Z"), "message": { "role": "user", "content": text } });
            format!("{line}\n")
        };
        let text: String = texts.iter().enumerate().map(line).collect();
        self.write(&format!(".claude/projects/{folder}/{session}.jsonl"), text)
    }

    fn backfill(&self, max_bytes: u64) -> Report {
        self.transcripts().backfill(None, &Scanner::builtin(), max_bytes, &mut |_| {}).unwrap()
    }

    fn kept(&self) -> Vec<String> {
        self.transcripts().kept_turns().map(|turn| format!("{} {}", turn.session, turn.text)).collect()
    }
}

const MUCH: u64 = 1 << 30;

fn ids(transcripts: &Transcripts) -> Vec<String> {
    let mut ids: Vec<String> = transcripts.sessions().into_iter().map(|session| session.id).collect();
    ids.sort();
    ids
}

#[test]
fn sessions_are_found_by_the_directory_they_were_held_in() {
    let world = World::new();
    world.claude(&world.slug("p"), "mine", "p", &["a"]);
    world.claude(&world.slug("p/src"), "below", "p/src", &["a"]);
    // `p-src` and `p/src` have one slug; only the lines tell them apart.
    world.claude(&world.slug("p-src"), "a-neighbour", "p-src", &["a"]);
    world.claude(&world.slug("q"), "other", "q", &["a"]);
    let codex = |id: &str, cwd: &str| {
        let head = json!({ "type": "session_meta", "payload": { "id": id, "cwd": world.base.join(cwd) } });
        let name = format!(".codex/sessions/2026/04/01/rollout-2026-04-01T10-00-00-{id}.jsonl");
        world.write(&name, format!("{head}\n"));
    };
    codex("codex-mine", "p");
    codex("codex-other", "q");
    let gemini = |folder: &str, id: &str| {
        let head = json!({ "sessionId": id, "projectHash": "x", "kind": "main" });
        world.write(&format!(".gemini/tmp/{folder}/chats/session-{id}.jsonl"), format!("{head}\n"));
    };
    gemini("p", "gemini-mine");
    world.write(".gemini/tmp/p/.project_root", world.base.join("p").to_str().unwrap());
    gemini("q", "gemini-other");
    world.write(".gemini/tmp/q/.project_root", world.base.join("q").to_str().unwrap());
    let hash = memdir_core::hash::ContentHash::of(world.base.join("p").to_str().unwrap().as_bytes());
    gemini(&hash.to_string(), "gemini-early");
    assert_eq!(ids(&world.transcripts()), ["below", "codex-mine", "gemini-early", "gemini-mine", "mine"]);
}

#[test]
fn a_repository_inside_the_project_is_another_project_and_a_work_tree_is_not() {
    let world = World::new();
    let git = |dir: &str| {
        world.write(&format!("{dir}/.git/HEAD"), "ref: refs/heads/main\n");
        for folder in ["objects", "refs"] {
            fs::create_dir(world.base.join(dir).join(".git").join(folder)).unwrap();
        }
    };
    git("p");
    git("p/vendor/lib");
    fs::create_dir_all(world.base.join("p/src")).unwrap();
    world.write("p/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
    world.write("p/.git/worktrees/w/commondir", "../..\n");
    world.write("p/.git/worktrees/w/gitdir", format!("{}\n", world.base.join("p/trees/w/.git").display()));
    world.write("p/trees/w/.git", format!("gitdir: {}\n", world.base.join("p/.git/worktrees/w").display()));
    for (session, dir) in [("root", "p"), ("src", "p/src"), ("nested", "p/vendor/lib"), ("tree", "p/trees/w")]
    {
        world.claude(&world.slug(dir), session, dir, &["a"]);
    }
    assert_eq!(ids(&world.transcripts()), ["root", "src", "tree"]);
}

#[test]
fn a_session_that_was_copied_is_one_and_links_are_not_followed() {
    let world = World::new();
    let folder = world.slug("p");
    let short = world.claude(&folder, "s1", "p", &["a"]);
    world.claude(&format!("{folder}-x"), "s1", "p/x", &["a", "b"]);
    std::os::unix::fs::symlink(&short, short.with_file_name("linked.jsonl")).unwrap();
    let sessions = world.transcripts().sessions();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].turns().unwrap().count(), 2, "the longer file has it all");
}

/// Reads all pieces of a file as their lengths.
fn pieces(path: &Path, shape: Shape) -> Vec<(Piece, usize)> {
    let mut lines = Lines::new(fs::File::open(path).unwrap(), shape, 0).unwrap();
    let mut buffer = Vec::new();
    let mut pieces = Vec::new();
    while let Some(piece) = lines.next(&mut buffer).unwrap() {
        assert!(buffer.capacity() <= 2 * MAX_LINE);
        pieces.push((piece, buffer.len()));
    }
    pieces
}

#[test]
fn tr_01_a_line_beyond_the_limit_is_read_past() {
    let world = World::new();
    let long = "x".repeat(3 * MAX_LINE);
    let path = world.write("f", format!("ab\n{long}\n\ncd\nef"));
    let expected =
        [(Piece::Line, 2), (Piece::TooLong, 0), (Piece::Line, 0), (Piece::Line, 2), (Piece::Torn, 2)];
    assert_eq!(pieces(&path, Shape::Lines), expected);
    assert_eq!(pieces(&world.write("g", &long), Shape::Lines), [(Piece::TooLong, 0)]);
}

#[test]
fn a_document_is_read_entry_by_entry() {
    let world = World::new();
    let text = json!({ "sessionId": "early-1", "projectHash": "x", "messages": [
        { "id": "1", "type": "user", "content": "a } brace ] in \"text\" \\" },
        { "id": "2", "type": "gemini", "content": [{ "text": "nested" }], "tokens": { "input": 1 } },
    ] });
    let path =
        world.write(".gemini/tmp/p/chats/session-x.json", serde_json::to_string_pretty(&text).unwrap());
    world.write(".gemini/tmp/p/.project_root", world.base.join("p").to_str().unwrap());
    assert_eq!(pieces(&path, Shape::Document).len(), 2);
    let sessions = world.transcripts().sessions();
    let turns: Vec<String> = sessions[0].turns().unwrap().map(|turn| turn.text).collect();
    assert_eq!(sessions[0].id, "early-1");
    assert_eq!(turns, ["a } brace ] in \"text\" \\", "nested"]);
}

#[test]
fn tr_03_a_second_backfill_copies_nothing_and_a_longer_session_only_what_is_new() {
    let world = World::new();
    let folder = world.slug("p");
    world.claude(&folder, "s1", "p", &["one", "two"]);
    assert_eq!((world.backfill(MUCH).turns, world.kept()), (2, vec!["s1 one".into(), "s1 two".into()]));
    let state = fs::read(world.base.join("state/projects/p-123456/cursors.json")).unwrap();
    assert_eq!(world.backfill(MUCH).turns, 0);
    assert_eq!(fs::read(world.base.join("state/projects/p-123456/cursors.json")).unwrap(), state);
    world.claude(&folder, "s1", "p", &["one", "two", "three"]);
    let report = world.backfill(MUCH);
    assert_eq!((report.turns, report.new_sessions), (1, 1));
    assert_eq!(world.kept(), ["s1 one", "s1 two", "s1 three"]);
}

#[test]
fn tr_03_a_lost_cursor_a_torn_copy_and_a_rewritten_file_copy_no_turn_twice() {
    let world = World::new();
    let folder = world.slug("p");
    let source = world.claude(&folder, "s1", "p", &["one", "two", "three"]);
    world.backfill(MUCH);
    let state = world.base.join("state/projects/p-123456");
    let copy = state.join("transcripts/s1.jsonl");
    let whole = fs::read(&copy).unwrap();

    fs::remove_file(state.join("cursors.json")).unwrap();
    assert_eq!(world.backfill(MUCH).turns, 0, "the ids are known");

    fs::write(&copy, &whole[..whole.len() - 5]).unwrap();
    fs::remove_file(state.join("cursors.json")).unwrap();
    assert_eq!(world.backfill(MUCH).turns, 1, "the line that was torn");
    assert_eq!(fs::read(&copy).unwrap(), whole);

    fs::write(&source, fs::read_to_string(&source).unwrap().lines().last().unwrap()).unwrap();
    assert_eq!(world.backfill(MUCH).turns, 0);
    assert_eq!(world.kept(), ["s1 one", "s1 two", "s1 three"], "what the host threw away stays");
    let found = grep(&world, "three", Limits { context: 9, ..LIMITS });
    let texts: Vec<_> = found.hits[0].window.turns.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!((found.hits.len(), texts), (1, vec!["one", "two", "three"]), "and is found, each turn once");
}

#[test]
fn a_last_line_that_is_being_written_waits_for_its_end() {
    let world = World::new();
    let source = world.claude(&world.slug("p"), "s1", "p", &["one", "two"]);
    let whole = fs::read(&source).unwrap();
    fs::write(&source, &whole[..whole.len() - 20]).unwrap();
    let report = world.backfill(MUCH);
    assert_eq!((report.turns, report.left_out.total()), (1, 0));
    fs::write(&source, &whole).unwrap();
    assert_eq!(world.backfill(MUCH).turns, 1);
    assert_eq!(world.kept(), ["s1 one", "s1 two"]);
}

#[test]
fn ux_25_the_oldest_copies_go_when_there_is_no_room_and_do_not_come_back() {
    let world = World::new();
    let folder = world.slug("p");
    for n in 0..10 {
        let path = world.claude(&folder, &format!("s{n}"), "p", &[]);
        let line = json!({ "type": "user", "uuid": "u", "cwd": world.base.join("p"), "sessionId": format!("s{n}"),
            "timestamp": format!("2026-04-{:02}T10:00:00Z", n + 1),
            "message": { "content": format!("{n} {}", "x".repeat(1_000)) } });
        fs::write(&path, format!("{line}\n")).unwrap();
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_775_000_000 + n * 86_400);
        fs::File::open(&path).unwrap().set_modified(at).unwrap();
    }
    let report = world.backfill(4_000);
    assert!(report.kept_bytes <= 4_000, "{report:?}");
    assert_eq!(report.dropped.len(), 7);
    let kept = |world: &World| world.kept().iter().map(|turn| turn[..2].to_owned()).collect::<Vec<_>>();
    assert_eq!(kept(&world), ["s7", "s8", "s9"]);
    let report = world.backfill(4_000);
    assert_eq!((report.turns, report.dropped.len()), (0, 0));
    assert_eq!(kept(&world), ["s7", "s8", "s9"]);
}

#[test]
fn turns_for_an_index_have_no_secrets_whether_they_are_kept_or_not() {
    let world = World::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let source = world.claude(&world.slug("p"), "s1", "p", &[&format!("the token is {token}")]);
    let transcripts = world.transcripts();
    let scanner = Scanner::builtin();
    let texts = || transcripts.turns(&scanner).map(|turn| turn.text).collect::<Vec<_>>();
    let from_host = texts();
    assert!(from_host[0].contains("[REDACTED:") && !from_host[0].contains(&token), "{from_host:?}");
    assert_eq!(world.backfill(MUCH).redacted, 1);
    fs::remove_file(source).unwrap();
    assert_eq!(texts(), from_host);
    assert_eq!(transcripts.remove_kept().unwrap(), 1);
    assert_eq!(texts(), [""; 0]);
}

fn grep(world: &World, pattern: &str, limits: Limits) -> Found {
    let pattern = Pattern::literal(pattern, Case::Smart).unwrap();
    let query = Query { pattern, role: None, session: None, limits };
    world.transcripts().grep(&query, &Scanner::builtin())
}

const LIMITS: Limits = Limits { context: 1, windows: 10, bytes: 10_000 };

#[test]
fn tr_01_a_search_returns_windows_within_its_limits_the_newest_first() {
    let world = World::new();
    let folder = world.slug("p");
    world.claude(&folder, "s1", "p", &["a", "the hit", "b", "c", "d", "another hit", "e"]);
    let found = grep(&world, "hit", LIMITS);
    let texts =
        |hit: &Hit| hit.window.turns.iter().map(|turn| turn.text.clone()).collect::<Vec<_>>().join("|");
    assert_eq!(found.hits.iter().map(texts).collect::<Vec<_>>(), ["d|another hit|e", "a|the hit|b"]);
    assert!(!found.is_truncated);

    let found = grep(&world, "hit", Limits { windows: 1, ..LIMITS });
    assert_eq!(found.hits.iter().map(texts).collect::<Vec<_>>(), ["d|another hit|e"]);
    assert!(found.is_truncated);

    let found = grep(&world, "hit", Limits { bytes: 7, ..LIMITS });
    assert_eq!(found.hits.iter().map(texts).collect::<Vec<_>>(), ["another"]);
    assert!(found.is_truncated);
}

#[test]
fn ux_25_a_swept_session_is_found_in_its_copy() {
    let world = World::new();
    let source = world.claude(&world.slug("p"), "s1", "p", &["the decision was sqlite"]);
    world.backfill(MUCH);
    fs::remove_file(source).unwrap();
    let found = grep(&world, "sqlite", LIMITS);
    assert_eq!(found.hits.len(), 1);
    assert!(found.hits[0].is_kept && found.hits[0].path.ends_with("transcripts/s1.jsonl"));
}

#[test]
fn a_session_id_never_leads_out_of_the_directory_of_copies() {
    for session in ["", "..", "../../x", "a/b", ".hidden", "x\0y", &"a".repeat(300), "ü"] {
        let name = kept::file_name(session);
        assert!(name.ends_with(".jsonl") && name.starts_with('x') && !name.contains('/'), "{name}");
    }
    assert_eq!(kept::file_name("5da15695-411e"), "5da15695-411e.jsonl");
}

#[test]
fn a_hit_is_found_wherever_it_lies_in_the_file() {
    let world = World::new();
    // Around the border of the blocks in which raw bytes are looked at.
    for size in (256 * 1024 - 400..256 * 1024 + 100).step_by(23) {
        world.claude(&world.slug("p"), "s1", "p", &[&"x".repeat(size), "a needle here"]);
        assert_eq!(grep(&world, "needle", LIMITS).hits.len(), 1, "behind {size} bytes");
        assert_eq!(grep(&world, "neeedle", LIMITS).hits.len(), 0);
    }
}

/// Searches and returns what was found with its score and parts.
fn said(transcripts: &Transcripts, text: &str) -> Vec<String> {
    let found = transcripts.search(text, 5, None, &Scanner::builtin());
    let line = |said: &Said| {
        format!("{} {} {} {:.4} {:?}", said.session, said.turn.uuid, said.turn.text, said.score, said.parts)
    };
    found.iter().map(line).collect()
}

const ASKED: [&str; 4] = [
    "where do the invoices live",
    "pottery in the evening",
    "which port has the database",
    "nothing of this",
];

#[test]
fn a_search_through_the_index_finds_what_one_without_it_does() {
    let world = World::new();
    let check = |step: &str| {
        for text in ASKED {
            assert_eq!(said(&world.keeping(), text), said(&world.elsewhere(), text), "{step}: {text}");
        }
    };
    let folder = world.slug("p");
    let texts =
        ["The invoices live in SQLite. Nowhere else!", "I learn pottery", "Port 5433 is the database's"];
    let first = world.claude(&folder, "s1", "p", &texts[..2]);
    world.claude(&folder, "s2", "p", &["What about the invoices?", "They moved to the archive."]);
    check("at first");
    assert!(!said(&world.keeping(), ASKED[0]).is_empty() && !world.heard_files().is_empty());
    world.claude(&folder, "s1", "p", &texts);
    check("after more was said");
    let again = json!({ "type": "user", "uuid": "u1", "cwd": world.base.join("p"), "sessionId": "s1",
        "timestamp": "2026-04-01T10:00:01Z", "message": { "role": "user", "content": "Invoices, not pottery" } });
    let more = fs::read_to_string(&first).unwrap() + &format!("{again}\n");
    fs::write(&first, more).unwrap();
    check("after a message was written again");
    world.claude(&folder, "s2", "p", &["Something else."]);
    check("after a file was written anew");
    for file in world.heard_files() {
        fs::write(file, "damage").unwrap();
    }
    check("after damage");
    fs::remove_file(first).unwrap();
    check("after a session was swept");
}

#[test]
fn only_what_is_new_is_read_into_the_index() {
    let world = World::new();
    let (folder, long) = (world.slug("p"), "x ".repeat(8 * 1024));
    world.claude(&folder, "s1", "p", &[&long, "the lantern is red"]);
    assert_eq!(said(&world.keeping(), "lantern").len(), 1);
    // Nobody writes like this. It shows that the second line is not read a second time.
    world.claude(&folder, "s1", "p", &[&long, "the quartz1 is red", "the meadow is green"]);
    assert_eq!(said(&world.keeping(), "meadow").len(), 1);
    assert!(said(&world.keeping(), "quartz1").is_empty());
    assert!(said(&world.keeping(), "lantern")[0].starts_with("s1 u1 "));
}

#[test]
fn the_index_holds_no_text_and_goes_with_the_word_of_the_user() {
    let world = World::new();
    world.claude(&world.slug("p"), "s1", "p", &["the decision was sqlite"]);
    assert_eq!(said(&world.keeping(), "sqlite").len(), 1);
    let has_text = |path: &PathBuf| fs::read(path).unwrap().windows(6).any(|bytes| bytes == b"sqlite");
    assert!(!world.heard_files().is_empty() && !world.heard_files().iter().any(has_text));
    world.keeping().remove_kept().unwrap();
    assert_eq!(world.heard_files(), [] as [PathBuf; 0]);
    assert_eq!(said(&world.keeping(), "sqlite").len(), 1);
    // Who no longer agrees has none after the next search.
    assert_eq!(said(&world.transcripts(), "sqlite").len(), 1);
    assert_eq!(world.heard_files(), [] as [PathBuf; 0]);
}
