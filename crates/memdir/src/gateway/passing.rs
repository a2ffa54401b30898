//! A request on its way through memory: read, given back what it had, given what is new.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use jiff::Timestamp;
use memdir_core::compact;
use memdir_core::gateway::{
    Dialect, Kind, Labels, Reading, Shortened, Turn, put_back, read, reminder, shorten, splice, window,
};
use memdir_core::hash::ContentHash;
use memdir_core::host::{Agent, Moment, Occasion, Source};
use memdir_store::gateway::Known;
use memdir_store::place::{Environment, LocateError, Place};
use memdir_store::session::Session;

use super::Desk;
use crate::context::{self, Context};
use crate::failure::Failure;
use crate::hook;
use crate::hook::desk::{Answer, Desk as HookDesk};

/// What came in.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) dialect: Dialect,
    pub(super) labels: Labels,
    pub(super) body: Bytes,
}

/// A request, and what is known of its conversation.
#[derive(Debug)]
pub(super) struct Passing {
    request: Request,
    reading: Reading,
    /// The conversation, or the one of several that begin alike.
    session: String,
    known: Known,
    /// The project that was found for it.
    pub(super) project: Option<PathBuf>,
    /// Whether memory is switched off there.
    is_off: bool,
    /// The memory tool, if the vault answers it.
    tool: Option<String>,
    shortened: Option<(Shortened, Range<usize>)>,
    now: Timestamp,
}

impl Passing {
    /// Reads a request and looks up its conversation.
    pub(super) fn read(desk: &Desk, request: Request) -> Self {
        let mut reading = read(request.dialect, &request.labels, &request.body);
        follow(desk, &mut reading);
        let project = project(&request.labels, &reading).or_else(|| desk.project.clone());
        let place = desk.place(project.as_deref()).ok().map(|(_, place)| place).filter(|place| !place.off);
        let serves = place.as_ref().is_some_and(|place| place.settings.gateway.serves_memory_tool);
        let serves = serves && !context::is_ignored();
        let now = context::now();
        if let Some(place) = place.as_ref().filter(|_| is_known(&reading, serves)) {
            // The project is a part of what a conversation is: two may begin with the same words, or have one name.
            let vault = place.vault.to_string_lossy();
            reading.conversation.id = desk.conversations.claim(&reading.conversation.id, &vault, now);
        }
        let mut passing = Self {
            session: reading.conversation.id.clone(),
            known: Known::default(),
            is_off: place.is_none(),
            tool: reading.memory_tool.clone().filter(|_| serves),
            shortened: None,
            request,
            reading,
            project,
            now,
        };
        if passing.has_memory() {
            passing.look_up(desk);
        } else if passing.tool.is_some() {
            passing.known.kept = desk.conversations.known(passing.id()).kept;
        }
        // Who asked for memory to be left alone gets it from nobody: the tool is the client's.
        let session = place.and_then(|place| Session::of(&place.home, &passing.session));
        passing.tool =
            passing.tool.filter(|_| !session.is_some_and(|session| session.state().ignores_memory));
        passing
    }

    fn look_up(&mut self, desk: &Desk) {
        let Self { reading, session, .. } = self;
        let known = desk.conversations.known(session);
        // The same words again, from the beginning: another conversation that has the same name for want of a better one.
        let is_anew = !reading.conversation.is_named
            && reading.follows.is_none()
            && reading.is_asked
            && reading.turns.len() == 1
            && known.n_turns() > 1;
        self.known = if is_anew {
            desk.conversations.update(session, self.now, |known| {
                known.begin_anew();
                known.clone()
            })
        } else {
            known
        };
        if reading.kind == Kind::Main {
            let (dialect, body) = (self.request.dialect, &self.request.body);
            let shortened = self.known.shortened.clone();
            self.shortened =
                shortened.and_then(|shortened| Some((shortened.clone(), shortened.find(dialect, body)?)));
        }
        if self.known.before > 0 {
            self.session = format!("{}-{}", self.session, self.known.before);
        }
    }

    /// Says whether what was said in this request may have something of ours in it.
    fn has_memory(&self) -> bool {
        has_ours(&self.reading) && !self.is_off
    }

    /// Says whether the user has just said something that nobody looked at.
    pub(super) fn is_new_prompt(&self) -> bool {
        let Reading { is_asked, has_frame, turns, .. } = &self.reading;
        let is_new = |turn: &Turn| self.known.told(&turn.key).is_none();
        self.is_heard() && *is_asked && !has_frame && turns.last().is_some_and(is_new)
    }

    /// Says whether the answer is of interest.
    pub(super) fn is_heard(&self) -> bool {
        self.reading.kind == Kind::Main && self.has_memory()
    }

    /// Says whether its summary may be asked for after the answer, as far as that is known before: it takes up a good part of
    /// the window. What goes up has this many bytes.
    pub(super) fn may_be_summed_up(&self, n_bytes: usize) -> bool {
        let half = window(&self.reading.model) / 2;
        let estimated = (n_bytes / compact::CHARS_A_TOKEN) as u64;
        self.reading.follows.is_none() && !self.reading.is_agents && self.known.read.max(estimated) >= half
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.request.dialect
    }

    /// Returns the body that came.
    pub(super) fn came(&self) -> &[u8] {
        &self.request.body
    }

    pub(super) fn kind(&self) -> Kind {
        self.reading.kind
    }

    pub(super) fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Returns the conversation as sessions are called; none if it is not known.
    pub(super) fn conversation(&self) -> Option<&str> {
        Some(self.session.as_str()).filter(|session| !session.is_empty())
    }

    /// Returns the name under which it is looked up.
    pub(super) fn id(&self) -> &str {
        &self.reading.conversation.id
    }

    /// Returns how many bytes are put back.
    pub(super) fn replayed(&self) -> usize {
        self.reading.turns.iter().filter_map(|turn| self.known.told(&turn.key)).map(str::len).sum()
    }

    /// Returns the name of the memory tool, if the vault answers it.
    pub(super) fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Returns how long remembering may take.
    pub(super) fn time(&self) -> Duration {
        if self.source().is_some() { hook::time_for_start() } else { hook::time_for_prompt() }
    }

    /// Says whether the session begins here, or begins again because what it began with was summed up.
    fn source(&self) -> Option<Source> {
        let Some(begun) = &self.known.begun else { return Some(Source::New) };
        if self.reading.follows.is_some() {
            // The service has it.
            return None;
        }
        let is_left = |turn: &Turn| match &self.shortened {
            Some((_, at)) => turn.place.at() >= at.end,
            None => true,
        };
        let is_there = self.reading.turns.iter().any(|turn| turn.key == *begun && is_left(turn));
        (!is_there).then_some(Source::Compacted)
    }

    /// Remembers, and notes what is put into the turn, unless somebody has given up waiting.
    pub(super) fn remember(&self, desk: &Desk, is_taken: &AtomicBool) -> String {
        let Some(turn) = self.reading.turns.last() else { return String::new() };
        let until = Instant::now() + self.time().mul_f64(0.8);
        let occasions = self.occasions(turn);
        let told = self.gather(desk, &occasions, until).unwrap_or_default();
        if is_taken.swap(true, Ordering::SeqCst) {
            return String::new();
        }
        let text: String = told.iter().map(|(_, answer)| answer.reply.context.as_str()).collect();
        let text = if text.trim().is_empty() { String::new() } else { reminder(&text) };
        let begins = self.source().is_some();
        let kept = desk.conversations.update(self.id(), self.now, |known| {
            if begins {
                known.begun = Some(turn.key.clone());
            }
            known.tell(&turn.key, &text)
        });
        told.iter().for_each(|(hook, answer)| hook.record(answer));
        kept
    }

    /// Gathers what the session is told at each of these occasions.
    fn gather<'o>(
        &self,
        desk: &Desk,
        occasions: &'o [Occasion],
        until: Instant,
    ) -> Result<Vec<(HookDesk<'o>, Answer)>, Failure> {
        let mut told = Vec::new();
        for occasion in occasions {
            let (env, place) = self.place(desk)?;
            let Some(hook) = HookDesk::at(occasion, env, place, until)? else { return Ok(Vec::new()) };
            self.note_tools(hook.context());
            // A question that fails is one that calls nothing to mind.
            let answer = hook.tell().unwrap_or_default();
            told.push((hook, answer));
        }
        Ok(told)
    }

    /// Returns the occasions of this turn: its prompt, and before that the beginning of the session if it is that.
    fn occasions(&self, turn: &Turn) -> Vec<Occasion> {
        let start = self.source().map(Moment::Start);
        let moments = start.into_iter().chain([Moment::Prompt(turn.said.clone())]);
        moments.map(|moment| self.occasion(turn, moment)).collect()
    }

    /// Notes which tools the conversation uses: recall leaves out how they are used (R2-09).
    fn note_tools(&self, context: &Context) {
        if let Some(session) =
            Session::of(&context.place.home, &self.session).filter(|_| !self.reading.tools.is_empty())
        {
            session.update(context.now, |state| {
                self.reading.tools.iter().for_each(|tool| state.used(&hook::used_as(tool)));
            });
        }
    }

    fn occasion(&self, turn: &Turn, moment: Moment) -> Occasion {
        let event = match moment {
            Moment::Start(_) => "start",
            _ => "prompt",
        };
        Occasion {
            agent: self.agent(),
            event: format!("gateway {event}"),
            session: self.session.clone(),
            id: Some(turn.key.clone()),
            cwd: self.project.as_ref().map(|dir| dir.display().to_string()),
            transcript: None,
            subagent: None,
            moment,
        }
    }

    /// Returns the agent that asks, as far as it matters what that one knows by itself.
    fn agent(&self) -> Agent {
        match self.request.dialect {
            Dialect::Messages if self.reading.is_agents => Agent::ClaudeCode,
            Dialect::Responses => Agent::Codex,
            Dialect::Gemini => Agent::Gemini,
            Dialect::Messages | Dialect::Chat => Agent::Opencode,
        }
    }

    /// Returns what was put into the last turn just now.
    pub(super) fn told_now(&self, desk: &Desk) -> String {
        let known = desk.conversations.known(self.id());
        let last = self.reading.turns.last();
        last.and_then(|turn| known.told(&turn.key)).unwrap_or_default().to_owned()
    }

    /// Returns what the environment says for the conversation's project, and where its vault is.
    pub(super) fn place(&self, desk: &Desk) -> Result<(Environment, Place), LocateError> {
        desk.place(self.project.as_deref())
    }

    /// Returns the body that goes on: what was there, what was put in before, and `new` behind the last turn; `None` if
    /// that is what came.
    pub(super) fn body(&self, new: &str) -> Option<Vec<u8>> {
        let mut insertions = Vec::new();
        let last = self.reading.turns.len().saturating_sub(1);
        for (nth, turn) in self.reading.turns.iter().enumerate() {
            let text = match self.known.told(&turn.key) {
                Some(told) => told,
                None if nth == last => new,
                None => "",
            };
            if !text.is_empty() {
                insertions.extend(turn.place.insertions(text));
            }
        }
        // Calls of a tool that is not offered are taken by no service.
        if self.reading.memory_tool.is_some() {
            insertions.extend(put_back(&self.known.kept, &self.request.body));
        }
        match &self.shortened {
            Some((shortened, at)) => Some(shortened.apply(&self.request.body, at, &insertions)),
            None if insertions.is_empty() => None,
            None => Some(splice(&self.request.body, &insertions)),
        }
    }

    /// Shortens the conversation to so many tokens, as the service counts them, from its next request on (AC-01). The service
    /// has just read `read` of them. What was summed up before is summed up anew with what came since.
    pub(super) fn shorten(&self, desk: &Desk, due: u64, read: u64) {
        let made = self.summed_up(desk, due, read);
        desk.conversations.update(self.id(), self.now, |known| match made {
            // The user has said so in the meantime.
            _ if known.is_left_whole => {}
            Some(shortened) => {
                (known.shortened, known.summary, known.failures) = (Some(shortened), None, 0);
            }
            None => known.failures += 1,
        });
    }

    fn summed_up(&self, desk: &Desk, due: u64, read: u64) -> Option<Shortened> {
        let (dialect, body) = (self.request.dialect, &self.request.body);
        let text = str::from_utf8(body).ok()?;
        let (env, place) = self.place(desk).ok().filter(|(_, place)| !place.off)?;
        let scanner = Context::unheard(env, place).ok()?.scanner().ok()?;
        // The service counts in its own way: what it read is set beside what we would have counted.
        let estimated = compact::tokens(text) as u64;
        let budget = due.saturating_mul(estimated) / read.max(estimated).max(1);
        let summary = desk.conversations.known(self.id()).summary;
        shorten(dialect, body, usize::try_from(budget).ok()?, summary.as_ref(), &scanner).ok().flatten()
    }
}

/// Finds the conversation that the service holds, if the request goes on with one of its answers. Equal words are then told
/// apart by the answer that they follow, for nothing else is before them.
fn follow(desk: &Desk, reading: &mut Reading) {
    let Some(answer) = &reading.follows else { return };
    let mark = ContentHash::of(answer.as_bytes()).short();
    reading.turns.iter_mut().for_each(|turn| turn.key = format!("{}.{mark}", turn.key));
    if !reading.conversation.is_named
        && let Some(conversation) = desk.conversation_of(answer)
    {
        reading.conversation.id = conversation;
    }
}

/// Says whether anything is kept of the conversation of a request.
fn is_known(reading: &Reading, serves_tool: bool) -> bool {
    has_ours(reading) || (serves_tool && reading.memory_tool.is_some())
}

/// Says whether a request is of a kind that may have something of ours in it. A summary is made of the same beginning,
/// and of the same cache.
fn has_ours(reading: &Reading) -> bool {
    matches!(reading.kind, Kind::Main | Kind::Compaction) && !reading.turns.is_empty()
}

/// Finds the directory that a conversation is about, if it is one of this machine.
fn project(labels: &Labels, reading: &Reading) -> Option<PathBuf> {
    let named = [labels.project.as_deref(), reading.cwd.as_deref()];
    named.into_iter().flatten().map(PathBuf::from).find(|dir| dir.is_absolute() && dir.is_dir())
}
