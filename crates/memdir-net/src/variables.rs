//! The variables of the process, without what a repository put there.
//!
//! A variable whose value is the one that a repository's settings have agents set counts as not set, be it a key, a proxy or
//! the place where programs are looked for.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use reqwest::{NoProxy, Proxy};

/// The user's variables.
#[derive(Clone, Default)]
pub struct Variables {
    vars: BTreeMap<OsString, OsString>,
    shipped: BTreeMap<String, String>,
}

impl Variables {
    /// Takes the variables of the process, and those that the repository has agents set.
    pub fn new(
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        shipped: BTreeMap<String, String>,
    ) -> Self {
        let is_shipped = |name: &OsStr, value: &OsStr| {
            name.to_str().and_then(|name| shipped.get(name)).is_some_and(|text| OsStr::new(text) == value)
        };
        let vars =
            vars.into_iter().filter(|(name, value)| !value.is_empty() && !is_shipped(name, value)).collect();
        Self { vars, shipped }
    }

    /// Returns a variable that is text.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_os(name).and_then(OsStr::to_str)
    }

    /// Returns a variable, whatever its bytes.
    pub fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns all of them.
    pub fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.vars.iter()
    }

    /// Returns the first of these that the repository sets.
    pub fn first_shipped<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.shipped.contains_key(*name))
    }

    /// Returns the proxies that they name.
    pub fn proxies(&self) -> reqwest::Result<Vec<Proxy>> {
        let either = |name: &str| self.get(&name.to_lowercase()).or_else(|| self.get(name));
        let except = || either("NO_PROXY").and_then(NoProxy::from_string);
        // What calls itself a server gets `HTTP_PROXY` from whoever calls it; only the small letters are the user's.
        let named = [
            either("HTTPS_PROXY").map(Proxy::https),
            self.get("http_proxy").map(Proxy::http),
            either("ALL_PROXY").map(Proxy::all),
        ];
        named.into_iter().flatten().map(|proxy| Ok(proxy?.no_proxy(except()))).collect()
    }
}
