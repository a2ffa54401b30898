//! Globs over paths: `*` and `?` stay within one name, `**` crosses folders.

/// Says whether `path` matches `glob` from end to end.
pub fn matches(glob: &str, path: &str) -> bool {
    let glob: Vec<&str> = glob.split('/').filter(|part| !part.is_empty()).collect();
    let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    parts(&glob, &path)
}

/// Most folders of a path that a `**` is tried against; no real path is deeper.
const MAX_DEPTH: usize = 64;

fn parts(glob: &[&str], path: &[&str]) -> bool {
    match glob.split_first() {
        None => path.is_empty(),
        Some((&"**", rest)) => (0..=path.len().min(MAX_DEPTH)).any(|skip| parts(rest, &path[skip..])),
        Some((first, rest)) => path
            .split_first()
            .is_some_and(|(name, below)| in_name(first.as_bytes(), name.as_bytes()) && parts(rest, below)),
    }
}

/// Matches within one name, with the last `*` as the only place to come back to: linear for all that people write.
fn in_name(glob: &[u8], name: &[u8]) -> bool {
    let (mut g, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match glob.get(g) {
            Some(b'*') => {
                star = Some((g, n));
                g += 1;
            }
            Some(b) if *b == b'?' || *b == name[n] => {
                g += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    g = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|b| *b == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks_match_as_people_expect() {
        for (glob, path, expected) in [
            ("**/CLAUDE.md", "/a/b/CLAUDE.md", true),
            ("/a/**", "/a/b/c", true),
            ("/a/*", "/a/b/c", false),
            ("/a/*.md", "/a/x.md", true),
            ("/a/?.md", "/a/xy.md", false),
            ("/a/x*y*z", "/a/xaybyz", true),
            ("**", "/", true),
        ] {
            assert_eq!(matches(glob, path), expected, "{glob} {path}");
        }
    }
}
