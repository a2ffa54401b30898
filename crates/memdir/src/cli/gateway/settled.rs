//! The user's settings as the gateway needs them: addresses read, keys fetched, complaints told once.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memdir_core::hash::ContentHash;
use memdir_server::gateway::{Access, Base, Config, Key, Token, Upstream};
use memdir_store::disk::{self, Dir};
use memdir_store::keys;
use memdir_store::place::settings::{GatewaySettings, UpstreamSettings, UserSettings};

use crate::failure::Failure;
use crate::mcp::http::tokens;
use crate::outlet;
use crate::ui::Ui;

/// The file of the token, below the state root.
pub(super) const TOKEN: &str = "gateway.token";

/// What the gateway was told, and by which state of the files.
pub(super) struct Settings {
    home: PathBuf,
    /// Memory is switched off by the environment.
    is_off: bool,
    token: Token,
    gateway: GatewaySettings,
    /// Memory is switched off by the user's settings.
    off: bool,
    upstreams: Vec<Upstream>,
    seen: [Option<SystemTime>; 2],
}

impl Settings {
    /// Reads the settings below the state root.
    pub(super) fn load(home: PathBuf, is_off: bool) -> Result<Self, Failure> {
        let unwritable =
            |err| Failure::error(format!("could not keep the token in {}: {err}", home.display()));
        let token = token(&home, is_off).map_err(unwritable)?;
        let mut settings = Self {
            home,
            is_off,
            token,
            gateway: GatewaySettings::default(),
            off: false,
            upstreams: Vec::new(),
            seen: [None; 2],
        };
        settings.read();
        Ok(settings)
    }

    /// Says whether the files changed, and reads them again if so, or if told to.
    pub(super) fn changed(&mut self, is_told: bool) -> bool {
        let is_new = is_told || self.seen != self.look();
        if is_new {
            self.read();
        }
        is_new
    }

    /// When the settings and the keys were last changed.
    fn look(&self) -> [Option<SystemTime>; 2] {
        ["config.toml", "keys"]
            .map(|name| std::fs::metadata(self.home.join(name)).and_then(|file| file.modified()).ok())
    }

    fn read(&mut self) {
        self.seen = self.look();
        let (user, ignored) = UserSettings::load(&self.home);
        let mut complaints: Vec<String> = ignored
            .iter()
            .filter(|ignored| ignored.key.is_empty() || ignored.key.starts_with("gateway"))
            .map(|ignored| format!("`{}` in {} {}", ignored.key, ignored.file, ignored.why))
            .collect();
        (self.off, self.gateway) = (user.off, user.gateway);
        self.upstreams.clear();
        for (name, upstream) in all(&self.gateway) {
            match self.upstream(&name, &upstream) {
                Ok(upstream) => self.upstreams.push(upstream),
                // Nobody is sent to the vendor in place of an address that cannot be read.
                Err(why) => complaints.push(format!("no requests go to the upstream `{name}`: {why}")),
            }
        }
        for complaint in complaints {
            Ui::complain(&format!("warning: {}\n", outlet::clean(&complaint)));
        }
    }

    fn upstream(&self, name: &str, said: &UpstreamSettings) -> Result<Upstream, String> {
        let url = said.url.as_deref().ok_or("it has no `url`")?;
        let base = Base::parse(url, said.private).map_err(|err| format!("its `url` {err}"))?;
        let key = match &said.key {
            None => None,
            Some(kept) => {
                let secret = keys::load(&self.home, kept).map_err(|err| err.to_string())?;
                let secret = secret.ok_or_else(|| {
                    format!("there is no key `{kept}`; `memdir gateway key {kept}` keeps one")
                })?;
                Some(Key::new(name, secret.expose()).ok_or("its key cannot stand in a header")?)
            }
        };
        Ok(Upstream { name: name.to_owned(), base, private: said.private, key })
    }

    pub(super) fn config(&self) -> Config {
        Config {
            upstreams: self.upstreams.clone(),
            access: Access { token: self.token.clone(), always: self.gateway.always_token },
            off: self.is_off || self.off || !self.gateway.memory,
        }
    }

    pub(super) fn listen(&self) -> Option<&str> {
        self.gateway.listen.as_deref()
    }

    pub(super) fn max_streams(&self) -> u32 {
        self.gateway.max_streams
    }

    /// Says whether memdir as a whole is off, and nothing is to be written.
    pub(super) fn is_off(&self) -> bool {
        self.is_off
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// What is told on stderr when it begins.
    pub(super) fn welcome(&self, bound: SocketAddr) -> String {
        let memory = if self.config().off { ", memory is off" } else { "" };
        format!("memdir gateway at http://{bound}{memory}\ntoken: {}\n", self.home.join(TOKEN).display())
    }
}

/// Returns the vendors and the user's own upstreams; what the user says of a vendor comes first.
fn all(gateway: &GatewaySettings) -> Vec<(String, UpstreamSettings)> {
    let mut upstreams = gateway.upstreams.clone();
    for (name, url) in Upstream::vendors() {
        upstreams.entry(name.to_owned()).or_default().url.get_or_insert_with(|| url.to_owned());
    }
    upstreams.into_iter().collect()
}

/// Reads the token, or makes one; where memory is off, one that nobody knows.
fn token(home: &Path, is_off: bool) -> std::io::Result<Token> {
    if is_off {
        let mut bytes = [0; 32];
        disk::random(&mut bytes)?;
        return Ok(Token::new(*ContentHash::of(&bytes).as_bytes()));
    }
    Ok(Token::new(*tokens::token(&Dir::ensure(home)?, TOKEN, false)?.as_bytes()))
}
