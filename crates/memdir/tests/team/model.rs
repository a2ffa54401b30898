//! Several clients that edit, delete, rename and sync in any order, and what must hold whatever they do.
//!
//! Every edit brings a word that nobody said before. In the end all trees are equal, every word that nobody took away is in
//! them, and every word that was ever acknowledged is in them or in somebody's history. A [`Client`] is one machine, in
//! this process or by the real binary; where the clients meet is its own affair. Look at [`play`] first.

use std::collections::{BTreeMap, BTreeSet};

use memdir_testkit::Random;

/// How often all sync in the end. Three rounds carry everything everywhere; one more must have nothing to do.
const LAST_ROUNDS: usize = 4;

/// File name to text, of the memories of a team.
pub(crate) type Texts = BTreeMap<String, String>;

/// One machine.
pub(crate) trait Client {
    /// The memories it has.
    fn texts(&self) -> Texts;
    /// Carries out an edit.
    fn edit(&mut self, edit: &Edit, random: &mut Random) -> Heard;
    /// Brings both sides together, or is cut off somewhere on the way. Says what went wrong that should not.
    fn sync(&mut self, cut: Option<&mut Random>) -> Result<(), String>;
    /// Says whether a word is in anything that the machine has, history included.
    fn remembers(&self, word: &str) -> bool;
}

/// Who heard of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Memdir, which acknowledged it.
    Memdir,
    /// The disk: a program wrote it, and may write again before memdir looks.
    Disk,
    /// Nobody; it may have been carried out all the same.
    Nobody,
}

/// What a user does to a memory.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Create { file: String, text: String },
    Replace { file: String, base: String, text: String },
    Remove { file: String, base: String },
    Rename { from: String, base: String, to: String, text: String },
}

/// How long a game is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Game {
    pub(crate) seed: u64,
    pub(crate) n_steps: usize,
}

/// Plays one seed to its end.
pub(crate) fn play(game: Game, clients: &mut [Box<dyn Client + '_>]) -> Result<(), String> {
    let mut story = Vec::new();
    let played = play_steps(game, clients, &mut story);
    played.map_err(|problem| format!("seed {}: {problem}\n{}", game.seed, story.join("\n")))
}

fn play_steps(
    game: Game,
    clients: &mut [Box<dyn Client + '_>],
    story: &mut Vec<String>,
) -> Result<(), String> {
    let mut random = Random::new(game.seed);
    let mut talk = Words::default();
    for n in 0..game.n_steps {
        let who = random.below(clients.len());
        let client = &mut clients[who];
        if random.one_in(4) {
            let is_cut = random.one_in(3);
            story.push(format!("{n}: {who} syncs{}", if is_cut { ", cut off" } else { "" }));
            client.sync(is_cut.then_some(&mut random))?;
            continue;
        }
        let texts = client.texts();
        let Some(edit) = think(&texts, &format!("w-{n}-{who}x"), &mut random) else { continue };
        story.push(format!("{n}: {who} {edit:?}"));
        let heard = client.edit(&edit, &mut random);
        talk.take(&edit, &texts, &client.texts(), heard);
    }
    for _ in 0..LAST_ROUNDS {
        clients.iter_mut().try_for_each(|client| client.sync(None))?;
    }
    talk.judge(clients)
}

/// The words of a game.
#[derive(Debug, Default)]
struct Words {
    said: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
    /// Taken away by somebody who saw them.
    dropped: BTreeSet<String>,
}

impl Words {
    /// Takes in what an edit brought and took away. A word may stand in two memories, of which two people take one each.
    fn take(&mut self, edit: &Edit, before: &Texts, after: &Texts, heard: Heard) {
        let (was, is) = match edit {
            Edit::Create { file, .. } | Edit::Replace { file, .. } | Edit::Remove { file, .. } => {
                (file, file)
            }
            Edit::Rename { from, to, .. } => (from, to),
        };
        let of = |texts: &Texts, file: &String| texts.get(file).map(|text| words(text)).unwrap_or_default();
        self.dropped.extend(of(before, was).difference(&of(after, is)).cloned());
        let (before, after) = (all_words(before), all_words(after));
        if heard != Heard::Nobody {
            self.said.extend(after.difference(&before).cloned());
        }
        if heard == Heard::Memdir {
            self.acknowledged.extend(after.difference(&before).cloned());
        }
    }

    /// Says what is wrong in the end.
    fn judge(&self, clients: &[Box<dyn Client + '_>]) -> Result<(), String> {
        let texts = clients[0].texts();
        for (n, client) in clients.iter().enumerate().skip(1) {
            let other = client.texts();
            if other != texts {
                return Err(format!("client {n} has\n{other:#?}\nand client 0 has\n{texts:#?}"));
            }
        }
        let live = all_words(&texts);
        if let Some(word) =
            self.said.iter().find(|word| !live.contains(*word) && !self.dropped.contains(*word))
        {
            return Err(format!("{word} is in no tree, and nobody took it away:\n{texts:#?}"));
        }
        let is_kept =
            |word: &String| live.contains(word) || clients.iter().any(|client| client.remembers(word));
        let lost = self.acknowledged.iter().find(|word| !is_kept(word));
        lost.map_or(Ok(()), |word| Err(format!("{word} was acknowledged and is nowhere")))
    }
}

fn all_words(texts: &Texts) -> BTreeSet<String> {
    texts.values().flat_map(|text| words(text)).collect()
}

/// Decides what a user does next; `None` if it cannot be done.
fn think(texts: &Texts, word: &str, random: &mut Random) -> Option<Edit> {
    let files: Vec<&String> = texts.keys().collect();
    if files.is_empty() || random.below(10) < 3 {
        let file = format!("memory-{}.md", random.below(6));
        let text = text_of(&file, &[format!("first {word}"), "middle".to_owned(), "last".to_owned()]);
        return (!texts.contains_key(&file)).then_some(Edit::Create { file, text });
    }
    let file = (*random.pick(&files)).clone();
    let base = texts[&file].clone();
    match random.below(8) {
        0 => Some(Edit::Remove { file, base }),
        1 => {
            let to = format!("memory-{}.md", 6 + random.below(6));
            let text = base.replace(file.trim_end_matches(".md"), to.trim_end_matches(".md"));
            (!texts.contains_key(&to)).then_some(Edit::Rename { from: file, base, to, text })
        }
        _ => {
            let (head, body) = base.split_once("\n\n")?;
            let mut lines: Vec<String> = body.lines().map(str::to_owned).collect();
            let at = random.below(lines.len() + 1);
            if random.one_in(2) || at == lines.len() {
                lines.insert(at, format!("added {word}"));
            } else {
                lines[at] = format!("changed {word}");
            }
            let text = format!("{head}\n\n{}\n", lines.join("\n"));
            Some(Edit::Replace { file, base, text })
        }
    }
}

/// A memory of the team.
fn text_of(file: &str, lines: &[String]) -> String {
    let name = file.trim_end_matches(".md");
    format!(
        "---\nname: {name}\ndescription: about {name}\ntype: project\nmetadata:\n  scope: team\n---\n\n{}\n",
        lines.join("\n")
    )
}

/// The words that somebody said in a text.
fn words(text: &str) -> BTreeSet<String> {
    text.split_whitespace().filter(|word| word.starts_with("w-")).map(str::to_owned).collect()
}
