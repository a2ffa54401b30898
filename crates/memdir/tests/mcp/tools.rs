//! What the hub does: its tools, resources and prompts.

use std::fs;

use memdir_testkit::{Sandbox, Tree};
use serde_json::{Value, json};

use crate::host::{Era, Host, meta, sandbox, server};

const DATABASE: &str = "Integration tests run against a real database, never mocks.\n\n**Why:** mocked tests passed while the \
                        migration failed.\n\n**How to apply:** use the compose service.";

fn save(sandbox: &Sandbox, name: &str, memory_type: &str, description: &str, body: &str, at: &str) {
    sandbox
        .memdir(&["save", name, "--type", memory_type, "--description", description, "--body", body])
        .at(at)
        .ok();
}

/// A vault with some memories of 2026-03-30.
fn stocked() -> Sandbox {
    let sandbox = sandbox();
    let at = "2026-03-30T10:00:00Z";
    save(&sandbox, "feedback-real-db", "feedback", "Integration tests use a real database", DATABASE, at);
    let freeze = "Non-critical merges stop on 2026-03-05 for the mobile release.\n\n**Why:** QA.\n\n**How to apply:** wait.";
    save(&sandbox, "project-freeze", "project", "Merge freeze for the mobile release", freeze, at);
    save(
        &sandbox,
        "reference-bugs",
        "reference",
        "Where pipeline bugs are tracked",
        "Linear, project INGEST.",
        at,
    );
    sandbox
}

/// MH-01: seven tools, sorted, the same bytes at any time and in both eras.
#[test]
fn mh_01_the_seven_tools_are_sorted_and_constant() {
    let sandbox = stocked();
    let listed = |host: &mut Host| host.result("tools/list", json!({}))["tools"].clone();
    let mut first = Host::start(&sandbox);
    let tools = listed(&mut first);
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "check_stale",
            "extract_facts",
            "index_markdown",
            "log_session",
            "memory",
            "search_memory",
            "validate_placement"
        ]
    );
    first.ok("memory", json!({ "command": "delete", "path": "/memories/reference-bugs.md" }));
    let mut second = Host::of(server(&sandbox, &[]), Era::Stateless);
    assert_eq!((&listed(&mut first), &listed(&mut second)), (&tools, &tools));
    for tool in tools.as_array().unwrap() {
        let always = tool["_meta"]["anthropic/alwaysLoad"] == json!(true);
        assert_eq!(always, ["memory", "search_memory"].contains(&tool["name"].as_str().unwrap()), "{tool}");
        assert!(
            tool["annotations"]["readOnlyHint"].is_boolean()
                && tool["annotations"]["destructiveHint"].is_boolean()
        );
        assert!(tool.get("outputSchema").is_none() && tool["inputSchema"]["type"] == "object");
    }
}

/// A.7: a host of the newest era needs no handshake, and one that asks for a version nobody knows is told which there are.
#[test]
fn both_eras_are_served() {
    let sandbox = stocked();
    let mut host = Host::of(server(&sandbox, &[]), Era::Stateless);
    let about = host.result("server/discover", json!({}));
    assert_eq!(about["resultType"], "complete");
    let versions = about["supportedVersions"].as_array().unwrap();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(versions.contains(&json!(version)), "{versions:?}");
    }
    assert!(about["instructions"].as_str().unwrap().len() < 2_048);
    assert!(about["ttlMs"].is_u64() && about["cacheScope"].is_string(), "{about}");
    let tools = host.result("tools/list", json!({}));
    assert!(tools["ttlMs"].is_u64() && tools["cacheScope"] == "public" && tools["resultType"] == "complete");
    assert!(host.ok("search_memory", json!({ "query": "real database" })).contains("feedback-real-db.md"));
    let mut unknown = meta();
    unknown["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    host.write(
        &json!({ "jsonrpc": "2.0", "id": 99, "method": "tools/list", "params": { "_meta": unknown } })
            .to_string(),
    );
    assert_eq!(host.receive()["error"]["code"], -32022);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut host = Host::of(server(&sandbox, &[]), Era::Stateless);
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
        host.write(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string(),
        );
        let answer = host.receive();
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "memdir");
    }
}

/// MH-02, R3-02, R3-04: a paraphrase finds the memory, with score, type, age and tier; it is said how.
#[test]
fn mh_02_a_paraphrase_finds_the_memory_and_says_how() {
    let sandbox = stocked();
    let mut host = Host::start(&sandbox);
    let text = host.ok("search_memory", json!({ "query": "may I stub out postgres in the test suite?" }));
    let first = text.lines().nth(1).unwrap();
    assert!(first.starts_with("[feedback] feedback-real-db.md — saved 3 days ago, said by user"), "{text}");
    assert!(
        first.contains("confirmed tier, score 0.") || first.contains("confirmed tier, score 1."),
        "{text}"
    );
    assert!(text.contains("by words (BM25) and meaning (local vectors)"), "{text}");
    assert_eq!(
        host.ok("search_memory", json!({ "query": "what did we decide about the qzxv?" })),
        "no memory found"
    );
    let few = host.ok("search_memory", json!({ "query": "release database bugs", "limit": 1 }));
    assert_eq!(few.matches(".md — ").count(), 1, "{few}");
}

/// What a session was shown is known afterwards, and what it read or edited counts as use.
#[test]
fn use_is_written_to_the_ledger_of_the_session() {
    let sandbox = stocked();
    let mut command = server(&sandbox, &[]);
    command.env("MEMDIR_SESSION", "s-77");
    let mut host = Host::of(command, Era::Handshake);
    host.ok("search_memory", json!({ "query": "real database for integration tests" }));
    host.ok("memory", json!({ "command": "view", "path": "/memories/project-freeze.md" }));
    host.read("memdir://memory/reference-bugs");
    let ledgers = sandbox.state_tree();
    let lines: Vec<Value> = ledgers
        .paths()
        .filter(|path| path.contains("ledger/usage-"))
        .flat_map(|path| {
            String::from_utf8_lossy(ledgers.get(path).unwrap()).lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .filter_map(|line| serde_json::from_str(&line).ok())
        .filter(|event: &Value| event["sid"] == "s-77")
        .collect();
    let has = |ev: &str, mem: &str, how: Value| {
        lines.iter().any(|event| {
            event["ev"] == ev && event["mem"] == mem && event["how"] == how && event["by"] == "mcp"
        })
    };
    assert!(has("surfaced", "feedback-real-db", Value::Null), "{lines:?}");
    assert!(has("used", "project-freeze", json!("read")), "{lines:?}");
    assert!(has("used", "reference-bugs", json!("read")), "{lines:?}");
    // Recall does not tell the session again what it was shown.
    let again =
        sandbox.memdir(&["recall", "which database do integration tests use?", "--session", "s-77"]).json();
    assert!(again["hits"].as_array().unwrap().iter().all(|hit| hit["name"] != "feedback-real-db"), "{again}");
}

/// MH-03: an entry with four sections that never changes.
#[test]
fn mh_03_log_session_writes_an_entry_that_never_changes() {
    let sandbox = stocked();
    let mut host = Host::start(&sandbox);
    let entry = json!({
        "summary": "Moved token refresh behind a queue.",
        "decisions": ["Use a queue: refreshes came in bursts"],
        "unfinished": ["rotate the staging key by tomorrow"],
        "related": ["feedback-real-db"],
    });
    let text = host.ok("log_session", entry.clone());
    assert!(text.starts_with("written to the journal: 2026-04-02-"), "{text}");
    let journal =
        || sandbox.state_tree().without(|path| !path.contains("/journal/") || !path.ends_with(".md"));
    let written = journal();
    let path = written.paths().next().unwrap().to_owned();
    let file = String::from_utf8(written.get(&path).unwrap().to_vec()).unwrap();
    for part in [
        "## Summary",
        "## Decisions",
        "## Unfinished",
        "## Related",
        "agent: test-host",
        "[[feedback-real-db]]",
    ] {
        assert!(file.contains(part), "{part} in {file}");
    }
    assert!(file.contains("2026-04-03"), "days are dates: {file}");
    assert!(host.ok("log_session", entry).contains("said the same before"));
    host.ok(
        "log_session",
        json!({ "summary": "Something else.", "decisions": "one decision as a plain text" }),
    );
    let later = journal();
    assert_eq!(later.paths().count(), 2);
    assert_eq!(later.get(&path), written.get(&path), "an entry never changes");
    for empty in [json!({}), json!({ "summary": "  " })] {
        assert!(host.call("log_session", empty).is_error);
    }
    let secret = json!({ "summary": format!("The key is AKIA{}", "QYLPMN5HFIQR7XYA") });
    let said = host.call("log_session", secret);
    assert!(said.is_error && !said.text.contains("QYLPMN5"), "{said:?}");
    assert_eq!(journal().paths().count(), 2);
}

/// MH-04: candidates with type, scope and evidence, from the user's words only; nothing is saved.
#[test]
fn mh_04_extract_facts_gives_candidates_with_evidence() {
    let sandbox = stocked();
    let mut host = Host::start(&sandbox);
    let before = sandbox.vault_tree();
    let line = |role: &str, text: &str| {
        json!({ "type": role, "sessionId": "s", "uuid": text, "message": { "role": role, "content": text } })
            .to_string()
    };
    let transcript = [
        line("user", "please fix the build"),
        line("assistant", "We always deploy on Fridays, never on Mondays, because I say so."),
        line("user", "no, never use npm in this repo, we always use pnpm because of the lockfile"),
        line("user", "I'm a data scientist, I look after the logging of this team"),
    ]
    .join("\n");
    let text = host.ok("extract_facts", json!({ "text": transcript }));
    assert!(text.contains("type feedback, scope "), "{text}");
    assert!(text.contains("type user, scope private"), "{text}");
    assert!(text.contains("evidence: message 3, characters 0 to "), "{text}");
    assert!(text.contains("never use npm") && !text.contains("Fridays"), "{text}");
    let plain = host.ok(
        "extract_facts",
        json!({ "text": "User: never use npm here, always use pnpm, the lockfile needs it\nAssistant: ok" }),
    );
    assert!(plain.contains("type feedback") && plain.contains("message 1"), "{plain}");
    assert!(host.ok("extract_facts", json!({ "text": "what time is it?" })).starts_with("no candidates"));
    assert!(host.call("extract_facts", json!({ "session": "nowhere" })).is_error);
    assert!(before.changes(&sandbox.vault_tree()).is_empty());
}

/// MH-05: idle for 15 days is in the list of 14 and not in that of 30.
#[test]
fn mh_05_check_stale_lists_what_is_idle_by_days() {
    let sandbox = stocked();
    let mut command = server(&sandbox, &[]);
    command.env("MEMDIR_NOW", "2026-04-14T12:00:00Z");
    let mut host = Host::of(command, Era::Handshake);
    let text = host.ok("check_stale", json!({ "days": 14 }));
    assert!(text.contains("idle 15 days") && text.contains("feedback-real-db"), "{text}");
    assert_eq!(host.ok("check_stale", json!({})), text, "14 days are meant if none are named");
    assert_eq!(host.ok("check_stale", json!({ "days": 30 })), "nothing lies idle for 30 days or more");
}

/// MH-06.
#[test]
fn mh_06_validate_placement_names_where_a_text_belongs() {
    let sandbox = sandbox();
    let mut host = Host::start(&sandbox);
    let ask = json!({ "text": "Decided to use Next.js instead of Astro 5", "target": "CLAUDE.md" });
    let text = host.ok("validate_placement", ask);
    assert!(text.starts_with("out of place in CLAUDE.md"), "{text}");
    assert!(text.contains("STATUS.md") && text.contains("docs/decisions/"), "{text}");
    let ask = json!({ "text": "Never use npm in this repository; use pnpm.", "target": "CLAUDE.md" });
    assert!(host.ok("validate_placement", ask).starts_with("in place"));
    assert!(host.call("validate_placement", json!({ "text": "x", "target": "somewhere.xyz" })).is_error);
}

/// MH-07: one changed file, one re-indexed; a file that was only touched is none.
#[test]
fn mh_07_index_markdown_goes_by_content() {
    let sandbox = stocked();
    let mut host = Host::start(&sandbox);
    assert_eq!(host.ok("index_markdown", json!({})), "3 files re-indexed, 0 removed, 0 unchanged");
    assert_eq!(host.ok("index_markdown", json!({})), "0 files re-indexed, 0 removed, 3 unchanged");
    let text = sandbox.read("reference-bugs");
    sandbox.write("reference-bugs.md", text.replace("INGEST", "INTAKE"));
    sandbox.write("project-freeze.md", sandbox.read("project-freeze"));
    assert_eq!(host.ok("index_markdown", json!({})), "1 file re-indexed, 0 removed, 2 unchanged");
    fs::remove_file(sandbox.memory("project-freeze")).unwrap();
    assert_eq!(host.ok("index_markdown", json!({})), "0 files re-indexed, 1 removed, 2 unchanged");
    assert!(host.ok("search_memory", json!({ "query": "INTAKE" })).contains("reference-bugs.md"));
}

/// MH-08: no socket is ever opened, whatever is called.
#[test]
fn mh_08_nothing_outside_is_asked() {
    let sandbox = stocked();
    let about = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let mut lines = vec![
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ];
    let calls = [
        ("search_memory", json!({ "query": "real database" })),
        ("memory", json!({ "command": "view", "path": "/memories" })),
        ("log_session", json!({ "summary": "Looked around." })),
        ("extract_facts", json!({ "text": "User: never use npm here, we always use pnpm" })),
        ("check_stale", json!({})),
        ("validate_placement", json!({ "text": "Use tabs.", "target": "CLAUDE.md" })),
        ("index_markdown", json!({})),
    ];
    for (id, (name, arguments)) in (1..).zip(calls) {
        let params = json!({ "name": name, "arguments": arguments });
        lines.push(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (output, trace) = sandbox.memdir(&["mcp"]).stdin(input).traced("socket,connect,sendto");
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(output.stdout.lines().count(), 8, "every request is answered before the end: {output}");
    assert!(!output.stdout.contains("\"isError\":true"), "{output}");
    assert_eq!(trace.count(&["socket", "connect", "sendto"]), 0);
}

/// MH-09: whatever is broken, a call is answered and the process lives.
#[test]
fn mh_09_a_failing_hub_never_fails_the_session() {
    let sandbox = stocked();
    let mut host = Host::start(&sandbox);
    let search = json!({ "query": "which database do the tests use?" });
    assert!(host.ok("search_memory", search.clone()).contains("feedback-real-db"));
    // A damaged index is built anew.
    let index = Tree::of(&sandbox.state().join("index"));
    let is_file =
        |path: &&str| path.contains(".notes/") && sandbox.state().join("index").join(path).is_file();
    for path in index.paths().filter(is_file) {
        fs::write(sandbox.state().join("index").join(path), b"garbage").unwrap();
    }
    assert!(host.ok("search_memory", search.clone()).contains("feedback-real-db"));
    // A vault that is gone is an empty one.
    let (vault, away) = (sandbox.vault(), sandbox.root().join("away"));
    fs::rename(&vault, &away).unwrap();
    assert_eq!(host.ok("search_memory", search.clone()), "no memory found");
    // A vault that is no directory, and one that everybody may write into, are faults that are told.
    fs::write(&vault, "a file").unwrap();
    for (tool, arguments) in [
        ("search_memory", search.clone()),
        ("memory", json!({ "command": "view", "path": "/memories" })),
        ("memory", json!({ "command": "create", "path": "/memories/a.md", "file_text": "x" })),
        ("log_session", json!({ "summary": "x y z" })),
        ("check_stale", json!({})),
        ("index_markdown", json!({})),
    ] {
        let said = host.call(tool, arguments);
        assert!(said.is_error && said.text.starts_with("Error: "), "{tool}: {said:?}");
    }
    assert_eq!(host.result("resources/list", json!({}))["resources"], json!([]));
    assert!(host.request("resources/read", json!({ "uri": "memdir://page" })).get("error").is_some());
    let prompt = host.result("prompts/get", json!({ "name": "dashboard" }));
    assert!(prompt["messages"][0]["content"]["text"].as_str().unwrap().contains("There is no page"));
    fs::remove_file(&vault).unwrap();
    fs::rename(&away, &vault).unwrap();
    // A state directory that cannot be used: reading goes on, writing is refused.
    let (state, aside) = (sandbox.state(), sandbox.root().join("aside"));
    fs::rename(&state, &aside).unwrap();
    fs::write(&state, "a file").unwrap();
    assert!(
        host.call("memory", json!({ "command": "create", "path": "/memories/a.md", "file_text": "x" }))
            .is_error
    );
    host.call("search_memory", search.clone());
    fs::remove_file(&state).unwrap();
    fs::rename(&aside, &state).unwrap();
    // And when all is well again, so are the answers, without a restart.
    assert!(host.ok("search_memory", search).contains("feedback-real-db"));
    assert_eq!(host.leave(), 0);
}

/// MH-09: on a disk that is full a write is an error, what was acknowledged is there, and reading goes on.
#[test]
fn mh_09_a_full_disk_is_an_answer() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not run: needs root, for a small disk of its own");
        return;
    }
    let sandbox = sandbox();
    let small = sandbox.root().join("small");
    fs::create_dir(&small).unwrap();
    let program = server(&sandbox, &[]);
    let script = "mount -t tmpfs -o size=400k,mode=700 tmpfs \"$1\" && exec \"$2\" mcp";
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(&small).arg(program.get_program());
    command.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("MEMDIR_HOME", small.join("state")).env("MEMDIR_VAULT", small.join("vault"));
    command.current_dir(sandbox.project());
    let mut host = Host::of(command, Era::Handshake);
    let note = |n: usize| {
        let text = format!("Zebra number {n}. ").repeat(600);
        format!("---\nname: note-{n}\ndescription: zebra {n}\ntype: reference\n---\n\n{text}\n")
    };
    let mut kept = Vec::new();
    let refused = (0..200).find_map(|n| {
        let path = format!("/memories/note-{n}.md");
        let said = host.call("memory", json!({ "command": "create", "path": path, "file_text": note(n) }));
        kept.extend((!said.is_error).then_some(path));
        said.is_error.then_some(said)
    });
    let refused = refused.expect("the disk is small");
    assert!(refused.text.starts_with("Error: could not write"), "{refused:?}");
    assert!(!kept.is_empty());
    for path in &kept {
        let text = host.ok("memory", json!({ "command": "view", "path": path }));
        assert!(text.contains("Zebra number"), "{text}");
    }
    assert!(host.ok("search_memory", json!({ "query": "zebra" })).contains("note-"));
    assert_eq!(host.leave(), 0);
}

/// MH-10: an error text finds what is known of it in a memory, in the journal and in a session.
#[test]
fn mh_10_an_error_that_was_met_before_is_found_in_all_three_layers() {
    let sandbox = sandbox();
    let mut host = Host::start(&sandbox);
    let error =
        "Error: PoolTimedOut while waiting for an open connection at sqlx::pool::acquire (src/db/pool.rs:88)";
    let project = sandbox.project().canonicalize().unwrap();
    let slug: String =
        project.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = sandbox.home().join(".claude/projects").join(slug);
    fs::create_dir_all(&folder).unwrap();
    let turn = |role: &str, text: &str| {
        json!({ "type": role, "uuid": text, "sessionId": "s1", "cwd": project, "timestamp": "2026-03-20T10:00:00Z",
                "message": { "role": role, "content": text } })
    };
    let turns = [
        turn("user", "the nightly job dies with PoolTimedOut"),
        turn("assistant", "The pool was too small."),
    ];
    fs::write(folder.join("s1.jsonl"), turns.map(|turn| format!("{turn}\n")).concat()).unwrap();
    let text = host.ok("search_memory", json!({ "query": error }));
    assert!(text.contains("PoolTimedOut") && text.contains("said by the user in a session"), "{text}");
    host.ok(
        "log_session",
        json!({ "summary": "PoolTimedOut at night: the pool was too small, now 20 connections." }),
    );
    let text = host.ok("search_memory", json!({ "query": error }));
    assert!(text.contains("journal of ") && text.contains("20 connections"), "{text}");
    let note = "---\nname: project-pool\ndescription: PoolTimedOut in the nightly job\ntype: project\nmetadata:\n  modified: \
                2026-03-30T10:00:00Z\n---\n\nPoolTimedOut means that the nightly job holds every connection; operations keeps it so.\n";
    host.ok("memory", json!({ "command": "create", "path": "/memories/project-pool.md", "file_text": note }));
    let text = host.ok("search_memory", json!({ "query": error }));
    assert!(text.contains("[project] project-pool.md — saved 3 days ago"), "{text}");
    let all =
        host.ok("search_memory", json!({ "query": error, "layers": ["memory", "journal", "transcript"] }));
    for part in ["project-pool.md", "journal of ", "in a session of"] {
        assert!(all.contains(part), "{part} in {all}");
    }
}

/// Resources are listed in order and in pages, and what is read shows its age first (R3-02).
#[test]
fn resources_come_in_pages_and_show_their_age_first() {
    let sandbox = stocked();
    for n in 0..130 {
        sandbox.write(
            &format!("note-{n:03}.md"),
            format!("---\nname: note-{n:03}\ndescription: note {n}\ntype: reference\n---\n\nNumber {n}.\n"),
        );
    }
    let mut host = Host::start(&sandbox);
    let mut uris: Vec<String> = Vec::new();
    let mut cursor = Value::Null;
    let mut n_pages = 0;
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = host.result("resources/list", params);
        uris.extend(
            page["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap().to_owned()),
        );
        n_pages += 1;
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((uris.len(), n_pages), (134, 2));
    assert!(uris.is_sorted() && uris.contains(&"memdir://page".to_owned()));
    let text = host.read("memdir://memory/feedback-real-db");
    assert!(text.lines().next().unwrap().contains("saved 3 days ago, said by user"), "{text}");
    assert!(text.contains("never mocks"), "{text}");
    assert!(host.read("memdir://page").contains("(feedback-real-db.md)"));
    for missing in [
        "memdir://memory/nothing",
        "memdir://memory/..%2f..%2fetc%2fpasswd",
        "memdir://memory/%",
        "file:///etc/passwd",
        "",
    ] {
        let answer = host.request("resources/read", json!({ "uri": missing }));
        assert_eq!(answer["error"]["code"], -32002, "{missing}: {answer}");
    }
}

/// Prompts: six, with what they ask for, and the pages of the commands.
#[test]
fn prompts_put_a_request_before_the_model() {
    let sandbox = stocked();
    let mut host = Host::start(&sandbox);
    let prompts = host.result("prompts/list", json!({}))["prompts"].clone();
    let names: Vec<&str> =
        prompts.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["dashboard", "forget", "monthly", "recall", "remember", "wrap"]);
    let mut text = |params: Value| {
        let result = host.result("prompts/get", params);
        result["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
    };
    assert!(text(json!({ "name": "dashboard" })).contains("feedback-real-db"));
    assert!(text(json!({ "name": "monthly" })).contains("[memdir "));
    assert!(
        text(json!({ "name": "remember", "arguments": { "what": "tabs, not spaces" } }))
            .ends_with("tabs, not spaces")
    );
    assert!(text(json!({ "name": "wrap" })).contains("log_session"));
    for wrong in [json!({ "name": "nothing" }), json!({ "name": "recall" })] {
        assert_eq!(host.request("prompts/get", wrong)["error"]["code"], -32602);
    }
}
