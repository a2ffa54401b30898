//! What stays apart: teams from each other, secrets from the server, erased texts from its files, everything from its log.

use memdir_server::routes::{Endpoint, ROUTES};
use memdir_testkit::{Ask, Member, TeamServer, put_op, team_memory};
use serde_json::{Value, json};

use crate::world::{PROJECT, furnished, gzipped, honest, prepare, server, state};

/// T13: with a token of one team, nothing of another can be seen, guessed or changed.
#[test]
fn t13_another_team_is_as_one_that_does_not_exist() {
    let server = prepare().options(&["--rate", "100000", "--burst", "100000", "--behind-proxy"]).start();
    let (ours, theirs) = (server.add_team("ours", true), server.add_team("theirs", true));
    let (mine, things) = (furnished(&server, &ours, "mine"), furnished(&server, &theirs, "secret"));
    let before = (state(&server, &ours), state(&server, &theirs));
    for route in ROUTES.iter().filter(|route| route.path.contains("{team}")) {
        let about = format!("{} {}", route.method, route.path);
        // Whether such a thing exists in the other team makes no difference.
        let asked = [
            honest(route, "theirs", &things),
            honest(route, "theirs", &mine),
            honest(route, "nobodys", &things),
        ];
        let answers: Vec<_> = asked.map(|ask| server.ask(&ask.token(&ours.token))).into();
        for answer in &answers {
            assert_eq!((answer.status, answer.text()), (404, answers[0].text()), "{about}");
        }
        // Nor does it help to ask one's own team for the things of another.
        let answer = server.ask(&honest(route, "ours", &things).token(&ours.token));
        let expected = match route.endpoint {
            // These name nothing of the other team.
            Endpoint::Team
            | Endpoint::Members
            | Endpoint::Invites
            | Endpoint::Tokens
            | Endpoint::Projects => 200,
            Endpoint::Changes | Endpoint::Search | Endpoint::Audit | Endpoint::Ledgers | Endpoint::Batch => {
                200
            }
            Endpoint::Invite | Endpoint::MakeToken => continue,
            // To write where nothing is, one has to say so: a tag of another team is none here.
            Endpoint::PutMemory => 412,
            // One that does not exist here ends at its beginning.
            Endpoint::AppendLedger => 409,
            _ => 404,
        };
        assert_eq!(answer.status, expected, "{about}: {}", answer.text());
        if route.endpoint == Endpoint::Batch {
            assert_eq!(answer.json()["results"][0]["status"], 404);
        }
        // A batch repeats the paths that it was asked for.
        let shown = if route.endpoint == Endpoint::Batch { String::new() } else { answer.text() };
        let is_told = [&things.path, &things.member, &things.token_id, &things.ledger]
            .into_iter()
            .any(|one| shown.contains(one));
        assert!(!is_told, "{about}: {shown}");
    }
    assert_eq!(state(&server, &theirs), before.1);
    // Only the two that make something of one's own did.
    let n_entries = |state: &[Value]| state[5]["entries"].as_array().unwrap().len();
    assert_eq!(n_entries(&state(&server, &ours)), n_entries(&before.0) + 2);
}

/// A token of a kind that every scanner knows, of no account.
fn secret() -> String {
    format!("ghp_{}", "q7Rk2LmX9vTz4WbN8sYc1HdF6gJp3AeU5oKi")
}

/// X9: the server looks for secrets by itself, however they are sent, and names the kind and not the value.
#[test]
fn x9_a_secret_is_422_on_every_way_in() {
    let server = server();
    let admin = server.add_team("own", true);
    let text = team_memory("project-key", &format!("The deploy token is {} and nobody may know.", secret()));
    let memory = admin
        .ask("PUT", &format!("/projects/{PROJECT}/memories/project-key.md"))
        .header("If-None-Match", "*");
    let batch = admin.ask("POST", &format!("/projects/{PROJECT}/batch"));
    let good = team_memory("project-good", "The crane unloads at dawn.");
    let ops = json!({ "ops": [put_op("project-key.md", Value::Null, &text), put_op("project-good.md", Value::Null, &good)] });
    let ledger = admin.ask("POST", &format!("/projects/{PROJECT}/usage/usage-here.jsonl?offset=0"));
    let lines = format!("{{\"note\":\"{}\"}}\n", secret());
    let packed = |ask: Ask, kind: &str, body: &str| {
        server.ask(&ask.header("Content-Encoding", "gzip").body(kind, gzipped(body.as_bytes())))
    };
    let whole = [
        server.ask(&memory.clone().body("text/markdown", text.clone())),
        packed(memory, "text/markdown", &text),
        server.ask(&ledger.clone().body("application/x-ndjson", lines.clone())),
        packed(ledger, "application/x-ndjson", &lines),
    ];
    for answer in whole {
        assert_eq!((answer.status, answer.code().as_str()), (422, "secret"), "{}", answer.text());
        assert_eq!(answer.json()["error"]["kinds"], json!(["github-pat"]));
        assert!(!answer.text().contains(&secret()));
    }
    let batches =
        [server.ask(&batch.clone().json(&ops)), packed(batch, "application/json", &ops.to_string())];
    for (n, answer) in batches.iter().enumerate() {
        let reply = answer.clone().want(200).json();
        assert_eq!(reply["results"][0]["status"], 422, "{reply}");
        assert_eq!(reply["results"][0]["kinds"], json!(["github-pat"]));
        // The one beside it is written the first time and is stale the second.
        assert_eq!(reply["results"][1]["status"], [201, 412][n], "{reply}");
        assert!(!answer.text().contains(&secret()));
    }
    assert_eq!(server.holdings(&admin, PROJECT, 0).len(), 1);
    assert_eq!(server.files().containing(secret().as_bytes()), [""; 0], "no byte of it was kept");
}

/// The forms in which a word may lie about in a file.
fn forms(word: &str) -> Vec<Vec<u8>> {
    let wide: Vec<u8> = word.encode_utf16().flat_map(u16::to_le_bytes).collect();
    // Wherever a word stands in a text, one of three alignments is how base64 prints the middle of it.
    let aligned = (0..3).map(|skip| {
        let encoded = base64(&[vec![b' '; skip], word.as_bytes().to_vec()].concat());
        encoded.as_bytes()[4..encoded.len() - 4].to_vec()
    });
    [word.as_bytes().to_vec(), wide].into_iter().chain(aligned).collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        (0..4).map(move |n| char::from(DIGITS[(bits >> (18 - 6 * n) & 63) as usize]))
    };
    bytes.chunks(3).flat_map(group).collect()
}

fn left_over(server: &TeamServer, words: &[&str]) -> Vec<String> {
    let files = server.files();
    let mut found = Vec::new();
    for word in words {
        let stems = memdir_server::words::of_question(word);
        let shown = stems.iter().map(|stem| stem.as_bytes().to_vec());
        for form in forms(word).into_iter().chain(shown) {
            found.extend(files.containing(&form).into_iter().map(|file| format!("{word} in {file}")));
        }
    }
    found
}

/// F1: what is erased over HTTP leaves no byte in any file of the server, its log of writes included, while it runs and after.
#[test]
fn f1_an_erasure_leaves_no_byte() {
    let mut server = prepare().options(&["--log"]).start();
    if !server.database().is_sqlite() {
        eprintln!("SKIPPED: the files of this database are not ours to look into");
        return;
    }
    let admin = server.admin();
    let words = ["canarywagtail", "canarykestrel", "canarybullfinch"];
    let texts = words.map(|word| {
        team_memory("project-bird", &format!("The {word} nests in the crane. {}", "It sings. ".repeat(900)))
    });
    let mut base = Value::Null;
    for text in &texts {
        base = server.write(&admin, PROJECT, put_op("project-bird.md", base, text))["seq"].clone();
    }
    let keep = team_memory("project-stays", "The wharf stays where it is.");
    server.write(&admin, PROJECT, put_op("project-stays.md", Value::Null, &keep));
    let found = server.ask(&admin.ask("GET", "/search?q=canarybullfinch")).want(200).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert!(!left_over(&server, &words).is_empty(), "the test can see what is there");
    let erased =
        server.write(&admin, PROJECT, json!({ "op": "erase", "path": "project-bird.md", "base": base }));
    assert_eq!(erased["status"], 200);
    assert_eq!(left_over(&server, &words), [""; 0]);
    for word in words {
        let hits = server.ask(&admin.ask("GET", &format!("/search?q={word}"))).want(200).json();
        assert_eq!(hits["hits"], json!([]));
    }
    let versions = server
        .ask(&admin.ask("GET", &format!("/projects/{PROJECT}/versions/project-bird.md")))
        .want(200)
        .json();
    for version in versions.as_array().unwrap() {
        let target = format!("/projects/{PROJECT}/version/{}/project-bird.md", version["seq"]);
        assert_eq!(server.ask(&admin.ask("GET", &target)).status, 410);
    }
    server.restart();
    assert_eq!(left_over(&server, &words), [""; 0], "nor does it come back");
    assert_eq!(server.stop().code, 0);
    assert_eq!(left_over(&server, &words), [""; 0]);
    assert!(!server.files().containing(b"The wharf stays").is_empty());
}

/// X5, S19: the log says who asked what when, and nothing of tokens, texts and questions.
#[test]
fn x5_the_log_holds_no_token_no_text_and_no_question() {
    let server = prepare().options(&["--log", "--rate", "100000", "--burst", "100000"]).start();
    let admin = server.add_team("own", true);
    let things = furnished(&server, &admin, "crane");
    for route in &ROUTES {
        let ask = honest(route, &admin.team, &things).token(&admin.token);
        server.ask(&ask.header("User-Agent", "canaryagent").header("Referer", "http://canaryreferer/"));
    }
    server.ask(&admin.ask("GET", "/search?q=canaryquestion")).want(200);
    server.ask(&admin.ask("GET", "/projects/canaryproject/memories/canarypath.md"));
    server.ask(&Ask::new("GET", "/canarynowhere").token("mdt_canarytoken"));
    let text = team_memory("project-note", "A canarytext in here.");
    server.write(&admin, PROJECT, put_op("project-note.md", Value::Null, &text));
    let said = server.said();
    let requests: Vec<&str> =
        said.lines().filter(|line| line.ends_with(" ada") || line.ends_with(" -")).collect();
    assert!(requests.len() >= ROUTES.len(), "{said}");
    assert!(requests.iter().any(|line| line.contains("GET /v1/teams/{team}/search 200")), "{said}");
    assert!(!said.contains("canary"), "{said}");
    assert!(!said.contains("mdt_") && !said.contains(&things.invite), "{said}");
    assert!(!said.contains("The crane"), "{said}");
}

/// F9: every change is in the audit with who, when and what; no text is.
#[test]
fn f9_the_audit_has_every_change_and_no_text() {
    let server = server();
    let admin = server.add_team("own", true);
    let ben = server.add(&admin, "ben", "write");
    let text = |n: usize| team_memory("project-note", &format!("A canarytext, the {n}th."));
    let op = |op: &str, base: &Value| json!({ "op": op, "path": "project-note.md", "base": base });
    let put = |base: Value, n: usize| {
        server.write(&ben, PROJECT, put_op("project-note.md", base, &text(n)))["seq"].clone()
    };
    let two = put(put(Value::Null, 1), 2);
    let gone = server.write(&ben, PROJECT, op("delete", &two))["seq"].clone();
    let three = put(gone, 3);
    server.write(&admin, PROJECT, op("erase", &three));
    let refused = server.write(&ben, PROJECT, put_op("project-note.md", json!(1), &text(4)));
    assert_eq!(refused["status"], 412);
    let lines = ben.ask("POST", &format!("/projects/{PROJECT}/usage/usage-here.jsonl?offset=0"));
    server.ask(&lines.body("application/x-ndjson", "{\"canarytext\":1}\n")).want(200);
    let made = server
        .ask(&ben.ask("POST", "/tokens").json(&json!({ "scope": "read", "label": "laptop" })))
        .want(201)
        .json();
    server.ask(&ben.ask("DELETE", &format!("/tokens/{}", made["id"].as_str().unwrap()))).want(204);
    let invited =
        server.ask(&admin.ask("POST", "/invites").json(&json!({ "scope": "read" }))).want(201).json();
    server.ask(&admin.ask("DELETE", &format!("/invites/{}", invited["id"].as_str().unwrap()))).want(204);
    server.ask(&admin.ask("DELETE", "/members/ben")).want(204);
    let audit = pages(&server, &admin);
    let shown: Vec<String> = audit
        .iter()
        .map(|entry| {
            assert!(entry["at"].is_string());
            let member = entry["member"].as_str().unwrap_or("-");
            let target = entry["target"].as_str().unwrap();
            let is_random = target.len() == 16 && target.bytes().all(|byte| byte.is_ascii_hexdigit());
            format!("{member} {} {}", entry["action"].as_str().unwrap(), if is_random { "…" } else { target })
        })
        .collect();
    assert_eq!(
        shown,
        [
            "- team own",
            "- invite …",
            "ada join ada",
            "ada invite …",
            "ben join ben",
            "ben create shop/project-note.md",
            "ben replace shop/project-note.md",
            "ben delete shop/project-note.md",
            "ben create shop/project-note.md",
            "ada erase shop/project-note.md",
            "ben append shop/usage-here.jsonl",
            "ben token …",
            "ben revoke-token …",
            "ada invite …",
            "ada withdraw …",
            "ada revoke-member ben",
        ]
    );
    let all = Value::from(audit).to_string();
    assert!(!all.contains("canarytext") && !all.contains("mdt_") && !all.contains("mdi_"), "{all}");
}

/// Reads the audit in small pages.
fn pages(server: &TeamServer, admin: &Member) -> Vec<Value> {
    let (mut since, mut all) = (0, Vec::new());
    loop {
        let page = server.ask(&admin.ask("GET", &format!("/audit?since={since}&limit=3"))).want(200).json();
        all.extend(page["entries"].as_array().unwrap().iter().cloned());
        since = page["cursor"].as_u64().unwrap();
        if page["more"] == false {
            return all;
        }
    }
}

/// S14: figures need their own token and name no team, member or memory.
#[test]
fn s14_metrics_tell_how_much_and_not_who() {
    let server = server();
    let admin = server.admin();
    let things = furnished(&server, &admin, "crane");
    let metrics = server.metrics_token();
    let read = |token: &str| server.ask(&Ask::new("GET", "/metrics").token(token));
    assert_eq!(read(&admin.token).status, 401);
    let text = read(&metrics).want(200).text();
    assert!(text.contains("memdir_writes_total{kind=\"create\"} 1"), "{text}");
    for name in [PROJECT, "ada", &things.path, &things.member, &things.token_id] {
        assert!(!text.contains(name), "{name}");
    }
    assert_eq!(server.ask(&Ask::new("GET", "/v1/me").token(&metrics)).status, 401, "it opens nothing else");
    server.write(&admin, PROJECT, put_op(&things.path, json!(0), &team_memory("project-crane", "Stale.")));
    assert!((server.figure(&metrics, "memdir_conflicts_total", "") - 1.0).abs() < f64::EPSILON);
}
