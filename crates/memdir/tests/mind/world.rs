//! A sandbox whose user configured a model that a test scripts, over HTTP.

use std::fs;

use memdir_testkit::{Invocation, ModelServer, Rule, Sandbox};

/// A sandbox whose user configured a model that a test scripts.
pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) server: ModelServer,
}

impl World {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let server = ModelServer::start(rules);
        fs::create_dir_all(sandbox.state()).unwrap();
        let config = format!(
            "[model]\nservice = \"anthropic\"\nname = \"claude-test\"\nbase_url = \"{}\"\nkey_env = \"TEST_KEY\"\n\
             [budget]\nday_usd = 100.0\n",
            server.url()
        );
        fs::write(sandbox.state().join("config.toml"), config).unwrap();
        Self { sandbox, server }
    }

    pub(crate) fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).env("TEST_KEY", "canary-key-5f1e")
    }
}
