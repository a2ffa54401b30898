//! A real PostgreSQL of a test's own, in a temporary directory, reached by a socket in it.
//!
//! Its programs are those of `MEMDIR_TEST_POSTGRES`, a directory, or else of the newest version that Debian's packages left.
//! Where there are none the test fails: a storage that was not tried is not known to work. What takes a second, making a
//! cluster, is done once and copied from then on. It refuses to run as root, so root becomes the user `postgres` for it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long it may take to start or to stop before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running PostgreSQL with the database `memdir`, which belongs to the role `memdir`, who may do nothing else. The role
/// `postgres` may do everything.
pub struct Postgres {
    dir: TempDir,
    programs: PathBuf,
    options: Vec<String>,
    port: u16,
    process: Option<Child>,
}

impl Postgres {
    /// Starts one.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts one with settings like `ssl=on`.
    pub fn start_with(settings: &[&str]) -> Self {
        let programs = programs();
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let template = template(&programs);
        run(Command::new("cp").arg("-a").arg(&template).arg(dir.path().join("data")));
        let sockets = dir.path().join("sockets");
        fs::create_dir(&sockets).unwrap();
        if is_root() {
            run(Command::new("chown").arg("postgres:").arg(&sockets));
        }
        let options = settings.iter().flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()]).collect();
        let port = settings.iter().find_map(|setting| setting.strip_prefix("port=")?.parse().ok());
        let mut postgres = Self { dir, programs, options, port: port.unwrap_or(5432), process: None };
        postgres.resume();
        postgres
    }

    /// Starts it again after it was killed.
    pub fn resume(&mut self) {
        let log = fs::File::options().create(true).append(true).open(self.dir.path().join("log")).unwrap();
        let mut command = as_owner(&self.programs.join("postgres"));
        command.arg("-D").arg(self.data()).arg("-k").arg(self.sockets());
        command.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB"]);
        command.args(["-c", "max_connections=60"]).args(&self.options);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.process = Some(command.spawn().unwrap());
        let since = Instant::now();
        while !self.answers() {
            let is_gone = self.process.as_mut().is_some_and(|process| process.try_wait().unwrap().is_some());
            assert!(!is_gone && since.elapsed() < PATIENCE, "PostgreSQL did not start:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it as a power cut would: no connection is told, nothing is put in order.
    pub fn kill(&mut self) {
        self.signal("QUIT");
    }

    /// Returns its address, for the role `memdir`.
    pub fn address(&self) -> String {
        self.address_of("memdir", "memdir")
    }

    /// Returns the address of a database, for a role.
    pub fn address_of(&self, role: &str, database: &str) -> String {
        let sockets = self.sockets().display().to_string().replace('/', "%2F");
        format!("postgres://{role}@{sockets}:{}/{database}", self.port)
    }

    /// Lets the role `postgres` run statements in the database `memdir`, and returns what they print.
    pub fn sql(&self, statements: &str) -> String {
        let mut command = Command::new(self.programs.join("psql"));
        command.arg("-h").arg(self.sockets()).arg("-p").arg(self.port.to_string());
        command.args(["-U", "postgres", "-d", "memdir", "-v", "ON_ERROR_STOP=1"]);
        let output = command.args(["-X", "-q", "-A", "-t", "-c", statements]).output().unwrap();
        assert!(output.status.success(), "{statements}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Returns the directory of its files.
    pub fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Returns what it logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    fn sockets(&self) -> PathBuf {
        self.dir.path().join("sockets")
    }

    fn answers(&self) -> bool {
        let mut command = Command::new(self.programs.join("pg_isready"));
        command.arg("-q").arg("-h").arg(self.sockets()).arg("-p").arg(self.port.to_string());
        command.status().is_ok_and(|status| status.success())
    }

    fn signal(&mut self, name: &str) {
        let Some(mut process) = self.process.take() else { return };
        run(Command::new("kill").arg(format!("-{name}")).arg(process.id().to_string()));
        process.wait().unwrap();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.signal("QUIT");
    }
}

/// Finds the programs of PostgreSQL.
fn programs() -> PathBuf {
    if let Some(named) = std::env::var_os("MEMDIR_TEST_POSTGRES") {
        return PathBuf::from(named);
    }
    let found = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let version = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let newest = found.map(|entry| entry.path()).max_by_key(version);
    let programs = newest.map(|path| path.join("bin")).filter(|bin| bin.join("initdb").exists());
    programs.expect("there is no PostgreSQL here: install Debian's package `postgresql`, or name the directory of its programs with MEMDIR_TEST_POSTGRES")
}

/// Returns a cluster that was never started, made once for these programs and kept beside the tests' own programs. Who comes
/// while it is made makes one too; the first to finish puts its own in place.
fn template(programs: &Path) -> PathBuf {
    let mark = memdir_core::hash::ContentHash::of(programs.as_os_str().as_encoded_bytes()).short();
    let tests = std::env::current_exe().unwrap();
    let template = tests.parent().unwrap().join(format!("postgres-{mark}"));
    if template.exists() {
        return template;
    }
    let making = tempfile::tempdir().unwrap();
    fs::set_permissions(making.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let data = making.path().join("data");
    let mut command = as_owner(&programs.join("initdb"));
    command.arg("-D").arg(&data).args(["-U", "postgres", "--auth=trust", "--no-sync", "--wal-segsize=1"]);
    run(command.args(["--encoding=UTF8", "--locale=C"]).stdout(Stdio::null()));
    let mut command = as_owner(Path::new("sh"));
    let statements = "printf 'CREATE ROLE memdir LOGIN\\nCREATE DATABASE memdir OWNER memdir\\n'";
    let single =
        format!("{statements} | {}/postgres --single -D {} postgres", programs.display(), data.display());
    run(command.arg("-c").arg(single).stdout(Stdio::null()).stderr(Stdio::null()));
    let beside = tempfile::tempdir_in(tests.parent().unwrap()).unwrap();
    run(Command::new("cp").arg("-a").arg(&data).arg(beside.path()));
    // Another test may have been faster; then its cluster is as good.
    let _ = fs::rename(beside.path().join("data"), &template);
    assert!(template.exists(), "{} could not be made", template.display());
    template
}

/// A command of whoever owns the cluster.
fn as_owner(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|itself| itself.uid() == 0)
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|err| panic!("{command:?}: {err}"));
    assert!(status.success(), "{command:?}: {status}");
}
