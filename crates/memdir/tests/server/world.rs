//! What the tests share: a server of this build, and an honest request for each of its routes.

use std::io::Write;
use std::process::{Command, Stdio};

use memdir_server::routes::{Endpoint, Route, Takes};
use memdir_testkit::{Ask, Member, TeamServer, TeamServerSetup, put_op, team_memory};
use serde_json::{Value, json};

/// Starts a server where nobody asks too often.
pub(crate) fn server() -> TeamServer {
    TeamServer::start(env!("CARGO_BIN_EXE_memdir"))
}

/// Prepares a server with the usual limits.
pub(crate) fn prepare() -> TeamServerSetup {
    TeamServer::prepare(env!("CARGO_BIN_EXE_memdir"))
}

/// The project that the tests write to.
pub(crate) const PROJECT: &str = "shop";

/// Things that a team has for one request to read, change or remove.
pub(crate) struct Things {
    /// A memory.
    pub(crate) path: String,
    /// Its version.
    pub(crate) seq: u64,
    /// Its tag.
    pub(crate) tag: String,
    /// An invitation that nobody used.
    pub(crate) invite: String,
    /// The id of that invitation.
    pub(crate) invite_id: String,
    /// The id of a token of the admin's.
    pub(crate) token_id: String,
    /// A member who can be revoked.
    pub(crate) member: String,
    /// A ledger, if it is a team of one's own machines.
    pub(crate) ledger: String,
}

/// What a ledger begins with.
const LINE: &str = "{\"used\":1}\n";

/// Gives a team a memory, an invitation, a token, a member and a ledger, all of this name.
pub(crate) fn furnished(server: &TeamServer, admin: &Member, name: &str) -> Things {
    let path = format!("project-{name}.md");
    let text =
        team_memory(&format!("project-{name}"), &format!("The crane of {} unloads at dawn.", admin.team));
    let seq = server.write(admin, PROJECT, put_op(&path, Value::Null, &text))["seq"].as_u64().unwrap();
    let memory = server.ask(&admin.ask("GET", &format!("/projects/{PROJECT}/memories/{path}"))).want(200);
    let invited = server.ask(&admin.ask("POST", "/invites").json(&json!({ "scope": "read" }))).want(201);
    let made = server.ask(&admin.ask("POST", "/tokens").json(&json!({ "scope": "read" }))).want(201);
    let ledger = format!("usage-{name}.jsonl");
    let append = admin.ask("POST", &format!("/projects/{PROJECT}/usage/{ledger}?offset=0"));
    let appended = server.ask(&append.body("application/x-ndjson", LINE)).status;
    assert!(matches!(appended, 200 | 403), "{appended}");
    let member = format!("guest-{name}");
    let guest = json!({ "scope": "read", "member": member });
    let guest = server.ask(&admin.ask("POST", "/invites").json(&guest)).want(201).json();
    server.join(guest["invite"].as_str().unwrap(), &member);
    let word = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    Things {
        path,
        seq,
        tag: memory.header("etag").unwrap().to_owned(),
        invite: word(&invited.json(), "invite"),
        invite_id: word(&invited.json(), "id"),
        token_id: word(&made.json(), "id"),
        member,
        ledger,
    }
}

/// A request for a route about these things, which succeeds for whoever may ask it of a team of one's own machines. It is sent to
/// `team`, whatever team the things are of.
pub(crate) fn honest(route: &Route, team: &str, things: &Things) -> Ask {
    let id = if route.endpoint == Endpoint::RevokeToken { &things.token_id } else { &things.invite_id };
    let target = route
        .path
        .replace("{team}", team)
        .replace("{project}", PROJECT)
        .replace("{*path}", &things.path)
        .replace("{seq}", &things.seq.to_string())
        .replace("{member}", &things.member)
        .replace("{file}", &things.ledger)
        .replace("{id}", id);
    let query = match route.endpoint {
        Endpoint::Search => "?q=crane".to_owned(),
        Endpoint::AppendLedger => format!("?offset={}", LINE.len()),
        _ => String::new(),
    };
    let ask = Ask::new(route.method, &(target + &query));
    let ask = match route.takes {
        Takes::Nothing => ask,
        Takes::Markdown => ask.body("text/markdown", team_memory("project-crane", "It unloads at noon.")),
        Takes::Lines => ask.body("application/x-ndjson", LINE),
        Takes::Json => ask.json(&honest_json(route.endpoint, things)),
    };
    match route.endpoint {
        Endpoint::PutMemory | Endpoint::DeleteMemory => ask.header("If-Match", &things.tag),
        _ => ask,
    }
}

fn honest_json(endpoint: Endpoint, things: &Things) -> Value {
    match endpoint {
        Endpoint::Join => json!({ "invite": things.invite, "member": format!("new-{}", things.member) }),
        Endpoint::Batch => json!({ "ops": [{ "op": "delete", "path": things.path, "base": things.seq }] }),
        _ => json!({ "scope": "read" }),
    }
}

/// Everything of a team that a request could change, to compare before with after.
pub(crate) fn state(server: &TeamServer, admin: &Member) -> Vec<Value> {
    let targets = ["", "/members", "/invites", "/tokens", "/projects", "/audit?limit=1000"];
    let mut all: Vec<Value> =
        targets.iter().map(|target| server.ask(&admin.ask("GET", target)).want(200).json()).collect();
    all.extend(server.holdings(admin, PROJECT, 0));
    all
}

/// Packs bytes with the program that everybody has.
pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut child =
        Command::new("gzip").args(["-c"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(bytes).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success());
    output.stdout
}
