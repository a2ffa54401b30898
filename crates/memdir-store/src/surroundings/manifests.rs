//! The files in which a project says what it is made of and how it is run: one table for all who read them.

/// What such a file tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tells {
    /// The names of what the project is made of.
    Names,
    /// Versions or tasks.
    Versions,
    /// Both.
    Both,
}

/// The files, by their names.
pub(crate) const MANIFESTS: [(&str, Tells); 28] = [
    ("Cargo.toml", Tells::Both),
    ("package.json", Tells::Both),
    ("pyproject.toml", Tells::Both),
    ("requirements.txt", Tells::Both),
    ("go.mod", Tells::Both),
    ("Gemfile", Tells::Both),
    ("compose.yaml", Tells::Both),
    ("compose.yml", Tells::Both),
    ("docker-compose.yaml", Tells::Both),
    ("docker-compose.yml", Tells::Both),
    ("composer.json", Tells::Names),
    ("pom.xml", Tells::Names),
    ("build.gradle", Tells::Names),
    ("build.gradle.kts", Tells::Names),
    ("mix.exs", Tells::Names),
    ("pubspec.yaml", Tells::Names),
    ("Package.swift", Tells::Names),
    ("rust-toolchain.toml", Tells::Versions),
    ("rust-toolchain", Tells::Versions),
    (".nvmrc", Tells::Versions),
    (".node-version", Tells::Versions),
    (".python-version", Tells::Versions),
    (".tool-versions", Tells::Versions),
    ("Makefile", Tells::Versions),
    ("makefile", Tells::Versions),
    ("GNUmakefile", Tells::Versions),
    ("justfile", Tells::Versions),
    ("Justfile", Tells::Versions),
];
