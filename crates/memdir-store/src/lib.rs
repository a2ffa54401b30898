//! Vaults on disk.
