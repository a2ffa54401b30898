//! Extraction without a process.
