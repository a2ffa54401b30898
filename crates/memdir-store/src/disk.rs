//! Files below a directory handle: read without following links, written whole or not at all.
//!
//! Every path that comes from a memory, a teammate or a repository is opened here, component by component below an
//! open directory, never by a joined string: a symlink anywhere on the way is an error, and a directory that is
//! swapped for a link between check and use changes nothing. Only regular files are read, without blocking on a
//! FIFO. [`Dir`] is the handle; [`Staged`] is a file that is durable but not yet visible.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memdir_core::hash::to_hex;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, RenameFlags};
use rustix::io::Errno;

/// Begins the name of every temporary file; readers skip it, the next writer sweeps it.
pub const TEMP_PREFIX: &str = ".memdir-tmp-";
/// What we create is for its owner only, whatever the umask.
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);
const DIR_MODE: Mode = Mode::from_raw_mode(0o700);

/// An open directory.
#[derive(Debug, Clone)]
pub struct Dir {
    fd: Arc<OwnedFd>,
    path: PathBuf,
}

/// What `lstat` says about a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Whether it is a regular file.
    pub is_file: bool,
    /// Size in bytes.
    pub size: u64,
    /// Inode number.
    pub inode: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Permission bits.
    pub mode: u32,
    /// How many names the file has.
    pub links: u64,
    /// Who owns it.
    pub owner: u32,
}

impl From<rustix::fs::Stat> for Stat {
    fn from(stat: rustix::fs::Stat) -> Self {
        Self {
            is_file: rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file(),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            inode: stat.st_ino,
            mtime_ns: stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64),
            mode: stat.st_mode & 0o7777,
            links: stat.st_nlink,
            owner: stat.st_uid,
        }
    }
}

/// What a directory holds under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A link, device, socket or FIFO: never opened.
    Other,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is a link, a device, a FIFO or a directory.
    #[error("not a regular file")]
    NotAFile,
    /// It is larger than the reader allows.
    #[error("{size} bytes is more than the limit of {limit}")]
    TooLarge { size: u64, limit: u64 },
    /// The file system said no.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Dir {
    /// Opens the directory at `path`, which the user or we chose; only its last component must not be a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let fd = rustix::fs::open(path, DIR_FLAGS, Mode::empty())?;
        Ok(Self { fd: Arc::new(fd), path: path.to_owned() })
    }

    /// Opens the directory at `path`, creating it and its parents (mode 0700) where they are missing.
    pub fn ensure(path: &Path) -> io::Result<Self> {
        match Self::open(path) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let parent = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let parent = Self::ensure(parent)?;
        parent.make_dir(name)?;
        Self::open(path)
    }

    /// Returns where the directory was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the sub-directory `name`.
    pub fn sub(&self, name: &str) -> io::Result<Self> {
        let fd = rustix::fs::openat(&*self.fd, name, DIR_FLAGS, Mode::empty())?;
        Ok(Self { fd: Arc::new(fd), path: self.path.join(name) })
    }

    /// Opens the sub-directory `name`, creating it (mode 0700, durably) where it is missing.
    pub fn ensure_sub(&self, name: &str) -> io::Result<Self> {
        match self.sub(name) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                self.make_dir(OsStr::new(name))?;
                self.sub(name)
            }
            opened => opened,
        }
    }

    /// Makes a directory and its name durable; one that exists is fine.
    fn make_dir(&self, name: &OsStr) -> io::Result<()> {
        match rustix::fs::mkdirat(&*self.fd, name, DIR_MODE) {
            Ok(()) => self.sync(),
            Err(Errno::EXIST) => Ok(()),
            Err(err) => Err(err.into()),
        }
    }

    /// Opens the folder that holds `path` and returns it with the file's own name. `path` is relative and uses `/`.
    pub fn folder<'p>(&self, path: &'p str) -> io::Result<(Self, &'p str)> {
        let mut folder = self.clone();
        let mut rest = path;
        while let Some((first, tail)) = rest.split_once('/') {
            folder = folder.sub(first)?;
            rest = tail;
        }
        Ok((folder, rest))
    }

    /// Like [`Dir::folder`], making the folders where they are missing.
    pub fn ensure_folder<'p>(&self, path: &'p str) -> io::Result<(Self, &'p str)> {
        let mut folder = self.clone();
        let mut rest = path;
        while let Some((first, tail)) = rest.split_once('/') {
            folder = folder.ensure_sub(first)?;
            rest = tail;
        }
        Ok((folder, rest))
    }

    /// Reads the regular file at `path`; `None` if there is none.
    pub fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
        let Some((mut file, stat)) = self.open_file(path)? else { return Ok(None) };
        if stat.size > limit {
            return Err(ReadError::TooLarge { size: stat.size, limit });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or(0) + 1);
        (&mut file).take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(ReadError::TooLarge { size: bytes.len() as u64, limit });
        }
        Ok(Some(bytes))
    }

    /// Opens the regular file at `path` for reading; `None` if there is none.
    pub fn open_file(&self, path: &str) -> Result<Option<(File, Stat)>, ReadError> {
        if let Some((first, rest)) = path.split_once('/') {
            return match self.sub(first) {
                Ok(folder) => folder.open_file(rest),
                Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(err) => Err(err.into()),
            };
        }
        // Non-blocking, so that a FIFO somebody put there cannot hold us up.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let fd = match rustix::fs::openat(&*self.fd, path, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NXIO | Errno::NODEV) => return Err(ReadError::NotAFile),
            Err(err) => return Err(io::Error::from(err).into()),
        };
        let stat = Stat::from(rustix::fs::fstat(&fd).map_err(io::Error::from)?);
        if !stat.is_file {
            return Err(ReadError::NotAFile);
        }
        Ok(Some((File::from(fd), stat)))
    }

    /// Returns what is known about `name` without following a link; `None` if there is none.
    pub fn stat(&self, name: &str) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&*self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat.into())),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(err.into()),
        }
    }

    /// Returns what is known about the directory itself.
    pub fn stat_self(&self) -> io::Result<Stat> {
        Ok(rustix::fs::fstat(&*self.fd)?.into())
    }

    /// Calls `visit` for each entry, in the order of the file system. Names that are not UTF-8 come lossily.
    pub fn for_each(&self, mut visit: impl FnMut(&str, EntryKind)) -> io::Result<()> {
        self.for_each_inode(|name, kind, _| visit(name, kind))
    }

    /// As [`Dir::for_each`], with the inode that the directory records for each entry.
    pub fn for_each_inode(&self, mut visit: impl FnMut(&str, EntryKind, u64)) -> io::Result<()> {
        // A handle of its own: the position in a directory belongs to the open description.
        let fd = rustix::fs::openat(&*self.fd, ".", DIR_FLAGS, Mode::empty())?;
        let mut buffer = Vec::with_capacity(32 * 1024);
        let mut entries = RawDir::new(fd, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                rustix::fs::FileType::RegularFile => EntryKind::File,
                rustix::fs::FileType::Directory => EntryKind::Dir,
                rustix::fs::FileType::Unknown => self.kind_of(&name)?,
                _ => EntryKind::Other,
            };
            visit(&name, kind, entry.ino());
        }
        Ok(())
    }

    /// Asks for an entry's kind where the directory itself does not record it.
    fn kind_of(&self, name: &str) -> io::Result<EntryKind> {
        let stat = rustix::fs::statat(&*self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let file_type = rustix::fs::FileType::from_raw_mode(stat.st_mode);
        Ok(match file_type {
            rustix::fs::FileType::RegularFile => EntryKind::File,
            rustix::fs::FileType::Directory => EntryKind::Dir,
            _ => EntryKind::Other,
        })
    }

    /// Makes the directory's names durable. A file system that cannot is left at its own, weaker promise.
    pub fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&*self.fd) {
            Err(err) if !CANNOT_SYNC_DIR.contains(&err) => Err(err.into()),
            _ => Ok(()),
        }
    }

    /// Says whether this file system can make a directory's names durable at all.
    pub fn can_sync(&self) -> bool {
        rustix::fs::fsync(&*self.fd).is_ok()
    }

    /// Returns the device that the directory is on.
    pub fn device(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(&*self.fd)?.st_dev)
    }

    /// Says whether two names can be swapped here, as far as can be told without swapping any: a system that
    /// lacks the call says so before it looks for the names.
    pub fn can_exchange(&self) -> bool {
        let names = (".memdir-probe-a", ".memdir-probe-b");
        let asked = rustix::fs::renameat_with(&*self.fd, names.0, &*self.fd, names.1, RenameFlags::EXCHANGE);
        !asked.is_err_and(is_unsupported)
    }

    /// Says whether this file system has locks, by taking a shared one on the directory for a moment.
    pub fn can_lock(&self) -> bool {
        let asked = rustix::fs::flock(&*self.fd, rustix::fs::FlockOperation::NonBlockingLockShared);
        if asked.is_ok() {
            let _ = rustix::fs::flock(&*self.fd, rustix::fs::FlockOperation::Unlock);
        }
        matches!(asked, Ok(()) | Err(Errno::WOULDBLOCK))
    }

    /// Names the network file system that the directory is on, if it is on one that we know.
    #[cfg(target_os = "linux")]
    pub fn network(&self) -> Option<&'static str> {
        match rustix::fs::fstatfs(&*self.fd).ok()?.f_type as u64 & 0xffff_ffff {
            0x6969 => Some("NFS"),
            0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some("SMB"),
            0x0102_1997 => Some("9P"),
            0x00c3_6400 => Some("Ceph"),
            _ => None,
        }
    }

    /// Names the network file system that the directory is on, if it is on one that we know.
    #[cfg(not(target_os = "linux"))]
    pub fn network(&self) -> Option<&'static str> {
        None
    }

    /// Writes `bytes` to a temporary file in this directory and makes them durable.
    ///
    /// A failed fsync is never repeated on the same file, because the kernel may have dropped the dirty pages and
    /// would report success: one new file is tried, then the error stands.
    pub fn stage(&self, bytes: &[u8]) -> io::Result<Staged> {
        let (staged, file) = self.write_temp(bytes)?;
        if file.sync_all().is_ok() {
            return Ok(staged);
        }
        drop((staged, file));
        let (staged, file) = self.write_temp(bytes)?;
        file.sync_all()?;
        Ok(staged)
    }

    fn write_temp(&self, bytes: &[u8]) -> io::Result<(Staged, File)> {
        let staged = Staged { dir: self.clone(), name: temp_name()?, live: true };
        let mut file = self.create(&staged.name, OFlags::WRONLY)?;
        file.write_all(bytes)?;
        Ok((staged, file))
    }

    /// Creates `name`, which must not exist, for its owner only.
    fn create(&self, name: &str, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&*self.fd, name, flags, FILE_MODE)?))
    }

    /// Opens `name` for reading and writing, creating it where it is missing; never through a link.
    pub fn open_or_create(&self, name: &str, append: bool) -> io::Result<File> {
        let access = if append { OFlags::RDWR | OFlags::APPEND } else { OFlags::RDWR };
        let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        loop {
            match rustix::fs::openat(&*self.fd, name, flags, Mode::empty()) {
                Ok(fd) => return Ok(File::from(fd)),
                Err(Errno::NOENT) => {}
                Err(err) => return Err(err.into()),
            }
            match self.create(name, access) {
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created,
            }
        }
    }

    /// Replaces `name` by `bytes`, durably: the old version or the new one stands, whatever happens.
    ///
    /// Whoever sweeps half-written files out of this directory may take ours for one that was left behind; then it is
    /// written once more.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let write = || self.stage(bytes)?.rename_over(self, name);
        let mut written = write();
        for _ in 1..ATTEMPTS {
            match written {
                Err(err) if err.kind() == io::ErrorKind::NotFound => written = write(),
                _ => break,
            }
        }
        written?;
        self.sync()
    }

    /// Replaces `name` in `target` by `bytes` whole, by way of a temporary file here, but without waiting for the
    /// disk: for derived files only.
    pub fn replace_derived(&self, target: &Self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_temp(bytes)?.0.rename_over(target, name)
    }

    /// Renames `from` in this directory to `to` in `target`, replacing what is there.
    pub fn rename(&self, from: &str, target: &Self, to: &str) -> io::Result<()> {
        rename_plain(self, from, target, to)
    }

    /// Removes the file `name`; a missing one is fine.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&*self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(err) => Err(err.into()),
        }
    }

    /// Sets the permissions of `name` (or of the directory itself for `.`) to ours: 0600, or 0700 for a directory.
    pub fn restrict(&self, name: &str) -> io::Result<()> {
        if name == "." {
            return Ok(rustix::fs::fchmod(self.fd.as_fd(), DIR_MODE)?);
        }
        let Some((file, _)) = self.open_file(name).map_err(io::Error::other)? else { return Ok(()) };
        Ok(rustix::fs::fchmod(file.as_fd(), FILE_MODE)?)
    }

    /// Removes what killed writers left half-written here. The caller holds the lock under which files are written here.
    pub fn sweep(&self) {
        let mut left = Vec::new();
        let listed = self.for_each(|name, kind| {
            if kind == EntryKind::File && name.starts_with(TEMP_PREFIX) {
                left.push(name.to_owned());
            }
        });
        if listed.is_ok() {
            // What cannot be removed now is tried again by the next writer.
            left.iter().for_each(|name| drop(self.remove(name)));
        }
    }

    /// Appends `line` and a newline to the ledger `name`. What a crash left of a torn last line is cut off first.
    pub fn append_line(&self, name: &str, line: &str) -> io::Result<()> {
        let mut file = self.open_or_create(name, true)?;
        cut_torn_end(&file)?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}

/// How often a write is begun that somebody swept away.
const ATTEMPTS: usize = 5;
const DIR_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// What file systems answer that have no durable directories.
const CANNOT_SYNC_DIR: [Errno; 3] = [Errno::INVAL, Errno::NOTSUP, Errno::NOSYS];

/// A file that is durable under a temporary name. Dropped before it is published, it is removed.
#[derive(Debug)]
pub struct Staged {
    dir: Dir,
    name: String,
    live: bool,
}

/// What [`Staged::exchange_with`] found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchanged {
    /// The two names were swapped; the temporary name now holds the version that was there.
    Swapped,
    /// This file system cannot swap names; nothing was done.
    Unsupported,
}

impl Staged {
    /// Takes `name` out of `folder`, to a temporary name in `dir`.
    pub fn take_from(dir: &Dir, folder: &Dir, name: &str) -> io::Result<Self> {
        let staged = Self { dir: dir.clone(), name: temp_name()?, live: true };
        rename_plain(folder, name, dir, &staged.name)?;
        Ok(staged)
    }

    /// Gives the file the permissions and, as far as we may, the owner of another, before it is published.
    pub fn set_like(&self, mode: u32, owner: Option<u32>) -> io::Result<()> {
        rustix::fs::chmodat(&*self.dir.fd, &self.name, Mode::from_raw_mode(mode), AtFlags::empty())?;
        if let Some(owner) = owner {
            // Only root may give files away; anybody else's are their own already.
            let owner = Some(rustix::fs::Uid::from_raw(owner));
            let _ = rustix::fs::chownat(&*self.dir.fd, &self.name, owner, None, AtFlags::SYMLINK_NOFOLLOW);
        }
        Ok(())
    }

    /// Publishes the file as `name` in `folder`, replacing what is there.
    pub fn rename_over(mut self, folder: &Dir, name: &str) -> io::Result<()> {
        rename_plain(&self.dir, &self.name, folder, name)?;
        self.live = false;
        Ok(())
    }

    /// Publishes the file as `name` in `folder`, only if nothing is there.
    pub fn rename_new(&mut self, folder: &Dir, name: &str) -> io::Result<()> {
        rename_new(&self.dir, &self.name, folder, name)?;
        self.live = false;
        Ok(())
    }

    /// Publishes the file as `name` in `folder` and keeps what was there under the temporary name.
    pub fn exchange_with(&self, folder: &Dir, name: &str) -> io::Result<Exchanged> {
        match rustix::fs::renameat_with(&*self.dir.fd, &self.name, &*folder.fd, name, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(Exchanged::Swapped),
            Err(err) if is_unsupported(err) => Ok(Exchanged::Unsupported),
            Err(err) => Err(err.into()),
        }
    }

    /// Reads what the temporary name holds.
    pub fn read(&self, limit: u64) -> Result<Vec<u8>, ReadError> {
        let bytes = self.dir.read(&self.name, limit)?;
        bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound).into())
    }

    /// Returns what is known about the file under the temporary name.
    pub fn stat(&self) -> io::Result<Option<Stat>> {
        self.dir.stat(&self.name)
    }

    /// Leaves the file where it is: the next writer decides about it.
    pub fn leave(mut self) {
        self.live = false;
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.live {
            // What cannot be removed now is swept by the next writer.
            let _ = self.dir.remove(&self.name);
        }
    }
}

fn rename_plain(from: &Dir, old: &str, to: &Dir, new: &str) -> io::Result<()> {
    Ok(rustix::fs::renameat(&*from.fd, old, &*to.fd, new)?)
}

/// Renames without replacing; where the file system cannot, a link and an unlink have the same effect.
fn rename_new(from: &Dir, old: &str, to: &Dir, new: &str) -> io::Result<()> {
    match rustix::fs::renameat_with(&*from.fd, old, &*to.fd, new, RenameFlags::NOREPLACE) {
        Err(err) if is_unsupported(err) => {
            rustix::fs::linkat(&*from.fd, old, &*to.fd, new, AtFlags::empty())?;
            from.remove(old)
        }
        result => Ok(result?),
    }
}

/// Says whether a file system answered that it has no such way to rename.
fn is_unsupported(err: Errno) -> bool {
    matches!(err, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)
}

fn temp_name() -> io::Result<String> {
    Ok(format!("{TEMP_PREFIX}{}", random_hex()?))
}

/// Cuts a file back to its last whole line.
fn cut_torn_end(file: &File) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    /// No line of a ledger is longer.
    const MAX_LINE: u64 = 64 * 1024;
    let len = file.metadata()?.len();
    let start = len.saturating_sub(MAX_LINE);
    let mut tail = vec![0; usize::try_from(len - start).unwrap_or(0)];
    file.read_exact_at(&mut tail, start)?;
    let whole = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    if whole < tail.len() {
        file.set_len(start + whole as u64)?;
    }
    Ok(())
}

/// Returns 16 hex digits nobody can guess.
pub fn random_hex() -> io::Result<String> {
    let mut bytes = [0; 8];
    random(&mut bytes)?;
    Ok(to_hex(&bytes))
}

/// Fills `bytes` from the kernel's generator.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(())
}
