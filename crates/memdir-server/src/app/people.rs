//! Who belongs to a team and how they get in.

use jiff::{SignedDuration, Timestamp};
use memdir_core::team::wire::{
    Audit, Code, InviteInfo, InviteRequest, Invited, JoinRequest, Joined, Me, MemberName, Scope, TeamInfo,
    TokenInfo, TokenMade, TokenRequest,
};

use super::{App, Call, may_give};
use crate::answer::{Answer, Handled, Problem};
use crate::credentials;
use crate::storage::{Joining, NewInvite, NewToken, Storage};

/// How long an invitation counts if nothing is said, and at most.
const INVITE_DAYS: u32 = 7;
const MAX_INVITE_DAYS: u32 = 90;
/// How long a token may count if it expires at all.
const MAX_TOKEN_DAYS: u32 = 3_650;
/// How long a label may be, in characters.
const MAX_LABEL: usize = 100;
/// How many audit entries a page has if nothing is said, and at most.
const AUDIT_PAGE: u64 = 100;
const MAX_AUDIT: u64 = 1_000;

impl<S: Storage> App<S> {
    pub(super) async fn join(&self, call: &Call) -> Handled {
        let request: JoinRequest = call.json()?;
        let no_invite = || Problem::new(Code::Unauthorized, "this invitation does not count");
        let invite = credentials::invite_hash(&request.invite).ok_or_else(no_invite)?;
        let minted = credentials::token().map_err(|_| no_chance())?;
        let token = NewToken {
            id: minted.id,
            hash: minted.hash,
            scope: Scope::Read,
            label: label(request.label)?,
            expires: None,
        };
        let joining = Joining { invite, member: request.member, token };
        let bearer = self.storage.join(&joining, self.now()).await?;
        let joined = Joined {
            token: minted.secret,
            team: bearer.team.name,
            kind: bearer.team.kind,
            member: bearer.member,
            scopes: bearer.scope.implied(),
        };
        Answer::json(201, &joined)
    }

    pub(super) fn me(&self, call: &Call) -> Handled {
        let bearer = call.bearer()?;
        let me = Me {
            team: bearer.team.name.clone(),
            kind: bearer.team.kind,
            member: bearer.member.clone(),
            scopes: bearer.scope.implied(),
            limits: self.limits(),
            server: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Answer::json(200, &me)
    }

    pub(super) async fn team(&self, call: &Call) -> Handled {
        let team = self.storage.team(call.bearer()?.team.id).await?.ok_or_else(Problem::not_found)?;
        let info = TeamInfo {
            team: team.name,
            kind: team.kind,
            memories: team.memories,
            bytes: team.bytes,
            limits: self.limits(),
            cursor: team.seq,
        };
        Answer::json(200, &info)
    }

    pub(super) async fn members(&self, call: &Call) -> Handled {
        Answer::json(200, &self.storage.members(call.bearer()?.team.id, self.now()).await?)
    }

    pub(super) async fn revoke_member(&self, call: &Call) -> Handled {
        let bearer = call.bearer()?;
        let member =
            MemberName::new(call.params.get("member")).map_err(|err| Problem::bad(err.to_string()))?;
        if bearer.scope < Scope::Admin && bearer.member != member {
            return Err(Problem::new(Code::Forbidden, "only an admin revokes others"));
        }
        let is_done = self.storage.revoke_member(bearer.team.id, &member, &call.actor()?, self.now()).await?;
        done_or_not_found(is_done)
    }

    pub(super) async fn invites(&self, call: &Call) -> Handled {
        let now = self.now();
        let invites = self.storage.invites(call.bearer()?.team.id).await?;
        let counting = invites.into_iter().filter(|invite| now < invite.expires);
        let infos: Vec<_> = counting
            .map(|invite| InviteInfo {
                id: invite.id,
                scope: invite.scope,
                member: invite.member,
                by: invite.by,
                expires: invite.expires,
            })
            .collect();
        Answer::json(200, &infos)
    }

    pub(super) async fn invite(&self, call: &Call) -> Handled {
        let request: InviteRequest = call.json()?;
        let bearer = call.bearer()?;
        may_give(bearer.scope, request.scope)?;
        let days = request.days.unwrap_or(INVITE_DAYS);
        let expires = in_days(self.now(), days, MAX_INVITE_DAYS)?;
        let minted = credentials::invite().map_err(|_| no_chance())?;
        let invite = NewInvite {
            id: minted.id.clone(),
            hash: minted.hash,
            scope: request.scope,
            member: request.member,
            expires,
        };
        self.storage.add_invite(bearer.team.id, &invite, &call.actor()?, self.now()).await?;
        Answer::json(201, &Invited { invite: minted.secret, id: minted.id, expires })
    }

    pub(super) async fn withdraw_invite(&self, call: &Call) -> Handled {
        let (team, id) = (call.bearer()?.team.id, call.params.get("id"));
        done_or_not_found(self.storage.withdraw_invite(team, id, &call.actor()?, self.now()).await?)
    }

    pub(super) async fn tokens(&self, call: &Call) -> Handled {
        let bearer = call.bearer()?;
        let only_of = (bearer.scope < Scope::Admin).then_some(&bearer.member);
        let tokens = self.storage.tokens(bearer.team.id, only_of).await?;
        let infos: Vec<_> = tokens
            .into_iter()
            .map(|token| TokenInfo {
                id: token.id,
                member: token.member,
                scope: token.scope,
                label: token.label,
                made: token.made,
                expires: token.expires,
            })
            .collect();
        Answer::json(200, &infos)
    }

    pub(super) async fn make_token(&self, call: &Call) -> Handled {
        let request: TokenRequest = call.json()?;
        let bearer = call.bearer()?;
        may_give(bearer.scope, request.scope)?;
        let asked = request.days.map(|days| in_days(self.now(), days, MAX_TOKEN_DAYS)).transpose()?;
        // A token that ends cannot prolong itself by making another.
        let expires = match (asked, bearer.expires) {
            (Some(asked), Some(own)) => Some(asked.min(own)),
            (asked, own) => asked.or(own),
        };
        let minted = credentials::token().map_err(|_| no_chance())?;
        let token = NewToken {
            id: minted.id.clone(),
            hash: minted.hash,
            scope: request.scope,
            label: label(request.label)?,
            expires,
        };
        let (team, by) = (bearer.team.id, call.actor()?);
        if !self.storage.add_token(team, &bearer.member, &token, &by, self.now()).await? {
            return Err(Problem::unauthorized());
        }
        Answer::json(201, &TokenMade { token: minted.secret, id: minted.id, expires })
    }

    pub(super) async fn revoke_token(&self, call: &Call) -> Handled {
        let bearer = call.bearer()?;
        let only_of = (bearer.scope < Scope::Admin).then_some(&bearer.member);
        let (team, id, by) = (bearer.team.id, call.params.get("id"), call.actor()?);
        done_or_not_found(self.storage.revoke_token(team, id, only_of, &by, self.now()).await?)
    }

    pub(super) async fn projects(&self, call: &Call) -> Handled {
        Answer::json(200, &self.storage.projects(call.bearer()?.team.id).await?)
    }

    pub(super) async fn audit(&self, call: &Call) -> Handled {
        let since = call.number("since", 0)?;
        let limit = usize::try_from(call.number("limit", AUDIT_PAGE)?.clamp(1, MAX_AUDIT)).unwrap_or(1);
        let mut entries = self.storage.audit(call.bearer()?.team.id, since, limit + 1).await?;
        let more = entries.len() > limit;
        entries.truncate(limit);
        let cursor = entries.last().map_or(since, |entry| entry.id);
        Answer::json(200, &Audit { entries, cursor, more })
    }
}

fn done_or_not_found(is_done: bool) -> Handled {
    if is_done { Ok(Answer::empty(204)) } else { Err(Problem::not_found()) }
}

fn no_chance() -> Problem {
    Problem::new(Code::Internal, "the system gave no random bytes")
}

fn label(label: Option<String>) -> Result<Option<String>, Problem> {
    match label {
        Some(label) if label.chars().count() > MAX_LABEL || label.chars().any(char::is_control) => {
            Err(Problem::bad(format!("a label is one line of at most {MAX_LABEL} characters")))
        }
        label => Ok(label),
    }
}

fn in_days(now: Timestamp, days: u32, most: u32) -> Result<Timestamp, Problem> {
    let wrong = || Problem::bad(format!("`days` is from 1 to {most}"));
    if days == 0 || days > most {
        return Err(wrong());
    }
    now.checked_add(SignedDuration::from_hours(24 * i64::from(days))).map_err(|_| wrong())
}
