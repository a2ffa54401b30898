//! What we ask of a directory before it is used as a vault.
//!
//! A vault is read into a model's context and written without asking, so the directory must be the user's own: a
//! real directory, not a link that somebody can turn elsewhere, owned by the user, writable by nobody else, and
//! neither our own state nor around it. A missing directory is fine; [`create`] makes it.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::LocateError;
use super::path::{is_missing, resolve};
use crate::disk::Dir;

/// Permission bit that lets everybody write.
const WRITABLE_BY_ALL: u32 = 0o002;
/// The folders of the state root that are vaults or hold vaults.
pub(super) const USER: &str = "user";
pub(super) const VAULTS: &str = "vaults";

/// Checks that `path`, as it was written, can be a vault beside the state root `home`, and returns it resolved.
pub(super) fn check(path: &Path, home: &Path) -> Result<PathBuf, LocateError> {
    // Without a slash or dot at the end, which would make the system follow a link.
    let path: PathBuf = path.components().collect();
    let is_link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
    if is_link && path.components().next_back() != Some(Component::ParentDir) {
        let target = fs::read_link(&path).unwrap_or_default();
        return Err(LocateError::VaultIsLink { path, target });
    }
    let resolved = resolve(&path).map_err(|source| LocateError::Io { path: path.clone(), source })?;
    if resolved.to_str().is_none() {
        return Err(LocateError::NotUtf8 { path: resolved });
    }
    check_beside_state(&resolved, home)?;
    match fs::symlink_metadata(&resolved) {
        Ok(metadata) if !metadata.is_dir() => Err(LocateError::VaultIsFile { path: resolved }),
        Ok(metadata) => check_owner(&resolved, &metadata).map(|()| resolved),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(resolved),
        Err(source) => Err(LocateError::Io { path: resolved, source }),
    }
}

/// Checks that an existing directory belongs to the user alone; a missing one passes.
pub(super) fn check_private(path: &Path) -> Result<(), LocateError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => check_owner(path, &metadata),
        Err(err) if is_missing(&err) => Ok(()),
        Err(source) => Err(LocateError::Io { path: path.to_owned(), source }),
    }
}

/// Makes the vault's directory, for its owner only, where it is missing.
pub fn create(vault: &Path) -> Result<(), LocateError> {
    let io = |source| LocateError::Io { path: vault.to_owned(), source };
    Dir::ensure(vault).map_err(io)?;
    check_private(vault)
}

fn check_owner(path: &Path, metadata: &Metadata) -> Result<(), LocateError> {
    let path = path.to_owned();
    let us = rustix::process::geteuid().as_raw();
    if metadata.uid() != us {
        return Err(LocateError::NotOurs { path, owner: metadata.uid() });
    }
    if metadata.is_dir() && metadata.mode() & WRITABLE_BY_ALL != 0 {
        return Err(LocateError::WritableByAll { path });
    }
    Ok(())
}

/// Refuses our own state as a vault, and a vault in which a reader would meet our state.
fn check_beside_state(vault: &Path, home: &Path) -> Result<(), LocateError> {
    let in_state = |vault: &Path| LocateError::VaultInState { path: vault.to_owned() };
    if let Ok(inside) = vault.strip_prefix(home) {
        let parts: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
        let is_vault = matches!(parts[..], [USER] | [VAULTS, _]);
        return if is_vault { Ok(()) } else { Err(in_state(vault)) };
    }
    if let Ok(between) = home.strip_prefix(vault) {
        // Hidden folders of a vault are not read.
        let is_hidden = between.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
        return if is_hidden { Ok(()) } else { Err(in_state(vault)) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Fixture {
        _temp: tempfile::TempDir,
        base: PathBuf,
    }

    impl Fixture {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            let base = temp.path().canonicalize().unwrap();
            for dir in ["home/user", "vault"] {
                fs::create_dir_all(base.join(dir)).unwrap();
            }
            Self { _temp: temp, base }
        }

        fn check(&self, path: &str) -> Result<PathBuf, String> {
            let found = check(&self.base.join(path), &self.base.join("home"));
            let base = format!("{}/", self.base.display());
            let found = found.map(|path| path.strip_prefix(&self.base).unwrap().to_owned());
            found.map_err(|err| err.to_string().replace(&base, ""))
        }
    }

    #[test]
    fn a_directory_or_nothing_at_all_can_be_a_vault() {
        let fixture = Fixture::new();
        for path in ["vault", "vault/", "vault/.", "new", "new/deep", "home/user", "home/vaults/x-123456"] {
            assert!(fixture.check(path).is_ok(), "{path}: {:?}", fixture.check(path));
        }
    }

    #[test]
    fn a_link_is_refused_but_one_further_up_is_followed() {
        let fixture = Fixture::new();
        symlink("vault", fixture.base.join("link")).unwrap();
        symlink("gone", fixture.base.join("dangling")).unwrap();
        for path in ["link", "link/", "link/."] {
            assert_eq!(fixture.check(path), Err("link is a symbolic link, not a vault".into()), "{path}");
        }
        assert_eq!(fixture.check("dangling"), Err("dangling is a symbolic link, not a vault".into()));
        assert_eq!(fixture.check("link/sub"), Ok("vault/sub".into()));
    }

    #[test]
    fn a_file_is_refused_and_so_is_a_path_below_one() {
        let fixture = Fixture::new();
        fs::write(fixture.base.join("file"), "").unwrap();
        assert_eq!(fixture.check("file"), Err("file is not a directory".into()));
        assert!(fixture.check("file/below").is_err());
    }

    #[test]
    fn a_directory_that_others_can_write_is_refused_with_the_fix() {
        let fixture = Fixture::new();
        let vault = fixture.base.join("vault");
        fs::set_permissions(&vault, fs::Permissions::from_mode(0o777)).unwrap();
        let err = check(&vault, &fixture.base.join("home")).unwrap_err();
        assert_eq!(err.hint().unwrap(), format!("`chmod o-w '{}'` closes it", vault.display()));
        fs::set_permissions(&vault, fs::Permissions::from_mode(0o775)).unwrap();
        assert_eq!(fixture.check("vault"), Ok("vault".into()));
    }

    #[test]
    fn our_own_state_and_what_is_around_it_are_refused() {
        let fixture = Fixture::new();
        for path in
            ["home", "home/projects/x", "home/user/sub", "home/vaults", "home/vaults/a/b", "home/locks", ""]
        {
            let err = fixture.check(path).unwrap_err();
            assert!(err.contains("holds memdir's own state"), "{path}: {err}");
        }
        let hidden = fixture.base.join("vault/.state/memdir");
        assert!(check(&fixture.base.join("vault"), &hidden).is_ok(), "hidden folders are not read");
    }

    #[test]
    fn a_created_vault_is_for_its_owner_only() {
        let fixture = Fixture::new();
        let vault = fixture.base.join("new/deep");
        create(&vault).unwrap();
        assert_eq!(fs::metadata(&vault).unwrap().mode() & 0o777, 0o700);
        create(&vault).unwrap();
    }
}
