//! How much documentation a project deserves: seed, sapling or tree.
//!
//! An idea needs a README and nothing else; what people use needs rules for whoever works on it and a status; what is
//! kept for long needs its architecture written down. [`Verdict::of`] reads the tier out of [`Signals`] and says why; the
//! user's word overrules it. Too little is listed as missing, too much is only a note: nobody is told to delete.

use crate::memory::words::words;
use crate::status::STATUS;
use crate::text::count;

words! {
    /// How far a project has grown.
    DocTier, "tier" {
        /// An idea: README.md only.
        Seed = "seed",
        /// Deployed or in real use: CLAUDE.md and STATUS.md too.
        Sapling = "sapling",
        /// Here to stay: docs/architecture.md too.
        Tree = "tree",
    }
}

/// The folder that ideas are kept in.
pub const IDEAS: &str = "_ideas";
/// The documents that tiers ask for, in the order of the tiers. AGENTS.md does where others read it.
pub const DOCUMENTS: [&str; 4] = ["README.md", "CLAUDE.md", "STATUS.md", "docs/architecture.md"];

/// Real use: as many commits, sessions of work, or days with at least a few commits.
const USED_COMMITS: usize = 20;
const USED_SESSIONS: usize = 3;
const USED_DAYS: i64 = 14;
const FEW_COMMITS: usize = 5;
/// Here to stay: as many days together with as many commits; fewer of the one ask for more of the other.
const LONG_DAYS: i64 = 90;
const LONG_COMMITS: usize = 100;
const YEAR: i64 = 365;
const YEAR_COMMITS: usize = 30;
const LONG_RELEASES: usize = 3;

/// What can be seen of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signals {
    /// Whether it lies below a folder for ideas.
    pub is_idea: bool,
    /// How many commits it has.
    pub n_commits: usize,
    /// How many days lie between its first commit and its last.
    pub n_days: i64,
    /// How many releases are tagged.
    pub n_releases: usize,
    /// A file that says that it is deployed or published.
    pub deployed_by: Option<String>,
    /// How many sessions the journal has.
    pub n_sessions: usize,
    /// The documents that there are, of [`DOCUMENTS`].
    pub documents: Vec<&'static str>,
}

/// How far a project has grown, and what follows for its documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The tier.
    pub tier: DocTier,
    /// Why.
    pub because: String,
    /// Whether the user said so.
    pub is_locked: bool,
    /// Documents that the tier asks for and that are not there.
    pub missing: Vec<&'static str>,
    /// What is more than the tier asks for: worth a thought, no fault.
    pub notes: Vec<String>,
}

impl DocTier {
    /// Returns the documents that it asks for.
    pub fn documents(self) -> &'static [&'static str] {
        match self {
            Self::Seed => &DOCUMENTS[..1],
            Self::Sapling => &DOCUMENTS[..3],
            Self::Tree => &DOCUMENTS,
        }
    }
}

impl Verdict {
    /// Tells the tier by the signals, or by the user's word.
    pub fn of(signals: &Signals, word: Option<DocTier>) -> Self {
        let (tier, because) = match word {
            Some(tier) => (tier, "you said so".to_owned()),
            None => read(signals),
        };
        let has = |document: &&'static str| signals.documents.contains(document);
        let missing = tier.documents().iter().copied().filter(|document| !has(document)).collect();
        // A status is what every wrap keeps; only for a mere idea it is too much.
        let is_fair = |document: &str| document == STATUS && !signals.is_idea;
        let extra = DOCUMENTS.iter().copied().filter(|document| !tier.documents().contains(document));
        let extra = extra.filter(|document| has(document) && !is_fair(document));
        let note = |document| format!("{document} is more than a {tier} needs");
        Self { tier, because, is_locked: word.is_some(), missing, notes: extra.map(note).collect() }
    }
}

fn read(signals: &Signals) -> (DocTier, String) {
    if let Some(why) = stays(signals) {
        return (DocTier::Tree, why);
    }
    if let Some(file) = &signals.deployed_by {
        return (DocTier::Sapling, format!("{file} says that it is deployed"));
    }
    if signals.is_idea {
        return (DocTier::Seed, format!("it lies in {IDEAS}/"));
    }
    match is_used(signals) {
        Some(why) => (DocTier::Sapling, why),
        None => (DocTier::Seed, "nothing says that it is in use yet".to_owned()),
    }
}

fn stays(signals: &Signals) -> Option<String> {
    let Signals { n_commits, n_days, n_releases, .. } = *signals;
    let long =
        n_days >= LONG_DAYS && n_commits >= LONG_COMMITS || n_days >= YEAR && n_commits >= YEAR_COMMITS;
    let released = n_releases >= LONG_RELEASES && n_days >= LONG_DAYS;
    let commits = || count(n_commits, "commit", "commits");
    if long {
        return Some(format!("{} over {n_days} days", commits()));
    }
    released.then(|| format!("{} over {n_days} days", count(n_releases, "release", "releases")))
}

fn is_used(signals: &Signals) -> Option<String> {
    let Signals { n_commits, n_days, n_releases, n_sessions, .. } = *signals;
    if n_releases > 0 {
        return Some(format!("{} tagged", count(n_releases, "release is", "releases are")));
    }
    if n_commits >= USED_COMMITS || n_days >= USED_DAYS && n_commits >= FEW_COMMITS {
        return Some(format!("{} over {}", count(n_commits, "commit", "commits"), count_days(n_days)));
    }
    (n_sessions >= USED_SESSIONS).then(|| format!("{} of work", count(n_sessions, "session", "sessions")))
}

fn count_days(n_days: i64) -> String {
    let n = usize::try_from(n_days).unwrap_or(0);
    if n == 0 { "one day".to_owned() } else { count(n, "day", "days") }
}

/// Says which file of a project tells that it is deployed or published, given the names in its root and in
/// `.github/workflows/`.
pub fn deployed_by<'n>(
    root: impl IntoIterator<Item = &'n str>,
    workflows: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    const FILES: [&str; 16] = [
        "Dockerfile",
        "docker-compose.yml",
        "docker-compose.yaml",
        "compose.yml",
        "compose.yaml",
        "fly.toml",
        "vercel.json",
        "netlify.toml",
        "render.yaml",
        "railway.json",
        "Procfile",
        "app.yaml",
        "wrangler.toml",
        "firebase.json",
        "serverless.yml",
        "CNAME",
    ];
    let mut named: Vec<&str> = root.into_iter().filter(|name| FILES.contains(name)).collect();
    named.sort_unstable();
    let deploys = |name: &&str| {
        ["deploy", "release", "publish"].iter().any(|word| name.to_ascii_lowercase().contains(word))
    };
    let mut flows: Vec<&str> = workflows.into_iter().filter(deploys).collect();
    flows.sort_unstable();
    let flow = || flows.first().map(|name| format!(".github/workflows/{name}"));
    named.first().map(|name| (*name).to_owned()).or_else(flow)
}

/// Says whether a tag names a release: a version, perhaps behind a word.
pub fn is_release(tag: &str) -> bool {
    let version =
        tag.rsplit(['/', '-', '@']).find(|part| part.starts_with(|c: char| c.is_ascii_digit() || c == 'v'));
    version.is_some_and(|version| {
        let version = version.trim_start_matches('v');
        version.contains('.')
            && version.split('.').take(2).all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(change: impl FnOnce(&mut Signals)) -> Verdict {
        let mut signals = Signals { documents: vec!["README.md"], ..Signals::default() };
        change(&mut signals);
        Verdict::of(&signals, None)
    }

    /// DT-01.
    #[test]
    fn an_idea_is_a_seed_and_misses_nothing() {
        let seed = verdict(|signals| {
            signals.is_idea = true;
            signals.n_commits = 40;
        });
        assert_eq!((seed.tier, seed.missing.len(), seed.notes.len()), (DocTier::Seed, 0, 0));
        assert_eq!(seed.because, "it lies in _ideas/");
        assert_eq!(verdict(|_| ()).tier, DocTier::Seed);
        assert_eq!(verdict(|signals| signals.documents.clear()).missing, ["README.md"]);
    }

    /// DT-02.
    #[test]
    fn a_deployment_or_real_use_makes_a_sapling_that_misses_two_documents() {
        let ways: [fn(&mut Signals); 5] = [
            |signals| signals.deployed_by = Some("Dockerfile".to_owned()),
            |signals| signals.n_releases = 1,
            |signals| signals.n_commits = 20,
            |signals| (signals.n_commits, signals.n_days) = (5, 14),
            |signals| signals.n_sessions = 3,
        ];
        for way in ways {
            let sapling = verdict(way);
            assert_eq!(
                (sapling.tier, &sapling.missing[..]),
                (DocTier::Sapling, &["CLAUDE.md", "STATUS.md"][..])
            );
            assert!(!sapling.because.is_empty());
        }
        let deployed_idea = verdict(|signals| {
            signals.is_idea = true;
            signals.deployed_by = Some("fly.toml".to_owned());
        });
        assert_eq!(deployed_idea.tier, DocTier::Sapling);
        assert_eq!(verdict(|signals| (signals.n_commits, signals.n_days) = (4, 400)).tier, DocTier::Seed);
    }

    /// DT-03.
    #[test]
    fn what_is_here_to_stay_is_a_tree_that_misses_its_architecture_too() {
        let tree = verdict(|signals| (signals.n_commits, signals.n_days) = (100, 90));
        assert_eq!(tree.tier, DocTier::Tree);
        assert_eq!(tree.missing, ["CLAUDE.md", "STATUS.md", "docs/architecture.md"]);
        assert_eq!(tree.because, "100 commits over 90 days");
        assert_eq!(verdict(|signals| (signals.n_commits, signals.n_days) = (30, 365)).tier, DocTier::Tree);
        assert_eq!(verdict(|signals| (signals.n_releases, signals.n_days) = (3, 90)).tier, DocTier::Tree);
        assert_eq!(verdict(|signals| (signals.n_commits, signals.n_days) = (99, 89)).tier, DocTier::Sapling);
    }

    /// DT-02: the user's word counts more than any sign.
    #[test]
    fn the_user_overrules_the_signs() {
        let signals = Signals { n_commits: 500, n_days: 900, ..Signals::default() };
        let verdict = Verdict::of(&signals, Some(DocTier::Seed));
        assert_eq!(
            (verdict.tier, verdict.is_locked, &verdict.because[..]),
            (DocTier::Seed, true, "you said so")
        );
        assert_eq!(verdict.missing, ["README.md"]);
    }

    /// DT-05.
    #[test]
    fn more_than_a_seed_needs_is_a_note_and_nothing_is_missing() {
        let seed = verdict(|signals| {
            signals.is_idea = true;
            signals.documents = vec!["README.md", "CLAUDE.md"];
        });
        assert_eq!(seed.notes, ["CLAUDE.md is more than a seed needs"]);
        assert!(seed.missing.is_empty());
        let wrapped = |is_idea| {
            let documents = vec!["README.md", "STATUS.md"];
            verdict(|signals| (signals.is_idea, signals.documents) = (is_idea, documents)).notes.len()
        };
        assert_eq!((wrapped(false), wrapped(true)), (0, 1), "a wrap writes a status, but not for an idea");
    }

    #[test]
    fn files_of_a_deployment_and_tags_of_releases_are_known() {
        assert_eq!(deployed_by(["README.md", "fly.toml", "Dockerfile"], []).as_deref(), Some("Dockerfile"));
        assert_eq!(
            deployed_by(["src"], ["ci.yml", "Deploy.yml"]).as_deref(),
            Some(".github/workflows/Deploy.yml")
        );
        assert_eq!(deployed_by(["src"], ["ci.yml"]), None);
        for (tag, is_one) in [
            ("v1.0.0", true),
            ("1.2", true),
            ("app-v2.0", true),
            ("pkg@1.2.3", true),
            ("release/2026.04", true),
            ("v1", false),
            ("backup", false),
            ("before-2026", false),
            ("v", false),
        ] {
            assert_eq!(is_release(tag), is_one, "{tag}");
        }
    }
}
