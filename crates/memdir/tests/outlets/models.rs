//! What models are asked, and what becomes of their answers.

use std::fs;
use std::path::PathBuf;

use memdir_testkit::{Invocation, ModelServer, Rule, Sandbox};
use serde_json::{Value, json};

use crate::canary::{Canary, canaries, check_files, check_none, sentence, told};

/// A sandbox whose user configured a model that a test scripts.
struct World {
    sandbox: Sandbox,
    server: ModelServer,
}

impl World {
    fn new(rules: Vec<Rule>) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let server = ModelServer::start(rules);
        let model = format!(
            "[model]\nservice = \"anthropic\"\nname = \"claude-test\"\nbase_url = \"{}\"\nkey_env = \"TEST_KEY\"\n\
             [budget]\nday_usd = 100.0\n",
            server.url()
        );
        fs::create_dir_all(sandbox.state()).unwrap();
        fs::write(sandbox.state().join("config.toml"), model).unwrap();
        Self { sandbox, server }
    }

    fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).env("TEST_KEY", "k")
    }

    /// Writes a session's file of Claude Code.
    fn session(&self, said: &[(&str, &str)]) -> PathBuf {
        let line = |(n, (role, text)): (usize, &(&str, &str))| {
            let content = match *role {
                "tool" => {
                    json!([{ "type": "tool_result", "tool_use_id": "t", "is_error": true, "content": text }])
                }
                _ => json!(text),
            };
            let role = if *role == "assistant" { "assistant" } else { "user" };
            json!({
                "type": role, "sessionId": "s1", "uuid": format!("u{n}"), "timestamp": "2026-04-02T09:00:00Z",
                "cwd": self.sandbox.project(), "message": { "role": role, "content": content },
            })
            .to_string()
        };
        let path = self.sandbox.root().join("session.jsonl");
        fs::write(&path, said.iter().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n").unwrap();
        path
    }

    /// Wants no secret in anything that was asked, and something that was.
    fn check_asked(&self, canaries: &[Canary], about: &str) {
        let asked = self.server.all_requests();
        assert!(
            asked.iter().any(|request| request.raw().contains(about)),
            "no model was asked about {about}"
        );
        for request in &asked {
            check_none(canaries, "a question", request.raw());
            check_none(canaries, "a question", &request.body().to_string());
        }
    }
}

const RULE: &str =
    "please never mock the database in integration tests, a broken migration went to production that way";

/// X5: a session in which the user, the agent and a failing command told secrets.
#[test]
fn x5_extraction_asks_a_model_without_secrets() {
    let canaries = canaries(31);
    let world = World::new(vec![Rule::always().says("nothing to note")]);
    let (said, printed) = (told(&canaries[..7]), told(&canaries[13..]));
    let answered = told(&canaries[7..13]);
    let failure = format!("$ deploy\nerror: exit status 1\n{printed}");
    let path = world.session(&[
        ("user", &format!("{RULE}\n{said}")),
        ("assistant", &format!("Understood.\n{answered}")),
        ("tool", &failure),
        ("user", "and deploys are on Thursdays from now on, because support is staffed then"),
    ]);
    let output = world.memdir(&["--json", "extract", "--transcript", path.to_str().unwrap()]).run();
    check_none(&canaries, "extract", &format!("{}{}", output.stdout, output.stderr));
    world.check_asked(&canaries, "[REDACTED:github-pat]");
    check_files(&canaries, &world.sandbox.state(), &|_| false);
    check_files(&canaries, &world.sandbox.vault(), &|_| false);
}

/// X5: a model that answers with secrets, in names, descriptions and bodies: nothing of it is kept.
#[test]
fn x5_what_a_model_answers_is_kept_without_secrets() {
    let canaries = canaries(32);
    let proposal = |(n, canary): (usize, &Canary)| {
        json!({
            "action": "new", "name": format!("feedback-account-{n}"), "type": "feedback",
            "description": sentence(canary), "body": format!("Never mock the database.\n\n{}", sentence(canary)),
            "evidence": [{ "message": 1, "quote": RULE }],
        })
    };
    let proposals: Vec<Value> = canaries.iter().enumerate().map(proposal).collect();
    let world = World::new(vec![
        Rule::on_prompt("Today is 2026-04-02").calls("propose", json!({ "proposals": proposals })),
        Rule::always().says(&told(&canaries)),
    ]);
    let path = world.session(&[("user", RULE), ("assistant", "Understood.")]);
    let output = world.memdir(&["--json", "extract", "--transcript", path.to_str().unwrap()]).run();
    check_none(&canaries, "extract", &format!("{}{}", output.stdout, output.stderr));
    check_files(&canaries, &world.sandbox.state(), &|_| false);
    check_files(&canaries, &world.sandbox.vault(), &|_| false);
}

/// X5: a dream over memories of which some hold secrets, written by hand: no model is shown these at all, also when it asks.
#[test]
fn x5_a_dream_asks_a_model_without_secrets() {
    let canaries = canaries(33);
    let names: Vec<String> = (0..canaries.len()).map(|n| format!("project-account-{n}")).collect();
    let read = names.chunks(10).fold(Rule::on_prompt("Memories there are"), |rule, names| {
        rule.calls("read", json!({ "names": names }))
    });
    let world = World::new(vec![read, Rule::always().says("done")]);
    for (name, canary) in names.iter().zip(&canaries) {
        let said = sentence(canary);
        let text = format!("---\nname: {name}\ndescription: >-\n  {said}\ntype: project\n---\n\n{said}\n");
        world.sandbox.write(&format!("{name}.md"), text);
    }
    for n in 0..4 {
        let text = format!(
            "---\nname: project-crane-{n}\ndescription: Crane {n}\ntype: project\n---\n\nCrane {n} unloads.\n"
        );
        world.sandbox.write(&format!("project-crane-{n}.md"), text);
    }
    let output = world.memdir(&["dream", "--dry-run", "--json"]).run();
    check_none(&canaries, "dream", &format!("{}{}", output.stdout, output.stderr));
    world.check_asked(&canaries, "project-crane-1");
}
