//! Nothing read from a name, a file, a repository or standard input reaches outside the vault (promises S).

mod bytes;
mod file_kinds;
mod long_words;
mod names;
mod repository;
mod surroundings;
mod swapping;
mod terminal;
mod yaml;
