//! Paths as people write them, made comparable.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Returns an absolute `path` without links, dots and doubled slashes in the part of it that exists.
///
/// What does not exist yet is kept as written, `..` in it taken literally. Two spellings of one directory come
/// out equal, so paths can be compared and recorded.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    let parts: Vec<Component<'_>> = path.components().collect();
    for n_existing in (1..=parts.len()).rev() {
        let existing: PathBuf = parts[..n_existing].iter().collect();
        match existing.canonicalize() {
            Ok(found) => return Ok(append(found, &missing)),
            Err(err) if is_missing(&err) => missing.insert(0, parts[n_existing - 1]),
            Err(err) => return Err(err),
        }
    }
    Ok(path.to_owned())
}

/// Says whether nothing is there, rather than something we may not look at.
pub(super) fn is_missing(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn append(mut base: PathBuf, tail: &[Component<'_>]) -> PathBuf {
    for part in tail {
        match part {
            Component::ParentDir => {
                base.pop();
            }
            Component::Normal(name) => base.push(name),
            _ => {}
        }
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_in_the_part_that_exists_are_resolved_and_the_rest_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("real")).unwrap();
        symlink(base.join("real"), base.join("link")).unwrap();
        for (written, resolved) in [
            ("link", "real"),
            ("link/a/b", "real/a/b"),
            ("real/../link//a/./b/", "real/a/b"),
            ("new/../other", "other"),
        ] {
            assert_eq!(resolve(&base.join(written)).unwrap(), base.join(resolved), "{written}");
        }
    }

    #[test]
    fn a_path_below_a_file_is_kept_as_written() {
        let temp = tempfile::NamedTempFile::new().unwrap();
        let path = temp.path().canonicalize().unwrap().join("below");
        assert_eq!(resolve(&path).unwrap(), path);
    }

    #[test]
    fn links_in_a_circle_are_an_error() {
        let temp = tempfile::tempdir().unwrap();
        symlink(temp.path().join("b"), temp.path().join("a")).unwrap();
        symlink(temp.path().join("a"), temp.path().join("b")).unwrap();
        assert!(resolve(&temp.path().join("a/x")).is_err());
    }
}
