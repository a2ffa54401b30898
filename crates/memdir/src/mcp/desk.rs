//! What one call works with: who calls, and the place as it is at that moment.

use jiff::Timestamp;
use memdir_core::change::Surface;
use memdir_core::secrets::Scanner;
use memdir_mind::model::Opened;
use memdir_store::evidence::{self, Sign, Witness};
use memdir_store::ledger::{Event, EventKind};
use memdir_store::place;
use memdir_store::place::settings::ServiceKind;
use memdir_store::vault::Vault;
use serde::{Deserialize, Serialize};

use super::Options;
use super::sampling::Lent;
use crate::context::{self, Context};
use crate::failure::Failure;
use crate::ui::Ui;

/// Who calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Caller {
    /// The session that the call belongs to.
    pub(super) session: String,
    /// What the host calls itself.
    pub(super) client: String,
    /// Whether it may change anything.
    pub(super) may_write: bool,
    /// The way to its model, if it lends it.
    #[serde(skip)]
    pub(super) lent: Option<Lent>,
}

/// What one call works with.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) context: Context,
    pub(super) caller: Caller,
    pub(super) ui: Ui,
}

impl Desk {
    /// Opens the place; `None` if memory is off there, or to be ignored: the answer is then that of an empty vault.
    pub(super) fn open(options: &Options, caller: Caller) -> Result<Option<Self>, Failure> {
        // Asked before anything is opened.
        if is_off() {
            return Ok(None);
        }
        let ui = Ui::collecting();
        let env = context::environment(options.vault.clone(), options.project.clone());
        let place = place::locate(&env)?;
        if place.off {
            return Ok(None);
        }
        let context = Context::new(env, place, &ui)?;
        Ok((!context.leaves_memory_aside()).then_some(Self { context, caller, ui }))
    }

    /// Returns the model of the host, if the user wants it asked and the host lends it.
    pub(super) fn lent_model(&self) -> Option<Opened> {
        let is_wanted = self.context.place.settings.model.service == ServiceKind::Sampling;
        self.caller.lent.as_ref().filter(|_| is_wanted).map(Lent::model)
    }

    /// Returns what is a secret here; by our own rules alone where the user's cannot be read.
    pub(super) fn scanner(&self) -> Scanner {
        self.context.scanner().unwrap_or_else(|_| Scanner::builtin())
    }

    /// Returns the time of the call.
    pub(super) fn now(&self) -> Timestamp {
        self.context.now
    }

    /// Refuses who may only read.
    pub(super) fn must_write(&self) -> Result<(), Failure> {
        if self.caller.may_write {
            return Ok(());
        }
        Err(Failure::refusal("this token may only read"))
    }

    /// Notes what the call says about memories that the session knows.
    pub(super) fn note(&self, vaults: &[Vault], signs: &[Sign<'_>]) {
        evidence::note(
            vaults,
            signs,
            &Witness { session: &self.caller.session, now: self.now(), by: Surface::Mcp },
        );
    }

    /// Notes that the session was shown these memories of a vault, in this order.
    pub(super) fn note_shown<'n>(&self, vault: &Vault, names: impl Iterator<Item = (u32, &'n str)>) {
        let event = |(rank, name): (u32, &str)| Event {
            sid: Some(self.caller.session.clone()),
            by: Some(Surface::Mcp),
            rank: Some(rank),
            ..Event::new(self.now(), EventKind::Surfaced, name)
        };
        let events: Vec<Event> = names.map(event).collect();
        if !events.is_empty()
            && let Ok(ledger) = vault.ensure_ledger()
        {
            // Not being able to write costs a lesson, not an answer.
            let _ = ledger.append(&events);
        }
    }

    /// Returns the secret that marks frames.
    pub(super) fn key(&self, vaults: &[Vault]) -> Vec<u8> {
        self.context.key_beside(vaults)
    }
}

/// Says whether the environment says that there is no memory.
pub(super) fn is_off() -> bool {
    context::is_off() || context::is_ignored()
}
