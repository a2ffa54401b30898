//! What a model does for memdir, with the real binary and a scripted model, over real HTTP where that counts.
#![allow(clippy::unwrap_used, reason = "tests report by panicking")]
#![expect(clippy::print_stderr, reason = "figures are for whoever runs the tests")]

#[cfg(target_os = "linux")]
mod agent;
#[cfg(target_os = "linux")]
mod canned;
#[cfg(target_os = "linux")]
mod documents;
#[cfg(target_os = "linux")]
mod extraction;
mod models;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod selection;
#[cfg(target_os = "linux")]
mod service;
#[cfg(target_os = "linux")]
mod working;
#[cfg(target_os = "linux")]
mod world;
