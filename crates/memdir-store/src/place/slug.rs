//! Claude Code's name for a directory: the folder below `projects/` that holds its memory.
//!
//! The slug is the absolute path with every character that is no ASCII letter or digit turned into `-`. Two
//! directories can have the same slug (`/a/b-c` and `/a/b/c`), so a slug never identifies a project by itself. A
//! slug of more than 200 characters is cut and ends in a hash that only the host can compute: [`Slug::is`]
//! recognises the host's name by its beginning, [`Slug::own`] is what we use where there is none.

use memdir_core::hash::ContentHash;

/// How long a slug may be before the host cuts it.
const MAX_SLUG: usize = 200;

/// The name Claude Code gives to a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slug {
    text: String,
    /// Stands in for the host's hash of a path whose slug is too long.
    hash: Option<String>,
}

impl Slug {
    /// Makes the slug of an absolute path.
    pub fn of(path: &str) -> Self {
        let mut text = String::with_capacity(path.len());
        for c in path.chars() {
            if c.is_ascii_alphanumeric() {
                text.push(c);
            } else {
                // The host counts UTF-16 units: an emoji becomes two dashes.
                text.extend(std::iter::repeat_n('-', c.len_utf16()));
            }
        }
        if text.len() <= MAX_SLUG {
            return Self { text, hash: None };
        }
        text.truncate(MAX_SLUG);
        Self { text, hash: Some(ContentHash::of(path.as_bytes()).short()) }
    }

    /// Says whether the slug is cut, so that `name` can only be compared by its beginning.
    pub fn is_cut(&self) -> bool {
        self.hash.is_some()
    }

    /// Says whether a folder called `name` can be the one of this directory.
    pub fn is(&self, name: &str) -> bool {
        match name.strip_prefix(&self.text) {
            Some(rest) if self.is_cut() => rest.starts_with('-'),
            Some(rest) => rest.is_empty(),
            None => false,
        }
    }

    /// Says whether a folder called `name` can be the one of a directory below this one.
    pub fn begins(&self, name: &str) -> bool {
        name.strip_prefix(&self.text).is_some_and(|rest| rest.starts_with('-')) && !self.is(name)
    }

    /// Returns the folder's name; for a cut slug the one we would give it.
    pub fn own(&self) -> String {
        match &self.hash {
            Some(hash) => format!("{}-{hash}", self.text),
            None => self.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_but_ascii_letters_and_digits_becomes_a_dash() {
        for (path, slug) in [
            ("/x/y", "-x-y"),
            ("/home/u/web_app.v2", "-home-u-web-app-v2"),
            ("/a/b-c", "-a-b-c"),
            ("/a/b/c", "-a-b-c"),
            ("/ü/한", "----"),
            ("/🦀", "---"),
        ] {
            assert_eq!(Slug::of(path).own(), slug, "{path}");
        }
    }

    #[test]
    fn a_slug_of_two_hundred_characters_is_whole_and_one_more_is_cut() {
        let whole = Slug::of(&format!("/{}", "x".repeat(199)));
        assert!(!whole.is_cut());
        assert_eq!(whole.own().len(), 200);

        let cut = Slug::of(&format!("/{}", "x".repeat(200)));
        assert!(cut.is_cut());
        assert_eq!(cut.own().len(), 209);
        assert!(cut.is(&cut.own()));
        assert!(cut.is(&format!("-{}-1a2b3c", "x".repeat(199))));
        assert!(!cut.is(&whole.own()));
    }

    #[test]
    fn long_paths_with_one_beginning_get_names_of_their_own() {
        let of = |end: &str| Slug::of(&format!("/{}/{end}", "x".repeat(300))).own();
        assert_ne!(of("a"), of("b"));
        assert_eq!(of("a"), of("a"));
    }

    #[test]
    fn a_folder_below_is_told_from_the_folder_itself_and_from_a_neighbour() {
        let slug = Slug::of("/x/web");
        assert!(slug.begins("-x-web-src"));
        assert!(!slug.begins("-x-web"));
        assert!(!slug.begins("-x-webapp"));
    }
}
