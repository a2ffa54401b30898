//! What people do at a team server: see who is there, invite, revoke, search, look at what was done.

use memdir_core::team::wire::{AuditEntry, Hit, InviteRequest, MemberInfo, MemberName, Scope, TokenInfo};
use memdir_core::text::visible_line;
use memdir_net::team::Account;
use memdir_store::team::{About, Home};
use serde_json::json;

use super::server::{self, named};
use super::{Team, unusable};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Action {
    /// List who belongs to the team on its server
    Members,
    /// Invite somebody; prints what they join with
    Invite {
        /// What they may do: read, write or admin
        #[arg(long, value_name = "SCOPE", default_value = "write")]
        scope: String,
        /// Whom it is for; needed for a name that was used before
        #[arg(long = "as", value_name = "NAME")]
        member: Option<String>,
        /// Days until it expires
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=90))]
        days: Option<u32>,
    },
    /// Have a member leave; no token of theirs counts any more
    Revoke {
        /// Who
        #[arg(value_name = "MEMBER", required_unless_present = "token")]
        member: Option<String>,
        /// Only one token, by its id
        #[arg(long, value_name = "ID", conflicts_with = "member")]
        token: Option<String>,
    },
    /// List tokens: yours, or everybody's for an admin; never the tokens themselves
    Tokens,
    /// Search what the team knows, on its server
    Search {
        /// Words
        #[arg(value_name = "QUERY", required = true)]
        words: Vec<String>,
        /// In all projects of the team
        #[arg(long)]
        all: bool,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100))]
        limit: u64,
    },
    /// Show who did what when; for admins
    Audit {
        /// Only after the entry with this number
        #[arg(long, value_name = "N", default_value_t = 0)]
        since: u64,
    },
}

pub(super) fn run(action: &Action, team: &Team, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Home::Server { about } = &team.joined.home else {
        return Err(Failure::refusal("only a team server can be asked that").hint(
            "this project shares its memories through a folder: who may write there decides its owner",
        ));
    };
    let token = server::token(about, context)?;
    let mut account = Account::open(about, token, &server::variables(context)).map_err(unusable)?;
    match action {
        Action::Members => members(&account.members().map_err(unusable)?, about, ui),
        Action::Tokens => tokens(&account.tokens().map_err(unusable)?, ui),
        Action::Invite { scope, member, days } => {
            invite(&mut account, about, (scope, member.as_deref(), *days), ui)
        }
        Action::Revoke { member, token } => revoke(&mut account, member.as_deref(), token.as_deref(), ui),
        Action::Search { words, all, limit } => {
            let project = named(team.vault.id(), &team.joined, context);
            let project = (!all).then_some(&project);
            let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
            let hits = account.search(&words.join(" "), project, limit).map_err(unusable)?.hits;
            found(&hits, ui)
        }
        Action::Audit { since } => {
            let audit = account.audit(*since).map_err(unusable)?;
            done(&audit.entries, audit.more.then_some(audit.cursor), ui)
        }
    }
}

fn members(members: &[MemberInfo], about: &About, ui: &mut Ui) -> Result<Outcome, Failure> {
    if ui.is_json() {
        ui.json(&members);
        return Ok(outcome(members));
    }
    let columns = [
        Column::new("member").tone(Tone::Strong),
        Column::new("may"),
        Column::new("memories"),
        Column::new("since"),
    ];
    let row = |member: &MemberInfo| {
        let is_me = about.member.as_deref() == Some(member.member.as_str());
        let scope = member.scope.map_or("nothing", Scope::as_str);
        let name = if is_me { format!("{} (you)", member.member) } else { member.member.to_string() };
        vec![name, scope.to_owned(), member.memories.to_string(), day(member.joined)]
    };
    ui.table(&columns, &members.iter().map(row).collect::<Vec<_>>());
    Ok(outcome(members))
}

fn tokens(tokens: &[TokenInfo], ui: &mut Ui) -> Result<Outcome, Failure> {
    if ui.is_json() {
        ui.json(&tokens);
        return Ok(outcome(tokens));
    }
    let columns = [
        Column::new("id").tone(Tone::Strong),
        Column::new("member"),
        Column::new("may"),
        Column::new("made"),
        Column::new("expires"),
        Column::new("for").giving_way(),
    ];
    let row = |token: &TokenInfo| {
        let label = token.label.as_deref().unwrap_or_default();
        let expires = token.expires.map_or_else(|| "never".to_owned(), day);
        let (id, member) = (visible_line(&token.id).into_owned(), token.member.to_string());
        let label = visible_line(label).into_owned();
        vec![id, member, token.scope.as_str().to_owned(), day(token.made), expires, label]
    };
    ui.table(&columns, &tokens.iter().map(row).collect::<Vec<_>>());
    Ok(outcome(tokens))
}

fn invite(
    account: &mut Account,
    about: &About,
    (scope, member, days): (&str, Option<&str>, Option<u32>),
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let unknown = || Failure::error(format!("`{scope}` is no scope")).hint("it is read, write or admin");
    let request = InviteRequest {
        scope: Scope::from_word(scope).ok_or_else(unknown)?,
        member: member.map(MemberName::new).transpose().map_err(|err| Failure::error(err.to_string()))?,
        days,
    };
    let invited = account.invite(&request).map_err(unusable)?;
    let address = about.id.rsplit_once('#').map_or(about.id.as_str(), |(address, _)| address);
    let joins_with = format!("{address}#{}", invited.invite);
    if ui.is_json() {
        ui.json(&json!({ "join": joins_with, "id": invited.id, "expires": invited.expires }));
        return Ok(Outcome::Done);
    }
    ui.say(&format!("works once, until {}: `memdir team join` with", day(invited.expires)));
    ui.line(&joins_with);
    Ok(Outcome::Done)
}

fn revoke(
    account: &mut Account,
    member: Option<&str>,
    token: Option<&str>,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let whom = match (member, token) {
        (Some(member), _) => {
            let name = MemberName::new(member).map_err(|err| Failure::error(err.to_string()))?;
            account.revoke_member(&name).map_err(unusable)?;
            member
        }
        (None, Some(token)) => {
            account.revoke_token(token).map_err(unusable)?;
            token
        }
        (None, None) => return Err(Failure::error("whom to revoke is missing")),
    };
    if ui.is_json() {
        ui.json(&json!({ "revoked": whom }));
    } else {
        ui.line(&format!("revoked: {}", visible_line(whom)));
    }
    Ok(Outcome::Done)
}

fn found(hits: &[Hit], ui: &mut Ui) -> Result<Outcome, Failure> {
    if ui.is_json() {
        ui.json(&json!({ "hits": hits }));
        return Ok(outcome(hits));
    }
    for hit in hits {
        // Somebody else's words, which nobody here has judged: shown to a person, given to no model.
        ui.toned(
            Tone::Strong,
            &format!("{}  {}", visible_line(hit.path.stem()), visible_line(&hit.description)),
        );
        ui.line(&format!("  {} in {}, {}", hit.author, hit.project, day(hit.at)));
        for line in hit.snippet.lines().filter(|line| !line.trim().is_empty()).take(3) {
            ui.toned(Tone::Faint, &format!("  {}", visible_line(line)));
        }
    }
    Ok(outcome(hits))
}

fn done(entries: &[AuditEntry], next: Option<u64>, ui: &mut Ui) -> Result<Outcome, Failure> {
    if ui.is_json() {
        ui.json(&json!({ "entries": entries, "next": next }));
        return Ok(outcome(entries));
    }
    for entry in entries {
        let who = entry.member.as_ref().map_or("the server", MemberName::as_str);
        let at = entry.at.strftime("%Y-%m-%d %H:%M:%S");
        let what = visible_line(&entry.action);
        ui.line(&format!("{} {at} {who} {what} {}", entry.id, visible_line(&entry.target)));
    }
    if let Some(next) = next {
        ui.say(&format!("there is more: `memdir team audit --since {next}`"));
    }
    Ok(outcome(entries))
}

fn outcome<T>(list: &[T]) -> Outcome {
    if list.is_empty() { Outcome::Nothing } else { Outcome::Done }
}

fn day(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
}
