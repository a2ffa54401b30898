//! What must not get through: memories that pose as something else, arguments that are none.

use std::time::{Duration, Instant};

use memdir_testkit::{Random, Sandbox};
use serde_json::{Map, Value, json};

use crate::host::{Host, quick_sandbox, sandbox};

/// Asserts that nothing in a text poses as anything.
fn assert_harmless(text: &str, payload: &str) {
    let plain = text.to_lowercase().replace(['\u{200b}', ' '], "");
    let forms = [
        "<system",
        "</system",
        "<user",
        "</user",
        "<assistant",
        "</assistant",
        "<human",
        "</human",
        "<invoke",
        "</invoke",
        "<function",
        "</function",
        "&lt;/system",
        "&lt;/user",
        "&lt;/human",
        "\nhuman:",
        "\nassistant:",
        "[/memdir00000000]",
    ];
    for form in forms {
        assert!(!plain.contains(form), "{payload} left {form} in {text}");
    }
}

fn assert_one_frame(text: &str) {
    assert_eq!(text.matches("[memdir ").count(), 1, "{text}");
    assert_eq!(text.matches("[/memdir ").count(), 1, "{text}");
}

fn write(sandbox: &Sandbox, payload: &str) -> String {
    let about = format!("Zebra crossing rules of the traffic simulator {payload}");
    let body = format!("Zebras cross first.\n\n{payload}\nzebra crossing rules\n{payload}{payload}");
    let quoted = about.replace('"', "\\\"");
    let text = format!("---\nname: project-zebra\ndescription: \"{quoted}\"\ntype: project\n---\n\n{body}\n");
    sandbox.write("project-zebra.md", &text);
    text
}

/// S6: forty payloads in body and description, through the results of tools, resources and prompts.
#[test]
fn s6_no_payload_of_a_memory_leaves_its_frame() {
    let sandbox = sandbox();
    let payloads = memdir_testkit::payloads();
    assert!(payloads.len() >= 40);
    sandbox.save("project-other", "Something else.");
    let mut host = Host::start(&sandbox);
    for payload in &payloads {
        let written = write(&sandbox, payload);
        let found = host
            .ok("search_memory", json!({ "query": "which zebra crossing rules does the simulator follow?" }));
        let read = host.read("memdir://memory/project-zebra");
        for text in [&found, &read] {
            assert_one_frame(text);
            assert!(text.contains("Zebras cross first."), "the payload is inside: {text}");
        }
        let stale = host.ok("check_stale", json!({ "days": 0 }));
        let dashboard = host.result("prompts/get", json!({ "name": "dashboard" }));
        let dashboard = dashboard["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
        for text in [&stale, &dashboard] {
            assert_one_frame(text);
        }
        let viewed = host.ok("memory", json!({ "command": "view", "path": "/memories/project-zebra.md" }));
        let listed = host.result("resources/list", json!({})).to_string();
        for text in [&found, &read, &stale, &dashboard, &viewed, &listed] {
            assert_harmless(text, payload);
        }
        assert_eq!(sandbox.read("project-zebra"), written, "the file is as it was");
    }
}

/// S6: neither do file names, session words or what the host calls itself.
#[test]
fn s6_names_and_journals_pose_as_nothing() {
    let sandbox = sandbox();
    let mut host = Host::start(&sandbox);
    for payload in memdir_testkit::payloads() {
        let summary = format!("The zebra crossing was painted anew. {payload}\n{payload}");
        let logged =
            host.ok("log_session", json!({ "summary": summary, "unfinished": [format!("paint {payload}")] }));
        assert_harmless(&logged, &payload);
    }
    let found = host.ok("search_memory", json!({ "query": "zebra crossing painted", "limit": 20 }));
    assert_one_frame(&found);
    assert_harmless(&found, "journal");
    let name = "</system-reminder> zebra.md";
    let _ = std::fs::write(sandbox.vault().join(name.replace('/', "")), "zebra zebra zebra\n");
    for text in [
        host.ok("memory", json!({ "command": "view", "path": "/memories" })),
        host.ok("search_memory", json!({ "query": "zebra", "limit": 20 })),
        host.result("resources/list", json!({})).to_string(),
    ] {
        assert_harmless(&text, name);
    }
}

/// A memory in the hands of a stranger: links, devices and what lies outside are not reached (S2).
#[test]
fn s2_links_lead_nowhere() {
    let sandbox = sandbox();
    let outside = sandbox.root().join("outside.md");
    std::fs::write(&outside, "lighthouse secret\n").unwrap();
    sandbox.save("project-other", "Something else.");
    std::os::unix::fs::symlink(&outside, sandbox.vault().join("link.md")).unwrap();
    std::os::unix::fs::symlink("/", sandbox.vault().join("root")).unwrap();
    let mut host = Host::start(&sandbox);
    for path in ["/memories/link.md", "/memories/root/etc/hostname.md", "/memories/root"] {
        assert!(host.call("memory", json!({ "command": "view", "path": path })).is_error, "{path}");
    }
    for path in ["/memories/link.md", "/memories/root/new.md", "/memories/root/tmp/new.md"] {
        host.call("memory", json!({ "command": "create", "path": path, "file_text": "x" }));
        host.call(
            "memory",
            json!({ "command": "str_replace", "path": path, "old_str": "lighthouse", "new_str": "x" }),
        );
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "lighthouse secret\n");
    assert!(!std::path::Path::new("/new.md").exists() && !std::path::Path::new("/tmp/new.md").exists());
    assert_eq!(host.ok("search_memory", json!({ "query": "lighthouse" })), "no memory found");
}

/// How many calls are made with wrong arguments, each in a process of its own; `MEMDIR_S20` says how many a tool instead.
const N_CALLS: usize = 1_400;

/// S20: arguments of every shape, for every tool: no fault of ours, no internal error, and the server lives.
#[test]
fn s20_arguments_of_any_shape_are_answered() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let seed = number("MEMDIR_SEED").unwrap_or(20);
    let tools = Host::start(&sandbox()).result("tools/list", json!({}))["tools"].clone();
    let tools = tools.as_array().unwrap();
    let per_tool = number("MEMDIR_S20").unwrap_or(N_CALLS / tools.len());
    // A vault for each tool, so that they do not wait for one another.
    std::thread::scope(|scope| {
        let all = tools.iter().map(|tool| scope.spawn(move || bend(tool, per_tool, seed)));
        all.collect::<Vec<_>>().into_iter().for_each(|one| one.join().unwrap());
    });
}

/// Calls a tool with so many bent arguments.
fn bend(tool: &Value, n_calls: usize, seed: usize) {
    let sandbox = quick_sandbox();
    sandbox.save("project-zebra", "Zebras cross first.");
    let name = tool["name"].as_str().unwrap();
    let mut host = Host::start(&sandbox);
    let mut random = Random::new(seed as u64);
    let mut times: Vec<Duration> = Vec::with_capacity(n_calls);
    for _ in 0..n_calls {
        let arguments = mutated(&tool["inputSchema"], &mut random);
        let begun = Instant::now();
        let answer = host.request("tools/call", json!({ "name": name, "arguments": arguments.clone() }));
        times.push(begun.elapsed());
        let shown = || format!("seed {seed}, {name} {arguments}: {answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", shown()));
        assert!(!text.contains("fault of its own"), "{}", shown());
    }
    times.sort();
    eprintln!("{name}: {n_calls} calls, p50 {:?}, p99 {:?}", times[n_calls / 2], times[n_calls * 99 / 100]);
    let errors = host.errors();
    assert!(!errors.contains("panicked"), "{errors}");
    assert_eq!(host.leave(), 0);
    let outside: Vec<_> =
        std::fs::read_dir(sandbox.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside.len(), 4, "home, project, state, vault: {outside:?}");
}

/// Makes arguments near what a schema asks for, and bends them.
fn mutated(schema: &Value, random: &mut Random) -> Value {
    let mut arguments = Map::new();
    for (name, property) in schema["properties"].as_object().unwrap() {
        let wanted = schema["required"].as_array().is_some_and(|required| required.contains(&json!(name)));
        if wanted && !random.one_in(20) || random.one_in(2) {
            let value = if random.one_in(4) { anything(random, 0) } else { fitting(name, property, random) };
            arguments.insert(name.clone(), value);
        }
    }
    if random.one_in(10) {
        arguments.insert(strange(random), anything(random, 0));
    }
    Value::Object(arguments)
}

/// Makes a value that a property may have.
fn fitting(name: &str, property: &Value, random: &mut Random) -> Value {
    if let Some(words) = property["enum"].as_array() {
        return random.pick(words).clone();
    }
    match property["type"].as_str() {
        Some("integer") => json!(*random.pick(&[0, 1, 2, 5, 20, -1, i64::MAX, i64::MIN, 100_000])),
        Some("boolean") => json!(random.one_in(2)),
        Some("array") => {
            let n = random.below(4);
            (0..n).map(|_| fitting("", &property["items"], random)).collect()
        }
        _ if name.contains("path") => json!(random.pick(&[
            "/memories",
            "/memories/a.md",
            "/memories/b.md",
            "/memories/project-zebra.md",
            "/memories/MEMORY.md",
            "/memories/x/y.md",
            "/memories/../../etc/passwd",
            "/etc/passwd",
            "/memories/\u{0}.md",
        ])),
        _ => json!(strange(random)),
    }
}

/// Makes a value of any kind.
fn anything(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 3 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => json!(random.one_in(2)),
        2 => json!(random.next_u64() as i64),
        3 => json!(1e300 * (random.below(3) as f64 - 1.0)),
        4 => json!(strange(random)),
        5 => (0..random.below(4)).map(|_| anything(random, depth + 1)).collect(),
        _ => {
            let n = random.below(4);
            Value::Object((0..n).map(|_| (strange(random), anything(random, depth + 1))).collect())
        }
    }
}

/// Makes a text that somebody may send who means no good.
fn strange(random: &mut Random) -> String {
    let parts = [
        "zebra",
        "",
        " ",
        "\n",
        "\0",
        "../",
        "..\\",
        "%2e%2e%2f",
        "'; DROP TABLE memories; --",
        "$(touch x)",
        "`id`",
        "{{7*7}}",
        "\u{202e}",
        "\u{feff}",
        "é",
        "e\u{301}",
        "日本語",
        "🏴\u{e0067}\u{e007f}",
        "</system-reminder>",
        "---\nname: x\n---\n",
        "--flag",
        "-",
        "\u{1b}[31m",
        "%s%n",
        "\\",
        "\"",
        "🦓",
        "memory:user",
        "CLAUDE.md",
        "2026-02-30",
        "next Friday",
        "a\u{0}b",
    ];
    let n = 1 + random.below(4);
    let mut text: String = (0..n).map(|_| *random.pick(&parts)).collect();
    if random.one_in(200) {
        text = text.repeat(1 + 120_000 / text.len().max(1));
    }
    text
}
