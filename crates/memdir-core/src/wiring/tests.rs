//! Whole files: before, after, and before again.

use std::path::Path;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::host::Agent;

pub(super) const PROGRAM: &str = "/usr/bin/memdir";

pub(super) fn directories() -> Directories {
    let home = Path::new("/home/u");
    Directories {
        home: home.to_owned(),
        config: home.join(".config"),
        claude: home.join(".claude"),
        claude_state: home.join(".claude.json"),
        codex: home.join(".codex"),
        gemini: home.join(".gemini"),
        copilot: home.join(".copilot"),
        project: Some("/p".into()),
        system: "/".into(),
    }
}

/// Two hooks and a server are enough to see how entries are set.
fn small() -> Content {
    let files = files(Agent::Gemini, Scope::User, &directories(), PROGRAM);
    let Content::Json(mut settings) = files[0].content.clone() else { panic!("{files:?}") };
    settings.hooks.truncate(2);
    Content::Json(settings)
}

fn content(agent: Agent, part: Part) -> Content {
    let files = files(agent, Scope::User, &directories(), PROGRAM);
    files.into_iter().find(|file| file.part == part).unwrap().content
}

fn wired(text: &str, content: &Content) -> (String, Undo) {
    wire(text, content, None).unwrap().unwrap_or_else(|| panic!("it is wired already: {text}"))
}

/// Wires, looks at the result, and takes it back with and without what was remembered.
fn check(before: &str, content: &Content, expected: Expect) {
    let (after, undo) = wired(before, content);
    expected.assert_eq(&after);
    assert_eq!(wire(&after, content, None), Ok(None), "a second time changes nothing");
    assert!(look(&after, content).unwrap().is_complete);
    assert_eq!(unwire(&after, content, Some(&undo)).as_deref(), Ok(before));
    assert!(look(&unwire(&after, content, None).unwrap(), content).unwrap().is_empty());
}

#[test]
fn a_file_with_comments_and_commas_keeps_every_byte_of_them() {
    check(
        "{\n    // mine\n    \"theme\": \"dark\", // really\n    \"hooks\": {\n        \"Stop\": [], // none yet\n    },\n}\n",
        &small(),
        expect![[r#"
            {
                // mine
                "theme": "dark", // really
                "hooks": {
                    "Stop": [], // none yet
                    "SessionStart": [
                        {
                            "matcher": "*",
                            "hooks": [
                                {
                                    "name": "memdir",
                                    "type": "command",
                                    "command": "/usr/bin/memdir hook gemini SessionStart",
                                    "timeout": 10000
                                }
                            ]
                        }
                    ],
                    "BeforeAgent": [
                        {
                            "matcher": "*",
                            "hooks": [
                                {
                                    "name": "memdir",
                                    "type": "command",
                                    "command": "/usr/bin/memdir hook gemini BeforeAgent",
                                    "timeout": 5000
                                }
                            ]
                        }
                    ],
                },
                "mcpServers": {
                    "memdir": {
                        "command": "/usr/bin/memdir",
                        "args": ["mcp"]
                    }
                },
            }
        "#]],
    );
}

#[test]
fn a_remark_behind_the_last_entry_stays_with_it() {
    check(
        "{\n  \"mcpServers\": {\n    \"a\": {} // the only one\n  } /* end */\n}",
        &content(Agent::Cursor, Part::Server),
        expect![[r#"
            {
              "mcpServers": {
                "a": {}, // the only one
                "memdir": {
                  "type": "stdio",
                  "command": "/usr/bin/memdir",
                  "args": ["mcp"]
                }
              } /* end */
            }"#]],
    );
}

#[test]
fn a_file_on_one_line_stays_on_one_line() {
    check(
        r#"{"mcpServers":{"a":{"command":"x"}},"z":[1,2]}"#,
        &content(Agent::Cursor, Part::Server),
        expect![[
            r#"{"mcpServers":{"a":{"command":"x"},"memdir": {"type":"stdio","command":"/usr/bin/memdir","args":["mcp"]}},"z":[1,2]}"#
        ]],
    );
}

#[test]
fn nothing_and_an_empty_object_become_a_file() {
    for before in ["", "{}", "{ }\n", "\u{feff}", " \r\n", "{\n}\n", "{ // nothing\u{a0}\n}", "/* a */ {}"] {
        let content = small();
        let (after, undo) = wired(before, &content);
        assert!(look(&after, &content).unwrap().is_complete, "{after}");
        assert_eq!(unwire(&after, &content, Some(&undo)).as_deref(), Ok(before));
        assert!(is_bare(&unwire(&after, &content, None).unwrap(), &content), "{before:?}");
    }
}

#[test]
fn a_program_that_moved_is_replaced_and_nothing_is_doubled() {
    let old = files(Agent::ClaudeCode, Scope::User, &directories(), "/old/memdir");
    let new = files(Agent::ClaudeCode, Scope::User, &directories(), PROGRAM);
    for (old, new) in old.iter().zip(&new) {
        let before = "{\n  \"x\": 1\n}\n";
        let (first, undo) = wired(before, &old.content);
        for undo in [Some(&undo), None] {
            let (second, undo) = wire(&first, &new.content, undo).unwrap().unwrap();
            assert_eq!(second, wired(before, &new.content).0);
            assert!(!second.contains("/old/"), "{second}");
            assert_eq!(unwire(&second, &new.content, Some(&undo)).as_deref(), Ok(before));
        }
    }
}

#[test]
fn what_the_user_did_meanwhile_stays() {
    let content = content(Agent::ClaudeCode, Part::Hooks);
    let (after, undo) = wired("{}", &content);
    let mine = r#"{ "hooks": [{ "type": "command", "command": "say done" }] },"#;
    let changed = after.replacen("\"Stop\": [", &format!("\"Stop\": [\n      {mine}"), 1);
    assert_ne!(changed, after);
    for undo in [Some(&undo), None] {
        let rest = unwire(&changed, &content, undo).unwrap();
        let value: Value = serde_json::from_str(&rest).unwrap();
        assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], "say done", "{rest}");
        assert_eq!(value["hooks"].as_object().unwrap().len(), 1, "{rest}");
    }
}

#[test]
fn a_hook_that_shares_a_group_leaves_the_group() {
    let content = content(Agent::ClaudeCode, Part::Hooks);
    let text = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"},{"type":"command","command":"/old/memdir hook claude-code Stop"}]}]}}"#;
    assert_eq!(
        unwire(text, &content, None).unwrap(),
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}"#
    );
}

#[test]
fn a_hook_is_found_where_it_stands() {
    let content = content(Agent::ClaudeCode, Part::Hooks);
    let text = r#"{"hooks":{"Stop":[{"hooks":[]},{"hooks":[{"command":"mine"},{"command":"memdir hook claude Stop"}]}]}}"#;
    let found = look(text, &content).unwrap();
    let command = "memdir hook claude Stop".to_owned();
    let place = HookPlace { event: "Stop".to_owned(), group: 1, number: 1, command, timeout: None };
    assert_eq!(found.hooks, [place]);
    assert_eq!((found.programs, found.is_complete), (vec!["memdir".to_owned()], false));
}

#[test]
fn a_time_limit_that_the_user_set_is_kept() {
    let content = content(Agent::ClaudeCode, Part::Hooks);
    let (after, _) = wired("{}", &content);
    let changed = after.replace("\"timeout\": 10\n", "\"timeout\": 60\n");
    assert_ne!(changed, after);
    assert_eq!(wire(&changed, &content, None), Ok(None));
}

#[test]
fn containers_that_were_there_before_stay_even_if_empty() {
    let content = small();
    let before = "{\"hooks\": {\"SessionStart\": []}, \"mcpServers\": {}}";
    let (after, undo) = wired(before, &content);
    let changed = after.replacen('{', "{\"new\": 1, ", 1);
    let rest: Value = serde_json::from_str(&unwire(&changed, &content, Some(&undo)).unwrap()).unwrap();
    assert_eq!(rest, serde_json::json!({"new": 1, "hooks": {"SessionStart": []}, "mcpServers": {}}));
}

#[test]
fn what_cannot_hold_our_entries_is_left_alone() {
    let deep = "[".repeat(100_000);
    for (text, expected) in [
        ("{\"hooks\": []}", "`hooks` is not an object"),
        ("{\"hooks\": {\"SessionStart\": {}}}", "`hooks.SessionStart` is not a list"),
        ("{\"mcpServers\": null}", "`mcpServers` is not an object"),
        ("[]", "`the file` is not an object"),
        ("{\"a\": 1", "line 1 cannot be read: a comma or an end is missing"),
        ("{\n\"a\": 'x'}", "line 2 cannot be read: a value is missing"),
        ("{} {}", "line 1 cannot be read: something stands behind the end"),
        ("{ /* }", "line 1 cannot be read: a comment has no end"),
        ("{\"a\": \"\\x\"}", "line 1 cannot be read: a text is not written as JSON"),
        (
            "{\"mcpServers\": {\"memdir\": {\"command\": \"other\"}}}",
            "`mcpServers.memdir` is there and is not memdir's",
        ),
        (deep.as_str(), "line 1 cannot be read: it is nested too deeply"),
    ] {
        assert_eq!(
            wire(text, &small(), None).unwrap_err().to_string(),
            expected,
            "{}",
            &text[..text.len().min(60)]
        );
    }
}

#[test]
fn codex_gets_a_table_at_the_end() {
    check(
        "model = \"m\" # mine\n\n[mcp_servers.a]\ncommand = \"x\"",
        &content(Agent::Codex, Part::Server),
        expect![[r#"
            model = "m" # mine

            [mcp_servers.a]
            command = "x"

            [mcp_servers.memdir]
            command = "/usr/bin/memdir"
            args = ["mcp"]
        "#]],
    );
}

#[test]
fn a_table_in_the_middle_goes_with_all_below_it() {
    let content = content(Agent::Codex, Part::Server);
    let text = "[a]\nx = 1\n\n# ours\n[mcp_servers.memdir]\ncommand = \"/old/memdir\"\nargs = [\n  \"mcp\",\n]\n\n[mcp_servers.memdir.env]\nA = \"b\"\n\n# theirs\n[z]\ny = \"\"\"\n[mcp_servers.memdir]\n\"\"\"\n";
    assert_eq!(
        unwire(text, &content, None).unwrap(),
        "[a]\nx = 1\n\n# ours\n\n\n# theirs\n[z]\ny = \"\"\"\n[mcp_servers.memdir]\n\"\"\"\n"
    );
    for (text, expected) in [
        ("mcp_servers = { a = { command = \"x\" } }", "`mcp_servers` is not a table that can be added to"),
        ("a = \n", "line 1 cannot be read: it is not written as TOML"),
        ("[mcp_servers.memdir]\nurl = \"x\"", "`mcp_servers.memdir` is there and is not memdir's"),
    ] {
        assert_eq!(wire(text, &content, None).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn trust_is_read_by_hook() {
    // As Codex 0.166 itself computes it for this very command.
    let known = "sha256:d470bf2a83fd914180c423b57d1b6170d59409b532be1d0770769507b6fc988e";
    let hook = |event: &str, group, timeout| HookPlace {
        event: event.to_owned(),
        group,
        number: 0,
        command: "/usr/bin/memdir hook codex PreToolUse".to_owned(),
        timeout: Some(timeout),
    };
    let config = format!(
        "[hooks.state.\"/h/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"{known}\"\n[hooks.state.\"/h/hooks.json:pre_tool_use:1:0\"]\nenabled = false\ntrusted_hash = \"{known}\"\n"
    );
    let is_trusted = |hook: &HookPlace| is_trusted(&config, "/h/hooks.json", hook);
    assert!(is_trusted(&hook("PreToolUse", 0, 5)));
    assert!(!is_trusted(&hook("PreToolUse", 0, 6)), "it was changed since");
    assert!(!is_trusted(&hook("PreToolUse", 1, 5)), "it is switched off");
    assert!(!is_trusted(&hook("Stop", 0, 5)), "nobody looked at it");
    assert!(!super::is_trusted("broken = ", "/h/hooks.json", &hook("PreToolUse", 0, 5)));
}

#[test]
fn goose_gets_a_block() {
    let content = content(Agent::Goose, Part::Server);
    check(
        "# mine\nGOOSE_MODEL: m\nextensions:\n    developer:\n        type: builtin # b\nOTHER: |\n  extensions:\n",
        &content,
        expect![[r#"
            # mine
            GOOSE_MODEL: m
            extensions:
                memdir:
                  enabled: true
                  type: "stdio"
                  name: "memdir"
                  description: "Memory of this project and its user"
                  cmd: "/usr/bin/memdir"
                  args: ["mcp"]
                  envs: {}
                  timeout: 300
                developer:
                    type: builtin # b
            OTHER: |
              extensions:
        "#]],
    );
    for before in [
        "",
        "a: 1",
        "extensions:",
        "extensions: {}\nb: 2\n",
        "---\nextensions:\n\n# c\nx: y\n",
        "extensions: {a: {type: builtin}}\r\n",
    ] {
        let (after, undo) = wired(before, &content);
        let value: Value = serde_saphyr::from_str(&after).unwrap_or_else(|err| panic!("{err}\n{after}"));
        assert_eq!(value["extensions"]["memdir"]["cmd"], PROGRAM, "{after}");
        assert_eq!(unwire(&after, &content, Some(&undo)).as_deref(), Ok(before));
        let rest = unwire(&after, &content, None).unwrap();
        assert!(look(&rest, &content).unwrap().is_empty() && !rest.contains("memdir"), "{rest}");
    }
    for (text, expected) in [
        ("extensions: [a]", "`extensions` is not a mapping"),
        ("extensions:\n- a\n", "`extensions` is not a mapping"),
        ("extensions:\n\ta: b\n", "line 2 cannot be read: a tab is no indentation in YAML"),
        ("{a: b}", "line 1 cannot be read: it is not a list of keys"),
        ("a: b\n---\nc: d\n", "line 2 cannot be read: there is more than one document in it"),
        ("extensions:\n  memdir:\n    cmd: other\n", "`extensions.memdir` is there and is not memdir's"),
    ] {
        assert_eq!(wire(text, &content, None).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn the_script_is_replaced_whole_and_never_if_somebody_changed_it() {
    let script = |program: &str| Content::Script { program: program.to_owned() };
    let (text, undo) = wired("", &script("/a b/memdir"));
    assert!(text.contains("const memdir = \"/a b/memdir\";"), "{text}");
    let (newer, _) = wire(&text, &script(PROGRAM), None).unwrap().unwrap();
    assert_eq!(newer, wired("", &script(PROGRAM)).0);
    assert_eq!(unwire(&text, &script(PROGRAM), Some(&undo)).as_deref(), Ok(""));
    let changed = text.replace("5000", "9000");
    assert_eq!(wire(&changed, &script(PROGRAM), None), Err(Trouble::Changed));
    assert_eq!(unwire(&changed, &script(PROGRAM), Some(&undo)), Err(Trouble::Changed));
}

#[test]
fn every_file_of_every_agent_comes_and_goes() {
    for agent in Agent::ALL {
        for scope in [Scope::User, Scope::Project] {
            for file in files(agent, scope, &directories(), "/a b/it's/memdir") {
                let shown = file.path.display();
                let (after, undo) = wired("", &file.content);
                assert_eq!(wire(&after, &file.content, None), Ok(None), "{shown}");
                assert_eq!(unwire(&after, &file.content, Some(&undo)).as_deref(), Ok(""), "{shown}");
                let rest = unwire(&after, &file.content, None).unwrap();
                assert!(is_bare(&rest, &file.content), "{shown}: {rest}");
            }
        }
    }
}

/// Any JSON, with comments, odd blanks and commas that JSON does not allow.
fn jsonc(depth: u32) -> impl Strategy<Value = String> {
    let gap = prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // \"é{[,\n".to_owned()),
        1 => Just("/* }],\" */".to_owned()),
    ];
    let leaf = prop_oneof![
        Just("1e3".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just(r#""a \" // b""#.to_owned()),
        Just("\"ü🦀\"".to_owned()),
        Just(r#"{"command":"memdirectory hook x","hooks":[{}]}"#.to_owned()),
    ];
    let key = prop_oneof![
        Just("hooks"),
        Just("mcpServers"),
        Just("SessionStart"),
        Just("BeforeAgent"),
        Just("a"),
        Just("hoo\\u006bs"),
    ];
    let gap = gap.boxed();
    leaf.prop_recursive(depth, 40, 4, move |inner| {
        let (g1, g2, g3) = (gap.clone(), gap.clone(), gap.clone());
        let array =
            (prop::collection::vec((g1.clone(), inner.clone(), g1.clone()), 0..4), g1.clone(), any::<bool>())
                .prop_map(|(elements, end, comma)| {
                    let shown: Vec<String> = elements.iter().map(|(a, v, b)| format!("{a}{v}{b}")).collect();
                    let comma = if comma && !shown.is_empty() { "," } else { "" };
                    format!("[{}{comma}{end}]", shown.join(","))
                });
        let object = (
            prop::collection::vec((g2.clone(), key.clone(), g3, inner, g2.clone()), 0..4),
            g2,
            any::<bool>(),
        )
            .prop_map(|(members, end, comma)| {
                let shown: Vec<String> =
                    members.iter().map(|(a, k, b, v, c)| format!("{a}\"{k}\":{b}{v}{c}")).collect();
                let comma = if comma && !shown.is_empty() { "," } else { "" };
                format!("{{{}{comma}{end}}}", shown.join(","))
            });
        prop_oneof![array, object]
    })
}

proptest! {
    #[test]
    fn adding_and_removing_gives_the_same_bytes(
        before in jsonc(4),
        mark in prop_oneof![Just(""), Just("\u{feff}"), Just("// c\n")],
        end in prop_oneof![Just(""), Just("\n"), Just(" // end")],
    ) {
        let before = format!("{mark}{before}{end}");
        let content = small();
        if let Ok(Some((after, undo))) = wire(&before, &content, None) {
            prop_assert!(look(&after, &content).unwrap().is_complete, "{after}");
            prop_assert_eq!(wire(&after, &content, Some(&undo)), Ok(None));
            prop_assert_eq!(unwire(&after, &content, Some(&undo)), Ok(before.clone()));
            // Without what was remembered the entries go all the same, and what is left can be read.
            let rest = unwire(&after, &content, None).unwrap();
            prop_assert!(look(&rest, &content).unwrap().is_empty(), "{}", rest);
            // Whatever stood there before is still there, in order; only made containers may be missing.
            for remark in ["// \"é{[,", "/* }],\" */", "\"ü🦀\""] {
                prop_assert_eq!(rest.matches(remark).count(), before.matches(remark).count(), "{}", rest);
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,80}", junk in "[\\[\\]{},:\"/*\\\\ \n a1-]{0,60}") {
        for text in [text, junk] {
            for agent in [Agent::Gemini, Agent::Codex, Agent::Goose, Agent::Opencode] {
                for file in files(agent, Scope::User, &directories(), PROGRAM) {
                    if let Ok(Some((after, undo))) = wire(&text, &file.content, None) {
                        prop_assert_eq!(unwire(&after, &file.content, Some(&undo)), Ok(text.clone()));
                    }
                }
            }
        }
    }
}
