//! T11 as figures: `team-load BINARY [CLIENTS [CHANGES]]` has so many clients change and read a team's memories at once, and prints how
//! long requests took, how many a second were answered, and what the server had in memory. `MEMDIR_TEST_DB` names a PostgreSQL server
//! to keep the team in; without it that is SQLite.
#![expect(clippy::print_stdout, reason = "a program for developers that reports figures")]
#![expect(clippy::unwrap_used, reason = "a program for developers reports by panicking")]

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use memdir_testkit::{Ask, Connection, Member, TeamServer, put_op, team_memory};
use serde_json::{Value, json};

fn main() {
    let mut args = std::env::args().skip(1);
    let binary = args.next().expect("usage: team-load BINARY [CLIENTS [CHANGES]]");
    let mut number = |usual: usize| args.next().map_or(usual, |text| text.parse().unwrap());
    let (n_clients, n_changes) = (number(100), number(10));
    let server = TeamServer::prepare(binary)
        .options(&["--rate", "100000", "--burst", "100000", "--behind-proxy"])
        .start();
    let admin = server.admin();
    let members: Vec<Member> =
        (0..n_clients).map(|n| server.add(&admin, &format!("m{n}"), "write")).collect();
    let (took, peak) = (Mutex::new(Vec::new()), Mutex::new(server.resident()));
    let start = Instant::now();
    let views: Vec<usize> = thread::scope(|scope| {
        let work = |(n, member): (usize, &Member)| {
            let mut client = Client {
                connection: server.connect(),
                member: member.clone(),
                cursor: 0,
                n_known: 0,
                took: Vec::new(),
            };
            for change in 0..n_changes {
                client.write(&format!("project-note-{n}-{change}"));
                client.pull(0);
                if n == 0 {
                    let mut peak = peak.lock().unwrap();
                    *peak = server.resident().max(*peak);
                }
            }
            // Until everything of everybody has come.
            while client.n_known < n_clients * n_changes {
                client.pull(5);
            }
            took.lock().unwrap().extend(client.took);
            client.n_known
        };
        let working: Vec<_> =
            members.iter().enumerate().map(|each| scope.spawn(move || work(each))).collect();
        working.into_iter().map(|working| working.join().unwrap()).collect()
    });
    let whole = start.elapsed();
    assert!(views.iter().all(|n| *n == n_clients * n_changes), "everybody has the same");
    let mut took = took.into_inner().unwrap();
    took.sort_unstable();
    let peak = server.resident().max(peak.into_inner().unwrap());
    let part = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1_000.0;
    println!("{n_clients} clients x {n_changes} changes, all have all after {:.1} s", whole.as_secs_f64());
    println!("{} requests, {:.0} a second, none failed", took.len(), took.len() as f64 / whole.as_secs_f64());
    println!("p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms", part(0.5), part(0.99), part(1.0));
    println!("the server had {:.0} MB in memory", peak as f64 / 1_024.0);
}

struct Client {
    connection: Connection,
    member: Member,
    cursor: u64,
    n_known: usize,
    took: Vec<Duration>,
}

impl Client {
    fn ask(&mut self, ask: &Ask) -> Value {
        let start = Instant::now();
        let answer = self.connection.ask(ask).unwrap();
        self.took.push(start.elapsed());
        answer.want(200).json()
    }

    fn write(&mut self, name: &str) {
        let text =
            team_memory(name, &format!("What {name} says. {}", "The crane unloads at dawn. ".repeat(40)));
        let op = put_op(&format!("{name}.md"), Value::Null, &text);
        let reply = self.ask(&self.member.ask("POST", "/projects/shop/batch").json(&json!({ "ops": [op] })));
        assert_eq!(reply["results"][0]["status"], 201, "{reply}");
    }

    /// Reads what is new. Time that was spent waiting for it is no latency.
    fn pull(&mut self, wait: u64) {
        let target = format!("/projects/shop/changes?since={}&limit=1000&text=1&wait={wait}", self.cursor);
        let page = self.ask(&self.member.ask("GET", &target));
        if wait > 0 {
            self.took.pop();
        }
        self.n_known += page["changes"].as_array().unwrap().len();
        self.cursor = page["cursor"].as_u64().unwrap();
    }
}
