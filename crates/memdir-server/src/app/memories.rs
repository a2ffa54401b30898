//! Reading and writing memories: one at a time, or many in a batch.

use hyper::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{
    Base, Batch, BatchReply, Code, ETag, MAX_OPS, Op, OpResult, ProjectName, TeamKind, Trouble,
};

use super::{App, Call, apart, check};
use crate::answer::{Answer, Handled, Problem, current};
use crate::door::only;
use crate::rules::{Expect, Kind, Refused};
use crate::storage::{Key, Storage, Stored, TeamId, Write, WriteChange, WriteError, Written};

const MARKDOWN: &str = "text/markdown; charset=utf-8";
const AUTHOR: HeaderName = HeaderName::from_static("memdir-author");

impl<S: Storage> App<S> {
    pub(super) async fn get_memory(&self, call: &Call) -> Handled {
        let stored = self.storage.memory(&call.key()?).await?.ok_or_else(Problem::not_found)?;
        let tag = ETag::new(stored.state.seq, &stored.state.hash).to_string();
        let known = only(&call.headers, &IF_NONE_MATCH)?.unwrap_or_default();
        match &stored.text {
            // Gone, but whoever writes it again must name this version.
            None => {
                let mut problem = Problem::not_found();
                problem.trouble.current = Some(current(&stored.state));
                Err(problem)
            }
            Some(_) if known.split(',').any(|known| known.trim() == tag) => {
                Ok(Answer::empty(304).tagged(&stored.state))
            }
            Some(text) => Ok(markdown(&stored, text)),
        }
    }

    pub(super) async fn versions(&self, call: &Call) -> Handled {
        let versions = self.storage.versions(&call.key()?).await?;
        if versions.is_empty() { Err(Problem::not_found()) } else { Answer::json(200, &versions) }
    }

    pub(super) async fn version(&self, call: &Call) -> Handled {
        let seq = call.params.get("seq").parse().map_err(|_| Problem::bad("a version is a number"))?;
        let stored = self.storage.version(&call.key()?, seq).await?.ok_or_else(Problem::not_found)?;
        match &stored.text {
            Some(text) => Ok(markdown(&stored, text)),
            None => Err(Problem::new(Code::Gone, "the text of this version is gone")),
        }
    }

    pub(super) async fn put_memory(&self, call: &Call) -> Handled {
        let key = call.key()?;
        let expect = expectation(call)?;
        let text = String::from_utf8(call.body.to_vec()).map_err(|_| Problem::bad("a memory is UTF-8"))?;
        let (scanner, kind, path) = (self.scanner.clone(), call.bearer()?.team.kind, key.path.clone());
        let content = apart(move || check::content(&scanner, kind, &path, text)).await??;
        let write = Write { expect, change: WriteChange::Put(content) };
        let written = self.write(call, key, write).await?;
        let status = if written.kind == Some(Kind::Create) { 201 } else { 200 };
        Ok(Answer::json(status, &current(&written.state))?.tagged(&written.state))
    }

    pub(super) async fn delete_memory(&self, call: &Call) -> Handled {
        let change = if call.query.flag("erase") { WriteChange::Erase } else { WriteChange::Delete };
        let write = Write { expect: expectation(call)?, change };
        let written = self.write(call, call.key()?, write).await?;
        Ok(Answer::json(200, &current(&written.state))?.tagged(&written.state))
    }

    async fn write(&self, call: &Call, key: Key, write: Write) -> Result<Written, Problem> {
        let team = key.team;
        let writes = vec![(key, write)];
        let answers = self.storage.write_all(writes, &call.actor()?, &self.config.quotas, self.now()).await;
        self.tell(team, &answers);
        let none = || Err(Problem::new(Code::Internal, "nothing was answered"));
        answers.into_iter().next().map_or_else(none, |answer| answer.map_err(Problem::from))
    }

    /// Counts what was written, and wakes those who wait for it.
    fn tell(&self, team: TeamId, answers: &[Result<Written, WriteError>]) {
        for answer in answers {
            match answer {
                Ok(Written { kind: Some(kind), state }) => {
                    self.metrics.write(*kind);
                    self.waiting.announce(team, state.seq);
                }
                Err(WriteError::Refused(Refused::Stale(_))) => self.metrics.conflict(),
                _ => {}
            }
        }
    }

    pub(super) async fn batch(&self, call: &Call) -> Handled {
        let batch: Batch = call.json()?;
        if batch.ops.len() > MAX_OPS {
            return Err(Problem::new(Code::TooLarge, format!("a batch has at most {MAX_OPS} operations")));
        }
        let bearer = call.bearer()?;
        let (team, before) = (bearer.team.id, bearer.team.seq);
        let paths: Vec<String> = batch.ops.iter().map(|op| op.path().to_owned()).collect();
        let checked = self.check_all(batch.ops, bearer.team.kind, team, call.project()?).await?;
        // Texts are moved, not copied: a batch may be large.
        let mut writes = Vec::new();
        let checked: Vec<Result<(), Problem>> =
            checked.into_iter().map(|write| write.map(|write| writes.push(write))).collect();
        let answers = self.storage.write_all(writes, &call.actor()?, &self.config.quotas, self.now()).await;
        self.tell(team, &answers);
        let cursor = cursor_after(before, &answers);
        let mut answers = answers.into_iter();
        let done = checked.into_iter().map(|write| match write {
            Ok(()) => answers
                .next()
                .map_or_else(|| Err(Problem::not_found()), |answer| answer.map_err(Problem::from)),
            Err(problem) => Err(problem),
        });
        let results = paths.into_iter().zip(done).map(|(path, done)| result(path, done)).collect();
        Answer::json(200, &BatchReply { before, results, cursor })
    }

    /// Checks every operation; one that is refused does not spoil the others.
    async fn check_all(
        &self,
        ops: Vec<Op>,
        kind: TeamKind,
        team: TeamId,
        project: ProjectName,
    ) -> Result<Vec<Result<(Key, Write), Problem>>, Problem> {
        let scanner = self.scanner.clone();
        let check_one = move |op: Op| {
            let path = MemoryPath::new(op.path()).map_err(|err| Problem::bad(err.to_string()))?;
            let (expect, change) = match op {
                Op::Delete { base, .. } => (replaced(base)?, WriteChange::Delete),
                Op::Erase { base, .. } => (replaced(base)?, WriteChange::Erase),
                Op::Put { base, hash, text, .. } => {
                    let expect = replaced(base)?;
                    if hash.parse().ok() != Some(ContentHash::of(text.as_bytes())) {
                        return Err(Problem::bad("the hash is not that of the text"));
                    }
                    (expect, WriteChange::Put(check::content(&scanner, kind, &path, text)?))
                }
            };
            Ok((Key { team, project: project.clone(), path }, Write { expect, change }))
        };
        apart(move || ops.into_iter().map(check_one).collect()).await
    }
}

fn markdown(stored: &Stored, text: &str) -> Answer {
    let answer = Answer::new(200, MARKDOWN, text.to_owned()).tagged(&stored.state);
    answer.with(AUTHOR, stored.state.author.as_str())
}

/// Returns the version up to which a client that stood at `before` knows everything: the last of this batch if nobody else wrote
/// since `before`, else `before`, so that it asks.
fn cursor_after(before: u64, answers: &[Result<Written, WriteError>]) -> u64 {
    let made = answers.iter().flatten().filter(|written| written.kind.is_some());
    made.map(|written| written.state.seq)
        .try_fold(before, |last, seq| (seq == last + 1).then_some(seq))
        .unwrap_or(before)
}

/// Returns what a write says it replaces.
fn replaced(base: Base) -> Result<Expect, Problem> {
    match base {
        Base::Missing => Err(precondition_required()),
        Base::New => Ok(Expect::Nothing),
        Base::Version(seq) => Ok(Expect::Version(seq)),
    }
}

fn precondition_required() -> Problem {
    Problem::new(Code::PreconditionRequired, "a write says which version it replaces")
}

/// Returns what a request for one memory says it replaces.
fn expectation(call: &Call) -> Result<Expect, Problem> {
    match (only(&call.headers, &IF_MATCH)?, only(&call.headers, &IF_NONE_MATCH)?) {
        (None, None) => Err(precondition_required()),
        (Some(tag), None) => {
            tag.parse().map(Expect::Tag).map_err(|_| Problem::bad("If-Match is one tag of this server"))
        }
        (None, Some(any)) if any.trim() == "*" => Ok(Expect::Nothing),
        (None, Some(_)) => Err(Problem::bad("a write takes If-None-Match: * only")),
        (Some(_), Some(_)) => Err(Problem::bad("If-Match and If-None-Match exclude each other")),
    }
}

fn result(path: String, done: Result<Written, Problem>) -> OpResult {
    let empty = OpResult {
        path,
        status: 200,
        seq: None,
        hash: None,
        code: None,
        message: None,
        kinds: Vec::new(),
        current: None,
    };
    match done {
        Ok(written) => OpResult {
            status: if written.kind == Some(Kind::Create) { 201 } else { 200 },
            seq: Some(written.state.seq),
            hash: Some(written.state.hash),
            ..empty
        },
        Err(problem) => {
            let Trouble { code, message, kinds, current, .. } = *problem.trouble;
            OpResult {
                status: code.status(),
                code: Some(code),
                message: Some(message),
                kinds,
                current,
                ..empty
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use memdir_core::team::wire::MemberName;

    use super::*;
    use crate::rules::State;

    fn written(seq: u64, kind: Option<Kind>) -> Result<Written, WriteError> {
        let state = State {
            seq,
            hash: ContentHash::of(b""),
            size: 0,
            author: MemberName::new("ann").unwrap(),
            at: Timestamp::UNIX_EPOCH,
            deleted: false,
            erased: false,
        };
        Ok(Written { kind, state })
    }

    #[test]
    fn a_batch_moves_the_cursor_only_if_nobody_wrote_in_between() {
        let new = Some(Kind::Create);
        let refused = || Err(WriteError::Refused(Refused::NotFound));
        assert_eq!(cursor_after(4, &[]), 4);
        assert_eq!(cursor_after(4, &[written(5, new), refused(), written(6, new)]), 6);
        assert_eq!(
            cursor_after(4, &[written(2, None), written(5, new)]),
            5,
            "what was there already made none"
        );
        assert_eq!(cursor_after(4, &[written(6, new)]), 4, "5 was somebody else's");
        assert_eq!(cursor_after(4, &[written(5, new), written(7, new)]), 4);
    }
}
