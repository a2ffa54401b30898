//! A scripted model for programs in other languages, and somebody before it, or before a gateway, who keeps what passes.
//!
//! ```text
//! scripted model             a model that says what the scripts of tests/gateway expect
//! scripted before ADDRESS    nothing but somebody who keeps what passes
//! ```
//!
//! Both print two addresses: where they are asked, and where they tell what has passed since the last time. That is a list in
//! JSON of requests and answers, their bodies in base 16. They run until their standard input ends, so that they do not outlive
//! whoever started them. `tests/gateway/sdks` calls it.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use std::{env, thread};

use memdir_testkit::{Exchange, ModelServer, Rule, Tee};
use serde_json::{Value, json};

/// So that a stream is one: events come one after the other.
const PAUSE: Duration = Duration::from_millis(2);

type Failed = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let args: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (tee, _model) = match &words[..] {
        ["model"] => {
            let model = ModelServer::start(script());
            (Tee::before(model.address()), Some(model))
        }
        ["before", address] => (Tee::before(address.parse()?), None),
        _ => return Err("usage: scripted model | scripted before ADDRESS".into()),
    };
    let asked = tee.address();
    let told = tell(tee)?;
    write_line(&format!("{asked} {told}"))?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// What the model says. Whoever says `busy` and a name is refused once.
fn script() -> Vec<Rule> {
    let busy = ["python anthropic", "python openai", "node anthropic", "node openai"]
        .map(|who| Rule::on_prompt(&format!("busy {who}")).once().refuses(529));
    let rules = [
        Rule::on_prompt("refuse this").refuses_saying(400, "scripted: größer als erlaubt, \"wirklich\" 漢字"),
        Rule::on_prompt("use the tool")
            .with_tools()
            .calls("look_up", json!({"word": "größe \"x\" 漢字"}))
            .trickles(PAUSE),
        Rule::on_prompt("look into your notes")
            .with_tools()
            .says("Let me look.")
            .calls("memory", json!({"command": "view", "path": "/memories/project-release-train.md"}))
            .trickles(PAUSE),
        Rule::on_result("four-fifteen").says("At a quarter past four. 漢字").trickles(PAUSE),
        Rule::on_result("quarter past four").says("I looked: 漢字 16:15").trickles(PAUSE),
        Rule::always().says("As you wish: größer, \"quoted\", 漢字 🚂").taking(40, 9_000, 6).trickles(PAUSE),
    ];
    busy.into_iter().chain(rules).collect()
}

/// Begins to tell what has passed, and returns where.
fn tell(tee: Tee) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let tee = Arc::new(tee);
    thread::spawn(move || {
        let mut n_told = 0;
        for stream in listener.incoming().flatten() {
            let new = tee.exchanges().split_off(n_told);
            n_told += new.len();
            // Who asks and leaves loses what there was.
            let _ = answer(stream, &new.iter().map(row).collect());
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, rows: &Value) -> io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte)? > 0 {
        head.push(byte[0]);
    }
    let body = rows.to_string();
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn row(exchange: &Exchange) -> Value {
    let Exchange { request, .. } = exchange;
    json!({
        "method": request.method(), "path": request.path(), "body": hex(request.bytes()),
        "status": exchange.status(), "answer": hex(&exchange.answer()),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_line(line: &str) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{line}")?;
    out.flush()
}
