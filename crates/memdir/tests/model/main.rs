//! A real model of 135 million parameters, asked by the real binary.
//!
//! `tests/model/run` installs and starts it, and says where it listens. It knows little, so nothing is asserted about what
//! it says: only that it is understood, in the dialects that its server speaks, and that its tokens are counted.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use memdir_testkit::{Invocation, Sandbox};
use serde_json::Value;

struct World {
    sandbox: Sandbox,
}

impl World {
    /// A user who asks the small model in one of the dialects.
    fn new(service: &str) -> Self {
        let url = std::env::var("MEMDIR_SMALL_MODEL").expect("tests/model/run says where the model is");
        let world = Self { sandbox: Sandbox::new(env!("CARGO_BIN_EXE_memdir")) };
        world.memdir(&["model", "use", service, "--model", "smollm2", "--base-url", url.trim()]).ok();
        world
    }

    fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).env("ANTHROPIC_API_KEY", "none-needed")
    }

    fn ask(&self, prompt: &str) -> Value {
        self.memdir(&["model", "ask", "--max-tokens", "40", "--json"]).stdin(prompt).ok().json()
    }
}

/// What every answer must have, whatever it says.
fn assert_counted(told: &Value) {
    assert!(!told["answer"].as_str().unwrap().trim().is_empty(), "{told}");
    let receipt = &told["receipt"];
    assert_eq!(receipt["outcome"], "ok");
    let (read, written) = (receipt["tokens_in"].as_u64().unwrap(), receipt["tokens_out"].as_u64().unwrap());
    assert!(read > 5 && (1..=40).contains(&written), "{receipt}");
}

#[test]
fn chat_completions_are_streamed_understood_and_counted() {
    let world = World::new("chat");
    let told = world.ask("Name three colours.");
    assert_counted(&told);
    assert_eq!(told["receipt"]["usd"], 0.0, "a model on one's own machine sends no bills");
    let costs = world.memdir(&["costs"]).json();
    assert_eq!(costs["total"]["tokens_in"], told["receipt"]["tokens_in"]);
}

#[test]
fn a_schema_is_kept_even_by_a_model_that_cannot_count() {
    let world = World::new("chat");
    let told = world.memdir(&["model", "check", "--json"]).ok().json();
    assert_eq!(told["schema"], true, "{told}");
    assert!(told["tokens"]["output"].as_u64().unwrap() > 0, "{told}");
}

#[test]
fn the_form_of_anthropic_is_streamed_understood_and_counted() {
    let world = World::new("anthropic");
    assert_counted(&world.ask("Name three colours."));
    let again = world.ask("Name three colours.");
    assert_counted(&again);
    assert!(
        again["receipt"]["cached"].as_u64().unwrap() > 0,
        "the second time its server reads from its cache"
    );
}
