//! The other side of a sync: a project of a team on a server.
//!
//! Nothing new is one request, one change two: the feed brings texts along, and an answer to a batch says whether anybody else
//! wrote in between. What was not answered is unknown, and the next sync finds out; sending it again is safe, because every
//! write names what it replaces.

use std::collections::BTreeMap;
use std::time::Duration;

use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{self, Batch, BatchReply, Code, LedgerName, Op, ProjectName, TeamName};
use memdir_store::team::{
    About, Appended, Ask, Changes, Cursor, Known, Outcome, Phase, Progress, Pushed, Remote, RemoteError,
    State, Traffic, UsageFile, Wanted, Write,
};
use reqwest::Method;
use serde_json::Value;

use super::Access;
use super::address::read_place_id;
use super::feed::{Feed, MAX_PAGE, Page};
use super::line::{Fault, Line, Question};
use super::push;
use crate::{Base, Variables};
use memdir_store::keys::Secret;

/// More texts than these are looked for in the feed, which has a thousand a page.
const MANY_TEXTS: usize = 12;
/// The answer to a batch.
const MAX_REPLY: usize = wire::MAX_OPS * 4 * 1024;
/// A list of ledgers.
const MAX_LEDGERS: usize = 1 << 20;
/// A piece of a ledger.
const MAX_LINES: usize = 2 << 20;
/// How often an erasure is asked for that somebody else's writes come before.
const MAX_ERASE: usize = 5;
/// How long news is waited for; less than the silence after which a line is given up.
const WAIT: Duration = Duration::from_secs(15);

/// A project of a team on a server.
pub struct Server {
    line: Line,
    about: About,
    team: TeamName,
    project: ProjectName,
    /// How far the feed was read.
    read: u64,
}

impl Server {
    /// Makes ready to ask the server that a project joined. Connects to nothing.
    pub fn open(
        about: &About,
        project: ProjectName,
        token: Secret,
        variables: &Variables,
    ) -> Result<Self, RemoteError> {
        let strange =
            || RemoteError::Nonsense { label: about.label.clone(), why: "it has no address".to_owned() };
        let (base, team): (Base, TeamName) = read_place_id(&about.id).ok_or_else(strange)?;
        let line = Line::new(Access { base: &base, token: Some(token), variables }, &about.label)?;
        let about = About { id: format!("{}/{project}", about.id), ..about.clone() };
        Ok(Self { line, about, team, project, read: 0 })
    }

    /// Waits a quarter of a minute for something newer than `since`, and says whether there is.
    pub fn has_news(&mut self, since: &Cursor) -> Result<bool, RemoteError> {
        let wait = WAIT.as_secs().to_string();
        let question =
            self.question(Method::GET, &["changes"], &[("since", &since.0), ("limit", "1"), ("wait", &wait)]);
        let page: Page = self.line.ask_json(&question.up_to(MAX_PAGE))?;
        Ok(!page.is_empty())
    }

    /// Begins a question about the project.
    fn question(&self, method: Method, rest: &[&str], query: &[(&str, &str)]) -> Question {
        let head = ["teams", self.team.as_str(), "projects", self.project.as_str()];
        let segments: Vec<&str> = head.into_iter().chain(rest.iter().copied()).collect();
        self.line.question(method, &segments, query)
    }

    fn page(&mut self, since: u64) -> Result<Page, RemoteError> {
        let (since, limit) = (since.to_string(), wire::MAX_CHANGES.to_string());
        let query = [("since", since.as_str()), ("limit", limit.as_str()), ("text", "1")];
        let question = self.question(Method::GET, &["changes"], &query).up_to(MAX_PAGE);
        self.line.ask_json(&question)
    }

    /// Reads the feed from a version on to its end. Returns it and where it ended.
    fn walk(&mut self, since: u64, tell: &mut dyn FnMut(usize)) -> Result<(Feed, u64), RemoteError> {
        let (mut feed, mut at) = (Feed::default(), since);
        loop {
            let page = self.page(at)?;
            let end = page.cursor;
            let next = feed.take(page, at).map_err(|why| self.line.nonsense(&why))?;
            tell(feed.len());
            match next {
                Some(next) => at = next,
                None => return Ok((feed, end)),
            }
        }
    }

    fn text(&mut self, wanted: &Wanted) -> Result<Option<Vec<u8>>, RemoteError> {
        let question = self.question(Method::GET, &["memories", wanted.path.as_str()], &[]);
        match self.line.ask(&question.up_to(wire::MAX_MEMORY)) {
            Ok(text) => Ok(Some(text).filter(|text| ContentHash::of(text) == wanted.hash)),
            Err(Fault::Refused(refusal)) if matches!(refusal.status, 404 | 410) => Ok(None),
            Err(fault) => Err(self.line.error(fault)),
        }
    }

    /// Finds many texts in the feed, from the oldest of them on.
    fn texts_of_feed(
        &mut self,
        wanted: &[Wanted],
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Option<Vec<u8>>>, RemoteError> {
        let oldest =
            wanted.iter().filter_map(|wanted| wanted.version.0.parse::<u64>().ok()).min().unwrap_or(1);
        let of = Some(wanted.len());
        let mut told =
            |done: usize| tell(Progress { phase: Phase::Fetching, done: done.min(wanted.len()), of });
        let (feed, _) = match self.walk(oldest.saturating_sub(1), &mut told) {
            Err(RemoteError::CursorGone { .. }) => self.walk(0, &mut told)?,
            walked => walked?,
        };
        let mut texts: BTreeMap<MemoryPath, Vec<u8>> = BTreeMap::new();
        for item in feed.into_parts().0 {
            if let State::Live { text: Some(text), .. } = item.state {
                texts.insert(item.path, text);
            }
        }
        let found =
            |wanted: &Wanted| texts.remove(&wanted.path).filter(|text| ContentHash::of(text) == wanted.hash);
        Ok(wanted.iter().map(found).collect())
    }

    /// Sends operations in batches until all are answered or one batch is not.
    fn send(&mut self, ops: &[Op], tell: &mut dyn FnMut(Progress)) -> Pushed {
        let mut pushed = Pushed { cursor: Some(Cursor(self.read.to_string())), ..Pushed::default() };
        let mut most = wire::MAX_OPS;
        while pushed.outcomes.len() < ops.len() && pushed.cut.is_none() {
            let done = pushed.outcomes.len();
            tell(Progress { phase: Phase::Sending, done, of: Some(ops.len()) });
            let portion = &ops[done..done + push::portion(&ops[done..], most)];
            match self.batch(portion) {
                Ok(reply) => self.take_reply(portion, &reply, &mut pushed),
                // It takes less at once than we thought.
                Err(Fault::Refused(refusal)) if refusal.status == 413 && portion.len() > 1 => {
                    most = portion.len() / 2;
                }
                Err(Fault::Refused(refusal)) if refusal.status == 413 => {
                    pushed.outcomes.push(push::refused(Code::TooLarge, refusal.message));
                }
                Err(fault) => pushed.cut = Some(self.line.error(fault)),
            }
        }
        pushed.outcomes.resize(ops.len(), Outcome::Unknown);
        pushed
    }

    fn batch(&mut self, ops: &[Op]) -> Result<BatchReply, Fault> {
        let question = self.question(Method::POST, &["batch"], &[]).json(&Batch { ops: ops.to_vec() });
        let body = self.line.ask(&question.repeatable().up_to(MAX_REPLY))?;
        serde_json::from_slice(&body)
            .map_err(|_| Fault::Failed(self.line.nonsense("it is not what becomes of a batch")))
    }

    fn take_reply(&mut self, ops: &[Op], reply: &BatchReply, pushed: &mut Pushed) {
        let outcomes: Option<Vec<Outcome>> =
            ops.iter().zip(&reply.results).map(|(op, result)| push::outcome(op, result)).collect();
        let Some(outcomes) = outcomes.filter(|outcomes| outcomes.len() == ops.len()) else {
            pushed.cut = Some(self.line.nonsense("it does not say what became of each write"));
            return;
        };
        if outcomes.contains(&Outcome::Unknown) {
            let label = self.line.label().to_owned();
            pushed.cut = Some(RemoteError::Busy { label, retry_after: None });
        }
        let is_done = outcomes.iter().all(|outcome| matches!(outcome, Outcome::Done { .. }));
        // Nobody else wrote since the feed was read: then nothing of it is news to us.
        let is_ours = is_done && reply.before == self.read && pushed.cursor.is_some();
        pushed.cursor = is_ours.then(|| Cursor(reply.cursor.to_string()));
        if is_ours {
            self.read = reply.cursor;
        }
        pushed.outcomes.extend(outcomes);
    }
}

/// Returns what was known in versions that a server whose newest is `newest` has never given: it was put back to an older copy
/// of itself.
fn lost(known: &BTreeMap<MemoryPath, Known>, newest: u64) -> Vec<MemoryPath> {
    let is_lost = |known: &Known| known.version.0.parse().is_ok_and(|version: u64| version > newest);
    known.iter().filter(|(_, known)| is_lost(known)).map(|(path, _)| path.clone()).collect()
}

impl Remote for Server {
    fn about(&self) -> &About {
        &self.about
    }

    fn changes(&mut self, ask: &Ask<'_>, tell: &mut dyn FnMut(Progress)) -> Result<Changes, RemoteError> {
        let since = ask.since.as_ref().and_then(|cursor| cursor.0.parse().ok()).unwrap_or(0);
        let (feed, cursor) =
            self.walk(since, &mut |done| tell(Progress { phase: Phase::Asking, done, of: None }))?;
        self.read = cursor;
        let (items, refused) = feed.into_parts();
        let complete = since == 0;
        let lost = if complete { lost(ask.known, cursor) } else { Vec::new() };
        Ok(Changes { items, complete, cursor: Some(Cursor(cursor.to_string())), refused, lost })
    }

    fn texts(
        &mut self,
        wanted: &[Wanted],
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Option<Vec<u8>>>, RemoteError> {
        if wanted.len() > MANY_TEXTS {
            return self.texts_of_feed(wanted, tell);
        }
        wanted.iter().map(|wanted| self.text(wanted)).collect()
    }

    fn push(&mut self, writes: &[Write], tell: &mut dyn FnMut(Progress)) -> Pushed {
        let ops: Vec<Result<Op, Outcome>> = writes.iter().map(push::op).collect();
        let good: Vec<Op> = ops.iter().filter_map(|op| op.as_ref().ok().cloned()).collect();
        let mut pushed = self.send(&good, tell);
        let mut answered = std::mem::take(&mut pushed.outcomes).into_iter();
        let outcome = |op: Result<Op, Outcome>| match op {
            Ok(_) => answered.next().unwrap_or(Outcome::Unknown),
            Err(outcome) => outcome,
        };
        pushed.outcomes = ops.into_iter().map(outcome).collect();
        pushed
    }

    fn erase(&mut self, paths: &[MemoryPath]) -> Pushed {
        // Which version it is now, nobody here knows for sure: the first answer says it.
        let mut bases = vec![wire::Base::New; paths.len()];
        let mut pushed = Pushed::default();
        for _ in 0..MAX_ERASE {
            let erase = |(path, base): (&MemoryPath, &wire::Base)| Op::Erase {
                path: path.as_str().to_owned(),
                base: *base,
            };
            let ops: Vec<Op> = paths.iter().zip(&bases).map(erase).collect();
            pushed = self.send(&ops, &mut |_| ());
            let mut is_done = true;
            for (base, outcome) in bases.iter_mut().zip(&pushed.outcomes) {
                let Outcome::Stale { current: Some(current) } = outcome else { continue };
                if let Ok(version) = current.version.0.parse() {
                    (*base, is_done) = (wire::Base::Version(version), false);
                }
            }
            if is_done || pushed.cut.is_some() {
                break;
            }
        }
        pushed
    }

    fn usage(&mut self) -> Result<Vec<UsageFile>, RemoteError> {
        let question = self.question(Method::GET, &["usage"], &[]).up_to(MAX_LEDGERS);
        let entries: Vec<Value> = self.line.ask_json(&question)?;
        // One that is no ledger spoils no other.
        let ledgers = entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok());
        Ok(ledgers
            .map(|info: wire::LedgerInfo| UsageFile { name: info.file.to_string(), size: info.size })
            .collect())
    }

    fn read_usage(&mut self, name: &str, offset: u64) -> Result<Vec<u8>, RemoteError> {
        let offset = offset.to_string();
        let question = self.question(Method::GET, &["usage", name], &[("offset", &offset)]).up_to(MAX_LINES);
        self.line.ask(&question).map_err(|fault| self.line.error(fault))
    }

    fn append_usage(&mut self, name: &str, offset: u64, lines: &[u8]) -> Result<Appended, RemoteError> {
        if LedgerName::new(name).is_err() {
            return Ok(Appended::Elsewhere(0));
        }
        let offset_text = offset.to_string();
        let question =
            self.question(Method::POST, &["usage", name], &[("offset", &offset_text)]).lines(lines);
        // Sent twice, the second time it ends elsewhere.
        match self.line.ask(&question.repeatable()) {
            Ok(body) => serde_json::from_slice(&body)
                .map(|appended: wire::Appended| Appended::Done(appended.size))
                .map_err(|_| self.line.nonsense("it does not say how long the ledger is")),
            Err(Fault::Refused(refusal)) if refusal.status == 409 => Ok(Appended::Elsewhere(offset)),
            Err(fault) => Err(self.line.error(fault)),
        }
    }

    fn traffic(&self) -> Traffic {
        self.line.traffic()
    }
}
