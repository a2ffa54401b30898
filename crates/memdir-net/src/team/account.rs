//! What people do at a team server: join, invite, look around, leave.

use memdir_core::team::share::Audience;
use memdir_core::team::wire::{
    Audit, Hits, InviteRequest, Invited, JoinRequest, Joined, Me, MemberInfo, MemberName, ProjectName,
    TeamKind, TeamName, TokenInfo,
};
use memdir_store::keys::Secret;
use memdir_store::team::{About, RemoteError};
use reqwest::Method;

use super::address::{place_id, read_place_id};
use super::line::{Access, Line};
use crate::{Base, Variables};

/// A list of members, tokens or what was found.
const MAX_LIST: usize = 8 << 20;
/// As many entries of the audit are asked for at once.
const AUDIT_PAGE: &str = "200";

/// A token that an invitation became, and what it is for.
pub struct Token {
    /// The token itself.
    pub secret: Secret,
    /// What the server is, and who we are there.
    pub about: About,
    /// The team.
    pub team: TeamName,
}

/// Somebody at a server.
pub struct Account {
    line: Line,
    team: TeamName,
}

impl Account {
    /// Turns an invitation into a token. It works once, so it is asked once.
    pub fn join(
        base: &Base,
        invite: &Secret,
        member: Option<MemberName>,
        machine: Option<String>,
        variables: &Variables,
    ) -> Result<Token, RemoteError> {
        let label = label(base);
        let mut line = Line::new(Access { base, token: None, variables }, &label)?;
        let request = JoinRequest { invite: invite.expose().to_owned(), member, label: machine };
        let question = line.question(Method::POST, &["join"], &[]).json(&request);
        let Joined { token, team, kind, member, .. } = line.ask_json(&question)?;
        let secret = Secret::new(&token).ok_or_else(|| line.nonsense("its token cannot be one"))?;
        let about = about(base, &team, kind, &member);
        Ok(Token { secret, about, team })
    }

    /// Asks who a token speaks for.
    pub fn recognise(base: &Base, token: Secret, variables: &Variables) -> Result<About, RemoteError> {
        let mut line = Line::new(Access { base, token: Some(token), variables }, &label(base))?;
        let question = line.question(Method::GET, &["me"], &[]);
        let me: Me = line.ask_json(&question)?;
        Ok(about(base, &me.team, me.kind, &me.member))
    }

    /// Opens the account at a server that a project joined. Connects to nothing.
    pub fn open(about: &About, token: Secret, variables: &Variables) -> Result<Self, RemoteError> {
        let strange =
            || RemoteError::Nonsense { label: about.label.clone(), why: "it has no address".to_owned() };
        let (base, team) = read_place_id(&about.id).ok_or_else(strange)?;
        let line = Line::new(Access { base: &base, token: Some(token), variables }, &about.label)?;
        Ok(Self { line, team })
    }

    /// Lists who belongs to the team.
    pub fn members(&mut self) -> Result<Vec<MemberInfo>, RemoteError> {
        self.list("members")
    }

    /// Lists tokens: one's own, or everybody's for an admin.
    pub fn tokens(&mut self) -> Result<Vec<TokenInfo>, RemoteError> {
        self.list("tokens")
    }

    /// Makes an invitation.
    pub fn invite(&mut self, request: &InviteRequest) -> Result<Invited, RemoteError> {
        let question = self.line.question(Method::POST, &["teams", self.team.as_str(), "invites"], &[]);
        self.line.ask_json(&question.json(request))
    }

    /// Has a member leave; from then on no token of theirs counts.
    pub fn revoke_member(&mut self, member: &MemberName) -> Result<(), RemoteError> {
        self.delete("members", member.as_str())
    }

    /// Revokes one token.
    pub fn revoke_token(&mut self, id: &str) -> Result<(), RemoteError> {
        self.delete("tokens", id)
    }

    /// Looks for memories by words, in one project or in all of them.
    pub fn search(
        &mut self,
        words: &str,
        project: Option<&ProjectName>,
        limit: usize,
    ) -> Result<Hits, RemoteError> {
        let limit = limit.to_string();
        let mut query = vec![("q", words), ("limit", limit.as_str())];
        query.extend(project.map(|project| ("project", project.as_str())));
        let question = self.line.question(Method::GET, &["teams", self.team.as_str(), "search"], &query);
        self.line.ask_json(&question.up_to(MAX_LIST))
    }

    /// Lists who did what, from an entry on.
    pub fn audit(&mut self, since: u64) -> Result<Audit, RemoteError> {
        let since = since.to_string();
        let query = [("since", since.as_str()), ("limit", AUDIT_PAGE)];
        let question = self.line.question(Method::GET, &["teams", self.team.as_str(), "audit"], &query);
        self.line.ask_json(&question.up_to(MAX_LIST))
    }

    fn list<T: serde::de::DeserializeOwned>(&mut self, what: &str) -> Result<Vec<T>, RemoteError> {
        let question = self.line.question(Method::GET, &["teams", self.team.as_str(), what], &[]);
        self.line.ask_json(&question.up_to(MAX_LIST))
    }

    fn delete(&mut self, what: &str, which: &str) -> Result<(), RemoteError> {
        let question = self.line.question(Method::DELETE, &["teams", self.team.as_str(), what, which], &[]);
        self.line.ask(&question.repeatable()).map(drop).map_err(|fault| self.line.error(fault))
    }
}

/// How a server is called in messages.
fn label(base: &Base) -> String {
    let text = base.as_str();
    text.strip_prefix("https://").unwrap_or(text).to_owned()
}

fn about(base: &Base, team: &TeamName, kind: TeamKind, member: &MemberName) -> About {
    let audience = match kind {
        TeamKind::Team => Audience::Team,
        TeamKind::Own => Audience::Own,
    };
    About {
        id: place_id(base, team),
        label: format!("{team} at {}", label(base)),
        audience,
        member: Some(member.to_string()),
        names_authors: true,
    }
}
