//! Real agents through `memdir gateway`, with neither hooks nor MCP: memory comes by an address alone.
//!
//! The scenario is a turn that uses a tool. Without memory every byte passes in both directions and the turn goes as it goes
//! without a gateway; with memory texts are added and nothing else happens, and what was added stays.

use memdir_testkit::{Output, Request, Rule};

use crate::host::Host;
use crate::scenario::{FACT, QUESTION, asked};
use crate::seen::{INSTRUCTIONS, frames, frames_with, outline};
use crate::way::{Passed, Way};
use crate::world::{KEY, World, fine};

const ANSWER: &str = "At a quarter past four, as far as I know.";
const STEP: &str = "four-fifteen";
const TOPICS: [&str; 5] =
    ["release train", "invoice numbers", "staging database", "payment retries", "log format"];

/// One turn: the model asks for a tool, gets its result, answers.
fn turn(host: &dyn Host, world: &World) -> Output {
    world.save("project-release-train", "project", "When the release train leaves", FACT);
    world.model.follow(vec![
        host.shell(asked(QUESTION), &format!("echo {STEP}")),
        Rule::on_result(STEP).says(ANSWER),
        Rule::always().says("OK"),
    ]);
    let output = fine(host.begin(world, QUESTION));
    assert!(output.stdout.contains(ANSWER), "{output}");
    let turns = world.model.turns();
    assert_eq!(turns.len(), 2, "one call of a tool is two requests");
    assert!(turns[1].result().is_some_and(|result| result.contains(STEP)), "{}", outline(&turns[1]));
    output
}

fn turns(way: &Way) -> Vec<Passed> {
    way.passed().into_iter().filter(Passed::is_turn).collect()
}

/// F4: switched off, nothing between the agent and its model is another byte than without a gateway.
fn f4_off_every_byte_passes(host: &dyn Host) {
    let direct = turn(host, &World::with(host));
    let (world, way) = Way::through(host, false);
    let output = turn(host, &world);
    assert_eq!(output.code, direct.code);
    for passed in way.passed() {
        assert_eq!(passed.came.bytes(), passed.went.bytes(), "{}", outline(&passed.went));
        let [came, went] = passed.headers();
        assert_eq!(came, went, "{}", passed.came.path());
    }
}

/// R2-14: the model is told behind the user's words, and nowhere else; what is not added is as it came.
fn r2_14_memory_is_added_and_nothing_else(host: &dyn Host) {
    let (world, way) = Way::through(host, true);
    turn(host, &world);
    for Passed { came, went, .. } in way.passed() {
        for frame in frames(&went) {
            assert_eq!(went.spoken()[frame.at].role, "user", "{}", outline(&went));
        }
        for part in ["system", "instructions", "systemInstruction", "tools"] {
            assert_eq!(came.body()[part], went.body()[part], "{part}");
        }
    }
    for Passed { came, went, added } in turns(&way) {
        assert!(frames(&came).is_empty() && !came.text().contains(INSTRUCTIONS), "no hook speaks here");
        assert_eq!(frames_with(&went, FACT).len(), 1, "{}{}", outline(&went), said_of_project(&world, &came));
        assert_eq!(went.text().matches(INSTRUCTIONS).count(), 1, "{}", outline(&went));
        assert_eq!(added.len(), 1, "{added:?}");
    }
    for (path, bytes) in world.files_of_memdir() {
        let holds_key = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!holds_key, "{} holds the key", path.display());
    }
}

/// What the agent says of the directory that it works in, for messages: which project it is must be found there.
fn said_of_project(world: &World, request: &Request) -> String {
    let (text, path) = (request.text(), world.project().display().to_string());
    let lines: Vec<&str> = text.lines().collect();
    let around = |at: usize| lines[at.saturating_sub(1)..=at].join("\n");
    (0..lines.len()).filter(|at| lines[*at].contains(&path)).map(around).collect::<Vec<_>>().join("\n…\n")
}

/// UX-20, CI-07: each request begins with all of the one before it, as far as the agent itself says the same again.
///
/// Within a turn every agent does. When it takes a session up again one or the other writes its history a little differently;
/// then what it repeats is repeated with what was added to it.
fn ux_20_requests_only_grow(host: &dyn Host, n_turns: usize) {
    let (world, way) = Way::through(host, true);
    for (n, topic) in TOPICS.iter().enumerate() {
        let description = format!("What was decided about the {topic}");
        let name = format!("project-{}", topic.replace(' ', "-"));
        world.save(&name, "project", &description, &format!("The {topic} follows plan {n}."));
    }
    let steps = (0..n_turns).map(|n| host.shell(asked(&format!("turn {n}:")), &format!("echo step-{n}")));
    world.model.follow(steps.chain([Rule::always().says("Done.")]).collect());
    let prompt = |n: usize| format!("turn {n}: what did we decide about the {}?", TOPICS[n % TOPICS.len()]);
    let session = host.session(&fine(host.begin(&world, &prompt(0))));
    for n in 1..n_turns {
        fine(host.go_on(&world, &session, &prompt(n)));
    }
    let turns = turns(&way);
    assert_eq!(turns.len(), 2 * n_turns);
    for (n, pair) in turns.windows(2).enumerate() {
        let [before, now] = pair else { continue };
        let grows = now.went.continues(&before.went);
        if now.came.continues(&before.came).is_ok() || n % 2 == 0 {
            grows.unwrap_or_else(|error| panic!("request {n}: {error}\n{}", outline(&now.went)));
        }
        let n_alike = now.came.n_alike(&before.came);
        assert_eq!(now.went.n_alike(&before.went), n_alike, "request {n}\n{}", outline(&now.went));
    }
    let last = &turns[turns.len() - 1].went;
    let told = frames_with(last, "follows plan");
    assert!(told.len() >= TOPICS.len(), "recall took part: {told:?}");
    assert_eq!(last.text().matches(INSTRUCTIONS).count(), 1, "a session begins once: {}", outline(last));
}

/// Names tests after their scenarios, for each agent and for as many turns as it starts quickly enough for.
macro_rules! agents {
    ($($name:ident: $host:expr, $n_turns:expr;)*) => {
        $(mod $name {
            #[test]
            fn f4_off_every_byte_passes() {
                super::f4_off_every_byte_passes(&$host);
            }

            #[test]
            fn r2_14_memory_is_added_and_nothing_else() {
                super::r2_14_memory_is_added_and_nothing_else(&$host);
            }

            #[test]
            fn ux_20_requests_only_grow() {
                super::ux_20_requests_only_grow(&$host, $n_turns);
            }
        })*
    };
}

agents! {
    claude: crate::claude::NEW, 10;
    claude_with_an_old_model: crate::claude::OLD, 10;
    codex: crate::codex::Codex, 10;
    gemini: crate::gemini::Gemini, 5;
    opencode: crate::opencode::Opencode, 5;
    copilot: crate::copilot::Copilot, 5;
}
