//! What a field of the frontmatter holds.

/// A value as the file means it. Numbers, dates and truth values stay the text they are written as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// A scalar of any kind.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A nested mapping, in the order of the file.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Makes a list of texts.
    pub fn list<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(|text| Self::Text(text.into())).collect())
    }

    /// Returns the text of a scalar.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the texts of a list; a single text counts as a list of one.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::List(items) => items.iter().filter_map(Self::as_text).collect(),
            Self::Null | Self::Map(_) => Vec::new(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
