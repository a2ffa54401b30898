//! A client in this process: the functions behind the commands, and a connection that can be cut anywhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use memdir_core::change::{Author, ChangeSet, Edit as Change, Exit, Surface};
use memdir_core::memory::{MemoryPath, Provenance};
use memdir_core::team::reconcile::Policy;
use memdir_core::team::wire::ProjectName;
use memdir_net::team::{Account, Server};
use memdir_net::{Base, Variables};
use memdir_store::gate::Gate;
use memdir_store::keys::Secret;
use memdir_store::place::{Environment, Place, locate};
use memdir_store::team::{
    About, Ask, Changes, Folder, Opening, Outcome, Progress, Pushed, Remote, RemoteError, Report, SyncError,
    Syncing, Traffic, Wanted, Write, run,
};
use memdir_store::vault::Vault;
use memdir_testkit::{Database, Random, TeamServer, Tree};

use crate::model::{Client, Edit, Heard, Texts};
use crate::world::{git, memories};

/// Under which id all of them share.
const PROJECT: &str = "shop";

/// Where clients of this process meet.
#[derive(Clone)]
pub(crate) enum Meeting {
    /// A directory.
    Directory,
    /// `.memdir/team` of a repository that everybody has a clone of.
    Repository,
    /// A project on a server.
    Server(Arc<Seats>, ProjectName),
}

/// A server with a member for each client.
pub(crate) struct Seats {
    members: Vec<(About, Secret)>,
    /// Killed when the last game is over.
    _server: TeamServer,
}

impl Seats {
    /// Starts a server that keeps its team in `database`, and lets `n` members in.
    pub(crate) fn new(n: usize, database: Database) -> Self {
        let setup = TeamServer::prepare(env!("CARGO_BIN_EXE_memdir")).database(database);
        let server = setup.options(&["--rate", "100000", "--burst", "100000"]).start();
        let admin = server.admin();
        let base = Base::parse(&server.url()).unwrap();
        let seat = |n: usize| {
            let token = Secret::new(&server.add(&admin, &format!("client-{n}"), "write").token).unwrap();
            (Account::recognise(&base, token.clone(), &Variables::default()).unwrap(), token)
        };
        Self { members: (0..n).map(seat).collect(), _server: server }
    }

    fn open(&self, n: usize, project: &ProjectName) -> Server {
        let (about, token) = &self.members[n];
        Server::open(about, project.clone(), token.clone(), &Variables::default()).unwrap()
    }
}

/// One machine.
pub(crate) struct Inside {
    /// Which of them it is.
    n: usize,
    meeting: Meeting,
    share: PathBuf,
    home: PathBuf,
    clone: PathBuf,
    env: Environment,
    place: Place,
    vault: Vault,
    gate: Gate,
    now: Timestamp,
}

impl Inside {
    /// A machine below `root`, which all of them see, whose clock says `now`.
    pub(crate) fn new(root: &Path, n: usize, meeting: Meeting, now: Timestamp) -> Self {
        let own = root.join(format!("client-{n}"));
        let (home, clone, share) = (own.join("state"), own.join("work"), root.join("share"));
        for dir in [&own, &home, &share] {
            fs::create_dir_all(dir).unwrap();
            fs::set_permissions(dir, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        }
        if matches!(meeting, Meeting::Repository) {
            git(&own, &["clone", "-q", root.join("origin.git").to_str().unwrap(), "work"]);
            git(&clone, &["config", "user.email", &format!("client-{n}@shop.example")]);
            git(&clone, &["config", "user.name", "client"]);
        } else {
            fs::create_dir_all(&clone).unwrap();
        }
        let path = std::env::var_os("PATH");
        let env = Environment::from_vars(clone.clone(), |name| match name {
            "HOME" => Some(own.clone().into()),
            "MEMDIR_HOME" => Some(home.clone().into()),
            "PATH" => path.clone(),
            _ => None,
        });
        let place = locate(&env).unwrap();
        let vault = Vault::create(&home, PROJECT, &own.join("vault")).unwrap();
        Self { n, meeting, share, home, clone, env, place, vault, gate: Gate::default(), now }
    }

    /// Brings both sides together; `left` says after how many calls the connection breaks, and how much of the last is done.
    pub(crate) fn sync_through(&self, left: Option<(usize, usize)>) -> Result<Report, SyncError> {
        let Self { place, env, gate, now, .. } = self;
        let opening = Opening { place, project: PROJECT, env, gate, now: *now };
        let other: Box<dyn Remote + '_> = match &self.meeting {
            Meeting::Directory => Box::new(Folder::of_directory(opening, &self.share)?),
            Meeting::Repository => Box::new(Folder::of_repository(opening)?),
            Meeting::Server(seats, project) => Box::new(seats.open(self.n, project)),
        };
        let believes = |_: Option<&str>| true;
        let syncing =
            Syncing { vault: &self.vault, gate, now: *now, policy: Policy::Merge, believes: &believes };
        run(&syncing, &mut Cut { other, left }, &mut |_| {})
    }

    /// Proposes a change as a command does.
    pub(crate) fn commit(&self, edit: Change) -> bool {
        let set = ChangeSet {
            author: Author::Import,
            by: Surface::Cli,
            provenance: Provenance::Import,
            reason: "a game".to_owned(),
            session: None,
            force: None,
            edits: vec![edit],
        };
        self.vault.writer(self.now, &self.gate).and_then(|mut writer| writer.commit(&set)).is_ok()
    }

    /// Writes past memdir, as an editor does.
    fn write(&self, edit: &Edit) {
        let at = |file: &str| self.vault.path().join(file);
        match edit {
            Edit::Create { file, text } | Edit::Replace { file, text, .. } => {
                fs::write(at(file), text).unwrap()
            }
            Edit::Remove { file, .. } => fs::remove_file(at(file)).unwrap(),
            Edit::Rename { from, to, text, .. } => {
                fs::write(at(to), text).unwrap();
                fs::remove_file(at(from)).unwrap();
            }
        }
    }

    fn pull(&self) {
        if matches!(self.meeting, Meeting::Repository) {
            git(&self.clone, &["pull", "-q", "--ff-only", "origin", "main"]);
        }
    }

    fn push(&self) {
        if matches!(self.meeting, Meeting::Repository) {
            git(&self.clone, &["add", "-A"]);
            git(&self.clone, &["commit", "-q", "--allow-empty", "-m", "memories"]);
            git(&self.clone, &["push", "-q", "origin", "HEAD:main"]);
        }
    }
}

impl Client for Inside {
    fn texts(&self) -> Texts {
        let tree = memories(self.vault.path());
        let text = |path: &str| String::from_utf8(tree.get(path).unwrap().to_vec()).unwrap();
        tree.paths().map(|path| (path.to_owned(), text(path))).collect()
    }

    fn edit(&mut self, edit: &Edit, random: &mut Random) -> Heard {
        if random.one_in(4) {
            self.write(edit);
            return Heard::Disk;
        }
        let path = |file: &str| MemoryPath::new(file).unwrap();
        let bytes = |text: &str| text.as_bytes().to_vec();
        let is_committed = self.commit(match edit {
            Edit::Create { file, text } => Change::Create { path: path(file), text: bytes(text) },
            Edit::Replace { file, base, text } => {
                Change::Replace { path: path(file), base: bytes(base), text: bytes(text) }
            }
            Edit::Remove { file, base } => {
                Change::Remove { path: path(file), base: bytes(base), into: Exit::Trash }
            }
            Edit::Rename { from, base, to, text } => {
                Change::Rename { from: path(from), base: bytes(base), to: path(to), text: bytes(text) }
            }
        });
        if is_committed { Heard::Memdir } else { Heard::Nobody }
    }

    fn sync(&mut self, cut: Option<&mut Random>) -> Result<(), String> {
        self.pull();
        let left = cut.map(|random| (random.below(4), random.below(3)));
        let synced = self.sync_through(left);
        self.push();
        match synced {
            _ if left.is_some() => Ok(()),
            Ok(report) if report.is_in_sync() => Ok(()),
            other => Err(format!("not in sync: {other:?}")),
        }
    }

    fn remembers(&self, word: &str) -> bool {
        let kept = ["trash", "conflicts", "archive", "changes"];
        let holds = |area: &str| {
            let of = |id: &str| Tree::of(&self.home.join("projects").join(id).join(area));
            [of(PROJECT), of("shop.team")].iter().any(|tree| !tree.containing(word.as_bytes()).is_empty())
        };
        kept.iter().any(|area| holds(area))
    }
}

/// A connection that breaks off after so many calls, in one of three ways.
struct Cut<'a> {
    other: Box<dyn Remote + 'a>,
    /// After how many calls, and whether nothing, a part or all of the last one is done before.
    left: Option<(usize, usize)>,
}

impl Cut<'_> {
    /// Says how much of this call is done, if it is the last one.
    fn breaks(&mut self) -> Option<usize> {
        let (n_calls, how) = self.left.as_mut()?;
        if *n_calls == 0 {
            return Some(*how);
        }
        *n_calls -= 1;
        None
    }
}

fn cut() -> RemoteError {
    RemoteError::Unreachable { label: "the other side".to_owned(), why: "cut".to_owned() }
}

impl Remote for Cut<'_> {
    fn about(&self) -> &About {
        self.other.about()
    }

    fn changes(&mut self, ask: &Ask<'_>, tell: &mut dyn FnMut(Progress)) -> Result<Changes, RemoteError> {
        if self.breaks().is_some() { Err(cut()) } else { self.other.changes(ask, tell) }
    }

    fn texts(
        &mut self,
        wanted: &[Wanted],
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Option<Vec<u8>>>, RemoteError> {
        if self.breaks().is_some() { Err(cut()) } else { self.other.texts(wanted, tell) }
    }

    fn push(&mut self, writes: &[Write], tell: &mut dyn FnMut(Progress)) -> Pushed {
        let Some(how) = self.breaks() else { return self.other.push(writes, tell) };
        let n_done = [0, writes.len() / 2, writes.len()][how];
        self.other.push(&writes[..n_done], tell);
        // What was done is done, but nobody heard of it.
        Pushed { outcomes: vec![Outcome::Unknown; writes.len()], cursor: None, cut: Some(cut()) }
    }

    fn erase(&mut self, paths: &[MemoryPath]) -> Pushed {
        self.other.erase(paths)
    }

    fn traffic(&self) -> Traffic {
        self.other.traffic()
    }
}
