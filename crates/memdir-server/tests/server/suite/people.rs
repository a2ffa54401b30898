//! Members, tokens, invitations.

use memdir_core::hash::ContentHash;
use memdir_core::team::wire::Scope;
use memdir_server::rules::NotJoined;
use memdir_server::storage::{JoinError, NewInvite, NewToken, Storage};

use super::{Team, by, day, invite, joining, member, token};

fn refused<T: std::fmt::Debug>(answer: Result<T, JoinError>) -> NotJoined {
    match answer {
        Err(JoinError::Refused(refused)) => refused,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn a_token_is_known_by_its_hash(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let hash = ContentHash::of(b"t-ann-token");
    let bearer = storage.bearer(&hash).await.unwrap().unwrap();
    assert_eq!((bearer.member.as_str(), bearer.scope, bearer.is_revoked), ("ann", Scope::Admin, false));
    assert_eq!((bearer.team.id, bearer.team.name.as_str(), bearer.expires), (team.id, "t", None));
    assert_eq!(bearer.token, "id-t-ann-token");
    assert_eq!(storage.bearer(&ContentHash::of(b"guess")).await.unwrap(), None);
    let short = NewToken { expires: Some(day(2)), ..token("short", Scope::Read) };
    assert!(storage.add_token(team.id, &member("bob"), &short, &by("bob"), day(1)).await.unwrap());
    let bearer = storage.bearer(&short.hash).await.unwrap().unwrap();
    assert_eq!((bearer.member.as_str(), bearer.scope, bearer.expires), ("bob", Scope::Read, Some(day(2))));
    let nobody =
        storage.add_token(team.id, &member("eve"), &token("e", Scope::Read), &by("ann"), day(1)).await;
    assert!(!nobody.unwrap(), "only members have tokens");
}

pub(crate) async fn tokens_are_listed_and_revoked_by_id(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let other = Team::new(storage, "u").await;
    let more = token("more", Scope::Read);
    storage.add_token(team.id, &member("bob"), &more, &by("bob"), day(1)).await.unwrap();
    let ids = async |of: Option<&str>| {
        let of = of.map(member);
        let tokens = storage.tokens(team.id, of.as_ref()).await.unwrap();
        tokens.into_iter().map(|token| token.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(None).await.len(), 3);
    assert_eq!(ids(Some("bob")).await, ["id-t-bob-token", "id-more"]);
    let listed = storage.tokens(team.id, Some(&member("bob"))).await.unwrap().remove(1);
    assert_eq!((listed.label.as_deref(), listed.scope, listed.made), (Some("more"), Scope::Read, day(1)));
    let revoke = async |team, of: Option<&str>| {
        let of = of.map(member);
        storage.revoke_token(team, "id-more", of.as_ref(), &by("ann"), day(1)).await.unwrap()
    };
    assert!(!revoke(other.id, None).await, "another team's");
    assert!(!revoke(team.id, Some("ann")).await, "another member's");
    assert!(revoke(team.id, Some("bob")).await);
    assert!(!revoke(team.id, None).await, "once");
    assert!(storage.bearer(&more.hash).await.unwrap().unwrap().is_revoked);
    assert_eq!(ids(Some("bob")).await, ["id-t-bob-token"]);
}

pub(crate) async fn an_invitation_lets_in_once(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    storage.add_invite(team.id, &invite("i", Scope::Write, None), &by("ann"), day(0)).await.unwrap();
    let no_name = storage.join(&joining("i", None, "x"), day(1)).await;
    assert_eq!(refused(no_name), NotJoined::NoName);
    assert_eq!(
        refused(storage.join(&joining("i", Some("cy"), "x"), day(7)).await),
        NotJoined::NoInvite,
        "late"
    );
    let cy = storage.join(&joining("i", Some("cy"), "x"), day(1)).await.unwrap();
    assert_eq!((cy.member.as_str(), cy.scope, cy.team.id), ("cy", Scope::Write, team.id));
    assert_eq!(storage.bearer(&ContentHash::of(b"x")).await.unwrap(), Some(cy));
    let again = storage.join(&joining("i", Some("dee"), "y"), day(1)).await;
    assert_eq!(refused(again), NotJoined::NoInvite);
    assert_eq!(storage.bearer(&ContentHash::of(b"y")).await.unwrap(), None);
    assert_eq!(refused(storage.join(&joining("guess", Some("dee"), "y"), day(1)).await), NotJoined::NoInvite);
}

pub(crate) async fn of_two_with_one_invitation_one_gets_in(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    storage.add_invite(team.id, &invite("i", Scope::Write, None), &by("ann"), day(0)).await.unwrap();
    let (one, two) = (joining("i", Some("cy"), "x"), joining("i", Some("dee"), "y"));
    let (one, two) = tokio::join!(storage.join(&one, day(1)), storage.join(&two, day(1)));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    assert_eq!(storage.members(team.id, day(1)).await.unwrap().len(), 3);
}

pub(crate) async fn a_name_is_given_again_only_by_name(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    storage.add_invite(team.id, &invite("any", Scope::Admin, None), &by("ann"), day(0)).await.unwrap();
    let taken = storage.join(&joining("any", Some("bob"), "x"), day(1)).await;
    assert_eq!(refused(taken), NotJoined::Taken);
    storage.add_invite(team.id, &invite("b", Scope::Read, Some("bob")), &by("ann"), day(0)).await.unwrap();
    let other = storage.join(&joining("b", Some("cy"), "x"), day(1)).await;
    assert_eq!(refused(other), NotJoined::OtherName);
    let bob = storage.join(&joining("b", None, "x"), day(1)).await.unwrap();
    assert_eq!((bob.member.as_str(), bob.scope), ("bob", Scope::Read));
    let cy = storage.join(&joining("any", Some("cy"), "y"), day(1)).await.unwrap();
    assert_eq!(cy.member.as_str(), "cy", "an invitation that was refused still counts");
}

pub(crate) async fn a_revoked_member_loses_everything(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let other = Team::new(storage, "u").await;
    for (name, to) in [("for-bob", Some("bob")), ("for-all", None)] {
        let who = if to.is_some() { "ann" } else { "bob" };
        storage.add_invite(team.id, &invite(name, Scope::Read, to), &by(who), day(0)).await.unwrap();
    }
    let bob = member("bob");
    assert!(storage.revoke_member(team.id, &bob, &by("ann"), day(1)).await.unwrap());
    assert!(!storage.revoke_member(team.id, &bob, &by("ann"), day(1)).await.unwrap());
    assert!(storage.bearer(&ContentHash::of(b"t-bob-token")).await.unwrap().unwrap().is_revoked);
    assert!(!storage.bearer(&ContentHash::of(b"u-bob-token")).await.unwrap().unwrap().is_revoked);
    assert_eq!(storage.members(other.id, day(1)).await.unwrap().len(), 2);
    let names: Vec<_> =
        storage.members(team.id, day(1)).await.unwrap().into_iter().map(|m| m.member).collect();
    assert_eq!(names, [member("ann")]);
    assert_eq!(storage.tokens(team.id, Some(&bob)).await.unwrap(), []);
    assert_eq!(refused(storage.join(&joining("for-bob", None, "x"), day(1)).await), NotJoined::NoInvite);
    assert_eq!(
        refused(storage.join(&joining("for-all", Some("cy"), "x"), day(1)).await),
        NotJoined::NoInvite
    );
    assert!(!storage.add_token(team.id, &bob, &token("z", Scope::Read), &by("ann"), day(1)).await.unwrap());
    storage.add_invite(team.id, &invite("back", Scope::Read, Some("bob")), &by("ann"), day(1)).await.unwrap();
    assert!(!storage.join(&joining("back", None, "w"), day(2)).await.unwrap().is_revoked);
    let old = storage.bearer(&ContentHash::of(b"t-bob-token")).await.unwrap().unwrap();
    assert!(old.is_revoked, "who comes back gets in with the new token alone");
}

pub(crate) async fn invitations_are_listed_and_withdrawn(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let other = Team::new(storage, "u").await;
    let late = NewInvite { expires: day(30), ..invite("i", Scope::Write, Some("cy")) };
    storage.add_invite(team.id, &late, &by("ann"), day(0)).await.unwrap();
    let listed = storage.invites(team.id).await.unwrap();
    assert_eq!(listed.len(), 1, "used ones are not listed");
    let first = &listed[0];
    assert_eq!((first.id.as_str(), first.scope, first.expires), ("id-i", Scope::Write, day(30)));
    assert_eq!((&first.member, &first.by), (&Some(member("cy")), &Some(member("ann"))));
    assert_eq!(storage.invites(other.id).await.unwrap(), []);
    assert!(!storage.withdraw_invite(other.id, "id-i", &by("ann"), day(1)).await.unwrap());
    assert!(storage.withdraw_invite(team.id, "id-i", &by("ann"), day(1)).await.unwrap());
    assert!(!storage.withdraw_invite(team.id, "id-i", &by("ann"), day(1)).await.unwrap());
    assert_eq!(storage.invites(team.id).await.unwrap(), []);
    assert_eq!(refused(storage.join(&joining("i", None, "x"), day(1)).await), NotJoined::NoInvite);
}

pub(crate) async fn members_show_what_they_may(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let strong = NewToken { expires: Some(day(5)), ..token("strong", Scope::Admin) };
    storage.add_token(team.id, &member("bob"), &strong, &by("ann"), day(1)).await.unwrap();
    let scope = async |name: &str, now| {
        let members = storage.members(team.id, now).await.unwrap();
        let found = members.into_iter().find(|found| found.member == member(name)).unwrap();
        assert_eq!(found.joined, day(0));
        found.scope
    };
    assert_eq!(scope("ann", day(1)).await, Some(Scope::Admin));
    assert_eq!(scope("bob", day(1)).await, Some(Scope::Admin));
    assert_eq!(scope("bob", day(5)).await, Some(Scope::Write), "expired");
    storage.revoke_token(team.id, "id-t-bob-token", None, &by("ann"), day(1)).await.unwrap();
    assert_eq!(scope("bob", day(5)).await, None);
}

pub(crate) async fn the_server_has_tokens_of_its_own(storage: &impl Storage) {
    Team::new(storage, "t").await;
    let lasting = token("m", Scope::Read);
    let short = NewToken { expires: Some(day(3)), ..token("n", Scope::Read) };
    storage.add_server_token(&lasting, day(0)).await.unwrap();
    storage.add_server_token(&short, day(0)).await.unwrap();
    assert_eq!(storage.server_token(&lasting.hash).await.unwrap(), Some(None));
    assert_eq!(storage.server_token(&short.hash).await.unwrap(), Some(Some(day(3))));
    assert_eq!(storage.server_token(&ContentHash::of(b"t-ann-token")).await.unwrap(), None);
    assert_eq!(storage.bearer(&lasting.hash).await.unwrap(), None, "it speaks for no member");
}
