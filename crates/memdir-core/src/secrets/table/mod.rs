//! The kinds of secrets we know, by field. Ids follow gitleaks where it has such a kind; the rows hold facts about
//! formats (prefix, alphabet, length) in our own patterns.
//!
//! Lengths are ranges where the issuer does not promise one: a prefix that is told apart at sight may be followed by
//! a little more or less than today's tokens have.

mod ai;
mod chat;
mod cloud;
mod credentials;
mod data;
mod delivery;
mod hosting;
mod identity;
mod keys;
mod mail;
mod monitoring;
mod packages;
mod payment;
mod web;

use super::rule::Rule;

/// Every field and its rules.
pub(super) const FIELDS: &[(&str, &[Rule])] = &[
    ("cloud", cloud::RULES),
    ("AI providers", ai::RULES),
    ("source hosting", hosting::RULES),
    ("delivery", delivery::RULES),
    ("chat", chat::RULES),
    ("payment and trade", payment::RULES),
    ("mail and messages", mail::RULES),
    ("monitoring", monitoring::RULES),
    ("data and documents", data::RULES),
    ("package registries", packages::RULES),
    ("identity", identity::RULES),
    ("private keys", keys::RULES),
    ("URLs and headers", web::RULES),
    ("passwords and credential files", credentials::RULES),
];

/// The rule of a value that is called a key, token or secret and looks like one.
pub(super) const GENERIC_KEY: &str = "generic-api-key";
/// The rule of a value that is called a password.
pub(super) const GENERIC_PASSWORD: &str = "generic-password";

/// Returns all rules, field by field.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    FIELDS.iter().flat_map(|(_, rules)| rules.iter())
}
