//! Ledgers of one person's machines. A team of several people has none: what somebody used is nobody else's.

use memdir_core::team::wire::{Appended, Code, LedgerName, TeamKind};

use super::{App, Call, MAX_LINES, apart, check};
use crate::answer::{Answer, Handled, Problem};
use crate::storage::Storage;

impl Call {
    fn is_own(&self) -> Result<(), Problem> {
        if self.bearer()?.team.kind == TeamKind::Own {
            return Ok(());
        }
        Err(Problem::new(Code::Forbidden, "ledgers belong to one person's machines, and this is a team"))
    }

    fn file(&self) -> Result<LedgerName, Problem> {
        LedgerName::new(self.params.get("file")).map_err(|err| Problem::bad(err.to_string()))
    }
}

impl<S: Storage> App<S> {
    pub(super) async fn ledgers(&self, call: &Call) -> Handled {
        call.is_own()?;
        Answer::json(200, &self.storage.ledgers(call.bearer()?.team.id, &call.project()?).await?)
    }

    pub(super) async fn read_ledger(&self, call: &Call) -> Handled {
        call.is_own()?;
        let (team, project, file) = (call.bearer()?.team.id, call.project()?, call.file()?);
        let offset = call.number("offset", 0)?;
        let bytes = self.storage.read_ledger(team, &project, &file, offset, MAX_LINES).await?;
        Ok(Answer::new(200, "application/x-ndjson", bytes.ok_or_else(Problem::not_found)?))
    }

    pub(super) async fn append_ledger(&self, call: &Call) -> Handled {
        call.is_own()?;
        let (team, project, file) = (call.bearer()?.team.id, call.project()?, call.file()?);
        let offset = call.number("offset", 0)?;
        let (scanner, bytes) = (self.scanner.clone(), call.body.clone());
        apart(move || check::holds_no_secret(&scanner, &bytes, None)).await??;
        let (by, quotas, now) = (call.actor()?, &self.config.quotas, self.now());
        let size =
            self.storage.append_ledger(team, &project, &file, offset, &call.body, &by, quotas, now).await?;
        Answer::json(200, &Appended { size })
    }
}
