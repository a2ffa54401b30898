//! The rules, one table a question.

use super::*;

fn name(text: &str) -> MemberName {
    MemberName::new(text).unwrap()
}

fn state(seq: u64, text: &str) -> State {
    State {
        seq,
        hash: ContentHash::of(text.as_bytes()),
        size: text.len() as u64,
        author: name("ann"),
        at: Timestamp::UNIX_EPOCH,
        deleted: false,
        erased: false,
    }
}

fn tombstone(seq: u64) -> State {
    State { deleted: true, ..state(seq, "old") }
}

fn put(text: &str) -> Act {
    Act::Put { hash: ContentHash::of(text.as_bytes()), size: text.len() as u64 }
}

fn ask(act: Act, expect: Expect, current: Option<&State>) -> Result<Decision, Refused> {
    decide(act, expect, &name("bob"), current, &Totals::default(), &Quotas::default())
}

fn kind(decision: Result<Decision, Refused>) -> Option<Kind> {
    match decision.unwrap() {
        Decision::Nothing => None,
        Decision::Write(effect) => Some(effect.kind),
    }
}

#[test]
fn a_write_names_what_it_replaces() {
    let current = state(5, "old");
    let tag = ETag::new(5, &current.hash);
    assert_eq!(kind(ask(put("new"), Expect::Nothing, None)), Some(Kind::Create));
    assert_eq!(kind(ask(put("new"), Expect::Version(5), Some(&current))), Some(Kind::Replace));
    assert_eq!(kind(ask(put("new"), Expect::Tag(tag), Some(&current))), Some(Kind::Replace));
    for wrong in [
        Expect::Nothing,
        Expect::Version(4),
        Expect::Version(6),
        Expect::Tag(ETag::new(4, &current.hash)),
        Expect::Tag(ETag::new(5, &ContentHash::of(b"other"))),
    ] {
        let stale = Err(Refused::Stale(Some(current.clone())));
        assert_eq!(ask(put("new"), wrong, Some(&current)), stale, "{wrong:?}");
        assert_eq!(ask(Act::Delete, wrong, Some(&current)), stale, "{wrong:?}");
    }
    assert_eq!(ask(put("new"), Expect::Version(5), None), Err(Refused::Stale(None)));
}

/// T8.
#[test]
fn a_creation_sent_again_does_not_bring_back_what_was_removed() {
    let gone = tombstone(6);
    assert_eq!(ask(put("old"), Expect::Nothing, Some(&gone)), Err(Refused::Stale(Some(gone.clone()))));
    assert_eq!(kind(ask(put("old"), Expect::Version(6), Some(&gone))), Some(Kind::Create));
}

#[test]
fn the_same_text_over_the_same_version_is_no_new_version() {
    let current = state(5, "old");
    assert_eq!(ask(put("old"), Expect::Version(5), Some(&current)), Ok(Decision::Nothing));
    assert!(ask(put("old"), Expect::Version(4), Some(&current)).is_err(), "what is stale stays stale");
}

#[test]
fn what_is_gone_cannot_be_removed_but_can_be_erased() {
    let gone = tombstone(6);
    assert_eq!(ask(Act::Delete, Expect::Version(6), Some(&gone)), Err(Refused::NotFound));
    assert_eq!(ask(Act::Delete, Expect::Version(6), None), Err(Refused::NotFound));
    assert_eq!(ask(Act::Erase, Expect::Version(6), None), Err(Refused::NotFound));
    assert_eq!(kind(ask(Act::Erase, Expect::Version(6), Some(&gone))), Some(Kind::Erase));
    let stale = Err(Refused::Stale(Some(gone.clone())));
    assert_eq!(ask(Act::Erase, Expect::Version(5), Some(&gone)), stale, "T8: not what was written since");
    let erased = State { erased: true, ..gone };
    assert_eq!(ask(Act::Erase, Expect::Version(6), Some(&erased)), Ok(Decision::Nothing));
    assert_eq!(ask(Act::Erase, Expect::Version(2), Some(&erased)), Ok(Decision::Nothing));
}

#[test]
fn counts_follow_who_has_the_newest_version() {
    let effect = |act, expect, current: Option<&State>| match ask(act, expect, current).unwrap() {
        Decision::Write(effect) => {
            (effect.memories, effect.takes_from_author, effect.gives_to_author, effect.bytes)
        }
        Decision::Nothing => panic!("nothing"),
    };
    let anns = state(5, "old");
    let bobs = State { author: name("bob"), ..state(5, "old") };
    let gone = tombstone(5);
    let at = Expect::Version(5);
    assert_eq!(effect(put("new!"), Expect::Nothing, None), (1, false, true, 4));
    assert_eq!(effect(put("new!"), at, Some(&anns)), (0, true, true, 4));
    assert_eq!(effect(put("new!"), at, Some(&bobs)), (0, false, false, 4));
    assert_eq!(effect(put("new!"), at, Some(&gone)), (1, false, true, 4));
    assert_eq!(effect(Act::Delete, at, Some(&anns)), (-1, true, false, 0));
    assert_eq!(effect(Act::Erase, at, Some(&gone)), (0, false, false, 0));
}

/// T9.
#[test]
fn quotas_stop_what_grows_and_nothing_else() {
    let full = Totals { memories: 10, bytes: 100, of_author: 3 };
    let quotas = Quotas { memories: 10, bytes: 100, of_author: 3 };
    let room = Quotas { memories: 11, bytes: 104, of_author: 4 };
    let bob = name("bob");
    let ask =
        |act, expect, current: Option<&State>, quotas| decide(act, expect, &bob, current, &full, &quotas);
    let anns = state(5, "old");
    let bobs = State { author: name("bob"), ..state(5, "old") };
    let at = Expect::Version(5);
    assert_eq!(ask(put("new!"), Expect::Nothing, None, quotas), Err(Refused::TeamMemories(10)));
    let team_only = Quotas { memories: 11, ..quotas };
    assert_eq!(ask(put("new!"), Expect::Nothing, None, team_only), Err(Refused::AuthorMemories(3)));
    assert_eq!(ask(put("new!"), at, Some(&anns), quotas), Err(Refused::AuthorMemories(3)));
    assert_eq!(ask(put("new!"), at, Some(&bobs), quotas), Err(Refused::TeamBytes(100)));
    assert!(ask(put("new!"), Expect::Nothing, None, room).is_ok());
    assert!(ask(put("new!!"), Expect::Nothing, None, room).is_err());
    assert!(ask(Act::Delete, at, Some(&anns), quotas).is_ok());
    assert!(ask(Act::Erase, at, Some(&anns), quotas).is_ok());
}

#[test]
fn a_cursor_counts_while_nothing_was_forgotten_after_it() {
    assert!(is_cursor_known(0, 0, 0));
    assert!(is_cursor_known(0, 9, 7));
    assert!(is_cursor_known(7, 9, 7));
    assert!(is_cursor_known(9, 9, 7));
    assert!(!is_cursor_known(6, 9, 7), "it would miss a removal");
    assert!(!is_cursor_known(10, 9, 0), "it comes from a database that was lost");
}

#[test]
fn a_first_walk_is_known_by_its_cursor_until_it_ends() {
    assert_eq!(read_cursor(0), (0, true));
    assert_eq!(read_cursor(7), (7, false));
    let middle = next_cursor(1_000, true, true);
    assert_eq!(read_cursor(middle), (1_000, true));
    assert_eq!(next_cursor(5_000, true, false), 5_000, "at the end it is a cursor like any other");
    assert_eq!(next_cursor(1_000, false, true), 1_000);
}

#[test]
fn an_invitation_lets_in_once_in_time_and_under_a_name_that_is_free() {
    let now = Timestamp::from_second(1_000).unwrap();
    let later = Timestamp::from_second(1_001).unwrap();
    let open = Invitation { scope: Scope::Write, member: None, expires: later, is_used: false };
    let for_ann = Invitation { member: Some(name("ann")), ..open.clone() };
    let (ann, bob) = (name("ann"), name("bob"));
    assert_eq!(name_to_join_by(Some(&open), Some(&bob), now), Ok(name("bob")));
    assert_eq!(name_to_join_by(Some(&open), None, now), Err(NotJoined::NoName));
    assert_eq!(name_to_join_by(Some(&for_ann), None, now), Ok(name("ann")));
    assert_eq!(name_to_join_by(Some(&for_ann), Some(&ann), now), Ok(name("ann")));
    assert_eq!(name_to_join_by(Some(&for_ann), Some(&bob), now), Err(NotJoined::OtherName));
    assert_eq!(name_to_join_by(None, Some(&bob), now), Err(NotJoined::NoInvite));
    assert_eq!(name_to_join_by(Some(&open), Some(&bob), later), Err(NotJoined::NoInvite), "expired");
    let used = Invitation { is_used: true, ..open.clone() };
    assert_eq!(name_to_join_by(Some(&used), Some(&bob), now), Err(NotJoined::NoInvite));
    assert_eq!(may_join(&open, Standing::Unknown), Ok(()));
    assert_eq!(may_join(&open, Standing::Member), Err(NotJoined::Taken));
    assert_eq!(may_join(&open, Standing::Revoked), Err(NotJoined::Taken));
    assert_eq!(may_join(&for_ann, Standing::Member), Ok(()));
}

#[test]
fn a_token_counts_until_it_expires_or_is_revoked() {
    let now = Timestamp::from_second(1_000).unwrap();
    assert!(token_counts(None, false, now));
    assert!(token_counts(Some(Timestamp::from_second(1_001).unwrap()), false, now));
    assert!(!token_counts(Some(now), false, now));
    assert!(!token_counts(None, true, now));
}
