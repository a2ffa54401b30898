//! Writes on their way to a server: cut into batches, and what became of each.

use memdir_core::hash::ContentHash;
use memdir_core::team::wire::{self, Base, Code, Op, OpResult};
use memdir_store::team::{Current, Outcome, Version, Write};

/// As many bytes of texts go at once: a slow line has them through before anybody thinks it dead.
const MAX_SENT: usize = 1 << 20;
/// What a write has beside its text.
const BESIDE: usize = 400;

/// Turns a write into what a server understands; `Err` is what becomes of it without being asked.
pub(super) fn op(write: &Write) -> Result<Op, Outcome> {
    let path = write.path.as_str().to_owned();
    let base = match &write.base {
        None => Base::New,
        Some(Version(version)) => {
            Base::Version(version.parse().map_err(|_| Outcome::Stale { current: None })?)
        }
    };
    let Some(text) = &write.text else { return Ok(Op::Delete { path, base }) };
    let hash = ContentHash::of(text).to_string();
    match String::from_utf8(text.clone()) {
        Ok(text) => Ok(Op::Put { path, base, hash, text }),
        Err(_) => Err(refused(Code::BadRequest, "it is not UTF-8".to_owned())),
    }
}

/// Returns how many of these go at once: at least one.
pub(super) fn portion(ops: &[Op], most: usize) -> usize {
    let mut n_bytes = 0;
    let fits = |op: &&Op| {
        n_bytes += BESIDE + op.path().len() + if let Op::Put { text, .. } = op { text.len() } else { 0 };
        n_bytes <= MAX_SENT
    };
    ops.iter().take(most.min(wire::MAX_OPS)).take_while(fits).count().max(1)
}

/// Says what became of an operation; `None` if the answer cannot be about it.
pub(super) fn outcome(op: &Op, result: &OpResult) -> Option<Outcome> {
    if result.path != op.path() {
        return None;
    }
    if result.is_done() {
        let is_other =
            |hash: &ContentHash| matches!(op, Op::Put { hash: ours, .. } if *ours != hash.to_string());
        if result.hash.as_ref().is_some_and(is_other) {
            return None;
        }
        let version = Version(result.seq?.to_string());
        return Some(Outcome::Done { version, stamp: None });
    }
    let is_put = matches!(op, Op::Put { .. });
    Some(match result.status {
        412 => Outcome::Stale { current: result.current.as_ref().map(current) },
        // What is to go is not there.
        404 | 410 if !is_put => Outcome::Done { version: Version("0".to_owned()), stamp: None },
        408 | 429 | 500.. if result.status != 507 => Outcome::Unknown,
        status => refused(result.code.unwrap_or(Code::Unknown), said(result, status)),
    })
}

fn current(current: &wire::Current) -> Current {
    Current { version: Version(current.seq.to_string()), hash: (!current.deleted).then_some(current.hash) }
}

/// Makes what a server says fit for a line.
fn said(result: &OpResult, status: u16) -> String {
    let plain = |text: &str| -> String { text.chars().filter(|c| !c.is_control()).take(200).collect() };
    let message = result.message.as_deref().map_or_else(|| format!("status {status}"), plain);
    match result.kinds.as_slice() {
        [] => message,
        kinds => format!("{message}: {}", plain(&kinds.join(", "))),
    }
}

pub(super) fn refused(code: Code, message: String) -> Outcome {
    let word = serde_json::to_value(code).ok().and_then(|word| word.as_str().map(str::to_owned));
    Outcome::Refused { code: word.unwrap_or_else(|| "refused".to_owned()), message }
}

#[cfg(test)]
mod tests {
    use memdir_core::memory::MemoryPath;

    use super::*;

    fn write(base: Option<&str>, text: Option<&[u8]>) -> Write {
        let path = MemoryPath::new("a.md").unwrap();
        Write { path, base: base.map(|base| Version(base.to_owned())), text: text.map(<[u8]>::to_vec) }
    }

    fn result(status: u16, more: &str) -> OpResult {
        serde_json::from_str(&format!("{{\"path\": \"a.md\", \"status\": {status}{more}}}")).unwrap()
    }

    #[test]
    fn a_write_says_what_it_replaces() {
        let json = |write: &Write| serde_json::to_value(op(write).unwrap()).unwrap();
        assert_eq!(json(&write(None, Some(b"x")))["base"], serde_json::Value::Null);
        assert_eq!(json(&write(Some("41"), Some(b"x")))["base"], 41);
        assert_eq!(json(&write(Some("41"), None))["op"], "delete");
        assert!(matches!(op(&write(None, Some(&[0xff]))), Err(Outcome::Refused { .. })));
        assert_eq!(op(&write(Some("a folder's"), None)).err(), Some(Outcome::Stale { current: None }));
    }

    #[test]
    fn batches_are_cut_by_number_and_by_size() {
        let small: Vec<Op> = (0..1_200).map(|_| op(&write(None, Some(b"x"))).unwrap()).collect();
        assert_eq!(portion(&small, usize::MAX), wire::MAX_OPS);
        assert_eq!(portion(&small, 7), 7);
        assert_eq!(portion(&small[..3], usize::MAX), 3);
        let large: Vec<Op> = (0..30).map(|_| op(&write(None, Some(&[b'x'; 100_000]))).unwrap()).collect();
        assert_eq!(portion(&large, usize::MAX), 10);
    }

    #[test]
    fn what_became_of_a_write_is_what_the_server_says_about_it() {
        let put = op(&write(None, Some(b"x"))).unwrap();
        let done = |op: &Op, status, more: &str| outcome(op, &result(status, more));
        let version = |seq: &str| Version(seq.to_owned());
        assert_eq!(
            done(&put, 201, ", \"seq\": 5"),
            Some(Outcome::Done { version: version("5"), stamp: None })
        );
        assert_eq!(done(&put, 201, ""), None, "done, and as nothing");
        let other = ContentHash::of(b"y");
        assert_eq!(done(&put, 200, &format!(", \"seq\": 5, \"hash\": \"{other}\"")), None);
        let stale = format!(", \"current\": {{\"seq\": 9, \"hash\": \"{other}\", \"deleted\": true}}");
        let current = Some(Current { version: version("9"), hash: None });
        assert_eq!(done(&put, 412, &stale), Some(Outcome::Stale { current }));
        assert_eq!(done(&put, 503, ", \"code\": \"busy\""), Some(Outcome::Unknown));
        let secret = done(&put, 422, ", \"code\": \"secret\", \"message\": \"no\", \"kinds\": [\"aws\"]");
        assert_eq!(secret, Some(Outcome::Refused { code: "secret".into(), message: "no: aws".into() }));
        let quota = done(&put, 507, ", \"code\": \"quota\"");
        assert!(matches!(quota, Some(Outcome::Refused { code, .. }) if code == "quota"));
        let delete = op(&write(Some("3"), None)).unwrap();
        assert!(matches!(done(&delete, 404, ""), Some(Outcome::Done { .. })), "gone is gone");
        assert!(matches!(done(&put, 404, ""), Some(Outcome::Refused { .. })));
        let mut elsewhere = result(201, ", \"seq\": 5");
        elsewhere.path = "b.md".to_owned();
        assert_eq!(outcome(&put, &elsewhere), None);
    }
}
