//! Answers one occasion of a session: what the model is told, what becomes of a tool call, and what is noted after it.

use std::path::PathBuf;
use std::time::Instant;

use memdir_core::change::Surface;
use memdir_core::classify;
use memdir_core::frame;
use memdir_core::host::{self, MAX_CONTEXT, Moment, Occasion, Reply, Source, hearsay};
use memdir_core::recall;
use memdir_core::text::{count, visible_line};
use memdir_store::dream;
use memdir_store::evidence::{self, Sign, Witness};
use memdir_store::ledger::{Event, EventKind};
use memdir_store::news;
use memdir_store::place::settings::Subagents;
use memdir_store::place::{self, Environment, Place};
use memdir_store::remind::{Asker, Reminded, look};
use memdir_store::session::{Session, State};
use memdir_store::team::{Store, ships_team};
use memdir_store::vault::Vault;

use super::{log, opening};
use crate::context::{self, Context};
use crate::failure::Failure;

/// As much of a prompt is kept where nothing can be said at it, in bytes.
const MAX_OWED: usize = 4_000;

/// Where an occasion is dealt with.
pub(crate) struct Desk<'o> {
    pub(super) occasion: &'o Occasion,
    pub(super) context: Context,
    pub(super) vaults: Vec<Vault>,
    pub(super) session: Option<Session>,
    /// The session as the ledger knows it: a sub-agent has a context of its own.
    pub(super) reader: Option<String>,
    pub(super) ignores_memory: bool,
    until: Instant,
}

/// What is said, and what is noted once it was.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    /// What came to mind, to be noted as shown.
    pub(super) reminded: Option<Reminded>,
    /// Memories whose rules the use of a tool breaks.
    pub(super) broken: Vec<String>,
    /// The block that the session begins with, to be kept.
    pub(super) block: Option<String>,
}

impl Answer {
    /// Returns an answer that tells something.
    pub(super) fn telling(context: String) -> Self {
        Self { reply: Reply::telling(context), ..Self::default() }
    }
}

impl<'o> Desk<'o> {
    /// Opens what the occasion is about; `None` where memory is switched off.
    pub(crate) fn open(
        occasion: &'o Occasion,
        vault: Option<PathBuf>,
        project: Option<PathBuf>,
        until: Instant,
    ) -> Result<Option<Self>, Failure> {
        // Where the agent says it is counts more than where it started us, and a flag more than both.
        let said = occasion.cwd.as_ref().map(PathBuf::from).filter(|dir| dir.is_absolute());
        let env = context::environment(vault, project.or(said));
        let place = place::locate(&env)?;
        Self::at(occasion, env, place, until)
    }

    /// Does the same where it is known what it is about.
    pub(crate) fn at(
        occasion: &'o Occasion,
        env: Environment,
        place: Place,
        until: Instant,
    ) -> Result<Option<Self>, Failure> {
        if place.off {
            return Ok(None);
        }
        let context = Context::unheard(env, place)?;
        let session = Session::of(&context.place.home, &occasion.session);
        let is_told = session.as_ref().is_some_and(|session| session.state().ignores_memory);
        let ignores_memory = is_told || context.leaves_memory_aside();
        let reader = (!occasion.session.is_empty()).then(|| match &occasion.subagent {
            Some(agent) => format!("{}/{}", occasion.session, agent.id),
            None => occasion.session.clone(),
        });
        // Whoever leaves memory aside is answered as if there were none.
        let vaults = if ignores_memory { Vec::new() } else { context.vaults()? };
        Ok(Some(Self { occasion, context, vaults, session, reader, ignores_memory, until }))
    }

    /// Returns where it works.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Says what the host is told. `input` is what the host said, as bytes.
    pub(crate) fn answer(&self, input: &[u8]) -> Result<Answer, Failure> {
        if !self.is_first(input) {
            return self.again();
        }
        self.tell()
    }

    /// Says the same where it is known that this occasion is met for the first time.
    pub(crate) fn tell(&self) -> Result<Answer, Failure> {
        match &self.occasion.moment {
            Moment::Start(source) => Ok(self.start(*source)),
            Moment::Prompt(prompt) => self.prompt(prompt),
            Moment::BeforeTool(tool) => self.before_tool(tool),
            Moment::AfterTool { tool, result, failed } => self.after_tool(tool, result, *failed),
            Moment::SubagentStart => Ok(self.subagent_start()),
            Moment::BeforeCompaction { .. } => Ok(self.before_compaction()),
            Moment::AfterCompaction { .. }
            | Moment::Stop { .. }
            | Moment::SubagentStop { .. }
            | Moment::End { .. }
            | Moment::Other => Ok(Answer::default()),
        }
    }

    /// Notes what follows from the answer, once it was given.
    pub(crate) fn record(&self, answer: &Answer) {
        if let Some(reminded) = &answer.reminded {
            reminded.record(&self.vaults, &self.asker());
            if reminded.is_spent() {
                let (agent, event) = (self.occasion.agent.as_str(), &self.occasion.event);
                log::tell(agent, event, "nothing more is shown: the session's budget is spent");
            }
        }
        if let (Some(session), Some(block)) = (&self.session, &answer.block) {
            // Not being able to costs a second look at the vault.
            let _ = session.keep_block(block);
            session.update(self.context.now, |state| state.begun = true);
            self.vaults.iter().for_each(dream::told);
        }
        self.note_broken(&answer.broken);
        match &self.occasion.moment {
            Moment::Start(Source::Compacted | Source::Cleared) => self.start_over(),
            Moment::AfterTool { tool, result, .. } => {
                self.note_tool(tool, result);
                self.note_magic(tool);
                self.note_progress();
            }
            Moment::Stop { answer, .. } | Moment::SubagentStop { answer, .. } => {
                self.learn(&[Sign::Said(answer)]);
                self.look_after_magic();
            }
            _ => {}
        }
        self.hand_over();
    }

    /// Says whether this occasion is met for the first time: some agents read each other's settings and call twice.
    fn is_first(&self, input: &[u8]) -> bool {
        let (Some(session), Some(key)) = (&self.session, self.key(input)) else { return true };
        session.update(self.context.now, |state| state.handles(&key))
    }

    /// What tells this occasion from the others of its session; `None` if nothing does.
    fn key(&self, input: &[u8]) -> Option<String> {
        let Occasion { event, id, subagent, moment, .. } = self.occasion;
        let agent = subagent.as_ref().map_or("", |agent| agent.id.as_str());
        match (id, moment) {
            (Some(id), _) => Some(format!("{event} {id} {agent}")),
            (None, Moment::Start(Source::New)) => Some(event.clone()),
            // Two equal prompts are two prompts, unless the very moment is the same.
            (None, _) => {
                let text = str::from_utf8(input).ok().filter(|text| text.contains("\"timestamp\""))?;
                Some(format!("{event} {text}"))
            }
        }
    }

    /// Answers an occasion that was answered already: a rule holds as often as it is asked for, nothing else is repeated.
    fn again(&self) -> Result<Answer, Failure> {
        let Moment::BeforeTool(tool) = &self.occasion.moment else { return Ok(Answer::default()) };
        let judged = self.judge(tool)?;
        Ok(Answer { reply: Reply { context: String::new(), ruling: judged.ruling }, ..Answer::default() })
    }

    fn start(&self, source: Source) -> Answer {
        let state = self.state();
        match source {
            // All that was said is still there.
            Source::Resumed if state.begun => Answer::default(),
            Source::New if state.begun => Answer::telling(self.kept_block().unwrap_or_default()),
            Source::Compacted => {
                let restored = self.restoration();
                let block = self.block(MAX_CONTEXT.saturating_sub(restored.len()));
                Answer { block: Some(block.clone()), ..Answer::telling(format!("{block}{restored}")) }
            }
            Source::New | Source::Resumed | Source::Cleared => {
                // Behind the block and not in it: what is told once must not come again with it.
                let news = format!("{}{}", self.notices(), self.team_news());
                let block = self.block(MAX_CONTEXT.saturating_sub(news.len()));
                Answer { block: Some(block.clone()), ..Answer::telling(format!("{block}{news}")) }
            }
        }
    }

    fn block(&self, limit: usize) -> String {
        let start = opening::gather(&self.context, Some(self.occasion.agent), self.ignores_memory);
        opening::block(&start, &self.context, limit)
    }

    fn kept_block(&self) -> Option<String> {
        self.session.as_ref().and_then(Session::block)
    }

    fn prompt(&self, prompt: &str) -> Result<Answer, Failure> {
        let said = host::said_by_user(prompt);
        if said.is_empty() {
            return Ok(Answer::default());
        }
        if let Some(session) = self.session.as_ref().filter(|_| !self.ignores_memory) {
            session.update(self.context.now, |state| state.said(hearsay::words(&said)));
        }
        let asked = host::asks_to_ignore(&said);
        if let (Some(session), Some(ignores)) = (&self.session, asked) {
            session.update(self.context.now, |state| state.ignores_memory = ignores);
        }
        if self.is_left_alone() {
            return Ok(Answer::default());
        }
        if let Some(session) = self.session.as_ref().filter(|_| classify::asks_to_remember(&said)) {
            session.update(self.context.now, |state| state.asked = state.asked.or(Some(self.context.now)));
        }
        if !host::is_heard(self.occasion.agent, &self.occasion.moment) {
            self.owe(&said);
            return Ok(Answer::default());
        }
        let vaults = if asked == Some(true) { &[] } else { &self.vaults[..] };
        let moment = recall::Moment { prompt: said, tools: self.state().tools, ..self.moment() };
        let reminded = self.remind(&moment, vaults)?;
        let is_nothing = !reminded.has_known && !reminded.is_late;
        let mut answer = self.with(reminded);
        answer.reply.context = format!("{}{}{}", self.notices(), self.news(), answer.reply.context);
        // Who asks is told that there is nothing, if that is so; who does not ask is told nothing.
        if answer.reply.context.is_empty() && is_nothing && recall::asks_for_memory(&moment.prompt) {
            answer.reply.context = "memdir: no memory found\n".to_owned();
        }
        Ok(answer)
    }

    /// Keeps a prompt for the next moment at which the host takes a text, if it ever does.
    fn owe(&self, said: &str) {
        if let Some(session) = self.session.as_ref().filter(|_| host::is_heard_later(self.occasion.agent)) {
            let said = said[..said.floor_char_boundary(MAX_OWED)].to_owned();
            session.update(self.context.now, |state| state.owed = said);
        }
    }

    /// Says what the last prompt calls to mind, if that was not said at the prompt.
    pub(super) fn pay(&self) -> Result<Option<Answer>, Failure> {
        let Some(session) = self.session.as_ref().filter(|session| !session.state().owed.is_empty()) else {
            return Ok(None);
        };
        let prompt = session.update(self.context.now, |state| std::mem::take(&mut state.owed));
        let moment = recall::Moment { prompt, tools: self.state().tools, ..self.moment() };
        Ok(Some(self.with(self.remind(&moment, &self.vaults)?)))
    }

    /// Tells once what background work has to tell the user: a cap that was reached, a service that is left alone.
    fn notices(&self) -> String {
        let is_heard = host::is_heard(self.occasion.agent, &self.occasion.moment);
        if self.occasion.subagent.is_some() || self.ignores_memory || !is_heard {
            return String::new();
        }
        let told = news::take(&self.context.place.home);
        told.iter().map(|line| format!("memdir, for the user to know: {}\n", frame::defused(line))).collect()
    }

    /// Tells how many memories of others wait for the user's word, and nothing of what they say: not even a name.
    fn team_news(&self) -> String {
        let place = &self.context.place;
        if self.occasion.subagent.is_some() || self.ignores_memory {
            return String::new();
        }
        let store = Store::below(&place.state_dir());
        match store.joined().ok().flatten() {
            Some(_) => match store.waiting().n_held() {
                0 => String::new(),
                n => format!(
                    "memdir, for the user to know: {} of teammates; `memdir trust` shows whose\n",
                    count(n, "memory waits for your trust, written by one", "memories wait for your trust, written by some")
                ),
            },
            None if ships_team(place) => {
                "memdir, for the user to know: this repository ships memories in .memdir/team; none is used before `memdir trust`\n".to_owned()
            }
            None => String::new(),
        }
    }

    /// Tells once which memories were written from what was said (W1-13).
    fn news(&self) -> String {
        let session =
            self.session.as_ref().filter(|_| self.occasion.subagent.is_none() && !self.ignores_memory);
        let Some(session) = session.filter(|session| !session.state().written.is_empty()) else {
            return String::new();
        };
        let written = session.update(self.context.now, |state| std::mem::take(&mut state.written));
        let names: Vec<String> = written.iter().map(|name| frame::defused(&visible_line(name))).collect();
        format!("memdir saved from what was said: {} (`memdir log` tells more)\n", names.join(", "))
    }

    fn subagent_start(&self) -> Answer {
        let blank = self.ignores_memory;
        match self.context.place.settings.subagents {
            Subagents::None => Answer::default(),
            Subagents::Index if blank => Answer::default(),
            Subagents::Index => Answer::telling(opening::pages(&self.context)),
            Subagents::Full => Answer::telling(self.block(MAX_CONTEXT)),
        }
    }

    /// Looks what comes to mind at a moment.
    pub(super) fn remind(&self, moment: &recall::Moment, vaults: &[Vault]) -> Result<Reminded, Failure> {
        look(vaults, moment, &self.asker()).map_err(|err| Failure::from_chain(&err))
    }

    /// Puts what came to mind into an answer.
    pub(super) fn with(&self, reminded: Reminded) -> Answer {
        Answer { reply: Reply::telling(reminded.text.clone()), reminded: Some(reminded), ..Answer::default() }
    }

    /// Returns the moment as the surroundings make it, without what was said or done.
    pub(super) fn moment(&self) -> recall::Moment {
        let branch = self.context.place.repository.as_ref().and_then(place::git::Repository::branch);
        recall::Moment { branch: branch.unwrap_or_default(), ..recall::Moment::default() }
    }

    pub(super) fn asker(&self) -> Asker<'_> {
        Asker {
            place: &self.context.place,
            env: &self.context.env,
            now: self.context.now,
            zone: &self.context.zone,
            session: self.reader.as_deref(),
            by: Surface::Hook,
            until: Some(self.until),
        }
    }

    pub(super) fn witness(&self) -> Option<Witness<'_>> {
        let session = self.reader.as_deref()?;
        Some(Witness { session, now: self.context.now, by: Surface::Hook })
    }

    pub(super) fn state(&self) -> State {
        self.session.as_ref().map(Session::state).unwrap_or_default()
    }

    /// Says whether this is a sub-agent that is to be told nothing.
    pub(super) fn is_left_alone(&self) -> bool {
        self.occasion.subagent.is_some() && self.context.place.settings.subagents == Subagents::None
    }

    /// Notes what the session shows about memories it was shown.
    pub(super) fn learn(&self, signs: &[Sign<'_>]) {
        if let Some(witness) = self.witness().filter(|_| !self.ignores_memory) {
            evidence::note(&self.vaults, signs, &witness);
        }
    }

    /// Notes that nothing of what was said is before the model any more.
    fn start_over(&self) {
        if let Some(session) = &self.session {
            session.update(self.context.now, State::starts_over);
        }
        let Some(reader) = &self.reader else { return };
        for ledger in self.vaults.iter().filter_map(Vault::ledger) {
            let event = Event {
                sid: Some(reader.clone()),
                by: Some(Surface::Hook),
                ..Event::new(self.context.now, EventKind::Compacted, "")
            };
            // Not being able to costs a memory that is not shown a second time.
            let _ = ledger.append(&[event]);
        }
    }
}
