//! Several replicas of a team's memory, in any order of edits and syncs: they agree in the end, and no text is lost.

use std::collections::{BTreeMap, BTreeSet};

use super::conflict::{Combined, combine, is_copy, original};
use super::reconcile::{
    Block, Here, Policy, Sending, Sharing, Sides, Step, Taking, There, Withdrawing, decide,
};
use crate::hash::ContentHash;
use crate::memory::MemoryPath;

/// A small generator, so that a failing run can be had again by its number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

type Texts = BTreeMap<MemoryPath, Vec<u8>>;

#[derive(Default)]
struct Replica {
    vault: Texts,
    base: Texts,
}

/// The other side; what is not there was deleted or never was.
#[derive(Default)]
struct Shared {
    live: Texts,
    /// Every text that ever was there.
    past: BTreeSet<Vec<u8>>,
}

impl Replica {
    fn sync(&mut self, shared: &mut Shared, policy: Policy) {
        let keys: BTreeSet<MemoryPath> = [&self.vault, &self.base, &shared.live]
            .into_iter()
            .flat_map(|texts| texts.keys().cloned())
            .collect();
        for key in keys {
            self.sync_key(&key, shared, policy);
        }
        // What was kept beside is sent by the same sync.
        let copies: Vec<MemoryPath> =
            self.vault.keys().filter(|path| !shared.live.contains_key(*path)).cloned().collect();
        for key in copies {
            self.sync_key(&key, shared, policy);
        }
    }

    fn sync_key(&mut self, key: &MemoryPath, shared: &mut Shared, policy: Policy) {
        let hash = |texts: &Texts| texts.get(key).map(|text| ContentHash::of(text));
        let sides = Sides {
            here: hash(&self.vault).map(|hash| Here { hash, sharing: Sharing::Shared }),
            base: hash(&self.base),
            there: hash(&shared.live).map_or(There::Gone, There::Live),
            is_believed: true,
        };
        match decide(policy, &sides) {
            Step::Leave => {}
            Step::Note => self.note(key, shared),
            Step::Forget => drop(self.base.remove(key)),
            Step::Send(_) => self.send(key, shared),
            Step::Withdraw(_) => {
                shared.live.remove(key);
                self.base.remove(key);
            }
            Step::Take(_) => {
                self.vault.insert(key.clone(), shared.live[key].clone());
                self.note(key, shared);
            }
            Step::Remove => {
                self.vault.remove(key);
                self.base.remove(key);
            }
            Step::Combine => {
                let base = self.base.get(key).map(Vec::as_slice);
                let taken = |path: &MemoryPath| self.vault.get(path).map(Vec::as_slice);
                match combine(key, base, &self.vault[key], &shared.live[key], taken) {
                    Combined::Merged(text) => {
                        self.vault.insert(key.clone(), text);
                        self.send(key, shared);
                    }
                    Combined::Both(copy) => {
                        self.vault.insert(copy.path, copy.text);
                        self.vault.insert(key.clone(), shared.live[key].clone());
                        self.note(key, shared);
                    }
                }
            }
            step @ (Step::Hold | Step::Blocked(_)) => panic!("{step:?} between friends"),
        }
    }

    fn note(&mut self, key: &MemoryPath, shared: &Shared) {
        self.base.insert(key.clone(), shared.live[key].clone());
    }

    fn send(&mut self, key: &MemoryPath, shared: &mut Shared) {
        let text = self.vault[key].clone();
        shared.past.insert(text.clone());
        shared.live.insert(key.clone(), text);
        self.note(key, shared);
    }
}

fn path(n: usize) -> MemoryPath {
    MemoryPath::new(&format!("memory-{n}.md")).unwrap()
}

fn words(text: &[u8]) -> BTreeSet<String> {
    String::from_utf8_lossy(text)
        .split_whitespace()
        .filter(|word| word.starts_with("w-"))
        .map(str::to_owned)
        .collect()
}

/// One step of somebody's work. `dropped` takes the words that somebody who saw them took away.
fn work(replica: &mut Replica, dice: &mut Dice, word: &str, dropped: &mut BTreeSet<String>) {
    let keys: Vec<MemoryPath> = replica.vault.keys().cloned().collect();
    let chosen = (!keys.is_empty()).then(|| keys[dice.roll(keys.len())].clone());
    match (dice.roll(10), chosen) {
        (0..=2, _) | (_, None) => {
            let path = path(dice.roll(6));
            let name = path.stem();
            let text = format!("---\nname: {name}\ndescription: d\n---\n\nfirst {word}\nmiddle\nlast\n");
            replica.vault.entry(path).or_insert(text.into_bytes());
        }
        (3..=7, Some(key)) => {
            let text = String::from_utf8(replica.vault[&key].clone()).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let at = 5 + dice.roll(lines.len() - 4).min(lines.len() - 5);
            if dice.roll(2) == 0 {
                lines.insert(at, format!("added {word}"));
            } else if at < lines.len() {
                dropped.extend(words(lines[at].as_bytes()));
                lines[at] = format!("changed {word}");
            }
            replica.vault.insert(key, (lines.join("\n") + "\n").into_bytes());
        }
        (8, Some(key)) => {
            let text = replica.vault.remove(&key).unwrap();
            dropped.extend(words(&text));
        }
        (_, Some(key)) => {
            let to = path(6 + dice.roll(6));
            if !replica.vault.contains_key(&to) {
                let text = replica.vault.remove(&key).unwrap();
                let text = String::from_utf8(text).unwrap().replace(key.stem(), to.stem());
                replica.vault.insert(to, text.into_bytes());
            }
        }
    }
}

/// TS-01, T6: whatever the order, replicas end equal and every word is somewhere that nobody took away.
#[test]
fn ts_01_replicas_agree_and_lose_no_text() {
    for seed in 1..=400_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut shared = Shared::default();
        let mut replicas: Vec<Replica> = (0..3).map(|_| Replica::default()).collect();
        let (mut said, mut dropped) = (BTreeSet::new(), BTreeSet::new());
        for n in 0..60 {
            let replica = &mut replicas[dice.roll(3)];
            if dice.roll(3) == 0 {
                replica.sync(&mut shared, Policy::Merge);
                continue;
            }
            let word = format!("w-{n}");
            let before: BTreeSet<String> = replica.vault.values().flat_map(|text| words(text)).collect();
            work(replica, &mut dice, &word, &mut dropped);
            let after: BTreeSet<String> = replica.vault.values().flat_map(|text| words(text)).collect();
            said.extend(after.difference(&before).cloned());
        }
        for _ in 0..3 {
            replicas.iter_mut().for_each(|replica| replica.sync(&mut shared, Policy::Merge));
        }
        for replica in &replicas {
            assert_eq!(replica.vault, shared.live, "seed {seed}: the trees differ");
            assert_eq!(replica.base, shared.live, "seed {seed}: a base is left");
        }
        let left: BTreeSet<String> = shared.live.values().flat_map(|text| words(text)).collect();
        let lost: Vec<&String> =
            said.iter().filter(|word| !left.contains(*word) && !dropped.contains(*word)).collect();
        assert!(lost.is_empty(), "seed {seed}: {lost:?} is nowhere");
    }
}

/// TS-01, TS-03: with `mirror` all end with what is there, and what left a vault is a text that was there or is in its
/// history.
#[test]
fn ts_01_mirror_takes_what_is_there() {
    for seed in 1..=200_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut shared = Shared::default();
        let mut replicas: Vec<Replica> = (0..3).map(|_| Replica::default()).collect();
        for n in 0..40 {
            let replica = &mut replicas[dice.roll(3)];
            match dice.roll(3) {
                0 => replica.sync(&mut shared, Policy::Mirror),
                _ => work(replica, &mut dice, &format!("w-{n}"), &mut BTreeSet::new()),
            }
        }
        for _ in 0..3 {
            replicas.iter_mut().for_each(|replica| replica.sync(&mut shared, Policy::Mirror));
        }
        for replica in &replicas {
            assert_eq!(replica.vault, shared.live, "seed {seed}");
        }
        let is_copied = shared.live.keys().any(is_copy);
        assert!(!is_copied, "seed {seed}: mirror keeps no second versions");
    }
}

fn sides(here: Option<(&str, Sharing)>, base: Option<&str>, there: There) -> Sides {
    let hash = |text: &str| ContentHash::of(text.as_bytes());
    let here = here.map(|(text, sharing)| Here { hash: hash(text), sharing });
    Sides { here, base: base.map(hash), there, is_believed: true }
}

fn live(text: &str) -> There {
    There::Live(ContentHash::of(text.as_bytes()))
}

/// TS-01, TS-03, T5: the whole table, row by row.
#[test]
fn each_state_of_a_key_has_its_step() {
    let shared = |text| Some((text, Sharing::Shared));
    let private = |text| Some((text, Sharing::Private));
    let merge = |here, base, there| decide(Policy::Merge, &sides(here, base, there));
    let mirror = |here, base, there| decide(Policy::Mirror, &sides(here, base, there));
    assert_eq!(merge(None, None, There::Gone), Step::Leave);
    assert_eq!(merge(None, Some("a"), There::Gone), Step::Forget);
    assert_eq!(merge(None, None, live("a")), Step::Take(Taking::New));
    assert_eq!(merge(None, Some("a"), live("a")), Step::Withdraw(Withdrawing::Deleted));
    assert_eq!(merge(None, Some("a"), live("b")), Step::Take(Taking::Back));
    assert_eq!(merge(shared("a"), None, There::Nothing), Step::Send(Sending::New));
    assert_eq!(merge(shared("b"), Some("a"), There::Gone), Step::Send(Sending::Again));
    assert_eq!(merge(shared("a"), Some("a"), There::Gone), Step::Remove);
    assert_eq!(merge(shared("a"), Some("a"), live("a")), Step::Leave);
    assert_eq!(merge(shared("b"), Some("a"), live("b")), Step::Note);
    assert_eq!(merge(shared("b"), Some("a"), live("a")), Step::Send(Sending::Changed));
    assert_eq!(merge(shared("a"), Some("a"), live("b")), Step::Take(Taking::Changed));
    assert_eq!(merge(shared("b"), Some("a"), live("c")), Step::Combine);
    assert_eq!(merge(shared("b"), None, live("c")), Step::Combine);
    assert_eq!(merge(shared("b"), Some("a"), There::Away), Step::Blocked(Block::Away));
    assert_eq!(merge(shared("a"), Some("a"), There::Away), Step::Leave);
    assert_eq!(merge(None, Some("a"), There::Away), Step::Leave);
    assert_eq!(merge(private("a"), None, live("b")), Step::Blocked(Block::PrivateName));
    assert_eq!(merge(private("a"), None, There::Gone), Step::Leave);
    assert_eq!(merge(private("p"), Some("a"), live("a")), Step::Withdraw(Withdrawing::MadePrivate));
    assert_eq!(merge(private("p"), Some("a"), live("b")), Step::Blocked(Block::ChangedSincePrivate));
    assert_eq!(merge(Some(("a", Sharing::Unfit)), Some("a"), There::Gone), Step::Blocked(Block::Unfit));
    assert_eq!(mirror(shared("b"), Some("a"), live("c")), Step::Take(Taking::Preferred));
    assert_eq!(mirror(shared("b"), Some("a"), live("a")), Step::Send(Sending::Changed));
    assert_eq!(mirror(None, Some("a"), live("a")), Step::Take(Taking::Back), "a deletion does not travel");
    assert_eq!(mirror(shared("a"), Some("a"), There::Gone), Step::Send(Sending::Again));
}

/// UX-14, S22: whatever is here, nothing of a stranger comes in or takes something away.
#[test]
fn ux_14_nothing_of_a_stranger_comes_in() {
    let heres = [None, Some(("a", Sharing::Shared)), Some(("b", Sharing::Shared))];
    for policy in [Policy::Merge, Policy::Mirror] {
        for here in heres {
            for base in [None, Some("a"), Some("b")] {
                for there in [live("c"), There::Gone] {
                    let sides = Sides { is_believed: false, ..sides(here, base, there) };
                    let step = decide(policy, &sides);
                    let is_harmless =
                        matches!(step, Step::Hold | Step::Leave | Step::Forget | Step::Send(_) | Step::Note);
                    assert!(is_harmless, "{here:?} {base:?} {there:?}: {step:?}");
                    let is_overwritten = matches!(step, Step::Send(_)) && matches!(there, There::Live(_));
                    assert!(!is_overwritten, "a version that nobody saw is replaced by nothing");
                }
            }
        }
    }
}

#[test]
fn a_second_version_has_a_name_that_its_text_decides() {
    let key = path(1);
    let text = b"---\nname: memory-1\ndescription: d\n---\n\nours\n".to_vec();
    let nobody = |_: &MemoryPath| None;
    let Combined::Both(copy) = combine(&key, None, &text, b"theirs", nobody) else { panic!("both stay") };
    let digits = &ContentHash::of(&text).to_string()[..6];
    assert_eq!(copy.path.as_str(), format!("memory-1-conflict-{digits}.md"));
    let said = String::from_utf8(copy.text.clone()).unwrap();
    assert_eq!(said, format!("---\nname: memory-1-conflict-{digits}\ndescription: d\n---\n\nours\n"));
    let again = combine(&key, None, &text, b"other", |path| (*path == copy.path).then_some(&copy.text[..]));
    assert_eq!(again, Combined::Both(copy.clone()), "the same text is kept once");
    let other = combine(&key, None, &text, b"other", |path| (*path == copy.path).then_some(&b"taken"[..]));
    let Combined::Both(other) = other else { panic!("both stay") };
    assert_eq!(other.path.stem().len(), copy.path.stem().len() + 1, "a name that is taken is made longer");
    assert!(is_copy(&copy.path) && !is_copy(&key));
    assert_eq!(original("x-conflict-abcdef"), "x");
    assert_eq!(original("x-conflict-of-interest"), "x-conflict-of-interest");
}

#[test]
fn a_long_name_makes_room_for_the_mark() {
    let key = MemoryPath::new(&format!("sub/{}.md", "x".repeat(64))).unwrap();
    let copy = super::conflict::copy(&key, b"text", |_| None);
    assert_eq!(copy.path.stem().len(), 64);
    assert!(copy.path.as_str().starts_with("sub/x") && is_copy(&copy.path));
}
