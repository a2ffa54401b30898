//! Answers and errors, as every route gives them.

use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use hyper::{Response, StatusCode};
use memdir_core::team::wire::{self, Code, Current, ErrorBody, Trouble};
use serde::Serialize;

use crate::gzip;
use crate::rules::{Refused, State};
use crate::storage::{AppendError, FeedError, JoinError, StorageError, WriteError};

/// How long to wait before a busy database is asked again.
const BUSY_PAUSE: Duration = Duration::from_secs(2);

/// What is sent back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

pub(crate) type Handled = Result<Answer, Problem>;

impl Answer {
    pub(crate) fn new(status: u16, kind: &'static str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Self { status, headers, body: body.into() }
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub(crate) fn json(status: u16, value: &impl Serialize) -> Handled {
        let body = serde_json::to_vec(value).map_err(|err| Problem::new(Code::Internal, err.to_string()))?;
        Ok(Self::new(status, "application/json", body))
    }

    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Adds the tag of a version.
    pub(crate) fn tagged(self, state: &State) -> Self {
        self.with(ETAG, &wire::ETag::new(state.seq, &state.hash).to_string())
    }

    /// Turns it into what goes over the wire.
    pub(crate) fn send(mut self, takes_gzip: bool) -> Response<Full<Bytes>> {
        if takes_gzip
            && self.body.len() > gzip::WORTH_IT
            && let Ok(packed) = gzip::pack(&self.body)
        {
            self.body = packed.into();
            self.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        self.headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        self.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        self.headers
            .insert(HeaderName::from_static(wire::PROTOCOL_HEADER), HeaderValue::from(wire::PROTOCOL));
        let nosniff = HeaderName::from_static("x-content-type-options");
        self.headers.insert(nosniff, HeaderValue::from_static("nosniff"));
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = self.headers;
        response
    }
}

/// What went wrong, on its way to become an answer.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// Boxed, because a `Result` is as large as its larger half.
    pub(crate) trouble: Box<Trouble>,
    pub(crate) headers: HeaderMap,
}

impl Problem {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let trouble = Trouble { code, message, kinds: Vec::new(), supported: Vec::new(), current: None };
        Self { trouble: Box::new(trouble), headers: HeaderMap::new() }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, message)
    }

    pub(crate) fn not_found() -> Self {
        Self::new(Code::NotFound, "there is no such thing here")
    }

    pub(crate) fn unauthorized() -> Self {
        let mut problem = Self::new(Code::Unauthorized, "a token that counts is needed");
        problem.headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        problem
    }

    pub(crate) fn method(methods: &[&str]) -> Self {
        let mut problem = Self::new(Code::Method, "there is no such method here");
        problem
            .headers
            .extend(HeaderValue::from_str(&methods.join(", ")).ok().map(|methods| (ALLOW, methods)));
        problem
    }

    pub(crate) fn wait(code: Code, message: impl Into<String>, wait: Duration) -> Self {
        let mut problem = Self::new(code, message);
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        problem.headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        problem
    }

    pub(crate) fn answer(&self) -> Answer {
        let body = ErrorBody { error: Trouble::clone(&self.trouble) };
        let failed = || Answer::new(500, "application/json", &b"{}"[..]);
        let mut answer = Answer::json(self.trouble.code.status(), &body).unwrap_or_else(|_| failed());
        answer.headers.extend(self.headers.clone());
        answer
    }
}

/// What a memory is now, for one who expected something else.
pub(crate) fn current(state: &State) -> Current {
    Current { seq: state.seq, hash: state.hash, deleted: state.deleted }
}

impl From<StorageError> for Problem {
    /// What the database says is for the log; the caller learns what to do.
    fn from(err: StorageError) -> Self {
        match err {
            StorageError::Busy(_) => Self::wait(Code::Busy, "the database is busy", BUSY_PAUSE),
            StorageError::Full => Self::wait(Code::Busy, "no room is left on the server", BUSY_PAUSE),
            StorageError::Damaged(_) | StorageError::Failed(_) => {
                Self::new(Code::Internal, "the database failed")
            }
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let message = refused.to_string();
        match refused {
            Refused::Stale(state) => {
                let mut problem = Self::new(Code::Stale, message);
                problem.trouble.current = state.as_ref().map(current);
                if let Some(state) = state {
                    let tag = wire::ETag::new(state.seq, &state.hash).to_string();
                    problem.headers.extend(HeaderValue::from_str(&tag).ok().map(|tag| (ETAG, tag)));
                }
                problem
            }
            Refused::NotFound => Self::new(Code::NotFound, message),
            Refused::TeamMemories(_) | Refused::TeamBytes(_) | Refused::AuthorMemories(_) => {
                Self::new(Code::Quota, message)
            }
        }
    }
}

impl From<WriteError> for Problem {
    fn from(err: WriteError) -> Self {
        match err {
            WriteError::Refused(refused) => refused.into(),
            WriteError::Storage(err) => err.into(),
        }
    }
}

impl From<FeedError> for Problem {
    fn from(err: FeedError) -> Self {
        match err {
            FeedError::Gone => Self::new(Code::Gone, err.to_string()),
            FeedError::Storage(err) => err.into(),
        }
    }
}

impl From<JoinError> for Problem {
    fn from(err: JoinError) -> Self {
        use crate::rules::NotJoined;
        match err {
            JoinError::Storage(err) => err.into(),
            JoinError::Refused(refused) => {
                let code = match refused {
                    NotJoined::NoInvite => Code::Unauthorized,
                    NotJoined::NoName => Code::BadRequest,
                    NotJoined::OtherName => Code::Forbidden,
                    NotJoined::Taken => Code::Conflict,
                };
                Self::new(code, refused.to_string())
            }
        }
    }
}

impl From<AppendError> for Problem {
    fn from(err: AppendError) -> Self {
        match err {
            AppendError::OtherEnd(_) => Self::new(Code::Conflict, err.to_string()),
            AppendError::Quota(_) => Self::new(Code::Quota, err.to_string()),
            AppendError::Storage(err) => err.into(),
        }
    }
}
