//! The way from an agent to its model through `memdir gateway`, with somebody on each side of it who keeps every byte.
//!
//! ```text
//!   agent ─▶ Tee ─▶ memdir gateway ─▶ Tee ─▶ scripted model
//! ```
//!
//! [`Way::passed`] says what became of each request and of its answer. It knows in which forms a text may be put into a body
//! ([`added`]), and nothing of how the gateway does that.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;

use memdir_testkit::{Exchange, Request, Tee};

use crate::host::Host;
use crate::seen::INSTRUCTIONS;
use crate::world::World;

/// What is late is left out, and a machine that tests everything at once is slow, in milliseconds.
const PATIENCE_MS: &str = "20000";
/// Headers that belong to one connection, or name the host that is asked.
const OF_A_CONNECTION: [&str; 5] =
    ["host", "connection", "keep-alive", "transfer-encoding", "content-length"];

/// A gateway between an agent and its model.
pub(crate) struct Way {
    front: Tee,
    back: Tee,
    gateway: Child,
}

/// A request before and behind the gateway, and the texts that it was given there.
pub(crate) struct Passed {
    pub(crate) came: Request,
    pub(crate) went: Request,
    pub(crate) added: Vec<String>,
}

impl Way {
    /// Makes a machine whose agent knows nothing of memdir but one address.
    ///
    /// The gateway is started in the user's home and not in the project: which project it is, the agent says.
    pub(crate) fn through(host: &dyn Host, has_memory: bool) -> (World, Self) {
        let mut way = None;
        let world = World::asking(host, |world| way.insert(Self::open(world, has_memory)).front.url());
        (world, way.unwrap())
    }

    fn open(world: &World, has_memory: bool) -> Self {
        let back = Tee::before(world.model.address());
        let upstreams = ["anthropic", "openai", "gemini"]
            .map(|name| format!("[gateway.upstreams.{name}]\nurl = \"{}\"\n", back.url()));
        fs::create_dir_all(world.state()).unwrap();
        fs::write(world.state().join("config.toml"), upstreams.concat()).unwrap();
        let (gateway, address) = start(world, has_memory);
        Self { front: Tee::before(address), back, gateway }
    }

    /// What the agent asked, in its order, beside what the model got; panics unless only texts of ours lie between the two,
    /// and nothing between the answers.
    pub(crate) fn passed(&self) -> Vec<Passed> {
        let (front, mut back) = (self.front.exchanges(), self.back.exchanges());
        assert!(!front.is_empty(), "the agent asked nobody");
        let passed = front.into_iter().map(|asked| {
            let found = back.iter().enumerate().find_map(|(at, got)| Some((at, between(&asked, got)?)));
            let (at, added) = found.unwrap_or_else(|| panic!("{}", unlike(&asked, &back)));
            Passed { came: asked.request, went: back.remove(at).request, added }
        });
        let passed = passed.collect();
        let n_more = self.back.exchanges().len() - self.front.exchanges().len();
        assert_eq!(n_more, 0, "the model was asked more than the agent asked");
        passed
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        let _ = self.gateway.kill();
        let _ = self.gateway.wait();
    }
}

impl Passed {
    /// Says whether it is what the agent asks for its user, and no title or summary.
    pub(crate) fn is_turn(&self) -> bool {
        self.came.api().is_some() && !self.came.tools().is_empty()
    }

    /// The headers that came and those that went, without those of one connection.
    pub(crate) fn headers(&self) -> [Vec<(String, String)>; 2] {
        [&self.came, &self.went].map(|request| {
            let is_kept = |(name, _): &&(String, String)| !OF_A_CONNECTION.contains(&name.as_str());
            let mut headers: Vec<_> = request.headers().iter().filter(is_kept).cloned().collect();
            headers.sort();
            headers
        })
    }
}

fn start(world: &World, has_memory: bool) -> (Child, SocketAddr) {
    let binary =
        std::env::var_os("MEMDIR_TEST_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_memdir").into());
    let mut command = Command::new(binary);
    command.args(["gateway", "--listen", "127.0.0.1:0"]).current_dir(world.home()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", world.home()).env("MEMDIR_HOOK_DEADLINE_MS", PATIENCE_MS);
    if !has_memory {
        command.env("MEMDIR_OFF", "1");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut gateway = command.spawn().unwrap();
    let mut said = BufReader::new(gateway.stderr.take().unwrap()).lines().map_while(Result::ok);
    let find = |line: String| line.strip_prefix("memdir gateway at http://")?.split(',').next()?.parse().ok();
    let address = said.by_ref().find_map(find).unwrap_or_else(|| panic!("the gateway did not start"));
    thread::spawn(move || said.for_each(drop));
    (gateway, address)
}

/// Returns the texts that one request has more than the other, if they are the same one and were answered alike.
fn between(asked: &Exchange, got: &Exchange) -> Option<Vec<String>> {
    let (came, went) = (&asked.request, &got.request);
    let is_same = (came.method(), came.path()) == (went.method(), went.path())
        && (asked.status(), asked.answer()) == (got.status(), got.answer());
    if is_same { added(came.bytes(), went.bytes()).ok() } else { None }
}

/// Tells which request reached nobody, and where those that did are other ones.
fn unlike(asked: &Exchange, back: &[Exchange]) -> String {
    let tell = |exchange: &Exchange| {
        let Exchange { request, .. } = exchange;
        let (n, status, answer) = (request.bytes().len(), exchange.status(), exchange.answer().len());
        format!("{} {}: {n} bytes, answered {status} with {answer} bytes", request.method(), request.path())
    };
    let others = back.iter().map(|got| {
        let went = got.request.bytes();
        let at = added(asked.request.bytes(), went).map_or_else(|n_left| went.len() - n_left, |_| went.len());
        let piece = &went[at.saturating_sub(200)..(at + 600).min(went.len())];
        format!(
            "\n  {}\n    other than it came before byte {at}: {}",
            tell(got),
            String::from_utf8_lossy(piece)
        )
    });
    format!("{} did not reach the model as it came, only:{}", tell(asked), others.collect::<String>())
}

/// Returns the texts of ours that a body has more than another one; if that is not all that differs, how much of it was left
/// where it went on in another way.
fn added(came: &[u8], went: &[u8]) -> Result<Vec<String>, usize> {
    let n_same = came.iter().zip(went).take_while(|(came, went)| came == went).count();
    if n_same == came.len() && n_same == went.len() {
        return Ok(Vec::new());
    }
    let mut n_left = went.len() - n_same;
    // What was put in may begin with the bytes that follow it, so it may begin before the first byte that differs.
    for at in (n_same.saturating_sub(LONGEST_OPENING)..=n_same).rev() {
        for (length, text) in pieces(&went[at..]).into_iter().filter(|(length, _)| at + length > n_same) {
            match added(&came[at..], &went[at + length..]) {
                Ok(rest) => return Ok(text.into_iter().chain(rest).collect()),
                Err(n) => n_left = n_left.min(n),
            }
        }
    }
    Err(n_left)
}

/// No form of a text opens with more bytes, its first words among them.
const LONGEST_OPENING: usize = 200;
/// What a message that is a string is preceded by where it becomes a list.
const WRAPPED: &str = r#"[{"type":"text","text":"#;
/// What stands before and behind a text in each of its forms.
const FORMS: [(&str, &str); 5] = [
    (r#"},{"type":"text","text":""#, r#""}]"#),
    (r#",{"type":"text","text":""#, r#""}"#),
    (r#",{"type":"input_text","text":""#, r#""}"#),
    (r#",{"text":""#, r#""}"#),
    (r"\n\n", ""),
];

/// Returns what of ours these bytes may begin with: its length, and its text if it is one.
fn pieces(bytes: &[u8]) -> Vec<(usize, Option<String>)> {
    let text = String::from_utf8_lossy(bytes);
    let wrapped = text.starts_with(WRAPPED).then_some((WRAPPED.len(), None));
    let texts = FORMS.iter().filter_map(|(before, behind)| {
        let inner = text.strip_prefix(before)?.strip_prefix(r"<system-reminder>\n")?;
        let (inner, rest) = inner.split_once(r"\n</system-reminder>")?;
        let is_ours =
            inner.contains("[memdir ") || inner.contains(INSTRUCTIONS) || inner.starts_with("memdir");
        (is_ours && rest.starts_with(behind)).then(|| {
            let length = text.len() - rest.len() + behind.len();
            (length, Some(inner.to_owned()))
        })
    });
    wrapped.into_iter().chain(texts).collect()
}

#[test]
fn what_was_put_in_is_told_from_what_was_changed() {
    let ours = r"<system-reminder>\n[memdir 0] x [/memdir 0]\n</system-reminder>";
    let theirs = r"<system-reminder>\nThe date.\n</system-reminder>";
    let list = |texts: &[&str]| {
        let blocks: Vec<String> =
            texts.iter().map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#)).collect();
        format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(","))
    };
    let string = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let n_added = |came: &[&str], went: &[&str]| {
        added(came.join(",").as_bytes(), went.join(",").as_bytes()).ok().map(|texts| texts.len())
    };
    let last = string("b");
    // Each form, alone and with more of the same kind behind it.
    for (came, went) in [
        (list(&["a"]), list(&["a", ours])),
        (list(&["a", theirs]), list(&["a", ours, theirs])),
        (list(&["a", "c"]), list(&["a", "c", ours])),
        (string("a"), list(&["a", ours])),
        (string("a"), string(&format!(r"a\n\n{ours}"))),
    ] {
        let (came, went) = (came.as_str(), went.as_str());
        assert_eq!(n_added(&[came], &[went]), Some(1), "{went}");
        assert_eq!(n_added(&[came, &last], &[went, &last]), Some(1), "{went}");
        assert_eq!(n_added(&[came, came], &[went, went]), Some(2), "{went}");
        assert_eq!(n_added(&[came, &last], &[went, &string("c")]), None);
        assert_eq!(n_added(&[came], &[came]), Some(0));
    }
    assert_eq!(n_added(&[&list(&["a"])], &[&list(&["a", theirs])]), None, "a text of somebody else");
    assert_eq!(n_added(&[&list(&["a", "b"])], &[&list(&["a", ours])]), None, "a text that is gone");
}
