//! Looks for a pattern in the sessions, the newest first, and returns what stands around the hits.
//!
//! A session is read to its end, because its newest hits are wanted; sessions are read until there are enough. So the
//! cost is bounded by the files and the answer by the limits.

use std::io::{self, Read};
use std::path::PathBuf;

use memdir_core::secrets::Scanner;
use memdir_core::transcript::{Host, Limits, Pattern, Role, Window, Windows};

use super::{LeftOut, Session, Transcripts, Turns, find};

/// How much of a file is looked at in one go.
const BLOCK: usize = 256 * 1024;

/// What is looked for, and how much of it is wanted.
#[derive(Debug, Clone)]
pub struct Query {
    /// What to look for.
    pub pattern: Pattern,
    /// Only what these said.
    pub role: Option<Role>,
    /// Only sessions whose id begins so.
    pub session: Option<String>,
    /// How much may be returned.
    pub limits: Limits,
}

/// A window with where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The session.
    pub session: String,
    /// The agent.
    pub host: Host,
    /// The file it was found in.
    pub path: PathBuf,
    /// Whether that is our copy.
    pub is_kept: bool,
    /// The hit and what stands around it.
    pub window: Window,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The windows, the newest first.
    pub hits: Vec<Hit>,
    /// Whether there was more, or there are sessions that were not looked at any more.
    pub is_truncated: bool,
    /// How many sessions were read.
    pub sessions: usize,
    /// Lines that could not be read.
    pub left_out: LeftOut,
}

impl Transcripts {
    /// Looks for a pattern.
    pub fn grep(&self, query: &Query, scanner: &Scanner) -> Found {
        let mut found = Found::default();
        let is_wanted =
            |session: &Session| query.session.as_ref().is_none_or(|id| session.id.starts_with(id.as_str()));
        for session in self.sessions().into_iter().filter(is_wanted) {
            if found.hits.len() >= query.limits.windows {
                found.is_truncated = true;
                break;
            }
            search(&session, query, scanner, &mut found);
        }
        found.hits.sort_by_key(|hit| std::cmp::Reverse(hit.window.at()));
        found.is_truncated |= found.hits.len() > query.limits.windows;
        found.hits.truncate(query.limits.windows);
        found.is_truncated |= fit(&mut found.hits, query.limits.bytes);
        found
    }
}

fn search(session: &Session, query: &Query, scanner: &Scanner, found: &mut Found) {
    if !may_hold(session, &query.pattern) {
        found.sessions += 1;
        return;
    }
    let Ok(mut turns) = session.turns() else { return };
    let mut windows = Windows::new(&query.pattern, query.role, query.limits);
    turns.by_ref().for_each(|turn| windows.push(&turn));
    let (windows, n_windows) = windows.finish(scanner);
    found.sessions += 1;
    found.is_truncated |= n_windows > windows.len();
    let is_kept = match &turns {
        Turns::Host(turns) | Turns::Both(_, turns, _) => {
            found.left_out.add(turns.left_out());
            false
        }
        Turns::Kept(_) => true,
    };
    let path = if is_kept { session.kept.as_ref().map(|kept| &kept.path) } else { None };
    let path = path.map_or_else(|| session.path().to_owned(), PathBuf::clone);
    found.hits.extend(windows.into_iter().map(|window| Hit {
        session: session.id.clone(),
        host: session.host,
        path: path.clone(),
        is_kept,
        window,
    }));
}

/// Says whether the file has the pattern at all, where its bytes can tell. That is several times as fast as parsing it.
fn may_hold(session: &Session, pattern: &Pattern) -> bool {
    let Some(len) = pattern.raw_len().filter(|_| !session.is_rewritten) else { return true };
    let Ok((mut file, _)) = find::open(session.path()) else { return true };
    let mut block = vec![0; BLOCK + len];
    let mut n_kept = 0;
    loop {
        let n_read = match file.read(&mut block[n_kept..]) {
            Ok(0) => return false,
            Ok(n_read) => n_read,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return true,
        };
        let end = n_kept + n_read;
        if pattern.is_in_raw(&block[..end]) {
            return true;
        }
        // A hit may begin in this block and end in the next.
        n_kept = end.min(len - 1);
        block.copy_within(end - n_kept..end, 0);
    }
}

/// Keeps the windows that fit into `bytes` together; the first is cut rather than left out. Says whether any went.
fn fit(hits: &mut Vec<Hit>, bytes: usize) -> bool {
    let mut left = bytes;
    let mut fits = |hit: &&Hit| {
        let size = hit.window.bytes();
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    };
    let n_fit = hits.iter().take_while(|hit| fits(hit)).count();
    let is_cut = n_fit < hits.len();
    hits.truncate(n_fit.max(1));
    if let Some(first) = hits.first_mut() {
        first.window.shrink_to(bytes);
    }
    is_cut
}
