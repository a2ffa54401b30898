//! What every storage must do, as tests that take any [`Storage`].
//!
//! `storage_suite!(open)` makes a test of each for the storage that `open` returns, fresh, with whatever must outlive it.

pub(crate) mod memories;
pub(crate) mod people;

use std::future::Future;

use jiff::{SignedDuration, Timestamp};
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{MemberName, ProjectName, Scope, TeamKind, TeamName};
use memdir_server::rules::{Expect, Quotas};
use memdir_server::storage::{
    Actor, Content, Joining, Key, NewInvite, NewToken, Storage, TeamId, Write, WriteChange, WriteError,
    Written,
};
use memdir_server::words;

/// Makes a test of each function of the suite.
macro_rules! storage_suite {
    ($open:path) => {
        $crate::suite::storage_suite!($open, memories:
            a_team_is_made_once
            versions_grow_by_one_and_none_is_used_twice
            a_write_says_what_it_replaces
            a_creation_sent_again_is_refused
            the_same_text_is_no_new_version
            every_version_can_be_read_until_it_is_erased
            counts_follow_the_newest_version
            quotas_are_kept
            the_feed_has_one_entry_a_memory_in_order
            the_feed_comes_in_pages
            a_cursor_that_would_miss_a_removal_is_refused
            search_finds_what_exists_in_its_team
            what_is_replaced_or_removed_is_found_no_more
            each_write_of_many_stands_alone
            of_writers_at_once_one_wins_each_version
            what_writers_at_once_write_counts_for_each_of_them
            nothing_of_one_team_shows_in_another
            a_purge_forgets_what_is_old
            an_audit_says_who_did_what
            ledgers_only_grow_at_their_end
        );
        $crate::suite::storage_suite!($open, people:
            a_token_is_known_by_its_hash
            tokens_are_listed_and_revoked_by_id
            an_invitation_lets_in_once
            of_two_with_one_invitation_one_gets_in
            a_name_is_given_again_only_by_name
            a_revoked_member_loses_everything
            invitations_are_listed_and_withdrawn
            members_show_what_they_may
            the_server_has_tokens_of_its_own
        );
    };
    ($open:path, $module:ident: $($test:ident)*) => {
        $(#[test]
        fn $test() {
            $crate::suite::block_on(async {
                let (storage, _guard) = $open().await;
                $crate::suite::$module::$test(&storage).await;
            });
        })*
    };
}
pub(crate) use storage_suite;

/// Runs a test to its end.
pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

pub(crate) const NEW: Expect = Expect::Nothing;

pub(crate) fn at(seq: u64) -> Expect {
    Expect::Version(seq)
}

/// The n-th day of the test.
pub(crate) fn day(n: i64) -> Timestamp {
    Timestamp::from_second(1_776_416_400).unwrap() + SignedDuration::from_hours(24 * n)
}

pub(crate) fn member(name: &str) -> MemberName {
    MemberName::new(name).unwrap()
}

pub(crate) fn project(name: &str) -> ProjectName {
    ProjectName::new(name).unwrap()
}

pub(crate) fn path(text: &str) -> MemoryPath {
    MemoryPath::new(text).unwrap()
}

pub(crate) fn by(name: &str) -> Actor {
    Actor { member: Some(member(name)), token: Some(format!("token-of-{name}")) }
}

pub(crate) fn put(expect: Expect, text: &str) -> Write {
    let content = Content {
        text: text.to_owned(),
        hash: ContentHash::of(text.as_bytes()),
        words: words::of_text(text),
    };
    Write { expect, change: WriteChange::Put(content) }
}

pub(crate) fn delete(expect: Expect) -> Write {
    Write { expect, change: WriteChange::Delete }
}

pub(crate) fn erase(expect: Expect) -> Write {
    Write { expect, change: WriteChange::Erase }
}

pub(crate) fn token(name: &str, scope: Scope) -> NewToken {
    NewToken {
        id: format!("id-{name}"),
        hash: ContentHash::of(name.as_bytes()),
        scope,
        label: Some(name.to_owned()),
        expires: None,
    }
}

pub(crate) fn invite(name: &str, scope: Scope, to: Option<&str>) -> NewInvite {
    NewInvite {
        id: format!("id-{name}"),
        hash: ContentHash::of(name.as_bytes()),
        scope,
        member: to.map(member),
        expires: day(7),
    }
}

pub(crate) fn joining(invite: &str, name: Option<&str>, with: &str) -> Joining {
    Joining {
        invite: ContentHash::of(invite.as_bytes()),
        member: name.map(member),
        token: token(with, Scope::Read),
    }
}

/// A team with the members ann and bob, and what a test does to its project `p` as ann.
pub(crate) struct Team {
    pub(crate) id: TeamId,
    pub(crate) quotas: Quotas,
}

impl Team {
    pub(crate) async fn new(storage: &impl Storage, name: &str) -> Self {
        let made = storage.add_team(&TeamName::new(name).unwrap(), TeamKind::Team, day(0)).await.unwrap();
        let team = Self { id: made.unwrap().id, quotas: Quotas::default() };
        for person in ["ann", "bob"] {
            let words = format!("{name}-{person}");
            let scope = if person == "ann" { Scope::Admin } else { Scope::Write };
            storage.add_invite(team.id, &invite(&words, scope, None), &by("ann"), day(0)).await.unwrap();
            let joining = joining(&words, Some(person), &format!("{words}-token"));
            storage.join(&joining, day(0)).await.unwrap();
        }
        team
    }

    pub(crate) fn key(&self, text: &str) -> Key {
        Key { team: self.id, project: project("p"), path: path(text) }
    }

    pub(crate) async fn write(
        &self,
        storage: &impl Storage,
        path: &str,
        write: Write,
    ) -> Result<Written, WriteError> {
        self.write_as(storage, "ann", path, write).await
    }

    pub(crate) async fn write_as(
        &self,
        storage: &impl Storage,
        name: &str,
        path: &str,
        write: Write,
    ) -> Result<Written, WriteError> {
        storage.write(&self.key(path), &write, &by(name), &self.quotas, day(1)).await
    }

    /// Writes a new memory, which must succeed, and returns its version.
    pub(crate) async fn create(&self, storage: &impl Storage, path: &str, text: &str) -> u64 {
        self.write(storage, path, put(NEW, text)).await.unwrap().state.seq
    }

    pub(crate) async fn text(&self, storage: &impl Storage, path: &str) -> Option<String> {
        storage.memory(&self.key(path)).await.unwrap().and_then(|stored| stored.text)
    }
}
