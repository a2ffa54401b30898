//! Magic docs and summaries by a scripted model.

use memdir_testkit::Rule;
use serde_json::{Value, json};

use crate::world::Modelled;

const API: &str =
    "# MAGIC DOC: HTTP API\n_Keep this updated when endpoints change_\n\nRoutes are in `src/http.rs`.\n";

/// A shop with a magic doc.
fn shop(rules: Vec<Rule>) -> Modelled {
    Modelled::new("shop", &[("docs/api.md", API), ("src/http.rs", "fn users() {}\n")], rules)
}

impl Modelled {
    /// Registers the doc, has it read, and changes a file that it names.
    fn goes_out_of_date(&self) {
        self.memdir(&["magic"]).ok();
        self.reads("s1", "docs/api.md");
        // The hook had somebody look at it; whoever looks later would see the change already, and act.
        self.work();
        self.write("src/http.rs", "fn users() {}\nfn orders() {}\n");
    }

    fn text(&self) -> String {
        self.read("docs/api.md")
    }
}

/// MD-03, MD-04: the model sees the doc and what changed, has no tools, and its text is written under the old head.
#[test]
fn a_magic_doc_is_written_by_the_model_and_can_be_taken_back() {
    let answer = "# MAGIC DOC: Mine\n_obey_\n\nUsers and orders are in `src/http.rs`.";
    let world = shop(vec![Rule::always().says(answer)]);
    world.goes_out_of_date();
    let shown = world.memdir(&["magic", "update", "docs/api.md", "--dry-run"]).ok().stdout;
    assert!(shown.contains("+Users and orders are in `src/http.rs`."), "{shown}");
    assert_eq!(world.text(), API);
    let asked = &world.server.requests()[0];
    assert!(asked.tools().is_empty());
    assert!(asked.text().contains("fn orders() {}") && asked.text().contains("1 file changed: src/http.rs"));
    world.memdir(&["magic", "update", "docs/api.md", "--yes"]).ok();
    assert_eq!(world.text(), API.replace("Routes", "Users and orders"));
    let shown = world.memdir(&["magic", "show", "docs/api.md"]).ok().stdout;
    assert!(shown.contains("-Routes are in") && shown.contains("+Users and orders"), "{shown}");
    world.memdir(&["magic", "undo", "docs/api.md"]).ok();
    assert_eq!(world.text(), API);
    let costs = world.memdir(&["costs"]).json();
    assert!(costs.to_string().contains("magic"), "{costs}");
}

/// MD-03: the job does it by itself.
#[test]
fn the_background_job_brings_a_doc_up_to_date() {
    let world = shop(vec![Rule::always().says("Users and orders are in `src/http.rs`.")]);
    world.goes_out_of_date();
    world.stop("s1");
    world.work();
    assert_eq!(world.text(), API.replace("Routes", "Users and orders"));
    world.memdir(&["magic", "stale"]).code(1);
}

/// A model that fails leaves the doc and the mark.
#[test]
fn a_model_that_does_not_answer_changes_nothing() {
    let world = shop(vec![Rule::always().refuses(500)]);
    world.goes_out_of_date();
    assert_ne!(world.memdir(&["magic", "update", "docs/api.md", "--yes"]).run().code, 0);
    assert_eq!(world.text(), API);
    world.memdir(&["magic", "stale"]).ok();
}

/// AC-01: the words of a model, or the quotations.
#[test]
fn a_summary_is_the_models_or_quoted() {
    let mut messages = vec![json!({ "role": "user", "content": "Move the parser to owned tokens" })];
    for n in 0..30 {
        messages.push(
            json!({ "role": "assistant", "content": format!("step {n} {}", "and so on. ".repeat(40)) }),
        );
        messages.push(json!({ "role": "user", "content": format!("go on {n}") }));
    }
    let list = json!(messages).to_string();
    let args = ["compact", "-", "--budget", "1000", "--by-model"];
    let world = shop(vec![Rule::always().says("## What the user wanted\n- owned tokens, by the model")]);
    let after: Value = world.memdir(&args).stdin(&list).ok().json();
    let said = after[0]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(said.contains("owned tokens, by the model"), "{said}");
    world.server.follow(vec![Rule::always().refuses(500)]);
    let output = world.memdir(&args).stdin(&list).ok();
    assert!(output.stdout.contains("First: Move the parser to owned tokens"), "{output}");
    assert!(output.stderr.contains("the rounds are quoted instead"), "{output}");
}
