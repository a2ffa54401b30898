//! `bench`: the figures of a few rows whose answers are known, and that the other measurements say something.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::setup::sandbox;

/// Who said what in which session: two logs of six turns.
const TURNS: [(&str, &str, &str, &str, &str); 12] = [
    ("sea", "s1", "2023-05-08", "Ada", "Hello Ben! How was the trip to the coast?"),
    ("sea", "s1", "2023-05-08", "Ben", "Great. We saw seals on the rocks! The kids were thrilled."),
    ("sea", "s1", "2023-05-08", "Ada", "Which camera did you take along?"),
    ("sea", "s2", "2023-06-20", "Ada", "I started to learn pottery in the evening."),
    ("sea", "s2", "2023-06-20", "Ben", "Nice! I would drop every bowl."),
    ("sea", "s2", "2023-06-20", "Ada", "So do I. My first vase leans like a tower."),
    ("job", "s1", "2024-01-02", "user", "The deployment fails since the certificate expired."),
    ("job", "s1", "2024-01-02", "assistant", "Renew it with the script in the tools directory."),
    ("job", "s1", "2024-01-02", "user", "That worked, thank you."),
    ("job", "s2", "2024-02-03", "user", "Which database do the integration tests use?"),
    ("job", "s2", "2024-02-03", "assistant", "A real Postgres in a container, never a mock."),
    ("job", "s2", "2024-02-03", "user", "Good, I will remember seals and pottery from home."),
];

fn docs() -> String {
    let row = |(at, (h, s, t, who, text)): (usize, &(&str, &str, &str, &str, &str))| {
        json!({ "h": h, "id": format!("{h}-{at}"), "s": s, "t": t, "who": who, "text": text }).to_string()
            + "\n"
    };
    TURNS.iter().enumerate().map(row).collect()
}

fn queries() -> String {
    let query = |h: &str, q: &str, kind: &str, gold: &[&str], gold_s: &[&str]| {
        json!({ "h": h, "id": q, "q": q, "type": kind, "date": "", "gold": gold, "gold_s": gold_s })
            .to_string()
            + "\n"
    };
    [
        query("sea", "Which seals did Ben see on the rocks?", "easy", &["sea-1"], &["s1"]),
        query("sea", "When did Ada start pottery?", "easy", &["sea-3"], &["s2"]),
        query("job", "Why did the deployment fail, an expired certificate?", "easy", &["job-6"], &["s1"]),
        // Two answers, one of which is in no row.
        query("job", "Which Postgres container do the tests use?", "half", &["job-10", "job-99"], &["s2"]),
        // Nobody labelled a turn.
        query("job", "What was the script for?", "open", &[], &["s1"]),
    ]
    .concat()
}

fn write(sandbox: &Sandbox, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = sandbox.root().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn packed(text: &str) -> Vec<u8> {
    let mut packed = Vec::new();
    lzma_rs::xz_compress(&mut Cursor::new(text), &mut packed).unwrap();
    packed
}

fn retrieval(sandbox: &Sandbox, docs: &Path, queries: &Path, k: &str) -> Value {
    let docs = docs.to_str().unwrap();
    let queries = queries.to_str().unwrap();
    let output = sandbox.memdir(&["bench", "retrieval", "--docs", docs, "--queries", queries, "--k", k]).ok();
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn retrieval_finds_what_is_labelled_within_its_haystack() {
    let sandbox = sandbox();
    let docs = write(&sandbox, "docs.jsonl", docs());
    let queries = write(&sandbox, "queries.jsonl", queries());
    let report = retrieval(&sandbox, &docs, &queries, "1,10");
    assert_eq!(report["queries"], 5);
    assert_eq!(report["docs"], 12);
    assert!(report["ingest_docs_per_s"].as_f64().unwrap() > 0.0);
    for quantile in ["p50", "p95", "p99"] {
        assert!(report["query_ms"][quantile].as_f64().unwrap() > 0.0);
    }
    // Three questions are answered by the first turn, one by half of what it asks for, one has no label.
    assert_eq!(report["turn"]["queries"], 4);
    assert_eq!(report["turn"]["recall@1"], 0.875);
    assert_eq!(report["turn"]["recall@10"], 0.875);
    assert_eq!(report["turn"]["mrr"], 1.0);
    assert_eq!(report["session"]["queries"], 5);
    assert_eq!(report["session"]["recall@1"], 1.0);
    assert_eq!(report["by_type"]["easy"]["turn"]["recall@1"], 1.0);
    assert_eq!(report["by_type"]["half"]["turn"]["recall@1"], 0.5);
    // 1 / (1 + 1 / log2 3): the first of two.
    assert_eq!(report["by_type"]["half"]["turn"]["ndcg@10"], 0.6131);
    assert_eq!(report["by_type"]["open"]["queries"], 1);
    assert_eq!(report["by_type"]["open"]["turn"], json!({ "queries": 0 }));
    let interval = &report["interval"]["turn"]["recall@1"];
    assert!(interval[0].as_f64().unwrap() < 0.875 && interval[1].as_f64().unwrap() > 0.875);
}

#[test]
fn packed_rows_are_rows() {
    let sandbox = sandbox();
    let plain = retrieval(
        &sandbox,
        &write(&sandbox, "docs.jsonl", docs()),
        &write(&sandbox, "queries.jsonl", queries()),
        "5",
    );
    let unpacked = retrieval(
        &sandbox,
        &write(&sandbox, "docs.jsonl.xz", packed(&docs())),
        &write(&sandbox, "queries.jsonl.xz", packed(&queries())),
        "5",
    );
    for key in ["queries", "turn", "session", "by_type", "interval"] {
        assert_eq!(plain[key], unpacked[key], "{key}");
    }
}

#[test]
fn a_turn_of_every_haystack_is_in_those_that_list_its_session() {
    let sandbox = sandbox();
    let docs = docs().replace("\"h\":\"sea\"", "\"h\":\"*\"");
    let query = |h: &str, sessions: Value| {
        json!({ "h": h, "id": h, "q": "Who started pottery on June 20?", "type": "", "gold": ["sea-3"],
                "gold_s": ["s2"], "sessions": sessions })
        .to_string()
            + "\n"
    };
    let both = query("both", json!([["s1", "2023-05-08"], ["s2", "2023-06-20"]]));
    let one = query("one", json!(["s1"]));
    let docs = write(&sandbox, "docs.jsonl", docs);
    let of = |queries: String| {
        let queries = write(&sandbox, "queries.jsonl", queries);
        retrieval(&sandbox, &docs, &queries, "1")["turn"]["recall@1"].as_f64().unwrap()
    };
    assert_eq!(of(both.clone()), 1.0);
    assert_eq!(of(one.clone()), 0.0);
    assert_eq!(of(both + &one), 0.5);
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let sandbox = sandbox();
    let good = write(&sandbox, "docs.jsonl", docs());
    let torn = write(&sandbox, "torn.jsonl", format!("{}{{\"h\":\n", queries()));
    let not_packed = write(&sandbox, "plain.jsonl.xz", queries());
    let failed = |queries: &Path| {
        let (docs, queries) = (good.to_str().unwrap(), queries.to_str().unwrap());
        sandbox.memdir(&["bench", "retrieval", "--docs", docs, "--queries", queries]).code(2).stderr
    };
    assert!(failed(&torn).contains("torn.jsonl:6: "));
    assert!(failed(&not_packed).contains("not an xz file"));
    assert!(failed(&sandbox.root().join("none")).contains("none: "));
}

#[test]
fn tuning_prints_a_whole_table_and_the_same_each_time() {
    let sandbox = sandbox();
    let docs = write(&sandbox, "docs.jsonl", docs());
    let queries = write(&sandbox, "queries.jsonl", queries());
    let (docs, queries) = (docs.to_str().unwrap(), queries.to_str().unwrap());
    let tune = || sandbox.memdir(&["bench", "tune", "--docs", docs, "--queries", queries]).ok();
    let first = tune();
    for name in ["words", "window", "meaning", "sentence", "neighbours", "session", "speaker"] {
        assert!(first.stdout.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
    }
    assert_eq!(first.stdout, tune().stdout);
}

/// L2: the command that measures it, at sizes that a test has time for.
#[test]
fn l2_latency_and_scale_measure_real_processes() {
    let sandbox = sandbox();
    let output =
        sandbox.memdir(&["bench", "latency", "--memories", "40", "--runs", "3", "--queries", "5"]).ok();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["memories"], 40);
    for key in ["version_ms", "recall_ms", "query_ms"] {
        assert!(report[key]["p50"].as_f64().unwrap() > 0.0, "{key}");
    }
    assert!(report["ratio"].as_f64().unwrap() > 0.0);
    assert!(report["noticed_ms"]["p50"].as_f64().unwrap() > 0.0);

    let output = sandbox.memdir(&["bench", "scale", "--sizes", "30,60", "--queries", "5"]).ok();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let rows = report["sizes"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["memories"].as_u64().unwrap()).collect::<Vec<_>>(), [30, 60]);
    for row in rows {
        for key in ["ingest_docs_per_s", "save_ms", "bytes", "open_ms", "rss_mb", "first_rss_mb"] {
            assert!(row[key].as_f64().unwrap() > 0.0, "{key}");
        }
    }
    assert!(rows[1]["bytes"].as_u64() > rows[0]["bytes"].as_u64());
}
