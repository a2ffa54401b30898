//! The next session hears in one line what a dream did.

use serde_json::json;

use crate::world::{World, id};

fn start(world: &World, session: &str) -> String {
    let occasion = json!({ "session_id": session, "cwd": world.sandbox.project(), "hook_event_name": "SessionStart", "source": "startup" });
    world.memdir(&["hook", "claude-code", "SessionStart"]).stdin(occasion.to_string()).ok().stdout
}

#[test]
fn the_next_session_hears_once_what_a_dream_did_and_how_to_take_it_back() {
    let world = World::new();
    let answer = world.propose();
    assert!(start(&world, "s1").contains(&format!("memdir dream show {}", id(&answer))));
    world.memdir(&["dream", "apply", id(&answer)]).ok();
    let told = start(&world, "s2");
    assert!(told.contains(&format!("memdir dream undo {}", id(&answer))), "{told}");
    assert!(!start(&world, "s3").contains("memdir dream"), "once is enough");
}
