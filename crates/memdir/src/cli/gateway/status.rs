//! `memdir gateway status`: what a gateway that runs says of itself.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use memdir_core::text::count;
use memdir_store::disk::Dir;
use serde_json::{Value, json};

use super::settled::TOKEN;
use super::{DIR, RUNNING};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Ui};

/// A gateway that takes longer does not run.
const PATIENCE: Duration = Duration::from_secs(5);
/// No answer is longer.
const MAX_ANSWER: u64 = 4 << 20;

pub(super) fn run(home: &Path, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Some((address, status)) = running(home) else {
        if ui.is_json() {
            ui.json(&json!({ "running": false }));
        } else {
            ui.say("no gateway runs; `memdir gateway` starts one");
        }
        return Ok(Outcome::Nothing);
    };
    if ui.is_json() {
        let mut document = json!({ "running": true, "address": address.to_string() });
        if let (Some(document), Value::Object(status)) = (document.as_object_mut(), status) {
            document.extend(status);
        }
        ui.json(&document);
    } else {
        show(address, &status, ui);
    }
    Ok(Outcome::Done)
}

fn show(address: SocketAddr, status: &Value, ui: &mut Ui) {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let memory = if status["memory"] == true { "on" } else { "off" };
    let open = count(usize::try_from(number(&status["open"])).unwrap_or(usize::MAX), "request", "requests");
    ui.line(&format!(
        "http://{address}  memory {memory}  {open} open  page: http://{address}/__memdir/status"
    ));
    let columns = ["requests", "refused", "failed", "cut", "injections", "injected_bytes", "cached_tokens"];
    let row = |(route, counts): (&String, &Value)| {
        let numbers = columns.iter().map(|column| number(&counts[*column]).to_string());
        [route.clone()].into_iter().chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = status["routes"].as_object().into_iter().flatten().map(row).collect();
    let titles =
        ["route", "requests", "refused", "failed", "cut", "injections", "bytes put in", "cached tokens"];
    let heads = titles.map(Column::new);
    ui.table(&heads, &rows);
}

/// Asks the gateway that says that it runs.
fn running(home: &Path) -> Option<(SocketAddr, Value)> {
    let dir = Dir::open(&home.join(DIR)).ok()?;
    let sign: Value = serde_json::from_slice(&dir.read(RUNNING, 1_024).ok()??).ok()?;
    let address: SocketAddr =
        sign["address"].as_str()?.parse().ok().filter(|a: &SocketAddr| a.ip().is_loopback())?;
    let token = Dir::open(home).ok()?.read(TOKEN, 1_024).ok()??;
    let answer = ask(address, str::from_utf8(&token).ok()?.trim()).ok()?;
    let body = answer.split_once("\r\n\r\n").filter(|(head, _)| head.starts_with("HTTP/1.1 200 "))?.1;
    Some((address, serde_json::from_str(body).ok()?))
}

/// Says whether a gateway answers at a base URL.
pub(crate) fn answers(base: &str) -> bool {
    let address = base.strip_prefix("http://").and_then(|rest| rest.parse().ok());
    let health = address.and_then(|address| get(address, "/__memdir/health", "").ok());
    health.is_some_and(|answer| answer.starts_with("HTTP/1.1 200 "))
}

fn ask(address: SocketAddr, token: &str) -> io::Result<String> {
    get(address, "/__memdir/status.json", &format!("X-Memdir-Token: {token}\r\n"))
}

fn get(address: SocketAddr, path: &str, headers: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Connection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(MAX_ANSWER).read_to_string(&mut answer)?;
    Ok(answer)
}
