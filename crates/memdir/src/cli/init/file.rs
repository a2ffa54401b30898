//! One settings file of somebody else: read through links, written whole, as it was before in everything but its text.
//!
//! Two programs may write such a file at the same moment, and the host does not lock it. So what we write is swapped
//! with what is there, and swapped back if that is not what we read.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use memdir_store::disk::{Dir, Exchanged, Staged};

/// No settings file is larger; Claude Code's grows to a few megabytes.
const MAX_SIZE: u64 = 32 << 20;
/// What the user alone has, and what a project's directory holds.
const PRIVATE: (u32, u32) = (0o600, 0o700);
const SHARED: (u32, u32) = (0o644, 0o755);

/// Why a file is left alone, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    fn io(err: &io::Error) -> Self {
        Self::new(err.to_string(), "it was left as it is; see that it can be read and written")
    }
}

/// A file and what it says.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    /// Where it really is, behind all links.
    real: PathBuf,
    /// Its text; `None` if there is no such file.
    pub(crate) text: Option<String>,
    mode: u32,
    owner: Option<u32>,
}

impl SettingsFile {
    /// Reads a file that may not exist.
    pub(crate) fn read(path: &Path) -> Result<Self, Problem> {
        match fs::symlink_metadata(path) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                let real = behind_links(path).map_err(|err| Problem::io(&err))?;
                return Ok(Self { real, text: None, mode: PRIVATE.0, owner: None });
            }
            Err(err) => return Err(Problem::io(&err)),
            Ok(_) => {}
        }
        let real = path.canonicalize().map_err(|err| match err.kind() {
            io::ErrorKind::NotFound => {
                Problem::new("it is a link to nothing", "remove the link, or make its target")
            }
            _ => Problem::io(&err),
        })?;
        let about = fs::metadata(&real).map_err(|err| Problem::io(&err))?;
        if !about.is_file() {
            return Err(Problem::new("it is not a file", "it was left as it is; look at what is there"));
        }
        if about.len() > MAX_SIZE {
            let message = format!("{} bytes is more than settings have", about.len());
            return Err(Problem::new(message, "it was left as it is; look at what is in it"));
        }
        let bytes = fs::read(&real).map_err(|err| Problem::io(&err))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Problem::new("it is not UTF-8", "it was left as it is; save it as UTF-8"))?;
        Ok(Self { real, text: Some(text), mode: about.mode() & 0o7777, owner: Some(about.uid()) })
    }

    /// Says whether there is a file.
    pub(super) fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Returns the directories that writing it would make, the outermost first.
    pub(super) fn missing_directories(&self) -> Vec<PathBuf> {
        let parents = self.real.ancestors().skip(1).take_while(|dir| !dir.exists());
        let mut missing: Vec<PathBuf> = parents.map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Writes the new text; `false` if somebody else has written in the meantime, and nothing was done.
    pub(crate) fn replace(&self, text: &str, is_shared: bool) -> Result<bool, Problem> {
        self.refuse_read_only()?;
        self.write(text, if is_shared { SHARED } else { PRIVATE }).map_err(|err| Problem::io(&err))
    }

    fn write(&self, text: &str, modes: (u32, u32)) -> io::Result<bool> {
        for dir in self.missing_directories() {
            match fs::DirBuilder::new().mode(modes.1).create(&dir) {
                Err(err) if err.kind() != io::ErrorKind::AlreadyExists => return Err(err),
                _ => sync_parent(&dir)?,
            }
        }
        let (dir, name) = self.place()?;
        let mut staged = dir.stage(text.as_bytes())?;
        let Some(before) = &self.text else {
            staged.set_like(modes.0, None)?;
            return match staged.rename_new(&dir, name) {
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                renamed => renamed.and_then(|()| dir.sync()).map(|()| true),
            };
        };
        staged.set_like(self.mode, self.owner)?;
        match staged.exchange_with(&dir, name) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(err) => return Err(err),
            Ok(Exchanged::Swapped) => {
                if staged.read(MAX_SIZE).map_err(io::Error::other)? != before.as_bytes() {
                    staged.exchange_with(&dir, name)?;
                    return Ok(false);
                }
            }
            Ok(Exchanged::Unsupported) => {
                if dir.read(name, MAX_SIZE).map_err(io::Error::other)?.as_deref() != Some(before.as_bytes()) {
                    return Ok(false);
                }
                staged.rename_over(&dir, name)?;
            }
        }
        dir.sync()?;
        Ok(true)
    }

    /// Removes the file; `false` if somebody else has written in the meantime, and nothing was done.
    pub(super) fn delete(&self) -> Result<bool, Problem> {
        self.refuse_read_only()?;
        self.take_away().map_err(|err| Problem::io(&err))
    }

    fn take_away(&self) -> io::Result<bool> {
        let (dir, name) = self.place()?;
        let mut taken = match Staged::take_from(&dir, &dir, name) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(true),
            taken => taken?,
        };
        if Some(taken.read(MAX_SIZE).map_err(io::Error::other)?.as_slice())
            != self.text.as_deref().map(str::as_bytes)
        {
            taken.rename_new(&dir, name)?;
            return Ok(false);
        }
        drop(taken);
        dir.sync()?;
        Ok(true)
    }

    /// Whoever makes settings read-only means it, though replacing them would work.
    fn refuse_read_only(&self) -> Result<(), Problem> {
        if self.exists() && self.mode & 0o200 == 0 {
            let hint = format!(
                "`chmod u+w {}` opens it; or add the entries by hand: `--dry-run` shows them",
                self.real.display()
            );
            return Err(Problem::new("it is read-only", hint));
        }
        Ok(())
    }

    fn place(&self) -> io::Result<(Dir, &str)> {
        let name = self.real.file_name().and_then(|name| name.to_str());
        match (self.real.parent(), name) {
            (Some(parent), Some(name)) => Ok((Dir::open(parent)?, name)),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

/// Removes directories that we once made, the innermost first, as long as nothing is in them.
pub(super) fn remove_directories(dirs: &[PathBuf]) {
    for dir in dirs.iter().rev() {
        if fs::remove_dir(dir).is_err() {
            return;
        }
        let _ = sync_parent(dir);
    }
}

/// Returns where a file that does not exist would really be.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut rest = Vec::new();
    let mut dir = path;
    while !dir.exists() {
        let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else { break };
        rest.push(name);
        dir = parent;
    }
    let mut real = dir.canonicalize()?;
    real.extend(rest.into_iter().rev());
    Ok(real)
}

fn sync_parent(dir: &Path) -> io::Result<()> {
    dir.parent().map_or(Ok(()), |parent| Dir::open(&parent.canonicalize()?)?.sync())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn what_another_program_wrote_meanwhile_is_not_overwritten() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("settings.json");
        fs::write(&path, "one").unwrap();
        let file = SettingsFile::read(&path).unwrap();
        fs::write(&path, "two").unwrap();
        assert_eq!(file.replace("ours", false), Ok(false));
        assert_eq!(file.delete(), Ok(false));
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let none = SettingsFile { real: path.clone(), text: None, mode: 0o600, owner: None };
        assert_eq!(none.replace("ours", false), Ok(false));
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1, "nothing is left behind");
        assert_eq!(SettingsFile::read(&path).unwrap().replace("ours", false), Ok(true));
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
    }

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays() {
        let temp = tempfile::tempdir().unwrap();
        let (real, link) = (temp.path().join("dotfiles/real.json"), temp.path().join("link.json"));
        fs::create_dir(temp.path().join("dotfiles")).unwrap();
        fs::write(&real, "one").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        assert_eq!(SettingsFile::read(&link).unwrap().replace("two", false), Ok(true));
        assert_eq!(fs::read_to_string(&real).unwrap(), "two");
        assert_eq!(mode(&real), 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::remove_file(&real).unwrap();
        assert_eq!(SettingsFile::read(&link).unwrap_err().message, "it is a link to nothing");
    }

    #[test]
    fn directories_are_made_and_go_again_if_nobody_uses_them() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a/b/c.json");
        let file = SettingsFile::read(&path).unwrap();
        let made = file.missing_directories();
        assert_eq!(file.replace("x", false), Ok(true));
        assert_eq!((mode(&path), mode(&temp.path().join("a"))), (0o600, 0o700));
        fs::write(temp.path().join("a/theirs"), "y").unwrap();
        assert_eq!(SettingsFile::read(&path).unwrap().delete(), Ok(true));
        remove_directories(&made);
        assert!(!temp.path().join("a/b").exists() && temp.path().join("a/theirs").exists());
    }
}
