//! Model servers that may run on this machine: looked for only when the user asks, at the ports they have by custom.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// On one's own machine somebody who listens answers at once.
const PATIENCE: Duration = Duration::from_millis(300);
/// The servers that speak chat completions, and their ports.
const SERVERS: [(&str, u16); 4] =
    [("Ollama", 11434), ("llama.cpp", 8080), ("vLLM", 8000), ("LM Studio", 1234)];

/// Returns the ports at which somebody listens, with the server that is known for it.
pub fn nearby() -> Vec<(&'static str, String)> {
    let listens = |port: u16| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        TcpStream::connect_timeout(&address, PATIENCE).is_ok()
    };
    let found = SERVERS.into_iter().filter(|(_, port)| listens(*port));
    found.map(|(name, port)| (name, format!("http://127.0.0.1:{port}"))).collect()
}
